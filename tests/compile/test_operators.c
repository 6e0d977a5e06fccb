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
         " output a = softmax(x, mask = m), b = max(log_softmax(x, mask = m), -9), c = max(logsumexp(x, mask "
         "= m), -9)\n"
         " output d = softmax(x, axis = 0), e = log_softmax(x, axis = 0), f = logsumexp(x, axis = 0)\n}\n");
    EXPECT(&p, "a", 0, 0, 0, 0, 0.26894142, 0.73105858);
    EXPECT(&p, "b", 0, 0, 0, -9, -1.3132617, -0.31326169);
    EXPECT(&p, "c", -9, 5.3132617);
    EXPECT(&p, "d", 0.04742587, 0.04742587, 0.04742587, 0.95257413, 0.95257413, 0.95257413);
    EXPECT(&p, "e", -3.0485874, -3.0485874, -3.0485874, -0.04858735, -0.04858735, -0.04858735);
    EXPECT(&p, "f", 3.0485874, 4.0485874, 5.0485874);
    finish(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("operators");
    tcase_add_test(t, test_functions);
    tcase_add_test(t, test_reductions);
    tcase_add_test(t, test_masked_rows);
    return suite_run("operators", t, CK_NOFORK);
}
