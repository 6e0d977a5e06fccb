/* A program as struct group and its operands: results that are needed, instructions that they need, axes
 * merged, numbers along several axes put together, values of rows told from others.
 */
#include "runtime/plan/fuse.h"

struct emitter {
    struct variant_build *v;
    struct program *p;
    struct group *g;
    struct group_instr instr[GROUP_MAX_INSTR];
    uint16_t value[GROUP_MAX_INSTR];  /* by step */
    uint32_t varies[GROUP_MAX_INSTR]; /* by step */
    struct place in[GROUP_MAX_OPERANDS];
    uint16_t n, n_in;
};

static void drop_unused(const struct fuser *f, struct program *p)
{
    bool used[GROUP_MAX_INSTR] = {false};
    uint16_t to[GROUP_MAX_INSTR];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_keep; i++) {
        const struct place *at = &p->keep[i].at;
        if (keep_is_needed(f->v, &p->keep[i], at->home == HOME_BUFFER ? f->reads[at->index] : 0)) {
            used[p->keep[i].value] = true;
            p->keep[n++] = p->keep[i];
        }
    }
    p->n_keep = n;
    n = 0;
    for (uint32_t i = p->n_step; i-- > 0;) {
        used[i] |= p->step[i].kind == GROUP_CHECK;
        for (int k = 0; used[i] && k < p->step[i].n_in; k++) {
            used[p->step[i].in[k]] = true;
        }
    }
    for (uint32_t i = 0; i < p->n_step; i++) {
        if (used[i]) {
            struct step s = p->step[i];
            for (int k = 0; k < s.n_in; k++) {
                s.in[k] = to[s.in[k]];
            }
            to[i] = (uint16_t)n;
            p->step[n++] = s;
        }
    }
    p->n_step = n;
    for (uint32_t i = 0; i < p->n_keep; i++) {
        p->keep[i].value = to[p->keep[i].value];
    }
}

static uint16_t push(struct emitter *e, const struct group_instr *x)
{
    e->instr[e->n] = *x;
    return e->n++;
}
static uint16_t operand(struct emitter *e, const struct place *at)
{
    e->in[e->n_in] = *at;
    return e->n_in++;
}

/* Of all turning operands: those of one body. */
static uint16_t counter(struct emitter *e, uint32_t buffer)
{
    for (uint16_t i = 0; i < e->n_in; i++) {
        if (e->in[i].home == HOME_BUFFER && e->in[i].index == buffer && !e->in[i].o.rank) {
            return i;
        }
    }
    return operand(e, &(struct place){.home = HOME_BUFFER, .index = buffer, .o = {.dtype = DT_I32}});
}

static uint16_t arithmetic(struct emitter *e, enum op op, uint16_t x, int64_t number, uint32_t node)
{
    struct group_instr c = {.kind = GROUP_CONST, .dtype = DT_I32, .value = (double)number, .node = node};
    struct group_instr s = {.kind = GROUP_ELEM, .dtype = DT_I32, .op = (uint16_t)op, .n_in = 2, .node = node};
    s.in[0] = x;
    s.in[1] = push(e, &c);
    return push(e, &s);
}
/* offset + the sum of index * stride */
static uint16_t emit_index(struct emitter *e, const struct step *s)
{
    bool any = false;
    uint16_t sum = 0;
    for (int i = 0; i < e->p->rank; i++) {
        if (!s->at.o.stride[i]) {
            continue;
        }
        struct group_instr x = {
            .kind = GROUP_INDEX, .dtype = DT_I32, .operand = (uint16_t)i, .node = s->node};
        uint16_t at = push(e, &x);
        at = s->at.o.stride[i] == 1 ? at : arithmetic(e, OP_mul, at, s->at.o.stride[i], s->node);
        struct group_instr add = {
            .kind = GROUP_ELEM, .dtype = DT_I32, .op = OP_add, .n_in = 2, .in = {sum, at}, .node = s->node};
        sum = any ? push(e, &add) : at;
        any = true;
    }
    if (!any) {
        struct group_instr zero = {.kind = GROUP_CONST, .dtype = DT_I32, .node = s->node};
        sum = push(e, &zero);
    }
    return s->at.o.offset ? arithmetic(e, OP_add, sum, (int64_t)s->at.o.offset, s->node) : sum;
}

/* A value of a row for every point of it. */
static uint16_t spread(struct emitter *e, uint16_t value)
{
    struct group_instr x = {.kind = GROUP_ELEM,
                            .dtype = e->instr[value].dtype,
                            .op = OP_cast,
                            .n_in = 1,
                            .in = {value},
                            .node = e->instr[value].node};
    return push(e, &x);
}

static bool is_row(const struct emitter *e, uint32_t varies)
{
    return e->p->outer < e->p->rank && !(varies >> e->p->outer);
}

static uint16_t emit_step(struct emitter *e, const struct step *s, uint32_t varies)
{
    struct group_instr x = {.kind = s->kind,
                            .dtype = s->dtype,
                            .n_in = s->n_in,
                            .op = s->op,
                            .value = s->value,
                            .attr = s->attr,
                            .n_attr = s->n_attr,
                            .node = s->node};
    for (int i = 0; i < s->n_in; i++) {
        x.in[i] = e->value[s->in[i]];
    }
    if (s->kind == GROUP_INDEX) {
        uint16_t from = e->n, out = emit_index(e, s);
        for (uint16_t i = from; i < e->n; i++) {
            e->instr[i].row = is_row(e, e->instr[i].kind == GROUP_CONST ? 0 : varies);
        }
        return out;
    }
    if (s->kind == GROUP_LOAD || s->kind == GROUP_RANGES) {
        x.operand = operand(e, &s->at);
        x.back = s->back * (int64_t)dtype_size((enum dtype)s->dtype);
        x.turn = s->at.turns ? s->at.turn : 0;
        x.counter = s->at.turns ? counter(e, s->at.counter) : 0;
    }
    if (s->kind == GROUP_REDUCE && is_row(e, e->varies[s->in[0]])) {
        x.in[0] = spread(e, x.in[0]);
    }
    e->g->control |= s->kind == GROUP_SCALAR || s->kind == GROUP_CHECK;
    x.row = is_row(e, varies);
    return push(e, &x);
}

static void emit_stores(struct emitter *e, struct draft *out)
{
    struct program *p = e->p;
    struct arena *a = e->v->b->arena;
    struct group_store *store = arena_array(a, struct group_store, p->n_keep);
    struct place *to = arena_array(e->v->b->scratch, struct place, p->n_keep);
    for (uint32_t i = 0; i < p->n_keep; i++) {
        const struct keep *k = &p->keep[i];
        bool inside = false;
        to[i] = k->at;
        for (int x = 0; x < p->rank; x++) {
            to[i].o.dim[x] = k->at.o.stride[x] ? p->dim[x] : 1;
            inside |= x >= p->outer && k->at.o.stride[x];
        }
        uint16_t value = e->value[k->value];
        bool spreads = inside && is_row(e, e->varies[k->value]);
        store[i] = (struct group_store){.value = spreads ? spread(e, value) : value,
                                        .operand = (uint16_t)i,
                                        .counter = k->at.turns ? counter(e, k->at.counter) : 0,
                                        .turn = k->at.turns ? k->at.turn : 0,
                                        .node = k->node};
    }
    e->g->store = store;
    e->g->n_store = (uint16_t)p->n_keep;
    out->outs = to;
    out->n_outs = p->n_keep;
    out->out = to[0];
}

void program_emit(struct fuser *f, struct program *p, struct draft *out)
{
    struct variant_build *v = f->v;
    struct arena *a = v->b->arena;
    struct emitter *e = arena_new_of(v->b->scratch, struct emitter);
    *e = (struct emitter){.v = v, .p = p, .g = arena_new_of(a, struct group)};
    drop_unused(f, p);
    program_simplify(p);
    program_varies(p, e->varies);
    e->g->rank = (uint8_t)p->rank;
    e->g->outer = (uint8_t)p->outer;
    memcpy(e->g->dim, p->dim, sizeof p->dim);
    for (uint32_t i = 0; i < p->n_step; i++) {
        e->value[i] = emit_step(e, &p->step[i], e->varies[i]);
    }
    emit_stores(e, out);
    if (e->g->control) {
        operand(e, &(struct place){.home = HOME_STORAGE, .index = CONTROL_STORAGE});
    }
    struct group_instr *instr = arena_array(a, struct group_instr, e->n);
    memcpy(instr, e->instr, e->n * sizeof *instr);
    e->g->instr = instr;
    e->g->n_instr = e->n;
    out->op = OP_group;
    out->group = e->g;
    out->n_in = e->n_in;
    out->in = arena_array(v->b->scratch, struct place, e->n_in);
    memcpy(out->in, e->in, e->n_in * sizeof *e->in);
    out->stop = (uint8_t)(p->stop ? p->stop : STOP_end);
    out->node = p->keep[p->n_keep - 1].node;
}
