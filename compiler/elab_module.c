/* Files: reading the main file and its imports once, and binding their names anew for each attempt. */
#include <fcntl.h>
#include <stdlib.h>
#include "compiler/elab.h"
#include "runtime/base/seam.h"

/* -- reading */

static const char *folder_of(struct elab *e, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_strndup(e->arena, path, (size_t)(slash - path)) : "";
}
static const char *in_folder(struct elab *e, const char *folder, const char *file)
{
    return *folder ? arena_printf(e->arena, "%s/%s", folder, file) : file;
}
static bool exists(const char *path)
{
    int fd = io_seam.open(path, O_RDONLY, 0);
    if (fd >= 0) {
        io_seam.close(fd);
    }
    return fd >= 0;
}
/* The same text for every name that links lead to the file by; a file is one module. */
static const char *one_name(struct elab *e, const char *path)
{
    char *real = realpath(path, NULL);
    const char *name = real ? arena_strndup(e->arena, real, strlen(real)) : path;
    free(real);
    return name;
}
static bool load_imports(struct elab *e, struct module *m, uint32_t depth);

static bool parse_module(struct elab *e, struct module *m, const char *shown, const char *text, uint32_t n,
                         uint32_t depth)
{
    e->source_bytes += n;
    if (n > LIMIT_SOURCE_BYTES || e->source_bytes > LIMIT_SOURCE_TOTAL ||
        e->modules.n >= LIMIT_SOURCE_FILES) {
        fail(e, DIAG_E0112, m->import, "too much source text: %s", shown);
        return false;
    }
    m->file = sources_add(&e->g->sources, shown, text, n);
    vec_push(e->arena, &e->modules, m);
    bool ok = gml_parse(e->arena, e->names, e->sink, m->file, &m->parsed) == ST_OK;
    if (!m->parsed.file) {
        return false;
    }
    struct ast *first = m->parsed.file->list.n ? m->parsed.file->list.at[0] : NULL;
    if (ok && (!first || first->kind != AST_EDITION || first->num != 1)) {
        fail(e, DIAG_E0111, first ? first->span : (struct span){0, 0, m->file},
             "a gml file begins with `gml 1`");
        diag_help(e->sink, "make `gml 1` the first line");
        ok = false;
    }
    for (uint32_t i = 1; i < m->parsed.file->list.n; i++) {
        if (ok && m->parsed.file->list.at[i]->kind == AST_EDITION) {
            fail(e, DIAG_E0111, m->parsed.file->list.at[i]->span, "`gml 1` stands once, in the first line");
            diag_help(e->sink, "remove this one");
            ok = false;
        }
    }
    m->loading = true;
    ok &= load_imports(e, m, depth);
    m->loading = false;
    return ok;
}
/* "nn" or "lib.nn" as a file name. */
static const char *import_file(struct elab *e, struct ast *a)
{
    if (a->is_int) {
        return a->str;
    }
    char *name = arena_printf(e->arena, "%s.gml", a->str);
    for (size_t i = 0; i + 4 < strlen(name); i++) {
        name[i] = name[i] == '.' ? '/' : name[i];
    }
    return name;
}
static const char *find_import(struct elab *e, struct module *m, const char *file, bool *is_std)
{
    const char *path = in_folder(e, m->folder, file);
    *is_std = m->is_std;
    if (exists(path)) {
        return path;
    }
    *is_std = false;
    for (uint32_t i = 0; i < e->options->n_include; i++) {
        path = in_folder(e, e->options->include[i], file);
        if (exists(path)) {
            return path;
        }
    }
    *is_std = true;
    path = e->options->std_path ? in_folder(e, e->options->std_path, file) : NULL;
    return path && exists(path) ? path : NULL;
}
static struct module *find_module(struct elab *e, const char *path)
{
    for (uint32_t i = 0; i < e->modules.n; i++) {
        if (!strcmp(e->modules.at[i]->path, path)) {
            return e->modules.at[i];
        }
    }
    return NULL;
}
static void report_cycle(struct elab *e, struct module *from, struct module *to, struct span at)
{
    const char *chain = to->name;
    for (struct module *m = from; m && m != to; m = m->importer) {
        chain = arena_printf(e->arena, "%s, which imports %s", m->name, chain);
    }
    fail(e, DIAG_E0106, at, "import cycle: %s imports %s", to->name, chain);
    diag_help(e->sink, "move what both files need into a third one");
}
/* A model cannot name files outside of the folders that are searched. */
static bool stays_inside(const char *file)
{
    size_t n = strlen(file);
    bool up = !strncmp(file, "../", 3) || strstr(file, "/../");
    return file[0] != '/' && !up && n > 4 && !strcmp(file + n - 4, ".gml");
}
static struct module *load_import(struct elab *e, struct module *m, struct ast *a, uint32_t depth)
{
    bool is_std;
    const char *file = import_file(e, a);
    if (!stays_inside(file)) {
        fail(e, DIAG_E0107, a->span, "`%s` is no .gml file below a folder that is searched", file);
        diag_help(e->sink, "-I FOLDER adds a folder; then the path is relative to it");
        return NULL;
    }
    const char *path = find_import(e, m, file, &is_std);
    char *text;
    size_t n;
    if (!path) {
        fail(e, DIAG_E0113, a->span, "cannot find %s to import", file);
        diag_note(e->sink, "looked in %s, in %u folder%s of -I and in the standard library",
                  *m->folder ? m->folder : "this folder", e->options->n_include,
                  e->options->n_include == 1 ? "" : "s");
        static const char *const known[] = {"nn.gml", "opt.gml"};
        help_closest(e, file, known, 2);
        if (advice_for_import(a->str)) {
            diag_help(e->sink, "%s", advice_for_import(a->str));
        }
        return NULL;
    }
    struct module *known = find_module(e, one_name(e, path));
    if (known) {
        if (known->loading) {
            report_cycle(e, m, known, a->span);
            return NULL;
        }
        return known;
    }
    if (depth >= LIMIT_IMPORT_DEPTH) {
        fail(e, DIAG_E0112, a->span, "imports nest deeper than %d", (int)LIMIT_IMPORT_DEPTH);
        return NULL;
    }
    struct module *i = arena_new_of(e->arena, struct module);
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    i->name = arena_strndup(e->arena, base, strlen(base) > 4 ? strlen(base) - 4 : strlen(base));
    i->path = one_name(e, path);
    i->folder = folder_of(e, path);
    i->is_std = is_std;
    i->import = a->span;
    i->importer = m;
    if (file_read(e->arena, path, LIMIT_SOURCE_BYTES, &text, &n, e->sink) != ST_OK) {
        return NULL;
    }
    const char *shown = is_std ? arena_printf(e->arena, "<std>/%s", file) : path;
    return parse_module(e, i, shown, text, (uint32_t)n, depth + 1) ? i : NULL;
}
static bool load_imports(struct elab *e, struct module *m, uint32_t depth)
{
    bool ok = true;
    for (uint32_t i = 0; i < m->parsed.file->list.n; i++) {
        struct ast *a = m->parsed.file->list.at[i];
        if (a->kind == AST_IMPORT) {
            struct module *found = load_import(e, m, a, depth);
            ok &= found != NULL;
            a->a = NULL;
            a->num = found ? (double)found->file : 0; /* leads from the import to its module */
        }
    }
    return ok;
}
bool load_main(struct elab *e, const char *path, const char *text, uint32_t n)
{
    struct module *m = arena_new_of(e->arena, struct module);
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *dot = strrchr(base, '.');
    m->name = arena_strndup(e->arena, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
    m->path = one_name(e, path);
    m->folder = folder_of(e, path);
    m->is_main = true;
    return parse_module(e, m, path, text, n, 0);
}

/* -- binding */

static bool free_name(struct elab *e, struct module *m, struct ast *a, const char *name)
{
    struct slot *s = name ? env_own(m->env, name) : NULL;
    if (!s) {
        return name != NULL;
    }
    fail(e, DIAG_E1007, a->name_span.file ? a->name_span : a->span, "`%s` is declared twice", name);
    diag_label(e->sink, s->span, "first here");
    diag_help(e->sink, "give one of them another name");
    return false;
}
static void bind_import(struct elab *e, struct module *m, struct ast *a)
{
    for (uint32_t i = 0; i < e->modules.n; i++) {
        if (e->modules.at[i]->file == (uint16_t)a->num && a->num > 0) {
            const char *name = a->name ? a->name : intern(e->names, e->modules.at[i]->name);
            if (free_name(e, m, a, name)) {
                env_add(e, m->env, name, a->span, NAME_DEF,
                        (struct value){.kind = V_MODULE, .module = e->modules.at[i]});
            }
            return;
        }
    }
    if (a->name) {
        env_add(e, m->env, a->name, a->span, NAME_DEF, poison());
    }
}
static void bind_definition(struct elab *e, struct module *m, struct ast *a)
{
    if (a->kind == AST_IMPORT) {
        bind_import(e, m, a);
    } else if (a->kind == AST_FN && free_name(e, m, a, a->name)) {
        declare_fn(e, a, m->env, NULL);
    } else if (a->kind == AST_LAYER && free_name(e, m, a, a->name)) {
        struct layer *l = arena_new_of(e->arena, struct layer);
        check_params(e, &a->list, NULL);
        check_params(e, &a->list2, &a->list);
        *l = (struct layer){.name = a->name, .ast = a, .module = m};
        env_add(e, m->env, a->name, a->name_span.file ? a->name_span : a->span, NAME_DEF,
                (struct value){.kind = V_LAYER, .layer = l});
    }
}
static void bind_value(struct elab *e, struct module *m, struct ast *a)
{
    if (a->kind == AST_CONFIG && free_name(e, m, a, a->name)) {
        declare_config(e, m, a);
    } else if (a->kind == AST_LET && (!a->name || free_name(e, m, a, a->name))) {
        declare_let(e, a, m->env, true, NAME_CONST);
    } else if (a->kind == AST_DATA && m->is_main && free_name(e, m, a, a->name)) {
        declare_data(e, m, a);
    }
}
bool bind_modules(struct elab *e)
{
    for (uint32_t i = 0; i < e->modules.n; i++) {
        struct module *m = e->modules.at[i];
        m->env = env_new(e, NULL, ENV_MODULE);
        m->env->module = m;
        m->env->inst = e->root;
    }
    for (int step = 0; step < 2; step++) {
        for (uint32_t i = 0; i < e->modules.n; i++) {
            struct module *m = e->modules.at[i];
            for (uint32_t k = 0; k < m->parsed.file->list.n; k++) {
                (step ? bind_value : bind_definition)(e, m, m->parsed.file->list.at[k]);
            }
        }
    }
    return e->sink->n_errors == 0;
}
