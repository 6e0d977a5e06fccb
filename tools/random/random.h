/* Random well-typed graphs, what must hold for them, and how a graph that breaks it is made small.
 *
 * A graph is a pure function of its seed and options, drawn from the operator table: elementwise rows and
 * reductions by signature and domain, structured rows by the makers of structured.c. It needs no other input:
 * the numbers of a variable follow from its key, "f3[-2,2]" (see values.c), so a printed graph can be run
 * again. Values stay finite and of moderate size, and rows that jump (comparisons, floor, argsort, ..) get
 * only inputs that every backend computes to the bit, so that small differences stay small.
 *
 * Checks run on a text form: each parses the text into an arena of its own, which it frees.
 */
#ifndef GML_TOOLS_RANDOM_H
#define GML_TOOLS_RANDOM_H
#include "runtime/exec/exec.h"

enum { RANDOM_NODES = 40 };

struct random_options {
    enum dtype number; /* float type of parameters: DT_F32 or DT_F64 */
    bool mixed;        /* casts to the other float type too */
    bool loops;        /* at least one */
    bool smooth; /* only values that difference quotients can follow: no draws that depend on the step */
};
/* A graph of at most RANDOM_NODES nodes before autodiff, twice as many with loops, in arena `a`. `used` (may
 * be NULL) has OP_COUNT flags and is set for the rows that the graph has. Ends the process when the generator
 * itself breaks a shape rule. */
struct graph *random_graph(struct arena *a, uint64_t seed, const struct random_options *o, bool *used);
/* Rows that some graph must have: all but `read` and those that only the planner makes. */
bool random_reachable(enum op op);

/* Whether a gradient goes from the result of the row to that input; loops pass on what their bodies do. */
bool random_passes_on(enum op op, uint32_t input);
/* Whether node v is a parameter or depends on one through rows with a gradient; `before`: the same of all
 * nodes before. */
bool random_moves(const struct graph *g, val v, const bool *before);
/* Sets the flags of the rows that a gradient of the graph goes through. */
void random_differentiated(const struct graph *g, bool *op);

/* -- values.c */
/* Fills variable `var` of the plan in the host image. The numbers are rounded to f32 whatever the type. False
 * for a key that says no range. */
bool random_fill(const struct plan *p, uint32_t var, char *image);

/* -- run.c: everything a run shows */
struct random_value {
    const char *name; /* "launch 1 out.2", "var f3[-2,2]" */
    enum dtype dtype;
    int64_t n;
    const void *at;
};
struct random_outcome {
    VEC(struct random_value) value;
};
struct random_run {
    const struct backend *backend;
    struct target target;
    bool debug_plan; /* planned without reuse, dead and unwritten values poisoned, red zones */
    bool eager;      /* cuda: kernel by kernel */
    uint32_t launches;
    uint32_t jitter; /* not 0: float variables are moved by up to 2^-23 of their size, differently for each
                        number */
};
/* Passes that do not give meaning and are left out; bit i is row i of passes.def. */
enum { RANDOM_ALL_PASSES = 0, RANDOM_NO_PASSES = -1 };
struct graph *random_passes(struct graph *g, int without, struct arena *a, const char **why);
/* A checked plan of a graph, and the host image of its arena with constants, control block and variables
 * filled in; NULL and a reason when there is none. Both in `a`. */
struct plan *random_plan(const struct graph *g, const struct target *t, bool no_reuse, struct arena *a,
                         const char **why);
char *random_image(const struct plan *p, struct arena *a, const char **why);
/* Plans, checks the plan and launches every user phase, the second time with its tail variant if it has one.
 * NULL, or what went wrong. The padding of blocks must be zero afterwards. */
const char *random_run(const struct graph *g, const struct random_run *r, struct arena *a,
                       struct random_outcome *out);
double random_element(const struct random_value *v, int64_t i);
/* NULL, or the first difference. RANDOM_BITS: no bit may differ. Else NaN equals NaN, -0 equals 0, and floats
 * may differ by tolerance * max(1, largest number of the value). */
#define RANDOM_BITS (-1.)
const char *random_difference(const struct random_outcome *x, const struct random_outcome *y,
                              double tolerance, struct arena *a);

/* -- check.c */
enum random_check {
    CHECK_NONE,
    CHECK_TEXT,
    CHECK_MEMORY,
    CHECK_PASSES,
    CHECK_FUSE,
    CHECK_GRADIENT,
    CHECK_COUNT
};
struct random_verdict {
    enum random_check failed;
    char why[600];
    bool finite;        /* every value of the plain run */
    uint32_t quotients; /* CHECK_GRADIENT: compared */
    uint32_t moving;    /* CHECK_GRADIENT: of these, not zero */
    uint32_t kinks;     /* CHECK_GRADIENT: left out, since quotients of two widths disagree */
    uint32_t not_bits;  /* CHECK_PASSES, CHECK_FUSE: comparisons that agree within the tolerance only */
};
const char *random_check_name(enum random_check c);
/* Runs one check (CHECK_NONE: text, memory, passes and fusion) on a graph in text form. True when it holds.
 */
bool random_check(const char *text, enum random_check what, struct random_verdict *v);
/* gradcheck.c: central differences of every loss, on a graph whose float type is f64. */
bool random_gradients(struct graph *g, struct arena *a, struct random_verdict *v);

/* -- shrink.c */
/* Whether a graph still shows the failure. */
typedef bool random_fails(void *ctx, const char *text);
/* The smallest graph found that still fails: values replaced by an input or by fresh variables, roots
 * dropped, sizes lowered, dead nodes removed. The text is in `a`. */
const char *random_shrink(struct arena *a, const char *text, random_fails *fails, void *ctx);
uint32_t random_node_count(const char *text);
char *random_text(const struct graph *g, struct arena *a);

#endif
