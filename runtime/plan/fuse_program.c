/* One draft as a program: its operands in the domain it walks. */
#include "runtime/plan/fuse.h"

enum { MOST_PARTS = 8 /* of a value that is joined in a group */ };

int64_t program_points(const struct program *p)
{
    int64_t n = 1;
    for (int i = 0; i < p->rank; i++) {
        n *= p->dim[i];
    }
    return n;
}

int64_t program_rows(const struct program *p)
{
    int64_t n = 1;
    for (int i = 0; i < p->outer; i++) {
        n *= p->dim[i];
    }
    return n;
}

bool program_rows_are_long(const struct program *p)
{
    int64_t rows = program_rows(p);
    return p->outer < p->rank && rows < GROUP_ROWS_MANY &&
           program_points(p) / (rows ? rows : 1) > GROUP_ROW_MAX;
}

/* -- room: programs are made and thrown away all the time */

struct program *program_new(struct fuser *f, uint32_t n)
{
    int size = 0;
    while ((4u << size) < n) {
        size++;
    }
    struct program *p = f->unused[size];
    if (p) {
        f->unused[size] = p->next;
        struct step *step = p->step;
        struct keep *keep = p->keep;
        *p = (struct program){.size = size, .step = step, .keep = keep};
        return p;
    }
    struct arena *a = f->v->b->scratch;
    p = arena_new_of(a, struct program);
    p->size = size;
    p->step = arena_array(a, struct step, (size_t)4 << size);
    p->keep = arena_array(a, struct keep, (size_t)4 << size);
    return p;
}

void program_free(struct fuser *f, struct program *p)
{
    p->next = f->unused[p->size];
    f->unused[p->size] = p;
}

uint16_t program_step(struct program *p, const struct step *s)
{
    p->step[p->n_step] = *s;
    return (uint16_t)p->n_step++;
}

void program_keep(struct program *p, uint16_t value, uint32_t node, const struct place *at)
{
    p->keep[p->n_keep++] = (struct keep){value, node, *at};
}

/* -- facts */

static uint32_t operand_varies(const struct operand *o, int rank)
{
    uint32_t axes = 0;
    for (int i = 0; i < rank && i < LIMIT_RANK; i++) {
        axes |= (uint32_t)(o->stride[i] != 0) << i;
    }
    return axes;
}

void program_varies(const struct program *p, uint32_t *axes)
{
    uint32_t rows = (1u << p->outer) - 1;
    for (uint32_t i = 0; i < p->n_step; i++) {
        const struct step *s = &p->step[i];
        bool reads = s->kind == GROUP_LOAD || s->kind == GROUP_INDEX;
        axes[i] = reads ? operand_varies(&s->at.o, p->rank) : 0;
        for (int k = 0; k < s->n_in; k++) {
            axes[i] |= axes[s->in[k]];
        }
        axes[i] &= s->kind == GROUP_REDUCE ? rows : UINT32_MAX;
    }
}

bool program_goes_on(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_step; i++) {
        for (int k = 0; k < p->step[i].n_in; k++) {
            if (p->step[p->step[i].in[k]].kind == GROUP_REDUCE) {
                return true;
            }
        }
    }
    return false;
}

/* -- fewer axes */

static bool has_operand(const struct step *s)
{
    return s->kind == GROUP_LOAD || s->kind == GROUP_INDEX;
}
static bool axes_merge(const struct operand *o, int i, int64_t inner)
{
    return o->stride[i] == o->stride[i + 1] * inner;
}
static bool merges(const struct program *p, int i)
{
    for (uint32_t k = 0; k < p->n_step; k++) {
        if (has_operand(&p->step[k]) && !axes_merge(&p->step[k].at.o, i, p->dim[i + 1])) {
            return false;
        }
    }
    for (uint32_t k = 0; k < p->n_keep; k++) {
        if (!axes_merge(&p->keep[k].at.o, i, p->dim[i + 1])) {
            return false;
        }
    }
    return true;
}
/* Axis i goes; the size of the next one (or its own, if 1) stays. */
static void operand_drop(struct operand *o, int i, int rank)
{
    for (int k = i; k + 1 < rank; k++) {
        o->dim[k] = o->dim[k + 1];
        o->stride[k] = o->stride[k + 1];
    }
    o->rank = (uint8_t)(rank - 1);
}
static void drop_axis(struct program *p, int i)
{
    for (uint32_t k = 0; k < p->n_step; k++) {
        if (has_operand(&p->step[k])) {
            int64_t *box = p->step[k].at.o.dim;
            box[i + 1 < p->rank ? i + 1 : i] *= step_is_guarded(&p->step[k]) ? box[i] : 1;
            operand_drop(&p->step[k].at.o, i, p->rank);
        }
    }
    for (uint32_t k = 0; k < p->n_keep; k++) {
        operand_drop(&p->keep[k].at.o, i, p->rank);
    }
    memmove(p->dim + i, p->dim + i + 1, (size_t)(p->rank - i - 1) * sizeof *p->dim);
    p->outer -= p->outer > i;
    p->rank--;
}
static void set_dims(struct program *p)
{
    for (uint32_t k = 0; k < p->n_step; k++) {
        if (has_operand(&p->step[k]) && !step_is_guarded(&p->step[k])) {
            memcpy(p->step[k].at.o.dim, p->dim, sizeof p->dim);
        }
    }
    for (uint32_t k = 0; k < p->n_keep; k++) {
        memcpy(p->keep[k].at.o.dim, p->dim, sizeof p->dim);
    }
}

void program_simplify(struct program *p)
{
    for (int i = p->rank - 1; i >= 0; i--) {
        if (p->dim[i] == 1) {
            drop_axis(p, i);
        }
    }
    for (int i = p->rank - 2; i >= 0; i--) {
        if (i + 1 != p->outer && merges(p, i)) {
            p->dim[i + 1] *= p->dim[i];
            drop_axis(p, i);
        }
    }
    set_dims(p);
}

/* -- by operator */

/* The place with its axes in the order `perm` of the domain; an operand of rank 0 repeats. */
static struct place in_domain(const struct place *at, const struct program *p, const int *perm)
{
    struct place out = *at;
    out.o.rank = (uint8_t)p->rank;
    for (int i = 0; i < p->rank; i++) {
        out.o.dim[i] = p->dim[i];
        out.o.stride[i] = at->o.rank ? at->o.stride[perm[i]] : 0;
        out.o.stride[i] = p->dim[i] == 1 ? 0 : out.o.stride[i];
    }
    return out;
}

/* The node whose value is input i: that of a copy is the node copied. */
static uint32_t input_node(const struct variant_build *v, const struct draft *d, uint32_t i)
{
    const struct node *n = graph_node(v->b->g, d->node);
    return n->op == d->op && i < n->n_in ? node_inputs(v->b->g, n)[i] : d->node;
}

static struct step load_step(const struct variant_build *v, const struct draft *d, uint32_t input,
                             const struct place *at)
{
    struct step s = {
        .kind = GROUP_LOAD, .dtype = at->o.dtype, .node = input_node(v, d, input), .uses = 1, .at = *at};
    if (at->home == HOME_STORAGE && at->index == CONSTANTS_STORAGE &&
        operand_varies(&at->o, at->o.rank) == 0) {
        s.kind = GROUP_CONST;
        s.value = v->b->constants.at[at->o.offset / 8].value;
        s.at = (struct place){0};
    }
    return s;
}

static const int same_axes[LIMIT_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

static void domain_of(struct program *p, const struct operand *o)
{
    p->rank = p->outer = o->rank;
    memcpy(p->dim, o->dim, sizeof p->dim);
}

/* What a draft does, at each point of its result. */
static struct step draft_step(const struct draft *d, enum group_kind kind)
{
    return (struct step){.kind = (uint8_t)kind,
                         .op = (uint16_t)d->op,
                         .dtype = d->out.o.dtype,
                         .node = d->node,
                         .attr = d->attr,
                         .n_attr = d->n_attr};
}

static void elem_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    struct step s = draft_step(d, GROUP_ELEM);
    domain_of(p, &d->out.o);
    for (uint32_t i = 0; i < d->n_in; i++) {
        struct place at = in_domain(&d->in[i], p, same_axes);
        if (i && at.home != HOME_NONE && place_is_same(&d->in[i], &d->in[i - 1], at.o.rank)) { /* x * x */
            p->step[s.in[i - 1]].uses++;
            s.in[s.n_in++] = s.in[i - 1];
            continue;
        }
        struct step load = load_step(v, d, i, &at);
        s.in[s.n_in++] = program_step(p, &load);
    }
    struct place to = in_domain(&d->out, p, same_axes);
    program_keep(p, d->op == OP_copy ? s.in[0] : program_step(p, &s), d->node, &to);
}

/* The domain with the axes of `gone` last. */
static void reduce_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    const struct operand *x = &d->in[0].o;
    int perm[LIMIT_RANK], n = 0, kept = 0;
    for (int goes = 0; goes < 2; goes++) {
        uint32_t next = 0;
        for (int i = 0; i < x->rank; i++) {
            bool listed = next < d->n_attr && d->attr[next] == i;
            next += listed;
            if (listed == goes) {
                perm[n] = i;
                p->dim[n++] = x->dim[i];
            }
        }
        kept = goes ? kept : n;
    }
    p->rank = n;
    p->outer = kept;
    struct place at = in_domain(&d->in[0], p, perm), to = d->out;
    struct step load = load_step(v, d, 0, &at), s = {.kind = GROUP_REDUCE,
                                                     .op = (uint16_t)d->op,
                                                     .dtype = d->out.o.dtype,
                                                     .node = d->node,
                                                     .n_in = 1};
    s.in[0] = program_step(p, &load);
    to.o.rank = (uint8_t)n;
    for (int i = 0; i < n; i++) {
        to.o.dim[i] = p->dim[i];
        to.o.stride[i] = i < kept && p->dim[i] > 1 ? d->out.o.stride[i] : 0;
    }
    bool one = program_points(p) == program_rows(p); /* nothing to add up */
    program_keep(p, one ? s.in[0] : program_step(p, &s), d->node, &to);
    p->outer = one ? p->rank : p->outer;
}

static void source_program(const struct draft *d, struct program *p)
{
    struct step s = draft_step(d, GROUP_SCALAR);
    domain_of(p, &d->out.o);
    struct place to = in_domain(&d->out, p, same_axes);
    if (d->op == OP_iota || d->op == OP_ranges) {
        struct step index = {.kind = GROUP_INDEX, .dtype = DT_I32, .node = d->node, .at = to};
        index.at.home = HOME_NONE;
        index.at.o.offset = 0;
        uint16_t at = program_step(p, &index);
        if (d->op == OP_iota) {
            program_keep(p, at, d->node, &to);
            return;
        }
        s.kind = GROUP_RANGES;
        s.value = bits_f64(d->attr[1]);
        s.n_in = 1;
        s.in[0] = at;
        s.at = d->in[0];
        s.attr = NULL;
        s.n_attr = 0;
    }
    program_keep(p, program_step(p, &s), d->node, &to);
}

/* The part of a stack that the counter stands for, as a place of the domain. */
static struct place part_of(const struct place *stack, const struct place *counter, const struct program *p)
{
    struct place at = *stack;
    at.turns = stack->o.dim[0];
    at.turn = stack->o.stride[0] * (int64_t)dtype_size((enum dtype)stack->o.dtype);
    at.counter = counter->index;
    at.o.rank--;
    memmove(at.o.dim, at.o.dim + 1, at.o.rank * sizeof *at.o.dim);
    memmove(at.o.stride, at.o.stride + 1, at.o.rank * sizeof *at.o.stride);
    return in_domain(&at, p, same_axes);
}

/* loop_in and loop_put: copies from and to such a part. */
static void turning_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    bool in = d->op == OP_loop_in;
    domain_of(p, in ? &d->out.o : &d->in[0].o);
    struct place from = in ? part_of(&d->in[0], &d->in[1], p) : in_domain(&d->in[0], p, same_axes);
    struct place to = in ? in_domain(&d->out, p, same_axes) : part_of(&d->out, &d->in[1], p);
    struct step load = load_step(v, d, 0, &from);
    program_keep(p, program_step(p, &load), d->node, &to);
}

/* concat of parts of one size: copies from each to where it lies in the whole. */
static bool joined_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    int axis = (int)d->attr[0];
    int64_t size = (int64_t)dtype_size(d->out.o.dtype), part = d->in[0].o.dim[axis];
    bool equal = d->n_in <= MOST_PARTS && d->n_in > 1;
    for (uint32_t i = 1; i < d->n_in && equal; i++) {
        equal = d->in[i].o.dim[axis] == part;
    }
    if (!equal) {
        return false;
    }
    domain_of(p, &d->in[0].o);
    for (uint32_t i = 0; i < d->n_in; i++) {
        struct place from = in_domain(&d->in[i], p, same_axes), to = d->out;
        struct step load = load_step(v, d, i, &from);
        to.o.dim[axis] = part;
        to.o.offset += (uint64_t)(i * part * to.o.stride[axis] * size);
        to = in_domain(&to, p, same_axes);
        program_keep(p, program_step(p, &load), d->node, &to);
    }
    return true;
}

static bool fits_i32(const struct operand *o)
{
    return operand_count(o) <= INT32_MAX;
}

static uint16_t guard_step(struct program *p, uint32_t node, enum op op, uint16_t x, uint16_t y)
{
    struct step s = {.kind = GROUP_ELEM, .op = (uint16_t)op, .dtype = DT_BOOL, .n_in = 2, .node = node};
    s.in[0] = x;
    s.in[1] = y;
    return program_step(p, &s);
}
/* The place along an axis. */
static uint16_t place_step(struct program *p, uint32_t node, int axis)
{
    for (uint32_t i = 0; i < p->n_step; i++) {
        if (p->step[i].kind == GROUP_INDEX && p->step[i].at.o.stride[axis]) {
            return (uint16_t)i;
        }
    }
    struct step s = {.kind = GROUP_INDEX, .dtype = DT_I32, .node = node};
    s.at.o.rank = (uint8_t)p->rank;
    s.at.o.stride[axis] = 1;
    return program_step(p, &s);
}
/* One more condition of a guard: the place along an axis compared with a number. */
static void guard_add(struct program *p, struct step *load, int axis, enum op op, int64_t number)
{
    uint32_t node = load->node;
    struct step bound = {.kind = GROUP_CONST, .dtype = DT_I32, .value = (double)number, .node = node};
    uint16_t at = place_step(p, node, axis);
    uint16_t is = guard_step(p, node, op, at, program_step(p, &bound));
    load->in[0] = load->n_in ? guard_step(p, node, OP_land, load->in[0], is) : is;
    load->n_in = 1;
}

/* pad: a guarded load. */
static bool pad_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    const struct operand *box = &d->in[0].o;
    domain_of(p, &d->out.o);
    struct place at = in_domain(&d->in[0], p, same_axes), to = in_domain(&d->out, p, same_axes);
    struct step load = load_step(v, d, 0, &at);
    bool apart = load.kind != GROUP_LOAD || !fits_i32(&d->out.o);
    load.node = d->node;
    for (int i = 0; i < p->rank && !apart; i++) {
        int64_t start = d->attr[p->rank + i];
        apart = d->attr[i] != 1 && box->dim[i] > 1;
        load.at.o.dim[i] = box->dim[i];
        load.back += start * load.at.o.stride[i];
        if (start > 0) {
            guard_add(p, &load, i, OP_ge, start);
        }
        if (start + box->dim[i] < p->dim[i]) {
            guard_add(p, &load, i, OP_lt, start + box->dim[i]);
        }
    }
    program_keep(p, program_step(p, &load), d->node, &to);
    return !apart;
}

static bool draft_program(const struct variant_build *v, const struct draft *d, struct program *p)
{
    switch (op_table[d->op].kind) {
    case OPK_ELEM:
        elem_program(v, d, p);
        return true;
    case OPK_REDUCE:
        reduce_program(v, d, p);
        return true;
    default:
        break;
    }
    switch (d->op) {
    case OP_copy:
        elem_program(v, d, p);
        return true;
    case OP_loop_in:
    case OP_loop_put:
        turning_program(v, d, p);
        return true;
    case OP_pad:
        return pad_program(v, d, p);
    case OP_concat:
        return joined_program(v, d, p);
    case OP_iota:
    case OP_ranges:
        source_program(d, p);
        return fits_i32(&d->out.o);
    case OP_step:
    case OP_knob:
    case OP_metric:
        source_program(d, p);
        return d->out.o.rank == 0; /* not those of several replicas */
    default:
        return program_rows_op(v->b->g, d, p);
    }
}

struct program *program_make(struct fuser *f, const struct draft *d)
{
    if (d->loop || operand_count(&d->out.o) == 0 || (d->n_in && operand_count(&d->in[0].o) == 0)) {
        return NULL;
    }
    struct program *p = program_new(f, PROGRAM_DRAFT), *out = NULL;
    if (draft_program(f->v, d, p)) {
        program_simplify(p);
        out = program_new(f, p->n_step);
        struct program room = *out;
        *out = *p;
        out->size = room.size;
        out->step = room.step;
        out->keep = room.keep;
        memcpy(out->step, p->step, p->n_step * sizeof *p->step);
        memcpy(out->keep, p->keep, p->n_keep * sizeof *p->keep);
    }
    program_free(f, p);
    return out;
}
