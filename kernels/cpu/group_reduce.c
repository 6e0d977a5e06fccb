/* A binary tree over leaves that come one by one: two partial results of the same height become one. The same
 * tree as cutting at the largest power of two of leaves, again and again. */
#include "kernels/cpu/group.h"

/* Accumulators of all types have at most 8 bytes. */
static char *partial(const struct counter *c, int i, int64_t width)
{
    return c->acc + i * width * 8;
}

void counter_push(struct counter *c, const struct reducer *f, int64_t width, const void *leaf)
{
    memcpy(partial(c, c->depth, width), leaf, (size_t)width * 8);
    c->level[c->depth++] = 0;
    while (c->depth > 1 && (c->level[c->depth - 1] == c->level[c->depth - 2] || c->depth == GROUP_DEPTH)) {
        f->merge(partial(c, c->depth - 2, width), partial(c, c->depth - 1, width), width);
        c->depth--;
        c->level[c->depth - 1]++;
    }
}

void counter_close(struct counter *c, const struct reducer *f, int64_t width)
{
    for (; c->depth > 1; c->depth--) {
        f->merge(partial(c, c->depth - 2, width), partial(c, c->depth - 1, width), width);
    }
}
