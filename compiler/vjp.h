/* Vector-Jacobian products. ELEM rows use the derivative column of ops.def; REDUCE and VIEW rows share generic rules (vjp_generic.c);
 * each differentiable OP row has vjp_<op> in compiler/vjp/<op>.c. All are built from ordinary nodes.
 */
#ifndef GML_COMPILER_VJP_H
#define GML_COMPILER_VJP_H
#include "compiler/build.h"

struct vjp_ctx {
    struct build *b;      /* adds to the new graph; span and scope of the forward node */
    enum op op;
    const val *in;        /* inputs, in the new graph */
    uint32_t n_in;
    const int64_t *attr;
    const dim *dims;
    val r, g;             /* result and its gradient */
    const bool *wanted;   /* by input */
    val *out;             /* by input: gradient, or 0 for none */
};
bool vjp_apply(struct vjp_ctx *c); /* dispatch; false after a diagnostic */

#endif
