/* xent: logits [.., K] and labels [..]. */
#include "runtime/graph/shape.h"

bool shape_xent(struct shape_ctx *c)
{
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 1) || !shape_float(c, 0) ||
        !shape_dtype(c, 1, DT_I32)) {
        return false;
    }
    c->out = c->in[0];
    c->out.dim[--c->out.rank] = 0;
    struct type labels = c->in[1];
    labels.dtype = c->out.dtype;
    return type_equal(&labels, &c->out) ||
           shape_pair(c, DIAG_E2001, 0, 1, "labels need the shape of the logits without the last axis");
}
