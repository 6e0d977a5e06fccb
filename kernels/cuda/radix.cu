/* A pass of a stable radix sort of places: count the digits of each tile, add the counts up, move the places.
 * Keys are read again through the places, so nothing but an i32 for each is kept. The order of equal keys is
 * that of the places before the pass, whatever the blocks: no float is added, and no atomic decides about an
 * order. */
#include "kernels/cuda/order.cuh"

enum { THREADS = 256, WARP_PLACES = RADIX_TILE / (THREADS / 32), ROUNDS = WARP_PLACES / 32 };

/* Place i of the segment in the order before this pass. */
__device__ __forceinline__ int32_t place_before(const char *arena, const struct radix_params &p,
                                                int64_t segment, int64_t i)
{
    return p.first ? (int32_t)i : ((const int32_t *)(arena + p.from))[segment * p.n + i];
}
template <class S>
__device__ __forceinline__ int digit_of(const char *arena, const struct radix_params &p, int64_t segment,
                                        int32_t place)
{
    typename order_key<S>::type key =
        order_key<S>::of(((const S *)(arena + p.keys))[segment * p.n + place], p.descending != 0);
    return (int)(key >> p.shift & (RADIX_DIGITS - 1));
}
/* Keys that are rows of a table. */
struct by_place {
};
template <>
__device__ __forceinline__ int digit_of<by_place>(const char *arena, const struct radix_params &p, int64_t,
                                                  int32_t place)
{
    uint32_t key = place_row(arena + p.keys, place, p.length, p.many, p.n);
    return (int)(key >> p.shift & (RADIX_DIGITS - 1));
}

template <class S> __global__ void radix_count(char *arena, const __grid_constant__ struct radix_params p)
{
    wait_for_previous();
    __shared__ uint32_t count[RADIX_DIGITS];
    for (int64_t segment = blockIdx.y; segment < p.segments; segment += gridDim.y) {
        count[threadIdx.x] = 0;
        __syncthreads();
        int64_t from = (int64_t)blockIdx.x * RADIX_TILE,
                to = from + RADIX_TILE < p.n ? from + RADIX_TILE : p.n;
        for (int64_t i = from + threadIdx.x; i < to; i += THREADS) {
            atomicAdd(&count[digit_of<S>(arena, p, segment, place_before(arena, p, segment, i))], 1u);
        }
        __syncthreads();
        uint32_t *counts = (uint32_t *)(arena + p.counts) + segment * RADIX_DIGITS * p.blocks;
        counts[threadIdx.x * p.blocks + blockIdx.x] = count[threadIdx.x];
        __syncthreads();
    }
}

/* The number of places before each count, for all digits of all tiles in the order (digit, tile). One block.
 */
__global__ void radix_scan(char *arena, const __grid_constant__ struct radix_params p)
{
    wait_for_previous();
    __shared__ uint32_t sum[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int64_t segment = blockIdx.x; segment < p.segments; segment += gridDim.x) {
        int64_t n = RADIX_DIGITS * p.blocks;
        uint32_t *counts = (uint32_t *)(arena + p.counts) + segment * n, carried = 0;
        for (int64_t base = 0; base < n; base += blockDim.x) {
            int64_t i = base + threadIdx.x;
            uint32_t mine = i < n ? counts[i] : 0, a = mine;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                uint32_t left = __shfl_up_sync(0xffffffffu, a, d);
                a += lane >= d ? left : 0;
            }
            if (lane == 31) {
                sum[warp] = a;
            }
            __syncthreads();
            uint32_t before = carried, all = 0;
            for (int w = 0; w < warps; w++) {
                before += w < warp ? sum[w] : 0;
                all += sum[w];
            }
            if (i < n) {
                counts[i] = before + a - mine;
            }
            carried += all;
            __syncthreads(); /* sum is read by all before it is written again */
        }
    }
}

/* A warp owns neighbouring places of the tile, 32 at a time and in order: lanes with one digit stand behind
 * each other by lane, warps by number, tiles by the counts of the scan. */
template <class S> __global__ void radix_scatter(char *arena, const __grid_constant__ struct radix_params p)
{
    wait_for_previous();
    __shared__ uint32_t next[THREADS / 32][RADIX_DIGITS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int64_t segment = blockIdx.y; segment < p.segments; segment += gridDim.y) {
        int64_t first = (int64_t)blockIdx.x * RADIX_TILE + warp * WARP_PLACES;
        int32_t place[ROUNDS];
        int digit[ROUNDS];
        for (int w = 0; w < THREADS / 32; w++) {
            next[w][threadIdx.x] = 0;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            int64_t i = first + 32 * r + lane;
            bool used = i < p.n;
            place[r] = used ? place_before(arena, p, segment, i) : 0;
            digit[r] = used ? digit_of<S>(arena, p, segment, place[r]) : RADIX_DIGITS;
            unsigned same = __match_any_sync(0xffffffffu, digit[r]);
            if (used && lane == __ffs(same) - 1) {
                next[warp][digit[r]] += __popc(same);
            }
            __syncwarp();
        }
        __syncthreads();
        const uint32_t *counts = (const uint32_t *)(arena + p.counts) + segment * RADIX_DIGITS * p.blocks;
        uint32_t at = counts[threadIdx.x * p.blocks + blockIdx.x];
        for (int w = 0; w < THREADS / 32; w++) {
            uint32_t n = next[w][threadIdx.x];
            next[w][threadIdx.x] = at;
            at += n;
        }
        __syncthreads();
        int32_t *to = (int32_t *)(arena + p.to) + segment * p.n;
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            bool used = digit[r] < RADIX_DIGITS;
            unsigned same = __match_any_sync(0xffffffffu, digit[r]);
            uint32_t start = used ? next[warp][digit[r]] : 0;
            __syncwarp();
            if (used) {
                to[start + __popc(same & ((1u << lane) - 1))] = place[r];
            }
            if (used && lane == __ffs(same) - 1) {
                next[warp][digit[r]] = start + __popc(same);
            }
            __syncwarp();
        }
        __syncthreads(); /* next is cleared for the next segment */
    }
}

template <class S> static const void *step_of(enum radix_step step)
{
    return step == RADIX_COUNT  ? (const void *)radix_count<S>
           : step == RADIX_SCAN ? (const void *)radix_scan
                                : (const void *)radix_scatter<S>;
}

extern "C" const void *cuda_radix_function(int dtype, enum radix_step step)
{
    return dtype == DT_F32    ? step_of<float>(step)
           : dtype == DT_F64  ? step_of<double>(step)
           : dtype == DT_BF16 ? step_of<bf16>(step)
           : dtype == DT_I32  ? step_of<int32_t>(step)
           : dtype == DT_NONE ? step_of<by_place>(step)
                              : nullptr;
}
