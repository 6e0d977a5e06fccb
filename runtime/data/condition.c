/* Splits by conditions: a formula over the arrays of a row, computed in f64 (struct split_part). */
#include <math.h>
#include <stdlib.h>
#include "runtime/data/internal.h"

enum { DEPTH = 32 };
static double floor_mod_f64(double x, double y)
{
    return x - y * floor(x / y);
}

/* Operators by their name in ops.def. */
enum form { FORM_TWO, FORM_ONE, FORM_SAME }; /* SAME: of two numbers, or of two texts */
struct condition_op {
    const char *name;
    enum form form;
    double (*of)(double x, double y);
};
#define OPERATOR(name, e)                                                                                    \
    static double op_##name(double x, double y)                                                              \
    {                                                                                                        \
        (void)y;                                                                                             \
        return e;                                                                                            \
    }
OPERATOR(add, x + y)
OPERATOR(sub, x - y)
OPERATOR(mul, x *y)
OPERATOR(div, x / y)
OPERATOR(floordiv, floor(x / y))
OPERATOR(mod, floor_mod_f64(x, y))
OPERATOR(neg, -x)
OPERATOR(eq, x == y)
OPERATOR(ne, x != y)
OPERATOR(lt, x < y)
OPERATOR(le, x <= y)
OPERATOR(gt, x > y)
OPERATOR(ge, x >= y)
OPERATOR(land, x != 0 && y != 0)
OPERATOR(lor, x != 0 || y != 0)
OPERATOR(lnot, x == 0)
static const struct condition_op operators[] = {
    {"add", FORM_TWO, op_add}, {"sub", FORM_TWO, op_sub},   {"mul", FORM_TWO, op_mul},
    {"div", FORM_TWO, op_div}, {"mod", FORM_TWO, op_mod},   {"floordiv", FORM_TWO, op_floordiv},
    {"neg", FORM_ONE, op_neg}, {"lnot", FORM_ONE, op_lnot}, {"eq", FORM_SAME, op_eq},
    {"ne", FORM_SAME, op_ne},  {"lt", FORM_TWO, op_lt},     {"le", FORM_TWO, op_le},
    {"gt", FORM_TWO, op_gt},   {"ge", FORM_TWO, op_ge},     {"land", FORM_TWO, op_land},
    {"lor", FORM_TWO, op_lor},
};

struct operand_value {
    double x;
    const char *text; /* NULL = a number */
};
/* A step, looked up once. */
struct ready {
    const struct condition_op *op;
    const struct array *field;
    struct operand_value constant;
};

static const struct condition_op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!strcmp(operators[i].name, name)) {
            return &operators[i];
        }
    }
    return NULL;
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
    return ST_OK;
}

/* Looks everything up, and checks that operators meet as many operands as they need, numbers or text. */
static enum status prepare(const struct data_set *d, const struct split_part *p, const struct array_file *f,
                           struct ready *out, struct diag_sink *sink)
{
    bool is_text[DEPTH];
    int n = 0;
    for (uint32_t i = 0; i < p->n_step; i++) {
        const char *s = p->step[i];
        struct ready *r = &out[i];
        *r = (struct ready){0};
        bool text = s[0] == '"';
        if (s[0] == '.') {
            TRY(find_column(d, f, s + 1, sink, &r->field));
            text = file_type_is_text(r->field->type);
        } else if (text || s[0] == '=') {
            r->constant = (struct operand_value){text ? 0 : strtod(s + 1, NULL), text ? s + 1 : NULL};
        } else if (!(r->op = find_op(s)) || n < 1 + (r->op->form != FORM_ONE)) {
            return bad_formula(d, p->name, sink);
        } else {
            n -= 1 + (r->op->form != FORM_ONE);
            bool other = r->op->form == FORM_ONE ? is_text[n] : is_text[n + 1], any = is_text[n] || other;
            if (any && (r->op->form != FORM_SAME || is_text[n] != other)) {
                enum status st =
                    diag_emit(sink, DIAG_F3107, d->data->span,
                              "the condition of split `%s` takes text of %s for a number", p->name, d->path);
                diag_help(sink, "text is compared with text: field(\"day\") == \"mon\"");
                return st;
            }
        }
        if (n >= DEPTH) {
            return bad_formula(d, p->name, sink);
        }
        is_text[n++] = text;
    }
    return n == 1 && !is_text[0] ? ST_OK : bad_formula(d, p->name, sink);
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
            n -= 1 + (r->op->form != FORM_ONE);
            const struct operand_value *x = &stack[n], *y = &stack[n + (r->op->form != FORM_ONE)];
            v.x = x->text && y->text ? r->op->of(strcmp(x->text, y->text) != 0, 0) : r->op->of(x->x, y->x);
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
    for (uint32_t k = 0; k < d->n_part && st == ST_OK; k++) {
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
