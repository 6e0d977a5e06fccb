/* What the device reports, as diagnostics with the source line of the node. */
#include "runtime/run/internal.h"

enum status device_failed(struct run *r, enum status st)
{
    const char *why = r->exec ? r->backend->error(r->exec) : NULL;
    enum diag_code code = st == ST_RESOURCE                     ? DIAG_R1010
                          : st == ST_INTERNAL || st == ST_MODEL ? DIAG_I0001
                                                                : DIAG_C1001;
    return diag_emit(r->sink, code, NO_SPAN, "%s: %s", r->backend->name,
                     why && why[0] ? why : status_text(st));
}

static void note_place(struct run *r, int32_t phase, const struct node *n)
{
    const struct graph *g = r->graph;
    const char *scope = n && n->scope < g->scopes.n ? g->scopes.at[n->scope] : "";
    if (phase >= 0 && (uint32_t)phase < g->phases.n) {
        diag_note(r->sink, "in phase %s, launch %llu of the run%s%s", g->phases.at[phase].name,
                  (unsigned long long)(r->seen + 1), scope[0] ? ", in " : "", scope);
    }
}

/* Replicas look things up in one long table of all their rows: back to the rows of one. */
static struct fault of_one(const struct graph *g, const struct node *n, struct fault f)
{
    const struct node *x = n && g->replicas && n->n_in > 1 ? graph_node(g, node_inputs(g, n)[0]) : NULL;
    while (x && x->op == OP_reshape) {
        x = graph_node(g, node_inputs(g, x)[0]);
    }
    if (x && f.code == FAULT_INDEX && x->rank > 1 && node_shape(g, x)[0] == g->n_replicas &&
        f.b % g->replicas == 0) {
        int64_t rows = f.b / g->replicas;
        f.a -= f.a >= f.b ? f.b - rows : 0;
        f.b = rows;
    }
    return f;
}

enum status fault_report(struct run *r, const struct fault *what, int32_t phase)
{
    const struct graph *g = r->graph;
    const struct node *n = what->node && what->node < g->nodes.n ? graph_node(g, what->node) : NULL;
    struct fault one = of_one(g, n, *what), *f = &one;
    struct span at = n ? n->span : NO_SPAN;
    enum status st;
    switch (f->code) {
    case FAULT_INDEX:
        st = diag_emit(r->sink, DIAG_F3301, at, "index %lld is out of range: the axis has %lld entries",
                       (long long)f->a, (long long)f->b);
        break;
    case FAULT_LABEL:
        st = diag_emit(r->sink, DIAG_F3302, at, "label %lld is out of range: there are %lld classes",
                       (long long)f->a, (long long)f->b);
        diag_help(r->sink,
                  "labels are 0 to %lld, and -1 for none; or the last axis of the scores is too small",
                  (long long)f->b - 1);
        break;
    case FAULT_ASSERT: {
        const struct phase *p = phase >= 0 && (uint32_t)phase < g->phases.n ? &g->phases.at[phase] : NULL;
        bool known = p && f->a >= 0 && (uint64_t)f->a < p->asserts.n;
        const struct output *o = known ? &p->asserts.at[f->a] : NULL;
        st = diag_emit(r->sink, DIAG_N1002, o ? o->span : at, "assertion failed: %s", o ? o->name : "?");
        break;
    }
    default:
        return diag_emit(r->sink, DIAG_I0001, at, "unknown fault code %d", f->code);
    }
    note_place(r, phase, n);
    return st;
}

enum status skips_report(struct run *r, uint32_t phase, int64_t in_row)
{
    const struct phase *p = &r->graph->phases.at[phase];
    struct span at = p->minimizes.n ? p->minimizes.at[0].span : p->span;
    enum status st =
        diag_emit(r->sink, DIAG_N1001, at, "%lld step%s of `%s` in a row had a gradient that is not finite",
                  (long long)in_row, in_row == 1 ? "" : "s", p->name);
    diag_note(r->sink, "at step %lld of the run; the parameters are those of the last finite step",
              (long long)r->steps_seen);
    diag_help(r->sink, "lower the learning rate, clip the gradient, or look for inputs that are not finite");
    return st;
}

enum status run_on_host(struct run *r, const struct plan_variant *v)
{
    enum status st = cpu_run_variant(r->image, r->plan, (uint32_t)(v - r->plan->variant), r->threads);
    const struct fault *f = &run_control(r)->fault;
    if (f->code != FAULT_NONE) {
        return fault_report(r, f, (int32_t)v->phase);
    }
    const struct phase *p = &r->graph->phases.at[v->phase];
    return st == ST_OK
               ? ST_OK
               : diag_emit(r->sink, DIAG_I0001, p->span, "phase `%s` cannot run on the host", p->name);
}
