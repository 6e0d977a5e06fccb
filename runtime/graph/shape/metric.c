/* metric: the last value of a metric; its index is checked by the verifier, since phases may come later. */
#include "runtime/graph/shape.h"

bool shape_metric(struct shape_ctx *c)
{
    enum dtype t = c->s->type.dtype == DT_NONE ? DT_F32 : c->s->type.dtype;
    return shape_attrs(c, 2, 0) && shape_index(c, 0, LIMIT_PHASES, "phase") &&
           shape_index(c, 1, LIMIT_METRICS, "metric") &&
           (!dtype_is_float(t)     ? shape_fail(c, DIAG_I0001, "a metric is a float")
            : shape_of_replicas(c) ? shape_explicit(c)
                                   : shape_scalar(c, t));
}
