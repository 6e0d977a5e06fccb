/* struct cuda_api over the static CUDA runtime. Thin: one call each, handles cast, no state. cublasLt is in
 * cuda_library_real.c, NVTX in cuda_tool_real.c. */
#include <stdio.h>
#include <cuda_runtime_api.h>
#include "runtime/exec/cuda/cuda_library.h"
#include "runtime/exec/cuda/cuda_nvrtc.h"
#include "runtime/exec/cuda/cuda_tool.h"

#define UNUSED_CTX (void)ctx

static int device_count(void *ctx, int *out)
{
    UNUSED_CTX;
    int code = (int)cudaGetDeviceCount(out);
    if (code == CUDA_NO_DEVICE) {
        *out = 0;
        code = 0;
    }
    return code;
}
static bool early; /* whether kernels of the open device may start before the one in front of them ends */

static int device_open(void *ctx, int device)
{
    UNUSED_CTX;
    int major = 0, code = (int)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    early = major >= 9;
    return code ? code : (int)cudaSetDevice(device);
}
static int device_info(void *ctx, int device, struct cuda_device *out)
{
    UNUSED_CTX;
    struct cudaDeviceProp p;
    int code = (int)cudaGetDeviceProperties(&p, device);
    if (code) {
        return code;
    }
    snprintf(out->name, sizeof out->name, "%s", p.name);
    out->sm = 10 * p.major + p.minor;
    out->n_sm = p.multiProcessorCount;
    code = (int)cudaDriverGetVersion(&out->driver);
    return code ? code : (int)cudaRuntimeGetVersion(&out->runtime);
}
static int memory_info(void *ctx, uint64_t *available, uint64_t *total)
{
    UNUSED_CTX;
    size_t f = 0, t = 0;
    int code = (int)cudaMemGetInfo(&f, &t);
    *available = f;
    *total = t;
    return code;
}
static int device_alloc(void *ctx, uint64_t bytes, void **out)
{
    UNUSED_CTX;
    return (int)cudaMalloc(out, bytes);
}
static int device_free(void *ctx, void *p)
{
    UNUSED_CTX;
    return (int)cudaFree(p);
}
static int host_alloc(void *ctx, uint64_t bytes, void **host, void **device)
{
    UNUSED_CTX;
    int code = (int)cudaHostAlloc(host, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (code) {
        return code;
    }
    code = (int)cudaHostGetDevicePointer(device, *host, 0);
    if (code) {
        cudaFreeHost(*host);
        *host = NULL;
    }
    return code;
}
static int host_free(void *ctx, void *p)
{
    UNUSED_CTX;
    return (int)cudaFreeHost(p);
}
static int fill(void *ctx, void *at, int byte, uint64_t bytes, void *stream)
{
    UNUSED_CTX;
    return (int)cudaMemsetAsync(at, byte, bytes, stream);
}
static int to_device(void *ctx, void *to, const void *from, uint64_t bytes, void *stream)
{
    UNUSED_CTX;
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
}
static int to_host(void *ctx, void *to, const void *from, uint64_t bytes, void *stream)
{
    UNUSED_CTX;
    return (int)cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
}
static int stream_create(void *ctx, void **out)
{
    UNUSED_CTX;
    return (int)cudaStreamCreateWithFlags((cudaStream_t *)out, cudaStreamNonBlocking);
}
static int stream_destroy(void *ctx, void *stream)
{
    UNUSED_CTX;
    return (int)cudaStreamDestroy(stream);
}
static int stream_sync(void *ctx, void *stream)
{
    UNUSED_CTX;
    return (int)cudaStreamSynchronize(stream);
}
static int stream_query(void *ctx, void *stream)
{
    UNUSED_CTX;
    return (int)cudaStreamQuery(stream);
}
static int event_create(void *ctx, void **out)
{
    UNUSED_CTX;
    return (int)cudaEventCreate((cudaEvent_t *)out);
}
static int event_destroy(void *ctx, void *event)
{
    UNUSED_CTX;
    return (int)cudaEventDestroy(event);
}
static int event_record(void *ctx, void *event, void *stream)
{
    UNUSED_CTX;
    return (int)cudaEventRecord(event, stream);
}
static int event_seconds(void *ctx, void *from, void *to, double *out)
{
    UNUSED_CTX;
    float ms = 0;
    int code = (int)cudaEventElapsedTime(&ms, from, to);
    *out = ms / 1e3;
    return code;
}
/* Modules load lazily; asking for a function's attributes loads it. More than 48 KiB of shared memory and
 * clusters of more than eight blocks must be allowed. */
static int function_load(void *ctx, const struct launch *l)
{
    UNUSED_CTX;
    struct cudaFuncAttributes a;
    int code = (int)cudaFuncGetAttributes(&a, l->function);
    if (!code && l->shared > 48 * 1024) {
        code = (int)cudaFuncSetAttribute(l->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)l->shared);
    }
    if (!code && l->cluster > 8) {
        code = (int)cudaFuncSetAttribute(l->function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    }
    return code;
}

static dim3 dim3_of(const uint32_t *n)
{
    dim3 d = {n[0], n[1], n[2]};
    return d;
}
static cudaLaunchAttribute cluster_of(const struct launch *l)
{
    cudaLaunchAttribute a = {.id = cudaLaunchAttributeClusterDimension};
    a.val.clusterDim.x = l->cluster;
    a.val.clusterDim.y = 1;
    a.val.clusterDim.z = 1;
    return a;
}
static int kernel_launch(void *ctx, const struct launch *l, void *arena, void *stream)
{
    UNUSED_CTX;
    void *args[] = {&arena, (void *)l->params};
    cudaLaunchAttribute cluster = cluster_of(l);
    cudaLaunchConfig_t c = {.gridDim = dim3_of(l->grid),
                            .blockDim = dim3_of(l->block),
                            .dynamicSmemBytes = l->shared,
                            .stream = stream,
                            .attrs = &cluster,
                            .numAttrs = l->cluster ? 1 : 0};
    return (int)cudaLaunchKernelExC(&c, l->function, args);
}

static int graph_create(void *ctx, void **out)
{
    UNUSED_CTX;
    return (int)cudaGraphCreate((cudaGraph_t *)out, 0);
}
static int graph_destroy(void *ctx, void *graph)
{
    UNUSED_CTX;
    return (int)cudaGraphDestroy(graph);
}
/* Edges of captured kernels may carry data; only then it is passed on. */
static const cudaGraphEdgeData *edges_of(const struct cuda_tail *tail, cudaGraphEdgeData *out)
{
    const cudaGraphEdgeData *used = NULL;
    static const unsigned char zero[8];
    for (int i = 0; i < tail->n; i++) {
        memcpy(&out[i], tail->edge[i], sizeof out[i]);
        if (memcmp(tail->edge[i], zero, sizeof zero) != 0) {
            used = out;
        }
    }
    return used;
}
/* Every kernel of gml waits for the one in front of it by itself (kernels/vocab.h), so between two of them
 * only the start is ordered. Library kernels and conditional nodes wait for an end, and have theirs waited
 * for. */
static const cudaGraphEdgeData *edges_to_kernel(const struct cuda_tail *tail, cudaGraphEdgeData *out)
{
    if (early && tail->kernel) {
        *out = (cudaGraphEdgeData){.from_port = cudaGraphKernelNodePortProgrammatic,
                                   .type = cudaGraphDependencyTypeProgrammatic};
        return out;
    }
    return edges_of(tail, out);
}
static int node_add(void *ctx, void *graph, struct cuda_tail *tail, const struct launch *l, void *arena)
{
    UNUSED_CTX;
    _Static_assert(sizeof(cudaGraphEdgeData) == 8, "struct cuda_tail keeps eight bytes for an edge");
    cudaGraphEdgeData edge[CUDA_TAIL];
    void *args[] = {&arena, (void *)l->params};
    struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeKernel};
    p.kernel.func = (void *)l->function;
    p.kernel.gridDim = dim3_of(l->grid);
    p.kernel.blockDim = dim3_of(l->block);
    p.kernel.sharedMemBytes = l->shared;
    p.kernel.kernelParams = args;
    cudaGraphNode_t node = NULL;
    int code = (int)cudaGraphAddNode(&node, graph, (const cudaGraphNode_t *)tail->node,
                                     edges_to_kernel(tail, edge), (size_t)tail->n, &p);
    if (!code && l->cluster) {
        cudaLaunchAttribute cluster = cluster_of(l);
        code = (int)cudaGraphKernelNodeSetAttribute(node, cluster.id, &cluster.val);
    }
    if (!code) {
        *tail = (struct cuda_tail){.node = {node}, .n = 1, .kernel = true};
    }
    return code;
}
static int condition_create(void *ctx, void *graph, uint64_t *out)
{
    UNUSED_CTX;
    cudaGraphConditionalHandle handle = 0;
    int code = (int)cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
    *out = handle;
    return code;
}
static int conditional_add(void *ctx, void *graph, struct cuda_tail *tail, uint64_t condition, bool loops,
                           void **body)
{
    UNUSED_CTX;
    cudaGraphEdgeData edge[CUDA_TAIL];
    struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeConditional};
    p.conditional.handle = condition;
    p.conditional.type = loops ? cudaGraphCondTypeWhile : cudaGraphCondTypeIf;
    p.conditional.size = 1;
    cudaGraphNode_t node = NULL;
    int code = (int)cudaGraphAddNode(&node, graph, (const cudaGraphNode_t *)tail->node, edges_of(tail, edge),
                                     (size_t)tail->n, &p);
    if (!code) {
        *tail = (struct cuda_tail){.node = {node}, .n = 1};
        *body = p.conditional.phGraph_out[0];
    }
    return code;
}
static int node_set(void *ctx, void *node, const struct launch *l, void *arena)
{
    UNUSED_CTX;
    void *args[] = {&arena, (void *)l->params};
    struct cudaKernelNodeParams p = {.func = (void *)l->function,
                                     .gridDim = dim3_of(l->grid),
                                     .blockDim = dim3_of(l->block),
                                     .sharedMemBytes = l->shared,
                                     .kernelParams = args};
    return (int)cudaGraphKernelNodeSetParams(node, &p);
}
static int graph_nodes(void *ctx, void *graph, uint64_t *out)
{
    UNUSED_CTX;
    size_t n = 0;
    int code = (int)cudaGraphGetNodes(graph, NULL, &n);
    *out = n;
    return code;
}
static int capture_begin(void *ctx, void *stream, void *graph, const struct cuda_tail *tail)
{
    UNUSED_CTX;
    cudaGraphEdgeData edge[CUDA_TAIL];
    return (int)cudaStreamBeginCaptureToGraph(stream, graph, (const cudaGraphNode_t *)tail->node,
                                              edges_of(tail, edge), (size_t)tail->n,
                                              cudaStreamCaptureModeThreadLocal);
}
/* What a further captured call would depend on is where the graph ends now. */
static int captured_tail(cudaStream_t stream, struct cuda_tail *tail)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *node = NULL;
    const cudaGraphEdgeData *edge = NULL;
    size_t n = 0;
    int code = (int)cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &node, &edge, &n);
    if (code) {
        return code;
    }
    if (status != cudaStreamCaptureStatusActive || n > CUDA_TAIL) {
        return (int)cudaErrorStreamCaptureInvalidated;
    }
    *tail = (struct cuda_tail){.n = (int)n};
    for (size_t i = 0; i < n; i++) {
        tail->node[i] = node[i];
        if (edge) {
            memcpy(tail->edge[i], &edge[i], sizeof edge[i]);
        }
    }
    return 0;
}
static int capture_end(void *ctx, void *stream, struct cuda_tail *tail)
{
    UNUSED_CTX;
    cudaGraph_t graph = NULL;
    int code = captured_tail(stream, tail);
    int end = (int)cudaStreamEndCapture(stream, &graph);
    return code ? code : end;
}
static int exec_create(void *ctx, void *graph, void **out)
{
    UNUSED_CTX;
    return (int)cudaGraphInstantiate((cudaGraphExec_t *)out, graph, 0);
}
static int exec_upload(void *ctx, void *exec, void *stream)
{
    UNUSED_CTX;
    return (int)cudaGraphUpload(exec, stream);
}
static int exec_launch(void *ctx, void *exec, void *stream)
{
    UNUSED_CTX;
    return (int)cudaGraphLaunch(exec, stream);
}
static int exec_destroy(void *ctx, void *exec)
{
    UNUSED_CTX;
    return (int)cudaGraphExecDestroy(exec);
}

static int compiler_find(void *ctx, const char *path, char *identity)
{
    return nvrtc_find(ctx, path, identity);
}
static int compiler_open(void *ctx, const char *path, void **out)
{
    return nvrtc_open(ctx, path, out);
}
static int compiler_close(void *ctx, void *compiler)
{
    return nvrtc_close(ctx, compiler);
}
static int compile(void *ctx, void *compiler, const char *source, int sm, struct cuda_cubin *out)
{
    return nvrtc_compile(ctx, compiler, source, sm, out);
}
static int module_load(void *ctx, const void *cubin, void **out)
{
    UNUSED_CTX;
    return (int)cudaLibraryLoadData((cudaLibrary_t *)out, cubin, NULL, NULL, 0, NULL, NULL, 0);
}
static int module_kernel(void *ctx, void *module, const char *name, const void **out)
{
    UNUSED_CTX;
    return (int)cudaLibraryGetKernel((cudaKernel_t *)out, module, name);
}
static int module_close(void *ctx, void *module)
{
    UNUSED_CTX;
    return (int)cudaLibraryUnload(module);
}

static const char *error_text(void *ctx, int code)
{
    UNUSED_CTX;
    if (code >= CUDA_COMPILER) {
        return nvrtc_error_text(code);
    }
    if (code >= CUDA_LIBRARY) {
        return library_error_text(code);
    }
    const char *text = cudaGetErrorString((cudaError_t)code);
    return text ? text : "unknown error";
}

const struct cuda_api *cuda_api_real(void)
{
    static const struct cuda_api api = {
        .error_text = error_text,
        .blas_text = blas_text,
#define CALL(name, text, params, args, count) .name = name,
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
    };
    return &api;
}
