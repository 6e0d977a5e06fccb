/* The wide net: each operator over 50 shapes - empty, single, around warps and vectors, primes, ragged in two
 * and three axes - in f32 and bf16, i32 and bool where the row has them, and every fifth shape in f64. A
 * shape is three sizes [a, b, k], which each kind of operator reads in its own way, and a layout, which those
 * follow that take strides. */
#include <math.h>
#include "tools/gpu_parity_build.h"

enum layout { PLAIN, TURNED, SKEWED, REPEATED, SCALAR, STEPPED, LAYOUTS };
static const int64_t shapes[][3] = {
    {1, 1, 1},   {1, 1, 0},    {0, 3, 5},    {1, 1, 31},  {1, 1, 32},   {1, 1, 33},   {1, 1, 127},
    {1, 1, 128}, {1, 1, 1009}, {1, 1, 4099}, {2, 1, 2},   {3, 1, 7},    {7, 1, 3},    {31, 1, 31},
    {32, 1, 32}, {33, 1, 33},  {127, 1, 2},  {2, 1, 127}, {13, 1, 61},  {61, 1, 13},  {101, 1, 9},
    {9, 1, 101}, {251, 1, 3},  {3, 1, 251},  {64, 1, 64}, {128, 1, 10}, {10, 1, 256}, {5, 1, 300},
    {17, 1, 65}, {2, 1, 1025}, {1, 5, 1},    {2, 3, 4},   {3, 5, 7},    {7, 11, 13},  {4, 1, 31},
    {5, 32, 1},  {2, 33, 8},   {8, 2, 33},   {6, 4, 16},  {31, 2, 3},   {3, 31, 2},   {2, 3, 127},
    {1, 9, 128}, {4, 8, 96},   {3, 0, 4},    {3, 4, 0},   {11, 1, 67},  {29, 3, 5},   {1, 2, 2053},
    {2, 7, 71},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
_Static_assert(SHAPES == 50, "what the documents say");

static const int64_t *shape_of(int s)
{
    return shapes[s];
}

/* An operand of shape [a, b, k] in a layout; its memory is filled. */
static struct operand laid_out(struct parity *p, enum dtype t, const int64_t *size, enum layout l,
                               enum op_domain d)
{
    int64_t a = size[0], b = size[1], k = size[2];
    if (l == TURNED) {
        return swapped(filled(p, d, PLACE(p, t, k, b, a)), 0, 2);
    }
    if (l == SKEWED) {
        return filled(p, d, place(p, t, (const int64_t[]){a, b, k, -1}, dtype_size(t)));
    }
    if (l == REPEATED && a > 0) {
        return repeated(filled(p, d, PLACE(p, t, 1, b, k)), 0, a);
    }
    if (l == SCALAR && a * b * k > 0) {
        return repeated(repeated(repeated(filled(p, d, PLACE(p, t, 1, 1, 1)), 0, a), 1, b), 2, k);
    }
    if (l == STEPPED) {
        struct operand o = filled(p, d, PLACE(p, t, a, b, 2 * k));
        o.dim[2] = k;
        o.stride[2] = 2;
        return o;
    }
    return filled(p, d, PLACE(p, t, a, b, k));
}
static struct operand whole(struct parity *p, enum dtype t, const int64_t *size)
{
    return PLACE(p, t, size[0], size[1], size[2]);
}
static double if_float(enum dtype t, double tolerance)
{
    return dtype_is_float(t) ? tolerance : 0;
}

/* -- elementwise */
static const unsigned floats = 1 << DT_F32 | 1 << DT_F64 | 1 << DT_BF16, numbers = floats | 1 << DT_I32,
                      everything = numbers | 1 << DT_BOOL;
static unsigned types_of(enum op_sig sig)
{
    switch (sig) {
    case SIG_FLOAT:
    case SIG_CLASSIFY:
        return floats;
    case SIG_NUMBER:
    case SIG_COMPARE:
        return numbers;
    case SIG_LOGIC:
        return 1 << DT_BOOL;
    case SIG_BITS:
        return 1 << DT_F32 | 1 << DT_I32;
    default:
        return everything;
    }
}
static void elem_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const struct op_info *info = &op_table[op];
    const int64_t *size = shape_of(s);
    enum dtype out =
        info->sig == SIG_CAST ? (enum dtype)(1 + (s + t) % (DT_COUNT - 1)) : output_type(info->sig, t);
    struct operand in[3];
    for (int i = 0; i < info->n_min; i++) {
        bool condition = info->sig == SIG_CHOOSE && i == 0;
        in[i] = laid_out(p, condition ? DT_BOOL : t, size, (enum layout)((s + 2 * i) % LAYOUTS),
                         condition ? DOM_BOOLS : info->domain);
    }
    int64_t to = out;
    add(p, op, in, info->n_min, whole(p, out, size), &to, info->sig == SIG_CAST,
        if_float(t, info->tolerance));
}

/* -- reductions: over every set of axes in turn */
static void reduce_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    int64_t axes[3], out[4];
    uint32_t n = 0;
    int rank = 0, set = 1 + s % 7;
    struct operand x = laid_out(p, t, size, (enum layout)(s % LAYOUTS),
                                t == DT_BOOL    ? DOM_BOOLS
                                : t == DT_I32   ? DOM_INTLIKE
                                : op == OP_prod ? DOM_UNIT
                                                : DOM_POSITIVE);
    for (int a = 0; a < 3; a++) {
        if (set >> a & 1) {
            axes[n++] = a;
        } else {
            out[rank++] = size[a];
        }
    }
    out[rank] = -1;
    double tolerance = op == OP_sum || op == OP_mean ? 5e-6 : op == OP_prod ? 1e-4 : 0;
    add(p, op, &x, 1, place(p, t, out, 0), axes, n, if_float(t, tolerance));
}

/* -- rows of the last axis */
static struct operand indices_below(struct parity *p, struct operand at, int64_t n)
{
    for (int64_t i = 0; i < operand_count(&at); i++) {
        double u = uniform(p);
        store(p, &at, i, n == 0 || i % 11 == 5 ? -1 : floor(u * (double)n));
    }
    return at;
}
static void row_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    struct operand in[] = {
        laid_out(p, t, size, PLAIN, t == DT_I32 || op == OP_argsort ? DOM_INTLIKE : DOM_SMALL),
        PLACE(p, DT_I32, size[0], size[1])};
    if (size[2] == 0 && op == OP_argmax) {
        return; /* there is no index to give */
    }
    indices_below(p, in[1], size[2]);
    bool places = op == OP_argmax || op == OP_argsort, full = op == OP_softmax || op == OP_argsort;
    int64_t out[] = {size[0], size[1], full ? size[2] : -1, -1};
    int64_t descending = s % 2;
    add(p, op, in, op == OP_xent ? 2 : 1, place(p, places ? DT_I32 : t, out, 0), &descending,
        op == OP_argsort, places ? 0 : 5e-6);
}
static void search_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    int64_t k = size[2] + 1, m = size[1] + 3;
    struct operand in[] = {PLACE(p, t, size[0], k), filled(p, DOM_INTLIKE, PLACE(p, t, size[0], m))};
    for (int64_t i = 0; i < size[0] * k; i++) {
        store(p, &in[0], i, (double)(i % k / 2 - 4));
    }
    add(p, op, in, 2, PLACE(p, DT_I32, size[0], m), NO_ATTR, 0);
}
static void scan_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    struct operand in[2];
    for (int i = 0; i < 2; i++) {
        in[i] = laid_out(p, t, size, PLAIN, t == DT_I32 ? DOM_INTLIKE : DOM_UNIT);
    }
    double tolerance = op == OP_cummax ? 0 : op == OP_linear_scan ? 5e-6 : 1e-6;
    add(p, op, in, op == OP_linear_scan ? 2 : 1, whole(p, t, size), ATTR(s % 3, s / 3 % 2),
        if_float(t, tolerance));
}

/* -- products: 1e-6 times max(10, 2 sqrt(k)), as tests/kernels holds each backend to the exact product */
static void product_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    int64_t m = size[0], k = size[2], n = size[1] == 1 ? 1 + 7 * s % 40 : size[1], b = s % 4 == 3 ? 3 : 1;
    struct operand x = s & 1 ? swapped(filled(p, DOM_UNIT, PLACE(p, t, b, k, m)), 1, 2)
                             : filled(p, DOM_UNIT, PLACE(p, t, b, m, k));
    struct operand w = s & 2 ? swapped(filled(p, DOM_UNIT, PLACE(p, t, b, n, k)), 1, 2)
                             : filled(p, DOM_UNIT, PLACE(p, t, b, k, n));
    add(p, op, (struct operand[]){x, w}, 2, PLACE(p, t, b, m, n), NO_ATTR,
        1e-6 * fmax(10, 2 * sqrt((double)k)));
}
static void solve_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    int64_t m = 1 + s % 33, n = 1 + s % 7, b = s % 3;
    struct operand a = filled(p, DOM_UNIT, PLACE(p, t, b, m, m)),
                   y = filled(p, DOM_UNIT, PLACE(p, t, b, m, n));
    for (int64_t i = 0; i < b * m; i++) {
        store(p, &a, i / m * m * m + i % m * (m + 1), 2 * (double)m);
    }
    add(p, op, (struct operand[]){a, y}, 2, PLACE(p, t, b, m, n), NO_ATTR, 1e-6);
}

/* -- by index and place: rows [a], width [b * k] or rows of the last axis */
static void put_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    bool tall = s % 5 == 4; /* many rows and indices of few elements: those are sorted */
    int64_t rows = tall ? size[0] * size[2] + 1 : size[0], width = tall ? 3 : size[1] * size[2];
    int64_t n = tall ? 2 * rows + 3000 : s % 7 * 19;
    enum op_domain d = t == DT_BOOL ? DOM_BOOLS : DOM_ANY;
    struct operand table = filled(p, d, PLACE(p, t, rows, width)),
                   at = indices_below(p, PLACE(p, DT_I32, n), rows);
    if (op == OP_gather) {
        add(p, op, (struct operand[]){table, at}, 2, PLACE(p, t, n, width), NO_ATTR, 0);
        return;
    }
    struct operand v = filled(p, d, PLACE(p, t, n, width));
    add(p, op, (struct operand[]){table, at, v}, 3, PLACE(p, t, rows, width), NO_ATTR, 0);
}
static void take_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    int64_t a = size[0], k = size[2], m = s % 3 ? size[1] + 2 : k;
    struct operand table = PLACE(p, t, a, k), at = indices_below(p, PLACE(p, DT_I32, a, m), k),
                   v = PLACE(p, t, a, m);
    bool take = op == OP_take;
    fill(p, take ? &table : &v, t == DT_BOOL ? DOM_BOOLS : DOM_ANY);
    add(p, op, (struct operand[]){take ? table : v, at}, 2, take ? v : table, NO_ATTR, 0);
}
static void move_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    enum op_domain d = t == DT_BOOL ? DOM_BOOLS : DOM_ANY;
    struct operand x = laid_out(p, t, size, op == OP_copy ? (enum layout)(s % LAYOUTS) : PLAIN, d);
    if (op == OP_copy) {
        add(p, op, &x, 1, whole(p, t, size), NO_ATTR, 0);
    } else if (op == OP_pad) {
        int64_t step = 1 + s % 3, sign = s % 2 ? -1 : 1, end = size[2] ? (size[2] - 1) * step : 0;
        add(p, op, &x, 1, PLACE(p, t, size[0] + 2, size[1], end + 4),
            ATTR(1, 1, sign * step, 1, 0, sign < 0 ? end + 1 : 2), 0);
    } else if (op == OP_concat) {
        int64_t axis = s % 3, more[] = {size[0], size[1], size[2]}, out[] = {size[0], size[1], size[2]};
        more[axis] = s % 6;
        out[axis] += more[axis];
        struct operand in[] = {x, filled(p, d, whole(p, t, more))};
        add(p, op, in, 2, whole(p, t, out), ATTR(axis), 0);
    } else {
        int64_t padded = (operand_count(&x) + 63) / 64 * 64;
        struct operand in[] = {x, filled(p, d, PLACE(p, t, 1 + s))};
        add(p, op, in, 2, PLACE(p, t, padded + (1 + s + 63) / 64 * 64), ATTR(0), 0);
    }
}

/* A part is read out of any place of the array; the array that is written has one part, since what is beside
 * it stays as it was. */
static void part_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s);
    enum op_domain d = t == DT_BOOL ? DOM_BOOLS : DOM_ANY;
    struct operand x = laid_out(p, t, size, (enum layout)(s % LAYOUTS), d);
    struct operand in[] = {x, place(p, DT_I32, (const int64_t[]){-1}, 0)};
    bool read = op == OP_loop_in;
    store(p, &in[1], 0, read ? (double)(s % (size[0] ? size[0] : 1)) : 0);
    if (read && size[0]) {
        add(p, op, in, 2, PLACE(p, t, size[1], size[2]), NO_ATTR, 0);
    } else if (!read) {
        add(p, op, in, 2, PLACE(p, t, 1, size[0], size[1], size[2]), NO_ATTR, 0);
    }
}

/* -- from no operand */
static void draw_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    const int64_t *size = shape_of(s), op_id = 0x123456789abcdef + 97 * s;
    struct operand given = place(p, op == OP_randint ? DT_I32 : t, (const int64_t[]){-1}, 0);
    store(p, &given, 0, op == OP_randint ? 1 + 12345.0 * s : 0.02 * s);
    bool bounded = op == OP_randint || op == OP_bernoulli;
    enum dtype out = op == OP_randint ? DT_I32 : op == OP_bernoulli ? DT_BOOL : t;
    add(p, op, &given, bounded, whole(p, out, size), ATTR(op_id, 0), 0);
}
static void shuffle_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    int64_t n = 1 + shapes[s][0] * shapes[s][2];
    struct operand in[] = {PLACE(p, t, n + 3), place(p, t, (const int64_t[]){-1}, 0)};
    for (int64_t i = 0; i < n + 3; i++) {
        store(p, &in[0], i, (double)(i - 1));
    }
    store(p, &in[1], 0, s);
    add(p, op, in, 2, PLACE(p, t, n + 3), ATTR(0x5555 + s, n), 0);
}
static void count_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    int64_t n = shapes[s][0] * shapes[s][1] * shapes[s][2];
    if (op == OP_iota) {
        add(p, op, NULL, 0, PLACE(p, t, n), NO_ATTR, 0);
    } else if (op == OP_rows) {
        add(p, op, NULL, 0, PLACE(p, t, n), ATTR(0, s % 3, 0x777 + s), 0);
    } else {
        struct operand table = PLACE(p, DT_F64, 2, 3);
        const double rows[] = {0, (double)(n / 3), 1.5 + s, (double)(n / 2), (double)(n / 4), -0.3};
        for (int i = 0; i < 6; i++) {
            store(p, &table, i, rows[i]);
        }
        add(p, op, &table, 1, PLACE(p, t, n), ATTR(0, f64_bits(0.1 * s)), 0);
    }
}
static void control_shape(struct parity *p, enum op op, enum dtype t, int s)
{
    if (s < 4) { /* a number: no shapes to speak of */
        int64_t step[] = {0, s}, knob[] = {3}, metric[] = {0, 0, 5};
        add(p, op, NULL, 0, place(p, t, (const int64_t[]){-1}, 0),
            op == OP_step   ? step
            : op == OP_knob ? knob
                            : metric,
            op == OP_step   ? 2
            : op == OP_knob ? 1
                            : 3,
            0);
    }
}

/* -- which rows are made how, and of which types */
static const struct row {
    enum op op;
    unsigned types;
    void (*make)(struct parity *p, enum op op, enum dtype t, int s);
} rows[] = {
    {OP_softmax, floats, row_shape},
    {OP_logsumexp, floats, row_shape},
    {OP_xent, floats, row_shape},
    {OP_argmax, numbers, row_shape},
    {OP_argsort, numbers, row_shape},
    {OP_search, numbers, search_shape},
    {OP_cumsum, numbers, scan_shape},
    {OP_cumprod, numbers, scan_shape},
    {OP_cummax, numbers, scan_shape},
    {OP_linear_scan, floats, scan_shape},
    {OP_matmul, floats, product_shape},
    {OP_solve_spd, floats, solve_shape},
    {OP_gather, everything, put_shape},
    {OP_put, everything, put_shape},
    {OP_put_add, numbers, put_shape},
    {OP_put_max, numbers, put_shape},
    {OP_take, everything, take_shape},
    {OP_spread, numbers, take_shape},
    {OP_copy, everything, move_shape},
    {OP_pad, everything, move_shape},
    {OP_concat, everything, move_shape},
    {OP_pack, floats, move_shape},
    {OP_loop_in, everything, part_shape},
    {OP_loop_put, everything, part_shape},
    {OP_uniform, floats, draw_shape},
    {OP_normal, floats, draw_shape},
    {OP_bernoulli, floats, draw_shape},
    {OP_randint, 1 << DT_I32, draw_shape},
    {OP_shuffle, 1 << DT_I32, shuffle_shape},
    {OP_rows, 1 << DT_I32, count_shape},
    {OP_iota, 1 << DT_I32, count_shape},
    {OP_ranges, floats, count_shape},
    {OP_step, 1 << DT_I32, control_shape},
    {OP_knob, everything, control_shape},
    {OP_metric, floats, control_shape},
};

static void row_shapes(struct parity *p, enum op op, unsigned types,
                       void (*make)(struct parity *p, enum op op, enum dtype t, int s))
{
    for (int t = 1; t < DT_COUNT; t++) {
        int step = p->shape_step * (t == DT_F64 ? 5 : 1);
        for (int s = 0; s < SHAPES && types >> t & 1; s += step) {
            make(p, op, (enum dtype)t, s);
        }
    }
}

void parity_shapes(struct parity *p)
{
    for (int op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = &op_table[op];
        if (info->kind == OPK_ELEM) {
            row_shapes(p, (enum op)op, types_of(info->sig), elem_shape);
        } else if (info->kind == OPK_REDUCE) {
            row_shapes(p, (enum op)op, types_of(info->sig), reduce_shape);
        }
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row_shapes(p, rows[i].op, rows[i].types, rows[i].make);
    }
}
