/* bf16 on the CPU. One rule covers every row: what a kernel does to bf16 is what it does to the widened
 * operands in f32, rounded once. So each case runs a row on f32 operands that bf16 can hold and on the same
 * ones in bf16, and compares bits (all NaN are one; matrix products, whose blocks are summed apart: within
 * one step of bf16). Rounding itself is held against known vectors and against a search for the nearest
 * neighbour. */
#include "rig.h"
#include "kernels/cpu/cpu.h"
#include "tests/operands.h"
#include "tests/suite.h"

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

START_TEST(rounding_is_to_the_nearest_even)
{
    static const struct {
        uint32_t f32;
        uint16_t bf16;
    } known[] = {
        {0x00000000, 0x0000}, {0x80000000, 0x8000}, /* zeros keep their sign */
        {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, /* 1; a tie goes down to the even one */
        {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, /* a tie goes up to the even one; just above a tie */
        {0x3f817fff, 0x3f81}, {0xbf818000, 0xbf82}, /* just below a tie; negative */
        {0x3fffffff, 0x4000}, {0x7f7f7fff, 0x7f7f}, /* a carry into the exponent; the largest that stays */
        {0x7f7f8000, 0x7f80}, {0x7f7fffff, 0x7f80}, /* too large: infinite */
        {0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x7f800001, 0x7fc0}, {0xffc12345, 0x7fc0},
        {0x00000001, 0x0000}, {0x00008000, 0x0000}, /* subnormal; a tie with 0 */
        {0x00008001, 0x0001}, {0x00018000, 0x0002}, {0x007fffff, 0x0080}, {0x80008001, 0x8001},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct bf16 got = bf16_round(float_of(known[i].f32));
        expect_msg(got.bits == known[i].bf16, "%08x gives %04x, not %04x", known[i].f32, got.bits,
                   known[i].bf16);
    }
    for (uint32_t b = 0; b < 0x10000; b++) {
        float x = bf16_widen((struct bf16){(uint16_t)b});
        expect(x != x ? bf16_round(x).bits == 0x7fc0 : bf16_round(x).bits == b);
    }
    uint64_t seed = 9;
    for (int i = 0; i < 100000; i++) {
        float x = float_of((uint32_t)(rig_random(&seed) * 0x7f7f0000) | (uint32_t)(i & 1) << 31);
        float low = float_of(bits_of(x) & 0xffff0000u),
              high = float_of((bits_of(x) & 0xffff0000u) + 0x10000u);
        double down = fabs((double)x - (double)low), up = fabs((double)high - (double)x);
        float got = bf16_widen(bf16_round(x));
        expect(down < up ? got == low : up < down ? got == high : !(bits_of(got) >> 16 & 1));
        expect(fabs((double)bf16_widen(bf16_cut(x))) <= fabs((double)x));
    }
}
END_TEST

/* The operands of a case as they are made once for each dtype: `wide` tells f32 from bf16. */
static enum dtype type(bool wide)
{
    return wide ? DT_F32 : DT_BF16;
}
/* Numbers that bf16 holds, in both: the seed decides. */
static void numbers(struct rig *r, const struct operand *o, uint64_t seed, enum op_domain d)
{
    for (int64_t i = 0; i < rig_count(o); i++) {
        double u = rig_random(&seed), s = 2 * u - 1;
        double x = d == DOM_POSITIVE  ? 0.1 + 3 * u
                   : d == DOM_UNIT    ? 0.95 * s
                   : d == DOM_NONZERO ? (s < 0 ? s - 0.1 : s + 0.1)
                   : d == DOM_BOOLS   ? u < 0.5
                   : d == DOM_INTLIKE ? floor(9 * s)
                                      : 3 * s;
        rig_set(r, o, i, o->dtype == DT_F32 ? (double)bf16_widen(bf16_round((float)x)) : x);
    }
}
static struct operand vector(struct rig *r, enum dtype t, int64_t n)
{
    return rig_vector(r, t, n);
}

/* Runs `make` for f32 and for bf16 in the same arena and compares the outputs. The builder fills r->in,
 * r->out, r->attr, r->k.work and returns (inputs, attributes). */
struct counts {
    int in, attr;
    double steps; /* allowed difference in steps of bf16, relative to max(1, |want|) */
};
typedef struct counts (*builder)(struct rig *r, bool wide, int variant);
static void compare(struct rig *r, enum op op, builder make, int variant, int threads)
{
    static float want[1 << 18];
    static int32_t other[1 << 18];
    memset(&r->k, 0, sizeof r->k);
    rig_reset(r);
    struct counts c = make(r, true, variant);
    rig_run(r, op, c.in, c.attr, threads);
    int64_t n = rig_count(&r->out);
    bool rounded = r->out.dtype == DT_F32;
    expect(n <= 1 << 18);
    for (int64_t i = 0; i < n; i++) {
        want[i] = rounded ? bf16_widen(bf16_round((float)rig_get(r, &r->out, i))) : 0;
        other[i] = rounded ? 0 : (int32_t)rig_get(r, &r->out, i);
    }
    rig_reset(r);
    c = make(r, false, variant);
    expect(rig_count(&r->out) == n && r->out.dtype == (rounded ? DT_BF16 : r->out.dtype));
    rig_run(r, op, c.in, c.attr, threads);
    for (int64_t i = 0; i < n; i++) {
        double got = rig_get(r, &r->out, i);
        bool ok = rounded ? rig_near(got, (double)want[i], c.steps / 128) : (int32_t)got == other[i];
        expect_msg(ok, "%s variant %d at %d: %.9g, not %.9g", op_table[op].name, variant, (int)i, got,
                   rounded ? (double)want[i] : other[i]);
    }
    memset(&r->k, 0, sizeof r->k);
}

/* -- elementwise: every row that has floats, in five layouts */
static enum op elem_op;
static struct counts make_elem(struct rig *r, bool wide, int variant)
{
    static const int64_t columns[] = {0, 1, 31, 32, 33, 127, 255, 257, 1031, 6007};
    const struct op_info *o = &op_table[elem_op];
    int64_t rows = 3, n = columns[variant / 5];
    int layout = variant % 5;
    for (int i = 0; i < o->n_max; i++) {
        bool choice = o->sig == SIG_CHOOSE && i == 0;
        int64_t size[] = {layout == 3 ? n : rows, layout == 3 ? rows : n};
        r->in[i] = rig_tensor(r, choice ? DT_BOOL : type(wide), 2, size);
        numbers(r, &r->in[i], (uint64_t)(i + variant * 7 + elem_op), choice ? DOM_BOOLS : o->domain);
        if (layout == 3) {
            r->in[i] = swapped(r->in[i], 0, 1);
        } else if (layout == i + 1) {
            r->in[i].stride[0] = r->in[i].stride[1] = 0;
        } else if (layout == 4 && i != 1) {
            r->in[i].stride[0] = 0;
        }
    }
    bool test = o->sig == SIG_COMPARE || o->sig == SIG_EQUAL || o->sig == SIG_CLASSIFY;
    int64_t size[] = {rows, n};
    r->out = rig_tensor(r, test ? DT_BOOL : o->sig == SIG_BITS ? DT_I32 : type(wide), 2, size);
    return (struct counts){.in = o->n_max};
}
START_TEST(elementwise_rows)
{
    struct rig *r = rig_new();
    int rows = 0;
    for (int op = 1; op < OP_COUNT; op++) {
        const struct op_info *o = &op_table[op];
        if (o->kind != OPK_ELEM || o->sig == SIG_CAST || o->sig == SIG_LOGIC) {
            continue;
        }
        elem_op = (enum op)op;
        for (int variant = 0; variant < 50; variant++) {
            compare(r, (enum op)op, make_elem, variant, 1 + variant % 2);
        }
        rows++;
    }
    ck_assert_int_ge(rows, 35);
    rig_free(r);
}
END_TEST

START_TEST(casts)
{
    static const double x[] = {0,    -0.0, 1.00390625, 1.01171875, -3.7,      3e9,
                               -3e9, 1e39, 1e-41,      257,        2147483647};
    static const enum dtype types[] = {DT_F32, DT_F64, DT_BF16, DT_I32, DT_BOOL};
    struct rig *r = rig_new();
    for (int c = 0; c < 25; c++) {
        enum dtype from = types[c / 5], to = types[c % 5];
        if (from != DT_BF16 && to != DT_BF16) {
            continue;
        }
        rig_reset(r);
        r->in[0] = vector(r, from, 12);
        for (int i = 0; i < 11; i++) {
            rig_set(r, &r->in[0], i, from == DT_I32 ? fmax(-2e9, fmin(2e9, x[i])) : x[i]);
        }
        rig_set(r, &r->in[0], 11, from == DT_I32 ? 7 : NAN);
        r->out = vector(r, to, 12);
        r->attr[0] = to;
        rig_run(r, OP_cast, 1, 1, 1);
        for (int i = 0; i < 12; i++) {
            double v = rig_get(r, &r->in[0], i), got = rig_get(r, &r->out, i);
            double want = to == DT_BF16   ? (double)bf16_widen(bf16_round((float)v))
                          : to == DT_I32  ? (double)gml_i32_f64(v)
                          : to == DT_BOOL ? (v != 0)
                                          : v;
            expect_msg(got == want || (got != got && want != want), "%s to %s of %g: %g", dtype_name(from),
                       dtype_name(to), v, got);
        }
    }
    rig_free(r);
}
END_TEST

START_TEST(output_may_be_an_input)
{
    struct rig *r = rig_new();
    rig_reset(r);
    r->in[0] = vector(r, DT_BF16, 1000);
    numbers(r, &r->in[0], 3, DOM_ANY);
    struct operand first = vector(r, DT_BF16, 1000);
    memcpy(rig_at(r, &first), rig_at(r, &r->in[0]), 2000);
    r->out = r->in[0];
    rig_run(r, OP_neg, 1, 0, 1);
    for (int64_t i = 0; i < 1000; i++) {
        expect(rig_get(r, &r->out, i) == -rig_get(r, &first, i));
    }
    rig_free(r);
}
END_TEST

/* -- reductions: rows, columns, strided, cut into chunks */
static struct counts make_reduce(struct rig *r, bool wide, int variant)
{
    static const int64_t sizes[][3] = {{5, 7, 33}, {3, 1, 1031}, {1, 300, 70},
                                       {4, 0, 3},  {2, 2500, 3}, {1, 1, 90001}};
    const int64_t *size = sizes[variant / 16];
    int axes = variant % 8;
    bool turned = variant / 8 % 2;
    struct operand x = rig_tensor(r, type(wide), 3, size);
    numbers(r, &x, 5, elem_op == OP_prod ? DOM_POSITIVE : DOM_ANY);
    r->in[0] = turned ? swapped(x, 0, 2) : x;
    int n = 0, rank = 0;
    int64_t out[3];
    for (int a = 0; a < 3; a++) {
        if (axes >> a & 1) {
            r->attr[n++] = a;
        } else {
            out[rank++] = r->in[0].dim[a];
        }
    }
    r->out = rig_tensor(r, type(wide), rank, out);
    struct operand *o = &r->out;
    struct kargs k = {.in = r->in, .out = o};
    r->k.work_bytes = op_workspace(elem_op, &k, &(struct target){0});
    r->k.work = rig_vector(r, DT_F64, (int64_t)(r->k.work_bytes / 8)).offset;
    return (struct counts){1, n, 0};
}
START_TEST(reductions)
{
    static const enum op ops[] = {OP_sum, OP_mean, OP_prod, OP_amax, OP_amin};
    struct rig *r = rig_new();
    for (int i = 0; i < 5; i++) {
        elem_op = ops[i];
        for (int variant = 0; variant < 96; variant++) {
            compare(r, ops[i], make_reduce, variant, 1 + variant % 3);
        }
    }
    rig_free(r);
}
END_TEST

/* -- rows of the last axis */
static const int64_t widths[] = {1, 2, 31, 33, 127, 1031};
static struct counts make_row(struct rig *r, bool wide, int variant)
{
    int64_t size[] = {17, widths[variant % 6]};
    r->in[0] = rig_tensor(r, type(wide), 2, size);
    numbers(r, &r->in[0], 11 + (uint64_t)variant, DOM_ANY);
    if (variant >= 6) { /* ties, NaN, infinities */
        numbers(r, &r->in[0], 11, DOM_INTLIKE);
        for (int64_t i = 5; i < size[1]; i += 9) {
            rig_set(r, &r->in[0], i + size[1] * (i % 17), i % 2 ? NAN : i % 4 ? INFINITY : -(double)INFINITY);
        }
    }
    r->in[1] = vector(r, DT_I32, 17);
    for (int64_t i = 0; i < 17; i++) {
        rig_set(r, &r->in[1], i, (double)(i * 7 % (size[1] + 1) - 1));
    }
    r->in[2] = r->control;
    bool sorted = elem_op == OP_argsort, full = elem_op == OP_softmax || sorted;
    enum dtype t = sorted || elem_op == OP_argmax ? DT_I32 : type(wide);
    r->out = rig_tensor(r, t, full ? 2 : 1, size);
    r->attr[0] = variant % 2;
    return (struct counts){elem_op == OP_xent ? 3 : 1, sorted, 0};
}
START_TEST(row_kernels)
{
    static const enum op ops[] = {OP_softmax, OP_logsumexp, OP_xent, OP_argmax, OP_argsort};
    struct rig *r = rig_new();
    for (int i = 0; i < 5 * 12; i++) {
        elem_op = ops[i / 12];
        compare(r, elem_op, make_row, i % 12, 1 + i % 2);
    }
    rig_free(r);
}
END_TEST

static struct counts make_search(struct rig *r, bool wide, int variant)
{
    int64_t size[] = {9, widths[variant]}, many[] = {9, 40};
    r->in[0] = rig_tensor(r, type(wide), 2, size);
    r->in[1] = rig_tensor(r, type(wide), 2, many);
    for (int64_t i = 0; i < 9 * size[1]; i++) {
        rig_set(r, &r->in[0], i, (double)bf16_widen(bf16_round((float)(i % size[1]) / 7)));
    }
    numbers(r, &r->in[1], 4, DOM_INTLIKE);
    r->out = rig_tensor(r, DT_I32, 2, many);
    return (struct counts){2, 0, 0};
}

/* -- scans */
static struct counts make_scan(struct rig *r, bool wide, int variant)
{
    int64_t size[] = {5, 37, 3};
    for (int i = 0; i < 2; i++) {
        r->in[i] = rig_tensor(r, type(wide), 3, size);
        numbers(r, &r->in[i], (uint64_t)(8 + i), elem_op == OP_cumprod ? DOM_POSITIVE : DOM_UNIT);
    }
    r->out = rig_tensor(r, type(wide), 3, size);
    r->attr[0] = variant % 3;
    r->attr[1] = variant / 3;
    return (struct counts){elem_op == OP_linear_scan ? 2 : 1, 2, 0};
}
START_TEST(scans_and_search)
{
    static const enum op ops[] = {OP_cumsum, OP_cumprod, OP_cummax, OP_linear_scan};
    struct rig *r = rig_new();
    for (int i = 0; i < 4 * 6; i++) {
        elem_op = ops[i / 6];
        compare(r, elem_op, make_scan, i % 6, 2);
    }
    for (int i = 0; i < 6; i++) {
        compare(r, OP_search, make_search, i, 1);
    }
    rig_free(r);
}
END_TEST

/* -- by index */
static struct counts make_put(struct rig *r, bool wide, int variant)
{
    int64_t n = variant % 2 ? 700 : 0, width = variant < 2 ? 3 : 1031, rows = variant < 2 ? 400 : 7;
    int64_t x[] = {rows, width}, v[] = {n, width};
    r->in[0] = rig_tensor(r, type(wide), 2, x);
    r->in[1] = vector(r, DT_I32, n);
    r->in[2] = rig_tensor(r, type(wide), 2, v);
    r->in[3] = r->control;
    numbers(r, &r->in[0], 3, DOM_ANY);
    numbers(r, &r->in[2], 4, DOM_ANY);
    for (int64_t i = 0; i < n; i++) {
        rig_set(r, &r->in[1], i, (double)(i * i % (rows + 1) - 1));
    }
    r->out = rig_tensor(r, type(wide), 2, x);
    struct kargs k = {.in = r->in, .out = &r->out, .n_in = 4};
    r->k.work_bytes = op_workspace(elem_op, &k, &(struct target){0});
    r->k.work = rig_vector(r, DT_F64, (int64_t)(r->k.work_bytes / 8)).offset;
    return (struct counts){4, 0, 0};
}
static struct counts make_take(struct rig *r, bool wide, int variant)
{
    int64_t table[] = {6, variant % 2 ? 5000 : 31}, places[] = {6, variant < 2 ? 33 : 0};
    bool take = elem_op == OP_take;
    struct operand a = rig_tensor(r, type(wide), 2, table), b = rig_tensor(r, type(wide), 2, places);
    r->in[0] = take ? a : b;
    r->out = take ? b : a;
    numbers(r, &r->in[0], 3, DOM_ANY);
    r->in[1] = rig_tensor(r, DT_I32, 2, places);
    for (int64_t i = 0; i < rig_count(&r->in[1]); i++) {
        rig_set(r, &r->in[1], i, (double)(i * i % 32 - 1));
    }
    r->in[2] = r->control;
    return (struct counts){3, 0, 0};
}
static struct counts make_concat(struct rig *r, bool wide, int variant)
{
    int64_t a[] = {4, 3, 5}, b[] = {4, 3, 5}, out[] = {4, 3, 5};
    b[variant] = 9;
    out[variant] += 9;
    r->in[0] = rig_tensor(r, type(wide), 3, a);
    r->in[1] = rig_tensor(r, type(wide), 3, b);
    numbers(r, &r->in[0], 3, DOM_ANY);
    numbers(r, &r->in[1], 4, DOM_ANY);
    r->out = rig_tensor(r, type(wide), 3, out);
    r->attr[0] = variant;
    return (struct counts){2, 1, 0};
}
static struct counts make_pad(struct rig *r, bool wide, int variant)
{
    int64_t in[] = {4, 5}, out[] = {12, 13};
    r->in[0] = rig_tensor(r, type(wide), 2, in);
    numbers(r, &r->in[0], 3, DOM_ANY);
    r->out = rig_tensor(r, type(wide), 2, out);
    r->attr[0] = variant ? 2 : 1;
    r->attr[1] = variant ? -2 : 1;
    r->attr[2] = 3;
    r->attr[3] = variant ? 10 : 2;
    return (struct counts){1, 4, 0};
}
static struct counts make_copy(struct rig *r, bool wide, int variant)
{
    int64_t size[] = {33, 65};
    (void)variant;
    r->in[0] = rig_tensor(r, type(wide), 2, size);
    numbers(r, &r->in[0], 3, DOM_ANY);
    r->in[0] = swapped(r->in[0], 0, 1);
    r->out = rig_tensor(r, type(wide), 2, r->in[0].dim);
    return (struct counts){1, 0, 0};
}
static struct counts make_pack(struct rig *r, bool wide, int variant)
{
    (void)variant;
    r->in[0] = vector(r, type(wide), 70);
    r->in[1] = vector(r, type(wide), 3);
    numbers(r, &r->in[0], 3, DOM_ANY);
    numbers(r, &r->in[1], 4, DOM_ANY);
    r->out = vector(r, type(wide), 192);
    return (struct counts){2, 0, 0};
}
static struct counts make_gather(struct rig *r, bool wide, int variant)
{
    int64_t table[] = {31, 7}, out[] = {40, 7};
    (void)variant;
    r->in[0] = rig_tensor(r, type(wide), 2, table);
    numbers(r, &r->in[0], 3, DOM_ANY);
    r->in[1] = vector(r, DT_I32, 40);
    for (int64_t i = 0; i < 40; i++) {
        rig_set(r, &r->in[1], i, (double)(i % 32 - 1));
    }
    r->in[2] = r->control;
    r->out = rig_tensor(r, type(wide), 2, out);
    return (struct counts){3, 0, 0};
}
START_TEST(by_index_and_place)
{
    static const struct {
        enum op op;
        builder make;
        int variants;
    } cases[] = {{OP_put_add, make_put, 4},  {OP_put, make_put, 4},     {OP_put_max, make_put, 4},
                 {OP_take, make_take, 4},    {OP_spread, make_take, 4}, {OP_concat, make_concat, 3},
                 {OP_pad, make_pad, 2},      {OP_copy, make_copy, 1},   {OP_pack, make_pack, 1},
                 {OP_gather, make_gather, 1}};
    struct rig *r = rig_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int variant = 0; variant < cases[i].variants; variant++) {
            elem_op = cases[i].op;
            compare(r, elem_op, cases[i].make, variant, 1 + variant);
        }
    }
    rig_free(r);
}
END_TEST

/* -- products: the order of the sums differs from that of f32 */
static struct counts make_product(struct rig *r, bool wide, int variant)
{
    static const int64_t sizes[][4] = {
        {1, 1, 1, 1}, {3, 7, 5, 9}, {1, 33, 129, 257}, {2, 70, 3, 0}, {1, 130, 260, 600}};
    const int64_t *s = sizes[variant / 4];
    int64_t x[] = {s[0], s[1], s[3]}, xt[] = {s[0], s[3], s[1]}, w[] = {s[0], s[3], s[2]},
            wt[] = {s[0], s[2], s[3]};
    int64_t out[] = {s[0], s[1], s[2]};
    r->in[0] = rig_tensor(r, type(wide), 3, variant & 1 ? xt : x);
    r->in[1] = rig_tensor(r, type(wide), 3, variant & 2 ? wt : w);
    numbers(r, &r->in[0], 3, DOM_UNIT);
    numbers(r, &r->in[1], 4, DOM_UNIT);
    r->in[0] = variant & 1 ? swapped(r->in[0], 1, 2) : r->in[0];
    r->in[1] = variant & 2 ? swapped(r->in[1], 1, 2) : r->in[1];
    r->out = rig_tensor(r, type(wide), 3, out);
    return (struct counts){2, 0, 1};
}
static struct counts make_solve(struct rig *r, bool wide, int variant)
{
    int64_t a[] = {3, 5, 5}, b[] = {3, 5, 2};
    (void)variant;
    r->in[0] = rig_tensor(r, type(wide), 3, a);
    r->in[1] = rig_tensor(r, type(wide), 3, b);
    numbers(r, &r->in[0], 3, DOM_UNIT);
    numbers(r, &r->in[1], 4, DOM_UNIT);
    for (int64_t i = 0; i < 75; i += i % 25 == 24 ? 1 : 6) {
        rig_set(r, &r->in[0], i, 8);
    }
    r->out = rig_tensor(r, type(wide), 3, b);
    r->k.work_bytes = 8 * 105;
    r->k.work = rig_vector(r, DT_F64, 105).offset;
    return (struct counts){2, 0, 0};
}
START_TEST(products_and_solutions)
{
    struct rig *r = rig_new();
    for (int variant = 0; variant < 20; variant++) {
        compare(r, OP_matmul, make_product, variant, 1 + variant % 2);
    }
    compare(r, OP_solve_spd, make_solve, 0, 1);
    rig_free(r);
}
END_TEST

/* -- what comes from no operand */
START_TEST(draws_and_sources)
{
    struct rig *r = rig_new();
    enum { N = 100000 };
    static float wide[N];
    static const enum op ops[] = {OP_uniform, OP_normal};
    for (int op = 0; op < 2; op++) {
        for (int t = 0; t < 2; t++) {
            rig_reset(r);
            rig_control(r)->key = 77;
            r->in[0] = r->control;
            r->out = vector(r, type(t == 0), N);
            r->attr[0] = 5;
            r->attr[1] = 0;
            rig_run(r, ops[op], 1, 2, 2);
            for (int64_t i = 0; i < N; i++) {
                float got = (float)rig_get(r, &r->out, i);
                expect(t == 0 || got == bf16_widen(op ? bf16_round(wide[i]) : bf16_cut(wide[i])));
                expect(op || (got >= 0 && got < 1));
                wide[i] = got;
            }
        }
    }
    rig_reset(r);
    rig_control(r)->knob[1] = 1.01171875;
    r->in[0] = r->control;
    r->out = rig_scalar(r, DT_BF16);
    r->attr[0] = 1;
    rig_run(r, OP_knob, 1, 1, 1);
    expect(((struct bf16 *)rig_at(r, &r->out))->bits == 0x3f82);
    rig_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("bf16");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, rounding_is_to_the_nearest_even);
    tcase_add_test(t, elementwise_rows);
    tcase_add_test(t, casts);
    tcase_add_test(t, output_may_be_an_input);
    tcase_add_test(t, reductions);
    tcase_add_test(t, row_kernels);
    tcase_add_test(t, scans_and_search);
    tcase_add_test(t, by_index_and_place);
    tcase_add_test(t, products_and_solutions);
    tcase_add_test(t, draws_and_sources);
    return suite_run("bf16", t, CK_NOFORK);
}
