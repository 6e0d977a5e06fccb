/* --precision bf16: products of f32 values take and give bf16, and what lies between them follows, as the
 * table kernels/precision.def says. Only phases of the user change. Parameters, optimizer, states, carries of
 * loops, metrics and outputs stay f32: a product reads a parameter out of one bf16 copy of its whole tree.
 *
 * A pin, f32(x) in the text of an f32 value, is a cast from f32 to f32, which only this pass removes: the
 * value is f32, and so is a product of it.
 */
#include "compiler/passes.h"

enum rule { RULE_UNSET, RULE_PRODUCT, RULE_FOLLOW, RULE_WIDE };
static const uint8_t listed[OP_COUNT] = {
#define PRODUCT(op) [OP_##op] = RULE_PRODUCT,
#define FOLLOW(op)  [OP_##op] = RULE_FOLLOW,
#define WIDE(op)    [OP_##op] = RULE_WIDE,
#include "kernels/precision.def"
#undef PRODUCT
#undef FOLLOW
#undef WIDE
};

/* Of an old node that is f32. */
enum kind {
    KIND_WIDE,    /* f32 in the new graph */
    KIND_NEUTRAL, /* too, but made of parameters and constants alone: takes the type of what it meets */
    KIND_NARROW   /* bf16 in the new graph */
};
struct narrow {
    uint8_t *kind; /* by old node */
    bool *pinned;
    VEC(val) made; /* new nodes that are bf16 and were f32 */
};

static enum rule rule_of(enum op op)
{
    enum op_kind k = op_table[op].kind;
    return listed[op] ? (enum rule)listed[op] : k == OPK_ELEM || k == OPK_VIEW ? RULE_FOLLOW : RULE_WIDE;
}
static bool is_f32(const struct rewrite *rw, val old)
{
    return graph_node(rw->old, old)->dtype == DT_F32;
}

/* -- from one type to the other */

static val as_type(struct rewrite *rw, val v, enum dtype t);

/* The view again over its input as t. */
static val view_as(struct rewrite *rw, val v, enum dtype t)
{
    val in = as_type(rw, node_inputs(rw->g, graph_node(rw->g, v))[0], t);
    struct node_spec s = rewrite_spec(rw->g, v, &in); /* behind as_type, which may move the nodes */
    s.type.dtype = t;
    return graph_add(rw->g, &s, rw->b.sink);
}
static val parameter_as(struct rewrite *rw, uint32_t var, val v, enum dtype t)
{
    const struct var *x = &rw->g->vars.at[var];
    if (x->kind != VAR_PARAM || !x->tree) {
        return build_cast(&rw->b, v, t);
    }
    val tree = build_attrs(&rw->b, OP_tree, NULL, 0, (int64_t[]){x->tree - 1}, 1);
    return build_leaf(&rw->b, build_cast(&rw->b, tree, t), x->tree - 1, x->leaf);
}
/* A new node as bf16 or f32: casts stand under views that keep or repeat elements, so that all readers share
 * one. */
static val as_type(struct rewrite *rw, val v, enum dtype t)
{
    const struct node *n = graph_node(rw->g, v);
    if (n->dtype == t) {
        return v;
    }
    switch (n->op) {
    case OP_reshape:
    case OP_permute:
    case OP_expand:
        return view_as(rw, v, t);
    case OP_const: {
        struct node_spec s = rewrite_spec(rw->g, v, NULL);
        s.type.dtype = t;
        return graph_add(rw->g, &s, rw->b.sink);
    }
    case OP_read:
        return parameter_as(rw, (uint32_t)node_attrs(rw->g, n)[0], v, t);
    default:
        return build_cast(&rw->b, v, t);
    }
}

/* -- one node */

/* A stack of yields has their type. */
static val yield_of(const struct graph *g, const struct node *n)
{
    return loop_yield(g, graph_node(g, node_inputs(g, n)[0]), (uint32_t)node_attrs(g, n)[0]);
}
static enum dtype wanted(const struct rewrite *rw, const struct node *n)
{
    const struct narrow *w = rw->ctx;
    const val *in = node_inputs(rw->old, n);
    if (n->op == OP_loop_out) {
        val y = yield_of(rw->old, n);
        return is_f32(rw, y) && w->kind[y] == KIND_NARROW ? DT_BF16 : DT_F32;
    }
    enum rule p = rule_of((enum op)n->op);
    bool narrow = false, wide = false, pinned = false;
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (is_f32(rw, in[i])) {
            narrow |= w->kind[in[i]] == KIND_NARROW;
            wide |= w->kind[in[i]] == KIND_WIDE;
            pinned |= w->pinned[in[i]];
        }
    }
    bool bf16 = p == RULE_PRODUCT ? !pinned : p == RULE_FOLLOW && narrow && !wide;
    return bf16 ? DT_BF16 : DT_F32;
}
static bool is_neutral(const struct rewrite *rw, const struct node *n)
{
    const struct narrow *w = rw->ctx;
    const val *in = node_inputs(rw->old, n);
    if (n->op == OP_const || n->op == OP_dimval || n->op == OP_knob) {
        return true;
    }
    if (n->op == OP_read) {
        return rw->old->vars.at[node_attrs(rw->old, n)[0]].kind == VAR_PARAM;
    }
    bool all = rule_of((enum op)n->op) == RULE_FOLLOW && n->n_in > 0 && n->op != OP_loop_out;
    for (uint32_t i = 0; i < n->n_in; i++) {
        all = all && (!is_f32(rw, in[i]) || w->kind[in[i]] == KIND_NEUTRAL);
    }
    return all && n->op != OP_cast;
}
/* Inputs of a loop: yields go out as they are, carries are f32. */
static uint32_t inputs_to_type(const struct rewrite *rw, const struct node *n)
{
    return n->op == OP_loop ? 2 * loop_carries(rw->old, n) : n->n_in;
}
static val typed(struct rewrite *rw, const struct node *n, enum dtype t)
{
    const val *old = node_inputs(rw->old, n);
    for (uint32_t i = 0; i < inputs_to_type(rw, n); i++) {
        rw->in[i] = is_f32(rw, old[i]) ? as_type(rw, rw->in[i], t) : rw->in[i];
    }
    struct node_spec s = rewrite_spec(rw->old, (val)(n - rw->old->nodes.at), rw->in);
    s.type.dtype = s.type.dtype == DT_F32 ? t : s.type.dtype;
    return graph_add(rw->g, &s, rw->b.sink);
}
/* A cast takes what there is. One from f32 to f32 is a pin; f32(x) of a bf16 value of the text is wide as
 * well. */
static val narrow_cast(struct rewrite *rw, val id, const struct node *n)
{
    struct narrow *w = rw->ctx;
    bool pin = n->dtype == DT_F32 && is_f32(rw, node_inputs(rw->old, n)[0]);
    w->pinned[id] = pin;
    return pin ? as_type(rw, rw->in[0], DT_F32) : build_cast(&rw->b, rw->in[0], (enum dtype)n->dtype);
}
static val narrow_node(struct rewrite *rw, val id, const struct node *n)
{
    struct narrow *w = rw->ctx;
    if (rw->old->phases.at[n->phase].kind != PHASE_USER) {
        return rewrite_copy(rw, n);
    }
    if (n->op == OP_cast) {
        return narrow_cast(rw, id, n);
    }
    val v = typed(rw, n, wanted(rw, n));
    if (v && n->dtype == DT_F32) {
        bool narrow = graph_node(rw->g, v)->dtype == DT_BF16;
        w->kind[id] = narrow ? KIND_NARROW : is_neutral(rw, n) ? KIND_NEUTRAL : KIND_WIDE;
        w->pinned[id] = op_table[n->op].kind == OPK_VIEW && w->pinned[node_inputs(rw->old, n)[0]];
        if (narrow) {
            vec_push(rw->g->arena, &w->made, v);
        }
    }
    return v;
}

/* -- roots: what leaves a phase is f32 */

struct widen {
    struct build b;
    const bool *made;
    uint32_t n;
};
static void widen_root(void *ctx, val *root)
{
    struct widen *w = ctx;
    if (*root && *root < w->n && w->made[*root]) {
        w->b.phase = graph_node(w->b.g, *root)->phase;
        w->b.span = graph_node(w->b.g, *root)->span;
        *root = build_cast(&w->b, *root, DT_F32);
    }
}

bool pass_narrow(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct narrow w = {.kind = arena_array(in->arena, uint8_t, in->nodes.n + 1),
                       .pinned = arena_array(in->arena, bool, in->nodes.n + 1)};
    if (!rewrite_graph(in, sink, narrow_node, &w, out)) {
        return false;
    }
    bool *made = arena_array(in->arena, bool, (*out)->nodes.n + 1);
    for (uint32_t i = 0; i < w.made.n; i++) {
        made[w.made.at[i]] = true;
    }
    struct widen roots = {{.g = *out, .sink = sink}, made, (*out)->nodes.n};
    each_root(*out, widen_root, &roots);
    return true;
}
