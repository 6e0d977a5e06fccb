/* What generated kernels stand on. NVRTC sees the text of kernels/vocab.h, then this, then the kernel.
 *
 * A bf16 is computed with as the f32 it stands for and lies in memory as its upper half. A row is shared by
 * LANES threads of a block, STEP threads apart: neighbours (STEP 1), or with the rows of the block between
 * them (columns of a matrix, STEP at most 32). All threads of a block take part in a fold.
 */
template <class C, int N> struct alignas(N * sizeof(C) < 16 ? N * sizeof(C) : 16) gml_vec {
    C at[N];
};
GML_INLINE float gml_wide(uint16_t x)
{
    return __uint_as_float((uint32_t)x << 16);
}
GML_INLINE uint16_t gml_half(float x)
{
    return (uint16_t)(__float_as_uint(x) >> 16);
}
GML_INLINE float gml_round(float x)
{
    uint16_t r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
    return gml_wide(r);
}

/* The value of each lane of a row folded into one, in a fixed tree; every lane gets it. `scratch` has room
 * for STEP values of each warp and was not in use since the last barrier. */
template <class F, int LANES, int STEP, class A> __device__ __forceinline__ A gml_fold(A a, A *scratch)
{
    if constexpr (LANES > 1) {
        constexpr int near = LANES * STEP < 32 ? LANES * STEP : 32, warps = LANES * STEP / 32;
#pragma unroll
        for (int d = near / 2; d >= STEP; d /= 2) {
            a = F::fold(a, __shfl_xor_sync(0xffffffffu, a, d));
        }
        if constexpr (warps > 1) {
            const int first = STEP > 1 ? 0 : (int)threadIdx.x / LANES * warps, warp = (int)threadIdx.x / 32;
            const int column = (int)threadIdx.x % STEP;
            if ((int)threadIdx.x % 32 < STEP) {
                scratch[warp * STEP + column] = a;
            }
            __syncthreads();
            a = scratch[first * STEP + column];
#pragma unroll
            for (int i = 1; i < warps; i++) {
                a = F::fold(a, scratch[(first + i) * STEP + column]);
            }
        }
    }
    return a;
}

/* Whether this is the last of n blocks to come here, which sees what the others wrote before. The counter is
 * 0 before and after. */
GML_INLINE bool gml_last(uint32_t *counter, uint32_t n)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1u) == n - 1;
        if (last) {
            *counter = 0;
        }
    }
    __syncthreads();
    __threadfence();
    return last;
}

/* The third number of the row of a table f64[n, 3] (first element, elements, value, ascending) to which
 * element i belongs. */
GML_INLINE double gml_range(const double *table, int n, int32_t i, double otherwise)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        const int middle = (lo + hi) / 2;
        if (table[3 * middle] <= (double)i) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    const double *const row = table + 3 * (lo - 1);
    return lo > 0 && (double)i < row[0] + row[1] ? row[2] : otherwise;
}

/* A count of the control block as an i32. */
GML_INLINE int32_t gml_count(int64_t n)
{
    return n > 2147483647ll ? 2147483647 : n < -2147483647ll - 1 ? -2147483647 - 1 : (int32_t)n;
}

/* The failure word, as in runtime/plan/control.h: the first writer wins. */
struct gml_failure {
    int32_t code;
    uint32_t node;
    int64_t a, b;
};
GML_INLINE void gml_fail(char *at, int32_t code, uint32_t node, int64_t a, int64_t b)
{
    gml_failure *const f = (gml_failure *)at;
    if (atomicCAS(&f->code, 0, code) == 0) {
        f->node = node;
        f->a = a;
        f->b = b;
    }
}
