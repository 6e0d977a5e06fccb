/* What a REDUCE row is made of on the CPU, for reductions of operands (reduce.c) and of values of groups
 * (group_reduce.c), which add up in the same order: leaves of ROW_BLOCK elements in a row, or of COLUMN_BLOCK
 * rows side by side, put together as a binary tree.
 */
#ifndef GML_KERNELS_CPU_REDUCER_H
#define GML_KERNELS_CPU_REDUCER_H
#include "kernels/cpu/cpu.h"

enum { ROW_BLOCK = 1024, COLUMN_BLOCK = 32, COLUMNS = 256, CHUNK_ELEMENTS = 16384 };

/* Accumulators have the type that is computed in. */
struct reducer {
    void (*start)(void *acc, int64_t n);                /* n accumulators, nothing in them */
    void (*merge)(void *acc, const void *x, int64_t n); /* n accumulators side by side */
    void (*block)(void *acc, const void *x, int64_t n); /* n adjacent elements into one */
    void (*finish)(void *out, const void *acc, int64_t n, int64_t count);
};
/* Of a REDUCE row; t as work_type gives it. */
const struct reducer *reducer_of(enum op op, enum dtype t);

/* Elements (or rows) of a chunk when a long reduction of `each` is cut into at most `parts`, `width` results
 * side by side: a power of two of blocks; `each` when it is not cut. */
int64_t reduce_chunk(int64_t block, int64_t width, int64_t each, int64_t parts);
/* Puts together what lies as chunks * n accumulators of `size` bytes; the result is the first n. */
void reduce_merge(const struct reducer *f, char *work, int64_t chunks, int64_t n, int64_t size);

#endif
