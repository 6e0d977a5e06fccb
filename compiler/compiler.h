/* The compiler's one public call: a .gml file in, a graph out.
 *
 * parse ▶ elaborate (names, types, instances; emits typed nodes) ▶ passes (passes.def): autodiff, guard,
 * fold, simplify, cse, dead code ▶ verify. Everything lives in the graph's arena. Errors go to the sink (at
 * most LIMIT_DIAGNOSTICS), and then no graph is returned.
 */
#ifndef GML_COMPILER_COMPILER_H
#define GML_COMPILER_COMPILER_H
#include "runtime/graph/graph.h"

struct compile_set {
    const char *name, *value; /* --set name=value: value is a gml literal, a list of literals, or a number */
};
struct compile_options {
    const char *const *include; /* -I folders */
    uint32_t n_include;
    const char *std_path; /* folder of the standard library (models/std) */
    const struct compile_set *set;
    uint32_t n_set;
    /* Keys of named draws that are read from a file instead, "train.net.drop.keep": each becomes a state
     * "override.<key>" of the draw's type, which whoever loads the graph fills. */
    const char *const *override;
    uint32_t n_override;
    const char *dump_after; /* pass name or NULL; printed to stdout as text */
    bool verify_each;       /* verify after every pass; on in debug builds and CI */
    bool no_passes;         /* only the passes that give meaning (autodiff, guard, narrow) */
    bool bf16;              /* --precision bf16 (compiler/passes/narrow.c) */
};
/* Compiles `path`. `sources` of the sink is set to the graph's. */
MUST_CHECK enum status gml_compile(struct arena *a, const char *path, const struct compile_options *o,
                                   struct diag_sink *sink, struct graph **out);
/* The same from text already read: tests and fuzzers. */
MUST_CHECK enum status gml_compile_text(struct arena *a, const char *path, const char *text, uint32_t n,
                                        const struct compile_options *o, struct diag_sink *sink,
                                        struct graph **out);
/* Only parse and elaborate. */
MUST_CHECK enum status gml_elaborate(struct arena *a, const char *path, const char *text, uint32_t n,
                                     const struct compile_options *o, struct diag_sink *sink,
                                     struct graph **out);
/* Before the passes, for checks of gradients: every value under a stop_grad becomes a `copy` node that stays.
 */
MUST_CHECK enum status gml_hold_stops(struct graph *in, struct diag_sink *sink, struct graph **out);
/* R copies of a compiled model that train side by side: in the new graph everything that differs between them
 * has an axis of R in front (struct graph), and the products of all are one. Replica r has the initial
 * values, draws and order of rows of a run with seed S + r, and the r-th number of every config that has a
 * list (config.values: set before). Counters of phases are those of the launches, the same for all. A run
 * with a `stop when` has a state "replicas.running", bool[R], that commits wait for. `in` stays as it is; the
 * new graph points to it. Errors: E3112 for an operator that cannot work on several. */
MUST_CHECK enum status gml_replicate(struct graph *in, uint32_t replicas, struct diag_sink *sink,
                                     struct graph **out);
/* Runs the pass list on a graph; returns the new graph. */
MUST_CHECK enum status run_passes(struct graph *in, const struct compile_options *o, struct diag_sink *sink,
                                  struct graph **out);

#endif
