/* Statements of bodies: layers, fns and phases share them. A static `if` opens no scope, a round of `for`
 * does. */
#include "compiler/elab.h"

/* -- names */

/* A let that hides a local of the same layer, fn or phase is probably meant to update it. */
static void check_let_name(struct elab *e, struct env *env, const char *name, struct span at)
{
    struct slot *own = env_own(env, name);
    if (own && own->what == NAME_LOCAL && own->v.kind != V_POISON) {
        fail(e, DIAG_E1007, at, "`%s` is declared twice in this scope", name);
        diag_label(e->sink, own->span, "first here");
        diag_help(e->sink, "`%s = ..` gives it a new value", name);
        return;
    }
    for (struct env *s = env; s && s->kind != ENV_MODULE && s->kind != ENV_LAYER; s = s->parent) {
        struct slot *outer = s == env ? NULL : env_own(s, name);
        if (outer && outer->what == NAME_LOCAL) {
            fail(e, DIAG_W1001, at, "`%s` hides an outer `%s`", name, name);
            diag_label(e->sink, outer->span, "declared here");
            diag_help(e->sink, "`%s = ..` without let updates it", name);
            return;
        }
    }
}
static struct value part_of(struct value v, uint32_t i)
{
    return v.kind == V_LIST ? v.list->at[i] : v.kind == V_RECORD ? v.record->at[i] : poison();
}
static void let_pattern(struct elab *e, struct ast *a, struct env *env, struct value v)
{
    uint32_t n = v.kind == V_LIST ? v.list->n : v.kind == V_RECORD ? v.record->n : 0;
    if (v.kind != V_POISON && n != a->list.n) {
        v = pattern_error(e, a->list.n, v, a->a->span);
    }
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *name = a->list.at[i];
        check_let_name(e, env, name->name, name->span);
        env_add(e, env, name->name, name->span, NAME_LOCAL, part_of(v, i));
    }
}
static void lazy_let(struct elab *e, struct ast *a, struct env *env, enum slot_what what)
{
    if (a->name) {
        env_lazy(e, env, a->name, a->name_span.file ? a->name_span : a->span, what, a->a, env)->type =
            a->type;
        return;
    }
    struct slot *whole = arena_new_of(e->arena, struct slot);
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *name = a->list.at[i];
        struct slot *s = env_lazy(e, env, name->name, name->span, what, a->a, env);
        if (i == 0) {
            *whole = *s;
            whole->label = NULL;
        }
        s->whole = whole;
        s->part = (int)i;
        s->parts = a->list.n;
        s->label = NULL;
    }
}
void declare_let(struct elab *e, struct ast *a, struct env *env, bool lazy, enum slot_what what)
{
    if (lazy) {
        lazy_let(e, a, env, what);
        return;
    }
    const struct declared d = {.type = a->type, .env = env, .label = a->name};
    struct value v = eval_declared(e, a->a, env, a->name, &d);
    if (a->type && v.kind != V_POISON) {
        struct env *scratch = env_new(e, env, ENV_BLOCK);
        const char *name = a->name ? arena_printf(e->arena, "`%s`", a->name) : "the value";
        if (!match_type(e, a->type, &v, scratch, a->a->span, name)) {
            v = poison();
        }
    }
    if (!a->name) {
        let_pattern(e, a, env, v);
        return;
    }
    struct span at = a->name_span.file ? a->name_span : a->span;
    v = named_draw(e, env, a->name, a->a, v);
    check_let_name(e, env, a->name, at);
    struct slot *s = env_add(e, env, a->name, at, NAME_LOCAL, v);
    s->ast = a->a;
    s->env = env;
}
void check_params(struct elab *e, const struct ast_list *params, const struct ast_list *outer)
{
    for (uint32_t i = 0; i < params->n; i++) {
        const struct ast *p = params->at[i], *first = NULL;
        for (uint32_t k = 0; outer && k < outer->n; k++) {
            first = strcmp(outer->at[k]->name, p->name) ? first : outer->at[k];
        }
        for (uint32_t k = 0; k < i; k++) {
            first = strcmp(params->at[k]->name, p->name) ? first : params->at[k];
        }
        if (first) {
            fail(e, DIAG_E1007, p->name_span.file ? p->name_span : p->span, "two parameters `%s`", p->name);
            diag_help(e->sink, "each has a name of its own");
            diag_label(e->sink, first->name_span.file ? first->name_span : first->span, "first here");
        }
    }
}
void declare_fn(struct elab *e, struct ast *a, struct env *env, struct inst *inst)
{
    struct slot *before = env_own(env, a->name ? a->name : "()");
    struct span at = a->name_span.file ? a->name_span : a->span;
    struct fn *f = arena_new_of(e->arena, struct fn);
    if (before) {
        fail(e, DIAG_E1007, at, a->name ? "`%s` is declared twice" : "a second entry without a name%s",
             a->name ? a->name : "");
        diag_label(e->sink, before->span, "first here");
    }
    check_params(e, &a->list, NULL);
    *f = (struct fn){.name = a->name,
                     .params = &a->list,
                     .result = a->type,
                     .body = a->b,
                     .env = env,
                     .inst = inst,
                     .span = a->span};
    env_add(e, env, a->name ? a->name : "()", a->name_span.file ? a->name_span : a->span, NAME_DEF,
            (struct value){.kind = V_FN, .fn = f});
}
/* x[i] = e, r.x[i] = e: the local gets a new value; what else holds the old one keeps it. */
static struct value updated(struct elab *e, struct value x, struct ast *t, struct env *env, struct value v,
                            const struct ast *set)
{
    struct item item[MAX_ITEMS];
    uint32_t n;
    if (t->kind == AST_ID) {
        return v;
    }
    struct value old = t->a->kind == AST_ID ? x : eval(e, t->a, env);
    if (t->kind == AST_INDEX) {
        if (is_poison(old) || !read_items(e, t, env, item, &n)) {
            return poison();
        }
        v = put_items(e, old, item, n, v, t->span, set->b->span);
    } else {
        struct value *f = old.kind == V_RECORD ? value_field(old, t->name) : NULL;
        if (!f) {
            return with_help(e, fail(e, DIAG_E1020, t->span, "`%s` is no field of a local record", t->name),
                             "a record keeps its fields: name all of them where it is made");
        }
        struct value r = branch_like(e, old);
        memcpy(r.record->at, old.record->at, old.record->n * sizeof *old.record->at);
        *value_field(r, t->name) = v;
        v = r;
    }
    return is_poison(v) ? v : updated(e, x, t->a, env, v, set);
}
static struct slot *set_target(struct elab *e, struct ast *t, struct env *env)
{
    bool closed;
    while (t->kind == AST_INDEX || t->kind == AST_DOT) {
        t = t->a;
    }
    if (t->kind != AST_ID) {
        fail(e, DIAG_E1020, t->span, "only a local name can be assigned");
        diag_help(e->sink, "give the value a name first: `let x = ..`");
        return NULL;
    }
    struct slot *s = env_find(env, t->name, &closed);
    if (s && s->what == NAME_CARRY) {
        fail(e, DIAG_E1021, t->span, "`%s` is a carry of the scan", t->name);
        diag_help(e->sink, "`next %s = ..` gives the value of the next iteration", t->name);
        return NULL;
    }
    if (s && s->tick != e->tick->number && (s->what == NAME_LOCAL || s->what == NAME_ARG)) {
        fail(e, DIAG_E1020, t->span, "`%s` is declared outside of the scan and cannot change in its body",
             t->name);
        diag_label(e->sink, s->span, "declared here");
        diag_help(e->sink, "make it a carry: `scan (..; %s = %s) { next %s = .. }`", t->name, t->name,
                  t->name);
        return NULL;
    }
    if (s && s->kind != SLOT_VAR) {
        return s;
    }
    if (s) {
        fail(e, DIAG_E1021, t->span, "`%s` is a %s", t->name, s->what == NAME_PARAM ? "parameter" : "state");
        diag_help(e->sink, s->what == NAME_PARAM ? "minimize moves parameters" : "`next %s = ..`", t->name);
    } else if (name_value(e, env, t->name, t->span).kind != V_POISON) {
        fail(e, DIAG_E1020, t->span, "`%s` belongs to the language", t->name);
    } else {
        diag_help(e->sink, "`let %s = ..` introduces a name", t->name);
        env_add(e, env, t->name, t->span, NAME_LOCAL, poison()); /* told once */
    }
    return NULL;
}
static void set_name(struct elab *e, struct ast *a, struct env *env)
{
    struct ast *t = a->a;
    struct value v = eval_named(e, a->b, env, t->kind == AST_ID ? t->name : NULL);
    if (t->kind == AST_DOT) {
        fail(e, DIAG_E1020, t->span, "only a local name can be assigned, or a part of it: `x[i] = ..`");
        diag_help(e->sink, "`next s = ..` gives a state or parameter its next value; a record is made anew, "
                           "as in `r = (a = 1, b = r.b)`");
        return;
    }
    struct slot *s = set_target(e, t, env);
    if (!s) {
        return;
    }
    bool layer_list = s->what == NAME_CONST && env->is_layer_level;
    bool local = s->what == NAME_LOCAL || s->what == NAME_ARG;
    if (t->kind == AST_INDEX && (local || layer_list)) {
        struct value old = slot_value(e, s, t->span);
        v = is_poison(v) || is_poison(old) ? poison() : updated(e, old, t, env, v, a);
    }
    if (layer_list && value_phase(e, v) < 0) {
        s->kind = SLOT_VALUE; /* a list that the layer level builds */
        s->v = v;
    } else if (!local) {
        fail(e, DIAG_E1020, t->span, "`%s` is no local name", s->name);
        diag_help(e->sink, "`let %s = ..` introduces a local", s->name);
    } else {
        s->v = v;
        s->ast = t->kind == AST_ID ? a->b : NULL;
        s->env = env;
        s->part = -1;
    }
}

/* -- if, for */

/* After a wrong condition the names that either side would introduce are poison, not unknown. */
static void poison_block(struct elab *e, struct ast *b, struct env *env)
{
    for (uint32_t i = 0; b && i < b->list.n; i++) {
        struct ast *a = b->list.at[i];
        if (a->kind == AST_LET || a->kind == AST_PARAM || a->kind == AST_STATE) {
            for (uint32_t k = 0; k < a->list.n; k++) {
                if (a->kind == AST_LET) {
                    env_add(e, env, a->list.at[k]->name, NO_SPAN, NAME_LOCAL, poison());
                }
            }
            if (a->name) {
                env_add(e, env, a->name, NO_SPAN, NAME_LOCAL, poison());
            }
        }
    }
}
static enum flow exec_if(struct elab *e, struct ast *a, struct env *env)
{
    bool c;
    if (!want_bool(e, eval(e, a->a, env), a->a->span, "the condition of `if`", &c)) {
        poison_block(e, a->b, env);
        e->result = poison();
        return FLOW_NEXT;
    }
    struct ast *b = c ? a->b : a->c;
    if (!b) {
        return FLOW_NEXT;
    }
    return b->kind == AST_IF ? exec_if(e, b, env) : exec_block(e, b, env);
}
struct rounds {
    struct value list; /* or */
    int64_t from;
    bool is_range;
};
static bool read_loop(struct elab *e, struct ast *a, struct env *env, struct rounds *l, int64_t *n)
{
    int64_t to;
    if (a->kind == AST_OPTION) {
        fail(e, DIAG_E1004, a->span, "`for` has no option `%s`", a->name);
        diag_help(e->sink, "it walks lists and ranges; `scan (x in t, axis = 1)` walks an axis of a tensor");
        return false;
    }
    l->is_range = a->kind == AST_RANGE;
    if (l->is_range) {
        if (!want_int(e, eval(e, a->a, env), a->a->span, "the start of the range", &l->from) ||
            !want_int(e, eval(e, a->b, env), a->b->span, "the end of the range", &to)) {
            return false;
        }
        *n = to > l->from ? to - l->from : 0;
        return true;
    }
    l->list = eval(e, a->a, env);
    if (l->list.kind != V_LIST) {
        if (!is_poison(l->list)) {
            fail(e, DIAG_E2040, a->a->span, "`for` runs over a list or a range, found %s",
                 value_text(e, l->list));
            if (is_number(l->list)) {
                diag_help(e->sink, "write 0..%s", source_slice(e, a->a->span));
            } else if (l->list.kind == V_TENSOR) {
                diag_help(e->sink, "`scan (x in t) { .. }` walks a tensor");
            }
        }
        return false;
    }
    *n = l->list.list->n;
    return true;
}
/* Rounds are written out one after the other, so a count that is a slip is refused before the first. */
static bool rounds_ok(struct elab *e, struct ast *a, int64_t n)
{
    if (n <= LIMIT_ROUNDS) {
        return true;
    }
    fail(e, DIAG_E0110, a->span, "this loop has %lld rounds; `for` is written out, and takes at most %d",
         (long long)n, (int)LIMIT_ROUNDS);
    return false;
}
static enum flow exec_for(struct elab *e, struct ast *a, struct env *env)
{
    struct rounds *loop = arena_array(e->arena, struct rounds, a->list.n ? a->list.n : 1);
    int64_t n = 0;
    for (uint32_t i = 0; i < a->list.n; i++) {
        int64_t m;
        if (!read_loop(e, a->list.at[i], env, &loop[i], &m)) {
            return FLOW_NEXT;
        }
        if (i && m != n) {
            fail(e, DIAG_E2040, a->list.at[i]->span,
                 "the lists of a `for` have equal length, found %lld and %lld", (long long)n, (long long)m);
            diag_help(e->sink, "list[0:%lld] takes as many as the shorter one has",
                      (long long)(n < m ? n : m));
            return FLOW_NEXT;
        }
        n = m;
    }
    if (!rounds_ok(e, a->list.n ? a->list.at[0] : a, n)) {
        return FLOW_NEXT;
    }
    for (int64_t k = 0; k < n && spend(e, 8, a->span); k++) {
        struct env *round = env_new(e, env, ENV_BLOCK);
        if (a->str) {
            round->prefix =
                join_path(e, env->prefix, arena_printf(e->arena, "%s.%lld", a->str, (long long)k));
        }
        for (uint32_t i = 0; i < a->list.n; i++) {
            struct value v =
                loop[i].is_range ? num_value((double)(loop[i].from + k), true) : loop[i].list.list->at[k];
            v = walked_elsewhere(e, v, NULL, a->list.at[i]->span) ? poison() : v;
            struct slot *s = env_add(e, round, a->list.at[i]->name, a->list.at[i]->span, NAME_ARG, v);
            s->ast = loop[i].is_range ? NULL : a->list.at[i]->a;
            s->env = env;
            s->part = (int)k;
        }
        if (exec_block(e, a->b, round) == FLOW_RETURN) {
            return FLOW_RETURN;
        }
        if (e->sink->full) {
            return FLOW_NEXT;
        }
    }
    return FLOW_NEXT;
}

/* -- dispatch */

static enum flow exec(struct elab *e, struct ast *a, struct env *env)
{
    switch (a->kind) {
    case AST_LET:
        declare_let(e, a, env, env->is_layer_level, env->is_layer_level ? NAME_CONST : NAME_LOCAL);
        break;
    case AST_PARAM:
        declare_param(e, a, env);
        break;
    case AST_STATE:
        declare_state(e, a, env);
        break;
    case AST_NEXT:
        declare_next(e, a, env);
        break;
    case AST_SET:
        set_name(e, a, env);
        break;
    case AST_DO:
        eval(e, a->a, env);
        break;
    case AST_FOR:
        return exec_for(e, a, env);
    case AST_IF:
        return exec_if(e, a, env);
    case AST_BLOCK:
        return exec_block(e, a, env);
    case AST_RETURN:
        if (scan_around(env)) {
            outside_scan(e, a, "a scan has no early end: `yield` gives its results");
            break;
        }
        if (e->frame && e->frame->inst == e->root && !e->frame->what) {
            fail(e, DIAG_E1006, a->span, "`return` stands in a layer or fn");
            diag_help(e->sink, "a phase has `output`, `metric` and `next`");
        }
        e->result = eval(e, a->a, env);
        return FLOW_RETURN;
    case AST_MINIMIZE:
        do_minimize(e, a, env);
        break;
    case AST_METRIC:
        do_metric(e, a, env);
        break;
    case AST_OUTPUT:
        do_output(e, a, env);
        break;
    case AST_ASSERT:
        do_assert(e, a, env);
        break;
    case AST_YIELD:
        do_yield(e, a, env);
        break;
    default:
        break; /* fn: declared before; what the parser could not read was reported by it */
    }
    return FLOW_NEXT;
}
enum flow exec_block(struct elab *e, struct ast *block, struct env *env)
{
    if (!block) {
        return FLOW_NEXT;
    }
    env->block = env->is_layer_level ? NULL : block;
    for (uint32_t i = 0; !env->is_layer_level && i < block->list.n; i++) {
        if (block->list.at[i]->kind == AST_FN) {
            declare_fn(e, block->list.at[i], env, NULL);
        }
    }
    for (uint32_t i = 0; i < block->list.n; i++) {
        if (exec(e, block->list.at[i], env) == FLOW_RETURN) {
            return FLOW_RETURN;
        }
    }
    return FLOW_NEXT;
}
