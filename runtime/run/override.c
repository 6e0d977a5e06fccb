/* Named draws that come from a file (--override): the compiler has made a state of each, which holds the
 * file's array in every launch. */
#include "runtime/run/internal.h"

static const char *shape_text(struct arena *a, const char *type, int rank, const int64_t *size)
{
    struct text t = {.arena = a};
    text_printf(&t, "%s[", type);
    for (int i = 0; i < rank; i++) {
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)size[i]);
    }
    text_printf(&t, "]");
    return t.at;
}

static enum status check(struct run *r, const struct data_override *o, const struct array_file *f,
                         const struct operand *to, struct span at)
{
    if (f->n != 1) {
        enum status st =
            diag_emit(r->sink, DIAG_F3101, at, "--override %s: %s holds %u arrays, one is needed", o->name,
                      o->file, f->n);
        diag_help(r->sink, "np.save(\"%s.npy\", x) writes one", o->name);
        return st;
    }
    const struct array *x = &f->at[0];
    bool same = x->rank == to->rank;
    for (int i = 0; same && i < x->rank; i++) {
        same = x->dim[i] == to->dim[i];
    }
    TRY(array_need_numbers(x, o->file, r->sink));
    if (same) {
        return ST_OK;
    }
    struct arena *a = r->sink->arena;
    return diag_emit(r->sink, DIAG_F3103, at, "--override %s: %s stores %s, the draw is %s", o->name, o->file,
                     shape_text(a, file_type_name(x->type), x->rank, x->dim),
                     shape_text(a, dtype_name((enum dtype)to->dtype), to->rank, to->dim));
}

static enum status fill(struct run *r, const struct data_override *o, struct arena *scratch)
{
    uint32_t var = graph_find_var(r->graph, arena_printf(scratch, "override.%s", o->name));
    if (!var) {
        enum status st = diag_emit(r->sink, DIAG_U1002, NO_SPAN,
                                   "--override: the model was compiled without `%s`", o->name);
        diag_help(r->sink, "draws are replaced while a model is compiled: give the .gml file");
        return st;
    }
    const struct operand *to = &r->plan->var[var].view;
    struct span at = r->graph->vars.at[var].span;
    struct array_file f;
    TRY(arrays_read(scratch, o->file, r->sink, &f));
    TRY(check(r, o, &f, to, at));
    int64_t n = operand_count(to),
            bad = data_convert(&f.at[0], 0, n, (enum dtype)to->dtype, r->image + to->offset);
    if (bad < n) {
        return diag_emit(r->sink, DIAG_F3104, at, "--override %s: element %lld of %s, %g, does not fit %s",
                         o->name, (long long)bad, o->file, array_number(&f.at[0], bad),
                         dtype_name((enum dtype)to->dtype));
    }
    return ST_OK;
}

enum status fill_overrides(struct run *r)
{
    struct arena *scratch = arena_new();
    enum status st = ST_OK;
    for (uint32_t i = 0; i < r->o->n_override && st == ST_OK; i++) {
        st = fill(r, &r->o->override[i], scratch);
    }
    arena_free(scratch);
    return st;
}
