/* The run block on a fake backend that records launches: order, visits, tails, limits, steps planned. */
#include <stdlib.h>
#include "runtime/run/internal.h"
#include "tests/suite.h"

static struct arena *arena;
static struct graph *g;
static struct diag_sink sink;
static struct plan plan;
static struct run_options options;
static struct run run;
static struct text
    trail; /* "T" full and "t" tail launches of phases by letter, "!" before one that starts a visit */
static struct ring ring;
static uint64_t issued, most_in_flight, read_up_to;
static int64_t bad_from = -1; /* launches from this one on are skipped by the guard */
static int64_t skips;

static enum status fake_launch(struct exec *e, uint32_t variant, bool first)
{
    (void)e;
    const struct plan_variant *v = &plan.variant[variant];
    char letter = g->phases.at[v->phase].name[0];
    text_printf(&trail, "%s%c", first ? "!" : "", v->is_tail ? letter : letter - 'a' + 'A');
    struct ring_slot *s = &ring.slot[issued % LIMIT_RING_SLOTS];
    *s = (struct ring_slot){.seq = issued + 1, .phase = (int32_t)v->phase};
    s->skipped = bad_from >= 0 && (int64_t)issued >= bad_from;
    s->skips_in_row = skips = s->skipped ? skips + 1 : 0;
    issued++;
    most_in_flight = issued - read_up_to > most_in_flight ? issued - read_up_to : most_in_flight;
    return ST_OK;
}
static const struct ring_slot *fake_slot(struct exec *e, uint64_t n, bool wait)
{
    (void)e;
    ck_assert(wait && n >= 1 && n <= issued);
    read_up_to = n;
    return &ring.slot[(n - 1) % LIMIT_RING_SLOTS];
}
static enum status fake_sync(struct exec *e)
{
    (void)e;
    return ST_OK;
}
static const char *fake_error(struct exec *e)
{
    (void)e;
    return "";
}
/* "T*" for each of the ticks of a launch of several. */
static enum status fake_launch_many(struct exec *e, uint32_t variant)
{
    for (int64_t i = 0; i < options.steps_per_launch; i++) {
        TRY(fake_launch(e, variant, false));
        text_printf(&trail, "*");
    }
    return ST_OK;
}
static const struct backend fake = {.name = "fake",
                                    .launch = fake_launch,
                                    .launch_many = fake_launch_many,
                                    .slot = fake_slot,
                                    .sync = fake_sync,
                                    .error = fake_error};

static struct plan_variant variants[8];

static uint32_t add_phase(const char *name, bool training, int64_t rows, int64_t batch)
{
    static struct phase_state states[8];
    vec_push(arena, &g->phases,
             ((struct phase){.name = name, .kind = PHASE_USER, .training = training, .data = rows > 0}));
    uint32_t p = g->phases.n - 1;
    states[p] = (struct phase_state){.rows = rows, .batch = batch, .counts = training};
    run.phase = states;
    variants[plan.n_variant++] = (struct plan_variant){.phase = p, .rows = batch};
    variants[plan.n_variant++] =
        (struct plan_variant){.phase = p, .rows = rows > 0 ? rows % batch : 0, .is_tail = true};
    plan.variant = variants;
    return p;
}

static uint32_t add_stmt(enum run_kind kind, uint32_t phase, enum run_unit unit, int64_t count)
{
    struct run_stmt s = {
        .kind = kind, .phase = phase, .unit = unit, .count = count ? dim_const(&g->dims, count) : 0};
    s.child = arena_array(arena, uint32_t, 8);
    vec_push(arena, &g->run, s);
    return g->run.n - 1;
}

static void add_child(uint32_t parent, uint32_t child)
{
    g->run.at[parent].child[g->run.at[parent].n_child++] = child;
}

static uint32_t train, eval;

static void set_up(void)
{
    arena = arena_new();
    g = graph_new(arena);
    g->phases.n = 0;
    diag_init(&sink, arena, NULL);
    plan = (struct plan){.arena = arena, .graph = g};
    options = (struct run_options){.max_skips = 3};
    run = (struct run){.arena = arena,
                       .graph = g,
                       .o = &options,
                       .sink = &sink,
                       .plan = &plan,
                       .backend = &fake,
                       .image = arena_alloc(arena, sizeof(struct control)),
                       .limit = -1,
                       .log_every = 1};
    trail = (struct text){.arena = arena};
    issued = most_in_flight = read_up_to = 0;
    bad_from = -1;
    skips = 0;
    train = add_phase("train", true, 10, 4);
    eval = add_phase("eval", false, 10, 4);
    add_stmt(RUN_BLOCK, 0, UNIT_LAUNCH, 0);
}

static void tear_down(void)
{
    arena_free(arena);
}

static void expect(enum status st, const char *want)
{
    ck_assert_int_eq(block_plan(&run), ST_OK);
    ck_assert_int_eq(block_run(&run), st);
    ck_assert_str_eq(trail.at ? trail.at : "", want);
    ck_assert_uint_le(most_in_flight, 2 * (options.steps_per_launch > 1 ? options.steps_per_launch : 1));
    if (st == ST_OK) {
        ck_assert_uint_eq(run.seen, issued);
    }
}

/* Training drops the rest of an epoch, evaluation ends with a smaller launch; every epoch and pass is a
 * visit. */
START_TEST(epochs_and_passes)
{
    uint32_t loop = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 2);
    add_child(0, loop);
    add_child(loop, add_stmt(RUN_GO, train, UNIT_EPOCHS, 2));
    add_child(loop, add_stmt(RUN_GO, eval, UNIT_LAUNCH, 0));
    expect(ST_OK, "!TT!TT!EEe!TT!TT!EEe");
    ck_assert_int_eq(run.phase[train].planned, 8);
    ck_assert_int_eq(run.phase[eval].planned, 6);
    ck_assert_int_eq(run.steps_seen, 8);
}
END_TEST

START_TEST(single_launches_and_steps)
{
    add_child(0, add_stmt(RUN_GO, train, UNIT_LAUNCH, 0));
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 3));
    add_child(0, add_stmt(RUN_GO, eval, UNIT_STEPS, 2));
    add_child(0, add_stmt(RUN_GO, eval, UNIT_LAUNCH, 0)); /* finishes the pass that was begun */
    expect(ST_OK, "!T!TTT!EE!e");
    ck_assert_int_eq(run.phase[train].planned, 4);
}
END_TEST

START_TEST(every_by_phase_and_by_round)
{
    uint32_t loop = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 5);
    add_child(0, loop);
    add_child(loop, add_stmt(RUN_GO, train, UNIT_STEPS, 2));
    uint32_t by_phase = add_stmt(RUN_EVERY, train, UNIT_PHASE, 3),
             by_round = add_stmt(RUN_EVERY, 0, UNIT_ROUNDS, 5);
    add_child(loop, by_phase);
    add_child(by_phase, add_stmt(RUN_GO, eval, UNIT_STEPS, 1));
    add_child(loop, by_round);
    add_child(by_round, add_stmt(RUN_GO, eval, UNIT_STEPS, 1));
    /* after 4, 6 and 10 training launches a multiple of 3 was passed; round 5 adds another */
    expect(ST_OK, "!TT!TT!E!TT!E!TT!TT!e!E");
    ck_assert_int_eq(run.phase[train].planned, 10);
    ck_assert_int_eq(run.phase[eval].planned, 4);
}
END_TEST

START_TEST(limit_counts_training_launches)
{
    uint32_t loop = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 1000000000);
    add_child(0, loop);
    add_child(loop, add_stmt(RUN_GO, train, UNIT_EPOCHS, 1));
    add_child(loop, add_stmt(RUN_GO, eval, UNIT_LAUNCH, 0));
    run.limit = 3;
    expect(ST_OK, "!TT!EEe!T");
    ck_assert_int_eq(run.steps_seen, 3);
    ck_assert_int_eq(run.phase[train].planned, 2000000000);
}
END_TEST

/* Several steps in one launch: never the first of a visit, no tail, no further than a limit. */
START_TEST(several_steps_in_one_launch)
{
    options.steps_per_launch = 3;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 9));
    expect(ST_OK, "!TT*T*T*T*T*T*TT");
    ck_assert_int_eq(run.steps_seen, 9);
    ck_assert_int_eq(run.phase[train].launches, 9);
    tear_down();
    set_up();
    options.steps_per_launch = 3;
    run.limit = 6;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 9));
    expect(ST_OK, "!TT*T*T*TT");
    tear_down();
    set_up();
    options.steps_per_launch = 2;
    add_child(0, add_stmt(RUN_GO, eval, UNIT_STEPS, 6));
    expect(ST_OK, "!EEeE*E*e");
}
END_TEST

START_TEST(signal_ends_after_the_current_launch)
{
    volatile sig_atomic_t stop = 1;
    options.stop = &stop;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 3));
    expect(ST_OK, "");
    ck_assert(run.stopped);
}
END_TEST

START_TEST(skips_in_a_row_end_the_run)
{
    bad_from = 2;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 100));
    expect(ST_NUMERIC, "!TTTTTT"); /* skips 3, 4 and 5; the sixth was in flight */
    ck_assert_int_eq(sink.list.at[0].code, DIAG_N1001);
    ck_assert_int_eq(run.skipped, 3);
    ck_assert_int_eq(drain(&run), ST_OK); /* the sixth is neither counted nor reported again */
    ck_assert_uint_eq(run.seen, issued);
    ck_assert_int_eq(run.skipped, 3);
    ck_assert_uint_eq(sink.list.n, 1);
}
END_TEST

/* Each repeat counts its rounds from 1: the EVERY fires in all of them. */
START_TEST(rounds_start_anew_with_every_repeat)
{
    uint32_t outer = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 3), inner = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 2);
    uint32_t each = add_stmt(RUN_EVERY, 0, UNIT_ROUNDS, 1);
    add_child(0, outer);
    add_child(outer, inner);
    add_child(inner, each);
    add_child(each, add_stmt(RUN_GO, train, UNIT_LAUNCH, 0));
    expect(ST_OK, "!T!T!T!T!T!T");
    ck_assert_int_eq(run.phase[train].planned, 6);
}
END_TEST

static uint32_t seed;
static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}
static void random_block(uint32_t parent, int depth)
{
    for (uint32_t n = 1 + below(3); n; n--) {
        uint32_t kind = depth < 3 ? below(4) : 0, id;
        if (kind == 0) {
            id = add_stmt(RUN_GO, below(2) ? train : eval, UNIT_STEPS, 1 + below(3));
        } else if (kind == 1) {
            id = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 1 + below(6));
        } else {
            bool rounds = kind == 2;
            id =
                add_stmt(RUN_EVERY, below(2) ? train : eval, rounds ? UNIT_ROUNDS : UNIT_PHASE, 1 + below(4));
        }
        add_child(parent, id);
        if (kind) {
            random_block(id, depth + 1);
        }
    }
}

/* What is planned, with rounds skipped that repeat earlier ones, is what runs. */
START_TEST(planned_is_what_runs)
{
    seed = (uint32_t)_i + 1;
    uint32_t loop = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, 1 + below(90));
    add_child(0, loop);
    random_block(loop, 1);
    ck_assert_int_eq(block_plan(&run), ST_OK);
    ck_assert_int_eq(block_run(&run), ST_OK);
    ck_assert_int_eq(run.phase[train].planned, run.phase[train].launches);
    ck_assert_int_eq(run.phase[eval].planned, run.phase[eval].launches);
}
END_TEST

START_TEST(long_schedules_are_planned_at_once)
{
    const int64_t rounds = 1000000000000;
    uint32_t loop = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, rounds);
    uint32_t often = add_stmt(RUN_EVERY, train, UNIT_PHASE, 1000),
             seldom = add_stmt(RUN_EVERY, 0, UNIT_ROUNDS, 7000);
    add_child(0, loop);
    add_child(loop, add_stmt(RUN_GO, train, UNIT_STEPS, 3));
    add_child(loop, often);
    add_child(often, add_stmt(RUN_GO, eval, UNIT_STEPS, 1));
    add_child(loop, seldom);
    add_child(seldom, add_stmt(RUN_GO, eval, UNIT_STEPS, 2));
    ck_assert_int_eq(block_plan(&run), ST_OK);
    ck_assert_int_eq(run.phase[train].planned, 3 * rounds);
    ck_assert_int_eq(run.phase[eval].planned, 3 * rounds / 1000 + 2 * (rounds / 7000));
    g->run.at[often].count = dim_const(&g->dims, 1000000007);
    ck_assert_int_eq(block_plan(&run), ST_MODEL);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_E3111);
}
END_TEST

START_TEST(every_0_is_refused)
{
    uint32_t every = add_stmt(RUN_EVERY, train, UNIT_PHASE, 0);
    g->run.at[every].count = dim_const(&g->dims, 0);
    add_child(0, every);
    ck_assert_int_eq(block_plan(&run), ST_MODEL);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_E3111);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("block");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, epochs_and_passes);
    tcase_add_test(t, single_launches_and_steps);
    tcase_add_test(t, every_by_phase_and_by_round);
    tcase_add_test(t, limit_counts_training_launches);
    tcase_add_test(t, several_steps_in_one_launch);
    tcase_add_test(t, signal_ends_after_the_current_launch);
    tcase_add_test(t, skips_in_a_row_end_the_run);
    tcase_add_test(t, rounds_start_anew_with_every_repeat);
    tcase_add_loop_test(t, planned_is_what_runs, 0, 200);
    tcase_add_test(t, long_schedules_are_planned_at_once);
    tcase_add_test(t, every_0_is_refused);
    return suite_run("block", t, CK_FORK);
}
