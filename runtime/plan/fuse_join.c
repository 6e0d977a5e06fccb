/* Two programs become one: b's steps behind a's, in the common domain. What b reads of a's results becomes
 * the value itself; everything else that both touch must be apart, or be read before it is written, point by
 * point.
 */
#include "runtime/plan/fuse.h"

enum {
    JOIN_OPERANDS = GROUP_MAX_OPERANDS - 1, /* and the control block */
    JOIN_SCALARS = 96,                      /* instructions repeated in each thread */
    JOIN_REPEATED = 1 << 16,                /* operations repeated at points: about a microsecond of a CPU, */
    JOIN_REPEATED_GPU = 1 << 24,            /* less than that of a GPU */
    FUNCTION = 8                            /* operations that a function is worth */
};

bool keep_is_needed(const struct variant_build *v, const struct keep *k, uint32_t readers)
{
    if (k->at.home == HOME_STORAGE) {
        return true;
    }
    const struct buffer *x = &v->buffers.at[k->at.index];
    return x->storage != NONE || x->carried || x->pinned || readers > 0;
}

struct join {
    const struct variant_build *v;
    struct program *out;     /* a in the common domain, growing */
    const struct program *b; /* in the common domain */
    uint32_t n_step, n_keep; /* of a */
    struct bytes *kept;      /* by keep of a */
    uint16_t *value;         /* by step of b */
    uint32_t *gone;          /* by step of b: readers that read from memory no longer */
    const uint32_t *reads;
    enum group_stop why;
};

static bool same_view(const struct operand *x, const struct operand *y, int rank)
{
    return x->dtype == y->dtype && !memcmp(x->stride, y->stride, (size_t)rank * sizeof *x->stride);
}
/* The same element at every point. */
static bool same_access(const struct join *j, const struct place *x, const struct place *y)
{
    struct bytes a = place_bytes(j->v, x), b = place_bytes(j->v, y);
    return a.space == b.space && a.from == b.from && x->home == y->home && place_turns_alike(x, y) &&
           same_view(&x->o, &y->o, j->out->rank);
}
bool place_is_same(const struct place *x, const struct place *y, int rank)
{
    return x->home == y->home && x->index == y->index && x->o.offset == y->o.offset &&
           place_turns_alike(x, y) && same_view(&x->o, &y->o, rank);
}

static bool same_step(const struct step *x, const struct step *y, int rank)
{
    if (x->kind != y->kind || x->dtype != y->dtype) {
        return false;
    }
    switch (x->kind) {
    case GROUP_LOAD:
    case GROUP_INDEX:
        return !x->n_in && !y->n_in && place_is_same(&x->at, &y->at, rank);
    case GROUP_CONST:
        return f64_bits(x->value) == f64_bits(y->value);
    case GROUP_SCALAR:
        return x->op == y->op && x->n_attr == y->n_attr &&
               !memcmp(x->attr, y->attr, x->n_attr * sizeof *x->attr);
    default:
        return false;
    }
}

static bool refuse(struct join *j, enum group_stop why)
{
    j->why = why;
    return false;
}

/* A load of b: a value of a, a load that a has too, or a new one. */
static bool join_load(struct join *j, uint32_t i, const struct step *s)
{
    struct bytes at = place_bytes(j->v, &s->at);
    for (uint32_t k = 0; k < j->n_keep; k++) {
        if (!bytes_meet(&at, &j->kept[k])) {
            continue;
        }
        if (step_is_guarded(s) || !same_access(j, &s->at, &j->out->keep[k].at)) {
            return refuse(j, STOP_reread);
        }
        j->value[i] = j->out->keep[k].value;
        j->gone[i] = s->uses;
        return true;
    }
    for (uint32_t k = 0; k < j->n_step; k++) {
        if (same_step(s, &j->out->step[k], j->out->rank)) {
            j->out->step[k].uses += s->uses;
            j->value[i] = (uint16_t)k;
            return true;
        }
    }
    j->value[i] = program_step(j->out, s);
    return true;
}

static bool join_steps(struct join *j)
{
    for (uint32_t i = 0; i < j->b->n_step; i++) {
        struct step s = j->b->step[i];
        for (int k = 0; k < s.n_in; k++) {
            s.in[k] = j->value[s.in[k]];
        }
        if (s.kind == GROUP_LOAD) {
            if (!join_load(j, i, &s)) {
                return false;
            }
            continue;
        }
        bool found = false;
        for (uint32_t k = 0; k < j->n_step && !found && s.n_in == 0; k++) {
            found = same_step(&s, &j->out->step[k], j->out->rank);
            j->value[i] = (uint16_t)k;
        }
        j->value[i] = found ? j->value[i] : program_step(j->out, &s);
    }
    return true;
}

/* What b writes: apart from all else that is written; over what is read only at the same point, where nothing
 * is reduced. */
static bool join_keeps(struct join *j)
{
    for (uint32_t i = 0; i < j->b->n_keep; i++) {
        struct keep k = j->b->keep[i];
        struct bytes at = place_bytes(j->v, &k.at);
        for (uint32_t x = 0; x < j->n_keep; x++) {
            if (bytes_meet(&at, &j->kept[x])) {
                return refuse(j, STOP_order);
            }
        }
        k.value = j->value[k.value];
        program_keep(j->out, k.value, k.node, &k.at);
    }
    return true;
}

static bool varies_everywhere(const struct program *p, const struct operand *o)
{
    for (int i = 0; i < p->rank; i++) {
        if (o->stride[i] == 0 && p->dim[i] > 1) {
            return false;
        }
    }
    return true;
}

/* Loads over what is written, of all of the joint program: at the same point, without a reduction. */
static bool reads_in_step(struct join *j)
{
    const struct program *p = j->out;
    for (uint32_t i = 0; i < p->n_keep; i++) {
        struct bytes to = place_bytes(j->v, &p->keep[i].at);
        for (uint32_t k = 0; k < p->n_step; k++) {
            const struct step *s = &p->step[k];
            struct bytes from = s->kind == GROUP_LOAD ? place_bytes(j->v, &s->at) : (struct bytes){0};
            if (s->kind == GROUP_LOAD && bytes_meet(&from, &to) &&
                (step_is_guarded(s) || p->outer < p->rank || !varies_everywhere(p, &s->at.o) ||
                 from.from != to.from || from.end != to.end || !place_turns_alike(&s->at, &p->keep[i].at) ||
                 !same_view(&s->at.o, &p->keep[i].at.o, p->rank))) {
                return refuse(j, STOP_order);
            }
        }
    }
    return true;
}

/* Results that nobody reads from memory any more are not kept. */
static void drop_keeps(struct join *j)
{
    struct program *p = j->out;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_keep; i++) {
        const struct keep *k = &p->keep[i];
        uint32_t gone = 0;
        for (uint32_t s = 0; s < j->b->n_step && k->at.home == HOME_BUFFER; s++) {
            const struct step *x = &j->b->step[s];
            bool reads = x->kind == GROUP_LOAD && x->at.home == HOME_BUFFER && x->at.index == k->at.index;
            gone += reads ? j->gone[s] : 0;
        }
        if (keep_is_needed(j->v, k, k->at.home == HOME_BUFFER ? j->reads[k->at.index] - gone : 0)) {
            p->keep[n++] = *k;
        }
    }
    p->n_keep = n;
}

static bool fits(struct join *j)
{
    const struct program *p = j->out;
    uint32_t steps = p->n_step + p->n_keep, operands = p->n_keep, reductions = 0;
    bool turns = false;
    for (uint32_t i = 0; i < p->n_step; i++) {
        const struct step *s = &p->step[i];
        operands += s->kind == GROUP_LOAD || s->kind == GROUP_RANGES;
        turns |= s->kind == GROUP_LOAD && s->at.turns;
        reductions += s->kind == GROUP_REDUCE;
        steps += s->kind == GROUP_INDEX ? 3 * (uint32_t)p->rank : 0;
    }
    for (uint32_t i = 0; i < p->n_keep; i++) {
        turns |= p->keep[i].at.turns;
    }
    return (operands + turns <= JOIN_OPERANDS && steps + reductions <= GROUP_MAX_INSTR &&
            reductions <= GROUP_MAX_REDUCE) ||
           refuse(j, STOP_size);
}

static bool rows_fit(struct join *j)
{
    return !program_rows_are_long(j->out) || !program_goes_on(j->out) || refuse(j, STOP_cost);
}

/* What it costs to make the values of p at every point of a larger domain. */
static bool cheap_to_repeat(struct join *j, const struct program *p)
{
    uint32_t varies[GROUP_MAX_INSTR], inside = ~((1u << p->outer) - 1);
    uint32_t scalars = 0;
    double work = 0, points = (double)program_points(p), rows = (double)program_rows(p);
    program_varies(p, varies);
    for (uint32_t i = 0; i < p->n_step; i++) {
        const struct step *s = &p->step[i];
        scalars += !varies[i];
        if (varies[i]) {
            double one = s->kind == GROUP_ELEM && op_table[s->op].tolerance > 0 ? FUNCTION : 1;
            work += one * (varies[i] & inside || p->outer == p->rank ? points : rows);
        }
    }
    double most = j->v->b->o->target.sm ? JOIN_REPEATED_GPU : JOIN_REPEATED;
    return (scalars <= JOIN_SCALARS && work <= most) || refuse(j, STOP_cost);
}

static bool join_all(struct join *j, const struct match *m)
{
    const struct program *repeated = m->extra[0] ? j->out : m->extra[1] ? j->b : NULL;
    if (!((!repeated || cheap_to_repeat(j, repeated)) && join_steps(j) && join_keeps(j) && reads_in_step(j) &&
          rows_fit(j))) {
        return false;
    }
    drop_keeps(j);
    return fits(j);
}

struct program *program_join(struct fuser *f, const struct program *a, const struct program *b,
                             const struct match *m, enum group_stop *why)
{
    struct bytes kept[GROUP_MAX_INSTR];
    uint16_t value[GROUP_MAX_INSTR];
    uint32_t gone[GROUP_MAX_INSTR] = {0};
    *why = STOP_size;
    if (a->n_step + b->n_step > GROUP_MAX_INSTR || a->n_keep + b->n_keep > GROUP_MAX_INSTR) {
        return NULL;
    }
    struct program *y = match_apply(f, b, m, 1, 0);
    struct join j = {.v = f->v,
                     .out = match_apply(f, a, m, 0, b->n_step + b->n_keep),
                     .b = y,
                     .n_step = a->n_step,
                     .n_keep = a->n_keep,
                     .kept = kept,
                     .value = value,
                     .gone = gone,
                     .reads = f->reads};
    for (uint32_t i = 0; i < j.n_keep; i++) {
        kept[i] = place_bytes(f->v, &j.out->keep[i].at);
    }
    bool ok = join_all(&j, m);
    for (uint32_t i = 0; ok && i < y->n_step; i++) {
        if (gone[i] && y->step[i].at.home == HOME_BUFFER) {
            f->reads[y->step[i].at.index] -= gone[i];
        }
    }
    *why = j.why;
    program_free(f, y);
    if (!ok) {
        program_free(f, j.out);
    }
    return ok ? j.out : NULL;
}
