/* Where operands come from: values that exist, new variables, and steps that move a value into a domain. */
#include <math.h>
#include <stdlib.h>
#include "tools/random/internal.h"

enum { WILD = 12 }; /* larger numbers are brought back before they are used again */

static enum dtype dtype_of(const struct gen *g, val v)
{
    return (enum dtype)graph_node(g->g, v)->dtype;
}
val keep(struct gen *g, val v, struct range r)
{
    if (v) {
        vec_push(g->a, &g->item, ((struct item){v, r}));
    }
    return v;
}
struct range range_of(const struct gen *g, val v)
{
    for (uint32_t i = g->item.n; i-- > 0;) {
        if (g->item.at[i].v == v) {
            return g->item.at[i].r;
        }
    }
    return (struct range){-(double)INFINITY, (double)INFINITY, false};
}
val number(struct gen *g, enum dtype t, double x)
{
    val v = build_const(&g->b, t, x);
    return keep(g, v, (struct range){x, x, true});
}
static val read_var(struct gen *g, uint32_t var)
{
    return build_attrs(&g->b, OP_read, NULL, 0, (int64_t[]){var}, 1);
}
val fresh(struct gen *g, const struct type *t, char kind, double lo, double hi)
{
    const char *key = arena_printf(g->a, "%c%u[%g,%g]", kind, g->n_key++, lo, hi);
    vec_push(g->a, &g->g->vars, ((struct var){.kind = VAR_STATE, .key = key, .type = fixed_type(g, *t)}));
    val v = build_expand(&g->b, read_var(g, g->g->vars.n - 1), t->rank, t->dim);
    return keep(g, v, (struct range){lo, hi, true});
}
static val fresh_any(struct gen *g, const struct type *t)
{
    static const double floats[][2] = {{-2, 2}, {-2, 2}, {0.3, 3}, {-0.9, 0.9}};
    const double *r = floats[below(g, 4)];
    return t->dtype == DT_BOOL  ? fresh(g, t, 'b', 0, 1)
           : t->dtype == DT_I32 ? fresh(g, t, 'i', -3, 4)
                                : fresh(g, t, 'f', r[0], r[1]);
}

bool moves(struct gen *g, val v)
{
    for (val n = g->moves.n; n <= v; n++) {
        vec_push(g->a, &g->moves, n > 0 && random_moves(g->g, n, g->moves.at));
    }
    return g->moves.at[v];
}

/* -- values that exist; the last ones more often */

static const struct item *some_item(struct gen *g)
{
    uint32_t n = g->item.n, near = n < 6 ? n : 6;
    return &g->item.at[chance(g, 60) ? n - 1 - below(g, near) : below(g, n)];
}
val pick(struct gen *g, enum dtype t, int min_rank, bool exact)
{
    bool moving = !exact && dtype_is_float(t) && chance(g, g->o->smooth ? 80 : 40);
    for (int tries = 0; g->item.n && tries < 16; tries++) {
        const struct item *x = some_item(g);
        const struct node *n = graph_node(g->g, x->v);
        bool wanted = n->dtype == t && n->rank >= min_rank && (x->r.exact || !exact);
        if (wanted && (!moving || tries > 10 || moves(g, x->v))) {
            return x->v;
        }
    }
    struct type type = draw_type(g, t, min_rank);
    return fresh_any(g, &type);
}
val of_type(struct gen *g, const struct type *t, bool exact)
{
    for (int tries = 0; g->item.n && tries < 24; tries++) {
        const struct item *x = some_item(g);
        struct type u = node_type(g->g, x->v);
        if (type_equal(&u, t) && (x->r.exact || !exact)) {
            return x->v;
        }
    }
    return fresh_any(g, t);
}

/* -- domains */

static val one(struct gen *g, enum op op, val x, double lo, double hi, bool exact)
{
    return keep(g, build_1(&g->b, op, x), (struct range){lo, hi, exact});
}
static val with_number(struct gen *g, enum op op, val x, double k, double lo, double hi, bool exact)
{
    val c = build_const(&g->b, dtype_of(g, x), k);
    return keep(g, build_2(&g->b, op, x, c), (struct range){lo, hi, exact});
}
/* |x| at most `most`; keeps the gradient alive where it can. */
static val within(struct gen *g, val x, double most)
{
    struct range r = range_of(g, x);
    double size = fmax(fabs(r.lo), fabs(r.hi));
    if (size <= most) {
        return x;
    }
    if (dtype_of(g, x) == DT_I32) {
        double n = floor(most);
        return with_number(g, OP_mod, x, n, 0, n - 1, true);
    }
    if (r.exact) {
        val up = with_number(g, OP_max, x, -most, -most, fmax(r.hi, -most), true);
        return with_number(g, OP_min, up, most, -most, most, true);
    }
    if (size < 1e3 && chance(g, 50)) {
        double k = most / size;
        return with_number(g, OP_mul, x, k, r.lo * k, r.hi * k, false);
    }
    val t = one(g, OP_tanh, x, -1, 1, false);
    return most < 1 ? with_number(g, OP_mul, t, most, -most, most, false) : t;
}
/* At least 0.25 from zero, and above it. */
static val positive(struct gen *g, val x)
{
    struct range r = range_of(g, x);
    if (r.lo >= 0.2) {
        return x;
    }
    if (!r.exact && chance(g, 50)) {
        val s = one(g, OP_sigmoid, x, 0, 1, false);
        return with_number(g, OP_add, s, 0.25, 0.25, 1.25, false);
    }
    double most = fmax(fabs(r.lo), fabs(r.hi));
    val a = one(g, OP_abs, x, 0, most, r.exact);
    return with_number(g, OP_add, a, 0.25, 0.25, most + 0.25, r.exact);
}
val into(struct gen *g, val x, enum op_domain d)
{
    if (dtype_of(g, x) == DT_BOOL) {
        return x;
    }
    if (dtype_of(g, x) == DT_I32) {
        return within(g, x, 1000);
    }
    x = within(g, x, d == DOM_UNIT ? 0.95 : d == DOM_SMALL ? 3 : WILD);
    struct range r = range_of(g, x);
    bool apart = r.lo >= 0.2 || r.hi <= -0.2;
    return d == DOM_POSITIVE || (d == DOM_NONZERO && !apart) ? positive(g, x) : x;
}

val index_of(struct gen *g, const struct type *shape, int64_t n, bool none)
{
    struct type t = *shape;
    t.dtype = DT_I32;
    double least = none ? -1 : 0, most = (double)n - 1;
    for (int tries = 0; g->item.n && tries < 12; tries++) {
        const struct item *x = some_item(g);
        struct type u = node_type(g->g, x->v);
        if (type_equal(&u, &t) && x->r.lo >= least && x->r.hi <= most) {
            return x->v;
        }
    }
    if (n > 0 && chance(g, 25)) {
        val x = of_type(g, &t, true);
        return with_number(g, OP_mod, x, (double)n, 0, most, true);
    }
    return fresh(g, &t, 'i', n > 0 ? least : -1, n > 0 ? most : -1);
}
