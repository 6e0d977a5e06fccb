/* The verifier's part for phases and the run block. */
#include "runtime/graph/verify.h"

static bool bad(struct verify *k, const struct phase *p, struct span at, const char *what, const char *name)
{
    return verify_fail(k, DIAG_F1504, at, "phase \"%s\": %s \"%s\" is inconsistent", p->name, what,
                       name ? name : "");
}

static bool phase_data_ok(const struct verify *k, const struct phase *p)
{
    const struct graph *g = k->g;
    bool ok = p->data <= g->datas.n && p->batch < g->dims.list.n && p->b < g->dims.list.n;
    return ok && (p->data == 0 || (p->batch > 0 && p->b > 0));
}

static bool metric_of_ok(const struct graph *g, const struct phase *p)
{
    return !p->metric_of || (p->kind == PHASE_RUN && p->metric_of < g->phases.n && p->outputs.n <= 1 &&
                             g->phases.at[p->metric_of].kind == PHASE_USER);
}
void verify_phases(struct verify *k)
{
    const struct graph *g = k->g;
    uint32_t n_metrics = 0;
    if (g->phases.n == 0 || g->phases.n > LIMIT_PHASES || g->phases.at[0].kind != PHASE_INIT) {
        verify_fail(k, DIAG_F1504, NO_SPAN, "the graph needs 1 to %d phases, the first one \"init\"",
                    LIMIT_PHASES);
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *p = &g->phases.at[i];
        bool ok = p->name && p->kind <= PHASE_RUN && (p->kind == PHASE_INIT) == (i == 0) &&
                  verify_span(k, p->span) && phase_data_ok(k, p) && metric_of_ok(g, p);
        n_metrics += p->metrics.n;
        if (!ok || n_metrics > LIMIT_METRICS) {
            verify_fail(k, DIAG_F1504, p->span, "phase %u \"%s\" is inconsistent", (unsigned)i,
                        p->name ? p->name : "");
        } else if (graph_find_phase(g, p->name) != (int)i) {
            verify_fail(k, DIAG_F1504, p->span, "two phases are named \"%s\"", p->name);
        }
        if (!p->name) {
            return; /* names are compared above */
        }
    }
}

/* Whether v is a value of the phase with one element (for each replica): bool, or a float. */
static bool is_bool(const struct verify *k, val v, uint32_t phase)
{
    struct type t = verify_node_of(k, v, phase) ? node_type(k->g, v) : (struct type){.rank = LIMIT_RANK};
    return type_is_single(k->g, &t) && t.dtype == DT_BOOL;
}

static bool is_float(const struct verify *k, val v, uint32_t phase)
{
    struct type t = verify_node_of(k, v, phase) ? node_type(k->g, v) : (struct type){.rank = LIMIT_RANK};
    return type_is_single(k->g, &t) && dtype_is_float(t.dtype);
}

/* `seen` by variable, then by tree: the last phase that committed it, + 1. */
static bool commit_ok(const struct verify *k, const struct commit *c, uint32_t phase, uint32_t *seen)
{
    const struct graph *g = k->g;
    if ((c->var == 0) == (c->tree == 0) || c->var >= g->vars.n || c->tree > g->trees.n ||
        !verify_node_of(k, c->value, phase) || (c->guard && !is_bool(k, c->guard, phase)) ||
        !verify_span(k, c->span)) {
        return false;
    }
    uint32_t *last = &seen[c->tree ? g->vars.n + c->tree - 1 : c->var];
    bool twice = *last == phase + 1;
    *last = phase + 1;
    struct type t = node_type(g, c->value);
    return !twice && (c->tree ? type_is_flat(g, &t, c->tree - 1) && dtype_is_float(t.dtype)
                              : type_equal(&t, &g->vars.at[c->var].type));
}

static const char *commit_name(const struct verify *k, const struct commit *c)
{
    return c->var && c->var < k->g->vars.n       ? k->g->vars.at[c->var].key
           : c->tree && c->tree <= k->g->trees.n ? k->g->trees.at[c->tree - 1].name
                                                 : "?";
}

static bool minimize_ok(const struct verify *k, const struct minimize *m, uint32_t phase)
{
    if (!m->name || !is_float(k, m->loss, phase) || !verify_node_of(k, m->grad, phase) ||
        m->tree >= k->g->trees.n || (m->when && !is_bool(k, m->when, phase)) || !verify_span(k, m->span)) {
        return false;
    }
    struct type t = node_type(k->g, m->grad);
    return type_is_flat(k->g, &t, m->tree);
}

static void verify_outputs(struct verify *k, const struct phase *p, uint32_t phase)
{
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        const struct output *o = &p->outputs.at[i];
        if (!o->name || !verify_node_of(k, o->value, phase) || !verify_span(k, o->span)) {
            bad(k, p, o->span, "output", o->name);
        }
    }
    for (uint32_t i = 0; i < p->asserts.n; i++) {
        const struct output *o = &p->asserts.at[i];
        if (!o->name || !is_bool(k, o->value, phase) || !verify_span(k, o->span)) {
            bad(k, p, o->span, "assert", o->name);
        }
    }
}

void verify_roots(struct verify *k)
{
    uint32_t *seen = arena_array(k->g->arena, uint32_t, (size_t)k->g->vars.n + k->g->trees.n);
    for (uint32_t phase = 0; phase < k->g->phases.n; phase++) {
        const struct phase *p = &k->g->phases.at[phase];
        for (uint32_t i = 0; i < p->commits.n; i++) {
            if (!commit_ok(k, &p->commits.at[i], phase, seen)) {
                bad(k, p, p->commits.at[i].span, "the commit of", commit_name(k, &p->commits.at[i]));
            }
        }
        for (uint32_t i = 0; i < p->metrics.n; i++) {
            const struct metric *m = &p->metrics.at[i];
            if (!m->name || m->mode > METRIC_MAX || !is_float(k, m->value, phase) ||
                !verify_span(k, m->span)) {
                bad(k, p, m->span, "metric", m->name);
            }
        }
        verify_outputs(k, p, phase);
        for (uint32_t i = 0; i < p->minimizes.n; i++) {
            if (!minimize_ok(k, &p->minimizes.at[i], phase)) {
                bad(k, p, p->minimizes.at[i].span, "minimize", p->minimizes.at[i].name);
            }
        }
        if (p->ok && !is_bool(k, p->ok, phase)) {
            bad(k, p, p->span, "the guard of", p->name);
        }
    }
}

static bool needs_count(const struct run_stmt *s)
{
    return s->kind == RUN_REPEAT || s->kind == RUN_EVERY ||
           (s->kind == RUN_GO && s->unit != UNIT_LAUNCH && s->unit != UNIT_PHASE);
}

static bool statement_ok(const struct verify *k, const struct run_stmt *s)
{
    const struct graph *g = k->g;
    bool expr = s->expr == 0 || (s->expr < g->phases.n && g->phases.at[s->expr].kind == PHASE_RUN &&
                                 g->phases.at[s->expr].outputs.n == 1);
    return s->kind <= RUN_STOP && s->unit <= UNIT_PHASE && expr && s->phase < g->phases.n &&
           s->count < g->dims.list.n && (!needs_count(s) || s->count > 0) &&
           (s->kind != RUN_STOP || s->expr > 0) && verify_span(k, s->span);
}

/* The run block is walked by recursion. What is reachable is a tree, so the queue never overflows. */
static void verify_depth(struct verify *k)
{
    const struct graph *g = k->g;
    uint32_t *queue = arena_array(g->arena, uint32_t, (size_t)g->run.n + 1);
    uint32_t *depth = arena_array(g->arena, uint32_t, (size_t)g->run.n + 1);
    uint32_t n = g->run.n > 0; /* the first statement, 0, waits in the queue */
    for (uint32_t i = 0; i < n; i++) {
        const struct run_stmt *s = &g->run.at[queue[i]];
        if (s->n_child && depth[queue[i]] >= LIMIT_NESTING) {
            verify_fail(k, DIAG_F1505, s->span, "run statements are nested deeper than %d", LIMIT_NESTING);
            return;
        }
        for (uint32_t c = 0; c < s->n_child; c++) {
            depth[s->child[c]] = depth[queue[i]] + 1;
            queue[n++] = s->child[c];
        }
    }
}

/* Every statement but the first is the child of exactly one other, and the first of none: what is reachable
 * is a tree. */
void verify_run(struct verify *k)
{
    const struct graph *g = k->g;
    uint8_t *parents = arena_array(g->arena, uint8_t, (size_t)g->run.n + 1);
    for (uint32_t i = 0; i < g->run.n; i++) {
        const struct run_stmt *s = &g->run.at[i];
        bool ok = statement_ok(k, s) && (i > 0 || s->kind == RUN_BLOCK);
        for (uint32_t c = 0; ok && c < s->n_child; c++) {
            ok = s->child[c] > 0 && s->child[c] < g->run.n && s->child[c] != i && parents[s->child[c]]++ == 0;
        }
        if (!ok) {
            verify_fail(k, DIAG_F1505, s->span, "run statement %u is inconsistent", (unsigned)i);
            return;
        }
    }
    for (uint32_t i = 1; i < g->run.n; i++) {
        if (!parents[i]) {
            verify_fail(k, DIAG_F1505, g->run.at[i].span, "run statement %u belongs to no block",
                        (unsigned)i);
        }
    }
    verify_depth(k);
}
