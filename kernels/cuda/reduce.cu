/* Reductions: fixed trees that depend on the shape alone, no atomics. A thread folds its elements in order,
 * then lanes, then warps. */
#include "kernels/cuda/device.cuh"

/* T: accumulator and element as the formula sees them. A bool is folded as a byte of 0 or 1. */
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define REDUCE(name, dsl, sig, first, combine, last, doc)                                                    \
    template <class T> struct red_##name {                                                                   \
        static __device__ __forceinline__ T identity()                                                       \
        {                                                                                                    \
            return (T)(first);                                                                               \
        }                                                                                                    \
        static __device__ __forceinline__ T fold(T a, T x)                                                   \
        {                                                                                                    \
            return (T)(combine);                                                                             \
        }                                                                                                    \
        static __device__ __forceinline__ T finish(T a, T n)                                                 \
        {                                                                                                    \
            (void)n;                                                                                         \
            return (T)(last);                                                                                \
        }                                                                                                    \
    };
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef REDUCE

__device__ __forceinline__ void segment(const struct reduce_params &p, int64_t *from, int64_t *to)
{
    int64_t n = (p.reduced.n + p.segments - 1) / p.segments;
    *from = n * blockIdx.y;
    *to = *from + n < p.reduced.n ? *from + n : p.reduced.n;
}

/* O: a result, or T for a partial one. */
template <class F, class O, class T>
__device__ __forceinline__ void put(char *arena, const struct reduce_params &p, int64_t i, int64_t out, T a)
{
    if (p.finish) {
        ((O *)(arena + p.out))[out] = store<O>::from(F::finish(a, (T)p.n));
    } else {
        ((T *)(arena + p.out))[(int64_t)blockIdx.y * p.kept.n + i] = a;
    }
}

template <class F, class T, class S>
__device__ __forceinline__ T fold_range(const S *in, const struct walk &w, int64_t from, int64_t to,
                                        int64_t step)
{
    T a = F::identity();
    if (w.rank == 1) {
        int64_t s = w.stride[0][0];
#pragma unroll 4
        for (int64_t j = from; j < to; j += step) {
            a = F::fold(a, get(in[j * s]));
        }
    } else {
        for (int64_t j = from; j < to; j += step) {
            a = F::fold(a, get(in[walk_one(w, j)]));
        }
    }
    return a;
}

/* One result per warp (BLOCK false) or per block. */
template <class F, class S, class O, class T, bool BLOCK>
__global__ void reduce_rows(char *arena, const __grid_constant__ struct reduce_params p)
{
    wait_for_previous();
    __shared__ T scratch[32];
    int lane = BLOCK ? threadIdx.x : threadIdx.x % 32, lanes = BLOCK ? blockDim.x : 32;
    int64_t i = BLOCK ? blockIdx.x : (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int64_t from, to, at[2];
    if (i >= p.kept.n) {
        return; /* a whole warp, or nothing */
    }
    segment(p, &from, &to);
    walk_any<2>(p.kept, i, at);
    T a = fold_range<F, T>((const S *)(arena + p.in) + at[0], p.reduced, from + lane, to, lanes);
    a = BLOCK ? block_fold<F>(a, scratch) : warp_fold<F>(a);
    if (lane == 0) {
        put<F, O, T>(arena, p, i, at[1], a);
    }
}

/* 32 neighbouring results per block; the block's rows share the elements of each. */
template <class F, class S, class O, class T>
__global__ void reduce_columns(char *arena, const __grid_constant__ struct reduce_params p)
{
    wait_for_previous();
    __shared__ T scratch[TILE][TILE + 1];
    int64_t i = (int64_t)blockIdx.x * TILE + threadIdx.x, from, to, at[2] = {0, 0};
    T a = F::identity();
    segment(p, &from, &to);
    if (i < p.kept.n) {
        walk_any<2>(p.kept, i, at);
        a = fold_range<F, T>((const S *)(arena + p.in) + at[0], p.reduced, from + threadIdx.y, to,
                             blockDim.y);
    }
    scratch[threadIdx.y][threadIdx.x] = a;
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) {
            scratch[threadIdx.y][threadIdx.x] =
                F::fold(scratch[threadIdx.y][threadIdx.x], scratch[threadIdx.y + half][threadIdx.x]);
        }
    }
    if (threadIdx.y == 0 && i < p.kept.n) {
        put<F, O, T>(arena, p, i, at[1], scratch[0][threadIdx.x]);
    }
}

/* S to O, folded as T. */
template <class F, class S, class O, class T> static const void *form_of(enum reduce_form form)
{
    return form == REDUCE_WARP    ? (const void *)reduce_rows<F, S, O, T, false>
           : form == REDUCE_BLOCK ? (const void *)reduce_rows<F, S, O, T, true>
                                  : (const void *)reduce_columns<F, S, O, T>;
}
template <template <class> class F> static const void *find_FLOAT(int in, int out, enum reduce_form form)
{
    if (in == DT_BF16) {
        return out == DT_F32 ? form_of<F<float>, bf16, float, float>(form)
                             : form_of<F<float>, bf16, bf16, float>(form);
    }
    return in == DT_F32 && out == DT_BF16 ? form_of<F<float>, float, bf16, float>(form)
           : in == DT_F32                 ? form_of<F<float>, float, float, float>(form)
           : in == DT_F64                 ? form_of<F<double>, double, double, double>(form)
                                          : nullptr;
}
template <template <class> class F> static const void *find_NUMBER(int in, int out, enum reduce_form form)
{
    return in == DT_I32 ? form_of<F<int32_t>, int32_t, int32_t, int32_t>(form) : find_FLOAT<F>(in, out, form);
}
template <template <class> class F> static const void *find_LOGIC(int in, int, enum reduce_form form)
{
    return in == DT_BOOL ? form_of<F<uint8_t>, uint8_t, uint8_t, uint8_t>(form) : nullptr;
}

extern "C" const void *cuda_reduce_function(int op, int in, int out, enum reduce_form form)
{
    switch (op) {
#define REDUCE(name, dsl, sig, first, combine, last, doc)                                                    \
    case OP_##name:                                                                                          \
        return find_##sig<red_##name>(in, out, form);
#include "kernels/ops.def"
    default:
        return nullptr;
    }
}
