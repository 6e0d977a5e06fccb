/* The split of a data set: by a field, by fractions, by row numbers, or by conditions on the arrays of a row.
 */
#include "compiler/elab_data.h"

static const char *call_name(struct ast *a)
{
    return a->kind == AST_CALL && a->a->kind == AST_ID ? a->a->name : "";
}

/* -- conditions */

/* Whether field(..) is read in it: then it is computed for each row. */
static bool reads_field(struct ast *a)
{
    if (!a || !strcmp(call_name(a), "field")) {
        return a != NULL;
    }
    bool found = reads_field(a->a) || reads_field(a->b) || reads_field(a->c);
    for (uint32_t i = 0; i < a->list.n && !found; i++) {
        found = reads_field(a->list.at[i]);
    }
    return found;
}
struct steps {
    struct elab *e;
    struct env *env;
    VEC(const char *) list;
};
static void push_step(struct steps *s, const char *text)
{
    vec_push(s->e->g->arena, &s->list, text);
}
/* What no field is in: a number, bool or text that is known now. */
static bool push_constant(struct steps *s, struct ast *a)
{
    struct elab *e = s->e;
    struct value v = eval(e, a, s->env);
    if (v.kind == V_STR) {
        push_step(s, arena_printf(e->g->arena, "\"%s", v.str));
        return true;
    }
    if ((v.kind == V_NUM || v.kind == V_BOOL) && v.known) {
        fix_value(e, v, a->span);
        push_step(s, arena_printf(e->g->arena, "=%.17g", v.kind == V_NUM ? v.num : (double)v.b));
        return true;
    }
    if (!is_poison(v)) {
        fail(e, DIAG_E2023, a->span, "a condition of a split compares fields with numbers and text, found %s",
             value_text(e, v));
    }
    return false;
}
static bool push_field(struct steps *s, struct ast *a)
{
    const char *name;
    if (a->list.n != 1 || a->list.at[0]->name) {
        fail(s->e, DIAG_E1005, a->span, "`field` takes the name of a field");
        return false;
    }
    struct ast *arg = a->list.at[0]->a;
    if (!want_string(s->e, eval(s->e, arg, s->env), arg->span, "the name of a field", &name)) {
        return false;
    }
    push_step(s, arena_printf(s->e->g->arena, ".%s", name));
    return true;
}
/* Operators that runtime/data/condition.c computes. */
static bool is_computed(enum op op)
{
    static const enum op known[] = {OP_add, OP_sub, OP_mul, OP_div, OP_mod, OP_floordiv, OP_neg, OP_eq,
                                    OP_ne,  OP_lt,  OP_le,  OP_gt,  OP_ge,  OP_land,     OP_lor, OP_lnot};
    bool is = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        is |= known[i] == op;
    }
    return is;
}
static bool push_condition(struct steps *s, struct ast *a)
{
    while (a->kind == AST_PAREN) {
        a = a->a;
    }
    if (!reads_field(a)) {
        return push_constant(s, a);
    }
    if (!strcmp(call_name(a), "field")) {
        return push_field(s, a);
    }
    bool two = a->kind == AST_BIN, one = a->kind == AST_UN;
    enum op op = two || one ? op_by_symbol(a->op, two ? 2 : 1) : OP_NONE;
    if (!is_computed(op)) {
        fail(s->e, DIAG_E2023, a->span,
             "the condition of a split is made of fields, numbers, text, arithmetic, comparisons, `and`, "
             "`or` and `not`");
        diag_help(s->e->sink, "split = (train = field(\"day\") < 20, test = field(\"day\") >= 20)");
        return false;
    }
    if (!push_condition(s, a->a) || (two && !push_condition(s, a->b))) {
        return false;
    }
    push_step(s, op_table[op].name);
    return true;
}
static bool split_conditions(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct steps s = {.e = e, .env = env};
        struct ast *part = a->list.at[i];
        if (!reads_field(part->a)) {
            fail(e, DIAG_E2023, part->span, "the part `%s` reads no field, the other parts do", part->name);
            diag_help(e->sink, "all parts are fractions, or all are conditions");
            return false;
        }
        if (!push_condition(&s, part->a)) {
            return false;
        }
        d->parts[i].name = part->name;
        d->parts[i].step = s.list.at;
        d->parts[i].n_step = s.list.n;
    }
    return true;
}

/* -- fractions and rows */

static bool split_fractions(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    double total = 0;
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct value v = eval(e, a->list.at[i]->a, env);
        if (v.kind != V_NUM || !v.known || v.num <= 0 || v.num > 1) {
            if (!is_poison(v)) {
                fail(e, DIAG_E2023, a->list.at[i]->span,
                     "a part of a split is a fraction between 0 and 1, found %s", value_text(e, v));
            }
            return false;
        }
        fix_value(e, v, a->list.at[i]->span);
        total += v.num;
        d->parts[i].name = a->list.at[i]->name;
        d->parts[i].fraction = v.num;
    }
    if (total > 1 + 1e-9) {
        fail(e, DIAG_E2023, a->span, "the parts of the split add up to %.6g, more than 1", total);
        diag_help(e->sink, "fractions are of all rows; rows(train = [0, 800], ..) names rows");
        return false;
    }
    return true;
}
static bool split_rows(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *p = a->list.at[i];
        struct value v = eval(e, p->a, env);
        if (!p->name || v.kind != V_LIST || v.list->n != 2) {
            fail(e, DIAG_E2023, p->span, "rows(name = [from, to], ..)");
            return false;
        }
        d->parts[i].name = p->name;
        if (!want_int(e, v.list->at[0], p->span, "the first row", &d->parts[i].from) ||
            !want_int(e, v.list->at[1], p->span, "the end of the rows", &d->parts[i].to)) {
            return false;
        }
        if (d->parts[i].from < 0 || d->parts[i].to <= d->parts[i].from) {
            fail(e, DIAG_E2023, p->span, "rows %lld to %lld are none", (long long)d->parts[i].from,
                 (long long)d->parts[i].to);
            diag_help(e->sink, "[from, to] counts from 0 and leaves `to` out");
            return false;
        }
    }
    return true;
}
static bool contains_name(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name)) {
        names++;
    }
    return *names != NULL;
}
void read_split(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    static const char *const binding_names[] = {"batch", "shuffle", "lanes", NULL}, *const split_name =
                                                                                        "split";
    struct ast *x = a->a;
    bool by_field = !strcmp(call_name(x), "field"), by_rows = !strcmp(call_name(x), "rows");
    if (strcmp(a->name, "split")) {
        fail(e, DIAG_E1004, a->name_span.file ? a->name_span : a->span,
             "a member without a type is a directive, and `%s` is none", a->name);
        if (contains_name(binding_names, a->name)) {
            diag_help(e->sink, "the phase says it: on %s{batch = 32, %s = ..} as d", d->name, a->name);
        } else if (closest_name(a->name, &split_name, 1)) {
            diag_help(e->sink, "did you mean `split`?");
        } else {
            diag_help(e->sink, "declare its type, `%s: f32[..] = ..`, or write `split = ..`", a->name);
        }
        return;
    }
    if (d->split != SPLIT_NONE) {
        fail(e, DIAG_E1007, a->name_span.file ? a->name_span : a->span, "the split of `%s` is declared twice",
             d->name);
        diag_help(e->sink, "one `split` names all the parts");
        return;
    }
    d->parts = arena_array(e->g->arena, struct split_part, x->list.n ? x->list.n : 1);
    d->split = SPLIT_FIELD; /* after an error parts are not looked for */
    if (by_field && x->list.n == 1 && x->list.at[0]->a->kind == AST_STR) {
        d->split_field = x->list.at[0]->a->str;
    } else if (x->kind == AST_RECORD) {
        bool conditions = reads_field(x);
        if (conditions ? split_conditions(e, x, env, d) : split_fractions(e, x, env, d)) {
            d->split = conditions ? SPLIT_CONDITION : SPLIT_FRACTION;
            d->n_part = x->list.n;
        }
    } else if (!by_rows) {
        fail(e, DIAG_E2023, x->span, "a split is field(\"name\"), fractions, rows or conditions");
        diag_help(e->sink,
                  "split = (train = 0.8, test = 0.2), or rows(train = [0, 800], test = [800, 1000])");
    } else if (split_rows(e, x, env, d)) {
        d->split = SPLIT_ROWS;
        d->n_part = x->list.n;
    }
}
