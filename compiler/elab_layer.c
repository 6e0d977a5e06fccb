/* Instances: making them, applying them, what they own. An instance is its path ("net.fc.0.lin"); making the
 * same text again in another application finds the same instance, so a second application shares the weights.
 */
#include "compiler/elab.h"

const char *join_path(struct elab *e, const char *a, const char *b)
{
    if (!*a || !*b) {
        return *a ? a : b;
    }
    return intern(e->names, arena_printf(e->arena, "%s.%s", a, b));
}
static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
static uint32_t application(struct elab *e)
{
    return e->frame ? e->frame->application : 0;
}

/* -- making */

static void warn_misplaced(struct elab *e, const struct ast_list *params, struct ast *arg, uint32_t k)
{
    if (arg->kind != AST_ID || !strcmp(arg->name, params->at[k]->name)) {
        return;
    }
    for (uint32_t i = 0; i < params->n; i++) {
        if (!strcmp(params->at[i]->name, arg->name)) {
            fail(e, DIAG_W3001, arg->span, "`%s` is given to the parameter `%s`", arg->name,
                 params->at[k]->name);
            diag_help(e->sink, "write `%s = %s` to be sure", params->at[k]->name, arg->name);
        }
    }
}
/* Argument for each brace parameter; false after an error. */
static bool place_braces(struct elab *e, struct ast *a, struct layer *l, struct ast **given)
{
    const struct ast_list *params = &l->ast->list;
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *arg = a->list.at[i];
        uint32_t k = 0;
        if (!arg->name) {
            k = i;
        }
        while (arg->name && k < params->n && strcmp(params->at[k]->name, arg->name)) {
            k++;
        }
        if (k >= params->n && !arg->name) {
            fail(e, DIAG_E1005, arg->span, "%s has %u brace parameter%s, found %u", l->name, params->n,
                 params->n == 1 ? "" : "s", a->list.n);
            return false;
        }
        if (k >= params->n) {
            const char **names = arena_array(e->arena, const char *, params->n + 1);
            for (uint32_t p = 0; p < params->n; p++) {
                names[p] = params->at[p]->name;
            }
            fail(e, DIAG_E1004, arg->span, "%s has no brace parameter `%s`", l->name, arg->name);
            help_closest(e, arg->name, names, params->n);
            return false;
        }
        if (given[k]) {
            fail(e, DIAG_E1005, arg->span, "`%s` is given twice", params->at[k]->name);
            diag_help(e->sink, "by its place and by its name, or twice by name: remove one");
            return false;
        }
        if (!arg->name) {
            warn_misplaced(e, params, arg->a, k);
        }
        given[k] = arg->a;
    }
    for (uint32_t k = 0; k < params->n; k++) {
        if (!given[k] && !params->at[k]->a) {
            fail(e, DIAG_E1005, a->span, "%s needs the brace parameter `%s`", l->name, params->at[k]->name);
            diag_help(e->sink, "its braces are %s", brace_names(e, l));
            return false;
        }
    }
    return true;
}
void bind_braces(struct elab *e, struct inst *i, struct ast **given, struct env *env, const char *name)
{
    const struct ast_list *params = &i->layer->ast->list;
    i->given = given;
    i->site = env;
    for (uint32_t k = 0; k < params->n; k++) {
        struct ast *p = params->at[k];
        struct slot *s = env_lazy(e, i->env, p->name, p->span, NAME_BRACE, given[k] ? given[k] : p->a,
                                  given[k] ? env : i->env);
        s->type = p->type;
        s->label = given[k] ? join_path(e, name, p->name) : p->name;
    }
}
struct env *brace_scope(struct elab *e, struct env *site, struct inst *owner, const char *prefix)
{
    struct env *s = env_new(e, site, ENV_BLOCK);
    s->inst = owner;
    s->prefix = prefix;
    return s;
}
static struct inst *find_sub(struct inst *owner, const char *path)
{
    int64_t i = names_find(&owner->sub_paths, path);
    return i < 0 ? NULL : owner->subs.at[i];
}
struct inst *new_instance(struct elab *e, struct layer *l, struct inst *owner, const char *path,
                          struct span at)
{
    struct inst *i = arena_new_of(e->arena, struct inst);
    i->layer = l;
    i->path = path;
    i->owner = owner;
    i->made = at;
    i->env = env_new(e, l->module->env, ENV_LAYER);
    i->env->inst = i;
    i->env->prefix = "";
    i->env->in_fn = false;
    return i;
}
void add_instance(struct elab *e, struct inst *owner, struct inst *i)
{
    vec_push(e->arena, &owner->subs, i);
    names_push(e, &owner->sub_paths, i->path);
    vec_push(e->arena, &e->insts, i);
    names_push(e, &e->inst_paths, i->path);
    mark_frozen(e, i);
}
bool path_is_free(struct elab *e, struct inst *i, struct layer *l, struct span at)
{
    bool lazy = e->in_lazy && e->lazy_frame == e->frame;
    bool twice = !lazy && i->application == application(e);
    bool other = i->layer != l || i->made.file != at.file || i->made.start != at.start;
    if (!twice && !other) {
        return true;
    }
    fail(e, DIAG_E3001, at, "two instances on the path %s", i->path);
    if (other) {
        diag_label(e->sink, i->made, "the first is made here");
        diag_help(e->sink, "give one of them another name or label");
    } else {
        diag_help(e->sink, "in a loop, `for (..) as NAME { .. }` gives each round its own scope");
    }
    return false;
}
struct value make_instance(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    e->want = a->a->kind == AST_ID ? WANT_LAYER : WANT_ANY;
    struct value lv = eval(e, a->a, env);
    if (lv.kind == V_POISON) {
        return lv;
    }
    if (lv.kind != V_LAYER) {
        fail(e, DIAG_E2021, a->span, "braces make an instance of a layer, found %s", value_text(e, lv));
        if (lv.kind == V_INST || lv.kind == V_FN) {
            diag_help(e->sink, "it is applied with parentheses: %s(..)", source_slice(e, a->a->span));
        }
        return poison();
    }
    struct layer *l = lv.layer;
    struct ast **given = arena_array(e->arena, struct ast *, l->ast->list.n + 1);
    if (!place_braces(e, a, l, given)) {
        return poison();
    }
    const char *name = label ? label : l->name;
    const char *path = intern(e->names, join_path(e, env->inst->path, join_path(e, env->prefix, name)));
    struct inst *i = label ? find_sub(env->inst, path) : NULL;
    if (i && !path_is_free(e, i, l, a->span)) {
        return poison();
    }
    if (!i) {
        i = new_instance(e, l, env->inst, path, a->span);
        i->anonymous = !label;
        if (label) {
            add_instance(e, env->inst, i);
        }
    }
    i->application = application(e);
    bind_braces(e, i, given, env, name);
    return (struct value){.kind = V_INST, .inst = i};
}

/* -- the layer level */

bool instance_ready(struct elab *e, struct inst *i)
{
    if (i->ready || !i->layer) {
        return !i->incomplete;
    }
    i->ready = true;
    struct ast *l = i->layer->ast;
    if (l->is_int) {
        return true;
    }
    struct frame f;
    if (!frame_push(e, &f, i, NULL, i->made)) {
        return false;
    }
    uint32_t errors = e->sink->n_errors;
    bool training = e->training;
    e->training &= !i->frozen;
    for (uint32_t k = 0; k < l->b->list.n; k++) {
        if (l->b->list.at[k]->kind == AST_FN) {
            declare_fn(e, l->b->list.at[k], i->env, i);
        }
    }
    i->env->is_layer_level = true;
    exec_block(e, l->b, i->env);
    e->training = training;
    i->incomplete = e->sink->n_errors > errors;
    frame_pop(e);
    return !i->incomplete;
}
/* Errors in arguments that this application happens not to use are found too. */
static bool braces_ok(struct elab *e, struct inst *i)
{
    bool ok = true;
    const struct ast_list *params = &i->layer->ast->list;
    for (uint32_t k = 0; k < params->n; k++) {
        struct slot *s = env_own(i->env, params->at[k]->name);
        ok &= !is_poison(slot_value(e, s, params->at[k]->span));
    }
    return ok;
}
/* `ring.push(..), ring.at(..)`; "" when there are none. */
static const char *entry_names(struct elab *e, const struct inst *i)
{
    struct text t = {.arena = e->arena};
    for (uint32_t s = 0; s < i->env->slots.n; s++) {
        const struct slot *x = i->env->slots.at[s];
        if (x->v.kind == V_FN && x->v.fn->inst == i) {
            text_printf(&t, "%s%s%s%s(..)", t.n ? ", " : "", i->path, x->name[0] == '(' ? "" : ".",
                        x->name[0] == '(' ? "" : x->name);
        }
    }
    return t.n ? t.at : "";
}
struct value apply_instance(struct elab *e, struct inst *i, struct args *a, struct env *env, struct ast *at)
{
    struct ast *l = i->layer->ast;
    struct fn *f;
    if (!instance_ready(e, i) || !braces_ok(e, i)) {
        i->incomplete = true;
        return poison();
    }
    if (l->is_int) {
        f = arena_new_of(e->arena, struct fn);
        *f = (struct fn){
            .params = &l->list2, .result = l->type, .body = l->b, .env = i->env, .inst = i, .span = l->span};
    } else {
        struct slot *s = env_own(i->env, "()");
        if (!s) {
            fail(e, DIAG_E1003, at->span, "%s has no nameless entry", i->layer->name);
            diag_help(e->sink, "apply one of its entries by name: %s", entry_names(e, i));
            return poison();
        }
        f = s->v.fn;
    }
    struct value r = call_value(e, (struct value){.kind = V_FN, .fn = f}, a, env, at);
    i->incomplete |= is_poison(r);
    return r;
}

/* -- members */

/* Whether the text of a layer has the name in it, so that an application may make a member of that name. */
static bool may_make(struct elab *e, const struct inst *i, const char *name)
{
    const char *text = source_slice(e, i->layer->ast->span);
    size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        bool starts = at == text || (!is_name_char(at[-1]) && at[-1] != '.');
        if (starts && !is_name_char(at[n])) {
            return true;
        }
    }
    return false;
}
static struct value no_member(struct elab *e, struct inst *i, const char *name, struct span at)
{
    size_t n = strlen(i->path) + 1;
    const char **names = arena_array(e->arena, const char *, i->vars.n + i->subs.n + i->env->slots.n + 1);
    uint32_t k = 0;
    for (uint32_t s = 0; s < i->vars.n; s++) {
        names[k++] = i->vars.at[s]->name;
    }
    for (uint32_t s = 0; s < i->subs.n; s++) {
        names[k++] = i->subs.at[s]->path + n;
    }
    for (uint32_t s = 0; s < i->env->slots.n; s++) {
        names[k++] = i->env->slots.at[s]->name;
    }
    fail(e, DIAG_E1003, at, "no `%s` in %s, an instance of %s", name, i->path, i->layer->name);
    if (!closest_name(name, names, k) && *entry_names(e, i)) {
        diag_help(e->sink, "its entries are %s", entry_names(e, i));
    }
    help_closest(e, name, names, k);
    if (i->layer->ast->is_int && !i->vars.n && !i->subs.n) {
        diag_help(e->sink, "what an entry makes exists from the first application on");
    }
    advise_member(e, (struct value){.kind = V_INST, .inst = i}, name);
    return poison();
}
struct value instance_member(struct elab *e, struct inst *i, const char *name, struct span at)
{
    if (!instance_ready(e, i)) {
        return poison();
    }
    complete_frozen(e, i);
    int64_t k = names_find(&i->var_keys, name);
    if (k >= 0) {
        return slot_value(e, i->vars.at[k], at);
    }
    struct inst *sub = find_sub(i, join_path(e, i->path, name));
    if (sub) {
        return (struct value){.kind = V_INST, .inst = sub};
    }
    struct slot *s = env_own(i->env, name);
    if (s) {
        return slot_value(e, s, at);
    }
    struct value scope = instance_scope(e, i, name, at);
    if (scope.kind != V_MISSING) {
        return scope;
    }
    if (i->incomplete || (may_make(e, i, name) && wait_for_later(e))) {
        return poison();
    }
    return no_member(e, i, name, at);
}
