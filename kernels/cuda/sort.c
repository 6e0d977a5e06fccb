/* Descriptions of argsort and search over rows of the last axis. */
#include "kernels/cuda/describe.h"

static int describe(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    const struct operand *in = &k->in[0], *places = &k->in[k->n_in - 1];
    int last = in->rank - 1;
    struct sort_params p = {.in = in->offset,
                            .places = places->offset,
                            .out = k->out[0].offset,
                            .n = operand_count(&k->out[0]),
                            .length = last < 0 ? 0 : in->dim[last],
                            .many = last < 0 ? 0 : places->dim[last],
                            .descending = k->n_attr && k->attr[0]};
    if (last < 0 || p.n == 0) {
        return last < 0 ? CUDA_UNSUPPORTED : 0;
    }
    return launch_make(l, cuda_sort_function(op, in->dtype), grid_for(t, p.n, 256), 1, 256, 1, &p, sizeof p);
}

#define SORT_OP(name)                                                                                        \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return max < 1 ? CUDA_UNSUPPORTED : describe(OP_##name, k, t, l);                                    \
    }
SORT_OP(argsort)
SORT_OP(search)
