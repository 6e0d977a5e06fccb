/* Loops: what goes in, what is carried, the end, and what comes out; struct loop in graph.h. That nodes
 * belong to the loops they name is checked before (loop_of). */
#include "runtime/graph/shape.h"

static const struct loop *loop_named(const struct shape_ctx *c)
{
    return &c->g->loops.at[c->s->attr[0]]; /* exists: loop_of */
}

bool shape_loop_in(struct shape_ctx *c)
{
    if (!shape_attrs(c, 1, 0) || !shape_min_rank(c, 0, 1)) {
        return false;
    }
    if (c->in[0].dim[0] != loop_named(c)->count) {
        return shape_fail(c, DIAG_I0001, "the loop does not run once for each part of %s",
                          shape_text(c, &c->in[0]));
    }
    c->out = (struct type){.dtype = c->in[0].dtype, .rank = c->in[0].rank - 1};
    memcpy(c->out.dim, c->in[0].dim + 1, (size_t)c->out.rank * sizeof *c->out.dim);
    return true;
}

bool shape_loop_index(struct shape_ctx *c)
{
    return shape_attrs(c, 1, 0) && shape_scalar(c, DT_I32);
}

bool shape_loop_carry(struct shape_ctx *c)
{
    c->out = c->in[0];
    return shape_attrs(c, 2, 0) && c->s->attr[1] >= 0;
}

static bool carry_ok(struct shape_ctx *c, uint32_t k, uint32_t carries)
{
    const struct node *n = graph_node(c->g, c->s->in[k]);
    if (n->op != OP_loop_carry || node_attrs(c->g, n)[0] != c->s->attr[0] ||
        node_attrs(c->g, n)[1] != (int64_t)k) {
        return shape_fail(c, DIAG_I0001, "input %u is not carry %u of the loop", (unsigned)k, (unsigned)k);
    }
    struct type first = node_type(c->g, c->s->in[k]), next = node_type(c->g, c->s->in[carries + k]);
    return type_equal(&first, &next) || shape_fail(c, DIAG_I0001, "a carry is %s, its next value %s",
                                                   shape_text(c, &first), shape_text(c, &next));
}

bool shape_loop(struct shape_ctx *c)
{
    if (!shape_attrs(c, 2, 0) || c->s->attr[1] < 0 || 2 * c->s->attr[1] > (int64_t)c->s->n_in) {
        return shape_fail(c, DIAG_I0001, "a loop with a wrong number of carries");
    }
    for (uint32_t k = 0; k < (uint32_t)c->s->attr[1]; k++) {
        if (!carry_ok(c, k, (uint32_t)c->s->attr[1])) {
            return false;
        }
    }
    return shape_scalar(c, DT_I32);
}

/* The loop that input 0 ends, if it has a part of that number. */
static const struct node *loop_ended(struct shape_ctx *c, bool yield)
{
    const struct node *n = graph_node(c->g, c->s->in[0]);
    if (!shape_attrs(c, 1, 0) || n->op != OP_loop || n->n_attr != 2) {
        shape_fail(c, DIAG_I0001, "input 0 is no loop");
        return NULL;
    }
    return shape_index(c, 0, yield ? loop_yields(c->g, n) : loop_carries(c->g, n), "part") ? n : NULL;
}

bool shape_loop_last(struct shape_ctx *c)
{
    const struct node *n = loop_ended(c, false);
    if (n) {
        c->out = node_type(c->g, loop_carry(c->g, n, (uint32_t)c->s->attr[0]));
    }
    return n != NULL;
}

bool shape_loop_out(struct shape_ctx *c)
{
    const struct node *n = loop_ended(c, true);
    if (!n) {
        return false;
    }
    struct type part = node_type(c->g, loop_yield(c->g, n, (uint32_t)c->s->attr[0]));
    if (part.rank == LIMIT_RANK) {
        return shape_fail(c, DIAG_E2003, "a yield of %s would have more than %d axes", shape_text(c, &part),
                          LIMIT_RANK);
    }
    c->out = (struct type){.dtype = part.dtype, .rank = part.rank + 1};
    c->out.dim[0] = c->g->loops.at[node_attrs(c->g, n)[0]].count;
    memcpy(c->out.dim + 1, part.dim, (size_t)part.rank * sizeof *part.dim);
    return true;
}

static bool planner_only(struct shape_ctx *c)
{
    return shape_fail(c, DIAG_I0001, "%s is no node of a graph", op_table[c->s->op].name);
}

bool shape_loop_begin(struct shape_ctx *c)
{
    return planner_only(c);
}

bool shape_loop_put(struct shape_ctx *c)
{
    return planner_only(c);
}

bool shape_group(struct shape_ctx *c)
{
    return planner_only(c);
}
