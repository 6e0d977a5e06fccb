/* JSON documents of a run: event and summary lines, run.json. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include "runtime/base/seam.h"
#include "runtime/report/internal.h"

void number_text(double x, char out[32])
{
    if (!isfinite(x)) {
        strcpy(out, "null");
        return;
    }
    bool narrow = (double)(float)x == x;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (narrow ? strtof(out, NULL) == (float)x : strtod(out, NULL) == x) {
            return;
        }
    }
}

static void string_text(struct text *t, const char *s)
{
    json_t *j = json_string(s);
    char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;
    text_printf(t, "%s", quoted ? quoted : "\"?\""); /* no valid UTF-8 */
    free(quoted);
    json_decref(j);
}

const char *json_text(struct arena *a, const char *s)
{
    struct text t = {.arena = a};
    string_text(&t, s);
    return t.at;
}

static void metrics_text(struct text *t, const char *key, const struct metric_value *m, uint32_t n)
{
    char number[32];
    text_printf(t, ", \"%s\": {", key);
    for (uint32_t i = 0; i < n; i++) {
        text_printf(t, "%s", i ? ", " : "");
        string_text(t, m[i].name);
        number_text(m[i].value, number);
        text_printf(t, ": %s", m[i].replica ? "" : number);
        for (uint32_t r = 0; m[i].replica && r < m[i].n_replica; r++) {
            number_text(m[i].replica[r], number);
            text_printf(t, "%s%s%s", r ? ", " : "[", number, r + 1 == m[i].n_replica ? "]" : "");
        }
    }
    text_printf(t, "}");
}

const char *event_json(struct arena *a, const struct event *e)
{
    static const char *const names[] = {"step", "epoch", "eval"};
    struct text t = {.arena = a};
    text_printf(&t, "{\"event\": \"%s\", \"phase\": ", names[e->kind]);
    string_text(&t, e->phase);
    text_printf(&t, ", \"step\": %lld, \"epoch\": %lld", (long long)e->step, (long long)e->epoch);
    metrics_text(&t, "metrics", e->metric, e->n_metric);
    text_printf(&t, ", \"seconds\": %.3f}", e->seconds);
    return t.at;
}

static void audit_text(struct text *t, const struct audit_summary *a)
{
    text_printf(t,
                ", \"audit\": {\"launches_per_step\": %.6g, \"bytes_d2h\": %llu, \"bytes_h2d\": %llu, "
                "\"bytes_stream\": %llu, \"syncs\": %llu, \"allocations\": %llu, \"graph_updates\": %llu, "
                "\"source\": ",
                a->launches_per_step, (unsigned long long)a->bytes_d2h, (unsigned long long)a->bytes_h2d,
                (unsigned long long)a->bytes_stream, (unsigned long long)a->syncs,
                (unsigned long long)a->allocations, (unsigned long long)a->graph_updates);
    string_text(t, a->source);
    text_printf(t, "}");
}

const char *summary_json(struct arena *a, const struct summary *s)
{
    struct text t = {.arena = a};
    text_printf(&t, "{\"event\": \"summary\", \"status\": ");
    string_text(&t, s->status);
    metrics_text(&t, "metrics", s->metric, s->n_metric);
    text_printf(&t,
                ", \"steps\": %lld, \"skipped\": %lld, \"seconds\": %.3f, \"device\": ", (long long)s->steps,
                (long long)s->skipped, s->seconds);
    string_text(&t, s->device);
    if (s->part_ms) {
        metrics_text(&t, "part_ms", s->part_ms, s->n_part);
    }
    if (s->audit) {
        audit_text(&t, s->audit);
    }
    text_printf(&t, "}");
    return t.at;
}

/* Takes the value; a string that is no UTF-8 is left out. */
static void put(json_t *object, const char *key, json_t *value)
{
    if (value) {
        json_object_set_new(object, key, value);
    }
}

/* A config's text is a number, or something only gml reads: then it stays text. */
static json_t *config_value(const char *text)
{
    json_t *j = json_loads(text, JSON_DECODE_ANY, NULL);
    return j ? j : json_string(text);
}

static json_t *data_json(const struct run_file *f)
{
    char hash[32];
    snprintf(hash, sizeof hash, "fnv1a64:%016llx", (unsigned long long)f->hash);
    json_t *j = json_object();
    put(j, "file", json_string(f->path));
    put(j, "hash", json_string(hash));
    if (f->rows >= 0) {
        put(j, "rows", json_integer(f->rows));
    }
    return j;
}

enum status report_run_json(const char *path, const struct run_info *r, struct diag_sink *sink)
{
    json_t *j = json_object(), *config = json_object(), *data = json_object();
    put(j, "model", json_string(r->model));
    put(j, "version", json_string(r->version));
    put(j, "command", json_string(r->command));
    put(j, "seed", json_integer(r->seed));
    put(j, "device", json_string(r->device));
    put(j, "device_version", json_string(r->device_version));
    put(j, "precision", json_string(r->precision));
    put(j, "threads", json_integer(r->threads));
    if (r->replicas) {
        put(j, "replicas", json_integer(r->replicas));
    }
    put(j, "arena_bytes", json_integer((json_int_t)r->arena_bytes));
    for (uint32_t i = 0; i < r->n_config; i++) {
        put(config, r->config[i].name, config_value(r->config[i].value));
    }
    for (uint32_t i = 0; i < r->n_data; i++) {
        put(data, r->data[i].name, data_json(&r->data[i]));
    }
    put(j, "config", config);
    put(j, "data", data);
    char *text = json_dumps(j, JSON_INDENT(2));
    json_decref(j);
    if (!text) {
        return diag_emit(sink, DIAG_I0001, NO_SPAN, "run.json could not be made");
    }
    const char *line = arena_printf(sink->arena, "%s\n", text);
    free(text);
    return file_write(path, line, strlen(line), sink);
}
