/* Initialisers (and dropout) of models/std/nn.gml over 100,000 draws: mean, deviation, bounds; and the first
 * draws against an independent Philox (so that seeds keep their meaning): to 1e-5 deviations, which covers
 * f32 and the quantiles' 1e-7. */
#include "tests/std/golden.h"

enum { IN = 250, OUT = 400, DRAWS = IN * OUT };

static const struct initialiser {
    const char *name;
    double deviation, bound; /* bound 0: none */
    bool is_uniform;         /* comes close to the bound */
} initialisers[] = {
    {"unit", 1, 0, false},
    {"uniform", 0.57735026918962576, 1, true},
    {"normal", 0.02, 0, false},
    {"truncated", 0.02 * 0.87962566103423978, 0.04, false},
    {"fan_in", 0.036514837167011072, 0.063245553203367587, true}, /* bound 1 / sqrt(250) */
    {"kaiming", 0.089442719099991588, 0, false},                  /* sqrt(2 / 250) */
    {"kaiming_uniform", 0.089442719099991588, 0.15491933384829668, true},
    {"xavier", 0.055470019622522914, 0.096076892283052284, true}, /* sqrt(2 / 650), sqrt(6 / 650) */
    {"xavier_normal", 0.055470019622522914, 0, false},
    {"lecun", 0.063245553203367587, 0, false}, /* sqrt(1 / 250) */
    {"lecun_uniform", 0.063245553203367587, 0.10954451150103322, true},
    {"small", 0.04, 0, false}, /* sqrt(2 / 1250) */
};
static json_t *first;

static void start_initialiser(struct program *p, const char *name)
{
    char text[512];
    snprintf(text, sizeof text,
             "gml 1\nimport nn\nlayer Net() {\n    param w: f32[%d, %d] ~ nn.%s(%d, %d)\n    return "
             "w\n}\nlet net = Net{}\n"
             "phase p { output s = sum(net()) }\n",
             IN, OUT, name, IN, OUT);
    start(p, text);
}
START_TEST(initialisers_have_their_moments)
{
    const struct initialiser *f = &initialisers[_i];
    struct program p;
    start_initialiser(&p, f->name);
    double sum = 0, squares = 0, top = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = var_at(&p, "net.w", i);
        sum += x;
        squares += x * x;
        top = fmax(top, fabs(x));
    }
    double mean = sum / DRAWS, deviation = sqrt(squares / DRAWS - mean * mean);
    ck_assert_msg(fabs(mean) < 5 * f->deviation / sqrt(DRAWS), "%s: mean %g", f->name, mean);
    ck_assert_msg(fabs(deviation / f->deviation - 1) < 5 / sqrt(2.0 * DRAWS), "%s: deviation %g, expected %g",
                  f->name, deviation, f->deviation);
    ck_assert_msg(!f->bound || top <= f->bound * (1 + 1e-6), "%s: %g is beyond %g", f->name, top, f->bound);
    ck_assert_msg(!f->bound || top > f->bound * (f->is_uniform ? 0.9999 : 0.999),
                  "%s: no draw comes close to %g", f->name, f->bound);
    json_t *want = list_of(first, f->name);
    for (size_t i = 0; i < json_array_size(want); i++) {
        double x = var_at(&p, "net.w", (int64_t)i), y = json_number_value(json_array_get(want, i));
        ck_assert_msg(fabs(x - y) <= 1e-5 * f->deviation, "%s: draw %zu is %.9g, expected %.9g", f->name, i,
                      x, y);
    }
    finish(&p);
}
END_TEST
START_TEST(zero_is_zero)
{
    struct program p;
    start_initialiser(&p, "zero");
    launch(&p, "p");
    ck_assert_double_eq(output_at(&p, "p", "s", 0), 0);
    ck_assert_double_eq(var_at(&p, "net.w", DRAWS - 1), 0);
    finish(&p);
}
END_TEST

/* In training, what is kept is scaled by 1 / (1 - p) and so is its gradient; elsewhere nothing happens. */
START_TEST(dropout_keeps_its_share)
{
    struct program p;
    int kept = 0, wrong = 0;
    start(&p,
          "gml 1\nimport nn\nlayer Net() {\n    param w: f32[100000] = 3\n    return w\n}\nlet net = Net{}\n"
          "layer keep(p, g) {\n    state seen: p = 0\n    next seen = g\n    return p\n}\n"
          "phase p {\n    let r = net() |> nn.dropout{0.2}\n    output r = r\n    minimize s = sum(r) over "
          "net using keep{}\n}\n"
          "phase q { output all = all((net() |> nn.dropout{0.2}) == 3) }\n");
    launch(&p, "p");
    for (int i = 0; i < DRAWS; i++) {
        double r = output_at(&p, "p", "r", i), g = var_at(&p, "opt.p.s.seen", i);
        kept += r != 0;
        wrong += r == 0 ? g != 0 : fabs(r - 3.75) > 1e-6 || fabs(g - 1.25) > 1e-6;
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_msg(fabs(kept - 0.8 * DRAWS) < 5 * sqrt(0.8 * 0.2 * DRAWS), "%d of %d kept", kept, DRAWS);
    launch(&p, "q");
    ck_assert_double_eq(output_at(&p, "q", "all", 0), 1);
    finish(&p);
}
END_TEST

int main(void)
{
    first = golden("draws");
    TCase *t = tcase_create("draws");
    tcase_add_loop_test(t, initialisers_have_their_moments, 0,
                        (int)(sizeof initialisers / sizeof *initialisers));
    tcase_add_test(t, zero_is_zero);
    tcase_add_test(t, dropout_keeps_its_share);
    int failed = suite_run("draws", t, CK_NOFORK);
    json_decref(first);
    return failed;
}
