/* The diagnostic sink and its three renderings. */
#include <stdlib.h>
#include "runtime/base/diag.h"
#include "runtime/base/limits.h"
#include "tests/suite.h"

static const char model[] = "gml 1\n"
                            "layer Linear{O: dim}(x: f32[..S, I]) -> f32[..S, O] {\n"
                            "    param w: f32[I, O] = glorot()\n"
                            "    return x @ w + b\n"
                            "}\n";

struct world {
    struct arena *arena;
    struct sources sources;
    struct diag_sink sink;
    uint16_t file;
};

static struct world *world_new(const char *text)
{
    struct arena *a = arena_new();
    struct world *w = arena_new_of(a, struct world);
    w->arena = a;
    sources_init(&w->sources, a);
    w->file = sources_add(&w->sources, "models/mlp.gml", text, (uint32_t)strlen(text));
    diag_init(&w->sink, a, &w->sources);
    return w;
}

/* Place of `what`, the `nth` from 0. */
static struct span place(const struct world *w, const char *what, int nth)
{
    const char *text = w->sources.list.at[w->file].text, *p = text - 1;
    for (int i = 0; i <= nth; i++) {
        p = strstr(p + 1, what);
    }
    uint32_t start = (uint32_t)(p - text);
    return (struct span){start, start + (uint32_t)strlen(what), w->file};
}

static void expect(const struct world *w, enum diag_format f, const char *want)
{
    char *got = NULL;
    size_t n;
    FILE *out = open_memstream(&got, &n);
    diag_render(&w->sink, f, false, out);
    fclose(out);
    ck_assert_str_eq(got, want);
    free(got);
}

START_TEST(human_with_labels_on_the_same_and_other_lines)
{
    struct world *w = world_new(model);
    struct span at = place(w, "@", 0), x = {at.start - 2, at.start - 1, w->file};
    struct span weight = {at.start + 2, at.start + 3, w->file};
    enum status st =
        diag_emit(&w->sink, DIAG_E2012, at, "`@` needs equal inner dimensions, found %d and %d", 256, 128);
    ck_assert_int_eq(st, ST_MODEL);
    diag_label(&w->sink, weight, "`w` is f32[I, O], I = 128");
    diag_label(&w->sink, x, "`x` is f32[B, 256]");
    diag_label(&w->sink, place(w, "param w", 0), "declared here");
    diag_label(&w->sink, place(w, "gml", 0), "edition");
    diag_note(&w->sink, "in net.fc.1.lin");
    diag_help(&w->sink, "did you mean `%s`?", "widths[i-1]");
    expect(w, DIAG_HUMAN,
           "error[E2012]: `@` needs equal inner dimensions, found 256 and 128\n"
           " --> models/mlp.gml:4:14\n"
           "1 | gml 1\n"
           "  | --- edition\n"
           "...\n"
           "3 |     param w: f32[I, O] = glorot()\n"
           "  |     ------- declared here\n"
           "4 |     return x @ w + b\n"
           "  |            - ^ - `w` is f32[I, O], I = 128\n"
           "  |            `x` is f32[B, 256]\n"
           "  = in net.fc.1.lin\n"
           "help: did you mean `widths[i-1]`?\n");
    arena_free(w->arena);
}
END_TEST

START_TEST(human_with_another_file_and_without_a_place)
{
    struct world *w = world_new("gml 1\n\tlet a = b\n");
    uint16_t other = sources_add(&w->sources, "<std>/nn.gml", "gml 1\nfn b() = 1\n", 17);
    diag_emit(&w->sink, DIAG_E0100, place(w, "b", 0), "what");
    diag_label(&w->sink, (struct span){9, 10, other}, "declared here");
    diag_emit(&w->sink, DIAG_R1001, NO_SPAN, "cannot open `x`");
    expect(w, DIAG_HUMAN,
           "error[R1001]: cannot open `x`\n"
           "error[E0100]: what\n"
           " --> models/mlp.gml:2:10\n"
           "2 |     let a = b\n"
           "  |             ^\n"
           " ::: <std>/nn.gml:2:4\n"
           "2 | fn b() = 1\n"
           "  |    - declared here\n");
    arena_free(w->arena);
}
END_TEST

START_TEST(short_and_json)
{
    struct world *w = world_new(model);
    diag_emit(&w->sink, DIAG_E0100, place(w, "@", 0), "unexpected \"@\"\n\xff");
    diag_label(&w->sink, place(w, "w", 0), "here");
    diag_emit(&w->sink, DIAG_E2012, place(w, "gml", 0), "first");
    expect(w, DIAG_SHORT,
           "models/mlp.gml:1:1: error[E2012]: first\n"
           "models/mlp.gml:4:14: error[E0100]: unexpected \"@\"\n\xff\n");
    expect(w, DIAG_JSON,
           "{\"code\":\"E2012\",\"level\":\"error\",\"message\":\"first\",\"spans\":[{\"file\":\"models/"
           "mlp.gml\",\"line\":1,"
           "\"column\":1,\"end_line\":1,\"end_column\":4,\"is_primary\":true,\"label\":\"\"}],\"notes\":[],"
           "\"help\":null}\n"
           "{\"code\":\"E0100\",\"level\":\"error\",\"message\":\"unexpected "
           "\\\"@\\\"\\u000a\\ufffd\",\"spans\":["
           "{\"file\":\"models/"
           "mlp.gml\",\"line\":4,\"column\":14,\"end_line\":4,\"end_column\":15,\"is_primary\":true,"
           "\"label\":\"\"},{\"file\":\"models/"
           "mlp.gml\",\"line\":3,\"column\":11,\"end_line\":3,\"end_column\":12,"
           "\"is_primary\":false,\"label\":\"here\"}],\"notes\":[],\"help\":null}\n");
    arena_free(w->arena);
}
END_TEST

START_TEST(odd_spans_are_safe)
{
    struct world *w = world_new("a\xc3\xa4\x1b[31m\nlast");
    diag_emit(&w->sink, DIAG_E0100, (struct span){0, 4000000000u, w->file}, "long");
    diag_emit(&w->sink, DIAG_E2012, (struct span){4000000000u, 4000000001u, w->file}, "far");
    diag_label(&w->sink, (struct span){1, 2, 999}, "no such file");
    diag_emit(&w->sink, DIAG_I0001, (struct span){3, 1, w->file}, "backwards");
    expect(w, DIAG_HUMAN,
           "error[E0100]: long\n --> models/mlp.gml:1:1\n1 | a\xc3\xa4?[31m\n  | ^^^^^^^\n"
           "error[I0001]: backwards\n --> models/mlp.gml:1:4\n1 | a\xc3\xa4?[31m\n  |   ^\n"
           "error[E2012]: far\n --> models/mlp.gml:2:5\n2 | last\n  |     ^\n");
    arena_free(w->arena);
}
END_TEST

START_TEST(one_cause_once_and_a_limit)
{
    struct world *w = world_new(model);
    diag_emit(&w->sink, DIAG_E0100, place(w, "w", 0), "one");
    diag_emit(&w->sink, DIAG_E0100, place(w, "w", 0), "again");
    diag_note(&w->sink, "must not attach to the first");
    ck_assert_uint_eq(w->sink.list.n, 1);
    ck_assert_uint_eq(w->sink.list.at[0].notes.n, 0);
    for (uint32_t i = 0; i < 100; i++) {
        diag_emit(&w->sink, DIAG_E2012, (struct span){i, i + 1, w->file}, "more");
    }
    ck_assert_uint_eq(w->sink.list.n, LIMIT_DIAGNOSTICS);
    ck_assert(w->sink.full);
    ck_assert_int_eq(diag_worst(&w->sink), ST_MODEL);
    arena_free(w->arena);
}
END_TEST

START_TEST(closest)
{
    const char *const names[] = {"--steps", "--seed", "--set", "lr", "device"};
    ck_assert_str_eq(closest_name("--step", names, 5), "--steps");
    ck_assert_str_eq(closest_name("devcie", names, 5), "device");
    ck_assert_str_eq(closest_name("lr2", names, 5), "lr");
    ck_assert_ptr_null(closest_name("momentum", names, 5));
    ck_assert_ptr_null(closest_name("x", names, 5));
    ck_assert_ptr_null(closest_name("", names, 5));
}
END_TEST

START_TEST(every_code_has_a_page)
{
    for (int c = 0; c < DIAG_COUNT; c++) {
        ck_assert(strlen(diag_name(c)) == 5 && strlen(diag_title(c)) > 3 && strlen(diag_page(c)) > 20);
        for (int d = 0; d < c; d++) {
            ck_assert_str_ne(diag_name(c), diag_name(d));
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("diag");
    tcase_add_test(t, human_with_labels_on_the_same_and_other_lines);
    tcase_add_test(t, human_with_another_file_and_without_a_place);
    tcase_add_test(t, short_and_json);
    tcase_add_test(t, odd_spans_are_safe);
    tcase_add_test(t, one_cause_once_and_a_limit);
    tcase_add_test(t, closest);
    tcase_add_test(t, every_code_has_a_page);
    return suite_run("diag", t, CK_FORK);
}
