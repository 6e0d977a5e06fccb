/* gpu_groups: generated kernels on the GPU against the CPU kernels one by one: groups made by hand (each
 * elementwise row over each of its dtypes, each reduction in each form, softmax, an update in place, labels,
 * ranges, parts of stacks) and random ones. Prints a summary line; exits 1 when a value differs by more than
 * is allowed, when something else than results was written to, or when a second launch, or launches one by
 * one, give other bits.
 *
 *   gpu_groups [N [SEED]]   N random groups from SEED on, 300 from 1 by default
 *   gpu_groups --quick      some of each, launched once: for compute-sanitizer
 *
 * Kernels are compiled anew (--cache none), so the seconds it prints are those of a first run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/seam.h"
#include "tools/random/groups.h"

enum { IMAGE = 512 << 20, BATCH = 60, QUICK = 11 };

static struct phase phase = {.name = "groups", .kind = PHASE_USER};
static struct graph graph;
struct session {
    const struct backend *gpu;
    bool quick;
    uint32_t groups, bad;
    double worst, compile; /* compile: seconds of prepare() */
};

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "gpu_groups: %s: %s\n", what, why);
    exit(1);
}

static struct plan make_plan(const struct group_image *g, struct plan_variant *v)
{
    struct plan_op *op = arena_array(g->memory, struct plan_op, g->at.n);
    for (uint32_t i = 0; i < g->at.n; i++) {
        op[i] = g->at.at[i].op;
    }
    *v = (struct plan_variant){.op = op, .n_op = g->at.n};
    return (struct plan){.graph = &graph,
                         .control = g->control,
                         .persistent = g->used,
                         .planned_offset = g->used,
                         .bytes = g->used,
                         .device_bytes = g->used,
                         .variant = v,
                         .n_variant = 1};
}

static void launch(const struct session *s, struct exec *e, const struct group_image *g, char *to)
{
    const struct backend *b = s->gpu;
    if (b->upload(e, 0, g->image, g->used) != ST_OK || b->launch(e, 0, true) != ST_OK) {
        stop("launch", b->error(e));
    }
    const struct ring_slot *slot = b->slot(e, 1, true);
    if (!slot || b->sync(e) != ST_OK || b->download(e, 0, to, g->used) != ST_OK) {
        stop("result", b->error(e));
    }
    if (slot->fault.code) {
        stop("result", "a fault was reported");
    }
}

/* The arena after `n` launches, each from the inputs, into `to` and what follows it. */
static void run_on_gpu(struct session *s, const struct group_image *g, bool eager, int n, char *to)
{
    struct plan_variant v;
    struct plan plan = make_plan(g, &v);
    struct exec *e = NULL;
    char why[512] = "";
    struct exec_options o = {.eager = eager, .cache = "none"};
    if (s->gpu->open(&o, &e, why, sizeof why) != ST_OK) {
        stop("open", why);
    }
    double start = clock_seam.seconds();
    if (s->gpu->arena(e, g->used) != ST_OK || s->gpu->prepare(e, &plan) != ST_OK) {
        stop("prepare", s->gpu->error(e));
    }
    s->compile += clock_seam.seconds() - start;
    for (int i = 0; i < n; i++) {
        launch(s, e, g, to + (uint64_t)i * g->used);
    }
    s->gpu->close(e);
}

static void report(struct session *s, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    s->bad++;
}

/* Places where two images differ though they must not: all of them, or what no group makes. */
static void check_same(struct session *s, const struct group_image *g, const char *x, const char *y, bool all,
                       const char *why)
{
    for (uint32_t i = 0; i < g->place.n; i++) {
        const struct group_place *p = &g->place.at[i];
        if ((all || !p->made) && memcmp(x + p->offset, y + p->offset, p->bytes) != 0) {
            report(s, why, "bytes differ");
            return;
        }
    }
}

static void check_values(struct session *s, struct group_image *g, const char *got)
{
    for (uint32_t i = 0; i < g->at.n; i++) {
        const struct group_case *c = &g->at.at[i];
        group_reference(g, &c->op.k);
        double d = group_difference(g, c, got);
        if (!(d <= 1)) {
            char why[64];
            snprintf(why, sizeof why, "%.3g of what is allowed", d);
            report(s, c->text, why);
        }
        s->worst = fmax(s->worst, d);
    }
}

/* The values last: they are computed in the image. */
static void check_image(struct session *s, struct group_image *g)
{
    uint64_t bytes = g->used;
    char *got = mem_alloc(3 * bytes);
    run_on_gpu(s, g, false, s->quick ? 1 : 2, got);
    if (!s->quick) {
        run_on_gpu(s, g, true, 1, got + 2 * bytes);
        check_same(s, g, got, got + bytes, true, "two launches");
        check_same(s, g, got, got + 2 * bytes, true, "a graph, and kernel by kernel");
    }
    check_same(s, g, g->image, got, false, "inputs");
    check_values(s, g, got);
    s->groups += g->at.n;
    mem_free(got, 3 * bytes);
}

static void keep_some(struct group_image *g)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->at.n; i += QUICK) {
        g->at.at[n++] = g->at.at[i];
    }
    g->at.n = n;
}

static void check_made_by_hand(struct session *s)
{
    struct group_image g;
    group_image_open(&g, IMAGE);
    group_handmade(&g);
    if (s->quick) {
        keep_some(&g);
    }
    check_image(s, &g);
    group_image_close(&g);
}

static void check_random(struct session *s, uint64_t from, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += BATCH) {
        struct group_image g;
        group_image_open(&g, IMAGE);
        for (uint64_t i = at; i < n && i < at + BATCH; i++) {
            group_random(&g, from + i);
        }
        check_image(s, &g);
        group_image_close(&g);
    }
}

int main(int argc, char **argv)
{
    char why[512] = "";
    struct session s = {.gpu = backend_cuda(NULL, why, sizeof why)};
    s.quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint64_t n = s.quick    ? 20
                 : argc > 1 ? strtoull(argv[1], NULL, 10)
                            : 300,
             from = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (!s.gpu) {
        stop("open", why);
    }
    graph.phases.at = &phase;
    graph.phases.n = 1;
    check_made_by_hand(&s);
    check_random(&s, from, n);
    printf("groups: %u, %u differ, worst %.2g of what is allowed, %.1f s to compile\n", s.groups, s.bad,
           s.worst, s.compile);
    return s.bad != 0;
}
