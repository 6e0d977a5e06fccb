/* The syntax tree and the parser's one call.
 *
 * One fat node for all kinds; which fields a kind uses is written beside it in ast.def. Nodes live in the
 * arena of the parse and point at interned names. Every node has the byte span of its text; `name_span` is
 * the span of its name. Comments are kept as trivia in source order, so that a formatter can put them back;
 * `##` doc comments are attached to the declaration that follows (`doc`).
 */
#ifndef GML_GRAMMAR_AST_H
#define GML_GRAMMAR_AST_H
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

#define A(name, text, fields) AST_##name,
enum ast_kind {
    AST_NONE,
#include "grammar/ast.def"
    AST_COUNT
};
#undef A
const char *ast_kind_name(enum ast_kind k);

struct ast;
struct ast_list {
    struct ast **at;
    uint32_t n, cap;
};
struct ast {
    enum ast_kind kind;
    bool is_int;
    uint16_t depth; /* levels below and including this node, at most LIMIT_TREE_DEPTH: walkers may recurse */
    struct span span, name_span;
    const char *name, *str, *op, *doc;
    double num;
    struct ast *a, *b, *c, *type;
    struct ast_list list, list2;
};

struct comment {
    struct span span;
    bool is_doc;
};
struct parsed {
    struct ast *file; /* AST_FILE, also after errors: what could be parsed */
    VEC(struct comment) comments;
    /* Names that statements with syntax errors would have declared. An unknown name among them is no second
     * error. */
    VEC(const char *) lost;
};

/* Parses source `file` of sink->sources. Syntax errors go to the sink; the parser recovers at the end of a
 * statement. Returns ST_MODEL if there was any. */
MUST_CHECK enum status gml_parse(struct arena *a, struct interner *names, struct diag_sink *sink,
                                 uint16_t file, struct parsed *out);
/* Parses a single expression, for the derivative column of ops.def. No comments, no statements. */
MUST_CHECK enum status gml_parse_expr(struct arena *a, struct interner *names, struct diag_sink *sink,
                                      uint16_t file, struct ast **out);
/* Prints the tree as indented s-expressions (gmlc --emit=ast). */
void ast_print(const struct ast *n, FILE *out);

#endif
