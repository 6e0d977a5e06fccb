/* Loops by numbers: how many kernels they run, whether they are written out, and how the host counts their
 * iterations when it launches kernel by kernel. */
#include "runtime/exec/cuda/cuda_exec.h"

uint64_t cuda_add_times(uint64_t sum, uint64_t n, uint64_t times)
{
    uint64_t all;
    return __builtin_mul_overflow(n, times, &all) || __builtin_add_overflow(sum, all, &sum) ? UINT64_MAX
                                                                                            : sum;
}

uint64_t cuda_step_kernels(const struct cuda_variant *v, uint32_t from, uint32_t to)
{
    uint64_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        const struct cuda_step *s = &v->step[i];
        n = cuda_add_times(n, s->blas_plan ? 1 : s->n_launch, 1);
        if (s->loop && s->loop->begin == i) {
            uint64_t iteration = cuda_step_kernels(v, i + 1, s->loop->end + 1);
            n = cuda_add_times(n, iteration, (uint64_t)s->loop->count);
            i = s->loop->end;
        }
    }
    return n;
}

bool cuda_unrolls(const struct cuda_variant *v, const struct plan_loop *l)
{
    return cuda_step_kernels(v, l->begin, l->end + 1) <= CUDA_UNROLL;
}

uint32_t cuda_next(struct cuda_variant *v, uint32_t i)
{
    struct cuda_step *s = &v->step[i];
    const struct plan_loop *l = s->loop;
    if (!l) {
        return i + 1;
    }
    if (l->begin == i) {
        v->step[l->end].turns = 0;
        return l->count > 0 ? i + 1 : l->end + 1;
    }
    return ++s->turns < l->count ? l->begin + 1 : i + 1;
}
