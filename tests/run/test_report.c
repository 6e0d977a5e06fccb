/* Lines for programs and for people. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "runtime/report/report.h"
#include "tests/suite.h"

static struct arena *arena;
static struct diag_sink sink;
static char path[64];

static void set_up(void)
{
    arena = arena_new();
    diag_init(&sink, arena, NULL);
    strcpy(path, "/tmp/gml-report-XXXXXX");
    close(mkstemp(path));
}

static void tear_down(void)
{
    unlink(path);
    arena_free(arena);
}

START_TEST(numbers_read_back)
{
    static const double x[] = {0,     1,           -1,      0.1,    (double)0.1f,
                               1e-30, 123456789.0, 1.0 / 3, 5e-324, 1.7976931348623157e308};
    char text[32];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        number_text(x[i], text);
        bool narrow = (double)(float)x[i] == x[i];
        ck_assert_msg(narrow ? strtof(text, NULL) == (float)x[i] : strtod(text, NULL) == x[i], "%s", text);
    }
    number_text((double)0.1f, text);
    ck_assert_str_eq(text, "0.1");
    number_text(NAN, text);
    ck_assert_str_eq(text, "null");
}
END_TEST

static json_t *line(char **at)
{
    char *end = strchr(*at, '\n');
    ck_assert_ptr_nonnull(end);
    *end = 0;
    json_t *j = json_loads(*at, 0, NULL);
    ck_assert_msg(j != NULL, "%s", *at);
    *at = end + 1;
    return j;
}

START_TEST(metrics_file_has_a_line_each)
{
    const double each[] = {0.5, INFINITY, 2};
    struct metric_value m[] = {{.name = "train.loss", .value = 0.25},
                               {.name = "train.\"odd\"", .value = INFINITY},
                               {.name = "train.acc", .value = 0.5, .replica = each, .n_replica = 3}};
    struct report_options o = {.metrics_path = path, .steps = 10};
    struct report *r;
    ck_assert_int_eq(report_open(arena, &o, &sink, &r), ST_OK);
    struct event e = {EVENT_EPOCH, "train", 11, 1, m, 3, 1.5, false};
    ck_assert_int_eq(report_event(r, &e), ST_OK);
    struct metric_value parts[] = {{.name = "forward", .value = 0.5}, {.name = "loss", .value = 0.25}};
    const struct audit_summary audit = {
        .launches_per_step = 0.5, .bytes_d2h = 12, .syncs = 3, .source = "cupti"};
    struct summary s = {m, 1, 11, 0, 2.5, "cpu", "done", parts, 2, &audit};
    ck_assert_int_eq(report_summary(r, &s), ST_OK);
    report_close(r);
    char *text;
    size_t n;
    ck_assert_int_eq(file_read(arena, path, 10000, &text, &n, &sink), ST_OK);
    json_t *j = line(&text);
    ck_assert_str_eq(json_string_value(json_object_get(j, "event")), "epoch");
    ck_assert_int_eq(json_integer_value(json_object_get(j, "step")), 11);
    json_t *metrics = json_object_get(j, "metrics");
    ck_assert(json_number_value(json_object_get(metrics, "train.loss")) == 0.25);
    ck_assert(json_is_null(json_object_get(metrics, "train.\"odd\"")));
    json_t *list = json_object_get(metrics, "train.acc");
    ck_assert_uint_eq(json_array_size(list), 3);
    ck_assert(json_number_value(json_array_get(list, 2)) == 2);
    ck_assert(json_is_null(json_array_get(list, 1)));
    json_decref(j);
    j = line(&text);
    ck_assert_str_eq(json_string_value(json_object_get(j, "event")), "summary");
    ck_assert_str_eq(json_string_value(json_object_get(j, "device")), "cpu");
    ck_assert(json_number_value(json_object_get(json_object_get(j, "part_ms"), "loss")) == 0.25);
    json_t *a = json_object_get(j, "audit");
    ck_assert_uint_eq(json_object_size(a), 8);
    ck_assert(json_number_value(json_object_get(a, "launches_per_step")) == 0.5);
    ck_assert_int_eq(json_integer_value(json_object_get(a, "bytes_d2h")), 12);
    ck_assert_int_eq(json_integer_value(json_object_get(a, "syncs")), 3);
    ck_assert_str_eq(json_string_value(json_object_get(a, "source")), "cupti");
    json_decref(j);
    ck_assert_int_eq(*text, 0);
}
END_TEST

static struct io_seam real;

static ssize_t disk_full(int fd, const void *from, size_t n)
{
    (void)fd;
    (void)from;
    (void)n;
    return 0;
}

/* 30 bytes of a line still fit. */
static ssize_t nearly_full(int fd, const void *from, size_t n)
{
    ck_assert_uint_gt(n, 30);
    io_seam.write = disk_full;
    return real.write(fd, from, 30);
}

START_TEST(a_full_disk_is_an_error)
{
    struct report_options o = {.metrics_path = path};
    struct report *r;
    ck_assert_int_eq(report_open(arena, &o, &sink, &r), ST_OK);
    struct event e = {.phase = "train"};
    ck_assert_int_eq(report_event(r, &e), ST_OK);
    real = io_seam;
    io_seam.write = nearly_full;
    struct summary s = {.device = "cpu", .status = "failed"};
    enum status st = report_event(r, &e);
    io_seam = real;
    ck_assert_int_eq(st, ST_RESOURCE);
    ck_assert_int_eq(report_summary(r, &s), ST_OK); /* does not continue the line that was cut off */
    report_close(r);
    char *text;
    size_t n;
    ck_assert_int_eq(file_read(arena, path, 1 << 20, &text, &n, &sink), ST_OK);
    ck_assert_ptr_nonnull(strstr(text, "{\"event\": \"step\""));
    ck_assert_ptr_eq(strchr(text, '\n'), text + n - 1); /* one line, and it is whole */
    ck_assert_ptr_null(strstr(text, "summary"));
    ck_assert_uint_eq(sink.list.n, 1);
}
END_TEST

START_TEST(people_get_plain_lines_without_a_terminal)
{
    struct metric_value m[] = {{.name = "train.loss", .value = 0.25}};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    struct report_options o = {.out = out, .steps = 100};
    struct report *r;
    ck_assert_int_eq(report_open(arena, &o, &sink, &r), ST_OK);
    for (int64_t step = 1; step <= 12; step++) {
        struct event e = {EVENT_STEP, "train", step, 0, m, 1, 61, false};
        ck_assert_int_eq(report_event(r, &e), ST_OK);
        report_tick(r, &e);
    }
    struct event e = {EVENT_EPOCH, "train", 12, 1, m, 1, 61, false};
    ck_assert_int_eq(report_event(r, &e), ST_OK);
    report_close(r);
    fclose(out);
    ck_assert_str_eq(text, "train    step 5  loss 0.25  1:01\n"
                           "train    step 10  loss 0.25  1:01\n"
                           "train    step 12  epoch 1  loss 0.25  1:01\n");
    free(text);
}
END_TEST

/* Without a width of its own a terminal has 80 columns, and the bar stays inside them. */
START_TEST(the_bar_fits_the_terminal)
{
    struct metric_value m[] = {{.name = "train.loss", .value = 0.25},
                               {.name = "train.grad_norm", .value = 0.125},
                               {.name = "train.accuracy", .value = 0.5}};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    struct report_options o = {.out = out, .steps = 100, .is_terminal = true};
    struct report *r;
    ck_assert_int_eq(report_open(arena, &o, &sink, &r), ST_OK);
    struct event e = {EVENT_STEP, "train", 50, 0, m, 3, 10, false};
    ck_assert_int_eq(report_event(r, &e), ST_OK);
    report_close(r);
    fclose(out);
    ck_assert_str_eq(text, "\r\033[K============------------ 50/100  5 steps/s  left 0:10  loss 0.25"
                           "\r\033[K");
    free(text);
}
END_TEST

/* The step line that ends an epoch would repeat the line of the epoch. */
START_TEST(an_epoch_is_told_once)
{
    struct metric_value m[] = {{.name = "train.loss", .value = 0.25}};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    struct report_options o = {.out = out, .steps = 20};
    struct report *r;
    ck_assert_int_eq(report_open(arena, &o, &sink, &r), ST_OK);
    struct event step = {EVENT_STEP, "train", 10, 1, m, 1, 61, true};
    struct event epoch = {EVENT_EPOCH, "train", 10, 1, m, 1, 61, false};
    ck_assert_int_eq(report_event(r, &step), ST_OK);
    ck_assert_int_eq(report_event(r, &epoch), ST_OK);
    report_close(r);
    fclose(out);
    ck_assert_str_eq(text, "train    step 10  epoch 1  loss 0.25  1:01\n");
    free(text);
}
END_TEST

START_TEST(run_json_holds_the_configs)
{
    struct run_config c[] = {{"lr", "0.001"}, {"widths", "[256, 128]"}, {"mode", "fast"}};
    struct run_file f = {"digits", "data/digits.npz", 255, 1797};
    struct run_info info = {.model = "digits",
                            .command = "gmlrun train",
                            .device = "cpu",
                            .device_version = "",
                            .precision = "f32",
                            .version = "1",
                            .seed = 7,
                            .config = c,
                            .n_config = 3,
                            .data = &f,
                            .n_data = 1};
    ck_assert_int_eq(report_run_json(path, &info, &sink), ST_OK);
    json_t *j = json_load_file(path, 0, NULL), *config = json_object_get(j, "config");
    ck_assert(json_number_value(json_object_get(config, "lr")) == 0.001);
    ck_assert_uint_eq(json_array_size(json_object_get(config, "widths")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(config, "mode")), "fast");
    json_t *d = json_object_get(json_object_get(j, "data"), "digits");
    ck_assert_str_eq(json_string_value(json_object_get(d, "hash")), "fnv1a64:00000000000000ff");
    json_decref(j);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("report");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, numbers_read_back);
    tcase_add_test(t, metrics_file_has_a_line_each);
    tcase_add_test(t, a_full_disk_is_an_error);
    tcase_add_test(t, people_get_plain_lines_without_a_terminal);
    tcase_add_test(t, the_bar_fits_the_terminal);
    tcase_add_test(t, an_epoch_is_told_once);
    tcase_add_test(t, run_json_holds_the_configs);
    return suite_run("report", t, CK_FORK);
}
