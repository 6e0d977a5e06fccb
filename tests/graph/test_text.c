/* The text form: prints back the same, and the graph it gives has the same bytes; bad text and broken graphs
 * are refused. */
#include "tests/graph/common.h"

START_TEST(round_trip)
{
    struct graph *g = sample();
    ck_assert_uint_eq(g->nodes.n, 37);
    ck_assert_str_eq(g->configs.at[2].text, "[64, \"a\\b\"]");
    ck_assert_str_eq(g->sources.list.at[2].text, "ends with a newline\n");
    ck_assert_uint_eq(g->vars.at[1].n_tags, 2);
    ck_assert_uint_eq(g->nodes.at[10].span.start, 17); /* 2:4, the first line has 13 bytes and its end */
    const char *once = print_with(graph_print, g);
    struct graph *h = parse(once);
    ck_assert_str_eq(print_with(graph_print, h), once);
    char *a, *b;
    size_t n, m;
    ck_assert(gmlb_write(g, arena, &a, &n) == ST_OK && gmlb_write(h, arena, &b, &m) == ST_OK);
    ck_assert(n == m && !memcmp(a, b, n));
}
END_TEST

/* One edit of the sample each: the text to replace, what replaces it, and the code that must come. */
START_TEST(broken_graphs)
{
    static const struct {
        const char *from, *to;
        enum diag_code code;
    } edits[] = {
        {"%14 = add f32[train.b, 2]", "%14 = add f32[train.b, 3]", DIAG_F1502},
        {"%14 = add f32[train.b, 2] %10, %13", "%14 = add f32[train.b, 2] %10, %12", DIAG_F1502},
        {"%14 = add f32[train.b, 2] %10, %13", "%14 = orthonormal f32[train.b, 2] %10",
         DIAG_F1501}, /* at load only */
        {"%14 = add", "%14 = frobnicate", DIAG_F1010},
        {"%10, %13", "%10, %14", DIAG_F1010},
        {"%10, %13", "%10, %2", DIAG_F1501}, /* a node of another phase */
        {"%14 = add", "%15 = add", DIAG_F1010},
        {"%8 {1}", "%8 {2}", DIAG_F1502},
        {"{2, 0}\n%29", "{9, 0}\n%29", DIAG_F1501},
        {"metric f32[] {2, 0}", "metric f32[] {2, 1}", DIAG_F1501},
        {"metric 0 name=\"loss\" value=%18", "metric 0 name=\"loss\" value=%17", DIAG_F1504},
        {"metric 0 name=\"loss\" value=%18", "metric 0 name=\"loss\" value=%4", DIAG_F1504},
        {"commit 1 var=2 value=%3", "commit 1 var=2 value=%1", DIAG_F1504},
        {"commit 1 var=2 value=%3", "commit 1 var=1 value=%1", DIAG_F1504}, /* twice */
        {"commit 1 var=2", "commit 1 var=2 tree=1", DIAG_F1504},
        {"leaf=1,2", "leaf=1", DIAG_F1503},
        {"leaf=1,2", "leaf=1,9", DIAG_F1503},
        {"key=\"set.y\"", "key=\"set.x\"", DIAG_F1503},
        {"f32[tree(0)] tree=1", "f32[tree(1)] tree=1", DIAG_F1503},
        {"value=32", "value=32.5", DIAG_F1506},
        {"phase=1 rows", "phase=2 rows", DIAG_F1506},
        {"raw=%4", "raw=%6", DIAG_F1506},
        {"kind=init name=\"init\"", "kind=user name=\"init\"", DIAG_F1504},
        {"name=\"run.0\"", "name=\"train\"", DIAG_F1504},
        {"child=3,4", "child=3,2", DIAG_F1505},
        {"child=3,4", "child=3", DIAG_F1505},
        {"child=3,4", "child=1,4", DIAG_F1505},
        {"expr=3", "expr=2", DIAG_F1505},
        {"unit=epochs count=1", "unit=epochs", DIAG_F1505},
        {"at=2:4+0", "at=9:4+0", DIAG_F1010},
        {"at=2:4+0", "at=#7:1-2", DIAG_F1501},
        {"graph 1", "graph 2", DIAG_F1010},
        {"kind=live", "kind=dead", DIAG_F1010},
        {"config 1", "config 3", DIAG_F1010},
        {"doc=\"rows of a launch\"", "doc=\"rows", DIAG_F1010},
        {"f32[4, 2] tree", "f32[1,1,1,1,1,1,1,1,1] tree", DIAG_F1010},
        {"count=10*B", "count=10*", DIAG_F1010},
    };
    const char *text = read_file(GML_SOURCE "/tests/graph/sample.graph");
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *at = strstr(text, edits[i].from);
        ck_assert_msg(at != NULL, "%s", edits[i].from);
        const char *broken =
            arena_printf(arena, "%.*s%s%s", (int)(at - text), text, edits[i].to, at + strlen(edits[i].from));
        struct graph *g = NULL;
        diag_init(&sink, arena, NULL);
        ck_assert_int_eq(graph_parse(arena, broken, &sink, &g), ST_DATA);
        ck_assert_msg(g == NULL && sink.list.n > 0 && sink.list.at[0].code == edits[i].code, "%s: %s %s",
                      edits[i].to, diag_name(sink.list.at[0].code), first_message());
    }
}
END_TEST

/* Any byte damaged: refused or read, never a crash. */
START_TEST(damaged_text)
{
    const char *text = print_with(graph_print, sample());
    size_t n = strlen(text), n_read = 0;
    static const char noise[] = "0%\"{}=@|;\n\x80";
    for (size_t i = 0; i < n; i++) {
        struct arena *a = arena_new();
        struct graph *g;
        char *damaged = arena_strndup(a, text, n);
        damaged[i] = noise[i % (sizeof noise - 1)];
        struct diag_sink s;
        diag_init(&s, a, NULL);
        enum status status = graph_parse(a, damaged, &s, &g);
        ck_assert_msg(status == ST_OK || (status == ST_DATA && s.list.n > 0), "offset %zu", i);
        n_read += status == ST_OK;
        arena_free(a);
    }
    ck_assert_uint_gt(n_read, 0);
    ck_assert_uint_lt(
        n_read, n / 2); /* damage inside strings, sources and comments goes unnoticed, the rest does not */
}
END_TEST

/* The verifier blames a pass for a graph that was not loaded. */
START_TEST(internal_failure)
{
    struct graph *g = sample();
    diag_init(&sink, arena, &g->sources);
    ck_assert_int_eq(graph_verify(g, &sink), ST_OK);
    g->nodes.at[14].dtype = DT_I32;
    ck_assert_int_eq(graph_verify(g, &sink), ST_INTERNAL);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_I0001);
}
END_TEST

START_TEST(precision)
{
    struct graph *g = sample();
    graph_set_precision(g, DT_F64);
    ck_assert_msg(graph_verify(g, &sink) == ST_OK, "%s", first_message());
    const char *text = print_with(graph_print, g);
    ck_assert_ptr_null(strstr(text, "f32"));
    ck_assert_ptr_nonnull(strstr(text, "f64[train.b, 4]"));
    ck_assert_ptr_nonnull(strstr(text, "i32[train.b]"));
    struct node_spec s = {
        .op = OP_const, .attr = (int64_t[]){f64_bits(0.5)}, .n_attr = 1, .type = {.dtype = DT_F64}};
    ck_assert_int_eq(graph_add(g, &s, &sink), 2); /* still found */
}
END_TEST

START_TEST(json_and_dot)
{
    struct graph *g = sample();
    const char *json = print_with(graph_json, g);
    ck_assert_ptr_nonnull(strstr(json, "\"op\": \"matmul\""));
    ck_assert_ptr_nonnull(strstr(json, "\"set.rows\""));
    ck_assert_ptr_nonnull(strstr(json, "\"column\": 4"));
    const char *dot = print_with(graph_dot, g);
    ck_assert_ptr_nonnull(strstr(dot, "n10 -> n14;"));
    ck_assert_ptr_nonnull(strstr(dot, "read f32[set.rows, 4] set.x#raw"));
}
END_TEST

int main(void)
{
    return RUN("text", round_trip, broken_graphs, damaged_text, internal_failure, precision, json_and_dot);
}
