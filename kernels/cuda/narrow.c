/* Descriptions of f32 products with few columns or a short sum: heads of networks and their gradients. A tile
 * of tensor cores would be mostly empty there, so a multiprocessor adds up in f32. */
#include "kernels/cuda/describe.h"
#include "kernels/cuda/product.h"

enum {
    MOST = 12,      /* columns; with more, tensor cores have enough to do */
    LEAST_M = 16,   /* rows */
    ROWS_K = 1024,  /* longest sum of a warp */
    ROWS_BLOCK = 8, /* rows of a block, a warp for each */
    COLUMN_WARPS = 16,
    OUTER_ROWS = 16,
    OUTER_COLUMNS = 256,
    OUTER_THREADS = 256
};

static enum narrow_form form_of(const struct product_view *v)
{
    return v->p.k < PRODUCT_LEAST_K ? NARROW_OUTER : v->a_along_k ? NARROW_ROWS : NARROW_COLUMNS;
}

bool narrow_takes(const struct product_view *v, const struct target *t)
{
    const struct product_params *p = &v->p;
    bool few =
        p->k < PRODUCT_LEAST_K || (p->n <= MOST && p->m >= LEAST_M && (!v->a_along_k || p->k <= ROWS_K));
    return t->sm >= PRODUCT_SM && v->dtype == DT_F32 && few && p->m >= 1 && p->n >= 1 && p->k >= 1 &&
           p->batch.n >= 1 && p->batch.n <= 65535;
}

/* Blocks of a cluster share a sum while there are multiprocessors without a block. */
static int split_of(const struct product_params *p, const struct target *t, int64_t blocks)
{
    int split = 1;
    while (split < PRODUCT_CLUSTER && blocks * split * 2 <= t->n_sm && p->k / (split * 2) >= COLUMN_WARPS) {
        split *= 2;
    }
    return split;
}

int narrow_describe(const struct product_view *v, const struct target *t, struct launch *l)
{
    const struct product_params *p = &v->p;
    enum narrow_form form = form_of(v);
    struct narrow_params q = {.batch = p->batch,
                              .a = p->a,
                              .b = p->b,
                              .out = p->out,
                              .a_row = v->a_along_k ? p->lda : 1,
                              .a_col = v->a_along_k ? 1 : p->lda,
                              .b_row = v->b_along_k ? 1 : p->ldb,
                              .b_col = v->b_along_k ? p->ldb : 1,
                              .ldd = p->ldd,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k,
                              .split = 1,
                              .k_part = p->k};
    const void *f = cuda_narrow_function(form, (int)ceil_div(form == NARROW_OUTER ? p->k : p->n, 4));
    if (form == NARROW_OUTER) {
        int64_t blocks = ceil_div(p->m, OUTER_ROWS) * ceil_div(p->n, OUTER_COLUMNS);
        return launch_make(l, f, blocks, p->batch.n, OUTER_THREADS, 1, &q, sizeof q);
    }
    if (form == NARROW_ROWS) {
        return launch_make(l, f, ceil_div(p->m, ROWS_BLOCK), p->batch.n, 32 * ROWS_BLOCK, 1, &q, sizeof q);
    }
    int64_t tiles = ceil_div(p->m, 32);
    q.split = split_of(p, t, tiles * p->batch.n);
    q.k_part = (int32_t)ceil_div(p->k, q.split);
    int got = launch_make(l, f, tiles * q.split, p->batch.n, 32 * COLUMN_WARPS, 1, &q, sizeof q);
    if (got == 1) {
        l->cluster = q.split > 1 ? (uint32_t)q.split : 0;
    }
    return got;
}
