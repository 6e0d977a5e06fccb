/* Keys of the sorts: whole numbers in the order of the values. NaN is larger than every number, zeros are
 * equal. */
#ifndef GML_KERNELS_CUDA_ORDER_CUH
#define GML_KERNELS_CUDA_ORDER_CUH
#include "kernels/cuda/device.cuh"

template <class S> struct order_key;
template <> struct order_key<float> {
    typedef uint32_t type;
    static __device__ __forceinline__ uint32_t of(float x, bool descending)
    {
        uint32_t u = __float_as_uint(x == 0 ? 0.f : x);
        u = x != x ? 0xffffffffu : u ^ (u >> 31 ? 0xffffffffu : 0x80000000u);
        return descending ? ~u : u;
    }
};
template <> struct order_key<double> {
    typedef uint64_t type;
    static __device__ __forceinline__ uint64_t of(double x, bool descending)
    {
        uint64_t u = (uint64_t)__double_as_longlong(x == 0 ? 0. : x);
        u = x != x ? ~0ull : u ^ (u >> 63 ? ~0ull : 1ull << 63);
        return descending ? ~u : u;
    }
};
/* 16 bits: what is below them in the key of an f32 says nothing. */
template <> struct order_key<bf16> {
    typedef uint32_t type;
    static __device__ __forceinline__ uint32_t of(bf16 x, bool descending)
    {
        return order_key<float>::of(bf16_widen(x), descending) >> 16;
    }
};
template <> struct order_key<int32_t> {
    typedef uint32_t type;
    static __device__ __forceinline__ uint32_t of(int32_t x, bool descending)
    {
        uint32_t u = (uint32_t)x ^ 0x80000000u;
        return descending ? ~u : u;
    }
};

/* The row that place e of n stands for: see struct radix_params. One above the last where the index names
 * none. */
__device__ __forceinline__ uint32_t place_row(const char *index, int64_t e, int64_t length, int64_t many,
                                              int64_t n)
{
    int64_t i = ((const int32_t *)index)[e];
    return (uint32_t)(i >= 0 && i < length ? e / many * length + i : n / many * length);
}

#endif
