/* Device helpers shared by the kernels: walking collapsed axes, warp and block trees. */
#ifndef GML_KERNELS_CUDA_DEVICE_CUH
#define GML_KERNELS_CUDA_DEVICE_CUH
#include "kernels/cuda/functions.h"
#include "kernels/cuda/params.h"
#include "kernels/vocab.h"
#include "runtime/base/bf16.h"
#include "runtime/base/dtype.h"

/* What a stored value is computed as; bf16 is only stored. */
template <class S> struct work {
    typedef S type;
};
template <> struct work<bf16> {
    typedef float type;
};
template <class S> using work_of = typename work<S>::type;
template <class S> __device__ __forceinline__ S get(S x)
{
    return x;
}
__device__ __forceinline__ float get(bf16 x)
{
    return bf16_widen(x);
}
/* Rounded to what is stored. */
template <class S> struct store {
    template <class V> static __device__ __forceinline__ S from(V v)
    {
        return (S)v;
    }
};
template <> struct store<bf16> {
    static __device__ __forceinline__ bf16 from(float v)
    {
#ifdef __CUDA_ARCH__
        bf16 r;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(v));
        return r;
#else
        return bf16_round(v);
#endif
    }
};

/* Element offsets of index i for the first N operands. I is a 32-bit type where the walk is small: divisions
 * are what costs here. */
template <int N, class I> __device__ __forceinline__ void walk_at(const struct walk &w, I i, int64_t (&at)[N])
{
#pragma unroll
    for (int o = 0; o < N; o++) {
        at[o] = 0;
    }
    for (int a = w.rank - 1; a > 0; a--) {
        I d = (I)w.dim[a], q = i / d, r = i - q * d;
#pragma unroll
        for (int o = 0; o < N; o++) {
            at[o] += (int64_t)r * w.stride[o][a];
        }
        i = q;
    }
#pragma unroll
    for (int o = 0; o < N; o++) {
        at[o] += (int64_t)i * w.stride[o][0];
    }
}
template <int N> __device__ __forceinline__ void walk_any(const struct walk &w, int64_t i, int64_t (&at)[N])
{
    if (w.n <= 0xffffffffll) {
        walk_at<N, uint32_t>(w, (uint32_t)i, at);
    } else {
        walk_at<N, uint64_t>(w, (uint64_t)i, at);
    }
}
/* Offset of a single operand; the common one-axis case without a division. */
__device__ __forceinline__ int64_t walk_one(const struct walk &w, int64_t i)
{
    if (w.rank == 1) {
        return i * w.stride[0][0];
    }
    int64_t at[1];
    walk_any<1>(w, i, at);
    return at[0];
}

__device__ __forceinline__ int64_t thread_index()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t thread_count()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* A value of each lane folded into one, in a fixed tree; every lane gets it. F::fold(a, b) must commute. */
template <class F, class A> __device__ __forceinline__ A warp_fold(A a)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        a = F::fold(a, __shfl_xor_sync(0xffffffffu, a, d));
    }
    return a;
}
/* The same over a block of full warps (at most 32); every thread gets the result. `scratch` holds one value
 * per warp. */
template <class F, class A> __device__ __forceinline__ A block_fold(A a, A *scratch)
{
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    a = warp_fold<F>(a);
    __syncthreads(); /* scratch may still be read from the fold before */
    if (threadIdx.x % 32 == 0) {
        scratch[warp] = a;
    }
    __syncthreads();
    a = scratch[0];
    for (int i = 1; i < warps; i++) {
        a = F::fold(a, scratch[i]);
    }
    return a;
}

#endif
