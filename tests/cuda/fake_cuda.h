/* CUDA without a GPU: kernels are opaque pointers, the device's memory is the host's, a launch runs nothing
 * but ticks, the counting of loops and the steps of segments. Every handle is counted, every call can be made
 * to fail, and the rules of conditional nodes are kept: a condition has one node, in the graph it was made
 * for, and a graph with such a node is instantiated once. Included by the tests of this folder.
 */
#ifndef GML_TESTS_CUDA_FAKE_H
#define GML_TESTS_CUDA_FAKE_H
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include "kernels/cuda/functions.h"
#include "kernels/cuda/params.h"
#include "runtime/exec/cuda/cuda_exec.h"

/* -- functions: an address that encodes what was asked for */
static char fake_function_space[1 << 16];
static const void *fake_function(int op, int a, int b, int c)
{
    return &fake_function_space[((op * 8 + a % 8) * 4 + b % 4) * 4 + c % 4];
}
static inline int fake_function_op(const void *f)
{
    return (int)((const char *)f - fake_function_space) / 128;
}
static inline int fake_function_first(const void *f)
{
    return (int)((const char *)f - fake_function_space) / 16 % 8;
}
static inline int fake_function_middle(const void *f)
{
    return (int)((const char *)f - fake_function_space) / 4 % 4;
}
static inline int fake_function_last(const void *f)
{
    return (int)((const char *)f - fake_function_space) % 4;
}
const void *cuda_elem_function(int op, int dtype, int out, int vector)
{
    return fake_function(op, dtype, out, vector);
}
const void *cuda_reduce_function(int op, int in, int out, enum reduce_form form)
{
    return fake_function(op, in, out, (int)form);
}
const void *cuda_row_function(int op, int dtype, int block)
{
    return fake_function(op, dtype, 0, block);
}
const void *cuda_index_function(int op, int type)
{
    return fake_function(op, type, 0, 0);
}
const void *cuda_place_function(int op, int type, enum place_step step)
{
    return fake_function(op, type, 1, (int)step);
}
const void *cuda_radix_function(int dtype, enum radix_step step)
{
    return fake_function(OP_argsort, dtype, 1, (int)step);
}
const void *cuda_scan_function(int op, int dtype, int rows)
{
    return fake_function(op, dtype, 0, rows);
}
const void *cuda_solve_function(int dtype)
{
    return fake_function(OP_solve_spd, dtype, 0, 0);
}
const void *cuda_sort_function(int op, int dtype, enum sort_form form)
{
    return fake_function(op, dtype, 0, (int)form);
}
const void *cuda_random_function(int op, int dtype)
{
    return fake_function(op, dtype, 0, 0);
}
const void *cuda_control_function(int op)
{
    return fake_function(op, 0, 0, 0);
}
const void *cuda_loop_function(enum loop_step step, int dtype)
{
    return fake_function(OP_loop_in, dtype, 0, (int)step);
}
const void *cuda_matmul_function(int dtype)
{
    return fake_function(OP_matmul, dtype, 0, 0);
}
const void *cuda_product_function(enum product_shape shape, bool tf32, bool a, bool b, bool vector)
{
    return fake_function(OP_matmul, 4 + (int)shape, 2 * a + b, 2 * tf32 + vector);
}
const void *cuda_narrow_function(enum narrow_form form, int fours)
{
    return fake_function(OP_matmul, (int)form, fours, 3);
}
const void *cuda_tick_function(void)
{
    return fake_function(OP_COUNT, 0, 0, 0);
}
const void *cuda_segment_function(void)
{
    return fake_function(OP_COUNT, 1, 0, 0);
}

/* -- the api. A graph and an executable graph are lists of nodes: launches, and lists that run again while a
 * condition holds, or once if it does. */
struct fake_graph;
struct fake_node {
    struct launch launch;
    struct fake_graph *body; /* owned; NULL: a launch */
    uint64_t condition;
    bool loops;
    int waits_for[CUDA_TAIL], n_waits; /* numbers of nodes */
};
struct fake_graph {
    int n, execs;
    struct fake_node node[512];
};
/* What ran: a function, and for the parts of arrays the counter of their loop, for a tick its rows. */
struct fake_ran {
    const void *function;
    int32_t index;
};
enum { FAKE_TRACE = 4096, FAKE_CONDITIONS = 64 };
struct fake_cuda {
    int devices, driver, sm;
    bool has_library;
    uint64_t memory; /* bytes free */
    int alive;       /* handles */
    int capturing;
    bool stuck;              /* ticks do not run, nor what is conditional */
    bool broken;             /* the stream reports a fault */
    int kernels;             /* that ran, library calls included */
    struct fake_graph *into; /* capture target */
    bool has_cupti;
    uint64_t graph_launches; /* since the audit was read with `reset` */
    int blas_opens;
    bool host_nodes; /* the walk finds one in each graph and body */
    bool listens;    /* a tool that watches memory */
    struct fake_region {
        char *at;
        uint64_t bytes;
        bool written;
    } region[256];
    int n_region;
    struct fake_condition {
        const struct fake_graph *graph;
        bool used, value;
    } condition[FAKE_CONDITIONS]; /* handle - 1 */
    int n_condition;
    bool has_compiler;
    int opened, compiled, refused; /* the compiler, by it, machine code that was no good */
    int bad_source;                /* the source that does not compile, from 1 */
    struct fake_ran trace[FAKE_TRACE];
    int n_trace;
};
static struct fake_cuda fake;

static void *fake_handle(void *p)
{
    fake.alive += p != NULL;
    return p;
}
static int fake_release(void *p)
{
    fake.alive--;
    free(p);
    return 0;
}
static void fake_set_condition(uint64_t handle, bool value)
{
    if (handle) {
        fake.condition[handle - 1].value = value;
    }
}
/* A kernel of loops; returns the counter that it read. */
static int32_t fake_run_loop(const struct launch *l, char *arena)
{
    struct loop_params p;
    memcpy(&p, l->params, sizeof p);
    int32_t *index = (int32_t *)(void *)(arena + p.index), read = *index;
    switch (fake_function_last(l->function)) {
    case LOOP_BEGIN:
        *index = (int32_t)p.first;
        fake_set_condition(p.condition, true);
        return 0;
    case LOOP_END:
        *index += (int32_t)p.step;
        fake_set_condition(p.condition, *index != p.end);
        return read;
    default:
        return read;
    }
}
/* A step of a segment. */
static void fake_run_segment(const struct launch *l, char *arena)
{
    struct segment_params p;
    memcpy(&p, l->params, sizeof p);
    struct control *c = (struct control *)(void *)(arena + p.control);
    struct segment_state *s = (struct segment_state *)(void *)(arena + p.state);
    struct ring *ring = (struct ring *)(uintptr_t)p.ring;
    int yes;
    if (p.step == SEGMENT_BEGINS) {
        yes = segment_begin(c, s, &ring->command[s->launches++ % 2]);
        ring->begun = s->launches;
    } else {
        yes = segment_step((int)p.step, c, s, &p.node, arena + p.value, (int)p.is_f32);
    }
    fake_set_condition(p.condition, yes);
}
static void fake_run(const struct launch *l, void *arena)
{
    struct fake_ran ran = {.function = l->function};
    fake.kernels++;
    if (fake_function_op(l->function) == OP_loop_in) {
        ran.index = fake_run_loop(l, arena);
    }
    if (l->function == cuda_segment_function() && !fake.stuck) {
        fake_run_segment(l, arena);
    }
    if (l->function == cuda_tick_function()) {
        struct tick_params t;
        memcpy(&t, l->params, sizeof t);
        ran.index = (int32_t)t.args.rows;
    }
    if (fake.n_trace < FAKE_TRACE) {
        fake.trace[fake.n_trace++] = ran;
    }
    if (l->function == cuda_tick_function() && !fake.stuck) {
        struct tick_params t;
        memcpy(&t, l->params, sizeof t);
        tick(arena, &t.args, (struct ring *)(uintptr_t)t.ring, 0, 1);
    }
}

static int fake_device_count(void *ctx, int *out)
{
    (void)ctx;
    *out = fake.devices;
    return 0;
}
static int fake_device_open(void *ctx, int device)
{
    (void)ctx;
    return device < fake.devices ? 0 : 101;
}
static int fake_device_info(void *ctx, int device, struct cuda_device *out)
{
    (void)ctx;
    (void)device;
    *out = (struct cuda_device){
        .name = "Fake 9000", .sm = fake.sm, .n_sm = 132, .driver = fake.driver, .runtime = 13000};
    return 0;
}
static int fake_memory_info(void *ctx, uint64_t *available, uint64_t *total)
{
    (void)ctx;
    *available = *total = fake.memory;
    return 0;
}
static int fake_device_alloc(void *ctx, uint64_t bytes, void **out)
{
    (void)ctx;
    if (bytes > fake.memory) {
        return CUDA_NO_MEMORY;
    }
    *out = fake_handle(malloc(bytes));
    return 0;
}
static int fake_device_free(void *ctx, void *p)
{
    (void)ctx;
    return fake_release(p);
}
static int fake_host_alloc(void *ctx, uint64_t bytes, void **host, void **device)
{
    (void)ctx;
    *host = *device = fake_handle(calloc(1, bytes));
    return 0;
}
static int fake_host_free(void *ctx, void *p)
{
    (void)ctx;
    return fake_release(p);
}
static int fake_fill(void *ctx, void *at, int byte, uint64_t bytes, void *stream)
{
    (void)ctx;
    (void)stream;
    memset(at, byte, bytes);
    return 0;
}
static int fake_to_device(void *ctx, void *to, const void *from, uint64_t bytes, void *stream)
{
    (void)ctx;
    (void)stream;
    memcpy(to, from, bytes);
    return 0;
}
static int fake_to_host(void *ctx, void *to, const void *from, uint64_t bytes, void *stream)
{
    return fake_to_device(ctx, to, from, bytes, stream);
}
/* The tool: regions of the heap, disjoint; closing what is not open is an error. */
static int fake_heap_open(void *ctx, void *at, uint64_t bytes, void **out)
{
    (void)ctx;
    (void)at;
    *out = fake.listens ? fake_handle(malloc(bytes > 0)) : NULL;
    return 0;
}
static int fake_heap_close(void *ctx, void *heap)
{
    (void)ctx;
    fake.n_region = 0;
    return fake_release(heap);
}
/* Index of the open region that has one of these bytes, or -1. */
static int fake_region_at(const char *at, uint64_t bytes)
{
    for (int i = 0; i < fake.n_region; i++) {
        const struct fake_region *r = &fake.region[i];
        if (at < r->at + r->bytes && r->at < at + bytes) {
            return i;
        }
    }
    return -1;
}
static int fake_region_open(void *ctx, void *heap, void *at, uint64_t bytes)
{
    (void)ctx;
    if (!heap || fake_region_at(at, bytes) >= 0 || fake.n_region == 256) {
        return 1;
    }
    fake.region[fake.n_region++] = (struct fake_region){at, bytes, false};
    return 0;
}
static int fake_region_close(void *ctx, void *at)
{
    (void)ctx;
    int i = fake_region_at(at, 1);
    if (i < 0 || fake.region[i].at != (char *)at) {
        return 1;
    }
    fake.region[i] = fake.region[--fake.n_region];
    return 0;
}
static int fake_region_written(void *ctx, void *at, uint64_t bytes, void *stream)
{
    (void)ctx;
    (void)stream;
    int i = fake_region_at(at, bytes);
    if (i < 0 || fake.region[i].at != (char *)at || fake.region[i].bytes != bytes) {
        return 1;
    }
    fake.region[i].written = true;
    return 0;
}
static int fake_stream_create(void *ctx, void **out)
{
    (void)ctx;
    *out = fake_handle(malloc(1));
    return 0;
}
static int fake_stream_destroy(void *ctx, void *stream)
{
    (void)ctx;
    return fake_release(stream);
}
static int fake_stream_sync(void *ctx, void *stream)
{
    (void)ctx;
    (void)stream;
    return fake.capturing ? 900 : 0;
}
static int fake_stream_query(void *ctx, void *stream)
{
    (void)ctx;
    (void)stream;
    return fake.broken ? 700 : fake.stuck ? CUDA_NOT_READY : 0;
}
/* An event holds the number of kernels that ran before it; each took a microsecond. */
static int fake_event_create(void *ctx, void **out)
{
    (void)ctx;
    *out = fake_handle(calloc(1, sizeof(int)));
    return 0;
}
static int fake_event_destroy(void *ctx, void *event)
{
    (void)ctx;
    return fake_release(event);
}
static int fake_event_record(void *ctx, void *event, void *stream)
{
    (void)ctx;
    (void)stream;
    *(int *)event = fake.kernels;
    return 0;
}
static int fake_event_seconds(void *ctx, void *from, void *to, double *out)
{
    (void)ctx;
    *out = 1e-6 * (*(int *)to - *(int *)from);
    return 0;
}
static int fake_function_load(void *ctx, const struct launch *l)
{
    (void)ctx;
    return !l->function ? 98 : l->shared <= 227 * 1024 ? 0 : 1;
}
static int fake_kernel_launch(void *ctx, const struct launch *l, void *arena, void *stream)
{
    (void)ctx;
    (void)stream;
    fake_run(l, arena);
    return 0;
}
static int fake_graph_create(void *ctx, void **out)
{
    (void)ctx;
    *out = fake_handle(calloc(1, sizeof(struct fake_graph)));
    return 0;
}
static void fake_graph_free(struct fake_graph *g)
{
    for (int i = 0; i < g->n; i++) {
        if (g->node[i].body) {
            fake_graph_free(g->node[i].body);
        }
    }
    fake_release(g);
}
static struct fake_graph *fake_graph_copy(const struct fake_graph *g)
{
    struct fake_graph *copy = malloc(sizeof *copy);
    memcpy(copy, g, sizeof *copy);
    for (int i = 0; i < g->n; i++) {
        copy->node[i].body = g->node[i].body ? fake_graph_copy(g->node[i].body) : NULL;
    }
    return fake_handle(copy);
}
static bool fake_has_loop(const struct fake_graph *g)
{
    bool loop = false;
    for (int i = 0; i < g->n; i++) {
        loop |= g->node[i].body != NULL;
    }
    return loop;
}
static int fake_graph_destroy(void *ctx, void *graph)
{
    (void)ctx;
    fake_graph_free(graph);
    return 0;
}
static struct fake_node *fake_append(struct fake_graph *g, struct cuda_tail *tail)
{
    struct fake_node *node = &g->node[g->n];
    if ((tail->n > 0) != (g->n > 0) || g->n == 512) {
        return NULL; /* all but the first wait for something */
    }
    for (int i = 0; i < tail->n; i++) {
        int64_t at = (struct fake_node *)tail->node[i] - g->node;
        if (at < 0 || at >= g->n) {
            return NULL; /* of another graph */
        }
        node->waits_for[node->n_waits++] = (int)at;
    }
    g->n++;
    *tail = (struct cuda_tail){.node = {node}, .n = 1};
    return node;
}
static int fake_node_add(void *ctx, void *graph, struct cuda_tail *tail, const struct launch *l, void *arena)
{
    (void)ctx;
    (void)arena;
    struct fake_node *node = fake_append(graph, tail);
    if (node) {
        node->launch = *l;
    }
    return !node;
}
static int fake_condition_create(void *ctx, void *graph, uint64_t *out)
{
    (void)ctx;
    if (fake.n_condition == FAKE_CONDITIONS) {
        return 1;
    }
    fake.condition[fake.n_condition++].graph = graph;
    *out = (uint64_t)fake.n_condition;
    return 0;
}
static int fake_conditional_add(void *ctx, void *graph, struct cuda_tail *tail, uint64_t condition,
                                bool loops, void **body)
{
    (void)ctx;
    struct fake_condition *c = &fake.condition[condition - 1];
    struct fake_node *node = c->graph == graph && !c->used ? fake_append(graph, tail) : NULL;
    if (node) {
        c->used = true;
        node->condition = condition;
        node->loops = loops;
        *body = node->body = fake_handle(calloc(1, sizeof(struct fake_graph)));
    }
    return !node;
}
static int fake_node_set(void *ctx, void *node, const struct launch *l, void *arena)
{
    (void)ctx;
    (void)arena;
    ((struct fake_node *)node)->launch = *l;
    return 0;
}
static int fake_graph_nodes(void *ctx, void *graph, uint64_t *out)
{
    (void)ctx;
    *out = (uint64_t)((struct fake_graph *)graph)->n;
    return 0;
}
static int fake_capture_begin(void *ctx, void *stream, void *graph, const struct cuda_tail *tail)
{
    (void)ctx;
    (void)stream;
    (void)tail;
    fake.capturing = 1;
    fake.into = graph;
    return 0;
}
static int fake_capture_end(void *ctx, void *stream, struct cuda_tail *tail)
{
    (void)ctx;
    (void)stream;
    fake.capturing = 0;
    int last = fake.into->n - 1; /* -1: nothing was captured */
    *tail = (struct cuda_tail){.node = {last < 0 ? NULL : &fake.into->node[last]}, .n = last >= 0};
    return 0;
}
static int fake_exec_create(void *ctx, void *graph, void **out)
{
    (void)ctx;
    struct fake_graph *g = graph;
    if (g->execs++ > 0 && fake_has_loop(g)) {
        return 1;
    }
    for (int i = 0; i < fake.n_condition; i++) {
        if (fake.condition[i].graph == graph && !fake.condition[i].used) {
            return 1;
        }
    }
    *out = fake_graph_copy(g);
    return 0;
}
static int fake_exec_upload(void *ctx, void *exec, void *stream)
{
    (void)ctx;
    (void)stream;
    return exec ? 0 : 1;
}
static void *fake_arena_address; /* graphs hold their arguments; here the test says where the arena is */
static void fake_run_graph(const struct fake_graph *g)
{
    for (int i = 0; i < g->n; i++) {
        if (!g->node[i].body) {
            fake_run(&g->node[i].launch, fake_arena_address);
        }
        for (bool again = g->node[i].body && !fake.stuck;
             again && fake.condition[g->node[i].condition - 1].value; again = g->node[i].loops) {
            fake_run_graph(g->node[i].body);
        }
    }
}
static int fake_exec_launch(void *ctx, void *exec, void *stream)
{
    (void)ctx;
    (void)stream;
    for (int i = 0; i < fake.n_condition; i++) {
        fake.condition[i].value = true;
    }
    fake_run_graph(exec);
    fake.graph_launches++;
    return 0;
}
static int fake_exec_destroy(void *ctx, void *exec)
{
    (void)ctx;
    fake_graph_free(exec);
    return 0;
}
static int fake_graph_walk(void *ctx, void *graph, struct exec_walk *sum)
{
    (void)ctx;
    const struct fake_graph *g = graph;
    for (int i = 0; i < g->n; i++) {
        sum->kernels += !g->node[i].body;
    }
    sum->host += fake.host_nodes;
    return 0;
}
static int fake_audit_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    (void)path;
    *out = fake.has_cupti ? fake_handle(malloc(1)) : NULL;
    return fake.has_cupti ? 0 : CUDA_LIBRARY_MISSING;
}
static int fake_audit_read(void *ctx, void *audit, struct exec_counts *out, bool reset)
{
    (void)ctx;
    (void)audit;
    *out = (struct exec_counts){.launches = fake.graph_launches};
    fake.graph_launches = reset ? 0 : fake.graph_launches;
    return 0;
}
static int fake_audit_close(void *ctx, void *audit)
{
    (void)ctx;
    return fake_release(audit);
}
static int fake_blas_load(void *ctx, const char *path) /* in a thread of its own: counts nothing */
{
    (void)ctx;
    (void)path;
    return fake.has_library ? 0 : CUDA_LIBRARY_MISSING;
}
static int fake_blas_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    (void)path;
    fake.blas_opens++;
    if (!fake.has_library) {
        return CUDA_LIBRARY_MISSING;
    }
    *out = fake_handle(malloc(1));
    return 0;
}
static int fake_blas_close(void *ctx, void *library)
{
    (void)ctx;
    return fake_release(library);
}
static int fake_matmul_plan(void *ctx, void *library, const struct gemm *g, void **out)
{
    (void)ctx;
    (void)library;
    *out = g->k > 0 ? fake_handle(malloc(1)) : NULL;
    return 0;
}
static int fake_matmul_run(void *ctx, void *plan, void *arena, void *stream)
{
    (void)ctx;
    (void)plan;
    (void)stream;
    struct launch l = {.function = fake_function(OP_matmul, 1, 0, 0)};
    if (fake.capturing) {
        fake.into->node[fake.into->n++].launch = l;
    } else {
        fake_run(&l, arena);
    }
    return 0;
}
static int fake_matmul_free(void *ctx, void *plan)
{
    (void)ctx;
    return fake_release(plan);
}
/* The compiler: its machine code is "code of " and the source. */
static int fake_compiler_find(void *ctx, const char *path, char *identity)
{
    (void)ctx;
    (void)path;
    snprintf(identity, CUDA_IDENTITY, "fake compiler");
    return fake.has_compiler ? 0 : CUDA_COMPILER_MISSING;
}
static int fake_compiler_open(void *ctx, const char *path, void **out)
{
    (void)ctx;
    (void)path;
    fake.opened++;
    *out = fake_handle(malloc(1));
    return fake.has_compiler ? 0 : CUDA_COMPILER_MISSING;
}
static int fake_compiler_close(void *ctx, void *compiler)
{
    (void)ctx;
    return fake_release(compiler);
}
static int fake_compile(void *ctx, void *compiler, const char *source, int sm, struct cuda_cubin *out)
{
    (void)ctx;
    (void)compiler;
    *out = (struct cuda_cubin){.n = strlen(source) + 16};
    if (__atomic_add_fetch(&fake.compiled, 1, __ATOMIC_RELAXED) == fake.bad_source || sm != 90) {
        snprintf(out->log, sizeof out->log, "group.cu(1): error");
        return CUDA_COMPILER + 6;
    }
    out->bytes = mem_alloc(out->n);
    snprintf(out->bytes, out->n, "code of %s", source);
    return 0;
}
static int fake_module_load(void *ctx, const void *cubin, void **out)
{
    (void)ctx;
    if (strncmp(cubin, "code of ", 8) != 0) {
        fake.refused++;
        return 200;
    }
    *out = fake_handle(strdup(cubin));
    return 0;
}
static int fake_module_kernel(void *ctx, void *module, const char *name, const void **out)
{
    (void)ctx;
    *out = fake_function(OP_group, 0, 0, 0);
    return strstr(module, name) ? 0 : 500;
}
static int fake_module_close(void *ctx, void *module)
{
    (void)ctx;
    return fake_release(module);
}
static const char *fake_error_text(void *ctx, int code)
{
    static char text[32];
    (void)ctx;
    snprintf(text, sizeof text, "fake error %d", code);
    return text;
}
static const char *fake_blas_text(void *ctx, void *library)
{
    (void)ctx;
    (void)library;
    return "fakeLt 1.0";
}
static const struct cuda_api fake_api = {
    .error_text = fake_error_text,
    .blas_text = fake_blas_text,
#define CALL(name, text, params, args, count) .name = fake_##name,
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
};

/* -- failing: call number `fail_at` (from 0) returns `fail_code` and does nothing, except that handles are
 * released. What runs in a thread of its own does not count. */
static struct cuda_api fail_inner;
static int fail_calls, fail_at = -1, fail_code = 999;
static enum cuda_call fail_which;
static inline bool fake_releases(enum cuda_call c)
{
    return c == CUDA_CALL_device_free || c == CUDA_CALL_host_free || c == CUDA_CALL_stream_destroy ||
           c == CUDA_CALL_event_destroy || c == CUDA_CALL_graph_destroy || c == CUDA_CALL_exec_destroy ||
           c == CUDA_CALL_blas_close || c == CUDA_CALL_matmul_free || c == CUDA_CALL_heap_close ||
           c == CUDA_CALL_compiler_close || c == CUDA_CALL_module_close;
}
#define CALL(name, text, params, args, count)                                                                \
    static int fail_##name params                                                                            \
    {                                                                                                        \
        (void)ctx;                                                                                           \
        const struct cuda_api *inner = &fail_inner;                                                          \
        if (CUDA_CALL_##name != CUDA_CALL_blas_load && fail_calls++ == fail_at) {                            \
            fail_which = CUDA_CALL_##name;                                                                   \
            if (fake_releases(fail_which)) {                                                                 \
                inner->name args;                                                                            \
            }                                                                                                \
            return fail_code;                                                                                \
        }                                                                                                    \
        return inner->name args;                                                                             \
    }
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
static const struct cuda_api failing_api = {
    .error_text = fake_error_text,
    .blas_text = fake_blas_text,
#define CALL(name, text, params, args, count) .name = fail_##name,
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
};

static inline void fake_reset(void)
{
    fake = (struct fake_cuda){.devices = 1,
                              .driver = 13000,
                              .sm = 90,
                              .has_library = true,
                              .has_compiler = true,
                              .memory = 64 << 20};
    fail_inner = fake_api;
    fail_calls = 0;
    fail_at = -1;
    fail_code = 999;
}

/* -- a backend over it */
static struct backend fake_backend;
static const struct cuda_api *fake_opens;
static inline enum status fake_open_cuda(const struct exec_options *o, struct exec **e, char *why, size_t n)
{
    return cuda_open(fake_opens, &fake_backend, o, e, why, n);
}
/* The fake anew, and the backend that opens it by `api`. */
static inline void fake_start(const struct cuda_api *api, uint64_t memory)
{
    fake_reset();
    fake.memory = memory;
    fake_opens = api;
    fake_backend = cuda_backend_functions;
    fake_backend.open = fake_open_cuda;
}
/* With what the device says of itself: a plan is made for that. */
static inline struct exec *fake_device(const struct exec_options *o, uint64_t memory, struct target *t)
{
    struct exec *e = NULL;
    struct exec_device d;
    char why[512] = "";
    fake_start(&fake_api, memory);
    ck_assert_msg(fake_backend.open(o, &e, why, sizeof why) == ST_OK, "%s", why);
    ck_assert_int_eq(cuda_device(e, &d), ST_OK);
    *t = d.target;
    return e;
}
static inline void fake_prepare(struct exec *e, const struct plan *p, const char *what)
{
    ck_assert_int_eq(cuda_arena(e, p->device_bytes), ST_OK);
    fake_arena_address = e->arena;
    ck_assert_msg(cuda_prepare(e, p) == ST_OK, "%s: %s", what, cuda_error_text(e));
}

#endif
