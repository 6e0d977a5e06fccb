/* Shared by the tests of the standard library: programs in f64 whose inputs are written by the test, and
 * golden files (tools/make_golden_std.py). Everything here lives until finish(). */
#ifndef GML_TESTS_STD_GOLDEN_H
#define GML_TESTS_STD_GOLDEN_H
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

/* For main(): outside of a test, Check has no asserts. */
static inline json_t *golden(const char *name)
{
    char path[512];
    json_error_t why;
    snprintf(path, sizeof path, "%s/tests/golden/std_%s.json", GML_SOURCE, name);
    json_t *j = json_load_file(path, 0, &why);
    if (!j) {
        fprintf(stderr, "%s: %s\n", path, why.text);
        exit(1);
    }
    return j;
}
static inline int count_of(json_t *object, const char *key)
{
    return (int)json_array_size(json_object_get(object, key));
}
static inline const char *text_of(json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    ck_assert_msg(s != NULL, "the golden file has no text `%s`", key);
    return s;
}
static inline json_t *list_of(json_t *object, const char *key)
{
    json_t *l = json_object_get(object, key);
    ck_assert_msg(json_is_array(l) && json_array_size(l), "the golden file has no list `%s`", key);
    return l;
}
/* Compiles in f64 and runs phase init. */
static inline void start_f64(struct program *p, const char *text)
{
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    *p = (struct program){.a = arena_new()};
    diag_init(&p->sink, p->a, NULL);
    struct graph *g = NULL;
    enum status st = gml_elaborate(p->a, "test.gml", text, (uint32_t)strlen(text), &o, &p->sink, &g);
    if (st == ST_OK) {
        graph_set_precision(g, DT_F64);
        st = run_passes(g, &o, &p->sink, &p->g);
    }
    if (st != ST_OK) {
        diag_render(&p->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("does not compile:\n%s", text);
    }
    begin(p);
}
/* Writes a list into a variable; upload_all() hands it to the backend. */
static inline void put_var(struct program *p, const char *key, json_t *list)
{
    uint32_t v = graph_find_var(p->g, key);
    ck_assert_msg(v != 0, "no variable %s", key);
    char *at = p->memory + p->plan->var[v].offset;
    enum dtype t = p->g->vars.at[v].type.dtype;
    ck_assert_msg(t == DT_F64 || t == DT_I32, "%s is neither f64 nor i32", key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (t == DT_F64) {
            ((double *)at)[i] = json_number_value(json_array_get(list, i));
        } else {
            ((int32_t *)at)[i] = (int32_t)json_integer_value(json_array_get(list, i));
        }
    }
}
static inline void upload_all(struct program *p)
{
    ck_assert_int_eq(backend_cpu.upload(p->e, 0, p->memory, p->plan->bytes), ST_OK);
}
/* |got - want| <= tolerance * max(1, |want|). */
static inline bool is_near(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * fmax(1, fabs(want));
}

#endif
