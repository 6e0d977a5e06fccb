/* What the arena holds, told to a tool that watches memory (compute-sanitizer) through NVTX: the part of
 * struct cuda_api that goes neither to the CUDA runtime nor to cublasLt. Without such a tool the calls are
 * no-ops of NVTX's headers, and heap_open gives NULL. */
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include "runtime/exec/cuda/cuda_tool.h"

static nvtxDomainHandle_t domain(void)
{
    static nvtxDomainHandle_t made;
    if (!made) {
        made = nvtxDomainCreateA("gml");
    }
    return made;
}

int heap_open(void *ctx, void *at, uint64_t bytes, void **out)
{
    (void)ctx;
    nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = at};
    nvtxMemHeapDesc_t d = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                           .structSize = sizeof d,
                           .usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                           .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                           .typeSpecificDescSize = sizeof range,
                           .typeSpecificDesc = &range};
    nvtxMemHeapHandle_t heap = nvtxMemHeapRegister(domain(), &d);
    *out = heap == NVTX_MEM_HEAP_HANDLE_NO_TOOL ? NULL : (void *)heap;
    return 0;
}

int heap_close(void *ctx, void *heap)
{
    (void)ctx;
    nvtxMemHeapUnregister(domain(), heap);
    return 0;
}

int region_open(void *ctx, void *heap, void *at, uint64_t bytes)
{
    (void)ctx;
    nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = at};
    nvtxMemRegionsRegisterBatch_t d = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                       .structSize = sizeof d,
                                       .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                       .heap = heap,
                                       .regionCount = 1,
                                       .regionDescElementSize = sizeof range,
                                       .regionDescElements = &range};
    nvtxMemRegionsRegister(domain(), &d);
    return 0;
}

int region_close(void *ctx, void *at)
{
    (void)ctx;
    nvtxMemRegionRef_t region = {.pointer = at};
    nvtxMemRegionsUnregisterBatch_t d = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                         .structSize = sizeof d,
                                         .refType = NVTX_MEM_REGION_REF_TYPE_POINTER,
                                         .refCount = 1,
                                         .refElementSize = sizeof region,
                                         .refElements = &region};
    nvtxMemRegionsUnregister(domain(), &d);
    return 0;
}

int region_written(void *ctx, void *at, uint64_t bytes, void *stream)
{
    (void)ctx;
    nvtxMemVirtualRangeDesc_t range = {.size = bytes, .ptr = at};
    nvtxMemMarkInitializedBatch_t d = {.extCompatID = NVTX_EXT_COMPATID_MEM,
                                       .structSize = sizeof d,
                                       .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                       .regionDescCount = 1,
                                       .regionDescElementSize = sizeof range,
                                       .regionDescElements = &range};
    nvtxMemCudaMarkInitialized(domain(), stream, 0, &d);
    return 0;
}
