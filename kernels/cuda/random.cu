/* Draws and row numbers, bit-identical with the CPU: Philox and portable_math.h only, built without fused
 * multiply-add. A thread makes the four lanes of one Philox block. */
#include "kernels/cuda/device.cuh"
#include "kernels/rows.h"
#include "runtime/base/philox.h"
#include "runtime/plan/control.h"

__device__ __forceinline__ const struct control *control_of(const char *arena, const struct random_params &p)
{
    return (const struct control *)(arena + p.control);
}

/* A uniform draw of bf16 is cut, not rounded, so that 1 stays out of reach. */
__device__ __forceinline__ float cut_to(float x, float)
{
    return x;
}
__device__ __forceinline__ double cut_to(float x, double)
{
    return (double)x;
}
__device__ __forceinline__ bf16 cut_to(float x, bf16)
{
    return bf16_cut(x);
}
/* An operand is the parameter of a distribution: `given`. */
template <class S> struct draw_uniform {
    typedef S out;
    typedef float given;
    static __device__ __forceinline__ S value(uint32_t bits, float)
    {
        return cut_to(uniform_u24(bits), S());
    }
};
template <class S> struct draw_normal {
    typedef S out;
    typedef float given;
    static __device__ __forceinline__ S value(uint32_t bits, float)
    {
        return store<S>::from(normal_u24(bits));
    }
};
template <class S> struct draw_bernoulli {
    typedef uint8_t out;
    typedef S given;
    static __device__ __forceinline__ uint8_t value(uint32_t bits, S p)
    {
        return (double)uniform_u24(bits) < (double)get(p);
    }
};
struct draw_int {
    typedef int32_t out, given;
    static __device__ __forceinline__ int32_t value(uint32_t bits, int32_t n)
    {
        return n > 0 ? (int32_t)((uint64_t)bits * (uint32_t)n >> 32) : -1;
    }
};

/* With replicas every one has the draws of a run of its own. */
__device__ __forceinline__ uint64_t key_of(const struct control *c, const struct random_params &p, int64_t r)
{
    return (p.replicas ? mix64(c->seed + (uint64_t)r) : c->key) ^ p.op_id;
}

template <class D, bool HAS_P>
__global__ void draw_kernel(char *arena, const __grid_constant__ struct random_params p)
{
    wait_for_previous();
    const struct control *c = control_of(arena, p);
    uint64_t step = (uint64_t)c->phase[p.phase].step;
    uint32_t iteration = p.iterates ? *(const uint32_t *)(arena + p.iteration) : 0;
    int64_t blocks = (p.each + 3) / 4, all = p.replicas ? blocks * p.replicas : blocks;
    for (int64_t i = thread_index(); i < all; i += thread_count()) {
        int64_t r = p.replicas ? i / blocks : 0, b = i - r * blocks;
        typename D::given given =
            HAS_P ? ((const typename D::given *)(arena + p.p))[p.own_p ? r : 0] : typename D::given();
        typename D::out *out = (typename D::out *)(arena + p.out) + r * p.each;
        struct philox x = draw_block(key_of(c, p, r), (uint32_t)b, iteration, step);
#pragma unroll
        for (int lane = 0; lane < 4; lane++) {
            if (4 * b + lane < p.each) {
                out[4 * b + lane] = D::value(x.x[lane], given);
            }
        }
    }
}

__global__ void shuffle_kernel(char *arena, const __grid_constant__ struct random_params p)
{
    wait_for_previous();
    const struct control *c = control_of(arena, p);
    for (int64_t i = thread_index(); i < p.walk.n; i += thread_count()) {
        int64_t at[2];
        walk_any<2>(p.walk, i, at);
        int32_t from = ((const int32_t *)(arena + p.index))[at[0]];
        int32_t to = -1;
        int64_t r = p.replicas ? i / p.each : 0,
                epoch = ((const int32_t *)(arena + p.epoch))[p.own_p ? r : 0];
        if (from >= 0 && from < p.bound) {
            to = (int32_t)permute_index((uint32_t)from, (uint32_t)p.bound, key_of(c, p, r), (uint64_t)epoch);
        }
        ((int32_t *)(arena + p.out))[at[1]] = to;
    }
}

/* The rounds of a permutation of up to 4^TABLE_HALF places as a table in shared memory: a walk is a chain of
 * steps, and reading one is shorter than making it. */
enum { TABLE_HALF = 8, TABLE_ROUNDS = 8, TABLE_LEAST = 4 };

struct round_table {
    uint8_t at[TABLE_ROUNDS << TABLE_HALF];
};

__device__ __forceinline__ bool table_fits(const struct permutation &p)
{
    return p.half <= TABLE_HALF && p.half > TABLE_LEAST; /* below, there are more rounds and few places */
}
__device__ __forceinline__ void table_fill(struct round_table &t, const struct permutation &p)
{
    for (uint32_t i = threadIdx.x; i < TABLE_ROUNDS << p.half; i += blockDim.x) {
        t.at[i] = (uint8_t)permutation_round(&p, i >> p.half, i & ((1u << p.half) - 1));
    }
    __syncthreads();
}
__device__ __forceinline__ uint32_t table_walk(const struct round_table &t, const struct permutation &p,
                                               uint32_t i)
{
    do {
        uint32_t left = i >> p.half, right = i & ((1u << p.half) - 1);
#pragma unroll
        for (uint32_t round = 0; round < TABLE_ROUNDS; round++) {
            uint32_t next = left ^ t.at[(round << p.half) + right];
            left = right;
            right = next;
        }
        i = left << p.half | right;
    } while (i >= p.n);
    return permutation_end(&p, i);
}

/* All blocks take the same way: replicas have permutations of their own, and no table. */
__global__ void rows_kernel(char *arena, const __grid_constant__ struct random_params p)
{
    wait_for_previous();
    __shared__ struct round_table table;
    const struct control *c = control_of(arena, p);
    const struct phase_control *ph = &c->phase[p.phase];
    struct permutation one = {};
    bool tabled = false;
    if (p.order == ROWS_SHUFFLED && !p.replicas) {
        one = permutation_make((uint32_t)ph->rows, key_of(c, p, 0), (uint64_t)ph->epoch);
        tabled = table_fits(one);
    }
    if (tabled) {
        table_fill(table, one);
    }
    for (int64_t i = thread_index(); i < p.n; i += thread_count()) {
        int64_t r = p.replicas ? i / p.each : 0, own = i - r * p.each, row = -1;
        int64_t at = p.order == ROWS_LANES ? lane_row(ph->cursor, ph->rows, p.each, own) : ph->cursor + own;
        /* rows past the end of the split read nothing */
        if (at < ph->rows) {
            row = tabled ? table_walk(table, one, (uint32_t)at)
                  : p.order == ROWS_SHUFFLED
                      ? permute_index((uint32_t)at, (uint32_t)ph->rows, key_of(c, p, r), (uint64_t)ph->epoch)
                      : at;
            row += ph->row0;
        }
        ((int32_t *)(arena + p.out))[i] = (int32_t)row;
    }
}

template <class S> static const void *draw_function(int op)
{
    switch (op) {
    case OP_uniform:
        return (const void *)draw_kernel<draw_uniform<S>, false>;
    case OP_normal:
        return (const void *)draw_kernel<draw_normal<S>, false>;
    case OP_bernoulli:
        return (const void *)draw_kernel<draw_bernoulli<S>, true>;
    default:
        return nullptr;
    }
}

extern "C" const void *cuda_random_function(int op, int dtype)
{
    switch (op) {
    case OP_randint:
        return (const void *)draw_kernel<draw_int, true>;
    case OP_shuffle:
        return (const void *)shuffle_kernel;
    case OP_rows:
        return (const void *)rows_kernel;
    default:
        return dtype == DT_F32    ? draw_function<float>(op)
               : dtype == DT_F64  ? draw_function<double>(op)
               : dtype == DT_BF16 ? draw_function<bf16>(op)
                                  : nullptr;
    }
}
