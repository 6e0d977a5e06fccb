/* Random choices of the generator: numbers, sizes, types. A linear congruential generator, so that a seed
 * means the same everywhere. */
#include "tools/random/internal.h"

uint32_t below(struct gen *g, uint32_t n)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t)((g->random >> 32) % n) : 0;
}
bool chance(struct gen *g, uint32_t percent)
{
    return below(g, 100) < percent;
}
double between(struct gen *g, double lo, double hi)
{
    return lo + (hi - lo) * (double)below(g, 1u << 24) * 0x1p-24;
}

int64_t size_of(struct gen *g, dim d)
{
    int64_t n = 0;
    return dim_eval(&g->g->dims, &g->binding, d, &n) ? n : 0;
}
int64_t count_of(struct gen *g, const struct type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        n *= size_of(g, t->dim[i]);
    }
    return n;
}
/* The size if a launch had that many rows, -1 if it has none then. */
static int64_t size_with(struct gen *g, dim d, int64_t rows)
{
    uint32_t atom;
    int64_t n = -1;
    if (!g->data || !dim_is_symbol(&g->g->dims, g->g->phases.at[g->b.phase].b, &atom)) {
        return size_of(g, d);
    }
    int64_t old = g->binding.atom[atom];
    g->binding.atom[atom] = rows;
    n = dim_eval(&g->g->dims, &g->binding, d, &n) ? n : -1;
    g->binding.atom[atom] = old;
    return n;
}
int64_t least_size(struct gen *g, dim d)
{
    return size_with(g, d, 1);
}
bool varies(struct gen *g, dim d)
{
    int64_t n;
    return dim_eval(&g->g->dims, &g->binding, d, &n) && size_with(g, d, -1) < 0;
}
struct type fixed_type(struct gen *g, struct type t)
{
    for (int i = 0; i < t.rank; i++) {
        t.dim[i] = varies(g, t.dim[i]) ? dim_const(&g->g->dims, 1) : t.dim[i];
    }
    return t;
}
dim draw_size(struct gen *g)
{
    return g->size[below(g, g->n_size)];
}
/* Any rank up to 4, at most MAX_ELEMENTS. */
struct type draw_type(struct gen *g, enum dtype t, int min_rank)
{
    static const int ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4};
    struct type out = {.dtype = t};
    int rank = ranks[below(g, sizeof ranks / sizeof *ranks)];
    int64_t n = 1;
    for (rank = rank < min_rank ? min_rank : rank; out.rank < rank; out.rank++) {
        dim d = draw_size(g);
        bool fits = n * size_of(g, d) <= MAX_ELEMENTS;
        out.dim[out.rank] = fits ? d : dim_const(&g->g->dims, 1);
        n *= fits ? size_of(g, d) : 1;
    }
    return out;
}
enum dtype draw_float(struct gen *g)
{
    bool other = g->o->mixed && chance(g, 15);
    return other == (g->o->number == DT_F32) ? DT_F64 : DT_F32;
}
enum dtype draw_number(struct gen *g)
{
    return chance(g, g->o->smooth ? 8 : 25) ? DT_I32 : draw_float(g);
}
