/* Work of a loop that only needs its inputs, not its carries, moves in front of it and runs over all
 * iterations at once; the loop reads the result part by part. So the product of an input with a weight
 * becomes one large product, and a loop without carries disappears. Views stay behind, next to who uses them.
 * Not moved is what would need much more memory: a small part spread over a large value that does not change.
 */
#include "compiler/passes/batch.h"

static bool is_input(const struct node *n)
{
    return n->op == OP_loop_in || n->op == OP_loop_index;
}

static dim elements(struct graph *g, const struct node *n)
{
    dim size = dim_const(&g->dims, 1);
    for (int i = 0; i < n->rank; i++) {
        size = size ? dim_mul(&g->dims, size, node_shape(g, n)[i]) : 0;
    }
    return size;
}
/* What is behind views: the value that a stack would really hold. */
static const struct node *behind_views(const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    while (op_table[n->op].kind == OPK_VIEW) {
        n = graph_node(g, node_inputs(g, n)[0]);
    }
    return n;
}
/* An elementwise result is as large as one of the inputs that change. */
static bool is_worth_it(struct graph *g, const struct node *n)
{
    if (op_table[n->op].kind != OPK_ELEM) {
        return true;
    }
    int64_t most, here;
    dim size = elements(g, n);
    for (uint32_t i = 0; i < n->n_in; i++) {
        val in = node_inputs(g, n)[i];
        if (graph_node(g, in)->loop != n->loop) {
            continue;
        }
        dim has = elements(g, behind_views(g, in));
        bool known = has && size && dim_is_const(&g->dims, has, &here) && dim_is_const(&g->dims, size, &most);
        if (has == size || (known && here >= most)) {
            return true;
        }
    }
    return false;
}

static void find_moving(struct graph *g, bool *moves)
{
    for (val id = 1; id < g->nodes.n; id++) {
        const struct node *n = graph_node(g, id);
        if (!n->loop || is_input(n)) {
            moves[id] = n->loop != 0;
            continue;
        }
        if (op_table[n->op].flags & OPF_LOOP) {
            continue;
        }
        bool *stacked = arena_array(g->arena, bool, n->n_in + 1), all = true;
        for (uint32_t i = 0; i < n->n_in; i++) {
            val in = node_inputs(g, n)[i];
            stacked[i] = graph_node(g, in)->loop == n->loop;
            all &= !stacked[i] || moves[in];
        }
        moves[id] = all && batch_exists(g, n, stacked) && is_worth_it(g, n);
    }
}

static val make_stack(struct rewrite *rw, val id)
{
    const struct graph *old = rw->old;
    const struct node *n = graph_node(old, id);
    dim count = old->loops.at[n->loop].count;
    if (n->op == OP_loop_in) {
        return rw->map[node_inputs(old, n)[0]];
    }
    if (n->op == OP_loop_index) {
        return build_iota(&rw->b, count);
    }
    val *in = arena_array(rw->g->arena, val, n->n_in + 1);
    bool *stacked = arena_array(rw->g->arena, bool, n->n_in + 1);
    for (uint32_t i = 0; i < n->n_in; i++) {
        val v = node_inputs(old, n)[i];
        stacked[i] = graph_node(old, v)->loop == n->loop;
        in[i] = stacked[i] ? hoist_stack(rw, v) : rw->map[v];
        if (!in[i]) {
            return 0;
        }
    }
    struct node_spec s = rewrite_spec(old, id, in);
    return batch_build(&rw->b, &s, stacked, count);
}
val hoist_stack(struct rewrite *rw, val id)
{
    struct hoist *h = rw->ctx;
    if (!h->stack[id]) {
        h->stack[id] = make_stack(rw, id);
    }
    return h->stack[id];
}

/* A yield that moves needs no loop; nor does one that never changes. */
static val visit_out(struct rewrite *rw, const struct node *n)
{
    const struct hoist *h = rw->ctx;
    const struct node *end = graph_node(rw->old, node_inputs(rw->old, n)[0]);
    val y = loop_yield(rw->old, end, (uint32_t)node_attrs(rw->old, n)[0]);
    const struct node *made = graph_node(rw->old, y);
    struct type t = rewrite_type(rw, n);
    if (made->loop != (uint32_t)node_attrs(rw->old, end)[0]) {
        return build_expand(&rw->b, rw->map[y], t.rank, t.dim);
    }
    return h->moves[y] ? hoist_stack(rw, y) : rewrite_copy(rw, n);
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    const struct hoist *h = rw->ctx;
    if (n->op == OP_loop_out) {
        return visit_out(rw, n);
    }
    val same = n->op == OP_loop_in ? splat_of(rw->g, rw->in[0]) : 0;
    if (same) { /* every part of it is alike */
        struct type t = rewrite_type(rw, n);
        return build_expand(&rw->b, same, t.rank, t.dim);
    }
    if (!h->moves[id] || is_input(n) || op_table[n->op].kind == OPK_VIEW) {
        return rewrite_copy(rw, n);
    }
    val stack = hoist_stack(rw, id);
    int64_t loop = n->loop;
    return stack ? build_attrs(&rw->b, OP_loop_in, &stack, 1, &loop, 1) : 0;
}

void hoist_begin(struct hoist *h, struct graph *g)
{
    h->moves = arena_array(g->arena, bool, g->nodes.n + 1);
    h->stack = arena_array(g->arena, val, g->nodes.n + 1);
    find_moving(g, h->moves);
}

bool pass_hoist(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct hoist h;
    hoist_begin(&h, in);
    return rewrite_graph(in, sink, visit, &h, out);
}
