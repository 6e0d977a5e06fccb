/* Operator table, hash-consing, and the shape rules: one table of cases, accepted and refused. */
#include "tests/graph/common.h"

START_TEST(operator_table)
{
    for (int i = 1; i < OP_COUNT; i++) {
        const struct op_info *o = &op_table[i];
        ck_assert(o->kind != OPK_NONE && *o->name && *o->doc && o->dsl && o->attrs && o->signature &&
                  o->forward);
        ck_assert_int_eq(op_by_name(o->name), i);
        ck_assert(o->kind != OPK_ELEM ||
                  (*o->forward && o->sig != SIG_NONE && o->n_min >= 1 && o->n_min <= 3));
        ck_assert(o->kind != OPK_REDUCE || o->sig != SIG_NONE);
    }
    ck_assert_str_eq(op_table[OP_rsqrt].forward, "R(1) / sqrt(x)");
    ck_assert_str_eq(op_table[OP_mul].derivative[1], "g * x");
    ck_assert_uint_eq(op_table[OP_xent].flags, OPF_FAULT);
    ck_assert_uint_eq(op_table[OP_uniform].flags, OPF_NONDIFF | OPF_CONTROL);
    ck_assert_int_eq(op_table[OP_pack].n_max, -1);
    ck_assert_int_eq(op_by_name("frobnicate"), OP_NONE);
    ck_assert_uint_eq(op_table_hash(), op_table_hash());
}
END_TEST

/* A graph with one phase over a data set and one tree of a leaf f32[4, 2]. */
static struct graph *small_graph(void)
{
    struct graph *g = graph_new(arena);
    struct data d = {.name = "d", .rows = dim_symbol(&g->dims, "d.rows")};
    vec_push(arena, &g->datas, d);
    struct phase p = {
        .name = "init", .data = 1, .batch = dim_symbol(&g->dims, "B"), .b = dim_symbol(&g->dims, "b")};
    vec_push(arena, &g->phases, p);
    struct var v = {.kind = VAR_PARAM, .key = "w", .tree = 1};
    v.type = (struct type){DT_F32, 2, {dim_const(&g->dims, 4), dim_const(&g->dims, 2)}};
    vec_push(arena, &g->vars, v);
    struct tree t = {.name = "t", .leaf = arena_new_of(arena, uint32_t), .n_leaf = 1};
    t.leaf[0] = 1;
    vec_push(arena, &g->trees, t);
    struct config live = {.name = "lr", .kind = CONFIG_LIVE, .dtype = DT_F32}, fixed = {.name = "h"};
    vec_push(arena, &g->configs, live);
    vec_push(arena, &g->configs, fixed);
    return g;
}

/* "f32[B, 2]" */
static struct type read_type(struct graph *g, const char *s)
{
    char name[8] = {0};
    const char *p = strchr(s, '[');
    memcpy(name, s, (size_t)(p - s));
    struct type t = {.dtype = dtype_parse(name)};
    for (p++; *p != ']';) {
        t.dim[t.rank++] = dim_parse(&g->dims, p, &p);
        p += *p == ',';
    }
    return t;
}

/* A value of any type: a read of a fresh variable. */
static val value_of(struct graph *g, const char *type)
{
    struct var v = {.kind = VAR_STATE,
                    .key = arena_printf(arena, "v%u", (unsigned)g->vars.n),
                    .type = read_type(g, type)};
    vec_push(arena, &g->vars, v);
    struct node_spec s = {.op = OP_read, .attr = (int64_t[]){g->vars.n - 1}, .n_attr = 1};
    return graph_add(g, &s, &sink);
}

struct shape_case {
    enum op op;
    const char *in[3];
    const char *type; /* explicit type, or NULL */
    int n_attr;
    int64_t attr[4];
    const char *dims[3];
    const char *result; /* NULL: refused with */
    enum diag_code code;
};
static const struct shape_case cases[] = {
    {OP_add, {"f32[B, 4]", "f32[B, 4]"}, .result = "f32[B, 4]"},
    {OP_add, {"f32[N*T/M*M]", "f32[T*N]"}, .result = "f32[N*T]"},
    {OP_add, {"f32[B]", "f32[N]"}, .code = DIAG_E2001},
    {OP_add, {"f32[B, 4]", "f32[4]"}, .code = DIAG_E2001},
    {OP_add, {"f32[4]", "i32[4]"}, .code = DIAG_E2002},
    {OP_add, {"bool[4]", "bool[4]"}, .code = DIAG_E2002},
    {OP_add, {"i32[4]", "i32[4]"}, .result = "i32[4]"},
    {OP_div, {"i32[]", "i32[]"}, .code = DIAG_E2002},
    {OP_lt, {"i32[3]", "i32[3]"}, .result = "bool[3]"},
    {OP_eq, {"bool[3]", "bool[3]"}, .result = "bool[3]"},
    {OP_land, {"f32[]", "f32[]"}, .code = DIAG_E2002},
    {OP_isfinite, {"f32[2]"}, .result = "bool[2]"},
    {OP_where, {"bool[2]", "i32[2]", "i32[2]"}, .result = "i32[2]"},
    {OP_where, {"bool[2]", "i32[2]", "f32[2]"}, .code = DIAG_E2002},
    {OP_where, {"i32[2]", "i32[2]", "i32[2]"}, .code = DIAG_E2002},
    {OP_cast, {"bool[2]"}, .n_attr = 1, .attr = {DT_F32}, .result = "f32[2]"},
    {OP_cast, {"bool[2]"}, .n_attr = 1, .attr = {99}, .code = DIAG_I0001},
    {OP_cast, {"bool[2]"}, .code = DIAG_I0001},
    {OP_sum, {"f32[A, B, C]"}, .n_attr = 2, .attr = {0, 2}, .result = "f32[B]"},
    {OP_sum, {"f32[A, B]"}, .n_attr = 2, .attr = {1, 0}, .code = DIAG_E2005},
    {OP_sum, {"f32[A, B]"}, .n_attr = 1, .attr = {2}, .code = DIAG_E2005},
    {OP_sum, {"f32[A, B]"}, .n_attr = 1, .attr = {-1}, .code = DIAG_E2005},
    {OP_mean, {"i32[A]"}, .n_attr = 1, .attr = {0}, .code = DIAG_E2002},
    {OP_any, {"bool[A]"}, .n_attr = 1, .attr = {0}, .result = "bool[]"},
    {OP_reshape, {"f32[B, 64]"}, .type = "f32[B*8, 8]", .result = "f32[8*B, 8]"},
    {OP_reshape, {"f32[B, 64]"}, .type = "f32[B, 8, 4*H/2/H*4]", .result = "f32[B, 8, 8]"},
    {OP_reshape, {"f32[B, 64]"}, .type = "f32[N]", .result = "f32[N]"}, /* checked when bound */
    {OP_reshape, {"f32[64]"}, .type = "f32[8, 7]", .code = DIAG_E2004},
    {OP_reshape, {"f32[B + 1]"}, .type = "f32[B]", .code = DIAG_E2004},
    {OP_reshape, {"f32[4]"}, .code = DIAG_I0001},
    {OP_permute, {"f32[A, B, C]"}, .n_attr = 3, .attr = {2, 0, 1}, .result = "f32[C, A, B]"},
    {OP_permute, {"f32[A, B]"}, .n_attr = 2, .attr = {0, 0}, .code = DIAG_E2005},
    {OP_permute, {"f32[A, B]"}, .n_attr = 2, .attr = {0, 2}, .code = DIAG_E2005},
    {OP_slice, {"f32[8]"}, .type = "f32[3]", .n_attr = 1, .attr = {2}, .dims = {"3"}, .result = "f32[3]"},
    {OP_slice, {"f32[8]"}, .type = "f32[8]", .n_attr = 1, .attr = {-1}, .dims = {"7"}, .result = "f32[8]"},
    {OP_slice, {"f32[8]"}, .type = "f32[3]", .n_attr = 1, .attr = {2}, .dims = {"4"}, .code = DIAG_E2006},
    {OP_slice, {"f32[8]"}, .type = "f32[8]", .n_attr = 1, .attr = {-1}, .dims = {"6"}, .code = DIAG_E2006},
    {OP_slice, {"f32[8]"}, .type = "f32[1]", .n_attr = 1, .attr = {0}, .dims = {"0"}, .code = DIAG_E2006},
    {OP_slice, {"f32[8]"}, .type = "f32[1]", .n_attr = 1, .attr = {1}, .dims = {"0 - 1"}, .code = DIAG_E2006},
    {OP_slice, {"f32[N]"}, .type = "f32[M]", .n_attr = 1, .attr = {1}, .dims = {"K"}, .result = "f32[M]"},
    {OP_pad, {"f32[3]"}, .type = "f32[8]", .n_attr = 1, .attr = {2}, .dims = {"3"}, .result = "f32[8]"},
    {OP_pad, {"f32[3]"}, .type = "f32[7]", .n_attr = 1, .attr = {2}, .dims = {"3"}, .code = DIAG_E2006},
    {OP_expand, {"f32[1, N]"}, .type = "f32[B, N]", .result = "f32[B, N]"},
    {OP_expand, {"f32[2, N]"}, .type = "f32[B, N]", .code = DIAG_E2007},
    {OP_leaf, {"f32[tree(0)]"}, .n_attr = 1, .attr = {0}, .result = "f32[4, 2]"},
    {OP_leaf, {"f32[tree(0)]"}, .n_attr = 1, .attr = {1}, .code = DIAG_I0001},
    {OP_leaf, {"f32[tree(1)]"}, .n_attr = 1, .attr = {0}, .code = DIAG_I0001},
    {OP_argmax, {"f32[B, K]"}, .result = "i32[B]"},
    {OP_argmax, {"f32[]"}, .code = DIAG_E2003},
    {OP_softmax, {"i32[B, K]"}, .code = DIAG_E2002},
    {OP_xent, {"f32[B, K]", "i32[B]"}, .result = "f32[B]"},
    {OP_xent, {"f32[B, K]", "i32[K]"}, .code = DIAG_E2001},
    {OP_matmul, {"f32[B, I]", "f32[I, O]"}, .result = "f32[B, O]"},
    {OP_matmul, {"f32[H, B, I]", "f32[H, I, O]"}, .result = "f32[H, B, O]"},
    {OP_matmul, {"f32[8, 16]", "f32[17, 4]"}, .code = DIAG_E2001},
    {OP_matmul, {"f32[2, 8, 16]", "f32[16, 4]"}, .code = DIAG_E2001},
    {OP_matmul, {"f32[16]", "f32[16, 4]"}, .code = DIAG_E2003},
    {OP_gather, {"i32[N, 4]", "i32[K, L]"}, .result = "i32[K, L, 4]"},
    {OP_gather, {"f32[N, 4]", "f32[K]"}, .code = DIAG_E2002},
    {OP_gather, {"f32[1, 1, 1, 1, 1, 1, 1, 1]", "i32[K, K]"}, .code = DIAG_E2003},
    {OP_put_add, {"f32[N, 4]", "i32[K]", "f32[K, 4]"}, .result = "f32[N, 4]"},
    {OP_put_add, {"f32[N, 4]", "i32[K]", "f32[4, K]"}, .code = DIAG_E2001},
    {OP_pack, {"f32[4, 2]"}, .n_attr = 1, .attr = {0}, .result = "f32[tree(0)]"},
    {OP_pack, {"f32[2, 4]"}, .n_attr = 1, .attr = {0}, .code = DIAG_I0001},
    {OP_ranges, .n_attr = 4, .attr = {0, 0, 0, 0}, .result = "f32[tree(0)]"},
    {OP_ranges, .n_attr = 4, .attr = {0, 0, 1, 0}, .code = DIAG_I0001},
    {OP_ranges, .n_attr = 3, .attr = {0, 0, 0}, .code = DIAG_I0001},
    {OP_put, {"bool[N, 4]", "i32[K]", "bool[K, 4]"}, .result = "bool[N, 4]"},
    {OP_put_max, {"bool[N, 4]", "i32[K]", "bool[K, 4]"}, .code = DIAG_E2002},
    {OP_take, {"bool[B, N]", "i32[B, K]"}, .result = "bool[B, K]"},
    {OP_take, {"f32[B, N]", "i32[N, K]"}, .code = DIAG_E2001},
    {OP_spread, {"f32[B, K]", "i32[B, K]"}, .type = "f32[B, N]", .result = "f32[B, N]"},
    {OP_spread, {"f32[B, K]", "i32[B, N]"}, .type = "f32[B, N]", .code = DIAG_E2001},
    {OP_spread, {"f32[B, K]", "i32[B, K]"}, .type = "f32[N, K]", .code = DIAG_I0001},
    {OP_concat, {"f32[A, B]", "f32[A, 3]"}, .n_attr = 1, .attr = {1}, .result = "f32[A, B + 3]"},
    {OP_concat, {"f32[A, B]", "f32[B, B]"}, .n_attr = 1, .attr = {1}, .code = DIAG_E2001},
    {OP_concat, {"f32[A, B]", "i32[A, B]"}, .n_attr = 1, .attr = {0}, .code = DIAG_E2001},
    {OP_concat, {"f32[A]"}, .n_attr = 1, .attr = {1}, .code = DIAG_I0001},
    {OP_cast, {"f32[2]"}, .n_attr = 1, .attr = {DT_F64}, .result = "f64[2]"},
    {OP_bitcast, {"f32[2]"}, .n_attr = 1, .attr = {DT_I32}, .result = "i32[2]"},
    {OP_bitcast, {"i32[N]"}, .n_attr = 1, .attr = {DT_F64}, .result = "f64[N]"},
    {OP_bitcast, {"f32[N]"}, .n_attr = 1, .attr = {DT_F64}, .code = DIAG_I0001},
    {OP_bitcast, {"i32[N]"}, .n_attr = 1, .attr = {DT_I32}, .code = DIAG_I0001},
    {OP_bitcast, {"bool[N]"}, .n_attr = 1, .attr = {DT_I32}, .code = DIAG_E2002},
    {OP_bitcast, {"i32[N]"}, .code = DIAG_I0001},
    {OP_orthonormal, {"f32[B, N, K]"}, .result = "f32[B, N, K]"},
    {OP_orthonormal, {"i32[N, K]"}, .code = DIAG_E2002},
    {OP_pinv, {"f64[B, N, K]"}, .result = "f64[B, K, N]"},
    {OP_pinv, {"f32[N]"}, .code = DIAG_E2003},
    {OP_solve_spd, {"f32[B, N, N]", "f32[B, N, K]"}, .result = "f32[B, N, K]"},
    {OP_solve_spd, {"f32[N, K]", "f32[N, K]"}, .code = DIAG_E2001},
    {OP_argsort, {"f32[B, K]"}, .n_attr = 1, .attr = {1}, .result = "i32[B, K]"},
    {OP_argsort, {"bool[K]"}, .n_attr = 1, .attr = {0}, .code = DIAG_E2002},
    {OP_search, {"f32[B, N]", "f32[B, K]"}, .result = "i32[B, K]"},
    {OP_search, {"f32[B, N]", "i32[B, K]"}, .code = DIAG_E2002},
    {OP_cumsum, {"i32[A, B]"}, .n_attr = 2, .attr = {1, 0}, .result = "i32[A, B]"},
    {OP_cumsum, {"f32[A]"}, .n_attr = 2, .attr = {1, 0}, .code = DIAG_I0001},
    {OP_linear_scan, {"f32[A, B]", "f32[A, B]"}, .n_attr = 2, .attr = {0, 1}, .result = "f32[A, B]"},
    {OP_linear_scan, {"f32[A, B]", "f32[B, A]"}, .n_attr = 2, .attr = {0, 1}, .code = DIAG_E2001},
    {OP_randint, {"i32[]"}, .type = "i32[N]", .n_attr = 2, .attr = {7, 0}, .result = "i32[N]"},
    {OP_randint, {"i32[]"}, .type = "f32[N]", .n_attr = 2, .attr = {7, 0}, .code = DIAG_E2002},
    {OP_iota, .type = "i32[N]", .result = "i32[N]"},
    {OP_iota, .type = "f32[N]", .code = DIAG_I0001},
    {OP_uniform, .type = "f32[N, 2]", .n_attr = 2, .attr = {7, 0}, .result = "f32[N, 2]"},
    {OP_uniform, .type = "i32[N]", .n_attr = 2, .attr = {7, 0}, .code = DIAG_E2002},
    {OP_bernoulli, {"f32[]"}, .type = "bool[N]", .n_attr = 2, .attr = {7, 0}, .result = "bool[N]"},
    {OP_bernoulli, {"f32[N]"}, .type = "bool[N]", .n_attr = 2, .attr = {7, 0}, .code = DIAG_E2003},
    {OP_shuffle, {"i32[K]", "i32[]"}, .n_attr = 1, .attr = {7}, .dims = {"N"}, .result = "i32[K]"},
    {OP_rows, .n_attr = 3, .attr = {0, 1, 7}, .result = "i32[b]"},
    {OP_rows, .n_attr = 3, .attr = {1, 1, 7}, .code = DIAG_I0001},
    {OP_rows, .n_attr = 3, .attr = {0, 3, 7}, .code = DIAG_I0001},
    {OP_step, .n_attr = 2, .attr = {0, 2}, .result = "i32[]"},
    {OP_step, .n_attr = 2, .attr = {0, 4}, .code = DIAG_I0001},
    {OP_knob, .n_attr = 1, .attr = {0}, .result = "f32[]"},
    {OP_knob, .n_attr = 1, .attr = {1}, .code = DIAG_I0001},
    {OP_const, .type = "i32[]", .n_attr = 1, .attr = {0x4008000000000000}, .result = "i32[]"},  /* 3 */
    {OP_const, .type = "i32[]", .n_attr = 1, .attr = {0x3fe0000000000000}, .code = DIAG_E2008}, /* 0.5 */
    {OP_const, .type = "bool[]", .n_attr = 1, .attr = {0x4008000000000000}, .code = DIAG_E2008},
    {OP_const, .type = "i32[]", .n_attr = 1, .attr = {0x7ff8000000000000}, .code = DIAG_E2008}, /* NaN */
    {OP_dimval, .type = "f32[]", .dims = {"2*B"}, .result = "f32[]"},
    {OP_read, .n_attr = 1, .attr = {1}, .result = "f32[4, 2]"},
    {OP_read, .n_attr = 1, .attr = {0}, .code = DIAG_I0001},
    {OP_read, .n_attr = 1, .attr = {1 << 20}, .code = DIAG_I0001},
    {OP_tree, .n_attr = 1, .attr = {0}, .result = "f32[tree(0)]"},
    {OP_tree, .n_attr = 1, .attr = {1}, .code = DIAG_I0001},
    {OP_grad, {"f32[]"}, .n_attr = 1, .attr = {0}, .result = "f32[tree(0)]"},
    {OP_grad, {"f32[B]"}, .n_attr = 1, .attr = {0}, .code = DIAG_E2003},
    {OP_copy, {"i32[B]"}, .result = "i32[B]"},
    {OP_iota, .type = "i32[2199023255552]", .code = DIAG_E2009},
    {OP_iota, .type = "i32[3 - 5]", .code = DIAG_E2009},
};

START_TEST(shape_rules)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct shape_case *c = &cases[i];
        struct graph *g = small_graph();
        val in[3];
        dim dims[3];
        const char *end;
        struct node_spec s = {
            .op = c->op, .in = in, .attr = c->attr, .n_attr = (uint32_t)c->n_attr, .dims = dims};
        diag_init(&sink, arena, NULL);
        for (; s.n_in < 3 && c->in[s.n_in]; s.n_in++) {
            in[s.n_in] = value_of(g, c->in[s.n_in]);
        }
        for (; s.n_dim < 3 && c->dims[s.n_dim]; s.n_dim++) {
            dims[s.n_dim] = dim_parse(&g->dims, c->dims[s.n_dim], &end);
        }
        s.type = c->type ? read_type(g, c->type) : (struct type){0};
        val v = graph_add(g, &s, &sink);
        if (c->result) {
            struct type t = v ? node_type(g, v) : (struct type){0};
            ck_assert_msg(v, "case %zu, %s: %s", i, op_table[c->op].name, first_message());
            ck_assert_str_eq(type_text(g, &t), c->result);
        } else {
            ck_assert_msg(!v && sink.list.n == 1 && sink.list.at[0].code == c->code, "case %zu, %s: %s", i,
                          op_table[c->op].name, first_message());
        }
    }
}
END_TEST

START_TEST(both_shapes_are_named)
{
    struct graph *g = small_graph();
    val in[] = {value_of(g, "f32[B, 64]"), value_of(g, "f32[65, 10]")};
    struct node_spec s = {.op = OP_matmul, .in = in, .n_in = 2};
    ck_assert_int_eq(graph_add(g, &s, &sink), 0);
    ck_assert_str_eq(first_message(), "matmul: inner sizes 64 and 65 differ: f32[B, 64] and f32[65, 10]");
}
END_TEST

START_TEST(hash_consing)
{
    struct graph *g = small_graph();
    val x = value_of(g, "f32[B]");
    struct node_spec s = {
        .op = OP_neg, .in = &x, .n_in = 1, .scope = graph_scope(g, "net.a"), .span = {1, 2, 0}};
    val a = graph_add(g, &s, &sink);
    s.scope = graph_scope(g, "net.b");
    s.span = (struct span){5, 6, 0};
    ck_assert_int_eq(graph_add(g, &s, &sink), a); /* place and scope do not count */
    ck_assert_uint_eq(graph_scope(g, "net.a"), g->nodes.at[a].scope);
    s.op = OP_abs;
    ck_assert_int_ne(graph_add(g, &s, &sink), a);
    uint32_t before = g->nodes.n;
    val half[2000];
    for (int round = 0; round < 2; round++) { /* through several growths of the table */
        for (int i = 0; i < 2000; i++) {
            int64_t bits = f64_bits(i * 0.5);
            struct node_spec k = {.op = OP_const, .attr = &bits, .n_attr = 1, .type = {.dtype = DT_F32}};
            val v = graph_add(g, &k, &sink);
            ck_assert(round == 0 || v == half[i]);
            half[i] = v;
        }
    }
    ck_assert_uint_eq(g->nodes.n, before + 2000);
    val none[] = {x, 0};
    struct node_spec poison = {.op = OP_add, .in = none, .n_in = 2};
    ck_assert(graph_add(g, &poison, &sink) == 0 && sink.list.n == 0);
    ck_assert_uint_eq(graph_find_var(g, "w"), 1);
    ck_assert_uint_eq(graph_find_var(g, "nothing"), 0);
    ck_assert_int_eq(graph_find_phase(g, "init"), 0);
    ck_assert_int_eq(graph_find_phase(g, "train"), -1);
}
END_TEST

START_TEST(node_limit)
{
    struct graph *g = small_graph();
    val v = 0;
    int64_t i = 0;
    do {
        int64_t bits = f64_bits((double)i++);
        struct node_spec k = {.op = OP_const, .attr = &bits, .n_attr = 1, .type = {.dtype = DT_F32}};
        v = graph_add(g, &k, &sink);
    } while (v && i < 2 * LIMIT_NODES);
    ck_assert_int_eq(i, LIMIT_NODES + 1);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_E0110);
}
END_TEST

int main(void)
{
    return RUN("graph", operator_table, shape_rules, both_shapes_are_named, hash_consing, node_limit);
}
