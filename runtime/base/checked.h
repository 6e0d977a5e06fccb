/* Checked arithmetic on sizes: each returns false on overflow and leaves *out alone. */
#ifndef GML_BASE_CHECKED_H
#define GML_BASE_CHECKED_H
#include <stdbool.h>
#include <stdint.h>

static inline bool add_ok(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    return !__builtin_add_overflow(a, b, &r) && (*out = r, true);
}
static inline bool mul_ok(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    return !__builtin_mul_overflow(a, b, &r) && (*out = r, true);
}
/* Rounds n up to a multiple of `to` (a power of two). */
static inline bool align_ok(int64_t n, int64_t to, int64_t *out)
{
    int64_t r;
    return add_ok(n, to - 1, &r) && (*out = r & ~(to - 1), true);
}

#endif
