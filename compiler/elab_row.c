/* Builtins over axes: reductions and what works on the last axis (softmax, argmax, xent, ...). */
#include "compiler/elab.h"

/* -- axes */

static bool read_axis(struct elab *e, struct value v, struct span at, int rank, int *axis)
{
    int64_t a;
    if (!want_int(e, v, at, "the axis", &a)) {
        return false;
    }
    if (a >= rank || a < -rank) {
        fail(e, DIAG_E2005, at, "axis %lld of a tensor with %d ax%ss", (long long)a, rank,
             rank == 1 ? "i" : "e");
        return false;
    }
    *axis = (int)(a < 0 ? a + rank : a);
    return true;
}
/* Ascending; -1 for all of them. */
static bool read_axes(struct elab *e, struct value v, struct span at, int rank, int *axes, int *n)
{
    uint32_t mask = 0;
    *n = -1;
    if (v.kind == V_MISSING || v.kind == V_NONE) {
        return true;
    }
    uint32_t count = v.kind == V_LIST ? v.list->n : 1;
    for (uint32_t i = 0; i < count; i++) {
        int a;
        if (!read_axis(e, v.kind == V_LIST ? v.list->at[i] : v, at, rank, &a)) {
            return false;
        }
        if (mask >> a & 1) {
            fail(e, DIAG_E2005, at, "axis %d is named twice", a);
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
/* sum and mean over the elements where the mask holds; the mean of nothing is 0. */
static struct value reduce_where(struct elab *e, enum op op, struct value x, struct value mask,
                                 struct bcall *c, struct value axis, bool keep)
{
    struct site s = builtin_site(c);
    if (op != OP_sum && op != OP_mean) {
        return refuse(e, c->span_at, arena_printf(e->arena, "`where =` in `%s`", c->b->name));
    }
    struct value zero = num_value(0, true);
    struct value kept = elementwise(e, OP_where, (struct value[]){mask, counted(e, x, op), zero}, 3, &s);
    if (kept.kind != V_TENSOR) {
        return poison();
    }
    struct value total = reduce_plain(e, OP_sum, kept, c, axis, keep);
    if (op == OP_sum || total.kind != V_TENSOR) {
        return total;
    }
    struct type t = tensor_type(e, kept);
    val ones = build_cast(&e->b, mask.node, t.dtype);
    struct value every = tensor_value(build_expand(&e->b, ones, t.rank, t.dim), kept.unit);
    struct value n = every.kind == V_TENSOR ? reduce_plain(e, OP_sum, every, c, axis, keep) : poison();
    n = elementwise(e, OP_max, (struct value[]){n, num_value(1, true)}, 2, &s);
    return elementwise(e, OP_div, (struct value[]){total, n}, 2, &s);
}
static struct value reduce_leaves(struct elab *e, enum op op, struct value x, struct bcall *c);
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
    default:
        return OP_add;
    }
}
static struct value reduce_one(struct elab *e, enum op op, struct value x, struct bcall *c, struct value axis,
                               bool keep, struct value mask)
{
    struct site s = builtin_site(c);
    if (x.kind == V_TREE || x.kind == V_TAGS) {
        return axis.kind == V_MISSING ? tree_reduce(e, op, x, &s)
                                      : refuse(e, c->span_at, "an axis of a parameter tree");
    }
    if (x.kind == V_RECORD || x.kind == V_LIST) {
        if (axis.kind == V_MISSING) {
            return reduce_leaves(e, op, x, c);
        }
        struct value r = x.kind == V_LIST ? list_value(e, x.list->n) : record_value(e, x.record->n);
        for (uint32_t i = 0; i < (x.kind == V_LIST ? x.list->n : x.record->n); i++) {
            if (x.kind == V_RECORD) {
                r.record->name[i] = x.record->name[i];
            }
            struct value leaf = x.kind == V_LIST ? x.list->at[i] : x.record->at[i];
            *(x.kind == V_LIST ? &r.list->at[i] : &r.record->at[i]) =
                reduce_one(e, op, leaf, c, axis, keep, mask);
        }
        return r;
    }
    val node =
        want_tensor(e, x, c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name), NULL);
    if (!node) {
        return poison();
    }
    x = tensor_value(node, x.kind == V_TENSOR ? x.unit : 0);
    return mask.kind == V_MISSING || mask.kind == V_NONE ? reduce_plain(e, op, x, c, axis, keep)
                                                         : reduce_where(e, op, x, mask, c, axis, keep);
}
/* One scalar over all elements of all leaves. */
static struct value reduce_leaves(struct elab *e, enum op op, struct value x, struct bcall *c)
{
    uint32_t n = x.kind == V_LIST ? x.list->n : x.record->n;
    struct value total = {.kind = V_MISSING}, none = {.kind = V_MISSING};
    struct site s = builtin_site(c);
    s.operand[0] = s.operand[1] = NULL;
    if (op == OP_mean) {
        fail(e, DIAG_E2021, c->span_at, "mean over a record: of the leaves, or of the elements?");
        return poison();
    }
    for (uint32_t i = 0; i < n; i++) {
        struct value leaf =
            reduce_one(e, op, x.kind == V_LIST ? x.list->at[i] : x.record->at[i], c, none, false, none);
        total = i ? elementwise(e, combining(op), (struct value[]){total, leaf}, 2, &s) : leaf;
    }
    return n ? total : fail(e, DIAG_E2021, c->span_at, "`%s` of an empty record", c->b->name);
}
/* Arguments: x, axis, keep, where. */
struct value reduce_op(struct elab *e, struct bcall *c)
{
    bool keep = false;
    if (is_poison(c->arg[0]) ||
        (c->arg[2].kind != V_MISSING && !want_bool(e, c->arg[2], c->span[2], "`keep`", &keep))) {
        return poison();
    }
    struct value x = c->arg[0].kind == V_INST ? instance_params(e, c->arg[0].inst, c->span[0]) : c->arg[0];
    return is_poison(x) ? poison() : reduce_one(e, c->b->op, x, c, c->arg[1], keep, c->arg[3]);
}
/* max and min: two positional arguments are elementwise, one is reduced. Arguments: x, y, axis, keep. */
static struct value max_or_min(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    bool is_max = c->b->op == OP_amax;
    if (c->arg[1].kind != V_MISSING) {
        return elementwise(e, is_max ? OP_max : OP_min, c->arg, 2, &s);
    }
    struct bcall r = *c;
    r.arg[1] = c->arg[2];
    r.span[1] = c->span[2];
    r.arg[2] = c->arg[3];
    r.span[2] = c->span[3];
    r.arg[3] = (struct value){.kind = V_MISSING};
    return reduce_op(e, &r);
}
/* Arguments: x, axis, keep, ddof. std is the root of var. */
static struct value variance(struct elab *e, struct bcall *c)
{
    struct bcall r = *c;
    struct site s = builtin_site(c);
    struct builtin mean = {c->b->name, reduce_op, "", OP_mean};
    int64_t ddof = 0;
    int axes[LIMIT_RANK], n;
    if (c->arg[3].kind != V_MISSING && !want_int(e, c->arg[3], c->span[3], "`ddof`", &ddof)) {
        return poison();
    }
    r.b = &mean;
    r.arg[3] = (struct value){.kind = V_MISSING};
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
        struct type t = tensor_type(e, c->arg[0]);
        struct value count = num_value(1, true);
        if (!read_axes(e, c->arg[1], c->span[1], t.rank, axes, &n)) {
            return poison();
        }
        for (int i = 0; i < (n < 0 ? t.rank : n); i++) {
            struct value size = dim_value(e, t.dim[n < 0 ? i : axes[i]]);
            count = fold_op(e, OP_mul, (struct value[]){count, size}, 2, c->span_at);
        }
        val all = emit_number(e, count, t.dtype),
            less = build_2(&e->b, OP_sub, all, build_const(&e->b, t.dtype, (double)ddof));
        v = elementwise(e, OP_mul, (struct value[]){v, tensor_value(build_2(&e->b, OP_div, all, less), 0)}, 2,
                        &s);
    }
    return strcmp(c->b->name, "std") ? v : elementwise(e, OP_sqrt, &v, 1, &s);
}

/* -- the last axis */

/* x with `axis` moved last (and the permutation that moves it back). */
static struct value move_last(struct elab *e, struct bcall *c, struct value axis, int *back, int *which)
{
    struct type t;
    int perm[LIMIT_RANK], k = 0;
    val x =
        want_tensor(e, c->arg[0], c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name), &t);
    if (!x) {
        return poison();
    }
    if (!t.rank) {
        return fail(e, DIAG_E2003, c->span[0], "`%s` needs an axis, found a scalar", c->b->name);
    }
    *which = t.rank - 1;
    if (axis.kind != V_MISSING && !read_axis(e, axis, c->span[1], t.rank, which)) {
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
static struct value run_softmax(struct elab *e, struct bcall *c)
{
    int back[LIMIT_RANK], axis;
    if (c->arg[2].kind != V_MISSING && c->arg[2].kind != V_NONE) {
        return refuse(e, c->span[2], "softmax with a mask");
    }
    struct value x = move_last(e, c, c->arg[1], back, &axis);
    if (x.kind != V_TENSOR) {
        return poison();
    }
    val r = build_permute(&e->b, build_1(&e->b, OP_softmax, x.node), back);
    if (!r) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], c->arg[0]);
    }
    return tensor_value(r, c->arg[0].unit & ~(1u << axis));
}
static struct value run_argmax(struct elab *e, struct bcall *c)
{
    int back[LIMIT_RANK], axis;
    struct value x = move_last(e, c, c->arg[1], back, &axis);
    if (x.kind != V_TENSOR) {
        return poison();
    }
    struct type t = tensor_type(e, x);
    val r = build_1(&e->b, OP_argmax, x.node);
    if (!r) {
        note_origin(e);
        label_operand(e, c->env, c->ast[0], c->arg[0]);
    }
    return tensor_value(r, unit_after(c->arg[0].unit, t.rank, &axis, 1, false));
}
/* logsumexp(x) = m + log(sum(exp(x - m))), log_softmax(x) = x - logsumexp(x), with m the largest element. */
static struct value run_logsumexp(struct elab *e, struct bcall *c)
{
    struct type t;
    int axis;
    struct site s = builtin_site(c);
    if (!want_tensor(e, c->arg[0], c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name),
                     &t)) {
        return poison();
    }
    axis = t.rank - 1;
    if (!t.rank || (c->arg[1].kind != V_MISSING && !read_axis(e, c->arg[1], c->span[1], t.rank, &axis))) {
        return t.rank ? poison()
                      : fail(e, DIAG_E2003, c->span[0], "`%s` needs an axis, found a scalar", c->b->name);
    }
    build_at(e, c->span_at);
    struct value x = c->arg[0];
    val m = build_1(&e->b, OP_stop_grad, build_reduce(&e->b, OP_amax, x.node, &axis, 1, true));
    struct value top = tensor_value(m, unit_after(x.unit, t.rank, &axis, 1, true));
    struct value z = elementwise(e, OP_sub, (struct value[]){x, top}, 2, &s);
    struct value ex = elementwise(e, OP_exp, &z, 1, &s);
    struct value sum = tensor_value(
        ex.kind == V_TENSOR ? build_reduce(&e->b, OP_sum, ex.node, &axis, 1, true) : 0, top.unit);
    struct value lg = elementwise(e, OP_log, &sum, 1, &s);
    if (!strcmp(c->b->name, "log_softmax")) {
        return elementwise(e, OP_sub, (struct value[]){z, lg}, 2, &s);
    }
    struct value r = elementwise(e, OP_add, (struct value[]){top, lg}, 2, &s);
    if (r.kind != V_TENSOR) {
        return poison();
    }
    t = tensor_type(e, r);
    dim shape[LIMIT_RANK];
    int k = 0;
    for (int i = 0; i < t.rank; i++) {
        if (i != axis) {
            shape[k++] = t.dim[i];
        }
    }
    return tensor_value(build_reshape(&e->b, r.node, k, shape), unit_after(x.unit, t.rank, &axis, 1, false));
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
    {"all", reduce_op, "x axis? keep? where?", OP_all},
    {"any", reduce_op, "x axis? keep? where?", OP_any},
    {"max", max_or_min, "x y? axis? keep?", OP_amax},
    {"min", max_or_min, "x y? axis? keep?", OP_amin},
    {"var", variance, "x axis? keep? ddof?", OP_mean},
    {"std", variance, "x axis? keep? ddof?", OP_mean},
    {"softmax", run_softmax, "x axis? mask?", OP_softmax},
    {"log_softmax", run_logsumexp, "x axis?", OP_NONE},
    {"logsumexp", run_logsumexp, "x axis?", OP_NONE},
    {"argmax", run_argmax, "x axis?", OP_argmax},
    {"xent", run_xent, "z y", OP_xent},
    {0},
};
