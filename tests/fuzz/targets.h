/* What is fuzzed: one function per kind of input. Each takes any bytes, must come back, and checks what may
 * be relied on afterwards; a broken promise aborts. fuzz.c makes libFuzzer programs of them, test_corpus.c
 * replays files through them in every build.
 */
#ifndef GML_TESTS_FUZZ_TARGETS_H
#define GML_TESTS_FUZZ_TARGETS_H
#include <stdlib.h>
#include "compiler/compiler.h"
#include "grammar/format.h"
#include "kernels/ops.h"
#include "runtime/format/format.h"
#include "runtime/plan/plan.h"

static inline void promise(bool kept, const char *what, const struct diag_sink *s)
{
    if (!kept) {
        fprintf(stderr, "broken promise: %s\n", what);
        diag_render(s, DIAG_SHORT, false, stderr);
        abort();
    }
}

/* Refused: at least one message with the status class of its code. Accepted: none. */
static inline void promise_status(enum status st, enum status refused, const struct diag_sink *s)
{
    promise(st == ST_OK || st == refused, "the class of the status", s);
    promise((st == ST_OK) == (s->n_errors == 0), "a message exactly when refused", s);
}

/* Beside the program where it is fuzzed elsewhere (tools/fuzz.sh stage), else the folder of the sources. */
static inline const char *fuzz_std(void)
{
    const char *there = getenv("GML_STD");
    return there ? there : GML_SOURCE "/models/std";
}

/* -- files of arrays */

typedef enum status array_parser(struct arena *, const char *, const void *, size_t, struct diag_sink *,
                                 struct array_file *);

static inline void touch(struct arena *a, const struct array *x, const struct diag_sink *s)
{
    volatile double seen = 0; /* so that the reads stay */
    uint64_t n = (uint64_t)array_count(x);
    promise(x->n_bytes == n * x->item_bytes, "bytes = elements x size", s);
    for (uint64_t i = 0; i < n; i++) {
        if (file_type_is_text(x->type)) {
            seen = (double)strlen(array_string(a, x, (int64_t)i));
        } else {
            seen = array_number(x, (int64_t)i);
        }
    }
    (void)seen;
}
static inline void fuzz_arrays(array_parser *parse, const uint8_t *bytes, size_t n)
{
    struct arena *a = arena_new();
    struct diag_sink s;
    struct array_file f;
    diag_init(&s, a, NULL);
    enum status st = parse(a, "fuzz", bytes, n, &s, &f);
    promise_status(st, ST_DATA, &s);
    promise(st == ST_OK || f.n == 0, "nothing is handed out of a refused file", &s);
    for (uint32_t i = 0; i < f.n; i++) {
        touch(a, &f.at[i], &s);
    }
    arena_free(a);
}
static inline void fuzz_npz(const uint8_t *bytes, size_t n)
{
    fuzz_arrays(npz_parse, bytes, n);
}
static inline void fuzz_safetensors(const uint8_t *bytes, size_t n)
{
    fuzz_arrays(safetensors_parse, bytes, n);
}
static inline void fuzz_idx(const uint8_t *bytes, size_t n)
{
    fuzz_arrays(idx_parse, bytes, n);
}
static inline void fuzz_csv(const uint8_t *bytes, size_t n)
{
    fuzz_arrays(csv_file_parse, bytes, n);
}

/* -- graphs */

/* An accepted graph can be written, reads back to the same bytes, and its plan, if there is one, passes the
 * independent checker. */
static inline void use_graph(struct arena *a, const struct graph *g, struct diag_sink *s)
{
    char *first, *second;
    size_t n_first, n_second;
    struct graph *back = NULL;
    struct plan *plan;
    int64_t rows[256], split[LIMIT_PHASES][2];
    struct plan_options o = {.data_rows = rows, .split_rows = split, .target = {.name = "cpu"}};
    promise(gmlb_write(g, a, &first, &n_first) == ST_OK, "a graph can be written", s);
    promise(gmlb_read(a, "fuzz", first, n_first, s, &back) == ST_OK, "a written graph can be read", s);
    promise(gmlb_write(back, a, &second, &n_second) == ST_OK, "a read graph can be written", s);
    promise(n_first == n_second && !memcmp(first, second, n_first), "the same bytes again", s);
    if (g->datas.n > sizeof rows / sizeof *rows) {
        return;
    }
    for (uint32_t i = 0; i < g->datas.n; i++) {
        rows[i] = 640;
    }
    for (uint32_t i = 0; i < LIMIT_PHASES; i++) {
        split[i][0] = 0;
        split[i][1] = i < g->phases.n && g->phases.at[i].data ? 640 : 0;
    }
    if (plan_build(g, &o, a, s, &plan) == ST_OK) {
        promise(plan_check(plan, s) == ST_OK, "a plan passes its checker", s);
    } else {
        promise(s->n_errors > 0, "a message when there is no plan", s);
    }
}
static inline uint32_t fuzz_crc32c(const uint8_t *p, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
        }
    }
    return ~crc;
}
/* Whole files go in as they are; anything else is a payload that gets a header with the right checksum, so
 * that what lies behind the checksum is fuzzed too. */
static inline void fuzz_gmlb(const uint8_t *bytes, size_t n)
{
    struct arena *a = arena_new();
    struct diag_sink s;
    struct graph *g = NULL;
    char *file = arena_alloc(a, n + 32);
    bool whole = n >= 2 && !memcmp(bytes, "\211G", 2);
    memcpy(file + (whole ? 0 : 32), bytes, n);
    if (!whole) {
        uint32_t version = 1, crc = fuzz_crc32c(bytes, n);
        uint64_t hash = op_table_hash(), length = n;
        memcpy(file, "\211GMLB\r\n\032", 8);
        memcpy(file + 8, &version, 4);
        memcpy(file + 12, &hash, 8);
        memcpy(file + 20, &length, 8);
        memcpy(file + 28, &crc, 4);
    }
    size_t size = whole ? n : n + 32;
    char *exact = malloc(size ? size : 1);
    memcpy(exact, file, size);
    diag_init(&s, a, NULL);
    enum status st = gmlb_read(a, "fuzz", exact, size, &s, &g);
    free(exact);
    promise_status(st, ST_DATA, &s);
    if (st == ST_OK) {
        use_graph(a, g, &s);
    }
    arena_free(a);
}

/* -- text */

/* What parses can be formatted, unless it becomes too long, and formatting again changes nothing. */
static inline void format_twice(struct arena *a, uint16_t file, struct diag_sink *s)
{
    const char *once, *twice;
    size_t n_once, n_twice;
    enum status st = gml_format(a, interner_new(a), s, file, &once, &n_once);
    promise(st == ST_OK || s->list.at[s->list.n - 1].code == DIAG_E0109, "what parses can be formatted", s);
    if (st == ST_OK) {
        file = sources_add(s->sources, "again.gml", once, (uint32_t)n_once);
        promise(gml_format(a, interner_new(a), s, file, &twice, &n_twice) == ST_OK, "and formatted again", s);
        promise(n_once == n_twice && !memcmp(once, twice, n_once), "with the same result", s);
    }
}
static inline void fuzz_parser(const uint8_t *bytes, size_t n)
{
    struct arena *a = arena_new();
    struct diag_sink s;
    struct sources sources;
    struct parsed out;
    sources_init(&sources, a);
    diag_init(&s, a, &sources);
    uint16_t file = sources_add(&sources, "fuzz.gml", (const char *)bytes, (uint32_t)n);
    enum status st = gml_parse(a, interner_new(a), &s, file, &out);
    promise_status(st, ST_MODEL, &s);
    promise(out.file != NULL || st != ST_OK, "a tree", &s);
    FILE *nowhere = fopen("/dev/null", "w");
    diag_render(&s, DIAG_HUMAN, false, nowhere);
    if (st == ST_OK) {
        ast_print(out.file, nowhere);
        format_twice(a, file, &s);
    }
    fclose(nowhere);
    arena_free(a);
}
static inline void fuzz_compile(const uint8_t *bytes, size_t n)
{
    struct arena *a = arena_new();
    struct diag_sink s;
    struct graph *g = NULL;
    struct compile_options o = {.std_path = fuzz_std(), .verify_each = true};
    diag_init(&s, a, NULL);
    enum status st = gml_compile_text(a, "fuzz.gml", (const char *)bytes, (uint32_t)n, &o, &s, &g);
    promise_status(st, ST_MODEL, &s);
    FILE *nowhere = fopen("/dev/null", "w");
    diag_render(&s, DIAG_HUMAN, false, nowhere);
    fclose(nowhere);
    if (st == ST_OK) {
        use_graph(a, g, &s);
    }
    arena_free(a);
}

#include "tests/fuzz/data.h"

static const struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *bytes, size_t n);
} fuzz_targets[] = {{"parser", fuzz_parser}, {"compile", fuzz_compile},
                    {"gmlb", fuzz_gmlb},     {"safetensors", fuzz_safetensors},
                    {"npz", fuzz_npz},       {"idx", fuzz_idx},
                    {"csv", fuzz_csv},       {"data", fuzz_data}};
enum { FUZZ_TARGETS = sizeof fuzz_targets / sizeof *fuzz_targets };

#endif
