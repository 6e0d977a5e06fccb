/* Reductions and row kernels: every REDUCE row over every set of axes, adjacent and turned, against plain f64
 * loops; softmax, xent, argmax; the same bits for any number of threads and with or without scratch.
 * Tolerance: 1e-6 f32, 1e-15 f64, times max(10, sqrt(elements)), of max(1, |want|). */
#include "rig.h"
#include "tests/suite.h"

struct fold {
    double sum, least, most, product;
    uint32_t wrapped; /* product of whole numbers */
    bool all, any;
    int64_t n;
};
static void fold_add(struct fold *f, double x)
{
    f->sum += x;
    f->least = f->n == 0 || x < f->least ? x : f->least;
    f->most = f->n == 0 || x > f->most ? x : f->most;
    f->all = (f->n == 0 || f->all) && x != 0;
    f->any = f->any || x != 0;
    f->product = (f->n == 0 ? 1 : f->product) * x;
    f->wrapped = (f->n == 0 ? 1 : f->wrapped) * (uint32_t)(int32_t)x;
    f->n++;
}
static double fold_value(const struct fold *f, enum op op, enum dtype t)
{
    double low = t == DT_I32 ? INT32_MIN : -(double)INFINITY,
           high = t == DT_I32 ? INT32_MAX : (double)INFINITY;
    switch ((int)op) {
    case OP_sum:
        return f->sum;
    case OP_mean:
        return f->sum / (double)f->n;
    case OP_prod:
        return f->n == 0 ? 1 : t == DT_I32 ? (double)(int32_t)f->wrapped : f->product;
    case OP_amax:
        return f->n ? f->most : low;
    case OP_amin:
        return f->n ? f->least : high;
    case OP_all:
        return f->n ? f->all : 1;
    case OP_any:
        return f->any;
    }
    ck_abort_msg("no reference for %s", op_table[op].name);
    return 0;
}

/* Reduces x over the axes of a bit mask; out has the others. */
static void reference(struct rig *r, const struct operand *x, unsigned axes, enum op op, double *out)
{
    int64_t n = rig_count(x), outputs = rig_count(&r->out);
    struct fold *f = calloc((size_t)outputs + 1, sizeof *f);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0, scale = 1, rest = i;
        for (int axis = x->rank - 1; axis >= 0; axis--) {
            int64_t index = rest % x->dim[axis];
            rest /= x->dim[axis];
            if (!(axes >> axis & 1)) {
                at += index * scale;
                scale *= x->dim[axis];
            }
        }
        fold_add(&f[at], rig_element(r, x, i));
    }
    for (int64_t i = 0; i < outputs; i++) {
        out[i] = fold_value(&f[i], op, (enum dtype)x->dtype);
    }
    free(f);
}

static struct operand input(struct rig *r, enum dtype t, const int64_t *size, bool turned)
{
    if (!turned) {
        return rig_tensor(r, t, 3, size);
    }
    int64_t memory[] = {size[2], size[0], size[1]};
    struct operand m = rig_tensor(r, t, 3, memory), o = m;
    for (int i = 0; i < 3; i++) {
        o.dim[i] = size[i];
        o.stride[i] = m.stride[(i + 1) % 3];
    }
    return o;
}

static void reduce(struct rig *r, enum op op, unsigned axes, int threads, bool work)
{
    const struct operand *x = &r->in[0];
    int64_t size[3];
    int rank = 0, n_attr = 0;
    for (int axis = 0; axis < x->rank; axis++) {
        if (axes >> axis & 1) {
            r->attr[n_attr++] = axis;
        } else {
            size[rank++] = x->dim[axis];
        }
    }
    r->out = rig_tensor(r, (enum dtype)x->dtype, rank, size);
    memset(&r->k, 0, sizeof r->k);
    if (work) {
        struct operand w = rig_vector(r, DT_F64, rig_count(&r->out) * 64);
        r->k.work = w.offset;
        r->k.work_bytes = (uint64_t)rig_count(&r->out) * 64 * 8;
    }
    rig_run(r, op, 1, n_attr, threads);
}

START_TEST(reductions_match)
{
    static const int64_t sizes[][3] = {{3, 5, 7},     {1, 33, 127}, {32, 1, 31},  {0, 3, 4},
                                       {3, 0, 4},     {2, 3, 0},    {700, 3, 9},  {2, 3, 5000},
                                       {300, 2, 300}, {70, 70, 4},  {40000, 1, 2}};
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    struct rig *r = rig_new();
    for (int op = 1; op < OP_COUNT; op++) {
        for (size_t i = 0; op_table[op].kind == OPK_REDUCE && i < 11 * 4 * 2; i++) {
            enum dtype t = types[i % 4];
            const int64_t *size = sizes[i / 8];
            bool logic = op_table[op].sig == SIG_LOGIC;
            if (logic != (t == DT_BOOL) || (op_table[op].sig == SIG_FLOAT && t == DT_I32)) {
                continue;
            }
            for (unsigned axes = 1; axes < 8; axes++) {
                rig_reset(r);
                r->in[0] = input(r, t, size, i / 4 % 2);
                rig_fill(r, &r->in[0], i + 3, t == DT_I32 ? -50 : logic ? -0.0 : -1, t == DT_I32 ? 50 : 1);
                for (int64_t j = 0; logic && j < rig_count(&r->in[0]); j++) {
                    rig_set(r, &r->in[0], j, (j * 7 + (int64_t)axes) % (size[2] + 2) != 0);
                }
                reduce(r, (enum op)op, axes, 2, axes % 2);
                double each = (double)rig_count(&r->in[0]) / fmax(1, (double)rig_count(&r->out));
                double scale = fmax(10, sqrt(each));
                double *want = calloc((size_t)rig_count(&r->out) + 1, sizeof *want);
                reference(r, &r->in[0], axes, (enum op)op, want);
                for (int64_t j = 0; j < rig_count(&r->out); j++) {
                    double got = rig_get(r, &r->out, j),
                           tolerance = t == DT_F32 ? scale * 1e-6 : scale * 1e-15;
                    expect_msg(rig_near(got, want[j], tolerance),
                               "%s %s axes %u of [%d, %d, %d] at %d: %.17g, not %.17g", op_table[op].name,
                               dtype_name(t), axes, (int)size[0], (int)size[1], (int)size[2], (int)j, got,
                               want[j]);
                }
                free(want);
            }
        }
    }
    rig_free(r);
}
END_TEST

START_TEST(same_bits_however_cut)
{
    static const int64_t sizes[][3] = {{1, 1, 1000003}, {100001, 3, 5}, {1, 200000, 4}, {77777, 1, 13}};
    static const unsigned axes[] = {7, 3, 2, 1};
    struct rig *r = rig_new();
    for (int i = 0; i < 4; i++) {
        rig_reset(r);
        r->in[0] = rig_tensor(r, DT_F32, 3, sizes[i]);
        rig_fill(r, &r->in[0], 9, 0, 1);
        reduce(r, OP_sum, axes[i], 1, false);
        struct operand first = r->out;
        size_t bytes = (size_t)rig_count(&first) * 4;
        for (int j = 0; j < 3; j++) {
            reduce(r, OP_sum, axes[i], j == 2 ? 4 : 1, j > 0);
            ck_assert_mem_eq(rig_at(r, &first), rig_at(r, &r->out), bytes);
        }
    }
    /* a million f32 numbers around a half: the tree keeps the error far below that of adding them up in a row
     */
    r->in[0].dim[2] = 1;
    rig_reset(r);
    r->in[0] = rig_vector(r, DT_F32, 1000003);
    rig_fill(r, &r->in[0], 9, 0, 1);
    double want = 0;
    for (int64_t i = 0; i < 1000003; i++) {
        want += rig_get(r, &r->in[0], i);
    }
    reduce(r, OP_sum, 1, 4, true);
    ck_assert_double_le(fabs(rig_get(r, &r->out, 0) / want - 1), 3e-7);
    rig_free(r);
}
END_TEST

START_TEST(nan_is_largest_and_smallest)
{
    struct rig *r = rig_new();
    for (int64_t at = 0; at < 40; at++) {
        rig_reset(r);
        r->in[0] = rig_vector(r, DT_F32, 40);
        rig_fill(r, &r->in[0], 5, -1, 1);
        rig_set(r, &r->in[0], at, NAN);
        rig_set(r, &r->in[0], 39, INFINITY);
        rig_set(r, &r->in[0], at, NAN);
        reduce(r, OP_amax, 1, 1, false);
        expect(isnan(rig_get(r, &r->out, 0)));
        reduce(r, OP_amin, 1, 1, false);
        expect(isnan(rig_get(r, &r->out, 0)));
        r->out = rig_scalar(r, DT_I32);
        rig_run(r, OP_argmax, 1, 0, 1);
        ck_assert_int_eq((int)rig_get(r, &r->out, 0), (int)at);
    }
    rig_free(r);
}
END_TEST

static void rows_case(struct rig *r, enum dtype t, int64_t rows, int64_t width, int threads)
{
    int64_t size[] = {rows, width};
    double tolerance = t == DT_F32 ? 2e-6 : 1e-13;
    rig_reset(r);
    r->in[0] = rig_tensor(r, t, 2, size);
    r->in[1] = rig_vector(r, DT_I32, rows);
    r->in[2] = r->control;
    rig_fill(r, &r->in[0], 11, -30, 30);
    for (int64_t i = 0; i < rows; i++) {
        rig_set(r, &r->in[1], i, i % 5 == 4 ? -1 : (double)(i * 7 % width));
    }
    struct operand soft = r->out = rig_tensor(r, t, 2, size);
    rig_run(r, OP_softmax, 1, 0, threads);
    struct operand log_sum = r->out = rig_vector(r, t, rows);
    rig_run(r, OP_logsumexp, 1, 0, threads);
    struct operand loss = r->out = rig_vector(r, t, rows);
    rig_run(r, OP_xent, 3, 0, threads);
    struct operand best = r->out = rig_vector(r, DT_I32, rows);
    rig_run(r, OP_argmax, 1, 0, threads);
    for (int64_t i = 0; i < rows; i++) {
        double m = -INFINITY, sum = 0;
        int64_t top = 0;
        for (int64_t j = 0; j < width; j++) {
            double x = rig_get(r, &r->in[0], i * width + j);
            top = x > m ? j : top;
            m = fmax(m, x);
        }
        for (int64_t j = 0; j < width; j++) {
            sum += exp(rig_get(r, &r->in[0], i * width + j) - m);
        }
        for (int64_t j = 0; j < width; j++) {
            expect(rig_near(rig_get(r, &soft, i * width + j),
                            exp(rig_get(r, &r->in[0], i * width + j) - m) / sum, tolerance));
        }
        expect(rig_near(rig_get(r, &log_sum, i), log(sum) + m, tolerance));
        int64_t label = (int64_t)rig_get(r, &r->in[1], i);
        double want = label < 0 ? 0 : log(sum) + m - rig_get(r, &r->in[0], i * width + label);
        expect(rig_near(rig_get(r, &loss, i), want, tolerance));
        expect((int64_t)rig_get(r, &best, i) == top);
    }
    ck_assert_int_eq(rig_control(r)->fault.code, FAULT_NONE);
}

START_TEST(row_kernels_match)
{
    static const int64_t sizes[] = {1, 10, 31, 32, 33, 127, 5000};
    struct rig *r = rig_new();
    for (int i = 0; i < 7; i++) {
        rows_case(r, DT_F32, 129, sizes[i], 1 + i % 2 * 3);
        rows_case(r, DT_F64, 33, sizes[i], 1);
    }
    rows_case(r, DT_F32, 0, 10, 1);
    rig_free(r);
}
END_TEST

/* Rows of nothing: -inf only, and no element; and one infinite element. */
START_TEST(rows_of_nothing)
{
    struct rig *r = rig_new();
    int64_t size[] = {3, 4}, none[] = {2, 0};
    for (int t = 0; t < 2; t++) {
        enum dtype dt = t ? DT_F64 : DT_F32;
        rig_reset(r);
        r->in[0] = rig_tensor(r, dt, 2, size);
        rig_fill(r, &r->in[0], 1, -(double)INFINITY, -(double)INFINITY);
        for (int64_t i = 0; i < 12; i++) {
            rig_set(r, &r->in[0], i, i == 5 ? INFINITY : i == 9 ? 2 : -(double)INFINITY);
        }
        r->out = rig_tensor(r, dt, 2, size);
        rig_run(r, OP_softmax, 1, 0, 1);
        expect(rig_get(r, &r->out, 0) == 0 && rig_get(r, &r->out, 3) == 0);
        expect(rig_get(r, &r->out, 8) == 0 && rig_get(r, &r->out, 9) == 1);
        r->out = rig_vector(r, dt, 3);
        rig_run(r, OP_logsumexp, 1, 0, 1);
        expect(rig_get(r, &r->out, 0) == -(double)INFINITY && rig_get(r, &r->out, 1) == (double)INFINITY &&
               rig_get(r, &r->out, 2) == 2);
        r->in[0] = rig_tensor(r, dt, 2, none);
        r->out = rig_vector(r, dt, 2);
        rig_run(r, OP_logsumexp, 1, 0, 1);
        expect(rig_get(r, &r->out, 1) == -(double)INFINITY);
    }
    rig_free(r);
}
END_TEST

START_TEST(bad_label_sets_the_failure_word)
{
    struct rig *r = rig_new();
    for (int bad = 0; bad < 2; bad++) {
        int64_t size[] = {3, 4};
        rig_reset(r);
        r->in[0] = rig_tensor(r, DT_F32, 2, size);
        r->in[1] = rig_vector(r, DT_I32, 3);
        r->in[2] = r->control;
        rig_set(r, &r->in[1], 1, bad ? 4 : -2);
        r->out = rig_vector(r, DT_F32, 3);
        rig_run(r, OP_xent, 3, 0, 1);
        const struct fault *f = &rig_control(r)->fault;
        ck_assert_int_eq(f->code, FAULT_LABEL);
        ck_assert_int_eq(f->node, 7);
        ck_assert_int_eq(f->a, bad ? 4 : -2);
        ck_assert_int_eq(f->b, 4);
        expect(rig_near(rig_get(r, &r->out, 2), log(4), 1e-6));
    }
    rig_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("reduce");
    tcase_add_test(t, reductions_match);
    tcase_add_test(t, same_bits_however_cut);
    tcase_add_test(t, nan_is_largest_and_smallest);
    tcase_add_test(t, row_kernels_match);
    tcase_add_test(t, rows_of_nothing);
    tcase_add_test(t, bad_label_sets_the_failure_word);
    return suite_run("reduce", t, CK_NOFORK);
}
