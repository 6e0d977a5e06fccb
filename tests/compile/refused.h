/* Golden messages: a model is compiled and, where that succeeds, planned with the default sizes; what gml
 * says is compared with the .txt beside it. GML_UPDATE=1 in the environment writes the .txt files anew; read
 * the difference before committing it.
 */
#ifndef GML_TESTS_COMPILE_REFUSED_H
#define GML_TESTS_COMPILE_REFUSED_H
#include <check.h>
#include <stdlib.h>
#include "compiler/compiler.h"
#include "runtime/plan/plan.h"

/* What gml says about a file; also counts errors and those with a caret and with help. */
struct verdict {
    char *text;                                      /* from malloc */
    uint32_t errors, warnings, with_help, with_span; /* with: of errors */
    uint32_t helped, placed;                         /* of all */
    bool runs;
};
/* The text of a file, from malloc; NULL when there is none. */
static inline char *read_text(const char *path)
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
static inline struct verdict verdict_of(const char *path, enum diag_format format)
{
    static const int64_t no_rows[LIMIT_PHASES][2];
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g;
    struct plan *plan;
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct plan_options load = {.split_rows = no_rows, .target = {.name = "cpu"}};
    struct verdict v = {0};
    size_t n;
    diag_init(&sink, a, NULL);
    v.runs =
        gml_compile(a, path, &o, &sink, &g) == ST_OK && g && plan_build(g, &load, a, &sink, &plan) == ST_OK;
    FILE *out = open_memstream(&v.text, &n);
    diag_render(&sink, format, false, out);
    fclose(out);
    for (uint32_t i = 0; i < sink.list.n; i++) {
        const struct diag *d = &sink.list.at[i];
        v.errors += !d->is_warning;
        v.warnings += d->is_warning;
        v.helped += d->help != NULL;
        v.placed += d->span.file && d->span.end > d->span.start;
        v.with_help += !d->is_warning && d->help;
        v.with_span += !d->is_warning && d->span.file && d->span.end > d->span.start;
    }
    arena_free(a);
    return v;
}
/* path ends in .gml. */
static inline void check_golden(const char *path)
{
    char golden[512];
    snprintf(golden, sizeof golden, "%.*s.txt", (int)strlen(path) - 4, path);
    struct verdict v = verdict_of(path, DIAG_HUMAN);
    ck_assert_msg(!v.runs || v.warnings, "%s is not refused", path);
    if (getenv("GML_UPDATE")) {
        FILE *f = fopen(golden, "w");
        fputs(v.text, f);
        fclose(f);
    }
    char *want = read_text(golden);
    ck_assert_msg(want != NULL, "%s is missing", golden);
    ck_assert_msg(!strcmp(want, v.text), "%s: the messages changed. Now:\n%.3000s", path, v.text);
    free(want);
    free(v.text);
}

#endif
