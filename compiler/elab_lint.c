/* Lints that need the whole graph: scans of which nothing is used. */
#include "compiler/elab.h"

static void mark(bool *used, val v)
{
    used[v] = true;
}
static void mark_roots(const struct phase *p, bool *used)
{
    for (uint32_t i = 0; i < p->commits.n; i++) {
        mark(used, p->commits.at[i].value);
        mark(used, p->commits.at[i].guard);
    }
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        mark(used, p->metrics.at[i].value);
    }
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        mark(used, p->outputs.at[i].value);
    }
    for (uint32_t i = 0; i < p->asserts.n; i++) {
        mark(used, p->asserts.at[i].value);
    }
    for (uint32_t i = 0; i < p->minimizes.n; i++) {
        mark(used, p->minimizes.at[i].loss);
        mark(used, p->minimizes.at[i].grad);
        mark(used, p->minimizes.at[i].when);
    }
}
/* Loops with a node that a root needs. */
static bool *used_loops(struct elab *e)
{
    const struct graph *g = e->g;
    bool *used = arena_array(e->arena, bool, g->nodes.n), *loop = arena_array(e->arena, bool, g->loops.n);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        mark_roots(&g->phases.at[i], used);
    }
    for (val v = g->nodes.n - 1; v > 0; v--) {
        const struct node *n = graph_node(g, v);
        if (!used[v]) {
            continue;
        }
        loop[n->op == OP_loop ? (uint32_t)node_attrs(g, n)[0] : n->loop] = true;
        for (uint32_t i = 0; i < n->n_in; i++) {
            mark(used, node_inputs(g, n)[i]);
        }
    }
    return loop;
}
/* The text of a scan is expanded for each application of its layer, and where an array is walked also for
 * effect only: it is used where one of its loops is. */
static bool text_is_used(const struct graph *g, const bool *used, uint32_t loop)
{
    const struct span *s = &g->loops.at[loop].span;
    for (uint32_t i = 1; i < g->loops.n; i++) {
        const struct span *t = &g->loops.at[i].span;
        bool same = s->file == t->file && s->start == t->start && s->end == t->end;
        if (same && (used[i] || i < loop)) { /* or it is told */
            return true;
        }
    }
    return false;
}
void lint_scans(struct elab *e)
{
    const struct graph *g = e->g;
    const bool *used = used_loops(e);
    for (uint32_t i = 1; i < g->loops.n; i++) {
        const struct loop *l = &g->loops.at[i];
        const struct phase *p = &g->phases.at[l->phase];
        bool effect = p->commits.n || p->metrics.n || p->outputs.n || p->asserts.n || p->minimizes.n;
        if (!effect || (l->parent && !used[l->parent]) || text_is_used(g, used, i)) {
            continue;
        }
        fail(e, DIAG_W1003, l->span, "nothing of this scan is used");
        diag_help(e->sink, "its result is a record: r.y has all values of `yield y`, r.h the last of the "
                           "carry `h`; a state that its body writes stays");
    }
}
