/* Gradient of concat: to each part its piece. */
#include "compiler/vjp.h"

bool vjp_concat(struct vjp_ctx *c)
{
    struct dims *d = &c->b->g->dims;
    int64_t axis = c->attr[0], step[LIMIT_RANK];
    dim start[LIMIT_RANK];
    for (int i = 0; i < LIMIT_RANK; i++) {
        start[i] = dim_const(d, 0);
        step[i] = 1;
    }
    for (uint32_t i = 0; i < c->n_in; i++) {
        struct type x = node_type(c->b->g, c->in[i]);
        if (!VJP_SET(c, i, build_slice(c->b, c->g, start, step, x.dim))) {
            return false;
        }
        start[axis] = dim_add(d, start[axis], x.dim[axis]);
    }
    return true;
}
