/* Descriptions of the scans along an axis. Where lanes are rows of adjacent elements a warp takes a lane, 32
 * elements at a time; else a thread takes a lane and neighbours read neighbours. Attributes: axis, reverse.
 */
#include "kernels/cuda/describe.h"

enum { LANE_THREADS = 128 };

static int describe(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    const struct operand *out = &k->out[0];
    int axis = (int)k->attr[0];
    struct scan_params p = {.a = k->in[0].offset,
                            .b = k->in[k->n_in - 1].offset,
                            .out = out->offset,
                            .lanes = 1,
                            .length = out->dim[axis],
                            .inner = 1,
                            .reverse = k->attr[1] != 0};
    for (int i = 0; i < out->rank; i++) {
        p.lanes *= i == axis ? 1 : out->dim[i];
        p.inner *= i > axis ? out->dim[i] : 1;
    }
    if (p.lanes * p.length == 0) {
        return 0;
    }
    bool rows = p.inner == 1 && op != OP_linear_scan;
    int64_t per = rows ? LANE_THREADS / 32 : LANE_THREADS;
    return launch_make(l, cuda_scan_function(op, out->dtype, rows), grid_for(t, p.lanes, per), 1,
                       LANE_THREADS, 1, &p, sizeof p);
}

#define SCAN_OP(name)                                                                                        \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return max < 1 ? CUDA_UNSUPPORTED : describe(OP_##name, k, t, l);                                    \
    }
SCAN_OP(cumsum)
SCAN_OP(cumprod)
SCAN_OP(cummax)
SCAN_OP(linear_scan)
