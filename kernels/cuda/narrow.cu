/* f32 products with few columns or a sum of few terms (narrow.c). N: columns, or terms, rounded
 * up to a multiple of four. Sums are made in a fixed order that depends on the shape and the split alone. */
#include "kernels/cuda/device.cuh"

enum {
    ROWS_PAIRS = 4, /* of warps */
    ROWS_CHUNK = 768,
    COLUMN_WARPS = 16,
    COLUMN_CHUNK = 128,
    OUTER_ROWS = 16,
    OUTER_COLUMNS = 64,
    OUTER_EACH = 4
};

struct narrow_place {
    const float *a, *b;
    float *out;
};
__device__ __forceinline__ struct narrow_place narrow_at(char *arena, const struct narrow_params &p)
{
    int64_t at[3];
    walk_any<3>(p.batch, blockIdx.y, at);
    return {(const float *)(arena + p.a) + at[0], (const float *)(arena + p.b) + at[1],
            (float *)(arena + p.out) + at[2]};
}

/* 32 values of each lane, added up over the lanes: lane i gets the sum of the i-th. */
__device__ __forceinline__ float narrow_transpose(float (&x)[32])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        bool upper = lane & d;
#pragma unroll
        for (int i = 0; i < d; i++) {
            float give = upper ? x[i] : x[i + d], keep = upper ? x[i + d] : x[i];
            x[i] = keep + __shfl_xor_sync(0xffffffffu, give, d);
        }
    }
    return x[0];
}

/* Two warps make two rows of results, their lanes share the sums; B lies in shared memory, part by part. All
 * loads of a part are on their way before the first is waited for. */
template <int N> __global__ void narrow_rows(char *arena, const __grid_constant__ struct narrow_params p)
{
    wait_for_previous();
    __shared__ float b[N][ROWS_CHUNK + 1], half[ROWS_PAIRS][32];
    const struct narrow_place at = narrow_at(arena, p);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, pair = warp % ROWS_PAIRS;
    const int m = (blockIdx.x * ROWS_PAIRS + pair) * 2, first = warp / ROWS_PAIRS * 32 + lane;
    const float *const a0 = at.a + (m < p.m ? m : p.m - 1) * p.a_row;
    const float *const a1 = at.a + (m + 1 < p.m ? m + 1 : p.m - 1) * p.a_row;
    float x[32] = {};
    for (int k0 = 0; k0 < p.k; k0 += ROWS_CHUNK) {
        const int part = p.k - k0 < ROWS_CHUNK ? p.k - k0 : ROWS_CHUNK;
        __syncthreads();
        for (int i = threadIdx.x; i < part * N; i += 64 * ROWS_PAIRS) {
            int k = i / N, n = i % N, bytes = n < p.n ? 4 : 0;
            const float *from = n < p.n ? at.b + (k0 + k) * p.b_row + n * p.b_col : at.b;
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                             (uint32_t)__cvta_generic_to_shared(&b[n][k])),
                         "l"(from), "r"(bytes));
        }
        float u[ROWS_CHUNK / 64], v[ROWS_CHUNK / 64];
#pragma unroll
        for (int j = 0; j < ROWS_CHUNK / 64; j++) {
            const int k = first + 64 * j;
            u[j] = k < part ? a0[k0 + k] : 0.0f;
            v[j] = k < part ? a1[k0 + k] : 0.0f;
        }
        asm volatile("cp.async.wait_all;");
        __syncthreads();
#pragma unroll
        for (int j = 0; j < ROWS_CHUNK / 64; j++) {
            const int k = first + 64 * j;
            if (k < part) {
#pragma unroll
                for (int n = 0; n < N; n++) {
                    x[n] = fmaf(u[j], b[n][k], x[n]);
                    x[16 + n] = fmaf(v[j], b[n][k], x[16 + n]);
                }
            }
        }
    }
    float sum = narrow_transpose(x);
    if (warp >= ROWS_PAIRS) {
        half[pair][lane] = sum;
    }
    __syncthreads();
    const int row = m + lane / 16, n = lane % 16;
    if (warp < ROWS_PAIRS && row < p.m && n < p.n) {
        at.out[row * p.ldd + n] = sum + half[pair][lane];
    }
}

__device__ __forceinline__ void narrow_cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}
__device__ __forceinline__ float narrow_remote(const float *here, int rank)
{
    uint32_t there, shared = (uint32_t)__cvta_generic_to_shared(here);
    float x;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared), "r"(rank));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there));
    return x;
}

/* A lane makes one row of results; the warps of a block, and the blocks of a cluster, share the sums. */
template <int N> __global__ void narrow_columns(char *arena, const __grid_constant__ struct narrow_params p)
{
    wait_for_previous();
    __shared__ __align__(16) float b[COLUMN_CHUNK][N];
    __shared__ float sums[COLUMN_WARPS][N][32], total[N][32];
    const struct narrow_place at = narrow_at(arena, p);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = blockIdx.x % p.split,
              m0 = blockIdx.x / p.split * 32, m = m0 + lane < p.m ? m0 + lane : p.m - 1;
    const int k0 = rank * p.k_part, k1 = k0 + p.k_part < p.k ? k0 + p.k_part : p.k;
    const float *const a = at.a + m;
    float x[N] = {};
    for (int from = k0; from < k1; from += COLUMN_CHUNK) {
        const int part = k1 - from < COLUMN_CHUNK ? k1 - from : COLUMN_CHUNK;
        __syncthreads();
        for (int i = threadIdx.x; i < part * N; i += 32 * COLUMN_WARPS) {
            int k = i / N, n = i % N;
            b[k][n] = n < p.n ? at.b[(from + k) * p.b_row + n * p.b_col] : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int k = warp; k < part; k += COLUMN_WARPS) {
            float u = a[(from + k) * p.a_col];
#pragma unroll
            for (int n = 0; n < N; n += 4) {
                float4 v = *(const float4 *)&b[k][n];
                x[n] = fmaf(u, v.x, x[n]);
                x[n + 1] = fmaf(u, v.y, x[n + 1]);
                x[n + 2] = fmaf(u, v.z, x[n + 2]);
                x[n + 3] = fmaf(u, v.w, x[n + 3]);
            }
        }
    }
#pragma unroll
    for (int n = 0; n < N; n++) {
        sums[warp][n][lane] = x[n];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < N * 32; i += 32 * COLUMN_WARPS) {
        float sum = sums[0][i / 32][i % 32];
#pragma unroll
        for (int w = 1; w < COLUMN_WARPS; w++) {
            sum += sums[w][i / 32][i % 32];
        }
        total[i / 32][i % 32] = sum;
    }
    if (p.split > 1) {
        narrow_cluster_sync();
    } else {
        __syncthreads();
    }
    const int share = N * 32 / p.split;
    for (int i = rank * share + threadIdx.x; i < (rank + 1) * share; i += 32 * COLUMN_WARPS) {
        float sum = 0;
        for (int s = 0; s < p.split; s++) {
            sum += p.split > 1 ? narrow_remote(&total[i % N][i / N], s) : total[i % N][i / N];
        }
        if (m0 + i / N < p.m && i % N < p.n) {
            at.out[(m0 + i / N) * p.ldd + i % N] = sum;
        }
    }
    if (p.split > 1) {
        narrow_cluster_sync(); /* nobody leaves while others read from it */
    }
}

/* Few terms: a thread keeps the B of four columns and makes four rows of them. B comes by way of shared
 * memory, as its columns may lie apart. */
template <int K> __global__ void narrow_outer(char *arena, const __grid_constant__ struct narrow_params p)
{
    wait_for_previous();
    enum { WIDTH = OUTER_COLUMNS * OUTER_EACH };
    __shared__ __align__(16) float a[OUTER_ROWS][K];
    __shared__ float columns[K][WIDTH + 1];
    const struct narrow_place at = narrow_at(arena, p);
    const int wide = (p.n + WIDTH - 1) / WIDTH, m0 = blockIdx.x / wide * OUTER_ROWS,
              left = blockIdx.x % wide * WIDTH, n0 = left + threadIdx.x % OUTER_COLUMNS;
    const bool along_k = p.b_row == 1; /* in the order of memory */
#pragma unroll
    for (int i = threadIdx.x; i < K * WIDTH; i += WIDTH) {
        const int k = along_k ? i % K : i / WIDTH, n = along_k ? i / K : i % WIDTH;
        columns[k][n] = left + n < p.n && k < p.k ? at.b[k * p.b_row + (left + n) * p.b_col] : 0.0f;
    }
    for (int i = threadIdx.x; i < OUTER_ROWS * K; i += WIDTH) {
        int row = i / K, k = i % K;
        a[row][k] = m0 + row < p.m && k < p.k ? at.a[(m0 + row) * p.a_row + k * p.a_col] : 0.0f;
    }
    __syncthreads();
    float b[OUTER_EACH][K];
#pragma unroll
    for (int j = 0; j < OUTER_EACH; j++) {
#pragma unroll
        for (int k = 0; k < K; k++) {
            b[j][k] = columns[k][threadIdx.x % OUTER_COLUMNS + j * OUTER_COLUMNS];
        }
    }
#pragma unroll
    for (int i = 0; i < OUTER_ROWS / OUTER_EACH; i++) {
        const int row = threadIdx.x / OUTER_COLUMNS + i * OUTER_EACH;
        float x[OUTER_EACH] = {};
#pragma unroll
        for (int k = 0; k < K; k += 4) {
            float4 u = *(const float4 *)&a[row][k];
#pragma unroll
            for (int j = 0; j < OUTER_EACH; j++) {
                x[j] = fmaf(u.w, b[j][k + 3],
                            fmaf(u.z, b[j][k + 2], fmaf(u.y, b[j][k + 1], fmaf(u.x, b[j][k], x[j]))));
            }
        }
#pragma unroll
        for (int j = 0; j < OUTER_EACH; j++) {
            const int n = n0 + j * OUTER_COLUMNS;
            if (m0 + row < p.m && n < p.n) {
                at.out[(m0 + row) * p.ldd + n] = x[j];
            }
        }
    }
}

extern "C" const void *cuda_narrow_function(enum narrow_form form, int fours)
{
    static const void *const kernel[NARROW_FORMS][4] = {
        {(const void *)narrow_rows<4>, (const void *)narrow_rows<8>, (const void *)narrow_rows<12>},
        {(const void *)narrow_columns<4>, (const void *)narrow_columns<8>, (const void *)narrow_columns<12>},
        {(const void *)narrow_outer<4>, (const void *)narrow_outer<8>, (const void *)narrow_outer<12>,
         (const void *)narrow_outer<16>}};
    return fours >= 1 && fours <= 4 ? kernel[form][fours - 1] : nullptr;
}
