/* Building nodes by meaning: symbols, elementwise rows with broadcasting, constants. Checks here exist only
 * to word the message for a user; graph_add checks everything again. Nothing is owned: nodes live in the
 * graph, messages in the sink.
 */
#include "compiler/build_internal.h"

/* Operators that have a symbol instead of a name. */
static const struct {
    const char *text;
    uint32_t n_in;
    enum op op;
} symbols[] = {
    {"+", 2, OP_add},  {"-", 2, OP_sub},    {"*", 2, OP_mul},       {"/", 2, OP_div}, {"-", 1, OP_neg},
    {"^", 2, OP_pow},  {"%", 2, OP_mod},    {"//", 2, OP_floordiv}, {"==", 2, OP_eq}, {"!=", 2, OP_ne},
    {"<", 2, OP_lt},   {"<=", 2, OP_le},    {">", 2, OP_gt},        {">=", 2, OP_ge}, {"and", 2, OP_land},
    {"or", 2, OP_lor}, {"@", 2, OP_matmul}, {"not", 1, OP_lnot},
};
enum { N_SYMBOLS = sizeof symbols / sizeof *symbols };

enum op op_by_symbol(const char *symbol, uint32_t n_in)
{
    for (uint32_t i = 0; i < N_SYMBOLS; i++) {
        if (symbols[i].n_in == n_in && !strcmp(symbols[i].text, symbol)) {
            return symbols[i].op;
        }
    }
    return OP_NONE;
}
const char *op_text(enum op op)
{
    for (uint32_t i = 0; i < N_SYMBOLS; i++) {
        if (symbols[i].op == op) {
            return symbols[i].text;
        }
    }
    return op_table[op].dsl && *op_table[op].dsl ? op_table[op].dsl : op_table[op].name;
}

struct node_spec build_spec(const struct build *b, enum op op, const val *in, uint32_t n_in)
{
    return (struct node_spec){
        .op = op, .phase = b->phase, .in = in, .n_in = n_in, .span = b->span, .scope = b->scope};
}
bool build_is_unit(const struct build *b, dim d)
{
    int64_t v;
    return dim_is_const(&b->g->dims, d, &v) && v == 1;
}
const char *build_type_text(const struct build *b, val v)
{
    struct type t = node_type(b->g, v);
    return type_text(b->g, &t);
}
const char *build_dim_text(const struct build *b, dim d)
{
    struct text t = {.arena = b->g->arena};
    dim_print(&b->g->dims, d, &t);
    return t.at;
}

/* -- elementwise: types */

static bool is_number(enum dtype t)
{
    return t != DT_BOOL && t != DT_NONE;
}
static bool is_bool(enum dtype t)
{
    return t == DT_BOOL;
}
static bool is_any(enum dtype t)
{
    return t != DT_NONE;
}
static const struct {
    bool (*accepts)(enum dtype);
    const char *wants;
} signatures[] = {
    [SIG_NONE] = {is_any, "a tensor"},     [SIG_FLOAT] = {dtype_is_float, "floats"},
    [SIG_NUMBER] = {is_number, "numbers"}, [SIG_COMPARE] = {is_number, "numbers"},
    [SIG_EQUAL] = {is_any, "a tensor"},    [SIG_LOGIC] = {is_bool, "bool"},
    [SIG_CHOOSE] = {is_any, "a tensor"},   [SIG_CLASSIFY] = {dtype_is_float, "floats"},
    [SIG_CAST] = {is_any, "a tensor"},     [SIG_BITS] = {is_number, "numbers"},
};

static void help_with_type(struct build *b, enum op op, enum dtype found)
{
    if (op == OP_div && found == DT_I32) {
        diag_help(b->sink, "`//` divides integers and rounds down; f32(x) makes floats");
    } else if (found == DT_BOOL) {
        diag_help(b->sink, "f32(x) or i32(x) counts true as 1");
    } else if (op_table[op].sig == SIG_LOGIC) {
        diag_help(b->sink, "compare first, as in `x > 0`");
    } else {
        diag_help(b->sink, "f32(x) makes floats");
    }
}
bool build_accepts(struct build *b, enum op op, enum op_sig sig, val x)
{
    enum dtype t = node_type(b->g, x).dtype;
    if (signatures[sig].accepts(t)) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2002, b->span, "`%s` needs %s, found %s", op_text(op), signatures[sig].wants,
              build_type_text(b, x));
    help_with_type(b, op, t);
    return false;
}
bool build_same_dtype(struct build *b, enum op op, val x, val y)
{
    enum dtype s = node_type(b->g, x).dtype, t = node_type(b->g, y).dtype;
    if (s == t) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2002, b->span, "`%s` needs operands of one type, found %s and %s", op_text(op),
              build_type_text(b, x), build_type_text(b, y));
    bool to_first = dtype_is_float(s) || t == DT_BOOL;
    diag_help(b->sink, "cast the %s operand: %s(..)", to_first ? "second" : "first",
              dtype_name(to_first ? s : t));
    return false;
}
static bool elem_types_ok(struct build *b, enum op op, const val *in, uint32_t n)
{
    uint32_t first = 0;
    if (op_table[op].sig == SIG_CHOOSE) {
        if (node_type(b->g, in[0]).dtype != DT_BOOL) {
            diag_emit(b->sink, DIAG_E2002, b->span, "the condition of `%s` must be bool, found %s",
                      op_text(op), build_type_text(b, in[0]));
            diag_help(b->sink, "compare first, as in `x > 0`");
            return false;
        }
        first = 1;
    }
    if (!build_accepts(b, op, op_table[op].sig, in[first])) {
        return false;
    }
    for (uint32_t i = first + 1; i < n; i++) {
        if (!build_same_dtype(b, op, in[first], in[i])) {
            return false;
        }
    }
    return true;
}

/* -- elementwise: shapes */

/* The joint shape of all inputs, axes aligned from the right. */
static bool join_shapes(struct build *b, enum op op, const val *in, uint32_t n, struct type *out)
{
    *out = node_type(b->g, in[0]);
    for (uint32_t i = 1; i < n; i++) {
        struct type t = node_type(b->g, in[i]), big = out->rank >= t.rank ? *out : t;
        const struct type *small = out->rank >= t.rank ? &t : out;
        for (int k = 1; k <= small->rank; k++) {
            dim d = small->dim[small->rank - k], *e = &big.dim[big.rank - k];
            if (d == *e || build_is_unit(b, d)) {
                continue;
            }
            if (!build_is_unit(b, *e)) {
                diag_emit(b->sink, DIAG_E2001, b->span,
                          "`%s` needs shapes that match from the right, found %s and %s: "
                          "%s and %s differ",
                          op_text(op), build_type_text(b, in[0]), build_type_text(b, in[i]),
                          build_dim_text(b, out->dim[out->rank - k]), build_dim_text(b, t.dim[t.rank - k]));
                diag_help(b->sink,
                          "make a unit axis with `_`, as in `x[:, _]`, where values are to be repeated");
                return false;
            }
            *e = d;
        }
        *out = big;
    }
    return true;
}
static val build_elem(struct build *b, enum op op, const val *in, uint32_t n)
{
    struct type t;
    val stretched[3] = {0};
    if (n != (uint32_t)op_table[op].n_min || n > 3) {
        diag_emit(b->sink, DIAG_E2011, b->span, "`%s` takes %d operand%s, found %u", op_text(op),
                  op_table[op].n_min, op_table[op].n_min == 1 ? "" : "s", n);
        return 0;
    }
    if (!elem_types_ok(b, op, in, n) || !join_shapes(b, op, in, n, &t)) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        stretched[i] = build_expand(b, in[i], t.rank, t.dim);
        if (!stretched[i]) {
            return 0;
        }
    }
    struct node_spec s = build_spec(b, op, stretched, n);
    return graph_add(b->g, &s, b->sink);
}
val build_op(struct build *b, enum op op, const val *in, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!in[i]) {
            return 0;
        }
    }
    if (op_table[op].kind == OPK_ELEM) {
        return build_elem(b, op, in, n);
    }
    if (op == OP_matmul && n == 2) {
        return build_matmul(b, in[0], in[1]);
    }
    struct node_spec s = build_spec(b, op, in, n);
    return graph_add(b->g, &s, b->sink);
}
val build_attrs(struct build *b, enum op op, const val *in, uint32_t n, const int64_t *attr, uint32_t n_attr)
{
    struct node_spec s = build_spec(b, op, in, n);
    for (uint32_t i = 0; i < n; i++) {
        if (!in[i]) {
            return 0;
        }
    }
    s.attr = attr;
    s.n_attr = n_attr;
    return graph_add(b->g, &s, b->sink);
}
val build_1(struct build *b, enum op op, val x)
{
    return build_op(b, op, &x, 1);
}
val build_2(struct build *b, enum op op, val x, val y)
{
    return build_op(b, op, (val[]){x, y}, 2);
}
val build_3(struct build *b, enum op op, val x, val y, val z)
{
    return build_op(b, op, (val[]){x, y, z}, 3);
}
val build_cast(struct build *b, val x, enum dtype t)
{
    if (!x || node_type(b->g, x).dtype == t) {
        return x;
    }
    struct node_spec s = build_spec(b, OP_cast, &x, 1);
    s.attr = (int64_t[]){t};
    s.n_attr = 1;
    return graph_add(b->g, &s, b->sink);
}

/* -- constants */

val build_const(struct build *b, enum dtype t, double v)
{
    struct node_spec s = build_spec(b, OP_const, NULL, 0);
    s.attr = (int64_t[]){f64_bits(v)};
    s.n_attr = 1;
    s.type.dtype = t;
    return graph_add(b->g, &s, b->sink);
}
val build_dim(struct build *b, enum dtype t, dim d)
{
    int64_t v;
    if (!d) {
        return 0;
    }
    if (dim_is_const(&b->g->dims, d, &v)) {
        return build_const(b, t, (double)v);
    }
    struct node_spec s = build_spec(b, OP_dimval, NULL, 0);
    s.dims = &d;
    s.n_dim = 1;
    s.type.dtype = t;
    return graph_add(b->g, &s, b->sink);
}
val build_full(struct build *b, const struct type *t, double v)
{
    return build_expand(b, build_const(b, t->dtype, v), t->rank, t->dim);
}
