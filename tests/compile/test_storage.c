/* What instances own and what ticks commit, run on the CPU: arrays of instances, frozen copies, `next` of
 * parameters, indexed updates. Outputs are compared with numbers worked out by hand, gradients with central
 * differences in f64 (to 1e-6 of the largest). */
#include <math.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

static void once(struct program *p, const char *text)
{
    start(p, text);
    launch(p, "p");
}
static void twice(struct program *p, const char *text)
{
    once(p, text);
    launch(p, "p");
}
static char *element_of(struct program *p, const char *key, int64_t i)
{
    uint32_t v = graph_find_var(p->g, key);
    ck_assert_msg(v != 0, "no variable %s", key);
    return p->memory + p->plan->var[v].offset + (size_t)i * dtype_size(p->g->vars.at[v].type.dtype);
}
/* The gradient of `loss` of phase `p` by `key`: phase `train` moves by a rate of 1. */
static void check_gradient(const char *text, const char *key, int64_t n)
{
    struct program p;
    double old[16], found[16], h = 1e-5, largest = 1e-3;
    ck_assert_ptr_nonnull(compile_with(&p, text, NULL, 0));
    graph_set_precision(p.g, DT_F64);
    begin(&p);
    for (int64_t i = 0; i < n; i++) {
        old[i] = var_at(&p, key, i);
    }
    char *before = malloc(p.plan->bytes);
    memcpy(before, p.memory, p.plan->bytes);
    launch(&p, "train");
    for (int64_t i = 0; i < n; i++) {
        found[i] = old[i] - var_at(&p, key, i);
        largest = fabs(found[i]) > largest ? fabs(found[i]) : largest;
    }
    memcpy(p.memory, before, p.plan->bytes);
    free(before);
    ck_assert_msg(largest > 1e-2, "the gradient by %s is nothing", key);
    for (int64_t i = 0; i < n; i++) {
        double loss[2];
        for (int side = 0; side < 2; side++) {
            double x = old[i] + (side ? h : -h);
            memcpy(element_of(&p, key, i), &x, 8);
            ck_assert_int_eq(backend_cpu.upload(p.e, 0, p.memory, p.plan->bytes), ST_OK);
            launch(&p, "p");
            loss[side] = output_at(&p, "p", "loss", 0);
        }
        memcpy(element_of(&p, key, i), &old[i], 8);
        double want = (loss[1] - loss[0]) / (2 * h);
        ck_assert_msg(fabs(want - found[i]) < 1e-6 * largest, "%s[%ld]: gradient %.12g, difference %.12g",
                      key, (long)i, found[i], want);
    }
    finish(&p);
}

/* -- arrays */

#define SCALE                                                                                                \
    "gml 1\nimport opt\n"                                                                                    \
    "layer Scale{by}(x: f32[N]) -> f32[N] {\n param w: f32[N] = by\n return x * w\n}\n"                      \
    "layer Add{by}(x: f32[N]) -> f32[N] {\n param b: f32[N] = by\n return x + b\n}\n"                        \
    "layer Deep{n: int}(x) {\n let blocks = Scale{2.0}[n]\n for (b in blocks) { x = b(x) }\n return x\n}\n"

START_TEST(test_arrays)
{
    struct program p;
    once(&p,
         SCALE "fn grow() = 3.0\nlet net = Deep{3}\nlet many = Scale{grow()}[2]\nlet none = Add{1.0}[0]\n"
               "let mixed = append(append([], Scale{5.0}[1][0]), none)\n"
               "phase p {\n let x = f32(iota(2)) + 1\n let y = net(x)\n let z = many[1](many[0](x))\n"
               " output y = y, z = z, n = len(many), last = many[-1].w, m = len(none)\n"
               " output total = sum(many), twice = (2 * many)[1].w, part = net.blocks[1].w\n"
               " output both = sum(params(many)[0].w), rest = len(many[1:]), inner = len(net.blocks)\n}\n");
    EXPECT(&p, "y", 8, 16);
    EXPECT(&p, "z", 9, 18);
    EXPECT(&p, "n", 2);
    EXPECT(&p, "m", 0);
    EXPECT(&p, "last", 3, 3);
    EXPECT(&p, "total", 12);
    EXPECT(&p, "twice", 6, 6);
    EXPECT(&p, "part", 2, 2);
    EXPECT(&p, "both", 6);
    EXPECT(&p, "rest", 1);
    EXPECT(&p, "inner", 3);
    ck_assert_float_eq((float)var_at(&p, "net.blocks.2.w", 0), 2);
    ck_assert_float_eq((float)var_at(&p, "many.1.w", 0), 3);
    finish(&p);
}
END_TEST
/* Braces are evaluated for each instance: what they draw differs, and instances in them are apart. */
START_TEST(test_array_braces)
{
    struct program p;
    once(&p, "gml 1\nlayer In{}(x: f32[N]) -> f32[N] {\n param w: f32[N] = 3\n return x * w\n}\n"
             "layer Out{f}(x) {\n param b: f32[2] ~ rand.uniform\n return f(x) + b\n}\n"
             "let net = Out{In{}}[2]\nphase p {\n let x = ones([2])\n"
             " output y = net[0](x) - net[0].b, z = net[1](x) - net[1].b, d = sum(abs(net[0].b - net[1].b)) "
             "> 0\n}\n");
    EXPECT(&p, "y", 3, 3);
    EXPECT(&p, "z", 3, 3);
    EXPECT(&p, "d", 1);
    ck_assert_float_eq((float)var_at(&p, "net.0.f.w", 0), 3);
    ck_assert_float_eq((float)var_at(&p, "net.1.f.w", 0), 3);
    finish(&p);
}
END_TEST
/* `over` a list, a part of an instance, a parameter; leaves by name in the optimizer. */
START_TEST(test_over)
{
    struct program p;
    once(&p, SCALE
         "layer Two(x) {\n for (i in 0..2) as fc { x = x |> s: Scale{2.0} }\n return x |> a: Add{1.0}\n}\n"
         "layer Plain{}(p, g) {\n let n = p.many[1].w\n return p - n[0] * g\n}\n"
         "let many = Scale{1.0}[2]\nlet net = Two{}\nlet tied = Scale{4.0}\n"
         "phase p {\n let x = ones([2])\n"
         " minimize a = sum(many[1](many[0](x))) over many using Plain{}\n"
         " minimize b = sum(net(x)) over net.fc using opt.sgd{1.0}\n"
         " minimize c = sum(tied(x)) over tied.w using opt.sgd{0.5}\n}\n");
    ck_assert_float_eq((float)var_at(&p, "many.0.w", 0), 0);
    ck_assert_float_eq((float)var_at(&p, "net.fc.0.s.w", 1), 0);
    ck_assert_float_eq((float)var_at(&p, "net.fc.1.s.w", 0), 0);
    ck_assert_float_eq((float)var_at(&p, "net.a.b", 0), 1);
    ck_assert_float_eq((float)var_at(&p, "tied.w", 0), 3.5);
    finish(&p);
}
END_TEST

/* Parts of what another minimize moves: they move alone, also two of them in one phase, in either order of
 * text. */
START_TEST(test_over_parts)
{
    struct program p;
    start(&p, SCALE
          "layer Two(x) {\n for (i in 0..2) as fc { x = x |> s: Scale{2.0} }\n return x |> a: Add{1.0}\n}\n"
          "layer Decay{}(p, g) {\n state m: p = 1\n next m = m + g\n"
          " return p - 0.5 * g - where(tagged(p, \"no_decay\"), 0.0, 0.25) * p + 0 * sum(g ^ 2) * m\n}\n"
          "let net = Two{}\nlet other = Scale{5.0}\nlet copy = frozen(net)\nfn loss() = sum(net(ones([2])) + "
          "other(ones([2])))\n"
          "phase head {\n minimize a = loss() over net.a using Decay{}\n minimize f = loss() over "
          "net.fc[1].s using opt.sgd{1.0}\n}\n"
          "phase all { minimize loss = loss() over net using opt.sgd{0.0} }\n"
          "phase careful { minimize loss = loss() over net.fc using opt.adamw{lr = 0.0, clip = 1.0} }\n"
          "phase p { output far = max(abs(net - copy)) }\n");
    launch(&p, "head");
    ck_assert_float_eq((float)var_at(&p, "net.a.b", 0), 1 - 0.5F - 0.25F);
    ck_assert_float_eq((float)var_at(&p, "net.fc.1.s.w", 1), 0); /* 2 - the gradient 2 */
    ck_assert_float_eq((float)var_at(&p, "net.fc.0.s.w", 0), 2);
    ck_assert_float_eq((float)var_at(&p, "other.w", 0), 5);
    ck_assert_float_eq((float)var_at(&p, "opt.head.a.m.b", 0), 2);
    launch(&p, "careful");
    launch(&p, "all");
    launch(&p, "p");
    EXPECT(&p, "far", 2);
    finish(&p);
}
END_TEST

/* -- frozen copies, parameters as values */

#define NET                                                                                                  \
    "gml 1\nimport opt\nimport nn\n"                                                                         \
    "layer Net{H: dim}(x: f32[B, I]) -> f32[B, 1] {\n state seen: f32 = 7\n"                                 \
    " if (training) { next seen = seen + 1 }\n"                                                              \
    " for (i in 0..2) as fc { x = x |> lin: nn.Linear{H} |> tanh |> nn.dropout{0.5} }\n"                     \
    " return x |> head: nn.Linear{1}\n}\n"                                                                   \
    "let net = Net{3}\nlet ema = frozen(net)\n"

START_TEST(test_frozen)
{
    struct program p;
    start(
        &p, NET
        "phase show { output y = ema(ones([2, 2])) }\n"
        "phase train {\n minimize loss = mean((net(ones([4, 2])) - 1)^2) + 0 * mean(ema(ones([4, 2]))) over "
        "net using opt.sgd{0.1}\n"
        " output quiet = mean(abs(ema(ones([4, 2])) - ema(ones([4, 2]))))\n}\n"
        "phase same { output far = max(abs(ema - net)), own = sum(abs(ema.fc[1].lin.w - net.fc[1].lin.w)) }\n"
        "phase copy {\n next ema = net\n next states(ema) = states(net)\n}\n"
        "phase track { next ema = lerp(ema, net, 0.25) }\n");
    launch(&p, "same"); /* first values are equal, although the copy was applied first */
    ck_assert_float_eq((float)output_at(&p, "same", "far", 0), 0);
    float w = (float)var_at(&p, "ema.fc.0.lin.w", 0), before = (float)var_at(&p, "net.fc.0.lin.w", 0);
    ck_assert_float_eq(w, before);
    launch(&p, "train");
    ck_assert_float_eq((float)output_at(&p, "train", "quiet", 0), 0); /* no dropout inside */
    float after = (float)var_at(&p, "net.fc.0.lin.w", 0);
    ck_assert_float_ne(after, before);
    ck_assert_float_eq((float)var_at(&p, "ema.fc.0.lin.w", 0), w);
    ck_assert_float_eq((float)var_at(&p, "ema.seen", 0), 7);
    launch(&p, "track");
    ck_assert_float_eq_tol((float)var_at(&p, "ema.fc.0.lin.w", 0), w + 0.25F * (after - w), 1e-6F);
    launch(&p, "copy");
    launch(&p, "same");
    ck_assert_float_eq((float)output_at(&p, "same", "far", 0), 0);
    ck_assert_float_eq((float)output_at(&p, "same", "own", 0), 0);
    ck_assert_float_eq((float)var_at(&p, "ema.seen", 0), 8);
    finish(&p);
}
END_TEST
/* One operation over the block of an instance and its copy, not one for each leaf. */
START_TEST(test_frozen_is_one_block)
{
    struct program p;
    start(&p, NET "phase train { minimize loss = mean(net(ones([4, 2]))) over net using opt.sgd{0.1} }\n"
                  "phase track { next ema = lerp(ema, net, 0.25) }\n");
    const struct plan_variant *v = plan_find(p.plan, (uint32_t)graph_find_phase(p.g, "track"), false);
    ck_assert_uint_le(v->n_op, 4);
    for (uint32_t i = 0; i < p.plan->n_copy; i++) {
        ck_assert_uint_ne(p.plan->copy[i].variant, (uint32_t)(v - p.plan->variant));
    }
    finish(&p);
}
END_TEST
START_TEST(test_averaged)
{
    struct program p;
    once(&p, SCALE "layer averaged{inner, into, rate}(p, g) {\n let q = inner(p, g)\n next into = lerp(into, "
                   "q, rate)\n return q\n}\n"
                   "let net = Deep{2}\nlet ema = frozen(net)\n"
                   "phase p {\n minimize loss = sum(net(ones([2]))) over net using averaged{opt.sgd{0.5}, "
                   "ema, 0.25}\n}\n"
                   "phase see { output y = ema(ones([2])) }\n");
    ck_assert_float_eq((float)var_at(&p, "net.blocks.0.w", 0), 1); /* 2 - 0.5 * 2 */
    ck_assert_float_eq((float)var_at(&p, "ema.blocks.1.w", 1), 1.75);
    launch(&p, "see");
    ck_assert_float_eq((float)output_at(&p, "see", "y", 0), 1.75F * 1.75F);
    finish(&p);
}
END_TEST
START_TEST(test_next_parameters)
{
    struct program p;
    twice(&p, SCALE
          "layer Own{}(x: f32[N]) -> f32[N] {\n param w: f32[N] = 1\n next w = w * 2\n return x * w\n}\n"
          "let own = Own{}\nlet many = Scale{3.0}[2]\nlet a = Scale{1.0}\n"
          "phase p {\n output y = own(ones([2]))\n"
          " let s = many[0](ones([2])) + many[1](ones([2])) + a(ones([2]))\n"
          " next many[1].w = many[0].w + many[1].w\n next params(a) = (w = s)\n}\n");
    EXPECT(&p, "y", 2, 2);
    ck_assert_float_eq((float)var_at(&p, "own.w", 0), 4);
    ck_assert_float_eq((float)var_at(&p, "many.0.w", 0), 3);
    ck_assert_float_eq((float)var_at(&p, "many.1.w", 0), 9);
    ck_assert_float_eq((float)var_at(&p, "a.w", 1), 3 + 6 + 7);
    finish(&p);
}
END_TEST
/* A part of an optimizer's state, by leaf and by place. */
START_TEST(test_next_moments)
{
    struct program p;
    start(&p, SCALE
          "layer Keep{}(p, g) {\n state m: p = 5\n return p - g\n}\nlet net = Deep{2}\nlet opt1 = Keep{}\n"
          "phase train { minimize loss = sum(net(ones([3]))) over net using opt1 }\n"
          "phase p {\n next opt1.m.blocks[0].w = where(net.blocks[0].w > 0, 0.0, 1.0)\n"
          " next opt1.m.blocks[1].w[1] = 9.0\n}\n"
          "phase look { output a = opt1.m.blocks[0].w, b = opt1.m.blocks[1].w }\n");
    launch(&p, "p");
    launch(&p, "look");
    ck_assert_float_eq((float)output_at(&p, "look", "a", 2), 0);
    ck_assert_float_eq((float)output_at(&p, "look", "b", 0), 5);
    ck_assert_float_eq((float)output_at(&p, "look", "b", 1), 9);
    finish(&p);
}
END_TEST
START_TEST(test_first_values)
{
    struct program p;
    once(&p, SCALE
         "layer Half{}(x: f32[N]) -> f32[N] {\n param w: f32[N] ~ rand.uniform\n param v: f32[N] = w / 2\n"
         " state s: w = v\n state r: (a: f32[2], b: f32[3])[2] ~ rand.uniform\n return x * (w - 2 * v) + s - "
         "v + mean(r.a) + mean(r.b)\n}\n"
         "let h = Half{}\nstate c: f32 = 3\nstate d = c + 1\n"
         "phase p {\n let y = h(ones([3]))\n output y = y - mean(h.r.a) - mean(h.r.b), d = d\n"
         " output apart = h.r.a[0, 0] != h.r.b[0, 0], drawn = min(h.r) > 0\n}\n");
    EXPECT(&p, "y", 0, 0, 0);
    EXPECT(&p, "d", 4);
    EXPECT(&p, "apart", 1);
    EXPECT(&p, "drawn", 1);
    finish(&p);
}
END_TEST
/* A phase may read parameters that one further down makes. */
START_TEST(test_later_parameters)
{
    struct program p;
    once(&p, SCALE "fn half(x) = x / 2\nlet net = Deep{2}\n"
                   "phase p {\n output w = net.blocks[1].w, total = sum(net), one = sum(each(half, net))\n "
                   "next net = each(half, net)\n}\n"
                   "phase train { minimize loss = sum(net(ones([2]))) over net using opt.sgd{1.0} }\n");
    EXPECT(&p, "w", 2, 2);
    EXPECT(&p, "total", 8);
    EXPECT(&p, "one", 4);
    ck_assert_float_eq((float)var_at(&p, "net.blocks.0.w", 1), 1);
    finish(&p);
}
END_TEST

/* -- indexed updates */

START_TEST(test_put)
{
    struct program p;
    once(&p, "gml 1\nconfig N: dim = 3\nphase p {\n let x = zeros([N, 4])\n let i = tensor([2, -1, 0])\n"
             " let a = x\n a[1] = f32(iota(4))\n a[-1, 2] = 7\n"
             " let b = x\n b[:, 1:3] = 5.0\n b[0, ::2] = tensor([1.0, 2.0])\n"
             " let c = x\n c[i, 3] = tensor([1.0, 2.0, 3.0])\n c[i] = c[i] + 1\n"
             " let d = zeros([2, N, 2])\n d[:, i] = f32(reshape(iota(12), [2, 3, 2]))\n"
             " let e = zeros([2, 2, N])\n e[.., i[0]] = tensor([[1.0, 2.0], [3.0, 4.0]])\n"
             " let r = (p = zeros([2]), q = zeros([2, 2]))\n r[0] = (p = tensor(8.0), q = ones([2]))\n "
             "r.q[1, 1] = 9\n"
             " let l = [1, 2, 3]\n l[-1] = 5\n let w = x[0]\n w[:] = 4\n"
             " let z = tensor([3, 3, 3])\n z[tensor([1, 1])] = tensor([6, 7])\n"
             " output x = sum(x), a = a, b = b, c = c, d = d, e = e, p = r.p, q = r.q, l = tensor(l), w = w, "
             "z = z\n}\n");
    EXPECT(&p, "x", 0);
    EXPECT(&p, "a", 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 7, 0);
    EXPECT(&p, "b", 1, 5, 2, 0, 0, 5, 5, 0, 0, 5, 5, 0);
    EXPECT(&p, "c", 1, 1, 1, 4, 0, 0, 0, 0, 1, 1, 1, 2);
    EXPECT(&p, "d", 4, 5, 0, 0, 0, 1, 10, 11, 0, 0, 6, 7);
    EXPECT(&p, "e", 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4);
    EXPECT(&p, "p", 8, 0);
    EXPECT(&p, "q", 1, 1, 0, 9);
    EXPECT(&p, "l", 1, 2, 5);
    EXPECT(&p, "w", 4, 4, 4, 4);
    EXPECT(&p, "z", 3, 7, 3);
    finish(&p);
}
END_TEST
/* An index outside of its axis stops the run, also where several axes become one. */
START_TEST(test_put_outside)
{
    static const char *const updates[] = {"x[i] = 1", "x[i, 0] = 1", "x[0, i] = 1", "x[:, i] = 1"};
    for (size_t k = 0; k < 4; k++) {
        struct program p;
        char text[256];
        snprintf(
            text, sizeof text,
            "gml 1\nstate n: i32 = 4\nphase p {\n let i = n\n let x = zeros([3, 3])\n %s\n output x = x\n}\n",
            updates[k]);
        start(&p, text);
        int i = graph_find_phase(p.g, "p");
        uint32_t v = (uint32_t)(plan_find(p.plan, (uint32_t)i, false) - p.plan->variant);
        backend_cpu.launch(p.e, v, true);
        backend_cpu.sync(p.e);
        backend_cpu.download(p.e, 0, p.memory, p.plan->bytes);
        ck_assert_msg(control_of(&p)->fault.code == FAULT_INDEX, "%s: no fault", updates[k]);
        finish(&p);
    }
}
END_TEST
/* Indexed nexts of one tick add up in the order of the text; reads are of the old value. */
START_TEST(test_next_index)
{
    struct program p;
    twice(&p, "gml 1\nstate s: f32[4] = 1\nstate r: (a: f32, b: i32[2])[3] = 0\nstate head: i32 = 0\nstate "
              "t: f32[2] = 0\n"
              "phase p {\n next s[0] = s[0] + 1\n next s[1:3] = s[0] + 10\n next s[2] = 7.0\n"
              " next r[head] = (a = 5.0, b = tensor([1, 2]) + head)\n next head = (head + 1) % 3\n"
              " next t = t + 1\n next t[0] = 50.0\n next r.a[2] = 6.0\n output s = s, ra = r.a\n}\n");
    EXPECT(&p, "s", 2, 11, 7, 1); /* before the second tick commits */
    EXPECT(&p, "ra", 5, 0, 6);
    ck_assert_float_eq((float)var_at(&p, "s", 0), 3);
    ck_assert_float_eq((float)var_at(&p, "s", 1), 12);
    ck_assert_float_eq((float)var_at(&p, "s", 2), 7);
    ck_assert_float_eq((float)var_at(&p, "r.a", 1), 5);
    ck_assert_float_eq((float)var_at(&p, "r.b", 3), 3);
    ck_assert_float_eq((float)var_at(&p, "t", 0), 50);
    ck_assert_float_eq((float)var_at(&p, "t", 1), 2);
    finish(&p);
}
END_TEST
/* A row of a large state is written where it is: no copy, whatever reads the old value before. */
START_TEST(test_next_index_in_place)
{
    struct program p;
    twice(&p, "gml 1\nimport opt\n"
              "layer Ring{row, rows: dim, n: dim} {\n state buf: row[rows, n] = 0\n state head: i32 = 0\n"
              " fn push(x) {\n  next buf[head] = x\n  next head = (head + 1) % rows\n }\n"
              " fn at(t, c) = buf[t % rows, c]\n"
              " fn mark(i, c, v) { next buf.o[i, c] = v }\n}\n"
              "layer W(x: f32[N]) -> f32[N] {\n param w: f32[N] = 2\n return x * w\n}\nlet net = W{}\n"
              "let ring = Ring{(o: f32[3], a: i32), 1000, 4}\n"
              "phase p {\n let i = tensor([0, 1])\n output old = ring.at(i, i).o[1]\n"
              " ring.push((o = ones([4, 3]) + ring.at(i, i).o[0, 0], a = iota(4)))\n}\n"
              "phase learn {\n let i = tensor([0, 1])\n let x = ring.at(i, i)\n"
              " minimize loss = mean(net(x.o[:, 0])) over net using opt.sgd{0.1}\n"
              " ring.mark(i, i, x.o + 1)\n ring.mark(i + 4, i, x.o + 2)\n}\n");
    EXPECT(&p, "old", 0, 0, 0);
    launch(&p, "learn");
    ck_assert_float_eq((float)var_at(&p, "ring.buf.o", 12), 2);
    ck_assert_float_eq((float)var_at(&p, "ring.buf.o", 0), 2);
    ck_assert_float_eq((float)var_at(&p, "ring.buf.o", 12 + 3), 3); /* row 1, column 1: 2 + 1 */
    ck_assert_float_eq((float)var_at(&p, "ring.buf.o", 4 * 12), 3);
    ck_assert_float_eq((float)var_at(&p, "ring.buf.a", 4 + 2), 2);
    for (uint32_t i = 0; i < p.plan->n_copy; i++) {
        bool init = !p.plan->variant[p.plan->copy[i].variant].phase;
        ck_assert_msg(init || p.plan->copy[i].bytes < 4000, "%lu bytes are copied: %s",
                      (unsigned long)p.plan->copy[i].bytes, p.plan->copy[i].why);
    }
    for (uint32_t v = 0; v < p.plan->n_variant; v++) {
        const struct plan_variant *pv = &p.plan->variant[v];
        bool init = p.g->phases.at[pv->phase].kind == PHASE_INIT;
        for (uint32_t i = 0; !init && i < pv->n_op; i++) { /* and nothing else walks over it */
            const struct kargs *k = &pv->op[i].k;
            bool put = pv->op[i].op == OP_put;
            ck_assert_msg(operand_count(&k->out[0]) < 4000 || (put && k->out[0].offset == k->in[0].offset),
                          "phase %s: %s of node %u writes %ld elements", p.g->phases.at[pv->phase].name,
                          op_table[pv->op[i].op].name, pv->op[i].node, (long)operand_count(&k->out[0]));
        }
    }
    finish(&p);
}
END_TEST
START_TEST(test_put_gradients)
{
    static const char text[] =
        "gml 1\nimport opt\nlayer W{}(x: f32[N]) -> f32[N] {\n param w: f32[N] ~ rand.uniform\n"
        " let y = expand(w^2, [3, N])\n y[1] = sin(w)\n y[:, 0:2] = y[:, 1:3] * w[0]\n y[tensor([0, 2]), 2] "
        "= "
        "exp(w[0:2])\n"
        " return x * sum(y * y[0, 2], axis = 0)\n}\n"
        "let net = W{}\nlet deep = W{}[2]\nfn loss() = sum(net(tensor([1.0, 2.0, -1.0, 0.5]))) + "
        "sum(deep[1](deep[0](ones([4]))))\n"
        "phase p { output loss = loss() }\n"
        "phase train {\n minimize a = loss() over net, deep using opt.sgd{1.0}\n}\n";
    check_gradient(text, "net.w", 4);
    check_gradient(text, "deep.0.w", 4);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("storage");
    tcase_add_test(t, test_arrays);
    tcase_add_test(t, test_array_braces);
    tcase_add_test(t, test_over);
    tcase_add_test(t, test_over_parts);
    tcase_add_test(t, test_frozen);
    tcase_add_test(t, test_frozen_is_one_block);
    tcase_add_test(t, test_averaged);
    tcase_add_test(t, test_next_parameters);
    tcase_add_test(t, test_next_moments);
    tcase_add_test(t, test_first_values);
    tcase_add_test(t, test_later_parameters);
    tcase_add_test(t, test_put);
    tcase_add_test(t, test_put_outside);
    tcase_add_test(t, test_next_index);
    tcase_add_test(t, test_next_index_in_place);
    tcase_add_test(t, test_put_gradients);
    return suite_run("storage", t, CK_NOFORK);
}
