/* Not in the list of passes: makes the values behind `stop_grad` visible to who checks gradients.
 *
 * stop_grad(x) becomes stop_grad(copy(x)). autodiff drops the stop_grad and the copy stays, a node of its
 * own, also where x itself is used as well; so finite differences can hold its value while a parameter moves.
 */
#include "compiler/passes.h"

static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    if (n->op != OP_stop_grad) {
        return rewrite_copy(rw, n);
    }
    val held = build_1(&rw->b, OP_copy, rw->in[0]);
    return held ? build_1(&rw->b, OP_stop_grad, held) : 0;
}

enum status gml_hold_stops(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    return rewrite_graph(in, sink, visit, NULL, out) ? ST_OK : diag_worst(sink);
}
