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

#endif
