/* models/digits.gml and the facts that scripts rely on: keys, shapes, trees, phases, the run block; --set;
 * stable names of draws. */
#include "tests/compile/program.h"
#include "tests/suite.h"

static const char *type_of_key(struct graph *g, const char *key)
{
    uint32_t v = graph_find_var(g, key);
    return v ? type_text(g, &g->vars.at[v].type) : "missing";
}
START_TEST(test_keys)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g;
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    diag_init(&sink, a, NULL);
    ck_assert_int_eq(gml_compile(a, GML_SOURCE "/models/digits.gml", &o, &sink, &g), ST_OK);
    static const char *const want[][2] = {
        {"net.fc.0.lin.w", "f32[64, 256]"},   {"net.fc.0.lin.b", "f32[256]"},
        {"net.fc.1.lin.w", "f32[256, 128]"},  {"net.fc.1.lin.b", "f32[128]"},
        {"net.head.w", "f32[128, 10]"},       {"net.head.b", "f32[10]"},
        {"opt.train.loss.m", "f32[tree(0)]"}, {"opt.train.loss.n", "i32[]"},
        {"digits.x", "f32[digits.rows, 64]"}, {"digits.y#raw", "i32[digits.rows]"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_str_eq(type_of_key(g, want[i][0]), want[i][1]);
    }
    /* Order of the tree: tags, then path. */
    static const char *const leaves[] = {"net.fc.0.lin.w", "net.fc.1.lin.w", "net.head.w",
                                         "net.fc.0.lin.b", "net.fc.1.lin.b", "net.head.b"};
    ck_assert_uint_eq(g->trees.n, 1);
    ck_assert_str_eq(g->trees.at[0].name, "train.loss");
    ck_assert_uint_eq(g->trees.at[0].n_leaf, 6);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_str_eq(g->vars.at[g->trees.at[0].leaf[i]].key, leaves[i]);
    }
    static const char *const phases[] = {"init", "data.digits", "train", "eval", "predict", "run.0"};
    ck_assert_uint_eq(g->phases.n, 6);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_str_eq(g->phases.at[i].name, phases[i]);
    }
    const struct phase *train = &g->phases.at[2], *eval = &g->phases.at[3];
    ck_assert(train->training && train->shuffle && !eval->training && !eval->shuffle);
    ck_assert_uint_eq(train->metrics.n, 3);
    ck_assert_str_eq(train->metrics.at[0].name, "loss");
    ck_assert_uint_eq(g->phases.at[4].outputs.n, 2);
    /* block, repeat, train, eval, save */
    ck_assert_uint_eq(g->run.n, 5);
    ck_assert_int_eq(g->run.at[1].kind, RUN_REPEAT);
    ck_assert_int_eq(g->run.at[2].unit, UNIT_EPOCHS);
    ck_assert_uint_eq(g->run.at[4].expr, 5);
    ck_assert_int_eq(g->configs.at[0].kind, CONFIG_DIM);
    ck_assert_int_eq(g->configs.at[1].kind, CONFIG_LIVE);
    ck_assert_int_eq(g->configs.at[2].kind, CONFIG_FIXED);
    ck_assert_int_eq(g->configs.at[3].kind, CONFIG_DIM);
    arena_free(a);
}
END_TEST

/* Attribute `k` of the nth node of an op. */
static int64_t attr_of(struct graph *g, enum op op, uint32_t nth, uint32_t k)
{
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        if (g->nodes.at[i].op == op && nth-- == 0) {
            return node_attrs(g, &g->nodes.at[i])[k];
        }
    }
    return 0;
}
static const char plain[] =
    "gml 1\nimport nn\nlet net = nn.Linear{4}\nphase p {\n let x = net(zeros([2, 3]))\n"
    " output y = x, m = rand.bernoulli([2], 0.5), n = rand.normal([2])\n}\n";
static const char other[] =
    "gml 1\n# the same, later in the file, among other things\nimport nn\nlet first = nn.Linear{5}\n"
    "phase early { output z = first(zeros([1, 2])) }\nlet net = nn.Linear{4}\nphase p {\n let a = 3\n"
    " let x = net(zeros([2, 3]))\n output y = x, m = rand.bernoulli([2], 0.5), n = rand.normal([2])\n}\n";
START_TEST(test_draws_keep_their_names)
{
    struct program p, q;
    compile_ok(&p, plain);
    compile_ok(&q, other);
    const char *w = "init/net.w#0", *b = "init/net.b#0", *m = "p/#0", *n = "p/#1";
    int64_t ids[4] = {(int64_t)fnv1a64(w, strlen(w)), (int64_t)fnv1a64(b, strlen(b)),
                      (int64_t)fnv1a64(m, strlen(m)), (int64_t)fnv1a64(n, strlen(n))};
    ck_assert_int_eq(attr_of(p.g, OP_uniform, 0, 0), ids[0]);
    ck_assert_int_eq(attr_of(p.g, OP_uniform, 1, 0), ids[1]);
    ck_assert_int_eq(attr_of(p.g, OP_bernoulli, 0, 0), ids[2]);
    ck_assert_int_eq(attr_of(p.g, OP_normal, 0, 0), ids[3]);
    ck_assert_int_eq(attr_of(q.g, OP_uniform, 2, 0), ids[0]);
    ck_assert_int_eq(attr_of(q.g, OP_bernoulli, 0, 0), ids[2]);
    arena_free(p.a);
    arena_free(q.a);
}
END_TEST

/* Every launch of a training phase has the rows asked for, so its batch is that dimension; the last launch of
 * a pass may be smaller. */
START_TEST(test_rows_of_a_launch)
{
    struct program p;
    const char *train =
        "gml 1\nimport nn\nimport opt\nconfig B: dim = 4\ndata d = \"d.npz\" { x: f32[3] = field(\"x\") }\n"
        "let net = nn.Linear{2}\nphase t on d{batch = B} as s {\n state old: f32[B, 2] = 0\n let y = "
        "net(s.x)\n"
        " next old = y\n minimize loss = nn.mse(y, old) over net using opt.sgd{0.1}\n}\n";
    compile_ok(&p, train);
    arena_free(p.a);
    compile_with(&p,
                 "gml 1\nimport nn\nconfig B: dim = 4\ndata d = \"d.npz\" { x: f32[3] = field(\"x\") }\nlet "
                 "net = nn.Linear{2}\n"
                 "phase e on d{batch = B} as s {\n output y = net(s.x) + zeros([B, 2])\n}\n",
                 NULL, 0);
    ck_assert(!p.g && p.sink.list.n == 1 && p.sink.list.at[0].code == DIAG_E2001);
    arena_free(p.a);
}
END_TEST
/* What a layer level builds in a loop, and instances whose constants an initial value reads. */
START_TEST(test_layer_level)
{
    struct program p;
    start(&p, "gml 1\nimport nn\nlayer Stack{widths: int[]} {\n let all = []\n for (w in widths) as part {\n "
              " let lin = nn.Linear{w, ones_of}\n"
              "  all = append(all, lin)\n }\n let last = widths[-1]\n fn (x) {\n  for (f in all) { x = f(x) "
              "}\n  return x\n }\n}\n"
              "fn ones_of(shape, i, o) = ones(shape)\nlet stack = Stack{[3, 2]}\nlayer Keeps{inner}(x) {\n "
              "state s: f32[inner.last] = 0\n"
              " next s = s + 1\n return inner(x) * 0 + s\n}\nlet keeps = Keeps{stack}\nphase p { output y = "
              "keeps(ones([1, 2])) }\n");
    launch(&p, "p");
    launch(&p, "p");
    EXPECT(&p, "y", 1, 1);
    ck_assert_uint_ne(graph_find_var(p.g, "stack.part.1.lin.w"), 0);
    finish(&p);
}
END_TEST

static const char knobs[] =
    "gml 1\nconfig n: dim = 3\nconfig rate = 0.5\nconfig wide = 2\nconfig flag = true\nconfig name = \"a\"\n"
    "config sizes = [1, 2]\nconfig deep = 2\nphase p {\n let x = ones([n, wide])\n"
    " if (deep > 1) { x = x + 1 }\n for (s in sizes) { x = x * s }\n"
    " output y = x * rate, z = where(flag, x, 0), k = if name == \"a\" then 1 else 2\n}\n";
static void check_set(const char *name, const char *value, enum diag_code code)
{
    struct program p;
    struct compile_set set = {name, value};
    compile_with(&p, knobs, &set, 1);
    if (code == DIAG_COUNT) {
        ck_assert_msg(p.g != NULL, "--set %s=%s is refused", name, value);
    } else {
        ck_assert_msg(!p.g && p.sink.list.n == 1 && p.sink.list.at[0].code == code, "--set %s=%s", name,
                      value);
        ck_assert_int_eq(diag_worst(&p.sink), ST_USAGE);
    }
    arena_free(p.a);
}
START_TEST(test_set_is_typed)
{
    check_set("n", "5", DIAG_COUNT);
    check_set("n", "2.5", DIAG_E1009);
    check_set("rate", "1", DIAG_COUNT);
    check_set("rate", "true", DIAG_E1009);
    check_set("flag", "false", DIAG_COUNT);
    check_set("flag", "1", DIAG_E1009);
    check_set("sizes", "[3]", DIAG_COUNT);
    check_set("sizes", "[0.5]", DIAG_E1009);
    check_set("sizes", "3", DIAG_E1009);
    check_set("name", "\"b\"", DIAG_COUNT);
    check_set("name", "3", DIAG_E1009);
    check_set("raet", "1", DIAG_E1008);
}
END_TEST
START_TEST(test_set_changes_values)
{
    struct program p;
    struct compile_set set[] = {
        {"n", "1"}, {"sizes", "[3]"}, {"rate", "2"}, {"deep", "1"}, {"flag", "false"}};
    start_with(&p, knobs, set, 5);
    launch(&p, "p");
    EXPECT(&p, "y", 6, 6);
    EXPECT(&p, "z", 0, 0);
    ck_assert_int_eq(p.g->configs.at[1].kind, CONFIG_LIVE);  /* rate */
    ck_assert_int_eq(p.g->configs.at[2].kind, CONFIG_FIXED); /* wide reached a shape */
    ck_assert_int_eq(p.g->configs.at[3].kind, CONFIG_LIVE);  /* flag reached a where */
    ck_assert_int_eq(p.g->configs.at[6].kind, CONFIG_FIXED); /* deep reached an if */
    finish(&p);
    start(&p, knobs);
    turn_knob(&p, 1, 10); /* a live config changes without compiling */
    launch(&p, "p");
    ck_assert_double_eq_tol(output_at(&p, "p", "y", 0), 40, 1e-6);
    finish(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("digits");
    tcase_add_test(t, test_keys);
    tcase_add_test(t, test_draws_keep_their_names);
    tcase_add_test(t, test_rows_of_a_launch);
    tcase_add_test(t, test_layer_level);
    tcase_add_test(t, test_set_is_typed);
    tcase_add_test(t, test_set_changes_values);
    return suite_run("digits", t, CK_NOFORK);
}
