/* Random graphs out of the operator table (tools/random): text and bytes, memory, passes and gradients of a
 * few hundred, and every row in some of them. Longer runs: tools/random_graphs.sh. The shrinker is tested on
 * a failure made up here.
 */
#include "compiler/passes.h"
#include "tests/suite.h"
#include "tools/random/suite.h"

enum { GRAPHS = 300 };

START_TEST(test_graphs)
{
    static struct random_suite s = {.from = 1, .n = GRAPHS};
    random_suite_run(&s);
    random_suite_print(&s, stdout);
    ck_assert_uint_eq(s.failures, 0);
    ck_assert_uint_eq(s.graphs, GRAPHS);
    ck_assert_uint_gt(s.moving, GRAPHS / GRADIENT_EVERY * 4);
    ck_assert_uint_le(s.kinks * 50, s.quotients);
    ck_assert_uint_le(s.not_finite * 100, s.graphs);
    for (int op = 1; op < OP_COUNT; op++) {
        ck_assert_msg(!random_reachable((enum op)op) || s.covered[op] > 0,
                      "%s is in no graph: it needs a maker in tools/random", op_table[op].name);
    }
}
END_TEST

START_TEST(test_same_seed)
{
    struct arena *a = arena_new();
    const char *text = random_seed_text(a, 12, false, NULL);
    ck_assert_str_eq(text, random_seed_text(a, 12, false, NULL));
    ck_assert_str_ne(text, random_seed_text(a, 13, false, NULL));
    ck_assert_uint_le(random_node_count(text), 2 * RANDOM_NODES);
    ck_assert_uint_le(random_node_count(random_seed_text(a, 13, false, NULL)), RANDOM_NODES);
    arena_free(a);
}
END_TEST

/* Graphs with a tanh of a tanh "fail": what is left is little more than these. */
static bool has_two(void *ctx, const char *text)
{
    const char *first = strstr(text, "= tanh");
    (*(uint32_t *)ctx)++;
    return first && strstr(first + 1, "= tanh");
}
/* The graph of a seed without what no root needs: only that can be made smaller step by step. */
static const char *live_text(struct arena *a, uint64_t seed)
{
    struct diag_sink sink;
    struct graph *g;
    diag_init(&sink, a, NULL);
    ck_assert_int_eq(graph_parse(a, random_seed_text(a, seed, false, NULL), &sink, &g), ST_OK);
    ck_assert(pass_dce(g, &sink, &g));
    return random_text(g, a);
}
START_TEST(test_shrinks)
{
    uint32_t shrunk = 0;
    for (uint64_t seed = 1; shrunk < 3; seed++) {
        struct arena *a = arena_new();
        uint32_t calls = 0;
        const char *text = live_text(a, seed);
        if (has_two(&calls, text)) {
            const char *small = random_shrink(a, text, has_two, &calls);
            ck_assert(has_two(&calls, small));
            ck_assert_msg(random_node_count(small) <= 8, "seed %u: %s", (unsigned)seed, small);
            shrunk++;
        }
        arena_free(a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("graphs");
    tcase_add_test(t, test_graphs);
    tcase_add_test(t, test_same_seed);
    tcase_add_test(t, test_shrinks);
    return suite_run("random graphs", t, CK_FORK);
}
