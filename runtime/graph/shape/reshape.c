/* reshape: the same elements in row-major order. */
#include "runtime/graph/shape.h"

static dim count(struct shape_ctx *c, const struct type *t)
{
    dim n = dim_const(&c->g->dims, 1);
    for (int i = 0; i < t->rank; i++) {
        n = dim_mul(&c->g->dims, n, t->dim[i]);
    }
    return n;
}

/* Sizes that differ for some binding only (B*T against N) pass here and are checked when they are bound. */
bool shape_reshape(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    if (!shape_attrs(c, 0, 0) || !shape_explicit(c)) {
        return false;
    }
    if (c->out.dtype != x->dtype) {
        return shape_fail(c, DIAG_I0001, "reshape changes the element type");
    }
    dim from = count(c, x), to = count(c, &c->out);
    int64_t difference = 0;
    bool proven = from != to && dim_is_const(&c->g->dims, dim_sub(&c->g->dims, from, to), &difference);
    return !proven || shape_fail(c, DIAG_E2004, "reshape: %s and %s have different numbers of elements",
                                 shape_text(c, x), shape_text(c, &c->out));
}
