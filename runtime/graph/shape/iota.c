/* iota: explicit i32[n]. */
#include "runtime/graph/shape.h"

bool shape_iota(struct shape_ctx *c)
{
    return shape_attrs(c, 0, 0) && shape_explicit(c) &&
           ((c->out.rank == 1 && c->out.dtype == DT_I32) ||
            shape_fail(c, DIAG_I0001, "iota of type %s", shape_text(c, &c->out)));
}
