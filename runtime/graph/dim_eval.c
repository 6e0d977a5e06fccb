/* Values of dimensions under a binding: exact rationals in 128 bits, every step checked. */
#include "runtime/base/limits.h"
#include "runtime/graph/dim.h"

struct ratio {
    __int128 num, den; /* den > 0, lowest terms */
};

static bool eval_form(const struct dims *d, const struct binding *b, dim x, struct ratio *out);

static void reduce(struct ratio *r)
{
    __int128 a = r->num < 0 ? -r->num : r->num, b = r->den;
    while (b) {
        __int128 t = a % b;
        a = b;
        b = t;
    }
    if (a > 1) {
        r->num /= a;
        r->den /= a;
    }
}

/* r *= v, or r /= v. */
static bool scale(struct ratio *r, __int128 v, bool divide)
{
    if (divide && v < 0) {
        v = -v;
        r->num = -r->num;
    }
    if ((divide && v == 0) ||
        __builtin_mul_overflow(divide ? r->den : r->num, v, divide ? &r->den : &r->num)) {
        return false;
    }
    reduce(r);
    return true;
}

static bool accumulate(struct ratio *sum, const struct ratio *t)
{
    __int128 a, b;
    struct ratio r;
    if (__builtin_mul_overflow(sum->num, t->den, &a) || __builtin_mul_overflow(t->num, sum->den, &b) ||
        __builtin_add_overflow(a, b, &r.num) || __builtin_mul_overflow(sum->den, t->den, &r.den)) {
        return false;
    }
    reduce(&r);
    *sum = r;
    return true;
}

/* Opaque atoms work on whole numbers, which may be negative in between. */
static bool eval_whole(const struct dims *d, const struct binding *b, dim x, __int128 *out)
{
    struct ratio r;
    const __int128 bound = (__int128)1 << 62;
    if (!eval_form(d, b, x, &r) || r.den != 1 || r.num > bound || r.num < -bound) {
        return false;
    }
    *out = r.num;
    return true;
}

static bool eval_atom(const struct dims *d, const struct binding *b, uint32_t i, __int128 *out)
{
    const struct atom *a = &d->atoms.at[i];
    if (a->kind == ATOM_SYMBOL || a->kind == ATOM_TREE) {
        if (i >= b->n || b->atom[i] < 0) {
            return false;
        }
        *out = b->atom[i];
        return true;
    }
    __int128 x, y;
    if (!eval_whole(d, b, a->a, &x) || !eval_whole(d, b, a->b, &y)) {
        return false;
    }
    if (a->kind == ATOM_MIN || a->kind == ATOM_MAX) {
        *out = (a->kind == ATOM_MIN) == (x < y) ? x : y;
        return true;
    }
    if (y == 0) {
        return false;
    }
    __int128 q = x / y - (x % y != 0 && (x < 0) != (y < 0));
    *out = a->kind == ATOM_FLOORDIV ? q : x - q * y;
    return true;
}

static bool eval_term(const struct dims *d, const struct binding *b, const struct monomial *t,
                      struct ratio *out)
{
    *out = (struct ratio){t->num, t->den};
    for (uint32_t k = 0; k < (uint32_t)t->n_over + t->n_under; k++) {
        bool under = k >= t->n_over;
        __int128 v;
        if (!eval_atom(d, b, under ? t->under[k - t->n_over] : t->over[k], &v) || !scale(out, v, under)) {
            return false;
        }
    }
    return true;
}

static bool eval_form(const struct dims *d, const struct binding *b, dim x, struct ratio *out)
{
    *out = (struct ratio){0, 1};
    const struct dim_form *f = &d->list.at[x];
    for (uint32_t i = 0; i < f->n; i++) {
        struct ratio t;
        if (!eval_term(d, b, &f->terms[i], &t) || !accumulate(out, &t)) {
            return false;
        }
    }
    return x != 0;
}

bool dim_eval(const struct dims *d, const struct binding *b, dim x, int64_t *value)
{
    struct ratio r;
    if (!eval_form(d, b, x, &r) || r.den != 1 || r.num < 0 || r.num > LIMIT_DIM) {
        return false;
    }
    *value = (int64_t)r.num;
    return true;
}
