/* The commands that run a model. Results go to stdout, progress to stderr. */
#include "runtime/plan/print.h"
#include "tools/gmlrun.h"

enum status open_run(struct call *c, struct run **r)
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
    TRY(run_open_plan(g, &c->run, run_target(NULL), &c->sink, &r));
    if (c->o.at[OPT_JSON].given) {
        run_summary_json(r, stdout);
    } else {
        run_summary(r, stdout);
    }
    run_close(r);
    return ST_OK;
}
