/* Sums that a loop gathers in a carry and only reads at its end: of products x^T g, as gradients of weights
 * are, one product over all iterations after the loop; of sums along axes one sum after it. The factors are
 * yielded, or read where the loop read them.
 *
 *   next a = a + x^T @ g,  a from 0      ->   a = X^T @ G,  X and G with the rows of all iterations
 *   next a = a + sum(f, axes)            ->   a = sum(F, axes and iterations)
 *   next a = a + y, where y is a yield   ->   a = sum(Y, iterations)
 *
 * Products come first, since their factors are yields afterwards.
 */
#include "compiler/passes/batch.h"

struct sums {
    uint32_t *users; /* by node of the old graph */
    bool products;   /* these, or the others */
};

/* Whether the carry is used in its own sum alone. */
static bool is_only_summed(const struct rewrite *rw, val carry, val next)
{
    const struct sums *s = rw->ctx;
    return s->users[carry] == 2 && s->users[next] == 1; /* in the sum, and as a part of the loop */
}
/* [n, m, k] as [n m, k] */
static val all_rows(struct rewrite *rw, val stack)
{
    struct type t = stack ? node_type(rw->g, stack) : (struct type){0};
    dim shape[2];
    if (!stack || t.rank != 3) {
        return 0;
    }
    shape[0] = dim_mul(&rw->g->dims, t.dim[0], t.dim[1]);
    shape[1] = t.dim[2];
    return build_reshape(&rw->b, stack, 2, shape);
}
static val sum_of_products(struct rewrite *rw, val end, const struct node *n)
{
    static const int turned[] = {1, 0};
    val left = node_inputs(rw->g, n)[0], right = node_inputs(rw->g, n)[1];
    const struct node *x = graph_node(rw->g, left);
    bool transposed = x->op == OP_permute && x->rank == 2 && node_attrs(rw->g, x)[0] == 1;
    if (n->rank != 2 || !transposed) {
        return 0;
    }
    val a = all_rows(rw, loop_all(rw, end, node_inputs(rw->g, x)[0]));
    val g = a ? all_rows(rw, loop_all(rw, end, right)) : 0;
    return g ? build_matmul(&rw->b, build_permute(&rw->b, a, turned), g) : 0;
}
static val sum_of_sums(struct rewrite *rw, val end, val sum)
{
    const struct node *n = graph_node(rw->g, sum);
    int axes[LIMIT_RANK + 1] = {0};
    uint32_t n_attr = n->n_attr;
    for (uint32_t i = 0; i < n_attr; i++) {
        axes[i + 1] = (int)node_attrs(rw->g, n)[i] + 1;
    }
    val from = node_inputs(rw->g, n)[0];
    if (graph_node(rw->g, from)->rank == LIMIT_RANK ||
        loop_stack_cost(&rw->g->dims, rw->g, end, from, sum) == STACK_DEAR) {
        return 0;
    }
    val all = loop_all(rw, end, from);
    return all ? build_reduce(&rw->b, OP_sum, all, axes, (int)n_attr + 1, false) : 0;
}

/* The sum after the loop, 0 when it has to stay a carry. */
static val sum_after(struct rewrite *rw, val end, val term)
{
    struct node n = *graph_node(rw->g, term);
    struct type t = node_type(rw->g, term);
    if (!n.loop || n.loop != (uint32_t)node_attrs(rw->g, graph_node(rw->g, end))[0]) {
        return 0;
    }
    if (n.op == OP_reshape) {
        return build_reshape(&rw->b, sum_after(rw, end, node_inputs(rw->g, &n)[0]), t.rank, t.dim);
    }
    const struct sums *s = rw->ctx;
    if (s->products) {
        return n.op == OP_matmul ? sum_of_products(rw, end, &n) : 0;
    }
    if (n.op != OP_loop_in && loop_keeps(rw->g, graph_node(rw->g, end), term)) {
        return build_reduce(&rw->b, OP_sum, loop_all(rw, end, term), (int[]){0}, 1, false);
    }
    return n.op == OP_sum ? sum_of_sums(rw, end, term) : 0;
}

static val visit(struct rewrite *rw, val id, const struct node *n)
{
    (void)id;
    if (n->op != OP_loop_last) {
        return rewrite_copy(rw, n);
    }
    const struct graph *old = rw->old;
    val old_end = node_inputs(old, n)[0], end = rw->in[0];
    const struct node *e = graph_node(old, old_end);
    uint32_t k = (uint32_t)node_attrs(old, n)[0];
    val carry = loop_carry(old, e, k), next = loop_next(old, e, k);
    const struct node *sum = graph_node(old, next);
    double first;
    if (sum->op != OP_add || !is_only_summed(rw, carry, next) ||
        !constant_of(old, node_inputs(old, graph_node(old, carry))[0], &first) || first != 0) {
        return rewrite_copy(rw, n);
    }
    val a = node_inputs(old, sum)[0], b = node_inputs(old, sum)[1];
    if ((a == carry) == (b == carry)) {
        return rewrite_copy(rw, n);
    }
    val after = sum_after(rw, end, rw->map[a == carry ? b : a]);
    return after ? after : rewrite_copy(rw, n);
}

static bool gather(struct graph *in, struct diag_sink *sink, bool products, struct graph **out)
{
    struct sums s = {count_users(in), products};
    struct graph *g;
    return rewrite_graph(in, sink, visit, &s, &g) && rewrite_sorted(g, sink, NULL, NULL, NULL, out);
}
bool pass_sums(struct graph *in, struct diag_sink *sink, struct graph **out)
{
    struct graph *g;
    return gather(in, sink, true, &g) && gather(g, sink, false, out);
}
