/* A carry with a linear recurrence whose coefficients do not depend on carries becomes one linear_scan in
 * front of the loop: discounted returns, advantages, running averages, and their gradients.
 *
 *   next a = d + k * a,  a from a0       ->   all values of a, [a0, d ..] and [1, k ..] scanned along the
 * iterations
 *
 * The first value goes in front, so that a loop without iterations leaves it.
 */
#include "compiler/passes/batch.h"

struct linear {
    struct hoist hoist; /* first */
    val *all;           /* by old carry: its values in the new graph, [n + 1, ..]; 0 = none */
    val (*law)[2];      /* by old carry: k and d of its recurrence; 0 = another one */
};

/* Whether v, seen from the loop, is the same for all iterations or moves out of it. */
static bool is_known(const struct graph *g, const struct linear *l, val v, uint32_t loop)
{
    return graph_node(g, v)->loop != loop || l->hoist.moves[v];
}
/* k of k * carry, 0 if v is no such product. */
static val factor_of(const struct graph *g, const struct linear *l, val v, val carry, uint32_t loop)
{
    const struct node *n = graph_node(g, v);
    if (n->op != OP_mul) {
        return 0;
    }
    val a = node_inputs(g, n)[0], b = node_inputs(g, n)[1];
    val k = a == carry ? b : b == carry ? a : 0;
    return k && k != carry && is_known(g, l, k, loop) ? k : 0;
}
static void find_law(const struct graph *g, struct linear *l, val carry, val next_value)
{
    const struct node *c = graph_node(g, carry), *next = graph_node(g, next_value);
    if (!dtype_is_float((enum dtype)c->dtype) || c->rank == LIMIT_RANK || next->op != OP_add ||
        next->loop != c->loop) {
        return;
    }
    val x = node_inputs(g, next)[0], y = node_inputs(g, next)[1], k = factor_of(g, l, x, carry, c->loop);
    val d = k ? y : x;
    k = k ? k : factor_of(g, l, y, carry, c->loop);
    if (k && is_known(g, l, d, c->loop)) {
        l->law[carry][0] = k;
        l->law[carry][1] = d;
    }
}

/* All iterations of a known value, [n, ..]. */
static val all_of(struct rewrite *rw, val v, uint32_t loop)
{
    if (graph_node(rw->old, v)->loop == loop) {
        return hoist_stack(rw, v);
    }
    struct type t = node_type(rw->old, v);
    memmove(t.dim + 1, t.dim, (size_t)t.rank * sizeof *t.dim);
    t.dim[0] = rw->old->loops.at[loop].count;
    return build_expand(&rw->b, rw->map[v], t.rank + 1, t.dim);
}
/* One more part in front, or behind where the loop runs backwards. */
static val with_first(struct rewrite *rw, val stack, val first, bool reverse)
{
    if (!stack || !first) {
        return 0;
    }
    struct type t = node_type(rw->g, stack);
    t.dim[0] = dim_const(&rw->g->dims, 1);
    val one = build_expand(&rw->b, first, t.rank, t.dim);
    return build_concat(&rw->b, reverse ? (val[]){stack, one} : (val[]){one, stack}, 2, 0);
}

static val scan_carry(struct rewrite *rw, const struct node *carry, val k, val d)
{
    uint32_t loop = carry->loop;
    bool reverse = rw->old->loops.at[loop].reverse;
    enum dtype t = (enum dtype)carry->dtype;
    val one = build_const(&rw->b, t, 1);
    val a = with_first(rw, all_of(rw, k, loop), one, reverse);
    val b = a ? with_first(rw, all_of(rw, d, loop), rw->in[0], reverse) : 0;
    return b ? build_attrs(&rw->b, OP_linear_scan, (val[]){a, b}, 2, (int64_t[]){0, reverse}, 2) : 0;
}

/* A carry that is scanned is read from its values. */
static val visit_carry(struct rewrite *rw, val id, const struct node *n)
{
    struct linear *l = rw->ctx;
    if (!l->law[id][0]) {
        return rewrite_copy(rw, n);
    }
    dim count = rw->old->loops.at[n->loop].count;
    bool reverse = rw->old->loops.at[n->loop].reverse;
    l->all[id] = scan_carry(rw, n, l->law[id][0], l->law[id][1]);
    val before = build_part(&rw->b, l->all[id], 0, dim_const(&rw->g->dims, reverse), count, 1);
    int64_t loop = n->loop;
    return build_attrs(&rw->b, OP_loop_in, &before, 1, &loop, 1);
}
/* A carry that was scanned stays a carry of the loop, read by nobody. */
static val visit_end(struct rewrite *rw, const struct node *n)
{
    const struct linear *l = rw->ctx;
    for (uint32_t k = 0; k < loop_carries(rw->old, n); k++) {
        val carry = loop_carry(rw->old, n, k);
        if (l->all[carry]) {
            const struct node *c = graph_node(rw->old, carry);
            val first = rw->map[node_inputs(rw->old, c)[0]];
            rw->in[k] = build_attrs(&rw->b, OP_loop_carry, &first, 1, node_attrs(rw->old, c), 2);
        }
    }
    return rewrite_copy(rw, n);
}
static val visit_last(struct rewrite *rw, const struct node *n)
{
    const struct linear *l = rw->ctx;
    const struct node *end = graph_node(rw->old, node_inputs(rw->old, n)[0]);
    val carry = loop_carry(rw->old, end, (uint32_t)node_attrs(rw->old, n)[0]);
    if (!l->all[carry]) {
        return rewrite_copy(rw, n);
    }
    const struct loop *loop = &rw->old->loops.at[node_attrs(rw->old, end)[0]];
    struct type t = rewrite_type(rw, n);
    dim zero = dim_const(&rw->g->dims, 0), one = dim_const(&rw->g->dims, 1);
    val last = build_part(&rw->b, l->all[carry], 0, loop->reverse ? zero : loop->count, one, 1);
    return build_reshape(&rw->b, last, t.rank, t.dim);
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    switch (n->op) {
    case OP_loop_carry:
        return visit_carry(rw, id, n);
    case OP_loop:
        return visit_end(rw, n);
    case OP_loop_last:
        return visit_last(rw, n);
    default:
        return rewrite_copy(rw, n);
    }
}

bool pass_linear(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct linear l = {.all = arena_array(in->arena, val, in->nodes.n + 1)};
    l.law = arena_alloc(in->arena, (in->nodes.n + 1) * sizeof *l.law);
    memset(l.law, 0, (in->nodes.n + 1) * sizeof *l.law);
    hoist_begin(&l.hoist, in);
    for (val id = 1; id < in->nodes.n; id++) {
        const struct node *n = graph_node(in, id);
        for (uint32_t k = 0; n->op == OP_loop && k < loop_carries(in, n); k++) {
            find_law(in, &l, loop_carry(in, n, k), loop_next(in, n, k));
        }
    }
    return rewrite_sorted(in, sink, visit, &l, (const val(*)[2])l.law, out);
}
