/* The plugin's one exported symbol: the CUDA executor over the real api. */
#include "runtime/exec/cuda/cuda_exec.h"

static struct backend backend;

static enum status open_real(const struct exec_options *o, struct exec **e, char *why, size_t why_n)
{
    return cuda_open(cuda_api_real(), &backend, o, e, why, why_n);
}

const struct backend *gml_cuda_backend(uint32_t abi);
__attribute__((visibility("default"))) const struct backend *gml_cuda_backend(uint32_t abi)
{
    if (abi != BACKEND_ABI) {
        return NULL;
    }
    backend = cuda_backend_functions;
    backend.open = open_real;
    return &backend;
}
