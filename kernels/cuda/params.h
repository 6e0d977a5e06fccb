/* Parameters of the CUDA kernels, shared by the descriptions (C) and the kernels (CUDA C++). A kernel is
 * called as kernel(char *arena, params): every `uint64_t` place is a byte offset into the arena, every stride
 * counts elements. Axes are collapsed on the host (walk.c) and run from slow to fast. All structs fit struct
 * launch.params. */
#ifndef GML_KERNELS_CUDA_PARAMS_H
#define GML_KERNELS_CUDA_PARAMS_H
#include <stdint.h>
#include "kernels/segment.h"
#include "kernels/tick.h"

enum { CUDA_AXES = 8, CUDA_OPERANDS = 4, CUDA_PACK = 28 };

/* Collapsed axes with the strides of up to four operands. rank >= 1 (one axis of size 1 for a scalar). */
struct walk {
    int64_t n; /* product of dim */
    int32_t rank;
    int32_t operands;
    int64_t dim[CUDA_AXES];
    int64_t stride[CUDA_OPERANDS][CUDA_AXES];
};

/* Elementwise: operand 3 is the output. In the vector form an index stands for four neighbours: the last axis
 * counts groups and its stride is 4 (four elements) or 0 (one element repeated). */
struct elem_params {
    struct walk walk;
    uint64_t at[CUDA_OPERANDS];
};

/* Reductions. kept: strides of input and output. reduced: stride of the input. With segments > 1 the output
 * is the array of partial accumulators [segments][kept]. */
struct reduce_params {
    struct walk kept, reduced;
    uint64_t in, out;
    int64_t n; /* elements behind one result, for `finish` */
    int64_t segments;
    int32_t finish;
};

/* softmax, logsumexp, xent, argmax: one row of k elements per warp or block. Operands: input, label, output.
 */
struct row_params {
    struct walk rows;
    uint64_t in, label, out, control;
    int64_t k, in_stride, out_stride;
    uint32_t node;
};

/* gather and put_add. places: the axes of the index (index, outer axes of values); width: the axes of one
 * row. */
struct index_params {
    struct walk places; /* index, values (gather: out; put_add: v) */
    struct walk width;  /* table, values, out (put_add) */
    uint64_t table, index, values, out, control;
    int64_t rows, table_stride, out_stride; /* rows of the table and the stride between them */
    uint32_t node;
};

/* take and spread: n elements in rows of `values`, beside rows of `table`. */
struct take_params {
    uint64_t table, index, values, control;
    int64_t n, row_table, row_values; /* n: elements of the output */
    uint32_t node;
};

/* argsort and search: rows of `length` beside rows of `many` places. */
struct sort_params {
    uint64_t in, places, out;
    int64_t n, length, many;
    int32_t descending;
};

/* A pass of a stable radix sort: digits of 8 bits at `shift`, `segments` rows of n places. keys: the row's
 * elements, or with many > 0 an index for each place: place e stands for element keys[e] of row e / many of a
 * table of `length` elements a row. from, to: the order before (unless first) and after, i32. counts:
 * u32[segments][256][blocks]. */
struct radix_params {
    uint64_t keys, from, to, counts;
    int64_t segments, n, blocks, length, many;
    int32_t shift, first, descending;
};

/* put_add, put_max, spread, put over `n` places: see radix_params for what a place stands for; `rows` rows of
 * `width` elements. begin, end: where the places of a row lie in `order`; put: begin is the last place of
 * each row, or -1. */
struct place_params {
    uint64_t index, order, begin, end, table, values, out, control;
    int64_t n, rows, width, length, many;
    uint32_t node;
};

/* solve_spd: `matrices` of order m with n columns; work holds the factor and the columns of each, in f64. */
struct solve_params {
    uint64_t a, b, out, work;
    int64_t matrices, m, n;
};

/* Scans: `lanes` sequences of `length` elements that lie `inner` apart. */
struct scan_params {
    uint64_t a, b, out;
    int64_t lanes, length, inner;
    int32_t reverse;
};

struct pad_params {
    struct walk out; /* axes as they are, not collapsed: output, input */
    int64_t in_dim[CUDA_AXES], start[CUDA_AXES], step[CUDA_AXES];
    uint64_t in, to;
};

/* Copies `copy` elements, then zeros up to `total`. */
struct pack_entry {
    uint64_t from, to;
    int64_t copy, total;
};
struct pack_params {
    struct pack_entry entry[CUDA_PACK];
    int64_t many, step; /* so many times: values follow each other, places are `step` elements apart */
    int32_t n;
};

/* A constant for every range of a flat block. table: f64[ranges, 3], rows (first element, elements, value)
 * ascending. */
struct ranges_params {
    uint64_t out, table;
    int64_t n, ranges;
    double otherwise;
};

struct fill_params {
    struct walk out;
    uint64_t to;
};

struct random_params {
    uint64_t out, control, p, index, epoch, iteration;
    uint64_t op_id;
    struct walk walk;               /* shuffle: index, output; bernoulli and draws: unused */
    int64_t n, each, bound;         /* elements; of a replica */
    int32_t phase, order, iterates; /* iterates: `iteration` is the place of an i32 */
    int32_t replicas, own_p;        /* 0 = none; p or epoch is one value for each */
};

/* Loops: the walked part beside the whole array, whose parts lie `step` elements apart. Or the counter at
 * `index`: begins at `first`, moves by `step` until it is `end`; condition: handle of the WHILE node, 0 = the
 * host counts. */
struct loop_params {
    struct walk walk; /* whole (without its first axis), part */
    uint64_t whole, part, index, condition;
    int64_t step, first, end;
    int32_t read;
};

struct control_params {
    uint64_t control, out;
    int32_t a, b;
    int32_t dtype, n, size; /* values, bytes of each */
};

/* The tick's parameters and the device address of the metric ring. */
struct tick_params {
    struct tick_args args;
    uint64_t ring;
};

/* A step of a segment (kernels/segment.h); `step` is an enum segment_step. value: of STOP, a bool or an f32.
 * ring: device address. */
struct segment_params {
    uint64_t control, state, ring, value, condition;
    struct segment_node node;
    int32_t step, is_f32;
};

struct matmul_params {
    uint64_t x, w, out;
    int64_t m, n, k;
    int64_t x_row, x_col, w_row, w_col, out_row, out_col;
    struct walk batch; /* x, w, out */
};

/* The f32 product on tensor cores (product.cuh). batch: walks the leading axes of a, b and out; `split`
 * blocks of a cluster own k_part of k each; `columns`: tiles in a row of tiles; pairs: results are stored two
 * by two. */
struct product_params {
    struct walk batch;
    uint64_t a, b, out;
    int64_t lda, ldb, ldd;
    int32_t m, n, k, split, k_part, columns, pairs;
};
/* TILE(name, rows, columns, depth, rows and columns of a warp, buffers, microseconds that a step takes on an
 * H200 with three terms and with one). Where a factor is contiguous along k its rows are padded by 8 floats
 * in shared memory, else by 4. */
#define PRODUCT_TILES                                                                                        \
    PRODUCT_TILE(NARROW, 32, 16, 64, 16, 8, 4, 0.68, 0.43)                                                   \
    PRODUCT_TILE(SMALL, 32, 32, 64, 16, 16, 3, 0.87, 0.61)                                                   \
    PRODUCT_TILE(MIDDLE, 64, 32, 32, 16, 16, 4, 0.69, 0.45)                                                  \
    PRODUCT_TILE(TALL, 128, 32, 32, 32, 16, 4, 1.12, 0.63)                                                   \
    PRODUCT_TILE(SQUARE, 64, 64, 32, 32, 16, 4, 1.03, 0.60)                                                  \
    PRODUCT_TILE(LARGE, 128, 128, 32, 64, 32, 3, 2.51, 1.11)
#define PRODUCT_SIDE(outer, depth, along_k) ((along_k) ? (outer) * ((depth) + 8) : (depth) * ((outer) + 4))

/* Products with few columns or a short sum: D[m, n] = A[m, k] B[k, n], strides of a row and a column. Where
 * blocks of a cluster share the sum, each has k_part terms. */
struct narrow_params {
    struct walk batch;
    uint64_t a, b, out;
    int64_t a_row, a_col, b_row, b_col, ldd;
    int32_t m, n, k, split, k_part;
};

#endif
