/* `gmlrun gradcheck` and `gmlrun compare`: is what was compiled right, and the same everywhere? */
#include "runtime/run/check.h"
#include <math.h>
#include <string.h>
#include "runtime/graph/precision.h"
#include "tools/gmlrun.h"

/* "[3, 7]" of a row-major index. */
static const char *element_of(struct arena *a, int rank, const int64_t *size, int64_t at)
{
    int64_t index[LIMIT_RANK];
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = at % size[i];
        at /= size[i];
    }
    return sizes_text(a, "", rank, index);
}

static const char *verdict_of(const struct gradcheck_row *r)
{
    return r->wrong                             ? "WRONG"
           : r->kinks && r->kinks == r->checked ? "only kinks"
           : r->checked                         ? "ok"
                                                : "empty";
}

static void gradcheck_text(struct call *c, const struct gradcheck *k)
{
    const struct gradcheck_row *r = k->row.at, *end = r + k->row.n;
    for (uint32_t i = 0; i < k->loss.n; i++) {
        const struct gradcheck_loss *l = &k->loss.at[i];
        printf("%s%s.%s = %.9g\n%-30s %-16s %8s %5s %11s %11s %11s  %s\n", i ? "\n" : "", l->phase, l->loss,
               l->value, "parameter", "shape", "checked", "kinks", "max |g|", "abs error", "rel error",
               "verdict");
        for (; r < end && strcmp(r->phase, l->phase) == 0 && strcmp(r->loss, l->loss) == 0; r++) {
            printf("%-30s %-16s %8lld %5lld %11.3g %11.3g %11.3g  %s\n", r->parameter,
                   sizes_text(c->arena, "", r->rank, r->dim), (long long)r->checked, (long long)r->kinks,
                   r->max_gradient, r->worst.at < 0 ? 0 : r->worst.error, r->max_relative, verdict_of(r));
        }
    }
    printf("%lld elements checked, %lld on kinks, %lld wrong\n", (long long)k->checked, (long long)k->kinks,
           (long long)k->wrong);
}

static const char *number(struct arena *a, double x)
{
    char text[32];
    number_text(x, text);
    return arena_printf(a, "%s", text);
}

static void gradcheck_json(struct call *c, const struct gradcheck *k)
{
    struct arena *a = c->arena;
    printf("{\"checked\": %lld, \"kinks\": %lld, \"wrong\": %lld, \"losses\": {", (long long)k->checked,
           (long long)k->kinks, (long long)k->wrong);
    for (uint32_t i = 0; i < k->loss.n; i++) {
        printf("%s%s: %s", i ? ", " : "",
               json_text(a, arena_printf(a, "%s.%s", k->loss.at[i].phase, k->loss.at[i].loss)),
               number(a, k->loss.at[i].value));
    }
    printf("}, \"parameters\": [");
    for (uint32_t i = 0; i < k->row.n; i++) {
        const struct gradcheck_row *r = &k->row.at[i];
        printf("%s{\"loss\": %s, \"parameter\": %s, \"shape\": %s, \"checked\": %lld, \"kinks\": %lld, "
               "\"wrong\": %lld, \"max_gradient\": %s, \"max_abs_error\": %s, \"max_rel_error\": %s}",
               i ? ", " : "", json_text(a, arena_printf(a, "%s.%s", r->phase, r->loss)),
               json_text(a, r->parameter), sizes_text(a, "", r->rank, r->dim), (long long)r->checked,
               (long long)r->kinks, (long long)r->wrong, number(a, r->max_gradient),
               number(a, r->worst.at < 0 ? 0 : r->worst.error), number(a, r->max_relative));
    }
    printf("]}\n");
}

/* The worst element of the run, first in the message. */
static enum status gradcheck_verdict(struct call *c, const struct gradcheck *k)
{
    const struct gradcheck_row *w = NULL;
    for (uint32_t i = 0; i < k->row.n; i++) {
        const struct gradcheck_row *r = &k->row.at[i];
        if (r->wrong && (!w || r->worst.error / r->worst.tolerance > w->worst.error / w->worst.tolerance)) {
            w = r;
        }
    }
    if (!w) {
        return ST_OK;
    }
    return diag_emit(&c->sink, DIAG_N1003, NO_SPAN,
                     "gradient of %s.%s for `%s`, element %s: %.9g as compiled, %.9g by differences; "
                     "%lld of %lld elements are wrong",
                     w->phase, w->loss, w->parameter, element_of(c->arena, w->rank, w->dim, w->worst.at),
                     w->worst.gradient, w->worst.difference, (long long)k->wrong, (long long)k->checked);
}

enum status command_gradcheck(struct call *c)
{
    const struct run_options options = c->run; /* the compiler takes `set` out */
    struct graph *g, *whole;
    struct gradcheck k;
    TRY(call_graph_f64(c, &g));
    c->run = options;
    TRY(call_graph_f64(c, &whole));
    int64_t samples = c->o.at[OPT_SAMPLES].given ? c->o.at[OPT_SAMPLES].number : 8;
    TRY(run_gradcheck(g, whole, &c->run, samples, c->arena, &c->sink, &k));
    if (c->o.at[OPT_JSON].given) {
        gradcheck_json(c, &k);
    } else {
        gradcheck_text(c, &k);
    }
    return gradcheck_verdict(c, &k);
}

/* -- compare */

enum { COMPARE_STEPS = 20 };

/* "cpu-f64", "cpu-f32", "cpu", "cuda", "cuda:1" */
static enum status other_side(struct call *c, struct compare_side *b)
{
    const char *text = c->o.at[OPT_AGAINST].given ? c->o.at[OPT_AGAINST].text : "cpu-f64";
    bool f64 = strcmp(text, "cpu-f64") == 0, f32 = strcmp(text, "cpu-f32") == 0;
    if (!f64 && !f32 && !is_device(text)) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN,
                         "`--against` takes cpu-f64, cpu-f32, cuda or cuda:N, not `%s`", text);
    }
    b->options.device = f64 || f32 ? "cpu" : text;
    bool bf16 = call_precision_is(c, "bf16");
    if (f64) {
        (bf16 ? graph_all_f64(b->graph) : graph_set_precision(b->graph, DT_F64));
    } else if (f32 && bf16) {
        graph_all_f32(b->graph);
    } else if (!f32 && call_precision_is(c, "tf32")) {
        graph_products_tf32(b->graph);
    }
    b->options.precision = f64 ? "f64" : f32 ? "f32" : c->run.precision;
    return ST_OK;
}

/* Of losses, relative: their sums are f32, so what counts is how products round and how long errors grow. */
static double usual_tolerance(const struct call *c)
{
    return call_precision_is(c, "bf16") ? 5e-2 : call_precision_is(c, "tf32") ? 5e-3 : 1e-3;
}

static const char *value_text(struct call *c, const struct graph *g, const struct compare_value *v)
{
    return arena_printf(c->arena, "%s of phase %s%s%s, %s: relative error %.3g, largest error %.3g", v->op,
                        g->phases.at[v->phase].name, v->scope[0] ? " in " : "", v->scope,
                        v->place[0] ? v->place : "no place", v->d.relative, v->d.max_error);
}

static void compare_text(struct call *c, const struct graph *g, const struct compare *k)
{
    printf("a: %s\nb: %s\n\n%6s  %-24s %16s %16s %11s\n", k->a, k->b, "step", "loss", "a", "b", "relative");
    for (uint32_t i = 0; i < k->loss.n; i++) {
        const struct compare_loss *l = &k->loss.at[i];
        printf("%6lld  %-24s %16.9g %16.9g %11.3g%s\n", (long long)l->step, l->name, l->a, l->b, l->relative,
               l->missing ? "  only on one side" : "");
    }
    printf("\n%-32s %11s %11s\n", "parameter after the last step", "max error", "relative");
    for (uint32_t i = 0; i < k->parameter.n; i++) {
        const struct compare_parameter *p = &k->parameter.at[i];
        printf("%-32s %11.3g %11.3g\n", p->key, p->d.max_error, p->d.relative);
    }
    printf("\n%lld values of first launches compared\n", (long long)k->values);
    if (k->worst.node) {
        printf("largest relative error: %s\n", value_text(c, g, &k->worst));
    }
    printf("first beyond the tolerance: %s\n", k->first.node ? value_text(c, g, &k->first) : "none");
}

static void json_value(struct call *c, const struct graph *g, const char *key, const struct compare_value *v)
{
    struct arena *a = c->arena;
    if (!v->node) {
        printf(", \"%s\": null", key);
        return;
    }
    printf(", \"%s\": {\"node\": %u, \"op\": %s, \"phase\": %s, \"scope\": %s, \"place\": %s, "
           "\"max_error\": %s, \"relative\": %s}",
           key, v->node, json_text(a, v->op), json_text(a, g->phases.at[v->phase].name),
           json_text(a, v->scope), json_text(a, v->place), number(a, v->d.max_error),
           number(a, v->d.relative));
}

static void compare_json(struct call *c, const struct graph *g, const struct compare *k)
{
    struct arena *a = c->arena;
    printf("{\"a\": %s, \"b\": %s, \"same\": %s, \"max_relative\": %s, \"losses\": [", json_text(a, k->a),
           json_text(a, k->b), k->same ? "true" : "false", number(a, k->max_relative));
    for (uint32_t i = 0; i < k->loss.n; i++) {
        const struct compare_loss *l = &k->loss.at[i];
        printf("%s{\"step\": %lld, \"name\": %s, \"a\": %s, \"b\": %s}", i ? ", " : "", (long long)l->step,
               json_text(a, l->name), number(a, l->a), number(a, l->b));
    }
    printf("], \"parameters\": {");
    for (uint32_t i = 0; i < k->parameter.n; i++) {
        const struct compare_parameter *p = &k->parameter.at[i];
        printf("%s%s: {\"max_error\": %s, \"relative\": %s}", i ? ", " : "", json_text(a, p->key),
               number(a, p->d.max_error), number(a, p->d.relative));
    }
    printf("}, \"values\": %lld", (long long)k->values);
    json_value(c, g, "first", &k->first);
    json_value(c, g, "worst", &k->worst);
    printf("}\n");
}

static enum status compare_verdict(struct call *c, const struct graph *g, const struct compare *k)
{
    const struct compare_loss *l = k->loss.at;
    if (k->same) {
        return ST_OK;
    }
    while (l->same) {
        l++;
    }
    enum status st =
        diag_emit(&c->sink, DIAG_N1004, NO_SPAN, "%s and %s disagree: %s of step %lld is %.9g and %.9g", k->a,
                  k->b, l->name, (long long)l->step, l->a, l->b);
    if (k->first.node) {
        diag_note(&c->sink, "the first value beyond the tolerance: %s", value_text(c, g, &k->first));
    }
    return st;
}

enum status command_compare(struct call *c)
{
    struct compare k;
    struct compare_side a = {NULL, c->run}, b = {NULL, c->run};
    double tolerance = c->o.at[OPT_TOLERANCE].given ? c->o.at[OPT_TOLERANCE].real : usual_tolerance(c);
    if (tolerance < 0) {
        return diag_emit(&c->sink, DIAG_U0003, NO_SPAN, "`--tolerance` takes a number, 0 or more");
    }
    TRY(call_graph_f32(c, &a.graph));
    TRY(call_graph_f32(c, &b.graph));
    TRY(other_side(c, &b));
    if (call_is_f64(c)) {
        graph_set_precision(a.graph, DT_F64);
    } else if (call_precision_is(c, "tf32")) {
        graph_products_tf32(a.graph);
    }
    c->run.stop = catch_signals();
    struct compare_side *side[] = {&a, &b};
    for (int i = 0; i < 2; i++) {
        side[i]->options.stop = c->run.stop;
        side[i]->options.n_set = call_is_compiled(c) ? c->run.n_set : 0;
        side[i]->options.steps = c->run.steps >= 0 ? c->run.steps : COMPARE_STEPS;
    }
    TRY(run_compare(&a, &b, tolerance, c->arena, &c->sink, &k));
    k.a = arena_printf(c->arena, "%s %s", k.a, a.options.precision);
    k.b = arena_printf(c->arena, "%s %s", k.b, b.options.precision);
    if (c->o.at[OPT_JSON].given) {
        compare_json(c, a.graph, &k);
    } else {
        compare_text(c, a.graph, &k);
    }
    return compare_verdict(c, a.graph, &k);
}
