/* x[item, ..] = v: the value that x has afterwards. The axes up to the last one that an item restricts become
 * rows of a table, the items one index into it, and `put` writes: so an index tensor of -1 writes nothing, of
 * equal places the last one wins, and one dynamic row of a large state is one small write, which the planner
 * does in place.
 */
#include "compiler/elab.h"

/* One axis of x. */
struct axis {
    bool tensor;
    struct places at; /* else */
};
struct update {
    struct type x;
    struct axis axis[LIMIT_RANK];
    int n;                           /* axes that make the rows */
    struct value tensor[LIMIT_RANK]; /* by axis */
    int first, k;                    /* the axes with index tensors: k of them from `first` on */
    struct type index;               /* type of one */
    dim grid[LIMIT_RANK];            /* axes of the index as a whole, and of v in front of the rest of x */
    int rank;
    int place[LIMIT_RANK]; /* by axis: the first axis of the grid that it makes */
    struct span at;
};

/* -- reading the items */

static bool tensor_axis(struct elab *e, struct update *u, int axis, const struct item *it)
{
    struct type t = tensor_type(e, it->v);
    if (u->k && axis != u->first + u->k) {
        fail(e, DIAG_E2050, it->span, "index tensors stand next to each other");
        return false;
    }
    if (u->k && !type_equal(&t, &u->index)) {
        fail(e, DIAG_E2001, it->span, "indices of one place have equal shapes, found %s and %s",
             value_text(e, u->tensor[u->first]), value_text(e, it->v));
        diag_help(e->sink, "expand(i, shape(j)) repeats an index");
        return false;
    }
    u->first = u->k ? u->first : axis;
    u->k++;
    u->index = t;
    u->tensor[axis] = it->v;
    u->axis[axis].tensor = true;
    return true;
}
static bool read_axis(struct elab *e, struct update *u, int axis, const struct item *it)
{
    if (it->kind == ITEM_TENSOR ? !tensor_axis(e, u, axis, it)
                                : !item_places(e, it, u->x.dim[axis], &u->axis[axis].at)) {
        return false;
    }
    u->n = it->kind == ITEM_TENSOR || !u->axis[axis].at.whole ? axis + 1 : u->n;
    return true;
}
static bool read_update(struct elab *e, struct update *u, const struct item *item, uint32_t n)
{
    struct item whole = {.kind = ITEM_SLICE, .span = u->at};
    int taken = 0, axis = 0;
    bool rest = false;
    for (uint32_t i = 0; i < n; i++) {
        if (item[i].kind == ITEM_NEW) {
            fail(e, DIAG_E2050, item[i].span, "`_` makes an axis; there is none to write to");
            return false;
        }
        taken += item[i].kind != ITEM_REST;
    }
    if (taken > u->x.rank) {
        fail(e, DIAG_E2050, u->at, "%d indices for %s", taken, type_text(e->g, &u->x));
        diag_help(e->sink, "it has %d ax%ss", u->x.rank, u->x.rank == 1 ? "i" : "e");
        return false;
    }
    for (uint32_t i = 0; i <= n; i++) {
        bool fill = i < n ? item[i].kind == ITEM_REST : !rest;
        for (int left = u->x.rank - taken; fill && left > 0; left--) {
            if (!read_axis(e, u, axis++, &whole)) {
                return false;
            }
        }
        rest |= fill;
        if (i < n && !fill && !read_axis(e, u, axis++, &item[i])) {
            return false;
        }
    }
    return true;
}
/* The type that v has. */
static bool read_grid(struct elab *e, struct update *u, struct type *v)
{
    *v = (struct type){.dtype = u->x.dtype};
    for (int a = 0; a < u->x.rank; a++) {
        const struct axis *x = &u->axis[a];
        int more = x->tensor ? (a == u->first ? u->index.rank : 0) : !x->at.point;
        if (v->rank + more > LIMIT_RANK) {
            fail(e, DIAG_E2003, u->at, "more than %d axes", LIMIT_RANK);
            return false;
        }
        u->place[a] = x->tensor ? u->place[u->first] : v->rank;
        u->place[a] = x->tensor && a == u->first ? v->rank : u->place[a];
        for (int i = 0; i < more; i++) {
            v->dim[v->rank + i] = x->tensor ? u->index.dim[i] : x->at.n;
        }
        v->rank += more;
        u->rank = a < u->n ? v->rank : u->rank;
    }
    memcpy(u->grid, v->dim, sizeof u->grid);
    return true;
}

/* -- the index */

/* i32 of shape s as part of the grid, with unit axes elsewhere. */
static struct value on_grid(struct elab *e, const struct update *u, val v, int from, int rank)
{
    dim shape[LIMIT_RANK];
    uint32_t unit = 0;
    for (int i = 0; i < u->rank; i++) {
        bool own = i >= from && i < from + rank;
        shape[i] = own ? u->grid[i] : dim_const(&e->g->dims, 1);
        unit |= own ? 0 : 1u << i;
    }
    build_at(e, u->at);
    return tensor_value(build_reshape(&e->b, v, u->rank, shape), unit);
}
static struct value axis_index(struct elab *e, const struct update *u, int a)
{
    const struct axis *x = &u->axis[a];
    struct site s = {.at = u->at};
    if (x->tensor) {
        return on_grid(e, u, u->tensor[a].node, u->place[a], u->index.rank);
    }
    if (x->at.point) {
        return dim_value(e, x->at.from);
    }
    build_at(e, u->at);
    struct value i = on_grid(e, u, build_iota(&e->b, x->at.n), u->place[a], 1);
    i = x->at.step == 1
            ? i
            : elementwise(e, OP_mul, (struct value[]){i, num_value((double)x->at.step, true)}, 2, &s);
    return elementwise(e, OP_add, (struct value[]){i, dim_value(e, x->at.from)}, 2, &s);
}
/* An index tensor is checked where several axes become one: beyond its own axis it would name another row.
 * -1 writes nothing; -2 raises the failure word as a place outside would. */
static struct value marked(struct elab *e, const struct update *u, struct value flat)
{
    struct site s = {.at = u->at};
    struct value minus = num_value(-1, true);
    for (int a = u->first; u->n > 1 && a < u->first + u->k; a++) {
        struct value i = axis_index(e, u, a), size = dim_value(e, u->x.dim[a]);
        struct value low = elementwise(e, OP_lt, (struct value[]){i, minus}, 2, &s);
        struct value high = elementwise(e, OP_ge, (struct value[]){i, size}, 2, &s);
        struct value bad = elementwise(e, OP_lor, (struct value[]){low, high}, 2, &s);
        struct value none = elementwise(e, OP_eq, (struct value[]){i, minus}, 2, &s);
        flat = elementwise(e, OP_where, (struct value[]){none, minus, flat}, 3, &s);
        flat = elementwise(e, OP_where, (struct value[]){bad, num_value(-2, true), flat}, 3, &s);
    }
    return flat;
}
static val flat_index(struct elab *e, const struct update *u)
{
    struct site s = {.at = u->at};
    struct value flat = axis_index(e, u, 0);
    for (int a = 1; a < u->n; a++) {
        struct value size = dim_value(e, u->x.dim[a]), i = axis_index(e, u, a);
        flat = elementwise(e, OP_mul, (struct value[]){flat, size}, 2, &s);
        flat = elementwise(e, OP_add, (struct value[]){flat, i}, 2, &s);
    }
    flat = marked(e, u, flat);
    if (is_poison(flat)) {
        return 0;
    }
    build_at(e, u->at);
    val n = is_number(flat) ? emit_number(e, flat, DT_I32) : flat.node;
    return build_expand(&e->b, n, u->rank, u->grid);
}

/* -- writing */

static struct value put_tensor(struct elab *e, struct value x, const struct item *item, uint32_t n,
                               struct value v, struct span at, struct span value_at)
{
    struct update u = {.x = tensor_type(e, x), .at = at};
    struct ttype t = {.kind = T_TENSOR};
    if (!read_update(e, &u, item, n) || !read_grid(e, &u, &t.t)) {
        return poison();
    }
    v = fill_type(e, &t, v, value_at, arena_printf(e->arena, "the new value of `%s`", source_slice(e, at)));
    if (v.kind != V_TENSOR || !u.n) {
        return v.kind == V_TENSOR ? tensor_value(v.node, x.unit) : poison();
    }
    val index = flat_index(e, &u);
    struct type table = {.dtype = u.x.dtype, .rank = 1, .dim = {dim_const(&e->g->dims, 1)}};
    for (int a = 0; a < u.x.rank; a++) {
        if (a < u.n) {
            table.dim[0] = dim_mul(&e->g->dims, table.dim[0], u.x.dim[a]);
        } else {
            table.dim[table.rank++] = u.x.dim[a];
        }
    }
    build_at(e, at);
    val rows = build_reshape(&e->b, x.node, table.rank, table.dim);
    val r = rows && index ? build_3(&e->b, OP_put, rows, index, v.node) : 0;
    if (!r) {
        note_origin(e);
        return poison();
    }
    return tensor_value(build_reshape(&e->b, r, u.x.rank, u.x.dim), x.unit);
}
static struct value put_list(struct elab *e, struct value x, const struct item *item, uint32_t n,
                             struct value v, struct span at)
{
    int64_t i = list_place(e, x, item, n, at);
    if (i < 0) {
        return poison();
    }
    struct value r = list_value(e, x.list->n);
    memcpy(r.list->at, x.list->at, x.list->n * sizeof *r.list->at);
    r.list->at[i] = v;
    return count_parts(e, r, at);
}
struct value put_items(struct elab *e, struct value x, const struct item *item, uint32_t n, struct value v,
                       struct span at, struct span value_at)
{
    if (is_poison(x) || is_poison(v)) {
        return poison();
    }
    if (x.kind == V_LIST) {
        return put_list(e, x, item, n, v, at);
    }
    if (x.kind == V_TENSOR) {
        return put_tensor(e, x, item, n, v, at, value_at);
    }
    if (x.kind != V_RECORD) {
        fail(e, DIAG_E2050, at, "cannot write a part of %s", value_text(e, x));
        if (is_scalar_static(x)) {
            diag_help(e->sink, "a tensor has parts: let x = zeros([4])");
        }
        return poison();
    }
    if (!is_scalar(e, v) && !(v.kind == V_RECORD && same_branch(x, v))) {
        return fail(e, DIAG_E2030, value_at,
                    "the new value of `%s` must be a record like it or a scalar, found %s",
                    source_slice(e, at), value_text(e, v));
    }
    struct value r = branch_like(e, x);
    for (uint32_t i = 0; i < x.record->n; i++) {
        r.record->at[i] =
            put_items(e, x.record->at[i], item, n, v.kind == V_RECORD ? v.record->at[i] : v, at, value_at);
    }
    return is_poison(r) ? poison() : r;
}
