/* softmax, logsumexp, xent and argmax: a warp or a block per row of the last axis. Rows are read again from
 * cache instead of kept in registers. */
#include "kernels/cuda/device.cuh"
#include "kernels/fault.h"
#include "runtime/base/dtype.h"

struct fold_add {
    static __device__ __forceinline__ double fold(double a, double b)
    {
        return a + b;
    }
};
/* Symmetric, so that all lanes agree: NaN wins from either side. */
struct fold_max {
    static __device__ __forceinline__ float fold(float a, float b)
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
template <bool BLOCK>
__device__ __forceinline__ void row_stats(const float *x, const struct row_params &p, float *largest,
                                          double *sum)
{
    float m = -GML_INF;
    double s = 0;
    for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
        m = fold_max::fold(m, x[j * p.in_stride]);
    }
    m = fold_lanes<BLOCK, fold_max>(m);
    m = m == -GML_INF ? 0 : m;
    for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
        s += (double)expf(x[j * p.in_stride] - m);
    }
    *largest = m;
    *sum = fold_lanes<BLOCK, fold_add>(s);
}

template <bool BLOCK> __global__ void softmax_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        float m;
        double s;
        walk_any<3>(p.rows, r, at);
        const float *x = (const float *)(arena + p.in) + at[0];
        float *y = (float *)(arena + p.out) + at[2];
        row_stats<BLOCK>(x, p, &m, &s);
        float scale = s == 0 ? 0 : (float)(1 / s);
        for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
            y[j * p.out_stride] = expf(x[j * p.in_stride] - m) * scale;
        }
    }
}

template <bool BLOCK>
__global__ void logsumexp_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        float m;
        double s;
        walk_any<3>(p.rows, r, at);
        row_stats<BLOCK>((const float *)(arena + p.in) + at[0], p, &m, &s);
        if (lane_index<BLOCK>() == 0) {
            ((float *)(arena + p.out))[at[2]] = m == GML_INF ? m : (float)(log(s) + (double)m);
        }
    }
}

template <bool BLOCK> __global__ void xent_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3];
        float m;
        double s;
        walk_any<3>(p.rows, r, at);
        const float *x = (const float *)(arena + p.in) + at[0];
        row_stats<BLOCK>(x, p, &m, &s);
        if (lane_index<BLOCK>() != 0) {
            continue;
        }
        int32_t label = ((const int32_t *)(arena + p.label))[at[1]];
        float loss = 0;
        if (label >= 0 && label < p.k) {
            loss = (float)(log(s) - (double)(x[label * p.in_stride] - m));
        } else if (label != -1) {
            fault_raise((struct control *)(arena + p.control), FAULT_LABEL, p.node, label, p.k);
        }
        ((float *)(arena + p.out))[at[2]] = loss;
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

template <class N, bool BLOCK>
__global__ void argmax_kernel(char *arena, const __grid_constant__ struct row_params p)
{
    __shared__ N best[32];
    __shared__ int64_t place[32];
    for (int64_t r = row_index<BLOCK>(); r < p.rows.n; r += row_count<BLOCK>()) {
        int64_t at[3], i = INT64_MAX;
        walk_any<3>(p.rows, r, at);
        const N *row = (const N *)(arena + p.in) + at[0];
        N x = gml_lowest((N)0);
        for (int64_t j = lane_index<BLOCK>(); j < p.k; j += lane_count<BLOCK>()) {
            N y = row[j * p.in_stride];
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

extern "C" const void *cuda_row_function(int op, int dtype, int block)
{
    if (op == OP_argmax && dtype == DT_I32) {
        return block ? (const void *)argmax_kernel<int32_t, true>
                     : (const void *)argmax_kernel<int32_t, false>;
    }
    if (dtype != DT_F32) {
        return nullptr;
    }
    switch (op) {
    case OP_softmax:
        return block ? (const void *)softmax_kernel<true> : (const void *)softmax_kernel<false>;
    case OP_logsumexp:
        return block ? (const void *)logsumexp_kernel<true> : (const void *)logsumexp_kernel<false>;
    case OP_xent:
        return block ? (const void *)xent_kernel<true> : (const void *)xent_kernel<false>;
    case OP_argmax:
        return block ? (const void *)argmax_kernel<float, true> : (const void *)argmax_kernel<float, false>;
    default:
        return nullptr;
    }
}
