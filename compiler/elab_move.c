/* Builtins that put values together and move them: concat, stack, flip, tile, pick, one_hot, put, masks.
 * Those that are no operators are written with some. */
#include "compiler/elab.h"

/* -- joining */

/* The arguments, or the elements of the one list. */
static bool parts_of(struct elab *e, struct bcall *c, struct value **at, uint32_t *n)
{
    if (c->arg[0].kind == V_LIST && c->n_rest == 0) {
        *at = c->arg[0].list->at;
        *n = c->arg[0].list->n;
    } else {
        *n = c->n_rest + 1;
        *at = arena_array(e->arena, struct value, *n);
        (*at)[0] = c->arg[0];
        memcpy(*at + 1, c->rest, c->n_rest * sizeof **at);
    }
    for (uint32_t i = 0; i < *n; i++) {
        if (is_poison((*at)[i])) {
            return false;
        }
    }
    if (*n == 0) {
        fail(e, DIAG_E2023, c->span_at, "`%s` of nothing", c->b->name);
        diag_help(e->sink, "name the parts: [a, b]");
    }
    return *n != 0;
}
#define LISTED "the parts, or one list of them; an axis is named, as in stack([a, b], axis = 1)"
/* Leaf by leaf where the parts are records. */
static struct value join_records(struct elab *e, struct bcall *c, const struct value *at, uint32_t n,
                                 struct value (*join)(struct elab *, struct bcall *, const struct value *,
                                                      uint32_t))
{
    struct value r = record_value(e, at[0].record->n), *leaf = arena_array(e->arena, struct value, n);
    for (uint32_t k = 0; k < at[0].record->n; k++) {
        r.record->name[k] = at[0].record->name[k];
        for (uint32_t i = 0; i < n; i++) {
            struct value *f = at[i].kind == V_RECORD && at[i].record->n == at[0].record->n
                                  ? value_field(at[i], r.record->name[k])
                                  : NULL;
            if (!f) {
                return with_help(
                    e, fail(e, DIAG_E2101, c->span_at, "`%s` of records of different fields", c->b->name),
                    "all records have the fields of the first");
            }
            leaf[i] = *f;
        }
        r.record->at[k] = join(e, c, leaf, n);
    }
    return r;
}
static struct value join_all(struct elab *e, struct bcall *c, const struct value *at, uint32_t n, int axis)
{
    val *node = arena_array(e->arena, val, n);
    uint32_t unit = ~(1u << axis);
    for (uint32_t i = 0; i < n; i++) {
        node[i] = at[i].node;
        unit &= at[i].unit | 1u << axis;
    }
    build_at(e, c->span_at);
    struct value r = checked(e, c, build_concat(&e->b, node, n, axis), unit & ~(1u << axis));
    for (uint32_t i = 0; i < n && is_poison(r); i++) {
        struct type first = tensor_type(e, at[0]), t = tensor_type(e, at[i]);
        diag_help(e->sink, "all axes but the joined one are equal; x[_] makes a further axis");
        help_tail_types(e, &first, &t);
    }
    return r;
}
static struct value concat_parts(struct elab *e, struct bcall *c, const struct value *at, uint32_t n)
{
    if (at[0].kind == V_RECORD) {
        return join_records(e, c, at, n, concat_parts);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (at[i].kind != V_TENSOR) {
            return with_help(e,
                             fail(e, DIAG_E2023, c->span_at, "`concat` joins tensors, part %u is %s", i + 1,
                                  value_text(e, at[i])),
                             at[i].kind == V_LIST
                                 ? LISTED
                                 : "stack([a, b]) joins numbers, append(list, x) makes a list longer");
        }
    }
    int rank = tensor_type(e, at[0]).rank, axis = rank - 1;
    if (!rank) {
        fail(e, DIAG_E2003, c->span_at, "`concat` of scalars");
        diag_help(e->sink, "stack([a, b]) makes a new axis");
        return poison();
    }
    if (c->arg[1].kind != V_MISSING && !axis_arg(e, c, 1, rank, &axis)) {
        return poison();
    }
    return join_all(e, c, at, n, axis);
}
static struct value run_concat(struct elab *e, struct bcall *c)
{
    struct value *at;
    uint32_t n;
    return parts_of(e, c, &at, &n) ? concat_parts(e, c, at, n) : poison();
}
/* What the numbers among the parts become: like the first tensor. */
static struct type stack_type(struct elab *e, const struct value *at, uint32_t n)
{
    bool whole = true, boolean = true;
    for (uint32_t i = 0; i < n; i++) {
        if (at[i].kind == V_TENSOR) {
            return tensor_type(e, at[i]);
        }
        boolean &= at[i].kind == V_BOOL;
        whole &= at[i].kind == V_DIM || at[i].is_int;
    }
    return (struct type){.dtype = boolean ? DT_BOOL : whole ? DT_I32 : DT_F32};
}
static struct value stack_parts(struct elab *e, struct bcall *c, const struct value *at, uint32_t n)
{
    struct value *part = arena_array(e->arena, struct value, n);
    int axis = 0;
    if (at[0].kind == V_RECORD) {
        return join_records(e, c, at, n, stack_parts);
    }
    struct type t = stack_type(e, at, n);
    if (t.rank == LIMIT_RANK || (c->arg[1].kind != V_MISSING && !axis_arg(e, c, 1, t.rank + 1, &axis))) {
        return t.rank == LIMIT_RANK ? fail(e, DIAG_E2003, c->span_at, "more than %d axes", LIMIT_RANK)
                                    : poison();
    }
    build_at(e, c->span_at);
    for (uint32_t i = 0; i < n; i++) {
        part[i] = at[i];
        if (is_scalar_static(at[i])) {
            val scalar = emit_beside(e, at[i], t.dtype, c->span_at, "`stack`");
            part[i] = tensor_value(build_expand(&e->b, scalar, t.rank, t.dim), 0);
        }
        if (part[i].kind != V_TENSOR) {
            return is_poison(part[i])
                       ? poison()
                       : with_help(e,
                                   fail(e, DIAG_E2023, c->span_at, "`stack` joins tensors, part %u is %s",
                                        i + 1, value_text(e, at[i])),
                                   at[i].kind == V_LIST ? LISTED
                                                        : "values that are no tensors stay in a list");
        }
        struct type own = tensor_type(e, part[i]), to = {.rank = own.rank + 1};
        for (int k = 0; k < to.rank && to.rank <= LIMIT_RANK; k++) {
            to.dim[k] = k == axis ? dim_const(&e->g->dims, 1) : own.dim[k - (k > axis)];
        }
        uint32_t low = (1u << axis) - 1, unit = part[i].unit;
        part[i] = tensor_value(build_reshape(&e->b, part[i].node, to.rank, to.dim),
                               (unit & low) | (unit & ~low) << 1);
        if (is_poison(part[i])) {
            return poison();
        }
    }
    return join_all(e, c, part, n, axis);
}
static struct value run_stack(struct elab *e, struct bcall *c)
{
    struct value *at;
    uint32_t n;
    return parts_of(e, c, &at, &n) ? stack_parts(e, c, at, n) : poison();
}
/* Which kinds of numbers are inside a nested list, and the type of a tensor among them. */
enum { SEEN_BOOL = 1, SEEN_WHOLE = 2, SEEN_FLOAT = 4 };
static unsigned leaf_kinds(struct elab *e, struct value v, enum dtype *t)
{
    unsigned seen = 0;
    if (v.kind == V_LIST) {
        for (uint32_t i = 0; i < v.list->n; i++) {
            seen |= leaf_kinds(e, v.list->at[i], t);
        }
    } else if (v.kind == V_TENSOR) {
        *t = tensor_type(e, v).dtype;
    } else {
        seen = v.kind == V_BOOL ? SEEN_BOOL : v.kind == V_DIM || v.is_int ? SEEN_WHOLE : SEEN_FLOAT;
    }
    return seen;
}
static struct value tensor_of(struct elab *e, struct bcall *c, struct value v, enum dtype t)
{
    if (v.kind != V_LIST) {
        val n = is_number(v) && (dtype_is_float(t) || v.kind == V_DIM || v.is_int)
                    ? emit_number(e, v, t)
                    : want_tensor(e, v, c->span[0], "an element of a tensor", NULL);
        return tensor_value(n, v.kind == V_TENSOR ? v.unit : 0);
    }
    struct type nothing = {.dtype = t, .rank = 1, .dim = {dim_const(&e->g->dims, 0)}};
    struct value r = list_value(e, v.list->n);
    for (uint32_t i = 0; i < v.list->n; i++) {
        r.list->at[i] = tensor_of(e, c, v.list->at[i], t);
        if (is_poison(r.list->at[i])) {
            return poison();
        }
        struct type first = tensor_type(e, r.list->at[0]), own = tensor_type(e, r.list->at[i]);
        if (!type_equal(&first, &own)) {
            return fail(e, DIAG_E2001, c->span[0], "`tensor`: element %u is %s, the first is %s", i + 1,
                        type_text(e->g, &own), type_text(e->g, &first));
        }
    }
    build_at(e, c->span_at);
    return v.list->n ? stack_parts(e, c, r.list->at, v.list->n)
                     : tensor_value(build_full(&e->b, &nothing, 0), 0);
}
/* tensor(x): a number, or a nested list of them, as a tensor. */
static struct value run_tensor(struct elab *e, struct bcall *c)
{
    enum dtype t = DT_NONE;
    if (is_poison(c->arg[0])) {
        return poison();
    }
    unsigned seen = leaf_kinds(e, c->arg[0], &t);
    enum dtype own = seen == SEEN_BOOL ? DT_BOOL : seen == SEEN_WHOLE ? DT_I32 : DT_F32;
    build_at(e, c->span_at);
    return tensor_of(e, c, c->arg[0], t != DT_NONE ? t : own);
}

/* -- turning and repeating */

static struct value run_flip(struct elab *e, struct bcall *c)
{
    struct type t;
    struct dims *d = &e->g->dims;
    int axis = 0;
    val x = tensor_arg(e, c, 0, &t);
    if (!x || (c->arg[1].kind != V_MISSING && !axis_arg(e, c, 1, t.rank, &axis))) {
        return poison();
    }
    if (!t.rank) {
        return with_help(e, fail(e, DIAG_E2003, c->span[0], "`flip` of a scalar"), "it has no axis to turn");
    }
    dim last = dim_opaque(d, ATOM_MAX, dim_sub(d, t.dim[axis], dim_const(d, 1)), dim_const(d, 0));
    build_at(e, c->span_at);
    return checked(e, c, build_part(&e->b, x, axis, last, t.dim[axis], -1), c->arg[0].unit);
}
/* The whole of x n times along one axis. */
static val repeat_axis(struct elab *e, val x, int axis, dim n)
{
    struct dims *d = &e->g->dims;
    struct type t = node_type(e->g, x);
    dim outer = dim_const(d, 1), rest = outer;
    for (int i = 0; i < t.rank; i++) {
        *(i < axis ? &outer : &rest) = dim_mul(d, i < axis ? outer : rest, t.dim[i]);
    }
    val r = build_reshape(&e->b, x, 3, (dim[]){outer, dim_const(d, 1), rest});
    r = build_expand(&e->b, r, 3, (dim[]){outer, n, rest});
    t.dim[axis] = dim_mul(d, t.dim[axis], n);
    return build_reshape(&e->b, r, t.rank, t.dim);
}
/* tile(x, n): along the first axis; tile(x, [n, m]): a number for each of the first axes. */
static struct value run_tile(struct elab *e, struct bcall *c)
{
    struct type t, times = {.rank = 1};
    val x = tensor_arg(e, c, 0, &t);
    bool list = c->arg[1].kind == V_LIST;
    if (!x || (list ? !want_shape(e, c->arg[1], c->span[1], "the repetitions", &times.rank, times.dim)
                    : !want_size(e, c->arg[1], c->span[1], "the repetitions", &times.dim[0]))) {
        return poison();
    }
    if (times.rank > t.rank) {
        return with_help(e,
                         fail(e, DIAG_E2003, c->span[1], "repetitions of %d axes for %s", times.rank,
                              value_text(e, c->arg[0])),
                         "x[_] makes a further axis in front");
    }
    build_at(e, c->span_at);
    for (int i = 0; i < times.rank && x; i++) {
        x = repeat_axis(e, x, i, times.dim[i]);
    }
    return checked(e, c, x, c->arg[0].unit & ~((1u << times.rank) - 1));
}
/* The padding of the last axes: an entry for each, n or [before, after]; or one number for the last two. */
static bool pad_sizes(struct elab *e, struct bcall *c, int rank, int *n, dim (*size)[2])
{
    struct value v = c->arg[1];
    bool list = v.kind == V_LIST;
    *n = list ? (int)v.list->n : rank < 2 ? rank : 2;
    if (*n > rank || rank == 0) {
        fail(e, DIAG_E2003, c->span_at, "padding of %u axes for %s", list ? v.list->n : 1,
             value_text(e, c->arg[0]));
        return false;
    }
    for (int i = 0; i < *n; i++) {
        struct value item = list ? v.list->at[i] : v;
        bool pair = item.kind == V_LIST;
        if (pair && item.list->n != 2) {
            fail(e, DIAG_E2023, c->span[1],
                 "the padding of an axis is a number, or before and after; found %s", value_text(e, item));
            return false;
        }
        for (int side = 0; side < 2; side++) {
            if (!want_size(e, pair ? item.list->at[side] : item, c->span[1], "the padding", &size[i][side])) {
                return false;
            }
        }
    }
    return true;
}
/* With places of a value on both sides of an axis. */
static val surround(struct elab *e, struct bcall *c, val x, int axis, const dim *size)
{
    struct ttype side = {.kind = T_TENSOR, .t = node_type(e->g, x)};
    val part[3] = {0, x, 0};
    for (int i = 0; i < 2; i++) {
        side.t.dim[axis] = size[i];
        struct value v = fill_type(e, &side, c->arg[2], c->span[2], "the padding");
        part[2 * i] = v.kind == V_TENSOR ? v.node : 0;
    }
    build_at(e, c->span_at);
    return part[0] && part[2] ? build_concat(&e->b, part, 3, axis) : 0;
}
/* pad(x, sizes, value = 0) */
static struct value run_pad(struct elab *e, struct bcall *c)
{
    struct type t, to;
    struct dims *d = &e->g->dims;
    dim size[LIMIT_RANK][2], start[LIMIT_RANK];
    int64_t step[LIMIT_RANK];
    int n;
    val x = tensor_arg(e, c, 0, &t);
    if (!x || is_poison(c->arg[1]) || is_poison(c->arg[2]) || !pad_sizes(e, c, t.rank, &n, size)) {
        return poison();
    }
    struct value v = c->arg[2];
    bool zero = v.kind == V_MISSING || (v.kind == V_NUM && v.known && !v.live && v.num == 0 && v.is_int);
    to = t;
    for (int i = 0; i < t.rank; i++) {
        int k = i - (t.rank - n);
        start[i] = k < 0 ? dim_const(d, 0) : size[k][0];
        step[i] = 1;
        to.dim[i] = k < 0 ? t.dim[i] : dim_add(d, t.dim[i], dim_add(d, size[k][0], size[k][1]));
        x = k < 0 || zero || !x ? x : surround(e, c, x, i, size[k]);
    }
    build_at(e, c->span_at);
    return checked(e, c, zero ? build_pad(&e->b, x, start, step, &to) : x,
                   c->arg[0].unit & ((1u << (t.rank - n)) - 1));
}

/* -- by index */

/* pick(x, i): one element of each row of the last axis. */
static struct value run_pick(struct elab *e, struct bcall *c)
{
    struct type x, i;
    val xn = tensor_arg(e, c, 0, &x);
    val in = want_tensor(e, c->arg[1], c->span[1], "the index of `pick`", &i);
    if (!xn || !in) {
        return poison();
    }
    if (x.rank != i.rank + 1) {
        fail(e, DIAG_E2003, c->span_at,
             "`pick` takes one index for each row of the last axis, found %s for %s",
             value_text(e, c->arg[1]), value_text(e, c->arg[0]));
        diag_help(e->sink, "x[.., i] takes one place of all rows");
        return poison();
    }
    build_at(e, c->span_at);
    val r = build_2(&e->b, OP_take, xn, build_unit(&e->b, in, i.rank));
    if (!r) {
        label_operand(e, c->env, c->ast[1], c->arg[1]);
    }
    return checked(e, c, build_reshape(&e->b, r, i.rank, i.dim), c->arg[1].unit);
}
/* one_hot(i, n): 1 at place i of a last axis of n, zeros for -1. */
static struct value run_one_hot(struct elab *e, struct bcall *c)
{
    dim n;
    struct type i;
    val in = tensor_arg(e, c, 0, &i);
    if (!in || !want_size(e, c->arg[1], c->span[1], "the number of places", &n)) {
        return poison();
    }
    if (i.dtype != DT_I32) {
        fail(e, DIAG_E2002, c->span[0], "the places of `one_hot` are i32, found %s", type_text(e->g, &i));
        diag_help(e->sink, "i32(x) cuts off what stands behind the point");
        return poison();
    }
    build_at(e, c->span_at);
    val places = build_iota(&e->b, n);
    val hit = build_2(&e->b, OP_eq, build_unit(&e->b, in, i.rank), places);
    return checked(e, c, build_cast(&e->b, hit, DT_F32), c->arg[0].unit);
}
/* One index for the first axis of a value of type t, or a list of them for the first axes. */
static bool index_arg(struct elab *e, struct bcall *c, const struct type *t, struct value *ix, uint32_t *n)
{
    struct value v = c->arg[1];
    bool list = v.kind == V_LIST;
    *n = list ? v.list->n : 1;
    if (*n < 1 || (int)*n > t->rank) {
        fail(e, DIAG_E2050, c->span[1], "%u indices for %s", *n, value_text(e, c->arg[0]));
        diag_help(e->sink,
                  "a list has an index for each of the first axes; tensor([..]) makes one index of it");
        return false;
    }
    for (uint32_t i = 0; i < *n; i++) {
        ix[i] = list ? v.list->at[i] : v;
        if (ix[i].kind == V_DIM || (ix[i].kind == V_NUM && ix[i].is_int)) {
            ix[i] = tensor_value(static_place(e, ix[i], t->dim[i], c->span[1]), 0);
        }
        if (ix[i].kind != V_TENSOR || tensor_type(e, ix[i]).dtype != DT_I32) {
            if (!is_poison(ix[i])) {
                index_error(e, c->span[1], ix[i]);
            }
            return false;
        }
    }
    return true;
}
/* Rows for every place of the index, from a value of that shape or a scalar. */
static val rows_for(struct elab *e, struct value v, struct span at, struct value index, val table)
{
    struct type rows = tensor_type(e, index), t = node_type(e->g, table), own;
    for (int i = 1; i < t.rank && rows.rank < LIMIT_RANK; i++) {
        rows.dim[rows.rank++] = t.dim[i];
    }
    val n = is_scalar_static(v) ? emit_beside(e, v, t.dtype, at, "the rows")
                                : want_tensor(e, v, at, "the rows", &own);
    return n && node_type(e->g, n).rank == 0 ? build_expand(&e->b, n, rows.rank, rows.dim) : n;
}
/* put(x, i, v), put_add, put_max: a new value. */
static struct value run_put(struct elab *e, struct bcall *c)
{
    struct type t;
    struct value ix[LIMIT_RANK], index;
    uint32_t n;
    val table, x = tensor_arg(e, c, 0, &t);
    build_at(e, c->span_at);
    if (!x || is_poison(c->arg[1]) || is_poison(c->arg[2]) || !index_arg(e, c, &t, ix, &n)) {
        return poison();
    }
    if (!merge_index(e, tensor_value(x, 0), ix, n, c->span_at, &table, &index)) {
        return poison();
    }
    val rows = rows_for(e, c->arg[2], c->span[2], index, table);
    val r = build_3(&e->b, c->b->op, table, index.node, rows);
    if (!r && rows) {
        label_operand(e, c->env, c->ast[2], c->arg[2]);
        diag_help(e->sink, "a scalar is written to every place; values come in the type of x");
    }
    return checked(e, c, build_reshape(&e->b, r, t.rank, t.dim), c->arg[0].unit);
}
/* segment_sum(v, i, n): row k of the n is the sum of the rows of v whose index is k. */
static struct value run_segment_sum(struct elab *e, struct bcall *c)
{
    struct type v, i, to;
    dim n;
    val rows = tensor_arg(e, c, 0, &v), index = want_tensor(e, c->arg[1], c->span[1], "the index", &i);
    if (!rows || !index || !want_size(e, c->arg[2], c->span[2], "the number of segments", &n)) {
        return poison();
    }
    if (i.rank > v.rank) {
        return with_help(e,
                         fail(e, DIAG_E2003, c->span_at, "`segment_sum` of %s by %s",
                              value_text(e, c->arg[0]), value_text(e, c->arg[1])),
                         "the ids have the leading axes of the values");
    }
    to = (struct type){.dtype = v.dtype, .rank = v.rank - i.rank + 1, .dim = {n}};
    memcpy(to.dim + 1, v.dim + i.rank, (size_t)(v.rank - i.rank) * sizeof *v.dim);
    build_at(e, c->span_at);
    return checked(e, c, build_3(&e->b, OP_put_add, build_full(&e->b, &to, 0), index, rows), 0);
}

/* -- constants */

/* i[:, _] and i[_, :] of a square, compared: eye(n), and tril(n, k = 0), triu(n, k = 0), masks of the places
 * on and below (above) diagonal k. */
static struct value run_square(struct elab *e, struct bcall *c)
{
    dim n;
    struct site s = builtin_site(c);
    bool eye = !strcmp(c->b->name, "eye");
    if (!want_size(e, c->arg[0], c->span[0], "the size", &n)) {
        return poison();
    }
    build_at(e, c->span_at);
    val i = build_iota(&e->b, n);
    struct value column = tensor_value(i, 0), row = tensor_value(build_unit(&e->b, i, 1), 2);
    if (!eye && c->arg[1].kind != V_MISSING) {
        row = elementwise(e, OP_add, (struct value[]){row, c->arg[1]}, 2, &s);
    }
    struct value r = elementwise(e,
                                 eye                           ? OP_eq
                                 : !strcmp(c->b->name, "tril") ? OP_le
                                                               : OP_ge,
                                 (struct value[]){column, row}, 2, &s);
    return eye && r.kind == V_TENSOR ? checked(e, c, build_cast(&e->b, r.node, DT_F32), 0) : r;
}
/* linspace(a, b, n): n numbers from a to b, both exact; counted from the nearer end. */
static struct value run_linspace(struct elab *e, struct bcall *c)
{
    dim n;
    struct site s = builtin_site(c);
    struct value a = c->arg[0], b = c->arg[1], one = num_value(1, true);
    if (is_poison(a) || is_poison(b) || !want_size(e, c->arg[2], c->span[2], "the count", &n)) {
        return poison();
    }
    build_at(e, c->span_at);
    struct value *end[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        if (is_scalar_static(*end[i])) {
            *end[i] = tensor_value(emit_number(e, *end[i], DT_F32), 0);
        }
    }
    struct value up = tensor_value(build_cast(&e->b, build_iota(&e->b, n), DT_F32), 0);
    struct value last = tensor_value(build_dim(&e->b, DT_F32, n), 0);
    last = elementwise(e, OP_sub, (struct value[]){last, one}, 2, &s);
    struct value down = elementwise(e, OP_sub, (struct value[]){last, up}, 2, &s);
    struct value width = elementwise(e, OP_sub, (struct value[]){b, a}, 2, &s);
    struct value gaps = elementwise(e, OP_max, (struct value[]){last, one}, 2, &s);
    struct value step = elementwise(e, OP_div, (struct value[]){width, gaps}, 2, &s);
    struct value from_a = elementwise(e, OP_mul, (struct value[]){step, up}, 2, &s);
    struct value from_b = elementwise(e, OP_mul, (struct value[]){step, down}, 2, &s);
    from_a = elementwise(e, OP_add, (struct value[]){a, from_a}, 2, &s);
    from_b = elementwise(e, OP_sub, (struct value[]){b, from_b}, 2, &s);
    struct value half = elementwise(e, OP_le, (struct value[]){up, down}, 2, &s), single = last;
    single = elementwise(e, OP_eq, (struct value[]){last, num_value(0, true)}, 2, &s);
    half = elementwise(e, OP_lor, (struct value[]){half, single}, 2, &s);
    return elementwise(e, OP_where, (struct value[]){half, from_a, from_b}, 3, &s);
}

const struct builtin move_builtins[] = {
    {"concat", run_concat, "x * axis?", OP_concat},
    {"stack", run_stack, "x * axis?", OP_concat},
    {"flip", run_flip, "x axis?", OP_slice},
    {"tile", run_tile, "x times", OP_expand},
    {"pad", run_pad, "x sizes value?", OP_pad},
    {"tensor", run_tensor, "x", OP_concat},
    {"pick", run_pick, "x i", OP_take},
    {"one_hot", run_one_hot, "i n", OP_eq},
    {"put", run_put, "x i v", OP_put},
    {"put_add", run_put, "x i v", OP_put_add},
    {"put_max", run_put, "x i v", OP_put_max},
    {"segment_sum", run_segment_sum, "v i n", OP_put_add},
    {"eye", run_square, "n", OP_eq},
    {"tril", run_square, "n k?", OP_le},
    {"triu", run_square, "n k?", OP_ge},
    {"linspace", run_linspace, "a b n", OP_iota},
    {0},
};
