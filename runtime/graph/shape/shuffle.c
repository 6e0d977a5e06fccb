/* shuffle: a bijection of indices, another one for each epoch. */
#include "runtime/graph/shape.h"

bool shape_shuffle(struct shape_ctx *c)
{
    c->out = c->in[0];
    return shape_attrs(c, 1, 1) && shape_dtype(c, 0, DT_I32) && shape_dtype(c, 1, DT_I32) &&
           shape_rank(c, 1, 0);
}
