/* Values that are made twice rather than kept. The squares of all gradients are wanted at once by a sum that
 * everything waits for, and again by moments that must wait for that sum; in one group they would draw the
 * moments to the sum, away from the launch that writes them. Where a value is elementwise, of one operand
 * that is no wider than it is, those of its readers that can wait longer than others get a draft of their
 * own, which costs no traffic: they read the operand instead. On a GPU, so do readers of values that a little
 * arithmetic makes of much less than they are, such as differences of a column and a row: with copies of all
 * that is made on the way.
 */
#include "runtime/plan/fuse.h"

/* When the readers of a draft's result must run at the latest. */
struct wanted {
    uint32_t soonest, last;
    bool apart;   /* some reader is in no group */
    bool chained; /* a copy reads it */
};

enum {
    SMALL = 4, /* a value is that many times what it is made of */
    CHAIN_MOST = GROUP_MAX_INSTR / 2,
    CHAIN_LEAVES = 6
};
/* A value as made of operands in memory by elementwise launches: how many (one with two readers counts
 * twice), and what they read. */
struct chain {
    uint32_t n, n_leaf; /* n 0: it is none */
    struct leaf {
        uint32_t home, index;
        double bytes;
    } leaf[CHAIN_LEAVES];
};

static bool may_copy(const struct variant_build *v, const struct draft *d)
{
    const struct buffer *out = d->out.home == HOME_BUFFER ? &v->buffers.at[d->out.index] : NULL;
    return op_table[d->op].kind == OPK_ELEM && out && out->storage == NONE && !out->pinned && !out->carry &&
           operand_count(&d->out.o) > 1;
}

/* Elementwise over one operand, constants aside, whose elements are no wider than those of the result. */
static bool is_cheap(const struct draft *d)
{
    const struct place *one = NULL;
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

static double bytes_read(const struct operand *o)
{
    double bytes = (double)dtype_size((enum dtype)o->dtype);
    for (int a = 0; a < o->rank; a++) {
        bytes *= o->stride[a] ? (double)o->dim[a] : 1;
    }
    return bytes;
}

/* The draft of a chain that makes what is read, all of it; else NONE. */
static uint32_t chain_maker(const struct variant_build *v, const struct place *p, uint32_t from,
                            const struct wanted *w, const struct chain *chain)
{
    uint32_t x = maker_of(v, p, from);
    bool all = x != NONE && p->o.offset == 0 && bytes_read(&p->o) == (double)v->buffers.at[p->index].bytes;
    return all && !w[x].apart && chain[x - from].n ? x : NONE;
}

/* Views of one buffer are one operand: the largest. */
static bool add_leaf(struct chain *c, uint32_t home, uint32_t index, double bytes)
{
    for (uint32_t i = 0; i < c->n_leaf; i++) {
        struct leaf *l = &c->leaf[i];
        if (l->home == home && l->index == index) {
            l->bytes = l->bytes > bytes ? l->bytes : bytes;
            return true;
        }
    }
    if (c->n_leaf == CHAIN_LEAVES) {
        return false;
    }
    c->leaf[c->n_leaf++] = (struct leaf){home, index, bytes};
    return true;
}

/* The chain with what makes one more operand of its last launch. */
static bool add_maker(struct chain *c, const struct place *p, const struct chain *made)
{
    if (!made) {
        return add_leaf(c, p->home, p->index, bytes_read(&p->o));
    }
    bool all = true;
    for (uint32_t i = 0; i < made->n_leaf && all; i++) {
        all = add_leaf(c, made->leaf[i].home, made->leaf[i].index, made->leaf[i].bytes);
    }
    c->n += made->n;
    return all && c->n <= CHAIN_MOST;
}

static struct chain chain_of(const struct variant_build *v, const struct draft *d, uint32_t from,
                             const struct wanted *w, const struct chain *chain)
{
    struct chain c = {.n = 1};
    bool all = v->b->o->target.sm && may_copy(v, d) && (op_table[d->op].tolerance == 0 || d->op == OP_div);
    for (uint32_t i = 0; i < d->n_in && all; i++) {
        uint32_t x = chain_maker(v, &d->in[i], from, w, chain);
        all = add_maker(&c, &d->in[i], x == NONE ? NULL : &chain[x - from]);
    }
    return all ? c : (struct chain){0};
}

/* Whether it is made of little. */
static bool is_small(const struct draft *d, const struct chain *c)
{
    double bytes = 0;
    for (uint32_t i = 0; i < c->n_leaf; i++) {
        bytes += c->leaf[i].bytes;
    }
    return c->n && SMALL * bytes <= (double)operand_bytes(&d->out.o);
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
    uint32_t *of;      /* by draft: the buffer of its copy, or NONE */
    struct place **in; /* by draft: what its copy reads, if that are copies, too */
    uint32_t many;
};

/* The copy of x wants what it is made of: that is copied, too. */
static void want_makers(const struct variant_build *v, uint32_t x, uint32_t from, const struct chain *chain,
                        struct wanted *w)
{
    const struct draft *d = &v->drafts.at[x];
    for (uint32_t i = 0; i < d->n_in && chain; i++) {
        uint32_t y = chain_maker(v, &d->in[i], from, w, chain);
        if (y < x) {
            w[y].last = max_u32(w[y].last, w[x].last);
            w[y].chained = true;
        }
    }
}

static void read_copies(const struct variant_build *v, uint32_t x, uint32_t from, const struct chain *chain,
                        const struct wanted *w, struct copies *c)
{
    const struct draft *d = &v->drafts.at[x];
    if (c->of[x] == NONE || !(w[x].chained || is_small(d, &chain[x - from]))) {
        return;
    }
    c->in[x] = arena_array(v->b->scratch, struct place, d->n_in);
    memcpy(c->in[x], d->in, d->n_in * sizeof *d->in);
    for (uint32_t i = 0; i < d->n_in; i++) {
        uint32_t y = chain_maker(v, &d->in[i], from, w, chain);
        c->in[x][i].index = y < x && c->of[y] != NONE ? c->of[y] : d->in[i].index;
    }
}

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
    struct chain *chain = arena_array(v->b->scratch, struct chain, end - from);
    for (uint32_t x = from; x < end; x++) {
        chain[x - from] = chain_of(v, &v->drafts.at[x], from, w, chain);
    }
    for (uint32_t x = end; x-- > from;) {
        const struct draft *m = &v->drafts.at[x];
        bool whole = w[x].chained || is_small(m, &chain[x - from]);
        if (w[x].soonest < w[x].last && !w[x].apart && may_copy(v, m) && (whole || is_cheap(m))) {
            c->of[x] = new_buffer(v, m->node, &m->out.o).index;
            v->buffers.at[c->of[x]].first = v->drafts.n; /* in the list yet to come */
            c->many++;
            want_makers(v, x, from, whole ? chain : NULL, w);
        }
    }
    for (uint32_t x = from; x < end; x++) {
        read_copies(v, x, from, chain, w, c);
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
            memcpy(in, c->in[j] ? c->in[j] : d.in, d.n_in * sizeof *in);
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
    struct copies c = {.of = arena_array(v->b->scratch, uint32_t, n),
                       .in = arena_array(v->b->scratch, struct place *, n)};
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
