/* The seam to CUDA: one struct of functions over opaque handles. The real one (cuda_api_real.c) is bound to
 * the static runtime and to a cublasLt opened at run time; tests put fakes here. No CUDA header is needed to
 * use it.
 *
 * Ownership: every *_create, *_alloc, *_open, matmul_plan gives a handle for its counterpart to release.
 * Handles are never NULL on success, with two exceptions: matmul_plan gives NULL where the library has no
 * algorithm for the product, heap_open where no tool listens. audit_open gives CUDA_LIBRARY_MISSING without
 * CUPTI. blas_load only brings the file into memory: the one call that may run beside others.
 *
 * Compiled kernels: compiler_find says which compiler there is without opening it; compile may be called from
 * several threads. What module_kernel gives is a launch's function, as good as that of a kernel of the build.
 *
 * Loops: condition_create makes the condition of one conditional node of that graph, true at the start of a
 * launch; kernels set it. conditional_add appends the node, a WHILE (`loops`) or an IF, and gives the graph
 * of its body, which belongs to the node and is filled like any other. A graph that holds a conditional node
 * can be instantiated once only.
 */
#ifndef GML_EXEC_CUDA_API_H
#define GML_EXEC_CUDA_API_H
#include "kernels/cuda/cuda.h"
#include "runtime/exec/exec.h"

struct cuda_device {
    char name[256];
    int sm, n_sm;
    int driver, runtime; /* 13000 = 13.0 */
};
/* Where a graph under construction ends: what the next node depends on. n = 0: the graph is empty. */
enum { CUDA_TAIL = 8 };
struct cuda_tail {
    void *node[CUDA_TAIL];
    unsigned char edge[CUDA_TAIL][8]; /* cudaGraphEdgeData, zero as a rule */
    int n;
    bool kernel; /* the one node is a kernel of gml */
};
/* Codes the executor tells apart; the rest are cudaError values, and CUDA_LIBRARY + the status of cublasLt.
 */
enum {
    CUDA_NO_MEMORY = 2,
    CUDA_OLD_DRIVER = 35,
    CUDA_NO_DEVICE = 100,
    CUDA_NOT_READY = 600,
    CUDA_LIBRARY = 100000,
    CUDA_LIBRARY_MISSING = 200000,
    CUDA_COMPILER = 300000, /* + the result of NVRTC */
    CUDA_COMPILER_MISSING = 400000
};
/* Machine code, from mem_alloc, and what the compiler had to say (it may be cut). */
enum { CUDA_IDENTITY = 64 };
struct cuda_cubin {
    char *bytes;
    size_t n;
    char log[512];
};

#define CALL(name, text, params, args, count) int(*name) params;
struct cuda_api {
    void *ctx;
    const char *(*error_text)(void *ctx, int code);     /* never NULL */
    const char *(*blas_text)(void *ctx, void *library); /* "cublasLt 13.1.0" */
#include "runtime/exec/cuda/cuda_api.def"
};
#undef CALL
#define CALL(name, text, params, args, count) CUDA_CALL_##name,
enum cuda_call {
#include "runtime/exec/cuda/cuda_api.def"
    CUDA_CALLS
};
#undef CALL
/* "cudaMalloc" */
extern const char *const cuda_call_name[CUDA_CALLS];

/* Wraps an api so that every call is counted. The counter must outlive the wrapped api. With `audit` every
 * graph is walked when it becomes executable, with the bodies that were added to it. */
enum { CUDA_BODIES = 1024 };
struct cuda_counter {
    struct cuda_api inner;
    struct exec_counts n;
    bool audit;
    int walk_code; /* of the first walk that failed: then the walk is not whole */
    struct {
        void *graph, *body;
    } body[CUDA_BODIES]; /* of graphs that are not destroyed yet */
    int n_body;
};
/* What a driver function of this name does, for counts.source "cupti": adds that many calls to `n`, which
 * copied so many bytes in all. Pure; cuda_audit.c. */
void cuda_audit_call(struct exec_counts *n, const char *name, uint64_t calls, uint64_t bytes);
void cuda_count(struct cuda_counter *c, const struct cuda_api *inner, struct cuda_api *out);

/* The real thing; cuda_api_real.c. */
const struct cuda_api *cuda_api_real(void);

#endif
