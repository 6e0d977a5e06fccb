/* Gradients of reading and adding along the last axis: each is the other. */
#include "compiler/vjp.h"

bool vjp_take(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_spread(c->b, c->g, c->in[1], x.dim[x.rank - 1]));
}

bool vjp_spread(struct vjp_ctx *c)
{
    return VJP_SET(c, 0, build_2(c->b, OP_take, c->g, c->in[1]));
}
