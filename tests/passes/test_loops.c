/* Gradients through loops: random bodies with one to three carries, inputs read part by part, captured
 * parameters, draws of the index, yields, and loops inside of loops, forwards and backwards, over 1, 2, 7 and
 * 33 iterations. The gradient of the loss is held against central differences in f64, with all passes and
 * with those alone that give meaning; both must agree to the last digits.
 */
#include <math.h>
#include "compiler/passes.h"
#include "runtime/exec/exec.h"
#include "tests/plan/make.h"

enum { WIDTH = 3, BODIES = 200, POOL = 24, LEAVES = 4 };

struct body {
    struct make m;
    struct build b;
    uint64_t random;
    uint32_t tree;
    val leaf[LEAVES]; /* x: [n, WIDTH]; w: [WIDTH, WIDTH]; v, h: [WIDTH] */
    int depth;
};
struct pool {
    val at[POOL];
    uint32_t n;
};

static uint32_t pick(struct body *k, uint32_t n)
{
    k->random = k->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(k->random >> 33) % n;
}
static void put(struct pool *p, val v)
{
    ck_assert_uint_ne(v, 0);
    if (p->n < POOL) {
        p->at[p->n++] = v;
    }
}
static val any(struct body *k, const struct pool *p)
{
    return p->at[pick(k, p->n)];
}
static val product(struct body *k, val x)
{
    dim row[] = {make_dim(&k->m, 1), make_dim(&k->m, WIDTH)};
    val y = build_matmul(&k->b, build_reshape(&k->b, x, 2, row), k->leaf[1]);
    return build_2(&k->b, OP_mul, build_reshape(&k->b, y, 1, row + 1), build_const(&k->b, DT_F64, 0.4));
}

static void scan(struct body *k, struct pool *outer, uint32_t parent, int64_t n);

static val one_op(struct body *k, struct pool *p)
{
    static const enum op unary[] = {OP_tanh, OP_sin, OP_sigmoid, OP_neg}, binary[] = {OP_add, OP_sub, OP_mul};
    switch (pick(k, 6)) {
    case 0:
        return product(k, any(k, p));
    case 1:
        return build_op(&k->b, OP_where,
                        (val[]){build_2(&k->b, OP_gt, any(k, p), any(k, p)), any(k, p), any(k, p)}, 3);
    case 2:
    case 3:
        return build_1(&k->b, unary[pick(k, 4)], any(k, p));
    default: {
        val x = any(k, p), y = any(k, p);
        return build_1(&k->b, OP_tanh, build_2(&k->b, binary[pick(k, 3)], x, y));
    }
    }
}

/* A loop over values of `outer`, whose results join them. */
static void scan(struct body *k, struct pool *outer, uint32_t parent, int64_t n)
{
    struct make *m = &k->m;
    uint32_t loop =
        graph_loop(m->g, m->phase, parent, make_dim(m, n), pick(k, 2), (struct span){4, 7, 1}, &m->sink);
    uint32_t carries = 1 + pick(k, 3);
    struct pool p = {{0}, 0};
    val in[POOL], carry[3];
    for (uint32_t i = 0; i < carries; i++) {
        val first = any(k, outer);
        carry[i] = NODE(m, .op = OP_loop_carry, IN(first), ATTR(loop, i));
        put(&p, carry[i]);
    }
    if (parent == 0) {
        put(&p, NODE(m, .op = OP_loop_in, IN(k->leaf[0]), ATTR(loop)));
    }
    val index = build_cast(&k->b, NODE(m, .op = OP_loop_index, ATTR(loop)), DT_F64);
    val turn = build_1(&k->b, OP_sin, index);
    put(&p, build_2(&k->b, OP_mul, any(k, &p), turn));
    put(&p, any(k, outer));
    for (uint32_t i = 0, ops = 2 + pick(k, 6); i < ops; i++) {
        put(&p, one_op(k, &p));
    }
    if (k->depth < 2 && pick(k, 3) == 0) {
        k->depth++;
        scan(k, &p, loop, 1 + pick(k, 3));
    }
    uint32_t yields = 1 + pick(k, 2), n_in = 0;
    for (uint32_t i = 0; i < carries; i++) {
        in[n_in++] = carry[i];
    }
    for (uint32_t i = 0; i < carries; i++) {
        in[n_in++] = build_2(&k->b, OP_add, p.at[p.n - 1 - pick(k, p.n / 2)],
                             build_2(&k->b, OP_mul, carry[i], build_const(&k->b, DT_F64, 0.3)));
    }
    for (uint32_t i = 0; i < yields; i++) {
        in[n_in++] = any(k, &p);
    }
    val end = NODE(m, .op = OP_loop, .in = in, .n_in = n_in, ATTR(loop, carries));
    for (uint32_t i = 0; i < carries; i++) {
        put(outer, NODE(m, .op = OP_loop_last, IN(end), ATTR(i)));
    }
    for (uint32_t i = 0; i < yields; i++) {
        val stack = NODE(m, .op = OP_loop_out, IN(end), ATTR(i));
        put(outer, build_reduce(&k->b, OP_mean, build_1(&k->b, OP_sin, stack), (int[]){0}, 1, false));
    }
}

static struct body make_body(uint32_t seed)
{
    static const int64_t lengths[] = {1, 2, 7, 33};
    struct body k = {.m = make_graph(), .random = seed * 77777u + 5};
    struct make *m = &k.m;
    int64_t n = lengths[seed % 4];
    struct type leaf[LEAVES] = {
        make_type(m, DT_F64, 2, (int64_t[]){n, WIDTH}), make_type(m, DT_F64, 2, (int64_t[]){WIDTH, WIDTH}),
        make_type(m, DT_F64, 1, (int64_t[]){WIDTH}), make_type(m, DT_F64, 1, (int64_t[]){WIDTH})};
    m->g->model = "loops";
    k.tree = make_tree(m, "train.loss", leaf, LEAVES);
    make_phase(m, "train", PHASE_USER)->training = true;
    k.b = (struct build){.g = m->g, .sink = &m->sink, .phase = m->phase};
    struct pool p = {{0}, 0};
    for (uint32_t i = 0; i < LEAVES; i++) {
        k.leaf[i] = make_read(m, m->g->trees.at[k.tree].leaf[i]);
    }
    put(&p, k.leaf[2]);
    put(&p, k.leaf[3]);
    scan(&k, &p, 0, n);
    if (seed % 5 == 0) {
        scan(&k, &p, 0, n); /* reads what the first one leaves */
    }
    val sum = 0;
    for (uint32_t i = 2; i < p.n; i++) {
        val term = build_reduce(&k.b, OP_sum, build_1(&k.b, OP_sin, p.at[i]), NULL, -1, false);
        sum = sum ? build_2(&k.b, OP_add, sum, term) : term;
    }
    struct type flat = build_tree_type(&k.b, k.tree, DT_F64);
    val grad = NODE(m, .op = OP_grad, IN(sum), ATTR(k.tree), .type = flat);
    struct phase *f = &m->g->phases.at[m->phase];
    make_output(m, sum);
    vec_push(m->a, &f->outputs, ((struct output){.name = "gradient", .value = grad}));
    vec_push(m->a, &f->minimizes,
             ((struct minimize){.name = "loss", .loss = sum, .grad = grad, .tree = k.tree}));
    return k;
}

struct evaluation {
    struct plan *p;
    uint32_t variant;
    char *arena;
};
static struct evaluation prepare(struct body *k, bool no_passes, bool no_reuse)
{
    struct graph *g;
    struct compile_options o = {.no_passes = no_passes, .verify_each = true};
    if (run_passes(k->m.g, &o, &k->m.sink, &g) != ST_OK) {
        diag_render(&k->m.sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("the passes failed");
    }
    struct make after = k->m;
    after.g = g;
    struct evaluation e = {
        .p = make_plan(&after, &(struct plan_options){.target = {.name = "cpu"}, .no_reuse = no_reuse})};
    e.variant = (uint32_t)(plan_find(e.p, k->m.phase, false) - e.p->variant);
    e.arena = aligned_alloc(PLAN_ALIGN, e.p->bytes + PLAN_ALIGN - e.p->bytes % PLAN_ALIGN);
    memset(e.arena, 0xff, e.p->bytes);
    memset(e.arena, 0, e.p->persistent);
    plan_fill_constants(e.p, e.arena);
    return e;
}
static double *parameter(const struct evaluation *e, int64_t i)
{
    return (double *)(void *)(e->arena + e->p->tree_offset[0]) + i;
}
static double loss(const struct evaluation *e)
{
    ck_assert_int_eq(cpu_run_variant(e->arena, e->p, e->variant, 1), ST_OK);
    return *(double *)(void *)(e->arena + e->p->variant[e->variant].output[0].offset);
}

static void check_body(uint32_t seed)
{
    struct body k = make_body(seed);
    struct evaluation e = prepare(&k, false, false), plain = prepare(&k, true, true);
    int64_t n = e.p->tree_elements[0];
    for (int64_t i = 0; i < n; i++) {
        double x = sin((double)(seed + 1) * 12.9898 + (double)i * 78.233);
        *parameter(&e, i) = *parameter(&plain, i) = 0.6 * x;
    }
    double here = loss(&e), same = loss(&plain);
    ck_assert_msg(fabs(here - same) <= 1e-12 * (1 + fabs(here)), "seed %u: %.17g and without passes %.17g",
                  seed, here, same);
    double *gradient = arena_array(k.m.a, double, n), *other = arena_array(k.m.a, double, n);
    memcpy(gradient, e.arena + e.p->variant[e.variant].output[1].offset, (size_t)n * 8);
    memcpy(other, plain.arena + plain.p->variant[plain.variant].output[1].offset, (size_t)n * 8);
    for (uint32_t leaf = 0; leaf < LEAVES; leaf++) {
        int64_t from = (int64_t)e.p->leaf_start[0][leaf], count = operand_count(&e.p->var[1 + leaf].view);
        for (int64_t i = from; i<from + count; i += count> 20 ? 7 : 1) {
            double x = *parameter(&e, i), h = 1e-5;
            ck_assert_msg(fabs(gradient[i] - other[i]) <= 1e-10 * (1 + fabs(other[i])),
                          "seed %u, element %lld: %.17g and without passes %.17g", seed, (long long)i,
                          gradient[i], other[i]);
            *parameter(&e, i) = x + h;
            double above = loss(&e);
            *parameter(&e, i) = x - h;
            double below = loss(&e), slope = (above - below) / (2 * h);
            *parameter(&e, i) = x;
            ck_assert_msg(fabs(slope - gradient[i]) <= 1e-5 + 1e-3 * fabs(slope),
                          "seed %u, leaf %u, element %lld: gradient %.12g, difference quotient %.12g", seed,
                          leaf, (long long)(i - from), gradient[i], slope);
        }
    }
    free(e.arena);
    free(plain.arena);
    make_free_all();
}

START_TEST(random_bodies)
{
    for (uint32_t seed = 0; seed < BODIES; seed++) {
        check_body(seed);
    }
}
END_TEST

/* An LSTM over 128 steps: x @ w happens before the loop, gradients of both weights and of the bias after its
 * reverse, and what is left inside are the two products with u. */
enum { STEPS = 128, BATCH = 4, HIDDEN = 8, INPUTS = 5 };

static val gate(struct build *b, struct make *m, val z, int i)
{
    return build_part(b, z, 1, make_dim(m, i * HIDDEN), make_dim(m, HIDDEN), 1);
}
static val lstm(struct build *b, struct make *m, val x, val w, val u, val bias)
{
    struct type t = make_type(m, DT_F64, 2, (int64_t[]){BATCH, HIDDEN});
    uint32_t loop =
        graph_loop(m->g, m->phase, 0, make_dim(m, STEPS), false, (struct span){4, 7, 1}, &m->sink);
    val xt = NODE(m, .op = OP_loop_in, IN(x), ATTR(loop)), zero = build_full(b, &t, 0);
    val h = NODE(m, .op = OP_loop_carry, IN(zero), ATTR(loop, 0)),
        c = NODE(m, .op = OP_loop_carry, IN(zero), ATTR(loop, 1));
    val z = build_2(b, OP_add, build_matmul(b, xt, w), build_matmul(b, h, u));
    z = build_2(b, OP_add, z, bias);
    val keep = build_2(b, OP_mul, build_1(b, OP_sigmoid, gate(b, m, z, 1)), c);
    val put_in = build_1(b, OP_tanh, gate(b, m, z, 2)), in = build_1(b, OP_sigmoid, gate(b, m, z, 0));
    val c1 = build_2(b, OP_add, keep, build_2(b, OP_mul, in, put_in)),
        out = build_1(b, OP_sigmoid, gate(b, m, z, 3));
    val h1 = build_2(b, OP_mul, out, build_1(b, OP_tanh, c1));
    val end = NODE(m, .op = OP_loop, IN(h, c, h1, c1, h1), ATTR(loop, 2));
    return build_reduce(b, OP_mean, NODE(m, .op = OP_loop_out, IN(end), ATTR(0)), NULL, -1, false);
}
START_TEST(recurrence_is_what_is_left)
{
    struct make m = make_graph();
    struct type leaf[] = {make_type(&m, DT_F64, 2, (int64_t[]){INPUTS, 4 * HIDDEN}),
                          make_type(&m, DT_F64, 2, (int64_t[]){HIDDEN, 4 * HIDDEN}),
                          make_type(&m, DT_F64, 1, (int64_t[]){4 * HIDDEN})};
    uint32_t tree = make_tree(&m, "train.loss", leaf, 3);
    uint32_t x = make_state(&m, "x", make_type(&m, DT_F64, 3, (int64_t[]){STEPS, BATCH, INPUTS}));
    make_phase(&m, "train", PHASE_USER)->training = true;
    struct build b = {.g = m.g, .sink = &m.sink, .phase = m.phase};
    val w = make_read(&m, 1), u = make_read(&m, 2), bias = make_read(&m, 3);
    val loss = lstm(&b, &m, make_read(&m, x), w, u, bias);
    struct type flat = build_tree_type(&b, tree, DT_F64);
    val grad = NODE(&m, .op = OP_grad, IN(loss), ATTR(tree), .type = flat);
    make_output(&m, grad);
    struct graph *g;
    ck_assert_int_eq(run_passes(m.g, &(struct compile_options){.verify_each = true}, &m.sink, &g), ST_OK);
    uint32_t inside = 0, outside = 0, sums = 0, carries = 0;
    for (val id = 1; id < g->nodes.n; id++) {
        const struct node *n = graph_node(g, id);
        inside += n->op == OP_matmul && n->loop;
        outside += n->op == OP_matmul && !n->loop;
        sums += n->op == OP_sum && n->loop;
        carries += n->op == OP_loop_carry;
    }
    ck_assert_uint_eq(inside, 2);
    ck_assert_uint_eq(outside, 3);
    ck_assert_uint_eq(sums, 0);
    ck_assert_uint_eq(carries, 4);
}
END_TEST

/* Without carries and with nothing but batched operators a loop is gone. */
START_TEST(map_is_no_loop)
{
    struct make m = make_graph();
    uint32_t x = make_state(&m, "x", make_type(&m, DT_F64, 2, (int64_t[]){5, WIDTH}));
    make_phase(&m, "go", PHASE_USER);
    struct build b = {.g = m.g, .sink = &m.sink, .phase = m.phase};
    uint32_t loop = graph_loop(m.g, m.phase, 0, make_dim(&m, 5), true, (struct span){4, 7, 1}, &m.sink);
    val xt = NODE(&m, .op = OP_loop_in, IN(make_read(&m, x)), ATTR(loop));
    val i = build_cast(&b, NODE(&m, .op = OP_loop_index, ATTR(loop)), DT_F64);
    val y = build_1(&b, OP_softmax, build_2(&b, OP_mul, build_1(&b, OP_tanh, xt), i));
    val end = NODE(&m, .op = OP_loop, IN(y, build_reduce(&b, OP_sum, y, NULL, -1, false)), ATTR(loop, 0));
    make_output(&m, NODE(&m, .op = OP_loop_out, IN(end), ATTR(0)));
    make_output(&m, NODE(&m, .op = OP_loop_out, IN(end), ATTR(1)));
    struct graph *g;
    ck_assert_int_eq(run_passes(m.g, &(struct compile_options){.verify_each = true}, &m.sink, &g), ST_OK);
    for (val id = 1; id < g->nodes.n; id++) {
        ck_assert(!(op_table[graph_node(g, id)->op].flags & OPF_LOOP));
    }
}
END_TEST

/* Discounted sums, forwards and backwards: one scan and no loop, the same values as the loop has. */
static void discount(int64_t n, bool reverse)
{
    struct body k = {.m = make_graph()};
    struct make *m = &k.m;
    m->g->model = "loops";
    uint32_t x = make_state(m, "x", make_type(m, DT_F64, 2, (int64_t[]){n, WIDTH}));
    uint32_t first = make_state(m, "first", make_type(m, DT_F64, 1, (int64_t[]){WIDTH}));
    make_phase(m, "go", PHASE_USER);
    struct build b = {.g = m->g, .sink = &m->sink, .phase = m->phase};
    uint32_t loop = graph_loop(m->g, m->phase, 0, make_dim(m, n), reverse, (struct span){4, 7, 1}, &m->sink);
    val xt = NODE(m, .op = OP_loop_in, IN(make_read(m, x)), ATTR(loop));
    val a = NODE(m, .op = OP_loop_carry, IN(make_read(m, first)), ATTR(loop, 0));
    val next = build_2(&b, OP_add, xt, build_2(&b, OP_mul, build_1(&b, OP_sigmoid, xt), a));
    val end = NODE(m, .op = OP_loop, IN(a, next, next, build_1(&b, OP_tanh, a)), ATTR(loop, 1));
    make_output(m, NODE(m, .op = OP_loop_last, IN(end), ATTR(0)));
    make_output(m, NODE(m, .op = OP_loop_out, IN(end), ATTR(0)));
    make_output(m, NODE(m, .op = OP_loop_out, IN(end), ATTR(1)));
    struct evaluation e[] = {prepare(&k, false, false), prepare(&k, true, false)};
    ck_assert_uint_eq(count_ops(&e[0].p->variant[e[0].variant], OP_loop), 0);
    ck_assert_uint_eq(count_ops(&e[1].p->variant[e[1].variant], OP_loop), 1);
    for (int i = 0; i < 2; i++) {
        double *in = (double *)(void *)(e[i].arena + e[i].p->var[x].offset);
        for (int64_t j = 0; j < n * WIDTH; j++) {
            in[j] = sin((double)j);
        }
        for (int64_t j = 0; j < WIDTH; j++) {
            ((double *)(void *)(e[i].arena + e[i].p->var[first].offset))[j] = 0.5 + (double)j;
        }
        ck_assert_int_eq(cpu_run_variant(e[i].arena, e[i].p, e[i].variant, 1), ST_OK);
    }
    for (uint32_t o = 0; o < 3; o++) {
        const struct operand *p = &e[0].p->variant[e[0].variant].output[o],
                             *q = &e[1].p->variant[e[1].variant].output[o];
        ck_assert_int_eq(operand_count(p), o ? n * WIDTH : WIDTH);
        ck_assert_mem_eq(e[0].arena + p->offset, e[1].arena + q->offset, (size_t)operand_count(p) * 8);
    }
    free(e[0].arena);
    free(e[1].arena);
    make_free_all();
}
START_TEST(linear_is_one_scan)
{
    for (int64_t n = 0; n < 6; n++) {
        discount(n, n & 1);
        discount(n, !(n & 1));
    }
}
END_TEST

/* The mean of a state of `n` numbers in each iteration, and the sum of all its squares: a large state is not
 * kept for all iterations only to take them afterwards. */
static uint32_t reductions_inside(int64_t n)
{
    struct make m = make_graph();
    uint32_t first = make_state(&m, "first", make_type(&m, DT_F64, 1, &n));
    make_phase(&m, "go", PHASE_USER);
    struct build b = {.g = m.g, .sink = &m.sink, .phase = m.phase};
    uint32_t loop = graph_loop(m.g, m.phase, 0, make_dim(&m, STEPS), false, (struct span){4, 7, 1}, &m.sink);
    val h = NODE(&m, .op = OP_loop_carry, IN(make_read(&m, first)), ATTR(loop, 0));
    val all = NODE(&m, .op = OP_loop_carry, IN(build_const(&b, DT_F64, 0)), ATTR(loop, 1));
    val h1 = build_1(&b, OP_sin, h), square = build_2(&b, OP_mul, h1, h1);
    val sum = build_2(&b, OP_add, all, build_reduce(&b, OP_sum, square, NULL, -1, false));
    val end = NODE(&m, .op = OP_loop, IN(h, all, h1, sum, build_reduce(&b, OP_mean, h1, NULL, -1, false)),
                   ATTR(loop, 2));
    make_output(&m, NODE(&m, .op = OP_loop_out, IN(end), ATTR(0)));
    make_output(&m, NODE(&m, .op = OP_loop_last, IN(end), ATTR(1)));
    struct graph *g;
    uint32_t inside = 0;
    ck_assert_int_eq(run_passes(m.g, &(struct compile_options){.verify_each = true}, &m.sink, &g), ST_OK);
    for (val id = 1; id < g->nodes.n; id++) {
        const struct node *x = graph_node(g, id);
        inside += x->loop && (x->op == OP_mean || x->op == OP_sum);
    }
    make_free_all();
    return inside;
}
START_TEST(large_values_are_not_kept)
{
    ck_assert_uint_eq(reductions_inside(WIDTH), 0);
    ck_assert_uint_eq(reductions_inside(1000), 2);
}
END_TEST

MAIN("loops", random_bodies, recurrence_is_what_is_left, map_is_no_loop, linear_is_one_scan,
     large_values_are_not_kept)
