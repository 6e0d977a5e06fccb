/* The type and shape rules of the language, a pair of files for each, by the numbers of README.md here.
 * NN_NAME.gml is accepted: its lines `#! launch PHASE N` are obeyed (without any, phase p is launched once),
 * and a line `output NAME = TEXT  #= TYPE: numbers` says which type NAME has and which numbers it holds,
 * worked out by hand. NN_NAME_bad.gml is refused with the text of the .txt beside it
 * (tests/compile/refused.h); each of its errors names the fix. */
#include <dirent.h>
#include <unistd.h>
#include "tests/compile/program.h"
#include "tests/compile/refused.h"
#include "tests/suite.h"

enum { MAX_FILES = 96, MAX_NUMBERS = 64 };
static char *accepted[MAX_FILES], *refused[MAX_FILES];
static int n_accepted, n_refused;
/* Rules of README.md whose constructs exist. What 17 and 19 accept needs data: test_batches.sh. */
static const int rules[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 18, 17, 19};
enum { N_RULES = sizeof rules / sizeof *rules, WITH_DATA = 2 };

/* -- accepted */

static const struct output *find_output(struct program *p, const char *name)
{
    const struct phase *f = &p->g->phases.at[graph_find_phase(p->g, "p")];
    for (uint32_t i = 0; i < f->outputs.n; i++) {
        if (!strcmp(f->outputs.at[i].name, name)) {
            return &f->outputs.at[i];
        }
    }
    ck_abort_msg("phase p has no output %s", name);
    return NULL;
}
/* One line: the type as gml prints it, then the numbers. */
static void check_line(struct program *p, const char *path, const char *name, char *want)
{
    double number[MAX_NUMBERS];
    int n = 0;
    char *colon = strchr(want, ':');
    ck_assert_msg(colon != NULL, "%s: `#=` of %s needs TYPE: numbers", path, name);
    struct type t = node_type(p->g, find_output(p, name)->value);
    const char *type = type_text(p->g, &t);
    ck_assert_msg(strlen(type) == (size_t)(colon - want) && !strncmp(type, want, strlen(type)),
                  "%s: %s is %s, expected %s", path, name, type, want);
    for (char *at = colon + 1, *end; n < MAX_NUMBERS; at = end + (*end == ',')) {
        number[n] = strtod(at, &end);
        if (end == at) {
            break;
        }
        n++;
    }
    expect(p, name, n, number);
}
/* Every line with `#=`; how many there are. */
static int check_lines(struct program *p, const char *path, char *text)
{
    int n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char name[64], *want = strstr(line, "#=");
        if (!want) {
            continue;
        }
        ck_assert_msg(sscanf(line, " output %63s =", name) == 1, "%s: no output in `%s`", path, line);
        check_line(p, path, name, want + 2 + strspn(want + 2, " "));
        n++;
    }
    return n;
}
static void launch_all(struct program *p, const char *text)
{
    bool told = false;
    for (const char *at = text; (at = strstr(at, "#! launch ")); at += 10) {
        char phase[32];
        int n;
        ck_assert_int_eq(sscanf(at, "#! launch %31s %d", phase, &n), 2);
        for (told = true; n > 0; n--) {
            launch(p, phase);
        }
    }
    if (!told) {
        launch(p, "p");
    }
}
START_TEST(test_accepted)
{
    const char *path = accepted[_i];
    char *text = read_text(path);
    struct program p;
    start(&p, text);
    launch_all(&p, text);
    ck_assert_msg(check_lines(&p, path, text) > 0, "%s expects nothing", path);
    finish(&p);
    free(text);
}
END_TEST

/* -- refused */

START_TEST(test_refused)
{
    check_golden(refused[_i]);
}
END_TEST
/* Every error of these files names the fix; an unknown name has one only where another name is close. */
START_TEST(test_help)
{
    struct verdict v = verdict_of(refused[_i], DIAG_HUMAN);
    bool helped = true;
    for (char *at = v.text; at; at = strstr(at + 1, "\nerror[")) {
        char *next = strstr(at + 1, "\nerror["), *help = strstr(at, "\nhelp: ");
        helped = (help && (!next || help < next)) || !strncmp(at + (*at == '\n'), "error[E1001]", 12);
        ck_assert_msg(helped, "%s: no help for %.80s", refused[_i], at);
    }
    free(v.text);
}
END_TEST
static bool has_rule(char *const *file, int n, int rule)
{
    for (int i = 0; i < n; i++) {
        if (atoi(file[i]) == rule) {
            return true;
        }
    }
    return false;
}
START_TEST(test_every_rule)
{
    for (int i = 0; i < N_RULES; i++) {
        ck_assert_msg(i >= N_RULES - WITH_DATA || has_rule(accepted, n_accepted, rules[i]),
                      "rule %d has no accepted program", rules[i]);
        ck_assert_msg(has_rule(refused, n_refused, rules[i]), "rule %d has no refused program", rules[i]);
    }
}
END_TEST

/* -- rule 7: an index that is neither -1 nor inside */

START_TEST(test_bad_index)
{
    static const char *const bad[] = {"x[i + 2]", "x[i - 2]", "put(x, i + 2, 0)", "x[i, i + 2]",
                                      "y[:, i + 2]"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct program p;
        char text[256];
        snprintf(
            text, sizeof text,
            "gml 1\nphase p {\n let x = reshape(iota(4), [2, 2])\n let y = x\n let i = iota(1)\n output a = "
            "%s\n}\n",
            bad[k]);
        start(&p, text);
        launch(&p, "p");
        ck_assert_msg(control_of(&p)->fault.code != 0, "`%s` raises no fault", bad[k]);
        finish(&p);
    }
}
END_TEST

static void find_files(void)
{
    DIR *d = opendir(".");
    for (struct dirent *f = d ? readdir(d) : NULL; f && n_accepted + n_refused < MAX_FILES; f = readdir(d)) {
        const char *dot = strrchr(f->d_name, '.');
        if (dot && !strcmp(dot, ".gml")) {
            *(strstr(f->d_name, "_bad") ? &refused[n_refused++] : &accepted[n_accepted++]) =
                strdup(f->d_name);
        }
    }
    if (d) {
        closedir(d);
    }
}
int main(void)
{
    if (chdir(GML_SOURCE "/tests/rules")) {
        return EXIT_FAILURE;
    }
    find_files();
    TCase *t = tcase_create("rules");
    tcase_add_loop_test(t, test_accepted, 0, n_accepted);
    tcase_add_loop_test(t, test_refused, 0, n_refused);
    tcase_add_loop_test(t, test_help, 0, n_refused);
    tcase_add_test(t, test_every_rule);
    tcase_add_test(t, test_bad_index);
    int failed = suite_run("rules", t, CK_NOFORK);
    for (int i = 0; i < MAX_FILES; i++) {
        free(accepted[i]);
        free(refused[i]);
    }
    return failed;
}
