/* Launches joined to groups, greedily: each draft, in order, with the groups that make its inputs, then with
 * one that reads the same operand or walks the same domain, as long as nothing must stand between and the
 * program stays within its limits. Loops, and parts that are kept apart, end what can be joined.
 */
#include <stdlib.h>
#include "runtime/plan/fuse.h"

enum {
    SIBLING_FAR = 64, /* launches between groups that are joined for their common domain or operand */
    SIBLING_POINTS = 1 << 20,
    SIBLING_SLOTS = 64, /* domains remembered */
    SIBLING_READERS = 4 /* readers remembered */
};
/* Which groups are joined that do not read each other. */
enum round {
    ROUND_VALUES, /* none: a value goes into the group that reads it first */
    ROUND_LEVEL,  /* those of one level */
    ROUND_SLACK,  /* those that may run at the same level */
    ROUND_REST,   /* all */
    ROUNDS
};

/* The drafts between two barriers. */
struct segment {
    struct fuser *f;
    uint32_t from, end;
    struct depend d;
    struct order o;
    struct program **program; /* by group */
    /* By group: launches that must come before it, one behind the other, if all else fuses, and the same
     * number at most before the end becomes later. */
    uint32_t *level, *latest;
    uint32_t (*reader)[SIBLING_READERS]; /* by buffer, then storage: the last drafts that read it, + 1 */
    uint32_t domain[SIBLING_SLOTS];      /* by points and rows: the last group, + 1 */
    enum round round;
};

static uint32_t group_of(struct segment *s, uint32_t draft)
{
    return order_group(&s->o, draft);
}

/* Joins the groups of two drafts if programs, order and limits allow; otherwise the reason. */
static enum group_stop join(struct segment *s, uint32_t x, uint32_t y, const struct match *m)
{
    struct program *a = s->program[x], *b = s->program[y];
    enum group_stop why = STOP_order;
    struct program *p = order_may_join(&s->o, x, y) ? program_join(s->f, a, b, m, &why) : NULL;
    if (!p) {
        return why;
    }
    p->stop = a->stop ? a->stop : b->stop;
    uint32_t g = order_join(&s->o, x, y), level = max_u32(s->level[x], s->level[y]);
    s->latest[g] = min_u32(s->latest[x], s->latest[y]);
    s->level[g] = level;
    s->program[x] = s->program[y] = NULL;
    s->program[g] = p;
    program_free(s->f, a);
    program_free(s->f, b);
    return STOP_NONE;
}

/* The first reader that stays apart counts. */
static void note_stop(struct program *p, enum group_stop why)
{
    p->stop = p->stop ? p->stop : why;
}

static bool is_buffer(const struct place *p, uint32_t buffer)
{
    return p->home == HOME_BUFFER && p->index == buffer;
}

/* Group x makes the buffer, group y reads it. Where they stay apart, x says why. */
static void join_by_value(struct segment *s, uint32_t x, uint32_t y, uint32_t buffer)
{
    const struct program *a = s->program[x], *b = s->program[y];
    for (uint32_t i = 0; i < a->n_keep; i++) {
        for (uint32_t k = 0; k < b->n_step && is_buffer(&a->keep[i].at, buffer); k++) {
            const struct step *r = &b->step[k];
            struct match m;
            if (r->kind != GROUP_LOAD || !is_buffer(&r->at, buffer)) {
                continue;
            }
            enum group_stop why = a->outer < a->rank && b->outer < b->rank ? STOP_domain : STOP_reread;
            if (r->at.o.offset == a->keep[i].at.o.offset && place_turns_alike(&r->at, &a->keep[i].at) &&
                match_by(a, &a->keep[i].at.o, b, &r->at.o, &m)) {
                why = join(s, x, y, &m);
            }
            if (!why) {
                return;
            }
            note_stop(s->program[x], why);
        }
    }
}

static void join_makers(struct segment *s, uint32_t j)
{
    const struct draft *d = &s->f->v->drafts.at[s->from + j];
    for (uint32_t i = d->n_in; i-- > 0;) {
        uint32_t maker = d->in[i].home == HOME_BUFFER ? s->f->v->buffers.at[d->in[i].index].first : NONE;
        if (maker < s->from || maker >= s->from + j || s->f->v->buffers.at[d->in[i].index].raw_var) {
            continue;
        }
        uint32_t x = group_of(s, maker - s->from), y = group_of(s, j);
        if (x != y && s->program[x] && s->program[y]) {
            join_by_value(s, x, y, d->in[i].index);
        }
    }
}

/* The two in the order of their groups. */
static void join_sorted(struct segment *s, uint32_t x, uint32_t y, const struct match *m)
{
    if (s->o.place[x] < s->o.place[y]) {
        join(s, x, y, m);
        return;
    }
    struct match turned = *m;
    for (int i = 0; i < m->rank; i++) {
        turned.piece[i].axis[0] = m->piece[i].axis[1];
        turned.piece[i].axis[1] = m->piece[i].axis[0];
        turned.piece[i].step[0] = m->piece[i].step[1];
        turned.piece[i].step[1] = m->piece[i].step[0];
    }
    turned.extra[0] = m->extra[1];
    turned.extra[1] = m->extra[0];
    join(s, y, x, &turned);
}

static bool near(const struct segment *s, uint32_t x, uint32_t y)
{
    uint32_t a = s->o.place[x], b = s->o.place[y];
    return (a < b ? b - a : a - b) <= SIBLING_FAR;
}

/* Parts that are joined, made by launches: what reads the same would come earlier than it must. */
static bool only_joins(const struct program *p)
{
    bool loads = p->n_keep > 1;
    for (uint32_t i = 1; i < p->n_keep; i++) {
        loads =
            loads && p->keep[i].at.home == p->keep[0].at.home && p->keep[i].at.index == p->keep[0].at.index;
    }
    for (uint32_t i = 0; i < p->n_step; i++) {
        loads = loads && p->step[i].kind == GROUP_LOAD;
    }
    return loads;
}

static bool may_be_siblings(const struct segment *s, uint32_t x, uint32_t y)
{
    bool slack = s->level[x] <= s->latest[y] && s->level[y] <= s->latest[x];
    return x != y && s->program[x] && s->program[y] && !only_joins(s->program[x]) &&
           !only_joins(s->program[y]) &&
           (s->round == ROUND_LEVEL   ? s->level[x] == s->level[y]
            : s->round == ROUND_SLACK ? slack
                                      : true);
}

/* Two groups that read the same operand in the same way, and walk as many points; or one of them has no axes.
 */
static void join_by_reader(struct segment *s, uint32_t x, uint32_t y, const struct place *at)
{
    const struct program *a = s->program[x], *b = s->program[y];
    int64_t n = program_points(a), m = program_points(b);
    for (uint32_t i = 0; i < a->n_step && (n == m || n == 1 || m == 1); i++) {
        const struct place *p = &a->step[i].at;
        for (uint32_t k = 0;
             k < b->n_step && a->step[i].kind == GROUP_LOAD && p->home == at->home && p->index == at->index;
             k++) {
            const struct place *q = &b->step[k].at;
            struct match by;
            if (b->step[k].kind == GROUP_LOAD && q->home == at->home && q->index == at->index &&
                q->o.offset == p->o.offset && q->o.dtype == p->o.dtype && place_turns_alike(p, q) &&
                match_by(a, &p->o, b, &q->o, &by) && (n != m || (!by.extra[0] && !by.extra[1]))) {
                join_sorted(s, x, y, &by);
                return;
            }
        }
    }
}

static uint32_t *readers_of(const struct segment *s, const struct place *p)
{
    return s->reader[p->home == HOME_BUFFER ? p->index : s->f->v->buffers.n + p->index];
}
static void note_reader(const struct segment *s, const struct place *p, uint32_t j)
{
    uint32_t *r = readers_of(s, p);
    if (r[0] != j + 1) {
        memmove(r + 1, r, (SIBLING_READERS - 1) * sizeof *r);
        r[0] = j + 1;
    }
}

static void join_readers(struct segment *s, uint32_t j)
{
    const struct draft *d = &s->f->v->drafts.at[s->from + j];
    for (uint32_t i = 0; i < d->n_in; i++) {
        bool counts = d->in[i].home == HOME_BUFFER ||
                      (d->in[i].home == HOME_STORAGE && d->in[i].index > CONTROL_STORAGE);
        for (int k = 0; counts && k < SIBLING_READERS && readers_of(s, &d->in[i])[k]; k++) {
            uint32_t x = group_of(s, readers_of(s, &d->in[i])[k] - 1), y = group_of(s, j);
            if (may_be_siblings(s, x, y) && near(s, x, y)) {
                join_by_reader(s, x, y, &d->in[i]);
            }
        }
    }
    for (uint32_t i = 0; i < d->n_in; i++) {
        if (d->in[i].home == HOME_BUFFER || d->in[i].home == HOME_STORAGE) {
            note_reader(s, &d->in[i], j);
        }
    }
}

/* A group that walks the same domain, and reduces it alike; numbers of rank 0 at any distance. */
static void join_domain(struct segment *s, uint32_t j)
{
    uint32_t y = group_of(s, j);
    const struct program *b = s->program[y];
    int64_t points = program_points(b), rows = program_rows(b);
    if (points > SIBLING_POINTS || (points == 1 && s->round == ROUND_LEVEL)) {
        return;
    }
    uint32_t *slot = &s->domain[(points + 31 * (points - rows)) % SIBLING_SLOTS];
    uint32_t x = *slot ? group_of(s, *slot - 1) : y;
    struct match m;
    if (may_be_siblings(s, x, y) && (points == 1 || near(s, x, y)) &&
        (s->program[x]->outer < s->program[x]->rank) == (b->outer < b->rank) &&
        match_in_order(s->program[x], b, &m)) {
        join_sorted(s, x, y, &m);
    }
    *slot = j + 1;
}

/* What a launch that is in no group reads ends the groups that make it. */
static void note_structured(struct segment *s, uint32_t j)
{
    for (uint32_t i = s->d.in0[j]; i < s->d.in0[j + 1]; i++) {
        struct program *p = s->program[group_of(s, s->d.in[i])];
        if (p) {
            note_stop(p, STOP_structured);
        }
    }
}

static void join_drafts(struct segment *s)
{
    uint32_t n = s->end - s->from;
    levels_find(&s->d, s->program, s->level, s->latest);
    for (int round = 0; round < ROUNDS; round++) {
        s->round = (enum round)round;
        memset(s->domain, 0, sizeof s->domain);
        memset(s->reader, 0, ((size_t)s->f->v->buffers.n + s->f->v->b->storages.n) * sizeof *s->reader);
        for (uint32_t j = 0; j < n; j++) {
            if (s->program[group_of(s, j)]) {
                join_makers(s, j);
                if (s->round > ROUND_VALUES) {
                    join_readers(s, j);
                    join_domain(s, j);
                }
            } else {
                note_structured(s, j);
            }
        }
    }
}

/* -- drafts anew */

static void push_draft(struct variant_build *v, struct renewal *r, const struct draft *d)
{
    enum part last = r->drafts.n ? r->drafts.at[r->drafts.n - 1].part : PART_FORWARD;
    vec_push(v->b->scratch, &r->drafts, *d);
    struct draft *out = &r->drafts.at[r->drafts.n - 1];
    out->part = out->part > last ? out->part : last;
}

/* A launch that nothing was joined to stays what it is; but on a GPU the kernel made for a reduction of this
 * shape is the better one. */
static bool stays_single(const struct segment *s, uint32_t g)
{
    const struct program *p = s->program[g];
    return s->o.next[g] == NONE && !(p && s->f->v->b->o->target.sm && p->outer < p->rank);
}

static void push_group(struct segment *s, struct renewal *r, uint32_t g)
{
    struct variant_build *v = s->f->v;
    struct draft d = v->drafts.at[s->from + g];
    uint32_t at = r->drafts.n;
    if (stays_single(s, g)) {
        const struct program *p = s->program[g];
        d.stop = (uint8_t)(!p ? STOP_structured : p->stop ? p->stop : STOP_end);
        r->place[s->from + g] = at;
        push_draft(v, r, &d);
        return;
    }
    for (uint32_t i = g; i != NONE; i = s->o.next[i]) {
        const struct draft *x = &v->drafts.at[s->from + i];
        r->place[s->from + i] = at;
        d.part = x->part > d.part ? x->part : d.part;
        if (x->out.home == HOME_BUFFER) {
            v->buffers.at[x->out.index].gone = true;
        }
    }
    d = (struct draft){.part = d.part};
    program_emit(s->f, s->program[g], &d);
    for (uint32_t i = 0; i < d.n_outs; i++) {
        if (d.outs[i].home == HOME_BUFFER) {
            v->buffers.at[d.outs[i].index].gone = false;
        }
    }
    push_draft(v, r, &d);
}

static void push_segment(struct segment *s, struct renewal *r)
{
    uint32_t n = s->end - s->from;
    uint32_t *at = arena_array(s->f->v->b->scratch, uint32_t, n);
    memset(at, 0xff, n * sizeof *at);
    for (uint32_t i = 0; i < n; i++) {
        if (group_of(s, i) == i) {
            at[s->o.place[i]] = i;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (at[i] != NONE) {
            push_group(s, r, at[i]);
        }
    }
}

static void fuse_segment(struct fuser *f, uint32_t from, uint32_t end, struct renewal *r)
{
    struct arena *a = f->v->b->scratch;
    struct segment *s = arena_new_of(a, struct segment);
    *s = (struct segment){.f = f, .from = from, .end = end};
    depend_make(f->v, from, end, &s->d);
    order_make(a, &s->d, &s->o);
    s->program = programs_make(f, from, end);
    s->level = arena_array(a, uint32_t, end - from);
    s->latest = arena_array(a, uint32_t, end - from);
    s->reader = arena_alloc(a, ((size_t)f->v->buffers.n + f->v->b->storages.n) * sizeof *s->reader);
    join_drafts(s);
    push_segment(s, r);
    programs_free(f, s->program, end - from);
}

void fuse_build(struct variant_build *v)
{
    struct fuser *f = arena_new_of(v->b->scratch, struct fuser);
    f->v = v;
    share_split(f);
    struct renewal r = {.place = arena_array(v->b->scratch, uint32_t, v->drafts.n)};
    f->reads = arena_array(v->b->scratch, uint32_t, v->buffers.n);
    for (uint32_t j = 0; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            if (d->in[i].home == HOME_BUFFER) {
                f->reads[d->in[i].index]++;
            }
        }
    }
    for (uint32_t from = 0, end; from < v->drafts.n; from = end) {
        end = segment_end(v, from);
        fuse_segment(f, from, end, &r);
    }
    drafts_renew(v, &r);
}
