/* Matrix products. f32 with few columns or a short sum has kernels of its own (narrow.c); with a sum of some
 * length it is made on tensor cores (product.c); the rest is described
 * for cuBLASLt where it can take the operands, and as a plain tiled kernel where it cannot (strides without a
 * unit, empty inner axes, no library; without TF32, which asks for less). Row-major D = X W is column-major
 * D^T = W^T X^T, so for the library the operands change places. */
#include "kernels/cuda/describe.h"
#include "kernels/cuda/product.h"

/* A row-major [rows, cols] operand seen column-major is [cols, rows]; `transposed` when its columns are the
 * unit axis instead. */
static bool leading(int64_t rows, int64_t cols, int64_t row, int64_t col, bool *transposed, int64_t *ld)
{
    if ((col == 1 || cols == 1) && (row >= cols || rows == 1)) {
        *transposed = false;
        *ld = rows == 1 ? cols : row;
        return true;
    }
    if ((row == 1 || rows == 1) && (col >= rows || cols == 1)) {
        *transposed = true;
        *ld = cols == 1 ? rows : col;
        return true;
    }
    return false;
}

static void batch_walk(const struct operand *x, const struct operand *w, const struct operand *out,
                       struct walk *b)
{
    walk_make(b, out->rank - 2, out->dim, 3, (const int64_t *const[]){x->stride, w->stride, out->stride});
}

static bool shapes_are_plain(const struct operand *x, const struct operand *w, const struct operand *out)
{
    return x->rank >= 2 && w->rank == x->rank && out->rank == x->rank &&
           dtype_is_float((enum dtype)x->dtype) && w->dtype == x->dtype && out->dtype == x->dtype;
}

bool cudalib_matmul(const struct kargs *k, struct gemm *g)
{
    const struct operand *x = &k->in[0], *w = &k->in[1], *out = &k->out[0];
    if (!shapes_are_plain(x, w, out)) {
        return false;
    }
    int r = out->rank;
    struct walk b;
    batch_walk(x, w, out, &b);
    bool td;
    *g = (struct gemm){.dtype = out->dtype,
                       .tf32 = k->n_attr > 0,
                       .m = out->dim[r - 1],
                       .n = out->dim[r - 2],
                       .k = x->dim[r - 1]};
    if (g->m < 1 || g->n < 1 || g->k < 1 || b.n < 1 || b.rank > 2 || g->m > INT32_MAX || g->n > INT32_MAX ||
        g->k > INT32_MAX) {
        return false;
    }
    bool fits = leading(g->k, g->m, w->stride[r - 2], w->stride[r - 1], &g->ta, &g->lda) &&
                leading(g->n, g->k, x->stride[r - 2], x->stride[r - 1], &g->tb, &g->ldb) &&
                leading(g->n, g->m, out->stride[r - 2], out->stride[r - 1], &td, &g->ldd) && !td;
    if (!fits) {
        return false;
    }
    int in = b.rank - 1;
    g->batch = b.dim[in];
    g->stride_b = b.stride[0][in];
    g->stride_a = b.stride[1][in];
    g->stride_d = b.stride[2][in];
    g->calls = b.rank == 2 ? b.dim[0] : 1;
    if (b.rank == 2) {
        int64_t size = (int64_t)dtype_size((enum dtype)out->dtype);
        g->step_b = b.stride[0][0] * size;
        g->step_a = b.stride[1][0] * size;
        g->step_d = b.stride[2][0] * size;
    }
    g->a = w->offset;
    g->b = x->offset;
    g->d = out->offset;
    g->work = k->work;
    g->work_bytes = k->work_bytes;
    return g->batch <= INT32_MAX && g->calls <= 64;
}

static bool view_product(const struct kargs *k, const struct target *t, struct product_view *v)
{
    const struct operand *x = &k->in[0], *w = &k->in[1], *out = &k->out[0];
    if (!t || !shapes_are_plain(x, w, out)) {
        return false;
    }
    int r = out->rank;
    int64_t m = out->dim[r - 2], n = out->dim[r - 1], depth = x->dim[r - 1];
    bool a = false, b = false, d = false;
    if (m > INT32_MAX || n > INT32_MAX || depth > INT32_MAX) {
        return false;
    }
    *v = (struct product_view){
        .dtype = out->dtype,
        .tf32 = k->n_attr > 0,
        .p = {.a = x->offset, .b = w->offset, .out = out->offset, .m = (int)m, .n = (int)n, .k = (int)depth}};
    batch_walk(x, w, out, &v->p.batch);
    bool fits = leading(m, depth, x->stride[r - 2], x->stride[r - 1], &a, &v->p.lda) &&
                leading(depth, n, w->stride[r - 2], w->stride[r - 1], &b, &v->p.ldb) &&
                leading(m, n, out->stride[r - 2], out->stride[r - 1], &d, &v->p.ldd) && !d;
    v->a_along_k = !a;
    v->b_along_k = b;
    return fits && (product_takes(v, t) || narrow_takes(v, t));
}

bool cuda_matmul_is_own(const struct kargs *k, const struct target *t)
{
    struct product_view v;
    return view_product(k, t, &v) && (narrow_takes(&v, t) || product_is_better(&v));
}

int cuda_matmul(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_matmul(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *x = &k->in[0], *w = &k->in[1], *out = &k->out[0];
    struct matmul_params p = {.x = x->offset, .w = w->offset, .out = out->offset};
    struct product_view v;
    if (max < 1 || !shapes_are_plain(x, w, out)) {
        return CUDA_UNSUPPORTED;
    }
    if (view_product(k, t, &v)) {
        return narrow_takes(&v, t) ? narrow_describe(&v, t, l) : product_describe(&v, t, l);
    }
    int r = out->rank;
    p.m = out->dim[r - 2];
    p.n = out->dim[r - 1];
    p.k = x->dim[r - 1];
    p.x_row = x->stride[r - 2];
    p.x_col = x->stride[r - 1];
    p.w_row = w->stride[r - 2];
    p.w_col = w->stride[r - 1];
    p.out_row = out->stride[r - 2];
    p.out_col = out->stride[r - 1];
    batch_walk(x, w, out, &p.batch);
    if (p.batch.n == 0 || p.m == 0 || p.n == 0) {
        return 0;
    }
    int64_t rows = ceil_div(p.m, TILE), columns = ceil_div(p.n, TILE);
    int got = launch_make(l, cuda_matmul_function(out->dtype), columns, rows < 65535 ? rows : 65535, TILE, 8,
                          &p, sizeof p);
    if (got == 1) {
        l->grid[2] = (uint32_t)(p.batch.n < 65535 ? p.batch.n : 65535);
    }
    return got;
}
