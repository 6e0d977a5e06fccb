/* Bytes and arithmetic of a launch; cost.h says what is counted. */
#include "runtime/plan/cost.h"
#include "runtime/plan/group.h"

static double distinct(const struct operand *o)
{
    double n = o->dtype == DT_NONE ? 0 : 1;
    for (int i = 0; i < o->rank; i++) {
        n *= o->stride[i] ? (double)o->dim[i] : o->dim[i] > 0;
    }
    return n;
}
static double bytes_of(const struct operand *o)
{
    return o->dtype == DT_NONE ? 0 : distinct(o) * (double)dtype_size((enum dtype)o->dtype);
}

/* Tables of which an index picks rows: no more than the values that come or go. */
static double moved(const struct plan_op *op)
{
    const struct kargs *k = &op->k;
    unsigned flags = op_table[op->op].flags;
    double sum = 0, in0 = k->n_in ? bytes_of(&k->in[0]) : 0, out = 0;
    for (uint32_t i = 0; i < k->n_out; i++) {
        out += bytes_of(&k->out[i]);
    }
    for (uint32_t i = 1; i < k->n_in; i++) {
        sum += bytes_of(&k->in[i]);
    }
    if (flags & OPF_ROWS && k->n_in > 2) {
        return sum + bytes_of(&k->in[2]) + (k->in[0].offset == k->out[0].offset ? 0 : in0 + out);
    }
    if (flags & OPF_ANY_INDEX) {
        in0 = in0 < out ? in0 : out;
    }
    return sum + in0 + out;
}

static double elements(const struct plan_op *op)
{
    const struct kargs *k = &op->k;
    double most = 0;
    for (uint32_t i = 0; i < (uint32_t)(k->n_in + k->n_out); i++) {
        const struct operand *o = i < k->n_in ? &k->in[i] : &k->out[i - k->n_in];
        double n = o->dtype == DT_NONE ? 0 : (double)operand_count(o);
        most = n > most ? n : most;
    }
    return most;
}

static double group_flops(const struct group *g)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->n_instr; i++) {
        bool computes = g->instr[i].kind == GROUP_ELEM || g->instr[i].kind == GROUP_REDUCE;
        sum += !computes ? 0 : (double)(g->instr[i].row ? group_rows(g) : group_points(g));
    }
    return sum;
}

struct op_cost op_cost_of(const struct plan_op *op)
{
    const struct kargs *k = &op->k;
    const struct op_info *info = &op_table[op->op];
    struct op_cost c = {.bytes = moved(op), .dtype = k->n_out ? (enum dtype)k->out[0].dtype : DT_NONE};
    if (op->loop) {
        return (struct op_cost){.bytes = 0};
    }
    if (k->group) {
        c.flops = group_flops(k->group);
    } else if (info->flags & OPF_LIBRARY) {
        c.product = true;
        c.tf32 = k->n_attr > 0;
        c.flops = 2 * (double)operand_count(&k->out[0]) * (double)k->in[0].dim[k->in[0].rank - 1];
    } else if (!(info->flags & OPF_PLAN)) {
        c.flops = elements(op);
    }
    return c;
}

void op_times(const struct plan_variant *v, int64_t *times)
{
    for (uint32_t i = 0; i < v->n_op; i++) {
        times[i] = 1;
    }
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct plan_loop *l = v->op[i].loop;
        for (uint32_t j = i + 1; l && l->begin == i && j <= l->end; j++) {
            int64_t many;
            times[j] = __builtin_mul_overflow(times[j], l->count, &many) ? INT64_MAX : many;
        }
    }
}
