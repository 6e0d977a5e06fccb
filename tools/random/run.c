/* Graph to numbers: passes, plan, launches on a backend, and everything that shows afterwards. */
#include <math.h>
#include <stdio.h>
#include "compiler/passes.h"
#include "runtime/base/philox.h"
#include "tools/random/random.h"

enum { ROWS = 13, ROW0 = 2 }; /* of the data set, and where the split of the phase starts */

static const char *first_error(const struct diag_sink *s, const char *what, struct arena *a)
{
    return arena_printf(a, "%s: %s", what, s->list.n ? s->list.at[s->list.n - 1].message : "no message");
}
struct graph *random_passes(struct graph *g, int without, struct arena *a, const char **why)
{
    struct diag_sink sink;
    diag_init(&sink, a, NULL);
    for (uint32_t i = 0; i < n_passes; i++) {
        const struct pass_info *p = &pass_table[i];
        if (!p->meaning && (without >> i & 1)) {
            continue;
        }
        if (!p->run(g, &sink, &g) || graph_verify(g, &sink) != ST_OK) {
            *why = first_error(&sink, p->name, a);
            return NULL;
        }
    }
    return g;
}

/* -- one run */

struct running {
    const struct graph *g;
    struct plan *p;
    char *image;
    const struct backend *b;
    struct exec *e;
    struct arena *a;
    struct random_outcome *out;
    uint64_t launches;
};
static char *aligned(struct arena *a, uint64_t bytes)
{
    char *at = arena_alloc(a, bytes + PLAN_ALIGN);
    return at + (PLAN_ALIGN - (uintptr_t)at % PLAN_ALIGN) % PLAN_ALIGN;
}
struct plan *random_plan(const struct graph *g, const struct target *t, bool no_reuse, struct arena *a,
                         const char **why)
{
    static const int64_t rows[] = {ROWS, ROWS, ROWS, ROWS};
    int64_t(*split)[2] = arena_alloc(a, (g->phases.n + 1) * sizeof *split);
    struct diag_sink sink;
    struct plan *p = NULL;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        split[i][0] = ROW0;
        split[i][1] = ROWS - ROW0;
    }
    diag_init(&sink, a, NULL);
    struct plan_options o = {.data_rows = rows,
                             .split_rows = (const int64_t(*)[2])split,
                             .target = *t,
                             .no_reuse = no_reuse,
                             .fuse = true};
    if (plan_build(g, &o, a, &sink, &p) != ST_OK || plan_check(p, &sink) != ST_OK) {
        *why = first_error(&sink, "plan", a);
        return NULL;
    }
    return p;
}
char *random_image(const struct plan *p, struct arena *a, const char **why)
{
    char *image = aligned(a, p->bytes);
    const struct graph *g = p->graph;
    plan_fill_constants(p, image);
    struct control *c = (struct control *)(image + p->control);
    c->key = mix64(1);
    for (uint32_t i = 0; i < g->configs.n; i++) {
        c->knob[i] = g->configs.at[i].kind == CONFIG_LIVE ? g->configs.at[i].value : 0;
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        c->phase[i] = (struct phase_control){.steps = 100, .rows = ROWS - ROW0, .row0 = ROW0};
    }
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (!random_fill(p, v, image)) {
            *why = arena_printf(a, "variable \"%s\" has no range", g->vars.at[v].key);
            return NULL;
        }
    }
    return image;
}
/* Moves floats by up to 2 ulp of f32. */
static void jitter(struct running *r, uint32_t seed)
{
    for (uint32_t v = 1; v < r->g->vars.n; v++) {
        const struct var *x = &r->g->vars.at[v];
        int64_t n = dtype_is_float(x->type.dtype) ? operand_count(&r->p->var[v].view) : 0;
        char *at = r->image + r->p->var[v].offset;
        for (int64_t i = 0; i < n; i++) {
            double by = 1 + ((double)(mix64((uint64_t)i + 977u * v + 31337u * seed) % 5) - 2) * 0x1p-24;
            if (x->type.dtype == DT_F32) {
                ((float *)at)[i] = (float)(((float *)at)[i] * by);
            } else {
                ((double *)at)[i] *= by;
            }
        }
    }
}
static void show(struct running *r, const char *name, enum dtype t, int64_t n, const char *from)
{
    size_t bytes = (size_t)n * dtype_size(t);
    char *copy = arena_alloc(r->a, bytes + 1);
    memcpy(copy, from, bytes);
    vec_push(r->a, &r->out->value, ((struct random_value){name, t, n, copy}));
}
static const char *launch(struct running *r, uint32_t variant)
{
    const struct plan_variant *v = &r->p->variant[variant];
    if (r->b->launch(r->e, variant, r->launches == 0) != ST_OK) {
        return r->b->error(r->e);
    }
    const struct ring_slot *s = r->b->slot(r->e, ++r->launches, true);
    if (!s || r->b->sync(r->e) != ST_OK) {
        return r->b->error(r->e);
    }
    unsigned at = (unsigned)r->launches;
    if (s->fault.code) {
        return arena_printf(r->a, "launch %u: fault %d at node %u: %lld, %lld", at, (int)s->fault.code,
                            s->fault.node, (long long)s->fault.a, (long long)s->fault.b);
    }
    show(r, arena_printf(r->a, "launch %u metrics", at), DT_F64, v->n_metric, (const char *)s->now);
    if (r->b->download(r->e, 0, r->image, r->p->bytes) != ST_OK) {
        return r->b->error(r->e);
    }
    for (uint32_t i = 0; i < v->n_output; i++) {
        const struct operand *o = &v->output[i];
        show(r, arena_printf(r->a, "launch %u output %u", at, i), (enum dtype)o->dtype, operand_count(o),
             r->image + o->offset);
    }
    return NULL;
}
static bool zero_outside(const struct running *r, uint32_t tree, uint64_t offset)
{
    const struct plan *p = r->p;
    const struct tree *t = &r->g->trees.at[tree];
    size_t size = dtype_size(r->g->vars.at[t->leaf[0]].type.dtype);
    int64_t at = 0;
    for (uint32_t l = 0; l <= t->n_leaf; l++) {
        int64_t next = l < t->n_leaf ? (int64_t)p->leaf_start[tree][l] : p->tree_elements[tree];
        for (size_t i = (size_t)at * size; i < (size_t)next * size; i++) {
            if (r->image[offset + i] & (i % size == size - 1 ? 0x7f : 0xff)) { /* -0 is zero */
                return false;
            }
        }
        at = l < t->n_leaf ? next + operand_count(&p->var[t->leaf[l]].view) : next;
    }
    return true;
}
static const char *show_variables(struct running *r)
{
    const struct plan *p = r->p;
    for (uint32_t v = 1; v < r->g->vars.n; v++) {
        const struct var *x = &r->g->vars.at[v];
        show(r, x->key, x->type.dtype, operand_count(&p->var[v].view), r->image + p->var[v].offset);
        if (x->kind == VAR_STATE && x->tree && !zero_outside(r, x->tree - 1, p->var[v].offset)) {
            return arena_printf(r->a, "the padding of \"%s\" is not zero", x->key);
        }
    }
    for (uint32_t t = 0; t < r->g->trees.n; t++) {
        if (!zero_outside(r, t, p->tree_offset[t])) {
            return "the padding of the parameters is not zero";
        }
    }
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        if (!zero_outside(r, p->gradient[i].tree, p->gradient[i].offset)) {
            return "the padding of a gradient is not zero";
        }
    }
    return NULL;
}
static const char *launches(struct running *r, uint32_t n)
{
    for (uint32_t i = 0; i < r->g->phases.n; i++) {
        for (uint32_t l = 0; l < n && r->g->phases.at[i].kind == PHASE_USER; l++) {
            const struct plan_variant *tail = plan_find(r->p, i, true);
            const struct plan_variant *v = l == 1 && tail ? tail : plan_find(r->p, i, false);
            const char *why = v ? launch(r, (uint32_t)(v - r->p->variant)) : "no variant";
            if (why) {
                return arena_printf(r->a, "%s", why); /* the text goes with the backend */
            }
        }
    }
    return show_variables(r);
}
static const char *start(struct running *r, const struct exec_options *o)
{
    char why[512] = "";
    if (r->b->open(o, &r->e, why, sizeof why) != ST_OK) {
        return arena_printf(r->a, "open: %s", why);
    }
    bool ok = r->b->arena(r->e, r->p->bytes) == ST_OK && r->b->prepare(r->e, r->p) == ST_OK &&
              r->b->upload(r->e, 0, r->image, r->p->persistent) == ST_OK;
    return ok ? NULL : arena_printf(r->a, "start: %s", r->b->error(r->e));
}
const char *random_run(const struct graph *g, const struct random_run *how, struct arena *a,
                       struct random_outcome *out)
{
    const char *why = NULL;
    struct running r = {.g = g, .b = how->backend, .a = a, .out = out};
    *out = (struct random_outcome){0};
    r.p = random_plan(g, &how->target, how->debug_plan, a, &why);
    r.image = r.p ? random_image(r.p, a, &why) : NULL;
    if (!r.image) {
        return why;
    }
    if (how->jitter) {
        jitter(&r, how->jitter);
    }
    why = start(&r, &(struct exec_options){.threads = 1, .debug_plan = how->debug_plan, .eager = how->eager});
    why = why ? why : launches(&r, how->launches);
    if (r.e) {
        r.b->close(r.e);
    }
    return why;
}

/* -- comparing */

double random_element(const struct random_value *v, int64_t i)
{
    return v->dtype == DT_F32   ? (double)((const float *)v->at)[i]
           : v->dtype == DT_F64 ? ((const double *)v->at)[i]
           : v->dtype == DT_I32 ? ((const int32_t *)v->at)[i]
                                : ((const uint8_t *)v->at)[i];
}
static double largest(const struct random_value *v)
{
    double most = 1;
    for (int64_t i = 0; i < v->n; i++) {
        double x = fabs(random_element(v, i));
        most = isfinite(x) ? fmax(most, x) : most;
    }
    return most;
}
static int64_t first_difference(const struct random_value *x, const struct random_value *y, double tolerance)
{
    double allowed = dtype_is_float(x->dtype) && tolerance > 0 ? tolerance * largest(x) : 0;
    for (int64_t i = 0; i < x->n; i++) {
        double a = random_element(x, i), b = random_element(y, i);
        if (!(a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= allowed)) {
            return i;
        }
    }
    return -1;
}
const char *random_difference(const struct random_outcome *x, const struct random_outcome *y,
                              double tolerance, struct arena *a)
{
    if (x->value.n != y->value.n) {
        return "another number of values";
    }
    for (uint32_t k = 0; k < x->value.n; k++) {
        const struct random_value *u = &x->value.at[k], *v = &y->value.at[k];
        if (u->n != v->n || u->dtype != v->dtype) {
            return arena_printf(a, "%s: another type", u->name);
        }
        bool bits = tolerance == RANDOM_BITS;
        if (bits && (u->n == 0 || !memcmp(u->at, v->at, (size_t)u->n * dtype_size(u->dtype)))) {
            continue;
        }
        int64_t i = first_difference(u, v, tolerance);
        if (i >= 0 || bits) {
            i = i < 0 ? 0 : i;
            return arena_printf(a, "%s[%lld] of %lld: %.17g and %.17g", u->name, (long long)i,
                                (long long)u->n, random_element(u, i), random_element(v, i));
        }
    }
    return NULL;
}
