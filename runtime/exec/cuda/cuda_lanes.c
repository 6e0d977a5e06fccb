/* Two lanes of a graph. The schedule is a line, and its memory is planned for that; but the product that
 * gives the gradient of a weight is wanted by the optimizer alone, while the gradient of the layer below is
 * wanted at once. Such a product leaves the line: it waits for what is in front of it, products aside run one
 * behind the other, and a later step of the line waits for it where the two touch the same bytes - be it
 * because it reads the result, or because the plan has given it the bytes that the product still reads.
 *
 * Only kernels of products stand aside: they use no scratch, no counters and no control block, so the bytes
 * of their operands are all they touch. */
#include "runtime/exec/cuda/cuda_exec.h"

enum {
    NEAR = 3
}; /* steps that a product must be able to run beside: starting a lane costs about a microsecond */

struct range {
    uint64_t from, end;
};
static struct range range_of(const struct operand *o)
{
    int64_t low = 0, high = 1, size = o->dtype == DT_NONE ? 0 : (int64_t)dtype_size((enum dtype)o->dtype);
    for (int i = 0; i < o->rank && o->dtype != DT_NONE; i++) {
        if (o->dim[i] == 0) {
            return (struct range){o->offset, o->offset};
        }
        *(o->stride[i] < 0 ? &low : &high) += (o->dim[i] - 1) * o->stride[i];
    }
    return (struct range){o->offset + (uint64_t)(low * size), o->offset + (uint64_t)(high * size)};
}
static bool meet(const struct operand *x, const struct operand *y)
{
    struct range a = range_of(x), b = range_of(y);
    return a.from < b.end && b.from < a.end;
}

/* Whether one writes what the other reads or writes. */
static bool touches(const struct kargs *x, const struct kargs *y)
{
    for (uint16_t i = 0; i < x->n_out; i++) {
        for (uint16_t k = 0; k < y->n_out; k++) {
            if (meet(&x->out[i], &y->out[k])) {
                return true;
            }
        }
        for (uint16_t k = 0; k < y->n_in; k++) {
            if (meet(&x->out[i], &y->in[k])) {
                return true;
            }
        }
    }
    return false;
}
static bool moves(const struct kargs *k)
{
    const struct group *g = k->group;
    bool turns = false;
    for (uint16_t i = 0; g && i < g->n_instr; i++) {
        turns |= g->instr[i].kind == GROUP_LOAD && g->instr[i].turn != 0;
    }
    for (uint16_t i = 0; g && i < g->n_store; i++) {
        turns |= g->store[i].turn != 0;
    }
    return turns;
}

static const struct plan_op *op_of(const struct exec *e, const struct cuda_variant *v, uint32_t step)
{
    return &e->plan->variant[v - e->variant].op[v->step[step].op];
}
static bool must_wait(const struct exec *e, const struct cuda_variant *v, uint32_t aside, uint32_t step)
{
    const struct kargs *x = &op_of(e, v, aside)->k, *y = &op_of(e, v, step)->k;
    return moves(y) || touches(x, y) || touches(y, x);
}

static bool is_own_product(const struct exec *e, const struct cuda_variant *v, uint32_t i)
{
    const struct plan_op *op = op_of(e, v, i);
    return op->op < OP_COUNT && op_table[op->op].flags & OPF_LIBRARY && !v->step[i].blas_plan &&
           v->step[i].n_launch == 1;
}

bool cuda_stands_aside(const struct exec *e, const struct cuda_variant *v, uint32_t i, uint32_t to)
{
    uint32_t next = i + 1;
    if (!is_own_product(e, v, i)) {
        return false;
    }
    while (next < to && next < i + NEAR && !v->step[next].loop && !must_wait(e, v, i, next)) {
        next++;
    }
    return next == i + NEAR;
}

static void wait_for(struct cuda_tail *tail, void *node)
{
    for (int i = 0; i < tail->n; i++) {
        if (tail->node[i] == node) {
            return;
        }
    }
    tail->node[tail->n++] = node;
    tail->kernel = false;
}

/* The chain waits for the first n of those aside; they run one behind the other, so the last of them does. */
static void meet_some(struct cuda_line *line, uint32_t n)
{
    if (n == 0) {
        return;
    }
    wait_for(&line->tail, line->aside[n - 1].node);
    line->n_aside -= n;
    memmove(line->aside, line->aside + n, line->n_aside * sizeof *line->aside);
}
void cuda_lanes_meet(struct cuda_line *line)
{
    meet_some(line, line->n_aside);
}

static enum status add_aside(struct exec *e, const struct cuda_step *s, uint32_t i, struct cuda_line *line)
{
    struct cuda_tail tail = line->tail;
    tail.kernel = false;
    if (line->last_aside) {
        wait_for(&tail, line->last_aside);
    }
    if (line->n_aside == CUDA_ASIDE) {
        meet_some(line, 1);
    }
    TRY(cuda_step_add(e, line->graph, &tail, s));
    line->last_aside = line->aside[line->n_aside].node = tail.node[0];
    line->aside[line->n_aside++].step = i;
    return ST_OK;
}

enum status cuda_lane_add(struct exec *e, const struct cuda_variant *v, uint32_t i, bool aside,
                          struct cuda_line *line)
{
    uint32_t n = line->n_aside;
    if (aside && line->tail.n > 0 && line->tail.n + 2 < CUDA_TAIL) {
        return add_aside(e, &v->step[i], i, line);
    }
    while (n > 0 && !must_wait(e, v, line->aside[n - 1].step, i)) {
        n--;
    }
    meet_some(line, n);
    return cuda_step_add(e, line->graph, &line->tail, &v->step[i]);
}
