/* Rows that are windows over stored rows, and what else depends on which rows follow each other: where
 * windows begin, which rows come first in their sequence, and which ones standardize(..) is fitted on.
 *
 * A run is a range of resident rows that follow each other in the file and belong to the same parts. Windows
 * lie inside of runs. The table has the windows of part after part, then, for phases that name no split,
 * those of all rows.
 */
#include "runtime/data/internal.h"

static int64_t file_row(const struct data_set *d, int64_t row)
{
    return d->order ? d->order[row] : row;
}

/* By row: whether a part begins or ends there. */
static const uint8_t *cuts_of(struct arena *a, const struct data_set *d)
{
    uint8_t *cut = arena_array(a, uint8_t, (size_t)d->stored + 1);
    for (uint32_t k = 0; k < d->n_part; k++) {
        cut[d->part[k].stored0] = cut[d->part[k].stored0 + d->part[k].stored] = 1;
    }
    return cut;
}

/* cut: NULL inside of a part. */
static int64_t run_end(const struct data_set *d, int64_t from, int64_t end, const uint8_t *cut)
{
    int64_t at = from + 1;
    while (at < end && file_row(d, at) == file_row(d, at - 1) + 1 && !(cut && cut[at])) {
        at++;
    }
    return at;
}

bool windows_size(struct arena *a, const struct graph *g, dim size, int64_t *out)
{
    struct binding b = {arena_array(a, int64_t, g->dims.atoms.n), g->dims.atoms.n};
    for (uint32_t i = 0; i < b.n; i++) {
        b.atom[i] = -1;
    }
    for (uint32_t i = 0; i < g->configs.n; i++) {
        const struct config *c = &g->configs.at[i];
        uint32_t atom;
        bool fits = c->kind == CONFIG_DIM && c->value >= 0 && c->value <= (double)LIMIT_DIM;
        if (fits && dim_is_symbol(&g->dims, c->symbol, &atom)) {
            b.atom[atom] = (int64_t)c->value;
        }
    }
    return size && dim_eval(&g->dims, &b, size, out);
}

struct table {
    struct arena *arena;
    int64_t extent, stride;
    VEC(int32_t) start;
    VEC(uint8_t) first;
};

static enum status add_windows(struct table *t, const struct data_set *d, int64_t from, int64_t end,
                               const uint8_t *cut, struct diag_sink *sink)
{
    while (from < end) {
        int64_t stop = run_end(d, from, end, cut);
        for (int64_t at = from; stop - at >= t->extent; at += t->stride) {
            if (t->start.n >= (uint32_t)INT32_MAX) {
                return diag_emit(sink, DIAG_E3105, d->data->span, "`%s` has more windows than i32 can count",
                                 d->data->name);
            }
            vec_push(t->arena, &t->start, (int32_t)at);
            vec_push(t->arena, &t->first, (uint8_t)(at == from));
        }
        from = stop;
    }
    return ST_OK;
}

static enum status size_of(struct arena *a, const struct graph *g, const struct data *d, dim size,
                           const char *what, int64_t *out, struct diag_sink *sink)
{
    if (windows_size(a, g, size, out) && *out > 0) {
        return ST_OK;
    }
    struct text t = {.arena = a};
    dim_print(&g->dims, size, &t);
    enum status st = diag_emit(sink, DIAG_E3102, d->span, "%s of `%s`, `%s`, is no whole number from 1 here",
                               what, d->name, t.at);
    diag_help(sink, "it is made of sizes that `--set` may change");
    return st;
}

static bool takes_all(const struct graph *g, const struct data_set *d)
{
    bool takes = !d->n_part;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *p = &g->phases.at[i];
        takes |= p->data && &g->datas.at[p->data - 1] == d->data && !p->split;
    }
    return takes;
}

static enum status make_table(struct table *t, const struct graph *g, struct data_set *d,
                              struct diag_sink *sink)
{
    TRY(size_of(t->arena, g, d->data, d->data->extent, "the window", &t->extent, sink));
    TRY(size_of(t->arena, g, d->data, d->data->stride, "the stride", &t->stride, sink));
    for (uint32_t k = 0; k < d->n_part; k++) {
        struct data_part *p = &d->part[k];
        p->row0 = t->start.n;
        TRY(add_windows(t, d, p->stored0, p->stored0 + p->stored, NULL, sink));
        p->rows = t->start.n - p->row0;
    }
    d->all0 = t->start.n;
    TRY(takes_all(g, d) ? add_windows(t, d, 0, d->stored, cuts_of(t->arena, d), sink) : ST_OK);
    d->rows = t->start.n;
    d->start = t->start.at;
    return ST_OK;
}

/* Without windows every stored row is one, and comes first where a run begins. */
static void first_of_runs(struct table *t, const struct data_set *d)
{
    t->first.at = arena_array(t->arena, uint8_t, (size_t)d->stored);
    const uint8_t *cut = cuts_of(t->arena, d);
    for (int64_t at = 0; at < d->stored; at = run_end(d, at, d->stored, cut)) {
        t->first.at[at] = 1;
    }
}

/* Rows of the part "train"; all where there are no parts. */
static const void *in_train(struct arena *a, const struct data_set *d)
{
    uint8_t *in = arena_array(a, uint8_t, (size_t)d->stored);
    for (int64_t i = 0; i < d->stored && !d->n_part; i++) {
        in[i] = 1;
    }
    for (uint32_t k = 0; k < d->n_part; k++) {
        const struct data_part *p = &d->part[k];
        bool train = strcmp(p->name, "train") == 0;
        for (int64_t i = 0; i < p->stored && train; i++) {
            in[p->stored0 + i] = 1;
        }
    }
    return in;
}

enum status data_can_fit(const struct data_sets *s, uint32_t index, struct diag_sink *sink)
{
    const struct data_set *d = &s->at[index];
    bool fits = !d->n_part, needs = false;
    for (uint32_t k = 0; k < d->n_part; k++) {
        fits |= d->part[k].stored && strcmp(d->part[k].name, "train") == 0;
    }
    for (uint32_t i = 0; i < d->data->n_field; i++) {
        needs |= d->data->field[i].kind == SOURCE_TRAIN;
    }
    if (!needs || fits) { /* nor is a set that is not opened, which has no parts */
        return ST_OK;
    }
    enum status st =
        diag_emit(sink, DIAG_F3105, d->data->span,
                  "`standardize` is fitted on the part \"train\", and %s has no row of it", d->path);
    diag_help(sink, "--weights brings what it was fitted to");
    return st;
}

enum status windows_make(struct arena *a, const struct graph *g, struct data_set *d, struct diag_sink *sink)
{
    struct table t = {.arena = a};
    d->rows = d->stored;
    if (d->stored > INT32_MAX) {
        return diag_emit(sink, DIAG_E3105, d->data->span, "%s has %lld rows, more than i32 can count",
                         d->path, (long long)d->stored);
    }
    TRY(d->data->extent ? make_table(&t, g, d, sink) : ST_OK);
    for (uint32_t i = 0; i < d->data->n_field; i++) {
        switch (d->data->field[i].kind) {
        case SOURCE_TRAIN:
            d->field[i] = made_source(a, "train", FT_BOOL, d->stored, in_train(a, d));
            break;
        case SOURCE_START:
            d->field[i] = made_source(a, "start", FT_I32, d->rows, t.start.at);
            break;
        case SOURCE_FIRST:
            if (!d->data->extent && !t.first.at) {
                first_of_runs(&t, d);
            }
            d->field[i] = made_source(a, "first", FT_BOOL, d->rows, t.first.at);
            break;
        default:
            continue;
        }
        d->field[i].is_resident = true;
    }
    return ST_OK;
}
