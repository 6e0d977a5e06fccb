/* Derivative formulas of ops.def: gml expressions, evaluated into nodes.
 *
 * A formula is read by the gml parser once per graph and kept in the graph's arena with sources of its own,
 * so that user sources stay what they are. Numbers adapt to the tensor beside them, as in a model. A formula
 * that does not parse or names something unknown is a bug of ops.def: I0001, with the text.
 */
#include "compiler/build.h"
#include "grammar/ast.h"

struct formula {
    const char *text;
    const struct ast *ast;
};
struct formulas {
    struct sources sources;
    struct diag_sink sink;
    VEC(struct formula) list;
};

struct formula_ctx {
    struct build *b;
    const char *text;
    const struct formula_name *names;
    uint32_t n;
};
/* Either a number without a type yet, or a value; value 0 = failed. */
struct term {
    bool is_number;
    double number;
    val value;
};
static struct term eval(struct formula_ctx *c, const struct ast *a);

static struct term bad(struct formula_ctx *c, const char *what)
{
    diag_emit(c->b->sink, DIAG_I0001, c->b->span, "derivative `%s` of the operator table: %s", c->text, what);
    return (struct term){0};
}
static struct term number(double x)
{
    return (struct term){.is_number = true, .number = x};
}
static val lookup(const struct formula_ctx *c, const char *name)
{
    for (uint32_t i = 0; i < c->n; i++) {
        if (!strcmp(c->names[i].name, name)) {
            return c->names[i].value;
        }
    }
    return 0;
}
/* The type of numbers that meet no tensor: that of the incoming gradient. */
static enum dtype default_dtype(const struct formula_ctx *c)
{
    val g = lookup(c, "g");
    return g ? node_type(c->b->g, g).dtype : DT_F32;
}

static bool fold_numbers(enum op op, const struct term *t, uint32_t n, double *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!t[i].is_number) {
            return false;
        }
    }
    double x = t[0].number, y = n > 1 ? t[1].number : 0;
    switch (op) {
    case OP_add:
        *out = x + y;
        return true;
    case OP_sub:
        *out = x - y;
        return true;
    case OP_mul:
        *out = x * y;
        return true;
    case OP_div:
        *out = x / y;
        return true;
    case OP_neg:
        *out = -x;
        return true;
    default:
        return false;
    }
}
/* Gives every number the type of the first value it stands beside (the condition of a choice does not count).
 */
static struct term apply(struct formula_ctx *c, enum op op, const struct term *t, uint32_t n)
{
    double folded;
    val in[3];
    enum dtype type = default_dtype(c);
    if (fold_numbers(op, t, n, &folded)) {
        return number(folded);
    }
    for (uint32_t i = n; i-- > (op_table[op].sig == SIG_CHOOSE ? 1u : 0u);) {
        if (!t[i].is_number && t[i].value) {
            type = node_type(c->b->g, t[i].value).dtype;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        in[i] = t[i].is_number ? build_const(c->b, type, t[i].number) : t[i].value;
    }
    return (struct term){.value = build_op(c->b, op, in, n)};
}
/* Calls name an operator as a model does, or by its internal name where it has a symbol only (pow). */
static enum op op_called(const char *name)
{
    for (int op = 1; op < OP_COUNT; op++) {
        if (op_table[op].kind == OPK_ELEM && !strcmp(op_table[op].dsl, name)) {
            return (enum op)op;
        }
    }
    return op_by_name(name);
}
static struct term eval_cast(struct formula_ctx *c, struct term t)
{
    val x = lookup(c, "x");
    enum dtype to = x ? node_type(c->b->g, x).dtype : DT_NONE;
    if (t.is_number || !dtype_is_float(to)) {
        return bad(c, "cast(g) needs a value and a float input");
    }
    return (struct term){.value = build_cast(c->b, t.value, to)};
}
static struct term eval_call(struct formula_ctx *c, const struct ast *a)
{
    struct term t[3];
    uint32_t n = a->list.n;
    if (a->a->kind != AST_ID || n < 1 || n > 3) {
        return bad(c, "a call must name an operator of one to three operands");
    }
    for (uint32_t i = 0; i < n; i++) {
        t[i] = eval(c, a->list.at[i]->a);
        if (!t[i].is_number && !t[i].value) {
            return t[i];
        }
    }
    if (!strcmp(a->a->name, "cast") && n == 1) {
        return eval_cast(c, t[0]);
    }
    enum op op = op_called(a->a->name);
    return op_table[op].kind != OPK_ELEM ? bad(c, "unknown operator in a call") : apply(c, op, t, n);
}
static struct term eval_operator(struct formula_ctx *c, const struct ast *a)
{
    uint32_t n = a->kind == AST_BIN ? 2 : 1;
    enum op op = op_by_symbol(a->op, n);
    struct term t[2] = {eval(c, a->a), n == 2 ? eval(c, a->b) : number(0)};
    for (uint32_t i = 0; i < n; i++) {
        if (!t[i].is_number && !t[i].value) {
            return t[i];
        }
    }
    return op == OP_NONE ? bad(c, "unknown operator symbol") : apply(c, op, t, n);
}
static struct term eval(struct formula_ctx *c, const struct ast *a)
{
    switch (a->kind) {
    case AST_NUM:
        return number(a->num);
    case AST_PAREN:
        return eval(c, a->a);
    case AST_BIN:
    case AST_UN:
        return eval_operator(c, a);
    case AST_CALL:
        return eval_call(c, a);
    case AST_ID: {
        val v = lookup(c, a->name);
        return v ? (struct term){.value = v} : bad(c, "unknown name");
    }
    default:
        return bad(c, "a construct that formulas do not have");
    }
}

static struct formulas *formulas_of(struct build *b)
{
    if (!b->formulas) {
        b->formulas = arena_new_of(b->g->arena, struct formulas);
        sources_init(&b->formulas->sources, b->g->arena);
        diag_init(&b->formulas->sink, b->g->arena, &b->formulas->sources);
    }
    return b->formulas;
}
static const struct ast *parsed(struct build *b, const char *text)
{
    struct formulas *f = formulas_of(b);
    for (uint32_t i = 0; i < f->list.n; i++) {
        if (f->list.at[i].text == text || !strcmp(f->list.at[i].text, text)) {
            return f->list.at[i].ast;
        }
    }
    struct ast *ast = NULL;
    uint16_t file = sources_add(&f->sources, "ops.def", text, (uint32_t)strlen(text));
    if (gml_parse_expr(b->g->arena, b->g->names, &f->sink, file, &ast) != ST_OK) {
        ast = NULL;
    }
    vec_push(b->g->arena, &f->list, ((struct formula){text, ast}));
    return ast;
}
val build_formula(struct build *b, const char *text, const struct formula_name *names, uint32_t n)
{
    struct formula_ctx c = {b, text, names, n};
    const struct ast *ast = parsed(b, text);
    if (!ast) {
        return bad(&c, "it does not parse").value;
    }
    struct term t = eval(&c, ast);
    return t.is_number ? build_const(b, default_dtype(&c), t.number) : t.value;
}
