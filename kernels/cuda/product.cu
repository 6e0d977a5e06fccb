/* The kernels of product.cuh: every tile, layout and width of copies. */
#include "kernels/cuda/product.cuh"

template <class S>
__global__ void __launch_bounds__(S::THREADS)
    product_kernel(char *arena, const __grid_constant__ struct product_params p)
{
    wait_for_previous();
    product<S>(arena, p);
}

#define PRODUCT_WIDTHS(bm, bn, bk, wm, wn, stages, a, b, terms)                                              \
    {                                                                                                        \
        (const void *)product_kernel<product_tile<bm, bn, bk, wm, wn, stages, a, b, 1, terms>>,              \
            (const void *)product_kernel<product_tile<bm, bn, bk, wm, wn, stages, a, b, 4, terms>>           \
    }
#define PRODUCT_LAYOUTS(bm, bn, bk, wm, wn, stages, terms)                                                   \
    {                                                                                                        \
        {PRODUCT_WIDTHS(bm, bn, bk, wm, wn, stages, false, false, terms),                                    \
         PRODUCT_WIDTHS(bm, bn, bk, wm, wn, stages, false, true, terms)},                                    \
        {                                                                                                    \
            PRODUCT_WIDTHS(bm, bn, bk, wm, wn, stages, true, false, terms),                                  \
                PRODUCT_WIDTHS(bm, bn, bk, wm, wn, stages, true, true, terms)                                \
        }                                                                                                    \
    }
#define PRODUCT_TILE(name, bm, bn, bk, wm, wn, stages, three, one)                                           \
    {PRODUCT_LAYOUTS(bm, bn, bk, wm, wn, stages, 3), PRODUCT_LAYOUTS(bm, bn, bk, wm, wn, stages, 1)},

extern "C" const void *cuda_product_function(enum product_shape shape, bool tf32, bool a, bool b, bool vector)
{
    static const void *const kernel[PRODUCT_SHAPES][2][2][2][2] = {PRODUCT_TILES};
    return kernel[shape][tf32][a][b][vector];
}
