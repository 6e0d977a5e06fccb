/* Generated kernels without a GPU: the text is the one that was looked at, NVRTC takes it without a word, and
 * the executor over a fake device loads, keeps and shares them. What they compute is checked by
 * tools/gpu_groups.c. */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/exec/cuda/cuda_nvrtc.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/suite.h"
#include "tools/random/groups.h"

enum { IMAGE = 256 << 20 };
static struct group_image image;
static char folder[64];

static void setup(void)
{
    fake_start(&failing_api, (uint64_t)1 << 30);
    group_image_open(&image, IMAGE);
    strcpy(folder, "/tmp/gml_groups.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    group_image_close(&image);
    ck_assert_int_eq(fake.alive, 0);
}

static const struct kargs *find_case(const char *text)
{
    for (uint32_t i = 0; i < image.at.n; i++) {
        if (strcmp(image.at.at[i].text, text) == 0) {
            return &image.at.at[i].op.k;
        }
    }
    ck_abort_msg("no case `%s`", text);
    return NULL;
}

/* -- the text */
START_TEST(golden)
{
    static const char *const text[] = {"update in place", "softmax [128, 10]", "sum f32[3, 40000]", "labels",
                                       "box f32 2 of 3"};
    struct codegen_kernel k;
    group_handmade(&image);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char path[512], *want = mem_alloc(1 << 16);
        ck_assert(codegen_group(find_case(text[i]), image.memory, &k));
        const char *got = strstr(k.source, "struct gml_failure");
        got = strchr(strstr(got, "GML_INLINE void gml_fail"),
                     '}'); /* behind the prelude, which changes by itself */
        snprintf(path, sizeof path, GML_SOURCE "/tests/golden/group_%zu.txt", i);
        if (getenv("GML_WRITE_GOLDEN")) {
            FILE *f = fopen(path, "w");
            fprintf(f, "%s\n%s", text[i], strstr(got, "\n}\n") + 3);
            fclose(f);
        }
        FILE *f = fopen(path, "r");
        ck_assert_msg(f, "%s", path);
        want[fread(want, 1, 65535, f)] = 0;
        fclose(f);
        ck_assert_str_eq(strchr(want, '\n') + 1, strstr(got, "\n}\n") + 3);
        mem_free(want, 1 << 16);
    }
}
END_TEST

START_TEST(same_text_for_other_places)
{
    struct codegen_kernel a, b, c;
    group_random(&image, 5);
    group_random(&image, 5);
    struct kargs *k = &image.at.at[1].op.k;
    ck_assert(codegen_group(&image.at.at[0].op.k, image.memory, &a));
    ck_assert(codegen_group(k, image.memory, &b));
    ck_assert_uint_ne(image.at.at[0].op.k.in[0].offset, k->in[0].offset);
    ck_assert_str_eq(a.source, b.source);
    struct operand *in = (struct operand *)&k->in[0];
    in->offset += 4;
    ck_assert(codegen_group(k, image.memory, &c));
    in->offset -= 4;
    ck_assert_str_ne(a.name, c.name); /* no longer aligned */
}
END_TEST

#ifdef GML_COMPILE_KERNELS
START_TEST(compiles)
{
    void *nvrtc;
    struct codegen_kernel k;
    if (nvrtc_open(NULL, NULL, &nvrtc) == CUDA_COMPILER_MISSING) {
        fprintf(stderr, "libnvrtc.so.13 is not here: nothing was compiled\n");
        return;
    }
    group_handmade(&image);
    for (uint32_t i = image.at.n; i-- > 0;) {
        image.at.at[i / 12] = i % 12 == 0 ? image.at.at[i] : image.at.at[i / 12];
    }
    image.at.n /= 12;
    for (uint64_t seed = 0; seed < 10; seed++) {
        group_random(&image, seed);
    }
    for (uint32_t i = 0; i < image.at.n; i++) {
        struct cuda_cubin cubin;
        if (!codegen_group(&image.at.at[i].op.k, image.memory, &k)) {
            continue;
        }
        int code = nvrtc_compile(NULL, nvrtc, k.source, 90, &cubin);
        ck_assert_msg(code == 0 && !cubin.log[0], "%s: %.2000s", image.at.at[i].text, cubin.log);
        mem_free(cubin.bytes, cubin.n);
    }
    nvrtc_close(NULL, nvrtc);
}
END_TEST
#endif

/* -- the executor */
static struct phase phase = {.name = "groups", .kind = PHASE_USER};
static struct graph graph;
static struct plan_variant variant;
static struct plan plan;

/* A run over all cases of the image: their kernels are asked for `times` times. */
static enum status run_cases(const char *cache, char *warning)
{
    struct exec *e = NULL;
    char why[512];
    struct plan_op *op = arena_array(image.memory, struct plan_op, image.at.n);
    for (uint32_t i = 0; i < image.at.n; i++) {
        op[i] = image.at.at[i].op;
    }
    graph.phases.at = &phase;
    graph.phases.n = 1;
    variant = (struct plan_variant){.op = op, .n_op = image.at.n};
    plan = (struct plan){.graph = &graph,
                         .control = image.control,
                         .bytes = image.used,
                         .device_bytes = image.used,
                         .variant = &variant,
                         .n_variant = 1};
    struct exec_options o = {.cache = cache};
    fake.opened = fake.compiled = fake.refused = 0;
    enum status s = fake_backend.open(&o, &e, why, sizeof why);
    s = s == ST_OK ? fake_backend.arena(e, image.used) : s;
    s = s == ST_OK ? fake_backend.prepare(e, &plan) : s;
    if (e && warning) {
        strcpy(warning, s == ST_OK ? fake_backend.warning(e) : fake_backend.error(e));
    }
    cuda_close(e);
    return s;
}

/* Files of the folder with this ending; `break_at`: the byte of one that is changed, -1 = cut in the middle.
 */
static int files(const char *ending, const int *break_at)
{
    DIR *d = opendir(folder);
    char path[512];
    int n = 0;
    for (struct dirent *x = d ? readdir(d) : NULL; x; x = readdir(d)) {
        if (!strstr(x->d_name, ending)) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, x->d_name);
        if (break_at && n == 0) {
            FILE *f = fopen(path, "r+");
            fseek(f, 0, SEEK_END);
            long size = ftell(f), at = *break_at < 0 ? size + *break_at : *break_at;
            fseek(f, at, SEEK_SET);
            int c = fgetc(f);
            fseek(f, at, SEEK_SET);
            fputc(c ^ 1, f);
            fclose(f);
            if (*break_at == 7) {
                ck_assert_int_eq(truncate(path, size / 2), 0);
            }
        }
        n++;
    }
    if (d) {
        closedir(d);
    }
    return n;
}

static void some_cases(void)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        group_random(&image, seed % 5); /* two have the same text */
    }
}

START_TEST(cache)
{
    char below_it[128], warning[512];
    some_cases();
    snprintf(below_it, sizeof below_it, "%s/a/b", folder);
    ck_assert_int_eq(run_cases(below_it, warning), ST_OK);
    ck_assert_int_eq(fake.compiled, 5);
    ck_assert_str_eq(warning, "");
    ck_assert_int_eq(run_cases(below_it, warning), ST_OK);
    ck_assert_int_eq(fake.opened + fake.compiled, 0); /* warm: the compiler stays closed */
    ck_assert_int_eq(run_cases("none", warning), ST_OK);
    ck_assert_int_eq(fake.compiled, 5);
    ck_assert_str_eq(warning, "");
    ck_assert_int_eq(run_cases("/proc/nothing", warning), ST_OK);
    ck_assert_int_eq(fake.compiled, 5);
    ck_assert_ptr_nonnull(strstr(warning, "/proc/nothing"));
}
END_TEST

START_TEST(damaged_files)
{
    static const int at[] = {0, 7, 20, 80, 96, 500, -1};
    some_cases();
    ck_assert_int_eq(run_cases(folder, NULL), ST_OK);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        ck_assert_int_eq(files(".kernel", &at[i]), 5);
        ck_assert_int_eq(run_cases(folder, NULL), ST_OK);
        ck_assert_msg(fake.compiled == 1, "byte %d: %d compiled", at[i], fake.compiled);
        ck_assert_int_eq(fake.refused, 0);
        ck_assert_int_eq(run_cases(folder, NULL), ST_OK);
        ck_assert_int_eq(fake.compiled, 0);
    }
}
END_TEST

START_TEST(runs_at_once)
{
    some_cases();
    for (int i = 0; i < 8; i++) {
        if (fork() == 0) {
            enum status s = run_cases(folder, NULL);
            _exit(s == ST_OK && fake.refused == 0 ? 0 : 1);
        }
    }
    for (int i = 0, status; i < 8; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(files(".kernel", NULL), 5);
    ck_assert_int_eq(files(".part", NULL), 0);
    ck_assert_int_eq(run_cases(folder, NULL), ST_OK);
    ck_assert_int_eq(fake.compiled, 0);
}
END_TEST

START_TEST(bounded)
{
    struct cuda_cache c;
    struct codegen_kernel k;
    struct cuda_cubin in = {.bytes = (char[1000]){"code"}, .n = 1000}, out;
    some_cases();
    cuda_cache_open(&c, folder, "x", 90);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert(codegen_group(&image.at.at[i].op.k, image.memory, &k));
        ck_assert_int_eq(cuda_cache_write(&c, &k, &in), 0);
        usleep(20000);
    }
    ck_assert(codegen_group(&image.at.at[0].op.k, image.memory, &k));
    ck_assert(cuda_cache_read(&c, &k, &out)); /* used: no longer the oldest */
    mem_free(out.bytes, out.n);
    cuda_cache_trim(&c, 2 * (k.bytes + 4000));
    ck_assert_int_le(files(".kernel", NULL), 3);
    ck_assert(cuda_cache_read(&c, &k, &out));
    mem_free(out.bytes, out.n);
    ck_assert(codegen_group(&image.at.at[1].op.k, image.memory, &k));
    ck_assert(!cuda_cache_read(&c, &k, &out));
    c.sm = 100;
    ck_assert(codegen_group(&image.at.at[0].op.k, image.memory, &k));
    ck_assert(!cuda_cache_read(&c, &k, &out));
}
END_TEST

START_TEST(failures)
{
    char why[512];
    some_cases();
    fake.bad_source = 3;
    ck_assert_int_eq(run_cases("none", why), ST_INTERNAL);
    ck_assert_ptr_nonnull(strstr(why, "group.cu(1): error"));
    fake.bad_source = 0;
    fake.has_compiler = false;
    ck_assert_int_eq(run_cases("none", why), ST_DEVICE);
    fake.has_compiler = true;
    for (int i = 0;; i++) { /* every call fails once, with nothing in the cache and with everything in it */
        fail_calls = 0;
        fail_at = i / 2;
        enum status s = run_cases(i % 2 ? folder : "none", why);
        if (fail_calls <= fail_at) {
            ck_assert_int_gt(i, 40);
            break;
        }
        bool again = fail_which == CUDA_CALL_module_load || fail_which == CUDA_CALL_module_kernel;
        ck_assert_msg(fake_releases(fail_which) || fail_which == CUDA_CALL_stream_sync || again || s != ST_OK,
                      "%s", cuda_call_name[fail_which]);
        ck_assert_msg(fake.alive == 0, "%d handles left after %s", fake.alive, cuda_call_name[fail_which]);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("groups");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, golden);
    tcase_add_test(t, same_text_for_other_places);
#ifdef GML_COMPILE_KERNELS
    tcase_add_test(t, compiles);
#endif
    tcase_add_test(t, cache);
    tcase_add_test(t, damaged_files);
    tcase_add_test(t, runs_at_once);
    tcase_add_test(t, bounded);
    tcase_add_test(t, failures);
    return suite_run("groups", t, CK_FORK);
}
