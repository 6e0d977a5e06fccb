/* A small program for tests: compiled from text, planned for the CPU, and run phase by phase on a host arena.
 */
#ifndef GML_TESTS_COMPILE_PROGRAM_H
#define GML_TESTS_COMPILE_PROGRAM_H
#include <check.h>
#include <stdlib.h>
#include "compiler/compiler.h"
#include "runtime/base/number.h"
#include "runtime/base/philox.h"
#include "runtime/exec/exec.h"

struct program {
    struct arena *a;
    struct diag_sink sink;
    struct graph *g;
    struct plan *plan;
    char *memory; /* image of the arena, fresh after every launch */
    struct exec *e;
};

static inline struct graph *compile_with(struct program *p, const char *text, const struct compile_set *set,
                                         uint32_t n_set)
{
    struct compile_options o = {
        .std_path = GML_SOURCE "/models/std", .verify_each = true, .set = set, .n_set = n_set};
    *p = (struct program){.a = arena_new()};
    diag_init(&p->sink, p->a, NULL);
    if (gml_compile_text(p->a, "test.gml", text, (uint32_t)strlen(text), &o, &p->sink, &p->g) != ST_OK) {
        p->g = NULL;
    }
    return p->g;
}
static inline struct graph *compile_ok(struct program *p, const char *text)
{
    if (!compile_with(p, text, NULL, 0)) {
        diag_render(&p->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("does not compile:\n%s", text);
    }
    return p->g;
}
static inline void launch(struct program *p, const char *phase)
{
    int i = graph_find_phase(p->g, phase);
    ck_assert_msg(i >= 0, "no phase %s", phase);
    const struct plan_variant *v = plan_find(p->plan, (uint32_t)i, false);
    ck_assert_ptr_nonnull(v);
    uint32_t index = (uint32_t)(v - p->plan->variant);
    if (!p->e) { /* init runs on the host image */
        ck_assert_int_eq(cpu_run_variant(p->memory, p->plan, index, 1), ST_OK);
        return;
    }
    ck_assert_int_eq(backend_cpu.launch(p->e, index, true), ST_OK);
    ck_assert_int_eq(backend_cpu.sync(p->e), ST_OK);
    ck_assert_int_eq(backend_cpu.download(p->e, 0, p->memory, p->plan->bytes), ST_OK);
}
static inline struct control *control_of(struct program *p)
{
    return (struct control *)(p->memory + p->plan->control);
}
/* Plans the graph of p and runs phase init. */
static inline void begin(struct program *p)
{
    static const int64_t no_rows[LIMIT_PHASES][2];
    struct plan_options o = {.split_rows = no_rows, .target = {.name = "cpu"}};
    if (plan_build(p->g, &o, p->a, &p->sink, &p->plan) != ST_OK || plan_check(p->plan, &p->sink) != ST_OK) {
        diag_render(&p->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("cannot be planned");
    }
    p->memory = aligned_alloc(256, (size_t)(p->plan->bytes + 255) / 256 * 256);
    memset(p->memory, 0, p->plan->bytes);
    plan_fill_constants(p->plan, p->memory);
    control_of(p)->key = mix64(1);
    for (uint32_t i = 0; i < p->g->configs.n; i++) {
        control_of(p)->knob[i] = p->g->configs.at[i].value;
    }
    launch(p, "init");
    static const struct exec_options one = {.threads = 1};
    char why[256] = "";
    ck_assert_msg(backend_cpu.open(&one, &p->e, why, sizeof why) == ST_OK, "%s", why);
    ck_assert_int_eq(backend_cpu.arena(p->e, p->plan->bytes), ST_OK);
    ck_assert_int_eq(backend_cpu.prepare(p->e, p->plan), ST_OK);
    ck_assert_int_eq(backend_cpu.upload(p->e, 0, p->memory, p->plan->bytes), ST_OK);
}
/* Compiles, plans and runs phase init. */
static inline void start_with(struct program *p, const char *text, const struct compile_set *set,
                              uint32_t n_set)
{
    if (!compile_with(p, text, set, n_set)) {
        diag_render(&p->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("does not compile:\n%s", text);
    }
    begin(p);
}
/* A live config of a running program. */
static inline void turn_knob(struct program *p, uint32_t config, double x)
{
    control_of(p)->knob[config] = x;
    ck_assert_int_eq(backend_cpu.upload(p->e, 0, p->memory, p->plan->bytes), ST_OK);
}
static inline void start(struct program *p, const char *text)
{
    start_with(p, text, NULL, 0);
}
static inline void finish(struct program *p)
{
    backend_cpu.close(p->e);
    free(p->memory);
    arena_free(p->a);
}
/* Element i of an output of a phase. */
static inline double output_at(struct program *p, const char *phase, const char *name, int64_t i)
{
    const struct phase *f = &p->g->phases.at[graph_find_phase(p->g, phase)];
    const struct plan_variant *v = plan_find(p->plan, (uint32_t)graph_find_phase(p->g, phase), false);
    for (uint32_t k = 0; k < f->outputs.n; k++) {
        if (!strcmp(f->outputs.at[k].name, name)) {
            ck_assert_int_lt(i, operand_count(&v->output[k]));
            return number_at(p->memory + v->output[k].offset, (enum dtype)v->output[k].dtype, i);
        }
    }
    ck_abort_msg("phase %s has no output %s", phase, name);
    return 0;
}
static inline int64_t output_size(struct program *p, const char *phase, const char *name)
{
    const struct phase *f = &p->g->phases.at[graph_find_phase(p->g, phase)];
    const struct plan_variant *v = plan_find(p->plan, (uint32_t)graph_find_phase(p->g, phase), false);
    for (uint32_t k = 0; k < f->outputs.n; k++) {
        if (!strcmp(f->outputs.at[k].name, name)) {
            return operand_count(&v->output[k]);
        }
    }
    return -1;
}
static inline double var_at(struct program *p, const char *key, int64_t i)
{
    uint32_t v = graph_find_var(p->g, key);
    ck_assert_msg(v != 0, "no variable %s", key);
    return number_at(p->memory + p->plan->var[v].offset, p->g->vars.at[v].type.dtype, i);
}
/* The output of phase `p` has exactly these elements, to a relative tolerance of 1e-5. */
static inline void expect(struct program *p, const char *name, int64_t n, const double *want)
{
    ck_assert_msg(output_size(p, "p", name) == n, "%s has %ld elements, expected %ld", name,
                  (long)output_size(p, "p", name), (long)n);
    for (int64_t i = 0; i < n; i++) {
        double x = output_at(p, "p", name, i), tolerance = 1e-6 + 1e-5 * (want[i] < 0 ? -want[i] : want[i]);
        ck_assert_msg(x >= want[i] - tolerance && x <= want[i] + tolerance, "%s[%ld] is %.9g, expected %.9g",
                      name, (long)i, x, want[i]);
    }
}
#define EXPECT(p, name, ...)                                                                                 \
    expect(p, name, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})

#endif
