/* Arrays as CSV: a header row, then one row per element of the first axis. */
#include <csv.h>
#include <math.h>
#include <string.h>
#include "runtime/base/seam.h"
#include "runtime/format/internal.h"

enum { CELL_ROOM = 40 };

static void put_text(struct text *t, const char *s)
{
    size_t n = strlen(s), room = 2 * n + 2;
    if (n && s[strcspn(s, ",\"\r\n\t ")] == 0) {
        text_append(t, s, n);
        return;
    }
    struct arena *scratch = arena_new();
    char *quoted = arena_alloc(scratch, room);
    text_append(t, quoted, csv_write(quoted, room, s, n));
    arena_free(scratch);
}

/* The fewest digits that read back as the same number of this type. */
static void put_real(struct text *t, double v, bool single)
{
    char s[CELL_ROOM];
    double back = 0;
    for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
        snprintf(s, sizeof s, "%.*g", digits, v);
        sscanf(s, "%lf", &back);
        if (single ? (float)back == (float)v : back == v) {
            break;
        }
    }
    text_printf(t, "%s", isnan(v) ? "nan" : s);
}

static void put_cell(struct text *t, const struct array *x, int64_t i)
{
    const unsigned char *at = (const unsigned char *)x->bytes + (size_t)i * x->item_bytes;
    if (file_type_is_text(x->type)) {
        struct arena *scratch = arena_new();
        put_text(t, array_string(scratch, x, i));
        arena_free(scratch);
    } else if (x->type == FT_U64) {
        text_printf(t, "%llu", (unsigned long long)little(at, 8));
    } else if (x->type == FT_I64) {
        text_printf(t, "%lld", (long long)little(at, 8));
    } else if (file_types[x->type].is_float) {
        put_real(t, array_number(x, i), x->type != FT_F64);
    } else {
        text_printf(t, "%lld", (long long)array_number(x, i));
    }
}

static enum status check_rows(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink)
{
    for (uint32_t i = 0; i < n; i++) {
        struct origin o = {sink->arena, sink, path, x[i].name};
        if (x[i].rank < 1) {
            return format_error(&o, DIAG_F4010, "a single value, without a row axis");
        }
        if (x[i].dim[0] != x[0].dim[0]) {
            return format_error(&o, DIAG_F4010, "%lld rows, but `%s` has %lld", (long long)x[i].dim[0],
                                x[0].name, (long long)x[0].dim[0]);
        }
    }
    return ST_OK;
}

static int64_t width_of(const struct array *x)
{
    int64_t n = 1;
    for (int i = 1; i < x->rank; i++) {
        n *= x->dim[i];
    }
    return n;
}

static void put_names(struct text *t, const struct array *x)
{
    int64_t width = width_of(x);
    for (int64_t k = 0; k < width; k++) {
        struct text name = {.arena = t->arena};
        text_append(t, ",", t->n > 0);
        text_printf(&name, "%s", x->name);
        if (x->rank > 1) {
            text_printf(&name, ".%lld", (long long)k);
        }
        put_text(t, name.at);
    }
}

static void build(struct text *t, const struct array *x, uint32_t n)
{
    int64_t rows = n ? x[0].dim[0] : 0;
    for (uint32_t i = 0; i < n; i++) {
        put_names(t, &x[i]);
    }
    text_append(t, "\n", 1);
    for (int64_t r = 0; r < rows; r++) {
        size_t start = t->n;
        for (uint32_t i = 0; i < n; i++) {
            int64_t width = width_of(&x[i]);
            for (int64_t k = 0; k < width; k++) {
                text_append(t, ",", t->n > start);
                put_cell(t, &x[i], r * width + k);
            }
        }
        text_append(t, "\n", 1);
    }
}

enum status csv_append(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink,
                       struct text *out)
{
    TRY(check_rows(path, x, n, sink));
    build(out, x, n);
    return ST_OK;
}

enum status csv_file_write(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink)
{
    struct text t = {.arena = arena_new()};
    enum status st = csv_append(path, x, n, sink, &t);
    st = st == ST_OK ? file_write(path, t.at, t.n, sink) : st;
    arena_free(t.arena);
    return st;
}
