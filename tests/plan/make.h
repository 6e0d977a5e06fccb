/* Small graphs by hand for the planner's tests. */
#ifndef GML_TESTS_PLAN_MAKE_H
#define GML_TESTS_PLAN_MAKE_H
#include <stdio.h>
#include <stdlib.h>
#include "runtime/plan/plan.h"
#include "tests/suite.h"

struct make {
    struct arena *a;
    struct graph *g;
    struct diag_sink sink;
    uint16_t phase;
    uint32_t scope;
};

static inline struct phase *make_phase(struct make *m, const char *name, enum phase_kind kind)
{
    vec_push(m->a, &m->g->phases, ((struct phase){.name = name, .kind = kind}));
    m->phase = (uint16_t)(m->g->phases.n - 1);
    return &m->g->phases.at[m->phase];
}

/* Arenas of the running test; freed behind it (or earlier, the last one first). */
static struct arena *make_arenas[16];
static uint32_t make_n_arenas;
static inline void make_free_last(void)
{
    arena_free(make_arenas[--make_n_arenas]);
}
static inline void make_free_all(void)
{
    while (make_n_arenas) {
        make_free_last();
    }
}

/* An empty graph with its init phase. */
static inline struct make make_graph(void)
{
    struct make m = {.a = arena_new()};
    ck_assert_uint_lt(make_n_arenas, 16);
    make_arenas[make_n_arenas++] = m.a;
    m.g = graph_new(m.a);
    sources_add(&m.g->sources, "test.gml", "one\ntwo\nthree\n", 14);
    diag_init(&m.sink, m.a, &m.g->sources);
    make_phase(&m, "init", PHASE_INIT);
    return m;
}

static inline val make_node(struct make *m, const struct node_spec *spec)
{
    struct node_spec s = *spec;
    s.phase = m->phase;
    s.scope = m->scope;
    s.span = (struct span){4, 7, 1};
    val v = graph_add(m->g, &s, &m->sink);
    if (!v) {
        diag_render(&m->sink, DIAG_SHORT, false, stderr);
        ck_abort_msg("graph_add refused %s", op_table[s.op].name);
    }
    return v;
}
#define NODE(m, ...) make_node((m), &(struct node_spec){__VA_ARGS__})
#define IN(...)      .in = (val[]){__VA_ARGS__}, .n_in = sizeof((val[]){__VA_ARGS__}) / sizeof(val)
#define ATTR(...)                                                                                            \
    .attr = (int64_t[]){__VA_ARGS__}, .n_attr = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define DIMS(...) .dims = (dim[]){__VA_ARGS__}, .n_dim = sizeof((dim[]){__VA_ARGS__}) / sizeof(dim)

static inline dim make_dim(struct make *m, int64_t n)
{
    return dim_const(&m->g->dims, n);
}

static inline struct type make_type(struct make *m, enum dtype t, int rank, const int64_t *dims)
{
    struct type x = {.dtype = t, .rank = rank};
    for (int i = 0; i < rank; i++) {
        x.dim[i] = make_dim(m, dims[i]);
    }
    return x;
}

static inline uint32_t make_state(struct make *m, const char *key, struct type t)
{
    vec_push(m->a, &m->g->vars, ((struct var){.kind = VAR_STATE, .key = key, .type = t, .span = {0, 3, 1}}));
    return m->g->vars.n - 1;
}

/* A tree of parameters with the given types. */
static inline uint32_t make_tree(struct make *m, const char *name, const struct type *leaf, uint32_t n)
{
    struct tree t = {.name = name, .leaf = arena_array(m->a, uint32_t, n), .n_leaf = n};
    for (uint32_t i = 0; i < n; i++) {
        vec_push(m->a, &m->g->vars,
                 ((struct var){.kind = VAR_PARAM,
                               .key = arena_printf(m->a, "%s.%u", name, i),
                               .type = leaf[i],
                               .tree = m->g->trees.n + 1,
                               .leaf = i,
                               .span = {0, 3, 1}}));
        t.leaf[i] = m->g->vars.n - 1;
    }
    vec_push(m->a, &m->g->trees, t);
    return m->g->trees.n - 1;
}

static inline val make_read(struct make *m, uint32_t var)
{
    return NODE(m, .op = OP_read, ATTR(var));
}

static inline void make_commit(struct make *m, uint32_t var, val value)
{
    vec_push(m->a, &m->g->phases.at[m->phase].commits, ((struct commit){.var = var, .value = value}));
}
static inline void make_output(struct make *m, val value)
{
    vec_push(m->a, &m->g->phases.at[m->phase].outputs, ((struct output){.name = "out", .value = value}));
}

static inline uint32_t make_config(struct make *m, const char *name, double value)
{
    vec_push(m->a, &m->g->configs,
             ((struct config){.name = name,
                              .kind = CONFIG_DIM,
                              .value = value,
                              .symbol = dim_symbol(&m->g->dims, name),
                              .span = {0, 3, 1}}));
    return m->g->configs.n - 1;
}

/* Plans and checks; fails the test with the diagnostics when either does. */
static inline struct plan *make_plan(struct make *m, const struct plan_options *o)
{
    struct plan *p = NULL;
    enum status s = plan_build(m->g, o, m->a, &m->sink, &p);
    s = s == ST_OK ? plan_check(p, &m->sink) : s;
    if (s != ST_OK) {
        diag_render(&m->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("no plan, or a wrong one");
    }
    return p;
}
/* The code of the first error of a plan that must not come about. */
static inline enum diag_code make_failure(struct make *m, const struct plan_options *o)
{
    struct plan *p = NULL;
    enum status s = plan_build(m->g, o, m->a, &m->sink, &p);
    ck_assert_int_ne(s, ST_OK);
    ck_assert_ptr_null(p);
    ck_assert_uint_ge(m->sink.list.n, 1);
    return m->sink.list.at[0].code;
}

static inline uint32_t count_ops(const struct plan_variant *v, enum op op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_op; i++) {
        n += v->op[i].op == op;
    }
    return n;
}

#define MAIN(name, ...)                                                                                      \
    int main(void)                                                                                           \
    {                                                                                                        \
        const TTest *const tests[] = {__VA_ARGS__};                                                          \
        TCase *tcase = tcase_create(name);                                                                   \
        tcase_add_checked_fixture(tcase, NULL, make_free_all);                                               \
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {                                          \
            tcase_add_test(tcase, tests[i]);                                                                 \
        }                                                                                                    \
        return suite_run(name, tcase, CK_FORK);                                                              \
    }

#endif
