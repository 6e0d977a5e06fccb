/* Golden messages: every .gml of bad/ (and seven.gml) is compiled and what the compiler says is compared with
 * the .txt beside it. GML_UPDATE=1 in the environment writes the .txt files anew; read the difference before
 * committing it. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "compiler/compiler.h"
#include "tests/suite.h"

enum { MAX_FILES = 64 };
static char *files[MAX_FILES];
static int n_files;

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        return NULL;
    }
    char *text = calloc(1, 1 << 20);
    ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
    fclose(f);
    return text;
}
/* What the compiler says about a file; also counts errors and those with a caret and with help. */
struct verdict {
    char *text;
    uint32_t errors, with_help, with_span;
    bool graph;
};
static struct verdict compile(const char *path, enum diag_format format)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g;
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct verdict v = {0};
    size_t n;
    diag_init(&sink, a, NULL);
    enum status st = gml_compile(a, path, &o, &sink, &g);
    FILE *out = open_memstream(&v.text, &n);
    diag_render(&sink, format, false, out);
    fclose(out);
    v.graph = st == ST_OK && g;
    for (uint32_t i = 0; i < sink.list.n; i++) {
        const struct diag *d = &sink.list.at[i];
        v.errors += !d->is_warning;
        v.with_help += !d->is_warning && d->help;
        v.with_span += !d->is_warning && d->span.file && d->span.end > d->span.start;
    }
    arena_free(a);
    return v;
}
static void check_golden(const char *path)
{
    char golden[512];
    snprintf(golden, sizeof golden, "%.*s.txt", (int)strlen(path) - 4, path);
    struct verdict v = compile(path, DIAG_HUMAN);
    ck_assert_msg(!v.graph, "%s compiles", path);
    if (getenv("GML_UPDATE")) {
        FILE *f = fopen(golden, "w");
        fputs(v.text, f);
        fclose(f);
    }
    char *want = read_text(golden);
    ck_assert_msg(want != NULL, "%s is missing", golden);
    ck_assert_msg(!strcmp(want, v.text), "%s: the messages changed. Now:\n%s", path, v.text);
    free(want);
    free(v.text);
}
START_TEST(test_golden)
{
    check_golden(files[_i]);
}
END_TEST

START_TEST(test_seven)
{
    static const char *const codes[] = {"E2012", "E2002", "E1004", "E1001", "E2040", "E2071", "E1002"};
    struct verdict v = compile("seven.gml", DIAG_SHORT);
    ck_assert_uint_eq(v.errors, 7);
    ck_assert_uint_eq(v.with_help, 7);
    ck_assert_uint_eq(v.with_span, 7);
    for (int i = 0; i < 7; i++) {
        ck_assert_msg(strstr(v.text, codes[i]) != NULL, "%s is missing in\n%s", codes[i], v.text);
    }
    free(v.text);
}
END_TEST

static void find_files(void)
{
    DIR *d = opendir("bad");
    for (struct dirent *f = d ? readdir(d) : NULL; f && n_files < MAX_FILES; f = readdir(d)) {
        const char *dot = strrchr(f->d_name, '.');
        if (dot && !strcmp(dot, ".gml")) {
            files[n_files] = malloc(strlen(f->d_name) + 5);
            sprintf(files[n_files++], "bad/%s", f->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
    files[n_files++] = strdup("seven.gml");
}
int main(void)
{
    if (chdir(GML_SOURCE "/tests/compile")) {
        return EXIT_FAILURE;
    }
    find_files();
    TCase *t = tcase_create("errors");
    tcase_add_loop_test(t, test_golden, 0, n_files);
    tcase_add_test(t, test_seven);
    int failed = suite_run("errors", t, CK_NOFORK);
    for (int i = 0; i < n_files; i++) {
        free(files[i]);
    }
    return failed;
}
