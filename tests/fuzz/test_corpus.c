/* Every committed seed and every past finding through its fuzz target, in every build; also cut short and
 * with bytes changed, so that the targets themselves are seen to work. */
#include <dirent.h>
#include <stdio.h>
#include "runtime/base/seam.h"
#include "tests/fuzz/targets.h"
#include "tests/suite.h"

static uint32_t replay(const struct fuzz_target *t, const char *folder, const char *part)
{
    struct arena *a = arena_new();
    struct diag_sink s;
    uint32_t n_files = 0;
    diag_init(&s, a, NULL);
    DIR *dir = opendir(arena_printf(a, GML_SOURCE "/tests/%s", folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char *bytes;
        size_t n;
        const char *path = arena_printf(a, GML_SOURCE "/tests/%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || (part && !strstr(e->d_name, part)) ||
            file_read(a, path, 1 << 20, &bytes, &n, &s) != ST_OK) {
            continue;
        }
        t->run((const uint8_t *)bytes, n);
        t->run((const uint8_t *)bytes, n / 2);
        for (size_t i = 0; i < 16 && n; i++) {
            bytes[i * 7919 % n] ^= (char)(1 << i % 8);
            t->run((const uint8_t *)bytes, n);
        }
        n_files++;
    }
    if (dir) {
        closedir(dir);
    }
    arena_free(a);
    return n_files;
}

/* The seeds of each target, beside its past findings; tools/fuzz.sh starts from the same. */
static const struct {
    const char *target, *folder, *part;
} seeds[] = {
    {"parser", "fuzz/seeds/gml", NULL},
    {"parser", "grammar", ".gml"},
    {"parser", "compile/bad", ".gml"},
    {"compile", "fuzz/seeds/gml", NULL},
    {"compile", "golden", ".gml"},
    {"compile", "malformed/files", ".gml"},
    {"safetensors", "fuzz/seeds/safetensors", NULL},
    {"npz", "format/files", ".np"},
    {"idx", "format/files", "ubyte"},
    {"csv", "fuzz/seeds/csv", NULL},
    {"data", "fuzz/seeds/data", NULL},
};

START_TEST(seeds_and_findings)
{
    const struct fuzz_target *t = &fuzz_targets[_i];
    char found[64];
    uint32_t n = 0;
    snprintf(found, sizeof found, "fuzz/found/%s", t->name);
    replay(t, found, NULL);
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        if (!strcmp(seeds[i].target, t->name)) {
            n += replay(t, seeds[i].folder, seeds[i].part);
        }
    }
    ck_assert(n > 0 || !strcmp(t->name, "gmlb"));
}
END_TEST

/* Graph files depend on the operator table, so their seeds are made here. */
START_TEST(compiled_graphs)
{
    static const char *const models[] = {"models/digits.gml", "tests/golden/silu.gml",
                                         "tests/grammar/models/tiny.gml"};
    const struct fuzz_target *t = &fuzz_targets[2];
    ck_assert_str_eq(t->name, "gmlb");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct arena *a = arena_new();
        struct diag_sink s;
        struct graph *g;
        char *bytes;
        size_t n;
        struct compile_options o = {.std_path = GML_SOURCE "/models/std"};
        diag_init(&s, a, NULL);
        ck_assert_int_eq(gml_compile(a, arena_printf(a, GML_SOURCE "/%s", models[i]), &o, &s, &g), ST_OK);
        ck_assert_int_eq(gmlb_write(g, a, &bytes, &n), ST_OK);
        t->run((uint8_t *)bytes, n);
        for (size_t k = 0; k < 200; k++) { /* payloads: the target makes the header */
            size_t at = 32 + k * 7919 % (n - 32);
            bytes[at] ^= (char)(1 << k % 8);
            t->run((uint8_t *)bytes + 32, n - 32);
            bytes[at] ^= (char)(1 << k % 8);
        }
        arena_free(a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("corpus");
    tcase_add_loop_test(t, seeds_and_findings, 0, FUZZ_TARGETS);
    tcase_add_test(t, compiled_graphs);
    return suite_run("corpus", t, CK_FORK);
}
