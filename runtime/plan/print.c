/* `gmlc --emit=mem`: what lies where, how close the planned region comes to its lower bound, and what is
 * alive at the peak. */
#include <stdlib.h>
#include "runtime/plan/internal.h"
#include "runtime/plan/print.h"

const char *const part_name[PART_COUNT] = {"forward", "loss", "backward", "optimizer"};

const char *bytes_text(struct arena *a, uint64_t n)
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (n < 1024) {
        return arena_printf(a, "%llu B", (unsigned long long)n);
    }
    double x = (double)n / 1024;
    int u = 0;
    while (x >= 1024 && u < 4) {
        x /= 1024;
        u++;
    }
    return arena_printf(a, "%.2f %s", x, unit[u]);
}

const char *span_text(const struct graph *g, struct span s, struct arena *a)
{
    uint32_t line, column;
    if (!s.file || s.file >= g->sources.list.n) {
        return "";
    }
    source_line_column(&g->sources.list.at[s.file], s.start, &line, &column);
    return arena_printf(a, ", %s:%u", g->sources.list.at[s.file].path, line);
}

const char *value_name(const struct plan *p, uint32_t variant, uint32_t node, struct arena *a)
{
    const struct graph *g = p->graph;
    const struct node *n = graph_node(g, node);
    const struct plan_variant *v = &p->variant[variant];
    struct text t = {.arena = a};
    const char *scope = g->scopes.n ? g->scopes.at[n->scope] : "";
    text_printf(&t, "%s%s: %s%s%s %s[", g->phases.at[v->phase].name, v->is_tail ? " (tail)" : "",
                scope ? scope : "", scope && *scope ? " " : "", op_table[n->op].name,
                dtype_name((enum dtype)n->dtype));
    struct binding at = {arena_array(a, int64_t, p->binding.n), p->binding.n};
    memcpy(at.atom, p->binding.atom, at.n * sizeof *at.atom);
    uint32_t batch;
    if (g->phases.at[v->phase].b && dim_is_symbol(&g->dims, g->phases.at[v->phase].b, &batch)) {
        at.atom[batch] = v->rows;
    }
    for (int i = 0; i < n->rank; i++) {
        int64_t size = -1;
        dim_eval(&g->dims, &at, node_shape(g, n)[i], &size);
        text_printf(&t, "%s%lld", i ? ", " : "", (long long)size);
    }
    text_append(&t, "]", 1);
    return t.at;
}

static void print_region(FILE *out, const char *name, uint64_t offset, uint64_t bytes, struct arena *a)
{
    fprintf(out, "  %-16s %14llu %14llu  %s\n", name, (unsigned long long)offset, (unsigned long long)bytes,
            bytes_text(a, bytes));
}

struct extent {
    uint64_t offset, end;
};
static void widen(struct extent *e, uint64_t offset, uint64_t bytes)
{
    e->offset = e->end ? (offset < e->offset ? offset : e->offset) : offset;
    e->end = offset + bytes > e->end ? offset + bytes : e->end;
}

static void print_regions(const struct plan *p, FILE *out, struct arena *a)
{
    const struct graph *g = p->graph;
    struct extent constants = {0}, trees = {0}, states = {0}, gradients = {0}, data = {0};
    for (uint32_t i = 0; i < p->n_constant; i++) {
        widen(&constants, p->constant[i].offset, 8);
    }
    for (uint32_t t = 0; t < g->trees.n; t++) {
        widen(&trees, p->tree_offset[t], p->tree_bytes[t]);
    }
    for (uint32_t i = 1; i < g->vars.n; i++) {
        const struct var *v = &g->vars.at[i];
        if (!var_is_raw(v) && !(v->kind == VAR_PARAM && v->tree)) {
            widen(v->kind == VAR_DATA ? &data : &states, p->var[i].offset, p->var[i].bytes);
        }
    }
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        widen(&gradients, p->gradient[i].offset, p->gradient[i].bytes);
    }
    fprintf(out, "arena %llu bytes, %s", (unsigned long long)p->bytes, bytes_text(a, p->bytes));
    fprintf(out, " (device %llu bytes)\n  %-16s %14s %14s\n", (unsigned long long)p->device_bytes, "region",
            "offset", "bytes");
    print_region(out, "constants", constants.offset, constants.end - constants.offset, a);
    print_region(out, "parameters", trees.offset, trees.end - trees.offset, a);
    print_region(out, "states", states.offset, states.end - states.offset, a);
    print_region(out, "gradients", gradients.offset, gradients.end - gradients.offset, a);
    print_region(out, "control block", p->control, sizeof(struct control), a);
    print_region(out, "data sets", data.offset, data.end - data.offset, a);
    print_region(out, "workspace", p->workspace_offset, p->workspace_bytes, a);
    print_region(out, "planned", p->planned_offset, p->bytes - p->planned_offset, a);
}

static int larger_first(const void *a, const void *b)
{
    const struct plan_buffer *const *x = a, *const *y = b;
    if ((*x)->bytes != (*y)->bytes) {
        return (*x)->bytes > (*y)->bytes ? -1 : 1;
    }
    return (*x)->first < (*y)->first ? -1 : (*x)->first > (*y)->first;
}

enum { PEAK_LINES = 12 };
static void print_peak(const struct plan *p, uint32_t index, FILE *out, struct arena *a)
{
    const struct plan_variant *v = &p->variant[index];
    const struct plan_buffer **live = arena_array(a, const struct plan_buffer *, v->n_buffer);
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[v->buffer0 + i];
        if (b->first <= v->peak && v->peak <= b->last && b->bytes && !(b->in_place && b->first == v->peak)) {
            live[n++] = b;
        }
    }
    qsort(live, n, sizeof *live, larger_first);
    for (uint32_t i = 0; i < n && i < PEAK_LINES; i++) {
        fprintf(out, "    %14llu  %s%s\n", (unsigned long long)live[i]->bytes,
                value_name(p, index, live[i]->node, a),
                span_text(p->graph, graph_node(p->graph, live[i]->node)->span, a));
    }
    if (n > PEAK_LINES) {
        fprintf(out, "    and %u smaller\n", n - PEAK_LINES);
    }
}

static const char *commit_name(const struct graph *g, const struct commit *c)
{
    return c->tree ? g->trees.at[c->tree - 1].name : g->vars.at[c->var].key;
}

static void print_variant(const struct plan *p, uint32_t index, FILE *out, struct arena *a)
{
    const struct graph *g = p->graph;
    const struct plan_variant *v = &p->variant[index];
    double ratio = v->bound ? (double)v->planned / (double)v->bound : 1;
    fprintf(out, "\nphase %s%s", g->phases.at[v->phase].name, v->is_tail ? " (tail)" : "");
    if (v->rows) {
        fprintf(out, ", %lld rows", (long long)v->rows);
    }
    fprintf(out, ": kernels %u, planned %llu, bound %llu, %s\n  ratio %.4f\n", v->n_op,
            (unsigned long long)v->planned, (unsigned long long)v->bound, v->order ? v->order : "empty",
            ratio);
    if (v->n_op) {
        fprintf(out, "  live at the peak, launch %u of %u\n", v->peak + 1, v->n_op);
        print_peak(p, index, out, a);
    }
    for (uint32_t i = 0; i < p->n_copy; i++) {
        const struct plan_copy *c = &p->copy[i];
        if (c->variant == index) {
            const struct commit *k = &g->phases.at[v->phase].commits.at[c->commit];
            fprintf(out, "  copy for next %s, %s: %s%s\n", commit_name(g, k), bytes_text(a, c->bytes), c->why,
                    span_text(g, k->span, a));
        }
    }
}

void plan_print_memory(const struct plan *p, FILE *out)
{
    struct arena *a = arena_new();
    print_regions(p, out, a);
    for (uint32_t i = 0; i < p->n_variant; i++) {
        print_variant(p, i, out, a);
    }
    arena_free(a);
}
