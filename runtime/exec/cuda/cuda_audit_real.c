/* CUPTI, opened at run time: callbacks on every driver call of the process, and the walk of a graph. Part of
 * struct cuda_api. Built without CUPTI's headers, audit_open finds nothing. */
#include <dlfcn.h>
#include <stdio.h>
#include <cuda_runtime_api.h>
#include "runtime/exec/cuda/cuda_library.h"

static void count_copy(struct exec_walk *sum, const struct cudaMemcpy3DParms *p)
{
    uint64_t bytes = (uint64_t)p->extent.width * p->extent.height * p->extent.depth;
    sum->copies++;
    sum->bytes_h2d += p->kind == cudaMemcpyHostToDevice || p->kind == cudaMemcpyDefault ? bytes : 0;
    sum->bytes_d2h += p->kind == cudaMemcpyDeviceToHost || p->kind == cudaMemcpyDefault ? bytes : 0;
}

static int walk_node(cudaGraphNode_t node, struct exec_walk *sum)
{
    enum cudaGraphNodeType type;
    struct cudaMemcpy3DParms copy;
    cudaGraph_t child;
    int code = (int)cudaGraphNodeGetType(node, &type);
    if (code) {
        return code;
    }
    switch (type) {
    case cudaGraphNodeTypeKernel:
        sum->kernels++;
        return 0;
    case cudaGraphNodeTypeMemcpy:
        code = (int)cudaGraphMemcpyNodeGetParams(node, &copy);
        if (!code) {
            count_copy(sum, &copy);
        }
        return code;
    case cudaGraphNodeTypeHost:
        sum->host++;
        return 0;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        sum->memory++;
        return 0;
    case cudaGraphNodeTypeGraph:
        code = (int)cudaGraphChildGraphNodeGetGraph(node, &child);
        return code ? code : graph_walk(NULL, child, sum);
    default:
        return 0; /* memset, empty, events, conditions: nothing of the host's */
    }
}

int graph_walk(void *ctx, void *graph, struct exec_walk *sum)
{
    (void)ctx;
    size_t n = 0;
    int code = (int)cudaGraphGetNodes(graph, NULL, &n);
    cudaGraphNode_t *node = mem_alloc((n + 1) * sizeof *node);
    code = code ? code : (int)cudaGraphGetNodes(graph, node, &n);
    for (size_t i = 0; i < n && !code; i++) {
        code = walk_node(node[i], sum);
    }
    mem_free(node, (n + 1) * sizeof *node);
    return code;
}

#if __has_include(<cupti.h>)
#include <cupti.h>

enum { CALLS = 4096 };
struct audit {
    void *file;
    CUpti_SubscriberHandle subscriber;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableDomain) enable;
    __typeof__(&cuptiGetCallbackName) name;
    uint64_t calls[CALLS], bytes[CALLS]; /* by callback id; bytes of copies whose parameters are known */
    uint64_t seen_calls[CALLS], seen_bytes[CALLS];
};

/* A copy of unknown size counts as one byte, so that it shows. */
static uint64_t copy_bytes(CUpti_CallbackId id, const void *p)
{
    switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz:
        return ((const cuMemcpyHtoDAsync_v2_params *)p)->ByteCount;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz:
        return ((const cuMemcpyDtoHAsync_v2_params *)p)->ByteCount;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2:
        return ((const cuMemcpyHtoD_v2_params *)p)->ByteCount;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2:
        return ((const cuMemcpyDtoH_v2_params *)p)->ByteCount;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync:
        return ((const cuMemcpyAsync_params *)p)->ByteCount;
    default:
        return 1;
    }
}

static void CUPTIAPI count(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
    struct audit *a = user;
    const CUpti_CallbackData *d = data;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && d->callbackSite == CUPTI_API_ENTER && id < CALLS) {
        __atomic_fetch_add(&a->calls[id], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&a->bytes[id], copy_bytes(id, d->functionParams), __ATOMIC_RELAXED);
    }
}

static void *open_file(const char *path)
{
    static const char *const places[] = {"%s/libcupti.so.13", "%s/lib64/libcupti.so.13",
                                         "%s/extras/CUPTI/lib64/libcupti.so.13"};
    char full[1024];
    void *file = NULL;
    for (int pass = 0; pass < 2 && !file; pass++) {
        const char *folder = pass ? "/usr/local/cuda" : path;
        for (size_t i = 0; folder && i < sizeof places / sizeof *places && !file; i++) {
            snprintf(full, sizeof full, places[i], folder);
            file = dlopen(full, RTLD_NOW | RTLD_LOCAL);
        }
        file = file || pass ? file : dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    }
    return file;
}

int audit_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    struct audit *a = mem_alloc(sizeof *a);
    *out = NULL;
    a->file = open_file(path);
    if (a->file) {
        *(void **)&a->subscribe = dlsym(a->file, "cuptiSubscribe");
        *(void **)&a->unsubscribe = dlsym(a->file, "cuptiUnsubscribe");
        *(void **)&a->enable = dlsym(a->file, "cuptiEnableDomain");
        *(void **)&a->name = dlsym(a->file, "cuptiGetCallbackName");
    }
    bool whole = a->file && a->subscribe && a->unsubscribe && a->enable && a->name;
    if (whole && a->subscribe(&a->subscriber, (CUpti_CallbackFunc)count, a) == CUPTI_SUCCESS) {
        if (a->enable(1, a->subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS) {
            *out = a;
            return 0;
        }
        a->unsubscribe(a->subscriber);
    }
    mem_free(a, sizeof *a); /* the file stays open */
    return CUDA_LIBRARY_MISSING;
}

int audit_read(void *ctx, void *audit, struct exec_counts *out, bool reset)
{
    (void)ctx;
    struct audit *a = audit;
    *out = (struct exec_counts){0};
    for (CUpti_CallbackId i = 0; i < CALLS; i++) {
        uint64_t calls = __atomic_load_n(&a->calls[i], __ATOMIC_RELAXED) - a->seen_calls[i];
        uint64_t bytes = __atomic_load_n(&a->bytes[i], __ATOMIC_RELAXED) - a->seen_bytes[i];
        const char *name = NULL;
        if (calls && a->name(CUPTI_CB_DOMAIN_DRIVER_API, i, &name) == CUPTI_SUCCESS && name) {
            cuda_audit_call(out, name, calls, bytes);
        }
        if (reset) {
            a->seen_calls[i] += calls;
            a->seen_bytes[i] += bytes;
        }
    }
    return 0;
}

int audit_close(void *ctx, void *audit)
{
    (void)ctx;
    struct audit *a = audit;
    a->unsubscribe(a->subscriber);
    mem_free(a, sizeof *a);
    return 0;
}

#else

int audit_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    (void)path;
    *out = NULL;
    return CUDA_LIBRARY_MISSING;
}
int audit_read(void *ctx, void *audit, struct exec_counts *out, bool reset)
{
    (void)ctx;
    (void)audit;
    (void)out;
    (void)reset;
    return CUDA_LIBRARY_MISSING;
}
int audit_close(void *ctx, void *audit)
{
    (void)ctx;
    (void)audit;
    return 0;
}
#endif
