/* Shared by the graph tests: an arena and a sink for each test, files, graphs as text and bytes. */
#ifndef GML_TESTS_GRAPH_COMMON_H
#define GML_TESTS_GRAPH_COMMON_H
#include <stdlib.h>
#include "runtime/graph/graph.h"
#include "tests/suite.h"

static struct arena *arena;
static struct diag_sink sink;

static void setup(void)
{
    arena = arena_new();
    diag_init(&sink, arena, NULL);
}
static void teardown(void)
{
    arena_free(arena);
}

static inline const char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    char *text = arena_alloc(arena, 1 << 16);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, f), 0);
    fclose(f);
    return text;
}

static inline const char *first_message(void)
{
    return sink.list.n ? sink.list.at[0].message : "no message";
}

static inline const char *print_with(void (*print)(const struct graph *, FILE *), const struct graph *g)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    print(g, f);
    fclose(f);
    const char *copy = arena_strndup(arena, text, n);
    free(text);
    return copy;
}

static inline struct graph *parse(const char *text)
{
    struct graph *g = NULL;
    enum status s = graph_parse(arena, text, &sink, &g);
    ck_assert_msg(s == ST_OK && g, "%s", first_message());
    return g;
}

static inline struct graph *sample(void)
{
    return parse(read_file(GML_SOURCE "/tests/graph/sample.graph"));
}

static inline int run_suite(const char *name, const TTest *const *tests, size_t n)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < n; i++) {
        tcase_add_test(c, tests[i]);
    }
    return suite_run(name, c, CK_NOFORK);
}
#define RUN(name, ...)                                                                                       \
    run_suite(name, (const TTest *const[]){__VA_ARGS__},                                                     \
              sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(void *))

#endif
