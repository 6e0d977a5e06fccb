/* Arithmetic of the compiler itself: numbers, dimensions and bools. A number that may change after compiling
 * (a live config, a dimension in floating point arithmetic, the planned steps) keeps the expression it came
 * from beside its present value: reaching a tensor, the expression is emitted; reaching a shape or an `if`,
 * the value is used and its configs are fixed.
 */
#include <math.h>
#include "compiler/elab.h"
#include "compiler/passes.h"

/* -- dimensions with the default values of the configs */

static bool dim_default(struct elab *e, dim d, int64_t *out)
{
    uint32_t n = e->g->dims.atoms.n;
    struct binding b = {arena_array(e->arena, int64_t, n ? n : 1), n};
    for (uint32_t i = 0; i < n; i++) {
        b.atom[i] = -1;
    }
    for (uint32_t c = 0; c < e->g->configs.n; c++) {
        uint32_t atom;
        if (e->g->configs.at[c].symbol && dim_is_symbol(&e->g->dims, e->g->configs.at[c].symbol, &atom)) {
            b.atom[atom] = (int64_t)e->g->configs.at[c].value;
        }
    }
    return dim_eval(&e->g->dims, &b, d, out);
}
static void fix_dim(struct elab *e, dim d, struct span at);
static void fix_atom(struct elab *e, uint32_t atom, struct span at)
{
    const struct atom *a = &e->g->dims.atoms.at[atom];
    if (a->kind == ATOM_SYMBOL) {
        for (uint32_t c = 0; c < e->g->configs.n; c++) {
            if (e->g->configs.at[c].symbol && !strcmp(e->g->configs.at[c].name, a->name)) {
                config_fix(e, a->name, at);
            }
        }
    } else if (a->kind != ATOM_TREE) {
        fix_dim(e, a->a, at);
        fix_dim(e, a->b, at);
    }
}
static void fix_dim(struct elab *e, dim d, struct span at)
{
    const struct dim_form *f = &e->g->dims.list.at[d];
    for (uint32_t i = 0; i < f->n; i++) {
        for (uint32_t k = 0; k < f->terms[i].n_over; k++) {
            fix_atom(e, f->terms[i].over[k], at);
        }
        for (uint32_t k = 0; k < f->terms[i].n_under; k++) {
            fix_atom(e, f->terms[i].under[k], at);
        }
    }
}
void fix_value(struct elab *e, struct value v, struct span at)
{
    if (v.kind == V_DIM) {
        fix_dim(e, v.d, at);
    }
    if ((v.kind != V_NUM && v.kind != V_BOOL) || !v.live) {
        return;
    }
    if (v.live->kind == LIVE_KNOB) {
        config_fix(e, e->g->configs.at[v.live->index].name, at);
    } else if (v.live->kind == LIVE_DIM) {
        fix_dim(e, v.live->d, at);
    }
    for (uint32_t i = 0; i < v.live->n; i++) {
        fix_value(e, v.live->in[i], at);
    }
}

/* -- folding */

static bool gives_bool(enum op op)
{
    enum op_sig s = op_table[op].sig;
    return s == SIG_COMPARE || s == SIG_EQUAL || s == SIG_LOGIC || s == SIG_CLASSIFY;
}
bool is_whole(struct value v)
{
    return v.kind == V_DIM || (v.kind == V_NUM && v.is_int);
}
/* A dimension out of a dimension or a whole constant; 0 when v is neither. */
static dim as_dim(struct elab *e, struct value v)
{
    if (v.kind == V_DIM) {
        return v.d;
    }
    if (v.kind == V_NUM && v.is_int && v.known && !v.live && fabs(v.num) <= 9e15) {
        return dim_const(&e->g->dims, (int64_t)v.num);
    }
    return 0;
}
static bool is_dim_op(enum op op)
{
    return op == OP_add || op == OP_sub || op == OP_mul || op == OP_div || op == OP_floordiv ||
           op == OP_mod || op == OP_max || op == OP_min || op == OP_neg;
}
/* What is divided may cancel out later, so that the size itself reaches no tensor: it must be whole all the
 * same. */
static void check_division(struct elab *e, dim size, struct span at)
{
    struct size_check c = {size, at};
    int64_t whole;
    bool known = !size || dim_is_const(&e->g->dims, size, &whole);
    for (uint32_t i = 0; i < e->g->checks.n; i++) {
        known |= e->g->checks.at[i].size == size;
    }
    if (!known) {
        vec_push(e->g->arena, &e->g->checks, c);
    }
}
static struct value fold_dims(struct elab *e, enum op op, dim a, dim b, struct span at)
{
    struct dims *d = &e->g->dims;
    dim r = 0;
    switch (op) {
    case OP_add:
        r = dim_add(d, a, b);
        break;
    case OP_sub:
        r = dim_sub(d, a, b);
        break;
    case OP_neg:
        r = dim_sub(d, dim_const(d, 0), a);
        break;
    case OP_mul:
        r = dim_mul(d, a, b);
        break;
    case OP_div:
        r = dim_div(d, a, b);
        check_division(e, r, at);
        break;
    case OP_floordiv:
        r = dim_opaque(d, ATOM_FLOORDIV, a, b);
        break;
    case OP_mod:
        r = dim_opaque(d, ATOM_MOD, a, b);
        break;
    case OP_max:
        r = dim_opaque(d, ATOM_MAX, a, b);
        break;
    default:
        r = dim_opaque(d, ATOM_MIN, a, b);
        break;
    }
    if (!r) {
        fail(e, DIAG_E2022, at, "cannot compute this dimension from %s and %s", dim_text(e, a),
             dim_text(e, b ? b : a));
        int64_t by;
        if (b && dim_is_const(d, b, &by) && by == 0) {
            diag_help(e->sink, "the divisor is 0");
        } else if (op == OP_div) {
            diag_help(
                e->sink,
                "`/` of dimensions divides exactly by a product; `//` rounds down and takes any divisor");
        }
        return poison();
    }
    return dim_value(e, r);
}
static struct value as_number(struct elab *e, struct value v)
{
    if (v.kind != V_DIM) {
        return v;
    }
    struct live *l = arena_new_of(e->arena, struct live);
    l->kind = LIVE_DIM;
    l->d = v.d;
    struct value r = {.kind = V_NUM, .is_int = true, .live = l};
    int64_t x;
    r.known = dim_default(e, v.d, &x);
    r.num = r.known ? (double)x : 0;
    return r;
}
static bool whole_result(enum op op, const struct value *in, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (in[i].kind != V_NUM || !in[i].is_int) {
            return false;
        }
    }
    return op_table[op].sig == SIG_NUMBER || op == OP_div || (op == OP_pow && in[1].known && in[1].num >= 0);
}
/* Whole numbers divide exactly or not at all. */
static bool division_ok(struct elab *e, enum op op, const struct value *in, struct span at)
{
    if (op == OP_div && in[0].is_int && in[1].is_int) {
        if (!in[0].known || !in[1].known) {
            fail(e, DIAG_E2020, at, "`/` of whole numbers that are known only at load");
            diag_help(e->sink, "f32(x) makes a float; `//` rounds down");
            return false;
        }
        if (in[1].num == 0 || fmod(in[0].num, in[1].num) != 0) {
            fail(e, DIAG_E2020, at, "%.15g / %.15g is not a whole number", in[0].num, in[1].num);
            diag_help(e->sink, "write %.15g.0 for a float, or `//` to round down", in[0].num);
            return false;
        }
    }
    if ((op == OP_floordiv || op == OP_mod) && in[1].known && in[1].num == 0) {
        fail(e, DIAG_E2020, at, "division by zero");
        return false;
    }
    return true;
}
static bool bools_ok(struct elab *e, enum op op, const struct value *in, uint32_t n, struct span at)
{
    bool wants = op_table[op].sig == SIG_LOGIC;
    for (uint32_t i = 0; i < n; i++) {
        bool is = in[i].kind == V_BOOL;
        if (op_table[op].sig == SIG_EQUAL ? is != (in[0].kind == V_BOOL) : is != wants) {
            fail(e, DIAG_E2021, at, "`%s` does not take %s", op_text(op), value_text(e, in[i]));
            diag_help(e->sink, wants ? "compare first, as in `x > 0`"
                                     : "`if c then 1 else 0` makes a number of a bool");
            return false;
        }
    }
    return true;
}
static struct value fold_numbers(struct elab *e, enum op op, const struct value *in, uint32_t n,
                                 struct span at)
{
    double x[3] = {0}, r = 0;
    bool live = false, known = true;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = in[i].kind == V_BOOL ? in[i].b : in[i].num;
        live |= in[i].live != NULL;
        known &= in[i].known;
    }
    if (!bools_ok(e, op, in, n, at) || !division_ok(e, op, in, at)) {
        return poison();
    }
    enum op_sig sig = op_table[op].sig;
    if (sig == SIG_CHOOSE || sig == SIG_CAST || !elem_eval(op, DT_F64, DT_F64, x, &r)) {
        return fail(e, DIAG_E2021, at, "`%s` does not take compile-time numbers", op_text(op));
    }
    struct value v = gives_bool(op) ? bool_value(r != 0) : num_value(r, whole_result(op, in, n));
    v.known = known;
    if (known && v.kind == V_NUM && v.is_int && !(fabs(r) <= 9007199254740992.0)) {
        return fail(e, DIAG_E2009, at, "this whole number is larger than 2^53: %.4g", r);
    }
    if (live) {
        struct live *l = arena_new_of(e->arena, struct live);
        l->kind = LIVE_OP;
        l->op = op;
        l->n = n;
        memcpy(l->in, in, n * sizeof *in);
        l->size = 1;
        for (uint32_t i = 0; i < n; i++) {
            l->size += in[i].live ? in[i].live->size : 0;
        }
        if (l->size > LIMIT_LIVE_SIZE) {
            return fail(e, DIAG_E0110, at,
                        "a number that may change while the model runs has more than %d operators",
                        (int)LIMIT_LIVE_SIZE);
        }
        v.live = l;
    }
    return v;
}
struct value fold_op(struct elab *e, enum op op, const struct value *in, uint32_t n, struct span at)
{
    struct value num[3];
    bool any_dim = false;
    for (uint32_t i = 0; i < n && i < 3; i++) {
        any_dim |= in[i].kind == V_DIM;
    }
    if (any_dim && is_dim_op(op)) {
        dim a = as_dim(e, in[0]), b = n > 1 ? as_dim(e, in[1]) : 0;
        if (a && (n == 1 || b)) {
            return fold_dims(e, op, a, b, at);
        }
    }
    if (any_dim && (op == OP_eq || op == OP_ne) && in[0].kind == V_DIM && in[1].kind == V_DIM &&
        in[0].d == in[1].d) {
        return bool_value(op == OP_eq);
    }
    for (uint32_t i = 0; i < n; i++) {
        num[i] = as_number(e, in[i]);
    }
    return fold_numbers(e, op, num, n, at);
}

/* -- emission */

static val emit_live(struct elab *e, const struct live *l, enum dtype t)
{
    val in[3] = {0};
    enum op op = l->op;
    int64_t attr[2] = {l->index, 1}; /* of `step`: the planned ones */
    struct node_spec s = {.phase = e->b.phase, .attr = attr, .span = e->b.span, .scope = e->b.scope};
    switch (l->kind) {
    case LIVE_DIM:
        return build_dim(&e->b, t, l->d);
    case LIVE_KNOB:
        s.op = OP_knob;
        s.n_attr = 1;
        s.type.dtype = e->g->configs.at[l->index].dtype;
        break;
    case LIVE_STEPS:
        s.op = OP_step;
        s.n_attr = 2;
        s.type.dtype = DT_I32;
        break;
    case LIVE_OP:
        for (uint32_t i = 0; i < l->n; i++) {
            bool whole = is_whole(l->in[0]) && (l->n < 2 || is_whole(l->in[1]));
            enum dtype arg = gives_bool(l->op) ? (whole ? DT_I32 : DT_F32) : t;
            in[i] = emit_number(e, l->in[i], l->in[i].kind == V_BOOL ? DT_BOOL : arg);
        }
        op = op == OP_div && t == DT_I32 && !gives_bool(op) ? OP_floordiv : op; /* exact, or refused before */
        return build_op(&e->b, op, in, l->n);
    }
    return build_cast(&e->b, graph_add(e->g, &s, e->sink), t);
}
val emit_number(struct elab *e, struct value v, enum dtype t)
{
    if (v.kind == V_DIM) {
        return build_dim(&e->b, t, v.d);
    }
    if (v.live) {
        return emit_live(e, v.live, t);
    }
    return build_const(&e->b, t, v.kind == V_BOOL ? v.b : v.num);
}
val emit_static(struct elab *e, struct value v)
{
    return emit_number(e, v, v.kind == V_BOOL ? DT_BOOL : is_whole(v) ? DT_I32 : DT_F32);
}

/* -- what a place wants */

bool wrong_kind(struct elab *e, struct value v, struct span at, const char *what, const char *wanted)
{
    if (v.kind == V_POISON) {
        return false;
    }
    fail(e, DIAG_E2023, at, "%s must be %s, found %s", what, wanted, value_text(e, v));
    return false;
}
bool want_int(struct elab *e, struct value v, struct span at, const char *what, int64_t *out)
{
    if (is_number(v)) {
        v = as_number(e, v);
    }
    if (v.kind != V_NUM || !v.is_int) {
        wrong_kind(e, v, at, what, "a whole number known at compile time");
        if (v.kind == V_TENSOR) {
            diag_help(e->sink, "a tensor has no value while compiling");
        } else if (v.kind == V_NUM) {
            diag_help(e->sink, "i32(x) makes a whole number of a constant; `//` divides and rounds down");
        }
        return false;
    }
    if (!v.known || fabs(v.num) > 9e15) {
        return wrong_kind(e, v, at, what, "a whole number known at compile time");
    }
    fix_value(e, v, at);
    *out = (int64_t)v.num;
    return true;
}
bool want_dim(struct elab *e, struct value v, struct span at, const char *what, dim *out)
{
    if (v.kind == V_DIM) {
        *out = v.d;
        return true;
    }
    int64_t n;
    if (!want_int(e, v, at, what, &n)) {
        return false;
    }
    *out = dim_const(&e->g->dims, n);
    return *out || wrong_kind(e, v, at, what, "a dimension");
}
bool want_size(struct elab *e, struct value v, struct span at, const char *what, dim *out)
{
    int64_t n;
    if (!want_dim(e, v, at, what, out)) {
        return false;
    }
    if (dim_is_const(&e->g->dims, *out, &n) && (n < 0 || n > (int64_t)1 << 40)) {
        fail(e, DIAG_E2009, at, "%s: a dimension is between 0 and 2^40, found %lld", what, (long long)n);
        diag_help(e->sink, n < 0 ? "max(n, 0) is never negative" : "a size this large can only be a mistake");
        return false;
    }
    return true;
}
bool want_bool(struct elab *e, struct value v, struct span at, const char *what, bool *out)
{
    if (v.kind == V_BOOL && v.known) {
        fix_value(e, v, at);
        *out = v.b;
        return true;
    }
    if (v.kind == V_POISON) {
        return false;
    }
    fail(e, DIAG_E2040, at, "%s must be known at compile time, found %s", what, value_text(e, v));
    if (v.kind == V_TENSOR) {
        diag_help(e->sink, "`where(c, a, b)` chooses for each element when the model runs");
    } else if (is_number(v)) {
        diag_help(e->sink, "write true or false, or compare, as in `n > 0`");
    }
    return false;
}
bool want_string(struct elab *e, struct value v, struct span at, const char *what, const char **out)
{
    if (v.kind != V_STR) {
        wrong_kind(e, v, at, what, "a string");
        if (v.kind != V_POISON) {
            diag_help(e->sink, "write it in quotes");
        }
        return false;
    }
    *out = v.str;
    return true;
}
bool want_shape(struct elab *e, struct value v, struct span at, const char *what, int *rank, dim *shape)
{
    if (v.kind != V_LIST) {
        wrong_kind(e, v, at, what, "a list of dimensions");
        if (is_number(v)) {
            diag_help(e->sink, "write [n] for one axis");
        }
        return false;
    }
    if (v.list->n > LIMIT_RANK) {
        fail(e, DIAG_E2003, at, "%s has %u axes; at most %d are possible", what, v.list->n, LIMIT_RANK);
        diag_help(e->sink, "flatten(x, first, last) merges axes");
        return false;
    }
    *rank = (int)v.list->n;
    for (int i = 0; i < *rank; i++) {
        if (!want_size(e, v.list->at[i], at, what, &shape[i])) {
            return false;
        }
    }
    return true;
}
