/* Gradients of writing rows: put and put_max. */
#include "compiler/vjp.h"

/* v[k..] as [k.., 1..] beside rows of rank `rank`. */
static val beside_rows(struct build *b, val v, int rank)
{
    struct type t = node_type(b->g, v);
    for (; t.rank < rank; t.rank++) {
        t.dim[t.rank] = dim_const(&b->g->dims, 1);
    }
    return build_reshape(b, v, t.rank, t.dim);
}
/* Whether row k of the values is the last one written to its place. */
static val is_last(struct build *b, val index, dim rows)
{
    struct type i = node_type(b->g, index), table = {.dtype = DT_I32, .rank = 1, .dim = {rows}};
    struct type count = {.dtype = DT_I32, .rank = 1, .dim = {dim_const(&b->g->dims, 1)}};
    for (int k = 0; k < i.rank; k++) {
        count.dim[0] = dim_mul(&b->g->dims, count.dim[0], i.dim[k]);
    }
    val order = build_reshape(b, build_iota(b, count.dim[0]), i.rank, i.dim);
    val winner = build_3(b, OP_put, build_full(b, &table, -1), index, order);
    return build_2(b, OP_eq, build_2(b, OP_gather, winner, index), order);
}

bool vjp_put(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]), v = node_type(b->g, c->in[2]);
    val kept = beside_rows(b, is_last(b, c->in[1], x.dim[0]), v.rank);
    val zero = build_const(b, v.dtype, 0);
    return VJP_SET(c, 0, build_3(b, OP_put, c->g, c->in[1], build_full(b, &v, 0))) &&
           VJP_SET(c, 2, build_3(b, OP_where, kept, build_2(b, OP_gather, c->g, c->in[1]), zero));
}

/* What equals the result, the old value or new ones, shares its gradient evenly. */
bool vjp_put_max(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]);
    val zero = build_const(b, x.dtype, 0);
    val old = build_2(b, OP_eq, c->in[0], c->r);
    val hit = build_2(b, OP_eq, c->in[2], build_2(b, OP_gather, c->r, c->in[1]));
    val ties = build_3(b, OP_put_add, build_cast(b, old, x.dtype), c->in[1], build_cast(b, hit, x.dtype));
    val share = build_2(b, OP_div, c->g, ties);
    return VJP_SET(c, 0, build_3(b, OP_where, old, share, zero)) &&
           VJP_SET(c, 2, build_3(b, OP_where, hit, build_2(b, OP_gather, share, c->in[1]), zero));
}
