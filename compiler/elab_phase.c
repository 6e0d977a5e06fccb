/* Phases: data binding, minimize, outputs, asserts. Their metrics are in elab_metric.c. */
#include "compiler/elab.h"

uint16_t enter_phase(struct elab *e, uint16_t phase)
{
    uint16_t old = e->b.phase;
    e->b.phase = phase;
    return old;
}
/* "phase/instance path#k": k counts the draws under that path in source order; initial values use the key of
 * the parameter, and of a frozen copy that of its source. */
const char *draw_path(struct elab *e)
{
    bool init = e->b.phase == 0 && e->let_path;
    return init ? e->let_path : e->frame && e->frame->inst ? e->frame->inst->path : "";
}
static uint64_t next_draw_id(struct elab *e, const char *path, bool init)
{
    const char *place = arena_printf(e->arena, "%s/%s", e->g->phases.at[e->b.phase].name, path);
    int64_t i = names_find(&e->draw_places, place);
    if (i < 0) {
        i = e->draws.n;
        vec_push(e->arena, &e->draws, 0u);
        names_push(e, &e->draw_places, place);
    }
    const char *key = arena_printf(e->arena, "%s/%s#%u", e->g->phases.at[e->b.phase].name,
                                   init ? source_path(e, path) : path, e->draws.at[i]);
    e->draws.at[i] += init || !for_effect_only(e);
    return fnv1a64(key, strlen(key));
}
uint64_t draw_id(struct elab *e, const char *path)
{
    bool init = e->b.phase == 0 && e->let_path;
    struct drawn *d = init ? NULL : e->drawn;
    if (d && e->redrawn < d->id.n) {
        return d->id.at[e->redrawn++];
    }
    uint64_t id = next_draw_id(e, path, init);
    if (d && !for_effect_only(e)) {
        vec_push(e->arena, &d->id, id);
        e->redrawn++;
    }
    return id;
}

static bool named(const char *const *at, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!strcmp(at[i], name)) {
            return true;
        }
    }
    return false;
}
static bool is_late(struct elab *e, const char *phase)
{
    return named(e->facts.late.at, e->facts.late.n, phase);
}
bool wait_for_later(struct elab *e)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    if (p->kind != PHASE_USER || is_late(e, p->name)) {
        return false;
    }
    if (!named(e->found.late.at, e->found.late.n, p->name)) {
        vec_push(e->arena, &e->found.late, p->name);
    }
    return true;
}

/* -- declaring */

static bool has_minimize(const struct ast *a)
{
    if (!a) {
        return false;
    }
    if (a->kind == AST_MINIMIZE) {
        return true;
    }
    bool found = false;
    for (uint32_t i = 0; a->kind == AST_BLOCK && i < a->list.n; i++) {
        found |= has_minimize(a->list.at[i]);
    }
    return found || ((a->kind == AST_IF || a->kind == AST_FOR) && (has_minimize(a->b) || has_minimize(a->c)));
}
void declare_phases(struct elab *e)
{
    struct module *m = e->modules.at[0];
    for (uint32_t i = 0; i < m->parsed.file->list.n; i++) {
        struct ast *a = m->parsed.file->list.at[i];
        if (a->kind != AST_PHASE) {
            continue;
        }
        struct span at = a->name_span.file ? a->name_span : a->span;
        struct slot *s = env_own(m->env, a->name);
        if (s || e->g->phases.n >= LIMIT_PHASES || !strcmp(a->name, "init")) {
            if (s) {
                fail(e, DIAG_E1007, at, "`%s` is declared twice", a->name);
                diag_help(e->sink, "give one of them another name");
                diag_label(e->sink, s->span, "first here");
            } else {
                fail(e, e->g->phases.n >= LIMIT_PHASES ? DIAG_E0110 : DIAG_E1007, at,
                     "a model has at most %d phases, and `init` is the name of the first", LIMIT_PHASES);
            }
            a->kind = AST_NONE;
            continue;
        }
        struct phase p = {.name = a->name, .kind = PHASE_USER, .training = has_minimize(a->b), .span = at};
        env_add(e, m->env, a->name, at, NAME_PHASE, (struct value){.kind = V_PHASE, .index = e->g->phases.n});
        vec_push(e->g->arena, &e->g->phases, p);
    }
}

/* -- data binding */

static bool split_exists(struct elab *e, const struct data *d, const char *split, struct span at)
{
    const char **names = arena_array(e->arena, const char *, d->n_part + 1);
    for (uint32_t i = 0; i < d->n_part; i++) {
        names[i] = d->parts[i].name;
        if (!strcmp(names[i], split)) {
            return true;
        }
    }
    if (d->split == SPLIT_FIELD) {
        return true; /* the file names its parts */
    }
    fail(e, DIAG_E1002, at,
         d->split == SPLIT_NONE ? "`%s` declares no split, so it has no part \"%s\""
                                : "`%s` has no split \"%s\"",
         d->name, split);
    help_names(e, split, names, d->n_part);
    if (d->split == SPLIT_NONE) {
        diag_help(e->sink, "declare it, as in `split = (train = 0.8, test = 0.2)`, or leave `split` out");
    }
    return false;
}
static bool bind_option(struct elab *e, struct ast *a, struct env *env, uint32_t phase, uint32_t data)
{
    static const char *const known[] = {"split", "batch", "shuffle", "lanes"};
    struct phase *p = &e->g->phases.at[phase];
    const char *name = a->name ? a->name : "", *what = arena_printf(e->arena, "`%s`", name);
    struct value v = eval(e, a->a, env);
    if (is_poison(v)) {
        return false;
    }
    if (!strcmp(name, "split")) {
        return want_string(e, v, a->a->span, what, &p->split) &&
               split_exists(e, &e->g->datas.at[data], p->split, a->a->span);
    }
    if (!strcmp(name, "batch")) {
        int64_t n;
        if (!want_dim(e, v, a->a->span, what, &p->batch)) {
            return false;
        }
        if (dim_is_const(&e->g->dims, p->batch, &n) && n < 1) {
            fail(e, DIAG_E2023, a->a->span, "a batch has at least one row, found %lld", (long long)n);
            diag_help(e->sink, "batch = 1 takes the rows one by one");
            return false;
        }
        return true;
    }
    if (!strcmp(name, "shuffle")) {
        return want_bool(e, v, a->a->span, what, &p->shuffle);
    }
    if (!strcmp(name, "lanes")) {
        return want_bool(e, v, a->a->span, what, &p->lanes);
    }
    fail(e, DIAG_E1004, a->span, "a data binding has no argument `%s`", name);
    help_closest(e, name, known, 4);
    return false;
}
static void bind_data(struct elab *e, struct ast *a, struct env *env, uint32_t phase)
{
    struct ast *on = a->a;
    bool make = on->kind == AST_MAKE;
    e->want = WANT_DATA;
    struct value d = eval(e, make ? on->a : on, e->modules.at[0]->env);
    struct value sample = poison();
    if (d.kind != V_DATA && d.kind != V_POISON) {
        fail(e, DIAG_E2023, on->span, "`on` names a data set, found %s", value_text(e, d));
    }
    if (d.kind == V_DATA) {
        struct phase *p = &e->g->phases.at[phase];
        bool ok = true;
        p->data = d.index + 1;
        p->b = dim_symbol(&e->g->dims, arena_printf(e->arena, "%s.b", p->name));
        for (uint32_t i = 0; make && i < on->list.n; i++) {
            ok &= bind_option(e, on->list.at[i], e->modules.at[0]->env, phase, d.index);
        }
        if (ok && !p->batch) {
            fail(e, DIAG_E1005, on->span, "a data binding needs `batch`");
            diag_help(e->sink, "on %s{batch = 128}", e->g->datas.at[d.index].name);
        }
        if (p->lanes && p->shuffle) {
            fail(e, DIAG_E2023, on->span,
                 "lanes go through the rows in their order, so they are not shuffled");
            diag_help(e->sink, "leave one of `lanes` and `shuffle` out");
        }
        int64_t one = 0;
        bool single =
            p->batch && dim_is_const(&e->g->dims, p->batch, &one) && one == 1; /* no launch has fewer */
        if ((p->training || p->lanes || single) && p->batch) {
            p->b = p->batch; /* every launch of training has all the rows, and of lanes, so they are one
                                dimension */
        }
        /* Also after a wrong option: the sample does not depend on it, and the body is worth checking. */
        sample = data_sample(e, d.index, phase, on->span);
    }
    env_add(e, env, a->str, on->span, NAME_ARG, sample);
}
static void warn_without_effect(struct elab *e, struct ast *a, const struct phase *p)
{
    bool waits = named(e->found.late.at, e->found.late.n, p->name) && !is_late(e, p->name);
    if (!waits && !e->sink->n_errors && !p->commits.n && !p->metrics.n && !p->outputs.n && !p->asserts.n &&
        !p->minimizes.n) {
        fail(e, DIAG_W1002, a->name_span.file ? a->name_span : a->span, "phase %s has no effect", p->name);
        diag_help(
            e->sink,
            "`minimize loss = .. over net using opt.adamw{..}` trains, `metric` and `output` show values");
    }
}
static void run_phase(struct elab *e, struct ast *a, uint32_t index)
{
    struct frame f;
    struct env *env = env_new(e, e->modules.at[0]->env, ENV_BODY);
    env->inst = e->root;
    env->prefix = a->name;
    enter_phase(e, (uint16_t)index);
    e->training = e->g->phases.at[index].training;
    if (!frame_push(e, &f, e->root, NULL, a->span)) {
        return;
    }
    if (a->a) {
        bind_data(e, a, env, index);
    }
    e->overs.n = 0;
    exec_block(e, a->b, env);
    name_metrics(e);
    tick_commit(e);
    e->ground = (struct tick){0};
    check_commits(e);
    frame_pop(e);
    e->training = false;
    enter_phase(e, 0);
    const struct phase *p = &e->g->phases.at[index];
    warn_without_effect(e, a, p);
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        struct metric_facts m = {p->name, p->metrics.at[i].name, i};
        vec_push(e->arena, &e->found.metrics, m);
    }
}
void run_phases(struct elab *e)
{
    struct module *m = e->modules.at[0];
    const struct ast_list *items = &m->parsed.file->list;
    for (uint32_t i = 0; i < 2 * items->n; i++) {
        struct ast *a = items->at[i % items->n];
        int index = a->kind == AST_PHASE ? graph_find_phase(e->g, a->name) : -1;
        if (index > 0 && is_late(e, a->name) == (i >= items->n)) {
            run_phase(e, a, (uint32_t)index);
        }
    }
}

/* -- statements */

static bool in_phase(struct elab *e, struct ast *a, struct env *env)
{
    if (e->g->phases.at[e->b.phase].kind == PHASE_USER && env->inst == e->root && !env->in_fn) {
        return true;
    }
    fail(e, DIAG_E1006, a->span, "`%s` stands in the body of a phase", ast_kind_name(a->kind));
    return false;
}
static void add_output(struct elab *e, const char *name, struct value v, struct span at)
{
    if (v.kind == V_RECORD) {
        for (uint32_t i = 0; i < v.record->n; i++) {
            add_output(e, arena_printf(e->arena, "%s.%s", name, v.record->name[i]), v.record->at[i], at);
        }
        return;
    }
    struct phase *p = &e->g->phases.at[e->b.phase];
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        if (!strcmp(p->outputs.at[i].name, name)) {
            fail(e, DIAG_E1007, at, "phase %s has two outputs `%s`", p->name, name);
            diag_help(e->sink, "give one of them another name");
            return;
        }
    }
    struct output o = {.name = name, .value = want_tensor(e, v, at, "an output", NULL), .span = at};
    if (o.value) {
        vec_push(e->g->arena, &p->outputs, o);
    }
}
void do_output(struct elab *e, struct ast *a, struct env *env)
{
    if (!outside_scan(e, a, "yield its value, and put the output behind the scan, as in `output y = r.y`") ||
        !in_phase(e, a, env)) {
        return;
    }
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *b = a->list.at[i];
        add_output(e, b->name, eval(e, b->a, env), b->span);
    }
}
void do_assert(struct elab *e, struct ast *a, struct env *env)
{
    struct value v = eval(e, a->a, env);
    struct phase *p = &e->g->phases.at[e->b.phase];
    if (v.kind == V_BOOL && v.known && !v.live) {
        if (!v.b) {
            fail(e, DIAG_E2041, a->span, "this does not hold: %s", source_slice(e, a->a->span));
        }
        return;
    }
    struct type t;
    val n = want_tensor(e, v, a->a->span, "an assertion", &t);
    if (n && t.dtype != DT_BOOL) {
        fail(e, DIAG_E2023, a->a->span, "an assertion is a bool, found %s", value_text(e, v));
        n = 0;
    }
    if (n && p->kind == PHASE_USER) {
        build_at(e, a->span);
        n = t.rank ? build_reduce(&e->b, OP_all, n, NULL, -1, false) : n;
        tick_assert(e, n, source_slice(e, a->a->span), a->span);
    }
}

/* -- minimize */

static bool read_over(struct elab *e, struct ast *a, struct env *env, struct over *o)
{
    bool ok = true;
    for (uint32_t i = 0; i < a->list.n; i++) {
        struct ast *at = a->list.at[i];
        struct value v = eval(e, at, env);
        uint32_t before = o->path.n;
        if (is_poison(v)) {
            ok = false;
        } else if (!over_paths(e, v, o)) {
            ok = false;
            if (!(v.kind == V_LAYER && v.layer->told)) {
                fail(e, DIAG_E2023, at->span, "`over` names instances and parameters, found %s",
                     value_text(e, v));
                if (v.kind == V_LAYER) {
                    diag_help(e->sink, "name the instance that `let name = %s{..}` made", v.layer->name);
                }
            }
        } else if (o->frozen) {
            fail(e, DIAG_E3021, at->span, "%s is frozen: no minimize moves it", o->frozen->path);
            diag_label(e->sink, o->frozen->made, "frozen here");
            diag_help(e->sink, "name %s instead", o->frozen->source ? o->frozen->source->path : "its source");
            return false;
        }
        for (uint32_t k = before; ok && k < o->path.n; k++) {
            for (uint32_t j = 0; ok && j < k; j++) {
                if (path_below(o->path.at[k], o->path.at[j]) || path_below(o->path.at[j], o->path.at[k])) {
                    fail(e, DIAG_E3020, at->span, "`over` names %s twice", o->path.at[k]);
                    ok = false;
                }
            }
        }
    }
    return ok;
}
static val read_when(struct elab *e, struct ast *a, struct env *env, bool *ok)
{
    struct type t;
    if (!a) {
        return 0;
    }
    val n = want_tensor(e, eval(e, a, env), a->span, "the condition of `when`", &t);
    if (n && (t.dtype != DT_BOOL || t.rank)) {
        fail(e, DIAG_E2023, a->span, "the condition of `when` is one bool, found %s", type_text(e->g, &t));
        diag_help(e->sink, t.rank ? "all(..) and any(..) make one of many" : "compare it with a number");
        n = 0;
    }
    *ok &= n != 0;
    return n;
}
static bool paths_meet(const char *const *a, const char *const *b)
{
    for (; *a; a++) {
        for (const char *const *k = b; *k; k++) {
            if (path_below(*a, *k) || path_below(*k, *a)) {
                return true;
            }
        }
    }
    return false;
}
static bool tree_is_free(struct elab *e, const struct over *o, struct ast *a)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    const char **own = arena_array(e->arena, const char *, o->path.n + 1);
    memcpy(own, o->path.at, o->path.n * sizeof *own);
    for (uint32_t i = 0; i < p->minimizes.n && i < e->overs.n; i++) {
        if (paths_meet(e->overs.at[i], own)) {
            fail(e, DIAG_E3020, a->span, "`%s` and `%s` move the same parameters in one phase",
                 p->minimizes.at[i].name, a->name);
            diag_label(e->sink, p->minimizes.at[i].span, "the other is here");
            return false;
        }
    }
    vec_push(e->arena, &e->overs, own);
    return true;
}
/* The leaves that a minimize moves: all of a tree, or some of one, or of one for each element type. */
struct moved {
    bool whole; /* part[0] is a tree */
    struct tree_part *part;
    uint32_t n;
    const struct over *over;
};
/* The optimizer as a layer on (p, g): its instance lives at opt.<phase>.<name>. */
static struct value run_optimizer(struct elab *e, struct ast *a, struct env *env, const struct moved *m)
{
    struct env *own = env_new(e, env, ENV_BLOCK);
    own->prefix = arena_printf(e->arena, "opt.%s", e->g->phases.at[e->b.phase].name);
    struct value opt = eval_named(e, a->b, own, a->name);
    struct value in[2] = {{0}};
    struct span span[2] = {a->b->span, a->b->span};
    const char *name[2] = {0};
    struct ast *ast[2] = {0};
    struct args args = {2, in, name, span, ast};
    if (opt.kind != V_INST && opt.kind != V_FN && opt.kind != V_POISON) {
        fail(e, DIAG_E2023, a->b->span, "`using` takes an optimizer, found %s", value_text(e, opt));
        if (opt.kind == V_LAYER) {
            diag_help(e->sink, "make an instance: %s{..}", source_slice(e, a->b->span));
        }
        return poison();
    }
    build_at(e, a->span);
    if (m->whole) {
        in[0] = tree_value(e, m->part->tree, a->span);
        in[1] = (struct value){.kind = V_TREE, .node = m->part->grad, .tree = m->part->tree, .pad = PAD_ZERO};
    } else {
        in[0] = storage_value(e, tree_part_record(e, m->part, m->n, false, m->over), a->span);
        in[1] = tree_part_record(e, m->part, m->n, true, m->over);
    }
    struct value r = call_value(e, opt, &args, own, a->b);
    if (!is_poison(r) && (m->whole ? r.kind != V_TREE : !is_branch(r))) {
        fail(e, DIAG_E2030, a->b->span, "an optimizer returns the new parameters, found %s",
             value_text(e, r));
        diag_help(e->sink, "return a tree like its first argument, as in `return p - lr * g`");
        return poison();
    }
    return r;
}
static val grad_node(struct elab *e, val loss, const struct tree_part *part, bool whole, struct span at)
{
    int64_t *attr = arena_array(e->arena, int64_t, part->n + 1);
    struct node_spec s = {.op = OP_grad,
                          .phase = e->b.phase,
                          .in = &loss,
                          .n_in = 1,
                          .attr = attr,
                          .n_attr = 1 + (whole ? 0 : part->n),
                          .span = at,
                          .type = tree_type(e, part->tree)};
    attr[0] = part->tree;
    for (uint32_t i = 0; i < part->n; i++) {
        attr[1 + i] = part->leaf[i];
    }
    return graph_add(e->g, &s, e->sink);
}
static bool read_moved(struct elab *e, struct ast *a, const struct over *over, struct moved *m)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    int tree = tree_for(e, arena_printf(e->arena, "%s.%s", p->name, a->name), over, &m->whole);
    if (!tree_is_free(e, over, a)) {
        return false;
    }
    bool known = (uint32_t)tree < e->facts.trees.n;
    m->over = over;
    if (m->whole) {
        m->part = arena_new_of(e->arena, struct tree_part);
        m->part->tree = (uint32_t)tree;
        m->n = 1;
    } else if (!tree_parts(e, (uint32_t)tree, over, &m->part, &m->n) && known && m->n) {
        wait_for_later(e);
        return false;
    }
    if (known && !(m->whole ? e->facts.trees.at[tree].leaf.n : m->n)) {
        fail(e, DIAG_E2023, a->list.at[0]->span, "`over` names nothing that has parameters");
        diag_help(e->sink, "the parameters of a layer exist from its first application on");
        return false;
    }
    return known || m->whole;
}
/* A gradient for each tree: their minimizes are one in the text. */
static void add_minimizes(struct elab *e, struct ast *a, val loss, val when, const struct moved *moved)
{
    for (uint32_t i = 0; i < moved->n; i++) {
        struct tree_part *part = &moved->part[i];
        part->grad = grad_node(e, loss, part, moved->whole, a->span);
        struct minimize m = {.name = a->name,
                             .loss = loss,
                             .grad = part->grad,
                             .when = when,
                             .tree = part->tree,
                             .partial = !moved->whole,
                             .span = a->span};
        vec_push(e->g->arena, &e->g->phases.at[e->b.phase].minimizes, m);
        if (i) { /* by minimize; the first is there */
            vec_push(e->arena, &e->overs, e->overs.at[e->overs.n - 1]);
        }
    }
}
/* `next` writes the same tree, in the text of the optimizer or above. */
static bool written_already(struct elab *e, uint32_t tree, struct ast *a)
{
    const struct phase *p = &e->g->phases.at[e->b.phase];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (p->commits.at[i].tree == tree + 1) {
            fail(e, DIAG_E3020, p->commits.at[i].span,
                 "`next` writes all the parameters that `minimize %s` moves", a->name);
            diag_label(e->sink, a->span, "moved here");
            diag_help(e->sink, "an average of them is a copy: `let ema = frozen(net)`");
            return true;
        }
    }
    return false;
}
void do_minimize(struct elab *e, struct ast *a, struct env *env)
{
    struct over over = {0};
    struct type t;
    struct span at = a->name_span.file ? a->name_span : a->span;
    if (!outside_scan(e, a, "yield the loss, and minimize its mean behind the scan") ||
        !in_phase(e, a, env)) {
        return;
    }
    struct value loss = eval(e, a->a, env);
    val ln = want_tensor(e, loss, a->a->span, "a loss", &t);
    bool ok = read_over(e, a, env, &over) && ln;
    if (ln && (t.rank || !dtype_is_float(t.dtype))) {
        fail(e, DIAG_E2071, a->a->span, "the loss `%s` is %s, not one floating point number", a->name,
             type_text(e->g, &t));
        diag_help(e->sink, t.rank ? "reduce it: mean(..) or sum(..)" : "f32(x) makes a float");
        ok = false;
    }
    val when = read_when(e, a->c, env, &ok);
    if (!ok) {
        bad_metric(e, a->name);
        return;
    }
    add_metric(e, a->name, loss, METRIC_MEAN, at, a->a->span);
    struct moved moved = {0};
    if (!read_moved(e, a, &over, &moved)) {
        return;
    }
    build_at(e, a->span);
    add_minimizes(e, a, ln, when, &moved);
    e->guard = when;
    struct value r = run_optimizer(e, a, env, &moved);
    build_at(e, a->span);
    if (r.kind == V_TREE) {
        r = tree_masked(e, r, 0);
        if (written_already(e, moved.part->tree, a)) {
            return;
        }
        struct commit c = {.tree = moved.part->tree + 1, .value = r.node, .guard = when, .span = a->span};
        vec_push(e->g->arena, &e->g->phases.at[e->b.phase].commits, c);
    } else if (!is_poison(r)) {
        commit_value(e, tree_part_record(e, moved.part, moved.n, false, &over), r, a->name, a);
    }
    e->guard = 0;
}
