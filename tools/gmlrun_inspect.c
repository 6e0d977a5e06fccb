/* `gmlrun inspect PATH`: what is in a run folder, a compiled graph, or a file of arrays. */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "runtime/base/seam.h"
#include "tools/gmlrun.h"

enum { JSON_FILE_BYTES = 64 << 20 };

/* -- arrays */

struct range {
    double least, most, mean;
    int64_t n, strange; /* elements; of them not finite */
};

static struct range range_of(const struct array *x)
{
    struct range r = {INFINITY, -INFINITY, 0, array_count(x), 0};
    for (int64_t i = 0; i < r.n; i++) {
        double v = array_number(x, i);
        if (!isfinite(v)) {
            r.strange++;
            continue;
        }
        r.least = v < r.least ? v : r.least;
        r.most = v > r.most ? v : r.most;
        r.mean += v;
    }
    int64_t finite = r.n - r.strange;
    r.mean = finite ? r.mean / (double)finite : 0;
    return r;
}

static json_t *array_json(const struct array *x)
{
    json_t *shape = json_array();
    for (int i = 0; i < x->rank; i++) {
        json_array_append_new(shape, json_integer(x->dim[i]));
    }
    json_t *out = json_pack("{s:s, s:s, s:o, s:I}", "name", x->name, "type", file_type_name(x->type), "shape",
                            shape, "bytes", (json_int_t)x->n_bytes);
    if (file_type_is_text(x->type)) {
        return out;
    }
    struct range r = range_of(x);
    bool any = r.n > r.strange;
    json_object_set_new(out, "min", any ? json_real(r.least) : json_null());
    json_object_set_new(out, "max", any ? json_real(r.most) : json_null());
    json_object_set_new(out, "mean", any ? json_real(r.mean) : json_null());
    json_object_set_new(out, "not_finite", json_integer(r.strange));
    return out;
}

static void array_row(struct arena *a, const struct array *x)
{
    printf("%-32s %-8s %-16s %12llu", x->name[0] ? x->name : "(one array)", file_type_name(x->type),
           sizes_text(a, "", x->rank, x->dim), (unsigned long long)x->n_bytes);
    if (file_type_is_text(x->type)) {
        printf("  text%s%s\n", array_count(x) ? ", first: " : "",
               array_count(x) ? array_string(a, x, 0) : "");
        return;
    }
    struct range r = range_of(x);
    if (r.n > r.strange) {
        printf("  %.6g .. %.6g, mean %.6g", r.least, r.most, r.mean);
    }
    if (r.strange) {
        printf("  %s: %lld", x->note ? "MISSING" : "NOT FINITE",
               (long long)r.strange); /* a note: empty cells */
    }
    printf("\n");
}

static enum status inspect_arrays(struct call *c, const char *path)
{
    struct array_file f;
    int64_t elements = 0;
    uint64_t bytes = 0;
    TRY(arrays_read(c->arena, path, &c->sink, &f));
    if (c->o.at[OPT_JSON].given) {
        json_t *list = json_array();
        for (uint32_t i = 0; i < f.n; i++) {
            json_array_append_new(list, array_json(&f.at[i]));
        }
        json_t *root = json_pack("{s:s, s:o}", "kind", "arrays", "arrays", list);
        json_dumpf(root, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(root);
        return ST_OK;
    }
    printf("%-32s %-8s %-16s %12s\n", "array", "type", "shape", "bytes");
    for (uint32_t i = 0; i < f.n; i++) {
        array_row(c->arena, &f.at[i]);
        elements += array_count(&f.at[i]);
        bytes += f.at[i].n_bytes;
    }
    printf("%u array%s, %lld elements, %llu bytes\n", f.n, f.n == 1 ? "" : "s", (long long)elements,
           (unsigned long long)bytes);
    return ST_OK;
}

/* -- a compiled graph */

static enum status inspect_graph(struct call *c)
{
    struct graph *g;
    uint32_t params = 0, states = 0;
    TRY(call_graph(c, &g));
    for (uint32_t i = 1; i < g->vars.n; i++) {
        params += g->vars.at[i].kind == VAR_PARAM;
        states += g->vars.at[i].kind == VAR_STATE;
    }
    if (c->o.at[OPT_JSON].given) {
        json_t *phases = json_array();
        for (uint32_t i = 0; i < g->phases.n; i++) {
            json_array_append_new(phases, json_string(g->phases.at[i].name));
        }
        json_t *root =
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "kind", "graph", "model",
                      g->model ? g->model : "", "nodes", (json_int_t)(g->nodes.n - 1), "parameters",
                      (json_int_t)params, "states", (json_int_t)states, "configs", (json_int_t)g->configs.n,
                      "data_sets", (json_int_t)g->datas.n, "phases", phases);
        json_dumpf(root, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(root);
        return ST_OK;
    }
    printf("compiled model `%s`: %u nodes, %u parameters, %u states, %u configs, %u data sets\nphases ",
           g->model ? g->model : "", g->nodes.n - 1, params, states, g->configs.n, g->datas.n);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        printf(" %s", g->phases.at[i].name);
    }
    printf("\nsources");
    for (uint32_t i = 1; i < g->sources.list.n; i++) {
        printf(" %s", g->sources.list.at[i].path);
    }
    printf("\n");
    return ST_OK;
}

/* -- a run folder */

/* The last whole line of metrics.jsonl that is JSON; NULL when there is none. */
static json_t *last_event(struct call *c, const char *path)
{
    char *text;
    size_t n;
    struct diag_sink quiet;
    json_t *last = NULL;
    diag_init(&quiet, c->arena, NULL);
    if (file_read(c->arena, path, (uint64_t)1 << 32, &text, &n, &quiet) != ST_OK) {
        return NULL;
    }
    for (size_t end = n; end > 0 && !last;) {
        size_t from = end - 1;
        while (from > 0 && text[from - 1] != '\n') {
            from--;
        }
        last = json_loadb(text + from, end - from, JSON_REJECT_DUPLICATES, NULL);
        end = from;
    }
    return last;
}

static void put_files(struct call *c, const char *folder, const char *inside, json_t *list)
{
    const char *path = inside[0] ? arena_printf(c->arena, "%s/%s", folder, inside) : folder;
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        struct stat st;
        const char *name = arena_printf(c->arena, "%s%s%s", inside, inside[0] ? "/" : "", entry[i]->d_name);
        const char *full = arena_printf(c->arena, "%s/%s", folder, name);
        if (entry[i]->d_name[0] != '.' && lstat(full, &st) == 0) {
            if (S_ISDIR(st.st_mode)) {
                put_files(c, folder, name, list);
            } else {
                json_array_append_new(list,
                                      json_pack("{s:s, s:I}", "name", name, "bytes", (json_int_t)st.st_size));
            }
        }
        free(entry[i]);
    }
    if (n >= 0) {
        free(entry);
    }
}

static void print_value(const char *key, const json_t *v)
{
    char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(7));
    printf("%-12s %s\n", key, json_is_string(v) ? json_string_value(v) : text ? text : "");
    free(text);
}

static void print_run(const json_t *info, const json_t *last, json_t *files)
{
    static const char *const keys[] = {"model",          "command",   "version", "device",
                                       "device_version", "precision", "seed",    "threads",
                                       "arena_bytes",    "config",    "data"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(info, keys[i]);
        if (v) {
            print_value(keys[i], v);
        }
    }
    const json_t *event = json_object_get(last, "event");
    bool ended = event && json_is_string(event) && strcmp(json_string_value(event), "summary") == 0;
    printf("%-12s %s\n", "state", ended ? "ended" : "not ended, or killed");
    const char *const result[] = {"status", "steps", "seconds", "metrics"};
    for (size_t i = 0; i < sizeof result / sizeof *result; i++) {
        const json_t *v = json_object_get(last, result[i]);
        if (v) {
            print_value(result[i], v);
        }
    }
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);
        printf("%-12s %-40s %12lld bytes\n", i ? "" : "files", json_string_value(json_object_get(f, "name")),
               (long long)json_integer_value(json_object_get(f, "bytes")));
    }
}

static enum status inspect_run(struct call *c, const char *folder)
{
    char *text;
    size_t n;
    json_error_t error;
    const char *path = arena_printf(c->arena, "%s/run.json", folder);
    enum status st = file_read(c->arena, path, JSON_FILE_BYTES, &text, &n, &c->sink);
    if (st != ST_OK) {
        diag_note(&c->sink, "%s is a folder, and the folder of a run holds run.json", folder);
        return st;
    }
    json_t *info = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!info) {
        return diag_emit(&c->sink, DIAG_F5001, NO_SPAN, "%s: no valid JSON, line %d: %s", path, error.line,
                         error.text);
    }
    json_t *last = last_event(c, arena_printf(c->arena, "%s/metrics.jsonl", folder)), *files = json_array();
    put_files(c, folder, "", files);
    if (c->o.at[OPT_JSON].given) {
        json_t *root = json_pack("{s:s, s:O, s:o, s:O}", "kind", "run", "run", info, "last",
                                 last ? json_incref(last) : json_null(), "files", files);
        json_dumpf(root, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(root);
    } else {
        print_run(info, last, files);
    }
    json_decref(info);
    json_decref(last);
    json_decref(files);
    return ST_OK;
}

enum status command_inspect(struct call *c)
{
    const char *path = c->o.args.at[0];
    size_t n = strlen(path);
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        return inspect_run(c, path);
    }
    if (call_is_compiled(c)) {
        return inspect_graph(c);
    }
    if (n > 4 && strcmp(path + n - 4, ".gml") == 0) {
        enum status bad = diag_emit(&c->sink, DIAG_U0002, NO_SPAN, "%s is the text of a model", path);
        diag_help(&c->sink, "`gmlrun summary %s` and `gmlrun config %s` show it", path, path);
        return bad;
    }
    return inspect_arrays(c, path);
}
