/* Values that are made twice rather than kept. The squares of all gradients are wanted at once by a sum that
 * everything waits for, and again by moments that must wait for that sum; in one group they would draw the
 * moments to the sum, away from the launch that writes them. Where a value is elementwise, of one operand
 * that is no wider than it is, those of its readers that can wait longer than others get a draft of their
 * own, which costs no traffic: they read the operand instead.
 */
#include "runtime/plan/fuse.h"

/* When the readers of a draft's result must run at the latest. */
struct wanted {
    uint32_t soonest, last;
    bool apart; /* some reader is in no group */
};

/* Elementwise over one operand, constants aside, whose elements are no wider than those of the result. */
static bool is_cheap(const struct variant_build *v, const struct draft *d)
{
    const struct place *one = NULL;
    const struct buffer *out = d->out.home == HOME_BUFFER ? &v->buffers.at[d->out.index] : NULL;
    if (op_table[d->op].kind != OPK_ELEM || !out || out->storage != NONE || out->pinned || out->carry ||
        operand_count(&d->out.o) <= 1) {
        return false;
    }
    for (uint32_t i = 0; i < d->n_in; i++) {
        const struct place *p = &d->in[i];
        if (p->home == HOME_STORAGE && p->index == CONSTANTS_STORAGE) {
            continue;
        }
        if ((one && !place_is_same(p, one, d->out.o.rank)) || p->o.rank != d->out.o.rank) {
            return false;
        }
        one = p;
    }
    return one && dtype_size(one->o.dtype) <= dtype_size(d->out.o.dtype);
}

/* The draft of the segment [from, ..) that makes what is read, NONE without one. */
static uint32_t maker_of(const struct variant_build *v, const struct place *p, uint32_t from)
{
    const struct buffer *b = p->home == HOME_BUFFER ? &v->buffers.at[p->index] : NULL;
    return b && !b->raw_var && b->first >= from && b->root == p->index ? b->first : NONE;
}

static void find_wanted(const struct variant_build *v, uint32_t from, uint32_t end, struct program **program,
                        const uint32_t *latest, struct wanted *w)
{
    for (uint32_t j = from; j < end; j++) {
        const struct draft *d = &v->drafts.at[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            uint32_t x = maker_of(v, &d->in[i], from);
            if (x < j) {
                w[x].soonest = min_u32(w[x].soonest, latest[j - from]);
                w[x].last = max_u32(w[x].last, latest[j - from]);
                w[x].apart |= !program[j - from];
            }
        }
    }
}

/* Readers that can wait read the copies. */
static void move_readers(struct variant_build *v, uint32_t from, uint32_t end, const uint32_t *latest,
                         const struct wanted *w, const uint32_t *copy)
{
    for (uint32_t j = from; j < end; j++) {
        struct draft *d = &v->drafts.at[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            uint32_t x = maker_of(v, &d->in[i], from);
            if (x < j && copy[x] != NONE && latest[j - from] > w[x].soonest) {
                d->in[i].index = copy[x];
            }
        }
    }
}

/* The place of each draft in the list with copies, and of each copy: its buffer. */
struct copies {
    uint32_t *of; /* by draft: the buffer of its copy, or NONE */
    uint32_t many;
};

static void split_segment(struct fuser *f, uint32_t from, uint32_t end, struct wanted *w, struct copies *c)
{
    struct variant_build *v = f->v;
    struct depend d;
    struct program **program = programs_make(f, from, end);
    uint32_t *level = arena_array(v->b->scratch, uint32_t, end - from),
             *latest = arena_array(v->b->scratch, uint32_t, end - from);
    depend_make(v, from, end, &d);
    levels_find(&d, program, level, latest);
    find_wanted(v, from, end, program, latest, w);
    for (uint32_t x = from; x < end; x++) {
        const struct draft *m = &v->drafts.at[x];
        if (w[x].soonest < w[x].last && !w[x].apart && is_cheap(v, m)) {
            c->of[x] = new_buffer(v, m->node, &m->out.o).index;
            v->buffers.at[c->of[x]].first = v->drafts.n; /* in the list yet to come */
            c->many++;
        }
    }
    move_readers(v, from, end, latest, w, c->of);
    programs_free(f, program, end - from);
}

static void add_copies(struct variant_build *v, const struct copies *c)
{
    uint32_t n = v->drafts.n;
    struct renewal r = {.place = arena_array(v->b->scratch, uint32_t, n)};
    for (uint32_t j = 0; j < n; j++) {
        struct draft d = v->drafts.at[j];
        r.place[j] = r.drafts.n;
        vec_push(v->b->scratch, &r.drafts, d);
        if (c->of[j] != NONE) {
            struct place *in = arena_array(v->b->scratch, struct place, d.n_in);
            memcpy(in, d.in, d.n_in * sizeof *in);
            d.in = in;
            d.out.index = c->of[j];
            vec_push(v->b->scratch, &r.drafts, d);
        }
    }
    drafts_renew(v, &r);
    for (uint32_t j = 0; j < n; j++) {
        if (c->of[j] != NONE) {
            v->buffers.at[c->of[j]].first = r.place[j] + 1;
        }
    }
}

void share_split(struct fuser *f)
{
    struct variant_build *v = f->v;
    uint32_t n = v->drafts.n;
    struct wanted *w = arena_array(v->b->scratch, struct wanted, n);
    struct copies c = {.of = arena_array(v->b->scratch, uint32_t, n)};
    for (uint32_t j = 0; j < n; j++) {
        w[j].soonest = c.of[j] = NONE;
    }
    for (uint32_t from = 0, end; from < n; from = end) {
        end = segment_end(v, from);
        split_segment(f, from, end, w, &c);
    }
    if (c.many) {
        add_copies(v, &c);
    }
}
