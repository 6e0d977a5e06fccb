/* Kernels with one mistake each, for gpu_planted.c. */
#include "tools/gpu_planted.h"

enum { THREADS = 128 };

/* Each thread writes its element and reads that of a thread of another warp, with no barrier between. */
__global__ static void races(float *out)
{
    __shared__ float shared[THREADS];
    shared[threadIdx.x] = (float)threadIdx.x;
    out[threadIdx.x] = shared[(threadIdx.x + 64) % THREADS];
}

/* A barrier that half of the threads never reach. */
__global__ static void diverges(float *out)
{
    if (threadIdx.x < THREADS / 2 + 1) {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

extern "C" int planted_kernel(int which)
{
    float *out;
    if (cudaMalloc(&out, THREADS * sizeof *out) != cudaSuccess) {
        return 1;
    }
    if (which == PLANTED_RACE) {
        races<<<1, THREADS>>>(out);
    } else {
        diverges<<<1, THREADS>>>(out);
    }
    int code = cudaDeviceSynchronize() != cudaSuccess;
    cudaFree(out);
    return code;
}
