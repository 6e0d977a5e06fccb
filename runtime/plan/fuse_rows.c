/* softmax, logsumexp, cross entropy and argmax in instructions over rows of the last axis. Values between
 * input and result of bf16 are f32: a power that was rounded is of no use. Sums of exponentials are those of
 * REDUCE rows.
 */
#include <math.h>
#include "runtime/plan/fuse.h"

/* What the instructions of one draft have in common. */
struct writer {
    struct program *p;
    uint32_t node;
    enum dtype work;
};

static enum dtype work_of(enum dtype t)
{
    return t == DT_BF16 ? DT_F32 : t;
}

static uint16_t elem(const struct writer *w, enum op op, enum dtype t, int n, const uint16_t *in)
{
    struct step s = {.kind = GROUP_ELEM, .op = (uint16_t)op, .dtype = (uint8_t)t, .node = w->node};
    for (int i = 0; i < n; i++) {
        s.in[s.n_in++] = in[i];
    }
    return program_step(w->p, &s);
}
static uint16_t elem_1(const struct writer *w, enum op op, enum dtype t, uint16_t x)
{
    return elem(w, op, t, 1, &x);
}
static uint16_t elem_2(const struct writer *w, enum op op, enum dtype t, uint16_t x, uint16_t y)
{
    return elem(w, op, t, 2, (uint16_t[]){x, y});
}
static uint16_t elem_3(const struct writer *w, enum op op, enum dtype t, uint16_t x, uint16_t y, uint16_t z)
{
    return elem(w, op, t, 3, (uint16_t[]){x, y, z});
}
static uint16_t reduce(const struct writer *w, enum op op, enum dtype t, uint16_t x)
{
    struct step s = {.kind = GROUP_REDUCE, .op = (uint16_t)op, .dtype = (uint8_t)t, .node = w->node};
    s.in[s.n_in++] = x;
    return program_step(w->p, &s);
}
static uint16_t number(const struct writer *w, enum dtype t, double value)
{
    struct step s = {.kind = GROUP_CONST, .dtype = (uint8_t)t, .node = w->node, .value = value};
    return program_step(w->p, &s);
}
static uint16_t cast(const struct writer *w, enum dtype t, uint16_t x)
{
    return w->p->step[x].dtype == t ? x : elem_1(w, OP_cast, t, x);
}
static uint16_t load(const struct writer *w, uint32_t node, const struct place *at)
{
    struct step s = {.kind = GROUP_LOAD, .dtype = at->o.dtype, .node = node, .uses = 1, .at = *at};
    return program_step(w->p, &s);
}
/* The place along the last axis. */
static uint16_t column(const struct writer *w)
{
    struct step s = {.kind = GROUP_INDEX, .dtype = DT_I32, .node = w->node};
    s.at.o.rank = (uint8_t)w->p->rank;
    s.at.o.stride[w->p->rank - 1] = 1;
    return program_step(w->p, &s);
}

/* What lies in rows, for the whole domain. */
static struct place over_rows(const struct program *p, const struct place *rows)
{
    struct place at = *rows;
    at.o.rank = (uint8_t)p->rank;
    at.o.stride[p->rank - 1] = 0;
    memcpy(at.o.dim, p->dim, sizeof p->dim);
    return at;
}

/* The largest element, or 0 when all are -inf. */
static uint16_t shift_of(const struct writer *w, uint16_t x)
{
    uint16_t top = reduce(w, OP_amax, w->work, x);
    uint16_t none = elem_2(w, OP_eq, DT_BOOL, top, number(w, w->work, -INFINITY));
    return elem_3(w, OP_where, w->work, none, number(w, w->work, 0), top);
}

static uint16_t softmax(const struct writer *w, uint16_t x)
{
    uint16_t power = elem_1(w, OP_exp, w->work, elem_2(w, OP_sub, w->work, x, shift_of(w, x)));
    uint16_t sum = reduce(w, OP_sum, w->work, power), zero = number(w, w->work, 0);
    uint16_t empty = elem_2(w, OP_eq, DT_BOOL, sum, zero);
    uint16_t scale =
        elem_3(w, OP_where, w->work, empty, zero, elem_2(w, OP_div, w->work, number(w, w->work, 1), sum));
    return elem_2(w, OP_mul, w->work, power, scale);
}

static uint16_t logsumexp(const struct writer *w, uint16_t x)
{
    uint16_t shift = shift_of(w, x);
    uint16_t power = elem_1(w, OP_exp, w->work, elem_2(w, OP_sub, w->work, x, shift));
    uint16_t log = elem_1(w, OP_log, w->work, reduce(w, OP_sum, w->work, power));
    uint16_t whole = elem_2(w, OP_eq, DT_BOOL, shift, number(w, w->work, INFINITY));
    return elem_3(w, OP_where, w->work, whole, shift, elem_2(w, OP_add, w->work, log, shift));
}

static uint16_t xent(const struct writer *w, uint16_t x, uint16_t label, int64_t classes)
{
    struct step check = {.kind = GROUP_CHECK, .dtype = DT_I32, .node = w->node, .value = (double)classes};
    check.in[check.n_in++] = label;
    uint16_t y = program_step(w->p, &check), zero = number(w, w->work, 0);
    uint16_t d = elem_2(w, OP_sub, w->work, x, reduce(w, OP_amax, w->work, x));
    uint16_t log = elem_1(w, OP_log, w->work, reduce(w, OP_sum, w->work, elem_1(w, OP_exp, w->work, d)));
    uint16_t hit = elem_2(w, OP_eq, DT_BOOL, column(w), y);
    uint16_t own = reduce(w, OP_sum, w->work, elem_3(w, OP_where, w->work, hit, d, zero));
    uint16_t low = elem_2(w, OP_ge, DT_BOOL, y, number(w, DT_I32, 0));
    uint16_t high = elem_2(w, OP_lt, DT_BOOL, y, number(w, DT_I32, (double)classes));
    return elem_3(w, OP_where, w->work, elem_2(w, OP_land, DT_BOOL, low, high),
                  elem_2(w, OP_sub, w->work, log, own), zero);
}

/* The first place of the largest element, or of a NaN. */
static uint16_t argmax(const struct writer *w, uint16_t x, int64_t classes)
{
    uint16_t is = elem_2(w, OP_eq, DT_BOOL, x, reduce(w, OP_amax, w->work, x));
    if (w->work != DT_I32) {
        is = elem_2(w, OP_lor, DT_BOOL, is, elem_2(w, OP_ne, DT_BOOL, x, x));
    }
    uint16_t place = elem_3(w, OP_where, DT_I32, is, column(w), number(w, DT_I32, (double)(classes - 1)));
    return reduce(w, OP_amin, DT_I32, place);
}

bool program_rows_op(const struct graph *g, const struct draft *d, struct program *p)
{
    if (d->op != OP_softmax && d->op != OP_logsumexp && d->op != OP_xent && d->op != OP_argmax) {
        return false;
    }
    const struct operand *shape = &d->in[0].o;
    const uint32_t *in = node_inputs(g, graph_node(g, d->node));
    int64_t classes = shape->dim[shape->rank - 1];
    if (classes < 2 || classes > INT32_MAX) {
        return false;
    }
    p->rank = shape->rank;
    p->outer = shape->rank - 1;
    memcpy(p->dim, shape->dim, sizeof p->dim);
    struct writer w = {p, d->node, work_of((enum dtype)shape->dtype)};
    struct place to = d->op == OP_softmax ? d->out : over_rows(p, &d->out);
    uint16_t x = cast(&w, w.work, load(&w, in[0], &d->in[0])), out;
    if (d->op == OP_xent) {
        struct place label = over_rows(p, &d->in[1]);
        out = xent(&w, x, load(&w, in[1], &label), classes);
    } else {
        out = d->op == OP_softmax     ? softmax(&w, x)
              : d->op == OP_logsumexp ? logsumexp(&w, x)
                                      : argmax(&w, x, classes);
    }
    program_keep(p, cast(&w, (enum dtype)d->out.o.dtype, out), d->node, &to);
    return true;
}
