/* Dispatch of vector-Jacobian products, and the rules that whole groups of rows share: elementwise rows
 * (formulas), reductions and views.
 */
#include "compiler/vjp.h"
#include "kernels/op_flags.h"

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    [OP_##name] = SIG_##sig == SIG_LOGIC ? NULL : vjp_##name,
#define VIEW(name, dsl, attrs, doc) [OP_##name] = vjp_##name,
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)                                                        \
    [OP_##name] = ((flags) & (NONDIFF | LOOP)) ? NULL : vjp_##name,
static bool (*const rules[OP_COUNT])(struct vjp_ctx *) = {
#include "kernels/ops.def"
};
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP

bool vjp_exists(enum op op, uint32_t input)
{
    if (op_table[op].kind == OPK_ELEM) {
        return input < 3 && op_table[op].derivative[input] && *op_table[op].derivative[input];
    }
    return rules[op] != NULL;
}
static bool vjp_elem(struct vjp_ctx *c)
{
    static const char *const letter[] = {"x", "y", "z"};
    struct formula_name names[5] = {{"r", c->r}, {"g", c->g}};
    uint32_t n = 2;
    for (uint32_t i = 0; i < c->n_in && i < 3; i++) {
        names[n++] = (struct formula_name){letter[i], c->in[i]};
    }
    for (uint32_t i = 0; i < c->n_in && i < 3; i++) {
        if (vjp_exists(c->op, i) &&
            !VJP_SET(c, i, build_formula(c->b, op_table[c->op].derivative[i], names, n))) {
            return false;
        }
    }
    return true;
}
bool vjp_apply(struct vjp_ctx *c)
{
    return op_table[c->op].kind == OPK_ELEM ? vjp_elem(c) : rules[c->op] ? rules[c->op](c) : true;
}

/* -- reductions */

/* A value of the result's shape, repeated over the axes that were reduced. */
static val spread(struct vjp_ctx *c, val v)
{
    struct type x = node_type(c->b->g, c->in[0]);
    dim shape[LIMIT_RANK];
    for (int i = 0, k = 0; i < x.rank; i++) {
        bool reduced = k < x.rank - node_type(c->b->g, c->r).rank && c->attr[k] == i;
        shape[i] = reduced ? dim_const(&c->b->g->dims, 1) : x.dim[i];
        k += reduced;
    }
    return build_expand(c->b, build_reshape(c->b, v, x.rank, shape), x.rank, x.dim);
}
/* Elements that went into one result, as a number of the gradient's type. */
static val reduced_count(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    dim n = dim_const(&c->b->g->dims, 1);
    int reduced = x.rank - node_type(c->b->g, c->r).rank;
    for (int k = 0; k < reduced; k++) {
        n = dim_mul(&c->b->g->dims, n, x.dim[c->attr[k]]);
    }
    return build_dim(c->b, node_type(c->b->g, c->g).dtype, n);
}
bool vjp_sum(struct vjp_ctx *c)
{
    return VJP_SET(c, 0, spread(c, c->g));
}
bool vjp_mean(struct vjp_ctx *c)
{
    return VJP_SET(c, 0, spread(c, build_2(c->b, OP_div, c->g, reduced_count(c))));
}
/* The product of the others: r / x, but where x is the only zero the product without it, and zero beside
 * other zeros. */
bool vjp_prod(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]);
    int axes[LIMIT_RANK], n = x.rank - node_type(b->g, c->r).rank;
    for (int k = 0; k < n; k++) {
        axes[k] = (int)c->attr[k];
    }
    val one = build_const(b, x.dtype, 1), zero = build_const(b, x.dtype, 0);
    val is_zero = build_2(b, OP_eq, c->in[0], zero);
    val divisor = build_3(b, OP_where, is_zero, one, c->in[0]);
    val zeros = build_reduce(b, OP_sum, build_cast(b, is_zero, x.dtype), axes, n, false);
    val rest = build_reduce(b, OP_prod, divisor, axes, n, false);
    val lone = build_3(b, OP_where, build_2(b, OP_eq, zeros, one), rest, zero);
    val others = build_3(b, OP_where, is_zero, spread(c, lone), build_2(b, OP_div, spread(c, c->r), divisor));
    return VJP_SET(c, 0, build_2(b, OP_mul, spread(c, c->g), others));
}
/* The elements that equal the result share its gradient evenly. */
static bool vjp_extreme(struct vjp_ctx *c)
{
    struct build *b = c->b;
    struct type x = node_type(b->g, c->in[0]);
    int axes[LIMIT_RANK], n = x.rank - node_type(b->g, c->r).rank;
    for (int k = 0; k < n; k++) {
        axes[k] = (int)c->attr[k];
    }
    val tied = build_2(b, OP_eq, c->in[0], spread(c, c->r));
    val count = build_reduce(b, OP_sum, build_cast(b, tied, x.dtype), axes, n, false);
    val share = spread(c, build_2(b, OP_div, c->g, count));
    return VJP_SET(c, 0, build_3(b, OP_where, tied, share, build_full(b, &x, 0)));
}
bool vjp_amax(struct vjp_ctx *c)
{
    return vjp_extreme(c);
}
bool vjp_amin(struct vjp_ctx *c)
{
    return vjp_extreme(c);
}

/* -- views */

bool vjp_reshape(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_reshape(c->b, c->g, x.rank, x.dim));
}
bool vjp_permute(struct vjp_ctx *c)
{
    int inverse[LIMIT_RANK];
    struct type x = node_type(c->b->g, c->in[0]);
    for (int i = 0; i < x.rank; i++) {
        inverse[c->attr[i]] = i;
    }
    return VJP_SET(c, 0, build_permute(c->b, c->g, inverse));
}
bool vjp_slice(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_pad(c->b, c->g, c->dims, c->attr, &x));
}
bool vjp_expand(struct vjp_ctx *c)
{
    struct type x = node_type(c->b->g, c->in[0]);
    return VJP_SET(c, 0, build_sum_to(c->b, c->g, &x));
}
/* The flat block that is the gradient in one leaf and zero in the others. */
bool vjp_leaf(struct vjp_ctx *c)
{
    struct graph *g = c->b->g;
    uint32_t tree;
    struct type x = node_type(g, c->in[0]);
    if (!dim_is_tree(&g->dims, x.dim[0], &tree)) {
        diag_emit(c->b->sink, DIAG_I0001, c->b->span, "a leaf view of a value that is no parameter tree");
        return false;
    }
    const struct tree *t = &g->trees.at[tree];
    val *leaf = arena_array(g->arena, val, t->n_leaf);
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        struct type type = g->vars.at[t->leaf[i]].type;
        type.dtype = x.dtype;
        leaf[i] = (int64_t)i == c->attr[0] ? c->g : build_full(c->b, &type, 0);
    }
    return VJP_SET(c, 0, build_pack(c->b, tree, leaf));
}
