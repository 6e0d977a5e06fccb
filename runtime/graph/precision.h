/* More ways to change the precision of a graph; graph_set_precision is in graph.h. */
#ifndef GML_GRAPH_PRECISION_H
#define GML_GRAPH_PRECISION_H
#include "runtime/graph/graph.h"

/* Every float becomes f64, bf16 that the text asks for included: for finite differences. */
void graph_all_f64(struct graph *g);
/* And every bf16 f32: the same nodes without the rounding. */
void graph_all_f32(struct graph *g);
/* Products of f32 values in phases of the user take operands rounded to TF32 (10 bits of mantissa), as tensor
 * cores do; their sums and everything else stay f32. */
void graph_products_tf32(struct graph *g);

#endif
