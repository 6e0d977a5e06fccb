/* Every elementwise row on every dtype it has, against formulas written again here with the double functions
 * of libm (a row without one: against its own formula in double); contiguous, scalar, transposed and repeated
 * operands; sizes around vector widths. Tolerance: 2e-6 in f32, 1e-13 in f64, relative above 1. */
#include "rig.h"
#include "compiler/passes.h"
#include "kernels/cpu/cpu.h"
#include "tests/suite.h"

typedef double (*formula)(double x, double y, double z, bool whole);
#define F(name, expression)                                                                                  \
    static double ref_##name(double x, double y, double z, bool whole)                                       \
    {                                                                                                        \
        (void)x;                                                                                             \
        (void)y;                                                                                             \
        (void)z;                                                                                             \
        (void)whole;                                                                                         \
        return expression;                                                                                   \
    }
F(add, x + y)
F(sub, x - y)
F(mul, x *y)
F(div, x / y)
F(neg, -x)
F(pow, pow(x, y))
F(floordiv, whole &&y == 0 ? 0 : floor(x / y))
F(mod, whole &&y == 0 ? 0 : x - y * floor(x / y))
F(max, fmax(x, y))
F(min, fmin(x, y))
F(abs, fabs(x))
F(sign, (x > 0) - (x < 0))
F(floor, floor(x))
F(exp, exp(x))
F(log, log(x))
F(sqrt, sqrt(x))
F(rsqrt, 1 / sqrt(x))
F(sin, sin(x))
F(cos, cos(x))
F(tanh, tanh(x))
F(sigmoid, 0.5 * (1 + tanh(x / 2)))
F(relu, fmax(x, 0))
F(silu, x * 0.5 * (1 + tanh(x / 2)))
F(expm1, exp(x) - 1)
F(log1p, log(1 + x))
F(tan, sin(x) / cos(x))
F(atan2, atan(x / y) + (y > 0 ? 0 : x > 0 ? 3.14159265358979324 : -3.14159265358979324))
F(softplus, x > 0 ? x + log(1 + exp(-x)) : log(1 + exp(x)))
F(logsigmoid, -log(1 + exp(-x)))
F(elu, x > 0 ? x : exp(x) - 1)
F(gelu, 0.5 * x * (1 + erf(x / sqrt(2))))
F(ceil, -floor(-x))
F(trunc, x < 0 ? -floor(-x) : floor(x))
F(round, nearbyint(x))
static double ref_erfinv(double x, double y, double z, bool whole)
{
    double lo = -6, hi = 6;
    (void)y, (void)z, (void)whole;
    for (int i = 0; i < 80; i++) {
        double middle = (lo + hi) / 2;
        *(erf(middle) < x ? &lo : &hi) = middle;
    }
    return lo;
}
F(where, x != 0 ? y : z)
F(eq, x == y)
F(ne, x != y)
F(lt, x < y)
F(le, x <= y)
F(gt, x > y)
F(ge, x >= y)
F(land, x != 0 && y != 0)
F(lor, x != 0 || y != 0)
F(lnot, x == 0)
F(isfinite, isfinite(x) != 0)
F(cast, x)
static double ref_bitcast(double x, double y, double z, bool whole)
{
    float f = (float)x;
    int32_t i = (int32_t)x;
    (void)y, (void)z;
    if (whole) {
        memcpy(&f, &i, sizeof f);
        return (double)f;
    }
    memcpy(&i, &f, sizeof i);
    return i;
}

static const struct {
    const char *name;
    formula f;
} references[] = {
#define ROW(name) {#name, ref_##name},
    ROW(add) ROW(sub) ROW(mul) ROW(div) ROW(neg) ROW(pow) ROW(floordiv) ROW(mod) ROW(max) ROW(min) ROW(abs)
        ROW(sign) ROW(floor) ROW(exp) ROW(log) ROW(sqrt) ROW(rsqrt) ROW(sin) ROW(cos) ROW(tanh) ROW(sigmoid)
            ROW(relu) ROW(silu) ROW(where) ROW(eq) ROW(ne) ROW(lt) ROW(le) ROW(gt) ROW(ge) ROW(land) ROW(lor)
                ROW(lnot) ROW(isfinite) ROW(cast) ROW(expm1) ROW(log1p) ROW(tan) ROW(atan2) ROW(softplus)
                    ROW(logsigmoid) ROW(elu) ROW(gelu) ROW(ceil) ROW(trunc) ROW(round) ROW(erfinv)
                        ROW(bitcast)};

static double reference(const struct op_info *o, const double *v, bool whole)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].name, o->name) == 0) {
            return references[i].f(v[0], v[1], v[2], whole);
        }
    }
    enum dtype t = whole ? DT_I32 : DT_F64;
    double r;
    expect_msg(elem_eval((enum op)(o - op_table), t, t, v, &r), "%s has no value", o->name);
    return r;
}

/* One input value of the row's domain. */
static double draw(enum op_domain d, bool whole, uint64_t *seed)
{
    double u = rig_random(seed), sign = rig_random(seed) < 0.5 ? -1 : 1;
    if (whole || d == DOM_INTLIKE) {
        double x = floor(u * 19) - 9;
        return d == DOM_NONZERO && x == 0 ? 3 : x;
    }
    switch (d) {
    case DOM_POSITIVE:
        return 0.1 + 3 * u;
    case DOM_NONZERO:
    case DOM_KINK0:
        return sign * (0.2 + 3 * u);
    case DOM_UNIT:
        return sign * 0.95 * u;
    case DOM_BOOLS:
        return u < 0.5;
    default:
        return sign * 3 * u;
    }
}

static enum dtype result_type(const struct op_info *o, enum dtype t)
{
    if (o->sig == SIG_BITS) {
        return t == DT_I32 ? DT_F32 : DT_I32;
    }
    bool is_test =
        o->sig == SIG_COMPARE || o->sig == SIG_EQUAL || o->sig == SIG_LOGIC || o->sig == SIG_CLASSIFY;
    return is_test ? DT_BOOL : t;
}

enum layout { PLAIN, X_SCALAR, Y_SCALAR, TURNED, REPEATED, LAYOUTS };

/* [rows, columns] of input i in a layout; memory is filled for any of them. */
static struct operand input(struct rig *r, enum dtype t, int64_t rows, int64_t columns, enum layout l, int i)
{
    int64_t size[] = {rows, columns}, turned[] = {columns, rows};
    struct operand o = rig_tensor(r, t, 2, l == TURNED ? turned : size);
    if (l == TURNED) {
        o.dim[0] = rows;
        o.dim[1] = columns;
        o.stride[0] = 1;
        o.stride[1] = rows;
    }
    if ((l == X_SCALAR && i == 0) || (l == Y_SCALAR && i == 1)) {
        o.stride[0] = o.stride[1] = 0;
    }
    if (l == REPEATED && i != 0) {
        o.stride[0] = 0;
    }
    return o;
}

static void check_row(struct rig *r, enum op op, enum dtype t, int64_t rows, int64_t columns, enum layout l,
                      int threads)
{
    const struct op_info *o = &op_table[op];
    rig_reset(r);
    uint64_t seed = (uint64_t)op * 977 + (uint64_t)columns;
    for (int i = 0; i < o->n_max; i++) {
        enum dtype ti = o->sig == SIG_CHOOSE && i == 0 ? DT_BOOL : t;
        r->in[i] = input(r, ti, rows, columns, l, i);
        for (int64_t j = 0; j < rows * columns; j++) {
            rig_set(r, &r->in[i], j,
                    ti == DT_BOOL ? rig_random(&seed) < 0.5 : draw(o->domain, t == DT_I32, &seed));
        }
    }
    int64_t size[] = {rows, columns};
    r->out = rig_tensor(r, result_type(o, t), 2, size);
    r->attr[0] = t;
    rig_run(r, op, o->n_max, op == OP_cast, threads);
    double tolerance = t == DT_F32 ? 2e-6 : t == DT_F64 ? 1e-13 : 0;
    for (int64_t j = 0; j < rows * columns; j++) {
        double v[3] = {0};
        for (int i = 0; i < o->n_max; i++) {
            v[i] = rig_element(r, &r->in[i], j);
        }
        double want = reference(o, v, t == DT_I32), got = rig_get(r, &r->out, j);
        if (op == OP_mod && fabs(fabs(got - want) - fabs(v[1])) < 1e-5 * fabs(v[1])) {
            continue; /* a multiple of y up to rounding: both ends are right */
        }
        expect_msg(rig_near(got, want, tolerance), "%s %s [%lld] layout %d: %.17g, not %.17g for %g, %g, %g",
                   o->name, dtype_name(t), (long long)j, (int)l, got, want, v[0], v[1], v[2]);
    }
}

START_TEST(rows_match_their_formulas)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 127};
    static const enum dtype types[] = {DT_F32, DT_F64, DT_I32, DT_BOOL};
    struct rig *r = rig_new();
    int checked = 0;
    for (int op = 1; op < OP_COUNT; op++) {
        for (int t = 0; t < 4 && op_table[op].kind == OPK_ELEM; t++) {
            enum dtype dt = types[t];
            if (op != OP_cast && !elem_run_of((enum op)op, dt)) {
                continue;
            }
            for (int s = 0; s < 6; s++) {
                for (int l = 0; l < LAYOUTS; l++) {
                    check_row(r, (enum op)op, dt, 3, sizes[s], (enum layout)l, 1);
                }
            }
            check_row(r, (enum op)op, dt, 7, 6007, PLAIN, 4);
            check_row(r, (enum op)op, dt, 7, 6007, TURNED, 4);
            checked++;
        }
    }
    ck_assert_int_ge(checked, 2 * 35);
    rig_free(r);
}
END_TEST

static float one_f32(struct rig *r, enum op op, float x, float y)
{
    rig_reset(r);
    r->in[0] = rig_scalar(r, DT_F32);
    r->in[1] = rig_scalar(r, DT_F32);
    r->out = rig_scalar(r, DT_F32);
    *(float *)rig_at(r, &r->in[0]) = x;
    *(float *)rig_at(r, &r->in[1]) = y;
    rig_run(r, op, op_table[op].n_max, 0, 1);
    return *(float *)rig_at(r, &r->out);
}
static int32_t one_i32(struct rig *r, enum op op, int32_t x, int32_t y)
{
    rig_reset(r);
    r->in[0] = rig_scalar(r, DT_I32);
    r->in[1] = rig_scalar(r, DT_I32);
    r->out = rig_scalar(r, DT_I32);
    *(int32_t *)rig_at(r, &r->in[0]) = x;
    *(int32_t *)rig_at(r, &r->in[1]) = y;
    rig_run(r, op, op_table[op].n_max, 0, 1);
    return *(int32_t *)rig_at(r, &r->out);
}

START_TEST(corners_are_defined)
{
    struct rig *r = rig_new();
    expect(isnan(one_f32(r, OP_max, NAN, 1)) && isnan(one_f32(r, OP_max, 1, NAN)));
    expect(isnan(one_f32(r, OP_min, NAN, 1)) && isnan(one_f32(r, OP_min, 1, NAN)));
    expect(isnan(one_f32(r, OP_relu, NAN, 0)) && isnan(one_f32(r, OP_sign, NAN, 0)));
    expect(one_f32(r, OP_mod, -1, 3) == 2 && one_f32(r, OP_mod, 1, -3) == -2);
    expect(one_f32(r, OP_floordiv, 1, 0.1f) == 9 && one_f32(r, OP_floordiv, -1, 3) == -1);
    expect(one_f32(r, OP_round, 2.5f, 0) == 2 && one_f32(r, OP_round, -3.5f, 0) == -4);
    expect(one_f32(r, OP_softplus, 200, 0) == 200 && one_f32(r, OP_softplus, -200, 0) == 0);
    expect(one_f32(r, OP_logsigmoid, -200, 0) == -200 && isnan(one_f32(r, OP_softplus, NAN, 0)));
    expect(one_f32(r, OP_expm1, 1e-9f, 0) == 1e-9f && one_f32(r, OP_log1p, 1e-9f, 0) == 1e-9f);
    expect(one_f32(r, OP_gelu, -20, 0) == 0 && one_f32(r, OP_elu, -200, 0) == -1);
    expect(isinf(one_f32(r, OP_erfinv, -1, 0)) && isnan(one_f32(r, OP_erfinv, 1.5f, 0)));
    expect(rig_near(one_f32(r, OP_erfinv, 1e-30f, 0) * 1e30, 0.886226925452758, 1e-6));
    expect(rig_near(one_f32(r, OP_erfinv, 0.99999994f, 0), 3.8325068, 1e-6));
    expect(rig_near(one_f32(r, OP_atan2, 0, -1), 3.14159265, 1e-6));
    ck_assert_int_eq(one_i32(r, OP_floordiv, -7, 2), -4);
    ck_assert_int_eq(one_i32(r, OP_mod, -7, 2), 1);
    ck_assert_int_eq(one_i32(r, OP_mod, 7, -2), -1);
    ck_assert_int_eq(one_i32(r, OP_floordiv, 5, 0), 0);
    ck_assert_int_eq(one_i32(r, OP_mod, 5, 0), 0);
    ck_assert_int_eq(one_i32(r, OP_floordiv, INT32_MIN, -1), INT32_MIN);
    ck_assert_int_eq(one_i32(r, OP_mod, INT32_MIN, -1), 0);
    ck_assert_int_eq(one_i32(r, OP_add, INT32_MAX, 1), INT32_MIN);
    ck_assert_int_eq(one_i32(r, OP_abs, INT32_MIN, 0), INT32_MIN);
    rig_free(r);
}
END_TEST

START_TEST(casts_saturate)
{
    static const struct {
        double x;
        int32_t i;
        int b;
    } rows[] = {{-1.9, -1, 1},
                {1.9, 1, 1},
                {0, 0, 0},
                {1e20, INT32_MAX, 1},
                {-1e20, INT32_MIN, 1},
                {NAN, 0, 1},
                {INFINITY, INT32_MAX, 1},
                {-0.0, 0, 0},
                {0.25, 0, 1},
                {2147483647, INT32_MAX, 1}};
    struct rig *r = rig_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int t = 0; t < 2; t++) {
            rig_reset(r);
            r->in[0] = rig_vector(r, t ? DT_F64 : DT_F32, 40);
            for (int64_t j = 0; j < 40; j++) {
                rig_set(r, &r->in[0], j, rows[i].x);
            }
            r->out = rig_vector(r, DT_I32, 40);
            rig_run(r, OP_cast, 1, 0, 1);
            ck_assert_int_eq((int)rig_get(r, &r->out, 0), rows[i].i);
            ck_assert_int_eq((int)rig_get(r, &r->out, 39), rows[i].i);
            r->out = rig_vector(r, DT_BOOL, 40);
            rig_run(r, OP_cast, 1, 0, 1);
            ck_assert_int_eq((int)rig_get(r, &r->out, 39), rows[i].b);
        }
    }
    rig_free(r);
}
END_TEST

/* Signalling NaN, denormals and zeros with a sign among them; rows of any stride, over the input too. */
START_TEST(bits_survive)
{
    static const uint32_t bits[] = {0x7fc00001, 0x7f800001, 0xffbfffff, 0xffffffff,
                                    0x80000000, 1,          0x3f800000};
    struct rig *r = rig_new();
    for (int layout = 0; layout < 2; layout++) {
        int64_t size[] = {7, 40};
        rig_reset(r);
        struct operand whole = rig_tensor(r, DT_I32, 2, size);
        for (int64_t i = 0; i < 7 * 40; i++) {
            memcpy((char *)rig_at(r, &whole) + 4 * i, &bits[i % 7], 4);
        }
        r->in[0] = whole;
        r->in[0].stride[1] = layout ? 2 : 1;
        r->in[0].dim[1] = layout ? 20 : 40;
        r->out = rig_tensor(r, DT_F32, 2, r->in[0].dim);
        rig_run(r, OP_bitcast, 1, 0, 2);
        r->in[1] = r->in[0];
        r->in[0] = r->out;
        r->out.dtype = DT_I32; /* in place */
        rig_run(r, OP_bitcast, 1, 0, 2);
        for (int64_t i = 0; i < rig_count(&r->out); i++) {
            expect(rig_get(r, &r->out, i) == rig_element(r, &r->in[1], i));
        }
    }
    rig_free(r);
}
END_TEST

START_TEST(output_may_be_an_input)
{
    struct rig *r = rig_new();
    r->in[0] = rig_vector(r, DT_F32, 20000);
    r->in[1] = rig_vector(r, DT_F32, 20000);
    rig_fill(r, &r->in[0], 1, -1, 1);
    rig_fill(r, &r->in[1], 2, -1, 1);
    float *x = malloc(20000 * sizeof *x);
    memcpy(x, rig_at(r, &r->in[0]), 20000 * sizeof *x);
    r->out = r->in[0];
    rig_run(r, OP_mul, 2, 0, 2);
    for (int64_t i = 0; i < 20000; i++) {
        expect(rig_get(r, &r->out, i) == (double)(x[i] * (float)rig_get(r, &r->in[1], i)));
    }
    free(x);
    rig_free(r);
}
END_TEST

START_TEST(every_row_has_a_kernel)
{
    for (int op = 1; op < OP_COUNT; op++) {
        bool launched = op_table[op].kind != OPK_VIEW && !(op_table[op].flags & OPF_META);
        expect_msg((cpu_kernels[op].run != NULL) == launched, "%s", op_table[op].name);
        expect_msg((cpu_kernels[op].finish != NULL) == (op_table[op].kind == OPK_REDUCE), "%s",
                   op_table[op].name);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("elem");
    tcase_add_test(t, rows_match_their_formulas);
    tcase_add_test(t, corners_are_defined);
    tcase_add_test(t, casts_saturate);
    tcase_add_test(t, bits_survive);
    tcase_add_test(t, output_may_be_an_input);
    tcase_add_test(t, every_row_has_a_kernel);
    return suite_run("elem", t, CK_NOFORK);
}
