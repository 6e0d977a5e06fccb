/* The __global__ functions behind the descriptions, as host stubs. Implemented by the .cu file of the same
 * subject; tests without a GPU implement them as opaque pointers. Each returns NULL when there is no such
 * kernel. */
#ifndef GML_KERNELS_CUDA_FUNCTIONS_H
#define GML_KERNELS_CUDA_FUNCTIONS_H
#include <stdbool.h>
#include "kernels/cuda/params.h"
#include "kernels/ops.h"

#ifdef __cplusplus
extern "C" {
#endif
/* Where a row or a column of a reduction is summed. */
enum reduce_form { REDUCE_WARP, REDUCE_BLOCK, REDUCE_COLUMNS };
enum { REDUCE_THREADS = 512, ROW_THREADS = 256, WARPS = 8, TILE = 32 };
enum {
    RADIX_TILE = 4096,
    RADIX_DIGITS = 256,
    SORT_THREADS = 512,
    SORT_MOST = 2048
}; /* SORT_BLOCK: elements of a row at most */

/* dtype: of the values (CHOOSE: of y and z; else of input 0); out: of the output. */
const void *cuda_elem_function(int op, int dtype, int out, int vector);
const void *cuda_elem_f64(int op, int out,
                          int vector); /* the rows over f64, and over bf16: files of their own, */
const void *cuda_elem_bf16(int op, int out, int vector); /* compiled beside the others */
/* in, out: dtypes; one of them is that of the partial results when there are two passes. */
const void *cuda_reduce_function(int op, int in, int out, enum reduce_form form);
const void *cuda_row_function(int op, int dtype, int block); /* softmax, logsumexp, xent, argmax */
const void *cuda_index_function(int op, int type); /* gather, pad, put, take, pack by element size; put_add,
                                                   put_max, spread, ranges, iota by dtype */
/* put_add, put_max, spread in three steps after the order is known, put in two: see index.c. `type` as above.
 */
enum place_step { PLACE_CLEAR, PLACE_BOUNDS, PLACE_LAST, PLACE_APPLY, PLACE_HERE };
const void *cuda_place_function(int op, int type, enum place_step step);
const void *cuda_scan_function(int op, int dtype, int rows); /* rows: lanes are adjacent elements */
const void *cuda_solve_function(int dtype);
/* argsort (a rank is counted, or a block sorts a row) and search. */
enum sort_form { SORT_RANK, SORT_BLOCK };
const void *cuda_sort_function(int op, int dtype, enum sort_form form);
/* A step of a pass of the radix sort; DT_NONE: keys are places in a table. */
enum radix_step { RADIX_COUNT, RADIX_SCAN, RADIX_SCATTER };
const void *cuda_radix_function(int dtype, enum radix_step step);
const void *cuda_random_function(int op, int dtype); /* of the output; bernoulli: of its operand */
const void *cuda_control_function(int op);           /* step, knob, metric */
enum loop_step { LOOP_PART, LOOP_BEGIN, LOOP_END };
const void *cuda_loop_function(enum loop_step step, int dtype);
const void *cuda_matmul_function(int dtype);
enum product_shape {
#define PRODUCT_TILE(name, bm, bn, bk, wm, wn, stages, three, one) PRODUCT_##name,
    PRODUCT_TILES
#undef PRODUCT_TILE
        PRODUCT_SHAPES
};
/* f32 on tensor cores: tf32: one term instead of three; a, b: whether k is the contiguous axis of that
 * factor; vector: copies of 16 bytes. */
const void *cuda_product_function(enum product_shape shape, bool tf32, bool a, bool b, bool vector);
/* f32 products with few columns and a long sum, whose A is contiguous along k (rows) or along m (columns), or
 * with a short sum (outer); fours: columns, or terms of the sum, / 4, rounded up. */
enum narrow_form { NARROW_ROWS, NARROW_COLUMNS, NARROW_OUTER, NARROW_FORMS };
const void *cuda_narrow_function(enum narrow_form form, int fours);
const void *cuda_tick_function(void);
const void *cuda_segment_function(void);
#ifdef __cplusplus
}
#endif

#endif
