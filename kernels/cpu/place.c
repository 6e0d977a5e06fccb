/* Placing values into larger ones: pad (a strided box in zeros) and pack (leaves in a flat block). */
#include "kernels/cpu/cpu.h"

enum { PAD_UNITS = 16, LEAF_ALIGN = 64 };

static int64_t pad_rows(const struct kargs *k)
{
    const struct operand *out = &k->out[0];
    int64_t n = out->rank ? out->dim[0] : 1;
    int64_t units = min_i64(PAD_UNITS, div_up(operand_count(out), UNIT_ELEMENTS));
    return max_i64(1, div_up(n, max_i64(1, units)));
}

int64_t cpu_units_pad(const struct kargs *k)
{
    const struct operand *out = &k->out[0];
    return operand_count(out) ? div_up(out->rank ? out->dim[0] : 1, pad_rows(k)) : 0;
}

/* The box of the output that the input goes to, as an operand of the input's shape without its first axis. */
static void pad_box(const struct kargs *k, struct operand *box)
{
    const struct operand *x = &k->in[0], *out = &k->out[0];
    *box = *out;
    box->rank = (uint8_t)(x->rank - 1);
    for (int axis = 1; axis < x->rank; axis++) {
        int64_t step = k->attr[axis], start = k->attr[x->rank + axis];
        box->offset += (uint64_t)(start * out->stride[axis]) * dtype_size((enum dtype)out->dtype);
        box->dim[axis - 1] = x->dim[axis];
        box->stride[axis - 1] = step * out->stride[axis];
    }
}

/* Attributes: a step for each axis, then a start for each axis. A unit owns a range of the first axis. */
void cpu_pad(void *arena, const struct kargs *k, struct slice s)
{
    const struct operand *x = &k->in[0], *out = &k->out[0];
    int64_t size = (int64_t)dtype_size((enum dtype)x->dtype);
    if (x->rank == 0) {
        memcpy(cpu_at(arena, out), cpu_at(arena, x), (size_t)size);
        return;
    }
    int64_t per = pad_rows(k), lo = s.from * per, hi = min_i64(s.to * per, out->dim[0]);
    int64_t row = dims_product(out, 1, out->rank) * size;
    memset((char *)cpu_at(arena, out) + lo * row, 0, (size_t)((hi - lo) * row));
    struct operand box, line = *x;
    pad_box(k, &box);
    line.rank = box.rank;
    memcpy(line.dim, x->dim + 1, sizeof *x->dim * line.rank);
    memcpy(line.stride, x->stride + 1, sizeof *x->stride * line.rank);
    const struct operand *o[] = {&box, &line};
    struct iter it;
    iter_make(&it, o, 2);
    for (int64_t i = 0; i < x->dim[0]; i++) {
        int64_t at = k->attr[x->rank] + i * k->attr[0];
        if (at >= lo && at < hi) {
            char *base[] = {(char *)cpu_at(arena, &box) + at * row,
                            (char *)cpu_at(arena, x) + i * x->stride[0] * size};
            iter_run(&it, base, 0, it.count, iter_copy((size_t)size));
        }
    }
}

/* One unit: leaves follow each other; with a first axis of replicas once for each of them. The planner
 * launches it for replicas only and produces other gradients in place. */
int64_t cpu_units_pack(const struct kargs *k)
{
    return operand_count(&k->out[0]) ? 1 : 0;
}

void cpu_pack(void *arena, const struct kargs *k, struct slice s)
{
    (void)s;
    const struct operand *to = &k->out[0];
    size_t size = dtype_size((enum dtype)to->dtype), many = to->rank == 2 ? (size_t)to->dim[0] : 1,
           bytes = (size_t)operand_count(to) / many * size;
    for (size_t r = 0; r < many; r++) {
        char *out = (char *)cpu_at(arena, to) + r * bytes;
        size_t at = 0;
        for (int i = 0; i < k->n_in; i++) {
            size_t n = (size_t)operand_count(&k->in[i]) / many;
            size_t slot = (n + LEAF_ALIGN - 1) / LEAF_ALIGN * LEAF_ALIGN;
            memmove(out + at, (const char *)cpu_at(arena, &k->in[i]) + r * n * size, n * size);
            memset(out + at + n * size, 0, (slot - n) * size);
            at += slot * size;
        }
        memset(out + at, 0, bytes - at);
    }
}
