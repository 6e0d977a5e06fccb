/* pack: one value for every leaf of a tree, in order. */
#include "runtime/graph/shape.h"

bool shape_pack(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_index(c, 0, c->g->trees.n, "tree")) {
        return false;
    }
    const struct tree *t = &c->g->trees.at[c->s->attr[0]];
    if (t->n_leaf != c->s->n_in) {
        return shape_fail(c, DIAG_I0001, "pack has %u values for %u leaves", (unsigned)c->s->n_in,
                          (unsigned)t->n_leaf);
    }
    enum dtype dtype = c->s->n_in ? c->in[0].dtype : DT_F32;
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        struct type x = node_type(c->g, c->s->in[i]), leaf = {0};
        if (t->leaf[i] < c->g->vars.n) {
            leaf = c->g->vars.at[t->leaf[i]].type;
        }
        leaf.dtype = dtype;
        if (c->g->replicas && c->s->type.rank == 2 && leaf.rank < LIMIT_RANK) {
            leaf = type_stacked(leaf, c->g->n_replicas);
        }
        if (!type_equal(&x, &leaf)) {
            return shape_fail(c, DIAG_I0001, "pack: value %u is %s, not like leaf \"%s\"", (unsigned)i,
                              shape_text(c, &x),
                              t->leaf[i] < c->g->vars.n ? c->g->vars.at[t->leaf[i]].key : "?");
        }
    }
    return shape_flat(c, 0, dtype) && (c->s->n_in == 0 || c->out.dtype == dtype ||
                                       shape_fail(c, DIAG_I0001, "pack changes the element type"));
}
