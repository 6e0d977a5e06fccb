/* Layers, pooling, positions and distributions of models/std (nn, kan, cfc, rl) in f64 on the CPU, against
 * PyTorch (tools/make_golden_layers.py): outputs in training to 1e-10 of max(1, |value|), gradients to 1e-8,
 * and to 1e-8 all parameters, inputs and states after five steps of Adam, and the outputs then, not in
 * training. */
#include "tests/std/golden.h"

enum { STEPS = 5 };
static json_t *cases;

/* The formula of tools/make_golden_layers.py. */
static double number(int64_t i, int s, double scale)
{
    return scale * ((double)((7919 * i + 104729 * s) % 1009) / 1009 - 0.5);
}

static int64_t write_shape(struct text *t, json_t *shape)
{
    json_t *size;
    size_t i;
    int64_t n = 1;
    json_array_foreach(shape, i, size)
    {
        text_printf(t, "%s%d", i ? ", " : "", (int)json_integer_value(size));
        n *= json_integer_value(size);
    }
    return n;
}

/* Inputs are parameters of an instance of their own, so that they have gradients and move too. */
static void write_program(struct text *t, json_t *c)
{
    json_t *inputs = json_object_get(c, "inputs"), *shape;
    const char *name, *make = text_of(c, "make"), *over = *make ? "inputs, net" : "inputs", *comma = "";
    text_printf(t, "gml 1\nimport nn\nimport kan\nimport cfc\nimport rl\nimport opt\nlayer Inputs() {\n");
    json_object_foreach(inputs, name, shape)
    {
        text_printf(t, "    param %s: f32[", name);
        write_shape(t, shape);
        text_printf(t, "] = 0\n");
    }
    text_printf(t, "    return (");
    json_object_foreach(inputs, name, shape)
    {
        text_printf(t, "%s%s = %s", comma, name, name);
        comma = ", ";
    }
    text_printf(t,
                ")\n}\nlet inputs = Inputs{}\n%s%s\nfn lstm(s) = concat(s.h, s.c)\n"
                "fn one(r) = concat(flatten(r.y, 0, -1), flatten(r.s, 0, -1))\n"
                "fn two(r) = concat(flatten(r.y, 0, -1), flatten(r.s.h, 0, -1), flatten(r.s.c, 0, -1))\n"
                "layer keep(p, g) {\n    state seen: p = 0\n    next seen = g\n    return p\n}\n"
                "fn value() {\n    let all = inputs()\n",
                *make ? "let net = " : "", make);
    json_object_foreach(inputs, name, shape)
    {
        text_printf(t, "    let %s = all.%s\n", name, name);
    }
    text_printf(t, "    return flatten(%s, 0, -1)\n}\n", text_of(c, "text"));
    text_printf(
        t,
        "fn loss(r) {\n    let q = f32(iota(len(r))) / len(r)\n    return mean(r^2 * q + r * (1 - q))\n}\n");
    text_printf(t,
                "phase p {\n    let r = value()\n    output r = r\n    minimize s = loss(r) over %s using "
                "keep{}\n}\n",
                over);
    text_printf(t, "phase q {\n    minimize s = loss(value()) over %s using opt.adam{0.01, eps = 1e-3}\n}\n",
                over);
    text_printf(t, "phase e { output r = value() }\n");
}

static void fill_tensors(struct program *p, json_t *c)
{
    static const struct {
        const char *list, *owner;
    } kinds[] = {{"inputs", "inputs"}, {"params", "net"}};
    double scale = json_number_value(json_object_get(c, "scale"));
    const char *name;
    json_t *shape;
    int s = 0;
    for (int k = 0; k < 2; k++) {
        json_object_foreach(json_object_get(c, kinds[k].list), name, shape)
        {
            char key[64];
            json_t *values = json_array(), *size;
            size_t axis;
            int64_t n = 1;
            json_array_foreach(shape, axis, size)
            {
                n *= json_integer_value(size);
            }
            for (int64_t i = 0; i < n; i++) {
                json_array_append_new(values, json_real(number(i, s, scale)));
            }
            snprintf(key, sizeof key, "%s.%s", kinds[k].owner, name);
            put_var(p, key, values);
            json_decref(values);
            s++;
        }
    }
    upload_all(p);
}

static const char *key_of(json_t *c, const char *name, char *key, size_t n)
{
    snprintf(key, n, "%s.%s", json_object_get(json_object_get(c, "inputs"), name) ? "inputs" : "net", name);
    return key;
}

static void check_output(struct program *p, const char *phase, json_t *c, const char *list, double tolerance)
{
    json_t *want = list_of(c, list);
    ck_assert_int_eq(output_size(p, phase, "r"), (int64_t)json_array_size(want));
    for (size_t i = 0; i < json_array_size(want); i++) {
        double got = output_at(p, phase, "r", (int64_t)i), x = json_number_value(json_array_get(want, i));
        ck_assert_msg(is_near(got, x, tolerance), "%s of %s: %s[%zu] is %.15g, expected %.15g",
                      text_of(c, "text"), text_of(c, "make"), list, i, got, x);
    }
}

/* Every tensor of a list against variables, or, with `seen`, against the tree of gradients. */
static void check_tensors(struct program *p, json_t *c, const char *list, bool seen)
{
    const char *name;
    json_t *want;
    char key[64];
    json_object_foreach(json_object_get(c, list), name, want)
    {
        uint32_t var = graph_find_var(p->g, key_of(c, name, key, sizeof key));
        ck_assert_msg(var != 0, "no variable %s", key);
        const struct var *v = &p->g->vars.at[var];
        int64_t first = seen ? (int64_t)p->plan->leaf_start[v->tree - 1][v->leaf] : 0;
        for (size_t i = 0; i < json_array_size(want); i++) {
            double x = json_number_value(json_array_get(want, i));
            double got = var_at(p, seen ? "opt.p.s.seen" : key, first + (int64_t)i);
            ck_assert_msg(is_near(got, x, 1e-8), "%s of %s: %s of %s[%zu] is %.15g, expected %.15g",
                          text_of(c, "text"), text_of(c, "make"), list, key, i, got, x);
        }
    }
}

START_TEST(layers_equal_pytorch)
{
    json_t *c = json_array_get(cases, (size_t)_i);
    struct program p;
    struct arena *a = arena_new();
    struct text t = {.arena = a};
    write_program(&t, c);
    start_f64(&p, t.at);
    fill_tensors(&p, c);
    launch(&p, "p");
    check_output(&p, "p", c, "value", 1e-10);
    check_tensors(&p, c, "gradient", true);
    for (int i = 0; i < STEPS; i++) {
        launch(&p, "q");
    }
    check_tensors(&p, c, "last", false);
    check_tensors(&p, c, "states", false);
    launch(&p, "e");
    check_output(&p, "e", c, "after", 1e-8);
    finish(&p);
    arena_free(a);
}
END_TEST

int main(void)
{
    cases = golden("layers");
    TCase *t = tcase_create("layers");
    tcase_add_loop_test(t, layers_equal_pytorch, 0, (int)json_array_size(cases));
    int failed = suite_run("layers", t, CK_NOFORK);
    json_decref(cases);
    return failed;
}
