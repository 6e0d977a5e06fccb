/* Conversion of stored rows into raw variables: exact, or refused with file, member and row. */
#include "runtime/data/data.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "runtime/base/bf16.h"

static bool fits(double x, enum dtype t)
{
    switch (t) {
    case DT_F32:
        return isnan(x) || isinf(x) || fabs(x) <= FLT_MAX;
    case DT_BF16:
        return isnan(x) || isinf(x) || fabs(x) <= (double)bf16_widen((struct bf16){0x7f7f});
    case DT_F64:
        return true;
    case DT_I32:
        return x >= INT32_MIN && x <= INT32_MAX && x == floor(x);
    case DT_BOOL:
        return x == 0 || x == 1;
    default:
        return false;
    }
}

static void store(void *to, int64_t i, enum dtype t, double x)
{
    switch (t) {
    case DT_F32:
        ((float *)to)[i] = (float)x;
        break;
    case DT_BF16:
        ((struct bf16 *)to)[i] = bf16_round((float)x);
        break;
    case DT_F64:
        ((double *)to)[i] = x;
        break;
    case DT_I32:
        ((int32_t *)to)[i] = (int32_t)x;
        break;
    default:
        ((unsigned char *)to)[i] = x != 0;
        break;
    }
}

static bool same_bytes(enum file_type f, enum dtype t)
{
    return (f == FT_F32 && t == DT_F32) || (f == FT_F64 && t == DT_F64) || (f == FT_I32 && t == DT_I32) ||
           (f == FT_BF16 && t == DT_BF16);
}

int64_t data_convert(const struct array *x, int64_t from, int64_t n, enum dtype t, void *to)
{
    size_t item = dtype_size(t);
    if (same_bytes(x->type, t)) {
        memcpy(to, (const char *)x->bytes + (size_t)from * item, (size_t)n * item);
        return n;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = array_number(x, from + i);
        if (!fits(v, t)) {
            return i;
        }
        store(to, i, t, v);
    }
    return n;
}

/* As few digits as tell the number from its neighbours. */
static const char *number_text(struct arena *a, double x)
{
    const char *s = "";
    for (int digits = 6; digits <= 17; digits++) {
        s = arena_printf(a, "%.*g", digits, x);
        if (strtod(s, NULL) == x) {
            break;
        }
    }
    return s;
}

static enum status does_not_fit(const struct data_set *d, const struct data_field *f, const char *name,
                                int64_t row, double x, enum dtype t, struct span at, struct diag_sink *sink)
{
    enum status st = diag_emit(sink, DIAG_F3104, at, "member `%s` of %s, row %lld: %s does not fit %s", name,
                               d->path, (long long)row, number_text(sink->arena, x), dtype_name(t));
    if (t == DT_I32 || t == DT_BOOL) {
        bool whole = x == floor(x) && fabs(x) <= INT32_MAX;
        diag_help(sink, "%s takes %s; declare `%s: %s` for other numbers", dtype_name(t),
                  t == DT_I32 ? "whole numbers below 2^31" : "0 and 1", f->name,
                  t == DT_BOOL && whole ? "i32" : "f32");
    } else {
        diag_help(sink, "declare `%s: f64`, or divide the numbers in the file", f->name);
    }
    return st;
}

static int64_t row_elements(int rank, const int64_t *size)
{
    int64_t n = 1;
    for (int i = 1; i < rank; i++) {
        n *= size[i];
    }
    return n;
}

/* The first and the last of columns(..). */
static const char *column_list(struct arena *a, const struct data_source *s)
{
    return s->n == 1 ? arena_printf(a, "`%s`", s->at[0]->name)
                     : arena_printf(a, "`%s` to `%s`", s->at[0]->name, s->at[s->n - 1]->name);
}

static enum status wrong_shape(const struct data_set *d, const struct data_field *f,
                               const struct data_source *s, const struct operand *o, struct span at,
                               struct diag_sink *sink)
{
    const struct array *x = s->at[0];
    const char *file = sizes_text(sink->arena, "", x->rank - 1, x->dim + 1);
    const char *declared = sizes_text(sink->arena, "", o->rank - 1, o->dim + 1);
    const char *type = dtype_name((enum dtype)o->dtype);
    if (f->n_column) {
        enum status st = diag_emit(
            sink, DIAG_F3103, at, "columns %s of %s are %u value%s a row, but `%s` is declared %s%s",
            column_list(sink->arena, s), d->path, s->n, s->n == 1 ? "" : "s", f->name, type, declared);
        diag_help(sink, "declare it %s[%u]", type, s->n);
        return st;
    }
    enum status st =
        diag_emit(sink, DIAG_F3103, at, "member `%s` of %s stores %s%s a row, but `%s` is declared %s%s",
                  f->source, d->path, file_type_name(x->type), file, f->name, type, declared);
    diag_help(sink, "declare it %s%s, or another shape of %lld numbers", type, file,
              (long long)row_elements(x->rank, x->dim));
    return st;
}

static enum status check_shape(const struct data_set *d, const struct data_field *f,
                               const struct data_source *s, const struct operand *o, struct span at,
                               struct diag_sink *sink)
{
    if (s->n * row_elements(s->at[0]->rank, s->at[0]->dim) != row_elements(o->rank, o->dim)) {
        return wrong_shape(d, f, s, o, at, sink);
    }
    if (o->rank < 1 || o->dim[0] != s->at[0]->dim[0] || !operand_is_contiguous(o)) {
        return diag_emit(sink, DIAG_I0001, at, "raw rows of `%s` were planned wrongly", f->name);
    }
    return ST_OK;
}

static enum status fill_field(const struct data_set *d, uint32_t i, const struct plan *p, char *image,
                              struct diag_sink *sink)
{
    const struct graph *g = p->graph;
    const struct data_field *f = &d->data->field[i];
    const struct data_source *s = &d->field[i];
    uint32_t raw = (uint32_t)node_attrs(g, graph_node(g, f->raw))[0];
    const struct operand *o = &p->var[raw].view;
    struct span at = g->vars.at[f->var].span.file ? g->vars.at[f->var].span : d->data->span;
    enum dtype t = (enum dtype)o->dtype;
    TRY(check_shape(d, f, s, o, at, sink));
    int64_t rows = s->at[0]->dim[0], n = rows ? operand_count(o) / rows / s->n : 0; /* of each array */
    char *to = image + o->offset;
    for (int64_t r = 0; r < rows; r++) {
        int64_t row = d->order && !s->is_resident ? d->order[r] : r;
        for (uint32_t k = 0; k < s->n; k++, to += (size_t)n * dtype_size(t)) {
            const struct array *x = s->at[k];
            int64_t bad = data_convert(x, row * n, n, t, to);
            if (bad < n) {
                return does_not_fit(d, f, f->n_column ? x->name : f->source, row,
                                    array_number(x, row * n + bad), t, at, sink);
            }
        }
    }
    return ST_OK;
}

enum status data_fill(const struct data_sets *s, uint32_t index, const struct plan *p, void *image,
                      struct diag_sink *sink)
{
    for (uint32_t i = 0; i < s->at[index].data->n_field; i++) {
        if (s->at[index].data->field[i].raw) {
            TRY(fill_field(&s->at[index], i, p, image, sink));
        }
    }
    return ST_OK;
}
