/* gather, put_add, put, put_max, take, spread, pad, pack, ranges, iota. Bad indices are reported through the
 * failure word and never touch memory. */
#include "kernels/cuda/order.cuh"
#include "kernels/fault.h"

/* One thread per element of the result, the row's elements as neighbours. */
template <class C> __global__ void gather_kernel(char *arena, const __grid_constant__ struct index_params p)
{
    wait_for_previous();
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
template <class F, class S>
__device__ __forceinline__ void put_row(char *arena, const struct index_params &p, int64_t row,
                                        int64_t column, bool reports)
{
    int lane = threadIdx.x % 32;
    bool used = column < p.width.n;
    int64_t in[3] = {0, 0, 0};
    work_of<S> a = 0;
    if (used) {
        walk_any<3>(p.width, column, in);
        a = get(((const S *)(arena + p.table))[row * p.table_stride + in[0]]);
    }
    for (int64_t base = 0; base < p.places.n; base += 32) {
        int32_t mine = base + lane < p.places.n ? index_at(arena, p, base + lane) : -1;
        if (reports && (mine < -1 || mine >= p.rows)) {
            fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, mine, p.rows);
        }
        for (unsigned hits = __ballot_sync(0xffffffffu, mine == row); hits; hits &= hits - 1) {
            int64_t from = value_at(p, base + __ffs(hits) - 1);
            if (used) {
                a = F::meet(a, get(((const S *)(arena + p.values))[from + in[1]]));
            }
        }
    }
    if (used) {
        ((S *)(arena + p.out))[row * p.out_stride + in[2]] = store<S>::from(a);
    }
}
template <class F, class S>
__global__ void put_kernel(char *arena, const __grid_constant__ struct index_params p)
{
    wait_for_previous();
    int64_t tiles = (p.width.n + 31) / 32;
    for (int64_t w = thread_index() / 32; w < p.rows * tiles; w += thread_count() / 32) {
        put_row<F, S>(arena, p, w / tiles, w % tiles * 32 + threadIdx.x % 32, w == 0);
    }
}

template <class C> __global__ void take_kernel(char *arena, const __grid_constant__ struct take_params p)
{
    wait_for_previous();
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
template <class S> __global__ void spread_kernel(char *arena, const __grid_constant__ struct take_params p)
{
    wait_for_previous();
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        int64_t row = e / p.row_table, place = e - row * p.row_table;
        const int32_t *index = (const int32_t *)(arena + p.index) + row * p.row_values;
        const S *value = (const S *)(arena + p.values) + row * p.row_values;
        work_of<S> a = 0;
        for (int64_t m = 0; m < p.row_values; m++) {
            int64_t i = index[m];
            if (i == place) {
                a += get(value[m]);
            } else if (place == 0 && (i < -1 || i >= p.row_table)) {
                fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, i, p.row_table);
            }
        }
        ((S *)(arena + p.table))[e] = store<S>::from(a);
    }
}

/* -- the same for many rows and indices: the places are sorted by the row that they name (radix.cu), so that
 * each row has its own adjacent and in ascending order; what no place names is empty. */

__global__ void clear_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    for (int64_t row = thread_index(); row < p.rows; row += thread_count()) {
        ((int32_t *)(arena + p.begin))[row] = p.end ? 0 : -1;
        if (p.end) {
            ((int32_t *)(arena + p.end))[row] = 0;
        }
    }
}
__device__ __forceinline__ void report_place(char *arena, const struct place_params &p, int64_t e)
{
    int32_t i = ((const int32_t *)(arena + p.index))[e];
    if (i < -1 || i >= p.length) {
        fault_raise((struct control *)(arena + p.control), FAULT_INDEX, p.node, i, p.length);
    }
}
__global__ void bounds_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    const int32_t *order = (const int32_t *)(arena + p.order);
    for (int64_t j = thread_index(); j < p.n; j += thread_count()) {
        uint32_t row = place_row(arena + p.index, order[j], p.length, p.many, p.n);
        report_place(arena, p, order[j]);
        if (row >= p.rows) {
            continue;
        }
        if (j == 0 || place_row(arena + p.index, order[j - 1], p.length, p.many, p.n) != row) {
            ((int32_t *)(arena + p.begin))[row] = (int32_t)j;
        }
        if (j == p.n - 1 || place_row(arena + p.index, order[j + 1], p.length, p.many, p.n) != row) {
            ((int32_t *)(arena + p.end))[row] = (int32_t)j + 1;
        }
    }
}
/* put needs no order: the last place of a row is the largest. */
__global__ void last_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    for (int64_t e = thread_index(); e < p.n; e += thread_count()) {
        uint32_t row = place_row(arena + p.index, e, p.length, p.many, p.n);
        report_place(arena, p, e);
        if (row < p.rows) {
            atomicMax((int32_t *)(arena + p.begin) + row, (int32_t)e);
        }
    }
}
/* A thread for an element of the result. Without a table it starts from 0. */
template <class F, class S>
__global__ void apply_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    const int32_t *begin = (const int32_t *)(arena + p.begin), *end = (const int32_t *)(arena + p.end),
                  *order = (const int32_t *)(arena + p.order);
    const S *values = (const S *)(arena + p.values);
    int64_t n = p.rows * p.width;
    for (int64_t e = thread_index(); e < n; e += thread_count()) {
        int64_t row = e / p.width, column = e - row * p.width;
        work_of<S> a = p.table ? get(((const S *)(arena + p.table))[e]) : work_of<S>(0);
        int32_t to = end[row];
#pragma unroll 4
        for (int32_t j = begin[row]; j < to; j++) {
            a = F::meet(a, get(values[order[j] * p.width + column]));
        }
        ((S *)(arena + p.out))[e] = store<S>::from(a);
    }
}
template <class C> __global__ void write_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    int64_t n = p.rows * p.width;
    for (int64_t e = thread_index(); e < n; e += thread_count()) {
        int64_t row = e / p.width, last = ((const int32_t *)(arena + p.begin))[row];
        ((C *)(arena + p.out))[e] =
            last < 0 ? ((const C *)(arena + p.table))[e]
                     : ((const C *)(arena + p.values))[last * p.width + (e - row * p.width)];
    }
}

/* The table is the result: only the rows that the places name are touched. A place that a later one names too
 * leaves it to that. */
template <class C> __global__ void here_kernel(char *arena, const __grid_constant__ struct place_params p)
{
    wait_for_previous();
    const int32_t *index = (const int32_t *)(arena + p.index);
    int64_t n = p.n * p.width;
    for (int64_t w = thread_index(); w < n; w += thread_count()) {
        int64_t e = w / p.width, column = w - e * p.width, row = index[e];
        bool last = row >= 0 && row < p.rows;
        if (column == 0) {
            report_place(arena, p, e);
        }
        for (int64_t k = e + 1; last && k < p.n; k++) {
            last = index[k] != row;
        }
        if (last) {
            ((C *)(arena + p.out))[row * p.width + column] = ((const C *)(arena + p.values))[w];
        }
    }
}

template <class C> __global__ void pad_kernel(char *arena, const __grid_constant__ struct pad_params p)
{
    wait_for_previous();
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

template <class C> __global__ void pack_kernel(char *arena, const __grid_constant__ struct pack_params p)
{
    wait_for_previous();
    const struct pack_entry &e = p.entry[blockIdx.y];
    const C *from = (const C *)(arena + e.from);
    C *to = (C *)(arena + e.to);
    for (int64_t i = thread_index(); i < e.total * p.many; i += thread_count()) {
        int64_t r = p.many > 1 ? i / e.total : 0, at = i - r * e.total;
        to[r * p.step + at] = at < e.copy ? from[r * e.copy + at] : C(0);
    }
}

/* The last range that starts at or before an element, by bisection. */
template <class S> __global__ void ranges_kernel(char *arena, const __grid_constant__ struct ranges_params p)
{
    wait_for_previous();
    const double *table = (const double *)(arena + p.table);
    S *out = (S *)(arena + p.out);
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
        double x = lo > 0 && (double)i < row[0] + row[1] ? row[2] : p.otherwise;
        out[i] = store<S>::from((work_of<S>)x);
    }
}

__global__ void iota_kernel(char *arena, const __grid_constant__ struct fill_params p)
{
    wait_for_previous();
    for (int64_t i = thread_index(); i < p.out.n; i += thread_count()) {
        ((int32_t *)(arena + p.to))[walk_one(p.out, i)] = (int32_t)i;
    }
}

/* The kernels that only move bytes. */
template <class C> static const void *move_function(int op)
{
    switch (op) {
    case OP_gather:
        return (const void *)gather_kernel<C>;
    case OP_put:
        return (const void *)put_kernel<put_last, C>;
    case OP_take:
        return (const void *)take_kernel<C>;
    case OP_pad:
        return (const void *)pad_kernel<C>;
    case OP_pack:
        return (const void *)pack_kernel<C>;
    default:
        return nullptr;
    }
}
template <class S> static const void *number_function(int op)
{
    switch (op) {
    case OP_put_add:
        return (const void *)put_kernel<put_sum, S>;
    case OP_put_max:
        return (const void *)put_kernel<put_largest, S>;
    case OP_spread:
        return (const void *)spread_kernel<S>;
    case OP_ranges:
        return (const void *)ranges_kernel<S>;
    default:
        return nullptr;
    }
}
template <class S> static const void *apply_function(int op)
{
    return op == OP_put_max ? (const void *)apply_kernel<put_largest, S>
                            : (const void *)apply_kernel<put_sum, S>;
}
static bool moves(int op)
{
    return op == OP_gather || op == OP_put || op == OP_take || op == OP_pad || op == OP_pack;
}

extern "C" const void *cuda_index_function(int op, int type)
{
    if (op == OP_iota) {
        return type == DT_I32 ? (const void *)iota_kernel : nullptr;
    }
    if (moves(op)) {
        return type == 1   ? move_function<uint8_t>(op)
               : type == 2 ? move_function<uint16_t>(op)
               : type == 4 ? move_function<uint32_t>(op)
               : type == 8 ? move_function<uint64_t>(op)
                           : nullptr;
    }
    return type == DT_F32                      ? number_function<float>(op)
           : type == DT_F64                    ? number_function<double>(op)
           : type == DT_BF16                   ? number_function<bf16>(op)
           : type == DT_I32 && op != OP_ranges ? number_function<int32_t>(op)
                                               : nullptr;
}

extern "C" const void *cuda_place_function(int op, int type, enum place_step step)
{
    if (step == PLACE_HERE) {
        return type == 1   ? (const void *)here_kernel<uint8_t>
               : type == 2 ? (const void *)here_kernel<uint16_t>
               : type == 4 ? (const void *)here_kernel<uint32_t>
               : type == 8 ? (const void *)here_kernel<uint64_t>
                           : nullptr;
    }
    if (step != PLACE_APPLY) {
        return step == PLACE_CLEAR    ? (const void *)clear_kernel
               : step == PLACE_BOUNDS ? (const void *)bounds_kernel
                                      : (const void *)last_kernel;
    }
    if (op == OP_put) {
        return type == 1   ? (const void *)write_kernel<uint8_t>
               : type == 2 ? (const void *)write_kernel<uint16_t>
               : type == 4 ? (const void *)write_kernel<uint32_t>
               : type == 8 ? (const void *)write_kernel<uint64_t>
                           : nullptr;
    }
    return type == DT_F32    ? apply_function<float>(op)
           : type == DT_F64  ? apply_function<double>(op)
           : type == DT_BF16 ? apply_function<bf16>(op)
           : type == DT_I32  ? apply_function<int32_t>(op)
                             : nullptr;
}
