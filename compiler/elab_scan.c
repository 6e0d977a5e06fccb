/* scan: a recurrence, or a map where there is no carry (language.md, language-rules 3.12, 3.13). The body is
 * elaborated once; which nodes belong to the loop follows from their inputs (struct loop in graph.h), so it
 * uses names from outside like any other text. Records and lists go leaf by leaf. States: elab_tick.c.
 */
#include "compiler/elab.h"

struct scan {
    struct ast *ast;
    struct env *env;
    struct tick *tick;
    int64_t axis;
    bool reverse;
    dim count;               /* 0 = not known yet */
    struct span counted;     /* the input that said it */
    struct value *in, *from; /* by input: what is walked, its axis in front; first value of a counter */
};
/* What a value is made into, leaf by leaf. */
typedef struct value leaf_fn(struct elab *e, struct value leaf, void *with);
static struct value each_leaf(struct elab *e, struct value v, leaf_fn *f, void *with)
{
    if (!is_branch(v)) {
        return f(e, v, with);
    }
    struct value r = branch_like(e, v);
    for (uint32_t i = 0; i < branch_count(v); i++) {
        *branch_at(r, i) = each_leaf(e, *branch_at(v, i), f, with);
    }
    return r;
}

/* -- options, inputs */

static bool read_option(struct elab *e, struct scan *s, struct ast *a)
{
    static const char *const known[] = {"axis", "reverse"};
    struct value v = eval(e, a->a, s->env);
    if (!strcmp(a->name, "axis")) {
        return want_int(e, v, a->a->span, "`axis`", &s->axis);
    }
    if (!strcmp(a->name, "reverse")) {
        return want_bool(e, v, a->a->span, "`reverse`", &s->reverse);
    }
    fail(e, DIAG_E1004, a->span, "`scan` has no option `%s`", a->name);
    help_names(e, a->name, known, 2);
    return false;
}
static bool same_length(struct elab *e, struct scan *s, dim n, struct span at)
{
    if (s->count && s->count != n) {
        fail(e, DIAG_E2060, at, "the inputs of a scan have equal length, found %s and %s",
             dim_text(e, s->count), dim_text(e, n));
        if (s->counted.start != at.start) {
            diag_label(e->sink, s->counted, "%s parts", dim_text(e, s->count));
        }
        diag_help(e->sink, "axis = .. chooses the axis that is walked; slice the longer one, as in `x[1:]`");
        help_tail(e, s->count, n);
        return false;
    }
    s->counted = s->count ? s->counted : at;
    s->count = n;
    return true;
}
struct walk {
    struct scan *s;
    struct span at;
    int64_t axis;
    bool ok;
};
static struct value nothing_to_walk(struct elab *e, struct walk *w, struct value v)
{
    w->ok = false;
    if (is_poison(v)) {
        return poison();
    }
    fail(e, DIAG_E2063, w->at, "a scan walks an axis of a tensor, found %s", value_text(e, v));
    if (is_number(v)) {
        diag_help(e->sink, "a counter is written `t in 0..%s`", source_slice(e, w->at));
    } else if (v.kind == V_TENSOR) {
        diag_help(e->sink, "what has no axis is the same in every iteration: use it in the body");
    } else {
        diag_help(e->sink, "tensors, records of tensors, lists and `t in 0..T` can be walked");
    }
    return poison();
}
/* A leaf with the axis that is walked in front. */
static struct value walk_leaf(struct elab *e, struct value v, void *with)
{
    struct walk *w = with;
    struct type t = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    int axis, perm[LIMIT_RANK];
    if (!w->ok || !t.rank) {
        return w->ok ? nothing_to_walk(e, w, v) : poison();
    }
    w->ok = want_axis(e, num_value((double)w->axis, true), w->at, t.rank, &axis) &&
            same_length(e, w->s, t.dim[axis], w->at);
    if (!w->ok) {
        return poison();
    }
    perm[0] = axis;
    for (int i = 1; i < t.rank; i++) {
        perm[i] = i <= axis ? i - 1 : i;
    }
    uint32_t low = v.unit & ((1u << axis) - 1), high = v.unit >> (axis + 1) << axis;
    build_at(e, w->at);
    return tensor_value(axis ? build_permute(&e->b, v.node, perm) : v.node, (low | high) << 1);
}
/* The elements of a list are its parts. */
static struct value stacked(struct elab *e, struct scan *s, struct value v, struct ast *a)
{
    struct span span[1] = {a->span};
    const char *name[1] = {NULL};
    struct ast *ast[1] = {a};
    struct args args = {1, &v, name, span, ast};
    return call_value(e, builtin_value(e, "stack", a->span), &args, s->env, a);
}
static bool has_instance(struct value list)
{
    bool has = false;
    for (uint32_t i = 0; i < list.list->n; i++) {
        has |= list.list->at[i].kind == V_INST;
    }
    return has;
}
static bool read_input(struct elab *e, struct scan *s, struct ast *a, uint32_t k)
{
    struct walk w = {s, a->a->span, s->axis, true};
    struct value v = eval(e, a->a, s->env);
    if (v.kind == V_INST) {
        v = instance_params(e, v.inst, w.at);
    }
    if (v.kind == V_TREE) {
        v = tree_record(e, v, w.at);
    }
    if (v.kind == V_LIST && has_instance(v)) {
        s->in[k] = roll_instances(e, s->tick, v, w.at);
        return !is_poison(s->in[k]) && same_length(e, s, dim_const(&e->g->dims, v.list->n), w.at);
    }
    if (v.kind == V_LIST && v.list->n) {
        v = stacked(e, s, v, a->a);
        w.axis = 0;
    }
    s->in[k] = v.kind == V_NONE                   ? v
               : is_branch(v) && !branch_count(v) ? nothing_to_walk(e, &w, v)
                                                  : each_leaf(e, v, walk_leaf, &w);
    return w.ok;
}
static bool read_counter(struct elab *e, struct scan *s, struct ast *a, uint32_t k)
{
    struct value end[2] = {eval(e, a->b, s->env), eval(e, a->a, s->env)};
    dim n;
    int64_t c;
    for (int i = 0; i < 2; i++) {
        struct span at = i ? a->a->span : a->b->span;
        if (!want_dim(e, end[i], at, "the bound of a counter", &n)) {
            return false;
        }
    }
    if (!want_dim(e, fold_op(e, OP_sub, end, 2, a->span), a->span, "the length of a counter", &n)) {
        return false;
    }
    n = dim_is_const(&e->g->dims, n, &c) && c < 0 ? dim_const(&e->g->dims, 0) : n;
    s->from[k] = end[1];
    return same_length(e, s, n, a->span);
}
static bool names_differ(struct elab *e, const struct ast *a)
{
    const struct ast_list *list[] = {&a->list, &a->list2};
    for (uint32_t i = 0; i < a->list.n + a->list2.n; i++) {
        const struct ast *x = i < a->list.n ? list[0]->at[i] : list[1]->at[i - a->list.n];
        for (uint32_t k = 0; k < i; k++) {
            const struct ast *y = k < a->list.n ? list[0]->at[k] : list[1]->at[k - a->list.n];
            if (!strcmp(x->name, y->name) && (x->kind == AST_OPTION) == (y->kind == AST_OPTION)) {
                fail(e, DIAG_E1007, x->name_span, "the scan has two names `%s`", x->name);
                diag_label(e->sink, y->name_span, "first here");
                diag_help(e->sink, "each input and carry has a name of its own in the body");
                return false;
            }
        }
    }
    return true;
}
static bool read_inputs(struct elab *e, struct scan *s)
{
    const struct ast_list *l = &s->ast->list;
    bool ok = names_differ(e, s->ast);
    for (uint32_t i = 0; i < l->n; i++) {
        ok = (l->at[i]->kind != AST_OPTION || read_option(e, s, l->at[i])) && ok;
    }
    for (uint32_t i = 0; ok && i < l->n; i++) {
        ok = l->at[i]->kind == AST_IN      ? read_input(e, s, l->at[i], i)
             : l->at[i]->kind == AST_RANGE ? read_counter(e, s, l->at[i], i)
                                           : true;
    }
    if (ok && !s->count) {
        fail(e, DIAG_E2063, s->tick->span, "this scan has no length");
        diag_help(e->sink, "walk a tensor, or count: `scan (t in 0..10) { .. }`");
        ok = false;
    }
    return ok;
}

/* -- carries */

static struct value first_leaf(struct elab *e, struct value v, void *with)
{
    const struct ast *a = with;
    v = v.kind == V_INST ? instance_params(e, v.inst, a->span) : v;
    if (v.kind == V_RECORD) { /* of an instance */
        return each_leaf(e, v, first_leaf, with);
    }
    if (v.kind == V_TREE) {
        return tree_masked(e, v, 0);
    }
    if (v.kind == V_TENSOR || is_scalar_static(v)) {
        return tensor_value(want_tensor(e, v, a->span, "a carry", NULL), v.kind == V_TENSOR ? v.unit : 0);
    }
    if (v.kind != V_POISON) {
        fail(e, DIAG_E2023, a->span, "%s cannot be a carry", value_text(e, v));
        diag_help(e->sink, "a carry is a number, a tensor or a record of them, as in zeros([4])");
    }
    return poison();
}
/* Before the body: first values belong to the tick around. */
static bool read_carries(struct elab *e, struct scan *s, struct tick *t)
{
    bool ok = true;
    for (uint32_t i = 0; i < s->ast->list2.n; i++) {
        struct ast *b = s->ast->list2.at[i];
        struct carried c = {.name = b->name, .span = b->name_span, .first = b->a->span};
        c.now = each_leaf(e, eval(e, b->a, s->env), first_leaf, b->a);
        ok &= !is_poison(c.now);
        vec_push(e->arena, &t->carried, c);
    }
    return ok;
}
static struct value carry_leaf(struct elab *e, struct value v, void *with)
{
    v.node = tick_carry(e, with, v.node);
    return v;
}
/* v with the type of the carry: numbers adapt, the rest must have it. */
static struct value fit_carry(struct elab *e, struct value now, struct value v, const char *name,
                              struct span first, struct span at)
{
    if (is_poison(v)) {
        return poison();
    }
    if (is_branch(now)) {
        struct value r = branch_like(e, now);
        if (!is_scalar(e, v) && !(is_branch(v) && same_branch(now, v))) {
            fail(e, DIAG_E2061, at, "next %s is %s, the carry has other fields", name, value_text(e, v));
            help_fields(e, now);
            return poison();
        }
        for (uint32_t i = 0; i < branch_count(now); i++) {
            const char *part = now.kind == V_RECORD
                                   ? arena_printf(e->arena, "%s.%s", name, now.record->name[i])
                                   : arena_printf(e->arena, "%s[%u]", name, i);
            *branch_at(r, i) =
                fit_carry(e, *branch_at(now, i), is_branch(v) ? *branch_at(v, i) : v, part, first, at);
        }
        return is_poison(r) ? poison() : r;
    }
    struct ttype *t = type_of(e, now);
    struct type found = v.kind == V_TENSOR ? tensor_type(e, v) : (struct type){0};
    bool number = v.kind == V_NUM && t->kind == T_TENSOR && t->t.dtype == DT_I32 && !v.is_int;
    if ((v.kind == V_TENSOR && (t->kind == T_TREE || !type_equal(&found, &t->t))) || number) {
        fail(e, DIAG_E2061, at, "next %s is %s, the carry is %s", name, value_text(e, v), ttype_text(e, t));
        diag_label(e->sink, first, "its first value");
        found.dtype = number ? DT_F32 : found.dtype;
        help_next(e, name, true, &t->t, &found);
        return poison();
    }
    v = fill_type(e, t, v, at, arena_printf(e->arena, "next %s", name));
    return v.kind == V_TREE ? tree_masked(e, v, 0) : v;
}
/* The whole carry with the part replaced. `so_far` is what the iteration made of it, `now` its old value. */
static struct value part_of_carry(struct elab *e, const struct carried *c, const struct carry_part *p,
                                  struct value so_far, struct value now, struct value v, struct ast *a)
{
    if (is_poison(so_far)) {
        return poison();
    }
    if (p->n_field) {
        struct value r = branch_like(e, so_far);
        struct carry_part rest = {p->field + 1, p->n_field - 1, p->n_item, p->item};
        memcpy(r.record->at, so_far.record->at, r.record->n * sizeof *r.record->at);
        *value_field(r, *p->field) =
            part_of_carry(e, c, &rest, *value_field(so_far, *p->field), *value_field(now, *p->field), v, a);
        return is_poison(r) ? poison() : r;
    }
    if (p->item) {
        v = put_items(e, so_far, p->item, p->n_item, v, a->a->span, a->b->span);
    }
    return fit_carry(e, now, v, source_slice(e, a->a->span), c->first, a->b->span);
}
void next_carry(struct elab *e, struct slot *s, const struct carry_part *part, struct value v, struct ast *a)
{
    struct tick *t = e->tick;
    struct carried *c = NULL;
    for (uint32_t i = 0; i < t->carried.n && s->tick == t->number; i++) {
        c = strcmp(t->carried.at[i].name, s->name) ? c : &t->carried.at[i];
    }
    if (!c) {
        fail(e, DIAG_E1022, a->a->span, "`%s` is a carry of the scan around this one", s->name);
        diag_label(e->sink, s->span, "its scan is here");
        diag_help(e->sink, "carry it through this scan too, and give it its next value after that");
        return;
    }
    if (c->set && !part->n_field && !part->item) {
        second_next(e, a, c->name, c->set_at);
        return;
    }
    build_at(e, a->span);
    c->next = part_of_carry(e, c, part, c->set ? c->next : c->now, c->now, v, a);
    c->set_at = c->set ? c->set_at : a->span;
    c->set = true;
}

/* -- the body */

struct tick *scan_around(struct env *env)
{
    for (; env && env->kind == ENV_BLOCK && !env->scan; env = env->parent) {
    }
    return env ? env->scan : NULL;
}
bool outside_scan(struct elab *e, struct ast *a, const char *advice)
{
    if (!e->tick->up) {
        return true;
    }
    fail(e, DIAG_E1011, a->span, "`%s` in the body of a scan", ast_kind_name(a->kind));
    diag_label(e->sink, e->tick->span, "the scan");
    diag_help(e->sink, "%s", advice);
    return false;
}
static struct value yield_leaf(struct elab *e, struct value v, void *with)
{
    const struct ast *a = with;
    v = v.kind == V_INST ? instance_params(e, v.inst, a->span) : v;
    v = v.kind == V_TREE ? tree_record(e, v, a->span) : v;
    if (v.kind == V_RECORD) {
        return each_leaf(e, v, yield_leaf, with);
    }
    return tensor_value(want_tensor(e, v, a->span, "a yield", NULL), v.kind == V_TENSOR ? v.unit : 0);
}
static bool yield_is_free(struct elab *e, const struct tick *t, const struct ast *b)
{
    for (uint32_t i = 0; i < t->carried.n; i++) {
        if (!strcmp(t->carried.at[i].name, b->name)) {
            fail(e, DIAG_E1010, b->name_span, "`%s` is both carry and yield of the scan", b->name);
            diag_label(e->sink, t->carried.at[i].span, "the carry");
            diag_help(e->sink, "the result has one field of that name: give the yield another one");
            return false;
        }
    }
    for (uint32_t i = 0; i < t->yields.n; i++) {
        if (!strcmp(t->yields.at[i].name, b->name)) {
            fail(e, DIAG_E1007, b->name_span, "the scan yields `%s` twice", b->name);
            diag_label(e->sink, t->yields.at[i].span, "first here");
            diag_help(e->sink, "a name is yielded once in an iteration");
            return false;
        }
    }
    return true;
}
void do_yield(struct elab *e, struct ast *a, struct env *env)
{
    struct tick *t = scan_around(env);
    if (!t) {
        fail(e, DIAG_E1012, a->span, "`yield` stands in the body of a scan");
        diag_help(e->sink, "a layer or fn returns its value; the scan that applies it yields that");
        return;
    }
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *b = a->list.at[i];
        struct value v = eval(e, b->a, env);
        struct yielded y = {b->name, poison(), b->name_span};
        if (yield_is_free(e, t, b)) {
            y.v = is_poison(v) ? v : each_leaf(e, v, yield_leaf, b->a);
            vec_push(e->arena, &t->yields, y);
        }
    }
}
static struct value part_leaf(struct elab *e, struct value v, void *with)
{
    const struct tick *t = with;
    return v.kind != V_TENSOR
               ? v
               : tensor_value(build_attrs(&e->b, OP_loop_in, &v.node, 1, (int64_t[]){t->loop}, 1),
                              v.unit >> 1);
}
static struct env *open_body(struct elab *e, struct scan *s, struct tick *t)
{
    struct env *body = env_new(e, s->env, ENV_BLOCK);
    body->scan = t;
    for (uint32_t i = 0; i < s->ast->list.n; i++) {
        struct ast *a = s->ast->list.at[i];
        struct value v = poison();
        build_at(e, a->span);
        if (a->kind == AST_IN) {
            v = each_leaf(e, s->in[i], part_leaf, t);
        } else if (a->kind == AST_RANGE) {
            struct site site = {.at = a->span, .env = s->env};
            val k = build_attrs(&e->b, OP_loop_index, NULL, 0, (int64_t[]){t->loop}, 1);
            v = s->from[i].kind == V_NUM && s->from[i].known && !s->from[i].live && s->from[i].num == 0
                    ? tensor_value(k, 0)
                    : elementwise(e, OP_add, (struct value[]){tensor_value(k, 0), s->from[i]}, 2, &site);
        }
        if (a->kind != AST_OPTION) {
            env_add(e, body, a->name, a->name_span, NAME_ARG, v);
        }
    }
    for (uint32_t i = 0; i < t->carried.n; i++) {
        struct carried *c = &t->carried.at[i];
        build_at(e, c->span);
        c->now = each_leaf(e, c->now, carry_leaf, t);
        env_add(e, body, c->name, c->span, NAME_CARRY, c->now);
    }
    return body;
}

/* -- the result */

struct nodes {
    VEC(val) list;
};
static struct value collect_leaf(struct elab *e, struct value v, void *with)
{
    struct nodes *n = with;
    vec_push(e->arena, &n->list, v.node);
    return v;
}
struct result {
    struct scan *s;
    val end;
    int64_t carry, yield; /* numbers of the next ones */
    struct span at;
    const char *name;
};
static struct value last_leaf(struct elab *e, struct value v, void *with)
{
    struct result *r = with;
    v.node = build_attrs(&e->b, OP_loop_last, &r->end, 1, (int64_t[]){r->carry++}, 1);
    return v;
}
/* All values of a yield, with the axis of iterations where the inputs have it. */
static struct value stack_leaf(struct elab *e, struct value v, void *with)
{
    struct result *r = with;
    int rank = tensor_type(e, v).rank, perm[LIMIT_RANK];
    int64_t axis = r->s->axis < 0 ? r->s->axis + rank + 1 : r->s->axis;
    if (axis < 0 || axis > rank) {
        fail(e, DIAG_E2005, r->at, "the yield `%s` is %s: with one more axis it has no axis %lld", r->name,
             value_text(e, v), (long long)r->s->axis);
        diag_help(e->sink,
                  "yields stack at the axis that the scan walks; permute the input, and walk axis 0");
        return poison();
    }
    val out = build_attrs(&e->b, OP_loop_out, &r->end, 1, (int64_t[]){r->yield++}, 1);
    if (!out) {
        note_origin(e);
        return poison();
    }
    for (int i = 0; i <= rank; i++) {
        perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    }
    uint32_t low = v.unit & ((1u << axis) - 1), high = v.unit >> axis << (axis + 1);
    return tensor_value(axis ? build_permute(&e->b, out, perm) : out, low | high);
}
static bool body_ok(const struct tick *t)
{
    bool ok = true;
    for (uint32_t i = 0; i < t->carried.n; i++) {
        ok &= !t->carried.at[i].set || !is_poison(t->carried.at[i].next);
    }
    for (uint32_t i = 0; i < t->yields.n; i++) {
        ok &= !is_poison(t->yields.at[i].v);
    }
    return ok;
}
static struct value close_body(struct elab *e, struct scan *s, struct tick *t)
{
    struct nodes next = {0}, yield = {0};
    for (uint32_t i = 0; i < t->carried.n; i++) {
        const struct carried *c = &t->carried.at[i];
        each_leaf(e, c->set ? c->next : c->now, collect_leaf, &next);
    }
    for (uint32_t i = 0; i < t->yields.n; i++) {
        each_leaf(e, t->yields.at[i].v, collect_leaf, &yield);
    }
    struct result r = {.s = s, .end = tick_end(e, t, next.list.at, yield.list.at, yield.list.n)};
    tick_leave(e, t, r.end, yield.list.n);
    if (!r.end) {
        return poison();
    }
    struct value v = record_value(e, t->yields.n + t->carried.n);
    for (uint32_t i = 0; i < t->yields.n; i++) {
        r.at = t->yields.at[i].span;
        r.name = v.record->name[i] = t->yields.at[i].name;
        build_at(e, r.at);
        v.record->at[i] = each_leaf(e, t->yields.at[i].v, stack_leaf, &r);
    }
    for (uint32_t i = 0, k = t->yields.n; i < t->carried.n; i++, k++) {
        v.record->name[k] = t->carried.at[i].name;
        build_at(e, t->carried.at[i].span);
        v.record->at[k] = each_leaf(e, t->carried.at[i].now, last_leaf, &r);
    }
    return count_parts(e, v, s->ast->span);
}
struct value eval_scan(struct elab *e, struct ast *a, struct env *env)
{
    struct scan s = {.ast = a,
                     .env = env,
                     .in = arena_array(e->arena, struct value, a->list.n + 1),
                     .from = arena_array(e->arena, struct value, a->list.n + 1)};
    struct span word = {a->span.start, a->span.start + 4, a->span.file};
    struct tick t = {.number = ++e->scans, .span = word};
    uint32_t errors = e->sink->n_errors;
    s.tick = &t;
    if (!read_inputs(e, &s) || !read_carries(e, &s, &t)) {
        return poison();
    }
    t.loop = graph_loop(e->g, e->b.phase, e->tick->loop, s.count, s.reverse, word, e->sink);
    if (!t.loop) {
        return poison();
    }
    tick_enter(e, &t);
    exec_block(e, a->b, open_body(e, &s, &t));
    if (!body_ok(&t) || e->sink->n_errors > errors) {
        e->tick = t.up;
        return poison();
    }
    return close_body(e, &s, &t);
}
