/* Golden messages: what gml says about every .gml of bad/ and about seven.gml. */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/compile/refused.h"
#include "tests/suite.h"

enum { MAX_FILES = 64 };
static char *files[MAX_FILES];
static int n_files;

START_TEST(test_golden)
{
    check_golden(files[_i]);
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
