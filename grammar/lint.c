/* Warnings of text that reads in two ways, where its node is made. */
#include <string.h>
#include "grammar/parse.h"

static bool is_op(const struct ast *n, const char *ops)
{
    return n->kind == AST_BIN && strstr(ops, n->op) != NULL;
}

/* Both kinds of products go from left to right: `a * b @ c` is (a * b) @ c, and `a @ b * c` is (a @ b) * c.
 */
struct ast *lint_product(struct parse *p, struct ast *n)
{
    bool matrices = is_op(n, "@"),
         mixed = matrices ? is_op(n->a, "* / // %") : is_op(n, "*") && is_op(n->a, "@");
    if (mixed) {
        diag_emit(p->sink, DIAG_W1004, n->span, "`%s` and `%s` side by side go from left to right", n->a->op,
                  n->op);
        diag_label(p->sink, n->a->span, "this first");
        diag_help(p->sink, "write the parentheses: `(a %s b) %s c`", n->a->op, n->op);
    }
    return n;
}

/* A pipe takes all that stands in front of it. */
struct ast *lint_pipe(struct parse *p, struct ast *n)
{
    if (n->a->kind == AST_COND) {
        diag_emit(p->sink, DIAG_W1005, n->span,
                  "the pipe takes the whole `if`, not what stands behind `else`");
        diag_label(p->sink, n->a->span, "all of this is piped");
        diag_help(p->sink, "write the parentheses: `(if c then a else b) |> f`, or `else (b |> f)`");
    }
    return n;
}
