/* The compiler's public calls, and the attempts of the elaborator (see elab.h). */
#include "compiler/elab.h"
#include "runtime/base/seam.h"

enum { MAX_ATTEMPTS = 12 };

/* -- facts */

static void merge_names(struct elab *e)
{
    for (uint32_t i = 0; i < e->facts.fixed.n; i++) {
        config_fix(e, e->facts.fixed.at[i], e->facts.fixed_at.at[i]);
    }
    for (uint32_t i = 0; i < e->facts.dims.n; i++) {
        config_count(e, e->facts.dims.at[i]);
    }
}
static bool same_trees(const struct facts *a, const struct facts *b)
{
    bool same = a->trees.n == b->trees.n;
    for (uint32_t i = 0; same && i < a->trees.n; i++) {
        const struct tree_facts *x = &a->trees.at[i], *y = &b->trees.at[i];
        same = x->dtype == y->dtype && x->only == y->only && x->leaf.n == y->leaf.n &&
               x->over.n == y->over.n && !strcmp(x->name, y->name);
        for (uint32_t k = 0; same && k < x->leaf.n; k++) {
            same = !strcmp(x->leaf.at[k], y->leaf.at[k]) && !strcmp(x->tags.at[k], y->tags.at[k]);
        }
        for (uint32_t k = 0; same && k < x->over.n; k++) {
            same = !strcmp(x->over.at[k], y->over.at[k]);
        }
    }
    return same;
}
static bool same_metrics(const struct metric_facts *a, const struct metric_facts *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(a[i].phase, b[i].phase) || strcmp(a[i].name, b[i].name)) {
            return false;
        }
    }
    return true;
}
static bool same_facts(const struct facts *a, const struct facts *b)
{
    bool same = a->fixed.n == b->fixed.n && a->dims.n == b->dims.n && a->metrics.n == b->metrics.n &&
                a->late.n == b->late.n && a->writes.n == b->writes.n && same_trees(a, b);
    for (uint32_t i = 0; same && i < a->late.n; i++) {
        same = !strcmp(a->late.at[i], b->late.at[i]);
    }
    for (uint32_t i = 0; same && i < a->writes.n; i++) {
        same =
            a->writes.at[i].scan == b->writes.at[i].scan && !strcmp(a->writes.at[i].key, b->writes.at[i].key);
    }
    same = same && a->made.n == b->made.n && same_metrics(a->made.at, b->made.at, a->made.n) &&
           same_metrics(a->metrics.at, b->metrics.at, a->metrics.n);
    return same;
}

/* -- one attempt */

static void start(struct elab *e, struct graph *from)
{
    struct graph *g = graph_new(e->arena);
    g->names = e->names;
    g->sources = from->sources;
    g->model = e->modules.at[0]->name;
    e->g = g;
    e->sink->sources = &g->sources;
    e->b = (struct build){.g = g, .sink = e->sink};
    e->found = (struct facts){0};
    e->frame = NULL;
    e->ground = (struct tick){0};
    e->tick = &e->ground;
    e->still = NULL;
    e->drawn = NULL;
    e->scans = 0;
    e->draws.n = 0;
    e->named_draws.n = 0;
    e->draw_keys = (struct name_table){0};
    e->draw_places = (struct name_table){0};
    e->scopes = (struct name_table){0};
    e->bad_metrics.n = 0;
    e->metric_uses.n = e->made_metrics.n = 0;
    e->members.n = 0;
    e->vars.n = 0;
    e->insts.n = e->frozen.n = 0;
    e->inst_paths = (struct name_table){0};
    e->stored = (struct name_table){0};
    for (uint32_t i = 0; i < e->facts.late.n; i++) {
        vec_push(e->arena, &e->found.late, e->facts.late.at[i]);
    }
    e->guard = 0;
    e->work = 0;
    e->depth = 0;
    e->let_path = NULL;
    e->training = false;
    struct phase init = {.name = "init", .kind = PHASE_INIT};
    vec_push(e->arena, &g->phases, init);
    if (!g->vars.n) {
        struct var none = {0};
        vec_push(e->arena, &g->vars, none);
    }
    e->root = arena_new_of(e->arena, struct inst);
    e->root->path = "";
    e->root->ready = true;
    e->root->env = env_new(e, NULL, ENV_LAYER);
    static struct ast no_layer_ast = {.kind = AST_LAYER, .is_int = true};
    static struct layer no_layer = {.name = "the file", .ast = &no_layer_ast};
    e->root->layer = &no_layer;
}
static void file_states(struct elab *e)
{
    struct module *m = e->modules.at[0];
    for (uint32_t i = 0; i < m->parsed.file->list.n; i++) {
        struct ast *a = m->parsed.file->list.at[i];
        if (a->kind == AST_STATE) {
            if (env_own(m->env, a->name)) {
                fail(e, DIAG_E1007, a->span, "`%s` is declared twice", a->name);
                diag_help(e->sink, "give one of them another name");
                continue;
            }
            declare_state(e, a, m->env);
        }
    }
}
/* Values of the file that nothing used are checked too, in the first phase of the user. */
static void unused_lets(struct elab *e)
{
    struct module *m = e->modules.at[0];
    uint32_t phase = 0;
    for (uint32_t i = 0; i < e->g->phases.n && !phase; i++) {
        phase = e->g->phases.at[i].kind == PHASE_USER ? i : 0;
    }
    enter_phase(e, (uint16_t)phase);
    for (uint32_t i = 0; i < m->env->slots.n; i++) {
        struct slot *s = m->env->slots.at[i];
        if (s->kind == SLOT_LAZY && !s->done) {
            slot_value(e, s, s->span);
        }
    }
    enter_phase(e, 0);
}
static void attempt(struct elab *e)
{
    struct module *m = e->modules.at[0];
    trees_start(e);
    bind_modules(e);
    declare_phases(e);
    run_data_phases(e);
    file_states(e);
    run_phases(e);
    for (uint32_t i = 0; i < m->parsed.file->list.n; i++) {
        if (m->parsed.file->list.at[i]->kind == AST_RUN) {
            elaborate_run(e, m->parsed.file->list.at[i]);
        }
    }
    unused_lets(e);
    check_metric_uses(e);
    merge_names(e);
    tree_finish(e);
}

/* -- public calls */

enum status gml_elaborate(struct arena *a, const char *path, const char *text, uint32_t n,
                          const struct compile_options *o, struct diag_sink *sink, struct graph **out)
{
    static const struct compile_options none;
    struct elab *e = arena_new_of(a, struct elab);
    struct graph *first = graph_new(a);
    *out = NULL;
    e->arena = a;
    e->names = first->names;
    e->sink = sink;
    e->tick = &e->ground;
    e->options = o ? o : &none;
    e->g = first;
    e->b.g = first;
    e->b.sink = sink;
    sink->sources = &first->sources;
    bool ok = load_main(e, path, text, n);
    if (!e->modules.n || !e->modules.at[0]->parsed.file) {
        return diag_worst(sink);
    }
    ok &= check_sets(e);
    for (int k = 0; k < MAX_ATTEMPTS; k++) {
        struct graph *previous = e->g;
        start(e, previous);
        attempt(e);
        if (sink->n_errors || !ok) {
            return diag_worst(sink) ? diag_worst(sink) : ST_MODEL;
        }
        if (same_facts(&e->facts, &e->found)) {
            lint_scans(e);
            if (!check_overrides(e)) {
                return diag_worst(sink);
            }
            *out = e->g;
            return ST_OK;
        }
        e->facts = e->found;
    }
    return diag_emit(sink, DIAG_I0001, NO_SPAN, "elaboration does not settle");
}
enum status gml_compile_text(struct arena *a, const char *path, const char *text, uint32_t n,
                             const struct compile_options *o, struct diag_sink *sink, struct graph **out)
{
    static const struct compile_options none;
    struct graph *g;
    *out = NULL;
    TRY(gml_elaborate(a, path, text, n, o, sink, &g));
    return run_passes(g, o ? o : &none, sink, out);
}
enum status gml_compile(struct arena *a, const char *path, const struct compile_options *o,
                        struct diag_sink *sink, struct graph **out)
{
    char *text;
    size_t n;
    *out = NULL;
    TRY(file_read(a, path, LIMIT_SOURCE_BYTES, &text, &n, sink));
    return gml_compile_text(a, path, text, (uint32_t)n, o, sink, out);
}
