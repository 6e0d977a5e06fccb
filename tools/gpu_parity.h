/* Parity of the CUDA kernels with the CPU kernels: many small launches of every operator in one hand-made
 * plan. Private to the tool. */
#ifndef GML_TOOLS_GPU_PARITY_H
#define GML_TOOLS_GPU_PARITY_H
#include "runtime/exec/exec.h"

struct parity_case {
    double tolerance; /* relative to max(1, |cpu|); 0 = the same bits (all NaN are one) */
    uint8_t dtype;    /* of what the row computes with, for the table */
    char text[64];    /* "f32[128, 256]" */
};
/* Bytes of the image that hold one tensor. */
struct parity_place {
    uint64_t offset, bytes;
    bool made; /* by an op; else an input */
};
/* A plan under construction. `image` is the host arena, with inputs filled in; op[i] belongs to at[i]. */
struct parity {
    struct arena *memory;
    char *image;
    uint64_t bytes, used, control, work, work_bytes;
    struct target target;
    VEC(struct plan_op) op;
    VEC(struct parity_case) at;
    VEC(struct parity_place) place;
    uint64_t random;  /* state of the input generator */
    const char *only; /* a row's name: cases of other rows are dropped; NULL = all */
    int shape_step;   /* every n-th of the shapes */
};

/* Adds the corner cases of every operator (gpu_parity_cases.c). */
void parity_cases(struct parity *p);
/* Adds every operator over 50 shapes and the dtypes it has (gpu_parity_shapes.c). */
void parity_shapes(struct parity *p);
/* Adds cases that must raise a fault: a bad index, a bad label. */
void parity_faults(struct parity *p);

#endif
