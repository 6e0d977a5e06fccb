/* What a launch moves and computes, from its shapes: the lower bounds that times are held against. */
#ifndef GML_PLAN_COST_H
#define GML_PLAN_COST_H
#include "runtime/plan/plan.h"

/* Bytes: each operand's elements once (repeated ones are not read again), of rows that are picked or written
 * by index only those. Arithmetic: 2 m n k of a product, else one for each element that an operator computes
 * or reduces; none for copies. Both are estimates from below; scratch is not counted. */
struct op_cost {
    double bytes, flops;
    bool product; /* matrix product */
    enum dtype dtype;
    bool tf32;
};
struct op_cost op_cost_of(const struct plan_op *op);
/* How often a launch runs in one step: the iterations of the loops around it, multiplied. By op. */
void op_times(const struct plan_variant *v, int64_t *times);

#endif
