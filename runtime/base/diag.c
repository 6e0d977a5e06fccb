/* Sources, spans and the sink. Rendering is in diag_render.c and diag_json.c. */
#include "runtime/base/diag.h"
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include "runtime/base/limits.h"

struct diag_row {
    const char *name;
    enum status status;
    const char *title, *page;
};
#define D(code, status, title, page) {#code, ST_##status, title, page},
static const struct diag_row rows[DIAG_COUNT] = {
#include "runtime/base/diag.def"
};
#undef D

static const struct diag_row *row(enum diag_code c)
{
    return &rows[(unsigned)c < DIAG_COUNT ? c : DIAG_I0001];
}
enum status diag_status(enum diag_code c)
{
    return row(c)->status;
}
const char *diag_name(enum diag_code c)
{
    return row(c)->name;
}
const char *diag_title(enum diag_code c)
{
    return row(c)->title;
}
const char *diag_page(enum diag_code c)
{
    return row(c)->page;
}

#define GML(code, text, cure)  [DIAG_##code] = {EXAMPLE_GML, text, cure},
#define RUN(code, text, cure)  [DIAG_##code] = {EXAMPLE_RUN, text, cure},
#define TOLD(code, text, cure) [DIAG_##code] = {EXAMPLE_TOLD, text, cure},
static const struct diag_example examples[DIAG_COUNT] = {
#include "runtime/base/diag_examples.def"
};
#undef GML
#undef RUN
#undef TOLD
struct diag_example diag_example(enum diag_code c)
{
    return (unsigned)c < DIAG_COUNT ? examples[c] : (struct diag_example){0};
}

struct span span_join(struct span a, struct span b)
{
    if (!a.file) {
        return b;
    }
    if (!b.file || b.file != a.file) {
        return a;
    }
    return (struct span){a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end, a.file};
}

void sources_init(struct sources *s, struct arena *a)
{
    *s = (struct sources){.arena = a};
    vec_push(a, &s->list, ((struct source){"", "", 0}));
}

uint16_t sources_add(struct sources *s, const char *path, const char *text, uint32_t n)
{
    if (s->list.n > UINT16_MAX) {
        return 0;
    }
    struct source f = {arena_strndup(s->arena, path, strlen(path)), arena_strndup(s->arena, text, n), n};
    vec_push(s->arena, &s->list, f);
    return (uint16_t)(s->list.n - 1);
}

void source_line_column(const struct source *s, uint32_t offset, uint32_t *line, uint32_t *column)
{
    uint32_t start = 0, at = offset < s->n ? offset : s->n;
    *line = 1;
    for (const char *p; (p = memchr(s->text + start, '\n', at - start));) {
        start = (uint32_t)(p - s->text) + 1;
        ++*line;
    }
    *column = at - start + 1;
}

void diag_init(struct diag_sink *s, struct arena *a, struct sources *sources)
{
    *s = (struct diag_sink){.arena = a, .sources = sources};
}

static const char *sink_vprintf(struct diag_sink *s, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *p = arena_alloc(s->arena, n > 0 ? (size_t)n + 1 : 1);
    if (n > 0) {
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

static bool span_equal(struct span a, struct span b)
{
    return a.start == b.start && a.end == b.end && a.file == b.file;
}

/* Without a place two equal codes can still be two different errors: there the text decides. */
static bool is_duplicate(const struct diag_sink *s, enum diag_code c, struct span at, const char *message)
{
    for (uint32_t i = 0; i < s->list.n; i++) {
        const struct diag *d = &s->list.at[i];
        if (d->code == c && span_equal(d->span, at) && (at.file || strcmp(d->message, message) == 0)) {
            return true;
        }
    }
    return false;
}

enum status diag_emit(struct diag_sink *s, enum diag_code c, struct span at, const char *fmt, ...)
{
    bool is_warning = diag_name(c)[0] == 'W';
    va_list args;
    va_start(args, fmt);
    const char *message = sink_vprintf(s, fmt, args);
    va_end(args);
    s->dropped = s->full || is_duplicate(s, c, at, message);
    if (!s->dropped) {
        struct diag d = {.code = c, .is_warning = is_warning, .span = at, .message = message};
        vec_push(s->arena, &s->list, d);
        s->n_errors += !is_warning;
        s->full = s->n_errors >= LIMIT_DIAGNOSTICS;
    }
    return is_warning ? ST_OK : diag_status(c);
}

static struct diag *last(struct diag_sink *s)
{
    return s->dropped || !s->list.n ? NULL : &s->list.at[s->list.n - 1];
}

void diag_label(struct diag_sink *s, struct span at, const char *fmt, ...)
{
    struct diag *d = last(s);
    if (d && at.file) {
        va_list args;
        va_start(args, fmt);
        struct diag_label l = {at, sink_vprintf(s, fmt, args)};
        va_end(args);
        vec_push(s->arena, &d->labels, l);
    }
}

void diag_note(struct diag_sink *s, const char *fmt, ...)
{
    struct diag *d = last(s);
    if (d) {
        va_list args;
        va_start(args, fmt);
        const char *note = sink_vprintf(s, fmt, args);
        va_end(args);
        vec_push(s->arena, &d->notes, note);
    }
}

void diag_help(struct diag_sink *s, const char *fmt, ...)
{
    struct diag *d = last(s);
    if (d) {
        va_list args;
        va_start(args, fmt);
        d->help = sink_vprintf(s, fmt, args);
        va_end(args);
    }
}

enum status diag_worst(const struct diag_sink *s)
{
    enum status worst = ST_OK;
    for (uint32_t i = 0; i < s->list.n; i++) {
        enum status st = s->list.at[i].is_warning ? ST_OK : diag_status(s->list.at[i].code);
        worst = st > worst ? st : worst;
    }
    return worst;
}

/* -- did you mean */

enum { NAME_MAX_BYTES = 64 };

/* Optimal string alignment distance: insert, delete, replace, swap neighbours. */
static uint32_t edit_distance(const char *a, uint32_t n, const char *b, uint32_t m)
{
    uint32_t d[NAME_MAX_BYTES + 1][NAME_MAX_BYTES + 1];
    for (uint32_t i = 0; i <= n; i++) {
        for (uint32_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            uint32_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) {
                best = d[i - 2][j - 2] + 1;
            }
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *closest_name(const char *name, const char *const *candidates, uint32_t n)
{
    size_t length = strlen(name);
    const char *best = NULL;
    uint32_t least = (uint32_t)(length + 2) / 3 + 1;
    if (length > NAME_MAX_BYTES) {
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t m = strlen(candidates[i]);
        if (m == length && !strcasecmp(name, candidates[i]) && strcmp(name, candidates[i])) {
            return candidates[i]; /* only the case is wrong */
        }
        if (m > NAME_MAX_BYTES) {
            continue;
        }
        uint32_t distance = edit_distance(name, (uint32_t)length, candidates[i], (uint32_t)m);
        if (distance < least && distance < length) {
            least = distance;
            best = candidates[i];
        }
    }
    return best;
}
