/* Descriptions of the operators that move data by index or by place: gather, put_add, put, put_max, pad,
 * pack, ranges, iota. */
#include "kernels/cuda/describe.h"

static bool plain_bytes(const struct operand *o)
{
    return dtype_size((enum dtype)o->dtype) == 4 || dtype_size((enum dtype)o->dtype) == 1;
}

/* table [n, r..], index [k..], values [k.., r..]; `out` is the result of put_add or NULL. */
static void index_make(const struct kargs *k, const struct operand *values, const struct operand *out,
                       struct index_params *p)
{
    const struct operand *table = &k->in[0], *index = &k->in[1];
    p->table = table->offset;
    p->index = index->offset;
    p->values = values->offset;
    p->control = control_operand(k)->offset;
    p->rows = table->dim[0];
    p->table_stride = table->stride[0];
    p->node = k->node;
    walk_make(&p->places, index->rank, index->dim, 2,
              (const int64_t *const[]){index->stride, values->stride});
    const int64_t *row_out = out ? out->stride + 1 : table->stride + 1;
    walk_make(&p->width, table->rank - 1, table->dim + 1, 3,
              (const int64_t *const[]){table->stride + 1, values->stride + index->rank, row_out});
    if (out) {
        p->out = out->offset;
        p->out_stride = out->stride[0];
    }
}

int cuda_gather(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_gather(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    struct index_params p = {0};
    if (max < 1 || k->in[0].rank < 1 || !plain_bytes(&k->in[0])) {
        return CUDA_UNSUPPORTED;
    }
    index_make(k, &k->out[0], NULL, &p);
    int64_t n = p.places.n * p.width.n;
    if (n == 0) {
        return 0;
    }
    const void *f = cuda_index_function(OP_gather, (int)dtype_size(k->in[0].dtype));
    return launch_make(l, f, grid_for(t, n, 256), 1, 256, 1, &p, sizeof p);
}

/* A warp owns 32 neighbouring columns of one row of the table and scans all indices in order, so the order of
 * the rows is fixed. */
static int put_rows(enum op op, int code, const struct kargs *k, const struct target *t, struct launch *l)
{
    struct index_params p = {0};
    if (k->in[0].rank < 1) {
        return CUDA_UNSUPPORTED;
    }
    index_make(k, &k->in[2], &k->out[0], &p);
    int64_t warps = p.rows * ceil_div(p.width.n, 32);
    if (warps == 0) {
        return 0;
    }
    return launch_make(l, cuda_index_function(op, code), grid_for(t, warps, WARPS), 1, 32 * WARPS, 1, &p,
                       sizeof p);
}
static int number_code(enum dtype t)
{
    return t == DT_F32 ? 4 : t == DT_I32 ? -4 : 0;
}

int cuda_put_add(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_put_add(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    int code = number_code((enum dtype)k->in[0].dtype);
    return max < 1 || !code ? CUDA_UNSUPPORTED : put_rows(OP_put_add, code, k, t, l);
}

int cuda_put_max(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_put_max(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    int code = number_code((enum dtype)k->in[0].dtype);
    return max < 1 || !code ? CUDA_UNSUPPORTED : put_rows(OP_put_max, code, k, t, l);
}

int cuda_put(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_put(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    return max < 1 || !plain_bytes(&k->in[0])
               ? CUDA_UNSUPPORTED
               : put_rows(OP_put, (int)dtype_size((enum dtype)k->in[0].dtype), k, t, l);
}

static int take_rows(enum op op, int code, const struct kargs *k, const struct operand *table,
                     const struct operand *values, const struct target *t, struct launch *l)
{
    int last = table->rank - 1;
    struct take_params p = {.table = table->offset,
                            .index = k->in[1].offset,
                            .values = values->offset,
                            .control = control_operand(k)->offset,
                            .n = operand_count(&k->out[0]),
                            .row_table = last < 0 ? 0 : table->dim[last],
                            .row_values = last < 0 ? 0 : values->dim[last],
                            .node = k->node};
    if (last < 0 || p.n == 0) {
        return last < 0 ? CUDA_UNSUPPORTED : 0;
    }
    return launch_make(l, cuda_index_function(op, code), grid_for(t, p.n, 256), 1, 256, 1, &p, sizeof p);
}

int cuda_take(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_take(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    int size = (int)dtype_size((enum dtype)k->in[0].dtype);
    return max < 1 || !plain_bytes(&k->in[0]) ? CUDA_UNSUPPORTED
                                              : take_rows(OP_take, size, k, &k->in[0], &k->out[0], t, l);
}

int cuda_spread(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_spread(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    int code = number_code((enum dtype)k->in[0].dtype);
    return max < 1 || !code ? CUDA_UNSUPPORTED : take_rows(OP_spread, code, k, &k->out[0], &k->in[0], t, l);
}

/* Attributes: step per axis, then start per axis. */
int cuda_pad(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_pad(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *in = &k->in[0], *out = &k->out[0];
    struct pad_params p = {.in = in->offset, .to = out->offset};
    if (max < 1 || !plain_bytes(in) || k->n_attr != 2u * out->rank) {
        return CUDA_UNSUPPORTED;
    }
    p.out = (struct walk){.n = operand_count(out), .rank = out->rank, .operands = 2};
    for (int a = 0; a < out->rank; a++) {
        p.out.dim[a] = out->dim[a];
        p.out.stride[0][a] = out->stride[a];
        p.out.stride[1][a] = in->stride[a];
        p.in_dim[a] = in->dim[a];
        p.step[a] = k->attr[a];
        p.start[a] = k->attr[out->rank + a];
    }
    if (p.out.n == 0) {
        return 0;
    }
    const void *f = cuda_index_function(OP_pad, (int)dtype_size(in->dtype));
    return launch_make(l, f, grid_for(t, p.out.n, 256), 1, 256, 1, &p, sizeof p);
}

static int pack_flush(struct pack_params *p, const struct target *t, struct launch *l, int at, int max)
{
    if (p->n == 0) {
        return at;
    }
    int64_t longest = 1;
    for (int i = 0; i < p->n; i++) {
        longest = p->entry[i].total > longest ? p->entry[i].total : longest;
    }
    if (at >= max || launch_make(&l[at], cuda_index_function(OP_pack, 4), grid_for(t, longest, 1024), p->n,
                                 256, 1, p, sizeof *p) < 0) {
        return CUDA_UNSUPPORTED;
    }
    p->n = 0;
    return at + 1;
}

/* Leaves in order, each padded to 64 elements. Contiguous leaves share launches; a strided one is copied by
 * its own. */
int cuda_pack(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_pack(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    struct pack_params p = {0};
    uint64_t to = k->out[0].offset, end = to + 4 * (uint64_t)operand_count(&k->out[0]);
    int n = 0;
    for (uint16_t i = 0; i < k->n_in && n >= 0; i++) {
        const struct operand *in = &k->in[i];
        int64_t count = operand_count(in), total = (count + 63) / 64 * 64;
        struct pack_entry e = {in->offset, to, count, total};
        if (dtype_size(in->dtype) != 4 || in->dtype != k->out[0].dtype || to + 4 * (uint64_t)total > end) {
            return CUDA_UNSUPPORTED;
        }
        if (count > 0 && !operand_is_contiguous(in)) {
            struct operand place = *in;
            struct walk own = {.rank = in->rank};
            memcpy(own.dim, in->dim, sizeof own.dim);
            walk_contiguous(&own, place.stride);
            place.offset = to;
            if (n >= max || describe_copy(in, &place, t, &l[n]) != 1) {
                return CUDA_UNSUPPORTED;
            }
            n++;
            e = (struct pack_entry){to, to + 4 * (uint64_t)count, 0, total - count};
        }
        if (e.total > 0) {
            p.entry[p.n++] = e;
        }
        if (p.n == CUDA_PACK) {
            n = pack_flush(&p, t, l, n, max);
        }
        to += 4 * (uint64_t)total;
    }
    return n < 0 ? n : pack_flush(&p, t, l, n, max);
}

/* Attributes: tree, default bits, ...; the input is the planner's table of ranges. */
int cuda_ranges(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_ranges(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *table = &k->in[0], *out = &k->out[0];
    if (max < 1 || k->n_in != 1 || k->n_attr < 2 || out->dtype != DT_F32 || table->dtype != DT_F64 ||
        table->rank != 2) {
        return CUDA_UNSUPPORTED;
    }
    struct ranges_params p = {.out = out->offset,
                              .table = table->offset,
                              .n = operand_count(out),
                              .ranges = table->dim[0],
                              .otherwise = (float)bits_f64(k->attr[1])};
    if (p.n == 0) {
        return 0;
    }
    return launch_make(l, cuda_index_function(OP_ranges, 4), grid_for(t, p.n, 256), 1, 256, 1, &p, sizeof p);
}

int cuda_iota(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_iota(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *out = &k->out[0];
    struct fill_params p = {.to = out->offset};
    if (max < 1 || out->rank != 1 || out->dtype != DT_I32) {
        return CUDA_UNSUPPORTED;
    }
    walk_operands(&p.out, 1, &out);
    if (p.out.n == 0) {
        return 0;
    }
    return launch_make(l, cuda_index_function(OP_iota, 4), grid_for(t, p.out.n, 256), 1, 256, 1, &p,
                       sizeof p);
}
