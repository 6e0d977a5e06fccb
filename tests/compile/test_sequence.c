/* Convolutions, attention, state space scans, matrix memories and splines, run on the CPU and compared with
 * loops in f64 that follow their definitions step by step. The inputs are outputs too. Tolerance: 2e-5 of
 * max(1, |want|). */
#include <math.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

static struct program p;
static double get(const char *name, int64_t i)
{
    return output_at(&p, "p", name, i);
}
static void near_to(const char *name, int64_t i, double want)
{
    double got = get(name, i);
    if (!(fabs(got - want) <= 2e-5 * fmax(1, fabs(want)))) {
        ck_abort_msg("%s[%ld] is %.9g, expected %.9g", name, (long)i, got, want);
    }
}
static void once(const char *text)
{
    start(&p, text);
    launch(&p, "p");
}

/* x[2, 6, 5, 4], w[3, 2, 4 / groups, 6] */
static void check_conv2d(const char *name, const char *w, int stride, int pad, int dilation, int groups)
{
    int h = (6 + 2 * pad - 2 * dilation - 1) / stride + 1, v = (5 + 2 * pad - dilation - 1) / stride + 1,
        each = 4 / groups;
    ck_assert_int_eq(output_size(&p, "p", name), 2 * h * v * 6);
    for (int i = 0; i < 2 * h * v * 6; i++) {
        int o = i % 6, col = i / 6 % v, row = i / 6 / v % h, n = i / 6 / v / h, g = o / (6 / groups);
        double sum = 0;
        for (int t = 0; t < 3 * 2 * each; t++) {
            int c = t % each, b = t / each % 2, a = t / each / 2;
            int y = row * stride + a * dilation - pad, x = col * stride + b * dilation - pad;
            if (y >= 0 && y < 6 && x >= 0 && x < 5) {
                sum += get("x", ((n * 6 + y) * 5 + x) * 4 + g * each + c) * get(w, t * 6 + o);
            }
        }
        near_to(name, i, sum);
    }
}
START_TEST(test_convolutions)
{
    once(
        "gml 1\nphase p {\n let x = rand.normal([2, 6, 5, 4])\n let w = rand.normal([3, 2, 4, 6])\n"
        " let u = rand.normal([3, 2, 2, 6])\n let z = rand.normal([2, 7, 4])\n let k = rand.normal([3, 1, "
        "4])\n"
        " output x = x, w = w, u = u, z = z, k = k, a = conv2d(x, w), b = conv2d(x, w, stride = 2, pad = 1)\n"
        " output c = conv2d(x, w, dilation = 2, pad = 2), d = conv2d(x, u, groups = 2, pad = 1)\n"
        " output e = conv1d(z, k, groups = 4, causal = true), f = conv1d(z, rand.normal([1, 4, 3]))\n}\n");
    check_conv2d("a", "w", 1, 0, 1, 1);
    check_conv2d("b", "w", 2, 1, 1, 1);
    check_conv2d("c", "w", 1, 2, 2, 1);
    check_conv2d("d", "u", 1, 1, 1, 2);
    ck_assert_int_eq(output_size(&p, "p", "f"), 2 * 7 * 3);
    for (int i = 0; i < 2 * 7 * 4; i++) {
        double sum = 0;
        for (int t = 0; t < 3; t++) {
            sum += i / 4 % 7 - 2 + t >= 0 ? get("z", i - (2 - t) * 4) * get("k", t * 4 + i % 4) : 0;
        }
        near_to("e", i, sum);
    }
    finish(&p);
}
END_TEST
START_TEST(test_causal_past)
{
    once("gml 1\nphase p {\n let x = rand.normal([2, 5, 3])\n let w = rand.normal([3, 4])\n let b = "
         "rand.normal([3])\n"
         " let (y, last) = causal_conv1d(x, w, b)\n let (u, l1) = causal_conv1d(x[:, :2], w, b)\n"
         " let (v, l2) = causal_conv1d(x[:, 2:], w, b, l1)\n"
         " output x = x, w = w, b = b, y = y, last = last, same = concat(u, v, axis = 1) - y, end = l2 - "
         "last\n}\n");
    for (int i = 0; i < 2 * 5 * 3; i++) {
        double sum = get("b", i % 3);
        for (int t = 0; t < 4; t++) {
            sum += i / 3 % 5 - 3 + t >= 0 ? get("x", i - (3 - t) * 3) * get("w", i % 3 * 4 + t) : 0;
        }
        near_to("y", i, sum);
        near_to("same", i, 0);
    }
    for (int i = 0; i < 2 * 3 * 3; i++) {
        near_to("last", i, get("x", i / 9 * 15 + 6 + i % 9));
        near_to("end", i, 0);
    }
    finish(&p);
}
END_TEST
/* Segments 0..3, 4..5 and 0, 1..5 of six places, read from the first place on and in two parts. */
START_TEST(test_causal_segments)
{
    once("gml 1\nphase p {\n let x = rand.normal([2, 6, 3])\n let w = rand.normal([3, 4])\n"
         " let past = rand.normal([2, 3, 3])\n"
         " let seg = stack([iota(6) // 4 + 7, min(iota(6), 1)])\n"
         " let (y, last) = causal_conv1d(x, w, none, past, seg)\n"
         " let (u, l1) = causal_conv1d(x[:, :2], w, none, past, seg[:, :2])\n"
         " let (v, l2) = causal_conv1d(x[:, 2:], w, none, l1, seg[:, 2:])\n"
         " output x = x, w = w, past = past, seg = seg, y = y, last = last\n"
         " output same = concat(u, v, axis = 1) - y, end = l2 - last\n}\n");
    for (int i = 0; i < 2 * 6 * 3; i++) {
        int c = i % 3, t = i / 3 % 6, b = i / 18;
        double sum = 0;
        for (int k = 0; k < 4; k++) { /* k places back */
            bool in = t - k >= 0, own = true;
            for (int j = t - k < 0 ? 0 : t - k; j < t; j++) {
                own &= get("seg", b * 6 + j) == get("seg", b * 6 + j + 1);
            }
            double seen = in ? get("x", i - 3 * k) : get("past", (b * 3 + 3 + t - k) * 3 + c);
            sum += own ? seen * get("w", c * 4 + 3 - k) : 0;
        }
        near_to("y", i, sum);
        near_to("same", i, 0);
    }
    for (int i = 0; i < 2 * 3 * 3;
         i++) { /* the last three places: 3 is of another segment in the first row */
        near_to("last", i, i < 3 ? 0 : get("x", i / 9 * 18 + 9 + i % 9));
        near_to("end", i, 0);
    }
    finish(&p);
}
END_TEST

/* q[2, 2, 3, 4], k[2, 2, 5, 4], v[2, 2, 5, 6]: row i sees the places for which sees(i, j). */
static bool all_of(int i, int j)
{
    return i >= 0 && j >= 0;
}
static bool up_to(int i, int j)
{
    return j <= i + 2;
}
static bool odd_to(int i, int j)
{
    return j % 2 == 1 && j <= i + 2;
}
static bool none_of(int i, int j)
{
    return i < 0 && j < 0;
}
static void check_attention(const char *name, bool (*sees)(int, int), double scale)
{
    for (int r = 0; r < 2 * 2 * 3 * 6; r++) {
        int e = r % 6, i = r / 6 % 3, lead = r / 18;
        double sum = 0, total = 0;
        for (int j = 0; j < 5; j++) {
            double dot = 0;
            for (int d = 0; d < 4; d++) {
                dot += get("q", (lead * 3 + i) * 4 + d) * get("k", (lead * 5 + j) * 4 + d);
            }
            sum += sees(i, j) ? exp(dot * scale) : 0;
            total += sees(i, j) ? exp(dot * scale) * get("v", (lead * 5 + j) * 6 + e) : 0;
        }
        near_to(name, r, sum > 0 ? total / sum : 0);
    }
}
START_TEST(test_attention)
{
    once("gml 1\nphase p {\n let q = rand.normal([2, 2, 3, 4])\n let k = rand.normal([2, 2, 5, 4])\n"
         " let v = rand.normal([2, 2, 5, 6])\n let odd = iota(5) % 2 == 1\n output q = q, k = k, v = v\n"
         " output a = attention(q, k, v), b = attention(q, k, v, causal = true, scale = 0.3)\n"
         " output c = attention(q, k, v, causal = true, mask = odd), d = attention(q, k, v, mask = iota(5) > "
         "9)\n"
         " let one = ones([64, 64])\n let w = attention(one, one, one, drop = 0.25)\n output mean = mean(w), "
         "most = max(w)\n}\n");
    check_attention("a", all_of, 0.5);
    check_attention("b", up_to, 0.3);
    check_attention("c", odd_to, 0.5);
    check_attention("d", none_of, 0.5);
    ck_assert_double_eq_tol(get("mean", 0), 1, 0.05);
    ck_assert_double_gt(get("most", 0), 1.01);
    finish(&p);
}
END_TEST

/* B 2, T 6, H 4, P 3, G 2, N 5, one place after the other. */
static void check_ssd(const char *y, const char *s, bool has_state, const char *seg)
{
    for (int r = 0; r < 2 * 4 * 3; r++) {
        int q = r % 3, h = r / 3 % 4, b = r / 12;
        double state[5];
        for (int n = 0; n < 5; n++) {
            state[n] = has_state ? get("s0", r * 5 + n) : 0;
        }
        for (int t = 0; t < 6; t++) {
            double dt = get("dt", (b * 6 + t) * 4 + h), out = 0;
            bool begins = seg && t > 0 && get(seg, b * 6 + t) != get(seg, b * 6 + t - 1);
            for (int n = 0; n < 5; n++) {
                int at = ((b * 6 + t) * 2 + h / 2) * 5 + n;
                state[n] = begins ? 0 : state[n];
                state[n] = exp(dt * get("a", h)) * state[n] +
                           dt * get("x", ((b * 6 + t) * 4 + h) * 3 + q) * get("b", at);
                out += state[n] * get("c", at);
            }
            near_to(y, ((b * 6 + t) * 4 + h) * 3 + q, out);
        }
        for (int n = 0; n < 5; n++) {
            near_to(s, r * 5 + n, state[n]);
        }
    }
}
START_TEST(test_state_space)
{
    once("gml 1\nphase p {\n let x = rand.normal([2, 6, 4, 3])\n let dt = rand.uniform([2, 6, 4])\n let a = "
         "-rand.uniform([4], 0.5, 2)\n"
         " let b = rand.normal([2, 6, 2, 5])\n let c = rand.normal([2, 6, 2, 5])\n let s0 = rand.normal([2, "
         "4, 3, 5])\n"
         " output x = x, dt = dt, a = a, b = b, c = c, s0 = s0\n"
         " let r = ssd_scan(x, dt, a, b, c)\n let q = ssd_scan(x, dt, a, b, c, s0)\n"
         " output y = r.y, s = r.s, y1 = q.y, s1 = q.s\n"
         " let seg = stack([iota(6) // 4 + 7, 0 * iota(6)])\n let u = ssd_scan(x, dt, a, b, c, s0, seg)\n"
         " let v = ssd_scan(x[:, :3], dt[:, :3], a, b[:, :3], c[:, :3], s0, seg[:, :3])\n"
         " let w = ssd_scan(x[:, 3:], dt[:, 3:], a, b[:, 3:], c[:, 3:], v.s, seg[:, 3:])\n"
         " output seg = seg, y2 = u.y, s2 = u.s, y3 = concat(v.y, w.y, axis = 1), s3 = w.s\n}\n");
    check_ssd("y", "s", false, NULL);
    check_ssd("y1", "s1", true, NULL);
    check_ssd("y2", "s2", true, "seg");
    check_ssd("y3", "s3", true, "seg");
    finish(&p);
}
END_TEST

/* B 2, H 2, T 5, D 3, E 4, one place after the other, from a state of zeros; then in two halves. */
START_TEST(test_matrix_memory)
{
    once("gml 1\nphase p {\n let q = rand.normal([2, 2, 5, 3])\n let k = rand.normal([2, 2, 5, 3])\n let v = "
         "rand.normal([2, 2, 5, 4])\n"
         " let i = 2 * rand.normal([2, 2, 5])\n let f = 1 + rand.normal([2, 2, 5])\n output q = q, k = k, v "
         "= v, i = i, f = f\n"
         " let r = mlstm(q, k, v, i, f)\n let a = mlstm(q[:, :, :2], k[:, :, :2], v[:, :, :2], i[:, :, :2], "
         "f[:, :, :2])\n"
         " let b = mlstm(q[:, :, 2:], k[:, :, 2:], v[:, :, 2:], i[:, :, 2:], f[:, :, 2:], a.s)\n"
         " output y = r.y, c = r.s.c, n = r.s.n, m = r.s.m\n"
         " output same = concat(a.y, b.y, axis = 2) - r.y, end = b.s.c - r.s.c\n}\n");
    for (int r = 0; r < 4; r++) {
        double c[3][4] = {{0}}, n[3] = {0}, m = 0;
        for (int t = 0; t < 5; t++) {
            double in = get("i", r * 5 + t), lf = -log1p(exp(-get("f", r * 5 + t))), top = fmax(lf + m, in);
            double fade = exp(lf + m - top), write = exp(in - top), dot = 0, num[4] = {0};
            m = top;
            for (int d = 0; d < 3; d++) {
                double key = get("k", (r * 5 + t) * 3 + d), query = get("q", (r * 5 + t) * 3 + d) / sqrt(3);
                n[d] = fade * n[d] + write * key;
                dot += query * n[d];
                for (int e = 0; e < 4; e++) {
                    c[d][e] = fade * c[d][e] + write * key * get("v", (r * 5 + t) * 4 + e);
                    num[e] += query * c[d][e];
                }
            }
            for (int e = 0; e < 4; e++) {
                near_to("y", (r * 5 + t) * 4 + e, num[e] / (fmax(fabs(dot), exp(-m)) + 1e-6));
                near_to("same", (r * 5 + t) * 4 + e, 0);
            }
        }
        near_to("m", r, m);
        for (int d = 0; d < 3; d++) {
            near_to("n", r * 3 + d, n[d]);
            for (int e = 0; e < 4; e++) {
                near_to("c", (r * 3 + d) * 4 + e, c[d][e]);
                near_to("end", (r * 3 + d) * 4 + e, 0);
            }
        }
    }
    finish(&p);
}
END_TEST

static double basis(const double *t, int m, int k, double x)
{
    if (k == 0) {
        return t[m] <= x && x < t[m + 1];
    }
    double up = t[m + k] - t[m], down = t[m + k + 1] - t[m + 1];
    return (up ? (x - t[m]) / up * basis(t, m, k - 1, x) : 0) +
           (down ? (t[m + k + 1] - x) / down * basis(t, m + 1, k - 1, x) : 0);
}
/* Knots with a gap of 0 among them. */
START_TEST(test_splines)
{
    once("gml 1\nphase p {\n let x = rand.uniform([7, 2], -1, 6)\n let t = stack([0, 1, 2, 3, 3.5, 3.5, 4, "
         "5.0])\n"
         " let knots = stack([t, t + 0.5])\n output x = x, k = knots, a = bspline(x, knots, 3), b = "
         "bspline(x, knots, 0)\n"
         " let y = scale_grad(x, 0.5)\n output same = y - x\n}\n");
    ck_assert_int_eq(output_size(&p, "p", "a"), 7 * 2 * 4);
    for (int i = 0; i < 14; i++) {
        double t[8];
        for (int m = 0; m < 8; m++) {
            t[m] = get("k", i % 2 * 8 + m);
        }
        for (int m = 0; m < 4; m++) {
            near_to("a", i * 4 + m, basis(t, m, 3, get("x", i)));
        }
        for (int m = 0; m < 7; m++) {
            near_to("b", i * 7 + m, basis(t, m, 0, get("x", i)));
        }
        near_to("same", i, 0);
    }
    finish(&p);
}
END_TEST

/* One small step against the gradient lowers the loss by the square of its length times the step, to a
 * twentieth. */
static const char *const bodies[] = {
    "conv2d(part(w, 0, [2, 4, 4, 3]), part(w, 96, [2, 2, 3, 6]), stride = 2, pad = 1)",
    "conv2d(part(w, 0, [2, 4, 4, 4]), part(w, 128, [2, 2, 2, 6]), groups = 2)",
    "conv1d(part(w, 0, [2, 6, 4]), part(w, 48, [3, 1, 4]), groups = 4, dilation = 2, causal = true)",
    "causal_conv1d(part(w, 0, [2, 4, 3]), part(w, 24, [3, 4]), part(w, 36, [3]), part(w, 39, [2, 3, 3]))[0]",
    "causal_conv1d(part(w, 0, [2, 4, 3]), part(w, 24, [3, 4]), none, part(w, 39, [2, 3, 3]), stack([iota(4) "
    "// "
    "3, iota(4)]))[0]",
    "ssd_scan(part(w, 0, [1, 4, 2, 3]), sigmoid(part(w, 24, [1, 4, 2])), -exp(part(w, 32, [2])), part(w, 34, "
    "[1, 4, 1, 2]), part(w, 42, [1, 4, 1, 2]), part(w, 50, [1, 2, 3, 2]), iota(4)[_, :] // 3).y",
    "attention(part(w, 0, [2, 3, 4]), part(w, 24, [2, 5, 4]), part(w, 64, [2, 5, 6]), causal = true, mask = "
    "iota(5) != 1)",
    "ssd_scan(part(w, 0, [1, 4, 2, 3]), sigmoid(part(w, 24, [1, 4, 2])), -exp(part(w, 32, [2])), part(w, 34, "
    "[1, 4, 1, 2]), "
    "part(w, 42, [1, 4, 1, 2]), part(w, 50, [1, 2, 3, 2])).y",
    "ssd_scan(part(w, 0, [1, 4, 2, 3]), sigmoid(part(w, 24, [1, 4, 2])), -exp(part(w, 32, [2])), part(w, 34, "
    "[1, 4, 1, 2]), "
    "part(w, 42, [1, 4, 1, 2]), part(w, 50, [1, 2, 3, 2])).s",
    "mlstm(part(w, 0, [1, 2, 4, 3]), part(w, 24, [1, 2, 4, 3]), part(w, 48, [1, 2, 4, 2]), part(w, 64, [1, "
    "2, 4]), part(w, 72, [1, 2, 4])).y",
    "mlstm(part(w, 0, [1, 2, 4, 3]), part(w, 24, [1, 2, 4, 3]), part(w, 48, [1, 2, 4, 2]), part(w, 64, [1, "
    "2, 4]), part(w, 72, [1, 2, 4])).s.c",
    "solve_spd(part(w, 0, [2, 3, 3]) @ transpose(part(w, 0, [2, 3, 3])) + 3 * eye(3)[_, :], part(w, 18, [2, "
    "3, 2]))",
    "bspline(part(w, 0, [20, 2]), expand((f32(iota(12)) - 5.5)[_, :], [2, 12]), 3) * f32(iota(8))",
    "pick(sort(part(w, 0, [4, 5])), argmax(part(w, 0, [4, 5]))) * cumprod(part(w, 20, [4]))",
};
START_TEST(test_gradients)
{
    enum { N = 200 };
    char text[2000];
    double before[N], square = 0;
    snprintf(text, sizeof text,
             "gml 1\nfn part(w, from, shape) = reshape(w[from:from + prod_of(shape)], shape)\n"
             "fn prod_of(shape) {\n let n = 1\n for (d in shape) { n = n * d }\n return n\n}\n"
             "layer Op(x) {\n param w: f32[200] = rand.normal([200])\n return sum(sin(x * %s))\n}\n"
             "layer down(p, g) { return p - 0.001 * g }\nlet net = Op{}\n"
             "phase p {\n let l = net(1.0)\n output l = l\n minimize loss = l over net using down{}\n}\n",
             bodies[_i]);
    start(&p, text);
    for (int i = 0; i < N; i++) {
        before[i] = var_at(&p, "net.w", i);
    }
    launch(&p, "p");
    double loss = get("l", 0);
    for (int i = 0; i < N; i++) {
        double change = before[i] - var_at(&p, "net.w", i);
        square += change * change * 1e6;
    }
    launch(&p, "p");
    double fell = loss - get("l", 0);
    ck_assert_msg(square > 1e-2 && fabs(fell / (0.001 * square) - 1) < 0.05, "%s: fell by %g, expected %g",
                  bodies[_i], fell, 0.001 * square);
    finish(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sequence");
    tcase_add_test(t, test_convolutions);
    tcase_add_test(t, test_causal_past);
    tcase_add_test(t, test_causal_segments);
    tcase_add_test(t, test_attention);
    tcase_add_test(t, test_state_space);
    tcase_add_test(t, test_matrix_memory);
    tcase_add_test(t, test_splines);
    tcase_add_loop_test(t, test_gradients, 0, (int)(sizeof bodies / sizeof *bodies));
    return suite_run("sequence", t, CK_NOFORK);
}
