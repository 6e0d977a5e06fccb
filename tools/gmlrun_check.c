/* `gmlrun gradcheck` and `gmlrun compare`: is what was compiled right, and the same everywhere? */
#include "runtime/run/check.h"
#include <math.h>
#include <string.h>
#include "tools/gmlrun.h"

static const char *shape_of(struct arena *a, int rank, const int64_t *size)
{
    struct text t = {.arena = a};
    text_printf(&t, "[");
    for (int i = 0; i < rank; i++) {
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)size[i]);
    }
    text_printf(&t, "]");
    return t.at;
}

/* "[3, 7]" of a row-major index. */
static const char *element_of(struct arena *a, int rank, const int64_t *size, int64_t at)
{
    int64_t index[LIMIT_RANK];
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = at % size[i];
        at /= size[i];
    }
    return shape_of(a, rank, index);
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
                   shape_of(c->arena, r->rank, r->dim), (long long)r->checked, (long long)r->kinks,
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
               json_text(a, r->parameter), shape_of(a, r->rank, r->dim), (long long)r->checked,
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
    struct graph *g;
    struct gradcheck k;
    TRY(call_graph_f64(c, &g));
    int64_t samples = c->o.at[OPT_SAMPLES].given ? c->o.at[OPT_SAMPLES].number : 8;
    TRY(run_gradcheck(g, &c->run, samples, c->arena, &c->sink, &k));
    if (c->o.at[OPT_JSON].given) {
        gradcheck_json(c, &k);
    } else {
        gradcheck_text(c, &k);
    }
    return gradcheck_verdict(c, &k);
}
