/* Random draws. Each is a pure function of (control.key ^ op id, element, step of the phase): see
 * runtime/base/philox.h. With one attribute more than usual the first axis is one of replicas, each with the
 * draws that a run of its own with its seed would have. */
#ifndef T
#include "kernels/cpu/cpu.h"
#include "kernels/rows.h"
#include "runtime/base/philox.h"

/* Attributes: op id, phase. */
struct stream {
    const struct control *control;
    uint64_t op_id, step;
    uint32_t iteration;
    bool replicas;
    int64_t each; /* elements of a replica */
};
/* Inside of a loop the last input in front of the control block is the iteration; `own` inputs stand before.
 */
static struct stream stream_of(void *arena, const struct kargs *k, int own)
{
    const struct control *c = cpu_control(arena, k);
    struct stream s = {c, (uint64_t)k->attr[0], (uint64_t)c->phase[k->attr[1]].step, 0, k->n_attr > 2, 0};
    s.each = operand_count(&k->out[0]) / (s.replicas && k->out[0].dim[0] ? k->out[0].dim[0] : 1);
    if (k->n_in > own + 1) {
        s.iteration = *(const uint32_t *)cpu_at(arena, &k->in[own]);
    }
    return s;
}
static uint64_t key_of(const struct control *c, bool replicas, int64_t replica)
{
    return replicas ? mix64(c->seed + (uint64_t)replica) : c->key;
}
/* Up to four elements that come from one Philox block: the first is element `at` of the result. */
struct draws {
    int64_t replica, n;
    uint32_t bits[4];
};
static struct draws draws_at(const struct stream *s, int64_t at, int64_t to)
{
    struct draws p = {.replica = s->replicas ? at / s->each : 0};
    int64_t own = at - p.replica * s->each, lane = own % 4;
    struct philox b = draw_block(key_of(s->control, s->replicas, p.replica) ^ s->op_id, (uint32_t)(own / 4),
                                 s->iteration, s->step);
    p.n = min_i64(min_i64(4 - lane, s->each - own), to - at);
    memcpy(p.bits, b.x + lane, (size_t)p.n * sizeof *p.bits);
    return p;
}
/* Elements of a slice; a unit holds whole Philox blocks of four. */
static struct slice elements(const struct kargs *k, struct slice s)
{
    return (struct slice){s.from * UNIT_ELEMENTS, min_i64(s.to * UNIT_ELEMENTS, operand_count(&k->out[0]))};
}

#define TWICE "kernels/cpu/random.c"
#include "kernels/cpu/twice.h"

int64_t cpu_units_uniform(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_uniform(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->out[0].dtype, uniform, arena, k, elements(k, s));
}
int64_t cpu_units_normal(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_normal(void *arena, const struct kargs *k, struct slice s)
{
    BY_FLOAT(k->out[0].dtype, normal, arena, k, elements(k, s));
}

static double chance_at(const void *p, enum dtype t, int64_t i)
{
    return t == DT_F64    ? ((const double *)p)[i]
           : t == DT_BF16 ? (double)bf16_widen(((const struct bf16 *)p)[i])
                          : (double)((const float *)p)[i];
}
int64_t cpu_units_bernoulli(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_bernoulli(void *arena, const struct kargs *k, struct slice s)
{
    struct stream r = stream_of(arena, k, 1);
    uint8_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    struct draws b;
    for (int64_t i = s.from; i < s.to; i += b.n) {
        b = draws_at(&r, i, s.to);
        double chance =
            chance_at(cpu_at(arena, &k->in[0]), (enum dtype)k->in[0].dtype, k->in[0].rank ? b.replica : 0);
        for (int64_t j = 0; j < b.n; j++) {
            out[i + j] = (double)uniform_u24(b.bits[j]) < chance;
        }
    }
}

/* The upper half of draw * n: every number below n, to one part in 2^32 / n equally often. -1 when there is
 * none. */
int64_t cpu_units_randint(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_randint(void *arena, const struct kargs *k, struct slice s)
{
    struct stream r = stream_of(arena, k, 1);
    const int32_t *many = cpu_at(arena, &k->in[0]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    struct draws b;
    for (int64_t i = s.from; i < s.to; i += b.n) {
        b = draws_at(&r, i, s.to);
        int32_t n = many[k->in[0].rank ? b.replica : 0];
        for (int64_t j = 0; j < b.n; j++) {
            out[i + j] = n > 0 ? (int32_t)((uint64_t)b.bits[j] * (uint32_t)n >> 32) : -1;
        }
    }
}

/* Attributes: op id, (1,) n. An index outside of 0 .. n-1 becomes -1, which reads nothing. */
int64_t cpu_units_shuffle(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_shuffle(void *arena, const struct kargs *k, struct slice s)
{
    const struct control *c = cpu_control(arena, k);
    bool replicas = k->n_attr > 2;
    int64_t n = k->attr[k->n_attr - 1],
            each = operand_count(&k->out[0]) / (replicas && k->out[0].dim[0] ? k->out[0].dim[0] : 1);
    const int32_t *in = cpu_at(arena, &k->in[0]), *epoch = cpu_at(arena, &k->in[1]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i++) {
        bool inside = in[i] >= 0 && in[i] < n;
        int64_t r = i / each;
        uint64_t key = key_of(c, replicas, r) ^ (uint64_t)k->attr[0];
        uint64_t round = (uint64_t)(int64_t)epoch[k->in[1].rank ? r : 0];
        out[i] = inside ? (int32_t)permute_index((uint32_t)in[i], (uint32_t)n, key, round) : -1;
    }
}

/* Attributes: phase, order, op id (, 1). Rows past the end of the split become -1. */
int64_t cpu_units_rows(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_rows(void *arena, const struct kargs *k, struct slice s)
{
    const struct control *c = cpu_control(arena, k);
    const struct phase_control *p = &c->phase[k->attr[0]];
    bool replicas = k->n_attr > 3;
    int32_t *out = cpu_at(arena, &k->out[0]);
    int64_t each = operand_count(&k->out[0]) / (replicas && k->out[0].dim[0] ? k->out[0].dim[0] : 1);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i++) {
        int64_t r = i / each, own = i - r * each;
        int64_t row = k->attr[1] == ROWS_LANES ? lane_row(p->cursor, p->rows, each, own) : p->cursor + own;
        if (row >= p->rows) {
            out[i] = -1;
            continue;
        }
        if (k->attr[1] == ROWS_SHUFFLED) {
            uint64_t key = key_of(c, replicas, r) ^ (uint64_t)k->attr[2];
            row = permute_index((uint32_t)row, (uint32_t)p->rows, key, (uint64_t)p->epoch);
        }
        out[i] = (int32_t)(p->row0 + row);
    }
}

#else /* for f32, f64 and bf16 */

/* A uniform draw is cut, not rounded, so that 1 stays out of reach. */
#if NARROW
#define CUT(x) bf16_cut(x)
#else
#define CUT(x) PUT(x)
#endif
#define DRAW(name, put)                                                                                      \
    static void NAME(name)(void *arena, const struct kargs *k, struct slice s)                               \
    {                                                                                                        \
        struct stream r = stream_of(arena, k, 0);                                                            \
        S *out = cpu_at(arena, &k->out[0]);                                                                  \
        struct draws b;                                                                                      \
        for (int64_t i = s.from; i < s.to; i += b.n) {                                                       \
            b = draws_at(&r, i, s.to);                                                                       \
            for (int64_t j = 0; j < b.n; j++) {                                                              \
                out[i + j] = put(name##_u24(b.bits[j]));                                                     \
            }                                                                                                \
        }                                                                                                    \
    }
DRAW(uniform, CUT)
DRAW(normal, PUT)
#undef CUT
#undef DRAW
#endif
