/* The cpu and null backends on hand-made plans: one phase x = x * 2 with a metric; visits, epochs, the tail,
 * skipped commits, failed asserts, faults, --debug-plan, bad arguments. And the thread pool. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "runtime/base/seam.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/pool.h"
#include "tests/suite.h"

enum { ROWS = 4, TAIL = 2, CONTROL_AT = 1024, STATE_AT = 512, PLANNED_AT = 65536, ZONE = 256 };

/* state (f32[1]) doubles at each launch; the metric is its new value; ok and the assert read bools at 256 and
 * 260. */
struct toy {
    struct arena *a;
    struct graph graph;
    struct plan plan;
    struct operand in[2], mid, out[2];
    struct plan_op op[2];
    struct plan_metric metric[5];
    struct operand asserts[1];
    struct plan_variant variant[2];
    struct plan_buffer buffer[1];
    uint32_t die0[3], dying[1];
    struct exec *e;
    const struct backend *b;
};

static struct operand scalar(uint64_t offset, enum dtype t)
{
    return (struct operand){.offset = offset, .dtype = (uint8_t)t};
}

static void toy_ops(struct toy *t)
{
    t->in[0] = t->in[1] = scalar(STATE_AT, DT_F32);
    t->mid = scalar(PLANNED_AT, DT_F32);
    t->out[1] = scalar(STATE_AT, DT_F32);
    t->op[0] = (struct plan_op){.op = OP_add, .k = {.in = t->in, .out = &t->mid, .n_in = 2, .n_out = 1}};
    t->op[1] =
        (struct plan_op){.op = OP_copy, .k = {.in = &t->mid, .out = &t->out[1], .n_in = 1, .n_out = 1}};
    t->buffer[0] =
        (struct plan_buffer){.variant = 0, .offset = PLANNED_AT, .bytes = 256, .first = 0, .last = 1};
    t->die0[2] = 1;
}

static void toy_variants(struct toy *t)
{
    for (int i = 0; i < 5; i++) {
        t->metric[i] = (struct plan_metric){"m", (enum metric_mode)i, scalar(STATE_AT, DT_F32)};
    }
    t->asserts[0] = scalar(260, DT_BOOL);
    for (int i = 0; i < 2; i++) {
        t->variant[i] = (struct plan_variant){
            .phase = 1, .rows = i ? TAIL : ROWS, .is_tail = i == 1, .op = t->op, .n_op = 2};
        t->variant[i].metric = t->metric;
        t->variant[i].n_metric = 5;
        t->variant[i].metric0 = 3;
        t->variant[i].assert_value = t->asserts;
        t->variant[i].n_assert = 1;
        t->variant[i].has_ok = true;
        t->variant[i].ok = scalar(256, DT_BOOL);
        t->variant[i].planned = 256 + ZONE;
        t->variant[i].n_buffer = 1;
        t->variant[i].die0 = t->die0;
        t->variant[i].dying = t->dying;
    }
    t->plan =
        (struct plan){.arena = t->a, .graph = &t->graph, .control = CONTROL_AT, .persistent = PLANNED_AT};
    t->plan.planned_offset = PLANNED_AT;
    t->plan.bytes = t->plan.device_bytes = PLANNED_AT + 256 + ZONE;
    t->plan.variant = t->variant;
    t->plan.n_variant = 2;
    t->plan.buffer = t->buffer;
    t->plan.n_buffer = 1;
}

static void put(struct toy *t, uint64_t offset, const void *bytes, uint64_t n)
{
    ck_assert_int_eq(t->b->upload(t->e, offset, bytes, n), ST_OK);
}

static struct toy *toy_new(const struct backend *b, bool training, struct exec_options o)
{
    struct arena *a = arena_new();
    struct toy *t = arena_new_of(a, struct toy);
    char why[256];
    t->a = a;
    t->b = b;
    vec_push(a, &t->graph.phases, ((struct phase){.name = "init"}));
    vec_push(a, &t->graph.phases,
             ((struct phase){.name = "train", .kind = PHASE_USER, .training = training}));
    struct output held = {.name = "x > 0", .value = 42};
    vec_push(a, &t->graph.phases.at[1].asserts, held);
    toy_ops(t);
    toy_variants(t);
    ck_assert_int_eq(b->open(&o, &t->e, why, sizeof why), ST_OK);
    ck_assert(*(const struct backend **)t->e == b);
    ck_assert_int_eq(b->arena(t->e, t->plan.bytes), ST_OK);
    ck_assert_int_eq(b->prepare(t->e, &t->plan), ST_OK);
    struct control c = {.key = 1};
    c.phase[1].rows = 2 * ROWS + TAIL;
    float one = 1;
    put(t, CONTROL_AT, &c, sizeof c);
    put(t, STATE_AT, &one, 4);
    put(t, 256, "\1\0\0\0\1", 5);
    return t;
}

static void toy_free(struct toy *t)
{
    t->b->close(t->e);
    arena_free(t->a);
}

static const struct ring_slot *step(struct toy *t, uint32_t variant, bool first, uint64_t n)
{
    ck_assert_ptr_null(t->b->slot(t->e, n, false));
    ck_assert_int_eq(t->b->launch(t->e, variant, first), ST_OK);
    const struct ring_slot *s = t->b->slot(t->e, n, true);
    ck_assert_ptr_nonnull(s);
    return s;
}

START_TEST(metrics_keep_their_mode)
{
    struct toy *t = toy_new(&backend_cpu, false, (struct exec_options){.threads = 2});
    step(t, 0, true, 1);                              /* 2, 4 rows */
    step(t, 0, false, 2);                             /* 4, 4 rows */
    const struct ring_slot *s = step(t, 1, false, 3); /* 8, 2 rows */
    ck_assert(s->value[METRIC_MEAN] == (2.0 * 4 + 4 * 4 + 8 * 2) / 10);
    ck_assert(s->value[METRIC_SUM] == 14 && s->value[METRIC_LAST] == 8);
    ck_assert(s->value[METRIC_MIN] == 2 && s->value[METRIC_MAX] == 8 && s->now[METRIC_MIN] == 8);
    s = step(t, 0, true, 4); /* a new visit */
    ck_assert(s->value[METRIC_MEAN] == 16 && s->value[METRIC_MIN] == 16 && s->value[METRIC_SUM] == 16);
    struct control c;
    ck_assert_int_eq(t->b->download(t->e, CONTROL_AT, &c, sizeof c), ST_OK);
    ck_assert(c.metric[3 + METRIC_MEAN].last == 16 && c.metric[3 + METRIC_MEAN].weight == ROWS);
    toy_free(t);
}
END_TEST

START_TEST(epochs_drop_or_keep_the_tail)
{
    struct toy *train = toy_new(&backend_cpu, true, (struct exec_options){.threads = 1});
    struct toy *eval = toy_new(&backend_null, false, (struct exec_options){.threads = 1});
    static const int64_t train_epoch[] = {0, 1, 1, 2}, eval_epoch[] = {0, 0, 1, 1};
    for (uint64_t n = 1; n <= 4; n++) {
        const struct ring_slot *s = step(train, 0, n == 1, n);
        ck_assert_int_eq(s->epoch, train_epoch[n - 1]);
        ck_assert_int_eq(s->step, (int64_t)n);
        s = step(eval, n == 3, n == 1, n);
        ck_assert_int_eq(s->epoch, eval_epoch[n - 1]);
    }
    struct control c;
    ck_assert_int_eq(eval->b->download(eval->e, CONTROL_AT, &c, sizeof c), ST_OK);
    ck_assert(c.phase[1].cursor == ROWS && c.launches == 4 && c.phase[1].rows == 2 * ROWS + TAIL);
    toy_free(train);
    toy_free(eval);
}
END_TEST

START_TEST(skips_are_counted_and_do_not_spoil_metrics)
{
    struct toy *t = toy_new(&backend_cpu, true, (struct exec_options){.threads = 1});
    float nan = NAN;
    step(t, 0, true, 1);
    put(t, 256, "\0", 1);
    put(t, STATE_AT, &nan, 4);
    const struct ring_slot *s = step(t, 0, false, 2);
    ck_assert(s->skipped && s->skips_in_row == 1 && s->step == 2 && isnan(s->now[METRIC_MEAN]) &&
              s->value[METRIC_MEAN] == 2);
    s = step(t, 0, false, 3);
    ck_assert(s->skips_in_row == 2 && s->fault.code == FAULT_NONE);
    put(t, 256, "\1", 1);
    s = step(t, 0, false, 4);
    struct control c;
    ck_assert_int_eq(t->b->download(t->e, CONTROL_AT, &c, sizeof c), ST_OK);
    ck_assert(!s->skipped && s->skips_in_row == 0 && c.phase[1].skips == 2);
    ck_assert(isnan(s->value[METRIC_MEAN])); /* not skipped: the NaN is the truth */
    toy_free(t);
}
END_TEST

/* Nothing counted yet is not 0: a loss that is NaN from the start must not look perfect. */
START_TEST(a_visit_without_finite_values_shows_them)
{
    struct toy *t = toy_new(&backend_cpu, true, (struct exec_options){.threads = 1});
    float nan = NAN, one = 1;
    put(t, 256, "\0", 1);
    put(t, STATE_AT, &nan, 4);
    const struct ring_slot *s = step(t, 0, true, 1);
    ck_assert(s->skipped && isnan(s->value[METRIC_MEAN]) && isnan(s->value[METRIC_MIN]));
    put(t, 256, "\1", 1);
    put(t, STATE_AT, &one, 4);
    s = step(t, 0, false, 2);
    ck_assert(s->value[METRIC_MEAN] == 2 && s->value[METRIC_MIN] == 2 && s->value[METRIC_SUM] == 2);
    toy_free(t);
}
END_TEST

START_TEST(a_failed_assert_stops_the_counters)
{
    struct toy *t = toy_new(&backend_cpu, false, (struct exec_options){.threads = 1});
    step(t, 0, true, 1);
    put(t, 260, "\0", 1);
    const struct ring_slot *s = step(t, 0, false, 2);
    ck_assert(s->fault.code == FAULT_ASSERT && s->fault.node == 42 && s->step == 1);
    put(t, 260, "\1", 1);
    s = step(t, 0, false, 3); /* the word stays, the slot still comes */
    ck_assert(s->fault.code == FAULT_ASSERT && s->step == 1);
    toy_free(t);
}
END_TEST

START_TEST(more_launches_than_slots)
{
    struct toy *t = toy_new(&backend_null, false, (struct exec_options){.threads = 1});
    for (uint64_t n = 1; n <= 3 * LIMIT_RING_SLOTS; n++) {
        step(t, 0, false, n);
    }
    ck_assert_ptr_null(t->b->slot(t->e, 1, false));
    ck_assert_ptr_null(t->b->slot(t->e, 0, false));
    struct exec_counts c;
    t->b->counts(t->e, &c, true);
    ck_assert_uint_eq(c.launches, 3 * LIMIT_RING_SLOTS);
    toy_free(t);
}
END_TEST

/* A plan that places a value beside its buffer must be caught. (ASan builds poison the red zone and would
 * stop at the store.) */
START_TEST(debug_plan_sees_red_zones)
{
    struct toy *t = toy_new(&backend_cpu, false, (struct exec_options){.threads = 1, .debug_plan = true});
    step(t, 0, true, 1);
    float state;
    ck_assert_int_eq(t->b->download(t->e, PLANNED_AT, &state, 4), ST_OK);
    ck_assert(isnan(state)); /* died with the last op */
#if !defined(__SANITIZE_ADDRESS__)
    t->mid.offset = PLANNED_AT + 256 + 8;
    ck_assert_int_eq(t->b->launch(t->e, 0, false), ST_INTERNAL);
    ck_assert_ptr_nonnull(strstr(t->b->error(t->e), "add of phase `train`"));
#endif
    toy_free(t);
}
END_TEST

START_TEST(bad_calls_are_refused)
{
    struct toy *t = toy_new(&backend_cpu, false, (struct exec_options){.threads = 1});
    char byte = 0;
    ck_assert_int_eq(t->b->upload(t->e, t->plan.bytes, &byte, 1), ST_INTERNAL);
    ck_assert_int_eq(t->b->download(t->e, UINT64_MAX, &byte, 2), ST_INTERNAL);
    ck_assert_int_eq(t->b->launch(t->e, 2, false), ST_INTERNAL);
    ck_assert_int_eq(t->b->arena(t->e, 8), ST_INTERNAL);
    t->op[0].op = OP_read;
    ck_assert_int_eq(t->b->prepare(t->e, &t->plan), ST_MODEL);
    ck_assert_ptr_nonnull(strstr(t->b->error(t->e), "read"));
    t->op[0].op = OP_add;
    t->in[0].dtype = DT_BOOL;
    ck_assert_int_eq(t->b->prepare(t->e, &t->plan), ST_MODEL);
    t->in[0].dtype = DT_F32;
    t->variant[0].n_metric = RING_METRICS + 1;
    ck_assert_int_eq(t->b->prepare(t->e, &t->plan), ST_MODEL);
    toy_free(t);
    struct exec *e;
    char why[256] = "";
    ck_assert_int_eq(backend_cpu.open(&(struct exec_options){.device = 1}, &e, why, sizeof why), ST_USAGE);
    ck_assert_str_ne(why, "");
}
END_TEST

START_TEST(host_variants_do_not_tick)
{
    struct toy *t = toy_new(&backend_cpu, false, (struct exec_options){.threads = 1});
    char *arena = calloc(1, t->plan.bytes);
    float one = 1.5f;
    memcpy(arena + STATE_AT, &one, 4);
    ck_assert_int_eq(cpu_run_variant(arena, &t->plan, 0, 2), ST_OK);
    memcpy(&one, arena + STATE_AT, 4);
    const struct control *c = (const struct control *)(arena + CONTROL_AT);
    ck_assert(one == 3 && c->launches == 0);
    free(arena);
    toy_free(t);
}
END_TEST

static double ticking; /* a clock that goes on by a second each time it is read */
static double next_second(void)
{
    return ticking++;
}
START_TEST(parts_are_timed)
{
    struct clock_seam saved = clock_seam;
    double part[PART_COUNT];
    struct toy *t = toy_new(&backend_cpu, true, (struct exec_options){.threads = 1, .parts = true});
    t->op[1].part = PART_OPTIMIZER;
    clock_seam.seconds = next_second;
    for (uint64_t n = 1; n <= 2; n++) {
        step(t, 0, n == 1, n);
        ck_assert_int_eq(t->b->parts(t->e, part), ST_OK);
        ck_assert(part[PART_FORWARD] == 1 && part[PART_LOSS] == 0 && part[PART_BACKWARD] == 0);
        ck_assert(part[PART_OPTIMIZER] == 2); /* its op and the tick */
    }
    toy_free(t);
    double read = ticking;
    t = toy_new(&backend_cpu, true, (struct exec_options){.threads = 1});
    step(t, 0, true, 1);
    ck_assert_int_eq(t->b->parts(t->e, part), ST_USAGE);
    ck_assert(ticking == read); /* not asked for: not paid for */
    toy_free(t);
    clock_seam = saved;
}
END_TEST

START_TEST(cuda_says_why_not)
{
    char why[512] = "";
    const struct backend *b = backend_cuda("/nonexistent", why, sizeof why);
    ck_assert(b ? b->abi == BACKEND_ABI : strstr(why, "libgml_cuda.so") != NULL);
}
END_TEST

struct tally {
    _Atomic int hits[1000];
};
static void count_units(void *ctx, int64_t from, int64_t to)
{
    struct tally *t = ctx;
    for (int64_t i = from; i < to; i++) {
        atomic_fetch_add(&t->hits[i], 1);
    }
}

START_TEST(pool_does_each_unit_once)
{
    for (int threads = 1; threads <= 5; threads++) {
        struct pool *p = pool_new(threads);
        struct tally *t = calloc(1, sizeof *t);
        ck_assert_int_eq(pool_threads(p), threads);
        for (int round = 0; round < 2000; round++) {
            pool_run(p, count_units, t, round % 1000);
        }
        for (int i = 0; i < 1000; i++) {
            if (t->hits[i] != 2 * (999 - i)) {
                ck_abort_msg("unit %d ran %d times", i, t->hits[i]);
            }
        }
        free(t);
        pool_free(p);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("backends");
    tcase_add_test(t, metrics_keep_their_mode);
    tcase_add_test(t, epochs_drop_or_keep_the_tail);
    tcase_add_test(t, skips_are_counted_and_do_not_spoil_metrics);
    tcase_add_test(t, a_visit_without_finite_values_shows_them);
    tcase_add_test(t, a_failed_assert_stops_the_counters);
    tcase_add_test(t, more_launches_than_slots);
    tcase_add_test(t, debug_plan_sees_red_zones);
    tcase_add_test(t, bad_calls_are_refused);
    tcase_add_test(t, host_variants_do_not_tick);
    tcase_add_test(t, parts_are_timed);
    tcase_add_test(t, cuda_says_why_not);
    tcase_add_test(t, pool_does_each_unit_once);
    return suite_run("backends", t, CK_NOFORK);
}
