/* Values that come from no operand: counters, knobs and metrics of the control block, iota, constants per
 * range of a flat block. */
#ifndef T
#include "kernels/cpu/cpu.h"

static int64_t one(const struct kargs *k)
{
    return operand_count(&k->out[0]) ? 1 : 0;
}
static int32_t to_count(int64_t x)
{
    return (int32_t)max_i64(INT32_MIN, min_i64(INT32_MAX, x));
}
/* One number of any dtype. */
static void store(void *out, enum dtype t, double x)
{
    switch (t) {
    case DT_F32:
        *(float *)out = (float)x;
        break;
    case DT_F64:
        *(double *)out = x;
        break;
    case DT_BF16:
        *(struct bf16 *)out = bf16_round((float)x);
        break;
    case DT_I32:
        *(int32_t *)out = to_i32(x);
        break;
    default:
        *(uint8_t *)out = to_bool(x);
        break;
    }
}

#define TWICE "kernels/cpu/source.c"
#include "kernels/cpu/twice.h"

/* Attributes: phase, and which counter. */
int64_t cpu_units_step(const struct kargs *k)
{
    return one(k);
}
void cpu_step(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    const struct phase_control *p = &cpu_control(arena, k)->phase[k->attr[0]];
    *(int32_t *)cpu_at(arena, &k->out[0]) = to_count(k->attr[1] == 0   ? p->step
                                                     : k->attr[1] == 1 ? p->steps
                                                     : k->attr[1] == 2 ? p->epoch
                                                                       : p->cursor);
}

/* Attribute: the config, which is its place in control.knob. */
int64_t cpu_units_knob(const struct kargs *k)
{
    return one(k);
}
void cpu_knob(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    store(cpu_at(arena, &k->out[0]), (enum dtype)k->out[0].dtype, cpu_control(arena, k)->knob[k->attr[0]]);
}

/* Attributes: phase, metric, and the place in control.metric that the planner adds. */
int64_t cpu_units_metric(const struct kargs *k)
{
    return one(k);
}
void cpu_metric(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    enum dtype t = (enum dtype)k->out[0].dtype;
    char *out = cpu_at(arena, &k->out[0]);
    const struct metric_control *m = &cpu_control(arena, k)->metric[k->attr[2]];
    for (int64_t r = 0; r < operand_count(&k->out[0]); r++) { /* one for each replica */
        store(out + (size_t)r * dtype_size(t), t, m[r].last);
    }
}

int64_t cpu_units_iota(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_iota(void *arena, const struct kargs *k, struct slice s)
{
    int32_t *out = cpu_at(arena, &k->out[0]);
    int64_t to = min_i64(s.to * UNIT_ELEMENTS, operand_count(&k->out[0]));
    for (int64_t i = s.from * UNIT_ELEMENTS; i < to; i++) {
        out[i] = (int32_t)i;
    }
}

/* Attributes: tree, default bits. Input: f64[n, 3], rows (first element, elements, value). */
int64_t cpu_units_ranges(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_ranges(void *arena, const struct kargs *k, struct slice s)
{
    s = (struct slice){s.from * UNIT_ELEMENTS, min_i64(s.to * UNIT_ELEMENTS, operand_count(&k->out[0]))};
    BY_FLOAT(k->out[0].dtype, ranges, arena, k, s);
}

#else /* for f32, f64 and bf16 */

static void NAME(ranges)(void *arena, const struct kargs *k, struct slice s)
{
    S *out = cpu_at(arena, &k->out[0]);
    for (int64_t i = s.from; i < s.to; i++) {
        out[i] = PUT((T)bits_f64(k->attr[1]));
    }
    int64_t n = k->n_in ? k->in[0].dim[0] : 0;
    const double(*range)[3] = n ? cpu_at(arena, &k->in[0]) : NULL;
    for (int64_t r = 0; r < n; r++) {
        int64_t from = max_i64(s.from, (int64_t)range[r][0]),
                to = min_i64(s.to, (int64_t)(range[r][0] + range[r][1]));
        for (int64_t i = from; i < to; i++) {
            out[i] = PUT((T)range[r][2]);
        }
    }
}
#endif
