/* Description of solve_spd: a block for each matrix. */
#include "kernels/cuda/describe.h"

int cuda_solve_spd(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_solve_spd(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *a = &k->in[0], *b = &k->in[1];
    if (max < 1 || a->rank < 2) {
        return CUDA_UNSUPPORTED;
    }
    struct solve_params p = {.a = a->offset,
                             .b = b->offset,
                             .out = k->out[0].offset,
                             .work = k->work,
                             .matrices = 1,
                             .m = a->dim[a->rank - 1],
                             .n = b->dim[b->rank - 1]};
    for (int i = 0; i + 2 < a->rank; i++) {
        p.matrices *= a->dim[i];
    }
    if (operand_count(&k->out[0]) == 0) {
        return 0;
    }
    return launch_make(l, cuda_solve_function(a->dtype), grid_for(t, p.matrices, 1), 1, 128, 1, &p, sizeof p);
}
