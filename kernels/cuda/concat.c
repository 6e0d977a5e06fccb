/* Description of concat: one copy for each part. */
#include "kernels/cuda/describe.h"

int cuda_concat(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_concat(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    int axis = (int)k->attr[0], n = 0;
    struct operand place = k->out[0];
    for (int i = 0; i < k->n_in; i++) {
        const struct operand *in = &k->in[i];
        place.dim[axis] = in->dim[axis];
        int made = n < max ? describe_copy(in, &place, t, &l[n]) : CUDA_UNSUPPORTED;
        if (made < 0) {
            return CUDA_UNSUPPORTED;
        }
        n += made;
        place.offset += (uint64_t)(in->dim[axis] * place.stride[axis]) * dtype_size((enum dtype)in->dtype);
    }
    return n;
}
