/* Running one kernel on hand-made operands: a small arena, tensors in it, and a launch cut over a pool of any
 * number of threads. */
#ifndef GML_TESTS_RIG_H
#define GML_TESTS_RIG_H
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/kernel.h"
#include "runtime/base/number.h"
#include "runtime/exec/host.h"

/* ck_assert writes a record each time it holds, which is too slow inside loops over elements. */
#define expect(condition) expect_msg(condition, "%s", #condition)
#define expect_msg(condition, ...)                                                                           \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            ck_abort_msg(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    } while (0)

enum { RIG_BYTES = 64 << 20, RIG_INPUTS = 8 };
struct rig {
    char *arena;
    uint64_t used;
    struct operand in[RIG_INPUTS], out;
    int64_t attr[LIMIT_ATTRS];
    struct kargs k;
    struct operand control;
};

static inline struct operand rig_tensor(struct rig *r, enum dtype t, int rank, const int64_t *size)
{
    struct operand o = {.offset = r->used, .dtype = (uint8_t)t, .rank = (uint8_t)rank};
    int64_t n = 1;
    for (int i = rank - 1; i >= 0; i--) {
        o.dim[i] = size[i];
        o.stride[i] = n;
        n *= size[i];
    }
    r->used += ((uint64_t)n * dtype_size(t) + 511) / 256 * 256;
    expect(r->used <= RIG_BYTES);
    return o;
}
static inline struct operand rig_vector(struct rig *r, enum dtype t, int64_t n)
{
    return rig_tensor(r, t, 1, &n);
}
static inline struct operand rig_scalar(struct rig *r, enum dtype t)
{
    return rig_tensor(r, t, 0, NULL);
}
static inline struct rig *rig_new(void)
{
    struct rig *r = calloc(1, sizeof *r);
    r->arena = calloc(1, RIG_BYTES);
    r->control = (struct operand){.offset = 0};
    r->used = (sizeof(struct control) + 255) / 256 * 256;
    return r;
}
static inline void rig_free(struct rig *r)
{
    free(r->arena);
    free(r);
}
static inline void rig_reset(struct rig *r)
{
    r->used = (sizeof(struct control) + 255) / 256 * 256;
    memset(r->arena, 0, sizeof(struct control));
}
static inline struct control *rig_control(struct rig *r)
{
    return (struct control *)r->arena;
}
static inline void *rig_at(struct rig *r, const struct operand *o)
{
    return r->arena + o->offset;
}
/* Element `i` in memory order from the operand's offset. */
static inline void rig_set(struct rig *r, const struct operand *o, int64_t i, double x)
{
    number_put(rig_at(r, o), (enum dtype)o->dtype, i, x);
}
static inline double rig_get(struct rig *r, const struct operand *o, int64_t i)
{
    return number_at(rig_at(r, o), (enum dtype)o->dtype, i);
}
/* Logical element i (row-major over the operand's dims), strides respected. */
static inline int64_t rig_place(const struct operand *o, int64_t i)
{
    int64_t at = 0;
    for (int axis = o->rank - 1; axis >= 0; axis--) {
        at += i % o->dim[axis] * o->stride[axis];
        i /= o->dim[axis];
    }
    return at;
}
static inline double rig_element(struct rig *r, const struct operand *o, int64_t i)
{
    return rig_get(r, o, rig_place(o, i));
}
static inline int64_t rig_count(const struct operand *o)
{
    int64_t n = 1;
    for (int i = 0; i < o->rank; i++) {
        n *= o->dim[i];
    }
    return n;
}
/* A reproducible number in [0, 1). */
static inline double rig_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 40) / 16777216.0;
}
static inline void rig_fill(struct rig *r, const struct operand *o, uint64_t seed, double lo, double hi)
{
    for (int64_t i = 0; i < rig_count(o); i++) {
        rig_set(r, o, i, lo + (hi - lo) * rig_random(&seed));
    }
}
/* Runs op on r->in[0 .. n_in), r->attr, r->out; work is r->k.work. A guard behind the output must survive. */
static inline void rig_run(struct rig *r, enum op op, int n_in, int n_attr, int threads)
{
    struct plan_op p = {.op = (uint16_t)op, .node = 7, .k = r->k};
    p.k.in = r->in;
    p.k.out = &r->out;
    p.k.n_in = (uint16_t)n_in;
    p.k.n_out = 1;
    p.k.attr = r->attr;
    p.k.n_attr = (uint32_t)n_attr;
    p.k.node = 7;
    unsigned char *guard = (unsigned char *)rig_at(r, &r->out) +
                           (size_t)rig_count(&r->out) * dtype_size((enum dtype)r->out.dtype);
    memset(guard, 0x5a, 64);
    struct pool *pool = pool_new(threads);
    host_run_op(r->arena, &p, pool);
    pool_free(pool);
    for (int i = 0; i < 64; i++) {
        expect_msg(guard[i] == 0x5a, "%s wrote behind its output", op_table[op].name);
    }
}
/* |got - want| <= tolerance * max(1, |want|), or both NaN, or equal infinities. */
static inline bool rig_near(double got, double want, double tolerance)
{
    if (want != want || got != got) {
        return want != want && got != got;
    }
    return got == want || fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

#endif
