/* Types, numbers and the formulas of ops.def as C text. */
#include <math.h>
#include <stddef.h>
#include "kernels/codegen/internal.h"
#include "runtime/base/bf16.h"

struct type_words {
    const char *value, *cell, *accumulator;
};
/* A bool is folded as a number. */
static const struct type_words words[DT_COUNT] = {
    [DT_F32] = {"float", "float", "float"},     [DT_F64] = {"double", "double", "double"},
    [DT_BF16] = {"float", "uint16_t", "float"}, [DT_I32] = {"int32_t", "int32_t", "int32_t"},
    [DT_BOOL] = {"bool", "uint8_t", "int32_t"},
};

const char *value_type(enum dtype t)
{
    return words[t].value;
}

const char *cell_type(enum dtype t)
{
    return words[t].cell;
}

const char *accumulator_type(enum dtype t)
{
    return words[t].accumulator;
}

static const char *float_text(struct frame *f, double x, bool single)
{
    const char *type = single ? "float" : "double";
    if (x != x) {
        return single ? "__int_as_float(0x7fffffff)" : "(double)__int_as_float(0x7fffffff)";
    }
    if (isinf(x)) {
        return arena_printf(f->arena, "(%s)(%sGML_INF)", type, x < 0 ? "-" : "");
    }
    return arena_printf(f->arena, signbit(x) ? "(%a%s)" : "%a%s", x, single ? "f" : "");
}

const char *number_text(struct frame *f, enum dtype t, double x)
{
    switch (t) {
    case DT_F64:
        return float_text(f, x, false);
    case DT_F32:
        return float_text(f, (double)(float)x, true);
    case DT_BF16:
        return float_text(f, (double)bf16_widen(bf16_round((float)x)), true);
    case DT_BOOL:
        return x != 0 ? "true" : "false";
    default:
        return x <= -2147483648. ? "(-2147483647 - 1)" : arena_printf(f->arena, "(%d)", (int)x);
    }
}

const char *load_text(struct frame *f, enum dtype t, const char *cell)
{
    return t == DT_BF16   ? arena_printf(f->arena, "gml_wide(%s)", cell)
           : t == DT_BOOL ? arena_printf(f->arena, "(%s != 0)", cell)
                          : cell;
}

const char *store_text(struct frame *f, enum dtype t, const char *value)
{
    return t == DT_BF16   ? arena_printf(f->arena, "gml_half(%s)", value)
           : t == DT_BOOL ? arena_printf(f->arena, "(uint8_t)%s", value)
                          : value;
}

const char *round_text(struct frame *f, enum dtype t, const char *x)
{
    switch (t) {
    case DT_BF16:
        return arena_printf(f->arena, "gml_round((float)(%s))", x);
    case DT_I32:
        return arena_printf(f->arena, "to_i32(%s)", x);
    case DT_BOOL:
        return arena_printf(f->arena, "(%s) != 0", x);
    default:
        return arena_printf(f->arena, "(%s)(%s)", value_type(t), x);
    }
}

/* Sums and products of i32 wrap: they are formed of unsigned numbers. A formula with a call, a comparison or
 * a choice in it is no sum. */
static bool wraps(enum op op, const char *formula, enum dtype t)
{
    return t == DT_I32 && op_table[op].sig == SIG_NUMBER && !strpbrk(formula, "(<>=?&|!");
}

static bool has_function(const struct frame *f, const char *name)
{
    return f->functions.at && strstr(f->functions.at, name);
}

const char *elem_function(struct frame *f, const struct group_instr *in)
{
    static const char letter[] = "xyz";
    const struct group_instr *instr = f->g->instr;
    const struct op_info *info = &op_table[in->op];
    enum dtype x = (enum dtype)instr[in->in[0]].dtype, y = x, to = (enum dtype)in->dtype;
    if (in->n_in > 1) {
        y = (enum dtype)instr[in->in[1]].dtype;
    }
    bool whole = wraps((enum op)in->op, info->forward, x);
    const char *name = arena_printf(f->arena, "%s_%s_%s", info->name,
                                    dtype_name(info->sig == SIG_CHOOSE ? y : x), dtype_name(to));
    if (has_function(f, arena_printf(f->arena, " %s(", name))) {
        return name;
    }
    struct text *t = &f->functions;
    text_printf(t, "GML_INLINE %s %s(", value_type(to), name);
    for (uint8_t i = 0; i < in->n_in; i++) {
        text_printf(t, "%s%s %c", i ? ", " : "",
                    whole ? "uint32_t" : value_type((enum dtype)instr[in->in[i]].dtype), letter[i]);
    }
    text_printf(t, ")\n{\n    typedef %s T;\n    (void)sizeof(T);\n    return %s;\n}\n",
                whole ? "uint32_t" : value_type(x),
                whole ? arena_printf(f->arena, "(int32_t)(%s)", info->forward)
                      : round_text(f, to, info->forward));
    return name;
}

const char *reduce_struct(struct frame *f, const struct group_instr *in)
{
    const struct op_info *info = &op_table[in->op];
    enum dtype x = (enum dtype)f->g->instr[in->in[0]].dtype;
    const char *name = arena_printf(f->arena, "%s_%s", info->name, dtype_name(x));
    if (has_function(f, arena_printf(f->arena, "struct %s\n", name))) {
        return name;
    }
    static const char head[] = "    static __device__ __forceinline__ T";
    text_printf(&f->functions,
                "struct %s\n{\n    typedef %s T;\n"
                "%s first()\n    {\n        return (T)(%s);\n    }\n"
                "%s fold(T a, T x)\n    {\n        return (T)(%s);\n    }\n"
                "%s finish(T a, T n)\n    {\n        (void)n;\n        return (T)(%s);\n    }\n};\n",
                name, wraps((enum op)in->op, info->combine, x) ? "uint32_t" : accumulator_type(x), head,
                info->identity, head, info->combine, head, info->finish);
    return name;
}

/* step: phase, which. knob: config. metric: phase, metric, absolute index (added by the planner). */
const char *scalar_text(struct frame *f, const struct group_instr *in, const char *control)
{
    static const size_t count[] = {
        offsetof(struct phase_control, step), offsetof(struct phase_control, steps),
        offsetof(struct phase_control, epoch), offsetof(struct phase_control, cursor)};
    enum dtype t = (enum dtype)in->dtype;
    size_t first = in->n_attr > 0 ? (size_t)in->attr[0] : 0,
           last = in->n_attr > 0 ? (size_t)in->attr[in->n_attr - 1] : 0;
    if (in->op == OP_step) {
        return round_text(f, t,
                          arena_printf(f->arena, "gml_count(*(const int64_t *)(%s + %zu))", control,
                                       offsetof(struct control, phase) +
                                           first * sizeof(struct phase_control) + count[last & 3]));
    }
    size_t at = in->op == OP_knob ? offsetof(struct control, knob) + first * sizeof(double)
                                  : offsetof(struct control, metric) + last * sizeof(struct metric_control) +
                                        offsetof(struct metric_control, last);
    return round_text(f, t, arena_printf(f->arena, "*(const double *)(%s + %zu)", control, at));
}
