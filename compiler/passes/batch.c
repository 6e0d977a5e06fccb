/* Batching rules; see batch.h. Elementwise rows take the axis as any other, reductions and scans count their
 * axes from one place further on, what works on the last axis does not notice, a product with one matrix
 * takes all parts as rows. Operators that index their first axis cannot.
 */
#include "compiler/passes/batch.h"

enum rule { NO_RULE, LAST_AXIS, AXIS, AXES, VIEW_OF, PRODUCT, TABLE };

static enum rule rule_of(enum op op)
{
    switch (op_table[op].kind) {
    case OPK_ELEM:
        return LAST_AXIS;
    case OPK_REDUCE:
        return AXES;
    case OPK_VIEW:
        return op == OP_leaf ? NO_RULE : VIEW_OF;
    default:
        break;
    }
    switch (op) {
    case OP_softmax:
    case OP_logsumexp:
    case OP_argmax:
    case OP_xent:
    case OP_take:
    case OP_spread:
    case OP_argsort:
    case OP_search:
    case OP_stop_grad:
    case OP_copy:
    case OP_solve_spd:
        return LAST_AXIS;
    case OP_cumsum:
    case OP_cumprod:
    case OP_cummax:
    case OP_linear_scan:
    case OP_concat:
        return AXIS;
    case OP_pad:
        return VIEW_OF;
    case OP_matmul:
        return PRODUCT;
    case OP_gather:
        return TABLE;
    default:
        return NO_RULE;
    }
}

bool batch_exists(const struct graph *g, const struct node *n, const bool *stacked)
{
    enum rule r = rule_of((enum op)n->op);
    bool room = n->rank < LIMIT_RANK;
    for (uint32_t i = 0; i < n->n_in; i++) {
        room &= graph_node(g, node_inputs(g, n)[i])->rank < LIMIT_RANK;
    }
    return room && r != NO_RULE && !(r == TABLE && stacked[0]);
}

val batch_repeat(struct build *b, val v, dim count)
{
    struct type t = type_stacked(node_type(b->g, v), count);
    return build_expand(b, v, t.rank, t.dim);
}

/* Attributes behind the new axis: axes move by one; a box begins at 0 and goes on by 1 along it. */
static void shift_attrs(struct build *b, const struct node_spec *s, enum rule r, struct node_spec *to,
                        int64_t *attr, dim *dims)
{
    uint32_t n = 0;
    bool box = r == VIEW_OF && s->n_dim > 0, permutes = s->op == OP_permute;
    if (box || permutes) {
        attr[n++] = box ? 1 : 0;
    }
    for (uint32_t i = 0; i < s->n_attr; i++) {
        bool axis = r == AXES || permutes || (r == AXIS && i == 0);
        attr[n++] = s->attr[i] + axis;
    }
    to->attr = attr;
    to->n_attr = n;
    if (box) {
        dims[0] = dim_const(&b->g->dims, 0);
        memcpy(dims + 1, s->dims, s->n_dim * sizeof *dims);
        to->dims = dims;
        to->n_dim = s->n_dim + 1;
    }
}

val batch_build(struct build *b, const struct node_spec *s, const bool *stacked, dim count)
{
    enum rule r = rule_of(s->op);
    val *in = arena_array(b->g->arena, val, s->n_in + 1);
    if (r == PRODUCT && stacked[0] && !stacked[1] && node_type(b->g, s->in[1]).rank == 2 && !s->n_attr) {
        return build_matmul(b, s->in[0], s->in[1]);
    }
    for (uint32_t i = 0; i < s->n_in; i++) {
        bool table = r == TABLE && i == 0;
        in[i] = stacked[i] || table ? s->in[i] : batch_repeat(b, s->in[i], count);
        if (!in[i]) {
            return 0;
        }
    }
    int64_t attr[LIMIT_ATTRS + 1];
    dim dims[LIMIT_ATTRS + 1];
    struct node_spec to = *s;
    to.in = in;
    to.type = type_stacked(s->type, count);
    to.span = b->span;
    to.scope = b->scope;
    shift_attrs(b, s, r, &to, attr, dims);
    return graph_add(b->g, &to, b->sink);
}
