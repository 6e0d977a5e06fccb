/* --audit: what the host asked the driver for. CUPTI tells of every driver call of the process; without it
 * the calls that this executor makes through struct cuda_api count, and the source of the counts says so. */
#include "runtime/exec/cuda/cuda_exec.h"

enum counted { LAUNCH, COPY_IN, COPY_OUT, COPY_ANY, NOTHING, SYNC, ALLOCATION, GRAPH_UPDATE };
/* The first row whose text a name begins with decides; other calls ask for nothing that counts (queries,
 * events, attributes). Copies of which the name does not tell the direction count both ways. */
static const struct {
    const char *begins;
    enum counted what;
} rows[] = {
    {"cuGraphLaunch", LAUNCH},
    {"cuLaunch", LAUNCH},
    {"cuMemcpyHtoD", COPY_IN},
    {"cuMemcpyDtoH", COPY_OUT},
    {"cuMemcpyDtoD", NOTHING},
    {"cuMemcpy", COPY_ANY},
    {"cuStreamSynchronize", SYNC},
    {"cuCtxSynchronize", SYNC},
    {"cuEventSynchronize", SYNC},
    {"cuMemAlloc", ALLOCATION},
    {"cuMemHostAlloc", ALLOCATION},
    {"cuMemHostRegister", ALLOCATION},
    {"cuMemCreate", ALLOCATION},
    {"cuMemFree", ALLOCATION},
    {"cuGraphExecDestroy", NOTHING},
    {"cuGraphExec", GRAPH_UPDATE},
    {"cuGraphInstantiate", GRAPH_UPDATE},
    {"cuGraphAdd", GRAPH_UPDATE},
    {"cuGraphKernelNodeSet", GRAPH_UPDATE},
    {"cuGraphMemcpyNodeSet", GRAPH_UPDATE},
    {"cuGraphMemsetNodeSet", GRAPH_UPDATE},
    {"cuGraphNodeSet", GRAPH_UPDATE},
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

void cuda_audit_call(struct exec_counts *n, const char *name, uint64_t calls, uint64_t bytes)
{
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && !begins(name, rows[i].begins)) {
        i++;
    }
    if (i == sizeof rows / sizeof *rows) {
        return;
    }
    enum counted what = rows[i].what;
    bool copy = what == COPY_IN || what == COPY_OUT || what == COPY_ANY;
    n->launches += what == LAUNCH ? calls : 0;
    n->bytes_h2d += what == COPY_IN || what == COPY_ANY ? bytes : 0;
    n->bytes_d2h += what == COPY_OUT || what == COPY_ANY ? bytes : 0;
    n->syncs += what == SYNC || (copy && !strstr(name, "Async")) ? calls : 0;
    n->allocations += what == ALLOCATION ? calls : 0;
    n->graph_updates += what == GRAPH_UPDATE ? calls : 0;
}

enum status cuda_audit_open(struct exec *e)
{
    e->counter.audit = e->options.audit;
    if (e->options.audit) {
        int code = e->api.audit_open(e->api.ctx, e->options.cuda_path, &e->audit);
        if (code && code != CUDA_LIBRARY_MISSING) {
            return cuda_failed(e, CUDA_CALL_audit_open, code);
        }
    }
    return ST_OK;
}

void cuda_counts(struct exec *e, struct exec_counts *out, bool reset)
{
    struct exec_counts *n = &e->counter.n;
    *out = *n;
    if (e->audit && e->api.audit_read(e->api.ctx, e->audit, out, reset) == 0) {
        out->source = "cupti";
    }
    out->walk = n->walk;
    out->walk.host += e->counter.walk_code != 0; /* not seen is not clean */
    out->kernels_per_launch = e->kernels;
    if (reset) {
        *n = (struct exec_counts){.walk = n->walk, .source = n->source};
    }
}
