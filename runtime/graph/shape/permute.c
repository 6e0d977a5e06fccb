/* permute: axis i of the result is axis perm[i] of the input. */
#include "runtime/graph/shape.h"

bool shape_permute(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    if (!shape_attrs(c, (uint32_t)x->rank, 0)) {
        return false;
    }
    unsigned seen = 0;
    c->out = *x;
    for (int i = 0; i < x->rank; i++) {
        int64_t axis = c->s->attr[i];
        if (axis < 0 || axis >= x->rank || (seen >> axis & 1)) {
            return shape_fail(c, DIAG_E2005, "%s: axis %lld of %s does not exist or comes twice",
                              shape_name(c), (long long)axis, shape_text(c, x));
        }
        seen |= 1u << axis;
        c->out.dim[i] = x->dim[axis];
    }
    return true;
}
