/* The same steps on two devices or precisions, one after the other, and how far they are apart.
 *
 * Side a leaves a record: losses by step, the outputs of every launch of the first tick of each variant, the
 * parameters at the end. Side b starts from a's weights and states and is held against the record while it
 * runs. Draws are the same bits everywhere, so what differs is arithmetic.
 */
#include "runtime/run/check.h"
#include <math.h>
#include "runtime/run/internal.h"

struct value {
    enum dtype dtype;
    int64_t n;
    void *bytes;
};
struct recorded_loss {
    uint32_t phase, metric;
    int64_t step;
    double value;
};
struct record {
    struct arena *arena;
    struct value *start, *end; /* by variable */
    struct value **first;      /* by variant, by node; NULL before its first launch */
    VEC(struct recorded_loss) loss;
    const char *name;
};
struct side {
    struct record *record; /* to fill */
    const struct record *other;
    double tolerance;
    struct compare *out; /* side b */
};

/* -- distances */

static void add_error(struct distance *d, double a, double b, double *sum, double *scale)
{
    bool same = a == b || (isnan(a) && isnan(b));
    double error = same ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
    d->differ += !same;
    d->max_error = error > d->max_error ? error : d->max_error;
    *sum += error * error;
    *scale += isfinite(b) ? b * b : 0;
}

static struct distance distance_of(const struct value *a, const struct value *b)
{
    struct distance d = {.n = a->n};
    double sum = 0, scale = 0;
    for (int64_t i = 0; i < a->n; i++) {
        add_error(&d, number_at(a->bytes, a->dtype, i), number_at(b->bytes, b->dtype, i), &sum, &scale);
    }
    d.relative = !dtype_is_float(b->dtype) ? (d.n ? (double)d.differ / (double)d.n : 0)
                 : sum > 0                 ? sqrt(sum / (scale > 0 ? scale : 1e-300))
                                           : 0;
    return d;
}

static double size_of(const struct value *v)
{
    double sum = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double x = number_at(v->bytes, v->dtype, i);
        sum += isfinite(x) ? x * x : 0;
    }
    return v->n ? sqrt(sum / (double)v->n) : 0;
}

static struct value value_from(struct arena *a, const char *image, const struct operand *o)
{
    struct value v = {(enum dtype)o->dtype, operand_count(o), NULL};
    uint64_t bytes = (uint64_t)v.n * dtype_size(v.dtype);
    v.bytes = arena_alloc(a, bytes);
    memcpy(v.bytes, image + o->offset, bytes);
    return v;
}

/* -- values of the first launch */

static bool is_value(const struct graph *g, const struct plan_op *op)
{
    return op->k.n_out == 1 && (op->op != OP_copy || graph_node(g, op->node)->op == OP_copy) &&
           graph_node(g, op->node)->op == op->op;
}

/* Magnitude of what node n is made of: results far below it are what cancellation left. */
static double input_size(const struct graph *g, uint32_t node, const struct value *values)
{
    const struct node *n = graph_node(g, node);
    double most = 0;
    for (uint32_t i = 0; i < n->n_in; i++) {
        const struct value *v = &values[node_inputs(g, n)[i]];
        double size = v->bytes && dtype_is_float(v->dtype) ? size_of(v) : 0;
        most = size > most ? size : most;
    }
    return most;
}

static bool is_beyond(const struct graph *g, uint32_t node, const struct distance *d,
                      const struct value *values, double tolerance)
{
    if (!dtype_is_float(values[node].dtype)) {
        return d->relative > 0.01;
    }
    if (d->relative <= tolerance) {
        return false;
    }
    double error = d->relative * size_of(&values[node]);
    return !isfinite(error) || error > tolerance * 1e-4 * input_size(g, node, values);
}

static const char *place_of(struct arena *a, const struct graph *g, struct span s)
{
    uint32_t line, column;
    if (!s.file || s.file >= g->sources.list.n) {
        return "";
    }
    source_line_column(&g->sources.list.at[s.file], s.start, &line, &column);
    return arena_printf(a, "%s:%u", g->sources.list.at[s.file].path, line);
}

static void note_value(const struct side *s, const struct run *r, const struct plan_variant *v, uint32_t node,
                       const struct value *values, const struct value *theirs)
{
    const struct graph *g = r->graph;
    const struct node *n = graph_node(g, node);
    struct compare_value x = {v->phase,
                              node,
                              op_table[n->op].name,
                              g->scopes.at[n->scope],
                              place_of(s->record->arena, g, n->span),
                              distance_of(theirs, &values[node])};
    s->out->values++;
    if (!s->out->first.node && is_beyond(g, node, &x.d, values, s->tolerance)) {
        s->out->first = x;
    }
    if (dtype_is_float(values[node].dtype) &&
        (!s->out->worst.node || x.d.relative > s->out->worst.d.relative)) {
        s->out->worst = x;
    }
}

static enum status keep_first(struct run *r, const struct plan_variant *v)
{
    const struct side *s = r->watch->ctx;
    struct record *k = s->record;
    uint32_t index = (uint32_t)(v - r->plan->variant);
    if (k->first[index]) {
        return ST_OK;
    }
    TRY(settle(r));
    TRY(download(r, 0, r->plan->device_bytes));
    struct value *values = arena_array(k->arena, struct value, r->graph->nodes.n);
    k->first[index] = values;
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct plan_op *op = &v->op[i];
        if (is_value(r->graph, op)) {
            values[op->node] = value_from(k->arena, r->image, op->k.out);
        }
    }
    const struct value *theirs = s->other ? s->other->first[index] : NULL;
    for (uint32_t i = 0; i < v->n_op && theirs; i++) {
        uint32_t node = v->op[i].node;
        if (is_value(r->graph, &v->op[i]) && theirs[node].bytes && theirs[node].n == values[node].n) {
            note_value(s, r, v, node, values, &theirs[node]);
        }
    }
    return ST_OK;
}

/* -- losses */

static void keep_losses(struct run *r, uint32_t phase, const struct ring_slot *slot)
{
    const struct side *s = r->watch->ctx;
    const struct phase *p = &r->graph->phases.at[phase];
    for (uint32_t k = 0; k < p->minimizes.n; k++) {
        for (uint32_t m = 0; m < p->metrics.n && m < RING_METRICS; m++) {
            if (strcmp(p->metrics.at[m].name, p->minimizes.at[k].name) == 0) {
                struct recorded_loss l = {phase, m, slot->step, slot->now[m]};
                vec_push(s->record->arena, &s->record->loss, l);
            }
        }
    }
}

static struct compare_loss loss_of(const struct run *r, const struct side *s, const struct recorded_loss *x,
                                   const struct recorded_loss *y)
{
    const struct recorded_loss *any = x ? x : y;
    const char *name = arena_printf(s->record->arena, "%s", r->phase[any->phase].metric[any->metric]);
    struct compare_loss l = {.name = name, .step = any->step};
    l.a = x ? x->value : NAN;
    l.b = y ? y->value : NAN;
    l.missing = !x || !y || x->phase != y->phase || x->step != y->step || x->metric != y->metric;
    double most = fmax(fabs(l.a), fabs(l.b)), error = fabs(l.a - l.b);
    bool equal = l.a == l.b || (isnan(l.a) && isnan(l.b));
    l.relative = equal ? 0 : isfinite(error) && most > 0 ? error / most : INFINITY;
    l.same = !l.missing && l.relative <= s->tolerance;
    return l;
}

static void compare_losses(const struct run *r, const struct side *s)
{
    const struct record *a = s->other, *b = s->record;
    uint32_t n = a->loss.n > b->loss.n ? a->loss.n : b->loss.n;
    s->out->same = true;
    for (uint32_t i = 0; i < n; i++) {
        struct compare_loss l =
            loss_of(r, s, i < a->loss.n ? &a->loss.at[i] : NULL, i < b->loss.n ? &b->loss.at[i] : NULL);
        s->out->max_relative = fmax(s->out->max_relative, l.relative);
        s->out->same &= l.same;
        vec_push(s->record->arena, &s->out->loss, l);
    }
}

/* -- a side */

static struct value *variables(struct run *r, struct record *k)
{
    const struct graph *g = r->graph;
    struct value *v = arena_array(k->arena, struct value, g->vars.n);
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (g->vars.at[i].kind != VAR_DATA) {
            v[i] = value_from(k->arena, r->image, &r->plan->var[i].view);
        }
    }
    return v;
}

/* Weights and states of the other side, rounded where this one is narrower. */
static enum status start_from(struct run *r, const struct record *k)
{
    for (uint32_t i = 1; i < r->graph->vars.n; i++) {
        const struct value *from = &k->start[i];
        const struct operand *o = &r->plan->var[i].view;
        for (int64_t j = 0; from->bytes && j < from->n && j < operand_count(o); j++) {
            number_put(r->image + o->offset, (enum dtype)o->dtype, j, number_at(from->bytes, from->dtype, j));
        }
    }
    return upload(r);
}

/* The phase named, the run block, or else the first phase that trains. */
static enum status take_steps(struct run *r)
{
    int phase = r->o->phase ? user_phase(r->graph, r->o->phase) : -1;
    if (r->o->phase && phase < 0) {
        return no_phase(r->graph, r->sink, r->o->phase, "to run");
    }
    for (uint32_t i = 0; i < r->graph->phases.n && phase < 0 && !r->graph->run.n; i++) {
        phase = r->graph->phases.at[i].training ? (int)i : -1;
    }
    if (phase < 0 && !r->graph->run.n) {
        return no_phase(r->graph, r->sink, "train", "and no run block");
    }
    TRY(phase < 0 ? block_run(r) : visit(r, (uint32_t)phase, r->limit, EVENT_STEP));
    return settle(r);
}

static enum status run_side(struct run *r, struct side *s)
{
    const struct run_watch watch = {.launched = keep_first, .slot = keep_losses, .ctx = s};
    struct record *k = s->record;
    k->first = arena_array(k->arena, struct value *, r->plan->n_variant);
    k->start = variables(r, k);
    TRY(s->other ? start_from(r, s->other) : ST_OK);
    r->watch = &watch;
    enum status st = take_steps(r);
    r->watch = NULL;
    TRY(st);
    if (r->stopped) {
        return ST_STOPPED;
    }
    TRY(download(r, 0, r->plan->persistent));
    k->end = variables(r, k);
    return ST_OK;
}

static void compare_parameters(const struct graph *g, const struct side *s)
{
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (g->vars.at[i].kind == VAR_PARAM) {
            struct compare_parameter p = {g->vars.at[i].key,
                                          distance_of(&s->other->end[i], &s->record->end[i])};
            vec_push(s->record->arena, &s->out->parameter, p);
        }
    }
}

static enum status open_and_run(struct compare_side *c, struct side *s, struct diag_sink *sink)
{
    struct run *r;
    c->options.keep_values = true;
    TRY(run_open(c->graph, &c->options, sink, &r));
    enum status st = run_side(r, s);
    s->record->name = arena_printf(s->record->arena, "%s", r->device_name);
    if (st == ST_OK && s->other) {
        compare_losses(r, s);
        compare_parameters(c->graph, s);
    }
    run_close(r);
    return st;
}

enum status run_compare(struct compare_side *a, struct compare_side *b, double tolerance, struct arena *arena,
                        struct diag_sink *sink, struct compare *out)
{
    *out = (struct compare){.values = 0};
    struct record one = {.arena = arena}, two = {.arena = arena};
    struct side first = {.record = &one}, second = {&two, &one, tolerance, out};
    TRY(open_and_run(a, &first, sink));
    TRY(open_and_run(b, &second, sink));
    out->a = one.name;
    out->b = two.name;
    return ST_OK;
}
