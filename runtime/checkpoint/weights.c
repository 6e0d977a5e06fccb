/* Parameters to safetensors and back. */
#include "runtime/checkpoint/checkpoint.h"
#include <math.h>
#include "runtime/base/bf16.h"
#include "runtime/format/format.h"

enum { SHOWN = 20 }; /* rows of the table of differences */

/* Parameters, and what data sets were standardized with. */
static bool is_kept(const struct var *v)
{
    return v->kind == VAR_PARAM || (v->kind == VAR_STATE && v->data);
}

static enum file_type file_type_of(enum dtype t)
{
    return t == DT_F64 ? FT_F64 : t == DT_BF16 ? FT_BF16 : FT_F32;
}

static struct array array_of(const struct plan *p, const char *image, uint32_t var)
{
    const struct operand *o = &p->var[var].view;
    struct array x = {.name = p->graph->vars.at[var].key, .rank = o->rank, .bytes = image + o->offset};
    x.type = file_type_of((enum dtype)o->dtype);
    x.item_bytes = (uint32_t)dtype_size((enum dtype)o->dtype);
    memcpy(x.dim, o->dim, sizeof x.dim);
    x.n_bytes = (uint64_t)operand_count(o) * x.item_bytes;
    return x;
}

enum status weights_save(const struct plan *p, const void *image, const char *path, struct diag_sink *sink)
{
    const struct graph *g = p->graph;
    struct array *list = arena_array(sink->arena, struct array, g->vars.n);
    uint32_t n = 0;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (is_kept(&g->vars.at[v])) {
            list[n++] = array_of(p, image, v);
        }
    }
    const char *const metadata[] = {"format", "gml", "model", g->model ? g->model : "", NULL};
    return safetensors_write(path, list, n, metadata, sink);
}

/* -- the table of what does not fit */

struct difference {
    struct arena *arena;
    VEC(const char *) rows;
};

static bool is_float(enum file_type t)
{
    return t == FT_F16 || t == FT_BF16 || t == FT_F32 || t == FT_F64;
}

static bool same_shape(const struct array *x, const struct operand *o)
{
    bool same = x->rank == o->rank;
    for (int i = 0; same && i < x->rank; i++) {
        same = x->dim[i] == o->dim[i];
    }
    return same;
}

static void note_parameters(struct difference *d, const struct plan *p, const struct array_file *f)
{
    const struct graph *g = p->graph;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (!is_kept(&g->vars.at[v])) {
            continue;
        }
        const struct operand *o = &p->var[v].view;
        const char *key = g->vars.at[v].key;
        const char *want = sizes_text(d->arena, dtype_name((enum dtype)o->dtype), o->rank, o->dim);
        const struct array *x = array_find(f, key);
        const char *row = NULL;
        if (!x) {
            row = arena_printf(d->arena, "missing     %s: the model has %s", key, want);
        } else if (!same_shape(x, o) || !is_float(x->type)) {
            row = arena_printf(d->arena, "wrong %s %s: the model has %s, the file %s",
                               same_shape(x, o) ? "type " : "shape", key, want,
                               sizes_text(d->arena, file_type_name(x->type), x->rank, x->dim));
        }
        if (row) {
            vec_push(d->arena, &d->rows, row);
        }
    }
}

static void note_unexpected(struct difference *d, const struct plan *p, const struct array_file *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t v = graph_find_var(p->graph, f->at[i].name);
        if (!v || !is_kept(&p->graph->vars.at[v])) {
            const char *row = arena_printf(
                d->arena, "unexpected  %s: the file has %s", f->at[i].name,
                sizes_text(d->arena, file_type_name(f->at[i].type), f->at[i].rank, f->at[i].dim));
            vec_push(d->arena, &d->rows, row);
        }
    }
}

/* First element of x that is finite and has no finite value in t, or -1. */
static int64_t too_large(const struct array *x, enum dtype t)
{
    int64_t n = x->type == FT_F64 || x->type == FT_F32 ? (int64_t)(x->n_bytes / x->item_bytes) : 0;
    for (int64_t i = 0; i < n; i++) {
        double v = array_number(x, i);
        float f = t == DT_BF16 ? bf16_widen(bf16_round((float)v)) : (float)v;
        if (isfinite(v) && !isfinite(f)) {
            return i;
        }
    }
    return -1;
}

static void note_too_large(struct difference *d, const struct plan *p, const struct array_file *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const struct array *x = &f->at[i];
        uint32_t v = graph_find_var(p->graph, x->name);
        enum dtype t = v ? (enum dtype)p->var[v].view.dtype : DT_NONE;
        int64_t bad = t == DT_F32 || t == DT_BF16 ? too_large(x, t) : -1;
        if (bad >= 0) {
            const char *row = arena_printf(d->arena, "too large   %s: %g, element %lld, does not fit %s",
                                           x->name, array_number(x, bad), (long long)bad, dtype_name(t));
            vec_push(d->arena, &d->rows, row);
        }
    }
}

static void show_rows(const struct difference *d, struct diag_sink *sink)
{
    for (uint32_t i = 0; i < d->rows.n && i < SHOWN; i++) {
        diag_note(sink, "%s", d->rows.at[i]);
    }
    if (d->rows.n > SHOWN) {
        diag_note(sink, "and %u more", d->rows.n - SHOWN);
    }
}

static enum status check(const struct plan *p, const struct array_file *f, const char *path,
                         struct diag_sink *sink)
{
    struct difference d = {.arena = sink->arena};
    note_parameters(&d, p, f);
    uint32_t n = d.rows.n;
    note_unexpected(&d, p, f);
    bool unexpected = d.rows.n > n;
    note_too_large(&d, p, f);
    if (!d.rows.n) {
        return ST_OK;
    }
    enum status st = diag_emit(sink, DIAG_F2201, NO_SPAN, "%s does not fit the model: %u difference%s", path,
                               d.rows.n, d.rows.n == 1 ? "" : "s");
    show_rows(&d, sink);
    diag_help(sink, unexpected ? "--map OLD=NEW renames keys of the file, as in --map 'net.*=model.*'"
                               : "run.json beside the weights holds the configs they were trained with");
    return st;
}

/* A file that would make every result NaN is refused unless that is wanted. */
static enum status check_finite(const struct array_file *f, const char *path, struct diag_sink *sink)
{
    struct difference d = {.arena = sink->arena};
    for (uint32_t i = 0; i < f->n; i++) {
        const struct array *x = &f->at[i];
        int64_t n = array_count(x), bad = 0, first = 0;
        for (int64_t k = n; k-- > 0;) {
            bool wrong = !isfinite(array_number(x, k));
            bad += wrong;
            first = wrong ? k : first;
        }
        if (bad) {
            const char *row =
                arena_printf(d.arena, "%s: %lld of %lld numbers, the first is element %lld: %g", x->name,
                             (long long)bad, (long long)n, (long long)first, array_number(x, first));
            vec_push(d.arena, &d.rows, row);
        }
    }
    if (!d.rows.n) {
        return ST_OK;
    }
    enum status st = diag_emit(sink, DIAG_F2202, NO_SPAN, "%s: %u tensor%s with NaN or infinity", path,
                               d.rows.n, d.rows.n == 1 ? "" : "s");
    show_rows(&d, sink);
    diag_help(sink, "--allow-nonfinite loads them as they are");
    return st;
}

static void copy_in(const struct array *x, const struct operand *o, char *image)
{
    int64_t n = operand_count(o);
    char *to = image + o->offset;
    if (x->type == file_type_of((enum dtype)o->dtype)) {
        memcpy(to, x->bytes, (size_t)x->n_bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = array_number(x, i);
        if (o->dtype == DT_F64) {
            ((double *)(void *)to)[i] = v;
        } else if (o->dtype == DT_BF16) {
            ((struct bf16 *)(void *)to)[i] = bf16_round((float)v);
        } else {
            ((float *)(void *)to)[i] = (float)v;
        }
    }
}

/* For a file that is none of weights: a run folder is often meant for the weights in it. */
static void help_find(const char *path, struct diag_sink *sink)
{
    enum diag_code code = sink->list.n ? sink->list.at[sink->list.n - 1].code : DIAG_I0001;
    if (code == DIAG_F0101 || code == DIAG_F2002) {
        diag_help(sink, "a run leaves its weights in RUN/weights.safetensors");
    } else if (code == DIAG_R1001) {
        diag_help(sink, "of a run folder, name the file in it: %s/weights.safetensors", path);
    }
}

enum status weights_load(const struct plan *p, void *image, const char *path, const struct weight_map *map,
                         uint32_t n_map, bool allow_nonfinite, struct diag_sink *sink)
{
    struct arena *a = arena_new();
    struct array_file f;
    enum status st = safetensors_read(a, path, sink, &f);
    if (st != ST_OK) {
        help_find(path, sink);
    }
    st = st == ST_OK ? weights_rename(a, &f, path, map, n_map, sink) : st;
    st = st == ST_OK ? check(p, &f, path, sink) : st;
    st = st == ST_OK && !allow_nonfinite ? check_finite(&f, path, sink) : st;
    for (uint32_t v = 1; st == ST_OK && v < p->graph->vars.n; v++) {
        if (is_kept(&p->graph->vars.at[v])) {
            copy_in(array_find(&f, p->graph->vars.at[v].key), &p->var[v].view, image);
        }
    }
    arena_free(a);
    return st;
}
