/* Measuring: `gmlrun bench` and `gmlrun profile`. */
#ifndef GML_RUN_BENCH_H
#define GML_RUN_BENCH_H
#include "runtime/plan/cost.h"
#include "runtime/run/run.h"

struct bench {
    const char *phase, *device;
    int64_t steps, rows; /* measured; rows of a launch */
    double steps_per_second, median_ms,
        best_ms;                /* of a step: over blocks of steps that are issued together, */
    double p5_ms, p95_ms;       /* their quantiles */
    bool has_parts;             /* options.parts: parts were launched and timed apart */
    double part_ms[PART_COUNT]; /* median */
    uint32_t nodes;             /* launches of the plan, bodies of loops once */
    uint64_t kernels;           /* of a step, in all iterations; the tick is one */
    double launches;            /* of the host, per step */
    double bytes, flops;        /* of a step (plan/cost.h) */
    uint64_t arena_bytes, planned_bytes, bound_bytes; /* planned region of the phase, and its lower bound */
    uint64_t peak_bytes; /* device memory in use more than when the device was opened; CPU: of the process */
    double context_seconds, open_seconds; /* in the driver; from run_open to the first step, without that */
};
/* The phase named, else the first that trains, from where the run block first comes to it. */
MUST_CHECK enum status run_bench(struct run *r, struct bench *out);
/* One step, waited for: fills `open_seconds` and `context_seconds` alone. To be called first. */
MUST_CHECK enum status run_first_step(struct run *r, struct bench *out);

struct profile_row {
    const char *op, *scope, *place; /* "digits.gml:14" */
    enum part part;
    int64_t times;  /* in a step */
    double seconds; /* each time */
    struct op_cost cost;
    double share;  /* of the peak that limits it, 0 .. 1; 0 = unknown */
    bool by_flops; /* that peak is arithmetic, not bandwidth */
};
struct profile {
    const char *phase, *device;
    const struct profile_row *row; /* in the order of the step */
    uint32_t n;
    double seconds;    /* the sum, iterations included */
    double bandwidth;  /* bytes a second that shares are of, 0 = unknown */
    const char *peaks; /* where they are from */
};
/* Goes through the run block until its next launch would be of that phase, or for 1,000 launches. */
MUST_CHECK enum status run_up_to(struct run *r, uint32_t phase);
/* Runs every launch of the phase by itself; the run is of no use after. */
MUST_CHECK enum status run_profile(struct run *r, struct arena *a, struct profile *out);

#endif
