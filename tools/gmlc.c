/* gmlc: compiles .gml models to .gmlb graphs, and shows them in other forms. */
#include "tools/gmlc.h"
#include <stdlib.h>
#include <string.h>
#include "runtime/base/seam.h"
#include "runtime/model.h"
#include "tools/common_program.h"

#define MODEL "-" /* options of the command without a word */

static const struct option_spec table[N_OPTIONS] = {
    [OPT_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE",
                    "where to write; default NAME.gmlb here, or stdout with --emit", MODEL},
    [OPT_INCLUDE] = {"include", 'I', OPTION_MANY, "DIR", "look for imports here too; may be repeated", MODEL},
    [OPT_SET] = {"set", 0, OPTION_PAIRS, "NAME=VALUE", "change a config of the model; may be repeated",
                 MODEL},
    [OPT_EMIT] = {"emit", 0, OPTION_CHOICE, "ast|graph|json|dot|mem",
                  "write this form instead of a .gmlb file", MODEL},
    [OPT_PHASE] = {"phase", 0, OPTION_TEXT, "P", "with --emit: only this phase", MODEL},
    [OPT_NO_FUSE] = {"no-fuse", 0, OPTION_FLAG, NULL, "with --emit=mem: one launch for each operator", MODEL},
    [OPT_DATA] = {"data", 0, OPTION_PAIRS, "NAME=FILE", "with --emit=mem: another file for a data set",
                  MODEL},
    [OPT_DUMP_AFTER] = {"dump-after", 0, OPTION_TEXT, "PASS", "print the graph as it is after a pass", MODEL},
    [OPT_NO_PASSES] = {"no-passes", 0, OPTION_FLAG, NULL, "only the passes that give meaning", MODEL},
    [OPT_VERIFY] = {"verify", 0, OPTION_FLAG, NULL, "verify the graph after every pass", MODEL},
    [OPT_CHECK] = {"check", 0, OPTION_FLAG, NULL,
                   "write nothing: report errors; with fmt, files out of style (exit 1)", MODEL " fmt"},
    [OPT_DIAGNOSTICS] = {"diagnostics", 0, OPTION_CHOICE, "human|short|json",
                         "form of errors, default human; json goes to stdout, one object a line", NULL},
};
static const struct command_spec commands[] = {
    {NULL, "MODEL.gml", 1, 1, "compile a model"},
    {"ops", NULL, 0, 0, "the operators as Markdown"},
    {"explain", "[CODE]", 0, 1, "what an error code means; without CODE all of them"},
    {"fmt", "FILE...", 1, 9999, "put model files into the style; - reads and writes a pipe"},
    {"lsp", NULL, 0, 99, "comes later"},
};
static const struct program_spec spec = {
    "gmlc",
    "compiles gml models",
    commands,
    sizeof commands / sizeof *commands,
    table,
    N_OPTIONS,
    "  gmlc models/digits.gml -o digits.gmlb --set B=64\n"
    "  gmlc models/digits.gml --emit=mem --phase train\n"
    "  gmlc models/digits.gml --check --diagnostics=json\n"
    "  gmlc fmt --check models/digits.gml\n"
    "  gmlc explain E0100\n",
};

static const char *given(const struct call *c, int option)
{
    return c->o.at[option].given ? c->o.at[option].text : NULL;
}

static enum diag_format diagnostics_format(const struct call *c)
{
    const char *text = c->o.at ? given(c, OPT_DIAGNOSTICS) : NULL;
    return !text                        ? DIAG_HUMAN
           : strcmp(text, "json") == 0  ? DIAG_JSON
           : strcmp(text, "short") == 0 ? DIAG_SHORT
                                        : DIAG_HUMAN;
}

static struct compile_options compile_options(struct call *c)
{
    const struct option_value *v = c->o.at, *set = &v[OPT_SET];
    struct compile_set *sets = arena_array(c->arena, struct compile_set, set->many.n);
    for (uint32_t i = 0; i < set->many.n; i++) {
        sets[i] = (struct compile_set){set->many.at[i], set->values.at[i]};
    }
    return (struct compile_options){
        .include = v[OPT_INCLUDE].many.at,
        .n_include = v[OPT_INCLUDE].many.n,
        .std_path = model_std_folder(c->arena),
        .set = sets,
        .n_set = set->many.n,
        .dump_after = given(c, OPT_DUMP_AFTER),
        .verify_each = v[OPT_VERIFY].given,
        .no_passes = v[OPT_NO_PASSES].given,
    };
}

static bool writes_stdout(struct call *c)
{
    const char *path = given(c, OPT_OUTPUT);
    return (given(c, OPT_EMIT) && !path) || (path && !strcmp(path, "-")) || given(c, OPT_DUMP_AFTER);
}
/* Options that would have no effect together are refused. */
static enum status check_options(struct call *c)
{
    const struct option_value *v = c->o.at;
    const char *emit = given(c, OPT_EMIT);
    static const int writing[] = {OPT_OUTPUT, OPT_EMIT};
    if (diagnostics_format(c) == DIAG_JSON && writes_stdout(c)) {
        return diag_emit(&c->sink, DIAG_U0005, NO_SPAN,
                         "`--diagnostics=json` has the standard output for itself: name a file with -o");
    }
    for (size_t i = 0; v[OPT_CHECK].given && i < sizeof writing / sizeof *writing; i++) {
        if (v[writing[i]].given) {
            return diag_emit(&c->sink, DIAG_U0005, NO_SPAN, "`--check` writes nothing, so `--%s` has no use",
                             table[writing[i]].name);
        }
    }
    if (v[OPT_PHASE].given && (!emit || strcmp(emit, "ast") == 0)) {
        return diag_emit(&c->sink, DIAG_U0005, NO_SPAN, "`--phase` goes with --emit=graph, json, dot or mem");
    }
    if (v[OPT_DATA].given && (!emit || strcmp(emit, "mem") != 0)) {
        return diag_emit(&c->sink, DIAG_U0005, NO_SPAN,
                         "`--data` goes with --emit=mem; gmlrun has it for runs");
    }
    static const int compiling[] = {OPT_SET, OPT_INCLUDE, OPT_DUMP_AFTER, OPT_NO_PASSES, OPT_VERIFY};
    for (size_t i = 0; emit && strcmp(emit, "ast") == 0 && i < sizeof compiling / sizeof *compiling; i++) {
        if (v[compiling[i]].given) {
            return diag_emit(&c->sink, DIAG_U0005, NO_SPAN, "`--%s` does not change the syntax tree",
                             table[compiling[i]].name);
        }
    }
    return ST_OK;
}

/* Writes to -o, else to stdout. */
static enum status write_out(struct call *c, const char *bytes, size_t n)
{
    const char *path = given(c, OPT_OUTPUT);
    if (path && strcmp(path, "-") != 0) {
        return file_write(path, bytes, n, &c->sink);
    }
    fwrite(bytes, 1, n, stdout);
    return ST_OK; /* main checks stdout */
}

static enum status write_form(struct call *c, const char *form, struct graph *g)
{
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);
    if (!out) {
        return diag_emit(&c->sink, DIAG_R1003, NO_SPAN, "cannot write into memory");
    }
    enum status st = g ? emit_graph(c, g, form, out) : emit_ast(c, c->o.args.at[0], out);
    if (fclose(out) != 0 && st == ST_OK) {
        st = diag_emit(&c->sink, DIAG_R1003, NO_SPAN, "cannot write into memory");
    }
    if (st == ST_OK) {
        st = write_out(c, bytes, n);
    }
    free(bytes);
    return st;
}

/* models/digits.gml -> digits.gmlb, in the working directory. */
static const char *default_output(struct call *c)
{
    const char *path = c->o.args.at[0], *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    int n = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    return arena_printf(c->arena, "%.*s.gmlb", n, name);
}

static enum status compile_model(struct call *c)
{
    const char *emit = given(c, OPT_EMIT);
    TRY(check_options(c));
    TRY(model_check(c->arena, c->o.args.at[0], &c->sink));
    if (emit && strcmp(emit, "ast") == 0) {
        return write_form(c, emit, NULL);
    }
    struct graph *g = NULL;
    struct compile_options o = compile_options(c);
    TRY(gml_compile(c->arena, c->o.args.at[0], &o, &c->sink, &g));
    if (emit) {
        return write_form(c, emit, g);
    }
    if (c->o.at[OPT_CHECK].given || (o.dump_after && !c->o.at[OPT_OUTPUT].given)) {
        return ST_OK;
    }
    char *bytes;
    size_t n;
    TRY(gmlb_write(g, c->arena, &bytes, &n));
    if (!c->o.at[OPT_OUTPUT].given) {
        return file_write(default_output(c), bytes, n, &c->sink);
    }
    return write_out(c, bytes, n);
}

static enum status dispatch(struct call *c)
{
    const char *name = c->o.command ? c->o.command->name : NULL;
    if (options_answer(&spec, &c->o, GML_VERSION, stdout)) {
        return ST_OK;
    }
    if (!name) {
        return compile_model(c);
    }
    if (strcmp(name, "ops") == 0) {
        print_operators(stdout);
        return ST_OK;
    }
    if (strcmp(name, "explain") == 0) {
        return explain(c, c->o.args.n ? c->o.args.at[0] : NULL);
    }
    if (strcmp(name, "fmt") == 0) {
        return format_files(c);
    }
    return diag_emit(&c->sink, DIAG_U0006, NO_SPAN, "`gmlc %s` comes later: this version does not have it",
                     name);
}

/* JSON is for programs and goes to stdout; its last line tells success from a crash. Only `gmlc MODEL` has
 * nothing else to print there. */
static void render(const struct call *c, enum status st)
{
    enum diag_format format = diagnostics_format(c);
    FILE *out = format == DIAG_JSON && (!c->o.command || !c->o.command->name) ? stdout : stderr;
    diag_render(&c->sink, format, options_color(stderr), out);
    if (format == DIAG_JSON) {
        fprintf(out, "{\"summary\":true,\"errors\":%u,\"warnings\":%u,\"exit\":%d}\n", c->sink.n_errors,
                c->sink.list.n - c->sink.n_errors, status_exit_code(st));
    }
}

int main(int argc, char **argv)
{
    install_exhausted();
    struct arena *a = arena_new();
    struct call c = {.arena = a};
    diag_init(&c.sink, a, NULL);
    enum status st = options_parse(a, &spec, argc, argv, &c.sink, &c.o);
    st = st == ST_OK ? dispatch(&c) : st;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        enum status out = diag_emit(&c.sink, DIAG_R1003, NO_SPAN, "cannot write to the standard output");
        st = st == ST_OK ? out : st;
    }
    render(&c, st);
    if (fflush(stdout) != 0) {
        st = st == ST_OK ? ST_RESOURCE : st;
    }
    arena_free(a);
    return status_exit_code(st);
}
