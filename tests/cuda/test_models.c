/* Shipped models on the CUDA executor with a fake device: every op has a kernel, every product goes to the
 * library, and a step stays within its budget of kernels. */
#include "compiler/compiler.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/suite.h"

static struct backend fake_backend;
static enum status open_fake(const struct exec_options *o, struct exec **e, char *why, size_t n)
{
    return cuda_open(&fake_api, &fake_backend, o, e, why, n);
}

static struct plan *plan_of(struct arena *a, const char *path, const struct target *t)
{
    struct diag_sink sink;
    struct graph *g;
    struct plan *p;
    diag_init(&sink, a, NULL);
    struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
    enum status st = gml_compile(a, path, &o, &sink, &g);
    int64_t *rows = arena_array(a, int64_t, 16);
    int64_t(*split)[2] = arena_alloc(a, LIMIT_PHASES * sizeof *split);
    for (int i = 0; i < 16; i++) {
        rows[i] = 1797;
    }
    for (int i = 0; i < LIMIT_PHASES; i++) {
        split[i][1] = 1437;
    }
    struct plan_options po = {.data_rows = rows, .split_rows = (const int64_t(*)[2])split, .target = *t};
    if (st == ST_OK) {
        st = plan_build(g, &po, a, &sink, &p);
    }
    if (st != ST_OK) {
        diag_render(&sink, DIAG_HUMAN, false, stderr);
    }
    ck_assert_int_eq(st, ST_OK);
    return p;
}

static void check_model(const char *name, uint64_t most_kernels)
{
    struct arena *a = arena_new();
    struct exec *e;
    struct exec_device d;
    struct exec_counts n;
    char why[512] = "", path[1024];
    fake_reset();
    fake.memory = (uint64_t)1 << 30;
    fake_backend = cuda_backend_functions;
    fake_backend.open = open_fake;
    snprintf(path, sizeof path, GML_SOURCE "/models/%s.gml", name);
    ck_assert_int_eq(fake_backend.open(&(struct exec_options){0}, &e, why, sizeof why), ST_OK);
    ck_assert_int_eq(cuda_device(e, &d), ST_OK);
    struct plan *p = plan_of(a, path, &d.target);
    ck_assert_int_eq(cuda_arena(e, p->device_bytes), ST_OK);
    fake_arena_address = e->arena;
    ck_assert_msg(cuda_prepare(e, p) == ST_OK, "%s", cuda_error_text(e));
    int phase = graph_find_phase(p->graph, "train");
    const struct plan_variant *v = plan_find(p, (uint32_t)phase, false);
    ck_assert_ptr_nonnull(v);
    uint32_t index = (uint32_t)(v - p->variant);
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct cuda_step *s = &e->variant[index].step[i];
        ck_assert(v->op[i].op != OP_matmul || s->library_plan || cuda_matmul_is_own(&v->op[i].k, &d.target));
    }
    ck_assert_int_eq(cuda_launch(e, index, true), ST_OK);
    cuda_counts(e, &n, false);
    printf("%s: %u ops, %llu kernels a step\n", name, v->n_op, (unsigned long long)n.kernels_per_launch);
    ck_assert_uint_le(n.kernels_per_launch, most_kernels);
    cuda_close(e);
    ck_assert_int_eq(fake.alive, 0);
    arena_free(a);
}

START_TEST(digits)
{
    check_model("digits", 120);
}
END_TEST

/* Recurrence in both directions: 32 and 64 iterations, so a kernel more in a body shows. */
START_TEST(scans)
{
    check_model("cfc_xor", 2700);
    check_model("lstm_text", 4150);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda models");
    tcase_add_test(t, digits);
    tcase_add_test(t, scans);
    return suite_run("cuda models", t, CK_FORK);
}
