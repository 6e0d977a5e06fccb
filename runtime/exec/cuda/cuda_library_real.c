/* Matrix products through cublasLt: f32 with f32 arithmetic unless the product asks for TF32, no split over K
 * that would need a reduction, workspace from the arena. A product is planned once: descriptors, and the
 * first algorithm of the heuristic, which is a function of shape, device and library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <cublasLt.h>
#include "runtime/exec/cuda/cuda_library.h"

#define SYMBOLS(F)                                                                                           \
    F(cublasLtCreate)                                                                                        \
    F(cublasLtDestroy)                                                                                       \
    F(cublasLtGetVersion)                                                                                    \
    F(cublasLtGetStatusString)                                                                               \
    F(cublasLtMatmul)                                                                                        \
    F(cublasLtMatmulDescCreate)                                                                              \
    F(cublasLtMatmulDescDestroy)                                                                             \
    F(cublasLtMatmulDescSetAttribute)                                                                        \
    F(cublasLtMatrixLayoutCreate)                                                                            \
    F(cublasLtMatrixLayoutDestroy)                                                                           \
    F(cublasLtMatrixLayoutSetAttribute)                                                                      \
    F(cublasLtMatmulPreferenceCreate)                                                                        \
    F(cublasLtMatmulPreferenceDestroy)                                                                       \
    F(cublasLtMatmulPreferenceSetAttribute)                                                                  \
    F(cublasLtMatmulAlgoGetHeuristic)

struct library {
    void *file;
    cublasLtHandle_t handle;
    char text[64];
#define F(name) __typeof__(&name) name;
    SYMBOLS(F)
#undef F
};
struct product {
    const struct library *l;
    struct gemm g;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algo;
    size_t work_bytes;
};

/* For messages after a failed open too. */
static const char *(*status_string)(cublasStatus_t);

const char *library_error_text(int code)
{
    if (code == CUDA_LIBRARY_MISSING) {
        return "libcublasLt.so.13 was not found";
    }
    const char *text = status_string ? status_string((cublasStatus_t)(code - CUDA_LIBRARY)) : NULL;
    return text ? text : "cublasLt reported an error";
}

static int status_code(cublasStatus_t s)
{
    return s == CUBLAS_STATUS_SUCCESS        ? 0
           : s == CUBLAS_STATUS_ALLOC_FAILED ? CUDA_NO_MEMORY
                                             : CUDA_LIBRARY + (int)s;
}

static void *open_in(const char *folder, int n, const char *below)
{
    char path[1024];
    int got = snprintf(path, sizeof path, "%.*s%s/libcublasLt.so.13", n, folder, below);
    return got > 0 && got < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_file(const char *path)
{
    Dl_info here = {0};
    void *f = NULL;
    if (path) {
        f = open_in(path, (int)strlen(path), "");
        f = f ? f : open_in(path, (int)strlen(path), "/lib64");
    }
    if (!f && dladdr((void *)&status_string, &here) && here.dli_fname) {
        const char *slash = strrchr(here.dli_fname, '/');
        int n = slash ? (int)(slash - here.dli_fname) : 0;
        f = slash ? open_in(here.dli_fname, n, "") : NULL;
        f = f || !slash ? f : open_in(here.dli_fname, n, "/../lib");
    }
    f = f ? f : dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);
    return f ? f : open_in("/usr/local/cuda/lib64", 21, "");
}

static bool bind_symbols(struct library *l)
{
#define F(name)                                                                                              \
    *(void **)&l->name = dlsym(l->file, #name);                                                              \
    if (!l->name) {                                                                                          \
        return false;                                                                                        \
    }
    SYMBOLS(F)
#undef F
    return true;
}

int blas_load(void *ctx, const char *path)
{
    (void)ctx;
    return open_file(path) ? 0 : CUDA_LIBRARY_MISSING; /* stays open */
}

int blas_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    void *file = open_file(path);
    if (!file) {
        return CUDA_LIBRARY_MISSING;
    }
    struct library *l = mem_alloc(sizeof *l);
    l->file = file;
    int code = CUDA_LIBRARY_MISSING;
    if (bind_symbols(l)) {
        status_string = l->cublasLtGetStatusString;
        code = status_code(l->cublasLtCreate(&l->handle));
    }
    if (code) {
        mem_free(l, sizeof *l); /* the file stays open: its texts may still be shown */
        return code;
    }
    size_t v = l->cublasLtGetVersion();
    snprintf(l->text, sizeof l->text, "cublasLt %zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
    *out = l;
    return 0;
}

int blas_close(void *ctx, void *library)
{
    (void)ctx;
    struct library *l = library;
    int code = status_code(l->cublasLtDestroy(l->handle));
    mem_free(l, sizeof *l);
    return code;
}

const char *blas_text(void *ctx, void *library)
{
    (void)ctx;
    return ((struct library *)library)->text;
}

static cudaDataType_t data_type(const struct gemm *g)
{
    return g->dtype == DT_F64 ? CUDA_R_64F : g->dtype == DT_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasStatus_t make_layout(const struct product *p, cublasLtMatrixLayout_t *out, bool transposed,
                                  int64_t rows, int64_t cols, int64_t ld, int64_t stride)
{
    const struct library *l = p->l;
    int64_t batch = p->g.batch;
    cublasStatus_t s =
        l->cublasLtMatrixLayoutCreate(out, data_type(&p->g), (uint64_t)(transposed ? cols : rows),
                                      (uint64_t)(transposed ? rows : cols), ld);
    int32_t count = (int32_t)batch;
    if (s == CUBLAS_STATUS_SUCCESS && batch > 1) {
        s = l->cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count);
    }
    if (s == CUBLAS_STATUS_SUCCESS && batch > 1) {
        s = l->cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                                sizeof stride);
    }
    return s;
}

static cublasStatus_t make_descriptors(struct product *p)
{
    const struct library *l = p->l;
    const struct gemm *g = &p->g;
    int32_t ta = g->ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb = g->tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    bool f64 = g->dtype == DT_F64;
    cublasComputeType_t in = f64       ? CUBLAS_COMPUTE_64F
                             : g->tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                       : CUBLAS_COMPUTE_32F;
    cublasStatus_t s = l->cublasLtMatmulDescCreate(&p->desc, in, f64 ? CUDA_R_64F : CUDA_R_32F);
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = l->cublasLtMatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
    }
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = l->cublasLtMatmulDescSetAttribute(p->desc, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
    }
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = make_layout(p, &p->a, g->ta, g->m, g->k, g->lda, g->stride_a);
    }
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = make_layout(p, &p->b, g->tb, g->k, g->n, g->ldb, g->stride_b);
    }
    return s == CUBLAS_STATUS_SUCCESS ? make_layout(p, &p->d, false, g->m, g->n, g->ldd, g->stride_d) : s;
}

/* What every call of the product can rely on, given an arena aligned to 256. */
static uint32_t alignment(uint64_t first, int64_t step)
{
    uint64_t bits = first | (uint64_t)step | 256;
    return (uint32_t)(bits & (~bits + 1));
}

static cublasStatus_t set_preference(const struct product *p, cublasLtMatmulPreference_t pref)
{
    const struct gemm *g = &p->g;
    uint64_t work = g->work_bytes;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        uint32_t value;
    } row[] = {
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, CUBLASLT_REDUCTION_SCHEME_NONE},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(g->a, g->step_a)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(g->b, g->step_b)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(g->d, g->step_d)},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(g->d, g->step_d)},
    };
    cublasStatus_t s = p->l->cublasLtMatmulPreferenceSetAttribute(
        pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &work, sizeof work);
    for (size_t i = 0; i < sizeof row / sizeof *row && s == CUBLAS_STATUS_SUCCESS; i++) {
        s = p->l->cublasLtMatmulPreferenceSetAttribute(pref, row[i].attribute, &row[i].value,
                                                       sizeof row[i].value);
    }
    return s;
}

/* *found = false: no algorithm, which is no error. */
static cublasStatus_t choose_algorithm(struct product *p, bool *found)
{
    cublasLtMatmulPreference_t pref = NULL;
    cublasLtMatmulHeuristicResult_t result = {0};
    int n = 0;
    cublasStatus_t s = p->l->cublasLtMatmulPreferenceCreate(&pref);
    if (s != CUBLAS_STATUS_SUCCESS) {
        return s;
    }
    s = set_preference(p, pref);
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = p->l->cublasLtMatmulAlgoGetHeuristic(p->l->handle, p->desc, p->a, p->b, p->d, p->d, pref, 1,
                                                 &result, &n);
    }
    p->l->cublasLtMatmulPreferenceDestroy(pref);
    *found = s == CUBLAS_STATUS_SUCCESS && n > 0 && result.state == CUBLAS_STATUS_SUCCESS &&
             result.workspaceSize <= p->g.work_bytes;
    p->algo = result.algo;
    p->work_bytes = result.workspaceSize;
    return s == CUBLAS_STATUS_NOT_SUPPORTED ? CUBLAS_STATUS_SUCCESS : s;
}

int matmul_plan(void *ctx, void *library, const struct gemm *g, void **out)
{
    struct product *p = mem_alloc(sizeof *p);
    bool found = false;
    p->l = library;
    p->g = *g;
    cublasStatus_t s = make_descriptors(p);
    if (s == CUBLAS_STATUS_SUCCESS) {
        s = choose_algorithm(p, &found);
    }
    *out = p;
    if (s != CUBLAS_STATUS_SUCCESS || !found) {
        matmul_free(ctx, p);
        *out = NULL;
    }
    return status_code(s);
}

int matmul_run(void *ctx, void *plan, void *arena, void *stream)
{
    (void)ctx;
    const struct product *p = plan;
    const struct gemm *g = &p->g;
    const float one = 1, zero = 0;
    const double one_f64 = 1, zero_f64 = 0;
    const void *alpha = g->dtype == DT_F64 ? (const void *)&one_f64 : &one;
    const void *beta = g->dtype == DT_F64 ? (const void *)&zero_f64 : &zero;
    char *base = arena;
    cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
    for (int64_t i = 0; i < g->calls && s == CUBLAS_STATUS_SUCCESS; i++) {
        char *d = base + g->d + i * g->step_d;
        s = p->l->cublasLtMatmul(p->l->handle, p->desc, alpha, base + g->a + i * g->step_a, p->a,
                                 base + g->b + i * g->step_b, p->b, beta, d, p->d, d, p->d, &p->algo,
                                 base + g->work, p->work_bytes, stream);
    }
    return status_code(s);
}

int matmul_free(void *ctx, void *plan)
{
    (void)ctx;
    struct product *p = plan;
    const struct library *l = p->l;
    if (p->d) {
        l->cublasLtMatrixLayoutDestroy(p->d);
    }
    if (p->b) {
        l->cublasLtMatrixLayoutDestroy(p->b);
    }
    if (p->a) {
        l->cublasLtMatrixLayoutDestroy(p->a);
    }
    if (p->desc) {
        l->cublasLtMatmulDescDestroy(p->desc);
    }
    mem_free(p, sizeof *p);
    return 0;
}
