/* solve_spd: Cholesky in f64, a unit for each matrix. The factor of a matrix stands in the scratch. */
#ifndef T
#include "kernels/cpu/cpu.h"

static int64_t order_of(const struct operand *a)
{
    return a->dim[a->rank - 1];
}

/* a = L L^T in place; only the lower half is used. */
static void factor(double *l, int64_t m)
{
    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = j; i < m; i++) {
            double sum = l[i * m + j];
            for (int64_t k = 0; k < j; k++) {
                sum -= l[i * m + k] * l[j * m + k];
            }
            l[i * m + j] = i == j ? sqrt(sum) : sum / l[j * m + j];
        }
    }
}
/* Forward and back, in the column y of m numbers. */
static void substitute(const double *l, double *y, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t k = 0; k < i; k++) {
            y[i] -= l[i * m + k] * y[k];
        }
        y[i] /= l[i * m + i];
    }
    for (int64_t i = m - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < m; k++) {
            y[i] -= l[k * m + i] * y[k];
        }
        y[i] /= l[i * m + i];
    }
}

#define TWICE "kernels/cpu/solve.c"
#include "kernels/cpu/twice.h"

int64_t cpu_units_solve_spd(const struct kargs *k)
{
    return operand_count(&k->out[0]) ? dims_product(&k->in[0], 0, k->in[0].rank - 2) : 0;
}
void cpu_solve_spd(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, solve, arena, k, s);
}

#else /* for f32, f64 and bf16 */

static void NAME(solve)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t m = order_of(&k->in[0]), n = order_of(&k->in[1]);
    for (int64_t unit = s.from; unit < s.to; unit++) {
        const S *a = (const S *)cpu_at(arena, &k->in[0]) + unit * m * m;
        const S *b = (const S *)cpu_at(arena, &k->in[1]) + unit * m * n;
        S *out = (S *)cpu_at(arena, &k->out[0]) + unit * m * n;
        double *l = (double *)((char *)arena + k->work) + unit * m * (m + n), *y = l + m * m;
        for (int64_t i = 0; i < m * m; i++) {
            l[i] = 0.5 * ((double)GET(a[i]) + (double)GET(a[i % m * m + i / m]));
        }
        factor(l, m);
        for (int64_t column = 0; column < n; column++) {
            for (int64_t i = 0; i < m; i++) {
                y[i] = (double)GET(b[i * n + column]);
            }
            substitute(l, y, m);
            for (int64_t i = 0; i < m; i++) {
                out[i * n + column] = PUT((T)y[i]);
            }
        }
    }
}
#endif
