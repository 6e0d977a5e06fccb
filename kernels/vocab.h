/* The fixed vocabulary of the formulas in ops.def, valid C11 and CUDA C++ (NVRTC included).
 *
 * `T` names the working type (f32, f64 or i32) where a formula is used. C takes exp, log, tanh ... from
 * <tgmath.h>, C++ has overloads. Semantics: NaN wins in max2/min2 and goes through sign1; integer arithmetic
 * wraps (build C with -fwrapv); integer division by zero gives 0 and never traps; floor_div and floor_mod
 * follow the sign of the divisor (0 too), and x == floor_div(x, y) * y + floor_mod(x, y) up to rounding; a
 * float becomes an i32 by truncation, saturating, NaN gives 0; a number becomes true unless it is 0 (NaN is
 * true); same_bits makes an i32 of an f32 and an f32 of an i32, for f64 by way of f32.
 */
#ifndef GML_KERNELS_VOCAB_H
#define GML_KERNELS_VOCAB_H

#if defined(__CUDACC_RTC__)
typedef int int32_t;
typedef unsigned int uint32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define GML_INF __int_as_float(0x7f800000)
#else
#include <stdint.h>
#include <string.h>
#include <math.h>
#define GML_INF INFINITY
#endif

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define GML_DEVICE __device__
#else
#define GML_DEVICE
#endif
#define GML_INLINE static inline GML_DEVICE

#if defined(__CUDACC__)
/* First in every kernel: kernels of a graph start while the launch in front of them still runs (programmatic
 * edges, cuda_api_real.c); behind this it has ended and what it wrote is there. */
GML_INLINE void wait_for_previous(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
#endif

/* Bits that are kept: an f32 as an i32 and back. */
/* A literal in the working type. */
#define R(c) ((T)(c))
/* Identities of max2 and min2 in the working type. */
#define LOWEST  (gml_lowest((T)0))
#define HIGHEST (gml_highest((T)0))

GML_INLINE int32_t gml_div_i32(int32_t x, int32_t y)
{
    if (y == 0 || y == -1) {
        return y == 0 ? 0 : (int32_t)(0u - (uint32_t)x); /* the quotient of the smallest number wraps */
    }
    int32_t q = x / y;
    return q - (q * y != x && (x < 0) != (y < 0));
}
GML_INLINE int32_t gml_mod_i32(int32_t x, int32_t y)
{
    if (y == 0 || y == -1) {
        return 0;
    }
    int32_t r = x % y;
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
GML_INLINE float gml_mod_f32(float x, float y)
{
    float r = fmodf(x, y);
    return r == 0 ? copysignf(0.0f, y) : (r < 0) != (y < 0) ? r + y : r;
}
GML_INLINE double gml_mod_f64(double x, double y)
{
    double r = fmod(x, y);
    return r == 0 ? copysign(0.0, y) : (r < 0) != (y < 0) ? r + y : r;
}
/* The quotient that belongs to the modulus: floor(x / y) alone can round up to the next integer. */
GML_INLINE float gml_div_f32(float x, float y)
{
    if (y == 0) {
        return x / y;
    }
    float r = fmodf(x, y), q = (x - r) / y;
    q -= r != 0 && (r < 0) != (y < 0);
    float f = floorf(q);
    return q - f > 0.5f ? f + 1 : f;
}
GML_INLINE double gml_div_f64(double x, double y)
{
    if (y == 0) {
        return x / y;
    }
    double r = fmod(x, y), q = (x - r) / y;
    q -= r != 0 && (r < 0) != (y < 0);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}
GML_INLINE int32_t gml_abs_i32(int32_t x)
{
    return x < 0 ? (int32_t)(0u - (uint32_t)x) : x;
}
/* 2147483520 is the largest f32 below 2^31. */
GML_INLINE int32_t gml_i32_f32(float x)
{
    return x != x ? 0 : x > 2147483520.f ? 2147483647 : x < -2147483648.f ? (-2147483647 - 1) : (int32_t)x;
}
GML_INLINE int32_t gml_i32_f64(double x)
{
    return x != x ? 0 : x >= 2147483647. ? 2147483647 : x <= -2147483648. ? (-2147483647 - 1) : (int32_t)x;
}
#ifndef __cplusplus
GML_INLINE int32_t gml_bits_of_f32(float x)
{
    int32_t r;
    memcpy(&r, &x, sizeof r);
    return r;
}
GML_INLINE float gml_f32_of_bits(int32_t x)
{
    float r;
    memcpy(&r, &x, sizeof r);
    return r;
}
/* Winitzki's closed form as a start, then three steps of Halley on whichever of erf and erfc loses no digits.
 */
GML_INLINE double gml_erfinv_f64(double x)
{
    double a = fabs(x);
    if (!(a < 1)) {
        return a == 1 ? x * INFINITY : NAN;
    }
    double l = log((1 - a) * (1 + a)), t = 4.330746750799873 + l / 2;
    double y = sqrt(sqrt(t * t - l / 0.147) - t);
    for (int i = 0; i < 3; i++) {
        double miss = a < 0.5 ? erf(y) - a : (1 - a) - erfc(y);
        double d = miss * 0.886226925452758 * exp(y * y);
        y -= d / (1 + y * d);
    }
    return x < 0 ? -y : y;
}
GML_INLINE float gml_erfinv_f32(float x)
{
    return (float)gml_erfinv_f64((double)x);
}
#endif

#ifdef __cplusplus
template <class N> GML_DEVICE inline N max2(N x, N y)
{
    return x > y || x != x ? x : y;
}
template <class N> GML_DEVICE inline N min2(N x, N y)
{
    return x < y || x != x ? x : y;
}
template <class N> GML_DEVICE inline N sign1(N x)
{
    return x != x ? x : x > 0 ? N(1) : x < 0 ? N(-1) : N(0);
}
#define GML_OVERLOAD(result, type, name, call)                                                               \
    GML_INLINE result name(type x)                                                                           \
    {                                                                                                        \
        return call;                                                                                         \
    }
#define GML_OVERLOAD2(type, name, call)                                                                      \
    GML_INLINE type name(type x, type y)                                                                     \
    {                                                                                                        \
        return call(x, y);                                                                                   \
    }
GML_OVERLOAD2(int32_t, floor_div, gml_div_i32)
GML_OVERLOAD2(float, floor_div, gml_div_f32)
GML_OVERLOAD2(double, floor_div, gml_div_f64)
GML_OVERLOAD2(int32_t, floor_mod, gml_mod_i32)
GML_OVERLOAD2(float, floor_mod, gml_mod_f32)
GML_OVERLOAD2(double, floor_mod, gml_mod_f64)
GML_OVERLOAD(int32_t, int32_t, abs1, gml_abs_i32(x))
GML_OVERLOAD(float, float, abs1, fabsf(x))
GML_OVERLOAD(double, double, abs1, fabs(x))
GML_OVERLOAD(float, float, erf_inv, erfinvf(x))
GML_OVERLOAD(double, double, erf_inv, erfinv(x))
GML_OVERLOAD(int32_t, int32_t, to_i32, x)
GML_OVERLOAD(int32_t, uint8_t, to_i32, x)
GML_OVERLOAD(int32_t, bool, to_i32, x)
GML_OVERLOAD(int32_t, float, to_i32, gml_i32_f32(x))
GML_OVERLOAD(int32_t, double, to_i32, gml_i32_f64(x))
GML_OVERLOAD(int32_t, float, same_bits, __float_as_int(x))
GML_OVERLOAD(int32_t, double, same_bits, __float_as_int((float)x))
GML_OVERLOAD(float, int32_t, same_bits, __int_as_float(x))
GML_OVERLOAD(int32_t, int32_t, gml_lowest, (void(x), -2147483647 - 1))
GML_OVERLOAD(float, float, gml_lowest, (void(x), -GML_INF))
GML_OVERLOAD(double, double, gml_lowest, (void(x), (double)-GML_INF))
GML_OVERLOAD(int32_t, int32_t, gml_highest, (void(x), 2147483647))
GML_OVERLOAD(float, float, gml_highest, (void(x), GML_INF))
GML_OVERLOAD(double, double, gml_highest, (void(x), (double)GML_INF))
#undef GML_OVERLOAD
#undef GML_OVERLOAD2
#else
#include <tgmath.h>
/* Arguments are plain variables: evaluating one twice is harmless, and the compiler can vectorise. */
#define max2(x, y)      ((x) > (y) || (x) != (x) ? (x) : (y))
#define min2(x, y)      ((x) < (y) || (x) != (x) ? (x) : (y))
#define sign1(x)        ((x) != (x) ? (x) : (x) > 0 ? R(1) : (x) < 0 ? R(-1) : R(0))
#define floor_div(x, y) _Generic((x), int32_t : gml_div_i32, float : gml_div_f32, double : gml_div_f64)(x, y)
#define floor_mod(x, y) _Generic((x), int32_t : gml_mod_i32, float : gml_mod_f32, double : gml_mod_f64)(x, y)
#define abs1(x)         _Generic((x), int32_t : gml_abs_i32, float : fabsf, double : (fabs))(x)
#define erf_inv(x)      _Generic((x), float : gml_erfinv_f32, default : gml_erfinv_f64)(x)
#define same_bits(x)    _Generic((x), int32_t : gml_f32_of_bits, default : gml_bits_of_f32)(x)
#define to_i32(x)       _Generic((x), float : gml_i32_f32, double : gml_i32_f64, default : gml_i32_i32)(x)
#define gml_lowest(x)   _Generic((x), int32_t : INT32_MIN, default : -INFINITY)
#define gml_highest(x)  _Generic((x), int32_t : INT32_MAX, default : INFINITY)
GML_INLINE int32_t gml_i32_i32(int32_t x)
{
    return x;
}
#endif
/* 0 or 1, as a bool is stored. */
#define to_bool(x) ((uint8_t)((x) != 0))

#endif
