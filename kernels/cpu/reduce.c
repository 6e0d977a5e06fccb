/* Reductions over any axes, generated from the REDUCE rows of ops.def.
 *
 * A row gives four small functions per dtype: fill with the identity, merge two vectors of accumulators,
 * reduce a contiguous block, finish. The rest is shared. Elements are combined in a fixed binary tree over
 * blocks (1024 elements in 16 lanes, or 32 rows), which depends on the shape only: cutting a long reduction
 * into chunks of a power of two of blocks gives the same tree, so results neither depend on threads nor on
 * the scratch the planner offers. Pairwise sums also keep the rounding error of f32 small.
 *
 * Two ways through memory: *rows* reduce one result after another (its elements gathered when they are not
 * adjacent); *columns* are taken when a kept axis is adjacent in memory: then up to 256 results are
 * accumulated side by side.
 */
#include "kernels/cpu/reducer.h"

enum { LANES = 16 };

/* Unrolled early, comparisons of lanes become branches; as a loop they become vector operations. */
#if defined(__GNUC__) && !defined(__clang__)
#define ROLLED _Pragma("GCC unroll 1") _Pragma("GCC ivdep")
#else
#define ROLLED
#endif

#define REDUCER(name, type, TT, identity, combine, last)                                                     \
    static void start_##name##_##type(void *acc, int64_t count)                                              \
    {                                                                                                        \
        typedef TT T UNUSED;                                                                                 \
        for (int64_t i = 0; i < count; i++) {                                                                \
            ((TT *)acc)[i] = (TT)(identity);                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    CLONES static void merge_##name##_##type(void *acc, const void *from, int64_t count)                     \
    {                                                                                                        \
        TT *pa = acc;                                                                                        \
        const TT *px = from;                                                                                 \
        INDEPENDENT for (int64_t i = 0; i < count; i++)                                                      \
        {                                                                                                    \
            const TT a = pa[i], x = px[i];                                                                   \
            pa[i] = (TT)(combine);                                                                           \
        }                                                                                                    \
    }                                                                                                        \
    CLONES static void block_##name##_##type(void *acc, const void *from, int64_t count)                     \
    {                                                                                                        \
        typedef TT T UNUSED;                                                                                 \
        TT lane[LANES];                                                                                      \
        const TT *px = from;                                                                                 \
        int64_t i = 0;                                                                                       \
        for (int j = 0; j < LANES; j++) {                                                                    \
            lane[j] = (TT)(identity);                                                                        \
        }                                                                                                    \
        for (; i + LANES <= count; i += LANES) {                                                             \
            ROLLED for (int j = 0; j < LANES; j++)                                                           \
            {                                                                                                \
                const TT a = lane[j], x = px[i + j];                                                         \
                lane[j] = (TT)(combine);                                                                     \
            }                                                                                                \
        }                                                                                                    \
        for (int j = 0; i < count; i++, j++) {                                                               \
            const TT a = lane[j], x = px[i];                                                                 \
            lane[j] = (TT)(combine);                                                                         \
        }                                                                                                    \
        for (int w = LANES / 2; w > 0; w /= 2) {                                                             \
            for (int j = 0; j < w; j++) {                                                                    \
                const TT a = lane[j], x = lane[j + w];                                                       \
                lane[j] = (TT)(combine);                                                                     \
            }                                                                                                \
        }                                                                                                    \
        *(TT *)acc = lane[0];                                                                                \
    }                                                                                                        \
    static void finish_##name##_##type(void *out, const void *acc, int64_t width, int64_t count)             \
    {                                                                                                        \
        const TT n UNUSED = (TT)count;                                                                       \
        for (int64_t i = 0; i < width; i++) {                                                                \
            const TT a = ((const TT *)acc)[i];                                                               \
            ((TT *)out)[i] = (TT)(last);                                                                     \
        }                                                                                                    \
    }

#define REDUCERS_FLOAT(name, identity, combine, last)                                                        \
    REDUCER(name, f32, float, identity, combine, last)                                                       \
    REDUCER(name, f64, double, identity, combine, last)
#define REDUCERS_NUMBER(name, identity, combine, last)                                                       \
    REDUCERS_FLOAT(name, identity, combine, last)                                                            \
    REDUCER(name, i32, int32_t, identity, combine, last)
#define REDUCERS_LOGIC(name, identity, combine, last) REDUCER(name, bool, uint8_t, identity, combine, last)

#define ENTRY(name, type)                                                                                    \
    {                                                                                                        \
        start_##name##_##type, merge_##name##_##type, block_##name##_##type, finish_##name##_##type          \
    }
#define ENTRIES_FLOAT(name)  [DT_F32] = ENTRY(name, f32), [DT_F64] = ENTRY(name, f64)
#define ENTRIES_NUMBER(name) ENTRIES_FLOAT(name), [DT_I32] = ENTRY(name, i32)
#define ENTRIES_LOGIC(name)  [DT_BOOL] = ENTRY(name, bool)

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    REDUCERS_##sig(name, identity, combine,                                                                  \
                   finish) static const struct reducer reducers_##name[DT_COUNT] = {ENTRIES_##sig(name)};
#include "kernels/ops.def"
#undef REDUCE

static const struct reducer *const all_reducers[OP_COUNT] = {
#define REDUCE(name, dsl, sig, identity, combine, finish, doc) [OP_##name] = reducers_##name,
#include "kernels/ops.def"
#undef REDUCE
};
const struct reducer *reducer_of(enum op op, enum dtype t)
{
    return &all_reducers[op][t];
}

/* Axes of one side, outer to inner, merged where they lie behind each other; strides in bytes. */
struct axes {
    int rank;
    int64_t dim[LIMIT_RANK], stride[LIMIT_RANK];
};
struct reduction {
    size_t size, acc;      /* bytes of an element, of an accumulator */
    bool narrow;           /* elements are bf16, accumulators f32 */
    int64_t outputs, each; /* results, and elements of each */
    struct axes kept, gone;
    int64_t block;         /* elements of a leaf of the tree */
    int64_t width;         /* results side by side: 1 = rows */
    int64_t inner;         /* columns: size of the kept axis they lie on */
    int64_t groups;        /* units without chunks: groups of results */
    int64_t per_group;     /* rows: results of a group */
    int64_t chunk, chunks; /* elements of a chunk, chunks of each result */
};

static void axes_add(struct axes *a, int64_t size, int64_t stride)
{
    if (size == 1) {
        return;
    }
    if (a->rank > 0 && a->stride[a->rank - 1] == stride * size) {
        a->dim[a->rank - 1] *= size;
    } else {
        a->dim[a->rank++] = size;
    }
    a->stride[a->rank - 1] = stride;
}

/* Byte offset of the row-major index i. */
static int64_t axes_offset(const struct axes *a, int64_t i)
{
    int64_t offset = 0;
    for (int axis = a->rank - 1; axis >= 0 && i > 0; axis--) {
        offset += i % a->dim[axis] * a->stride[axis];
        i /= a->dim[axis];
    }
    return offset;
}

int64_t reduce_chunk(int64_t block, int64_t width, int64_t each, int64_t parts)
{
    int64_t chunk = block;
    while (chunk * width < CHUNK_ELEMENTS || div_up(each, chunk) > parts) {
        chunk *= 2;
    }
    return min_i64(chunk, each);
}

void reduce_merge(const struct reducer *f, char *work, int64_t chunks, int64_t n, int64_t size)
{
    for (int64_t step = 1; step < chunks; step *= 2) {
        for (int64_t c = 0; c + step < chunks; c += 2 * step) {
            f->merge(work + c * n * size, work + (c + step) * n * size, n);
        }
    }
}

static void choose_chunks(struct reduction *r, const struct kargs *k)
{
    int64_t parts = r->outputs ? (int64_t)(k->work_bytes / 8) / r->outputs : 0;
    r->chunk = r->each;
    r->chunks = 1;
    if (parts < 2 || r->groups >= 16) {
        return;
    }
    r->chunk = reduce_chunk(r->block, r->width, r->each, parts);
    if (r->chunk < r->each) {
        r->chunks = div_up(r->each, r->chunk);
        r->groups = r->width > 1 ? r->groups : r->outputs;
        r->per_group = 1;
    }
}

static void reduction_make(struct reduction *r, const struct kargs *k)
{
    const struct operand *x = &k->in[0];
    int64_t size = (int64_t)dtype_size((enum dtype)x->dtype);
    *r = (struct reduction){.size = (size_t)size, .outputs = 1, .each = 1, .width = 1, .per_group = 1};
    r->narrow = x->dtype == DT_BF16;
    r->acc = dtype_size(work_type((enum dtype)x->dtype));
    uint32_t next = 0;
    for (int axis = 0; axis < x->rank; axis++) {
        bool goes = next < k->n_attr && k->attr[next] == axis;
        next += goes;
        *(goes ? &r->each : &r->outputs) *= x->dim[axis];
        axes_add(goes ? &r->gone : &r->kept, x->dim[axis], x->stride[axis] * size);
    }
    int last = r->kept.rank - 1;
    if (last >= 0 && r->kept.stride[last] == size && r->kept.dim[last] >= 4) {
        r->inner = r->kept.dim[last];
        r->width = min_i64(r->inner, COLUMNS);
        r->block = COLUMN_BLOCK;
        r->groups = r->outputs / max_i64(1, r->inner) * div_up(r->inner, r->width);
    } else {
        r->block = ROW_BLOCK;
        r->per_group = rows_per_unit(r->each);
        r->groups = div_up(r->outputs, r->per_group);
    }
    choose_chunks(r, k);
}

int64_t cpu_units_reduce(const struct kargs *k)
{
    struct reduction r;
    reduction_make(&r, k);
    return r.outputs ? r.groups * r.chunks : 0;
}

/* Elements [from, from + n) of one result, adjacent, in `to`, as the accumulator's type. */
static void gather(const struct reduction *r, const char *base, int64_t from, int64_t n, char *to)
{
    iter_fn copy = iter_copy(r->size);
    const struct axes *a = &r->gone;
    int last = a->rank - 1;
    while (n > 0) {
        int64_t run = last < 0 ? n : min_i64(n, a->dim[last] - from % a->dim[last]);
        int64_t step = last < 0 ? 0 : a->stride[last];
        char *p[] = {to, (char *)(uintptr_t)(base + axes_offset(a, from))};
        if (r->narrow) {
            bf16_widen_run((float *)(void *)to, p[1], step, run);
        } else {
            copy(p, (int64_t[]){(int64_t)r->size, step}, run);
        }
        to += run * (int64_t)r->acc;
        from += run;
        n -= run;
    }
}

static void leaf(const struct reduction *r, const struct reducer *f, const char *base, int64_t from,
                 int64_t n, void *acc)
{
    if (r->width > 1) {
        f->start(acc, r->width);
        for (int64_t i = 0; i < n; i++) {
            const char *x = base + axes_offset(&r->gone, from + i);
            float wide[COLUMNS];
            if (r->narrow) {
                bf16_widen_run(wide, x, (int64_t)r->size, r->width);
            }
            f->merge(acc, r->narrow ? (const void *)wide : x, r->width);
        }
        return;
    }
    bool adjacent = r->gone.rank == 0 || (r->gone.rank == 1 && r->gone.stride[0] == (int64_t)r->size);
    if (adjacent && !r->narrow) {
        f->block(acc, base + from * (int64_t)r->size, n);
        return;
    }
    double buffer[ROW_BLOCK];
    gather(r, base, from, n, (char *)buffer);
    f->block(acc, buffer, n);
}

/* The largest block times a power of two below n. */
static int64_t left_half(int64_t block, int64_t n)
{
    int64_t half = block;
    while (half * 2 < n) {
        half *= 2;
    }
    return half;
}

static void tree(const struct reduction *r, const struct reducer *f, const char *base, int64_t from,
                 int64_t n, void *acc)
{
    if (n <= r->block) {
        leaf(r, f, base, from, n, acc);
        return;
    }
    double right[COLUMNS];
    int64_t half = left_half(r->block, n);
    tree(r, f, base, from, half, acc);
    tree(r, f, base, from + half, n - half, right);
    f->merge(acc, right, r->width);
}

/* n results, stored from accumulators. */
static void finish(const struct reduction *r, const struct reducer *f, char *out, const char *acc, int64_t n)
{
    if (!r->narrow) {
        f->finish(out, acc, n, r->each);
        return;
    }
    for (int64_t i = 0; i < n; i += COLUMNS) {
        float wide[COLUMNS];
        int64_t m = min_i64(COLUMNS, n - i);
        f->finish(wide, acc + i * (int64_t)r->acc, m, r->each);
        bf16_round_run(out + i * (int64_t)r->size, (int64_t)r->size, wide, m);
    }
}

/* One chunk of the results [out, out + width): finished, or left in the scratch. */
static void reduce_piece(struct reduction *r, const struct reducer *f, void *arena, const struct kargs *k,
                         int64_t out, int64_t chunk)
{
    double acc[COLUMNS];
    const char *base = (const char *)cpu_at(arena, &k->in[0]) + axes_offset(&r->kept, out);
    int64_t from = chunk * r->chunk;
    tree(r, f, base, from, min_i64(r->chunk, r->each - from), acc);
    if (r->chunks == 1) {
        finish(r, f, (char *)cpu_at(arena, &k->out[0]) + out * (int64_t)r->size, (const char *)acc, r->width);
    } else {
        char *work = (char *)arena + k->work + (chunk * r->outputs + out) * (int64_t)r->acc;
        memcpy(work, acc, (size_t)r->width * r->acc);
    }
}

static void reduce_run(const struct reducer *reducers, void *arena, const struct kargs *k, struct slice s)
{
    struct reduction r;
    reduction_make(&r, k);
    const struct reducer *f = &reducers[work_type((enum dtype)k->in[0].dtype)];
    int64_t full = r.width;
    for (int64_t unit = s.from; unit < s.to; unit++) {
        int64_t group = unit / r.chunks, chunk = unit % r.chunks;
        if (full > 1) {
            int64_t pieces = div_up(r.inner, full), at = group % pieces * full;
            r.width = min_i64(full, r.inner - at);
            reduce_piece(&r, f, arena, k, group / pieces * r.inner + at, chunk);
            continue;
        }
        int64_t to = min_i64(r.outputs, (group + 1) * r.per_group);
        for (int64_t out = group * r.per_group; out < to; out++) {
            reduce_piece(&r, f, arena, k, out, chunk);
        }
    }
}

/* Merges the chunks of all results in the order of the tree. */
static void reduce_finish(const struct reducer *reducers, void *arena, const struct kargs *k)
{
    struct reduction r;
    reduction_make(&r, k);
    if (r.chunks == 1 || r.outputs == 0) {
        return;
    }
    const struct reducer *f = &reducers[work_type((enum dtype)k->in[0].dtype)];
    char *work = (char *)arena + k->work;
    reduce_merge(f, work, r.chunks, r.outputs, (int64_t)r.acc);
    finish(&r, f, cpu_at(arena, &k->out[0]), work, r.outputs);
}

#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    void cpu_##name(void *arena, const struct kargs *k, struct slice s)                                      \
    {                                                                                                        \
        reduce_run(reducers_##name, arena, k, s);                                                            \
    }                                                                                                        \
    void cpu_finish_##name(void *arena, const struct kargs *k, struct slice s)                               \
    {                                                                                                        \
        (void)s;                                                                                             \
        reduce_finish(reducers_##name, arena, k);                                                            \
    }
#include "kernels/ops.def"
