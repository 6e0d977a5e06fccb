/* Which draft must follow which: from the bytes that drafts read and write. Buffers are written once, except
 * carries; gradient slots, moved buffers and commits share storages. The control block and the constants
 * order nothing.
 */
#include "runtime/plan/fuse.h"

struct bytes place_bytes(const struct variant_build *v, const struct place *p)
{
    const struct builder *b = v->b;
    int64_t lo = 0, hi = 0, size = (int64_t)dtype_size(p->o.dtype);
    uint64_t base = 0;
    struct bytes out = {.space = p->index};
    if (p->home == HOME_BUFFER) {
        const struct buffer *x = &v->buffers.at[p->index];
        out.space = x->storage != NONE ? x->storage : b->storages.n + x->root;
        base = x->storage != NONE ? x->storage_offset : 0;
    }
    for (int i = 0; i < p->o.rank; i++) {
        if (p->o.dim[i] == 0) {
            return out;
        }
        *(p->o.stride[i] < 0 ? &lo : &hi) += (p->o.dim[i] - 1) * p->o.stride[i];
    }
    int64_t more = p->turns ? (p->turns - 1) * p->turn : 0;
    out.from = base + (uint64_t)((int64_t)p->o.offset + lo * size + (more < 0 ? more : 0));
    out.end = base + (uint64_t)((int64_t)p->o.offset + (hi + 1) * size + (more > 0 ? more : 0));
    return out;
}

struct access {
    uint64_t from, end;
    uint32_t draft;
};
/* What happened to a space so far. */
struct track {
    VEC(struct access) write; /* ascending by `from` while they are apart */
    VEC(struct access) read;  /* since the writes they would have to precede */
    bool overlaps;
};
struct edge {
    uint32_t before, after;
};
struct tracer {
    const struct variant_build *v;
    struct arena *arena;
    struct track *track; /* by space */
    VEC(struct edge) edges;
};

static void add_edge(struct tracer *t, uint32_t before, uint32_t after)
{
    if (before != after) {
        vec_push(t->arena, &t->edges, ((struct edge){before, after}));
    }
}

/* The first write that ends behind `from`. */
static uint32_t first_write(const struct track *k, uint64_t from)
{
    uint32_t lo = 0, hi = k->write.n;
    while (lo < hi && !k->overlaps) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (k->write.at[mid].end <= from) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static bool meets(const struct access *x, const struct bytes *b)
{
    return x->from < b->end && b->from < x->end;
}

static void after_writes(struct tracer *t, struct track *k, const struct bytes *b, uint32_t draft)
{
    for (uint32_t i = first_write(k, b->from); i < k->write.n; i++) {
        if (!k->overlaps && k->write.at[i].from >= b->end) {
            return;
        }
        if (meets(&k->write.at[i], b)) {
            add_edge(t, k->write.at[i].draft, draft);
        }
    }
}

static bool orders(const struct place *p)
{
    return p->home == HOME_BUFFER ||
           (p->home == HOME_STORAGE && p->index != CONTROL_STORAGE && p->index != CONSTANTS_STORAGE);
}

static void trace_read(struct tracer *t, const struct place *p, uint32_t draft)
{
    struct bytes b = place_bytes(t->v, p);
    if (!orders(p) || b.from == b.end) {
        return;
    }
    struct track *k = &t->track[b.space];
    after_writes(t, k, &b, draft);
    vec_push(t->arena, &k->read, ((struct access){b.from, b.end, draft}));
}

static void trace_write(struct tracer *t, const struct place *p, uint32_t draft)
{
    struct bytes b = place_bytes(t->v, p);
    if (!orders(p) || b.from == b.end) {
        return;
    }
    struct track *k = &t->track[b.space];
    after_writes(t, k, &b, draft);
    for (uint32_t i = 0; i < k->read.n; i++) {
        if (meets(&k->read.at[i], &b)) {
            add_edge(t, k->read.at[i].draft, draft);
        }
    }
    uint32_t at = first_write(k, b.from);
    k->overlaps |= at < k->write.n && meets(&k->write.at[at], &b);
    at = k->overlaps ? k->write.n : at;
    vec_push(t->arena, &k->write, ((struct access){b.from, b.end, draft}));
    memmove(&k->write.at[at + 1], &k->write.at[at], (k->write.n - 1 - at) * sizeof *k->write.at);
    k->write.at[at] = (struct access){b.from, b.end, draft};
}

/* Edges as lists by one of their ends. */
static void list_edges(struct tracer *t, uint32_t n, bool by_before, uint32_t **start, uint32_t **list,
                       struct arena *a)
{
    uint32_t *at = *start = arena_array(a, uint32_t, (size_t)n + 1);
    *list = arena_array(a, uint32_t, t->edges.n);
    for (uint32_t i = 0; i < t->edges.n; i++) {
        at[by_before ? t->edges.at[i].before : t->edges.at[i].after]++;
    }
    for (uint32_t i = 1; i <= n; i++) {
        at[i] += at[i - 1];
    }
    for (uint32_t i = t->edges.n; i-- > 0;) {
        const struct edge *e = &t->edges.at[i];
        (*list)[--at[by_before ? e->before : e->after]] = by_before ? e->after : e->before;
    }
}

void depend_make(const struct variant_build *v, uint32_t from, uint32_t end, struct depend *d)
{
    struct tracer t = {.v = v, .arena = arena_new()};
    t.track = arena_array(t.arena, struct track, (size_t)v->b->storages.n + v->buffers.n);
    for (uint32_t j = from; j < end; j++) {
        const struct draft *x = &v->drafts.at[j];
        for (uint32_t i = 0; i < x->n_in; i++) {
            trace_read(&t, &x->in[i], j - from);
        }
        trace_write(&t, &x->out, j - from);
    }
    *d = (struct depend){.from = from, .end = end};
    list_edges(&t, end - from, true, &d->out0, &d->out, v->b->scratch);
    list_edges(&t, end - from, false, &d->in0, &d->in, v->b->scratch);
    arena_free(t.arena);
}
