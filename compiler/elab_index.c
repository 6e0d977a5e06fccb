/* Indexing: static whole numbers drop an axis, slices keep it, `_` makes a unit axis, `..` fills, i32 tensors
 * that stand next to each other gather, and their axes come where they stood. Records and lists of tensors go
 * leaf by leaf; a list is indexed by a static number.
 */
#include "compiler/elab.h"

/* -- reading the brackets */

static struct value optional(struct elab *e, struct ast *a, struct env *env)
{
    return a ? eval(e, a, env) : (struct value){.kind = V_MISSING};
}
bool index_error(struct elab *e, struct span at, struct value v)
{
    fail(e, DIAG_E2050, at, "an index is a whole number or an i32 tensor, found %s", value_text(e, v));
    diag_help(e->sink, v.kind == V_STR ? "fields are read with a dot, as in r.name"
                                       : "i32(x) makes whole numbers; where(mask, a, b) chooses by a mask");
    return false;
}
static bool read_at(struct elab *e, struct ast *a, struct env *env, struct item *it)
{
    if (a->a->kind == AST_ID && !strcmp(a->a->name, "_")) {
        it->kind = ITEM_NEW;
        return true;
    }
    it->literal = a->a->kind == AST_NUM;
    it->v = eval(e, a->a, env);
    switch ((enum vkind)it->v.kind) {
    case V_POISON:
        return false;
    case V_NUM:
        it->kind = ITEM_INT;
        if (it->v.is_int) {
            return true;
        }
        return index_error(e, a->span, it->v);
    case V_DIM:
        it->kind = ITEM_DIM;
        return true;
    case V_TENSOR:
        it->kind = ITEM_TENSOR;
        if (tensor_type(e, it->v).dtype == DT_I32) {
            return true;
        }
        return index_error(e, a->span, it->v);
    default:
        return index_error(e, a->span, it->v);
    }
}
bool read_items(struct elab *e, struct ast *a, struct env *env, struct item *item, uint32_t *n)
{
    bool rest = false;
    if (a->list.n > MAX_ITEMS) {
        fail(e, DIAG_E2050, a->span, "too many indices");
        return false;
    }
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *p = a->list.at[i];
        item[i] = (struct item){.span = p->span};
        if (p->kind == AST_SLICE) {
            item[i].kind = ITEM_SLICE;
            item[i].from = optional(e, p->a, env);
            item[i].to = optional(e, p->b, env);
            item[i].step = optional(e, p->c, env);
            if (is_poison(item[i].from) || is_poison(item[i].to) || is_poison(item[i].step)) {
                return false;
            }
        } else if (p->kind == AST_REST) {
            item[i].kind = ITEM_REST;
            if (rest) {
                fail(e, DIAG_E2050, p->span, "`..` stands once in an index");
                diag_help(e->sink, "`:` keeps one axis");
                return false;
            }
            rest = true;
        } else if (!read_at(e, p, env, &item[i])) {
            return false;
        }
    }
    *n = a->list.n;
    return true;
}

/* -- one tensor */

struct plan {
    dim start[LIMIT_RANK], size[LIMIT_RANK];
    int64_t step[LIMIT_RANK];
    dim shape[LIMIT_RANK]; /* after dropping and inserting axes */
    uint32_t unit;
    int rank;
    bool slices;
};
static bool push_axis(struct elab *e, struct plan *p, dim d, bool unit, struct span at)
{
    if (p->rank == LIMIT_RANK) {
        fail(e, DIAG_E2003, at, "more than %d axes", LIMIT_RANK);
        diag_help(e->sink, "flatten(x, first, last) merges axes");
        return false;
    }
    p->unit |= unit ? 1u << p->rank : 0;
    p->shape[p->rank++] = d;
    return true;
}
/* A bound as a dimension; negative constants count from the end. */
static bool bound(struct elab *e, struct value v, dim size, struct span at, dim *out)
{
    int64_t c, n;
    if (!want_dim(e, v, at, "the bound of a slice", out)) {
        return false;
    }
    if (dim_is_const(&e->g->dims, *out, &c)) {
        if (c < 0) {
            *out = dim_add(&e->g->dims, size, *out);
        }
        if (dim_is_const(&e->g->dims, size, &n) && (c > n || c < -n)) {
            fail(e, DIAG_E2006, at, "the slice ends at %lld, the axis has %lld", (long long)c, (long long)n);
            diag_help(e->sink, "a bound left out is the end of the axis; negative ones count from there");
            return false;
        }
    }
    return *out != 0;
}
static bool plan_slice(struct elab *e, const struct item *it, dim size, bool unit, int axis, struct plan *p)
{
    dim from = dim_const(&e->g->dims, 0), to = size, n;
    int64_t step = 1, len;
    if (it->step.kind != V_MISSING && !want_int(e, it->step, it->span, "the step of a slice", &step)) {
        return false;
    }
    if (step < 1) {
        fail(e, DIAG_E2006, it->span, "the step of a slice is at least 1, found %lld", (long long)step);
        diag_help(e->sink, "flip(x, axis = ..) turns an axis around");
        return false;
    }
    if ((it->from.kind != V_MISSING && !bound(e, it->from, size, it->span, &from)) ||
        (it->to.kind != V_MISSING && !bound(e, it->to, size, it->span, &to))) {
        return false;
    }
    n = dim_sub(&e->g->dims, to, from);
    if (step > 1) {
        n = dim_add(&e->g->dims, n, dim_const(&e->g->dims, step - 1));
        n = dim_opaque(&e->g->dims, ATOM_FLOORDIV, n, dim_const(&e->g->dims, step));
    }
    if (n && dim_is_const(&e->g->dims, n, &len) && len < 0) {
        fail(e, DIAG_E2006, it->span, "the slice ends before it begins");
        diag_help(e->sink, "write from:to, with to excluded; flip(x, axis = ..) turns an axis around");
        return false;
    }
    bool whole = it->from.kind == V_MISSING && it->to.kind == V_MISSING && step == 1;
    p->start[axis] = from;
    p->step[axis] = step;
    p->size[axis] = n;
    p->slices |= !whole;
    return n && push_axis(e, p, n, unit && whole, it->span);
}
static bool plan_point(struct elab *e, const struct item *it, dim size, int axis, struct plan *p)
{
    struct dims *d = &e->g->dims;
    dim at;
    int64_t c, n;
    if (!want_dim(e, it->v, it->span, "the index", &at)) {
        return false;
    }
    if (dim_is_const(d, at, &c)) {
        if (dim_is_const(d, size, &n) && (c >= n || c < -n)) {
            fail(e, DIAG_E2050, it->span, "index %lld is outside of the axis, which has %lld", (long long)c,
                 (long long)n);
            diag_help(e->sink, n ? "places are 0 to %lld, or -%lld to -1 from the end" : "the axis is empty",
                      (long long)n - 1, (long long)n);
            return false;
        }
        at = c < 0 ? dim_add(d, size, at) : at;
    }
    p->start[axis] = at;
    p->step[axis] = 1;
    p->size[axis] = dim_const(d, 1);
    p->slices = true;
    return at != 0;
}
bool item_places(struct elab *e, const struct item *it, dim size, struct places *r)
{
    struct plan p = {0};
    bool point = it->kind != ITEM_SLICE;
    if (!(point ? plan_point(e, it, size, 0, &p) : plan_slice(e, it, size, false, 0, &p))) {
        return false;
    }
    *r = (struct places){
        .from = p.start[0], .n = p.size[0], .step = p.step[0], .whole = !p.slices, .point = point};
    return true;
}
static uint32_t axes_taken(const struct item *item, uint32_t n)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        k += item[i].kind != ITEM_NEW && item[i].kind != ITEM_REST;
    }
    return k;
}
static bool plan_items(struct elab *e, const struct item *item, uint32_t n, const struct type *t,
                       uint32_t unit, struct plan *p)
{
    int axis = 0, left = t->rank - (int)axes_taken(item, n);
    bool rest = false;
    struct item whole = {.kind = ITEM_SLICE, .span = n ? item[n - 1].span : NO_SPAN};
    for (uint32_t i = 0; i <= n; i++) {
        bool fill = i < n ? item[i].kind == ITEM_REST : !rest;
        for (; fill && left > 0; left--, axis++) {
            if (!plan_slice(e, &whole, t->dim[axis], unit >> axis & 1, axis, p)) {
                return false;
            }
        }
        if (i == n || fill) {
            rest |= fill;
            continue;
        }
        if (item[i].kind == ITEM_NEW) {
            if (!push_axis(e, p, dim_const(&e->g->dims, 1), true, item[i].span)) {
                return false;
            }
            continue;
        }
        bool ok = item[i].kind == ITEM_SLICE
                      ? plan_slice(e, &item[i], t->dim[axis], unit >> axis & 1, axis, p)
                      : plan_point(e, &item[i], t->dim[axis], axis, p);
        if (!ok) {
            return false;
        }
        axis++;
    }
    return true;
}
static struct value index_static(struct elab *e, struct value v, const struct item *item, uint32_t n,
                                 struct span at)
{
    struct type t = tensor_type(e, v);
    struct plan p = {0};
    if (!plan_items(e, item, n, &t, v.unit, &p)) {
        return poison();
    }
    build_at(e, at);
    val r = p.slices ? build_slice(&e->b, v.node, p.start, p.step, p.size) : v.node;
    r = build_reshape(&e->b, r, p.rank, p.shape);
    if (!r) {
        note_origin(e);
    }
    return tensor_value(r, p.unit);
}
val static_place(struct elab *e, struct value v, dim size, struct span at)
{
    struct item it = {.kind = ITEM_INT, .v = v, .span = at};
    build_at(e, at);
    struct value places = tensor_value(build_iota(&e->b, size), 0);
    return is_poison(places) ? 0 : index_static(e, places, &it, 1, at).node;
}
/* -- index tensors */

bool merge_index(struct elab *e, struct value x, const struct value *ix, uint32_t k, struct span at,
                 val *table, struct value *index)
{
    struct type t = tensor_type(e, x), first = tensor_type(e, ix[0]), merged = t;
    struct site s = {.at = at};
    struct value minus = num_value(-1, true), flat = ix[0], none = bool_value(false), bad = none;
    *table = x.node;
    *index = ix[0];
    for (uint32_t i = 0; i < k && k > 1; i++) {
        struct type ti = tensor_type(e, ix[i]);
        if (!type_equal(&ti, &first)) {
            fail(e, DIAG_E2001, at, "indices of one place have equal shapes, found %s and %s",
                 value_text(e, ix[0]), value_text(e, ix[i]));
            diag_help(e->sink, "x[i][:, j] takes every j of every i; expand(i, shape(j)) repeats an index");
            return false;
        }
        struct value size = dim_value(e, t.dim[i]);
        struct value is_none = elementwise(e, OP_eq, (struct value[]){ix[i], minus}, 2, &s);
        struct value low = elementwise(e, OP_lt, (struct value[]){ix[i], minus}, 2, &s);
        struct value high = elementwise(e, OP_ge, (struct value[]){ix[i], size}, 2, &s);
        struct value out = elementwise(e, OP_lor, (struct value[]){low, high}, 2, &s);
        none = i ? elementwise(e, OP_lor, (struct value[]){none, is_none}, 2, &s) : is_none;
        bad = i ? elementwise(e, OP_lor, (struct value[]){bad, out}, 2, &s) : out;
        if (i) {
            flat = elementwise(e, OP_mul, (struct value[]){flat, size}, 2, &s);
            flat = elementwise(e, OP_add, (struct value[]){flat, ix[i]}, 2, &s);
            merged.dim[0] = dim_mul(&e->g->dims, merged.dim[0], t.dim[i]);
        }
    }
    if (k > 1) {
        /* -2 is no index: it raises the failure word as the part outside of its axis would */
        flat = elementwise(e, OP_where, (struct value[]){bad, num_value(-2, true), flat}, 3, &s);
        *index = elementwise(e, OP_where, (struct value[]){none, minus, flat}, 3, &s);
        merged.rank = t.rank - (int)k + 1;
        memmove(merged.dim + 1, t.dim + k, (size_t)(t.rank - (int)k) * sizeof *t.dim);
        build_at(e, at);
        *table = build_reshape(&e->b, x.node, merged.rank, merged.dim);
    }
    return *table && index->kind == V_TENSOR;
}
/* x[i, .., rest]: k index tensors on the first axes. */
static struct value gather_first(struct elab *e, struct value v, const struct value *ix, uint32_t k,
                                 struct span at)
{
    val table;
    struct value index;
    if (!merge_index(e, v, ix, k, at, &table, &index)) {
        return poison();
    }
    build_at(e, at);
    val r = build_2(&e->b, OP_gather, table, index.node);
    if (!r) {
        note_origin(e);
        return poison();
    }
    int n = tensor_type(e, index).rank;
    return tensor_value(r, (v.unit >> k << n) | (ix[0].unit & ((1u << n) - 1)));
}
/* Axes of the value that the items before the tensors leave, with the fill of `..` known. */
static int axes_before(const struct item *item, uint32_t first, int fill)
{
    int n = 0;
    for (uint32_t i = 0; i < first; i++) {
        n += item[i].kind == ITEM_REST ? fill : item[i].kind == ITEM_SLICE || item[i].kind == ITEM_NEW;
    }
    return n;
}
/* Tensors behind other items: the static part first, then their axes go to the front and those of the result
 * back to where they were. */
static struct value gather_inner(struct elab *e, struct value v, const struct item *item, uint32_t n,
                                 uint32_t first, uint32_t k, const struct value *ix, struct span at)
{
    struct item whole[MAX_ITEMS];
    int perm[LIMIT_RANK], m = 0,
                          q = axes_before(item, first, tensor_type(e, v).rank - (int)axes_taken(item, n));
    for (uint32_t i = 0; i < n; i++) {
        whole[i] =
            item[i].kind == ITEM_TENSOR ? (struct item){.kind = ITEM_SLICE, .span = item[i].span} : item[i];
    }
    struct value y = index_static(e, v, whole, n, at);
    if (y.kind != V_TENSOR) {
        return y;
    }
    int rank = tensor_type(e, y).rank, kk = (int)k;
    for (int i = 0; i < rank; i++) {
        perm[i] = i < kk ? q + i : i < q + kk ? i - kk : i;
    }
    uint32_t unit = 0;
    for (int i = 0; i < rank; i++) {
        unit |= (y.unit >> perm[i] & 1) << i;
    }
    build_at(e, at);
    struct value r = gather_first(e, tensor_value(build_permute(&e->b, y.node, perm), unit), ix, k, at);
    if (r.kind != V_TENSOR) {
        return r;
    }
    int ri = tensor_type(e, ix[0]).rank, all = tensor_type(e, r).rank;
    for (int i = 0; i < q; i++) {
        perm[m++] = ri + i;
    }
    for (int i = 0; i < ri; i++) {
        perm[m++] = i;
    }
    for (; m < all; m++) {
        perm[m] = m;
    }
    unit = 0;
    for (int i = 0; i < all; i++) {
        unit |= (r.unit >> perm[i] & 1) << i;
    }
    return tensor_value(build_permute(&e->b, r.node, perm), unit);
}
static struct value index_gather(struct elab *e, struct value v, const struct item *item, uint32_t n,
                                 uint32_t first, struct span at)
{
    struct item after[MAX_ITEMS + LIMIT_RANK];
    struct value ix[LIMIT_RANK];
    uint32_t m = 0, k = 0;
    for (uint32_t i = first; i < n; i++) {
        if (item[i].kind == ITEM_TENSOR && i != first + k) {
            fail(e, DIAG_E2050, item[i].span, "index tensors stand next to each other");
            diag_help(e->sink,
                      "permute(x, [..]) brings their axes together; x[i][:, 0] takes one after the other");
            return poison();
        }
        if (item[i].kind == ITEM_TENSOR) {
            ix[k++] = item[i].v;
        }
    }
    if (first > 0) {
        return gather_inner(e, v, item, n, first, k, ix, at);
    }
    struct value g = gather_first(e, v, ix, k, at);
    for (; m < (uint32_t)tensor_type(e, ix[0]).rank; m++) {
        after[m] = (struct item){.kind = ITEM_SLICE, .span = at};
    }
    for (uint32_t i = k; i < n; i++) {
        after[m++] = item[i];
    }
    return n > k && g.kind == V_TENSOR ? index_static(e, g, after, m, at) : g;
}
static struct value index_tensor(struct elab *e, struct value v, const struct item *item, uint32_t n,
                                 struct span at)
{
    uint32_t rank = (uint32_t)tensor_type(e, v).rank, first = 0;
    if (axes_taken(item, n) > rank) {
        fail(e, DIAG_E2050, at, "%u indices for %s", axes_taken(item, n), value_text(e, v));
        diag_help(e->sink, "it has %u ax%ss; `_` makes a new one", rank, rank == 1 ? "i" : "e");
        return poison();
    }
    while (first < n && item[first].kind != ITEM_TENSOR) {
        first++;
    }
    return first < n ? index_gather(e, v, item, n, first, at) : index_static(e, v, item, n, at);
}

/* -- lists, types, records */

int64_t list_place(struct elab *e, struct value list, const struct item *item, uint32_t n, struct span at)
{
    int64_t i, len = list.list->n;
    if (n != 1 || (item[0].kind != ITEM_INT && item[0].kind != ITEM_DIM)) {
        fail(e, DIAG_E2050, at, "a list is indexed by one whole number");
        diag_help(e->sink, "%s",
                  n == 1 && item[0].kind == ITEM_TENSOR
                      ? "one that is known while compiling; `scan (m in list; ..)` walks all of them"
                      : "list[i] is an element, which has indices of its own: list[i][j]");
        return -1;
    }
    if (!want_int(e, item[0].v, item[0].span, "the index of a list", &i)) {
        return -1;
    }
    if (i >= len || i < -len) {
        fail(e, DIAG_E2050, item[0].span, "index %lld is outside of the list, which has %lld", (long long)i,
             (long long)len);
        diag_help(e->sink, len ? "its places are 0 to %lld; -1 is the last" : "it is empty",
                  (long long)len - 1);
        return -1;
    }
    return i < 0 ? i + len : i;
}
static struct value index_list(struct elab *e, struct value v, const struct item *item, uint32_t n,
                               struct span at)
{
    int64_t len = v.list->n;
    if (n == 1 && item[0].kind == ITEM_SLICE && item[0].step.kind == V_MISSING) {
        int64_t from = 0, to = len;
        if ((item[0].from.kind != V_MISSING &&
             !want_int(e, item[0].from, item[0].span, "the bound of a slice", &from)) ||
            (item[0].to.kind != V_MISSING &&
             !want_int(e, item[0].to, item[0].span, "the bound of a slice", &to))) {
            return poison();
        }
        from += from < 0 ? len : 0;
        to += to < 0 ? len : 0;
        if (from < 0 || to > len || from > to) {
            return with_help(
                e, fail(e, DIAG_E2006, at, "the slice leaves the list of %lld", (long long)len),
                "bounds are 0 to the length; without one the slice begins, or ends, where the list does");
        }
        struct value r = list_value(e, (uint32_t)(to - from));
        memcpy(r.list->at, v.list->at + from, (size_t)(to - from) * sizeof *r.list->at);
        return r;
    }
    int64_t i = list_place(e, v, item, n, at);
    return i < 0 ? poison() : v.list->at[i];
}
static struct value index_type(struct elab *e, struct ttype *t, const struct item *item, uint32_t n)
{
    dim d[LIMIT_RANK];
    uint32_t unit = 0;
    for (uint32_t i = 0; i < n && i < LIMIT_RANK; i++) {
        if ((item[i].kind != ITEM_INT && item[i].kind != ITEM_DIM) ||
            !want_dim(e, item[i].v, item[i].span, "an axis of a type", &d[i])) {
            return poison();
        }
        unit |= item[i].literal && item[i].v.num == 1 ? 1u << i : 0;
    }
    t = type_lead(e, t, (int)n, d, unit);
    return t ? (struct value){.kind = V_TYPE, .type = t} : poison();
}
static struct value index_any(struct elab *e, struct value v, const struct item *item, uint32_t n,
                              struct ast *a)
{
    switch ((enum vkind)v.kind) {
    case V_POISON:
        return v;
    case V_TENSOR:
        return index_tensor(e, v, item, n, a->span);
    case V_LIST:
        return index_list(e, v, item, n, a->span);
    case V_TYPE:
        return index_type(e, v.type, item, n);
    case V_RECORD: {
        struct value r = record_value(e, v.record->n);
        for (uint32_t i = 0; i < v.record->n; i++) {
            r.record->name[i] = v.record->name[i];
            r.record->at[i] = index_any(e, v.record->at[i], item, n, a);
        }
        return r;
    }
    default:
        fail(e, DIAG_E2050, a->span, "cannot index %s", value_text(e, v));
        if (v.kind == V_FN) {
            diag_help(e->sink, "a function is called: %s(..)", source_slice(e, a->a->span));
        }
        return poison();
    }
}
struct value index_value(struct elab *e, struct value v, struct ast *a, struct env *env)
{
    struct item item[MAX_ITEMS];
    uint32_t n;
    if (is_poison(v)) {
        return poison();
    }
    if (v.kind == V_BUILTIN && dtype_parse(v.builtin->name)) {
        struct ttype *t = arena_new_of(e->arena, struct ttype);
        t->t.dtype = dtype_parse(v.builtin->name);
        v = (struct value){.kind = V_TYPE, .type = t};
    }
    if (!read_items(e, a, env, item, &n)) {
        return poison();
    }
    struct value r = index_any(e, v, item, n, a);
    return v.kind == V_LIST && walked_elsewhere(e, r, NULL, a->span) ? poison() : r;
}
struct value slice_axis(struct elab *e, struct value v, int axis, dim from, dim size, struct span at)
{
    build_at(e, at);
    return tensor_value(build_part(&e->b, v.node, axis, from, size, 1), v.unit & ~(1u << axis));
}
