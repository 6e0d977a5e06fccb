/* Reading and writing the part of an array that an iteration of a loop is about. Both copy; the last operand
 * in front is the loop's index. */
#include "kernels/cpu/cpu.h"

/* Part `index` of axis 0, as an operand without that axis. */
static struct operand part_of(const struct operand *whole, int64_t index)
{
    struct operand o = {.offset = whole->offset, .dtype = whole->dtype, .rank = (uint8_t)(whole->rank - 1)};
    o.offset += (uint64_t)(index * whole->stride[0] * (int64_t)dtype_size((enum dtype)whole->dtype));
    for (int i = 0; i < o.rank; i++) {
        o.dim[i] = whole->dim[i + 1];
        o.stride[i] = whole->stride[i + 1];
    }
    return o;
}

static void copy_units(void *arena, const struct operand *to, const struct operand *from, struct slice s)
{
    const struct operand *o[] = {to, from};
    char *base[] = {cpu_at(arena, to), cpu_at(arena, from)};
    struct iter it;
    iter_make(&it, o, 2);
    iter_run(&it, base, s.from * UNIT_ELEMENTS, min_i64(s.to * UNIT_ELEMENTS, it.count),
             iter_copy(dtype_size((enum dtype)to->dtype)));
}

int64_t cpu_units_loop_in(const struct kargs *k)
{
    return cpu_units_elem(k);
}
void cpu_loop_in(void *arena, const struct kargs *k, struct slice s)
{
    struct operand from = part_of(&k->in[0], *(const int32_t *)cpu_at(arena, &k->in[1]));
    copy_units(arena, &k->out[0], &from, s);
}

int64_t cpu_units_loop_put(const struct kargs *k)
{
    return div_up(dims_product(&k->in[0], 0, k->in[0].rank), UNIT_ELEMENTS);
}
void cpu_loop_put(void *arena, const struct kargs *k, struct slice s)
{
    struct operand to = part_of(&k->out[0], *(const int32_t *)cpu_at(arena, &k->in[1]));
    copy_units(arena, &to, &k->in[0], s);
}
