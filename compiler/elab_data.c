/* Data sets: declaring them, their members one by one, and the sample of a launch. */
#include "compiler/elab_data.h"

/* -- declaring */

void declare_data(struct elab *e, struct module *m, struct ast *a)
{
    struct data d = {.name = a->name, .path = a->str ? a->str : "", .span = a->span};
    d.rows = d.stored = dim_symbol(&e->g->dims, arena_printf(e->arena, "%s.rows", a->name));
    bool windows = false;
    for (uint32_t i = 0; i < a->list.n; i++) {
        windows |= a->list.at[i]->kind == AST_MEMBER && has_window(a->list.at[i]->a);
    }
    if (windows) {
        d.stored = dim_symbol(&e->g->dims, arena_printf(e->arena, "%s.stored", a->name));
    }
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
static dim dim_max(struct elab *e, dim a, dim b)
{
    struct dims *d = &e->g->dims;
    int64_t x, y;
    if (!a || a == b) {
        return b;
    }
    if (dim_is_const(d, a, &x) && dim_is_const(d, b, &y)) {
        return x > y ? a : b;
    }
    return dim_opaque(d, ATOM_MAX, a, b);
}
/* Windows of all members begin together, so they have one stride; a row of phases reaches as far as the
 * longest. */
static void add_window(struct elab *e, struct data *d, const struct member *m)
{
    const struct window *w = &m->window;
    if (d->stride && d->stride != w->stride) {
        fail(e, DIAG_E2023, m->ast->span,
             "windows of `%s` go on by %s rows here and by %s in the members before", d->name,
             dim_text(e, w->stride), dim_text(e, d->stride));
        diag_help(e->sink, "a row has a window of each member, so all have the same stride");
        return;
    }
    d->stride = w->stride;
    d->extent = dim_max(e, d->extent, dim_add(&e->g->dims, w->offset, w->n));
}
/* The table that says where the windows of each row begin. */
static void add_starts(struct elab *e, uint32_t data, struct data_field *out)
{
    struct data *d = &e->g->datas.at[data];
    const struct type one = {.dtype = DT_I32};
    struct type t = with_rows(d->rows, &one);
    *out = (struct data_field){.name = "", .kind = SOURCE_START, .source = "start", .type = one};
    uint32_t raw = add_data_var(e, data, arena_printf(e->arena, "%s.#start#raw", d->name), &t, d->span);
    out->raw = read_var(e, raw, d->span);
    out->var = add_data_var(e, data, arena_printf(e->arena, "%s.#start", d->name), &t, d->span);
    struct commit c = {.var = out->var, .value = out->raw, .span = d->span};
    vec_push(e->g->arena, &e->g->phases.at[e->b.phase].commits, c);
}
static void declare_member(struct elab *e, struct module *m, struct ast *x, struct member *mem)
{
    mem->type = eval_type(e, x->type, m->env);
    mem->field.name = x->name;
    mem->field.source = x->name;
    if (mem->type && (mem->type->kind != T_TENSOR || mem->type->t.rank >= LIMIT_RANK)) {
        fail(e, DIAG_E2030, x->type->span, "a member is one tensor of less than %d axes, found %s",
             LIMIT_RANK, ttype_text(e, mem->type));
        diag_help(e->sink, "write a member for each field");
        mem->type = NULL;
    }
    if (mem->type) {
        mem->field.type = mem->type->t;
        compute_member(e, m, mem);
    }
}
/* standardize(..) needs rows to be fitted on. */
static void check_train(struct elab *e, const struct data *d, const struct member *m)
{
    bool found = d->split == SPLIT_NONE || d->split == SPLIT_FIELD;
    for (uint32_t i = 0; i < d->n_part; i++) {
        found |= !strcmp(d->parts[i].name, "train");
    }
    if (m->fits.n && !found) {
        fail(e, DIAG_E2023, m->ast->a->span,
             "`standardize` is fitted on the part `train`, and the split of `%s` has none", d->name);
        diag_help(e->sink, "split = (train = 0.8, test = 0.2)");
    }
}
static void run_data(struct elab *e, struct module *m, struct ast *a, uint32_t index)
{
    struct data *d = &e->g->datas.at[index];
    uint16_t old = enter_phase(e, (uint16_t)d->phase);
    VEC(struct data_field) all = {0};
    VEC(struct member) members = {0};
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
        struct member mem = {.data = index, .ast = x};
        declare_member(e, m, x, &mem);
        if (mem.var && mem.window.stride) {
            add_window(e, d, &mem);
        }
        for (uint32_t k = 0; k < mem.reads.n; k++) {
            vec_push(e->g->arena, &all, mem.reads.at[k]);
        }
        if (!mem.reads.n) {
            vec_push(e->g->arena, &all, mem.field);
        }
        vec_push(e->arena, &members, mem);
        d->field = all.at;
        d->n_field = all.n;
    }
    if (d->extent) {
        struct data_field starts;
        add_starts(e, index, &starts);
        vec_push(e->g->arena, &all, starts);
        d->field = all.at;
        d->n_field = all.n;
    }
    for (uint32_t i = 0; i < members.n; i++) {
        check_train(e, d, &members.at[i]);
    }
    struct data_members of = {members.at, members.n};
    vec_push(e->arena, &e->members, of);
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

/* Rows of the split that the launch reads: i32[b]. */
static val sample_rows(struct elab *e, const struct data *d, uint32_t phase, struct span at)
{
    const struct phase *p = &e->g->phases.at[phase];
    const char *key = arena_printf(e->arena, "%s/%s.rows#0", p->name, d->name);
    int64_t attr[3] = {phase,
                       p->lanes     ? ROWS_LANES
                       : p->shuffle ? ROWS_SHUFFLED
                                    : ROWS_IN_ORDER,
                       (int64_t)fnv1a64(key, strlen(key))};
    build_at(e, at);
    struct node_spec s = {.op = OP_rows,
                          .phase = e->b.phase,
                          .attr = attr,
                          .n_attr = 3,
                          .span = at,
                          .type = {.dtype = DT_I32, .rank = 1, .dim = {p->b}}};
    return graph_add(e->g, &s, e->sink);
}
/* Stored rows of the windows that begin at start[b]: i32[b, n], or [b] where the axis is dropped. */
static val window_index(struct elab *e, const struct window *w, val start)
{
    struct build *b = &e->b;
    val first = build_2(b, OP_add, start, build_dim(b, DT_I32, w->offset));
    if (w->drops) {
        return first;
    }
    val column = build_unit(b, first, 1), places = build_iota(b, w->n);
    return build_2(b, OP_add, column, places);
}
/* Without lanes no row goes on from another launch, so each comes first. With them the first launch of an
 * epoch begins all lanes; later ones where the rows of a sequence begin. */
static val first_rows(struct elab *e, const struct member *m, uint32_t phase, val rows, struct span at)
{
    const struct phase *p = &e->g->phases.at[phase];
    struct build *b = &e->b;
    const struct type t = {.dtype = DT_BOOL, .rank = 1, .dim = {p->b}};
    if (!p->lanes) {
        return build_full(b, &t, 1);
    }
    struct node_spec s = {.op = OP_step,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){phase, 3},
                          .n_attr = 2,
                          .type = {.dtype = DT_I32},
                          .span = at};
    val cursor = graph_add(e->g, &s, e->sink), zero = build_const(b, DT_I32, 0);
    val begins = build_2(b, OP_eq, cursor, zero), all = read_var(e, m->var, at);
    val first = build_2(b, OP_gather, all, rows);
    return build_2(b, OP_lor, first, begins);
}
static val sample_member(struct elab *e, const struct member *m, uint32_t phase, val rows, val start,
                         struct span at)
{
    if (m->first) {
        return first_rows(e, m, phase, rows, at);
    }
    val index = m->window.stride ? window_index(e, &m->window, start) : rows, all = read_var(e, m->var, at);
    return build_2(&e->b, OP_gather, all, index);
}
struct value data_sample(struct elab *e, uint32_t data, uint32_t phase, struct span at)
{
    const struct data *d = &e->g->datas.at[data];
    const struct data_members *of = &e->members.at[data];
    val rows = sample_rows(e, d, phase, at), start = 0;
    if (d->extent && rows) {
        val starts = read_var(e, d->field[d->n_field - 1].var, at);
        start = build_2(&e->b, OP_gather, starts, rows);
    }
    struct value r = record_value(e, of->n);
    for (uint32_t i = 0; i < of->n; i++) {
        const struct member *m = &of->at[i];
        r.record->name[i] = m->ast->name;
        r.record->at[i] =
            m->var && rows ? tensor_value(sample_member(e, m, phase, rows, start, at), 0) : poison();
    }
    return r;
}
