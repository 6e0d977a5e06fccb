/* A segment on the host, in the order of the graph that a device runs. */
#include "kernels/segment.h"
#include "runtime/exec/exec.h"

struct walk {
    struct exec *e;
    struct segment_host *h;
    const struct segment_node *node;
};

static enum status go_through(const struct walk *w, uint32_t from, uint32_t to);

static enum status go_round(const struct walk *w, uint32_t i)
{
    const struct segment_node *n = &w->node[i];
    struct segment_host *h = w->h;
    for (int more = segment_enter(h->control, &h->state, n); more;
         more = segment_turn(h->control, &h->state, n)) {
        TRY(go_through(w, i + 1, n->end));
    }
    return ST_OK;
}

static enum status go_through(const struct walk *w, uint32_t from, uint32_t to)
{
    struct segment_host *h = w->h;
    for (uint32_t i = from; i < to && !h->state.leave; i = w->node[i].end) {
        const struct segment_node *n = &w->node[i];
        if (n->kind == SEGMENT_LOOP) {
            TRY(go_round(w, i));
        } else if (n->kind == SEGMENT_TICK) {
            TRY(h->tick(w->e, n->variant, n->first));
        } else if (n->kind == SEGMENT_STOP) {
            segment_stops(&h->state, h->holds(w->e, n->variant));
        } else if (segment_asks(h->control, &h->state, n)) {
            TRY(go_through(w, i + 1, n->end));
        }
    }
    return ST_OK;
}

enum status host_segment(struct exec *e, struct segment_host *h, const struct plan_segment *s,
                         const struct segment_command *c)
{
    const struct walk w = {e, h, s->node};
    int more = segment_begin(h->control, &h->state, c);
    if (!s->loops) {
        return go_through(&w, 0, s->n_node);
    }
    for (; more; more = segment_round(h->control, &h->state)) {
        TRY(go_through(&w, 0, s->n_node));
    }
    return ST_OK;
}
