/* When each planned buffer lives, which results take over the bytes of an input that dies there (elementwise
 * ones, and rows written into a table),
 * and where everything lies (packing.c). A buffer that was moved into a storage has no interval.
 */
#include "runtime/plan/internal.h"
#include "runtime/plan/packing.h"

static bool planned(const struct buffer *b)
{
    return b->storage == NONE;
}

static void find_lives(struct variant_build *v)
{
    uint32_t end = v->drafts.n ? v->drafts.n - 1 : 0;
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        struct buffer *b = &v->buffers.at[i];
        b->last = b->pinned ? end : b->first;
    }
    for (uint32_t j = 0; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        if (d->op == OP_loop) {
            v->buffers.at[d->out.index].last = j; /* the counter */
        }
        for (uint32_t i = 0; i < d->n_in; i++) {
            struct buffer *x = d->in[i].home == HOME_BUFFER ? &v->buffers.at[d->in[i].index] : NULL;
            if (x && x->last < j) {
                x->last = loop_reach(v, x->first, j);
            }
        }
    }
}

/* Whether draft j reads buffer `index` only element by element in the order it writes. */
static bool reads_in_step(const struct variant_build *v, const struct draft *d, uint32_t index)
{
    for (uint32_t i = 0; i < d->n_in; i++) {
        const struct place *p = &d->in[i];
        if (p->home == HOME_BUFFER && p->index == index &&
            !(op_writes_over(d->op, i) && place_is_whole(v, p) &&
              dtype_size(p->o.dtype) == dtype_size(d->out.o.dtype) &&
              operand_count(&p->o) == operand_count(&d->out.o))) {
            return false;
        }
    }
    return true;
}

static void take_over(struct variant_build *v, uint32_t j)
{
    const struct draft *d = &v->drafts.at[j];
    if (!op_writes_over(d->op, 0) || d->op == OP_copy || d->out.home != HOME_BUFFER ||
        !planned(&v->buffers.at[d->out.index]) || v->buffers.at[d->out.index].carried) {
        return;
    }
    for (uint32_t i = 0; i < d->n_in; i++) {
        if (d->in[i].home != HOME_BUFFER) {
            continue;
        }
        const struct buffer *x = &v->buffers.at[d->in[i].index];
        if (planned(x) && x->bytes && x->last == j && !x->carried && !x->pinned &&
            reads_in_step(v, d, d->in[i].index)) {
            v->buffers.at[d->out.index].root = x->root;
            return;
        }
    }
}

static void pack_buffers(struct variant_build *v)
{
    struct arena *a = v->b->scratch;
    struct interval *x = arena_array(a, struct interval, v->buffers.n);
    uint32_t *place = arena_array(a, uint32_t, v->buffers.n), n = 0;
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        const struct buffer *b = &v->buffers.at[i];
        if (!planned(b)) {
            continue;
        }
        if (b->root == i) {
            place[i] = n;
            x[n++] = (struct interval){round_up(b->bytes, PLAN_ALIGN), b->first, b->last, 0};
        } else if (x[place[b->root]].last < b->last) {
            x[place[b->root]].last = b->last;
        }
    }
    struct packing r;
    if (v->b->o->no_reuse) {
        pack_apart(x, n, PLAN_RED_ZONE, &r);
    } else {
        pack_intervals(x, n, &r);
    }
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        if (planned(&v->buffers.at[i])) {
            v->buffers.at[i].offset = x[place[v->buffers.at[i].root]].offset;
        }
    }
    v->planned = r.bytes;
    v->bound = r.bound;
    v->peak = r.peak;
    v->packing = r.order;
}

void lifetimes_build(struct variant_build *v)
{
    find_lives(v);
    for (uint32_t j = 0; j < v->drafts.n && !v->b->o->no_reuse; j++) {
        take_over(v, j);
    }
    pack_buffers(v);
}
