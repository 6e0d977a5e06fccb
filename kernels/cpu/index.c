/* Reading and writing rows by index: gather, put_add, put, put_max. Index -1 reads zeros and writes nothing;
 * another index outside of 0 .. n-1 sets the failure word, and is treated the same way. Rows are added,
 * written or compared in ascending order of the source, whatever the threads: a unit owns a range of
 * destination rows and walks all indices. */
#include "kernels/cpu/cpu.h"

enum { PUT_ADD_UNITS = 16 };

/* The index if it names a row, else -1 (and the failure word, when it is not -1). */
static int64_t checked_index(void *arena, const struct kargs *k, int32_t i, int64_t n)
{
    if (i >= 0 && i < n) {
        return i;
    }
    if (i != -1) {
        fault_raise(cpu_control(arena, k), FAULT_INDEX, k->node, i, n);
    }
    return -1;
}

/* Byte offset of element `i` (row-major) of a strided index tensor. */
static int64_t element_offset(const struct operand *o, int64_t i)
{
    int64_t offset = 0;
    for (int axis = o->rank - 1; axis >= 0; axis--) {
        offset += i % o->dim[axis] * o->stride[axis];
        i /= o->dim[axis];
    }
    return offset * (int64_t)dtype_size((enum dtype)o->dtype);
}

static int64_t row_elements(const struct operand *x)
{
    return dims_product(x, 1, x->rank);
}

int64_t cpu_units_gather(const struct kargs *k)
{
    int64_t width = row_elements(&k->in[0]);
    return width ? div_up(operand_count(&k->in[1]), rows_per_unit(width)) : 0;
}

void cpu_gather(void *arena, const struct kargs *k, struct slice s)
{
    const struct operand *x = &k->in[0], *index = &k->in[1];
    int64_t per = rows_per_unit(row_elements(x)), to = min_i64(s.to * per, operand_count(index));
    size_t row = (size_t)row_elements(x) * dtype_size((enum dtype)x->dtype);
    const char *from = cpu_at(arena, x), *at = cpu_at(arena, index);
    char *out = cpu_at(arena, &k->out[0]);
    for (int64_t i = s.from * per; i < to; i++) {
        int64_t j = checked_index(arena, k, *(const int32_t *)(at + element_offset(index, i)), x->dim[0]);
        if (j < 0) {
            memset(out + (size_t)i * row, 0, row);
        } else {
            memcpy(out + (size_t)i * row, from + (size_t)j * row, row);
        }
    }
}

static int64_t put_add_rows(const struct kargs *k)
{
    int64_t n = k->in[0].dim[0];
    int64_t units = min_i64(PUT_ADD_UNITS, div_up(n * row_elements(&k->in[0]), UNIT_ELEMENTS));
    return max_i64(1, div_up(n, max_i64(1, units)));
}

static int64_t put_units(const struct kargs *k)
{
    return operand_count(&k->in[0]) ? div_up(k->in[0].dim[0], put_add_rows(k)) : 0;
}

/* `run` puts row v[i] into its row of the output: from (old, v), or when `copies` from v alone. */
static void put_rows(void *arena, const struct kargs *k, struct slice s, iter_fn run, bool copies)
{
    const struct operand *x = &k->in[0];
    int64_t width = row_elements(x), per = put_add_rows(k), n = operand_count(&k->in[1]);
    int64_t lo = s.from * per, hi = min_i64(s.to * per, x->dim[0]),
            size = (int64_t)dtype_size((enum dtype)x->dtype);
    const int32_t *index = cpu_at(arena, &k->in[1]);
    char *out = cpu_at(arena, &k->out[0]), *from = cpu_at(arena, x), *v = cpu_at(arena, &k->in[2]);
    const int64_t step[] = {size, size, size};
    if (out != from) {
        memcpy(out + lo * width * size, from + lo * width * size, (size_t)((hi - lo) * width * size));
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t j = checked_index(arena, k, index[i], x->dim[0]);
        if (j >= lo && j < hi) {
            char *row = out + j * width * size, *value = v + i * width * size;
            char *p[] = {row, copies ? value : row, value};
            run(p, step, width);
        }
    }
}

/* Sums of bf16 are kept in f32 until a row has all of them, so the rows of v that belong to a row are listed
 * first: `next`, one per index, then `head`, one per row of x, in the scratch. Lists are in ascending order;
 * an index is in the list of one row, and so of one unit. */
static void add_bf16(void *arena, const struct kargs *k, struct slice s)
{
    enum { COLUMNS = 512 };
    const struct operand *x = &k->in[0];
    int64_t width = row_elements(x), per = put_add_rows(k), n = operand_count(&k->in[1]);
    int64_t lo = s.from * per, hi = min_i64(s.to * per, x->dim[0]);
    const int32_t *index = cpu_at(arena, &k->in[1]);
    const struct bf16 *from = cpu_at(arena, x), *v = cpu_at(arena, &k->in[2]);
    struct bf16 *out = cpu_at(arena, &k->out[0]);
    int32_t *next = (int32_t *)(void *)((char *)arena + k->work), *head = next + n;
    for (int64_t row = lo; row < hi; row++) {
        head[row] = -1;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t row = checked_index(arena, k, index[i], x->dim[0]);
        if (row >= lo && row < hi) {
            next[i] = head[row];
            head[row] = (int32_t)i;
        }
    }
    for (int64_t at = lo * width; at < hi * width;) {
        int64_t row = at / width, column = at % width, m = min_i64(COLUMNS, width - column);
        float sum[COLUMNS];
        bf16_widen_run(sum, (const char *)(from + at), sizeof *from, m);
        for (int32_t i = head[row]; i >= 0; i = next[i]) {
            for (int64_t j = 0; j < m; j++) {
                sum[j] += bf16_widen(v[i * width + column + j]);
            }
        }
        bf16_round_run((char *)(out + at), sizeof *out, sum, m);
        at += m;
    }
}

int64_t cpu_units_put_add(const struct kargs *k)
{
    return put_units(k);
}
void cpu_put_add(void *arena, const struct kargs *k, struct slice s)
{
    if (k->in[0].dtype == DT_BF16) {
        add_bf16(arena, k, s);
        return;
    }
    put_rows(arena, k, s, elem_run_of(OP_add, (enum dtype)k->in[0].dtype), false);
}

int64_t cpu_units_put_max(const struct kargs *k)
{
    return put_units(k);
}
static void max_bf16(char *const *p, const int64_t *s, int64_t n)
{
    struct bf16 *out = (struct bf16 *)(void *)p[0];
    const struct bf16 *x = (const struct bf16 *)(const void *)p[1],
                      *y = (const struct bf16 *)(const void *)p[2];
    (void)s; /* all are adjacent */
    for (int64_t i = 0; i < n; i++) {
        float a = bf16_widen(x[i]), b = bf16_widen(y[i]);
        out[i] = bf16_round(max2(a, b));
    }
}
void cpu_put_max(void *arena, const struct kargs *k, struct slice s)
{
    enum dtype t = (enum dtype)k->in[0].dtype;
    put_rows(arena, k, s, t == DT_BF16 ? max_bf16 : elem_run_of(OP_max, t), false);
}

int64_t cpu_units_put(const struct kargs *k)
{
    return put_units(k);
}
void cpu_put(void *arena, const struct kargs *k, struct slice s)
{
    put_rows(arena, k, s, iter_copy(dtype_size((enum dtype)k->in[0].dtype)), true);
}
