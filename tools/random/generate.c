/* The generator: tables of the graph, then rows until there are enough, then roots. */
#include <stdlib.h>
#include "tools/random/internal.h"

static val (*maker_of(enum op op))(struct gen *)
{
    static const struct maker *const lists[] = {structured_makers, view_makers, source_makers};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        for (const struct maker *m = lists[l]; m->make; m++) {
            if (m->op == op) {
                return m->make;
            }
        }
    }
    return NULL;
}
bool random_reachable(enum op op)
{
    /* autodiff makes packs; the planner makes two rows of loops; what belongs to loading (orthonormal, pinv)
     * has no place in a phase */
    return op != OP_NONE && op != OP_pack && op != OP_loop_begin && op != OP_loop_put && op != OP_group &&
           !(op_table[op].flags & OPF_LOAD);
}

/* -- gradients */

bool random_passes_on(enum op op, uint32_t input)
{
    return vjp_exists(op, input) || op_table[op].flags & OPF_LOOP;
}
bool random_moves(const struct graph *g, val v, const bool *before)
{
    const struct node *n = graph_node(g, v);
    const val *in = node_inputs(g, n);
    if (!dtype_is_float((enum dtype)n->dtype) && n->op != OP_loop) {
        return false;
    }
    if (n->op == OP_read || n->op == OP_tree) {
        return n->op == OP_tree || g->vars.at[node_attrs(g, n)[0]].kind == VAR_PARAM;
    }
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (before[in[i]] && random_passes_on((enum op)n->op, i)) {
            return true;
        }
    }
    return false;
}
void random_differentiated(const struct graph *g, bool *op)
{
    bool *forward = arena_array(g->arena, bool, g->nodes.n), *back = arena_array(g->arena, bool, g->nodes.n);
    for (val v = 1; v < g->nodes.n; v++) {
        forward[v] = random_moves(g, v, forward);
    }
    for (uint32_t i = 0; i < g->phases.n; i++) {
        for (uint32_t k = 0; k < g->phases.at[i].minimizes.n; k++) {
            back[g->phases.at[i].minimizes.at[k].loss] = true;
        }
    }
    for (val v = g->nodes.n - 1; v > 0; v--) {
        const struct node *n = graph_node(g, v);
        op[n->op] |= back[v] && forward[v];
        for (uint32_t i = 0; i < n->n_in; i++) {
            back[node_inputs(g, n)[i]] |= back[v] && random_passes_on((enum op)n->op, i);
        }
    }
}

/* -- tables */

static void add_phase(struct gen *g, const char *name, enum phase_kind kind)
{
    vec_push(g->a, &g->g->phases, ((struct phase){.name = name, .kind = kind}));
    g->b.phase = (uint16_t)(g->g->phases.n - 1);
}
static void bind(struct gen *g, dim symbol, int64_t value)
{
    uint32_t atom, n = g->g->dims.atoms.n;
    int64_t *old = g->binding.atom;
    g->binding.atom = arena_array(g->a, int64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        g->binding.atom[i] = i < g->binding.n ? old[i] : -1;
    }
    g->binding.n = n;
    if (dim_is_symbol(&g->g->dims, symbol, &atom)) {
        g->binding.atom[atom] = value;
    }
}
static void add_configs(struct gen *g)
{
    static const char *const names[] = {"k0", "k1", "k2"};
    const enum dtype types[] = {g->o->number, DT_I32, DT_BOOL};
    static const double values[] = {0.5, 3, 1};
    for (int i = 0; i < 3; i++) {
        vec_push(
            g->a, &g->g->configs,
            ((struct config){.name = names[i], .kind = CONFIG_LIVE, .dtype = types[i], .value = values[i]}));
    }
    if (chance(g, 40)) {
        int64_t n = 1 + below(g, 6);
        dim h = dim_symbol(&g->g->dims, "H");
        vec_push(g->a, &g->g->configs,
                 ((struct config){.name = "H", .kind = CONFIG_DIM, .value = (double)n, .symbol = h}));
        bind(g, h, n);
        g->size[g->n_size++] = h;
    }
}
static void add_sizes(struct gen *g)
{
    static const int64_t often[] = {1, 2, 3, 4, 5, 6, 7}, seldom[] = {0, 11, 13, 31, 32, 33};
    g->size[g->n_size++] = dim_const(&g->g->dims, often[1 + below(g, 6)]);
    for (uint32_t n = 1 + below(g, 3); n > 0; n--) {
        int64_t d = chance(g, 14) ? seldom[below(g, 6)] : often[below(g, 7)];
        g->size[g->n_size++] = dim_const(&g->g->dims, d);
    }
}
/* A data set with floats and labels, and the phase that loads it. */
static void add_data(struct gen *g)
{
    dim rows = dim_symbol(&g->g->dims, "d.rows");
    bind(g, rows, MAX_ROWS);
    add_phase(g, "data.d", PHASE_DATA);
    vec_push(g->a, &g->g->datas,
             ((struct data){.name = "d", .path = "d.npz", .phase = g->b.phase, .rows = rows}));
    struct type x = {.dtype = g->o->number, .rank = 2, .dim = {rows, draw_size(g)}}, y = {DT_I32, 1, {rows}};
    vec_push(g->a, &g->g->vars, ((struct var){.kind = VAR_DATA, .key = "f.x[-2,2]", .type = x, .data = 1}));
    vec_push(g->a, &g->g->vars, ((struct var){.kind = VAR_DATA, .key = "i.y[0,4]", .type = y, .data = 1}));
    g->data_var[0] = g->g->vars.n - 2;
    g->data_var[1] = g->g->vars.n - 1;
}
static void bind_data(struct gen *g)
{
    struct phase *p = &g->g->phases.at[g->b.phase];
    int64_t batch = 2 + below(g, 5);
    p->data = 1;
    p->batch = dim_const(&g->g->dims, batch);
    p->b = dim_symbol(&g->g->dims, "p.b");
    p->shuffle = chance(g, 50);
    bind(g, p->b, batch);
    g->size[g->n_size++] = p->b;
}
static void add_tree(struct gen *g)
{
    static const double ranges[][2] = {{-2, 2}, {-2, 2}, {0.3, 3}, {-0.9, 0.9}};
    uint32_t n = 1 + below(g, MAX_LEAVES), index = g->g->trees.n;
    struct tree t = {
        .name = arena_printf(g->a, "t%u", index), .leaf = arena_array(g->a, uint32_t, n), .n_leaf = n};
    for (uint32_t i = 0; i < n; i++) {
        struct type type = fixed_type(g, draw_type(g, g->o->number, chance(g, 80)));
        const double *r = ranges[below(g, 4)];
        val v = fresh(g, &type, 'f', r[0], r[1]); /* the read is of a state for a moment */
        struct var *var = &g->g->vars.at[g->g->vars.n - 1];
        var->kind = VAR_PARAM;
        var->tree = index + 1;
        var->leaf = i;
        t.leaf[i] = g->g->vars.n - 1;
        (void)v;
    }
    vec_push(g->a, &g->g->trees, t);
}

/* -- rows */

static void give_up(struct gen *g, enum op op)
{
    fprintf(stderr, "random graphs: seed %llu: the maker of %s broke a rule\n", (unsigned long long)g->seed,
            op_table[op].name);
    diag_render(&g->sink, DIAG_SHORT, false, stderr);
    abort();
}
void add_row(struct gen *g)
{
    /* two of these in a row are what algebra looks for; and loops */
    static const enum op paired[] = {OP_neg,    OP_lnot,  OP_cast,  OP_reshape, OP_permute,
                                     OP_expand, OP_slice, OP_where, OP_loop};
    enum op op = (enum op)(1 + below(g, OP_COUNT - 1));
    op = chance(g, 15) ? paired[below(g, sizeof paired / sizeof *paired)] : op;
    if (g->o->smooth && !vjp_exists(op, 0) && !vjp_exists(op, 1) && chance(g, 70)) {
        return;
    }
    val (*make)(struct gen *) = maker_of(op);
    if (make) {
        make(g);
    } else if (op == OP_loop) {
        make_loop(g);
    } else if (op_table[op].kind == OPK_ELEM) {
        make_elem(g, op);
    } else if (op_table[op].kind == OPK_REDUCE) {
        make_reduce(g, op);
    }
    if (g->sink.n_errors) {
        give_up(g, op);
    }
}
static struct gen *generate(struct arena *a, uint64_t seed, const struct random_options *o, uint32_t nodes)
{
    struct gen *g = arena_new_of(a, struct gen);
    *g = (struct gen){
        .a = a, .g = graph_new(a), .o = o, .random = seed * 0x9e3779b97f4a7c15u + 1, .seed = seed};
    below(g, 2);
    diag_init(&g->sink, a, &g->g->sources);
    g->b = (struct build){.g = g->g, .sink = &g->sink};
    g->g->model = arena_printf(a, "seed%llu", (unsigned long long)seed);
    add_sizes(g);
    add_phase(g, "init", PHASE_INIT);
    add_configs(g);
    g->data = chance(g, 25);
    if (g->data) {
        add_data(g);
    }
    add_phase(g, "p", PHASE_USER);
    if (g->data) {
        bind_data(g);
    }
    for (uint32_t n = 1 + (!o->smooth && chance(g, 25)); n > 0; n--) {
        add_tree(g);
    }
    flat_values(g);
    if (g->data && chance(g, 60)) {
        maker_of(OP_rows)(g);
    }
    while (o->loops && g->g->loops.n == 1) {
        make_loop(g);
    }
    for (int tries = 0; g->g->nodes.n <= nodes && tries < 200; tries++) {
        add_row(g);
    }
    make_roots(g);
    if (g->sink.n_errors || graph_verify(g->g, &g->sink) != ST_OK) {
        give_up(g, OP_grad);
    }
    return g;
}
struct graph *random_graph(struct arena *a, uint64_t seed, const struct random_options *o, bool *used)
{
    /* before roots; fewer when the whole is too much */
    uint32_t nodes = o->smooth ? 30 : 8 + (uint32_t)(seed % 5) * 6;
    struct gen *g;
    do {
        g = generate(a, seed, o, nodes);
        nodes = nodes * 3 / 4;
    } while (g->g->nodes.n - 1 > RANDOM_NODES * (1u + o->loops) && nodes > 0);
    for (val v = 1; used && v < g->g->nodes.n; v++) {
        used[graph_node(g->g, v)->op] = true;
    }
    return g->g;
}
