/* take, spread, search: rows of the last axis beside rows of another length; the leading axes are equal. */
#include "runtime/graph/shape.h"

static bool same_lead(struct shape_ctx *c)
{
    const struct type *x = &c->in[0], *y = &c->in[1];
    if (!shape_min_rank(c, 0, 1) || !shape_min_rank(c, 1, 1)) {
        return false;
    }
    bool equal = x->rank == y->rank;
    for (int i = 0; equal && i + 1 < x->rank; i++) {
        equal = x->dim[i] == y->dim[i];
    }
    return equal || shape_pair(c, DIAG_E2001, 0, 1, "all axes but the last must be equal");
}

bool shape_take(struct shape_ctx *c)
{
    if (!shape_attrs(c, 0, 0) || !shape_dtype(c, 1, DT_I32) || !same_lead(c)) {
        return false;
    }
    c->out = c->in[1];
    c->out.dtype = c->in[0].dtype;
    return true;
}

/* The length of the rows is explicit. */
bool shape_spread(struct shape_ctx *c)
{
    struct type index = c->in[1];
    index.dtype = c->in[0].dtype;
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 1) || !shape_number(c, 0) ||
        !shape_dtype(c, 1, DT_I32) || !shape_explicit(c)) {
        return false;
    }
    if (!type_equal(&index, &c->in[0])) {
        return shape_pair(c, DIAG_E2001, 0, 1, "shapes differ");
    }
    struct type want = c->in[0];
    want.dim[want.rank - 1] = c->out.dim[want.rank - 1];
    return type_equal(&want, &c->out) ||
           shape_fail(c, DIAG_I0001, "spread of %s to %s", shape_text(c, &c->in[0]), shape_text(c, &c->out));
}

bool shape_search(struct shape_ctx *c)
{
    if (!shape_attrs(c, 0, 0) || !shape_number(c, 0) || !same_lead(c)) {
        return false;
    }
    c->out = c->in[1];
    c->out.dtype = DT_I32;
    return c->in[0].dtype == c->in[1].dtype || shape_pair(c, DIAG_E2002, 0, 1, "element types differ");
}
