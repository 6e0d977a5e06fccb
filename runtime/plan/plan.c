/* plan_build: the steps of internal.h in order, and small lookups. */
#include "runtime/base/number.h"
#include "runtime/plan/internal.h"
#include "runtime/plan/print.h"

/* Not expressions of `run`, which are a few scalars: device and host ask them both, and must get the same
 * bits (runtime/run/segments.c). */
static bool is_fused(const struct variant_build *v)
{
    const struct builder *b = v->b;
    return b->o->fuse && b->o->target.groups && b->g->phases.at[v->phase].kind != PHASE_RUN;
}

static enum status build_variant(struct variant_build *v)
{
    schedule_build(v);
    struct commit_work *commits;
    TRY(launches_build(v, 0, v->n_plain));
    TRY(roots_save(v, &commits));
    TRY(launches_build(v, v->n_plain, v->n_order));
    roots_commit(v, commits);
    if (is_fused(v)) {
        fuse_build(v);
    }
    lifetimes_build(v);
    emit_drafts(v);
    return ST_OK;
}

static enum status build(struct builder *b)
{
    TRY(bind_sizes(b));
    TRY(bind_variants(b));
    TRY(persistent_build(b));
    for (uint32_t i = 0; i < b->n_variant; i++) {
        TRY(build_variant(&b->variant[i]));
    }
    persistent_layout(b);
    emit_addresses(b);
    return ST_OK;
}

enum status plan_layout(const struct graph *g, const struct plan_options *o, struct arena *a,
                        struct diag_sink *sink, struct plan **out)
{
    struct plan *p = arena_new_of(a, struct plan);
    struct builder b = {.arena = a, .scratch = arena_new(), .g = g, .o = o, .sink = sink, .p = p};
    p->arena = a;
    p->graph = g;
    p->target = o->target;
    p->no_reuse = o->no_reuse;
    enum status s = build(&b);
    arena_free(b.scratch);
    *out = s == ST_OK ? p : NULL;
    return s;
}

/* Rows written into a large state: what is copied with every launch for a few rows deserves to be known. */
enum { LARGE_COPY = 1 << 20 };
static bool is_large_update(const struct plan *p, const struct plan_copy *c)
{
    const struct phase *f = &p->graph->phases.at[p->variant[c->variant].phase];
    const struct commit *to = &f->commits.at[c->commit];
    return f->kind == PHASE_USER && c->bytes >= LARGE_COPY && !p->variant[c->variant].is_tail && !to->tree &&
           (op_table[graph_node(p->graph, to->value)->op].flags & OPF_ROWS);
}
static void warn_of_copies(const struct plan *p, struct arena *a, struct diag_sink *sink)
{
    for (uint32_t i = 0; i < p->n_copy; i++) {
        const struct plan_copy *c = &p->copy[i];
        if (!is_large_update(p, c)) {
            continue;
        }
        const struct phase *f = &p->graph->phases.at[p->variant[c->variant].phase];
        const struct commit *to = &f->commits.at[c->commit];
        diag_emit(sink, DIAG_W3102, to->span,
                  "some rows of `%s` change, and all %s are copied in every launch of `%s`",
                  p->graph->vars.at[to->var].key, bytes_text(a, c->bytes), f->name);
        diag_note(sink, "%s", c->why);
        diag_help(sink,
                  "compute with the old value above this line, or read it in a phase that stands before");
    }
}

enum status plan_build(const struct graph *g, const struct plan_options *o, struct arena *a,
                       struct diag_sink *sink, struct plan **out)
{
    *out = NULL;
    struct plan *p;
    TRY(plan_layout(g, o, a, sink, &p));
    TRY(memory_check(p, o, sink));
    warn_of_copies(p, a, sink);
    *out = p;
    return ST_OK;
}

const struct plan_variant *plan_find(const struct plan *p, uint32_t phase, bool tail)
{
    for (uint32_t i = 0; i < p->n_variant; i++) {
        if (p->variant[i].phase == phase && p->variant[i].is_tail == tail) {
            return &p->variant[i];
        }
    }
    return NULL;
}

void plan_fill_constants(const struct plan *p, void *arena)
{
    for (uint32_t i = 0; i < p->n_constant; i++) {
        const struct plan_constant *c = &p->constant[i];
        number_put((char *)arena + c->offset, (enum dtype)c->dtype, 0, c->value);
    }
}
