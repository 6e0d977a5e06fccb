/* Builtins about shapes and constants: shape, len, zeros, reshape, transpose, expand, split, ... */
#include "compiler/elab.h"

val tensor_arg(struct elab *e, struct bcall *c, int i, struct type *t)
{
    return want_tensor(e, c->arg[i], c->span[i], arena_printf(e->arena, "the argument of `%s`", c->b->name),
                       t);
}
bool want_axis(struct elab *e, struct value v, struct span at, int rank, int *axis)
{
    int64_t a;
    if (!want_int(e, v, at, "the axis", &a)) {
        if (v.kind != V_POISON && v.kind != V_TENSOR) {
            diag_help(e->sink, "axes are numbered 0, 1, .. from the first and -1, -2, .. from the last");
        }
        return false;
    }
    if (a >= rank || a < -rank) {
        fail(e, DIAG_E2005, at, "axis %lld of a tensor with %d ax%ss", (long long)a, rank,
             rank == 1 ? "i" : "e");
        diag_help(e->sink,
                  rank > 1    ? "its axes are 0 to %d, or -%d to -1 from the last"
                  : rank == 1 ? "its only axis is 0"
                              : "it is a scalar",
                  rank - 1, rank);
        return false;
    }
    *axis = (int)(a < 0 ? a + rank : a);
    return true;
}
bool axis_arg(struct elab *e, struct bcall *c, int i, int rank, int *axis)
{
    return want_axis(e, c->arg[i], c->span[i], rank, axis);
}
struct value checked(struct elab *e, struct bcall *c, val v, uint32_t unit)
{
    if (!v) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], c->arg[0]);
        label_odd_axes(e, c->arg, 1);
    }
    return tensor_value(v, unit);
}
/* The same function on every leaf of a record. */
static struct value on_leaves(struct elab *e, struct bcall *c)
{
    struct value x = c->arg[0], r = record_value(e, x.record->n);
    for (uint32_t i = 0; i < x.record->n; i++) {
        struct bcall leaf = *c;
        leaf.arg[0] = x.record->at[i];
        r.record->name[i] = x.record->name[i];
        r.record->at[i] = c->b->run(e, &leaf);
    }
    return r;
}

/* -- asking */

static struct value run_shape(struct elab *e, struct bcall *c)
{
    struct type t;
    if (!tensor_arg(e, c, 0, &t)) {
        return poison();
    }
    struct value l = list_value(e, (uint32_t)t.rank);
    for (int i = 0; i < t.rank; i++) {
        l.list->at[i] = dim_value(e, t.dim[i]);
    }
    return l;
}
static struct value run_len(struct elab *e, struct bcall *c)
{
    struct type t;
    if (c->arg[0].kind == V_LIST || c->arg[0].kind == V_RECORD) {
        return num_value(c->arg[0].kind == V_LIST ? c->arg[0].list->n : c->arg[0].record->n, true);
    }
    if (!tensor_arg(e, c, 0, &t)) {
        return poison();
    }
    return t.rank ? dim_value(e, t.dim[0])
                  : with_help(e, fail(e, DIAG_E2003, c->span[0], "`len` of a scalar"),
                              "it has no axes; len(x) is the size of the first");
}
static struct value run_append(struct elab *e, struct bcall *c)
{
    if (c->arg[0].kind != V_LIST) {
        return with_help(
            e, fail(e, DIAG_E2023, c->span[0], "`append` takes a list, found %s", value_text(e, c->arg[0])),
            "a list is written [a, b]; concat([x, y]) joins tensors");
    }
    struct value l = list_value(e, c->arg[0].list->n + 1);
    memcpy(l.list->at, c->arg[0].list->at, c->arg[0].list->n * sizeof *l.list->at);
    l.list->at[c->arg[0].list->n] = c->arg[1];
    return count_parts(e, l, c->span_at);
}
static struct value run_contains(struct elab *e, struct bcall *c)
{
    if (c->arg[0].kind != V_LIST) {
        return with_help(
            e, fail(e, DIAG_E2023, c->span[0], "`contains` takes a list, found %s", value_text(e, c->arg[0])),
            "a list is written [a, b]; any(x == y) searches a tensor");
    }
    for (uint32_t i = 0; i < c->arg[0].list->n; i++) {
        if (value_same(e, c->arg[0].list->at[i], c->arg[1])) {
            return bool_value(true);
        }
    }
    return bool_value(false);
}

/* -- constants */

/* zeros(shape), zeros(like), ones, full(shape, v): f32, of a whole number or size `v` i32. */
static struct value run_full(struct elab *e, struct bcall *c)
{
    struct type t = {.dtype = DT_F32};
    struct value v = c->arg[1].kind != V_MISSING ? c->arg[1] : num_value(!strcmp(c->b->name, "ones"), false);
    struct value x = c->arg[0];
    if (x.kind == V_RECORD || x.kind == V_TREE || x.kind == V_TENSOR || x.kind == V_TYPE) {
        struct ttype *like = type_of(e, x);
        struct value zero = num_value(v.num, true);
        return like ? fill_type(
                          e, like,
                          v.kind == V_NUM && v.known && !v.live && v.num == (double)(int64_t)v.num ? zero : v,
                          c->span_at, c->b->name)
                    : poison();
    }
    if (!want_shape(e, x, c->span[0], "the shape", &t.rank, t.dim)) {
        return poison();
    }
    build_at(e, c->span_at);
    val scalar;
    if (v.kind == V_TENSOR) {
        if (tensor_type(e, v).rank) {
            return fail(e, DIAG_E2023, c->span[1], "`full` repeats one value, found %s", value_text(e, v));
        }
        scalar = v.node;
    } else {
        enum dtype d = v.kind == V_BOOL ? DT_BOOL : is_given(c->arg[1]) && is_whole(v) ? DT_I32 : DT_F32;
        scalar = want_tensor(e, v, c->span[1].file ? c->span[1] : c->span_at, "the value", NULL)
                     ? emit_number(e, v, d)
                     : 0;
    }
    return checked(e, c, build_expand(&e->b, scalar, t.rank, t.dim), 0);
}
static struct value run_iota(struct elab *e, struct bcall *c)
{
    dim n;
    int64_t fixed;
    if (!want_size(e, c->arg[0], c->span[0], "the length", &n)) {
        return poison();
    }
    if (dim_is_const(&e->g->dims, n, &fixed) && fixed > INT32_MAX) {
        return fail(e, DIAG_E2009, c->span[0], "iota counts in i32 and cannot reach %lld", (long long)fixed);
    }
    build_at(e, c->span_at);
    struct node_spec s = {.op = OP_iota,
                          .phase = e->b.phase,
                          .type = {.dtype = DT_I32, .rank = 1, .dim = {n}},
                          .span = e->b.span,
                          .scope = e->b.scope};
    return checked(e, c, graph_add(e->g, &s, e->sink), 0);
}

/* -- views */

/* reshape(x, [-1, 3]): one size may be -1, which is what the others leave. */
static struct value rest_of_shape(struct elab *e, struct bcall *c, const struct type *t, struct value shape)
{
    struct dims *d = &e->g->dims;
    dim all = dim_const(d, 1), others = all, size;
    int rest = -1;
    for (uint32_t i = 0; shape.kind == V_LIST && i < shape.list->n; i++) {
        struct value v = shape.list->at[i];
        if (v.kind == V_NUM && v.is_int && v.known && !v.live && v.num == -1 && rest < 0) {
            rest = (int)i;
        } else if (!want_size(e, v, c->span[1], "the shape", &size)) {
            return poison();
        } else {
            others = dim_mul(d, others, size);
        }
    }
    if (rest < 0) {
        return shape;
    }
    for (int i = 0; i < t->rank; i++) {
        all = dim_mul(d, all, t->dim[i]);
    }
    int64_t n, m;
    bool constant = dim_is_const(d, others, &m), fits = !constant || m > 0;
    fits = fits && !(constant && dim_is_const(d, all, &n) && n % m);
    if (!fits) {
        fail(e, DIAG_E2004, c->span[1], "reshape: %s elements do not give whole rows of %s", dim_text(e, all),
             dim_text(e, others));
        return poison();
    }
    struct value r = list_value(e, shape.list->n);
    memcpy(r.list->at, shape.list->at, shape.list->n * sizeof *r.list->at);
    r.list->at[rest] =
        fold_op(e, OP_div, (struct value[]){dim_value(e, all), dim_value(e, others)}, 2, c->span[1]);
    return r;
}
static struct value run_reshape(struct elab *e, struct bcall *c)
{
    struct type t, to = {0};
    val x = tensor_arg(e, c, 0, &t);
    c->arg[1] = x && !is_poison(c->arg[1]) ? rest_of_shape(e, c, &t, c->arg[1]) : c->arg[1];
    if (!x || is_poison(c->arg[1]) || !want_shape(e, c->arg[1], c->span[1], "the shape", &to.rank, to.dim)) {
        return poison();
    }
    build_at(e, c->span_at);
    return checked(e, c, build_reshape(&e->b, x, to.rank, to.dim), 0);
}
static struct value run_expand(struct elab *e, struct bcall *c)
{
    struct type t, to = {0};
    val x = tensor_arg(e, c, 0, &t);
    if (!x || !want_shape(e, c->arg[1], c->span[1], "the shape", &to.rank, to.dim)) {
        return poison();
    }
    build_at(e, c->span_at);
    return checked(e, c, build_expand(&e->b, x, to.rank, to.dim), 0);
}
/* Arguments: x, first axis, last axis. */
static struct value run_flatten(struct elab *e, struct bcall *c)
{
    struct type t, to = {0};
    int from, last;
    if (c->arg[0].kind == V_RECORD) {
        return on_leaves(e, c);
    }
    val x = tensor_arg(e, c, 0, &t);
    if (!x || !axis_arg(e, c, 1, t.rank, &from) || !axis_arg(e, c, 2, t.rank, &last)) {
        return poison();
    }
    if (from > last) {
        return with_help(e, fail(e, DIAG_E2005, c->span_at, "flatten from axis %d to axis %d", from, last),
                         "the first of the axes that are merged comes first");
    }
    dim n = dim_const(&e->g->dims, 1);
    for (int i = 0; i < t.rank; i++) {
        if (i >= from && i <= last) {
            n = dim_mul(&e->g->dims, n, t.dim[i]);
        }
        if (i < from || i >= last) {
            to.dim[to.rank++] = i == last ? n : t.dim[i];
        }
    }
    build_at(e, c->span_at);
    return checked(e, c, build_reshape(&e->b, x, to.rank, to.dim), 0);
}
static struct value run_unflatten(struct elab *e, struct bcall *c)
{
    struct type t, part = {0}, to = {0};
    int axis;
    val x = tensor_arg(e, c, 0, &t);
    if (!x || !axis_arg(e, c, 1, t.rank, &axis) ||
        !want_shape(e, c->arg[2], c->span[2], "the sizes", &part.rank, part.dim)) {
        return poison();
    }
    if (t.rank - 1 + part.rank > LIMIT_RANK) {
        return fail(e, DIAG_E2003, c->span_at, "more than %d axes", LIMIT_RANK);
    }
    for (int i = 0; i < t.rank; i++) {
        for (int k = 0; i == axis && k < part.rank; k++) {
            to.dim[to.rank++] = part.dim[k];
        }
        if (i != axis) {
            to.dim[to.rank++] = t.dim[i];
        }
    }
    build_at(e, c->span_at);
    return checked(e, c, build_reshape(&e->b, x, to.rank, to.dim), 0);
}
static struct value permuted(struct elab *e, struct bcall *c, val x, int rank, const int *perm)
{
    uint32_t unit = 0;
    for (int i = 0; i < rank; i++) {
        unit |= (c->arg[0].unit >> perm[i] & 1) << i;
    }
    build_at(e, c->span_at);
    return checked(e, c, build_permute(&e->b, x, perm), unit);
}
static struct value run_transpose(struct elab *e, struct bcall *c)
{
    struct type t;
    int a, b, perm[LIMIT_RANK];
    if (c->arg[0].kind == V_RECORD) {
        return on_leaves(e, c);
    }
    val x = tensor_arg(e, c, 0, &t);
    if (!x) {
        return poison();
    }
    if (t.rank < 2) {
        fail(e, DIAG_E2003, c->span_at, "`transpose` needs two axes, found %s", value_text(e, c->arg[0]));
        diag_help(e->sink, "x[_, :] makes a matrix of one row");
        return poison();
    }
    a = t.rank - 2;
    b = t.rank - 1;
    if ((c->arg[1].kind != V_MISSING && !axis_arg(e, c, 1, t.rank, &a)) ||
        (c->arg[2].kind != V_MISSING && !axis_arg(e, c, 2, t.rank, &b))) {
        return poison();
    }
    for (int i = 0; i < t.rank; i++) {
        perm[i] = i == a ? b : i == b ? a : i;
    }
    return permuted(e, c, x, t.rank, perm);
}
static struct value run_permute(struct elab *e, struct bcall *c)
{
    struct type t;
    int perm[LIMIT_RANK];
    uint32_t seen = 0;
    val x = tensor_arg(e, c, 0, &t);
    if (!x) {
        return poison();
    }
    if (c->arg[1].kind != V_LIST || c->arg[1].list->n != (uint32_t)t.rank) {
        return fail(e, DIAG_E2005, c->span[1], "`permute` names each of the %d axes once", t.rank);
    }
    for (int i = 0; i < t.rank; i++) {
        struct bcall one = *c;
        one.arg[1] = c->arg[1].list->at[i];
        if (!axis_arg(e, &one, 1, t.rank, &perm[i])) {
            return poison();
        }
        seen |= 1u << perm[i];
    }
    if (seen != (1u << t.rank) - 1) {
        return fail(e, DIAG_E2005, c->span[1], "`permute` names each of the %d axes once", t.rank);
    }
    return permuted(e, c, x, t.rank, perm);
}
/* split(x, n) or split(x, [sizes]), along the last axis unless `axis =` says otherwise: a list of parts. */
static struct value run_split(struct elab *e, struct bcall *c)
{
    struct type t;
    dim size[64];
    struct dims *d = &e->g->dims;
    val x = tensor_arg(e, c, 0, &t);
    int axis = t.rank - 1;
    int64_t n = 0;
    if (!x || (c->arg[2].kind != V_MISSING && !axis_arg(e, c, 2, t.rank, &axis))) {
        return poison();
    }
    if (!t.rank) {
        return with_help(e, fail(e, DIAG_E2003, c->span[0], "`split` of a scalar"), "it has no axis to cut");
    }
    bool list = c->arg[1].kind == V_LIST;
    if (list) {
        n = c->arg[1].list->n;
    } else if (!want_int(e, c->arg[1], c->span[1], "the number of parts", &n)) {
        return poison();
    }
    if (n < 1 || n > 64) {
        return with_help(
            e, fail(e, DIAG_E2023, c->span[1], "`split` makes 1 to 64 parts, found %lld", (long long)n),
            "split(x, n) makes n equal parts, split(x, [a, b]) parts of these sizes");
    }
    dim total = dim_const(d, 0);
    for (int64_t i = 0; i < n; i++) {
        if (!list) {
            int64_t whole;
            size[i] = dim_div(d, t.dim[axis], dim_const(d, n));
            if (dim_is_const(d, t.dim[axis], &whole) && whole % n) {
                return with_help(e,
                                 fail(e, DIAG_E2022, c->span_at, "%lld does not split into %lld equal parts",
                                      (long long)whole, (long long)n),
                                 "split(x, [a, b]) makes parts of different sizes");
            }
        } else if (!want_size(e, c->arg[1].list->at[i], c->span[1], "the size of a part", &size[i])) {
            return poison();
        }
        total = dim_add(d, total, size[i]);
    }
    if (total != t.dim[axis]) {
        return with_help(e,
                         fail(e, DIAG_E2033, c->span_at, "the parts have %s together, the axis has %s",
                              dim_text(e, total), dim_text(e, t.dim[axis])),
                         "the sizes add up to that of the axis; x[.., a:b] takes one part");
    }
    struct value r = list_value(e, (uint32_t)n);
    dim from = dim_const(d, 0);
    for (int64_t i = 0; i < n; i++) {
        r.list->at[i] = slice_axis(e, tensor_value(x, c->arg[0].unit), axis, from, size[i], c->span_at);
        from = dim_add(d, from, size[i]);
    }
    return r;
}

const struct builtin shape_builtins[] = {
    {"shape", run_shape, "x", OP_NONE},
    {"len", run_len, "x", OP_NONE},
    {"append", run_append, "list x", OP_NONE},
    {"contains", run_contains, "list x", OP_NONE},
    {"zeros", run_full, "shape", OP_NONE},
    {"ones", run_full, "shape", OP_NONE},
    {"full", run_full, "shape value", OP_NONE},
    {"iota", run_iota, "n", OP_iota},
    {"reshape", run_reshape, "x shape", OP_reshape},
    {"expand", run_expand, "x shape", OP_expand},
    {"flatten", run_flatten, "x first last", OP_reshape},
    {"unflatten", run_unflatten, "x axis sizes", OP_reshape},
    {"transpose", run_transpose, "x a? b?", OP_permute},
    {"permute", run_permute, "x axes", OP_permute},
    {"split", run_split, "x parts axis?", OP_slice},
    {0},
};
