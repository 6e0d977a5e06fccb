/* step, knob and the steps of segments: one thread each. metric and the tick: one for each value, of one
 * block. Built without fused multiply-add, so that the f64 metrics and counters of the tick are those of the
 * CPU to the bit. */
#include <cuda_runtime.h>
#include "kernels/cuda/device.cuh"
#include "kernels/segment.h"
#include "kernels/tick.h"

__device__ __forceinline__ void put_number(char *at, int dtype, double x)
{
    if (dtype == DT_F32) {
        *(float *)at = (float)x;
    } else if (dtype == DT_F64) {
        *(double *)at = x;
    } else if (dtype == DT_BF16) {
        *(bf16 *)at = bf16_round((float)x);
    } else if (dtype == DT_I32) {
        *(int32_t *)at = to_i32(x);
    } else {
        *(uint8_t *)at = to_bool(x);
    }
}

__global__ void step_kernel(char *arena, const __grid_constant__ struct control_params p)
{
    wait_for_previous();
    const struct phase_control *c = &((const struct control *)(arena + p.control))->phase[p.a];
    int64_t n = p.b == 0 ? c->step : p.b == 1 ? c->steps : p.b == 2 ? c->epoch : c->cursor;
    n = n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : n;
    *(int32_t *)(arena + p.out) = (int32_t)n;
}
__global__ void knob_kernel(char *arena, const __grid_constant__ struct control_params p)
{
    wait_for_previous();
    put_number(arena + p.out, p.dtype, ((const struct control *)(arena + p.control))->knob[p.a]);
}
__global__ void metric_kernel(char *arena, const __grid_constant__ struct control_params p)
{
    wait_for_previous();
    const struct metric_control *m = &((const struct control *)(arena + p.control))->metric[p.b];
    for (int i = (int)threadIdx.x; i < p.n; i += (int)blockDim.x) {
        put_number(arena + p.out + (uint64_t)i * p.size, p.dtype, m[i].last);
    }
}

__global__ void tick_kernel(char *arena, const __grid_constant__ struct tick_params p)
{
    wait_for_previous();
    tick(arena, &p.args, (struct ring *)p.ring, (int)threadIdx.x, (int)blockDim.x);
}

/* The command lies in the host's memory: every word is read from there. */
__device__ int segment_takes(char *arena, const struct segment_params &p, struct segment_state *s)
{
    struct ring *ring = (struct ring *)p.ring;
    struct segment_command m;
    volatile const int64_t *from = (const int64_t *)&ring->command[s->launches++ % 2];
    for (size_t i = 0; i < sizeof m / sizeof *from; i++) {
        ((int64_t *)&m)[i] = from[i];
    }
    int more = segment_begin((struct control *)(arena + p.control), s, &m);
    tick_publish((volatile uint64_t *)&ring->begun, (uint64_t)s->launches);
    return more;
}
__global__ void segment_kernel(char *arena, const __grid_constant__ struct segment_params p)
{
    wait_for_previous();
    struct control *c = (struct control *)(arena + p.control);
    struct segment_state *s = (struct segment_state *)(arena + p.state);
    int yes = p.step == SEGMENT_BEGINS ? segment_takes(arena, p, s)
                                       : segment_step(p.step, c, s, &p.node, arena + p.value, p.is_f32);
    if (p.condition) {
        cudaGraphSetConditional((cudaGraphConditionalHandle)p.condition, (unsigned)yes);
    }
}

extern "C" const void *cuda_segment_function(void)
{
    return (const void *)segment_kernel;
}
extern "C" const void *cuda_control_function(int op)
{
    switch (op) {
    case OP_step:
        return (const void *)step_kernel;
    case OP_knob:
        return (const void *)knob_kernel;
    case OP_metric:
        return (const void *)metric_kernel;
    default:
        return nullptr;
    }
}
extern "C" const void *cuda_tick_function(void)
{
    return (const void *)tick_kernel;
}
