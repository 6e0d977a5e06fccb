/* Scans along an axis: cumsum, cumprod, cummax, linear_scan. Elements are taken one after the other, sums and
 * products of f32 are kept in f64. A unit is a range of lanes: the elements that differ in the other axes.
 * Attributes: axis, reverse. */
#include "kernels/cpu/cpu.h"

struct lanes {
    int64_t n, length, inner; /* lanes, elements of each, and the distance between them */
    bool reverse;
};

static struct lanes lanes_of(const struct kargs *k)
{
    const struct operand *x = &k->out[0];
    int axis = (int)k->attr[0];
    int64_t inner = dims_product(x, axis + 1, x->rank);
    return (struct lanes){dims_product(x, 0, axis) * inner, x->dim[axis], inner, k->attr[1] != 0};
}

static int64_t scan_units(const struct kargs *k)
{
    struct lanes l = lanes_of(k);
    return l.length ? div_up(l.n, rows_per_unit(l.length)) : 0;
}

/* The place of the first element of a lane, and the step to the next. */
static int64_t lane_start(const struct lanes *l, int64_t lane, int64_t *step)
{
    int64_t first = lane / l->inner * l->inner * l->length + lane % l->inner;
    *step = l->reverse ? -l->inner : l->inner;
    return l->reverse ? first + (l->length - 1) * l->inner : first;
}

static struct bf16 round_f64(double x)
{
    return bf16_round((float)x);
}
/* `next` over the accumulator a and the element x; y is the element of a second input. */
#define AS_IS(x)                      (x)
#define SCAN(fn, TX, TA, first, next) SCAN_OF(fn, TX, TA, AS_IS, (TX), first, next)
#define SCAN_OF(fn, TX, TA, get, put, first, next)                                                           \
    static void fn(void *arena, const struct kargs *k, struct slice s)                                       \
    {                                                                                                        \
        typedef TA T UNUSED;                                                                                 \
        struct lanes l = lanes_of(k);                                                                        \
        int64_t per = rows_per_unit(l.length), to = min_i64(s.to * per, l.n), step;                          \
        const TX *px = cpu_at(arena, &k->in[0]), *py UNUSED = cpu_at(arena, &k->in[k->n_in - 1]);            \
        TX *out = cpu_at(arena, &k->out[0]);                                                                 \
        for (int64_t lane = s.from * per; lane < to; lane++) {                                               \
            int64_t at = lane_start(&l, lane, &step);                                                        \
            TA a = (TA)(first);                                                                              \
            for (int64_t i = 0; i < l.length; i++, at += step) {                                             \
                const TA x = (TA)get(px[at]), y UNUSED = (TA)get(py[at]);                                    \
                a = (TA)(next);                                                                              \
                out[at] = put(a);                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
SCAN(cumsum_f32, float, double, 0, a + x)
SCAN(cumsum_f64, double, double, 0, a + x)
SCAN_OF(cumsum_bf16, struct bf16, double, bf16_widen, round_f64, 0, a + x)
SCAN(cumsum_i32, int32_t, int32_t, 0, a + x)
SCAN(cumprod_f32, float, double, 1, a *x)
SCAN(cumprod_f64, double, double, 1, a *x)
SCAN_OF(cumprod_bf16, struct bf16, double, bf16_widen, round_f64, 1, a *x)
SCAN(cumprod_i32, int32_t, int32_t, 1, a *x)
SCAN(cummax_f32, float, float, LOWEST, max2(a, x))
SCAN(cummax_f64, double, double, LOWEST, max2(a, x))
SCAN_OF(cummax_bf16, struct bf16, float, bf16_widen, bf16_round, LOWEST, max2(a, x))
SCAN(cummax_i32, int32_t, int32_t, LOWEST, max2(a, x))
/* Nothing comes before the first element, so an infinite x there does no harm. */
SCAN(linear_scan_f32, float, float, 0, i == 0 ? y : x * a + y)
SCAN(linear_scan_f64, double, double, 0, i == 0 ? y : x * a + y)
SCAN_OF(linear_scan_bf16, struct bf16, float, bf16_widen, bf16_round, 0, i == 0 ? y : x * a + y)

#define SCAN_KERNEL(name)                                                                                    \
    int64_t cpu_units_##name(const struct kargs *k)                                                          \
    {                                                                                                        \
        return scan_units(k);                                                                                \
    }                                                                                                        \
    void cpu_##name(void *arena, const struct kargs *k, struct slice s)
SCAN_KERNEL(cumsum)
{
    if (k->in[0].dtype == DT_I32) {
        cumsum_i32(arena, k, s);
    } else {
        BY_FLOAT(k->in[0].dtype, cumsum, arena, k, s);
    }
}
SCAN_KERNEL(cumprod)
{
    if (k->in[0].dtype == DT_I32) {
        cumprod_i32(arena, k, s);
    } else {
        BY_FLOAT(k->in[0].dtype, cumprod, arena, k, s);
    }
}
SCAN_KERNEL(cummax)
{
    if (k->in[0].dtype == DT_I32) {
        cummax_i32(arena, k, s);
    } else {
        BY_FLOAT(k->in[0].dtype, cummax, arena, k, s);
    }
}
SCAN_KERNEL(linear_scan)
{
    BY_FLOAT(k->in[0].dtype, linear_scan, arena, k, s);
}
