/* Symbolic dimensions: canonical forms, interning and arithmetic. Printing and parsing are in dim_text.c,
 * values in dim_eval.c.
 *
 * A form is a list of monomials in canonical order without like terms; a monomial holds sorted atoms, none
 * both over and under. The order compares names and structure, never indices, so the same dimension prints
 * the same in every graph. Work happens in `struct poly` on the stack; only interned forms go to the arena.
 */
#include "runtime/graph/dim.h"

enum { MAX_DEGREE = 24, MAX_TERMS = 48, MAX_WEIGHT = 1024, MAX_ATOMS = 16384 };
#define MAX_COEFFICIENT ((int64_t)1 << 62)

struct mono {
    int64_t num, den;
    uint32_t n_over, n_under;
    uint32_t over[MAX_DEGREE], under[MAX_DEGREE];
};
struct poly {
    uint32_t n;
    struct mono at[MAX_TERMS];
};

void dims_init(struct dims *d, struct arena *a)
{
    *d = (struct dims){.arena = a};
    vec_push(a, &d->atoms, (struct atom){0});
    vec_push(a, &d->list, (struct dim_form){0});
}

/* -- canonical order */

static int form_compare(const struct dims *d, dim x, dim y);

static int order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int atom_compare(const struct dims *d, uint32_t x, uint32_t y)
{
    if (x == y) {
        return 0;
    }
    const struct atom *a = &d->atoms.at[x], *b = &d->atoms.at[y];
    if (a->kind != b->kind) {
        return order(a->kind, b->kind);
    }
    switch (a->kind) {
    case ATOM_SYMBOL:
        return strcmp(a->name, b->name);
    case ATOM_TREE:
        return order(a->a, b->a);
    default: {
        int c = form_compare(d, a->a, b->a);
        return c ? c : form_compare(d, a->b, b->b);
    }
    }
}

static int atoms_compare(const struct dims *d, const uint32_t *x, uint32_t nx, const uint32_t *y, uint32_t ny)
{
    for (uint32_t i = 0; i < nx && i < ny; i++) {
        int c = atom_compare(d, x[i], y[i]);
        if (c) {
            return c;
        }
    }
    return order(ny, nx);
}

/* High degrees first, so that a constant comes last; the coefficient does not count. */
static int mono_compare(const struct dims *d, const struct monomial *x, const struct monomial *y)
{
    int c = order(y->n_over + y->n_under, x->n_over + x->n_under);
    c = c ? c : atoms_compare(d, x->over, x->n_over, y->over, y->n_over);
    return c ? c : atoms_compare(d, x->under, x->n_under, y->under, y->n_under);
}

static int form_compare(const struct dims *d, dim x, dim y)
{
    if (x == y) {
        return 0;
    }
    const struct dim_form *f = &d->list.at[x], *g = &d->list.at[y];
    for (uint32_t i = 0; i < f->n && i < g->n; i++) {
        int c = mono_compare(d, &f->terms[i], &g->terms[i]);
        c = c ? c : order(f->terms[i].num, g->terms[i].num);
        c = c ? c : order(f->terms[i].den, g->terms[i].den);
        if (c) {
            return c;
        }
    }
    return order(f->n, g->n);
}

/* -- coefficients and monomials */

static bool set_ratio(struct mono *m, __int128 num, __int128 den)
{
    __int128 a = num < 0 ? -num : num, b = den < 0 ? -den : den;
    while (b) {
        __int128 r = a % b;
        a = b;
        b = r;
    }
    if (a == 0 || den == 0) {
        *m = (struct mono){.num = 0, .den = 1};
        return den != 0;
    }
    num /= den < 0 ? -a : a;
    den /= den < 0 ? -a : a;
    if (num > MAX_COEFFICIENT || num < -MAX_COEFFICIENT || den > MAX_COEFFICIENT) {
        return false;
    }
    m->num = (int64_t)num;
    m->den = (int64_t)den;
    return true;
}

/* Multiplies m by an atom, or divides; cancels against the other side. */
static bool mono_atom(const struct dims *d, struct mono *m, uint32_t atom, bool divide)
{
    uint32_t *other = divide ? m->over : m->under, *n_other = divide ? &m->n_over : &m->n_under;
    for (uint32_t i = 0; i < *n_other; i++) {
        if (other[i] == atom) {
            memmove(other + i, other + i + 1, (*n_other - i - 1) * sizeof *other);
            --*n_other;
            return true;
        }
    }
    uint32_t *own = divide ? m->under : m->over, *n = divide ? &m->n_under : &m->n_over;
    if (*n == MAX_DEGREE) {
        return false;
    }
    uint32_t i = *n;
    while (i > 0 && atom_compare(d, own[i - 1], atom) > 0) {
        own[i] = own[i - 1];
        i--;
    }
    own[i] = atom;
    ++*n;
    return true;
}

/* out = x * y, or x / y. */
static bool mono_product(const struct dims *d, const struct monomial *x, const struct monomial *y,
                         bool divide, struct mono *out)
{
    *out = (struct mono){.n_over = x->n_over, .n_under = x->n_under};
    memcpy(out->over, x->over, x->n_over * sizeof *out->over);
    memcpy(out->under, x->under, x->n_under * sizeof *out->under);
    bool ok = divide ? set_ratio(out, (__int128)x->num * y->den, (__int128)x->den * y->num)
                     : set_ratio(out, (__int128)x->num * y->num, (__int128)x->den * y->den);
    for (uint32_t i = 0; ok && i < y->n_over; i++) {
        ok = mono_atom(d, out, y->over[i], divide);
    }
    for (uint32_t i = 0; ok && i < y->n_under; i++) {
        ok = mono_atom(d, out, y->under[i], !divide);
    }
    return ok;
}

static bool same_atoms(const struct mono *x, const struct mono *y)
{
    return x->n_over == y->n_over && x->n_under == y->n_under &&
           !memcmp(x->over, y->over, x->n_over * sizeof *x->over) &&
           !memcmp(x->under, y->under, x->n_under * sizeof *x->under);
}

/* Adds a monomial to a sum, merging like terms. */
static bool poly_add(struct poly *p, const struct mono *m)
{
    if (m->num == 0) {
        return true;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        struct mono *t = &p->at[i];
        if (same_atoms(t, m)) {
            __int128 num = (__int128)t->num * m->den + (__int128)m->num * t->den;
            if (num == 0) {
                *t = p->at[--p->n];
                return true;
            }
            return set_ratio(t, num, (__int128)t->den * m->den);
        }
    }
    if (p->n == MAX_TERMS) {
        return false;
    }
    p->at[p->n++] = *m;
    return true;
}

/* Adds sign * x. */
static bool poly_add_form(const struct dims *d, struct poly *p, dim x, int sign)
{
    const struct dim_form *f = &d->list.at[x];
    const struct monomial one = {.num = sign, .den = 1};
    for (uint32_t i = 0; i < f->n; i++) {
        struct mono m;
        if (!mono_product(d, &f->terms[i], &one, false, &m) || !poly_add(p, &m)) {
            return false;
        }
    }
    return true;
}

/* -- interning */

static uint32_t hash_form(const struct monomial *t, uint32_t n)
{
    uint64_t h = 1469598103934665603u ^ n;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ (uint64_t)t[i].num) * 1099511628211u;
        h = (h ^ (uint64_t)t[i].den) * 1099511628211u;
        h = (h ^ ((uint64_t)t[i].n_over << 16 | t[i].n_under)) * 1099511628211u;
        for (uint32_t k = 0; k < t[i].n_over; k++) {
            h = (h ^ t[i].over[k]) * 1099511628211u;
        }
        for (uint32_t k = 0; k < t[i].n_under; k++) {
            h = (h ^ t[i].under[k]) * 1099511628211u;
        }
    }
    return (uint32_t)(h ^ h >> 32);
}

static bool same_form(const struct monomial *x, const struct monomial *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (x[i].num != y[i].num || x[i].den != y[i].den || x[i].n_over != y[i].n_over ||
            x[i].n_under != y[i].n_under || memcmp(x[i].over, y[i].over, x[i].n_over * sizeof *x[i].over) ||
            memcmp(x[i].under, y[i].under, x[i].n_under * sizeof *x[i].under)) {
            return false;
        }
    }
    return true;
}

static void cons_insert(struct dims *d, dim x)
{
    const struct dim_form *f = &d->list.at[x];
    uint32_t i = hash_form(f->terms, f->n) & (d->n_cons - 1);
    while (d->cons[i]) {
        i = (i + 1) & (d->n_cons - 1);
    }
    d->cons[i] = x;
}

static void cons_grow(struct dims *d)
{
    if (d->n_cons > 2 * d->list.n) {
        return;
    }
    d->n_cons = d->n_cons ? 2 * d->n_cons : 64;
    d->cons = arena_array(d->arena, uint32_t, d->n_cons);
    for (dim x = 1; x < d->list.n; x++) {
        cons_insert(d, x);
    }
}

static uint32_t weigh(const struct dims *d, const struct monomial *t, uint32_t n)
{
    uint64_t w = 1;
    for (uint32_t i = 0; i < n; i++) {
        w += 1 + t[i].n_over + t[i].n_under;
        for (uint32_t k = 0; k < (uint32_t)t[i].n_over + t[i].n_under; k++) {
            const struct atom *a = &d->atoms.at[k < t[i].n_over ? t[i].over[k] : t[i].under[k - t[i].n_over]];
            w += a->kind >= ATOM_FLOORDIV ? (uint64_t)d->list.at[a->a].weight + d->list.at[a->b].weight : 0;
        }
    }
    return w > MAX_WEIGHT ? MAX_WEIGHT + 1 : (uint32_t)w;
}

static struct dim_form copy_form(struct dims *d, const struct monomial *t, uint32_t n, uint32_t weight)
{
    struct dim_form f = {arena_array(d->arena, struct monomial, n), n, weight};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t *atoms = arena_array(d->arena, uint32_t, (size_t)t[i].n_over + t[i].n_under);
        memcpy(atoms, t[i].over, t[i].n_over * sizeof *atoms);
        memcpy(atoms + t[i].n_over, t[i].under, t[i].n_under * sizeof *atoms);
        f.terms[i] = t[i];
        f.terms[i].over = atoms;
        f.terms[i].under = atoms + t[i].n_over;
    }
    return f;
}

/* Sorts, looks up, adds. */
static dim dim_intern(struct dims *d, const struct poly *p)
{
    struct monomial t[MAX_TERMS];
    for (uint32_t i = 0; i < p->n; i++) {
        const struct mono *m = &p->at[i];
        struct monomial x = {m->num, m->den, (uint16_t)m->n_over, (uint16_t)m->n_under, m->over, m->under};
        uint32_t k = i;
        for (; k > 0 && mono_compare(d, &t[k - 1], &x) > 0; k--) {
            t[k] = t[k - 1];
        }
        t[k] = x;
    }
    cons_grow(d);
    for (uint32_t i = hash_form(t, p->n) & (d->n_cons - 1); d->cons[i]; i = (i + 1) & (d->n_cons - 1)) {
        const struct dim_form *f = &d->list.at[d->cons[i]];
        if (f->n == p->n && same_form(f->terms, t, p->n)) {
            return d->cons[i];
        }
    }
    uint32_t weight = weigh(d, t, p->n);
    if (weight > MAX_WEIGHT) {
        return 0;
    }
    vec_push(d->arena, &d->list, copy_form(d, t, p->n, weight));
    cons_insert(d, d->list.n - 1);
    return d->list.n - 1;
}

static dim dim_of_atom(struct dims *d, struct atom atom)
{
    uint32_t i = 1;
    for (; i < d->atoms.n; i++) {
        const struct atom *a = &d->atoms.at[i];
        if (a->kind == atom.kind && a->a == atom.a && a->b == atom.b &&
            (a->kind != ATOM_SYMBOL || !strcmp(a->name, atom.name))) {
            break;
        }
    }
    if (i == MAX_ATOMS) {
        return 0;
    }
    if (i == d->atoms.n) {
        atom.name = atom.name ? arena_strndup(d->arena, atom.name, strlen(atom.name)) : NULL;
        vec_push(d->arena, &d->atoms, atom);
    }
    struct poly p = {.n = 1};
    p.at[0] = (struct mono){.num = 1, .den = 1, .n_over = 1, .over = {i}};
    return dim_intern(d, &p);
}

/* -- makers */

dim dim_const(struct dims *d, int64_t v)
{
    struct poly p;
    struct mono m = {0};
    p.n = 0;
    return set_ratio(&m, v, 1) && poly_add(&p, &m) ? dim_intern(d, &p) : 0;
}

static bool is_name(const char *s)
{
    bool first = true;
    for (; *s; s++, first = false) {
        unsigned char c = (unsigned char)*s;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
        if (!letter && (first || !((c >= '0' && c <= '9') || c == '.'))) {
            return false;
        }
    }
    return !first;
}

dim dim_symbol(struct dims *d, const char *name)
{
    return is_name(name) ? dim_of_atom(d, (struct atom){.kind = ATOM_SYMBOL, .name = name}) : 0;
}

dim dim_tree(struct dims *d, uint32_t tree)
{
    return dim_of_atom(d, (struct atom){.kind = ATOM_TREE, .a = tree});
}

dim dim_add(struct dims *d, dim a, dim b)
{
    struct poly p;
    p.n = 0;
    return a && b && poly_add_form(d, &p, a, 1) && poly_add_form(d, &p, b, 1) ? dim_intern(d, &p) : 0;
}

dim dim_sub(struct dims *d, dim a, dim b)
{
    struct poly p;
    p.n = 0;
    return a && b && poly_add_form(d, &p, a, 1) && poly_add_form(d, &p, b, -1) ? dim_intern(d, &p) : 0;
}

/* Every term of a times (or divided by) every term of b. */
static dim dim_product(struct dims *d, dim a, dim b, bool divide)
{
    struct poly p;
    p.n = 0;
    for (uint32_t i = 0; i < d->list.at[a].n; i++) {
        for (uint32_t k = 0; k < d->list.at[b].n; k++) {
            struct mono m;
            if (!mono_product(d, &d->list.at[a].terms[i], &d->list.at[b].terms[k], divide, &m) ||
                !poly_add(&p, &m)) {
                return 0;
            }
        }
    }
    return dim_intern(d, &p);
}

dim dim_mul(struct dims *d, dim a, dim b)
{
    return a && b ? dim_product(d, a, b, false) : 0;
}

dim dim_div(struct dims *d, dim a, dim b)
{
    return a && b && d->list.at[b].n == 1 ? dim_product(d, a, b, true) : 0;
}

static bool fold_opaque(enum atom_kind k, int64_t x, int64_t y, int64_t *out)
{
    if (k == ATOM_MIN || k == ATOM_MAX) {
        *out = (k == ATOM_MIN) == (x < y) ? x : y;
        return true;
    }
    if (y == 0) {
        return false;
    }
    int64_t q = x / y - (x % y != 0 && (x < 0) != (y < 0));
    *out = k == ATOM_FLOORDIV ? q : x - q * y;
    return true;
}

dim dim_opaque(struct dims *d, enum atom_kind k, dim a, dim b)
{
    int64_t x, y, v;
    if (!a || !b || k < ATOM_FLOORDIV) {
        return 0;
    }
    bool y_const = dim_is_const(d, b, &y);
    if (y_const && dim_is_const(d, a, &x)) {
        return fold_opaque(k, x, y, &v) ? dim_const(d, v) : 0;
    }
    if (k == ATOM_MIN || k == ATOM_MAX) {
        if (a == b) {
            return a;
        }
        bool swap = form_compare(d, a, b) > 0;
        return dim_of_atom(d, (struct atom){.kind = k, .a = swap ? b : a, .b = swap ? a : b});
    }
    if (y_const && y == 0) {
        return 0;
    }
    if (y_const && y == 1) { /* operands are whole when bound */
        return k == ATOM_FLOORDIV ? a : dim_const(d, 0);
    }
    return dim_of_atom(d, (struct atom){.kind = k, .a = a, .b = b});
}

bool dim_is_const(const struct dims *d, dim x, int64_t *value)
{
    const struct dim_form *f = &d->list.at[x];
    if (x == 0 || f->n > 1 ||
        (f->n == 1 && (f->terms[0].n_over || f->terms[0].n_under || f->terms[0].den != 1))) {
        return false;
    }
    *value = f->n ? f->terms[0].num : 0;
    return true;
}

/* The only atom of a form that is nothing else, or 0. */
static uint32_t single_atom(const struct dims *d, dim x)
{
    const struct dim_form *f = &d->list.at[x];
    bool single = f->n == 1 && f->terms[0].n_over == 1 && f->terms[0].n_under == 0 && f->terms[0].num == 1 &&
                  f->terms[0].den == 1;
    return single ? f->terms[0].over[0] : 0;
}

bool dim_is_tree(const struct dims *d, dim x, uint32_t *tree)
{
    uint32_t i = single_atom(d, x);
    if (!i || d->atoms.at[i].kind != ATOM_TREE) {
        return false;
    }
    *tree = d->atoms.at[i].a;
    return true;
}

bool dim_is_symbol(const struct dims *d, dim x, uint32_t *atom)
{
    uint32_t i = single_atom(d, x);
    if (!i || d->atoms.at[i].kind != ATOM_SYMBOL) {
        return false;
    }
    *atom = i;
    return true;
}
