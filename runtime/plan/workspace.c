/* Scratch sizes, and helpers on operands. */
#include "runtime/plan/group.h"
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

/* For each matrix two of its size in f64, and two numbers for each row or column, whichever are fewer. */
static uint64_t matrix_workspace(const struct operand *x)
{
    uint64_t rows = (uint64_t)x->dim[x->rank - 2], columns = (uint64_t)x->dim[x->rank - 1];
    uint64_t n = (uint64_t)operand_count(x);
    return n ? 8 * 2 * (n + n / (rows * columns) * least(rows, columns)) : 0;
}

/* For `out` results of `each` elements. */
static uint64_t split_workspace(uint64_t out, uint64_t each)
{
    if (each < PLAN_REDUCE_SPLIT) {
        return 0;
    }
    uint64_t parts = (each + PLAN_REDUCE_CHUNK - 1) / PLAN_REDUCE_CHUNK;
    parts = least(parts, PLAN_REDUCE_PARTIALS);
    parts = least(parts, out > PLAN_REDUCE_TOTAL ? 1 : PLAN_REDUCE_TOTAL / out);
    return parts > 1 ? 8 * out * parts : 0;
}

static uint64_t reduce_workspace(const struct kargs *k)
{
    uint64_t out = (uint64_t)operand_count(&k->out[0]), in = (uint64_t)operand_count(&k->in[0]);
    return out ? split_workspace(out, in / out) : 0;
}

static uint64_t group_workspace(const struct group *g)
{
    uint64_t bytes = 0;
    for (uint16_t i = 0; i < g->n_instr && !group_goes_on(g); i++) {
        bool splits = g->instr[i].kind == GROUP_REDUCE;
        bytes += splits ? split_workspace((uint64_t)group_rows(g), (uint64_t)group_inside(g)) : 0;
    }
    return bytes;
}

uint64_t order_scratch(int64_t segments, int64_t n, int buffers)
{
    uint64_t tiles = ((uint64_t)n + PLAN_ORDER_TILE - 1) / PLAN_ORDER_TILE;
    return 4 * (uint64_t)segments * ((uint64_t)buffers * (uint64_t)n + PLAN_ORDER_DIGITS * tiles);
}

/* Rows of the last axis. */
static uint64_t argsort_workspace(const struct operand *x)
{
    int64_t length = x->rank ? x->dim[x->rank - 1] : 0;
    return length > PLAN_ORDER_FROM ? order_scratch(operand_count(x) / length, length, 1) : 0;
}

/* `rows` that are written to by the places of an index. */
static uint64_t place_workspace(enum op op, int64_t rows, const struct operand *index)
{
    return op == OP_put ? 4 * (uint64_t)rows : order_scratch(1, operand_count(index), 2) + 8 * (uint64_t)rows;
}

uint64_t op_workspace(enum op op, const struct kargs *k, const struct target *t)
{
    if (op_table[op].kind == OPK_REDUCE) {
        return reduce_workspace(k);
    }
    if (op == OP_group) {
        return group_workspace(k->group);
    }
    if (op_table[op].flags & OPF_LIBRARY) {
        return t->workspace;
    }
    if (op == OP_solve_spd) {
        /* for each matrix its factor and the columns, in f64 */
        return 8 * (uint64_t)(operand_count(&k->in[0]) + operand_count(&k->in[1]));
    }
    if (op == OP_orthonormal || op == OP_pinv) {
        return matrix_workspace(&k->in[0]);
    }
    int64_t rows = k->n_in && k->in[0].rank ? k->in[0].dim[0] : 1;
    if (t->sm == 0) {
        bool lists = op == OP_put_add && k->in[0].dtype == DT_BF16;
        return lists ? 4 * (uint64_t)(operand_count(&k->in[1]) + rows) : 0;
    }
    if (op == OP_argsort) {
        return argsort_workspace(&k->in[0]);
    }
    if (op == OP_put || op == OP_put_add || op == OP_put_max) {
        return place_workspace(op, rows, &k->in[1]);
    }
    if (op == OP_spread) {
        return place_workspace(op, operand_count(&k->out[0]), &k->in[1]);
    }
    return 0;
}
