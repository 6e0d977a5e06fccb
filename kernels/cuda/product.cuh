/* The f32 matrix product on tensor cores: D[m, n] = A[m, k] B[k, n].
 *
 * TERMS = 3: each factor is a TF32 number and what is left of it, x = hi + lo, and a product is hi hi + hi lo
 * + lo hi: 21 bits of each factor count. Sums of at most BK products are made by the tensor cores (which cut)
 * and added up in f32 (which rounds), so that the error stays near that of a plain f32 sum. TERMS = 1: hi hi
 * alone, factors rounded to TF32, all of a part of k added up by the tensor cores. An infinite factor may
 * make a NaN where IEEE arithmetic has an infinity.
 *
 * A block owns a tile of BM x BN results; its warps own WM x WN of it. Tiles of A and B come through STAGES
 * buffers of shared memory by asynchronous copies. With split > 1 the blocks of a cluster own parts of k and
 * add them up in a fixed order through each other's shared memory: few results with a long sum keep the
 * device busy without atomics and without a second launch. */
#ifndef GML_KERNELS_CUDA_PRODUCT_CUH
#define GML_KERNELS_CUDA_PRODUCT_CUH
#include "kernels/cuda/device.cuh"

__device__ __forceinline__ void product_mma(float *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* hi is rounded to 10 bits by half a unit (tensor cores ignore the 13 bits behind). With three terms a number
 * too large for that stays as it is, and so do infinities and NaN, which leave nothing for lo. */
template <int TERMS> __device__ __forceinline__ void product_terms(float x, uint32_t *hi, uint32_t *lo)
{
    if (TERMS == 1) {
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(*hi) : "f"(x));
        return;
    }
    uint32_t bits = __float_as_uint(x);
    bool small = fabsf(x) < 3e38f;
    *hi = small ? (bits + 0x1000u) & 0xffffe000u : bits;
    *lo = small ? __float_as_uint(x - __uint_as_float(*hi)) : 0u;
}

/* The tiles of one factor: OUTER x BK elements; ALONG_K: k is its contiguous axis. Copies of V elements. */
template <int OUTER, int BK, bool ALONG_K, int V, int THREADS> struct product_loader {
    static const int WIDTH = ALONG_K ? BK : OUTER, HEIGHT = ALONG_K ? OUTER : BK;
    static const int STRIDE = ALONG_K ? BK + 8 : OUTER + 4; /* no two threads of a fragment share a bank */
    static const int PER_ROW = WIDTH / V, COPIES = HEIGHT * PER_ROW, N = (COPIES + THREADS - 1) / THREADS;
    const float *at[N]; /* of the tile to come */
    int64_t step;

    static __device__ __forceinline__ int row(int i)
    {
        return (int)(threadIdx.x + i * THREADS) / PER_ROW;
    }
    static __device__ __forceinline__ int col(int i)
    {
        return (int)(threadIdx.x + i * THREADS) % PER_ROW * V;
    }
    static __device__ __forceinline__ bool exists(int i)
    {
        return COPIES % THREADS == 0 || (int)threadIdx.x + i * THREADS < COPIES;
    }
    static __device__ __forceinline__ void copy(uint32_t to, int i, const float *from, int bytes)
    {
        uint32_t place = to + (row(i) * STRIDE + col(i)) * 4;
        if (V == 4) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "r"(bytes));
        } else {
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(bytes));
        }
    }
    __device__ __forceinline__ void start(const float *x, int64_t ld, int outer0, int k0)
    {
        step = ALONG_K ? BK : BK * ld;
#pragma unroll
        for (int i = 0; i < N; i++) {
            int outer = outer0 + (ALONG_K ? row(i) : col(i)), k = k0 + (ALONG_K ? col(i) : row(i));
            at[i] = x + (ALONG_K ? outer * ld + k : k * ld + outer);
        }
    }
    /* A tile that lies in the factor. */
    __device__ __forceinline__ void fetch_whole(uint32_t to)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (exists(i)) {
                copy(to, i, at[i], V * 4);
            }
            at[i] += step;
        }
    }
    /* Any, of which `outers` and `ks` are left: zeros outside. x: the factor. */
    __device__ __forceinline__ void fetch(uint32_t to, const float *x, int outers, int ks)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            bool inside = (ALONG_K ? row(i) : col(i)) < outers && (ALONG_K ? col(i) : row(i)) < ks;
            if (exists(i)) {
                copy(to, i, inside ? at[i] : x, inside ? V * 4 : 0);
            }
            at[i] += step;
        }
    }
};

template <int BM_, int BN_, int BK_, int WM_, int WN_, int STAGES_, bool A_ALONG_K, bool B_ALONG_K, int V,
          int TERMS_>
struct product_tile {
    static const int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, STAGES = STAGES_, TERMS = TERMS_;
    static const bool AK = A_ALONG_K, BK_ALONG = B_ALONG_K;
    static const int THREADS = 32 * (BM / WM) * (BN / WN);
    typedef product_loader<BM, BK, AK, V, THREADS> A;
    typedef product_loader<BN, BK, BK_ALONG, V, THREADS> B;
    static const int A_SIZE = PRODUCT_SIDE(BM, BK, AK), STAGE = A_SIZE + PRODUCT_SIDE(BN, BK, BK_ALONG);
    static_assert(A_SIZE == A::HEIGHT * A::STRIDE, "one layout");
    static const int SUM_STRIDE = BN + 4; /* of the results of a part of k in shared memory */
    static_assert(BM * SUM_STRIDE <= STAGES * STAGE, "the sums of a part fit the buffers");
};

/* Elements k + 2t and k + 2t + 1 stand for rows t and t + 4 of the fragments: the order within k is free. */
template <class S> struct product_fragments {
    uint32_t ah[S::WM / 16][4], al[S::WM / 16][4], bh[S::WN / 8][2], bl[S::WN / 8][2];

    __device__ __forceinline__ void load(const float *as, const float *bs, int m0, int n0, int k)
    {
#pragma unroll
        for (int i = 0; i < S::WM / 16; i++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                int m = m0 + i * 16 + e * 8;
                float2 x = S::AK ? *(const float2 *)(as + m * S::A::STRIDE + k)
                                 : make_float2(as[k * S::A::STRIDE + m], as[(k + 1) * S::A::STRIDE + m]);
                product_terms<S::TERMS>(x.x, &ah[i][e], &al[i][e]);
                product_terms<S::TERMS>(x.y, &ah[i][e + 2], &al[i][e + 2]);
            }
        }
#pragma unroll
        for (int j = 0; j < S::WN / 8; j++) {
            int n = n0 + j * 8;
            float2 x = S::BK_ALONG ? *(const float2 *)(bs + n * S::B::STRIDE + k)
                                   : make_float2(bs[k * S::B::STRIDE + n], bs[(k + 1) * S::B::STRIDE + n]);
            product_terms<S::TERMS>(x.x, &bh[j][0], &bl[j][0]);
            product_terms<S::TERMS>(x.y, &bh[j][1], &bl[j][1]);
        }
    }
    __device__ __forceinline__ void multiply(float (&sum)[S::WM / 16][S::WN / 8][4]) const
    {
#pragma unroll
        for (int i = 0; i < S::WM / 16; i++) {
#pragma unroll
            for (int j = 0; j < S::WN / 8; j++) {
                if (S::TERMS == 3) {
                    product_mma(sum[i][j], al[i], bh[j]);
                    product_mma(sum[i][j], ah[i], bl[j]);
                }
                product_mma(sum[i][j], ah[i], bh[j]);
            }
        }
    }
};

__device__ __forceinline__ void product_store(float *out, const struct product_params &p, int m, int n,
                                              float x, float y)
{
    if (m >= p.m) {
        return;
    }
    float *at = out + (int64_t)m * p.ldd + n;
    if (p.pairs) {
        if (n < p.n) {
            *(float2 *)at = make_float2(x, y);
        }
        return;
    }
    if (n < p.n) {
        at[0] = x;
    }
    if (n + 1 < p.n) {
        at[1] = y;
    }
}

__device__ __forceinline__ void product_cluster_sync(void)
{
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

/* Each block of the cluster adds up its share of the tile, part after part. */
template <class S>
__device__ __forceinline__ void product_gather(float *out, const struct product_params &p, uint32_t shared,
                                               int part, int m0, int n0)
{
    product_cluster_sync();
    const int pairs = S::BM * S::BN / 2 / p.split;
    for (int i = threadIdx.x; i < pairs; i += S::THREADS) {
        int pair = part * pairs + i, row = pair / (S::BN / 2), col = pair % (S::BN / 2) * 2;
        uint32_t here = shared + (row * S::SUM_STRIDE + col) * 4;
        float x = 0, y = 0;
#pragma unroll 8
        for (int s = 0; s < p.split; s++) {
            uint32_t there;
            float u, v;
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(s));
            asm volatile("ld.shared::cluster.v2.f32 {%0, %1}, [%2];" : "=f"(u), "=f"(v) : "r"(there));
            x += u;
            y += v;
        }
        product_store(out, p, m0 + row, n0 + col, x, y);
    }
    product_cluster_sync(); /* nobody leaves while others read from it */
}

/* The sums of one part of k, in registers. */
template <class S>
__device__ __forceinline__ void product_sums(const float *a, const float *b, const struct product_params &p,
                                             float *shared, int m0, int n0, int k0, int k1, int wm, int wn,
                                             float (&sum)[S::WM / 16][S::WN / 8][4])
{
    const int steps = k1 > k0 ? (k1 - k0 + S::BK - 1) / S::BK : 0, lane = threadIdx.x % 32;
    const bool inner = m0 + S::BM <= p.m && n0 + S::BN <= p.n;
    const int whole = inner && k1 > k0 ? (k1 - k0) / S::BK : 0; /* steps that need no test */
    uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
    typename S::A la;
    typename S::B lb;
    la.start(a, p.lda, m0, k0);
    lb.start(b, p.ldb, n0, k0);
    auto fetch = [&](int step, int slot) {
        uint32_t to = base + slot * S::STAGE * 4;
        if (step < whole) {
            la.fetch_whole(to);
            lb.fetch_whole(to + S::A_SIZE * 4);
        } else if (step < steps) {
            int ks = k1 - k0 - step * S::BK;
            la.fetch(to, a, p.m - m0, ks);
            lb.fetch(to + S::A_SIZE * 4, b, p.n - n0, ks);
        }
        asm volatile("cp.async.commit_group;");
    };
#pragma unroll
    for (int s = 0; s < S::STAGES - 1; s++) {
        fetch(s, s);
    }
    int slot = 0, next = S::STAGES - 1;
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(S::STAGES - 2));
        __syncthreads();
        fetch(step + S::STAGES - 1, next);
        const float *as = shared + slot * S::STAGE, *bs = as + S::A_SIZE;
        float part[S::WM / 16][S::WN / 8][4] = {};
        float(&into)[S::WM / 16][S::WN / 8][4] = S::TERMS == 1 ? sum : part;
#pragma unroll
        for (int k = 0; k < S::BK; k += 8) {
            product_fragments<S> f;
            f.load(as, bs, wm + lane / 4, wn + lane / 4, k + 2 * (lane % 4));
            f.multiply(into);
        }
#pragma unroll
        for (int i = 0; i < S::WM / 16 && S::TERMS > 1; i++) {
#pragma unroll
            for (int j = 0; j < S::WN / 8; j++) {
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    sum[i][j][e] += part[i][j][e];
                }
            }
        }
        slot = slot + 1 == S::STAGES ? 0 : slot + 1;
        next = next + 1 == S::STAGES ? 0 : next + 1;
    }
    asm volatile("cp.async.wait_group 0;");
}

template <class S> __device__ __forceinline__ void product(char *arena, const struct product_params &p)
{
    extern __shared__ __align__(16) float shared[];
    const int part = blockIdx.x % p.split, tile = blockIdx.x / p.split, lane = threadIdx.x % 32,
              warp = threadIdx.x / 32;
    const int m0 = tile / p.columns * S::BM, n0 = tile % p.columns * S::BN;
    const int wm = warp / (S::BN / S::WN) * S::WM, wn = warp % (S::BN / S::WN) * S::WN;
    const int k0 = part * p.k_part, k1 = p.k < k0 + p.k_part ? p.k : k0 + p.k_part;
    int64_t at[3];
    walk_any<3>(p.batch, blockIdx.y, at);
    float *out = (float *)(arena + p.out) + at[2];
    float sum[S::WM / 16][S::WN / 8][4] = {};
    product_sums<S>((const float *)(arena + p.a) + at[0], (const float *)(arena + p.b) + at[1], p, shared, m0,
                    n0, k0, k1, wm, wn, sum);
    if (p.split > 1) {
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < S::WM / 16; i++) {
#pragma unroll
        for (int j = 0; j < S::WN / 8; j++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                int row = wm + i * 16 + lane / 4 + e * 8, col = wn + j * 8 + 2 * (lane % 4);
                float x = sum[i][j][2 * e], y = sum[i][j][2 * e + 1];
                if (p.split > 1) {
                    *(float2 *)(shared + row * S::SUM_STRIDE + col) = make_float2(x, y);
                } else {
                    product_store(out, p, m0 + row, n0 + col, x, y);
                }
            }
        }
    }
    if (p.split > 1) {
        product_gather<S>(out, p, (uint32_t)__cvta_generic_to_shared(shared), part, m0, n0);
    }
}

#endif
