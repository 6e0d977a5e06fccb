/* Generated kernels of all shipped models: planned in groups, prepared over a fake device, and their text
 * compiled by NVRTC where it is. A text that several models share is compiled once. */
#include <glob.h>
#include <pthread.h>
#include <unistd.h>
#include "runtime/exec/cuda/cuda_nvrtc.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/plan/model.h"
#include "tests/suite.h"

struct kernel_text {
    const char *name, *text, *model;
    struct cuda_cubin cubin;
    int code;
};
static struct kernel_texts {
    VEC(struct kernel_text) at;
    uint32_t next; /* atomic */
    void *nvrtc;
} all;

static void add_sources(struct arena *a, const struct exec *e, const char *model)
{
    for (const struct cuda_kernel *k = e->kernels_made; k; k = k->next) {
        uint32_t i = 0;
        while (i < all.at.n && strcmp(all.at.at[i].name, k->made.name) != 0) {
            i++;
        }
        if (i == all.at.n) {
            const char *text = arena_printf(a, "%s", k->made.source);
            vec_push(a, &all.at,
                     ((struct kernel_text){
                         .name = arena_printf(a, "%s", k->made.name), .text = text, .model = model}));
        } else {
            ck_assert_str_eq(all.at.at[i].text, k->made.source); /* one name, one text */
        }
    }
}

/* Kernels of a step of the phase that is launched first. */
static uint64_t prepare(struct arena *a, const char *path, bool fuse)
{
    struct target t;
    struct exec *e = fake_device(&(struct exec_options){.cache = "none"}, (uint64_t)4 << 30, &t);
    struct exec_counts n;
    t.groups = true;
    struct plan *p = model_plan(a, path, &t, fuse, 1797);
    fake_prepare(e, p, path);
    uint32_t v = 0;
    while (cuda_runs_on_host(p, v)) {
        v++;
    }
    ck_assert_int_eq(cuda_launch(e, v, true), ST_OK);
    cuda_counts(e, &n, false);
    add_sources(a, e, path);
    cuda_close(e);
    ck_assert_int_eq(fake.alive, 0);
    return n.kernels_per_launch;
}

#ifdef GML_COMPILE_KERNELS
static void *compile_some(void *unused)
{
    (void)unused;
    for (;;) {
        uint32_t i = __atomic_fetch_add(&all.next, 1, __ATOMIC_RELAXED);
        if (i >= all.at.n) {
            return NULL;
        }
        struct kernel_text *s = &all.at.at[i];
        s->code = nvrtc_compile(NULL, all.nvrtc, s->text, 90, &s->cubin);
    }
}

static void compile_all(void)
{
    pthread_t other;
    ck_assert_int_eq(pthread_create(&other, NULL, compile_some, NULL), 0);
    compile_some(NULL);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    for (uint32_t i = 0; i < all.at.n; i++) {
        struct kernel_text *s = &all.at.at[i];
        ck_assert_msg(s->code == 0 && !s->cubin.log[0], "%s, %s: %s\n%s", s->model, s->name, s->cubin.log,
                      s->text);
        ck_assert_uint_gt(s->cubin.n, 0);
        mem_free(s->cubin.bytes, s->cubin.n);
    }
}

#endif

START_TEST(models)
{
    struct arena *a = arena_new();
    glob_t found;
    ck_assert_int_eq(glob(GML_SOURCE "/models/*.gml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        uint32_t before = all.at.n;
        uint64_t apart = prepare(a, found.gl_pathv[i], false), joined = prepare(a, found.gl_pathv[i], true);
        printf("%s: %llu kernels a step, %llu in groups; %u new texts\n", strrchr(found.gl_pathv[i], '/') + 1,
               (unsigned long long)apart, (unsigned long long)joined, all.at.n - before);
        ck_assert_uint_lt(joined, apart);
    }
#ifdef GML_COMPILE_KERNELS
    if (nvrtc_open(NULL, NULL, &all.nvrtc) == 0) {
        compile_all();
        nvrtc_close(NULL, all.nvrtc);
    } else {
        printf("libnvrtc.so.13 is not here: nothing was compiled\n");
    }
#endif
    globfree(&found);
    arena_free(a);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("generated");
    tcase_set_timeout(t, 800); /* two cores, both in other hands too */
    tcase_add_test(t, models);
    return suite_run("generated", t, CK_FORK);
}
