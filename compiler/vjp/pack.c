/* Gradient of pack: each leaf of the gradient's flat block. */
#include "compiler/vjp.h"

bool vjp_pack(struct vjp_ctx *c)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!VJP_SET(c, i, build_leaf(c->b, c->g, (uint32_t)c->attr[0], i))) {
            return false;
        }
    }
    return true;
}
