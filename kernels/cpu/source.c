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
void cpu_store(void *out, enum dtype t, double x)
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

double cpu_number(const struct control *c, enum op op, const int64_t *attr)
{
    const struct phase_control *p = op == OP_step ? &c->phase[attr[0]] : NULL;
    switch (op) {
    case OP_step: /* phase, and which counter */
        return to_count(attr[1] == 0   ? p->step
                        : attr[1] == 1 ? p->steps
                        : attr[1] == 2 ? p->epoch
                                       : p->cursor);
    case OP_knob: /* the config, which is its place in control.knob */
        return c->knob[attr[0]];
    default: /* phase, metric, and the place in control.metric that the planner adds */
        return c->metric[attr[2]].last;
    }
}
static void number(void *arena, const struct kargs *k, enum op op)
{
    cpu_store(cpu_at(arena, &k->out[0]), (enum dtype)k->out[0].dtype,
              cpu_number(cpu_control(arena, k), op, k->attr));
}

int64_t cpu_units_step(const struct kargs *k)
{
    return one(k);
}
void cpu_step(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    number(arena, k, OP_step);
}
int64_t cpu_units_knob(const struct kargs *k)
{
    return one(k);
}
void cpu_knob(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    number(arena, k, OP_knob);
}
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
        cpu_store(out + (size_t)r * dtype_size(t), t, m[r].last);
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
