/* What the text form's printer and parser agree on.
 *
 *   graph 1 model="digits"
 *   var 1 kind=param key="net.fc.w" type=f32[64, 128] tree=1 at=12:5+20     a record: keyword, index, fields
 * that are not zero field 0 name="x" ..                                                   records inside a
 * record: two columns in in 2 # train                                                            the phase of
 * the nodes that follow %12 = add f32[B, 128] %3, %11 @"net.fc" at=12:40+7                      a node %13 =
 * const f32[] {=0.5}                                                attributes; "=" gives the bits of an f64
 *   %14 = slice f32[4] %2 {1; 0}                                            dims after the semicolon
 *   source 1 "digits.gml"                                                   then its lines, each after "|"
 *
 * A place is line:column+length, with "file/" in front for other files than 1, or #file:start-end where that
 * does not resolve. The rest of a line after # is a comment. Order: graph, tables, nodes, phases, run,
 * sources.
 */
#ifndef GML_GRAPH_TEXT_H
#define GML_GRAPH_TEXT_H
#include <stdbool.h>
#include "runtime/graph/graph.h"

enum { GRAPH_TEXT_VERSION = 1 };

/* Whether attribute i of a node is the bits of an f64, for printing only. */
static inline bool attr_is_f64(const struct node *n, uint32_t i)
{
    return (n->op == OP_const && i == 0) || (n->op == OP_ranges && i > 0 && i % 2 == 1);
}
/* A quoted string with C escapes for what is not printable. */
void text_quote(struct text *out, const char *s);
void text_place(struct text *out, const struct graph *g, struct span at);
/* One node as its line, without the line end. */
void text_node(struct text *out, const struct graph *g, val v);

#endif
