/* A phase with a loop inside of another one, for tests of planner and executors. */
#ifndef GML_TESTS_PLAN_MAKE_LOOP_H
#define GML_TESTS_PLAN_MAKE_LOOP_H
#include "tests/plan/make.h"

enum { WIDTH = 3 };

struct looped {
    struct make m;
    uint32_t x, state, log;
    uint16_t phase;
};

static inline val loop_node(struct make *m, enum op op, uint32_t loop)
{
    return NODE(m, .op = op, ATTR(loop));
}
static inline val carry_of(struct make *m, uint32_t loop, int64_t k, val first)
{
    return NODE(m, .op = OP_loop_carry, IN(first), ATTR(loop, k));
}
static inline val part_of(struct make *m, enum op op, val end, int64_t k)
{
    return NODE(m, .op = op, IN(end), ATTR(k));
}
static inline uint32_t open_loop(struct make *m, uint32_t parent, int64_t n, bool reverse)
{
    return graph_loop(m->g, m->phase, parent, make_dim(m, n), reverse, (struct span){4, 7, 1}, &m->sink);
}

/* Inside: for k in 0 .. n - 1: b = b + a, gives b. */
static inline val inner_loop(struct make *m, uint32_t parent, int64_t n, val a, val b)
{
    uint32_t l = open_loop(m, parent, n, false);
    val carry = carry_of(m, l, 0, b), next = NODE(m, .op = OP_add, IN(carry, a));
    val end = NODE(m, .op = OP_loop, IN(carry, next), ATTR(l, 1));
    return part_of(m, OP_loop_last, end, 0);
}

/* x: [n, WIDTH]; scan (xt in x; a = s, b = 1) { next a = inner(xt, b); next b = a; yield y = a * b, t }; next
 * s = a. */
static inline struct looped make_looped(int64_t n, int64_t inner, bool reverse)
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
    val next = inner_loop(m, l, inner, xt, b), y = NODE(m, .op = OP_mul, IN(a, b));
    val end = NODE(m, .op = OP_loop, IN(a, b, next, a, y, loop_node(m, OP_loop_index, l)), ATTR(l, 2));
    make_commit(m, k.state, part_of(m, OP_loop_last, end, 0));
    make_output(m, part_of(m, OP_loop_out, end, 0));
    make_output(m, part_of(m, OP_loop_out, end, 1));
    make_output(m, part_of(m, OP_loop_last, end, 1));
    ck_assert_uint_eq(graph_node(m->g, next)->loop, l);
    ck_assert_uint_eq(graph_node(m->g, end)->loop, 0);
    return k;
}

#endif
