/* Making a failing graph small. Each step proposes a graph with fewer nodes or smaller sizes; what still
 * fails is kept, until nothing smaller fails. Steps are rewrites of the graph itself, so they know nothing of
 * the generator. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "tools/random/random.h"

struct shrink {
    struct arena *a; /* of the result */
    char *best;
    random_fails *fails;
    void *ctx;
};
uint32_t random_node_count(const char *text)
{
    uint32_t n = 0;
    for (const char *c = text; (c = strstr(c, "\n%")) != NULL; c++) {
        n++;
    }
    return n;
}

/* -- proposals: each changes a graph in an arena of its own; NULL when there is nothing to change */

struct step {
    enum { DROP_ROOT, BY_INPUT, BY_VARIABLE, LOWER_SIZE, DROP_VARIABLE, N_STEPS } kind;
    uint32_t at, how; /* which root, node or size; which input, range or lower size */
};
typedef struct graph *propose_fn(struct graph *g, struct step s, struct diag_sink *sink);

#define DROP_FROM(list)                                                                                      \
    if (at < (list).n) {                                                                                     \
        memmove(&(list).at[at], &(list).at[at + 1], ((list).n - at - 1) * sizeof *(list).at);                \
        (list).n--;                                                                                          \
        return g;                                                                                            \
    }                                                                                                        \
    at -= (list).n
static struct graph *drop_root(struct graph *g, struct step s, struct diag_sink *sink)
{
    struct phase *p = &g->phases.at[g->phases.n - 1];
    uint32_t at = s.at;
    (void)sink;
    p->training = p->minimizes.n > 1;
    DROP_FROM(p->outputs);
    DROP_FROM(p->asserts);
    DROP_FROM(p->commits);
    DROP_FROM(p->metrics);
    DROP_FROM(p->minimizes);
    return NULL;
}

static val by_input(struct rewrite *rw, val id, const struct node *n)
{
    const struct step *s = rw->ctx;
    if (id == s->at && s->how < n->n_in) {
        struct type t = rewrite_type(rw, n), u = node_type(rw->g, rw->in[s->how]);
        return type_equal(&t, &u) ? rw->in[s->how] : rewrite_copy(rw, n);
    }
    return rewrite_copy(rw, n);
}
/* A repeated number is no block that may be committed: its padding is not zero. */
static bool repeats_into_block(const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    uint32_t tree;
    return n->op == OP_expand && n->rank == 1 && dim_is_tree(&g->dims, node_shape(g, n)[0], &tree);
}
static struct graph *replace_by_input(struct graph *g, struct step s, struct diag_sink *sink)
{
    const struct node *n = graph_node(g, s.at);
    struct graph *out;
    bool there = s.how < n->n_in && !repeats_into_block(g, node_inputs(g, n)[s.how]);
    return there && rewrite_graph(g, sink, by_input, &s, &out) ? out : NULL;
}

/* Ranges that suit most readers: any number, above zero, an index of whatever has a row. */
static const char *const float_ranges[] = {"[-2,2]", "[0.3,3]", "[-0.9,0.9]"}, *const whole_ranges[] = {
                                                                                   "[-3,4]", "[0,0]",
                                                                                   "[-1,0]"};
static val by_variable(struct rewrite *rw, val id, const struct node *n)
{
    const struct step *s = rw->ctx;
    struct type t = rewrite_type(rw, n);
    if (id != s->at) {
        return rewrite_copy(rw, n);
    }
    bool whole = t.dtype == DT_I32;
    const char *range = t.dtype == DT_BOOL ? "[0,1]" : whole ? whole_ranges[s->how] : float_ranges[s->how];
    const char *key = arena_printf(rw->g->arena, "%c.%u%s",
                                   t.dtype == DT_BOOL ? 'b'
                                   : whole            ? 'i'
                                                      : 'f',
                                   rw->g->vars.n, range);
    vec_push(rw->g->arena, &rw->g->vars, ((struct var){.kind = VAR_STATE, .key = key, .type = t}));
    struct node_spec read = {
        .op = OP_read, .phase = n->phase, .attr = (int64_t[]){rw->g->vars.n - 1}, .n_attr = 1};
    return graph_add(rw->g, &read, rw->b.sink);
}
static struct graph *replace_by_variable(struct graph *g, struct step s, struct diag_sink *sink)
{
    const struct node *n = graph_node(g, s.at);
    struct graph *out;
    uint32_t tree;
    bool flat = n->rank == 1 && dim_is_tree(&g->dims, node_shape(g, n)[0], &tree);
    bool needless = n->op == OP_read || n->op == OP_tree || flat || (n->dtype == DT_BOOL && s.how > 0);
    return !needless && rewrite_graph(g, sink, by_variable, &s, &out) ? out : NULL;
}

/* -- sizes */

struct sizes {
    int64_t from, to;
};
static dim lowered(struct graph *g, dim d, const struct sizes *s)
{
    int64_t n;
    return dim_is_const(&g->dims, d, &n) && n == s->from ? dim_const(&g->dims, s->to) : d;
}
static void lower_type(struct graph *g, struct type *t, const struct sizes *s)
{
    for (int i = 0; i < t->rank; i++) {
        t->dim[i] = lowered(g, t->dim[i], s);
    }
}
/* The explicit type first, then the one that the rule finds. */
static val with_lower_size(struct rewrite *rw, val id, const struct node *n)
{
    const struct sizes *s = rw->ctx;
    struct type t = rewrite_type(rw, n);
    dim dims[LIMIT_ATTRS];
    struct diag_sink quiet;
    (void)id;
    diag_init(&quiet, rw->g->arena, NULL);
    lower_type(rw->g, &t, s);
    for (uint32_t i = 0; i < n->n_dim; i++) {
        int64_t start;
        dims[i] = node_dims(rw->old, n)[i];
        bool known = dim_is_const(&rw->g->dims, dims[i], &start);
        dims[i] = n->op == OP_dimval ? lowered(rw->g, dims[i], s)
                  : known && n->op != OP_shuffle && start >= s->to
                      ? dim_const(&rw->g->dims, s->to > 0 ? s->to - 1 : 0)
                      : dims[i];
    }
    struct node_spec spec = {.op = (enum op)n->op,
                             .phase = n->phase,
                             .in = rw->in,
                             .n_in = n->n_in,
                             .attr = node_attrs(rw->old, n),
                             .n_attr = n->n_attr,
                             .dims = dims,
                             .n_dim = n->n_dim,
                             .type = t};
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (!rw->in[i]) {
            return 0;
        }
    }
    val v = graph_add(rw->g, &spec, &quiet);
    spec.type = (struct type){0};
    return v ? v : graph_add(rw->g, &spec, rw->b.sink);
}
/* Indices that may name the last of `from` rows name the last of `to` instead. */
static const char *lower_key(struct graph *g, const char *key, const struct sizes *s)
{
    double lo, hi;
    const char *range = strchr(key, '[');
    if (key[0] != 'i' || !range || sscanf(range, "[%lf,%lf]", &lo, &hi) != 2 || hi != (double)s->from - 1) {
        return key;
    }
    return arena_printf(g->arena, "%.*s[%g,%g]", (int)(range - key), key, lo, fmax(lo, (double)s->to - 1));
}
static struct graph *lower_size(struct graph *g, struct step s, struct diag_sink *sink)
{
    static const int64_t to[] = {1, 2, 3, 0};
    struct sizes sizes = {s.at, s.how == 3 ? (int64_t)s.at - 1 : to[s.how]};
    struct graph *out;
    if (sizes.to >= sizes.from) {
        return NULL;
    }
    for (uint32_t v = 1; v < g->vars.n; v++) {
        lower_type(g, &g->vars.at[v].type, &sizes);
        g->vars.at[v].key = lower_key(g, g->vars.at[v].key, &sizes);
    }
    return rewrite_graph(g, sink, with_lower_size, &sizes, &out) ? out : NULL;
}

/* -- variables that nobody reads */

static val renumbered(struct rewrite *rw, val id, const struct node *n)
{
    const struct step *s = rw->ctx;
    (void)id;
    if (n->op != OP_read || node_attrs(rw->old, n)[0] < (int64_t)s->at) {
        return rewrite_copy(rw, n);
    }
    struct node_spec read = {
        .op = OP_read, .phase = n->phase, .attr = (int64_t[]){node_attrs(rw->old, n)[0] - 1}, .n_attr = 1};
    return graph_add(rw->g, &read, rw->b.sink);
}
static bool var_is_used(const struct graph *g, uint32_t var)
{
    bool used = g->vars.at[var].kind != VAR_STATE;
    for (val v = 1; v < g->nodes.n; v++) {
        const struct node *n = graph_node(g, v);
        used |= n->op == OP_read && node_attrs(g, n)[0] == (int64_t)var;
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        for (uint32_t k = 0; k < g->phases.at[i].commits.n; k++) {
            used |= g->phases.at[i].commits.at[k].var == var;
        }
    }
    return used;
}
static struct graph *drop_variable(struct graph *g, struct step s, struct diag_sink *sink)
{
    struct graph *out;
    if (s.at == 0 || s.at >= g->vars.n || var_is_used(g, s.at)) {
        return NULL;
    }
    memmove(&g->vars.at[s.at], &g->vars.at[s.at + 1], (g->vars.n - s.at - 1) * sizeof *g->vars.at);
    g->vars.n--;
    for (uint32_t t = 0; t < g->trees.n; t++) {
        for (uint32_t l = 0; l < g->trees.at[t].n_leaf; l++) {
            g->trees.at[t].leaf[l] -= g->trees.at[t].leaf[l] > s.at;
        }
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        for (uint32_t k = 0; k < g->phases.at[i].commits.n; k++) {
            g->phases.at[i].commits.at[k].var -= g->phases.at[i].commits.at[k].var > s.at;
        }
    }
    return rewrite_graph(g, sink, renumbered, &s, &out) ? out : NULL;
}

/* -- the search */

static propose_fn *const proposals[N_STEPS] = {drop_root, replace_by_input, replace_by_variable, lower_size,
                                               drop_variable};

/* Smaller is: fewer nodes, then a shorter text once every size is written in one digit or two. */
static bool is_smaller(const char *text, const char *than)
{
    uint32_t n = random_node_count(text), m = random_node_count(than);
    return n < m || (n == m && (strlen(text) < strlen(than) ||
                                (strlen(text) == strlen(than) && strcmp(text, than) < 0)));
}
static bool attempt(struct shrink *x, struct step s)
{
    struct arena *a = arena_new();
    struct diag_sink sink;
    struct graph *g;
    diag_init(&sink, a, NULL);
    bool ok = graph_parse(a, x->best, &sink, &g) == ST_OK;
    g = ok ? proposals[s.kind](g, s, &sink) : NULL;
    ok = g && sink.n_errors == 0 && graph_verify(g, &sink) == ST_OK && pass_dce(g, &sink, &g);
    char *text = ok ? random_text(g, a) : NULL;
    /* replacing adds a line for its variable, so fewer nodes or the same with fewer inputs is progress enough
     */
    ok = ok && is_smaller(text, x->best) && x->fails(x->ctx, text);
    if (ok) {
        x->best = arena_strndup(x->a, text, strlen(text));
    }
    arena_free(a);
    return ok;
}
static bool round_of(struct shrink *x)
{
    bool any = false;
    for (int i = 48; i-- > 0;) {
        any |= attempt(x, (struct step){DROP_ROOT, (uint32_t)i, 0});
    }
    for (uint32_t v = random_node_count(x->best); v > 0; v--) {
        bool done = false;
        for (uint32_t how = 0; how < 3 && !done && v <= random_node_count(x->best); how++) {
            done = attempt(x, (struct step){BY_INPUT, v, how});
        }
        for (uint32_t how = 0; how < 3 && !done && v <= random_node_count(x->best); how++) {
            done = attempt(x, (struct step){BY_VARIABLE, v, how});
        }
        any |= done;
    }
    for (uint32_t size = 40; size > 1; size--) {
        for (uint32_t how = 0; how < 4; how++) {
            if (attempt(x, (struct step){LOWER_SIZE, size, how})) {
                any = true;
                break;
            }
        }
    }
    for (uint32_t v = 64; v > 0; v--) {
        any |= attempt(x, (struct step){DROP_VARIABLE, v, 0});
    }
    return any;
}
const char *random_shrink(struct arena *a, const char *text, random_fails *fails, void *ctx)
{
    struct shrink x = {.a = a, .best = arena_strndup(a, text, strlen(text)), .fails = fails, .ctx = ctx};
    for (int rounds = 0; rounds < 12 && round_of(&x); rounds++) {
    }
    return x.best;
}
