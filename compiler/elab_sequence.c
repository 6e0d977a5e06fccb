/* Operators over sequences, written with products and scans: attention, ssd_scan, mlstm; and the basis of
 * splines. All pairs of places are formed, so their memory grows with the square of the length. */
#include <math.h>
#include "compiler/elab.h"

/* -- small things */

/* The last element along the last axis behind `first` [.., 1], which stands for what was before: it is the
 * last one where there are none. */
static val last_of(struct build *b, val first, val v)
{
    if (!first || !v) {
        return 0;
    }
    int axis = node_type(b->g, v).rank - 1;
    dim n = node_type(b->g, v).dim[axis];
    return build_part(b, build_concat(b, (val[]){first, v}, 2, axis), axis, n, dim_const(&b->g->dims, 1), 1);
}
/* Zeros [.., 1] for v[.., n]. */
static val zeros_before(struct build *b, val v)
{
    struct type t = v ? node_type(b->g, v) : (struct type){0};
    if (v) {
        t.dim[t.rank - 1] = dim_const(&b->g->dims, 1);
    }
    return v ? build_full(b, &t, 0) : 0;
}
static val mul(struct build *b, val x, val y)
{
    return build_2(b, OP_mul, x, y);
}
static val add(struct build *b, val x, val y)
{
    return build_2(b, OP_add, x, y);
}
static val minus(struct build *b, val x, val y)
{
    return build_2(b, OP_sub, x, y);
}
static val e_to(struct build *b, val x)
{
    return build_1(b, OP_exp, x);
}
static val running_sum(struct build *b, val x)
{
    return x ? build_attrs(b, OP_cumsum, &x, 1, (int64_t[]){node_type(b->g, x).rank - 1, 0}, 2) : 0;
}
/* bool[rows, columns]: whether column j is at most row i, with the last row beside the last column. */
static val up_to_now(struct build *b, dim rows, dim columns)
{
    val column = build_iota(b, columns), row = build_iota(b, rows), last = build_dim(b, DT_I32, columns);
    val now = add(b, row, minus(b, last, build_dim(b, DT_I32, rows))); /* a dimension is never below 0 */
    return build_2(b, OP_le, column, build_unit(b, now, 1));
}
static val one_over_root(struct build *b, enum dtype t, dim n)
{
    return build_1(b, OP_rsqrt, build_dim(b, t, n));
}
/* Argument i as a tensor of `rank` axes. */
static val ranked(struct elab *e, struct bcall *c, int i, int rank, const char *shape, struct type *t)
{
    val v = tensor_arg(e, c, i, t);
    if (v && t->rank != rank) {
        fail(e, DIAG_E2003, c->span[i], "`%s` takes %s, found %s", c->b->name, shape,
             value_text(e, c->arg[i]));
        return 0;
    }
    return v;
}

/* -- attention */

/* Weights that are dropped; what stays is scaled up. */
static val dropped(struct elab *e, struct bcall *c, val p, struct value rate)
{
    struct build *b = &e->b;
    struct type t = p ? node_type(e->g, p) : (struct type){0};
    struct bcall draw = *c;
    if (!p || (rate.kind == V_NUM && rate.known && !rate.live && rate.num == 0)) {
        return p;
    }
    val r =
        is_number(rate) ? emit_number(e, rate, t.dtype) : want_tensor(e, rate, c->span[6], "`drop`", NULL);
    val stays = r ? minus(b, build_const(b, t.dtype, 1), r) : 0;
    draw.arg[0] = list_value(e, (uint32_t)t.rank);
    for (int i = 0; i < t.rank; i++) {
        draw.arg[0].list->at[i] = dim_value(e, t.dim[i]);
    }
    val keep = stays ? draw_node(e, &draw, OP_bernoulli, DT_BOOL, &stays, 1) : 0;
    build_at(e, c->span_at);
    return keep ? mul(b, p, build_2(b, OP_div, build_cast(b, keep, t.dtype), stays)) : 0;
}
/* Arguments: q[.., T, D], k[.., S, D], v[.., S, E], causal, mask bool[.., 1 or T, S], scale, drop. */
static struct value run_attention(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct type q, k, v;
    bool causal = false;
    val qn = tensor_arg(e, c, 0, &q), kn = want_tensor(e, c->arg[1], c->span[1], "the keys", &k),
        vn = want_tensor(e, c->arg[2], c->span[2], "the values", &v), keep = 0;
    if (!qn || !kn || !vn ||
        (c->arg[3].kind != V_MISSING && !want_bool(e, c->arg[3], c->span[3], "`causal`", &causal))) {
        return poison();
    }
    if (q.rank < 2 || k.rank < 2 || v.rank < 2) {
        return fail(e, DIAG_E2003, c->span_at,
                    "`attention` takes q[.., T, D], k[.., S, D], v[.., S, E], found %s, %s, %s",
                    value_text(e, c->arg[0]), value_text(e, c->arg[1]), value_text(e, c->arg[2]));
    }
    build_at(e, c->span_at);
    val scale = !is_given(c->arg[5])   ? one_over_root(b, q.dtype, q.dim[q.rank - 1])
                : is_number(c->arg[5]) ? emit_number(e, c->arg[5], q.dtype)
                                       : want_tensor(e, c->arg[5], c->span[5], "`scale`", NULL);
    val turned = build_turn(b, kn), s = build_matmul(b, mul(b, qn, scale), turned);
    if (causal) {
        keep = up_to_now(b, q.dim[q.rank - 2], k.dim[k.rank - 2]);
    }
    if (is_given(c->arg[4])) {
        val mask = want_tensor(e, c->arg[4], c->span[4], "the mask", NULL);
        keep = causal ? build_2(b, OP_land, keep, mask) : mask;
    }
    if (causal || is_given(c->arg[4])) {
        s = build_3(b, OP_where, keep, s, build_const(b, q.dtype, -(double)INFINITY));
    }
    val p = build_1(b, OP_softmax, s);
    if (p && is_given(c->arg[6])) {
        p = dropped(e, c, p, c->arg[6]);
    }
    return checked(e, c, build_matmul(b, p, vn), 0);
}

/* -- state space scan */

/* [B, T, G, N] as [B, H, T, N]: every group for its H / G heads. */
static val for_heads(struct build *b, val v, dim heads)
{
    struct dims *d = &b->g->dims;
    struct type t = node_type(b->g, v);
    dim each = dim_div(d, heads, t.dim[2]);
    val r = build_unit(b, build_permute(b, v, (int[]){0, 2, 1, 3}), 2);
    r = build_expand(b, r, 5, (dim[]){t.dim[0], t.dim[2], each, t.dim[1], t.dim[3]});
    return build_reshape(b, r, 4, (dim[]){t.dim[0], heads, t.dim[1], t.dim[3]});
}
/* e^x where `keep` holds, else 0. What is cut away is cut before it is raised, so that it has no gradient. */
static val e_where(struct build *b, val keep, val x)
{
    val zero = x ? build_const(b, node_type(b->g, x).dtype, 0) : 0;
    return build_3(b, OP_where, keep, e_to(b, build_3(b, OP_where, keep, x, zero)), zero);
}
static struct value pair(struct elab *e, const char *first, struct value x, const char *second,
                         struct value y)
{
    struct value r = record_value(e, 2);
    r.record->name[0] = first;
    r.record->at[0] = x;
    r.record->name[1] = second;
    r.record->at[1] = y;
    return r;
}
/* Groups are for whole numbers of heads. */
static bool groups_ok(struct elab *e, struct bcall *c, dim heads, dim groups)
{
    int64_t h, g;
    if (dim_is_const(&e->g->dims, heads, &h) && dim_is_const(&e->g->dims, groups, &g) && (g < 1 || h % g)) {
        fail(e, DIAG_E2022, c->span_at, "%lld heads do not split into %lld groups", (long long)h,
             (long long)g);
        return false;
    }
    return true;
}
/* s_t = e^(dt_t a) s_(t-1) + dt_t x_t b_t, y_t = s_t c_t, where s_(t-1) counts as 0 when place t begins a new
 * segment. Arguments: x[B, T, H, P], dt[B, T, H], a[H], b and c[B, T, G, N], s[B, H, P, N], seg i32[B, T];
 * gives (y like x, s). */
static struct value run_ssd(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct type x, dt, a, bt, ct, s0;
    val xn = ranked(e, c, 0, 4, "x[B, T, H, P]", &x), dn = ranked(e, c, 1, 3, "dt[B, T, H]", &dt),
        an = ranked(e, c, 2, 1, "a[H]", &a), bn = ranked(e, c, 3, 4, "b[B, T, G, N]", &bt),
        cn = ranked(e, c, 4, 4, "c[B, T, G, N]", &ct), state = 0, run = 0, last_run = 0;
    bool has_state = is_given(c->arg[5]), has_runs = is_given(c->arg[6]);
    if (has_state) {
        state = ranked(e, c, 5, 4, "s[B, H, P, N]", &s0);
    }
    if (!xn || !dn || !an || !bn || !cn || (has_state && !state) || !groups_ok(e, c, x.dim[2], bt.dim[2])) {
        return poison();
    }
    build_at(e, c->span_at);
    val seen = up_to_now(b, x.dim[1], x.dim[1]);
    if (has_runs) { /* [B, 1, T]: for all heads */
        run = build_unit(b, segment_runs(e, c, 6, &x, 2), 1);
        last_run = last_of(b, zeros_before(b, run), run);
        val row = build_unit(b, run, 3);
        seen = build_2(b, OP_land, seen, build_2(b, OP_eq, row, build_unit(b, run, 2)));
    }
    val l = mul(b, dn, an);
    l = l ? running_sum(b, build_permute(b, l, (int[]){0, 2, 1})) : 0;
    val into = mul(b, xn, build_unit(b, dn, 3));
    if (!l || !into || !seen) {
        return is_poison(c->arg[6]) ? poison() : checked(e, c, 0, 0);
    }
    into = build_permute(b, into, (int[]){0, 2, 1, 3});
    val bh = for_heads(b, bn, x.dim[2]), ch = for_heads(b, cn, x.dim[2]), to = build_unit(b, l, 3);
    val decay = e_where(b, seen, minus(b, to, build_unit(b, l, 2)));
    val y = build_matmul(b, mul(b, build_matmul(b, ch, build_turn(b, bh)), decay), into);
    val end = last_of(b, zeros_before(b, l), l), left = minus(b, end, l);
    left = has_runs ? e_where(b, build_2(b, OP_eq, run, last_run), left) : e_to(b, left);
    val s = build_matmul(b, build_turn(b, mul(b, into, build_unit(b, left, 3))), bh);
    if (has_state) {
        val none = has_runs ? build_const(b, DT_I32, 0) : 0;
        val faded = has_runs ? e_where(b, build_2(b, OP_eq, run, none), l) : e_to(b, l);
        val kept = has_runs ? e_where(b, build_2(b, OP_eq, last_run, none), end) : e_to(b, end);
        val old = build_matmul(b, ch, build_turn(b, state));
        y = add(b, y, mul(b, old, build_unit(b, faded, 3)));
        s = add(b, s, mul(b, state, build_unit(b, kept, 3)));
    }
    y = y ? build_permute(b, y, (int[]){0, 2, 1, 3}) : 0;
    return pair(e, "y", checked(e, c, y, 0), "s", y ? checked(e, c, s, 0) : poison());
}

/* -- matrix memory */

/* The state before the first place: a record (c, n, m), or zeros. */
static bool memory_arg(struct elab *e, struct bcall *c, const struct type *q, const struct type *v, val *out)
{
    static const char *const names[] = {"c", "n", "m"};
    struct type t[3] = {*q, *q, *q};
    t[0].dim[2] = q->dim[3];
    t[0].dim[3] = v->dim[3];
    t[1].rank = 3;
    t[1].dim[2] = q->dim[3];
    t[2].rank = 2;
    for (int i = 0; i < 3; i++) {
        if (!is_given(c->arg[5])) {
            out[i] = build_full(&e->b, &t[i], 0);
            continue;
        }
        struct value *f = c->arg[5].kind == V_RECORD ? value_field(c->arg[5], names[i]) : NULL;
        if (!f) {
            fail(e, DIAG_E2101, c->span[5], "the state of `mlstm` is a record (c, n, m), found %s",
                 value_text(e, c->arg[5]));
            return false;
        }
        struct type found;
        out[i] = want_tensor(e, *f, c->span[5], "the state", &found);
        if (out[i] && !type_equal(&found, &t[i])) {
            fail(e, DIAG_E2001, c->span[5], "field `%s` of the state of `mlstm` is %s, expected %s", names[i],
                 type_text(e->g, &found), type_text(e->g, &t[i]));
            return false;
        }
        if (!out[i]) {
            return false;
        }
    }
    return true;
}
/* Arguments: q and k[B, H, T, D], v[B, H, T, E], i and f[B, H, T], state. The largest exponent m only keeps
 * the numbers in range, and so has no gradient. */
static struct value run_mlstm(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct type q, k, v, it, ft;
    val qn = ranked(e, c, 0, 4, "q[B, H, T, D]", &q), kn = ranked(e, c, 1, 4, "k[B, H, T, D]", &k),
        vn = ranked(e, c, 2, 4, "v[B, H, T, E]", &v), in = ranked(e, c, 3, 3, "i[B, H, T]", &it),
        fn = ranked(e, c, 4, 3, "f[B, H, T]", &ft), old[3];
    build_at(e, c->span_at);
    if (!qn || !kn || !vn || !in || !fn || is_poison(c->arg[5]) || !memory_arg(e, c, &q, &v, old)) {
        return poison();
    }
    val low = build_const(b, q.dtype, -(double)INFINITY), eps = build_const(b, q.dtype, 1e-6);
    val keep = up_to_now(b, q.dim[2], q.dim[2]), l = running_sum(b, build_1(b, OP_logsigmoid, fn));
    val before = add(b, l, build_unit(b, old[2], 2)); /* exponent of the old state at each place */
    val to = build_unit(b, l, 3), gap = minus(b, to, build_unit(b, l, 2));
    val log_d = add(b, gap, build_unit(b, in, 2));
    val masked = build_3(b, OP_where, keep, log_d, low);
    val top = masked ? build_reduce(b, OP_amax, masked, (int[]){3}, 1, false) : 0;
    val m = build_1(b, OP_stop_grad, build_2(b, OP_max, top, before));
    val d = e_to(b, minus(b, masked, build_unit(b, m, 3)));
    val query = mul(b, qn, one_over_root(b, q.dtype, q.dim[3]));
    val s = mul(b, build_matmul(b, query, build_turn(b, kn)), d);
    val faded = mul(b, query, build_unit(b, e_to(b, minus(b, before, m)), 3));
    val num = build_matmul(b, s, vn);
    num = add(b, num, build_matmul(b, faded, old[0]));
    if (!num) {
        return checked(e, c, 0, 0);
    }
    val r = build_reduce(b, OP_sum, s, (int[]){3}, 1, true);
    r = add(b, r, build_matmul(b, faded, build_unit(b, old[1], 3)));
    val floor = build_unit(b, e_to(b, build_1(b, OP_neg, m)), 3);
    val y = build_2(b, OP_div, num, add(b, build_2(b, OP_max, build_1(b, OP_abs, r), floor), eps));
    /* the state behind the last place: the old one where there are no places */
    val end = last_of(b, zeros_before(b, l), l), start_m = build_unit(b, old[2], 2),
        m_end = last_of(b, start_m, m);
    val share = e_to(b, minus(b, add(b, minus(b, end, l), in), m_end)),
        kept = e_to(b, minus(b, add(b, end, start_m), m_end));
    val keys = mul(b, kn, build_unit(b, share, 3));
    val c1 = mul(b, old[0], build_unit(b, kept, 3)), n1 = mul(b, old[1], kept);
    c1 = add(b, c1, build_matmul(b, build_turn(b, keys), vn));
    n1 = keys ? add(b, n1, build_reduce(b, OP_sum, keys, (int[]){2}, 1, false)) : 0;
    val m1 = build_reshape(b, m_end, 2, q.dim);
    struct value state = pair(e, "c", tensor_value(c1, 0), "n", tensor_value(n1, 0)),
                 full = record_value(e, 3);
    memcpy(full.record->name, state.record->name, 2 * sizeof *state.record->name);
    memcpy(full.record->at, state.record->at, 2 * sizeof *state.record->at);
    full.record->name[2] = "m";
    full.record->at[2] = tensor_value(m1, 0);
    return pair(e, "y", checked(e, c, y, 0), "s", full);
}

/* -- splines */

/* n elements of the last axis from `from` on. */
static val span_of(struct build *b, val v, dim from, dim n)
{
    return v ? build_part(b, v, node_type(b->g, v).rank - 1, from, n, 1) : 0;
}
/* (x - from) / (to - from) with a quotient that x has no part in, so that a gradient needs no other; where
 * two knots are the same it means nothing, and no function is other than 0. */
static val ramp(struct build *b, val x, val from, val to)
{
    val gap = minus(b, to, from);
    enum dtype t = gap ? node_type(b->g, gap).dtype : DT_F32;
    val none = build_const(b, t, 0), one = build_const(b, t, 1);
    val same = gap ? build_2(b, OP_eq, gap, none) : 0, safe = gap ? build_3(b, OP_where, same, one, gap) : 0;
    val slope = build_2(b, OP_div, one, safe), above = minus(b, x, from);
    return mul(b, above, slope);
}
enum { SPLINE_DEGREE = 16 };
/* n functions of the degree, first those of degree 0 from knot 0, 1, .. degree on. A function of degree p is
 * made of two of degree p - 1 that begin at this knot and at the next. All of them stand side by side, n of
 * each, rather than as parts of one array: a little more arithmetic, but everything is elementwise, so that
 * one pass over x makes the functions, and another their gradient. */
static val spline_functions(struct build *b, val x, val knots, dim n, int degree)
{
    struct dims *d = &b->g->dims;
    enum dtype type = node_type(b->g, x).dtype;
    val t[SPLINE_DEGREE + 2], f[SPLINE_DEGREE + 1], w[SPLINE_DEGREE + 1];
    for (int s = 0; s <= degree + 1; s++) {
        t[s] = span_of(b, knots, dim_const(d, s), n);
    }
    for (int s = 0; s <= degree; s++) {
        val from = build_2(b, OP_ge, x, t[s]), to = build_2(b, OP_lt, x, t[s + 1]);
        f[s] = build_cast(b, build_2(b, OP_land, from, to), type);
    }
    for (int p = 1; p <= degree; p++) {
        for (int s = 0; s <= degree - p + 1; s++) {
            w[s] = ramp(b, x, t[s], t[s + p]);
        }
        for (int s = 0; s <= degree - p; s++) {
            val up = mul(b, w[s], f[s]), rest = minus(b, build_const(b, type, 1), w[s + 1]);
            val down = mul(b, rest, f[s + 1]);
            f[s] = add(b, up, down);
        }
    }
    return f[0];
}
/* bspline(x[.., I], knots[I, M], k): the M - k - 1 basis functions of degree k at x, by the recursion of Cox
 * and de Boor. The knots have no gradient. */
static struct value run_bspline(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct dims *d = &e->g->dims;
    struct type x, t;
    int64_t degree;
    val xn = tensor_arg(e, c, 0, &x), knots = ranked(e, c, 1, 2, "knots[I, M]", &t);
    if (!xn || !knots || !want_int(e, c->arg[2], c->span[2], "the degree", &degree)) {
        return poison();
    }
    if (degree < 0 || degree > SPLINE_DEGREE || x.rank < 1 || x.rank == LIMIT_RANK) {
        return fail(e, DIAG_E2023, c->span_at,
                    "`bspline` takes x[.., I] and a degree of 0 to 16, found %s and %lld",
                    value_text(e, c->arg[0]), (long long)degree);
    }
    build_at(e, c->span_at);
    val at = build_unit(b, xn, x.rank), k = build_1(b, OP_stop_grad, knots);
    dim n = dim_sub(d, t.dim[1], dim_const(d, degree + 1));
    val basis = at && k ? spline_functions(b, at, k, n, (int)degree) : 0;
    return checked(e, c, basis, c->arg[0].unit);
}
/* scale_grad(x, s): x, whose gradient is scaled. */
static struct value run_scale_grad(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    if (c->arg[0].kind != V_TENSOR) {
        return is_poison(c->arg[0])
                   ? poison()
                   : with_help(e,
                               fail(e, DIAG_E2023, c->span[0], "`scale_grad` takes a tensor, found %s",
                                    value_text(e, c->arg[0])),
                               "each(f, x) applies a fn to every part");
    }
    build_at(e, c->span_at);
    struct value still = tensor_value(build_1(&e->b, OP_stop_grad, c->arg[0].node), c->arg[0].unit);
    struct value change = elementwise(e, OP_sub, (struct value[]){c->arg[0], still}, 2, &s);
    change = elementwise(e, OP_mul, (struct value[]){change, c->arg[1]}, 2, &s);
    return elementwise(e, OP_add, (struct value[]){still, change}, 2, &s);
}

const struct builtin sequence_builtins[] = {
    {"attention", run_attention, "q k v causal? mask? scale? drop?", OP_matmul},
    {"ssd_scan", run_ssd, "x dt a b c s0? seg?", OP_matmul},
    {"mlstm", run_mlstm, "q k v i f s0?", OP_matmul},
    {"bspline", run_bspline, "x knots k", OP_mul},
    {"scale_grad", run_scale_grad, "x s", OP_stop_grad},
    {0},
};
