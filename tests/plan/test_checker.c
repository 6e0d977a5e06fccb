/* The checker must find planted faults: each test damages a correct plan in one way and asks plan_check for
 * the reason. */
#include "make.h"

struct subject {
    struct make m;
    struct plan *p;
    struct plan_variant *v;
    uint32_t a, b;
};

/* Two states; a long chain of values, some alive together, one commit in place, one output through a view. */
static struct subject subject(bool no_reuse)
{
    struct subject s = {.m = make_graph()};
    struct make *m = &s.m;
    struct type t = make_type(m, DT_F32, 2, (int64_t[]){16, 16});
    s.a = make_state(m, "a", t);
    s.b = make_state(m, "b", t);
    make_phase(m, "work", PHASE_USER);
    val a = make_read(m, s.a), b = make_read(m, s.b);
    val at = NODE(m, .op = OP_permute, IN(a), ATTR(1, 0));
    val x = NODE(m, .op = OP_matmul, IN(at, b));
    val y = NODE(m, .op = OP_matmul, IN(x, b));
    val z = NODE(m, .op = OP_matmul, IN(x, y));
    val w = NODE(m, .op = OP_add, IN(z, y));
    val two = NODE(m, .op = OP_const, ATTR(f64_bits(2)), .type = {.dtype = DT_F32});
    two = NODE(m, .op = OP_reshape, IN(two), .type = make_type(m, DT_F32, 2, (int64_t[]){1, 1}));
    two = NODE(m, .op = OP_expand, IN(two), .type = t);
    make_commit(m, s.a, NODE(m, .op = OP_mul, IN(a, NODE(m, .op = OP_mul, IN(w, two)))));
    make_output(m, NODE(m, .op = OP_softmax, IN(NODE(m, .op = OP_permute, IN(x), ATTR(1, 0)))));
    struct plan_options o = {.no_reuse = no_reuse};
    s.p = make_plan(m, &o);
    s.v = (struct plan_variant *)plan_find(s.p, m->phase, false);
    return s;
}

static struct operand *input_of(struct subject *s, enum op op, int nth, uint32_t i)
{
    for (uint32_t k = 0; k < s->v->n_op; k++) {
        if (s->v->op[k].op == op && nth-- == 0) {
            return (struct operand *)&s->v->op[k].k.in[i];
        }
    }
    ck_abort_msg("no such launch");
    return NULL;
}

static void caught(struct subject *s, const char *why)
{
    ck_assert_int_eq(plan_check(s->p, &s->m.sink), ST_INTERNAL);
    ck_assert_int_eq(s->m.sink.list.at[0].code, DIAG_I0001);
    if (!strstr(s->m.sink.list.at[0].message, why)) {
        ck_abort_msg("expected \"%s\", got \"%s\"", why, s->m.sink.list.at[0].message);
    }
}

/* Two buffers of the variant that live together (or not) and do not share bytes. */
static void pick_pair(struct subject *s, struct plan_buffer **x, struct plan_buffer **y)
{
    for (uint32_t i = 0; i < s->v->n_buffer; i++) {
        for (uint32_t j = i + 1; j < s->v->n_buffer; j++) {
            *x = &s->p->buffer[s->v->buffer0 + i];
            *y = &s->p->buffer[s->v->buffer0 + j];
            if ((*x)->last > (*y)->first && (*x)->offset != (*y)->offset) {
                return;
            }
        }
    }
    ck_abort_msg("no two values live together");
}

START_TEST(overlap)
{
    struct subject s = subject(false);
    struct plan_buffer *x, *y;
    pick_pair(&s, &x, &y);
    y->offset = x->offset;
    caught(&s, "share bytes");
}
END_TEST

START_TEST(out_of_bounds)
{
    struct subject s = subject(false);
    s.p->buffer[s.v->buffer0].offset = s.p->planned_offset + s.v->planned;
    caught(&s, "leaves the planned region");
}
END_TEST

START_TEST(unaligned_buffer)
{
    struct subject s = subject(false);
    s.p->buffer[s.v->buffer0].offset += 16;
    caught(&s, "not aligned");
}
END_TEST

START_TEST(unaligned_operand)
{
    struct subject s = subject(false);
    input_of(&s, OP_matmul, 1, 0)->offset += 2;
    caught(&s, "not aligned to its elements");
}
END_TEST

START_TEST(operand_beyond_its_buffer)
{
    struct subject s = subject(false);
    input_of(&s, OP_matmul, 1, 0)->offset += s.v->planned;
    caught(&s, "outside of every live buffer");
}
END_TEST

START_TEST(wrong_stride)
{
    struct subject s = subject(false);
    struct operand *o = input_of(&s, OP_matmul, 0, 0);
    o->stride[0] = 16;
    o->stride[1] = 1;
    caught(&s, "does not hold the value");
}
END_TEST

START_TEST(wrong_variable)
{
    struct subject s = subject(false);
    input_of(&s, OP_matmul, 0, 1)->offset = s.p->var[s.a].offset;
    caught(&s, "does not hold the value");
}
END_TEST

START_TEST(wrong_constant)
{
    struct subject s = subject(false);
    s.p->constant[0].value = 3;
    caught(&s, "does not hold the value");
}
END_TEST

START_TEST(read_before_write)
{
    struct subject s = subject(true);
    struct plan_op t = s.v->op[0];
    s.v->op[0] = s.v->op[1];
    s.v->op[1] = t;
    caught(&s, "outside of every live buffer");
    s = subject(true);
    for (uint32_t i = 0; i < s.v->n_buffer; i++) { /* with lives that hide the swap from the first check */
        s.p->buffer[s.v->buffer0 + i].first = 0;
        s.p->buffer[s.v->buffer0 + i].last = s.v->n_op - 1;
    }
    t = s.v->op[0];
    s.v->op[0] = s.v->op[1];
    s.v->op[1] = t;
    caught(&s, "does not hold the value");
}
END_TEST

/* The second product writes over state `a`, which the update at the end still reads. */
START_TEST(old_value_destroyed)
{
    struct subject s = subject(true); /* without reuse an offset stands for one value */
    uint64_t from = s.v->op[1].k.out->offset;
    for (uint32_t i = 0; i < s.v->n_op; i++) {
        for (uint32_t k = 0; k <= s.v->op[i].k.n_in; k++) {
            struct operand *o = (struct operand *)&s.v->op[i].k.in[k]; /* the output lies behind the inputs */
            o->offset = o->offset == from ? s.p->var[s.a].offset : o->offset;
        }
    }
    caught(&s, "does not hold the value of node 1");
}
END_TEST

/* a <- a turned + b, written over a while it is read. */
START_TEST(overwritten_while_read)
{
    struct subject s = {.m = make_graph()};
    struct make *m = &s.m;
    struct type t = make_type(m, DT_F32, 2, (int64_t[]){16, 16});
    s.a = make_state(m, "a", t);
    s.b = make_state(m, "b", t);
    make_phase(m, "work", PHASE_USER);
    val turned = NODE(m, .op = OP_permute, IN(make_read(m, s.a)), ATTR(1, 0));
    make_commit(m, s.a, NODE(m, .op = OP_add, IN(turned, make_read(m, s.b))));
    s.p = make_plan(m, &(struct plan_options){0});
    s.v = (struct plan_variant *)plan_find(s.p, m->phase, false);
    ck_assert_uint_eq(s.v->n_op, 2); /* the sum, and a copy to where it belongs */
    ck_assert_int_eq(s.v->op[1].op, OP_copy);
    ((struct operand *)s.v->op[0].k.out)->offset = s.p->var[s.a].offset;
    s.v->n_op = 1;
    s.v->n_buffer = 0;
    caught(&s, "while other elements of that are to be read");
}
END_TEST

START_TEST(commit_elsewhere)
{
    struct subject s = subject(false);
    struct plan_var t = s.p->var[s.a];
    s.p->var[s.a] = s.p->var[s.b];
    s.p->var[s.b] = t;
    ck_assert_int_eq(plan_check(s.p, &s.m.sink), ST_INTERNAL);
    s = subject(false);
    struct operand *out = (struct operand *)s.v->op[s.v->n_op - 1].k.out;
    ck_assert_uint_eq(out->offset, s.p->var[s.a].offset);
    out->offset = s.p->var[s.b].offset;
    caught(&s, "does not reach its variable");
}
END_TEST

START_TEST(output_not_kept)
{
    struct subject s = subject(false);
    s.v->output[0].offset = s.p->var[s.b].offset;
    caught(&s, "an output is not there");
}
END_TEST

START_TEST(red_zone_missing)
{
    struct subject s = subject(true);
    struct plan_buffer *x = &s.p->buffer[s.v->buffer0], *y = x + 1;
    ck_assert_uint_eq(y->offset, x->offset + x->bytes + PLAN_RED_ZONE);
    x->bytes += 256;
    caught(&s, "no red zone");
}
END_TEST

START_TEST(prefix_overlap)
{
    struct subject s = subject(false);
    s.p->var[s.b].offset = s.p->var[s.a].offset + 256;
    caught(&s, "overlaps what lies before it");
}
END_TEST

START_TEST(parts_out_of_order)
{
    struct subject s = subject(false);
    s.v->op[0].part = PART_OPTIMIZER;
    caught(&s, "its part comes before");
}
END_TEST

MAIN("checker", overlap, out_of_bounds, unaligned_buffer, unaligned_operand, operand_beyond_its_buffer,
     wrong_stride, wrong_variable, wrong_constant, read_before_write, old_value_destroyed,
     overwritten_while_read, commit_elsewhere, output_not_kept, red_zone_missing, prefix_overlap,
     parts_out_of_order)
