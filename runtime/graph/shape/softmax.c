/* softmax: rows of the last axis, same type. */
#include "runtime/graph/shape.h"

bool shape_softmax(struct shape_ctx *c)
{
    c->out = c->in[0];
    return shape_attrs(c, 0, 0) && shape_min_rank(c, 0, 1) && shape_float(c, 0);
}
