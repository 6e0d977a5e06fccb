/* Parameters and states: variables of the graph under the path of their owner, and their first values. */
#include "compiler/elab.h"

static uint32_t application(struct elab *e)
{
    return e->frame ? e->frame->application : 0;
}
static struct span application_site(struct elab *e, struct span otherwise)
{
    return e->frame ? e->frame->call : otherwise;
}
/* The application that stands in the text of a phase. */
static struct span outer_site(struct elab *e)
{
    const struct frame *f = e->frame;
    while (f && f->up && f->up->up) {
        f = f->up;
    }
    return f ? f->call : NO_SPAN;
}
uint32_t find_variable(struct elab *e, const char *key)
{
    while (e->stored.n + 1 < e->g->vars.n) {
        names_push(e, &e->stored, e->g->vars.at[e->stored.n + 1].key);
    }
    return (uint32_t)(names_find(&e->stored, key) + 1);
}
uint32_t add_variable(struct elab *e, const struct var *v, const struct var_info *info)
{
    vec_push(e->g->arena, &e->g->vars, *v);
    while (e->vars.n + 1 < e->g->vars.n) {
        struct var_info none = {.owner = "", .tags = ""};
        vec_push(e->arena, &e->vars, none);
    }
    vec_push(e->arena, &e->vars, *info);
    return e->g->vars.n - 1;
}
static uint32_t add_var(struct elab *e, const struct var *v, struct ast *a, struct env *env, const char *tags,
                        uint32_t unit)
{
    struct var_info info = {.owner = env->inst->path,
                            .tags = tags,
                            .type = a->type,
                            .env = env,
                            .first = application_site(e, v->span),
                            .outer = outer_site(e),
                            .pad = PAD_ZERO,
                            .unit = unit};
    return add_variable(e, v, &info);
}
static bool owner_ok(struct elab *e, struct ast *a, struct env *env, const char *what)
{
    bool is_param = a->kind == AST_PARAM;
    if ((is_param && env->inst == e->root) || env->in_fn) {
        fail(e, DIAG_E3002, a->span, "%s `%s` outside of a layer", what, a->name);
        diag_help(e->sink, "a fn owns nothing: write a layer, `layer NAME(..) { .. }`");
        return false;
    }
    const struct slot *brace = env->inst == e->root ? NULL : env_own(env->inst->env, a->name);
    if (brace && brace->what == NAME_BRACE) {
        fail(e, DIAG_E1007, a->name_span.file ? a->name_span : a->span,
             "`%s` is a brace parameter of the layer", a->name);
        diag_label(e->sink, brace->span, "declared here");
        return false;
    }
    if (env->inst->anonymous) {
        struct inst *i = env->inst;
        fail(e, DIAG_E3002, i->made, "%s owns the %s `%s`, so its instance needs a name", i->layer->name,
             what, a->name);
        diag_label(e->sink, a->span, "declared here");
        diag_help(e->sink, "label it: `x |> name: %s{..}`, or `let name = %s{..}`", i->layer->name,
                  i->layer->name);
        return false;
    }
    return true;
}
static struct slot *known_var(struct env *env, const char *key)
{
    int64_t i = names_find(&env->inst->var_keys, key);
    return i < 0 ? NULL : env->inst->vars.at[i];
}
static bool first_here(struct elab *e, struct slot *s, struct ast *a, const char *key)
{
    if (s->span.start == a->span.start && s->span.file == a->span.file && s->application != application(e)) {
        return true;
    }
    fail(e, DIAG_E3001, a->span, "`%s` is declared twice", key);
    diag_label(e->sink, s->span, "the first is here");
    diag_help(e->sink, "in a loop, `for (..) as NAME { .. }` gives each round its own scope");
    return false;
}

/* -- initial values */

static struct value draw_tensor(struct elab *e, struct ast *a, struct env *env, const struct type *t)
{
    static const struct ast_list nothing;
    bool is_call = a->kind == AST_CALL;
    struct value f = eval(e, is_call ? a->a : a, env), shape = list_value(e, (uint32_t)t->rank);
    struct args args;
    for (int i = 0; i < t->rank; i++) {
        shape.list->at[i] = dim_value(e, t->dim[i]);
    }
    if (!eval_args(e, is_call ? &a->list : &nothing, env, &shape, a, &args) || f.kind == V_POISON) {
        return poison();
    }
    return call_value(e, f, &args, env, a);
}
/* A record is drawn leaf by leaf, each under its own key. */
static struct value draw_value(struct elab *e, struct ast *a, struct env *env, const struct ttype *t,
                               const char *key)
{
    e->let_path = key;
    if (t->kind == T_TENSOR) {
        return draw_tensor(e, a, env, &t->t);
    }
    if (t->kind != T_RECORD) {
        fail(e, DIAG_E2023, a->span, "%s is not drawn", ttype_text(e, t));
        diag_help(e->sink, "`= v` gives it a first value");
        return poison();
    }
    struct value r = record_value(e, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        r.record->name[i] = t->name[i];
        r.record->at[i] = draw_value(e, a, env, t->at[i], join_path(e, key, t->name[i]));
    }
    return r;
}
/* The initial value, in phase init; *t is taken from the value when it is not written. */
static struct value initial_text(struct elab *e, struct ast *a, struct env *env, struct ttype **t,
                                 const char *key)
{
    const struct declared d = {.t = *t, .env = env, .label = a->name};
    struct value v = a->is_int ? draw_value(e, a->a, env, *t, key)
                               : params_of(e, eval_declared(e, a->a, env, NULL, &d), a->a->span);
    if (!*t && !is_poison(v)) {
        *t = type_of(e, v);
        if (!*t) {
            v = fail(e, DIAG_E2023, a->a->span, "%s cannot be a state", value_text(e, v));
            diag_help(e->sink, "a state is a number, a tensor or a record of them, as in zeros([4])");
        }
    }
    if (*t && !is_poison(v)) {
        v = fill_type(e, *t, v, a->a->span, arena_printf(e->arena, "the initial value of `%s`", a->name));
    }
    return v;
}
static struct value initial(struct elab *e, struct ast *a, struct env *env, struct ttype **t, const char *key)
{
    const char *outer = e->let_path;
    val guard = e->guard;
    bool training = e->training;
    uint16_t phase = enter_phase(e, 0);
    struct tick own = {0}, *tick = e->tick;
    e->tick = &own;
    e->let_path = key;
    e->guard = 0;
    e->training = false;
    struct value v = initial_text(e, a, env, t, key);
    e->let_path = outer;
    e->guard = guard;
    e->training = training;
    e->tick = tick;
    enter_phase(e, phase);
    return v;
}
static void commit_initial(struct elab *e, uint32_t var, val v, struct span at)
{
    struct commit c = {.var = var, .value = v, .span = at};
    vec_push(e->g->arena, &e->g->phases.at[0].commits, c);
}

/* -- param */

static const char *tags_of(struct elab *e, struct ast *a, struct var *v)
{
    struct text t = {.arena = e->arena};
    text_printf(&t, "%s", "");
    v->n_tags = a->list.n;
    v->tags = arena_array(e->g->arena, const char *, a->list.n ? a->list.n : 1);
    for (uint32_t i = 0; i < a->list.n; i++) {
        v->tags[i] = a->list.at[i]->name;
        text_printf(&t, "%s%s", i ? "," : "", a->list.at[i]->name);
    }
    return t.at;
}
static bool size_error(struct elab *e, struct slot *s, struct ast *a, uint32_t var, const struct ttype *t)
{
    const struct var *v = &e->g->vars.at[var];
    const struct var_info *info = &e->vars.at[var];
    struct span at = application_site(e, a->span);
    bool inner = at.file != info->first.file || at.start != info->first.start;
    fail(e, DIAG_E3011, inner ? at : outer_site(e), "%s was made as %s and would now be %s", v->key,
         type_text(e->g, &v->type), t ? ttype_text(e, t) : "another");
    diag_label(e->sink, inner ? info->first : info->outer, "the first application fixed its size here");
    diag_help(e->sink, "make a second instance for the other size");
    if (t && t->kind == T_TENSOR) {
        help_tail_types(e, &v->type, &t->t);
    }
    s->application = application(e);
    return false;
}
static struct slot *new_slot(struct elab *e, struct env *env, struct ast *a, const char *key,
                             enum slot_what what, struct value v)
{
    struct slot *s = arena_new_of(e->arena, struct slot);
    *s = (struct slot){.name = key, .span = a->span, .kind = SLOT_VAR, .what = what, .v = v, .part = -1};
    vec_push(e->arena, &env->inst->vars, s);
    names_push(e, &env->inst->var_keys, key);
    return s;
}
static void bind_slot(struct elab *e, struct env *env, struct ast *a, struct slot *s)
{
    struct slot *local = env_add(e, env, a->name, a->name_span.file ? a->name_span : a->span, s->what, s->v);
    local->kind = SLOT_VAR;
    s->application = application(e);
}
static void bind_poison(struct elab *e, struct env *env, struct ast *a)
{
    env->inst->incomplete = true;
    env_add(e, env, a->name, a->span, NAME_LOCAL, poison());
}
void declare_param(struct elab *e, struct ast *a, struct env *env)
{
    const char *key = join_path(e, env->prefix, a->name);
    if (!owner_ok(e, a, env, "parameter")) {
        bind_poison(e, env, a);
        return;
    }
    struct ttype *t = eval_type(e, a->type, env);
    if (t && t->kind != T_TENSOR) {
        fail(e, DIAG_E2030, a->type->span, "a parameter is one tensor, found %s", ttype_text(e, t));
        diag_help(e->sink, "declare one for each field");
        t = NULL;
    }
    if (t && !dtype_is_float(t->t.dtype)) {
        fail(e, DIAG_E2030, a->type->span, "a parameter is a tensor of floats, found %s", ttype_text(e, t));
        diag_help(e->sink, "numbers that are not trained are a `state`");
        t = NULL;
    }
    struct slot *s = known_var(env, key);
    if (s && t && !first_here(e, s, a, key)) {
        t = NULL;
    }
    if (s && t && !type_equal(&e->g->vars.at[s->v.index].type, &t->t)) {
        size_error(e, s, a, s->v.index, t);
        t = NULL;
    }
    if (!t) {
        bind_poison(e, env, a);
        return;
    }
    if (!s) {
        struct var v = {
            .kind = VAR_PARAM, .key = join_path(e, env->inst->path, key), .type = t->t, .span = a->span};
        const char *tags = tags_of(e, a, &v);
        uint32_t var = add_var(e, &v, a, env, tags, t->unit);
        struct value init = initial(e, a, env, &t, v.key);
        if (is_poison(init)) {
            bind_poison(e, env, a);
            return;
        }
        commit_initial(e, var, init.node, a->span);
        s = new_slot(e, env, a, key, NAME_PARAM,
                     (struct value){.kind = V_VAR, .index = var, .unit = t->unit});
    }
    bind_slot(e, env, a, s);
}

/* -- state */

static struct value make_storage(struct elab *e, struct ttype *t, struct value init, const char *key,
                                 struct ast *a, struct env *env)
{
    if (t->kind == T_RECORD) {
        struct value r = record_value(e, t->n);
        for (uint32_t i = 0; i < t->n; i++) {
            r.record->name[i] = t->name[i];
            r.record->at[i] =
                make_storage(e, t->at[i], init.record->at[i], join_path(e, key, t->name[i]), a, env);
        }
        return r;
    }
    struct var v = {.kind = VAR_STATE, .key = key, .type = t->t, .span = a->span};
    if (t->kind == T_TREE) {
        v.type = tree_type(e, t->tree);
        v.tree = t->tree + 1;
    }
    uint32_t var = add_var(e, &v, a, env, "", t->unit);
    commit_initial(e, var, init.node, a->span);
    return (struct value){.kind = V_VAR, .index = var, .unit = t->unit};
}
static bool storage_fits(struct elab *e, struct value v, struct ttype *t)
{
    if (v.kind == V_RECORD) {
        bool same = t->kind == T_RECORD && t->n == v.record->n;
        for (uint32_t i = 0; same && i < t->n; i++) {
            same = storage_fits(e, v.record->at[i], t->at[i]);
        }
        return same;
    }
    const struct var *var = &e->g->vars.at[v.index];
    return t->kind == T_TREE ? var->tree == t->tree + 1
                             : t->kind == T_TENSOR && type_equal(&var->type, &t->t);
}
static uint32_t first_var(struct value v)
{
    return v.kind == V_RECORD ? first_var(v.record->at[0]) : v.index;
}
void declare_state(struct elab *e, struct ast *a, struct env *env)
{
    const char *key = join_path(e, env->prefix, a->name);
    struct ttype *t = NULL;
    if (!owner_ok(e, a, env, "state")) {
        bind_poison(e, env, a);
        return;
    }
    if (a->type) {
        t = eval_type(e, a->type, env);
        if (!t) {
            bind_poison(e, env, a);
            return;
        }
    }
    struct slot *s = known_var(env, key);
    if (s) {
        bool ok = first_here(e, s, a, key);
        if (ok && t && !storage_fits(e, s->v, t)) {
            ok = size_error(e, s, a, first_var(s->v), t);
        }
        if (!ok) {
            bind_poison(e, env, a);
            return;
        }
    } else {
        const char *path = join_path(e, env->inst->path, key);
        struct value init = initial(e, a, env, &t, path);
        if (is_poison(init)) {
            bind_poison(e, env, a);
            return;
        }
        s = new_slot(e, env, a, key, NAME_STATE, make_storage(e, t, init, path, a, env));
    }
    bind_slot(e, env, a, s);
}
