/* Shape rules: dispatch, the rules that follow from an operator's signature, and what the others share. */
#include <stdarg.h>
#include "runtime/graph/shape.h"

#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) [OP_##name] = shape_elem,
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)     [OP_##name] = shape_reduce,
#define VIEW(name, dsl, attrs, doc)                                [OP_##name] = shape_##name,
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)              [OP_##name] = shape_##name,
static bool (*const rules[OP_COUNT])(struct shape_ctx *) = {
#include "kernels/ops.def"
};

/* -- reporting */

bool shape_fail(struct shape_ctx *c, enum diag_code code, const char *fmt, ...)
{
    char message[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(message, sizeof message, fmt, list);
    va_end(list);
    diag_emit(c->sink, code, c->s->span, "%s", message);
    return false;
}

const char *shape_name(const struct shape_ctx *c)
{
    const struct op_info *op = &op_table[c->s->op];
    return *op->dsl ? op->dsl : op->name;
}

const char *shape_text(const struct shape_ctx *c, const struct type *t)
{
    return type_text(c->g, t);
}

static void label_input(struct shape_ctx *c, int i)
{
    struct span at = c->g->nodes.at[c->s->in[i]].span;
    if (at.file && (at.start != c->s->span.start || at.end != c->s->span.end || at.file != c->s->span.file)) {
        diag_label(c->sink, at, "this is %s", shape_text(c, &c->in[i]));
    }
}

bool shape_pair(struct shape_ctx *c, enum diag_code code, int i, int k, const char *why)
{
    shape_fail(c, code, "%s: %s: %s and %s", shape_name(c), why, shape_text(c, &c->in[i]),
               shape_text(c, &c->in[k]));
    label_input(c, i);
    label_input(c, k);
    return false;
}

/* -- requirements */

bool shape_attrs(struct shape_ctx *c, uint32_t n_attr, uint32_t n_dim)
{
    if (c->s->n_attr != n_attr || c->s->n_dim != n_dim) {
        return shape_fail(c, DIAG_I0001, "%s has %u attributes and %u dims, not %u and %u",
                          op_table[c->s->op].name, (unsigned)c->s->n_attr, (unsigned)c->s->n_dim,
                          (unsigned)n_attr, (unsigned)n_dim);
    }
    return true;
}

bool shape_explicit(struct shape_ctx *c)
{
    const struct type *t = &c->s->type;
    for (int i = 0; i < t->rank && i < LIMIT_RANK; i++) {
        if (t->dim[i] == 0) {
            return shape_fail(c, DIAG_E2009, "%s: size %d of the result is too large to compute with",
                              shape_name(c), i);
        }
    }
    if (!type_valid(c->g, t)) {
        return shape_fail(c, DIAG_I0001, "%s needs an explicit type", op_table[c->s->op].name);
    }
    c->out = *t;
    return true;
}

bool shape_float(struct shape_ctx *c, int i)
{
    return dtype_is_float(c->in[i].dtype) || shape_fail(c, DIAG_E2002, "%s needs a float operand, not %s",
                                                        shape_name(c), shape_text(c, &c->in[i]));
}

bool shape_number(struct shape_ctx *c, int i)
{
    return c->in[i].dtype != DT_BOOL ||
           shape_fail(c, DIAG_E2002, "%s needs numbers, not %s", shape_name(c), shape_text(c, &c->in[i]));
}

bool shape_dtype(struct shape_ctx *c, int i, enum dtype t)
{
    return c->in[i].dtype == t || shape_fail(c, DIAG_E2002, "%s needs %s as operand %d, not %s",
                                             shape_name(c), dtype_name(t), i + 1, shape_text(c, &c->in[i]));
}

bool shape_min_rank(struct shape_ctx *c, int i, int rank)
{
    return c->in[i].rank >= rank ||
           shape_fail(c, DIAG_E2003, "%s: operand %d needs at least %d %s, but is %s", shape_name(c), i + 1,
                      rank, rank == 1 ? "axis" : "axes", shape_text(c, &c->in[i]));
}

bool shape_rank(struct shape_ctx *c, int i, int rank)
{
    return c->in[i].rank == rank ||
           shape_fail(c, DIAG_E2003, "%s: operand %d needs %d %s, but is %s", shape_name(c), i + 1, rank,
                      rank == 1 ? "axis" : "axes", shape_text(c, &c->in[i]));
}

bool shape_index(struct shape_ctx *c, uint32_t attr, uint32_t n, const char *what)
{
    int64_t i = c->s->attr[attr];
    return (i >= 0 && i < (int64_t)n) || shape_fail(c, DIAG_I0001, "%s names %s %lld of %u",
                                                    op_table[c->s->op].name, what, (long long)i, (unsigned)n);
}

bool shape_of_replicas(struct shape_ctx *c)
{
    const struct type *t = &c->s->type;
    return c->g->replicas && t->rank > 0 && t->dim[0] == c->g->n_replicas;
}

bool shape_scalar(struct shape_ctx *c, enum dtype t)
{
    c->out = (struct type){.dtype = t};
    return true;
}

bool shape_flat(struct shape_ctx *c, uint32_t i, enum dtype t)
{
    if (!shape_index(c, i, c->g->trees.n, "tree")) {
        return false;
    }
    t = c->s->type.dtype != DT_NONE ? c->s->type.dtype : t;
    c->out = (struct type){.dtype = t, .rank = 1, .dim = {dim_tree(&c->g->dims, (uint32_t)c->s->attr[i])}};
    if (c->g->replicas && c->s->type.rank == 2) {
        c->out = type_stacked(c->out, c->g->n_replicas);
    }
    return t > DT_NONE && t < DT_COUNT ? true : shape_fail(c, DIAG_I0001, "flat block without element type");
}

/* -- rules by signature */

static bool same_dtype(struct shape_ctx *c, int from)
{
    for (int i = from + 1; i < (int)c->s->n_in; i++) {
        if (c->in[i].dtype != c->in[from].dtype) {
            return shape_pair(c, DIAG_E2002, from, i, "element types differ");
        }
    }
    return true;
}

static bool operand_signature(struct shape_ctx *c, int i, enum op_sig sig)
{
    switch (sig) {
    case SIG_FLOAT:
    case SIG_CLASSIFY:
        return shape_float(c, i);
    case SIG_NUMBER:
    case SIG_COMPARE:
        return shape_number(c, i);
    case SIG_LOGIC:
        return shape_dtype(c, i, DT_BOOL);
    case SIG_BITS:
        return shape_number(c, i);
    default:
        return true;
    }
}

static bool result_dtype(struct shape_ctx *c, enum op_sig sig, enum dtype *out)
{
    *out = sig == SIG_FLOAT || sig == SIG_NUMBER ? c->in[0].dtype : DT_BOOL;
    if (sig == SIG_CHOOSE) {
        *out = c->in[1].dtype;
    } else if (sig == SIG_CAST || sig == SIG_BITS) {
        *out = (enum dtype)(c->s->attr[0] > DT_NONE && c->s->attr[0] < DT_COUNT ? c->s->attr[0] : DT_NONE);
    }
    if (sig == SIG_BITS && (c->in[0].dtype == DT_I32 ? !dtype_is_float(*out) : *out != DT_I32)) {
        return shape_fail(c, DIAG_I0001, "%s: the bits of %s as %s", shape_name(c), shape_text(c, &c->in[0]),
                          dtype_name(*out));
    }
    return *out != DT_NONE || shape_fail(c, DIAG_I0001, "cast to an unknown element type");
}

bool shape_elem(struct shape_ctx *c)
{
    enum op_sig sig = op_table[c->s->op].sig;
    if (!shape_attrs(c, sig == SIG_CAST || sig == SIG_BITS, 0)) {
        return false;
    }
    for (int i = 1; i < (int)c->s->n_in; i++) {
        struct type other = c->in[i];
        other.dtype = c->in[0].dtype;
        if (!type_equal(&other, &c->in[0])) {
            return shape_pair(c, DIAG_E2001, 0, i, "shapes differ");
        }
    }
    for (int i = 0; i < (int)c->s->n_in; i++) {
        if (!operand_signature(c, i, sig)) {
            return false;
        }
    }
    if ((sig == SIG_CHOOSE && !shape_dtype(c, 0, DT_BOOL)) || !same_dtype(c, sig == SIG_CHOOSE)) {
        return false;
    }
    enum dtype t;
    if (!result_dtype(c, sig, &t)) {
        return false;
    }
    c->out = c->in[0];
    c->out.dtype = t;
    return true;
}

bool shape_reduce(struct shape_ctx *c)
{
    const struct type *x = &c->in[0];
    if (!shape_attrs(c, c->s->n_attr, 0) || !operand_signature(c, 0, op_table[c->s->op].sig)) {
        return false;
    }
    c->out = (struct type){.dtype = x->dtype};
    uint32_t next = 0;
    for (int i = 0; i < x->rank; i++) {
        if (next < c->s->n_attr && c->s->attr[next] == i) {
            next++;
        } else {
            c->out.dim[c->out.rank++] = x->dim[i];
        }
    }
    return next == c->s->n_attr ||
           shape_fail(c, DIAG_E2005, "%s: axis %lld does not exist in %s, or axes are not ascending",
                      shape_name(c), (long long)c->s->attr[next], shape_text(c, x));
}

bool shape_check(struct shape_ctx *c)
{
    if (!rules[c->s->op](c)) {
        return false;
    }
    for (int i = 0; i < c->out.rank; i++) {
        int64_t size = 0;
        if (c->out.dim[i] == 0 ||
            (dim_is_const(&c->g->dims, c->out.dim[i], &size) && (size < 0 || size > LIMIT_DIM))) {
            return shape_fail(c, DIAG_E2009, "%s: a size of the result is too large to compute with",
                              shape_name(c));
        }
    }
    if (c->s->type.dtype != DT_NONE && !type_equal(&c->s->type, &c->out)) {
        const char *given = type_valid(c->g, &c->s->type) ? shape_text(c, &c->s->type) : "no type";
        return shape_fail(c, DIAG_I0001, "%s gives %s, but the node says %s", op_table[c->s->op].name,
                          shape_text(c, &c->out), given);
    }
    return true;
}
