/* The CPU kernel of every row of ops.def. */
#include "kernels/cpu/cpu.h"
#include "kernels/op_flags.h"

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    [OP_##name] = {cpu_units_elem, cpu_##name, NULL},
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    [OP_##name] = {cpu_units_reduce, cpu_##name, cpu_finish_##name},
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)                                                        \
    [OP_##name] = {(flags)&META ? NULL : cpu_units_##name, (flags)&META ? NULL : cpu_##name, NULL},
const struct cpu_kernel cpu_kernels[OP_COUNT] = {
#include "kernels/ops.def"
};
