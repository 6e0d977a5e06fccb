/* pinv: Moore-Penrose inverse by one-sided Jacobi rotations in f64, a unit for each matrix. The columns of
 * a V become orthogonal (Golub and Van Loan, Matrix Computations, 4th edition, section 8.6.3): they are s u,
 * singular values times left singular vectors, so a+ is the sum of v (s u)^T / s^2. A wide matrix is worked
 * on as its transpose. */
#ifndef T
#include <float.h>
#include "kernels/cpu/cpu.h"

enum { MOST_SWEEPS = 60 }; /* 6 to 10 are the rule */
/* A tall matrix, column by column: k columns w of m numbers, k columns v of k, k singular values. */
struct jacobi {
    int64_t m, k;
    double *w, *v, *s;
};
static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}
static void rotate(double *x, double *y, double c, double s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double a = x[i], b = y[i];
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
}
/* Makes columns p and q orthogonal; false when they were. */
static bool turn(struct jacobi *j, int64_t p, int64_t q)
{
    double *x = j->w + p * j->m, *y = j->w + q * j->m;
    double a = dot(x, x, j->m), b = dot(y, y, j->m), g = dot(x, y, j->m);
    if (!(fabs(g) > DBL_EPSILON * sqrt(a * b))) {
        return false;
    }
    double z = (b - a) / (2 * g), t = (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z));
    double c = 1 / sqrt(1 + t * t);
    rotate(x, y, c, c * t, j->m);
    rotate(j->v + p * j->k, j->v + q * j->k, c, c * t, j->k);
    return true;
}
/* Singular values, and the largest; NaN wins. */
static double decompose(struct jacobi *j)
{
    double most = 0;
    for (int64_t i = 0; i < j->k * j->k; i++) {
        j->v[i] = i / j->k == i % j->k;
    }
    bool again = true;
    for (int sweep = 0; again && sweep < MOST_SWEEPS; sweep++) {
        again = false;
        for (int64_t p = 0; p < j->k; p++) {
            for (int64_t q = p + 1; q < j->k; q++) {
                again |= turn(j, p, q);
            }
        }
    }
    for (int64_t i = 0; i < j->k; i++) {
        j->s[i] = sqrt(dot(j->w + i * j->m, j->w + i * j->m, j->m));
        most = max2(j->s[i], most);
    }
    return most;
}
/* Element (i, r) of the inverse of the tall matrix. */
static double inverse_at(const struct jacobi *j, int64_t i, int64_t r, double least)
{
    double sum = 0;
    for (int64_t c = 0; c < j->k; c++) {
        double s = j->s[c];
        sum += s <= least ? 0 : j->v[c * j->k + i] / s * (j->w[c * j->m + r] / s);
    }
    return sum;
}

#define TWICE "kernels/cpu/pinv.c"
#include "kernels/cpu/twice.h"

int64_t cpu_units_pinv(const struct kargs *k)
{
    return operand_count(&k->out[0]) ? dims_product(&k->in[0], 0, k->in[0].rank - 2) : 0;
}
void cpu_pinv(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, pinv, arena, k, s);
}

#else /* for f32, f64 and bf16 */

static void NAME(pinv)(void *arena, const struct kargs *k, struct slice s)
{
    const struct operand *in = &k->in[0];
    int64_t rows = in->dim[in->rank - 2], columns = in->dim[in->rank - 1], n = rows * columns;
    bool wide = rows < columns;
    double eps = NARROW ? 0x1p-7 : sizeof(T) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;
    struct jacobi j = {.m = wide ? columns : rows, .k = wide ? rows : columns};
    for (int64_t unit = s.from; unit < s.to; unit++) {
        const S *x = (const S *)cpu_at(arena, in) + unit * n;
        S *out = (S *)cpu_at(arena, &k->out[0]) + unit * n;
        double scale = 0; /* squares of very small and very large numbers stay in range */
        for (int64_t i = 0; i < n; i++) {
            double size = fabs((double)GET(x[i]));
            scale = max2(size, scale);
        }
        scale = scale == 0 ? 1 : scale;
        j.w = (double *)((char *)arena + k->work) + unit * 2 * (j.m + 1) * j.k;
        j.v = j.w + j.m * j.k;
        j.s = j.v + j.k * j.k;
        for (int64_t i = 0; i < n; i++) {
            j.w[i] = (double)GET(x[wide ? i : i % j.m * columns + i / j.m]) / scale;
        }
        double least = decompose(&j) * eps * (double)j.m;
        for (int64_t i = 0; i < n; i++) { /* out is [columns, rows] */
            int64_t c = i / rows, r = i % rows;
            out[i] = PUT((T)(inverse_at(&j, wide ? r : c, wide ? c : r, least) / scale));
        }
    }
}
#endif
