/* ranges: tree, default bits, then (leaf, bits) pairs with ascending leaves. */
#include "runtime/graph/shape.h"

bool shape_ranges(struct shape_ctx *c)
{
    uint32_t n = c->s->n_attr;
    if (n < 2 || n % 2 || !shape_attrs(c, n, 0) || !shape_index(c, 0, c->g->trees.n, "tree")) {
        return n >= 2 && n % 2 == 0 ? false
                                    : shape_fail(c, DIAG_I0001, "ranges with %u attributes", (unsigned)n);
    }
    const struct tree *t = &c->g->trees.at[c->s->attr[0]];
    for (uint32_t i = 2; i < n; i += 2) {
        if (!shape_index(c, i, t->n_leaf, "leaf")) {
            return false;
        }
        if (i > 2 && c->s->attr[i] <= c->s->attr[i - 2]) {
            return shape_fail(c, DIAG_I0001, "ranges: leaves are not ascending");
        }
    }
    return shape_flat(c, 0, DT_F32);
}
