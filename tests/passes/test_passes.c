/* Runs every tests/passes/<name>.ir: the first line that is no comment names passes, then come a graph and,
 * behind a line of equals signs, the graph that they must make of it, both in text form. With
 * GML_UPDATE_GOLDEN set the expected part is written anew. Also: what the driver does with pass names.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "runtime/base/seam.h"
#include "tests/suite.h"

static const char separator[] = "\n====\n";

struct ir_case {
    struct arena *a;
    struct diag_sink sink;
    const char *path;
    char *text, *passes, *input, *expected;
};

static void give_up(struct ir_case *c, const char *what)
{
    diag_render(&c->sink, DIAG_SHORT, false, stderr);
    ck_abort_msg("%s: %s", c->path, what);
}
static char *printed(struct ir_case *c, const struct graph *g)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    graph_print(g, f);
    fclose(f);
    char *copy = arena_strndup(c->a, text, n);
    free(text);
    return copy;
}
static struct graph *parsed(struct ir_case *c, const char *text, const char *which)
{
    struct graph *g = NULL;
    if (graph_parse(c->a, text, &c->sink, &g) != ST_OK) {
        give_up(c, which);
    }
    return g;
}
static const struct pass_info *find_pass(const char *name)
{
    for (uint32_t i = 0; i < n_passes; i++) {
        if (!strcmp(pass_table[i].name, name)) {
            return &pass_table[i];
        }
    }
    return NULL;
}
/* Splits the file: comments, pass names, input, expected. */
static void open_case(struct ir_case *c, const char *path)
{
    size_t n;
    *c = (struct ir_case){.a = arena_new(), .path = path};
    diag_init(&c->sink, c->a, NULL);
    if (file_read(c->a, path, 1 << 20, &c->text, &n, &c->sink) != ST_OK) {
        give_up(c, "cannot be read");
    }
    c->passes = c->text;
    while (*c->passes == '#') {
        c->passes = strchr(c->passes, '\n') + 1;
    }
    c->input = strchr(c->passes, '\n');
    ck_assert_ptr_nonnull(c->input);
    char *end = strstr(c->input, separator);
    c->expected = end ? end + strlen(separator) : NULL;
    if (end) {
        end[1] = 0;
    }
    *c->input++ = 0;
}
static struct graph *run_named(struct ir_case *c, struct graph *g)
{
    char *save = NULL, *names = arena_strndup(c->a, c->passes, strlen(c->passes));
    for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        const struct pass_info *p = find_pass(name);
        ck_assert_msg(p != NULL, "%s: no pass %s", c->path, name);
        if (!p->run(g, &c->sink, &g) || graph_verify(g, &c->sink) != ST_OK) {
            give_up(c, name);
        }
    }
    return g;
}
static void update(struct ir_case *c, const char *got)
{
    FILE *f = fopen(c->path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "%.*s%s\n%s%s%s", (int)(c->passes - c->text), c->text, c->passes, c->input, separator + 1,
            got);
    fclose(f);
}
static void check_file(const char *path)
{
    struct ir_case c;
    open_case(&c, path);
    struct graph *g = run_named(&c, parsed(&c, c.input, "input"));
    const char *got = printed(&c, g), *again = printed(&c, run_named(&c, g));
    ck_assert_msg(!strcmp(got, again), "%s: passes %s gave\n%s\nand then\n%s", path, c.passes, got, again);
    if (getenv("GML_UPDATE_GOLDEN")) {
        update(&c, got);
    } else {
        ck_assert_msg(c.expected != NULL, "%s: nothing expected", path);
        const char *want = printed(&c, parsed(&c, c.expected, "expected"));
        ck_assert_msg(!strcmp(got, want), "%s: passes %s gave\n%s\nnot\n%s", path, c.passes, got, want);
    }
    arena_free(c.a);
}
START_TEST(test_files)
{
    glob_t files;
    ck_assert_int_eq(glob(GML_SOURCE "/tests/passes/*.ir", 0, NULL, &files), 0);
    ck_assert_uint_ge(files.gl_pathc, 6);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        check_file(files.gl_pathv[i]);
    }
    globfree(&files);
}
END_TEST

START_TEST(test_driver)
{
    static const char text[] =
        "graph 1 model=\"m\"\nin 0\n%1 = const f32[] {=1}\nphase 0 kind=init name=\"init\"\n";
    struct ir_case c = {.a = arena_new(), .path = "driver"};
    diag_init(&c.sink, c.a, NULL);
    struct graph *g = parsed(&c, text, "text"), *out;
    struct compile_options o = {.verify_each = true, .no_passes = true};
    ck_assert_int_eq(run_passes(g, &o, &c.sink, &out), ST_OK);
    ck_assert_uint_eq(out->nodes.n, 2);
    o.no_passes = false;
    ck_assert_int_eq(run_passes(g, &o, &c.sink, &out), ST_OK);
    ck_assert_uint_eq(out->nodes.n, 1);
    o.dump_after = "simplfy";
    ck_assert_int_eq(run_passes(g, &o, &c.sink, &out), ST_USAGE);
    ck_assert_str_eq(c.sink.list.at[0].help, "did you mean `simplify`?");
    arena_free(c.a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("passes");
    tcase_add_test(t, test_files);
    tcase_add_test(t, test_driver);
    return suite_run("passes", t, CK_NOFORK);
}
