/* Joining values along an axis. A unit is a range of the indices before the axis. */
#include "kernels/cpu/cpu.h"

static int64_t outer(const struct kargs *k)
{
    return dims_product(&k->out[0], 0, (int)k->attr[0]);
}

static int64_t width(const struct kargs *k, const struct operand *o)
{
    return dims_product(o, (int)k->attr[0], o->rank);
}

int64_t cpu_units_concat(const struct kargs *k)
{
    int64_t n = width(k, &k->out[0]);
    return n ? div_up(outer(k), rows_per_unit(n)) : 0;
}

void cpu_concat(void *arena, const struct kargs *k, struct slice s)
{
    size_t size = dtype_size((enum dtype)k->out[0].dtype), row = (size_t)width(k, &k->out[0]) * size, at = 0;
    int64_t per = rows_per_unit(width(k, &k->out[0])), to = min_i64(s.to * per, outer(k));
    for (int i = 0; i < k->n_in; i++) {
        size_t part = (size_t)width(k, &k->in[i]) * size;
        const char *from = cpu_at(arena, &k->in[i]);
        char *out = (char *)cpu_at(arena, &k->out[0]) + at;
        for (int64_t r = s.from * per; part && r < to; r++) {
            memcpy(out + (size_t)r * row, from + (size_t)r * part, part);
        }
        at += part;
    }
}
