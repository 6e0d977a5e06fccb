/* Elements of any type as numbers: bool as 0 and 1, floats rounded to the nearest where they are stored. */
#ifndef GML_BASE_NUMBER_H
#define GML_BASE_NUMBER_H
#include "runtime/base/bf16.h"
#include "runtime/base/dtype.h"

static inline double number_at(const void *from, enum dtype t, int64_t i)
{
    switch (t) {
    case DT_F32:
        return (double)((const float *)from)[i];
    case DT_F64:
        return ((const double *)from)[i];
    case DT_BF16:
        return (double)bf16_widen(((const struct bf16 *)from)[i]);
    case DT_I32:
        return ((const int32_t *)from)[i];
    default:
        return ((const unsigned char *)from)[i];
    }
}
static inline void number_put(void *to, enum dtype t, int64_t i, double x)
{
    switch (t) {
    case DT_F32:
        ((float *)to)[i] = (float)x;
        break;
    case DT_F64:
        ((double *)to)[i] = x;
        break;
    case DT_BF16:
        ((struct bf16 *)to)[i] = bf16_round((float)x);
        break;
    case DT_I32:
        ((int32_t *)to)[i] = (int32_t)x;
        break;
    default:
        ((unsigned char *)to)[i] = x != 0;
        break;
    }
}

#endif
