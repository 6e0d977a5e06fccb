/* grad: the gradient of a scalar loss over a tree. */
#include "runtime/graph/shape.h"

bool shape_grad(struct shape_ctx *c)
{
    return shape_attrs(c, 1, 0) && shape_float(c, 0) && shape_rank(c, 0, 0) &&
           shape_flat(c, 0, c->in[0].dtype);
}
