/* Gradients against central differences, on the host and in f64.
 *
 * The graph keeps its phases but loses their commits, and gets two outputs for each minimize: the loss and
 * the flat gradient. Nothing ticks, so every evaluation is the same launch: same step, rows and draws. A
 * difference runs the launches up to the loss only. Values under a stop_grad are held at what they were (the
 * `copy` nodes of gml_hold_stops), since for the gradient they are constants.
 *
 * A kink is where left and right slope differ at every scale; there the gradient must lie between the two.
 */
#include "runtime/run/check.h"
#include <math.h>
#include "runtime/base/philox.h"
#include "runtime/exec/host.h"
#include "runtime/run/internal.h"

static const double step0 = 0x1p-17; /* near the cube root of the rounding error of f64 */
/* Tried one after another: smaller ones step over kinks nearby, the larger one is for losses so large that
 * rounding hides the difference. */
static const double scales[] = {1, 1.0 / 16, 16, 1.0 / 256};

struct held {
    uint32_t op;
    void *bytes;
    uint64_t n;
};
struct checker {
    struct run *r;
    struct pool *pool;
    const struct plan_variant *v;
    uint32_t n_op; /* launches up to the loss */
    VEC(struct held) held;
    const struct operand *loss;
    const double *gradient; /* flat, a copy: evaluating reuses memory */
};

/* -- the graph */

static void strip(struct graph *g)
{
    for (uint32_t i = 0; i < g->phases.n; i++) {
        struct phase *p = &g->phases.at[i];
        if (p->kind != PHASE_USER || !p->training) {
            continue;
        }
        p->commits.n = p->asserts.n = p->outputs.n = 0;
        p->ok = 0;
        for (uint32_t k = 0; k < p->minimizes.n; k++) {
            const struct minimize *m = &p->minimizes.at[k];
            vec_push(g->arena, &p->outputs, ((struct output){m->name, m->loss, m->span}));
            vec_push(g->arena, &p->outputs, ((struct output){m->name, m->grad, m->span}));
        }
    }
}

/* -- evaluating */

static double *doubles_at(const struct checker *c, uint64_t offset)
{
    return (double *)(void *)(c->r->image + offset);
}

/* Once for what may go wrong, and once more to keep the held values while they are there. */
static enum status all_launches(struct checker *c)
{
    enum status st = run_on_host(c->r, c->v);
    uint32_t done = 0;
    for (uint32_t i = 0, next; st == ST_OK && i < c->v->n_op; i = next, done++) {
        const struct plan_op *op = &c->v->op[i];
        next = host_step(c->r->image, c->v, i, c->pool);
        c->n_op = op->part <= PART_LOSS ? i + 1 : c->n_op;
        if (op->op == OP_copy && graph_node(c->r->graph, op->node)->op == OP_copy) {
            struct held h = {done, NULL,
                             (uint64_t)operand_count(op->k.out) * dtype_size((enum dtype)op->k.out->dtype)};
            h.bytes = arena_alloc(c->r->arena, h.n);
            memcpy(h.bytes, c->r->image + op->k.out->offset, h.n);
            vec_push(c->r->arena, &c->held, h);
        }
    }
    return st;
}

static double loss_now(struct checker *c)
{
    uint32_t held = 0, done = 0;
    for (uint32_t i = 0, next; i < c->n_op; i = next, done++) {
        next = host_step(c->r->image, c->v, i, c->pool);
        if (held < c->held.n && c->held.at[held].op == done) {
            memcpy(c->r->image + c->v->op[i].k.out->offset, c->held.at[held].bytes, c->held.at[held].n);
            held++;
        }
    }
    return *doubles_at(c, c->loss->offset);
}

struct slopes {
    double left, right, center;
};

static struct slopes slopes_at(struct checker *c, double *x, double here, double scale)
{
    double x0 = *x, h = step0 * scale * (fabs(x0) > 1 ? fabs(x0) : 1);
    volatile double up = x0 + h, down = x0 - h; /* volatile: the steps really taken */
    *x = up;
    double above = loss_now(c);
    *x = down;
    double below = loss_now(c);
    *x = x0;
    return (struct slopes){(here - below) / (x0 - down), (above - here) / (up - x0),
                           (above - below) / (up - down)};
}

static bool is_between(double g, const struct slopes *s, double tolerance)
{
    return g >= fmin(s->left, s->right) - tolerance && g <= fmax(s->left, s->right) + tolerance;
}

/* The slopes at the first two scales differ by about as much: no curvature, which would shrink 16 times. */
static bool is_kink(double g, const struct slopes *s, double tolerance)
{
    double gap = fabs(s[0].right - s[0].left), nearer = fabs(s[1].right - s[1].left);
    return nearer > tolerance && nearer > 0.5 * gap && is_between(g, &s[1], tolerance);
}

enum verdict { RIGHT, KINK, WRONG };
static enum verdict check_element(struct checker *c, double *x, double here, struct gradcheck_element *e)
{
    struct slopes s[sizeof scales / sizeof *scales];
    e->tolerance = 1e-6 + 1e-4 * fabs(e->gradient);
    e->error = INFINITY;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        s[i] = slopes_at(c, x, here, scales[i]);
        double error = fabs(e->gradient - s[i].center);
        if (error < e->error || i == 0) {
            e->error = isfinite(error) ? error : INFINITY;
            e->difference = s[i].center;
        }
        if (e->error <= e->tolerance) {
            return RIGHT;
        }
    }
    return is_kink(e->gradient, s, e->tolerance) ? KINK : WRONG;
}

/* -- choosing and collecting */

static void take_element(struct gradcheck_row *row, const struct gradcheck_element *e, enum verdict v)
{
    row->checked++;
    row->kinks += v == KINK;
    row->wrong += v == WRONG;
    double size = fabs(e->gradient) > fabs(e->difference) ? fabs(e->gradient) : fabs(e->difference);
    if (v != KINK && size > 0 && e->error / size > row->max_relative) {
        row->max_relative = e->error / size;
    }
    if (v != KINK &&
        (row->worst.at < 0 || e->error / e->tolerance > row->worst.error / row->worst.tolerance)) {
        row->worst = *e;
    }
}

/* What is not finite is larger than anything. */
static int64_t largest(const double *gradient, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(gradient[i])) {
            return i;
        }
        at = fabs(gradient[i]) > fabs(gradient[at]) ? i : at;
    }
    return at;
}

/* The k-th of `samples` elements: the largest gradient first, then one of each of samples - 1 equal
 * stretches. */
static int64_t sample(const char *key, int64_t k, int64_t samples, int64_t n, int64_t first)
{
    if (k == 0 || samples >= n) {
        return samples >= n ? k : first;
    }
    int64_t from = (k - 1) * n / (samples - 1), to = k * n / (samples - 1);
    return from + (int64_t)(mix64(fnv1a64(key, strlen(key)) + (uint64_t)k) % (uint64_t)(to - from));
}

static void check_leaf(struct checker *c, const struct minimize *m, uint32_t leaf, double here,
                       int64_t samples, struct gradcheck_row *row)
{
    const struct graph *g = c->r->graph;
    const struct tree *t = &g->trees.at[m->tree];
    const struct operand *o = &c->r->plan->var[t->leaf[leaf]].view;
    int64_t n = operand_count(o);
    const double *gradient = c->gradient + c->r->plan->leaf_start[m->tree][leaf];
    double *x = doubles_at(c, o->offset);
    row->parameter = g->vars.at[t->leaf[leaf]].key;
    row->rank = o->rank;
    memcpy(row->dim, o->dim, sizeof row->dim);
    row->worst.at = -1;
    int64_t first = n ? largest(gradient, n) : 0;
    row->max_gradient = n ? fabs(gradient[first]) : 0;
    samples = samples < n ? samples : n;
    for (int64_t k = 0; k < samples; k++) {
        struct gradcheck_element e = {.at = sample(row->parameter, k, samples, n, first)};
        e.gradient = gradient[e.at];
        take_element(row, &e, check_element(c, &x[e.at], here, &e));
    }
}

/* Whether a leaf has no gradient at all: of a minimize over a part of the tree it may be one that stays. */
static bool is_still(const struct checker *c, const struct minimize *m, uint32_t leaf)
{
    const struct tree *t = &c->r->graph->trees.at[m->tree];
    const double *g = c->gradient + c->r->plan->leaf_start[m->tree][leaf];
    int64_t n = operand_count(&c->r->plan->var[t->leaf[leaf]].view);
    for (int64_t i = 0; i < n; i++) {
        if (g[i] != 0) {
            return false;
        }
    }
    return true;
}
static enum status no_loss(struct run *r, const struct phase *p, const struct minimize *m, double x)
{
    int64_t launches = run_control(r)->launches;
    const char *where = launches ? arena_printf(r->arena, "after %lld launches of `run`", (long long)launches)
                                 : "at the start";
    enum status st =
        diag_emit(r->sink, DIAG_N1003, m->span,
                  "the loss `%s` of phase %s is %s %s: it has no gradient to check", m->name, p->name,
                  isnan(x) ? "NaN"
                  : x > 0  ? "infinite"
                           : "-infinite",
                  where);
    diag_help(r->sink,
              "look for log(0), 0 / 0 and inputs that are not finite; what the phase reads of states "
              "must be written by phases that stand before it in `run`");
    return st;
}
/* Gradients of all leaves are copied first: the differences overwrite what the backward part left. */
static enum status check_minimize(struct checker *c, const struct phase *p, uint32_t minimize,
                                  int64_t samples, struct arena *a, struct gradcheck *out)
{
    const struct minimize *m = &p->minimizes.at[minimize];
    c->loss = &c->v->output[2 * minimize];
    TRY(all_launches(c));
    double here = *doubles_at(c, c->loss->offset);
    struct gradcheck_loss loss = {p->name, m->name, here};
    if (!minimize ||
        strcmp(m->name, p->minimizes.at[minimize - 1].name) != 0) { /* parameters of another type */
        vec_push(a, &out->loss, loss);
    }
    if (!isfinite(here)) {
        return no_loss(c->r, p, m, here);
    }
    const struct tree *t = &c->r->graph->trees.at[m->tree];
    uint64_t bytes = c->r->plan->tree_bytes[m->tree];
    double *flat = arena_alloc(c->r->arena, bytes);
    memcpy(flat, c->r->image + c->v->output[2 * minimize + 1].offset, bytes);
    c->gradient = flat;
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        struct gradcheck_row row = {.phase = p->name, .loss = m->name};
        if (m->partial && is_still(c, m, i)) {
            continue;
        }
        check_leaf(c, m, i, here, samples, &row);
        out->checked += row.checked;
        out->kinks += row.kinks;
        out->wrong += row.wrong;
        vec_push(a, &out->row, row);
    }
    return ST_OK;
}

static enum status check_phase(struct run *r, uint32_t phase, int64_t samples, struct arena *a,
                               struct gradcheck *out)
{
    const struct phase *p = &r->graph->phases.at[phase];
    struct checker c = {.r = r, .v = plan_find(r->plan, phase, false)};
    if (!c.v) {
        return diag_emit(r->sink, DIAG_I0001, p->span, "phase `%s` was not planned", p->name);
    }
    c.pool = pool_new(r->threads);
    enum status st = ST_OK;
    for (uint32_t k = 0; k < p->minimizes.n && st == ST_OK; k++) {
        c.held.n = 0;
        st = check_minimize(&c, p, k, samples, a, out);
    }
    pool_free(c.pool);
    return st;
}

/* -- where a phase is checked */

/* As it is when the run block comes to it; of others at the start. */
struct search {
    struct run *r; /* the graph without commits, on the host */
    bool *left;    /* by phase: it is to be checked */
    int64_t samples;
    struct arena *arena;
    struct gradcheck *out;
};

static enum status check_at(struct search *s, uint32_t phase)
{
    s->left[phase] = false;
    return check_phase(s->r, phase, s->samples, s->arena, s->out);
}

static bool any_left(const struct search *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->r->graph->phases.n; i++) {
        any |= s->left[i];
    }
    return any;
}

/* Variables, counters and cursors of a run of the same text. */
static enum status take_state(struct run *r, struct run *from)
{
    TRY(settle(from));
    TRY(download(from, 0, from->plan->persistent));
    for (uint32_t i = 1; i < r->graph->vars.n; i++) {
        const struct operand *to = &r->plan->var[i].view, *at = &from->plan->var[i].view;
        memcpy(r->image + to->offset, from->image + at->offset,
               (uint64_t)operand_count(to) * dtype_size((enum dtype)to->dtype));
    }
    *run_control(r) = *run_control(from);
    return ST_OK;
}

static enum status arrives(struct run *whole, uint32_t phase)
{
    struct search *s = whole->watch->ctx;
    if (s->left[phase]) {
        TRY(take_state(s->r, whole));
        TRY(check_at(s, phase));
    }
    whole->ended |= !any_left(s);
    return ST_OK;
}

static enum status search_run(struct search *s, struct graph *g, const struct run_options *o)
{
    struct run_options here = *o;
    struct run *whole;
    here.device = "cpu";
    TRY(run_open(g, &here, s->r->sink, &whole));
    enum status st = walk_run(whole, arrives, s);
    for (uint32_t i = 0; i < g->phases.n && st == ST_OK; i++) { /* `run` is longer than the walk */
        st = s->left[i] ? take_state(s->r, whole) : ST_OK;
        st = s->left[i] && st == ST_OK ? check_at(s, i) : st;
    }
    run_close(whole);
    return st;
}

static enum status search(struct search *s, struct graph *whole, const struct run_options *o)
{
    const struct graph *g = s->r->graph;
    int named = o->phase ? user_phase(g, o->phase) : -1;
    if (o->phase && (named < 0 || !g->phases.at[named].training)) {
        return no_phase(g, s->r->sink, o->phase, "with a `minimize`");
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        s->left[i] = g->phases.at[i].minimizes.n && (named < 0 || named == (int)i);
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        bool waits = whole && is_in_run(g, i);
        TRY(s->left[i] && !waits ? check_at(s, i) : ST_OK);
    }
    return any_left(s) ? search_run(s, whole, o) : ST_OK;
}

enum status run_gradcheck(struct graph *g, struct graph *whole, const struct run_options *o, int64_t samples,
                          struct arena *a, struct diag_sink *sink, struct gradcheck *out)
{
    struct run *r;
    *out = (struct gradcheck){.checked = 0};
    strip(g);
    TRY(run_open_host(g, o, sink, &r));
    struct search s = {r, arena_array(r->arena, bool, g->phases.n), samples, a, out};
    enum status st = search(&s, whole, o);
    if (st == ST_OK && !out->loss.n) {
        st = diag_emit(sink, DIAG_U1002, NO_SPAN,
                       "the model has no `minimize`: there is no gradient to check");
    }
    run_close(r);
    return st;
}
