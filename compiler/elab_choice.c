/* Builtins that choose, limit, cast, draw, and those on trees. */
#include <math.h>
#include "compiler/elab.h"

/* -- compositions of operators */

static struct value run_clamp(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    struct value low = elementwise(e, OP_max, (struct value[]){c->arg[0], c->arg[1]}, 2, &s);
    s.operand[1] = c->ast[2];
    return elementwise(e, OP_min, (struct value[]){low, c->arg[2]}, 2, &s);
}
/* a + t (b - a) */
static struct value run_lerp(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    struct value d = elementwise(e, OP_sub, (struct value[]){c->arg[1], c->arg[0]}, 2, &s);
    struct value m = elementwise(e, OP_mul, (struct value[]){c->arg[2], d}, 2, &s);
    return elementwise(e, OP_add, (struct value[]){c->arg[0], m}, 2, &s);
}
/* Whether whole rows of v can be chosen by a condition of type c; scalars stand for any row. */
static bool is_prefix(struct elab *e, const struct type *c, struct value v)
{
    struct type t = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    bool prefix = c->rank <= t.rank;
    for (int i = 0; prefix && i < c->rank; i++) {
        prefix = c->dim[i] == t.dim[i];
    }
    return !t.rank || prefix;
}
static struct value prefix_error(struct elab *e, struct bcall *c, const struct value *in)
{
    struct type t = tensor_type(e, in[0]);
    fail(e, DIAG_E2001, c->span_at, "`select`: the shape of the condition is no prefix of the values");
    diag_help(e->sink,
              "the axes of the condition are the first ones of each value; where(c, a, b) aligns from the "
              "right, with c[.., _] for further axes");
    for (int i = 0; i < 3; i++) {
        label_operand(e, c->env, c->ast[i], in[i]);
        for (int k = 0; i && in[i].kind == V_TENSOR && k < t.rank && k < tensor_type(e, in[i]).rank; k++) {
            help_tail(e, t.dim[k], tensor_type(e, in[i]).dim[k]);
        }
    }
    return poison();
}
/* select(c, a, b): the shape of c is a prefix of every leaf, so whole rows are chosen. */
static struct value select_leaf(struct elab *e, struct bcall *c, const struct value *in)
{
    struct site s = builtin_site(c);
    if (in[0].kind != V_TENSOR) {
        return elementwise(e, OP_where, in, 3, &s);
    }
    struct type t = tensor_type(e, in[0]);
    if (!is_prefix(e, &t, in[1]) || !is_prefix(e, &t, in[2])) {
        return prefix_error(e, c, in);
    }
    int rank = t.rank;
    uint32_t unit = in[0].unit;
    for (int i = 1; i < 3; i++) {
        int r = in[i].kind == V_TENSOR ? tensor_type(e, in[i]).rank : 0;
        rank = r > rank ? r : rank;
    }
    for (; t.rank < rank; t.rank++) {
        t.dim[t.rank] = dim_const(&e->g->dims, 1);
        unit |= 1u << t.rank;
    }
    build_at(e, c->span_at);
    struct value cond = tensor_value(build_reshape(&e->b, in[0].node, t.rank, t.dim), unit);
    return elementwise(e, OP_where, (struct value[]){cond, in[1], in[2]}, 3, &s);
}
static struct value select_any(struct elab *e, struct bcall *c, struct value cond, struct value a,
                               struct value b)
{
    if (!is_branch(a) && !is_branch(b)) {
        return select_leaf(e, c, (struct value[]){cond, a, b});
    }
    struct value shape = is_branch(a) ? a : b;
    if ((is_branch(a) && is_branch(b)) ? !same_branch(a, b) : !is_scalar(e, is_branch(a) ? b : a)) {
        fail(e, DIAG_E2101, c->span_at, "`select` between values of different structure");
        label_operand(e, c->env, c->ast[1], a);
        label_operand(e, c->env, c->ast[2], b);
        diag_help(e->sink, "both need the same fields in the same order; one of them may be a scalar");
        return poison();
    }
    struct value r = branch_like(e, shape);
    for (uint32_t i = 0; i < branch_count(shape); i++) {
        *branch_at(r, i) =
            select_any(e, c, cond, is_branch(a) ? *branch_at(a, i) : a, is_branch(b) ? *branch_at(b, i) : b);
    }
    return r;
}
static struct value run_select(struct elab *e, struct bcall *c)
{
    struct value in[3];
    for (int i = 0; i < 3; i++) {
        in[i] = c->arg[i].kind == V_INST ? instance_params(e, c->arg[i].inst, c->span[i]) : c->arg[i];
        if (is_poison(in[i])) {
            return poison();
        }
    }
    return select_any(e, c, in[0], in[1], in[2]);
}
/* A builtin of one argument on every field of a record. */
static struct value each_field(struct elab *e, struct bcall *c, struct value x,
                               struct value (*run)(struct elab *e, struct bcall *c))
{
    struct value r = record_value(e, x.record->n);
    for (uint32_t i = 0; i < x.record->n; i++) {
        struct bcall leaf = *c;
        leaf.arg[0] = x.record->at[i];
        r.record->name[i] = x.record->name[i];
        r.record->at[i] = run(e, &leaf);
    }
    return r;
}
static struct value run_stop_grad(struct elab *e, struct bcall *c)
{
    struct value x = c->arg[0].kind == V_INST ? instance_params(e, c->arg[0].inst, c->span[0]) : c->arg[0];
    if (is_poison(x) || is_scalar_static(x)) {
        return x;
    }
    if (x.kind == V_RECORD) {
        return each_field(e, c, x, run_stop_grad);
    }
    build_at(e, c->span_at);
    if (x.kind == V_TREE) {
        x.node = build_1(&e->b, OP_stop_grad, x.node);
        return x;
    }
    return tensor_value(
        build_1(&e->b, OP_stop_grad, want_tensor(e, x, c->span[0], "the argument of `stop_grad`", NULL)),
        x.unit);
}

/* -- casts */

static struct value cast_static(struct elab *e, struct bcall *c, struct value x, enum dtype t)
{
    if (x.kind == V_DIM) {
        x = fold_op(e, OP_mul, (struct value[]){x, num_value(1, false)}, 2, c->span_at);
        x.is_int = true;
    }
    if (t == DT_BOOL) {
        if (x.kind == V_BOOL) {
            return x;
        }
        return fold_op(e, OP_ne, (struct value[]){x, num_value(0, true)}, 2, c->span_at);
    }
    if (x.live && (x.kind == V_BOOL || (t == DT_I32 && !x.is_int))) {
        build_at(e, c->span_at);
        return tensor_value(build_cast(&e->b, emit_static(e, x), t), 0);
    }
    if (x.kind == V_BOOL) {
        x = num_value(x.b, t == DT_I32);
    }
    if (t != DT_F32 && t != DT_I32) { /* numbers alone are f32 or i32 */
        build_at(e, c->span_at);
        return tensor_value(emit_number(e, x, t), 0);
    }
    x.is_int = t == DT_I32;
    x.num = t == DT_I32 ? trunc(x.num) : x.num;
    return x;
}
static struct value run_cast(struct elab *e, struct bcall *c)
{
    enum dtype t = dtype_parse(c->b->name);
    struct value x = c->arg[0].kind == V_INST ? instance_params(e, c->arg[0].inst, c->span[0]) : c->arg[0];
    if (is_poison(x)) {
        return poison();
    }
    if (is_scalar_static(x)) {
        return cast_static(e, c, x, t);
    }
    if (x.kind == V_RECORD) {
        return each_field(e, c, x, run_cast);
    }
    val v = want_tensor(e, x, c->span[0], arena_printf(e->arena, "the argument of `%s`", c->b->name), NULL);
    build_at(e, c->span_at);
    bool pin =
        e->options->bf16 && t == DT_F32 && v && node_type(e->g, v).dtype == DT_F32; /* passes/narrow.c */
    return tensor_value(pin ? build_attrs(&e->b, OP_cast, &v, 1, (int64_t[]){t}, 1) : build_cast(&e->b, v, t),
                        x.unit);
}

/* bitcast(x): an f32 becomes the i32 with its bits, an i32 the f32. */
static struct value run_bitcast(struct elab *e, struct bcall *c)
{
    struct type t;
    if (c->arg[0].kind == V_RECORD) {
        return each_field(e, c, c->arg[0], run_bitcast);
    }
    val v = tensor_arg(e, c, 0, &t);
    if (v && t.dtype != DT_F32 && t.dtype != DT_I32) {
        return fail(e, DIAG_E2002, c->span[0], "`bitcast` takes f32 or i32, found %s",
                    value_text(e, c->arg[0]));
    }
    build_at(e, c->span_at);
    val r =
        v ? build_attrs(&e->b, OP_bitcast, &v, 1, (int64_t[]){t.dtype == DT_F32 ? DT_I32 : DT_F32}, 1) : 0;
    return v ? checked(e, c, r, c->arg[0].unit) : poison();
}

/* -- trees */

static struct value run_owned(struct elab *e, struct bcall *c,
                              struct value (*of)(struct elab *, struct value, struct span))
{
    if (c->arg[0].kind == V_INST || c->arg[0].kind == V_TREE || is_branch(c->arg[0])) {
        return is_poison(c->arg[0]) ? poison() : of(e, c->arg[0], c->span_at);
    }
    return c->arg[0].kind == V_POISON
               ? poison()
               : with_help(e,
                           fail(e, DIAG_E2023, c->span[0], "`%s` takes an instance, found %s", c->b->name,
                                value_text(e, c->arg[0])),
                           "name what `let net = L{..}` made");
}
static struct value run_params(struct elab *e, struct bcall *c)
{
    return run_owned(e, c, params_of);
}
static struct value run_states(struct elab *e, struct bcall *c)
{
    return run_owned(e, c, states_of);
}
/* A record of parameters, or made of them leaf by leaf: true or false for each. */
static struct value tagged_leaves(struct elab *e, struct value v, const char *tag)
{
    if (v.kind != V_RECORD) {
        return (struct value){.kind = V_MISSING};
    }
    struct value r = branch_like(e, v);
    for (uint32_t i = 0; i < v.record->n; i++) {
        const struct value *s = v.record->storage ? &v.record->storage->at[i] : NULL;
        r.record->at[i] = s && s->kind == V_VAR ? bool_value(var_tagged(e, s->index, tag))
                                                : tagged_leaves(e, v.record->at[i], tag);
        if (r.record->at[i].kind == V_MISSING) {
            return r.record->at[i];
        }
    }
    return r;
}
static struct value run_tagged(struct elab *e, struct bcall *c)
{
    const char *tag;
    struct value x = c->arg[0].kind == V_INST ? instance_params(e, c->arg[0].inst, c->span[0]) : c->arg[0];
    if (is_poison(x) || !want_string(e, c->arg[1], c->span[1], "the tag", &tag)) {
        return poison();
    }
    if (is_branch(x)) {
        struct value r = tagged_leaves(e, x, tag);
        if (r.kind != V_MISSING) {
            return r;
        }
    }
    if (x.kind != V_TREE) {
        fail(e, DIAG_E2023, c->span[0], "`tagged` takes a tree of parameters, found %s", value_text(e, x));
        diag_help(e->sink, "the tree of a minimize: the first argument of its optimizer");
        return poison();
    }
    return tree_tagged(e, x, tag);
}
/* each(f, a, b, ..): f on every leaf. */
static struct value run_each(struct elab *e, struct bcall *c)
{
    struct value in[4] = {c->arg[1]};
    uint32_t n = 1 + c->n_rest;
    if (n > 4) {
        return with_help(e, fail(e, DIAG_E1005, c->span_at, "`each` takes a fn and at most 4 trees"),
                         "combine some of them before, as in each(f, a + b)");
    }
    memcpy(in + 1, c->rest, c->n_rest * sizeof *in);
    for (uint32_t i = 0; i < n; i++) {
        in[i] = in[i].kind == V_INST ? instance_params(e, in[i].inst, c->span_at) : in[i];
        if (is_poison(in[i])) {
            return poison();
        }
        if (in[i].kind != in[0].kind || (in[0].kind == V_TREE && in[i].tree != in[0].tree)) {
            return with_help(e, fail(e, DIAG_E2101, c->span_at, "`each` runs over trees of one structure"),
                             "records of equal fields in equal order, lists of equal length");
        }
    }
    if (in[0].kind == V_TREE) {
        return tree_each(e, c->arg[0], in, n, c->env, c->at);
    }
    if (in[0].kind != V_RECORD && in[0].kind != V_LIST) {
        return with_help(e,
                         fail(e, DIAG_E2023, c->span[1],
                              "`each` runs over a record, a list or a tree, found %s", value_text(e, in[0])),
                         "f(x) applies a fn to one value");
    }
    bool list = in[0].kind == V_LIST;
    uint32_t count = list ? in[0].list->n : in[0].record->n;
    struct value r = list ? list_value(e, count) : record_value(e, count);
    for (uint32_t k = 0; k < count; k++) {
        struct value arg[4];
        struct span span[4] = {c->at->span, c->at->span, c->at->span, c->at->span};
        const char *name[4] = {0};
        struct ast *ast[4] = {0};
        struct args a = {n, arg, name, span, ast};
        for (uint32_t i = 0; i < n; i++) {
            if (count != (list ? in[i].list->n : in[i].record->n)) {
                return with_help(e,
                                 fail(e, DIAG_E2101, c->span_at, "`each` runs over trees of one structure"),
                                 "records of equal fields in equal order, lists of equal length");
            }
            arg[i] = list ? in[i].list->at[k] : in[i].record->at[k];
        }
        if (!list) {
            r.record->name[k] = in[0].record->name[k];
        }
        *(list ? &r.list->at[k] : &r.record->at[k]) = call_value(e, c->arg[0], &a, c->env, c->at);
    }
    return r;
}

/* -- draws */

val draw_node(struct elab *e, struct bcall *c, enum op op, enum dtype d, const val *in, uint32_t n_in)
{
    struct type t = {.dtype = d};
    if (!want_shape(e, c->arg[0], c->span[0], "the shape of a draw", &t.rank, t.dim)) {
        return 0;
    }
    build_at(e, c->span_at);
    e->seen |= SEEN_DRAW;
    val v = make_draw(e, &(struct draw){op, t, in, n_in});
    if (!v) {
        note_origin(e);
    }
    return v;
}
/* rand.uniform(shape, lo = 0, hi = 1): lo + (hi - lo) u */
static struct value run_uniform(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    struct value u = tensor_value(draw_node(e, c, OP_uniform, DT_F32, NULL, 0), 0);
    if (c->arg[1].kind == V_MISSING && c->arg[2].kind == V_MISSING) {
        return u;
    }
    struct value lo = c->arg[1].kind == V_MISSING ? num_value(0, true) : c->arg[1];
    struct value hi = c->arg[2].kind == V_MISSING ? num_value(1, true) : c->arg[2];
    struct value width = elementwise(e, OP_sub, (struct value[]){hi, lo}, 2, &s);
    struct value scaled = elementwise(e, OP_mul, (struct value[]){width, u}, 2, &s);
    return elementwise(e, OP_add, (struct value[]){lo, scaled}, 2, &s);
}
static struct value run_normal(struct elab *e, struct bcall *c)
{
    return tensor_value(draw_node(e, c, OP_normal, DT_F32, NULL, 0), 0);
}
static struct value run_bernoulli(struct elab *e, struct bcall *c)
{
    struct type t;
    build_at(e, c->span_at);
    val p = c->arg[1].kind == V_TENSOR ? want_tensor(e, c->arg[1], c->span[1], "the probability", &t)
            : is_number(c->arg[1])     ? emit_number(e, c->arg[1], DT_F32)
                                       : want_tensor(e, c->arg[1], c->span[1], "the probability", &t);
    if (!p) {
        return poison();
    }
    return tensor_value(draw_node(e, c, OP_bernoulli, DT_BOOL, &p, 1), 0);
}
/* rand.int(shape, n): whole numbers in 0 .. n - 1. */
static struct value run_int(struct elab *e, struct bcall *c)
{
    struct value most = c->arg[1];
    if (most.kind == V_NUM && most.known && !most.live && most.is_int && most.num < 1) {
        fail(e, DIAG_E2009, c->span[1], "`rand.int` draws one of at least 1 values, found %g", most.num);
        diag_help(e->sink, "rand.int(shape, n) gives 0 .. n - 1");
        return poison();
    }
    build_at(e, c->span_at);
    val n = is_number(c->arg[1]) ? emit_beside(e, c->arg[1], DT_I32, c->span[1], "the number of values")
                                 : want_tensor(e, c->arg[1], c->span[1], "the number of values", NULL);
    return n ? tensor_value(draw_node(e, c, OP_randint, DT_I32, &n, 1), 0) : poison();
}
/* rand.permute(i, n, epoch): a keyed bijection of 0..n-1, another one for each epoch. */
static struct value run_permutation(struct elab *e, struct bcall *c)
{
    dim n;
    val in[2] = {want_tensor(e, c->arg[0], c->span[0], "the index", NULL),
                 want_tensor(e, c->arg[2], c->span[2], "the epoch", NULL)};
    if (!in[0] || !in[1] || !want_dim(e, c->arg[1], c->span[1], "the number of elements", &n)) {
        return poison();
    }
    build_at(e, c->span_at);
    struct node_spec s = {.op = OP_shuffle,
                          .phase = e->b.phase,
                          .in = in,
                          .n_in = 2,
                          .attr = (int64_t[]){(int64_t)draw_id(e, draw_path(e))},
                          .n_attr = 1,
                          .dims = &n,
                          .n_dim = 1,
                          .span = e->b.span,
                          .scope = e->b.scope};
    val v = graph_add(e->g, &s, e->sink);
    if (!v) {
        note_origin(e);
    }
    return tensor_value(v, c->arg[0].unit);
}

const struct builtin number_builtins[] = {
    {"clamp", run_clamp, "x low high", OP_NONE},
    {"lerp", run_lerp, "a b t", OP_NONE},
    {"select", run_select, "c a b", OP_where},
    {"stop_grad", run_stop_grad, "x", OP_stop_grad},
    {"f32", run_cast, "x", OP_cast},
    {"f64", run_cast, "x", OP_cast},
    {"bf16", run_cast, "x", OP_cast},
    {"i32", run_cast, "x", OP_cast},
    {"bool", run_cast, "x", OP_cast},
    {"bitcast", run_bitcast, "x", OP_bitcast},
    {0},
};
const struct builtin tree_builtins[] = {
    {"params", run_params, "x", OP_NONE}, {"states", run_states, "x", OP_NONE},
    {"frozen", run_frozen, "x", OP_NONE}, {"tagged", run_tagged, "x tag", OP_NONE},
    {"each", run_each, "f x *", OP_NONE}, {0},
};
const struct builtin rand_builtins[] = {
    {"uniform", run_uniform, "shape low? high?", OP_uniform},
    {"normal", run_normal, "shape", OP_normal},
    {"bernoulli", run_bernoulli, "shape p", OP_bernoulli},
    {"int", run_int, "shape n", OP_randint},
    {"categorical", run_categorical, "z", OP_search},
    {"permute", run_permutation, "i n epoch", OP_shuffle},
    {0},
};
