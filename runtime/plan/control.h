/* The control block: everything that changes from step to step, in the arena, one per run. Plain data, valid
 * in C11 and CUDA C++; host and device agree on its bytes. Kernels read it; only the tick (kernels/tick.h)
 * writes it, except for the failure word (first writer wins). The host writes it once, before the first
 * launch, and reads it after a fault. Also the metric ring: slots in memory that host and device both see
 * (CPU: ordinary memory). */
#ifndef GML_PLAN_CONTROL_H
#define GML_PLAN_CONTROL_H
#include <stdint.h>
#include "runtime/base/limits.h"
#include "runtime/plan/segment.h"

enum fault_code { FAULT_NONE, FAULT_INDEX, FAULT_LABEL, FAULT_ASSERT };
struct fault {
    int32_t code;  /* enum fault_code; written first (compare and swap from 0) */
    uint32_t node; /* graph node, names the source line */
    int64_t a, b;  /* INDEX: index, bound. LABEL: label, classes */
};
struct phase_control {
    int64_t step;                /* launches done, committed or not */
    int64_t steps;               /* launches planned by `run` */
    int64_t epoch;               /* finished passes over the data */
    int64_t cursor;              /* next row of the epoch */
    int64_t rows;                /* rows of the split */
    int64_t row0;                /* first row of the split in the resident set */
    int64_t skips, skips_in_row; /* launches whose commits were dropped by the non-finite guard */
    int64_t visit;               /* the next launch starts a visit */
};
struct metric_control {
    double sum, weight; /* of the current visit of the phase; MEAN: sum / weight */
    double last; /* value at the end of the last launch, as the mode defines it; what `P.metric` reads */
};
struct control {
    uint64_t key;  /* mix64(seed) */
    uint64_t seed; /* replica r draws with mix64(seed + r) */
    struct fault fault;
    int64_t launches; /* of all phases */
    double knob[LIMIT_KNOBS];
    struct phase_control phase[LIMIT_PHASES];
    struct metric_control metric[LIMIT_METRICS]; /* phase after phase, see plan_variant.metric0; replicas of a
                                                    metric lie side by side */
    int64_t max_skips;                           /* so many skips in a row end the run; 0 = any number */
    int64_t over; /* the run has ended, by a fault or by skips: segments go no further */
};

/* One slot per launch, written by the tick. `seq` is written last, after a system fence: launch n (from 1)
 * goes to slot (n - 1) % LIMIT_RING_SLOTS, so a slot is complete when seq == n. */
enum { RING_METRICS = 32, RING_VALUES = 512 }; /* metrics of one phase; times replicas */
struct ring_slot {
    uint64_t seq;
    int32_t phase;
    int32_t skipped; /* commits of this launch were dropped */
    int64_t step, epoch, skips_in_row;
    struct fault fault;
    double value[RING_VALUES]; /* running value of each metric of the phase over the visit; its replicas
                                  lie side by side */
    double now[RING_VALUES];   /* value of this launch alone */
};
struct ring {
    struct ring_slot slot[LIMIT_RING_SLOTS];
    struct segment_command command[2]; /* by number of the segment's launch: written by the host, */
    int64_t begun;                     /* and read by so many */
};

#endif
