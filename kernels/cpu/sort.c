/* Order within rows of the last axis: argsort and search. NaN is larger than every number. */
#ifndef T
#include "kernels/cpu/cpu.h"

static int64_t width_of(const struct operand *x)
{
    return x->dim[x->rank - 1];
}
static int64_t rows_of(const struct operand *x)
{
    return dims_product(x, 0, x->rank - 1);
}

#define IS_NAN(x) ((x) != (x))
#define TWICE     "kernels/cpu/sort.c"
#include "kernels/cpu/twice.h"
#undef IS_NAN
#define IS_NAN(x) false
#define GET(x)    (x)
#define T         int32_t
#define S         int32_t
#define NAME(x)   x##_i32
#include "kernels/cpu/sort.c"
#undef T
#undef S
#undef NAME
#undef GET

#define BY_NUMBER(t, name, ...) ((t) == DT_I32 ? name##_i32(__VA_ARGS__) : BY_FLOAT(t, name, __VA_ARGS__))

int64_t cpu_units_argsort(const struct kargs *k)
{
    int64_t n = width_of(&k->in[0]);
    return n ? div_up(rows_of(&k->in[0]), rows_per_unit(n)) : 0;
}
void cpu_argsort(void *arena, const struct kargs *k, struct slice s)
{
    int64_t per = rows_per_unit(width_of(&k->in[0]));
    s = (struct slice){s.from * per, min_i64(s.to * per, rows_of(&k->in[0]))};
    BY_NUMBER(k->in[0].dtype, argsort, arena, k, s);
}

int64_t cpu_units_search(const struct kargs *k)
{
    int64_t n = width_of(&k->in[1]);
    return n ? div_up(rows_of(&k->in[1]), rows_per_unit(n)) : 0;
}
void cpu_search(void *arena, const struct kargs *k, struct slice s)
{
    int64_t per = rows_per_unit(width_of(&k->in[1]));
    s = (struct slice){s.from * per, min_i64(s.to * per, rows_of(&k->in[1]))};
    BY_NUMBER(k->in[0].dtype, search, arena, k, s);
}

#else /* for f32, f64, bf16 and i32 */

/* Whether place i of the row comes before place j: equal elements keep their order, so no two places are
 * equal and any way of sorting is stable. */
static bool NAME(precedes)(const S *x, int32_t i, int32_t j, bool descending)
{
    T a = GET(x[i]), b = GET(x[j]);
    bool nan_a = IS_NAN(a), nan_b = IS_NAN(b);
    if (nan_a || nan_b ? nan_a == nan_b : a == b) {
        return i < j;
    }
    bool less = nan_a || nan_b ? nan_b : a < b;
    return less != descending;
}

/* Heap sort: in place, since kernels have no memory of their own. */
static void NAME(sift)(const S *x, int32_t *heap, int64_t top, int64_t n, bool descending)
{
    int32_t moved = heap[top];
    for (int64_t child = 2 * top + 1; child < n; child = 2 * top + 1) {
        child += child + 1 < n && NAME(precedes)(x, heap[child], heap[child + 1], descending);
        if (!NAME(precedes)(x, moved, heap[child], descending)) {
            break;
        }
        heap[top] = heap[child];
        top = child;
    }
    heap[top] = moved;
}
static void NAME(argsort)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t n = width_of(&k->in[0]);
    bool descending = k->attr[0] != 0;
    for (int64_t row = s.from; row < s.to; row++) {
        const S *x = (const S *)cpu_at(arena, &k->in[0]) + row * n;
        int32_t *out = (int32_t *)cpu_at(arena, &k->out[0]) + row * n;
        for (int64_t i = 0; i < n; i++) {
            out[i] = (int32_t)i;
        }
        for (int64_t i = n / 2 - 1; i >= 0; i--) {
            NAME(sift)(x, out, i, n, descending);
        }
        for (int64_t i = n - 1; i > 0; i--) {
            int32_t last = out[i];
            out[i] = out[0];
            out[0] = last;
            NAME(sift)(x, out, 0, i, descending);
        }
    }
}

/* The first place whose element is above u; when there is none, the last one that is above its predecessor.
 */
static int32_t NAME(place_of)(const S *c, int64_t n, T u)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t middle = (lo + hi) / 2;
        if (GET(c[middle]) > u) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    if (lo == n) {
        for (lo = n - 1; lo > 0 && !(GET(c[lo]) > GET(c[lo - 1])); lo--) {
        }
    }
    return (int32_t)lo;
}
static void NAME(search)(void *arena, const struct kargs *k, struct slice s)
{
    int64_t n = width_of(&k->in[0]), m = width_of(&k->in[1]);
    const S *u = cpu_at(arena, &k->in[1]);
    int32_t *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from; row < s.to; row++) {
        const S *c = (const S *)cpu_at(arena, &k->in[0]) + row * n;
        for (int64_t i = row * m; i < (row + 1) * m; i++) {
            out[i] = NAME(place_of)(c, n, GET(u[i]));
        }
    }
}
#endif
