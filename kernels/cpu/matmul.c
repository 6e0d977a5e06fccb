/* Matrix product: panels of rows (and columns, when there are few rows) on serial OpenBLAS, or plain loops
 * without it. Panels are cut by shape, so a product has the same bits on any number of threads. Transposed
 * factors and repeated batches come as strides. bf16 is widened block by block, so that all sums are those of
 * f32; for TF32 f32 is rounded block by block.
 */
#ifndef T
#include "kernels/cpu/cpu.h"
#include "runtime/base/tf32.h"
#ifdef GML_OPENBLAS
#include <cblas.h>
#endif

enum { PANEL_MIN = 32, PANELS = 16, BLOCK_M = 64, BLOCK_N = 128, BLOCK_K = 256 };
/* Below this many multiplications a cut costs more than it saves. */
static const int64_t UNIT_PRODUCTS = 1 << 18;

struct product {
    int64_t batches, m, n, k;
    int64_t panel_m, panel_n, units_m, units_n;
    int64_t batch_x, batch_w; /* elements from one batch to the next */
    int64_t xm, xk, wk, wn;   /* strides in elements */
};

/* The stride of the collapsed leading axes; the planner promises that there is one. */
static int64_t batch_stride(const struct operand *o)
{
    for (int axis = o->rank - 3; axis >= 0; axis--) {
        if (o->dim[axis] != 1) {
            return o->stride[axis];
        }
    }
    return 0;
}

static int64_t panel(int64_t size, int64_t units)
{
    int64_t p = max_i64(PANEL_MIN, div_up(size, max_i64(1, units)));
    return min_i64(max_i64(1, size), div_up(p, PANEL_MIN) * PANEL_MIN);
}

static void product_make(struct product *p, const struct kargs *a)
{
    const struct operand *x = &a->in[0], *w = &a->in[1];
    int r = x->rank;
    p->batches = dims_product(x, 0, r - 2);
    p->m = x->dim[r - 2];
    p->k = x->dim[r - 1];
    p->n = w->dim[r - 1];
    p->batch_x = batch_stride(x);
    p->batch_w = batch_stride(w);
    p->xm = x->stride[r - 2];
    p->xk = x->stride[r - 1];
    p->wk = w->stride[r - 2];
    p->wn = w->stride[r - 1];
    int64_t units = min_i64(PANELS, p->m * p->n / max_i64(1, UNIT_PRODUCTS / max_i64(1, p->k)));
    p->panel_m = panel(p->m, units);
    p->units_m = div_up(p->m, p->panel_m);
    p->panel_n = panel(p->n, units / max_i64(1, p->units_m));
    p->units_n = div_up(p->n, p->panel_n);
}

int64_t cpu_units_matmul(const struct kargs *k)
{
    struct product p;
    product_make(&p, k);
    return p.m && p.n ? p.batches * p.units_m * p.units_n : 0;
}

/* A factor with `rows` rows of `columns` columns as BLAS wants it: false when neither stride is 1. */
static bool blas_layout(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                        bool *transposed, int64_t *lead)
{
    if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1)) {
        *transposed = false;
        *lead = rows == 1 ? max_i64(1, columns) : max_i64(1, row_stride);
        return *lead <= INT32_MAX;
    }
    if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1)) {
        *transposed = true;
        *lead = columns == 1 ? max_i64(1, rows) : max_i64(1, column_stride);
        return *lead <= INT32_MAX;
    }
    return false;
}

/* The panel of a unit: where it starts in the operands, in elements, and its size. */
struct tile {
    int64_t x, w, out, m, n;
};
static struct tile tile_of(const struct product *p, int64_t unit)
{
    int64_t batch = unit / (p->units_m * p->units_n), cell = unit % (p->units_m * p->units_n);
    int64_t i = cell / p->units_n * p->panel_m, j = cell % p->units_n * p->panel_n;
    return (struct tile){.x = batch * p->batch_x + i * p->xm,
                         .w = batch * p->batch_w + j * p->wn,
                         .out = (batch * p->m + i) * p->n + j,
                         .m = min_i64(p->panel_m, p->m - i),
                         .n = min_i64(p->panel_n, p->n - j)};
}

#define TWICE "kernels/cpu/matmul.c"
#include "kernels/cpu/twice.h"

/* Factors that are converted block by block: how a block becomes adjacent f32, how a row of sums is stored.
 */
struct conversion {
    size_t size; /* of an element */
    void (*load)(float *to, const char *from, int64_t stride, int64_t n);
    void (*store)(char *to, const float *from, int64_t n);
};
static void store_bf16(char *to, const float *from, int64_t n)
{
    bf16_round_run(to, sizeof(struct bf16), from, n);
}
static void load_tf32(float *to, const char *from, int64_t stride, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to[i] = tf32_round(*(const float *)(const void *)(from + i * stride));
    }
}
static void store_f32(char *to, const float *from, int64_t n)
{
    memcpy(to, from, (size_t)n * sizeof *from);
}
static const struct conversion from_bf16 = {sizeof(struct bf16), bf16_widen_run, store_bf16},
                               to_tf32 = {sizeof(float), load_tf32, store_f32};

/* x[rows, columns] of any strides as adjacent f32. */
static void load_block(const struct conversion *c, float *to, const char *x, int64_t rows, int64_t columns,
                       int64_t row, int64_t column)
{
    for (int64_t i = 0; i < rows; i++) {
        c->load(to + i * columns, x + i * row * (int64_t)c->size, column * (int64_t)c->size, columns);
    }
}

/* A block of the output: its sums stay in f32 while the inner axis is walked. */
static void converted_block(const struct conversion *c, const struct product *p, const char *x, const char *w,
                            char *out, int64_t m, int64_t n)
{
    float sum[BLOCK_M * BLOCK_N], left[BLOCK_M * BLOCK_K], right[BLOCK_K * BLOCK_N];
    int64_t size = (int64_t)c->size;
    memset(sum, 0, (size_t)(m * n) * sizeof *sum);
    for (int64_t at = 0; at < p->k; at += BLOCK_K) {
        int64_t k = min_i64(BLOCK_K, p->k - at);
        struct product block = {.m = m, .n = n, .k = k, .xm = k, .xk = 1, .wk = n, .wn = 1};
        load_block(c, left, x + at * p->xk * size, m, k, p->xm, p->xk);
        load_block(c, right, w + at * p->wk * size, k, n, p->wk, p->wn);
        tile_f32(&block, left, right, sum, m, n, true);
    }
    for (int64_t i = 0; i < m; i++) {
        c->store(out + i * p->n * size, sum + i * n, n);
    }
}

static void converted(const struct conversion *c, void *arena, const struct kargs *k, struct slice s)
{
    struct product p;
    int64_t size = (int64_t)c->size;
    product_make(&p, k);
    for (int64_t unit = s.from; unit < s.to; unit++) {
        struct tile t = tile_of(&p, unit);
        const char *x = (const char *)cpu_at(arena, &k->in[0]) + t.x * size,
                   *w = (const char *)cpu_at(arena, &k->in[1]) + t.w * size;
        char *out = (char *)cpu_at(arena, &k->out[0]) + t.out * size;
        for (int64_t i = 0; i < t.m; i += BLOCK_M) {
            for (int64_t j = 0; j < t.n; j += BLOCK_N) {
                converted_block(c, &p, x + i * p.xm * size, w + j * p.wn * size, out + (i * p.n + j) * size,
                                min_i64(BLOCK_M, t.m - i), min_i64(BLOCK_N, t.n - j));
            }
        }
    }
}

static void matmul_bf16(void *arena, const struct kargs *k, struct slice s)
{
    converted(&from_bf16, arena, k, s);
}

void cpu_matmul(void *arena, const struct kargs *k, struct slice s)
{
    if (k->n_attr > 0) {
        converted(&to_tf32, arena, k, s);
        return;
    }
    BY_FLOAT(k->out[0].dtype, matmul, arena, k, s);
}

const char *cpu_blas_name(void)
{
#ifdef GML_OPENBLAS
    return openblas_get_config();
#else
    return "plain C";
#endif
}

#elif !NARROW /* for f32 and f64 */

/* out[m, n] (+)= x[m, k] w[k, n]: any strides, row by row, so that the inner loop runs along out. */
CLONES static void NAME(plain)(const struct product *p, const T *x, const T *w, T *out, int64_t m, int64_t n,
                               bool adds)
{
    for (int64_t i = 0; i < m; i++) {
        T *row = out + i * p->n;
        for (int64_t j = 0; j < n && !adds; j++) {
            row[j] = 0;
        }
        for (int64_t t = 0; t < p->k; t++) {
            T a = x[i * p->xm + t * p->xk];
            const T *b = w + t * p->wk;
            for (int64_t j = 0; j < n; j++) {
                row[j] += a * b[j * p->wn];
            }
        }
    }
}

/* A tile of m rows and n columns; added to what is there, or written. */
static void NAME(tile)(const struct product *p, const T *x, const T *w, T *out, int64_t m, int64_t n,
                       bool adds)
{
#ifdef GML_OPENBLAS
    bool tx, tw;
    int64_t lx, lw;
    if (p->k > 0 && p->k <= INT32_MAX && p->n <= INT32_MAX &&
        blas_layout(p->m, p->k, p->xm, p->xk, &tx, &lx) && blas_layout(p->k, p->n, p->wk, p->wn, &tw, &lw)) {
        enum CBLAS_TRANSPOSE op_x = tx ? CblasTrans : CblasNoTrans, op_w = tw ? CblasTrans : CblasNoTrans;
        _Generic((T)0, float
                 : cblas_sgemm, double
                 : cblas_dgemm)(CblasRowMajor, op_x, op_w, (int)m, (int)n, (int)p->k, 1, x, (int)lx, w,
                                (int)lw, adds, out, (int)p->n);
        return;
    }
#else
    (void)blas_layout;
#endif
    NAME(plain)(p, x, w, out, m, n, adds);
}

static void NAME(matmul)(void *arena, const struct kargs *k, struct slice s)
{
    struct product p;
    product_make(&p, k);
    for (int64_t unit = s.from; unit < s.to; unit++) {
        struct tile t = tile_of(&p, unit);
        const T *x = (const T *)cpu_at(arena, &k->in[0]) + t.x,
                *w = (const T *)cpu_at(arena, &k->in[1]) + t.w;
        NAME(tile)(&p, x, w, (T *)cpu_at(arena, &k->out[0]) + t.out, t.m, t.n, false);
    }
}
#endif
