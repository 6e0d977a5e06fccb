/* What the cpu and null backends share: running ops on a host arena, the tick parameters of a plan, error
 * texts, --debug-plan. */
#ifndef GML_EXEC_HOST_H
#define GML_EXEC_HOST_H
#include "kernels/tick_args.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/pool.h"

enum { ERROR_TEXT = 512 };

/* Runs one launch of the plan's op table. */
void host_run_op(void *arena, const struct plan_op *op, struct pool *pool);
/* Runs launch i of a variant, the counting of loops included; returns the launch that comes next. */
uint32_t host_step(void *arena, const struct plan_variant *v, uint32_t i, struct pool *pool);
/* Tick parameters of all variants, in `a`; NULL and a text in `why` when a phase cannot tick. */
struct tick_args *host_tick_args(const struct plan *p, struct arena *a, char *why, size_t n);
/* NULL, or why the CPU cannot run the op. */
const char *host_op_refusal(const struct plan_op *op);
/* "file:line" of a node, "node N" when it has no place. */
void host_place(const struct graph *g, uint32_t node, char *text, size_t n);

/* --debug-plan. `gap` are the bytes of the planned region that belong to no value of the variant (red zones).
 */
struct debug_variant {
    uint64_t (*gap)[2]; /* offset, end; ascending */
    uint32_t n_gap;
};
struct debug_variant *debug_make(const struct plan *p, struct arena *a);
/* Before the first op: everything planned becomes NaN (raw rows of data sets excepted), red zones get their
 * pattern. */
void debug_begin(const struct plan *p, const struct debug_variant *d, uint32_t variant, char *arena);
/* After op i, when op `next` comes: NaN into what died with it, nothing where another iteration of a loop
 * begins; ST_INTERNAL and a text when a red zone was written. */
MUST_CHECK enum status debug_after(const struct plan *p, const struct debug_variant *d, uint32_t variant,
                                   uint32_t i, uint32_t next, char *arena, char *why, size_t n);
/* After the tick. */
MUST_CHECK enum status debug_end(const struct plan *p, const struct debug_variant *d, uint32_t variant,
                                 char *arena, char *why, size_t n);

#endif
