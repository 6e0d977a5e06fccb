/* A lock around the scratch allocator of serial OpenBLAS, whose products are otherwise safe to call from
 * several threads.
 *
 * Debian builds the serial flavour without USE_LOCKING: two products that start at the same moment can be
 * handed one packing buffer, and then both come out wrong. The linker sends the library's own calls here
 * (--wrap in CMakeLists.txt); they are held for nanoseconds, so spinning is enough.
 */
#ifdef GML_OPENBLAS
#include <sched.h>
#include <stdatomic.h>

void *__real_blas_memory_alloc(int procpos);
void __real_blas_memory_free(void *buffer);
void *__wrap_blas_memory_alloc(int procpos);
void __wrap_blas_memory_free(void *buffer);

static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
        sched_yield();
    }
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

void *__wrap_blas_memory_alloc(int procpos)
{
    lock();
    void *buffer = __real_blas_memory_alloc(procpos);
    unlock();
    return buffer;
}

void __wrap_blas_memory_free(void *buffer)
{
    lock();
    __real_blas_memory_free(buffer);
    unlock();
}
#else
typedef int no_blas_to_lock; /* a file must declare something */
#endif
