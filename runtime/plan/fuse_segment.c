/* Segments: drafts between which nothing stands that keeps them apart, what of them must wait for what, and
 * the list of drafts when it changes.
 */
#include "runtime/plan/fuse.h"

static bool apart(const struct variant_build *v, uint32_t x, uint32_t y)
{
    const struct draft *a = &v->drafts.at[x], *b = &v->drafts.at[y];
    return a->loop || b->loop || (v->b->o->parts && a->part != b->part);
}

uint32_t segment_end(const struct variant_build *v, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < v->drafts.n && !apart(v, end - 1, end)) {
        end++;
    }
    return end;
}

struct program **programs_make(struct fuser *f, uint32_t from, uint32_t end)
{
    struct program **p = arena_array(f->v->b->scratch, struct program *, end - from);
    for (uint32_t j = from; j < end; j++) {
        p[j - from] = program_make(f, &f->v->drafts.at[j]);
    }
    return p;
}

void programs_free(struct fuser *f, struct program **p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (p[i]) {
            program_free(f, p[i]);
        }
    }
}

/* Whether a launch stands between the two whatever is fused: one of them is in no group, or all of a sum must
 * be there. */
static bool is_barrier(const struct program *before, const struct program *after)
{
    return !before || !after || program_rows_are_long(before);
}

void levels_find(const struct depend *d, struct program *const *program, uint32_t *level, uint32_t *latest)
{
    uint32_t n = d->end - d->from, last = 0;
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = d->in0[j]; i < d->in0[j + 1]; i++) {
            uint32_t x = d->in[i];
            level[j] = max_u32(level[j], level[x] + is_barrier(program[x], program[j]));
        }
        last = max_u32(last, level[j]);
    }
    for (uint32_t j = n; j-- > 0;) {
        latest[j] = last;
        for (uint32_t i = d->out0[j]; i < d->out0[j + 1]; i++) {
            uint32_t x = d->out[i];
            latest[j] = min_u32(latest[j], latest[x] - is_barrier(program[j], program[x]));
        }
    }
}

void drafts_renew(struct variant_build *v, const struct renewal *r)
{
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        struct buffer *b = &v->buffers.at[i];
        b->first = b->raw_var || b->first >= v->drafts.n ? b->first : r->place[b->first];
    }
    for (uint32_t i = 1; i < v->b->g->loops.n; i++) {
        struct loop_build *l = &v->loop[i];
        if (l->node) {
            l->begin = l->plan->begin = r->place[l->begin];
            l->end = l->plan->end = r->place[l->end];
        }
    }
    for (uint32_t i = 0; i < v->b->copies.n; i++) {
        struct plan_copy *c = &v->b->copies.at[i];
        c->op = c->variant == v->index ? r->place[c->op] : c->op;
    }
    v->drafts.at = r->drafts.at;
    v->drafts.n = r->drafts.n;
    v->drafts.cap = r->drafts.cap;
}
