/* Binding: every atom of the graph's dims gets a value, from the configs (defaults or --set), the rows of the
 * data sets, the sizes of the parameter trees, and the batch of each variant. Reports sizes that do not work
 * out with the values of everything they are made of.
 */
#include "runtime/base/checked.h"
#include "runtime/plan/internal.h"

/* "H = 5, D = 12": the values of the symbols a dim is made of. */
static void symbol_values(const struct dims *d, const struct binding *at, dim x, struct text *out,
                          uint32_t *seen, uint32_t *n_seen)
{
    for (uint32_t t = 0; t < d->list.at[x].n; t++) {
        const struct monomial *m = &d->list.at[x].terms[t];
        for (uint32_t i = 0; i < (uint32_t)m->n_over + m->n_under && *n_seen < 8; i++) {
            uint32_t k = i < m->n_over ? m->over[i] : m->under[i - m->n_over];
            const struct atom *atom = &d->atoms.at[k];
            bool known = false;
            for (uint32_t s = 0; s < *n_seen; s++) {
                known |= seen[s] == k;
            }
            if (known) {
                continue;
            }
            if (atom->kind == ATOM_SYMBOL) {
                seen[(*n_seen)++] = k;
                if (at->atom[k] >= 0) {
                    text_printf(out, "%s%s = %lld", out->n ? ", " : "", atom->name, (long long)at->atom[k]);
                } else {
                    text_printf(out, "%s%s has no value", out->n ? ", " : "", atom->name);
                }
            } else if (atom->kind != ATOM_TREE) {
                symbol_values(d, at, atom->a, out, seen, n_seen);
                symbol_values(d, at, atom->b, out, seen, n_seen);
            }
        }
    }
}

static const char *why_no_size(const char *text)
{
    return strchr(text, '/')   ? ", so that `/` divides exactly; `//` rounds down"
           : strchr(text, '-') ? ": what is taken away is more than there is"
                               : "";
}

enum status bind_dim(struct builder *b, const struct binding *at, dim x, struct span span, const char *what,
                     int64_t *value)
{
    const struct dims *d = &b->g->dims;
    if (x && dim_eval(d, at, x, value)) {
        return ST_OK;
    }
    struct text name = {.arena = b->scratch}, values = {.arena = b->scratch};
    uint32_t seen[8], n_seen = 0;
    if (x) {
        dim_print(d, x, &name);
        symbol_values(d, at, x, &values, seen, &n_seen);
    }
    bool unbound = false;
    for (uint32_t i = 0; i < n_seen; i++) {
        unbound |= at->atom[seen[i]] < 0;
    }
    if (unbound) {
        return diag_emit(b->sink, DIAG_E3101, span, "%s: the size `%s` has no value here: %s", what, name.at,
                         values.at);
    }
    enum status st =
        diag_emit(b->sink, DIAG_E3102, span, "%s: the size `%s` is not a whole number from 0 to 2^40 with %s",
                  what, x ? name.at : "?", values.n ? values.at : "these values");
    diag_help(b->sink, "change one of the sizes%s", why_no_size(x ? name.at : ""));
    return st;
}

enum status bind_shape(struct builder *b, const struct binding *at, enum dtype t, int rank, const dim *shape,
                       struct span span, const char *what, struct operand *out)
{
    int64_t n = 1;
    *out = (struct operand){.dtype = (uint8_t)t, .rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) {
        TRY(bind_dim(b, at, shape[i], span, what, &out->dim[i]));
        if (out->dim[i] && (!mul_ok(n, out->dim[i], &n) || n > LIMIT_ELEMENTS)) {
            struct text s = {.arena = b->scratch};
            for (int k = 0; k <= i; k++) {
                text_printf(&s, "%s%lld", k ? " * " : "", (long long)out->dim[k]);
            }
            return diag_emit(b->sink, DIAG_E3105, span, "%s: %s elements are more than 2^48", what, s.at);
        }
    }
    make_contiguous(out);
    return ST_OK;
}

/* Whether everything that x is made of has a value. */
static bool binding_has(const struct dims *d, const struct binding *at, dim x)
{
    for (uint32_t t = 0; t < d->list.at[x].n; t++) {
        const struct monomial *m = &d->list.at[x].terms[t];
        for (uint32_t i = 0; i < (uint32_t)m->n_over + m->n_under; i++) {
            uint32_t k = i < m->n_over ? m->over[i] : m->under[i - m->n_over];
            const struct atom *a = &d->atoms.at[k];
            bool plain = a->kind == ATOM_SYMBOL || a->kind == ATOM_TREE;
            if (plain ? at->atom[k] < 0 : !binding_has(d, at, a->a) || !binding_has(d, at, a->b)) {
                return false;
            }
        }
    }
    return true;
}
/* The divisions of the text; those by rows of a launch are checked where there are some. */
static enum status check_sizes(struct builder *b, const struct binding *at)
{
    for (uint32_t i = 0; i < b->g->checks.n; i++) {
        const struct size_check *c = &b->g->checks.at[i];
        int64_t value;
        if (binding_has(&b->g->dims, at, c->size)) {
            TRY(bind_dim(b, at, c->size, c->span, "`/`", &value));
        }
    }
    return ST_OK;
}

static enum status set_configs(struct builder *b)
{
    const struct graph *g = b->g;
    struct binding *at = &b->p->binding;
    for (uint32_t i = 0; i < g->configs.n; i++) {
        const struct config *c = &g->configs.at[i];
        uint32_t atom;
        if (c->kind == CONFIG_LIVE && i >= LIMIT_KNOBS) {
            return diag_emit(b->sink, DIAG_E3108, c->span,
                             "the live config `%s` is number %u; at most %d can be adjusted while running",
                             c->name, i + 1, LIMIT_KNOBS);
        }
        if (c->kind != CONFIG_DIM || !dim_is_symbol(&g->dims, c->symbol, &atom)) {
            continue;
        }
        if (!(c->value >= 0 && c->value <= (double)LIMIT_DIM) || c->value != (double)(int64_t)c->value) {
            return diag_emit(b->sink, DIAG_E3102, c->span,
                             "the dim config `%s` is %g, but a size is a whole number from 0 to 2^40",
                             c->name, c->value);
        }
        at->atom[atom] = (int64_t)c->value;
    }
    return ST_OK;
}

static enum status apply_sets(struct builder *b)
{
    const struct graph *g = b->g;
    for (uint32_t i = 0; i < b->o->n_set; i++) {
        const char *name = b->o->set_name[i];
        int64_t value = b->o->set_value[i];
        const char **names = arena_array(b->scratch, const char *, g->configs.n + 1);
        uint32_t n = 0, atom;
        bool found = false;
        for (uint32_t k = 0; k < g->configs.n; k++) {
            const struct config *c = &g->configs.at[k];
            if (c->kind != CONFIG_DIM || !dim_is_symbol(&g->dims, c->symbol, &atom)) {
                continue;
            }
            names[n++] = c->name;
            if (strcmp(c->name, name)) {
                continue;
            }
            if (value < 0 || value > LIMIT_DIM) {
                return diag_emit(
                    b->sink, DIAG_E3102, c->span,
                    "the dim config `%s` is set to %lld, but a size is a whole number from 0 to 2^40", name,
                    (long long)value);
            }
            b->p->binding.atom[atom] = value;
            found = true;
        }
        if (!found) {
            enum status s = diag_emit(b->sink, DIAG_E3107, NO_SPAN, "the model has no dim config `%s`", name);
            const char *close = closest_name(name, names, n);
            if (close) {
                diag_help(b->sink, "did you mean `%s`?", close);
            }
            return s;
        }
    }
    return ST_OK;
}

/* Elements of each tree and where its leaves start; binds the tree atoms. */
static enum status bind_trees(struct builder *b)
{
    const struct graph *g = b->g;
    struct plan *p = b->p;
    p->tree_elements = arena_array(b->arena, int64_t, g->trees.n);
    p->leaf_start = arena_array(b->arena, uint64_t *, g->trees.n);
    for (uint32_t t = 0; t < g->trees.n; t++) {
        const struct tree *tree = &g->trees.at[t];
        int64_t at = 0;
        p->leaf_start[t] = arena_array(b->arena, uint64_t, tree->n_leaf);
        for (uint32_t i = 0; i < tree->n_leaf; i++) {
            const struct var *v = &g->vars.at[tree->leaf[i]];
            struct operand o;
            TRY(bind_shape(b, &p->binding, v->type.dtype, v->type.rank, v->type.dim, v->span, v->key, &o));
            p->leaf_start[t][i] = (uint64_t)at;
            at += (int64_t)round_up((uint64_t)operand_count(&o), LEAF_PADDING);
            if (at > LIMIT_DIM) {
                return diag_emit(b->sink, DIAG_E3105, v->span,
                                 "the parameters of `%s` have more than 2^40 elements", tree->name);
            }
        }
        p->tree_elements[t] = at;
    }
    for (uint32_t i = 1; i < g->dims.atoms.n; i++) {
        if (g->dims.atoms.at[i].kind == ATOM_TREE && g->dims.atoms.at[i].a < g->trees.n) {
            p->binding.atom[i] = p->tree_elements[g->dims.atoms.at[i].a];
        }
    }
    return ST_OK;
}

enum status bind_sizes(struct builder *b)
{
    const struct graph *g = b->g;
    struct binding *at = &b->p->binding;
    uint32_t atom;
    at->n = g->dims.atoms.n;
    at->atom = arena_array(b->arena, int64_t, at->n);
    for (uint32_t i = 0; i < at->n; i++) {
        at->atom[i] = -1;
    }
    TRY(set_configs(b));
    TRY(apply_sets(b));
    for (uint32_t i = 0; b->o->data_rows && i < g->datas.n; i++) {
        if (dim_is_symbol(&g->dims, g->datas.at[i].rows, &atom)) {
            at->atom[atom] = b->o->data_rows[i];
        }
        if (g->datas.at[i].extent && dim_is_symbol(&g->dims, g->datas.at[i].stored, &atom)) {
            at->atom[atom] = b->o->stored_rows ? b->o->stored_rows[i] : b->o->data_rows[i];
        }
    }
    return bind_trees(b);
}

static void push_variant(struct builder *b, uint32_t phase, int64_t rows, bool is_tail)
{
    struct variant_build *v = &b->variant[b->n_variant];
    uint32_t atom;
    *v = (struct variant_build){
        .b = b, .index = b->n_variant++, .phase = phase, .rows = rows, .is_tail = is_tail};
    v->binding.n = b->p->binding.n;
    v->binding.atom = arena_array(b->scratch, int64_t, v->binding.n);
    memcpy(v->binding.atom, b->p->binding.atom, v->binding.n * sizeof(int64_t));
    if (b->g->phases.at[phase].b && dim_is_symbol(&b->g->dims, b->g->phases.at[phase].b, &atom)) {
        v->binding.atom[atom] = rows;
    }
}

/* Full launches, and the tail of a pass where the phase walks over its rows. */
static enum status bind_rows(struct builder *b, uint32_t i)
{
    const struct phase *f = &b->g->phases.at[i];
    const struct data *d = &b->g->datas.at[f->data - 1];
    int64_t batch, rows = -1;
    TRY(bind_dim(b, &b->p->binding, f->batch, f->span, "batch", &batch));
    if (b->o->split_rows) {
        rows = b->o->split_rows[i][1];
    } else if (b->o->data_rows) {
        rows = b->o->data_rows[f->data - 1];
    }
    if (rows == 0) {
        return diag_emit(b->sink, DIAG_E3104, f->span, "phase `%s`: %s%s of data set `%s` has no rows",
                         f->name, f->split ? "split " : "all", f->split ? f->split : "", d->name);
    }
    if (batch < 1 || (rows > 0 && batch > rows && (f->training || f->lanes))) {
        enum status s = diag_emit(b->sink, DIAG_E3103, f->span,
                                  "phase `%s`: a batch of %lld rows from data set `%s`, which has %lld there",
                                  f->name, (long long)batch, d->name, (long long)rows);
        diag_help(b->sink, "a batch from 1 to %lld fits", (long long)rows);
        return s;
    }
    if (f->training || f->lanes || rows < 0) {
        push_variant(b, i, batch, false);
        return ST_OK;
    }
    push_variant(b, i, batch < rows ? batch : rows, false);
    if (batch < rows && rows % batch) {
        push_variant(b, i, rows % batch, true);
    }
    return ST_OK;
}

enum status bind_variants(struct builder *b)
{
    const struct graph *g = b->g;
    uint64_t metrics = 0;
    b->variant = arena_array(b->scratch, struct variant_build, 2 * (size_t)g->phases.n);
    b->metric0 = arena_array(b->scratch, uint32_t, g->phases.n);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *f = &g->phases.at[i];
        uint64_t replicas = g->replicas ? g->replicas : 1, own = f->metrics.n * replicas;
        b->metric0[i] = (uint32_t)metrics;
        metrics += own;
        if (f->metrics.n > RING_METRICS || own > RING_VALUES || metrics > LIMIT_METRICS ||
            i >= LIMIT_PHASES) {
            return diag_emit(b->sink, DIAG_E3108, f->span,
                             "phase `%s` has %llu metrics, all phases so far %llu", f->name,
                             (unsigned long long)own, (unsigned long long)metrics);
        }
        if (f->data && f->kind != PHASE_DATA) {
            TRY(bind_rows(b, i));
        } else {
            push_variant(b, i, 0, false);
        }
    }
    for (uint32_t i = 0; i < b->n_variant; i++) {
        TRY(check_sizes(b, &b->variant[i].binding));
    }
    return ST_OK;
}
