/* Shipped models on the CUDA executor with a fake device: every op has a kernel, every product goes to the
 * library, a step stays within its budget of kernels, and a group is launched for all of its rows. */
#include "tests/cuda/fake_cuda.h"
#include "tests/plan/model.h"
#include "tests/suite.h"

static void check_model(const char *name, uint64_t most_kernels)
{
    struct arena *a = arena_new();
    struct exec_counts n;
    struct target t;
    struct exec *e = fake_device(&(struct exec_options){0}, (uint64_t)1 << 30, &t);
    char path[1024];
    snprintf(path, sizeof path, GML_SOURCE "/models/%s.gml", name);
    struct plan *p = model_plan(a, path, &t, false, 1797);
    fake_prepare(e, p, name);
    int phase = graph_find_phase(p->graph, "train");
    const struct plan_variant *v = plan_find(p, (uint32_t)phase, false);
    ck_assert_ptr_nonnull(v);
    uint32_t index = (uint32_t)(v - p->variant);
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct cuda_step *s = &e->variant[index].step[i];
        ck_assert(v->op[i].op != OP_matmul || s->blas_plan || cuda_matmul_is_own(&v->op[i].k, &t));
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

/* Groups of different numbers of rows may have one text, and so one kernel: each is launched for its own. */
START_TEST(shared_kernels)
{
    struct arena *a = arena_new();
    struct target t;
    struct exec *e = fake_device(&(struct exec_options){0}, (uint64_t)1 << 30, &t);
    const char *path = GML_SOURCE "/models/attention_digits.gml";
    t.groups = true;
    struct plan *p = model_plan(a, path, &t, true, 1797);
    fake_prepare(e, p, path);
    int differ = 0;
    for (uint32_t v = 0; v < p->n_variant; v++) {
        for (uint32_t i = 0; i < p->variant[v].n_op && e->variant[v].ready; i++) {
            const struct cuda_step *s = &e->variant[v].step[i];
            struct codegen_kernel own;
            if (s->kernel) {
                ck_assert(codegen_group(&p->variant[v].op[i].k, a, &own));
                ck_assert_uint_eq(s->launch->grid[0], (uint64_t)own.schedule.blocks);
                differ += own.schedule.blocks != s->kernel->made.schedule.blocks;
            }
        }
    }
    ck_assert_int_gt(differ, 0);
    cuda_close(e);
    arena_free(a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda models");
    tcase_add_test(t, shared_kernels);
    tcase_add_test(t, digits);
    tcase_add_test(t, scans);
    return suite_run("cuda models", t, CK_FORK);
}
