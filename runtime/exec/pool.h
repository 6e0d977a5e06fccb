/* A small thread pool for the CPU backend. Work comes as numbered units cut by shape; which thread takes a
 * unit does not change what it computes. The caller works too and never waits for a thread that has not
 * joined, so a busy machine costs speed, not progress. */
#ifndef GML_EXEC_POOL_H
#define GML_EXEC_POOL_H
#include <stdint.h>

struct pool;
/* Cores that this process may run on, which can be fewer than the machine has. */
int pool_usable_cores(void);
/* Computes units [from, to). */
typedef void (*pool_fn)(void *ctx, int64_t from, int64_t to);
/* `threads` counts the caller; 0 = as many as this process may use. Never NULL; with fewer threads when the
 * system refuses some. */
struct pool *pool_new(int threads);
void pool_free(struct pool *p); /* NULL is fine */
int pool_threads(const struct pool *p);
/* All units are done on return. */
void pool_run(struct pool *p, pool_fn fn, void *ctx, int64_t units);

#endif
