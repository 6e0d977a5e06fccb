/* step: a counter of a phase. */
#include "runtime/graph/shape.h"

bool shape_step(struct shape_ctx *c)
{
    return shape_attrs(c, 2, 0) && shape_index(c, 0, LIMIT_PHASES, "phase") &&
           shape_index(c, 1, 4, "counter") && shape_scalar(c, DT_I32);
}
