/* Groups, from their results down. At a sampled point a store names an element of a node: the value stored
 * must be that element, its instruction the node's operator over values that are the elements of its inputs,
 * and so on down to loads, which must find the element in memory, and to numbers. A reduction is followed at
 * a few places of its row. Of the instructions that stand for one operator (softmax and its kind) only what
 * comes in is checked here.
 */
#include "runtime/plan/checker.h"
#include "runtime/plan/group.h"

enum { ROW_SAMPLES = 8, INSIDE_SAMPLES = 3, TURN_SAMPLES = 4, NOT_SEEN = -1 };

/* One row of a group, or one point of a flat one. */
struct tour {
    struct run *r;
    const struct plan_op *op;
    const struct group *g;
    int64_t at[INSIDE_SAMPLES][LIMIT_RANK]; /* points */
    int n;
    int64_t seen[GROUP_MAX_INSTR][INSIDE_SAMPLES]; /* by value and point: an element it is known to be */
};

static enum status wrong(const struct tour *t, const char *what, uint32_t number)
{
    return plan_wrong(t->r->p, t->r->sink, t->op->node, "launch %u: %s (%u of the group)", t->r->launch, what,
                      number);
}

static uint64_t address_of(const struct operand *o, const int64_t *at)
{
    int64_t steps = 0;
    for (int i = 0; i < o->rank; i++) {
        steps += at[i] * o->stride[i];
    }
    return o->offset + (uint64_t)(steps * (int64_t)dtype_size((enum dtype)o->dtype));
}

/* A whole number made of places, as iota is. */
static bool count_of(const struct tour *t, uint16_t i, int p, int64_t *value)
{
    const struct group_instr *x = &t->g->instr[i];
    int64_t a, b;
    switch (x->kind) {
    case GROUP_INDEX:
        *value = x->operand < t->g->rank ? t->at[p][x->operand] : 0;
        return x->operand < t->g->rank;
    case GROUP_CONST:
        *value = (int64_t)x->value;
        return x->dtype == DT_I32;
    case GROUP_ELEM:
        if (x->op == OP_cast && x->n_in == 1) {
            return count_of(t, x->in[0], p, value);
        }
        if (x->n_in != 2 || !count_of(t, x->in[0], p, &a) || !count_of(t, x->in[1], p, &b)) {
            return false;
        }
        *value = x->op == OP_mul ? a * b : a + b;
        return x->op == OP_mul || x->op == OP_add;
    default:
        return false;
    }
}

/* Through a reduction of one element. */
static bool step_through_one(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    struct element down = {.node = node_inputs(r->g, n)[0]};
    const struct node *x = graph_node(r->g, down.node);
    int gone = 0, kept = 0;
    if (!run_dims(r, x, down.dims)) {
        return false;
    }
    for (int i = 0; i < x->rank; i++) {
        bool goes = gone < n->n_attr && node_attrs(r->g, n)[gone] == i;
        if (goes && down.dims[i] != 1) {
            return false;
        }
        gone += goes;
        down.index[i] = goes ? 0 : e->index[kept++];
    }
    *e = down;
    return true;
}

/* In the part of a joined value. */
static bool step_into_part(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    int64_t axis = node_attrs(r->g, n)[0];
    for (uint32_t k = 0; k < n->n_in; k++) {
        int64_t dims[LIMIT_RANK];
        uint32_t in = node_inputs(r->g, n)[k];
        if (!run_dims(r, graph_node(r->g, in), dims)) {
            return false;
        }
        if (e->index[axis] < dims[axis]) {
            e->node = in;
            return true;
        }
        e->index[axis] -= dims[axis];
    }
    return false;
}

/* The element of its input that an element of a pad is; false where it is one of the zeros around. */
static bool step_into_box(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    e->node = node_inputs(r->g, n)[0];
    bool inside = run_dims(r, graph_node(r->g, e->node), e->dims);
    for (int i = 0; i < n->rank && inside; i++) {
        int64_t start, step = node_attrs(r->g, n)[i];
        inside =
            dim_eval(&r->g->dims, &r->at, node_dims(r->g, n)[i], &start) && (e->index[i] - start) % step == 0;
        e->index[i] = inside ? (e->index[i] - start) / step : 0;
        inside = inside && e->index[i] >= 0 && e->index[i] < e->dims[i];
    }
    return inside;
}

/* The element in what views and copies show, in what was joined, in a box with zeros around it. */
static bool step_down(const struct run *r, struct element *e)
{
    const struct node *n = graph_node(r->g, e->node);
    if (op_table[n->op].kind == OPK_VIEW || n->op == OP_stop_grad) {
        return run_step_view(r, e);
    }
    if (n->op == OP_copy) {
        e->node = node_inputs(r->g, n)[0];
        return true;
    }
    if (n->op == OP_concat) {
        return step_into_part(r, e);
    }
    if (n->op == OP_pad) {
        return step_into_box(r, e);
    }
    if (n->op == OP_pack && n->rank == 1) { /* of replicas it is a launch */
        return run_step_pack(r, e);
    }
    return op_table[n->op].kind == OPK_REDUCE && step_through_one(r, e);
}

static bool is_number(const struct run *r, struct element e, double value)
{
    int64_t size;
    for (;;) {
        const struct node *n = graph_node(r->g, e.node);
        if (n->op == OP_const) {
            return f64_bits(bits_f64(node_attrs(r->g, n)[0])) == f64_bits(value);
        }
        if (n->op == OP_dimval) {
            return dim_eval(&r->g->dims, &r->at, node_dims(r->g, n)[0], &size) && (double)size == value;
        }
        if (!step_down(r, &e)) {
            return false;
        }
    }
}

/* Whether e is an element of an iota; then its place. */
static bool is_iota(const struct run *r, struct element e, int64_t *place)
{
    while (graph_node(r->g, e.node)->op != OP_iota) {
        if (!step_down(r, &e) || !run_dims(r, graph_node(r->g, e.node), e.dims)) {
            return false;
        }
    }
    *place = e.index[0];
    return true;
}

static bool is_element(struct tour *t, uint16_t i, struct element e, int p);

/* What a guard made of places is at a point. */
static bool guard_of(const struct tour *t, uint16_t i, int p, bool *is)
{
    const struct group_instr *x = &t->g->instr[i];
    int64_t a, b;
    bool also;
    if (x->kind != GROUP_ELEM || x->n_in != 2) {
        return false;
    }
    if (x->op == OP_land) {
        bool known = guard_of(t, x->in[0], p, is) && guard_of(t, x->in[1], p, &also);
        *is = known && *is && also;
        return known;
    }
    if (!count_of(t, x->in[0], p, &a) || !count_of(t, x->in[1], p, &b)) {
        return false;
    }
    *is = x->op == OP_ge ? a >= b : a < b;
    return x->op == OP_ge || x->op == OP_lt;
}

/* The end of the loop whose counter moves an operand; 0: of none. */
static uint32_t turned_by(const struct tour *t, uint16_t counter)
{
    return counter < t->op->k.n_in ? run_counter(t->r, &t->op->k.in[counter]) : 0;
}

/* Whether e is an element of a part of a stack, and every part of that lies where the load finds it: all at
 * one place where it does not turn. */
static bool is_turning(const struct tour *t, const struct group_instr *x, struct element e, uint64_t address)
{
    const struct run *r = t->r;
    uint32_t end = turned_by(t, x->counter);
    while (graph_node(r->g, e.node)->op != OP_loop_in) {
        if (!step_down(r, &e) || !run_dims(r, graph_node(r->g, e.node), e.dims)) {
            return false;
        }
    }
    const struct node *n = graph_node(r->g, e.node);
    struct element whole = {.node = node_inputs(r->g, n)[0]};
    bool own = (!x->turn || (end && node_attrs(r->g, graph_node(r->g, end))[0] == node_attrs(r->g, n)[0])) &&
               run_dims(r, graph_node(r->g, whole.node), whole.dims);
    memcpy(whole.index + 1, e.index, (LIMIT_RANK - 1) * sizeof *e.index);
    for (int s = 0; s < TURN_SAMPLES && own; s++) {
        run_sample(whole.dims, 1, s, whole.index);
        own = run_lies_at(r, whole, address + (uint64_t)(whole.index[0] * x->turn));
    }
    return own;
}

/* Whether e, or what it shows, lies there. */
static bool is_loaded(const struct tour *t, const struct group_instr *x, struct element e, uint64_t address)
{
    const struct run *r = t->r;
    if (x->turn) {
        return is_turning(t, x, e, address);
    }
    while (!run_lies_at(r, e, address)) {
        if (graph_node(r->g, e.node)->op == OP_loop_in) {
            return is_turning(t, x, e, address);
        }
        if (!step_down(r, &e) || !run_dims(r, graph_node(r->g, e.node), e.dims)) {
            return false;
        }
    }
    return true;
}

/* Whether a guarded load is an element of a pad: read where that is one of its input, and only there. */
static bool is_padded(const struct tour *t, const struct group_instr *x, struct element e, int p)
{
    const struct run *r = t->r;
    bool reads;
    while (graph_node(r->g, e.node)->op != OP_pad) {
        if (!step_down(r, &e) || !run_dims(r, graph_node(r->g, e.node), e.dims)) {
            return false;
        }
    }
    bool inside = step_into_box(r, &e);
    uint64_t address = address_of(&t->op->k.in[x->operand], t->at[p]) - (uint64_t)x->back;
    return guard_of(t, x->in[0], p, &reads) && reads == inside && (!reads || is_loaded(t, x, e, address));
}

static struct element input_of(const struct run *r, const struct element *e, uint32_t k)
{
    struct element x = *e;
    x.node = node_inputs(r->g, graph_node(r->g, e->node))[k];
    return x;
}

static bool elem_is(struct tour *t, const struct group_instr *x, const struct element *e, int p)
{
    const struct node *n = graph_node(t->r->g, e->node);
    if (x->op != n->op || x->n_in != n->n_in || x->dtype != n->dtype) {
        return false;
    }
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (!is_element(t, x->in[k], input_of(t->r, e, k), p)) {
            return false;
        }
    }
    return true;
}

/* Row-major place of a point inside of its row. */
static int64_t inside_of(const struct tour *t, int p)
{
    return run_ravel(t->at[p] + t->g->outer, t->g->dim + t->g->outer, t->g->rank - t->g->outer);
}

static bool reduce_is(struct tour *t, const struct group_instr *x, const struct element *e)
{
    const struct run *r = t->r;
    const struct node *n = graph_node(r->g, e->node);
    struct element in = {.node = node_inputs(r->g, n)[0]};
    const struct node *from = graph_node(r->g, in.node);
    if (x->op != n->op || !run_dims(r, from, in.dims)) {
        return false;
    }
    for (int p = 0; p < t->n; p++) {
        int64_t dims[LIMIT_RANK], place[LIMIT_RANK], each = 1;
        int gone = 0, kept = 0;
        for (int i = 0; i < from->rank; i++) {
            bool goes = gone < n->n_attr && node_attrs(r->g, n)[gone] == i;
            if (goes) {
                dims[gone++] = in.dims[i];
                each *= in.dims[i];
            } else {
                in.index[i] = e->index[kept++];
            }
        }
        if (each != group_inside(t->g)) {
            return false;
        }
        run_unravel(inside_of(t, p), dims, gone, place);
        for (int k = 0; k < gone; k++) {
            in.index[node_attrs(r->g, n)[k]] = place[k];
        }
        if (!is_element(t, x->in[0], in, p)) {
            return false;
        }
    }
    return true;
}

static bool table_is(const struct tour *t, const struct group_instr *x, const struct node *n)
{
    const struct operand *o = x->operand < t->op->k.n_in ? &t->op->k.in[x->operand] : NULL;
    const int64_t *attr = node_attrs(t->r->g, n);
    bool ok = o && o->rank == 2 && o->dim[0] == (n->n_attr - 2) / 2 && o->dim[1] == 3 &&
              f64_bits(x->value) == attr[1];
    for (uint32_t i = 2, row = 0; ok && i + 1 < n->n_attr; i += 2, row++) {
        uint64_t at = o->offset + 24 * (uint64_t)row;
        ok = run_constant_at(t->r, at, DT_F64, (double)t->r->p->leaf_start[attr[0]][attr[i]]) &&
             run_constant_at(t->r, at + 16, DT_F64, bits_f64(attr[i + 1]));
    }
    return ok;
}

/* Instructions of softmax and its kind: what comes in from outside is the row of the input, or its label. */
static bool part_is(struct tour *t, uint16_t i, const struct element *e, int p)
{
    const struct group_instr *x = &t->g->instr[i];
    const struct node *n = graph_node(t->r->g, e->node);
    int from = x->kind == GROUP_REDUCE ? 0 : p, end = x->kind == GROUP_REDUCE ? t->n : p + 1;
    for (int q = from; q < end; q++) {
        for (int k = 0; k < x->n_in; k++) {
            const struct group_instr *y = &t->g->instr[x->in[k]];
            bool own = y->kind == GROUP_CONST || y->kind == GROUP_INDEX ||
                       (y->kind != GROUP_LOAD && y->node == e->node);
            if (own && t->seen[x->in[k]][q] == NOT_SEEN) {
                t->seen[x->in[k]][q] = 0;
                if (!part_is(t, x->in[k], e, q)) {
                    return false;
                }
            }
            if (own) {
                continue;
            }
            struct element in = *e;
            in.node = node_inputs(t->r->g, n)[n->op == OP_xent && y->dtype == DT_I32];
            const struct node *input = graph_node(t->r->g, in.node);
            if (!run_dims(t->r, input, in.dims)) {
                return false;
            }
            if (input->rank && n->n_in && !(n->op == OP_xent && y->dtype == DT_I32)) {
                in.index[input->rank - 1] = inside_of(t, q);
            }
            if (!is_element(t, x->in[k], in, q)) {
                return false;
            }
        }
    }
    return true;
}

static bool made_of(struct tour *t, uint16_t i, const struct element *e, int p)
{
    const struct group_instr *x = &t->g->instr[i];
    const struct node *n = graph_node(t->r->g, e->node);
    int64_t count;
    if (n->op == OP_softmax || n->op == OP_logsumexp || n->op == OP_xent || n->op == OP_argmax) {
        return part_is(t, i, e, p);
    }
    switch (x->kind) {
    case GROUP_ELEM:
        return elem_is(t, x, e, p);
    case GROUP_REDUCE:
        return reduce_is(t, x, e);
    case GROUP_SCALAR:
        return x->op == n->op && x->n_attr >= n->n_attr &&
               !memcmp(x->attr, node_attrs(t->r->g, n), n->n_attr * sizeof *x->attr);
    case GROUP_RANGES:
        return n->op == OP_ranges && count_of(t, x->in[0], p, &count) && count == e->index[0] &&
               table_is(t, x, n);
    default:
        return false;
    }
}

/* Whether value i is element e, at point p. */
static bool is_element(struct tour *t, uint16_t i, struct element e, int p)
{
    const struct group_instr *x = &t->g->instr[i];
    const struct run *r = t->r;
    bool dims = run_dims(r, graph_node(r->g, e.node), e.dims);
    if (!dims || x->dtype != graph_node(r->g, e.node)->dtype) {
        return false;
    }
    if (x->kind == GROUP_LOAD) {
        return x->n_in ? is_padded(t, x, e, p)
                       : is_loaded(t, x, e, address_of(&t->op->k.in[x->operand], t->at[p]));
    }
    if (x->kind == GROUP_CONST && is_number(r, e, x->value)) {
        return true;
    }
    int64_t place, count;
    if (is_iota(r, e, &place)) {
        return count_of(t, i, p, &count) && count == place;
    }
    if (x->kind == GROUP_ELEM && x->op == OP_cast && t->g->instr[x->in[0]].dtype == x->dtype &&
        t->g->instr[x->in[0]].node == x->node) {
        return is_element(t, x->in[0], e, p); /* a value of a row, spread */
    }
    while (e.node != x->node) {
        if (!step_down(r, &e) || !run_dims(r, graph_node(r->g, e.node), e.dims)) {
            return false;
        }
    }
    int64_t number = run_ravel(e.index, e.dims, graph_node(r->g, e.node)->rank);
    if (t->seen[i][p] == number) {
        return true; /* another element is looked at anew: a value of a row may stand for many */
    }
    for (int q = x->row ? 0 : p; q < (x->row ? t->n : p + 1); q++) {
        t->seen[i][q] = number;
    }
    return made_of(t, i, &e, p);
}

/* -- what must hold for all points */

static bool is_in_domain(const struct tour *t, const struct group_instr *x)
{
    const struct operand *o = &t->op->k.in[x->operand];
    bool ok = x->n_in ? x->n_in == 1 && t->g->instr[x->in[0]].dtype == DT_BOOL : x->back == 0;
    for (int a = 0; a < t->g->rank; a++) {
        ok = ok && (o->dim[a] == t->g->dim[a] || (x->n_in && o->dim[a] < t->g->dim[a]));
    }
    return ok;
}

static enum status check_program(const struct tour *t)
{
    const struct group *g = t->g;
    const struct kargs *k = &t->op->k;
    uint32_t tables = g->control;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        const struct group_instr *x = &g->instr[i];
        bool reads = x->kind == GROUP_LOAD || x->kind == GROUP_RANGES;
        bool ok = x->kind < GROUP_KINDS && x->n_in <= 3 && (!reads || x->operand < k->n_in - g->control);
        for (int n = 0; n < x->n_in && ok; n++) {
            ok = x->in[n] < i && !(x->row && x->kind != GROUP_REDUCE && !g->instr[x->in[n]].row) &&
                 !(x->kind == GROUP_REDUCE && g->instr[x->in[n]].row);
        }
        const struct operand *o = x->kind == GROUP_LOAD && ok ? &k->in[x->operand] : NULL;
        ok = ok && (!o || (o->rank == g->rank && o->dtype == x->dtype && is_in_domain(t, x)));
        for (int a = g->outer; o && ok && x->row && a < g->rank; a++) {
            ok = o->stride[a] == 0;
        }
        if (!ok || (x->row && g->outer == g->rank)) {
            return wrong(t, "an instruction is wrong", i);
        }
        if (o && x->turn ? !turned_by(t, x->counter) : o && !run_uniform(t->r, operand_extent(o))) {
            return wrong(t, "a load reads what nobody wrote", i);
        }
    }
    bool control = !g->control || (k->n_in && k->in[k->n_in - 1].offset == t->r->p->control);
    return control && tables <= k->n_in && g->n_store == k->n_out
               ? ST_OK
               : wrong(t, "wrong number of operands", k->n_in);
}

static bool extents_meet(struct extent a, struct extent b)
{
    return a.from < b.end && b.from < a.end && a.from < a.end && b.from < b.end;
}

static int64_t stored_count(const struct operand *o)
{
    int64_t n = 1;
    for (int a = 0; a < o->rank; a++) {
        n *= o->dim[a];
    }
    return n;
}
/* Whether a store is one part of a joined value, and the number of those in front of it that are, too. */
static bool is_part(const struct tour *t, uint16_t i, uint16_t *before)
{
    const struct node *n = graph_node(t->r->g, t->g->store[i].node);
    int64_t dims[LIMIT_RANK], all = 1;
    bool part = n->op == OP_concat && n->n_in > 1 && run_dims(t->r, n, dims);
    for (int a = 0; a < n->rank && part; a++) {
        all *= dims[a];
    }
    part = part && stored_count(&t->op->k.out[i]) * n->n_in == all;
    *before = 0;
    for (uint16_t x = i; part && x-- > 0 && t->g->store[x].node == t->g->store[i].node;) {
        ++*before;
    }
    return part;
}
/* Whether `n` operands, each `apart` elements behind the one before it, fill all bytes of theirs together. */
static bool fill_all(const struct operand *o, int64_t n, int64_t apart)
{
    int64_t size[LIMIT_RANK + 1] = {n}, step[LIMIT_RANK + 1] = {apart}, count = 1;
    int left = 1;
    for (int a = 0; a < o->rank; a++) {
        if (o->dim[a] != 1) {
            size[left] = o->dim[a];
            step[left++] = o->stride[a];
        }
    }
    for (int a = 0; a < left;) {
        if (step[a] == count) {
            count *= size[a];
            size[a] = size[--left];
            step[a] = step[left];
            a = 0;
        } else {
            a++;
        }
    }
    return left == 0;
}
/* The bytes of a joined value, of which store i is a part; false where its parts are not all of it. */
static bool joined_extent(const struct tour *t, uint16_t i, struct extent *e)
{
    const struct group *g = t->g;
    const struct node *n = graph_node(t->r->g, g->store[i].node);
    uint16_t before, other;
    if (!is_part(t, i, &before) || i - before + n->n_in > g->n_store) {
        return false;
    }
    const struct operand *o = &t->op->k.out[i - before];
    int64_t size = (int64_t)dtype_size((enum dtype)o->dtype), step = (int64_t)(o[1].offset - o[0].offset);
    bool whole = fill_all(o, n->n_in, step / size) && before < n->n_in && step % size == 0;
    for (uint16_t k = 0; k < n->n_in && whole; k++) {
        uint16_t x = (uint16_t)(i - before + k);
        whole = is_part(t, x, &other) && other == k && !g->store[x].turn && o[k].rank == g->rank &&
                o[k].dtype == o->dtype && o[k].offset == o->offset + (uint64_t)(k * step) &&
                !memcmp(o[k].dim, o->dim, sizeof *o->dim * g->rank) &&
                !memcmp(o[k].stride, o->stride, sizeof *o->stride * g->rank);
    }
    *e = (struct extent){o->offset, o->offset + (uint64_t)(stored_count(o) * n->n_in * size)};
    return whole;
}

/* All that a store and what belongs to it write: the parts of a stack, of a joined value. */
static bool store_extent(const struct tour *t, uint16_t i, struct extent *e)
{
    const struct group_store *s = &t->g->store[i];
    uint16_t before;
    if (is_part(t, i, &before)) {
        return joined_extent(t, i, e);
    }
    *e = operand_extent(&t->op->k.out[i]);
    if (!s->turn) {
        return (int64_t)(e->end - e->from) ==
               stored_count(&t->op->k.out[i]) * (int64_t)dtype_size((enum dtype)t->op->k.out[i].dtype);
    }
    const struct run *r = t->r;
    uint32_t end = turned_by(t, s->counter);
    for (uint32_t j = 0; j < r->v->n_op && end; j++) {
        const struct plan_loop *l =
            r->v->op[j].op == OP_loop && r->v->op[j].node == end ? r->v->op[j].loop : NULL;
        if (l && l->count > 0 && s->turn == (int64_t)(e->end - e->from)) {
            e->end += (uint64_t)((l->count - 1) * s->turn);
            return true;
        }
    }
    return false;
}

/* Stores are apart, whole, and over loads only point by point. */
static enum status check_stores(const struct tour *t)
{
    const struct group *g = t->g;
    const struct kargs *k = &t->op->k;
    for (uint16_t i = 0; i < g->n_store; i++) {
        const struct operand *o = &k->out[i];
        struct extent e, other;
        bool ok = store_extent(t, i, &e) && g->store[i].operand == i && g->store[i].value < g->n_instr &&
                  o->rank == g->rank && o->dtype == g->instr[g->store[i].value].dtype &&
                  e.end <= t->r->p->bytes;
        for (int a = 0; a < g->rank && ok; a++) {
            ok = o->dim[a] == 1 || (o->dim[a] == g->dim[a] && o->stride[a] != 0);
        }
        if (!ok) {
            return wrong(t, "a store is wrong", i);
        }
        for (uint16_t x = 0; x < i; x++) {
            bool same = joined_extent(t, i, &other) && g->store[x].node == g->store[i].node;
            if (!same && (!store_extent(t, x, &other) || extents_meet(e, other))) {
                return wrong(t, "a store meets another one", i);
            }
        }
        for (uint16_t x = 0; x < g->n_instr; x++) {
            const struct operand *in = g->instr[x].kind == GROUP_LOAD ? &k->in[g->instr[x].operand] : NULL;
            bool step = in && !g->instr[x].n_in && g->outer == g->rank &&
                        g->instr[x].turn == g->store[i].turn && in->offset == o->offset &&
                        dtype_size((enum dtype)in->dtype) == dtype_size((enum dtype)o->dtype);
            for (int a = 0; a < g->rank && step; a++) {
                step = o->dim[a] == in->dim[a] && (o->dim[a] == 1 || o->stride[a] == in->stride[a]);
            }
            if (in && !step && extents_meet(e, operand_extent(in))) {
                return wrong(t, "a store overwrites other elements of a load", i);
            }
        }
    }
    return ST_OK;
}

/* -- samples */

static void start_tour(struct tour *t, int number)
{
    const struct group *g = t->g;
    int64_t row[LIMIT_RANK];
    run_sample(g->dim, g->outer, number, row);
    t->n = g->outer < g->rank ? INSIDE_SAMPLES : 1;
    for (int p = 0; p < t->n; p++) {
        memcpy(t->at[p], row, (size_t)g->outer * sizeof *row);
        run_sample(g->dim + g->outer, g->rank - g->outer, p == 2 ? 2 + g->rank + number : p,
                   t->at[p] + g->outer);
    }
    for (int i = 0; i < g->n_instr; i++) {
        for (int p = 0; p < t->n; p++) {
            t->seen[i][p] = NOT_SEEN;
        }
    }
}

/* Moves all points to where a comparison of a place with a number turns; false for other instructions. */
static bool move_to_edge(struct tour *t, uint16_t i, int64_t below)
{
    const struct group_instr *x = &t->g->instr[i], *in = t->g->instr;
    if (x->kind != GROUP_ELEM || (x->op != OP_ge && x->op != OP_lt) || in[x->in[0]].kind != GROUP_INDEX ||
        in[x->in[1]].kind != GROUP_CONST) {
        return false;
    }
    uint16_t axis = in[x->in[0]].operand;
    int64_t at = (int64_t)in[x->in[1]].value - below;
    for (int p = 0; p < t->n && axis < t->g->rank && at >= 0 && at < t->g->dim[axis]; p++) {
        t->at[p][axis] = at;
    }
    return true;
}

static enum status check_store_at(struct tour *t, uint16_t i, int p)
{
    const struct group_store *s = &t->g->store[i];
    const struct operand *o = &t->op->k.out[i];
    struct element e = {.node = s->node};
    const struct node *n = graph_node(t->r->g, s->node);
    uint16_t before;
    int64_t at = 0, count = stored_count(o);
    for (int a = 0; a < o->rank; a++) {
        if (o->dim[a] == 1 && t->at[p][a]) {
            return ST_OK; /* not the first point */
        }
        at += t->at[p][a] * o->stride[a];
    }
    if (is_part(t, i, &before)) {
        at += (int64_t)(o->offset - o[-before].offset) / (int64_t)dtype_size((enum dtype)o->dtype);
        count *= n->n_in;
    }
    bool ok = run_dims(t->r, n, e.dims);
    for (int a = 0; a < n->rank && ok; a++) {
        count = e.dims[a] ? count / e.dims[a] : 0;
    }
    run_unravel(at, e.dims, n->rank, e.index);
    return ok && count == 1 && is_element(t, s->value, e, p)
               ? ST_OK
               : wrong(t, "a result is not what the graph means", i);
}

static enum status check_points(struct tour *t)
{
    for (uint16_t i = 0; i < t->g->n_store; i++) {
        for (int p = 0; p < t->n; p++) {
            TRY(check_store_at(t, i, p));
        }
    }
    return ST_OK;
}

enum status check_group(struct run *r, const struct plan_op *op)
{
    struct tour *t = arena_new_of(r->arena, struct tour);
    const struct group *g = op->k.group;
    *t = (struct tour){.r = r, .op = op, .g = g};
    if (!g || g->outer > g->rank || g->n_instr > GROUP_MAX_INSTR || group_points(g) == 0) {
        return plan_wrong(r->p, r->sink, op->node, "launch %u: no group", r->launch);
    }
    TRY(check_program(t));
    TRY(check_stores(t));
    for (int s = 0; s < ROW_SAMPLES; s++) {
        start_tour(t, s);
        TRY(check_points(t));
    }
    for (uint16_t i = 0; i < 2 * g->n_instr; i++) {
        start_tour(t, ROW_SAMPLES + i);
        if (move_to_edge(t, i / 2, i % 2)) {
            TRY(check_points(t));
        }
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        struct extent e;
        bool whole = store_extent(t, i, &e);
        run_write(r, e, !g->store[i].turn ? g->store[i].node : whole ? turned_by(t, g->store[i].counter) : 0);
    }
    return ST_OK;
}
