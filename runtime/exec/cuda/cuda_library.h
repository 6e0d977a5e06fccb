/* cublasLt and CUPTI, opened at run time: the parts of struct cuda_api that are not the CUDA runtime. Private
 * to the plugin. */
#ifndef GML_EXEC_CUDA_LIBRARY_H
#define GML_EXEC_CUDA_LIBRARY_H
#include "runtime/exec/cuda/cuda_api.h"

/* Looks for libcublasLt.so.13 in path (and path/lib64), beside the plugin, in $ORIGIN/../lib, on the loader's
 * path, in /usr/local/cuda/lib64. CUDA_LIBRARY_MISSING when there is none. */
int blas_open(void *ctx, const char *path, void **out);
/* Only brings the file into memory, for blas_open to find it there. */
int blas_load(void *ctx, const char *path);
int blas_close(void *ctx, void *library);
int matmul_plan(void *ctx, void *library, const struct gemm *g, void **out);
int matmul_run(void *ctx, void *plan, void *arena, void *stream);
int matmul_free(void *ctx, void *plan);
const char *blas_text(void *ctx, void *library);
const char *library_error_text(int code);

/* cuda_audit_real.c */
int graph_walk(void *ctx, void *graph, struct exec_walk *sum);
int audit_open(void *ctx, const char *path, void **out);
int audit_read(void *ctx, void *audit, struct exec_counts *out, bool reset);
int audit_close(void *ctx, void *audit);

#endif
