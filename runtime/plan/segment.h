/* Segments: the parts of a `run` block that a device goes through by itself, in one launch. A segment is a
 * tree of loops, ticks, questions (`every`) and endings (`stop when`), laid out in preorder, around which one
 * more loop may lie, whose rounds are handed out launch by launch. Plain data, valid in C11 and CUDA C++:
 * runtime/run makes it from the run block, kernels/segment.h says what its steps do, backends put these in
 * order.
 *
 * What changes while it runs is struct segment_state, on the device; the host sends struct segment_command
 * with each launch and keeps the same account from the slots that come back.
 */
#ifndef GML_PLAN_SEGMENT_H
#define GML_PLAN_SEGMENT_H
#include <stdint.h>

enum { SEGMENT_LOOPS = 16, SEGMENT_MARKS = 16 };

enum segment_kind {
    SEGMENT_LOOP,  /* n iterations of what is inside */
    SEGMENT_TICK,  /* one launch of a variant */
    SEGMENT_EVERY, /* what is inside, when the counter has passed a multiple of n since it was last asked */
    SEGMENT_STOP   /* when the output of the variant holds, the innermost repeat is left */
};
struct segment_node {
    int32_t kind;      /* enum segment_kind */
    uint32_t end;      /* nodes [own index + 1, end) are inside */
    uint32_t variant;  /* TICK, STOP: of the plan */
    int32_t first;     /* TICK: a visit by itself */
    int32_t phase;     /* LOOP: a visit of it starts with the loop; EVERY: its launches count; -1: none */
    uint32_t loop;     /* LOOP: its counter; EVERY without phase: of the loop whose rounds count */
    uint32_t mark;     /* EVERY: place of the last multiple */
    uint32_t forget;   /* LOOP: bits of marks that start at 0 with it */
    int32_t is_repeat; /* LOOP: `stop when` leaves it */
    int32_t may_leave; /* after it a `stop when` may hold for the statements that follow */
    int64_t n;         /* LOOP, EVERY */
};
/* With each launch, from the host. */
struct segment_command {
    int64_t rounds;  /* to be made, at most */
    int64_t round;   /* number of the first one, from 1: what `every n rounds` counts */
    int64_t goes_on; /* the state is that after the last launch, of the same segment: only `rounds` is read */
    int64_t phase;   /* a visit of it starts with the launch; -1: none */
    int64_t mark[SEGMENT_MARKS];
};
struct segment_state {
    int64_t launches;             /* of segments: the next command is number launches % 2 */
    int64_t rounds;               /* left in this launch */
    int64_t leave;                /* a `stop when` holds */
    int64_t round[SEGMENT_LOOPS]; /* by loop: the running iteration, from 1. [0]: of the loop around all */
    int64_t mark[SEGMENT_MARKS];
};

struct plan_segment {
    const struct segment_node *node;
    uint32_t n_node;
    int32_t loops; /* rounds of the whole are repeated; else there is one */
};

#endif
