/* When each planned buffer lives, which results take over the bytes of an input that dies there (elementwise
 * ones, and rows written into a table),
 * and where everything lies (packing.c). A buffer that was moved into a storage has no interval.
 */
#include "runtime/plan/group.h"
#include "runtime/plan/internal.h"
#include "runtime/plan/packing.h"

static bool planned(const struct buffer *b)
{
    return b->storage == NONE && !b->gone;
}

/* Whether the draft is a product that goes straight into the gradients: nobody reads it before the optimizer,
 * so a GPU makes it beside the launches that follow, for which what it reads must last a little. */
enum { BESIDE = 4 };
static bool runs_beside(const struct variant_build *v, const struct draft *d)
{
    return v->b->o->target.sm > 0 && op_table[d->op].flags & OPF_LIBRARY &&
           (d->out.home == HOME_STORAGE ||
            (d->out.home == HOME_BUFFER && v->buffers.at[d->out.index].storage != NONE));
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
            uint32_t last = j + (x && runs_beside(v, d) ? BESIDE : 0);
            last = last < end ? last : end;
            if (x && x->last < last) {
                x->last = loop_reach(v, x->first, last);
            }
        }
    }
}

/* Whether a place of a group is all of its buffer, and stepped through like another one. */
static bool same_walk(const struct variant_build *v, const struct operand *x, const struct place *p)
{
    const struct operand *y = &p->o;
    int64_t n = 1;
    for (int i = 0; i < y->rank; i++) {
        if (x->dim[i] != y->dim[i] || (x->dim[i] > 1 && x->stride[i] != y->stride[i])) {
            return false;
        }
        n *= y->stride[i] ? y->dim[i] : 1;
    }
    return x->rank == y->rank && y->offset == 0 && dtype_size(x->dtype) == dtype_size(y->dtype) &&
           (uint64_t)n * dtype_size(y->dtype) == v->buffers.at[p->index].bytes;
}
/* Whether a group reads buffer `index` only where it writes `out`. */
static bool group_in_step(const struct variant_build *v, const struct draft *d, const struct place *out,
                          uint32_t index)
{
    for (uint32_t i = 0; i < d->n_in; i++) {
        const struct place *p = &d->in[i];
        if (p->home == HOME_BUFFER && p->index == index && !same_walk(v, &out->o, p)) {
            return false;
        }
    }
    return d->group->outer == d->group->rank;
}

/* Whether draft j reads buffer `index` only element by element in the order it writes. */
static bool reads_in_step(const struct variant_build *v, const struct draft *d, const struct place *out,
                          uint32_t index)
{
    if (d->group) {
        return group_in_step(v, d, out, index);
    }
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

static bool may_take_over(const struct draft *d)
{
    return d->group || (op_writes_over(d->op, 0) && d->op != OP_copy);
}

/* Result `out` of draft j over an input that ends there and that no other result took. */
static void take_over(struct variant_build *v, uint32_t j, const struct place *out)
{
    const struct draft *d = &v->drafts.at[j];
    if (!may_take_over(d) || out->home != HOME_BUFFER || !planned(&v->buffers.at[out->index]) ||
        v->buffers.at[out->index].carried || v->buffers.at[out->index].carry || out->turns ||
        operand_bytes(&out->o) != v->buffers.at[out->index].bytes) {
        return;
    }
    for (uint32_t i = 0; i < d->n_in; i++) {
        if (d->in[i].home != HOME_BUFFER) {
            continue;
        }
        struct buffer *x = &v->buffers.at[d->in[i].index];
        if (planned(x) && x->bytes && x->last == j && x->first != j && !x->taken && !x->carried &&
            !x->pinned && reads_in_step(v, d, out, d->in[i].index)) {
            v->buffers.at[out->index].root = x->root;
            x->taken = true;
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
        if (planned(b) && b->root == i) {
            place[i] = n;
            x[n++] = (struct interval){round_up(b->bytes, PLAN_ALIGN), b->first, b->last, 0};
        }
    }
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        const struct buffer *b = &v->buffers.at[i];
        if (planned(b) && x[place[b->root]].last < b->last) {
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
        for (uint32_t i = 0; i < draft_outs(&v->drafts.at[j]); i++) {
            take_over(v, j, draft_out(&v->drafts.at[j], i));
        }
    }
    pack_buffers(v);
}
