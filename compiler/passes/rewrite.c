/* The walk that all passes share: a new graph beside the old one, node by node. */
#include "compiler/passes.h"

static void copy_bytes(struct arena *a, void *vec_at, const void *from, size_t bytes)
{
    void *to = arena_alloc(a, bytes ? bytes : 1);
    if (bytes) {
        memcpy(to, from, bytes);
    }
    memcpy(vec_at, &to, sizeof to);
}
/* Gives v a copy of its elements, so that changing them leaves the old graph alone. */
#define OWN(a, v)                                                                                            \
    do {                                                                                                     \
        copy_bytes((a), &(v)->at, (v)->at, (v)->n * sizeof *(v)->at);                                        \
        (v)->cap = (v)->n;                                                                                   \
    } while (0)

static void own_roots(struct graph *g)
{
    OWN(g->arena, &g->phases);
    for (uint32_t i = 0; i < g->phases.n; i++) {
        struct phase *p = &g->phases.at[i];
        OWN(g->arena, &p->commits);
        OWN(g->arena, &p->metrics);
        OWN(g->arena, &p->outputs);
        OWN(g->arena, &p->asserts);
        OWN(g->arena, &p->minimizes);
    }
    OWN(g->arena, &g->datas);
    for (uint32_t i = 0; i < g->datas.n; i++) {
        struct data *d = &g->datas.at[i];
        copy_bytes(g->arena, &d->field, d->field, d->n_field * sizeof *d->field);
    }
}
/* Tables that a pass may add to. */
static void own_tables(struct graph *g)
{
    OWN(g->arena, &g->scopes);
    OWN(g->arena, &g->vars);
    OWN(g->arena, &g->loops);
    OWN(g->arena, &g->dims.atoms);
    OWN(g->arena, &g->dims.list);
    copy_bytes(g->arena, &g->dims.cons, g->dims.cons, g->dims.n_cons * sizeof *g->dims.cons);
}
/* A graph without nodes that is like `in` otherwise. */
static struct graph *graph_like(const struct graph *in)
{
    struct graph *g = graph_new(in->arena), *fresh = arena_new_of(in->arena, struct graph);
    *fresh = *in;
    memcpy(&fresh->nodes, &g->nodes, sizeof g->nodes);
    memcpy(&fresh->inputs, &g->inputs, sizeof g->inputs);
    memcpy(&fresh->attrs, &g->attrs, sizeof g->attrs);
    memcpy(&fresh->dim_pool, &g->dim_pool, sizeof g->dim_pool);
    fresh->cons = g->cons;
    fresh->n_cons = g->n_cons;
    own_roots(fresh);
    own_tables(fresh);
    return fresh;
}

void each_root(struct graph *g, void (*fn)(void *ctx, val *root), void *ctx)
{
    for (uint32_t i = 0; i < g->phases.n; i++) {
        struct phase *p = &g->phases.at[i];
        for (uint32_t k = 0; k < p->commits.n; k++) {
            fn(ctx, &p->commits.at[k].value);
            fn(ctx, &p->commits.at[k].guard);
        }
        for (uint32_t k = 0; k < p->metrics.n; k++) {
            fn(ctx, &p->metrics.at[k].value);
        }
        for (uint32_t k = 0; k < p->outputs.n; k++) {
            fn(ctx, &p->outputs.at[k].value);
        }
        for (uint32_t k = 0; k < p->asserts.n; k++) {
            fn(ctx, &p->asserts.at[k].value);
        }
        for (uint32_t k = 0; k < p->minimizes.n; k++) {
            fn(ctx, &p->minimizes.at[k].loss);
            fn(ctx, &p->minimizes.at[k].grad);
            fn(ctx, &p->minimizes.at[k].when);
        }
        fn(ctx, &p->ok);
    }
    for (uint32_t i = 0; i < g->datas.n; i++) {
        for (uint32_t k = 0; k < g->datas.at[i].n_field; k++) {
            fn(ctx, &g->datas.at[i].field[k].raw);
        }
    }
}

struct type rewrite_type(const struct rewrite *rw, const struct node *n)
{
    struct type t = {.dtype = (enum dtype)n->dtype, .rank = n->rank};
    for (int i = 0; i < n->rank; i++) {
        t.dim[i] = node_shape(rw->old, n)[i];
    }
    return t;
}
struct node_spec rewrite_spec(const struct graph *old, val id, const val *in)
{
    const struct node *n = graph_node(old, id);
    return (struct node_spec){.op = (enum op)n->op,
                              .phase = n->phase,
                              .in = in,
                              .n_in = n->n_in,
                              .attr = node_attrs(old, n),
                              .n_attr = n->n_attr,
                              .dims = node_dims(old, n),
                              .n_dim = n->n_dim,
                              .type = node_type(old, id),
                              .span = n->span,
                              .scope = n->scope};
}
val rewrite_copy(struct rewrite *rw, const struct node *n)
{
    struct node_spec s = rewrite_spec(rw->old, (val)(n - rw->old->nodes.at), rw->in);
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!rw->in[i]) {
            return 0;
        }
    }
    return graph_add(rw->g, &s, rw->b.sink);
}
static void map_root(void *ctx, val *root)
{
    struct rewrite *rw = ctx;
    *root = *root ? rw->map[*root] : 0;
}
/* Visits one node. False when the sink has a new error. */
static bool visit_node(struct rewrite *rw, rewrite_fn *visit, val id)
{
    const struct node *n = graph_node(rw->old, id);
    uint32_t errors = rw->b.sink->n_errors;
    rw->b.phase = n->phase;
    rw->b.span = n->span;
    rw->b.scope = n->scope;
    for (uint32_t i = 0; i < n->n_in; i++) {
        rw->in[i] = rw->map[node_inputs(rw->old, n)[i]];
    }
    rw->map[id] = visit ? visit(rw, id, n) : rewrite_copy(rw, n);
    return rw->b.sink->n_errors == errors;
}
static void rewrite_begin(struct rewrite *rw, struct graph *in, struct diag_sink *sink, void *ctx)
{
    uint32_t n_in = 1;
    *rw = (struct rewrite){.old = in, .g = graph_like(in), .ctx = ctx};
    rw->b = (struct build){.g = rw->g, .sink = sink};
    for (val id = 1; id < in->nodes.n; id++) {
        n_in = in->nodes.at[id].n_in > n_in ? in->nodes.at[id].n_in : n_in;
    }
    rw->map = arena_array(in->arena, val, in->nodes.n + 1);
    rw->in = arena_array(in->arena, val, n_in);
}
bool rewrite_graph(struct graph *in, struct diag_sink *sink, rewrite_fn *visit, void *ctx, struct graph **out)
{
    struct rewrite rw;
    rewrite_begin(&rw, in, sink, ctx);
    for (val id = 1; id < in->nodes.n; id++) {
        if (!visit_node(&rw, visit, id)) {
            return false;
        }
    }
    each_root(rw.g, map_root, &rw);
    *out = rw.g;
    return true;
}

/* Input i of a node; behind its own come the two of `more`. */
static val input_at(const struct graph *g, val id, uint32_t i, const val (*more)[2])
{
    const struct node *n = graph_node(g, id);
    return i < n->n_in ? node_inputs(g, n)[i] : more[id][i - n->n_in];
}
/* Node ids so that inputs come first; otherwise ascending. */
static val *sorted(const struct graph *g, const val (*more)[2])
{
    val *order = arena_array(g->arena, val, g->nodes.n + 1),
        *stack = arena_array(g->arena, val, g->nodes.n + 1);
    uint32_t *next = arena_array(g->arena, uint32_t, g->nodes.n + 1), n = 0; /* input to look at */
    for (val root = 1; root < g->nodes.n; root++) {
        uint32_t depth = next[root] ? 0 : 1;
        stack[0] = root;
        while (depth) {
            val id = stack[depth - 1];
            uint32_t inputs = graph_node(g, id)->n_in + (more ? 2 : 0);
            if (next[id] == inputs) {
                order[n++] = id;
                next[id]++;
                depth--;
                continue;
            }
            val in = input_at(g, id, next[id]++, more);
            if (in && next[in] == 0) {
                stack[depth++] = in; /* not begun; graphs have no cycles */
            }
        }
    }
    return order;
}
bool rewrite_sorted(struct graph *in, struct diag_sink *sink, rewrite_fn *visit, void *ctx,
                    const val (*more)[2], struct graph **out)
{
    struct rewrite rw;
    const val *order = sorted(in, more);
    rewrite_begin(&rw, in, sink, ctx);
    for (uint32_t i = 0; i + 1 < in->nodes.n; i++) {
        if (!visit_node(&rw, visit, order[i])) {
            return false;
        }
    }
    each_root(rw.g, map_root, &rw);
    *out = rw.g;
    return true;
}
