/* Scratch sizes, and helpers on operands. */
#include "runtime/plan/internal.h"

int64_t operand_count(const struct operand *o)
{
    int64_t n = 1;
    for (int i = 0; i < o->rank; i++) {
        n *= o->dim[i];
    }
    return n;
}

bool operand_is_contiguous(const struct operand *o)
{
    int64_t want = 1;
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->dim[i] == 0) {
            return true;
        }
    }
    for (int i = o->rank - 1; i >= 0; i--) {
        if (o->dim[i] != 1 && o->stride[i] != want) {
            return false;
        }
        want *= o->dim[i];
    }
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t reduce_workspace(const struct kargs *k)
{
    uint64_t out = (uint64_t)operand_count(&k->out[0]), in = (uint64_t)operand_count(&k->in[0]);
    if (!out || in / out < PLAN_REDUCE_SPLIT) {
        return 0;
    }
    uint64_t parts = (in / out + PLAN_REDUCE_CHUNK - 1) / PLAN_REDUCE_CHUNK;
    parts = least(parts, PLAN_REDUCE_PARTIALS);
    parts = least(parts, out > PLAN_REDUCE_TOTAL ? 1 : PLAN_REDUCE_TOTAL / out);
    return parts > 1 ? 8 * out * parts : 0;
}

uint64_t op_workspace(enum op op, const struct kargs *k, const struct target *t)
{
    if (op_table[op].kind == OPK_REDUCE) {
        return reduce_workspace(k);
    }
    if (op_table[op].flags & OPF_LIBRARY) {
        return t->workspace;
    }
    if (op == OP_solve_spd) {
        /* for each matrix its factor and the columns, in f64 */
        return 8 * (uint64_t)(operand_count(&k->in[0]) + operand_count(&k->in[1]));
    }
    if (op == OP_put_add) {
        uint64_t rows = k->in[0].rank ? (uint64_t)k->in[0].dim[0] : 1;
        return PLAN_PUT_ADD_INDEX * (uint64_t)operand_count(&k->in[1]) + PLAN_PUT_ADD_ROW * (rows + 1);
    }
    return 0;
}
