/* frozen(x): a copy of an instance with storage of its own. It has the structure and the first values of x,
 * whatever either of them is applied to first; `training` is false inside and no minimize moves it.
 *
 * The copy is made from the same text under another path, so what x makes when it is applied, the copy makes
 * too. A path below a frozen one has a source: the path that starts with that of x. Initial values are
 * computed under the key of the source, so that they draw the same numbers. What x has and the copy does not
 * have yet is made when somebody asks for the parameters or states of the copy.
 */
#include "compiler/elab.h"

static struct inst *frozen_above(struct elab *e, const char *path)
{
    struct inst *best = NULL;
    for (uint32_t i = 0; i < e->frozen.n; i++) {
        struct inst *f = e->frozen.at[i];
        if (path_below(path, f->path) && (!best || strlen(f->path) > strlen(best->path))) {
            best = f;
        }
    }
    return best;
}
const char *source_path(struct elab *e, const char *path)
{
    for (uint32_t k = 0; k <= e->frozen.n; k++) { /* the source may be a copy itself */
        const struct inst *f = frozen_above(e, path);
        if (!f) {
            return path;
        }
        path = intern(e->names, arena_printf(e->arena, "%s%s", f->source->path, path + strlen(f->path)));
    }
    return path;
}
bool moves(struct elab *e, const char *key, const char *over)
{
    const struct inst *f = path_below(key, over) ? frozen_above(e, key) : NULL;
    return path_below(key, over) && (!f || path_below(over, f->path));
}
struct inst *find_instance(struct elab *e, const char *path)
{
    int64_t i = names_find(&e->inst_paths, path);
    return i < 0 ? NULL : e->insts.at[i];
}
void mark_frozen(struct elab *e, struct inst *i)
{
    const struct inst *f = frozen_above(e, i->path);
    if (f) {
        i->frozen = true;
        i->source = find_instance(
            e, intern(e->names, arena_printf(e->arena, "%s%s", f->source->path, i->path + strlen(f->path))));
    }
}

/* -- what the source has already */

static val initial_node(struct elab *e, uint32_t var)
{
    const struct phase *p = &e->g->phases.at[0];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (p->commits.at[i].var == var) {
            return p->commits.at[i].value;
        }
    }
    return 0;
}
static struct value copy_storage(struct elab *e, struct inst *to, const struct inst *from, struct value v)
{
    if (v.kind == V_RECORD) {
        struct value r = branch_like(e, v);
        for (uint32_t i = 0; i < v.record->n; i++) {
            r.record->at[i] = copy_storage(e, to, from, v.record->at[i]);
        }
        return r;
    }
    struct var var = e->g->vars.at[v.index];
    struct var_info info = e->vars.at[v.index];
    struct commit c = {.value = initial_node(e, v.index), .span = var.span};
    var.key = join_path(e, to->path, var.key + strlen(from->path) + (*from->path ? 1 : 0));
    var.tree = var.kind == VAR_PARAM ? 0 : var.tree;
    var.leaf = 0;
    info.owner = to->path;
    c.var = add_variable(e, &var, &info);
    if (c.value) {
        vec_push(e->g->arena, &e->g->phases.at[0].commits, c);
    }
    return (struct value){.kind = V_VAR, .index = c.var, .unit = v.unit};
}
static struct inst *copy_sub(struct elab *e, struct inst *to, struct inst *from, struct inst *sub)
{
    const char *path =
        intern(e->names, arena_printf(e->arena, "%s%s", to->path, sub->path + strlen(from->path)));
    struct inst *i = find_instance(e, path);
    if (!i) {
        i = new_instance(e, sub->layer, to, path, sub->made);
        i->application = UINT32_MAX; /* by none, so that any may find it */
        add_instance(e, to, i);
        bind_braces(e, i, sub->given, brace_scope(e, sub->site, to, ""),
                    path + strlen(to->path) + (*to->path ? 1 : 0));
    }
    return i;
}
void complete_frozen(struct elab *e, struct inst *i)
{
    struct inst *from = i->source;
    if (!i->frozen || !from || !instance_ready(e, from) || !instance_ready(e, i)) {
        return;
    }
    complete_frozen(e, from);
    for (uint32_t k = 0; k < from->vars.n; k++) {
        struct slot *s = from->vars.at[k];
        if (names_find(&i->var_keys, s->name) < 0) {
            struct slot *copy = arena_new_of(e->arena, struct slot);
            *copy = *s;
            copy->v = copy_storage(e, i, from, s->v);
            copy->application = UINT32_MAX;
            vec_push(e->arena, &i->vars, copy);
            names_push(e, &i->var_keys, s->name);
        }
    }
    for (uint32_t k = 0; k < from->subs.n; k++) {
        complete_frozen(e, copy_sub(e, i, from, from->subs.at[k]));
    }
}

/* -- making */

static struct value freeze(struct elab *e, struct inst *from, struct env *env, const char *name,
                           struct span at)
{
    const char *path = intern(e->names, join_path(e, env->inst->path, join_path(e, env->prefix, name)));
    struct inst *i = find_instance(e, path);
    if (i && !path_is_free(e, i, from->layer, at)) {
        return poison();
    }
    if (!i) {
        i = new_instance(e, from->layer, env->inst, path, at);
        i->frozen = true;
        i->source = from;
        vec_push(e->arena, &e->frozen, i);
        add_instance(e, env->inst, i);
    }
    i->application = e->frame ? e->frame->application : 0;
    bind_braces(e, i, from->given, brace_scope(e, from->site, env->inst, env->prefix), name);
    return (struct value){.kind = V_INST, .inst = i};
}
static struct value freeze_any(struct elab *e, struct bcall *c, struct value v, const char *name)
{
    if (v.kind == V_INST) {
        return freeze(e, v.inst, c->env, name, c->at->span);
    }
    if (v.kind != V_LIST || !v.list->n) {
        fail(e, DIAG_E2023, c->span[0], "`frozen` copies instances, found %s", value_text(e, v));
        if (v.kind == V_LAYER) {
            diag_help(e->sink, "make an instance first: let net = %s{..}", v.layer->name);
        } else {
            diag_help(e->sink, "stop_grad(x) keeps gradients from a value");
        }
        return poison();
    }
    struct value r = list_value(e, v.list->n);
    for (uint32_t i = 0; i < v.list->n; i++) {
        r.list->at[i] = freeze_any(e, c, v.list->at[i], arena_printf(e->arena, "%s.%u", name, i));
        if (is_poison(r.list->at[i])) {
            return poison();
        }
    }
    return count_parts(e, r, c->span_at);
}
struct value run_frozen(struct elab *e, struct bcall *c)
{
    const char *name = e->label;
    e->label = NULL;
    if (is_poison(c->arg[0])) {
        return poison();
    }
    if (!name) {
        fail(e, DIAG_E3002, c->at->span, "frozen(..) makes an instance, which needs a name");
        diag_help(e->sink, "give it one: let copy = %s", source_slice(e, c->at->span));
        return poison();
    }
    return freeze_any(e, c, c->arg[0], name);
}
