/* Batching rules: an operator over many parts at once. What a loop does part by part, or replicas each for
 * themselves, with one more axis in front.
 */
#ifndef GML_COMPILER_PASSES_BATCH_H
#define GML_COMPILER_PASSES_BATCH_H
#include "compiler/passes.h"

/* Whether node n can run over stacks: `stacked` by input; the others are the same for all parts. */
bool batch_exists(const struct graph *g, const struct node *n, const bool *stacked);
/* The node over stacks: s says it for one part (operator, attributes, dims, type of the result), stacked
 * inputs have an axis of size `count` in front, and so has the result. 0 after a diagnostic. */
val batch_build(struct build *b, const struct node_spec *s, const bool *stacked, dim count);

/* The same value for every part: with that axis in front. */
val batch_repeat(struct build *b, val v, dim count);

/* guard.c: commits of the phase happen only where `condition`, bool[], holds too. */
bool guard_commits(struct build *b, struct phase *p, val condition);

/* sink.c: results of loops. */
/* All iterations of v, a value of the loop that node `end` ends, or one around it (all of the new graph). */
val loop_all(struct rewrite *rw, val end, val v);
/* Whether all iterations of v are there without work: a yield of the loop that `end` ends, or part of an
 * input. */
bool loop_keeps(const struct graph *g, const struct node *end, val v);
/* What it takes to keep all iterations of `from` in place of those of v, both values of the loop that
 * `end` ends: nothing or little, because it is kept anyway, is an input, or is not much larger; much; or that
 * depends on sizes that are not known yet. */
enum stack_cost { STACK_CHEAP, STACK_UNKNOWN, STACK_DEAR };
enum stack_cost loop_stack_cost(struct dims *d, const struct graph *g, val end, val from, val v);
/* How often each node is an input. */
uint32_t *count_users(const struct graph *g);

/* hoist.c: work of loops that only needs their inputs. */
struct hoist {
    bool *moves; /* by old node of a loop: made of the loop's inputs and index alone */
    val *stack;  /* by old node: all its iterations, in the new graph; 0 = not made yet */
};
void hoist_begin(struct hoist *h, struct graph *g);
/* All iterations of an old node of a loop that moves. rw->ctx begins with a struct hoist. */
val hoist_stack(struct rewrite *rw, val id);

#endif
