/* Splits: parts of a data set as contiguous row ranges of the resident order. */
#include "runtime/data/internal.h"
#include <math.h>

enum { MAX_PARTS = 1024 };

static uint32_t find_part(const struct data_set *d, const char *name)
{
    uint32_t i = 0;
    while (i < d->n_part && strcmp(d->part[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* Part of every row, in order of first appearance; counts the rows of each. */
static enum status classify(struct arena *a, struct data_set *d, const struct array *x, uint32_t *part_of,
                            struct diag_sink *sink)
{
    struct arena *scratch = arena_new();
    const char *last = NULL;
    uint32_t last_part = 0;
    d->part = arena_array(a, struct data_part, MAX_PARTS);
    for (int64_t i = 0; i < d->stored; i++) {
        const char *value = cell_text(scratch, x, i);
        if (!last || strcmp(last, value) != 0) {
            last_part = find_part(d, value);
            last = value;
        }
        if (last_part == d->n_part) {
            if (d->n_part == MAX_PARTS) {
                arena_free(scratch);
                return diag_emit(sink, DIAG_F3105, d->data->span,
                                 "split field `%s` of %s has more than %d different values",
                                 d->data->split_field, d->path, MAX_PARTS);
            }
            d->part[d->n_part++].name = arena_strndup(a, value, strlen(value));
        }
        part_of[i] = last_part;
        d->part[last_part].rows++;
    }
    arena_free(scratch);
    return ST_OK;
}

/* Each part becomes one range, in the order of the file; rows of no part (n_part) come last. */
static void reorder(struct arena *a, struct data_set *d, const uint32_t *part_of)
{
    int64_t *order = arena_array(a, int64_t, (size_t)d->stored);
    int64_t *next = arena_array(a, int64_t, (size_t)d->n_part + 1), at = 0;
    for (uint32_t k = 0; k < d->n_part; k++) {
        d->part[k].row0 = next[k] = at;
        at += d->part[k].rows;
    }
    next[d->n_part] = at;
    for (int64_t i = 0; i < d->stored; i++) {
        order[next[part_of[i]]++] = i;
    }
    d->order = order;
}

static enum status split_by_field(struct arena *a, struct data_set *d, const struct array_file *f,
                                  struct diag_sink *sink)
{
    const struct array *x;
    TRY(find_member(d, f, d->data->split_field, d->data->span, sink, &x));
    if (x->rank != 1 || (d->data->n_field && x->dim[0] != d->stored)) {
        return diag_emit(
            sink, DIAG_F3102, d->data->span,
            "split field `%s` of %s needs one value for each of the %lld rows, found rank %d with %lld rows",
            d->data->split_field, d->path, (long long)d->stored, x->rank, (long long)x->dim[0]);
    }
    d->stored = x->dim[0];
    uint32_t *part_of = arena_array(a, uint32_t, (size_t)d->stored);
    TRY(classify(a, d, x, part_of, sink));
    reorder(a, d, part_of);
    return ST_OK;
}

static enum status split_by_condition(struct arena *a, struct data_set *d, const struct array_file *f,
                                      struct diag_sink *sink)
{
    uint32_t *part_of = arena_array(a, uint32_t, (size_t)d->stored);
    d->n_part = d->data->n_part;
    d->part = arena_array(a, struct data_part, d->n_part);
    TRY(condition_parts(a, d, f, part_of, sink));
    for (uint32_t k = 0; k < d->n_part; k++) {
        d->part[k].name = d->data->parts[k].name;
    }
    for (int64_t i = 0; i < d->stored; i++) {
        if (part_of[i] < d->n_part) {
            d->part[part_of[i]].rows++;
        }
    }
    reorder(a, d, part_of);
    return ST_OK;
}

/* Part k ends at floor(rows * (sum of the fractions up to k)), so parts never overlap and 1.0 reaches the
 * last row. */
static enum status split_by_fraction(struct arena *a, struct data_set *d, struct diag_sink *sink)
{
    double sum = 0;
    int64_t from = 0;
    d->n_part = d->data->n_part;
    d->part = arena_array(a, struct data_part, d->n_part);
    for (uint32_t k = 0; k < d->n_part; k++) {
        const struct split_part *p = &d->data->parts[k];
        sum += p->fraction;
        if (!(p->fraction >= 0) || sum > 1 + 1e-9) {
            return diag_emit(sink, DIAG_F3105, d->data->span,
                             "fraction %g of split `%s`: fractions lie in 0 .. 1 and add up to "
                             "at most 1",
                             p->fraction, p->name);
        }
        int64_t to = (int64_t)floor((double)d->stored * sum + 1e-6);
        to = to > d->stored ? d->stored : to;
        d->part[k] = (struct data_part){.name = p->name, .row0 = from, .rows = to - from};
        from = to;
    }
    return ST_OK;
}

static enum status split_by_rows(struct arena *a, struct data_set *d, struct diag_sink *sink)
{
    d->n_part = d->data->n_part;
    d->part = arena_array(a, struct data_part, d->n_part);
    for (uint32_t k = 0; k < d->n_part; k++) {
        const struct split_part *p = &d->data->parts[k];
        int64_t to = p->to < 0 ? d->stored : p->to; /* -1: to the end */
        if (p->from < 0 || to < p->from || to > d->stored) {
            return diag_emit(sink, DIAG_F3105, d->data->span,
                             "split `%s` takes rows %lld..%lld, but %s has %lld rows", p->name,
                             (long long)p->from, (long long)to, d->path, (long long)d->stored);
        }
        d->part[k] = (struct data_part){.name = p->name, .row0 = p->from, .rows = to - p->from};
    }
    return ST_OK;
}

static enum status make(struct arena *a, struct data_set *d, const struct array_file *f,
                        struct diag_sink *sink)
{
    switch (d->data->split) {
    case SPLIT_NONE:
        return ST_OK;
    case SPLIT_FIELD:
        return split_by_field(a, d, f, sink);
    case SPLIT_FRACTION:
        return split_by_fraction(a, d, sink);
    case SPLIT_ROWS:
        return split_by_rows(a, d, sink);
    case SPLIT_CONDITION:
        return split_by_condition(a, d, f, sink);
    }
    return diag_emit(sink, DIAG_I0001, d->data->span, "unknown kind of split %d", (int)d->data->split);
}

enum status split_make(struct arena *a, struct data_set *d, const struct array_file *f,
                       struct diag_sink *sink)
{
    TRY(make(a, d, f, sink));
    for (uint32_t k = 0; k < d->n_part; k++) {
        d->part[k].stored0 = d->part[k].row0;
        d->part[k].stored = d->part[k].rows;
    }
    return ST_OK;
}

static enum status no_part(const struct data_set *d, const struct phase *p, struct diag_sink *sink)
{
    const char **names = arena_array(sink->arena, const char *, d->n_part);
    struct text t = {.arena = sink->arena};
    if (!d->stored) {
        return diag_emit(sink, DIAG_F3106, p->span, "%s has no rows, and phase `%s` takes some", d->path,
                         p->name);
    }
    text_printf(&t, "%s", d->n_part ? "" : "none");
    for (uint32_t i = 0; i < d->n_part; i++) {
        names[i] = d->part[i].name;
        if (i < 20) {
            text_printf(&t, "%s\"%s\"", i ? ", " : "", names[i]);
        }
    }
    if (d->n_part > 20) {
        text_printf(&t, " and %u more", d->n_part - 20);
    }
    enum status st = diag_emit(sink, DIAG_F3105, p->span, "data set `%s` has no split \"%s\"; it has %s",
                               d->data->name, p->split, t.at);
    const char *close = closest_name(p->split, names, d->n_part);
    if (close) {
        diag_help(sink, "did you mean \"%s\"?", close);
    } else if (d->data->split == SPLIT_FIELD) {
        diag_help(sink, "name one of them, or write \"%s\" into `%s` of the rows that are meant", p->split,
                  d->data->split_field);
    }
    return st;
}

static enum status empty(const struct graph *g, const struct data_set *d, const struct phase *p,
                         int64_t stored, struct diag_sink *sink)
{
    int64_t extent;
    const char *what = arena_printf(sink->arena, "%s%s%s", p->split ? "split \"" : "the data set",
                                    p->split ? p->split : "", p->split ? "\"" : "");
    if (!stored || !windows_size(sink->arena, g, d->data->extent, &extent)) {
        return diag_emit(sink, DIAG_F3106, p->span, "phase `%s` has no rows: %s of %s is empty", p->name,
                         what, d->path);
    }
    enum status st =
        diag_emit(sink, DIAG_F3106, p->span,
                  "phase `%s` has no rows: no window of %lld rows fits into the %lld of %s of %s", p->name,
                  (long long)extent, (long long)stored, what, d->path);
    diag_help(sink, "a window stays inside of its part, and of rows that follow each other in the file");
    return st;
}

static enum status rows_of_phase(const struct data_sets *s, const struct phase *p, struct diag_sink *sink,
                                 int64_t out[2])
{
    out[0] = out[1] = 0;
    if (!p->data) {
        return ST_OK;
    }
    const struct data_set *d = &s->at[p->data - 1];
    int64_t stored = d->stored;
    out[0] = d->all0;
    out[1] = d->rows - d->all0;
    if (p->split) {
        uint32_t k = find_part(d, p->split);
        if (k == d->n_part) {
            return no_part(d, p, sink);
        }
        out[0] = d->part[k].row0;
        out[1] = d->part[k].rows;
        stored = d->part[k].stored;
    }
    if (out[1] == 0) {
        return empty(s->graph, d, p, stored, sink);
    }
    return ST_OK;
}

enum status data_split_rows(const struct data_sets *s, struct arena *a, struct diag_sink *sink,
                            int64_t (**out)[2])
{
    uint32_t n = s->graph->phases.n;
    *out = arena_alloc(a, mem_size(n, sizeof **out));
    for (uint32_t i = 0; i < n; i++) {
        TRY(rows_of_phase(s, &s->graph->phases.at[i], sink, (*out)[i]));
    }
    return ST_OK;
}
