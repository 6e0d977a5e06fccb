/* The verifier: everything that graph.h promises, for graphs of passes and for loaded ones. Tables come
 * first; nodes are only looked at when the tables they refer to are sound. Types are computed again by the
 * shape rules. */
#include <stdarg.h>
#include <stdlib.h>
#include "runtime/graph/verify.h"

bool verify_fail(struct verify *k, enum diag_code code, struct span at, const char *fmt, ...)
{
    char message[1200];
    va_list list;
    va_start(list, fmt);
    vsnprintf(message, sizeof message, fmt, list);
    va_end(list);
    /* The places of a loaded graph mean nothing in the sink's sources. */
    enum status s = k->loaded
                        ? diag_emit(k->sink, code, NO_SPAN, "%s", message)
                        : diag_emit(k->sink, DIAG_I0001, verify_span(k, at) ? at : NO_SPAN, "%s", message);
    k->status = k->status == ST_OK ? s : k->status;
    return false;
}

bool verify_span(const struct verify *k, struct span at)
{
    const struct sources *s = &k->g->sources;
    return at.file == 0 || (at.file < s->list.n && at.start <= at.end && at.end <= s->list.at[at.file].n);
}

/* -- configs and data sets */

static void verify_config(struct verify *k, uint32_t i, uint32_t *n_live)
{
    const struct config *c = &k->g->configs.at[i];
    uint32_t atom;
    bool ok = c->name && c->kind <= CONFIG_LIVE && verify_span(k, c->span);
    if (ok && c->kind == CONFIG_DIM) {
        ok = verify_dim(k, c->symbol) && dim_is_symbol(&k->g->dims, c->symbol, &atom) && c->value >= 0 &&
             c->value <= (double)LIMIT_DIM && c->value == (double)(int64_t)c->value;
    } else if (ok && c->kind == CONFIG_LIVE) {
        ok = ++*n_live <= LIMIT_KNOBS && c->dtype > DT_NONE && c->dtype < DT_COUNT;
    }
    if (!ok) {
        verify_fail(k, DIAG_F1506, c->span, "config %u \"%s\" is inconsistent", (unsigned)i,
                    c->name ? c->name : "");
    }
}

/* All sizes of windows, or none. */
static bool windows_ok(const struct verify *k, const struct data *d)
{
    return d->extent ? verify_dim(k, d->extent) && verify_dim(k, d->stride) && verify_dim(k, d->stored)
                     : !d->stride && (!d->stored || d->stored == d->rows);
}

static void verify_data(struct verify *k, uint32_t i)
{
    const struct data *d = &k->g->datas.at[i];
    bool ok = d->name && d->split <= SPLIT_CONDITION && verify_dim(k, d->rows) && d->phase < k->g->phases.n &&
              k->g->phases.at[d->phase].kind == PHASE_DATA && verify_span(k, d->span) &&
              (d->split != SPLIT_FIELD || d->split_field) && windows_ok(k, d);
    for (uint32_t p = 0; ok && p < d->n_part; p++) {
        ok = d->parts[p].name != NULL;
    }
    for (uint32_t f = 0; ok && f < d->n_field; f++) {
        const struct data_field *x = &d->field[f];
        ok = x->name && x->source && x->kind <= SOURCE_FIRST && x->n_column % 2 == 0 &&
             (x->kind == SOURCE_CLASS) == (x->n_names > 0) && type_valid(k->g, &x->type) &&
             x->var < k->g->vars.n && (x->var == 0 || k->g->vars.at[x->var].data == i + 1) &&
             (x->raw == 0 || (verify_node_of(k, x->raw, d->phase) && k->g->nodes.at[x->raw].op == OP_read));
    }
    if (!ok) {
        verify_fail(k, DIAG_F1506, d->span, "data set %u \"%s\" is inconsistent", (unsigned)i,
                    d->name ? d->name : "");
    }
}

/* -- variables and trees */

static bool verify_param(const struct verify *k, uint32_t i)
{
    const struct var *v = &k->g->vars.at[i];
    if (v->tree == 0 || v->tree > k->g->trees.n) {
        return false;
    }
    const struct tree *t = &k->g->trees.at[v->tree - 1];
    return v->leaf < t->n_leaf && t->leaf[v->leaf] == i && v->data == 0;
}

static void verify_var(struct verify *k, uint32_t i)
{
    const struct graph *g = k->g;
    const struct var *v = &g->vars.at[i];
    bool ok = v->key && v->kind <= VAR_DATA && verify_span(k, v->span) && type_valid(g, &v->type);
    for (uint32_t t = 0; ok && t < v->n_tags; t++) {
        ok = v->tags[t] != NULL;
    }
    if (ok && v->kind == VAR_PARAM) {
        ok = verify_param(k, i);
    } else if (ok && v->kind == VAR_STATE) {
        ok = v->data <= g->datas.n && v->tree <= g->trees.n &&
             (v->tree == 0 || type_is_flat(g, &v->type, v->tree - 1)) && !(v->file && (v->data || v->tree));
    } else if (ok) {
        ok = v->tree == 0 && v->data > 0 && v->data <= g->datas.n && v->type.rank > 0 &&
             (v->type.dim[0] == g->datas.at[v->data - 1].rows ||
              v->type.dim[0] == g->datas.at[v->data - 1].stored);
    }
    if (!ok) {
        verify_fail(k, DIAG_F1503, v->span, "variable %u \"%s\" is inconsistent", (unsigned)i,
                    v->key ? v->key : "");
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void verify_keys(struct verify *k)
{
    uint32_t n = k->g->vars.n - 1;
    const char **key = arena_array(k->g->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        key[i] = k->g->vars.at[i + 1].key;
    }
    qsort(key, n, sizeof *key, by_key);
    for (uint32_t i = 1; i < n; i++) {
        if (!strcmp(key[i - 1], key[i])) {
            verify_fail(k, DIAG_F1503, NO_SPAN, "two variables are named \"%s\"", key[i]);
        }
    }
}

static void verify_tree(struct verify *k, uint32_t i)
{
    const struct tree *t = &k->g->trees.at[i];
    bool ok = t->name != NULL;
    for (uint32_t l = 0; ok && l < t->n_leaf; l++) {
        ok = t->leaf[l] > 0 && t->leaf[l] < k->g->vars.n;
        const struct var *v = ok ? &k->g->vars.at[t->leaf[l]] : NULL;
        ok = ok && v->kind == VAR_PARAM && v->tree == i + 1 && v->leaf == l &&
             dtype_is_float(v->type.dtype) && v->type.dtype == k->g->vars.at[t->leaf[0]].type.dtype;
    }
    if (!ok) {
        verify_fail(k, DIAG_F1503, NO_SPAN, "tree %u does not agree with its leaves", (unsigned)i);
    }
}

static void verify_loop(struct verify *k, uint32_t i)
{
    const struct loop *l = &k->g->loops.at[i];
    bool ok = l->parent < i && l->phase < k->g->phases.n && verify_dim(k, l->count) &&
              verify_span(k, l->span) && (l->parent == 0 || k->g->loops.at[l->parent].phase == l->phase);
    if (!ok) {
        verify_fail(k, DIAG_F1506, l->span, "loop %u is inconsistent", (unsigned)i);
    }
}
/* A loop runs at one place. */
static void verify_loop_ends(struct verify *k)
{
    bool *ended = arena_array(k->g->arena, bool, k->g->loops.n);
    for (val v = 1; v < k->g->nodes.n; v++) {
        const struct node *n = graph_node(k->g, v);
        if (n->op == OP_loop && ended[node_attrs(k->g, n)[0]]) {
            verify_fail(k, DIAG_F1501, n->span, "node %%%u: a second end of loop %lld", (unsigned)v,
                        (long long)node_attrs(k->g, n)[0]);
        } else if (n->op == OP_loop) {
            ended[node_attrs(k->g, n)[0]] = true;
        }
    }
}

/* -- nodes */

static bool pool_ok(const struct verify *k, const struct node *n)
{
    const struct graph *g = k->g;
    return (uint64_t)n->in + n->n_in <= g->inputs.n && (uint64_t)n->attr + n->n_attr <= g->attrs.n &&
           (uint64_t)n->dims + n->n_dim <= g->dim_pool.n && n->rank <= LIMIT_RANK &&
           (uint64_t)n->shape + n->rank <= g->dim_pool.n;
}

static bool node_ok(struct verify *k, val v)
{
    const struct graph *g = k->g;
    const struct node *n = graph_node(g, v);
    unsigned id = (unsigned)v;
    if (n->op == OP_NONE || n->op >= OP_COUNT || n->phase >= g->phases.n || n->scope >= g->scopes.n ||
        !pool_ok(k, n)) {
        return verify_fail(k, DIAG_F1501, n->span, "node %%%u: operator, phase or scope does not exist", id);
    }
    struct type t = node_type(g, v);
    if (!type_valid(g, &t) || !verify_span(k, n->span)) {
        return verify_fail(k, DIAG_F1501, n->span, "node %%%u (%s): its type or place does not exist", id,
                           op_table[n->op].name);
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        val in = node_inputs(g, n)[i];
        if (in == 0 || in >= v || graph_node(g, in)->phase != n->phase) {
            return verify_fail(k, DIAG_F1501, n->span,
                               "node %%%u (%s): input %%%u is not before it in its phase", id,
                               op_table[n->op].name, (unsigned)in);
        }
    }
    return true;
}

/* What the rules cannot ask while phases are still being made. */
static bool cross_phase_ok(const struct graph *g, const struct node *n)
{
    const int64_t *attr = node_attrs(g, n);
    int phase = op_attr((enum op)n->op, "phase"), metric = op_attr((enum op)n->op, "metric");
    if (phase >= 0 && (attr[phase] < 0 || attr[phase] >= g->phases.n)) {
        return false;
    }
    return metric < 0 || (attr[metric] >= 0 && attr[metric] < g->phases.at[attr[phase]].metrics.n);
}

static void verify_node(struct verify *k, val v)
{
    if (!node_ok(k, v)) {
        return;
    }
    struct graph *g = k->g;
    const struct node *n = graph_node(g, v);
    struct node_spec s = {.op = (enum op)n->op,
                          .phase = n->phase,
                          .in = node_inputs(g, n),
                          .n_in = n->n_in,
                          .attr = node_attrs(g, n),
                          .n_attr = n->n_attr,
                          .dims = node_dims(g, n),
                          .n_dim = n->n_dim,
                          .type = node_type(g, v),
                          .span = n->span,
                          .scope = n->scope};
    struct diag_sink found;
    diag_init(&found, g->arena, NULL);
    struct shape_ctx c = {.g = g, .s = &s, .sink = &found};
    for (uint32_t i = 0; i < n->n_in && i < 4; i++) {
        c.in[i] = node_type(g, s.in[i]);
    }
    if (!shape_spec_ok(&c) || !shape_check(&c)) {
        verify_fail(k, DIAG_F1502, n->span, "node %%%u (%s): %s", (unsigned)v, op_table[n->op].name,
                    found.list.n ? found.list.at[0].message : "breaks its shape rule");
    } else if ((op_table[n->op].flags & OPF_LOAD) && g->phases.at[n->phase].kind != PHASE_INIT &&
               g->phases.at[n->phase].kind != PHASE_DATA) {
        verify_fail(k, DIAG_F1501, n->span, "node %%%u (%s): only initial values and data can have it",
                    (unsigned)v, op_table[n->op].name);
    } else if (!cross_phase_ok(g, n)) {
        verify_fail(k, DIAG_F1501, n->span, "node %%%u (%s): the phase or metric it names does not exist",
                    (unsigned)v, op_table[n->op].name);
    }
}

static void verify_tables(struct verify *k)
{
    uint32_t n_live = 0;
    for (uint32_t i = 0; i < k->g->configs.n; i++) {
        verify_config(k, i, &n_live);
    }
    verify_phases(k);
    for (uint32_t i = 0; i < k->g->checks.n; i++) {
        const struct size_check *c = &k->g->checks.at[i];
        if (c->size == 0 || c->size >= k->g->dims.list.n || !verify_span(k, c->span)) {
            verify_fail(k, DIAG_F1506, c->span, "check %u has no size", (unsigned)i);
        }
    }
    for (uint32_t i = 0; k->status == ST_OK && i < k->g->datas.n; i++) {
        verify_data(k, i);
    }
    for (uint32_t i = 1; i < k->g->vars.n; i++) {
        verify_var(k, i);
    }
    for (uint32_t i = 0; i < k->g->trees.n; i++) {
        verify_tree(k, i);
    }
    for (uint32_t i = 1; i < k->g->loops.n; i++) {
        verify_loop(k, i);
    }
    if (k->status == ST_OK) {
        verify_keys(k);
    }
}

static enum status verify_graph(const struct graph *g, struct diag_sink *sink, bool loaded)
{
    /* Dims are interned and messages built while rules run; nothing that was there changes. */
    struct verify k = {.g = (struct graph *)(uintptr_t)g, .sink = sink, .loaded = loaded};
    if (g->nodes.n == 0 || g->vars.n == 0 || g->scopes.n == 0 || g->loops.n == 0 ||
        g->loops.n > LIMIT_LOOPS + 1 || g->nodes.n - 1 > LIMIT_NODES) {
        verify_fail(&k, DIAG_F1501, NO_SPAN, "the graph has no tables, or more than %d nodes", LIMIT_NODES);
        return k.status;
    }
    verify_tables(&k);
    for (val v = 1; k.status == ST_OK && v < g->nodes.n; v++) {
        verify_node(&k, v);
    }
    if (k.status == ST_OK) {
        verify_loop_ends(&k);
        verify_roots(&k);
        verify_run(&k);
    }
    return k.status;
}

enum status graph_verify(const struct graph *g, struct diag_sink *sink)
{
    return verify_graph(g, sink, false);
}

enum status graph_verify_loaded(const struct graph *g, struct diag_sink *sink)
{
    return verify_graph(g, sink, true);
}
