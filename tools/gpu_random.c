/* gpu_random: random graphs on the GPU against the CPU, three of four in f32, the others in f64 or mixed.
 * Prints a summary line; exits 1 when a value differs by more than rounding explains, or when poisoned memory
 * without reuse or kernel-by-kernel launches give other bits.
 *
 *   gpu_random [--dry-run] [N [SEED]]     seeds SEED .. SEED + N - 1, 300 from 1 by default; each third graph
 *                                         has a loop at least
 *   gpu_random [--dry-run] --file GRAPH   one graph in text form
 *   gpu_random --loops N [debug]          for compute-sanitizer: launches N graphs with loops and compares
 *                                         nothing; debug: with --debug-plan, so that values are declared
 *
 * What rounding explains is measured on the CPU: how far f32 is from f64, and how far the results move when
 * the variables move by 1 or 2 units in the last place. A value may differ by 32 times the larger of the two,
 * and by the tolerances of the operators of the graph added up, times its largest number. Whole numbers and
 * answers must be equal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "runtime/base/seam.h"
#include "tools/random/random.h"

enum { JITTERS = 3, FACTOR = 32, BITS_EVERY = 5, LOOPS_EVERY = 3, SHRINK_SECONDS = 60 };

struct session {
    const struct backend *gpu;
    struct target target;
    time_t deadline; /* of shrinking */
    double worst;    /* largest part of what is allowed that was used */
    uint32_t graphs, values, failures, bits;
};
struct pass_result {
    struct graph *g32, *g64;
    struct random_outcome cpu, f64, moved[JITTERS];
};

static struct graph *passed_graph(const char *text, enum dtype t, struct arena *a, const char **why)
{
    struct diag_sink sink;
    struct graph *g;
    diag_init(&sink, a, NULL);
    if (graph_parse(a, text, &sink, &g) != ST_OK) {
        *why = "the text is no graph";
        return NULL;
    }
    if (t == DT_F64) {
        graph_set_precision(g, t);
    }
    return random_passes(g, RANDOM_ALL_PASSES, a, why);
}
static const char *run_cpu(const char *text, struct arena *a, struct pass_result *r)
{
    const char *why = NULL;
    struct random_run how = {.backend = &backend_cpu, .target = {.name = "cpu"}, .launches = 1};
    r->g32 = passed_graph(text, DT_F32, a, &why);
    r->g64 = r->g32 ? passed_graph(text, DT_F64, a, &why) : NULL;
    if (!r->g64) {
        return why;
    }
    why = random_run(r->g32, &how, a, &r->cpu);
    why = why ? why : random_run(r->g64, &how, a, &r->f64);
    for (int i = 0; i < JITTERS && !why; i++) {
        how.jitter = (uint32_t)i + 1;
        why = random_run(r->g32, &how, a, &r->moved[i]);
    }
    return why;
}

/* -- comparing */

/* Relative error of one value if every operator of the graph were off by its tolerance; a row without one:
 * 5e-6; in f64 1e-12. */
static double tolerances(const struct graph *g)
{
    double sum = 0;
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct op_info *info = &op_table[g->nodes.at[i].op];
        bool computes = info->kind != OPK_VIEW && !(info->flags & OPF_META);
        double one = info->kind == OPK_ELEM ? info->tolerance : 5e-6;
        enum dtype t = (enum dtype)g->nodes.at[i].dtype;
        sum += !computes ? 0 : t == DT_F32 ? one : t == DT_F64 ? 1e-12 : 0;
    }
    return sum;
}
static double distance(const struct random_value *x, const struct random_value *y)
{
    double most = 0;
    for (int64_t i = 0; i < x->n; i++) {
        double d = fabs(random_element(x, i) - random_element(y, i));
        most = d > most ? d : most;
    }
    return most;
}
static double allowance(const struct pass_result *r, uint32_t k, double tolerance)
{
    const struct random_value *cpu = &r->cpu.value.at[k];
    double size = 1, most = distance(cpu, &r->f64.value.at[k]);
    for (int64_t i = 0; i < cpu->n; i++) {
        double x = fabs(random_element(cpu, i));
        size = x > size ? x : size;
    }
    for (int j = 0; j < JITTERS; j++) {
        most = fmax(most, distance(cpu, &r->moved[j].value.at[k]));
    }
    return FACTOR * most + tolerance * size;
}
static const char *compare(struct session *s, const struct pass_result *r, const struct random_outcome *gpu,
                           struct arena *a)
{
    double tolerance = tolerances(r->g32);
    if (gpu->value.n != r->cpu.value.n) {
        return "another number of values";
    }
    for (uint32_t k = 0; k < gpu->value.n; k++) {
        const struct random_value *x = &r->cpu.value.at[k], *y = &gpu->value.at[k];
        bool real = dtype_is_float(x->dtype);
        double allowed = real ? allowance(r, k, tolerance) : 0;
        for (int64_t i = 0; i < x->n; i++) {
            double p = random_element(x, i), q = random_element(y, i), d = fabs(p - q);
            if (p == q || (isnan(p) && isnan(q))) {
                continue;
            }
            if (!(d <= allowed)) {
                return arena_printf(a, "%s[%lld] of %lld: %.9g on the CPU, %.9g on the GPU, %.2g allowed",
                                    x->name, (long long)i, (long long)x->n, p, q, allowed);
            }
            s->worst = fmax(s->worst, d / allowed);
        }
        s->values++;
    }
    return NULL;
}

/* -- one graph */

static const char *same_bits(struct session *s, const struct graph *g, const struct random_outcome *gpu,
                             struct arena *a)
{
    struct random_outcome other;
    for (int eager = 0; eager < 2; eager++) {
        struct random_run how = {
            .backend = s->gpu, .target = s->target, .launches = 1, .eager = eager, .debug_plan = !eager};
        const char *why = random_run(g, &how, a, &other);
        why = why ? why : random_difference(gpu, &other, RANDOM_BITS, a);
        if (why) {
            return arena_printf(a, "%s: %s", eager ? "kernel by kernel" : "poisoned, without reuse", why);
        }
    }
    s->bits++;
    return NULL;
}
static const char *check(struct session *s, const char *text, bool bits, struct arena *a)
{
    struct pass_result r;
    struct random_outcome gpu;
    const char *why = run_cpu(text, a, &r);
    if (why) {
        return arena_printf(a, "cpu: %s", why);
    }
    struct random_run how = {.backend = s->gpu, .target = s->target, .launches = 1};
    why = random_run(r.g32, &how, a, &gpu);
    why = why ? why : compare(s, &r, &gpu, a);
    return !why && bits ? same_bits(s, r.g32, &gpu, a) : why;
}
static bool still_fails(void *ctx, const char *text)
{
    struct session quiet = *(struct session *)ctx;
    if (time(NULL) > quiet.deadline) {
        return false;
    }
    struct arena *a = arena_new();
    const char *why = check(&quiet, text, true, a);
    bool fails = why && strncmp(why, "cpu:", 4) != 0;
    arena_free(a);
    return fails;
}
static void one_text(struct session *s, const char *text, const char *name, bool bits)
{
    struct arena *a = arena_new();
    const char *why = check(s, text, bits, a);
    s->graphs++;
    if (why) {
        fprintf(stderr, "%s: %s\n", name, why);
        if (s->failures++ == 0) {
            s->deadline = time(NULL) + SHRINK_SECONDS;
            const char *small = random_shrink(a, text, still_fails, s);
            why = check(s, small, true, a);
            fprintf(stderr, "shrunk from %u to %u nodes: %s\n%s", random_node_count(text),
                    random_node_count(small), why ? why : "it holds now", small);
        }
    }
    arena_free(a);
}
static void one_seed(struct session *s, uint64_t seed)
{
    struct random_options o = {
        .number = seed % 4 ? DT_F32 : DT_F64, .mixed = seed % 8 == 0, .loops = seed % LOOPS_EVERY == 0};
    struct arena *a = arena_new();
    const char *text = random_text(random_graph(a, seed, &o, NULL), a);
    one_text(s, text, arena_printf(a, "seed %llu", (unsigned long long)seed),
             seed % BITS_EVERY == 0 || seed % (2 * LOOPS_EVERY) == 0);
    arena_free(a);
}
static int one_file(struct session *s, const char *path)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    char *text;
    size_t n;
    diag_init(&sink, a, NULL);
    if (file_read(a, path, 1 << 20, &text, &n, &sink) != ST_OK) {
        diag_render(&sink, DIAG_SHORT, false, stderr);
        return 3;
    }
    one_text(s, text, path, true);
    arena_free(a);
    return 0;
}

/* -- without reading anything back */

static const char *launch_all(struct session *s, const struct plan *p, struct exec *e, struct arena *a)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < 2 * p->n_variant; i++) {
        uint32_t v = i / 2;
        if (p->graph->phases.at[p->variant[v].phase].kind != PHASE_USER) {
            continue;
        }
        if (s->gpu->launch(e, v, i % 2 == 0) != ST_OK) {
            return s->gpu->error(e);
        }
        const struct ring_slot *slot = s->gpu->slot(e, ++n, true);
        if (!slot || slot->fault.code) {
            return slot ? arena_printf(a, "fault %d at node %u", (int)slot->fault.code, slot->fault.node)
                        : s->gpu->error(e);
        }
    }
    return s->gpu->sync(e) == ST_OK ? NULL : s->gpu->error(e);
}
static const char *run_loops(struct session *s, uint64_t seed, bool debug, struct arena *a)
{
    struct random_options o = {.number = DT_F32, .loops = true};
    struct exec_options how = {.threads = 1, .debug_plan = debug};
    const char *why = NULL;
    char text[512] = "";
    struct exec *e;
    struct graph *g = random_passes(random_graph(a, seed, &o, NULL), RANDOM_ALL_PASSES, a, &why);
    struct plan *p = g ? random_plan(g, &s->target, debug, a, &why) : NULL;
    char *image = p ? random_image(p, a, &why) : NULL;
    if (!image || s->gpu->open(&how, &e, text, sizeof text) != ST_OK) {
        return why ? why : arena_printf(a, "%s", text);
    }
    bool ok = s->gpu->arena(e, p->bytes) == ST_OK && s->gpu->prepare(e, p) == ST_OK &&
              s->gpu->upload(e, 0, image, p->persistent) == ST_OK;
    why = ok ? launch_all(s, p, e, a) : s->gpu->error(e);
    why = why ? arena_printf(a, "%s", why) : NULL; /* the text goes with the backend */
    s->gpu->close(e);
    return why;
}
static void loops(struct session *s, uint64_t n, bool debug)
{
    for (uint64_t seed = 1; seed <= n; seed++) {
        struct arena *a = arena_new();
        const char *why = run_loops(s, seed, debug, a);
        if (why) {
            fprintf(stderr, "loops, seed %llu: %s\n", (unsigned long long)seed, why);
        }
        s->graphs++;
        s->failures += why != NULL;
        arena_free(a);
    }
    printf("graphs with loops: %u, %u failed\n", s->graphs, s->failures);
}

static bool open_device(struct session *s, bool dry)
{
    char why[512] = "";
    struct exec *e = NULL;
    struct exec_device d;
    s->gpu = dry ? &backend_cpu : backend_cuda(NULL, why, sizeof why); /* dry: the CPU against itself */
    if (!s->gpu || s->gpu->open(&(struct exec_options){.threads = 1}, &e, why, sizeof why) != ST_OK) {
        fprintf(stderr, "gpu_random: %s\n", why);
        return false;
    }
    if (s->gpu->device(e, &d) != ST_OK) {
        fprintf(stderr, "gpu_random: %s\n", s->gpu->error(e));
        return false;
    }
    printf("device: %s, %s\n", d.name, d.driver);
    s->target = d.target;
    s->gpu->close(e);
    return true;
}
int main(int argc, char **argv)
{
    struct session s = {0};
    bool dry = argc > 1 && strcmp(argv[1], "--dry-run") == 0;
    argc -= dry;
    argv += dry;
    if (!open_device(&s, dry)) {
        return 1;
    }
    time_t start = time(NULL);
    if (argc > 2 && !strcmp(argv[1], "--loops")) {
        loops(&s, strtoull(argv[2], NULL, 10), argc > 3 && !strcmp(argv[3], "debug"));
        return s.failures != 0;
    }
    if (argc > 2 && !strcmp(argv[1], "--file")) {
        int code = one_file(&s, argv[2]);
        printf("random graphs: %u, %u differ, %.1f %% of the allowance used\n", s.graphs, s.failures,
               100 * s.worst);
        return code ? code : s.failures != 0;
    }
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
             from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t seed = from; seed < from + n && s.failures < 10; seed++) {
        one_seed(&s, seed);
    }
    printf("random graphs: %u, %u values, %u differ, %.1f %% of the allowance used, %u also poisoned and "
           "kernel by kernel with the "
           "same bits, %lld s\n",
           s.graphs, s.values, s.failures, 100 * s.worst, s.bits, (long long)(time(NULL) - start));
    return s.failures != 0;
}
