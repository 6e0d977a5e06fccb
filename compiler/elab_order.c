/* Builtins along one axis: cumsum, cumprod, cummax, sort, argsort, topk, search, and drawing from categories.
 */
#include <math.h>
#include "compiler/elab.h"

static double before_first(enum op op, enum dtype t)
{
    return op == OP_cumprod ? 1 : op == OP_cumsum ? 0 : t == DT_I32 ? INT32_MIN : -(double)INFINITY;
}
/* Arguments: x, axis, reverse, exclusive. */
static struct value run_cumulative(struct elab *e, struct bcall *c)
{
    struct type t;
    bool reverse = false, exclusive = false;
    val x = tensor_arg(e, c, 0, &t);
    int axis = t.rank - 1;
    if (!x || (c->arg[1].kind != V_MISSING && !axis_arg(e, c, 1, t.rank, &axis)) ||
        (c->arg[2].kind != V_MISSING && !want_bool(e, c->arg[2], c->span[2], "`reverse`", &reverse)) ||
        (c->arg[3].kind != V_MISSING && !want_bool(e, c->arg[3], c->span[3], "`exclusive`", &exclusive))) {
        return poison();
    }
    if (!t.rank) {
        return with_help(e, fail(e, DIAG_E2003, c->span[0], "`%s` needs an axis, found a scalar", c->b->name),
                         "it works along one axis of a tensor");
    }
    build_at(e, c->span_at);
    if (t.dtype == DT_BOOL && c->b->op == OP_cumsum) {
        x = build_cast(&e->b, x, DT_I32);
    }
    val r = build_attrs(&e->b, c->b->op, &x, 1, (int64_t[]){axis, reverse}, 2);
    if (r && exclusive) {
        r = build_shift(&e->b, r, axis, !reverse, before_first(c->b->op, node_type(e->g, r).dtype));
    }
    return checked(e, c, r, c->arg[0].unit & ~(1u << axis));
}

/* x with the axis last, and the places of its elements in order. */
static val ordered(struct elab *e, struct bcall *c, struct value x, int i_descending, bool descending)
{
    if (i_descending && c->arg[i_descending].kind != V_MISSING &&
        !want_bool(e, c->arg[i_descending], c->span[i_descending], "`descending`", &descending)) {
        return 0;
    }
    build_at(e, c->span_at);
    return build_attrs(&e->b, OP_argsort, &x.node, 1, (int64_t[]){descending}, 1);
}
/* sort and argsort. Arguments: x, axis, descending. */
static struct value run_sort(struct elab *e, struct bcall *c)
{
    int back[LIMIT_RANK], axis;
    struct value x = move_last(e, c, c->arg[1], back, &axis);
    if (x.kind != V_TENSOR) {
        return poison();
    }
    val r = ordered(e, c, x, 2, false);
    if (!strcmp(c->b->name, "sort")) {
        r = build_2(&e->b, OP_take, x.node, r);
    }
    return checked(e, c, build_permute(&e->b, r, back), c->arg[0].unit & ~(1u << axis));
}
/* topk(x, k, axis): [the k largest in descending order, their places]. */
static struct value run_topk(struct elab *e, struct bcall *c)
{
    int back[LIMIT_RANK], axis;
    int64_t most, wanted;
    dim k;
    struct bcall at = *c;
    at.span[1] = c->span[2];
    struct value x = move_last(e, &at, c->arg[2], back, &axis);
    if (x.kind != V_TENSOR || !want_size(e, c->arg[1], c->span[1], "the number of elements", &k)) {
        return poison();
    }
    dim size = tensor_type(e, x).dim[tensor_type(e, x).rank - 1];
    if (dim_is_const(&e->g->dims, k, &wanted) && dim_is_const(&e->g->dims, size, &most) && wanted > most) {
        return with_help(e,
                         fail(e, DIAG_E2006, c->span[1], "the %lld largest of an axis of %lld",
                              (long long)wanted, (long long)most),
                         "k is at most the size of the axis");
    }
    struct value i = tensor_value(ordered(e, c, x, 0, true), 0);
    if (i.kind != V_TENSOR) {
        return poison();
    }
    i = slice_axis(e, i, tensor_type(e, x).rank - 1, dim_const(&e->g->dims, 0), k, c->span_at);
    val v = i.kind == V_TENSOR ? build_2(&e->b, OP_take, x.node, i.node) : 0;
    uint32_t unit = c->arg[0].unit & ~(1u << axis);
    struct value r = list_value(e, 2);
    r.list->at[0] = checked(e, c, build_permute(&e->b, v, back), unit);
    r.list->at[1] = v ? checked(e, c, build_permute(&e->b, i.node, back), unit) : poison();
    return r;
}
/* search(c, u): c[K] for any u; else a row of c for each u, or for each row of u. */
static val search_in(struct elab *e, val c, val u)
{
    struct type tc = node_type(e->g, c), tu = node_type(e->g, u), rows = tu;
    if (tc.rank == 1) {
        rows = (struct type){.rank = 1, .dim = {dim_const(&e->g->dims, 1)}};
        for (int i = 0; i < tu.rank; i++) {
            rows.dim[0] = dim_mul(&e->g->dims, rows.dim[0], tu.dim[i]);
        }
    } else if (tu.rank == tc.rank - 1) {
        rows.dim[rows.rank++] = dim_const(&e->g->dims, 1);
    }
    val r = build_2(&e->b, OP_search, c, build_reshape(&e->b, u, rows.rank, rows.dim));
    return build_reshape(&e->b, r, tu.rank, tu.dim);
}
static struct value run_search(struct elab *e, struct bcall *c)
{
    struct type t;
    val rows = tensor_arg(e, c, 0, &t);
    if (!rows || is_poison(c->arg[1])) {
        return poison();
    }
    if (!t.rank) {
        return with_help(e, fail(e, DIAG_E2003, c->span[0], "`search` in a scalar"),
                         "it searches the last axis of a table, ascending values");
    }
    build_at(e, c->span_at);
    val u = is_scalar_static(c->arg[1])
                ? emit_beside(e, c->arg[1], t.dtype, c->span[1], "`search`")
                : want_tensor(e, c->arg[1], c->span[1], "the argument of `search`", NULL);
    return u ? checked(e, c, search_in(e, rows, u), c->arg[1].kind == V_TENSOR ? c->arg[1].unit : 0)
             : poison();
}
/* rand.categorical(z): inverse distribution function of e^(z - max) over the last axis, one uniform number
 * each. A category of probability 0 is never drawn. */
struct value run_categorical(struct elab *e, struct bcall *c)
{
    struct type t;
    struct bcall draw = *c;
    val z = want_tensor(e, c->arg[0], c->span[0], "the logits", &t);
    if (!z) {
        return poison();
    }
    int last = t.rank - 1;
    if (last < 0) {
        return with_help(
            e, fail(e, DIAG_E2003, c->span[0], "`rand.categorical` needs an axis of logits, found a scalar"),
            "z[.., K] has a logit for each of K categories; rand.bernoulli(shape, p) draws one of two");
    }
    draw.arg[0] = list_value(e, (uint32_t)last);
    for (int i = 0; i < last; i++) {
        draw.arg[0].list->at[i] = dim_value(e, t.dim[i]);
    }
    build_at(e, c->span_at);
    val top = build_reduce(&e->b, OP_amax, z, &last, 1, true);
    val weight = build_1(&e->b, OP_exp, build_2(&e->b, OP_sub, z, top));
    val sums = build_attrs(&e->b, OP_cumsum, &weight, 1, (int64_t[]){last, 0}, 2);
    val u = draw_node(e, &draw, OP_uniform, t.dtype, NULL, 0);
    if (!sums || !u) {
        return checked(e, c, 0, 0);
    }
    val total = build_reduce(&e->b, OP_amax, sums, &last, 1, false); /* the last one; they rise */
    val r = search_in(e, sums, build_2(&e->b, OP_mul, u, total));
    return checked(e, c, r, c->arg[0].unit & ~(1u << last));
}

const struct builtin order_builtins[] = {
    {"cumsum", run_cumulative, "x axis? reverse? exclusive?", OP_cumsum},
    {"cumprod", run_cumulative, "x axis? reverse? exclusive?", OP_cumprod},
    {"cummax", run_cumulative, "x axis? reverse? exclusive?", OP_cummax},
    {"sort", run_sort, "x axis? descending?", OP_argsort},
    {"argsort", run_sort, "x axis? descending?", OP_argsort},
    {"topk", run_topk, "x k axis?", OP_argsort},
    {"search", run_search, "c u", OP_search},
    {0},
};
