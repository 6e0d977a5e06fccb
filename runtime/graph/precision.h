/* One more way to change the precision of a graph; graph_set_precision is in graph.h. */
#ifndef GML_GRAPH_PRECISION_H
#define GML_GRAPH_PRECISION_H
#include "runtime/graph/graph.h"

/* Every float becomes f64, bf16 that the text asks for included: for finite differences. */
void graph_all_f64(struct graph *g);

#endif
