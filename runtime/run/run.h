/* Running a graph: the `run` block, evaluation, summaries, benchmarks. This is the API that gmlrun uses.
 *
 * run_open loads the data, plans, opens the device, fills the arena on the host (variables, init and data
 * phases) and uploads it; after that the device holds everything and only scalars come back. Errors go to the
 * sink; nothing is printed except progress on `progress`. One run at a time a process: the CPU backend and
 * the stop flag are shared.
 */
#ifndef GML_RUN_RUN_H
#define GML_RUN_RUN_H
#include <signal.h>
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
    int64_t steps; /* -1 = all */
    uint64_t seed;
    int threads;     /* 0 = all cores */
    const char *out; /* run folder; NULL = runs/<model>-<n> */
    const char *weights;
    const char *phase; /* evaluation and benchmark; NULL = the obvious one */
    int64_t log_every; /* 0 = 1/200 of the run */
    int64_t max_skips;
    const char *cuda_path;
    bool quiet, debug_plan, parts;
    bool keep_values; /* no memory is used twice in a step: every value can be read after it */
    FILE *progress;   /* may be NULL */
    bool is_terminal, color;
    const volatile sig_atomic_t *stop; /* not 0: end after the current launch; may be NULL */
};
struct run;
/* The graph and the options must outlive the run; configs of the graph are changed by `set`. On failure *out
 * is NULL. */
MUST_CHECK enum status run_open(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                                struct run **out);
/* The same without a device: only run_summary and run_close may follow. */
MUST_CHECK enum status run_open_plan(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                                     struct run **out);
void run_close(struct run *r); /* NULL is fine */

/* Executes the run block and writes the run folder. ST_STOPPED after a signal, with the weights saved. *out
 * is filled in every case and lives as long as the run. */
MUST_CHECK enum status run_train(struct run *r, struct summary *out);
/* One pass of a phase over its rows, the smaller last launch included; also after run_train. */
MUST_CHECK enum status run_eval(struct run *r, struct summary *out);
/* Tree of parameters with shapes, counts and bytes; phases; regions of the arena. */
void run_summary(const struct run *r, FILE *out);

struct bench {
    const char *phase, *device;
    int64_t steps, rows;                         /* measured; rows of a launch */
    double steps_per_second, median_ms, best_ms; /* of a step */
    bool has_parts;                              /* options.parts: parts were launched and timed apart */
    double part_ms[PART_COUNT];                  /* median */
};
MUST_CHECK enum status run_bench(struct run *r, struct bench *out);
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
const char *graph_precision(const struct graph *g); /* "f64" when anything stored is, else "f32" */

#endif
