/* Which parts of the run block a device goes through by itself, as struct plan_segment: the largest ones
 * whose rounds come to at most LAUNCH_TICKS (or --steps-per-launch) ticks.
 *
 * Three shapes. ROUNDS: the body of a repeat, so many rounds a launch as fit. ONCE: neighbouring statements
 * of a body of which the host has something else to do. TICKS: a long visit of one phase. Host work is
 * `save`, and `stop when` of an expression whose bits might differ between the devices or that reads states.
 * An `every` with host work does not keep a repeat from being a segment: until it fires it does nothing, and
 * the host knows when that will be, because `stop when` can only make less happen.
 */
#include "runtime/run/internal.h"
#include "runtime/run/segments.h"

static const struct run_stmt *stmt(const struct run *r, uint32_t i)
{
    return &r->graph->run.at[i];
}

/* -- what is host work */

/* Elementwise operators with the same bits everywhere: a kernel each, so nothing is contracted. */
static const bool rounds_once[OP_COUNT] = {
#define OP(...)
#define REDUCE(...)
#define VIEW(...)
#define ELEM(name, dsl, n, sig, formula, dx, dy, dz, domain, tolerance, doc) [OP_##name] = (tolerance) == 0,
#include "kernels/ops.def"
#undef OP
#undef REDUCE
#undef VIEW
#undef ELEM
};

static bool op_is_exact(uint32_t op)
{
    return op == OP_step || op == OP_metric || op == OP_knob || op == OP_copy || op == OP_div ||
           (op < OP_COUNT && rounds_once[op]);
}

static bool stop_is_exact(const struct run *r, uint32_t phase)
{
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    enum dtype dtype = v && v->n_output > 0 ? (enum dtype)v->output[0].dtype : DT_BOOL;
    /* of replicas the host stops each by itself */
    bool exact = v && v->n_output > 0 && (dtype == DT_BOOL || dtype == DT_F32) && !r->graph->replicas;
    for (uint32_t i = 0; exact && i < v->n_op; i++) {
        exact = op_is_exact(v->op[i].op);
    }
    for (uint32_t i = 1; exact && i < r->graph->nodes.n; i++) {
        const struct node *n = graph_node(r->graph, i);
        exact = n->phase != phase || (n->op != OP_read && n->op != OP_tree);
    }
    return exact;
}

/* A pass starts at the first row when nothing else moves the cursor; then its launches are known. */
static bool go_is_known(const struct run *r, const struct run_stmt *s)
{
    const struct phase *p = &r->graph->phases.at[s->phase];
    bool known = true;
    if (!p->data || drops_tail(p)) {
        return true;
    }
    for (uint32_t i = 0; i < r->graph->run.n && known; i++) {
        const struct run_stmt *other = stmt(r, i);
        known = other->kind != RUN_GO || other->phase != s->phase || other->unit != UNIT_STEPS;
    }
    return known && r->phase[s->phase].batch > 0;
}

bool needs_host(const struct run *r, uint32_t i)
{
    const struct run_stmt *s = stmt(r, i);
    bool host = s->kind == RUN_SAVE || (s->kind == RUN_STOP && !stop_is_exact(r, s->expr)) ||
                (s->kind == RUN_GO && !go_is_known(r, s));
    for (uint32_t k = 0; k < s->n_child && !host; k++) {
        host = needs_host(r, s->child[k]);
    }
    return host;
}

static bool is_stripped(const struct run *r, uint32_t i)
{
    return stmt(r, i)->kind == RUN_EVERY && needs_host(r, i);
}

/* -- how much it is */

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Launches of each phase in n times statement i at most, added to of_phase. */
static enum status add_most(struct run *r, uint32_t i, int64_t n, int64_t *of_phase)
{
    const struct run_stmt *s = stmt(r, i);
    int64_t rounds = 1;
    if (s->kind == RUN_GO) {
        struct going g;
        TRY(going_of(r, s, &g));
        of_phase[s->phase] = plus(of_phase[s->phase], times(n, times(g.visits, g.launches)));
    }
    TRY(s->kind == RUN_REPEAT ? count_of(r, s, &rounds) : ST_OK);
    for (uint32_t k = 0; k < s->n_child; k++) {
        TRY(add_most(r, s->child[k], times(n, rounds), of_phase));
    }
    return ST_OK;
}

static void sum_up(const struct run *r, struct run_segment *g)
{
    g->ticks = g->steps = 0;
    for (uint32_t p = 0; p < r->graph->phases.n; p++) {
        g->ticks = plus(g->ticks, g->of_phase[p]);
        g->steps = plus(g->steps, r->phase[p].counts ? g->of_phase[p] : 0);
    }
}

/* -- into nodes */

struct lowering {
    struct run *r;
    struct run_segment *g;
    VEC(struct segment_node) nodes;
    uint32_t loops;
    bool full; /* of loops or marks */
};

static uint32_t push(struct lowering *l, struct segment_node n)
{
    vec_push(l->r->arena, &l->nodes, n);
    l->nodes.at[l->nodes.n - 1].end = l->nodes.n;
    return l->nodes.n - 1;
}

/* Ends node i; it goes again when nothing is inside. */
static void end_node(struct lowering *l, uint32_t i)
{
    if (l->nodes.n == i + 1) {
        l->nodes.n = i;
    } else {
        l->nodes.at[i].end = l->nodes.n;
    }
}

static uint32_t new_loop(struct lowering *l)
{
    l->full |= l->loops >= SEGMENT_LOOPS - 1;
    return l->full ? 0 : ++l->loops;
}

static void add_tick(struct lowering *l, uint32_t phase, bool tail, bool first)
{
    const struct plan_variant *v = plan_find(l->r->plan, phase, tail);
    l->full |= !v;
    if (v) {
        push(l, (struct segment_node){
                    .kind = SEGMENT_TICK, .variant = (uint32_t)(v - l->r->plan->variant), .first = first});
    }
}

/* A visit: full launches, and of a pass the smaller one at its end. */
static void add_visit(struct lowering *l, uint32_t phase, const struct going *g)
{
    const struct phase_state *s = &l->r->phase[phase];
    bool tail = g->is_pass && !drops_tail(&l->r->graph->phases.at[phase]) && s->rows % s->batch;
    int64_t full = g->launches - tail;
    if (full > 1) {
        uint32_t i =
            push(l, (struct segment_node){
                        .kind = SEGMENT_LOOP, .phase = (int32_t)phase, .loop = new_loop(l), .n = full});
        add_tick(l, phase, false, false);
        end_node(l, i);
    } else if (full == 1) {
        add_tick(l, phase, false, true);
    }
    if (tail) {
        add_tick(l, phase, true, full == 0);
    }
}

static enum status lower_go(struct lowering *l, const struct run_stmt *s)
{
    struct going g;
    TRY(going_of(l->r, s, &g));
    if (g.visits == 1) {
        add_visit(l, s->phase, &g);
    } else if (g.visits > 1) {
        uint32_t i = push(
            l, (struct segment_node){.kind = SEGMENT_LOOP, .phase = -1, .loop = new_loop(l), .n = g.visits});
        add_visit(l, s->phase, &g);
        end_node(l, i);
    }
    return ST_OK;
}

static enum status lower(struct lowering *l, uint32_t i, uint32_t loop);

/* `every n rounds` inside of a repeat start anew with it. */
static uint32_t marks_from(const struct lowering *l, uint32_t first)
{
    uint32_t bits = 0;
    for (uint32_t m = first; m < l->g->n_mark; m++) {
        bits |= stmt(l->r, l->g->mark_stmt[m])->unit == UNIT_ROUNDS ? 1u << m : 0;
    }
    return bits;
}

static enum status lower_repeat(struct lowering *l, uint32_t i)
{
    const struct run_stmt *s = stmt(l->r, i);
    struct segment_node n = {.kind = SEGMENT_LOOP, .phase = -1, .loop = new_loop(l), .is_repeat = true};
    uint32_t first_mark = l->g->n_mark, at = push(l, n);
    TRY(count_of(l->r, s, &l->nodes.at[at].n));
    for (uint32_t k = 0; k < s->n_child; k++) {
        TRY(lower(l, s->child[k], n.loop));
    }
    l->nodes.at[at].forget = marks_from(l, first_mark);
    end_node(l, at);
    return ST_OK;
}

static enum status lower_every(struct lowering *l, uint32_t i, uint32_t loop)
{
    const struct run_stmt *s = stmt(l->r, i);
    struct segment_node n = {.kind = SEGMENT_EVERY, .phase = s->unit == UNIT_ROUNDS ? -1 : (int32_t)s->phase};
    l->full |= l->g->n_mark == SEGMENT_MARKS;
    if (l->full) {
        return ST_OK;
    }
    n.loop = loop;
    n.mark = l->g->n_mark;
    l->g->mark_stmt[l->g->n_mark++] = i;
    uint32_t at = push(l, n);
    TRY(count_of(l->r, s, &l->nodes.at[at].n));
    for (uint32_t k = 0; k < s->n_child; k++) {
        uint32_t child = l->nodes.n;
        TRY(lower(l, s->child[k], loop));
        l->nodes.at[at].may_leave |= child < l->nodes.n && l->nodes.at[child].may_leave;
    }
    end_node(l, at);
    return ST_OK;
}

/* loop: the counter whose rounds `every n rounds` counts here. */
static enum status lower(struct lowering *l, uint32_t i, uint32_t loop)
{
    const struct run_stmt *s = stmt(l->r, i);
    switch (s->kind) {
    case RUN_GO:
        return lower_go(l, s);
    case RUN_REPEAT:
        return lower_repeat(l, i);
    case RUN_EVERY:
        return is_stripped(l->r, i) ? ST_OK : lower_every(l, i, loop);
    case RUN_STOP: {
        const struct plan_variant *v = plan_find(l->r->plan, s->expr, false);
        push(l, (struct segment_node){
                    .kind = SEGMENT_STOP, .variant = (uint32_t)(v - l->r->plan->variant), .may_leave = true});
        return ST_OK;
    }
    default:
        return diag_emit(l->r->sink, DIAG_I0001, s->span, "statement %d of the run block in a segment",
                         (int)s->kind);
    }
}

/* -- choosing */

/* A round of more ticks may take so long that the host goes through it: then its parts are segments. One of
 * less that takes as long has steps that a launch adds nothing to. */
enum { LONG_ROUND = 100 };

struct choice {
    struct run *r;
    int64_t most; /* ticks of a launch */
    bool parts;   /* segments inside of long ones */
    VEC(struct run_segment) list;
    VEC(struct plan_segment) plan;
};

static struct run_segment new_segment(struct run *r, enum segment_shape shape, uint32_t i)
{
    return (struct run_segment){
        .shape = shape, .stmt = i, .of_phase = arena_array(r->arena, int64_t, r->graph->phases.n)};
}

/* Lowers children from .. to of its statement and keeps it, if it fits a launch and comes to two ticks. */
static enum status keep(struct choice *c, struct run_segment *g, bool *kept)
{
    const struct run_stmt *s = stmt(c->r, g->stmt);
    struct lowering l = {.r = c->r, .g = g};
    *kept = false;
    for (uint32_t k = g->from; k < g->to; k++) {
        TRY(is_stripped(c->r, s->child[k]) ? ST_OK : add_most(c->r, s->child[k], 1, g->of_phase));
    }
    sum_up(c->r, g);
    if (g->ticks < 1 || g->ticks > c->most) {
        return ST_OK;
    }
    for (uint32_t k = g->from; k < g->to; k++) {
        TRY(lower(&l, s->child[k], 0));
    }
    if (!l.full && l.nodes.n && (g->shape != SHAPE_ONCE || g->ticks > 1)) {
        struct plan_segment p = {l.nodes.at, l.nodes.n, g->shape != SHAPE_ONCE};
        vec_push(c->r->arena, &c->list, *g);
        vec_push(c->r->arena, &c->plan, p);
        *kept = true;
    }
    return ST_OK;
}

static enum status choose_ticks(struct choice *c, uint32_t phase)
{
    const struct plan_variant *v = plan_find(c->r->plan, phase, false);
    struct run_segment g = new_segment(c->r, SHAPE_TICKS, 0);
    for (uint32_t i = 0; i < c->list.n; i++) {
        if (c->list.at[i].shape == SHAPE_TICKS && c->list.at[i].phase == phase) {
            return ST_OK;
        }
    }
    if (v) {
        struct segment_node *n = arena_new_of(c->r->arena, struct segment_node);
        *n = (struct segment_node){
            .kind = SEGMENT_TICK, .end = 1, .variant = (uint32_t)(v - c->r->plan->variant)};
        g.phase = phase;
        g.of_phase[phase] = 1;
        sum_up(c->r, &g);
        vec_push(c->r->arena, &c->list, g);
        vec_push(c->r->arena, &c->plan, ((struct plan_segment){n, 1, true}));
    }
    return ST_OK;
}

static enum status choose_inside(struct choice *c, uint32_t i);

static bool has_parts(const struct choice *c, const struct run_segment *g)
{
    return c->parts && g->ticks > LONG_ROUND;
}

static enum status choose(struct choice *c, uint32_t i)
{
    const struct run_stmt *s = stmt(c->r, i);
    bool kept = false;
    if (s->kind == RUN_REPEAT) {
        struct run_segment g = new_segment(c->r, SHAPE_ROUNDS, i);
        bool host = false;
        g.to = s->n_child;
        for (uint32_t k = 0; k < s->n_child; k++) {
            host |= needs_host(c->r, s->child[k]) && !is_stripped(c->r, s->child[k]);
        }
        TRY(host ? ST_OK : keep(c, &g, &kept));
        for (uint32_t k = 0; k < s->n_child && kept; k++) {
            TRY(is_stripped(c->r, s->child[k]) || has_parts(c, &g) ? choose(c, s->child[k]) : ST_OK);
        }
    }
    if (s->kind == RUN_GO) {
        struct going g;
        TRY(going_of(c->r, s, &g));
        return g.launches > 1 ? choose_ticks(c, s->phase) : ST_OK;
    }
    return kept ? ST_OK : choose_inside(c, i);
}

/* Ticks of a child, or more than any launch takes when it cannot be part of a larger segment. */
static enum status size_of(struct choice *c, uint32_t i, int64_t *ticks)
{
    struct run_segment g = new_segment(c->r, SHAPE_ONCE, i);
    *ticks = INT64_MAX;
    if (needs_host(c->r, i)) {
        return ST_OK;
    }
    TRY(add_most(c->r, i, 1, g.of_phase));
    sum_up(c->r, &g);
    *ticks = g.ticks;
    return ST_OK;
}

/* Children from .. to belong together. */
static enum status choose_group(struct choice *c, uint32_t i, uint32_t from, uint32_t to)
{
    struct run_segment g = new_segment(c->r, SHAPE_ONCE, i);
    bool kept = false;
    g.from = from;
    g.to = to;
    TRY(to - from > 1 ? keep(c, &g, &kept) : ST_OK);
    for (uint32_t k = from; k < to && (!kept || has_parts(c, &g)); k++) {
        TRY(choose(c, stmt(c->r, i)->child[k]));
    }
    return ST_OK;
}

static enum status choose_inside(struct choice *c, uint32_t i)
{
    const struct run_stmt *s = stmt(c->r, i);
    uint32_t from = 0;
    int64_t sum = 0, ticks;
    for (uint32_t k = 0; k < s->n_child; k++) {
        TRY(size_of(c, s->child[k], &ticks));
        if (ticks > c->most - sum) {
            TRY(choose_group(c, i, from, k));
            from = k;
            sum = 0;
        }
        if (ticks > c->most) {
            TRY(choose(c, s->child[k]));
            from = k + 1;
        } else {
            sum += ticks;
        }
    }
    return choose_group(c, i, from, s->n_child);
}

enum status segments_choose(struct run *r, int64_t most)
{
    struct choice c = {
        .r = r, .most = most < LAUNCH_TICKS ? most : LAUNCH_TICKS, .parts = !r->o->steps_per_launch};
    int alone = r->o->phase ? user_phase(r->graph, r->o->phase) : -1;
    if (c.most < 2) {
        return ST_OK;
    }
    TRY(r->graph->run.n && alone < 0 ? choose_inside(&c, 0) : ST_OK);
    TRY(alone >= 0 ? choose_ticks(&c, (uint32_t)alone) : ST_OK);
    /* what is left of a visit where a larger segment has no room */
    for (uint32_t p = 0; p < r->graph->phases.n && r->o->steps_per_launch > 1; p++) {
        TRY(r->graph->phases.at[p].kind == PHASE_USER ? choose_ticks(&c, p) : ST_OK);
    }
    r->segment = c.list.at;
    r->plan->segment = c.plan.at;
    r->plan->n_segment = c.plan.n;
    return ST_OK;
}
