/* The text of a member of a data set: what reads the file, windows over it, and standardize(..). The text is
 * computed once for all stored rows, in the data phase; windows are taken of its result, when a launch reads
 * them. */
#include "compiler/elab_data.h"

uint32_t add_data_var(struct elab *e, uint32_t data, const char *key, const struct type *t, struct span at)
{
    struct var v = {.kind = VAR_DATA, .key = key, .type = *t, .data = data + 1, .span = at};
    vec_push(e->g->arena, &e->g->vars, v);
    return e->g->vars.n - 1;
}
struct type with_rows(dim rows, const struct type *t)
{
    struct type r = {.dtype = t->dtype, .rank = t->rank + 1, .dim = {rows}};
    for (int i = 0; i < t->rank; i++) {
        r.dim[i + 1] = t->dim[i];
    }
    return r;
}
val read_var(struct elab *e, uint32_t var, struct span at)
{
    build_at(e, at);
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){var},
                          .n_attr = 1,
                          .type = e->g->vars.at[var].type,
                          .span = at};
    return graph_add(e->g, &s, e->sink);
}
/* All rows of what `f` names; f.type is that of a row. */
static val read_raw(struct elab *e, struct span at, dim rows, struct data_field f)
{
    struct member *m = e->member;
    struct type t = with_rows(rows, &f.type);
    const char *key = arena_printf(e->arena, "%s.%s#raw", e->g->datas.at[m->data].name, m->ast->name);
    if (m->reads.n) {
        key = arena_printf(e->arena, "%s.%s.%u#raw", e->g->datas.at[m->data].name, m->ast->name,
                           (unsigned)m->reads.n);
    }
    f.raw = read_var(e, add_data_var(e, m->data, key, &t, at), at);
    vec_push(e->g->arena, &m->reads, f);
    return f.raw;
}
static struct value read_rows(struct elab *e, struct bcall *c, struct data_field f)
{
    return tensor_value(read_raw(e, c->span_at, e->g->datas.at[e->member->data].stored, f), 0);
}
/* `missing = v`: what stands for a missing value. */
static bool fill_arg(struct elab *e, struct bcall *c, uint32_t i, struct data_field *f)
{
    struct value v = c->arg[i];
    if (!is_given(v)) {
        return true;
    }
    if (v.kind != V_NUM || v.live) {
        return wrong_kind(e, v, c->span[i], "what stands for a missing value", "a number");
    }
    f->fills = true;
    f->fill = v.num;
    return true;
}
/* field(name, shape = that of the declared type, missing). */
static struct value run_field(struct elab *e, struct bcall *c)
{
    struct data_field f = e->member ? e->member->field : (struct data_field){0};
    if (!e->member || !want_string(e, c->arg[0], c->span[0], "the name of a field", &f.source) ||
        !fill_arg(e, c, 2, &f)) {
        return poison();
    }
    if (is_given(c->arg[1]) &&
        !want_shape(e, c->arg[1], c->span[1], "the shape of a field's row", &f.type.rank, f.type.dim)) {
        return poison();
    }
    return read_rows(e, c, f);
}
/* The ends of argument i, twice the same for a name alone. */
static bool column_names(struct elab *e, struct bcall *c, uint32_t i, const char **out)
{
    struct value v = c->rest[i];
    if (v.kind == V_LIST) {
        wrong_kind(e, v, c->rest_span[i], "the name of a column", "a string");
        diag_help(e->sink, "names stand side by side: columns(\"a\", \"b\"), columns(\"a\"..\"d\")");
        return false;
    }
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
    if (!fill_arg(e, c, 0, &f)) {
        return poison();
    }
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
static struct value run_bytes(struct elab *e, struct bcall *c)
{
    if (!e->member) {
        return poison();
    }
    struct data_field f = e->member->field;
    f.kind = SOURCE_BYTES;
    f.source = "bytes()";
    f.type = (struct type){.dtype = DT_I32};
    return read_rows(e, c, f);
}
static struct value run_timestamp(struct elab *e, struct bcall *c)
{
    struct data_field f = e->member ? e->member->field : (struct data_field){0};
    if (!e->member || !want_string(e, c->arg[0], c->span[0], "the name of a field", &f.source)) {
        return poison();
    }
    f.kind = SOURCE_TIME;
    f.type = (struct type){.dtype = DT_I32};
    return read_rows(e, c, f);
}
/* The names of classes: texts, each once. */
static bool class_names(struct elab *e, struct bcall *c, struct data_field *f)
{
    const struct value *v = &c->arg[1];
    if (v->kind != V_LIST || !v->list->n) {
        return wrong_kind(e, *v, c->span[1], "the classes", "a list of strings");
    }
    f->n_names = v->list->n;
    f->names = arena_array(e->g->arena, const char *, f->n_names);
    for (uint32_t i = 0; i < f->n_names; i++) {
        if (!want_string(e, v->list->at[i], c->span[1], "the name of a class", &f->names[i])) {
            return false;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (!strcmp(f->names[k], f->names[i])) {
                fail(e, DIAG_E1007, c->span[1], "the class \"%s\" stands in the list twice", f->names[i]);
                return false;
            }
        }
    }
    return true;
}
static struct value run_classes(struct elab *e, struct bcall *c)
{
    struct data_field f = e->member ? e->member->field : (struct data_field){0};
    if (!e->member || !want_string(e, c->arg[0], c->span[0], "the name of a field", &f.source) ||
        !class_names(e, c, &f)) {
        return poison();
    }
    f.kind = SOURCE_CLASS;
    f.type = (struct type){.dtype = DT_I32};
    return read_rows(e, c, f);
}
/* Of the rows that phases see. What lanes add to it is in data_sample. */
static struct value run_first(struct elab *e, struct bcall *c)
{
    if (!e->member) {
        return poison();
    }
    struct data_field f = e->member->field;
    f.kind = SOURCE_FIRST;
    f.source = "first_of_sequence()";
    f.type = (struct type){.dtype = DT_BOOL};
    e->member->first = true;
    return tensor_value(read_raw(e, c->span_at, e->g->datas.at[e->member->data].rows, f), 0);
}

/* -- windows */

static bool want_from(struct elab *e, struct value v, struct span at, const char *what, int64_t least,
                      dim *out)
{
    int64_t n;
    if (!want_dim(e, v, at, what, out)) {
        return false;
    }
    if (dim_is_const(&e->g->dims, *out, &n) && n < least) {
        fail(e, DIAG_E2023, at, "%s is at least %lld, found %lld", what, (long long)least, (long long)n);
        return false;
    }
    return true;
}
static bool same_window(const struct window *a, const struct window *b)
{
    return a->n == b->n && a->offset == b->offset && a->stride == b->stride;
}
/* The values over all stored rows that a window is taken of: of an array of the file by its name, too. */
static val window_of(struct elab *e, struct bcall *c)
{
    struct member *m = e->member;
    struct data_field f = m->field;
    struct type t;
    struct value v = c->arg[0];
    if (v.kind == V_STR) {
        f.source = v.str;
        v = read_rows(e, c, f);
    }
    val n = want_tensor(e, v, c->span[0], "what a window is taken of", &t);
    if (n && (!t.rank || t.dim[0] != e->g->datas.at[m->data].stored)) {
        fail(e, DIAG_E2030, c->span[0], "a window is taken of rows of the file, found %s",
             type_text(e->g, &t));
        diag_help(e->sink, "window(\"name\", 96), or window(columns(\"a\", \"b\"), 96)");
        return 0;
    }
    return n;
}
static struct value run_window(struct elab *e, struct bcall *c)
{
    struct member *m = e->member;
    struct window w = {.offset = dim_const(&e->g->dims, 0), .stride = dim_const(&e->g->dims, 1)};
    if (!m || !want_from(e, c->arg[1], c->span[1], "the rows of a window", 1, &w.n) ||
        (is_given(c->arg[2]) &&
         !want_from(e, c->arg[2], c->span[2], "the stride of windows", 1, &w.stride)) ||
        (is_given(c->arg[3]) &&
         !want_from(e, c->arg[3], c->span[3], "the offset of windows", 0, &w.offset))) {
        return poison();
    }
    if (m->window.stride && !same_window(&w, &m->window)) {
        fail(e, DIAG_E2023, c->span_at, "a member has windows of one kind; another one is taken in `%s`",
             m->ast->name);
        diag_help(e->sink, "write a member for each");
        return poison();
    }
    w.drops = m->window.drops;
    m->window = w;
    return (struct value){.kind = V_WINDOW, .node = window_of(e, c)};
}
struct value window_op(struct elab *e, enum op op, const struct value *in, uint32_t n, const struct site *s)
{
    struct value x[3];
    for (uint32_t i = 0; i < n; i++) {
        x[i] = in[i].kind == V_WINDOW ? tensor_value(in[i].node, 0) : in[i];
        if (in[i].kind != V_WINDOW && !is_scalar_static(in[i])) {
            fail(e, DIAG_E2021, s->at, "`%s` takes windows and numbers together, found %s", op_text(op),
                 value_text(e, in[i]));
            diag_help(e->sink, "compute over the rows first: window(x / y, 96)");
            return poison();
        }
    }
    struct value r = elementwise(e, op, x, n, s);
    return is_poison(r) ? r : (struct value){.kind = V_WINDOW, .node = r.node};
}
/* The call of `window` in a text, as `window(x, n)` or `x |> window(n)`. */
static struct ast *find_window(struct ast *a, bool piped, bool *is_piped)
{
    struct ast *found = NULL;
    if (!a) {
        return NULL;
    }
    if (a->kind == AST_CALL && a->a->kind == AST_ID && !strcmp(a->a->name, "window")) {
        *is_piped = piped;
        return a;
    }
    struct ast *part[] = {a->a, a->b, a->c};
    for (int i = 0; i < 3 && !found; i++) {
        found = find_window(part[i], a->kind == AST_PIPE && i == 1, is_piped);
    }
    for (uint32_t i = 0; i < a->list.n && !found; i++) {
        found = find_window(a->list.at[i], false, is_piped);
    }
    return found;
}
bool has_window(struct ast *a)
{
    bool piped;
    return find_window(a, false, &piped) != NULL;
}
/* Argument n of a window, or NULL. */
static struct ast *window_rows(struct ast *call, bool piped)
{
    uint32_t k = piped ? 0 : 1;
    for (uint32_t i = 0; i < call->list.n; i++) {
        if (call->list.at[i]->name ? !strcmp(call->list.at[i]->name, "n") : i == k) {
            return call->list.at[i]->a;
        }
    }
    return NULL;
}
/* The type of a stored row, before the text is computed: that of the member without the axis of the window.
 */
static bool row_of_window(struct elab *e, struct env *env, struct member *m)
{
    bool piped;
    struct ast *call = find_window(m->ast->a, false, &piped), *rows = call ? window_rows(call, piped) : NULL;
    struct type *t = &m->field.type;
    int64_t n = 0, first = 0;
    dim size;
    if (!rows) {
        return true; /* the call reports what is missing */
    }
    if (!want_from(e, eval(e, rows, env), rows->span, "the rows of a window", 1, &size)) {
        return false;
    }
    bool one = dim_is_const(&e->g->dims, size, &n) && n == 1;
    m->window.drops = one && (!t->rank || !dim_is_const(&e->g->dims, t->dim[0], &first) || first != 1);
    if (m->window.drops) {
        return true;
    }
    if (!t->rank || t->dim[0] != size) {
        fail(e, DIAG_E2030, m->ast->type->span,
             "a window of %s rows is declared %s: its first axis are the rows", dim_text(e, size),
             ttype_text(e, m->type));
        diag_label(e->sink, call->a->span, "taken here");
        struct type want = with_rows(size, t->rank ? &(struct type){t->dtype, t->rank - 1, {0}} : t);
        memcpy(want.dim + 1, t->dim + 1, sizeof *t->dim * (t->rank ? (size_t)t->rank - 1 : 0));
        diag_help(e->sink, "%s: %s", m->ast->name, type_text(e->g, &want));
        return false;
    }
    t->rank--;
    memmove(t->dim, t->dim + 1, sizeof *t->dim * (size_t)t->rank);
    return true;
}

/* -- standardize */

static uint32_t fitted_var(struct elab *e, const char *what, const struct type *t, struct span at)
{
    struct member *m = e->member;
    const char *number = m->fits.n > 1 ? arena_printf(e->arena, "%u", m->fits.n / 2 + 1) : "";
    struct var v = {
        .kind = VAR_STATE,
        .key = arena_printf(e->arena, "%s.%s.%s%s", e->g->datas.at[m->data].name, m->ast->name, what, number),
        .type = *t,
        .data = m->data + 1,
        .span = at};
    vec_push(e->g->arena, &e->g->vars, v);
    return e->g->vars.n - 1;
}
static void fit(struct elab *e, uint32_t var, val value, struct span at)
{
    struct commit c = {.var = var, .value = value, .span = at};
    vec_push(e->arena, &e->member->fits, c);
}
/* Mean and standard deviation of each element of a row over the rows of mask[n]; deviation 1 where it is 0.
 */
static void moments(struct elab *e, val x, val mask, val *mean, val *deviation)
{
    struct build *b = &e->b;
    struct type t = node_type(e->g, x);
    static const int rows[] = {0};
    val one = build_const(b, t.dtype, 1), zero = build_const(b, t.dtype, 0);
    val count = build_reduce(b, OP_sum, build_cast(b, mask, t.dtype), rows, 1, false);
    count = build_2(b, OP_max, count, one);
    dim shape[LIMIT_RANK] = {t.dim[0]};
    for (int i = 1; i < t.rank; i++) {
        shape[i] = dim_const(&e->g->dims, 1);
    }
    val m = build_reshape(b, mask, t.rank, shape);
    m = build_expand(b, m, t.rank, t.dim);
    val sum = build_reduce(b, OP_sum, build_3(b, OP_where, m, x, zero), rows, 1, false);
    *mean = build_2(b, OP_div, sum, count);
    val off = build_3(b, OP_where, m, build_2(b, OP_sub, x, *mean), zero);
    val square = build_2(b, OP_mul, off, off);
    val variance = build_2(b, OP_div, build_reduce(b, OP_sum, square, rows, 1, false), count);
    val s = build_1(b, OP_sqrt, variance), none = build_2(b, OP_eq, s, zero);
    *deviation = build_3(b, OP_where, none, one, s);
}
/* x - mean over deviation, fitted on the part "train" unless weights brought them: a deviation is never 0. */
static struct value run_standardize(struct elab *e, struct bcall *c)
{
    struct member *m = e->member;
    struct value v = c->arg[0];
    struct type t;
    struct build *b = &e->b;
    val x = !m ? 0 : v.kind == V_WINDOW ? v.node : want_tensor(e, v, c->span[0], "what is standardized", &t);
    if (!x) {
        return poison();
    }
    t = node_type(e->g, x);
    if (!dtype_is_float(t.dtype) || !t.rank || t.dim[0] != e->g->datas.at[m->data].stored) {
        fail(e, DIAG_E2030, c->span[0], "`standardize` takes floats over rows of the file, found %s",
             type_text(e->g, &t));
        diag_help(e->sink, "declare the member f32, or f32(x)");
        return poison();
    }
    struct data_field f = m->field;
    f.kind = SOURCE_TRAIN;
    f.source = "train";
    f.type = (struct type){.dtype = DT_BOOL};
    val mask = read_raw(e, c->span_at, t.dim[0], f), mean, deviation;
    build_at(e, c->span_at);
    moments(e, x, mask, &mean, &deviation);
    struct type row = node_type(e->g, mean);
    uint32_t var = fitted_var(e, "mean", &row, c->span_at), var2 = fitted_var(e, "std", &row, c->span_at);
    val kept_mean = read_var(e, var, c->span_at), kept = read_var(e, var2, c->span_at);
    val zero = build_const(b, t.dtype, 0), is_kept = build_2(b, OP_gt, kept, zero);
    mean = build_3(b, OP_where, is_kept, kept_mean, mean);
    deviation = build_3(b, OP_where, is_kept, kept, deviation);
    fit(e, var, mean, c->span_at);
    fit(e, var2, deviation, c->span_at);
    val off = build_2(b, OP_sub, x, mean), y = build_2(b, OP_div, off, deviation);
    return v.kind == V_WINDOW ? (struct value){.kind = V_WINDOW, .node = y} : tensor_value(y, v.unit);
}

/* -- a member */

static const struct builtin readers[] = {
    {"field", run_field, "name shape? missing?", OP_NONE},  {"columns", run_columns, "* missing?", OP_NONE},
    {"classes", run_classes, "name names", OP_NONE},        {"bytes", run_bytes, "", OP_NONE},
    {"timestamp", run_timestamp, "name", OP_NONE},          {"first_of_sequence", run_first, "", OP_NONE},
    {"window", run_window, "x n stride? offset?", OP_NONE}, {"standardize", run_standardize, "x", OP_NONE},
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
static void wrong_type(struct elab *e, const struct member *m, struct value v, const struct type *found)
{
    fail(e, DIAG_E2030, m->ast->a->span,
         "the member `%s` is declared %s for a row, its text gives %s over all rows", m->ast->name,
         ttype_text(e, m->type), type_text(e->g, found));
    diag_label(e->sink, m->ast->type->span, "declared here");
    if (found->rank == m->field.type.rank && v.kind != V_WINDOW) {
        diag_help(e->sink, "axis 0, the rows, is gone: work along the others, as in sum(x, axis = 1)");
        return;
    }
    if (found->rank == m->field.type.rank + 1 && found->dtype != m->field.type.dtype) {
        diag_help(e->sink, "%s(..) converts it, or declare it %s", dtype_name(m->field.type.dtype),
                  dtype_name(found->dtype));
        return;
    }
    diag_help(e->sink,
              v.kind == V_WINDOW
                  ? "axis 0 are the rows of the file; the window puts its own axis behind it"
                  : "axis 0 are the rows; the declared type is that of one row, also of what `field` reads, "
                    "unless it names another: field(\"name\", [2, 3])");
}
static void add_commits(struct elab *e, struct member *m, uint32_t var, val n)
{
    struct phase *p = &e->g->phases.at[e->b.phase];
    struct commit c = {.var = var, .value = n, .span = m->ast->span};
    vec_push(e->g->arena, &p->commits, c);
    for (uint32_t i = 0; i < m->fits.n; i++) {
        vec_push(e->g->arena, &p->commits, m->fits.at[i]);
    }
}
void compute_member(struct elab *e, struct module *mod, struct member *m)
{
    struct data *d = &e->g->datas.at[m->data];
    struct env *env = member_env(e, mod);
    struct type found;
    e->member = m;
    struct value v = row_of_window(e, env, m) ? eval(e, m->ast->a, env) : poison();
    e->member = NULL;
    if (is_poison(v) || (v.kind == V_WINDOW && !v.node)) {
        return;
    }
    if (!m->reads.n) {
        fail(e, DIAG_E2023, m->ast->a->span, "the member `%s` reads no field of the file", m->ast->name);
        diag_help(e->sink, "%s: %s = field(\"%s\")", m->ast->name, ttype_text(e, m->type), m->ast->name);
        return;
    }
    struct type want = with_rows(m->first ? d->rows : d->stored, &m->field.type);
    val n = v.kind == V_WINDOW ? v.node : want_tensor(e, v, m->ast->a->span, "a member", &found);
    if (n && (found = node_type(e->g, n), !type_equal(&want, &found))) {
        wrong_type(e, m, v, &found);
        n = 0;
    }
    if (n && d->stored != d->rows && v.kind != V_WINDOW && !m->first) {
        fail(e, DIAG_E2030, m->ast->a->span, "the rows of `%s` are windows, so `%s` is one too", d->name,
             m->ast->name);
        diag_help(e->sink,
                  "window(\"%s\", 1) reads the row where the others begin, `offset = k` the k-th behind it",
                  m->ast->name);
        n = 0;
    }
    if (!n) {
        return;
    }
    m->window = v.kind == V_WINDOW ? m->window : (struct window){0};
    m->var =
        add_data_var(e, m->data, arena_printf(e->arena, "%s.%s", d->name, m->ast->name), &want, m->ast->span);
    for (uint32_t i = 0; i < m->reads.n; i++) {
        m->reads.at[i].var = m->var;
    }
    add_commits(e, m, m->var, n);
}
