/* Loops planned, checked and run on the CPU: forwards and backwards, carries that change places, one loop
 * inside another, no iteration at all, values committed; with and without reuse of memory, then under
 * --debug-plan. Expected values by the same recurrences in C, exact in f32.
 */
#include "runtime/exec/exec.h"
#include "tests/plan/make_loop.h"

static float x_at(int64_t t, int i)
{
    return (float)(t % 5 - 2 * i + 1);
}

/* One launch from the image of the arena, and the arena afterwards. */
static void run_image(const struct plan *p, uint32_t variant, bool debug_plan, char *image)
{
    struct exec *e;
    char why[512] = "";
    const struct backend *b = &backend_cpu;
    struct exec_options o = {.threads = 2, .debug_plan = debug_plan};
    ck_assert_int_eq(b->open(&o, &e, why, sizeof why), ST_OK);
    ck_assert_int_eq(b->arena(e, p->bytes), ST_OK);
    ck_assert_int_eq(b->prepare(e, p), ST_OK);
    ck_assert_int_eq(b->upload(e, 0, image, p->bytes), ST_OK);
    ck_assert_msg(b->launch(e, variant, true) == ST_OK, "%s", b->error(e));
    ck_assert_int_eq(b->download(e, 0, image, p->bytes), ST_OK);
    b->close(e);
}

static void check_run(int64_t n, int64_t inner, bool reverse, bool no_reuse)
{
    struct looped k = make_looped(n, inner, reverse);
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
    run_image(p, (uint32_t)(v - p->variant), no_reuse, arena);
    const float *y = (const float *)(const void *)(arena + v->output[0].offset);
    const int32_t *index = (const int32_t *)(const void *)(arena + v->output[1].offset);
    const float *last = (const float *)(const void *)(arena + v->output[2].offset);
    for (int64_t step = 0; step < n; step++) {
        int64_t t = reverse ? n - 1 - step : step;
        ck_assert_int_eq(index[t], (int32_t)t);
        for (int i = 0; i < WIDTH; i++) {
            float old = a[i];
            ck_assert_float_eq(y[t * WIDTH + i], a[i] * b[i]);
            a[i] = b[i] + (float)inner * x_at(t, i);
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
        check_run(lengths[i / 4], i == 13 ? 0 : 2, i & 1, i & 2);
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
    struct looped k = make_looped(3, 2, true);
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
