/* Helpers of the launch descriptions: collapsing axes, grids. Private to kernels/cuda. */
#ifndef GML_KERNELS_CUDA_DESCRIBE_H
#define GML_KERNELS_CUDA_DESCRIBE_H
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/functions.h"
#include "kernels/cuda/params.h"

/* Walks `rank` axes of the given sizes with n operands' strides: axes of size 1 go, neighbours that every
 * operand steps through evenly become one. A product of 0 gives n = 0. */
void walk_make(struct walk *w, int rank, const int64_t *size, int n, const int64_t *const *stride);
/* The same for whole operands of equal shape. */
void walk_operands(struct walk *w, int n, const struct operand *const *o);
/* Row-major strides of the walk's own axes. */
void walk_contiguous(const struct walk *w, int64_t *stride);

/* Writes one launch; returns 1, or CUDA_UNSUPPORTED when there is no function or the parameters do not fit.
 */
int launch_make(struct launch *out, const void *function, int64_t blocks, int64_t blocks_y, uint32_t threads,
                uint32_t threads_y, const void *params, size_t bytes);
/* ceil(n / per), at most what keeps the device busy: kernels stride through the rest. */
int64_t grid_for(const struct target *t, int64_t n, int64_t per);

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static inline const struct operand *control_operand(const struct kargs *k)
{
    return &k->in[k->n_in - 1];
}

/* elem.c: out = in, any strides, dtypes kept. Also serves copy and pack. */
int describe_copy(const struct operand *in, const struct operand *out, const struct target *t,
                  struct launch *l);

/* radix.c: sorts the places of p's segments by `passes` digits of their keys, least significant first; an odd
 * pass (the second, the fourth ..) writes `odd`. dtype: of the keys, DT_NONE for places. Returns the number
 * of launches. */
int describe_radix(struct radix_params *p, int dtype, int passes, uint64_t even, uint64_t odd,
                   struct launch *l, int max);

#endif
