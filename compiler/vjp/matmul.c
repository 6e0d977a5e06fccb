/* Gradient of x[.., M, K] @ w[.., K, N]: g w^T and x^T g. The leading axes of both are equal, so nothing is
 * summed. */
#include "compiler/vjp.h"

bool vjp_matmul(struct vjp_ctx *c)
{
    struct build *b = c->b;
    return VJP_SET(c, 0, build_matmul(b, c->g, build_turn(b, c->in[1]))) &&
           VJP_SET(c, 1, build_matmul(b, build_turn(b, c->in[0]), c->g));
}
