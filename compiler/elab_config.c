/* Configs: what --set can change. Dimensions become symbols, numbers and bools are live until they reach a
 * shape, a loop or an `if` (then the next attempt fixes them), everything else is fixed when compiling.
 */
#include "compiler/elab.h"

static bool listed(const char *const *at, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(at[i], name)) {
            return true;
        }
    }
    return false;
}
bool config_is_fixed(struct elab *e, const char *name)
{
    return listed(e->facts.fixed.at, e->facts.fixed.n, name);
}
void config_fix(struct elab *e, const char *name, struct span at)
{
    if (!listed(e->found.fixed.at, e->found.fixed.n, name)) {
        vec_push(e->arena, &e->found.fixed, name);
        vec_push(e->arena, &e->found.fixed_at, at);
    }
}
void config_count(struct elab *e, const char *name)
{
    if (!listed(e->found.dims.at, e->found.dims.n, name)) {
        vec_push(e->arena, &e->found.dims, name);
    }
}

/* -- --set */

/* The value of --set as a syntax tree; each is parsed as a source of its own. */
static struct ast *set_text(struct elab *e, const char *name)
{
    for (uint32_t i = 0; i < e->options->n_set; i++) {
        if (!strcmp(e->options->set[i].name, name)) {
            const char *text = e->options->set[i].value;
            const char *shown = arena_printf(e->arena, "--set %s", name);
            uint16_t file = 0;
            struct ast *a = NULL;
            for (uint16_t s = 1; s < e->g->sources.list.n; s++) {
                file = !strcmp(e->g->sources.list.at[s].path, shown) ? s : file;
            }
            file = file ? file : sources_add(&e->g->sources, shown, text, (uint32_t)strlen(text));
            return gml_parse_expr(e->arena, e->names, e->sink, file, &a) == ST_OK ? a : NULL;
        }
    }
    return NULL;
}
static bool is_set(struct elab *e, const char *name)
{
    for (uint32_t i = 0; i < e->options->n_set; i++) {
        if (!strcmp(e->options->set[i].name, name)) {
            return true;
        }
    }
    return false;
}
bool check_sets(struct elab *e)
{
    struct ast *file = e->modules.at[0]->parsed.file;
    const char **names = arena_array(e->arena, const char *, file->list.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < file->list.n; i++) {
        if (file->list.at[i]->kind == AST_CONFIG) {
            names[n++] = file->list.at[i]->name;
        }
    }
    bool ok = true;
    for (uint32_t i = 0; i < e->options->n_set; i++) {
        if (!listed(names, n, e->options->set[i].name)) {
            fail(e, DIAG_E1008, NO_SPAN, "--set %s: the model has no such config", e->options->set[i].name);
            help_names(e, e->options->set[i].name, names, n);
            ok = false;
        }
    }
    return ok;
}
/* Literal values only: --set must not call anything. */
static bool is_literal(struct ast *a)
{
    if (a->kind == AST_LIST) {
        for (uint32_t i = 0; i < a->list.n; i++) {
            if (!is_literal(a->list.at[i])) {
                return false;
            }
        }
        return true;
    }
    if (a->kind == AST_UN) {
        return is_literal(a->a);
    }
    return a->kind == AST_NUM || a->kind == AST_STR || a->kind == AST_BOOL;
}

/* -- types */

static const char *kind_text(struct value v)
{
    switch ((enum vkind)v.kind) {
    case V_NUM:
        return v.is_int ? "a whole number" : "a number";
    case V_DIM:
        return "a whole number";
    case V_BOOL:
        return "true or false";
    case V_STR:
        return "a string";
    case V_LIST:
        return "a list";
    default:
        return "something else";
    }
}
static bool same_kind(struct value old, struct value set)
{
    if (old.kind == V_NUM && set.kind == V_NUM) {
        return !old.is_int || set.is_int;
    }
    if (old.kind == V_LIST && set.kind == V_LIST) {
        for (uint32_t i = 0; old.list->n && i < set.list->n; i++) {
            if (!same_kind(old.list->at[0], set.list->at[i])) {
                return false;
            }
        }
        return true;
    }
    return old.kind == set.kind;
}
/* Whole numbers become floats where the default is one. */
static struct value like(struct elab *e, struct value old, struct value set)
{
    if (old.kind == V_NUM) {
        set.is_int = old.is_int;
    }
    if (old.kind == V_LIST && old.list->n) {
        struct value r = list_value(e, set.list->n);
        for (uint32_t i = 0; i < set.list->n; i++) {
            r.list->at[i] = like(e, old.list->at[0], set.list->at[i]);
        }
        return r;
    }
    return set;
}
static struct value set_value(struct elab *e, struct ast *a, struct value old)
{
    if (!is_set(e, a->name)) {
        return old;
    }
    struct ast *text = set_text(e, a->name);
    if (!text) {
        return poison();
    }
    struct value v =
        is_literal(text) ? eval(e, text, e->modules.at[0]->env) : (struct value){.kind = V_MISSING};
    if (v.kind == V_POISON) {
        return v;
    }
    if (!same_kind(old, v)) {
        fail(e, DIAG_E1009, text->span, "--set %s takes %s, found %s", a->name, kind_text(old),
             v.kind == V_MISSING ? arena_printf(e->arena, "`%s`", source_slice(e, text->span))
                                 : value_text(e, v));
        diag_label(e->sink, a->span, "the default is %s", value_text(e, old));
        return poison();
    }
    return like(e, old, v);
}
static bool typed_default(struct elab *e, struct ast *a, struct value *v)
{
    if (!a->type) {
        return true;
    }
    struct ttype *t = a->type->kind == AST_TYPE_NAME ? eval_type(e, a->type, e->modules.at[0]->env) : NULL;
    if (t && t->kind == T_FLOAT && v->kind == V_NUM) {
        v->is_int = false;
        return true;
    }
    return match_type(e, a->type, v, env_new(e, e->modules.at[0]->env, ENV_BLOCK), a->a->span,
                      arena_printf(e->arena, "the default of `%s`", a->name));
}
static const char *gml_text(struct elab *e, struct value v)
{
    struct text t = {.arena = e->arena};
    switch ((enum vkind)v.kind) {
    case V_NUM:
        text_printf(&t, "%.17g", v.num);
        return t.at;
    case V_BOOL:
        return v.b ? "true" : "false";
    case V_STR:
        text_printf(&t, "\"%s\"", v.str);
        return t.at;
    case V_LIST:
        text_printf(&t, "[");
        for (uint32_t i = 0; i < v.list->n; i++) {
            text_printf(&t, "%s%s", i ? ", " : "", gml_text(e, v.list->at[i]));
        }
        text_printf(&t, "]");
        return t.at;
    default:
        return "none";
    }
}

/* -- declaring */

static bool is_static_config(struct value v)
{
    if (v.kind == V_LIST) {
        for (uint32_t i = 0; i < v.list->n; i++) {
            if (!is_static_config(v.list->at[i])) {
                return false;
            }
        }
        return true;
    }
    return ((v.kind == V_NUM || v.kind == V_BOOL) && v.known) || v.kind == V_STR || v.kind == V_NONE;
}
static struct value default_value(struct elab *e, struct module *m, struct ast *a)
{
    struct value v = eval_named(e, a->a, m->env, a->name);
    if (v.kind == V_DIM) {
        v = fold_op(e, OP_mul, (struct value[]){v, num_value(1, false)}, 2, a->a->span);
        v.is_int = true;
    }
    if (v.kind == V_NUM || v.kind == V_BOOL) {
        fix_value(e, v, a->a->span);
        v.live = NULL;
    }
    if (!is_poison(v) && !is_static_config(v)) {
        return fail(e, DIAG_E2023, a->a->span,
                    "a config is a number, a bool, a string or a list of these, found %s", value_text(e, v));
    }
    return v;
}
/* A dimension that steers what is compiled cannot be set at load. */
static void lint_fixed(struct elab *e, const char *name, struct span declared, struct value v)
{
    for (uint32_t i = 0; i < e->facts.fixed.n; i++) {
        if (!strcmp(e->facts.fixed.at[i], name)) {
            fail(e, DIAG_W2001, e->facts.fixed_at.at[i],
                 "this fixes the dimension `%s` at %.15g: it cannot be set when the compiled model is loaded",
                 name, v.num);
            diag_label(e->sink, declared, "declared as a dim here");
            diag_help(e->sink, "`config %s = %.15g` without `: dim` says so", name, v.num);
        }
    }
}
void declare_config(struct elab *e, struct module *m, struct ast *a)
{
    struct span at = a->name_span.file ? a->name_span : a->span;
    struct value v = default_value(e, m, a);
    if (m->is_main && !is_poison(v)) {
        v = typed_default(e, a, &v) ? set_value(e, a, v) : poison();
    }
    if (!m->is_main || is_poison(v)) {
        env_add(e, m->env, a->name, at, NAME_CONFIG, v);
        return;
    }
    struct config c = {
        .name = a->name, .doc = a->doc, .kind = CONFIG_FIXED, .span = at, .text = gml_text(e, v)};
    bool fixed = config_is_fixed(e, a->name), number = v.kind == V_NUM;
    bool is_dim = number && a->type && a->type->kind == AST_TYPE_NAME && !strcmp(a->type->name, "dim");
    if (fixed && is_dim) {
        lint_fixed(e, a->name, at, v);
    }
    is_dim |= number && v.is_int && listed(e->facts.dims.at, e->facts.dims.n, a->name);
    c.value = number ? v.num : v.kind == V_BOOL ? v.b : 0;
    if (!fixed && is_dim && (v.num < 0 || v.num > (double)LIMIT_DIM)) {
        fail(e, DIAG_E2009, a->a->span, "a dimension is between 0 and 2^40, found %.15g", v.num);
        v = poison();
    } else if (!fixed && is_dim) {
        c.kind = CONFIG_DIM;
        c.text = NULL;
        c.symbol = dim_symbol(&e->g->dims, a->name);
        v = (struct value){.kind = V_DIM, .d = c.symbol};
    } else if (!fixed && (number || v.kind == V_BOOL)) {
        struct live *l = arena_new_of(e->arena, struct live);
        l->kind = LIVE_KNOB;
        l->index = e->g->configs.n;
        c.kind = CONFIG_LIVE;
        c.text = NULL;
        c.dtype = v.kind == V_BOOL ? DT_BOOL : v.is_int ? DT_I32 : DT_F32;
        v.live = l;
    }
    vec_push(e->g->arena, &e->g->configs, c);
    struct slot *s = env_add(e, m->env, a->name, at, NAME_CONFIG, v);
    s->ast = is_set(e, a->name) ? set_text(e, a->name) : a->a;
    s->env = m->env;
}
