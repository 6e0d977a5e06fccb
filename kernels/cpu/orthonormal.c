/* orthonormal: Q of x = QR by Householder's reflections in f64, a unit for each matrix (Golub and Van Loan,
 * Matrix Computations, 4th edition, section 5.2). A wide matrix is worked on as its transpose. The sign of a
 * column is chosen so that the diagonal of R is not negative: Q is then unique where x has full rank. */
#ifndef T
#include "kernels/cpu/cpu.h"

/* A tall matrix, column by column: k columns of m numbers, then as many of Q, k factors and k diagonals. */
struct tall {
    int64_t m, k;
    double *a, *q, *factor, *diagonal;
};
static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}
/* y -= factor (x . y) x */
static void reflect(const double *x, double factor, double *y, int64_t n)
{
    double s = factor * dot(x, y, n);
    for (int64_t i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}
/* Column j becomes the vector of reflection j, below its diagonal. */
static void reduce(struct tall *t)
{
    for (int64_t j = 0; j < t->k; j++) {
        double *v = t->a + j * t->m + j;
        int64_t n = t->m - j;
        double length = sqrt(dot(v, v, n));
        t->diagonal[j] = v[0] > 0 ? -length : length;
        v[0] -= t->diagonal[j];
        double square = dot(v, v, n);
        t->factor[j] = square == 0 ? 0 : 2 / square;
        for (int64_t c = j + 1; c < t->k; c++) {
            reflect(v, t->factor[j], t->a + c * t->m + j, n);
        }
    }
}
static void expand(struct tall *t)
{
    for (int64_t j = 0; j < t->k; j++) {
        double *q = t->q + j * t->m;
        for (int64_t i = 0; i < t->m; i++) {
            q[i] = i == j;
        }
        for (int64_t i = j; i >= 0; i--) {
            reflect(t->a + i * t->m + i, t->factor[i], q + i, t->m - i);
        }
        for (int64_t i = 0; i < t->m && t->diagonal[j] < 0; i++) {
            q[i] = -q[i];
        }
    }
}

#define TWICE "kernels/cpu/orthonormal.c"
#include "kernels/cpu/twice.h"

int64_t cpu_units_orthonormal(const struct kargs *k)
{
    return operand_count(&k->out[0]) ? dims_product(&k->in[0], 0, k->in[0].rank - 2) : 0;
}
void cpu_orthonormal(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, orthonormal, arena, k, s);
}

#else /* for f32, f64 and bf16 */

static void NAME(orthonormal)(void *arena, const struct kargs *k, struct slice s)
{
    const struct operand *in = &k->in[0];
    int64_t rows = in->dim[in->rank - 2], columns = in->dim[in->rank - 1];
    bool wide = rows < columns;
    struct tall t = {.m = wide ? columns : rows, .k = wide ? rows : columns};
    for (int64_t unit = s.from; unit < s.to; unit++) {
        const S *x = (const S *)cpu_at(arena, in) + unit * rows * columns;
        S *out = (S *)cpu_at(arena, &k->out[0]) + unit * rows * columns;
        t.a = (double *)((char *)arena + k->work) + unit * 2 * (t.m + 1) * t.k;
        t.q = t.a + t.m * t.k;
        t.factor = t.q + t.m * t.k;
        t.diagonal = t.factor + t.k;
        for (int64_t i = 0; i < t.m * t.k; i++) {
            t.a[i] = (double)GET(x[wide ? i : i % t.m * columns + i / t.m]);
        }
        reduce(&t);
        expand(&t);
        for (int64_t i = 0; i < t.m * t.k; i++) {
            out[wide ? i : i % t.m * columns + i / t.m] = PUT((T)t.q[i]);
        }
    }
}
#endif
