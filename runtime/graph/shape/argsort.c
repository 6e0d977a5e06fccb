/* argsort: places within rows of the last axis; attribute: descending. */
#include "runtime/graph/shape.h"

bool shape_argsort(struct shape_ctx *c)
{
    c->out = c->in[0];
    c->out.dtype = DT_I32;
    return shape_attrs(c, 1, 0) && shape_min_rank(c, 0, 1) && shape_number(c, 0) &&
           shape_index(c, 0, 2, "direction");
}
