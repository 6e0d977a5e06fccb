/* Elementwise kernels, one functor per ELEM row of ops.def, in a vector form (groups of four) and a plain
 * form (any strides). An output may lie on an input of equal strides: every thread reads its elements before
 * it writes them. Included by the files that instantiate them: elem.cu, elem_f64.cu, elem_bf16.cu. */
#ifndef GML_KERNELS_CUDA_ELEM_CUH
#define GML_KERNELS_CUDA_ELEM_CUH
#include "kernels/cuda/device.cuh"

/* How values lie in memory: a bool is one byte, anything but 0 holds. */
template <class V> struct cell {
    typedef V type;
};
template <> struct cell<bool> {
    typedef uint8_t type;
};
template <class V> __device__ __forceinline__ work_of<V> load(typename cell<V>::type c)
{
    return get(c);
}
template <> __device__ __forceinline__ bool load<bool>(uint8_t c)
{
    return c != 0;
}
template <class O> struct to {
    template <class V> static __device__ __forceinline__ O from(V v)
    {
        return (O)v;
    }
};
template <> struct to<int32_t> {
    template <class V> static __device__ __forceinline__ int32_t from(V v)
    {
        return to_i32(v);
    }
};
template <> struct to<uint8_t> {
    template <class V> static __device__ __forceinline__ uint8_t from(V v)
    {
        return to_bool(v);
    }
};

template <> struct to<bf16> {
    template <class V> static __device__ __forceinline__ bf16 from(V v)
    {
        return store<bf16>::from((float)v);
    }
};

template <class C> struct alignas(4 * sizeof(C)) four {
    C at[4];
};
template <class V>
__device__ __forceinline__ void load4(const char *base, int64_t at, bool repeated, work_of<V> (&out)[4])
{
    typedef typename cell<V>::type C;
    const C *p = (const C *)base + at;
    if (repeated) {
        out[0] = out[1] = out[2] = out[3] = load<V>(*p);
        return;
    }
    four<C> c = *(const four<C> *)p;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out[i] = load<V>(c.at[i]);
    }
}

/* K: number of inputs. X, Y, Z: types of the inputs, of which the formula sees work_of; O: the cell of the
 * output. */
template <class F, int K, class X, class Y, class Z, class O, class I>
__device__ __forceinline__ void vector_at(char *arena, const struct elem_params &p, I i)
{
    int64_t at[4];
    int last = p.walk.rank - 1;
    walk_at<4, I>(p.walk, i, at);
    work_of<X> x[4];
    work_of<Y> y[4] = {};
    work_of<Z> z[4] = {};
    load4<X>(arena + p.at[0], at[0], p.walk.stride[0][last] == 0, x);
    if (K > 1) {
        load4<Y>(arena + p.at[1], at[1], p.walk.stride[1][last] == 0, y);
    }
    if (K > 2) {
        load4<Z>(arena + p.at[2], at[2], p.walk.stride[2][last] == 0, z);
    }
    four<O> r;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        r.at[j] = to<O>::from(F::call(x[j], y[j], z[j]));
    }
    *(four<O> *)((O *)(arena + p.at[3]) + at[3]) = r;
}
template <class F, int K, class X, class Y, class Z, class O, class I>
__device__ __forceinline__ void plain_at(char *arena, const struct elem_params &p, I i)
{
    int64_t at[4];
    walk_at<4, I>(p.walk, i, at);
    work_of<X> x = load<X>(((const typename cell<X>::type *)(arena + p.at[0]))[at[0]]);
    work_of<Y> y = K > 1 ? load<Y>(((const typename cell<Y>::type *)(arena + p.at[1]))[at[1]]) : work_of<Y>();
    work_of<Z> z = K > 2 ? load<Z>(((const typename cell<Z>::type *)(arena + p.at[2]))[at[2]]) : work_of<Z>();
    ((O *)(arena + p.at[3]))[at[3]] = to<O>::from(F::call(x, y, z));
}
template <class F, int K, class X, class Y, class Z, class O, bool VECTOR, class I>
__device__ __forceinline__ void elem_loop(char *arena, const struct elem_params &p)
{
    for (int64_t i = thread_index(); i < p.walk.n; i += thread_count()) {
        if (VECTOR) {
            vector_at<F, K, X, Y, Z, O, I>(arena, p, (I)i);
        } else {
            plain_at<F, K, X, Y, Z, O, I>(arena, p, (I)i);
        }
    }
}
template <class F, int K, class X, class Y, class Z, class O, bool VECTOR>
__global__ void elem_kernel(char *arena, const __grid_constant__ struct elem_params p)
{
    wait_for_previous();
    if (p.walk.n <= 0xffffffffll) {
        elem_loop<F, K, X, Y, Z, O, VECTOR, uint32_t>(arena, p);
    } else {
        elem_loop<F, K, X, Y, Z, O, VECTOR, uint64_t>(arena, p);
    }
}

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    struct fn_##name {                                                                                       \
        template <class X, class Y, class Z> static __device__ __forceinline__ auto call(X x, Y y, Z z)      \
        {                                                                                                    \
            typedef X T;                                                                                     \
            (void)sizeof(T);                                                                                 \
            (void)y;                                                                                         \
            (void)z;                                                                                         \
            return fwd;                                                                                      \
        }                                                                                                    \
    };
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM

template <class F, int K, class X, class Y, class Z, class O> static const void *pick(int vector)
{
    return vector ? (const void *)elem_kernel<F, K, X, Y, Z, O, true>
                  : (const void *)elem_kernel<F, K, X, Y, Z, O, false>;
}
/* Which types the rows of a signature have. */
enum { FLOATS = 1, WHOLE = 2, BOOLS = 4 };
template <class V> constexpr int kind_of = FLOATS;
template <> constexpr int kind_of<int32_t> = WHOLE;
template <> constexpr int kind_of<bool> = BOOLS;
constexpr int types_FLOAT = FLOATS, types_CLASSIFY = FLOATS, types_NUMBER = FLOATS | WHOLE,
              types_COMPARE = FLOATS | WHOLE, types_LOGIC = BOOLS, types_EQUAL = FLOATS | WHOLE | BOOLS,
              types_CHOOSE = FLOATS | WHOLE | BOOLS, types_CAST = FLOATS | WHOLE | BOOLS,
              types_BITS = FLOATS | WHOLE;
/* One finder per signature, for the values' type V. */
template <class F, int K, class V> static const void *find_NUMBER(int, int v)
{
    return pick<F, K, V, V, V, typename cell<V>::type>(v);
}
template <class F, int K, class V> static const void *find_FLOAT(int o, int v)
{
    return find_NUMBER<F, K, V>(o, v);
}
template <class F, int K, class V> static const void *find_EQUAL(int, int v)
{
    return pick<F, K, V, V, V, uint8_t>(v);
}
template <class F, int K, class V> static const void *find_COMPARE(int o, int v)
{
    return find_EQUAL<F, K, V>(o, v);
}
template <class F, int K, class V> static const void *find_LOGIC(int o, int v)
{
    return find_EQUAL<F, K, V>(o, v);
}
template <class F, int K, class V> static const void *find_CLASSIFY(int o, int v)
{
    return find_EQUAL<F, K, V>(o, v);
}
template <class F, int K, class V> static const void *find_CHOOSE(int, int v)
{
    return pick<F, K, bool, V, V, typename cell<V>::type>(v);
}
template <class F, int K, class V> static const void *find_CAST(int o, int v)
{
    return o == DT_F32    ? pick<F, K, V, V, V, float>(v)
           : o == DT_F64  ? pick<F, K, V, V, V, double>(v)
           : o == DT_BF16 ? pick<F, K, V, V, V, bf16>(v)
           : o == DT_I32  ? pick<F, K, V, V, V, int32_t>(v)
           : o == DT_BOOL ? pick<F, K, V, V, V, uint8_t>(v)
                          : nullptr;
}
template <class F, int K, class V> static const void *find_BITS(int o, int v)
{
    if constexpr (kind_of<V> == WHOLE) {
        return o == DT_F32    ? pick<F, K, V, V, V, float>(v)
               : o == DT_F64  ? pick<F, K, V, V, V, double>(v)
               : o == DT_BF16 ? pick<F, K, V, V, V, bf16>(v)
                              : nullptr;
    } else {
        return o == DT_I32 ? pick<F, K, V, V, V, int32_t>(v) : nullptr;
    }
}
/* The kernel of a row over V, or nullptr. */
template <class V> static const void *elem_function(int op, int out, int vector)
{
    switch (op) {
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    case OP_##name:                                                                                          \
        if constexpr ((types_##sig & kind_of<V>) != 0) {                                                     \
            return find_##sig<fn_##name, n, V>(out, vector);                                                 \
        }                                                                                                    \
        return nullptr;
#include "kernels/ops.def"
#undef ELEM
    default:
        return nullptr;
    }
}

#endif
