/* argsort and search over rows of the last axis. NaN is larger than every number. */
#include "kernels/cuda/order.cuh"

/* Whether element (x, i) comes before (y, j): equal elements keep their order. */
template <class N> __device__ __forceinline__ bool precedes(N x, int64_t i, N y, int64_t j, bool descending)
{
    bool nx = x != x, ny = y != y;
    if (nx || ny ? nx == ny : x == y) {
        return i < j;
    }
    return (nx || ny ? ny : x < y) != descending;
}

/* A thread for an element, which counts those before it: for short rows. */
template <class S> __global__ void rank_kernel(char *arena, const __grid_constant__ struct sort_params p)
{
    wait_for_previous();
    typedef work_of<S> N;
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        int64_t row = e / p.length, i = e - row * p.length, rank = 0;
        const S *x = (const S *)(arena + p.in) + row * p.length;
        N mine = get(x[i]);
        for (int64_t j = 0; j < p.length; j++) {
            rank += precedes<N>(get(x[j]), j, mine, i, p.descending != 0);
        }
        ((int32_t *)(arena + p.out))[row * p.length + rank] = (int32_t)i;
    }
}

/* A block for a row: a bitonic net over (key, place). Places differ, so any order of exchanges is stable;
 * what fills the row up to a power of two comes last. */
template <class S> __global__ void block_kernel(char *arena, const __grid_constant__ struct sort_params p)
{
    wait_for_previous();
    typedef typename order_key<S>::type K;
    __shared__ K key[SORT_MOST];
    __shared__ int32_t place[SORT_MOST];
    int n = 2;
    while (n < p.length) {
        n *= 2;
    }
    int64_t rows = p.n / p.length;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const S *x = (const S *)(arena + p.in) + row * p.length;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            key[i] = i < p.length ? order_key<S>::of(x[i], p.descending != 0) : (K) ~(K)0;
            place[i] = i < p.length ? i : INT32_MAX;
        }
        for (int size = 2; size <= n; size *= 2) {
            for (int apart = size / 2; apart > 0; apart /= 2) {
                __syncthreads();
                for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
                    int i = 2 * t - (t & (apart - 1)), j = i + apart;
                    K a = key[i], b = key[j];
                    int32_t pa = place[i], pb = place[j];
                    bool wrong = a > b || (a == b && pa > pb);
                    if (wrong == ((i & size) == 0)) {
                        key[i] = b;
                        key[j] = a;
                        place[i] = pb;
                        place[j] = pa;
                    }
                }
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < p.length; i += blockDim.x) {
            ((int32_t *)(arena + p.out))[row * p.length + i] = place[i];
        }
        __syncthreads();
    }
}

template <class S> __global__ void search_kernel(char *arena, const __grid_constant__ struct sort_params p)
{
    wait_for_previous();
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        const S *c = (const S *)(arena + p.in) + e / p.many * p.length;
        work_of<S> u = get(((const S *)(arena + p.places))[e]);
        int64_t lo = 0, hi = p.length;
        while (lo < hi) {
            int64_t middle = (lo + hi) / 2;
            if (get(c[middle]) > u) {
                hi = middle;
            } else {
                lo = middle + 1;
            }
        }
        if (lo == p.length) {
            for (lo = p.length - 1; lo > 0 && !(get(c[lo]) > get(c[lo - 1])); lo--) {
            }
        }
        ((int32_t *)(arena + p.out))[e] = (int32_t)lo;
    }
}

template <class S> static const void *sort_function(int op, enum sort_form form)
{
    return op == OP_search      ? (const void *)search_kernel<S>
           : form == SORT_BLOCK ? (const void *)block_kernel<S>
                                : (const void *)rank_kernel<S>;
}

extern "C" const void *cuda_sort_function(int op, int dtype, enum sort_form form)
{
    return dtype == DT_F32    ? sort_function<float>(op, form)
           : dtype == DT_F64  ? sort_function<double>(op, form)
           : dtype == DT_BF16 ? sort_function<bf16>(op, form)
           : dtype == DT_I32  ? sort_function<int32_t>(op, form)
                              : nullptr;
}
