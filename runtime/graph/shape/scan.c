/* cumsum, cumprod, cummax, linear_scan: the shape of the input; attributes axis, reverse. */
#include "runtime/graph/shape.h"

static bool along(struct shape_ctx *c)
{
    c->out = c->in[0];
    return shape_attrs(c, 2, 0) && shape_min_rank(c, 0, 1) &&
           shape_index(c, 0, (uint32_t)c->in[0].rank, "axis") && shape_index(c, 1, 2, "direction");
}

bool shape_cumsum(struct shape_ctx *c)
{
    return along(c) && shape_number(c, 0);
}

bool shape_cumprod(struct shape_ctx *c)
{
    return along(c) && shape_number(c, 0);
}

bool shape_cummax(struct shape_ctx *c)
{
    return along(c) && shape_number(c, 0);
}

bool shape_linear_scan(struct shape_ctx *c)
{
    return along(c) && shape_float(c, 0) &&
           (type_equal(&c->in[0], &c->in[1]) || shape_pair(c, DIAG_E2001, 0, 1, "types differ"));
}
