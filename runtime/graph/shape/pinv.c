/* pinv: x[.., M, N] gives [.., N, M]. */
#include "runtime/graph/shape.h"

bool shape_pinv(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    if (!shape_attrs(c, 0, 0) || !shape_float(c, 0) || !shape_min_rank(c, 0, 2)) {
        return false;
    }
    c->out = *x;
    c->out.dim[x->rank - 1] = x->dim[x->rank - 2];
    c->out.dim[x->rank - 2] = x->dim[x->rank - 1];
    return true;
}
