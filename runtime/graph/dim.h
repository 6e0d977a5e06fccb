/* Symbolic dimensions in canonical form.
 *
 * A dimension is a sum of rational monomials over atoms. Atoms are `dim` configs, per-launch batch sizes,
 * sizes of parameter trees, and opaque results of //, %, min, max over dimensions. Equal normal forms have
 * equal ids, so comparing dims is comparing ids. The table only grows and lives in the graph's arena. Values
 * are bound at load.
 */
#ifndef GML_GRAPH_DIM_H
#define GML_GRAPH_DIM_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/mem.h"

typedef uint32_t dim; /* index into struct dims; 0 = none */

enum atom_kind {
    ATOM_SYMBOL,   /* a named dim config or a batch; value from the binding */
    ATOM_TREE,     /* elements of the flat block of tree a, padding included; value from the binding */
    ATOM_FLOORDIV, /* a // b, a and b dims */
    ATOM_MOD,
    ATOM_MIN,
    ATOM_MAX,
};
struct atom {
    enum atom_kind kind;
    const char *name; /* ATOM_SYMBOL */
    uint32_t a, b;
};
/* num/den times the product of atoms, ascending, repeated for powers; negative powers in `under`. */
struct monomial {
    int64_t num, den;
    uint16_t n_over, n_under;
    const uint32_t *over, *under;
};
struct dim_form {
    struct monomial *terms; /* in canonical order, which depends on names alone */
    uint32_t n;
    uint32_t weight; /* size of the written-out form; bounded, so that printing and evaluation are */
};
struct dims {
    struct arena *arena;
    VEC(struct atom) atoms;    /* at[0] unused */
    VEC(struct dim_form) list; /* at[0] unused */
    uint32_t *cons;            /* hash of forms, private to dim.c */
    uint32_t n_cons;
};

/* All makers return 0 when an operand is 0, a coefficient overflows, or the form grows out of bounds. */
void dims_init(struct dims *d, struct arena *a);
dim dim_const(struct dims *d, int64_t v);
dim dim_symbol(struct dims *d, const char *name); /* the name is copied; equal text, equal dim */
dim dim_tree(struct dims *d, uint32_t tree);
dim dim_add(struct dims *d, dim a, dim b);
dim dim_sub(struct dims *d, dim a, dim b);
dim dim_mul(struct dims *d, dim a, dim b);
/* Exact division: the quotient must be whole, which is checked when bound. b must be a single monomial, else
 * 0. */
dim dim_div(struct dims *d, dim a, dim b);
dim dim_opaque(struct dims *d, enum atom_kind k, dim a, dim b);

bool dim_is_const(const struct dims *d, dim x, int64_t *value);
/* Whether x is exactly the size of one tree. */
bool dim_is_tree(const struct dims *d, dim x, uint32_t *tree);
/* Whether x is exactly one named symbol; *atom is its index for a binding. */
bool dim_is_symbol(const struct dims *d, dim x, uint32_t *atom);

/* Values of atoms: one int64 per atom index, -1 = unbound. */
struct binding {
    int64_t *atom;
    uint32_t n;
};
/* False when an atom is unbound, the value is not a whole number >= 0, or it overflows LIMIT_DIM. */
bool dim_eval(const struct dims *d, const struct binding *b, dim x, int64_t *value);
/* "B", "4*H + 1", "min(500, b)"; parses back with dim_parse. */
void dim_print(const struct dims *d, dim x, struct text *out);
/* Reads the text form; *end is set behind it. 0 on malformed text. */
dim dim_parse(struct dims *d, const char *text, const char **end);

#endif
