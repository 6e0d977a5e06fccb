/* Reading (take) and adding (spread) along the last axis, row by row. Index -1 reads 0 and adds nothing;
 * another index outside of the row sets the failure word and is treated the same way. Units are ranges of
 * rows. */
#include "kernels/cpu/cpu.h"

/* values: the operand beside the index; table: the one that is indexed. */
struct rows {
    int64_t n, table, values;
};

static struct rows rows_of(const struct operand *table, const struct operand *index)
{
    int last = table->rank - 1;
    return (struct rows){dims_product(table, 0, last), table->dim[last], index->dim[last]};
}

static int64_t per_unit(const struct rows *r)
{
    return rows_per_unit(max_i64(r->table, r->values));
}

/* Index i of the row, or -1 when it names nothing. */
static int64_t checked_place(void *arena, const struct kargs *k, int32_t i, int64_t n)
{
    if (i >= 0 && i < n) {
        return i;
    }
    if (i != -1) {
        fault_raise(cpu_control(arena, k), FAULT_INDEX, k->node, i, n);
    }
    return -1;
}

int64_t cpu_units_take(const struct kargs *k)
{
    struct rows r = rows_of(&k->in[0], &k->in[1]);
    return r.values ? div_up(r.n, per_unit(&r)) : 0;
}

void cpu_take(void *arena, const struct kargs *k, struct slice s)
{
    struct rows r = rows_of(&k->in[0], &k->in[1]);
    int64_t size = (int64_t)dtype_size((enum dtype)k->in[0].dtype), to = min_i64(s.to * per_unit(&r), r.n);
    const char *table = cpu_at(arena, &k->in[0]);
    const int32_t *index = cpu_at(arena, &k->in[1]);
    char *out = cpu_at(arena, &k->out[0]);
    for (int64_t row = s.from * per_unit(&r); row < to; row++) {
        for (int64_t i = row * r.values; i < (row + 1) * r.values; i++) {
            int64_t j = checked_place(arena, k, index[i], r.table);
            if (j < 0) {
                memset(out + i * size, 0, (size_t)size);
            } else {
                memcpy(out + i * size, table + (row * r.table + j) * size, (size_t)size);
            }
        }
    }
}

int64_t cpu_units_spread(const struct kargs *k)
{
    struct rows r = rows_of(&k->out[0], &k->in[1]);
    return r.table ? div_up(r.n, per_unit(&r)) : 0;
}

/* Sums of bf16 are kept in f32: the indices of a row are walked once for each block of places. */
static void spread_bf16(void *arena, const struct kargs *k, const struct rows *r, int64_t row)
{
    enum { PLACES = 2048 };
    const int32_t *index = (const int32_t *)cpu_at(arena, &k->in[1]) + row * r->values;
    const struct bf16 *value = (const struct bf16 *)cpu_at(arena, &k->in[0]) + row * r->values;
    struct bf16 *out = (struct bf16 *)cpu_at(arena, &k->out[0]) + row * r->table;
    for (int64_t lo = 0; lo < r->table; lo += PLACES) {
        int64_t n = min_i64(PLACES, r->table - lo);
        float sum[PLACES];
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int64_t i = 0; i < r->values; i++) {
            int64_t j = checked_place(arena, k, index[i], r->table);
            if (j >= lo && j < lo + n) {
                sum[j - lo] += bf16_widen(value[i]);
            }
        }
        bf16_round_run((char *)(out + lo), sizeof *out, sum, n);
    }
}

void cpu_spread(void *arena, const struct kargs *k, struct slice s)
{
    struct rows r = rows_of(&k->out[0], &k->in[1]);
    int64_t size = (int64_t)dtype_size((enum dtype)k->out[0].dtype), to = min_i64(s.to * per_unit(&r), r.n);
    char *value = cpu_at(arena, &k->in[0]), *out = cpu_at(arena, &k->out[0]);
    const int32_t *index = cpu_at(arena, &k->in[1]);
    const int64_t step[] = {size, size, size};
    iter_fn add = elem_run_of(OP_add, (enum dtype)k->out[0].dtype);
    for (int64_t row = s.from * per_unit(&r); row < to; row++) {
        if (k->out[0].dtype == DT_BF16) {
            spread_bf16(arena, k, &r, row);
            continue;
        }
        memset(out + row * r.table * size, 0, (size_t)(r.table * size));
        for (int64_t i = row * r.values; i < (row + 1) * r.values; i++) {
            int64_t j = checked_place(arena, k, index[i], r.table);
            if (j >= 0) {
                char *at = out + (row * r.table + j) * size, *p[] = {at, at, value + i * size};
                add(p, step, 1);
            }
        }
    }
}
