/* Parameter trees as values over one flat block. Leafwise arithmetic is elementwise on the block; what the
 * padding between leaves holds is followed (enum pad), so that reductions and commits are masked only where
 * it is not provably zero. `tagged` and arithmetic on it are settled here, a number for each leaf, and become
 * a `ranges` node only beside a tree.
 */
#include <math.h>
#include <stdlib.h>
#include "compiler/elab.h"
#include "compiler/passes.h"

static const struct tree_facts *directory(struct elab *e, uint32_t tree)
{
    return tree < e->facts.trees.n ? &e->facts.trees.at[tree] : NULL;
}
static uint32_t leaf_count(struct elab *e, uint32_t tree)
{
    const struct tree_facts *d = directory(e, tree);
    return d ? d->leaf.n : 0;
}

struct type tree_type(struct elab *e, uint32_t tree)
{
    const struct tree_facts *d = directory(e, tree);
    return build_tree_type(&e->b, tree, d && d->dtype != DT_NONE ? d->dtype : DT_F32);
}

struct value tree_value(struct elab *e, uint32_t tree, struct span at)
{
    struct node_spec s = {.op = OP_tree,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){tree},
                          .n_attr = 1,
                          .type = tree_type(e, tree),
                          .span = at,
                          .scope = e->b.scope};
    return (struct value){
        .kind = V_TREE, .node = graph_add(e->g, &s, e->sink), .tree = tree, .pad = PAD_ZERO};
}

/* -- a number for each leaf */

static bool uniform(struct elab *e, struct value v, double *x)
{
    uint32_t n = leaf_count(e, v.index);
    *x = n ? v.leaf[0] : 0;
    for (uint32_t i = 1; i < n; i++) {
        if (v.leaf[i] != *x) {
            return false;
        }
    }
    return true;
}
static struct value tags_simplified(struct elab *e, struct value v)
{
    double x;
    if (v.kind != V_TAGS || !uniform(e, v, &x)) {
        return v;
    }
    return v.is_bool ? bool_value(x != 0) : num_value(x, v.is_int);
}
static struct value scalar_at(struct value v, uint32_t i)
{
    if (v.kind != V_TAGS) {
        return v;
    }
    return v.is_bool ? bool_value(v.leaf[i] != 0) : num_value(v.leaf[i], v.is_int);
}
/* All operands are TAGS or constants: folds leaf by leaf. */
static struct value fold_tags(struct elab *e, enum op op, const struct value *in, uint32_t n, uint32_t tree,
                              const struct site *s)
{
    uint32_t leaves = leaf_count(e, tree);
    double *leaf = arena_array(e->arena, double, leaves ? leaves : 1);
    struct value r = {.kind = V_TAGS, .index = tree, .leaf = leaf, .is_int = true};
    for (uint32_t i = 0; i < leaves; i++) {
        struct value one[3], x;
        for (uint32_t k = 0; k < n; k++) {
            one[k] = scalar_at(in[k], i);
        }
        x = elementwise(e, op, one, n, s);
        if (x.kind == V_POISON) {
            return x;
        }
        r.is_bool = x.kind == V_BOOL;
        r.is_int = r.is_int && x.kind == V_NUM && x.is_int;
        leaf[i] = x.kind == V_BOOL ? x.b : x.num;
    }
    return tags_simplified(e, r);
}
static val ranges_node(struct elab *e, uint32_t tree, double otherwise, const double *leaf)
{
    uint32_t n = leaf_count(e, tree);
    int64_t *attr = arena_array(e->arena, int64_t, 2 + 2 * (size_t)n);
    struct node_spec s = {
        .op = OP_ranges, .phase = e->b.phase, .span = e->b.span, .scope = e->b.scope, .attr = attr};
    attr[s.n_attr++] = tree;
    attr[s.n_attr++] = f64_bits(otherwise);
    for (uint32_t i = 0; i < n; i++) {
        double x = leaf ? leaf[i] : 1;
        if (x != otherwise) {
            attr[s.n_attr++] = i;
            attr[s.n_attr++] = f64_bits(x);
        }
    }
    s.type = tree_type(e, tree);
    return graph_add(e->g, &s, e->sink);
}
/* The most frequent value stands for everything that is not listed, padding included. */
static double usual(struct elab *e, struct value v)
{
    struct count {
        double x;
        uint32_t n;
    };
    uint32_t n = leaf_count(e, v.index), kinds = 0, best = 0;
    struct count *c = arena_array(e->arena, struct count, n ? n : 1); /* few differ: tags make the numbers */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        while (k < kinds && c[k].x != v.leaf[i]) {
            k++;
        }
        kinds += k == kinds;
        c[k] = (struct count){v.leaf[i], c[k].n + 1};
    }
    for (uint32_t k = 1; k < kinds; k++) {
        best = c[k].n > c[best].n ? k : best;
    }
    return n ? c[best].x : 0;
}

/* -- padding */

static enum pad pad_of(struct elab *e, struct value v)
{
    if (v.kind == V_TREE) {
        return (enum pad)v.pad;
    }
    if (v.kind == V_TAGS) {
        return usual(e, v) == 0 ? PAD_ZERO : PAD_NONZERO;
    }
    if (v.kind == V_NUM && v.known && !v.live) {
        return v.num == 0 ? PAD_ZERO : PAD_NONZERO;
    }
    return PAD_SCALAR;
}
static enum pad pad_product(enum pad a, enum pad b)
{
    if (a == PAD_ZERO || b == PAD_ZERO) {
        return PAD_ZERO;
    }
    return a == PAD_NONZERO && b == PAD_NONZERO ? PAD_NONZERO : PAD_UNKNOWN;
}
static enum pad pad_sum(enum pad a, enum pad b)
{
    if (a == PAD_ZERO && b == PAD_ZERO) {
        return PAD_ZERO;
    }
    return (a == PAD_ZERO && b == PAD_NONZERO) || (a == PAD_NONZERO && b == PAD_ZERO) ? PAD_NONZERO
                                                                                      : PAD_UNKNOWN;
}
/* A function of one value, where its padding is known. */
static enum pad pad_function(enum op op, enum pad p)
{
    double at_zero, zero[3] = {0};
    if (p != PAD_ZERO || !elem_eval(op, DT_F64, DT_F64, zero, &at_zero) || !isfinite(at_zero)) {
        return PAD_UNKNOWN;
    }
    return at_zero == 0 ? PAD_ZERO : PAD_NONZERO;
}
/* What an operator makes of the padding of its operands. A scalar divisor that is zero spoils every leaf as
 * well, so 0 / scalar counts as zero. */
static enum pad pad_result(enum op op, const enum pad *p)
{
    switch (op) {
    case OP_mul:
        return pad_product(p[0], p[1]);
    case OP_div:
        return p[0] == PAD_ZERO && (p[1] == PAD_NONZERO || p[1] == PAD_SCALAR) ? PAD_ZERO : PAD_UNKNOWN;
    case OP_add:
    case OP_sub:
        return pad_sum(p[0], p[1]);
    case OP_max:
    case OP_min:
        return p[0] == PAD_ZERO && p[1] == PAD_ZERO ? PAD_ZERO : PAD_UNKNOWN;
    case OP_where:
        return p[1] == PAD_ZERO && p[2] == PAD_ZERO ? PAD_ZERO : PAD_UNKNOWN;
    case OP_pow:
        return p[0] == PAD_ZERO && p[1] == PAD_NONZERO ? PAD_ZERO : PAD_UNKNOWN;
    case OP_neg:
    case OP_abs:
    case OP_sign:
        return p[0] == PAD_SCALAR ? PAD_UNKNOWN : p[0];
    default:
        return op_table[op].n_max == 1 ? pad_function(op, p[0]) : PAD_UNKNOWN;
    }
}
/* Whether the larger (the smaller) of zero and this number is zero. */
static bool leaves_zero(enum op op, struct value v)
{
    return v.kind == V_NUM && v.known && !v.live && (op == OP_max ? v.num <= 0 : v.num >= 0);
}
/* A power with a negative exponent is not zero at zero. */
static enum pad pad_after(struct elab *e, enum op op, const struct value *in, uint32_t n)
{
    enum pad p[3] = {0};
    for (uint32_t i = 0; i < n; i++) {
        p[i] = pad_of(e, in[i]);
    }
    if (op == OP_pow && !(in[1].kind == V_NUM && in[1].known && in[1].num > 0)) {
        return PAD_UNKNOWN;
    }
    if ((op == OP_max || op == OP_min) &&
        ((p[0] == PAD_ZERO && leaves_zero(op, in[1])) || (p[1] == PAD_ZERO && leaves_zero(op, in[0])))) {
        return PAD_ZERO;
    }
    return pad_result(op, p);
}

/* -- operators */

static struct value wrap(struct elab *e, struct value v, uint32_t tree, enum pad pad)
{
    if (v.kind != V_TENSOR) {
        return v;
    }
    (void)e;
    return (struct value){.kind = V_TREE, .node = v.node, .tree = tree, .pad = pad};
}
/* The operand as a flat tensor or a scalar. */
static struct value flat(struct elab *e, struct value v)
{
    if (v.kind == V_TREE) {
        return tensor_value(v.node, 0);
    }
    if (v.kind == V_TAGS) {
        val r = ranges_node(e, v.index, usual(e, v), v.leaf);
        return tensor_value(
            v.is_bool ? build_2(&e->b, OP_ne, r, build_const(&e->b, tree_type(e, v.index).dtype, 0)) : r, 0);
    }
    return v;
}
static struct value tree_error(struct elab *e, const struct value *in, uint32_t n, const struct site *s)
{
    fail(e, DIAG_E2101, s->at, "a tree combines with the same tree or with a scalar");
    for (uint32_t i = 0; i < n; i++) {
        label_operand(e, s->env, s->operand[i], in[i]);
    }
    diag_help(e->sink, "each(f, tree) applies a fn to every leaf");
    return poison();
}
struct value tree_op(struct elab *e, enum op op, const struct value *given, uint32_t n, const struct site *s)
{
    struct value in[3], node[3];
    int tree = -1;
    bool any_node = false, any_tags = false;
    build_at(e, s->at);
    for (uint32_t i = 0; i < n; i++) {
        in[i] = tags_simplified(e, given[i]);
        in[i] = tree >= 0 ? tree_as(e, in[i], (uint32_t)tree) : in[i];
        if (in[i].kind == V_POISON) {
            return in[i];
        }
        int t = in[i].kind == V_TREE ? (int)in[i].tree : in[i].kind == V_TAGS ? (int)in[i].index : -1;
        if ((t < 0 && !is_scalar(e, in[i])) || (t >= 0 && tree >= 0 && t != tree)) {
            return tree_error(e, given, n, s);
        }
        tree = t >= 0 ? t : tree;
        any_tags |= in[i].kind == V_TAGS;
        any_node |= in[i].kind == V_TREE || in[i].kind == V_TENSOR ||
                    (is_scalar_static(in[i]) && in[i].kind != V_DIM && in[i].live) || in[i].kind == V_DIM;
    }
    if (tree < 0 || (op == OP_where && in[0].kind == V_BOOL && in[0].known && !in[0].live)) {
        return elementwise(e, op, in, n, s);
    }
    if (any_tags && !any_node) {
        return fold_tags(e, op, in, n, (uint32_t)tree, s);
    }
    for (uint32_t i = 0; i < n; i++) {
        node[i] =
            in[i].kind == V_TENSOR ? scalar_as(e, in[i], tree_type(e, (uint32_t)tree).dtype) : flat(e, in[i]);
    }
    struct value r = elementwise(e, op, node, n, s);
    return wrap(e, r, (uint32_t)tree, pad_after(e, op, in, n));
}
struct value tree_masked(struct elab *e, struct value x, double fill)
{
    if (x.kind != V_TREE || (x.pad == PAD_ZERO && fill == 0)) {
        return x;
    }
    val leaves = ranges_node(e, x.tree, 0, NULL);
    enum dtype t = node_type(e->g, x.node).dtype;
    val mask = build_2(&e->b, OP_ne, leaves, build_const(&e->b, node_type(e->g, leaves).dtype, 0));
    val other = build_const(&e->b, t, fill);
    return wrap(e, tensor_value(build_3(&e->b, OP_where, mask, x.node, other), 0), x.tree,
                fill == 0 ? PAD_ZERO : PAD_UNKNOWN);
}
/* What leaves the result of a reduction alone. */
static double identity(enum op op)
{
    return op == OP_amax                   ? -(double)INFINITY
           : op == OP_amin                 ? (double)INFINITY
           : op == OP_all || op == OP_prod ? 1
                                           : 0;
}
struct value tree_reduce(struct elab *e, enum op op, struct value x, const struct site *s)
{
    build_at(e, s->at);
    if (op == OP_mean) {
        fail(e, DIAG_E2021, s->at, "mean over a tree: of the leaves, or of the elements?");
        diag_help(e->sink, "sum(x) runs over every element of every leaf");
        return poison();
    }
    if (x.kind == V_TAGS) {
        x = wrap(e, flat(e, x), x.index, PAD_UNKNOWN);
    }
    return tensor_value(build_reduce(&e->b, op, tree_masked(e, x, identity(op)).node, NULL, -1, false), 0);
}

/* -- tags, leaves */

static bool has_tag(const char *tags, const char *tag)
{
    size_t n = strlen(tag);
    for (const char *p = tags; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (!strncmp(p, tag, n) && (p[n] == ',' || p[n] == 0)) {
            return true;
        }
    }
    return false;
}
bool var_tagged(struct elab *e, uint32_t var, const char *tag)
{
    return has_tag(e->vars.at[var].tags, tag);
}
struct value tree_tagged(struct elab *e, struct value p, const char *tag)
{
    const struct tree_facts *d = directory(e, p.tree);
    uint32_t n = d ? d->leaf.n : 0;
    double *leaf = arena_array(e->arena, double, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        leaf[i] = has_tag(d->tags.at[i], tag);
    }
    struct value v = {.kind = V_TAGS, .index = p.tree, .leaf = leaf, .is_bool = true};
    return tags_simplified(e, v);
}
/* Leaves have variables only once all phases declared theirs, so the directory of the previous attempt names
 * them. */
static bool leaves_known(struct elab *e, uint32_t tree)
{
    const struct tree_facts *d = directory(e, tree);
    struct tree *t = &e->g->trees.at[tree];
    for (uint32_t i = 0; d && i < d->leaf.n; i++) {
        t->leaf[i] = find_variable(e, d->leaf.at[i]);
        if (!t->leaf[i]) {
            return false;
        }
    }
    return d != NULL;
}
/* What is known of the leaves is known after the phase that makes them: this one waits for it. */
static struct value leaves_missing(struct elab *e, uint32_t tree, struct span at)
{
    if (wait_for_later(e)) {
        return poison();
    }
    fail(e, DIAG_E1003, at, "the parameters of %s are not made yet", e->g->trees.at[tree].name);
    diag_help(e->sink, "they exist from the first application of their layer on");
    return poison();
}
struct value tree_each(struct elab *e, struct value f, struct value *in, uint32_t n, struct env *env,
                       struct ast *at)
{
    uint32_t tree = in[0].tree;
    if (!directory(e, tree)) {
        return in[0];
    }
    if (!leaves_known(e, tree)) {
        return leaves_missing(e, tree, at->span);
    }
    uint32_t leaves = e->g->trees.at[tree].n_leaf;
    val *out = arena_array(e->arena, val, leaves ? leaves : 1);
    for (uint32_t i = 0; i < leaves; i++) {
        struct value arg[4];
        struct span span[4] = {at->span, at->span, at->span, at->span};
        const char *name[4] = {0};
        struct ast *ast[4] = {0};
        struct args a = {n, arg, name, span, ast};
        build_at(e, at->span);
        for (uint32_t k = 0; k < n; k++) {
            arg[k] = in[k].kind == V_TREE ? tensor_value(build_leaf(&e->b, in[k].node, tree, i), 0) : in[k];
        }
        struct type want = e->g->vars.at[e->g->trees.at[tree].leaf[i]].type, t;
        out[i] = want_tensor(e, call_value(e, f, &a, env, at), at->span, "the result for a leaf", &t);
        if (out[i] && !type_equal(&want, &t)) {
            fail(e, DIAG_E2030, at->span, "each must keep the type of leaf %s: %s, found %s",
                 e->g->vars.at[e->g->trees.at[tree].leaf[i]].key, type_text(e->g, &want),
                 type_text(e->g, &t));
            diag_help(e->sink, "the new leaf takes the place of the old one: keep its axes");
            out[i] = 0;
        }
    }
    build_at(e, at->span);
    return wrap(e, tensor_value(build_pack(&e->b, tree, out), 0), tree, PAD_ZERO);
}
struct leaf_place {
    uint32_t var, leaf;
    val grad; /* of a part */
};
static int by_var(const void *a, const void *b)
{
    const struct leaf_place *x = a, *y = b;
    return x->var < y->var ? -1 : x->var > y->var;
}
/* The leaves in the order in which the text makes them, which is that of params(x) outside of a tree. */
static struct leaf_place *leaves_in_order(struct elab *e, uint32_t tree)
{
    uint32_t n = leaf_count(e, tree);
    struct leaf_place *p = arena_array(e->arena, struct leaf_place, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        p[i] = (struct leaf_place){.var = e->g->trees.at[tree].leaf[i], .leaf = i};
    }
    qsort(p, n, sizeof *p, by_var);
    return p;
}
const char *tree_leaf_name(struct elab *e, uint32_t tree, uint32_t leaf)
{
    const struct tree_facts *d = directory(e, tree);
    const char *key = d->leaf.at[leaf];
    if (d->over.n != 1) {
        return key;
    }
    size_t n = strlen(d->over.at[0]);
    if (key[n] == '.') {
        return key + n + 1;
    }
    const char *dot = strrchr(key, '.'); /* the tree is this parameter */
    return dot ? dot + 1 : key;
}
/* A tree of one instance has its fields; one of several has a field for each of them. */
struct value tree_record(struct elab *e, struct value p, struct span at)
{
    const struct tree_facts *d = directory(e, p.tree);
    if (!d) {
        return poison();
    }
    if (!leaves_known(e, p.tree)) {
        return leaves_missing(e, p.tree, at);
    }
    struct value r = record_value(e, d->leaf.n);
    const struct leaf_place *place = leaves_in_order(e, p.tree);
    r.record->n = 0;
    build_at(e, at);
    for (uint32_t i = 0; i < d->leaf.n; i++) {
        struct value leaf = tensor_value(build_leaf(&e->b, p.node, p.tree, place[i].leaf), 0);
        record_put(e, r.record, d->leaf.n, tree_leaf_name(e, p.tree, place[i].leaf), leaf);
    }
    return record_lists(e, r);
}
struct value tree_with_leaf(struct elab *e, struct value t, uint32_t leaf, val v)
{
    uint32_t n = leaf_count(e, t.tree);
    val *in = arena_array(e->arena, val, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        in[i] = i == leaf ? v : build_leaf(&e->b, t.node, t.tree, i);
    }
    return wrap(e, tensor_value(build_pack(&e->b, t.tree, in), 0), t.tree, PAD_ZERO);
}
struct value tree_initial(struct elab *e, uint32_t tree, struct span at)
{
    uint32_t n = leaf_count(e, tree);
    val *in = arena_array(e->arena, val, n ? n : 1);
    if (!leaves_known(e, tree)) {
        return leaves_missing(e, tree, at);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct value v = {.kind = V_VAR, .index = e->g->trees.at[tree].leaf[i]};
        in[i] = storage_value(e, v, at).node;
    }
    build_at(e, at);
    return wrap(e, tensor_value(build_pack(&e->b, tree, in), 0), tree, PAD_ZERO);
}

/* -- trees of equal layout: that of an instance and of its frozen copy */

/* 1 = leaf for leaf the same, 0 = not, -1 = a later attempt knows. */
static int same_layout(struct elab *e, uint32_t a, uint32_t b)
{
    const struct tree_facts *x = directory(e, a), *y = directory(e, b);
    if (!x || !y) {
        return -1;
    }
    bool same = x->over.n == 1 && y->over.n == 1 && x->leaf.n == y->leaf.n && x->dtype == y->dtype;
    for (uint32_t i = 0; same && i < x->leaf.n; i++) {
        same = !strcmp(tree_leaf_name(e, a, i), tree_leaf_name(e, b, i));
    }
    if (!same) {
        return 0;
    }
    if (!leaves_known(e, a) || !leaves_known(e, b)) {
        return wait_for_later(e) ? -1 : 0;
    }
    for (uint32_t i = 0; same && i < x->leaf.n; i++) {
        const struct type *s = &e->g->vars.at[e->g->trees.at[a].leaf[i]].type,
                          *t = &e->g->vars.at[e->g->trees.at[b].leaf[i]].type;
        same = type_equal(s, t);
    }
    return same;
}
struct value tree_as(struct elab *e, struct value v, uint32_t tree)
{
    if (v.kind != V_TREE || v.tree == tree) {
        return v;
    }
    int same = same_layout(e, tree, v.tree);
    if (same < 0) {
        return poison();
    }
    if (!same) {
        return v;
    }
    struct type t = tree_type(e, tree);
    return wrap(e, tensor_value(build_reshape(&e->b, v.node, t.rank, t.dim), 0), tree, (enum pad)v.pad);
}

/* -- which parameters belong to which tree */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
static bool same_over(const struct tree_facts *a, const struct tree_facts *b)
{
    bool same = a->over.n == b->over.n;
    for (uint32_t i = 0; same && i < a->over.n; i++) {
        same = !strcmp(a->over.at[i], b->over.at[i]);
    }
    return same;
}
static bool overlap(const struct tree_facts *a, const struct tree_facts *b)
{
    for (uint32_t i = 0; i < a->over.n; i++) {
        for (uint32_t k = 0; k < b->over.n; k++) {
            if (path_below(a->over.at[i], b->over.at[k]) || path_below(b->over.at[k], a->over.at[i])) {
                return true;
            }
        }
    }
    return false;
}
static const char *tree_name(struct elab *e, const char *name, enum dtype only)
{
    return only ? arena_printf(e->arena, "%s.%s", name, dtype_name(only)) : name;
}
static uint32_t add_tree(struct elab *e, const struct tree_facts *t, bool used)
{
    vec_push(e->arena, &e->trees, *t);
    vec_push(e->arena, &e->tree_used, used);
    uint32_t leaves = leaf_count(e, e->trees.n - 1); /* variables follow when the phases have declared them */
    struct tree g = {.name = tree_name(e, t->name, t->only),
                     .leaf = arena_array(e->arena, uint32_t, leaves ? leaves : 1),
                     .n_leaf = leaves};
    vec_push(e->arena, &e->g->trees, g);
    return e->trees.n - 1;
}
void trees_start(struct elab *e)
{
    e->trees.n = e->tree_used.n = 0;
    for (uint32_t i = 0; i < e->facts.trees.n; i++) {
        const struct tree_facts *f = &e->facts.trees.at[i];
        if (f->over.n) { /* the rest is no tree that anybody names */
            struct tree_facts t = {.name = f->name, .only = f->only};
            t.over.at = f->over.at;
            t.over.n = f->over.n;
            add_tree(e, &t, false);
        }
    }
}
/* The first of the trees with that `over`: several are sides of one, by element type. */
static int find_tree(struct elab *e, const struct tree_facts *t)
{
    int found = -1;
    for (uint32_t i = e->trees.n; i-- > 0;) {
        if (same_over(t, &e->trees.at[i])) {
            e->tree_used.at[i] = true;
            found = (int)i;
        }
    }
    return found;
}
/* Whether every part of a is below one of b. */
static bool inside(const struct tree_facts *a, const struct tree_facts *b)
{
    for (uint32_t i = 0; i < a->over.n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->over.n; k++) {
            found |= path_below(a->over.at[i], b->over.at[k]);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}
/* a with all that b has too; what is below another path goes. */
static void merge(struct elab *e, struct tree_facts *a, const struct tree_facts *b)
{
    struct tree_facts all = {.name = a->name};
    for (uint32_t i = 0; i < a->over.n + b->over.n; i++) {
        const char *path = i < a->over.n ? a->over.at[i] : b->over.at[i - a->over.n];
        struct tree_facts one = {.over = {.at = &path, .n = 1}};
        struct tree_facts rest = all;
        if (inside(&one, &all)) {
            continue;
        }
        all.over.n = all.over.cap = 0;
        all.over.at = NULL;
        for (uint32_t k = 0; k < rest.over.n; k++) {
            if (!path_below(rest.over.at[k], path)) {
                vec_push(e->arena, &all.over, rest.over.at[k]);
            }
        }
        vec_push(e->arena, &all.over, path);
    }
    qsort(all.over.at, all.over.n, sizeof *all.over.at, by_text);
    *a = all;
}
int tree_for(struct elab *e, const char *name, const struct over *o, bool *whole)
{
    struct tree_facts t = {.name = name};
    for (uint32_t i = 0; i < o->path.n; i++) {
        vec_push(e->arena, &t.over, o->path.at[i]);
    }
    qsort(t.over.at, t.over.n, sizeof *t.over.at, by_text);
    int known = find_tree(e, &t);
    *whole = true;
    for (uint32_t i = 0; known < 0 && i < e->trees.n; i++) {
        if (inside(&t, &e->trees.at[i])) {
            *whole = false;
            known = find_tree(e, &e->trees.at[i]);
        } else if (inside(&e->trees.at[i], &t)) { /* the larger one is the block, from the next attempt on */
            e->tree_used.at[i] = false;
        } else if (overlap(&t, &e->trees.at[i])) { /* what both have is: both are parts of it */
            e->tree_used.at[i] = false;
            merge(e, &t, &e->trees.at[i]);
            *whole = false;
            known = find_tree(e, &t);
            i = UINT32_MAX; /* others may be inside now, or overlap */
        }
    }
    *whole = *whole && (known < 0 || !e->trees.at[known].only);
    return known >= 0 ? known : (int)add_tree(e, &t, true);
}
static struct tree_part part_of(struct elab *e, uint32_t tree, const struct over *o)
{
    uint32_t leaves = leaf_count(e, tree);
    struct tree_part p = {.tree = tree, .leaf = arena_array(e->arena, uint32_t, leaves ? leaves : 1)};
    for (uint32_t i = 0; i < leaves; i++) {
        for (uint32_t k = 0; k < o->path.n; k++) {
            if (moves(e, e->facts.trees.at[tree].leaf.at[i], o->path.at[k])) {
                p.leaf[p.n++] = i;
                break;
            }
        }
    }
    return p;
}
bool tree_parts(struct elab *e, uint32_t tree, const struct over *o, struct tree_part **part, uint32_t *n)
{
    bool known = true;
    *part = arena_array(e->arena, struct tree_part, e->trees.n);
    *n = 0;
    for (uint32_t i = tree; i < e->trees.n; i++) {
        struct tree_part p = {0};
        if (same_over(&e->trees.at[tree], &e->trees.at[i])) {
            p = part_of(e, i, o);
        }
        if (p.n) {
            (*part)[(*n)++] = p;
            known &= leaves_known(e, i);
        }
    }
    return *n && known;
}
static const char *name_in(struct elab *e, const struct over *o, uint32_t var)
{
    const char *key = e->g->vars.at[var].key;
    if (o->path.n != 1) {
        return key;
    }
    const char *below = key + strlen(o->path.at[0]), *dot = strrchr(key, '.');
    return *below == '.' ? below + 1 : dot ? dot + 1 : key;
}
struct value tree_part_record(struct elab *e, const struct tree_part *part, uint32_t n, bool grad,
                              const struct over *o)
{
    uint32_t all = 0, k = 0;
    for (uint32_t i = 0; i < n; i++) {
        all += part[i].n;
    }
    struct value r = record_value(e, all);
    struct leaf_place *place = arena_array(e->arena, struct leaf_place, all ? all : 1);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < part[i].n; j++, k++) {
            uint32_t leaf = part[i].leaf[j];
            val v = grad ? build_leaf(&e->b, part[i].grad, part[i].tree, leaf) : 0;
            place[k] = (struct leaf_place){e->g->trees.at[part[i].tree].leaf[leaf], leaf, v};
        }
    }
    qsort(place, all, sizeof *place, by_var);
    r.record->n = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct value v =
            grad ? tensor_value(place[i].grad, 0) : (struct value){.kind = V_VAR, .index = place[i].var};
        record_put(e, r.record, all, name_in(e, o, place[i].var), v);
    }
    return r; /* without lists: it has a type, that of the optimizer's states */
}
int tree_of_instance(struct elab *e, struct inst *i)
{
    for (uint32_t t = 0; t < e->trees.n && t < e->facts.trees.n; t++) {
        if (e->trees.at[t].over.n == 1 && !strcmp(e->trees.at[t].over.at[0], i->path)) {
            return e->trees.at[t].only ? -1 : (int)t;
        }
    }
    return -1;
}
struct leaf_order {
    const char *tags, *key;
    uint32_t var;
};
static int by_order(const void *a, const void *b)
{
    const struct leaf_order *x = a, *y = b;
    int c = strcmp(x->tags, y->tags);
    return c ? c : strcmp(x->key, y->key);
}
static bool owns(struct elab *e, uint32_t tree, uint32_t var)
{
    const struct tree_facts *t = &e->trees.at[tree];
    for (uint32_t i = 0; i < t->over.n; i++) {
        if (moves(e, e->g->vars.at[var].key, t->over.at[i])) {
            return true;
        }
    }
    return false;
}
/* The tree of a parameter: of several for one `over` that of its type, e->trees.n where none has it. */
static uint32_t home(struct elab *e, uint32_t var)
{
    enum dtype type = e->g->vars.at[var].type.dtype;
    uint32_t t = 0;
    while (t < e->trees.n && !(e->tree_used.at[t] && owns(e, t, var))) {
        t++;
    }
    for (uint32_t i = t; i < e->trees.n; i++) {
        const struct tree_facts *side = &e->trees.at[i];
        if ((!side->only || side->only == type) && same_over(&e->trees.at[t], side)) {
            return i;
        }
    }
    return t;
}
/* Parameters of that home in the order of a tree. */
static struct leaf_order *leaves_of(struct elab *e, uint32_t tree, uint32_t *n)
{
    const struct graph *g = e->g;
    struct leaf_order *o = arena_array(e->arena, struct leaf_order, g->vars.n);
    *n = 0;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (g->vars.at[v].kind == VAR_PARAM && home(e, v) == tree) {
            o[(*n)++] = (struct leaf_order){e->vars.at[v].tags, g->vars.at[v].key, v};
        }
    }
    qsort(o, *n, sizeof *o, by_order);
    return o;
}
static enum dtype type_of_leaf(const struct elab *e, const struct leaf_order *o)
{
    return e->g->vars.at[o->var].type.dtype;
}
/* Facts of the leaves of one type; the others are left in o. */
static struct tree_facts facts_of(struct elab *e, const struct tree_facts *like, struct leaf_order *o,
                                  uint32_t *n)
{
    uint32_t rest = 0;
    struct tree_facts f = {.name = like->name, .only = like->only};
    f.over.at = like->over.at;
    f.over.n = like->over.n;
    f.dtype = *n ? type_of_leaf(e, o) : DT_NONE;
    for (uint32_t i = 0; i < *n; i++) {
        if (type_of_leaf(e, &o[i]) == f.dtype) {
            vec_push(e->arena, &f.leaf, o[i].key);
            vec_push(e->arena, &f.tags, o[i].tags);
        } else {
            o[rest++] = o[i];
        }
    }
    *n = rest;
    return f;
}
static void fill_tree(struct elab *e, uint32_t tree, const struct tree_facts *f)
{
    struct tree *t = &e->g->trees.at[tree];
    t->leaf = arena_array(e->g->arena, uint32_t, f->leaf.n ? f->leaf.n : 1);
    t->n_leaf = f->leaf.n;
    for (uint32_t i = 0; i < f->leaf.n; i++) {
        t->leaf[i] = find_variable(e, f->leaf.at[i]);
        e->g->vars.at[t->leaf[i]].tree = tree + 1;
        e->g->vars.at[t->leaf[i]].leaf = i;
    }
}
/* A tree of leaves of several types is several in the next attempt, a block for each type. */
static void finish_tree(struct elab *e, uint32_t tree)
{
    uint32_t n;
    struct leaf_order *o = leaves_of(e, tree, &n);
    bool first = true, sides = false;
    do {
        struct tree_facts f = facts_of(e, &e->trees.at[tree], o, &n);
        sides |= n > 0;
        f.only = sides ? f.dtype : f.only;
        if (first) {
            fill_tree(e, tree, &f);
        }
        if (e->tree_used.at[tree] && (f.leaf.n || !f.only)) {
            vec_push(e->arena, &e->found.trees, f);
        }
        first = false;
    } while (n);
}
/* What no minimize moves: nobody names these trees. */
static void finish_rest(struct elab *e)
{
    uint32_t n;
    struct leaf_order *o = leaves_of(e, e->trees.n, &n);
    const struct tree_facts none = {.name = "rest"};
    for (bool first = true; n; first = false) {
        struct tree_facts f = facts_of(e, &none, o, &n);
        struct tree g = {.name = tree_name(e, "rest", first ? DT_NONE : f.dtype)};
        vec_push(e->arena, &e->g->trees, g);
        fill_tree(e, e->g->trees.n - 1, &f);
        vec_push(e->arena, &e->found.trees, f);
    }
}
/* A copy of what one minimize moves is a tree too, with the same layout. */
static void frozen_trees(struct elab *e)
{
    for (uint32_t i = 0; i < e->frozen.n; i++) {
        struct inst *f = e->frozen.at[i];
        struct tree_facts own = {.name = f->path};
        complete_frozen(e, f);
        vec_push(e->arena, &own.over, f->path);
        for (uint32_t t = 0; t < e->trees.n; t++) {
            if (e->tree_used.at[t] && e->trees.at[t].over.n == 1 &&
                !strcmp(e->trees.at[t].over.at[0], f->source->path)) {
                if (find_tree(e, &own) < 0) {
                    add_tree(e, &own, true);
                }
                break;
            }
        }
    }
}
void tree_finish(struct elab *e)
{
    frozen_trees(e);
    for (uint32_t t = 0; t < e->trees.n; t++) {
        finish_tree(e, t);
    }
    finish_rest(e);
}
