/* Scans along an axis: cumsum, cumprod, cummax in f64 (i32: as they are), linear_scan. The order depends on
 * the shape alone. */
#include "kernels/cuda/device.cuh"
#include "runtime/base/dtype.h"

struct scan_sum {
    template <class A> static __device__ __forceinline__ A first()
    {
        return A(0);
    }
    template <class A> static __device__ __forceinline__ A next(A a, A x)
    {
        return a + x;
    }
};
struct scan_product {
    template <class A> static __device__ __forceinline__ A first()
    {
        return A(1);
    }
    template <class A> static __device__ __forceinline__ A next(A a, A x)
    {
        return a * x;
    }
};
struct scan_max {
    template <class A> static __device__ __forceinline__ A first()
    {
        return gml_lowest(A(0));
    }
    template <class A> static __device__ __forceinline__ A next(A a, A x)
    {
        return max2(a, x);
    }
};

__device__ __forceinline__ int64_t lane_start(const struct scan_params &p, int64_t lane, int64_t *step)
{
    int64_t first = lane / p.inner * p.inner * p.length + lane % p.inner;
    *step = p.reverse ? -p.inner : p.inner;
    return p.reverse ? first + (p.length - 1) * p.inner : first;
}

/* A thread for a lane. */
template <class F, class N, class A>
__global__ void scan_lanes(char *arena, const __grid_constant__ struct scan_params p)
{
    const N *in = (const N *)(arena + p.a);
    N *out = (N *)(arena + p.out);
    for (int64_t lane = thread_index(); lane < p.lanes; lane += thread_count()) {
        int64_t step, at = lane_start(p, lane, &step);
        A a = F::template first<A>();
        for (int64_t i = 0; i < p.length; i++, at += step) {
            a = F::next(a, (A)in[at]);
            out[at] = (N)a;
        }
    }
}

/* A warp for a lane of adjacent elements: 32 are scanned together, then joined to what came before. */
template <class F, class N, class A>
__global__ void scan_rows(char *arena, const __grid_constant__ struct scan_params p)
{
    const N *in = (const N *)(arena + p.a);
    N *out = (N *)(arena + p.out);
    int me = threadIdx.x % 32;
    for (int64_t lane = thread_index() / 32; lane < p.lanes; lane += thread_count() / 32) {
        int64_t step, start = lane_start(p, lane, &step);
        A carried = F::template first<A>();
        for (int64_t base = 0; base < p.length; base += 32) {
            int64_t at = start + (base + me) * step;
            bool used = base + me < p.length;
            A a = used ? (A)in[at] : F::template first<A>();
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                A left = __shfl_up_sync(0xffffffffu, a, d);
                a = me >= d ? F::next(left, a) : a;
            }
            a = F::next(carried, a);
            if (used) {
                out[at] = (N)a;
            }
            carried = __shfl_sync(0xffffffffu, a, 31);
        }
    }
}

__global__ void linear_scan_kernel(char *arena, const __grid_constant__ struct scan_params p)
{
    const float *pa = (const float *)(arena + p.a), *pb = (const float *)(arena + p.b);
    float *out = (float *)(arena + p.out);
    for (int64_t lane = thread_index(); lane < p.lanes; lane += thread_count()) {
        int64_t step, at = lane_start(p, lane, &step);
        float h = 0;
        for (int64_t i = 0; i < p.length; i++, at += step) {
            h = i == 0 ? pb[at] : pa[at] * h + pb[at];
            out[at] = h;
        }
    }
}

template <class F, class N, class A> static const void *form_of(int rows)
{
    return rows ? (const void *)scan_rows<F, N, A> : (const void *)scan_lanes<F, N, A>;
}

extern "C" const void *cuda_scan_function(int op, int dtype, int rows)
{
    bool whole = dtype == DT_I32;
    if (!whole && dtype != DT_F32) {
        return nullptr;
    }
    switch (op) {
    case OP_cumsum:
        return whole ? form_of<scan_sum, int32_t, int32_t>(rows) : form_of<scan_sum, float, double>(rows);
    case OP_cumprod:
        return whole ? form_of<scan_product, int32_t, int32_t>(rows)
                     : form_of<scan_product, float, double>(rows);
    case OP_cummax:
        return whole ? form_of<scan_max, int32_t, int32_t>(rows) : form_of<scan_max, float, float>(rows);
    case OP_linear_scan:
        return whole ? nullptr : (const void *)linear_scan_kernel;
    default:
        return nullptr;
    }
}
