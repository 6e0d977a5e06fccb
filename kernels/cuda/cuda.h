/* CUDA kernels as the executor sees them: a table of descriptions by operator, the description of a library
 * matrix product, and that of the tick. All pure: they read operands and numbers, call no device, and are
 * tested without a GPU.
 *
 * Kernel arguments are (char *arena, params): the executor passes the arena's device address and struct
 * launch.params. */
#ifndef GML_KERNELS_CUDA_CUDA_H
#define GML_KERNELS_CUDA_CUDA_H
#include "kernels/codegen/codegen.h"
#include "kernels/kernel.h"
#include "kernels/segment.h"

/* What a description returns instead of a count of launches: no CUDA kernel takes these operands (dtype,
 * rank). */
enum { CUDA_UNSUPPORTED = -1, CUDA_MAX_LAUNCHES = 64 };

/* By enum op; NULL for META and VIEW rows. kernels/cuda/table.c */
extern const cuda_kernel_fn cuda_kernels[OP_COUNT];

/* The one launch of a group, `function` made of its source. `counters`: where CODEGEN_COUNTERS zeroed words
 * lie, in bytes from the arena's start. */
int cuda_group_launch(const struct kargs *k, const struct codegen_schedule *s, const void *function,
                      uint64_t counters, struct launch *l);

/* A matrix product for cuBLASLt, in its column-major terms: D[m, n] = A[m, k] B[k, n], all of one
 * float type; bf16 is summed in f32, and tf32 rounds f32 factors to TF32. A and B may be
 * transposed; `calls` products of `batch` matrices each, because a library call knows one batch stride only.
 */
struct gemm {
    uint8_t dtype;
    bool tf32;
    int64_t m, n, k;
    bool ta, tb;
    int64_t lda, ldb, ldd;
    int64_t batch, stride_a, stride_b, stride_d; /* elements */
    uint64_t a, b, d;                            /* byte offsets of the first call */
    int64_t calls, step_a, step_b, step_d;       /* bytes from call to call */
    uint64_t work, work_bytes;
};
/* Whether cuda_matmul has the better kernel for this product, library or not. */
bool cuda_matmul_is_own(const struct kargs *k, const struct target *t);
/* False when the library cannot take the operands (then cuda_matmul does). */
bool cudalib_matmul(const struct kargs *k, struct gemm *out);

/* The launches in front of the body of a loop and at the end of each iteration; `condition` as in struct
 * loop_params. One launch each; none in front of a loop without iterations. */
int cuda_loop_opens(const struct plan_loop *loop, uint64_t condition, struct launch *l);
int cuda_loop_turns(const struct plan_loop *loop, uint64_t condition, struct launch *l);

/* A step of a segment: `node` is what it is of (NULL: of the whole), `state` the
 * offset of struct segment_state, `condition` what it sets, 0: nothing. */
int cuda_segment(const struct plan *p, enum segment_step step, const struct segment_node *node,
                 uint64_t state, uint64_t ring, uint64_t condition, struct launch *out);

/* The tick of a variant: the last launch of a step. `ring` is the device address of the mapped ring. */
int cuda_tick(const struct plan *p, uint32_t variant, uint64_t ring, bool first, struct launch *out);

#endif
