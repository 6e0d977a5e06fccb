/* Two lanes of a graph (cuda_lanes.c): steps of shipped models that no path of edges orders touch nothing of
 * each other, by extents of its own; and there are some. */
#include "runtime/plan/checker.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/plan/model.h"
#include "tests/suite.h"

enum { NODES = 512 };
static bool before[NODES][NODES]; /* [x][y]: a path leads from x to y */

static bool meet(const struct operand *x, const struct operand *y)
{
    struct extent a = operand_extent(x), b = operand_extent(y);
    return x->dtype != DT_NONE && y->dtype != DT_NONE && a.from < b.end && b.from < a.end;
}
static bool writes_into(const struct kargs *x, const struct kargs *y)
{
    bool found = false;
    for (uint16_t i = 0; i < x->n_out; i++) {
        for (uint16_t k = 0; k < y->n_out; k++) {
            found |= meet(&x->out[i], &y->out[k]);
        }
        for (uint16_t k = 0; k < y->n_in; k++) {
            found |= meet(&x->out[i], &y->in[k]);
        }
    }
    return found;
}

static void find_paths(const struct fake_graph *g)
{
    memset(before, 0, sizeof before);
    for (int y = 0; y < g->n; y++) {
        for (int i = 0; i < g->node[y].n_waits; i++) {
            int x = g->node[y].waits_for[i];
            before[x][y] = true;
            for (int w = 0; w < x; w++) {
                before[w][y] |= before[w][x];
            }
        }
    }
}

/* Pairs of launches that may run at the same time. */
static int check_pairs(const struct exec *e, uint32_t variant, const struct fake_graph *g)
{
    const struct cuda_variant *v = &e->variant[variant];
    const struct plan_op *op = e->plan->variant[variant].op;
    uint32_t step[NODES], n = 0;
    int pairs = 0;
    for (uint32_t i = 0; i < v->n_step; i++) {
        for (uint32_t k = 0; k < v->step[i].n_launch; k++) {
            step[n++] = v->step[i].op;
        }
    }
    ck_assert_int_eq(g->n, (int)n);
    for (uint32_t y = 0; y < n; y++) {
        for (uint32_t x = 0; x < y; x++) {
            if (!before[x][y]) {
                const struct kargs *a = &op[step[x]].k, *b = &op[step[y]].k;
                ck_assert_msg(!writes_into(a, b) && !writes_into(b, a), "launches %u and %u", x, y);
                pairs++;
            }
        }
    }
    return pairs;
}

static void check_model(const char *path, int least)
{
    struct arena *a = arena_new();
    struct target t;
    struct exec *e = fake_device(&(struct exec_options){0}, (uint64_t)1 << 32, &t);
    t.groups = true;
    struct plan *p = model_plan(a, path, &t, true, 1797);
    fake_prepare(e, p, path);
    uint32_t variant =
        (uint32_t)(plan_find(p, (uint32_t)graph_find_phase(p->graph, "train"), false) - p->variant);
    struct cuda_line line = {.graph = NULL};
    ck_assert_int_eq(e->api.graph_create(e->api.ctx, &line.graph), 0);
    ck_assert_int_eq(cuda_steps_add(e, &e->variant[variant], 0, e->variant[variant].n_step, &line), ST_OK);
    ck_assert_int_eq(line.n_aside, 0);
    find_paths(line.graph);
    int pairs = check_pairs(e, variant, line.graph);
    printf("%s: %d launches, %d pairs side by side\n", path, ((struct fake_graph *)line.graph)->n, pairs);
    ck_assert_int_ge(pairs, least);
    e->api.graph_destroy(e->api.ctx, line.graph);
    cuda_close(e);
    ck_assert_int_eq(fake.alive, 0);
    arena_free(a);
}

START_TEST(side_by_side)
{
    check_model(GML_SOURCE "/tools/bench/models/mlp.gml", 6);
    check_model(GML_SOURCE "/tools/bench/models/splines.gml", 2);
    check_model(GML_SOURCE "/models/digits.gml", 3);
    check_model(GML_SOURCE "/models/attention_digits.gml", 10);
    check_model(GML_SOURCE "/models/gan_points.gml", 6);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda lanes");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, side_by_side);
    return suite_run("cuda lanes", t, CK_FORK);
}
