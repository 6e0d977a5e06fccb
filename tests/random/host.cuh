/* CUDA's vocabulary for a C++ compiler, so that the text of a generated kernel runs on the host: blocks one
 * after another, the threads of a block in turns. A thread runs until a barrier or a shuffle, where all
 * threads of the block must meet at the same place the same number of times: where they do not, host_diverged
 * is set. Shuffles are of all threads of the block, as the generator promises. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define __device__
#define __global__
#define __shared__      static
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(n)
#define __grid_constant__
struct host_place {
    unsigned x, y;
};
static host_place threadIdx, blockIdx;
extern "C" {
bool host_diverged;
double (*host_erfinv)(double x);
}

enum { HOST_THREADS = 1024, HOST_STACK = 32 << 10 };
struct host_thread {
    jmp_buf at;
    int barrier; /* line of the barrier it waits at, 0: not begun, -1: over */
    uint64_t slot;
};
static host_thread host_all[HOST_THREADS];
static char host_stack[HOST_THREADS][HOST_STACK];
static jmp_buf host_scheduler;
static ucontext_t host_start, host_unused;
static void (*host_body)(void *what);
static void *host_what;

static inline void wait_for_previous(void)
{
}
static inline void host_wait(int place)
{
    host_thread &t = host_all[threadIdx.x];
    t.barrier = place;
    if (!_setjmp(t.at)) {
        _longjmp(host_scheduler, 1);
    }
}
static void host_run(void)
{
    host_body(host_what);
    host_all[threadIdx.x].barrier = -1;
    _longjmp(host_scheduler, 1);
}
static void host_turn(unsigned thread)
{
    threadIdx.x = thread;
    if (_setjmp(host_scheduler)) {
        return;
    }
    if (host_all[thread].barrier) {
        _longjmp(host_all[thread].at, 1);
    }
    getcontext(&host_start);
    host_start.uc_stack.ss_sp = host_stack[thread];
    host_start.uc_stack.ss_size = HOST_STACK;
    host_start.uc_link = 0;
    makecontext(&host_start, host_run, 0);
    setcontext(&host_start);
}
static void host_block(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        host_all[i].barrier = 0;
    }
    do {
        for (unsigned i = 0; i < threads; i++) {
            host_turn(i);
            host_diverged |= host_all[i].barrier != host_all[0].barrier;
        }
    } while (host_all[0].barrier > 0 && !host_diverged);
}
/* What waits for nobody needs no stack of its own. */
static void host_launch(void (*body)(void *), void *what, bool waits, unsigned threads, unsigned x,
                        unsigned y)
{
    host_body = body;
    host_what = what;
    for (unsigned b = 0; b < x * y && !host_diverged; b++) {
        blockIdx.x = b % x;
        blockIdx.y = b / x;
        if (waits) {
            host_block(threads);
            continue;
        }
        for (unsigned i = 0; i < threads; i++) {
            threadIdx.x = i;
            body(what);
        }
    }
}

#define __syncthreads() host_wait(2 * __LINE__)
static inline void __threadfence(void)
{
}
template <class A> static inline A host_shuffle(A a, int distance, int place)
{
    memcpy(&host_all[threadIdx.x].slot, &a, sizeof a);
    host_wait(2 * place);
    A other;
    memcpy(&other, &host_all[threadIdx.x ^ (unsigned)distance].slot, sizeof other);
    host_wait(2 * place + 1);
    return other;
}
#define __shfl_xor_sync(mask, a, distance) host_shuffle(a, distance, __LINE__)
static inline uint32_t atomicAdd(uint32_t *at, uint32_t n)
{
    uint32_t old = *at;
    *at = old + n;
    return old;
}
static inline int32_t atomicCAS(int32_t *at, int32_t want, int32_t to)
{
    int32_t old = *at;
    *at = old == want ? to : old;
    return old;
}
template <class To, class From> static inline To host_bits(From x)
{
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}
#define __uint_as_float(x) host_bits<float>((uint32_t)(x))
#define __int_as_float(x)  host_bits<float>((int32_t)(x))
#define __float_as_uint(x) host_bits<uint32_t>((float)(x))
#define __float_as_int(x)  host_bits<int32_t>((float)(x))
static inline double erfinv(double x)
{
    return host_erfinv(x);
}
static inline float erfinvf(float x)
{
    return (float)host_erfinv((double)x);
}
static inline uint16_t host_half(float x)
{
    uint32_t b = __float_as_uint(x);
    return x != x ? 0x7fff : (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}
/* The one instruction of the prelude that C++ does not know: cvt.rn.bf16.f32. */
#define asm(...) (r = host_half(x))
