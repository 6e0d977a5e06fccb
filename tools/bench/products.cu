/* Every tile and split of the f32 product (kernels/cuda/product.cuh) for the products of the benchmark
 * models, beside cuBLASLt: what the numbers of PRODUCT_TILES and the estimate of product.c are fitted to.
 *
 *   nvcc -O2 -std=c++17 -I. -arch=sm_90 -o products tools/bench/products.cu -lcublasLt && ./products
 *
 * One line for a measurement: layout M N K batch terms microseconds tile split; `library` where cuBLASLt made
 * it. Layouts: 0 forward (k runs along the rows of A), 1 gradient of the input (along both), 2 gradient of
 * the weight (along neither). Each is the best of four runs of 80 products, one behind the other in a graph.
 */
#include <cublasLt.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include "kernels/cuda/product.cuh"

static const int CHAIN = 40;
static const size_t MB = 1 << 20, B_AT = 24 * MB, OUT_AT = 48 * MB;
static char *arena;
static cudaStream_t stream;

static void must(int code, const char *what)
{
    if (code) {
        fprintf(stderr, "products: %s: %d\n", what, code);
        exit(1);
    }
}

struct size {
    int layout, m, n, k, batch;
};
static const size sizes[] = {
    {0, 1024, 256, 64, 1},  {0, 1024, 256, 256, 1}, {1, 1024, 256, 256, 1}, {2, 256, 256, 1024, 1},
    {2, 64, 256, 1024, 1},  {0, 8192, 64, 64, 1},   {0, 8192, 256, 64, 1},  {0, 8192, 64, 256, 1},
    {1, 8192, 64, 64, 1},   {1, 8192, 256, 64, 1},  {1, 8192, 64, 256, 1},  {2, 64, 64, 8192, 1},
    {2, 64, 256, 8192, 1},  {2, 256, 64, 8192, 1},  {1, 128, 128, 16, 256}, {0, 128, 16, 128, 256},
    {2, 128, 16, 128, 256}, {0, 1024, 64, 832, 1},  {1, 1024, 832, 64, 1},  {2, 832, 64, 1024, 1},
    {0, 128, 128, 64, 1},   {0, 128, 128, 128, 1},  {1, 128, 128, 128, 1},  {2, 128, 128, 128, 1},
};

/* Microseconds of one of CHAIN products that `issue` puts on the stream; negative when they do not run. */
static float time_chain(const std::function<int()> &issue)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t from, to;
    float best = 1e9f;
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    int code = 0;
    for (int i = 0; i < CHAIN; i++) {
        code |= issue();
    }
    must(cudaStreamEndCapture(stream, &graph), "end of capture");
    if (code || cudaGraphInstantiate(&exec, graph, 0)) {
        cudaGetLastError();
        return -1;
    }
    must(cudaEventCreate(&from) | cudaEventCreate(&to), "event");
    for (int run = 0; run < 4; run++) {
        float ms;
        cudaEventRecord(from, stream);
        cudaGraphLaunch(exec, stream);
        cudaGraphLaunch(exec, stream);
        cudaEventRecord(to, stream);
        must(cudaEventSynchronize(to) | cudaEventElapsedTime(&ms, from, to), "launch");
        best = std::min(best, ms * 1000 / (2 * CHAIN));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return best;
}

template <class S>
__global__ void __launch_bounds__(S::THREADS)
    kernel(char *at, const __grid_constant__ struct product_params p)
{
    wait_for_previous();
    product<S>(at, p);
}

template <class S> static float time_tile(const size &z, int split)
{
    const void *f = (const void *)kernel<S>;
    product_params p = {};
    p.batch.n = p.batch.dim[0] = z.batch;
    p.batch.rank = 1;
    p.batch.stride[0][0] = (int64_t)z.m * z.k;
    p.batch.stride[1][0] = (int64_t)z.n * z.k;
    p.batch.stride[2][0] = (int64_t)z.m * z.n;
    p.b = B_AT;
    p.out = OUT_AT;
    p.m = z.m;
    p.n = z.n;
    p.k = z.k;
    p.lda = S::AK ? z.k : z.m;
    p.ldb = S::BK_ALONG ? z.k : z.n;
    p.ldd = z.n;
    p.split = split;
    p.pairs = 1;
    p.k_part = ((z.k + split - 1) / split + S::BK - 1) / S::BK * S::BK;
    p.columns = (z.n + S::BN - 1) / S::BN;
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3((z.m + S::BM - 1) / S::BM * p.columns * split, z.batch);
    c.blockDim = dim3(S::THREADS);
    c.dynamicSmemBytes = 4 * S::STAGES * S::STAGE;
    c.stream = stream;
    must(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)c.dynamicSmemBytes),
         "memory");
    must(cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster");
    cudaLaunchAttribute a[2] = {};
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    a[1].id = cudaLaunchAttributeClusterDimension;
    a[1].val.clusterDim.x = split;
    a[1].val.clusterDim.y = a[1].val.clusterDim.z = 1;
    c.attrs = a;
    c.numAttrs = split > 1 ? 2 : 1;
    void *args[] = {&arena, &p};
    return time_chain([&] { return (int)cudaLaunchKernelExC(&c, f, args); });
}

/* The library sees columns where gml has rows, so it makes the transpose: D' = B' A'. */
static float time_library(const size &z, bool tf32)
{
    static cublasLtHandle_t lt;
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t a, b, out;
    cublasLtMatmulPreference_t want;
    cublasLtMatmulHeuristicResult_t found;
    bool along_a = z.layout < 2, along_b = z.layout == 1;
    cublasOperation_t ta = along_b ? CUBLAS_OP_T : CUBLAS_OP_N, tb = along_a ? CUBLAS_OP_N : CUBLAS_OP_T;
    uint32_t no_reduction = 0;
    size_t no_workspace = 0;
    int n = 0;
    float one = 1, zero = 0;
    if (!lt) {
        must(cublasLtCreate(&lt), "cublasLtCreate");
    }
    must(cublasLtMatmulDescCreate(&d, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
         "desc");
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
    must(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, along_b ? z.k : z.n, along_b ? z.n : z.k,
                                    along_b ? z.k : z.n),
         "a");
    must(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, along_a ? z.k : z.m, along_a ? z.m : z.k,
                                    along_a ? z.k : z.m),
         "b");
    must(cublasLtMatrixLayoutCreate(&out, CUDA_R_32F, z.n, z.m, z.n), "d");
    const struct {
        cublasLtMatrixLayout_t of;
        int64_t step;
    } each[] = {{a, (int64_t)z.n * z.k}, {b, (int64_t)z.m * z.k}, {out, (int64_t)z.m * z.n}};
    for (auto &x : each) {
        cublasLtMatrixLayoutSetAttribute(x.of, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &z.batch, sizeof z.batch);
        cublasLtMatrixLayoutSetAttribute(x.of, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &x.step,
                                         sizeof x.step);
    }
    must(cublasLtMatmulPreferenceCreate(&want), "preference");
    cublasLtMatmulPreferenceSetAttribute(want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &no_workspace,
                                         sizeof no_workspace);
    cublasLtMatmulPreferenceSetAttribute(want, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &no_reduction,
                                         sizeof no_reduction);
    cublasLtMatmulAlgoGetHeuristic(lt, d, a, b, out, out, want, 1, &found, &n);
    auto run = [&] {
        return (int)cublasLtMatmul(lt, d, &one, arena + B_AT, a, arena, b, &zero, arena + OUT_AT, out,
                                   arena + OUT_AT, out, &found.algo, NULL, 0, stream);
    };
    float us = n && !run() ? time_chain(run) : -1;
    cublasLtMatmulPreferenceDestroy(want);
    for (auto &x : each) {
        cublasLtMatrixLayoutDestroy(x.of);
    }
    cublasLtMatmulDescDestroy(d);
    return us;
}

template <int BM, int BN, int BK, int WM, int WN, int STAGES, int TERMS>
static float time_layout(const size &z, int split)
{
    return z.layout == 0
               ? time_tile<product_tile<BM, BN, BK, WM, WN, STAGES, true, false, 4, TERMS>>(z, split)
           : z.layout == 1
               ? time_tile<product_tile<BM, BN, BK, WM, WN, STAGES, true, true, 4, TERMS>>(z, split)
               : time_tile<product_tile<BM, BN, BK, WM, WN, STAGES, false, false, 4, TERMS>>(z, split);
}

static void row(const size &z, int terms, float us, const char *tile, int split)
{
    if (us > 0) {
        printf("%d %d %d %d %d %d %.2f %s %d\n", z.layout, z.m, z.n, z.k, z.batch, terms, us, tile, split);
    }
}

template <int BM, int BN, int BK, int WM, int WN, int STAGES>
static void rows(const size &z, const char *tile)
{
    for (int split = 1; split <= 16 && (split == 1 || (z.k + BK - 1) / BK >= split); split *= 2) {
        row(z, 3, time_layout<BM, BN, BK, WM, WN, STAGES, 3>(z, split), tile, split);
        row(z, 1, time_layout<BM, BN, BK, WM, WN, STAGES, 1>(z, split), tile, split);
    }
}

int main(void)
{
    must(cudaMalloc(&arena, 72 * MB) | cudaMemset(arena, 0, 72 * MB) | cudaStreamCreate(&stream), "start");
    for (const size &z : sizes) {
        row(z, 3, time_library(z, false), "library", 1);
        row(z, 1, time_library(z, true), "library", 1);
#define PRODUCT_TILE(name, bm, bn, bk, wm, wn, stages, three, one) rows<bm, bn, bk, wm, wn, stages>(z, #name);
        PRODUCT_TILES
#undef PRODUCT_TILE
        fflush(stdout);
    }
    return 0;
}
