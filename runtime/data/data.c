/* Opening data files and finding their members. Splits are in split.c, conversion in convert.c. */
#include "runtime/data/data.h"
#include "runtime/base/philox.h"
#include "runtime/base/seam.h"
#include "runtime/data/internal.h"

static const uint64_t max_file_bytes = 1ull << 36;

const char *member_list(struct arena *a, const struct array_file *f)
{
    struct text t = {.arena = a};
    text_printf(&t, "%s", f->n ? "" : "nothing");
    for (uint32_t i = 0; i < f->n && i < 20; i++) {
        text_printf(&t, "%s`%s`", i ? ", " : "", f->at[i].name);
    }
    if (f->n > 20) {
        text_printf(&t, " and %u more", f->n - 20);
    }
    return t.at;
}

/* A member by name; a file that is a single array answers to every name. */
enum status find_member(const struct data_set *d, const struct array_file *f, const char *name,
                        struct span at, struct diag_sink *sink, const struct array **out)
{
    *out = f->n == 1 && !f->at[0].name[0] ? &f->at[0] : array_find(f, name);
    if (*out && (*out)->rank < 1) {
        enum status st = diag_emit(sink, DIAG_F3102, at,
                                   "member `%s` of %s is a single value, without a row axis", name, d->path);
        diag_help(sink,
                  "axis 0 of an array are its rows; a number that all rows share is written as `config`");
        return st;
    }
    if (*out) {
        return ST_OK;
    }
    enum status st = diag_emit(sink, DIAG_F3101, at, "%s has no member `%s`; it has %s", d->path, name,
                               member_list(sink->arena, f));
    const char **names = arena_array(sink->arena, const char *, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        names[i] = f->at[i].name;
    }
    const char *close = closest_name(name, names, f->n);
    if (close) {
        diag_help(sink, "did you mean `%s`?", close);
    } else {
        size_t n = strlen(d->path);
        bool csv = n > 4 && !strcmp(d->path + n - 4, ".csv");
        diag_help(sink, csv ? "the first row of the file names its columns; field(\"..\") is one of them"
                            : "field(\"..\") is one of them");
    }
    return st;
}

static const char *path_of(struct arena *a, const struct data *d, const char *folder,
                           const struct data_override *over, uint32_t n_over)
{
    for (uint32_t i = 0; i < n_over; i++) {
        if (strcmp(over[i].name, d->name) == 0) {
            return over[i].file;
        }
    }
    return d->path ? path_in(a, folder, d->path) : "";
}

static enum status check_overrides(const struct graph *g, const struct data_override *over, uint32_t n_over,
                                   struct diag_sink *sink)
{
    const char **names = arena_array(sink->arena, const char *, g->datas.n);
    for (uint32_t k = 0; k < g->datas.n; k++) {
        names[k] = g->datas.at[k].name;
    }
    for (uint32_t i = 0; i < n_over; i++) {
        bool found = false;
        for (uint32_t k = 0; k < g->datas.n; k++) {
            found |= strcmp(names[k], over[i].name) == 0;
        }
        if (!found) {
            enum status st =
                diag_emit(sink, DIAG_U1002, NO_SPAN, "--data: the model has no data set `%s`", over[i].name);
            const char *close = closest_name(over[i].name, names, g->datas.n);
            if (close) {
                diag_help(sink, "did you mean `%s`?", close);
            }
            return st;
        }
    }
    return ST_OK;
}

/* Where the text names the array. */
static struct span field_span(const struct graph *g, const struct data *d, const struct data_field *f)
{
    struct span at = f->raw ? graph_node(g, f->raw)->span : NO_SPAN;
    return at.file ? at : d->span;
}

/* What a column or member must be to give numbers; `d->stored` are those of the first one. */
static enum status check_member(struct data_set *d, const struct data_field *field, const char *name,
                                const struct array *x, const char **first, struct span at,
                                struct diag_sink *sink)
{
    bool is_text = file_type_is_text(x->type),
         takes_text = field->kind == SOURCE_TIME || field->kind == SOURCE_CLASS;
    if (x->note && !(is_text ? takes_text : field->fills)) {
        enum status st = array_need_numbers(x, d->path, sink);
        diag_note(sink, "the data set `%s` uses it for its member `%s`", d->data->name, field->name);
        return st;
    }
    if (is_text && !takes_text) {
        enum status st =
            diag_emit(sink, DIAG_F3107, at, "member `%s` of %s is text and cannot be the %s member `%s`",
                      name, d->path, dtype_name(field->type.dtype), field->name);
        diag_help(sink, "%s: i32 = classes(\"%s\", [\"a\", \"b\"]) gives each text its place in the list",
                  field->name, name);
        return st;
    }
    if (field->n_column && x->rank != 1) {
        enum status st =
            diag_emit(sink, DIAG_F3103, at, "`%s` of %s has %d axes, a column has one value a row", name,
                      d->path, x->rank);
        diag_help(sink, "field(\"%s\") reads all of it", name);
        return st;
    }
    if (!*first) {
        *first = name;
        d->stored = x->dim[0];
    } else if (x->dim[0] != d->stored) {
        enum status st = diag_emit(sink, DIAG_F3102, at, "in %s, `%s` has %lld rows and `%s` has %lld",
                                   d->path, *first, (long long)d->stored, name, (long long)x->dim[0]);
        diag_help(sink, "axis 0 are the rows, as many in all; other arrays go into a data set of their own");
        return st;
    }
    return ST_OK;
}

/* The arrays of columns(..), in the order of the text; a range takes those of the file from one to the other.
 */
static enum status find_columns(struct arena *a, const struct data_set *d, const struct data_field *field,
                                const struct array_file *f, struct data_source *out, struct span at,
                                struct diag_sink *sink)
{
    VEC(const struct array *) list = {0};
    for (uint32_t k = 0; k + 1 < field->n_column; k += 2) {
        const struct array *from, *to;
        TRY(find_member(d, f, field->column[k], at, sink, &from));
        TRY(find_member(d, f, field->column[k + 1], at, sink, &to));
        if (to < from) {
            enum status st = diag_emit(sink, DIAG_F3101, at, "in %s the column `%s` stands behind `%s`",
                                       d->path, from->name, to->name);
            diag_help(sink, "columns(\"%s\"..\"%s\")", to->name, from->name);
            return st;
        }
        if (to - from >= LIMIT_COLUMNS - (ptrdiff_t)list.n) {
            return diag_emit(sink, DIAG_F3103, at, "`%s` reads more than %d columns of %s", field->name,
                             (int)LIMIT_COLUMNS, d->path);
        }
        for (; from <= to; from++) {
            vec_push(a, &list, from);
        }
    }
    *out = (struct data_source){list.at, list.n, false};
    return ST_OK;
}

struct data_source made_source(struct arena *a, const char *name, enum file_type t, int64_t rows,
                               const void *bytes)
{
    struct array *x = arena_new_of(a, struct array);
    uint32_t item = (uint32_t)file_type_size(t);
    *x = (struct array){.name = name, .type = t, .item_bytes = item, .rank = 1, .dim = {rows}};
    x->bytes = bytes;
    x->n_bytes = (uint64_t)rows * item;
    struct data_source s = {arena_array(a, const struct array *, 1), 1, false};
    s.at[0] = x;
    return s;
}

/* What the kinds TRAIN, START and FIRST hold is not in the file: window.c. */
static bool is_stored(const struct data_field *f)
{
    return f->kind <= SOURCE_CLASS;
}

/* The opened file: its bytes, and its arrays unless nobody asks for them. */
struct content {
    const char *bytes;
    size_t n;
    struct array_file arrays;
};

static enum status find_source(struct arena *a, const struct data_set *d, const struct data_field *field,
                               const struct content *c, struct data_source *out, struct span at,
                               struct diag_sink *sink)
{
    if (field->kind == SOURCE_BYTES) { /* the file itself, a byte a row */
        *out = made_source(a, "bytes()", FT_U8, (int64_t)c->n, c->bytes);
        return ST_OK;
    }
    if (field->n_column) {
        return find_columns(a, d, field, &c->arrays, out, at, sink);
    }
    *out = (struct data_source){arena_array(a, const struct array *, 1), 1, false};
    return find_member(d, &c->arrays, field->source, at, sink, &out->at[0]);
}

static enum status find_fields(struct arena *a, const struct graph *g, struct data_set *d,
                               const struct content *c, struct diag_sink *sink)
{
    const char *first = NULL;
    d->field = arena_array(a, struct data_source, d->data->n_field);
    for (uint32_t i = 0; i < d->data->n_field; i++) {
        const struct data_field *field = &d->data->field[i];
        struct data_source *s = &d->field[i];
        struct span at = field_span(g, d->data, field);
        if (!is_stored(field)) {
            continue;
        }
        TRY(find_source(a, d, field, c, s, at, sink));
        for (uint32_t k = 0; k < s->n; k++) {
            const char *name =
                field->kind == SOURCE_FIELD && !field->n_column ? field->source : s->at[k]->name;
            TRY(check_member(d, field, name, s->at[k], &first, at, sink));
        }
        for (uint32_t k = 0; k < s->n && field->fills; k++) {
            s->at[k] = filled_array(a, s->at[k], field->fill);
        }
        if (field->kind == SOURCE_TIME) {
            TRY(time_array(a, d, s->at[0], field->source, at, sink, &s->at[0]));
        } else if (field->kind == SOURCE_CLASS) {
            TRY(class_array(a, d, s->at[0], field, at, sink, &s->at[0]));
        }
    }
    return ST_OK;
}

static bool needs_arrays(const struct data *d)
{
    bool needs = d->split == SPLIT_FIELD || d->split == SPLIT_CONDITION || !d->n_field;
    for (uint32_t i = 0; i < d->n_field; i++) {
        needs |= d->field[i].kind <= SOURCE_CLASS && d->field[i].kind != SOURCE_BYTES;
    }
    return needs;
}

static enum status open_one(struct data_sets *s, struct data_set *d, struct diag_sink *sink)
{
    char *bytes;
    struct content c = {0};
    if (!d->path[0]) {
        enum status st =
            diag_emit(sink, DIAG_F3101, d->data->span, "data set `%s` names no file", d->data->name);
        diag_help(sink, "--data %s=FILE", d->data->name);
        return st;
    }
    enum status st = file_read(s->arena, d->path, max_file_bytes, &bytes, &c.n, sink);
    if (st != ST_OK) {
        diag_note(sink, "data set `%s`; its path is relative to the folder of the .gml file", d->data->name);
        diag_help(sink, "--data %s=FILE takes another file", d->data->name);
        return st;
    }
    c.bytes = bytes;
    d->hash = fnv1a64(bytes, c.n);
    if (needs_arrays(d->data)) {
        TRY(arrays_parse(s->arena, d->path, bytes, c.n, sink, &c.arrays));
    }
    TRY(find_fields(s->arena, s->graph, d, &c, sink));
    TRY(split_make(s->arena, d, &c.arrays, sink));
    return windows_make(s->arena, s->graph, d, sink);
}

enum status data_open(const struct graph *g, const char *folder, const struct data_override *over,
                      uint32_t n_over, struct diag_sink *sink, struct data_sets **out)
{
    *out = NULL;
    TRY(check_overrides(g, over, n_over, sink));
    struct arena *a = arena_new();
    struct data_sets *s = arena_new_of(a, struct data_sets);
    *s = (struct data_sets){a, g, arena_array(a, struct data_set, g->datas.n), g->datas.n};
    for (uint32_t i = 0; i < s->n; i++) {
        s->at[i].data = &g->datas.at[i];
        s->at[i].path = path_of(a, s->at[i].data, folder, over, n_over);
        enum status st = g->datas.at[i].path ? open_one(s, &s->at[i], sink) : ST_OK;
        if (st != ST_OK) {
            data_close(s);
            return st;
        }
    }
    *out = s;
    return ST_OK;
}

void data_close(struct data_sets *s)
{
    if (s) {
        arena_free(s->arena);
    }
}
