/* The commands that run a model. Results go to stdout, progress to stderr. */
#include "runtime/plan/print.h"
#include "tools/gmlrun.h"

static enum status open_run(struct call *c, struct run **r)
{
    struct graph *g;
    TRY(call_graph(c, &g));
    c->run.stop = catch_signals();
    return run_open(g, &c->run, &c->sink, r);
}

static void print_summary(struct call *c, const struct summary *s)
{
    if (c->o.at[OPT_JSON].given) {
        printf("%s\n", summary_json(c->arena, s));
    } else {
        summary_print(s, stdout);
    }
}

enum status command_train(struct call *c)
{
    struct run *r;
    struct summary s;
    TRY(open_run(c, &r));
    enum status st = run_train(r, &s);
    if (st == ST_OK || st == ST_STOPPED || st == ST_NUMERIC) {
        print_summary(c, &s);
    }
    if ((st == ST_OK || st == ST_STOPPED) && !c->run.quiet) {
        const char *number = c->replicas ? ".0" : "";
        fprintf(stderr, "%s: weights in %s/weights%s.safetensors%s\n", st == ST_OK ? "done" : "stopped",
                run_folder(r), number, c->replicas > 1 ? ", and of the other replicas beside it" : "");
    }
    run_close(r);
    return st;
}

enum status need_weights(struct call *c, const struct graph *g)
{
    bool any = false;
    for (uint32_t i = 1; i < g->vars.n; i++) {
        any |= g->vars.at[i].kind == VAR_PARAM;
    }
    if (c->run.weights || !any) {
        return ST_OK;
    }
    enum status st =
        diag_emit(&c->sink, DIAG_U0002, NO_SPAN, "`gmlrun %s` needs --weights FILE", c->o.command->name);
    diag_help(&c->sink, "train writes runs/<model>-<n>/weights.safetensors");
    return st;
}

enum status command_eval(struct call *c)
{
    struct graph *g;
    struct run *r;
    struct summary s;
    TRY(call_graph(c, &g));
    TRY(need_weights(c, g));
    c->run.stop = catch_signals();
    TRY(run_open_eval(g, &c->run, &c->sink, &r));
    enum status st = run_eval(r, &s);
    if (st == ST_OK) {
        print_summary(c, &s);
    }
    run_close(r);
    return st;
}

enum status command_summary(struct call *c)
{
    struct graph *g;
    struct run *r;
    TRY(call_graph(c, &g));
    TRY(run_open_plan(g, &c->run, &c->sink, &r));
    if (c->o.at[OPT_JSON].given) {
        run_summary_json(r, stdout);
    } else {
        run_summary(r, stdout);
    }
    run_close(r);
    return ST_OK;
}

static void bench_json(struct call *c, const struct run *r, const struct bench *b)
{
    printf("{\"model\": %s, \"phase\": %s, \"device\": %s, \"rows\": %lld, \"steps\": %lld, "
           "\"steps_per_second\": %.6g, \"median_ms\": %.6g, \"best_ms\": %.6g",
           json_text(c->arena, run_model(r)), json_text(c->arena, b->phase), json_text(c->arena, b->device),
           (long long)b->rows, (long long)b->steps, b->steps_per_second, b->median_ms, b->best_ms);
    for (int i = 0; i < PART_COUNT && b->has_parts; i++) {
        printf("%s\"%s\": %.6g%s", i ? ", " : ", \"part_ms\": {", part_name[i], b->part_ms[i],
               i + 1 == PART_COUNT ? "}" : "");
    }
    printf("}\n");
}

static void bench_text(const struct run *r, const struct bench *b)
{
    printf("%s of %s on %s: %.1f steps/s, %.4f ms a step (median), %.4f ms (best), %lld steps measured\n",
           b->phase, run_model(r), b->device, b->steps_per_second, b->median_ms, b->best_ms,
           (long long)b->steps);
    for (int i = 0; i < PART_COUNT && b->has_parts; i++) {
        printf("%-10s %.4f ms (median)\n", part_name[i], b->part_ms[i]);
    }
}

enum status command_bench(struct call *c)
{
    struct run *r;
    struct bench b;
    c->run.quiet = true;
    TRY(open_run(c, &r));
    enum status st = run_bench(r, &b);
    if (st == ST_OK && c->o.at[OPT_JSON].given) {
        bench_json(c, r, &b);
    } else if (st == ST_OK) {
        bench_text(r, &b);
    }
    run_close(r);
    return st;
}
