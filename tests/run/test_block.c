/* The run block on a fake backend that records launches: order, visits, tails, limits, steps planned. */
#include <stddef.h>
#include <stdlib.h>
#include "runtime/run/segments.h"
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

static struct control control; /* the device's */

/* Set with so many launches, as a signal does. */
static volatile sig_atomic_t signalled;
static uint64_t stop_at;

/* A launch: its epoch is 1 now and then, which is what `stop when` asks for. */
static enum status fake_launch(struct exec *e, uint32_t variant, bool first)
{
    (void)e;
    const struct plan_variant *v = &plan.variant[variant];
    char letter = g->phases.at[v->phase].name[0];
    text_printf(&trail, "%s%c", first ? "!" : "", v->is_tail ? letter : letter - 'a' + 'A');
    struct ring_slot *s = &ring.slot[issued % LIMIT_RING_SLOTS];
    *s = (struct ring_slot){.seq = issued + 1, .phase = (int32_t)v->phase};
    s->step = ++control.phase[v->phase].step;
    s->epoch = control.phase[v->phase].epoch = s->step * 2654435761u % 1024 < 200;
    s->skipped = bad_from >= 0 && (int64_t)issued >= bad_from;
    s->skips_in_row = skips = s->skipped ? skips + 1 : 0;
    issued++;
    signalled |= stop_at && issued >= stop_at;
    most_in_flight = issued - read_up_to > most_in_flight ? issued - read_up_to : most_in_flight;
    return ST_OK;
}
static const struct ring_slot *fake_slot(struct exec *e, uint64_t n, bool wait)
{
    (void)e;
    ck_assert(n >= 1);
    if (!wait && n > issued) {
        return NULL;
    }
    ck_assert_uint_le(n, issued);
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
/* Segments run at once, in the order of host_segment; "[" and "]" around what one launch comes to. */
static struct segment_host host;
static bool brackets;
static double slower; /* seconds a tick, see fake_seconds */
static int64_t segments, ticks_in_segment, ticks_of_segments, most_in_segment;
static bool fake_holds(struct exec *e, uint32_t variant)
{
    (void)e;
    return ((const char *)&control)[plan.variant[variant].output[0].offset] != 0;
}
static enum status fake_tick(struct exec *e, uint32_t variant, bool first)
{
    struct phase_control *p = &control.phase[plan.variant[variant].phase];
    bool starts = first || p->visit;
    p->visit = 0;
    ticks_in_segment++;
    ticks_of_segments++;
    TRY(fake_launch(e, variant, starts));
    control.over |= skips >= options.max_skips;
    return ST_OK;
}
static enum status fake_launch_segment(struct exec *e, uint32_t segment, const struct segment_command *c)
{
    text_printf(&trail, brackets ? "[" : "");
    ticks_in_segment = 0;
    TRY(host_segment(e, &host, &plan.segment[segment], c));
    segments++;
    most_in_segment = ticks_in_segment > most_in_segment ? ticks_in_segment : most_in_segment;
    text_printf(&trail, brackets ? "]" : "");
    return ST_OK;
}
static const struct backend fake = {.name = "fake",
                                    .launch = fake_launch,
                                    .launch_segment = fake_launch_segment,
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

static uint32_t train, eval, condition;

/* `stop when train.epoch`, as if it were a bool. */
static void add_stop(void)
{
    static struct operand output;
    output = (struct operand){.offset = offsetof(struct control, phase[train].epoch), .dtype = DT_BOOL};
    condition = add_phase("stop", false, 0, 0);
    g->phases.at[condition].kind = PHASE_RUN;
    variants[plan.n_variant - 2].output = &output;
    variants[plan.n_variant - 2].n_output = 1;
}

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
                       .threads = 1,
                       .log_every = 1};
    trail = (struct text){.arena = arena};
    control = (struct control){0};
    host = (struct segment_host){.control = &control, .tick = fake_tick, .holds = fake_holds};
    brackets = true;
    segments = ticks_of_segments = most_in_segment = 0;
    slower = 0;
    issued = most_in_flight = read_up_to = stop_at = 0;
    signalled = 0;
    bad_from = -1;
    skips = 0;
    train = add_phase("train", true, 10, 4);
    eval = add_phase("eval", false, 10, 4);
    add_stop();
    add_stmt(RUN_BLOCK, 0, UNIT_LAUNCH, 0);
}

static void tear_down(void)
{
    arena_free(arena);
}

static void expect(enum status st, const char *want)
{
    ck_assert_int_eq(block_plan(&run), ST_OK);
    run.launch_ticks = options.steps_per_launch;
    ck_assert_int_eq(segments_choose(&run, run.launch_ticks), ST_OK);
    ck_assert_int_eq(block_run(&run), st);
    ck_assert_str_eq(trail.at ? trail.at : "", want);
    ck_assert_uint_le(most_in_flight, 2 * (options.steps_per_launch > 1 ? options.steps_per_launch : 1));
    ck_assert_int_le(most_in_segment, options.steps_per_launch);
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

/* Several steps of a visit in one launch: no tail, no further than a limit. */
START_TEST(several_steps_in_one_launch)
{
    options.steps_per_launch = 3;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 9));
    expect(ST_OK, "[!TTT][TTT][TTT]");
    ck_assert_int_eq(run.steps_seen, 9);
    ck_assert_int_eq(run.phase[train].launches, 9);
    tear_down();
    set_up();
    options.steps_per_launch = 3;
    run.limit = 6;
    add_child(0, add_stmt(RUN_GO, train, UNIT_STEPS, 9));
    expect(ST_OK, "[!TTT][TTT]");
    tear_down();
    set_up();
    options.steps_per_launch = 2;
    add_child(0, add_stmt(RUN_GO, eval, UNIT_STEPS, 6));
    expect(ST_OK, "[!EE]e[EE]e");
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

/* -- segments */

static uint32_t add_repeat(uint32_t parent, int64_t n)
{
    uint32_t i = add_stmt(RUN_REPEAT, 0, UNIT_LAUNCH, n);
    add_child(parent, i);
    return i;
}
static void add_go(uint32_t parent, uint32_t phase, int64_t steps)
{
    add_child(parent, add_stmt(RUN_GO, phase, steps ? UNIT_STEPS : UNIT_LAUNCH, steps));
}
static uint32_t add_every(uint32_t parent, uint32_t phase, enum run_unit unit, int64_t n)
{
    uint32_t i = add_stmt(RUN_EVERY, phase, unit, n);
    add_child(parent, i);
    return i;
}
static void add_stop_when(uint32_t parent)
{
    uint32_t i = add_stmt(RUN_STOP, 0, UNIT_LAUNCH, 0);
    g->run.at[i].expr = condition;
    add_child(parent, i);
}

/* As one algorithm has it: a round is 1 + 3 ticks, and 3 more in every second; the pass has a tail. */
START_TEST(rounds_are_one_launch)
{
    options.steps_per_launch = 14;
    uint32_t outer = add_repeat(0, 5);
    add_go(outer, train, 0);
    uint32_t inner = add_repeat(outer, 3);
    add_go(inner, train, 0);
    add_go(add_every(outer, 0, UNIT_ROUNDS, 2), eval, 0);
    expect(ST_OK, "[!T!T!T!T!T!T!T!T!EEe][!T!T!T!T!T!T!T!T!EEe][!T!T!T!T]");
    ck_assert_int_eq(run.phase[eval].launches, 6);
}
END_TEST

/* A save at the end of every third round: the rounds up to it are a launch. In front of something else it
 * parts launches. */
START_TEST(host_work_parts_launches)
{
    options.steps_per_launch = 100;
    uint32_t loop = add_repeat(0, 8);
    add_go(loop, train, 2);
    add_child(add_every(loop, 0, UNIT_ROUNDS, 3), add_stmt(RUN_SAVE, 0, UNIT_LAUNCH, 0));
    expect(ST_OK, "[!TT!TT!TT][!TT!TT!TT][!TT!TT]");
    tear_down();
    set_up();
    options.steps_per_launch = 100;
    loop = add_repeat(0, 8);
    add_go(loop, train, 2);
    add_child(add_every(loop, train, UNIT_PHASE, 6), add_stmt(RUN_SAVE, 0, UNIT_LAUNCH, 0));
    add_go(loop, eval, 0);
    expect(ST_OK, "[!TT!EEe!TT!EEe]" /* then it fires */ "[!TT][!EE]e"
                  "[!TT!EEe!TT!EEe]"
                  "[!TT][!EE]e"
                  "[!TT!EEe!TT!EEe]");
    tear_down();
    set_up();
    options.steps_per_launch = 100;
    loop = add_repeat(0, 2); /* a body with a save between */
    add_go(loop, train, 3);
    add_go(loop, eval, 0);
    add_child(loop, add_stmt(RUN_SAVE, 0, UNIT_LAUNCH, 0));
    add_go(loop, train, 1);
    expect(ST_OK, "[!TTT!EEe]!T[!TTT!EEe]!T");
}
END_TEST

/* The device ends where the guard's limit is reached, whatever the launch would have come to. */
START_TEST(skips_end_a_segment)
{
    options.steps_per_launch = 50;
    bad_from = 2;
    uint32_t loop = add_repeat(0, 20);
    add_go(loop, train, 4);
    expect(ST_NUMERIC, "[!TTTT!T][]"); /* the launch behind finds it over */
    ck_assert_int_eq(drain(&run), ST_OK);
    ck_assert_uint_eq(run.seen, issued);
}
END_TEST

static uint32_t seed;
static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}
/* Time goes by as slots are read: a millisecond a tick, and so much more of one in a segment. */
static double fake_seconds(void)
{
    return 1 + 1e-3 * (double)read_up_to + slower * (double)ticks_of_segments;
}
static enum status run_default(void)
{
    struct clock_seam saved = clock_seam;
    clock_seam.seconds = fake_seconds;
    options.steps_per_launch = 0;
    run.launch_ticks = LAUNCH_TICKS;
    enum status st = block_plan(&run);
    st = st == ST_OK ? segments_choose(&run, run.launch_ticks) : st;
    st = st == ST_OK ? block_run(&run) : st;
    clock_seam = saved;
    return st;
}

static int count_in_trail(const char *what)
{
    int n = 0;
    for (const char *at = trail.at; (at = strstr(at, what)); at++) {
        n++;
    }
    return n;
}

/* Where the number is left to the run, some rounds are measured twice; then as many as take 10 ms are a
 * launch, one that takes longer by itself, and none of a tenth of a second. */
START_TEST(launches_take_10_ms)
{
    add_go(add_repeat(0, 16), train, 3);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_str_eq(trail.at, "!TTT!TTT!TTT!TTT!TTT!TTT!TTT!TTT"
                               "[!TTT!TTT!TTT][!TTT!TTT!TTT][!TTT!TTT]");
    tear_down();
    set_up();
    add_go(add_repeat(0, 4), train, 12);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_str_eq(trail.at, "!TTTTTTTTTTTT!TTTTTTTTTTTT[!TTTTTTTTTTTT][!TTTTTTTTTTTT]");
    tear_down();
    set_up();
    add_go(add_repeat(0, 3), train, 100); /* not so many that its parts are looked at */
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_int_eq(count_in_trail("["), 1);
    tear_down();
    set_up();
    add_go(0, train, 40); /* a visit by itself: ticks are measured */
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_str_eq(trail.at, "!TTTTTTTTTTTTTTTTTTTTTT[TTTTTTTTTT][TTTTTTTT]");
}
END_TEST

/* Of a round that takes longer, the visits and the rounds inside are launched many at a time. */
START_TEST(parts_of_long_rounds)
{
    add_go(add_repeat(0, 3), train, 140);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_int_eq(run.phase[train].launches, 420);
    ck_assert_int_gt(count_in_trail("["), 36);
    ck_assert_int_le(most_in_segment, 10);
    tear_down();
    set_up();
    uint32_t outer = add_repeat(0, 3), inner = add_repeat(outer, 60);
    add_go(inner, train, 1);
    add_go(inner, train, 1);
    add_go(outer, eval, 0);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_int_eq(run.phase[train].launches, 360);
    ck_assert_int_gt(count_in_trail("["), 30);
    ck_assert_int_le(most_in_segment, 10);
}
END_TEST

/* What is slower in segments goes step by step after four of them; by a trifle it may be. */
START_TEST(slower_segments_end)
{
    slower = 1e-4;
    add_go(add_repeat(0, 100), train, 3);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_int_eq(run.phase[train].launches, 300);
    ck_assert_int_ge(count_in_trail("["), 4);
    ck_assert_int_le(count_in_trail("["), 5); /* one was in flight */
    tear_down();
    set_up();
    slower = 1e-5;
    add_go(add_repeat(0, 100), train, 3);
    ck_assert_int_eq(run_default(), ST_OK);
    ck_assert_int_gt(count_in_trail("["), 25);
}
END_TEST

/* A signal: what is in flight is followed to its end, nothing more is launched. */
START_TEST(signals_end_between_launches)
{
    options.steps_per_launch = 6;
    options.stop = &signalled;
    stop_at = 14;
    add_go(add_repeat(0, 100), train, 3);
    expect(ST_OK, "[!TTT!TTT][!TTT!TTT][!TTT!TTT]");
    ck_assert(run.stopped);
    ck_assert_int_eq(run.steps_seen, 18);
    ck_assert_int_eq(control.phase[train].step, run.phase[train].launches);
}
END_TEST

/* Of what a random block is made beside phases, `repeat` and `every`. */
static bool with_passes, with_host, with_stops;
static void random_go(uint32_t parent)
{
    bool is_eval = below(2);
    if (is_eval && with_passes) {
        add_child(parent, add_stmt(RUN_GO, eval, below(2) ? UNIT_EPOCHS : UNIT_LAUNCH, 1 + below(2)));
    } else if (!is_eval && below(4) == 0) {
        add_child(parent, add_stmt(RUN_GO, train, UNIT_EPOCHS, 1 + below(2)));
    } else {
        add_go(parent, is_eval ? eval : train, 1 + below(3));
    }
}
static void random_block(uint32_t parent, int depth)
{
    for (uint32_t n = 1 + below(3); n; n--) {
        uint32_t kind = depth < 3 ? below(4) : 0, other = below(8);
        if (other == 0 && with_stops) {
            add_stop_when(parent);
        } else if (other == 1 && with_host) {
            add_child(parent, add_stmt(RUN_SAVE, 0, UNIT_LAUNCH, 0));
        } else if (kind == 0) {
            random_go(parent);
        } else if (kind == 1) {
            random_block(add_repeat(parent, 1 + below(6)), depth + 1);
        } else {
            bool rounds = kind == 2;
            random_block(
                add_every(parent, below(2) ? train : eval, rounds ? UNIT_ROUNDS : UNIT_PHASE, 1 + below(4)),
                depth + 1);
        }
    }
}

/* One random block, at most so many ticks a launch; the trail without brackets. */
static const char *random_run(uint32_t from, int64_t most, struct text *into)
{
    set_up();
    seed = from;
    with_passes = below(2);
    with_host = below(2);
    with_stops = below(2);
    random_block(add_repeat(0, 1 + below(30)), 1);
    run.limit = below(3) ? -1 : (int64_t)below(60);
    options.steps_per_launch = run.launch_ticks = most;
    brackets = false;
    ck_assert_int_eq(block_plan(&run), ST_OK);
    ck_assert_int_eq(segments_choose(&run, most), ST_OK);
    ck_assert_int_eq(block_run(&run), ST_OK);
    ck_assert_uint_eq(run.seen, issued);
    ck_assert_int_le(most_in_segment, most);
    text_printf(into, "%s;", trail.at ? trail.at : "");
    for (uint32_t p = 0; p < 2; p++) {
        const struct phase_state *s = &run.phase[p];
        text_printf(into, " %lld %lld", (long long)s->launches, (long long)s->cursor);
        ck_assert_int_eq(control.phase[p].step, s->launches);
    }
    text_printf(into, " %lld", (long long)run.steps_seen);
    return into->at;
}

/* Whatever a launch comes to: the same ticks, visits and tails in the same order, the same cursors. */
START_TEST(segments_are_the_steps_one_by_one)
{
    static int64_t launches_of_segments;
    struct arena *a = arena_new();
    tear_down();
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t from = (uint32_t)(20 * _i) + i;
        struct text one = {.arena = a};
        random_run(from, 1, &one);
        ck_assert_int_eq(segments, 0);
        tear_down();
        const int64_t most[] = {2, 3, 9, 60, LAUNCH_TICKS};
        for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
            struct text many = {.arena = a};
            ck_assert_str_eq(random_run(from, most[k], &many), one.at);
            launches_of_segments += segments;
            tear_down();
        }
    }
    ck_assert_int_gt(launches_of_segments, 20);
    arena_free(a);
    set_up();
}
END_TEST

/* What is planned, with rounds skipped that repeat earlier ones, is what runs. */
START_TEST(planned_is_what_runs)
{
    seed = (uint32_t)_i + 1;
    with_passes = with_host = with_stops = false;
    random_block(add_repeat(0, 1 + below(90)), 1);
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
    tcase_add_test(t, rounds_are_one_launch);
    tcase_add_test(t, host_work_parts_launches);
    tcase_add_test(t, skips_end_a_segment);
    tcase_add_test(t, launches_take_10_ms);
    tcase_add_test(t, parts_of_long_rounds);
    tcase_add_test(t, slower_segments_end);
    tcase_add_test(t, signals_end_between_launches);
    tcase_add_loop_test(t, segments_are_the_steps_one_by_one, 0, 10);
    tcase_add_test(t, long_schedules_are_planned_at_once);
    tcase_add_test(t, every_0_is_refused);
    return suite_run("block", t, CK_FORK);
}
