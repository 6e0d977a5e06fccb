/* What instances own, as values: parameters and states as records by path, arrays of instances, and the
 * scopes of loops. A record whose names are 0, 1, .. is a list (`fc.0.w` is `fc[0].w`), so that loops, arrays
 * and trees of parameters are read alike.
 */
#include <stdlib.h>
#include "compiler/elab.h"

/* -- records by path */

void record_put(struct elab *e, struct record *r, uint32_t room, const char *path, struct value leaf)
{
    const char *dot = strchr(path, '.');
    const char *name = intern_n(e->names, path, dot ? (size_t)(dot - path) : strlen(path));
    struct value *at = value_field((struct value){.kind = V_RECORD, .record = r}, name);
    if (!at) {
        at = &r->at[r->n];
        r->name[r->n++] = name;
        if (dot) {
            *at = record_value(e, room);
            at->record->n = 0;
        }
    }
    if (!dot) {
        *at = leaf;
    } else if (at->kind == V_RECORD) { /* else an instance stands here, and what it owns is its own matter */
        record_put(e, at->record, room, dot + 1, leaf);
    }
}
/* Position that the name of a field stands for, UINT32_MAX if it is no number. */
static uint32_t position(const char *name)
{
    char *end;
    unsigned long i = strtoul(name, &end, 10);
    bool number = *name >= '0' && *name <= '9' && !*end && (*name != '0' || !name[1]);
    return number && i < UINT32_MAX ? (uint32_t)i : UINT32_MAX;
}
struct value record_lists(struct elab *e, struct value v)
{
    if (v.kind != V_RECORD) {
        return v;
    }
    struct value l = list_value(e, v.record->n);
    bool list = v.record->n > 0;
    for (uint32_t i = 0; i < v.record->n; i++) {
        uint32_t k = position(v.record->name[i]);
        v.record->at[i] = record_lists(e, v.record->at[i]);
        if (k < v.record->n) {
            l.list->at[k] = v.record->at[i]; /* names differ, so each place is met once */
        }
        list &= k < v.record->n;
    }
    return list ? l : v;
}

/* -- variables below a path */

bool path_below(const char *path, const char *top)
{
    size_t n = strlen(top);
    return !n || (!strncmp(path, top, n) && (path[n] == '.' || path[n] == 0));
}
static const char *rest_of(const char *path, const char *top)
{
    size_t n = strlen(top);
    return n ? path + n + (path[n] == '.') : path;
}
struct value owned_storage(struct elab *e, const char *path, enum var_kind kind)
{
    uint32_t room = 0;
    for (uint32_t v = 1; v < e->g->vars.n; v++) {
        room += e->g->vars.at[v].kind == kind && moves(e, e->g->vars.at[v].key, path);
    }
    struct value r = record_value(e, room);
    r.record->n = 0;
    for (uint32_t v = 1; v < e->g->vars.n; v++) {
        if (e->g->vars.at[v].kind == kind && moves(e, e->g->vars.at[v].key, path)) {
            struct value leaf = {.kind = V_VAR, .index = v, .unit = e->vars.at[v].unit};
            record_put(e, r.record, room, rest_of(e->g->vars.at[v].key, path), leaf);
        }
    }
    return record_lists(e, r);
}

/* -- instances as trees */

static struct value nothing_yet(struct elab *e, struct inst *i, const char *what, struct span at)
{
    if (wait_for_later(e)) {
        return poison();
    }
    fail(e, DIAG_E1003, at, "%s has no %s: they exist from its first application on", i->path, what);
    diag_help(e->sink, "apply it in some phase");
    return poison();
}
static struct value tree_of(struct elab *e, uint32_t tree, struct span at)
{
    build_at(e, at);
    if (e->b.phase == 0) {
        return tree_initial(e, tree, at);
    }
    return tree_value(e, tree, at);
}
struct value instance_params(struct elab *e, struct inst *i, struct span at)
{
    if (!instance_ready(e, i) || i->incomplete) {
        return poison();
    }
    complete_frozen(e, i);
    int tree = tree_of_instance(e, i);
    if (tree >= 0) {
        return tree_of(e, (uint32_t)tree, at);
    }
    struct value r = owned_storage(e, i->path, VAR_PARAM);
    if (!branch_count(r)) {
        return nothing_yet(e, i, "parameters", at);
    }
    build_at(e, at);
    return storage_value(e, r, at);
}
struct value instance_states(struct elab *e, struct inst *i, struct span at)
{
    if (!instance_ready(e, i) || i->incomplete) {
        return poison();
    }
    complete_frozen(e, i);
    struct value r = owned_storage(e, i->path, VAR_STATE);
    if (!branch_count(r)) {
        return nothing_yet(e, i, "states", at);
    }
    build_at(e, at);
    return storage_value(e, r, at);
}
static struct value owned_value(struct elab *e, struct value v, struct span at,
                                struct value (*of)(struct elab *, struct inst *, struct span))
{
    if (v.kind == V_INST) {
        return of(e, v.inst, at);
    }
    if (!is_branch(v)) {
        return v;
    }
    struct value r = branch_like(e, v);
    for (uint32_t i = 0; i < branch_count(v); i++) {
        *branch_at(r, i) = owned_value(e, *branch_at(v, i), at, of);
    }
    return r;
}
struct value params_of(struct elab *e, struct value v, struct span at)
{
    return owned_value(e, v, at, instance_params);
}
struct value states_of(struct elab *e, struct value v, struct span at)
{
    return owned_value(e, v, at, instance_states);
}

/* -- arrays of instances */

struct value make_array(struct elab *e, struct ast *a, struct env *env, const char *label)
{
    int64_t n;
    if (a->list.n != 1 || a->list.at[0]->kind == AST_SLICE || a->list.at[0]->kind == AST_REST) {
        return fail(e, DIAG_E2050, a->span, "an array of instances has one length, as in L{..}[3]");
    }
    struct ast *length = a->list.at[0];
    if (!want_int(e, eval(e, length->a, env), length->span, "the length of an array of instances", &n)) {
        return poison();
    }
    if (n < 0 || n > LIMIT_ROUNDS) {
        return fail(e, n < 0 ? DIAG_E2009 : DIAG_E0110, length->span,
                    "an array of instances has 0 to %d of them, found %lld", (int)LIMIT_ROUNDS, (long long)n);
    }
    struct value r = list_value(e, (uint32_t)n);
    for (uint32_t i = 0; i < (uint32_t)n && spend(e, 8, a->span); i++) {
        const char *name = label ? arena_printf(e->arena, "%s.%u", label, i) : NULL;
        r.list->at[i] = make_instance(e, a->a, env, name);
        if (r.list->at[i].kind != V_INST) {
            return poison();
        }
    }
    return r;
}
struct inst **array_instances(struct elab *e, struct value v, uint32_t *n)
{
    *n = v.kind == V_LIST ? v.list->n : 0;
    struct inst **r = arena_array(e->arena, struct inst *, *n ? *n : 1);
    for (uint32_t i = 0; i < *n; i++) {
        r[i] = v.list->at[i].kind == V_INST ? v.list->at[i].inst : NULL;
        if (!r[i] || r[i]->layer != r[0]->layer) {
            return NULL;
        }
    }
    return *n ? r : NULL;
}

/* -- scopes of loops */

struct value instance_scope(struct elab *e, struct inst *i, const char *name, struct span at)
{
    const char *top = join_path(e, i->path, name);
    uint32_t room = 0;
    for (uint32_t k = 0; k < i->vars.n; k++) {
        room += path_below(i->vars.at[k]->name, name);
    }
    for (uint32_t k = 0; k < i->subs.n; k++) {
        room += path_below(i->subs.at[k]->path, top);
    }
    if (!room) {
        return (struct value){.kind = V_MISSING};
    }
    struct value r = record_value(e, room);
    r.record->n = 0;
    for (uint32_t k = 0; k < i->subs.n; k++) {
        if (path_below(i->subs.at[k]->path, top)) {
            record_put(e, r.record, room, rest_of(i->subs.at[k]->path, top),
                       (struct value){.kind = V_INST, .inst = i->subs.at[k]});
        }
    }
    for (uint32_t k = 0; k < i->vars.n; k++) {
        if (path_below(i->vars.at[k]->name, name)) {
            record_put(e, r.record, room, rest_of(i->vars.at[k]->name, name),
                       slot_value(e, i->vars.at[k], at));
        }
    }
    return count_parts(e, record_lists(e, r), at);
}

/* -- what `over` names */

uint32_t param_read(struct elab *e, struct value v)
{
    if (v.kind != V_TENSOR) {
        return 0;
    }
    const struct node *n = graph_node(e->g, v.node);
    uint32_t var = n->op == OP_read ? (uint32_t)node_attrs(e->g, n)[0] : 0;
    return var && e->g->vars.at[var].kind == VAR_PARAM ? var : 0;
}
bool over_paths(struct elab *e, struct value v, struct over *o)
{
    if (v.kind == V_INST) {
        if (v.inst->frozen && !o->frozen) {
            o->frozen = v.inst;
        }
        vec_push(e->arena, &o->path, v.inst->path);
        return true;
    }
    uint32_t var = param_read(e, v);
    if (var) {
        vec_push(e->arena, &o->path, e->g->vars.at[var].key);
        return true;
    }
    bool ok = is_branch(v) && branch_count(v);
    for (uint32_t i = 0; ok && i < branch_count(v); i++) {
        ok = over_paths(e, *branch_at(v, i), o);
    }
    return ok;
}
