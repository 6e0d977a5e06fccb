/* Description of the f32 product on tensor cores, and when it is the better one. */
#include "kernels/cuda/product.h"
#include "kernels/cuda/describe.h"

struct product_tile {
    int bm, bn, bk, warps, stages;
    double step[2]; /* [tf32]: microseconds that a block takes for bk, with three terms and with one */
};
static const struct product_tile tiles[PRODUCT_SHAPES] = {
#define PRODUCT_TILE(name, bm, bn, bk, wm, wn, stages, three, one)                                           \
    {bm, bn, bk, (bm / (wm)) * (bn / (wn)), stages, {three, one}},
    PRODUCT_TILES
#undef PRODUCT_TILE
};

struct choice {
    enum product_shape shape;
    int split;
    double us;
};

/* Microseconds, fitted to 944 measured products (tools/bench/products.cu, docs/performance.md): blocks of
 * one multiprocessor share it; the meetings of a cluster take 0.6 (of sixteen, for which fewer places are
 * found, 1.2), and every 1024 results that it adds up through each other's memory take 0.25 more. */
static double estimate(const struct product_view *v, const struct target *t, const struct product_tile *x,
                       int split)
{
    const struct product_params *p = &v->p;
    double blocks = (double)(ceil_div(p->m, x->bm) * ceil_div(p->n, x->bn) * p->batch.n * split);
    double steps = (double)ceil_div(ceil_div(p->k, split), x->bk);
    double load = blocks > t->n_sm ? blocks / t->n_sm : 1;
    double meet = split > 1 ? (split > 8 ? 1.2 : 0.6) + 0.25 * load * x->bm * x->bn / 1024 : 0;
    return 1.4 + meet + load * steps * x->step[v->tf32];
}

static struct choice choose(const struct product_view *v, const struct target *t)
{
    struct choice best = {0};
    for (int s = 0; s < PRODUCT_SHAPES; s++) {
        for (int split = 1; split <= PRODUCT_CLUSTER; split *= 2) {
            double us = estimate(v, t, &tiles[s], split);
            bool parts = split == 1 || ceil_div(v->p.k, tiles[s].bk) >= split;
            if (parts && (!best.split || us < best.us)) {
                best = (struct choice){(enum product_shape)s, split, us};
            }
        }
    }
    return best;
}

static bool fits(int64_t n)
{
    return n >= 1 && n <= INT32_MAX / 2;
}

/* Copies of four: every row of a factor begins on 16 bytes, and so does the next one of the batch. */
static bool vector_factor(const struct walk *batch, int o, uint64_t at, int64_t ld, int64_t contiguous)
{
    bool all = at % 16 == 0 && ld % 4 == 0 && contiguous % 4 == 0;
    for (int a = 0; a < batch->rank; a++) {
        all = all && batch->stride[o][a] % 4 == 0;
    }
    return all;
}

static bool pairs_stored(const struct product_params *p)
{
    bool all = p->n % 2 == 0 && p->ldd % 2 == 0 && p->out % 8 == 0;
    for (int a = 0; a < p->batch.rank; a++) {
        all = all && p->batch.stride[2][a] % 2 == 0;
    }
    return all;
}

bool product_takes(const struct product_view *v, const struct target *t)
{
    return t->sm >= PRODUCT_SM && v->dtype == DT_F32 && fits(v->p.m) && fits(v->p.n) && fits(v->p.k) &&
           v->p.k >= PRODUCT_LEAST_K && v->p.batch.n >= 1 && v->p.batch.n <= 65535;
}

bool product_is_better(const struct product_view *v)
{
    int64_t results = (int64_t)v->p.m * v->p.n * v->p.batch.n;
    return !v->tf32 || results <= PRODUCT_FEW || (results <= PRODUCT_MORE && v->p.k <= PRODUCT_SHORT);
}

int product_describe(const struct product_view *v, const struct target *t, struct launch *l)
{
    struct product_params p = v->p;
    struct choice c = choose(v, t);
    const struct product_tile *x = &tiles[c.shape];
    p.split = c.split;
    p.k_part = (int32_t)(ceil_div(ceil_div(p.k, c.split), x->bk) * x->bk);
    p.columns = (int32_t)ceil_div(p.n, x->bn);
    p.pairs = pairs_stored(&p);
    bool vector = vector_factor(&p.batch, 0, p.a, p.lda, v->a_along_k ? p.k : p.m) &&
                  vector_factor(&p.batch, 1, p.b, p.ldb, v->b_along_k ? p.k : p.n);
    int got = launch_make(l, cuda_product_function(c.shape, v->tf32, v->a_along_k, v->b_along_k, vector),
                          ceil_div(p.m, x->bm) * p.columns * c.split, p.batch.n, (uint32_t)(32 * x->warps), 1,
                          &p, sizeof p);
    if (got == 1) {
        l->shared =
            (uint32_t)(4 * x->stages *
                       (PRODUCT_SIDE(x->bm, x->bk, v->a_along_k) + PRODUCT_SIDE(x->bn, x->bk, v->b_along_k)));
        l->cluster = c.split > 1 ? (uint32_t)c.split : 0;
    }
    return got;
}
