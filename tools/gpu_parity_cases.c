/* The cases: each operator over shapes that take its different kernels - contiguous, odd, misaligned,
 * broadcast, transposed, empty, long. */
#include <math.h>
#include "tools/gpu_parity_build.h"

/* -- elementwise rows */
static enum dtype input_type(enum op_sig sig, enum dtype t, int input)
{
    return sig == SIG_CHOOSE && input == 0 ? DT_BOOL : t;
}
static void elem_case(struct parity *p, enum op op, enum dtype t, enum dtype out,
                      struct operand (*view)(struct parity *, enum dtype, int), double tolerance)
{
    const struct op_info *info = &op_table[op];
    struct operand in[3];
    for (int i = 0; i < info->n_min; i++) {
        in[i] = view(p, input_type(info->sig, t, i), i);
        struct operand whole = in[i];
        for (int a = 0; a < whole.rank; a++) {
            whole.dim[a] = whole.stride[a] == 0 ? 1 : whole.dim[a];
        }
        fill(p, &whole, info->sig == SIG_CHOOSE && i == 0 ? DOM_BOOLS : info->domain);
    }
    struct operand o = in[0];
    int64_t size[LIMIT_RANK + 1];
    for (int a = 0; a < o.rank; a++) {
        size[a] = o.dim[a];
    }
    size[o.rank] = -1;
    const int64_t to = (int64_t)out;
    add(p, op, in, info->n_min, place(p, out, size, 0), op == OP_cast ? &to : NULL, op == OP_cast, tolerance);
}
static struct operand view_scalar(struct parity *p, enum dtype t, int i)
{
    (void)i;
    return place(p, t, (const int64_t[]){-1}, 0);
}
static struct operand view_line(struct parity *p, enum dtype t, int i)
{
    (void)i;
    return PLACE(p, t, 1000);
}
static struct operand view_odd(struct parity *p, enum dtype t, int i)
{
    return place(p, t, (const int64_t[]){37, -1}, i == 1 ? dtype_size(t) : 0);
}
static struct operand view_bias(struct parity *p, enum dtype t, int i)
{
    return i == 1 ? repeated(PLACE(p, t, 1, 96), 0, 33) : PLACE(p, t, 33, 96);
}
static struct operand view_factor(struct parity *p, enum dtype t, int i)
{
    return i == 1 ? repeated(repeated(PLACE(p, t, 1, 1), 0, 20), 1, 32) : PLACE(p, t, 20, 32);
}
static struct operand view_turned(struct parity *p, enum dtype t, int i)
{
    return i == 0 ? swapped(PLACE(p, t, 17, 65), 0, 1) : PLACE(p, t, 65, 17);
}
static struct operand view_deep(struct parity *p, enum dtype t, int i)
{
    return i == 1 ? repeated(PLACE(p, t, 3, 1, 8, 5), 1, 4) : swapped(PLACE(p, t, 3, 8, 4, 5), 1, 2);
}
static struct operand view_large(struct parity *p, enum dtype t, int i)
{
    (void)i;
    return PLACE(p, t, 300, 1024);
}
static struct operand view_empty(struct parity *p, enum dtype t, int i)
{
    (void)i;
    return PLACE(p, t, 4, 0);
}
static struct operand (*const views[])(struct parity *, enum dtype, int) = {
    view_scalar, view_line, view_odd, view_bias, view_factor, view_turned, view_deep, view_empty};

static void elem_cases(struct parity *p, enum op op)
{
    static const unsigned types[] = {[SIG_FLOAT] = 1 << DT_F32,
                                     [SIG_NUMBER] = 1 << DT_F32 | 1 << DT_I32,
                                     [SIG_COMPARE] = 1 << DT_F32 | 1 << DT_I32,
                                     [SIG_EQUAL] = 1 << DT_F32 | 1 << DT_I32 | 1 << DT_BOOL,
                                     [SIG_LOGIC] = 1 << DT_BOOL,
                                     [SIG_CHOOSE] = 1 << DT_F32 | 1 << DT_I32 | 1 << DT_BOOL,
                                     [SIG_CLASSIFY] = 1 << DT_F32,
                                     [SIG_BITS] = 1 << DT_F32 | 1 << DT_I32,
                                     [SIG_CAST] = 1 << DT_F32 | 1 << DT_I32 | 1 << DT_BOOL};
    const struct op_info *info = &op_table[op];
    for (int t = 1; t < DT_COUNT; t++) {
        if (!(types[info->sig] >> t & 1)) {
            continue;
        }
        for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
            for (int out = 1; out < DT_COUNT; out++) {
                bool wanted = info->sig == SIG_CAST ? (types[SIG_CAST] >> out & 1)
                                                    : out == (int)output_type(info->sig, (enum dtype)t);
                if (wanted) {
                    elem_case(p, op, (enum dtype)t, (enum dtype)out, views[v],
                              t == DT_F32 ? info->tolerance : 0);
                }
            }
        }
    }
    if (op == OP_add || op == OP_silu) {
        elem_case(p, op, DT_F32, DT_F32, view_large, info->tolerance);
    }
}

/* -- reductions */
static void reduce_case(struct parity *p, enum op op, enum dtype t, struct operand in, uint32_t axes,
                        double tolerance)
{
    int64_t attr[LIMIT_RANK], size[LIMIT_RANK + 1];
    uint32_t n = 0;
    int rank = 0;
    for (int a = 0; a < in.rank; a++) {
        if (axes >> a & 1) {
            attr[n++] = a;
        } else {
            size[rank++] = in.dim[a];
        }
    }
    size[rank] = -1;
    fill(p, &in, t == DT_F32 ? DOM_POSITIVE : t == DT_BOOL ? DOM_BOOLS : DOM_INTLIKE);
    add(p, op, &in, 1, place(p, t, size, 0), attr, n, tolerance);
}
static void reduce_cases(struct parity *p, enum op op)
{
    const struct op_info *info = &op_table[op];
    for (int t = 1; t < DT_COUNT; t++) {
        bool wanted =
            info->sig == SIG_LOGIC ? t == DT_BOOL : t == DT_F32 || (t == DT_I32 && info->sig == SIG_NUMBER);
        if (!wanted) {
            continue;
        }
        enum dtype d = (enum dtype)t;
        double tol = t == DT_F32 && (op == OP_sum || op == OP_mean) ? 5e-6 : op == OP_prod ? 1e-4 : 0;
        reduce_case(p, op, d, PLACE(p, d, 128, 256), 1, tol);
        reduce_case(p, op, d, PLACE(p, d, 128, 10), 1, tol);
        reduce_case(p, op, d, PLACE(p, d, 100, 77), 2, tol);
        reduce_case(p, op, d, PLACE(p, d, 9, 3000), 2, tol);
        reduce_case(p, op, d, PLACE(p, d, 20, 30), 3, tol);
        reduce_case(p, op, d, PLACE(p, d, 200001), 1, tol);
        reduce_case(p, op, d, PLACE(p, d, 9000, 10), 1, tol);
        reduce_case(p, op, d, PLACE(p, d, 6, 10, 8), 5, tol);
        reduce_case(p, op, d, PLACE(p, d, 6, 10, 8), 2, tol);
        reduce_case(p, op, d, swapped(PLACE(p, d, 20, 3, 30), 0, 2), 2, tol);
        reduce_case(p, op, d, swapped(PLACE(p, d, 70, 40), 0, 1), 2, tol);
        reduce_case(p, op, d, PLACE(p, d, 5, 1), 2, tol);
        if (op != OP_mean) {
            reduce_case(p, op, d, PLACE(p, d, 3, 0), 2, tol);
        }
    }
}

/* -- rows of the last axis */
static struct operand row_labels(struct parity *p, struct operand out, int64_t classes)
{
    int64_t n = operand_count(&out);
    out = PLACE(p, DT_I32, n);
    for (int64_t i = 0; i < n; i++) {
        store(p, &out, i, i % 7 == 3 ? -1 : (double)(int64_t)(uniform(p) * (double)classes));
    }
    return out;
}
static void row_case(struct parity *p, int64_t a, int64_t b, int64_t k)
{
    struct operand x = filled(p, DOM_SMALL, PLACE(p, DT_F32, a, b, k)), flat = x;
    add(p, OP_softmax, &x, 1, PLACE(p, DT_F32, a, b, k), NO_ATTR, 5e-6);
    add(p, OP_logsumexp, &x, 1, PLACE(p, DT_F32, a, b), NO_ATTR, 5e-6);
    add(p, OP_argmax, &x, 1, PLACE(p, DT_I32, a, b), NO_ATTR, 0);
    struct operand ints = filled(p, DOM_INTLIKE, PLACE(p, DT_I32, a, b, k));
    add(p, OP_argmax, &ints, 1, PLACE(p, DT_I32, a, b), NO_ATTR, 0);
    flat.rank = 2;
    flat.dim[0] = a * b;
    flat.dim[1] = flat.stride[0] = k;
    flat.stride[1] = 1;
    struct operand out = PLACE(p, DT_F32, a * b);
    add(p, OP_xent, (struct operand[]){flat, row_labels(p, out, k)}, 2, out, NO_ATTR, 5e-6);
}
static void row_cases(struct parity *p)
{
    row_case(p, 1, 5, 10);
    row_case(p, 8, 16, 10);
    row_case(p, 3, 1, 1);
    row_case(p, 2, 1, 5000);
    row_case(p, 4, 3, 33);
    struct operand bad = filled(p, DOM_SMALL, PLACE(p, DT_F32, 3, 40));
    store(p, &bad, 17, (double)NAN);
    store(p, &bad, 25, (double)NAN);
    store(p, &bad, 45, (double)INFINITY);
    add(p, OP_argmax, &bad, 1, PLACE(p, DT_I32, 3), NO_ATTR, 0);
    struct operand nothing = filled(p, DOM_SMALL, PLACE(p, DT_F32, 3, 40));
    for (int64_t i = 0; i < 40; i++) {
        store(p, &nothing, i, -(double)INFINITY);
    }
    store(p, &nothing, 50, -(double)INFINITY);
    add(p, OP_softmax, &nothing, 1, PLACE(p, DT_F32, 3, 40), NO_ATTR, 5e-6);
    add(p, OP_logsumexp, &nothing, 1, PLACE(p, DT_F32, 3), NO_ATTR, 5e-6);
}

/* -- products: 1e-6 times max(10, 2 sqrt(k)), as tests/kernels holds each backend to the exact product */
static void product(struct parity *p, struct operand x, struct operand w)
{
    int64_t size[LIMIT_RANK + 1];
    struct operand in[2] = {x, w};
    for (int i = 0; i < 2; i++) {
        struct operand whole = in[i];
        for (int a = 0; a < whole.rank; a++) {
            whole.dim[a] = whole.stride[a] == 0 ? 1 : whole.dim[a];
        }
        fill(p, &whole, DOM_UNIT);
    }
    for (int a = 0; a < x.rank; a++) {
        size[a] = x.dim[a];
    }
    size[x.rank - 1] = w.dim[w.rank - 1];
    size[x.rank] = -1;
    double k = (double)x.dim[x.rank - 1];
    add(p, OP_matmul, in, 2, place(p, DT_F32, size, 0), NO_ATTR, 1e-6 * fmax(10, 2 * sqrt(k)));
}
static void product_cases(struct parity *p)
{
    static const int64_t shape[][3] = {{128, 64, 256}, {128, 256, 128}, {128, 128, 10},
                                       {69, 64, 256},  {1, 7, 1},       {5, 1, 3},
                                       {3, 300, 2},    {33, 65, 17},    {256, 1024, 64}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        int64_t m = shape[i][0], k = shape[i][1], n = shape[i][2];
        product(p, PLACE(p, DT_F32, m, k), PLACE(p, DT_F32, k, n));
        product(p, PLACE(p, DT_F32, m, k), swapped(PLACE(p, DT_F32, n, k), 0, 1));
        product(p, swapped(PLACE(p, DT_F32, k, m), 0, 1), PLACE(p, DT_F32, k, n));
        product(p, swapped(PLACE(p, DT_F32, k, m), 0, 1), swapped(PLACE(p, DT_F32, n, k), 0, 1));
    }
    product(p, PLACE(p, DT_F32, 6, 20, 30), PLACE(p, DT_F32, 6, 30, 40));
    product(p, PLACE(p, DT_F32, 6, 20, 30), repeated(PLACE(p, DT_F32, 1, 30, 40), 0, 6));
    product(p, PLACE(p, DT_F32, 4, 0), PLACE(p, DT_F32, 0, 5));
    /* K that a split would have to add up: all ones give K exactly */
    struct operand x = PLACE(p, DT_F32, 64, 4099), w = PLACE(p, DT_F32, 4099, 48);
    product(p, x, w);
    for (int64_t i = 0; i < 64 * 4099; i++) {
        store(p, &x, i, 1);
    }
    for (int64_t i = 0; i < 48 * 4099; i++) {
        store(p, &w, i, 1);
    }
    if (p->op.n && p->op.at[p->op.n - 1].op == OP_matmul) { /* not when --row names another */
        p->at.at[p->at.n - 1].tolerance = 0;
    }
}

/* -- moving data */
static struct operand indices(struct parity *p, int64_t n, int64_t rows)
{
    struct operand o = PLACE(p, DT_I32, n);
    for (int64_t i = 0; i < n; i++) {
        store(p, &o, i, i % 11 == 5 ? -1 : (double)(int64_t)(uniform(p) * (double)rows));
    }
    return o;
}
static void index_case(struct parity *p, int64_t rows, int64_t width, int64_t n)
{
    struct operand table = filled(p, DOM_ANY, PLACE(p, DT_F32, rows, width)), at = indices(p, n, rows);
    add(p, OP_gather, (struct operand[]){table, at}, 2, PLACE(p, DT_F32, n, width), NO_ATTR, 0);
    struct operand v = filled(p, DOM_ANY, PLACE(p, DT_F32, n, width));
    static const enum op puts[] = {OP_put_add, OP_put, OP_put_max};
    for (int i = 0; i < 3; i++) {
        add(p, puts[i], (struct operand[]){table, at, v}, 3, PLACE(p, DT_F32, rows, width), NO_ATTR, 0);
    }
}
static void index_cases(struct parity *p)
{
    index_case(p, 1437, 64, 128);
    index_case(p, 10, 3, 500);
    index_case(p, 65, 96, 4096);
    index_case(p, 5, 1, 1);
    struct operand labels = filled(p, DOM_INTLIKE, PLACE(p, DT_I32, 300)),
                   flags = filled(p, DOM_BOOLS, PLACE(p, DT_BOOL, 300, 3));
    add(p, OP_gather, (struct operand[]){labels, indices(p, 77, 300)}, 2, PLACE(p, DT_I32, 77), NO_ATTR, 0);
    add(p, OP_gather, (struct operand[]){flags, indices(p, 77, 300)}, 2, PLACE(p, DT_BOOL, 77, 3), NO_ATTR,
        0);
    struct operand more = filled(p, DOM_BOOLS, PLACE(p, DT_BOOL, 77, 3));
    add(p, OP_put, (struct operand[]){flags, indices(p, 77, 300), more}, 3, PLACE(p, DT_BOOL, 300, 3),
        NO_ATTR, 0);
    struct operand box = filled(p, DOM_ANY, PLACE(p, DT_F32, 3, 5));
    add(p, OP_pad, &box, 1, PLACE(p, DT_F32, 8, 16), ATTR(2, 3, 1, 1), 0);
    add(p, OP_pad, &box, 1, PLACE(p, DT_F32, 3, 9), ATTR(1, -1, 0, 6), 0);
    struct operand from = filled(p, DOM_ANY, PLACE(p, DT_F32, 12, 10));
    add(p, OP_copy, (struct operand[]){swapped(from, 0, 1)}, 1, PLACE(p, DT_F32, 10, 12), NO_ATTR, 0);
    struct operand leaves[] = {filled(p, DOM_ANY, PLACE(p, DT_F32, 10, 7)),
                               filled(p, DOM_ANY, PLACE(p, DT_F32, 64)),
                               filled(p, DOM_ANY, PLACE(p, DT_F32, 1))};
    add(p, OP_pack, leaves, 3, PLACE(p, DT_F32, 128 + 64 + 64), ATTR(0), 0);
    struct operand table = PLACE(p, DT_F64, 2, 3);
    const double rows[] = {0, 70, 1.5, 128, 64, -2};
    for (int i = 0; i < 6; i++) {
        store(p, &table, i, rows[i]);
    }
    add(p, OP_ranges, &table, 1, PLACE(p, DT_F32, 256), ATTR(0, f64_bits(0.25)), 0);
    add(p, OP_iota, NULL, 0, PLACE(p, DT_I32, 777), NO_ATTR, 0);
}

/* -- along an axis */
static void scan_cases(struct parity *p, enum dtype t, int64_t a, int64_t n, int64_t b)
{
    static const enum op ops[] = {OP_cumsum, OP_cumprod, OP_cummax};
    struct operand x = PLACE(p, t, a, n, b), y = x;
    fill(p, &x, t == DT_F32 ? DOM_UNIT : DOM_INTLIKE);
    for (int reverse = 0; reverse < 2; reverse++) {
        for (int i = 0; i < 3; i++) {
            add(p, ops[i], &x, 1, PLACE(p, t, a, n, b), ATTR(1, reverse),
                ops[i] == OP_cummax ? 0
                : t == DT_F32       ? 1e-6
                                    : 0);
        }
        if (t == DT_F32) {
            y = filled(p, DOM_UNIT, PLACE(p, t, a, n, b));
            add(p, OP_linear_scan, (struct operand[]){x, y}, 2, PLACE(p, t, a, n, b), ATTR(1, reverse), 5e-6);
        }
    }
}
static void order_case(struct parity *p, enum dtype t, int64_t rows, int64_t k, int64_t m)
{
    struct operand x = PLACE(p, t, rows, k), u = PLACE(p, t, rows, m), at = PLACE(p, DT_I32, rows, m);
    fill(p, &x, DOM_INTLIKE);
    for (int64_t i = 0; i < rows * m; i++) {
        store(p, &at, i, i % 11 == 5 ? -1 : (double)(int64_t)(uniform(p) * (double)k));
    }
    for (int down = 0; down < 2; down++) {
        add(p, OP_argsort, &x, 1, PLACE(p, DT_I32, rows, k), ATTR(down), 0);
    }
    add(p, OP_take, (struct operand[]){x, at}, 2, PLACE(p, t, rows, m), NO_ATTR, 0);
    fill(p, &u, DOM_INTLIKE);
    add(p, OP_spread, (struct operand[]){u, at}, 2, PLACE(p, t, rows, k), NO_ATTR, 0);
    struct operand rising = PLACE(p, t, rows, k);
    for (int64_t i = 0; i < rows * k; i++) {
        store(p, &rising, i, (double)(i % k / 2 - 4));
    }
    add(p, OP_search, (struct operand[]){rising, u}, 2, PLACE(p, DT_I32, rows, m), NO_ATTR, 0);
}
static void order_cases(struct parity *p)
{
    for (int i = 0; i < 2; i++) {
        enum dtype t = i ? DT_I32 : DT_F32;
        scan_cases(p, t, 3, 40, 17);
        scan_cases(p, t, 5, 1000, 1);
        scan_cases(p, t, 1, 33, 1);
        scan_cases(p, t, 2, 0, 3);
        order_case(p, t, 7, 10, 3);
        order_case(p, t, 3, 1000, 1000);
        order_case(p, t, 1, 1, 4);
    }
    struct operand bad = filled(p, DOM_SMALL, PLACE(p, DT_F32, 3, 40));
    store(p, &bad, 17, (double)NAN);
    store(p, &bad, 25, (double)NAN);
    store(p, &bad, 45, -(double)INFINITY);
    add(p, OP_argsort, &bad, 1, PLACE(p, DT_I32, 3, 40), ATTR(0), 0);
    add(p, OP_argsort, &bad, 1, PLACE(p, DT_I32, 3, 40), ATTR(1), 0);
    add(p, OP_cummax, &bad, 1, PLACE(p, DT_F32, 3, 40), ATTR(1, 0), 0);
    struct operand a = filled(p, DOM_UNIT, PLACE(p, DT_F32, 3, 40, 40)),
                   b = filled(p, DOM_UNIT, PLACE(p, DT_F32, 3, 40, 7));
    for (int64_t i = 0; i < 3 * 40; i++) {
        store(p, &a, i / 40 * 1600 + i % 40 * 41, 50);
    }
    add(p, OP_solve_spd, (struct operand[]){a, b}, 2, PLACE(p, DT_F32, 3, 40, 7), NO_ATTR, 1e-6);
    struct operand parts[] = {filled(p, DOM_ANY, PLACE(p, DT_F32, 6, 3, 5)), PLACE(p, DT_F32, 6, 0, 5),
                              filled(p, DOM_ANY, PLACE(p, DT_F32, 6, 4, 5))};
    add(p, OP_concat, parts, 3, PLACE(p, DT_F32, 6, 7, 5), ATTR(1), 0);
    struct operand flags[] = {filled(p, DOM_BOOLS, PLACE(p, DT_BOOL, 9, 3)),
                              filled(p, DOM_BOOLS, PLACE(p, DT_BOOL, 9, 8))};
    add(p, OP_concat, flags, 2, PLACE(p, DT_BOOL, 9, 11), ATTR(1), 0);
}

/* -- randomness and the control block: exact */
static void control_cases(struct parity *p)
{
    static const int64_t op_id = 0x123456789abcdef, sizes[] = {1, 5, 4096, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        add(p, OP_uniform, NULL, 0, PLACE(p, DT_F32, sizes[i]), ATTR(op_id + (int64_t)i, 0), 0);
        add(p, OP_normal, NULL, 0, PLACE(p, DT_F32, sizes[i]), ATTR(op_id - (int64_t)i, 0), 0);
        struct operand chance = place(p, DT_F32, (const int64_t[]){-1}, 0);
        store(p, &chance, 0, 0.3);
        struct operand bound = place(p, DT_I32, (const int64_t[]){-1}, 0);
        store(p, &bound, 0, 1000003);
        add(p, OP_randint, &bound, 1, PLACE(p, DT_I32, sizes[i]), ATTR(op_id ^ (int64_t)(7 * i), 0), 0);
        add(p, OP_bernoulli, &chance, 1, PLACE(p, DT_BOOL, sizes[i]), ATTR(op_id ^ (int64_t)i, 0), 0);
    }
    struct operand at = PLACE(p, DT_I32, 1000), epoch = place(p, DT_I32, (const int64_t[]){-1}, 0);
    for (int i = 0; i < 1000; i++) {
        store(p, &at, i, i - 2);
    }
    store(p, &epoch, 0, 3);
    add(p, OP_shuffle, (struct operand[]){at, epoch}, 2, PLACE(p, DT_I32, 1000), ATTR(op_id, 997), 0);
    for (int64_t order = 0; order < 3; order++) {
        add(p, OP_rows, NULL, 0, PLACE(p, DT_I32, 128), ATTR(0, order, op_id), 0);
    }
    for (int64_t which = 0; which < 4; which++) {
        add(p, OP_step, NULL, 0, place(p, DT_I32, (const int64_t[]){-1}, 0), ATTR(0, which), 0);
    }
    for (int t = DT_F32; t <= DT_BOOL; t++) {
        if (t == DT_F32 || t == DT_I32 || t == DT_BOOL) {
            add(p, OP_knob, NULL, 0, place(p, (enum dtype)t, (const int64_t[]){-1}, 0), ATTR(3), 0);
        }
    }
    add(p, OP_metric, NULL, 0, place(p, DT_F32, (const int64_t[]){-1}, 0), ATTR(0, 0, 5), 0);
}

void parity_cases(struct parity *p)
{
    for (int op = 1; op < OP_COUNT; op++) {
        if (op_table[op].kind == OPK_ELEM) {
            elem_cases(p, (enum op)op);
        } else if (op_table[op].kind == OPK_REDUCE) {
            reduce_cases(p, (enum op)op);
        }
    }
    row_cases(p);
    product_cases(p);
    index_cases(p);
    order_cases(p);
    control_cases(p);
}

void parity_faults(struct parity *p)
{
    struct operand table = filled(p, DOM_ANY, PLACE(p, DT_F32, 10, 4)), at = indices(p, 6, 10);
    store(p, &at, 2, 12);
    add(p, OP_gather, (struct operand[]){table, at}, 2, PLACE(p, DT_F32, 6, 4), NO_ATTR, 0);
}
