/* Running a graph: the `run` block, evaluation, summaries; bench.h has benchmarks. This is the API that
 * gmlrun uses.
 *
 * run_open loads the data, plans, opens the device, fills the arena on the host (variables, init and data
 * phases) and uploads it; after that the device holds everything and only scalars come back. Errors go to the
 * sink; nothing is printed except progress on `progress`. One run at a time a process: the CPU backend and
 * the stop flag are shared.
 */
#ifndef GML_RUN_RUN_H
#define GML_RUN_RUN_H
#include <signal.h>
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/data.h"
#include "runtime/exec/exec.h"
#include "runtime/report/report.h"

struct run_set {
    const char *name, *value;
};
struct run_options {
    const char *folder;  /* of the model file, for data paths; "" = working directory */
    const char *command; /* the command line, for run.json */
    const char *version;
    const char *device;        /* "cpu", "cuda", "cuda:1"; NULL = cuda where it works, else cpu */
    const struct run_set *set; /* configs changed at load (a graph that was loaded, not compiled here) */
    uint32_t n_set;
    const struct data_override *data;
    uint32_t n_data;
    const struct data_override *override; /* named draws read from a file; the graph was compiled for them */
    uint32_t n_override;
    int64_t steps; /* -1 = all */
    uint64_t seed;
    int threads;           /* 0 = all cores */
    const char *out;       /* run folder; NULL = runs/<model>-<n> */
    const char *precision; /* for run.json; NULL: what the graph says */
    const char *weights;
    const struct weight_map *map; /* renames tensors of the weights file */
    uint32_t n_map;
    bool allow_nonfinite; /* load weights that hold NaN or infinity */
    const char *phase;    /* evaluation and benchmark; NULL = the obvious one */
    int64_t log_every;    /* 0 = 1/200 of the run */
    int64_t max_skips;
    int64_t steps_per_launch; /* ticks of a launch at most, up to LAUNCH_TICKS; 0: on a GPU as many as
                                 take about 10 ms, elsewhere one. More than one not with
                                 debug_plan or parts */
    const char *cuda_path;
    const char *cache; /* folder of compiled kernels, see struct exec_options */
    bool quiet, debug_plan, parts;
    bool audit;       /* run_train counts the calls to the device, for its summary */
    bool no_fuse;     /* every launch by itself */
    bool keep_values; /* no memory is used twice in a step: every value is made, and can be read after it */
    FILE *progress;   /* may be NULL */
    bool is_terminal, color;
    const volatile sig_atomic_t *stop; /* not 0: end after the current launch; may be NULL */
};
struct run;
/* The graph and the options must outlive the run; configs of the graph are changed by `set`. On failure *out
 * is NULL. */
MUST_CHECK enum status run_open(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                                struct run **out);
/* What a plan is made for where no device is asked: `cpu`, `h200`; another name or NULL is the CPU. */
const struct target *run_target(const char *name);
/* The same without a device: only run_summary, run_dump_plan and run_close may follow. */
MUST_CHECK enum status run_open_plan(struct graph *g, const struct run_options *o,
                                     const struct target *target, struct diag_sink *sink, struct run **out);
void run_close(struct run *r); /* NULL is fine */

/* Executes the run block and writes the run folder. ST_STOPPED after a signal, with the weights saved. *out
 * is filled in every case and lives as long as the run. */
MUST_CHECK enum status run_train(struct run *r, struct summary *out);
/* For run_eval: like run_open, but only what the phase needs is planned and read; the graph forgets the rest.
 */
MUST_CHECK enum status run_open_eval(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                                     struct run **out);
/* One pass of a phase over its rows, the smaller last launch included; also after run_train. */
MUST_CHECK enum status run_eval(struct run *r, struct summary *out);
/* Opens a run, passes once over all rows of a phase that does not train (`o->phase`, else `predict`, else the
 * only one with outputs) and closes it. The outputs named, or all, come as arrays of `a`: those whose first
 * axis is the batch, or a whole multiple of it, joined over the launches in the order of the file, each row
 * once; others must be the same in every launch (E3109). With another file for its data set (`o->data`) than
 * its own all rows of that file are taken, and members that the outputs do not depend on need not be in it.
 * The graph forgets what it does not need.
 */
MUST_CHECK enum status run_predict(struct graph *g, const struct run_options *o, const char *const *output,
                                   uint32_t n_output, struct arena *a, struct diag_sink *sink,
                                   struct array_file *out);
/* Tree of parameters with shapes, counts and bytes; phases; regions of the arena. */
void run_summary(const struct run *r, FILE *out);
void run_summary_json(const struct run *r, FILE *out); /* the same as one JSON line */
/* The plan as JSON (docs/dump.md). */
void run_dump_plan(const struct run *r, FILE *out);

/* A parameter or state in the host image, row-major. */
struct run_tensor {
    const char *key;
    enum dtype dtype;
    int rank;
    const int64_t *dim;
    const void *data; /* as of the last run_read */
    uint64_t offset, bytes;
};
/* All of them, in the graph's order, in the caller's arena. */
void run_tensors(const struct run *r, struct arena *a, struct run_tensor **out, uint32_t *n);
/* Copies its value from the device. */
MUST_CHECK enum status run_read(struct run *r, const struct run_tensor *t);
/* Folder of the run, NULL before run_train made it. */
const char *run_folder(const struct run *r);
const char *run_model(const struct run *r);
/* Applies `set` to the configs of a compiled graph; run_open does it too. */
MUST_CHECK enum status graph_configure(struct graph *g, const struct run_options *o, struct diag_sink *sink);
/* A value for each replica (gml_replicate comes after it): of a live config; U1004 for any other. */
MUST_CHECK enum status graph_configure_list(struct graph *g, const char *name, const char *const *value,
                                            uint32_t n, struct diag_sink *sink);
const char *config_text(struct arena *a, const struct config *c); /* its value as gml text */
const char *graph_precision(const struct graph *g); /* "f64" when anything stored is, else "f32" */

#endif
