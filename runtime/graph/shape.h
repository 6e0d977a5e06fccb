/* What the shape rules share. A rule reads c->s (attributes, dims, explicit type) and c->in, and fills c->out
 * or reports once and returns false. Rules index nothing that is not checked: loaded graphs run through them
 * too. */
#ifndef GML_GRAPH_SHAPE_H
#define GML_GRAPH_SHAPE_H
#include "runtime/graph/graph.h"

/* Every OP row has a rule; a missing one is a link error. */
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)                   bool shape_##name(struct shape_ctx *c);
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc) bool shape_##name(struct shape_ctx *c);
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP
/* Facts that no rule should have to ask for: the operator exists, takes that many inputs, which are nodes of
 * the phase. */
bool shape_spec_ok(struct shape_ctx *c);
bool shape_elem(struct shape_ctx *c);
bool shape_reduce(struct shape_ctx *c);

/* The operator as the user knows it. */
const char *shape_name(const struct shape_ctx *c);
const char *shape_text(const struct shape_ctx *c, const struct type *t);
/* Reports `code` naming the types of inputs i and k, marks where both come from, and returns false. */
bool shape_pair(struct shape_ctx *c, enum diag_code code, int i, int k, const char *why);
/* The exact number of attributes and dims attributes. */
bool shape_attrs(struct shape_ctx *c, uint32_t n_attr, uint32_t n_dim);
/* Takes the explicit type as the result; it must be there and well-formed. */
bool shape_explicit(struct shape_ctx *c);
/* Whether input i is float, or a number (float or i32), or has exactly this dtype. */
bool shape_float(struct shape_ctx *c, int i);
bool shape_number(struct shape_ctx *c, int i);
bool shape_dtype(struct shape_ctx *c, int i, enum dtype t);
/* Input i has at least (or exactly) this rank. */
bool shape_min_rank(struct shape_ctx *c, int i, int rank);
bool shape_rank(struct shape_ctx *c, int i, int rank);
/* Result = a flat block of tree attr[i]; the dtype is the explicit one, else `t`. */
bool shape_flat(struct shape_ctx *c, uint32_t i, enum dtype t);
/* A box of start + step * [0, size) inside `whole` per axis, checked where sizes are known; attributes step,
 * dims start. */
bool shape_box(struct shape_ctx *c, const struct type *box, const struct type *whole);
/* An attribute that is an index below n. */
bool shape_index(struct shape_ctx *c, uint32_t attr, uint32_t n, const char *what);
/* With replicas: whether the explicit type says that each has a value of its own. */
bool shape_of_replicas(struct shape_ctx *c);
/* Scalar result. */
bool shape_scalar(struct shape_ctx *c, enum dtype t);

/* A type whose fields can be trusted: dtype exists, rank in range, dims exist. */
bool type_valid(const struct graph *g, const struct type *t);

/* Private to graph.c and the loaders: adds a node as it is, without rule, without looking for an equal one.
 * Inputs must exist. */
val graph_append(struct graph *g, const struct node_spec *s, const struct type *t);
/* Rebuilds the hash-consing table after nodes were changed in place. */
void graph_rehash(struct graph *g);
/* graph_verify with the codes of loaded graphs. */
MUST_CHECK enum status graph_verify_loaded(const struct graph *g, struct diag_sink *sink);

#endif
