/* Loops planned, checked and run on the CPU: forwards and backwards, carries that change places, one loop
 * inside another, no iteration at all, values committed; with and without reuse of memory. Expected values by
 * the same recurrences in C, exact in f32.
 */
#include "runtime/exec/exec.h"
#include "tests/plan/make.h"

enum { WIDTH = 3, INNER = 2 };

struct looped {
    struct make m;
    uint32_t x, state, log;
    uint16_t phase;
};

static val loop_node(struct make *m, enum op op, uint32_t loop)
{
    return NODE(m, .op = op, ATTR(loop));
}
static val carry_of(struct make *m, uint32_t loop, int64_t k, val first)
{
    return NODE(m, .op = OP_loop_carry, IN(first), ATTR(loop, k));
}
static val part_of(struct make *m, enum op op, val end, int64_t k)
{
    return NODE(m, .op = op, IN(end), ATTR(k));
}
static uint32_t open_loop(struct make *m, uint32_t parent, int64_t n, bool reverse)
{
    return graph_loop(m->g, m->phase, parent, make_dim(m, n), reverse, (struct span){4, 7, 1}, &m->sink);
}

/* Inside: for k in 0 .. INNER - 1: b = b + a, gives b. */
static val inner_loop(struct make *m, uint32_t parent, val a, val b)
{
    uint32_t l = open_loop(m, parent, INNER, false);
    val carry = carry_of(m, l, 0, b), next = NODE(m, .op = OP_add, IN(carry, a));
    val end = NODE(m, .op = OP_loop, IN(carry, next), ATTR(l, 1));
    return part_of(m, OP_loop_last, end, 0);
}

/* x: [n, WIDTH]; scan (xt in x; a = s, b = 1) { next a = inner(xt, b); next b = a; yield y = a * b, t }; next
 * s = a. */
static struct looped make_looped(int64_t n, bool reverse)
{
    struct looped k = {.m = make_graph()};
    struct make *m = &k.m;
    struct type row = make_type(m, DT_F32, 1, (int64_t[]){WIDTH});
    k.x = make_state(m, "x", make_type(m, DT_F32, 2, (int64_t[]){WIDTH, n}));
    k.state = make_state(m, "s", row);
    make_phase(m, "go", PHASE_USER);
    k.phase = m->phase;
    val one = NODE(m, .op = OP_const, ATTR(f64_bits(1)), .type = {.dtype = DT_F32});
    struct type flat = make_type(m, DT_F32, 1, (int64_t[]){1});
    one = NODE(m, .op = OP_expand, IN(NODE(m, .op = OP_reshape, IN(one), .type = flat)), .type = row);
    val x =
        NODE(m, .op = OP_permute, IN(make_read(m, k.x)), ATTR(1, 0)); /* strides that are not contiguous */
    uint32_t l = open_loop(m, 0, n, reverse);
    val xt = NODE(m, .op = OP_loop_in, IN(x), ATTR(l));
    val a = carry_of(m, l, 0, make_read(m, k.state)), b = carry_of(m, l, 1, one);
    val next = inner_loop(m, l, xt, b), y = NODE(m, .op = OP_mul, IN(a, b));
    val end = NODE(m, .op = OP_loop, IN(a, b, next, a, y, loop_node(m, OP_loop_index, l)), ATTR(l, 2));
    make_commit(m, k.state, part_of(m, OP_loop_last, end, 0));
    make_output(m, part_of(m, OP_loop_out, end, 0));
    make_output(m, part_of(m, OP_loop_out, end, 1));
    make_output(m, part_of(m, OP_loop_last, end, 1));
    ck_assert_uint_eq(graph_node(m->g, next)->loop, l);
    ck_assert_uint_eq(graph_node(m->g, end)->loop, 0);
    return k;
}

static float x_at(int64_t t, int i)
{
    return (float)(t % 5 - 2 * i + 1);
}

static void check_run(int64_t n, bool reverse, bool no_reuse)
{
    struct looped k = make_looped(n, reverse);
    struct plan_options o = {.target = {.name = "cpu"}, .no_reuse = no_reuse};
    ck_assert_int_eq(graph_verify(k.m.g, &k.m.sink), ST_OK);
    struct plan *p = make_plan(&k.m, &o);
    const struct plan_variant *v = plan_find(p, k.phase, false);
    char *arena = aligned_alloc(PLAN_ALIGN, p->bytes + PLAN_ALIGN - p->bytes % PLAN_ALIGN);
    memset(arena, 0xff, p->bytes);
    memset(arena, 0, p->persistent);
    plan_fill_constants(p, arena);
    float *x = (float *)(void *)(arena + p->var[k.x].offset),
          *s = (float *)(void *)(arena + p->var[k.state].offset);
    float a[WIDTH], b[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
        a[i] = s[i] = (float)i - 1;
        b[i] = 1;
        for (int64_t t = 0; t < n; t++) {
            x[i * n + t] = x_at(t, i);
        }
    }
    ck_assert_int_eq(cpu_run_variant(arena, p, (uint32_t)(v - p->variant), 2), ST_OK);
    const float *y = (const float *)(const void *)(arena + v->output[0].offset);
    const int32_t *index = (const int32_t *)(const void *)(arena + v->output[1].offset);
    const float *last = (const float *)(const void *)(arena + v->output[2].offset);
    for (int64_t step = 0; step < n; step++) {
        int64_t t = reverse ? n - 1 - step : step;
        ck_assert_int_eq(index[t], (int32_t)t);
        for (int i = 0; i < WIDTH; i++) {
            float old = a[i];
            ck_assert_float_eq(y[t * WIDTH + i], a[i] * b[i]);
            a[i] = b[i] + INNER * x_at(t, i);
            b[i] = old;
        }
    }
    for (int i = 0; i < WIDTH; i++) {
        ck_assert_float_eq(last[i], b[i]);
        ck_assert_float_eq(s[i], a[i]);
    }
    free(arena);
}

START_TEST(loops_run)
{
    static const int64_t lengths[] = {0, 1, 2, 7};
    for (int i = 0; i < 16; i++) {
        check_run(lengths[i / 4], i & 1, i & 2);
        make_free_all();
    }
}
END_TEST

/* A running sum into the state itself: one add in the body and no copy. */
START_TEST(carry_in_place)
{
    struct make m = make_graph();
    struct type row = make_type(&m, DT_F32, 1, (int64_t[]){WIDTH});
    uint32_t x = make_state(&m, "x", make_type(&m, DT_F32, 2, (int64_t[]){4, WIDTH})),
             s = make_state(&m, "s", row);
    make_phase(&m, "go", PHASE_USER);
    uint32_t l = open_loop(&m, 0, 4, false);
    val xt = NODE(&m, .op = OP_loop_in, IN(make_read(&m, x)), ATTR(l));
    val c = carry_of(&m, l, 0, make_read(&m, s)), next = NODE(&m, .op = OP_add, IN(c, xt));
    val end = NODE(&m, .op = OP_loop, IN(c, next), ATTR(l, 1));
    make_commit(&m, s, part_of(&m, OP_loop_last, end, 0));
    struct plan *p = make_plan(&m, &(struct plan_options){.target = {.name = "cpu"}});
    const struct plan_variant *v = plan_find(p, m.phase, false);
    ck_assert_uint_eq(p->n_copy, 0);
    ck_assert_uint_eq(v->n_op, 5); /* the first value onto itself, begin, read, add, end */
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct kargs *k = &v->op[i].k;
        ck_assert(v->op[i].op != OP_copy || k->in[0].offset == k->out[0].offset);
        ck_assert(v->op[i].op != OP_add || k->out[0].offset == p->var[s].offset);
    }
}
END_TEST

/* Values of loops that stand side by side do not meet. */
START_TEST(loops_are_apart)
{
    struct make m = make_graph();
    make_phase(&m, "go", PHASE_USER);
    uint32_t one = open_loop(&m, 0, 2, false), two = open_loop(&m, 0, 2, false);
    val a = loop_node(&m, OP_loop_index, one), b = loop_node(&m, OP_loop_index, two);
    struct node_spec s = {.op = OP_add, .phase = m.phase, IN(a, b)};
    ck_assert_uint_eq(graph_add(m.g, &s, &m.sink), 0);
    ck_assert_int_eq(m.sink.list.at[0].code, DIAG_I0001);
    ck_assert(loop_inside(m.g, one, 0) && !loop_inside(m.g, one, two));
}
END_TEST

/* The text form and .gmlb keep loops. */
START_TEST(loops_are_kept)
{
    struct looped k = make_looped(3, true);
    char *text = NULL, *again = NULL, *bytes;
    size_t n = 0, n_bytes;
    struct graph *g, *h;
    FILE *f = open_memstream(&text, &n);
    k.m.g->model = "loop";
    graph_print(k.m.g, f);
    fclose(f);
    ck_assert_int_eq(graph_parse(k.m.a, text, &k.m.sink, &g), ST_OK);
    ck_assert_int_eq(gmlb_write(g, k.m.a, &bytes, &n_bytes), ST_OK);
    ck_assert_int_eq(gmlb_read(k.m.a, "x.gmlb", bytes, n_bytes, &k.m.sink, &h), ST_OK);
    f = open_memstream(&again, &n);
    graph_print(h, f);
    fclose(f);
    ck_assert_str_eq(text, again);
    free(text);
    free(again);
}
END_TEST

MAIN("loop", loops_run, carry_in_place, loops_are_apart, loops_are_kept)
