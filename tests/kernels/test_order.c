/* Scans, sorting, searching, reading and adding along rows, joining, writing rows - against plain loops. Sums
 * and products of f32 are compared with those of f64 to 1e-6; everything else is exact. */
#include "rig.h"
#include "tests/suite.h"

static const enum dtype numbers[] = {DT_F32, DT_F64, DT_I32};

static double next_of(enum op op, double a, double x)
{
    return op == OP_cumsum ? a + x : op == OP_cumprod ? a * x : x > a ? x : a;
}
static void scan_case(struct rig *r, enum op op, enum dtype t, const int64_t *size, int axis, bool reverse,
                      int threads)
{
    rig_reset(r);
    r->in[0] = rig_tensor(r, t, 3, size);
    rig_fill(r, &r->in[0], 3, t == DT_I32 ? -2 : 0.5, t == DT_I32 ? 3 : 1.4);
    r->out = rig_tensor(r, t, 3, size);
    r->attr[0] = axis;
    r->attr[1] = reverse;
    rig_run(r, op, 1, 2, threads);
    int64_t inner = axis == 0 ? size[1] * size[2] : axis == 1 ? size[2] : 1, n = size[axis];
    for (int64_t i = 0; i < rig_count(&r->out); i++) {
        int64_t place = i / inner % n, first = i - place * inner;
        double a = op == OP_cumprod ? 1 : op == OP_cumsum ? 0 : -1e300;
        int64_t wrapped = 1;
        for (int64_t k = reverse ? n - 1 : 0; reverse ? k >= place : k <= place; k += reverse ? -1 : 1) {
            double x = rig_get(r, &r->in[0], first + k * inner);
            a = next_of(op, a, x);
            wrapped = (int32_t)((uint32_t)wrapped * (uint32_t)(int32_t)x);
        }
        double want = op == OP_cumprod && t == DT_I32 ? (double)wrapped : a;
        expect_msg(rig_near(rig_get(r, &r->out, i), want, t == DT_F32 ? 1e-6 : 1e-13),
                   "%s %s axis %d at %d: %g, not %g", op_table[op].name, dtype_name(t), axis, (int)i,
                   rig_get(r, &r->out, i), want);
    }
}
START_TEST(scans_match)
{
    static const int64_t sizes[][3] = {{5, 7, 33}, {1, 300, 1}, {40, 1, 70}, {3, 0, 2}, {0, 2, 2}};
    static const enum op ops[] = {OP_cumsum, OP_cumprod, OP_cummax};
    struct rig *r = rig_new();
    for (int i = 0; i < 5 * 3 * 3 * 3 * 2; i++) {
        scan_case(r, ops[i % 3], numbers[i / 3 % 3], sizes[i / 54], i / 9 % 3, i / 27 % 2, 1 + i % 2 * 3);
    }
    rig_reset(r);
    r->in[0] = r->out = rig_vector(r, DT_F32, 5);
    for (int64_t i = 0; i < 5; i++) {
        rig_set(r, &r->in[0], i, i == 2 ? NAN : 4 - (double)i);
    }
    r->out = rig_vector(r, DT_F32, 5);
    r->attr[0] = r->attr[1] = 0;
    rig_run(r, OP_cummax, 1, 2, 1);
    expect(rig_get(r, &r->out, 1) == 4 && isnan(rig_get(r, &r->out, 2)) && isnan(rig_get(r, &r->out, 4)));
    rig_free(r);
}
END_TEST

START_TEST(linear_scans_match)
{
    struct rig *r = rig_new();
    for (int c = 0; c < 2 * 2 * 2; c++) {
        enum dtype t = c & 1 ? DT_F64 : DT_F32;
        bool reverse = c & 2;
        int axis = c & 4 ? 1 : 0;
        int64_t size[] = {37, 29}, n = size[axis], inner = axis ? 1 : size[1];
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 2, size);
        r->in[1] = rig_tensor(r, t, 2, size);
        rig_fill(r, &r->in[0], 3, -1, 1);
        rig_fill(r, &r->in[1], 4, -1, 1);
        r->out = rig_tensor(r, t, 2, size);
        r->attr[0] = axis;
        r->attr[1] = reverse;
        rig_run(r, OP_linear_scan, 2, 2, 3);
        for (int64_t lane = 0; lane < rig_count(&r->out) / n; lane++) {
            int64_t at = lane / inner * inner * n + lane % inner + (reverse ? (n - 1) * inner : 0);
            double h = 0;
            for (int64_t i = 0; i < n; i++, at += reverse ? -inner : inner) {
                h = rig_get(r, &r->in[0], at) * h + rig_get(r, &r->in[1], at);
                expect(rig_near(rig_get(r, &r->out, at), h, t == DT_F32 ? 2e-6 : 1e-14));
            }
        }
        rig_set(r, &r->in[0], reverse ? 37 * 29 - 1 : 0, INFINITY); /* in front of nothing */
        rig_run(r, OP_linear_scan, 2, 2, 1);
        expect(isfinite(rig_get(r, &r->out, reverse ? 37 * 29 - 1 : 0)));
    }
    rig_free(r);
}
END_TEST

/* NaN, infinities and many equal elements. */
START_TEST(sorting_is_stable)
{
    static const int64_t widths[] = {1, 2, 9, 64, 1000, 0};
    struct rig *r = rig_new();
    for (int c = 0; c < 6 * 3 * 2; c++) {
        enum dtype t = numbers[c % 3];
        int64_t n = widths[c / 6], size[] = {20, n};
        bool down = c / 3 % 2;
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 2, size);
        rig_fill(r, &r->in[0], 5, -6, 6);
        for (int64_t i = 0; i < 20 * n; i++) {
            rig_set(r, &r->in[0], i, floor(rig_get(r, &r->in[0], i)));
            if (t != DT_I32 && i % 17 == 3) {
                rig_set(r, &r->in[0], i, i % 2 ? NAN : i % 3 ? INFINITY : -(double)INFINITY);
            }
        }
        r->out = rig_tensor(r, DT_I32, 2, size);
        r->attr[0] = down;
        rig_run(r, OP_argsort, 1, 1, 2);
        for (int64_t row = 0; row < 20; row++) {
            char seen[1000] = {0};
            for (int64_t i = 0; i < n; i++) {
                int64_t at = (int64_t)rig_get(r, &r->out, row * n + i);
                expect(at >= 0 && at < n && !seen[at]);
                seen[at] = 1;
                if (i == 0) {
                    continue;
                }
                int64_t before = (int64_t)rig_get(r, &r->out, row * n + i - 1);
                double x = rig_get(r, &r->in[0], row * n + before), y = rig_get(r, &r->in[0], row * n + at);
                bool same = (isnan(x) && isnan(y)) || x == y;
                bool less = !isnan(x) && (isnan(y) || x < y);
                expect(same ? before < at : less != down);
            }
        }
    }
    rig_free(r);
}
END_TEST

START_TEST(search_finds_the_interval)
{
    static const double c[] = {0, 1, 1, 4, 4, 4}, u[] = {-1, 0, 0.5, 1, 3.9, 4, 9};
    static const int want[] = {0, 1, 1, 3, 3, 3, 3};
    struct rig *r = rig_new();
    for (int t = 0; t < 3; t++) {
        int64_t rows[] = {2, 6}, many[] = {2, 7};
        rig_reset(r);
        r->in[0] = rig_tensor(r, numbers[t], 2, rows);
        r->in[1] = rig_tensor(r, numbers[t], 2, many);
        for (int64_t i = 0; i < 12; i++) {
            rig_set(r, &r->in[0], i, c[i % 6]);
        }
        for (int64_t i = 0; i < 14; i++) {
            rig_set(r, &r->in[1], i, u[i % 7]);
        }
        r->out = rig_tensor(r, DT_I32, 2, many);
        rig_run(r, OP_search, 2, 0, 2);
        for (int64_t i = 0; i < 14; i++) {
            bool whole = t < 2 || u[i % 7] == floor(u[i % 7]);
            expect(!whole || rig_get(r, &r->out, i) == want[i % 7]);
        }
    }
    int64_t none[] = {1, 0}, one[] = {1, 1};
    r->in[0] = rig_tensor(r, DT_F32, 2, none);
    r->in[1] = rig_tensor(r, DT_F32, 2, one);
    r->out = rig_tensor(r, DT_I32, 2, one);
    rig_run(r, OP_search, 2, 0, 1);
    expect(rig_get(r, &r->out, 0) == -1);
    rig_free(r);
}
END_TEST

START_TEST(take_and_spread)
{
    struct rig *r = rig_new();
    for (int c = 0; c < 6; c++) {
        enum dtype t = numbers[c % 3];
        int64_t rows = 50, k = c < 3 ? 7 : 300, m = c < 3 ? 20 : 1, x[] = {rows, k}, v[] = {rows, m};
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 2, x);
        r->in[1] = rig_tensor(r, DT_I32, 2, v);
        r->in[2] = r->control;
        rig_fill(r, &r->in[0], 6, -9, 9);
        for (int64_t i = 0; i < rows * m; i++) {
            rig_set(r, &r->in[1], i, (double)(i * 5 % (k + 1) - 1));
        }
        struct operand taken = r->out = rig_tensor(r, t, 2, v);
        rig_run(r, OP_take, 3, 0, 3);
        for (int64_t i = 0; i < rows * m; i++) {
            int64_t at = (int64_t)rig_get(r, &r->in[1], i);
            expect(rig_get(r, &taken, i) == (at < 0 ? 0 : rig_get(r, &r->in[0], i / m * k + at)));
        }
        r->in[0] = taken;
        r->out = rig_tensor(r, t, 2, x);
        rig_fill(r, &r->out, 7, 5, 6);
        rig_run(r, OP_spread, 3, 0, 3);
        struct operand want = rig_tensor(r, t, 2, x);
        rig_fill(r, &want, 0, 0, 0);
        for (int64_t i = 0; i < rows * m; i++) {
            int64_t at = (int64_t)rig_get(r, &r->in[1], i);
            if (at >= 0) {
                rig_set(r, &want, i / m * k + at, rig_get(r, &want, i / m * k + at) + rig_get(r, &taken, i));
            }
        }
        ck_assert_mem_eq(rig_at(r, &want), rig_at(r, &r->out), (size_t)(rows * k) * dtype_size(t));
        ck_assert_int_eq(rig_control(r)->fault.code, FAULT_NONE);
        rig_set(r, &r->in[1], 0, (double)k);
        rig_run(r, OP_spread, 3, 0, 1);
        expect(rig_control(r)->fault.code == FAULT_INDEX && rig_control(r)->fault.a == k);
    }
    rig_free(r);
}
END_TEST

START_TEST(concat_joins)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    static const int64_t parts[] = {3, 0, 1, 6};
    struct rig *r = rig_new();
    for (int c = 0; c < 4 * 3; c++) {
        enum dtype t = types[c % 4];
        int axis = c / 4;
        int64_t size[] = {90, 4, 5};
        rig_reset(r);
        for (int i = 0; i < 4; i++) {
            size[axis] = parts[i];
            r->in[i] = rig_tensor(r, t, 3, size);
            rig_fill(r, &r->in[i], (uint64_t)i, -9, 9);
        }
        size[axis] = 10;
        r->out = rig_tensor(r, t, 3, size);
        r->attr[0] = axis;
        rig_run(r, OP_concat, 4, 1, 2);
        for (int64_t i = 0; i < rig_count(&r->out); i++) {
            int64_t at[] = {i / size[2] / size[1], i / size[2] % size[1], i % size[2]}, *a = &at[axis];
            int part = *a < 3 ? 0 : *a < 4 ? 2 : 3;
            *a -= part == 0 ? 0 : part == 2 ? 3 : 4;
            const int64_t *d = r->in[part].dim;
            expect(rig_get(r, &r->out, i) == rig_get(r, &r->in[part], (at[0] * d[1] + at[1]) * d[2] + at[2]));
        }
    }
    rig_free(r);
}
END_TEST

/* The last row written wins; the largest stays; whatever the threads. */
START_TEST(rows_are_put)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    struct rig *r = rig_new();
    for (int c = 0; c < 8; c++) {
        enum dtype t = types[c % 4];
        enum op op = c < 4 ? OP_put : OP_put_max;
        int64_t x[] = {2000, 9}, v[] = {3000, 9};
        if (op == OP_put_max && t == DT_BOOL) {
            continue;
        }
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 2, x);
        r->in[1] = rig_vector(r, DT_I32, 3000);
        r->in[2] = rig_tensor(r, t, 2, v);
        r->in[3] = r->control;
        rig_fill(r, &r->in[0], 6, -9, 9);
        rig_fill(r, &r->in[2], 7, -9, 9);
        for (int64_t i = 0; i < 3000; i++) {
            rig_set(r, &r->in[1], i, (double)(i * i % 1501 - 1));
        }
        r->out = rig_tensor(r, t, 2, x);
        rig_run(r, op, 4, 0, 4);
        struct operand want = rig_tensor(r, t, 2, x);
        memcpy(rig_at(r, &want), rig_at(r, &r->in[0]), 2000 * 9 * dtype_size(t));
        for (int64_t i = 0; i < 3000 * 9; i++) {
            int64_t row = (int64_t)rig_get(r, &r->in[1], i / 9), at = row * 9 + i % 9;
            double new = rig_get(r, &r->in[2], i);
            if (row >= 0 && (op == OP_put || new > rig_get(r, &want, at))) {
                rig_set(r, &want, at, new);
            }
        }
        ck_assert_mem_eq(rig_at(r, &want), rig_at(r, &r->out), 2000 * 9 * dtype_size(t));
        ck_assert_int_eq(rig_control(r)->fault.code, FAULT_NONE);
    }
    rig_free(r);
}
END_TEST

/* a x = b holds for what comes out; the upper half of a differs from the lower by an antisymmetric part that
 * must not matter. Tolerance: 1e-4 in f32, 1e-12 in f64. */
START_TEST(solutions_solve)
{
    struct rig *r = rig_new();
    for (int c = 0; c < 2; c++) {
        enum dtype t = c ? DT_F64 : DT_F32;
        enum { M = 9, N = 4, B = 5 };
        int64_t a[] = {B, M, M}, b[] = {B, M, N};
        static double s[B][M][M];
        uint64_t seed = 3;
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 3, a);
        r->in[1] = rig_tensor(r, t, 3, b);
        rig_fill(r, &r->in[1], 4, -1, 1);
        for (int64_t i = 0; i < B * M * M; i++) {
            int64_t row = i / M % M, column = i % M, k = i / M / M;
            s[k][row][column] = row == column ? M + 1 : column < row ? rig_random(&seed) : 0;
        }
        for (int64_t i = 0; i < B * M * M; i++) {
            int64_t row = i / M % M, column = i % M, k = i / M / M;
            s[k][row][column] = column > row ? s[k][column][row] : s[k][row][column];
            rig_set(r, &r->in[0], i, s[k][row][column] + (column > row) * 0.25 - (column < row) * 0.25);
        }
        r->out = rig_tensor(r, t, 3, b);
        struct operand work = rig_vector(r, DT_F64, B * M * (M + N));
        r->k.work = work.offset;
        r->k.work_bytes = B * M * (M + N) * 8;
        rig_run(r, OP_solve_spd, 2, 0, 2);
        for (int64_t i = 0; i < B * M * N; i++) {
            double sum = 0;
            for (int64_t k = 0; k < M; k++) {
                sum += s[i / N / M][i / N % M][k] * rig_get(r, &r->out, i / N / M * M * N + k * N + i % N);
            }
            expect(rig_near(sum, rig_get(r, &r->in[1], i), t == DT_F32 ? 1e-4 : 1e-12));
        }
        memset(&r->k, 0, sizeof r->k);
    }
    rig_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("order");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, scans_match);
    tcase_add_test(t, linear_scans_match);
    tcase_add_test(t, sorting_is_stable);
    tcase_add_test(t, search_finds_the_interval);
    tcase_add_test(t, take_and_spread);
    tcase_add_test(t, concat_joins);
    tcase_add_test(t, rows_are_put);
    tcase_add_test(t, solutions_solve);
    return suite_run("order", t, CK_NOFORK);
}
