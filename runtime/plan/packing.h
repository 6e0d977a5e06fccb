/* Packing intervals into one region: each has a size and a span of time; two that overlap in time must not
 * overlap in bytes. Knows nothing of graphs. Deterministic: equal input, equal result.
 */
#ifndef GML_PLAN_PACKING_H
#define GML_PLAN_PACKING_H
#include "runtime/base/mem.h"

struct interval {
    uint64_t bytes;       /* a multiple of the alignment; 0 takes no room */
    uint32_t first, last; /* inclusive */
    uint64_t offset;      /* result */
};
struct packing {
    uint64_t bytes, bound; /* bytes used; largest sum of bytes alive at once, which no packing can beat */
    uint32_t peak;         /* the time of that sum */
    const char *order;     /* what won: "size first-fit", .., "climb" */
};
/* Lower bound alone. */
void packing_bound(const struct interval *x, uint32_t n, struct packing *out);
/* {size, size*life, life, start} x {first fit, best fit}; stops at the bound. Else a climb of at most 500
 * tries from the best one. */
void pack_intervals(struct interval *x, uint32_t n, struct packing *out);
/* One after another with `gap` bytes before, between and after: nothing shares bytes. */
void pack_apart(struct interval *x, uint32_t n, uint64_t gap, struct packing *out);

#endif
