/* scan, beyond the rules of tests/rules: over arrays of instances it is the text written out, by values,
 * gradients and states; draws of iterations differ; gradients of small models against central differences in
 * f64 (run_gradcheck: relative error below 1e-6); assertions; the text form. */
#include "runtime/run/check.h"
#include "tests/compile/program.h"
#include "tests/suite.h"

/* -- arrays of instances */

/* Two launches of training, with states, a part of the instance, entries and a map. %s: how x goes through.
 */
static const char arrays[] =
    "gml 1\nimport nn\nimport opt\n"
    "layer Block{H: dim}(x: f32[B, D]) -> f32[B, D] {\n"
    "    state count = 0\n"
    "    state avg: f32[D] = 0\n"
    "    next count = count + 1\n"
    "    next avg = 0.9 * avg + 0.1 * mean(x, axis = 0)\n"
    "    return x + (x - avg |> up: nn.Linear{H} |> tanh |> down: nn.Linear{D})\n"
    "}\n"
    "layer Gate{} {\n"
    "    let fc = nn.Linear{3}\n"
    "    param g: f32[3] = 0.5\n"
    "    let twice = 2 * g\n"
    "    fn hidden(x) = fc(x) * twice\n"
    "    fn (x) = hidden(x) + g\n"
    "}\n"
    "let blocks = Block{4}[3]\n"
    "let gates = Gate{}[2]\n"
    "phase train {\n"
    "    let x = reshape(f32(iota(6)) / 6, [2, 3])\n"
    "    %s\n"
    "    minimize loss = mean(x^2) + mean(y^2) + sum(h) + sum(w) over blocks, gates using opt.adam{0.1}\n"
    "    output x = x, y = y, h = h\n"
    "}\n";
static const char rolled[] =
    "x = (scan (b in blocks; x = x) { next x = b(x) }).x\n"
    "    let r = scan (g in gates) { yield y = g(x), h = g.hidden(x), w = params(g.fc).w * g.g }\n"
    "    let (y, h, w) = r";
static const char written[] = "for (b in blocks) { x = b(x) }\n"
                              "    let y = stack([gates[0](x), gates[1](x)])\n"
                              "    let h = stack([gates[0].hidden(x), gates[1].hidden(x)])\n"
                              "    let w = stack([gates[0].fc.w * gates[0].g, gates[1].fc.w * gates[1].g])";

static void near_to(double x, double y, const char *what)
{
    double size = y < 0 ? -y : y;
    ck_assert_msg(x - y < 2e-6 + 2e-5 * size && y - x < 2e-6 + 2e-5 * size, "%s: %.9g and %.9g", what, x, y);
}
START_TEST(test_arrays)
{
    static const char *const form[] = {rolled, written};
    struct program p[2];
    for (int i = 0; i < 2; i++) {
        char text[4096];
        snprintf(text, sizeof text, arrays, form[i]);
        start(&p[i], text);
        launch(&p[i], "train");
        launch(&p[i], "train");
    }
    ck_assert_uint_eq(p[0].g->vars.n, p[1].g->vars.n);
    for (uint32_t v = 1; v < p[0].g->vars.n; v++) {
        const char *key = p[0].g->vars.at[v].key;
        int64_t n = operand_count(&p[0].plan->var[v].view);
        for (int64_t i = 0; i < n; i++) {
            near_to(var_at(&p[0], key, i), var_at(&p[1], key, i), key);
        }
    }
    ck_assert_double_eq(var_at(&p[0], "blocks.2.count", 0), 2);
    for (int64_t i = 0; i < 12; i++) {
        near_to(output_at(&p[0], "train", "y", i), output_at(&p[1], "train", "y", i), "y");
    }
    ck_assert(output_at(&p[0], "train", "y", 0) != output_at(&p[0], "train", "y", 6));
    finish(&p[0]);
    finish(&p[1]);
}
END_TEST

/* -- draws */

START_TEST(test_draws)
{
    struct program p;
    start(&p, "gml 1\nphase p {\n"
              "    let r = scan (t in 0..3) {\n"
              "        let u = rand.uniform([2])\n"
              "        let s = scan (k in 0..2) { yield v = rand.uniform([2]), n = rand.int([1], 1000000) }\n"
              "        yield u = u, v = s.v, n = s.n, b = rand.bernoulli([64], 0.5)\n"
              "    }\n"
              "    output u = r.u, v = r.v, n = r.n, b = r.b\n"
              "}\n");
    double old[12] = {0};
    for (int round = 0; round < 2; round++) {
        launch(&p, "p");
        for (int i = 0; i < 12; i++) { /* 3 iterations of 2 of 2 */
            for (int k = 0; k < i; k++) {
                ck_assert(output_at(&p, "p", "v", i) != output_at(&p, "p", "v", k));
                ck_assert(i > 5 || output_at(&p, "p", "u", i) != output_at(&p, "p", "u", k));
                ck_assert(i > 5 || output_at(&p, "p", "n", i) != output_at(&p, "p", "n", k));
            }
            ck_assert(output_at(&p, "p", "v", i) != old[i]);
            old[i] = output_at(&p, "p", "v", i);
        }
        int same = 0;
        for (int i = 0; i < 64; i++) {
            same += output_at(&p, "p", "b", i) == output_at(&p, "p", "b", 64 + i);
        }
        ck_assert_int_lt(same, 64);
    }
    finish(&p);
}
END_TEST

/* A value of the file is drawn once in a phase, one of a layer in each iteration. */
/* A value of the file is one in a phase, also where it is made of a state that scans move on: of its text
 * only that changes, its draws stay, of fns, layers and under names too. */
START_TEST(test_draws_of_the_file)
{
    struct program p;
    start(&p,
          "gml 1\nlayer Noise() {\n    let own = rand.normal([2])\n    return own + rand.normal([2])\n}\n"
          "state k: f32 = 0\nlet noise = Noise{}\nfn far() {\n    let u = rand.int([2], 1000000)\n"
          "    let v = rand.int([2], 1000000)\n    return f32(u - v)\n}\n"
          "let w = rand.int([2], 1000000) + i32(k)\nlet y = noise() + far() + far() + k\n"
          "let (a, b) = [w, rand.int([2], 1000000) + i32(k)]\n"
          "phase p {\n"
          "    let before = (w = w, y = y, a = a, b = b)\n"
          "    let r = scan (t in 0..3) {\n        next k = k + 1\n        yield w = w, y = y, b = b\n    }\n"
          "    let s = scan (t in 0..2) {\n        next k = k + 1\n        yield w = w\n    }\n"
          "    output k = k, w = w - before.w, y = y - before.y, a = a - before.a, b = b - before.b\n"
          "    output in_w = r.w - before.w[_, :], in_y = r.y - before.y[_, :], in_b = r.b - before.b[_, :],"
          " then = s.w - before.w[_, :]\n"
          "    output first = before.w\n"
          "}\n");
    double old = -1;
    for (int round = 0; round < 2; round++) {
        launch(&p, "p");
        ck_assert_double_eq(output_at(&p, "p", "k", 0), 5 * (round + 1));
        ck_assert_double_ne(output_at(&p, "p", "first", 0), old);
        old = output_at(&p, "p", "first", 0);
        for (int i = 0; i < 2; i++) {
            ck_assert_double_eq(output_at(&p, "p", "w", i), 5);
            ck_assert_double_eq_tol(output_at(&p, "p", "y", i), 5, 0.3);
            ck_assert_double_eq(output_at(&p, "p", "a", i), 5);
            ck_assert_double_eq(output_at(&p, "p", "b", i), 5);
        }
        for (int i = 0; i < 6; i++) {
            ck_assert_double_eq(output_at(&p, "p", "in_w", i), i / 2);
            ck_assert_double_eq_tol(output_at(&p, "p", "in_y", i), i / 2, 0.3);
            ck_assert_double_eq(output_at(&p, "p", "in_b", i), i / 2);
        }
        for (int i = 0; i < 4; i++) {
            ck_assert_double_eq(output_at(&p, "p", "then", i), 3 + i / 2);
        }
    }
    finish(&p);
}
END_TEST
START_TEST(test_named_draws)
{
    struct program p;
    start(&p, "gml 1\nlet eps = rand.normal([2])\n"
              "fn pair(x) = (x = x, y = 2 * x)\nlet (once, double) = pair(rand.normal([1]))\n"
              "layer Noise{} {\n    let own = rand.normal([2])\n    fn (x) = x + own\n}\n"
              "let noise = Noise{}\n"
              "phase p {\n"
              "    output a = eps\n"
              "    let r = scan (t in 0..3) { yield e = eps, n = noise(zeros([2])) }\n"
              "    output b = eps, e = r.e, n = r.n, zero = double - 2 * once\n"
              "}\n");
    launch(&p, "p");
    ck_assert_double_eq(output_at(&p, "p", "zero", 0), 0);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(output_at(&p, "p", "e", i), output_at(&p, "p", "a", i % 2));
        ck_assert_double_eq(output_at(&p, "p", "b", i % 2), output_at(&p, "p", "a", i % 2));
        ck_assert(i < 2 || output_at(&p, "p", "n", i) != output_at(&p, "p", "n", i % 2));
    }
    finish(&p);
}
END_TEST

/* -- states outside of the phase whose scan moves them */

START_TEST(test_elsewhere)
{
    struct program p;
    start(&p, "gml 1\nstate n = 0\nlet unused = n + 1\n"
              "phase q { output before = n + 0 }\n"
              "phase p {\n    scan (t in 0..3) { next n = n + 1 }\n    output n = n\n}\n"
              "phase r { output behind = n }\n"
              "run { repeat (9) { p; stop when n > 4 } }\n");
    launch(&p, "p");
    launch(&p, "r");
    ck_assert_double_eq(output_at(&p, "r", "behind", 0), 3);
    launch(&p, "p");
    ck_assert_double_eq(output_at(&p, "p", "n", 0), 6);
    finish(&p);
}
END_TEST

/* -- optimizers: a tree as a carry, a state over it, and the condition of the minimize */

START_TEST(test_optimizer)
{
    struct program p;
    start(&p, "gml 1\n"
              "layer Net() {\n"
              "    param w: f32[2] = 1\n"
              "    return sum(w)\n"
              "}\n"
              "layer Steps{}(p, g) {\n"
              "    state n = 0\n"
              "    state m: p = 0\n"
              "    let r = scan (t in 0..3; w = p) {\n"
              "        next n = n + 1\n"
              "        next m = 0.9 * m + g\n"
              "        next w = w - 0.01 * m\n"
              "    }\n"
              "    return r.w\n"
              "}\n"
              "let net = Net{}\n"
              "let way = Steps{}\n"
              "phase train {\n"
              "    let l = net()\n"
              "    minimize loss = l over net using way when l > 1.99\n"
              "}\n");
    for (int round = 0; round < 3; round++) { /* m is 0, 1, 1.9, 2.71; the sum is 2, then 1.942: no step */
        launch(&p, "train");
        ck_assert_double_eq(var_at(&p, "way.n", 0), 3);
        near_to(var_at(&p, "net.w", 1), 1 - 0.01 * (0 + 1 + 1.9), "w");
        near_to(var_at(&p, "way.m", 0), 2.71, "m");
    }
    finish(&p);
}
END_TEST

/* -- gradients */

static const struct {
    const char *layers, *loss;
} models[] = {
    {"layer Net{}() {\n" /* a cell with a record of two, drawn inputs */
     "    param w: f32[5, 12] = 0.3 * rand.normal([5, 12])\n"
     "    param h0: f32[3] = 0.1\n"
     "    let zero = zeros([2, 3])\n"
     "    let x = tensor([[[0.3, -1.0], [0.7, 0.2], [-0.4, 0.9]], [[1.1, 0.5], [-0.6, 0.1], [0.2, -0.8]]])\n"
     "    let r = scan (xt in x, axis = 1; s = (h = zero + h0, c = zero)) {\n"
     "        let (i, f, g, o) = split(concat(xt, s.h) @ w, 4)\n"
     "        let c = sigmoid(f) * s.c + sigmoid(i) * tanh(g)\n"
     "        next s = (h = sigmoid(o) * tanh(c), c = c)\n"
     "        yield h = s.h, c = c\n"
     "    }\n"
     "    return sum(r.h^2) + sum(r.c * 0.3) + sum(r.s.c) + mean(r.s.h)\n"
     "}\n",
     "net()"},
    {"layer Net{}() {\n" /* two carries that change places, from the end, one that holds */
     "    param a: f32[3] = 0.4\n"
     "    param b: f32[4, 3] = 0.2 * rand.normal([4, 3])\n"
     "    let r = scan (v in b, t in 1..5, reverse = true; x = a, y = 2 * a, k = a * a) {\n"
     "        next x = tanh(y + v * f32(t))\n"
     "        next y = x * k + y\n"
     "        yield z = x * y\n"
     "    }\n"
     "    return sum(r.x) + mean(r.y^2) + sum(r.z * b) + sum(r.k)\n"
     "}\n",
     "net()"},
    {"layer Net{}() {\n" /* a scan in a scan, parameters of the outer one and of no loop in it */
     "    param a: f32[4] = 0.4\n"
     "    param b: f32[3, 4] = 0.2 * rand.normal([3, 4])\n"
     "    let r = scan (row in b; s = zeros([4]) + 0.1) {\n"
     "        let q = scan (v in row, t in 0..4; m = s) {\n"
     "            next m = tanh(m * a + v)\n"
     "            yield p = sum(m * row)\n"
     "        }\n"
     "        next s = q.m * 0.9\n"
     "        yield y = q.p\n"
     "    }\n"
     "    return sum(r.y^2) + sum(r.s)\n"
     "}\n",
     "net()"},
    {"layer Net{}(x) {\n" /* a layer with state, applied in each iteration; an inner axis */
     "    state s: f32[2] = 1\n"
     "    param a: f32[2] = 0.9\n"
     "    next s = a * s + x\n"
     "    return a * s + x\n"
     "}\n",
     "sum((scan (x in tensor([[[0.5], [0.7], [-0.2]], [[0.1], [0.4], [0.3]]]), axis = -2) {\n"
     "        yield y = net(x[:, 0]) }).y^2)"},
    {"layer Part{}(x) {\n" /* instances, with a scan in their text */
     "    param w: f32[3, 3] = 0.4 * rand.normal([3, 3])\n"
     "    let r = scan (t in 0..3; h = x) { next h = tanh(h @ w) + x }\n"
     "    return r.h\n"
     "}\n"
     "layer Net{}() {\n"
     "    let parts = Part{}[3]\n"
     "    let x = tensor([[0.3, -1.0, 0.5], [0.7, 0.2, -0.1]])\n"
     "    let r = scan (p in parts; x = x) {\n"
     "        next x = p(x)\n"
     "        yield y = sum(p.w * p.w)\n"
     "    }\n"
     "    return mean(r.x^2) + sum(r.y * tensor([0.1, 0.2, 0.3]))\n"
     "}\n",
     "net()"},
};
enum { N_MODELS = sizeof models / sizeof *models };

START_TEST(test_gradients)
{
    static const struct run_options options = {.folder = "", .steps = -1, .seed = 1, .threads = 1};
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g;
    struct gradcheck k = {0};
    char text[4096];
    snprintf(text, sizeof text,
             "gml 1\nimport opt\n%slet net = Net{}\nphase train {\n    minimize loss = %s over net using "
             "opt.sgd{0.1}\n}\nrun { train for 1 steps }\n",
             models[_i].layers, models[_i].loss);
    diag_init(&sink, a, NULL);
    if (gml_elaborate(a, "test.gml", text, (uint32_t)strlen(text), &o, &sink, &g) != ST_OK) {
        diag_render(&sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("model %d does not compile", _i);
    }
    graph_set_precision(g, DT_F64);
    ck_assert_int_eq(run_passes(g, &o, &sink, &g), ST_OK);
    ck_assert_int_eq(run_gradcheck(g, NULL, &options, 12, a, &sink, &k), ST_OK);
    ck_assert_int_gt(k.checked, 1);
    ck_assert_int_eq(k.wrong, 0);
    for (uint32_t i = 0; i < k.row.n; i++) {
        ck_assert_msg(k.row.at[i].worst.error < 1e-6, "model %d, parameter %u: error %g", _i, i,
                      k.row.at[i].worst.error);
    }
    arena_free(a);
}
END_TEST

/* -- assertions, text form */

START_TEST(test_assert)
{
    struct program p;
    start(&p, "gml 1\nstate n = 0\nphase p {\n"
              "    scan (t in 0..3) {\n"
              "        scan (u in 0..2) { assert n < 5 }\n"
              "        next n = n + 1\n"
              "        assert t < 3\n"
              "    }\n"
              "}\n");
    const struct plan_variant *v = plan_find(p.plan, (uint32_t)graph_find_phase(p.g, "p"), false);
    ck_assert_uint_eq(v->n_assert, 2);
    for (int round = 0; round < 2; round++) { /* n is 0, 1, 2, then 3, 4, 5 */
        launch(&p, "p");
        int held = 0;
        for (uint32_t i = 0; i < 2; i++) {
            held += *(const uint8_t *)(p.memory + v->assert_value[i].offset) != 0;
        }
        ck_assert_int_eq(held, round ? 1 : 2);
    }
    finish(&p);
}
END_TEST

static int count_nodes(const struct program *p, const char *phase, const char *op)
{
    int n = 0;
    for (uint32_t i = 1; i < p->g->nodes.n; i++) {
        const struct node *x = graph_node(p->g, i);
        n += x->phase == graph_find_phase(p->g, phase) && !strcmp(op_table[x->op].name, op);
    }
    return n;
}
/* A scan over an array of instances without a carry is one product over their stacked weights, a carry with a
 * linear recurrence one linear_scan: no loop is left, and the numbers are those of the text written out. */
START_TEST(test_without_loops)
{
    struct program p;
    start(&p, "gml 1\nimport nn\nlayer Each{n: int, rolled: bool}(x: f32[B, I]) -> f32[n, B, 4] {\n"
              "    let h = nn.Linear{4, init = far, bias = none}[n]\n"
              "    if (rolled) {\n        let r = scan (g in h) { yield y = relu(g(x)) }\n        return "
              "r.y\n    }\n"
              "    return stack([relu(h[0](x)), relu(h[1](x)), relu(h[2](x))])\n}\n"
              "fn far(s, i, o) = reshape(sin(3 * f32(iota(i * o))), s)\n"
              "let one = Each{3, true}\nlet two = Each{3, false}\n"
              "phase map {\n    let x = reshape(cos(f32(iota(14))), [2, 7])\n    output y = one(x)\n}\n"
              "phase apart {\n    let x = reshape(cos(f32(iota(14))), [2, 7])\n    output y = two(x)\n}\n"
              "phase back {\n    let k = reshape(sin(f32(iota(12))), [6, 2])\n"
              "    let r = scan (dt in k + 1, kt in k, reverse = true; a = zeros([2])) {\n"
              "        next a = dt + kt * a\n        yield y = dt + kt * a\n    }\n    output y = r.y, last "
              "= r.a\n}\n");
    ck_assert_int_eq(count_nodes(&p, "map", "matmul"), 1);
    ck_assert_int_eq(count_nodes(&p, "apart", "matmul"), 3);
    ck_assert_int_eq(count_nodes(&p, "back", "linear_scan"), 1);
    ck_assert_int_eq(count_nodes(&p, "map", "loop") + count_nodes(&p, "back", "loop"), 0);
    launch(&p, "map");
    double mapped[24], a[2] = {0};
    for (int i = 0; i < 24; i++) {
        mapped[i] = output_at(&p, "map", "y", i);
    }
    launch(&p, "apart");
    for (int i = 0; i < 24; i++) {
        ck_assert_double_eq_tol(output_at(&p, "apart", "y", i), mapped[i], 1e-6);
    }
    launch(&p, "back");
    for (int i = 11; i >= 0; i--) {
        a[i % 2] = sin(i) + 1 + sin(i) * a[i % 2];
        ck_assert_double_eq_tol(output_at(&p, "back", "y", i), a[i % 2], 1e-5);
    }
    ck_assert_double_eq_tol(output_at(&p, "back", "last", 1), a[1], 1e-5);
    finish(&p);
}
END_TEST
/* Gradients that a scan gathers over parts of a batch are those of the whole. */
START_TEST(test_accumulated)
{
    struct program p;
    start(&p,
          "gml 1\nimport nn\nlayer Unit{D: dim}(x: f32[B, D]) -> f32[B, D] {\n"
          "    return x + (x |> l: nn.Linear{D} |> tanh)\n}\n"
          "layer Deep{D: dim, n: int}(x: f32[B, D]) -> f32[B, D] {\n    let blocks = Unit{D}[n]\n"
          "    let r = scan (b in blocks; x = x) { next x = b(x) }\n    return r.x\n}\n"
          "layer seen(p, g) {\n    state all: p = 0\n    next all = g\n    return p\n}\n"
          "let net = Deep{4, 3}\nlet parts = seen{}\nlet whole = seen{}\n"
          "fn rows() = reshape(sin(f32(iota(32))), [8, 4])\n"
          "phase one {\n    let r = scan (xb in unflatten(rows(), 0, [4, 2])) { yield l = mean(net(xb)^2) }\n"
          "    minimize loss = mean(r.l) over net using parts\n}\n"
          "phase two { minimize loss = mean(net(rows())^2) over net using whole }\n"
          "phase p { output off = max(abs(parts.all - whole.all)), size = max(abs(whole.all)) }\n");
    launch(&p, "one");
    launch(&p, "two");
    launch(&p, "p");
    ck_assert_double_gt(output_at(&p, "p", "size", 0), 0.05);
    ck_assert_double_lt(output_at(&p, "p", "off", 0), 1e-6);
    finish(&p);
}
END_TEST
START_TEST(test_text)
{
    struct program p;
    struct graph *g;
    char text[4096], *first = NULL, *again = NULL;
    size_t n, m;
    snprintf(text, sizeof text, arrays, rolled);
    compile_ok(&p, text);
    FILE *f = open_memstream(&first, &n);
    graph_print(p.g, f);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(first, "loop_in"));
    ck_assert_int_eq(graph_parse(p.a, first, &p.sink, &g), ST_OK);
    f = open_memstream(&again, &m);
    graph_print(g, f);
    fclose(f);
    ck_assert_str_eq(first, again);
    free(first);
    free(again);
    arena_free(p.a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("scan");
    tcase_add_test(t, test_arrays);
    tcase_add_test(t, test_draws);
    tcase_add_test(t, test_draws_of_the_file);
    tcase_add_test(t, test_named_draws);
    tcase_add_test(t, test_elsewhere);
    tcase_add_test(t, test_optimizer);
    tcase_add_loop_test(t, test_gradients, 0, N_MODELS);
    tcase_add_test(t, test_assert);
    tcase_add_test(t, test_accumulated);
    tcase_add_test(t, test_without_loops);
    tcase_add_test(t, test_text);
    return suite_run("scan", t, CK_FORK);
}
