/* Walking strided operands together, copying with it, and widening bf16 on the way. */
#include "kernels/cpu/cpu.h"

enum { WIDE_BLOCK = 256 }; /* elements of a block: stays in the first cache */

static bool merges(const struct iter *it, const int64_t *stride, int64_t size)
{
    if (it->rank == 0) {
        return false;
    }
    const int64_t *last = it->stride[it->rank - 1];
    for (int i = 0; i < it->n; i++) {
        if (last[i] != stride[i] * size) {
            return false;
        }
    }
    return true;
}

void iter_make(struct iter *it, const struct operand *const *o, int n)
{
    it->rank = 0;
    it->n = n;
    it->narrow = 0;
    it->count = 1;
    for (int axis = 0; axis < o[0]->rank; axis++) {
        int64_t size = o[0]->dim[axis], stride[ITER_OPERANDS];
        it->count *= size;
        if (size == 1) {
            continue;
        }
        for (int i = 0; i < n; i++) {
            stride[i] = o[i]->rank ? o[i]->stride[axis] * (int64_t)dtype_size((enum dtype)o[i]->dtype) : 0;
        }
        if (merges(it, stride, size)) {
            it->dim[it->rank - 1] *= size;
        } else {
            it->dim[it->rank++] = size;
        }
        memcpy(it->stride[it->rank - 1], stride, sizeof *stride * (size_t)n);
    }
}

/* Moves to the next place of the outer axes; p stands at the end of a run. */
static void iter_carry(const struct iter *it, char **p, int64_t *index)
{
    for (int axis = it->rank - 1; axis > 0 && index[axis] == it->dim[axis]; axis--) {
        for (int i = 0; i < it->n; i++) {
            p[i] += it->stride[axis - 1][i] - it->dim[axis] * it->stride[axis][i];
        }
        index[axis] = 0;
        index[axis - 1]++;
    }
}

CLONES void bf16_widen_run(float *to, const char *from, int64_t stride, int64_t n)
{
    if (stride == sizeof(struct bf16)) {
        const struct bf16 *x = (const struct bf16 *)from;
        for (int64_t i = 0; i < n; i++) {
            to[i] = bf16_widen(x[i]);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        to[i] = bf16_widen(*(const struct bf16 *)(from + i * stride));
    }
}

CLONES void bf16_round_run(char *to, int64_t stride, const float *from, int64_t n)
{
    if (stride == sizeof(struct bf16)) {
        struct bf16 *out = (struct bf16 *)to;
        for (int64_t i = 0; i < n; i++) {
            out[i] = bf16_round(from[i]);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        *(struct bf16 *)(to + i * stride) = bf16_round(from[i]);
    }
}

/* One run, of which the narrow operands are widened. A block is read before its output is written: that may
 * be the very bytes of an input. */
static void run_wide(const struct iter *it, char *const *p, const int64_t *s, int64_t n, iter_fn fn)
{
    float block[ITER_OPERANDS][WIDE_BLOCK];
    for (int64_t at = 0; at < n; at += WIDE_BLOCK) {
        int64_t m = min_i64(WIDE_BLOCK, n - at), step[ITER_OPERANDS];
        char *q[ITER_OPERANDS];
        for (int i = 0; i < it->n; i++) {
            bool narrow = it->narrow >> i & 1, repeats = i > 0 && s[i] == 0;
            q[i] = narrow ? (char *)block[i] : p[i] + at * s[i];
            step[i] = !narrow ? s[i] : repeats ? 0 : (int64_t)sizeof(float);
            if (narrow && i > 0) {
                bf16_widen_run(block[i], p[i] + at * s[i], s[i], repeats ? 1 : m);
            }
        }
        fn(q, step, m);
        if (it->narrow & 1) {
            bf16_round_run(p[0] + at * s[0], s[0], block[0], m);
        }
    }
}

static void run_one(const struct iter *it, char *const *p, const int64_t *s, int64_t n, iter_fn fn)
{
    if (it->narrow) {
        run_wide(it, p, s, n, fn);
    } else {
        fn(p, s, n);
    }
}

void iter_run(const struct iter *it, char *const *base, int64_t from, int64_t to, iter_fn fn)
{
    static const int64_t still[ITER_OPERANDS];
    if (from >= to) {
        return;
    }
    if (it->rank == 0) {
        run_one(it, base, still, 1, fn);
        return;
    }
    int64_t index[LIMIT_RANK], rest = from;
    char *p[ITER_OPERANDS];
    memcpy(p, base, sizeof *p * (size_t)it->n);
    for (int axis = it->rank - 1; axis >= 0; axis--) {
        index[axis] = axis ? rest % it->dim[axis] : rest;
        rest /= it->dim[axis];
        for (int i = 0; i < it->n; i++) {
            p[i] += index[axis] * it->stride[axis][i];
        }
    }
    int last = it->rank - 1;
    while (from < to) {
        int64_t n = min_i64(it->dim[last] - index[last], to - from);
        run_one(it, p, it->stride[last], n, fn);
        for (int i = 0; i < it->n; i++) {
            p[i] += n * it->stride[last][i];
        }
        index[last] += n;
        from += n;
        iter_carry(it, p, index);
    }
}

#define COPY(name, type)                                                                                     \
    static void name(char *const *p, const int64_t *s, int64_t n)                                            \
    {                                                                                                        \
        if (s[0] == sizeof(type) && s[1] == sizeof(type)) {                                                  \
            memmove(p[0], p[1], (size_t)n * sizeof(type));                                                   \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                    \
            *(type *)(p[0] + i * s[0]) = *(const type *)(p[1] + i * s[1]);                                   \
        }                                                                                                    \
    }
COPY(copy_1, uint8_t)
COPY(copy_2, uint16_t)
COPY(copy_4, uint32_t)
COPY(copy_8, uint64_t)

iter_fn iter_copy(size_t bytes)
{
    return bytes == 1 ? copy_1 : bytes == 2 ? copy_2 : bytes == 4 ? copy_4 : copy_8;
}

int64_t cpu_units_copy(const struct kargs *k)
{
    return cpu_units_elem(k);
}

void cpu_copy(void *arena, const struct kargs *k, struct slice s)
{
    const struct operand *o[] = {&k->out[0], &k->in[0]};
    char *base[] = {cpu_at(arena, o[0]), cpu_at(arena, o[1])};
    struct iter it;
    iter_make(&it, o, 2);
    iter_run(&it, base, s.from * UNIT_ELEMENTS, min_i64(s.to * UNIT_ELEMENTS, it.count),
             iter_copy(dtype_size((enum dtype)o[0]->dtype)));
}
