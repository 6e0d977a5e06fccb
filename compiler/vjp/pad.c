/* Gradient of pad: the box that was written. */
#include "compiler/vjp.h"

bool vjp_pad(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_slice(c->b, c->g, c->dims, c->attr, x.dim));
}
