/* The forms of a model that gmlc can show: tree, graph, JSON, DOT, memory. */
#include <stdlib.h>
#include <string.h>
#include "compiler/passes.h"
#include "grammar/ast.h"
#include "runtime/base/seam.h"
#include "runtime/data/data.h"
#include "tools/common_program.h"
#include "tools/gmlc.h"

enum { UNKNOWN_ROWS = 65536 }; /* of a data set whose file is not there */

enum status emit_ast(struct call *c, const char *path, FILE *out)
{
    char *text;
    size_t n;
    struct parsed parsed;
    struct sources *sources = arena_new_of(c->arena, struct sources);
    sources_init(sources, c->arena);
    c->sink.sources = sources;
    TRY(file_read(c->arena, path, LIMIT_SOURCE_BYTES, &text, &n, &c->sink));
    uint16_t file = sources_add(sources, path, text, (uint32_t)n);
    TRY(gml_parse(c->arena, interner_new(c->arena), &c->sink, file, &parsed));
    ast_print(parsed.file, out);
    return ST_OK;
}

/* -- One phase of a graph */
static enum status find_phase(struct call *c, const struct graph *g, const char *name, uint32_t *out)
{
    int index = graph_find_phase(g, name);
    *out = (uint32_t)index;
    if (index >= 0) {
        return ST_OK;
    }
    const char **names = arena_array(c->arena, const char *, g->phases.n);
    struct text list = {.arena = c->arena};
    for (uint32_t i = 0; i < g->phases.n; i++) {
        names[i] = g->phases.at[i].name;
        text_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    enum status st = diag_emit(&c->sink, DIAG_U1002, NO_SPAN, "there is no phase `%s`", name);
    const char *closest = closest_name(name, names, g->phases.n);
    if (closest) {
        diag_help(&c->sink, "did you mean `%s`?", closest);
    } else {
        diag_help(&c->sink, "the phases are %s", list.at);
    }
    return st;
}

/* Takes the roots from all other phases and drops what is dead then. */
static enum status keep_phase(struct call *c, struct graph *g, const char *name, struct graph **out)
{
    uint32_t keep;
    TRY(find_phase(c, g, name, &keep));
    for (uint32_t i = 0; i < g->phases.n; i++) {
        struct phase *p = &g->phases.at[i];
        if (i != keep) {
            p->commits.n = p->metrics.n = p->outputs.n = p->asserts.n = p->minimizes.n = 0;
            p->ok = 0;
        }
    }
    return pass_dce(g, &c->sink, out) ? ST_OK : diag_worst(&c->sink);
}

/* -- Memory */
struct rows {
    int64_t *data; /* by data set */
    int64_t *stored;
    int64_t (*split)[2];      /* by phase; NULL when a file is missing */
    struct data_sets *opened; /* to be closed */
};

static struct data_override *overrides(struct call *c, uint32_t *n)
{
    const struct option_value *v = &c->o.at[OPT_DATA];
    struct data_override *list = arena_array(c->arena, struct data_override, v->many.n);
    for (uint32_t i = 0; i < v->many.n; i++) {
        list[i] = (struct data_override){v->many.at[i], v->values.at[i]};
    }
    *n = v->many.n;
    return list;
}

/* Rows from the data files. Where one cannot be opened the plan is still of use, so a number is assumed and
 * said. */
static enum status find_rows(struct call *c, const struct graph *g, struct rows *r, FILE *out)
{
    uint32_t n;
    struct data_override *over = overrides(c, &n);
    const char *folder = folder_of(c->arena, c->o.args.at[0]);
    struct diag_sink quiet;
    diag_init(&quiet, c->arena, c->sink.sources);
    enum status st = data_open(g, folder, over, n, &quiet, &r->opened);
    bool is_there = st == ST_OK || quiet.list.at[0].code != DIAG_F0101;
    if (st != ST_OK && st != ST_RESOURCE && is_there) {
        return data_open(g, folder, over, n, &c->sink, &r->opened); /* again, for the error */
    }
    r->data = arena_array(c->arena, int64_t, g->datas.n);
    r->stored = arena_array(c->arena, int64_t, g->datas.n);
    for (uint32_t i = 0; i < g->datas.n; i++) {
        r->data[i] = st == ST_OK ? r->opened->at[i].rows : UNKNOWN_ROWS;
        r->stored[i] = st == ST_OK ? r->opened->at[i].stored : UNKNOWN_ROWS;
    }
    if (st != ST_OK) {
        fprintf(out, "%s\nplanned as if every data set had %d rows\n\n", quiet.list.at[0].message,
                UNKNOWN_ROWS);
        return ST_OK;
    }
    return data_split_rows(r->opened, c->arena, &c->sink, &r->split);
}

/* Copies the listing without the sections of other phases; a section starts with "phase NAME". */
static void print_section(const char *text, const char *phase, FILE *out)
{
    static const char mark[] = "\nphase ";
    size_t n = strlen(phase), skip = strlen(mark);
    for (const char *next; *text; text = next) {
        next = strstr(text + 1, mark);
        next = next ? next : text + strlen(text);
        bool section = strncmp(text, mark, skip) == 0;
        bool wanted = section && strncmp(text + skip, phase, n) == 0 && strchr(", :(", text[skip + n]);
        if (!section || wanted) {
            fwrite(text, 1, (size_t)(next - text), out);
        }
    }
}

static enum status print_plan(struct call *c, const struct plan *p, const char *phase, FILE *out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (!to) {
        return diag_emit(&c->sink, DIAG_R1003, NO_SPAN, "cannot write into memory");
    }
    plan_print_memory(p, to);
    fclose(to);
    if (phase) {
        print_section(text, phase, out);
    } else {
        fwrite(text, 1, n, out);
    }
    free(text);
    return ST_OK;
}

static enum status emit_memory(struct call *c, const struct graph *g, const char *phase, FILE *out)
{
    struct rows r = {0};
    struct plan *p;
    uint32_t index;
    if (phase) {
        TRY(find_phase(c, g, phase, &index));
    }
    enum status st = find_rows(c, g, &r, out);
    if (st == ST_OK) {
        struct plan_options o = {.data_rows = r.data,
                                 .stored_rows = r.stored,
                                 .split_rows = (const int64_t(*)[2])r.split,
                                 .target = {.name = "cpu"},
                                 .fuse = !c->o.at[OPT_NO_FUSE].given};
        st = plan_build(g, &o, c->arena, &c->sink, &p);
    }
    if (st == ST_OK) {
        st = print_plan(c, p, phase, out);
    }
    data_close(r.opened);
    return st;
}

enum status emit_graph(struct call *c, struct graph *g, const char *form, FILE *out)
{
    const char *phase = c->o.at[OPT_PHASE].given ? c->o.at[OPT_PHASE].text : NULL;
    if (strcmp(form, "mem") == 0) {
        return emit_memory(c, g, phase, out);
    }
    if (phase) {
        TRY(keep_phase(c, g, phase, &g));
    }
    static const struct {
        const char *form;
        void (*print)(const struct graph *g, FILE *out);
    } forms[] = {{"graph", graph_print}, {"json", graph_json}, {"dot", graph_dot}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].form, form) == 0) {
            forms[i].print(g, out);
            return ST_OK;
        }
    }
    return diag_emit(&c->sink, DIAG_I0001, NO_SPAN, "no printer for --emit=%s", form);
}
