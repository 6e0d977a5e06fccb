/* Launching phases and reading their slots.
 *
 * After a launch is issued the slots of the one before are awaited, so the device always has one launch to go
 * on with and at most two are in flight. A launch is one tick here; segments of many ticks (flight.c) come
 * along the same way, with their slots in the place of launches. Everything a slot means to the host happens
 * in `take`, in launch order.
 */
#include <math.h>
#include "runtime/run/segments.h"

bool drops_tail(const struct phase *p)
{
    return p->training || p->lanes;
}

int64_t launches_per_epoch(const struct run *r, uint32_t phase)
{
    const struct phase *p = &r->graph->phases.at[phase];
    const struct phase_state *s = &r->phase[phase];
    if (!p->data || s->batch <= 0) {
        return 1;
    }
    return drops_tail(p) ? s->rows / s->batch : (s->rows + s->batch - 1) / s->batch;
}

void output_numbers(const struct run *r, const struct plan_variant *v, double *out)
{
    const struct operand *o = &v->output[0];
    for (uint32_t i = 0; i < run_replicas(r); i++) {
        out[i] = number_at(r->image + o->offset, (enum dtype)o->dtype, o->rank ? i : 0);
    }
}

/* Metrics that are made of others, from what the slots have brought so far: computed on the host. */
static enum status make_metrics(struct run *r, uint32_t phase)
{
    struct phase_state *s = &r->phase[phase];
    for (uint32_t i = s->n_ring; i < s->n_metric; i++) {
        const struct plan_variant *v = plan_find(r->plan, s->made[i - s->n_ring], false);
        if (!v || v->n_output < 1) {
            return diag_emit(r->sink, DIAG_I0001, NO_SPAN, "metric %s was not planned", s->metric[i]);
        }
        TRY(run_on_host(r, v));
        output_numbers(r, v, s->value + i * run_replicas(r));
    }
    return ST_OK;
}

void metric_values(const struct run *r, const struct phase_state *s, const double *x, struct metric_value *m)
{
    uint32_t n = run_replicas(r);
    for (uint32_t i = 0; i < s->n_metric; i++) {
        m[i] = (struct metric_value){s->metric[i], x[i * n], r->one ? x + i * n : NULL, r->one ? n : 0};
    }
}

static enum status emit(struct run *r, uint32_t phase, enum event_kind kind, const struct ring_slot *slot,
                        bool more)
{
    struct phase_state *s = &r->phase[phase];
    struct metric_value m[RING_METRICS];
    TRY(make_metrics(r, phase));
    for (uint32_t i = 0; i < s->n_metric * run_replicas(r); i++) {
        bool averaged = kind == EVENT_STEP && s->in_sum[i];
        s->told[i] = averaged ? s->sum[i] / (double)s->in_sum[i] : s->value[i];
        if (kind == EVENT_STEP) {
            s->sum[i] = 0;
            s->in_sum[i] = 0;
        }
    }
    metric_values(r, s, s->told, m);
    struct event e = {kind,        r->graph->phases.at[phase].name, r->steps_seen, slot->epoch, m,
                      s->n_metric, clock_seam.seconds() - r->start, more};
    s->last_event = (int64_t)r->seen + 1;
    return report_event(r->report, &e);
}

/* Means over the launches since the last step line; other modes show the running value of the visit. */
static void add_up(struct run *r, uint32_t phase, const struct ring_slot *slot)
{
    struct phase_state *s = &r->phase[phase];
    const struct phase *p = &r->graph->phases.at[phase];
    for (uint32_t i = 0; i < s->n_ring * run_replicas(r); i++) {
        if (!replica_runs(r, i % run_replicas(r))) {
            continue; /* its values are those it stopped with */
        }
        s->value[i] = slot->value[i];
        if (p->metrics.at[i / run_replicas(r)].mode == METRIC_MEAN && isfinite(slot->now[i])) {
            s->sum[i] += slot->now[i];
            s->in_sum[i]++;
        }
    }
    s->seen = true;
}

/* What `P.step`, `P.epoch` and `P.metric` read, into the control block of the host image: expressions of the
 * run block are computed there without a word to the device. */
static void mirror(struct run *r, uint32_t phase, const struct ring_slot *slot)
{
    struct control *c = run_control(r);
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    c->phase[phase].step = slot->step;
    c->phase[phase].epoch = slot->epoch;
    for (uint32_t i = 0; v && i < v->n_metric * run_replicas(r); i++) {
        c->metric[v->metric0 + i].last =
            replica_runs(r, i % run_replicas(r)) ? slot->value[i] : r->phase[phase].value[i];
    }
}

static void redraw(struct run *r, uint32_t phase, const struct ring_slot *slot)
{
    struct phase_state *s = &r->phase[phase];
    struct metric_value m[RING_METRICS];
    metric_values(r, s, s->value, m);
    struct event e = {EVENT_STEP,  r->graph->phases.at[phase].name, r->steps_seen, slot->epoch, m,
                      s->n_metric, clock_seam.seconds() - r->start, false};
    report_tick(r->report, &e);
}

/* A data-free phase that is no training may tick thousands of times a second: its lines are thinned like step
 * lines. */
static bool visit_is_told(const struct run *r, const struct pending *w)
{
    const struct phase *p = &r->graph->phases.at[w->phase];
    const struct phase_state *s = &r->phase[w->phase];
    if (!s->n_metric || w->kind == EVENT_STEP) {
        return false;
    }
    return p->data || !s->last_event || (int64_t)r->seen + 1 - s->last_event >= r->log_every;
}

/* Does a line of another kind follow the step line? */
static bool is_told_anyway(const struct run *r, const struct pending *w)
{
    return w->ends_visit && r->graph->phases.at[w->phase].data && visit_is_told(r, w);
}

static enum status take(struct run *r, const struct ring_slot *slot, const struct pending *w)
{
    struct phase_state *s = &r->phase[w->phase];
    if (slot->fault.code != FAULT_NONE) {
        r->faulted = true;
        return fault_report(r, &slot->fault, slot->phase);
    }
    if (slot->phase != (int32_t)w->phase) {
        return diag_emit(r->sink, DIAG_I0001, NO_SPAN, "launch %llu was of phase `%s`, not of `%s`",
                         (unsigned long long)slot->seq, r->graph->phases.at[slot->phase].name,
                         r->graph->phases.at[w->phase].name);
    }
    add_up(r, w->phase, slot);
    mirror(r, w->phase, slot);
    if (r->watch && r->watch->slot) {
        r->watch->slot(r, w->phase, slot);
    }
    TRY(w->ends_visit ? make_metrics(r, w->phase) : ST_OK);
    r->skipped += slot->skipped != 0;
    if (s->counts) {
        r->steps_seen++;
    }
    if (r->report) {
        if (s->counts && s->n_metric && r->steps_seen / r->log_every > s->logged) {
            s->logged = r->steps_seen / r->log_every;
            TRY(emit(r, w->phase, EVENT_STEP, slot, is_told_anyway(r, w)));
        } else if (s->counts) {
            redraw(r, w->phase, slot);
        }
        if (w->ends_visit && visit_is_told(r, w)) {
            TRY(emit(r, w->phase, w->kind, slot, false));
        }
    }
    return slot->skips_in_row >= r->o->max_skips ? skips_report(r, w->phase, slot->skips_in_row) : ST_OK;
}

static enum status take_until(struct run *r, uint64_t n)
{
    while (r->seen < n) {
        const struct ring_slot *slot = r->backend->slot(r->exec, r->seen + 1, true);
        if (!slot) {
            return device_failed(r, ST_DEVICE);
        }
        enum status st = take(r, slot, &r->pending[(r->seen + 1) % IN_FLIGHT]);
        r->seen++;
        TRY(st);
    }
    return ST_OK;
}

enum status take_all(struct run *r)
{
    return take_until(r, r->launched);
}

static enum status device_done(struct run *r)
{
    audit_pause(r);
    enum status st = r->backend->sync(r->exec);
    audit_resume(r);
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

enum status settle(struct run *r)
{
    TRY(take_until(r, r->launched));
    return device_done(r);
}

enum status drain(struct run *r)
{
    for (; r->seen < r->launched; r->seen++) {
        const struct ring_slot *slot = r->backend->slot(r->exec, r->seen + 1, true);
        if (!slot) {
            return device_failed(r, ST_DEVICE);
        }
        r->faulted |= slot->fault.code != FAULT_NONE;
    }
    TRY(device_done(r));
    const struct ring_slot *slot = r->flew ? r->backend->slot(r->exec, r->seen + 1, false) : NULL;
    for (; slot; slot = r->backend->slot(r->exec, r->seen + 1, false)) {
        r->faulted |= slot->fault.code != FAULT_NONE;
        r->launched = ++r->seen;
    }
    return ST_OK;
}

/* Advances the mirror of the cursor as the tick does on the device. */
static bool next_is_tail(struct run *r, uint32_t phase)
{
    const struct phase *p = &r->graph->phases.at[phase];
    struct phase_state *s = &r->phase[phase];
    if (!p->data) {
        return false;
    }
    bool tail = !drops_tail(p) && s->rows - s->cursor < s->batch;
    s->cursor += tail ? s->rows - s->cursor : s->batch;
    if (s->cursor + (drops_tail(p) ? s->batch : 1) > s->rows) {
        s->cursor = 0;
    }
    return tail;
}

/* Waits for the launch: parts are timed apart, so nothing overlaps. */
static enum status add_parts(struct run *r)
{
    double seconds[PART_COUNT];
    enum status st = r->backend->parts(r->exec, seconds);
    for (int i = 0; i < PART_COUNT && st == ST_OK; i++) {
        r->part_seconds[i] += seconds[i];
    }
    r->part_steps++;
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

static void count_launch(struct run *r, uint32_t phase, struct pending w)
{
    r->pending[++r->launched % IN_FLIGHT] = w;
    r->phase[phase].launches++;
    r->steps_issued += r->phase[phase].counts;
}

enum status launch(struct run *r, uint32_t phase, bool first, struct pending w)
{
    bool tail = next_is_tail(r, phase);
    if (r->following) {
        count_launch(r, phase, w);
        return take_all(r);
    }
    const struct plan_variant *v = plan_find(r->plan, phase, tail);
    if (!v) {
        return diag_emit(r->sink, DIAG_I0001, r->graph->phases.at[phase].span,
                         "phase `%s` was planned without its %s launch", r->graph->phases.at[phase].name,
                         tail ? "last" : "full");
    }
    enum status st = r->backend->launch(r->exec, (uint32_t)(v - r->plan->variant), first);
    if (st != ST_OK) {
        return device_failed(r, st);
    }
    count_launch(r, phase, w);
    if (r->o->parts && r->report && r->phase[phase].counts) {
        TRY(add_parts(r));
    }
    if (r->watch && r->watch->launched) {
        TRY(r->watch->launched(r, v));
    }
    return take_until(r, r->launched - 1);
}

/* True when nothing further may be launched. */
static bool is_over(struct run *r, uint32_t phase)
{
    if (r->following) {
        return false;
    }
    if (r->o->stop && *r->o->stop) {
        r->stopped = r->ended = true;
    }
    if (r->limit >= 0 && r->phase[phase].counts && r->steps_issued >= r->limit) {
        r->ended = true;
    }
    return r->ended;
}

enum status visit(struct run *r, uint32_t phase, int64_t launches, enum event_kind kind)
{
    struct run_segment *g = segment_of_ticks(r, phase);
    for (int64_t i = 0, n; i < launches && !is_over(r, phase); i += n) {
        struct pending w = {phase, i + 1 == launches, kind};
        TRY(r->watch && r->watch->arrives ? r->watch->arrives(r, phase) : ST_OK);
        if (r->ended) {
            break;
        }
        n = 0;
        TRY(g && launches - i > 1 ? fly_ticks(r, g, launches - i, i == 0, w, &n) : ST_OK);
        if (!n) {
            TRY(alone_begin(r, g));
            TRY(launch(r, phase, i == 0, w));
            TRY(alone_end(r, g, w.ends_visit));
            n = 1;
        }
    }
    return ST_OK;
}

enum status pass(struct run *r, uint32_t phase)
{
    const struct phase_state *s = &r->phase[phase];
    bool has_data = r->graph->phases.at[phase].data && s->batch > 0;
    int64_t more = drops_tail(&r->graph->phases.at[phase]) ? 0 : s->batch - 1;
    int64_t left = has_data ? (s->rows - s->cursor + more) / s->batch : 1;
    return visit(r, phase, left, EVENT_EVAL);
}
