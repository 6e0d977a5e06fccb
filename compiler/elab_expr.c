/* Expressions: dispatch by kind of syntax node. */
#include "compiler/elab.h"

/* -- literals, names, groups */

static struct value eval_record(struct elab *e, struct ast *a, struct env *env)
{
    struct value r = record_value(e, a->list.n);
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *b = a->list.at[i];
        for (uint32_t k = 0; k < i; k++) {
            if (!strcmp(r.record->name[k], b->name)) {
                fail(e, DIAG_E1007, b->name_span, "field `%s` stands twice", b->name);
                diag_help(e->sink, "a record has each field once");
                return poison();
            }
        }
        r.record->name[i] = b->name;
        r.record->at[i] = eval_named(e, b->a, env, NULL);
    }
    return count_parts(e, r, a->span);
}
static struct value eval_list(struct elab *e, struct ast *a, struct env *env)
{
    struct value r = list_value(e, a->list.n);
    for (uint32_t i = 0; i < a->list.n; i++) {
        r.list->at[i] = eval(e, a->list.at[i], env);
    }
    return count_parts(e, r, a->span);
}
static struct value eval_range(struct elab *e, struct ast *a, struct env *env)
{
    struct value r = list_value(e, 2);
    r.kind = V_RANGE;
    r.list->at[0] = eval(e, a->a, env);
    r.list->at[1] = eval(e, a->b, env);
    return r;
}
static struct value eval_type_value(struct elab *e, struct ast *a, struct env *env)
{
    struct ttype *t = eval_type(e, a, env);
    return t ? (struct value){.kind = V_TYPE, .type = t} : poison();
}

/* -- operators */

static struct value eval_equal(struct elab *e, struct ast *a, struct value x, struct value y,
                               const struct site *s)
{
    bool tensors = (x.kind == V_TENSOR || x.kind == V_TREE || x.kind == V_RECORD || x.kind == V_TAGS) &&
                   y.kind != V_NONE;
    tensors |= (y.kind == V_TENSOR || y.kind == V_TREE || y.kind == V_RECORD || y.kind == V_TAGS) &&
               x.kind != V_NONE;
    enum op op = strcmp(a->op, "==") ? OP_ne : OP_eq;
    if (is_poison(x) || is_poison(y)) {
        return poison();
    }
    if (tensors || (is_scalar_static(x) && is_scalar_static(y))) {
        return elementwise(e, op, (struct value[]){x, y}, 2, s);
    }
    return bool_value(value_same(e, x, y) == (op == OP_eq));
}
/* `and` and `or` of compile-time values look at the right side only when it matters. */
static bool short_circuit(struct elab *e, struct ast *a, struct value x, struct value *out)
{
    if (x.kind != V_BOOL || !x.known || x.live || (strcmp(a->op, "and") && strcmp(a->op, "or"))) {
        return false;
    }
    (void)e;
    *out = x;
    return x.b == (strcmp(a->op, "or") == 0);
}
/* The operator between its operands; the parser keeps only the whole span. */
static struct span operator_span(struct elab *e, struct ast *a)
{
    struct span gap = {a->a->span.end, a->b->span.start, a->span.file};
    if (gap.file && gap.start < gap.end) {
        const char *text = source_slice(e, gap), *at = strstr(text, a->op);
        if (at) {
            gap.start += (uint32_t)(at - text);
            gap.end = gap.start + (uint32_t)strlen(a->op);
            return gap;
        }
    }
    return a->span;
}
static struct value eval_binary(struct elab *e, struct ast *a, struct env *env)
{
    struct value x = eval(e, a->a, env), y;
    if (short_circuit(e, a, x, &y)) {
        return y;
    }
    y = eval(e, a->b, env);
    struct site s = {.at = operator_span(e, a), .operand = {a->a, a->b}, .env = env};
    enum op op = op_by_symbol(a->op, 2);
    if (op == OP_matmul) {
        return matmul(e, x, y, &s);
    }
    if (op == OP_eq || op == OP_ne) {
        return eval_equal(e, a, x, y, &s);
    }
    return elementwise(e, op, (struct value[]){x, y}, 2, &s);
}
static struct value eval_unary(struct elab *e, struct ast *a, struct env *env)
{
    struct value x = eval(e, a->a, env);
    struct site s = {.at = a->span, .operand = {a->a}, .env = env};
    return elementwise(e, op_by_symbol(a->op, 1), &x, 1, &s);
}
static struct value eval_conditional(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    bool c;
    if (!want_bool(e, eval(e, a->a, env), a->a->span, "the condition of `if`", &c)) {
        return poison();
    }
    return eval_named(e, c ? a->b : a->c, env, label);
}

/* -- calls */

static struct value eval_call(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    struct args args;
    e->want = a->a->kind == AST_ID ? WANT_FUNCTION : WANT_ANY;
    struct value f = eval_named(e, a->a, env, label);
    bool ok = eval_args(e, &a->list, env, NULL, NULL, &args);
    if (f.kind == V_POISON || !ok) {
        return poison();
    }
    e->label = label;
    return call_value(e, f, &args, env, a);
}
/* `x |> f(a)` is `f(x, a)`; the label names the instance that the stage makes. */
static struct value eval_pipe(struct elab *e, struct ast *a, struct env *env)
{
    static const struct ast_list nothing;
    struct value x = eval(e, a->a, env);
    struct ast *stage = a->b;
    struct args args;
    bool is_call = stage->kind == AST_CALL;
    struct value f = eval_named(e, is_call ? stage->a : stage, env, a->name);
    bool ok = eval_args(e, is_call ? &stage->list : &nothing, env, &x, a->a, &args);
    if (f.kind == V_POISON || !ok || is_poison(x)) {
        return poison();
    }
    e->label = a->name;
    return call_value(e, f, &args, env, stage);
}

/* -- members */

static struct value record_member(struct elab *e, struct value v, const char *name, struct span at)
{
    struct value *f = value_field(v, name);
    if (f) {
        return *f;
    }
    fail(e, DIAG_E1002, at, "no field `%s` in %s", name, value_text(e, v));
    help_names(e, name, v.record->name, v.record->n);
    return poison();
}
static struct value module_member(struct elab *e, struct value v, const char *name, struct span at)
{
    if (!v.module->env) {
        return builtin_member(e, v.module->name, name, at);
    }
    struct slot *s = env_own(v.module->env, name);
    if (!s) {
        struct env *env = v.module->env;
        const char **names = arena_array(e->arena, const char *, env->slots.n + 1);
        for (uint32_t i = 0; i < env->slots.n; i++) {
            names[i] = env->slots.at[i]->name;
        }
        fail(e, DIAG_E1001, at, "no `%s` in the module %s", name, v.module->name);
        advise_module_member(e, name, names, env->slots.n);
        return poison();
    }
    if (s->what != NAME_DEF && s->what != NAME_CONST) {
        return fail(e, DIAG_E1006, at,
                    "`%s` stays in its file: only layers, fns and constants cross an import", name);
    }
    return slot_value(e, s, at);
}
struct value member(struct elab *e, struct value v, const char *name, struct span at, struct span name_at)
{
    switch ((enum vkind)v.kind) {
    case V_POISON:
        return v;
    case V_RECORD:
        return record_member(e, v, name, name_at);
    case V_MODULE:
        return module_member(e, v, name, name_at);
    case V_INST:
        return instance_member(e, v.inst, name, name_at);
    case V_PHASE:
        return phase_member(e, v.index, name, name_at);
    case V_TREE:
        v = tree_record(e, v, name_at);
        return v.kind == V_RECORD ? record_member(e, v, name, name_at) : v;
    default:
        fail(e, DIAG_E1002, name_at, "no field `%s`: %s has no fields", name, value_text(e, v));
        advise_member(e, v, name);
        return poison();
    }
    (void)at;
}

/* Of `train.g_loss.grad_norm` the phase and "g_loss.grad_norm", else NULL: metrics of instances have dots. */
static const char *metric_path(struct elab *e, const struct ast *a, struct env *env, struct slot **phase)
{
    const char *path = a->name;
    bool closed = false;
    for (a = a->a; a->kind == AST_DOT; a = a->a) {
        path = join_path(e, a->name, path);
    }
    *phase = a->kind == AST_ID ? env_find(env, a->name, &closed) : NULL;
    return *phase && !closed && (*phase)->what == NAME_PHASE ? path : NULL;
}
static struct value eval_dot(struct elab *e, struct ast *a, struct env *env)
{
    struct span name_at = a->name_span.file ? a->name_span : a->span;
    struct slot *phase;
    const char *path = a->a->kind == AST_DOT ? metric_path(e, a, env, &phase) : NULL;
    return path ? phase_member(e, phase->v.index, path, name_at)
                : member(e, eval(e, a->a, env), a->name, a->span, name_at);
}

/* -- dispatch */

static struct value dispatch(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    switch (a->kind) {
    case AST_NUM:
        return num_value(a->num, a->is_int);
    case AST_STR:
        return str_value(a->str);
    case AST_BOOL:
        return bool_value(a->is_int);
    case AST_ID:
        return name_value(e, env, a->name, a->span);
    case AST_PAREN:
        return eval_named(e, a->a, env, label);
    case AST_RECORD:
        return eval_record(e, a, env);
    case AST_RECORD_TYPE:
    case AST_TYPE_NAME:
    case AST_TYPE_ARRAY:
        return eval_type_value(e, a, env);
    case AST_LIST:
        return eval_list(e, a, env);
    case AST_RANGE:
        return eval_range(e, a, env);
    case AST_CALL:
        return eval_call(e, a, env, label);
    case AST_MAKE:
        return make_instance(e, a, env, label);
    case AST_INDEX:
        if (a->a->kind == AST_MAKE) {
            return make_array(e, a, env, label);
        }
        return index_value(e, eval(e, a->a, env), a, env);
    case AST_DOT:
        return eval_dot(e, a, env);
    case AST_PIPE:
        return eval_pipe(e, a, env);
    case AST_BIN:
        return eval_binary(e, a, env);
    case AST_UN:
        return eval_unary(e, a, env);
    case AST_COND:
        return eval_conditional(e, a, env, label);
    case AST_SCAN:
        return eval_scan(e, a, env);
    default:
        return poison(); /* what the parser could not read was reported by it */
    }
}
struct value eval_named(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    if (!spend(e, 1, a->span)) {
        return poison();
    }
    if (e->depth >= LIMIT_EVAL_DEPTH) {
        fail(e, DIAG_E0110, a->span, "expressions nest deeper than %d over all calls", (int)LIMIT_EVAL_DEPTH);
        e->work = LIMIT_WORK; /* one error */
        return poison();
    }
    e->depth++;
    struct value v = dispatch(e, a, env, label);
    e->depth--;
    return v;
}
struct value eval(struct elab *e, struct ast *a, struct env *env)
{
    return eval_named(e, a, env, NULL);
}
