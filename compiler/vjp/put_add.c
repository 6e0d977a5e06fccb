/* Gradient of put_add(x, i, v): g for x, its rows at i for v (0 for index -1). */
#include "compiler/vjp.h"

bool vjp_put_add(struct vjp_ctx *c)
{
    return VJP_SET(c, 0, c->g) && VJP_SET(c, 2, build_2(c->b, OP_gather, c->g, c->in[1]));
}
