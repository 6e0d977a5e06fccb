/* The __global__ functions behind the descriptions, as host stubs. Implemented by the .cu file of the same
 * subject; tests without a GPU implement them as opaque pointers. Each returns NULL when there is no such
 * kernel. */
#ifndef GML_KERNELS_CUDA_FUNCTIONS_H
#define GML_KERNELS_CUDA_FUNCTIONS_H
#include "kernels/ops.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Where a row or a column of a reduction is summed. */
enum reduce_form { REDUCE_WARP, REDUCE_BLOCK, REDUCE_COLUMNS };
enum { REDUCE_THREADS = 512, ROW_THREADS = 256, WARPS = 8, TILE = 32 };

/* dtype: of the values (CHOOSE: of y and z; else of input 0); out: of the output. */
const void *cuda_elem_function(int op, int dtype, int out, int vector);
const void *cuda_reduce_function(int op, int dtype, enum reduce_form form);
const void *cuda_row_function(int op, int dtype, int block); /* softmax, logsumexp, xent, argmax */
const void *cuda_index_function(int op, int bytes); /* gather, pad, put, take by element size; put_add,
                                                   put_max, spread: 4 f32, -4 i32; pack, ranges, iota */
const void *cuda_scan_function(int op, int dtype, int rows); /* rows: lanes are adjacent elements */
const void *cuda_solve_function(int dtype);
const void *cuda_sort_function(int op, int dtype); /* argsort, search */
const void *cuda_random_function(int op);
const void *cuda_control_function(int op); /* step, knob, metric */
const void *cuda_matmul_function(void);
const void *cuda_tick_function(void);
#ifdef __cplusplus
}
#endif

#endif
