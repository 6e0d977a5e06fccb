/* The pages of `gmlc explain`: every code that text can give has an example, and every example that is a
 * model gives its code, once. Examples that are commands are run by tests/grammar/test_explain.sh. */
#include <stdlib.h>
#include <unistd.h>
#include "compiler/compiler.h"
#include "tests/suite.h"

/* E31: sizes that are bound at load; W4: of the machine. */
static bool is_of_text(enum diag_code c)
{
    const char *name = diag_name(c);
    return (name[0] == 'E' || name[0] == 'W') && strncmp(name, "E31", 3) && strncmp(name, "W4", 2);
}
START_TEST(test_every_code_of_text_has_an_example)
{
    for (int i = 0; i < DIAG_COUNT; i++) {
        enum diag_code c = (enum diag_code)i;
        struct diag_example x = diag_example(c);
        ck_assert_msg(!is_of_text(c) || x.kind != EXAMPLE_NONE,
                      "%s: add a row to runtime/base/diag_examples.def", diag_name(c));
        ck_assert_msg(x.kind == EXAMPLE_NONE || (*x.text && *x.cure), "%s: empty example", diag_name(c));
        ck_assert_msg(*diag_page(c) && *diag_title(c), "%s has no page", diag_name(c));
    }
}
END_TEST

static void check_example(enum diag_code c, const char *text)
{
    struct arena *a = arena_new();
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct diag_sink sink;
    struct graph *g;
    uint32_t found = 0, other = 0;
    char *message, *whole = arena_printf(a, "gml 1\n%s", text);
    size_t n;
    diag_init(&sink, a, NULL);
    enum status st = gml_compile_text(a, "model.gml", whole, (uint32_t)strlen(whole), &o, &sink, &g);
    for (uint32_t i = 0; i < sink.list.n; i++) {
        found += sink.list.at[i].code == c;
        other += sink.list.at[i].code != c;
    }
    FILE *out = open_memstream(&message, &n);
    diag_render(&sink, DIAG_HUMAN, false, out);
    fclose(out);
    ck_assert_msg(found == 1 && !other, "the example of %s gives\n%s", diag_name(c), message);
    ck_assert_int_eq(st, diag_name(c)[0] == 'W' ? ST_OK : diag_status(c));
    free(message);
    arena_free(a);
}
START_TEST(test_example)
{
    struct diag_example x = diag_example((enum diag_code)_i);
    if (x.kind == EXAMPLE_GML) {
        check_example((enum diag_code)_i, x.text);
    }
}
END_TEST

int main(void)
{
    /* E0106: the file that imports itself is read from here. */
    char folder[] = "/tmp/gml_explain_XXXXXX", path[sizeof folder + 16];
    if (!mkdtemp(folder) || chdir(folder)) {
        return EXIT_FAILURE;
    }
    FILE *f = fopen("model.gml", "w");
    fprintf(f, "gml 1\n%s", diag_example(DIAG_E0106).text);
    fclose(f);
    TCase *t = tcase_create("explain");
    tcase_add_test(t, test_every_code_of_text_has_an_example);
    tcase_add_loop_test(t, test_example, 0, DIAG_COUNT);
    int failed = suite_run("explain", t, CK_NOFORK);
    snprintf(path, sizeof path, "%s/model.gml", folder);
    unlink(path);
    rmdir(folder);
    return failed;
}
