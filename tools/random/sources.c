/* Rows without inputs: constants, counters, draws, rows of a data set. */
#include "tools/random/internal.h"

static val source(struct gen *g, enum op op, const val *in, uint32_t n_in, const int64_t *attr,
                  uint32_t n_attr, dim d, const struct type *t)
{
    struct node_spec s = {.op = op,
                          .phase = g->b.phase,
                          .in = in,
                          .n_in = n_in,
                          .attr = attr,
                          .n_attr = n_attr,
                          .dims = &d,
                          .n_dim = d != 0};
    if (t) {
        s.type = *t;
    }
    return graph_add(g->g, &s, &g->sink);
}
static val make_iota(struct gen *g)
{
    dim n = draw_size(g);
    double most = (double)size_of(g, n) - 1;
    return keep(g, build_iota(&g->b, n), (struct range){0, most < 0 ? 0 : most, true});
}
static int64_t op_id(struct gen *g)
{
    return (int64_t)below(g, 1u << 30) << 32 | below(g, 1u << 30);
}
static val draw(struct gen *g, enum op op, enum dtype t, const val *in, struct range r)
{
    struct type type = draw_type(g, t, 0);
    return keep(g, source(g, op, in, in != NULL, (int64_t[]){op_id(g), g->b.phase}, 2, 0, &type), r);
}
static val make_uniform(struct gen *g)
{
    return draw(g, OP_uniform, draw_float(g), NULL, (struct range){0, 1, true});
}
static val make_normal(struct gen *g)
{
    return draw(g, OP_normal, draw_float(g), NULL, (struct range){-6, 6, true});
}
static val make_bernoulli(struct gen *g)
{
    val p = number(g, draw_float(g), between(g, 0, 1));
    return draw(g, OP_bernoulli, DT_BOOL, &p, (struct range){0, 1, true});
}
static val make_randint(struct gen *g)
{
    uint32_t n = 1 + below(g, 9);
    val most = number(g, DT_I32, n);
    return draw(g, OP_randint, DT_I32, &most, (struct range){0, n - 1, true});
}
static val make_step(struct gen *g)
{
    static const double most[] = {1e3, 1e3, 1e3, 1e3};
    uint32_t counter = below(g, 4);
    return keep(g, source(g, OP_step, NULL, 0, (int64_t[]){g->b.phase, counter}, 2, 0, NULL),
                (struct range){0, most[counter], true});
}
static val make_shuffle(struct gen *g)
{
    struct type t = draw_type(g, DT_I32, 0), epoch = {.dtype = DT_I32};
    int64_t n = 1 + below(g, 12);
    val i = index_of(g, &t, n, false);
    val e = chance(g, 50) ? of_type(g, &epoch, true)
                          : source(g, OP_step, NULL, 0, (int64_t[]){g->b.phase, 2}, 2, 0, NULL);
    return keep(
        g, source(g, OP_shuffle, (val[]){i, e}, 2, (int64_t[]){op_id(g)}, 1, dim_const(&g->g->dims, n), NULL),
        (struct range){-1, (double)n - 1, true});
}
/* Rows of this launch, and what the data set holds there. */
static val make_rows(struct gen *g)
{
    if (!g->data) {
        return 0;
    }
    val rows = source(g, OP_rows, NULL, 0, (int64_t[]){g->b.phase, chance(g, 50), 77}, 3, 0, NULL);
    uint32_t field = below(g, 2);
    val all = build_attrs(&g->b, OP_read, NULL, 0, (int64_t[]){g->data_var[field]}, 1);
    keep(g, rows, (struct range){-1, MAX_ROWS, true});
    return keep(g, build_2(&g->b, OP_gather, all, rows),
                field ? (struct range){0, 4, true} : (struct range){-2, 2, true});
}
static val make_knob(struct gen *g)
{
    int64_t k = below(g, 3); /* the live configs come first: see generate.c */
    struct range r = k == 0   ? (struct range){0.5, 0.5, true}
                     : k == 1 ? (struct range){3, 3, true}
                              : (struct range){0, 1, true};
    return keep(g, source(g, OP_knob, NULL, 0, &k, 1, 0, NULL), r);
}
static val make_metric(struct gen *g)
{
    struct type t = {.dtype = g->o->number};
    return keep(g, source(g, OP_metric, NULL, 0, (int64_t[]){g->b.phase, 0}, 2, 0, &t),
                (struct range){-1e6, 1e6, false});
}
static val make_const(struct gen *g)
{
    enum dtype t = chance(g, 10) ? DT_BOOL : draw_number(g);
    static const double floats[] = {0, 1, -1, 2, 3, 0.5, 0.1, -0.7, 4};
    static const double whole[] = {0, 1, -1, 2, 5};
    double x = t == DT_BOOL ? below(g, 2) : t == DT_I32 ? whole[below(g, 5)] : floats[below(g, 9)];
    val c = number(g, t, x);
    struct type type = draw_type(g, t, 0);
    return keep(g, build_expand(&g->b, c, type.rank, type.dim), (struct range){x, x, true});
}
static val make_dimval(struct gen *g)
{
    dim d = draw_size(g);
    double n = (double)size_of(g, d);
    struct type t = {.dtype = draw_number(g)};
    return keep(g, source(g, OP_dimval, NULL, 0, NULL, 0, d, &t), (struct range){0, n < 7 ? 7 : n, true});
}

const struct maker source_makers[] = {{OP_iota, make_iota},
                                      {OP_uniform, make_uniform},
                                      {OP_normal, make_normal},
                                      {OP_bernoulli, make_bernoulli},
                                      {OP_randint, make_randint},
                                      {OP_step, make_step},
                                      {OP_shuffle, make_shuffle},
                                      {OP_rows, make_rows},
                                      {OP_knob, make_knob},
                                      {OP_metric, make_metric},
                                      {OP_const, make_const},
                                      {OP_dimval, make_dimval},
                                      {OP_NONE, NULL}};
