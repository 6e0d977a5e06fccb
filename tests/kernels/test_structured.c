/* Matrix products, gather, put_add, pad, pack, copy, sources and draws against plain loops. Products:
 * tolerance 1e-6 f32, 1e-14 f64, times max(10, 2 sqrt(k)), of max(1, |want|); everything else exact. */
#include "rig.h"
#include "runtime/base/tf32.h"
#include "runtime/base/philox.h"
#include "tests/suite.h"

static struct operand factor(struct rig *r, enum dtype t, int64_t batches, int64_t rows, int64_t columns,
                             bool turned, bool repeated)
{
    int64_t size[] = {batches, rows, columns}, memory[] = {batches, columns, rows};
    struct operand o = rig_tensor(r, t, 3, turned ? memory : size);
    o.dim[1] = rows;
    o.dim[2] = columns;
    if (turned) {
        o.stride[1] = 1;
        o.stride[2] = rows;
    }
    if (repeated) {
        o.stride[0] = 0;
    }
    return o;
}

/* Bits of `turn`: x and w transposed; operands rounded to TF32. */
enum { TF32 = 4 };
static void product(struct rig *r, enum dtype t, const int64_t *size, int turn, bool repeated, int threads)
{
    int64_t b = size[0], m = size[1], n = size[2], k = size[3], out[] = {b, m, n};
    rig_reset(r);
    r->in[0] = factor(r, t, b, m, k, turn & 1, false);
    r->in[1] = factor(r, t, b, k, n, turn & 2, repeated);
    rig_fill(r, &r->in[0], 3, -1, 1);
    rig_fill(r, &r->in[1], 4, -1, 1);
    r->out = rig_tensor(r, t, 3, out);
    rig_fill(r, &r->out, 5, NAN, NAN);
    bool tf32 = turn & TF32;
    r->attr[0] = 1;
    rig_run(r, OP_matmul, 2, tf32, threads);
    for (int64_t i = 0; i < 2; i++) {
        for (int64_t j = 0; tf32 && j < rig_count(&r->in[i]); j++) {
            rig_set(r, &r->in[i], rig_place(&r->in[i], j), tf32_round((float)rig_element(r, &r->in[i], j)));
        }
    }
    for (int64_t i = 0; i < b * m * n; i++) {
        double want = 0;
        int64_t batch = i / (m * n), row = i / n % m, column = i % n;
        for (int64_t j = 0; j < k; j++) {
            want += rig_element(r, &r->in[0], (batch * m + row) * k + j) *
                    rig_element(r, &r->in[1], (batch * k + j) * n + column);
        }
        double got = rig_get(r, &r->out, i);
        expect_msg(rig_near(got, want, (t == DT_F32 ? 1e-6 : 1e-14) * fmax(10, 2 * sqrt((double)k))),
                   "[%d] %dx%dx%d turn %d at %d: %g, not %g", (int)b, (int)m, (int)n, (int)k, turn, (int)i,
                   got, want);
    }
}

START_TEST(products_match)
{
    static const int64_t sizes[][4] = {{1, 1, 1, 1},    {1, 128, 256, 64}, {1, 33, 31, 127}, {3, 7, 5, 9},
                                       {1, 1, 10, 128}, {1, 10, 1, 300},   {2, 300, 3, 0},   {1, 0, 4, 5},
                                       {1, 4, 0, 5},    {0, 2, 2, 2},      {1, 3, 700, 500}, {5, 1, 1, 3}};
    struct rig *r = rig_new();
    for (int i = 0; i < 12; i++) {
        for (int turn = 0; turn < 4; turn++) {
            product(r, DT_F32, sizes[i], turn, false, 1);
            product(r, DT_F32, sizes[i], TF32 | turn, true, 2);
            product(r, DT_F64, sizes[i], turn, true, 2);
        }
    }
    rig_free(r);
}
END_TEST

START_TEST(tf32_rounds_halves_to_even)
{
    const double bit = 1.0 / 1024; /* of 1 */
    static const double rounded[][2] = {{0.49, 0}, {0.5, 0}, {0.51, 1}, {1.5, 2}, {2.5, 2}, {3, 3}};
    for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            float x = (float)(sign * (1 + rounded[i][0] * bit)),
                  want = (float)(sign * (1 + rounded[i][1] * bit));
            ck_assert_msg(tf32_round(x) == want, "%.9g: %.9g, not %.9g", x, tf32_round(x), want);
        }
    }
    ck_assert(isinf(tf32_round(INFINITY)) && isnan(tf32_round(NAN)) && tf32_round(0) == 0);
}
END_TEST

START_TEST(products_do_not_depend_on_threads)
{
    struct rig *r = rig_new();
    int64_t x[] = {700, 300}, w[] = {300, 200}, out[] = {700, 200};
    r->in[0] = rig_tensor(r, DT_F32, 2, x);
    r->in[1] = rig_tensor(r, DT_F32, 2, w);
    rig_fill(r, &r->in[0], 3, -1, 1);
    rig_fill(r, &r->in[1], 4, -1, 1);
    struct operand first = r->out = rig_tensor(r, DT_F32, 2, out);
    rig_run(r, OP_matmul, 2, 0, 1);
    for (int i = 0; i < 20; i++) {
        r->out = rig_tensor(r, DT_F32, 2, out);
        rig_run(r, OP_matmul, 2, 0, 4);
        ck_assert_mem_eq(rig_at(r, &first), rig_at(r, &r->out), 700 * 200 * 4);
    }
    rig_free(r);
}
END_TEST

START_TEST(gather_and_put_add)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32};
    struct rig *r = rig_new();
    for (int c = 0; c < 3 * 2; c++) {
        enum dtype t = types[c % 3];
        int64_t n = c < 3 ? 11 : 3000, width = c < 3 ? 3 : 17, m = c < 3 ? 40 : 4000;
        int64_t x[] = {n, width}, v[] = {m, width};
        rig_reset(r);
        r->in[0] = rig_tensor(r, t, 2, x);
        r->in[1] = rig_vector(r, DT_I32, m);
        struct operand out = r->out = rig_tensor(r, t, 2, v);
        rig_fill(r, &r->in[0], 6, -9, 9);
        for (int64_t i = 0; i < m; i++) {
            rig_set(r, &r->in[1], i, (double)(i * i % (n + 1) - 1));
        }
        r->in[2] = r->control;
        rig_run(r, OP_gather, 3, 0, 2);
        for (int64_t i = 0; i < m * width; i++) {
            int64_t row = (int64_t)rig_get(r, &r->in[1], i / width);
            expect(rig_get(r, &out, i) == (row < 0 ? 0 : rig_get(r, &r->in[0], row * width + i % width)));
        }
        r->in[2] = rig_tensor(r, t, 2, v);
        r->in[3] = r->control;
        rig_fill(r, &r->in[2], 8, -9, 9);
        r->out = rig_tensor(r, t, 2, x);
        rig_run(r, OP_put_add, 4, 0, 4);
        struct operand want = rig_tensor(r, t, 2, x);
        memcpy(rig_at(r, &want), rig_at(r, &r->in[0]), (size_t)(n * width) * dtype_size(t));
        for (int64_t i = 0; i < m * width; i++) { /* ascending sources: the order that is promised */
            int64_t row = (int64_t)rig_get(r, &r->in[1], i / width), at = row * width + i % width;
            if (row >= 0) {
                rig_set(r, &want, at, rig_get(r, &want, at) + rig_get(r, &r->in[2], i));
            }
        }
        ck_assert_mem_eq(rig_at(r, &want), rig_at(r, &r->out), (size_t)(n * width) * dtype_size(t));
        ck_assert_int_eq(rig_control(r)->fault.code, FAULT_NONE);
    }
    rig_free(r);
}
END_TEST

START_TEST(bad_index_sets_the_failure_word)
{
    struct rig *r = rig_new();
    for (int c = 0; c < 4; c++) {
        rig_reset(r);
        bool put = c & 1;
        int32_t bad = c & 2 ? 5 : -3;
        r->in[0] = rig_vector(r, DT_F32, 5);
        r->in[1] = rig_vector(r, DT_I32, 2);
        rig_set(r, &r->in[1], 0, bad);
        rig_set(r, &r->in[1], 1, 4);
        rig_fill(r, &r->in[0], 1, 2, 2);
        r->in[2] = put ? rig_vector(r, DT_F32, 2) : r->control;
        r->in[3] = r->control;
        r->out = rig_vector(r, DT_F32, put ? 5 : 2);
        if (put) {
            rig_fill(r, &r->in[2], 1, 1, 1);
        }
        rig_run(r, put ? OP_put_add : OP_gather, put ? 4 : 3, 0, 1);
        const struct fault *f = &rig_control(r)->fault;
        expect(f->code == FAULT_INDEX && f->node == 7 && f->a == bad && f->b == 5);
        expect(rig_get(r, &r->out, put ? 4 : 1) == (put ? 3 : 2));
        expect(rig_get(r, &r->out, 0) == (put ? 2 : 0));
    }
    rig_free(r);
}
END_TEST

START_TEST(pad_reverses_slice)
{
    struct rig *r = rig_new();
    int64_t x[] = {30, 5, 2}, out[] = {100, 40, 3};
    static const int64_t steps[] = {3, -2, 1}, starts[] = {4, 20, 1};
    r->in[0] = rig_tensor(r, DT_F32, 3, x);
    rig_fill(r, &r->in[0], 2, 1, 2);
    r->out = rig_tensor(r, DT_F32, 3, out);
    rig_fill(r, &r->out, 2, 7, 7);
    for (int i = 0; i < 3; i++) {
        r->attr[i] = steps[i];
        r->attr[3 + i] = starts[i];
    }
    rig_run(r, OP_pad, 1, 6, 3);
    double sum = 0, total = 0;
    for (int64_t i = 0; i < 30 * 5 * 2; i++) {
        int64_t a = 4 + 3 * (i / 10), b = 20 - 2 * (i / 2 % 5), c = 1 + i % 2;
        expect(rig_get(r, &r->out, (a * 40 + b) * 3 + c) == rig_get(r, &r->in[0], i));
        sum += rig_get(r, &r->in[0], i);
    }
    for (int64_t i = 0; i < rig_count(&r->out); i++) {
        total += rig_get(r, &r->out, i);
    }
    ck_assert_double_eq_tol(total, sum, 1e-9);
    rig_free(r);
}
END_TEST

START_TEST(pack_pads_with_zeros)
{
    struct rig *r = rig_new();
    r->in[0] = rig_vector(r, DT_F32, 3);
    r->in[1] = rig_vector(r, DT_F32, 64);
    r->in[2] = rig_scalar(r, DT_F32);
    r->out = rig_vector(r, DT_F32, 192);
    for (int i = 0; i < 3; i++) {
        rig_fill(r, &r->in[i], 2, i + 1, i + 1);
    }
    rig_fill(r, &r->out, 2, 9, 9);
    rig_run(r, OP_pack, 3, 0, 1);
    for (int64_t i = 0; i < 192; i++) {
        expect(rig_get(r, &r->out, i) == (i < 3 ? 1 : i < 64 ? 0 : i < 128 ? 2 : i == 128 ? 3 : 0));
    }
    rig_free(r);
}
END_TEST

START_TEST(copy_follows_strides)
{
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    struct rig *r = rig_new();
    for (int t = 0; t < 4; t++) {
        int64_t size[] = {50, 7, 33};
        rig_reset(r);
        struct operand m = rig_tensor(r, types[t], 3, size);
        rig_fill(r, &m, 3, -5, 5);
        r->in[0] = m;
        r->in[0].dim[0] = 33;
        r->in[0].dim[1] = 4;
        r->in[0].dim[2] = 50;
        r->in[0].stride[0] = 1;
        r->in[0].stride[1] = 0;
        r->in[0].stride[2] = 7 * 33;
        r->in[0].offset += 2 * 33 * dtype_size(types[t]);
        int64_t out[] = {33, 4, 50};
        r->out = rig_tensor(r, types[t], 3, out);
        rig_run(r, OP_copy, 1, 0, 2);
        for (int64_t i = 0; i < 33 * 4 * 50; i++) {
            expect(rig_get(r, &r->out, i) == rig_get(r, &m, i % 50 * 7 * 33 + 2 * 33 + i / 200));
        }
    }
    rig_free(r);
}
END_TEST

static void set_control(struct rig *r)
{
    struct control *c = rig_control(r);
    c->key = mix64(1);
    c->phase[2] =
        (struct phase_control){.step = 5, .steps = 100, .epoch = 3, .cursor = 20, .rows = 50, .row0 = 1000};
    c->knob[4] = 2.75;
    c->metric[9].last = 0.625;
}

START_TEST(draws_are_philox)
{
    struct rig *r = rig_new();
    double mean = 0, square = 0;
    enum { N = 100003 };
    set_control(r);
    uint64_t key = mix64(1) ^ 77;
    r->attr[0] = 77;
    r->attr[1] = 2;
    for (int t = 0; t < 2; t++) {
        r->in[0] = r->control;
        r->out = rig_vector(r, t ? DT_F64 : DT_F32, N);
        rig_run(r, OP_uniform, 1, 2, 3);
        for (uint64_t i = 0; i < N; i++) {
            expect(rig_get(r, &r->out, (int64_t)i) == (double)uniform_u24(draw_bits(key, i, 0, 5)));
        }
        if (t == 0) {
            struct operand floats = r->out;
            r->in[0] = rig_scalar(r, DT_I32);
            r->in[1] = r->control;
            r->out = rig_vector(r, DT_I32, N);
            rig_set(r, &r->in[0], 0, 1000003);
            rig_run(r, OP_randint, 2, 2, 3);
            for (uint64_t i = 0; i < N; i++) {
                expect(rig_get(r, &r->out, (int64_t)i) == floor(draw_bits(key, i, 0, 5) * 0x1p-32 * 1000003));
            }
            r->in[0] = r->control;
            r->out = floats;
        }
        rig_run(r, OP_normal, 1, 2, 3);
        for (uint64_t i = 0; i < N; i++) {
            double x = rig_get(r, &r->out, (int64_t)i);
            expect(x == (double)normal_u24(draw_bits(key, i, 0, 5)));
            mean += x / (2 * N);
            square += x * x / (2 * N);
        }
    }
    ck_assert_double_le(fabs(mean), 4 / sqrt(N)); /* four standard errors */
    ck_assert_double_le(fabs(square - 1), 4 * sqrt(2.0 / N));
    r->in[0] = rig_scalar(r, DT_F32);
    r->in[1] = r->control;
    rig_set(r, &r->in[0], 0, 0.3);
    r->out = rig_vector(r, DT_BOOL, N);
    rig_run(r, OP_bernoulli, 2, 2, 3);
    double share = 0;
    for (uint64_t i = 0; i < N; i++) {
        expect(rig_get(r, &r->out, (int64_t)i) == (uniform_u24(draw_bits(key, i, 0, 5)) < 0.3f));
        share += rig_get(r, &r->out, (int64_t)i) / N;
    }
    ck_assert_double_le(fabs(share - 0.3), 4 * sqrt(0.21 / N));
    rig_free(r);
}
END_TEST

START_TEST(rows_and_shuffle_permute)
{
    struct rig *r = rig_new();
    set_control(r);
    r->attr[0] = 2;
    r->attr[2] = 77;
    r->in[0] = r->control;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        bool seen[50] = {false};
        r->attr[1] = shuffled;
        for (int launch = 0; launch < 5; launch++) {
            rig_control(r)->phase[2].cursor = launch * 10;
            r->out = rig_vector(r, DT_I32, 12);
            rig_run(r, OP_rows, 1, 3, 1);
            for (int64_t i = 0; i < 10; i++) {
                int row = (int)rig_get(r, &r->out, i) - 1000;
                expect(row >= 0 && row < 50 && !seen[row]);
                expect(shuffled || row == launch * 10 + i);
                seen[row] = true;
            }
            expect(launch < 4 || rig_get(r, &r->out, 11) == -1); /* past the end of the split */
        }
    }
    /* lanes: 12 of 4 rows each, row j of a launch is one further than that of the launch before; 2 rows are
     * left */
    r->attr[1] = 2;
    for (int launch = 0; launch < 4; launch++) {
        rig_control(r)->phase[2].cursor = launch * 12;
        r->out = rig_vector(r, DT_I32, 12);
        rig_run(r, OP_rows, 1, 3, 1);
        for (int64_t i = 0; i < 12; i++) {
            expect(rig_get(r, &r->out, i) == 1000 + (double)(4 * i + launch));
        }
    }
    r->attr[0] = 77;
    r->attr[1] = 40;
    r->in[0] = rig_vector(r, DT_I32, 42);
    r->in[1] = rig_scalar(r, DT_I32);
    r->in[2] = r->control;
    rig_set(r, &r->in[1], 0, 3);
    for (int64_t i = 0; i < 42; i++) {
        rig_set(r, &r->in[0], i, (double)i - 1);
    }
    r->out = rig_vector(r, DT_I32, 42);
    rig_run(r, OP_shuffle, 3, 2, 1);
    for (int64_t i = 0; i < 42; i++) {
        bool inside = i >= 1 && i <= 40;
        expect(rig_get(r, &r->out, i) ==
               (inside ? (double)permute_index((uint32_t)i - 1, 40, mix64(1) ^ 77, 3) : -1));
    }
    rig_free(r);
}
END_TEST

START_TEST(control_is_read)
{
    static const double want[] = {5, 100, 3, 17};
    struct rig *r = rig_new();
    set_control(r);
    r->in[0] = r->control;
    rig_control(r)->phase[2].cursor = 17;
    for (int i = 0; i < 4; i++) {
        r->attr[0] = 2;
        r->attr[1] = i;
        r->out = rig_scalar(r, DT_I32);
        rig_run(r, OP_step, 1, 2, 1);
        expect(rig_get(r, &r->out, 0) == want[i]);
    }
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    static const double knob[] = {2.75, 2.75, 2, 1};
    for (int i = 0; i < 4; i++) {
        r->attr[0] = 4;
        r->out = rig_scalar(r, types[i]);
        rig_run(r, OP_knob, 1, 1, 1);
        expect(rig_get(r, &r->out, 0) == knob[i]);
    }
    r->attr[2] = 9;
    r->out = rig_scalar(r, DT_F32);
    rig_run(r, OP_metric, 1, 3, 1);
    expect(rig_get(r, &r->out, 0) == 0.625);
    rig_free(r);
}
END_TEST

START_TEST(constants_by_range)
{
    struct rig *r = rig_new();
    static const double table[] = {64, 100, 2, 9000, 1, -1};
    int64_t size[] = {2, 3};
    r->in[0] = rig_tensor(r, DT_F64, 2, size);
    memcpy(rig_at(r, &r->in[0]), table, sizeof table);
    r->attr[0] = 1;
    r->attr[1] = f64_bits(0.5);
    r->out = rig_vector(r, DT_F32, 9002);
    rig_run(r, OP_ranges, 1, 2, 2);
    for (int64_t i = 0; i < 9002; i++) {
        expect(rig_get(r, &r->out, i) == (i >= 64 && i < 164 ? 2 : i == 9000 ? -1 : 0.5));
    }
    r->out = rig_vector(r, DT_I32, 9002);
    rig_run(r, OP_iota, 0, 0, 2);
    for (int64_t i = 0; i < 9002; i++) {
        expect(rig_get(r, &r->out, i) == (double)i);
    }
    rig_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("structured");
    tcase_add_test(t, products_match);
    tcase_add_test(t, tf32_rounds_halves_to_even);
    tcase_add_test(t, products_do_not_depend_on_threads);
    tcase_add_test(t, gather_and_put_add);
    tcase_add_test(t, bad_index_sets_the_failure_word);
    tcase_add_test(t, pad_reverses_slice);
    tcase_add_test(t, pack_pads_with_zeros);
    tcase_add_test(t, copy_follows_strides);
    tcase_add_test(t, draws_are_philox);
    tcase_add_test(t, rows_and_shuffle_permute);
    tcase_add_test(t, control_is_read);
    tcase_add_test(t, constants_by_range);
    return suite_run("structured", t, CK_NOFORK);
}
