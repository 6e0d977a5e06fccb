/* Launching segments and following them. The host goes through the same statements as the device and takes
 * the slot of each tick when it comes to it, so whatever a slot leads to happens in the order of single
 * launches; it decides `stop when` and `every` itself, from what the slots have brought. What it launches
 * next continues what is in flight, so the device does not wait while slots are read.
 */
#include <limits.h>
#include "runtime/base/seam.h"
#include "runtime/run/segments.h"

/* Without --steps-per-launch a launch takes about this long, and so does a trial; one round may take longer,
 * up to the other: a signal ends the run between launches. */
static const double launch_seconds = 0.01, round_seconds = 0.1;
/* Kernels inside of a WHILE node start later than those of a chain: where the device never waits for a
 * launch, a segment may be slower. If it is by more than this, it ends. */
static const double tolerance = 1.02;
enum { TRIALS = 2, FLIGHTS = 4 };

static struct run_segment *find(struct run *r, enum segment_shape shape, uint32_t stmt, uint32_t from,
                                uint32_t phase)
{
    bool alone = r->following || r->watch || !r->backend->launch_segment;
    for (uint32_t i = 0; i < r->plan->n_segment && !alone; i++) {
        struct run_segment *g = &r->segment[i];
        if (g->shape == shape && g->stmt == stmt && g->from == from && g->phase == phase) {
            return g;
        }
    }
    return NULL;
}

struct run_segment *segment_of_rounds(struct run *r, uint32_t stmt)
{
    return find(r, SHAPE_ROUNDS, stmt, 0, 0);
}
struct run_segment *segment_once(struct run *r, uint32_t stmt, uint32_t child)
{
    return find(r, SHAPE_ONCE, stmt, child, 0);
}
struct run_segment *segment_of_ticks(struct run *r, uint32_t phase)
{
    return find(r, SHAPE_TICKS, 0, 0, phase);
}

/* -- how many rounds */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rounds from now on up to the one in which an `every` with host work may fire. That one belongs to the
 * launch when nothing for the device stands behind the statement. */
static int64_t until_fires(const struct run *r, const struct run_segment *g, uint32_t i, bool is_last)
{
    const struct run_stmt *s = &r->graph->run.at[i];
    int64_t n, next, before;
    if (!dim_eval(&r->graph->dims, &r->plan->binding, s->count, &n) ||
        __builtin_mul_overflow(r->mark[i] + 1, n, &next)) {
        return INT64_MAX;
    }
    if (s->unit == UNIT_ROUNDS) {
        before = next - r->round;
    } else if (next <= r->phase[s->phase].launches) {
        before = 0;
    } else if (!g->of_phase[s->phase]) {
        return INT64_MAX;
    } else {
        before = (next - r->phase[s->phase].launches - 1) / g->of_phase[s->phase];
    }
    return (before > 0 ? before : 0) + is_last;
}

static int64_t until_host(const struct run *r, const struct run_segment *g)
{
    const struct run_stmt *s = &r->graph->run.at[g->stmt];
    int64_t n = INT64_MAX;
    bool is_last = true;
    for (uint32_t k = s->n_child; k-- > 0;) {
        if (needs_host(r, s->child[k])) {
            n = least(n, until_fires(r, g, s->child[k], is_last));
        } else {
            is_last = false;
        }
    }
    return n;
}

/* Full launches that the data of the phase is good for. */
static int64_t until_tail(const struct run *r, uint32_t phase)
{
    const struct phase *p = &r->graph->phases.at[phase];
    const struct phase_state *s = &r->phase[phase];
    return p->data && !drops_tail(p) ? (s->rows - s->cursor) / s->batch : INT64_MAX;
}

static int64_t in_time(const struct run *r, const struct run_segment *g)
{
    if (r->o->steps_per_launch > 1) {
        return INT64_MAX;
    }
    if (g->trials < TRIALS || g->alone > round_seconds ||
        (g->flights >= FLIGHTS && g->flown > g->alone * tolerance)) {
        return 0;
    }
    int64_t n = (int64_t)(launch_seconds / (g->flights ? g->flown : g->alone));
    return n > 0 ? n : 1;
}

/* Rounds that one launch may make, of at most `left`, when `ahead` are in flight. */
static int64_t room(const struct run *r, const struct run_segment *g, int64_t left, int64_t ahead)
{
    int64_t n = least(left - ahead, least(r->launch_ticks / g->ticks, in_time(r, g)));
    if (r->limit >= 0 && g->steps) {
        n = least(n, (r->limit - r->steps_issued) / g->steps - ahead);
    }
    if (g->shape == SHAPE_ROUNDS) {
        n = least(n, until_host(r, g) - ahead);
    }
    if (g->shape == SHAPE_TICKS) {
        n = least(n, until_tail(r, g->phase) - ahead);
    }
    return r->o->stop && *r->o->stop ? 0 : n;
}

/* -- which is faster */

static void keep_least(double *least_yet, int *n, double seconds)
{
    *least_yet = *n && *least_yet < seconds ? *least_yet : seconds;
    *n += *n < INT_MAX;
}

static bool is_tried(const struct run *r, const struct run_segment *g)
{
    return g && !r->o->steps_per_launch && g->trials < TRIALS;
}

enum status alone_begin(struct run *r, struct run_segment *g)
{
    if (is_tried(r, g) && !g->trial_rounds) {
        TRY(take_all(r));
        g->trial_start = clock_seam.seconds();
    }
    return ST_OK;
}

enum status alone_end(struct run *r, struct run_segment *g, bool last)
{
    if (!is_tried(r, g)) {
        return ST_OK;
    }
    g->trial_rounds++;
    if (!last && clock_seam.seconds() - g->trial_start < launch_seconds) {
        return ST_OK;
    }
    TRY(take_all(r));
    keep_least(&g->alone, &g->trials, (clock_seam.seconds() - g->trial_start) / (double)g->trial_rounds);
    g->trial_rounds = 0;
    return ST_OK;
}

/* -- flying */

/* What the host goes through beside the device. */
struct flight {
    struct run_segment *g;
    int64_t left, done; /* rounds to go at the start; behind us */
    double start;       /* when the first was launched */
    bool first;
    struct pending w; /* of ticks */
};

static enum status issue(struct run *r, const struct flight *f, int64_t rounds)
{
    const struct run_segment *g = f->g;
    bool starts = f->first && g->shape == SHAPE_TICKS && !r->in_flight;
    struct segment_command c = {.rounds = rounds,
                                .round = r->round,
                                .goes_on = r->in_flight,
                                .phase = starts ? (int64_t)g->phase : -1};
    for (uint32_t m = 0; m < g->n_mark; m++) {
        c.mark[m] = r->mark[g->mark_stmt[m]];
    }
    r->in_flight = r->flew = true;
    enum status st = r->backend->launch_segment(r->exec, (uint32_t)(g - r->segment), &c);
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

static enum status follow_round(struct run *r, struct flight *f)
{
    const struct run_segment *g = f->g;
    if (g->shape == SHAPE_TICKS) {
        struct pending w = f->w;
        w.ends_visit = f->done + 1 == f->left;
        return launch(r, g->phase, f->first && f->done == 0, w);
    }
    enum status st = run_range(r, g->stmt, g->from, g->to);
    r->round += g->shape == SHAPE_ROUNDS;
    return st;
}

static enum status follow(struct run *r, struct flight *f, int64_t rounds)
{
    enum status st = ST_OK;
    r->following = true;
    for (int64_t i = 0; i < rounds && st == ST_OK && !r->leave && !r->ended; i++) {
        st = follow_round(r, f);
        f->done++;
    }
    r->following = false;
    /* since the start, because the device runs ahead of who reads late */
    keep_least(&f->g->flown, &f->g->flights, (clock_seam.seconds() - f->start) / (double)f->done);
    return st;
}

/* The slots of everything before are read first: a segment may fill all of the ring. */
static enum status fly(struct run *r, struct flight *f)
{
    int64_t now = room(r, f->g, f->left, 0), next;
    if (now < 1) {
        return ST_OK;
    }
    TRY(take_all(r));
    f->start = clock_seam.seconds();
    TRY(issue(r, f, now));
    for (; now > 0; now = r->leave || r->ended ? 0 : next) {
        next = room(r, f->g, f->left - f->done, now);
        TRY(next > 0 ? issue(r, f, next) : ST_OK);
        TRY(follow(r, f, now));
    }
    r->in_flight = false;
    return ST_OK;
}

enum status fly_rounds(struct run *r, struct run_segment *g, int64_t left, int64_t *done)
{
    struct flight f = {.g = g, .left = left};
    enum status st = fly(r, &f);
    *done = f.done;
    return st;
}

enum status fly_once(struct run *r, struct run_segment *g, bool *done)
{
    struct flight f = {.g = g, .left = 1};
    enum status st = fly(r, &f);
    *done = f.done > 0;
    return st;
}

enum status fly_ticks(struct run *r, struct run_segment *g, int64_t left, bool first, struct pending w,
                      int64_t *done)
{
    struct flight f = {.g = g, .left = left, .first = first, .w = w};
    enum status st = fly(r, &f);
    *done = f.done;
    return st;
}
