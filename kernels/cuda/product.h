/* The f32 product on tensor cores, between its description (product.c) and that of products in general
 * (matmul.c). Private to kernels/cuda. */
#ifndef GML_KERNELS_CUDA_PRODUCT_H
#define GML_KERNELS_CUDA_PRODUCT_H
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/params.h"

enum {
    PRODUCT_SM = 90,
    PRODUCT_CLUSTER = 16,
    PRODUCT_LEAST_K = 16,
    PRODUCT_FEW = 1 << 18,  /* results; beyond, the library has better TF32 products, */
    PRODUCT_MORE = 1 << 20, /* or beyond this where sums are */
    PRODUCT_SHORT = 128     /* no longer */
};

/* D = A B with places, leading dimensions, sizes and batch axes of `p` filled in; the rest of p is chosen by
 * product_describe. Along k: whether that is the contiguous axis of the factor. */
struct product_view {
    struct product_params p;
    uint8_t dtype;
    bool tf32; /* factors rounded to TF32, instead of three products */
    bool a_along_k, b_along_k;
};
/* Whether this product is made on tensor cores: f32, on a device with clusters, with a sum that is no shorter
 * than PRODUCT_LEAST_K. */
bool product_takes(const struct product_view *v, const struct target *t);
/* Than the library: always in f32, which it makes without tensor cores; with TF32 where results are few. */
bool product_is_better(const struct product_view *v);
/* One launch; CUDA_UNSUPPORTED when the grid does not fit. */
int product_describe(const struct product_view *v, const struct target *t, struct launch *l);

/* narrow.c: f32 with few columns, or fewer terms than PRODUCT_LEAST_K, without tensor cores. */
bool narrow_takes(const struct product_view *v, const struct target *t);
int narrow_describe(const struct product_view *v, const struct target *t, struct launch *l);

#endif
