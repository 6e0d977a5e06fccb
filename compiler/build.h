/* Building nodes by meaning rather than by row: broadcasting, literals, rank-2 products. Used by the
 * elaborator, by the vector-Jacobian products and by the derivative formulas of ops.def, so all three mean
 * the same by `x * y`.
 *
 * Broadcasting (language-rules 3.1): axes align from the right; equal, or one of them is a *unit axis*.
 * Whether a 1 is a unit axis is the caller's knowledge (`unit` bit masks of types, see elab); here every dim
 * that is the constant 1 stretches. A failure returns 0 after a diagnostic; 0 as an input returns 0 silently
 * (poison).
 *
 * At most one argument of a call may build a node: C leaves the order of arguments open, and the same model
 * must give the same graph whatever compiler built gmlc.
 */
#ifndef GML_COMPILER_BUILD_H
#define GML_COMPILER_BUILD_H
#include "runtime/graph/graph.h"

struct build {
    struct graph *g;
    struct diag_sink *sink;
    uint16_t phase;
    struct span span;
    uint32_t scope;
    struct formulas *formulas; /* parsed derivative texts, in the graph's arena; NULL until the first */
};
/* Any row without attributes; ELEM inputs are broadcast. */
val build_op(struct build *b, enum op op, const val *in, uint32_t n);
val build_1(struct build *b, enum op op, val x);
val build_2(struct build *b, enum op op, val x, val y);
val build_3(struct build *b, enum op op, val x, val y, val z);
val build_const(struct build *b, enum dtype t, double v);        /* rank 0 */
val build_dim(struct build *b, enum dtype t, dim d);             /* rank 0 */
val build_full(struct build *b, const struct type *t, double v); /* constant of that type (expanded) */
val build_cast(struct build *b, val x, enum dtype t);
/* `op` SUM, MEAN, AMAX, ...; axes ascending; keep leaves unit axes. n_axes -1 = all. */
val build_reduce(struct build *b, enum op op, val x, const int *axes, int n_axes, bool keep);
val build_reshape(struct build *b, val x, int rank, const dim *shape);
val build_permute(struct build *b, val x, const int *perm);
val build_expand(struct build *b, val x, int rank, const dim *shape); /* right-aligned, adds leading axes */
val build_slice(struct build *b, val x, const dim *start, const int64_t *step, const dim *size);
/* `size` elements of one axis from `from` on by steps; the other axes whole. */
val build_part(struct build *b, val x, int axis, dim from, dim size, int64_t step);
val build_turn(struct build *b, val x);           /* the last two axes swapped */
val build_unit(struct build *b, val x, int axis); /* with an axis of size 1 before `axis` */
/* Leaf `leaf` of tree `tree` (index into g->trees) over a flat block, and the reverse: the block made of its
 * leaves. */
val build_leaf(struct build *b, val flat, uint32_t tree, uint32_t leaf);
val build_pack(struct build *b, uint32_t tree, const val *leaf);
struct type build_tree_type(struct build *b, uint32_t tree, enum dtype t); /* its flat block */
/* Strided box written into zeros of type t: the reverse of build_slice. */
val build_pad(struct build *b, val x, const dim *start, const int64_t *step, const struct type *t);
/* x[.., I] @ w[I, O]: leading axes flattened; otherwise equal leading axes. */
val build_matmul(struct build *b, val x, val w);
/* Reverse of broadcasting: sums x down to type t. */
val build_sum_to(struct build *b, val x, const struct type *t);

/* A row with attributes. */
val build_attrs(struct build *b, enum op op, const val *in, uint32_t n, const int64_t *attr, uint32_t n_attr);
val build_concat(struct build *b, const val *in, uint32_t n,
                 int axis); /* any number of parts, at least one */
/* x moved by one place along the axis: up, element i is x[i - 1], else x[i + 1]; `fill` comes in at the end.
 */
val build_shift(struct build *b, val x, int axis, bool up, double fill);
val build_iota(struct build *b, dim n);
/* v added into zeros [.., size] at index i along the last axis: the reverse of take. */
val build_spread(struct build *b, val v, val i, dim size);

/* The operator written as `+`, `and`, `-` (with one input: neg), ...; OP_NONE when there is none. */
enum op op_by_symbol(const char *symbol, uint32_t n_in);
/* How a user writes the operator: its symbol, its DSL name, or its internal name. */
const char *op_text(enum op op);

/* Evaluates a derivative formula of ops.def ("g * r") over named values. */
struct formula_name {
    const char *name;
    val value;
};
val build_formula(struct build *b, const char *text, const struct formula_name *names, uint32_t n);

#endif
