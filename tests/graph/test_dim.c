/* Dimensions: equal forms have equal ids, values are exact or refused, text reads back. */
#include "runtime/graph/dim.h"
#include "tests/suite.h"

static struct arena *arena;
static struct dims d;

static void setup(void)
{
    arena = arena_new();
    dims_init(&d, arena);
}
static void teardown(void)
{
    arena_free(arena);
}

static dim parse(const char *s)
{
    const char *end;
    dim x = dim_parse(&d, s, &end);
    ck_assert_msg(x == 0 || *end == 0, "rest of \"%s\": \"%s\"", s, end);
    return x;
}

static const char *print(dim x)
{
    struct text t = {.arena = arena};
    dim_print(&d, x, &t);
    return t.at;
}

START_TEST(equal_forms)
{
    static const char *const equal[][2] = {
        {"N*T/M*M", "N*T"},
        {"H/4*4", "H"},
        {"(a + b)*c", "a*c + b*c"},
        {"a*c + b*c", "c*b + c*a"},
        {"(a + 1)*(a - 1)", "a*a - 1"},
        {"a - a", "0"},
        {"H/2 + H/2", "H"},
        {"min(a, b)", "min(b, a)"},
        {"min(2*a/2, b + 0)", "min(a, b)"},
        {"(a*2 // b)", "((a + a) // b)"},
        {"(7 // 2)", "3"},
        {"((0 - 7) // 2)", "0 - 4"},
        {"((0 - 7) % 2)", "1"},
        {"max(3, 4)", "4"},
        {"(a // 1)", "a"},
        {"(a % 1)", "0"},
        {"max(a, a)", "a"},
        {"6*H/4", "3*H/2"},
    };
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        dim a = parse(equal[i][0]), b = parse(equal[i][1]);
        ck_assert_msg(a && a == b, "%s is %s, %s is %s", equal[i][0], print(a), equal[i][1], print(b));
    }
    static const char *const different[][2] = {
        {"a", "b"},          {"a*b", "a + b"}, {"(a // b)", "(b // a)"},
        {"(a // 2)", "a/2"}, {"a/b", "b/a"},   {"1", "2"}};
    for (size_t i = 0; i < sizeof different / sizeof *different; i++) {
        ck_assert_int_ne(parse(different[i][0]), parse(different[i][1]));
    }
    int64_t v;
    ck_assert(dim_is_const(&d, parse("a - a + 5"), &v) && v == 5);
    ck_assert(!dim_is_const(&d, parse("a"), &v) && !dim_is_const(&d, parse("1/2"), &v));
    uint32_t tree;
    ck_assert(dim_is_tree(&d, parse("tree(7)*2/2"), &tree) && tree == 7);
    ck_assert(!dim_is_tree(&d, parse("tree(7) + 1"), &tree));
}
END_TEST

START_TEST(refused)
{
    static const char *const bad[] = {"",
                                      "+",
                                      "a +",
                                      "(a",
                                      "min(a)",
                                      "min(a,",
                                      "a/(b + c)",
                                      "a/0",
                                      "(a // 0)",
                                      "9223372036854775807*9",
                                      "99999999999999999999",
                                      "tree()",
                                      "tree(x)",
                                      "foo(a)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *end;
        ck_assert_msg(dim_parse(&d, bad[i], &end) == 0, "%s", bad[i]);
    }
    ck_assert_int_eq(dim_symbol(&d, "a b"), 0);
    ck_assert_int_eq(dim_add(&d, 0, dim_const(&d, 1)), 0);
    dim x = parse("a + b + c + d + e + f + g + h");
    for (int i = 0; i < 10; i++) { /* out of bounds, never out of memory */
        x = dim_mul(&d, x, x);
    }
    ck_assert_int_eq(x, 0);
    x = parse("a");
    for (int i = 0; i < 100; i++) { /* would take 2^100 steps to print */
        x = dim_opaque(&d, ATOM_MIN, x, dim_add(&d, x, dim_const(&d, 1)));
    }
    ck_assert_int_eq(x, 0);
    char deep[20001];
    memset(deep, '(', 20000);
    deep[20000] = 0;
    const char *end;
    ck_assert_int_eq(dim_parse(&d, deep, &end), 0);
}
END_TEST

/* Value of text with a = 7, b = 2, z = 0, L = 2^40; -1 when refused. */
static int64_t value(const char *s)
{
    static const char *const name[] = {"a", "b", "z", "L"};
    static const int64_t bound[] = {7, 2, 0, (int64_t)1 << 40};
    dim x = parse(s);
    ck_assert_msg(x != 0, "%s", s);
    int64_t atoms[256], v;
    memset(atoms, -1, sizeof atoms);
    for (int k = 0; k < 4; k++) {
        uint32_t atom;
        ck_assert(dim_is_symbol(&d, dim_symbol(&d, name[k]), &atom) && atom < 256);
        atoms[atom] = bound[k];
    }
    return dim_eval(&d, &(struct binding){atoms, 256}, x, &v) ? v : -1;
}

START_TEST(values)
{
    ck_assert_int_eq(value("a*b + 3"), 17);
    ck_assert_int_eq(value("a/2 + a/2"), 7);
    ck_assert_int_eq(value("a*a/2 + a/2"), 28); /* whole as a sum only */
    ck_assert_int_eq(value("a/b"), -1);
    ck_assert_int_eq(value("a/z"), -1);
    ck_assert_int_eq(value("b - a"), -1);
    ck_assert_int_eq(value("max(b - a, 0)"), 0);
    ck_assert_int_eq(value("(a // b)"), 3);
    ck_assert_int_eq(value("((b - a) // b) + 10"), 7); /* -5 // 2 = -3 */
    ck_assert_int_eq(value("((b - a) % b)"), 1);
    ck_assert_int_eq(value("(a // z)"), -1);
    ck_assert_int_eq(value("min(a, b)*max(a, b)"), 14);
    ck_assert_int_eq(value("L"), (int64_t)1 << 40);
    ck_assert_int_eq(value("L + 1"), -1);
    ck_assert_int_eq(value("L*L*L*L*L"), -1);
    ck_assert_int_eq(value("L*L/L"), (int64_t)1 << 40);
    ck_assert_int_eq(value("L*L*L*L*L*a/(L*L*L*L*L)"), 7);
    ck_assert_int_eq(value("unbound"), -1);
}
END_TEST

/* Printing does not depend on the order in which things were made. */
START_TEST(text_round_trip)
{
    static const char *const texts[] = {"B",
                                        "4*H + 1",
                                        "min(500, b)",
                                        "-a + 3",
                                        "2*a*b/3/c - 1/2",
                                        "tree(0) + train.b",
                                        "((a + b) // 4)*c + max(a, (b % 3))",
                                        "a*a*b - a*b",
                                        "0",
                                        "min(1, (x // y))/z"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dim x = parse(texts[i]);
        const char *once = print(x);
        ck_assert_msg(x && parse(once) == x, "%s prints as %s", texts[i], once);
        struct dims fresh;
        dims_init(&fresh, arena);
        dim_symbol(&fresh, "z");
        dim_symbol(&fresh, "c");
        const char *end;
        struct text t = {.arena = arena};
        dim_print(&fresh, dim_parse(&fresh, once, &end), &t);
        ck_assert_str_eq(t.at, once);
    }
    ck_assert_str_eq(print(parse("1 + H*4")), "4*H + 1");
    ck_assert_str_eq(print(parse("b + a*b + a")), "a*b + a + b");
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("dim");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, equal_forms);
    tcase_add_test(c, refused);
    tcase_add_test(c, values);
    tcase_add_test(c, text_round_trip);
    return suite_run("dim", c, CK_NOFORK);
}
