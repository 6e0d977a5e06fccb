/* Random groups and hand-made ones in one image of an arena, and what they must give: one CPU kernel after
 * another over whole values. For the generated kernels; tests and tools/gpu_groups.c. */
#ifndef GML_TOOLS_RANDOM_GROUPS_H
#define GML_TOOLS_RANDOM_GROUPS_H
#include "runtime/exec/exec.h"
#include "runtime/plan/group.h"

/* Values of f32 may differ by `tolerance` of what is largest of 1, the value, and for sums what they are of;
 * bf16 by some steps. */
struct group_case {
    struct plan_op op;
    double tolerance;
    char text[64];
};
struct group_place {
    uint64_t offset, bytes;
    bool made; /* by a group; else an input */
};
/* `image` is the arena with the inputs filled in; the control block comes first. */
struct group_image {
    struct arena *memory;
    char *image;
    uint64_t bytes, used, control, work, work_bytes;
    uint64_t random;
    VEC(struct group_case) at;
    VEC(struct group_place) place;
};
void group_image_open(struct group_image *g, uint64_t bytes);
void group_image_close(struct group_image *g);
/* Adds a group drawn from a seed. */
void group_random(struct group_image *g, uint64_t seed);
/* Adds each elementwise row over each of its dtypes, each reduction in each form, scalars, labels, ranges,
 * parts of stacks and of joined values. */
void group_handmade(struct group_image *g);
/* An operand of a launch whose counter is in[counter], where that puts it. */
struct operand group_moved(const struct group_image *g, const struct operand *in, const struct operand *o,
                           uint16_t counter, int64_t turn);
/* A number as an element. */
void group_put(char *at, enum dtype t, double x);
/* Computes a case in the image. */
void group_reference(struct group_image *g, const struct kargs *k);
/* Largest difference of the results in another image, as a part of what is allowed. */
double group_difference(const struct group_image *g, const struct group_case *c, const char *got);

#endif
