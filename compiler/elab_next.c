/* What a tick commits: `next` of states, parameters and whole instances.
 *
 * A target is storage (V_VAR, or records and lists of it) or one leaf of a state over a tree. A whole `next`
 * stands once in a tick for each variable. With an index, `next s[i] = e` writes into what the tick has made
 * of s so far: into its old value, or what stands above made of it. Reads are of the old value all the same.
 * Where values go, to the phase or to the iteration of a scan: elab_tick.c.
 */
#include "compiler/elab.h"

/* -- the commits of the tick at hand */

void second_next(struct elab *e, struct ast *a, const char *key, struct span first)
{
    bool again = first.file == a->span.file && first.start == a->span.start && e->frame;
    bool applied = again && e->frame->up; /* else a `for` of the phase writes it out again */
    fail(e, DIAG_E1030, applied ? e->frame->call : a->span, "a second `next` for %s in one tick", key);
    if (applied || !again) {
        diag_label(e->sink, first, applied ? "commits here each time" : "the first is here");
    }
    diag_help(e->sink,
              applied ? "a stateful layer is applied once in a tick: pass the state, make two instances, or "
                        "batch the inputs"
              : again
                  ? "`for` writes its body out for each round: say the whole new value once, or use `scan`"
                  : "one `next` says the whole new value; `next s[i] = ..` below it changes parts of that");
}
/* What the tick has made of a variable so far. */
static struct value value_so_far(struct elab *e, struct value var, struct span at)
{
    struct value v = storage_value(e, var, at);
    struct pending p;
    if (tick_pending(e, var.index, &p)) {
        v.node = p.value;
        v.pad = v.kind == V_TREE ? PAD_ZERO : v.pad; /* next values are masked */
    }
    return v;
}
static bool commit_part(struct elab *e, struct value var, val v, struct ast *a)
{
    struct pending p;
    if (tick_pending(e, var.index, &p) && p.guard != e->guard) {
        second_next(e, a, e->g->vars.at[var.index].key, p.span);
        return false;
    }
    tick_next(e, var, v, a->span);
    return true;
}
static bool commit_whole(struct elab *e, struct value var, val v, struct ast *a)
{
    struct pending p;
    if (tick_pending(e, var.index, &p)) {
        second_next(e, a, e->g->vars.at[var.index].key, p.span);
        return false;
    }
    tick_next(e, var, v, a->span);
    return true;
}
static bool covers(struct elab *e, const struct commit *c, const char *key)
{
    const struct tree_facts *t = &e->trees.at[c->tree - 1];
    for (uint32_t i = 0; i < t->over.n; i++) {
        if (moves(e, key, t->over.at[i])) {
            return true;
        }
    }
    return false;
}
static bool is_minimized(const struct phase *p, uint32_t tree)
{
    for (uint32_t i = 0; i < p->minimizes.n; i++) {
        if (p->minimizes.at[i].tree == tree) {
            return true;
        }
    }
    return false;
}
static void check_pair(struct elab *e, const struct phase *p, const struct commit *whole,
                       const struct commit *other)
{
    bool trains = is_minimized(p, whole->tree - 1);
    const char *key = e->g->vars.at[other->var].key;
    if (!other->var || e->g->vars.at[other->var].kind != VAR_PARAM || !covers(e, whole, key)) {
        return;
    }
    if (trains) {
        fail(e, DIAG_E3020, other->span, "`next` writes %s, which a minimize of this phase moves", key);
        diag_label(e->sink, whole->span, "moved here");
        diag_help(e->sink, "write it in a phase of its own");
    } else {
        fail(e, DIAG_E1030, other->span, "a second `next` for %s in one tick", key);
        diag_label(e->sink, whole->span, "the whole instance is written here");
    }
}
void check_commits(struct elab *e)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        const struct commit *c = &p->commits.at[i];
        for (uint32_t k = 0; c->tree && k < p->commits.n; k++) {
            check_pair(e, p, c, &p->commits.at[k]);
        }
    }
}

/* -- targets */

enum { MAX_FIELDS = 16 };
struct target {
    struct value v; /* storage when it is_place; else what the text before a dot or index gave */
    bool is_place;
    const char *name;   /* for messages */
    const char *path;   /* below a state over a tree: "fc.w"; NULL = the whole */
    struct ast *index;  /* its brackets, or NULL */
    struct slot *carry; /* v is its old value, or a field of that: */
    const char *field[MAX_FIELDS];
    uint32_t n_field;
    struct inst *inst; /* all parameters of this instance */
    bool states;       /* all states of an instance */
};

static bool no_state(struct elab *e, struct ast *t, struct value v)
{
    if (is_poison(v)) {
        return false;
    }
    if (t->kind == AST_ID) {
        fail(e, DIAG_E1022, t->span, "`%s` is no state", t->name);
        diag_help(e->sink, "`%s = ..` updates a local", t->name);
    } else {
        fail(e, DIAG_E1022, t->span, "`next` needs a state or parameters, found %s", value_text(e, v));
        diag_help(e->sink, "declare `state NAME = ..`, then `next NAME = ..`");
    }
    return false;
}
static bool target_name(struct elab *e, struct ast *t, struct env *env, struct target *r)
{
    bool closed;
    struct slot *s = env_find(env, t->name, &closed);
    r->name = t->name;
    if (s && s->kind == SLOT_VAR && !closed) {
        r->v = s->v;
        r->is_place = true;
        return true;
    }
    r->v = name_value(e, env, t->name, t->span);
    r->carry = s && s->what == NAME_CARRY ? s : NULL;
    r->is_place = r->carry != NULL;
    return !is_poison(r->v);
}
static bool instance_target(struct elab *e, struct ast *t, struct target *r)
{
    struct inst *i = r->v.inst;
    if (!instance_ready(e, i)) {
        return false;
    }
    complete_frozen(e, i);
    int64_t k = names_find(&i->var_keys, t->name);
    r->name = arena_printf(e->arena, "%s.%s", i->path, t->name);
    if (k >= 0) {
        r->v = i->vars.at[k]->v;
        r->is_place = true;
        return true;
    }
    r->v = instance_member(e, i, t->name, t->name_span.file ? t->name_span : t->span);
    return !is_poison(r->v);
}
static bool part_target(struct elab *e, struct ast *t, struct target *r)
{
    const char *outer = r->name;
    r->name = arena_printf(e->arena, "%s.%s", r->name, t->name);
    if (r->index) {
        fail(e, DIAG_E2050, t->span, "the index of a `next` stands last, as in `next s.%s[i] = ..`", t->name);
        return false;
    }
    if (r->v.kind == V_RECORD) {
        struct value *f = value_field(r->v, t->name);
        if (!f) {
            fail(e, DIAG_E1002, t->name_span.file ? t->name_span : t->span, "no field `%s` in %s", t->name,
                 outer);
            help_names(e, t->name, r->v.record->name, r->v.record->n);
            return false;
        }
        r->v = *f;
        if (r->carry && r->n_field < MAX_FIELDS) {
            r->field[r->n_field++] = t->name;
        }
        return r->n_field < MAX_FIELDS;
    }
    if (r->v.kind == V_VAR && e->g->vars.at[r->v.index].kind == VAR_STATE && e->g->vars.at[r->v.index].tree) {
        r->path = r->path ? join_path(e, r->path, t->name) : t->name;
        return true;
    }
    fail(e, DIAG_E1002, t->name_span.file ? t->name_span : t->span, "no field `%s`: %s has none", t->name,
         outer);
    diag_help(e->sink, "`next %s = ..` gives it as a whole, `next %s[i] = ..` a part", outer, outer);
    return false;
}
static bool find_target(struct elab *e, struct ast *t, struct env *env, struct target *r);
static bool dot_target(struct elab *e, struct ast *t, struct env *env, struct target *r)
{
    if (!find_target(e, t->a, env, r)) {
        return false;
    }
    if (r->is_place) {
        return part_target(e, t, r);
    }
    if (r->v.kind == V_INST) {
        return instance_target(e, t, r);
    }
    r->v = member(e, r->v, t->name, t->span, t->name_span.file ? t->name_span : t->span);
    return !is_poison(r->v);
}
/* Whether the path below a state over a tree is already that of a leaf, and not of a scope of a loop. */
static bool is_leaf(struct elab *e, const struct target *r)
{
    uint32_t tree = e->g->vars.at[r->v.index].tree - 1;
    const struct tree_facts *d = tree < e->facts.trees.n ? &e->facts.trees.at[tree] : NULL;
    for (uint32_t i = 0; d && i < d->leaf.n; i++) {
        if (!strcmp(tree_leaf_name(e, tree, i), r->path)) {
            return true;
        }
    }
    return false;
}
static bool index_target(struct elab *e, struct ast *t, struct env *env, struct target *r)
{
    if (!find_target(e, t->a, env, r)) {
        return false;
    }
    const struct ast *number = t->list.n == 1 ? t->list.at[0]->a : NULL;
    if (r->path && number && number->kind == AST_NUM && !is_leaf(e, r)) {
        r->path = arena_printf(e->arena, "%s.%.0f", r->path, number->num); /* m.fc[0].w */
        return true;
    }
    if (r->is_place && r->index) {
        fail(e, DIAG_E2050, t->span, "one index in a `next`: write s[i, j] for s[i][j]");
        return false;
    }
    if (r->is_place) {
        r->index = t;
        return true;
    }
    r->v = index_value(e, r->v, t, env);
    return !is_poison(r->v);
}
/* params(x), states(x) */
static bool owned_target(struct elab *e, struct ast *t, struct env *env, struct target *r)
{
    struct value f = eval(e, t->a, env);
    bool params = f.kind == V_BUILTIN && !strcmp(f.builtin->name, "params");
    bool states = f.kind == V_BUILTIN && !strcmp(f.builtin->name, "states");
    if (f.kind == V_POISON) {
        return false;
    }
    if ((!params && !states) || t->list.n != 1) {
        fail(e, DIAG_E1022, t->span, "`next` of a call: only params(x) and states(x) are places");
        return false;
    }
    struct value v = eval(e, t->list.at[0]->a, env);
    if (v.kind != V_INST) {
        return !is_poison(v) && no_state(e, t->list.at[0]->a, v);
    }
    if (is_poison(params ? instance_params(e, v.inst, t->span) : instance_states(e, v.inst, t->span))) {
        return false;
    }
    r->name = arena_printf(e->arena, "%s(%s)", f.builtin->name, v.inst->path);
    r->inst = params ? v.inst : NULL;
    r->states = states;
    r->v = owned_storage(e, v.inst->path, params ? VAR_PARAM : VAR_STATE);
    r->is_place = true;
    return true;
}
static bool find_target(struct elab *e, struct ast *t, struct env *env, struct target *r)
{
    switch (t->kind) {
    case AST_PAREN:
        return find_target(e, t->a, env, r);
    case AST_ID:
        return target_name(e, t, env, r);
    case AST_DOT:
        return dot_target(e, t, env, r);
    case AST_INDEX:
        return index_target(e, t, env, r);
    case AST_CALL:
        return owned_target(e, t, env, r);
    default:
        r->v = eval(e, t, env);
        return !is_poison(r->v);
    }
}
/* An instance stands for its parameters, and so does a list of them. */
static bool instances_storage(struct elab *e, struct value *v, struct span at)
{
    if (v->kind == V_INST) {
        bool ok = !is_poison(instance_params(e, v->inst, at));
        *v = owned_storage(e, v->inst->path, VAR_PARAM);
        return ok;
    }
    if (!is_branch(*v) || !branch_count(*v)) {
        return false;
    }
    struct value r = branch_like(e, *v);
    bool ok = true;
    for (uint32_t i = 0; ok && i < branch_count(*v); i++) {
        *branch_at(r, i) = *branch_at(*v, i);
        ok = instances_storage(e, branch_at(r, i), at);
    }
    *v = r;
    return ok;
}
static bool all_instances(struct value v)
{
    bool all = v.kind == V_INST || (is_branch(v) && branch_count(v));
    for (uint32_t i = 0; all && is_branch(v) && i < branch_count(v); i++) {
        all = all_instances(*branch_at(v, i));
    }
    return all;
}

/* -- committing */

void help_next(struct elab *e, const char *name, bool is_carry, const struct type *first,
               const struct type *next)
{
    if (first->dtype != next->dtype) {
        diag_help(e->sink, "the first value fixes the type (0 is i32, 0.0 is f32); %s(x) casts",
                  dtype_name(first->dtype));
    } else if (!first->rank) {
        diag_help(e->sink, "start it with that shape, as in `%s%s = zeros(%s)`", is_carry ? "" : "state ",
                  name, strchr(type_text(e->g, next), '['));
    } else if (!next->rank) {
        diag_help(e->sink, "full(shape(%s), x) repeats a scalar", name);
    } else {
        diag_help(e->sink, "the shape of a %s never changes: %s it %s", is_carry ? "carry" : "state",
                  is_carry ? "start" : "declare", type_text(e->g, next));
    }
    help_tail_types(e, first, next);
}
/* v as a value of the variable; 0 after an error. */
static val fitting(struct elab *e, struct value var, struct value v, const char *name, struct ast *a)
{
    const struct var *to = &e->g->vars.at[var.index];
    bool tree = to->kind == VAR_STATE && to->tree;
    struct ttype t = {
        .kind = tree ? T_TREE : T_TENSOR, .t = to->type, .tree = tree ? to->tree - 1 : 0, .unit = var.unit};
    struct type found = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    if (v.kind == V_TENSOR && (tree || !type_equal(&found, &t.t))) {
        bool param = to->kind == VAR_PARAM;
        fail(e, DIAG_E2062, a->b->span, "next %s is %s, the %s is %s", name, value_text(e, v),
             param ? "parameter" : "state", ttype_text(e, &t));
        diag_label(e->sink, to->span, "declared here");
        if (param) {
            diag_help(e->sink, "a parameter keeps its type: %s", type_text(e->g, &to->type));
        } else {
            help_next(e, name, false, &to->type, &found);
        }
        return 0;
    }
    v = fill_type(e, &t, v, a->b->span, arena_printf(e->arena, "next %s", name));
    v = v.kind == V_TREE ? tree_masked(e, v, 0) : v;
    return is_poison(v) ? 0 : v.node;
}
void help_fields(struct elab *e, struct value to)
{
    struct text fields = {.arena = e->arena};
    for (uint32_t i = 0; to.kind == V_RECORD && i < to.record->n; i++) {
        text_printf(&fields, "%s%s", i ? ", " : "", to.record->name[i]);
    }
    if (fields.at) {
        diag_help(e->sink, "its fields are (%s), in that order", fields.at);
    } else {
        diag_help(e->sink, "it is a list of %u", branch_count(to));
    }
}
bool commit_value(struct elab *e, struct value to, struct value v, const char *name, struct ast *a)
{
    if (!is_branch(to)) {
        val n = fitting(e, to, v, name, a);
        return n && commit_whole(e, to, n, a);
    }
    v = v.kind == V_TREE ? tree_record(e, v, a->b->span) : v;
    if (is_poison(v)) {
        return false;
    }
    if (!is_scalar(e, v) && !(is_branch(v) && same_branch(to, v))) {
        fail(e, DIAG_E2062, a->b->span, "next %s is %s, the state has other fields", name, value_text(e, v));
        help_fields(e, to);
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < branch_count(to); i++) {
        const char *part = to.kind == V_RECORD ? arena_printf(e->arena, "%s.%s", name, to.record->name[i])
                                               : arena_printf(e->arena, "%s[%u]", name, i);
        ok = commit_value(e, *branch_at(to, i), is_branch(v) ? *branch_at(v, i) : v, part, a);
    }
    return ok;
}
/* All parameters of an instance whose tree is one block, from a value over that block. */
static bool commit_block(struct elab *e, struct inst *i, struct value v, struct ast *a, bool *ok)
{
    int tree = tree_of_instance(e, i);
    if (tree < 0 || v.kind != V_TREE) {
        return false;
    }
    v = tree_as(e, v, (uint32_t)tree);
    if (v.kind != V_TREE || v.tree != (uint32_t)tree) {
        *ok = false;
        return v.kind == V_POISON;
    }
    struct phase *p = &e->g->phases.at[e->b.phase];
    for (uint32_t k = 0; k < p->commits.n; k++) {
        if (p->commits.at[k].tree == (uint32_t)tree + 1) {
            if (is_minimized(p, (uint32_t)tree)) {
                fail(e, DIAG_E3020, a->a->span, "`next` writes %s, which a minimize of this phase moves",
                     i->path);
                diag_label(e->sink, p->commits.at[k].span, "moved here");
                diag_help(e->sink, "write it in a phase of its own");
            } else {
                second_next(e, a, i->path, p->commits.at[k].span);
            }
            *ok = false;
            return true;
        }
    }
    struct commit c = {
        .tree = (uint32_t)tree + 1, .value = tree_masked(e, v, 0).node, .guard = e->guard, .span = a->span};
    vec_push(e->g->arena, &p->commits, c);
    return true;
}
static bool next_instance(struct elab *e, struct inst *i, struct value v, const char *name, struct ast *a)
{
    bool ok = true;
    struct value to = owned_storage(e, i->path, VAR_PARAM);
    return commit_block(e, i, v, a, &ok) ? ok : commit_value(e, to, v, name, a);
}

/* -- parts */

static bool put_leaves(struct elab *e, struct value to, const struct item *item, uint32_t n, struct value v,
                       const char *name, struct ast *a)
{
    if (!is_branch(to)) {
        struct value x = value_so_far(e, to, a->span);
        if (x.kind == V_TREE) {
            fail(e, DIAG_E2050, a->a->span, "%s is a tree: an index belongs to one of its leaves", name);
            diag_help(e->sink, "name the leaf in front of the index, as in `next v.w[i] = ..`");
            return false;
        }
        struct value r = put_items(e, x, item, n, v, a->a->span, a->b->span);
        return !is_poison(r) && commit_part(e, to, r.node, a);
    }
    if (!is_scalar(e, v) && !(is_branch(v) && same_branch(to, v))) {
        fail(e, DIAG_E2062, a->b->span, "next %s[..] is %s, the state has other fields", name,
             value_text(e, v));
        help_fields(e, to);
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < branch_count(to); i++) {
        ok = put_leaves(e, *branch_at(to, i), item, n, is_branch(v) ? *branch_at(v, i) : v, name, a);
    }
    return ok;
}
static bool next_leaf(struct elab *e, const struct target *t, const struct item *item, uint32_t n,
                      struct value v, struct ast *a)
{
    struct value x = value_so_far(e, t->v, a->span);
    if (x.tree >= e->facts.trees.n) {
        return false; /* the next attempt knows */
    }
    const struct tree_facts *d = &e->facts.trees.at[x.tree];
    uint32_t leaf = 0;
    while (leaf < d->leaf.n && strcmp(tree_leaf_name(e, x.tree, leaf), t->path)) {
        leaf++;
    }
    if (leaf == d->leaf.n) {
        const char **names = arena_array(e->arena, const char *, d->leaf.n + 1);
        for (uint32_t i = 0; i < d->leaf.n; i++) {
            names[i] = tree_leaf_name(e, x.tree, i);
        }
        fail(e, DIAG_E1002, a->a->span, "%s is no leaf of the parameters that %s moves", t->name, d->name);
        help_names(e, t->path, names, d->leaf.n);
        return false;
    }
    struct value record = tree_record(e, x, a->span); /* checks that the leaves are known */
    if (is_poison(record)) {
        return false;
    }
    build_at(e, a->span);
    struct value old = tensor_value(build_leaf(&e->b, x.node, x.tree, leaf), 0), r = v;
    struct ttype type = {.kind = T_TENSOR, .t = tensor_type(e, old)};
    r = item ? put_items(e, old, item, n, v, a->a->span, a->b->span)
             : fill_type(e, &type, v, a->b->span, arena_printf(e->arena, "next %s", t->name));
    return !is_poison(r) && commit_part(e, t->v, tree_with_leaf(e, x, leaf, r.node).node, a);
}
static void next_part(struct elab *e, const struct target *t, struct value v, struct ast *a, struct env *env)
{
    struct item item[MAX_ITEMS];
    uint32_t n = 0;
    if (t->index && !read_items(e, t->index, env, item, &n)) {
        return;
    }
    build_at(e, a->span);
    if (t->path) {
        next_leaf(e, t, t->index ? item : NULL, n, v, a);
    } else {
        put_leaves(e, t->v, item, n, v, t->name, a);
    }
}

/* The whole carry, a field of it, or items of either. */
static void next_of_carry(struct elab *e, const struct target *t, struct value v, struct ast *a,
                          struct env *env)
{
    struct item item[MAX_ITEMS];
    struct carry_part part = {.field = t->field, .n_field = t->n_field, .item = t->index ? item : NULL};
    if (!t->index || read_items(e, t->index, env, item, &part.n_item)) {
        next_carry(e, t->carry, &part, v, a);
    }
}

static bool holds_params(struct elab *e, struct value v)
{
    bool found = v.kind == V_VAR && e->g->vars.at[v.index].kind == VAR_PARAM;
    for (uint32_t i = 0; is_branch(v) && !found && i < branch_count(v); i++) {
        found = holds_params(e, *branch_at(v, i));
    }
    return found;
}
void declare_next(struct elab *e, struct ast *a, struct env *env)
{
    struct target t = {0};
    bool found = find_target(e, a->a, env, &t);
    struct value v = eval(e, a->b, env);
    v = t.states ? states_of(e, v, a->b->span) : params_of(e, v, a->b->span);
    if (!found || is_poison(v)) {
        return;
    }
    build_at(e, a->span);
    if (!t.is_place && t.v.kind == V_INST) {
        t.inst = t.v.inst;
        if (is_poison(instance_params(e, t.inst, a->a->span))) {
            return;
        }
    } else if (!t.is_place && !(all_instances(t.v) && instances_storage(e, &t.v, a->a->span))) {
        no_state(e, a->a, t.v);
        return;
    }
    bool params = t.inst || (t.is_place && holds_params(e, t.v));
    if (params &&
        !outside_scan(e, a, "carry them, as in `scan (..; p = params(x))`, and write `next` behind")) {
        return;
    }
    if (t.carry) {
        next_of_carry(e, &t, v, a, env);
    } else if (t.inst) {
        next_instance(e, t.inst, v, t.name ? t.name : t.inst->path, a);
    } else if (t.index || t.path) {
        next_part(e, &t, v, a, env);
    } else {
        commit_value(e, t.v, v, t.name ? t.name : "it", a);
    }
}
