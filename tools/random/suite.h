/* A run over many seeds, for the test and for the program. */
#ifndef GML_TOOLS_RANDOM_SUITE_H
#define GML_TOOLS_RANDOM_SUITE_H
#include <stdio.h>
#include "tools/random/random.h"

enum { GRADIENT_EVERY = 2, MAX_FAILURES = 5 };
struct random_suite {
    uint64_t from, n;
    volatile uint64_t *seed; /* where the running seed is noted, may be NULL */
    uint64_t graphs, nodes, gradients, quotients, moving, kinks, not_finite, not_bits, failures;
    uint32_t covered[OP_COUNT]; /* graphs that have the row */
    uint32_t
        differentiated[OP_COUNT]; /* graphs with difference quotients whose gradient goes through the row */
    uint32_t missing;             /* reachable rows that no graph has */
    uint32_t undifferentiated;    /* rows with a gradient of which no gradient was taken */
};
/* The graph of a seed in text form: even seeds f32, odd ones f64, every seventh of mixed types. `gradient`:
 * the graph that is used for difference quotients; `used` is then
 * set for the rows that its gradient goes through. */
const char *random_seed_text(struct arena *a, uint64_t seed, bool gradient, bool *used);
/* Whether a gradient must go through the row in some graph. */
bool random_has_gradient(enum op op);
/* Prints each failure, shrunk, on stderr; stops after MAX_FAILURES. */
void random_suite_run(struct random_suite *s);
void random_suite_print(const struct random_suite *s, FILE *out);

#endif
