/* Splits by conditions: a formula over the arrays of a row, computed in f64 (struct split_part). Operators
 * are the elementwise rows of ops.def, with its formulas. */
#include <stdlib.h>
#include <tgmath.h>
#include "kernels/vocab.h"
#include "runtime/data/internal.h"

enum { DEPTH = 32 };
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc)                                           \
    static double f64_##name(double x, double y, double z)                                                   \
    {                                                                                                        \
        typedef double T __attribute__((unused));                                                            \
        (void)x, (void)y, (void)z;                                                                           \
        return (double)(fwd);                                                                                \
    }
#define REDUCE(name, dsl, sig, identity, combine, finish, doc)
#define VIEW(name, dsl, attrs, doc)
#define OP(name, dsl, lo, hi, flags, attrs, sig, doc)
#include "kernels/ops.def"
#undef ELEM
#define ELEM(name, dsl, n, sig, fwd, dx, dy, dz, domain, tol, doc) [OP_##name] = f64_##name,
static double (*const formulas[OP_COUNT])(double, double, double) = {
#include "kernels/ops.def"
};

struct operand_value {
    double x;
    const char *text; /* NULL = a number */
};
/* A step, looked up once. */
struct ready {
    enum op op; /* OP_NONE = a value */
    const struct array *field;
    struct operand_value constant;
};

/* A row of one or two numbers or bools whose value does not depend on the type; OP_NONE for others. */
static enum op find_op(const char *name)
{
    enum op op = op_by_name(name);
    const struct op_info *info = &op_table[op];
    bool plain = info->kind == OPK_ELEM && info->n_min <= 2 && info->sig != SIG_CAST && info->sig != SIG_BITS;
    return plain ? op : OP_NONE;
}

static enum status bad_formula(const struct data_set *d, const char *name, struct diag_sink *sink)
{
    return diag_emit(sink, DIAG_F3105, d->data->span, "the condition of split `%s` cannot be computed", name);
}

static enum status find_column(const struct data_set *d, const struct array_file *f, const char *name,
                               struct diag_sink *sink, const struct array **out)
{
    TRY(find_member(d, f, name, d->data->span, sink, out));
    if ((*out)->rank != 1 || (*out)->dim[0] != d->stored) {
        return diag_emit(
            sink, DIAG_F3102, d->data->span,
            "`%s` of %s decides a split, which needs one value for each of the %lld rows; it has %d "
            "axes and %lld rows",
            name, d->path, (long long)d->stored, (*out)->rank, (long long)(*out)->dim[0]);
    }
    return file_type_is_text((*out)->type) ? ST_OK : array_need_numbers(*out, d->path, sink);
}

static const char *column_text(struct arena *a, const struct array *x)
{
    return x->note ? arena_printf(a, "`%s` (%s)", x->name, x->note) : arena_printf(a, "`%s`", x->name);
}

static enum status text_as_number(const struct data_set *d, const struct split_part *p, const char *what,
                                  struct diag_sink *sink)
{
    enum status st =
        diag_emit(sink, DIAG_F3107, d->data->span,
                  "%s: the condition of split `%s` takes text for a number, %s", d->path, p->name, what);
    diag_help(sink, "text is compared with text: field(\"day\") == \"mon\"");
    return st;
}

/* Looks everything up, and checks that operators meet as many operands as they need, numbers or text. */
static enum status prepare(const struct data_set *d, const struct split_part *p, const struct array_file *f,
                           struct ready *out, struct diag_sink *sink)
{
    const char *text_of[DEPTH]; /* what is text, in words; NULL = a number */
    int n = 0;
    for (uint32_t i = 0; i < p->n_step; i++) {
        const char *s = p->step[i];
        struct ready *r = &out[i];
        *r = (struct ready){.op = OP_NONE};
        const char *text = s[0] == '"' ? arena_printf(sink->arena, "%s\"", s) : NULL;
        if (s[0] == '.') {
            TRY(find_column(d, f, s + 1, sink, &r->field));
            text = file_type_is_text(r->field->type) ? column_text(sink->arena, r->field) : NULL;
        } else if (text || s[0] == '=') {
            r->constant = (struct operand_value){text ? 0 : strtod(s + 1, NULL), text ? s + 1 : NULL};
        } else if (!(r->op = find_op(s)) || n < op_table[r->op].n_min) {
            return bad_formula(d, p->name, sink);
        } else {
            n -= op_table[r->op].n_min;
            const char *left = text_of[n], *right = text_of[n + op_table[r->op].n_min - 1];
            if ((left || right) && (op_table[r->op].sig != SIG_EQUAL || !left != !right)) {
                return text_as_number(d, p, left ? left : right, sink);
            }
        }
        if (n >= DEPTH) {
            return bad_formula(d, p->name, sink);
        }
        text_of[n++] = text;
    }
    return n == 1 && !text_of[0] ? ST_OK : bad_formula(d, p->name, sink);
}

static double compute(struct arena *scratch, const struct ready *r, uint32_t n_step, int64_t row)
{
    struct operand_value stack[DEPTH] = {{0}};
    int n = 0;
    for (uint32_t i = 0; i < n_step; i++, r++) {
        struct operand_value v = r->constant;
        if (r->field && file_type_is_text(r->field->type)) {
            v.text = array_string(scratch, r->field, row);
        } else if (r->field) {
            v.x = array_number(r->field, row);
        } else if (r->op) {
            n -= op_table[r->op].n_min;
            const struct operand_value *x = &stack[n], *y = &stack[n + op_table[r->op].n_min - 1];
            v.x = x->text && y->text ? formulas[r->op](strcmp(x->text, y->text) != 0, 0, 0)
                                     : formulas[r->op](x->x, y->x, 0);
        }
        stack[n++] = v;
    }
    return stack[0].x;
}

static enum status twice(const struct data_set *d, uint32_t a, uint32_t b, int64_t row,
                         struct diag_sink *sink)
{
    enum status st = diag_emit(sink, DIAG_F3105, d->data->span,
                               "row %lld of %s is in two parts of the split, `%s` and `%s`", (long long)row,
                               d->path, d->data->parts[a].name, d->data->parts[b].name);
    diag_help(sink, "no row may be in two of them; one that is in none is left out");
    return st;
}

enum status condition_parts(struct arena *a, const struct data_set *d, const struct array_file *f,
                            uint32_t *part_of, struct diag_sink *sink)
{
    enum status st = ST_OK;
    for (int64_t i = 0; i < d->stored; i++) {
        part_of[i] = d->n_part;
    }
    for (uint32_t k = 0; k < d->n_part && st == ST_OK && d->stored; k++) { /* no rows have no types */
        const struct split_part *p = &d->data->parts[k];
        struct ready *ready = arena_array(a, struct ready, p->n_step);
        struct arena *scratch = arena_new();
        st = prepare(d, p, f, ready, sink);
        for (int64_t i = 0; i < d->stored && st == ST_OK; i++) {
            double x = compute(scratch, ready, p->n_step, i);
            if (x == 0 || x != x) {
                continue;
            }
            st = part_of[i] < d->n_part ? twice(d, part_of[i], k, i, sink) : ST_OK;
            part_of[i] = k;
        }
        arena_free(scratch);
    }
    return st;
}
