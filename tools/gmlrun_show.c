/* `gmlrun config` and `gmlrun dump`: what a model can be told, and all that is known of it. */
#include <stdlib.h>
#include <string.h>
#include "runtime/base/seam.h"
#include "tools/gmlrun.h"

/* -- config */

static const char *const kind_name[] = {
    [CONFIG_FIXED] = "fixed", [CONFIG_DIM] = "dim", [CONFIG_LIVE] = "live"};

/* The type of a fixed config is that of its text. */
static const char *type_name(const struct config *c)
{
    if (c->kind != CONFIG_FIXED) {
        return c->kind == CONFIG_DIM ? "dim" : dtype_name(c->dtype);
    }
    char first = c->text && c->text[0] ? c->text[0] : '0';
    return first == '['                        ? "list"
           : first == '"'                      ? "string"
           : first == 't' || first == 'f'      ? "bool"
           : c->text && strpbrk(c->text, ".e") ? "float"
                                               : "int";
}

static const char *place_of(struct call *c, const struct graph *g, struct span s)
{
    uint32_t line, column;
    if (!s.file || s.file >= g->sources.list.n) {
        return "";
    }
    source_line_column(&g->sources.list.at[s.file], s.start, &line, &column);
    return arena_printf(c->arena, "%s:%u", g->sources.list.at[s.file].path, line);
}

static void config_row(struct call *c, const struct graph *g, const struct config *x, const char *usual)
{
    const char *value = config_text(c->arena, x), *doc = x->doc ? x->doc : "";
    const char *set = strcmp(value, usual) == 0 ? "" : arena_printf(c->arena, " (default %s)", usual);
    printf("%-16s %-7s %-6s %s%s\n", x->name, type_name(x), kind_name[x->kind], value, set);
    for (const char *line = doc; *line;) {
        size_t n = strcspn(line, "\n");
        printf("%17s%.*s\n", "", (int)n, line);
        line += n + (line[n] == '\n');
    }
    printf("%17s%s\n", "", place_of(c, g, x->span));
}

static void config_json(struct call *c, const struct graph *g, const struct config *x, const char *usual)
{
    struct arena *a = c->arena;
    printf("{\"name\": %s, \"type\": \"%s\", \"kind\": \"%s\", \"default\": %s, \"value\": %s, \"doc\": %s, "
           "\"place\": %s}",
           json_text(a, x->name), type_name(x), kind_name[x->kind], json_text(a, usual),
           json_text(a, config_text(a, x)), json_text(a, x->doc ? x->doc : ""),
           json_text(a, place_of(c, g, x->span)));
}

/* Compiled twice: as it is, for the defaults, and with --set. */
enum status command_config(struct call *c)
{
    struct graph *usual, *g;
    uint32_t n_set = c->run.n_set;
    bool json = c->o.at[OPT_JSON].given;
    c->run.n_set = 0;
    TRY(call_graph(c, &usual));
    c->run.n_set = n_set;
    TRY(call_graph(c, &g));
    TRY(graph_configure(g, &c->run, &c->sink));
    printf("%s", json ? "[" : "");
    for (uint32_t i = 0; i < g->configs.n; i++) {
        const struct config *x = &g->configs.at[i];
        const char *before = x->name;
        for (uint32_t k = 0; k < usual->configs.n; k++) {
            if (strcmp(usual->configs.at[k].name, x->name) == 0) {
                before = config_text(c->arena, &usual->configs.at[k]);
            }
        }
        if (json) {
            printf("%s", i ? ", " : "");
            config_json(c, g, x, before);
        } else {
            config_row(c, g, x, before);
        }
    }
    printf("%s", json ? "]\n" : g->configs.n ? "" : "the model has no config\n");
    return ST_OK;
}

/* -- dump */

static enum status print_plan(struct call *c, struct graph *g, FILE *out)
{
    struct run *r;
    TRY(run_open_plan(g, &c->run, run_target(c->o.at[OPT_TARGET].text), &c->sink, &r));
    run_dump_plan(r, out);
    run_close(r);
    return ST_OK;
}

static enum status print_stage(struct call *c, struct graph *g, FILE *out)
{
    const struct option_value *stage = &c->o.at[OPT_STAGE];
    if (stage->given && strcmp(stage->text, "plan") == 0) {
        return print_plan(c, g, out);
    }
    if (c->o.at[OPT_TARGET].given) {
        return diag_emit(
            &c->sink, DIAG_U0003, NO_SPAN,
            "`--target` is for plans, and a graph is the same for all devices: add `--stage plan`");
    }
    TRY(graph_configure(g, &c->run, &c->sink));
    graph_json(g, out);
    return ST_OK;
}

enum status command_dump(struct call *c)
{
    struct graph *g;
    char *bytes = NULL;
    size_t n = 0;
    TRY(call_graph(c, &g));
    FILE *out = open_memstream(&bytes, &n);
    if (!out) {
        return diag_emit(&c->sink, DIAG_R1003, NO_SPAN, "cannot write into memory");
    }
    enum status st = print_stage(c, g, out);
    if (fclose(out) != 0 && st == ST_OK) {
        st = diag_emit(&c->sink, DIAG_R1003, NO_SPAN, "cannot write into memory");
    }
    if (st == ST_OK && c->run.out && strcmp(c->run.out, "-") != 0) {
        st = file_write(c->run.out, bytes, n, &c->sink);
    } else if (st == ST_OK) {
        fwrite(bytes, 1, n, stdout);
    }
    free(bytes);
    return st;
}
