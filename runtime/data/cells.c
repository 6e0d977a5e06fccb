/* Cells that are not the number they stand for: names of classes, and missing values. */
#include <math.h>
#include <stdlib.h>
#include "runtime/data/internal.h"

/* A name and its place in the list of the text; sorted by name. */
struct named {
    const char *name;
    int32_t place;
};
static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct named *)x)->name, ((const struct named *)y)->name);
}

const char *cell_text(struct arena *a, const struct array *x, int64_t i)
{
    return file_type_is_text(x->type) ? array_string(a, x, i) : arena_printf(a, "%.17g", array_number(x, i));
}

static enum status no_class(const struct data_set *d, const struct data_field *f, int64_t row,
                            const char *text, struct span at, struct diag_sink *sink)
{
    enum status st =
        diag_emit(sink, DIAG_F3104, at, "`%s` of %s, row %lld: \"%s\" is none of the %u class%s", f->source,
                  d->path, (long long)row, text, (unsigned)f->n_names, f->n_names == 1 ? "" : "es");
    const char *close = closest_name(text, f->names, f->n_names);
    if (close) {
        diag_help(sink, "did you mean \"%s\"?", close);
    } else {
        diag_help(sink, "add \"%s\" to the list of `classes`, or leave such rows out of the file", text);
    }
    return st;
}

enum status class_array(struct arena *a, const struct data_set *d, const struct array *x,
                        const struct data_field *f, struct span at, struct diag_sink *sink,
                        const struct array **out)
{
    int64_t rows = x->dim[0];
    struct arena *scratch = arena_new();
    struct named *names = arena_array(scratch, struct named, f->n_names);
    int32_t *place = arena_array(a, int32_t, (size_t)rows);
    enum status st = ST_OK;
    for (uint32_t k = 0; k < f->n_names; k++) {
        names[k] = (struct named){f->names[k], (int32_t)k};
    }
    qsort(names, f->n_names, sizeof *names, by_name);
    for (int64_t i = 0; i < rows && st == ST_OK; i++) {
        struct named key = {.name = cell_text(scratch, x, i)};
        const struct named *found = bsearch(&key, names, f->n_names, sizeof *names, by_name);
        st = found ? ST_OK : no_class(d, f, i, arena_printf(sink->arena, "%s", key.name), at, sink);
        place[i] = found ? found->place : 0;
    }
    arena_free(scratch);
    *out = made_source(a, x->name, FT_I32, rows, place).at[0];
    return st;
}

const struct array *filled_array(struct arena *a, const struct array *x, double fill)
{
    int64_t n = array_count(x), first = 0;
    while (first < n && !isnan(array_number(x, first))) {
        first++;
    }
    if (first == n) {
        return x;
    }
    double *to = arena_array(a, double, (size_t)n);
    struct array *y = arena_new_of(a, struct array);
    for (int64_t i = 0; i < n; i++) {
        double v = array_number(x, i);
        to[i] = isnan(v) ? fill : v;
    }
    *y = *x;
    y->type = FT_F64;
    y->item_bytes = sizeof *to;
    y->bytes = to;
    y->n_bytes = (uint64_t)n * sizeof *to;
    y->note = NULL;
    return y;
}
