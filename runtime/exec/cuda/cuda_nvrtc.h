/* NVRTC, opened at run time: the part of struct cuda_api that makes machine code of source text. It needs no
 * toolkit to build and no GPU to run. */
#ifndef GML_EXEC_CUDA_NVRTC_H
#define GML_EXEC_CUDA_NVRTC_H
#include "runtime/exec/cuda/cuda_api.h"

/* Looks for libnvrtc.so.13 in path (and path/lib64), beside this code, in $ORIGIN/../lib, in
 * /usr/local/cuda/lib64, on the loader's path. Where there is a file its identity is its size and time, and
 * it is not opened; only the loader's path has to be tried. CUDA_COMPILER_MISSING when there is none. */
int nvrtc_find(void *ctx, const char *path, char identity[CUDA_IDENTITY]);
int nvrtc_open(void *ctx, const char *path, void **out);
int nvrtc_close(void *ctx, void *compiler);
/* May be called from several threads. */
int nvrtc_compile(void *ctx, void *compiler, const char *source, int sm, struct cuda_cubin *out);
const char *nvrtc_error_text(int code);

#endif
