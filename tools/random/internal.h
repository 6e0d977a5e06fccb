/* Inside the generator: values with what is known of them, and how operands are found. */
#ifndef GML_TOOLS_RANDOM_INTERNAL_H
#define GML_TOOLS_RANDOM_INTERNAL_H
#include "compiler/build.h"
#include "compiler/vjp.h"
#include "tools/random/random.h"

/* Bounds of all elements. `exact`: every backend has the same bits. */
struct range {
    double lo, hi;
    bool exact;
};
struct item {
    val v;
    struct range r;
};
enum { MAX_ELEMENTS = 1200, MAX_SIZES = 6, MAX_TREES = 2, MAX_LEAVES = 4, MAX_ROWS = 13 };

struct gen {
    struct arena *a;
    struct graph *g;
    struct diag_sink sink;
    struct build b;
    const struct random_options *o;
    uint64_t random, seed;
    VEC(struct item) item; /* what rows may read */
    VEC(struct item) flat; /* flat blocks whose padding is zero */
    dim size[MAX_SIZES];   /* sizes of this graph */
    uint32_t n_size, n_key;
    VEC(bool) moves;      /* by node, as far as asked: see moves() */
    uint32_t loop, depth; /* whose body grows, 0 = none */
    bool data;            /* the phase walks over a data set */
    uint32_t data_var[2]; /* its rows: floats and labels */
    struct binding binding;
};

/* -- draw.c */
uint32_t below(struct gen *g, uint32_t n);
bool chance(struct gen *g, uint32_t percent);
double between(struct gen *g, double lo, double hi);
int64_t size_of(struct gen *g, dim d);
int64_t least_size(struct gen *g, dim d); /* in a launch of one row: what indices may count on */
int64_t count_of(struct gen *g, const struct type *t);
/* Whether a size depends on the rows of a launch, and the type with 1 in place of such sizes: variables have
 * none. */
bool varies(struct gen *g, dim d);
struct type fixed_type(struct gen *g, struct type t);
dim draw_size(struct gen *g);
struct type draw_type(struct gen *g, enum dtype t, int min_rank);
enum dtype draw_number(struct gen *g); /* a float type or i32 */
enum dtype draw_float(struct gen *g);

/* -- operand.c. All return a value; 0 only when the caller should give up on this row. */
/* Remembers v, which lies in the range, and returns it; 0 stays 0. */
val keep(struct gen *g, val v, struct range r);
struct range range_of(const struct gen *g, val v);
/* Whether a gradient can flow from v to a parameter. */
bool moves(struct gen *g, val v);
/* A new variable of that type and range, read (and repeated along the rows of a launch). Kinds: f floats, i
 * whole numbers, b bools, a rows that ascend.
 */
val fresh(struct gen *g, const struct type *t, char kind, double lo, double hi);
/* A value of the dtype and at least that rank: one that exists, or a new one. */
val pick(struct gen *g, enum dtype t, int min_rank, bool exact);
/* A value of exactly this type. */
val of_type(struct gen *g, const struct type *t, bool exact);
/* x moved into a domain; stays exact when it is. */
val into(struct gen *g, val x, enum op_domain d);
/* Whole numbers of that shape in -1 .. n - 1 (or 0 .. n - 1). */
val index_of(struct gen *g, const struct type *shape, int64_t n, bool none);
val number(struct gen *g, enum dtype t, double x); /* a constant of rank 0 */

/* -- rows */
/* A row that can be added here, all as often; some give nothing. Smooth graphs have fewer rows without a
 * gradient. */
void add_row(struct gen *g);
val make_elem(struct gen *g, enum op op);
val make_reduce(struct gen *g, enum op op);
val make_loop(struct gen *g);
/* structured.c, views.c, sources.c */
struct maker {
    enum op op;
    val (*make)(struct gen *g);
};
extern const struct maker structured_makers[], view_makers[], source_makers[];
/* roots.c */
void flat_values(struct gen *g);
void make_roots(struct gen *g);

#endif
