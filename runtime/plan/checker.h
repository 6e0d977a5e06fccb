/* Inside plan_check. It reads the finished plan and the graph only, and shares no code with the planner: it
 * has its own idea of views, extents and overlaps, so that a mistake must be made twice to go unseen.
 */
#ifndef GML_PLAN_CHECKER_H
#define GML_PLAN_CHECKER_H
#include "runtime/plan/plan.h"

struct extent {
    uint64_t from, end; /* bytes of the arena; empty when equal */
};
struct extent operand_extent(const struct operand *o);
/* Reports I0001 with what is wrong and where; returns its status. */
enum status plan_wrong(const struct plan *p, struct diag_sink *sink, uint32_t node, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* checker_places.c: every byte range is where it may be and nothing that lives at the same time overlaps. */
MUST_CHECK enum status check_places(const struct plan *p, struct diag_sink *sink);
/* checker_values.c: running the schedule with names instead of numbers, every operand finds the value that
 * the graph means. */
MUST_CHECK enum status check_values(const struct plan *p, uint32_t variant, struct diag_sink *sink);

/* -- checker_values.c, and checker_groups.c for groups */

enum { TAG_OLD = 0 };            /* what was there before the tick: variables, constants, padding, raw rows */
#define TAG_UNDEFINED UINT32_MAX /* planned bytes not written in this tick */

struct segment {
    uint64_t from, end, start; /* start: address of element 0 of the tagged value */
    uint32_t tag;
};
struct run {
    const struct plan *p;
    const struct plan_variant *v;
    const struct graph *g;
    struct diag_sink *sink;
    struct arena *arena;
    struct binding at;
    bool *again;                /* by loop: its body runs for the second time */
    VEC(struct segment) memory; /* ascending, without gaps from 0 to plan.bytes */
    uint32_t launch;
};

/* An element of a node, on its way down to where it was computed. */
struct element {
    uint32_t node;
    int64_t dims[LIMIT_RANK], index[LIMIT_RANK];
};

/* Sizes of a node. */
bool run_dims(const struct run *r, const struct node *n, int64_t *dims);
int64_t run_ravel(const int64_t *index, const int64_t *dims, int rank);
void run_unravel(int64_t at, const int64_t *dims, int rank, int64_t *index);
/* The same element in the input of a view. */
bool run_step_view(const struct run *r, struct element *e);
/* From an element of a flat gradient to the leaf value it comes from; false in the padding. */
bool run_step_pack(const struct run *r, struct element *e);
bool run_constant_at(const struct run *r, uint64_t address, enum dtype t, double value);
/* Whether the element lies at the address now. */
bool run_lies_at(const struct run *r, struct element e, uint64_t address);
/* Whether all bytes hold one value, or old ones, or lie in a gradient block. */
bool run_uniform(const struct run *r, struct extent e);
/* The end of the loop whose counter an operand is, 0 = of none. While the loop runs, its counter and the
 * stacks of its yields are named after it. */
uint32_t run_counter(const struct run *r, const struct operand *o);
void run_write(struct run *r, struct extent e, uint32_t tag);
/* Index number `number` of a sample: corners first. */
void run_sample(const int64_t *dims, int rank, int number, int64_t *index);
/* The program of a group makes, at sampled points, the elements that the graph means; its stores are apart,
 * and over loads only point by point. */
MUST_CHECK enum status check_group(struct run *r, const struct plan_op *op);

#endif
