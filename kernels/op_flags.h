/* The flags of operators as ops.def writes them, for the tables that are generated from it: constants of
 * short names, so only .c files include this. */
#ifndef GML_KERNELS_OP_FLAGS_H
#define GML_KERNELS_OP_FLAGS_H
#include "kernels/ops.h"

enum {
    NONDIFF = OPF_NONDIFF,
    CONTROL = OPF_CONTROL,
    FAULT = OPF_FAULT,
    META = OPF_META,
    LIBRARY = OPF_LIBRARY,
    PLAN = OPF_PLAN,
    ANY_INDEX = OPF_ANY_INDEX,
    LOAD = OPF_LOAD,
    LOOP = OPF_LOOP,
    ROWS = OPF_ROWS
};

#endif
