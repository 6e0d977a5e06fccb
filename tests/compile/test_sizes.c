/* Every function over an axis of 0, 1 and 3 elements whose length is known at load, or while compiling: the
 * size of its result, and that a step against the gradient of its sum can be made where it has one. */
#include <math.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

/* Over w: f32[N, 4], t = transpose(w), n = iota(N). The result has c[0] + c[1] N + c[2] N^2 elements. */
static const struct {
    const char *text;
    int64_t c[3];
} functions[] = {
    {"exp(w)", {0, 4}},
    {"sum(t, axis = 1)", {4}},
    {"sum(w)", {1}},
    {"mean(t, axis = 1, where = t > 0)", {4}},
    {"prod(t, axis = 1)", {4}},
    {"max(t, axis = 1, where = t > -9)", {4}},
    {"min(w, axis = 0, where = w > -9)", {4}},
    {"var(w, where = w > 0)", {1}},
    {"all(t > 0, axis = 1)", {4}},
    {"argmax(w)", {0, 1}},
    {"argmax(t)", {4}},
    {"argmin(w, axis = 0)", {4}},
    {"softmax(t)", {0, 4}},
    {"softmax(w)", {0, 4}},
    {"max(log_softmax(t, mask = t > 0), -9)", {0, 4}},
    {"max(logsumexp(t), -9)", {4}},
    {"xent(w, n % 4)", {0, 1}},
    {"xent(t, -1 - 0 * iota(4))", {4}},
    {"reshape(w, [4, N])", {0, 4}},
    {"expand(w[_, :], [2, N, 4])", {0, 8}},
    {"expand(w[0:0, :, _], [0, 4, N])", {0}},
    {"w[:, 1:3]", {0, 2}},
    {"flatten(w[:, _], 0, 1)", {0, 4}},
    {"unflatten(t, 0, [2, 2])", {0, 4}},
    {"permute(w, [1, 0])", {0, 4}},
    {"split(w, 2)[0]", {0, 2}},
    {"split(concat(w, ones([4, 4]), axis = 0), [N, 4], axis = 0)[1]", {16}},
    {"concat(t, t, ones([4, 2]))", {8, 8}},
    {"stack([w, w], axis = 2)", {0, 8}},
    {"flip(w)", {0, 4}},
    {"flip(t, axis = 1)", {0, 4}},
    {"tile(w, 2)", {0, 8}},
    {"pad(w, 1)", {12, 6}},
    {"pad(w, [N, [0, 1]], 2)", {0, 15}},
    {"bitcast(bitcast(w))", {0, 4}},
    {"tensor([w, w])", {0, 8}},
    {"block_linear(t, ones([1, N, 3]))", {12}},
    {"block_linear(t, ones([N, 1, 3]))", {0, 12}},
    {"block_linear(flatten(w, 0, 1), w[:, :, _])", {0, 1}},
    {"tile(w, [2, N])", {0, 0, 8}},
    {"pick(w, n % 4)", {0, 1}},
    {"pick(t, 0 * iota(4) - 1)", {4}},
    {"w[n]", {0, 4}},
    {"w[0 * n - 1]", {0, 4}},
    {"t[:, n]", {0, 4}},
    {"put(w, n, 2 * w)", {0, 4}},
    {"put_add(w, 0 * n, w)", {0, 4}},
    {"put_max(w, 0 * iota(3) - 1, 1.0)", {0, 4}},
    {"segment_sum(w, n % 2, 2)", {8}},
    {"segment_sum(t, iota(4), N + 4)", {0, 4, 1}},
    {"one_hot(n, 3)", {0, 3}},
    {"one_hot(iota(3), N)", {0, 3}},
    {"cumsum(t)", {0, 4}},
    {"cumsum(w, axis = 0, reverse = true)", {0, 4}},
    {"cumsum(t, exclusive = true)", {0, 4}},
    {"cumsum(w, axis = 0, reverse = true, exclusive = true)", {0, 4}},
    {"cumprod(t)", {0, 4}},
    {"cumprod(w, axis = 0, exclusive = true)", {0, 4}},
    {"cummax(t)", {0, 4}},
    {"max(cummax(w, axis = 0, exclusive = true), -9)", {0, 4}},
    {"sort(t)", {0, 4}},
    {"sort(w, axis = 0, descending = true)", {0, 4}},
    {"argsort(t)", {0, 4}},
    {"topk(t, N)[0]", {0, 4}},
    {"search(cumsum(t), t[:, 0:0])", {0}},
    {"search(sort(t), ones([4]))", {4}},
    {"clamp(w, 0, 1)", {0, 4}},
    {"select(n > 0, w, -w)", {0, 4}},
    {"lerp(w, -w, 0.3)", {0, 4}},
    {"scale_grad(w, 0.5)", {0, 4}},
    {"t @ w", {16}},
    {"w @ t", {0, 0, 1}},
    {"ones([3, 2, N]) @ ones([3, N, 2])", {12}},
    {"eye(N)", {0, 0, 1}},
    {"tril(N)", {0, 0, 1}},
    {"triu(N, 1)", {0, 0, 1}},
    {"linspace(0, 1, N)", {0, 1}},
    {"zeros([N, 2])", {0, 2}},
    {"conv1d(w[_], ones([3, 4, 2]), causal = true)", {0, 2}},
    {"conv1d(w[_], ones([3, 1, 4]), pad = 1, groups = 4)", {0, 4}},
    {"conv2d(w[:, _, _], ones([1, 1, 4, 2]))", {0, 2}},
    {"causal_conv1d(w, ones([4, 3]))[0]", {0, 4}},
    {"causal_conv1d(w, ones([4, 3]), none, ones([2, 4]), n)[1]", {8}},
    {"causal_conv1d(w, ones([4, 1]), none, none, n)[1]", {0}},
    {"attention(w, w, w)", {0, 4}},
    {"attention(w, ones([2, 4]), ones([2, 3]), causal = true)", {0, 3}},
    {"attention(ones([2, 4]), w, w, causal = true)", {8}},
    {"ssd_scan(w[_, :, :, _], ones([1, N, 4]), -ones([4]), ones([1, N, 2, 3]), ones([1, N, 2, 3])).y",
     {0, 4}},
    {"ssd_scan(w[_, :, :, _], ones([1, N, 4]), -ones([4]), ones([1, N, 2, 3]), ones([1, N, 2, 3]), none, "
     "n[_]).s",
     {12}},
    {"mlstm(w[_, _], w[_, _], w[_, _], w[_, _, :, 0], w[_, _, :, 1]).y", {0, 4}},
    {"mlstm(w[_, _], w[_, _], w[_, _], w[_, _, :, 0], w[_, _, :, 1]).s.c", {16}},
    {"bspline(w, expand(f32(iota(8))[_, :], [4, 8]), 2)", {0, 20}},
    {"solve_spd(t @ w + eye(4), t)", {0, 4}},
    {"solve_spd(w @ t + eye(N), w)", {0, 4}},
    {"rand.normal([N])", {0, 1}},
    {"rand.int([N], 3)", {0, 1}},
    {"rand.bernoulli([N], 0.5)", {0, 1}},
    {"rand.categorical(w)", {0, 1}},
    {"rand.categorical(t)", {4}},
    {"rand.permute(n, N, 0)", {0, 1}},
};

/* Known at load, or already while compiling. */
static void check(int i, int64_t n, bool fixed)
{
    char text[1000], value[8];
    struct program p;
    snprintf(value, sizeof value, "%ld", (long)n);
    snprintf(
        text, sizeof text,
        "gml 1\nconfig N: dim = 2\nlayer Op{N: dim}() {\n param w: f32[N, 4] = 0.5 * rand.normal([N, 4])\n"
        " let t = transpose(w)\n let n = iota(N)\n return f32(%s)\n}\n"
        "layer down(p, g) { return p - 0.01 * g }\nlet net = Op{%s}\n"
        "phase p {\n let r = net()\n output r = r\n minimize loss = sum(r) over net using down{}\n}\n",
        functions[i].text, fixed ? value : "N");
    struct compile_set set = {.name = "N", .value = value};
    start_with(&p, text, &set, 1);
    launch(&p, "p");
    int64_t size = output_size(&p, "p", "r");
    ck_assert_msg(size == functions[i].c[0] + functions[i].c[1] * n + functions[i].c[2] * n * n,
                  "%s has %ld elements at N = %ld", functions[i].text, (long)size, (long)n);
    for (int64_t k = 0; k < size; k++) {
        ck_assert_msg(isfinite(output_at(&p, "p", "r", k)), "%s at N = %ld: element %ld is %g",
                      functions[i].text, (long)n, (long)k, output_at(&p, "p", "r", k));
    }
    for (int64_t k = 0; k < 4 * n; k++) {
        ck_assert_msg(isfinite(var_at(&p, "net.w", k)), "%s at N = %ld: the gradient is not finite",
                      functions[i].text, (long)n);
    }
    ck_assert_int_eq((int)control_of(&p)->fault.code, 0);
    finish(&p);
}
START_TEST(test_lengths)
{
    static const int64_t lengths[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        check(_i, lengths[k], false);
        check(_i, lengths[k], true);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sizes");
    tcase_add_loop_test(t, test_lengths, 0, (int)(sizeof functions / sizeof *functions));
    return suite_run("sizes", t, CK_NOFORK);
}
