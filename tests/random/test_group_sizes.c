/* Groups at sizes that random graphs do not have: many tiles, long rows, wide columns. Fused must equal
 * unfused, and each graph must become as few launches as it says. */
#include "runtime/plan/group.h"
#include "tests/suite.h"
#include "tools/random/random.h"

struct case_of_groups {
    const char *what, *vars, *nodes, *roots;
    uint32_t launches;
};

static const struct case_of_groups cases[] = {
    {"a row that repeats, a number for each row, one result in place",
     "var 1 kind=state key=\"f0[-2,2]\" type=f32[700, 130]\n"
     "var 2 kind=state key=\"f1[-2,2]\" type=f32[130]\n"
     "var 3 kind=state key=\"f2[-2,2]\" type=f32[700]\n",
     "%1 = read f32[700, 130] {1}\n"
     "%2 = read f32[130] {2}\n"
     "%3 = reshape f32[1, 130] %2\n"
     "%4 = expand f32[700, 130] %3\n"
     "%5 = read f32[700] {3}\n"
     "%6 = reshape f32[700, 1] %5\n"
     "%7 = expand f32[700, 130] %6\n"
     "%8 = add f32[700, 130] %1, %4\n"
     "%9 = tanh f32[700, 130] %8\n"
     "%10 = mul f32[700, 130] %9, %7\n"
     "%11 = sub f32[700, 130] %1, %10\n",
     "  output 0 name=\"o0\" value=%9\n"
     "  commit 0 var=1 value=%11\n",
     1},
    {"rows: a norm with gain, and its softmax",
     "var 1 kind=state key=\"f0[-2,2]\" type=f32[300, 100]\n"
     "var 2 kind=state key=\"f1[-2,2]\" type=f32[100]\n",
     "%1 = read f32[300, 100] {1}\n"
     "%2 = mean f32[300] %1 {1}\n"
     "%3 = reshape f32[300, 1] %2\n"
     "%4 = expand f32[300, 100] %3\n"
     "%5 = sub f32[300, 100] %1, %4\n"
     "%6 = mul f32[300, 100] %5, %5\n"
     "%7 = mean f32[300] %6 {1}\n"
     "%8 = rsqrt f32[300] %7\n"
     "%9 = reshape f32[300, 1] %8\n"
     "%10 = expand f32[300, 100] %9\n"
     "%11 = mul f32[300, 100] %5, %10\n"
     "%12 = read f32[100] {2}\n"
     "%13 = reshape f32[1, 100] %12\n"
     "%14 = expand f32[300, 100] %13\n"
     "%15 = mul f32[300, 100] %11, %14\n"
     "%16 = softmax f32[300, 100] %15\n",
     "  output 0 name=\"o0\" value=%15\n"
     "  output 1 name=\"o1\" value=%16\n"
     "  output 2 name=\"o2\" value=%7\n",
     1},
    {"long rows, walked once for each level", "var 1 kind=state key=\"f0[-2,2]\" type=f32[150, 5000]\n",
     "%1 = read f32[150, 5000] {1}\n"
     "%2 = amax f32[150] %1 {1}\n"
     "%3 = reshape f32[150, 1] %2\n"
     "%4 = expand f32[150, 5000] %3\n"
     "%5 = sub f32[150, 5000] %1, %4\n"
     "%6 = exp f32[150, 5000] %5\n"
     "%7 = sum f32[150] %6 {1}\n"
     "%8 = log f32[150] %7\n",
     "  output 0 name=\"o0\" value=%8\n"
     "  output 1 name=\"o1\" value=%6\n",
     1},
    {"columns: a mask and its sum, as in the gradient of a bias",
     "var 1 kind=state key=\"f0[-2,2]\" type=f32[500, 70]\n"
     "var 2 kind=state key=\"f1[-2,2]\" type=f32[500, 70]\n",
     "%1 = read f32[500, 70] {1}\n"
     "%2 = read f32[500, 70] {2}\n"
     "%3 = gt bool[500, 70] %1, %2\n"
     "%4 = where f32[500, 70] %3, %1, %2\n"
     "%5 = sum f32[70] %4 {0}\n",
     "  output 0 name=\"o0\" value=%4\n"
     "  output 1 name=\"o1\" value=%5\n",
     1},
    {"a moment, a norm and a step: two launches",
     "var 1 kind=state key=\"f0[-2,2]\" type=f32[70000]\n"
     "var 2 kind=state key=\"f1[-2,2]\" type=f32[70000]\n",
     "%1 = read f32[70000] {1}\n"
     "%2 = read f32[70000] {2}\n"
     "%3 = add f32[70000] %1, %2\n"
     "%4 = mul f32[70000] %2, %2\n"
     "%5 = sum f32[] %4 {0}\n"
     "%6 = rsqrt f32[] %5\n"
     "%7 = reshape f32[1] %6\n"
     "%8 = expand f32[70000] %7\n"
     "%9 = mul f32[70000] %3, %8\n"
     "%10 = isfinite bool[70000] %2\n"
     "%11 = all bool[] %10 {0}\n"
     "%12 = reshape bool[1] %11\n"
     "%13 = expand bool[70000] %12\n"
     "%14 = where f32[70000] %13, %9, %1\n",
     "  commit 0 var=1 value=%14\n"
     "  output 0 name=\"o0\" value=%5\n",
     2},
    {"a turned operand",
     "var 1 kind=state key=\"f0[-2,2]\" type=f32[90, 110]\n"
     "var 2 kind=state key=\"f1[-2,2]\" type=f32[110, 90]\n",
     "%1 = read f32[90, 110] {1}\n"
     "%2 = read f32[110, 90] {2}\n"
     "%3 = permute f32[90, 110] %2 {1, 0}\n"
     "%4 = add f32[90, 110] %1, %3\n"
     "%5 = sigmoid f32[90, 110] %4\n"
     "%6 = sum f32[90] %5 {1}\n",
     "  output 0 name=\"o0\" value=%5\n"
     "  output 1 name=\"o1\" value=%6\n",
     1},
};

static const char *text_of(const struct case_of_groups *c, struct arena *a)
{
    return arena_printf(a,
                        "graph 1 model=\"groups\"\n%sin 1 # p\n%sphase 0 kind=init name=\"init\"\nphase 1 "
                        "kind=user name=\"p\"\n%s",
                        c->vars, c->nodes, c->roots);
}

START_TEST(test_cases)
{
    struct arena *a = arena_new();
    const struct case_of_groups *c = &cases[_i];
    struct random_verdict v;
    const char *text = text_of(c, a), *why = NULL;
    ck_assert_msg(random_check(text, CHECK_FUSE, &v), "%s: %s", c->what, v.why);
    struct diag_sink sink;
    struct graph *g;
    diag_init(&sink, a, NULL);
    ck_assert_int_eq(graph_parse(a, text, &sink, &g), ST_OK);
    const struct target groups = {.name = "cpu", .groups = true};
    struct plan *p = random_plan(g, &groups, false, a, &why);
    ck_assert_msg(p, "%s", why);
    const struct plan_variant *u = plan_find(p, 1, false);
    ck_assert_msg(u->n_op == c->launches, "%s: %u launches", c->what, u->n_op);
    ck_assert_int_eq(u->op[0].op, OP_group);
    arena_free(a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("groups");
    tcase_add_loop_test(t, test_cases, 0, sizeof cases / sizeof *cases);
    return suite_run("groups", t, CK_FORK);
}
