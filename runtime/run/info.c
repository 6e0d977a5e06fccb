/* What there is to say about a run: run.json, the summary of metrics, the tree of parameters. */
#include "runtime/plan/print.h"
#include "runtime/run/internal.h"

const char *config_text(struct arena *a, const struct config *c)
{
    char number[32];
    if (c->kind == CONFIG_FIXED && c->text) {
        return c->text;
    }
    if (c->dtype == DT_BOOL) {
        return c->value != 0 ? "true" : "false";
    }
    number_text(c->value, number);
    return arena_printf(a, "%s", number);
}

const char *graph_precision(const struct graph *g)
{
    bool f64 = false;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        f64 |= g->vars.at[v].type.dtype == DT_F64;
    }
    return f64 ? "f64" : "f32";
}

/* The values of the replicas as a list. */
static const char *list_text(struct run *r, const struct config *c)
{
    struct text t = {.arena = r->arena};
    for (uint32_t i = 0; i < r->graph->replicas; i++) {
        struct config one = *c;
        one.value = c->values[i];
        text_printf(&t, "%s%s", i ? ", " : "[", config_text(r->arena, &one));
    }
    text_printf(&t, "]");
    return t.at;
}

enum status write_run_json(struct run *r)
{
    const struct graph *g = r->graph;
    struct run_config *config = arena_array(r->arena, struct run_config, g->configs.n);
    for (uint32_t i = 0; i < g->configs.n; i++) {
        const struct config *c = &g->configs.at[i];
        config[i] = (struct run_config){c->name, c->values ? list_text(r, c) : config_text(r->arena, c)};
    }
    struct run_info info = {.model = g->model,
                            .command = r->o->command ? r->o->command : "",
                            .device = r->device_name,
                            .device_version = r->device.driver,
                            .precision = r->o->precision ? r->o->precision : graph_precision(g),
                            .version = r->o->version ? r->o->version : "",
                            .seed = (int64_t)r->o->seed,
                            .threads = r->threads,
                            .replicas = r->graph->replicas,
                            .arena_bytes = r->plan->device_bytes,
                            .config = config,
                            .n_config = g->configs.n,
                            .data = r->file,
                            .n_data = r->n_file};
    return report_run_json(arena_printf(r->arena, "%s/run.json", r->folder), &info, r->sink);
}

void fill_summary(struct run *r, enum status st, struct summary *out)
{
    static const char *const failed = "failed";
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->graph->phases.n; i++) {
        n += r->phase[i].seen ? r->phase[i].n_metric : 0;
    }
    struct metric_value *m = arena_array(r->arena, struct metric_value, n);
    n = 0;
    for (uint32_t i = 0; i < r->graph->phases.n; i++) {
        if (r->phase[i].seen) {
            metric_values(r, &r->phase[i], r->phase[i].value, m + n);
            n += r->phase[i].n_metric;
        }
    }
    const char *status = st == ST_OK        ? "done"
                         : st == ST_STOPPED ? "stopped"
                         : st == ST_NUMERIC ? "not finite"
                                            : failed;
    struct metric_value *part = arena_array(r->arena, struct metric_value, PART_COUNT);
    for (int i = 0; i < PART_COUNT && r->part_steps; i++) {
        part[i] =
            (struct metric_value){part_name[i], 1e3 * r->part_seconds[i] / (double)r->part_steps, NULL, 0};
    }
    *out = (struct summary){.metric = m,
                            .n_metric = n,
                            .steps = r->steps_seen,
                            .skipped = r->skipped,
                            .seconds = clock_seam.seconds() - r->start,
                            .device = r->device_name,
                            .status = status,
                            .part_ms = r->part_steps ? part : NULL,
                            .n_part = r->part_steps ? PART_COUNT : 0,
                            .audit = r->audited.source ? &r->audited : NULL};
}

/* -- the tree of parameters */

struct part_sum {
    int64_t elements, bytes;
};

static bool is_under(const char *key, const char *prefix, size_t n)
{
    return strncmp(key, prefix, n) == 0 && (key[n] == '.' || !n);
}

static struct part_sum sum_under(const struct run *r, const char *prefix, size_t n)
{
    struct part_sum s = {0, 0};
    for (uint32_t v = 1; v < r->graph->vars.n; v++) {
        if (r->graph->vars.at[v].kind == VAR_PARAM && is_under(r->graph->vars.at[v].key, prefix, n)) {
            const struct operand *o = &r->plan->var[v].view;
            s.elements += operand_count(o);
            s.bytes += operand_count(o) * (int64_t)dtype_size((enum dtype)o->dtype);
        }
    }
    return s;
}

static void put_row(FILE *out, int depth, const char *name, size_t n, const char *shape, struct part_sum s)
{
    int used = 2 * depth + (int)n;
    fprintf(out, "%*s%.*s%*s  %-18s %12lld %12lld\n", 2 * depth, "", (int)n, name, used < 30 ? 30 - used : 0,
            "", shape, (long long)s.elements, (long long)s.bytes);
}

static void put_shape(const struct operand *o, char *to, size_t n)
{
    int at = snprintf(to, n, "%s[", dtype_name((enum dtype)o->dtype));
    for (int i = 0; i < o->rank && at < (int)n; i++) {
        at += snprintf(to + at, n - (size_t)at, "%s%lld", i ? ", " : "", (long long)o->dim[i]);
    }
    if (at < (int)n) {
        snprintf(to + at, n - (size_t)at, "]");
    }
}

/* Opens the inner nodes of the path that the previous parameter was not in. */
static void put_parameter(const struct run *r, uint32_t v, const char *before, FILE *out)
{
    const char *key = r->graph->vars.at[v].key, *from = key;
    const struct operand *o = &r->plan->var[v].view;
    int depth = 0;
    for (const char *dot; (dot = strchr(from, '.')); from = dot + 1, depth++) {
        size_t n = (size_t)(dot - key);
        if (!before || !is_under(before, key, n)) {
            put_row(out, depth, from, (size_t)(dot - from), "", sum_under(r, key, n));
        }
    }
    char shape[160];
    put_shape(o, shape, sizeof shape);
    struct part_sum s = {operand_count(o), operand_count(o) * (int64_t)dtype_size((enum dtype)o->dtype)};
    put_row(out, depth, from, strlen(from), shape, s);
}

static void put_regions(const struct run *r, FILE *out)
{
    const struct plan *p = r->plan;
    uint64_t params = 0, states = 0, data = 0;
    for (uint32_t t = 0; t < r->graph->trees.n; t++) {
        params += p->tree_bytes[t];
    }
    for (uint32_t v = 1; v < r->graph->vars.n; v++) {
        bool planned = p->var[v].offset >= p->planned_offset;
        states += r->graph->vars.at[v].kind == VAR_STATE ? p->var[v].bytes : 0;
        data += r->graph->vars.at[v].kind == VAR_DATA && !planned ? p->var[v].bytes : 0;
    }
    fprintf(out,
            "\narena %llu bytes: parameters %llu, states %llu, data %llu, workspace %llu, other values and "
            "control %llu\n",
            (unsigned long long)p->device_bytes, (unsigned long long)params, (unsigned long long)states,
            (unsigned long long)data, (unsigned long long)p->workspace_bytes,
            (unsigned long long)(p->device_bytes - params - states - data - p->workspace_bytes));
}

void run_summary(const struct run *r, FILE *out)
{
    const struct graph *g = r->graph;
    const char *before = NULL;
    fprintf(out, "%-30s  %-18s %12s %12s\n", "parameter", "shape", "elements", "bytes");
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (g->vars.at[v].kind == VAR_PARAM) {
            put_parameter(r, v, before, out);
            before = g->vars.at[v].key;
        }
    }
    put_row(out, 0, "total", 5, "", sum_under(r, "", 0));
    fprintf(out, "\n%-12s %10s %10s %10s  metrics\n", "phase", "rows", "batch", "launches");
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase_state *s = &r->phase[i];
        if (g->phases.at[i].kind == PHASE_USER) {
            fprintf(out, "%-12s %10lld %10lld %10lld ", g->phases.at[i].name, (long long)s->rows,
                    (long long)s->batch, (long long)s->planned);
            for (uint32_t k = 0; k < s->n_metric; k++) {
                fprintf(out, " %s", s->metric[k]);
            }
            fputc('\n', out);
        }
    }
    put_regions(r, out);
}

void run_dump_plan(const struct run *r, FILE *out)
{
    plan_json(r->plan, out);
}

static void json_parameters(const struct run *r, struct arena *a, FILE *out)
{
    const struct graph *g = r->graph;
    bool first = true;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        const struct operand *o = &r->plan->var[v].view;
        if (g->vars.at[v].kind != VAR_PARAM) {
            continue;
        }
        fprintf(out, "%s{\"name\": %s, \"dtype\": \"%s\", \"shape\": %s", first ? "" : ", ",
                json_text(a, g->vars.at[v].key), dtype_name((enum dtype)o->dtype),
                sizes_text(a, "", o->rank, o->dim));
        int64_t n = operand_count(o);
        fprintf(out, ", \"elements\": %lld, \"bytes\": %lld}", (long long)n,
                (long long)(n * (int64_t)dtype_size((enum dtype)o->dtype)));
        first = false;
    }
}

void run_summary_json(const struct run *r, FILE *out)
{
    const struct graph *g = r->graph;
    struct arena *a = arena_new();
    struct part_sum all = sum_under(r, "", 0);
    fprintf(out,
            "{\"model\": %s, \"elements\": %lld, \"bytes\": %lld, \"arena_bytes\": %llu, \"parameters\": [",
            json_text(a, g->model), (long long)all.elements, (long long)all.bytes,
            (unsigned long long)r->plan->device_bytes);
    json_parameters(r, a, out);
    fprintf(out, "], \"phases\": [");
    bool first = true;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase_state *s = &r->phase[i];
        if (g->phases.at[i].kind != PHASE_USER) {
            continue;
        }
        fprintf(out, "%s{\"name\": %s, \"rows\": %lld, \"batch\": %lld, \"launches\": %lld, \"metrics\": [",
                first ? "" : ", ", json_text(a, g->phases.at[i].name), (long long)s->rows,
                (long long)s->batch, (long long)s->planned);
        for (uint32_t k = 0; k < s->n_metric; k++) {
            fprintf(out, "%s%s", k ? ", " : "", json_text(a, s->metric[k]));
        }
        fprintf(out, "]}");
        first = false;
    }
    fprintf(out, "]}\n");
    arena_free(a);
}
