/* What things hold. The schedule is run once with names for values: memory is a list of segments, each tagged
 * with the node whose value was written there and the address where that value starts. For sampled elements
 * of every operand, the element the graph means is followed through views down to the value that lies at the
 * operand's address; tag and position must agree. So a read before the write, a read after reuse, a commit
 * that destroyed an old value still to be read, and a wrong stride all show.
 *
 * The body of a loop is run twice: what the first iteration leaves must be what the second one finds. A carry
 * is named after its node, first when the loop begins and again when its next value lies there at the end of
 * an iteration; the counter and the stacks bear the name of the loop's end while it runs.
 */
#include <stdlib.h>
#include "runtime/plan/checker.h"

static uint32_t segment_at(const struct run *r, uint64_t address)
{
    uint32_t lo = 0, hi = r->memory.n;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (r->memory.at[mid].from <= address) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* Splits the segment at an address, which then begins one. */
static uint32_t split_at(struct run *r, uint64_t address)
{
    uint32_t i = segment_at(r, address);
    if (r->memory.at[i].from == address) {
        return i;
    }
    if (r->memory.at[i].end <= address) {
        return i + 1;
    }
    struct segment right = r->memory.at[i];
    vec_push(r->arena, &r->memory, right);
    memmove(&r->memory.at[i + 2], &r->memory.at[i + 1], (r->memory.n - i - 2) * sizeof right);
    right.from = address;
    r->memory.at[i].end = address;
    r->memory.at[i + 1] = right;
    return i + 1;
}

void run_write(struct run *r, struct extent e, uint32_t tag)
{
    if (e.from == e.end) {
        return;
    }
    uint32_t i = split_at(r, e.from), j = split_at(r, e.end);
    r->memory.at[i] = (struct segment){e.from, e.end, e.from, tag};
    memmove(&r->memory.at[i + 1], &r->memory.at[j], (r->memory.n - j) * sizeof *r->memory.at);
    r->memory.n -= j - i - 1;
}

bool run_dims(const struct run *r, const struct node *n, int64_t *dims)
{
    for (int i = 0; i < n->rank; i++) {
        if (!dim_eval(&r->g->dims, &r->at, node_shape(r->g, n)[i], &dims[i])) {
            return false;
        }
    }
    return true;
}

int64_t run_ravel(const int64_t *index, const int64_t *dims, int rank)
{
    int64_t at = 0;
    for (int i = 0; i < rank; i++) {
        at = at * dims[i] + index[i];
    }
    return at;
}

void run_unravel(int64_t at, const int64_t *dims, int rank, int64_t *index)
{
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = at % dims[i];
        at /= dims[i];
    }
}

/* The same element in the input of a view. */
bool run_step_view(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    uint32_t from = node_inputs(r->g, n)[0], tree;
    int all;
    const struct node *x = graph_node(r->g, from);
    struct element down = {.node = from};
    if (!run_dims(r, x, down.dims)) {
        return false;
    }
    switch (n->op) {
    case OP_reshape:
        run_unravel(run_ravel(e->index, e->dims, n->rank), down.dims, x->rank, down.index);
        break;
    case OP_permute:
        for (int i = 0; i < n->rank; i++) {
            down.index[node_attrs(r->g, n)[i]] = e->index[i];
        }
        break;
    case OP_slice:
        for (int i = 0; i < n->rank; i++) {
            int64_t start;
            if (!dim_eval(&r->g->dims, &r->at, node_dims(r->g, n)[i], &start)) {
                return false;
            }
            down.index[i] = start + node_attrs(r->g, n)[i] * e->index[i];
        }
        break;
    case OP_expand:
        for (int i = 0; i < n->rank; i++) {
            down.index[i] = down.dims[i] == 1 ? 0 : e->index[i];
        }
        break;
    case OP_leaf:
        all = x->rank - 1; /* of replicas: the axis in front */
        if (!dim_is_tree(&r->g->dims, node_shape(r->g, x)[all], &tree)) {
            return false;
        }
        down.index[0] = e->index[0];
        down.index[all] = (int64_t)r->p->leaf_start[tree][node_attrs(r->g, n)[0]] +
                          run_ravel(e->index + all, e->dims + all, n->rank - all);
        break;
    default: /* stop_grad */
        memcpy(down.index, e->index, sizeof down.index);
        break;
    }
    *e = down;
    return true;
}

/* From an element of a flat gradient to the leaf value it comes from; false in the padding. */
bool run_step_pack(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    uint32_t tree = (uint32_t)node_attrs(r->g, n)[0];
    for (uint32_t i = n->n_in; i-- > 0;) {
        int64_t start = (int64_t)r->p->leaf_start[tree][i], count = 1;
        if (e->index[0] < start) {
            continue;
        }
        struct element down = {.node = node_inputs(r->g, n)[i]};
        const struct node *x = graph_node(r->g, down.node);
        if (!run_dims(r, x, down.dims)) {
            return false;
        }
        for (int k = 0; k < x->rank; k++) {
            count *= down.dims[k];
        }
        if (e->index[0] - start >= count) {
            return false;
        }
        run_unravel(e->index[0] - start, down.dims, x->rank, down.index);
        *e = down;
        return true;
    }
    return false;
}

bool run_constant_at(const struct run *r, uint64_t address, enum dtype t, double value)
{
    uint32_t lo = 0, hi = r->p->n_constant;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (r->p->constant[mid].offset < address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    const struct plan_constant *c = &r->p->constant[lo];
    return lo < r->p->n_constant && c->offset == address && c->dtype == t &&
           f64_bits(c->value) == f64_bits(value);
}

/* Whether the source node's element lies at `address`, unchanged since the tick began. */
static bool source_lies_at(const struct run *r, const struct element *e, uint64_t address)
{
    const struct node *n = graph_node(r->g, e->node);
    uint64_t at = (uint64_t)run_ravel(e->index, e->dims, n->rank) * dtype_size((enum dtype)n->dtype);
    int64_t size;
    switch (n->op) {
    case OP_const:
        return run_constant_at(r, address, (enum dtype)n->dtype, bits_f64(node_attrs(r->g, n)[0]));
    case OP_dimval:
        return dim_eval(&r->g->dims, &r->at, node_dims(r->g, n)[0], &size) &&
               run_constant_at(r, address, (enum dtype)n->dtype, (double)size);
    case OP_read:
        return address == r->p->var[node_attrs(r->g, n)[0]].offset + at;
    case OP_tree:
        return address == r->p->tree_offset[node_attrs(r->g, n)[0]] + at;
    default:
        return false;
    }
}

static bool in_gradient(const struct plan *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        if (address >= p->gradient[i].offset && address < p->gradient[i].offset + p->gradient[i].bytes) {
            return true;
        }
    }
    return false;
}

/* Results of a loop, and its counter, as the values that lie there; true when e was one. */
static bool step_into_loop(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    if (n->op == OP_loop_last) {
        const struct node *end = graph_node(r->g, node_inputs(r->g, n)[0]);
        e->node = loop_carry(r->g, end, (uint32_t)node_attrs(r->g, n)[0]);
        return true;
    }
    for (uint32_t i = e->node + 1; n->op == OP_loop_index && i < r->g->nodes.n; i++) {
        const struct node *end = graph_node(r->g, i);
        if (end->op == OP_loop && node_attrs(r->g, end)[0] == node_attrs(r->g, n)[0]) {
            e->node = i;
            return true;
        }
    }
    return false;
}

bool run_lies_at(const struct run *r, struct element e, uint64_t address)
{
    const struct segment *s = &r->memory.at[segment_at(r, address)];
    for (;;) {
        const struct node *n = graph_node(r->g, e.node);
        if (s->tag == e.node) {
            uint64_t at = (uint64_t)run_ravel(e.index, e.dims, n->rank) * dtype_size((enum dtype)n->dtype);
            return address == s->start + at;
        }
        if (n->op == OP_loop_last || n->op == OP_loop_index) {
            if (!step_into_loop(r, &e)) {
                return false;
            }
        } else if (n->op == OP_pack) {
            if (!run_step_pack(r, &e)) {
                return s->tag == TAG_OLD && in_gradient(r->p, address);
            }
        } else if (op_table[n->op].kind == OPK_VIEW || n->op == OP_stop_grad) {
            if (!run_step_view(r, &e)) {
                return false;
            }
        } else {
            return s->tag == TAG_OLD && source_lies_at(r, &e, address);
        }
    }
}

/* Corners and some elements between them. */
enum { SAMPLES = 24 };
void run_sample(const int64_t *dims, int rank, int number, int64_t *index)
{
    uint64_t h = (uint64_t)(number + 1) * 0x9e3779b97f4a7c15u;
    for (int i = 0; i < rank; i++) {
        h ^= h >> 31;
        h *= 0xd6e8feb86659fd93u;
        if (number < 2) {
            index[i] = number ? dims[i] - 1 : 0;
        } else if (number < 2 + rank) {
            index[i] = number == 2 + i ? dims[i] - 1 : 0;
        } else {
            index[i] = (int64_t)((h >> 33) % (uint64_t)dims[i]);
        }
    }
}

/* All bytes an operand spans hold one value, or old bytes, or lie in a gradient block (many values side by
 * side). */
bool run_uniform(const struct run *r, struct extent e)
{
    uint32_t i = segment_at(r, e.from), tag = r->memory.at[i].tag;
    if (in_gradient(r->p, e.from)) {
        return true;
    }
    for (; i < r->memory.n && r->memory.at[i].from < e.end; i++) {
        if (r->memory.at[i].tag != tag || tag == TAG_UNDEFINED) {
            return false;
        }
    }
    return true;
}

static bool holds(const struct run *r, uint32_t node, const struct operand *o)
{
    const struct node *n = graph_node(r->g, node);
    struct element e = {.node = node};
    struct extent span = operand_extent(o);
    if (n->rank != o->rank || n->dtype != o->dtype || !run_dims(r, n, e.dims)) {
        return false;
    }
    for (int i = 0; i < o->rank; i++) {
        if (e.dims[i] != o->dim[i]) {
            return false;
        }
    }
    if (span.from == span.end) {
        return true;
    }
    if (span.end > r->p->bytes || !run_uniform(r, span)) {
        return false;
    }
    for (int k = 0; k < SAMPLES; k++) {
        int64_t at = 0;
        run_sample(e.dims, o->rank, k, e.index);
        for (int i = 0; i < o->rank; i++) {
            at += e.index[i] * o->stride[i];
        }
        if (!run_lies_at(r, e, o->offset + (uint64_t)(at * (int64_t)dtype_size((enum dtype)o->dtype)))) {
            return false;
        }
    }
    return true;
}

static enum status check_ranges_table(const struct run *r, const struct plan_op *op)
{
    const struct node *n = graph_node(r->g, op->node);
    const int64_t *attr = node_attrs(r->g, n);
    const struct operand *t = &op->k.in[0];
    bool ok = op->k.n_in == 1 && t->rank == 2 && t->dim[0] == (n->n_attr - 2) / 2 && t->dim[1] == 3;
    for (uint32_t i = 2, row = 0; ok && i + 1 < n->n_attr; i += 2, row++) {
        ok = run_constant_at(r, t->offset + 24 * (uint64_t)row, DT_F64,
                             (double)r->p->leaf_start[attr[0]][attr[i]]) &&
             run_constant_at(r, t->offset + 24 * (uint64_t)row + 16, DT_F64, bits_f64(attr[i + 1]));
    }
    return ok ? ST_OK
              : plan_wrong(r->p, r->sink, op->node, "launch %u: the table of ranges is wrong", r->launch);
}

static bool is_counter(const struct run *r, const struct operand *o, uint32_t end)
{
    const struct segment *s = &r->memory.at[segment_at(r, o->offset)];
    return o->rank == 0 && o->dtype == DT_I32 && s->tag == end && s->start == o->offset;
}
uint32_t run_counter(const struct run *r, const struct operand *o)
{
    uint32_t tag = r->memory.at[segment_at(r, o->offset)].tag;
    bool ends = tag != TAG_UNDEFINED && graph_node(r->g, tag)->op == OP_loop;
    return ends && is_counter(r, o, tag) ? tag : 0;
}
static enum status check_put(const struct run *r, const struct plan_op *op)
{
    uint32_t end = op->k.n_in == 2 ? run_counter(r, &op->k.in[1]) : 0;
    if (!end || !holds(r, op->node, &op->k.in[0])) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: a yield or the counter is not there",
                          r->launch);
    }
    return ST_OK;
}

static enum status check_inputs(const struct run *r, const struct plan_op *op)
{
    const struct node *n = graph_node(r->g, op->node);
    unsigned flags = op_table[op->op].flags;
    if (op->op == OP_loop_put) {
        return check_put(r, op);
    }
    if (op->op == OP_copy && holds(r, op->node, &op->k.in[0])) {
        return ST_OK; /* the planner's own copy */
    }
    if (op->op != n->op) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: a copy of a value that is not there",
                          r->launch);
    }
    if (op->op == OP_ranges) {
        return check_ranges_table(r, op);
    }
    uint32_t control = flags & (OPF_CONTROL | OPF_FAULT) || n->op == OP_loop_in ? 1 : 0;
    if (n->op == OP_loop_in && op->k.n_in == 2) {
        uint32_t end = run_counter(r, &op->k.in[1]);
        if (!end || node_attrs(r->g, graph_node(r->g, end))[0] != node_attrs(r->g, n)[0]) {
            return plan_wrong(r->p, r->sink, op->node, "launch %u: its counter is not there", r->launch);
        }
    } else if (op->k.n_in != n->n_in + control || (control && op->k.in[n->n_in].offset != r->p->control)) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: wrong number of operands", r->launch);
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!holds(r, node_inputs(r->g, n)[i], &op->k.in[i])) {
            return plan_wrong(r->p, r->sink, op->node,
                              "launch %u: operand %u does not hold the value of node %u", r->launch, i,
                              node_inputs(r->g, n)[i]);
        }
    }
    return ST_OK;
}

/* A launch reads what it overwrites only element by element. */
static enum status check_in_step(const struct run *r, const struct plan_op *op)
{
    const struct operand *out = &op->k.out[0];
    struct extent to = operand_extent(out);
    for (uint32_t i = 0; i < op->k.n_in; i++) {
        const struct operand *in = &op->k.in[i];
        struct extent from = operand_extent(in);
        bool meets = from.from < to.end && to.from < from.end && from.from < from.end;
        bool same = op_writes_over(op->op, i) && in->offset == out->offset && operand_is_contiguous(in) &&
                    from.end == to.end &&
                    dtype_size((enum dtype)in->dtype) == dtype_size((enum dtype)out->dtype);
        if (meets && !same) {
            return plan_wrong(
                r->p, r->sink, op->node,
                "launch %u: it overwrites operand %u while other elements of that are to be read", r->launch,
                i);
        }
    }
    return ST_OK;
}

static const struct operand *carry_at(const struct plan_op *end, uint32_t k)
{
    return &end->k.in[k];
}
/* Every carry holds its first value (begin) or its next one, and is a carry from now on. */
static enum status rename_carries(struct run *r, const struct plan_op *end, bool begin)
{
    const struct node *n = graph_node(r->g, end->node);
    for (uint32_t k = 0; k < loop_carries(r->g, n); k++) {
        uint32_t carry = loop_carry(r->g, n, k);
        uint32_t value = begin ? node_inputs(r->g, graph_node(r->g, carry))[0] : loop_next(r->g, n, k);
        if (!holds(r, value, carry_at(end, k))) {
            return plan_wrong(r->p, r->sink, end->node, "launch %u: carry %u is not there", r->launch, k);
        }
    }
    for (uint32_t k = 0; k < loop_carries(r->g, n); k++) {
        run_write(r, operand_extent(carry_at(end, k)), loop_carry(r->g, n, k));
    }
    return ST_OK;
}
/* The node that reads yield k of a loop; the end itself where nobody does. */
static uint32_t reader_of(const struct run *r, uint32_t end, uint32_t k)
{
    for (uint32_t i = end + 1; i < r->g->nodes.n; i++) {
        const struct node *n = graph_node(r->g, i);
        if (n->op == OP_loop_out && node_inputs(r->g, n)[0] == end && node_attrs(r->g, n)[0] == (int64_t)k) {
            return i;
        }
    }
    return end;
}
static enum status rename_stacks(struct run *r, const struct plan_op *end)
{
    const struct node *n = graph_node(r->g, end->node);
    uint32_t carries = loop_carries(r->g, n);
    for (uint32_t k = 0; k < loop_yields(r->g, n); k++) {
        struct extent e = operand_extent(&end->k.in[carries + k]);
        uint32_t i = segment_at(r, e.from);
        bool whole = e.from == e.end || (r->memory.at[i].tag == end->node &&
                                         r->memory.at[i].start == e.from && r->memory.at[i].end >= e.end);
        if (!whole && end->loop->count) {
            return plan_wrong(r->p, r->sink, end->node, "launch %u: the stack of yield %u was overwritten",
                              r->launch, k);
        }
        run_write(r, e, reader_of(r, end->node, k));
    }
    return ST_OK;
}
static bool loop_ops_match(const struct plan_variant *v, uint32_t i)
{
    const struct plan_loop *l = v->op[i].loop;
    return l->begin < l->end && l->end < v->n_op && v->op[l->begin].op == OP_loop_begin &&
           v->op[l->end].op == OP_loop && v->op[l->begin].loop == l && v->op[l->end].loop == l &&
           (i == l->begin || i == l->end) && v->op[l->begin].node == v->op[l->end].node;
}
/* The launches around a body. Steps back to the first of it once. */
static enum status check_loop(struct run *r, const struct plan_op *op)
{
    const struct node *n = graph_node(r->g, op->node);
    if (!loop_ops_match(r->v, r->launch) || n->op != OP_loop) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: a loop without end", r->launch);
    }
    const struct plan_op *end = &r->v->op[op->loop->end];
    if (end->k.n_in != loop_carries(r->g, n) + loop_yields(r->g, n) || op->k.n_out != 1 ||
        op->k.out[0].offset != op->loop->counter) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: wrong number of operands", r->launch);
    }
    bool begin = op->op == OP_loop_begin, *again = &r->again[node_attrs(r->g, n)[0]];
    if (!begin && !is_counter(r, &op->k.out[0], op->node)) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: the counter was overwritten", r->launch);
    }
    TRY(rename_carries(r, end, begin));
    if (begin) {
        run_write(r, operand_extent(&op->k.out[0]), op->node);
        *again = false;
        return ST_OK;
    }
    if (!*again) {
        *again = true;
        r->launch = op->loop->begin; /* goes on behind it */
        return ST_OK;
    }
    return rename_stacks(r, op);
}

static enum status check_launches(struct run *r)
{
    for (r->launch = 0; r->launch < r->v->n_op; r->launch++) {
        const struct plan_op *op = &r->v->op[r->launch];
        if (op->loop) {
            TRY(check_loop(r, op));
            continue;
        }
        if (op->op == OP_group) {
            TRY(check_group(r, op));
            continue;
        }
        TRY(check_inputs(r, op));
        if (op->k.n_out != 1 || !operand_is_contiguous(&op->k.out[0])) {
            return plan_wrong(r->p, r->sink, op->node, "launch %u: its result is not contiguous", r->launch);
        }
        struct extent e = operand_extent(&op->k.out[0]);
        if (e.end > r->p->bytes) {
            return plan_wrong(r->p, r->sink, op->node, "launch %u: its result leaves the arena", r->launch);
        }
        TRY(check_in_step(r, op));
        run_write(r, e, op->op == OP_loop_put ? run_counter(r, &op->k.in[1]) : op->node);
    }
    return ST_OK;
}

/* The whole flat block that a commit replaces; of replicas one after the other. */
static struct operand block_of(const struct run *r, const struct commit *c)
{
    int64_t n = r->p->tree_elements[c->tree - 1];
    struct operand o = {.offset = r->p->tree_offset[c->tree - 1],
                        .dim = {n},
                        .stride = {1},
                        .dtype = graph_node(r->g, c->value)->dtype,
                        .rank = 1};
    if (r->g->replicas) {
        o.rank = 2;
        o.dim[0] = r->g->replicas;
        o.dim[1] = o.stride[0] = n;
        o.stride[1] = 1;
    }
    return o;
}

static enum status check_commits(const struct run *r)
{
    const struct phase *f = &r->g->phases.at[r->v->phase];
    for (uint32_t i = 0; i < f->commits.n; i++) {
        const struct commit *c = &f->commits.at[i];
        struct operand o = c->tree ? block_of(r, c) : r->p->var[c->var].view;
        if (!holds(r, c->value, &o)) {
            return plan_wrong(r->p, r->sink, c->value, "commit %u of phase %s does not reach its variable", i,
                              f->name);
        }
    }
    return ST_OK;
}

static enum status check_result(const struct run *r, const char *what, uint32_t node, const struct operand *o)
{
    if (holds(r, node, o) && operand_is_contiguous(o)) {
        return ST_OK;
    }
    return plan_wrong(r->p, r->sink, node, "%s is not there at the end of the tick", what);
}

static enum status check_results(const struct run *r)
{
    const struct phase *f = &r->g->phases.at[r->v->phase];
    for (uint32_t i = 0; i < f->metrics.n; i++) {
        TRY(check_result(r, "a metric", f->metrics.at[i].value, &r->v->metric[i].value));
    }
    for (uint32_t i = 0; i < f->outputs.n; i++) {
        TRY(check_result(r, "an output", f->outputs.at[i].value, &r->v->output[i]));
    }
    for (uint32_t i = 0; i < f->asserts.n; i++) {
        TRY(check_result(r, "an assert", f->asserts.at[i].value, &r->v->assert_value[i]));
    }
    return f->ok ? check_result(r, "the guard", f->ok, &r->v->ok) : ST_OK;
}

static void start_memory(struct run *r)
{
    const struct plan *p = r->p;
    vec_push(r->arena, &r->memory, ((struct segment){0, p->persistent, 0, TAG_OLD}));
    vec_push(r->arena, &r->memory, ((struct segment){p->persistent, p->bytes, p->persistent, TAG_UNDEFINED}));
    for (uint32_t i = 1; i < r->g->vars.n; i++) {
        const struct var *v = &r->g->vars.at[i];
        const struct plan_var *x = &p->var[i];
        for (uint32_t k = 0;
             k < r->v->n_buffer && v->kind == VAR_DATA && x->bytes && x->offset >= p->planned_offset; k++) {
            if (p->buffer[r->v->buffer0 + k].offset == x->offset && p->buffer[r->v->buffer0 + k].raw) {
                run_write(r, (struct extent){x->offset, x->offset + x->bytes}, TAG_OLD);
                break;
            }
        }
    }
}

enum status check_values(const struct plan *p, uint32_t variant, struct diag_sink *sink)
{
    struct run r = {.p = p, .v = &p->variant[variant], .g = p->graph, .sink = sink, .arena = arena_new()};
    const struct phase *f = &r.g->phases.at[r.v->phase];
    uint32_t batch;
    r.at.n = p->binding.n;
    r.at.atom = arena_array(r.arena, int64_t, r.at.n);
    memcpy(r.at.atom, p->binding.atom, r.at.n * sizeof *r.at.atom);
    if (f->b && dim_is_symbol(&r.g->dims, f->b, &batch)) {
        r.at.atom[batch] = r.v->rows;
    }
    r.again = arena_array(r.arena, bool, r.g->loops.n);
    start_memory(&r);
    enum status s = check_launches(&r);
    s = s == ST_OK ? check_commits(&r) : s;
    s = s == ST_OK ? check_results(&r) : s;
    arena_free(r.arena);
    return s;
}
