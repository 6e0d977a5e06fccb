/* The table of descriptions, generated from ops.def. A row without META and LOAD whose cuda_<op> is missing
 * is a link error. */
#include "kernels/cuda/cuda.h"
#include "kernels/op_flags.h"

#define DECLARE(name)                                              int cuda_##name(const struct kargs *, const struct target *, struct launch *, int);
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) DECLARE(name)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)     DECLARE(name)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc) DECLARE(name)
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef OP

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) [OP_##name] = cuda_##name,
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)     [OP_##name] = cuda_##name,
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)                                                        \
    [OP_##name] = ((flags) & (META | LOAD)) ? NULL : cuda_##name,
const cuda_kernel_fn cuda_kernels[OP_COUNT] = {
#include "kernels/ops.def"
};
