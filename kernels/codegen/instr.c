/* Instructions as statements. Values are u<i> (once for a thread), r<i> (of a row), v<i> (of a point), s<i>[]
 * (of points, kept from a walk before). Offsets are b<c> (of a row) and o<c> (of the first point of a vector)
 * by column; cells that were loaded as a vector are l<i>, one cell for all points of it is v<i> at once. */
#include <stddef.h>
#include "kernels/codegen/internal.h"

const char *ssa_name(struct frame *f, uint16_t i, int walk)
{
    const struct group_instr *in = &f->g->instr[i];
    const struct value *v = &f->value[i];
    if (in->kind == GROUP_CONST) {
        return number_text(f, (enum dtype)in->dtype, in->value);
    }
    if (v->fixed || !v->full) {
        return arena_printf(f->arena, v->fixed ? "u%u" : has_rows(f) ? "r%u[v]" : "r%u", i);
    }
    if (f->s.kept && v->place < walk) {
        return arena_printf(f->arena, f->s.vector > 1 ? "s%u[c * %d + v]" : "s%u[c]", i, f->s.vector);
    }
    return arena_printf(f->arena, "v%u", i);
}

const char *sum_name(struct frame *f, uint16_t i)
{
    return arena_printf(f->arena, has_rows(f) ? "a%u[v]" : "a%u", i);
}

void each_row(struct frame *f)
{
    if (has_rows(f)) {
        text_printf(&f->body, "#pragma unroll\nfor (int v = 0; v < %d; v++) {\n", f->s.vector);
    }
}

void each_row_end(struct frame *f)
{
    text_printf(&f->body, "%s", has_rows(f) ? "}\n" : "");
}

void row_value_emit(struct frame *f, uint16_t i, const char *x)
{
    const char *type = value_type((enum dtype)f->g->instr[i].dtype);
    if (!has_rows(f)) {
        text_printf(&f->body, "const %s r%u = %s;\n", type, i, x);
        return;
    }
    text_printf(&f->body, "%s r%u[%d];\n", type, i, f->s.vector);
    each_row(f);
    text_printf(&f->body, "r%u[v] = %s;\n", i, x);
    each_row_end(f);
}

/* Where the cell of a column is: of a row, of a point. */
static const char *offset_of(struct frame *f, uint32_t column, bool full)
{
    int64_t step = f->s.vector > 1 ? column_step(f, column) : 0;
    if (!full) {
        return has_rows(f) ? arena_printf(f->arena, "b%u + v * (%lld)", column, (long long)step)
                           : arena_printf(f->arena, "b%u", column);
    }
    return step == 0   ? arena_printf(f->arena, "o%u", column)
           : step == 1 ? arena_printf(f->arena, "o%u + v", column)
                       : arena_printf(f->arena, "o%u + v * (%lld)", column, (long long)step);
}

static const char *load_always(struct frame *f, uint16_t i)
{
    const struct group_instr *in = &f->g->instr[i];
    const struct value *v = &f->value[i];
    enum dtype t = (enum dtype)in->dtype;
    if (v->fixed) {
        return load_text(f, t, arena_printf(f->arena, "in%u[0]", in->operand));
    }
    if (v->full && f->s.vector > 1 && column_access(f, in->operand, f->s.vector) == ACCESS_VECTOR) {
        return load_text(f, t, arena_printf(f->arena, "l%u.at[v]", i));
    }
    return load_text(f, t,
                     arena_printf(f->arena, "in%u[%s]", in->operand, offset_of(f, in->operand, v->full)));
}

static const char *load(struct frame *f, uint16_t i, int walk)
{
    const struct group_instr *in = &f->g->instr[i];
    const char *cell = load_always(f, i);
    return in->n_in ? arena_printf(f->arena, "%s ? %s : %s", ssa_name(f, in->in[0], walk), cell,
                                   number_text(f, (enum dtype)in->dtype, 0))
                    : cell;
}

const char *load_one_text(struct frame *f, uint16_t i)
{
    const struct group_instr *in = &f->g->instr[i];
    return load_text(f, (enum dtype)in->dtype, arena_printf(f->arena, "in%u[o%u]", in->operand, in->operand));
}

static const char *elem(struct frame *f, const struct group_instr *in, int walk)
{
    const char *args = "";
    for (uint8_t k = 0; k < in->n_in; k++) {
        args = arena_printf(f->arena, "%s%s%s", args, k ? ", " : "", ssa_name(f, in->in[k], walk));
    }
    return arena_printf(f->arena, "%s(%s)", elem_function(f, in), args);
}

static const char *range(struct frame *f, const struct group_instr *in, int walk)
{
    const struct operand *table = &f->k->in[in->operand];
    return round_text(f, (enum dtype)in->dtype,
                      arena_printf(f->arena, "gml_range((const double *)(arena + p.at[%u]), %lld, %s, %s)",
                                   in->operand, (long long)table->dim[0], ssa_name(f, in->in[0], walk),
                                   number_text(f, DT_F64, in->value)));
}

static const char *expression(struct frame *f, uint16_t i, int walk)
{
    const struct group_instr *in = &f->g->instr[i];
    switch (in->kind) {
    case GROUP_LOAD:
        return load(f, i, walk);
    case GROUP_INDEX:
        return f->value[i].fixed ? "0"
                                 : arena_printf(f->arena, "(int32_t)(%s)",
                                                offset_of(f, column_index(f, in->operand), f->value[i].full));
    case GROUP_SCALAR:
        return scalar_text(f, in, "control");
    case GROUP_ELEM:
        return elem(f, in, walk);
    case GROUP_RANGES:
        return range(f, in, walk);
    default: /* GROUP_CHECK */
        return ssa_name(f, in->in[0], walk);
    }
}

/* GROUP_CHECKs before this one. */
static int check_number(const struct frame *f, uint16_t i)
{
    int n = 0;
    for (uint16_t k = 0; k < i; k++) {
        n += f->g->instr[k].kind == GROUP_CHECK;
    }
    return n;
}

static void check(struct frame *f, uint16_t i)
{
    const struct group_instr *in = &f->g->instr[i];
    const struct value *v = &f->value[i];
    const char *name = ssa_name(f, i, v->place);
    long long n = (long long)in->value;
    bool once = !v->full && !is_flat(f);
    text_printf(&f->body,
                "if ((%s < -1 || %s >= %lldll)%s) {\ngml_fail(control + %zu, %d, (uint32_t)p.at[%d], %s, "
                "%lldll);\n}\n",
                name, name, n, once ? arena_printf(f->arena, " && %s", leads_text(f, false)) : "",
                offsetof(struct control, fault), FAULT_LABEL,
                f->k->n_in + f->k->n_out + 2 + check_number(f, i), name, n);
}

void instr_emit(struct frame *f, uint16_t i, int walk)
{
    const struct group_instr *in = &f->g->instr[i];
    const struct value *v = &f->value[i];
    if (in->kind == GROUP_CONST || in->kind == GROUP_REDUCE) {
        return;
    }
    if (!(in->kind == GROUP_LOAD && v->full && f->s.vector > 1 &&
          column_access(f, in->operand, f->s.vector) == ACCESS_ONE)) {
        const char *x = expression(f, i, walk);
        if (!v->fixed && !v->full) {
            row_value_emit(f, i, x);
        } else {
            text_printf(&f->body, "const %s %s = %s;\n", value_type((enum dtype)in->dtype),
                        ssa_name(f, i, v->place), x);
        }
    }
    if (in->kind == GROUP_CHECK && (!v->full || walk == v->place)) {
        check(f, i);
    }
}
