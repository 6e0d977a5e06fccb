/* Gradient of logsumexp over the last axis: g e^(x - r), and zero for a row of nothing but -inf. */
#include <math.h>
#include "compiler/vjp.h"

bool vjp_logsumexp(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]), row = x;
    row.dim[row.rank - 1] = dim_const(&b->g->dims, 1);
    val r = build_reshape(b, c->r, row.rank, row.dim), g = build_reshape(b, c->g, row.rank, row.dim);
    val share = build_1(b, OP_exp, build_2(b, OP_sub, c->in[0], r));
    val nothing = build_2(b, OP_eq, r, build_const(b, x.dtype, -(double)INFINITY));
    return VJP_SET(c, 0,
                   build_3(b, OP_where, nothing, build_const(b, x.dtype, 0), build_2(b, OP_mul, g, share)));
}
