/* Inputs that are wrong in one way each (files/, made by make.py): every one is refused with its exit code,
 * place and code, as golden.txt says; of array files the message too (of models, tests/compile has the
 * messages). Files of data sets, draws and weights are those of a model that reads them. Graph files depend
 * on the operator table, so they are made here. tests/format and tests/graph cut and flip every byte. On a
 * difference the new text is left in the build folder as malformed.txt.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "compiler/compiler.h"
#include "runtime/base/seam.h"
#include "runtime/format/format.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run.h"
#include "tests/graph/common.h"

static struct text shown;

static void put_sink(const char *name, enum status st, const struct diag_sink *s, bool with_message)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    diag_render(s, DIAG_SHORT, false, f);
    fclose(f);
    text_printf(&shown, "%s: exit %d\n", name, status_exit_code(st));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *code_end = strstr(line, "]");
        text_printf(&shown, "    %.*s\n",
                    with_message || !code_end ? (int)strlen(line) : (int)(code_end - line) + 1, line);
    }
    free(text);
}

static enum status read_arrays(const char *name, struct diag_sink *s)
{
    struct array_file f;
    TRY(arrays_read(arena, name, s, &f));
    for (uint32_t i = 0; i < f.n; i++) {
        TRY(array_need_numbers(&f.at[i], name, s));
    }
    return ST_OK;
}

/* Compiled and planned: sizes are checked where they are known. */
static enum status use_model(const char *name, struct diag_sink *s)
{
    static const int64_t no_rows[LIMIT_PHASES][2];
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct plan_options p = {.split_rows = no_rows, .target = {.name = "cpu"}};
    struct graph *g = NULL;
    struct plan *plan;
    TRY(gml_compile(arena, name, &o, s, &g));
    return plan_build(g, &p, arena, s, &plan);
}

/* NN-MODEL-what.*: the model takes the file for its data, its draw or its weights. */
static const char *user_of(const char *name)
{
    const char *from = strchr(name, '-') + 1, *to = strchr(from, '-');
    const char *model = to ? arena_printf(arena, "%.*s.gml", (int)(to - from), from) : NULL;
    return model && access(model, R_OK) == 0 ? model : NULL;
}
static enum status use_file(const char *model, const char *name, struct diag_sink *s)
{
    static const char *const draw = "eval.eps";
    struct data_override file = {"d", name}, from = {draw, name};
    bool draws = !strcmp(model, "draw.gml"), net = !strcmp(model, "net.gml");
    struct compile_options c = {.std_path = GML_SOURCE "/models/std", .override = &draw, .n_override = draws};
    struct run_options o = {.folder = "",
                            .device = "cpu",
                            .threads = 1,
                            .steps = -1,
                            .quiet = true,
                            .max_skips = 8,
                            .data = &file,
                            .n_data = !draws && !net,
                            .override = &from,
                            .n_override = draws,
                            .weights = net ? name : NULL};
    struct graph *g;
    struct run *r;
    struct summary out;
    TRY(gml_compile(arena, model, &c, s, &g));
    TRY(run_open(g, &o, s, &r));
    enum status st = run_eval(r, &out);
    run_close(r);
    return st;
}

static void show(const char *name)
{
    struct diag_sink s;
    size_t n = strlen(name);
    bool is_model = n > 4 && !strcmp(name + n - 4, ".gml");
    const char *user = user_of(name);
    diag_init(&s, arena, NULL);
    if (user) {
        put_sink(name, use_file(user, name, &s), &s, true);
    } else if (is_model) {
        put_sink(name, use_model(name, &s), &s, false);
    } else {
        put_sink(name, read_arrays(name, &s), &s, true);
    }
}

static int numbered(const struct dirent *e)
{
    return e->d_name[0] >= '0' && e->d_name[0] <= '9';
}

static void show_folder(void)
{
    struct dirent **list;
    ck_assert_int_eq(chdir(GML_SOURCE "/tests/malformed/files"), 0);
    int n = scandir(".", &list, numbered, alphasort);
    ck_assert_int_gt(n, 80);
    for (int i = 0; i < n; i++) {
        show(list[i]->d_name);
        free(list[i]);
    }
    free(list);
}

/* -- graphs: the sample, damaged in one way */

static void damage_op(struct graph *g)
{
    g->nodes.at[5].op = OP_COUNT;
}
static void damage_input(struct graph *g)
{
    for (val v = 1; v < g->nodes.n; v++) {
        if (g->nodes.at[v].n_in) {
            *(val *)(uintptr_t)node_inputs(g, &g->nodes.at[v]) = v;
            return;
        }
    }
}
static void damage_dtype(struct graph *g)
{
    g->nodes.at[3].dtype = DT_COUNT;
}
static void damage_shape(struct graph *g)
{
    for (val v = 1; v < g->nodes.n; v++) {
        if (g->nodes.at[v].n_in && g->nodes.at[v].rank) {
            g->nodes.at[v].rank--;
            return;
        }
    }
}
static void damage_phase(struct graph *g)
{
    g->phases.at[g->phases.n - 1].ok = g->nodes.n + 7;
}
static void damage_tree(struct graph *g)
{
    g->trees.at[0].leaf[0] = 4000;
}
static void damage_model(struct graph *g)
{
    g->model = "../x";
}

static void show_graph(const char *name, void (*damage)(struct graph *), size_t at, uint64_t value,
                       size_t cut)
{
    char *bytes;
    size_t n;
    struct diag_sink s;
    struct graph *g = sample(), *back = NULL;
    if (damage) {
        damage(g);
    }
    ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n), ST_OK);
    if (!damage) {
        memcpy(bytes + at, &value, cut ? 0 : 8);
    }
    char *exact = malloc(n - cut);
    memcpy(exact, bytes, n - cut);
    diag_init(&s, arena, NULL);
    put_sink(name, gmlb_read(arena, name, exact, n - cut, &s, &back), &s, true);
    free(exact);
    ck_assert_ptr_null(back);
}

static void show_graphs(void)
{
    show_graph("12-magic.gmlb", NULL, 0, 0, 0);
    show_graph("12-version.gmlb", NULL, 8, 9, 0);
    show_graph("12-operators.gmlb", NULL, 12, 1, 0);
    show_graph("13-cut-off.gmlb", NULL, 0, 0, 1);
    show_graph("14-operator.gmlb", damage_op, 0, 0, 0);
    show_graph("14-input.gmlb", damage_input, 0, 0, 0);
    show_graph("14-dtype.gmlb", damage_dtype, 0, 0, 0);
    show_graph("14-shape.gmlb", damage_shape, 0, 0, 0);
    show_graph("14-phase.gmlb", damage_phase, 0, 0, 0);
    show_graph("14-tree.gmlb", damage_tree, 0, 0, 0);
    show_graph("14-model.gmlb", damage_model, 0, 0, 0);
    show_graph("16-length.gmlb", NULL, 20, UINT64_MAX, 0);
}

START_TEST(golden)
{
    size_t n;
    char *want;
    shown = (struct text){.arena = arena};
    show_folder();
    show_graphs();
    const char *made = GML_BUILD "/malformed.txt";
    ck_assert_int_eq(file_write(made, shown.at, shown.n, &sink), ST_OK);
    ck_assert_int_eq(file_read(arena, GML_SOURCE "/tests/malformed/golden.txt", 1 << 20, &want, &n, &sink),
                     ST_OK);
    ck_assert_msg(n == shown.n && !memcmp(want, shown.at, n), "diff tests/malformed/golden.txt %s", made);
    ck_assert_ptr_null(strstr(shown.at, ": exit 0"));
    ck_assert_ptr_null(strstr(shown.at, ": exit 7"));
    unlink(made);
}
END_TEST

/* What is too large to keep as a file. */
START_TEST(large)
{
    size_t n = 100000;
    struct text t = {.arena = arena};
    struct compile_options o = {0};
    struct graph *g;
    text_printf(&t, "gml 1\nconfig a = ");
    for (size_t i = 0; i < n; i++) {
        text_append(&t, "(", 1);
    }
    ck_assert_int_eq(gml_compile_text(arena, "t.gml", t.at, (uint32_t)t.n, &o, &sink, &g), ST_MODEL);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_E0108);

    char *csv = arena_alloc(arena, 2 << 20);
    struct array_file f;
    memset(csv, '1', 2 << 20);
    memcpy(csv, "a\n", 2);
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(arrays_parse(arena, "t.csv", csv, 2 << 20, &sink, &f), ST_DATA);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_F4006);

    for (size_t length = LIMIT_NPY_HEADER; length <= LIMIT_NPY_HEADER + 1; length++) {
        char *npy = arena_alloc(arena, 12 + length);
        memset(npy, ' ', 12 + length);
        memcpy(npy, "\x93NUMPY\2\0", 8);
        memcpy(npy + 8, &(uint32_t){(uint32_t)length}, 4);
        memcpy(npy + 12, "{'descr': '|u1', 'fortran_order': False, 'shape': (0,)}", 55);
        npy[12 + length - 1] = '\n';
        diag_init(&sink, arena, NULL);
        ck_assert_int_eq(arrays_parse(arena, "t.npy", npy, 12 + length, &sink, &f),
                         length == LIMIT_NPY_HEADER ? ST_OK : ST_DATA);
    }
    ck_assert_int_eq(sink.list.at[0].code, DIAG_F3002);
}
END_TEST

/* Not files at all: refused at once, and nobody waits for a FIFO. */
START_TEST(odd_files)
{
    struct compile_options o = {0};
    struct graph *g;
    struct array_file f;
    char fifo[] = "/tmp/gml_fifo_XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(fifo));
    const char *path = arena_printf(arena, "%s/p.csv", fifo);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(gml_compile(arena, path, &o, &sink, &g), ST_RESOURCE);
    ck_assert_int_eq(arrays_read(arena, path, &sink, &f), ST_RESOURCE);
    ck_assert_int_eq(arrays_read(arena, "/dev/zero", &sink, &f), ST_RESOURCE);
    ck_assert_int_eq(arrays_read(arena, fifo, &sink, &f), ST_RESOURCE);
    ck_assert_int_eq(gml_compile(arena, "/dev/zero", &o, &sink, &g), ST_RESOURCE);
    unlink(path);
    rmdir(fifo);
}
END_TEST

int main(void)
{
    return RUN("malformed", golden, large, odd_files);
}
