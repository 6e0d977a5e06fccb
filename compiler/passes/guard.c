/* Resolves the conditions of commits: `when` of a minimize, and that all gradients of the phase are finite.
 * Afterwards a commit is unconditional: its value is a choice between the new value and the old one.
 */
#include "compiler/passes.h"

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
static bool guard_commit(struct build *b, struct commit *c, val ok)
{
    val condition = both(b, ok, c->guard);
    if (!condition) {
        return true;
    }
    b->span = c->span;
    c->value = build_3(b, OP_where, condition, c->value, old_value(b, c));
    c->guard = 0;
    return c->value != 0;
}
static bool guard_phase(struct build *b, struct phase *p)
{
    if (p->ok) {
        return true; /* done before */
    }
    p->ok = gradients_finite(b, p);
    if (p->minimizes.n && !p->ok) {
        return false;
    }
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (!guard_commit(b, &p->commits.at[i], p->ok)) {
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
    for (uint32_t i = 0; i < b.g->phases.n; i++) {
        b.phase = (uint16_t)i;
        if (!guard_phase(&b, &b.g->phases.at[i])) {
            return false;
        }
    }
    return true;
}
