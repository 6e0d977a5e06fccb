/* Gradient of x[.., M, K] @ w[.., K, N]: g w^T and x^T g. The leading axes of both are equal, so nothing is
 * summed. */
#include "compiler/vjp.h"

static val transposed(struct build *b, val v)
{
    int perm[LIMIT_RANK], rank = node_type(b->g, v).rank;
    for (int i = 0; i < rank; i++) {
        perm[i] = i;
    }
    perm[rank - 1] = rank - 2;
    perm[rank - 2] = rank - 1;
    return build_permute(b, v, perm);
}
bool vjp_matmul(struct vjp_ctx *c)
{
    struct build *b = c->b;
    return VJP_SET(c, 0, build_matmul(b, c->g, transposed(b, c->in[1]))) &&
           VJP_SET(c, 1, build_matmul(b, transposed(b, c->in[0]), c->g));
}
