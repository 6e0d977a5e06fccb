/* Building nodes by meaning: views, leaves of trees, reductions, matrix products. */
#include "compiler/build_internal.h"

/* -- views */

static bool rank_ok(struct build *b, int rank)
{
    if (rank >= 0 && rank <= LIMIT_RANK) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2003, b->span, "a tensor of %d axes: at most %d are possible", rank, LIMIT_RANK);
    return false;
}
static struct type shaped(enum dtype t, int rank, const dim *shape)
{
    struct type out = {.dtype = t, .rank = rank};
    for (int i = 0; i < rank; i++) {
        out.dim[i] = shape[i];
    }
    return out;
}
val build_reshape(struct build *b, val x, int rank, const dim *shape)
{
    if (!x || !rank_ok(b, rank)) {
        return 0;
    }
    struct type from = node_type(b->g, x), to = shaped(from.dtype, rank, shape);
    if (type_equal(&from, &to)) {
        return x;
    }
    struct node_spec s = build_spec(b, OP_reshape, &x, 1);
    s.type = to;
    return graph_add(b->g, &s, b->sink);
}
val build_permute(struct build *b, val x, const int *perm)
{
    int64_t attr[LIMIT_RANK];
    bool identity = true;
    if (!x) {
        return 0;
    }
    int rank = node_type(b->g, x).rank;
    for (int i = 0; i < rank; i++) {
        attr[i] = perm[i];
        identity &= perm[i] == i;
    }
    if (identity) {
        return x;
    }
    struct node_spec s = build_spec(b, OP_permute, &x, 1);
    s.attr = attr;
    s.n_attr = (uint32_t)rank;
    return graph_add(b->g, &s, b->sink);
}
val build_turn(struct build *b, val x)
{
    int perm[LIMIT_RANK], rank = x ? node_type(b->g, x).rank : 0;
    for (int i = 0; i < rank; i++) {
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    }
    return build_permute(b, x, perm);
}
val build_unit(struct build *b, val x, int axis)
{
    if (!x || !rank_ok(b, node_type(b->g, x).rank + 1)) {
        return 0;
    }
    struct type t = node_type(b->g, x), to = t;
    for (int i = axis; i < t.rank; i++) {
        to.dim[i + 1] = t.dim[i];
    }
    to.dim[axis] = dim_const(&b->g->dims, 1);
    return build_reshape(b, x, t.rank + 1, to.dim);
}
/* Puts unit axes in front until the rank is reached. */
static val lead_units(struct build *b, val x, int rank)
{
    struct type t = node_type(b->g, x);
    dim shape[LIMIT_RANK];
    int lead = rank - t.rank;
    for (int i = 0; i < rank; i++) {
        shape[i] = i < lead ? dim_const(&b->g->dims, 1) : t.dim[i - lead];
    }
    return build_reshape(b, x, rank, shape);
}
val build_expand(struct build *b, val x, int rank, const dim *shape)
{
    if (!x || !rank_ok(b, rank)) {
        return 0;
    }
    struct type from = node_type(b->g, x), to = shaped(from.dtype, rank, shape);
    if (from.rank < rank) {
        x = lead_units(b, x, rank);
        if (!x) {
            return 0;
        }
        from = node_type(b->g, x);
    }
    if (type_equal(&from, &to)) {
        return x;
    }
    struct node_spec s = build_spec(b, OP_expand, &x, 1);
    s.type = to;
    return graph_add(b->g, &s, b->sink);
}
val build_slice(struct build *b, val x, const dim *start, const int64_t *step, const dim *size)
{
    if (!x) {
        return 0;
    }
    struct type t = node_type(b->g, x);
    struct node_spec s = build_spec(b, OP_slice, &x, 1);
    s.attr = step;
    s.n_attr = (uint32_t)t.rank;
    s.dims = start;
    s.n_dim = (uint32_t)t.rank;
    s.type = shaped(t.dtype, t.rank, size);
    return graph_add(b->g, &s, b->sink);
}
val build_part(struct build *b, val x, int axis, dim from, dim size, int64_t step)
{
    dim start[LIMIT_RANK];
    int64_t steps[LIMIT_RANK];
    if (!x) {
        return 0;
    }
    struct type t = node_type(b->g, x);
    for (int i = 0; i < t.rank; i++) {
        start[i] = i == axis ? from : dim_const(&b->g->dims, 0);
        steps[i] = i == axis ? step : 1;
    }
    t.dim[axis] = size;
    return build_slice(b, x, start, steps, t.dim);
}
val build_pad(struct build *b, val x, const dim *start, const int64_t *step, const struct type *t)
{
    if (!x) {
        return 0;
    }
    struct node_spec s = build_spec(b, OP_pad, &x, 1);
    s.attr = step;
    s.n_attr = (uint32_t)t->rank;
    s.dims = start;
    s.n_dim = (uint32_t)t->rank;
    s.type = *t;
    return graph_add(b->g, &s, b->sink);
}

/* -- moving */

enum { CONCAT_PARTS = 32 }; /* of one node: a part is a launch on CUDA */
val build_concat(struct build *b, const val *in, uint32_t n, int axis)
{
    if (n == 1) {
        return in[0];
    }
    if (n > CONCAT_PARTS) {
        uint32_t k = 0, each = (n + CONCAT_PARTS - 1) / CONCAT_PARTS;
        val part[CONCAT_PARTS];
        for (uint32_t i = 0; i < n; i += each) {
            part[k++] = build_concat(b, in + i, n - i < each ? n - i : each, axis);
        }
        return build_concat(b, part, k, axis);
    }
    return build_attrs(b, OP_concat, in, n, (int64_t[]){axis}, 1);
}
/* The joined value is one longer, so that an axis of length 0 needs no special case. */
val build_shift(struct build *b, val x, int axis, bool up, double fill)
{
    struct dims *d = &b->g->dims;
    struct type t = x ? node_type(b->g, x) : (struct type){0}, end = t;
    end.dim[axis] = dim_const(d, 1);
    val edge = x ? build_full(b, &end, fill) : 0;
    if (!edge) {
        return 0;
    }
    val all = build_concat(b, up ? (val[]){edge, x} : (val[]){x, edge}, 2, axis);
    return build_part(b, all, axis, dim_const(d, !up), t.dim[axis], 1);
}
val build_iota(struct build *b, dim n)
{
    struct node_spec s = build_spec(b, OP_iota, NULL, 0);
    s.type = (struct type){.dtype = DT_I32, .rank = 1, .dim = {n}};
    return graph_add(b->g, &s, b->sink);
}
val build_spread(struct build *b, val v, val i, dim size)
{
    struct node_spec s = build_spec(b, OP_spread, (val[]){v, i}, 2);
    if (!v || !i) {
        return 0;
    }
    s.type = node_type(b->g, v);
    s.type.dim[s.type.rank - 1] = size;
    return graph_add(b->g, &s, b->sink);
}

/* -- trees */

struct type build_tree_type(struct build *b, uint32_t tree, enum dtype t)
{
    return (struct type){.dtype = t, .rank = 1, .dim = {dim_tree(&b->g->dims, tree)}};
}
val build_leaf(struct build *b, val flat, uint32_t tree, uint32_t leaf)
{
    if (!flat) {
        return 0;
    }
    struct node_spec s = build_spec(b, OP_leaf, &flat, 1);
    s.attr = (int64_t[]){leaf};
    s.n_attr = 1;
    s.type = b->g->vars.at[b->g->trees.at[tree].leaf[leaf]].type;
    if (graph_node(b->g, flat)->rank == 2) { /* of replicas */
        s.type = type_stacked(s.type, b->g->n_replicas);
    }
    s.type.dtype = node_type(b->g, flat).dtype;
    return graph_add(b->g, &s, b->sink);
}
val build_pack(struct build *b, uint32_t tree, const val *leaf)
{
    const struct tree *t = &b->g->trees.at[tree];
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        if (!leaf[i]) {
            return 0;
        }
    }
    struct node_spec s = build_spec(b, OP_pack, leaf, t->n_leaf);
    s.attr = (int64_t[]){tree};
    s.n_attr = 1;
    s.type = build_tree_type(b, tree, t->n_leaf ? node_type(b->g, leaf[0]).dtype : DT_F32);
    if (t->n_leaf && graph_node(b->g, leaf[0])->rank > b->g->vars.at[t->leaf[0]].type.rank) {
        s.type = type_stacked(s.type, b->g->n_replicas);
    }
    return graph_add(b->g, &s, b->sink);
}

/* -- reductions */

/* bool counts: its sum is i32, its mean f32. */
static val countable(struct build *b, enum op op, val x)
{
    if (node_type(b->g, x).dtype != DT_BOOL || (op != OP_sum && op != OP_mean)) {
        return x;
    }
    return build_cast(b, x, op == OP_sum ? DT_I32 : DT_F32);
}
static val unit_axes(struct build *b, val reduced, const struct type *t, const int64_t *axes, int n_axes)
{
    dim shape[LIMIT_RANK];
    for (int i = 0, k = 0; i < t->rank; i++) {
        bool gone = k < n_axes && axes[k] == i;
        shape[i] = gone ? dim_const(&b->g->dims, 1) : t->dim[i];
        k += gone;
    }
    return build_reshape(b, reduced, t->rank, shape);
}
val build_reduce(struct build *b, enum op op, val x, const int *axes, int n_axes, bool keep)
{
    int64_t attr[LIMIT_RANK];
    x = x ? countable(b, op, x) : 0;
    if (!x || !build_accepts(b, op, op_table[op].sig, x)) {
        return 0;
    }
    struct type t = node_type(b->g, x);
    int n = n_axes < 0 ? t.rank : n_axes;
    for (int i = 0; i < n; i++) {
        attr[i] = n_axes < 0 ? i : axes[i];
        if (attr[i] < 0 || attr[i] >= t.rank) {
            diag_emit(b->sink, DIAG_E2005, b->span, "`%s` over axis %d of %s", op_text(op), (int)attr[i],
                      build_type_text(b, x));
            return 0;
        }
    }
    if (n == 0) {
        return x;
    }
    struct node_spec s = build_spec(b, op, &x, 1);
    s.attr = attr;
    s.n_attr = (uint32_t)n;
    val r = graph_add(b->g, &s, b->sink);
    return keep && r ? unit_axes(b, r, &t, attr, n) : r;
}
val build_sum_to(struct build *b, val x, const struct type *t)
{
    int axes[LIMIT_RANK], n = 0;
    if (!x) {
        return 0;
    }
    struct type from = node_type(b->g, x);
    int lead = from.rank - t->rank;
    for (int i = 0; i < from.rank; i++) {
        if (i < lead || (build_is_unit(b, t->dim[i - lead]) && !build_is_unit(b, from.dim[i]))) {
            axes[n++] = i;
        }
    }
    return build_reshape(b, build_reduce(b, OP_sum, x, axes, n, false), t->rank, t->dim);
}

/* -- matrix product */

static bool matrix_ok(struct build *b, val x, const char *side)
{
    if (node_type(b->g, x).rank >= 2) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2003, b->span, "`@` needs matrices, its %s operand is %s", side,
              build_type_text(b, x));
    if (node_type(b->g, x).rank == 1) {
        diag_help(b->sink, "make it a row with `x[_, :]` or a column with `x[:, _]`");
    }
    return false;
}
static bool inner_ok(struct build *b, val x, val w)
{
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    dim k = s.dim[s.rank - 1], l = t.dim[t.rank - 2];
    if (k == l) {
        return true;
    }
    diag_emit(b->sink, DIAG_E2012, b->span, "`@` needs equal inner dimensions, found %s and %s",
              build_dim_text(b, k), build_dim_text(b, l));
    diag_note(b->sink, "the operands are %s and %s", build_type_text(b, x), build_type_text(b, w));
    return false;
}
static val add_matmul(struct build *b, val x, val w)
{
    struct node_spec s = build_spec(b, OP_matmul, (val[]){x, w}, 2);
    return x && w ? graph_add(b->g, &s, b->sink) : 0;
}
/* x[.., I] @ w[I, O]: one product over all leading axes. */
static val flat_matmul(struct build *b, val x, val w)
{
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    dim rows = dim_const(&b->g->dims, 1);
    for (int i = 0; i + 1 < s.rank; i++) {
        rows = dim_mul(&b->g->dims, rows, s.dim[i]);
    }
    val y = add_matmul(b, build_reshape(b, x, 2, (dim[]){rows, s.dim[s.rank - 1]}), w);
    s.dim[s.rank - 1] = t.dim[1];
    return build_reshape(b, y, s.rank, s.dim);
}
/* Leading axes of both, right-aligned; the last two stay. */
static bool join_leading(struct build *b, val x, val w, struct type *s, struct type *t)
{
    int rank = s->rank > t->rank ? s->rank : t->rank;
    struct type u = *s, v = *t;
    for (int i = 0; i < rank - 2; i++) {
        int p = i - (rank - s->rank), q = i - (rank - t->rank);
        dim d = p >= 0 ? s->dim[p] : dim_const(&b->g->dims, 1),
            e = q >= 0 ? t->dim[q] : dim_const(&b->g->dims, 1);
        if (d != e && !build_is_unit(b, d) && !build_is_unit(b, e)) {
            diag_emit(b->sink, DIAG_E2001, b->span,
                      "`@` needs equal leading axes, found %s and %s: %s and %s differ",
                      build_type_text(b, x), build_type_text(b, w), build_dim_text(b, d),
                      build_dim_text(b, e));
            diag_help(b->sink, "make a unit axis with `_`, as in `x[_]`, where matrices are to be repeated");
            return false;
        }
        u.dim[i] = v.dim[i] = build_is_unit(b, d) ? e : d;
    }
    for (int i = 1; i <= 2; i++) {
        u.dim[rank - i] = s->dim[s->rank - i];
        v.dim[rank - i] = t->dim[t->rank - i];
    }
    u.rank = v.rank = rank;
    *s = u;
    *t = v;
    return true;
}
val build_matmul(struct build *b, val x, val w)
{
    if (!x || !w || !build_accepts(b, OP_matmul, SIG_FLOAT, x) || !build_same_dtype(b, OP_matmul, x, w) ||
        !matrix_ok(b, x, "left") || !matrix_ok(b, w, "right") || !inner_ok(b, x, w)) {
        return 0;
    }
    struct type s = node_type(b->g, x), t = node_type(b->g, w);
    if (t.rank == 2) {
        return s.rank == 2 ? add_matmul(b, x, w) : flat_matmul(b, x, w);
    }
    if (!join_leading(b, x, w, &s, &t)) {
        return 0;
    }
    x = build_expand(b, x, s.rank, s.dim);
    w = build_expand(b, w, t.rank, t.dim);
    return add_matmul(b, x, w);
}
