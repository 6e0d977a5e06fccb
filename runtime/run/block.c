/* The `run` block: how often each phase will run, and running it. */
#include <math.h>
#include "runtime/base/checked.h"
#include "runtime/base/seam.h"
#include "runtime/run/segments.h"

static const struct run_stmt *stmt(const struct run *r, uint32_t i)
{
    return &r->graph->run.at[i];
}

/* `for n ..`, `repeat (n)`, `every n ..`; without a number 1. Only `every` cannot be 0. */
enum status count_of(struct run *r, const struct run_stmt *s, int64_t *n)
{
    *n = 1;
    if (s->count && !dim_eval(&r->graph->dims, &r->plan->binding, s->count, n)) {
        struct text t = {.arena = r->sink->arena};
        dim_print(&r->graph->dims, s->count, &t);
        return diag_emit(r->sink, DIAG_E3102, s->span, "`%s` has no whole value here", t.at);
    }
    if (s->kind == RUN_EVERY && *n < 1) {
        enum status st = diag_emit(r->sink, DIAG_E3111, s->span,
                                   "`every %lld` is never: it takes a number from 1", (long long)*n);
        diag_help(r->sink, "`repeat (0) { .. }` is what never runs");
        return st;
    }
    return ST_OK;
}

enum status going_of(struct run *r, const struct run_stmt *s, struct going *g)
{
    const struct phase *p = &r->graph->phases.at[s->phase];
    int64_t n;
    TRY(count_of(r, s, &n));
    bool passes = p->data && !p->training;
    switch (s->unit) {
    case UNIT_EPOCHS:
        *g = (struct going){n, launches_per_epoch(r, s->phase), passes};
        return ST_OK;
    case UNIT_STEPS:
        *g = (struct going){1, n, false};
        return ST_OK;
    default:
        *g = (struct going){1, passes ? launches_per_epoch(r, s->phase) : 1, passes};
        return ST_OK;
    }
}

/* -- planning: the same walk as running, on counters */

struct tally {
    int64_t *launches; /* by phase */
    int64_t *mark;     /* by statement */
    int64_t round;
    int64_t work; /* statements walked through, against MAX_WORK */
};
enum { MAX_WORK = 1 << 24 };

static int64_t capped(int64_t a, int64_t b, int64_t c)
{
    int64_t product, sum;
    return mul_ok(b, c, &product) && add_ok(a, product, &sum) ? sum : INT64_MAX;
}

static bool has_every(const struct run *r, uint32_t i)
{
    const struct run_stmt *s = stmt(r, i);
    bool found = s->kind == RUN_EVERY;
    for (uint32_t k = 0; k < s->n_child && !found; k++) {
        found = has_every(r, s->child[k]);
    }
    return found;
}

/* Whether an EVERY fires: its counter passed a multiple of n since it was last asked. */
static bool every_fires(int64_t *mark, int64_t now, int64_t n)
{
    int64_t multiple = n > 0 ? now / n : 0;
    bool fires = multiple > *mark;
    *mark = multiple;
    return fires;
}

/* Rounds start at 1 again with every repeat, and so do the multiples an EVERY inside has seen. */
static void forget_rounds(const struct run *r, uint32_t i, int64_t *mark)
{
    const struct run_stmt *s = stmt(r, i);
    if (s->kind == RUN_EVERY && s->unit == UNIT_ROUNDS) {
        mark[i] = 0;
    }
    for (uint32_t k = 0; k < s->n_child; k++) {
        forget_rounds(r, s->child[k], mark);
    }
}

static enum status tally_stmt(struct run *r, uint32_t i, struct tally *t);

static enum status tally_children(struct run *r, const struct run_stmt *s, struct tally *t)
{
    for (uint32_t k = 0; k < s->n_child; k++) {
        TRY(tally_stmt(r, s->child[k], t));
    }
    return ST_OK;
}

/* Without an EVERY inside all rounds are alike: one is walked and the rest multiplied. */
static enum status tally_alike(struct run *r, const struct run_stmt *s, int64_t n, struct tally *t)
{
    struct arena *a = arena_new();
    uint32_t phases = r->graph->phases.n;
    int64_t *before = arena_array(a, int64_t, phases);
    memcpy(before, t->launches, phases * sizeof *before);
    enum status st = n > 0 ? tally_children(r, s, t) : ST_OK;
    for (uint32_t p = 0; p < phases && n > 0; p++) {
        t->launches[p] = capped(t->launches[p], t->launches[p] - before[p], n - 1);
    }
    arena_free(a);
    return st;
}

/* How each EVERY inside statement i stands after a round: the rest of its counter, and the multiples it has
 * not seen. Rounds of an inner repeat start anew, so they do not count. */
static void standing(const struct run *r, uint32_t i, bool inner, const struct tally *t, int64_t (*out)[2])
{
    const struct run_stmt *s = stmt(r, i);
    int64_t n;
    if (s->kind == RUN_EVERY && !(inner && s->unit == UNIT_ROUNDS) &&
        dim_eval(&r->graph->dims, &r->plan->binding, s->count, &n)) {
        int64_t now = s->unit == UNIT_ROUNDS ? t->round : t->launches[s->phase];
        out[i][0] = now % n;
        out[i][1] = now / n - t->mark[i];
    }
    for (uint32_t k = 0; k < s->n_child; k++) {
        const struct run_stmt *child = stmt(r, s->child[k]);
        standing(r, s->child[k], inner || child->kind == RUN_REPEAT, t, out);
    }
}

/* Where a round began as an earlier one did: what lies between them repeats. */
struct cycle {
    int64_t round;
    int64_t (*stands)[2], (*now)[2]; /* by statement */
    int64_t *launches, *mark;
};

static void cycle_keep(const struct run *r, struct cycle *c, const struct tally *t)
{
    c->round = t->round;
    memcpy(c->stands, c->now, r->graph->run.n * sizeof *c->now);
    memcpy(c->launches, t->launches, r->graph->phases.n * sizeof *t->launches);
    memcpy(c->mark, t->mark, r->graph->run.n * sizeof *t->mark);
}

static void cycle_skip(const struct run *r, const struct cycle *c, int64_t n, struct tally *t)
{
    int64_t length = t->round - c->round, times = (n - t->round) / length;
    for (uint32_t p = 0; p < r->graph->phases.n; p++) {
        t->launches[p] = capped(t->launches[p], t->launches[p] - c->launches[p], times);
    }
    for (uint32_t k = 0; k < r->graph->run.n; k++) {
        t->mark[k] = capped(t->mark[k], t->mark[k] - c->mark[k], times);
    }
    t->round += times * length;
}

/* Rounds with an EVERY inside are walked one by one until they repeat (found as Brent does, against the round
 * of the last power of two). */
static enum status tally_rounds(struct run *r, uint32_t i, int64_t n, struct tally *t, struct arena *a)
{
    uint32_t stmts = r->graph->run.n;
    size_t bytes = stmts * sizeof(int64_t[2]);
    struct cycle c = {.stands = arena_alloc(a, bytes),
                      .now = arena_alloc(a, bytes),
                      .launches = arena_array(a, int64_t, r->graph->phases.n),
                      .mark = arena_array(a, int64_t, stmts)};
    memset(c.now, 0, bytes);
    forget_rounds(r, i, t->mark);
    for (t->round = 1; t->round <= n; t->round++) {
        TRY(tally_children(r, stmt(r, i), t));
        standing(r, i, false, t, c.now);
        if (c.round && !memcmp(c.now, c.stands, bytes)) {
            cycle_skip(r, &c, n, t);
            c.round = 0; /* the rest is less than a cycle */
        } else if ((t->round & (t->round - 1)) == 0) {
            cycle_keep(r, &c, t);
        }
    }
    return ST_OK;
}

static enum status tally_repeat(struct run *r, uint32_t i, struct tally *t)
{
    const struct run_stmt *s = stmt(r, i);
    int64_t n, outer = t->round;
    TRY(count_of(r, s, &n));
    if (!has_every(r, i)) {
        return tally_alike(r, s, n, t);
    }
    struct arena *a = arena_new();
    enum status st = tally_rounds(r, i, n, t, a);
    arena_free(a);
    t->round = outer;
    return st;
}

static enum status tally_stmt(struct run *r, uint32_t i, struct tally *t)
{
    const struct run_stmt *s = stmt(r, i);
    if (++t->work > MAX_WORK) {
        return diag_emit(r->sink, DIAG_E3111, s->span,
                         "the schedule is too long to be planned: more than %d statements, and no part of it "
                         "repeats",
                         (int)MAX_WORK);
    }
    switch (s->kind) {
    case RUN_BLOCK:
        return tally_children(r, s, t);
    case RUN_GO: {
        struct going g;
        TRY(going_of(r, s, &g));
        t->launches[s->phase] = capped(t->launches[s->phase], g.visits, g.launches);
        return ST_OK;
    }
    case RUN_REPEAT:
        return tally_repeat(r, i, t);
    case RUN_EVERY: {
        int64_t n;
        TRY(count_of(r, s, &n));
        int64_t now = s->unit == UNIT_ROUNDS ? t->round : t->launches[s->phase];
        return every_fires(&t->mark[i], now, n) ? tally_children(r, s, t) : ST_OK;
    }
    default:
        return ST_OK;
    }
}

/* "best", "best-2", "step-100": what the forms of `save` without a name call their files. */
static bool is_taken(const struct run *r, const char *file)
{
    size_t n = strlen(file), ending = strlen(".safetensors");
    n -= n > ending && strcmp(file + n - ending, ".safetensors") == 0 ? ending : 0;
    bool best = false, plain = false;
    for (uint32_t i = 0; i < r->graph->run.n; i++) {
        best |= stmt(r, i)->kind == RUN_SAVE && stmt(r, i)->expr;
        plain |= stmt(r, i)->kind == RUN_SAVE && !stmt(r, i)->expr && !stmt(r, i)->file;
    }
    bool numbered = n > 5 && strspn(file + 5, "0123456789") == n - 5;
    return (best && n == 4 && strncmp(file, "best", 4) == 0) ||
           (best && numbered && strncmp(file, "best-", 5) == 0) ||
           (plain && numbered && strncmp(file, "step-", 5) == 0);
}

/* Names are checked before the first step: afterwards it would be too late. */
static enum status check_saves(struct run *r)
{
    for (uint32_t i = 0; i < r->graph->run.n; i++) {
        const struct run_stmt *s = stmt(r, i);
        if (s->kind != RUN_SAVE || !s->file) {
            continue;
        }
        const char *file = s->file;
        while (strncmp(file, "./", 2) == 0) {
            file += 2;
        }
        if (file[0] == '/' || !file[0] || strstr(file, "..")) {
            return diag_emit(r->sink, DIAG_E3110, s->span,
                             "`save \"%s\"`: files are saved inside the run folder", s->file);
        }
        if (is_taken(r, file)) {
            enum status st =
                diag_emit(r->sink, DIAG_E3110, s->span,
                          "`save \"%s\"`: another `save` of this block writes that file", s->file);
            diag_help(r->sink, "choose another name");
            return st;
        }
    }
    return ST_OK;
}

enum status block_plan(struct run *r)
{
    uint32_t n = r->graph->run.n, phases = r->graph->phases.n;
    r->mark = arena_array(r->arena, int64_t, n);
    r->best = arena_array(r->arena, double, (size_t)n *run_replicas(r));
    r->has_best = arena_array(r->arena, bool, (size_t)n *run_replicas(r));
    if (!n) {
        return ST_OK;
    }
    TRY(check_saves(r));
    struct tally t = {arena_array(r->arena, int64_t, phases), arena_array(r->arena, int64_t, n), 0, 0};
    TRY(tally_stmt(r, 0, &t));
    for (uint32_t p = 0; p < phases; p++) {
        r->phase[p].planned = t.launches[p];
    }
    return ST_OK;
}

/* -- running */

static enum status go(struct run *r, const struct run_stmt *s)
{
    const struct phase *p = &r->graph->phases.at[s->phase];
    struct going g;
    TRY(going_of(r, s, &g));
    bool epochs = s->unit == UNIT_EPOCHS && p->data;
    enum event_kind kind = p->training ? epochs ? EVENT_EPOCH : EVENT_STEP : EVENT_EVAL;
    for (int64_t i = 0; i < g.visits && !r->ended; i++) {
        TRY(g.is_pass ? pass(r, s->phase) : visit(r, s->phase, g.launches, kind));
    }
    return ST_OK;
}

/* Brings what the phase reads beside the control block to the host; false in *any when it reads nothing. */
static enum status bring(struct run *r, uint32_t phase, bool *any)
{
    const struct graph *g = r->graph;
    *any = false;
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct node *n = graph_node(g, i);
        if (n->phase != phase || (n->op != OP_read && n->op != OP_tree)) {
            continue;
        }
        int64_t index = node_attrs(g, n)[0];
        const struct plan_var *var = &r->plan->var[n->op == OP_read ? index : 0];
        TRY(*any ? ST_OK : settle(r));
        *any = true;
        TRY(n->op == OP_read ? download(r, var->offset, var->bytes)
                             : download(r, r->plan->tree_offset[index], r->plan->tree_bytes[index]));
    }
    return ST_OK;
}

/* An expression of the block, computed on the host: a value for each replica. Counters and metrics of phases
 * are there already, from the slots of their launches (take); states and parameters are downloaded. */
static enum status evaluate(struct run *r, uint32_t phase, double *out)
{
    const struct graph *g = r->graph;
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    bool any;
    if (!v || v->n_output < 1) {
        return diag_emit(r->sink, DIAG_I0001, g->phases.at[phase].span,
                         "expression of `run` was not planned");
    }
    TRY(bring(r, phase, &any));
    TRY(any ? ST_OK : take_all(r));
    TRY(run_on_host(r, v));
    output_numbers(r, v, out);
    return ST_OK;
}

/* The k-th `save best` of the block writes best.safetensors, best-2.safetensors, ... */
static int best_number(const struct run *r, uint32_t i)
{
    int n = 1;
    for (uint32_t k = 0; k < i; k++) {
        n += stmt(r, k)->kind == RUN_SAVE && stmt(r, k)->expr;
    }
    return n;
}

static enum status save_best(struct run *r, uint32_t i)
{
    uint32_t n = run_replicas(r);
    double x[LIMIT_REPLICAS];
    bool better[LIMIT_REPLICAS], any = false;
    TRY(evaluate(r, stmt(r, i)->expr, x));
    for (uint32_t k = 0; k < n; k++) {
        double *best = &r->best[i * n + k];
        bool *has = &r->has_best[i * n + k];
        better[k] = replica_runs(r, k) && !isnan(x[k]) && !(*has && x[k] <= *best);
        *best = better[k] ? x[k] : *best;
        *has |= better[k];
        any |= better[k];
    }
    if (!any) {
        return ST_OK;
    }
    int k = best_number(r, i);
    const char *number = k > 1 ? arena_printf(r->arena, "-%d", k) : "";
    return save_weights(r, arena_printf(r->arena, "%s/ckpt/best%s.safetensors", r->folder, number), better);
}

static enum status save(struct run *r, uint32_t i)
{
    const struct run_stmt *s = stmt(r, i);
    if (!r->folder) {
        return ST_OK; /* a comparison, which leaves nothing behind */
    }
    if (s->expr) {
        return save_best(r, i);
    }
    TRY(settle(r));
    if (!s->file) {
        return save_weights(
            r, arena_printf(r->arena, "%s/ckpt/step-%lld.safetensors", r->folder, (long long)r->steps_seen),
            NULL);
    }
    const char *ending = strstr(s->file, ".safetensors") ? "" : ".safetensors";
    char *path = arena_printf(r->arena, "%s/ckpt/%s%s", r->folder, s->file, ending);
    TRY(folder_of_file(r, path));
    return save_weights(r, path, NULL);
}

static enum status run_stmt(struct run *r, uint32_t i);

enum status run_range(struct run *r, uint32_t i, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to && !r->ended && !r->leave; k++) {
        TRY(run_stmt(r, stmt(r, i)->child[k]));
    }
    return ST_OK;
}

/* Replicas for which the condition holds stop, and wait for the others; where none is left the repeat is
 * over.
 */
static enum status stop_when(struct run *r, const struct run_stmt *s)
{
    double x[LIMIT_REPLICAS];
    bool on[LIMIT_REPLICAS], any = false;
    TRY(evaluate(r, s->expr, x));
    for (uint32_t i = 0; i < run_replicas(r); i++) {
        on[i] = replica_runs(r, i) && x[i] == 0;
        any |= on[i];
    }
    r->leave = !any;
    return any ? replicas_run_on(r, on) : ST_OK;
}

/* Children of one segment. */
static enum status run_once(struct run *r, struct run_segment *g)
{
    bool done;
    TRY(fly_once(r, g, &done));
    if (!done) {
        TRY(alone_begin(r, g));
        TRY(run_range(r, g->stmt, g->from, g->to));
        TRY(alone_end(r, g, true));
    }
    return ST_OK;
}

static enum status run_children(struct run *r, uint32_t i)
{
    const struct run_stmt *s = stmt(r, i);
    for (uint32_t k = 0; k < s->n_child && !r->ended && !r->leave;) {
        struct run_segment *g = segment_once(r, i, k);
        TRY(g ? run_once(r, g) : run_stmt(r, s->child[k]));
        k = g ? g->to : k + 1;
    }
    return ST_OK;
}

/* One round of n, by the host. */
static enum status run_round(struct run *r, uint32_t i, int64_t n, struct run_segment *g)
{
    TRY(alone_begin(r, g));
    TRY(run_children(r, i));
    return alone_end(r, g, r->round++ == n || r->leave || r->ended);
}

static enum status repeat(struct run *r, uint32_t i)
{
    int64_t n, done, outer = r->round;
    bool before[LIMIT_REPLICAS];
    for (uint32_t k = 0; k < run_replicas(r); k++) {
        before[k] = replica_runs(r, k);
    }
    TRY(count_of(r, stmt(r, i), &n));
    forget_rounds(r, i, r->mark);
    struct run_segment *g = segment_of_rounds(r, i);
    for (r->round = 1; r->round <= n && !r->ended && !r->leave;) {
        done = 0;
        TRY(g ? fly_rounds(r, g, n - r->round + 1, &done) : ST_OK);
        TRY(done ? ST_OK : run_round(r, i, n, g));
    }
    r->round = outer;
    r->leave = false;
    return replicas_run_on(r, before);
}

/* When an `every` with host work fires, all that was launched has been followed (flight.c): the device waits.
 */
static enum status run_fired(struct run *r, uint32_t i)
{
    bool following = r->following, host = needs_host(r, i);
    r->following &= !host;
    r->in_flight &= !host;
    enum status st = run_children(r, i);
    r->following = following;
    return st;
}

static enum status run_stmt(struct run *r, uint32_t i)
{
    const struct run_stmt *s = stmt(r, i);
    switch (s->kind) {
    case RUN_BLOCK:
        return run_children(r, i);
    case RUN_GO:
        return go(r, s);
    case RUN_REPEAT:
        return repeat(r, i);
    case RUN_EVERY: {
        int64_t n;
        TRY(count_of(r, s, &n));
        int64_t now = s->unit == UNIT_ROUNDS ? r->round : r->phase[s->phase].launches;
        return every_fires(&r->mark[i], now, n) ? run_fired(r, i) : ST_OK;
    }
    case RUN_SAVE:
        return save(r, i);
    case RUN_STOP:
        return stop_when(r, s);
    }
    return diag_emit(r->sink, DIAG_I0001, s->span, "unknown statement %d in the run block", (int)s->kind);
}

enum status block_run(struct run *r)
{
    TRY(run_stmt(r, 0));
    return settle(r);
}
