/* How long each op of a variant takes: a graph of its own for each, a chain of the same op, between two
 * events. That is what the op costs in the graph of a step, where it also waits for the one before it. */
#include "runtime/exec/cuda/cuda_exec.h"

enum { CHAIN = 40 };
static const double long_enough = 4e-3; /* seconds of a chain that need no second run */

struct stopwatch {
    void *from, *to;
};

static enum status run_chain(struct exec *e, void *exec, const struct stopwatch *w, double *seconds)
{
    CUDA_TRY(e, event_record, w->from, e->stream);
    CUDA_TRY(e, exec_launch, exec, e->stream);
    CUDA_TRY(e, event_record, w->to, e->stream);
    CUDA_TRY(e, stream_sync, e->stream);
    CUDA_TRY(e, event_seconds, w->from, w->to, seconds);
    return ST_OK;
}

static enum status fill_chain(struct exec *e, void *graph, const struct cuda_step *s, void **exec)
{
    struct cuda_tail tail = {.n = 0};
    for (int i = 0; i < CHAIN; i++) {
        TRY(cuda_step_add(e, graph, &tail, s));
    }
    CUDA_TRY(e, exec_create, graph, exec);
    CUDA_TRY(e, exec_upload, *exec, e->stream);
    return ST_OK;
}

static enum status time_step(struct exec *e, const struct cuda_step *s, const struct stopwatch *w,
                             double *seconds)
{
    void *graph = NULL, *exec = NULL;
    CUDA_TRY(e, graph_create, &graph);
    enum status st = fill_chain(e, graph, s, &exec);
    st = st == ST_OK ? run_chain(e, exec, w, seconds) : st;
    st = st == ST_OK && *seconds < long_enough ? run_chain(e, exec, w, seconds) : st;
    *seconds /= CHAIN;
    if (exec) {
        e->api.exec_destroy(e->api.ctx, exec);
    }
    e->api.graph_destroy(e->api.ctx, graph);
    return st;
}

/* In the order of the step, each op after it has run once, so that all read what they read in a step. */
static enum status time_steps(struct exec *e, const struct cuda_variant *v, const struct stopwatch *w,
                              double *seconds)
{
    for (uint32_t i = 0; i < v->n_step; i++) {
        const struct cuda_step *s = &v->step[i];
        seconds[s->op] = 0;
        if (s->loop && s->loop->end == i) {
            continue; /* would count on */
        }
        TRY(cuda_step_issue(e, s));
        if (!s->loop && (s->blas_plan || s->n_launch)) {
            TRY(time_step(e, s, w, &seconds[s->op]));
        }
    }
    return ST_OK;
}

enum status cuda_profile(struct exec *e, uint32_t variant, double *seconds)
{
    struct stopwatch w = {NULL, NULL};
    if (variant >= e->n_variant || !e->variant[variant].ready) {
        return cuda_error(e, ST_INTERNAL, "variant %u does not run on the device", variant);
    }
    CUDA_TRY(e, stream_sync, e->stream);
    CUDA_TRY(e, event_create, &w.from);
    int code = e->api.event_create(e->api.ctx, &w.to);
    enum status st = code ? cuda_failed(e, CUDA_CALL_event_create, code)
                          : time_steps(e, &e->variant[variant], &w, seconds);
    if (w.to) {
        e->api.event_destroy(e->api.ctx, w.to);
    }
    e->api.event_destroy(e->api.ctx, w.from);
    return st;
}
