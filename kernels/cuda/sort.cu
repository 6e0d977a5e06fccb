/* argsort and search over rows of the last axis. NaN is larger than every number. */
#include "kernels/cuda/device.cuh"
#include "runtime/base/dtype.h"

/* Whether element (x, i) comes before (y, j): equal elements keep their order. */
template <class N> __device__ __forceinline__ bool precedes(N x, int64_t i, N y, int64_t j, bool descending)
{
    bool nx = x != x, ny = y != y;
    if (nx || ny ? nx == ny : x == y) {
        return i < j;
    }
    return (nx || ny ? ny : x < y) != descending;
}

/* A thread for an element, which counts those before it: quadratic in the row, but without scratch or passes.
 */
template <class N> __global__ void argsort_kernel(char *arena, const __grid_constant__ struct sort_params p)
{
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        int64_t row = e / p.length, i = e - row * p.length, rank = 0;
        const N *x = (const N *)(arena + p.in) + row * p.length;
        N mine = x[i];
        for (int64_t j = 0; j < p.length; j++) {
            rank += precedes<N>(x[j], j, mine, i, p.descending != 0);
        }
        ((int32_t *)(arena + p.out))[row * p.length + rank] = (int32_t)i;
    }
}

template <class N> __global__ void search_kernel(char *arena, const __grid_constant__ struct sort_params p)
{
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        const N *c = (const N *)(arena + p.in) + e / p.many * p.length;
        N u = ((const N *)(arena + p.places))[e];
        int64_t lo = 0, hi = p.length;
        while (lo < hi) {
            int64_t middle = (lo + hi) / 2;
            if (c[middle] > u) {
                hi = middle;
            } else {
                lo = middle + 1;
            }
        }
        if (lo == p.length) {
            for (lo = p.length - 1; lo > 0 && !(c[lo] > c[lo - 1]); lo--) {
            }
        }
        ((int32_t *)(arena + p.out))[e] = (int32_t)lo;
    }
}

extern "C" const void *cuda_sort_function(int op, int dtype)
{
    if (op == OP_argsort) {
        return dtype == DT_F32   ? (const void *)argsort_kernel<float>
               : dtype == DT_I32 ? (const void *)argsort_kernel<int32_t>
                                 : nullptr;
    }
    return dtype == DT_F32   ? (const void *)search_kernel<float>
           : dtype == DT_I32 ? (const void *)search_kernel<int32_t>
                             : nullptr;
}
