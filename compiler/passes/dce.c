/* Dead code: keeps what the roots of the phases reach. Variables stay, used or not: they are part of
 * checkpoints. A loop keeps the carries and yields that somebody reads, and what these need; the others go.
 */
#include "compiler/passes.h"

struct live {
    bool *node;    /* by node */
    val *end;      /* by loop: the node that ends it */
    bool **result; /* by node that ends a loop: which parts are read outside; NULL = not asked for yet */
    uint32_t *
        *part; /* by node that ends a loop: new number + 1 of its carries, then of its yields; 0 = dropped */
};

static void mark_root(void *ctx, val *root)
{
    bool *live = ctx;
    live[*root] = true;
}
static void mark(bool *live, val v, bool *more)
{
    *more |= !live[v];
    live[v] = true;
}
/* A part of a loop is alive when its result is read, a carry also when the body reads it. */
static void mark_loop(const struct graph *g, const struct node *end, const bool *result, bool *live,
                      bool *more)
{
    uint32_t carries = loop_carries(g, end);
    for (uint32_t k = 0; k < carries; k++) {
        if (result[k] || live[loop_carry(g, end, k)]) {
            mark(live, loop_carry(g, end, k), more);
            mark(live, loop_next(g, end, k), more);
        }
    }
    for (uint32_t k = 0; k < loop_yields(g, end); k++) {
        if (result[carries + k]) {
            mark(live, loop_yield(g, end, k), more);
        }
    }
}
/* The parts of the loop that node `end` ends: by part, whether it is read outside. */
static bool *results_of(const struct graph *g, const struct live *l, val end)
{
    if (!l->result[end]) {
        l->result[end] = arena_array(g->arena, bool, graph_node(g, end)->n_in + 1);
    }
    return l->result[end];
}
static void read_result(const struct graph *g, const struct live *l, const struct node *n)
{
    val end = node_inputs(g, n)[0];
    uint32_t before = n->op == OP_loop_out ? loop_carries(g, graph_node(g, end)) : 0;
    results_of(g, l, end)[node_attrs(g, n)[0] + before] = true;
}
/* One walk downwards; true when something came alive behind the walk: a carry's next value. */
static bool spread(const struct graph *g, const struct live *l)
{
    bool again = false, *live = l->node;
    for (val id = g->nodes.n; id-- > 1;) {
        const struct node *n = graph_node(g, id);
        if (live[id] && n->op == OP_loop) {
            mark_loop(g, n, results_of(g, l, id), live, &again);
        } else if (live[id] && (n->op == OP_loop_last || n->op == OP_loop_out)) {
            read_result(g, l, n); /* results stand behind the end of their loop */
        }
        for (uint32_t i = 0; live[id] && n->op != OP_loop && i < n->n_in; i++) {
            live[node_inputs(g, n)[i]] = true;
        }
    }
    return again;
}

static void number_parts(const struct graph *g, struct live *l)
{
    for (val id = 1; id < g->nodes.n; id++) {
        const struct node *n = graph_node(g, id);
        if (n->op != OP_loop || !l->node[id]) {
            continue;
        }
        l->end[node_attrs(g, n)[0]] = id;
        uint32_t carries = loop_carries(g, n), next = 0;
        const bool *result = results_of(g, l, id);
        l->part[id] = arena_array(g->arena, uint32_t, n->n_in + 1);
        for (uint32_t k = 0; k < carries; k++) {
            l->part[id][k] = l->node[loop_carry(g, n, k)] ? ++next : 0;
        }
        next = 0;
        for (uint32_t k = 0; k < loop_yields(g, n); k++) {
            l->part[id][carries + k] = result[carries + k] ? ++next : 0;
        }
    }
}

/* The end of a loop with the parts that are alive. */
static val copy_end(struct rewrite *rw, const struct node *n, const uint32_t *part)
{
    uint32_t carries = loop_carries(rw->old, n), kept = 0, n_in = 0;
    val *in = arena_array(rw->g->arena, val, n->n_in + 1);
    for (int half = 0; half < 2; half++) {
        for (uint32_t k = 0; k < carries; k++) {
            if (part[k]) {
                in[n_in++] = rw->in[half * carries + k];
            }
        }
    }
    kept = n_in / 2;
    for (uint32_t k = 2 * carries; k < n->n_in; k++) {
        if (part[k - carries]) {
            in[n_in++] = rw->in[k];
        }
    }
    int64_t attr[] = {node_attrs(rw->old, n)[0], kept};
    return build_attrs(&rw->b, OP_loop, in, n_in, attr, 2);
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    const struct live *l = rw->ctx;
    if (!l->node[id]) {
        return 0;
    }
    const int64_t *attr = node_attrs(rw->old, n);
    val end = n->op == OP_loop_carry                          ? l->end[attr[0]]
              : n->op == OP_loop_last || n->op == OP_loop_out ? node_inputs(rw->old, n)[0]
                                                              : 0;
    if (n->op == OP_loop) {
        return copy_end(rw, n, l->part[id]);
    }
    if (!end || !l->part[end]) {
        return rewrite_copy(rw, n);
    }
    const struct node *e = graph_node(rw->old, end);
    uint32_t k = n->op == OP_loop_out ? loop_carries(rw->old, e) + (uint32_t)attr[0]
                                      : (uint32_t)attr[n->op == OP_loop_carry];
    int64_t number = (int64_t)l->part[end][k] - 1, carry[] = {attr[0], number};
    return n->op == OP_loop_carry ? build_attrs(&rw->b, OP_loop_carry, rw->in, 1, carry, 2)
                                  : build_attrs(&rw->b, (enum op)n->op, rw->in, 1, &number, 1);
}

bool pass_dce(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct live l = {
        arena_array(in->arena, bool, in->nodes.n + 1), arena_array(in->arena, val, in->loops.n + 1),
        arena_array(in->arena, bool *, in->nodes.n + 1), arena_array(in->arena, uint32_t *, in->nodes.n + 1)};
    each_root(in, mark_root, l.node);
    while (spread(in, &l)) {
    }
    number_parts(in, &l);
    return rewrite_graph(in, sink, visit, &l, out);
}
