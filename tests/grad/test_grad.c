/* Gradients against central differences in f64, for every differentiable row of the operator table and
 * function of the language.
 *
 * The samples are those of tests/golden/ops.json that have `fd`: inputs from the row's domain, away from
 * kinks and ties. Each builds loss = sum(w * result) and runs it through the passes, the planner and the CPU
 * backend, one sample of each case also without the optimizing passes; at most TRIED elements of an input are
 * moved, chosen by number. Tolerance: 1e-7 + 1e-6 |g|, or 1e-5 + 1e-3 |g| for rows that say `loose`.
 */
#include "tests/ops/sample.h"

enum { TRIED = 5, LEAST_SAMPLES = 50 };
static json_t *rows;
/* Rows that some case of this test differentiates. */
static bool covered[OP_COUNT];

/* -- difference quotients */

static void check_element(struct op_case *c, uint32_t k, int64_t i, double found, bool loose)
{
    struct case_input *in = &c->in[k];
    double x = in->at[i], h = 1e-5, f[2];
    for (int side = 0; side < 2; side++) {
        case_store(c, in->var, i, x + (side ? h : -h));
        f[side] = case_loss(c);
    }
    case_store(c, in->var, i, x);
    double want = (f[1] - f[0]) / (2 * h),
           allowed = loose ? 1e-5 + 1e-3 * fabs(want) : 1e-7 + 1e-6 * fabs(want);
    ck_assert_msg(fabs(found - want) <= allowed,
                  "%s: input %u, element %ld = %.6g: gradient %.12g, difference quotient %.12g", c->name, k,
                  (long)i, x, found, want);
}
/* The gradient at the inputs as they are. */
static void check_gradient(struct op_case *c, uint64_t seed, bool loose)
{
    double found[CASE_INPUTS][TRIED];
    int64_t at[CASE_INPUTS][TRIED];
    ck_assert_msg(isfinite(case_loss(c)), "%s: the loss is not finite", c->name);
    for (uint32_t k = 0; k < c->n_in; k++) {
        for (int64_t j = 0; j < TRIED && j < c->in[k].n && !c->in[k].flat; j++) {
            at[k][j] = c->in[k].n <= TRIED ? j : (int64_t)(case_bits(seed, 48 + k, j) % (uint64_t)c->in[k].n);
            found[k][j] = case_output(c, 2, case_gradient(c, k) + at[k][j]);
        }
    }
    for (uint32_t k = 0; k < c->n_in; k++) {
        for (int64_t j = 0; j < TRIED && j < c->in[k].n && !c->in[k].flat; j++) {
            check_element(c, k, at[k][j], found[k][j], loose);
        }
    }
}

/* -- the samples of a row */

static void check_sample(json_t *row, json_t *sample, size_t number, bool no_passes)
{
    struct op_case c;
    bool loose = json_is_true(json_object_get(row, "loose"));
    sample_begin(&c, row, sample, number);
    case_compile(&c, no_passes);
    int seeds = no_passes ? 1 : (int)json_integer_value(json_object_get(sample, "seeds"));
    for (int s = 0; s < seeds; s++) {
        sample_draw(&c, sample_seed(number, s));
        check_gradient(&c, sample_seed(number, s), loose);
    }
    case_end(&c);
}
START_TEST(test_samples)
{
    json_t *row = json_array_get(rows, (size_t)_i), *sample;
    bool text = json_is_true(json_object_get(row, "text"));
    size_t number;
    long ran = 0;
    json_array_foreach(json_object_get(row, "cases"), number, sample)
    {
        if (json_is_true(json_object_get(sample, "fd"))) {
            check_sample(row, sample, number, false);
            check_sample(row, sample, number, true);
            ran += json_integer_value(json_object_get(sample, "seeds"));
            covered[text ? OP_NONE : op_by_name(sample_text(row, "name"))] = true;
        }
    }
    ck_assert_msg(ran == sample_count(row, 2), "%s: %ld samples, op_counts.tsv says %ld",
                  sample_text(row, "name"), ran, sample_count(row, 2));
    ck_assert_msg(ran == 0 || ran >= LEAST_SAMPLES, "%s: only %ld samples", sample_text(row, "name"), ran);
}
END_TEST

/* A new elementwise row needs no case in the golden file to be differentiated. */
struct shape {
    int rank;
    int64_t n[4];
};
static const struct shape elem_shapes[][3] = {
    {{0, {0}}, {0, {0}}, {0, {0}}},
    {{1, {7}}, {1, {7}}, {1, {7}}},
    {{2, {3, 5}}, {1, {5}}, {2, {3, 1}}},
    {{0, {0}}, {3, {2, 1, 3}}, {2, {2, 1}}},
};
static void check_elem(enum op op, const struct shape *shape)
{
    const struct op_info *info = &op_table[op];
    struct op_case c;
    case_begin(&c);
    snprintf(c.name, sizeof c.name, "%s, elementwise", info->name);
    for (int k = 0; k < info->n_min; k++) {
        bool condition = info->sig == SIG_CHOOSE && k == 0;
        case_input(&c, condition ? DT_BOOL : DT_F64, shape[k].rank, shape[k].n, (int)info->domain);
        c.in[k].flat = !vjp_exists(op, (uint32_t)k);
    }
    case_result(&c, build_op(&c.b, op, c.value, c.n_in), true);
    case_compile(&c, false);
    check_gradient(&c, 0, false);
    case_end(&c);
    covered[op] = true;
}
static bool differentiable(enum op op)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (vjp_exists(op, i)) {
            return true;
        }
    }
    return false;
}
START_TEST(test_elem)
{
    for (int op = 1; op < OP_COUNT; op++) {
        bool wanted = op_table[op].kind == OPK_ELEM && op != OP_cast && differentiable((enum op)op);
        for (size_t s = 0; wanted && s < sizeof elem_shapes / sizeof *elem_shapes; s++) {
            check_elem((enum op)op, elem_shapes[s]);
        }
    }
}
END_TEST

#define IN(c, rank, domain, ...) case_input((c), DT_F64, (rank), (int64_t[]){__VA_ARGS__}, (domain))

/* Rules together: a weight used twice, normalised rows, a penalty on the flat tree. */
START_TEST(test_composite)
{
    struct op_case c;
    case_begin(&c);
    snprintf(c.name, sizeof c.name, "composite");
    val w = IN(&c, 2, DOM_SMALL, 5, 5), v = IN(&c, 1, DOM_SMALL, 5), x = IN(&c, 2, DOM_ANY, 3, 5);
    val h = build_1(&c.b, OP_tanh, build_2(&c.b, OP_add, build_matmul(&c.b, x, w), v));
    val d = build_2(&c.b, OP_sub, h, build_reduce(&c.b, OP_mean, h, (int[]){1}, 1, true));
    val s = build_reduce(&c.b, OP_mean, build_2(&c.b, OP_mul, d, d), (int[]){1}, 1, true);
    val scale = build_1(&c.b, OP_rsqrt, build_2(&c.b, OP_add, s, build_const(&c.b, DT_F64, 1e-3)));
    val y = build_1(&c.b, OP_softmax, build_matmul(&c.b, build_2(&c.b, OP_mul, d, scale), w));
    struct node_spec tree = {.op = OP_tree, .phase = 1, .attr = (int64_t[]){0}, .n_attr = 1};
    val flat = graph_add(c.g, &tree, &c.sink);
    val penalty = build_reduce(&c.b, OP_sum, build_2(&c.b, OP_mul, flat, flat), NULL, -1, false);
    val scaled = build_2(&c.b, OP_mul, penalty, build_const(&c.b, DT_F64, 0.01));
    case_result(&c, build_2(&c.b, OP_add, y, scaled), true);
    for (int no_passes = 0; no_passes < 2; no_passes++) {
        case_compile(&c, no_passes);
        check_gradient(&c, 0, false);
    }
    case_end(&c);
}
END_TEST

/* -- facts that difference quotients cannot show */

/* Gradient of the only input, by value. */
static void expect_gradient(struct op_case *c, val r, const double *want)
{
    case_result(c, r, true);
    for (int64_t i = 0; i < c->weight.n; i++) {
        c->weight.at[i] = 1;
    }
    case_compile(c, false);
    case_run(c);
    for (int64_t i = 0; i < c->in[0].n; i++) {
        double got = case_output(c, 2, case_gradient(c, 0) + i);
        ck_assert_msg(fabs(got - want[i]) < 1e-12, "%s: gradient %ld is %g, not %g", c->name, (long)i, got,
                      want[i]);
    }
    case_end(c);
}
START_TEST(test_ties)
{
    struct op_case c;
    case_begin(&c);
    val x = IN(&c, 1, DOM_ANY, 4);
    memcpy(c.in[0].at, (double[]){2, 1, 2, 2}, 4 * sizeof(double));
    expect_gradient(&c, build_reduce(&c.b, OP_amax, x, NULL, -1, false),
                    (double[]){1. / 3, 0, 1. / 3, 1. / 3});
    case_begin(&c);
    x = IN(&c, 1, DOM_ANY, 3);
    memcpy(c.in[0].at, (double[]){0, 1, -1}, 3 * sizeof(double));
    expect_gradient(&c, build_2(&c.b, OP_max, x, build_const(&c.b, DT_F64, 0)), (double[]){0.5, 1, 0});
    case_begin(&c);
    x = IN(&c, 1, DOM_ANY, 3);
    memcpy(c.in[0].at, (double[]){0, 1, -1}, 3 * sizeof(double));
    expect_gradient(&c, build_1(&c.b, OP_abs, x), (double[]){0, 1, -1});
}
END_TEST
/* A product with no zero, one and two. */
START_TEST(test_product_of_zeros)
{
    static const double x[][3] = {{2, 3, 4}, {2, 0, 4}, {0, 3, 0}},
                        want[][3] = {{12, 8, 6}, {0, 8, 0}, {0, 0, 0}};
    struct op_case c;
    for (int i = 0; i < 3; i++) {
        case_begin(&c);
        val v = IN(&c, 1, DOM_ANY, 3);
        memcpy(c.in[0].at, x[i], sizeof x[i]);
        expect_gradient(&c, build_reduce(&c.b, OP_prod, v, NULL, -1, false), want[i]);
    }
}
END_TEST
/* A row of -inf only has no sum and no gradient, instead of NaN. */
START_TEST(test_row_of_nothing)
{
    struct op_case c;
    case_begin(&c);
    val x = IN(&c, 2, DOM_ANY, 2, 2);
    memcpy(c.in[0].at, (double[]){-(double)INFINITY, -(double)INFINITY, 1, 1}, 4 * sizeof(double));
    expect_gradient(&c, build_1(&c.b, OP_logsumexp, x), (double[]){0, 0, 0.5, 0.5});
}
END_TEST
/* x^y at 0: no 0 * inf, neither for the base nor for the exponent. */
START_TEST(test_pow_of_zero)
{
    static const double exponent[] = {0, 1, 2}, want[] = {0, 1, 0};
    struct op_case c;
    for (int i = 0; i < 3; i++) {
        case_begin(&c);
        val x = IN(&c, 1, DOM_ANY, 1);
        c.in[0].at[0] = 0;
        expect_gradient(&c, build_2(&c.b, OP_pow, x, build_const(&c.b, DT_F64, exponent[i])), &want[i]);
    }
    case_begin(&c);
    val y = IN(&c, 1, DOM_ANY, 1);
    c.in[0].at[0] = 2;
    expect_gradient(&c, build_2(&c.b, OP_pow, build_const(&c.b, DT_F64, 0), y), (double[]){0});
}
END_TEST
START_TEST(test_cut)
{
    struct op_case c;
    case_begin(&c);
    val x = IN(&c, 1, DOM_ANY, 2);
    memcpy(c.in[0].at, (double[]){3, 4}, 2 * sizeof(double));
    val stopped = build_1(&c.b, OP_stop_grad, x);
    expect_gradient(&c, build_2(&c.b, OP_mul, stopped, x), (double[]){3, 4});
    case_begin(&c);
    x = IN(&c, 1, DOM_ANY, 2);
    val count_of_positive = build_cast(&c.b, build_2(&c.b, OP_gt, x, build_const(&c.b, DT_F64, 0)), DT_F64);
    case_result(&c, count_of_positive, true);
    struct graph *g;
    ck_assert(pass_autodiff(c.g, &c.sink, &g));
    ck_assert_uint_eq(c.sink.list.n, 1);
    ck_assert_int_eq(c.sink.list.at[0].code, DIAG_W0201);
    case_end(&c);
}
END_TEST

/* Every row has a gradient rule or says that it has none (loops are differentiated as a whole), and every
 * rule has been tested above. */
START_TEST(test_complete)
{
    for (int op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = &op_table[op];
        bool rule = differentiable((enum op)op);
        if (info->kind == OPK_OP) {
            ck_assert_msg(rule == !(info->flags & (OPF_NONDIFF | OPF_LOOP)), "%s: neither a rule nor NONDIFF",
                          info->name);
        }
        ck_assert_msg(!rule || covered[op], "%s: no sample in this test", info->name);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("grad");
    rows = sample_load();
    tcase_add_loop_test(t, test_samples, 0, (int)json_array_size(rows));
    tcase_add_test(t, test_elem);
    tcase_add_test(t, test_composite);
    tcase_add_test(t, test_ties);
    tcase_add_test(t, test_product_of_zeros);
    tcase_add_test(t, test_row_of_nothing);
    tcase_add_test(t, test_pow_of_zero);
    tcase_add_test(t, test_cut);
    tcase_add_test(t, test_complete);
    int failed = suite_run("grad", t, CK_NOFORK);
    json_decref(rows);
    printf("differentiated:");
    for (int op = 1; op < OP_COUNT; op++) {
        if (covered[op]) {
            printf(" %s", op_table[op].name);
        }
    }
    printf("\n");
    return failed;
}
