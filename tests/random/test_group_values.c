/* What generated kernels compute, without a GPU: their text is compiled as C++ over host.cuh and run on the
 * host, where the values must be those of the CPU kernels one by one. Each batch of groups is one library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernels/codegen/internal.h"
#include "kernels/vocab.h"
#include "runtime/base/philox.h"
#include "tests/plan/model.h"
#include "tests/suite.h"
#include "tools/random/groups.h"

enum { IMAGE = 256 << 20, BATCH = 48, RANDOM = 96 };
static char folder[] = "/tmp/gml_values.XXXXXX";

typedef void (*run_fn)(char *arena, const uint64_t *places, unsigned threads, unsigned x, unsigned y);
struct library {
    void *file;
    bool *diverged;
};

static double erfinv_host(double x)
{
    return gml_erfinv_f64(x);
}

/* The text behind what all kernels stand on. */
static const char *own_text(const struct codegen_kernel *k)
{
    const char *prelude = strstr(k->source, (const char *)codegen_prelude);
    ck_assert_ptr_nonnull(prelude);
    return prelude + codegen_prelude_bytes;
}

/* It in a namespace, and a way to call the kernel. */
static void write_kernel(FILE *f, const struct codegen_kernel *k)
{
    const char *rest = own_text(k);
    bool waits = strstr(rest, "gml_fold<") || strstr(rest, "gml_last(");
    fprintf(f,
            "namespace n_%s {\n%s"
            "struct call { char *arena; gml_places p; };\n"
            "static void body(void *what) { call *c = (call *)what; %s(c->arena, c->p); }\n"
            "extern \"C\" void run_%s(char *arena, const uint64_t *at, unsigned threads, unsigned x, "
            "unsigned y)\n"
            "{\ncall c = {arena};\nmemcpy(&c.p, at, sizeof c.p);\nhost_launch(body, &c, %d, threads, x, "
            "y);\n}\n}\n",
            k->name, rest, k->name, k->name, waits);
}

static bool seen_before(const struct codegen_kernel *k, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++) {
        if (strcmp(k[j].name, k[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* A name is empty where there is nothing to do. */
static struct codegen_kernel *make_kernels(struct group_image *g)
{
    struct codegen_kernel *k = arena_array(g->memory, struct codegen_kernel, g->at.n);
    for (uint32_t i = 0; i < g->at.n; i++) {
        if (!codegen_group(&g->at.at[i].op.k, g->memory, &k[i])) {
            k[i].name[0] = 0;
        }
    }
    return k;
}

static struct library compile(const struct codegen_kernel *k, uint32_t n)
{
    char path[128], command[512];
    snprintf(path, sizeof path, "%s/kernels.cc", folder);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#include \"" GML_SOURCE "/tests/random/host.cuh\"\n%s%s", (const char *)codegen_vocab,
            (const char *)codegen_prelude);
    for (uint32_t i = 0; i < n; i++) {
        if (k[i].name[0] && !seen_before(k, i)) {
            write_kernel(f, &k[i]);
        }
    }
    ck_assert_int_eq(fclose(f), 0);
    snprintf(
        command, sizeof command,
        "c++ -std=c++17 -O1 -ffp-contract=off -fwrapv -w -fPIC -shared -U_FORTIFY_SOURCE -o %s/kernels.so %s",
        folder, path);
    ck_assert_int_eq(system(command), 0);
    snprintf(path, sizeof path, "%s/kernels.so", folder);
    struct library l = {.file = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    ck_assert_msg(l.file, "%s", dlerror());
    l.diverged = dlsym(l.file, "host_diverged");
    *(double (**)(double))dlsym(l.file, "host_erfinv") = erfinv_host;
    return l;
}

static void run_case(const struct group_image *g, struct library *l, const struct group_case *c,
                     const struct codegen_kernel *k, char *got)
{
    uint64_t places[CODEGEN_PLACES];
    char name[64];
    if (!k->name[0]) {
        return;
    }
    snprintf(name, sizeof name, "run_%s", k->name);
    run_fn run = (run_fn)dlsym(l->file, name);
    ck_assert_ptr_nonnull(run);
    ck_assert_int_gt(codegen_places(&c->op.k, g->used, places), 0);
    run(got, places, (unsigned)k->schedule.threads, (unsigned)k->schedule.blocks,
        (unsigned)(k->schedule.segments > 0 ? k->schedule.segments : 1));
    ck_assert_msg(!*l->diverged, "%s: threads of a block part at a barrier\n%s", c->text, k->source);
}

/* All inputs are as they were, all counters 0. */
static void check_rest(const struct group_image *g, const char *got)
{
    for (uint32_t i = 0; i < g->place.n; i++) {
        const struct group_place *p = &g->place.at[i];
        ck_assert_msg(p->made || memcmp(g->image + p->offset, got + p->offset, p->bytes) == 0,
                      "input %u was written to", i);
    }
    for (uint32_t i = 0; i < CODEGEN_COUNTERS; i++) {
        ck_assert_uint_eq(((const uint32_t *)(got + g->used))[i], 0);
    }
}

static void check_image(struct group_image *g)
{
    struct codegen_kernel *k = make_kernels(g);
    struct library l = compile(k, g->at.n);
    uint64_t bytes = g->used + CODEGEN_COUNTERS * sizeof(uint32_t);
    char *got = mem_alloc(bytes);
    memcpy(got, g->image, g->used);
    memset(got + g->used, 0, CODEGEN_COUNTERS * sizeof(uint32_t));
    for (uint32_t i = 0; i < g->at.n; i++) {
        run_case(g, &l, &g->at.at[i], &k[i], got);
        group_reference(g, &g->at.at[i].op.k);
        double d = group_difference(g, &g->at.at[i], got);
        ck_assert_msg(d <= 1, "%s: %.3g of what is allowed\n%s", g->at.at[i].text, d, own_text(&k[i]));
    }
    check_rest(g, got);
    mem_free(got, bytes);
    dlclose(l.file);
}

START_TEST(handmade)
{
    struct group_image g;
    group_image_open(&g, IMAGE);
    group_handmade(&g);
    check_image(&g);
    group_image_close(&g);
}
END_TEST

START_TEST(drawn)
{
    for (uint64_t seed = 0; seed < RANDOM; seed += BATCH) {
        struct group_image g;
        group_image_open(&g, IMAGE);
        for (uint64_t i = 0; i < BATCH; i++) {
            group_random(&g, 1000 + seed + i);
        }
        check_image(&g);
        group_image_close(&g);
    }
}
END_TEST

/* -- the groups of a whole model, each by itself: its operands hold random numbers */
static void add_groups(struct group_image *g, const struct plan *p, double tolerance)
{
    g->used = p->bytes;
    g->control = p->control;
    vec_push(g->memory, &g->place, ((struct group_place){0, p->bytes, true}));
    for (uint32_t v = 0; v < p->n_variant; v++) {
        for (uint32_t i = 0; i < p->variant[v].n_op; i++) {
            struct group_case c = {.op = p->variant[v].op[i], .tolerance = tolerance};
            snprintf(c.text, sizeof c.text, "phase %s, op %u", p->graph->phases.at[p->variant[v].phase].name,
                     i);
            if (c.op.k.group) {
                vec_push(g->memory, &g->at, c);
            }
        }
    }
}

static void fill(struct group_image *g, const struct operand *o, uint64_t *random)
{
    int64_t n = 1;
    for (int a = 0; a < o->rank; a++) {
        n += (o->dim[a] - 1) * llabs(o->stride[a]);
    }
    for (int64_t i = 0; i < n && o->offset != g->control; i++) {
        char *at = g->image + o->offset + (uint64_t)i * dtype_size((enum dtype)o->dtype);
        *random = mix64(*random + 1);
        double x = ldexp((double)(*random >> 11), -53);
        if (o->dtype == DT_F32) {
            *(float *)at = (float)(4 * x - 2);
        } else if (o->dtype == DT_F64) {
            *(double *)at = 4 * x - 2;
        } else if (o->dtype == DT_I32) {
            *(int32_t *)at = (int32_t)(9 * x) - 2;
        } else {
            *at = x < 0.5;
        }
    }
}

/* The counter of a loop, somewhere in its iterations. */
static void put_counter(struct group_image *g, const struct plan *p, const struct operand *counter)
{
    int64_t least = INT32_MAX;
    for (uint32_t v = 0; v < p->n_variant; v++) {
        for (uint32_t i = 0; i < p->variant[v].n_op; i++) {
            const struct plan_loop *l = p->variant[v].op[i].loop;
            least = l && l->counter == counter->offset && l->count < least ? l->count : least;
        }
    }
    ck_assert_int_lt(least, INT32_MAX);
    *(int32_t *)(g->image + counter->offset) = (int32_t)(least * 2 / 3);
}

/* Random numbers in all operands, and in what no thread writes to. Returns how many move with a counter. */
static int fill_operands(struct group_image *g, const struct plan *p, const struct kargs *k, uint64_t *random)
{
    const struct group *x = k->group;
    int turning = 0;
    for (uint16_t i = 0; i < x->n_instr + x->n_store; i++) {
        bool load = i < x->n_instr;
        const struct group_store *s = load ? NULL : &x->store[i - x->n_instr];
        int64_t turn = load ? x->instr[i].turn : s->turn;
        uint16_t counter = load ? x->instr[i].counter : s->counter;
        if (turn) {
            put_counter(g, p, &k->in[counter]);
            turning++;
        }
        if (!load || x->instr[i].kind == GROUP_LOAD || x->instr[i].kind == GROUP_RANGES) {
            const struct operand *o = load ? &k->in[x->instr[i].operand] : &k->out[s->operand];
            struct operand now = group_moved(g, k->in, o, counter, turn);
            fill(g, &now, random);
        }
    }
    return turning;
}

static int check_model(const char *path, double tolerance)
{
    struct group_image g;
    uint64_t random = 1;
    group_image_open(&g, IMAGE);
    const struct target t = {.name = "cuda", .sm = 90, .n_sm = 132, .memory = IMAGE, .groups = true};
    struct plan *p = model_plan(g.memory, path, &t, true, 1797);
    int turning = 0;
    add_groups(&g, p, tolerance);
    struct codegen_kernel *k = make_kernels(&g);
    struct library l = compile(k, g.at.n);
    uint64_t bytes = g.used + CODEGEN_COUNTERS * sizeof(uint32_t);
    char *got = mem_alloc(bytes);
    for (uint32_t i = 0; i < g.at.n; i++) {
        const struct kargs *x = &g.at.at[i].op.k;
        turning += fill_operands(&g, p, x, &random);
        memcpy(got, g.image, g.used);
        memset(got + g.used, 0, bytes - g.used);
        run_case(&g, &l, &g.at.at[i], &k[i], got);
        group_reference(&g, x);
        double d = group_difference(&g, &g.at.at[i], got);
        ck_assert_msg(d <= 1, "%s: %.3g of what is allowed\n%s", g.at.at[i].text, d, k[i].name);
    }
    ck_assert_uint_gt(g.at.n, 20);
    mem_free(got, bytes);
    dlclose(l.file);
    group_image_close(&g);
    return turning;
}

START_TEST(models)
{
    check_model(GML_SOURCE "/models/attention_digits.gml", 1e-4);
    ck_assert_int_gt(check_model(GML_SOURCE "/models/cfc_xor.gml", 1e-4), 20);
    check_model(GML_SOURCE "/models/dqn_cartpole.gml", 1e-4);
    check_model(GML_SOURCE "/models/ppo_cartpole.gml", 1e-4);
    /* knots in no order: differences of almost equal ones are divided by */
    check_model(GML_SOURCE "/tools/bench/models/splines.gml", 1e-3);
}
END_TEST

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
}
static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    printf("threads of a kernel run on stacks of their own, which AddressSanitizer does not know\n");
    return 0;
#endif
    TCase *t = tcase_create("group values");
    tcase_set_timeout(t, 300);
    if (system("c++ --version > /dev/null 2>&1") != 0) {
        printf("there is no c++ here: nothing was run\n");
        return 0;
    }
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, handmade);
    tcase_add_test(t, drawn);
    tcase_add_test(t, models);
    return suite_run("group values", t, CK_NOFORK);
}
