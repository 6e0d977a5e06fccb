/* The checks: text and bytes, planned against unplanned memory, passes on and off, launches joined
 * to groups or not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "tools/random/random.h"

const char *random_check_name(enum random_check c)
{
    static const char *const names[] = {"all", "text", "memory", "passes", "fuse", "gradient"};
    return names[c];
}
static bool failed(struct random_verdict *v, enum random_check c, const char *what, const char *why)
{
    v->failed = c;
    snprintf(v->why, sizeof v->why, "%s: %s", what, why);
    return false;
}
char *random_text(const struct graph *g, struct arena *a)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    graph_print(g, f);
    fclose(f);
    char *copy = arena_strndup(a, text, n);
    free(text);
    return copy;
}
static struct graph *parsed(const char *text, struct arena *a)
{
    struct diag_sink sink;
    struct graph *g;
    diag_init(&sink, a, NULL);
    return graph_parse(a, text, &sink, &g) == ST_OK ? g : NULL;
}

/* -- print, parse and .gmlb give the graph again */

static const char *round_trip(const struct graph *g, struct arena *a)
{
    struct diag_sink sink;
    diag_init(&sink, a, NULL);
    char *text = random_text(g, a), *bytes, *again;
    struct graph *h = parsed(text, a), *loaded;
    size_t n, m;
    if (!h || strcmp(random_text(h, a), text) != 0) {
        return "parsing what was printed gives another graph";
    }
    if (gmlb_write(g, a, &bytes, &n) != ST_OK || gmlb_write(h, a, &again, &m) != ST_OK) {
        return "a .gmlb file cannot be written";
    }
    if (n != m || memcmp(bytes, again, n) != 0) {
        return "the .gmlb file of what was parsed differs";
    }
    if (gmlb_read(a, "random.gmlb", bytes, n, &sink, &loaded) != ST_OK) {
        return sink.list.n ? sink.list.at[0].message : "the .gmlb file cannot be read";
    }
    if (strcmp(random_text(loaded, a), text) != 0) {
        return "reading the .gmlb file gives another graph";
    }
    return gmlb_write(loaded, a, &again, &m) == ST_OK && n == m && !memcmp(bytes, again, n)
               ? NULL
               : "the .gmlb file written again differs";
}
static bool check_text(struct graph *g, const struct graph *passed, struct arena *a, struct random_verdict *v)
{
    const char *why = round_trip(g, a);
    if (why) {
        return failed(v, CHECK_TEXT, "before passes", why);
    }
    why = round_trip(passed, a);
    return !why || failed(v, CHECK_TEXT, "after passes", why);
}

/* -- runs */

static const struct random_run plain = {.backend = &backend_cpu, .target = {.name = "cpu"}, .launches = 2},
                               poisoned = {.backend = &backend_cpu,
                                           .target = {.name = "cpu"},
                                           .launches = 2,
                                           .debug_plan = true},
                               fused = {.backend = &backend_cpu,
                                        .target = {.name = "cpu", .groups = true},
                                        .launches = 2},
                               fused_poisoned = {.backend = &backend_cpu,
                                                 .target = {.name = "cpu", .groups = true},
                                                 .launches = 2,
                                                 .debug_plan = true};

static bool all_finite(const struct random_outcome *o)
{
    for (uint32_t k = 0; k < o->value.n; k++) {
        for (int64_t i = 0; i < o->value.at[k].n; i++) {
            if (!isfinite(random_element(&o->value.at[k], i))) {
                return false;
            }
        }
    }
    return true;
}
static bool check_memory(const struct graph *passed, const struct random_outcome *want, struct arena *a,
                         struct random_verdict *v)
{
    struct random_outcome got;
    const char *why = random_run(passed, &poisoned, a, &got);
    if (why) {
        return failed(v, CHECK_MEMORY, "without reuse, poisoned", why);
    }
    why = random_difference(want, &got, RANDOM_BITS, a);
    return !why || failed(v, CHECK_MEMORY, "planned and unplanned", why);
}
/* Dead code and common subexpressions change no bit, nor does folding, which simplify does as well. Algebra
 * may: see docs/reliability.md. */
static double tolerance_of(const struct graph *g)
{
    bool f64 = false, f32 = false;
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        f64 |= g->nodes.at[i].dtype == DT_F64;
        f32 |= g->nodes.at[i].dtype == DT_F32;
    }
    return f64 && !f32 ? 1e-11 : 2e-5;
}
static bool check_without(struct graph *g, int without, const char *name, double tolerance,
                          const struct random_outcome *want, struct arena *a, struct random_verdict *v)
{
    struct random_outcome got;
    const char *why = NULL;
    struct graph *h = random_passes(g, without, a, &why);
    why = h ? random_run(h, &plain, a, &got) : why;
    if (!why && random_difference(want, &got, 0, a)) {
        v->not_bits++;
        why = random_difference(want, &got, tolerance, a);
    }
    return !why || failed(v, CHECK_PASSES, name, why);
}
static bool check_passes(struct graph *g, const struct random_outcome *want, struct arena *a,
                         struct random_verdict *v)
{
    double tolerance = tolerance_of(g);
    for (uint32_t i = 0; i < n_passes; i++) {
        bool exact = pass_table[i].run != pass_simplify;
        if (!pass_table[i].meaning &&
            !check_without(g, 1 << i, arena_printf(a, "without %s", pass_table[i].name),
                           exact ? 0 : tolerance, want, a, v)) {
            return false;
        }
    }
    return check_without(g, RANDOM_NO_PASSES, "without passes", tolerance, want, a, v);
}

/* Groups add up in the order of single launches, but softmax and its kind are made of other instructions. */
static bool check_fuse(const struct graph *passed, const struct random_outcome *want, struct arena *a,
                       struct random_verdict *v)
{
    struct random_outcome got, again;
    const char *why = random_run(passed, &fused, a, &got);
    if (!why && random_difference(want, &got, 0, a)) {
        v->not_bits++;
        why = random_difference(want, &got, tolerance_of(passed), a);
    }
    if (why) {
        return failed(v, CHECK_FUSE, "in groups", why);
    }
    why = random_run(passed, &fused_poisoned, a, &again);
    why = why ? why : random_difference(&got, &again, RANDOM_BITS, a);
    return !why || failed(v, CHECK_FUSE, "in groups, without reuse, poisoned", why);
}

static bool check_graph(struct graph *g, enum random_check what, struct arena *a, struct random_verdict *v)
{
    const char *why = NULL;
    struct random_outcome want;
    if (what == CHECK_GRADIENT) {
        graph_set_precision(g, DT_F64);
        return random_gradients(g, a, v);
    }
    struct graph *passed = random_passes(g, RANDOM_ALL_PASSES, a, &why);
    if (!passed) {
        return failed(v, CHECK_PASSES, "all passes", why);
    }
    if ((what == CHECK_NONE || what == CHECK_TEXT) && !check_text(g, passed, a, v)) {
        return false;
    }
    why = random_run(passed, &plain, a, &want);
    if (why) {
        return failed(v, CHECK_PASSES, "all passes", why);
    }
    v->finite = all_finite(&want);
    return ((what != CHECK_NONE && what != CHECK_MEMORY) || check_memory(passed, &want, a, v)) &&
           ((what != CHECK_NONE && what != CHECK_PASSES) || check_passes(g, &want, a, v)) &&
           ((what != CHECK_NONE && what != CHECK_FUSE) || check_fuse(passed, &want, a, v));
}
bool random_check(const char *text, enum random_check what, struct random_verdict *v)
{
    struct arena *a = arena_new();
    *v = (struct random_verdict){.finite = true};
    struct graph *g = parsed(text, a);
    bool ok = g ? check_graph(g, what, a, v) : failed(v, CHECK_TEXT, "parse", "the text is no graph");
    arena_free(a);
    return ok;
}
