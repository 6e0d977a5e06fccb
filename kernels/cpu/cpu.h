/* What the CPU kernels share: operands as pointers, work units, iteration over strided operands, one template
 * for two float types.
 *
 * Kernels never allocate, never fail and never touch bytes outside their operands; a bad index or label goes
 * to the failure word. Units are independent, so nothing here knows about threads.
 */
#ifndef GML_KERNELS_CPU_H
#define GML_KERNELS_CPU_H
#include "kernels/fault.h"
#include "kernels/kernel.h"
#include "runtime/base/bf16.h"

/* Two versions of a hot loop, chosen when the program starts. Both give the same bits: nothing is contracted
 * or reassociated. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) &&                 \
    !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
/* Iterations do not depend on each other: an output is the very bytes of an input, or apart from it. (clang
 * checks at run time.) */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#define UNUSED __attribute__((unused))

enum { UNIT_ELEMENTS = 8192 }; /* of an elementwise kernel; also the aim of row kernels */

static inline void *cpu_at(void *arena, const struct operand *o)
{
    return (char *)arena + o->offset;
}
static inline struct control *cpu_control(void *arena, const struct kargs *k)
{
    return (struct control *)cpu_at(arena, &k->in[k->n_in - 1]);
}
static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* n over d, rounded up; d > 0. */
static inline int64_t div_up(int64_t n, int64_t d)
{
    return n / d + (n % d != 0);
}
/* Product of dims [from, to). */
static inline int64_t dims_product(const struct operand *o, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++) {
        n *= o->dim[i];
    }
    return n;
}
/* Rows of `width` elements that make one unit. */
static inline int64_t rows_per_unit(int64_t width)
{
    return max_i64(1, UNIT_ELEMENTS / max_i64(1, width));
}

/* Several operands of one shape, walked together in row-major order. Axes of size 1 are dropped and axes that
 * lie behind each other in all operands are merged, so contiguous and scalar operands give one long run. */
enum { ITER_OPERANDS = 4 };
struct iter {
    int rank, n;
    unsigned narrow;                                            /* bit i: operand i is widened from bf16 */
    int64_t count;                                              /* elements */
    int64_t dim[LIMIT_RANK], stride[LIMIT_RANK][ITER_OPERANDS]; /* bytes */
};
/* One run: n elements; operand i starts at p[i] and advances s[i] bytes. */
typedef void (*iter_fn)(char *const *p, const int64_t *s, int64_t n);
/* The shape is that of o[0]; an operand of rank 0 is a scalar for all elements. `narrow` is 0: elements are
 * as they are. */
void iter_make(struct iter *it, const struct operand *const *o, int n);
/* Calls fn for the elements [from, to); base[i] = first element of operand i. Where narrow operands are, fn
 * is a run over f32: it gets them widened block by block, and what it stores is rounded. */
void iter_run(const struct iter *it, char *const *base, int64_t from, int64_t to, iter_fn fn);
/* The run that copies p[1] to p[0] for elements of 1, 2, 4 or 8 bytes. */
iter_fn iter_copy(size_t bytes);
/* n numbers that lie `stride` bytes apart, as adjacent f32; and back, rounded. */
void bf16_widen_run(float *to, const char *from, int64_t stride, int64_t n);
void bf16_round_run(char *to, int64_t stride, const float *from, int64_t n);
/* The type that a kernel computes in. */
static inline enum dtype work_type(enum dtype t)
{
    return t == DT_BF16 ? DT_F32 : t;
}

/* The run of an elementwise row on a dtype (of its operands, for comparisons too); NULL when the row does not
 * have it. For bf16 that of f32, over widened elements. */
iter_fn elem_run_of(enum op op, enum dtype t);
/* The run of a row from the dtypes of its inputs to that of its result. */
iter_fn elem_run_for(enum op op, const enum dtype *in, enum dtype out);
/* What step, knob and metric read; attributes as in plan.h. */
double cpu_number(const struct control *c, enum op op, const int64_t *attr);
/* One number of any dtype. */
void cpu_store(void *out, enum dtype t, double x);

/* Calls name_f32, name_f64 or name_bf16, which kernels/cpu/twice.h makes from one text. */
#define BY_FLOAT(t, name, ...)                                                                               \
    ((t) == DT_F64    ? name##_f64(__VA_ARGS__)                                                              \
     : (t) == DT_BF16 ? name##_bf16(__VA_ARGS__)                                                             \
                      : name##_f32(__VA_ARGS__))

/* All kernels: a row without its function is a link error. */
#define CPU_KERNEL(name)                                           void cpu_##name(void *arena, const struct kargs *k, struct slice s);
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) CPU_KERNEL(name)
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)                                               \
    CPU_KERNEL(name)                                                                                         \
    CPU_KERNEL(finish_##name)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)                                                        \
    CPU_KERNEL(name)                                                                                         \
    int64_t cpu_units_##name(const struct kargs *k);
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP
#undef CPU_KERNEL
/* Of groups, which are no row of the table of kernels. */
extern const struct cpu_kernel cpu_group_kernel;
bool cpu_group_runs(const struct group *g);
/* For kargs.prepared: what otherwise is found anew for each launch. */
const void *cpu_group_prepared(const struct kargs *k, struct arena *a);
int64_t cpu_units_elem(const struct kargs *k);
int64_t cpu_units_reduce(const struct kargs *k);
/* "OpenBLAS 0.3.21 ..." or "plain C". */
const char *cpu_blas_name(void);

#endif
