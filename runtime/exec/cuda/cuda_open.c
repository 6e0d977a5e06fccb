/* Opening the device, its memory, and closing: everything the executor owns is released in cuda_close,
 * whatever failed before. */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include "runtime/base/seam.h"
#include "runtime/exec/cuda/cuda_exec.h"

enum { OLDEST_DRIVER = 13000 };

enum status cuda_error(struct exec *e, enum status s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(e->error, sizeof e->error, fmt, args);
    va_end(args);
    return s;
}

enum status cuda_failed(struct exec *e, enum cuda_call call, int code)
{
    enum status s = code == CUDA_NO_MEMORY ? ST_RESOURCE : ST_DEVICE;
    return cuda_error(e, s, "%s: %s", cuda_call_name[call], e->api.error_text(e->api.ctx, code));
}

const char *cuda_error_text(struct exec *e)
{
    return e->error;
}

const char *cuda_warning_text(struct exec *e)
{
    return e->warning;
}

const char *cuda_op_text(const struct exec *e, uint32_t variant, uint32_t op, char *buffer, size_t n)
{
    const struct plan_op *o = &e->plan->variant[variant].op[op];
    const struct graph *g = e->plan->graph;
    struct span at = o->node < g->nodes.n ? g->nodes.at[o->node].span : NO_SPAN;
    if (at.file > 0 && at.file < g->sources.list.n) {
        const struct source *s = &g->sources.list.at[at.file];
        uint32_t line = 1;
        for (uint32_t i = 0; i < at.start && i < s->n; i++) {
            line += s->text[i] == '\n';
        }
        snprintf(buffer, n, "`%s` at %s:%u", op_table[o->op].name, s->path, line);
    } else {
        snprintf(buffer, n, "`%s` (node %u)", op_table[o->op].name, o->node);
    }
    return buffer;
}

static enum status check_device(struct exec *e)
{
    int n = 0, code = e->api.device_count(e->api.ctx, &n);
    if (code == CUDA_OLD_DRIVER) {
        return cuda_error(e, ST_DEVICE, "there is no NVIDIA driver for CUDA %d.%d or newer on this machine",
                          OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10);
    }
    if (code) {
        return cuda_failed(e, CUDA_CALL_device_count, code);
    }
    if (n < 1) {
        return cuda_error(e, ST_DEVICE, "this machine has no CUDA device");
    }
    if (e->options.device < 0 || e->options.device >= n) {
        return cuda_error(e, ST_USAGE, "there is no device cuda:%d; this machine has %d", e->options.device,
                          n);
    }
    CUDA_TRY(e, device_info, e->options.device, &e->device);
    if (e->device.driver < OLDEST_DRIVER) {
        return cuda_error(e, ST_DEVICE,
                          "the NVIDIA driver supports CUDA %d.%d; gml needs a driver for CUDA %d.%d or newer",
                          e->device.driver / 1000, e->device.driver % 1000 / 10, OLDEST_DRIVER / 1000,
                          OLDEST_DRIVER % 1000 / 10);
    }
    if (e->device.sm < 90) {
        return cuda_error(e, ST_DEVICE, "%s has compute capability %d.%d; this build is for 9.0 and newer",
                          e->device.name, e->device.sm / 10, e->device.sm % 10);
    }
    CUDA_TRY(e, device_open, e->options.device);
    return ST_OK;
}

/* Reading the library from disk takes as long as making the context, so both are done at once. */
static void *load_library(void *exec)
{
    struct exec *e = exec;
    e->api.blas_load(e->api.ctx, e->options.cuda_path);
    return NULL;
}

static enum status open_context(struct exec *e)
{
    double start = clock_seam.seconds();
    TRY(check_device(e));
    CUDA_TRY(e, stream_create, &e->stream);
    e->context_seconds = clock_seam.seconds() - start;
    return ST_OK;
}

static enum status open_loading(struct exec *e)
{
    pthread_t thread;
    bool loads = !e->options.no_products && pthread_create(&thread, NULL, load_library, e) == 0;
    enum status st = open_context(e);
    if (loads) {
        pthread_join(thread, NULL);
    }
    return st;
}

/* What counts are the words that say which launch a slot is of; the rest is megabytes. */
static void clear_ring(struct ring *ring)
{
    for (int i = 0; i < LIMIT_RING_SLOTS; i++) {
        ring->slot[i].seq = 0;
    }
}

static enum status open_all(struct exec *e)
{
    TRY(open_loading(e));
    TRY(cuda_audit_open(e));
    TRY(cuda_parts_open(e));
    CUDA_TRY(e, host_alloc, sizeof(struct ring), (void **)&e->ring, (void **)&e->ring_device);
    clear_ring(e->ring);
    e->ring->begun = 0;
    if (e->options.no_products) {
        return ST_OK;
    }
    int code = e->api.blas_open(e->api.ctx, e->options.cuda_path, &e->library);
    if (code && code != CUDA_LIBRARY_MISSING) {
        return cuda_failed(e, CUDA_CALL_blas_open, code);
    }
    return ST_OK;
}

enum status cuda_open(const struct cuda_api *api, const struct backend *b, const struct exec_options *o,
                      struct exec **out, char *why, size_t why_n)
{
    struct exec *e = mem_alloc(sizeof *e);
    e->backend = b;
    e->options = *o;
    cuda_count(&e->counter, api, &e->api);
    enum status s = open_all(e);
    if (s != ST_OK) {
        snprintf(why, why_n, "%s", e->error);
        cuda_close(e);
        return s;
    }
    *out = e;
    return ST_OK;
}

enum status cuda_device(struct exec *e, struct exec_device *out)
{
    *out = (struct exec_device){0};
    char identity[CUDA_IDENTITY];
    CUDA_TRY(e, memory_info, &out->free, &out->memory);
    int missing = e->api.compiler_find(e->api.ctx, e->options.cuda_path, identity);
    if (missing && missing != CUDA_COMPILER_MISSING) {
        return cuda_failed(e, CUDA_CALL_compiler_find, missing);
    }
    snprintf(out->name, sizeof out->name, "%.127s", e->device.name);
    snprintf(out->driver, sizeof out->driver, "driver %d.%d, runtime %d.%d, %.60s, %s",
             e->device.driver / 1000, e->device.driver % 1000 / 10, e->device.runtime / 1000,
             e->device.runtime % 1000 / 10,
             e->library ? e->api.blas_text(e->api.ctx, e->library) : "no cublasLt",
             missing ? "no NVRTC: one kernel for each operator" : "NVRTC");
    out->context_seconds = e->context_seconds;
    out->target = (struct target){.name = "cuda",
                                  .sm = e->device.sm,
                                  .n_sm = e->device.n_sm,
                                  .memory = out->free,
                                  .workspace = e->library ? CUDA_WORKSPACE : 0,
                                  .groups = !missing};
    return ST_OK;
}

enum status cuda_arena(struct exec *e, uint64_t bytes)
{
    uint64_t available = 0, total = 0;
    if (e->arena) {
        return cuda_error(e, ST_INTERNAL, "the arena was allocated twice");
    }
    CUDA_TRY(e, memory_info, &available, &total);
    void *p = NULL;
    e->segment_state = (bytes + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    e->counters =
        e->segment_state + (sizeof(struct segment_state) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    uint64_t all = e->counters + CODEGEN_COUNTERS * sizeof(uint32_t);
    int code = e->api.device_alloc(e->api.ctx, all, &p);
    if (code == CUDA_NO_MEMORY) {
        return cuda_error(e, ST_RESOURCE, "the arena needs %.1f MiB; %.1f of %.1f MiB are free on %s",
                          (double)bytes / 1048576, (double)available / 1048576, (double)total / 1048576,
                          e->device.name);
    }
    if (code) {
        return cuda_failed(e, CUDA_CALL_device_alloc, code);
    }
    e->arena = p;
    e->bytes = bytes;
    CUDA_TRY(e, fill, e->arena, 0, all, e->stream);
    CUDA_TRY(e, stream_sync, e->stream);
    return ST_OK;
}

static enum status check_range(struct exec *e, uint64_t offset, uint64_t bytes, const char *what)
{
    if (!e->arena || offset > e->bytes || bytes > e->bytes - offset) {
        return cuda_error(e, ST_INTERNAL, "%s of %llu bytes at %llu: the arena has %llu", what,
                          (unsigned long long)bytes, (unsigned long long)offset,
                          (unsigned long long)e->bytes);
    }
    return ST_OK;
}

/* A new control block says how many launches there were: numbering goes on from there. The stream is idle
 * here. */
static void follow_control(struct exec *e, uint64_t offset, const void *from, uint64_t bytes)
{
    if (!e->plan) {
        return;
    }
    uint64_t at = e->plan->control + offsetof(struct control, launches);
    int64_t launches;
    if (at < offset || at + sizeof launches > offset + bytes) {
        return;
    }
    memcpy(&launches, (const char *)from + (at - offset), sizeof launches);
    e->issued = e->before = e->base = e->read = (uint64_t)launches;
    e->in_segment = false;
    clear_ring(e->ring);
}

enum status cuda_upload(struct exec *e, uint64_t offset, const void *from, uint64_t bytes)
{
    TRY(check_range(e, offset, bytes, "upload"));
    if (bytes > 0) {
        CUDA_TRY(e, to_device, e->arena + offset, from, bytes, e->stream);
        CUDA_TRY(e, stream_sync, e->stream);
        follow_control(e, offset, from, bytes);
    }
    return ST_OK;
}

enum status cuda_download(struct exec *e, uint64_t offset, void *to, uint64_t bytes)
{
    TRY(check_range(e, offset, bytes, "download"));
    if (bytes > 0) {
        CUDA_TRY(e, to_host, to, e->arena + offset, bytes, e->stream);
        CUDA_TRY(e, stream_sync, e->stream);
    }
    return ST_OK;
}

void cuda_close(struct exec *e)
{
    if (!e) {
        return;
    }
    void *ctx = e->api.ctx;
    if (e->stream) {
        e->api.stream_sync(ctx, e->stream);
    }
    cuda_variants_release(e);
    cuda_parts_close(e);
    if (e->audit) {
        e->api.audit_close(ctx, e->audit);
    }
    if (e->library) {
        e->api.blas_close(ctx, e->library);
    }
    if (e->heap) {
        e->api.heap_close(ctx, e->heap);
    }
    if (e->arena) {
        e->api.device_free(ctx, e->arena);
    }
    if (e->ring) {
        e->api.host_free(ctx, e->ring);
    }
    if (e->stream) {
        e->api.stream_destroy(ctx, e->stream);
    }
    mem_free(e, sizeof *e);
}
