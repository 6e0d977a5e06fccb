/* The models of the repository: their plans pass the checker, stay within 1.02 of the lower bound, and update
 * parameters and optimizer state in place. Planned for the CPU and for a GPU, with and without sharing of
 * bytes, for several numbers of rows. */
#include "runtime/run/run.h"
#include "compiler/compiler.h"
#include "make.h"

static const char *const models[] = {"digits"};

static struct make compile(const char *name)
{
    struct make m = {.a = arena_new()};
    make_arenas[make_n_arenas++] = m.a;
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    diag_init(&m.sink, m.a, NULL);
    const char *path = arena_printf(m.a, "%s/models/%s.gml", GML_SOURCE, name);
    if (gml_compile(m.a, path, &o, &m.sink, &m.g) != ST_OK) {
        diag_render(&m.sink, DIAG_SHORT, false, stderr);
        ck_abort_msg("%s does not compile", name);
    }
    return m;
}

/* All rows but a fifth for training. */
static struct plan_options rows_for(struct make *m, int64_t rows)
{
    int64_t *data = arena_array(m->a, int64_t, m->g->datas.n),
            (*split)[2] = arena_alloc(m->a, m->g->phases.n * sizeof *split);
    for (uint32_t i = 0; i < m->g->datas.n; i++) {
        data[i] = rows;
    }
    for (uint32_t i = 0; i < m->g->phases.n; i++) {
        bool train = m->g->phases.at[i].training;
        split[i][0] = train ? 0 : rows - rows / 5;
        split[i][1] = train ? rows - rows / 5 : rows / 5;
    }
    return (struct plan_options){.data_rows = data, .split_rows = split, .target = {.name = "cpu"}};
}

START_TEST(plans_pass_the_checker)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        static const int64_t rows[] = {1797, 3000, 5123};
        for (size_t r = 0; r < 3; r++) {
            struct make m = compile(models[i]);
            struct plan_options o = rows_for(&m, rows[r]);
            make_plan(&m, &o);
            o.no_reuse = true;
            make_plan(&m, &o);
            o.no_reuse = false;
            o.target = *run_target("h200");
            struct plan *p = make_plan(&m, &o);
            ck_assert_uint_ge(p->workspace_bytes, 32u << 20);
            make_free_last();
        }
    }
}
END_TEST

START_TEST(memory_is_near_the_bound)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct make m = compile(models[i]);
        struct plan_options o = rows_for(&m, 1797);
        struct plan *p = make_plan(&m, &o);
        for (uint32_t v = 0; v < p->n_variant; v++) {
            ck_assert_uint_le(p->variant[v].planned * 100, p->variant[v].bound * 102);
        }
        make_free_last();
    }
}
END_TEST

START_TEST(training_updates_in_place)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct make m = compile(models[i]);
        struct plan_options o = rows_for(&m, 1797);
        struct plan *p = make_plan(&m, &o);
        for (uint32_t c = 0; c < p->n_copy; c++) {
            ck_assert(!m.g->phases.at[p->variant[p->copy[c].variant].phase].training);
        }
        make_free_last();
    }
}
END_TEST

MAIN("models", plans_pass_the_checker, memory_is_near_the_bound, training_updates_in_place)
