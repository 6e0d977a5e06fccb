/* Scopes. A name of a file or of a layer level is evaluated where it is used, once for each phase, because a
 * phase has its own nodes; instances do not depend on the phase (their path is their identity).
 */
#include "compiler/elab.h"

/* -- tables of names: a file may have thousands of lets, a loop thousands of instances */

static uint32_t *place_of(const struct name_table *t, const char *name)
{
    uint32_t i = (uint32_t)fnv1a64(name, strlen(name)) & (t->n_place - 1);
    while (t->place[i] && strcmp(t->name[t->place[i] - 1], name)) {
        i = (i + 1) & (t->n_place - 1);
    }
    return &t->place[i];
}
void names_push(struct elab *e, struct name_table *t, const char *name)
{
    enum { FEW = 8 };
    if (t->n == t->cap) {
        t->name = vec_grow(e->arena, t->name, &t->cap, sizeof *t->name);
    }
    t->name[t->n++] = name;
    if (t->n > FEW && t->n * 2 > t->n_place) {
        t->n_place = t->n_place ? 2 * t->n_place : 4 * FEW;
        t->place = arena_array(e->arena, uint32_t, t->n_place);
        for (uint32_t i = 0; i + 1 < t->n; i++) {
            *place_of(t, t->name[i]) = i + 1;
        }
    }
    if (t->place) {
        *place_of(t, name) = t->n;
    }
}
int64_t names_find(const struct name_table *t, const char *name)
{
    if (t->place) {
        return (int64_t)*place_of(t, name) - 1;
    }
    for (uint32_t i = t->n; i-- > 0;) {
        if (t->name[i] == name || !strcmp(t->name[i], name)) {
            return i;
        }
    }
    return -1;
}

/* -- scopes */

struct env *env_new(struct elab *e, struct env *parent, enum env_kind kind)
{
    struct env *n = arena_new_of(e->arena, struct env);
    n->parent = parent;
    n->kind = kind;
    n->prefix = "";
    n->inst = e->root;
    if (parent) {
        n->inst = parent->inst;
        n->prefix = parent->prefix;
        n->module = parent->module;
        n->in_fn = parent->in_fn;
        n->is_layer_level = parent->is_layer_level;
    }
    return n;
}
struct slot *env_own(struct env *env, const char *name)
{
    int64_t i = names_find(&env->names, name);
    return i < 0 ? NULL : env->slots.at[i];
}
struct slot *env_add(struct elab *e, struct env *env, const char *name, struct span at, enum slot_what what,
                     struct value v)
{
    struct slot *s = env_own(env, name);
    if (!s) {
        s = arena_new_of(e->arena, struct slot);
        vec_push(e->arena, &env->slots, s);
        names_push(e, &env->names, name);
    }
    *s = (struct slot){.name = name, .span = at, .what = what, .v = v, .part = -1, .tick = e->tick->number};
    return s;
}
struct slot *env_lazy(struct elab *e, struct env *env, const char *name, struct span at, enum slot_what what,
                      struct ast *ast, struct env *in)
{
    struct slot *s = env_add(e, env, name, at, what, poison());
    s->kind = SLOT_LAZY;
    s->ast = ast;
    s->env = in;
    s->label = name;
    return s;
}
struct slot *env_find(struct env *env, const char *name, bool *closed)
{
    bool layer = false;
    *closed = false;
    for (; env; env = env->parent) {
        struct slot *s = env_own(env, name);
        if (s) {
            *closed = layer && env->kind == ENV_MODULE;
            return s;
        }
        layer |= env->kind == ENV_LAYER;
    }
    return NULL;
}

/* -- reading */

struct value pattern_error(struct elab *e, uint32_t names, struct value v, struct span at)
{
    fail(e, DIAG_E2034, at, "a pattern of %u names for %s", names, value_text(e, v));
    if (is_branch(v)) {
        diag_help(e->sink, "a pattern has a name for each part: here %u", branch_count(v));
    } else {
        diag_help(e->sink, "patterns take records and lists apart; split(x, n) makes a list of parts");
    }
    return poison();
}
static struct value pattern_part(struct elab *e, struct slot *s, struct value v)
{
    if (s->part < 0 || v.kind == V_POISON) {
        return v;
    }
    if (!is_branch(v) || s->parts != branch_count(v)) {
        return s->part ? poison() : pattern_error(e, s->parts, v, s->span); /* told once */
    }
    return *branch_at(v, (uint32_t)s->part);
}
/* Whether the value of a lazy name is still what its text says: a state may have moved on in a scan, a draw
 * of a layer is another one in each loop; those of the file are made once for each phase. */
static bool is_fresh(struct elab *e, const struct slot *s)
{
    return s->done && s->phase == e->b.phase && (!(s->seen & SEEN_STATE) || s->version == e->version) &&
           (!(s->seen & SEEN_DRAW) || s->env->kind == ENV_MODULE || s->loop == e->tick->loop) &&
           value_visible(e, s->v);
}
/* From here on draws are those of that name; returns whose they were before. */
static struct drawn *draws_of(struct elab *e, struct slot *s)
{
    struct drawn *outer = e->drawn;
    if (!s->done || s->phase != e->b.phase) {
        s->drawn.id.n = s->drawn.var.n = 0;
    }
    e->drawn = outer || s->env->kind == ENV_MODULE ? &s->drawn : NULL;
    e->redrawn = e->renamed = 0;
    return outer;
}
static struct value lazy_value(struct elab *e, struct slot *s, struct span at)
{
    if (is_fresh(e, s)) {
        e->seen |= s->seen;
        return s->v;
    }
    if (s->busy) {
        return fail(e, DIAG_E1001, at, "`%s` depends on itself", s->name);
    }
    bool in_lazy = e->in_lazy;
    struct frame *lazy_frame = e->lazy_frame;
    uint8_t seen = e->seen;
    struct tick *still = e->still;
    const uint32_t redrawn = e->redrawn, renamed = e->renamed;
    struct drawn *drawn = draws_of(e, s);
    e->seen = 0;
    e->still = s->env->kind == ENV_MODULE ? e->tick : still;
    s->busy = true;
    e->in_lazy = true;
    e->lazy_frame = e->frame;
    const struct declared d = {.type = s->type, .env = s->env, .label = s->name};
    struct value v = s->whole ? lazy_value(e, s->whole, at) : eval_declared(e, s->ast, s->env, s->label, &d);
    v = pattern_part(e, s, v);
    e->in_lazy = in_lazy;
    e->lazy_frame = lazy_frame;
    e->still = still;
    e->drawn = drawn;
    e->redrawn = redrawn;
    e->renamed = renamed;
    if (s->type && v.kind != V_POISON) {
        struct env *scratch = env_new(e, s->env, ENV_BLOCK);
        const char *what =
            s->what == NAME_BRACE ? arena_printf(e->arena, "brace parameter `%s`", s->name) : s->name;
        if (!match_type(e, s->type, &v, scratch, s->ast->span, what)) {
            v = poison();
        }
    }
    s->busy = false;
    s->v = v;
    s->done = true;
    s->phase = e->b.phase;
    s->loop = e->tick->loop;
    s->version = e->version;
    s->seen = e->seen;
    e->seen |= seen;
    return v;
}
/* What a variable starts with, in phase init. */
static struct value first_value(struct elab *e, struct value v, struct span at)
{
    const struct phase *p = &e->g->phases.at[0];
    const struct var *var = &e->g->vars.at[v.index];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (p->commits.at[i].var == v.index) {
            val n = p->commits.at[i].value;
            return var->kind == VAR_STATE && var->tree
                       ? (struct value){.kind = V_TREE, .node = n, .tree = var->tree - 1, .pad = PAD_ZERO}
                       : tensor_value(n, v.unit);
        }
    }
    return fail(e, DIAG_E3005, at, "`%s` has no first value yet", var->key);
}
struct value storage_value(struct elab *e, struct value v, struct span at)
{
    if (is_branch(v)) {
        struct value r = branch_like(e, v);
        for (uint32_t i = 0; i < branch_count(v); i++) {
            *branch_at(r, i) = storage_value(e, *branch_at(v, i), at);
        }
        if (r.kind == V_RECORD) {
            r.record->storage = v.record;
        }
        return r;
    }
    if (v.kind != V_VAR) {
        return v;
    }
    if (e->b.phase == 0) {
        return first_value(e, v, at);
    }
    return tick_read(e, v);
}
/* Made of numbers and sizes alone: of no data, storage, draw or scan, and not of the rows of a launch. */
static bool is_made_of_constants(struct elab *e, const struct node *n)
{
    const struct phase *p = &e->g->phases.at[n->phase];
    bool ok = !n->loop && (n->op == OP_const || n->op == OP_dimval ||
                           !(op_table[n->op].flags & (OPF_META | OPF_CONTROL | OPF_LOOP)));
    for (int i = 0; ok && i < n->rank; i++) {
        ok = p->b == p->batch || node_shape(e->g, n)[i] != p->b;
    }
    return ok;
}
/* A constant of another phase in the phase at hand; 0 where it is none. made: by node, what there is of it.
 */
static val constant_here(struct elab *e, val v, val *made)
{
    const struct node n = *graph_node(e->g, v);
    if (made[v] || !is_made_of_constants(e, &n)) {
        return made[v];
    }
    val *in = arena_array(e->arena, val, n.n_in + 1);
    int64_t *attr = arena_array(e->arena, int64_t, n.n_attr + 1);
    dim *dims = arena_array(e->arena, dim, n.n_dim + 1);
    memcpy(attr, node_attrs(e->g, &n), n.n_attr * sizeof *attr);
    memcpy(dims, node_dims(e->g, &n), n.n_dim * sizeof *dims);
    for (uint32_t i = 0; i < n.n_in; i++) {
        in[i] = constant_here(e, node_inputs(e->g, &n)[i], made);
        if (!in[i]) {
            return 0;
        }
    }
    struct node_spec s = {.op = (enum op)n.op,
                          .phase = e->b.phase,
                          .in = in,
                          .n_in = n.n_in,
                          .attr = attr,
                          .n_attr = n.n_attr,
                          .dims = dims,
                          .n_dim = n.n_dim,
                          .type = node_type(e->g, v),
                          .span = n.span,
                          .scope = n.scope};
    made[v] = graph_add(e->g, &s, e->sink);
    return made[v];
}
/* The first value of a state may be a local of the phase, `let s0 = zeros(..)`, where that is a
 * constant; an argument is a value of the caller, whatever it is there. */
static bool value_here(struct elab *e, struct value v, val *made, struct value *out)
{
    *out = v;
    if (v.kind == V_TENSOR) {
        out->node = constant_here(e, v.node, made);
        return out->node != 0;
    }
    if (!is_branch(v)) {
        return v.kind != V_TREE;
    }
    bool ok = true;
    *out = branch_like(e, v);
    for (uint32_t i = 0; ok && i < branch_count(v); i++) {
        ok = value_here(e, *branch_at(v, i), made, branch_at(*out, i));
    }
    return ok;
}
struct value slot_value(struct elab *e, struct slot *s, struct span at)
{
    if (s->kind == SLOT_LAZY) {
        return lazy_value(e, s, at);
    }
    if (s->kind == SLOT_VAR) {
        build_at(e, at);
        return storage_value(e, s->v, at);
    }
    int p = value_phase(e, s->v);
    if (p >= 0 && p != e->b.phase) {
        struct value constant;
        if (e->let_path && s->what == NAME_LOCAL &&
            value_here(e, s->v, arena_array(e->arena, val, e->g->nodes.n), &constant)) {
            return constant;
        }
        if (e->let_path) {
            fail(e, DIAG_E3005, at, "the initial value of %s cannot depend on `%s`, a value of phase %s",
                 e->let_path, s->name, e->g->phases.at[p].name);
        } else {
            fail(e, DIAG_E3005, at, "`%s` is a value of phase %s and does not exist in phase %s", s->name,
                 e->g->phases.at[p].name, e->g->phases.at[e->b.phase].name);
        }
        return poison();
    }
    if (!value_visible(e, s->v)) {
        fail(e, DIAG_E1013, at, "`%s` is a value of the body of a scan and does not exist outside", s->name);
        diag_help(e->sink, "`yield %s = ..` keeps its values of all iterations, a carry the last one",
                  s->name);
        return poison();
    }
    return s->v;
}

/* -- names in expressions */

bool lost_in_syntax(struct elab *e, const char *name)
{
    size_t n = strlen(name);
    for (uint32_t i = 0; i < e->sink->list.n; i++) {
        const struct diag *d = &e->sink->list.at[i];
        if (d->code != DIAG_E0100 || !d->span.file || d->span.file >= e->g->sources.list.n) {
            continue;
        }
        const struct source *s = &e->g->sources.list.at[d->span.file];
        uint32_t from = d->span.start, to = d->span.start;
        while (from && s->text[from - 1] != '\n') {
            from--;
        }
        while (to < s->n && s->text[to] != '\n') {
            to++;
        }
        if (memmem(s->text + from, to - from, name, n)) { /* quick: a loop may come here a million times */
            return true;
        }
    }
    return false;
}
static void unknown_name(struct elab *e, struct env *env, const char *name, struct span at, enum want want)
{
    if (lost_in_syntax(e, name)) {
        return;
    }
    fail(e, DIAG_E1001, at, want == WANT_DATA ? "no data set `%s`" : "unknown name `%s`", name);
    if (!e->sink->dropped) { /* told once: a loop may come here a million times */
        advise_name(e, env, name, want);
    }
}
static const char *what_text(enum slot_what w)
{
    switch (w) {
    case NAME_CONFIG:
        return "a config";
    case NAME_STATE:
        return "a state of the file";
    case NAME_PHASE:
        return "a phase";
    case NAME_DATA:
        return "a data set";
    default:
        return "an instance of the file";
    }
}
static struct value not_visible(struct elab *e, struct slot *s, struct span at)
{
    fail(e, DIAG_E1006, at, "layers do not see `%s`, %s", s->name, what_text(s->what));
    diag_help(e->sink, "add `%s` to the braces of the layer and pass it where the layer is made", s->name);
    return poison();
}
struct value name_value(struct elab *e, struct env *env, const char *name, struct span at)
{
    bool closed;
    struct slot *s = env_find(env, name, &closed);
    enum want want = e->want;
    e->want = WANT_ANY;
    if (!s) {
        struct value v = builtin_value(e, name, at);
        if (v.kind == V_MISSING) {
            unknown_name(e, env, name, at, want);
            return poison();
        }
        return v;
    }
    if (closed && s->what != NAME_DEF && s->what != NAME_CONST) {
        return not_visible(e, s, at);
    }
    struct value v = slot_value(e, s, at);
    if (walked_elsewhere(e, v, s, at)) {
        return poison();
    }
    return closed && v.kind == V_INST ? not_visible(e, s, at) : v;
}
