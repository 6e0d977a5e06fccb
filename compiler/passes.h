/* Passes: each walks a graph once, in id order, and makes a new one in the same arena. Variables, trees, data
 * sets, phases, spans and scopes survive, and a dim has the same id in both; the old graph stays as it was.
 */
#ifndef GML_COMPILER_PASSES_H
#define GML_COMPILER_PASSES_H
#include "compiler/build.h"
#include "compiler/compiler.h"

/* Every pass: false after a diagnostic. */
#define P(name, function, meaning, doc)                                                                      \
    bool function(struct graph *in, struct diag_sink *sink, struct graph **out);
#include "compiler/passes.def"
#undef P
struct pass_info {
    const char *name, *doc;
    bool (*run)(struct graph *in, struct diag_sink *sink, struct graph **out);
    bool meaning; /* runs also without optimization */
};
extern const struct pass_info pass_table[];
extern const uint32_t n_passes;

/* One walk. `map` leads from old to new ids; before each visit `b` holds phase, span and scope of the visited
 * node. */
struct rewrite {
    const struct graph *old;
    struct graph *g;
    val *map;
    struct build b;
    val *in; /* inputs of the visited node in the new graph */
    void *ctx;
};
/* The new node for an old one; 0 = dropped (nothing that is kept may use it) or, with a diagnostic, failed.
 */
typedef val rewrite_fn(struct rewrite *rw, val id, const struct node *n);
/* Visits all nodes, then leads every root to its new node. A NULL visit copies. */
bool rewrite_graph(struct graph *in, struct diag_sink *sink, rewrite_fn *visit, void *ctx,
                   struct graph **out);
/* The same for a graph where an input may stand behind its user: inputs are visited first. `more`, by node,
 * up to two other nodes that must be visited before; NULL = none. */
bool rewrite_sorted(struct graph *in, struct diag_sink *sink, rewrite_fn *visit, void *ctx,
                    const val (*more)[2], struct graph **out);
/* Type of a visited node; dims mean the same in both graphs. */
struct type rewrite_type(const struct rewrite *rw, const struct node *n);
/* What an old node is, over other inputs: as many as it has. */
struct node_spec rewrite_spec(const struct graph *old, val id, const val *in);
/* The node again, over rw->in. */
val rewrite_copy(struct rewrite *rw, const struct node *n);
/* Calls fn for every root value of a graph; fn may replace it. */
void each_root(struct graph *g, void (*fn)(void *ctx, val *root), void *ctx);

/* Reverse mode: nodes for the gradient of `loss`, as a flat block. `attr` are those of a `grad` node: the
 * tree, and the leaves whose gradient is wanted when it is not that of all. `b` adds to the graph that holds
 * loss. */
val differentiate(struct build *b, val loss, const int64_t *attr, uint32_t n_attr);

/* The rank-0 value that v repeats everywhere (v itself at rank 0), through views; 0 if it is none. */
val splat_of(const struct graph *g, val v);
/* Whether v is the same constant everywhere: as written, not yet rounded to its type; bool is 0 or 1. */
bool constant_of(const struct graph *g, val v, double *x);
/* An elementwise row on numbers, not yet rounded to their type; false where it must not be folded. */
bool elem_eval(enum op op, enum dtype in, enum dtype out, const double *x, double *r);
/* The folded form of node n over inputs `in`, 0 if there is none. */
val fold_node(struct rewrite *rw, const struct node *n);

#endif
