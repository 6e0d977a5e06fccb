/* Common subexpressions: adding nodes again finds the equal ones, since graphs are hash-consed. Operands of
 * commutative rows are put into ascending order first, which changes no bit of the result. */
#include "compiler/passes.h"

static const bool commutes[OP_COUNT] = {
    [OP_add] = true, [OP_mul] = true, [OP_eq] = true, [OP_ne] = true, [OP_land] = true, [OP_lor] = true,
};
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    if (commutes[n->op] && rw->in[0] > rw->in[1]) {
        val first = rw->in[1];
        rw->in[1] = rw->in[0];
        rw->in[0] = first;
    }
    return rewrite_copy(rw, n);
}
bool pass_cse(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    return rewrite_graph(in, sink, visit, NULL, out);
}
