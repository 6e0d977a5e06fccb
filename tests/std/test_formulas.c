/* Activations, normalisations, losses and metrics of models/std/nn.gml and the operators under them, in f64
 * on the CPU, against PyTorch: values, and gradients of their sum where they are smooth. Tolerance 1e-12 of
 * max(1, |value|) unless the golden file says otherwise. */
#include "tests/std/golden.h"

static const double TOLERANCE = 1e-12;
static json_t *all;

/* A program that computes the expression from inputs held in parameters (or a state: labels). */
static void write_program(struct text *t, json_t *c)
{
    json_t *names = list_of(c, "inputs"), *name;
    size_t i;
    const char *comma = "";
    text_printf(t, "gml 1\nimport nn\nlayer Inputs() {\n");
    json_array_foreach(names, i, name)
    {
        const char *n = json_string_value(name);
        json_t *input = json_object_get(json_object_get(all, "inputs"), n), *shape = list_of(input, "shape");
        bool whole = json_is_true(json_object_get(input, "whole"));
        text_printf(t, "    %s %s: %s[%d", whole ? "state" : "param", n, whole ? "i32" : "f32",
                    (int)json_integer_value(json_array_get(shape, 0)));
        if (json_array_size(shape) == 2) {
            text_printf(t, ", %d", (int)json_integer_value(json_array_get(shape, 1)));
        }
        text_printf(t, "] = 0\n");
    }
    text_printf(t, "    return (");
    json_array_foreach(names, i, name)
    {
        text_printf(t, "%s%s = %s", comma, json_string_value(name), json_string_value(name));
        comma = ", ";
    }
    text_printf(t, ")\n}\nlet inputs = Inputs{}\nlayer keep(p, g) {\n    state seen: p = 0\n    next seen = "
                   "g\n    return p\n}\nphase p {\n"
                   "    let all = inputs()\n");
    json_array_foreach(names, i, name)
    {
        text_printf(t, "    let %s = all.%s\n", json_string_value(name), json_string_value(name));
    }
    text_printf(t, "    let r = %s\n    output r = r\n", text_of(c, "text"));
    if (json_object_size(json_object_get(c, "gradient"))) {
        text_printf(t, "    minimize s = sum(r) over inputs using keep{}\n");
    }
    text_printf(t, "}\n");
}
static void check_gradient(struct program *p, const char *text, const char *input, json_t *want)
{
    char key[64];
    snprintf(key, sizeof key, "inputs.%s", input);
    const struct var *v = &p->g->vars.at[graph_find_var(p->g, key)];
    int64_t first = (int64_t)p->plan->leaf_start[v->tree - 1][v->leaf];
    for (size_t i = 0; i < json_array_size(want); i++) {
        json_t *x = json_array_get(want, i);
        double got = var_at(p, "opt.p.s.seen", first + (int64_t)i);
        ck_assert_msg(json_is_null(x) || is_near(got, json_number_value(x), TOLERANCE),
                      "%s: gradient of %s[%zu] is %.17g, expected %.17g", text, input, i, got,
                      json_number_value(x));
    }
}
START_TEST(formulas_equal_pytorch)
{
    json_t *c = json_array_get(list_of(all, "cases"), (size_t)_i), *want = list_of(c, "value"), *name,
           *gradient;
    const char *what = text_of(c, "text"), *input;
    struct program p;
    struct arena *a = arena_new();
    struct text t = {.arena = a};
    size_t i;
    write_program(&t, c);
    start_f64(&p, t.at);
    json_array_foreach(list_of(c, "inputs"), i, name)
    {
        char key[64];
        snprintf(key, sizeof key, "inputs.%s", json_string_value(name));
        put_var(&p, key,
                list_of(json_object_get(json_object_get(all, "inputs"), json_string_value(name)), "at"));
    }
    upload_all(&p);
    launch(&p, "p");
    ck_assert_msg(output_size(&p, "p", "r") == (int64_t)json_array_size(want), "%s: the shape differs", what);
    for (i = 0; i < json_array_size(want); i++) {
        double got = output_at(&p, "p", "r", (int64_t)i), x = json_number_value(json_array_get(want, i));
        ck_assert_msg(is_near(got, x, TOLERANCE), "%s: element %zu is %.17g, expected %.17g", what, i, got,
                      x);
    }
    json_object_foreach(json_object_get(c, "gradient"), input, gradient)
    {
        check_gradient(&p, what, input, gradient);
    }
    finish(&p);
    arena_free(a);
}
END_TEST

int main(void)
{
    all = golden("formulas");
    TCase *t = tcase_create("formulas");
    tcase_add_loop_test(t, formulas_equal_pytorch, 0, count_of(all, "cases"));
    int failed = suite_run("formulas", t, CK_NOFORK);
    json_decref(all);
    return failed;
}
