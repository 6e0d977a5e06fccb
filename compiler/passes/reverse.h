/* Inside autodiff: one differentiation, and the loops on the way.
 *
 * A loop L is reversed as a whole. Its reverse L' runs the other way; the gradients of L's carries are its
 * carries, the gradients of yields come in part by part, those of what loop_in reads go out as yields, and
 * what the body reads from around it gets a carry that adds up. What L' needs of the body of L comes through
 * graph.import: it is computed again where that costs next to nothing, else L yields it and L' reads the
 * stack.
 */
#ifndef GML_COMPILER_PASSES_REVERSE_H
#define GML_COMPILER_PASSES_REVERSE_H
#include "compiler/passes.h"
#include "compiler/vjp.h"

enum { NOT_A_LEAF = -1, WHOLE_TREE = -2 };

/* One differentiation: arrays by node id up to the loss. */
struct reverse {
    struct build *b;
    struct graph *g;
    uint32_t tree;
    bool *wanted; /* by leaf; NULL = all */
    val loss;
    int32_t *leaf; /* leaf index, WHOLE_TREE or NOT_A_LEAF */
    bool *active;  /* depends on a leaf through a differentiable path */
    val *gradient; /* of a value of a loop: inside of the loop's reverse */
    val *leaf_gradient, flat_gradient;
};
/* A loop while it is reversed; {0} for what stands outside of all loops. */
struct reversed {
    struct graph_import import; /* first: brings values over */
    struct reverse *r;
    uint32_t forward, backward; /* loops */
    val end;                    /* of `forward` */
    VEC(val) brought;           /* by node: its value in `backward`, 0 = not asked for yet */
    VEC(val) captured, sum;     /* values from around the loop; their gradients of one iteration */
};

/* Adds to the gradient of `to`, used where `in` says. */
void reverse_add(struct reverse *r, struct reversed *in, val to, val gradient);
/* The nodes of that loop from `from` down. False after a diagnostic. */
bool reverse_walk(struct reverse *r, struct reversed *at, val from);

/* reverse_loop.c */
/* Reverses the loop that node `end` ends, a node of `outer`, if a gradient reaches it. */
bool reverse_loop(struct reverse *r, struct reversed *outer, val end);
val *reversed_capture(struct reverse *r, struct reversed *in, val v); /* where its sum is kept */
/* Marks carries whose next value is active; true if there were new ones. */
bool reverse_carries(struct reverse *r, const struct node *end);
/* Whether n is a part of a loop that hands an active value on. */
bool reverse_passes(const struct reverse *r, const struct node *n);
/* Nodes whose gradient waits for their loop. */
bool reverse_keeps(enum op op);

#endif
