/* Plans of a small training model: storages, slots, parts, in-place updates, tails, views as operands, errors
 * at load, memory. */
#include <time.h>
#include "make.h"

/* digits[rows, 8] -> h = relu(x @ w + b) -> loss = mean(h), gradients by hand, p <- p - lr * (g + m), m <- g;
 * eval over the same data. */
struct model {
    struct make m;
    uint32_t tree, state_m, state_n, x, y;
    uint16_t train, eval;
    val dw, db;
};
enum { ROWS = 100, BATCH = 32, WIDTH = 8 };

static void data_set(struct model *k)
{
    struct make *m = &k->m;
    dim rows = dim_symbol(&m->g->dims, "digits.rows");
    make_phase(m, "data.digits", PHASE_DATA);
    struct type t = {.dtype = DT_F32, .rank = 2, .dim = {rows, make_dim(m, WIDTH)}};
    vec_push(m->a, &m->g->vars,
             ((struct var){.kind = VAR_DATA, .key = "digits.x#raw", .type = t, .data = 1}));
    vec_push(m->a, &m->g->vars, ((struct var){.kind = VAR_DATA, .key = "digits.x", .type = t, .data = 1}));
    k->x = m->g->vars.n - 1;
    val raw = make_read(m, k->x - 1);
    make_commit(m, k->x, NODE(m, .op = OP_neg, IN(raw)));
    vec_push(m->a, &m->g->datas,
             ((struct data){.name = "digits", .path = "digits.npz", .phase = m->phase, .rows = rows}));
}

static val rows_of(struct model *k, const char *b)
{
    struct make *m = &k->m;
    struct type t = {.dtype = DT_I32, .rank = 1, .dim = {dim_symbol(&m->g->dims, b)}};
    val rows = NODE(m, .op = OP_rows, ATTR(m->phase, 1, 77), .type = t);
    return NODE(m, .op = OP_gather, IN(make_read(m, k->x), rows));
}

static val repeat_rows(struct make *m, val b, val like)
{
    struct type one = node_type(m->g, like), all = one;
    one.dim[0] = make_dim(m, 1);
    return NODE(m, .op = OP_expand, IN(NODE(m, .op = OP_reshape, IN(b), .type = one)), .type = all);
}

static val forward(struct model *k, val x, val *w)
{
    struct make *m = &k->m;
    m->scope = graph_scope(m->g, "net.fc");
    *w = make_read(m, m->g->trees.at[k->tree].leaf[0]);
    val b = make_read(m, m->g->trees.at[k->tree].leaf[1]);
    val z = NODE(m, .op = OP_matmul, IN(x, *w));
    val h = NODE(m, .op = OP_relu, IN(NODE(m, .op = OP_add, IN(z, repeat_rows(m, b, z)))));
    m->scope = 0;
    return h;
}

static val scalar_times(struct make *m, double s, val x)
{
    struct type t = node_type(m->g, x), one = {.dtype = DT_F32, .rank = t.rank};
    val c = NODE(m, .op = OP_const, ATTR(f64_bits(s)), .type = {.dtype = DT_F32});
    for (int i = 0; i < t.rank; i++) {
        one.dim[i] = make_dim(m, 1);
    }
    c = NODE(m, .op = OP_expand, IN(NODE(m, .op = OP_reshape, IN(c), .type = one)), .type = t);
    return NODE(m, .op = OP_mul, IN(c, x));
}

static void train_phase(struct model *k)
{
    struct make *m = &k->m;
    struct phase *f = make_phase(m, "train", PHASE_USER);
    k->train = m->phase;
    f->data = 1;
    f->training = f->shuffle = true;
    f->batch = m->g->configs.at[0].symbol;
    f->b = dim_symbol(&m->g->dims, "train.b");
    val w, x = rows_of(k, "train.b"), h = forward(k, x, &w);
    val loss = NODE(m, .op = OP_mean, IN(h), ATTR(0, 1));
    val scale = NODE(m, .op = OP_sign, IN(h)); /* stands for the gradient of h */
    val xt = NODE(m, .op = OP_permute, IN(x), ATTR(1, 0));
    k->dw = NODE(m, .op = OP_matmul, IN(xt, scale));
    k->db = NODE(m, .op = OP_sum, IN(scale), ATTR(0));
    val g = NODE(m, .op = OP_pack, IN(k->dw, k->db), ATTR(k->tree));
    val p = NODE(m, .op = OP_tree, ATTR(k->tree)), old_m = make_read(m, k->state_m);
    val step = scalar_times(m, 0.1, NODE(m, .op = OP_add, IN(g, old_m)));
    val masked = NODE(m, .op = OP_ranges, ATTR(k->tree, f64_bits(0), 0, f64_bits(1), 1, f64_bits(2)));
    step = NODE(m, .op = OP_mul, IN(step, masked));
    val n = make_read(m, k->state_n);
    val one = NODE(m, .op = OP_const, ATTR(f64_bits(1)), .type = {.dtype = DT_I32});
    f = &m->g->phases.at[m->phase];
    vec_push(m->a, &f->commits,
             ((struct commit){.tree = k->tree + 1, .value = NODE(m, .op = OP_sub, IN(p, step))}));
    make_commit(m, k->state_m, NODE(m, .op = OP_neg, IN(g)));
    make_commit(m, k->state_n, NODE(m, .op = OP_add, IN(n, one)));
    vec_push(m->a, &f->metrics, ((struct metric){.name = "loss", .value = loss}));
    vec_push(m->a, &f->minimizes, ((struct minimize){.name = "loss", .loss = loss, .grad = g}));
}

static void eval_phase(struct model *k)
{
    struct make *m = &k->m;
    struct phase *f = make_phase(m, "eval", PHASE_USER);
    k->eval = m->phase;
    f->data = 1;
    f->batch = make_dim(m, 30);
    f->b = dim_symbol(&m->g->dims, "eval.b");
    val w, h = forward(k, rows_of(k, "eval.b"), &w);
    vec_push(m->a, &m->g->phases.at[m->phase].metrics,
             ((struct metric){.name = "mean", .value = NODE(m, .op = OP_mean, IN(h), ATTR(0, 1))}));
    make_output(m, NODE(m, .op = OP_softmax, IN(NODE(m, .op = OP_permute, IN(h), ATTR(1, 0)))));
}

static struct model model(void)
{
    struct model k = {.m = make_graph()};
    struct make *m = &k.m;
    make_config(m, "B", BATCH);
    make_config(m, "H", 10);
    struct type leaf[2] = {
        {.dtype = DT_F32, .rank = 2, .dim = {make_dim(m, WIDTH), m->g->configs.at[1].symbol}},
        {.dtype = DT_F32, .rank = 1, .dim = {m->g->configs.at[1].symbol}}};
    k.tree = make_tree(m, "net", leaf, 2);
    struct type flat = {.dtype = DT_F32, .rank = 1, .dim = {dim_tree(&m->g->dims, k.tree)}};
    k.state_m = make_state(m, "opt.m", flat);
    k.state_n = make_state(m, "opt.n", (struct type){.dtype = DT_I32});
    data_set(&k);
    train_phase(&k);
    eval_phase(&k);
    enum status s = graph_verify(m->g, &m->sink);
    if (s != ST_OK) {
        diag_render(&m->sink, DIAG_SHORT, false, stderr);
        ck_abort_msg("the test's own graph is wrong");
    }
    return k;
}

static struct plan_options options(void)
{
    static const int64_t rows[] = {ROWS};
    return (struct plan_options){.data_rows = rows, .target = {.name = "cpu"}};
}

static const struct plan_op *op_of(const struct plan_variant *v, uint32_t node)
{
    for (uint32_t i = 0; i < v->n_op; i++) {
        if (v->op[i].node == node && v->op[i].op != OP_copy) {
            return &v->op[i];
        }
    }
    ck_abort_msg("node %u is not launched", node);
    return NULL;
}

START_TEST(gradients_are_made_in_their_slots)
{
    struct model k = model();
    struct plan_options o = options();
    struct plan *p = make_plan(&k.m, &o);
    const struct plan_variant *v = plan_find(p, k.train, false);
    ck_assert_int_eq(p->tree_elements[0], 128 + 64); /* 80 and 10, padded to 64 */
    ck_assert_uint_eq(p->n_gradient, 1);
    ck_assert_uint_eq(op_of(v, k.dw)->k.out->offset, p->gradient[0].offset);
    ck_assert_uint_eq(op_of(v, k.db)->k.out->offset, p->gradient[0].offset + 128 * 4);
    ck_assert_uint_eq(count_ops(v, OP_pack), 0);
    ck_assert_uint_eq(count_ops(v, OP_copy), 0);
    ck_assert_uint_eq(p->n_copy, 0);
}
END_TEST

START_TEST(parts_are_contiguous_and_all_there)
{
    struct model k = model();
    struct plan_options o = options();
    const struct plan_variant *v = plan_find(make_plan(&k.m, &o), k.train, false);
    uint32_t n[PART_COUNT] = {0};
    for (uint32_t i = 0; i < v->n_op; i++) {
        n[v->op[i].part]++;
    }
    ck_assert_uint_eq(n[PART_FORWARD], 5); /* rows, gather, matmul, add, relu */
    ck_assert_uint_eq(n[PART_LOSS], 1);    /* mean */
    ck_assert_uint_eq(n[PART_BACKWARD], 3);
    ck_assert_uint_eq(op_of(v, k.dw)->part, PART_BACKWARD);
    ck_assert_uint_eq(n[PART_OPTIMIZER], v->n_op - 9);
}
END_TEST

START_TEST(a_transposed_factor_needs_no_copy)
{
    struct model k = model();
    struct plan_options o = options();
    const struct operand *xt = &op_of(plan_find(make_plan(&k.m, &o), k.train, false), k.dw)->k.in[0];
    ck_assert_int_eq(xt->dim[0], WIDTH);
    ck_assert_int_eq(xt->dim[1], BATCH);
    ck_assert_int_eq(xt->stride[0], 1);
    ck_assert_int_eq(xt->stride[1], WIDTH);
}
END_TEST

START_TEST(a_pass_has_a_tail)
{
    struct model k = model();
    struct plan_options o = options();
    struct plan *p = make_plan(&k.m, &o);
    ck_assert_int_eq(plan_find(p, k.train, false)->rows, BATCH);
    ck_assert_ptr_null(plan_find(p, k.train, true));
    ck_assert_int_eq(plan_find(p, k.eval, false)->rows, 30);
    ck_assert_int_eq(plan_find(p, k.eval, true)->rows, 10); /* 100 = 3 * 30 + 10 */
    ck_assert_int_eq(plan_find(p, k.eval, true)->output[0].dim[1], 10);
    ck_assert_int_eq(plan_find(p, k.eval, false)->output[0].dim[1], 30);
    ck_assert_uint_eq(count_ops(plan_find(p, k.eval, false), OP_copy), 1); /* softmax over the transposed h */
    static const int64_t split[][2] = {{0, 0}, {0, 0}, {0, 80}, {80, 20}};
    o.split_rows = split;
    p = make_plan(&k.m, &o);
    ck_assert_int_eq(plan_find(p, k.eval, false)->rows, 20);
    ck_assert_ptr_null(plan_find(p, k.eval, true));
}
END_TEST

START_TEST(raw_rows_live_in_the_data_phase)
{
    struct model k = model();
    struct plan_options o = options();
    struct plan *p = make_plan(&k.m, &o);
    const struct plan_variant *v = plan_find(p, 1, false);
    ck_assert_uint_ge(p->var[k.x - 1].offset, p->planned_offset);
    ck_assert_uint_eq(p->var[k.x - 1].bytes, ROWS * WIDTH * 4);
    ck_assert_uint_eq(v->n_op, 1);
    ck_assert_uint_eq(v->op[0].k.in[0].offset, p->var[k.x - 1].offset);
    ck_assert_uint_eq(v->op[0].k.out[0].offset, p->var[k.x].offset);
    ck_assert(p->buffer[v->buffer0].raw);
    ck_assert_uint_lt(p->var[k.x].offset, p->persistent);
}
END_TEST

START_TEST(kernels_see_resolved_attributes)
{
    struct model k = model();
    struct plan_options o = options();
    struct plan *p = make_plan(&k.m, &o);
    const struct plan_variant *v = plan_find(p, k.train, false);
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct kargs *a = &v->op[i].k;
        if (v->op[i].op == OP_rows) {
            ck_assert_uint_eq(a->n_attr, 3);
            ck_assert_int_eq(a->attr[0], k.train);
            ck_assert_uint_eq(a->n_in, 1);
            ck_assert_uint_eq(a->in[0].offset, p->control);
        } else if (v->op[i].op == OP_ranges) {
            char *memory = mem_alloc(p->bytes);
            double table[6];
            plan_fill_constants(p, memory);
            memcpy(table, memory + a->in[0].offset, sizeof table);
            ck_assert(table[0] == 0 && table[1] == 80 && table[2] == 1);
            ck_assert(table[3] == 128 && table[4] == 10 && table[5] == 2);
            mem_free(memory, p->bytes);
        }
    }
    ck_assert_uint_eq(count_ops(v, OP_ranges), 1);
}
END_TEST

START_TEST(batch_is_a_number_of_its_variant)
{
    struct model k = model();
    struct make *m = &k.m;
    m->phase = k.eval;
    make_output(m,
                NODE(m, .op = OP_dimval, DIMS(dim_symbol(&m->g->dims, "eval.b")), .type = {.dtype = DT_I32}));
    struct plan_options o = options();
    struct plan *p = make_plan(m, &o);
    char *memory = mem_alloc(p->bytes);
    int32_t full, tail;
    plan_fill_constants(p, memory);
    memcpy(&full, memory + plan_find(p, k.eval, false)->output[1].offset, 4);
    memcpy(&tail, memory + plan_find(p, k.eval, true)->output[1].offset, 4);
    ck_assert_int_eq(full, 30);
    ck_assert_int_eq(tail, 10);
    mem_free(memory, p->bytes);
}
END_TEST

START_TEST(two_states_that_swap_need_copies)
{
    struct make m = make_graph();
    struct type t = make_type(&m, DT_F32, 1, (int64_t[]){100});
    uint32_t a = make_state(&m, "a", t), b = make_state(&m, "b", t), c = make_state(&m, "c", t);
    make_phase(&m, "swap", PHASE_USER);
    val ra = make_read(&m, a), rb = make_read(&m, b);
    make_commit(&m, a, rb);
    make_commit(&m, b, ra);
    make_commit(&m, c, NODE(&m, .op = OP_add, IN(make_read(&m, c), ra)));
    struct plan_options o = {0};
    struct plan *p = make_plan(&m, &o);
    const struct plan_variant *v = plan_find(p, m.phase, false);
    ck_assert_uint_eq(p->n_copy, 3);
    ck_assert_uint_eq(count_ops(v, OP_copy), 3);
    for (uint32_t i = 0; i < v->n_op; i++) {
        if (v->op[i].op == OP_add) {
            ck_assert_uint_eq(v->op[i].k.out->offset, p->var[c].offset);
        }
    }
}
END_TEST

START_TEST(a_product_with_itself_goes_through_a_copy)
{
    struct make m = make_graph();
    uint32_t a = make_state(&m, "a", make_type(&m, DT_F32, 2, (int64_t[]){4, 4}));
    make_phase(&m, "square", PHASE_USER);
    val r = make_read(&m, a);
    make_commit(&m, a, NODE(&m, .op = OP_matmul, IN(r, r)));
    struct plan_options o = {0};
    struct plan *p = make_plan(&m, &o);
    ck_assert_uint_eq(p->n_copy, 1);
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    plan_print_memory(p, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(text, "copy for next a, 64 B"));
    ck_assert_ptr_nonnull(strstr(text, "ratio 1.0000"));
    ck_assert_ptr_nonnull(strstr(text, "test.gml:2"));
    free(text);
}
END_TEST

START_TEST(views_become_strides)
{
    struct make m = make_graph();
    uint32_t s = make_state(&m, "s", make_type(&m, DT_F32, 3, (int64_t[]){4, 6, 5}));
    make_phase(&m, "look", PHASE_USER);
    val x = make_read(&m, s);
    val perm = NODE(&m, .op = OP_permute, IN(x), ATTR(2, 0, 1));
    val cut = NODE(&m, .op = OP_slice, IN(perm), ATTR(2, 1, -1),
                   DIMS(make_dim(&m, 1), make_dim(&m, 0), make_dim(&m, 5)),
                   .type = make_type(&m, DT_F32, 3, (int64_t[]){2, 4, 3}));
    val split =
        NODE(&m, .op = OP_reshape, IN(cut), .type = make_type(&m, DT_F32, 4, (int64_t[]){2, 2, 2, 3}));
    val neg = NODE(&m, .op = OP_neg, IN(split));
    val merged = NODE(&m, .op = OP_reshape, IN(perm), .type = make_type(&m, DT_F32, 1, (int64_t[]){120}));
    val joined = NODE(&m, .op = OP_reshape, IN(perm), .type = make_type(&m, DT_F32, 2, (int64_t[]){5, 24}));
    val neg_merged = NODE(&m, .op = OP_neg, IN(merged)), neg_joined = NODE(&m, .op = OP_neg, IN(joined));
    make_output(&m, neg);
    make_output(&m, neg_merged);
    make_output(&m, neg_joined);
    struct plan_options o = {0};
    struct plan *p = make_plan(&m, &o);
    const struct plan_variant *v = plan_find(p, m.phase, false);
    const struct operand *a = &op_of(v, neg)->k.in[0], *j = &op_of(v, neg_joined)->k.in[0];
    ck_assert_uint_eq(a->offset, p->var[s].offset + 4 * (1 + 5 * 5));
    ck_assert_int_eq(a->stride[0], 2);
    ck_assert_int_eq(a->stride[1], 60); /* axis of stride 30 split into 2 x 2 */
    ck_assert_int_eq(a->stride[2], 30);
    ck_assert_int_eq(a->stride[3], -5);
    ck_assert_int_eq(j->stride[0], 1); /* [4, 6] with strides 30, 5 is one axis of stride 5 */
    ck_assert_int_eq(j->stride[1], 5);
    ck_assert_uint_eq(count_ops(v, OP_copy), 1); /* merged: strides 1, 30, 5 are not one axis */
}
END_TEST

/* H = 0: empty values have places too, and sums over nothing are launched. */
START_TEST(empty_tensors)
{
    struct make m = make_graph();
    make_config(&m, "H", 0);
    struct type t = {.dtype = DT_F32, .rank = 2, .dim = {m.g->configs.at[0].symbol, make_dim(&m, 4)}};
    uint32_t s = make_state(&m, "s", t);
    make_phase(&m, "empty", PHASE_USER);
    val x = make_read(&m, s), n = NODE(&m, .op = OP_neg, IN(x));
    val flip = NODE(&m, .op = OP_permute, IN(n), ATTR(1, 0));
    struct type flat = {.dtype = DT_F32, .rank = 1, .dim = {dim_mul(&m.g->dims, t.dim[0], t.dim[1])}};
    val line = NODE(&m, .op = OP_reshape, IN(flip), .type = flat);
    make_commit(&m, s, n);
    val sum = NODE(&m, .op = OP_sum, IN(line), ATTR(0));
    make_output(&m, sum);
    make_output(&m, NODE(&m, .op = OP_softmax, IN(flip)));
    struct plan_options o = {0};
    struct plan *p = make_plan(&m, &o);
    ck_assert_uint_eq(p->var[s].bytes, 0);
    ck_assert_uint_eq(count_ops(plan_find(p, m.phase, false), OP_sum), 1);
    o.no_reuse = true;
    make_plan(&m, &o);
}
END_TEST

/* -- errors at load */

START_TEST(sizes_that_do_not_divide)
{
    struct model k = model();
    struct make *m = &k.m;
    dim half = dim_div(&m->g->dims, m->g->configs.at[1].symbol, make_dim(m, 4)); /* H / 4 with H = 10 */
    make_state(m, "s", (struct type){.dtype = DT_F32, .rank = 1, .dim = {half}});
    struct plan_options o = options();
    ck_assert_int_eq(make_failure(m, &o), DIAG_E3102);
    ck_assert_ptr_nonnull(strstr(m->sink.list.at[0].message, "H = 10"));
    static const char *const name[] = {"H"};
    static const int64_t value[] = {12};
    o.set_name = name;
    o.set_value = value;
    o.n_set = 1;
    diag_init(&m->sink, m->a, &m->g->sources);
    ck_assert_int_eq(make_plan(m, &o)->tree_elements[0], 128 + 64);
}
END_TEST

START_TEST(sizes_below_zero)
{
    struct model k = model();
    struct make *m = &k.m;
    dim less = dim_sub(&m->g->dims, m->g->configs.at[1].symbol, make_dim(m, 11)); /* H - 11 with H = 10 */
    make_state(m, "s", (struct type){.dtype = DT_F32, .rank = 1, .dim = {less}});
    struct plan_options o = options();
    ck_assert_int_eq(make_failure(m, &o), DIAG_E3102);
    ck_assert_ptr_nonnull(strstr(m->sink.list.at[0].help, "taken away"));
}
END_TEST

START_TEST(a_batch_above_the_rows)
{
    struct model k = model();
    static const int64_t rows[] = {20};
    struct plan_options o = options();
    o.data_rows = rows;
    ck_assert_int_eq(make_failure(&k.m, &o), DIAG_E3103);
    ck_assert_ptr_nonnull(strstr(k.m.sink.list.at[0].message, "32"));
    ck_assert_ptr_nonnull(strstr(k.m.sink.list.at[0].message, "20"));
}
END_TEST

START_TEST(unknown_config_and_no_rows)
{
    struct model k = model();
    static const char *const name[] = {"HH"};
    static const int64_t value[] = {12}, none[] = {0};
    struct plan_options o = options();
    o.set_name = name;
    o.set_value = value;
    o.n_set = 1;
    ck_assert_int_eq(make_failure(&k.m, &o), DIAG_E3107);
    struct model e = model();
    o = options();
    o.data_rows = none;
    ck_assert_int_eq(make_failure(&e.m, &o), DIAG_E3104);
    struct model h = model();
    static const char *const big_name[] = {"H"};
    static const int64_t big[] = {(int64_t)1 << 40};
    o = options();
    o.set_name = big_name;
    o.set_value = big;
    o.n_set = 1;
    ck_assert_int_eq(make_failure(&h.m, &o), DIAG_E3105);
}
END_TEST

START_TEST(too_little_memory_names_what_fits)
{
    struct model k = model();
    static const char *const name[] = {"B"};
    int64_t value[] = {64};
    struct plan_options o = options();
    o.set_name = name;
    o.set_value = value;
    o.n_set = 1;
    uint64_t at64 = make_plan(&k.m, &o)->bytes;
    value[0] = 80;
    ck_assert_uint_gt(make_plan(&k.m, &o)->bytes, at64);
    o.target.memory = at64;
    ck_assert_int_eq(make_failure(&k.m, &o), DIAG_R1010);
    const struct diag *d = &k.m.sink.list.at[0];
    ck_assert_uint_eq(d->notes.n, 5);
    long long fits = 0;
    ck_assert_int_eq(sscanf(strstr(d->help, "B=") + 2, "%lld", &fits), 1);
    ck_assert_int_ge(fits, 64);
    ck_assert_int_lt(fits, 80);
    o.target.memory = 0;
    value[0] = fits;
    ck_assert_uint_le(make_plan(&k.m, &o)->bytes, at64);
    value[0] = fits + 1;
    ck_assert_uint_gt(make_plan(&k.m, &o)->bytes, at64);
}
END_TEST

START_TEST(workspace_is_shared_and_large_enough)
{
    struct make m = make_graph();
    uint32_t s = make_state(&m, "s", make_type(&m, DT_F32, 2, (int64_t[]){10000, 4}));
    make_phase(&m, "sums", PHASE_USER);
    val x = make_read(&m, s), rows = NODE(&m, .op = OP_sum, IN(x), ATTR(0));
    make_output(&m, rows);
    make_output(&m, NODE(&m, .op = OP_sum, IN(x), ATTR(0, 1)));
    struct plan_options o = {.target = {.name = "cuda", .sm = 90, .workspace = 1 << 20}};
    struct plan *p = make_plan(&m, &o);
    const struct plan_variant *v = plan_find(p, m.phase, false);
    ck_assert_uint_eq(op_of(v, rows)->k.work_bytes, 8 * 4 * 10); /* 10 chunks of 1024 in each of 4 columns */
    ck_assert_uint_eq(op_of(v, rows)->k.work, p->workspace_offset);
    ck_assert_uint_eq(p->workspace_bytes, 8 * 40);
}
END_TEST

/* Time for a deep chain with many live values; printed, since machines differ. */
START_TEST(four_thousand_values)
{
    struct make m = make_graph();
    uint32_t s = make_state(&m, "s", make_type(&m, DT_F32, 2, (int64_t[]){64, 64}));
    make_phase(&m, "deep", PHASE_USER);
    static val h[2001];
    h[0] = make_read(&m, s);
    for (int i = 0; i < 2000; i++) {
        h[i + 1] = NODE(&m, .op = OP_matmul, IN(h[i], h[i > 3 ? i - 3 : 0]));
    }
    val back = h[2000];
    for (int i = 1999; i >= 0; i--) {
        back = NODE(&m, .op = OP_matmul, IN(back, h[i]));
    }
    make_output(&m, back);
    struct plan_options o = {0};
    struct plan *p;
    clock_t t = clock();
    ck_assert_int_eq(plan_build(m.g, &o, m.a, &m.sink, &p), ST_OK);
    double planned = (double)(clock() - t) / CLOCKS_PER_SEC;
    t = clock();
    ck_assert_int_eq(plan_check(p, &m.sink), ST_OK);
    printf("plan: %u buffers in %.2f s, checked in %.2f s\n", p->n_buffer, planned,
           (double)(clock() - t) / CLOCKS_PER_SEC);
}
END_TEST

MAIN("plan", gradients_are_made_in_their_slots, parts_are_contiguous_and_all_there,
     a_transposed_factor_needs_no_copy, a_pass_has_a_tail, raw_rows_live_in_the_data_phase,
     kernels_see_resolved_attributes, batch_is_a_number_of_its_variant, two_states_that_swap_need_copies,
     a_product_with_itself_goes_through_a_copy, views_become_strides, empty_tensors, sizes_that_do_not_divide,
     sizes_below_zero, a_batch_above_the_rows, unknown_config_and_no_rows, too_little_memory_names_what_fits,
     workspace_is_shared_and_large_enough, four_thousand_values)
