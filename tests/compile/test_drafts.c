/* The drafts of tests/grammar/drafts use the whole language. Each compiles; with any one line left out (of
 * every eighth, beginning elsewhere in each) it compiles or is refused with errors of class E that show a
 * place. Run under the sanitizers, this is the test that wrong models never crash the compiler. What the
 * drafts compute: tools/check_oracle.py. */
#include <glob.h>
#include <stdlib.h>
#include "compiler/compiler.h"
#include "tests/suite.h"

enum { EVERY = 8 };
static glob_t drafts;

static void check_refusal(const char *path, uint32_t line, const struct diag_sink *sink)
{
    bool refused = false;
    for (uint32_t i = 0; i < sink->list.n; i++) {
        const struct diag *d = &sink->list.at[i];
        const char *code = diag_name(d->code);
        ck_assert_msg(d->is_warning || code[0] == 'E', "%s without line %u: %s: %s", path, line, code,
                      d->message);
        ck_assert_msg(d->is_warning || d->span.file, "%s without line %u: %s has no place", path, line, code);
        refused |= !d->is_warning;
    }
    ck_assert_msg(refused, "%s without line %u: refused, but no error says why", path, line);
}

static void compile_draft(const char *path, uint32_t line, const char *text, uint32_t n)
{
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g = NULL;
    diag_init(&sink, a, NULL);
    enum status st = gml_compile_text(a, path, text, n, &o, &sink, &g);
    ck_assert_msg(st == ST_OK || st == ST_MODEL, "%s without line %u: %s", path, line, status_text(st));
    ck_assert_msg((st == ST_OK) == (g != NULL), "%s without line %u: status and graph differ", path, line);
    ck_assert_msg(line || st == ST_OK, "%s: %s", path, sink.list.n ? sink.list.at[0].message : "no error");
    if (st != ST_OK) {
        check_refusal(path, line, &sink);
    }
    arena_free(a);
}

START_TEST(drafts_compile)
{
    const char *path = drafts.gl_pathv[_i];
    static char text[1 << 17], rest[1 << 17];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    size_t n = fread(text, 1, sizeof text - 1, f), end;
    fclose(f);
    ck_assert(n > 0 && n < sizeof text - 1);
    compile_draft(path, 0, text, (uint32_t)n);
    uint32_t line = 1;
    for (size_t at = 0; at < n; at = end, line++) {
        const char *eol = memchr(text + at, '\n', n - at);
        end = eol ? (size_t)(eol - text) + 1 : n;
        if ((int)line % EVERY != _i % EVERY) {
            continue;
        }
        memcpy(rest, text, at);
        memcpy(rest + at, text + end, n - end);
        rest[n - (end - at)] = 0;
        compile_draft(path, line, rest, (uint32_t)(n - (end - at)));
    }
}
END_TEST

int main(void)
{
    if (glob(GML_SOURCE "/tests/grammar/drafts/*.gml", 0, NULL, &drafts) != 0 || drafts.gl_pathc < 18) {
        fprintf(stderr, "the drafts are missing\n");
        return 1;
    }
    TCase *t = tcase_create("drafts");
    tcase_add_loop_test(t, drafts_compile, 0, (int)drafts.gl_pathc);
    int failed = suite_run("drafts", t, CK_FORK);
    globfree(&drafts);
    return failed;
}
