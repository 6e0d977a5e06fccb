/* Elementwise kernels over f32, i32 and bool. */
#include "kernels/cuda/elem.cuh"

extern "C" const void *cuda_elem_function(int op, int dtype, int out, int vector)
{
    return dtype == DT_F32    ? elem_function<float>(op, out, vector)
           : dtype == DT_I32  ? elem_function<int32_t>(op, out, vector)
           : dtype == DT_BOOL ? elem_function<bool>(op, out, vector)
           : dtype == DT_F64  ? cuda_elem_f64(op, out, vector)
           : dtype == DT_BF16 ? cuda_elem_bf16(op, out, vector)
                              : nullptr;
}
