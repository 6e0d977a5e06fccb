/* Applying things: arguments, fns (expanded in place), instances, operators. */
#include "compiler/elab.h"

/* -- frames: who is being expanded, for paths, errors and the depth limit */

bool spend(struct elab *e, uint32_t work, struct span at)
{
    bool before = e->work < LIMIT_WORK;
    e->work += work;
    if (before && e->work >= LIMIT_WORK) {
        fail(e, DIAG_E0110, at, "the model takes the compiler more than %d steps", (int)LIMIT_WORK);
        diag_help(e->sink,
                  "loops and calls are expanded in place: is one of them too long, or without an end?");
    }
    if (e->work < LIMIT_WORK && e->g->nodes.n >= LIMIT_NODES) {
        e->work = LIMIT_WORK; /* one error */
        fail(e, DIAG_E0110, at, "the model expands to more than %d operations", (int)LIMIT_NODES);
    }
    return e->work < LIMIT_WORK;
}
bool frame_push(struct elab *e, struct frame *f, struct inst *inst, const char *what, struct span call)
{
    *f = (struct frame){.up = e->frame, .inst = inst, .what = what, .call = call};
    f->depth = e->frame ? e->frame->depth + 1 : 0;
    f->application = what && e->frame ? e->frame->application : ++e->applications;
    if (f->depth >= LIMIT_CALL_DEPTH) {
        fail(e, DIAG_E0110, call, "calls nest deeper than %d: %s expands itself", (int)LIMIT_CALL_DEPTH,
             what   ? what
             : inst ? inst->layer->name
                    : "this");
        return false;
    }
    e->frame = f;
    return true;
}
void frame_pop(struct elab *e)
{
    e->frame = e->frame->up;
}

/* -- arguments */

bool eval_args(struct elab *e, const struct ast_list *l, struct env *env, const struct value *piped,
               struct ast *piped_ast, struct args *out)
{
    uint32_t n = l->n + (piped != NULL);
    bool ok = true, named = false;
    *out = (struct args){.at = arena_array(e->arena, struct value, n ? n : 1),
                         .name = arena_array(e->arena, const char *, n ? n : 1),
                         .span = arena_array(e->arena, struct span, n ? n : 1),
                         .ast = arena_array(e->arena, struct ast *, n ? n : 1)};
    if (piped) {
        out->at[0] = *piped;
        out->span[0] = piped_ast->span;
        out->ast[0] = piped_ast;
        out->n = 1;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        struct ast *a = l->at[i];
        uint32_t k = out->n++;
        out->at[k] = eval(e, a->a, env);
        out->name[k] = a->name;
        out->span[k] = a->span;
        out->ast[k] = a->a;
        if (named && !a->name) {
            fail(e, DIAG_E1005, a->span, "a positional argument after a named one");
            ok = false;
        }
        named |= a->name != NULL;
        ok &= !is_poison(out->at[k]);
    }
    return ok;
}

/* -- fns */

static int param_index(const struct ast_list *params, const char *name)
{
    for (uint32_t i = 0; i < params->n; i++) {
        if (!strcmp(params->at[i]->name, name)) {
            return (int)i;
        }
    }
    return -1;
}
static bool unknown_argument(struct elab *e, const char *what, const struct ast_list *params,
                             const char *name, struct span at)
{
    const char **names = arena_array(e->arena, const char *, params->n ? params->n : 1);
    for (uint32_t i = 0; i < params->n; i++) {
        names[i] = params->at[i]->name;
    }
    fail(e, DIAG_E1004, at, "%s has no argument `%s`", what, name);
    help_closest(e, name, names, params->n);
    return false;
}
static bool place_args(struct elab *e, const char *what, const struct ast_list *params, const struct args *a,
                       struct span call, int *source)
{
    for (uint32_t i = 0; i < params->n; i++) {
        source[i] = -1;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        int k = a->name[i] ? param_index(params, a->name[i]) : (int)i;
        if (!a->name[i] && i >= params->n) {
            fail(e, DIAG_E1005, a->span[i], "%s takes %u argument%s, found %u", what, params->n,
                 params->n == 1 ? "" : "s", a->n);
            return false;
        }
        if (k < 0) {
            return unknown_argument(e, what, params, a->name[i], a->span[i]);
        }
        if (source[k] >= 0) {
            fail(e, DIAG_E1005, a->span[i], "argument `%s` of %s is given twice", params->at[k]->name, what);
            diag_help(e->sink, "by its place and by its name, or twice by name: remove one");
            return false;
        }
        source[k] = (int)i;
    }
    for (uint32_t i = 0; i < params->n; i++) {
        if (source[i] < 0 && !params->at[i]->a) {
            fail(e, DIAG_E1005, call, "%s needs the argument `%s`", what, params->at[i]->name);
            struct text t = {.arena = e->arena};
            for (uint32_t k = 0; k < params->n; k++) {
                text_printf(&t, "%s`%s`%s", k ? ", " : "", params->at[k]->name,
                            params->at[k]->a ? " (may be left out)" : "");
            }
            diag_help(e->sink, "the arguments are %s", t.at);
            return false;
        }
    }
    return true;
}
static bool bind_args(struct elab *e, const char *what, const struct fn *f, const struct args *a,
                      const int *source, struct env *env, struct env *site)
{
    bool ok = true;
    for (uint32_t i = 0; i < f->params->n; i++) {
        struct ast *p = f->params->at[i];
        if (source[i] >= 0) {
            struct slot *s = env_add(e, env, p->name, p->span, NAME_ARG, a->at[source[i]]);
            s->ast = a->ast[source[i]];
            s->env = site;
        }
    }
    for (uint32_t i = 0; i < f->params->n; i++) {
        struct ast *p = f->params->at[i];
        if (source[i] < 0 || !p->type || a->at[source[i]].kind == V_NONE) {
            continue;
        }
        struct value v = a->at[source[i]];
        const char *arg = arena_printf(e->arena, "argument `%s` of %s", p->name, what);
        ok &= match_type(e, p->type, &v, env, a->span[source[i]], arg);
        env_own(env, p->name)->v = v;
    }
    for (uint32_t i = 0; ok && i < f->params->n; i++) {
        struct ast *p = f->params->at[i];
        if (source[i] < 0) {
            struct value v = eval(e, p->a, env);
            ok &= !is_poison(v);
            env_add(e, env, p->name, p->span, NAME_ARG, v);
        }
    }
    return ok;
}
/* Whether the text of a body has a syntax error: its `return` may have been there. */
static bool lost_return(const struct elab *e, struct span body)
{
    for (uint32_t i = 0; i < e->sink->list.n; i++) {
        const struct diag *d = &e->sink->list.at[i];
        if (d->code == DIAG_E0100 && d->span.file == body.file && d->span.start >= body.start &&
            d->span.start < body.end) {
            return true;
        }
    }
    return false;
}
static struct value call_fn(struct elab *e, struct fn *f, struct args *a, struct env *site, struct ast *at)
{
    const char *what =
        f->inst && !f->name ? f->inst->layer->name : arena_printf(e->arena, "fn %s", f->name ? f->name : "");
    int *source = arena_array(e->arena, int, f->params->n ? f->params->n : 1);
    struct frame frame;
    if (!spend(e, 8, at->span) || !place_args(e, what, f->params, a, at->span, source) ||
        !apply_members(e, f, a, site, at)) {
        return poison();
    }
    struct env *env = env_new(e, f->env, ENV_BODY);
    if (f->inst) {
        env->inst = f->inst;
    } else if (f->env->kind == ENV_MODULE) { /* expanded in place: what it makes belongs to the caller */
        env->inst = site->inst;
        env->prefix = site->prefix;
        env->in_fn = true;
    }
    env->is_layer_level = false;
    struct inst *inst = f->inst ? f->inst : e->frame ? e->frame->inst : NULL;
    if (!frame_push(e, &frame, inst, f->inst && !f->name ? NULL : what, at->span)) {
        return poison();
    }
    struct value r = poison();
    bool training = e->training;
    e->training &= !(f->inst && f->inst->frozen);
    if (bind_args(e, what, f, a, source, env, site)) {
        bool returns = exec_block(e, f->body, env) == FLOW_RETURN;
        r = returns ? e->result : lost_return(e, f->body->span) ? poison() : none_value();
        if (f->result && !is_poison(r) && !match_result(e, f->result, &r, env)) {
            if (!returns) {
                diag_help(e->sink, "the body ends without `return`");
            }
            r = poison();
        }
    }
    e->training = training;
    frame_pop(e);
    return r;
}

/* -- anything */

static struct value apply_layer(struct elab *e, struct layer *l, const struct args *a, struct ast *at)
{
    bool sizes = a->n > 0;
    for (uint32_t i = 0; i < a->n; i++) {
        sizes &= is_scalar_static(a->at[i]);
    }
    fail(e, DIAG_E2021, at->span, "`%s` is a layer and cannot be applied", l->name);
    if (sizes && at->kind == AST_CALL) {
        struct span inside = {at->a->span.end + 1, at->span.end - 1, at->span.file};
        diag_help(e->sink, "braces make an instance: `%s{%s}`", source_slice(e, at->a->span),
                  source_slice(e, inside));
    } else {
        diag_help(e->sink, "`%s{..}` makes an instance, which is then applied", l->name);
    }
    l->told = true;
    return poison();
}
const char *brace_names(struct elab *e, const struct layer *l)
{
    struct text t = {.arena = e->arena};
    text_printf(&t, "%s{", l->name);
    for (uint32_t i = 0; i < l->ast->list.n; i++) {
        text_printf(&t, "%s%s", i ? ", " : "", l->ast->list.at[i]->name);
    }
    text_printf(&t, "}");
    return t.at;
}
static struct value not_callable(struct elab *e, struct value f, struct env *env, struct ast *at)
{
    struct ast *callee = at->kind == AST_CALL ? at->a : at;
    bool closed;
    struct slot *s = callee->kind == AST_ID ? env_find(env, callee->name, &closed) : NULL;
    fail(e, DIAG_E2021, at->span, "cannot apply %s", value_text(e, f));
    if (s && s->what == NAME_BRACE && s->ast && env->inst->layer && env->inst->layer->ast->list.n) {
        diag_label(e->sink, s->ast->span, "`%s` was given here", s->name);
        diag_help(e->sink, "the braces are %s, and `%s` is a function", brace_names(e, env->inst->layer),
                  s->name);
    } else if (f.kind == V_LIST) {
        const char *name = source_slice(e, callee->span);
        diag_help(e->sink, "`%s[0](..)` applies one of them; `for (m in %s) { x = m(x) }` all in turn", name,
                  name);
    } else if (is_number(f) || f.kind == V_TENSOR) {
        diag_help(e->sink, "a product is written with `*`%s",
                  f.kind == V_TENSOR ? ", a part of a tensor `x[..]`" : "");
    }
    return poison();
}
struct value call_value(struct elab *e, struct value f, struct args *a, struct env *env, struct ast *at)
{
    for (uint32_t i = 0; i < a->n; i++) {
        if (is_poison(a->at[i])) {
            return poison();
        }
    }
    switch ((enum vkind)f.kind) {
    case V_POISON:
        return f;
    case V_FN:
        return call_fn(e, f.fn, a, env, at);
    case V_INST:
        return apply_instance(e, f.inst, a, env, at);
    case V_BUILTIN:
        return call_builtin(e, f.builtin, a, env, at);
    case V_LAYER:
        return apply_layer(e, f.layer, a, at);
    default:
        return not_callable(e, f, env, at);
    }
}
