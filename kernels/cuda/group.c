/* The launch of a generated kernel (kernels/codegen): always one, whatever the form. */
#include "kernels/cuda/describe.h"

int cuda_group_launch(const struct kargs *k, const struct codegen_schedule *s, const void *function,
                      uint64_t counters, struct launch *l)
{
    uint64_t places[CODEGEN_PLACES];
    int n = codegen_places(k, counters, places);
    return n == 0 ? CUDA_UNSUPPORTED
                  : launch_make(l, function, s->blocks, s->segments > 0 ? s->segments : 1,
                                (uint32_t)s->threads, 1, places, (size_t)n * sizeof *places);
}
