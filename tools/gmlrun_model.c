/* From MODEL to a graph: .gml is compiled here, .gmlb is read. */
#include <string.h>
#include "compiler/compiler.h"
#include "runtime/base/seam.h"
#include "tools/common_program.h"
#include "tools/gmlrun.h"

bool call_is_f64(const struct call *c)
{
    const struct option_value *p = &c->o.at[OPT_PRECISION];
    return p->given && strcmp(p->text, "f64") == 0;
}

bool call_is_compiled(const struct call *c)
{
    const char *path = c->o.args.at[0];
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".gmlb") == 0;
}

static struct compile_options compile_options(struct call *c)
{
    const struct option_value *include = &c->o.at[OPT_INCLUDE];
    struct compile_set *set = arena_array(c->arena, struct compile_set, c->run.n_set);
    for (uint32_t i = 0; i < c->run.n_set; i++) {
        set[i] = (struct compile_set){c->run.set[i].name, c->run.set[i].value};
    }
    struct compile_options o = {.include = include->many.at,
                                .n_include = include->many.n,
                                .std_path = std_folder(c->arena),
                                .set = set,
                                .n_set = c->run.n_set};
    return o;
}

/* In f64 from before the passes on, so that constants are folded in f64 too. */
static enum status compile_f64(struct call *c, const char *path, bool hold_stops, struct graph **out)
{
    struct compile_options o = compile_options(c);
    c->run.n_set = 0; /* the compiler sets them */
    char *text;
    size_t n;
    struct graph *g;
    TRY(file_read(c->arena, path, LIMIT_SOURCE_BYTES, &text, &n, &c->sink));
    TRY(gml_elaborate(c->arena, path, text, (uint32_t)n, &o, &c->sink, &g));
    if (hold_stops) {
        TRY(gml_hold_stops(g, &c->sink, &g));
    }
    graph_set_precision(g, DT_F64);
    return run_passes(g, &o, &c->sink, out);
}

static enum status compile(struct call *c, const char *path, struct graph **out)
{
    struct compile_options o = compile_options(c);
    return gml_compile(c->arena, path, &o, &c->sink, out);
}

static enum status read_graph(struct call *c, const char *path, struct graph **out)
{
    char *bytes;
    size_t n;
    if (c->o.at[OPT_INCLUDE].given) {
        return diag_emit(&c->sink, DIAG_U0005, NO_SPAN, "`-I` has no use: %s is compiled already", path);
    }
    TRY(file_read(c->arena, path, LIMIT_GRAPH_BYTES, &bytes, &n, &c->sink));
    TRY(gmlb_read(c->arena, path, bytes, n, &c->sink, out));
    c->sink.sources = &(*out)->sources;
    return ST_OK;
}

enum status call_graph_f32(struct call *c, struct graph **out)
{
    const char *path = c->o.args.at[0];
    uint32_t n_set = c->run.n_set;
    *out = NULL;
    enum status st = call_is_compiled(c) ? read_graph(c, path, out) : compile(c, path, out);
    c->run.n_set = n_set;
    return st;
}

enum status call_graph(struct call *c, struct graph **out)
{
    const char *path = c->o.args.at[0];
    bool compiled = call_is_compiled(c);
    if (call_is_f64(c) && !compiled) {
        *out = NULL;
        return compile_f64(c, path, false, out);
    }
    TRY(call_graph_f32(c, out));
    if (compiled && call_is_f64(c)) {
        graph_set_precision(*out, DT_F64);
    }
    c->run.n_set = compiled ? c->run.n_set : 0; /* the compiler has set them */
    return ST_OK;
}

enum status call_graph_f64(struct call *c, struct graph **out)
{
    const char *path = c->o.args.at[0];
    *out = NULL;
    if (call_is_compiled(c)) {
        return diag_emit(&c->sink, DIAG_U0002, NO_SPAN,
                         "`gmlrun %s` compiles in f64 and so needs the .gml file, not %s", c->o.command->name,
                         path);
    }
    return compile_f64(c, path, true, out);
}
