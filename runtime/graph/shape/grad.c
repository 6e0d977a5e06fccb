/* grad: the gradient of a scalar loss over a tree, or over the leaves that are named, in ascending order. */
#include "runtime/graph/shape.h"

bool shape_grad(struct shape_ctx *c)
{
    uint32_t n = c->s->n_attr;
    if (!shape_attrs(c, n ? n : 1, 0) || !shape_float(c, 0) || !shape_rank(c, 0, 0) ||
        !shape_index(c, 0, c->g->trees.n, "tree")) {
        return false;
    }
    const struct tree *t = &c->g->trees.at[c->s->attr[0]];
    for (uint32_t i = 1; i < n; i++) {
        if (!shape_index(c, i, t->n_leaf, "leaf")) {
            return false;
        }
        if (i > 1 && c->s->attr[i] <= c->s->attr[i - 1]) {
            return shape_fail(c, DIAG_I0001, "grad: leaves are not ascending");
        }
    }
    return shape_flat(c, 0, c->in[0].dtype);
}
