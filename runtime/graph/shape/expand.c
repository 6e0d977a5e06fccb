/* expand: axes of size 1 are repeated to the explicit type. */
#include "runtime/graph/shape.h"

bool shape_expand(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    if (!shape_attrs(c, 0, 0) || !shape_explicit(c)) {
        return false;
    }
    if (c->out.rank != x->rank || c->out.dtype != x->dtype) {
        return shape_fail(c, DIAG_I0001, "expand of %s to %s", shape_text(c, x), shape_text(c, &c->out));
    }
    for (int i = 0; i < x->rank; i++) {
        int64_t size;
        if (x->dim[i] != c->out.dim[i] && (!dim_is_const(&c->g->dims, x->dim[i], &size) || size != 1)) {
            return shape_fail(c, DIAG_E2007,
                              "axis %d of %s cannot be repeated to %s: only axes of size 1 can", i,
                              shape_text(c, x), shape_text(c, &c->out));
        }
    }
    return true;
}
