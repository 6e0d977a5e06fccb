/* Loops of the graph: which node belongs to which, and yields added to one that has ended. */
#include "runtime/graph/graph.h"

bool loop_inside(const struct graph *g, uint32_t inner, uint32_t outer)
{
    while (inner != outer && inner > 0 && inner < g->loops.n) {
        uint32_t up = g->loops.at[inner].parent;
        inner = up < inner ? up : 0; /* of a loaded graph that is not verified yet */
    }
    return inner == outer;
}

uint32_t graph_loop(struct graph *g, uint16_t phase, uint32_t parent, dim count, bool reverse, struct span at,
                    struct diag_sink *sink)
{
    if (g->loops.n > LIMIT_LOOPS) {
        diag_emit(sink, DIAG_E0110, at, "the model has more than %d loops", (int)LIMIT_LOOPS);
        return 0;
    }
    struct loop l = {parent, phase, count, reverse, at};
    vec_push(g->arena, &g->loops, l);
    return g->loops.n - 1;
}

/* The innermost loop of the inputs; they all belong to one chain. */
static bool innermost(const struct graph *g, const struct node_spec *s, uint32_t *loop)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->n_in; i++) {
        uint32_t l = g->nodes.at[s->in[i]].loop;
        if (l == found || loop_inside(g, found, l)) {
            continue;
        }
        if (!loop_inside(g, l, found)) {
            return false;
        }
        found = l;
    }
    *loop = found;
    return true;
}

bool loop_of(const struct graph *g, const struct node_spec *s, uint32_t *loop)
{
    uint32_t inner = 0;
    if (!innermost(g, s, &inner)) {
        return false;
    }
    *loop = inner;
    if (s->op != OP_loop_in && s->op != OP_loop_index && s->op != OP_loop_carry && s->op != OP_loop) {
        return true;
    }
    if (s->n_attr == 0 || s->attr[0] <= 0 || s->attr[0] >= (int64_t)g->loops.n) {
        return false;
    }
    uint32_t own = (uint32_t)s->attr[0], parent = g->loops.at[own].parent;
    bool ends = s->op == OP_loop;
    *loop = ends ? parent : own;
    return g->loops.at[own].phase == s->phase && loop_inside(g, ends ? own : parent, inner);
}

uint32_t graph_loop_yield(struct graph *g, val end, val v)
{
    struct node *n = &g->nodes.at[end];
    uint32_t yields = loop_yields(g, n);
    for (uint32_t k = 0; k < yields; k++) {
        if (loop_yield(g, n, k) == v) {
            return k;
        }
    }
    uint32_t from = n->in;
    n->in = g->inputs.n;
    for (uint32_t i = 0; i < n->n_in; i++) {
        val in = g->inputs.at[from + i];
        vec_push(g->arena, &g->inputs, in);
    }
    vec_push(g->arena, &g->inputs, v);
    n->n_in++;
    return yields;
}
