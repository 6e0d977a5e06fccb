/* logsumexp: the last axis goes. */
#include "runtime/graph/shape.h"

bool shape_logsumexp(struct shape_ctx *c)
{
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 1) || !shape_float(c, 0)) {
        return false;
    }
    c->out = c->in[0];
    c->out.dim[--c->out.rank] = 0;
    return true;
}
