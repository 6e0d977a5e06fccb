/* slice: a strided box of the input, its sizes in the explicit type. Also the box rule that pad shares. */
#include "runtime/graph/shape.h"

static const char *size_text(struct shape_ctx *c, dim x)
{
    struct text t = {.arena = c->g->arena};
    dim_print(&c->g->dims, x, &t);
    return t.at;
}

/* Known sizes only; the others are checked when they are bound. */
static bool axis_inside(const struct shape_ctx *c, int i, dim size, dim whole)
{
    const struct dims *d = &c->g->dims;
    int64_t start, n, end, last;
    if (!dim_is_const(d, c->s->dims[i], &start)) {
        return true;
    }
    if (start < 0) {
        return false;
    }
    if (!dim_is_const(d, size, &n) || !dim_is_const(d, whole, &end) || n == 0) {
        return true;
    }
    return n > 0 && start < end && !__builtin_mul_overflow(n - 1, c->s->attr[i], &last) &&
           !__builtin_add_overflow(last, start, &last) && last >= 0 && last < end;
}

bool shape_box(struct shape_ctx *c, const struct type *box, const struct type *whole)
{
    if (box->rank != whole->rank || box->dtype != whole->dtype) {
        return shape_fail(c, DIAG_I0001, "%s between %s and %s", op_table[c->s->op].name, shape_text(c, box),
                          shape_text(c, whole));
    }
    for (int i = 0; i < box->rank; i++) {
        if (c->s->attr[i] == 0) {
            return shape_fail(c, DIAG_E2006, "%s: the step of axis %d is 0", op_table[c->s->op].name, i);
        }
        if (!axis_inside(c, i, box->dim[i], whole->dim[i])) {
            return shape_fail(c, DIAG_E2006,
                              "%s: %s elements from %s on by steps of %lld do not lie inside axis %d of %s",
                              op_table[c->s->op].name, size_text(c, box->dim[i]), size_text(c, c->s->dims[i]),
                              (long long)c->s->attr[i], i, shape_text(c, whole));
        }
    }
    return true;
}

bool shape_slice(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    return shape_attrs(c, (uint32_t)x->rank, (uint32_t)x->rank) && shape_explicit(c) &&
           shape_box(c, &c->out, x);
}
