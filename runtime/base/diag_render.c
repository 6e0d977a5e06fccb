/* Diagnostics for people: the source line, marks under it, labels, notes, help; and the one-line form.
 *
 * A diagnostic shows every line that holds its span or a label, file after file, the file of the span first.
 * Marks of one line share a row: ^ for the span, - for labels. The text of the rightmost label follows the
 * marks, the others hang below their mark, right to left.
 */
#include "runtime/base/diag.h"
#include "runtime/base/diag_json.h"
#include <stdlib.h>
#include <string.h>

enum {
    TAB = 4,
    SHOWN = 160,
    BEFORE = 60
}; /* columns; long lines are cut to a window around the first mark */

struct mark {
    const char *text;                  /* may be "" */
    uint32_t line, column, end_column; /* 1-based bytes; end exclusive, on the same line */
    uint16_t file;
    bool is_primary;
};
struct marks {
    struct mark *at;
    uint32_t n;
};
struct pen {
    FILE *out;
    const struct sources *sources;
    bool color;
    int gutter; /* width of line numbers */
};

static const char *paint(const struct pen *p, const char *code)
{
    return p->color ? code : "";
}
#define RESET(p)     paint((p), "\033[0m")
#define BLUE(p)      paint((p), "\033[1;34m")
#define BOLD(p)      paint((p), "\033[1m")
#define SIGNAL(p, d) paint((p), (d)->is_warning ? "\033[1;33m" : "\033[1;31m")

static const struct source *source_of(const struct sources *s, uint16_t file)
{
    return s && file && file < s->list.n ? &s->list.at[file] : NULL;
}

static const char *line_start(const struct source *s, uint32_t line, uint32_t *n)
{
    const char *p = s->text, *end = s->text + s->n;
    for (uint32_t i = 1; i < line; i++) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        p = next ? next + 1 : end;
    }
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    *n = (uint32_t)((stop ? stop : end) - p);
    *n -= *n && p[*n - 1] == '\r';
    return p;
}

static struct mark mark_of(const struct sources *sources, struct span at, const char *text, bool is_primary)
{
    const struct source *s = source_of(sources, at.file);
    struct mark m = {.text = text, .file = at.file, .is_primary = is_primary};
    source_line_column(s, at.start, &m.line, &m.column);
    uint32_t n, width = at.end > at.start ? at.end - at.start : 1;
    line_start(s, m.line, &n);
    uint32_t room = n + 1 > m.column ? n + 1 - m.column : 1;
    m.end_column = m.column + (width < room ? width : room);
    return m;
}

static int compare_marks(const void *x, const void *y)
{
    const struct mark *a = x, *b = y;
    if (a->line != b->line) {
        return a->line < b->line ? -1 : 1;
    }
    if (a->column != b->column) {
        return a->column < b->column ? -1 : 1;
    }
    return (int)b->is_primary - (int)a->is_primary;
}

/* Display columns of the first n bytes. */
static uint32_t width_of(const char *line, uint32_t n)
{
    uint32_t w = 0;
    for (uint32_t i = 0; i < n; i++) {
        w += line[i] == '\t' ? TAB : ((unsigned char)line[i] & 0xc0) != 0x80;
    }
    return w;
}

static void put_clean(FILE *out, const char *line, uint32_t n, uint32_t skip)
{
    uint32_t w = 0;
    for (uint32_t i = 0; i < n && w < skip + SHOWN; i++) {
        unsigned char c = (unsigned char)line[i];
        uint32_t step = c == '\t' ? TAB : (c & 0xc0) != 0x80;
        if (w >= skip && c == '\t') {
            fprintf(out, "%*s", TAB, "");
        } else if (w >= skip) {
            fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
        }
        w += step;
    }
}

static void put_gutter(const struct pen *p, uint32_t line)
{
    if (line) {
        fprintf(p->out, "%s%*u |%s ", BLUE(p), p->gutter, line, RESET(p));
    } else {
        fprintf(p->out, "%s%*s |%s ", BLUE(p), p->gutter, "", RESET(p));
    }
}

static void put_labels_below(const struct pen *p, const struct mark *m, uint32_t n, const char *line,
                             uint32_t skip)
{
    for (uint32_t i = n; i-- > 0;) {
        if (m[i].text[0]) {
            uint32_t at = width_of(line, m[i].column - 1) - skip;
            put_gutter(p, 0);
            fprintf(p->out, "%*s%s\n", (int)at, "", m[i].text);
        }
    }
}

/* The row of marks, then the labels. m[0..n) are on one line, by column. */
static void put_marks(const struct pen *p, const struct diag *d, const struct mark *m, uint32_t n,
                      const char *line, uint32_t skip)
{
    char row[SHOWN + 2];
    uint32_t used = 0;
    memset(row, ' ', sizeof row);
    for (int pass = 0; pass < 2; pass++) { /* the span last, so that it is never hidden under a label */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t from = width_of(line, m[i].column - 1) - skip,
                     to = width_of(line, m[i].end_column - 1) - skip;
            to = to > from ? to : from + 1;
            for (uint32_t c = from; m[i].is_primary == (pass == 1) && c < to && c < SHOWN; c++) {
                row[c] = m[i].is_primary ? '^' : '-';
                used = c + 1 > used ? c + 1 : used;
            }
        }
    }
    put_gutter(p, 0);
    fprintf(p->out, "%s%.*s%s", SIGNAL(p, d), (int)used, row, RESET(p));
    bool beside = m[n - 1].text[0] != 0;
    fprintf(p->out, "%s%s\n", beside ? " " : "", beside ? m[n - 1].text : "");
    put_labels_below(p, m, n - 1, line, skip);
}

static void put_file(const struct pen *p, const struct diag *d, const struct mark *m, uint32_t n)
{
    const struct source *s = source_of(p->sources, m[0].file);
    for (uint32_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && m[j].line == m[i].line; j++) {
        }
        if (i && m[i].line > m[i - 1].line + 1) {
            fprintf(p->out, "%s%*s%s\n", BLUE(p), p->gutter, "...", RESET(p));
        }
        uint32_t bytes;
        const char *line = line_start(s, m[i].line, &bytes);
        uint32_t from = width_of(line, m[i].column - 1);
        bool is_long = width_of(line, bytes) > SHOWN;
        uint32_t skip = is_long && from > BEFORE ? from - BEFORE : 0;
        put_gutter(p, m[i].line);
        put_clean(p->out, line, bytes, skip);
        fputc('\n', p->out);
        put_marks(p, d, m + i, j - i, line, skip);
    }
}

/* Marks of the diagnostic, those in the file of the span first. */
static struct marks marks_of(const struct pen *p, const struct diag *d)
{
    struct marks m = {mem_alloc((d->labels.n + 1) * sizeof(struct mark)), 0};
    m.at[m.n++] = mark_of(p->sources, d->span, "", true);
    for (uint32_t i = 0; i < d->labels.n; i++) {
        const struct diag_label *l = &d->labels.at[i];
        if (source_of(p->sources, l->span.file)) {
            m.at[m.n++] = mark_of(p->sources, l->span, l->text, false);
        }
    }
    return m;
}

static uint32_t move_file_front(struct mark *m, uint32_t n)
{
    uint32_t k = 0;
    uint16_t file = m[0].file;
    for (uint32_t i = 0; i < n; i++) {
        if (m[i].file == file) {
            struct mark t = m[i];
            memmove(m + k + 1, m + k, (i - k) * sizeof *m);
            m[k++] = t;
        }
    }
    return k;
}

static int digits(uint32_t x)
{
    int n = 1;
    for (; x > 9; x /= 10) {
        n++;
    }
    return n;
}

static void put_places(struct pen *p, const struct diag *d)
{
    struct marks m = marks_of(p, d);
    uint32_t largest = 0;
    for (uint32_t i = 0; i < m.n; i++) {
        largest = m.at[i].line > largest ? m.at[i].line : largest;
    }
    p->gutter = digits(largest);
    struct mark head = m.at[0];
    for (uint32_t i = 0, k; i < m.n; i += k) {
        k = move_file_front(m.at + i, m.n - i);
        qsort(m.at + i, k, sizeof *m.at, compare_marks);
        const struct mark *at = i ? &m.at[i] : &head;
        fprintf(p->out, "%s%*s%s%s %s:%u:%u\n", BLUE(p), p->gutter, "", i ? ":::" : "-->", RESET(p),
                source_of(p->sources, at->file)->path, at->line, at->column);
        put_file(p, d, m.at + i, k);
    }
    mem_free(m.at, (d->labels.n + 1) * sizeof(struct mark));
}

static const char *level(const struct diag *d)
{
    return d->is_warning ? "warning" : "error";
}

static void render_human(struct pen *p, const struct diag *d)
{
    fprintf(p->out, "%s%s[%s]%s%s: %s%s\n", SIGNAL(p, d), level(d), diag_name(d->code), RESET(p), BOLD(p),
            d->message, RESET(p));
    p->gutter = 1;
    if (source_of(p->sources, d->span.file)) {
        put_places(p, d);
    }
    for (uint32_t i = 0; i < d->notes.n; i++) {
        fprintf(p->out, "%s%*s =%s %s\n", BLUE(p), p->gutter, "", RESET(p), d->notes.at[i]);
    }
    if (d->help) {
        fprintf(p->out, "%shelp%s: %s\n", BOLD(p), RESET(p), d->help);
    }
}

static void render_short(const struct pen *p, const struct diag *d)
{
    const struct source *s = source_of(p->sources, d->span.file);
    if (s) {
        uint32_t line, column;
        source_line_column(s, d->span.start, &line, &column);
        fprintf(p->out, "%s:%u:%u: ", s->path, line, column);
    }
    fprintf(p->out, "%s[%s]: %s\n", level(d), diag_name(d->code), d->message);
}

static int compare_diags(const void *x, const void *y)
{
    const struct diag *a = *(const struct diag *const *)x, *b = *(const struct diag *const *)y;
    if (a->span.file != b->span.file) {
        return a->span.file < b->span.file ? -1 : 1;
    }
    if (a->span.start != b->span.start) {
        return a->span.start < b->span.start ? -1 : 1;
    }
    return a < b ? -1 : a > b; /* one array: order of emission */
}

void diag_render(const struct diag_sink *s, enum diag_format f, bool color, FILE *out)
{
    struct pen p = {out, s->sources, color && f == DIAG_HUMAN, 1};
    size_t bytes = s->list.n * sizeof(struct diag *);
    const struct diag **order = mem_alloc(bytes);
    for (uint32_t i = 0; i < s->list.n; i++) {
        order[i] = &s->list.at[i];
    }
    qsort(order, s->list.n, sizeof *order, compare_diags);
    for (uint32_t i = 0; i < s->list.n; i++) {
        if (f == DIAG_HUMAN) {
            render_human(&p, order[i]);
        } else if (f == DIAG_SHORT) {
            render_short(&p, order[i]);
        } else {
            diag_json(s->sources, order[i], out);
        }
    }
    mem_free(order, bytes);
    if (s->full && f == DIAG_HUMAN) {
        fprintf(out, "%u errors; further ones are not shown\n", s->n_errors);
    }
}
