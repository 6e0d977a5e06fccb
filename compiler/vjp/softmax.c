/* Gradient of softmax over the last axis: r (g - sum(g r)). */
#include "compiler/vjp.h"

bool vjp_softmax(struct vjp_ctx *c)
{
    struct build *b = c->b;
    int last = node_type(b->g, c->r).rank - 1;
    val dot = build_reduce(b, OP_sum, build_2(b, OP_mul, c->g, c->r), &last, 1, true);
    return VJP_SET(c, 0, build_2(b, OP_mul, c->r, build_2(b, OP_sub, c->g, dot)));
}
