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

/* Whether the sizes differ whatever their symbols are: by a number, or by a factor (64*B against 72*B). */
static bool proven_different(struct dims *d, dim from, dim to)
{
    int64_t difference;
    dim ratio = dim_div(d, from, to);
    const struct dim_form *f = &d->list.at[ratio];
    bool factor = ratio && f->n == 1 && !f->terms[0].n_over && !f->terms[0].n_under;
    return from != to && (factor || dim_is_const(d, dim_sub(d, from, to), &difference));
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
    if (!proven_different(&c->g->dims, from, to)) {
        return true;
    }
    shape_fail(c, DIAG_E2004, "reshape: %s and %s have different numbers of elements", shape_text(c, x),
               shape_text(c, &c->out));
    diag_help(c->sink, "the products of both shapes must be equal");
    return false;
}
