/* Gradient of x = a^-1 b: gb = a^-1 g, and ga = -(gb x^T + x gb^T) / 2, since the halves of a are averaged.
 */
#include "compiler/vjp.h"

bool vjp_solve_spd(struct vjp_ctx *c)
{
    struct build *b = c->b;
    val gb = build_2(b, OP_solve_spd, c->in[0], c->g);
    val half = build_matmul(b, gb, build_turn(b, c->r));
    val both = build_2(b, OP_add, half, build_turn(b, half));
    val less = build_const(b, node_type(b->g, c->r).dtype, -0.5);
    return VJP_SET(c, 0, build_2(b, OP_mul, both, less)) && VJP_SET(c, 1, gb);
}
