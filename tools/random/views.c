/* Views, and pad, the reverse of slice. */
#include <stdlib.h>
#include "tools/random/internal.h"

static val any_value(struct gen *g, int min_rank)
{
    return pick(g, chance(g, 15) ? DT_BOOL : draw_number(g), min_rank, false);
}
/* Two axes joined, one axis split, or a unit axis put in. */
static val make_reshape(struct gen *g)
{
    val x = any_value(g, 0);
    struct type t = node_type(g->g, x), r = t;
    int at = t.rank ? (int)below(g, (uint32_t)t.rank) : 0;
    int64_t n = 1, part = 1;
    if (at + 1 < t.rank && chance(g, 50)) {
        r.rank--;
        r.dim[at] = dim_mul(&g->g->dims, t.dim[at], t.dim[at + 1]);
        memmove(&r.dim[at + 1], &t.dim[at + 2], (size_t)(t.rank - at - 2) * sizeof *r.dim);
    } else if (t.rank < 5) {
        bool known = t.rank && dim_is_const(&g->g->dims, t.dim[at], &n);
        part = known && n > 0 && n % 3 == 0 ? 3 : known && n > 0 && n % 2 == 0 ? 2 : 1;
        memmove(&r.dim[at + 1], &t.dim[at], (size_t)(t.rank - at) * sizeof *r.dim);
        r.dim[at] = dim_const(&g->g->dims, part);
        r.dim[at + 1] = part > 1 ? dim_const(&g->g->dims, n / part) : t.dim[at];
        r.rank++;
    }
    return keep(g, build_reshape(&g->b, x, r.rank, r.dim), range_of(g, x));
}
static val make_permute(struct gen *g)
{
    val x = any_value(g, 2);
    int perm[LIMIT_RANK], rank = graph_node(g->g, x)->rank;
    for (int i = 0; i < rank; i++) {
        int k = (int)below(g, (uint32_t)i + 1);
        perm[i] = perm[k];
        perm[k] = i;
    }
    return keep(g, build_permute(&g->b, x, perm), range_of(g, x));
}
/* Axes of a size that is only known when it is bound stay whole. */
static val make_slice(struct gen *g)
{
    val x = any_value(g, 1);
    struct type t = node_type(g->g, x);
    int64_t step[LIMIT_RANK], n;
    dim start[LIMIT_RANK], size[LIMIT_RANK];
    for (int i = 0; i < t.rank; i++) {
        step[i] = 1;
        start[i] = dim_const(&g->g->dims, 0);
        size[i] = t.dim[i];
        if (!dim_is_const(&g->g->dims, t.dim[i], &n) || n == 0 || chance(g, 40)) {
            continue;
        }
        int64_t from = below(g, (uint32_t)n), most;
        step[i] = chance(g, 70) ? 1 + below(g, 2) : -1 - (int64_t)below(g, 2);
        most = step[i] > 0 ? (n - 1 - from) / step[i] + 1 : from / -step[i] + 1;
        start[i] = dim_const(&g->g->dims, from);
        size[i] = dim_const(&g->g->dims, 1 + below(g, (uint32_t)most));
    }
    return keep(g, build_slice(&g->b, x, start, step, size), range_of(g, x));
}
static val make_expand(struct gen *g)
{
    val x = any_value(g, 0);
    struct type t = node_type(g->g, x), r = t;
    if (t.rank < 4 && chance(g, 50)) {
        memmove(&r.dim[1], &t.dim[0], (size_t)t.rank * sizeof *r.dim);
        r.dim[0] = draw_size(g);
        r.rank++;
    }
    for (int i = r.rank - t.rank; i < r.rank; i++) {
        int64_t n;
        bool unit = dim_is_const(&g->g->dims, r.dim[i], &n) && n == 1;
        r.dim[i] = unit ? draw_size(g) : r.dim[i];
    }
    return count_of(g, &r) > MAX_ELEMENTS ? 0
                                          : keep(g, build_expand(&g->b, x, r.rank, r.dim), range_of(g, x));
}
static val make_pad(struct gen *g)
{
    val x = into(g, pick(g, chance(g, 10) ? DT_BOOL : draw_number(g), 1, false), DOM_ANY);
    struct type t = node_type(g->g, x), r = t;
    int64_t step[LIMIT_RANK], n;
    dim start[LIMIT_RANK];
    for (int i = 0; i < t.rank; i++) {
        step[i] = 1;
        start[i] = dim_const(&g->g->dims, 0);
        if (!dim_is_const(&g->g->dims, t.dim[i], &n) || chance(g, 40)) {
            continue;
        }
        int64_t before = below(g, 3), length = n > 0 ? n - 1 : 0;
        step[i] = chance(g, 70) ? 1 + (int64_t)below(g, 2) : -1;
        length *= llabs(step[i]);
        start[i] = dim_const(&g->g->dims, before + (step[i] < 0 ? length : 0));
        r.dim[i] = dim_const(&g->g->dims, before + length + 1 + below(g, 2));
    }
    struct range b = range_of(g, x);
    b = (struct range){b.lo < 0 ? b.lo : 0, b.hi > 0 ? b.hi : 0, b.exact};
    return count_of(g, &r) > MAX_ELEMENTS ? 0 : keep(g, build_pad(&g->b, x, start, step, &r), b);
}
/* A leaf of a tree, or of arithmetic on its block. */
static val make_leaf(struct gen *g)
{
    if (g->flat.n == 0) {
        return 0;
    }
    const struct item *x = &g->flat.at[below(g, g->flat.n)];
    struct type t = node_type(g->g, x->v);
    uint32_t tree;
    if (!dim_is_tree(&g->g->dims, t.dim[0], &tree)) {
        return 0;
    }
    return keep(g, build_leaf(&g->b, x->v, tree, below(g, g->g->trees.at[tree].n_leaf)), x->r);
}

const struct maker view_makers[] = {
    {OP_reshape, make_reshape}, {OP_permute, make_permute}, {OP_slice, make_slice}, {OP_expand, make_expand},
    {OP_pad, make_pad},         {OP_leaf, make_leaf},       {OP_NONE, NULL}};
