/* Elementwise kernels over f64. */
#include "kernels/cuda/elem.cuh"

extern "C" const void *cuda_elem_f64(int op, int out, int vector)
{
    return elem_function<double>(op, out, vector);
}
