/* How the cases of gpu_parity are built: operands placed in the image, inputs drawn, ops added. */
#ifndef GML_TOOLS_GPU_PARITY_BUILD_H
#define GML_TOOLS_GPU_PARITY_BUILD_H
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/bf16.h"
#include "tests/operands.h"
#include "tools/gpu_parity.h"

/* -- operands: contiguous, placed one after another, sizes end with -1 */
static inline struct operand place(struct parity *p, enum dtype t, const int64_t *size, uint64_t skew)
{
    struct operand o = {.offset = p->used + skew, .dtype = (uint8_t)t};
    while (size[o.rank] >= 0) {
        o.dim[o.rank] = size[o.rank];
        o.rank++;
    }
    int64_t stride = 1;
    for (int a = o.rank - 1; a >= 0; a--) {
        o.stride[a] = stride;
        stride *= o.dim[a];
    }
    p->used +=
        ((uint64_t)stride * dtype_size(t) + skew + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN + PLAN_ALIGN;
    if (p->used > p->work) {
        fprintf(stderr, "gpu_parity: the cases need more than %llu bytes\n", (unsigned long long)p->work);
        exit(7);
    }
    uint64_t bytes = (uint64_t)stride * dtype_size(t);
    memset(p->image + o.offset, 0x5a, bytes); /* an output that is not written shows */
    vec_push(p->memory, &p->place, ((struct parity_place){o.offset, bytes, false}));
    return o;
}
#define PLACE(p, t, ...) place((p), (t), (const int64_t[]){__VA_ARGS__, -1}, 0)

/* -- inputs */
static inline double uniform(struct parity *p)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->random >> 40) / 16777216.0;
}
static inline double draw(struct parity *p, enum op_domain d)
{
    double u = uniform(p), s = 2 * u - 1;
    switch (d) {
    case DOM_POSITIVE:
        return 0.1 + 3 * u;
    case DOM_NONZERO:
    case DOM_KINK0:
        return s < 0 ? s * 3 - 0.1 : s * 3 + 0.1;
    case DOM_UNIT:
        return 0.95 * s;
    case DOM_SMALL:
        return 3 * s;
    case DOM_INTLIKE:
        return (double)(int)(5 * s);
    case DOM_BOOLS:
        return u < 0.5;
    default:
        return 10 * s;
    }
}
static inline void store(struct parity *p, const struct operand *o, int64_t i, double x)
{
    char *at = p->image + o->offset + (uint64_t)i * dtype_size((enum dtype)o->dtype);
    if (o->dtype == DT_F32) {
        *(float *)at = (float)x;
    } else if (o->dtype == DT_BF16) {
        *(struct bf16 *)at = bf16_round((float)x);
    } else if (o->dtype == DT_I32) {
        *(int32_t *)at = (int32_t)x;
    } else if (o->dtype == DT_F64) {
        *(double *)at = x;
    } else {
        *at = x != 0;
    }
}
/* Fills what the operand's strides reach: it was placed contiguous, whatever view is made of it. */
static inline void fill(struct parity *p, const struct operand *o, enum op_domain d)
{
    int64_t n = 1;
    for (int a = 0; a < o->rank; a++) {
        n *= o->dim[a];
    }
    for (int64_t i = 0; i < n; i++) {
        double x = draw(p, d);
        store(p, o, i, o->dtype == DT_I32 && d != DOM_INTLIKE ? (double)(int)(10 * x) : x);
    }
}
static inline struct operand filled(struct parity *p, enum op_domain d, struct operand o)
{
    fill(p, &o, d);
    return o;
}

/* -- ops */
/* Of an elementwise row other than cast. */
static inline enum dtype output_type(enum op_sig sig, enum dtype t)
{
    if (sig == SIG_BITS) {
        return t == DT_I32 ? DT_F32 : DT_I32;
    }
    return sig == SIG_COMPARE || sig == SIG_EQUAL || sig == SIG_CLASSIFY ? DT_BOOL : t;
}
static inline void describe(char *text, size_t size, const struct operand *o)
{
    int n = snprintf(text, size, "%s[", dtype_name((enum dtype)o->dtype));
    for (int a = 0; a < o->rank && n < (int)size; a++) {
        n += snprintf(text + n, size - (size_t)n, "%s%lld", a ? ", " : "", (long long)o->dim[a]);
    }
    if (n < (int)size) {
        snprintf(text + n, size - (size_t)n, "]");
    }
}
static inline struct operand control(const struct parity *p)
{
    return (struct operand){.offset = p->control};
}
static inline void mark_made(struct parity *p, const struct operand *out)
{
    uint32_t i = p->place.n;
    while (i > 0 && p->place.at[i - 1].offset != out->offset) {
        i--;
    }
    if (i > 0) {
        p->place.at[i - 1].made = true;
    }
}
/* tolerance: relative to max(1, |cpu|) in f32; a bf16 result that may differ in f32 may differ in one step
 * besides. */
static inline void add(struct parity *p, enum op op, const struct operand *in, int n_in, struct operand out,
                       const int64_t *attr, uint32_t n_attr, double tolerance)
{
    if (p->only && strcmp(p->only, op_table[op].name) != 0) {
        return;
    }
    struct operand *o = arena_array(p->memory, struct operand, (size_t)n_in + 2);
    int64_t *a = arena_array(p->memory, int64_t, n_attr + 1);
    bool from_out = n_in == 0 || op == OP_ranges;
    enum dtype t = (enum dtype)(from_out ? out.dtype : in[op_table[op].sig == SIG_CHOOSE].dtype);
    if (n_in) {
        memcpy(o, in, (size_t)n_in * sizeof *o);
    }
    if (op_table[op].flags & (OPF_CONTROL | OPF_FAULT)) {
        o[n_in++] = control(p);
    }
    o[n_in] = out;
    if (n_attr) {
        memcpy(a, attr, n_attr * sizeof *a);
    }
    struct plan_op x = {.op = (uint16_t)op, .part = PART_FORWARD, .node = p->op.n + 1};
    x.k = (struct kargs){.in = o,
                         .out = &o[n_in],
                         .n_in = (uint16_t)n_in,
                         .n_out = 1,
                         .attr = a,
                         .n_attr = n_attr,
                         .node = x.node};
    x.k.work = p->work;
    x.k.work_bytes = op_workspace(op, &x.k, &p->target);
    struct parity_case c = {.tolerance = tolerance, .dtype = (uint8_t)t};
    describe(c.text, sizeof c.text, n_in > 0 && in ? &o[0] : &out);
    if (x.k.work_bytes > p->work_bytes) {
        fprintf(stderr, "gpu_parity: %s wants %llu bytes of scratch\n", op_table[op].name,
                (unsigned long long)x.k.work_bytes);
        exit(7);
    }
    mark_made(p, &out);
    vec_push(p->memory, &p->op, x);
    vec_push(p->memory, &p->at, c);
}
#define ATTR(...) (const int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / 8)
#define NO_ATTR   NULL, 0

#endif
