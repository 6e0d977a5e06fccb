/* Flat blocks, and what a phase leaves behind: losses and their gradients, commits, metrics, outputs,
 * asserts. */
#include <math.h>
#include "compiler/passes.h"
#include "tools/random/internal.h"

/* -- flat blocks: their padding must stay zero */

static val tree_attr(struct gen *g, enum op op, const val *in, uint32_t n_in, uint32_t tree)
{
    struct node_spec s = {
        .op = op, .phase = g->b.phase, .in = in, .n_in = n_in, .attr = (int64_t[]){tree}, .n_attr = 1};
    return graph_add(g->g, &s, &g->sink);
}
static void keep_flat(struct gen *g, val v, double most)
{
    vec_push(g->a, &g->flat, ((struct item){v, {-most, most, false}}));
}
static val make_ranges(struct gen *g, uint32_t tree)
{
    const struct tree *t = &g->g->trees.at[tree];
    int64_t attr[2 + 2 * MAX_LEAVES] = {tree, f64_bits(chance(g, 50) ? 1 : 0.5)};
    uint32_t n = 2;
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        if (chance(g, 50)) {
            attr[n++] = i;
            attr[n++] = f64_bits(between(g, 0, 1));
        }
    }
    struct node_spec s = {.op = OP_ranges, .phase = g->b.phase, .attr = attr, .n_attr = n};
    s.type = build_tree_type(&g->b, tree, g->o->number);
    return graph_add(g->g, &s, &g->sink);
}
/* Elementwise rows that leave zeros alone. */
static bool keeps_zero(struct gen *g, enum op op)
{
    const struct op_info *info = &op_table[op];
    double x[3] = {0}, r = 1;
    bool gentle = info->domain == DOM_ANY || info->domain == DOM_SMALL || info->domain == DOM_KINK0 ||
                  info->domain == DOM_APART;
    return info->kind == OPK_ELEM && (info->sig == SIG_FLOAT || info->sig == SIG_NUMBER) && gentle &&
           info->n_min <= 2 && vjp_exists(op, 0) && elem_eval(op, g->o->number, g->o->number, x, &r) &&
           r == 0;
}
/* Two blocks of one tree, or one twice. */
static val flat_arithmetic(struct gen *g, uint32_t tree)
{
    const struct item *x = &g->flat.at[below(g, g->flat.n)], *y = x;
    for (int tries = 0; tries < 6; tries++) {
        y = &g->flat.at[below(g, g->flat.n)];
        struct type t = node_type(g->g, y->v);
        if (type_is_flat(g->g, &t, tree)) {
            break;
        }
        y = x;
    }
    enum op op = OP_mul;
    for (int tries = 0; tries < 20; tries++) {
        enum op o = (enum op)(1 + below(g, OP_COUNT - 1));
        op = keeps_zero(g, o) ? o : op;
    }
    struct type t = node_type(g->g, x->v), u = node_type(g->g, y->v);
    val in[2] = {x->v, type_equal(&t, &u) ? y->v : x->v};
    double most = fmax(x->r.hi, y->r.hi);
    most = fmax(most * most, fmax(2 * most, exp(fmin(most, 5))));
    val v = build_op(&g->b, op, in, (uint32_t)op_table[op].n_min);
    v = most > 12 ? build_1(&g->b, OP_tanh, v) : v;
    keep_flat(g, v, most > 12 ? 1 : most);
    return v;
}
void flat_values(struct gen *g)
{
    for (uint32_t t = 0; t < g->g->trees.n; t++) {
        if (chance(g, 40)) {
            continue;
        }
        keep_flat(g, tree_attr(g, OP_tree, NULL, 0, t), 3);
        if (chance(g, 50)) {
            struct type type = build_tree_type(&g->b, t, g->o->number);
            val m = fresh(g, &type, 'f', -2, 2);
            g->item.n--; /* not for everyone: its size is no size of the graph */
            g->g->vars.at[g->g->vars.n - 1].tree = t + 1;
            keep_flat(g, m, 2);
        }
        if (chance(g, 40)) {
            val r = make_ranges(g, t), x = tree_attr(g, OP_tree, NULL, 0, t);
            keep_flat(g, build_2(&g->b, OP_mul, r, x), 3);
        }
        if (chance(g, 50)) {
            val v = flat_arithmetic(g, t);
            if (chance(g, 50)) {
                val s = build_reduce(&g->b, OP_sum, v, NULL, -1, false);
                keep(g, s, (struct range){-1e6, 1e6, false});
            }
        }
    }
}

/* -- losses */

/* A number of rank 0 that depends on x. */
static val term(struct gen *g, val x)
{
    x = into(g, x, DOM_SMALL);
    if (chance(g, 30)) {
        x = build_2(&g->b, OP_mul, x, x);
    }
    struct type t = node_type(g->g, x);
    bool mean = count_of(g, &t) > 0 && chance(g, 60);
    val s = t.rank ? build_reduce(&g->b, mean ? OP_mean : OP_sum, x, NULL, -1, false) : x;
    return build_cast(&g->b, s, g->o->number);
}
/* Steps on the longest differentiable path from a parameter to each node; 0: none. */
static uint32_t *distances(struct gen *g)
{
    uint32_t *d = arena_array(g->a, uint32_t, g->g->nodes.n);
    for (val v = 1; v < g->g->nodes.n; v++) {
        const struct node *n = graph_node(g->g, v);
        d[v] = moves(g, v);
        for (uint32_t i = 0; i < n->n_in && d[v]; i++) {
            uint32_t before = d[node_inputs(g->g, n)[i]];
            bool longer = before && before + 1 > d[v] && random_passes_on((enum op)n->op, i);
            d[v] = longer ? before + 1 : d[v];
        }
    }
    return d;
}
/* The value far from the parameters out of some. */
static val far_value(struct gen *g, const uint32_t *distance, uint32_t n)
{
    val best = 0;
    for (int tries = 0; tries < (g->o->smooth ? 12 : 5); tries++) {
        val v = pick(g, draw_float(g), 0, false);
        uint32_t d = v < n ? distance[v] : 0;
        best = !best || d > (best < n ? distance[best] : 0) ? v : best;
    }
    return best;
}
static val draw_loss(struct gen *g)
{
    uint32_t n = g->g->nodes.n, *distance = distances(g);
    val loss = term(g, far_value(g, distance, n));
    for (uint32_t more = g->o->smooth ? 2 : below(g, 3); more > 0; more--) {
        val next = term(g, far_value(g, distance, n));
        loss = build_2(&g->b, OP_add, loss, next);
    }
    return loss;
}
static val some_answer(struct gen *g)
{
    struct type t = {.dtype = DT_BOOL};
    return of_type(g, &t, false);
}
/* The step of an optimizer, bounded, so that parameters stay where they are meant to be. */
static val next_block(struct gen *g, uint32_t tree, val grad)
{
    val p = tree_attr(g, OP_tree, NULL, 0, tree);
    val rate = build_const(&g->b, g->o->number, 0.001), step = grad;
    if (chance(g, 60)) {
        step = build_1(&g->b, OP_tanh, grad);
    } else {
        val most = build_const(&g->b, g->o->number, 1), least = build_const(&g->b, g->o->number, -1);
        step = build_2(&g->b, OP_min, grad, most);
        step = build_2(&g->b, OP_max, step, least);
    }
    step = build_2(&g->b, OP_mul, step, rate);
    return build_2(&g->b, OP_sub, p, step);
}
static void minimize(struct gen *g, uint32_t tree, struct phase *p)
{
    val loss = draw_loss(g), grad = tree_attr(g, OP_grad, &loss, 1, tree), when = 0;
    when = chance(g, 15) ? some_answer(g) : 0;
    vec_push(g->a, &p->minimizes,
             ((struct minimize){
                 .name = tree ? "two" : "one", .loss = loss, .grad = grad, .when = when, .tree = tree}));
    if (chance(g, 80)) {
        struct commit c = {.tree = tree + 1, .value = next_block(g, tree, grad)};
        c.guard = chance(g, 15) ? some_answer(g) : 0;
        vec_push(g->a, &p->commits, c);
    }
    for (uint32_t v = 1; v < g->g->vars.n; v++) {
        const struct var *s = &g->g->vars.at[v];
        if (s->kind == VAR_STATE && s->tree == tree + 1 && chance(g, 70)) {
            val old = build_attrs(&g->b, OP_read, NULL, 0, (int64_t[]){v}, 1);
            val keep_part = build_const(&g->b, g->o->number, 0.5), bounded = build_1(&g->b, OP_tanh, grad);
            val kept = build_2(&g->b, OP_mul, old, keep_part);
            vec_push(g->a, &p->commits,
                     ((struct commit){.var = v, .value = build_2(&g->b, OP_add, kept, bounded)}));
        }
    }
    vec_push(g->a, &p->metrics,
             ((struct metric){.name = tree ? "two" : "one", .value = loss, .mode = METRIC_MEAN}));
}

/* -- the rest */

/* A choice between the old value and the old value backwards: elementwise, but it may not overwrite the old
 * one. */
static val stirred(struct gen *g, val now)
{
    struct type t = node_type(g->g, now);
    int axis = t.rank ? (int)below(g, (uint32_t)t.rank) : -1;
    int64_t step[LIMIT_RANK], n;
    dim start[LIMIT_RANK];
    if (axis < 0 || !dim_is_const(&g->g->dims, t.dim[axis], &n) || n < 2) {
        return now;
    }
    for (int i = 0; i < t.rank; i++) {
        step[i] = i == axis ? -1 : 1;
        start[i] = dim_const(&g->g->dims, i == axis ? n - 1 : 0);
    }
    val back = build_slice(&g->b, now, start, step, t.dim);
    t.dtype = DT_BOOL;
    return keep(g, build_3(&g->b, OP_where, of_type(g, &t, false), now, back), range_of(g, now));
}
/* The range of a variable stands in its key. */
static void commit_state(struct gen *g, struct phase *p, uint32_t var)
{
    const struct var *v = &g->g->vars.at[var];
    struct type type = v->type;
    bool old = false;
    for (uint32_t i = 0; i < p->commits.n; i++) {
        old |= p->commits.at[i].var == var;
    }
    val now = build_attrs(&g->b, OP_read, NULL, 0, (int64_t[]){var}, 1);
    val next = chance(g, 50) ? stirred(g, now) : of_type(g, &type, false);
    struct range r = range_of(g, now), n;
    if (next == now && dtype_is_float(type.dtype) && r.lo == -2) {
        next = keep(g, build_1(&g->b, OP_sin, now), (struct range){-1, 1, false});
    }
    n = range_of(g, next);
    v = &g->g->vars.at[var]; /* of_type may have added one */
    if (!old && isfinite(r.lo) && v->key[0] != 'a' && n.lo >= r.lo && n.hi <= r.hi) {
        vec_push(g->a, &p->commits,
                 ((struct commit){.var = var, .value = next, .guard = chance(g, 15) ? some_answer(g) : 0}));
    }
}
static bool is_used(const struct gen *g, val v)
{
    for (uint32_t i = 0; i < g->g->inputs.n; i++) {
        if (g->g->inputs.at[i] == v) {
            return true;
        }
    }
    return false;
}
void make_roots(struct gen *g)
{
    struct phase *p = &g->g->phases.at[g->b.phase];
    if (chance(g, 88) || g->o->smooth) {
        p->training = true;
        for (uint32_t t = 0; t < g->g->trees.n; t++) {
            minimize(g, t, p);
        }
    } else {
        vec_push(g->a, &p->metrics,
                 ((struct metric){.name = "one", .value = draw_loss(g), .mode = METRIC_LAST}));
    }
    if (chance(g, 30)) {
        struct type t = {.dtype = g->o->number};
        vec_push(g->a, &p->metrics,
                 ((struct metric){
                     .name = "more", .value = of_type(g, &t, false), .mode = (enum metric_mode)below(g, 5)}));
    }
    for (uint32_t v = 1, n = g->g->vars.n; v < n; v++) {
        if (g->g->vars.at[v].kind == VAR_STATE && g->g->vars.at[v].tree == 0 && chance(g, 25)) {
            commit_state(g, p, v);
        }
    }
    if (chance(g, 20)) {
        val ok = build_1(&g->b, OP_isfinite, p->metrics.at[0].value);
        vec_push(g->a, &p->asserts, ((struct output){.name = "finite", .value = ok}));
    }
    uint32_t n_items = g->item.n, n_out = 0;
    for (uint32_t i = n_items; i-- > 0 && n_out < 8;) {
        val v = g->item.at[i].v;
        bool again = false;
        for (uint32_t k = 0; k < p->outputs.n; k++) {
            again |= p->outputs.at[k].value == v;
        }
        if (!again && (chance(g, 15) || (!is_used(g, v) && chance(g, 85)))) {
            vec_push(g->a, &p->outputs,
                     ((struct output){.name = arena_printf(g->a, "o%u", n_out++), .value = v}));
        }
    }
}
