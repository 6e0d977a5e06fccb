/* Which launches become groups, where groups stop and why, and that the checker finds planted faults in them.
 * Numbers are compared in tests/random. */
#include "make_loop.h"
#include "runtime/plan/group.h"
#include "runtime/plan/print.h"

static const struct plan_options fused = {.target = {.name = "cpu", .groups = true}, .fuse = true};

struct subject {
    struct make m;
    struct plan *p;
    struct plan_variant *v;
    struct group *g; /* of the first group */
    uint32_t a, b;
};

static void plan_subject(struct subject *s, const struct plan_options *o)
{
    s->p = make_plan(&s->m, o);
    s->v = (struct plan_variant *)plan_find(s->p, s->m.phase, false);
    for (uint32_t i = 0; i < s->v->n_op && !s->g; i++) {
        s->g = (struct group *)s->v->op[i].k.group;
    }
}

static struct subject states(int64_t rows, int64_t columns)
{
    struct subject s = {.m = make_graph()};
    struct type t = make_type(&s.m, DT_F32, 2, (int64_t[]){rows, columns});
    s.a = make_state(&s.m, "a", t);
    s.b = make_state(&s.m, "b", t);
    make_phase(&s.m, "work", PHASE_USER);
    return s;
}

/* A value of rows over the columns of `like`. */
static val spread(struct make *m, val rows, const struct type *like)
{
    struct type column = *like;
    column.dim[1] = make_dim(m, 1);
    return NODE(m, .op = OP_expand, IN(NODE(m, .op = OP_reshape, IN(rows), .type = column)), .type = *like);
}

/* tanh(a - b) * a, which is kept, and a minus its mean over rows. */
static struct subject norm(const struct plan_options *o)
{
    struct subject s = states(40, 24);
    struct make *m = &s.m;
    struct type t = make_type(m, DT_F32, 2, (int64_t[]){40, 24});
    val a = make_read(m, s.a), b = make_read(m, s.b);
    val x = NODE(m, .op = OP_tanh, IN(NODE(m, .op = OP_sub, IN(a, b))));
    val y = NODE(m, .op = OP_mul, IN(x, a));
    val mean = NODE(m, .op = OP_mean, IN(y), ATTR(1));
    make_output(m, y);
    make_output(m, NODE(m, .op = OP_sub, IN(a, spread(m, mean, &t))));
    plan_subject(&s, o);
    return s;
}

START_TEST(chain_and_rows_are_one)
{
    struct subject s = norm(&fused);
    ck_assert_uint_eq(s.v->n_op, 1);
    ck_assert_int_eq(s.v->op[0].op, OP_group);
    ck_assert_int_eq(s.g->rank, 2);
    ck_assert_int_eq(s.g->outer, 1);
    ck_assert_int_eq(s.g->n_store, 2);
    ck_assert_int_eq(s.v->op[0].k.n_in, 2);
    ck_assert(group_goes_on(s.g));
    ck_assert_int_eq(group_points(s.g), 960);
    ck_assert_int_eq(group_rows(s.g), 40);
    ck_assert_uint_eq(s.v->n_buffer, 2); /* values in between have no bytes */
}
END_TEST

/* What `gmlrun dump` says of it. */
START_TEST(lines)
{
    struct subject s = norm(&fused);
    struct text t = {.arena = s.m.a};
    for (uint16_t i = 0; i < s.g->n_instr; i++) {
        text_printf(&t, "%s\n", group_line(s.g, i, s.m.a));
    }
    for (uint16_t i = 0; i < s.g->n_store; i++) {
        text_printf(&t, "%s\n", group_store_line(s.g, i, s.m.a));
    }
    ck_assert_str_eq(t.at, "v0 f32 = in0\n"
                           "v1 f32 = in1\n"
                           "v2 f32 = sub v0 v1\n"
                           "v3 f32 = tanh v2\n"
                           "v4 f32 = mul v3 v0\n"
                           "r5 f32 = mean v4\n"
                           "v6 f32 = sub v0 r5\n"
                           "out0 = v4\n"
                           "out1 = v6\n");
}
END_TEST

START_TEST(off_when_asked)
{
    struct plan_options o = fused;
    o.fuse = false;
    struct subject s = norm(&o);
    ck_assert_ptr_null(s.g);
    o = fused;
    o.target.groups = false;
    s = norm(&o);
    ck_assert_ptr_null(s.g);
}
END_TEST

START_TEST(without_reuse)
{
    struct plan_options o = fused;
    o.no_reuse = true;
    ck_assert_ptr_nonnull(norm(&o).g);
}
END_TEST

/* A product is no part of a group; what it reads is one, and says so. */
START_TEST(stops_at_a_product)
{
    struct subject s = states(16, 16);
    struct make *m = &s.m;
    val a = make_read(m, s.a), b = make_read(m, s.b);
    val x = NODE(m, .op = OP_tanh, IN(NODE(m, .op = OP_add, IN(a, b))));
    val y = NODE(m, .op = OP_matmul, IN(x, b));
    make_output(m, NODE(m, .op = OP_relu, IN(NODE(m, .op = OP_neg, IN(y)))));
    plan_subject(&s, &fused);
    ck_assert_uint_eq(s.v->n_op, 3);
    ck_assert_int_eq(s.v->op[0].stop, STOP_structured);
    ck_assert_int_eq(s.v->op[2].op, OP_group);
    ck_assert_int_eq(s.v->op[2].stop, STOP_end);
    ck_assert_str_eq(group_stop_name(STOP_structured), "structured");
}
END_TEST

/* A value read turned is not the point's own. */
START_TEST(stops_at_other_elements)
{
    struct subject s = states(16, 16);
    struct make *m = &s.m;
    val x = NODE(m, .op = OP_tanh, IN(NODE(m, .op = OP_neg, IN(make_read(m, s.a)))));
    val turned = NODE(m, .op = OP_permute, IN(x), ATTR(1, 0));
    make_output(m, NODE(m, .op = OP_add, IN(NODE(m, .op = OP_mul, IN(x, turned)), turned)));
    plan_subject(&s, &fused);
    ck_assert_uint_eq(s.v->n_op, 2);
    ck_assert_int_eq(s.v->op[0].stop, STOP_reread);
}
END_TEST

/* With --parts nothing is joined across parts. */
START_TEST(parts_are_kept)
{
    struct plan_options o = fused;
    o.parts = true;
    struct subject s = norm(&o);
    for (uint32_t i = 0; i + 1 < s.v->n_op; i++) {
        ck_assert_int_le(s.v->op[i].part, s.v->op[i + 1].part);
    }
}
END_TEST

/* The new value of a state may lie over the old one where every point reads only its own. */
START_TEST(update_in_place)
{
    struct subject s = states(16, 16);
    struct make *m = &s.m;
    val a = make_read(m, s.a), b = make_read(m, s.b);
    make_commit(m, s.a, NODE(m, .op = OP_add, IN(NODE(m, .op = OP_mul, IN(a, a)), b)));
    plan_subject(&s, &fused);
    ck_assert_uint_eq(s.v->n_op, 1);
    ck_assert_uint_eq(s.v->op[0].k.out[0].offset, s.p->var[s.a].offset);
    ck_assert_uint_eq(s.v->n_buffer, 0);
}
END_TEST

/* scan (xt in a) { next s = s + tanh(xt) * xt; yield tanh(xt) * xt }: reads its part of a, and writes it. */
static struct subject scan(void)
{
    struct subject s = states(5, 24);
    struct make *m = &s.m;
    uint32_t state = make_state(m, "s", make_type(m, DT_F32, 1, (int64_t[]){24}));
    uint32_t l = open_loop(m, 0, 5, true);
    val x = NODE(m, .op = OP_loop_in, IN(make_read(m, s.a)), ATTR(l));
    val sum = carry_of(m, l, 0, make_read(m, state));
    val y = NODE(m, .op = OP_mul, IN(NODE(m, .op = OP_tanh, IN(x)), x));
    val end = NODE(m, .op = OP_loop, IN(sum, NODE(m, .op = OP_add, IN(sum, y)), y), ATTR(l, 1));
    make_output(m, part_of(m, OP_loop_out, end, 0));
    make_output(m, part_of(m, OP_loop_last, end, 0));
    plan_subject(&s, &fused);
    return s;
}

START_TEST(parts_of_stacks)
{
    struct subject s = scan();
    ck_assert_uint_eq(s.v->n_op, 4); /* the first sum is copied, then the loop */
    ck_assert_int_eq(s.v->op[2].op, OP_group);
    ck_assert_str_eq(group_line(s.g, 0, s.m.a), "v0 f32 = in0[t]");
    ck_assert_int_eq(s.g->instr[0].turn, 24 * 4);
    ck_assert_uint_eq(s.v->op[2].k.in[s.g->instr[0].counter].offset, s.v->op[1].loop->counter);
}
END_TEST

/* [tanh(a), a * b] along an axis, and a product of it. */
static struct subject joined(int axis)
{
    struct subject s = states(8, 24);
    struct make *m = &s.m;
    val a = make_read(m, s.a), b = make_read(m, s.b);
    val x = NODE(m, .op = OP_concat, IN(NODE(m, .op = OP_tanh, IN(a)), NODE(m, .op = OP_mul, IN(a, b))),
                 ATTR(axis));
    make_output(m, NODE(m, .op = OP_matmul, IN(x, NODE(m, .op = OP_permute, IN(x), ATTR(1, 0)))));
    plan_subject(&s, &fused);
    return s;
}

START_TEST(joined_values)
{
    for (int axis = 0; axis < 2; axis++) {
        struct subject s = joined(axis);
        ck_assert_uint_eq(s.v->n_op, 2);
        const struct operand *out = s.v->op[0].k.out;
        ck_assert_uint_eq(s.g->n_store, 2);
        ck_assert_uint_eq(s.g->store[0].node, s.g->store[1].node);
        ck_assert_uint_eq(out[1].offset - out[0].offset, axis ? 24 * 4 : 8 * 24 * 4);
    }
}
END_TEST

/* -- planted faults */

static void caught(struct subject *s, const char *why)
{
    ck_assert_int_eq(plan_check(s->p, &s->m.sink), ST_INTERNAL);
    if (!strstr(s->m.sink.list.at[0].message, why)) {
        ck_abort_msg("expected \"%s\", got \"%s\"", why, s->m.sink.list.at[0].message);
    }
}
static struct group_instr *instr(struct subject *s, enum group_kind kind, enum op op)
{
    for (uint16_t i = 0; i < s->g->n_instr; i++) {
        struct group_instr *x = (struct group_instr *)&s->g->instr[i];
        if (x->kind == kind && (kind == GROUP_LOAD || x->op == op)) {
            return x;
        }
    }
    ck_abort_msg("no such instruction");
    return NULL;
}

START_TEST(wrong_operator)
{
    struct subject s = norm(&fused);
    instr(&s, GROUP_ELEM, OP_sub)->op = OP_add;
    caught(&s, "not what the graph means");
}
END_TEST

START_TEST(wrong_order_of_inputs)
{
    struct subject s = norm(&fused);
    struct group_instr *x = instr(&s, GROUP_ELEM, OP_sub);
    uint16_t first = x->in[0];
    x->in[0] = x->in[1];
    x->in[1] = first;
    caught(&s, "not what the graph means");
}
END_TEST

START_TEST(wrong_reduction)
{
    struct subject s = norm(&fused);
    instr(&s, GROUP_REDUCE, OP_mean)->op = OP_sum;
    caught(&s, "not what the graph means");
}
END_TEST

START_TEST(wrong_load)
{
    struct subject s = norm(&fused);
    struct operand *o = (struct operand *)&s.v->op[0].k.in[instr(&s, GROUP_LOAD, 0)->operand];
    o->stride[0] = 0;
    caught(&s, "not what the graph means");
}
END_TEST

START_TEST(stores_that_meet)
{
    struct subject s = norm(&fused);
    struct operand *out = (struct operand *)s.v->op[0].k.out;
    out[1].offset = out[0].offset;
    ck_assert_int_eq(plan_check(s.p, &s.m.sink), ST_INTERNAL);
}
END_TEST

/* Parts that leave a gap, that lie on one another, in another order, one twice. */
START_TEST(wrong_parts)
{
    for (int fault = 0; fault < 8; fault++) {
        struct subject s = joined(fault & 1);
        struct operand *out = (struct operand *)s.v->op[0].k.out;
        struct group_store *x = (struct group_store *)s.g->store;
        uint64_t step = out[1].offset - out[0].offset;
        uint16_t first = x[0].value;
        switch (fault / 2) {
        case 0:
            out[1].offset += 4;
            break;
        case 1:
            out[1].offset -= step;
            break;
        case 2:
            out[0].offset += step;
            out[1].offset -= step;
            break;
        default:
            x[0].value = x[1].value;
            x[1].value = first;
        }
        ck_assert_int_eq(plan_check(s.p, &s.m.sink), ST_INTERNAL);
    }
}
END_TEST

START_TEST(value_before_it_is_made)
{
    struct subject s = norm(&fused);
    struct group_instr *x = instr(&s, GROUP_ELEM, OP_sub);
    x->in[0] = (uint16_t)(x - s.g->instr);
    caught(&s, "an instruction is wrong");
}
END_TEST

START_TEST(value_of_a_row_that_is_none)
{
    struct subject s = norm(&fused);
    instr(&s, GROUP_ELEM, OP_tanh)->row = true;
    caught(&s, "an instruction is wrong");
}
END_TEST

START_TEST(wrong_node_stored)
{
    struct subject s = norm(&fused);
    struct group_store *x = (struct group_store *)s.g->store;
    uint32_t node = x[0].node;
    x[0].node = x[1].node;
    x[1].node = node;
    ck_assert_int_eq(plan_check(s.p, &s.m.sink), ST_INTERNAL);
}
END_TEST

START_TEST(wrong_turn)
{
    struct subject s = scan();
    ((struct group_instr *)s.g->instr)[0].turn = 4;
    caught(&s, "not what the graph means");
    s = scan();
    for (uint16_t i = 0; i < s.g->n_store; i++) {
        struct group_store *x = (struct group_store *)&s.g->store[i];
        x->turn = x->turn ? 8 : 0;
    }
    caught(&s, "a store is wrong");
}
END_TEST

/* tanh(a), and b, each in the middle of zeros, added up. */
static struct subject boxes(void)
{
    struct subject s = states(8, 24);
    struct make *m = &s.m;
    struct type whole = make_type(m, DT_F32, 2, (int64_t[]){8, 27});
    val a = NODE(m, .op = OP_tanh, IN(make_read(m, s.a))), b = make_read(m, s.b);
    val x = NODE(m, .op = OP_pad, IN(a), ATTR(1, 1), DIMS(make_dim(m, 0), make_dim(m, 1)), .type = whole);
    val y = NODE(m, .op = OP_pad, IN(b), ATTR(1, 1), DIMS(make_dim(m, 0), make_dim(m, 3)), .type = whole);
    make_output(m, NODE(m, .op = OP_add, IN(x, y)));
    plan_subject(&s, &fused);
    s.g = (struct group *)s.v->op[s.v->n_op - 1].k.group;
    return s;
}

START_TEST(values_in_zeros)
{
    struct subject s = boxes();
    const char *const want[] = {"v0 i32 = index 1",     "v1 i32 = 1",         "v2 bool = ge v0 v1",
                                "v3 i32 = 25",          "v4 bool = lt v0 v3", "v5 bool = land v2 v4",
                                "v6 f32 = in0 where v5"};
    ck_assert_uint_eq(s.v->n_op, 2); /* the first value is read elsewhere than it is made */
    for (uint16_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_str_eq(group_line(s.g, i, s.m.a), want[i]);
    }
    ck_assert_int_eq(s.g->instr[6].back, 4);
    ck_assert_int_eq(s.v->op[1].k.in[0].dim[1], 24);
}
END_TEST

/* A bound, the place, the guard, the input and a store over the operand. */
START_TEST(wrong_boxes)
{
    for (int fault = 0; fault < 6; fault++) {
        struct subject s = boxes();
        struct group_instr *x = (struct group_instr *)s.g->instr, *load = &x[6];
        struct kargs *k = &s.v->op[1].k;
        switch (fault) {
        case 0:
            x[3].value = 24;
            break;
        case 1:
            x[1].value = 0;
            break;
        case 2:
            load->back = 8;
            break;
        case 3:
            load->in[0] = 2;
            break;
        case 4:
            load->n_in = 0;
            break;
        default:
            ((struct operand *)k->out)[0].offset = k->in[0].offset;
        }
        ck_assert_msg(plan_check(s.p, &s.m.sink) == ST_INTERNAL, "fault %d", fault);
    }
}
END_TEST

MAIN("groups", values_in_zeros, wrong_boxes, chain_and_rows_are_one, lines, off_when_asked, without_reuse,
     stops_at_a_product, stops_at_other_elements, parts_are_kept, update_in_place, wrong_operator,
     wrong_order_of_inputs, wrong_reduction, wrong_load, stores_that_meet, value_before_it_is_made,
     value_of_a_row_that_is_none, wrong_node_stored, parts_of_stacks, wrong_turn, joined_values, wrong_parts)
