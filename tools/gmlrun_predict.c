/* `gmlrun predict`: the outputs of a phase for every row, as a file or as CSV on the standard output. */
#include <string.h>
#include "tools/gmlrun.h"

static enum status no_file(struct call *c, const char *path)
{
    enum status st =
        diag_emit(&c->sink, DIAG_U0003, NO_SPAN,
                  "`--out` takes a file ending in .npz, .npy, .csv or .safetensors, not `%s`", path);
    diag_help(&c->sink, "without --out the predictions are printed as CSV");
    return st;
}

static enum status write_predictions(struct call *c, const struct array_file *f, const char *path)
{
    if (path) {
        TRY(arrays_write(path, f->at, f->n, &c->sink));
        if (!c->run.quiet) {
            fprintf(stderr, "done: %u output%s in %s\n", f->n, f->n == 1 ? "" : "s", path);
        }
        return ST_OK;
    }
    struct text t = {.arena = c->arena};
    enum status st = csv_append("predictions as CSV", f->at, f->n, &c->sink, &t);
    if (st != ST_OK) {
        diag_help(&c->sink, "choose outputs with --output NAME, or write --out FILE.npz");
        return st;
    }
    fwrite(t.at, 1, t.n, stdout);
    return ST_OK; /* main checks stdout */
}

enum status command_predict(struct call *c)
{
    struct graph *g;
    struct array_file f;
    const struct option_value *output = &c->o.at[OPT_OUTPUT];
    const char *path = c->run.out && strcmp(c->run.out, "-") != 0 ? c->run.out : NULL;
    if (path && !arrays_can_write(path)) {
        return no_file(c, path);
    }
    TRY(call_graph(c, &g));
    TRY(need_weights(c, g));
    c->run.stop = catch_signals();
    TRY(run_predict(g, &c->run, output->many.at, output->many.n, c->arena, &c->sink, &f));
    return write_predictions(c, &f, path);
}
