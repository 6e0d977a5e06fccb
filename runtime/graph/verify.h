/* What the parts of the verifier share. */
#ifndef GML_GRAPH_VERIFY_H
#define GML_GRAPH_VERIFY_H
#include "runtime/graph/shape.h"

struct verify {
    struct graph *g; /* only its dims grow, and its arena takes messages */
    struct diag_sink *sink;
    bool loaded; /* codes F15xx; else the graph came from a pass and every failure is I0001 */
    enum status status;
};
/* Reports and remembers; returns false. */
bool verify_fail(struct verify *k, enum diag_code code, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Whether v is a node of the phase. */
static inline bool verify_node_of(const struct verify *k, val v, uint32_t phase)
{
    return v > 0 && v < k->g->nodes.n && k->g->nodes.at[v].phase == phase;
}
static inline bool verify_dim(const struct verify *k, dim d)
{
    return d > 0 && d < k->g->dims.list.n;
}
bool verify_span(const struct verify *k, struct span at);
/* verify_phase.c: the tables of phases alone (before the nodes), then their roots, then the run block. */
void verify_phases(struct verify *k);
void verify_roots(struct verify *k);
void verify_run(struct verify *k);

#endif
