/* Optimizers and schedules of models/std/opt.gml in f64 on the CPU against PyTorch (Lion and LAMB: against
 * the formulas of their papers in NumPy): 20 steps on a small network, with decay, tags and every way of
 * clipping. Tolerances: 1e-10 of max(1, |value|) for losses and parameters, 1e-12 for learning rates. */
#include "tests/std/golden.h"

static json_t *runs, *rates;

static const char network[] = "gml 1\n"
                              "import opt\n"
                              "layer Net(x: f32[B, 4]) -> f32[B, 3] {\n"
                              "    param w1: f32[4, 5] = 0\n"
                              "    param b1: f32[5] = 0  tag no_decay\n"
                              "    param w2: f32[5, 3] = 0\n"
                              "    param b2: f32[3] = 0  tag no_decay\n"
                              "    param s: f32[3] = 0  tag nonneg\n"
                              "    return (tanh(x @ w1 + b1) @ w2 + b2) * s\n"
                              "}\n"
                              "let net = Net{}\n"
                              "state x: f32[8, 4] = 0\n"
                              "state y: i32[8] = 0\n"
                              "phase p {\n"
                              "    let l = mean(xent(net(x), y))\n"
                              "    output l = l\n"
                              "    minimize loss = l over net using %s\n"
                              "}\n";

START_TEST(twenty_steps_equal_the_reference)
{
    json_t *c = json_array_get(list_of(runs, "cases"), (size_t)_i), *losses = list_of(c, "losses"), *list;
    const char *what = text_of(c, "text"), *name;
    char text[2048], key[64];
    struct program p;
    snprintf(text, sizeof text, network, what);
    start_f64(&p, text);
    json_object_foreach(json_object_get(runs, "first"), name, list)
    {
        snprintf(key, sizeof key, "net.%s", name);
        put_var(&p, key, list);
    }
    put_var(&p, "x", list_of(runs, "x"));
    put_var(&p, "y", list_of(runs, "y"));
    upload_all(&p);
    for (size_t i = 0; i < json_array_size(losses); i++) {
        launch(&p, "p");
        double got = output_at(&p, "p", "l", 0), want = json_number_value(json_array_get(losses, i));
        ck_assert_msg(is_near(got, want, 1e-10), "%s: loss %zu is %.17g, expected %.17g", what, i, got, want);
    }
    ck_assert_int_eq((int)json_object_size(json_object_get(c, "last")), 5);
    json_object_foreach(json_object_get(c, "last"), name, list)
    {
        snprintf(key, sizeof key, "net.%s", name);
        for (size_t i = 0; i < json_array_size(list); i++) {
            double got = var_at(&p, key, (int64_t)i), want = json_number_value(json_array_get(list, i));
            ck_assert_msg(is_near(got, want, 1e-10), "%s: %s[%zu] is %.17g, expected %.17g", what, key, i,
                          got, want);
        }
    }
    finish(&p);
}
END_TEST
START_TEST(schedules_equal_the_reference)
{
    json_t *c = json_array_get(rates, (size_t)_i), *want = list_of(c, "value");
    char text[512];
    struct program p;
    snprintf(text, sizeof text, "gml 1\nimport opt\nphase p { output r = %s + zeros([]) }\n",
             text_of(c, "text"));
    start_f64(&p, text);
    control_of(&p)->phase[graph_find_phase(p.g, "p")].steps = 24;
    upload_all(&p);
    for (size_t i = 0; i < json_array_size(want); i++) {
        launch(&p, "p");
        double got = output_at(&p, "p", "r", 0), x = json_number_value(json_array_get(want, i));
        ck_assert_msg(is_near(got, x, 1e-12), "%s: step %zu has %.17g, expected %.17g", text_of(c, "text"), i,
                      got, x);
    }
    finish(&p);
}
END_TEST

int main(void)
{
    runs = golden("optimizers");
    rates = golden("schedules");
    TCase *t = tcase_create("optimizers");
    tcase_add_loop_test(t, twenty_steps_equal_the_reference, 0, count_of(runs, "cases"));
    tcase_add_loop_test(t, schedules_equal_the_reference, 0, (int)json_array_size(rates));
    int failed = suite_run("optimizers", t, CK_NOFORK);
    json_decref(runs);
    json_decref(rates);
    return failed;
}
