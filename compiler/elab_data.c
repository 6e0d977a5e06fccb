/* Data sets: members as text over all rows at once in a phase of their own, splits, and the sample of a
 * launch. */
#include "compiler/elab.h"

/* -- the text of a member */

/* `field` is what each array that the text reads has in common; `reads` one of them each. */
struct member {
    uint32_t data;
    struct ast *ast;
    struct ttype *type;
    struct data_field field;
    VEC(struct data_field) reads;
};
static uint32_t add_data_var(struct elab *e, uint32_t data, const char *key, const struct type *t,
                             struct span at)
{
    struct var v = {.kind = VAR_DATA, .key = key, .type = *t, .data = data + 1, .span = at};
    vec_push(e->g->arena, &e->g->vars, v);
    return e->g->vars.n - 1;
}
static struct type with_rows(struct elab *e, uint32_t data, const struct type *t)
{
    struct type r = {.dtype = t->dtype, .rank = t->rank + 1, .dim = {e->g->datas.at[data].rows}};
    for (int i = 0; i < t->rank; i++) {
        r.dim[i + 1] = t->dim[i];
    }
    return r;
}
/* All rows of what `f` names in the file; f.type is that of a row. */
static struct value read_rows(struct elab *e, struct bcall *c, struct data_field f)
{
    struct member *m = e->member;
    struct type t = with_rows(e, m->data, &f.type);
    const char *key = arena_printf(e->arena, "%s.%s#raw", e->g->datas.at[m->data].name, m->ast->name);
    if (m->reads.n) {
        key = arena_printf(e->arena, "%s%u", key, (unsigned)m->reads.n);
    }
    uint32_t var = add_data_var(e, m->data, key, &t, c->span_at);
    build_at(e, c->span_at);
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){var},
                          .n_attr = 1,
                          .type = t,
                          .span = c->span_at};
    f.raw = graph_add(e->g, &s, e->sink);
    vec_push(e->g->arena, &m->reads, f);
    return tensor_value(f.raw, 0);
}
static struct value run_field(struct elab *e, struct bcall *c)
{
    struct data_field f = e->member ? e->member->field : (struct data_field){0};
    if (!e->member || !want_string(e, c->arg[0], c->span[0], "the name of a field", &f.source)) {
        return poison();
    }
    return read_rows(e, c, f);
}
/* The ends of argument i, twice the same for a name alone. */
static bool column_names(struct elab *e, struct bcall *c, uint32_t i, const char **out)
{
    struct value v = c->rest[i];
    struct value from = v.kind == V_RANGE ? v.list->at[0] : v, to = v.kind == V_RANGE ? v.list->at[1] : v;
    return want_string(e, from, c->rest_span[i], "the name of a column", &out[0]) &&
           want_string(e, to, c->rest_span[i], "the name of a column", &out[1]);
}
/* How many columns a range has is not known before the file is opened, so the declared type says it. */
static struct value run_columns(struct elab *e, struct bcall *c)
{
    struct member *m = e->member;
    bool range = false;
    if (!m) {
        return poison();
    }
    if (!c->n_rest) {
        return fail(e, DIAG_E1005, c->span_at, "`columns` needs at least one name");
    }
    struct data_field f = m->field;
    f.column = arena_array(e->g->arena, const char *, 2 * c->n_rest);
    f.n_column = 2 * c->n_rest;
    for (uint32_t i = 0; i < c->n_rest; i++) {
        if (!column_names(e, c, i, &f.column[2 * i])) {
            return poison();
        }
        range |= c->rest[i].kind == V_RANGE;
    }
    f.source = f.column[0];
    if (!range) {
        f.type = (struct type){f.type.dtype, 1, {dim_const(&e->g->dims, c->n_rest)}};
    } else if (f.type.rank != 1) {
        fail(e, DIAG_E2030, m->ast->type->span,
             "a range of columns needs a declared type of one axis, their number; `%s` is %s", m->ast->name,
             ttype_text(e, m->type));
        diag_label(e->sink, c->span_at, "read here");
        return poison();
    }
    return read_rows(e, c, f);
}
static struct value run_later(struct elab *e, struct bcall *c)
{
    return refuse(e, c->span_at, arena_printf(e->arena, "`%s` in a data set", c->b->name));
}
static const struct builtin readers[] = {
    {"field", run_field, "name", OP_NONE},
    {"columns", run_columns, "*", OP_NONE},
    {"bytes", run_later, "*", OP_NONE},
    {"timestamp", run_later, "*", OP_NONE},
    {"first_of_sequence", run_later, "*", OP_NONE},
    {"window", run_later, "x *", OP_NONE},
    {"standardize", run_later, "x *", OP_NONE},
};
static struct env *member_env(struct elab *e, struct module *m)
{
    struct env *env = env_new(e, m->env, ENV_BODY);
    env->in_fn = true;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        env_add(e, env, intern(e->names, readers[i].name), NO_SPAN, NAME_DEF,
                (struct value){.kind = V_BUILTIN, .builtin = &readers[i]});
    }
    return env;
}
static void compute_member(struct elab *e, struct module *mod, struct member *m)
{
    struct data *d = &e->g->datas.at[m->data];
    struct type want = with_rows(e, m->data, &m->type->t), found;
    e->member = m;
    struct value v = eval(e, m->ast->a, member_env(e, mod));
    e->member = NULL;
    if (is_poison(v)) {
        return;
    }
    if (!m->reads.n) {
        fail(e, DIAG_E2023, m->ast->a->span, "the member `%s` reads no field of the file", m->ast->name);
        diag_help(e->sink, "%s: %s = field(\"%s\")", m->ast->name, ttype_text(e, m->type), m->ast->name);
        return;
    }
    val n = want_tensor(e, v, m->ast->a->span, "a member", &found);
    if (n && !type_equal(&want, &found)) {
        fail(e, DIAG_E2030, m->ast->a->span,
             "the member `%s` is declared %s for a row, its text gives %s over all rows", m->ast->name,
             ttype_text(e, m->type), type_text(e->g, &found));
        diag_label(e->sink, m->ast->type->span, "declared here");
        diag_help(e->sink,
                  "axis 0 are the rows; the declared type is that of one row, also of what `field` reads");
        n = 0;
    }
    if (n) {
        const char *key = arena_printf(e->arena, "%s.%s", d->name, m->ast->name);
        uint32_t var = add_data_var(e, m->data, key, &want, m->ast->span);
        for (uint32_t i = 0; i < m->reads.n; i++) {
            m->reads.at[i].var = var;
        }
        struct commit c = {.var = var, .value = n, .span = m->ast->span};
        vec_push(e->g->arena, &e->g->phases.at[e->b.phase].commits, c);
    }
}

/* -- splits */

static const char *call_name(struct ast *a)
{
    return a->kind == AST_CALL && a->a->kind == AST_ID ? a->a->name : "";
}
static bool split_fractions(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    double total = 0;
    for (uint32_t i = 0; i < a->list.n; i++) {
        enum ast_kind kind = a->list.at[i]->a->kind;
        if (kind != AST_NUM && kind != AST_ID && kind != AST_UN) {
            refuse(e, a->list.at[i]->span, "a split whose parts are conditions");
            d->split = SPLIT_FIELD; /* so that its parts are not looked for */
            return false;
        }
        struct value v = eval(e, a->list.at[i]->a, env);
        if (v.kind != V_NUM || !v.known || v.num <= 0 || v.num > 1) {
            fail(e, DIAG_E2023, a->list.at[i]->span,
                 "a part of a split is a fraction between 0 and 1, found %s", value_text(e, v));
            d->split = SPLIT_FIELD;
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
        d->split = SPLIT_FIELD;
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
static void read_split(struct elab *e, struct ast *a, struct env *env, struct data *d)
{
    struct ast *x = a->a;
    bool by_field = !strcmp(call_name(x), "field"), by_rows = !strcmp(call_name(x), "rows");
    if (strcmp(a->name, "split")) {
        fail(e, DIAG_E1004, a->name_span.file ? a->name_span : a->span,
             "a member without a type is a directive, and `%s` is none", a->name);
        diag_help(e->sink, "declare its type, `%s: f32[..] = ..`, or write `split = ..`", a->name);
        return;
    }
    d->parts = arena_array(e->g->arena, struct split_part, x->list.n ? x->list.n : 1);
    if (by_field && x->list.n == 1 && x->list.at[0]->a->kind == AST_STR) {
        d->split = SPLIT_FIELD;
        d->split_field = x->list.at[0]->a->str;
    } else if (x->kind == AST_RECORD && split_fractions(e, x, env, d)) {
        d->split = SPLIT_FRACTION;
        d->n_part = x->list.n;
    } else if (by_rows && split_rows(e, x, env, d)) {
        d->split = SPLIT_ROWS;
        d->n_part = x->list.n;
    } else if (x->kind != AST_RECORD && !by_rows) {
        fail(e, DIAG_E2023, x->span, "a split is field(\"name\"), fractions or rows");
        diag_help(e->sink,
                  "split = (train = 0.8, test = 0.2), or rows(train = [0, 800], test = [800, 1000])");
    }
}

/* -- declaring */

void declare_data(struct elab *e, struct module *m, struct ast *a)
{
    struct data d = {.name = a->name, .path = a->str ? a->str : "", .span = a->span};
    d.rows = dim_symbol(&e->g->dims, arena_printf(e->arena, "%s.rows", a->name));
    d.phase = e->g->phases.n;
    struct phase p = {
        .name = arena_printf(e->arena, "data.%s", a->name), .kind = PHASE_DATA, .span = a->span};
    vec_push(e->g->arena, &e->g->phases, p);
    vec_push(e->g->arena, &e->g->datas, d);
    env_add(e, m->env, a->name, a->name_span.file ? a->name_span : a->span, NAME_DATA,
            (struct value){.kind = V_DATA, .index = e->g->datas.n - 1});
}
static bool has_field(const struct data *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_field; i++) {
        if (!strcmp(d->field[i].name, name)) {
            return true;
        }
    }
    return false;
}
static void run_data(struct elab *e, struct module *m, struct ast *a, uint32_t index)
{
    struct data *d = &e->g->datas.at[index];
    uint16_t old = enter_phase(e, (uint16_t)d->phase);
    VEC(struct data_field) all = {0};
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *x = a->list.at[i];
        if (x->kind != AST_MEMBER) {
            continue;
        }
        if (!x->type) {
            read_split(e, x, m->env, d);
            continue;
        }
        if (has_field(d, x->name)) {
            fail(e, DIAG_E1007, x->name_span.file ? x->name_span : x->span,
                 "the member `%s` is declared twice", x->name);
            diag_help(e->sink, "give one of them another name");
            continue;
        }
        struct member mem = {.data = index, .ast = x, .type = eval_type(e, x->type, m->env)};
        mem.field.name = x->name;
        mem.field.source = x->name;
        if (mem.type && (mem.type->kind != T_TENSOR || mem.type->t.rank >= LIMIT_RANK)) {
            fail(e, DIAG_E2030, x->type->span, "a member is one tensor of less than %d axes, found %s",
                 LIMIT_RANK, ttype_text(e, mem.type));
            diag_help(e->sink, "write a member for each field");
            mem.type = NULL;
        }
        if (mem.type) {
            mem.field.type = mem.type->t;
            compute_member(e, m, &mem);
        }
        for (uint32_t k = 0; k < mem.reads.n; k++) {
            vec_push(e->g->arena, &all, mem.reads.at[k]);
        }
        if (!mem.reads.n) {
            vec_push(e->g->arena, &all, mem.field);
        }
        d->field = all.at;
        d->n_field = all.n;
    }
    enter_phase(e, old);
}
void run_data_phases(struct elab *e)
{
    struct module *m = e->modules.at[0];
    uint32_t index = 0;
    for (uint32_t i = 0; i < m->parsed.file->list.n; i++) {
        struct ast *a = m->parsed.file->list.at[i];
        if (a->kind == AST_DATA && index < e->g->datas.n &&
            e->g->datas.at[index].span.start == a->span.start) {
            run_data(e, m, a, index++);
        }
    }
}

/* -- the sample of a launch */

/* Whether field i is a further array of the member before it. */
static bool same_member(const struct data *d, uint32_t i)
{
    return i > 0 && !strcmp(d->field[i].name, d->field[i - 1].name);
}
struct value data_sample(struct elab *e, uint32_t data, uint32_t phase, struct span at)
{
    const struct data *d = &e->g->datas.at[data];
    const struct phase *p = &e->g->phases.at[phase];
    const char *key = arena_printf(e->arena, "%s/%s.rows#0", p->name, d->name);
    int64_t attr[3] = {phase, p->shuffle, (int64_t)fnv1a64(key, strlen(key))};
    build_at(e, at);
    struct node_spec s = {.op = OP_rows,
                          .phase = e->b.phase,
                          .attr = attr,
                          .n_attr = 3,
                          .span = at,
                          .type = {.dtype = DT_I32, .rank = 1, .dim = {p->b}}};
    val rows = graph_add(e->g, &s, e->sink);
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->n_field; i++) {
        n += !same_member(d, i);
    }
    struct value r = record_value(e, n);
    n = 0;
    for (uint32_t i = 0; i < d->n_field; i++) {
        const struct data_field *f = &d->field[i];
        if (same_member(d, i)) {
            continue;
        }
        r.record->name[n] = f->name;
        r.record->at[n] = poison();
        if (f->var && rows) {
            struct node_spec read = {.op = OP_read,
                                     .phase = e->b.phase,
                                     .attr = (int64_t[]){f->var},
                                     .n_attr = 1,
                                     .type = e->g->vars.at[f->var].type,
                                     .span = at};
            r.record->at[n] =
                tensor_value(build_2(&e->b, OP_gather, graph_add(e->g, &read, e->sink), rows), 0);
        }
        n++;
    }
    return r;
}
