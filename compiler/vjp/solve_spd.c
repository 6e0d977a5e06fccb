/* Gradient of x = a^-1 b: gb = a^-1 g, and ga = -(gb x^T + x gb^T) / 2, since the halves of a are averaged.
 */
#include "compiler/vjp.h"

static val turned(struct build *b, val v)
{
    int perm[LIMIT_RANK], rank = v ? node_type(b->g, v).rank : 0;
    for (int i = 0; i < rank; i++) {
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    }
    return v ? build_permute(b, v, perm) : 0;
}
bool vjp_solve_spd(struct vjp_ctx *c)
{
    struct build *b = c->b;
    val gb = build_2(b, OP_solve_spd, c->in[0], c->g);
    val half = build_matmul(b, gb, turned(b, c->r));
    val both = build_2(b, OP_add, half, turned(b, half));
    val less = build_const(b, node_type(b->g, c->r).dtype, -0.5);
    return VJP_SET(c, 0, build_2(b, OP_mul, both, less)) && VJP_SET(c, 1, gb);
}
