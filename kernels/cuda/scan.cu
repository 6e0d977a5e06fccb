/* Scans along an axis: cumsum, cumprod, cummax in f64 (i32: as they are), linear_scan. The order depends on
 * the shape alone. */
#include "kernels/cuda/device.cuh"

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

template <class N, class A> __device__ __forceinline__ N scan_store(A a)
{
    return store<N>::from((work_of<N>)a);
}

/* A thread for a lane. */
template <class F, class N, class A>
__global__ void scan_lanes(char *arena, const __grid_constant__ struct scan_params p)
{
    wait_for_previous();
    const N *in = (const N *)(arena + p.a);
    N *out = (N *)(arena + p.out);
    for (int64_t lane = thread_index(); lane < p.lanes; lane += thread_count()) {
        int64_t step, at = lane_start(p, lane, &step);
        A a = F::template first<A>();
        for (int64_t i = 0; i < p.length; i++, at += step) {
            a = F::next(a, (A)get(in[at]));
            out[at] = scan_store<N>(a);
        }
    }
}

/* A warp for a lane of adjacent elements: 32 are scanned together, then joined to what came before. */
template <class F, class N, class A>
__global__ void scan_rows(char *arena, const __grid_constant__ struct scan_params p)
{
    wait_for_previous();
    const N *in = (const N *)(arena + p.a);
    N *out = (N *)(arena + p.out);
    int me = threadIdx.x % 32;
    for (int64_t lane = thread_index() / 32; lane < p.lanes; lane += thread_count() / 32) {
        int64_t step, start = lane_start(p, lane, &step);
        A carried = F::template first<A>();
        for (int64_t base = 0; base < p.length; base += 32) {
            int64_t at = start + (base + me) * step;
            bool used = base + me < p.length;
            A a = used ? (A)get(in[at]) : F::template first<A>();
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                A left = __shfl_up_sync(0xffffffffu, a, d);
                a = me >= d ? F::next(left, a) : a;
            }
            a = F::next(carried, a);
            if (used) {
                out[at] = scan_store<N>(a);
            }
            carried = __shfl_sync(0xffffffffu, a, 31);
        }
    }
}

template <class S>
__global__ void linear_scan_kernel(char *arena, const __grid_constant__ struct scan_params p)
{
    wait_for_previous();
    const S *pa = (const S *)(arena + p.a), *pb = (const S *)(arena + p.b);
    S *out = (S *)(arena + p.out);
    for (int64_t lane = thread_index(); lane < p.lanes; lane += thread_count()) {
        int64_t step, at = lane_start(p, lane, &step);
        work_of<S> h = 0;
        for (int64_t i = 0; i < p.length; i++, at += step) {
            h = i == 0 ? get(pb[at]) : get(pa[at]) * h + get(pb[at]);
            out[at] = store<S>::from(h);
        }
    }
}

template <class F, class N, class A> static const void *form_of(int rows)
{
    return rows ? (const void *)scan_rows<F, N, A> : (const void *)scan_lanes<F, N, A>;
}
/* N: stored; A: what sums and products are kept in. */
template <class N, class A> static const void *scan_function(int op, int rows)
{
    switch (op) {
    case OP_cumsum:
        return form_of<scan_sum, N, A>(rows);
    case OP_cumprod:
        return form_of<scan_product, N, A>(rows);
    case OP_cummax:
        return form_of<scan_max, N, work_of<N>>(rows);
    default:
        return nullptr;
    }
}

extern "C" const void *cuda_scan_function(int op, int dtype, int rows)
{
    if (op == OP_linear_scan) {
        return dtype == DT_F32    ? (const void *)linear_scan_kernel<float>
               : dtype == DT_F64  ? (const void *)linear_scan_kernel<double>
               : dtype == DT_BF16 ? (const void *)linear_scan_kernel<bf16>
                                  : nullptr;
    }
    return dtype == DT_F32    ? scan_function<float, double>(op, rows)
           : dtype == DT_F64  ? scan_function<double, double>(op, rows)
           : dtype == DT_BF16 ? scan_function<bf16, double>(op, rows)
           : dtype == DT_I32  ? scan_function<int32_t, int32_t>(op, rows)
                              : nullptr;
}
