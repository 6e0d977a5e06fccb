/* Too little memory is an error before step 0: what is needed, what is free, the largest tensors, and the
 * batch that would fit. */
#include <stdlib.h>
#include "runtime/plan/internal.h"
#include "runtime/plan/print.h"

struct tensor {
    const char *name;
    uint64_t bytes;
    struct span span;
};

static int by_size(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

/* Every variable and every planned value of the user's phases. */
static uint32_t list_tensors(const struct plan *p, struct arena *a, struct tensor *t)
{
    const struct graph *g = p->graph;
    uint32_t n = 0;
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (!var_is_raw(&g->vars.at[i])) {
            t[n++] = (struct tensor){g->vars.at[i].key, p->var[i].bytes, g->vars.at[i].span};
        }
    }
    for (uint32_t i = 0; i < p->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[i];
        if (g->phases.at[p->variant[b->variant].phase].kind == PHASE_USER) {
            t[n++] = (struct tensor){value_name(p, b->variant, b->node, a), b->bytes,
                                     graph_node(g, b->node)->span};
        }
    }
    qsort(t, n, sizeof *t, by_size);
    return n;
}

/* The dim config that is the batch of a phase: of a training phase if there is one. */
static const struct config *batch_config(const struct plan *p, int64_t *value)
{
    const struct graph *g = p->graph;
    const struct config *found = NULL;
    bool training = false;
    for (uint32_t i = 0; i < g->phases.n; i++) {
        const struct phase *f = &g->phases.at[i];
        for (uint32_t c = 0; f->data && c < g->configs.n; c++) {
            if (g->configs.at[c].kind == CONFIG_DIM && g->configs.at[c].symbol == f->batch &&
                (!found || (f->training && !training))) {
                found = &g->configs.at[c];
                training = f->training;
            }
        }
    }
    return found && dim_eval(&g->dims, &p->binding, found->symbol, value) ? found : NULL;
}

static uint64_t needed(const struct plan *p)
{
    return p->target.sm ? p->device_bytes : p->bytes;
}

/* Plans again with the config at `value`, quietly. */
static bool fits(const struct graph *g, const struct plan_options *o, const char *name, int64_t value)
{
    struct arena *a = arena_new();
    struct diag_sink quiet;
    struct plan_options trial = *o;
    const char **names = arena_array(a, const char *, (size_t)o->n_set + 1);
    int64_t *values = arena_array(a, int64_t, (size_t)o->n_set + 1);
    for (uint32_t i = 0; i < o->n_set; i++) {
        names[i] = o->set_name[i];
        values[i] = o->set_value[i];
    }
    names[o->n_set] = name;
    values[o->n_set] = value;
    trial.set_name = names;
    trial.set_value = values;
    trial.n_set++;
    diag_init(&quiet, a, NULL);
    struct plan *p;
    bool ok = plan_layout(g, &trial, a, &quiet, &p) == ST_OK && needed(p) <= o->target.memory;
    arena_free(a);
    return ok;
}

static void suggest_batch(const struct plan *p, const struct plan_options *o, struct diag_sink *sink)
{
    int64_t lo = 0, hi;
    const struct config *c = batch_config(p, &hi);
    if (!c) {
        diag_help(sink, "use a smaller batch or model, or a device with more memory");
        return;
    }
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (fits(p->graph, o, c->name, mid)) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    if (lo) {
        diag_help(sink, "it fits with --set %s=%lld", c->name, (long long)lo);
    } else {
        diag_help(sink, "not even %s=1 fits: use a smaller model or a device with more memory", c->name);
    }
}

enum status memory_check(const struct plan *p, const struct plan_options *o, struct diag_sink *sink)
{
    if (!o->target.memory || needed(p) <= o->target.memory) {
        return ST_OK;
    }
    struct arena *a = arena_new();
    struct tensor *t = arena_array(a, struct tensor, (size_t)p->graph->vars.n + p->n_buffer);
    uint32_t n = list_tensors(p, a, t);
    enum status s =
        diag_emit(sink, DIAG_R1010, n ? t[0].span : NO_SPAN, "the run needs %s on %s, but %s are free",
                  bytes_text(a, needed(p)), o->target.name ? o->target.name : "the device",
                  bytes_text(a, o->target.memory));
    for (uint32_t i = 0; i < n && i < 5; i++) {
        diag_note(sink, "%s: %s%s", t[i].name, bytes_text(a, t[i].bytes), span_text(p->graph, t[i].span, a));
    }
    suggest_batch(p, o, sink);
    arena_free(a);
    return s;
}
