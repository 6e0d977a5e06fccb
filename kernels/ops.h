/* Operators as an enum and a table of facts, both generated from ops.def. Valid C11 and C++. */
#ifndef GML_KERNELS_OPS_H
#define GML_KERNELS_OPS_H
#include <stdint.h>

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) OP_##name,
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)     OP_##name,
#define VIEW(name, dsl, attrs, doc)                                OP_##name,
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)              OP_##name,
enum op {
    OP_NONE,
#include "kernels/ops.def"
    OP_COUNT
};
#undef ELEM
#undef REDUCE
#undef VIEW
#undef OP

/* Attribute 1 of `rows`. */
enum rows_order { ROWS_IN_ORDER, ROWS_SHUFFLED, ROWS_LANES };

enum op_kind { OPK_NONE, OPK_ELEM, OPK_REDUCE, OPK_VIEW, OPK_OP };
enum op_sig {
    SIG_NONE,
    SIG_FLOAT,
    SIG_NUMBER,
    SIG_COMPARE,
    SIG_EQUAL,
    SIG_LOGIC,
    SIG_CHOOSE,
    SIG_CLASSIFY,
    SIG_CAST,
    SIG_BITS
};
enum op_domain {
    DOM_ANY,
    DOM_POSITIVE,
    DOM_NONZERO,
    DOM_UNIT,
    DOM_SMALL,
    DOM_KINK0,
    DOM_APART,
    DOM_INTLIKE,
    DOM_BOOLS
};
enum op_flags {
    OPF_NONDIFF = 1,
    OPF_CONTROL = 2,
    OPF_FAULT = 4,
    OPF_META = 8,
    OPF_LIBRARY = 16,
    OPF_PLAN = 32,
    OPF_ANY_INDEX = 64,
    OPF_LOAD = 128,
    OPF_LOOP = 256,
    OPF_ROWS = 512
};

struct op_info {
    const char *name, *dsl, *doc;
    enum op_kind kind;
    enum op_sig sig;  /* ELEM and REDUCE */
    int n_min, n_max; /* inputs; n_max -1 = any number */
    unsigned flags;
    const char *forward;                     /* ELEM: C text */
    const char *identity, *combine, *finish; /* REDUCE: C text */
    const char *derivative[3];               /* ELEM: gml text, "" = no gradient */
    const char *attrs, *signature;
    enum op_domain domain; /* ELEM */
    double tolerance;      /* ELEM: relative, GPU against CPU in f32 */
};
/* Defined in runtime/graph/op_table.c; index by enum op. */
extern const struct op_info op_table[OP_COUNT];
/* By internal name; OP_NONE when unknown. */
enum op op_by_name(const char *name);
/* Which attribute the table calls by this name ("phase"), -1 when it has none. */
int op_attr(enum op op, const char *name);
/* Hash of names, arities and attribute lists: part of the .gmlb header. */
uint64_t op_table_hash(void);

#endif
