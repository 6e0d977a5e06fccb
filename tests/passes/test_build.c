/* Building by meaning: broadcasting through explicit views, products of any rank, what a wrong operand is
 * told, and formulas. */
#include <stdlib.h>
#include "compiler/build.h"
#include "tests/suite.h"

static struct arena *a;
static struct graph *g;
static struct diag_sink sink;
static struct build b;

static void setup(void)
{
    a = arena_new();
    g = graph_new(a);
    diag_init(&sink, a, &g->sources);
    vec_push(a, &g->phases, ((struct phase){.name = "init"}));
    b = (struct build){.g = g, .sink = &sink};
}
static void teardown(void)
{
    arena_free(a);
}
/* A variable of a type written as in "f32[B, 3]", read. */
static val input(enum dtype t, int rank, const char *const *dims)
{
    struct var v = {
        .kind = VAR_STATE, .key = arena_printf(a, "v%u", g->vars.n), .type = {.dtype = t, .rank = rank}};
    const char *end;
    for (int i = 0; i < rank; i++) {
        v.type.dim[i] = dim_parse(&g->dims, dims[i], &end);
    }
    vec_push(a, &g->vars, v);
    struct node_spec s = {.op = OP_read, .attr = (int64_t[]){g->vars.n - 1}, .n_attr = 1};
    return graph_add(g, &s, &sink);
}
#define IN(t, ...)                                                                                           \
    input(t, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

static const char *type_at(val v)
{
    ck_assert_uint_ne(v, 0);
    struct type t = node_type(g, v);
    return type_text(g, &t);
}
static enum op op_at(val v)
{
    return (enum op)graph_node(g, v)->op;
}
static val in_of(val v, uint32_t i)
{
    return node_inputs(g, graph_node(g, v))[i];
}
static void expect(enum diag_code code, const char *part)
{
    ck_assert_uint_eq(sink.list.n, 1);
    ck_assert_msg(sink.list.at[0].code == code, "%s", sink.list.at[0].message);
    ck_assert_msg(strstr(sink.list.at[0].message, part) != NULL, "\"%s\" is not in \"%s\"", part,
                  sink.list.at[0].message);
}

START_TEST(test_broadcast)
{
    val x = IN(DT_F32, "B", "1", "4"), y = IN(DT_F32, "3", "1");
    val r = build_2(&b, OP_add, x, y);
    ck_assert_str_eq(type_at(r), "f32[B, 3, 4]");
    ck_assert_int_eq(op_at(in_of(r, 0)), OP_expand);
    ck_assert_uint_eq(in_of(in_of(r, 0), 0), x);
    ck_assert_int_eq(op_at(in_of(in_of(r, 1), 0)), OP_reshape);
    val s = build_2(&b, OP_mul, x, build_const(&b, DT_F32, 2));
    ck_assert_str_eq(type_at(s), "f32[B, 1, 4]");
    ck_assert_uint_eq(in_of(s, 0), x);
    struct type t = node_type(g, y);
    ck_assert_str_eq(type_at(build_sum_to(&b, r, &t)), "f32[3, 1]");
    ck_assert_uint_eq(build_2(&b, OP_add, 0, x), 0);
    ck_assert_uint_eq(sink.list.n, 0);
}
END_TEST
START_TEST(test_shapes_differ)
{
    ck_assert_uint_eq(build_2(&b, OP_add, IN(DT_F32, "B", "3"), IN(DT_F32, "B")), 0);
    expect(DIAG_E2001, "f32[B, 3] and f32[B]: 3 and B differ");
}
END_TEST
START_TEST(test_types_differ)
{
    ck_assert_uint_eq(build_2(&b, OP_mul, IN(DT_F32, "B"), IN(DT_I32, "B")), 0);
    expect(DIAG_E2002, "`*` needs operands of one type, found f32[B] and i32[B]");
    ck_assert_str_eq(sink.list.at[0].help, "cast the second operand: f32(..)");
}
END_TEST
START_TEST(test_type_not_accepted)
{
    val i = IN(DT_I32, "B");
    ck_assert_uint_eq(build_2(&b, OP_div, i, i), 0);
    expect(DIAG_E2002, "`/` needs floats, found i32[B]");
    ck_assert_ptr_nonnull(strstr(sink.list.at[0].help, "//"));
}
END_TEST
START_TEST(test_condition)
{
    val x = IN(DT_F32, "B");
    ck_assert_uint_eq(build_3(&b, OP_where, x, x, x), 0);
    expect(DIAG_E2002, "condition of `where` must be bool, found f32[B]");
}
END_TEST
START_TEST(test_matmul)
{
    val x = IN(DT_F32, "B", "T", "I"), w = IN(DT_F32, "I", "O"), u = IN(DT_F32, "B", "I", "O");
    val y = build_matmul(&b, x, w);
    ck_assert_str_eq(type_at(y), "f32[B, T, O]");
    ck_assert_int_eq(op_at(y), OP_reshape);
    ck_assert_str_eq(type_at(in_of(y, 0)), "f32[B*T, O]");
    ck_assert_str_eq(type_at(build_2(&b, OP_matmul, x, u)), "f32[B, T, O]");
    ck_assert_str_eq(type_at(build_matmul(&b, IN(DT_F32, "M", "I"), u)), "f32[B, M, O]");
    ck_assert_uint_eq(sink.list.n, 0);
}
END_TEST
START_TEST(test_inner_differ)
{
    ck_assert_uint_eq(build_matmul(&b, IN(DT_F32, "B", "256"), IN(DT_F32, "128", "10")), 0);
    expect(DIAG_E2012, "`@` needs equal inner dimensions, found 256 and 128");
}
END_TEST
START_TEST(test_vector)
{
    ck_assert_uint_eq(build_matmul(&b, IN(DT_F32, "3"), IN(DT_F32, "3", "10")), 0);
    expect(DIAG_E2003, "left operand is f32[3]");
}
END_TEST
START_TEST(test_reduce)
{
    val x = IN(DT_BOOL, "B", "3");
    ck_assert_str_eq(type_at(build_reduce(&b, OP_mean, x, NULL, -1, false)), "f32[]");
    ck_assert_str_eq(type_at(build_reduce(&b, OP_sum, x, (int[]){1}, 1, true)), "i32[B, 1]");
    ck_assert_uint_eq(sink.list.n, 0);
    ck_assert_uint_eq(build_reduce(&b, OP_any, IN(DT_F32, "B"), NULL, -1, false), 0);
    expect(DIAG_E2002, "`any` needs bool, found f32[B]");
}
END_TEST
START_TEST(test_symbols)
{
    ck_assert_int_eq(op_by_symbol("-", 1), OP_neg);
    ck_assert_int_eq(op_by_symbol("-", 2), OP_sub);
    ck_assert_int_eq(op_by_symbol("~", 2), OP_NONE);
    ck_assert_str_eq(op_text(OP_amax), "max");
    ck_assert_str_eq(op_text(OP_land), "and");
    for (int op = 1; op < OP_COUNT; op++) {
        bool symbol = op_table[op].kind == OPK_ELEM && !*op_table[op].dsl && op != OP_cast;
        ck_assert_msg(!symbol ||
                          op_by_symbol(op_text((enum op)op), (uint32_t)op_table[op].n_min) == (enum op)op,
                      "%s has no symbol and no name", op_table[op].name);
    }
}
END_TEST

START_TEST(test_formula)
{
    val x = IN(DT_F32, "B"), p = IN(DT_F32, "B");
    const struct formula_name names[] = {{"x", x}, {"g", p}};
    val r = build_formula(&b, "g * (1 - 2 * 0.25) + where(x > 0, g, 0.0)", names, 2);
    ck_assert_str_eq(type_at(r), "f32[B]");
    ck_assert_int_eq(op_at(r), OP_add);
    ck_assert_int_eq(op_at(in_of(r, 0)), OP_mul);
    ck_assert_uint_eq(build_formula(&b, "g * (1 - 2 * 0.25) + where(x > 0, g, 0.0)", names, 2), r);
    ck_assert_str_eq(type_at(build_formula(&b, "-x^2", names, 2)), "f32[B]");
    ck_assert_uint_eq(g->sources.list.n, 1); /* user sources stay what they are */
    ck_assert_uint_eq(sink.list.n, 0);
}
END_TEST
START_TEST(test_bad_formula)
{
    static const char *const texts[] = {"q * g", "g +", "nothing(g)", "g.x", "sum(g)"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct formula_name names[] = {{"g", IN(DT_F32, "B")}};
        sink.list.n = 0;
        ck_assert_uint_eq(build_formula(&b, texts[i], names, 1), 0);
        expect(DIAG_I0001, texts[i]);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("build");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_broadcast);
    tcase_add_test(t, test_shapes_differ);
    tcase_add_test(t, test_types_differ);
    tcase_add_test(t, test_type_not_accepted);
    tcase_add_test(t, test_condition);
    tcase_add_test(t, test_matmul);
    tcase_add_test(t, test_inner_differ);
    tcase_add_test(t, test_vector);
    tcase_add_test(t, test_reduce);
    tcase_add_test(t, test_symbols);
    tcase_add_test(t, test_formula);
    tcase_add_test(t, test_bad_formula);
    return suite_run("build", t, CK_NOFORK);
}
