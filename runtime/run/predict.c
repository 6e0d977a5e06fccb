/* Prediction: one pass of a phase, its outputs collected on the host, every row once and in the order of the
 * file. */
#include "runtime/run/internal.h"

struct collector {
    struct run *r;
    struct arena *arena;
    uint32_t phase;
    uint32_t n;
    struct text *bytes; /* by output */
    int64_t *per_row;   /* rows of the output for each of the data; 0: none, the same in every launch */
    int64_t rows, launches;
};

/* The named phase, else `predict`, else the only one that has outputs and does not train. */
static enum status choose_phase(const struct graph *g, const char *name, struct diag_sink *sink,
                                uint32_t *out)
{
    int found = name ? user_phase(g, name) : user_phase(g, "predict"), candidates = 0;
    for (uint32_t i = 0; i < g->phases.n && !name && found < 0; i++) {
        const struct phase *p = &g->phases.at[i];
        if (p->kind == PHASE_USER && p->outputs.n && !p->training) {
            *out = i;
            candidates++;
        }
    }
    if (found < 0 && candidates == 1) {
        return ST_OK;
    }
    if (found < 0) {
        return no_phase(g, sink, name ? name : "predict", "to predict with");
    }
    const struct phase *p = &g->phases.at[found];
    *out = (uint32_t)found;
    if (p->training) {
        return diag_emit(sink, DIAG_U1002, p->span, "phase `%s` trains; predict never changes weights",
                         p->name);
    }
    if (!p->outputs.n) {
        enum status st = diag_emit(sink, DIAG_U1002, p->span, "phase `%s` has no `output`", p->name);
        diag_help(sink, "write `output probs = softmax(logits)` in it, or name another phase");
        return st;
    }
    return ST_OK;
}

static enum status check_name(const struct phase *p, const char *name, struct diag_sink *sink)
{
    const char **names = arena_array(sink->arena, const char *, p->outputs.n);
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        names[i] = p->outputs.at[i].name;
        if (strcmp(names[i], name) == 0) {
            return ST_OK;
        }
    }
    enum status st =
        diag_emit(sink, DIAG_U1002, p->span, "--output: phase `%s` has no output `%s`", p->name, name);
    const char *close = closest_name(name, names, p->outputs.n);
    if (close) {
        diag_help(sink, "did you mean `%s`?", close);
    }
    return st;
}

/* Leaves the outputs that were asked for, in the order of the phase. */
static enum status choose_outputs(struct phase *p, const char *const *name, uint32_t n,
                                  struct diag_sink *sink)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        TRY(check_name(p, name[i], sink));
    }
    for (uint32_t i = 0; i < p->outputs.n && n; i++) {
        for (uint32_t k = 0; k < n; k++) {
            if (strcmp(p->outputs.at[i].name, name[k]) == 0) {
                p->outputs.at[kept++] = p->outputs.at[i];
                break;
            }
        }
    }
    p->outputs.n = n ? kept : p->outputs.n;
    return ST_OK;
}

static void keep_order(struct graph *g, uint32_t phase)
{
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct node *n = graph_node(g, i);
        bool own = n->op == OP_rows && node_attrs(g, n)[0] == (int64_t)phase;
        if (own && node_attrs(g, n)[1] == ROWS_SHUFFLED) {
            g->attrs.at[n->attr + 1] = ROWS_IN_ORDER;
        }
    }
}

/* A file given for this run is new data: all of it is predicted, whatever splits the model makes of its own;
 * unless it is the model's own. */
static void forget_split(struct graph *g, const struct run_options *o, uint32_t phase)
{
    struct phase *p = &g->phases.at[phase];
    for (uint32_t i = 0; i < o->n_data && p->data; i++) {
        struct data *d = &g->datas.at[p->data - 1];
        if (strcmp(o->data[i].name, d->name) == 0 &&
            !(d->path && file_same(o->data[i].file, path_in(g->arena, o->folder, d->path)))) {
            d->split = SPLIT_NONE;
            p->split = NULL;
        }
    }
}

static enum status no_rows(struct collector *c, uint32_t i)
{
    const struct graph *g = c->r->graph;
    const struct phase *p = &g->phases.at[c->phase];
    struct type t = node_type(g, p->outputs.at[i].value);
    enum status st =
        diag_emit(c->r->sink, DIAG_E3109, p->outputs.at[i].span,
                  "output `%s` of phase `%s`, %s, has no row axis and differs from launch to launch",
                  p->outputs.at[i].name, p->name, type_text(g, &t));
    int64_t lanes;
    if (p->data && dim_is_const(&g->dims, p->b, &lanes)) {
        diag_help(c->r->sink,
                  "with `lanes` the rows of a launch are the number %lld: an output is joined over the "
                  "launches where "
                  "its first axis is just that, so leave other axes behind it; a metric is averaged",
                  (long long)lanes);
    } else {
        diag_help(c->r->sink,
                  "an output whose first axis is the batch is joined over the launches; a metric is "
                  "averaged");
    }
    return st;
}

static enum status collect(struct run *r, const struct plan_variant *v)
{
    struct collector *c = r->watch->ctx;
    TRY(settle(r));
    for (uint32_t i = 0; i < c->n; i++) {
        const struct operand *o = &v->output[i];
        uint64_t bytes = (uint64_t)operand_count(o) * dtype_size((enum dtype)o->dtype);
        TRY(download(r, o->offset, bytes));
        if (c->per_row[i] || !c->launches) {
            text_append(&c->bytes[i], r->image + o->offset, bytes);
        } else if (memcmp(c->bytes[i].at, r->image + o->offset, bytes) != 0) {
            return no_rows(c, i);
        }
    }
    c->rows += v->rows;
    c->launches++;
    return ST_OK;
}

static enum file_type file_type_of(enum dtype t)
{
    return t == DT_F64    ? FT_F64
           : t == DT_BF16 ? FT_BF16
           : t == DT_I32  ? FT_I32
           : t == DT_BOOL ? FT_BOOL
                          : FT_F32;
}

/* Launch k has row k of each lane; in the order of the file the lanes stand one behind the other. */
static const void *lane_after_lane(struct arena *a, const struct text *rows, int64_t lanes, int64_t launches)
{
    char *out = arena_alloc(a, rows->n + 1);
    size_t item = rows->n / (size_t)(lanes * launches);
    for (int64_t k = 0; k < launches; k++) {
        for (int64_t j = 0; j < lanes; j++) {
            memcpy(out + (size_t)(j * launches + k) * item, rows->at + (size_t)(k * lanes + j) * item, item);
        }
    }
    return out;
}

static void make_arrays(const struct collector *c, struct array_file *out)
{
    const struct phase *p = &c->r->graph->phases.at[c->phase];
    const struct plan_variant *v = plan_find(c->r->plan, c->phase, false);
    *out = (struct array_file){arena_array(c->arena, struct array, c->n), c->n};
    for (uint32_t i = 0; i < c->n; i++) {
        const struct operand *o = &v->output[i];
        struct array *x = &out->at[i];
        *x = (struct array){.name = p->outputs.at[i].name,
                            .type = file_type_of((enum dtype)o->dtype),
                            .item_bytes = (uint32_t)dtype_size((enum dtype)o->dtype),
                            .rank = o->rank,
                            .bytes = c->bytes[i].at ? c->bytes[i].at : "",
                            .n_bytes = c->bytes[i].n};
        memcpy(x->dim, o->dim, sizeof x->dim);
        if (c->per_row[i]) {
            x->dim[0] = c->rows * c->per_row[i];
        }
        if (c->per_row[i] && p->lanes && c->bytes[i].n) {
            x->bytes = lane_after_lane(c->arena, &c->bytes[i], v->rows, c->launches);
        }
    }
}

/* The first axis of an output is the batch, or a whole multiple of it: rows of one sample stand together, as
 * after flatten(x, 0, 1). With lanes the batch is a number, of which others are multiples by accident: there
 * it has to be that number. */
static int64_t rows_of_each(const struct run *r, const struct phase *p, const struct node *n)
{
    struct graph *g = r->graph;
    int64_t times = 0, b;
    dim first = p->data && n->rank > 0 ? node_shape(g, n)[0] : 0;
    if (!first || first == p->b || dim_is_const(&g->dims, p->b, &b)) {
        return first && first == p->b;
    }
    dim d = dim_div(&g->dims, first, p->b);
    return d && dim_eval(&g->dims, &r->plan->binding, d, &times) ? times : 0;
}

static enum status predict(struct run *r, uint32_t phase, struct arena *a, struct array_file *out)
{
    const struct phase *p = &r->graph->phases.at[phase];
    struct collector c = {.r = r, .arena = a, .phase = phase, .n = p->outputs.n};
    c.bytes = arena_array(a, struct text, c.n);
    c.per_row = arena_array(a, int64_t, c.n);
    for (uint32_t i = 0; i < c.n; i++) {
        c.bytes[i].arena = a;
        c.per_row[i] = rows_of_each(r, p, graph_node(r->graph, p->outputs.at[i].value));
    }
    const struct run_watch watch = {.launched = collect, .ctx = &c};
    r->watch = &watch;
    enum status st = pass(r, phase);
    r->watch = NULL;
    TRY(st);
    if (r->stopped) {
        return ST_STOPPED;
    }
    make_arrays(&c, out);
    return ST_OK;
}

enum status run_predict(struct graph *g, const struct run_options *o, const char *const *output,
                        uint32_t n_output, struct arena *a, struct diag_sink *sink, struct array_file *out)
{
    uint32_t phase = 0;
    struct run *r;
    *out = (struct array_file){NULL, 0};
    TRY(choose_phase(g, o->phase, sink, &phase));
    struct phase *p = &g->phases.at[phase];
    TRY(choose_outputs(p, output, n_output, sink));
    keep_order(g, phase);
    p->metrics.n = 0;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        g->phases.at[i].metric_of = 0; /* nor those that are made of them */
    }
    forget_split(g, o, phase);
    graph_focus(g, phase);
    TRY(run_open(g, o, sink, &r));
    enum status st = predict(r, phase, a, out);
    run_close(r);
    return st;
}
