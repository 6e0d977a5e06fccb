/* Elementwise kernels over bf16. */
#include "kernels/cuda/elem.cuh"

extern "C" const void *cuda_elem_bf16(int op, int out, int vector)
{
    return elem_function<bf16>(op, out, vector);
}
