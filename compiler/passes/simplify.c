/* Algebra on single nodes. A rewrite keeps every bit of the result, with three exceptions that are wanted:
 *   x + 0 is x also for x = -0 (which would become +0), and so is what stands side by side in a sum,
 *   x ^ 2, x ^ 3 and x ^ -1 are products and a quotient instead of pow(), whose last bit may differ,
 *   the sum over axes of size 1 is its only element also when that is -0.
 * Values in zeros that do not meet, added up, are joined (the gradients of the parts of a value).
 * x * 0 is not 0: x may be infinite or NaN. Only integers lose it.
 */
#include <math.h>
#include <stdlib.h>
#include "compiler/passes.h"

/* -- one operand is a constant */

enum result { OTHER, NEGATED, SQUARE, CUBE, RECIPROCAL, ZERO, ONE };
static const struct identity {
    enum op op;
    bool left, right; /* which operand may be the constant */
    double k;
    enum result result;
    bool integers; /* only for i32 */
} identities[] = {
    {OP_add, true, true, 0, OTHER, false},        {OP_sub, false, true, 0, OTHER, false},
    {OP_mul, true, true, 1, OTHER, false},        {OP_mul, true, true, -1, NEGATED, false},
    {OP_mul, true, true, 0, ZERO, true},          {OP_div, false, true, 1, OTHER, false},
    {OP_div, false, true, -1, NEGATED, false},    {OP_pow, false, true, 1, OTHER, false},
    {OP_pow, false, true, 2, SQUARE, false},      {OP_pow, false, true, 3, CUBE, false},
    {OP_pow, false, true, -1, RECIPROCAL, false}, {OP_pow, false, true, 0, ONE, false},
    {OP_pow, true, false, 1, ONE, false},         {OP_floordiv, false, true, 1, OTHER, true},
    {OP_mod, false, true, 1, ZERO, true},         {OP_land, true, true, 1, OTHER, false},
    {OP_land, true, true, 0, ZERO, false},        {OP_lor, true, true, 0, OTHER, false},
    {OP_lor, true, true, 1, ONE, false},
};
static val rewritten(struct build *b, enum result r, val x)
{
    struct type t = node_type(b->g, x);
    switch (r) {
    case NEGATED:
        return build_1(b, OP_neg, x);
    case SQUARE:
        return build_2(b, OP_mul, x, x);
    case CUBE:
        return build_2(b, OP_mul, build_2(b, OP_mul, x, x), x);
    case RECIPROCAL:
        return build_2(b, OP_div, build_const(b, t.dtype, 1), x);
    case ZERO:
        return build_full(b, &t, 0);
    case ONE:
        return build_full(b, &t, 1);
    default:
        return x;
    }
}
static val by_identity(struct rewrite *rw, const struct node *n)
{
    double k[2];
    if (op_table[n->op].kind != OPK_ELEM || n->n_in != 2) {
        return 0;
    }
    bool known[2] = {constant_of(rw->g, rw->in[0], &k[0]), constant_of(rw->g, rw->in[1], &k[1])};
    for (uint32_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        const struct identity *d = &identities[i];
        if (d->op != n->op || (d->integers && n->dtype != DT_I32)) {
            continue;
        }
        if (d->right && known[1] && k[1] == d->k) {
            return rewritten(&rw->b, d->result, rw->in[0]);
        }
        if (d->left && known[0] && k[0] == d->k) {
            return rewritten(&rw->b, d->result, rw->in[1]);
        }
    }
    return 0;
}

/* -- one operand is a certain node */

enum { PARTS = 16 }; /* that a sum joins at once, of either side */

/* The input of v if v is an `op` with one input, else 0. */
static val under(const struct rewrite *rw, val v, enum op op)
{
    const struct node *n = graph_node(rw->g, v);
    return n->op == op ? node_inputs(rw->g, n)[0] : 0;
}
static val simplify_neg(struct rewrite *rw, const struct node *n)
{
    (void)n;
    return under(rw, rw->in[0], OP_neg);
}

/* A box in zeros. */
struct padded {
    val in;
    struct type t; /* of `in` */
    const dim *start;
};
static bool padded_of(const struct rewrite *rw, val v, struct padded *p)
{
    const struct node *n = graph_node(rw->g, v);
    bool whole = n->op == OP_pad;
    for (int i = 0; whole && i < n->rank; i++) {
        whole = node_attrs(rw->g, n)[i] == 1;
    }
    if (whole) {
        p->in = node_inputs(rw->g, n)[0];
        p->t = node_type(rw->g, p->in);
        p->start = node_dims(rw->g, n);
    }
    return whole;
}
/* The only axis along which the two lie apart, y right behind x; -1: there is none. */
static int axis_behind(const struct rewrite *rw, const struct padded *x, const struct padded *y)
{
    int axis = -1;
    for (int i = 0; i < x->t.rank; i++) {
        if (x->start[i] == y->start[i] && x->t.dim[i] == y->t.dim[i]) {
            continue;
        }
        if (axis >= 0 || dim_add(&rw->g->dims, x->start[i], x->t.dim[i]) != y->start[i]) {
            return -1;
        }
        axis = i;
    }
    return axis;
}
static bool whole_box(const struct rewrite *rw, val v, const dim *start, const struct type *t)
{
    struct type x = node_type(rw->g, v);
    bool whole = true;
    for (int i = 0; i < t->rank && whole; i++) {
        int64_t from;
        whole = x.dim[i] == t->dim[i] && dim_is_const(&rw->g->dims, start[i], &from) && from == 0;
    }
    return whole;
}
/* The parts of a value that is joined along the axis, else itself. */
static uint32_t parts_of(const struct rewrite *rw, val v, int axis, val *out)
{
    const struct node *n = graph_node(rw->g, v);
    bool joined = n->op == OP_concat && node_attrs(rw->g, n)[0] == axis && n->n_in <= PARTS;
    memcpy(out, joined ? node_inputs(rw->g, n) : &v, (joined ? n->n_in : 1) * sizeof v);
    return joined ? n->n_in : 1;
}
static val joined(struct rewrite *rw, const struct padded *x, const struct padded *y, const struct type *t)
{
    val part[2 * PARTS];
    dim start[LIMIT_RANK];
    int64_t step[LIMIT_RANK];
    int axis = axis_behind(rw, x, y);
    if (axis < 0) {
        return 0;
    }
    uint32_t n = parts_of(rw, x->in, axis, part);
    n += parts_of(rw, y->in, axis, part + n);
    for (int i = 0; i < t->rank; i++) {
        start[i] = x->start[i];
        step[i] = 1;
    }
    val v = build_concat(&rw->b, part, n, axis);
    return v ? whole_box(rw, v, start, t) ? v : build_pad(&rw->b, v, start, step, t) : 0;
}
static val add_padded(struct rewrite *rw)
{
    struct padded x, y;
    struct type t = node_type(rw->g, rw->in[0]);
    if (!padded_of(rw, rw->in[0], &x) || !padded_of(rw, rw->in[1], &y)) {
        return 0;
    }
    val v = joined(rw, &x, &y, &t);
    return v ? v : joined(rw, &y, &x, &t);
}
static val simplify_add(struct rewrite *rw, const struct node *n)
{
    (void)n;
    val both = add_padded(rw);
    if (both) {
        return both;
    }
    val x = under(rw, rw->in[0], OP_neg), y = under(rw, rw->in[1], OP_neg);
    return y ? build_2(&rw->b, OP_sub, rw->in[0], y) : x ? build_2(&rw->b, OP_sub, rw->in[1], x) : 0;
}
static val simplify_sub(struct rewrite *rw, const struct node *n)
{
    (void)n;
    val y = under(rw, rw->in[1], OP_neg);
    return y ? build_2(&rw->b, OP_add, rw->in[0], y) : 0;
}
static val simplify_mul(struct rewrite *rw, const struct node *n)
{
    (void)n;
    val x = under(rw, rw->in[0], OP_neg), y = under(rw, rw->in[1], OP_neg);
    return x && y ? build_2(&rw->b, OP_mul, x, y) : 0;
}
/* Division by a power of two is a multiplication with the same bits. */
static val simplify_div(struct rewrite *rw, const struct node *n)
{
    double k;
    int exponent;
    if (!constant_of(rw->g, rw->in[1], &k) || fabs(frexp(k, &exponent)) != 0.5 || abs(exponent) > 100) {
        return 0;
    }
    return build_2(&rw->b, OP_mul, rw->in[0], build_const(&rw->b, (enum dtype)n->dtype, 1 / k));
}
static val simplify_same(struct rewrite *rw, const struct node *n)
{
    (void)n;
    return rw->in[0] == rw->in[1] ? rw->in[0] : 0;
}
static val simplify_lnot(struct rewrite *rw, const struct node *n)
{
    (void)n;
    const struct node *x = graph_node(rw->g, rw->in[0]);
    const val *in = node_inputs(rw->g, x);
    if (x->op == OP_eq || x->op == OP_ne) {
        return build_2(&rw->b, x->op == OP_eq ? OP_ne : OP_eq, in[0], in[1]);
    }
    return under(rw, rw->in[0], OP_lnot);
}
static val simplify_where(struct rewrite *rw, const struct node *n)
{
    (void)n;
    val opposite = under(rw, rw->in[0], OP_lnot);
    if (rw->in[1] == rw->in[2]) {
        return rw->in[1];
    }
    return opposite ? build_3(&rw->b, OP_where, opposite, rw->in[2], rw->in[1]) : 0;
}
/* A bool survives any way over numbers. */
static val simplify_cast(struct rewrite *rw, const struct node *n)
{
    val x = under(rw, rw->in[0], OP_cast);
    if (node_type(rw->g, rw->in[0]).dtype == n->dtype) {
        return n->dtype == DT_F32 ? 0 : rw->in[0]; /* f32 to f32 is a pin (narrow.c) */
    }
    return x && node_type(rw->g, x).dtype == DT_BOOL ? build_cast(&rw->b, x, (enum dtype)n->dtype) : 0;
}

/* -- views and reductions */

/* x in another shape, without intermediate shapes. */
static val reshaped(struct rewrite *rw, val x, const struct node *n)
{
    val inner = x ? under(rw, x, OP_reshape) : 0;
    return build_reshape(&rw->b, inner ? inner : x, n->rank, node_shape(rw->old, n));
}
static val simplify_reshape(struct rewrite *rw, const struct node *n)
{
    return reshaped(rw, rw->in[0], n);
}
static val simplify_expand(struct rewrite *rw, const struct node *n)
{
    const dim *shape = node_shape(rw->old, n);
    val x = under(rw, rw->in[0], OP_expand), r = build_expand(&rw->b, x ? x : rw->in[0], n->rank, shape);
    return x || r == rw->in[0] ? r : 0;
}
static val simplify_permute(struct rewrite *rw, const struct node *n)
{
    int perm[LIMIT_RANK];
    const int64_t *outer = node_attrs(rw->old, n);
    val x = under(rw, rw->in[0], OP_permute);
    const int64_t *inner = x ? node_attrs(rw->g, graph_node(rw->g, rw->in[0])) : NULL;
    for (int i = 0; i < n->rank; i++) {
        perm[i] = (int)(inner ? inner[outer[i]] : outer[i]);
    }
    val r = build_permute(&rw->b, x ? x : rw->in[0], perm);
    return x || r == rw->in[0] ? r : 0;
}
static val simplify_slice(struct rewrite *rw, const struct node *n)
{
    struct type t = node_type(rw->g, rw->in[0]);
    for (int i = 0; i < n->rank; i++) {
        int64_t start;
        if (node_attrs(rw->old, n)[i] != 1 || node_shape(rw->old, n)[i] != t.dim[i] ||
            !dim_is_const(&rw->g->dims, node_dims(rw->old, n)[i], &start) || start != 0) {
            return 0;
        }
    }
    return rw->in[0];
}
/* Axes of size 1 need no reduction. */
static val simplify_reduce(struct rewrite *rw, const struct node *n)
{
    int axes[LIMIT_RANK], left = 0;
    struct type t = node_type(rw->g, rw->in[0]);
    for (uint32_t i = 0; i < n->n_attr; i++) {
        int64_t axis = node_attrs(rw->old, n)[i], size;
        if (!dim_is_const(&rw->g->dims, t.dim[axis], &size) || size != 1) {
            axes[left++] = (int)axis;
        }
    }
    if (left == n->n_attr && left > 0) {
        return 0;
    }
    val r = build_reduce(&rw->b, (enum op)n->op, rw->in[0], axes, left, false);
    return reshaped(rw, r, n);
}

static val (*const by_node[OP_COUNT])(struct rewrite *, const struct node *) = {
    [OP_neg] = simplify_neg,         [OP_add] = simplify_add,       [OP_sub] = simplify_sub,
    [OP_mul] = simplify_mul,         [OP_div] = simplify_div,       [OP_max] = simplify_same,
    [OP_min] = simplify_same,        [OP_land] = simplify_same,     [OP_lor] = simplify_same,
    [OP_lnot] = simplify_lnot,       [OP_where] = simplify_where,   [OP_cast] = simplify_cast,
    [OP_reshape] = simplify_reshape, [OP_expand] = simplify_expand, [OP_permute] = simplify_permute,
    [OP_slice] = simplify_slice,     [OP_sum] = simplify_reduce,    [OP_mean] = simplify_reduce,
    [OP_amax] = simplify_reduce,     [OP_amin] = simplify_reduce,   [OP_all] = simplify_reduce,
    [OP_any] = simplify_reduce,
};

/* Arithmetic on repeated scalars is done once and then repeated. */
static val on_scalars(struct rewrite *rw, const struct node *n)
{
    val in[3];
    if (op_table[n->op].kind != OPK_ELEM || n->rank == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        in[i] = splat_of(rw->g, rw->in[i]);
        if (!in[i]) {
            return 0;
        }
    }
    enum op op = (enum op)n->op;
    val r = n->n_attr ? build_attrs(&rw->b, op, in, n->n_in, node_attrs(rw->old, n), n->n_attr)
                      : build_op(&rw->b, op, in, n->n_in);
    return build_expand(&rw->b, r, n->rank, node_shape(rw->old, n));
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    val v = fold_node(rw, n);
    v = v ? v : by_identity(rw, n);
    v = v || !by_node[n->op] ? v : by_node[n->op](rw, n);
    v = v ? v : on_scalars(rw, n);
    return v ? v : rewrite_copy(rw, n);
}
bool pass_simplify(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    return rewrite_graph(in, sink, visit, NULL, out);
}
