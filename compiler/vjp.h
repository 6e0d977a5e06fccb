/* Vector-Jacobian products. ELEM rows use the derivative column of ops.def; REDUCE and VIEW rows share
 * generic rules (vjp_generic.c); each differentiable OP row has vjp_<op> in compiler/vjp/<op>.c. All are
 * built from ordinary nodes.
 */
#ifndef GML_COMPILER_VJP_H
#define GML_COMPILER_VJP_H
#include "compiler/build.h"

struct vjp_ctx {
    struct build *b; /* adds to the new graph; span and scope of the forward node */
    enum op op;
    const val *in; /* inputs, in the new graph */
    uint32_t n_in;
    const int64_t *attr;
    const dim *dims;
    val r, g;           /* result and its gradient */
    const bool *wanted; /* by input */
    val *out;           /* by input: gradient, or 0 for none */
};
/* Fills out[]; false after a diagnostic. Call it only when some wanted input is differentiable. */
bool vjp_apply(struct vjp_ctx *c);
/* Whether a gradient can flow from the result of `op` to that input. */
bool vjp_exists(enum op op, uint32_t input);

/* One rule per row that is no ELEM; rows marked NONDIFF (and the logical reductions) have none, which the
 * linker proves. */
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc) bool vjp_##name(struct vjp_ctx *c);
#define VIEW(name, dsl, attrs, doc)                            bool vjp_##name(struct vjp_ctx *c);
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)          bool vjp_##name(struct vjp_ctx *c);
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP

/* Stores the gradient of an input if it is wanted; false when it could not be built. */
#define VJP_SET(c, i, gradient) (!(c)->wanted[i] || ((c)->out[i] = (gradient)) != 0)

#endif
