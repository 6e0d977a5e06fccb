/* Gradients of scans along an axis. Each is a scan in the other direction, so there are no divisions and
 * zeros do no harm. Attributes: axis, reverse. */
#include <math.h>
#include "compiler/vjp.h"

/* The value at the step before, and at the step after, in the direction of the scan. */
static val before(struct vjp_ctx *c, val v, double fill)
{
    return build_shift(c->b, v, (int)c->attr[0], !c->attr[1], fill);
}
static val after(struct vjp_ctx *c, val v, double fill)
{
    return build_shift(c->b, v, (int)c->attr[0], c->attr[1], fill);
}
static val scan_back(struct vjp_ctx *c, enum op op, const val *in, uint32_t n)
{
    return build_attrs(c->b, op, in, n, (int64_t[]){c->attr[0], !c->attr[1]}, 2);
}

bool vjp_cumsum(struct vjp_ctx *c)
{
    return VJP_SET(c, 0, scan_back(c, OP_cumsum, &c->g, 1));
}
/* u_t = g_t + a_(t+1) u_(t+1) is the gradient of h_t; then da_t = u_t h_(t-1) and db_t = u_t. */
bool vjp_linear_scan(struct vjp_ctx *c)
{
    val u = scan_back(c, OP_linear_scan, (val[]){after(c, c->in[0], 0), c->g}, 2);
    return VJP_SET(c, 0, build_2(c->b, OP_mul, u, before(c, c->r, 0))) && VJP_SET(c, 1, u);
}
/* A product is a linear scan with a = x, whose first term is x too: 1 comes in before the first. */
bool vjp_cumprod(struct vjp_ctx *c)
{
    val u = scan_back(c, OP_linear_scan, (val[]){after(c, c->in[0], 0), c->g}, 2);
    return VJP_SET(c, 0, build_2(c->b, OP_mul, u, before(c, c->r, 1)));
}
/* The element that raised the maximum gets the gradients from there to the next that raises it. */
bool vjp_cummax(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]);
    val raises = build_2(b, OP_gt, c->in[0], before(c, c->r, -(double)INFINITY));
    val goes_on = build_cast(b, build_1(b, OP_lnot, raises), x.dtype);
    val u = scan_back(c, OP_linear_scan, (val[]){after(c, goes_on, 0), c->g}, 2);
    return VJP_SET(c, 0, build_3(b, OP_where, raises, u, build_const(b, x.dtype, 0)));
}
