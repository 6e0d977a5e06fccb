/* Which axes of two programs are the same: those along which both step equally through an operand that they
 * share, and those along which the operand repeats in both. Axes are cut into pieces where sizes differ.
 */
#include "runtime/plan/fuse.h"

/* Axes of one program in some order; the last may be used up in part. */
struct walk {
    int n, axis[LIMIT_RANK];
    int64_t left, step; /* of the last one: what is left of its size, and one step of the next piece */
};

static int64_t walk_size(const struct walk *w, const struct program *p)
{
    int64_t n = 1;
    for (int i = 0; i < w->n; i++) {
        n *= p->dim[w->axis[i]];
    }
    return n;
}
static void walk_open(struct walk *w, const struct program *p)
{
    w->left = w->n ? p->dim[w->axis[w->n - 1]] : 1;
    w->step = 1;
}
static void walk_on(struct walk *w, const struct program *p, int64_t size)
{
    w->left /= size;
    w->step *= size;
    if (w->left == 1) {
        w->n--;
        walk_open(w, p);
    }
}

static bool push_piece(struct match *m, const struct piece *p)
{
    if (m->rank == LIMIT_RANK) {
        return false;
    }
    m->piece[m->rank++] = *p;
    return true;
}

/* Cuts two lists of axes of equal size into the same pieces, the innermost first. With operands the strides
 * must agree. */
static bool pair_axes(const struct program *a, struct walk *x, const struct operand *xo,
                      const struct program *b, struct walk *y, const struct operand *yo, struct match *m)
{
    walk_open(x, a);
    walk_open(y, b);
    while (x->n && y->n) {
        int64_t size = x->left < y->left ? x->left : y->left;
        struct piece p = {size, {x->axis[x->n - 1], y->axis[y->n - 1]}, {x->step, y->step}};
        if (x->left % size || y->left % size || !push_piece(m, &p) ||
            (xo && xo->stride[p.axis[0]] * p.step[0] != yo->stride[p.axis[1]] * p.step[1])) {
            return false;
        }
        walk_on(x, a, size);
        walk_on(y, b, size);
    }
    return !x->n && !y->n;
}

/* Axes that a lacks or b lacks (side 0: a has them). */
static bool lone_axes(const struct program *p, const struct walk *w, int side, struct match *m)
{
    for (int i = w->n - 1; i >= 0; i--) {
        struct piece x = {p->dim[w->axis[i]], {-1, -1}, {1, 1}};
        x.axis[side] = w->axis[i];
        if (!push_piece(m, &x)) {
            return false;
        }
    }
    m->extra[!side] = w->n > 0;
    return true;
}

/* Axes with stride 0, or all others by falling stride. */
static struct walk axes_of(const struct program *p, const struct operand *o, bool still)
{
    struct walk w = {0};
    for (int i = 0; i < p->rank; i++) {
        if ((o->stride[i] == 0) != still) {
            continue;
        }
        int at = w.n++;
        for (; !still && at > 0 && o->stride[w.axis[at - 1]] < o->stride[i]; at--) {
            w.axis[at] = w.axis[at - 1];
        }
        w.axis[at] = i;
    }
    return w;
}

/* -- the order of pieces, and reductions */

static int lead_of(const struct program *a, const struct program *b, const struct match *m)
{
    if (m->extra[0] || m->extra[1]) {
        return m->extra[0] ? 1 : 0;
    }
    return b->outer < b->rank && a->outer == a->rank ? 1 : 0;
}

static bool is_before(const struct piece *x, const struct piece *y, int side)
{
    return x->axis[side] != y->axis[side] ? x->axis[side] < y->axis[side] : x->step[side] > y->step[side];
}

static void sort_pieces(struct match *m, int side)
{
    for (int i = 1; i < m->rank; i++) {
        struct piece x = m->piece[i];
        int at = i;
        for (; at > 0 && is_before(&x, &m->piece[at - 1], side); at--) {
            m->piece[at] = m->piece[at - 1];
        }
        m->piece[at] = x;
    }
}

/* A program that reduces must have every axis, reduce exactly those of the common inside, and step through
 * them in this order. */
static bool reduces_alike(const struct program *p, const struct match *m, int side)
{
    if (p->outer == p->rank) {
        return true;
    }
    for (int i = 0; i < m->rank; i++) {
        if (m->piece[i].axis[side] < 0 || (m->piece[i].axis[side] >= p->outer) != (i >= m->outer) ||
            (i > m->outer && !is_before(&m->piece[i - 1], &m->piece[i], side))) {
            return false;
        }
    }
    return true;
}

/* Axes along which a guarded operand is a box are not cut. */
static bool keeps_boxes(const struct program *p, const struct match *m, int side)
{
    for (uint32_t k = 0; k < p->n_step; k++) {
        for (int i = 0; i < m->rank && step_is_guarded(&p->step[k]); i++) {
            int axis = m->piece[i].axis[side];
            if (axis >= 0 && m->piece[i].dim != p->dim[axis] && p->step[k].at.o.dim[axis] != p->dim[axis]) {
                return false;
            }
        }
    }
    return true;
}

static bool finish(const struct program *a, const struct program *b, struct match *m)
{
    int lead = lead_of(a, b, m);
    const struct program *p = lead ? b : a;
    sort_pieces(m, lead);
    m->outer = 0;
    while (m->outer < m->rank && m->piece[m->outer].axis[lead] < p->outer) {
        m->outer++;
    }
    return reduces_alike(a, m, 0) && reduces_alike(b, m, 1) && keeps_boxes(a, m, 0) && keeps_boxes(b, m, 1);
}

bool match_by(const struct program *a, const struct operand *x, const struct program *b,
              const struct operand *y, struct match *m)
{
    struct walk ax = axes_of(a, x, false), by = axes_of(b, y, false), az = axes_of(a, x, true),
                bz = axes_of(b, y, true);
    *m = (struct match){0};
    if (walk_size(&ax, a) != walk_size(&by, b) || !pair_axes(a, &ax, x, b, &by, y, m)) {
        return false;
    }
    if (walk_size(&az, a) == walk_size(&bz, b)) {
        return pair_axes(a, &az, NULL, b, &bz, NULL, m) && finish(a, b, m);
    }
    if (az.n && bz.n) {
        return false;
    }
    return (az.n ? lone_axes(a, &az, 0, m) : lone_axes(b, &bz, 1, m)) && finish(a, b, m);
}

bool match_in_order(const struct program *a, const struct program *b, struct match *m)
{
    static const struct operand still;
    struct walk x = axes_of(a, &still, true), y = axes_of(b, &still, true);
    *m = (struct match){0};
    return walk_size(&x, a) == walk_size(&y, b) && pair_axes(a, &x, NULL, b, &y, NULL, m) && finish(a, b, m);
}

/* -- applied */

static void apply_operand(const struct match *m, int side, struct operand *o, const int64_t *whole)
{
    struct operand from = *o;
    o->rank = (uint8_t)m->rank;
    for (int i = 0; i < m->rank; i++) {
        const struct piece *p = &m->piece[i];
        bool box = whole && p->axis[side] >= 0 && from.dim[p->axis[side]] != whole[p->axis[side]];
        o->dim[i] = box ? from.dim[p->axis[side]] : p->dim;
        o->stride[i] = p->axis[side] < 0 ? 0 : from.stride[p->axis[side]] * p->step[side];
    }
}

struct program *match_apply(struct fuser *f, const struct program *p, const struct match *m, int side,
                            uint32_t room)
{
    struct program *out = program_new(f, p->n_step + p->n_keep + room);
    out->rank = m->rank;
    out->outer = m->outer;
    for (int i = 0; i < m->rank; i++) {
        out->dim[i] = m->piece[i].dim;
    }
    for (uint32_t i = 0; i < p->n_step; i++) {
        struct step s = p->step[i];
        if (s.kind == GROUP_LOAD || s.kind == GROUP_INDEX) {
            apply_operand(m, side, &s.at.o, step_is_guarded(&s) ? p->dim : NULL);
        }
        program_step(out, &s);
    }
    for (uint32_t i = 0; i < p->n_keep; i++) {
        struct keep k = p->keep[i];
        apply_operand(m, side, &k.at.o, NULL);
        program_keep(out, k.value, k.node, &k.at);
    }
    return out;
}
