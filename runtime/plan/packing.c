/* Interval packing: several greedy orders, the best kept, then a bounded seeded climb on the order. Scratch
 * memory is the function's own and freed on return. Placing n intervals costs O(n^2) steps, which bounds the
 * number of tries on large inputs (CLIMB_STEPS).
 */
#include "runtime/plan/packing.h"
#include <stdlib.h>

enum { CLIMB_TRIES = 500 };
#define CLIMB_STEPS ((uint64_t)100 * 1000 * 1000) /* a fraction of a second */

enum order { ORDER_SIZE, ORDER_AREA, ORDER_LIFE, ORDER_START, ORDER_COUNT };
enum fit { FIT_FIRST, FIT_BEST, FIT_COUNT };

static const char *const order_names[ORDER_COUNT][FIT_COUNT] = {
    {"size first-fit", "size best-fit"},
    {"size*life first-fit", "size*life best-fit"},
    {"life first-fit", "life best-fit"},
    {"start first-fit", "start best-fit"},
};

struct key {
    uint64_t major, minor;
    uint32_t index;
};
/* Everything one packing works on. `placed` lists indices by offset. */
struct packer {
    struct arena *arena;
    const struct interval *x;
    uint32_t n;
    uint32_t *order, *placed;
    uint64_t *offset, *best_offset;
    uint64_t random;
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->major != y->major) {
        return x->major < y->major ? 1 : -1;
    }
    if (x->minor != y->minor) {
        return x->minor < y->minor ? 1 : -1;
    }
    return x->index < y->index ? -1 : x->index > y->index;
}

static uint64_t sort_key(const struct interval *x, enum order o)
{
    uint64_t life = (uint64_t)x->last - x->first + 1;
    switch (o) {
    case ORDER_SIZE:
        return x->bytes;
    case ORDER_AREA:
        return x->bytes > UINT64_MAX / life ? UINT64_MAX : x->bytes * life;
    case ORDER_LIFE:
        return life;
    default:
        return UINT32_MAX - x->first;
    }
}

static uint32_t sorted_order(struct packer *p, struct key *keys, enum order o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->x[i].bytes) {
            keys[n++] = (struct key){sort_key(&p->x[i], o), p->x[i].bytes, i};
        }
    }
    qsort(keys, n, sizeof *keys, by_key);
    for (uint32_t i = 0; i < n; i++) {
        p->order[i] = keys[i].index;
    }
    return n;
}

/* Lowest or tightest gap for interval i among those placed; *position is where it belongs in the list by
 * offset. */
static uint64_t find_gap(const struct packer *p, uint32_t n_placed, uint32_t i, enum fit fit)
{
    const struct interval *x = &p->x[i];
    uint64_t end = 0, best = UINT64_MAX, best_room = UINT64_MAX;
    for (uint32_t j = 0; j < n_placed; j++) {
        uint32_t k = p->placed[j];
        const struct interval *y = &p->x[k];
        if (y->last < x->first || x->last < y->first) {
            continue;
        }
        uint64_t at = p->offset[k];
        if (at >= end + x->bytes && at - end < best_room) {
            best = end;
            best_room = at - end;
            if (fit == FIT_FIRST) {
                return best;
            }
        }
        if (at + y->bytes > end) {
            end = at + y->bytes;
        }
    }
    return best == UINT64_MAX ? end : best;
}

static void insert_placed(struct packer *p, uint32_t n_placed, uint32_t i)
{
    uint32_t lo = 0, hi = n_placed;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->offset[p->placed[mid]] <= p->offset[i]) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    memmove(p->placed + lo + 1, p->placed + lo, (n_placed - lo) * sizeof *p->placed);
    p->placed[lo] = i;
}

/* Places in the current order; gives up as soon as more than `limit` bytes are used. Returns the bytes used.
 */
static uint64_t place_all(struct packer *p, uint32_t n, enum fit fit, uint64_t limit)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = p->order[i];
        p->offset[k] = find_gap(p, i, k, fit);
        insert_placed(p, i, k);
        if (p->offset[k] + p->x[k].bytes > used) {
            used = p->offset[k] + p->x[k].bytes;
            if (used > limit) {
                return UINT64_MAX;
            }
        }
    }
    return used;
}

/* splitmix64 */
static uint32_t draw(struct packer *p, uint32_t below)
{
    uint64_t z = p->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % below);
}

static void keep(struct packer *p, struct packing *out, uint64_t used, const char *name)
{
    out->bytes = used;
    out->order = name;
    memcpy(p->best_offset, p->offset, p->n * sizeof *p->offset);
}

/* A position in the order whose interval reaches the top of the current best packing. */
static uint32_t top_position(struct packer *p, uint32_t n, uint64_t top)
{
    uint32_t found = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = p->order[i];
        if (p->best_offset[k] + p->x[k].bytes == top && draw(p, ++found) == 0) {
            at = i;
        }
    }
    return at;
}

/* Moves interval from position `from` up to position `to` (to <= from). */
static void move_up(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t k = order[from];
    memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    order[to] = k;
}

/* Changes the order near what sets the top: the top interval goes earlier, and sometimes two neighbours in
 * time swap too. */
static void mutate(struct packer *p, uint32_t n, uint64_t top)
{
    uint32_t from = top_position(p, n, top);
    if (from) {
        move_up(p->order, from, draw(p, from));
    }
    uint32_t swaps = draw(p, 3);
    for (uint32_t s = 0; s < swaps; s++) {
        uint32_t a = draw(p, n), b = draw(p, n), t = p->order[a];
        p->order[a] = p->order[b];
        p->order[b] = t;
    }
}

static void climb(struct packer *p, uint32_t n, struct packing *out)
{
    uint64_t steps = (uint64_t)n * n / 4 + 1, tries = CLIMB_STEPS / steps;
    uint32_t *kept = arena_array(p->arena, uint32_t, n);
    memcpy(kept, p->order, n * sizeof *kept);
    tries = tries > CLIMB_TRIES ? CLIMB_TRIES : tries;
    for (uint64_t t = 0; t < tries && out->bytes > out->bound; t++) {
        mutate(p, n, out->bytes);
        uint64_t used = place_all(p, n, t % 2 ? FIT_BEST : FIT_FIRST, out->bytes);
        if (used <= out->bytes) {
            keep(p, out, used, used < out->bytes ? "climb" : out->order);
            memcpy(kept, p->order, n * sizeof *kept);
        } else {
            memcpy(p->order, kept, n * sizeof *kept);
        }
    }
}

void packing_bound(const struct interval *x, uint32_t n, struct packing *out)
{
    struct arena *a = arena_new();
    uint32_t end = 0;
    for (uint32_t i = 0; i < n; i++) {
        end = x[i].last + 1 > end ? x[i].last + 1 : end;
    }
    uint64_t *come = arena_array(a, uint64_t, (size_t)end + 1),
             *go = arena_array(a, uint64_t, (size_t)end + 1);
    for (uint32_t i = 0; i < n; i++) {
        come[x[i].first] += x[i].bytes;
        go[x[i].last + 1] += x[i].bytes;
    }
    uint64_t live = 0;
    *out = (struct packing){.order = "empty"};
    for (uint32_t t = 0; t < end; t++) {
        live += come[t];
        live -= go[t];
        if (live > out->bound) {
            out->bound = live;
            out->peak = t;
        }
    }
    arena_free(a);
}

/* Tries the greedy orders; leaves the order of the winner in p->order. */
static uint32_t greedy(struct packer *p, struct packing *out)
{
    struct key *keys = arena_array(p->arena, struct key, p->n);
    enum order winner = ORDER_SIZE;
    out->bytes = UINT64_MAX;
    for (enum order o = 0; o < ORDER_COUNT; o++) {
        uint32_t n = sorted_order(p, keys, o);
        for (enum fit fit = 0; fit < FIT_COUNT; fit++) {
            uint64_t used = place_all(p, n, fit, out->bytes);
            if (used < out->bytes) {
                keep(p, out, used, order_names[o][fit]);
                winner = o;
            }
            if (out->bytes == out->bound) {
                return n;
            }
        }
    }
    return sorted_order(p, keys, winner);
}

void pack_intervals(struct interval *x, uint32_t n, struct packing *out)
{
    packing_bound(x, n, out);
    if (!out->bound) {
        return;
    }
    struct packer p = {.arena = arena_new(), .x = x, .n = n, .random = 1};
    p.order = arena_array(p.arena, uint32_t, n);
    p.placed = arena_array(p.arena, uint32_t, n);
    p.offset = arena_array(p.arena, uint64_t, n);
    p.best_offset = arena_array(p.arena, uint64_t, n);
    uint32_t used = greedy(&p, out);
    if (out->bytes > out->bound) {
        climb(&p, used, out);
    }
    for (uint32_t i = 0; i < n; i++) {
        x[i].offset = p.best_offset[i];
    }
    arena_free(p.arena);
}

void pack_apart(struct interval *x, uint32_t n, uint64_t gap, struct packing *out)
{
    packing_bound(x, n, out);
    uint64_t at = gap;
    for (uint32_t i = 0; i < n; i++) {
        x[i].offset = at;
        at += x[i].bytes + gap;
    }
    out->bytes = at;
    out->order = "no reuse";
}
