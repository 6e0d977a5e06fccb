/* Weights: what is saved comes back, padding is not stored, and differences are listed. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/format/format.h"
#include "tests/suite.h"

static struct arena *arena;
static struct graph *g;
static struct diag_sink sink;
static struct plan plan;
static char path[64];

static void add_param(const char *key, enum dtype t, uint64_t offset, int64_t rows, int64_t columns)
{
    vec_push(arena, &g->vars, ((struct var){.kind = VAR_PARAM, .key = key, .tree = 1}));
    plan.var[g->vars.n - 1].view = (struct operand){
        .offset = offset, .dim = {rows, columns}, .stride = {columns, 1}, .dtype = (uint8_t)t, .rank = 2};
}

static void set_up(void)
{
    arena = arena_new();
    g = graph_new(arena);
    g->model = "toy";
    diag_init(&sink, arena, NULL);
    plan = (struct plan){.arena = arena, .graph = g, .var = arena_array(arena, struct plan_var, 16)};
    strcpy(path, "/tmp/gml-weights-XXXXXX");
    close(mkstemp(path));
    add_param("net.a.w", DT_F32, 0, 2, 3);
    vec_push(arena, &g->vars, ((struct var){.kind = VAR_STATE, .key = "opt.m"}));
    add_param("net.b.w", DT_F32, 256, 1, 2);
}

static void tear_down(void)
{
    unlink(path);
    arena_free(arena);
}

START_TEST(round_trip)
{
    float image[128], back[128] = {0};
    for (int i = 0; i < 128; i++) {
        image[i] = (float)i + 0.25f;
    }
    ck_assert_int_eq(weights_save(&plan, image, path, &sink), ST_OK);
    struct array_file f;
    ck_assert_int_eq(safetensors_read(arena, path, &sink, &f), ST_OK);
    ck_assert_uint_eq(f.n, 2);
    ck_assert_str_eq(f.at[0].name, "net.a.w");
    ck_assert_uint_eq(f.at[0].n_bytes, 24);
    ck_assert_int_eq(weights_load(&plan, back, path, NULL, 0, false, &sink), ST_OK);
    ck_assert_mem_eq(back, image, 24);
    ck_assert_mem_eq(back + 64, image + 64, 8);
    ck_assert(back[6] == 0 && back[66] == 0);
}
END_TEST

START_TEST(f32_file_into_an_f64_model)
{
    float image[128] = {1.5f, -2.25f};
    double wide[128] = {0};
    ck_assert_int_eq(weights_save(&plan, image, path, &sink), ST_OK);
    plan.var[g->vars.n - 1].view.dtype = plan.var[g->vars.n - 3].view.dtype = DT_F64;
    ck_assert_int_eq(weights_load(&plan, wide, path, NULL, 0, false, &sink), ST_OK);
    ck_assert(wide[0] == 1.5 && wide[1] == -2.25);
}
END_TEST

/* Stored as bf16, read back to the bit, and rounded to it from an f32 file. */
START_TEST(bf16_parameters)
{
    static const uint16_t bits[] = {0x3f80, 0xc010, 0x7f80, 0x0001, 0x8000, 0x3f81};
    uint16_t image[256] = {0}, back[256] = {0};
    float wide[128] = {1.00390625f, -2.25f, 1.01171875f};
    struct array_file f;
    memcpy(image, bits, sizeof bits);
    ck_assert_int_eq(weights_save(&plan, wide, path, &sink), ST_OK);
    plan.var[g->vars.n - 1].view.dtype = plan.var[g->vars.n - 3].view.dtype = DT_BF16;
    ck_assert_int_eq(weights_load(&plan, back, path, NULL, 0, false, &sink), ST_OK);
    ck_assert(back[0] == 0x3f80 && back[1] == 0xc010 && back[2] == 0x3f82);
    ck_assert_int_eq(weights_save(&plan, image, path, &sink), ST_OK);
    ck_assert_int_eq(safetensors_read(arena, path, &sink, &f), ST_OK);
    ck_assert(f.at[0].type == FT_BF16 && f.at[0].n_bytes == 12);
    ck_assert_int_eq(weights_load(&plan, back, path, NULL, 0, true, &sink), ST_OK);
    ck_assert_mem_eq(back, bits, sizeof bits);
}
END_TEST

START_TEST(differences_are_listed_and_nothing_changes)
{
    float x[6] = {1, 2, 3, 4, 5, 6}, image[128] = {0};
    struct array list[] = {
        {.name = "net.a.w",
         .type = FT_F32,
         .item_bytes = 4,
         .rank = 2,
         .dim = {3, 2},
         .bytes = x,
         .n_bytes = 24},
        {.name = "net.c", .type = FT_F32, .item_bytes = 4, .rank = 1, .dim = {1}, .bytes = x, .n_bytes = 4}};
    ck_assert_int_eq(safetensors_write(path, list, 2, NULL, &sink), ST_OK);
    ck_assert_int_eq(weights_load(&plan, image, path, NULL, 0, false, &sink), ST_DATA);
    ck_assert_uint_eq(sink.list.n, 1);
    const struct diag *d = &sink.list.at[0];
    ck_assert_int_eq(d->code, DIAG_F2201);
    ck_assert_uint_eq(d->notes.n, 3);
    ck_assert_str_eq(d->notes.at[0], "wrong shape net.a.w: the model has f32[2, 3], the file f32[3, 2]");
    ck_assert_str_eq(d->notes.at[1], "missing     net.b.w: the model has f32[1, 2]");
    ck_assert_str_eq(d->notes.at[2], "unexpected  net.c: the file has f32[1]");
    ck_assert(image[0] == 0);
}
END_TEST

START_TEST(numbers_beyond_f32_are_refused)
{
    double x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {1.0 / 0.0, -1e39};
    float image[128] = {0};
    struct array list[] = {{.name = "net.a.w",
                            .type = FT_F64,
                            .item_bytes = 8,
                            .rank = 2,
                            .dim = {2, 3},
                            .bytes = x,
                            .n_bytes = 48},
                           {.name = "net.b.w",
                            .type = FT_F64,
                            .item_bytes = 8,
                            .rank = 2,
                            .dim = {1, 2},
                            .bytes = y,
                            .n_bytes = 16}};
    ck_assert_int_eq(safetensors_write(path, list, 2, NULL, &sink), ST_OK);
    ck_assert_int_eq(weights_load(&plan, image, path, NULL, 0, false, &sink), ST_DATA);
    ck_assert_uint_eq(sink.list.at[0].notes.n, 1);
    ck_assert_str_eq(sink.list.at[0].notes.at[0], "too large   net.b.w: -1e+39, element 1, does not fit f32");
    ck_assert(image[0] == 0);
    y[1] = -1e38;
    ck_assert_int_eq(safetensors_write(path, list, 2, NULL, &sink), ST_OK);
    sink.list.n = 0;
    ck_assert_int_eq(weights_load(&plan, image, path, NULL, 0, false, &sink), ST_DATA);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_F2202);
    ck_assert_uint_eq(sink.list.at[0].notes.n, 1);
    ck_assert_str_eq(sink.list.at[0].notes.at[0], "net.b.w: 1 of 2 numbers, the first is element 0: inf");
    ck_assert(image[0] == 0);
    ck_assert_int_eq(weights_load(&plan, image, path, NULL, 0, true, &sink), ST_OK);
    ck_assert(image[5] == 6 && isinf(image[64]) && image[65] == -1e38f);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("weights");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, f32_file_into_an_f64_model);
    tcase_add_test(t, bf16_parameters);
    tcase_add_test(t, differences_are_listed_and_nothing_changes);
    tcase_add_test(t, numbers_beyond_f32_are_refused);
    return suite_run("weights", t, CK_FORK);
}
