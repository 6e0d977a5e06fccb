/* Gradient of cross entropy: (softmax(z) - onehot(y)) g, and zero where the label is -1 (also when z is not
 * finite there). The probabilities are computed again instead of being kept through the forward pass.
 */
#include "compiler/vjp.h"

/* v[..] as [.., K]. */
static val over_classes(struct build *b, val v, const struct type *z)
{
    struct type t = *z;
    t.dim[z->rank - 1] = dim_const(&b->g->dims, 1);
    return build_expand(b, build_reshape(b, v, z->rank, t.dim), z->rank, z->dim);
}
bool vjp_xent(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type z = node_type(b->g, c->in[0]);
    val label = over_classes(b, c->in[1], &z);
    val hit = build_2(b, OP_eq, build_iota(b, z.dim[z.rank - 1]), label);
    val onehot = build_cast(b, hit, z.dtype);
    val d = build_2(b, OP_sub, build_1(b, OP_softmax, c->in[0]), onehot);
    val valid = build_2(b, OP_ge, c->in[1], build_const(b, DT_I32, 0));
    val dz = build_2(b, OP_mul, d, over_classes(b, c->g, &z));
    val zero = build_full(b, &z, 0);
    return VJP_SET(c, 0, build_3(b, OP_where, over_classes(b, valid, &z), dz, zero));
}
