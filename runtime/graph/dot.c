/* The graph for Graphviz: one cluster for each phase, roots as boxes. */
#include "runtime/graph/graph.h"
#include "runtime/graph/text.h"

static void dot_quote(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            fputc('\\', out);
        }
        fputc((unsigned char)*s < 0x20 ? ' ' : *s, out);
    }
    fputc('"', out);
}

static void dot_node(const struct graph *g, val v, struct arena *scratch, FILE *out)
{
    const struct node *n = graph_node(g, v);
    struct type t = node_type(g, v);
    const char *detail =
        n->op == OP_read && node_attrs(g, n)[0] < g->vars.n ? g->vars.at[node_attrs(g, n)[0]].key : "";
    struct text label = {.arena = scratch};
    text_printf(&label, "%%%u %s %s %s", (unsigned)v, op_table[n->op].name, type_text(g, &t), detail);
    if (n->op == OP_const) {
        text_printf(&label, "%g", bits_f64(node_attrs(g, n)[0]));
    }
    fprintf(out, "    n%u [label=", (unsigned)v);
    dot_quote(out, label.at);
    fprintf(out, "];\n");
    for (uint32_t i = 0; i < n->n_in; i++) {
        fprintf(out, "    n%u -> n%u;\n", (unsigned)node_inputs(g, n)[i], (unsigned)v);
    }
}

static void dot_root(FILE *out, uint32_t phase, const char *what, uint32_t i, const char *name, val v)
{
    fprintf(out, "    %s%u_%u [shape=box, label=", what, (unsigned)phase, (unsigned)i);
    dot_quote(out, name ? name : "");
    fprintf(out, "];\n    n%u -> %s%u_%u;\n", (unsigned)v, what, (unsigned)phase, (unsigned)i);
}

static void dot_roots(const struct graph *g, uint32_t phase, FILE *out)
{
    const struct phase *p = &g->phases.at[phase];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        const struct commit *c = &p->commits.at[i];
        dot_root(out, phase, "commit", i, c->var ? g->vars.at[c->var].key : g->trees.at[c->tree - 1].name,
                 c->value);
    }
    for (uint32_t i = 0; i < p->metrics.n; i++) {
        dot_root(out, phase, "metric", i, p->metrics.at[i].name, p->metrics.at[i].value);
    }
    for (uint32_t i = 0; i < p->outputs.n; i++) {
        dot_root(out, phase, "output", i, p->outputs.at[i].name, p->outputs.at[i].value);
    }
    for (uint32_t i = 0; i < p->asserts.n; i++) {
        dot_root(out, phase, "assert", i, p->asserts.at[i].name, p->asserts.at[i].value);
    }
}

void graph_dot(const struct graph *g, FILE *out)
{
    struct arena *scratch = arena_new();
    fprintf(out, "digraph ");
    dot_quote(out, g->model);
    fprintf(out, " {\n  node [shape=ellipse, fontsize=10];\n");
    for (uint32_t phase = 0; phase < g->phases.n; phase++) {
        fprintf(out, "  subgraph cluster_%u {\n    label=", (unsigned)phase);
        dot_quote(out, g->phases.at[phase].name);
        fprintf(out, ";\n");
        for (val v = 1; v < g->nodes.n; v++) {
            if (graph_node(g, v)->phase == phase) {
                dot_node(g, v, scratch, out);
            }
        }
        dot_roots(g, phase, out);
        fprintf(out, "  }\n");
    }
    fprintf(out, "}\n");
    arena_free(scratch);
}
