/* The CUDA executor, written against struct cuda_api alone.
 *
 * One allocation for the arena, one for the ring. A variant is described once (launches as plain data,
 * library products planned), then built into two executable graphs that differ in the tick's `first`; a step
 * is one graph launch. --eager and --debug-plan launch the same descriptions one by one; --parts cuts the
 * graph where the part changes.
 *
 * A loop becomes a WHILE node whose body is a graph of its own, inside of which loops become WHILE nodes
 * again. The kernels that count its iterations set the condition. One that comes to at most CUDA_UNROLL
 * kernels in all is written out instead. Kernel by kernel the host counts. A loop is never cut by --parts. A
 * segment of the run block is a graph around the chains of its phases, with WHILE and IF nodes of its own
 * (cuda_segment.c).
 */
#ifndef GML_EXEC_CUDA_EXEC_H
#define GML_EXEC_CUDA_EXEC_H
#include "runtime/exec/cuda/cuda_api.h"

enum {
    CUDA_IN_FLIGHT = 2,
    CUDA_WATCHDOG = 60 /* seconds */,
    CUDA_WORKSPACE = 32 << 20,
    CUDA_UNROLL = 64, /* kernels, those that count included; loops inside count whole. A WHILE node starts an
                         iteration in some microseconds, about as long as a few kernels of a chain take */
    CUDA_SEGMENTS = PART_COUNT
};

/* One op of the plan on the device: some kernel launches, or a library product. */
struct cuda_step {
    uint32_t op; /* index into the variant's ops */
    uint8_t part;
    void *blas_plan;            /* owned; NULL for kernels */
    struct cuda_kernel *kernel; /* of a group, else NULL */
    struct codegen_schedule
        schedule; /* of that group: a kernel it shares may have been made for another number of rows */
    struct launch *launch;
    uint32_t n_launch;
    const struct plan_loop *loop; /* of the steps that begin and end one, else NULL */
    int64_t turns;                /* kernel by kernel, of an end: iterations done */
};
/* A generated kernel; groups of the same text share one. */
struct cuda_kernel {
    struct codegen_kernel made;
    const struct kargs *k;
    struct cuda_cubin cubin; /* until it is loaded */
    bool cached;
    void *module; /* owned */
    const void *function;
    struct cuda_kernel *next;
};
/* A run of bytes between buffers that nothing may write (--debug-plan). */
struct cuda_gap {
    uint64_t from, to;
    uint32_t node; /* whose value lies before it */
};
struct cuda_variant {
    bool ready; /* false: a host-only phase */
    struct cuda_step *step;
    uint32_t n_step;
    struct launch tick[2];        /* [first] */
    void *exec[2][CUDA_SEGMENTS]; /* owned; all but the last segment are shared and live in [0] */
    uint8_t part[CUDA_SEGMENTS];  /* of the segment */
    uint32_t n_segment;
    uint64_t
        kernels; /* of a launch, in all iterations of its loops; a product kernel by kernel counts as one */
    struct cuda_gap *gap;
    uint32_t n_gap;
};
/* A chain of nodes under construction: a graph, or the body of a conditional node, which owns it then.
 * Products whose results are not wanted soon stand aside, in a chain of their own (cuda_lanes.c). */
enum { CUDA_ASIDE = 8 };
struct cuda_line {
    void *graph;
    struct cuda_tail tail;
    struct {
        void *node;
        uint32_t step;
    } aside[CUDA_ASIDE]; /* those that nothing in the chain waits for yet, in their order, */
    uint32_t n_aside;
    void *last_aside;      /* and the last of all */
    uint32_t conditionals; /* nodes of the chain, */
    uint64_t in_loops;     /* and the kernels that run in loops of an operator */
};
struct exec {
    const struct backend *backend;
    struct exec_options options;
    struct cuda_counter counter;
    struct cuda_api api; /* counting */
    struct cuda_device device;
    char error[512], warning[512];
    struct cuda_kernel *kernels_made; /* of all variants */
    uint32_t n_kernel, n_compiled;
    uint64_t counters; /* place of the zeroed words that generated kernels count with, behind the arena */
    void *stream, *library;
    void *audit; /* options.audit where CUPTI is: owned */
    double context_seconds;
    char *arena; /* device address */
    void *heap;  /* --debug-plan under a tool that checks memory: the arena as declared to it */
    bool heap_asked;
    uint64_t bytes;
    uint64_t segment_state; /* struct segment_state, behind the arena */
    void **segment;         /* owned; an executable graph for each of the plan */
    uint32_t n_segment;
    uint64_t segments, read; /* launches of segments; the last tick whose slot was read */
    bool in_segment;         /* the last launch was one: `issued` does not count its ticks */
    struct ring *ring, *ring_device;
    const struct plan *plan;
    struct arena *memory; /* descriptions */
    struct cuda_variant *variant;
    uint32_t n_variant;
    uint64_t issued, base; /* ticks: number of the last one; number before the first one since the control
                              block was uploaded */
    uint64_t before;       /* number of the last one before the last launch */
    uint64_t kernels;      /* of the last launch */
    void *mark[PART_COUNT + 1]; /* options.parts: events, owned; the end of each part, and the start */
    bool marked[PART_COUNT];    /* parts of the last launch */
};

/* Calls through the api; on failure leaves the text and returns ST_RESOURCE (memory) or ST_DEVICE. */
enum status cuda_failed(struct exec *e, enum cuda_call call, int code);
#define CUDA_TRY(e, name, ...)                                                                               \
    do {                                                                                                     \
        int cuda_code_ = (e)->api.name((e)->api.ctx, __VA_ARGS__);                                           \
        if (cuda_code_) {                                                                                    \
            return cuda_failed((e), CUDA_CALL_##name, cuda_code_);                                           \
        }                                                                                                    \
    } while (0)
enum status cuda_error(struct exec *e, enum status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "`matmul` at digits.gml:14" */
const char *cuda_op_text(const struct exec *e, uint32_t variant, uint32_t op, char *buffer, size_t n);

/* cuda_open.c: life and memory */
enum status cuda_open(const struct cuda_api *api, const struct backend *b, const struct exec_options *o,
                      struct exec **out, char *why, size_t why_n);
enum status cuda_device(struct exec *e, struct exec_device *out);
enum status cuda_arena(struct exec *e, uint64_t bytes);
enum status cuda_upload(struct exec *e, uint64_t offset, const void *from, uint64_t bytes);
enum status cuda_download(struct exec *e, uint64_t offset, void *to, uint64_t bytes);
void cuda_close(struct exec *e);

/* cuda_prepare.c: descriptions; cuda_graph.c: graphs */
enum status cuda_prepare(struct exec *e, const struct plan *p);
bool cuda_runs_on_host(const struct plan *p, uint32_t variant); /* init and data phases do */
enum status cuda_graphs_build(struct exec *e, struct cuda_variant *v);
/* Appends the steps of a variant, without its tick. */
enum status cuda_steps_add(struct exec *e, const struct cuda_variant *v, uint32_t from, uint32_t to,
                           struct cuda_line *line);
/* Appends a conditional node; *body is an empty chain. */
enum status cuda_conditional_add(struct exec *e, struct cuda_line *line, uint64_t condition, bool loops,
                                 struct cuda_line *body);
enum status cuda_exec_make(struct exec *e, void *graph, void **out);
enum status cuda_step_issue(struct exec *e,
                            const struct cuda_step *s); /* on the stream, eager or under capture */
/* The nodes of a step at the end of a graph. */
enum status cuda_step_add(struct exec *e, void *graph, struct cuda_tail *tail, const struct cuda_step *s);
void cuda_variants_release(struct exec *e);

/* cuda_groups.c: the kernels of all groups of the plan, out of the cache or compiled; before any step is
 * described. NVRTC is opened only when something is missing. */
enum status cuda_groups_prepare(struct exec *e);
void cuda_groups_release(struct exec *e);

/* cuda_cache.c: one file for each kernel, named by the hash of its source, the compiler, the architecture and
 * the version of the generator, all of which it holds, besides the machine code and a checksum. Files are
 * written beside and renamed; when they come to more than LIMIT_CACHE_MIB the longest unused go. */
struct cuda_cache {
    char folder[900]; /* "" = none */
    char compiler[CUDA_IDENTITY];
    int sm;
};
/* The folder: `cache`, or in $XDG_CACHE_HOME or ~/.cache; it need not exist. */
void cuda_cache_open(struct cuda_cache *c, const char *cache, const char *compiler, int sm);
/* The machine code of a source, from mem_alloc; false when it is not there or damaged. */
bool cuda_cache_read(const struct cuda_cache *c, const struct codegen_kernel *kernel, struct cuda_cubin *out);
/* 0, or the errno of what failed. */
int cuda_cache_write(const struct cuda_cache *c, const struct codegen_kernel *kernel,
                     const struct cuda_cubin *in);
/* Removes what is too much, the longest unused first, and files that a killed process left half-written. */
void cuda_cache_trim(const struct cuda_cache *c, uint64_t bytes);

/* cuda_lanes.c. Whether step i, of those before `to`, may run beside the next ones. */
bool cuda_stands_aside(const struct exec *e, const struct cuda_variant *v, uint32_t i, uint32_t to);
/* Appends a step, aside or to the chain; there it waits for what it must not overtake. */
enum status cuda_lane_add(struct exec *e, const struct cuda_variant *v, uint32_t i, bool aside,
                          struct cuda_line *line);
/* What comes next waits for everything. */
void cuda_lanes_meet(struct cuda_line *line);

/* cuda_loop.c */
/* Kernels of the steps from .. to - 1, in all iterations of their loops; a library product counts as one.
 * Stops at UINT64_MAX. */
uint64_t cuda_step_kernels(const struct cuda_variant *v, uint32_t from, uint32_t to);
uint64_t cuda_add_times(uint64_t sum, uint64_t n, uint64_t times); /* sum + n * times, at most UINT64_MAX */
/* Whether the loop is written out in the graph around it. */
bool cuda_unrolls(const struct cuda_variant *v, const struct plan_loop *l);
/* Kernel by kernel: the step that comes after step i. */
uint32_t cuda_next(struct cuda_variant *v, uint32_t i);

/* cuda_launch.c: steps, ring, flow control */
enum status cuda_launch(struct exec *e, uint32_t variant, bool first);
/* Waits until *word, which the device writes, is at least n; `what` number n is what does not come. */
enum status cuda_wait_word(struct exec *e, const uint64_t *word, uint64_t n, const char *what);
const struct ring_slot *cuda_slot(struct exec *e, uint64_t n, bool wait);
enum status cuda_sync(struct exec *e);

/* cuda_audit.c, cuda_profile.c */
enum status cuda_audit_open(struct exec *e);
void cuda_counts(struct exec *e, struct exec_counts *out, bool reset);
enum status cuda_profile(struct exec *e, uint32_t variant, double *seconds);

/* cuda_segment.c */
enum status cuda_segments_build(struct exec *e);
enum status cuda_launch_segment(struct exec *e, uint32_t segment, const struct segment_command *c);

/* cuda_parts.c: events between the parts of a launch; without options.parts, these do nothing */
enum status cuda_parts_open(struct exec *e);
void cuda_parts_close(struct exec *e);
enum status cuda_parts_begin(struct exec *e);
enum status cuda_part_end(struct exec *e, uint8_t part);
enum status cuda_parts(struct exec *e, double seconds[PART_COUNT]);
const char *cuda_error_text(struct exec *e);
const char *cuda_warning_text(struct exec *e);

/* cuda_debug.c. next: the op that runs after this one; it lies behind where a loop has no iterations, and in
 * front where another iteration begins: then nothing dies. */
enum status cuda_debug_prepare(struct exec *e, uint32_t variant);
enum status cuda_debug_before(struct exec *e, uint32_t variant);
enum status cuda_debug_op(struct exec *e, uint32_t variant, uint32_t op);
enum status cuda_debug_after(struct exec *e, uint32_t variant, uint32_t op, uint32_t next);
enum status cuda_debug_end(struct exec *e, uint32_t variant);

/* cuda_declare.c: the same moments, told to a tool. `open` asks for one (e->heap stays NULL without it) once
 * the persistent prefix is uploaded. */
enum status cuda_declare_open(struct exec *e);
enum status cuda_declare_before(struct exec *e, uint32_t variant);
enum status cuda_declare_op(struct exec *e, uint32_t variant, uint32_t op);
enum status cuda_declare_after(struct exec *e, uint32_t variant, uint32_t op, uint32_t next);
enum status cuda_declare_end(struct exec *e, uint32_t variant);

/* A backend over any api: everything but `open`, which the caller supplies. */
extern const struct backend cuda_backend_functions;

#endif
