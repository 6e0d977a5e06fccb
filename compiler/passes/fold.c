/* Constant folding. A constant is a rank-0 `const` seen through views; a folded value becomes such a constant
 * again. */
#include "compiler/passes.h"

static bool is_view(enum op op)
{
    return op == OP_reshape || op == OP_expand || op == OP_permute || op == OP_slice;
}
val splat_of(const struct graph *g, val v)
{
    val scalar = 0;
    for (;;) {
        const struct node *n = graph_node(g, v);
        scalar = n->rank == 0 ? v : scalar;
        if (!is_view((enum op)n->op)) {
            return scalar;
        }
        v = node_inputs(g, n)[0];
    }
}
bool constant_of(const struct graph *g, val v, double *x)
{
    val s = v ? splat_of(g, v) : 0;
    if (!s || graph_node(g, s)->op != OP_const) {
        return false;
    }
    const struct node *n = graph_node(g, s);
    *x = bits_f64(node_attrs(g, n)[0]);
    return true;
}

static val full(struct rewrite *rw, const struct node *n, double x)
{
    struct type t = rewrite_type(rw, n);
    return build_full(&rw->b, &t, x);
}

static val fold_elem(struct rewrite *rw, const struct node *n)
{
    double x[3] = {0}, r;
    if (n->op == OP_where && constant_of(rw->g, rw->in[0], x)) {
        return rw->in[x[0] != 0 ? 1 : 2];
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!constant_of(rw->g, rw->in[i], &x[i])) {
            return 0;
        }
    }
    enum dtype in = node_type(rw->g, rw->in[n->n_in - 1]).dtype;
    return elem_eval((enum op)n->op, in, (enum dtype)n->dtype, x, &r) ? full(rw, n, r) : 0;
}
static val fold_view(struct rewrite *rw, const struct node *n)
{
    double x;
    return constant_of(rw->g, rw->in[0], &x) ? full(rw, n, x) : 0;
}
/* What is neutral stays neutral over any number of elements; the largest of equal values is any of them. */
static val fold_reduce(struct rewrite *rw, const struct node *n)
{
    double x;
    if (!constant_of(rw->g, rw->in[0], &x)) {
        return 0;
    }
    struct type t = node_type(rw->g, rw->in[0]);
    bool some = true;
    for (uint32_t i = 0; i < n->n_attr; i++) {
        int64_t size;
        some &= dim_is_const(&rw->g->dims, t.dim[node_attrs(rw->old, n)[i]], &size) && size > 0;
    }
    bool neutral = (n->op == OP_sum && x == 0) || (n->op == OP_all && x != 0) ||
                   (n->op == OP_any && x == 0) || (n->op == OP_prod && x == 1);
    bool same = n->op == OP_amax || n->op == OP_amin || n->op == OP_all || n->op == OP_any;
    return neutral || (same && some) ? full(rw, n, x) : 0;
}
static val fold_dimval(struct rewrite *rw, const struct node *n)
{
    int64_t v;
    if (!dim_is_const(&rw->g->dims, node_dims(rw->old, n)[0], &v)) {
        return 0;
    }
    return build_const(&rw->b, (enum dtype)n->dtype, (double)v);
}
static val fold_ranges(struct rewrite *rw, const struct node *n)
{
    const int64_t *a = node_attrs(rw->old, n);
    for (uint32_t i = 3; i < n->n_attr; i += 2) {
        if (a[i] != a[1]) {
            return 0;
        }
    }
    return full(rw, n, bits_f64(a[1]));
}
/* A leaf of a constant block, or of one that is constant leaf by leaf. */
static val fold_leaf(struct rewrite *rw, const struct node *n)
{
    const struct node *block = graph_node(rw->g, rw->in[0]);
    if (block->op != OP_ranges) {
        return fold_view(rw, n);
    }
    const int64_t *a = node_attrs(rw->g, block), leaf = node_attrs(rw->old, n)[0];
    double x = bits_f64(a[1]);
    for (uint32_t i = 2; i < block->n_attr; i += 2) {
        x = a[i] == leaf ? bits_f64(a[i + 1]) : x;
    }
    return full(rw, n, x);
}
/* Zeros written into zeros. */
static val fold_zeros(struct rewrite *rw, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        double x;
        if (!constant_of(rw->g, rw->in[i], &x) || x != 0) {
            return 0;
        }
    }
    return full(rw, n, 0);
}

static val (*const folders[OP_COUNT])(struct rewrite *, const struct node *) = {
    [OP_reshape] = fold_view,  [OP_expand] = fold_view, [OP_permute] = fold_view, [OP_slice] = fold_view,
    [OP_leaf] = fold_leaf,     [OP_sum] = fold_reduce,  [OP_amax] = fold_reduce,  [OP_amin] = fold_reduce,
    [OP_all] = fold_reduce,    [OP_any] = fold_reduce,  [OP_prod] = fold_reduce,  [OP_dimval] = fold_dimval,
    [OP_ranges] = fold_ranges, [OP_pack] = fold_zeros,  [OP_pad] = fold_zeros,
};
val fold_node(struct rewrite *rw, const struct node *n)
{
    if (op_table[n->op].kind == OPK_ELEM) {
        return fold_elem(rw, n);
    }
    return folders[n->op] ? folders[n->op](rw, n) : 0;
}
static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    val v = fold_node(rw, n);
    return v ? v : rewrite_copy(rw, n);
}
bool pass_fold(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    return rewrite_graph(in, sink, visit, NULL, out);
}
