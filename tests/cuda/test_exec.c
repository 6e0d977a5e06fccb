/* The executor against a fake CUDA: what a step costs, where numbers go, and that every failing call gives a
 * status and leaks nothing. */
#include <stddef.h>
#include "kernels/tick_args.h"
#include "runtime/base/seam.h"
#include "tests/cuda/fake_cuda.h"
#include "tests/plan/make_loop.h"

enum { ARENA = 1 << 20, CONTROL = 4096, PLANNED = 512 << 10 };

/* A phase of three ops (product, relu, sum) with one metric, the init phase that never runs here, and a tail
 * variant. */
static struct graph graph;
static struct plan plan;
static struct phase phases[2];
static struct plan_variant variants[3];
static struct plan_op ops[3];
static struct operand operands[8];
static struct plan_metric metric;
static struct plan_buffer buffers[3];
static uint32_t dying[2] = {0, 1}, die0[4] = {0, 0, 1, 2};
static const int64_t axes[2] = {0, 1};

static struct operand matrix(uint64_t offset, int64_t rows, int64_t cols)
{
    return (struct operand){
        .offset = offset, .dim = {rows, cols}, .stride = {cols, 1}, .dtype = DT_F32, .rank = 2};
}

static void make_ops(void)
{
    operands[0] = matrix(16384, 8, 16);
    operands[1] = matrix(32768, 16, 4);
    operands[2] = matrix(PLANNED, 8, 4);
    operands[3] = matrix(PLANNED + 512, 8, 4);
    operands[4] = (struct operand){.offset = PLANNED + 1024, .dtype = DT_F32};
    ops[0] = (struct plan_op){.op = OP_matmul,
                              .part = PART_FORWARD,
                              .k = {.in = operands, .out = &operands[2], .n_in = 2, .n_out = 1}};
    ops[1] = (struct plan_op){.op = OP_relu,
                              .part = PART_FORWARD,
                              .k = {.in = &operands[2], .out = &operands[3], .n_in = 1, .n_out = 1}};
    ops[2] = (struct plan_op){
        .op = OP_sum,
        .part = PART_LOSS,
        .k = {.in = &operands[3], .out = &operands[4], .n_in = 1, .n_out = 1, .attr = axes, .n_attr = 2}};
    for (uint32_t i = 0; i < 3; i++) {
        buffers[i] = (struct plan_buffer){.variant = 1,
                                          .node = i + 1,
                                          .offset = PLANNED + 512 * i,
                                          .bytes = 256,
                                          .first = i,
                                          .last = i + 1,
                                          .to_end = i == 2};
    }
}

static void setup(void)
{
    fake_start(&failing_api, 64 << 20);
    make_ops();
    metric = (struct plan_metric){"loss", METRIC_MEAN, operands[4]};
    phases[0] = (struct phase){.name = "init", .kind = PHASE_INIT};
    phases[1] = (struct phase){.name = "train", .kind = PHASE_USER};
    graph = (struct graph){0};
    graph.phases.at = phases;
    graph.phases.n = 2;
    variants[0] = (struct plan_variant){.phase = 0};
    variants[1] = (struct plan_variant){.phase = 1,
                                        .rows = 8,
                                        .op = ops,
                                        .n_op = 3,
                                        .metric = &metric,
                                        .n_metric = 1,
                                        .n_buffer = 3,
                                        .dying = dying,
                                        .die0 = die0};
    variants[2] = variants[1];
    variants[2].rows = 3;
    variants[2].is_tail = true;
    plan = (struct plan){.graph = &graph,
                         .control = CONTROL,
                         .planned_offset = PLANNED,
                         .bytes = ARENA,
                         .device_bytes = ARENA,
                         .variant = variants,
                         .n_variant = 3,
                         .buffer = buffers,
                         .n_buffer = 3,
                         .persistent = PLANNED};
}

static void teardown(void)
{
    ck_assert_int_eq(fake.alive, 0);
}

static struct control *control_block(struct exec *e)
{
    return (struct control *)(e->arena + CONTROL);
}

/* Opens, allocates, prepares, uploads a control block. */
static enum status start_plan(const struct exec_options *o, const struct plan *p, struct exec **out)
{
    char why[512] = "";
    static struct control c;
    *out = NULL;
    TRY(fake_backend.open(o, out, why, sizeof why));
    TRY(fake_backend.arena(*out, p->device_bytes));
    fake_arena_address = (*out)->arena;
    TRY(fake_backend.prepare(*out, p));
    c = (struct control){.key = 5};
    c.phase[1].rows = 100;
    return fake_backend.upload(*out, p->control, &c, sizeof c);
}
static enum status start(const struct exec_options *o, struct exec **out)
{
    return start_plan(o, &plan, out);
}

START_TEST(one_launch_per_step)
{
    struct exec *e;
    struct exec_counts n;
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    const struct backend *b = e->backend;
    b->counts(e, &n, true);
    ck_assert_uint_eq(n.allocations, 2);
    ck_assert_uint_gt(n.bytes_h2d, 0);
    *(float *)(e->arena + operands[4].offset) = 2.5f;
    for (int i = 1; i <= 600; i++) {
        ck_assert_int_eq(b->launch(e, i % 50 == 0 ? 2 : 1, i == 1), ST_OK);
        const struct ring_slot *s = b->slot(e, (uint64_t)i, true);
        ck_assert_ptr_nonnull(s);
        ck_assert_int_eq(s->step, i);
        ck_assert_double_eq(s->value[0], 2.5);
    }
    b->counts(e, &n, false);
    ck_assert_uint_eq(n.launches, 600);
    ck_assert_uint_eq(n.bytes_h2d + n.bytes_d2h + n.syncs + n.allocations + n.graph_updates, 0);
    ck_assert_uint_eq(n.kernels_per_launch, 4);
    ck_assert_int_eq(b->launch(e, 0, true), ST_INTERNAL); /* init runs on the host */
    ck_assert_int_eq(b->launch(e, 9, true), ST_INTERNAL);
    b->close(e);
}
END_TEST

/* `first` reaches the tick: the mean starts anew. */
START_TEST(first_starts_a_visit)
{
    struct exec *e;
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    float *value = (float *)(e->arena + operands[4].offset);
    const float values[] = {4, 2, 10};
    const double means[] = {4, 3, 10};
    for (int i = 0; i < 3; i++) {
        *value = values[i];
        ck_assert_int_eq(cuda_launch(e, 1, i != 1), ST_OK);
        ck_assert_double_eq(cuda_slot(e, (uint64_t)i + 1, true)->value[0], means[i]);
    }
    cuda_close(e);
}
END_TEST

START_TEST(numbers_go_on_after_a_control_block)
{
    struct exec *e;
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    struct control c = *control_block(e);
    c.launches = 1000;
    ck_assert_int_eq(cuda_upload(e, CONTROL, &c, sizeof c), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    ck_assert_ptr_null(cuda_slot(e, 1000, false));
    ck_assert_ptr_nonnull(cuda_slot(e, 1001, false));
    ck_assert_ptr_null(cuda_slot(e, 1002, false));
    ck_assert_int_eq(cuda_upload(e, ARENA - 4, &c, 8), ST_INTERNAL);
    cuda_close(e);
}
END_TEST

static double fake_time;
static double fake_seconds(void)
{
    return fake_time;
}
static void fake_sleep(double s)
{
    fake_time += s;
}

/* At most two in flight; a device that does not move is given up after a minute, a broken one at once. */
START_TEST(flow_control_and_watchdog)
{
    struct exec *e;
    struct clock_seam saved = clock_seam;
    clock_seam = (struct clock_seam){fake_seconds, fake_sleep};
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    fake.stuck = true;
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, false), ST_OK);
    fake_time = 0;
    ck_assert_int_eq(cuda_launch(e, 1, false), ST_DEVICE);
    ck_assert_double_ge(fake_time, CUDA_WATCHDOG);
    ck_assert_double_le(fake_time, CUDA_WATCHDOG + 1);
    ck_assert_ptr_null(cuda_slot(e, 1, false));
    fake.broken = true;
    fake_time = 0;
    ck_assert_ptr_null(cuda_slot(e, 1, true));
    ck_assert_double_le(fake_time, 1);
    ck_assert_str_eq(cuda_error_text(e), "cudaStreamQuery: fake error 700");
    cuda_close(e);
    clock_seam = saved;
}
END_TEST

START_TEST(modes)
{
    struct exec *e;
    struct exec_counts n;
    ck_assert_int_eq(start(&(struct exec_options){.eager = true}, &e), ST_OK);
    cuda_counts(e, &n, true);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    cuda_counts(e, &n, true);
    ck_assert_uint_eq(n.launches, 4);
    ck_assert_uint_eq(n.kernels_per_launch, 4);
    cuda_close(e);
    ck_assert_int_eq(start(&(struct exec_options){.parts = true}, &e), ST_OK);
    cuda_counts(e, &n, true);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, false), ST_OK);
    cuda_counts(e, &n, true);
    ck_assert_uint_eq(n.launches, 4); /* forward, then loss with the tick; twice */
    ck_assert_uint_eq(n.kernels_per_launch, 4);
    ck_assert_int_eq(cuda_slot(e, 2, true)->step, 2);
    double part[PART_COUNT];
    ck_assert_int_eq(cuda_parts(e, part), ST_OK);
    ck_assert_double_eq_tol(part[PART_FORWARD], 2e-6, 1e-12);
    ck_assert_double_eq_tol(part[PART_LOSS], 2e-6, 1e-12);
    ck_assert(part[PART_BACKWARD] == 0 && part[PART_OPTIMIZER] == 0);
    cuda_close(e);
    fake.has_library = false; /* the own product takes its place */
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    struct exec_device d;
    ck_assert_int_eq(cuda_device(e, &d), ST_OK);
    ck_assert_ptr_nonnull(strstr(d.driver, "no cublasLt"));
    ck_assert_uint_eq(d.target.workspace, 0);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    ck_assert_int_eq(cuda_parts(e, part), ST_USAGE);
    cuda_close(e);
}
END_TEST

/* Clean steps pass; a byte behind a value is reported with the op; dead values are NaN. */
START_TEST(debug_plan)
{
    struct exec *e;
    ck_assert_int_eq(start(&(struct exec_options){.debug_plan = true}, &e), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    float dead = *(float *)(e->arena + operands[2].offset);
    ck_assert(dead != dead);
    ck_assert_uint_eq(e->variant[1].n_gap, 3);
    ck_assert_int_eq(cuda_debug_before(e, 1), ST_OK);
    e->arena[PLANNED + 512 + 256 + 3] = 0;
    ck_assert_int_eq(cuda_debug_after(e, 1, 0, 1), ST_OK); /* beside another value */
    ck_assert_int_eq(cuda_debug_after(e, 1, 1, 2), ST_INTERNAL);
    ck_assert_ptr_nonnull(strstr(cuda_error_text(e), "`relu`"));
    ck_assert_ptr_nonnull(strstr(cuda_error_text(e), "byte 3"));
    ck_assert_int_eq(cuda_debug_end(e, 1), ST_INTERNAL);
    cuda_close(e);
}
END_TEST

/* Is the value of this operand declared to the tool, and as unwritten? */
static bool declared(const struct exec *e, int operand)
{
    int i = fake_region_at(e->arena + operands[operand].offset, 1);
    return i >= 0 && !fake.region[i].written;
}

/* With a tool that listens, a value is declared from the start of the launch to its death, and nothing is
 * poisoned. */
START_TEST(debug_plan_declares)
{
    struct exec *e;
    fake.listens = true;
    ck_assert_int_eq(start(&(struct exec_options){.debug_plan = true}, &e), ST_OK);
    ck_assert_int_eq(cuda_debug_before(e, 1), ST_OK);
    int control = fake_region_at(e->arena + CONTROL, 1);
    ck_assert(control >= 0 && fake.region[control].written);
    ck_assert_uint_eq(fake.region[control].bytes, sizeof(struct control));
    ck_assert(declared(e, 2) && declared(e, 3) && declared(e, 4));
    ck_assert_int_lt(fake_region_at(e->arena + PLANNED + 256, 256), 0); /* the red zone */
    ck_assert_int_eq(cuda_debug_after(e, 1, 0, 1), ST_OK);
    ck_assert(declared(e, 2));
    ck_assert_int_eq(cuda_debug_after(e, 1, 1, 2), ST_OK);
    ck_assert(!declared(e, 2) && declared(e, 3) && declared(e, 4));
    ck_assert_int_eq(cuda_debug_after(e, 1, 2, 3), ST_OK);
    ck_assert(!declared(e, 3) && declared(e, 4));
    float value = *(float *)(e->arena + operands[3].offset);
    ck_assert(value == value);
    ck_assert_int_eq(cuda_debug_end(e, 1), ST_OK);
    ck_assert(!declared(e, 4));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    }
    int counters = fake_region_at(e->arena + e->counters, 1);
    ck_assert(counters >= 0 && fake.region[counters].written);
    ck_assert_int_eq(fake.n_region, 3); /* the control block, and what is counted with behind the arena */
    cuda_close(e);
}
END_TEST

START_TEST(refusals)
{
    struct exec *e = NULL;
    char why[512] = "";
    struct exec_options o = {.device = 3};
    ck_assert_int_eq(fake_backend.open(&o, &e, why, sizeof why), ST_USAGE);
    ck_assert_str_eq(why, "there is no device cuda:3; this machine has 1");
    o.device = 0;
    fake.devices = 0;
    ck_assert_int_eq(fake_backend.open(&o, &e, why, sizeof why), ST_DEVICE);
    fake.devices = 1;
    fail_calls = fail_at = 0;
    fail_code = CUDA_OLD_DRIVER;
    ck_assert_int_eq(fake_backend.open(&o, &e, why, sizeof why), ST_DEVICE);
    ck_assert_str_eq(why, "there is no NVIDIA driver for CUDA 13.0 or newer on this machine");
    fail_at = -1;
    fake.driver = 12040;
    ck_assert_int_eq(fake_backend.open(&o, &e, why, sizeof why), ST_DEVICE);
    ck_assert_ptr_nonnull(strstr(why, "CUDA 12.4"));
    fake.driver = 13000;
    fake.sm = 80;
    ck_assert_int_eq(fake_backend.open(&o, &e, why, sizeof why), ST_DEVICE);
    fake.sm = 90;
    fake.memory = 1000;
    ck_assert_int_eq(start(&o, &e), ST_RESOURCE);
    ck_assert_ptr_nonnull(strstr(cuda_error_text(e), "needs 1.0 MiB"));
    cuda_close(e);
    fake.memory = 64 << 20;
    ops[1].op = OP_exp;
    operands[2].dtype = DT_NONE;
    ck_assert_int_eq(start(&o, &e), ST_USAGE);
    ck_assert_ptr_nonnull(strstr(cuda_error_text(e), "has no CUDA kernel"));
    cuda_close(e);
}
END_TEST

/* -- loops */

/* Variant 1: iterations around `inner` iterations around one kernel. */
static const struct plan *plan_loops(int64_t n, int64_t inner, bool reverse, bool no_reuse)
{
    struct looped k = make_looped(n, inner, reverse);
    struct plan *p = make_plan(&k.m, &(struct plan_options){.target = {.name = "cuda", .sm = 90, .n_sm = 132},
                                                            .no_reuse = no_reuse});
    ck_assert_int_eq(plan_find(p, k.phase, false) - p->variant, 1);
    return p;
}

struct loops_run {
    int n_trace;
    struct fake_ran trace[FAKE_TRACE];
    uint64_t launches, kernels, updates;
    int conditions;
};
/* Launch 2 of a run (without `first`). */
static void run_loops(const struct exec_options *o, const struct plan *p, struct loops_run *r)
{
    struct exec *e;
    struct exec_counts n;
    fake_reset();
    ck_assert_int_eq(start_plan(o, p, &e), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    cuda_counts(e, &n, true);
    fake.n_trace = 0;
    ck_assert_int_eq(cuda_launch(e, 1, false), ST_OK);
    ck_assert_int_eq(cuda_slot(e, 2, true)->step, 2);
    cuda_counts(e, &n, true);
    r->n_trace = fake.n_trace;
    memcpy(r->trace, fake.trace, sizeof r->trace);
    r->launches = n.launches;
    r->kernels = n.kernels_per_launch;
    r->updates = n.graph_updates;
    r->conditions = fake.n_condition;
    cuda_close(e);
    ck_assert_int_eq(fake.alive, 0);
}

/* In each iteration xt is read and y is written; nobody spoils the counter. */
static void check_indices(const struct loops_run *r, int64_t n, bool reverse)
{
    int seen = 0;
    for (int i = 0; i < r->n_trace; i++) {
        if (r->trace[i].function == fake_function(OP_loop_in, DT_F32, 0, LOOP_PART)) {
            int64_t step = seen++ / 2;
            ck_assert_int_eq(r->trace[i].index, reverse ? n - 1 - step : step);
        }
    }
    ck_assert_int_eq(seen, 2 * n);
}

/* What one graph launch runs is what the host would launch kernel by kernel, in that order and with the same
 * counters; both are counted right. */
static void check_loops(int64_t n, int64_t inner, bool reverse, int conditions)
{
    static struct loops_run whole, eager, parts, debug;
    const struct plan *p = plan_loops(n, inner, reverse, false);
    run_loops(&(struct exec_options){0}, p, &whole);
    run_loops(&(struct exec_options){.eager = true}, p, &eager);
    run_loops(&(struct exec_options){.parts = true}, p, &parts);
    run_loops(&(struct exec_options){.debug_plan = true}, plan_loops(n, inner, reverse, true), &debug);
    ck_assert_int_lt(whole.n_trace, FAKE_TRACE);
    ck_assert_int_eq(whole.n_trace, eager.n_trace);
    ck_assert_int_eq(memcmp(whole.trace, eager.trace, sizeof *whole.trace * (size_t)whole.n_trace), 0);
    ck_assert_int_eq(parts.n_trace, whole.n_trace);
    ck_assert_int_eq(memcmp(whole.trace, parts.trace, sizeof *whole.trace * (size_t)whole.n_trace), 0);
    ck_assert_uint_eq(whole.kernels, (uint64_t)whole.n_trace);
    ck_assert_uint_eq(eager.kernels, (uint64_t)whole.n_trace);
    ck_assert_uint_eq(debug.kernels, (uint64_t)debug.n_trace);
    ck_assert_uint_eq(whole.launches, 1);
    ck_assert_uint_eq(eager.launches, (uint64_t)whole.n_trace);
    ck_assert_int_eq(whole.conditions, conditions);
    check_indices(&whole, n, reverse);
    check_indices(&debug, n, reverse);
    make_free_all();
}

/* Conditions: two graphs, which differ in their tick, hold the WHILE nodes each. */
START_TEST(loops)
{
    const struct {
        int64_t n, inner;
        int conditions;
    } row[] = {
        {0, 2, 0},   /* nothing runs */
        {1, 2, 0},   /* written out, */
        {4, 2, 0},   /* one inside of the other */
        {20, 2, 2},  /* the inner one written out */
        {3, 30, 2},  /* and here too: 61 kernels */
        {2, 31, 2},  /* 63, */
        {2, 32, 4},  /* 65: a WHILE node in the body of another */
        {7, 100, 4}, /* which runs anew in each iteration */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        check_loops(row[i].n, row[i].inner, i % 2, row[i].conditions);
    }
}
END_TEST

/* Overflowing counts stay at the top. */
START_TEST(kernels_of_endless_loops)
{
    const struct plan_loop outer = {.count = INT32_MAX, .begin = 0, .end = 5},
                           middle = {.count = INT32_MAX, .begin = 1, .end = 4},
                           inner = {.count = INT32_MAX, .begin = 2, .end = 3};
    const struct plan_loop *of[] = {&outer, &middle, &inner, &inner, &middle, &outer};
    struct cuda_step step[6];
    for (uint32_t i = 0; i < 6; i++) {
        step[i] = (struct cuda_step){.op = i, .n_launch = 1, .loop = of[i]};
    }
    const struct cuda_variant v = {.step = step, .n_step = 6};
    ck_assert_uint_eq(cuda_step_kernels(&v, 2, 4), (uint64_t)INT32_MAX + 1);
    ck_assert_uint_eq(cuda_step_kernels(&v, 0, 6), UINT64_MAX);
    ck_assert(!cuda_unrolls(&v, &inner));
}
END_TEST

/* A value of the body is declared anew in each iteration, one from outside until the loop ends; dead ones are
 * poisoned at the same moments. */
START_TEST(loops_declare)
{
    for (int listens = 0; listens < 2; listens++) {
        struct exec *e;
        const struct plan *p = plan_loops(2, 2, false, true);
        fake_reset();
        fake.listens = listens;
        ck_assert_int_eq(start_plan(&(struct exec_options){.debug_plan = true}, p, &e), ST_OK);
        for (int i = 0; i < 3; i++) {
            ck_assert_msg(cuda_launch(e, 1, i == 0) == ST_OK, "%s", cuda_error_text(e));
        }
        cuda_close(e);
        make_free_all();
    }
}
END_TEST

/* -- segments */

enum { MOST_NODES = 64, STATE = ARENA };
static struct segment_node segment_nodes[MOST_NODES];
static struct plan_segment segment;
static uint32_t n_loop, n_mark, seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}
static uint32_t push_node(struct segment_node n)
{
    segment_nodes[segment.n_node] = n;
    segment_nodes[segment.n_node].end = segment.n_node + 1;
    return segment.n_node++;
}
/* Ticks of two variants, `stop when`, loops and questions; loop: whose rounds count. True when one may leave.
 */
static bool random_nodes(int depth, uint32_t loop, uint32_t *forget)
{
    bool leaves = false;
    for (uint32_t n = 1 + below(3); n && segment.n_node + 8 < MOST_NODES; n--) {
        uint32_t kind = depth < 4 ? below(6) : below(3), i = 0, marks = n_mark;
        if (kind < 2) {
            push_node(
                (struct segment_node){.kind = SEGMENT_TICK, .variant = 1 + below(2), .first = below(2)});
        } else if (kind == 2 && depth > 0) {
            push_node((struct segment_node){.kind = SEGMENT_STOP, .variant = 0, .may_leave = true});
            leaves = true;
        } else if (kind == 3 && n_mark < SEGMENT_MARKS) {
            bool rounds = below(2);
            *forget |= rounds ? 1u << n_mark : 0;
            i = push_node((struct segment_node){.kind = SEGMENT_EVERY,
                                                .phase = rounds ? -1 : 1,
                                                .loop = loop,
                                                .mark = n_mark++,
                                                .n = 1 + below(3)});
            segment_nodes[i].may_leave = random_nodes(depth + 1, loop, forget);
            leaves |= segment_nodes[i].may_leave;
            segment_nodes[i].end = segment.n_node;
        } else if (n_loop + 1 < SEGMENT_LOOPS) {
            uint32_t inside = 0;
            i = push_node((struct segment_node){.kind = SEGMENT_LOOP,
                                                .phase = below(2) ? 1 : -1,
                                                .loop = ++n_loop,
                                                .is_repeat = true,
                                                .n = below(4)});
            random_nodes(depth + 1, segment_nodes[i].loop, &inside);
            segment_nodes[i].forget = inside;
            *forget |= inside;
            segment_nodes[i].end = segment.n_node;
        }
        ck_assert_uint_le(marks, n_mark);
    }
    return leaves;
}

/* The host's side: its own arena, the same ticks. */
static char *host_arena;
static struct ring host_ring;
static int32_t host_rows[FAKE_TRACE];
static int n_host;
static enum status host_tick(struct exec *e, uint32_t variant, bool first)
{
    (void)e;
    struct tick_args a;
    ck_assert_ptr_null(tick_args_make(&plan, variant, &a));
    a.first = first;
    ck_assert_int_lt(n_host, FAKE_TRACE);
    host_rows[n_host++] = (int32_t)a.rows;
    tick(host_arena, &a, &host_ring, 0, 1);
    return ST_OK;
}
static size_t written(void)
{
    return (size_t)(n_host < LIMIT_RING_SLOTS ? n_host : LIMIT_RING_SLOTS) * sizeof *host_ring.slot;
}
static bool host_holds(struct exec *e, uint32_t variant)
{
    (void)e;
    return host_arena[variants[variant].output[0].offset] != 0;
}

/* The expression of `stop when` is a byte of the cursor: it holds from row 256 on. */
static void random_segment(uint32_t from)
{
    static struct operand output;
    uint32_t forget = 0;
    seed = from;
    n_loop = n_mark = 0;
    segment = (struct plan_segment){.node = segment_nodes, .loops = below(4) > 0};
    random_nodes(0, 0, &forget);
    output =
        (struct operand){.offset = CONTROL + offsetof(struct control, phase[1].cursor) + 1, .dtype = DT_BOOL};
    variants[0].output = &output;
    variants[0].n_output = 1;
    plan.segment = &segment;
    plan.n_segment = 1;
}

/* One launch is what the host goes through step by step: the same ticks in the same order, the same slots,
 * control block and counters. The second continues the first. */
START_TEST(segments)
{
    struct exec *e;
    struct exec_counts n;
    host_arena = calloc(1, ARENA);
    for (uint32_t i = 0; i < 40; i++) {
        fake_reset();
        random_segment((uint32_t)(40 * _i) + i);
        ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
        struct control *there = control_block(e), *here = (struct control *)(host_arena + CONTROL);
        struct segment_host h = {.control = here, .tick = host_tick, .holds = host_holds};
        there->phase[1].rows = 500;
        *here = *there;
        memset(host_ring.slot, 0, written());
        n_host = 0;
        cuda_counts(e, &n, true);
        fake.n_trace = 0;
        for (int k = 0; k < 3; k++) {
            struct segment_command c = {
                .rounds = below(4), .round = 1 + below(3), .goes_on = k == 1, .phase = below(2) ? 1 : -1};
            ck_assert_msg(cuda_launch_segment(e, 0, &c) == ST_OK, "%s", cuda_error_text(e));
            ck_assert_int_eq(host_segment(NULL, &h, &segment, &c), ST_OK);
        }
        cuda_counts(e, &n, false);
        ck_assert_uint_eq(n.launches, 3);
        ck_assert_uint_eq(n.bytes_h2d + n.bytes_d2h + n.syncs + n.allocations + n.graph_updates, 0);
        int ticks = 0;
        ck_assert_int_lt(fake.n_trace, FAKE_TRACE);
        for (int t = 0; t < fake.n_trace; t++) {
            if (fake.trace[t].function == cuda_tick_function()) {
                ck_assert_int_lt(ticks, n_host);
                ck_assert_int_eq(fake.trace[t].index, host_rows[ticks]);
                ticks++;
            }
        }
        ck_assert_int_eq(ticks, n_host);
        ck_assert_int_eq(memcmp(here, there, sizeof *here), 0);
        ck_assert_int_eq(memcmp(host_ring.slot, e->ring->slot, written()), 0);
        const struct segment_state *state = (const struct segment_state *)(const void *)(e->arena + STATE);
        ck_assert_int_eq(state->leave, h.state.leave);
        ck_assert_int_eq(memcmp(state->mark, h.state.mark, sizeof state->mark), 0);
        ck_assert_int_eq(memcmp(state->round, h.state.round, sizeof state->round), 0);
        cuda_close(e);
        ck_assert_int_eq(fake.alive, 0);
    }
    free(host_arena);
}
END_TEST

/* Numbers go on behind a segment whose slots were read; a command waits for the one before the last. */
START_TEST(numbers_go_on_after_a_segment)
{
    struct exec *e;
    struct clock_seam saved = clock_seam;
    clock_seam = (struct clock_seam){fake_seconds, fake_sleep};
    segment_nodes[0] = (struct segment_node){.kind = SEGMENT_TICK, .end = 1, .variant = 1};
    segment = (struct plan_segment){segment_nodes, 1, true};
    plan.segment = &segment;
    plan.n_segment = 1;
    const struct segment_command c = {.rounds = 5, .phase = 1};
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
    ck_assert_int_eq(cuda_launch_segment(e, 0, &c), ST_OK);
    ck_assert_int_eq(cuda_launch_segment(e, 1, &c), ST_INTERNAL);
    for (uint64_t i = 1; i <= 6; i++) {
        ck_assert_ptr_nonnull(cuda_slot(e, i, true));
    }
    ck_assert_ptr_null(cuda_slot(e, 7, false));
    ck_assert_int_eq(cuda_launch(e, 1, false), ST_OK);
    ck_assert_int_eq(cuda_slot(e, 7, true)->step, 7);
    ck_assert_ptr_null(cuda_slot(e, 8, false));
    fake.stuck = true;
    fake_time = 0;
    ck_assert_int_eq(cuda_launch_segment(e, 0, &c), ST_OK);
    ck_assert_int_eq(cuda_launch_segment(e, 0, &c), ST_OK);
    ck_assert_int_eq(cuda_launch_segment(e, 0, &c), ST_DEVICE);
    ck_assert_double_ge(fake_time, CUDA_WATCHDOG);
    ck_assert_ptr_nonnull(strstr(cuda_error_text(e), "segment 2 does not end"));
    cuda_close(e);
    clock_seam = saved;
}
END_TEST

/* What functions of the driver ask for, by name. */
START_TEST(audited_names)
{
    static const struct {
        const char *name;
        uint64_t launches, in, out, syncs, allocations, updates;
    } row[] = {
        {"cuGraphLaunch", 2, 0, 0, 0, 0, 0},
        {"cuLaunchKernelEx_ptsz", 2, 0, 0, 0, 0, 0},
        {"cuMemcpyHtoDAsync_v2", 0, 10, 0, 0, 0, 0},
        {"cuMemcpyDtoHAsync_v2", 0, 0, 10, 0, 0, 0},
        {"cuMemcpyDtoH_v2", 0, 0, 10, 2, 0, 0},
        {"cuMemcpyAsync", 0, 10, 10, 0, 0, 0},
        {"cuMemcpyDtoDAsync_v2", 0, 0, 0, 0, 0, 0},
        {"cuStreamSynchronize_ptsz", 0, 0, 0, 2, 0, 0},
        {"cuMemAllocAsync", 0, 0, 0, 0, 2, 0},
        {"cuMemHostAlloc", 0, 0, 0, 0, 2, 0},
        {"cuGraphExecKernelNodeSetParams_v2", 0, 0, 0, 0, 0, 2},
        {"cuGraphInstantiateWithParams", 0, 0, 0, 0, 0, 2},
        {"cuGraphExecDestroy", 0, 0, 0, 0, 0, 0},
        {"cuStreamQuery", 0, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct exec_counts n = {0};
        cuda_audit_call(&n, row[i].name, 2, 10);
        bool same = n.launches == row[i].launches && n.bytes_h2d == row[i].in && n.bytes_d2h == row[i].out &&
                    n.syncs == row[i].syncs && n.allocations == row[i].allocations &&
                    n.graph_updates == row[i].updates;
        ck_assert_msg(same, "%s", row[i].name);
    }
}
END_TEST

/* Who counted, and every graph walked once with its bodies: 20 iterations around a written-out loop are one
 * body, in the graphs of either tick. */
START_TEST(audit)
{
    const struct plan *p = plan_loops(20, 2, false, false);
    for (int cupti = 0; cupti < 2; cupti++) {
        struct exec *e;
        struct exec_counts n;
        fake_reset();
        fake.has_cupti = cupti;
        fake.host_nodes = cupti;
        ck_assert_int_eq(start_plan(&(struct exec_options){.audit = true}, p, &e), ST_OK);
        cuda_counts(e, &n, true);
        ck_assert_str_eq(n.source, cupti ? "cupti" : "cuda_api");
        ck_assert_int_eq(cuda_launch(e, 1, true), ST_OK);
        ck_assert_int_eq(cuda_launch(e, 1, false), ST_OK);
        fake.graph_launches += cupti; /* a library's */
        cuda_counts(e, &n, true);
        ck_assert_uint_eq(n.launches, cupti ? 3 : 2);
        ck_assert_uint_eq(n.walk.graphs, 2);
        ck_assert_uint_eq(n.walk.host, cupti ? 4 : 0); /* bodies, too */
        ck_assert_uint_gt(n.walk.kernels, 2 * 6);
        ck_assert_uint_lt(n.walk.kernels, 2 * 20); /* not by iterations */
        ck_assert_int_eq(e->counter.n_body, 0);
        cuda_close(e);
        ck_assert_int_eq(fake.alive, 0);
    }
    make_free_all();
}
END_TEST

/* Without products in sight the library stays closed. */
START_TEST(library_on_demand)
{
    for (int none = 0; none < 2; none++) {
        struct exec *e;
        struct exec_device d;
        fake_reset();
        ck_assert_int_eq(start(&(struct exec_options){.no_products = none}, &e), ST_OK);
        ck_assert_int_eq(fake.blas_opens, !none);
        ck_assert_int_eq(cuda_device(e, &d), ST_OK);
        ck_assert_uint_eq(d.target.workspace, none ? 0 : CUDA_WORKSPACE);
        cuda_close(e);
    }
}
END_TEST

/* Each kernel takes a microsecond; what counts iterations is not timed. */
START_TEST(profile)
{
    struct exec *e;
    double seconds[64];
    ck_assert_int_eq(start(&(struct exec_options){0}, &e), ST_OK);
    ck_assert_int_eq(cuda_profile(e, 1, seconds), ST_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(seconds[i], 1e-6, 1e-9);
    }
    ck_assert_int_eq(cuda_profile(e, 0, seconds), ST_INTERNAL);
    cuda_close(e);
    const struct plan *p = plan_loops(20, 2, false, false);
    ck_assert_int_eq(start_plan(&(struct exec_options){0}, p, &e), ST_OK);
    ck_assert_int_eq(cuda_profile(e, 1, seconds), ST_OK);
    for (uint32_t i = 0; i < p->variant[1].n_op; i++) {
        ck_assert_double_eq_tol(seconds[i], p->variant[1].op[i].loop ? 0 : 1e-6, 1e-9);
    }
    cuda_close(e);
    make_free_all();
}
END_TEST

static enum status whole_run(const struct exec_options *o, const struct plan *p)
{
    struct exec *e;
    struct control c;
    enum status s = start_plan(o, p, &e);
    for (int i = 1; i <= 3 && s == ST_OK; i++) {
        s = cuda_launch(e, 1, i == 1);
    }
    if (s == ST_OK && p->n_segment && !o->eager && !o->parts && !o->debug_plan) {
        s = cuda_launch_segment(e, 0, &(struct segment_command){.rounds = 2, .phase = -1});
    }
    if (s == ST_OK) {
        s = cuda_sync(e);
    }
    if (s == ST_OK && o->parts) {
        s = cuda_parts(e, (double[PART_COUNT]){0});
    }
    if (s == ST_OK) {
        s = cuda_download(e, p->control, &c, sizeof c);
    }
    if (s != ST_OK && e) {
        ck_assert_ptr_nonnull(strstr(cuda_error_text(e), cuda_call_name[fail_which]));
    }
    cuda_close(e);
    return s;
}

enum { FAILING_MODES = 5 };
/* Every call fails once, in every mode, without and with loops; only those of cuda_close may be ignored. */
START_TEST(every_call_can_fail)
{
    const struct exec_options mode[FAILING_MODES] = {
        {0}, {.eager = true}, {.parts = true}, {.debug_plan = true}, {.debug_plan = true}};
    random_segment(3);
    const struct exec_options *o = &mode[_i / 2];
    /* Kernel by kernel the host counts: every iteration makes the same calls, and a few are enough. */
    const struct plan *p = _i % 2 ? plan_loops(2, o->debug_plan ? 4 : 40, false, o->debug_plan) : &plan;
    fake_reset();
    fake.listens = _i / 2 == 4;
    ck_assert_int_eq(whole_run(o, p), ST_OK);
    int calls = fail_calls, ignored = 0;
    ck_assert_int_gt(calls, 20);
    for (int i = 0; i < calls; i++) {
        fake_reset();
        fake.listens = _i / 2 == 4;
        fail_at = i;
        enum status s = whole_run(o, p);
        bool releases = fake_releases(fail_which);
        bool last_sync = fail_which == CUDA_CALL_stream_sync && s == ST_OK;
        ck_assert_msg(releases || last_sync || s == ST_DEVICE, "call %d (%s) gave %d", i,
                      cuda_call_name[fail_which], s);
        ignored += last_sync;
        ck_assert_msg(fake.alive == 0, "%d handles left after call %d (%s)", fake.alive, i,
                      cuda_call_name[fail_which]);
        ck_assert(!fake.capturing || fail_which == CUDA_CALL_capture_end);
    }
    ck_assert_int_eq(ignored, 1); /* the one in close */
    fake_reset();
    fail_at = 6;
    fail_code = CUDA_NO_MEMORY;
    ck_assert_int_eq(whole_run(o, p), ST_RESOURCE);
    make_free_all();
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cuda exec");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, one_launch_per_step);
    tcase_add_test(t, first_starts_a_visit);
    tcase_add_test(t, numbers_go_on_after_a_control_block);
    tcase_add_test(t, flow_control_and_watchdog);
    tcase_add_test(t, modes);
    tcase_add_test(t, debug_plan);
    tcase_add_test(t, debug_plan_declares);
    tcase_add_test(t, loops);
    tcase_add_test(t, kernels_of_endless_loops);
    tcase_add_test(t, loops_declare);
    tcase_add_test(t, audited_names);
    tcase_add_test(t, audit);
    tcase_add_test(t, library_on_demand);
    tcase_add_test(t, profile);
    tcase_add_loop_test(t, segments, 0, 5);
    tcase_add_test(t, numbers_go_on_after_a_segment);
    tcase_add_test(t, refusals);
    tcase_add_loop_test(t, every_call_can_fail, 0, 2 * FAILING_MODES);
    return suite_run("cuda exec", t, CK_FORK);
}
