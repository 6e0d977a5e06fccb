/* Descriptions of the row operators: softmax, logsumexp, xent, argmax over the last axis. A warp takes a
 * short row, a block a long one. */
#include "kernels/cuda/describe.h"

enum { ROW_WARP_MOST = 1024 };

static int describe(enum op op, const struct kargs *k, const struct operand *label, const struct target *t,
                    struct launch *l)
{
    const struct operand *in = &k->in[0], *out = &k->out[0];
    struct row_params p = {.in = in->offset, .out = out->offset, .node = k->node};
    int outer = in->rank - 1;
    if (outer < 0) {
        return CUDA_UNSUPPORTED;
    }
    walk_make(&p.rows, outer, in->dim, 3,
              (const int64_t *const[]){in->stride, label ? label->stride : out->stride, out->stride});
    p.k = in->dim[outer];
    p.in_stride = in->stride[outer];
    p.out_stride = op == OP_softmax ? out->stride[outer] : 0;
    if (label) {
        p.label = label->offset;
        p.control = control_operand(k)->offset;
    }
    if (p.rows.n == 0 || (p.k == 0 && op == OP_softmax)) {
        return 0;
    }
    bool block = p.k > ROW_WARP_MOST;
    int64_t blocks = block ? grid_for(t, p.rows.n, 1) : grid_for(t, p.rows.n, ROW_THREADS / 32);
    return launch_make(l, cuda_row_function(op, in->dtype, block), blocks, 1, ROW_THREADS, 1, &p, sizeof p);
}

#define ROW_OP(name, label)                                                                                  \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return max < 1 ? CUDA_UNSUPPORTED : describe(OP_##name, k, label, t, l);                             \
    }
ROW_OP(softmax, NULL)
ROW_OP(logsumexp, NULL)
ROW_OP(xent, &k->in[1])
ROW_OP(argmax, NULL)
