/* The parts of arrays that an iteration of a loop reads and writes, and the counter of the loop. The
 * beginning and the end of each iteration tell the WHILE node of the graph whether there is another one. */
#include <cuda_runtime.h>
#include "kernels/cuda/device.cuh"

template <class T> __global__ void part_kernel(char *arena, const __grid_constant__ struct loop_params p)
{
    wait_for_previous();
    int64_t first = p.step * *(const int32_t *)(arena + p.index);
    T *whole = (T *)(arena + p.whole) + first, *part = (T *)(arena + p.part);
    for (int64_t i = thread_index(); i < p.walk.n; i += thread_count()) {
        int64_t at[2];
        walk_any<2>(p.walk, i, at);
        if (p.read) {
            part[at[1]] = whole[at[0]];
        } else {
            whole[at[0]] = part[at[1]];
        }
    }
}

__global__ void begin_kernel(char *arena, const __grid_constant__ struct loop_params p)
{
    wait_for_previous();
    *(int32_t *)(arena + p.index) = (int32_t)p.first;
    if (p.condition) { /* what the last run of this loop left is 0: a loop inside of a loop runs again */
        cudaGraphSetConditional((cudaGraphConditionalHandle)p.condition, 1);
    }
}

__global__ void end_kernel(char *arena, const __grid_constant__ struct loop_params p)
{
    wait_for_previous();
    int32_t next = *(int32_t *)(arena + p.index) + (int32_t)p.step;
    *(int32_t *)(arena + p.index) = next;
    if (p.condition) {
        cudaGraphSetConditional((cudaGraphConditionalHandle)p.condition, next != (int32_t)p.end);
    }
}

extern "C" const void *cuda_loop_function(enum loop_step step, int dtype)
{
    if (step == LOOP_BEGIN) {
        return (const void *)begin_kernel;
    }
    if (step == LOOP_END) {
        return (const void *)end_kernel;
    }
    switch (dtype) {
    case DT_BOOL:
        return (const void *)part_kernel<uint8_t>;
    case DT_BF16:
        return (const void *)part_kernel<uint16_t>;
    case DT_F64:
        return (const void *)part_kernel<uint64_t>;
    default:
        return (const void *)part_kernel<uint32_t>;
    }
}
