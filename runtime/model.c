/* Loading a model, and finding the standard library. */
#include "runtime/model.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "runtime/graph/precision.h"

/* share/gml/std of the installation this file is in; NULL when it is not there. */
static const char *std_beside(struct arena *a, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *path =
        slash ? arena_printf(a, "%.*s/../share/gml/std", (int)(slash - file), file) : "../share/gml/std";
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *model_std_folder(struct arena *a)
{
    static const char here;
    const char *set = getenv("GML_STD"), *found = NULL;
    if (set && set[0]) {
        return set;
    }
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    found = n > 0 ? std_beside(a, self) : NULL;
    Dl_info info;
    if (!found && dladdr(&here, &info) && info.dli_fname) {
        found = std_beside(a, info.dli_fname);
    }
    return found ? found : GML_STD_SOURCE;
}

bool model_is_compiled(const char *path)
{
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".gmlb") == 0;
}

static bool is_model_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".gml") == 0 || strcmp(dot, ".gmlb") == 0);
}

enum status model_check(struct arena *a, const char *path, struct diag_sink *sink)
{
    if (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
        return ST_OK; /* whoever reads it says what is wrong with it */
    }
    const char *slash = strrchr(path, '/');
    const char *folder = slash == path ? "/" : slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".";
    enum { MOST = 256 };
    const char *names[MOST];
    uint32_t n = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && n < MOST && (e = readdir(d));) {
        if (is_model_name(e->d_name)) {
            names[n++] = arena_strndup(a, e->d_name, strlen(e->d_name));
        }
    }
    if (d) {
        closedir(d);
    }
    enum status st = diag_emit(sink, DIAG_U1003, NO_SPAN, "there is no model `%s`", path);
    const char *close = closest_name(slash ? slash + 1 : path, names, n);
    if (close) {
        diag_help(sink, "did you mean `%.*s%s`?", (int)(slash ? slash + 1 - path : 0), path, close);
    }
    return st;
}

static enum status compile_f64(struct arena *a, const char *path, const struct model_options *o,
                               struct diag_sink *sink, struct graph **out)
{
    char *text;
    size_t n;
    struct graph *g;
    TRY(file_read(a, path, LIMIT_SOURCE_BYTES, &text, &n, sink));
    TRY(gml_elaborate(a, path, text, (uint32_t)n, &o->compile, sink, &g));
    if (o->exact) {
        TRY(gml_hold_stops(g, sink, &g));
        graph_all_f64(g);
    }
    graph_set_precision(g, DT_F64);
    return run_passes(g, &o->compile, sink, out);
}

static enum status read_graph(struct arena *a, const char *path, const struct model_options *o,
                              struct diag_sink *sink, struct graph **out)
{
    char *bytes;
    size_t n;
    if (o->compile.n_include) {
        return diag_emit(sink, DIAG_U0005, NO_SPAN, "`-I` has no use: %s is compiled already", path);
    }
    if (o->compile.bf16) {
        enum status st =
            diag_emit(sink, DIAG_U0005, NO_SPAN,
                      "`--precision bf16` is decided when a model is compiled; %s is compiled already", path);
        diag_help(sink, "give the .gml file");
        return st;
    }
    TRY(file_read(a, path, LIMIT_GRAPH_BYTES, &bytes, &n, sink));
    TRY(gmlb_read(a, path, bytes, n, sink, out));
    sink->sources = &(*out)->sources;
    if (o->f64) {
        graph_set_precision(*out, DT_F64);
    }
    return ST_OK;
}

static enum status load(struct arena *a, const char *path, const struct model_options *o,
                        struct diag_sink *sink, struct graph **out)
{
    if (model_is_compiled(path)) {
        return read_graph(a, path, o, sink, out);
    }
    return o->f64 ? compile_f64(a, path, o, sink, out) : gml_compile(a, path, &o->compile, sink, out);
}

enum status model_load(struct arena *a, const char *path, const struct model_options *o,
                       struct diag_sink *sink, struct graph **out)
{
    *out = NULL;
    TRY(model_check(a, path, sink));
    TRY(load(a, path, o, sink, out));
    if (o->tf32) {
        graph_products_tf32(*out);
    }
    return ST_OK;
}
