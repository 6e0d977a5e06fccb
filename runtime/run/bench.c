/* Timing steps: `gmlrun bench`. */
#include <stdlib.h>
#include <sys/resource.h>
#include "runtime/run/bench.h"
#include "runtime/run/internal.h"

enum { BLOCKS = 41, WARM_UP = 20, MIN_STEPS = 10, PART_STEPS = 101 };
static const double block_seconds = 0.04;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static enum status timed(struct run *r, uint32_t phase, int64_t steps, double *seconds)
{
    double start = clock_seam.seconds();
    TRY(visit(r, phase, steps, EVENT_STEP));
    TRY(settle(r));
    *seconds = clock_seam.seconds() - start;
    return ST_OK;
}

/* The phase named, else the first that trains, else the first. */
static int bench_phase(const struct run *r)
{
    const struct graph *g = r->graph;
    int first = -1;
    for (uint32_t i = 0; i < g->phases.n && !r->o->phase; i++) {
        if (g->phases.at[i].kind == PHASE_USER && g->phases.at[i].training) {
            return (int)i;
        }
        first = first < 0 && g->phases.at[i].kind == PHASE_USER ? (int)i : first;
    }
    return r->o->phase ? user_phase(g, r->o->phase) : first;
}

static enum status stop_at(struct run *r, uint32_t phase)
{
    const uint32_t *wanted = r->watch->ctx;
    r->ended |= phase == *wanted;
    return ST_OK;
}

enum status run_up_to(struct run *r, uint32_t phase)
{
    return is_in_run(r->graph, phase) ? walk_run(r, stop_at, &phase) : ST_OK;
}

/* Medians over single steps, each waited for: launched apart, parts do not overlap with anything. */
static enum status bench_parts(struct run *r, uint32_t phase, struct bench *out)
{
    double seconds[PART_COUNT], each[PART_COUNT][PART_STEPS], unused;
    for (int i = 0; i < PART_STEPS; i++) {
        TRY(timed(r, phase, 1, &unused));
        if (r->ended) {
            return ST_OK;
        }
        enum status st = r->backend->parts(r->exec, seconds);
        if (st != ST_OK) {
            return device_failed(r, st);
        }
        for (int p = 0; p < PART_COUNT; p++) {
            each[p][i] = seconds[p];
        }
    }
    for (int p = 0; p < PART_COUNT; p++) {
        qsort(each[p], PART_STEPS, sizeof **each, compare_doubles);
        out->part_ms[p] = 1e3 * each[p][PART_STEPS / 2];
    }
    out->has_parts = true;
    return ST_OK;
}

static enum status find_phase(struct run *r, uint32_t *phase)
{
    int i = bench_phase(r);
    *phase = (uint32_t)i;
    return i < 0 ? no_phase(r->graph, r->sink, r->o->phase ? r->o->phase : "", "to measure") : ST_OK;
}

enum status run_first_step(struct run *r, struct bench *out)
{
    uint32_t phase;
    double unused;
    TRY(find_phase(r, &phase));
    *out = (struct bench){.phase = r->graph->phases.at[phase].name, .device = r->device_name};
    r->limit = -1;
    r->log_every = INT64_MAX;
    TRY(timed(r, phase, 1, &unused));
    out->context_seconds = r->device.context_seconds;
    out->open_seconds = clock_seam.seconds() - r->start - out->context_seconds;
    return r->stopped ? ST_STOPPED : ST_OK;
}

/* What the process holds at most, or how much less memory the device has free than when it was opened. */
static enum status peak_memory(struct run *r, uint64_t *bytes)
{
    struct rusage u;
    struct exec_device now;
    if (r->backend == &backend_cpu) {
        *bytes = getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024 : 0;
        return ST_OK;
    }
    enum status st = r->backend->device(r->exec, &now);
    *bytes = st == ST_OK && r->device.free > now.free ? r->device.free - now.free : 0;
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

static void describe(const struct run *r, uint32_t phase, struct bench *out)
{
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    int64_t *times = arena_array(r->arena, int64_t, v->n_op);
    op_times(v, times);
    for (uint32_t i = 0; i < v->n_op; i++) {
        struct op_cost c = op_cost_of(&v->op[i]);
        out->bytes += c.bytes * (double)times[i];
        out->flops += c.flops * (double)times[i];
    }
    out->nodes = v->n_op;
    out->arena_bytes = r->plan->device_bytes;
    out->planned_bytes = v->planned;
    out->bound_bytes = v->bound;
}

static enum status measure(struct run *r, uint32_t phase, struct bench *out)
{
    double seconds, block[BLOCKS], total = 0;
    struct exec_counts n;
    TRY(timed(r, phase, WARM_UP, &seconds));
    double each = seconds > 0 ? seconds / WARM_UP : 1e-6;
    int64_t steps = (int64_t)(block_seconds / each) + 1;
    steps = steps < MIN_STEPS ? MIN_STEPS : steps;
    r->backend->counts(r->exec, &n, true);
    for (int i = 0; i < BLOCKS && !r->ended; i++) {
        TRY(timed(r, phase, steps, &block[i]));
        total += block[i];
        out->steps += steps;
    }
    if (r->stopped) {
        return ST_STOPPED;
    }
    r->backend->counts(r->exec, &n, true);
    qsort(block, BLOCKS, sizeof *block, compare_doubles);
    double ms = 1e3 / (double)steps;
    out->kernels = n.kernels_per_launch;
    out->launches = (double)n.launches / (double)out->steps;
    out->steps_per_second = (double)out->steps / total;
    out->median_ms = ms * block[BLOCKS / 2];
    out->best_ms = ms * block[0];
    out->p5_ms = ms * block[BLOCKS / 20];
    out->p95_ms = ms * block[BLOCKS - 1 - BLOCKS / 20];
    return ST_OK;
}

enum status run_bench(struct run *r, struct bench *out)
{
    uint32_t phase;
    TRY(find_phase(r, &phase));
    *out = (struct bench){
        .phase = r->graph->phases.at[phase].name, .device = r->device_name, .rows = r->phase[phase].batch};
    TRY(run_up_to(r, phase));
    r->limit = -1;
    r->log_every = INT64_MAX;
    TRY(measure(r, phase, out));
    TRY(peak_memory(r, &out->peak_bytes));
    describe(r, phase, out);
    return r->o->parts ? bench_parts(r, phase, out) : ST_OK;
}
