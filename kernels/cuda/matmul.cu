/* The matrix product of last resort: any strides, 32 x 32 tiles through shared memory, a thread owns four
 * results of one column. */
#include "kernels/cuda/device.cuh"

template <class S>
__device__ __forceinline__ void load_tile(work_of<S> (&tile)[TILE][TILE + 1], const S *from, int64_t row0,
                                          int64_t col0, int64_t rows, int64_t cols, int64_t row_stride,
                                          int64_t col_stride)
{
    /* Neighbouring threads follow the faster axis. */
    bool along_row = col_stride <= row_stride;
    for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
        int r = along_row ? j : threadIdx.x, c = along_row ? threadIdx.x : j;
        bool inside = row0 + r < rows && col0 + c < cols;
        tile[r][c] = inside ? get(from[(row0 + r) * row_stride + (col0 + c) * col_stride]) : work_of<S>(0);
    }
}

template <class S>
__device__ __forceinline__ void one_tile(char *arena, const struct matmul_params &p, const int64_t (&at)[3],
                                         int64_t row0)
{
    typedef work_of<S> T;
    __shared__ T x[TILE][TILE + 1], w[TILE][TILE + 1];
    int64_t col0 = (int64_t)blockIdx.x * TILE;
    T a[4] = {0, 0, 0, 0};
    for (int64_t k = 0; k < p.k; k += TILE) {
        load_tile<S>(x, (const S *)(arena + p.x) + at[0], row0, k, p.m, p.k, p.x_row, p.x_col);
        load_tile<S>(w, (const S *)(arena + p.w) + at[1], k, col0, p.k, p.n, p.w_row, p.w_col);
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            T b = w[j][threadIdx.x];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                a[i] += x[threadIdx.y + 8 * i][j] * b;
            }
        }
        __syncthreads();
    }
    int64_t c = col0 + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int64_t r = row0 + threadIdx.y + 8 * i;
        if (r < p.m && c < p.n) {
            ((S *)(arena + p.out))[at[2] + r * p.out_row + c * p.out_col] = store<S>::from(a[i]);
        }
    }
}

template <class S> __global__ void matmul_kernel(char *arena, const __grid_constant__ struct matmul_params p)
{
    wait_for_previous();
    for (int64_t b = blockIdx.z; b < p.batch.n; b += gridDim.z) {
        int64_t at[3];
        walk_any<3>(p.batch, b, at);
        for (int64_t row = (int64_t)blockIdx.y * TILE; row < p.m; row += (int64_t)gridDim.y * TILE) {
            one_tile<S>(arena, p, at, row);
        }
    }
}

extern "C" const void *cuda_matmul_function(int dtype)
{
    return dtype == DT_F32    ? (const void *)matmul_kernel<float>
           : dtype == DT_F64  ? (const void *)matmul_kernel<double>
           : dtype == DT_BF16 ? (const void *)matmul_kernel<bf16>
                              : nullptr;
}
