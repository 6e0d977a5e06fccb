/* Launches of a step of each shipped model, with fusion, against the budgets of tests/plan/launches.tsv. The
 * launches of a loop count once for each iteration. The plan is that of an H200, but needs no device. */
#include "compiler/compiler.h"
#include "runtime/plan/cost.h"
#include "runtime/run/internal.h"
#include "tests/suite.h"

struct budget {
    char model[64], phase[64];
    uint64_t launches;
};

static uint64_t launches_of(const struct plan_variant *v, struct arena *a)
{
    uint64_t n = 0;
    int64_t *times = arena_array(a, int64_t, v->n_op);
    op_times(v, times);
    for (uint32_t i = 0; i < v->n_op; i++) {
        n += v->op[i].loop ? 0 : (uint64_t)times[i];
    }
    return n;
}

static struct run *open_model(struct arena *a, const char *name, struct diag_sink *sink)
{
    static const struct run_options o_run = {.folder = GML_SOURCE "/models", .steps = -1};
    struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
    struct graph *g;
    struct run *r;
    diag_init(sink, a, NULL);
    enum status st = gml_compile(a, arena_printf(a, GML_SOURCE "/models/%s.gml", name), &o, sink, &g);
    st = st == ST_OK ? run_open_plan(g, &o_run, run_target("h200"), sink, &r) : st;
    if (st != ST_OK) {
        diag_render(sink, DIAG_SHORT, false, stderr);
        ck_abort_msg("%s has no plan", name);
    }
    return r;
}

/* Every phase that trains, collects or serves stands in the table; the rest of the model is not asked. */
static void check(const struct budget *b)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct run *r = open_model(a, b->model, &sink);
    int phase = graph_find_phase(r->graph, b->phase);
    ck_assert_msg(phase >= 0, "%s has no phase %s", b->model, b->phase);
    ck_assert_int_eq(plan_check(r->plan, &sink), ST_OK);
    uint64_t n = launches_of(plan_find(r->plan, (uint32_t)phase, false), a);
    printf("%s\t%s\t%llu\n", b->model, b->phase, (unsigned long long)n);
    ck_assert_msg(n <= b->launches, "%s: %s takes %llu launches, more than %llu (tests/plan/launches.tsv)",
                  b->model, b->phase, (unsigned long long)n, (unsigned long long)b->launches);
    run_close(r);
    arena_free(a);
}

START_TEST(budgets)
{
    FILE *f = fopen(GML_SOURCE "/tests/plan/launches.tsv", "r");
    char line[256];
    struct budget b;
    int rows = 0;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long long n;
        if (line[0] != '#' && sscanf(line, "%63s %63s %llu", b.model, b.phase, &n) == 3) {
            b.launches = n;
            check(&b);
            rows++;
        }
    }
    fclose(f);
    ck_assert_int_ge(rows, 9);
}
END_TEST

/* AdamW: what must be known of all gradients, the update of all parameters and moments in one pass, and the
 * count of updates, which every element of that pass reads. */
START_TEST(flat_updates)
{
    static const char *const models[] = {"digits", "kan_digits"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct arena *a = arena_new();
        struct diag_sink sink;
        struct run *r = open_model(a, models[m], &sink);
        const struct plan_variant *v =
            plan_find(r->plan, (uint32_t)graph_find_phase(r->graph, "train"), false);
        int n = 0;
        for (uint32_t i = 0; i < v->n_op; i++) {
            n += v->op[i].part == PART_OPTIMIZER;
        }
        ck_assert_int_gt(n, 0);
        ck_assert_msg(n <= 3, "%s: an update takes %d launches", models[m], n);
        run_close(r);
        arena_free(a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("launches");
    tcase_add_test(t, budgets);
    tcase_add_test(t, flat_updates);
    tcase_set_timeout(t, 120);
    return suite_run("launches", t, CK_NOFORK);
}
