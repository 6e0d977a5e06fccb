/* Generated kernels: sources of all groups, then machine code out of the cache or from NVRTC, in parallel,
 * then functions. Groups of the same text have one kernel. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "runtime/exec/cuda/cuda_exec.h"

enum { THREADS = 16 };

static struct cuda_kernel *find_kernel(struct exec *e, const struct codegen_kernel *made)
{
    struct cuda_kernel *k = e->kernels_made;
    while (k && (strcmp(k->made.name, made->name) != 0 || k->made.bytes != made->bytes ||
                 memcmp(k->made.source, made->source, made->bytes) != 0)) {
        k = k->next;
    }
    return k;
}

static void collect_op(struct exec *e, const struct kargs *k, struct cuda_step *s)
{
    struct codegen_kernel made;
    if (!codegen_group(k, e->memory, &made)) {
        return;
    }
    s->schedule = made.schedule;
    s->kernel = find_kernel(e, &made);
    if (!s->kernel) {
        s->kernel = arena_new_of(e->memory, struct cuda_kernel);
        *s->kernel = (struct cuda_kernel){.made = made, .k = k, .next = e->kernels_made};
        e->kernels_made = s->kernel;
        e->n_kernel++;
    }
}

static void collect(struct exec *e)
{
    for (uint32_t v = 0; v < e->n_variant; v++) {
        const struct plan_variant *pv = &e->plan->variant[v];
        for (uint32_t i = 0; i < pv->n_op && !cuda_runs_on_host(e->plan, v); i++) {
            if (pv->op[i].k.group) {
                collect_op(e, &pv->op[i].k, &e->variant[v].step[i]);
            }
        }
    }
}

/* What is missing, shared by the threads that compile it: each takes the next one. */
struct work {
    struct exec *e;
    void *compiler;
    struct cuda_kernel **missing;
    uint32_t n, next; /* next: atomic */
    int *code;
};
static void *compile_some(void *arg)
{
    struct work *w = arg;
    for (;;) {
        uint32_t i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (i >= w->n) {
            return NULL;
        }
        struct cuda_kernel *k = w->missing[i];
        w->code[i] =
            w->e->api.compile(w->e->api.ctx, w->compiler, k->made.source, w->e->device.sm, &k->cubin);
    }
}

static void compile_in_parallel(struct work *w)
{
    pthread_t thread[THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = cores < 1 ? 1 : cores < THREADS ? (uint32_t)cores : THREADS, n = 0;
    most = w->n < most ? w->n : most;
    while (n + 1 < most && pthread_create(&thread[n], NULL, compile_some, w) == 0) {
        n++;
    }
    compile_some(w);
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
    }
}

static enum status compile_failed(struct exec *e, const struct cuda_kernel *k, int code)
{
    return cuda_error(e, ST_INTERNAL,
                      "the kernel %s of a group of %u operations cannot be compiled (--no-fuse runs without "
                      "it): %s\n%.300s",
                      k->made.name, k->k->group->n_instr, e->api.error_text(e->api.ctx, code), k->cubin.log);
}

static void keep(struct exec *e, const struct cuda_cache *cache, const struct work *w)
{
    int failed = 0;
    for (uint32_t i = 0; i < w->n && !failed; i++) {
        failed = cuda_cache_write(cache, &w->missing[i]->made, &w->missing[i]->cubin);
    }
    if (failed) {
        snprintf(e->warning, sizeof e->warning, "compiled kernels cannot be kept in %.400s: %s",
                 cache->folder, strerror(failed));
    } else {
        cuda_cache_trim(cache, (uint64_t)LIMIT_CACHE_MIB << 20);
    }
}

static enum status compile_missing(struct exec *e, const struct cuda_cache *cache, struct work *w)
{
    CUDA_TRY(e, compiler_open, e->options.cuda_path, &w->compiler);
    compile_in_parallel(w);
    e->api.compiler_close(e->api.ctx, w->compiler);
    e->n_compiled = w->n;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->code[i]) {
            return compile_failed(e, w->missing[i], w->code[i]);
        }
    }
    keep(e, cache, w);
    return ST_OK;
}

/* Machine code that the driver does not take is no better than none: it is compiled anew, once. */
static int load(struct exec *e, struct cuda_kernel *k)
{
    int code = e->api.module_load(e->api.ctx, k->cubin.bytes, &k->module);
    if (code) {
        k->module = NULL;
    }
    code = code ? code : e->api.module_kernel(e->api.ctx, k->module, k->made.name, &k->function);
    mem_free(k->cubin.bytes, k->cubin.n);
    k->cubin = (struct cuda_cubin){.bytes = NULL};
    return code;
}

static enum status load_all(struct exec *e, bool cached)
{
    for (struct cuda_kernel *k = e->kernels_made; k; k = k->next) {
        if (k->cached != cached || k->function) {
            continue;
        }
        int code = load(e, k);
        if (code && !cached) {
            return cuda_failed(e, CUDA_CALL_module_load, code);
        }
        if (code && k->module) {
            e->api.module_close(e->api.ctx, k->module);
            k->module = NULL;
        }
    }
    return ST_OK;
}

enum status cuda_groups_prepare(struct exec *e)
{
    struct cuda_cache cache;
    char identity[CUDA_IDENTITY] = "";
    collect(e);
    if (e->n_kernel == 0) {
        return ST_OK;
    }
    CUDA_TRY(e, compiler_find, e->options.cuda_path, identity);
    cuda_cache_open(&cache, e->options.cache, identity, e->device.sm);
    for (struct cuda_kernel *k = e->kernels_made; k; k = k->next) {
        k->cached = cuda_cache_read(&cache, &k->made, &k->cubin);
    }
    TRY(load_all(e, true));
    struct work w = {.e = e,
                     .missing = arena_array(e->memory, struct cuda_kernel *, e->n_kernel),
                     .code = arena_array(e->memory, int, e->n_kernel)};
    for (struct cuda_kernel *k = e->kernels_made; k; k = k->next) {
        if (!k->function) {
            k->cached = false;
            w.missing[w.n++] = k;
        }
    }
    if (w.n > 0) {
        TRY(compile_missing(e, &cache, &w));
        TRY(load_all(e, false));
    }
    return ST_OK;
}

void cuda_groups_release(struct exec *e)
{
    for (struct cuda_kernel *k = e->kernels_made; k; k = k->next) {
        if (k->module) {
            e->api.module_close(e->api.ctx, k->module);
        }
        mem_free(k->cubin.bytes, k->cubin.n);
    }
    e->kernels_made = NULL;
}
