/* Replicas: one graph that trains R copies of a model at once; see gml_replicate. What differs between them -
 * parameters, states, draws, configs with a list of values, and all that is made of these - gets an axis of R
 * in front, by the batching rules of batch.c; the rest, as rows of data in order, stays one value for all. So
 * a product with a weight becomes one product over a stack of weights.
 */
#include "compiler/passes/batch.h"

static const char running_key[] = "replicas.running";

/* -- configs with a list of values, and commits that stop with their replica: still without the axis */

static uint32_t state_of(struct graph *g, const char *key, enum dtype t, struct span at)
{
    uint32_t var = graph_find_var(g, key);
    if (!var) {
        struct var v = {.kind = VAR_STATE, .key = key, .type = {.dtype = t}, .span = at};
        vec_push(g->arena, &g->vars, v);
        var = g->vars.n - 1;
    }
    return var;
}
static val read_state(struct build *b, uint32_t var)
{
    int64_t attr = var;
    return build_attrs(b, OP_read, NULL, 0, &attr, 1);
}
static val take_list(struct rewrite *rw, val id, const struct node *n)
{
    const struct graph *g = rw->old;
    const struct config *c = n->op == OP_knob ? &g->configs.at[node_attrs(g, n)[0]] : NULL;
    (void)id;
    if (!c || !c->values) {
        return rewrite_copy(rw, n);
    }
    const char *key = arena_printf(g->arena, "set.%s", c->name);
    return read_state(&rw->b, state_of(rw->g, key, (enum dtype)n->dtype, c->span));
}
static bool has_stop(const struct graph *g)
{
    for (uint32_t i = 0; i < g->run.n; i++) {
        if (g->run.at[i].kind == RUN_STOP) {
            return true;
        }
    }
    return false;
}
static bool hold_stopped(struct graph *g, struct diag_sink *sink)
{
    struct build b = {.g = g, .sink = sink};
    uint32_t var = state_of(g, running_key, DT_BOOL, NO_SPAN);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        struct phase *p = &g->phases.at[i];
        b.phase = (uint16_t)i;
        b.span = p->span;
        val running = p->kind == PHASE_USER && p->commits.n ? read_state(&b, var) : 0;
        if (running && !guard_commits(&b, p, running)) {
            return false;
        }
    }
    return true;
}
/* Initial values are made by the graph of one copy, with the seed of each. */
static void forget_init(struct graph *g)
{
    for (uint32_t i = 0; i < g->phases.n; i++) {
        if (g->phases.at[i].kind == PHASE_INIT) {
            memset(&g->phases.at[i].commits, 0, sizeof g->phases.at[i].commits);
        }
    }
}

/* -- what gets the axis */

struct replicas {
    const struct graph *old;
    dim count;
    bool *all;     /* by old node: it has the axis */
    bool *carries; /* by old node: a loop_carry whose next value has it */
};
static bool is_replicated(const struct graph *g, const struct node *n)
{
    enum phase_kind k = g->phases.at[n->phase].kind;
    return k == PHASE_USER || k == PHASE_RUN;
}
static bool is_source(const struct graph *g, const struct node *n)
{
    const int64_t *attr = node_attrs(g, n);
    switch (n->op) {
    case OP_read:
        return g->vars.at[attr[0]].kind == VAR_PARAM ||
               (g->vars.at[attr[0]].kind == VAR_STATE && !var_is_shared(&g->vars.at[attr[0]]));
    case OP_rows:
        return attr[1] == ROWS_SHUFFLED;
    case OP_tree:
    case OP_metric:
    case OP_uniform:
    case OP_normal:
    case OP_bernoulli:
    case OP_randint:
    case OP_shuffle:
        return true;
    default:
        return false;
    }
}
static bool made_of_all(const struct replicas *r, val id, const struct node *n)
{
    const val *in = node_inputs(r->old, n);
    bool any = is_source(r->old, n) || r->carries[id];
    if (n->op == OP_loop) {
        return false; /* its counter */
    }
    if (n->op == OP_loop_last || n->op == OP_loop_out) {
        const struct node *end = graph_node(r->old, in[0]);
        uint32_t k = (uint32_t)node_attrs(r->old, n)[0];
        return r->all[n->op == OP_loop_last ? loop_carry(r->old, end, k) : loop_yield(r->old, end, k)];
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        any |= r->all[in[i]];
    }
    return any;
}
/* A carry whose next value has the axis has it from the beginning; that may reach further carries. */
static bool meet_carries(struct replicas *r, const struct node *end)
{
    bool more = false;
    for (uint32_t k = 0; end->op == OP_loop && k < loop_carries(r->old, end); k++) {
        val carry = loop_carry(r->old, end, k);
        if (r->all[loop_next(r->old, end, k)] && !r->all[carry]) {
            r->carries[carry] = more = true;
        }
    }
    return more;
}
static void find_all(struct replicas *r)
{
    const struct graph *g = r->old;
    bool more = true;
    while (more) {
        more = false;
        for (val id = 1; id < g->nodes.n; id++) {
            const struct node *n = graph_node(g, id);
            r->all[id] = is_replicated(g, n) && made_of_all(r, id, n);
        }
        for (val id = 1; id < g->nodes.n; id++) {
            more |= is_replicated(g, graph_node(g, id)) && meet_carries(r, graph_node(g, id));
        }
    }
}

/* -- nodes */

static val with_axis(struct rewrite *rw, val old)
{
    const struct replicas *r = rw->ctx;
    val v = rw->map[old];
    return r->all[old] || !v ? v : batch_repeat(&rw->b, v, r->count);
}
/* The node with the axis in its type and in all of its inputs. */
static val same_node(struct rewrite *rw, val id, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    struct node_spec s = rewrite_spec(rw->old, id, rw->in);
    for (uint32_t i = 0; i < n->n_in; i++) {
        rw->in[i] = with_axis(rw, node_inputs(rw->old, n)[i]);
    }
    s.type = type_stacked(s.type, r->count);
    return graph_add(rw->g, &s, rw->b.sink);
}
/* Draws and orders of rows: one attribute more says that every replica has its own; parameters may have the
 * axis or not. */
static val own_draw(struct rewrite *rw, val id, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    int64_t attr[LIMIT_ATTRS + 1];
    struct node_spec s = rewrite_spec(rw->old, id, rw->in);
    if (n->op == OP_shuffle) {
        rw->in[0] = with_axis(rw, node_inputs(rw->old, n)[0]);
    }
    memcpy(attr, s.attr, s.n_attr * sizeof *attr);
    attr[s.n_attr++] = 1;
    s.attr = attr;
    s.type = type_stacked(s.type, r->count);
    return graph_add(rw->g, &s, rw->b.sink);
}
static val swap_front(struct rewrite *rw, val v)
{
    int perm[LIMIT_RANK];
    for (int i = 0; i < LIMIT_RANK; i++) {
        perm[i] = i;
    }
    perm[0] = 1;
    perm[1] = 0;
    return v ? build_permute(&rw->b, v, perm) : 0;
}
static val through_loop(struct rewrite *rw, val id, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    struct node_spec s = rewrite_spec(rw->old, id, rw->in);
    s.type = type_stacked(s.type, r->count);
    if (n->op == OP_loop_in) {
        rw->in[0] = swap_front(rw, rw->in[0]);
    } else if (n->op == OP_loop_carry) {
        rw->in[0] = with_axis(rw, node_inputs(rw->old, n)[0]);
    } else if (n->op == OP_loop_out) { /* the axis of iterations is in front there */
        s.type.dim[1] = r->count;
        s.type.dim[0] = node_shape(rw->old, n)[0];
        return swap_front(rw, graph_add(rw->g, &s, rw->b.sink));
    }
    return graph_add(rw->g, &s, rw->b.sink);
}
static val end_loop(struct rewrite *rw, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    for (uint32_t k = 0; k < loop_carries(rw->old, n); k++) {
        val next = loop_next(rw->old, n, k);
        if (r->all[loop_carry(rw->old, n, k)]) {
            rw->in[loop_carries(rw->old, n) + k] = with_axis(rw, next);
        }
    }
    return rewrite_copy(rw, n);
}

/* -- rows of tables that replicas have of their own: the rows of one long table */

/* Rows of replica r begin at r * rows. Indices that are out of range stay so: from R * rows on, and below. */
static val long_index(struct rewrite *rw, val index, dim rows)
{
    struct build *b = &rw->b;
    const struct replicas *r = rw->ctx;
    struct type t = node_type(rw->g, index);
    dim shape[LIMIT_RANK], one = dim_const(&b->g->dims, 1);
    for (int i = 0; i < t.rank; i++) {
        shape[i] = i ? one : t.dim[0];
    }
    val n = build_dim(b, DT_I32, rows), none = build_const(b, DT_I32, 0);
    val replica = build_reshape(b, build_iota(b, r->count), t.rank, shape);
    val moved = build_2(b, OP_add, index, build_2(b, OP_mul, replica, n));
    val last = build_dim(b, DT_I32, dim_sub(&b->g->dims, dim_mul(&b->g->dims, r->count, rows), rows));
    val inside = build_2(b, OP_lt, index, n);
    val above = build_2(b, OP_add, index, last);
    val high = build_3(b, OP_where, inside, moved, above);
    return build_3(b, OP_where, build_2(b, OP_lt, index, none), index, high);
}
/* x[n, r..] or values[k.., r..] with `lead` axes that become one beside that of the replicas. */
static val joined(struct rewrite *rw, val x)
{
    struct type t = node_type(rw->g, x);
    dim shape[LIMIT_RANK];
    for (int i = 1; i < t.rank; i++) {
        shape[i - 1] = i == 1 ? dim_mul(&rw->g->dims, t.dim[0], t.dim[1]) : t.dim[i];
    }
    return build_reshape(&rw->b, x, t.rank - 1, shape);
}
static val own_rows(struct rewrite *rw, val id, const struct node *n)
{
    struct node_spec s = rewrite_spec(rw->old, id, rw->in);
    const struct replicas *r = rw->ctx;
    const val *old = node_inputs(rw->old, n);
    dim rows = node_shape(rw->old, graph_node(rw->old, old[0]))[0];
    for (uint32_t i = 0; i < n->n_in; i++) {
        rw->in[i] = with_axis(rw, old[i]);
        if (!rw->in[i]) {
            return 0;
        }
    }
    struct type whole = type_stacked(rewrite_type(rw, n), r->count);
    rw->in[0] = joined(rw, rw->in[0]);
    rw->in[1] = long_index(rw, rw->in[1], rows);
    s.type = whole;
    if (n->op == OP_gather) {
        return rw->in[1] ? graph_add(rw->g, &s, rw->b.sink) : 0;
    }
    s.type = rw->in[0] ? node_type(rw->g, rw->in[0]) : whole;
    val put = rw->in[0] && rw->in[1] ? graph_add(rw->g, &s, rw->b.sink) : 0;
    return put ? build_reshape(&rw->b, put, whole.rank, whole.dim) : 0;
}

/* -- the walk */

/* A parameter that is read by itself: the leaf of its block. */
static val read_parameter(struct rewrite *rw, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    const struct var *v = &rw->old->vars.at[node_attrs(rw->old, n)[0]];
    int64_t tree = (int64_t)v->tree - 1;
    struct node_spec s = {.op = OP_tree,
                          .phase = rw->b.phase,
                          .attr = &tree,
                          .n_attr = 1,
                          .type = type_stacked(build_tree_type(&rw->b, v->tree - 1, v->type.dtype), r->count),
                          .span = rw->b.span};
    return build_leaf(&rw->b, graph_add(rw->g, &s, rw->b.sink), v->tree - 1, v->leaf);
}
static val no_rule(struct rewrite *rw, const struct node *n)
{
    const struct op_info *op = &op_table[n->op];
    if (n->rank >= LIMIT_RANK) {
        diag_emit(rw->b.sink, DIAG_E3112, n->span,
                  "--replicas: a value of %d axes has no room for the axis of replicas", (int)n->rank);
    } else {
        diag_emit(rw->b.sink, DIAG_E3112, n->span, "--replicas: `%s` cannot work on several replicas at once",
                  *op->dsl ? op->dsl : op->name);
    }
    return 0;
}
static val stack_node(struct rewrite *rw, val id, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    bool *stacked = arena_array(rw->g->arena, bool, n->n_in + 1);
    for (uint32_t i = 0; i < n->n_in; i++) {
        stacked[i] = r->all[node_inputs(rw->old, n)[i]];
    }
    struct node_spec s = rewrite_spec(rw->old, id, rw->in);
    return batch_exists(rw->old, n, stacked) ? batch_build(&rw->b, &s, stacked, r->count) : no_rule(rw, n);
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    const struct replicas *r = rw->ctx;
    const struct graph *old = rw->old;
    if (n->op == OP_loop) {
        return end_loop(rw, n);
    }
    if (!r->all[id]) {
        return rewrite_copy(rw, n);
    }
    switch (n->op) {
    case OP_read:
        if (old->vars.at[node_attrs(old, n)[0]].kind == VAR_PARAM) {
            return read_parameter(rw, n);
        }
        return same_node(rw, id, n);
    case OP_tree:
    case OP_leaf:
    case OP_pack:
    case OP_metric:
        return same_node(rw, id, n);
    case OP_uniform:
    case OP_normal:
    case OP_bernoulli:
    case OP_randint:
    case OP_shuffle:
    case OP_rows:
        return own_draw(rw, id, n);
    case OP_loop_in:
    case OP_loop_carry:
    case OP_loop_last:
    case OP_loop_out:
        return through_loop(rw, id, n);
    case OP_gather:
    case OP_put:
    case OP_put_add:
    case OP_put_max:
        return n->op != OP_gather || r->all[node_inputs(old, n)[0]] ? own_rows(rw, id, n)
                                                                    : stack_node(rw, id, n);
    default:
        return stack_node(rw, id, n);
    }
}

/* -- roots */

static val root_all(struct build *b, const struct replicas *r, val old, val v)
{
    return !old || !v || r->all[old] ? v : batch_repeat(b, v, r->count);
}
/* Commits to single parameters of a tree become one to the tree: their places in its block are apart. */
static bool commit_leaves(struct build *b, struct phase *p, uint32_t at)
{
    struct graph *g = b->g;
    uint32_t tree = g->vars.at[p->commits.at[at].var].tree - 1, kept = at + 1;
    const struct tree *t = &g->trees.at[tree];
    val *leaf = arena_array(g->arena, val, t->n_leaf + 1);
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        int64_t attr = tree;
        struct node_spec s = {.op = OP_tree, .phase = b->phase, .attr = &attr, .n_attr = 1, .span = b->span};
        s.type = type_stacked(build_tree_type(b, tree, g->vars.at[t->leaf[i]].type.dtype), g->n_replicas);
        leaf[i] = build_leaf(b, graph_add(g, &s, b->sink), tree, i);
    }
    for (uint32_t i = at; i < p->commits.n; i++) {
        struct commit c = p->commits.at[i];
        const struct var *v = &g->vars.at[c.var];
        if (c.var && v->kind == VAR_PARAM && v->tree == tree + 1) {
            leaf[v->leaf] = c.value;
        } else {
            p->commits.at[kept++] = c;
        }
    }
    p->commits.at[at].var = 0;
    p->commits.at[at].tree = tree + 1;
    p->commits.at[at].value = build_pack(b, tree, leaf);
    p->commits.n = kept;
    return p->commits.at[at].value != 0;
}
static bool finish_commits(struct build *b, const struct replicas *r, const struct phase *old,
                           struct phase *p)
{
    for (uint32_t i = 0; i < p->commits.n; i++) {
        struct commit *c = &p->commits.at[i];
        b->span = c->span;
        c->value = root_all(b, r, old->commits.at[i].value, c->value);
        if (!c->value) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->commits.n; i++) {
        const struct commit *c = &p->commits.at[i];
        b->span = c->span;
        if (c->var && b->g->vars.at[c->var].kind == VAR_PARAM && !commit_leaves(b, p, i)) {
            return false;
        }
    }
    return true;
}
static bool finish_phase(struct build *b, const struct replicas *r, const struct phase *old, struct phase *p)
{
    bool ok = finish_commits(b, r, old, p);
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        b->span = p->metrics.at[i].span;
        p->metrics.at[i].value = root_all(b, r, old->metrics.at[i].value, p->metrics.at[i].value);
        ok &= p->metrics.at[i].value != 0;
    }
    for (uint32_t i = 0; i < p->asserts.n; i++) {
        b->span = p->asserts.at[i].span;
        val v = p->asserts.at[i].value;
        p->asserts.at[i].value =
            r->all[old->asserts.at[i].value] ? build_reduce(b, OP_all, v, NULL, -1, false) : v;
        ok &= p->asserts.at[i].value != 0;
    }
    b->span = p->span;
    p->ok = root_all(b, r, old->ok, p->ok);
    return ok;
}
static void stack_states(struct graph *g)
{
    for (uint32_t i = 1; i < g->vars.n; i++) {
        struct var *v = &g->vars.at[i];
        if (v->kind == VAR_STATE && !var_is_shared(v) && v->type.rank < LIMIT_RANK) {
            v->type = type_stacked(v->type, g->n_replicas);
        }
    }
}
static bool states_fit(const struct graph *g, struct diag_sink *sink)
{
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (g->vars.at[i].kind == VAR_STATE && !var_is_shared(&g->vars.at[i]) &&
            g->vars.at[i].type.rank == LIMIT_RANK) {
            diag_emit(sink, DIAG_E3112, g->vars.at[i].span,
                      "--replicas: the state `%s` has %d axes and no room for that of replicas",
                      g->vars.at[i].key, LIMIT_RANK);
            return false;
        }
    }
    return true;
}
/* The rewriting walk makes the new graph; its tables are changed when it begins, at the first node. */
static val visit_first(struct rewrite *rw, val id, const struct node *n)
{
    if (!rw->g->replicas) {
        struct replicas *r = rw->ctx;
        int64_t count = 0;
        dim_is_const(&rw->g->dims, r->count, &count);
        rw->g->replicas = (uint32_t)count;
        rw->g->n_replicas = r->count;
        stack_states(rw->g);
    }
    return visit(rw, id, n);
}
static bool stack_graph(struct graph *in, uint32_t replicas, struct diag_sink *sink, struct graph **out)
{
    struct replicas r = {.old = in, .count = dim_const(&in->dims, replicas)};
    r.all = arena_array(in->arena, bool, in->nodes.n + 1);
    r.carries = arena_array(in->arena, bool, in->nodes.n + 1);
    find_all(&r);
    if (!states_fit(in, sink) || !rewrite_graph(in, sink, visit_first, &r, out)) {
        return false;
    }
    struct build b = {.g = *out, .sink = sink};
    for (uint32_t i = 0; i < in->phases.n; i++) {
        b.phase = (uint16_t)i;
        if (is_replicated(in, &(struct node){.phase = (uint16_t)i}) &&
            !finish_phase(&b, &r, &in->phases.at[i], &b.g->phases.at[i])) {
            return false;
        }
    }
    return true;
}

enum status gml_replicate(struct graph *in, uint32_t replicas, struct diag_sink *sink, struct graph **out)
{
    struct graph *g;
    bool ok = rewrite_graph(in, sink, take_list, NULL, &g);
    if (ok) {
        forget_init(g);
        ok = (!has_stop(g) || hold_stopped(g, sink)) && pass_dce(g, sink, &g) &&
             stack_graph(g, replicas, sink, &g) && pass_simplify(g, sink, &g) && pass_cse(g, sink, &g) &&
             pass_dce(g, sink, &g);
    }
    if (!ok) {
        *out = NULL;
        return diag_worst(sink);
    }
    g->one = in;
    TRY(graph_verify(g, sink));
    *out = g;
    return ST_OK;
}
