/* What operators compute when a model calls them, run on the CPU: each phase `p` is launched and its outputs
 * are compared with numbers worked out by hand. */
#include "tests/compile/program.h"
#include "tests/suite.h"

static void once(struct program *p, const char *text)
{
    start(p, text);
    launch(p, "p");
}
START_TEST(test_functions)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let x = f32(iota(3))\n"
         " output a = round(x + 0.5), b = ceil(x - 0.5), c = trunc(-x - 0.5), d = expm1(x), e = log1p(x)\n"
         " output f = erfinv(erf(x / 2)), g = atan2(x, -1.0), h = softplus(-x), i = logsigmoid(x), j = "
         "gelu(x)\n"
         " output k = round(2.5), l = elu(-x), m = tan(x)\n}\n");
    EXPECT(&p, "a", 0, 2, 2);
    EXPECT(&p, "b", 0, 1, 2);
    EXPECT(&p, "c", 0, -1, -2);
    EXPECT(&p, "d", 0, 1.7182818, 6.3890561);
    EXPECT(&p, "e", 0, 0.69314718, 1.0986123);
    EXPECT(&p, "f", 0, 0.5, 1);
    EXPECT(&p, "g", 3.1415927, 2.3561945, 2.0344439);
    EXPECT(&p, "h", 0.69314718, 0.31326169, 0.12692801);
    EXPECT(&p, "i", -0.69314718, -0.31326169, -0.12692801);
    EXPECT(&p, "j", 0, 0.84134475, 1.9544997);
    EXPECT(&p, "k", 2);
    EXPECT(&p, "l", 0, -0.63212056, -0.86466472);
    EXPECT(&p, "m", 0, 1.5574077, -2.1850399);
    finish(&p);
}
END_TEST
START_TEST(test_reductions)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let x = reshape(f32(iota(6)), [2, 3])\n let m = x > 3.5\n"
         " output a = prod(x + 1, axis = 1), b = prod(x, where = m), c = max(-x, axis = 1, where = m)\n"
         " output d = min(x, axis = 0, where = m), e = any(x > 4, axis = 1, where = m), f = all(x > 4, where "
         "= m)\n"
         " output g = argmin(x, axis = 0), h = argmin(-x), i = argmin(iota(3) - 2)\n"
         " output j = var(x, axis = 1, where = m), k = var(x, where = m, ddof = 1), l = var(x, ddof = 1)\n"
         " output n = std(x, axis = 0, keep = true), o = max(iota(4), where = iota(4) < 2)\n}\n");
    EXPECT(&p, "a", 6, 120);
    EXPECT(&p, "b", 20);
    EXPECT(&p, "c", 0, -4);
    EXPECT(&p, "d", 0, 4, 5);
    EXPECT(&p, "e", 0, 1);
    EXPECT(&p, "f", 0);
    EXPECT(&p, "g", 0, 0, 0);
    EXPECT(&p, "h", 2, 2);
    EXPECT(&p, "i", 0);
    EXPECT(&p, "j", 0, 0.25);
    EXPECT(&p, "k", 0.5);
    EXPECT(&p, "l", 3.5);
    EXPECT(&p, "n", 1.5, 1.5, 1.5);
    EXPECT(&p, "o", 1);
    finish(&p);
}
END_TEST
/* Masks: what they hide has no weight, and a row of nothing is 0 in every answer. */
START_TEST(test_masked_rows)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let x = reshape(f32(iota(6)), [2, 3])\n let m = x > 3.5\n"
         " output a = softmax(x, mask = m), b = max(log_softmax(x, mask = m), -9), c = logsumexp(x, mask "
         "= m)\n"
         " output d = softmax(x, axis = 0), e = log_softmax(x, axis = 0), f = logsumexp(x, axis = 0)\n}\n");
    EXPECT(&p, "a", 0, 0, 0, 0, 0.26894142, 0.73105858);
    EXPECT(&p, "b", 0, 0, 0, -9, -1.3132617, -0.31326169);
    EXPECT(&p, "c", 0, 5.3132617);
    EXPECT(&p, "d", 0.04742587, 0.04742587, 0.04742587, 0.95257413, 0.95257413, 0.95257413);
    EXPECT(&p, "e", -3.0485874, -3.0485874, -3.0485874, -0.04858735, -0.04858735, -0.04858735);
    EXPECT(&p, "f", 3.0485874, 4.0485874, 5.0485874);
    finish(&p);
}
END_TEST

START_TEST(test_joining)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let x = reshape(iota(6), [2, 3])\n let r = (a = iota(2), b = f32(iota(2)))\n"
         " output a = concat(x, x[:, 0:1]), b = concat([x[0:1], x], axis = 0), c = concat(r, r, axis = 0)\n"
         " output d = stack([x[0], 7, x[1]]), e = stack([x[0], x[1]], axis = -1), f = stack([1, 2.5])\n"
         " output g = flip(x), h = flip(x, axis = 1), i = tile(iota(2), 3), j = tile(x[:, 0:2], [1, 2])\n"
         " let (k, l) = split(concat(iota(3), iota(3)), [2, 4])\n output k = k, l = l\n"
         " output m = shape(concat(x[:, _], x[:, _], axis = 1))[1]\n}\n");
    EXPECT(&p, "a", 0, 1, 2, 0, 3, 4, 5, 3);
    EXPECT(&p, "b", 0, 1, 2, 0, 1, 2, 3, 4, 5);
    EXPECT(&p, "c.a", 0, 1, 0, 1);
    EXPECT(&p, "c.b", 0, 1, 0, 1);
    EXPECT(&p, "d", 0, 1, 2, 7, 7, 7, 3, 4, 5);
    EXPECT(&p, "e", 0, 3, 1, 4, 2, 5);
    EXPECT(&p, "f", 1, 2.5);
    EXPECT(&p, "g", 3, 4, 5, 0, 1, 2);
    EXPECT(&p, "h", 2, 1, 0, 5, 4, 3);
    EXPECT(&p, "i", 0, 1, 0, 1, 0, 1);
    EXPECT(&p, "j", 0, 1, 0, 1, 3, 4, 3, 4);
    EXPECT(&p, "k", 0, 1);
    EXPECT(&p, "l", 2, 0, 1, 2);
    EXPECT(&p, "m", 2);
    finish(&p);
}
END_TEST
START_TEST(test_indices)
{
    struct program p;
    once(&p, "gml 1\nphase p {\n let x = reshape(iota(12), [2, 3, 2])\n let i = iota(3) - 1\n"
             " let j = where(i < 0, 2, i)\n let t = reshape(iota(4) % 3, [2, 2])\n"
             " output a = x[i, j], b = x[:, j], c = x[1, j, 1], d = x[.., i], e = x[:, j, 0:1], f = x[:, "
             "t[0], t[1] % 2]\n"
             " output h = pick(x[0, 0], 1 - iota(1)[0])\n"
             " output k = one_hot(i, 2), l = x[0][i]\n}\n");
    EXPECT(&p, "a", 0, 0, 0, 1, 8, 9);
    EXPECT(&p, "b", 4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9);
    EXPECT(&p, "c", 11, 7, 9);
    EXPECT(&p, "d", 0, 0, 1, 0, 2, 3, 0, 4, 5, 0, 6, 7, 0, 8, 9, 0, 10, 11);
    EXPECT(&p, "e", 4, 0, 2, 10, 6, 8);
    EXPECT(&p, "f", 0, 2, 6, 8);
    EXPECT(&p, "h", 1);
    EXPECT(&p, "k", 0, 0, 1, 0, 0, 1);
    EXPECT(&p, "l", 0, 0, 0, 1, 2, 3);
    finish(&p);
}
END_TEST
START_TEST(test_putting)
{
    struct program p;
    once(&p, "gml 1\nphase p {\n let x = reshape(iota(6), [3, 2])\n let i = iota(3) % 2\n"
             " output a = put(x, i, 10 * x), b = put_add(x, i, 1), c = put_max(x, i, 5 - x)\n"
             " output d = put(x, [i, i], iota(3) + 20), e = put(x, i - 1, 0), f = segment_sum(x, i, 2), g = "
             "put(x, 2, 9)\n}\n");
    EXPECT(&p, "a", 40, 50, 20, 30, 4, 5);
    EXPECT(&p, "b", 2, 3, 3, 4, 4, 5);
    EXPECT(&p, "c", 5, 4, 3, 3, 4, 5);
    EXPECT(&p, "d", 22, 1, 2, 21, 4, 5);
    EXPECT(&p, "e", 0, 0, 2, 3, 4, 5);
    EXPECT(&p, "f", 4, 6, 2, 3);
    EXPECT(&p, "g", 0, 1, 2, 3, 9, 9);
    finish(&p);
}
END_TEST
START_TEST(test_order)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let x = reshape(f32(stack([3, 1, 2, 0, 5, 4])), [2, 3])\n"
         " output a = cumsum(x), b = cumsum(x, axis = 0, reverse = true), c = cumprod(x, exclusive = true)\n"
         " output d = cummax(x), e = cumsum(x > 1), f = cumsum(x, reverse = true, exclusive = true)\n"
         " output g = sort(x), h = sort(x, axis = 0, descending = true), i = argsort(x)\n"
         " let (v, w) = topk(x, 2)\n output j = v, k = w\n"
         " output l = search(cumsum(x[1]), x), m = search(sort(x), x[:, 0]), n = cummax(-x, exclusive = "
         "true)[:, 1:]\n}\n");
    EXPECT(&p, "a", 3, 4, 6, 0, 5, 9);
    EXPECT(&p, "b", 3, 6, 6, 0, 5, 4);
    EXPECT(&p, "c", 1, 3, 3, 1, 0, 0);
    EXPECT(&p, "d", 3, 3, 3, 0, 5, 5);
    EXPECT(&p, "e", 1, 1, 2, 0, 1, 2);
    EXPECT(&p, "f", 3, 2, 0, 9, 4, 0);
    EXPECT(&p, "g", 1, 2, 3, 0, 4, 5);
    EXPECT(&p, "h", 3, 5, 4, 0, 1, 2);
    EXPECT(&p, "i", 1, 2, 0, 0, 2, 1);
    EXPECT(&p, "j", 3, 2, 5, 4);
    EXPECT(&p, "k", 0, 2, 1, 2);
    EXPECT(&p, "l", 1, 1, 1, 1, 2, 1);
    EXPECT(&p, "m", 2, 1);
    EXPECT(&p, "n", -3, -1, 0, 0);
    finish(&p);
}
END_TEST
START_TEST(test_padding)
{
    struct program p;
    once(&p, "gml 1\nconfig N: dim = 1\nphase p {\n let x = reshape(iota(4) + 1, [2, 2])\n"
             " output a = pad(x, 1), b = pad(x, [[0, 1], [N, 0]], 9), c = pad(x[0], 1), d = pad(x[0] > 1, "
             "[[1, 0]], true)\n"
             " output e = pad(f32(x[0]), [[0, 2]], inf) > 9, f = pad(x, [0]), g = shape(pad(x[:, _], [N, 0, "
             "2]))[0]\n}\n");
    EXPECT(&p, "a", 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0);
    EXPECT(&p, "b", 9, 1, 2, 9, 3, 4, 9, 9, 9);
    EXPECT(&p, "c", 0, 1, 2, 0);
    EXPECT(&p, "d", 1, 0, 1);
    EXPECT(&p, "e", 0, 0, 1, 1);
    EXPECT(&p, "f", 1, 2, 3, 4);
    EXPECT(&p, "g", 4);
    finish(&p);
}
END_TEST
/* Numbers beside each other take one type; the bits of a NaN with a payload survive, also where all is known.
 */
START_TEST(test_tensors_and_bits)
{
    struct program p;
    once(&p, "gml 1\nlet q = [0.1, 0.5]\nphase p {\n let x = tensor([[1, 2], [3, 4]])\n let n = "
             "tensor([2143289345, -4194303, "
             "1])\n"
             " output a = x // 2, b = tensor([1, 2.5]), c = tensor(q), d = tensor([x, 2 * x])[1], e = "
             "shape(tensor([]))[0]\n"
             " output f = bitcast(tensor([1.0, -2.0])), g = bitcast(1065353216 + 0 * iota(1)), h = "
             "bitcast(bitcast(n)) - n\n"
             " output i = bitcast(n)[0:2] == bitcast(n)[0:2], j = tensor([1.0, inf])[1] > 5, k = "
             "tensor([true, false])\n}\n");
    EXPECT(&p, "a", 0, 1, 1, 2);
    EXPECT(&p, "b", 1, 2.5);
    EXPECT(&p, "c", 0.1, 0.5);
    EXPECT(&p, "d", 2, 4, 6, 8);
    EXPECT(&p, "e", 0);
    EXPECT(&p, "f", 1065353216, -1073741824);
    EXPECT(&p, "g", 1);
    EXPECT(&p, "h", 0, 0, 0);
    EXPECT(&p, "i", 0, 0);
    EXPECT(&p, "j", 1);
    EXPECT(&p, "k", 1, 0);
    finish(&p);
}
END_TEST
/* Both ways of multiplying: few inputs of a block, and many. */
START_TEST(test_blocks)
{
    struct program p;
    once(&p, "gml 1\nphase p {\n let x = reshape(f32(iota(8)), [2, 4])\n let w = reshape(f32(iota(12)), [2, "
             "2, 3])\n"
             " let y = f32(iota(3 * 20)) / 10\n let v = reshape(f32(iota(2 * 10 * 2)), [2, 10, 2]) / 10\n"
             " output a = block_linear(x, w), b = block_linear(x[0], w)\n"
             " let z = reshape(y, [3, 20])\n"
             " output c = max(abs(block_linear(z, v) - concat(z[:, 0:10] @ v[0], z[:, 10:] @ v[1])))\n}\n");
    EXPECT(&p, "a", 3, 4, 5, 39, 44, 49, 15, 24, 33, 99, 112, 125);
    EXPECT(&p, "b", 3, 4, 5, 39, 44, 49);
    EXPECT(&p, "c", 0);
    finish(&p);
}
END_TEST
/* w^T w, w w^T for a wide one, over all axes but the last for a kernel; and an inverse kept in a state. */
START_TEST(test_at_load)
{
    struct program p;
    once(&p,
         "gml 1\nimport nn\nlayer Own() {\n param w: f32[5, 3] ~ orthogonal(2.0)\n param v: f32[2, 2, 3] ~ "
         "nn.orthogonal(0, 0)\n"
         " param u: f32[2, 4] ~ nn.orthogonal(0, 0, gain = 0.5)\n state i = pinv(tensor([[1.0, 2.0], [2.0, "
         "4.0], "
         "[0.0, 0.0]]))\n"
         " state q = orthonormal(tensor([[0.0, -3.0], [2.0, 0.0]]))\n"
         " let r = reshape(v, [4, 3])\n"
         " return (a = transpose(w) @ w, b = transpose(r) @ r, c = u @ transpose(u), d = i, e = q)\n}\n"
         "let own = Own{}\nlet lin = nn.Linear{2, init = nn.orthogonal}\n"
         "phase p {\n let r = own()\n let y = lin(eye(2))\n output a = r.a, b = r.b, c = r.c, d = r.d, e = "
         "r.e\n"
         " let t = transpose(lin.w)\n output f = lin.w @ t\n}\n");
    EXPECT(&p, "a", 4, 0, 0, 0, 4, 0, 0, 0, 4);
    EXPECT(&p, "b", 1, 0, 0, 0, 1, 0, 0, 0, 1);
    EXPECT(&p, "c", 0.25, 0, 0, 0.25);
    EXPECT(&p, "d", 0.04, 0.08, 0, 0.08, 0.16, 0);
    EXPECT(&p, "e", 0, -1, 1, 0);
    EXPECT(&p, "f", 1, 0, 0, 1);
    finish(&p);
}
END_TEST
START_TEST(test_constants)
{
    struct program p;
    once(&p, "gml 1\nconfig T: dim = 1000\nphase p {\n output a = eye(2), b = tril(3), c = triu(3, 1), d = "
             "linspace(3, 6, 4)\n"
             " output e = i32(linspace(-1, T - 1, 51)), f = linspace(2, 9, 1), g = all(i32(linspace(0, T - "
             "1, T)) == iota(T))\n}\n");
    EXPECT(&p, "a", 1, 0, 0, 1);
    EXPECT(&p, "b", 1, 0, 0, 1, 1, 0, 1, 1, 1);
    EXPECT(&p, "c", 0, 1, 1, 0, 0, 1, 0, 0, 0);
    EXPECT(&p, "d", 3, 4, 5, 6);
    EXPECT(&p, "f", 2);
    EXPECT(&p, "g", 1);
    ck_assert_double_eq(output_at(&p, "p", "e", 0), -1);
    ck_assert_double_eq(output_at(&p, "p", "e", 1), 19);
    ck_assert_double_eq(output_at(&p, "p", "e", 50), 999);
    finish(&p);
}
END_TEST
/* Impossible categories never come, the others as often as they should: 4000 draws, five deviations. */
START_TEST(test_draws)
{
    struct program p;
    once(&p,
         "gml 1\nphase p {\n let z = expand(stack([-inf, log(1.0), -inf, log(3.0), -inf])[_, :], [4000, 5])\n"
         " let c = rand.categorical(z)\n let n = rand.int([4000], 4)\n"
         " output a = sum(c == 1), b = sum(c == 3), d = min(n), e = max(n), f = sum(n == 2)\n"
         " output g = rand.categorical(stack([0.0, -inf, -inf])), h = rand.int([2], 1)\n}\n");
    double one = output_at(&p, "p", "a", 0), three = output_at(&p, "p", "b", 0),
           two = output_at(&p, "p", "f", 0);
    ck_assert_double_eq(one + three, 4000);
    ck_assert_double_eq_tol(one, 1000, 137);
    ck_assert_double_eq_tol(two, 1000, 137);
    EXPECT(&p, "d", 0);
    EXPECT(&p, "e", 3);
    EXPECT(&p, "g", 0);
    EXPECT(&p, "h", 0, 0);
    finish(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("operators");
    tcase_add_test(t, test_functions);
    tcase_add_test(t, test_reductions);
    tcase_add_test(t, test_masked_rows);
    tcase_add_test(t, test_joining);
    tcase_add_test(t, test_indices);
    tcase_add_test(t, test_putting);
    tcase_add_test(t, test_order);
    tcase_add_test(t, test_padding);
    tcase_add_test(t, test_tensors_and_bits);
    tcase_add_test(t, test_blocks);
    tcase_add_test(t, test_at_load);
    tcase_add_test(t, test_constants);
    tcase_add_test(t, test_draws);
    return suite_run("operators", t, CK_NOFORK);
}
