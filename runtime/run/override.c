/* States that come from files: constants, `file("w.npz", "w")`, and named draws in whose place a file was
 * given (--override), for which the compiler has made a state. Both hold the file's array in every launch.
 */
#include "runtime/base/philox.h"
#include "runtime/run/internal.h"

enum { MAX_BYTES_LOG2 = 36 };

/* What is filled: messages speak of it. */
struct filling {
    uint32_t var;
    const char *what; /* "--override train.eps" or "file `w1`" */
    const char *path, *array;
};

static enum status no_array(struct run *r, const struct filling *f, const struct array_file *file)
{
    struct span at = r->graph->vars.at[f->var].span;
    struct text names = {.arena = r->sink->arena};
    text_printf(&names, "%s", "");
    for (uint32_t i = 0; i < file->n && i < 8; i++) {
        text_printf(&names, "%s`%s`", i ? ", " : "", file->at[i].name);
    }
    if (f->array) {
        return diag_emit(r->sink, DIAG_F3101, at, "%s: %s has no array `%s`; it has %s%s", f->what, f->path,
                         f->array, file->n ? names.at : "none", file->n > 8 ? ", .." : "");
    }
    enum status st = diag_emit(r->sink, DIAG_F3101, at, "%s: %s holds %u arrays, one is needed", f->what,
                               f->path, file->n);
    if (r->graph->vars.at[f->var].file) {
        diag_help(r->sink, "name it, as in file(\"%s\", \"..\"); there are %s%s",
                  r->graph->vars.at[f->var].file, file->n ? names.at : "none", file->n > 8 ? ", .." : "");
    } else {
        diag_help(r->sink, "np.save(\"%s.npy\", x) writes one", f->what + strlen("--override "));
    }
    return st;
}

static enum status check_shape(struct run *r, const struct filling *f, const struct array *x)
{
    const struct operand *to = &r->plan->var[f->var].view;
    bool same = x->rank == to->rank;
    for (int i = 0; same && i < x->rank; i++) {
        same = x->dim[i] == to->dim[i];
    }
    TRY(array_need_numbers(x, f->path, r->sink));
    if (same) {
        return ST_OK;
    }
    struct arena *a = r->sink->arena;
    return diag_emit(r->sink, DIAG_F3103, r->graph->vars.at[f->var].span, "%s: %s stores %s, the %s is %s",
                     f->what, f->path, sizes_text(a, file_type_name(x->type), x->rank, x->dim),
                     r->graph->vars.at[f->var].file ? "type" : "draw",
                     sizes_text(a, dtype_name((enum dtype)to->dtype), to->rank, to->dim));
}

static void keep_hash(struct run *r, const struct filling *f, uint64_t hash)
{
    for (uint32_t i = 0; i < r->n_file; i++) {
        if (r->file[i].rows < 0 &&
            !strcmp(r->file[i].name, r->graph->vars.at[f->var].key + strlen("file."))) {
            r->file[i].path = arena_printf(r->arena, "%s", f->path);
            r->file[i].hash = hash;
        }
    }
}

static enum status fill(struct run *r, const struct filling *f, struct arena *scratch)
{
    const struct operand *to = &r->plan->var[f->var].view;
    const struct var *v = &r->graph->vars.at[f->var];
    struct array_file file;
    char *bytes;
    size_t size;
    enum status st = file_read(scratch, f->path, (size_t)1 << MAX_BYTES_LOG2, &bytes, &size, r->sink);
    if (st != ST_OK) {
        if (v->file) {
            diag_note(r->sink, "%s; its path is relative to the folder of the .gml file", f->what);
        }
        return st;
    }
    TRY(arrays_parse(scratch, f->path, bytes, size, r->sink, &file));
    const char *name = file.n == 1 && !f->array ? NULL : v->array;
    const struct array *x = name ? array_find(&file, name) : file.n == 1 ? &file.at[0] : NULL;
    TRY(x ? check_shape(r, f, x) : no_array(r, f, &file));
    int64_t n = operand_count(to), bad = data_convert(x, 0, n, (enum dtype)to->dtype, r->image + to->offset);
    if (bad < n) {
        return diag_emit(r->sink, DIAG_F3104, v->span, "%s: element %lld of %s, %g, does not fit %s", f->what,
                         (long long)bad, f->path, array_number(x, bad), dtype_name((enum dtype)to->dtype));
    }
    if (v->file) {
        keep_hash(r, f, fnv1a64(bytes, size));
    }
    return ST_OK;
}

/* An override of a constant may be a file with one array, or with the array that the text names. */
static enum status fill_override(struct run *r, const struct data_override *o, struct arena *a)
{
    struct filling f = {.what = arena_printf(a, "--override %s", o->name), .path = o->file};
    f.var = graph_find_var(r->graph, arena_printf(a, "override.%s", o->name));
    f.var = f.var ? f.var : graph_find_var(r->graph, arena_printf(a, "file.%s", o->name));
    if (!f.var) {
        enum status st = diag_emit(r->sink, DIAG_U1002, NO_SPAN,
                                   "--override: the model was compiled without `%s`", o->name);
        diag_help(r->sink, "draws are replaced while a model is compiled: give the .gml file");
        return st;
    }
    return fill(r, &f, a);
}

static const struct data_override *override_of(const struct run *r, const struct var *v)
{
    for (uint32_t i = 0; i < r->o->n_override; i++) {
        if (!strcmp(r->o->override[i].name, v->key + strlen("file."))) {
            return &r->o->override[i];
        }
    }
    return NULL;
}

enum status fill_files(struct run *r)
{
    struct arena *a = arena_new();
    enum status st = ST_OK;
    for (uint32_t i = 0; i < r->o->n_override && st == ST_OK; i++) {
        st = fill_override(r, &r->o->override[i], a);
    }
    for (uint32_t i = 1; i < r->graph->vars.n && st == ST_OK; i++) {
        const struct var *v = &r->graph->vars.at[i];
        if (v->file && !override_of(r, v)) {
            struct filling f = {i, arena_printf(a, "file `%s`", v->key + strlen("file.")),
                                path_in(a, r->o->folder, v->file), v->array};
            st = fill(r, &f, a);
        }
    }
    arena_free(a);
    return st;
}
