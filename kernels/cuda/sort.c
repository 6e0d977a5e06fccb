/* Descriptions of argsort and search over rows of the last axis. A short row is ranked by counting, a row of
 * up to SORT_MOST elements is sorted by a block in shared memory, a longer one in passes of a radix sort. */
#include "kernels/cuda/describe.h"

enum { RANK_MOST = 64 };

static struct sort_params params_of(const struct kargs *k)
{
    const struct operand *in = &k->in[0], *places = &k->in[k->n_in - 1];
    int last = in->rank - 1;
    return (struct sort_params){.in = in->offset,
                                .places = places->offset,
                                .out = k->out[0].offset,
                                .n = operand_count(&k->out[0]),
                                .length = in->dim[last],
                                .many = places->dim[last],
                                .descending = k->n_attr && k->attr[0]};
}

/* The scratch holds the order of every second pass, then the counts. */
static int radix_sort(const struct kargs *k, const struct sort_params *s, struct launch *l, int max)
{
    struct radix_params p = {.keys = s->in,
                             .segments = s->n / s->length,
                             .n = s->length,
                             .blocks = ceil_div(s->length, RADIX_TILE),
                             .counts = k->work + 4 * (uint64_t)s->n,
                             .descending = s->descending};
    int passes = (int)dtype_size((enum dtype)k->in[0].dtype); /* 2, 4 or 8: the last one writes the output */
    return describe_radix(&p, k->in[0].dtype, passes, k->work, s->out, l, max);
}

int cuda_argsort(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_argsort(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    if (max < 1 || k->in[0].rank < 1) {
        return CUDA_UNSUPPORTED;
    }
    struct sort_params p = params_of(k);
    if (p.n == 0) {
        return 0;
    }
    bool roomy = p.length <= INT32_MAX && p.length > SORT_MOST &&
                 k->work_bytes >= order_scratch(p.n / p.length, p.length, 1);
    if (roomy) {
        return radix_sort(k, &p, l, max);
    }
    bool block = p.length > RANK_MOST && p.length <= SORT_MOST;
    const void *f = cuda_sort_function(OP_argsort, k->in[0].dtype, block ? SORT_BLOCK : SORT_RANK);
    if (block) {
        return launch_make(l, f, grid_for(t, p.n / p.length, 1), 1, SORT_THREADS, 1, &p, sizeof p);
    }
    return launch_make(l, f, grid_for(t, p.n, 256), 1, 256, 1, &p, sizeof p);
}

int cuda_search(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_search(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    if (max < 1 || k->in[0].rank < 1) {
        return CUDA_UNSUPPORTED;
    }
    struct sort_params p = params_of(k);
    if (p.n == 0) {
        return 0;
    }
    const void *f = cuda_sort_function(OP_search, k->in[0].dtype, SORT_RANK);
    return launch_make(l, f, grid_for(t, p.n, 256), 1, 256, 1, &p, sizeof p);
}
