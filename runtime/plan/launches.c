/* Nodes to drafts of launches, in schedule order. Sources and views only get a place; a launch gets operands
 * for its inputs, with copies in front where the op does not take the strides, and a buffer of its own for
 * the result.
 */
#include "runtime/plan/internal.h"

struct place new_buffer(struct variant_build *v, uint32_t node, const struct operand *shape)
{
    struct place p = {.home = HOME_BUFFER, .index = v->buffers.n, .o = *shape};
    p.o.offset = 0;
    make_contiguous(&p.o);
    struct buffer b = {
        .node = node, .bytes = operand_bytes(&p.o), .first = v->drafts.n, .root = p.index, .storage = NONE};
    vec_push(v->b->scratch, &v->buffers, b);
    return p;
}

void copy_into(struct variant_build *v, uint32_t node, const struct place *from, const struct place *to,
               enum part part)
{
    struct place *in = arena_new_of(v->b->scratch, struct place);
    *in = *from;
    struct draft d = {.op = OP_copy, .node = node, .part = part, .in = in, .n_in = 1, .out = *to};
    vec_push(v->b->scratch, &v->drafts, d);
}

struct place copy_out(struct variant_build *v, uint32_t node, const struct place *from, enum part part)
{
    struct place to = new_buffer(v, node, &from->o);
    copy_into(v, node, from, &to, part);
    return to;
}

struct place contiguous_copy(struct variant_build *v, uint32_t node, const struct place *from, enum part part)
{
    uint32_t *made = &v->contiguous[v->slot[node] - 1];
    if (*made) {
        struct place p = {.home = HOME_BUFFER, .index = *made - 1, .o = from->o};
        p.o.offset = 0;
        make_contiguous(&p.o);
        return p;
    }
    struct place p = copy_out(v, node, from, part);
    *made = p.index + 1;
    return p;
}

static struct place raw_rows(struct variant_build *v, uint32_t node, uint32_t var,
                             const struct operand *shape)
{
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        if (v->buffers.at[i].raw_var == var) {
            return (struct place){.home = HOME_BUFFER, .index = i, .o = *shape};
        }
    }
    struct place p = new_buffer(v, node, shape);
    v->buffers.at[p.index].first = 0;
    v->buffers.at[p.index].raw_var = var;
    return p;
}

/* Attributes, then dims; `metric` also gets its place in the control block. */
static enum status draft_attrs(struct variant_build *v, struct draft *d)
{
    const struct graph *g = v->b->g;
    const struct node *n = graph_node(g, d->node);
    int64_t *attr = arena_array(v->b->arena, int64_t, (size_t)n->n_attr + n->n_dim + 1);
    for (uint32_t i = 0; i < n->n_attr; i++) {
        attr[d->n_attr++] = node_attrs(g, n)[i];
    }
    for (uint32_t i = 0; i < n->n_dim; i++) {
        TRY(bind_dim(v->b, &v->binding, node_dims(g, n)[i], n->span, op_table[n->op].name,
                     &attr[d->n_attr++]));
    }
    int phase = op_attr(d->op, "phase"), metric = op_attr(d->op, "metric");
    if (metric >= 0) {
        attr[d->n_attr++] = v->b->metric0[attr[phase]] + attr[metric] * (g->replicas ? g->replicas : 1);
    }
    d->attr = attr;
    return ST_OK;
}

/* The box of a pad, as slice checks its own. */
static enum status check_pad(struct variant_build *v, const struct draft *d)
{
    const struct operand *box = &d->in[0].o, *whole = &d->out.o;
    for (int i = 0; i < box->rank && operand_count(box); i++) {
        TRY(check_box(v, d->node, i, d->attr[box->rank + i], d->attr[i], box->dim[i], whole->dim[i]));
    }
    return ST_OK;
}

static enum status draft_node(struct variant_build *v, uint32_t node, const struct operand *shape,
                              enum part part, struct place *out)
{
    const struct graph *g = v->b->g;
    const struct node *n = graph_node(g, node);
    const struct op_info *info = &op_table[n->op];
    struct draft d = {.op = (enum op)n->op, .node = node, .part = part};
    d.in = arena_array(v->b->scratch, struct place, (size_t)n->n_in + 2);
    for (uint32_t i = 0; i < n->n_in; i++) {
        uint32_t in = node_inputs(g, n)[i];
        struct place p = v->value[v->slot[in] - 1];
        d.in[d.n_in++] = strides_fit(d.op, i, &p.o) ? p : contiguous_copy(v, in, &p, part);
    }
    if (n->op == OP_ranges) {
        d.in[d.n_in++] = ranges_table(v->b, n);
    }
    if (n->op == OP_loop_in) {
        d.in[d.n_in++] = v->loop[node_attrs(g, n)[0]].counter;
    }
    if (info->flags & (OPF_CONTROL | OPF_FAULT)) {
        d.in[d.n_in++] = (struct place){.home = HOME_STORAGE, .index = CONTROL_STORAGE};
    }
    TRY(draft_attrs(v, &d));
    d.out = *out = new_buffer(v, node, shape);
    if (n->op == OP_pad) {
        TRY(check_pad(v, &d));
    }
    vec_push(v->b->scratch, &v->drafts, d);
    return ST_OK;
}

static enum status place_view(struct variant_build *v, uint32_t node, const struct operand *shape,
                              enum part part, struct place *out)
{
    uint32_t in = node_inputs(v->b->g, graph_node(v->b->g, node))[0];
    struct place from = v->value[v->slot[in] - 1];
    bool needs_copy;
    TRY(resolve_view(v, node, shape, &from, out, &needs_copy));
    if (needs_copy) {
        from = contiguous_copy(v, in, &from, part);
        TRY(resolve_view(v, node, shape, &from, out, &needs_copy));
    }
    return ST_OK;
}

static enum status place_read(struct variant_build *v, uint32_t node, const struct operand *shape,
                              struct place *out)
{
    struct builder *b = v->b;
    const struct node *n = graph_node(b->g, node);
    uint32_t var = (uint32_t)node_attrs(b->g, n)[0];
    if (b->var_storage[var] != NONE) {
        *out = variable_place(b, var);
        return ST_OK;
    }
    if (b->g->phases.at[v->phase].kind != PHASE_DATA) {
        return diag_emit(b->sink, DIAG_I0001, n->span, "raw rows `%s` read outside of their data phase",
                         b->g->vars.at[var].key);
    }
    *out = raw_rows(v, node, var, shape);
    return ST_OK;
}

/* Sizes have 64 bits, places and counts are i32. */
static enum status check_i32(struct variant_build *v, const struct node *n, int64_t last)
{
    return last <= INT32_MAX
               ? ST_OK
               : diag_emit(v->b->sink, DIAG_E3105, n->span, "%s: counted in i32, which cannot reach %lld",
                           *op_table[n->op].dsl ? op_table[n->op].dsl : "a size", (long long)last);
}
/* Rows that make places of an axis, of their own or of their first input. */
static enum status check_places(struct variant_build *v, const struct node *n, const struct operand *own)
{
    bool makes = n->op == OP_iota, finds = n->op == OP_argmax || n->op == OP_argsort || n->op == OP_search;
    const struct operand *o = finds ? &v->value[v->slot[node_inputs(v->b->g, n)[0]] - 1].o : own;
    return makes || finds ? check_i32(v, n, o->dim[o->rank - 1] - 1) : ST_OK;
}
static enum status place_node(struct variant_build *v, const struct scheduled *s, struct place *out)
{
    struct builder *b = v->b;
    const struct node *n = graph_node(b->g, s->node);
    struct operand shape;
    int64_t size;
    TRY(bind_shape(b, &v->binding, (enum dtype)n->dtype, n->rank, node_shape(b->g, n), n->span,
                   op_table[n->op].name, &shape));
    TRY(check_places(v, n, &shape));
    if (op_table[n->op].kind == OPK_VIEW || n->op == OP_stop_grad) {
        return place_view(v, s->node, &shape, s->part, out);
    }
    switch (n->op) {
    case OP_const:
        *out = constant_place(b, (enum dtype)n->dtype, bits_f64(node_attrs(b->g, n)[0]));
        return ST_OK;
    case OP_dimval:
        TRY(bind_dim(b, &v->binding, node_dims(b->g, n)[0], n->span, "size as a number", &size));
        TRY(n->dtype == DT_I32 ? check_i32(v, n, size) : ST_OK);
        *out = constant_place(b, (enum dtype)n->dtype, (double)size);
        return ST_OK;
    case OP_read:
        return place_read(v, s->node, &shape, out);
    case OP_tree:
        *out = tree_place(b, (uint32_t)node_attrs(b->g, n)[0], &shape);
        return ST_OK;
    case OP_pack:
        pack_slots(v, s->node, &shape, s->part);
        *out = v->value[v->slot[s->node] - 1];
        return ST_OK;
    case OP_loop_index:
    case OP_loop_carry:
    case OP_loop_last:
    case OP_loop_out:
        *out = loop_place(v, s->node);
        return ST_OK;
    case OP_loop:
        return loop_ends(v, s, out);
    case OP_grad:
        return diag_emit(b->sink, DIAG_I0001, n->span, "a gradient that autodiff did not replace (node %u)",
                         s->node);
    default:
        return draft_node(v, s->node, &shape, s->part, out);
    }
}

enum status launches_build(struct variant_build *v, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++) {
        struct place p = {0};
        TRY(v->order[i].begins ? loop_opens(v, &v->order[i]) : place_node(v, &v->order[i], &p));
        v->value[i] = p;
    }
    return ST_OK;
}
