/* Loops: what is made in front of a body and behind it. In front: copies of outer values that the body reads
 * in other strides than they have, a buffer for each carry with its first value, a stack for each yield, the
 * counter. Behind: yields go into their stacks, next values into the carries. A next value is written
 * straight into its carry where nobody reads the old one from then on.
 */
#include "runtime/plan/internal.h"

static bool inside(const struct variant_build *v, uint32_t node, uint32_t loop)
{
    return loop_inside(v->b->g, graph_node(v->b->g, node)->loop, loop);
}

/* -- in front */

/* A value that does not change in the loop is copied once, not in every iteration; and it is there afterwards
 * even if there was none. `at` is the place of the loop's beginning in the order. */
static void copy_outer_inputs(struct variant_build *v, const struct scheduled *s, uint32_t loop)
{
    const struct graph *g = v->b->g;
    for (const struct scheduled *x = s + 1; x->node != s->node; x++) {
        const struct node *n = graph_node(g, x->node);
        bool launched = op_table[n->op].kind != OPK_VIEW && !(op_table[n->op].flags & OPF_META);
        for (uint32_t i = 0; i < n->n_in && launched && n->op != OP_stop_grad; i++) {
            uint32_t in = node_inputs(g, n)[i];
            struct place p = v->value[v->slot[in] - 1];
            if (!inside(v, in, loop) && !strides_fit((enum op)n->op, i, &p.o)) {
                contiguous_copy(v, in, &p, s->part);
            }
        }
    }
}

static struct place open_carry(struct variant_build *v, uint32_t carry, enum part part)
{
    uint32_t first = node_inputs(v->b->g, graph_node(v->b->g, carry))[0];
    struct place from = v->value[v->slot[first] - 1], to = new_buffer(v, carry, &from.o);
    copy_into(v, first, &from, &to, part);
    v->buffers.at[to.index].carry = true;
    return to;
}

static enum status open_stack(struct variant_build *v, uint32_t yield, const struct loop *l,
                              struct place *out)
{
    const struct graph *g = v->b->g;
    struct type t = node_type(g, yield);
    dim shape[LIMIT_RANK + 1] = {l->count};
    struct operand o;
    memcpy(shape + 1, t.dim, (size_t)t.rank * sizeof *shape);
    TRY(bind_shape(v->b, &v->binding, t.dtype, t.rank + 1, shape, l->span, "the yields of a scan", &o));
    *out = new_buffer(v, yield, &o);
    return ST_OK;
}

static enum status bind_count(struct variant_build *v, const struct loop *l, struct plan_loop *p)
{
    TRY(bind_dim(v->b, &v->binding, l->count, l->span, "the length of a scan", &p->count));
    p->reverse = l->reverse;
    return p->count <= INT32_MAX
               ? ST_OK
               : diag_emit(v->b->sink, DIAG_E3105, l->span, "scan: counted in i32, which cannot reach %lld",
                           (long long)p->count);
}

enum status loop_opens(struct variant_build *v, const struct scheduled *s)
{
    const struct graph *g = v->b->g;
    const struct node *end = graph_node(g, s->node);
    uint32_t id = (uint32_t)node_attrs(g, end)[0], carries = loop_carries(g, end),
             yields = loop_yields(g, end);
    struct loop_build *l = &v->loop[id];
    *l = (struct loop_build){.node = s->node,
                             .carry = arena_array(v->b->scratch, struct place, carries),
                             .stack = arena_array(v->b->scratch, struct place, yields),
                             .plan = arena_new_of(v->b->arena, struct plan_loop)};
    TRY(bind_count(v, &g->loops.at[id], l->plan));
    copy_outer_inputs(v, s, id);
    for (uint32_t k = 0; k < carries; k++) {
        l->carry[k] = open_carry(v, loop_carry(g, end, k), s->part);
    }
    for (uint32_t k = 0; k < yields; k++) {
        TRY(open_stack(v, loop_yield(g, end, k), &g->loops.at[id], &l->stack[k]));
    }
    l->counter = new_buffer(v, s->node, &(struct operand){.dtype = DT_I32});
    l->begin = v->drafts.n;
    l->end = NONE;
    struct draft d = {.op = OP_loop_begin, .node = s->node, .part = s->part, .out = l->counter, .loop = id};
    vec_push(v->b->scratch, &v->drafts, d);
    return ST_OK;
}

struct place loop_place(const struct variant_build *v, uint32_t node)
{
    const struct graph *g = v->b->g;
    const struct node *n = graph_node(g, node);
    bool result = n->op == OP_loop_last || n->op == OP_loop_out;
    uint32_t loop = (uint32_t)node_attrs(g, result ? graph_node(g, node_inputs(g, n)[0]) : n)[0];
    const struct loop_build *l = &v->loop[loop];
    switch (n->op) {
    case OP_loop_index:
        return l->counter;
    case OP_loop_carry:
        return l->carry[node_attrs(g, n)[1]];
    case OP_loop_last:
        return l->carry[node_attrs(g, n)[0]];
    default:
        return l->stack[node_attrs(g, n)[0]];
    }
}

/* -- behind */

static void put_yield(struct variant_build *v, const struct loop_build *l, uint32_t yield, uint32_t k,
                      enum part part)
{
    struct draft d = {.op = OP_loop_put, .node = yield, .part = part, .n_in = 2, .out = l->stack[k]};
    d.in = arena_array(v->b->scratch, struct place, 2);
    d.in[0] = v->value[v->slot[yield] - 1];
    d.in[1] = l->counter;
    vec_push(v->b->scratch, &v->drafts, d);
}

static bool is_carry(const struct loop_build *l, uint32_t carries, const struct place *p)
{
    for (uint32_t k = 0; k < carries; k++) {
        if (p->home == HOME_BUFFER && p->index == l->carry[k].index) {
            return true;
        }
    }
    return false;
}

static bool same_place(const struct place *a, const struct place *b)
{
    return a->home == b->home && a->index == b->index && a->o.offset == b->o.offset &&
           operand_is_contiguous(&a->o) && operand_is_contiguous(&b->o);
}

/* Whether the launch that makes `next` may write over the carry. */
static bool writes_over(const struct variant_build *v, const struct loop_build *l, const struct place *next,
                        const struct place *carry)
{
    const struct buffer *b = place_is_whole(v, next) ? &v->buffers.at[next->index] : NULL;
    if (!b || b->storage != NONE || b->root != next->index || b->first <= l->begin ||
        b->bytes != v->buffers.at[carry->index].bytes) {
        return false;
    }
    for (uint32_t j = b->first; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            const struct place *in = &d->in[i];
            bool reads = in->home == HOME_BUFFER && in->index == carry->index;
            bool in_step = j == b->first && op_writes_over(d->op, i) && place_is_whole(v, in) &&
                           dtype_size(in->o.dtype) == dtype_size(d->out.o.dtype);
            if (reads && !in_step) {
                return false;
            }
        }
    }
    return true;
}

/* The buffer lies in the carry from now on, and what lay in the buffer with it (the next value of a loop
 * inside whose carry that is). */
static void move_into(struct variant_build *v, uint32_t buffer, uint32_t carry)
{
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        v->buffers.at[i].root = v->buffers.at[i].root == buffer ? carry : v->buffers.at[i].root;
    }
    v->buffers.at[buffer].carried = true;
}

/* A next value that is a carry (of old) is saved before any of them changes. */
static void update_carries(struct variant_build *v, const struct loop_build *l, const struct node *end,
                           enum part part)
{
    const struct graph *g = v->b->g;
    uint32_t carries = loop_carries(g, end);
    struct place *next = arena_array(v->b->scratch, struct place, carries);
    for (uint32_t k = 0; k < carries; k++) {
        uint32_t node = loop_next(g, end, k);
        next[k] = v->value[v->slot[node] - 1];
        if (is_carry(l, carries, &next[k]) && !same_place(&next[k], &l->carry[k])) {
            next[k] = copy_out(v, node, &next[k], part);
        }
    }
    for (uint32_t k = 0; k < carries; k++) {
        if (!same_place(&next[k], &l->carry[k]) && writes_over(v, l, &next[k], &l->carry[k])) {
            move_into(v, next[k].index, l->carry[k].index);
            next[k] = l->carry[k];
        }
    }
    for (uint32_t k = 0; k < carries; k++) {
        if (!same_place(&next[k], &l->carry[k])) {
            copy_into(v, loop_next(g, end, k), &next[k], &l->carry[k], part);
        }
    }
}

enum status loop_ends(struct variant_build *v, const struct scheduled *s, struct place *out)
{
    const struct graph *g = v->b->g;
    const struct node *end = graph_node(g, s->node);
    uint32_t id = (uint32_t)node_attrs(g, end)[0], carries = loop_carries(g, end),
             yields = loop_yields(g, end);
    struct loop_build *l = &v->loop[id];
    for (uint32_t k = 0; k < yields; k++) {
        put_yield(v, l, loop_yield(g, end, k), k, s->part);
    }
    update_carries(v, l, end, s->part);
    l->end = v->drafts.n;
    struct draft d = {.op = OP_loop, .node = s->node, .part = s->part, .out = l->counter, .loop = id};
    d.in = arena_array(v->b->scratch, struct place, (size_t)carries + yields);
    for (uint32_t k = 0; k < carries; k++) {
        d.in[d.n_in++] = l->carry[k];
    }
    for (uint32_t k = 0; k < yields; k++) {
        d.in[d.n_in++] = l->stack[k];
    }
    vec_push(v->b->scratch, &v->drafts, d);
    *l->plan = (struct plan_loop){0, l->plan->count, l->plan->reverse, l->begin, l->end};
    *out = l->counter;
    return ST_OK;
}

uint32_t loop_reach(const struct variant_build *v, uint32_t first, uint32_t at)
{
    uint32_t last = at;
    for (uint32_t i = 1; i < v->b->g->loops.n; i++) {
        const struct loop_build *l = &v->loop[i];
        if (l->node && l->begin < at && at < l->end && first <= l->begin && l->end > last) {
            last = l->end;
        }
    }
    return last;
}
