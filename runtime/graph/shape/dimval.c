/* dimval: a dimension as an explicit scalar number. */
#include "runtime/graph/shape.h"

bool shape_dimval(struct shape_ctx *c)
{
    return shape_attrs(c, 0, 1) && shape_explicit(c) &&
           ((c->out.rank == 0 && c->out.dtype != DT_BOOL) ||
            shape_fail(c, DIAG_I0001, "a dimension as %s", shape_text(c, &c->out)));
}
