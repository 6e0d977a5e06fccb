/* tree: the flat block, with the element type of its leaves. */
#include "runtime/graph/shape.h"

bool shape_tree(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_index(c, 0, c->g->trees.n, "tree")) {
        return false;
    }
    const struct tree *t = &c->g->trees.at[c->s->attr[0]];
    bool known = t->n_leaf && t->leaf[0] < c->g->vars.n;
    return shape_flat(c, 0, known ? c->g->vars.at[t->leaf[0]].type.dtype : DT_F32);
}
