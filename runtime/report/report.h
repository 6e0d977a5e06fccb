/* What a run tells: progress for people on a stream, metrics.jsonl and run.json for programs.
 *
 * The caller owns the stream and passes plain numbers; nothing here knows graphs or plans. metrics.jsonl is
 * append-only, one whole line a write, so that a killed run leaves a readable file. Numbers that are not
 * finite are written as null.
 */
#ifndef GML_REPORT_REPORT_H
#define GML_REPORT_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

struct metric_value {
    const char *name; /* "train.loss" */
    double value;
    const double *replica; /* of several replicas: the value of each; NULL = `value` alone */
    uint32_t n_replica;
};
enum event_kind { EVENT_STEP, EVENT_EPOCH, EVENT_EVAL };
struct event {
    enum event_kind kind;
    const char *phase;
    int64_t step;  /* training steps of the run so far */
    int64_t epoch; /* finished passes of the phase over its data */
    const struct metric_value *metric;
    uint32_t n_metric;
    double seconds; /* since the run began */
    bool more;      /* an event of another kind follows for the same step: no line for people of its own */
};
/* --audit: calls to the device while the training went on by itself. `source`: who counted. */
struct audit_summary {
    double launches_per_step;
    uint64_t bytes_d2h, bytes_h2d, bytes_stream, syncs, allocations, graph_updates;
    const char *source;
    uint64_t graphs, kernels, copies, host_nodes, memory_nodes; /* in the graphs that were launched */
};
struct summary {
    const struct metric_value *metric;
    uint32_t n_metric;
    int64_t steps, skipped;
    double seconds;
    const char *device, *status;        /* "cpu", "cuda: NVIDIA H200"; "done", "stopped", ... */
    const struct metric_value *part_ms; /* mean time of each part of a training step; NULL = not timed */
    uint32_t n_part;
    const struct audit_summary *audit; /* NULL = none */
};

struct report_options {
    FILE *out; /* progress; NULL or quiet: none */
    bool quiet;
    bool is_terminal, color;
    const char *metrics_path; /* NULL: no file */
    int64_t steps;            /* planned training steps; 0 = unknown */
};
struct report;
MUST_CHECK enum status report_open(struct arena *a, const struct report_options *o, struct diag_sink *sink,
                                   struct report **out);
/* A line of metrics.jsonl and a line of progress (a step event redraws the bar on a terminal). */
MUST_CHECK enum status report_event(struct report *r, const struct event *e);
/* Redraws the progress bar at most ten times a second; cheap to call after every step. Terminals only. */
void report_tick(struct report *r, const struct event *e);
/* A line for people between the others ("saved ..."). */
void report_say(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Last line of metrics.jsonl. */
MUST_CHECK enum status report_summary(struct report *r, const struct summary *s);
void report_close(struct report *r);

/* The summary as one JSON line (without line end) or as a table for people. */
const char *summary_json(struct arena *a, const struct summary *s);
void summary_print(const struct summary *s, FILE *out);
/* The shortest decimal that reads back to the same number (as f32 when it is one); "null" when not finite. */
void number_text(double x, char out[32]);
/* Text as a JSON string, with its quotes. */
const char *json_text(struct arena *a, const char *s);

/* run.json. Values are strings, numbers or raw gml text, as the caller has them. */
struct run_config {
    const char *name, *value;
};
struct run_file {
    const char *name, *path;
    uint64_t hash;
    int64_t rows; /* -1: an array without rows */
};
struct run_info {
    const char *model, *command, *device, *device_version, *precision, *version;
    int64_t seed;
    int threads;
    uint32_t replicas; /* 0 = none */
    uint64_t arena_bytes;
    const struct run_config *config;
    uint32_t n_config;
    const struct run_file *data;
    uint32_t n_data;
};
MUST_CHECK enum status report_run_json(const char *path, const struct run_info *r, struct diag_sink *sink);

#endif
