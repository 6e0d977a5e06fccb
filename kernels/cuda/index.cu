/* gather, put_add, put, put_max, take, spread, pad, pack, ranges, iota. Bad indices are reported through the
 * failure word and never touch memory. */
#include "kernels/cuda/device.cuh"
#include "kernels/fault.h"

/* One thread per element of the result, the row's elements as neighbours. */
template <class C> __global__ void gather_kernel(char *arena, const __grid_constant__ struct index_params p)
{
    int64_t n = p.places.n * p.width.n;
    for (int64_t i = thread_index(); i < n; i += thread_count()) {
        int64_t k, w, at[2], in[2];
        if (n <= 0xffffffffll) {
            k = (uint32_t)i / (uint32_t)p.width.n;
        } else {
            k = i / p.width.n;
        }
        w = i - k * p.width.n;
        walk_any<2>(p.places, k, at);
        walk_any<2>(p.width, w, in);
        int64_t row = ((const int32_t *)(arena + p.index))[at[0]];
        C value = 0;
        if (row >= 0 && row < p.rows) {
            value = ((const C *)(arena + p.table))[row * p.table_stride + in[0]];
        } else if (row != -1 && w == 0) {
            fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, row, p.rows);
        }
        ((C *)(arena + p.values))[at[1] + in[1]] = value;
    }
}

__device__ __forceinline__ int32_t index_at(const char *arena, const struct index_params &p, int64_t i)
{
    int64_t at[2];
    walk_any<2>(p.places, i, at);
    return ((const int32_t *)(arena + p.index))[at[0]];
}
__device__ __forceinline__ int64_t value_at(const struct index_params &p, int64_t i)
{
    int64_t at[2];
    walk_any<2>(p.places, i, at);
    return at[1];
}

/* What becomes of a row of the table when a row of values meets it. */
struct put_sum {
    template <class N> static __device__ __forceinline__ N meet(N old, N v)
    {
        return old + v;
    }
};
struct put_last {
    template <class N> static __device__ __forceinline__ N meet(N, N v)
    {
        return v;
    }
};
struct put_largest {
    template <class N> static __device__ __forceinline__ N meet(N old, N v)
    {
        return max2(old, v);
    }
};

/* A warp owns 32 columns of one row: it looks at 32 indices at a time and takes the matching rows in
 * ascending order. */
template <class F, class N>
__device__ __forceinline__ void put_row(char *arena, const struct index_params &p, int64_t row,
                                        int64_t column, bool reports)
{
    int lane = threadIdx.x % 32;
    bool used = column < p.width.n;
    int64_t in[3] = {0, 0, 0};
    N a = 0;
    if (used) {
        walk_any<3>(p.width, column, in);
        a = ((const N *)(arena + p.table))[row * p.table_stride + in[0]];
    }
    for (int64_t base = 0; base < p.places.n; base += 32) {
        int32_t mine = base + lane < p.places.n ? index_at(arena, p, base + lane) : -1;
        if (reports && (mine < -1 || mine >= p.rows)) {
            fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, mine, p.rows);
        }
        for (unsigned hits = __ballot_sync(0xffffffffu, mine == row); hits; hits &= hits - 1) {
            int64_t from = value_at(p, base + __ffs(hits) - 1);
            if (used) {
                a = F::meet(a, ((const N *)(arena + p.values))[from + in[1]]);
            }
        }
    }
    if (used) {
        ((N *)(arena + p.out))[row * p.out_stride + in[2]] = a;
    }
}
template <class F, class N>
__global__ void put_kernel(char *arena, const __grid_constant__ struct index_params p)
{
    int64_t tiles = (p.width.n + 31) / 32;
    for (int64_t w = thread_index() / 32; w < p.rows * tiles; w += thread_count() / 32) {
        put_row<F, N>(arena, p, w / tiles, w % tiles * 32 + threadIdx.x % 32, w == 0);
    }
}

template <class C> __global__ void take_kernel(char *arena, const __grid_constant__ struct take_params p)
{
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        int64_t i = ((const int32_t *)(arena + p.index))[e];
        C value = 0;
        if (i >= 0 && i < p.row_table) {
            value = ((const C *)(arena + p.table))[e / p.row_values * p.row_table + i];
        } else if (i != -1) {
            fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, i, p.row_table);
        }
        ((C *)(arena + p.values))[e] = value;
    }
}

/* A thread for an element of the result, which looks at all indices of its row in order. */
template <class N> __global__ void spread_kernel(char *arena, const __grid_constant__ struct take_params p)
{
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        int64_t row = e / p.row_table, place = e - row * p.row_table;
        const int32_t *index = (const int32_t *)(arena + p.index) + row * p.row_values;
        const N *value = (const N *)(arena + p.values) + row * p.row_values;
        N a = 0;
        for (int64_t m = 0; m < p.row_values; m++) {
            int64_t i = index[m];
            if (i == place) {
                a += value[m];
            } else if (place == 0 && (i < -1 || i >= p.row_table)) {
                fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, i, p.row_table);
            }
        }
        ((N *)(arena + p.table))[e] = a;
    }
}

template <class C> __global__ void pad_kernel(char *arena, const __grid_constant__ struct pad_params p)
{
    for (int64_t i = thread_index(); i < p.out.n; i += thread_count()) {
        int64_t rest = i, to = 0, from = 0;
        bool inside = true;
        for (int a = p.out.rank - 1; a >= 0; a--) {
            int64_t q = rest / p.out.dim[a], c = rest - q * p.out.dim[a], d = c - p.start[a], s = p.step[a];
            d = s < 0 ? -d : d;
            s = s < 0 ? -s : s;
            int64_t j = s > 1 ? d / s : d;
            inside = inside && d >= 0 && j < p.in_dim[a] && j * (s > 1 ? s : 1) == d;
            to += c * p.out.stride[0][a];
            from += j * p.out.stride[1][a];
            rest = q;
        }
        ((C *)(arena + p.to))[to] = inside ? ((const C *)(arena + p.in))[from] : C(0);
    }
}

__global__ void pack_kernel(char *arena, const __grid_constant__ struct pack_params p)
{
    const struct pack_entry &e = p.entry[blockIdx.y];
    const uint32_t *from = (const uint32_t *)(arena + e.from);
    uint32_t *to = (uint32_t *)(arena + e.to);
    for (int64_t i = thread_index(); i < e.total; i += thread_count()) {
        to[i] = i < e.copy ? from[i] : 0;
    }
}

/* The last range that starts at or before an element, by bisection. */
__global__ void ranges_kernel(char *arena, const __grid_constant__ struct ranges_params p)
{
    const double *table = (const double *)(arena + p.table);
    float *out = (float *)(arena + p.out);
    for (int64_t i = thread_index(); i < p.n; i += thread_count()) {
        int64_t lo = 0, hi = p.ranges;
        while (lo < hi) {
            int64_t middle = (lo + hi) / 2;
            if (table[3 * middle] <= (double)i) {
                lo = middle + 1;
            } else {
                hi = middle;
            }
        }
        const double *row = table + 3 * (lo - 1);
        out[i] = lo > 0 && (double)i < row[0] + row[1] ? (float)row[2] : p.otherwise;
    }
}

__global__ void iota_kernel(char *arena, const __grid_constant__ struct fill_params p)
{
    for (int64_t i = thread_index(); i < p.out.n; i += thread_count()) {
        ((int32_t *)(arena + p.to))[walk_one(p.out, i)] = (int32_t)i;
    }
}

/* put_add, put_max, spread: bytes 4 is f32, -4 is i32. */
extern "C" const void *cuda_index_function(int op, int bytes)
{
    switch (op) {
    case OP_gather:
        return bytes == 4 ? (const void *)gather_kernel<uint32_t> : (const void *)gather_kernel<uint8_t>;
    case OP_put_add:
        return bytes == 4 ? (const void *)put_kernel<put_sum, float>
                          : (const void *)put_kernel<put_sum, int32_t>;
    case OP_put_max:
        return bytes == 4 ? (const void *)put_kernel<put_largest, float>
                          : (const void *)put_kernel<put_largest, int32_t>;
    case OP_put:
        return bytes == 4 ? (const void *)put_kernel<put_last, uint32_t>
                          : (const void *)put_kernel<put_last, uint8_t>;
    case OP_take:
        return bytes == 4 ? (const void *)take_kernel<uint32_t> : (const void *)take_kernel<uint8_t>;
    case OP_spread:
        return bytes == 4 ? (const void *)spread_kernel<float> : (const void *)spread_kernel<int32_t>;
    case OP_pad:
        return bytes == 4 ? (const void *)pad_kernel<uint32_t> : (const void *)pad_kernel<uint8_t>;
    case OP_pack:
        return (const void *)pack_kernel;
    case OP_ranges:
        return (const void *)ranges_kernel;
    case OP_iota:
        return (const void *)iota_kernel;
    default:
        return nullptr;
    }
}
