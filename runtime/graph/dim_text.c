/* Text form of dimensions. Opaque atoms print as min(a, b), max(a, b), (a // b), (a % b); tree sizes as
 * tree(0).
 *
 *   sum    = ["-"] term { ("+" | "-") term }
 *   term   = factor { ("*" | "/") factor }
 *   factor = number | name | ("min" | "max") "(" sum "," sum ")" | "tree" "(" number ")" | "(" sum [("//" |
 * "%") sum] ")"
 */
#include <ctype.h>
#include "runtime/base/limits.h"
#include "runtime/graph/dim.h"

enum { MAX_DEPTH = 1100, MAX_NAME = 2 * LIMIT_IDENTIFIER }; /* deeper than any form that dim.c admits */

static void print_atom(const struct dims *d, uint32_t i, struct text *out)
{
    const struct atom *a = &d->atoms.at[i];
    static const char *const open[] = {
        [ATOM_FLOORDIV] = "(", [ATOM_MOD] = "(", [ATOM_MIN] = "min(", [ATOM_MAX] = "max("};
    static const char *const middle[] = {
        [ATOM_FLOORDIV] = " // ", [ATOM_MOD] = " % ", [ATOM_MIN] = ", ", [ATOM_MAX] = ", "};
    if (a->kind == ATOM_SYMBOL) {
        text_printf(out, "%s", a->name);
    } else if (a->kind == ATOM_TREE) {
        text_printf(out, "tree(%u)", (unsigned)a->a);
    } else {
        text_printf(out, "%s", open[a->kind]);
        dim_print(d, a->a, out);
        text_printf(out, "%s", middle[a->kind]);
        dim_print(d, a->b, out);
        text_printf(out, ")");
    }
}

static void print_term(const struct dims *d, const struct monomial *t, struct text *out)
{
    int64_t num = t->num < 0 ? -t->num : t->num;
    bool number = num != 1 || t->n_over == 0;
    if (number) {
        text_printf(out, "%lld", (long long)num);
    }
    for (uint32_t i = 0; i < t->n_over; i++) {
        text_printf(out, "%s", i > 0 || number ? "*" : "");
        print_atom(d, t->over[i], out);
    }
    if (t->den != 1) {
        text_printf(out, "/%lld", (long long)t->den);
    }
    for (uint32_t i = 0; i < t->n_under; i++) {
        text_printf(out, "/");
        print_atom(d, t->under[i], out);
    }
}

void dim_print(const struct dims *d, dim x, struct text *out)
{
    const struct dim_form *f = &d->list.at[x];
    if (x == 0 || f->n == 0) {
        text_printf(out, "%s", x == 0 ? "?" : "0");
        return;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        bool minus = f->terms[i].num < 0;
        text_printf(out, "%s", i == 0 ? (minus ? "-" : "") : (minus ? " - " : " + "));
        print_term(d, &f->terms[i], out);
    }
}

struct reader {
    struct dims *d;
    const char *p;
    int depth;
};
static dim read_sum(struct reader *r);

static char peek(struct reader *r)
{
    while (*r->p == ' ') {
        r->p++;
    }
    return *r->p;
}

static bool accept(struct reader *r, const char *s)
{
    peek(r);
    size_t n = strlen(s);
    if (strncmp(r->p, s, n) != 0) {
        return false;
    }
    r->p += n;
    return true;
}

static bool read_number(struct reader *r, int64_t *out)
{
    int64_t v = 0;
    if (!isdigit((unsigned char)peek(r))) {
        return false;
    }
    for (; isdigit((unsigned char)*r->p); r->p++) {
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *r->p - '0', &v)) {
            return false;
        }
    }
    *out = v;
    return true;
}

/* "(" is consumed: two sums around a separator, then ")". */
static dim read_pair(struct reader *r, enum atom_kind k)
{
    dim a = read_sum(r);
    if (!a || !accept(r, ",")) {
        return 0;
    }
    dim b = read_sum(r);
    return b && accept(r, ")") ? dim_opaque(r->d, k, a, b) : 0;
}

static dim read_bracket(struct reader *r)
{
    dim a = read_sum(r);
    bool floor_div = a && accept(r, "//"), mod = a && !floor_div && accept(r, "%");
    dim b = floor_div || mod ? read_sum(r) : 0;
    if (!a || ((floor_div || mod) && !b) || !accept(r, ")")) {
        return 0;
    }
    return b ? dim_opaque(r->d, floor_div ? ATOM_FLOORDIV : ATOM_MOD, a, b) : a;
}

static dim read_name(struct reader *r)
{
    char name[MAX_NAME + 1];
    size_t n = 0;
    for (; isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '.' || (unsigned char)*r->p >= 0x80;
         r->p++) {
        if (n == MAX_NAME) {
            return 0;
        }
        name[n++] = *r->p;
    }
    name[n] = 0;
    if (n == 0 || !accept(r, "(")) {
        return n ? dim_symbol(r->d, name) : 0;
    }
    int64_t tree;
    if (!strcmp(name, "tree")) {
        return read_number(r, &tree) && tree < UINT32_MAX && accept(r, ")") ? dim_tree(r->d, (uint32_t)tree)
                                                                            : 0;
    }
    bool is_min = !strcmp(name, "min");
    return is_min || !strcmp(name, "max") ? read_pair(r, is_min ? ATOM_MIN : ATOM_MAX) : 0;
}

static dim read_factor(struct reader *r)
{
    int64_t v;
    if (isdigit((unsigned char)peek(r))) {
        return read_number(r, &v) ? dim_const(r->d, v) : 0;
    }
    if (++r->depth > MAX_DEPTH) {
        return 0;
    }
    dim x = accept(r, "(") ? read_bracket(r) : read_name(r);
    r->depth--;
    return x;
}

static dim read_term(struct reader *r)
{
    dim x = read_factor(r);
    while (x) {
        char c = peek(r);
        if (c != '*' && (c != '/' || r->p[1] == '/')) {
            break;
        }
        r->p++;
        dim y = read_factor(r);
        x = c == '*' ? dim_mul(r->d, x, y) : dim_div(r->d, x, y);
    }
    return x;
}

static dim read_sum(struct reader *r)
{
    bool minus = accept(r, "-");
    dim x = read_term(r);
    x = minus && x ? dim_sub(r->d, dim_const(r->d, 0), x) : x;
    while (x) {
        char c = peek(r);
        if (c != '+' && c != '-') {
            break;
        }
        r->p++;
        dim y = read_term(r);
        x = c == '+' ? dim_add(r->d, x, y) : dim_sub(r->d, x, y);
    }
    return x;
}

dim dim_parse(struct dims *d, const char *text, const char **end)
{
    struct reader r = {d, text, 0};
    dim x = read_sum(&r);
    *end = r.p;
    return x;
}
