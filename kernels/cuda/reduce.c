/* Descriptions of the reductions. Three forms: a warp or a block per result where neighbours are added,
 * columns where neighbours belong to different results. Few results over many elements are cut into segments
 * and added in a second launch, both in a fixed order that depends on the shape and the device only. */
#include "kernels/cuda/describe.h"

enum { SEGMENT_FROM = 16384, SEGMENT_LEAST = 2048, SEGMENTS_MOST = 1024, WARP_MOST = 1024 };

static bool is_reduced(const struct kargs *k, int axis)
{
    for (uint32_t i = 0; i < k->n_attr; i++) {
        if (k->attr[i] == axis) {
            return true;
        }
    }
    return false;
}

static void split_axes(const struct kargs *k, struct reduce_params *p)
{
    const struct operand *in = &k->in[0], *out = &k->out[0];
    int64_t kept[CUDA_AXES], kept_in[CUDA_AXES], gone[CUDA_AXES], gone_in[CUDA_AXES];
    int n_kept = 0, n_gone = 0;
    for (int a = 0; a < in->rank; a++) {
        if (is_reduced(k, a)) {
            gone[n_gone] = in->dim[a];
            gone_in[n_gone++] = in->stride[a];
        } else {
            kept[n_kept] = in->dim[a];
            kept_in[n_kept++] = in->stride[a];
        }
    }
    walk_make(&p->kept, n_kept, kept, 2, (const int64_t *const[]){kept_in, out->stride});
    walk_make(&p->reduced, n_gone, gone, 1, (const int64_t *const[]){gone_in});
}

static int64_t last_stride(const struct walk *w)
{
    int64_t s = w->stride[0][w->rank - 1];
    return s < 0 ? -s : s;
}

static enum reduce_form form_of(const struct reduce_params *p)
{
    bool columns = p->kept.n > 1 && last_stride(&p->kept) < last_stride(&p->reduced) && p->reduced.n > 1;
    if (columns) {
        return REDUCE_COLUMNS;
    }
    return p->reduced.n <= WARP_MOST ? REDUCE_WARP : REDUCE_BLOCK;
}

static int64_t blocks_of(enum reduce_form form, int64_t results)
{
    int64_t per = form == REDUCE_COLUMNS ? TILE : form == REDUCE_WARP ? WARPS : 1;
    return ceil_div(results, per);
}

/* Of the accumulators between two passes. */
static enum dtype partial_type(const struct kargs *k)
{
    return k->in[0].dtype == DT_BF16 ? DT_F32 : (enum dtype)k->in[0].dtype;
}

static int64_t segments_of(const struct reduce_params *p, enum reduce_form form, const struct kargs *k,
                           const struct target *t)
{
    int64_t blocks = blocks_of(form, p->kept.n), sms = t && t->n_sm > 0 ? t->n_sm : 132;
    int64_t least = form == REDUCE_COLUMNS ? SEGMENT_FROM / TILE : SEGMENT_FROM;
    if (p->reduced.n < least || blocks >= sms) {
        return 1;
    }
    int64_t n = ceil_div(2 * sms, blocks);
    int64_t shortest = form == REDUCE_COLUMNS ? SEGMENT_LEAST / TILE : SEGMENT_LEAST;
    int64_t room = (int64_t)(k->work_bytes / dtype_size(partial_type(k))) / p->kept.n;
    n = n < p->reduced.n / shortest ? n : p->reduced.n / shortest;
    n = n < room ? n : room;
    n = n < SEGMENTS_MOST ? n : SEGMENTS_MOST;
    return n < 2 ? 1 : n;
}

static int one_pass(enum op op, int in, int out, const struct reduce_params *p, enum reduce_form form,
                    struct launch *l)
{
    const void *f = cuda_reduce_function(op, in, out, form);
    int64_t blocks = blocks_of(form, p->kept.n);
    if (form == REDUCE_COLUMNS) {
        uint32_t lanes = p->reduced.n / p->segments >= 4 * TILE ? TILE : 8;
        return launch_make(l, f, blocks, p->segments, TILE, lanes, p, sizeof *p);
    }
    uint32_t threads = form == REDUCE_WARP ? 32 * WARPS : REDUCE_THREADS;
    return launch_make(l, f, blocks, p->segments, threads, 1, p, sizeof *p);
}

/* The second pass reads [segments][kept] partial results. */
static void second_pass(const struct reduce_params *first, const struct kargs *k, struct reduce_params *p)
{
    *p = *first;
    walk_contiguous(&first->kept, p->kept.stride[0]);
    int64_t segments = first->segments, stride = first->kept.n;
    walk_make(&p->reduced, 1, &segments, 1, (const int64_t *const[]){&stride});
    p->in = k->work;
    p->out = k->out[0].offset;
    p->segments = 1;
    p->finish = 1;
}

static int describe(enum op op, const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    struct reduce_params p = {0};
    if (max < 2) {
        return CUDA_UNSUPPORTED;
    }
    split_axes(k, &p);
    if (p.kept.n == 0) {
        return 0;
    }
    int in = k->in[0].dtype, out = k->out[0].dtype, partial = partial_type(k);
    enum reduce_form form = form_of(&p);
    p.in = k->in[0].offset;
    p.out = k->out[0].offset;
    p.n = p.reduced.n;
    p.finish = 1;
    p.segments = segments_of(&p, form, k, t);
    if (p.segments == 1) {
        return one_pass(op, in, out, &p, form, l);
    }
    struct reduce_params rest;
    second_pass(&p, k, &rest);
    p.out = k->work;
    p.finish = 0;
    int a = one_pass(op, in, partial, &p, form, l),
        b = one_pass(op, partial, out, &rest, form_of(&rest), l + 1);
    return a < 0 || b < 0 ? CUDA_UNSUPPORTED : 2;
}

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return describe(OP_##name, k, t, l, max);                                                            \
    }
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP
