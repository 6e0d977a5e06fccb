/* matmul: [.., M, K] times [.., K, N], equal leading axes. An attribute 1 asks for TF32. */
#include "runtime/graph/shape.h"

bool shape_matmul(struct shape_ctx *c)
{
    const struct type *x = &c->in[0], *w = &c->in[1];
    bool tf32 = c->s->n_attr > 0;
    if (!shape_attrs(c, tf32, 0) || !shape_min_rank(c, 0, 2) || !shape_min_rank(c, 1, 2) ||
        !shape_float(c, 0)) {
        return false;
    }
    if (tf32 && (c->s->attr[0] != 1 || x->dtype != DT_F32)) {
        return shape_fail(c, DIAG_I0001, "TF32 is for products of f32 values");
    }
    if (x->dtype != w->dtype) {
        return shape_pair(c, DIAG_E2002, 0, 1, "element types differ");
    }
    if (x->rank != w->rank ||
        (x->rank > 2 && memcmp(x->dim, w->dim, (size_t)(x->rank - 2) * sizeof *x->dim) != 0)) {
        return shape_pair(c, DIAG_E2001, 0, 1, "leading axes differ");
    }
    if (x->dim[x->rank - 1] != w->dim[w->rank - 2]) {
        struct text why = {.arena = c->g->arena};
        text_printf(&why, "inner sizes ");
        dim_print(&c->g->dims, x->dim[x->rank - 1], &why);
        text_printf(&why, " and ");
        dim_print(&c->g->dims, w->dim[w->rank - 2], &why);
        text_printf(&why, " differ");
        return shape_pair(c, DIAG_E2001, 0, 1, why.at);
    }
    c->out = *x;
    c->out.dim[x->rank - 1] = w->dim[w->rank - 1];
    return true;
}
