/* concat: values of equal shape but for one axis, joined along it. */
#include "runtime/graph/shape.h"

static bool fits(const struct type *x, const struct type *first, int64_t axis)
{
    bool equal = x->dtype == first->dtype && x->rank == first->rank;
    for (int i = 0; equal && i < x->rank; i++) {
        equal = i == axis || x->dim[i] == first->dim[i];
    }
    return equal;
}

bool shape_concat(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_min_rank(c, 0, 1) ||
        !shape_index(c, 0, (uint32_t)c->in[0].rank, "axis")) {
        return false;
    }
    int64_t axis = c->s->attr[0];
    c->out = c->in[0];
    for (uint32_t i = 1; i < c->s->n_in; i++) {
        struct type x = node_type(c->g, c->s->in[i]);
        if (!fits(&x, &c->in[0], axis)) {
            return shape_fail(c, DIAG_E2001, "%s along axis %d: part %u is %s, the first is %s",
                              shape_name(c), (int)axis, (unsigned)i + 1, shape_text(c, &x),
                              shape_text(c, &c->in[0]));
        }
        c->out.dim[axis] = dim_add(&c->g->dims, c->out.dim[axis], x.dim[axis]);
    }
    return true;
}
