/* The tick: last op of every launch. It reads ok and the metrics, advances the control block, and fills a
 * ring slot. One function, valid C11 and CUDA C++, so that all backends count alike.
 *
 * `launches` numbers the slots and always advances. Once the failure word is set nothing else does: the run
 * is over and the control block shows where it stopped. A launch whose commits were dropped (ok false)
 * advances step, cursor and the skip counters; its finite metric values count, its non-finite ones do not
 * (they stay visible in `now`), so one bad batch does not spoil an epoch; until a finite one comes the value
 * of the visit is the non-finite one.
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
    uint8_t first; /* the launch starts a visit: metrics start anew. The backend sets it */
    uint8_t has_ok, drops_tail, n_metric,
        n_assert; /* drops_tail: an epoch ends when less than `rows` rows are left */
    uint8_t mode[RING_METRICS], is_f64[RING_METRICS];
    uint64_t value[RING_METRICS];        /* f32[] or f64[] */
    uint64_t assert_value[TICK_ASSERTS]; /* bool[] */
    uint32_t assert_node[TICK_ASSERTS];
};

GML_INLINE double tick_value(const char *arena, const struct tick_args *a, int i)
{
    const char *at = arena + a->value[i];
    return a->is_f64[i] ? *(const double *)at : (double)*(const float *)at;
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
GML_INLINE void tick_metrics(const char *arena, const struct tick_args *a, struct control *c, int ok)
{
    for (int i = 0; i < a->n_metric; i++) {
        struct metric_control *m = &c->metric[a->metric0 + i];
        double x = tick_value(arena, a, i);
        if (a->first) {
            m->sum = m->weight = 0;
        }
        if (ok || x - x == 0) {
            tick_metric(m, a->mode[i], x, a->rows > 0 ? (double)a->rows : 1);
        } else if (m->weight == 0) {
            m->last = x;
        }
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
GML_INLINE void tick_advance(const char *arena, const struct tick_args *a, struct control *c, int ok)
{
    struct phase_control *p = &c->phase[a->phase];
    tick_metrics(arena, a, c, ok);
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
/* Run by one thread, after everything else of the launch. */
GML_INLINE void tick(char *arena, const struct tick_args *a, struct ring *ring)
{
    struct control *c = (struct control *)(arena + a->control);
    const struct phase_control *p = &c->phase[a->phase];
    int ok = !a->has_ok || arena[a->ok];
    for (int i = 0; i < a->n_assert; i++) {
        if (!arena[a->assert_value[i]]) {
            fault_raise(c, FAULT_ASSERT, a->assert_node[i], i, 0);
        }
    }
    if (c->fault.code == FAULT_NONE) {
        tick_advance(arena, a, c, ok);
    }
    int64_t n = ++c->launches;
    struct ring_slot *s = &ring->slot[(n - 1) % LIMIT_RING_SLOTS];
    s->phase = (int32_t)a->phase;
    s->skipped = !ok;
    s->step = p->step;
    s->epoch = p->epoch;
    s->skips_in_row = p->skips_in_row;
    s->fault = c->fault;
    for (int i = 0; i < a->n_metric; i++) {
        s->value[i] = c->metric[a->metric0 + i].last;
        s->now[i] = tick_value(arena, a, i);
    }
    tick_publish(&s->seq, (uint64_t)n);
}

#endif
