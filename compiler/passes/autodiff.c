/* Reverse-mode differentiation of the graph.
 *
 * A `grad` node names a loss and a parameter tree. Its gradient is built from ordinary nodes behind the loss:
 * every node on a differentiable path from a leaf of the tree to the loss gets one gradient, the sum over its
 * users in descending order of their ids, so the order of addition is fixed. Leaves are `read`s of the tree's
 * parameters and `leaf` views of its flat value; a use of the flat value as a whole adds to all leaves. A
 * leaf without a path gets zero and a warning. Loops are reversed as a whole: reverse_loop.c.
 */
#include "compiler/passes/reverse.h"

static bool is_tree_value(const struct reverse *r, const struct node *n)
{
    return n->op == OP_tree && node_attrs(r->g, n)[0] == (int64_t)r->tree;
}
static int32_t wanted_leaf(const struct reverse *r, uint32_t leaf)
{
    return r->wanted && !r->wanted[leaf] ? NOT_A_LEAF : (int32_t)leaf;
}
static int32_t leaf_index(const struct reverse *r, const struct node *n)
{
    if (n->op == OP_read) {
        const struct var *v = &r->g->vars.at[node_attrs(r->g, n)[0]];
        return v->kind == VAR_PARAM && v->tree == r->tree + 1 ? wanted_leaf(r, v->leaf) : NOT_A_LEAF;
    }
    if (n->op == OP_leaf && is_tree_value(r, graph_node(r->g, node_inputs(r->g, n)[0]))) {
        return wanted_leaf(r, (uint32_t)node_attrs(r->g, n)[0]);
    }
    return is_tree_value(r, n) ? WHOLE_TREE : NOT_A_LEAF;
}
/* Whether a gradient flows from n to one of its inputs. */
static bool depends(const struct reverse *r, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (r->active[node_inputs(r->g, n)[i]] && vjp_exists((enum op)n->op, i)) {
            return true;
        }
    }
    return false;
}
/* One walk upwards; true if a carry became active that was not, because its next value is. */
static bool spread_active(struct reverse *r)
{
    bool more = false;
    for (val id = 1; id <= r->loss; id++) {
        const struct node *n = graph_node(r->g, id);
        if (n->op == OP_loop && n->phase == r->b->phase) {
            more |= reverse_carries(r, n);
        }
        if (n->phase != r->b->phase || !dtype_is_float((enum dtype)n->dtype)) {
            continue;
        }
        r->leaf[id] = leaf_index(r, n);
        r->active[id] = r->active[id] || r->leaf[id] != NOT_A_LEAF || reverse_passes(r, n) || depends(r, n);
    }
    return more;
}
static void find_active(struct reverse *r)
{
    for (val id = 1; id <= r->loss; id++) {
        r->leaf[id] = NOT_A_LEAF;
    }
    while (spread_active(r)) {
    }
}
void reverse_add(struct reverse *r, struct reversed *in, val to, val gradient)
{
    val *sum = &r->gradient[to];
    if (graph_node(r->g, to)->loop != in->forward) {
        sum = reversed_capture(r, in, to);
    }
    *sum = *sum ? build_2(r->b, OP_add, *sum, gradient) : gradient;
}
/* Takes the gradient of a leaf; false if the node is none. */
static bool take_leaf(struct reverse *r, val id)
{
    if (r->leaf[id] == NOT_A_LEAF) {
        return false;
    }
    val *sum = r->leaf[id] == WHOLE_TREE ? &r->flat_gradient : &r->leaf_gradient[r->leaf[id]];
    *sum = *sum ? build_2(r->b, OP_add, *sum, r->gradient[id]) : r->gradient[id];
    return true;
}
/* Sends the gradient of a node to its inputs. */
static bool send_back(struct reverse *r, struct reversed *at, val id)
{
    struct node n = *graph_node(r->g, id); /* the table moves while nodes are added */
    struct arena *a = r->g->arena;
    const val *in = node_inputs(r->g, &n);
    bool *wanted = arena_array(a, bool, n.n_in);
    val *out = arena_array(a, val, n.n_in);
    struct vjp_ctx c = {.b = r->b,
                        .op = (enum op)n.op,
                        .in = in,
                        .n_in = n.n_in,
                        .attr = node_attrs(r->g, &n),
                        .dims = node_dims(r->g, &n),
                        .r = id,
                        .g = r->gradient[id],
                        .wanted = wanted,
                        .out = out};
    for (uint32_t i = 0; i < n.n_in; i++) {
        wanted[i] = r->active[in[i]];
    }
    r->b->span = n.span;
    r->b->scope = n.scope;
    if (!vjp_apply(&c)) {
        return false;
    }
    for (uint32_t i = 0; i < n.n_in; i++) {
        if (wanted[i] && out[i]) {
            reverse_add(r, at, in[i], out[i]);
        }
    }
    return true;
}
bool reverse_walk(struct reverse *r, struct reversed *at, val from)
{
    for (val id = from; id > 0; id--) {
        const struct node *n = graph_node(r->g, id);
        if (n->loop != at->forward || n->phase != r->b->phase) {
            continue;
        }
        bool ends = n->op == OP_loop, part = reverse_keeps((enum op)n->op);
        if (ends ? !reverse_loop(r, at, id)
                 : r->active[id] && r->gradient[id] && !part && !take_leaf(r, id) && !send_back(r, at, id)) {
            return false;
        }
    }
    return true;
}
static bool walk_back(struct reverse *r)
{
    struct type t = node_type(r->g, r->loss);
    struct reversed outside = {0};
    r->gradient[r->loss] = build_full(r->b, &t, 1);
    return reverse_walk(r, &outside, r->loss);
}
static val leaf_or_zero(struct reverse *r, uint32_t i)
{
    const struct tree *t = &r->g->trees.at[r->tree];
    const struct var *v = &r->g->vars.at[t->leaf[i]];
    if (r->leaf_gradient[i]) {
        return r->leaf_gradient[i];
    }
    if (!r->flat_gradient && wanted_leaf(r, i) != NOT_A_LEAF) {
        diag_emit(r->b->sink, DIAG_W0201, v->span, "the loss `%s` does not depend on parameter `%s`", t->name,
                  v->key);
    }
    return build_full(r->b, &v->type, 0);
}
/* The gradient of the block as a whole. In the padding between leaves it may be anything, 1 (of a sum) or NaN
 * (of a root at 0); neither a norm nor a commit may see that. Leaves that are not wanted have none. */
static val zero_elsewhere(const struct reverse *r, struct build *b, val gradient)
{
    struct type t = node_type(b->g, gradient);
    uint32_t n = b->g->trees.at[r->tree].n_leaf, used = 2;
    int64_t *attr = arena_array(b->g->arena, int64_t, 2 + 2 * (size_t)n);
    attr[0] = r->tree;
    attr[1] = f64_bits(0);
    for (uint32_t i = 0; i < n; i++) {
        if (wanted_leaf(r, i) != NOT_A_LEAF) {
            attr[used++] = i;
            attr[used++] = f64_bits(1);
        }
    }
    struct node_spec s = {.op = OP_ranges, .phase = b->phase, .attr = attr, .n_attr = used, .type = t};
    val leaves = graph_add(b->g, &s, b->sink), zero = build_const(b, t.dtype, 0);
    return build_3(b, OP_where, build_2(b, OP_ne, leaves, zero), gradient, zero);
}
val differentiate(struct build *b, val loss, const int64_t *attr, uint32_t n_attr)
{
    struct graph *g = b->g;
    uint32_t tree = (uint32_t)attr[0];
    struct build at = *b;
    uint32_t n_leaf = g->trees.at[tree].n_leaf;
    struct reverse r = {.b = &at, .g = g, .tree = tree, .loss = loss};
    r.wanted = n_attr > 1 ? arena_array(g->arena, bool, n_leaf + 1) : NULL;
    for (uint32_t i = 1; i < n_attr; i++) {
        r.wanted[attr[i]] = true;
    }
    r.leaf = arena_array(g->arena, int32_t, loss + 1);
    r.active = arena_array(g->arena, bool, loss + 1);
    r.gradient = arena_array(g->arena, val, loss + 1);
    r.leaf_gradient = arena_array(g->arena, val, n_leaf + 1);
    find_active(&r);
    bool ok = walk_back(&r);
    b->formulas = at.formulas;
    at.span = b->span;
    at.scope = b->scope;
    for (uint32_t i = 0; ok && i < n_leaf; i++) {
        r.leaf_gradient[i] = leaf_or_zero(&r, i);
    }
    val flat = ok ? build_pack(&at, tree, r.leaf_gradient) : 0;
    if (!flat || !r.flat_gradient) {
        return flat;
    }
    val whole = zero_elsewhere(&r, &at, r.flat_gradient);
    return build_2(&at, OP_add, flat, whole);
}

static val visit_grad(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    if (n->op == OP_grad) {
        return differentiate(&rw->b, rw->in[0], node_attrs(rw->old, n), n->n_attr);
    }
    return rewrite_copy(rw, n);
}
static val visit_stop(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    return n->op == OP_stop_grad ? rw->in[0] : rewrite_copy(rw, n);
}
bool pass_autodiff(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct graph *g;
    return rewrite_graph(in, sink, visit_grad, NULL, &g) &&
           rewrite_sorted(g, sink, visit_stop, NULL, NULL, out);
}
