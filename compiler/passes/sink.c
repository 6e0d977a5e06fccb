/* Work of a loop that only its results need, not its carries, moves behind it and runs over all iterations at
 * once: a product with a weight that the body applies to what it yields becomes one large product. A value
 * moves when nothing else uses it and it is made of one value of the loop, so that one stack is replaced by
 * another: one that is there anyway, or is not much larger.
 */
#include "compiler/passes/batch.h"

uint32_t *count_users(const struct graph *g)
{
    uint32_t *n = arena_array(g->arena, uint32_t, g->nodes.n + 1);
    for (val id = 1; id < g->nodes.n; id++) {
        const struct node *x = graph_node(g, id);
        for (uint32_t i = 0; i < x->n_in; i++) {
            n[node_inputs(g, x)[i]]++;
        }
    }
    return n;
}

/* All iterations of v, a value of the loop that ends at `end` (both of the new graph). */
val loop_all(struct rewrite *rw, val end, val v)
{
    struct graph *g = rw->g;
    const struct node *n = graph_node(g, v);
    int64_t loop = node_attrs(g, graph_node(g, end))[0];
    if (n->op == OP_loop_in && n->loop == (uint32_t)loop) {
        return node_inputs(g, n)[0];
    }
    if (!loop_inside(g, n->loop, (uint32_t)loop)) { /* the same in each */
        struct type t = node_type(g, v);
        memmove(t.dim + 1, t.dim, (size_t)t.rank * sizeof *t.dim);
        t.dim[0] = g->loops.at[loop].count;
        return build_expand(&rw->b, v, t.rank + 1, t.dim);
    }
    int64_t k = graph_loop_yield(g, end, v);
    return build_attrs(&rw->b, OP_loop_out, &end, 1, &k, 1);
}

bool loop_keeps(const struct graph *g, const struct node *end, val v)
{
    for (uint32_t k = 0; k < loop_yields(g, end); k++) {
        if (loop_yield(g, end, k) == v) {
            return true;
        }
    }
    return graph_node(g, v)->op == OP_loop_in;
}
static dim elements(struct dims *d, const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    dim size = dim_const(d, 1);
    for (int i = 0; i < n->rank; i++) {
        size = dim_mul(d, size, node_shape(g, n)[i]);
    }
    return size;
}
enum { MUCH_LARGER = 64 }; /* not yet: a row of features and the number that a head makes of it */
enum stack_cost loop_stack_cost(struct dims *d, const struct graph *g, val end, val from, val v)
{
    int64_t ratio = 0;
    if (loop_keeps(g, graph_node(g, end), from)) {
        return STACK_CHEAP;
    }
    dim more = dim_div(d, elements(d, g, from), elements(d, g, v));
    if (!more || !dim_is_const(d, more, &ratio)) {
        return STACK_UNKNOWN;
    }
    return ratio <= MUCH_LARGER ? STACK_CHEAP : STACK_DEAR;
}

/* The only input of n that belongs to its loop; 0 when there are several or n cannot move. */
static val only_input(const struct rewrite *rw, const struct node *n, bool *stacked)
{
    val found = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        val in = node_inputs(rw->old, n)[i];
        stacked[i] = graph_node(rw->old, in)->loop == n->loop;
        if (stacked[i] && found && found != in) {
            return 0;
        }
        found = stacked[i] ? in : found;
    }
    return !(op_table[n->op].flags & OPF_LOOP) && batch_exists(rw->old, n, stacked) ? found : 0;
}

/* How far back from v the work moves: to the value whose stack takes the place of v's. */
static val moves_to(const struct rewrite *rw, val end, val v)
{
    const uint32_t *users = rw->ctx;
    val best = v, at = v;
    while (at && users[at] == 1) {
        const struct node *n = graph_node(rw->old, at);
        at = only_input(rw, n, arena_array(rw->g->arena, bool, n->n_in + 1));
        if (at && loop_stack_cost(&rw->g->dims, rw->old, end, at, v) == STACK_CHEAP) {
            best = at;
        }
    }
    return best;
}

/* All iterations of an old value of the loop, computed from those of `from`. */
static val behind(struct rewrite *rw, val end, val v, val from)
{
    const struct graph *old = rw->old;
    const struct node *n = graph_node(old, v);
    if (v == from) {
        return loop_all(rw, end, rw->map[v]);
    }
    bool *stacked = arena_array(rw->g->arena, bool, n->n_in + 1);
    val *in = arena_array(rw->g->arena, val, n->n_in + 1);
    val stack = behind(rw, end, only_input(rw, n, stacked), from);
    for (uint32_t i = 0; i < n->n_in; i++) {
        in[i] = stacked[i] ? stack : rw->map[node_inputs(old, n)[i]];
    }
    struct node_spec s = rewrite_spec(old, v, in);
    return stack ? batch_build(&rw->b, &s, stacked, old->loops.at[n->loop].count) : 0;
}

static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    if (n->op != OP_loop_out) {
        return rewrite_copy(rw, n);
    }
    val last = node_inputs(rw->old, n)[0];
    const struct node *end = graph_node(rw->old, last);
    val y = loop_yield(rw->old, end, (uint32_t)node_attrs(rw->old, n)[0]);
    bool inside = graph_node(rw->old, y)->loop == (uint32_t)node_attrs(rw->old, end)[0];
    return inside ? behind(rw, rw->in[0], y, moves_to(rw, last, y)) : rewrite_copy(rw, n);
}

bool pass_sink(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct graph *g;
    return rewrite_graph(in, sink, visit, count_users(in), &g) &&
           rewrite_sorted(g, sink, NULL, NULL, NULL, out);
}
