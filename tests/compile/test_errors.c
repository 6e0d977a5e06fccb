/* Golden messages: what gml says about every .gml of bad/ and mistakes/ and about seven.gml.
 *
 * mistakes/ holds what newcomers write: each file has one mistake and gets one message, with a place and a
 * help line. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/compile/refused.h"
#include "tests/suite.h"

enum { MAX_FILES = 256 };
static char *files[MAX_FILES];
static int n_files;

START_TEST(test_golden)
{
    check_golden(files[_i]);
    if (!strncmp(files[_i], "mistakes/", 9)) {
        struct verdict v = verdict_of(files[_i], DIAG_HUMAN);
        ck_assert_msg(v.errors + v.warnings == 1 && v.helped == 1 && v.placed == 1,
                      "%s: one message with place and help, not\n%s", files[_i], v.text);
        free(v.text);
    }
}
END_TEST

START_TEST(test_seven)
{
    static const char *const codes[] = {"E2012", "E2002", "E1004", "E1001", "E2040", "E2071", "E1002"};
    struct verdict v = verdict_of("seven.gml", DIAG_SHORT);
    ck_assert_uint_eq(v.errors, 7);
    ck_assert_uint_eq(v.with_help, 7);
    ck_assert_uint_eq(v.with_span, 7);
    for (int i = 0; i < 7; i++) {
        ck_assert_msg(strstr(v.text, codes[i]) != NULL, "%s is missing in\n%s", codes[i], v.text);
    }
    free(v.text);
}
END_TEST

/* Codes of text that no golden of this folder can show, and why. */
static const struct {
    enum diag_code code;
    const char *why;
} elsewhere[] = {
    {DIAG_E0101, "bytes that no text file has: tests/grammar/test_parse.c"},
    {DIAG_E0102, "bytes that no text file has: tests/grammar/test_parse.c"},
    {DIAG_E0104, "a long text: tests/grammar/test_parse.c"},
    {DIAG_E0108, "a long text: tests/grammar/test_parse.c"},
    {DIAG_E0109, "a long text: tests/grammar/test_parse.c"},
    {DIAG_E0112, "17 files: tests/grammar/test_explain.sh"},
    {DIAG_E0114, "an option: tests/grammar/test_format.sh"},
    {DIAG_E1008, "an option: tests/compile/test_meaning.c"},
    {DIAG_E1009, "an option: tests/compile/test_meaning.c"},
    {DIAG_W3101, "at load: tests/e2e/test_windows.sh"},
    {DIAG_E2011, "text with a wrong number of operands is E1005; tests/graph has graphs with it"},
};
static bool is_elsewhere(enum diag_code c)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (elsewhere[i].code == c) {
            return true;
        }
    }
    return false;
}
START_TEST(test_every_code_has_a_golden)
{
    static const char *const syntax[] = {"errors_brackets", "errors_run", "errors_values", "errors_words"};
    bool seen[DIAG_COUNT] = {false};
    int n_syntax = (int)(sizeof syntax / sizeof *syntax), shown = 0;
    for (int i = 0; i < n_files + n_syntax; i++) {
        char path[512], mark[16];
        const char *name = i < n_files ? files[i] : syntax[i - n_files];
        snprintf(path, sizeof path, i < n_files ? "%.*s.txt" : "../grammar/%.*s.expected",
                 (int)strlen(name) - (i < n_files ? 4 : 0), name);
        char *text = read_text(path);
        for (int c = 0; text && c < DIAG_COUNT; c++) {
            snprintf(mark, sizeof mark, "[%s]", diag_name((enum diag_code)c));
            seen[c] |= strstr(text, mark) != NULL;
        }
        free(text);
    }
    for (int c = 0; c < DIAG_COUNT; c++) {
        const char *name = diag_name((enum diag_code)c);
        shown += seen[c];
        bool of_text = (name[0] == 'E' || name[0] == 'W') && strncmp(name, "E31", 3) &&
                       strncmp(name, "W4", 2); /* E31: at load, W4: of the machine */
        ck_assert_msg(!of_text || seen[c] || is_elsewhere((enum diag_code)c),
                      "%s (%s) is in no golden of bad/ or mistakes/", name, diag_title((enum diag_code)c));
        ck_assert_msg(!seen[c] || !is_elsewhere((enum diag_code)c), "%s is in a golden after all", name);
    }
    ck_assert_int_ge(shown, 50);
}
END_TEST

static void find_files(const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *f = d ? readdir(d) : NULL; f && n_files < MAX_FILES; f = readdir(d)) {
        const char *dot = strrchr(f->d_name, '.');
        if (dot && !strcmp(dot, ".gml")) {
            files[n_files] = malloc(strlen(folder) + strlen(f->d_name) + 2);
            sprintf(files[n_files++], "%s/%s", folder, f->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}
int main(void)
{
    if (chdir(GML_SOURCE "/tests/compile")) {
        return EXIT_FAILURE;
    }
    find_files("bad");
    find_files("mistakes");
    files[n_files++] = strdup("seven.gml");
    TCase *t = tcase_create("errors");
    tcase_add_loop_test(t, test_golden, 0, n_files);
    tcase_add_test(t, test_seven);
    tcase_add_test(t, test_every_code_has_a_golden);
    int failed = suite_run("errors", t, CK_NOFORK);
    for (int i = 0; i < n_files; i++) {
        free(files[i]);
    }
    return failed;
}
