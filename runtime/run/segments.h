/* Segments of the run block as the host sees them: runtime/plan/segment.h is what the device gets. */
#ifndef GML_RUN_SEGMENTS_H
#define GML_RUN_SEGMENTS_H
#include "runtime/run/internal.h"

enum segment_shape {
    SHAPE_ROUNDS, /* rounds of repeat `stmt`, without those children that are `every` with host work */
    SHAPE_ONCE,   /* children from .. to - 1 of `stmt` */
    SHAPE_TICKS   /* full launches of `phase` */
};
/* Number k belongs to plan.segment[k]. */
struct run_segment {
    enum segment_shape shape;
    uint32_t stmt, from, to, phase;
    int64_t ticks, steps; /* a round comes to so many at most; of them steps of the run */
    int64_t *of_phase;    /* the same by phase */
    uint32_t mark_stmt[SEGMENT_MARKS], n_mark;
    /* Which is faster (flight.c). Seconds of a round, the least so far: by the host, on the device (0: not
     * known). */
    double alone, flown;
    int trials, flights; /* of which these are */
    double trial_start;
    int64_t trial_rounds; /* of the trial that is on */
};

/* segments.c: fills run.segment and plan.segment; `most`: ticks of a launch, less than 2: none. After
 * block_plan. */
MUST_CHECK enum status segments_choose(struct run *r, int64_t most);
/* The statement or something inside of it is work of the host. */
bool needs_host(const struct run *r, uint32_t stmt);

/* flight.c: launching segments, and following them by their slots */
/* NULL = there is none. */
struct run_segment *segment_of_rounds(struct run *r, uint32_t stmt);
struct run_segment *segment_once(struct run *r, uint32_t stmt, uint32_t child);
struct run_segment *segment_of_ticks(struct run *r, uint32_t phase);
/* Runs the next rounds of the repeat on the device, at most `left`, run.round being the first; *done: how
 * many, 0 when the host has to. */
MUST_CHECK enum status fly_rounds(struct run *r, struct run_segment *g, int64_t left, int64_t *done);
MUST_CHECK enum status fly_once(struct run *r, struct run_segment *g, bool *done);
/* The next full launches of a visit, `first` when it begins with them; `to_end`: the visit ends after `left`.
 */
MUST_CHECK enum status fly_ticks(struct run *r, struct run_segment *g, int64_t left, bool first,
                                 struct pending w, int64_t *done);

/* Around a round that the host goes through; the trial ends with the `last` one, or after a while. NULL:
 * nothing to measure. */
MUST_CHECK enum status alone_begin(struct run *r, struct run_segment *g);
MUST_CHECK enum status alone_end(struct run *r, struct run_segment *g, bool last);

/* block.c */
/* Launches of one visit and the number of visits of a GO. */
struct going {
    int64_t visits, launches;
    bool is_pass;
};
MUST_CHECK enum status count_of(struct run *r, const struct run_stmt *s, int64_t *n);
MUST_CHECK enum status going_of(struct run *r, const struct run_stmt *s, struct going *g);
/* Runs children from .. to - 1 of a statement, as far as the run goes on. */
MUST_CHECK enum status run_range(struct run *r, uint32_t stmt, uint32_t from, uint32_t to);

/* launches.c */
/* Training phases and lanes drop the rest of an epoch; others end with a smaller launch. */
bool drops_tail(const struct phase *p);
/* One launch; while a segment is followed, the next slot of it. */
MUST_CHECK enum status launch(struct run *r, uint32_t phase, bool first, struct pending w);

#endif
