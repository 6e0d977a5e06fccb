/* The graph's node table: hash-consing, scopes, look-up by name, texts of types. Rules are in shape.c and
 * shape/. */
#include "runtime/graph/shape.h"

struct graph *graph_new(struct arena *a)
{
    struct graph *g = arena_new_of(a, struct graph);
    g->arena = a;
    g->names = interner_new(a);
    sources_init(&g->sources, a);
    dims_init(&g->dims, a);
    g->model = "";
    vec_push(a, &g->nodes, (struct node){0});
    vec_push(a, &g->scopes, intern(g->names, ""));
    vec_push(a, &g->vars, (struct var){0});
    vec_push(a, &g->loops, (struct loop){0});
    return g;
}

/* -- types */

struct type node_type(const struct graph *g, val v)
{
    const struct node *n = graph_node(g, v);
    struct type t = {.dtype = (enum dtype)n->dtype, .rank = n->rank};
    if (n->rank) {
        memcpy(t.dim, node_shape(g, n), n->rank * sizeof *t.dim);
    }
    return t;
}

bool type_equal(const struct type *a, const struct type *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           (a->rank == 0 || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim));
}

bool type_valid(const struct graph *g, const struct type *t)
{
    bool ok = t->dtype > DT_NONE && t->dtype < DT_COUNT && t->rank >= 0 && t->rank <= LIMIT_RANK;
    for (int i = 0; ok && i < t->rank; i++) {
        ok = t->dim[i] > 0 && t->dim[i] < g->dims.list.n;
    }
    return ok;
}

bool type_is_flat(const struct graph *g, const struct type *t, uint32_t tree)
{
    uint32_t of;
    bool all = g->replicas && t->rank == 2 && t->dim[0] == g->n_replicas;
    return (t->rank == 1 || all) && dim_is_tree(&g->dims, t->dim[all], &of) && of == tree;
}

struct type type_stacked(struct type t, dim count)
{
    memmove(t.dim + 1, t.dim, (size_t)t.rank * sizeof *t.dim);
    t.dim[0] = count;
    t.rank++;
    return t;
}

bool type_is_single(const struct graph *g, const struct type *t)
{
    return t->rank == 0 || (g->replicas && t->rank == 1 && t->dim[0] == g->n_replicas);
}

const char *type_text(const struct graph *g, const struct type *t)
{
    struct text out = {.arena = g->arena};
    text_printf(&out, "%s[", dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++) {
        text_printf(&out, "%s", i ? ", " : "");
        dim_print(&g->dims, t->dim[i], &out);
    }
    text_printf(&out, "]");
    return out.at;
}

/* -- hash-consing */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u; /* the second round spreads doubles, whose low bits are mostly zero */
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static uint64_t hash_node(uint64_t head, const val *in, uint32_t n_in, const int64_t *attr, uint32_t n_attr,
                          const dim *dims, uint32_t n_dim, const dim *shape, int rank)
{
    uint64_t h = mix(0, head);
    for (uint32_t i = 0; i < n_in; i++) {
        h = mix(h, in[i]);
    }
    for (uint32_t i = 0; i < n_attr; i++) {
        h = mix(h, (uint64_t)attr[i]);
    }
    for (uint32_t i = 0; i < n_dim; i++) {
        h = mix(h, dims[i]);
    }
    for (int i = 0; i < rank; i++) {
        h = mix(h, shape[i]);
    }
    return h;
}

static uint64_t hash_spec(const struct node_spec *s, const struct type *t)
{
    uint64_t head =
        (uint64_t)s->op | (uint64_t)s->phase << 16 | (uint64_t)t->dtype << 32 | (uint64_t)t->rank << 40;
    return hash_node(head, s->in, s->n_in, s->attr, s->n_attr, s->dims, s->n_dim, t->dim, t->rank);
}

static uint64_t hash_existing(const struct graph *g, const struct node *n)
{
    uint64_t head = n->op | (uint64_t)n->phase << 16 | (uint64_t)n->dtype << 32 | (uint64_t)n->rank << 40;
    return hash_node(head, node_inputs(g, n), n->n_in, node_attrs(g, n), n->n_attr, node_dims(g, n), n->n_dim,
                     node_shape(g, n), n->rank);
}

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || !memcmp(a, b, n);
}

static bool same_node(const struct graph *g, const struct node *n, const struct node_spec *s,
                      const struct type *t)
{
    return n->op == s->op && n->phase == s->phase && n->dtype == t->dtype && n->rank == t->rank &&
           n->n_in == s->n_in && n->n_attr == s->n_attr && n->n_dim == s->n_dim &&
           same_bytes(node_inputs(g, n), s->in, s->n_in * sizeof *s->in) &&
           same_bytes(node_attrs(g, n), s->attr, s->n_attr * sizeof *s->attr) &&
           same_bytes(node_dims(g, n), s->dims, s->n_dim * sizeof *s->dims) &&
           same_bytes(node_shape(g, n), t->dim, (size_t)t->rank * sizeof *t->dim);
}

static val cons_find(const struct graph *g, const struct node_spec *s, const struct type *t)
{
    if (g->n_cons == 0) {
        return 0;
    }
    uint32_t i = (uint32_t)hash_spec(s, t) & (g->n_cons - 1);
    for (; g->cons[i]; i = (i + 1) & (g->n_cons - 1)) {
        if (same_node(g, &g->nodes.at[g->cons[i]], s, t)) {
            return g->cons[i];
        }
    }
    return 0;
}

static void cons_insert(struct graph *g, val v)
{
    uint32_t i = (uint32_t)hash_existing(g, &g->nodes.at[v]) & (g->n_cons - 1);
    while (g->cons[i]) {
        i = (i + 1) & (g->n_cons - 1);
    }
    g->cons[i] = v;
}

void graph_rehash(struct graph *g)
{
    uint32_t want = 256;
    while (want < 2 * g->nodes.n) {
        want *= 2;
    }
    if (want != g->n_cons) {
        g->cons = arena_array(g->arena, uint32_t, want);
        g->n_cons = want;
    }
    memset(g->cons, 0, want * sizeof *g->cons);
    for (val v = 1; v < g->nodes.n; v++) {
        cons_insert(g, v);
    }
}

val graph_append(struct graph *g, const struct node_spec *s, const struct type *t)
{
    struct node n = {.op = (uint16_t)s->op,
                     .dtype = (uint8_t)t->dtype,
                     .rank = (uint8_t)t->rank,
                     .phase = s->phase,
                     .n_attr = (uint16_t)s->n_attr,
                     .n_dim = (uint16_t)s->n_dim,
                     .n_in = s->n_in,
                     .in = g->inputs.n,
                     .attr = g->attrs.n,
                     .scope = s->scope,
                     .span = s->span};
    if (!loop_of(g, s, &n.loop)) {
        n.loop = 0; /* only of loaded graphs, which are verified */
    }
    for (uint32_t i = 0; i < s->n_in; i++) {
        vec_push(g->arena, &g->inputs, s->in[i]);
    }
    for (uint32_t i = 0; i < s->n_attr; i++) {
        vec_push(g->arena, &g->attrs, s->attr[i]);
    }
    n.dims = g->dim_pool.n;
    for (uint32_t i = 0; i < s->n_dim; i++) {
        vec_push(g->arena, &g->dim_pool, s->dims[i]);
    }
    n.shape = g->dim_pool.n;
    for (int i = 0; i < t->rank; i++) {
        vec_push(g->arena, &g->dim_pool, t->dim[i]);
    }
    vec_push(g->arena, &g->nodes, n);
    if (g->n_cons < 2 * g->nodes.n) {
        graph_rehash(g);
    } else {
        cons_insert(g, g->nodes.n - 1);
    }
    return g->nodes.n - 1;
}

bool shape_spec_ok(struct shape_ctx *c)
{
    const struct node_spec *s = c->s;
    if (s->op <= OP_NONE || s->op >= OP_COUNT) {
        return shape_fail(c, DIAG_I0001, "node with unknown operator %d", (int)s->op);
    }
    const struct op_info *op = &op_table[s->op];
    if ((int64_t)s->n_in < op->n_min || (op->n_max >= 0 && (int64_t)s->n_in > op->n_max)) {
        return shape_fail(c, DIAG_I0001, "%s with %u inputs", op->name, (unsigned)s->n_in);
    }
    uint32_t max_attr = s->op == OP_ranges ? UINT16_MAX : LIMIT_ATTRS;
    if (s->n_attr > max_attr || s->n_dim > LIMIT_ATTRS) {
        return shape_fail(c, DIAG_I0001, "%s with too many attributes", op->name);
    }
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i] == 0 || s->in[i] >= c->g->nodes.n || c->g->nodes.at[s->in[i]].phase != s->phase) {
            return shape_fail(c, DIAG_I0001, "%s: input %%%u is no node of the phase", op->name,
                              (unsigned)s->in[i]);
        }
    }
    uint32_t loop;
    if (!loop_of(c->g, s, &loop)) {
        return shape_fail(c, DIAG_I0001, "%s: a value of a loop is used outside of it", op->name);
    }
    for (uint32_t i = 0; i < s->n_dim; i++) {
        if (s->dims[i] == 0 || s->dims[i] >= c->g->dims.list.n) {
            return shape_fail(c, DIAG_E2009, "%s: a size is too large to compute with", shape_name(c));
        }
    }
    return true;
}

/* Inputs that belong to a loop which is being differentiated, as values of the loop that runs backwards. */
static const val *imported(struct graph *g, const struct node_spec *s)
{
    val *in = NULL;
    for (uint32_t i = 0; i < s->n_in; i++) {
        struct graph_import *m = g->import;
        while (m && m->from != g->nodes.at[s->in[i]].loop) {
            m = m->outer;
        }
        if (m && !in) {
            in = arena_array(g->arena, val, s->n_in);
            memcpy(in, s->in, s->n_in * sizeof *in);
        }
        if (m) {
            in[i] = m->bring(m, s->in[i]);
        }
    }
    return in ? in : s->in;
}

val graph_add(struct graph *g, const struct node_spec *s, struct diag_sink *sink)
{
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i] == 0) {
            return 0; /* poison: reported where it began */
        }
    }
    struct node_spec here = *s;
    if (g->import) {
        here.in = imported(g, s);
        for (uint32_t i = 0; i < s->n_in; i++) {
            if (here.in[i] == 0) {
                return 0;
            }
        }
        s = &here;
    }
    struct shape_ctx c = {.g = g, .s = s, .sink = sink};
    if (!shape_spec_ok(&c)) {
        return 0;
    }
    for (uint32_t i = 0; i < s->n_in && i < 4; i++) {
        c.in[i] = node_type(g, s->in[i]);
    }
    if (!shape_check(&c)) {
        return 0;
    }
    val found = cons_find(g, s, &c.out);
    if (found) {
        return found;
    }
    if (g->nodes.n > LIMIT_NODES) {
        diag_emit(sink, DIAG_E0110, s->span, "the model expands to more than %d operations", LIMIT_NODES);
        return 0;
    }
    return graph_append(g, s, &c.out);
}

uint32_t graph_scope(struct graph *g, const char *path)
{
    const char *name = intern(g->names, path);
    for (uint32_t i = g->scopes.n; i-- > 0;) {
        if (g->scopes.at[i] == name) {
            return i;
        }
    }
    vec_push(g->arena, &g->scopes, name);
    return g->scopes.n - 1;
}

uint32_t graph_find_var(const struct graph *g, const char *key)
{
    for (uint32_t i = 1; i < g->vars.n; i++) {
        if (!strcmp(g->vars.at[i].key, key)) {
            return i;
        }
    }
    return 0;
}

int graph_find_phase(const struct graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->phases.n; i++) {
        if (!strcmp(g->phases.at[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}
