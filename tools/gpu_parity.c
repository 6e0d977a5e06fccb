/* gpu_parity: every operator on the GPU against the CPU, over 50 shapes and its dtypes. Prints one markdown
 * row per operator and a summary; exits 1 when an operator differs by more than its tolerance, when a graph
 * and kernel-by-kernel launches differ in a bit, when two launches differ, or when a fault is not reported.
 *
 *   --quick      every ninth shape, launched once as a graph and once kernel by kernel: for compute-sanitizer
 *   --row NAME   only the cases of one row
 *   --list       the cases, without running them
 *   --dry-run    the CPU against itself: checks the cases
 *
 * All cases are one plan in one arena: it is uploaded and launched a few times, and the plugin is opened
 * three times in all (graph, kernel by kernel, faults). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/bf16.h"
#include "tools/gpu_parity.h"

enum { IMAGE = 512 << 20, WORK = 40 << 20, QUICK = 9 };

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
    *p = (struct parity){.memory = arena_new(), .bytes = IMAGE, .target = *t, .random = 1, .shape_step = 1};
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

static struct exec *open_gpu(const struct backend *b, bool eager)
{
    struct exec *e = NULL;
    char why[512] = "";
    if (b->open(&(struct exec_options){.eager = eager}, &e, why, sizeof why) != ST_OK) {
        fail("open", why);
    }
    return e;
}
static void load(const struct backend *b, struct exec *e, const struct plan *plan)
{
    if (b->arena(e, IMAGE) != ST_OK || b->prepare(e, plan) != ST_OK) {
        fail("prepare", b->error(e));
    }
}
/* Launches of the plan, each from the inputs of the image; the arena after the last one into `to`. */
static void launch(const struct backend *b, struct exec *e, const struct parity *p, int n, char *to,
                   struct fault *fault)
{
    for (int i = 0; i < n; i++) {
        if (b->upload(e, 0, p->image, p->used) != ST_OK || b->launch(e, 0, true) != ST_OK) {
            fail("launch", b->error(e));
        }
        const struct ring_slot *s = b->slot(e, 1, true);
        if (!s) {
            fail("slot", b->error(e));
        }
        *fault = s->fault;
    }
    if (b->sync(e) != ST_OK || b->download(e, 0, to, p->used) != ST_OK) {
        fail("download", b->error(e));
    }
}

static double value(const char *base, const struct operand *o, int64_t i)
{
    const char *at = base + o->offset + (uint64_t)i * dtype_size((enum dtype)o->dtype);
    return o->dtype == DT_F32    ? (double)*(const float *)at
           : o->dtype == DT_F64  ? *(const double *)at
           : o->dtype == DT_BF16 ? (double)bf16_widen(*(const struct bf16 *)at)
           : o->dtype == DT_I32  ? *(const int32_t *)at
                                 : *(const uint8_t *)at;
}

/* Largest difference as a part of what is allowed: the tolerance times max(1, |cpu|), and for bf16, where
 * numbers are rounded that may differ already, one step of it. Infinite where only one side is NaN or
 * infinite, or where a row that must be exact is not. */
static double difference(const char *cpu, const char *gpu, const struct operand *o, double tolerance)
{
    double worst = 0;
    int64_t n = operand_count(o);
    for (int64_t i = 0; i < n; i++) {
        double a = value(cpu, o, i), b = value(gpu, o, i);
        if (a == b || (a != a && b != b)) {
            continue;
        }
        double allowed = tolerance * fmax(1, fabs(a));
        allowed += o->dtype == DT_BF16 && tolerance > 0 && a != 0 ? ldexp(1, ilogb(a) - 7) : 0;
        double d = fabs(a - b) / allowed;
        worst = d != d || isinf(d) ? (double)INFINITY : fmax(worst, d);
    }
    return worst;
}

struct row {
    uint32_t cases[DT_COUNT], all, bad;
    double worst, tolerance;
    uint32_t first_bad;
};

static uint32_t compare(const struct parity *p, const char *cpu, const char *gpu, struct row *row)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < p->op.n; i++) {
        struct row *r = &row[p->op.at[i].op];
        double tolerance = p->at.at[i].tolerance;
        double d = cpu ? difference(cpu, gpu, &p->op.at[i].k.out[0], tolerance) : 0;
        r->cases[p->at.at[i].dtype]++;
        r->all++;
        r->worst = fmax(r->worst, d);
        r->tolerance = fmax(r->tolerance, tolerance);
        if (d > 1) {
            r->first_bad = r->bad ? r->first_bad : i;
            r->bad++;
            bad++;
        }
    }
    return bad;
}

static bool expected(const struct parity *p, int op)
{
    return op_table[op].kind != OPK_VIEW && !(op_table[op].flags & (OPF_META | OPF_LOAD)) &&
           (!p->only || strcmp(p->only, op_table[op].name) == 0);
}

static void print_rows(const struct parity *p, const struct row *row, bool ran)
{
    printf("| operator | f32 | f64 | bf16 | i32 | bool | tolerance | worst / allowed | result |\n");
    printf("|---|---|---|---|---|---|---|---|---|\n");
    for (int op = 1; op < OP_COUNT; op++) {
        const struct row *r = &row[op];
        if (r->all == 0 && !expected(p, op)) {
            continue;
        }
        printf("| %s |", op_table[op].name);
        for (int t = 1; t < DT_COUNT; t++) {
            printf(" %u |", r->cases[t]);
        }
        printf(r->tolerance > 0 ? " %.2g |" : " exact |", r->tolerance);
        printf(ran ? " %.2g | " : " | ", r->worst);
        if (r->all == 0) {
            printf("**not tested** |\n");
        } else if (r->bad) {
            const struct parity_case *c = &p->at.at[r->first_bad];
            printf("**%u differ**, first %s |\n", r->bad, c->text);
        } else {
            printf(ran ? "ok |\n" : "not run |\n");
        }
    }
}

static uint32_t untested(const struct parity *p, const struct row *row)
{
    uint32_t n = 0;
    for (int op = 1; op < OP_COUNT; op++) {
        n += row[op].all == 0 && expected(p, op);
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
    struct plan_variant v;
    parity_new(&p, t);
    parity_faults(&p);
    struct plan plan = make_plan(&p, &v);
    struct exec *e = open_gpu(b, false);
    load(b, e, &plan);
    launch(b, e, &p, 1, scratch, &f);
    b->close(e);
    bool ok = f.code == FAULT_INDEX && f.node == p.op.at[0].node && f.a == 12 && f.b == 10;
    printf("fault word of a bad index: %s\n", ok ? "ok" : "**wrong**");
    parity_free(&p);
    return ok;
}

/* The plan as --debug-plan wants it: inputs are variables, results are values of their own. */
static void declare_places(struct parity *p, struct plan *plan, struct plan_variant *v)
{
    struct var *var = arena_array(p->memory, struct var, p->place.n + 1u);
    plan->var = arena_array(p->memory, struct plan_var, p->place.n + 1u);
    plan->buffer = arena_array(p->memory, struct plan_buffer, p->place.n);
    graph.vars.at = var;
    graph.vars.n = 1;
    for (uint32_t i = 0; i < p->place.n; i++) {
        const struct parity_place *x = &p->place.at[i];
        if (x->made) {
            plan->buffer[plan->n_buffer++] = (struct plan_buffer){
                .node = plan->n_buffer + 1, .offset = x->offset, .bytes = x->bytes, .to_end = true};
        } else {
            var[graph.vars.n].kind = VAR_STATE;
            plan->var[graph.vars.n++] = (struct plan_var){.offset = x->offset, .bytes = x->bytes};
        }
    }
    plan->persistent = IMAGE;
    plan->planned_offset = 0;
    v->n_buffer = plan->n_buffer;
}

/* For compute-sanitizer: one launch in which the tool knows every input and every result; nothing is
 * compared. */
static int run_declared(const struct backend *b, struct parity *p, struct plan *plan, struct plan_variant *v)
{
    struct exec *e = NULL;
    char why[512] = "";
    declare_places(p, plan, v);
    if (b->open(&(struct exec_options){.debug_plan = true}, &e, why, sizeof why) != ST_OK) {
        fail("open", why);
    }
    load(b, e, plan);
    if (b->upload(e, 0, p->image, p->used) != ST_OK || b->launch(e, 0, true) != ST_OK ||
        b->sync(e) != ST_OK) {
        fail("launch", b->error(e));
    }
    b->close(e);
    printf("%u cases launched, %u inputs and %u results declared\n", p->op.n, graph.vars.n - 1,
           plan->n_buffer);
    return 0;
}

struct options {
    bool dry, list, quick, declared;
    const char *row;
};
static struct options parse(int argc, char **argv)
{
    struct options o = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dry-run") == 0) {
            o.dry = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            o.list = true;
        } else if (strcmp(argv[i], "--declared") == 0) {
            o.declared = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            o.quick = true;
        } else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc) {
            o.row = argv[++i];
        } else {
            fail(argv[i], "the options are --quick, --row NAME, --list, --declared and --dry-run");
        }
    }
    return o;
}

static void build(struct parity *p, const struct options *o, const struct target *t)
{
    parity_new(p, t);
    p->only = o->row;
    p->shape_step = o->quick ? QUICK : 1;
    parity_cases(p);
    parity_shapes(p);
}

static int list(const struct options *o)
{
    struct parity p;
    struct row row[OP_COUNT] = {0};
    struct target t = {.name = "cuda", .sm = 90, .n_sm = 132, .workspace = 32 << 20};
    build(&p, o, &t);
    for (uint32_t i = 0; i < p.op.n; i++) {
        printf("%s %s\n", op_table[p.op.at[i].op].name, p.at.at[i].text);
    }
    compare(&p, NULL, NULL, row);
    print_rows(&p, row, false);
    printf("\n%u cases in %.1f MiB\n", p.op.n, (double)p.used / (1 << 20));
    parity_free(&p);
    return 0;
}

/* The GPU's side: a first launch, `more` of the same graph, and one of kernels launched one by one. */
static void run_gpu(const struct backend *b, struct exec *e, const struct parity *p, const struct plan *plan,
                    int more, char *const *to)
{
    struct fault f;
    load(b, e, plan);
    launch(b, e, p, 1, to[0], &f);
    launch(b, e, p, more, to[1], &f);
    b->close(e);
    e = open_gpu(b, true);
    load(b, e, plan);
    launch(b, e, p, 1, to[2], &f);
    b->close(e);
}

int main(int argc, char **argv)
{
    char why[512] = "";
    struct options o = parse(argc, argv);
    if (o.list) {
        return list(&o);
    }
    const struct backend *b = o.dry ? &backend_cpu : backend_cuda(NULL, why, sizeof why);
    if (!b) {
        fail("plugin", why);
    }
    graph.phases.at = &phase;
    graph.phases.n = 1;
    struct exec *e = open_gpu(b, false);
    struct exec_device d;
    if (b->device(e, &d) != ST_OK) {
        fail("device", b->error(e));
    }
    printf("device: %s, %s\n\n", d.name, d.driver);
    d.target.workspace = o.dry ? 1 << 20 : d.target.workspace;
    struct parity p;
    build(&p, &o, &d.target);
    struct plan_variant v;
    struct plan plan = make_plan(&p, &v);
    if (o.declared) {
        b->close(e);
        return run_declared(b, &p, &plan, &v);
    }
    char *cpu = mem_alloc(IMAGE), *gpu[3] = {mem_alloc(IMAGE), mem_alloc(IMAGE), mem_alloc(IMAGE)};
    memcpy(cpu, p.image, p.used);
    if (cpu_run_variant(cpu, &plan, 0, 0) != ST_OK) {
        fail("cpu", "the CPU could not run the cases");
    }
    run_gpu(b, e, &p, &plan, o.quick ? 0 : 2, gpu);
    struct row row[OP_COUNT] = {0};
    uint32_t bad = compare(&p, cpu, gpu[0], row), missing = untested(&p, row);
    print_rows(&p, row, true);
    printf("\nparity: %u cases, %u differ, %u operators untested\n", p.op.n, bad, missing);
    bool same = report_bits(&p, "graph against a third replay", gpu[0], gpu[1]);
    same = report_bits(&p, "graph against kernel by kernel", gpu[0], gpu[2]) && same;
    bool faults = check_faults(b, &d.target, gpu[1]);
    mem_free(cpu, IMAGE);
    for (int i = 0; i < 3; i++) {
        mem_free(gpu[i], IMAGE);
    }
    parity_free(&p);
    return bad || missing || !same || !faults;
}
