/* bf16: the upper half of an f32. A storage type only: kernels widen it, compute in f32 and round what they
 * store. Valid C11 and CUDA C++, the same bits everywhere. */
#ifndef GML_BASE_BF16_H
#define GML_BASE_BF16_H
#include <stdint.h>
#include <string.h>
#include "runtime/base/portable_math.h"

struct bf16 {
    uint16_t bits;
};

/* Exact. */
GML_HD float bf16_widen(struct bf16 x)
{
    uint32_t u = (uint32_t)x.bits << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
/* To nearest, ties to even; what is too large becomes infinite, every NaN 0x7fc0. */
GML_HD struct bf16 bf16_round(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    struct bf16 r = {(uint16_t)(x != x ? 0x7fc0 : (u + 0x7fff + ((u >> 16) & 1)) >> 16)};
    return r;
}
/* Towards zero: keeps a draw below 1. */
GML_HD struct bf16 bf16_cut(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    struct bf16 r = {(uint16_t)(u >> 16)};
    return r;
}

#endif
