/* Plans of shipped models for a device, with as many rows in each data set. */
#ifndef GML_TESTS_PLAN_MODEL_H
#define GML_TESTS_PLAN_MODEL_H
#include <check.h>
#include "compiler/compiler.h"
#include "runtime/plan/plan.h"

/* Four fifths of the rows are those of each phase. */
static inline struct plan *model_plan(struct arena *a, const char *path, const struct target *t, bool fuse,
                                      int64_t rows)
{
    struct diag_sink sink;
    struct graph *g;
    struct plan *p = NULL;
    struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
    diag_init(&sink, a, NULL);
    enum status st = gml_compile(a, path, &o, &sink, &g);
    int64_t *all = arena_array(a, int64_t, st == ST_OK ? g->datas.n : 0);
    int64_t(*split)[2] = arena_alloc(a, LIMIT_PHASES * sizeof *split);
    for (uint32_t i = 0; st == ST_OK && i < g->datas.n; i++) {
        all[i] = rows;
    }
    for (int i = 0; i < LIMIT_PHASES; i++) {
        split[i][0] = 0;
        split[i][1] = rows * 4 / 5;
    }
    struct plan_options po = {
        .data_rows = all, .split_rows = (const int64_t(*)[2])split, .target = *t, .fuse = fuse};
    st = st == ST_OK ? plan_build(g, &po, a, &sink, &p) : st;
    if (st != ST_OK) {
        diag_render(&sink, DIAG_HUMAN, false, stderr);
    }
    ck_assert_msg(st == ST_OK, "%s", path);
    return p;
}

#endif
