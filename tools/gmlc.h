/* Shared by the files of gmlc. */
#ifndef GML_TOOLS_GMLC_H
#define GML_TOOLS_GMLC_H
#include "compiler/compiler.h"
#include "tools/common_options.h"

/* Options by index in the table of gmlc.c. */
enum {
    OPT_OUTPUT,
    OPT_INCLUDE,
    OPT_SET,
    OPT_EMIT,
    OPT_PHASE,
    OPT_NO_FUSE,
    OPT_DATA,
    OPT_DUMP_AFTER,
    OPT_NO_PASSES,
    OPT_VERIFY,
    OPT_CHECK,
    OPT_DIAGNOSTICS,
    N_OPTIONS,
};

struct call {
    struct arena *arena;
    struct diag_sink sink;
    struct options o;
};

/* The graph in the form of --emit, as text; `ast` is not among them. */
MUST_CHECK enum status emit_graph(struct call *c, struct graph *g, const char *form, FILE *out);
/* The tree of the model file itself; imports are not read. */
MUST_CHECK enum status emit_ast(struct call *c, const char *path, FILE *out);

/* `gmlc fmt`: writes the files that are out of style anew, or with --check only names them (ST_MODEL then).
 */
MUST_CHECK enum status format_files(struct call *c);

/* The page of a code, or the list of all codes when it is NULL. */
MUST_CHECK enum status explain(struct call *c, const char *code);
/* The operator reference as Markdown, from the operator table. */
void print_operators(FILE *out);

#endif
