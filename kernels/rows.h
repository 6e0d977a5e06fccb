/* Which row of its split a launch reads at place i; valid C11 and CUDA C++, so that all backends read alike.
 */
#ifndef GML_KERNELS_ROWS_H
#define GML_KERNELS_ROWS_H
#include <stdint.h>
#include "kernels/ops.h"
#include "kernels/vocab.h"

/* Lanes: the split is cut into n lanes of floor(rows / n) rows, one for each place of the batch, and every
 * launch moves all of them on by one row. The cursor counts rows of all lanes. */
GML_INLINE int64_t lane_row(int64_t cursor, int64_t rows, int64_t n, int64_t i)
{
    return cursor / n + i * (rows / n);
}

#endif
