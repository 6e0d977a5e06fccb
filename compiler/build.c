/* Building nodes by meaning: broadcasting, literals, views, reductions. Checks here exist only to word the
 * message for a user; graph_add checks everything again. Nothing is owned: nodes live in the graph, messages
 * in the sink.
 */
#include "compiler/build.h"

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

static struct node_spec spec_of(const struct build *b, enum op op, const val *in, uint32_t n_in)
{
    return (struct node_spec){
        .op = op, .phase = b->phase, .in = in, .n_in = n_in, .span = b->span, .scope = b->scope};
}
static bool is_unit(const struct build *b, dim d)
{
    int64_t v;
    return dim_is_const(&b->g->dims, d, &v) && v == 1;
}
static const char *text_of(const struct build *b, val v)
{
    struct type t = node_type(b->g, v);
    return type_text(b->g, &t);
}
static const char *dim_text(const struct build *b, dim d)
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
    [SIG_CAST] = {is_any, "a tensor"},
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
static bool accepts(struct build *b, enum op op, enum op_sig sig, val x)
{
    enum dtype t = node_type(b->g, x).dtype;
    if (signatures[sig].accepts(t)) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2002, b->span, "`%s` needs %s, found %s", op_text(op), signatures[sig].wants,
              text_of(b, x));
    help_with_type(b, op, t);
    return false;
}
static bool same_dtype(struct build *b, enum op op, val x, val y)
{
    enum dtype s = node_type(b->g, x).dtype, t = node_type(b->g, y).dtype;
    if (s == t) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2002, b->span, "`%s` needs operands of one type, found %s and %s", op_text(op),
              text_of(b, x), text_of(b, y));
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
                      op_text(op), text_of(b, in[0]));
            diag_help(b->sink, "compare first, as in `x > 0`");
            return false;
        }
        first = 1;
    }
    if (!accepts(b, op, op_table[op].sig, in[first])) {
        return false;
    }
    for (uint32_t i = first + 1; i < n; i++) {
        if (!same_dtype(b, op, in[first], in[i])) {
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
            if (d == *e || is_unit(b, d)) {
                continue;
            }
            if (!is_unit(b, *e)) {
                diag_emit(b->sink, DIAG_E2001, b->span,
                          "`%s` needs shapes that match from the right, found %s and %s: "
                          "%s and %s differ",
                          op_text(op), text_of(b, in[0]), text_of(b, in[i]),
                          dim_text(b, out->dim[out->rank - k]), dim_text(b, t.dim[t.rank - k]));
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
    struct node_spec s = spec_of(b, op, stretched, n);
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
    struct node_spec s = spec_of(b, op, in, n);
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
    struct node_spec s = spec_of(b, OP_cast, &x, 1);
    s.attr = (int64_t[]){t};
    s.n_attr = 1;
    return graph_add(b->g, &s, b->sink);
}

/* -- constants */

val build_const(struct build *b, enum dtype t, double v)
{
    struct node_spec s = spec_of(b, OP_const, NULL, 0);
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
    struct node_spec s = spec_of(b, OP_dimval, NULL, 0);
    s.dims = &d;
    s.n_dim = 1;
    s.type.dtype = t;
    return graph_add(b->g, &s, b->sink);
}
val build_full(struct build *b, const struct type *t, double v)
{
    return build_expand(b, build_const(b, t->dtype, v), t->rank, t->dim);
}

/* -- views */

static bool rank_ok(struct build *b, int rank)
{
    if (rank >= 0 && rank <= LIMIT_RANK) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2003, b->span, "a tensor of %d axes: at most %d are possible", rank, LIMIT_RANK);
    return false;
}
static struct type shaped(enum dtype t, int rank, const dim *shape)
{
    struct type out = {.dtype = t, .rank = rank};
    for (int i = 0; i < rank; i++) {
        out.dim[i] = shape[i];
    }
    return out;
}
val build_reshape(struct build *b, val x, int rank, const dim *shape)
{
    if (!x || !rank_ok(b, rank)) {
        return 0;
    }
    struct type from = node_type(b->g, x), to = shaped(from.dtype, rank, shape);
    if (type_equal(&from, &to)) {
        return x;
    }
    struct node_spec s = spec_of(b, OP_reshape, &x, 1);
    s.type = to;
    return graph_add(b->g, &s, b->sink);
}
val build_permute(struct build *b, val x, const int *perm)
{
    int64_t attr[LIMIT_RANK];
    bool identity = true;
    if (!x) {
        return 0;
    }
    int rank = node_type(b->g, x).rank;
    for (int i = 0; i < rank; i++) {
        attr[i] = perm[i];
        identity &= perm[i] == i;
    }
    if (identity) {
        return x;
    }
    struct node_spec s = spec_of(b, OP_permute, &x, 1);
    s.attr = attr;
    s.n_attr = (uint32_t)rank;
    return graph_add(b->g, &s, b->sink);
}
/* Puts unit axes in front until the rank is reached. */
static val lead_units(struct build *b, val x, int rank)
{
    struct type t = node_type(b->g, x);
    dim shape[LIMIT_RANK];
    int lead = rank - t.rank;
    for (int i = 0; i < rank; i++) {
        shape[i] = i < lead ? dim_const(&b->g->dims, 1) : t.dim[i - lead];
    }
    return build_reshape(b, x, rank, shape);
}
val build_expand(struct build *b, val x, int rank, const dim *shape)
{
    if (!x || !rank_ok(b, rank)) {
        return 0;
    }
    struct type from = node_type(b->g, x), to = shaped(from.dtype, rank, shape);
    if (from.rank < rank) {
        x = lead_units(b, x, rank);
        if (!x) {
            return 0;
        }
        from = node_type(b->g, x);
    }
    if (type_equal(&from, &to)) {
        return x;
    }
    struct node_spec s = spec_of(b, OP_expand, &x, 1);
    s.type = to;
    return graph_add(b->g, &s, b->sink);
}
val build_slice(struct build *b, val x, const dim *start, const int64_t *step, const dim *size)
{
    if (!x) {
        return 0;
    }
    struct type t = node_type(b->g, x);
    struct node_spec s = spec_of(b, OP_slice, &x, 1);
    s.attr = step;
    s.n_attr = (uint32_t)t.rank;
    s.dims = start;
    s.n_dim = (uint32_t)t.rank;
    s.type = shaped(t.dtype, t.rank, size);
    return graph_add(b->g, &s, b->sink);
}
val build_pad(struct build *b, val x, const dim *start, const int64_t *step, const struct type *t)
{
    if (!x) {
        return 0;
    }
    struct node_spec s = spec_of(b, OP_pad, &x, 1);
    s.attr = step;
    s.n_attr = (uint32_t)t->rank;
    s.dims = start;
    s.n_dim = (uint32_t)t->rank;
    s.type = *t;
    return graph_add(b->g, &s, b->sink);
}

/* -- trees */

struct type build_tree_type(struct build *b, uint32_t tree, enum dtype t)
{
    return (struct type){.dtype = t, .rank = 1, .dim = {dim_tree(&b->g->dims, tree)}};
}
val build_leaf(struct build *b, val flat, uint32_t tree, uint32_t leaf)
{
    if (!flat) {
        return 0;
    }
    struct node_spec s = spec_of(b, OP_leaf, &flat, 1);
    s.attr = (int64_t[]){leaf};
    s.n_attr = 1;
    s.type = b->g->vars.at[b->g->trees.at[tree].leaf[leaf]].type;
    s.type.dtype = node_type(b->g, flat).dtype;
    return graph_add(b->g, &s, b->sink);
}
val build_pack(struct build *b, uint32_t tree, const val *leaf)
{
    const struct tree *t = &b->g->trees.at[tree];
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        if (!leaf[i]) {
            return 0;
        }
    }
    struct node_spec s = spec_of(b, OP_pack, leaf, t->n_leaf);
    s.attr = (int64_t[]){tree};
    s.n_attr = 1;
    s.type = build_tree_type(b, tree, t->n_leaf ? node_type(b->g, leaf[0]).dtype : DT_F32);
    return graph_add(b->g, &s, b->sink);
}

/* -- reductions */

/* bool counts: its sum is i32, its mean f32. */
static val countable(struct build *b, enum op op, val x)
{
    if (node_type(b->g, x).dtype != DT_BOOL || (op != OP_sum && op != OP_mean)) {
        return x;
    }
    return build_cast(b, x, op == OP_sum ? DT_I32 : DT_F32);
}
static val unit_axes(struct build *b, val reduced, const struct type *t, const int64_t *axes, int n_axes)
{
    dim shape[LIMIT_RANK];
    for (int i = 0, k = 0; i < t->rank; i++) {
        bool gone = k < n_axes && axes[k] == i;
        shape[i] = gone ? dim_const(&b->g->dims, 1) : t->dim[i];
        k += gone;
    }
    return build_reshape(b, reduced, t->rank, shape);
}
val build_reduce(struct build *b, enum op op, val x, const int *axes, int n_axes, bool keep)
{
    int64_t attr[LIMIT_RANK];
    x = x ? countable(b, op, x) : 0;
    if (!x || !accepts(b, op, op_table[op].sig, x)) {
        return 0;
    }
    struct type t = node_type(b->g, x);
    int n = n_axes < 0 ? t.rank : n_axes;
    for (int i = 0; i < n; i++) {
        attr[i] = n_axes < 0 ? i : axes[i];
        if (attr[i] < 0 || attr[i] >= t.rank) {
            diag_emit(b->sink, DIAG_E2005, b->span, "`%s` over axis %d of %s", op_text(op), (int)attr[i],
                      text_of(b, x));
            return 0;
        }
    }
    if (n == 0) {
        return x;
    }
    struct node_spec s = spec_of(b, op, &x, 1);
    s.attr = attr;
    s.n_attr = (uint32_t)n;
    val r = graph_add(b->g, &s, b->sink);
    return keep && r ? unit_axes(b, r, &t, attr, n) : r;
}
val build_sum_to(struct build *b, val x, const struct type *t)
{
    int axes[LIMIT_RANK], n = 0;
    if (!x) {
        return 0;
    }
    struct type from = node_type(b->g, x);
    int lead = from.rank - t->rank;
    for (int i = 0; i < from.rank; i++) {
        if (i < lead || (is_unit(b, t->dim[i - lead]) && !is_unit(b, from.dim[i]))) {
            axes[n++] = i;
        }
    }
    return build_reshape(b, build_reduce(b, OP_sum, x, axes, n, false), t->rank, t->dim);
}

/* -- matrix product */

static bool matrix_ok(struct build *b, val x, const char *side)
{
    if (node_type(b->g, x).rank >= 2) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2003, b->span, "`@` needs matrices, its %s operand is %s", side, text_of(b, x));
    if (node_type(b->g, x).rank == 1) {
        diag_help(b->sink, "make it a row with `x[_, :]` or a column with `x[:, _]`");
    }
    return false;
}
static bool inner_ok(struct build *b, val x, val w)
{
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    dim k = s.dim[s.rank - 1], l = t.dim[t.rank - 2];
    if (k == l) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2012, b->span, "`@` needs equal inner dimensions, found %s and %s",
              dim_text(b, k), dim_text(b, l));
    diag_note(b->sink, "the operands are %s and %s", text_of(b, x), text_of(b, w));
    return false;
}
static val add_matmul(struct build *b, val x, val w)
{
    struct node_spec s = spec_of(b, OP_matmul, (val[]){x, w}, 2);
    return x && w ? graph_add(b->g, &s, b->sink) : 0;
}
/* x[.., I] @ w[I, O]: one product over all leading axes. */
static val flat_matmul(struct build *b, val x, val w)
{
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    dim rows = dim_const(&b->g->dims, 1);
    for (int i = 0; i + 1 < s.rank; i++) {
        rows = dim_mul(&b->g->dims, rows, s.dim[i]);
    }
    val y = add_matmul(b, build_reshape(b, x, 2, (dim[]){rows, s.dim[s.rank - 1]}), w);
    s.dim[s.rank - 1] = t.dim[1];
    return build_reshape(b, y, s.rank, s.dim);
}
/* Leading axes of both, right-aligned; the last two stay. */
static bool join_leading(struct build *b, val x, val w, struct type *s, struct type *t)
{
    int rank = s->rank > t->rank ? s->rank : t->rank;
    struct type u = *s, v = *t;
    for (int i = 0; i < rank - 2; i++) {
        int p = i - (rank - s->rank), q = i - (rank - t->rank);
        dim d = p >= 0 ? s->dim[p] : dim_const(&b->g->dims, 1),
            e = q >= 0 ? t->dim[q] : dim_const(&b->g->dims, 1);
        if (d != e && !is_unit(b, d) && !is_unit(b, e)) {
            diag_emit(b->sink, DIAG_E2001, b->span,
                      "`@` needs equal leading axes, found %s and %s: %s and %s differ", text_of(b, x),
                      text_of(b, w), dim_text(b, d), dim_text(b, e));
            return false;
        }
        u.dim[i] = v.dim[i] = is_unit(b, d) ? e : d;
    }
    for (int i = 1; i <= 2; i++) {
        u.dim[rank - i] = s->dim[s->rank - i];
        v.dim[rank - i] = t->dim[t->rank - i];
    }
    u.rank = v.rank = rank;
    *s = u;
    *t = v;
    return true;
}
val build_matmul(struct build *b, val x, val w)
{
    if (!x || !w || !accepts(b, OP_matmul, SIG_FLOAT, x) || !same_dtype(b, OP_matmul, x, w) ||
        !matrix_ok(b, x, "left") || !matrix_ok(b, w, "right") || !inner_ok(b, x, w)) {
        return 0;
    }
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    if (t.rank == 2) {
        return s.rank == 2 ? add_matmul(b, x, w) : flat_matmul(b, x, w);
    }
    if (!join_leading(b, x, w, &s, &t)) {
        return 0;
    }
    return add_matmul(b, build_expand(b, x, s.rank, s.dim), build_expand(b, w, t.rank, t.dim));
}
