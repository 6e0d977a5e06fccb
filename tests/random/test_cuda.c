/* Random graphs on the CUDA executor with a fake device: every operator that a graph can hold has a
 * kernel there, for every type and layout that the planner gives it, and a launch of graphs runs what the
 * host would launch kernel by kernel, loops included. What the kernels compute is checked by gpu_random on a
 * GPU. */
#include "tests/cuda/fake_cuda.h"
#include "tests/suite.h"
#include "tools/random/random.h"

enum { GRAPHS = 150 };

static struct plan *plan_of(uint64_t seed, struct arena *a, const struct target *t)
{
    struct random_options o = {
        .number = seed % 2 ? DT_F32 : DT_F64, .mixed = seed % 5 == 0, .loops = seed % 3 == 0};
    const char *why = NULL;
    struct graph *g = random_passes(random_graph(a, seed, &o, NULL), RANDOM_ALL_PASSES, a, &why);
    struct plan *p = g ? random_plan(g, t, false, a, &why) : NULL;
    ck_assert_msg(p != NULL, "seed %u: %s", (unsigned)seed, why);
    return p;
}
/* Kernels of one launch of the last variant: counted while they run. */
static int run_seed(uint64_t seed, bool eager)
{
    struct arena *a = arena_new();
    struct target t;
    struct exec *e = fake_device(&(struct exec_options){.eager = eager}, (uint64_t)1 << 28, &t);
    struct exec_counts n;
    struct plan *p = plan_of(seed, a, &t);
    char what[32];
    snprintf(what, sizeof what, "seed %u", (unsigned)seed);
    fake_prepare(e, p, what);
    fake.kernels = fake.n_trace = 0;
    ck_assert_msg(cuda_launch(e, p->n_variant - 1, true) == ST_OK, "seed %u: %s", (unsigned)seed,
                  cuda_error_text(e));
    cuda_counts(e, &n, false);
    ck_assert_msg(n.kernels_per_launch == (uint64_t)fake.kernels, "seed %u: %u kernels are %d",
                  (unsigned)seed, (unsigned)n.kernels_per_launch, fake.kernels);
    cuda_close(e);
    ck_assert_int_eq(fake.alive, 0);
    arena_free(a);
    return fake.kernels;
}
START_TEST(test_launches)
{
    static struct fake_ran trace[FAKE_TRACE];
    int whiles = 0;
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        int kernels = run_seed(seed, true), n = fake.n_trace;
        memcpy(trace, fake.trace, sizeof trace);
        ck_assert_msg(run_seed(seed, false) == kernels, "seed %u", (unsigned)seed);
        ck_assert_msg(!memcmp(trace, fake.trace, (size_t)n * sizeof *trace), "seed %u", (unsigned)seed);
        whiles += fake.n_condition > 0;
    }
    ck_assert_int_gt(whiles, GRAPHS / 20); /* bodies of few kernels are written out instead */
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda");
    tcase_add_test(t, test_launches);
    return suite_run("random graphs on cuda", t, CK_FORK);
}
