/* The run block: a schedule of phases as plain statements. Expressions in it are phases of their own with one
 * output. */
#include "compiler/elab.h"

static uint32_t add_stmt(struct elab *e, enum run_kind kind, struct span at)
{
    struct run_stmt s = {.kind = kind, .span = at};
    vec_push(e->g->arena, &e->g->run, s);
    return e->g->run.n - 1;
}
/* Whether a value is made of whole numbers and sizes alone. */
static bool is_count(struct value v)
{
    bool is = v.kind == V_DIM || (v.kind == V_NUM && (v.is_int || v.live));
    if (v.kind != V_NUM || !v.live) {
        return is;
    }
    is = v.live->n || v.live->kind == LIVE_DIM || (v.live->kind == LIVE_KNOB && v.is_int);
    for (uint32_t i = 0; i < v.live->n; i++) {
        is &= is_count(v.live->in[i]);
    }
    return is;
}
static void count_with(struct elab *e, struct value v)
{
    if (v.kind == V_NUM && v.live && v.live->kind == LIVE_KNOB) {
        config_count(e, e->g->configs.at[v.live->index].name);
    }
    for (uint32_t i = 0; v.kind == V_NUM && v.live && i < v.live->n; i++) {
        count_with(e, v.live->in[i]);
    }
}
/* A number of launches or rounds. A live config that only counts becomes a dimension, which can be set at
 * load. */
static bool want_count(struct elab *e, struct ast *a, const char *what, dim *out)
{
    struct value v = eval(e, a, e->modules.at[0]->env);
    if (v.kind == V_NUM && v.live && is_count(v)) {
        count_with(e, v);
        *out = dim_const(&e->g->dims, (int64_t)v.num);
        return true;
    }
    int64_t n;
    if (!want_dim(e, v, a->span, what, out)) {
        return false;
    }
    if (dim_is_const(&e->g->dims, *out, &n) && n < 0) {
        fail(e, DIAG_E2023, a->span, "%s cannot be %lld", what, (long long)n);
        return false;
    }
    return true;
}
static bool find_phase(struct elab *e, struct ast *a, uint32_t *phase)
{
    const char *names[LIMIT_PHASES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->g->phases.n; i++) {
        if (e->g->phases.at[i].kind == PHASE_USER) {
            names[n++] = e->g->phases.at[i].name;
            if (!strcmp(e->g->phases.at[i].name, a->name)) {
                *phase = i;
                return true;
            }
        }
    }
    if (lost_in_syntax(e, a->name)) {
        return false;
    }
    fail(e, DIAG_E1001, a->name_span.file ? a->name_span : a->span, "no phase `%s`", a->name);
    if (!strcmp(a->name, "epochs") || !strcmp(a->name, "epoch") || !strcmp(a->name, "steps")) {
        diag_help(
            e->sink,
            "`every n PHASE` counts launches of a phase, `every n rounds` those of the `repeat` around it");
    }
    help_closest(e, a->name, names, n);
    return false;
}
static void go(struct elab *e, struct ast *a, uint32_t id)
{
    static const struct {
        const char *word;
        enum run_unit unit;
    } units[] = {
        {"step", UNIT_STEPS}, {"steps", UNIT_STEPS}, {"epoch", UNIT_EPOCHS}, {"epochs", UNIT_EPOCHS}};
    static const char *const words[] = {"step", "steps", "epoch", "epochs"};
    struct run_stmt s = e->g->run.at[id];
    if (!find_phase(e, a, &s.phase) || (a->a && !want_count(e, a->a, "the number of launches", &s.count))) {
        return;
    }
    if (a->a) {
        uint32_t k = 0;
        while (k < 4 && strcmp(units[k].word, a->str)) {
            k++;
        }
        if (k == 4) {
            fail(e, DIAG_E1004, a->span, "a phase runs for steps or epochs, not `%s`", a->str);
            help_closest(e, a->str, words, 4);
            return;
        }
        s.unit = units[k].unit;
        if (s.unit == UNIT_EPOCHS && !e->g->phases.at[s.phase].data) {
            fail(e, DIAG_E2023, a->span, "phase %s has no data, so it has no epochs", a->name);
            diag_help(e->sink, "%s for N steps", a->name);
            return;
        }
    }
    e->g->run.at[id] = s;
}
/* The value of an expression as one number; 0 after an error. A condition must be a bool. */
static val one_value(struct elab *e, struct ast *a, struct env *env, bool condition)
{
    struct type t;
    struct value v = eval(e, a, env);
    val n = want_tensor(e, v, a->span, "this", &t);
    if (n && condition && (t.rank || t.dtype != DT_BOOL)) {
        fail(e, DIAG_E2023, a->span, "the condition of `stop when` is one bool, found %s",
             type_text(e->g, &t));
        diag_help(e->sink, t.rank ? "all(..) and any(..) make one of many" : "compare it with a number");
        return 0;
    }
    if (n && t.rank) {
        fail(e, DIAG_E2070, a->span, "this must be one number, found %s", type_text(e->g, &t));
        return 0;
    }
    return n ? reported(e, n) : 0;
}
uint32_t expression_phase(struct elab *e, struct ast *a, struct env *env, const char *name, bool condition)
{
    if (e->g->phases.n >= LIMIT_PHASES) {
        fail(e, DIAG_E0110, a->span,
             "a model has at most %d phases, expressions of `run` and metrics of metrics included",
             LIMIT_PHASES);
        return 0;
    }
    struct phase p = {.name = name, .kind = PHASE_RUN, .span = a->span};
    uint32_t index = e->g->phases.n;
    vec_push(e->g->arena, &e->g->phases, p);
    uint16_t outer = enter_phase(e, (uint16_t)index);
    val n = one_value(e, a, env, condition);
    if (n) {
        struct output o = {.name = "value", .value = n, .span = a->span};
        vec_push(e->g->arena, &e->g->phases.at[index].outputs, o);
    }
    enter_phase(e, outer);
    return index;
}
/* `save best e` and `stop when c`. */
static uint32_t run_expression(struct elab *e, struct ast *a, bool condition)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < e->g->phases.n; i++) {
        k += e->g->phases.at[i].kind == PHASE_RUN && !e->g->phases.at[i].metric_of;
    }
    return expression_phase(e, a, e->modules.at[0]->env, arena_printf(e->arena, "run.%u", k), condition);
}
static void save(struct elab *e, struct ast *a, uint32_t id)
{
    if (a->a && strcmp(a->name, "best")) {
        return; /* the parser reported another word */
    }
    if (a->str && (a->str[0] == '/' || strstr(a->str, "..") || !*a->str)) {
        fail(e, DIAG_E2023, a->span, "`save \"%s\"`: the name of a file inside the run folder is needed",
             a->str);
        return;
    }
    e->g->run.at[id].file = a->str;
    if (a->a) {
        uint32_t x = run_expression(e, a->a, false);
        e->g->run.at[id].expr = x;
    }
}
static void stop(struct elab *e, struct ast *a, uint32_t id, bool in_repeat)
{
    if (!in_repeat) {
        fail(e, DIAG_E2023, a->span, "`stop when` leaves a `repeat`, and none is around it");
        diag_help(e->sink, "repeat (100) { .. stop when eval.acc > 0.99 }");
        return;
    }
    uint32_t x = run_expression(e, a->a, true);
    e->g->run.at[id].expr = x;
}
/* `every n rounds`, `every n PHASE`. */
static void every(struct elab *e, struct ast *a, uint32_t id, bool in_repeat)
{
    struct run_stmt s = e->g->run.at[id];
    bool rounds = !strcmp(a->str, "rounds") || !strcmp(a->str, "round");
    int64_t n;
    if (!want_count(e, a->a, "the number behind `every`", &s.count)) {
        return;
    }
    if (dim_is_const(&e->g->dims, s.count, &n) && n < 1) {
        fail(e, DIAG_E2023, a->a->span, "`every %lld` is never: it takes a number from 1", (long long)n);
        return;
    }
    if (rounds && !in_repeat) {
        fail(e, DIAG_E2023, a->span, "`rounds` are those of a `repeat`, and none is around it");
        diag_help(e->sink, "every %s PHASE counts launches of a phase", source_slice(e, a->a->span));
        return;
    }
    struct ast phase = {.kind = AST_GO, .name = a->str, .span = a->span, .name_span = a->name_span};
    s.unit = rounds ? UNIT_ROUNDS : UNIT_PHASE;
    if (rounds || find_phase(e, &phase, &s.phase)) {
        e->g->run.at[id] = s;
    }
}
static void block(struct elab *e, struct ast *b, uint32_t id, bool in_repeat);
static uint32_t statement(struct elab *e, struct ast *a, bool in_repeat)
{
    static const enum run_kind kinds[AST_COUNT] = {[AST_GO] = RUN_GO,
                                                   [AST_REPEAT] = RUN_REPEAT,
                                                   [AST_EVERY] = RUN_EVERY,
                                                   [AST_SAVE] = RUN_SAVE,
                                                   [AST_STOP] = RUN_STOP};
    uint32_t id = add_stmt(e, kinds[a->kind], a->span);
    dim count = 0;
    switch (a->kind) {
    case AST_GO:
        go(e, a, id);
        break;
    case AST_SAVE:
        save(e, a, id);
        break;
    case AST_REPEAT:
        if (want_count(e, a->a, "the number of rounds", &count)) {
            e->g->run.at[id].count = count;
        }
        block(e, a->b, id, true);
        break;
    case AST_EVERY:
        every(e, a, id, in_repeat);
        block(e, a->b, id, in_repeat);
        break;
    case AST_STOP:
        stop(e, a, id, in_repeat);
        break;
    default:
        break;
    }
    return id;
}
static void block(struct elab *e, struct ast *b, uint32_t id, bool in_repeat)
{
    uint32_t *child = arena_array(e->g->arena, uint32_t, b->list.n ? b->list.n : 1), n = 0;
    for (uint32_t i = 0; i < b->list.n; i++) {
        if (b->list.at[i]->kind != AST_NONE) {
            child[n++] = statement(e, b->list.at[i], in_repeat);
        }
    }
    e->g->run.at[id].child = child;
    e->g->run.at[id].n_child = n;
}
void elaborate_run(struct elab *e, struct ast *run)
{
    if (e->g->run.n) {
        fail(e, DIAG_E1007, run->span, "a second `run` block");
        diag_help(e->sink, "one block is the whole schedule: put its statements into the first");
        return;
    }
    block(e, run->b, add_stmt(e, RUN_BLOCK, run->span), false);
}
