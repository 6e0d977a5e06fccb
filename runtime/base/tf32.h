/* TF32: the numbers that tensor cores take for f32 factors, an f32 whose mantissa has 10 bits behind the
 * point. Rounded to nearest, halves to even; NaN and infinity stay, and the largest f32 numbers become
 * infinite. */
#ifndef GML_BASE_TF32_H
#define GML_BASE_TF32_H
#include <stdint.h>
#include <string.h>

static inline float tf32_round(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    if ((u & 0x7f800000u) != 0x7f800000u) {
        u = (u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu;
    }
    memcpy(&x, &u, sizeof x);
    return x;
}

#endif
