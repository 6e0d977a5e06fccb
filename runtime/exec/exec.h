/* Backends: cpu, null, and cuda (a plugin opened at run time). One struct of function pointers each; all take
 * the same plan.
 *
 * Life of a run: open ▶ arena (the only allocation) ▶ prepare (warm-up of library calls, graphs built) ▶
 * upload of the persistent prefix ▶ launch, launch, ... ▶ download ▶ close. After prepare nothing is
 * allocated. Launches are numbered from 1 over the whole run; launch n's results appear in ring slot (n - 1)
 * % LIMIT_RING_SLOTS.
 */
#ifndef GML_EXEC_EXEC_H
#define GML_EXEC_EXEC_H
#include "runtime/plan/plan.h"

/* LAUNCH_TICKS: the most that one launch of a segment may come to; two such launches fit the ring. */
enum { BACKEND_ABI = 7, LAUNCH_TICKS = LIMIT_RING_SLOTS / 2 };

struct exec_options {
    int device;            /* cuda:N */
    int threads;           /* cpu; 0 = all cores */
    bool debug_plan;       /* poison freed regions with NaN, check red zones after each launch (eager) */
    bool eager;            /* cuda: no graphs, one kernel after another (for comparison) */
    bool parts;            /* launch the four parts apart and time them */
    bool audit;            /* count what the driver is asked for, not only what this backend asks for */
    bool no_products;      /* the plan will hold no library product: the library is not opened */
    const char *cuda_path; /* folder of the CUDA libraries, may be NULL */
    const char *cache;     /* cuda: folder of compiled kernels; NULL = the user's, "none" = none */
};
/* What the graphs hold that are launched, bodies of loops included. Bytes: of copies from and to the host, of
 * one pass through each. */
struct exec_walk {
    uint64_t graphs, kernels, copies, host, memory, bytes_h2d, bytes_d2h;
};
/* Calls the host made to the device API in steady state (since the last reset). */
struct exec_counts {
    uint64_t launches, bytes_h2d, bytes_d2h, syncs, allocations, graph_updates, kernels_per_launch;
    struct exec_walk walk; /* of all graphs built so far; needs options.audit */
    const char *source;    /* who counted: "cupti", "cuda_api", "cpu", "null" */
};
struct exec_device {
    char name[128];
    char driver[160]; /* driver and library versions */
    uint64_t memory, free;
    double context_seconds; /* that the driver took to make the device usable; 0 without one */
    struct target target;
};
struct exec; /* a backend's private state; its first member is `const struct backend *` */
struct backend {
    uint32_t abi;
    const char *name;
    /* All return a status and leave the text of the failure in error(). e may be NULL only for open. */
    enum status (*open)(const struct exec_options *o, struct exec **e, char *why, size_t why_n);
    enum status (*device)(struct exec *e, struct exec_device *out);
    enum status (*arena)(struct exec *e, uint64_t bytes);
    enum status (*upload)(struct exec *e, uint64_t offset, const void *from, uint64_t bytes);
    enum status (*download)(struct exec *e, uint64_t offset, void *to, uint64_t bytes);
    /* Builds everything needed to launch any variant of the plan. Call after arena(), before upload(). */
    enum status (*prepare)(struct exec *e, const struct plan *p);
    /* Issues one tick of variant v; `first` starts a visit (its metrics start anew). Returns at once where
     * the device is asynchronous; blocks only when two launches are in flight. */
    enum status (*launch)(struct exec *e, uint32_t variant, bool first);
    /* Issues a segment of the plan. Every tick of it has a number and a slot of its own; how many there will
     * be, the backend does not know. So a launch that is not of a segment may only follow once the caller has
     * read all slots, and at most two segments may be in flight, whose ticks fit the ring. Blocks while the
     * command before the last has not been read. Not with debug_plan, eager or parts. NULL: it cannot. */
    enum status (*launch_segment)(struct exec *e, uint32_t segment, const struct segment_command *c);
    /* Slot of launch n: NULL while it is not finished; wait = block until it is (or ST_DEVICE after
     * `watchdog` seconds without progress). */
    const struct ring_slot *(*slot)(struct exec *e, uint64_t n, bool wait);
    enum status (*sync)(struct exec *e); /* all launches done */
    /* Seconds that each part of the last launch took, the tick in its last part; needs options.parts. Waits
     * for the launch. ST_USAGE where parts are not timed. */
    enum status (*parts)(struct exec *e, double seconds[PART_COUNT]);
    /* Seconds that each op of a variant takes by itself, in a chain of its like as in a graph; of an op
     * inside a loop, once. Runs them, so values are lost: nothing useful can be launched after. NULL: cannot.
     */
    enum status (*profile)(struct exec *e, uint32_t variant, double *seconds);
    void (*counts)(struct exec *e, struct exec_counts *out, bool reset);
    const char *(*error)(struct exec *e);
    /* What went wrong in prepare() without harm, "" if nothing: the cache of kernels could not be written.
     * NULL: nothing can. */
    const char *(*warning)(struct exec *e);
    void (*close)(struct exec *e);
};
extern const struct backend backend_cpu, backend_null;
/* Opens libgml_cuda.so beside the executable ($ORIGIN, $ORIGIN/../lib) or in the build folder; NULL and a
 * reason when it cannot be had. */
const struct backend *backend_cuda(const char *cuda_path, char *why, size_t n);
/* The plugin's one exported symbol. */
typedef const struct backend *(*gml_cuda_backend_fn)(uint32_t abi);

/* A segment on a host arena, step by step: what cpu launches. `tick` runs one launch of a variant,
 * `holds` says whether the output of one does (`stop when`). */
struct segment_host {
    struct control *control;
    struct segment_state state;
    enum status (*tick)(struct exec *e, uint32_t variant, bool first);
    bool (*holds)(struct exec *e, uint32_t variant);
};
MUST_CHECK enum status host_segment(struct exec *e, struct segment_host *h, const struct plan_segment *s,
                                    const struct segment_command *c);

/* Runs one variant on the host arena at once, op by op (init, data and run-expression phases; the CPU
 * backend's own launches use it too). */
MUST_CHECK enum status cpu_run_variant(void *arena, const struct plan *p, uint32_t variant, int threads);

#endif
