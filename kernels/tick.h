/* The tick: last op of every launch. It reads ok and the metrics, advances the control block, and fills a
 * ring slot. One function, valid C11 and CUDA C++, so that all backends count alike.
 *
 * `launches` numbers the slots and always advances. Once the failure word is set nothing else does: the run
 * is over and the control block shows where it stopped. A launch whose commits were dropped (ok false)
 * advances step, cursor and the skip counters; its finite metric values count, its non-finite ones do not
 * (they stay visible in `now`), so one bad batch does not spoil an epoch; until a finite one comes the value
 * of the visit is the non-finite one. Of replicas each has its own ok and metrics; a launch counts as dropped
 * when it was for all of them.
 *
 * On a GPU the threads of one block share the metrics: `lane` of `lanes`. Elsewhere there is one lane.
 */
#ifndef GML_KERNELS_TICK_H
#define GML_KERNELS_TICK_H
#include "kernels/fault.h"
#include "runtime/base/dtype.h"

/* The modes of metrics, as bytes: values of enum metric_mode of runtime/graph/graph.h (asserted equal in
 * tick_args.h). */
enum { TICK_MEAN, TICK_SUM, TICK_LAST, TICK_MIN, TICK_MAX };
enum { TICK_ASSERTS = 32 };
/* Plain data, under 1 KiB: passed by value to a CUDA kernel. Offsets are bytes into the arena. Made by
 * tick_args_make. */
struct tick_args {
    uint64_t control, ok;
    int64_t rows; /* of the launch; 0 = data-free */
    uint32_t phase, metric0;
    uint16_t replicas; /* values of ok and of each metric; at least 1 */
    uint8_t first; /* the launch starts a visit, also when phase_control.visit says so: metrics start anew.
                      The backend sets it */
    uint8_t has_ok, drops_tail, n_metric,
        n_assert; /* drops_tail: an epoch ends when less than `rows` rows are left */
    uint8_t mode[RING_METRICS], is_f64[RING_METRICS];
    uint64_t value[RING_METRICS];        /* f32[] or f64[] */
    uint64_t assert_value[TICK_ASSERTS]; /* bool[] */
    uint32_t assert_node[TICK_ASSERTS];
};

#if defined(__CUDACC__)
#define TICK_WAIT() __syncthreads()
#else
#define TICK_WAIT() ((void)0)
#endif
/* Value k: of metric k / replicas, replica k % replicas. */
GML_INLINE double tick_value(const char *arena, const struct tick_args *a, int k)
{
    int i = k / a->replicas, r = k % a->replicas;
    const char *at = arena + a->value[i];
    return a->is_f64[i] ? ((const double *)at)[r] : (double)((const float *)at)[r];
}
GML_INLINE void tick_metric(struct metric_control *m, int mode, double x, double weight)
{
    int fresh = m->weight == 0;
    switch (mode) {
    case TICK_MEAN:
        m->sum += x * weight;
        m->weight += weight;
        m->last = m->sum / m->weight;
        return;
    case TICK_SUM:
        m->sum += x;
        break;
    case TICK_LAST:
        m->sum = x;
        break;
    case TICK_MIN:
        m->sum = fresh || x < m->sum || x != x ? x : m->sum;
        break;
    default:
        m->sum = fresh || x > m->sum || x != x ? x : m->sum;
        break;
    }
    m->weight += weight;
    m->last = m->sum;
}
GML_INLINE void tick_metric_of(const char *arena, const struct tick_args *a, struct control *c, int k)
{
    struct metric_control *m = &c->metric[a->metric0 + k];
    double x = tick_value(arena, a, k);
    int ok = !a->has_ok || arena[a->ok + k % a->replicas];
    if (a->first || c->phase[a->phase].visit) {
        m->sum = m->weight = 0;
    }
    if (ok || x - x == 0) {
        tick_metric(m, a->mode[k / a->replicas], x, a->rows > 0 ? (double)a->rows : 1);
    } else if (m->weight == 0) {
        m->last = x;
    }
}
GML_INLINE void tick_cursor(const struct tick_args *a, struct phase_control *p)
{
    if (a->rows <= 0) {
        return;
    }
    p->cursor += a->rows;
    if (p->cursor + (a->drops_tail ? a->rows : 1) > p->rows) {
        p->cursor = 0;
        p->epoch++;
    }
}
GML_INLINE void tick_advance(const struct tick_args *a, struct phase_control *p, int ok)
{
    p->visit = 0;
    p->step++;
    tick_cursor(a, p);
    p->skips += !ok;
    p->skips_in_row = ok ? 0 : p->skips_in_row + 1;
}
GML_INLINE void tick_publish(volatile uint64_t *seq, uint64_t n)
{
#if defined(__CUDACC__)
    __threadfence_system();
    *seq = n;
#else
    __atomic_store_n(seq, n, __ATOMIC_RELEASE);
#endif
}
GML_INLINE int tick_any_ok(const char *arena, const struct tick_args *a)
{
    int any = !a->has_ok;
    for (int r = 0; r < a->replicas && !any; r++) {
        any = arena[a->ok + r];
    }
    return any;
}
GML_INLINE void tick_asserts(const char *arena, const struct tick_args *a, struct control *c)
{
    for (int i = 0; i < a->n_assert; i++) {
        if (!arena[a->assert_value[i]]) {
            fault_raise(c, FAULT_ASSERT, a->assert_node[i], i, 0);
        }
    }
}
/* Run by all lanes, after everything else of the launch. */
GML_INLINE void tick(char *arena, const struct tick_args *a, struct ring *ring, int lane, int lanes)
{
    struct control *c = (struct control *)(arena + a->control);
    struct phase_control *p = &c->phase[a->phase];
    int ok = tick_any_ok(arena, a), values = a->n_metric * a->replicas;
    if (lane == 0) {
        tick_asserts(arena, a, c);
    }
    TICK_WAIT();
    int goes = c->fault.code == FAULT_NONE;
    int64_t n = c->launches + 1;
    struct ring_slot *s = &ring->slot[(n - 1) % LIMIT_RING_SLOTS];
    for (int k = lane; k < values; k += lanes) {
        if (goes) {
            tick_metric_of(arena, a, c, k);
        }
        s->value[k] = c->metric[a->metric0 + k].last;
        s->now[k] = tick_value(arena, a, k);
    }
#if defined(__CUDACC__)
    __threadfence_system();
#endif
    TICK_WAIT(); /* all have read the number and written their values */
    if (lane) {
        return;
    }
    c->launches = n;
    if (goes) {
        tick_advance(a, p, ok);
    }
    c->over |= !goes || (c->max_skips > 0 && p->skips_in_row >= c->max_skips);
    s->phase = (int32_t)a->phase;
    s->skipped = !ok;
    s->step = p->step;
    s->epoch = p->epoch;
    s->skips_in_row = p->skips_in_row;
    s->fault = c->fault;
    tick_publish(&s->seq, (uint64_t)n);
}
#undef TICK_WAIT

#endif
