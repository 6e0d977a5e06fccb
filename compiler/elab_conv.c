/* Convolutions, written with slices and products: a tap of the kernel is a strided slice of the padded input,
 * the taps lie side by side, and one product with the kernel as a matrix does the rest. Channels are last. */
#include "compiler/elab.h"

enum { MAX_TAPS = 1024, MAX_AXES = 2 };

struct conv {
    struct elab *e;
    struct bcall *c;
    int axes, lead; /* axes that are convolved, and the axis of the first */
    val x, w;
    struct type xt, wt;
    int64_t stride[MAX_AXES], dilation[MAX_AXES], low[MAX_AXES], high[MAX_AXES], size[MAX_AXES], groups, taps;
    dim out[MAX_AXES];
};

/* A whole number for every axis, or one for all. */
static bool read_numbers(struct conv *k, int i, const char *what, int64_t least, int64_t *out)
{
    struct value v = k->c->arg[i];
    for (int a = 0; a < k->axes && v.kind != V_MISSING; a++) {
        bool list = v.kind == V_LIST;
        if (list && v.list->n != (uint32_t)k->axes) {
            fail(k->e, DIAG_E2023, k->c->span[i], "%s needs %d numbers, found %u", what, k->axes, v.list->n);
            return false;
        }
        if (!want_int(k->e, list ? v.list->at[a] : v, k->c->span[i], what, &out[a])) {
            return false;
        }
        if (out[a] < least || out[a] > LIMIT_DIM) {
            fail(k->e, DIAG_E2023, k->c->span[i], "%s is at least %lld, found %lld", what, (long long)least,
                 (long long)out[a]);
            return false;
        }
    }
    return true;
}
/* Arguments: x, w, stride, pad, dilation, groups, causal. */
static bool read_conv(struct conv *k)
{
    struct elab *e = k->e;
    struct bcall *c = k->c;
    int64_t pad[MAX_AXES] = {0};
    bool causal = false;
    k->x = tensor_arg(e, c, 0, &k->xt);
    k->w = want_tensor(e, c->arg[1], c->span[1], "the kernel", &k->wt);
    if (!k->x || !k->w) {
        return false;
    }
    if (k->xt.rank != k->axes + 2 || k->wt.rank != k->axes + 2) {
        fail(e, DIAG_E2003, c->span_at, "`%s` takes x[B, %s, C] and w[%s, C, O], found %s and %s", c->b->name,
             k->axes == 1 ? "L" : "H, W", k->axes == 1 ? "K" : "K, K", value_text(e, c->arg[0]),
             value_text(e, c->arg[1]));
        diag_help(e->sink, "channels come last, and x[_] makes a batch of one");
        return false;
    }
    k->groups = 1;
    for (int a = 0; a < k->axes; a++) {
        k->stride[a] = k->dilation[a] = 1;
    }
    if (!read_numbers(k, 2, "the stride", 1, k->stride) || !read_numbers(k, 3, "the padding", 0, pad) ||
        !read_numbers(k, 4, "the dilation", 1, k->dilation) ||
        (c->arg[5].kind != V_MISSING && !want_int(e, c->arg[5], c->span[5], "the groups", &k->groups)) ||
        (c->arg[6].kind != V_MISSING && !want_bool(e, c->arg[6], c->span[6], "`causal`", &causal))) {
        return false;
    }
    if (k->groups < 1) {
        fail(e, DIAG_E2023, c->span[5], "the groups are at least 1, found %lld", (long long)k->groups);
        return false;
    }
    k->taps = 1;
    for (int a = 0; a < k->axes; a++) {
        if (!want_int(e, dim_value(e, k->wt.dim[a]), c->span[1], "the size of the kernel", &k->size[a])) {
            return false;
        }
        k->low[a] = causal ? (k->size[a] - 1) * k->dilation[a] : pad[a];
        k->high[a] = causal ? 0 : pad[a];
        k->taps = k->size[a] < MAX_TAPS ? k->taps * k->size[a] : 0;
    }
    if (k->taps < 1 || k->taps > MAX_TAPS) {
        fail(e, DIAG_E2023, c->span[1], "`%s` takes kernels of 1 to %d places", c->b->name, MAX_TAPS);
        return false;
    }
    return true;
}
/* The padded input, and the sizes of the result. */
static bool prepare(struct conv *k)
{
    struct build *b = &k->e->b;
    struct dims *d = &b->g->dims;
    dim start[LIMIT_RANK];
    int64_t step[LIMIT_RANK];
    struct type padded = k->xt;
    bool any = false;
    for (int i = 0; i < k->xt.rank; i++) {
        start[i] = dim_const(d, 0);
        step[i] = 1;
    }
    for (int a = 0; a < k->axes; a++) {
        int axis = 1 + a;
        start[axis] = dim_const(d, k->low[a]);
        padded.dim[axis] = dim_add(d, padded.dim[axis], dim_const(d, k->low[a] + k->high[a]));
        dim room = dim_sub(d, padded.dim[axis], dim_const(d, (k->size[a] - 1) * k->dilation[a] + 1));
        if (k->stride[a] > 1) {
            room = dim_opaque(d, ATOM_FLOORDIV, room, dim_const(d, k->stride[a]));
        }
        int64_t places, length;
        bool empty = dim_is_const(d, k->xt.dim[axis], &length) && length == 0;
        k->out[a] = dim_add(d, room, dim_const(d, 1));
        if (dim_is_const(d, k->out[a], &places) && places < (empty ? 0 : 1)) { /* of nothing it is nothing */
            fail(k->e, DIAG_E2006, k->c->span_at, "the kernel does not fit into axis %d of %s", axis,
                 value_text(k->e, k->c->arg[0]));
            return false;
        }
        any |= k->low[a] || k->high[a];
    }
    if (any) {
        k->x = build_pad(b, k->x, start, step, &padded);
    }
    return k->x != 0;
}
/* What the tap sees of the input: [B, .., C] with the sizes of the result. */
static val see(struct conv *k, int64_t tap)
{
    val v = k->x;
    for (int a = k->axes - 1; a >= 0; a--) {
        dim from = dim_const(&k->e->g->dims, tap % k->size[a] * k->dilation[a]);
        v = build_part(&k->e->b, v, 1 + a, from, k->out[a], k->stride[a]);
        tap /= k->size[a];
    }
    return v;
}
/* Each channel with a kernel of its own: no product of matrices. */
static val depthwise(struct conv *k)
{
    struct build *b = &k->e->b;
    struct dims *d = &b->g->dims;
    dim channels = k->wt.dim[k->axes + 1];
    val rows = build_reshape(b, k->w, 2, (dim[]){dim_const(d, k->taps), channels}), sum = 0;
    for (int64_t t = 0; t < k->taps; t++) {
        val w = build_reshape(b, build_part(b, rows, 0, dim_const(d, t), dim_const(d, 1), 1), 1, &channels);
        val y = build_2(b, OP_mul, see(k, t), w);
        sum = t ? build_2(b, OP_add, sum, y) : y;
    }
    return sum;
}
/* Taps side by side as [rows, groups, taps * C / groups], times the kernels of the groups. */
static val by_product(struct conv *k)
{
    struct build *b = &k->e->b;
    struct dims *d = &b->g->dims;
    int r = k->axes + 2;
    dim g = dim_const(d, k->groups), each = k->wt.dim[k->axes], outputs = k->wt.dim[k->axes + 1];
    dim inner = dim_mul(d, dim_const(d, k->taps), each), per = dim_div(d, outputs, g);
    struct type t = k->xt;
    val *tap = arena_array(b->g->arena, val, (size_t)k->taps);
    dim rows = t.dim[0];
    for (int a = 0; a < k->axes; a++) {
        t.dim[1 + a] = k->out[a];
        rows = dim_mul(d, rows, k->out[a]);
    }
    t.dim[r - 1] = g;
    t.dim[r] = each;
    for (int64_t i = 0; i < k->taps; i++) {
        tap[i] = build_reshape(b, see(k, i), r + 1, t.dim);
        if (!tap[i]) {
            return 0;
        }
    }
    val x = build_concat(b, tap, (uint32_t)k->taps, r), y;
    if (k->groups == 1) {
        val w = build_reshape(b, k->w, 2, (dim[]){inner, outputs});
        y = build_matmul(b, build_reshape(b, x, 2, (dim[]){rows, inner}), w);
    } else {
        x = build_permute(b, build_reshape(b, x, 3, (dim[]){rows, g, inner}), (int[]){1, 0, 2});
        val w = build_permute(b, build_reshape(b, k->w, 3, (dim[]){inner, g, per}), (int[]){1, 0, 2});
        y = build_permute(b, build_matmul(b, x, w), (int[]){1, 0, 2});
    }
    t.dim[r - 1] = outputs;
    return build_reshape(b, y, r, t.dim);
}
static struct value run_conv(struct elab *e, struct bcall *c)
{
    struct conv k = {.e = e, .c = c, .axes = c->b->name[4] - '0'};
    struct dims *d = &e->g->dims;
    build_at(e, c->span_at);
    if (!read_conv(&k) || !prepare(&k)) {
        return poison();
    }
    dim channels = k.xt.dim[k.axes + 1], outputs = k.wt.dim[k.axes + 1];
    if (dim_mul(d, k.wt.dim[k.axes], dim_const(d, k.groups)) != channels) {
        fail(e, DIAG_E2001, c->span_at,
             "`%s`: %s channels in %lld groups need a kernel over as many each, found %s", c->b->name,
             dim_text(e, channels), (long long)k.groups, dim_text(e, k.wt.dim[k.axes]));
        label_operand(e, c->env, c->ast[0], c->arg[0]);
        label_operand(e, c->env, c->ast[1], c->arg[1]);
        return poison();
    }
    int64_t n;
    if (k.groups > 1 && dim_is_const(d, outputs, &n) && n % k.groups) {
        return fail(e, DIAG_E2022, c->span_at, "%lld outputs do not split into %lld groups", (long long)n,
                    (long long)k.groups);
    }
    bool own = dim_const(d, k.groups) == channels && outputs == channels && k.groups > 1;
    return checked(e, c, own ? depthwise(&k) : by_product(&k), 0);
}

/* -- one kernel for each channel, looking back */

val segment_runs(struct elab *e, struct bcall *c, int i, const struct type *x, int n)
{
    struct build *b = &e->b;
    struct type ids, want = {.dtype = DT_I32, .rank = n};
    val v = want_tensor(e, c->arg[i], c->span[i], "the segments", &ids);
    memcpy(want.dim, x->dim, (size_t)n * sizeof *want.dim);
    if (v && !type_equal(&ids, &want)) {
        fail(e, DIAG_E2001, c->span[i], "the segments of `%s` are %s, expected %s", c->b->name,
             type_text(e->g, &ids), type_text(e->g, &want));
        return 0;
    }
    build_at(e, c->span_at);
    val changes = v ? build_2(b, OP_ne, v, build_shift(b, v, n - 1, true, 0)) : 0;
    val place = changes ? build_iota(b, want.dim[n - 1]) : 0;
    val inside = place ? build_2(b, OP_gt, place, build_const(b, DT_I32, 0)) : 0;
    val counts = inside ? build_cast(b, build_2(b, OP_land, changes, inside), DT_I32) : 0;
    return counts ? build_attrs(b, OP_cumsum, &counts, 1, (int64_t[]){n - 1, 0}, 2) : 0;
}
struct causal {
    struct build *b;
    struct type x;
    int axis;
    dim length, behind;
    val all;            /* the past and x */
    val runs, all_runs; /* of x, and of both: the past belongs to the first; 0 without segments */
};
/* `size` places of `all` from `from` on, zeros where they are not of the run `own`. */
static val places(struct causal *k, dim from, dim size, val own)
{
    struct build *b = k->b;
    val v = build_part(b, k->all, k->axis, from, size, 1);
    if (!own || !v) {
        return v;
    }
    val same = build_2(b, OP_eq, build_part(b, k->all_runs, k->axis, from, size, 1), own);
    val zero = build_const(b, k->x.dtype, 0);
    return build_3(b, OP_where, build_unit(b, same, k->axis + 1), v, zero);
}
/* The last K - 1 places: the past of what follows. */
static val last_places(struct causal *k)
{
    struct dims *d = &k->b->g->dims;
    int64_t behind;
    val run = 0;
    if (k->runs && dim_is_const(d, k->behind, &behind) && behind > 0) {
        dim last = dim_add(d, k->length, dim_const(d, behind - 1));
        run = build_part(k->b, k->all_runs, k->axis, last, dim_const(d, 1), 1);
    }
    return places(k, k->length, k->behind, run);
}
/* x and what stands before it. */
static bool join_past(struct elab *e, struct bcall *c, struct causal *k, val x)
{
    struct type p = k->x;
    p.dim[k->axis] = k->behind;
    val past = is_given(c->arg[3]) ? want_tensor(e, c->arg[3], c->span[3], "the past", NULL)
                                   : build_full(k->b, &p, 0);
    k->all = past ? build_concat(k->b, (val[]){past, x}, 2, k->axis) : 0;
    if (is_given(c->arg[4]) && k->all) {
        k->runs = segment_runs(e, c, 4, &k->x, k->axis + 1);
        p.dtype = DT_I32;
        p.rank = k->axis + 1;
        val first = k->runs ? build_full(k->b, &p, 0) : 0;
        k->all_runs = first ? build_concat(k->b, (val[]){first, k->runs}, 2, k->axis) : 0;
        return k->all_runs != 0;
    }
    return past != 0;
}
/* causal_conv1d(x[.., T, C], w[C, K], b[C], past[.., K - 1, C], seg i32[.., T]): each channel on its own,
 * seeing K - 1 rows of the past, but no other segment; gives [y, the past of what follows]. */
static struct value run_causal(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct dims *d = &e->g->dims;
    struct causal k = {.b = b};
    struct type w;
    int64_t taps;
    build_at(e, c->span_at);
    val xn = tensor_arg(e, c, 0, &k.x), wn = want_tensor(e, c->arg[1], c->span[1], "the kernel", &w);
    if (!xn || !wn) {
        return poison();
    }
    if (k.x.rank < 2 || w.rank != 2) {
        return with_help(e,
                         fail(e, DIAG_E2003, c->span_at,
                              "`causal_conv1d` takes x[.., T, C] and w[C, K], found %s and %s",
                              value_text(e, c->arg[0]), value_text(e, c->arg[1])),
                         "channels come last in x and first in w");
    }
    if (!want_int(e, dim_value(e, w.dim[1]), c->span[1], "the size of the kernel", &taps)) {
        return poison();
    }
    if (taps < 1 || taps > MAX_TAPS) {
        return fail(e, DIAG_E2023, c->span[1], "`causal_conv1d` takes kernels of 1 to %d places", MAX_TAPS);
    }
    k.axis = k.x.rank - 2;
    k.length = k.x.dim[k.axis];
    k.behind = dim_const(d, taps - 1);
    val bias = is_given(c->arg[2]) ? want_tensor(e, c->arg[2], c->span[2], "the bias", NULL) : 0, y = bias;
    if ((is_given(c->arg[2]) && !bias) || !join_past(e, c, &k, xn)) {
        return poison();
    }
    for (int64_t i = 0; i < taps; i++) {
        val tap = build_reshape(b, build_part(b, wn, 1, dim_const(d, i), dim_const(d, 1), 1), 1, w.dim);
        val seen = places(&k, dim_const(d, i), k.length, i + 1 < taps ? k.runs : 0);
        seen = build_2(b, OP_mul, seen, tap);
        y = i || bias ? build_2(b, OP_add, seen, y) : seen;
    }
    struct value r = list_value(e, 2);
    r.list->at[0] = checked(e, c, y, 0);
    r.list->at[1] = y ? checked(e, c, last_places(&k), 0) : poison();
    return r;
}

const struct builtin conv_builtins[] = {
    {"conv1d", run_conv, "x w stride? pad? dilation? groups? causal?", OP_matmul},
    {"conv2d", run_conv, "x w stride? pad? dilation? groups?", OP_matmul},
    {"causal_conv1d", run_causal, "x w b? past? seg?", OP_mul},
    {0},
};
