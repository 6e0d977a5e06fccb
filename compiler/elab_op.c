/* Operators over tensors: compile-time scalars adapt to the tensor beside them, axes align from the right and
 * only unit axes stretch, records and lists go leaf by leaf. Trees are in elab_tree.c.
 */
#include "compiler/elab.h"

/* As graph_scope, by a table: only this makes scopes while the elaborator runs. */
static uint32_t scope_of(struct elab *e, const char *path)
{
    int64_t i = names_find(&e->scopes, path);
    if (i >= 0) {
        return (uint32_t)i + 1;
    }
    names_push(e, &e->scopes, path);
    vec_push(e->g->arena, &e->g->scopes, intern(e->g->names, path));
    return e->g->scopes.n - 1;
}
void build_at(struct elab *e, struct span at)
{
    struct inst *i = e->frame ? e->frame->inst : NULL;
    e->b.span = at;
    e->b.scope = 0;
    if (i && i != e->root) {
        i->scope = i->scope ? i->scope : scope_of(e, i->path);
        e->b.scope = i->scope;
    }
}

/* -- leafwise */

bool is_branch(struct value v)
{
    return v.kind == V_RECORD || v.kind == V_LIST;
}
bool same_branch(struct value a, struct value b)
{
    if (a.kind != b.kind) {
        return false;
    }
    if (a.kind == V_LIST) {
        return a.list->n == b.list->n;
    }
    bool same = a.record->n == b.record->n;
    for (uint32_t i = 0; same && i < a.record->n; i++) {
        same = !strcmp(a.record->name[i], b.record->name[i]);
    }
    return same;
}
struct value branch_like(struct elab *e, struct value v)
{
    if (v.kind == V_LIST) {
        return list_value(e, v.list->n);
    }
    struct value r = record_value(e, v.record->n);
    memcpy(r.record->name, v.record->name, v.record->n * sizeof *v.record->name);
    r.record->storage = v.record->storage;
    return r;
}
struct value *branch_at(struct value v, uint32_t i)
{
    return v.kind == V_LIST ? &v.list->at[i] : &v.record->at[i];
}
uint32_t branch_count(struct value v)
{
    return v.kind == V_LIST ? v.list->n : v.record->n;
}
static struct value structure_error(struct elab *e, const struct value *in, uint32_t n, const struct site *s)
{
    fail(e, DIAG_E2101, s->at, "operands differ in structure");
    for (uint32_t i = 0; i < n; i++) {
        label_operand(e, s->env, s->operand[i], in[i]);
    }
    diag_help(e->sink,
              "leaf by leaf works between equal fields in equal order, or with a scalar; append(list, x) "
              "makes a list longer");
    return poison();
}
bool is_scalar(struct elab *e, struct value v)
{
    return is_scalar_static(v) || (v.kind == V_TENSOR && !tensor_type(e, v).rank);
}
struct value scalar_as(struct elab *e, struct value v, enum dtype t)
{
    enum dtype own = tensor_type(e, v).dtype;
    return dtype_is_float(own) && dtype_is_float(t) && own != t
               ? tensor_value(build_cast(&e->b, v.node, t), v.unit)
               : v;
}
/* A scalar goes with anything (a schedule is f32, whatever is trained): it takes the type of the leaf. */
static struct value beside_leaf(struct elab *e, struct value v, struct value leaf)
{
    return v.kind == V_TENSOR && leaf.kind == V_TENSOR ? scalar_as(e, v, tensor_type(e, leaf).dtype) : v;
}
static struct value leafwise(struct elab *e, enum op op, const struct value *in, uint32_t n,
                             const struct site *s)
{
    struct value first = {0}, leaf[3];
    for (uint32_t i = 0; i < n; i++) {
        if (is_branch(in[i]) && first.kind == V_MISSING) {
            first = in[i];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!is_scalar(e, in[i]) && !(is_branch(in[i]) && same_branch(first, in[i]))) {
            return structure_error(e, in, n, s);
        }
    }
    struct value r = branch_like(e, first);
    build_at(e, s->at);
    for (uint32_t i = 0; r.kind == V_RECORD && !r.record->storage && i < n; i++) {
        r.record->storage = in[i].kind == V_RECORD ? in[i].record->storage : NULL;
    }
    for (uint32_t k = 0; k < branch_count(first); k++) {
        for (uint32_t i = 0; i < n; i++) {
            leaf[i] = is_branch(in[i]) ? *branch_at(in[i], k) : beside_leaf(e, in[i], *branch_at(first, k));
        }
        *branch_at(r, k) = elementwise(e, op, leaf, n, s);
    }
    return r;
}

/* -- scalars beside tensors */

static bool adapts(struct value v, enum dtype t)
{
    if (t == DT_BOOL) {
        return v.kind == V_BOOL;
    }
    if (v.kind == V_BOOL) {
        return false;
    }
    return dtype_is_float(t) || v.kind == V_DIM || v.is_int;
}
static void misfit_help(struct elab *e, struct value v, enum dtype t)
{
    if (t == DT_I32 && v.kind == V_NUM) {
        diag_help(e->sink, "f32(x) makes floats of the i32 operand");
    } else if (t == DT_BOOL) {
        diag_help(e->sink,
                  e->member
                      ? "fields have the type of their member: declare it f32, and f32(a > b) makes numbers"
                      : "f32(x) or i32(x) counts true as 1");
    } else if (v.kind == V_BOOL) {
        diag_help(e->sink, "write 1 or 0, or compare with the tensor: a bool is no number");
    }
}
val emit_beside(struct elab *e, struct value v, enum dtype t, struct span at, const char *what)
{
    if (adapts(v, t)) {
        return emit_number(e, v, t);
    }
    fail(e, DIAG_E2002, at, "%s: %s does not fit beside %s", what, value_text(e, v), dtype_name(t));
    misfit_help(e, v, t);
    return 0;
}
static bool adapt(struct elab *e, enum op op, const struct value *in, uint32_t i, enum dtype t, uint32_t n,
                  const struct site *s)
{
    if (adapts(in[i], t)) {
        return true;
    }
    fail(e, DIAG_E2002, s->at, "`%s`: %s does not fit beside %s", op_text(op), value_text(e, in[i]),
         dtype_name(t));
    for (uint32_t k = 0; k < n; k++) {
        label_operand(e, s->env, s->operand[k], in[k]);
    }
    misfit_help(e, in[i], t);
    return false;
}
static bool is_tensor_like(struct elab *e, enum op op, const struct value *in, uint32_t n,
                           const struct site *s)
{
    for (uint32_t i = 0; i < n; i++) {
        if (in[i].kind != V_TENSOR && !is_scalar_static(in[i])) {
            fail(e, DIAG_E2021, s->at, "`%s` does not take %s", op_text(op), value_text(e, in[i]));
            for (uint32_t k = 0; k < n; k++) {
                label_operand(e, s->env, s->operand[k], in[k]);
            }
            if (in[i].kind == V_NONE) {
                diag_help(e->sink, "test `x == none` first");
            } else if (in[i].kind == V_LAYER) {
                diag_help(e->sink, "`%s{..}` makes an instance, which is then applied", in[i].layer->name);
            } else if (in[i].kind == V_FN) {
                diag_help(e->sink, "a function is called: %s(..)", source_slice(e, s->operand[i]->span));
            } else if (in[i].kind == V_STR && e->member) {
                diag_help(e->sink,
                          "text of a file is read by classes(\"name\", [\"a\", \"b\"]), or decides a split");
            }
            return false;
        }
    }
    return true;
}
static enum dtype common_dtype(struct elab *e, const struct value *in, uint32_t from, uint32_t n)
{
    bool whole = true, boolean = true;
    for (uint32_t i = from; i < n; i++) {
        if (in[i].kind == V_TENSOR) {
            return tensor_type(e, in[i]).dtype;
        }
        boolean &= in[i].kind == V_BOOL;
        whole &= in[i].kind == V_DIM || (in[i].kind == V_NUM && in[i].is_int);
    }
    return boolean ? DT_BOOL : whole ? DT_I32 : DT_F32;
}
val want_tensor(struct elab *e, struct value v, struct span at, const char *what, struct type *t)
{
    val n = 0;
    if (v.kind == V_TENSOR) {
        n = v.node;
    } else if (is_scalar_static(v)) {
        build_at(e, at);
        n = emit_static(e, v);
    } else if (!is_poison(v)) {
        fail(e, DIAG_E2023, at, "%s must be a tensor, found %s", what, value_text(e, v));
        if (v.kind == V_INST) {
            diag_help(e->sink, "apply the instance: %s(..)", v.inst->path);
        } else if (v.kind == V_NONE) {
            diag_help(e->sink, "a layer or fn without `return` gives none");
        } else if (v.kind == V_PHASE) {
            diag_help(e->sink, "its metrics are numbers: %s.NAME", e->g->phases.at[v.index].name);
        } else if (v.kind == V_RECORD) {
            diag_help(e->sink, "take a field of it, or all elements of all fields: sum(..), any(..)");
        }
    }
    if (n && t) {
        *t = node_type(e->g, n);
    }
    return n;
}

/* -- shapes */

/* Axes of an operand that take part in broadcasting. */
struct axes_of {
    int rank;
    dim dim[LIMIT_RANK];
    uint32_t unit;
};
static bool axes_ok(struct elab *e, enum op op, const struct axes_of *t, const struct value *in, uint32_t n,
                    const struct site *s, uint32_t *unit)
{
    int rank = 0;
    for (uint32_t i = 0; i < n; i++) {
        rank = t[i].rank > rank ? t[i].rank : rank;
    }
    *unit = 0;
    for (int k = 1; k <= rank; k++) {
        dim size = 0;
        bool stretched = true;
        for (uint32_t i = 0; i < n; i++) {
            if (t[i].rank < k || (t[i].unit >> (t[i].rank - k) & 1)) {
                continue;
            }
            dim d = t[i].dim[t[i].rank - k];
            int64_t c;
            stretched = false;
            if (size && d != size &&
                ((dim_is_const(&e->g->dims, d, &c) && c == 1) ||
                 (dim_is_const(&e->g->dims, size, &c) && c == 1))) {
                fail(e, DIAG_E2001, s->at,
                     "`%s` needs equal axes, found %s and %s: an axis that happens to be 1 does not stretch",
                     op_text(op), dim_text(e, size), dim_text(e, d));
                for (uint32_t m = 0; m < n; m++) {
                    label_operand(e, s->env, s->operand[m], in[m]);
                }
                label_odd_axes(e, in, n);
                diag_help(e->sink,
                          "drop the axis with x[.., 0], or make a unit axis with `_`, as in x[:, _]");
                return false;
            }
            size = d;
        }
        *unit |= stretched ? 1u << (rank - k) : 0;
    }
    return true;
}
static struct axes_of axes_of(struct elab *e, struct value v, int less)
{
    struct axes_of r = {0};
    if (v.kind == V_TENSOR) {
        struct type t = tensor_type(e, v);
        r.rank = t.rank - less;
        r.unit = v.unit & ((1u << r.rank) - 1);
        memcpy(r.dim, t.dim, sizeof t.dim);
    }
    return r;
}
/* Only a unit axis stretches. A plain axis that happens to have size 1 does not, so that [N, 1] - [N] stays
 * an error. The last `less` axes are not looked at. */
static bool units_ok(struct elab *e, enum op op, const struct value *in, uint32_t n, int less,
                     const struct site *s, uint32_t *unit)
{
    struct axes_of t[3];
    for (uint32_t i = 0; i < n; i++) {
        t[i] = axes_of(e, in[i], less);
    }
    return axes_ok(e, op, t, in, n, s, unit);
}
static void help_tail_values(struct elab *e, struct value a, struct value b)
{
    if (a.kind == V_TENSOR && b.kind == V_TENSOR) {
        struct type s = tensor_type(e, a), t = tensor_type(e, b);
        help_tail_types(e, &s, &t);
    }
}
static struct value emitted(struct elab *e, val v, uint32_t unit, const struct value *in, uint32_t n,
                            const struct site *s)
{
    if (!v) {
        note_origin(e);
        for (uint32_t i = 0; i < n; i++) {
            label_operand(e, s->env, s->operand[i], in[i]);
        }
        label_odd_axes(e, in, n);
        for (uint32_t i = 1; i < n; i++) {
            help_tail_values(e, in[i - 1], in[i]);
        }
    }
    return tensor_value(v, unit);
}
static struct value on_tensors(struct elab *e, enum op op, const struct value *in, uint32_t n,
                               const struct site *s)
{
    val node[3];
    uint32_t unit, from = op == OP_where;
    if (!is_tensor_like(e, op, in, n, s)) {
        return poison();
    }
    enum dtype t = common_dtype(e, in, from, n);
    build_at(e, s->at);
    for (uint32_t i = 0; i < n; i++) {
        enum dtype want = i < from ? DT_BOOL : t;
        if (in[i].kind != V_TENSOR && !adapt(e, op, in, i, want, n, s)) {
            return poison();
        }
        node[i] = in[i].kind == V_TENSOR ? in[i].node : emit_number(e, in[i], want);
    }
    if (!units_ok(e, op, in, n, 0, s, &unit)) {
        return poison();
    }
    return emitted(e, build_op(&e->b, op, node, n), unit, in, n, s);
}

/* -- entry */

static bool all_static(const struct value *in, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!is_scalar_static(in[i])) {
            return false;
        }
    }
    return true;
}
struct value elementwise(struct elab *e, enum op op, const struct value *given, uint32_t n,
                         const struct site *s)
{
    struct value in[3] = {{0}};
    bool branch = false, tree = false, window = false;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = params_of(e, given[i], s->at);
        if (is_poison(in[i])) {
            return poison();
        }
        branch |= is_branch(in[i]);
        window |= in[i].kind == V_WINDOW;
        tree |= in[i].kind == V_TREE || in[i].kind == V_TAGS;
    }
    if (op == OP_where && in[0].kind == V_BOOL && in[0].known && !in[0].live) {
        return in[0].b ? in[1] : in[2];
    }
    if (window) {
        return window_op(e, op, in, n, s);
    }
    for (uint32_t i = 0; branch && tree && i < n; i++) { /* a part of a tree beside another one */
        in[i] = in[i].kind == V_TREE ? tree_record(e, in[i], s->at) : in[i];
        if (is_poison(in[i])) {
            return poison();
        }
    }
    if (branch) {
        return leafwise(e, op, in, n, s);
    }
    if (tree) {
        return tree_op(e, op, in, n, s);
    }
    if (op != OP_where && all_static(in, n)) {
        return fold_op(e, op, in, n, s->at);
    }
    return on_tensors(e, op, in, n, s);
}

/* -- matrix product */

static struct value matmul_error(struct elab *e, const struct value *in, const struct site *s)
{
    for (uint32_t i = 0; i < 2; i++) {
        label_operand(e, s->env, s->operand[i], in[i]);
    }
    return poison();
}
struct value matmul(struct elab *e, struct value x, struct value w, const struct site *s)
{
    struct value in[2] = {x, w};
    if (is_poison(x) || is_poison(w)) {
        return poison();
    }
    for (int i = 0; i < 2; i++) {
        if (in[i].kind != V_TENSOR) {
            fail(e, DIAG_E2021, s->at, "`@` multiplies tensors, found %s", value_text(e, in[i]));
            diag_help(e->sink, "`*` multiplies with a number, or element by element");
            return matmul_error(e, in, s);
        }
    }
    struct type a = tensor_type(e, x), b = tensor_type(e, w);
    if (a.rank < 2 || b.rank < 2) {
        fail(e, DIAG_E2003, s->at, "`@` needs at least two axes on both sides, found %d and %d", a.rank,
             b.rank);
        matmul_error(e, in, s);
        diag_help(e->sink,
                  a.rank < 2 ? "x[_, :] makes a matrix of one row" : "w[:, _] makes a matrix of one column");
        return poison();
    }
    if (a.dim[a.rank - 1] != b.dim[b.rank - 2]) {
        fail(e, DIAG_E2012, s->at, "`@` needs equal inner dimensions, found %s and %s",
             dim_text(e, a.dim[a.rank - 1]), dim_text(e, b.dim[b.rank - 2]));
        matmul_error(e, in, s);
        label_axis(e, x, a.rank - 1);
        label_axis(e, w, b.rank - 2);
        bool turned = a.dim[a.rank - 1] == b.dim[b.rank - 1] && b.rank == 2;
        diag_help(e->sink,
                  turned
                      ? "the last axes are equal: did you mean `x @ transpose(w)`?"
                      : "the last axis of the left side is summed with the last but one of the right side");
        help_tail(e, a.dim[a.rank - 1], b.dim[b.rank - 2]);
        return poison();
    }
    uint32_t unit = x.unit & ((1u << (a.rank - 1)) - 1);
    if (b.rank > 2 && !units_ok(e, OP_matmul, in, 2, 2, s, &unit)) { /* leading axes: rule 1 */
        return poison();
    }
    if (b.rank > 2 && (x.unit >> (a.rank - 2) & 1)) {
        unit |= 1u << ((a.rank > b.rank ? a.rank : b.rank) - 2);
    }
    build_at(e, s->at);
    return emitted(e, build_matmul(&e->b, x.node, w.node), unit, in, 2, s);
}
