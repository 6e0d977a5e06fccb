/* Names known everywhere: the rows of ops.def that have a DSL name, the tables of builtins, casts and
 * constants. Elementwise rows need no entry anywhere else: adding a row to ops.def makes it callable.
 */
#include <math.h>
#include "compiler/elab.h"

/* -- names */

const struct builtin *const builtin_tables[] = {
    shape_builtins,  row_builtins,  move_builtins,   order_builtins, conv_builtins, sequence_builtins,
    matrix_builtins, tree_builtins, number_builtins, file_builtins,  NULL};

static struct value run_elementwise(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    return elementwise(e, c->b->op, c->arg, (uint32_t)op_table[c->b->op].n_min, &s);
}
static const struct builtin *find_in(const struct builtin *t, const char *name)
{
    for (; t->name; t++) {
        if (!strcmp(t->name, name)) {
            return t;
        }
    }
    return NULL;
}
static const struct builtin *find_builtin(struct elab *e, const char *name)
{
    for (size_t i = 0; builtin_tables[i]; i++) {
        const struct builtin *b = find_in(builtin_tables[i], name);
        if (b) {
            return b;
        }
    }
    for (int op = 1; op < OP_COUNT; op++) {
        if (op_table[op].kind == OPK_ELEM && op_table[op].dsl && !strcmp(op_table[op].dsl, name)) {
            static const char *const params[] = {"", "x", "x y", "x y z"};
            struct builtin *b = arena_new_of(e->arena, struct builtin);
            *b = (struct builtin){op_table[op].dsl, run_elementwise, params[op_table[op].n_min], (enum op)op};
            return b;
        }
    }
    return NULL;
}
bool in_load_phase(struct elab *e)
{
    enum phase_kind k = e->g->phases.at[e->b.phase].kind;
    return k == PHASE_INIT || k == PHASE_DATA;
}
static struct value step_value(struct elab *e, struct span at, uint32_t phase, int64_t what)
{
    if (in_load_phase(e)) {
        return fail(e, DIAG_E3005, at, "there are no steps while initial values or data are computed");
    }
    if (what == 1) {
        struct live *l = arena_new_of(e->arena, struct live);
        l->kind = LIVE_STEPS;
        l->index = phase;
        return (struct value){.kind = V_NUM, .is_int = true, .live = l};
    }
    build_at(e, at);
    struct node_spec s = {.op = OP_step,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){phase, what},
                          .n_attr = 2,
                          .type = {.dtype = DT_I32},
                          .span = at,
                          .scope = e->b.scope};
    return tensor_value(graph_add(e->g, &s, e->sink), 0);
}
struct value builtin_value(struct elab *e, const char *name, struct span at)
{
    static struct module rand_module = {.name = "rand"};
    if (!strcmp(name, "none")) {
        return none_value();
    }
    if (!strcmp(name, "pi")) {
        return num_value(3.14159265358979323846, false);
    }
    if (!strcmp(name, "inf")) {
        return num_value(INFINITY, false);
    }
    if (!strcmp(name, "training")) {
        return bool_value(e->training);
    }
    if (!strcmp(name, "step") || !strcmp(name, "steps")) {
        return step_value(e, at, e->b.phase, name[4] == 's');
    }
    if (!strcmp(name, "rand")) {
        return (struct value){.kind = V_MODULE, .module = &rand_module};
    }
    const struct builtin *b = find_builtin(e, name);
    return b ? (struct value){.kind = V_BUILTIN, .builtin = b} : (struct value){.kind = V_MISSING};
}
struct value builtin_member(struct elab *e, const char *module, const char *name, struct span at)
{
    const struct builtin *b = find_in(rand_builtins, name);
    if (b) {
        return (struct value){.kind = V_BUILTIN, .builtin = b};
    }
    const char *names[8];
    uint32_t n = 0;
    for (b = rand_builtins; b->name && n < 8; b++) {
        names[n++] = b->name;
    }
    fail(e, DIAG_E1001, at, "no `%s` in the module %s", name, module);
    help_closest(e, name, names, n);
    return poison();
}
static void push_name(struct elab *e, const char *name, const char ***names, uint32_t *n, uint32_t *cap)
{
    if (*n == *cap) {
        *names = vec_grow(e->arena, *names, cap, sizeof **names);
    }
    (*names)[(*n)++] = name;
}
void builtin_names(struct elab *e, const char ***names, uint32_t *n, uint32_t *cap)
{
    static const char *const words[] = {"none", "pi", "inf", "training", "step", "steps", "rand"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        push_name(e, words[i], names, n, cap);
    }
    for (size_t i = 0; builtin_tables[i]; i++) {
        for (const struct builtin *b = builtin_tables[i]; b->name; b++) {
            push_name(e, b->name, names, n, cap);
        }
    }
    for (int op = 1; op < OP_COUNT; op++) {
        if (op_table[op].kind == OPK_ELEM && op_table[op].dsl && *op_table[op].dsl) {
            push_name(e, op_table[op].dsl, names, n, cap);
        }
    }
}

/* -- calling */

struct site builtin_site(struct bcall *c)
{
    struct site s = {.at = c->span_at, .env = c->env};
    for (int i = 0; i < 3; i++) {
        s.operand[i] = c->ast[i];
    }
    return s;
}
struct param_name {
    char name[16];
    bool optional;
};
/* "x axis? keep?" in parts. Without `*`, *rest is 0, else one more than the number of names before it. */
static uint32_t split_params(const char *text, struct param_name *p, uint32_t *rest)
{
    uint32_t n = 0;
    *rest = 0;
    while (*text && n < 8) {
        size_t k = strcspn(text, " ");
        if (*text == '*') {
            *rest = n + 1;
        } else {
            p[n].optional = text[k - 1] == '?';
            size_t len = k - p[n].optional;
            memcpy(p[n].name, text, len);
            p[n++].name[len] = 0;
        }
        text += k + (text[k] == ' ');
    }
    return n;
}
/* How the function is called: `topk(x, k)`; what may be left out has a `?`. */
static void help_call(struct elab *e, const struct builtin *b, const struct param_name *p, uint32_t n,
                      uint32_t rest)
{
    struct text t = {.arena = e->arena};
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&t, "%s%s%s%s", i ? ", " : "", rest == i + 1 ? ".., " : "", p[i].name,
                    p[i].optional ? "?" : "");
    }
    diag_help(e->sink, "%s(%s)%s", b->name, t.at ? t.at : "",
              t.at && strchr(t.at, '?') ? ", where `?` may be left out" : "");
}
static bool place(struct elab *e, struct bcall *c, const struct param_name *p, uint32_t n, uint32_t rest,
                  const struct args *a)
{
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t k = a->name[i] ? 0 : i;
        while (a->name[i] && k < n && strcmp(p[k].name, a->name[i])) {
            k++;
        }
        if (rest && !a->name[i] && k + 1 >= rest) {
            c->rest_span[c->n_rest] = a->span[i];
            c->rest[c->n_rest++] = a->at[i];
            continue;
        }
        if (k >= n && a->name[i]) {
            const char *names[8];
            for (uint32_t m = 0; m < n; m++) {
                names[m] = p[m].name;
            }
            fail(e, DIAG_E1004, a->span[i], "`%s` has no argument `%s`", c->b->name, a->name[i]);
            help_closest(e, a->name[i], names, n);
            return false;
        }
        if (k >= n) {
            fail(e, DIAG_E1005, a->span[i], "`%s` takes %u argument%s, found %u", c->b->name, n,
                 n == 1 ? "" : "s", a->n);
            return false;
        }
        if (c->arg[k].kind != V_MISSING) {
            fail(e, DIAG_E1005, a->span[i], "argument `%s` of `%s` is given twice", p[k].name, c->b->name);
            diag_help(e->sink, "by its place and by its name, or twice by name: remove one");
            return false;
        }
        c->arg[k] = a->at[i];
        c->span[k] = a->span[i];
        c->ast[k] = a->ast[i];
    }
    for (uint32_t k = 0; k < n; k++) {
        if (c->arg[k].kind == V_MISSING && !p[k].optional) {
            fail(e, DIAG_E1005, c->at->span, "`%s` needs the argument `%s`", c->b->name, p[k].name);
            help_call(e, c->b, p, n, rest);
            return false;
        }
    }
    return true;
}
struct value call_builtin(struct elab *e, const struct builtin *b, struct args *a, struct env *env,
                          struct ast *at)
{
    struct param_name p[8];
    uint32_t rest, n = split_params(b->params, p, &rest);
    struct bcall c = {.b = b, .env = env, .at = at, .span_at = at->span};
    if (at->kind == AST_CALL) {
        c.span_at = at->a->span;
    }
    c.rest = arena_array(e->arena, struct value, a->n ? a->n : 1);
    c.rest_span = arena_array(e->arena, struct span, a->n ? a->n : 1);
    if (!place(e, &c, p, n, rest, a)) {
        return poison();
    }
    return b->run(e, &c);
}
