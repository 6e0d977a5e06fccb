/* pad: x written into zeros of the explicit type at a strided box. */
#include "runtime/graph/shape.h"

bool shape_pad(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    return shape_attrs(c, (uint32_t)x->rank, (uint32_t)x->rank) && shape_explicit(c) &&
           shape_box(c, x, &c->out);
}
