/* CSV: a header row of names, then a row of cells per sample; every column becomes one array.
 *
 * libcsv splits the text into cells. What it does not check is checked here, line by line, before it sees the
 * line: NUL bytes, UTF-8, lone carriage returns, lengths. The file is walked twice: the first walk validates
 * it, counts rows and finds the kind of each column; the second fills arrays of exactly the right size.
 * Kinds: whole numbers (i64), numbers (f64, a missing cell is NaN), otherwise text. A column that is not used
 * may hold anything; array.note says which cell keeps a column from being numbers (array_need_numbers).
 */
#include <csv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "runtime/base/utf8.h"
#include "runtime/format/internal.h"

enum { CELL_STEP = 1 << 15 }; /* libcsv grows its cell by so many bytes; its own 128 would be quadratic */

enum cell_kind { CELL_MISSING, CELL_WHOLE, CELL_REAL, CELL_TEXT };
struct cell {
    enum cell_kind kind;
    int64_t whole;
    double real;
};
struct column {
    const char *name, *text_note, *missing_note; /* the first cell that is text, that is missing */
    enum cell_kind kind;
    uint64_t text_bytes; /* of all cells with their NULs */
    char *pool;          /* text: where the next cell goes */
    void *at;            /* second walk: the array */
};
struct reader {
    struct origin o;
    const char *at, *end; /* the line being read; the end of the file */
    uint64_t line, first_line,
        blank_line;   /* counted from 1: this one, where its row began, the last blank one */
    size_t row_bytes; /* of the row so far */
    uint64_t rows;
    uint32_t field;
    bool filling, row_ended;
    VEC(struct column) columns;
    enum status st;
};

/* -- cells */

static bool is_missing(const char *s, size_t n)
{
    static const char *const words[] = {"", "na", "n/a", "nan", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == n && strncasecmp(words[i], s, n) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_whole(const char *s, size_t n, int64_t *out)
{
    size_t i = s[0] == '-' || s[0] == '+';
    int64_t v = 0;
    bool ok = i < n;
    for (; ok && i < n; i++) {
        ok = s[i] >= '0' && s[i] <= '9' && mul_ok(v, 10, &v) && add_ok(v, s[i] - '0', &v);
    }
    *out = s[0] == '-' ? -v : v;
    return ok;
}

/* s is NUL-terminated. Plain decimals only: strtod alone would also take nan, inf and hexadecimal. */
static struct cell read_cell(const char *s, size_t n)
{
    struct cell c = {.kind = CELL_MISSING, .real = (double)NAN};
    char *end;
    if (is_missing(s, n)) {
        return c;
    }
    c.kind = CELL_TEXT;
    if (n > LIMIT_NUMBER || strspn(s, "0123456789+-.eE") != n) {
        return c;
    }
    if (read_whole(s, n, &c.whole)) {
        c.kind = CELL_WHOLE;
        c.real = (double)c.whole;
        return c;
    }
    c.real = strtod(s, &end);
    if (end == s + n && isfinite(c.real)) {
        c.kind = CELL_REAL;
    }
    return c;
}

static bool has_decimal_comma(const char *s, size_t n)
{
    size_t digits = strspn(s, "+-0123456789");
    return digits > 0 && s[digits] == ',' && n > digits + 1 &&
           strspn(s + digits + 1, "0123456789") == n - digits - 1;
}

static const char *note_of(struct reader *r, const char *s, size_t n, const char *what)
{
    int shown = n > 24 ? 24 : (int)n;
    while (shown > 0 && shown < (int)n && ((unsigned char)s[shown] & 0xC0) == 0x80) {
        shown--; /* never half a character */
    }
    for (int i = 0; i < shown; i++) {
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7F) {
            shown = i;
        }
    }
    return arena_printf(r->o.arena, "line %llu, column %u: `%.*s`%s", (unsigned long long)r->line,
                        r->field + 1, shown, s, what);
}

static void fail(struct reader *r, enum status st)
{
    r->st = r->st == ST_OK ? st : r->st;
}

/* -- the first walk */

static void read_name(struct reader *r, const char *s, size_t n)
{
    struct column c = {.kind = CELL_MISSING};
    if (r->columns.n == LIMIT_CSV_COLUMNS) {
        fail(r, format_error(&r->o, DIAG_F4009, "more than %d columns", LIMIT_CSV_COLUMNS));
        return;
    }
    if (n > LIMIT_IDENTIFIER || (n && !utf8_printable(s, n))) {
        fail(r, format_error(&r->o, DIAG_F4003,
                             "line %llu, column %u: a name of more than %d bytes or with strange characters",
                             (unsigned long long)r->line, r->field + 1, LIMIT_IDENTIFIER));
        return;
    }
    c.name = arena_strndup(r->o.arena, s, n);
    vec_push(r->o.arena, &r->columns, c);
}

static void see_cell(struct reader *r, struct column *c, const char *s, size_t n)
{
    struct cell x = read_cell(s, n);
    c->text_bytes += n + 1; /* at most twice the bytes of the file: no overflow */
    c->kind = x.kind > c->kind ? x.kind : c->kind;
    if (x.kind == CELL_TEXT && !c->text_note) {
        c->text_note = note_of(r, s, n, has_decimal_comma(s, n) ? " has a decimal comma" : " is no number");
    }
    if (x.kind == CELL_MISSING && !c->missing_note) {
        c->missing_note = note_of(r, s, n, " is a missing value");
    }
}

/* -- the second walk */

static void keep_cell(struct reader *r, struct column *c, const char *s, size_t n)
{
    uint64_t row = r->rows - 1;
    struct cell x;
    if (c->kind == CELL_TEXT) {
        ((const char **)c->at)[row] = c->pool;
        memcpy(c->pool, s, n);
        c->pool += n + 1;
        return;
    }
    x = read_cell(s, n);
    if (c->kind == CELL_WHOLE && !c->missing_note) {
        ((int64_t *)c->at)[row] = x.whole;
    } else {
        ((double *)c->at)[row] = x.real;
    }
}

/* -- what libcsv calls */

static void on_cell(void *bytes, size_t n, void *ctx)
{
    struct reader *r = ctx;
    const char *s = bytes;
    if (r->st != ST_OK) {
        return;
    }
    if (r->blank_line) {
        fail(r, format_error(&r->o, DIAG_F4002, "line %llu is blank, and rows follow it",
                             (unsigned long long)r->blank_line));
    } else if (r->rows == 0) {
        if (!r->filling) {
            read_name(r, s, n);
        }
    } else if (r->field < r->columns.n) {
        (r->filling ? keep_cell : see_cell)(r, &r->columns.at[r->field], s, n);
    }
    r->field++;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum status header_error(struct reader *r, const char *why)
{
    enum status st = format_error(&r->o, DIAG_F4003, "line %llu: %s", (unsigned long long)r->first_line, why);
    diag_help(r->o.sink, "the first line names the columns, such as `height,weight,label`");
    return st;
}

static enum status check_names(struct reader *r)
{
    const char **names = arena_array(r->o.arena, const char *, r->columns.n);
    bool numbers = true, named = false;
    for (uint32_t i = 0; i < r->columns.n; i++) {
        names[i] = r->columns.at[i].name;
        enum cell_kind kind = read_cell(names[i], strlen(names[i])).kind;
        numbers = numbers && kind != CELL_TEXT;
        named = named || names[i][0];
    }
    if (!named || numbers) {
        return header_error(r, named ? "the first row holds only numbers, so the columns have no names"
                                     : "the columns have no names");
    }
    qsort(names, r->columns.n, sizeof *names, by_text);
    for (uint32_t i = 1; i < r->columns.n; i++) {
        if (names[i][0] && strcmp(names[i - 1], names[i]) == 0) {
            return header_error(r, arena_printf(r->o.arena, "two columns are called `%s`", names[i]));
        }
    }
    if (r->columns.n == 1 && strchr(names[0], ';')) {
        diag_emit(r->o.sink, DIAG_F4003, NO_SPAN, "%s: line %llu: the columns are separated by semicolons",
                  r->o.path, (unsigned long long)r->first_line);
        diag_help(r->o.sink, "save the file with commas between cells and points in numbers");
        return ST_DATA;
    }
    return ST_OK;
}

static void on_row(int end, void *ctx)
{
    struct reader *r = ctx;
    (void)end;
    if (r->st != ST_OK) {
        return;
    }
    if (r->rows == 0) {
        fail(r, r->filling ? ST_OK : check_names(r));
    } else if (r->field != r->columns.n) {
        fail(r, format_error(&r->o, DIAG_F4002, "line %llu has %u cells, the header has %u",
                             (unsigned long long)r->first_line, r->field, r->columns.n));
        diag_help(r->o.sink,
                  "a missing cell is empty, `1,,3`; a cell that holds a comma stands in quotation marks");
    }
    r->row_ended = true;
    r->rows++;
    r->field = 0;
}

/* -- memory of libcsv, through the seam */

struct block {
    size_t bytes;
    _Alignas(16) char data[];
};
static void *csv_memory(void *old, size_t n)
{
    struct block *b = old ? (struct block *)((char *)old - offsetof(struct block, data)) : NULL;
    b = mem_resize(b, b ? b->bytes : 0, sizeof *b + n);
    b->bytes = sizeof *b + n;
    return b->data;
}
static void csv_forget(void *old)
{
    struct block *b = (struct block *)((char *)old - offsetof(struct block, data));
    mem_free(b, b->bytes);
}

/* -- lines */

static enum status not_text(struct reader *r, size_t at, const char *why)
{
    return format_error(&r->o, DIAG_F4001, "line %llu, byte %zu: %s", (unsigned long long)r->line, at + 1,
                        why);
}

static enum status check_line(struct reader *r, const char *line, size_t n)
{
    const char *zero = memchr(line, 0, n), *cr = memchr(line, '\r', n);
    if (zero) {
        return not_text(r, (size_t)(zero - line), "a NUL byte: this is no text, or UTF-16");
    }
    for (size_t i = 0, length; i < n; i += length) {
        length = utf8_length(line + i, n - i);
        if (length == 0) {
            return not_text(r, i, "not UTF-8");
        }
    }
    if (cr && (cr + 2 != line + n || cr[1] != '\n')) {
        enum status st = format_error(&r->o, DIAG_F4008, "line %llu: a carriage return without a line feed",
                                      (unsigned long long)r->line);
        diag_help(r->o.sink, "save the file with line ends of Unix or Windows");
        return st;
    }
    if (r->row_bytes > LIMIT_CSV_ROW - n) {
        return format_error(&r->o, DIAG_F4006, "the row that begins in line %llu is longer than %d bytes",
                            (unsigned long long)r->first_line, LIMIT_CSV_ROW);
    }
    return ST_OK;
}

static enum status read_line(struct reader *r, struct csv_parser *p, const char *line, size_t n)
{
    bool was_open = r->row_bytes > 0;
    r->line++;
    r->first_line = was_open ? r->first_line : r->line;
    if (n > LIMIT_CSV_ROW) {
        return format_error(&r->o, DIAG_F4006, "line %llu is longer than %d bytes",
                            (unsigned long long)r->line, LIMIT_CSV_ROW);
    }
    if (!r->filling) {
        TRY(check_line(r, line, n));
    }
    r->row_ended = false;
    size_t took = csv_parse(p, line, n, on_cell, on_row, r);
    TRY(r->st);
    if (took != n) {
        return format_error(&r->o, DIAG_F4007,
                            "line %llu, byte %zu: a quotation mark in the middle of a cell",
                            (unsigned long long)r->line, took + 1);
    }
    bool open = !r->row_ended && p->quoted;
    r->row_bytes = open ? r->row_bytes + n : 0;
    if (!open && !r->row_ended && r->field == 0 && line[n - 1] == '\n') {
        r->blank_line = r->line;
    }
    return ST_OK;
}

static enum status walk(struct reader *r, char separator)
{
    struct csv_parser p;
    enum status st = ST_OK;
    csv_init(&p, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL);
    csv_set_delim(&p, (unsigned char)separator);
    csv_set_blk_size(&p, CELL_STEP);
    csv_set_realloc_func(&p, csv_memory);
    csv_set_free_func(&p, csv_forget);
    r->line = r->first_line = r->blank_line = r->rows = 0;
    r->row_bytes = 0;
    r->field = 0;
    for (const char *at = r->at; st == ST_OK && at < r->end;) {
        const char *feed = memchr(at, '\n', (size_t)(r->end - at));
        size_t n = feed ? (size_t)(feed - at) + 1 : (size_t)(r->end - at);
        st = read_line(r, &p, at, n);
        at += n;
    }
    if (st == ST_OK && csv_fini(&p, on_cell, on_row, r) != 0) {
        st = format_error(&r->o, DIAG_F4007,
                          "line %llu: a quotation mark is opened in this row and never closed",
                          (unsigned long long)r->first_line);
    }
    st = st == ST_OK ? r->st : st;
    csv_free(&p);
    return st;
}

/* -- the whole file */

static void make_columns(struct reader *r, struct array_file *out)
{
    uint64_t rows = r->rows - 1;
    out->n = r->columns.n;
    out->at = arena_array(r->o.arena, struct array, out->n);
    for (uint32_t i = 0; i < out->n; i++) {
        struct column *c = &r->columns.at[i];
        bool text = c->kind == CELL_TEXT, whole = c->kind == CELL_WHOLE && !c->missing_note;
        c->at = arena_array(r->o.arena, uint64_t, rows);
        c->pool = text ? arena_alloc(r->o.arena, (size_t)c->text_bytes) : NULL;
        out->at[i] = (struct array){.name = c->name,
                                    .type = text    ? FT_STRING
                                            : whole ? FT_I64
                                                    : FT_F64,
                                    .item_bytes = sizeof(uint64_t),
                                    .rank = 1,
                                    .dim = {(int64_t)rows},
                                    .bytes = c->at,
                                    .n_bytes = rows * sizeof(uint64_t),
                                    .note = text ? c->text_note : c->missing_note};
    }
}
_Static_assert(sizeof(const char *) == sizeof(uint64_t), "a cell of text is a pointer of eight bytes");

enum status csv_separated_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                char separator, struct diag_sink *sink, struct array_file *out)
{
    struct reader r = {.o = {a, sink, path, ""}, .at = bytes, .end = (const char *)bytes + n};
    *out = (struct array_file){0};
    if (n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        r.at += 3;
    }
    TRY(walk(&r, separator));
    if (r.rows == 0) {
        return format_error(&r.o, DIAG_F4001, "the file is empty");
    }
    make_columns(&r, out);
    r.filling = true;
    return walk(&r, separator);
}

enum status csv_file_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                           struct diag_sink *sink, struct array_file *out)
{
    return csv_separated_parse(a, path, bytes, n, ',', sink, out);
}
