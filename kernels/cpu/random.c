/* Random draws. Each is a pure function of (control.key ^ op id, element, step of the phase): see
 * runtime/base/philox.h. */
#ifndef T
#include "kernels/cpu/cpu.h"
#include "kernels/rows.h"
#include "runtime/base/philox.h"

/* Attributes: op id, phase. */
struct stream {
    uint64_t key, step;
    uint32_t iteration;
};
/* Inside of a loop the last input in front of the control block is the iteration; `own` inputs stand before.
 */
static struct stream stream_of(void *arena, const struct kargs *k, int own)
{
    const struct control *c = cpu_control(arena, k);
    struct stream s = {c->key ^ (uint64_t)k->attr[0], (uint64_t)c->phase[k->attr[1]].step, 0};
    if (k->n_in > own + 1) {
        s.iteration = *(const uint32_t *)cpu_at(arena, &k->in[own]);
    }
    return s;
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

int64_t cpu_units_bernoulli(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_bernoulli(void *arena, const struct kargs *k, struct slice s)
{
    struct stream r = stream_of(arena, k, 1);
    const void *p = cpu_at(arena, &k->in[0]);
    double chance = k->in[0].dtype == DT_F64    ? *(const double *)p
                    : k->in[0].dtype == DT_BF16 ? (double)bf16_widen(*(const struct bf16 *)p)
                                                : (double)*(const float *)p;
    uint8_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i += 4) {
        struct philox b = draw_block(r.key, (uint32_t)(i / 4), r.iteration, r.step);
        for (int64_t j = i; j < min_i64(i + 4, s.to); j++) {
            out[j] = (double)uniform_u24(b.x[j - i]) < chance;
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
    int32_t n = *(const int32_t *)cpu_at(arena, &k->in[0]), *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i += 4) {
        struct philox b = draw_block(r.key, (uint32_t)(i / 4), r.iteration, r.step);
        for (int64_t j = i; j < min_i64(i + 4, s.to); j++) {
            out[j] = n > 0 ? (int32_t)((uint64_t)b.x[j - i] * (uint32_t)n >> 32) : -1;
        }
    }
}

/* Attributes: op id, n. An index outside of 0 .. n-1 becomes -1, which reads nothing. */
int64_t cpu_units_shuffle(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_shuffle(void *arena, const struct kargs *k, struct slice s)
{
    uint64_t key = cpu_control(arena, k)->key ^ (uint64_t)k->attr[0];
    int64_t n = k->attr[1];
    const int32_t *in = cpu_at(arena, &k->in[0]), *epoch = cpu_at(arena, &k->in[1]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i++) {
        bool inside = in[i] >= 0 && in[i] < n;
        out[i] = inside ? (int32_t)permute_index((uint32_t)in[i], (uint32_t)n, key, (uint64_t)(int64_t)*epoch)
                        : -1;
    }
}

/* Attributes: phase, order, op id. Rows past the end of the split become -1. */
int64_t cpu_units_rows(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_rows(void *arena, const struct kargs *k, struct slice s)
{
    const struct control *c = cpu_control(arena, k);
    const struct phase_control *p = &c->phase[k->attr[0]];
    uint64_t key = c->key ^ (uint64_t)k->attr[2];
    int32_t *out = cpu_at(arena, &k->out[0]);
    s = elements(k, s);
    for (int64_t i = s.from; i < s.to; i++) {
        int64_t row = k->attr[1] == ROWS_LANES ? lane_row(p->cursor, p->rows, operand_count(&k->out[0]), i)
                                               : p->cursor + i;
        if (row >= p->rows) {
            out[i] = -1;
            continue;
        }
        if (k->attr[1] == ROWS_SHUFFLED) {
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
        for (int64_t i = s.from; i < s.to; i += 4) {                                                         \
            struct philox b = draw_block(r.key, (uint32_t)(i / 4), r.iteration, r.step);                     \
            for (int64_t j = i; j < min_i64(i + 4, s.to); j++) {                                             \
                out[j] = put(name##_u24(b.x[j - i]));                                                        \
            }                                                                                                \
        }                                                                                                    \
    }
DRAW(uniform, CUT)
DRAW(normal, PUT)
#undef CUT
#undef DRAW
#endif
