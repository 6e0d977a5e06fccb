/* Going through the run block up to a phase: what others leave there, a ring of rows or values of a phase, is
 * what a step of it works on, and without it a loss may be no number. Nothing is reported or saved. */
#include "runtime/run/internal.h"

enum { ARRIVAL_LAUNCHES = 1000 };

struct walk {
    enum status (*arrives)(struct run *r, uint32_t phase);
    void *ctx;
};

static enum status arrive(struct run *r, uint32_t phase)
{
    const struct run_watch *watch = r->watch;
    const struct walk *w = watch->ctx;
    const struct run_watch inner = {.ctx = w->ctx};
    r->watch = &inner;
    enum status st = w->arrives(r, phase);
    r->watch = watch;
    r->ended |= r->launched >= ARRIVAL_LAUNCHES;
    return st;
}

enum status walk_run(struct run *r, enum status (*arrives)(struct run *, uint32_t phase), void *ctx)
{
    struct walk w = {arrives, ctx};
    const struct run_watch watch = {.arrives = arrive, .ctx = &w};
    r->watch = &watch;
    r->limit = -1;
    r->log_every = INT64_MAX;
    enum status st = r->graph->run.n ? block_run(r) : ST_OK;
    r->watch = NULL;
    r->ended = r->stopped;
    r->leave = false;
    return st;
}

bool is_in_run(const struct graph *g, uint32_t phase)
{
    bool found = false;
    for (uint32_t i = 0; i < g->run.n; i++) {
        found |= g->run.at[i].kind == RUN_GO && g->run.at[i].phase == phase;
    }
    return found;
}
