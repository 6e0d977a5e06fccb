/* The embedding API over model_load and runtime/run. */
#include "runtime/gml.h"
#include <string.h>
#include "runtime/model.h"
#include "runtime/run/run.h"

struct gml {
    struct arena *arena;
    struct diag_sink sink;
    struct gml_options o;
    struct run_options run_options;
    struct graph *graph;
    struct run *run;
    uint32_t told; /* diagnostics handed to options.message so far */
    struct gml_metric *metric;
    VEC(struct run_tensor) tensor;
};

const char *gml_version(void)
{
    return GML_VERSION;
}

static void tell(struct gml *g, const struct diag *d)
{
    struct gml_message m = {.code = diag_name(d->code),
                            .level = d->is_warning ? "warning" : "error",
                            .text = d->message,
                            .help = d->help};
    if (d->span.file > 0 && g->sink.sources && d->span.file < g->sink.sources->list.n) {
        const struct source *s = &g->sink.sources->list.at[d->span.file];
        uint32_t line, column;
        source_line_column(s, d->span.start, &line, &column);
        m.file = s->path;
        m.line = line;
        m.column = column;
    }
    g->o.message(g->o.user, &m);
}

/* Every call ends here: what was said since the last one goes to the caller. */
static int leave(struct gml *g, enum status st)
{
    for (; g->told < g->sink.list.n; g->told++) {
        if (g->o.message) {
            tell(g, &g->sink.list.at[g->told]);
        }
    }
    return status_exit_code(st);
}

static uint32_t count_of(const char *const *list)
{
    uint32_t n = 0;
    while (list && list[n]) {
        n++;
    }
    return n;
}

static enum status split_pair(struct gml *g, const char *what, const char *pair, const char **name,
                              const char **value)
{
    const char *equals = strchr(pair, '=');
    if (!equals || equals == pair) {
        return diag_emit(&g->sink, DIAG_U0003, NO_SPAN, "options.%s: `%s` is not NAME=VALUE", what, pair);
    }
    *name = arena_strndup(g->arena, pair, (size_t)(equals - pair));
    *value = arena_strndup(g->arena, equals + 1, strlen(equals + 1));
    return ST_OK;
}

static const char *kept(struct gml *g, const char *text)
{
    return text ? arena_strndup(g->arena, text, strlen(text)) : NULL;
}

static enum status read_pairs(struct gml *g, const struct gml_options *o)
{
    struct run_options *r = &g->run_options;
    struct run_set *set = arena_array(g->arena, struct run_set, count_of(o->set));
    struct data_override *data = arena_array(g->arena, struct data_override, count_of(o->data));
    for (; o->set && o->set[r->n_set]; r->n_set++) {
        TRY(split_pair(g, "set", o->set[r->n_set], &set[r->n_set].name, &set[r->n_set].value));
    }
    for (; o->data && o->data[r->n_data]; r->n_data++) {
        TRY(split_pair(g, "data", o->data[r->n_data], &data[r->n_data].name, &data[r->n_data].file));
    }
    r->set = set;
    r->data = data;
    return ST_OK;
}

static bool precision_is(const struct gml_options *o, const char *name)
{
    return strcmp(o->precision ? o->precision : "f32", name) == 0;
}

static enum status read_options(struct gml *g, const char *path)
{
    const struct gml_options *o = &g->o;
    const char *slash = strrchr(path, '/');
    g->run_options =
        (struct run_options){.folder = slash ? arena_strndup(g->arena, path, (size_t)(slash - path)) : "",
                             .command = arena_printf(g->arena, "gml_open(\"%s\")", path),
                             .version = GML_VERSION,
                             .device = kept(g, o->device),
                             .weights = kept(g, o->weights),
                             .phase = kept(g, o->phase),
                             .out = kept(g, o->out),
                             .steps = o->steps > 0 ? o->steps : -1,
                             .seed = o->seed,
                             .threads = o->threads,
                             .max_skips = LIMIT_SKIPS_IN_ROW,
                             .quiet = true,
                             .stop = o->stop};
    if (!precision_is(o, "f32") && !precision_is(o, "tf32") && !precision_is(o, "bf16") &&
        !precision_is(o, "f64")) {
        return diag_emit(&g->sink, DIAG_U0003, NO_SPAN,
                         "options.precision is `%s`; use f32, tf32, bf16 or f64", o->precision);
    }
    g->run_options.precision = kept(g, o->precision);
    return read_pairs(g, o);
}

static enum status open_model(struct gml *g, const char *path)
{
    TRY(read_options(g, path));
    struct run_options *r = &g->run_options;
    struct compile_set *set = arena_array(g->arena, struct compile_set, r->n_set);
    for (uint32_t i = 0; i < r->n_set; i++) {
        set[i] = (struct compile_set){r->set[i].name, r->set[i].value};
    }
    struct model_options o = {.compile = {.include = g->o.include,
                                          .n_include = count_of(g->o.include),
                                          .std_path = g->o.std ? g->o.std : model_std_folder(g->arena),
                                          .set = set,
                                          .n_set = r->n_set,
                                          .bf16 = precision_is(&g->o, "bf16")},
                              .tf32 = precision_is(&g->o, "tf32"),
                              .f64 = precision_is(&g->o, "f64")};
    TRY(model_load(g->arena, path, &o, &g->sink, &g->graph));
    if (!model_is_compiled(path)) {
        r->n_set = 0; /* done by the compiler */
    }
    return run_open(g->graph, r, &g->sink, &g->run);
}

int gml_open(const char *path, const struct gml_options *o, struct gml **out)
{
    struct arena *a = arena_new();
    struct gml *g = arena_new_of(a, struct gml);
    g->arena = a;
    diag_init(&g->sink, a, NULL);
    if (o) {
        memcpy(&g->o, o, o->size < sizeof g->o ? o->size : sizeof g->o);
    }
    *out = NULL;
    enum status st = open_model(g, path);
    int code = leave(g, st);
    if (st != ST_OK) {
        gml_close(g);
        return code;
    }
    run_tensors(g->run, a, &g->tensor.at, &g->tensor.n);
    *out = g;
    return code;
}

static void copy_summary(struct gml *g, const struct summary *s, struct gml_summary *out)
{
    g->metric = arena_array(g->arena, struct gml_metric, s->n_metric);
    for (uint32_t i = 0; i < s->n_metric; i++) {
        g->metric[i] = (struct gml_metric){s->metric[i].name, s->metric[i].value};
    }
    *out = (struct gml_summary){.metric = g->metric,
                                .n_metric = s->n_metric,
                                .steps = s->steps,
                                .skipped = s->skipped,
                                .seconds = s->seconds,
                                .device = s->device};
}

int gml_train(struct gml *g, struct gml_summary *out)
{
    struct summary s;
    enum status st = run_train(g->run, &s);
    copy_summary(g, &s, out);
    return leave(g, st);
}

int gml_eval(struct gml *g, struct gml_summary *out)
{
    struct summary s;
    enum status st = run_eval(g->run, &s);
    copy_summary(g, &s, out);
    return leave(g, st);
}

size_t gml_tensors(const struct gml *g)
{
    return g->tensor.n;
}

int gml_tensor(struct gml *g, size_t i, struct gml_tensor *out)
{
    *out = (struct gml_tensor){0};
    if (i >= g->tensor.n) {
        return leave(g, diag_emit(&g->sink, DIAG_U0003, NO_SPAN, "gml_tensor: %zu of %u", i, g->tensor.n));
    }
    const struct run_tensor *t = &g->tensor.at[i];
    enum status st = run_read(g->run, t);
    if (st == ST_OK) {
        *out = (struct gml_tensor){.key = t->key,
                                   .dtype = dtype_name(t->dtype),
                                   .rank = t->rank,
                                   .dim = t->dim,
                                   .data = t->data,
                                   .bytes = t->bytes};
    }
    return leave(g, st);
}

void gml_close(struct gml *g)
{
    if (g) {
        struct arena *a = g->arena;
        run_close(g->run);
        arena_free(a);
    }
}
