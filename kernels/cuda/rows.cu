/* softmax, logsumexp, xent and argmax: a warp or a block per row of the last axis. Rows are read again from
 * cache instead of kept in registers. */
#include "kernels/cuda/device.cuh"
#include "kernels/fault.h"

struct fold_add {
    static __device__ __forceinline__ double fold(double a, double b)
    {
        return a + b;
    }
};
/* Symmetric, so that all lanes agree: NaN wins from either side. */
struct fold_max {
    template <class T> static __device__ __forceinline__ T fold(T a, T b)
    {
        return a != a ? a : max2(b, a);
    }
};

template <bool BLOCK, class F, class A> __device__ __forceinline__ A fold_lanes(A a)
{
    __shared__ A scratch[32];
    return BLOCK ? block_fold<F>(a, scratch) : warp_fold<F>(a);
}

template <bool BLOCK> __device__ __forceinline__ int lane_index()
{
    return BLOCK ? threadIdx.x : threadIdx.x % 32;
}
template <bool BLOCK> __device__ __forceinline__ int lane_count()
{
    return BLOCK ? blockDim.x : 32;
}
template <bool BLOCK> __device__ __forceinline__ int64_t row_index()
{
    return BLOCK ? blockIdx.x : thread_index() / 32;
}
template <bool BLOCK> __device__ __forceinline__ int64_t row_count()
{
    return BLOCK ? gridDim.x : thread_count() / 32;
}

/* Largest element (0 when all are -inf) and the sum of e^(x - largest), known to every lane; the sum in f64,
 * as on the CPU. */
template <class S, bool BLOCK>
__device__ __forceinline__ void row_stats(const S *x, const struct row_params &p, work_of<S> *largest,
                                          double *sum)
{
    work_of<S> m = gml_lowest((work_of<S>)0);
    double s = 0;
    for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
        m = fold_max::fold(m, get(x[j * p.in_stride]));
    }
    m = fold_lanes<BLOCK, fold_max>(m);
    m = m == gml_lowest((work_of<S>)0) ? 0 : m;
    for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
        s += (double)exp(get(x[j * p.in_stride]) - m);
    }
    *largest = m;
    *sum = fold_lanes<BLOCK, fold_add>(s);
}

template <class S, bool BLOCK>
__global__ void softmax_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    wait_for_previous();
    typedef work_of<S> T;
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        T m;
        double s;
        walk_any<3>(p.rows, r, at);
        const S *x = (const S *)(arena + p.in) + at[0];
        S *y = (S *)(arena + p.out) + at[2];
        row_stats<S, BLOCK>(x, p, &m, &s);
        T scale = s == 0 ? 0 : (T)(1 / s);
        for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
            y[j * p.out_stride] = store<S>::from(exp(get(x[j * p.in_stride]) - m) * scale);
        }
    }
}

template <class S, bool BLOCK>
__global__ void logsumexp_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    wait_for_previous();
    typedef work_of<S> T;
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        T m;
        double s;
        walk_any<3>(p.rows, r, at);
        row_stats<S, BLOCK>((const S *)(arena + p.in) + at[0], p, &m, &s);
        if (lane_index<BLOCK>() == 0) {
            T lse = m == gml_highest((T)0) ? m : (T)(log(s) + (double)m);
            ((S *)(arena + p.out))[at[2]] = store<S>::from(lse);
        }
    }
}

template <class S, bool BLOCK>
__global__ void xent_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    wait_for_previous();
    typedef work_of<S> T;
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        T m;
        double s;
        walk_any<3>(p.rows, r, at);
        const S *x = (const S *)(arena + p.in) + at[0];
        row_stats<S, BLOCK>(x, p, &m, &s);
        if (lane_index<BLOCK>() != 0) {
            continue;
        }
        int32_t label = ((const int32_t *)(arena + p.label))[at[1]];
        T loss = 0;
        if (label >= 0 && label < p.k) {
            loss = (T)(log(s) - (double)(get(x[label * p.in_stride]) - m));
        } else if (label != -1) {
            fault_raise((struct control *)(arena + p.control), FAULT_LABEL, p.node, label, p.k);
        }
        ((S *)(arena + p.out))[at[2]] = store<S>::from(loss);
    }
}

/* True when element (x, i) beats (y, j): NaN before numbers, then the larger, then the lower index. */
template <class N> __device__ __forceinline__ bool beats(N x, int64_t i, N y, int64_t j)
{
    bool nx = x != x, ny = y != y;
    if (nx || ny) {
        return nx && (!ny || i < j);
    }
    return x > y || (x == y && i < j);
}

template <class N> __device__ __forceinline__ void warp_best(N &x, int64_t &i)
{
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        N y = __shfl_xor_sync(0xffffffffu, x, d);
        int64_t j = __shfl_xor_sync(0xffffffffu, i, d);
        if (beats(y, j, x, i)) {
            x = y;
            i = j;
        }
    }
}

template <class S, bool BLOCK>
__global__ void argmax_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    wait_for_previous();
    typedef work_of<S> N;
    __shared__ N best[32];
    __shared__ int64_t place[32];
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3], i = INT64_MAX;
        walk_any<3>(p.rows, r, at);
        const S *row = (const S *)(arena + p.in) + at[0];
        N x = gml_lowest((N)0);
        for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
            N y = get(row[j * p.in_stride]);
            if (beats(y, j, x, i)) {
                x = y;
                i = j;
            }
        }
        warp_best(x, i);
        if (BLOCK) {
            __syncthreads();
            if (threadIdx.x % 32 == 0) {
                best[threadIdx.x / 32] = x;
                place[threadIdx.x / 32] = i;
            }
            __syncthreads();
            bool used = threadIdx.x % 32 < blockDim.x / 32;
            x = used ? best[threadIdx.x % 32] : gml_lowest((N)0);
            i = used ? place[threadIdx.x % 32] : INT64_MAX;
            warp_best(x, i);
        }
        if (lane_index<BLOCK>() == 0) {
            ((int32_t *)(arena + p.out))[at[2]] = i == INT64_MAX ? 0 : (int32_t)i;
        }
    }
}

template <class S> static const void *row_function(int op, int block)
{
    switch (op) {
    case OP_softmax:
        return block ? (const void *)softmax_kernel<S, true> : (const void *)softmax_kernel<S, false>;
    case OP_logsumexp:
        return block ? (const void *)logsumexp_kernel<S, true> : (const void *)logsumexp_kernel<S, false>;
    case OP_xent:
        return block ? (const void *)xent_kernel<S, true> : (const void *)xent_kernel<S, false>;
    case OP_argmax:
        return block ? (const void *)argmax_kernel<S, true> : (const void *)argmax_kernel<S, false>;
    default:
        return nullptr;
    }
}

extern "C" const void *cuda_row_function(int op, int dtype, int block)
{
    if (op == OP_argmax && dtype == DT_I32) {
        return block ? (const void *)argmax_kernel<int32_t, true>
                     : (const void *)argmax_kernel<int32_t, false>;
    }
    return dtype == DT_F32    ? row_function<float>(op, block)
           : dtype == DT_F64  ? row_function<double>(op, block)
           : dtype == DT_BF16 ? row_function<bf16>(op, block)
                              : nullptr;
}
