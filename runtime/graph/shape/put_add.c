/* put_add, put, put_max: x[n, r..] with rows v[k.., r..] at i[k..]. */
#include "runtime/graph/shape.h"

static bool put_rows(struct shape_ctx *c)
{
    const struct type *x = &c->in[0], *i = &c->in[1], *v = &c->in[2];
    if (!shape_attrs(c, 0, 0) || !shape_min_rank(c, 0, 1) || !shape_dtype(c, 1, DT_I32)) {
        return false;
    }
    bool equal = v->dtype == x->dtype && v->rank == i->rank + x->rank - 1;
    for (int k = 0; equal && k < v->rank; k++) {
        equal = v->dim[k] == (k < i->rank ? i->dim[k] : x->dim[k - i->rank + 1]);
    }
    c->out = *x;
    return equal ||
           shape_pair(c, DIAG_E2001, 0, 2, "the values need the axes of the index, then those of a row");
}

bool shape_put_add(struct shape_ctx *c)
{
    return shape_number(c, 0) && put_rows(c);
}

bool shape_put_max(struct shape_ctx *c)
{
    return shape_number(c, 0) && put_rows(c);
}

bool shape_put(struct shape_ctx *c)
{
    return put_rows(c);
}
