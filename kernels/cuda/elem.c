/* Descriptions of the elementwise rows and of copy. The vector form needs a last axis of whole groups of four
 * in which every operand either lies contiguous and aligned or repeats one element; everything else takes the
 * plain form. */
#include "kernels/cuda/describe.h"

static bool vector_operand(const struct walk *w, int o, uint64_t at, int dtype)
{
    int64_t size = (int64_t)dtype_size((enum dtype)dtype), last = w->stride[o][w->rank - 1];
    if (last == 0) {
        return true;
    }
    if (last != 1 || at % (uint64_t)(4 * size) != 0) {
        return false;
    }
    for (int a = 0; a + 1 < w->rank; a++) {
        if (w->stride[o][a] % 4 != 0) {
            return false;
        }
    }
    return true;
}

/* Turns the last axis into groups of four if all operands allow it. */
static bool vectorise(struct walk *w, const uint64_t *at, const int *dtype)
{
    int last = w->rank - 1;
    if (w->n == 0 || w->dim[last] % 4 != 0 || w->stride[w->operands - 1][last] != 1) {
        return false;
    }
    for (int o = 0; o < w->operands; o++) {
        if (!vector_operand(w, o, at[o], dtype[o])) {
            return false;
        }
    }
    w->n /= 4;
    w->dim[last] /= 4;
    for (int o = 0; o < w->operands; o++) {
        w->stride[o][last] *= 4;
    }
    return true;
}

/* The kernels find the output as operand 3, whatever the number of inputs. */
static int describe(enum op op, int n_in, const struct operand *in, const struct operand *out,
                    const struct target *t, struct launch *l)
{
    struct elem_params p = {0};
    const struct operand *o[CUDA_OPERANDS];
    uint64_t at[CUDA_OPERANDS];
    int dtype[CUDA_OPERANDS];
    for (int i = 0; i <= n_in; i++) {
        o[i] = i < n_in ? &in[i] : out;
        at[i] = o[i]->offset;
        dtype[i] = o[i]->dtype;
    }
    walk_operands(&p.walk, n_in + 1, o);
    if (p.walk.n == 0) {
        return 0;
    }
    bool vector = vectorise(&p.walk, at, dtype);
    for (int i = 0; i < n_in; i++) {
        p.at[i] = at[i];
    }
    p.at[3] = at[n_in];
    if (n_in < 3) {
        memcpy(p.walk.stride[3], p.walk.stride[n_in], sizeof p.walk.stride[3]);
        memset(p.walk.stride[n_in], 0, sizeof p.walk.stride[n_in]);
    }
    int key = n_in == 3 ? dtype[1] : dtype[0];
    const void *function = cuda_elem_function(op, key, out->dtype, vector);
    return launch_make(l, function, grid_for(t, p.walk.n, 256), 1, 256, 1, &p, sizeof p);
}

int describe_copy(const struct operand *in, const struct operand *out, const struct target *t,
                  struct launch *l)
{
    return describe(OP_cast, 1, in, out, t, l);
}

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        return max < 1 ? CUDA_UNSUPPORTED : describe(OP_##name, n, k->in, k->out, t, l);                     \
    }
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP

int cuda_copy(const struct kargs *k, const struct target *t, struct launch *l, int max);
int cuda_copy(const struct kargs *k, const struct target *t, struct launch *l, int max)
{
    return max < 1 ? CUDA_UNSUPPORTED : describe_copy(k->in, k->out, t, l);
}
