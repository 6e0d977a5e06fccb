/* Gradient of x[i]: rows of g added into zeros at i. Rows of index -1 go nowhere. */
#include "compiler/vjp.h"

bool vjp_gather(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_3(c->b, OP_put_add, build_full(c->b, &x, 0), c->in[1], c->g));
}
