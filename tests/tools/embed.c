/* A program that embeds gml, compiled by test_install.sh against the installed header and library: trains a
 * model for some steps, evaluates it, reads a parameter, and meets the errors of the API. */
#include <gml.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static char last[512];

static void keep(void *user, const struct gml_message *m)
{
    (void)user;
    snprintf(last, sizeof last, "%s %s %s:%u %s", m->level, m->code, m->file ? m->file : "-", m->line,
             m->text);
}

static int failed(const char *what)
{
    fprintf(stderr, "embed: %s; last message: %s\n", what, last);
    return 1;
}

static double metric(const struct gml_summary *s, const char *name)
{
    for (size_t i = 0; i < s->n_metric; i++) {
        if (strcmp(s->metric[i].name, name) == 0) {
            return s->metric[i].value;
        }
    }
    return NAN;
}

int main(int argc, char **argv)
{
    const char *const set[] = {"epochs=3", NULL}, *const wrong[] = {"epoch=3", NULL};
    struct gml_options o = {
        .size = sizeof o, .device = "cpu", .seed = 1, .threads = 1, .steps = 22, .message = keep};
    struct gml_summary trained, evaluated;
    struct gml_tensor before, after;
    struct gml *g;
    if (argc != 3) {
        return failed("usage: embed MODEL RUN_FOLDER");
    }
    o.out = argv[2];
    o.set = wrong;
    if (gml_open(argv[1], &o, &g) == GML_OK || g != NULL || !strstr(last, "epoch")) {
        return failed("a misspelt config was accepted");
    }
    o.set = set;
    if (gml_open("nowhere.gml", &o, &g) != GML_USAGE) {
        return failed("a model that is not there was opened");
    }
    if (gml_open(argv[1], &o, &g) != GML_OK) {
        return failed("open");
    }
    if (gml_tensors(g) < 6 || gml_tensor(g, 0, &before) != GML_OK || strcmp(before.dtype, "f32") != 0) {
        return failed("no parameters");
    }
    float w = *(const float *)before.data;
    if (gml_tensor(g, gml_tensors(g), &after) != GML_USAGE) {
        return failed("a parameter beyond the last was read");
    }
    if (gml_train(g, &trained) != GML_OK || trained.steps != 22 || !(metric(&trained, "train.loss") > 0)) {
        return failed("train");
    }
    if (gml_eval(g, &evaluated) != GML_OK || !(metric(&evaluated, "eval.acc") > 0.5)) {
        return failed("eval after training");
    }
    if (gml_tensor(g, 0, &after) != GML_OK || *(const float *)after.data == w) {
        return failed("the parameter did not move");
    }
    printf("gml %s on %s: %lld steps, eval.acc %.4f, %s[0] %g -> %g\n", gml_version(), trained.device,
           (long long)trained.steps, metric(&evaluated, "eval.acc"), after.key, (double)w,
           (double)*(const float *)after.data);
    gml_close(g);
    return 0;
}
