/* Metrics: what a phase gathers, under which names, and what others may read of it. */
#include "compiler/elab.h"

/* -- gathering */

val reported(struct elab *e, val v)
{
    enum dtype t = node_type(e->g, v).dtype;
    return t == DT_F32 || t == DT_F64 ? v : build_cast(&e->b, v, DT_F32);
}
static const struct metric *find_metric(const struct phase *p, const char *name)
{
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        if (!strcmp(p->metrics.at[i].name, name)) {
            return &p->metrics.at[i];
        }
    }
    return NULL;
}
static const struct made_metric *find_made(struct elab *e, uint32_t phase, const char *name)
{
    for (uint32_t i = 0; i < e->made_metrics.n; i++) {
        if (e->made_metrics.at[i].phase == phase && !strcmp(e->made_metrics.at[i].name, name)) {
            return &e->made_metrics.at[i];
        }
    }
    return NULL;
}
/* Its value had an error: that nobody can read it is no second one. */
void bad_metric(struct elab *e, const char *name)
{
    const char *phase = e->g->phases.at[e->b.phase].name;
    vec_push(e->arena, &e->bad_metrics, arena_printf(e->arena, "%s.%s", phase, name));
}
void add_metric(struct elab *e, const char *name, struct value v, enum metric_mode mode, struct span at,
                struct span value_at)
{
    struct phase *p = &e->g->phases.at[e->b.phase];
    const struct metric *old = find_metric(p, name);
    struct type t = {0};
    val n = 0;
    if (p->kind != PHASE_USER) {
        return;
    }
    if (old) {
        fail(e, DIAG_E1007, at, "phase %s has two metrics `%s`", p->name, name);
        diag_label(e->sink, old->span, "the first is here");
        diag_help(e->sink, "give one of them another name");
        return;
    }
    if (p->metrics.n >= 32) {
        fail(e, DIAG_E0110, at, "a phase has at most 32 metrics");
        return;
    }
    if (v.kind == V_TENSOR || is_scalar_static(v)) {
        n = want_tensor(e, v, value_at, "a metric", &t);
    } else if (!is_poison(v)) {
        fail(e, DIAG_E2070, value_at, "a metric is a number, found %s", value_text(e, v));
        diag_help(e->sink, "each number has a metric of its own");
    }
    if (n && t.rank) {
        fail(e, DIAG_E2070, value_at, "metric `%s` is %s, not one number", name, type_text(e->g, &t));
        diag_help(e->sink, "reduce it: mean(..), sum(..) or max(..)");
        n = 0;
    }
    if (!n) {
        bad_metric(e, name);
        return;
    }
    build_at(e, at);
    struct metric m = {.name = name, .mode = mode, .span = at, .value = reported(e, n)};
    vec_push(e->g->arena, &p->metrics, m);
}
/* Text of an instance reports under its path until all metrics of the phase are known; "#1" behind it the
 * second time. */
static const char *path_name(struct elab *e, const char *name, struct layer_metric *m)
{
    const struct inst *i = e->frame ? e->frame->inst : NULL;
    const struct phase *p = &e->g->phases.at[e->b.phase];
    *m = (struct layer_metric){.at = p->metrics.n};
    if (!i || i == e->root) {
        return name;
    }
    const char *top = arena_printf(e->arena, "opt.%s.", p->name), *own = strrchr(i->path, '.');
    size_t n = strlen(top);
    own = own ? own + 1 : i->path;
    if (!strncmp(i->path, top, n)) {
        const char *rest = i->path + n;
        own = intern_n(e->names, rest, strcspn(rest, "."));
    }
    m->plain = name;
    m->own = join_path(e, own, name);
    const char *path = join_path(e, i->path, name), *full = path;
    for (int k = 1; find_metric(p, full); k++) {
        full = arena_printf(e->arena, "%s#%d", path, k);
    }
    return full;
}
static bool is_alone(struct elab *e, const struct phase *p, const struct layer_metric *m)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < e->layer_metrics.n; i++) {
        same += !strcmp(e->layer_metrics.at[i].plain, m->plain);
    }
    return same == 1 && !find_metric(p, m->plain) && !find_made(e, e->b.phase, m->plain);
}
static bool is_own(struct elab *e, const struct phase *p, const struct layer_metric *m)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < e->layer_metrics.n; i++) {
        same += !strcmp(e->layer_metrics.at[i].own, m->own);
    }
    return same == 1 && !find_metric(p, m->own);
}
/* Several optimizers of one phase report `grad_norm`: then each has the name of its minimize in front, text
 * of another instance the last name of its path; where that says nothing, all of the path. */
void name_metrics(struct elab *e)
{
    struct phase *p = &e->g->phases.at[e->b.phase];
    uint32_t n = e->layer_metrics.n;
    const char **name = arena_array(e->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct layer_metric *m = &e->layer_metrics.at[i];
        name[i] = is_alone(e, p, m) ? m->plain : is_own(e, p, m) ? m->own : p->metrics.at[m->at].name;
    }
    for (uint32_t i = 0; i < n; i++) {
        p->metrics.at[e->layer_metrics.at[i].at].name = name[i];
    }
    e->layer_metrics.n = 0;
}
/* Only the aggregates are at hand, where the expression is computed: on the host, from slots. */
static void check_made(struct elab *e, uint32_t phase, struct span at)
{
    for (uint32_t i = 1; i < e->g->nodes.n; i++) {
        const struct node *n = graph_node(e->g, i);
        bool stored = n->op == OP_read || n->op == OP_tree;
        if (n->phase == phase && (stored || (op_table[n->op].flags & OPF_FAULT))) {
            fail(e, DIAG_E2072, n->span.file ? n->span : at,
                 "a metric of metrics is made of metrics, counters, numbers and configs%s%s",
                 n->op == OP_read ? ", not of " : "",
                 n->op == OP_read ? e->g->vars.at[node_attrs(e->g, n)[0]].key : "");
            diag_help(e->sink, "give that a metric of its own, `using last`");
            return;
        }
    }
}
/* `metric ppl = exp(eval.nll)` in eval: from the aggregates, so an expression of its own, as those of `run`.
 */
static void make_metric(struct elab *e, struct ast *a, struct env *env)
{
    struct span at = a->name_span.file ? a->name_span : a->span;
    uint32_t of = e->b.phase, made = 0;
    struct phase *p = &e->g->phases.at[of];
    for (uint32_t i = 0; i < e->made_metrics.n; i++) {
        made += e->made_metrics.at[i].phase == of;
        if (e->made_metrics.at[i].phase == of && !strcmp(e->made_metrics.at[i].name, a->name)) {
            fail(e, DIAG_E1007, at, "phase %s has two metrics `%s`", p->name, a->name);
            return;
        }
    }
    if (a->str) {
        fail(e, DIAG_E2072, a->span, "`using %s`: a metric of metrics is computed once, from what they are",
             a->str);
        diag_help(e->sink, "leave `using %s` out", a->str);
        return;
    }
    if (find_metric(p, a->name) || p->metrics.n + made >= 32) {
        fail(e, p->metrics.n + made >= 32 ? DIAG_E0110 : DIAG_E1007, at,
             p->metrics.n + made >= 32 ? "phase %s has more than 32 metrics"
                                       : "phase %s has this metric already",
             p->name);
        return;
    }
    struct made_metric m = {of, a->name, a->a, env, true};
    struct metric_facts f = {p->name, a->name, 0};
    uint32_t place = e->made_metrics.n;
    vec_push(e->arena, &e->made_metrics, m);
    vec_push(e->arena, &e->found.made, f);
    uint32_t index = expression_phase(e, a->a, env, arena_printf(e->arena, "%s.%s", p->name, a->name), false);
    e->made_metrics.at[place].busy = false;
    e->g->phases.at[index].metric_of = index ? of : 0;
    if (index) {
        check_made(e, index, a->a->span);
    }
}
void do_metric(struct elab *e, struct ast *a, struct env *env)
{
    static const char *const modes[] = {"mean", "sum", "last", "min", "max"};
    enum metric_mode mode = METRIC_MEAN;
    if (!outside_scan(e, a, "yield its value, and put the metric behind the scan, as in `mean(r.y)`")) {
        return;
    }
    bool outer = e->in_metric;
    e->own_metric = false;
    e->in_metric = true;
    uint32_t errors = e->sink->n_errors;
    struct value v = eval(e, a->a, env);
    e->in_metric = outer;
    if (e->own_metric && e->sink->n_errors == errors) {
        make_metric(e, a, env);
        return;
    }
    if (a->str) {
        int k = 0;
        while (k < 5 && strcmp(modes[k], a->str)) {
            k++;
        }
        if (k == 5) {
            fail(e, DIAG_E1004, a->span, "a metric is gathered using mean, sum, last, min or max, not `%s`",
                 a->str);
            help_closest(e, a->str, modes, 5);
            v = poison();
        }
        mode = (enum metric_mode)(k % 5);
    }
    struct layer_metric m;
    const char *name = path_name(e, a->name, &m);
    add_metric(e, name, v, mode, a->name_span.file ? a->name_span : a->span, a->a->span);
    if (m.plain && e->g->phases.at[e->b.phase].metrics.n > m.at) {
        vec_push(e->arena, &e->layer_metrics, m);
    } else if (m.plain) {
        bad_metric(e, m.plain);
        bad_metric(e, m.own);
    }
}

/* -- reading a phase */

static bool is_bad_metric(struct elab *e, uint32_t phase, const char *name)
{
    const char *key = arena_printf(e->arena, "%s.%s", e->g->phases.at[phase].name, name);
    for (uint32_t i = 0; i < e->bad_metrics.n; i++) {
        if (!strcmp(e->bad_metrics.at[i], key)) {
            return true;
        }
    }
    return false;
}
static int metric_index(struct elab *e, uint32_t phase, const char *name)
{
    for (uint32_t i = 0; i < e->facts.metrics.n; i++) {
        if (!strcmp(e->facts.metrics.at[i].phase, e->g->phases.at[phase].name) &&
            !strcmp(e->facts.metrics.at[i].name, name)) {
            return (int)e->facts.metrics.at[i].index;
        }
    }
    return -1;
}
static bool made_later(struct elab *e, uint32_t phase, const char *name)
{
    for (uint32_t i = 0; i < e->facts.made.n; i++) {
        if (!strcmp(e->facts.made.at[i].phase, e->g->phases.at[phase].name) &&
            !strcmp(e->facts.made.at[i].name, name)) {
            return true;
        }
    }
    return false;
}
/* Known when the pass is over, so only a metric may read it there. */
static struct value own_metric(struct elab *e, uint32_t phase, const char *name, struct span at)
{
    if (!e->in_metric) {
        fail(e, DIAG_E2072, at, "phase %s reads `%s`, a metric of its own, before it is known",
             e->g->phases.at[phase].name, name);
        diag_help(e->sink, "`metric NAME = ..` may; another phase, and `run`, read it when the pass is over");
        return poison();
    }
    e->own_metric = true;
    return poison();
}
struct value phase_member(struct elab *e, uint32_t phase, const char *name, struct span at)
{
    static const char *const counters[] = {"step", "steps", "epoch"};
    build_at(e, at);
    for (int64_t k = 0; k < 3; k++) {
        if (!strcmp(name, counters[k])) {
            if (k == 1) {
                struct live *l = arena_new_of(e->arena, struct live);
                l->kind = LIVE_STEPS;
                l->index = phase;
                return (struct value){.kind = V_NUM, .is_int = true, .live = l};
            }
            struct node_spec s = {.op = OP_step,
                                  .phase = e->b.phase,
                                  .attr = (int64_t[]){phase, k},
                                  .n_attr = 2,
                                  .type = {.dtype = DT_I32},
                                  .span = at,
                                  .scope = e->b.scope};
            return tensor_value(graph_add(e->g, &s, e->sink), 0);
        }
    }
    if (phase == e->b.phase) {
        return own_metric(e, phase, name, at);
    }
    const struct made_metric *made = find_made(e, phase, name);
    if (made) {
        return made->busy ? fail(e, DIAG_E1001, at, "the metric `%s` depends on itself", name)
                          : eval(e, made->text, made->env);
    }
    if (made_later(e, phase, name)) {
        return wait_for_later(e) ? poison()
                                 : fail(e, DIAG_E1001, at, "the metric `%s` is made further down", name);
    }
    struct metric_use use = {phase, name, at};
    vec_push(e->arena, &e->metric_uses, use);
    int index = metric_index(e, phase, name);
    if (index < 0) {
        return tensor_value(build_const(&e->b, DT_F32, 0),
                            0); /* the next attempt knows, or check_metric_uses reports */
    }
    struct node_spec s = {.op = OP_metric,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){phase, index},
                          .n_attr = 2,
                          .type = {.dtype = DT_F32},
                          .span = at,
                          .scope = e->b.scope};
    return tensor_value(graph_add(e->g, &s, e->sink), 0);
}
void check_metric_uses(struct elab *e)
{
    for (uint32_t i = 0; i < e->metric_uses.n; i++) {
        const struct metric_use *u = &e->metric_uses.at[i];
        struct phase *p = &e->g->phases.at[u->phase];
        if (find_metric(p, u->name) || find_made(e, u->phase, u->name) ||
            is_bad_metric(e, u->phase, u->name)) {
            continue;
        }
        const char **names = arena_array(e->arena, const char *, p->metrics.n + e->made_metrics.n + 3);
        uint32_t n = 0;
        for (; n < p->metrics.n; n++) {
            names[n] = p->metrics.at[n].name;
        }
        for (uint32_t k = 0; k < e->made_metrics.n; k++) {
            if (e->made_metrics.at[k].phase == u->phase) {
                names[n++] = e->made_metrics.at[k].name;
            }
        }
        names[n++] = "step";
        names[n++] = "epoch";
        fail(e, DIAG_E1002, u->at, "phase %s has no metric `%s`", p->name, u->name);
        help_names(e, u->name, names, n);
    }
}
