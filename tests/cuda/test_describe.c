/* Launch descriptions for hand-made operands: a small interpreter of the parameters on the host must give
 * what the operands say. */
#include <glob.h>
#include <unistd.h>
#include "tests/cuda/fake_cuda.h"
#include "tests/operands.h"
#include "tests/suite.h"

static const struct target h200 = {.name = "cuda", .sm = 90, .n_sm = 132};
static struct launch launches[CUDA_MAX_LAUNCHES];
static int32_t memory[1 << 20];

/* Contiguous operand at `offset` bytes; sizes end with -1. */
static struct operand tensor(enum dtype t, uint64_t offset, const int64_t *size)
{
    struct operand o = {.offset = offset, .dtype = (uint8_t)t};
    int64_t stride = 1;
    while (size[o.rank] >= 0) {
        o.dim[o.rank] = size[o.rank];
        o.rank++;
    }
    for (int a = o.rank - 1; a >= 0; a--) {
        o.stride[a] = stride;
        stride *= o.dim[a];
    }
    return o;
}
#define T(t, offset, ...) tensor((t), (offset), (const int64_t[]){__VA_ARGS__, -1})

static int64_t element(const struct operand *o, int64_t i)
{
    int64_t at = 0;
    for (int a = o->rank - 1; a >= 0; a--) {
        at += i % o->dim[a] * o->stride[a];
        i /= o->dim[a];
    }
    return at;
}
static int64_t walked(const struct walk *w, int o, int64_t i)
{
    int64_t at = 0;
    for (int a = w->rank - 1; a >= 0; a--) {
        at += i % w->dim[a] * w->stride[o][a];
        i /= w->dim[a];
    }
    return at;
}

/* Each output element once, with the inputs that belong to it. */
static void check_elem(enum op op, int n_in, struct operand *in, struct operand out, int want_vector,
                       int want_rank)
{
    struct kargs k = {.in = in, .out = &out, .n_in = (uint16_t)n_in, .n_out = 1};
    ck_assert_int_eq(cuda_kernels[op](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
    const struct launch *l = &launches[0];
    struct elem_params p;
    ck_assert_uint_eq(l->n_params, sizeof p);
    memcpy(&p, l->params, sizeof p);
    int vector = fake_function_last(l->function);
    ck_assert_int_eq(vector, want_vector);
    ck_assert_int_eq(p.walk.rank, want_rank);
    ck_assert_int_eq(fake_function_op(l->function), op == OP_copy ? OP_cast : op);
    int64_t group = vector ? 4 : 1, n = operand_count(&out);
    ck_assert_int_eq(p.walk.n * group, n);
    ck_assert_uint_le(1, l->grid[0]);
    for (int o = 0; o <= n_in; o++) {
        const struct operand *want = o < n_in ? &in[o] : &out;
        int slot = o < n_in ? o : 3, wrong = 0;
        ck_assert_uint_eq(p.at[slot], want->offset);
        for (int64_t i = 0; i < n; i++) {
            int64_t lane = vector && p.walk.stride[slot][p.walk.rank - 1] != 0 ? i % group : 0;
            wrong += walked(&p.walk, slot, i / group) + lane != element(want, i);
        }
        ck_assert_int_eq(wrong, 0);
    }
}

START_TEST(elementwise)
{
    struct operand scalar = {.offset = 4096, .dtype = DT_F32};
    struct operand bias = repeated(T(DT_F32, 512, 1, 256), 0, 128);
    struct operand x = T(DT_F32, 1024, 128, 256), out = T(DT_F32, 1 << 20, 128, 256);
    check_elem(OP_add, 2, (struct operand[]){x, x}, out, 1, 1);
    check_elem(OP_add, 2, (struct operand[]){x, bias}, out, 1, 2);
    struct operand all = {.offset = 4096, .dtype = DT_F32, .rank = 2, .dim = {128, 256}};
    check_elem(OP_mul, 2, (struct operand[]){x, all}, out, 1, 1);
    check_elem(OP_neg, 1, &scalar, scalar, 0, 1);
    /* three elements over: no groups of four */
    check_elem(OP_relu, 1, (struct operand[]){T(DT_F32, 256, 7)}, T(DT_F32, 512, 7), 0, 1);
    /* misaligned start */
    check_elem(OP_relu, 1, (struct operand[]){T(DT_F32, 260, 8)}, T(DT_F32, 512, 8), 0, 1);
    /* transposed input */
    check_elem(OP_exp, 1, (struct operand[]){swapped(T(DT_F32, 0, 8, 12), 0, 1)}, T(DT_F32, 512, 12, 8), 0,
               2);
    /* a middle axis repeated, bool beside f32 */
    struct operand mask = repeated(T(DT_BOOL, 64, 3, 1, 8), 1, 5), v = T(DT_F32, 1024, 3, 5, 8);
    check_elem(OP_where, 3, (struct operand[]){mask, v, v}, v, 1, 3);
    check_elem(OP_eq, 2, (struct operand[]){T(DT_I32, 0, 64), T(DT_I32, 256, 64)}, T(DT_BOOL, 512, 64), 1, 1);
    check_elem(OP_copy, 1, (struct operand[]){swapped(T(DT_F32, 0, 3, 4, 5), 0, 2)}, T(DT_F32, 512, 5, 4, 3),
               0, 3);
}
END_TEST

START_TEST(nothing_to_do)
{
    struct operand in[] = {T(DT_F32, 0, 0, 4), T(DT_F32, 0, 0, 4)}, out = in[0];
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    ck_assert_int_eq(cuda_kernels[OP_add](&k, &h200, launches, CUDA_MAX_LAUNCHES), 0);
    for (int op = 1; op < OP_COUNT; op++) {
        bool launched = op_table[op].kind != OPK_VIEW && !(op_table[op].flags & (OPF_META | OPF_LOAD));
        ck_assert_msg(launched == (cuda_kernels[op] != NULL), "%s", op_table[op].name);
    }
}
END_TEST

/* Runs the parameters of a sum over i32 as the kernels do. */
static void run_sum(const struct launch *l)
{
    struct reduce_params p;
    memcpy(&p, l->params, sizeof p);
    int form = fake_function_last(l->function);
    int64_t per = form == REDUCE_COLUMNS ? TILE : form == REDUCE_WARP ? WARPS : 1;
    ck_assert_int_eq(l->grid[0], (p.kept.n + per - 1) / per);
    ck_assert_int_eq(l->grid[1], p.segments);
    ck_assert(form != REDUCE_COLUMNS ||
              (l->block[0] == TILE && (l->block[1] & (l->block[1] - 1)) == 0 && l->block[1] <= TILE));
    ck_assert(form != REDUCE_WARP || l->block[0] == 32 * WARPS);
    int64_t each = (p.reduced.n + p.segments - 1) / p.segments;
    for (int64_t s = 0; s < p.segments; s++) {
        for (int64_t i = 0; i < p.kept.n; i++) {
            int32_t sum = 0;
            for (int64_t j = s * each; j < (s + 1) * each && j < p.reduced.n; j++) {
                sum += memory[p.in / 4 + (uint64_t)(walked(&p.kept, 0, i) + walked(&p.reduced, 0, j))];
            }
            int64_t to = p.finish ? walked(&p.kept, 1, i) : s * p.kept.n + i;
            memory[p.out / 4 + (uint64_t)to] = sum;
        }
    }
}

static void check_sum(struct operand in, const int64_t *axes, uint32_t n_axes, uint64_t work_bytes,
                      int want_launches, int want_form)
{
    struct operand out = {.offset = 3 << 20, .dtype = DT_I32};
    int64_t stride = 1;
    for (int a = 0; a < in.rank; a++) {
        bool gone = false;
        for (uint32_t i = 0; i < n_axes; i++) {
            gone = gone || axes[i] == a;
        }
        if (!gone) {
            out.dim[out.rank++] = in.dim[a];
        }
    }
    for (int a = out.rank - 1; a >= 0; a--) {
        out.stride[a] = stride;
        stride *= out.dim[a];
    }
    for (int i = 0; i < 1 << 20; i++) {
        memory[i] = (int32_t)((uint32_t)i * 7919u % 1000u);
    }
    struct kargs k = {.in = &in,
                      .out = &out,
                      .n_in = 1,
                      .n_out = 1,
                      .attr = axes,
                      .n_attr = n_axes,
                      .work = 2 << 20,
                      .work_bytes = work_bytes};
    int n = cuda_kernels[OP_sum](&k, &h200, launches, CUDA_MAX_LAUNCHES);
    ck_assert_int_eq(n, want_launches);
    ck_assert_int_eq(fake_function_last(launches[0].function), want_form);
    int32_t *want = calloc((size_t)stride, sizeof *want);
    for (int64_t i = 0; i < operand_count(&in); i++) {
        int64_t rest = i, at = 0, to = 0, c[8];
        for (int a = in.rank - 1; a >= 0; a--) {
            c[a] = rest % in.dim[a];
            rest /= in.dim[a];
        }
        for (int a = 0, b = 0; a < in.rank; a++) {
            bool gone = false;
            for (uint32_t x = 0; x < n_axes; x++) {
                gone = gone || axes[x] == a;
            }
            at += c[a] * in.stride[a];
            to += gone ? 0 : c[a] * out.stride[b++];
        }
        want[to] += memory[at];
    }
    for (int i = 0; i < n; i++) {
        run_sum(&launches[i]);
    }
    ck_assert_mem_eq(&memory[out.offset / 4], want, (size_t)stride * 4);
    free(want);
}

START_TEST(reductions)
{
    const int64_t first[] = {0}, last[] = {1}, both[] = {0, 1}, outer[] = {0, 2}, middle[] = {1};
    check_sum(T(DT_I32, 0, 128, 256), first, 1, 0, 1, REDUCE_COLUMNS);
    check_sum(T(DT_I32, 0, 128, 256), last, 1, 0, 1, REDUCE_WARP);
    check_sum(T(DT_I32, 0, 7, 3000), last, 1, 0, 1, REDUCE_BLOCK);
    check_sum(T(DT_I32, 0, 400, 300), both, 2, 1 << 16, 2, REDUCE_BLOCK);
    check_sum(T(DT_I32, 0, 400, 300), both, 2, 0, 1, REDUCE_BLOCK);
    check_sum(T(DT_I32, 0, 9000, 10), first, 1, 1 << 18, 2, REDUCE_COLUMNS);
    check_sum(T(DT_I32, 0, 6, 10, 8), outer, 2, 0, 1, REDUCE_WARP);
    check_sum(T(DT_I32, 0, 6, 10, 8), middle, 1, 0, 1, REDUCE_COLUMNS);
    check_sum(swapped(T(DT_I32, 0, 20, 30), 0, 1), last, 1, 0, 1, REDUCE_COLUMNS);
    check_sum(T(DT_I32, 0, 5, 1), last, 1, 0, 1, REDUCE_WARP);
    check_sum(T(DT_I32, 0, 3, 0), last, 1, 0, 1, REDUCE_WARP);
}
END_TEST

static void make_row_major(struct operand *o)
{
    for (int a = o->rank - 1, s = 1; a >= 0; s *= (int)o->dim[a--]) {
        o->stride[a] = s;
    }
}

/* Results that are not the sums of products in `memory`; whole numbers, so exactly. */
static int64_t wrong_products(const struct operand *x, const struct operand *w, const struct operand *out)
{
    const float *m = (const float *)memory;
    int r = out->rank;
    int64_t M = out->dim[r - 2], N = out->dim[r - 1], K = x->dim[r - 1], wrong = 0;
    for (int64_t i = 0; i < operand_count(out); i++) {
        int64_t batch = i / (M * N), row = i / N % M, col = i % N;
        float sum = 0;
        for (int64_t j = 0; j < K; j++) {
            sum += m[x->offset / 4 + (uint64_t)element(x, (batch * M + row) * K + j)] *
                   m[w->offset / 4 + (uint64_t)element(w, (batch * K + j) * N + col)];
        }
        wrong += m[out->offset / 4 + (uint64_t)i] != sum;
    }
    return wrong;
}

/* D = op(A) op(B) as the library reads the description, against the operands. Small integers: exact. */
static void check_gemm(struct operand x, struct operand w, int64_t want_calls)
{
    struct operand in[] = {x, w}, out = {.offset = 2 << 20, .dtype = DT_F32, .rank = x.rank};
    float *m = (float *)memory;
    memcpy(out.dim, x.dim, sizeof out.dim);
    out.dim[out.rank - 1] = w.dim[w.rank - 1];
    make_row_major(&out);
    for (int i = 0; i < 1 << 19; i++) {
        m[i] = (float)(i * 31 % 17 - 8);
    }
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct gemm g;
    ck_assert(cudalib_matmul(&k, &g));
    ck_assert_int_eq(g.calls, want_calls);
    ck_assert_int_ge(g.lda, g.ta ? g.k : g.m);
    ck_assert_int_ge(g.ldb, g.tb ? g.n : g.k);
    ck_assert_int_ge(g.ldd, g.m);
    for (int64_t c = 0; c < g.calls * g.batch; c++) {
        const float *a = m + g.a / 4 + c / g.batch * g.step_a / 4 + c % g.batch * g.stride_a;
        const float *b = m + g.b / 4 + c / g.batch * g.step_b / 4 + c % g.batch * g.stride_b;
        float *d = m + g.d / 4 + c / g.batch * g.step_d / 4 + c % g.batch * g.stride_d;
        for (int64_t i = 0; i < g.m * g.n; i++) {
            int64_t row = i % g.m, col = i / g.m;
            float sum = 0;
            for (int64_t j = 0; j < g.k; j++) {
                sum +=
                    a[g.ta ? j + row * g.lda : row + j * g.lda] * b[g.tb ? col + j * g.ldb : j + col * g.ldb];
            }
            d[row + col * g.ldd] = sum;
        }
    }
    ck_assert_int_eq(wrong_products(&x, &w, &out), 0);
}

/* What the blocks of a described product add up to, tile by tile and part by part as product.cuh walks them.
 */
static void check_own_product(struct operand x, struct operand w, int want_split)
{
    static const int tile[PRODUCT_SHAPES][3] = {
#define PRODUCT_TILE(name, bm, bn, bk, wm, wn, stages, three, one) {bm, bn, bk},
        PRODUCT_TILES
#undef PRODUCT_TILE
    };
    struct operand in[] = {x, w}, out = {.offset = 2 << 20, .dtype = DT_F32, .rank = x.rank};
    float *m = (float *)memory;
    memcpy(out.dim, x.dim, sizeof out.dim);
    out.dim[out.rank - 1] = w.dim[w.rank - 1];
    make_row_major(&out);
    for (int i = 0; i < 1 << 20; i++) {
        m[i] = i < 1 << 19 ? (float)(i * 31 % 17 - 8) : 0;
    }
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct product_params p;
    ck_assert(cuda_matmul_is_own(&k, &h200));
    ck_assert_int_eq(cuda_kernels[OP_matmul](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
    memcpy(&p, launches[0].params, sizeof p);
    const void *f = launches[0].function;
    int shape = fake_function_first(f) - 4, layout = fake_function_middle(f);
    bool a_along = layout & 2, b_along = layout & 1, vector = fake_function_last(f) & 1;
    ck_assert_int_eq(p.split, want_split);
    ck_assert_uint_eq(launches[0].cluster, p.split > 1 ? (uint32_t)p.split : 0);
    ck_assert_uint_le(launches[0].shared, 227 * 1024);
    ck_assert(!vector || (p.lda % 4 == 0 && p.ldb % 4 == 0 && p.a % 16 == 0 && p.b % 16 == 0));
    for (uint32_t b = 0; b < launches[0].grid[1]; b++) {
        int64_t at[3] = {0};
        for (int64_t axis = p.batch.rank - 1, rest = b; axis >= 0; rest /= p.batch.dim[axis--]) {
            for (int o = 0; o < 3; o++) {
                at[o] += rest % p.batch.dim[axis] * p.batch.stride[o][axis];
            }
        }
        for (int block = 0; block < (int)launches[0].grid[0]; block++) {
            int part = block % p.split, place = block / p.split;
            int m0 = place / p.columns * tile[shape][0], n0 = place % p.columns * tile[shape][1];
            for (int r = m0; r < m0 + tile[shape][0] && r < p.m; r++) {
                for (int c = n0; c < n0 + tile[shape][1] && c < p.n; c++) {
                    float sum = 0;
                    for (int d = part * p.k_part; d < (part + 1) * p.k_part && d < p.k; d++) {
                        sum += m[p.a / 4 + (uint64_t)(at[0] + (a_along ? r * p.lda + d : d * p.lda + r))] *
                               m[p.b / 4 + (uint64_t)(at[1] + (b_along ? c * p.ldb + d : d * p.ldb + c))];
                    }
                    m[p.out / 4 + (uint64_t)(at[2] + r * p.ldd + c)] += sum;
                }
            }
        }
    }
    ck_assert_int_eq(wrong_products(&x, &w, &out), 0);
}

START_TEST(own_products)
{
    check_own_product(T(DT_F32, 0, 5, 17), T(DT_F32, 4096, 17, 3), 1);
    check_own_product(T(DT_F32, 0, 70, 64), T(DT_F32, 65536, 64, 40), 1);
    check_own_product(T(DT_F32, 0, 70, 64), swapped(T(DT_F32, 65536, 40, 64), 0, 1), 1);
    check_own_product(swapped(T(DT_F32, 0, 64, 72), 0, 1), T(DT_F32, 65536, 64, 40), 1);
    check_own_product(swapped(T(DT_F32, 0, 1024, 8), 0, 1), T(DT_F32, 65536, 1024, 12), 16);
    check_own_product(T(DT_F32, 0, 3, 5, 2, 32), T(DT_F32, 65536, 3, 5, 32, 7), 1);
    check_own_product(swapped(T(DT_F32, 0, 2, 5, 3, 16), 1, 2), T(DT_F32, 65536, 2, 3, 16, 4), 1);
    struct operand in[] = {T(DT_F64, 0, 5, 64), T(DT_F64, 65536, 64, 3)}, out = T(DT_F64, 1 << 20, 5, 3);
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct target old = {.name = "cuda", .sm = 80, .n_sm = 108};
    ck_assert(!cuda_matmul_is_own(&k, &h200)); /* f64 */
    in[0].dtype = in[1].dtype = out.dtype = DT_F32;
    ck_assert(cuda_matmul_is_own(&k, &h200));
    ck_assert(!cuda_matmul_is_own(&k, &old)); /* no clusters */
    const int64_t tf32 = 1;
    k.attr = &tf32;
    k.n_attr = 1;
    ck_assert(cuda_matmul_is_own(&k, &h200)); /* few results */
    in[0].dim[0] = out.dim[0] = 8192;
    in[1].dim[1] = in[1].stride[0] = out.dim[1] = out.stride[0] = 256;
    ck_assert(!cuda_matmul_is_own(&k, &h200)); /* the library has tensor cores too */
    k.n_attr = 0;
    in[0].dim[1] = in[1].dim[0] = 15;
    ck_assert(cuda_matmul_is_own(&k, &h200)); /* a short sum */
}
END_TEST

/* Which kernel takes a product with a narrow side, and that its blocks cover the results and the sum. */
static void check_narrow(struct operand x, struct operand w, int form, int fours, int rows, int columns,
                         int split)
{
    struct operand in[] = {x, w}, out = {.offset = 2 << 20, .dtype = DT_F32, .rank = x.rank};
    memcpy(out.dim, x.dim, sizeof out.dim);
    out.dim[out.rank - 1] = w.dim[w.rank - 1];
    make_row_major(&out);
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct narrow_params p;
    ck_assert(cuda_matmul_is_own(&k, &h200));
    ck_assert_int_eq(cuda_kernels[OP_matmul](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
    memcpy(&p, launches[0].params, sizeof p);
    const void *f = launches[0].function;
    ck_assert_int_eq(fake_function_first(f), form);
    ck_assert_int_eq(fake_function_middle(f), fours % 4);
    ck_assert_int_eq(p.split, split);
    ck_assert_uint_eq(launches[0].cluster, split > 1 ? (uint32_t)split : 0);
    ck_assert_int_ge(p.split * p.k_part, p.k);
    ck_assert_uint_eq(launches[0].grid[0],
                      (uint32_t)((p.m + rows - 1) / rows * ((p.n + columns - 1) / columns) * split));
    ck_assert_int_eq(p.a_row, x.stride[x.rank - 2]);
    ck_assert_int_eq(p.b_col, w.stride[w.rank - 1]);
}
START_TEST(narrow_products)
{
    check_narrow(T(DT_F32, 0, 1024, 256), T(DT_F32, 4096, 256, 10), NARROW_ROWS, 3, 8, 12, 1);
    check_narrow(T(DT_F32, 0, 3, 17, 64), T(DT_F32, 65536, 3, 64, 4), NARROW_ROWS, 1, 8, 12, 1);
    check_narrow(swapped(T(DT_F32, 0, 1024, 256), 0, 1), T(DT_F32, 65536, 1024, 10), NARROW_COLUMNS, 3, 32,
                 12, 16);
    check_narrow(swapped(T(DT_F32, 0, 20, 256), 0, 1), T(DT_F32, 65536, 20, 5), NARROW_COLUMNS, 2, 32, 12, 1);
    check_narrow(T(DT_F32, 0, 100, 10), swapped(T(DT_F32, 65536, 300, 10), 0, 1), NARROW_OUTER, 3, 16, 256,
                 1);
    check_narrow(T(DT_F32, 0, 3, 15), T(DT_F32, 65536, 15, 4), NARROW_OUTER, 4, 16, 256, 1);
}
END_TEST

START_TEST(products)
{
    check_gemm(T(DT_F32, 0, 5, 7), T(DT_F32, 4096, 7, 3), 1);
    check_gemm(T(DT_F32, 0, 5, 7), swapped(T(DT_F32, 4096, 3, 7), 0, 1), 1);
    check_gemm(swapped(T(DT_F32, 0, 7, 5), 0, 1), T(DT_F32, 4096, 7, 3), 1);
    check_gemm(swapped(T(DT_F32, 0, 7, 5), 0, 1), swapped(T(DT_F32, 4096, 3, 7), 0, 1), 1);
    check_gemm(T(DT_F32, 0, 1, 7), T(DT_F32, 4096, 7, 1), 1);
    check_gemm(T(DT_F32, 0, 5, 1), T(DT_F32, 4096, 1, 4), 1);
    check_gemm(T(DT_F32, 0, 4, 5, 7), T(DT_F32, 4096, 4, 7, 3), 1);
    check_gemm(T(DT_F32, 0, 4, 5, 7), repeated(T(DT_F32, 4096, 1, 7, 3), 0, 4), 1);
    check_gemm(swapped(T(DT_F32, 0, 2, 5, 3, 7), 1, 2), T(DT_F32, 8192, 2, 3, 7, 4), 2);
    struct operand in[] = {T(DT_F32, 0, 5, 0), T(DT_F32, 0, 0, 3)}, out = T(DT_F32, 0, 5, 3);
    struct kargs k = {.in = in, .out = &out, .n_in = 2, .n_out = 1};
    struct gemm g;
    ck_assert(!cudalib_matmul(&k, &g)); /* an empty sum: the own kernel writes zeros */
    ck_assert_int_eq(cuda_kernels[OP_matmul](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
}
END_TEST

START_TEST(index_rows)
{
    struct operand in[] = {
        T(DT_F32, 0, 100, 3, 4), T(DT_I32, 65536, 6), {.offset = 1 << 20, .dtype = DT_NONE}};
    struct operand out = T(DT_F32, 131072, 6, 3, 4);
    struct kargs k = {.in = in, .out = &out, .n_in = 3, .n_out = 1, .node = 77};
    ck_assert_int_eq(cuda_kernels[OP_gather](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
    struct index_params p;
    memcpy(&p, launches[0].params, sizeof p);
    ck_assert_int_eq(p.rows, 100);
    ck_assert_int_eq(p.table_stride, 12);
    ck_assert_int_eq(p.places.n, 6);
    ck_assert_int_eq(p.width.n, 12);
    ck_assert_int_eq(p.width.rank, 1);
    ck_assert_uint_eq(p.control, 1 << 20);
    ck_assert_uint_eq(p.node, 77);
    for (int64_t i = 0; i < 72; i++) {
        ck_assert_int_eq(walked(&p.places, 1, i / 12) + walked(&p.width, 1, i % 12), element(&out, i));
    }
}
END_TEST

/* The passes of a radix sort are run here as their kernels do it, so that what one pass reads is what the one
 * before wrote, and nothing lies outside of the scratch. Keys are places in a table. */
static void run_pass(const struct radix_params *p, const struct kargs *k)
{
    int32_t *keys = &memory[p->keys / 4], *from = &memory[p->from / 4], *to = &memory[p->to / 4];
    uint64_t end = k->work + k->work_bytes;
    ck_assert(p->first || (p->from >= k->work && p->from + 4 * (uint64_t)p->n <= end));
    ck_assert(p->to >= k->work && p->to + 4 * (uint64_t)p->n <= end);
    ck_assert(p->counts >= k->work && p->counts + 4 * 256 * (uint64_t)p->blocks <= end);
    ck_assert(p->from != p->to && p->blocks * RADIX_TILE >= p->n);
    int64_t at = 0;
    for (int digit = 0; digit < 256; digit++) {
        for (int64_t i = 0; i < p->n; i++) {
            int32_t place = p->first ? (int32_t)i : from[i];
            bool named = keys[place] >= 0 && keys[place] < p->length;
            int64_t key = named ? place / p->many * p->length + keys[place] : p->n / p->many * p->length;
            if ((key >> p->shift & 255) == digit) {
                to[at++] = place;
            }
        }
    }
    ck_assert_int_eq(at, p->n);
}

/* put_add into many rows: cleared, sorted, bounded, applied; few rows are scanned, and so is what has no
 * scratch. */
START_TEST(places_are_sorted)
{
    struct operand in[] = {T(DT_F32, 0, 3000, 3),
                           T(DT_I32, 65536, 9000),
                           T(DT_F32, 131072, 9000, 3),
                           {.offset = 3 << 20, .dtype = DT_NONE}};
    struct operand out = T(DT_F32, 262144, 3000, 3);
    struct kargs k = {.in = in, .out = &out, .n_in = 4, .n_out = 1, .work = 1 << 20};
    k.work_bytes = op_workspace(OP_put_add, &k, &h200);
    for (int64_t i = 0; i < 9000; i++) {
        memory[65536 / 4 + i] = (int32_t)(i * i % 3001) - 1;
    }
    int n = cuda_kernels[OP_put_add](&k, &h200, launches, CUDA_MAX_LAUNCHES);
    ck_assert_int_eq(n, 3 * 2 + 3);
    for (int i = 0; i < 6; i += 3) {
        struct radix_params p;
        memcpy(&p, launches[i].params, sizeof p);
        ck_assert_int_eq(p.shift, i / 3 * 8);
        run_pass(&p, &k);
    }
    struct place_params p;
    memcpy(&p, launches[n - 1].params, sizeof p);
    const int32_t *order = &memory[p.order / 4], *index = &memory[p.index / 4];
    for (int64_t i = 1; i < p.n; i++) {
        uint32_t a = (uint32_t)index[order[i - 1]], b = (uint32_t)index[order[i]]; /* -1 comes last */
        ck_assert(a < b || (a == b && order[i - 1] < order[i]));
    }
    ck_assert_uint_ge(p.begin, p.order + 4 * (uint64_t)p.n);
    ck_assert_uint_le(p.end + 4 * (uint64_t)p.rows, k.work + k.work_bytes);
    ck_assert_int_eq(cuda_kernels[OP_put](&k, &h200, launches, CUDA_MAX_LAUNCHES), 3);
    k.work_bytes = 0;
    ck_assert_int_eq(cuda_kernels[OP_put_add](&k, &h200, launches, CUDA_MAX_LAUNCHES), 1);
}
END_TEST

/* A form by length: counted, sorted by a block, in passes of three launches for each byte of the key. */
START_TEST(sorts)
{
    static const struct {
        int64_t length;
        enum dtype t;
        int launches, form;
    } cases[] = {{64, DT_F32, 1, SORT_RANK},        {65, DT_F32, 1, SORT_BLOCK},
                 {2048, DT_F64, 1, SORT_BLOCK},     {2049, DT_F32, 12, RADIX_SCATTER},
                 {2049, DT_BF16, 6, RADIX_SCATTER}, {5000, DT_F64, 24, RADIX_SCATTER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct operand x = T(cases[i].t, 0, 3, cases[i].length), out = T(DT_I32, 1 << 20, 3, cases[i].length);
        int64_t down = 1;
        struct kargs k = {
            .in = &x, .out = &out, .n_in = 1, .n_out = 1, .attr = &down, .n_attr = 1, .work = 2 << 20};
        k.work_bytes = op_workspace(OP_argsort, &k, &h200);
        int n = cuda_kernels[OP_argsort](&k, &h200, launches, CUDA_MAX_LAUNCHES);
        ck_assert_int_eq(n, cases[i].launches);
        ck_assert_int_eq(fake_function_last(launches[n - 1].function), cases[i].form);
        if (n > 1) {
            struct radix_params p;
            memcpy(&p, launches[n - 1].params, sizeof p);
            ck_assert_uint_eq(p.to, out.offset);
            ck_assert_int_eq(p.descending, 1);
            ck_assert_uint_ge(p.counts, p.from + 4 * 3 * (uint64_t)cases[i].length);
        }
    }
}
END_TEST

/* A kernel that did not wait would run into the one in front of it: edges between kernels order starts only.
 */
static int kernels_that_wait(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    int n = 0;
    for (const char *at = text; (at = strstr(at, "__global__")); n++) {
        const char *body = strstr(at, "\n{\n");
        ck_assert_ptr_nonnull(body);
        ck_assert_msg(strncmp(body + 3, "    wait_for_previous();\n", 25) == 0, "%s: %.60s", path, at);
        at = body;
    }
    return n;
}
START_TEST(every_kernel_waits)
{
    glob_t all;
    int n = 0;
    if (access(GML_SOURCE, F_OK) != 0) {
        return; /* a program that was taken to another machine */
    }
    ck_assert_int_eq(glob(GML_SOURCE "/kernels/cuda/*.cu*", 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        n += kernels_that_wait(all.gl_pathv[i]);
    }
    globfree(&all);
    ck_assert_int_gt(n, 40);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda describe");
    tcase_add_test(t, elementwise);
    tcase_add_test(t, nothing_to_do);
    tcase_add_test(t, reductions);
    tcase_add_test(t, products);
    tcase_add_test(t, own_products);
    tcase_add_test(t, narrow_products);
    tcase_add_test(t, index_rows);
    tcase_add_test(t, places_are_sorted);
    tcase_add_test(t, sorts);
    tcase_add_test(t, every_kernel_waits);
    return suite_run("cuda describe", t, CK_FORK);
}
