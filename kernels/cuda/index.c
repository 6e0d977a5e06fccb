/* Descriptions of the operators that move data by index or by place: gather, put_add, put, put_max, pad,
 * pack, ranges, iota. */
#include "kernels/cuda/describe.h"

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
    if (max < 1 || k->in[0].rank < 1) {
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

/* What says which kernel an operand takes: its size where bytes are moved, its dtype where numbers meet. */
static int type_code(enum op op, const struct operand *o)
{
    return op == OP_put || op == OP_take ? (int)dtype_size((enum dtype)o->dtype) : o->dtype;
}

/* Few rows or indices. A warp owns 32 neighbouring columns of one row of the table and scans all indices in
 * order, so the order of the rows is fixed. */
static int scan_rows(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    struct index_params p = {0};
    index_make(k, &k->in[2], &k->out[0], &p);
    int64_t warps = p.rows * ceil_div(p.width.n, 32);
    if (warps == 0) {
        return 0;
    }
    return launch_make(l, cuda_index_function(op, type_code(op, &k->in[0])), grid_for(t, warps, WARPS), 1,
                       32 * WARPS, 1, &p, sizeof p);
}

/* Bits that the rows and one more number take, in digits of 8, an even number of them. */
static int passes_for(int64_t rows)
{
    return rows < 1 << 16 ? 2 : 4;
}

/* begin, end and the order lie in the scratch: two buffers of places, the counts, then 4 bytes for each row
 * twice. */
static int place_sorted(enum op op, struct place_params *p, const struct operand *type, uint64_t work,
                        const struct target *t, struct launch *l, int max)
{
    uint64_t places = 4 * (uint64_t)p->n;
    struct radix_params r = {.keys = p->index,
                             .counts = work + 2 * places,
                             .segments = 1,
                             .n = p->n,
                             .blocks = ceil_div(p->n, RADIX_TILE),
                             .length = p->length,
                             .many = p->many};
    p->order = work + places;
    p->begin = work + order_scratch(1, p->n, 2);
    p->end = p->begin + 4 * (uint64_t)p->rows;
    int n = describe_radix(&r, DT_NONE, passes_for(p->rows), work, p->order, l, max - 3);
    if (n < 0 ||
        launch_make(&l[n], cuda_place_function(op, 0, PLACE_CLEAR), grid_for(t, p->rows, 256), 1, 256, 1, p,
                    sizeof *p) < 0 ||
        launch_make(&l[n + 1], cuda_place_function(op, 0, PLACE_BOUNDS), grid_for(t, p->n, 256), 1, 256, 1, p,
                    sizeof *p) < 0 ||
        launch_make(&l[n + 2], cuda_place_function(op, type_code(op, type), PLACE_APPLY),
                    grid_for(t, p->rows * p->width, 256), 1, 256, 1, p, sizeof *p) < 0) {
        return CUDA_UNSUPPORTED;
    }
    return n + 3;
}
static int place_last(struct place_params *p, const struct operand *type, uint64_t work,
                      const struct target *t, struct launch *l)
{
    p->begin = work;
    if (launch_make(&l[0], cuda_place_function(OP_put, 0, PLACE_CLEAR), grid_for(t, p->rows, 256), 1, 256, 1,
                    p, sizeof *p) < 0 ||
        launch_make(&l[1], cuda_place_function(OP_put, 0, PLACE_LAST), grid_for(t, p->n, 256), 1, 256, 1, p,
                    sizeof *p) < 0 ||
        launch_make(&l[2], cuda_place_function(OP_put, type_code(OP_put, type), PLACE_APPLY),
                    grid_for(t, p->rows * p->width, 256), 1, 256, 1, p, sizeof *p) < 0) {
        return CUDA_UNSUPPORTED;
    }
    return 3;
}

/* Few rows written into the table itself. */
static bool writes_here(enum op op, const struct place_params *p)
{
    const int64_t few = 1024; /* a place looks at those behind it */
    return op == OP_put && p->out == p->table && p->n <= few;
}
/* Whether looking at `looks` indices, `each` of them one after another, takes longer than sorting them; and
 * whether there is scratch for that. */
static bool sorts(enum op op, const struct place_params *p, int64_t looks, int64_t each, uint64_t work_bytes,
                  int max)
{
    const int64_t many = 1 << 19, deep = 4096;
    uint64_t rows = (uint64_t)p->rows, need = op == OP_put ? 4 * rows : order_scratch(1, p->n, 2) + 8 * rows;
    return (looks > many || each > deep) && p->n <= INT32_MAX && p->rows < UINT32_MAX && work_bytes >= need &&
           max >= 15;
}

static int put_rows(enum op op, const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *x = &k->in[0], *index = &k->in[1], *v = &k->in[2], *out = &k->out[0];
    if (max < 1 || x->rank < 1) {
        return CUDA_UNSUPPORTED;
    }
    struct place_params p = {.index = index->offset,
                             .table = x->offset,
                             .values = v->offset,
                             .out = out->offset,
                             .control = control_operand(k)->offset,
                             .n = operand_count(index),
                             .rows = x->dim[0],
                             .width = x->dim[0] ? operand_count(x) / x->dim[0] : 0,
                             .length = x->dim[0],
                             .node = k->node};
    p.many = p.n;
    bool plain = operand_is_contiguous(x) && operand_is_contiguous(index) && operand_is_contiguous(v) &&
                 operand_is_contiguous(out) && p.n > 0 && p.rows * p.width > 0;
    if (plain && writes_here(op, &p)) {
        return launch_make(l, cuda_place_function(op, type_code(op, x), PLACE_HERE),
                           grid_for(t, p.n * p.width, 256), 1, 256, 1, &p, sizeof p);
    }
    int64_t looks = p.rows * ceil_div(p.width, 32) * ceil_div(p.n, 32);
    if (!plain || !sorts(op, &p, looks, p.n, k->work_bytes, max)) {
        return scan_rows(op, k, t, l);
    }
    return op == OP_put ? place_last(&p, x, k->work, t, l) : place_sorted(op, &p, x, k->work, t, l, max);
}

#define PUT_OP(name)                                                                                         \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return put_rows(OP_##name, k, t, l, max);                                                            \
    }
PUT_OP(put_add)
PUT_OP(put_max)
PUT_OP(put)

static int take_rows(enum op op, const struct kargs *k, const struct operand *table,
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
    return launch_make(l, cuda_index_function(op, type_code(op, table)), grid_for(t, p.n, 256), 1, 256, 1, &p,
                       sizeof p);
}

int cuda_take(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_take(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    return max < 1 ? CUDA_UNSUPPORTED : take_rows(OP_take, k, &k->in[0], &k->out[0], t, l);
}

/* Rows of one element each, of all rows of the output. */
int cuda_spread(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_spread(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *values = &k->in[0], *out = &k->out[0];
    int last = out->rank - 1;
    if (max < 1 || last < 0) {
        return CUDA_UNSUPPORTED;
    }
    struct place_params p = {.index = k->in[1].offset,
                             .values = values->offset,
                             .out = out->offset,
                             .control = control_operand(k)->offset,
                             .n = operand_count(values),
                             .rows = operand_count(out),
                             .width = 1,
                             .length = out->dim[last],
                             .many = values->dim[last],
                             .node = k->node};
    if (p.n == 0 || p.rows == 0 || !sorts(OP_spread, &p, p.rows * p.many / 32, p.many, k->work_bytes, max)) {
        return take_rows(OP_spread, k, out, values, t, l);
    }
    return place_sorted(OP_spread, &p, out, k->work, t, l, max);
}

/* Attributes: step per axis, then start per axis. */
int cuda_pad(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_pad(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *in = &k->in[0], *out = &k->out[0];
    struct pad_params p = {.in = in->offset, .to = out->offset};
    if (max < 1 || k->n_attr != 2u * out->rank) {
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

static int pack_flush(struct pack_params *p, int size, const struct target *t, struct launch *l, int at,
                      int max)
{
    if (p->n == 0) {
        return at;
    }
    int64_t longest = 1;
    for (int i = 0; i < p->n; i++) {
        longest = p->entry[i].total > longest ? p->entry[i].total : longest;
    }
    longest *= p->many;
    if (at >= max || launch_make(&l[at], cuda_index_function(OP_pack, size), grid_for(t, longest, 1024), p->n,
                                 256, 1, p, sizeof *p) < 0) {
        return CUDA_UNSUPPORTED;
    }
    p->n = 0;
    return at + 1;
}

/* Leaves in order, each padded to 64 elements; with a first axis of replicas once for each of them.
 * Contiguous leaves share launches; a strided one is copied by its own. */
int cuda_pack(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_pack(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    struct pack_params p = {0};
    int size = (int)dtype_size((enum dtype)k->out[0].dtype);
    p.many = k->out[0].rank == 2 ? k->out[0].dim[0] : 1;
    p.step = p.many ? operand_count(&k->out[0]) / p.many : 0;
    uint64_t bytes = (uint64_t)size, to = k->out[0].offset, end = to + bytes * (uint64_t)p.step;
    int n = 0;
    for (uint16_t i = 0; i < k->n_in && n >= 0; i++) {
        const struct operand *in = &k->in[i];
        int64_t count = operand_count(in) / (p.many ? p.many : 1), total = (count + 63) / 64 * 64;
        struct pack_entry e = {in->offset, to, count, total};
        if (in->dtype != k->out[0].dtype || to + bytes * (uint64_t)total > end) {
            return CUDA_UNSUPPORTED;
        }
        if (count > 0 && !operand_is_contiguous(in) && p.many > 1) {
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
            e = (struct pack_entry){to, to + bytes * (uint64_t)count, 0, total - count};
        }
        if (e.total > 0) {
            p.entry[p.n++] = e;
        }
        if (p.n == CUDA_PACK) {
            n = pack_flush(&p, size, t, l, n, max);
        }
        to += bytes * (uint64_t)total;
    }
    return n < 0 ? n : pack_flush(&p, size, t, l, n, max);
}

/* Attributes: tree, default bits, ...; the input is the planner's table of ranges. */
int cuda_ranges(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_ranges(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    const struct operand *table = &k->in[0], *out = &k->out[0];
    if (max < 1 || k->n_in != 1 || k->n_attr < 2 || table->dtype != DT_F64 || table->rank != 2) {
        return CUDA_UNSUPPORTED;
    }
    struct ranges_params p = {.out = out->offset,
                              .table = table->offset,
                              .n = operand_count(out),
                              .ranges = table->dim[0],
                              .otherwise = bits_f64(k->attr[1])};
    if (p.n == 0) {
        return 0;
    }
    return launch_make(l, cuda_index_function(OP_ranges, out->dtype), grid_for(t, p.n, 256), 1, 256, 1, &p,
                       sizeof p);
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
    return launch_make(l, cuda_index_function(OP_iota, DT_I32), grid_for(t, p.out.n, 256), 1, 256, 1, &p,
                       sizeof p);
}
