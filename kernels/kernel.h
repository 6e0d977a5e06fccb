/* The kernel ABI, valid C11 and C++. A kernel sees an arena, operands and attributes (runtime/plan/plan.h),
 * nothing else.
 *
 * cpu_<op>:     computes the slice [from, to) of `cpu_units_<op>` units of work, for every dtype the row
 * allows. Units are cut by shape, never by thread count, so results do not depend on it; all units of one
 * launch may run at the same time. cpu_finish_<op>: REDUCE rows only: combines the partial results in
 * k->work, after all units. cuda_<op>:    pure: describes kernel launches for the operands; returns how many
 * were written. Tested without a GPU. cudalib_<op>: pure: describes library calls, captured in place.
 * Missing functions are link errors: every OP row without META (and, for CUDA, LOAD) must have cpu_<op> and
 * cuda_<op> or cudalib_<op>.
 */
#ifndef GML_KERNELS_KERNEL_H
#define GML_KERNELS_KERNEL_H
#include "runtime/plan/plan.h"

struct slice {
    int64_t from, to; /* units */
};
/* How many independent units a launch has on the CPU (rows, blocks of 4096 elements, ...). At least 1 when
 * there is work, 0 for empty tensors. */
typedef int64_t (*cpu_units_fn)(const struct kargs *);
typedef void (*cpu_kernel_fn)(void *arena, const struct kargs *, struct slice);
struct cpu_kernel {
    cpu_units_fn units;
    cpu_kernel_fn run, finish; /* finish: after all units, on one thread; its slice is unused. NULL = none */
};
/* By enum op; {0} for META and VIEW rows. kernels/cpu/table.c */
extern const struct cpu_kernel cpu_kernels[OP_COUNT];

/* One CUDA kernel launch as plain data. `params` is a packed struct of at most 1 KiB passed by value. */
struct launch {
    const void *function; /* host stub of the __global__ function */
    uint32_t grid[3], block[3], shared;
    uint32_t cluster;  /* blocks of a cluster along the first axis; 0 = none */
    uint32_t n_params; /* bytes used of params */
    _Alignas(16) unsigned char params[1024];
};
typedef int (*cuda_kernel_fn)(const struct kargs *, const struct target *, struct launch *, int max);

#endif
