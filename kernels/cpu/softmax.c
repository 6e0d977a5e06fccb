/* softmax, logsumexp, cross entropy and argmax: one pass or two over the rows of the last axis. Sums of
 * exponentials are kept in f64. */
#ifndef T
#include "kernels/cpu/cpu.h"

/* Rows and their width: the last axis. */
static int64_t row_width(const struct operand *x)
{
    return x->dim[x->rank - 1];
}
static int64_t row_count(const struct operand *x)
{
    return dims_product(x, 0, x->rank - 1);
}
static int64_t row_units(const struct operand *x)
{
    return div_up(row_count(x), rows_per_unit(row_width(x)));
}
static struct slice row_slice(const struct operand *x, struct slice s)
{
    int64_t per = rows_per_unit(row_width(x));
    return (struct slice){s.from * per, min_i64(s.to * per, row_count(x))};
}

#define TWICE "kernels/cpu/softmax.c"
#include "kernels/cpu/twice.h"

int64_t cpu_units_softmax(const struct kargs *k)
{
    return row_width(&k->in[0]) ? row_units(&k->in[0]) : 0;
}
void cpu_softmax(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, softmax, arena, k, row_slice(&k->in[0], s));
}
int64_t cpu_units_logsumexp(const struct kargs *k)
{
    return row_units(&k->in[0]);
}
void cpu_logsumexp(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, logsumexp, arena, k, row_slice(&k->in[0], s));
}
int64_t cpu_units_xent(const struct kargs *k)
{
    return row_units(&k->in[0]);
}
void cpu_xent(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->in[0].dtype, xent, arena, k, row_slice(&k->in[0], s));
}

int64_t cpu_units_argmax(const struct kargs *k)
{
    return row_units(&k->in[0]);
}
static void argmax_i32(void *arena, const struct kargs *k, struct slice s)
{
    int64_t width = row_width(&k->in[0]);
    const int32_t *x = cpu_at(arena, &k->in[0]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        int64_t best = 0;
        for (int64_t i = 1; i < width; i++) {
            best = x[row * width + i] > x[row * width + best] ? i : best;
        }
        out[row] = (int32_t)best;
    }
}
void cpu_argmax(void *arena, const struct kargs *k, struct slice s)
{
    s = row_slice(&k->in[0], s);
    if (k->in[0].dtype == DT_I32) {
        argmax_i32(arena, k, s);
    } else {
        BY_FLOAT(k->in[0].dtype, argmax, arena, k, s);
    }
}

#else /* for f32, f64 and bf16 */

static T NAME(row_max)(const S *x, int64_t n)
{
    T m = LOWEST;
    for (int64_t i = 0; i < n; i++) {
        T v = GET(x[i]);
        m = max2(v, m);
    }
    return m;
}

/* What is subtracted before e^x: the largest element, or 0 when there is none. */
static T NAME(row_shift)(const S *x, int64_t n)
{
    T m = NAME(row_max)(x, n);
    return m == LOWEST ? 0 : m;
}

static void NAME(softmax)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t width = row_width(&k->in[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        const S *x = (const S *)cpu_at(arena, &k->in[0]) + row * width;
        S *out = (S *)cpu_at(arena, &k->out[0]) + row * width;
        T m = NAME(row_shift)(x, width);
        double sum = 0;
        for (int64_t i = 0; i < width; i++) {
            T e = exp(GET(x[i]) - m);
            sum += (double)e;
            out[i] = NARROW ? x[i] : PUT(e); /* a power that was rounded is of no use: taken again below */
        }
        T scale = sum == 0 ? 0 : (T)(1 / sum);
        for (int64_t i = 0; i < width; i++) {
            out[i] = PUT((NARROW ? (T)exp(GET(x[i]) - m) : GET(out[i])) * scale);
        }
    }
}

static void NAME(logsumexp)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t width = row_width(&k->in[0]);
    S *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        const S *x = (const S *)cpu_at(arena, &k->in[0]) + row * width;
        T m = NAME(row_shift)(x, width);
        double sum = 0;
        for (int64_t i = 0; i < width; i++) {
            sum += (double)exp(GET(x[i]) - m);
        }
        out[row] = PUT(m == HIGHEST ? m : (T)(log(sum) + (double)m));
    }
}

static void NAME(xent)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t width = row_width(&k->in[0]);
    const int32_t *label = cpu_at(arena, &k->in[1]);
    S *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        const S *z = (const S *)cpu_at(arena, &k->in[0]) + row * width;
        out[row] = PUT(0);
        if (label[row] < 0 || label[row] >= width) {
            if (label[row] != -1) {
                fault_raise(cpu_control(arena, k), FAULT_LABEL, k->node, label[row], width);
            }
            continue;
        }
        T m = NAME(row_max)(z, width);
        double sum = 0;
        for (int64_t i = 0; i < width; i++) {
            sum += (double)exp(GET(z[i]) - m);
        }
        out[row] = PUT((T)(log(sum) - (double)(GET(z[label[row]]) - m)));
    }
}

static void NAME(argmax)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t width = row_width(&k->in[0]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        const S *x = (const S *)cpu_at(arena, &k->in[0]) + row * width;
        int64_t best = 0;
        T most = width ? GET(x[0]) : 0;
        for (int64_t i = 1; i < width && most == most; i++) {
            T v = GET(x[i]);
            bool better = v > most || v != v;
            best = better ? i : best;
            most = better ? v : most;
        }
        out[row] = (int32_t)best;
    }
}
#endif
