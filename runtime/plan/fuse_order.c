/* An order of groups while they are joined (Pearce and Kelly, "A dynamic topological sort algorithm for
 * directed acyclic graphs", 2006). Joining a and b, a before b: what follows a before the place of b moves
 * behind the joint group, what b follows behind the place of a moves in front of it; one that does both
 * stands in the way. The search ends after SEARCH steps, so that joining stays cheap in large graphs.
 */
#include "runtime/plan/fuse.h"
#include <stdlib.h>

enum { SEARCH = 2048 };

void order_make(struct arena *a, const struct depend *d, struct order *o)
{
    uint32_t n = d->end - d->from;
    *o = (struct order){.arena = a, .d = d, .n = n};
    uint32_t **field[] = {&o->group, &o->next,   &o->end,   &o->place, &o->seen,
                          &o->stack, &o->before, &o->after, &o->slot};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        *field[i] = arena_array(a, uint32_t, (size_t)n + 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        o->group[i] = o->end[i] = o->place[i] = i;
        o->next[i] = NONE;
    }
}

uint32_t order_group(struct order *o, uint32_t draft)
{
    while (o->group[draft] != draft) {
        draft = o->group[draft] = o->group[o->group[draft]];
    }
    return draft;
}

/* The groups reachable from `start` (forward, or back) with places between those of a and b, into `found`;
 * false when `stop` is one of them by way of another, or the search is too long. */
static bool reach(struct order *o, uint32_t start, uint32_t stop, bool forward, uint32_t *found, uint32_t *n)
{
    const uint32_t *first = forward ? o->d->out0 : o->d->in0, *list = forward ? o->d->out : o->d->in;
    uint32_t depth = 0, steps = 0, limit = o->place[stop];
    o->mark++;
    o->seen[start] = o->mark;
    o->stack[depth++] = start;
    while (depth) {
        uint32_t g = o->stack[--depth];
        for (uint32_t i = g; i != NONE; i = o->next[i]) {
            for (uint32_t k = first[i]; k < first[i + 1]; k++) {
                uint32_t x = order_group(o, list[k]);
                if (++steps > SEARCH) {
                    return false;
                }
                if (x == stop && g != start) {
                    return false;
                }
                bool between = forward ? o->place[x] < limit : o->place[x] > limit;
                if (x != stop && between && o->seen[x] != o->mark) {
                    o->seen[x] = o->mark;
                    o->stack[depth++] = x;
                    found[(*n)++] = x;
                }
            }
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Ascending by place: places sorted, with the group in the lower half. */
static void sort_by_place(struct order *o, uint32_t *g, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = g[i], at = i;
        for (; at > 0 && o->place[g[at - 1]] > o->place[x]; at--) {
            g[at] = g[at - 1];
        }
        g[at] = x;
    }
}

static bool search(struct order *o, uint32_t a, uint32_t b, uint32_t *n_before, uint32_t *n_after)
{
    *n_before = *n_after = 0;
    return reach(o, a, b, true, o->after, n_after) && reach(o, b, a, false, o->before, n_before);
}

bool order_may_join(struct order *o, uint32_t a, uint32_t b)
{
    uint32_t n_before, n_after;
    return o->place[a] < o->place[b] ? search(o, a, b, &n_before, &n_after)
                                     : search(o, b, a, &n_before, &n_after);
}

uint32_t order_join(struct order *o, uint32_t a, uint32_t b)
{
    uint32_t n_before, n_after, n = 0;
    if (o->place[a] > o->place[b]) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    if (!search(o, a, b, &n_before, &n_after)) {
        return NONE;
    }
    sort_by_place(o, o->before, n_before);
    sort_by_place(o, o->after, n_after);
    o->slot[n++] = o->place[a];
    o->slot[n++] = o->place[b];
    for (uint32_t i = 0; i < n_before; i++) {
        o->slot[n++] = o->place[o->before[i]];
    }
    for (uint32_t i = 0; i < n_after; i++) {
        o->slot[n++] = o->place[o->after[i]];
    }
    qsort(o->slot, n, sizeof *o->slot, by_number);
    for (uint32_t i = 0; i < n_before; i++) {
        o->place[o->before[i]] = o->slot[i];
    }
    o->place[a] = o->slot[n_before];
    for (uint32_t i = 0; i < n_after; i++) {
        o->place[o->after[i]] = o->slot[n_before + 2 + i];
    }
    o->group[b] = a;
    o->next[o->end[a]] = b;
    o->end[a] = o->end[b];
    return a;
}
