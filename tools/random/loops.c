/* Loops: a body of rows of all kinds over parts of arrays, carries and the index, and loops inside of it.
 * What belongs to a body is taken away from later rows behind its end; they may read its results. Carries
 * keep a range that holds for every iteration. */
#include <math.h>
#include "tools/random/internal.h"

enum { DEPTH = 3, CARRIES = 3, YIELDS = 2, MOST_TURNS = 33, WHOLE = 5 };

static val loop_row(struct gen *g, enum op op, const val *in, uint32_t n, uint32_t loop, int64_t k)
{
    bool two = op == OP_loop_carry || op == OP_loop;
    return build_attrs(&g->b, op, in, n, (int64_t[]){loop, k}, two ? 2 : 1);
}
/* A value of the range that the carries of its type have. */
static val bounded(struct gen *g, val x)
{
    if (graph_node(g->g, x)->dtype != DT_I32) {
        return into(g, x, DOM_SMALL);
    }
    val n = number(g, DT_I32, WHOLE);
    return keep(g, build_2(&g->b, OP_mod, x, n), (struct range){0, WHOLE - 1, true});
}
static struct range carried(enum dtype t)
{
    return t == DT_I32 ? (struct range){0, WHOLE - 1, true} : (struct range){-3, 3, false};
}

/* Parts of x, and of more arrays with as many. */
static void read_parts(struct gen *g, uint32_t loop, val x)
{
    val array[3] = {x};
    uint32_t n = 1 + below(g, 3);
    for (uint32_t i = 1; i < n; i++) {
        struct type t = draw_type(g, draw_number(g), 1);
        t.dim[0] = node_shape(g->g, graph_node(g->g, x))[0];
        array[i] = count_of(g, &t) <= MAX_ELEMENTS ? of_type(g, &t, false) : x;
    }
    for (uint32_t i = 0; i < n; i++) {
        keep(g, loop_row(g, OP_loop_in, &array[i], 1, loop, 0), range_of(g, array[i]));
    }
}
/* A draw that differs from iteration to iteration. */
static void draw_in_loop(struct gen *g, val index)
{
    struct type t = draw_type(g, draw_float(g), 0);
    struct node_spec s = {.op = OP_uniform,
                          .phase = g->b.phase,
                          .in = &index,
                          .n_in = 1,
                          .attr = (int64_t[]){(int64_t)below(g, 1u << 30), g->b.phase},
                          .n_attr = 2,
                          .type = t};
    keep(g, graph_add(g->g, &s, &g->sink), (struct range){0, 1, true});
}
static val some_yield(struct gen *g, int64_t turns, val index)
{
    val v = pick(g, chance(g, 10) ? DT_BOOL : draw_number(g), 0, false);
    struct type t = node_type(g->g, v);
    return t.rank > 3 || count_of(g, &t) * turns > MAX_ELEMENTS ? index : v;
}
/* Values of the body are not for rows behind it. */
static void forget_body(struct gen *g, uint32_t loop)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->item.n; i++) {
        if (!loop_inside(g->g, graph_node(g->g, g->item.at[i].v)->loop, loop)) {
            g->item.at[n++] = g->item.at[i];
        }
    }
    g->item.n = n;
}

struct ends {
    val in[2 * CARRIES + YIELDS];
    struct range of_yield[YIELDS];
    uint32_t carries, yields, n;
};
static void begin_body(struct gen *g, uint32_t loop, val x, int64_t turns, struct ends *e)
{
    val first[CARRIES];
    e->carries = below(g, CARRIES + 1);
    for (uint32_t k = 0; k < e->carries; k++) {
        first[k] = bounded(g, pick(g, draw_number(g), 0, false));
    }
    read_parts(g, loop, x);
    for (uint32_t k = 0; k < e->carries; k++) {
        enum dtype t = (enum dtype)graph_node(g->g, first[k])->dtype;
        e->in[k] = keep(g, loop_row(g, OP_loop_carry, &first[k], 1, loop, k), carried(t));
    }
    val index = keep(g, loop_row(g, OP_loop_index, NULL, 0, loop, 0),
                     (struct range){0, turns > 0 ? (double)turns - 1 : 0, true});
    if (chance(g, 30)) {
        draw_in_loop(g, index);
    }
    for (uint32_t rows = 2 + below(g, 6); rows > 0; rows--) {
        add_row(g);
    }
    for (uint32_t k = 0; k < e->carries; k++) {
        struct type t = node_type(g->g, e->in[k]);
        e->in[e->carries + k] = bounded(g, of_type(g, &t, t.dtype == DT_I32));
    }
    e->yields = (e->carries == 0) + below(g, YIELDS);
    for (uint32_t k = 0; k < e->yields; k++) {
        val y = some_yield(g, turns, index);
        e->in[2 * e->carries + k] = y;
        e->of_yield[k] = range_of(g, y);
    }
    e->n = 2 * e->carries + e->yields;
}
/* An array whose parts a loop reads one by one; of many parts where the options ask for loops. */
static val draw_array(struct gen *g)
{
    static const int64_t many[] = {13, 20, 31, 33};
    struct type t = draw_type(g, draw_number(g), 1);
    if (!g->o->loops || g->depth > 0 || chance(g, 25)) {
        return pick(g, t.dtype, 1, false);
    }
    t.dim[0] = dim_const(&g->g->dims, many[below(g, 4)]);
    t.rank = count_of(g, &t) > MAX_ELEMENTS ? 1 : t.rank;
    return of_type(g, &t, false);
}
val make_loop(struct gen *g)
{
    val x = draw_array(g), last = 0;
    struct type t = node_type(g->g, x);
    int64_t turns = size_of(g, t.dim[0]);
    uint32_t parent = g->loop;
    if (g->depth == DEPTH || turns > MOST_TURNS) {
        return 0;
    }
    struct ends e;
    uint32_t loop = graph_loop(g->g, g->b.phase, parent, t.dim[0], chance(g, 50), NO_SPAN, &g->sink);
    g->loop = loop;
    g->depth++;
    begin_body(g, loop, x, turns, &e);
    g->loop = parent;
    g->depth--;
    val end = loop_row(g, OP_loop, e.in, e.n, loop, e.carries);
    forget_body(g, loop);
    for (uint32_t k = 0; k < e.carries; k++) {
        last = build_attrs(&g->b, OP_loop_last, &end, 1, (int64_t[]){k}, 1);
        keep(g, last, carried((enum dtype)graph_node(g->g, last)->dtype));
    }
    for (uint32_t k = 0; k < e.yields; k++) {
        last = keep(g, build_attrs(&g->b, OP_loop_out, &end, 1, (int64_t[]){k}, 1), e.of_yield[k]);
    }
    return last;
}
