/* const: an explicit scalar type that can hold the value. */
#include "runtime/graph/shape.h"

bool shape_const(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_explicit(c)) {
        return false;
    }
    double v = bits_f64(c->s->attr[0]);
    enum dtype t = c->out.dtype;
    bool fits = t == DT_BOOL ? v == 0 || v == 1
                             : t != DT_I32 || (v >= INT32_MIN && v <= INT32_MAX && v == (int32_t)v);
    if (!fits) {
        return shape_fail(c, DIAG_E2008, "%.17g is no %s", v, dtype_name(t));
    }
    return c->out.rank == 0 || shape_fail(c, DIAG_I0001, "a constant has rank 0");
}
