/* What small programs compute, run on the CPU: each phase `p` is launched and its outputs are compared with
 * numbers worked out by hand. */
#include <math.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

static void once(struct program *p, const char *text)
{
    start(p, text);
    launch(p, "p");
}
START_TEST(test_numbers)
{
    struct program p;
    once(&p, "gml 1\nconfig N: dim = 6\nphase p {\n"
             " output a = -2^2, b = 7 // 2, c = -7 % 3, d = 1.0 / 4, e = 6 / 3, f = 2^3^0\n"
             " output g = N * 2 / 3 + 1, h = if N == 6 and not (1 > 2) then 1 else 2, i = max(3, 2.5), j = "
             "sqrt(N)\n"
             " output k = f32(7) / 2, l = i32(-2.5), m = 1e3, n = (N - 1) // 2 * 2\n}\n");
    EXPECT(&p, "a", -4);
    EXPECT(&p, "b", 3);
    EXPECT(&p, "c", 2);
    EXPECT(&p, "d", 0.25);
    EXPECT(&p, "e", 2);
    EXPECT(&p, "f", 2);
    EXPECT(&p, "g", 5);
    EXPECT(&p, "h", 1);
    EXPECT(&p, "i", 3);
    EXPECT(&p, "j", 2.4494897);
    EXPECT(&p, "k", 3.5);
    EXPECT(&p, "l", -2);
    EXPECT(&p, "m", 1000);
    EXPECT(&p, "n", 4);
    finish(&p);
}
END_TEST
/* Whole numbers that may change while the model runs keep the meaning of constants beside i32. */
START_TEST(test_live_whole_numbers)
{
    struct program p;
    once(&p,
         "gml 1\nconfig k = 6\nphase p {\n"
         " output a = iota(3) * (k / 3), b = iota(3) * (k // 4), c = -k // 4 + iota(1), d = (k / 3) / 2 * "
         "iota(3)\n"
         " output e = iota(2) + k % 4\n}\n");
    EXPECT(&p, "a", 0, 2, 4);
    EXPECT(&p, "b", 0, 1, 2);
    EXPECT(&p, "c", -2);
    EXPECT(&p, "d", 0, 1, 2);
    EXPECT(&p, "e", 2, 3);
    finish(&p);
}
END_TEST
START_TEST(test_broadcasting)
{
    struct program p;
    once(&p, "gml 1\nphase p {\n let a = f32(iota(3))\n let b = f32(iota(2))\n"
             " output outer = a[:, _] * 10 + b, centred = outer2(a)\n"
             " output kept = (a[:, _] + b) - mean(a[:, _] + b, axis = 0, keep = true)\n"
             " output chosen = select(a > 0.5, a[:, _] + b, 0)\n}\n"
             "fn outer2(x) = x - mean(x)\n");
    EXPECT(&p, "outer", 0, 1, 10, 11, 20, 21);
    EXPECT(&p, "centred", -1, 0, 1);
    EXPECT(&p, "kept", -1, -1, 0, 0, 1, 1);
    EXPECT(&p, "chosen", 0, 0, 1, 2, 2, 3);
    finish(&p);
}
END_TEST
START_TEST(test_indexing)
{
    struct program p;
    once(&p,
         "gml 1\nconfig T: dim = 4\nphase p {\n let x = reshape(iota(3 * T), [3, T])\n let i = iota(2) * 2 - "
         "1\n"
         " output a = x[1], b = x[-1, -1], c = x[:, 1:3], d = x[.., 0], e = x[::2, 3], f = x[0:2, _, T - 1]\n"
         " output r = reshape(x, [-1])[5], s = shape(reshape(x, [2, -1]))[1], q = reshape(x, [-1, T])[2, 0]\n"
         " output g = x[i], h = x[i, 1:3], j = x[iota(1)[0], 2], k = [4, 5, 6][1], l = [4, 5, 6][-1], m = "
         "shape(x[:, _])[2]\n}\n");
    EXPECT(&p, "r", 5);
    EXPECT(&p, "s", 6);
    EXPECT(&p, "q", 8);
    EXPECT(&p, "a", 4, 5, 6, 7);
    EXPECT(&p, "b", 11);
    EXPECT(&p, "c", 1, 2, 5, 6, 9, 10);
    EXPECT(&p, "d", 0, 4, 8);
    EXPECT(&p, "e", 3, 11);
    EXPECT(&p, "f", 3, 7);
    EXPECT(&p, "g", 0, 0, 0, 0, 4, 5, 6, 7); /* -1 reads zeros */
    EXPECT(&p, "h", 0, 0, 5, 6);
    EXPECT(&p, "j", 2);
    EXPECT(&p, "k", 5);
    EXPECT(&p, "l", 6);
    EXPECT(&p, "m", 4);
    finish(&p);
}
END_TEST
START_TEST(test_reductions)
{
    struct program p;
    once(&p, "gml 1\nphase p {\n let x = reshape(f32(iota(6)), [2, 3])\n let m = x > 1.5\n"
             " output a = sum(x, axis = 0), b = mean(x, axis = [0, 1]), c = mean(m), d = sum(m), e = max(x, "
             "axis = -1)\n"
             " output f = mean(x, where = m), g = mean(x, where = x > 9), h = sum(x, axis = 1, where = m), i "
             "= var(x[0]), j = var(x[0], ddof = 1)\n"
             " output k = all(x >= 0), l = any(x > 5), n = min(x, 2), o = logsumexp(x[0]), q = "
             "log_softmax(x[0]), r = argmax(x, axis = 0)\n"
             " output s = softmax(x, axis = 0), t = std(x[1])\n}\n");
    EXPECT(&p, "a", 3, 5, 7);
    EXPECT(&p, "b", 2.5);
    EXPECT(&p, "c", 4.0 / 6);
    EXPECT(&p, "d", 4);
    EXPECT(&p, "e", 2, 5);
    EXPECT(&p, "f", 3.5);
    EXPECT(&p, "g", 0);
    EXPECT(&p, "h", 2, 12);
    EXPECT(&p, "i", 2.0 / 3);
    EXPECT(&p, "j", 1);
    EXPECT(&p, "k", 1);
    EXPECT(&p, "l", 0);
    EXPECT(&p, "n", 0, 1, 2, 2, 2, 2);
    EXPECT(&p, "o", 2.4076059);
    EXPECT(&p, "q", -2.4076059, -1.4076059, -0.4076059);
    EXPECT(&p, "r", 1, 1, 1);
    EXPECT(&p, "s", 0.04742587, 0.04742587, 0.04742587, 0.95257413, 0.95257413, 0.95257413);
    EXPECT(&p, "t", 0.8164966);
    finish(&p);
}
END_TEST
START_TEST(test_records)
{
    struct program p;
    once(&p, "gml 1\nfn swap(r: (a: f32[N], b: f32[N])) = (a = r.b, b = r.a)\n"
             "phase p {\n let r = (a = f32(iota(2)), b = ones([2]), c = 3)\n let s = swap(r) * 2\n let (u, "
             "v) = s\n"
             " output r = s, u = u + v, t = sum(s), f = flatten((z = ones([2, 2])), 0, 1), w = each(double, "
             "[1, 2])[1]\n"
             " let (first, second) = split(iota(4), 2)\n output d = first + second, e = (if len(r) == 3 then "
             "1 else 0)\n}\n"
             "fn double(x) = 2 * x\n");
    EXPECT(&p, "r.a", 2, 2);
    EXPECT(&p, "r.b", 0, 2);
    EXPECT(&p, "u", 2, 4);
    EXPECT(&p, "t", 6);
    EXPECT(&p, "f.z", 1, 1, 1, 1);
    EXPECT(&p, "w", 4);
    EXPECT(&p, "d", 2, 4);
    EXPECT(&p, "e", 1);
    finish(&p);
}
END_TEST
/* A state is a clocked register: all reads in a launch see the old value. */
START_TEST(test_ticks)
{
    struct program p;
    start(
        &p,
        "gml 1\nlayer Counter{by: int}(x) {\n state n: i32 = 10\n next n = n + by\n return x + n\n}\n"
        "let counter = Counter{3}\nstate both: (a: f32[2], b: i32) = 1\n"
        "phase p {\n state own = 0.5\n next own = own * 2\n next both = (a = both.a + own, b = both.b + 1)\n"
        " output y = counter(0), own = own, a = both.a, b = both.b, n = counter.n, s = p.step\n}\n");
    for (int i = 0; i < 3; i++) {
        launch(&p, "p");
    }
    EXPECT(&p, "y", 16);
    EXPECT(&p, "n", 16);
    EXPECT(&p, "own", 2);
    EXPECT(&p, "a", 2.5, 2.5);
    EXPECT(&p, "b", 3);
    EXPECT(&p, "s", 2);
    ck_assert_double_eq(var_at(&p, "counter.n", 0), 19);
    ck_assert_double_eq(var_at(&p, "p.own", 0), 4);
    ck_assert_double_eq(var_at(&p, "both.b", 0), 4);
    finish(&p);
}
END_TEST
START_TEST(test_layers)
{
    struct program p;
    once(&p,
         "gml 1\nimport nn\nlayer Net{depth: int, act = relu}(x: f32[..S, I]) -> f32[..S, I] {\n let h = x\n"
         " for (k in 0..depth) as block { h = h |> lin: nn.Linear{I, init = two, bias = none} |> act }\n"
         " fn half(v, by = 2.0) = v / by\n return half(h) + half(by = 1, v = x)\n}\n"
         "fn two(shape, i, o) = full(shape, 2.0)\nlayer Table{n: dim} {\n param w: f32[n, 2] = 1\n let k = "
         "10\n"
         " fn (i: i32[..S]) -> f32[..S, 2] = w[i] * k\n fn back(h: f32[..S, 2]) = h @ transpose(w)\n}\n"
         "let net = Net{2}\nlet table = Table{3}\nlet twice = 2 * 4\n"
         "phase p {\n let x = ones([1, 2])\n let y = net(x)\n output a = y, b = net(y), c = table(iota(2)), "
         "d = table.back(x), e = twice\n"
         " output f = sum(params(net)), g = table.w[0]\n}\n");
    EXPECT(&p, "a", 9, 9);   /* relu(relu(x @ 2) @ 2) / 2 + x = 16 / 2 + 1 */
    EXPECT(&p, "b", 81, 81); /* the same weights again */
    EXPECT(&p, "c", 10, 10, 10, 10);
    EXPECT(&p, "d", 2, 2, 2);
    EXPECT(&p, "e", 8);
    EXPECT(&p, "f", 16); /* two matrices of four twos */
    EXPECT(&p, "g", 1, 1);
    finish(&p);
}
END_TEST
/* sgd moves w by -lr * gradient; `when` that is false moves nothing; tags keep decay away; state of a tree.
 */
static const char training[] =
    "gml 1\nimport opt\nlayer W(x) {\n param w: f32[3] = 1\n param b: f32[] = 2  tag no_decay\n return w * x "
    "+ b\n}\n"
    "let net = W{}\nlet frozen_one = W{}\n"
    "phase p {\n let y = net(ones([3])) + frozen_one(zeros([3]))\n"
    " minimize loss = sum(y) over net using opt.sgd{0.5, momentum = 0.5, decay = 0.1} when p.step != 1\n"
    " output t = training, g = step\n}\nphase q { output w = net.w, t = training }\n";
START_TEST(test_minimize)
{
    struct program p;
    start(&p, training);
    launch(&p, "p");
    EXPECT(&p, "t", 1);
    ck_assert_double_eq_tol(var_at(&p, "net.w", 0), 1 - 0.5 * 1.1, 1e-6); /* gradient 1, decay 0.1 * 1 */
    ck_assert_double_eq_tol(var_at(&p, "net.b", 0), 2 - 0.5 * 3, 1e-6);   /* gradient 3, no decay */
    ck_assert_double_eq_tol(var_at(&p, "frozen_one.w", 0), 1, 1e-9);
    launch(&p, "p"); /* step 1: when is false */
    ck_assert_double_eq_tol(var_at(&p, "net.b", 0), 0.5, 1e-6);
    launch(&p, "p");
    ck_assert_double_eq_tol(var_at(&p, "net.b", 0), 0.5 - 0.5 * (0.5 * 3 + 3), 1e-6);
    launch(&p, "q");
    ck_assert_double_eq(output_at(&p, "q", "t", 0), 0);
    ck_assert_double_eq_tol(output_at(&p, "q", "w", 2), var_at(&p, "net.w", 2), 1e-9);
    ck_assert_uint_eq(p.g->trees.n, 2); /* train's and the rest */
    ck_assert_str_eq(p.g->trees.at[1].name, "rest");
    finish(&p);
}
END_TEST
/* The first step of Adam is lr * sign(gradient); norms run over all leaves, whatever the padding holds. */
START_TEST(test_trees)
{
    struct program p;
    once(&p, "gml 1\nimport opt\nlayer W(x) {\n param a: f32[3] = 1\n param b: f32[2, 2] = 2\n return sum(a "
             "* x) + sum(b)\n}\n"
             "layer probe(p, g) {\n metric norm = sqrt(sum(exp(g) * exp(g)))\n metric top = max(p) using "
             "last\n metric low = min(exp(p)) using last\n"
             " let q = opt.clip_each(g, 1.0)\n metric clipped = sum(q) using last\n return exp(p) - exp(p) + "
             "p - 0.5 * q\n}\n"
             "let net = W{}\nphase p {\n minimize loss = net(2 * ones([3])) over net using probe{}\n output "
             "l = loss_of()\n}\n"
             "fn loss_of() = sum(net.a)\nphase r { output m = p.norm, t = p.top, l = p.low, c = p.clipped }\n"
             "let other = W{}\nphase adam {\n minimize loss = other(2 * ones([3])) over other using "
             "opt.adam{0.25, eps = 0.0}\n}\n");
    launch(&p, "r");
    /* gradients: 2, 2, 2 and 1, 1, 1, 1 */
    ck_assert_double_eq_tol(output_at(&p, "r", "m", 0), sqrt(3 * exp(4) + 4 * exp(2)), 1e-4);
    ck_assert_double_eq_tol(output_at(&p, "r", "t", 0), 2, 1e-9);
    ck_assert_double_eq_tol(output_at(&p, "r", "l", 0), exp(1), 1e-5);
    ck_assert_double_eq_tol(output_at(&p, "r", "c", 0), sqrt(3) + 2, 1e-5);
    ck_assert_double_eq_tol(var_at(&p, "net.b", 0), 2 - 0.25, 1e-5);
    launch(&p, "adam");
    ck_assert_double_eq_tol(var_at(&p, "other.a", 1), 0.75, 1e-5);
    ck_assert_double_eq_tol(var_at(&p, "other.b", 3), 1.75, 1e-5);
    finish(&p);
}
END_TEST
/* Parameters and states of any float type train: the flat block has their type, and a schedule, which is f32,
 * takes it beside the tree. All values are ones that bf16 holds, so nothing is lost. */
START_TEST(test_float_types)
{
    static const char *const types[] = {"bf16", "f64", "f32"};
    for (int i = 0; i < 3; i++) {
        struct program p;
        char text[2048];
        const char *t = types[i];
        snprintf(
            text, sizeof text,
            "gml 1\nimport opt\nlayer W(x) {\n param a: %s[3] = 1\n param b: %s[2, 2] = 2  tag no_decay\n"
            " state n: %s = 0\n next n = n + 0.5\n return sum(a * x) + sum(b)\n}\n"
            "let net = W{}\nlet other = W{}\n"
            "phase p {\n minimize loss = net(%s(2 * ones([3]))) over net using opt.sgd{lr = 0.25 * f32(step "
            "+ 1), "
            "decay = 0.5}\n"
            " output ties = f32(bf16(1 + f32(iota(4)) * 0.00390625)), wide = f64(iota(2)) / 4\n}\n"
            "phase q {\n minimize loss = other(%s(2 * ones([3]))) over other using opt.adam{0.25, eps = 0.0, "
            "clip = "
            "100.0}\n}\n",
            t, t, t, t, t);
        start(&p, text);
        launch(&p, "p");
        ck_assert_double_eq(var_at(&p, "net.a", 1), 1 - 0.25 * 2.5);
        ck_assert_double_eq(var_at(&p, "net.b", 3), 1.75);
        launch(&p, "p");
        ck_assert_double_eq(var_at(&p, "net.a", 2), -0.71875);
        ck_assert_double_eq(var_at(&p, "net.b", 0), 1.25);
        ck_assert_double_eq(var_at(&p, "net.n", 0), 1);
        EXPECT(&p, "ties", 1, 1, 1.0078125, 1.015625);
        EXPECT(&p, "wide", 0, 0.25);
        launch(&p, "q");
        ck_assert_double_eq_tol(var_at(&p, "other.a", 0), 0.75, 0.008);
        ck_assert_str_eq(dtype_name(p.g->vars.at[graph_find_var(p.g, "other.a")].type.dtype), t);
        finish(&p);
    }
}
END_TEST
START_TEST(test_normalisation)
{
    struct program p;
    once(&p, "gml 1\nimport nn\nlet norm = nn.LayerNorm{}\nlet rms = nn.RMSNorm{eps = 0.0}\nphase p {\n"
             " let x = reshape(f32(iota(4)), [2, 2])\n output y = norm(x), z = rms(x), h = nn.huber(x[1] - "
             "2.5), m = nn.mse(x, x + 2)\n"
             " output c = clamp(x, 1, 2), l = lerp(x[0], x[1], 0.5), d = nn.dropout{0.5}(x), w = where(x > "
             "1, x, -x)\n}\n");
    double r = 0.5 / sqrt(0.25 + 1e-5);
    EXPECT(&p, "y", -r, r, -r, r);
    EXPECT(&p, "z", 0, sqrt(2), 2 / sqrt(6.5), 3 / sqrt(6.5));
    EXPECT(&p, "h", 0.125, 0.125);
    EXPECT(&p, "m", 4);
    EXPECT(&p, "c", 1, 1, 2, 2);
    EXPECT(&p, "l", 1, 2);
    EXPECT(&p, "d", 0, 1, 2, 3);
    EXPECT(&p, "w", 0, -1, 2, 3);
    finish(&p);
}
END_TEST
/* Two networks learn in one phase, both from the old values; their optimizers report under different names.
 */
START_TEST(test_two_minimizes)
{
    struct program p;
    once(&p,
         "gml 1\nimport nn\nimport opt\nlayer Two(x) {\n let emb = x |> emb: nn.Embedding{V = 3, D = 2, init "
         "= ones_of}\n"
         " return emb |> ff: nn.FeedForward{width = 4} |> glu: nn.GLU{2}\n}\nfn ones_of(s, i, o) = ones(s)\n"
         "layer W() {\n param w: f32[] = 3\n return w\n}\nlet a = W{}\nlet b = W{}\nlet net = Two{}\n"
         "let adam = opt.adamw{0.5, eps = 0.0, decay = 0.0}\n"
         "phase p {\n minimize first = a() * b() over a using opt.sgd{1}\n minimize second = a() * b() over "
         "b using adam\n"
         " output y = net(iota(3)), n = adam.n\n}\n");
    const struct phase *f = &p.g->phases.at[1];
    ck_assert_double_eq_tol(var_at(&p, "a.w", 0), 0, 1e-6);
    ck_assert_double_eq_tol(var_at(&p, "b.w", 0), 2.5, 1e-5);
    ck_assert_double_eq(var_at(&p, "adam.n", 0), 1);
    ck_assert_int_eq(output_size(&p, "p", "y"), 6);
    ck_assert_uint_eq(p.g->trees.n, 3); /* a, b and the rest */
    ck_assert_uint_eq(f->metrics.n, 4);
    ck_assert_str_eq(f->metrics.at[1].name, "first.grad_norm");
    ck_assert_str_eq(f->metrics.at[3].name, "adam.grad_norm");
    finish(&p);
}
END_TEST
static void expect_metrics(const struct program *p, const char *phase, const char *names)
{
    const struct phase *f = &p->g->phases.at[graph_find_phase(p->g, phase)];
    char all[256] = "";
    for (uint32_t i = 0; i < f->metrics.n; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? " " : "", f->metrics.at[i].name);
    }
    ck_assert_str_eq(all, names);
}
/* Metrics of instances: the plain name where it is the only one; else that of the minimize or instance in
 * front of each, and all of the path where two have that in common. Text reads them by these names. */
START_TEST(test_names_of_metrics)
{
    struct program p;
    start(&p,
          "gml 1\nlayer W() {\n param w: f32[] = 3\n metric seen = w using last\n return w\n}\n"
          "layer Plain(p, g) {\n metric norm = sum(g) using last\n return p - g\n}\n"
          "layer Round{inner}(p, g) {\n metric norm = 3 * sum(g) using last\n return inner(p, g)\n}\n"
          "let near = W{}\nlet far = W{}\nlet left = W{}\nlet right = W{}\nlet plain = Plain{}\n"
          "phase one { minimize l = near() over near using Plain{} }\n"
          "phase two {\n minimize l = near() over near using plain\n"
          " minimize m = 2 * far() over far using Plain{}\n}\n"
          "phase three {\n minimize l = near() over near using Round{Plain{}}\n metric seen = 7\n}\n"
          "phase p {\n output a = one.norm, b = two.plain.norm, c = two.m.norm, d = three.opt.three.l.norm\n"
          " metric s = left() + left() + right() + left()\n}\n");
    expect_metrics(&p, "one", "seen l norm");
    expect_metrics(&p, "two", "near.seen l plain.norm far.seen m m.norm");
    expect_metrics(&p, "three", "near.seen l opt.three.l.norm opt.three.l.inner.norm seen");
    expect_metrics(&p, "p", "left.seen left.seen#1 right.seen left.seen#2 s");
    launch(&p, "one");
    launch(&p, "two");
    launch(&p, "three");
    launch(&p, "p");
    EXPECT(&p, "a", 1);
    EXPECT(&p, "b", 1);
    EXPECT(&p, "c", 2);
    EXPECT(&p, "d", 3);
    finish(&p);
}
END_TEST
/* Every operator that ops.def names for users is known by that name. */
START_TEST(test_every_operator_is_callable)
{
    for (int op = 1; op < OP_COUNT; op++) {
        if (!op_table[op].dsl || !*op_table[op].dsl) {
            continue;
        }
        struct program p;
        char text[256];
        snprintf(text, sizeof text, "gml 1\nphase p {\n let f = %s\n}\n", op_table[op].dsl);
        compile_with(&p, text, NULL, 0);
        ck_assert_msg(p.g != NULL, "`%s` is unknown to the compiler", op_table[op].dsl);
        arena_free(p.a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("meaning");
    tcase_add_test(t, test_numbers);
    tcase_add_test(t, test_live_whole_numbers);
    tcase_add_test(t, test_broadcasting);
    tcase_add_test(t, test_indexing);
    tcase_add_test(t, test_reductions);
    tcase_add_test(t, test_records);
    tcase_add_test(t, test_ticks);
    tcase_add_test(t, test_layers);
    tcase_add_test(t, test_minimize);
    tcase_add_test(t, test_trees);
    tcase_add_test(t, test_float_types);
    tcase_add_test(t, test_normalisation);
    tcase_add_test(t, test_two_minimizes);
    tcase_add_test(t, test_names_of_metrics);
    tcase_add_test(t, test_every_operator_is_callable);
    return suite_run("meaning", t, CK_NOFORK);
}
