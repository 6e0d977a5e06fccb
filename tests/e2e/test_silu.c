/* The whole path against PyTorch: 100 AdamW losses of a SiLU network from the same initial weights.
 * Golden files: tools/make_golden_silu.py. Tolerances, relative: 1e-10 in f64, 1e-5 in f32. */
#include "tests/suite.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100 };

static void golden_losses(double out[STEPS])
{
    json_error_t why;
    json_t *list = json_load_file(GML_SOURCE "/tests/golden/silu_losses.json", 0, &why);
    ck_assert_msg(list && json_array_size(list) == STEPS, "golden losses: %s", why.text);
    for (int i = 0; i < STEPS; i++) {
        out[i] = json_number_value(json_array_get(list, (size_t)i));
    }
    json_decref(list);
}

/* Loss of each step from the metrics of a run; returns how many were found. */
static int read_losses(const char *path, double out[STEPS])
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    static char line[1 << 16];
    int n = 0;
    while (fgets(line, sizeof line, f)) {
        json_t *j = json_loads(line, 0, NULL);
        ck_assert_msg(j != NULL, "not JSON: %s", line);
        const char *event = json_string_value(json_object_get(j, "event"));
        json_t *loss = json_object_get(json_object_get(j, "metrics"), "train.loss");
        if (event && !strcmp(event, "step") && loss && n < STEPS) {
            ck_assert_int_eq(json_integer_value(json_object_get(j, "step")), n + 1);
            out[n++] = json_number_value(loss);
        }
        json_decref(j);
    }
    fclose(f);
    return n;
}

static void compare(const char *precision, double tolerance)
{
    char dir[] = "/tmp/gml-silu-XXXXXX", command[4096], path[256];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(command, sizeof command,
             "%s/bin/gmlrun train %s/tests/golden/silu.gml --device cpu --precision %s --weights "
             "%s/tests/golden/silu_weights.safetensors --log-every 1 --out %s/run -q",
             GML_BUILD, GML_SOURCE, precision, GML_SOURCE, dir);
    ck_assert_int_eq(system(command), 0);
    double want[STEPS], got[STEPS], worst = 0;
    golden_losses(want);
    snprintf(path, sizeof path, "%s/run/metrics.jsonl", dir);
    ck_assert_int_eq(read_losses(path, got), STEPS);
    for (int i = 0; i < STEPS; i++) {
        worst = fmax(worst, fabs(got[i] - want[i]) / fabs(want[i]));
        ck_assert_msg(worst <= tolerance, "step %d: loss %.17g, PyTorch %.17g", i + 1, got[i], want[i]);
    }
    printf("%s: largest relative difference %.2e\n", precision, worst);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(f64_losses_equal_pytorch)
{
    compare("f64", 1e-10);
}
END_TEST

START_TEST(f32_losses_equal_pytorch)
{
    compare("f32", 1e-5);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("silu");
    tcase_add_test(t, f64_losses_equal_pytorch);
    tcase_add_test(t, f32_losses_equal_pytorch);
    return suite_run("silu", t, CK_FORK);
}
