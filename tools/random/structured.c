/* Structured rows, one maker each; a new row of the table needs one here. */
#include <math.h>
#include <stdlib.h>
#include "tools/random/internal.h"

static val float_rows(struct gen *g, bool exact, enum op_domain d)
{
    return into(g, pick(g, draw_float(g), 1, exact), d);
}
static val number_rows(struct gen *g, bool exact)
{
    return into(g, pick(g, draw_number(g), 1, exact), DOM_ANY);
}
static dim last(const struct type *t)
{
    return t->dim[t->rank - 1];
}
static bool is_float(const struct gen *g, val v)
{
    return dtype_is_float((enum dtype)graph_node(g->g, v)->dtype);
}
/* Bounds of what adds up to n numbers of x. */
static struct range times(const struct gen *g, val x, int64_t n)
{
    struct range r = range_of(g, x);
    double most = fmax(fabs(r.lo), fabs(r.hi)) * (double)(n > 1 ? n : 1);
    return (struct range){-most, most, !is_float(g, x)};
}
static struct range with_zero(struct range r)
{
    return (struct range){fmin(r.lo, 0), fmax(r.hi, 0), r.exact};
}
static struct range both(struct range x, struct range y)
{
    return (struct range){fmin(x.lo, y.lo), fmax(x.hi, y.hi), x.exact && y.exact};
}

/* -- rows of the last axis */

static val make_argmax(struct gen *g)
{
    val x = number_rows(g, true);
    struct type t = node_type(g->g, x);
    int64_t k = size_of(g, last(&t));
    return k == 0 || !range_of(g, x).exact
               ? 0
               : keep(g, build_1(&g->b, OP_argmax, x), (struct range){0, (double)k - 1, true});
}
static val make_softmax(struct gen *g)
{
    return keep(g, build_1(&g->b, OP_softmax, float_rows(g, false, DOM_SMALL)), (struct range){0, 1, false});
}
static val make_logsumexp(struct gen *g)
{
    val x = float_rows(g, false, DOM_ANY);
    struct type t = node_type(g->g, x);
    struct range r = range_of(g, x);
    int64_t k = size_of(g, last(&t));
    return k == 0
               ? 0
               : keep(g, build_1(&g->b, OP_logsumexp, x), (struct range){r.lo, r.hi + log((double)k), false});
}
static val make_xent(struct gen *g)
{
    val z = float_rows(g, false, DOM_ANY);
    struct type t = node_type(g->g, z), labels = t;
    struct range r = range_of(g, z);
    int64_t k = size_of(g, last(&t));
    labels.dim[--labels.rank] = 0;
    val y = index_of(g, &labels, least_size(g, last(&t)), true);
    return keep(g, build_2(&g->b, OP_xent, z, y), (struct range){0, r.hi - r.lo + log((double)k + 1), false});
}
static val make_argsort(struct gen *g)
{
    val x = number_rows(g, true);
    struct type t = node_type(g->g, x);
    double k = (double)size_of(g, last(&t));
    if (!range_of(g, x).exact) {
        return 0;
    }
    val v = build_attrs(&g->b, OP_argsort, &x, 1, (int64_t[]){below(g, 2)}, 1);
    return keep(g, v, (struct range){0, fmax(k - 1, 0), true});
}
/* Rows that ascend come from a variable: a running sum may differ in its last bit. */
static val make_search(struct gen *g)
{
    struct type t = draw_type(g, draw_number(g), 1), u = t;
    u.dim[u.rank - 1] = draw_size(g);
    double k = (double)size_of(g, last(&t));
    val c = fresh(g, &t, 'a', -3, 4), x = of_type(g, &u, true);
    return k == 0 || count_of(g, &u) > MAX_ELEMENTS
               ? 0
               : keep(g, build_2(&g->b, OP_search, c, x), (struct range){0, k - 1, true});
}
static val make_take(struct gen *g)
{
    val x = pick(g, chance(g, 10) ? DT_BOOL : draw_number(g), 1, false);
    struct type t = node_type(g->g, x), i = t;
    i.dim[i.rank - 1] = draw_size(g);
    if (count_of(g, &i) > MAX_ELEMENTS) {
        return 0;
    }
    val at = index_of(g, &i, least_size(g, last(&t)), true);
    return keep(g, build_2(&g->b, OP_take, x, at), with_zero(range_of(g, x)));
}
static val make_spread(struct gen *g)
{
    val v = number_rows(g, false);
    struct type t = node_type(g->g, v), out = t;
    dim size = draw_size(g);
    out.dim[out.rank - 1] = size;
    if (count_of(g, &out) > MAX_ELEMENTS) {
        return 0;
    }
    val i = index_of(g, &t, least_size(g, size), true);
    return keep(g, build_spread(&g->b, v, i, size), times(g, v, size_of(g, last(&t))));
}

/* -- products */

static val make_matmul(struct gen *g)
{
    val x = into(g, pick(g, draw_float(g), 2, false), DOM_SMALL);
    struct type t = node_type(g->g, x), w = t;
    w.dim[t.rank - 2] = last(&t);
    w.dim[t.rank - 1] = draw_size(g);
    if (chance(g, 30)) {
        w = (struct type){.dtype = t.dtype, .rank = 2, .dim = {last(&t), last(&w)}};
    }
    struct type out = t;
    out.dim[t.rank - 1] = last(&w);
    if (count_of(g, &out) > MAX_ELEMENTS || count_of(g, &w) > MAX_ELEMENTS) {
        return 0;
    }
    val y = into(g, of_type(g, &w, false), DOM_SMALL);
    double most = 9 * (double)size_of(g, last(&t));
    return keep(g, build_matmul(&g->b, x, y), (struct range){-most, most, false});
}
/* x of (y y^T + 1) x = b. */
static val make_solve_spd(struct gen *g)
{
    val y = into(g, pick(g, draw_float(g), 2, false), DOM_SMALL);
    struct type t = node_type(g->g, y), right = t;
    int perm[LIMIT_RANK], r = t.rank;
    dim m = t.dim[r - 2], square[] = {m, m};
    if (size_of(g, m) > 7) {
        return 0;
    }
    for (int i = 0; i < r; i++) {
        perm[i] = i < r - 2 ? i : 2 * r - 3 - i;
    }
    right.dim[r - 1] = draw_size(g);
    if (count_of(g, &right) > MAX_ELEMENTS || right.rank > 4) {
        return 0;
    }
    val b = into(g, of_type(g, &right, false), DOM_ANY);
    val turned = build_permute(&g->b, y, perm), product = build_matmul(&g->b, y, turned);
    val n = build_iota(&g->b, m), column = build_reshape(&g->b, n, 2, (dim[]){m, dim_const(&g->g->dims, 1)});
    val unit = build_cast(&g->b, build_2(&g->b, OP_eq, build_expand(&g->b, n, 2, square), column), t.dtype);
    val a = build_2(&g->b, OP_add, product, unit);
    double most = 10 * (double)size_of(g, m);
    return keep(g, build_2(&g->b, OP_solve_spd, a, b), (struct range){-most * 12, most * 12, false});
}

/* -- rows of the first axis */

static val make_gather(struct gen *g)
{
    val x = pick(g, chance(g, 10) ? DT_BOOL : draw_number(g), 1, false);
    struct type t = node_type(g->g, x), i = draw_type(g, DT_I32, 0);
    int64_t n = size_of(g, t.dim[0]);
    if (i.rank > 2 || i.rank + t.rank > 5 || count_of(g, &i) * count_of(g, &t) > MAX_ELEMENTS * (n ? n : 1)) {
        return 0;
    }
    return keep(g, build_2(&g->b, OP_gather, x, index_of(g, &i, least_size(g, t.dim[0]), true)),
                with_zero(range_of(g, x)));
}
static val put(struct gen *g, enum op op)
{
    enum dtype d = op == OP_put && chance(g, 15) ? DT_BOOL : draw_number(g);
    val x = into(g, pick(g, d, 1, false), DOM_ANY);
    struct type t = node_type(g->g, x), i = draw_type(g, DT_I32, 0), v;
    if (i.rank > 2) {
        return 0;
    }
    v = i;
    v.dtype = t.dtype;
    for (int k = 1; k < t.rank; k++) {
        v.dim[v.rank++] = t.dim[k];
    }
    if (v.rank > 5 || count_of(g, &v) > MAX_ELEMENTS) {
        return 0;
    }
    val y = into(g, of_type(g, &v, false), DOM_ANY), at = index_of(g, &i, least_size(g, t.dim[0]), true);
    struct range r = both(range_of(g, x), range_of(g, y));
    if (op == OP_put_add) {
        r = times(g, y, count_of(g, &i) + 1);
        r.lo += fmin(range_of(g, x).lo, 0);
        r.hi += fmax(range_of(g, x).hi, 0);
    }
    return keep(g, build_3(&g->b, op, x, at, y), r);
}
static val make_put_add(struct gen *g)
{
    return put(g, OP_put_add);
}
static val make_put(struct gen *g)
{
    return put(g, OP_put);
}
static val make_put_max(struct gen *g)
{
    return put(g, OP_put_max);
}

/* -- along an axis */

static val along(struct gen *g, enum op op, const val *in, uint32_t n, int axis, struct range r)
{
    return keep(g, build_attrs(&g->b, op, in, n, (int64_t[]){axis, below(g, 2)}, 2), r);
}
static val make_cumsum(struct gen *g)
{
    val x = number_rows(g, false);
    struct type t = node_type(g->g, x);
    int axis = (int)below(g, (uint32_t)t.rank);
    return along(g, OP_cumsum, &x, 1, axis, times(g, x, size_of(g, t.dim[axis])));
}
static val make_cumprod(struct gen *g)
{
    val x = into(g, pick(g, draw_number(g), 1, false), DOM_UNIT);
    struct type t = node_type(g->g, x);
    struct range r = range_of(g, x);
    int axis = (int)below(g, (uint32_t)t.rank);
    double most = pow(fmax(1, fmax(fabs(r.lo), fabs(r.hi))), (double)size_of(g, t.dim[axis]));
    return along(g, OP_cumprod, &x, 1, axis, (struct range){-most, most, !is_float(g, x)});
}
static val make_cummax(struct gen *g)
{
    val x = number_rows(g, false);
    return along(g, OP_cummax, &x, 1, (int)below(g, graph_node(g->g, x)->rank), range_of(g, x));
}
static val make_linear_scan(struct gen *g)
{
    val a = float_rows(g, false, DOM_UNIT);
    struct type t = node_type(g->g, a);
    val b = into(g, of_type(g, &t, false), DOM_SMALL);
    double most = 3 * 20; /* 3 / (1 - 0.95) */
    return along(g, OP_linear_scan, (val[]){a, b}, 2, (int)below(g, (uint32_t)t.rank),
                 (struct range){-most, most, false});
}
static val make_concat(struct gen *g)
{
    val part[3] = {pick(g, chance(g, 10) ? DT_BOOL : draw_number(g), 1, false)};
    struct type t = node_type(g->g, part[0]);
    uint32_t n = 1 + below(g, 3), axis = below(g, (uint32_t)t.rank);
    struct range r = range_of(g, part[0]);
    int64_t total = count_of(g, &t);
    for (uint32_t i = 1; i < n; i++) {
        struct type u = t;
        u.dim[axis] = chance(g, 50) ? draw_size(g) : t.dim[axis];
        total += count_of(g, &u);
        part[i] = of_type(g, &u, false);
        r = both(r, range_of(g, part[i]));
    }
    return total > MAX_ELEMENTS ? 0 : keep(g, build_concat(&g->b, part, n, (int)axis), r);
}
static val make_copy(struct gen *g)
{
    val x = pick(g, draw_number(g), 0, false);
    return keep(g, build_1(&g->b, OP_copy, x), range_of(g, x));
}
static val make_stop_grad(struct gen *g)
{
    val x = pick(g, draw_float(g), 0, false);
    return g->o->smooth ? 0 : keep(g, build_1(&g->b, OP_stop_grad, x), range_of(g, x));
}

const struct maker structured_makers[] = {{OP_argmax, make_argmax},       {OP_softmax, make_softmax},
                                          {OP_logsumexp, make_logsumexp}, {OP_xent, make_xent},
                                          {OP_matmul, make_matmul},       {OP_gather, make_gather},
                                          {OP_put_add, make_put_add},     {OP_put, make_put},
                                          {OP_put_max, make_put_max},     {OP_take, make_take},
                                          {OP_spread, make_spread},       {OP_concat, make_concat},
                                          {OP_argsort, make_argsort},     {OP_search, make_search},
                                          {OP_cumsum, make_cumsum},       {OP_cumprod, make_cumprod},
                                          {OP_cummax, make_cummax},       {OP_linear_scan, make_linear_scan},
                                          {OP_solve_spd, make_solve_spd}, {OP_copy, make_copy},
                                          {OP_stop_grad, make_stop_grad}, {OP_NONE, NULL}};
