/* A graph cut down to one phase: for evaluation and prediction, where the rest of the model has no use and
 * must not fail either - a training batch larger than a small new file, labels that nobody asks for.
 *
 * What other user phases compute is forgotten, the data members that the phase does not read are not looked
 * for, and data sets of which nothing is read are not opened. Parameters and states stay, so weights load as
 * ever. A phase that reads metrics of others keeps them all.
 */
#include "runtime/run/internal.h"

static bool reads_metrics(const struct graph *g, uint32_t phase)
{
    bool reads = false;
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct node *n = graph_node(g, i);
        reads |= n->phase == phase && op_attr((enum op)n->op, "metric") >= 0 &&
                 node_attrs(g, n)[0] != (int64_t)phase;
    }
    return reads;
}

static void forget_phase(struct phase *p)
{
    p->commits.n = p->metrics.n = p->outputs.n = p->asserts.n = p->minimizes.n = 0;
    p->ok = 0;
    p->training = p->lanes = false;
    p->data = 0;
}

/* Marks every node that a root of the phase is made of. */
static bool *needed_nodes(const struct graph *g, uint32_t phase)
{
    const struct phase *p = &g->phases.at[phase];
    bool *need = arena_array(g->arena, bool, g->nodes.n);
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        need[p->outputs.at[i].value] = true;
    }
    for (uint32_t i = 0; i < p->asserts.n; i++) {
        need[p->asserts.at[i].value] = true;
    }
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        need[p->metrics.at[i].value] = true;
    }
    for (uint32_t i = 0; i < p->commits.n; i++) {
        need[p->commits.at[i].value] = true;
    }
    for (uint32_t i = g->nodes.n - 1; i > 0; i--) {
        const struct node *n = graph_node(g, i);
        for (uint32_t k = 0; need[i] && k < n->n_in; k++) {
            need[node_inputs(g, n)[k]] = true;
        }
    }
    return need;
}

static void forget_members(struct graph *g, uint32_t phase)
{
    const bool *need = needed_nodes(g, phase);
    bool *reads = arena_array(g->arena, bool, g->vars.n);
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct node *n = graph_node(g, i);
        if (n->op == OP_read && (need[i] || g->phases.at[n->phase].kind == PHASE_INIT)) {
            reads[node_attrs(g, n)[0]] = true;
        }
    }
    for (uint32_t v = 1; v < g->vars.n; v++) { /* of phases that are forgotten: no need to be there */
        g->vars.at[v].file = reads[v] ? g->vars.at[v].file : NULL;
    }
    for (uint32_t i = 0; i < g->datas.n; i++) {
        struct data *d = &g->datas.at[i];
        struct phase *fill = &g->phases.at[d->phase];
        uint32_t n = 0, commits = 0;
        for (uint32_t k = 0; k < d->n_field; k++) {
            bool counts = d->field[k].kind <= SOURCE_CLASS; /* arrays of the file */
            n += counts && reads[d->field[k].var];
        }
        if (!n && g->phases.at[phase].data == i + 1) {
            continue; /* rows are counted, so some member must be there */
        }
        n = 0;
        for (uint32_t k = 0; k < d->n_field; k++) {
            if (reads[d->field[k].var]) {
                d->field[n++] = d->field[k];
            }
        }
        bool kept = false; /* states that are fitted stand behind the member that they are of */
        for (uint32_t k = 0; k < fill->commits.n; k++) {
            uint32_t var = fill->commits.at[k].var;
            kept = g->vars.at[var].kind == VAR_STATE ? kept : reads[var];
            if (kept) {
                fill->commits.at[commits++] = fill->commits.at[k];
            }
        }
        d->n_field = n;
        fill->commits.n = commits;
        d->path = n ? d->path : NULL;
    }
}

void graph_focus(struct graph *g, uint32_t phase)
{
    if (reads_metrics(g, phase)) {
        return;
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        enum phase_kind kind = g->phases.at[i].kind;
        if (i != phase && g->phases.at[i].metric_of != phase && (kind == PHASE_USER || kind == PHASE_RUN)) {
            forget_phase(&g->phases.at[i]);
        }
    }
    g->run.n = 0;
    forget_members(g, phase);
}
