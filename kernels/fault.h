/* Writing the failure word of the control block, valid C11 and CUDA C++: the first writer wins. */
#ifndef GML_KERNELS_FAULT_H
#define GML_KERNELS_FAULT_H
#include "runtime/plan/control.h"
#include "kernels/vocab.h"

GML_INLINE void fault_raise(struct control *c, enum fault_code code, uint32_t node, int64_t a, int64_t b)
{
#if defined(__CUDACC__)
    bool won = atomicCAS(&c->fault.code, FAULT_NONE, (int)code) == FAULT_NONE;
#else
    int32_t none = FAULT_NONE;
    int won = __atomic_compare_exchange_n(&c->fault.code, &none, (int32_t)code, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
#endif
    if (won) {
        c->fault.node = node;
        c->fault.a = a;
        c->fault.b = b;
    }
}

#endif
