/* Builtins over axes: reductions and what works on the last axis (softmax, argmax, xent, ...). */
#include <math.h>
#include "compiler/elab.h"

/* -- axes */

/* Ascending; -1 for all of them. */
static bool read_axes(struct elab *e, struct value v, struct span at, int rank, int *axes, int *n)
{
    uint32_t mask = 0;
    *n = -1;
    if (!is_given(v)) {
        return true;
    }
    uint32_t count = v.kind == V_LIST ? v.list->n : 1;
    for (uint32_t i = 0; i < count; i++) {
        int a;
        if (!want_axis(e, v.kind == V_LIST ? v.list->at[i] : v, at, rank, &a)) {
            return false;
        }
        if (mask >> a & 1) {
            fail(e, DIAG_E2005, at, "axis %d is named twice", a);
            diag_help(e->sink, "negative axes count from the last, -1: here -%d is %d", rank - a, a);
            return false;
        }
        mask |= 1u << a;
    }
    *n = 0;
    for (int i = 0; i < rank; i++) {
        if (mask >> i & 1) {
            axes[(*n)++] = i;
        }
    }
    return true;
}
static uint32_t unit_after(uint32_t unit, int rank, const int *axes, int n, bool keep)
{
    uint32_t gone = n < 0 ? ~0u : 0, r = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        gone |= 1u << axes[i];
    }
    for (int i = 0; i < rank; i++) {
        bool g = gone >> i & 1;
        if (g && !keep) {
            continue;
        }
        r |= g || (unit >> i & 1) ? 1u << k : 0;
        k++;
    }
    return r;
}

/* -- reductions */

static struct value counted(struct elab *e, struct value x, enum op op)
{
    if (x.kind == V_TENSOR && tensor_type(e, x).dtype == DT_BOOL && (op == OP_sum || op == OP_mean)) {
        return tensor_value(build_cast(&e->b, x.node, op == OP_mean ? DT_F32 : DT_I32), x.unit);
    }
    return x;
}
static struct value reduce_plain(struct elab *e, enum op op, struct value x, struct bcall *c,
                                 struct value axis, bool keep)
{
    struct type t = tensor_type(e, x);
    int axes[LIMIT_RANK], n;
    if (!read_axes(e, axis, c->span[1], t.rank, axes, &n)) {
        return poison();
    }
    build_at(e, c->span_at);
    x = counted(e, x, op);
    val r = build_reduce(&e->b, op, x.node, axes, n, keep);
    if (!r) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], x);
    }
    return tensor_value(r, unit_after(x.unit, t.rank, axes, n, keep));
}
/* What an element that does not count is replaced by. */
static struct value neutral(enum op op, enum dtype t)
{
    switch (op) {
    case OP_prod:
        return num_value(1, true);
    case OP_all:
    case OP_any:
        return bool_value(op == OP_all);
    case OP_amax:
        return t == DT_I32 ? num_value(INT32_MIN, true) : num_value(-(double)INFINITY, false);
    case OP_amin:
        return t == DT_I32 ? num_value(INT32_MAX, true) : num_value(INFINITY, false);
    default:
        return num_value(0, true);
    }
}
/* How many elements of a value like `kept` the mask holds for, in the type of `kept`; of bools in i32. */
static struct value count_where(struct elab *e, struct value mask, struct value kept, struct bcall *c,
                                struct value axis, bool keep)
{
    struct type t = tensor_type(e, kept);
    val ones = build_cast(&e->b, mask.node, t.dtype == DT_BOOL ? DT_I32 : t.dtype);
    struct value every = tensor_value(build_expand(&e->b, ones, t.rank, t.dim), kept.unit);
    return every.kind == V_TENSOR ? reduce_plain(e, OP_sum, every, c, axis, keep) : poison();
}
/* A mask known at compile time as a tensor, so that there is one kind of mask. */
static struct value mask_value(struct elab *e, struct bcall *c, struct value mask)
{
    build_at(e, c->span_at);
    return mask.kind == V_BOOL ? tensor_value(emit_static(e, mask), 0) : mask;
}
/* Where the operands of where(mask, x, other) stand, for a mask that is argument i. */
static struct site mask_site(struct bcall *c, int i)
{
    struct site s = builtin_site(c);
    s.operand[0] = c->ast[i];
    s.operand[1] = c->ast[0];
    s.operand[2] = NULL;
    return s;
}
/* What of nothing is 0, but would be the identity of the operator. */
static bool needs_some(enum op op)
{
    return op == OP_amax || op == OP_amin || op == OP_all;
}
static struct value nothing(enum op op)
{
    return op == OP_all ? bool_value(false) : num_value(0, true);
}
/* A reduction over the elements where the mask holds. Of nothing it is 0 (all: false), and a product 1. */
static struct value reduce_where(struct elab *e, enum op op, struct value x, struct value mask,
                                 struct bcall *c, struct value axis, bool keep)
{
    struct site s = mask_site(c, 3);
    x = counted(e, x, op);
    enum dtype t = tensor_type(e, x).dtype;
    if (op == OP_mean && !dtype_is_float(t)) {
        return reduce_plain(e, op, x, c, axis, keep); /* refuses it */
    }
    struct value kept = elementwise(e, OP_where, (struct value[]){mask, x, neutral(op, t)}, 3, &s);
    if (kept.kind != V_TENSOR) {
        return poison();
    }
    struct value total = reduce_plain(e, op == OP_mean ? OP_sum : op, kept, c, axis, keep);
    if (total.kind != V_TENSOR || (op != OP_mean && !needs_some(op))) {
        return total;
    }
    struct value n = count_where(e, mask, kept, c, axis, keep);
    if (op == OP_mean) {
        n = elementwise(e, OP_max, (struct value[]){n, num_value(1, true)}, 2, &s);
        return elementwise(e, OP_div, (struct value[]){total, n}, 2, &s);
    }
    struct value some = elementwise(e, OP_gt, (struct value[]){n, num_value(0, true)}, 2, &s);
    return elementwise(e, OP_where, (struct value[]){some, total, nothing(op)}, 3, &s);
}
static struct value reduce_leaves(struct elab *e, enum op op, struct value x, struct bcall *c, bool keep,
                                  struct value mask);
/* One scalar over all elements of a tree, or of a number for each of its leaves. */
static struct value reduce_tree(struct elab *e, enum op op, struct value x, struct bcall *c, bool keep,
                                struct value mask)
{
    struct site s = mask_site(c, 3);
    if (keep) {
        fail(e, DIAG_E2021, c->span_at, "`%s` over a tree keeps no axes: its leaves have different ones",
             c->b->name);
        diag_help(e->sink, "each(f, tree) applies a fn to every leaf");
        return poison();
    }
    if (!is_given(mask) || op == OP_mean) {
        return tree_reduce(e, op, x, &s);
    }
    bool truth = x.kind == V_TAGS ? x.is_bool : node_type(e->g, x.node).dtype == DT_BOOL;
    struct value other = truth && op == OP_sum ? bool_value(false) : neutral(op, DT_F32);
    struct value kept = elementwise(e, OP_where, (struct value[]){mask, x, other}, 3, &s);
    struct value total = is_poison(kept) ? kept : tree_reduce(e, op, kept, &s);
    if (is_poison(total) || !needs_some(op)) {
        return total;
    }
    struct value some = mask.kind == V_TENSOR ? mask : tree_reduce(e, OP_any, mask, &s);
    return elementwise(e, OP_where, (struct value[]){some, total, nothing(op)}, 3, &s);
}
static enum op combining(enum op op)
{
    switch (op) {
    case OP_amax:
        return OP_max;
    case OP_amin:
        return OP_min;
    case OP_all:
        return OP_land;
    case OP_any:
        return OP_lor;
    case OP_prod:
        return OP_mul;
    default:
        return OP_add;
    }
}
static struct value reduce_one(struct elab *e, enum op op, struct value x, struct bcall *c, struct value axis,
                               bool keep, struct value mask)
{
    int none;
    mask = mask_value(e, c, mask);
    if (x.kind == V_TAGS && axis.kind != V_MISSING && !want_axis(e, axis, c->span[1], 0, &none)) {
        return poison(); /* a number for each leaf has no axes */
    }
    if (x.kind == V_TAGS || (x.kind == V_TREE && axis.kind == V_MISSING)) {
        return reduce_tree(e, op, x, c, keep, mask);
    }
    if (x.kind == V_TREE) {
        x = tree_record(e, x, c->span_at);
        if (is_poison(x)) {
            return x;
        }
    }
    if (is_branch(x)) {
        if (axis.kind == V_MISSING) {
            return reduce_leaves(e, op, x, c, keep, mask);
        }
        struct value r = branch_like(e, x);
        for (uint32_t i = 0; i < branch_count(x); i++) {
            *branch_at(r, i) = reduce_one(e, op, *branch_at(x, i), c, axis, keep, mask);
        }
        return r;
    }
    val node =
        want_tensor(e, x, c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name), NULL);
    if (!node) {
        return poison();
    }
    x = tensor_value(node, x.kind == V_TENSOR ? x.unit : 0);
    return is_given(mask) ? reduce_where(e, op, x, mask, c, axis, keep)
                          : reduce_plain(e, op, x, c, axis, keep);
}
/* Leaves of different float types, as parameters may be: their numbers meet in f64 where one is, else in f32.
 */
static void widen(struct elab *e, struct value *a, struct value *b)
{
    if (a->kind != V_TENSOR || b->kind != V_TENSOR) {
        return;
    }
    enum dtype x = tensor_type(e, *a).dtype, y = tensor_type(e, *b).dtype;
    if (x != y && dtype_is_float(x) && dtype_is_float(y)) {
        enum dtype wide = x == DT_F64 || y == DT_F64 ? DT_F64 : DT_F32;
        *a = scalar_as(e, *a, wide);
        *b = scalar_as(e, *b, wide);
    }
}
/* One scalar over all elements of all leaves. */
static struct value reduce_leaves(struct elab *e, enum op op, struct value x, struct bcall *c, bool keep,
                                  struct value mask)
{
    struct value total = {.kind = V_MISSING}, none = {.kind = V_MISSING};
    struct site s = builtin_site(c);
    s.operand[0] = s.operand[1] = NULL;
    if (op == OP_mean || keep) {
        fail(e, DIAG_E2021, c->span_at,
             op == OP_mean ? "`%s` over a record: of the leaves, or of the elements?"
                           : "`%s` over a record keeps no axes: its leaves have different ones",
             c->b->name);
        diag_help(e->sink, "axis = .. makes it leaf by leaf; sum(x) runs over every element of every leaf");
        return poison();
    }
    for (uint32_t i = 0; i < branch_count(x); i++) {
        struct value leaf = reduce_one(e, op, *branch_at(x, i), c, none, false, mask);
        widen(e, &total, &leaf);
        total = i ? elementwise(e, combining(op), (struct value[]){total, leaf}, 2, &s) : leaf;
    }
    return branch_count(x) ? total : fail(e, DIAG_E2021, c->span_at, "`%s` of an empty record", c->b->name);
}
/* Arguments: x, axis, keep, where. */
struct value reduce_op(struct elab *e, struct bcall *c)
{
    bool keep = false;
    if (is_poison(c->arg[0]) ||
        (c->arg[2].kind != V_MISSING && !want_bool(e, c->arg[2], c->span[2], "`keep`", &keep))) {
        return poison();
    }
    struct value x = params_of(e, c->arg[0], c->span[0]);
    return is_poison(x) ? poison() : reduce_one(e, c->b->op, x, c, c->arg[1], keep, c->arg[3]);
}
/* max and min: two positional arguments are elementwise, one is reduced. Arguments: x, y, axis, keep, where.
 */
static struct value max_or_min(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    bool is_max = c->b->op == OP_amax;
    if (c->arg[1].kind != V_MISSING) {
        for (int i = 2; i < 5; i++) {
            if (c->arg[i].kind != V_MISSING) {
                fail(e, DIAG_E1005, c->span[i], "`%s` of two values takes no further argument", c->b->name);
                diag_help(e->sink,
                          "with two values it is elementwise; one value is reduced, %s(x, axis = ..)",
                          c->b->name);
                return poison();
            }
        }
        return elementwise(e, is_max ? OP_max : OP_min, c->arg, 2, &s);
    }
    struct bcall r = *c;
    for (int i = 1; i < 4; i++) {
        r.arg[i] = c->arg[i + 1];
        r.span[i] = c->span[i + 1];
        r.ast[i] = c->ast[i + 1];
    }
    return reduce_op(e, &r);
}
/* The elements behind each result of a reduction over `axis`, as a number; poison after an error. */
static struct value count_along(struct elab *e, struct bcall *c, const struct type *t)
{
    int axes[LIMIT_RANK], n;
    struct value count = num_value(1, true);
    if (!read_axes(e, c->arg[1], c->span[1], t->rank, axes, &n)) {
        return poison();
    }
    for (int i = 0; i < (n < 0 ? t->rank : n); i++) {
        struct value size = dim_value(e, t->dim[n < 0 ? i : axes[i]]);
        count = fold_op(e, OP_mul, (struct value[]){count, size}, 2, c->span_at);
    }
    return tensor_value(emit_number(e, count, t->dtype), 0);
}
/* Arguments: x, axis, keep, ddof, where. std is the root of var. */
static struct value variance(struct elab *e, struct bcall *c)
{
    struct bcall r = *c;
    struct site s = builtin_site(c);
    struct builtin mean = {c->b->name, reduce_op, "", OP_mean};
    int64_t ddof = 0;
    bool keep = false, masked = is_given(c->arg[4]);
    if (c->arg[3].kind != V_MISSING && !want_int(e, c->arg[3], c->span[3], "`ddof`", &ddof)) {
        return poison();
    }
    r.b = &mean;
    r.arg[3] = c->arg[4];
    r.span[3] = c->span[4];
    r.ast[3] = c->ast[4];
    r.arg[2] = bool_value(true);
    struct value m = reduce_op(e, &r);
    struct value d = elementwise(e, OP_sub, (struct value[]){c->arg[0], m}, 2, &s);
    r.arg[0] = elementwise(e, OP_mul, (struct value[]){d, d}, 2, &s);
    r.arg[2] = c->arg[2];
    struct value v = reduce_op(e, &r);
    if (v.kind != V_TENSOR) {
        return poison();
    }
    if (ddof) {
        struct type t = tensor_type(e, r.arg[0]);
        if (c->arg[2].kind != V_MISSING && !want_bool(e, c->arg[2], c->span[2], "`keep`", &keep)) {
            return poison();
        }
        struct value all = masked ? count_where(e, mask_value(e, c, c->arg[4]), r.arg[0], c, c->arg[1], keep)
                                  : count_along(e, c, &t);
        struct value less =
            elementwise(e, OP_sub, (struct value[]){all, num_value((double)ddof, true)}, 2, &s);
        if (masked) { /* one element alone has variance 0, like none */
            less = elementwise(e, OP_max, (struct value[]){less, num_value(1, true)}, 2, &s);
        }
        struct value scale = elementwise(e, OP_div, (struct value[]){all, less}, 2, &s);
        v = elementwise(e, OP_mul, (struct value[]){v, scale}, 2, &s);
    }
    return strcmp(c->b->name, "std") ? v : elementwise(e, OP_sqrt, &v, 1, &s);
}

/* -- the last axis */

struct value move_last(struct elab *e, struct bcall *c, struct value axis, int *back, int *which)
{
    struct type t;
    int perm[LIMIT_RANK], k = 0;
    val x =
        want_tensor(e, c->arg[0], c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name), &t);
    if (!x) {
        return poison();
    }
    if (!t.rank) {
        fail(e, DIAG_E2003, c->span[0], "`%s` needs an axis, found a scalar", c->b->name);
        diag_help(e->sink, "it works along one axis of a tensor, the last unless `axis = ..` says which");
        return poison();
    }
    *which = t.rank - 1;
    if (axis.kind != V_MISSING && !want_axis(e, axis, c->span[1], t.rank, which)) {
        return poison();
    }
    for (int i = 0; i < t.rank; i++) {
        if (i != *which) {
            perm[k++] = i;
        }
    }
    perm[k] = *which;
    for (int i = 0; i < t.rank; i++) {
        back[perm[i]] = i;
    }
    build_at(e, c->span_at);
    return tensor_value(build_permute(&e->b, x, perm), 0);
}
/* Puts -inf where the mask (argument `i`, if given) does not hold. */
static bool mask_logits(struct elab *e, struct bcall *c, int i, bool *masked)
{
    struct site s = mask_site(c, i);
    *masked = is_given(c->arg[i]);
    if (*masked) {
        c->arg[i] = mask_value(e, c, c->arg[i]);
        c->arg[0] = elementwise(
            e, OP_where, (struct value[]){c->arg[i], c->arg[0], num_value(-(double)INFINITY, false)}, 3, &s);
    }
    return !is_poison(c->arg[0]);
}
static struct value run_softmax(struct elab *e, struct bcall *given)
{
    int back[LIMIT_RANK], axis;
    bool masked;
    struct bcall c = *given;
    if (!mask_logits(e, &c, 2, &masked)) {
        return poison();
    }
    struct value x = move_last(e, &c, c.arg[1], back, &axis);
    if (x.kind != V_TENSOR) {
        return poison();
    }
    val r = build_permute(&e->b, build_1(&e->b, OP_softmax, x.node), back);
    if (!r) {
        note_origin(e);
        label_operand(e, c.env, c.ast[0], c.arg[0]);
        diag_help(e->sink, "f32(x) makes floats");
    }
    return tensor_value(r, c.arg[0].unit & ~(1u << axis));
}
/* A row operator that takes the axis away. */
static struct value row_result(struct elab *e, struct bcall *c, enum op op, struct value last, int axis)
{
    int rank = tensor_type(e, last).rank;
    val r = build_1(&e->b, op, last.node);
    if (!r) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], c->arg[0]);
    }
    return tensor_value(r, unit_after(c->arg[0].unit, rank, &axis, 1, false));
}
static struct value run_argmax(struct elab *e, struct bcall *c)
{
    int back[LIMIT_RANK], axis;
    struct value x = move_last(e, c, c->arg[1], back, &axis);
    return x.kind == V_TENSOR ? row_result(e, c, OP_argmax, x, axis) : poison();
}
/* The place of the largest element of -x; for whole numbers of -1 - x, which never overflows. */
static struct value run_argmin(struct elab *e, struct bcall *c)
{
    struct bcall r = *c;
    struct site s = builtin_site(c);
    bool whole = c->arg[0].kind == V_TENSOR && tensor_type(e, c->arg[0]).dtype == DT_I32;
    r.arg[0] = whole ? elementwise(e, OP_sub, (struct value[]){num_value(-1, true), c->arg[0]}, 2, &s)
                     : elementwise(e, OP_neg, c->arg, 1, &s);
    return is_poison(r.arg[0]) ? poison() : run_argmax(e, &r);
}
/* x minus the largest of its row, so that what log_softmax takes off is small beside 1 and not beside x: sums
 * of large logits would lose the digits. Rows without a finite number stay. */
static struct value from_top(struct elab *e, struct value x, int axis, const struct site *s)
{
    build_at(e, s->at);
    val most = build_reduce(&e->b, OP_amax, x.node, &axis, 1, true);
    struct value top = tensor_value(build_1(&e->b, OP_stop_grad, most), x.unit | 1u << axis);
    struct value finite = elementwise(e, OP_isfinite, &top, 1, s);
    top = elementwise(e, OP_where, (struct value[]){finite, top, num_value(0, true)}, 3, s);
    return elementwise(e, OP_sub, (struct value[]){x, top}, 2, s);
}
/* x, and 0 where a mask left nothing of the row whose logsumexp is `total`. */
static struct value without_nothing(struct elab *e, struct value total, struct value x, struct site *s)
{
    struct value none = num_value(-(double)INFINITY, false);
    none = elementwise(e, OP_eq, (struct value[]){total, none}, 2, s);
    return elementwise(e, OP_where, (struct value[]){none, num_value(0, true), x}, 3, s);
}
/* log_softmax(x) = x - logsumexp(x); where a mask leaves nothing of a row, both are 0. */
static struct value run_logsumexp(struct elab *e, struct bcall *given)
{
    int back[LIMIT_RANK], axis;
    bool masked;
    struct bcall c = *given;
    struct site s = builtin_site(&c);
    if (!mask_logits(e, &c, 2, &masked)) {
        return poison();
    }
    bool sums = !strcmp(c.b->name, "logsumexp");
    struct value x = move_last(e, &c, c.arg[1], back, &axis);
    if (x.kind == V_TENSOR && !sums && dtype_is_float(tensor_type(e, x).dtype) && c.arg[0].kind == V_TENSOR) {
        c.arg[0] = from_top(e, c.arg[0], axis, &s);
        x = move_last(e, &c, c.arg[1], back, &axis);
    }
    struct value total = x.kind == V_TENSOR ? row_result(e, &c, OP_logsumexp, x, axis) : poison();
    if (total.kind != V_TENSOR || sums) {
        return masked && total.kind == V_TENSOR ? without_nothing(e, total, total, &s) : total;
    }
    struct type t = tensor_type(e, c.arg[0]);
    t.dim[axis] = dim_const(&e->g->dims, 1);
    total = tensor_value(build_reshape(&e->b, total.node, t.rank, t.dim), c.arg[0].unit | 1u << axis);
    struct value r = elementwise(e, OP_sub, (struct value[]){c.arg[0], total}, 2, &s);
    return masked ? without_nothing(e, total, r, &s) : r;
}
static struct value run_xent(struct elab *e, struct bcall *c)
{
    struct type z, y;
    val zn = want_tensor(e, c->arg[0], c->span[0], "the logits of `xent`", &z);
    val yn = want_tensor(e, c->arg[1], c->span[1], "the labels of `xent`", &y);
    if (!zn || !yn) {
        return poison();
    }
    build_at(e, c->span_at);
    val r = build_2(&e->b, OP_xent, zn, yn);
    if (!r) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], c->arg[0]);
        label_operand(e, c->env, c->ast[1], c->arg[1]);
        if (dtype_is_float(y.dtype)) {
            diag_help(e->sink, "labels are whole numbers: declare them i32, or argmax one-hot targets");
        }
    }
    return tensor_value(r, c->arg[1].unit);
}

const struct builtin row_builtins[] = {
    {"sum", reduce_op, "x axis? keep? where?", OP_sum},
    {"mean", reduce_op, "x axis? keep? where?", OP_mean},
    {"prod", reduce_op, "x axis? keep? where?", OP_prod},
    {"all", reduce_op, "x axis? keep? where?", OP_all},
    {"any", reduce_op, "x axis? keep? where?", OP_any},
    {"max", max_or_min, "x y? axis? keep? where?", OP_amax},
    {"min", max_or_min, "x y? axis? keep? where?", OP_amin},
    {"var", variance, "x axis? keep? ddof? where?", OP_mean},
    {"std", variance, "x axis? keep? ddof? where?", OP_mean},
    {"softmax", run_softmax, "x axis? mask?", OP_softmax},
    {"log_softmax", run_logsumexp, "x axis? mask?", OP_logsumexp},
    {"logsumexp", run_logsumexp, "x axis? mask?", OP_logsumexp},
    {"argmax", run_argmax, "x axis?", OP_argmax},
    {"argmin", run_argmin, "x axis?", OP_argmax},
    {"xent", run_xent, "z y", OP_xent},
    {0},
};
