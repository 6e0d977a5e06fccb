/* gather: x[n, r..] at i[k..] gives [k.., r..]. */
#include "runtime/graph/shape.h"

bool shape_gather(struct shape_ctx *c)
{
    const struct type *x = &c->in[0], *i = &c->in[1];
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 1) || !shape_dtype(c, 1, DT_I32)) {
        return false;
    }
    if (x->rank - 1 + i->rank > LIMIT_RANK) {
        return shape_pair(c, DIAG_E2003, 0, 1, "the result would have more than 8 axes");
    }
    c->out = *i;
    c->out.dtype = x->dtype;
    for (int k = 1; k < x->rank; k++) {
        c->out.dim[c->out.rank++] = x->dim[k];
    }
    return true;
}
