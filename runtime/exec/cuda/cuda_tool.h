/* Declaring memory to a watching tool: the NVTX part of struct cuda_api. Private to the plugin. */
#ifndef GML_EXEC_CUDA_TOOL_H
#define GML_EXEC_CUDA_TOOL_H
#include "runtime/exec/cuda/cuda_api.h"

/* The arena as a heap of which nothing may be touched until a region of it is opened; NULL: no tool listens.
 */
int heap_open(void *ctx, void *at, uint64_t bytes, void **out);
int heap_close(void *ctx, void *heap);
/* A value: may be read and written, counts as unwritten. Regions must not overlap. */
int region_open(void *ctx, void *heap, void *at, uint64_t bytes);
int region_close(void *ctx, void *at);
/* Its bytes count as written from here on. */
int region_written(void *ctx, void *at, uint64_t bytes, void *stream);

#endif
