/* The calls of the API: training, evaluation, benchmark. */
#include <stdlib.h>
#include "runtime/plan/print.h"
#include "runtime/run/internal.h"

static int64_t planned_steps(const struct run *r)
{
    int64_t n = 0, alone = r->o->phase ? user_phase(r->graph, r->o->phase) : -1;
    if (alone >= 0) {
        return r->limit >= 0 ? r->limit : launches_per_epoch(r, (uint32_t)alone);
    }
    for (uint32_t i = 0; i < r->graph->phases.n; i++) {
        int64_t more = r->phase[i].counts ? r->phase[i].planned : 0;
        n = n > INT64_MAX - more ? INT64_MAX : n + more;
    }
    return r->limit >= 0 && r->limit < n ? r->limit : n;
}

static enum status open_report(struct run *r, const char *metrics_path, bool quiet)
{
    int64_t steps = planned_steps(r);
    r->log_every = r->o->log_every > 0 ? r->o->log_every : steps / 200 > 1 ? steps / 200 : 1;
    struct report_options o = {.out = r->o->progress,
                               .quiet = quiet,
                               .is_terminal = r->o->is_terminal,
                               .color = r->o->color,
                               .metrics_path = metrics_path,
                               .steps = steps};
    return report_open(r->arena, &o, r->sink, &r->report);
}

/* --phase: that phase alone, for --steps launches or else once through its data. */
static enum status train_alone(struct run *r)
{
    uint32_t phase = (uint32_t)user_phase(r->graph, r->o->phase);
    const struct phase *p = &r->graph->phases.at[phase];
    int64_t n = r->limit >= 0 ? r->limit : launches_per_epoch(r, phase);
    enum event_kind kind = !p->training ? EVENT_EVAL : p->data && r->limit < 0 ? EVENT_EPOCH : EVENT_STEP;
    TRY(visit(r, phase, n, kind));
    return settle(r);
}

static enum status can_train(struct run *r)
{
    const char *name = r->o->phase;
    int phase = name ? user_phase(r->graph, name) : -1;
    if (name && phase < 0) {
        return no_phase(r->graph, r->sink, name, "to train");
    }
    if (name && r->limit < 0 && !r->graph->phases.at[phase].data) {
        return diag_emit(r->sink, DIAG_U0002, NO_SPAN,
                         "`--phase %s` needs --steps N: it has no data to go through", name);
    }
    if (name || r->graph->run.n) {
        return ST_OK;
    }
    enum status st =
        diag_emit(r->sink, DIAG_U1002, NO_SPAN, "the model has no `run` block: there is nothing to train");
    diag_help(r->sink, "add `run { ... }` to the model, or give --phase P");
    return st;
}

static enum status begin(struct run *r)
{
    TRY(folder_make(r));
    TRY(write_run_json(r));
    TRY(open_report(r, arena_printf(r->arena, "%s/metrics.jsonl", r->folder), r->o->quiet));
    report_say(r->report, "%s on %s: %lld steps, arena %s, run folder %s", r->graph->model, r->device_name,
               (long long)planned_steps(r), bytes_text(r->arena, r->plan->device_bytes), r->folder);
    r->start = clock_seam.seconds();
    audit_begin(r);
    enum status st = r->o->phase ? train_alone(r) : block_run(r);
    if (r->o->audit) {
        audit_end(r, &r->audited);
    }
    return st;
}

/* Whatever happened, what was reached is kept, unless the device or a fault made it doubtful. */
static enum status finish(struct run *r, enum status st, struct summary *out)
{
    if (st == ST_OK && r->stopped) {
        st = ST_STOPPED;
    }
    fill_summary(r, st, out);
    if (!r->report) {
        return st;
    }
    if (st == ST_OK || st == ST_STOPPED || st == ST_NUMERIC) {
        enum status saved = drain(r);
        if (saved == ST_OK && !r->faulted) {
            saved = save_weights(r, arena_printf(r->arena, "%s/weights.safetensors", r->folder), NULL);
        }
        st = st == ST_NUMERIC || saved == ST_OK ? st : saved;
    }
    enum status told = report_summary(r->report, out);
    report_close(r->report);
    return st == ST_OK ? told : st;
}

enum status run_train(struct run *r, struct summary *out)
{
    *out = (struct summary){.device = r->device_name, .status = "failed"};
    TRY(can_train(r));
    enum status st = begin(r);
    return finish(r, st, out);
}

enum status no_phase(const struct graph *g, struct diag_sink *sink, const char *name, const char *what)
{
    struct text t = {.arena = sink->arena};
    const char **names = arena_array(sink->arena, const char *, g->phases.n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        if (g->phases.at[i].kind == PHASE_USER) {
            names[n] = g->phases.at[i].name;
            text_printf(&t, "%s`%s`", n ? ", " : "", names[n]);
            n++;
        }
    }
    enum status st = diag_emit(sink, DIAG_U1002, NO_SPAN, "the model has no phase `%s` %s; it has %s", name,
                               what, n ? t.at : "none");
    const char *close = closest_name(name, names, n);
    if (close && strcmp(close, name) != 0) {
        diag_help(sink, "did you mean --phase %s?", close);
    }
    return st;
}

int user_phase(const struct graph *g, const char *name)
{
    int i = graph_find_phase(g, name);
    return i >= 0 && g->phases.at[i].kind == PHASE_USER ? i : -1;
}

static enum status eval_phase(const struct graph *g, const struct run_options *o, struct diag_sink *sink,
                              uint32_t *phase)
{
    const char *name = o->phase ? o->phase : "eval";
    int i = user_phase(g, name);
    if (i < 0) {
        return no_phase(g, sink, name, "to evaluate");
    }
    *phase = (uint32_t)i;
    return g->phases.at[i].training ? diag_emit(sink, DIAG_U1002, g->phases.at[i].span,
                                                "phase `%s` trains; eval never changes weights", name)
                                    : ST_OK;
}

enum status run_open_eval(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                          struct run **out)
{
    uint32_t phase = 0;
    *out = NULL;
    TRY(eval_phase(g, o, sink, &phase));
    graph_focus(g, phase);
    return run_open(g, o, sink, out);
}

enum status run_eval(struct run *r, struct summary *out)
{
    uint32_t phase = 0;
    *out = (struct summary){.device = r->device_name, .status = "failed"};
    TRY(eval_phase(r->graph, r->o, r->sink, &phase));
    r->ended = r->stopped; /* --steps ended the training, not this */
    r->limit = -1;
    bool counted = r->phase[phase].counts;
    r->phase[phase].counts = false;  /* launches of an evaluation are no steps of a training */
    TRY(open_report(r, NULL, true)); /* the one line would be the summary's */
    r->start = clock_seam.seconds();
    enum status st = pass(r, phase);
    st = st == ST_OK ? settle(r) : st;
    r->phase[phase].counts = counted;
    fill_summary(r, st == ST_OK && r->stopped ? ST_STOPPED : st, out);
    return st == ST_OK && r->stopped ? ST_STOPPED : st;
}
