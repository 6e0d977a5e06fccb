/* From a graph to a filled device: data, plan, host image of the arena, upload. */
#include <math.h>
#include <stdlib.h>
#include "runtime/base/philox.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/exec/pool.h"
#include "runtime/run/segments.h"

/* -- configs changed at load */

static enum status no_config(const struct graph *g, const char *name, struct diag_sink *sink)
{
    const char **names = arena_array(sink->arena, const char *, g->configs.n);
    for (uint32_t i = 0; i < g->configs.n; i++) {
        names[i] = g->configs.at[i].name;
    }
    enum status st = diag_emit(sink, DIAG_U1002, NO_SPAN, "--set: the model has no config `%s`", name);
    const char *close = closest_name(name, names, g->configs.n);
    if (close) {
        diag_help(sink, "did you mean `%s`?", close);
    }
    return st;
}

static bool parse_value(const char *text, double *out)
{
    char *end;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        *out = text[0] == 't';
        return true;
    }
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && strspn(text, "+-.0123456789eE") == strlen(text);
}

static bool is_whole(double x, double from, double to)
{
    return x >= from && x <= to && x == floor(x);
}

static struct config *config_named(struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->configs.n; i++) {
        if (strcmp(g->configs.at[i].name, name) == 0) {
            return &g->configs.at[i];
        }
    }
    return NULL;
}

/* The text as a value of the config. */
static enum status read_value(const struct config *c, const char *text, struct diag_sink *sink, double *x)
{
    bool fits = parse_value(text, x) && (c->kind == CONFIG_DIM ? is_whole(*x, 0, (double)LIMIT_DIM)
                                         : c->dtype == DT_I32  ? is_whole(*x, INT32_MIN, INT32_MAX)
                                         : c->dtype == DT_BOOL ? is_whole(*x, 0, 1)
                                                               : true);
    return fits ? ST_OK
                : diag_emit(sink, DIAG_E1009, c->span, "--set: `%s` is no value for `%s`, which is %s", text,
                            c->name, c->kind == CONFIG_DIM ? "a dim" : dtype_name(c->dtype));
}

static enum status set_config(struct graph *g, const struct run_set *s, struct diag_sink *sink)
{
    struct config *c = config_named(g, s->name);
    if (!c) {
        return no_config(g, s->name, sink);
    }
    if (c->kind == CONFIG_FIXED) {
        enum status st = diag_emit(sink, DIAG_U1002, c->span,
                                   "--set: `%s` decides what is compiled and is fixed in a "
                                   "compiled graph",
                                   s->name);
        diag_help(sink, "compile again: gmlc --set %s=%s, or give gmlrun the .gml file", s->name, s->value);
        return st;
    }
    return read_value(c, s->value, sink, &c->value);
}

enum status graph_configure_list(struct graph *g, const char *name, const char *const *value, uint32_t n,
                                 struct diag_sink *sink)
{
    struct config *c = config_named(g, name);
    if (!c) {
        return no_config(g, name, sink);
    }
    if (c->kind != CONFIG_LIVE) {
        enum status st =
            diag_emit(sink, DIAG_U1004, c->span, "--set: `%s` cannot differ between replicas: it decides %s",
                      name, c->kind == CONFIG_DIM ? "a size" : "what is compiled");
        diag_help(sink, "train one run for each of its values; replicas differ in numbers such as a learning "
                        "rate, and in their seeds");
        return st;
    }
    double *x = arena_array(g->arena, double, n);
    for (uint32_t i = 0; i < n; i++) {
        TRY(read_value(c, value[i], sink, &x[i]));
    }
    c->value = x[0];
    c->values = x;
    return ST_OK;
}

enum status graph_configure(struct graph *g, const struct run_options *o, struct diag_sink *sink)
{
    for (uint32_t i = 0; i < o->n_set; i++) {
        TRY(set_config(g, &o->set[i], sink));
    }
    return ST_OK;
}

/* -- the plan */

/* What the CPU runs; its memory does not matter here. */
static const struct target cpu = {.name = "cpu", .groups = true};

/* Dim configs are bound from their values in the graph, which --set has changed already. */
static enum status make_plan(struct run *r, const struct graph *g, const struct target *target,
                             int64_t (*split_rows)[2], struct plan **out)
{
    int64_t *rows = arena_array(r->arena, int64_t, g->datas.n),
            *stored = arena_array(r->arena, int64_t, g->datas.n);
    struct plan_options o = {.data_rows = rows,
                             .stored_rows = stored,
                             .split_rows = (const int64_t(*)[2])split_rows,
                             .target = *target,
                             .no_reuse = r->o->debug_plan || r->o->keep_values,
                             .fuse = !r->o->no_fuse && !r->o->keep_values,
                             .parts = r->o->parts};
    for (uint32_t i = 0; i < g->datas.n; i++) {
        rows[i] = r->data->at[i].rows;
        stored[i] = r->data->at[i].stored;
    }
    TRY(plan_build(g, &o, r->arena, r->sink, out));
#ifdef NDEBUG
    return r->o->debug_plan ? plan_check(*out, r->sink) : ST_OK;
#else
    return plan_check(*out, r->sink);
#endif
}

/* Beside a run of replicas: one copy of the model, on the host. */
static enum status make_one(struct run *r, int64_t (*split_rows)[2])
{
    r->one = arena_new_of(r->arena, struct run);
    *r->one = *r;
    r->one->one = NULL;
    struct graph *g = arena_new_of(r->arena, struct graph);
    *g = *r->graph->one;
    r->one->graph = g;
    return make_plan(r, g, &cpu, split_rows, &r->one->plan);
}

static const char *metric_name(struct run *r, const struct phase *p, const struct metric *m)
{
    size_t n = strlen(p->name);
    bool full = strncmp(m->name, p->name, n) == 0 && m->name[n] == '.';
    return full ? m->name : arena_printf(r->arena, "%s.%s", p->name, m->name);
}

static void make_phases(struct run *r, int64_t (*split_rows)[2])
{
    const struct graph *g = r->graph;
    bool any_training = false;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        any_training |= g->phases.at[i].training;
    }
    r->phase = arena_array(r->arena, struct phase_state, g->phases.n);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *p = &g->phases.at[i];
        struct phase_state *s = &r->phase[i];
        s->row0 = split_rows[i][0];
        s->rows = split_rows[i][1];
        s->counts = p->kind == PHASE_USER && (p->training || !any_training);
        s->n_metric = s->n_ring = p->metrics.n < RING_METRICS ? p->metrics.n : RING_METRICS;
        s->metric = arena_array(r->arena, const char *, RING_METRICS);
        size_t values = (size_t)RING_METRICS * run_replicas(r);
        s->value = arena_array(r->arena, double, values);
        s->sum = arena_array(r->arena, double, values);
        s->told = arena_array(r->arena, double, values);
        s->in_sum = arena_array(r->arena, int64_t, values);
        for (uint32_t k = 0; k < s->n_metric; k++) {
            s->metric[k] = metric_name(r, p, &p->metrics.at[k]);
        }
        for (uint32_t k = 0; k < g->phases.n && s->n_metric < RING_METRICS; k++) {
            const struct phase *made = &g->phases.at[k];
            if (made->metric_of && made->metric_of == i && made->outputs.n) {
                s->made[s->n_metric - s->n_ring] = k;
                s->metric[s->n_metric++] = made->name;
            }
        }
        const struct plan_variant *full = plan_find(r->plan, i, false);
        s->batch =
            p->data && p->kind == PHASE_USER && full ? full->rows : 0; /* at most the rows of the split */
    }
}

static void report_lanes(struct run *r)
{
    for (uint32_t i = 0; i < r->graph->phases.n; i++) {
        const struct phase *p = &r->graph->phases.at[i];
        const struct phase_state *s = &r->phase[i];
        int64_t rest = p->lanes && s->batch > 0 ? s->rows % s->batch : 0;
        if (rest) {
            diag_emit(r->sink, DIAG_W3101, p->span, "phase `%s`: %lld of %lld rows are in none of %lld lanes",
                      p->name, (long long)rest, (long long)s->rows, (long long)s->batch);
            diag_help(r->sink, "a lane has %lld rows", (long long)(s->rows / s->batch));
        }
    }
}

static void keep_files(struct run *r)
{
    const struct graph *g = r->graph;
    r->file = arena_array(r->arena, struct run_file, (size_t)r->data->n + g->vars.n);
    r->n_file = r->data->n;
    for (uint32_t i = 0; i < r->data->n; i++) {
        const struct data_set *d = &r->data->at[i];
        r->file[i] =
            (struct run_file){d->data->name, arena_printf(r->arena, "%s", d->path), d->hash, d->stored};
    }
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (g->vars.at[v].file) {
            r->file[r->n_file++] = (struct run_file){g->vars.at[v].key + strlen("file."), "", 0, -1};
        }
    }
}

/* What is not said is for the device to gain from: on the CPU a launch costs nothing. */
static int64_t launch_ticks(const struct run *r, const struct target *target)
{
    if (r->o->debug_plan || r->o->parts || r->o->keep_values) {
        return 1;
    }
    return r->o->steps_per_launch > 0 ? r->o->steps_per_launch : target->sm ? LAUNCH_TICKS : 1;
}

static enum status load(struct run *r, const struct target *target)
{
    int64_t(*split_rows)[2];
    TRY(graph_configure(r->graph, r->o, r->sink));
    TRY(data_open(r->graph, r->o->folder, r->o->data, r->o->n_data, r->sink, &r->data));
    keep_files(r);
    TRY(data_split_rows(r->data, r->arena, r->sink, &split_rows));
    TRY(make_plan(r, r->graph, target, split_rows, &r->plan));
    make_phases(r, split_rows);
    TRY(r->graph->replicas ? make_one(r, split_rows) : ST_OK);
    report_lanes(r);
    TRY(block_plan(r));
    r->launch_ticks = launch_ticks(r, target);
    TRY(segments_choose(r, r->launch_ticks));
    int alone = r->o->phase ? user_phase(r->graph, r->o->phase) : -1;
    if (alone >= 0 && !r->phase[alone].planned) { /* what schedules see of a phase that `run` does not name */
        r->phase[alone].planned = r->limit > 0 ? r->limit : launches_per_epoch(r, (uint32_t)alone);
    }
    return ST_OK;
}

/* -- the host image */

static void fill_control(struct run *r, uint64_t seed)
{
    struct control *c = run_control(r);
    const struct graph *g = r->graph;
    c->key = mix64(seed);
    c->seed = seed;
    c->max_skips = r->o->max_skips;
    for (uint32_t i = 0; i < g->configs.n && i < LIMIT_KNOBS; i++) {
        c->knob[i] = g->configs.at[i].kind == CONFIG_LIVE ? g->configs.at[i].value : 0;
    }
    for (uint32_t i = 0; i < g->phases.n && i < LIMIT_PHASES; i++) {
        c->phase[i].row0 = r->phase[i].row0;
        c->phase[i].rows = r->phase[i].rows;
        c->phase[i].steps = r->phase[i].planned;
    }
}

static enum status run_phase(struct run *r, uint32_t phase)
{
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    return v ? run_on_host(r, v) : ST_OK; /* without a variant there is nothing to do in it */
}

char *image_start(char *block)
{
    return block + (PLAN_ALIGN - (uintptr_t)block % PLAN_ALIGN) % PLAN_ALIGN;
}

enum status image_initial(struct run *r, uint64_t seed)
{
    const struct run_options *o = r->o;
    plan_fill_constants(r->plan, r->image);
    fill_control(r, seed);
    TRY(fill_files(r)); /* initial values may be made of them */
    for (uint32_t i = 0; i < r->graph->phases.n; i++) {
        if (r->graph->phases.at[i].kind == PHASE_INIT) {
            TRY(run_phase(r, i));
        }
    }
    /* before the data phases: it holds what standardize(..) was fitted to */
    return o->weights
               ? weights_load(r->plan, r->image, o->weights, o->map, o->n_map, o->allow_nonfinite, r->sink)
               : ST_OK;
}

static enum status fill_image(struct run *r)
{
    const struct graph *g = r->graph;
    const struct run_options *o = r->o;
    r->image_bytes = mem_size(r->plan->bytes + PLAN_ALIGN, 1);
    r->image_block = mem_alloc(r->image_bytes);
    r->image = image_start(r->image_block);
    if (r->one) {
        plan_fill_constants(r->plan, r->image);
        fill_control(r, o->seed);
        TRY(replicas_fill(r));
    } else {
        TRY(image_initial(r, o->seed));
    }
    for (uint32_t i = 0; i < g->datas.n; i++) {
        TRY(o->weights ? ST_OK : data_can_fit(r->data, i, r->sink));
        TRY(data_fill(r->data, i, r->plan, r->image, r->sink));
        TRY(run_phase(r, g->datas.at[i].phase));
    }
    data_close(r->data);
    r->data = NULL;
    return ST_OK;
}

/* -- the device */

/* Rows of ops.def that are library calls on CUDA. */
static bool has_products(const struct graph *g)
{
    for (val v = 1; v < g->nodes.n; v++) {
        const struct node *n = graph_node(g, v);
        if (op_table[n->op].flags & OPF_LIBRARY && g->phases.at[n->phase].kind == PHASE_USER) {
            return true;
        }
    }
    return false;
}

static enum status open_backend(struct run *r, const struct backend *b, int device, char *why, size_t n)
{
    struct exec_options o = {.device = device,
                             .threads = r->threads,
                             .debug_plan = r->o->debug_plan,
                             .parts = r->o->parts,
                             .audit = r->o->audit,
                             .no_products = !has_products(r->graph),
                             .cuda_path = r->o->cuda_path,
                             .cache = r->o->cache};
    struct exec *e = NULL;
    enum status st = b->open(&o, &e, why, n);
    if (st == ST_OK) {
        r->backend = b;
        r->exec = e;
        st = b->device(e, &r->device);
    }
    return st;
}

static enum status open_cuda(struct run *r, int device, char *why, size_t n)
{
    const struct backend *b = backend_cuda(r->o->cuda_path, why, n);
    return b ? open_backend(r, b, device, why, n) : ST_DEVICE;
}

static enum status open_device(struct run *r)
{
    char why[512] = "";
    const char *d = r->o->device;
    bool any = !d, cuda = any || strncmp(d, "cuda", 4) == 0;
    if (cuda) {
        int index = !any && d[4] == ':' ? atoi(d + 5) : 0;
        if (open_cuda(r, index, why, sizeof why) == ST_OK) {
            return ST_OK;
        }
        if (!any) {
            return diag_emit(r->sink, DIAG_C1002, NO_SPAN, "cannot use %s: %s", d, why);
        }
        if (r->exec) {
            r->backend->close(r->exec);
            r->exec = NULL;
        }
    }
    enum status st = open_backend(r, &backend_cpu, 0, why, sizeof why);
    return st == ST_OK ? ST_OK : diag_emit(r->sink, DIAG_C1002, NO_SPAN, "cannot use the CPU: %s", why);
}

static enum status on_device(struct run *r, enum status st)
{
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

enum status upload(struct run *r)
{
    return on_device(r, r->backend->upload(r->exec, 0, r->image, r->plan->persistent));
}

static enum status fill_device(struct run *r)
{
    const struct backend *b = r->backend;
    TRY(on_device(r, b->arena(r->exec, r->plan->device_bytes)));
    TRY(on_device(r, b->prepare(r->exec, r->plan)));
    const char *warning = b->warning ? b->warning(r->exec) : "";
    if (*warning) {
        diag_emit(r->sink, DIAG_W4001, NO_SPAN, "%s", warning);
    }
    TRY(fill_image(r));
    return upload(r);
}

static struct run *run_new(struct graph *g, const struct run_options *o, struct diag_sink *sink)
{
    struct arena *a = arena_new();
    struct run *r = arena_new_of(a, struct run);
    *r = (struct run){.arena = a, .graph = g, .o = o, .sink = sink, .limit = o->steps, .threads = o->threads};
    r->threads = r->threads > 0 ? r->threads : pool_usable_cores();
    r->start = clock_seam.seconds();
    return r;
}

static enum status hand_over(struct run *r, enum status st, struct run **out)
{
    if (st != ST_OK) {
        run_close(r);
        r = NULL;
    }
    *out = r;
    return st;
}

static enum status open_all(struct run *r)
{
    TRY(open_device(r));
    bool named = r->device.name[0] && strcmp(r->device.name, r->backend->name) != 0;
    r->device_name =
        named ? arena_printf(r->arena, "%s (%s)", r->backend->name, r->device.name) : r->backend->name;
    TRY(load(r, &r->device.target));
    return fill_device(r);
}

enum status run_open(struct graph *g, const struct run_options *o, struct diag_sink *sink, struct run **out)
{
    struct run *r = run_new(g, o, sink);
    return hand_over(r, open_all(r), out);
}

const struct target *run_target(const char *name)
{
    static const struct target h200 = {
        .name = "cuda", .sm = 90, .n_sm = 132, .workspace = 32u << 20, .groups = true};
    return name && strcmp(name, "h200") == 0 ? &h200 : &cpu;
}

enum status run_open_plan(struct graph *g, const struct run_options *o, const struct target *target,
                          struct diag_sink *sink, struct run **out)
{
    struct run *r = run_new(g, o, sink);
    return hand_over(r, load(r, target), out);
}

enum status run_open_host(struct graph *g, const struct run_options *o, struct diag_sink *sink,
                          struct run **out)
{
    static const struct target one_by_one = {.name = "cpu"};
    struct run *r = run_new(g, o, sink);
    enum status st = load(r, &one_by_one);
    return hand_over(r, st == ST_OK ? fill_image(r) : st, out);
}

void run_close(struct run *r)
{
    if (!r) {
        return;
    }
    if (r->report) {
        report_close(r->report);
    }
    if (r->exec) {
        r->backend->close(r->exec);
    }
    mem_free(r->image_block, r->image_bytes);
    if (r->one) {
        mem_free(r->one->image_block, r->one->image_bytes);
    }
    data_close(r->data);
    arena_free(r->arena);
}
