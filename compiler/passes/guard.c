/* Resolves the conditions of commits: `when` of a minimize, and that all gradients of the phase are finite.
 * Afterwards a commit is unconditional: its value is a choice between the new value and the old one.
 */
#include "compiler/passes/batch.h"

static val both(struct build *b, val x, val y)
{
    return !x ? y : !y ? x : build_2(b, OP_land, x, y);
}
/* bool[]: every gradient of the phase is finite; 0 for a phase without minimize. */
static val gradients_finite(struct build *b, const struct phase *p)
{
    val ok = 0;
    for (uint32_t i = 0; i < p->minimizes.n; i++) {
        const struct minimize *m = &p->minimizes.at[i];
        b->span = m->span;
        val finite = build_reduce(b, OP_all, build_1(b, OP_isfinite, m->grad), NULL, -1, false);
        if (!finite) {
            return 0;
        }
        ok = both(b, ok, finite);
    }
    return ok;
}
static val old_value(struct build *b, const struct commit *c)
{
    struct node_spec s = {.op = c->tree ? OP_tree : OP_read, .phase = b->phase, .span = c->span};
    s.attr = (int64_t[]){c->tree ? (int64_t)c->tree - 1 : (int64_t)c->var};
    s.n_attr = 1;
    s.type = node_type(b->g, c->value);
    return graph_add(b->g, &s, b->sink);
}
/* Rows written into the old value, and nothing else made of them: where the condition does not hold their
 * indices are -1, which writes nothing, and the rest of a large state need not be looked at. 0 when v is not
 * of that form. */
static val guarded_rows(struct build *b, val v, val old, val condition, const uint32_t *uses)
{
    const struct node *n = graph_node(b->g, v);
    struct type t = node_type(b->g, v);
    bool rows = (op_table[n->op].flags & OPF_ROWS) != 0;
    if (v == old) {
        return v;
    }
    if (rows ? uses[v] > 1 : n->op != OP_reshape) {
        return 0;
    }
    enum op op = (enum op)n->op;
    uint32_t in[3] = {0};
    memcpy(in, node_inputs(b->g, n), n->n_in * sizeof *in);
    val inner = guarded_rows(b, in[0], old, condition, uses);
    if (!inner || !rows) {
        return inner ? build_reshape(b, inner, t.rank, t.dim) : 0;
    }
    val none = build_const(b, DT_I32, -1);
    return build_3(b, op, inner, build_3(b, OP_where, condition, in[1], none), in[2]);
}
static bool guard_commit(struct build *b, struct commit *c, val ok, const uint32_t *uses)
{
    val condition = both(b, ok, c->guard);
    if (!condition) {
        return true;
    }
    b->span = c->span;
    val old = old_value(b, c), rows = c->value == old ? 0 : guarded_rows(b, c->value, old, condition, uses);
    c->value = rows ? rows : build_3(b, OP_where, condition, c->value, old);
    c->guard = 0;
    return c->value != 0;
}
/* How often each node is used, by roots and by nodes that are used. */
static uint32_t *count_uses(const struct graph *g)
{
    uint32_t *uses = arena_array(g->arena, uint32_t, g->nodes.n);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *p = &g->phases.at[i];
        for (uint32_t k = 0; k < p->commits.n; k++) {
            uses[p->commits.at[k].value]++;
            uses[p->commits.at[k].guard]++;
        }
        for (uint32_t k = 0; k < p->metrics.n; k++) {
            uses[p->metrics.at[k].value]++;
        }
        for (uint32_t k = 0; k < p->outputs.n; k++) {
            uses[p->outputs.at[k].value]++;
        }
        for (uint32_t k = 0; k < p->asserts.n; k++) {
            uses[p->asserts.at[k].value]++;
        }
        for (uint32_t k = 0; k < p->minimizes.n; k++) {
            uses[p->minimizes.at[k].loss]++;
            uses[p->minimizes.at[k].grad]++;
            uses[p->minimizes.at[k].when]++;
        }
    }
    for (uint32_t v = g->nodes.n - 1; v > 0; v--) {
        const struct node *n = graph_node(g, v);
        for (uint32_t i = 0; uses[v] && i < n->n_in; i++) {
            uses[node_inputs(g, n)[i]]++;
        }
    }
    return uses;
}
bool guard_commits(struct build *b, struct phase *p, val condition)
{
    const uint32_t *uses = count_uses(b->g);
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (!guard_commit(b, &p->commits.at[i], condition, uses)) {
            return false;
        }
    }
    return true;
}
static bool guard_phase(struct build *b, struct phase *p, const uint32_t *uses)
{
    if (p->ok) {
        return true; /* done before */
    }
    p->ok = gradients_finite(b, p);
    if (p->minimizes.n && !p->ok) {
        return false;
    }
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (!guard_commit(b, &p->commits.at[i], p->ok, uses)) {
            return false;
        }
    }
    return true;
}
bool pass_guard(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    if (!rewrite_graph(in, sink, NULL, NULL, out)) {
        return false;
    }
    struct build b = {.g = *out, .sink = sink};
    const uint32_t *uses = count_uses(b.g); /* of the nodes there are before */
    for (uint32_t i = 0; i < b.g->phases.n; i++) {
        b.phase = (uint16_t)i;
        if (!guard_phase(&b, &b.g->phases.at[i], uses)) {
            return false;
        }
    }
    return true;
}
