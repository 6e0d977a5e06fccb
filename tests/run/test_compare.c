/* Two sides of a comparison: equal graphs give equal bits, and an operator that was exchanged on one side is
 * found as the first value that differs. */
#include "runtime/run/check.h"
#include <math.h>
#include "compiler/compiler.h"
#include "tests/suite.h"

static const char text[] = "gml 1\n"
                           "layer Net() -> f32 {\n"
                           "    param w: f32[6, 5] = rand.normal([6, 5])\n"
                           "    param v: f32[5] = 0.5\n"
                           "    let x = rand.normal([7, 6])\n"
                           "    return mean(sin(relu(x @ w)) * v)\n"
                           "}\n"
                           "layer descent(p, g) {\n"
                           "    return p - 0.1 * g\n"
                           "}\n"
                           "let net = Net{}\n"
                           "phase train {\n"
                           "    minimize loss = net() over net using descent{}\n"
                           "}\n"
                           "run { repeat (4) { train for 2 steps; save } }\n";

static struct arena *arena;
static struct diag_sink sink;

static struct graph *compile(void)
{
    struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
    struct graph *g = NULL;
    if (gml_compile_text(arena, "test.gml", text, sizeof text - 1, &o, &sink, &g) != ST_OK) {
        diag_render(&sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("does not compile");
    }
    return g;
}

static void sides(struct compare_side *a, struct compare_side *b)
{
    static const struct run_options options = {
        .folder = "", .device = "cpu", .steps = 5, .seed = 3, .threads = 2, .max_skips = 8};
    arena = arena_new();
    diag_init(&sink, arena, NULL);
    *a = (struct compare_side){compile(), options};
    *b = (struct compare_side){compile(), options};
}

START_TEST(equal_sides)
{
    struct compare_side a, b;
    struct compare k;
    sides(&a, &b);
    b.options.threads = 1;
    ck_assert_int_eq(run_compare(&a, &b, 0, arena, &sink, &k), ST_OK);
    ck_assert(k.same && k.max_relative == 0);
    ck_assert_uint_eq(k.loss.n, 5);
    ck_assert_int_eq(k.loss.at[4].step, 5);
    ck_assert_str_eq(k.loss.at[0].name, "train.loss");
    ck_assert(k.loss.at[0].a != k.loss.at[4].a);
    ck_assert_int_gt(k.values, 8);
    ck_assert_uint_eq(k.first.node, 0);
    ck_assert_uint_eq(k.parameter.n, 2);
    ck_assert(k.parameter.at[0].d.max_error == 0 && k.parameter.at[1].d.differ == 0);
    arena_free(arena);
}
END_TEST

/* Another seed on side b changes draws, but not the weights it starts from. */
START_TEST(weights_of_a)
{
    struct compare_side a, b;
    struct compare k;
    sides(&a, &b);
    a.options.steps = b.options.steps = 0;
    b.options.seed = 4;
    ck_assert_int_eq(run_compare(&a, &b, 0, arena, &sink, &k), ST_OK);
    ck_assert(k.same && k.parameter.at[0].d.differ == 0 && k.parameter.at[0].d.n == 30);
    arena_free(arena);
}
END_TEST

START_TEST(other_precision)
{
    struct compare_side a, b;
    struct compare k;
    sides(&a, &b);
    graph_set_precision(b.graph, DT_F64);
    ck_assert_int_eq(run_compare(&a, &b, 1e-5, arena, &sink, &k), ST_OK);
    ck_assert(k.same && k.max_relative > 0);
    ck_assert(k.parameter.at[0].d.differ > 0 && k.parameter.at[0].d.relative < 1e-6);
    ck_assert(k.worst.node && k.worst.d.relative < 1e-5);
    arena_free(arena);
}
END_TEST

START_TEST(exchanged_operator)
{
    struct compare_side a, b;
    struct compare k;
    sides(&a, &b);
    uint32_t changed = 0;
    for (uint32_t i = 1; i < b.graph->nodes.n; i++) {
        if (b.graph->nodes.at[i].op == OP_relu) {
            b.graph->nodes.at[i].op = OP_silu;
            changed = i;
        }
    }
    ck_assert_uint_ne(changed, 0);
    ck_assert_int_eq(run_compare(&a, &b, 1e-3, arena, &sink, &k), ST_OK);
    ck_assert(!k.same && !k.loss.at[0].same);
    ck_assert_uint_eq(k.first.node, changed);
    ck_assert_str_eq(k.first.place, "test.gml:6");
    ck_assert_str_eq(k.first.scope, "net");
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("compare");
    tcase_add_test(t, equal_sides);
    tcase_add_test(t, weights_of_a);
    tcase_add_test(t, other_precision);
    tcase_add_test(t, exchanged_operator);
    return suite_run("run/compare", t, CK_FORK);
}
