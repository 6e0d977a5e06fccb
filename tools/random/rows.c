/* Elementwise rows and reductions, by what the table says about them. */
#include <math.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "tools/random/internal.h"

/* -- elementwise */

/* Whether the value jumps where the input moves a little: answers, whole numbers, and rows without a smooth
 * part. */
static bool jumps(enum op op, enum dtype in, enum dtype out)
{
    const struct op_info *info = &op_table[op];
    if (!dtype_is_float(in) || info->sig == SIG_CHOOSE || info->sig == SIG_CLASSIFY) {
        return false;
    }
    bool flat = true;
    for (int i = 0; i < 3; i++) {
        const char *d = info->derivative[i];
        if (d && strstr(d, "floor(")) {
            return true;
        }
        flat &= !d || !*d;
    }
    return flat || !dtype_is_float(out);
}
/* Bounds of the result from samples: corners first, then points inside, widened a little. */
static struct range sampled(struct gen *g, enum op op, enum dtype in, enum dtype out, const struct range *r)
{
    struct range bounds = {(double)INFINITY, -(double)INFINITY, op_table[op].tolerance == 0};
    int n = op_table[op].n_min;
    for (int s = 0; s < 40; s++) {
        double x[3] = {0}, y;
        for (int i = 0; i < n; i++) {
            double t = s < 8 ? (s >> i & 1) : between(g, 0, 1);
            x[i] = r[i].lo + (r[i].hi - r[i].lo) * t;
            x[i] = in == DT_I32 || (op == OP_where && i == 0) ? floor(x[i]) : x[i];
        }
        if (!elem_eval(op, in, out, x, &y) || !(fabs(y) < 1e9)) {
            return (struct range){-1e9, 1e9, bounds.exact};
        }
        bounds.lo = fmin(bounds.lo, y);
        bounds.hi = fmax(bounds.hi, y);
    }
    if (dtype_is_float(out)) {
        double more = 0.05 * (bounds.hi - bounds.lo);
        more = bounds.lo >= 0 ? fmin(more, bounds.lo) : more; /* what is positive stays so */
        bounds.lo -= more;
        bounds.hi += more;
    }
    return bounds;
}
static enum dtype operand_dtype(struct gen *g, enum op_sig sig)
{
    switch (sig) {
    case SIG_FLOAT:
    case SIG_CLASSIFY:
    case SIG_BITS: /* any bits as a float are no number to go on with */
        return draw_float(g);
    case SIG_LOGIC:
        return DT_BOOL;
    case SIG_NUMBER:
    case SIG_COMPARE:
        return draw_number(g);
    default:
        return chance(g, 20) ? DT_BOOL : draw_number(g);
    }
}
static enum dtype cast_to(struct gen *g, enum dtype from)
{
    static const enum dtype to[] = {DT_I32, DT_BOOL};
    return from != DT_BOOL && chance(g, 40) ? to[below(g, 2)] : draw_float(g);
}
/* The other operand: of the same type, or one that stretches to it. */
static val beside(struct gen *g, const struct type *t, enum dtype d, bool exact)
{
    static const double plain[] = {0, 1, -1, 2, 3, 0.5}; /* what algebra looks for */
    struct type u = *t;
    u.dtype = d;
    if (d != DT_BOOL && chance(g, 10)) {
        return number(g, d, plain[below(g, d == DT_I32 ? 5 : 6)]);
    }
    if (d != DT_BOOL && chance(g, 8)) {
        val x = of_type(g, &u, exact);
        struct range r = range_of(g, x);
        return keep(g, build_1(&g->b, OP_neg, x), (struct range){-r.hi, -r.lo, r.exact});
    }
    if (u.rank == 0 || chance(g, 65)) {
        return of_type(g, &u, exact);
    }
    int drop = (int)below(g, (uint32_t)u.rank + 1);
    memmove(u.dim, u.dim + drop, (size_t)(u.rank - drop) * sizeof *u.dim);
    u.rank -= drop;
    for (int i = 0; i < u.rank; i++) {
        u.dim[i] = chance(g, 30) ? dim_const(&g->g->dims, 1) : u.dim[i];
    }
    return of_type(g, &u, exact);
}
val make_elem(struct gen *g, enum op op)
{
    const struct op_info *info = &op_table[op];
    enum dtype t = operand_dtype(g, info->sig), out = op == OP_cast ? cast_to(g, t) : DT_NONE;
    bool bits = info->sig == SIG_BITS;
    bool answers = info->sig == SIG_COMPARE || info->sig == SIG_EQUAL || info->sig == SIG_CLASSIFY;
    enum dtype result = answers ? DT_BOOL : bits ? DT_I32 : op == OP_cast ? out : t;
    bool exact = jumps(op, t, result), choice = info->sig == SIG_CHOOSE;
    val in[3] = {0};
    struct range r[3];
    int first = choice;
    in[first] = into(g, pick(g, t, 0, exact), info->domain);
    struct type type = node_type(g->g, in[first]);
    for (int i = 0; i < info->n_min; i++) {
        if (i != first) {
            in[i] = into(g, beside(g, &type, choice && i == 0 ? DT_BOOL : t, exact), info->domain);
        }
        r[i] = range_of(g, in[i]);
    }
    struct range bounds = sampled(g, op, t, result, r);
    for (int i = 0; i < info->n_min; i++) {
        bounds.exact &= r[i].exact;
    }
    if (bits) {
        return keep(g, build_attrs(&g->b, op, in, 1, (int64_t[]){DT_I32}, 1),
                    (struct range){INT32_MIN, INT32_MAX, bounds.exact});
    }
    return keep(
        g, op == OP_cast ? build_cast(&g->b, in[0], out) : build_op(&g->b, op, in, (uint32_t)info->n_min),
        bounds);
}

/* -- reductions */

static struct range reduced(enum op op, enum dtype t, struct range r, int64_t n)
{
    double most = fmax(fabs(r.lo), fabs(r.hi));
    bool exact = t != DT_F32 && t != DT_F64;
    switch (op) {
    case OP_sum:
        return (struct range){fmin(r.lo * (double)n, 0), fmax(r.hi * (double)n, 0), exact};
    case OP_prod:
        most = pow(fmax(most, 1), (double)n);
        return (struct range){-most, most, exact};
    case OP_amax:
    case OP_amin:
    case OP_all:
    case OP_any:
        return (struct range){r.lo, r.hi, r.exact};
    default:
        return (struct range){r.lo, r.hi, exact};
    }
}
val make_reduce(struct gen *g, enum op op)
{
    enum op_sig sig = op_table[op].sig;
    val x = into(g, pick(g, operand_dtype(g, sig), 1, false), op == OP_prod ? DOM_UNIT : DOM_ANY);
    struct type t = node_type(g->g, x);
    int axes[LIMIT_RANK], n_axes = 0, rank = t.rank;
    int64_t n = 1;
    for (int i = 0; i < rank; i++) {
        if (chance(g, 50) || (i == rank - 1 && n_axes == 0)) {
            axes[n_axes++] = i;
            n *= size_of(g, t.dim[i]);
        }
    }
    bool of_nothing = op == OP_sum || op == OP_prod || op == OP_all || op == OP_any;
    if ((n == 0 && !of_nothing) || (op == OP_prod && n > 8)) {
        return 0;
    }
    struct range r = reduced(op, t.dtype, range_of(g, x), n);
    return keep(g, build_reduce(&g->b, op, x, axes, n_axes, chance(g, 40)), r);
}
