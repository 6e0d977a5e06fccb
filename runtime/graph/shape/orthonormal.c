/* orthonormal: a float matrix, or a pile of them, gives the same shape. */
#include "runtime/graph/shape.h"

bool shape_orthonormal(struct shape_ctx *c)
{
    c->out = c->in[0];
    return shape_attrs(c, 0, 0) && shape_float(c, 0) && shape_min_rank(c, 0, 2);
}
