/* Builtins over matrices: block_linear, solve_spd, and those that are computed at load only: orthonormal,
 * orthogonal, pinv. */
#include "compiler/elab.h"

/* -- products with blocks */

enum {
    FEW_INPUTS = 8
}; /* of a block, up to which products and sums are better than a pile of small matrices */

/* The sum of each input of the blocks, [.., n, 1], times its weights [n, q]. */
static val by_inputs(struct build *b, val x, val w, int64_t inputs)
{
    struct dims *d = &b->g->dims;
    struct type t = node_type(b->g, w);
    int last = node_type(b->g, x).rank - 1;
    dim one = dim_const(d, 1);
    val sum = 0;
    for (int64_t i = 0; i < inputs; i++) {
        val row = build_part(b, w, 1, dim_const(d, i), one, 1);
        row = build_reshape(b, row, 2, (dim[]){t.dim[0], t.dim[2]});
        val y = build_2(b, OP_mul, build_part(b, x, last, dim_const(d, i), one, 1), row);
        sum = i ? build_2(b, OP_add, sum, y) : y;
    }
    return sum;
}
/* x[rows, n, p] as n matrices. */
static val by_matrices(struct build *b, val x, val w)
{
    static const int turned[] = {1, 0, 2};
    x = build_permute(b, x, turned);
    return build_permute(b, build_matmul(b, x, w), turned);
}
/* block_linear(x[.., n * p], w[n, p, q]): block i of the last axis times matrix i; [.., n * q]. */
static struct value run_block_linear(struct elab *e, struct bcall *c)
{
    struct build *b = &e->b;
    struct dims *d = &e->g->dims;
    struct type x, w, parts, to;
    int64_t inputs;
    val xn = tensor_arg(e, c, 0, &x), wn = want_tensor(e, c->arg[1], c->span[1], "the weights", &w), y;
    if (!xn || !wn) {
        return poison();
    }
    if (x.rank < 1 || w.rank != 3 || x.dim[x.rank - 1] != dim_mul(d, w.dim[0], w.dim[1])) {
        fail(e, DIAG_E2001, c->span_at, "`block_linear` takes x[.., n * p] and w[n, p, q], found %s and %s",
             value_text(e, c->arg[0]), value_text(e, c->arg[1]));
        label_operand(e, c->env, c->ast[0], c->arg[0]);
        label_operand(e, c->env, c->ast[1], c->arg[1]);
        return poison();
    }
    build_at(e, c->span_at);
    parts = (struct type){.rank = 3, .dim = {dim_const(d, 1), w.dim[0], w.dim[1]}};
    to = x;
    to.dim[x.rank - 1] = dim_mul(d, w.dim[0], w.dim[2]);
    for (int i = 0; i + 1 < x.rank; i++) {
        parts.dim[0] = dim_mul(d, parts.dim[0], x.dim[i]);
    }
    bool few = dim_is_const(d, w.dim[1], &inputs) && inputs > 0 && inputs <= FEW_INPUTS;
    xn = build_reshape(b, xn, 3, parts.dim);
    y = !xn ? 0 : few ? by_inputs(b, xn, wn, inputs) : by_matrices(b, xn, wn);
    return checked(e, c, build_reshape(b, y, to.rank, to.dim), 0);
}

/* solve_spd(a, b): x of a x = b. */
static struct value run_solve(struct elab *e, struct bcall *c)
{
    val a = tensor_arg(e, c, 0, NULL), v = want_tensor(e, c->arg[1], c->span[1], "the right side", NULL);
    if (!a || !v) {
        return poison();
    }
    build_at(e, c->span_at);
    val r = build_2(&e->b, OP_solve_spd, a, v);
    if (!r) {
        label_operand(e, c->env, c->ast[1], c->arg[1]);
    }
    return checked(e, c, r, 0);
}

/* -- at load only */

static bool load_only(struct elab *e, struct bcall *c)
{
    if (in_load_phase(e)) {
        return true;
    }
    fail(e, DIAG_E3006, c->span_at, "`%s` is computed at load only: in initial values and in data sets",
         c->b->name);
    diag_help(e->sink, "keep the result: `state s = %s(..)`, and read s here", c->b->name);
    return false;
}
/* orthonormal(x) and pinv(x). */
static struct value run_at_load(struct elab *e, struct bcall *c)
{
    val x = load_only(e, c) ? tensor_arg(e, c, 0, NULL) : 0;
    build_at(e, c->span_at);
    return x ? checked(e, c, build_1(&e->b, c->b->op, x), 0) : poison();
}
/* orthogonal(shape, gain = 1): orthonormal columns, or rows where there are fewer, of the matrix of all axes
 * but the last, and the last; from a normal draw, so that no direction is preferred. */
static struct value run_orthogonal(struct elab *e, struct bcall *c)
{
    struct site s = builtin_site(c);
    struct dims *d = &e->g->dims;
    dim flat[2] = {dim_const(d, 1), 0};
    val x = load_only(e, c) ? draw_node(e, c, OP_normal, DT_F32, NULL, 0) : 0;
    if (!x) {
        return poison();
    }
    struct type t = node_type(e->g, x);
    if (t.rank < 2) {
        return fail(e, DIAG_E2003, c->span[0], "`orthogonal` needs two axes at least, found %d", t.rank);
    }
    for (int i = 0; i + 1 < t.rank; i++) {
        flat[0] = dim_mul(d, flat[0], t.dim[i]);
    }
    flat[1] = t.dim[t.rank - 1];
    val q = build_1(&e->b, OP_orthonormal, build_reshape(&e->b, x, 2, flat));
    struct value r = checked(e, c, build_reshape(&e->b, q, t.rank, t.dim), 0);
    s.operand[0] = NULL;
    return is_given(c->arg[1]) ? elementwise(e, OP_mul, (struct value[]){r, c->arg[1]}, 2, &s) : r;
}

const struct builtin matrix_builtins[] = {
    {"block_linear", run_block_linear, "x w", OP_matmul},
    {"solve_spd", run_solve, "a b", OP_solve_spd},
    {"orthonormal", run_at_load, "x", OP_orthonormal},
    {"pinv", run_at_load, "x", OP_pinv},
    {"orthogonal", run_orthogonal, "shape gain?", OP_orthonormal},
    {0},
};
