/* Diagnostics: sources, spans, and the sink that collects errors. Codes are in diag.def.
 *
 * A library function that fails emits one diagnostic into the sink and returns the status of its code; mains
 * render the sink (diag_render.c: human, short, json). A poisoned value suppresses follow-up errors, so one
 * root cause gives one error. Everything lives in the sink's arena.
 */
#ifndef GML_BASE_DIAG_H
#define GML_BASE_DIAG_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "runtime/base/mem.h"
#include "runtime/base/status.h"

/* Byte range [start, end) of a source; file is an index into struct sources. Line and column are computed
 * only when printing. The zero span (start = end = 0 and file = 0) means "no place". File 0 is never a real
 * file. */
struct span {
    uint32_t start, end;
    uint16_t file;
};
#define NO_SPAN ((struct span){0, 0, 0})
struct span span_join(struct span a, struct span b);

struct source {
    const char *path; /* as shown to the user: relative to where the command runs, or <std>/nn.gml */
    const char *text; /* NUL-terminated */
    uint32_t n;
};
struct sources {
    struct arena *arena;
    VEC(struct source) list; /* list.at[0] is a placeholder */
};
void sources_init(struct sources *s, struct arena *a);
/* Copies text; returns the file index (>= 1). */
uint16_t sources_add(struct sources *s, const char *path, const char *text, uint32_t n);
/* 1-based line and column (in bytes) of a byte offset. */
void source_line_column(const struct source *s, uint32_t offset, uint32_t *line, uint32_t *column);

#define D(code, status, title, page) DIAG_##code,
enum diag_code {
#include "diag.def"
    DIAG_COUNT
};
#undef D
enum status diag_status(enum diag_code c);
const char *diag_name(enum diag_code c); /* "E0100" */
const char *diag_title(enum diag_code c);
const char *diag_page(enum diag_code c);

/* An example that gives a code, from diag_examples.def. */
enum diag_example_kind {
    EXAMPLE_NONE, /* the page says all */
    EXAMPLE_GML,  /* text of a model, behind `gml 1` */
    EXAMPLE_RUN,  /* shell commands, beside the folder `models` */
    EXAMPLE_TOLD, /* in words */
};
struct diag_example {
    enum diag_example_kind kind;
    const char *text, *cure;
};
struct diag_example diag_example(enum diag_code c);

struct diag_label {
    struct span span;
    const char *text;
};
struct diag {
    enum diag_code code;
    bool is_warning; /* codes that start with W */
    struct span span;
    const char *message;
    VEC(struct diag_label) labels; /* further marked places */
    VEC(const char *) notes;
    const char *help; /* NULL when none */
};
struct diag_sink {
    struct arena *arena;
    struct sources *sources; /* may be NULL: then no carets */
    VEC(struct diag) list;
    uint32_t n_errors;
    bool full;    /* LIMIT_DIAGNOSTICS errors were reached */
    bool dropped; /* the last emission was not kept; labels, notes and help of it are dropped too */
};
void diag_init(struct diag_sink *s, struct arena *a, struct sources *sources);

/* Emits and returns the status of the code (ST_OK for warnings). Equal codes at equal spans are kept once. */
enum status diag_emit(struct diag_sink *s, enum diag_code c, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* These attach to the diagnostic emitted last. */
void diag_label(struct diag_sink *s, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(struct diag_sink *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void diag_help(struct diag_sink *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum diag_format { DIAG_HUMAN, DIAG_SHORT, DIAG_JSON };
/* Writes all diagnostics sorted by file and position. `color` only for human. */
void diag_render(const struct diag_sink *s, enum diag_format f, bool color, FILE *out);
/* Status of the worst error so far, ST_OK if none. */
enum status diag_worst(const struct diag_sink *s);

/* Closest name among n candidates (edit distance at most a third of the length), or NULL. */
const char *closest_name(const char *name, const char *const *candidates, uint32_t n);

#endif
