/* Operands that lie in memory in other ways than row by row: for tests of kernels and their descriptions. */
#ifndef GML_TESTS_OPERANDS_H
#define GML_TESTS_OPERANDS_H
#include "kernels/kernel.h"

static inline struct operand swapped(struct operand o, int a, int b)
{
    int64_t d = o.dim[a], s = o.stride[a];
    o.dim[a] = o.dim[b];
    o.stride[a] = o.stride[b];
    o.dim[b] = d;
    o.stride[b] = s;
    return o;
}
/* One element along axis a, read n times. */
static inline struct operand repeated(struct operand o, int a, int64_t n)
{
    o.dim[a] = n;
    o.stride[a] = 0;
    return o;
}

#endif
