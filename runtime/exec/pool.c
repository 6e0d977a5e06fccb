/* The thread pool of the CPU backend.
 *
 * One job at a time. Workers join an open job under the lock and take chunks of units from an atomic counter;
 * the caller takes chunks too, closes the job when none is left, and waits only for those that joined. Idle
 * workers spin for a moment, because the next op usually follows at once, then sleep.
 */
#include "runtime/exec/pool.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "runtime/base/mem.h"

enum { POOL_MAX = 1024, SPINS = 2000, CHUNKS_PER_THREAD = 4 };

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread[POOL_MAX];
    int n_thread;      /* workers, without the caller */
    int sleeping;      /* under the lock */
    bool open, quit;   /* under the lock */
    atomic_uint job;   /* number of the job: workers watch it */
    atomic_int joined; /* workers inside the job */
    atomic_llong next; /* first unit not taken */
    pool_fn fn;
    void *ctx;
    int64_t units, chunk;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_chunks(struct pool *p)
{
    for (;;) {
        int64_t from = atomic_fetch_add_explicit(&p->next, p->chunk, memory_order_relaxed);
        if (from >= p->units) {
            return;
        }
        p->fn(p->ctx, from, p->units - from < p->chunk ? p->units : from + p->chunk);
    }
}

/* Returns the number of a job after `seen`, or of none when the pool ends. */
static unsigned wait_for_job(struct pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        unsigned job = atomic_load_explicit(&p->job, memory_order_acquire);
        if (job != seen) {
            return job;
        }
        relax();
    }
    pthread_mutex_lock(&p->lock);
    p->sleeping++;
    while (!p->quit && atomic_load(&p->job) == seen) {
        pthread_cond_wait(&p->wake, &p->lock);
    }
    p->sleeping--;
    pthread_mutex_unlock(&p->lock);
    return atomic_load(&p->job);
}

static void *worker(void *arg)
{
    struct pool *p = arg;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_job(p, seen);
        pthread_mutex_lock(&p->lock);
        bool quit = p->quit, open = p->open;
        if (open) {
            atomic_fetch_add(&p->joined, 1);
        }
        pthread_mutex_unlock(&p->lock);
        if (quit) {
            return NULL;
        }
        if (open) {
            take_chunks(p);
            atomic_fetch_sub_explicit(&p->joined, 1, memory_order_release);
        }
    }
}

int pool_usable_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? n : 1;
}

struct pool *pool_new(int threads)
{
    struct pool *p = mem_alloc(sizeof *p);
    int want = (threads > 0 ? threads : pool_usable_cores()) - 1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    while (p->n_thread < want && p->n_thread < POOL_MAX) {
        if (pthread_create(&p->thread[p->n_thread], NULL, worker, p) != 0) {
            break;
        }
        p->n_thread++;
    }
    return p;
}

void pool_free(struct pool *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    atomic_fetch_add(&p->job, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_thread; i++) {
        pthread_join(p->thread[i], NULL);
    }
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    mem_free(p, sizeof *p);
}

int pool_threads(const struct pool *p)
{
    return p->n_thread + 1;
}

static void open_job(struct pool *p, pool_fn fn, void *ctx, int64_t units)
{
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->ctx = ctx;
    p->units = units;
    p->chunk = units / ((int64_t)pool_threads(p) * CHUNKS_PER_THREAD);
    p->chunk += p->chunk == 0;
    atomic_store(&p->next, 0);
    p->open = true;
    atomic_fetch_add_explicit(&p->job, 1, memory_order_release);
    if (p->sleeping > 0) {
        pthread_cond_broadcast(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, pool_fn fn, void *ctx, int64_t units)
{
    if (units <= 1 || p->n_thread == 0) {
        if (units > 0) {
            fn(ctx, 0, units);
        }
        return;
    }
    open_job(p, fn, ctx, units);
    take_chunks(p);
    pthread_mutex_lock(&p->lock);
    p->open = false;
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; atomic_load_explicit(&p->joined, memory_order_acquire) > 0; i++) {
        if (i < SPINS) {
            relax();
        } else {
            sched_yield();
        }
    }
}
