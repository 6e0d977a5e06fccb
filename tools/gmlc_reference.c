/* Reference texts made from the tables: pages of error codes, operators as Markdown. */
#include <ctype.h>
#include <string.h>
#include "compiler/elab.h"
#include "kernels/ops.h"
#include "tools/gmlc.h"

/* -- Codes */
static void print_wrapped(const char *text, FILE *out)
{
    enum { WIDTH = 80 };
    size_t column = 0;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " ");
        if (column > 0 && column + 1 + n > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)fprintf(out, "%s%.*s", column ? " " : "", (int)n, p);
        p += n;
        p += strspn(p, " ");
    }
    fputc('\n', out);
}

static void print_indented(const char *text, const char *mark)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        printf("    %s%.*s\n", n ? mark : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
}
static void print_example(enum diag_code code)
{
    struct diag_example x = diag_example(code);
    if (x.kind == EXAMPLE_NONE) {
        return;
    }
    printf("\nExample:\n\n");
    if (x.kind == EXAMPLE_TOLD) {
        print_wrapped(x.text, stdout);
    } else {
        print_indented(x.kind == EXAMPLE_GML ? "gml 1" : "", "");
        print_indented(x.text, x.kind == EXAMPLE_RUN ? "$ " : "");
    }
    printf("\nInstead:\n\n");
    print_wrapped(x.cure, stdout);
}
enum status explain(struct call *c, const char *code)
{
    const char *names[DIAG_COUNT];
    char wanted[16] = "";
    for (size_t i = 0; code && code[i] && i + 1 < sizeof wanted; i++) {
        wanted[i] = (char)toupper((unsigned char)code[i]);
    }
    for (int i = 0; i < DIAG_COUNT; i++) {
        enum diag_code d = (enum diag_code)i;
        names[i] = diag_name(d);
        if (!code) {
            printf("%-6s %s\n", names[i], diag_title(d));
        } else if (strcmp(names[i], wanted) == 0) {
            printf("%s: %s (exit %d: %s)\n\n", names[i], diag_title(d), status_exit_code(diag_status(d)),
                   status_text(diag_status(d)));
            print_wrapped(diag_page(d), stdout);
            print_example(d);
            return ST_OK;
        }
    }
    if (!code) {
        return ST_OK;
    }
    enum status st = diag_emit(&c->sink, DIAG_U0007, NO_SPAN, "there is no code `%s`", code);
    const char *closest = closest_name(wanted, names, DIAG_COUNT);
    if (closest) {
        diag_help(&c->sink, "did you mean `%s`?", closest);
    } else {
        diag_help(&c->sink, "`gmlc explain` lists all codes");
    }
    return st;
}

/* -- Operators */
static const char *const signatures[] = {
    [SIG_NONE] = "",
    [SIG_FLOAT] = "float",
    [SIG_NUMBER] = "float or i32",
    [SIG_COMPARE] = "number -> bool",
    [SIG_EQUAL] = "any -> bool",
    [SIG_LOGIC] = "bool",
    [SIG_CHOOSE] = "bool, T, T -> T",
    [SIG_CLASSIFY] = "float -> bool",
    [SIG_CAST] = "any -> named type",
    [SIG_BITS] = "float -> i32, i32 -> f32",
};

/* A table cell: | would end it. */
static void cell(const char *text, FILE *out)
{
    fputs("| ", out);
    for (; *text; text++) {
        fputs(*text == '|' ? "\\|" : (char[]){*text, '\0'}, out);
    }
    fputc(' ', out);
}

static bool has_gradient(const struct op_info *op)
{
    bool some = op->kind != OPK_ELEM && !(op->flags & OPF_NONDIFF);
    for (int i = 0; i < 3; i++) {
        some = some || (op->derivative[i] && op->derivative[i][0]);
    }
    return some && op->sig != SIG_COMPARE && op->sig != SIG_EQUAL && op->sig != SIG_LOGIC &&
           op->sig != SIG_CLASSIFY;
}

static void print_row(const struct op_info *op, bool callable, FILE *out)
{
    char inputs[32];
    snprintf(inputs, sizeof inputs,
             op->n_max == op->n_min ? "%d"
             : op->n_max < 0        ? "%d .."
                                    : "%d .. %d",
             op->n_min, op->n_max);
    if (callable) {
        fprintf(out, "| `%s` ", op->dsl);
    }
    cell(op->name, out);
    cell(inputs, out);
    cell(op->kind == OPK_ELEM || op->kind == OPK_REDUCE ? signatures[op->sig]
         : op->signature                                ? op->signature
                                                        : "",
         out);
    cell(has_gradient(op) ? "yes" : "no", out);
    cell(op->doc, out);
    fputs("|\n", out);
}

static void print_table(const char *title, const char *text, enum op_kind kind, bool callable, FILE *out)
{
    fprintf(out,
            "\n## %s\n\n%s\n\n%s| row | inputs | types | gradient | meaning |\n%s| --- | --- | --- | --- | "
            "--- |\n",
            title, text, callable ? "| name " : "", callable ? "| --- " : "");
    for (int i = OP_NONE + 1; i < OP_COUNT; i++) {
        const struct op_info *op = &op_table[i];
        if ((kind == OPK_NONE || op->kind == kind) && (op->dsl[0] != '\0') == callable) {
            print_row(op, callable, out);
        }
    }
}

/* Arguments as a reader writes them: `x axis? *` becomes `x, axis?, ..`. */
static void print_function(const char *module, const struct builtin *b, FILE *out)
{
    fprintf(out, "| `%s%s` | `%s%s(", module, b->name, module, b->name);
    for (const char *p = b->params; *p; p++) {
        fputs(*p == ' ' ? ", " : *p == '*' ? ".." : (char[]){*p, '\0'}, out);
    }
    fputs(")` |\n", out);
}
static void print_functions(FILE *out)
{
    fputs("\n## Functions\n\nWhat is called by name besides elementwise rows; `?` may be left out. Most are "
          "made of several rows.\n\n"
          "| name | call |\n| --- | --- |\n",
          out);
    for (int i = 0; builtin_tables[i]; i++) {
        for (const struct builtin *b = builtin_tables[i]; b->name; b++) {
            print_function("", b, out);
        }
    }
    for (const struct builtin *b = rand_builtins; b->name; b++) {
        print_function("rand.", b, out);
    }
}

void print_operators(FILE *out)
{
    fputs("# Operators\n\nMade by `gmlc ops` from `kernels/ops.def`, the only list of operators. `row` is "
          "the name in graphs.\n",
          out);
    print_table("Elementwise",
                "Inputs have one shape; a scalar goes with anything, unit axes stretch. Whole numbers wrap, "
                "and `//` and `%` by 0 give 0; "
                "a float becomes i32 by truncation, at most the nearest end of the range, NaN 0; a number "
                "becomes true unless it is 0.",
                OPK_ELEM, true, out);
    print_table("Reductions",
                "Over all axes, or those of `axis = `; `keep = true` leaves unit axes. Of nothing: sum 0, "
                "prod 1, mean NaN, max -inf and min "
                "inf (the ends of i32), all true, any false; where a mask leaves nothing, 0, and prod 1, all "
                "true, any false.",
                OPK_REDUCE, true, out);
    print_table("Views", "They compute nothing: whoever reads them reads other addresses.", OPK_VIEW, true,
                out);
    print_table("Structured", "Operators with shape rule, gradient and kernels of their own.", OPK_OP, true,
                out);
    print_table("Written as symbols or made by the compiler",
                "Not callable by name: `+`, `@`, indexing, casts, and what the compiler adds.", OPK_NONE,
                false, out);
    print_functions(out);
}
