/* Dead code: keeps what the roots of the phases reach. Variables stay, used or not: they are part of
 * checkpoints. */
#include "compiler/passes.h"

static void mark(void *ctx, val *root)
{
    bool *live = ctx;
    live[*root] = true;
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    const bool *live = rw->ctx;
    return live[id] ? rewrite_copy(rw, n) : 0;
}
bool pass_dce(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    bool *live = arena_array(in->arena, bool, in->nodes.n + 1);
    each_root(in, mark, live);
    for (val id = in->nodes.n; id-- > 1;) {
        const struct node *n = graph_node(in, id);
        for (uint32_t i = 0; live[id] && i < n->n_in; i++) {
            live[node_inputs(in, n)[i]] = true;
        }
    }
    return rewrite_graph(in, sink, visit, live, out);
}
