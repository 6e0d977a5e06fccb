/* A gradient that was spoilt on purpose is found, with its element; an unspoilt one is not. */
#include "runtime/run/check.h"
#include <math.h>
#include "compiler/compiler.h"
#include "tests/suite.h"

static const char text[] = "gml 1\n"
                           "layer Cubes() -> f32 {\n"
                           "    param w: f32[5] = 0.5\n"
                           "    param v: f32[3] = 0.25\n"
                           "    return sum(w ^ 3) + sum(v ^ 2)\n"
                           "}\n"
                           "layer descent(p, g) {\n"
                           "    return p - 0.1 * g\n"
                           "}\n"
                           "let net = Cubes{}\n"
                           "phase train {\n"
                           "    minimize loss = net() over net using descent{}\n"
                           "    metric other = net() + sum(net.w) / 64\n"
                           "}\n"
                           "run { train for 3 steps }\n";

static struct arena *arena;
static struct diag_sink sink;

static void check(bool spoil, struct gradcheck *out)
{
    static const struct run_options options = {.folder = "", .steps = -1, .seed = 1, .threads = 1};
    struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
    struct graph *g;
    arena = arena_new();
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(gml_elaborate(arena, "test.gml", text, sizeof text - 1, &o, &sink, &g), ST_OK);
    graph_set_precision(g, DT_F64);
    ck_assert_int_eq(run_passes(g, &o, &sink, &g), ST_OK);
    int train = graph_find_phase(g, "train");
    ck_assert_int_ge(train, 0);
    struct phase *p = &g->phases.at[train];
    for (uint32_t i = 0; i < p->metrics.n && spoil; i++) {
        if (strcmp(p->metrics.at[i].name, "other") == 0) {
            p->minimizes.at[0].loss = p->metrics.at[i].value; /* its gradient for w is larger by 1 / 64 */
        }
    }
    ck_assert_int_eq(run_gradcheck(g, NULL, &options, 4, arena, &sink, out), ST_OK);
}

START_TEST(right)
{
    struct gradcheck k;
    check(false, &k);
    ck_assert_int_eq(k.checked, 7);
    ck_assert_int_eq(k.wrong, 0);
    ck_assert_int_eq(k.kinks, 0);
    ck_assert_uint_eq(k.row.n, 2);
    ck_assert(k.row.at[0].worst.error < 1e-9 && k.row.at[1].worst.error < 1e-9);
    arena_free(arena);
}
END_TEST

START_TEST(wrong)
{
    struct gradcheck k;
    check(true, &k);
    ck_assert_int_eq(k.wrong, 4);
    for (uint32_t i = 0; i < k.row.n; i++) {
        const struct gradcheck_row *r = &k.row.at[i];
        bool is_w = strcmp(r->parameter, "net.w") == 0;
        ck_assert_int_eq(r->wrong, is_w ? 4 : 0);
        if (is_w) {
            ck_assert(fabs(r->worst.gradient - 0.75) < 1e-12);
            ck_assert(fabs(r->worst.difference - 0.75 - 1.0 / 64) < 1e-6);
        }
    }
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("gradcheck");
    tcase_add_test(t, right);
    tcase_add_test(t, wrong);
    return suite_run("run/gradcheck", t, CK_FORK);
}
