/* Descriptions of loop_in and loop_put, and of the two launches that make a loop: its counter set, and moved
 * on at the end of an iteration. */
#include "kernels/cuda/describe.h"

/* Part of `whole` along axis 0 beside `part`; `in` is the operand that is read. */
static int part_launch(const struct kargs *k, const struct operand *whole, const struct operand *part,
                       bool read, const struct target *t, struct launch *l)
{
    struct loop_params p = {.whole = whole->offset,
                            .part = part->offset,
                            .index = k->in[1].offset,
                            .step = whole->stride[0],
                            .read = read};
    const int64_t *stride[] = {whole->stride + 1, part->stride};
    walk_make(&p.walk, part->rank, part->dim, 2, stride);
    return p.walk.n == 0 ? 0
                         : launch_make(l, cuda_loop_function(LOOP_PART, part->dtype),
                                       grid_for(t, p.walk.n, 256), 1, 256, 1, &p, sizeof p);
}

int cuda_loop_in(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_loop_in(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    return max < 1 ? CUDA_UNSUPPORTED : part_launch(k, &k->in[0], &k->out[0], true, t, l);
}

int cuda_loop_put(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_loop_put(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    return max < 1 ? CUDA_UNSUPPORTED : part_launch(k, &k->out[0], &k->in[0], false, t, l);
}

int cuda_loop_opens(const struct plan_loop *loop, uint64_t condition, struct launch *l)
{
    struct loop_params p = {
        .index = loop->counter, .first = loop->reverse ? loop->count - 1 : 0, .condition = condition};
    return loop->count < 1
               ? 0
               : launch_make(l, cuda_loop_function(LOOP_BEGIN, DT_NONE), 1, 1, 1, 1, &p, sizeof p);
}

int cuda_loop_turns(const struct plan_loop *loop, uint64_t condition, struct launch *l)
{
    struct loop_params p = {.index = loop->counter,
                            .step = loop->reverse ? -1 : 1,
                            .end = loop->reverse ? -1 : loop->count,
                            .condition = condition};
    return launch_make(l, cuda_loop_function(LOOP_END, DT_NONE), 1, 1, 1, 1, &p, sizeof p);
}
