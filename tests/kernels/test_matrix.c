/* orthonormal and pinv in f64 by what defines them, over matrices of many shapes: Q^T Q = 1 and x = Q R with
 * a triangular R of positive diagonal, to 1e-12; Penrose's four conditions to 1e-10 of the largest number in
 * them, for full and for less rank. Bits do not depend on threads; NaN stays NaN. */
#include "rig.h"
#include "tests/suite.h"

static const int64_t shapes[][2] = {{1, 1},   {1, 7},   {7, 1},    {2, 2},    {5, 3}, {3, 5}, {31, 32},
                                    {33, 31}, {64, 64}, {127, 10}, {10, 127}, {0, 3}, {3, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes, PILE = 3, MOST = 128 * 128 };

/* a[m, k] b[k, n], either as its transpose. */
static void product(const double *a, bool ta, const double *b, bool tb, int64_t m, int64_t k, int64_t n,
                    double *out)
{
    for (int64_t i = 0; i < m * n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) {
            sum += a[ta ? c * m + i / n : i / n * k + c] * b[tb ? i % n * k + c : c * n + i % n];
        }
        out[i] = sum;
    }
}
static double largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}
static void expect_same(const double *x, const double *y, int64_t n, double tolerance, const char *what)
{
    double scale = fmax(1, fmax(largest(x, n), largest(y, n)));
    for (int64_t i = 0; i < n; i++) {
        expect_msg(fabs(x[i] - y[i]) <= tolerance * scale, "%s at %d: %.17g and %.17g", what, (int)i, x[i],
                   y[i]);
    }
}
/* Runs a row on a pile of matrices; work lies behind them. */
static void run(struct rig *r, enum op op, int64_t rows, int64_t columns, int threads)
{
    int64_t size[] = {PILE, rows, columns}, turned[] = {PILE, columns, rows};
    r->out = rig_tensor(r, (enum dtype)r->in[0].dtype, 3, op == OP_pinv ? turned : size);
    r->k.work_bytes = 0;
    struct kargs k = {.in = r->in, .out = &r->out, .n_in = 1, .n_out = 1};
    int64_t work = (int64_t)op_workspace(op, &k, NULL) / 8;
    r->k.work = rig_vector(r, DT_F64, work).offset;
    rig_run(r, op, 1, 0, threads);
}
static const double *matrix(struct rig *r, const struct operand *o, int unit)
{
    return (const double *)rig_at(r, o) + unit * (rig_count(o) / PILE);
}

static void check_orthonormal(struct rig *r, int64_t rows, int64_t columns, int unit)
{
    static double q[MOST], x[MOST], one[MOST], unity[MOST], upper[MOST], again[MOST];
    const double *in = matrix(r, &r->in[0], unit), *out = matrix(r, &r->out, unit);
    bool wide = rows < columns;
    int64_t m = wide ? columns : rows, k = wide ? rows : columns;
    for (int64_t i = 0; i < m * k; i++) { /* tall */
        q[i] = out[wide ? i % k * m + i / k : i];
        x[i] = in[wide ? i % k * m + i / k : i];
    }
    for (int64_t i = 0; i < k * k; i++) {
        unity[i] = i / k == i % k;
    }
    product(q, true, q, false, k, m, k, one);
    expect_same(one, unity, k * k, 1e-12, "Q^T Q");
    product(q, true, x, false, k, m, k, upper);
    for (int64_t i = 0; i < k * k; i++) {
        expect_msg(i / k <= i % k || fabs(upper[i]) <= 1e-12 * fmax(1, largest(upper, k * k)),
                   "R is not triangular: %g", upper[i]);
        expect_msg(i / k != i % k || upper[i] > 0, "a diagonal of R is %g", upper[i]);
    }
    product(q, false, upper, false, m, k, k, again);
    expect_same(again, x, m * k, 1e-12, "Q R");
}
START_TEST(columns_are_orthonormal)
{
    struct rig *r = rig_new();
    for (int s = 0; s < SHAPES; s++) {
        int64_t rows = shapes[s][0], columns = shapes[s][1], size[] = {PILE, rows, columns};
        rig_reset(r);
        r->in[0] = rig_tensor(r, DT_F64, 3, size);
        rig_fill(r, &r->in[0], (uint64_t)s + 1, -1, 1);
        run(r, OP_orthonormal, rows, columns, 2);
        for (int unit = 0; unit < PILE; unit++) {
            check_orthonormal(r, rows, columns, unit);
        }
    }
    rig_free(r);
}
END_TEST
/* Columns that depend on each other still give orthonormal ones. */
START_TEST(less_rank_is_orthonormal_too)
{
    struct rig *r = rig_new();
    int64_t size[] = {PILE, 5, 3};
    r->in[0] = rig_tensor(r, DT_F64, 3, size);
    for (int64_t i = 0; i < PILE * 15; i++) { /* zeros; equal columns; rank 2 */
        rig_set(r, &r->in[0], i, i < 15 ? 0 : i < 30 ? (double)(i / 3) : (double)(i % 3 * (i / 3) + i % 3));
    }
    run(r, OP_orthonormal, 5, 3, 1);
    for (int unit = 0; unit < PILE; unit++) {
        static double one[9], unity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        product(matrix(r, &r->out, unit), true, matrix(r, &r->out, unit), false, 3, 5, 3, one);
        expect_same(one, unity, 9, 1e-12, "Q^T Q");
    }
    rig_free(r);
}
END_TEST

static void check_penrose(const double *a, const double *p, int64_t m, int64_t n)
{
    static double ap[MOST], pa[MOST], again[MOST], turned[MOST];
    product(a, false, p, false, m, n, m, ap);
    product(p, false, a, false, n, m, n, pa);
    product(ap, false, a, false, m, m, n, again);
    expect_same(again, a, m * n, 1e-10, "a a+ a");
    product(pa, false, p, false, n, n, m, again);
    expect_same(again, p, m * n, 1e-10, "a+ a a+");
    for (int64_t i = 0; i < m * m; i++) {
        turned[i] = ap[i % m * m + i / m];
    }
    expect_same(turned, ap, m * m, 1e-10, "a a+, turned,");
    for (int64_t i = 0; i < n * n; i++) {
        turned[i] = pa[i % n * n + i / n];
    }
    expect_same(turned, pa, n * n, 1e-10, "a+ a, turned,");
}
/* Full rank; the product of two thin matrices; very small and very large numbers. */
START_TEST(inverses_fulfil_penrose)
{
    static const double scales[PILE] = {1, 1, 1e-160};
    static double left[MOST], right[MOST], thin[MOST];
    struct rig *r = rig_new();
    uint64_t seed = 4;
    for (int s = 0; s < SHAPES; s++) {
        int64_t m = shapes[s][0], n = shapes[s][1], size[] = {PILE, m, n};
        int64_t rank = (m < n ? m : n) / 2;
        rig_reset(r);
        r->in[0] = rig_tensor(r, DT_F64, 3, size);
        rig_fill(r, &r->in[0], (uint64_t)s + 9, -1, 1);
        for (int64_t i = 0; i < 128 * rank; i++) {
            left[i] = 2 * rig_random(&seed) - 1;
            right[i] = 2 * rig_random(&seed) - 1;
        }
        product(left, false, right, false, m, rank, n, thin);
        for (int64_t i = 0; i < m * n; i++) {
            rig_set(r, &r->in[0], m * n + i, thin[i]);
            rig_set(r, &r->in[0], 2 * m * n + i, scales[2] * rig_get(r, &r->in[0], i));
        }
        run(r, OP_pinv, m, n, 2);
        for (int unit = 0; unit < 2; unit++) {
            check_penrose(matrix(r, &r->in[0], unit), matrix(r, &r->out, unit), m, n);
        }
        for (int64_t i = 0; i < m * n; i++) { /* (s a)+ = a+ / s */
            double want = rig_get(r, &r->out, i), got = rig_get(r, &r->out, 2 * m * n + i) * scales[2];
            expect_msg(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "scaled: %g, not %g", got, want);
        }
    }
    rig_free(r);
}
END_TEST

/* f32 and bf16 are widened, and cut where their digits end: a column and nearly the same one have rank 1. */
START_TEST(narrow_types_and_nan)
{
    static const enum dtype types[] = {DT_F64, DT_F32, DT_BF16};
    struct rig *r = rig_new();
    for (int t = 0; t < 3; t++) {
        int64_t size[] = {PILE, 2, 2};
        rig_reset(r);
        r->in[0] = rig_tensor(r, types[t], 3, size);
        static const double x[PILE * 4] = {2, 0, 0, 4, 1, 1, 1, 1, 1, NAN, 2, 3};
        for (int64_t i = 0; i < PILE * 4; i++) {
            rig_set(r, &r->in[0], i, x[i]);
        }
        run(r, OP_pinv, 2, 2, 1);
        static const double want[] = {0.5, 0, 0, 0.25, 0.25, 0.25, 0.25, 0.25};
        for (int64_t i = 0; i < PILE * 4; i++) {
            double got = rig_get(r, &r->out, i);
            expect_msg(i < 8 ? fabs(got - want[i]) < 1e-7 : got != got, "%s at %d: %g", dtype_name(types[t]),
                       (int)i, got);
        }
        run(r, OP_orthonormal, 2, 2, 1);
        expect(rig_get(r, &r->out, 0) == 1 && rig_get(r, &r->out, 3) == 1);
        expect(rig_get(r, &r->out, 11) != rig_get(r, &r->out, 11));
    }
    int64_t near_one[] = {PILE, 2, 2};
    rig_reset(r);
    r->in[0] = rig_tensor(r, DT_F32, 3, near_one);
    rig_fill(r, &r->in[0], 1, 1, 1);
    rig_set(r, &r->in[0], 3, 1 + 0x1p-23);
    run(r, OP_pinv, 2, 2, 1);
    expect(fabs(rig_get(r, &r->out, 0) - 0.25) < 1e-6);
    rig_free(r);
}
END_TEST
START_TEST(bits_do_not_depend_on_threads)
{
    struct rig *r = rig_new();
    int64_t size[] = {PILE, 40, 30};
    for (int i = 0; i < 2; i++) {
        r->in[0] = rig_tensor(r, DT_F32, 3, size);
        rig_fill(r, &r->in[0], 5, -1, 1);
        run(r, i ? OP_pinv : OP_orthonormal, 40, 30, 1);
        struct operand first = r->out;
        run(r, i ? OP_pinv : OP_orthonormal, 40, 30, 3);
        ck_assert_mem_eq(rig_at(r, &first), rig_at(r, &r->out), PILE * 40 * 30 * 4);
    }
    rig_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("matrix");
    tcase_add_test(t, columns_are_orthonormal);
    tcase_add_test(t, less_rank_is_orthonormal_too);
    tcase_add_test(t, inverses_fulfil_penrose);
    tcase_add_test(t, narrow_types_and_nan);
    tcase_add_test(t, bits_do_not_depend_on_threads);
    return suite_run("matrix", t, CK_NOFORK);
}
