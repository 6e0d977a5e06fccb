/* Mathematics with + - * / and bit moves only, so that CPU and GPU give the same bits. Compile without
 * contraction
 * (-ffp-contract=off, --fmad=false). Valid C11 and CUDA C++. */
#ifndef GML_BASE_PORTABLE_MATH_H
#define GML_BASE_PORTABLE_MATH_H
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define GML_HD static __host__ __device__ __forceinline__
#else
#define GML_HD static inline
#endif

GML_HD uint64_t portable_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}

GML_HD double portable_double(uint64_t b)
{
    double x;
    memcpy(&x, &b, 8);
    return x;
}

/* Natural logarithm of a finite normal x > 0; absolute error below 1e-12 |log x| + 1e-13. */
GML_HD double portable_log(double x)
{
    uint64_t b = portable_bits(x);
    int e = (int)(b >> 52) - 1023;
    double m = portable_double((b & 0xfffffffffffffull) | 0x3ff0000000000000ull); /* [1, 2) */
    if (m > 1.4142135623730951) {
        m = m * 0.5;
        e = e + 1;
    }
    double s = (m - 1.0) / (m + 1.0), q = s * s; /* log m = 2 atanh s, |s| < 0.172 */
    double p = 1.0 / 15.0;
    p = p * q + 1.0 / 13.0;
    p = p * q + 1.0 / 11.0;
    p = p * q + 1.0 / 9.0;
    p = p * q + 1.0 / 7.0;
    p = p * q + 1.0 / 5.0;
    p = p * q + 1.0 / 3.0;
    p = p * q + 1.0;
    return (double)e * 0.6931471805599453 + 2.0 * s * p;
}

/* Square root of a finite normal x > 0, to an ulp or two: a guess from halving the exponent, then Newton. */
GML_HD double portable_sqrt(double x)
{
    double y = portable_double((portable_bits(x) >> 1) + 0x1ff7a3bea91d9b1bull);
    y = 0.5 * (y + x / y);
    y = 0.5 * (y + x / y);
    y = 0.5 * (y + x / y);
    y = 0.5 * (y + x / y);
    return y;
}

/* Quantile of the standard normal distribution for 2^-25 <= p <= 1 - 2^-25, relative error about 1e-7
 * (Wichura, algorithm AS 241, PPND7; its third range, p < exp(-25), cannot be reached from 24 bits). */
GML_HD double portable_normal_quantile(double p)
{
    double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        double r = 0.180625 - q * q;
        double over = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179;
        double under = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0;
        return q * over / under;
    }
    double tail = q < 0.0 ? p : 1.0 - p;
    double r = portable_sqrt(0.0 - portable_log(tail)) - 1.6;
    double over = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777;
    double under = (0.12021132975 * r + 0.73700164250) * r + 1.0;
    return q < 0.0 ? 0.0 - over / under : over / under;
}

#endif
