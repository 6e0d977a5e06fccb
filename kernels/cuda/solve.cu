/* solve_spd: Cholesky in f64. The rows below a pivot are shared by the threads of a block, then the columns
 * are. */
#include "kernels/cuda/device.cuh"

template <class S> __global__ void solve_kernel(char *arena, const __grid_constant__ struct solve_params p)
{
    wait_for_previous();
    int64_t m = p.m, n = p.n, me = threadIdx.x, all = blockDim.x;
    for (int64_t unit = blockIdx.x; unit < p.matrices; unit += gridDim.x) {
        const S *a = (const S *)(arena + p.a) + unit * m * m;
        const S *b = (const S *)(arena + p.b) + unit * m * n;
        S *out = (S *)(arena + p.out) + unit * m * n;
        double *l = (double *)(arena + p.work) + unit * m * (m + n), *y = l + m * m;
        for (int64_t i = me; i < m * m; i += all) {
            l[i] = 0.5 * ((double)get(a[i]) + (double)get(a[i % m * m + i / m]));
        }
        for (int64_t j = 0; j < m; j++) {
            __syncthreads();
            if (me == 0) {
                double sum = l[j * m + j];
                for (int64_t k = 0; k < j; k++) {
                    sum -= l[j * m + k] * l[j * m + k];
                }
                l[j * m + j] = sqrt(sum);
            }
            __syncthreads();
            for (int64_t i = j + 1 + me; i < m; i += all) {
                double sum = l[i * m + j];
                for (int64_t k = 0; k < j; k++) {
                    sum -= l[i * m + k] * l[j * m + k];
                }
                l[i * m + j] = sum / l[j * m + j];
            }
        }
        __syncthreads();
        for (int64_t column = me; column < n; column += all) {
            for (int64_t i = 0; i < m; i++) {
                double sum = (double)get(b[i * n + column]);
                for (int64_t k = 0; k < i; k++) {
                    sum -= l[i * m + k] * y[k * n + column];
                }
                y[i * n + column] = sum / l[i * m + i];
            }
            for (int64_t i = m - 1; i >= 0; i--) {
                double sum = y[i * n + column];
                for (int64_t k = i + 1; k < m; k++) {
                    sum -= l[k * m + i] * y[k * n + column];
                }
                y[i * n + column] = sum / l[i * m + i];
                out[i * n + column] = store<S>::from((work_of<S>)y[i * n + column]);
            }
        }
        __syncthreads();
    }
}

extern "C" const void *cuda_solve_function(int dtype)
{
    return dtype == DT_F32    ? (const void *)solve_kernel<float>
           : dtype == DT_F64  ? (const void *)solve_kernel<double>
           : dtype == DT_BF16 ? (const void *)solve_kernel<bf16>
                              : nullptr;
}
