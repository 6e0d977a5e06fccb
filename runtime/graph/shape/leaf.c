/* leaf: one leaf of a flat block, with the shape of its variable and the element type of the block. */
#include "runtime/graph/shape.h"

bool shape_leaf(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    uint32_t tree;
    bool all = c->g->replicas && x->rank == 2 && x->dim[0] == c->g->n_replicas;
    if (!shape_attrs(c, 1, 0) || !(all || shape_rank(c, 0, 1))) {
        return false;
    }
    if (!dim_is_tree(&c->g->dims, x->dim[all], &tree) || tree >= c->g->trees.n) {
        return shape_fail(c, DIAG_I0001, "leaf of %s, which is no flat block", shape_text(c, x));
    }
    const struct tree *t = &c->g->trees.at[tree];
    if (!shape_index(c, 0, t->n_leaf, "leaf")) {
        return false;
    }
    uint32_t var = t->leaf[c->s->attr[0]];
    if (var >= c->g->vars.n || !type_valid(c->g, &c->g->vars.at[var].type)) {
        return shape_fail(c, DIAG_I0001, "leaf of a tree without that variable");
    }
    c->out = c->g->vars.at[var].type;
    if (all && c->out.rank == LIMIT_RANK) {
        return shape_fail(c, DIAG_E2003, "a parameter of %s has no room for an axis of replicas",
                          shape_text(c, &c->out));
    }
    c->out = all ? type_stacked(c->out, c->g->n_replicas) : c->out;
    c->out.dtype = x->dtype;
    return true;
}
