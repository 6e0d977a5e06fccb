/* gpu_parity: every operator on the GPU against the CPU. Prints one markdown row per operator and a summary;
 * exits 1 when an operator differs by more than its tolerance, when a graph and kernel-by-kernel launches
 * differ in a bit, when two launches differ, or when a fault is not reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tools/gpu_parity.h"

enum { IMAGE = 192 << 20, WORK = 40 << 20 };

static struct phase phase = {.name = "parity", .kind = PHASE_USER};
static struct graph graph;

static struct control first_control(void)
{
    struct control c = {.key = 0x9e3779b97f4a7c15u};
    c.phase[0] =
        (struct phase_control){.step = 41, .steps = 900, .epoch = 2, .cursor = 1300, .rows = 1400, .row0 = 7};
    c.knob[3] = 2.75;
    c.metric[5] = (struct metric_control){.sum = 3, .weight = 4, .last = 0.75};
    return c;
}

static void parity_new(struct parity *p, const struct target *t)
{
    *p = (struct parity){.memory = arena_new(), .bytes = IMAGE, .target = *t, .random = 1};
    p->image = mem_alloc(IMAGE);
    p->control = PLAN_ALIGN;
    p->used = (p->control + sizeof(struct control) + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    p->work = IMAGE - WORK;
    p->work_bytes = WORK;
    struct control c = first_control();
    memcpy(p->image + p->control, &c, sizeof c);
}

static void parity_free(struct parity *p)
{
    mem_free(p->image, IMAGE);
    arena_free(p->memory);
}

static struct plan make_plan(const struct parity *p, struct plan_variant *v)
{
    *v = (struct plan_variant){.op = p->op.at, .n_op = p->op.n};
    return (struct plan){.graph = &graph,
                         .target = p->target,
                         .control = p->control,
                         .persistent = p->work,
                         .planned_offset = IMAGE,
                         .workspace_offset = p->work,
                         .workspace_bytes = WORK,
                         .bytes = IMAGE,
                         .device_bytes = IMAGE,
                         .variant = v,
                         .n_variant = 1};
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "gpu_parity: %s: %s\n", what, why);
    exit(1);
}

/* One launch of the plan on the GPU from the inputs of the image; the arena after it into `to`. */
static void run_gpu(const struct backend *b, const struct parity *p, const struct exec_options *o,
                    int launches, char *to, struct fault *fault)
{
    struct plan_variant v;
    struct plan plan = make_plan(p, &v);
    struct exec *e = NULL;
    char why[512] = "";
    if (b->open(o, &e, why, sizeof why) != ST_OK) {
        fail("open", why);
    }
    if (b->arena(e, IMAGE) != ST_OK || b->prepare(e, &plan) != ST_OK) {
        fail("prepare", b->error(e));
    }
    for (int i = 0; i < launches; i++) {
        if (b->upload(e, 0, p->image, p->work) != ST_OK || b->launch(e, 0, true) != ST_OK) {
            fail("launch", b->error(e));
        }
        const struct ring_slot *s = b->slot(e, 1, true);
        if (!s) {
            fail("slot", b->error(e));
        }
        *fault = s->fault;
    }
    if (b->sync(e) != ST_OK || b->download(e, 0, to, p->work) != ST_OK) {
        fail("download", b->error(e));
    }
    b->close(e);
}

static double value(const char *base, const struct operand *o, int64_t i)
{
    const char *at = base + o->offset + (uint64_t)i * dtype_size((enum dtype)o->dtype);
    return o->dtype == DT_F32   ? (double)*(const float *)at
           : o->dtype == DT_I32 ? *(const int32_t *)at
                                : *(const uint8_t *)at;
}

/* Largest difference relative to max(1, |cpu|); infinite where only one side is NaN or infinite. */
static double difference(const char *cpu, const char *gpu, const struct operand *o)
{
    double worst = 0;
    int64_t n = operand_count(o);
    for (int64_t i = 0; i < n; i++) {
        double a = value(cpu, o, i), b = value(gpu, o, i);
        if (a == b || (a != a && b != b)) {
            continue;
        }
        double d = fabs(a - b) / fmax(1, fabs(a));
        worst = d != d || isinf(d) ? (double)INFINITY : fmax(worst, d);
    }
    return worst;
}

struct row {
    uint32_t cases, bad;
    double worst, tolerance;
    uint32_t first_bad;
};

static uint32_t compare(const struct parity *p, const char *cpu, const char *gpu, struct row *row)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < p->op.n; i++) {
        struct row *r = &row[p->op.at[i].op];
        double d = difference(cpu, gpu, &p->op.at[i].k.out[0]);
        r->cases++;
        r->worst = fmax(r->worst, d);
        r->tolerance = fmax(r->tolerance, p->at.at[i].tolerance);
        if (d > p->at.at[i].tolerance) {
            r->first_bad = r->bad ? r->first_bad : i;
            r->bad++;
            bad++;
        }
    }
    return bad;
}

static void print_rows(const struct parity *p, const struct row *row)
{
    printf("| operator | cases | largest difference | tolerance | result |\n|---|---|---|---|---|\n");
    for (int op = 1; op < OP_COUNT; op++) {
        const struct row *r = &row[op];
        bool expected = op_table[op].kind != OPK_VIEW && !(op_table[op].flags & OPF_META);
        if (r->cases == 0 && !expected) {
            continue;
        }
        printf("| %s | %u | %.2g | %.2g | ", op_table[op].name, r->cases, r->worst, r->tolerance);
        if (r->cases == 0) {
            printf("**not tested** |\n");
        } else if (r->bad) {
            printf("**%u differ**, first %s |\n", r->bad, p->at.at[r->first_bad].text);
        } else {
            printf("ok |\n");
        }
    }
}

static uint32_t untested(const struct row *row)
{
    uint32_t n = 0;
    for (int op = 1; op < OP_COUNT; op++) {
        n += row[op].cases == 0 && op_table[op].kind != OPK_VIEW && !(op_table[op].flags & OPF_META);
    }
    return n;
}

/* First op whose output differs in a bit between two GPU runs, or -1. */
static int64_t first_bit_difference(const struct parity *p, const char *a, const char *b)
{
    for (uint32_t i = 0; i < p->op.n; i++) {
        const struct operand *o = &p->op.at[i].k.out[0];
        if (memcmp(a + o->offset, b + o->offset,
                   (size_t)operand_count(o) * dtype_size((enum dtype)o->dtype)) != 0) {
            return i;
        }
    }
    return -1;
}

static bool report_bits(const struct parity *p, const char *what, const char *a, const char *b)
{
    int64_t at = first_bit_difference(p, a, b);
    if (at < 0) {
        printf("%s: same bits\n", what);
    } else {
        printf("%s: **differ**, first %s %s\n", what, op_table[p->op.at[at].op].name, p->at.at[at].text);
    }
    return at < 0;
}

static bool check_faults(const struct backend *b, const struct target *t, char *scratch)
{
    struct parity p;
    struct fault f = {0};
    parity_new(&p, t);
    parity_faults(&p);
    run_gpu(b, &p, &(struct exec_options){0}, 1, scratch, &f);
    bool ok = f.code == FAULT_INDEX && f.node == p.op.at[0].node && f.a == 12 && f.b == 10;
    printf("fault word of a bad index: %s\n", ok ? "ok" : "**wrong**");
    parity_free(&p);
    return ok;
}

static struct target device_target(const struct backend *b)
{
    struct exec *e = NULL;
    struct exec_device d;
    char why[512] = "";
    if (b->open(&(struct exec_options){0}, &e, why, sizeof why) != ST_OK) {
        fail("open", why);
    }
    if (b->device(e, &d) != ST_OK) {
        fail("device", b->error(e));
    }
    printf("device: %s, %s\n\n", d.name, d.driver);
    b->close(e);
    return d.target;
}

int main(int argc, char **argv)
{
    char why[512] = "";
    bool dry = argc > 1 && strcmp(argv[1], "--dry-run") == 0; /* the CPU against itself: checks the cases */
    const struct backend *b = dry ? &backend_cpu : backend_cuda(NULL, why, sizeof why);
    if (!b) {
        fail("plugin", why);
    }
    graph.phases.at = &phase;
    graph.phases.n = 1;
    struct target t = device_target(b);
    if (dry) {
        t.workspace = 1 << 20;
    }
    struct parity p;
    parity_new(&p, &t);
    parity_cases(&p);
    struct plan_variant v;
    struct plan plan = make_plan(&p, &v);
    char *cpu = mem_alloc(IMAGE), *gpu = mem_alloc(IMAGE), *again = mem_alloc(IMAGE),
         *eager = mem_alloc(IMAGE);
    memcpy(cpu, p.image, p.work);
    if (cpu_run_variant(cpu, &plan, 0, 0) != ST_OK) {
        fail("cpu", "the CPU could not run the cases");
    }
    struct fault f;
    struct row row[OP_COUNT] = {0};
    run_gpu(b, &p, &(struct exec_options){0}, 1, gpu, &f);
    run_gpu(b, &p, &(struct exec_options){0}, 3, again, &f);
    run_gpu(b, &p, &(struct exec_options){.eager = true}, 1, eager, &f);
    uint32_t bad = compare(&p, cpu, gpu, row), missing = untested(row);
    print_rows(&p, row);
    printf("\nparity: %u cases, %u differ, %u operators untested\n", p.op.n, bad, missing);
    bool same = report_bits(&p, "graph against a third replay", gpu, again);
    same = report_bits(&p, "graph against kernel by kernel", gpu, eager) && same;
    bool faults = check_faults(b, &t, again);
    parity_free(&p);
    return bad || missing || !same || !faults;
}
