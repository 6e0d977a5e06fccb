/* Parity of the CUDA kernels with the CPU kernels: many small launches of every operator in one hand-made
 * plan. Private to the tool. */
#ifndef GML_TOOLS_GPU_PARITY_H
#define GML_TOOLS_GPU_PARITY_H
#include "runtime/exec/exec.h"

struct parity_case {
    double tolerance; /* relative to max(1, |cpu|); 0 = the same bits (all NaN are one) */
    char text[64];    /* "f32[128, 256]" */
};
/* A plan under construction. `image` is the host arena, with inputs filled in; op[i] belongs to at[i]. */
struct parity {
    struct arena *memory;
    char *image;
    uint64_t bytes, used, control, work, work_bytes;
    struct target target;
    VEC(struct plan_op) op;
    VEC(struct parity_case) at;
    uint64_t random; /* state of the input generator */
};

/* Adds the cases of every operator (gpu_parity_cases.c). */
void parity_cases(struct parity *p);
/* Adds cases that must raise a fault: a bad index, a bad label. */
void parity_faults(struct parity *p);

#endif
