/* Gradient of concat: to each part its piece. */
#include "compiler/vjp.h"

bool vjp_concat(struct vjp_ctx *c)
{
    struct dims *d = &c->b->g->dims;
    int axis = (int)c->attr[0];
    dim start = dim_const(d, 0);
    for (uint32_t i = 0; i < c->n_in; i++) {
        dim size = node_type(c->b->g, c->in[i]).dim[axis];
        if (!VJP_SET(c, i, build_part(c->b, c->g, axis, start, size, 1))) {
            return false;
        }
        start = dim_add(d, start, size);
    }
    return true;
}
