/* The run folder, and weights from the device into it. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/run/internal.h"

enum { MAX_RUNS = 100000 };

static enum status no_folder(struct run *r, const char *path)
{
    return diag_emit(r->sink, DIAG_R1004, NO_SPAN, "cannot make the folder `%s`: %s", path, strerror(errno));
}

/* Makes path and the folders above it. */
static enum status make_folders(struct run *r, const char *path)
{
    char *copy = arena_strndup(r->arena, path, strlen(path));
    for (char *p = copy + 1;; p++) {
        char c = *p;
        if (c == '/' || !c) {
            *p = 0;
            if (mkdir(copy, 0777) != 0 && errno != EEXIST) {
                return no_folder(r, copy);
            }
            *p = c;
        }
        if (!c) {
            return ST_OK;
        }
    }
}

enum status folder_of_file(struct run *r, char *path)
{
    char *slash = strrchr(path, '/');
    *slash = 0;
    enum status st = make_folders(r, path);
    *slash = '/';
    return st;
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d)) {
        n++;
    }
    if (d) {
        closedir(d);
    }
    return n <= 2; /* . and .. */
}

static enum status given_folder(struct run *r, const char *path)
{
    struct stat st;
    if (!*path) {
        return diag_emit(r->sink, DIAG_U0003, NO_SPAN, "`--out` needs the name of a folder");
    }
    if (stat(path, &st) == 0 && (!S_ISDIR(st.st_mode) || !is_empty(path))) {
        enum status bad = diag_emit(r->sink, DIAG_U1001, NO_SPAN, "--out: `%s` already exists%s", path,
                                    S_ISDIR(st.st_mode) ? " and is not empty" : "");
        diag_help(r->sink, "name a new folder, or leave --out away: runs get numbers");
        return bad;
    }
    r->folder = path;
    return make_folders(r, path);
}

/* runs/<model>-<n> with the smallest free n; mkdir decides, so two runs never share one. */
static enum status numbered_folder(struct run *r)
{
    TRY(make_folders(r, "runs"));
    for (int n = 1; n < MAX_RUNS; n++) {
        const char *path = arena_printf(r->arena, "runs/%s-%d", r->graph->model, n);
        if (mkdir(path, 0777) == 0) {
            r->folder = path;
            return ST_OK;
        }
        if (errno != EEXIST) {
            return no_folder(r, path);
        }
    }
    return diag_emit(r->sink, DIAG_R1004, NO_SPAN, "runs/%s-1 .. %d all exist", r->graph->model,
                     MAX_RUNS - 1);
}

/* sources/<path from the model's folder>, with what would leave the folder replaced. */
static char *source_path(struct run *r, const char *path)
{
    size_t n = strlen(r->o->folder);
    path += n && strncmp(path, r->o->folder, n) == 0 && path[n] == '/' ? n + 1 : 0;
    char *name = arena_strndup(r->arena, path, strlen(path)), *to = name;
    for (const char *p = path; *p; p++) {
        bool up = p[0] == '.' && p[1] == '.';
        if (*p == '<' || *p == '>' || (*p == '/' && to == name)) {
            continue;
        }
        *to++ = up ? '_' : *p;
        p += up;
    }
    *to = 0;
    return arena_printf(r->arena, "%s/sources/%s", r->folder, name);
}

static enum status copy_sources(struct run *r)
{
    const struct sources *s = &r->graph->sources;
    for (uint32_t i = 1; i < s->list.n; i++) {
        if (strncmp(s->list.at[i].path, "--set ", 6) == 0) {
            continue; /* a value of the command line, which run.json has */
        }
        char *path = source_path(r, s->list.at[i].path);
        TRY(folder_of_file(r, path));
        TRY(file_write(path, s->list.at[i].text, s->list.at[i].n, r->sink));
    }
    return ST_OK;
}

enum status folder_make(struct run *r)
{
    TRY(r->o->out ? given_folder(r, r->o->out) : numbered_folder(r));
    TRY(make_folders(r, arena_printf(r->arena, "%s/ckpt", r->folder)));
    return copy_sources(r);
}

enum status download(struct run *r, uint64_t offset, uint64_t bytes)
{
    audit_pause(r);
    enum status st = bytes ? r->backend->download(r->exec, offset, r->image + offset, bytes) : ST_OK;
    audit_resume(r);
    return st == ST_OK ? ST_OK : device_failed(r, st);
}

enum status save_weights(struct run *r, const char *path, const bool *which)
{
    for (uint32_t t = 0; t < r->graph->trees.n; t++) {
        TRY(download(r, r->plan->tree_offset[t], r->plan->tree_bytes[t]));
    }
    return r->one ? replicas_save(r, path, which) : weights_save(r->plan, r->image, path, r->sink);
}

const char *run_folder(const struct run *r)
{
    return r->folder;
}

const char *run_model(const struct run *r)
{
    return r->graph->model;
}

void run_tensors(const struct run *r, struct arena *a, struct run_tensor **out, uint32_t *n)
{
    const struct graph *g = r->graph;
    *out = arena_array(a, struct run_tensor, g->vars.n);
    *n = 0;
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (g->vars.at[v].kind != VAR_PARAM && g->vars.at[v].kind != VAR_STATE) {
            continue;
        }
        const struct plan_var *p = &r->plan->var[v];
        (*out)[(*n)++] = (struct run_tensor){.key = g->vars.at[v].key,
                                             .dtype = (enum dtype)p->view.dtype,
                                             .rank = p->view.rank,
                                             .dim = p->view.dim,
                                             .data = r->image + p->offset,
                                             .offset = p->offset,
                                             .bytes = p->bytes};
    }
}

enum status run_read(struct run *r, const struct run_tensor *t)
{
    return download(r, t->offset, t->bytes);
}
