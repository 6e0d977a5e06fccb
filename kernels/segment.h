/* The steps of a segment (runtime/plan/segment.h), each run by one thread: what moves its counters, and
 * whether to go on. Valid C11 and CUDA C++, so that all backends go the same way. Nothing goes on once the
 * run is over (control.over); what runs until the launch has ended changes nothing but the slots. */
#ifndef GML_KERNELS_SEGMENT_H
#define GML_KERNELS_SEGMENT_H
#include "kernels/vocab.h"
#include "runtime/plan/control.h"

/* The steps by name. Each but STOPS sets the condition of what may follow: the loop around all, a loop, what
 * an `every` is in front of; CHECKS: what runs unless a repeat is being left. */
enum segment_step {
    SEGMENT_BEGINS,
    SEGMENT_ROUNDS,
    SEGMENT_ENTERS,
    SEGMENT_TURNS,
    SEGMENT_ASKS,
    SEGMENT_STOPS,
    SEGMENT_CHECKS
};
GML_INLINE int segment_goes_on(const struct control *c, const struct segment_state *s)
{
    return !c->over && !s->leave;
}
/* Before everything: takes the command. */
GML_INLINE int segment_begin(struct control *c, struct segment_state *s, const struct segment_command *m)
{
    s->rounds = m->rounds;
    if (!m->goes_on) {
        s->leave = 0;
        s->round[0] = m->round;
        for (int i = 0; i < SEGMENT_MARKS; i++) {
            s->mark[i] = m->mark[i];
        }
    }
    if (m->phase >= 0) {
        c->phase[m->phase].visit = 1;
    }
    return s->rounds > 0 && segment_goes_on(c, s);
}
/* At the end of a round of the loop around all. */
GML_INLINE int segment_round(const struct control *c, struct segment_state *s)
{
    s->round[0]++;
    return --s->rounds > 0 && segment_goes_on(c, s);
}
GML_INLINE int segment_enter(struct control *c, struct segment_state *s, const struct segment_node *n)
{
    s->round[n->loop] = 1;
    for (int i = 0; i < SEGMENT_MARKS; i++) {
        if (n->forget >> i & 1) {
            s->mark[i] = 0;
        }
    }
    if (n->phase >= 0) {
        c->phase[n->phase].visit = 1;
    }
    return n->n > 0 && segment_goes_on(c, s);
}
/* At the end of an iteration. */
GML_INLINE int segment_turn(const struct control *c, struct segment_state *s, const struct segment_node *n)
{
    int more = ++s->round[n->loop] <= n->n && segment_goes_on(c, s);
    if (!more && n->is_repeat) {
        s->leave = 0;
    }
    return more;
}
GML_INLINE int segment_asks(const struct control *c, struct segment_state *s, const struct segment_node *n)
{
    int64_t now = n->phase >= 0 ? c->phase[n->phase].step : s->round[n->loop];
    int64_t multiple = now / n->n;
    int fires = multiple > s->mark[n->mark];
    s->mark[n->mark] = multiple;
    return fires && segment_goes_on(c, s);
}
/* An expression of `stop when`, as an f32 or a bool. */
GML_INLINE int segment_holds(const char *at, int is_f32)
{
    return is_f32 ? *(const float *)at != 0 : *at != 0;
}
GML_INLINE void segment_stops(struct segment_state *s, int holds)
{
    s->leave = holds;
}
/* Each but BEGINS, for which every device takes the command in its own way. `value`: what STOPS looks at. */
GML_INLINE int segment_step(int step, struct control *c, struct segment_state *s,
                            const struct segment_node *n, const char *value, int is_f32)
{
    switch (step) {
    case SEGMENT_ROUNDS:
        return segment_round(c, s);
    case SEGMENT_ENTERS:
        return segment_enter(c, s, n);
    case SEGMENT_TURNS:
        return segment_turn(c, s, n);
    case SEGMENT_ASKS:
        return segment_asks(c, s, n);
    case SEGMENT_STOPS:
        segment_stops(s, segment_holds(value, is_f32));
        return 0;
    default:
        return segment_goes_on(c, s);
    }
}

#endif
