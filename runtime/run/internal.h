/* The state of a run, shared by the files of runtime/run. */
#ifndef GML_RUN_INTERNAL_H
#define GML_RUN_INTERNAL_H
#include "runtime/base/number.h"
#include "runtime/base/seam.h"
#include "runtime/run/run.h"

enum { IN_FLIGHT = LIMIT_RING_SLOTS }; /* more than the ticks in flight whose slots are awaited */

/* What the host knows of a phase without asking the device. */
struct phase_state {
    int64_t row0, rows, batch;   /* of its split; rows asked for a launch */
    int64_t cursor;              /* mirrors the device's */
    int64_t launches, planned;   /* issued; by the run block */
    bool counts;                 /* its launches are steps of the run */
    const char **metric;         /* "train.loss" */
    uint32_t n_metric, n_ring;   /* the first n_ring come in slots, the others are made of them: */
    uint32_t made[RING_METRICS]; /* by phases of the graph, each with one output */
    bool seen;                   /* value holds something */
    /* Replicas of a metric lie side by side, here and in slots: RING_METRICS for each of them. */
    double *value;
    double *sum; /* of single launches since the last step line */
    int64_t *in_sum;
    double *told;       /* means of a step line */
    int64_t last_event; /* launch number of its last line, from 1; 0: none */
    int64_t logged;     /* step lines are due at multiples of log_every: the last one that had a line */
};
/* Beside each tick in flight: what its slot means. */
struct pending {
    uint32_t phase;
    bool ends_visit;
    enum event_kind kind; /* of the visit */
};
/* Looks on while a run goes; any function may be NULL. */
struct run_segment;
struct run_watch {
    /* Before a launch of the phase; may end the run. */
    enum status (*arrives)(struct run *r, uint32_t phase);
    /* After a launch was issued. */
    enum status (*launched)(struct run *r, const struct plan_variant *v);
    /* In the order of launches. */
    void (*slot)(struct run *r, uint32_t phase, const struct ring_slot *slot);
    void *ctx;
};
/* --audit: audit.c */
struct audit {
    bool on;
    int paused;
    uint64_t ticks; /* seen before */
    struct exec_counts sum;
};
struct run {
    struct arena *arena;
    struct graph *graph;
    const struct run_options *o;
    struct diag_sink *sink;
    struct data_sets *data; /* NULL once the arena is filled */
    struct run_file *file;  /* by data set, then constants that are read from files (rows: -1) */
    uint32_t n_file;
    const struct backend *backend;
    struct exec *exec;
    struct exec_device device;
    const char *device_name;
    int threads;
    struct plan *plan;
    char *image; /* the arena on the host, aligned inside of its allocation: */
    char *image_block;
    size_t image_bytes;
    struct phase_state *phase;
    struct report *report;
    const char *folder;
    double start;
    const struct run_watch *watch;   /* NULL = nobody */
    double part_seconds[PART_COUNT]; /* options.parts: of all training steps so far, */
    int64_t part_steps;              /* that many */
    struct audit audit;
    struct audit_summary audited;
    /* launches */
    uint64_t launched, seen;
    struct pending pending[IN_FLIGHT];
    int64_t steps_issued, steps_seen, skipped, limit, log_every;
    bool stopped; /* by the signal */
    bool faulted; /* a launch set the failure word: values on the device are doubtful */
    bool ended;   /* by --steps or the signal: nothing further is launched */
    /* the run block */
    bool leave;    /* a `stop when` holds: leave the innermost repeat */
    int64_t round; /* of the innermost repeat, from 1 */
    int64_t *mark; /* by statement: EVERY: last multiple seen */
    double *best;  /* by statement and replica: SAVE BEST: largest value so far */
    bool *has_best;
    /* replicas */
    struct run *one;      /* graph, plan and image of one copy; NULL without replicas */
    bool *running;        /* by replica: it has not stopped; NULL = all run */
    uint32_t running_var; /* the device's copy of that; 0 where the run block has no `stop when` */
    /* segments */
    struct run_segment *segment; /* by number, as in plan.segment */
    int64_t launch_ticks;        /* of a launch at most */
    bool following;              /* a tick is the next slot of what is in flight; nothing is launched */
    bool in_flight;              /* a further launch of the segment continues the last one */
    bool flew;                   /* there may be more slots than ticks that were followed */
};
static inline bool replica_runs(const struct run *r, uint32_t i)
{
    return !r->running || r->running[i];
}
/* Replicas of a run, at least 1. */
static inline uint32_t run_replicas(const struct run *r)
{
    return r->graph->replicas ? r->graph->replicas : 1;
}

static inline struct control *run_control(const struct run *r)
{
    return (struct control *)(void *)(r->image + r->plan->control);
}

/* open.c: the host image is filled as run_open does, but no device is opened. */
MUST_CHECK enum status run_open_host(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                                     struct run **out);
MUST_CHECK enum status upload(struct run *r); /* the persistent prefix of the image */
char *image_start(char *block);               /* aligned, inside of its allocation */
/* Initial values of variables into the image, by the init phase with that seed, or from a weights file. */
MUST_CHECK enum status image_initial(struct run *r, uint64_t seed);
/* replicas.c */
MUST_CHECK enum status replicas_fill(struct run *r); /* the same for all replicas */
/* Weights of the replicas in `which` (NULL: all) from the image: their number goes before .safetensors. */
MUST_CHECK enum status replicas_save(struct run *r, const char *path, const bool *which);
/* From now on these run: of others nothing changes any more. */
MUST_CHECK enum status replicas_run_on(struct run *r, const bool *running);
/* run.c */
enum status no_phase(const struct graph *g, struct diag_sink *sink, const char *name,
                     const char *what);                  /* "to evaluate" */
int user_phase(const struct graph *g, const char *name); /* -1 = none */
/* focus.c: forgets what the phase does not need; data sets without use get no path. */
void graph_focus(struct graph *g, uint32_t phase);

/* faults.c */
enum status device_failed(struct run *r, enum status st);
/* Runs a variant on the host image: init, data, run expressions. */
MUST_CHECK enum status run_on_host(struct run *r, const struct plan_variant *v);
enum status fault_report(struct run *r, const struct fault *f, int32_t phase);
enum status skips_report(struct run *r, uint32_t phase, int64_t in_row);
/* launches.c */
/* The first output of a variant on the host image, as numbers: one for each replica. */
void output_numbers(const struct run *r, const struct plan_variant *v, double *out);
/* The metrics of a phase with these values; replicas side by side. */
void metric_values(const struct run *r, const struct phase_state *s, const double *x, struct metric_value *m);
MUST_CHECK enum status visit(struct run *r, uint32_t phase, int64_t launches, enum event_kind kind);
MUST_CHECK enum status pass(struct run *r, uint32_t phase);
MUST_CHECK enum status settle(struct run *r);   /* waits for every launch */
MUST_CHECK enum status take_all(struct run *r); /* the same, of slots alone: no call to the device */
/* Waits for the launches in flight after the run has ended: they are neither counted nor reported. */
MUST_CHECK enum status drain(struct run *r);
int64_t launches_per_epoch(const struct run *r, uint32_t phase);
/* block.c */
MUST_CHECK enum status block_plan(struct run *r); /* fills phase.planned */
MUST_CHECK enum status block_run(struct run *r);
/* arrival.c: goes through the run block, to look at phases as it comes to them: `arrives` is called before
 * each launch and sets run.ended when it has seen enough. Ends after ARRIVAL_LAUNCHES launches in any case.
 */
MUST_CHECK enum status walk_run(struct run *r, enum status (*arrives)(struct run *, uint32_t phase),
                                void *ctx);
bool is_in_run(const struct graph *g, uint32_t phase);
/* audit.c: a window around the training; pauses may be nested. Without options.audit these do nothing, but
 * for audit_end, which is not called. */
void audit_begin(struct run *r);
void audit_pause(struct run *r);
void audit_resume(struct run *r);
void audit_end(struct run *r, struct audit_summary *out);
/* override.c: states that are read from files, in the image: constants, and what takes the place of named
 * draws.
 */
MUST_CHECK enum status fill_files(struct run *r);
/* save.c */
MUST_CHECK enum status folder_make(struct run *r);
MUST_CHECK enum status folder_of_file(struct run *r, char *path); /* makes what stands before the last / */
/* Of replicas: those in `which`, NULL = all. */
MUST_CHECK enum status save_weights(struct run *r, const char *path, const bool *which);
MUST_CHECK enum status download(struct run *r, uint64_t offset, uint64_t bytes);
/* info.c */
MUST_CHECK enum status write_run_json(struct run *r);
void fill_summary(struct run *r, enum status st, struct summary *out);

#endif
