/* Elements of an operand into scratch memory, point behind point. Runs are often short (a row of ten, a
 * number for each row), so all of it is one function for each size of element. An operand that repeats along
 * its outermost axis is walked once and copied from there. */
#include "kernels/cpu/group.h"

enum { LONG_RUN = 64 }; /* elements from which memcpy is worth its call */

#define WALK(name, type)                                                                                     \
    CLONES static void name(const struct iter *w, const char *from, void *to, int64_t at, int64_t n)         \
    {                                                                                                        \
        int64_t index[LIMIT_RANK];                                                                           \
        int last = w->rank - 1;                                                                              \
        for (int axis = last; axis >= 0; axis--) {                                                           \
            index[axis] = axis ? at % w->dim[axis] : at;                                                     \
            from += index[axis] * w->stride[axis][1];                                                        \
            at /= w->dim[axis];                                                                              \
        }                                                                                                    \
        const int64_t step = w->stride[last][1];                                                             \
        for (type *out = to, *end = out + n; out < end;) {                                                   \
            int64_t run = min_i64(w->dim[last] - index[last], end - out);                                    \
            if (step == sizeof(type) && run >= LONG_RUN) {                                                   \
                memcpy(out, from, (size_t)run * sizeof(type));                                               \
            } else if (step == sizeof(type)) {                                                               \
                for (int64_t i = 0; i < run; i++) {                                                          \
                    out[i] = ((const type *)from)[i];                                                        \
                }                                                                                            \
            } else if (step == 0) {                                                                          \
                const type x = *(const type *)from;                                                          \
                for (int64_t i = 0; i < run; i++) {                                                          \
                    out[i] = x;                                                                              \
                }                                                                                            \
            } else {                                                                                         \
                for (int64_t i = 0; i < run; i++) {                                                          \
                    out[i] = *(const type *)(from + i * step);                                               \
                }                                                                                            \
            }                                                                                                \
            out += run;                                                                                      \
            from += run * step;                                                                              \
            index[last] += run;                                                                              \
            for (int axis = last; axis > 0 && index[axis] == w->dim[axis]; axis--) {                         \
                from += w->stride[axis - 1][1] - w->dim[axis] * w->stride[axis][1];                          \
                index[axis] = 0;                                                                             \
                index[axis - 1]++;                                                                           \
            }                                                                                                \
        }                                                                                                    \
    }
WALK(walk_1, uint8_t)
WALK(walk_4, uint32_t)
WALK(walk_8, uint64_t)

void load_points(const struct iter *w, const char *from, void *to, int64_t at, int64_t n, int64_t size)
{
    int64_t period = w->rank > 1 && w->stride[0][1] == 0 ? w->count / w->dim[0] : n;
    int64_t done = min_i64(n, period);
    if (w->rank == 0) { /* one element */
        memcpy(to, from, (size_t)size);
        return;
    }
    (size == 4 ? walk_4 : size == 8 ? walk_8 : walk_1)(w, from, to, at, done);
    for (int64_t more; done < n; done += more) {
        more = min_i64(done, n - done);
        memcpy((char *)to + done * size, to, (size_t)(more * size));
    }
}
