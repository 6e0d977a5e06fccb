/* Random graphs of views, elementwise ops, reductions, products and commits, planned, checked, and run by a
 * tiny interpreter of plans against an interpreter of graphs. Both use the same arithmetic on dense arrays,
 * so results must be bit-equal; what differs is everything the planner decides: strides, copies, order,
 * shared bytes, slots, in-place commits.
 */
#include "make.h"

enum { SEEDS = 400, MAX_NODES = 60, TICKS = 3 };

static uint64_t state;
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

struct dense {
    int rank;
    int64_t dim[LIMIT_RANK];
    float *at;
};

static int64_t count(const struct dense *x)
{
    int64_t n = 1;
    for (int i = 0; i < x->rank; i++) {
        n *= x->dim[i];
    }
    return n;
}

static void unravel(const struct dense *x, int64_t at, int64_t *index)
{
    for (int i = x->rank - 1; i >= 0; i--) {
        index[i] = at % x->dim[i];
        at /= x->dim[i];
    }
}

static int64_t ravel(const struct dense *x, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < x->rank; i++) {
        at = at * x->dim[i] + index[i];
    }
    return at;
}

/* -- arithmetic, shared */

static void compute(enum op op, const struct dense *in, struct dense *out, const int64_t *attr,
                    uint32_t n_attr)
{
    int64_t n = count(out), index[LIMIT_RANK] = {0};
    if (op == OP_sum) {
        memset(out->at, 0, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < count(in); i++) {
            int64_t to[LIMIT_RANK] = {0};
            int r = 0;
            unravel(in, i, index);
            for (int k = 0; k < in->rank; k++) {
                bool gone = false;
                for (uint32_t j = 0; j < n_attr; j++) {
                    gone |= attr[j] == k;
                }
                if (!gone) {
                    to[r++] = index[k];
                }
            }
            out->at[ravel(out, to)] += in->at[i];
        }
        return;
    }
    if (op == OP_pad) {
        memset(out->at, 0, (size_t)n * sizeof(float));
        for (int64_t i = 0; i < count(in); i++) {
            unravel(in, i, index);
            for (int k = 0; k < in->rank; k++) {
                index[k] = index[k] * attr[k] + attr[in->rank + k];
            }
            out->at[ravel(out, index)] = in->at[i];
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        float x = op == OP_matmul ? 0 : in[0].at[i];
        if (op == OP_matmul) {
            int64_t m = out->dim[out->rank - 2], c = out->dim[out->rank - 1], k = in[0].dim[in[0].rank - 1];
            for (int64_t j = 0; j < k; j++) {
                x += in[0].at[i / c * k + j] * in[1].at[(i / (m * c) * k + j) * c + i % c];
            }
        }
        out->at[i] = op == OP_add   ? x + in[1].at[i]
                     : op == OP_sub ? x - in[1].at[i]
                     : op == OP_max ? (x > in[1].at[i] ? x : in[1].at[i])
                     : op == OP_neg ? -x
                                    : x;
    }
}

/* -- the plan's side */

static struct dense load(struct arena *a, const char *memory, const struct operand *o)
{
    struct dense x = {.rank = o->rank};
    memcpy(x.dim, o->dim, sizeof x.dim);
    x.at = arena_array(a, float, (size_t)count(&x));
    for (int64_t i = 0; i < count(&x); i++) {
        int64_t index[LIMIT_RANK], at = 0;
        unravel(&x, i, index);
        for (int k = 0; k < o->rank; k++) {
            at += index[k] * o->stride[k];
        }
        memcpy(&x.at[i], memory + (int64_t)o->offset + 4 * at, 4);
    }
    return x;
}

static void run_plan(struct make *m, const struct plan *p, const struct plan_variant *v, char *memory)
{
    memset(memory + p->planned_offset, 0xff, p->bytes - p->planned_offset);
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct plan_op *op = &v->op[i];
        struct dense in[2], out = {.rank = op->k.out->rank};
        for (uint32_t k = 0; k < op->k.n_in; k++) {
            in[k] = load(m->a, memory, &op->k.in[k]);
        }
        memcpy(out.dim, op->k.out->dim, sizeof out.dim);
        out.at = arena_array(m->a, float, (size_t)count(&out));
        compute((enum op)op->op, in, &out, op->k.attr, op->k.n_attr);
        memcpy(memory + op->k.out->offset, out.at, (size_t)count(&out) * 4);
        for (uint32_t d = v->die0[i]; d < v->die0[i + 1]; d++) {
            memset(memory + p->buffer[v->dying[d]].offset, 0xff, p->buffer[v->dying[d]].bytes);
        }
    }
}

/* -- the graph's side */

struct oracle {
    struct make *m;
    const struct plan *p;
    struct dense *value; /* by node */
    char *memory;        /* persistent values only, where the plan put them */
};

static struct dense view(struct oracle *o, uint32_t node)
{
    const struct graph *g = o->m->g;
    const struct node *n = graph_node(g, node);
    const struct dense *x = &o->value[node_inputs(g, n)[0]];
    struct dense y = o->value[node];
    for (int64_t i = 0; i < count(&y); i++) {
        int64_t to[LIMIT_RANK] = {0}, from[LIMIT_RANK] = {0}, start;
        unravel(&y, i, to);
        for (int k = 0; k < n->rank; k++) {
            if (n->op == OP_permute) {
                from[node_attrs(g, n)[k]] = to[k];
            } else if (n->op == OP_slice) {
                dim_is_const(&g->dims, node_dims(g, n)[k], &start);
                from[k] = start + to[k] * node_attrs(g, n)[k];
            } else if (n->op == OP_expand) {
                from[k] = x->dim[k] == 1 ? 0 : to[k];
            }
        }
        int64_t at = n->op == OP_reshape ? i : ravel(x, from);
        if (n->op == OP_leaf) {
            at = (int64_t)o->p->leaf_start[0][node_attrs(g, n)[0]] + i;
        }
        y.at[i] = x->at[at];
    }
    return y;
}

static void pack(struct oracle *o, uint32_t node)
{
    const struct graph *g = o->m->g;
    const struct node *n = graph_node(g, node);
    memset(o->value[node].at, 0, (size_t)count(&o->value[node]) * 4);
    for (uint32_t i = 0; i < n->n_in; i++) {
        const struct dense *x = &o->value[node_inputs(g, n)[i]];
        memcpy(o->value[node].at + o->p->leaf_start[0][i], x->at, (size_t)count(x) * 4);
    }
}

static void evaluate(struct oracle *o, uint32_t node)
{
    const struct graph *g = o->m->g;
    const struct node *n = graph_node(g, node);
    struct dense *y = &o->value[node], in[2];
    int64_t attr[2 * LIMIT_RANK];
    y->rank = n->rank;
    for (int i = 0; i < n->rank; i++) {
        ck_assert(dim_eval(&g->dims, &o->p->binding, node_shape(g, n)[i], &y->dim[i]));
    }
    y->at = arena_array(o->m->a, float, (size_t)count(y));
    if (op_table[n->op].kind == OPK_VIEW) {
        *y = view(o, node);
    } else if (n->op == OP_read) {
        memcpy(y->at, o->memory + o->p->var[node_attrs(g, n)[0]].offset, (size_t)count(y) * 4);
    } else if (n->op == OP_tree) {
        memcpy(y->at, o->memory + o->p->tree_offset[0], (size_t)count(y) * 4);
    } else if (n->op == OP_const) {
        y->at[0] = (float)bits_f64(node_attrs(g, n)[0]);
    } else if (n->op == OP_pack) {
        pack(o, node);
    } else {
        for (uint32_t i = 0; i < n->n_in; i++) {
            in[i] = o->value[node_inputs(g, n)[i]];
        }
        for (uint32_t i = 0; i < n->n_attr; i++) {
            attr[i] = node_attrs(g, n)[i];
        }
        for (uint32_t i = 0; i < n->n_dim; i++) {
            dim_is_const(&g->dims, node_dims(g, n)[i], &attr[n->n_attr + i]);
        }
        compute((enum op)n->op, in, y, attr, n->n_attr);
    }
}

static void run_graph(struct oracle *o)
{
    const struct graph *g = o->m->g;
    const struct phase *f = &g->phases.at[o->m->phase];
    for (uint32_t n = 1; n < g->nodes.n; n++) {
        evaluate(o, n);
    }
    for (uint32_t i = 0; i < f->commits.n; i++) {
        const struct commit *c = &f->commits.at[i];
        uint64_t to = c->tree ? o->p->tree_offset[c->tree - 1] : o->p->var[c->var].offset;
        memcpy(o->memory + to, o->value[c->value].at, (size_t)count(&o->value[c->value]) * 4);
    }
}

/* -- random graphs */

static int64_t size_of(struct make *m, val v, int axis)
{
    int64_t n = 0;
    if (!dim_is_const(&m->g->dims, node_type(m->g, v).dim[axis], &n)) {
        n = 0;
    }
    return n;
}

/* The shape with one axis split, two axes joined, or a unit axis put in. */
static val random_reshape(struct make *m, val x)
{
    struct type t = node_type(m->g, x), r = t;
    int at = t.rank ? (int)draw((uint32_t)t.rank) : 0;
    if (t.rank >= 2 && at + 1 < t.rank && draw(2)) {
        r.rank--;
        r.dim[at] = dim_mul(&m->g->dims, t.dim[at], t.dim[at + 1]);
        memcpy(&r.dim[at + 1], &t.dim[at + 2], (size_t)(t.rank - at - 2) * sizeof(dim));
    } else if (t.rank < 5) {
        int64_t n = t.rank ? size_of(m, x, at) : 1, part = n % 2 == 0 && n > 0   ? 2
                                                           : n % 3 == 0 && n > 0 ? 3
                                                                                 : 1;
        r.rank++;
        memmove(&r.dim[at + 1], &t.dim[at], (size_t)(t.rank - at) * sizeof(dim));
        r.dim[at] = make_dim(m, part);
        if (t.rank) {
            r.dim[at + 1] = make_dim(m, n / part);
        }
    }
    return NODE(m, .op = OP_reshape, IN(x), .type = r);
}

static val random_view(struct make *m, val x)
{
    struct type t = node_type(m->g, x);
    int64_t a[LIMIT_RANK];
    dim start[LIMIT_RANK];
    uint32_t kind = draw(4);
    if (kind == 0) {
        return random_reshape(m, x);
    }
    if (kind == 1) {
        for (int i = 0; i < t.rank; i++) {
            int k = (int)draw((uint32_t)i + 1);
            a[i] = a[k];
            a[k] = i;
        }
        return NODE(m, .op = OP_permute, IN(x), .attr = a, .n_attr = (uint32_t)t.rank);
    }
    if (kind == 2) {
        for (int i = 0; i < t.rank; i++) {
            int64_t n = size_of(m, x, i), from = draw((uint32_t)n);
            a[i] = draw(3) ? 1 + (int64_t)draw(2) : -1;
            int64_t most = a[i] > 0 ? (n - 1 - from) / a[i] + 1 : from + 1;
            start[i] = make_dim(m, from);
            t.dim[i] = make_dim(m, 1 + draw((uint32_t)most));
        }
        return NODE(m, .op = OP_slice, IN(x), .attr = a, .n_attr = (uint32_t)t.rank, .dims = start,
                    .n_dim = (uint32_t)t.rank, .type = t);
    }
    for (int i = 0; i < t.rank; i++) {
        if (size_of(m, x, i) == 1) {
            t.dim[i] = make_dim(m, 1 + draw(4));
        }
    }
    return NODE(m, .op = OP_expand, IN(x), .type = t);
}

/* Some earlier value of the same type; x itself when there is none. */
static val partner(struct make *m, val x, const val *list, uint32_t n)
{
    struct type t = node_type(m->g, x);
    for (int tries = 0; tries < 12; tries++) {
        val y = list[draw(n)];
        struct type u = node_type(m->g, y);
        if (type_equal(&t, &u)) {
            return y;
        }
    }
    return x;
}

static val random_matmul(struct make *m, val x)
{
    struct type t = node_type(m->g, x);
    int64_t perm[LIMIT_RANK];
    if (t.rank < 2) {
        return x;
    }
    for (int i = 0; i < t.rank; i++) {
        perm[i] = i < t.rank - 2 ? i : 2 * t.rank - 3 - i;
    }
    val y = NODE(m, .op = OP_permute, IN(x), .attr = perm, .n_attr = (uint32_t)t.rank);
    return draw(2) ? NODE(m, .op = OP_matmul, IN(x, y)) : NODE(m, .op = OP_matmul, IN(y, x));
}

static val random_pad(struct make *m, val x)
{
    struct type t = node_type(m->g, x);
    int64_t step[LIMIT_RANK];
    dim start[LIMIT_RANK];
    for (int i = 0; i < t.rank; i++) {
        int64_t n = size_of(m, x, i), from = draw(2);
        step[i] = 1 + draw(2);
        start[i] = make_dim(m, from);
        t.dim[i] = make_dim(m, from + (n - 1) * step[i] + 1 + draw(2));
    }
    return NODE(m, .op = OP_pad, IN(x), .attr = step, .n_attr = (uint32_t)t.rank, .dims = start,
                .n_dim = (uint32_t)t.rank, .type = t);
}

static val random_node(struct make *m, const val *list, uint32_t n)
{
    static const enum op pairs[] = {OP_add, OP_sub, OP_max};
    val x = list[draw(3) && n > 6 ? n - 1 - draw(6) : draw(n)];
    int64_t axis = 0, elements = 1;
    for (int i = 0; i < node_type(m->g, x).rank; i++) {
        elements *= size_of(m, x, i);
    }
    if (elements > 4000) {
        return x;
    }
    switch (draw(9)) {
    case 0:
        return NODE(m, .op = OP_neg, IN(x));
    case 1:
        if (node_type(m->g, x).rank) {
            axis = draw((uint32_t)node_type(m->g, x).rank);
            return NODE(m, .op = OP_sum, IN(x), ATTR(axis));
        }
        return x;
    case 2:
        return random_matmul(m, x);
    case 3:
        return random_pad(m, x);
    case 4:
    case 5:
        return NODE(m, .op = pairs[draw(3)], IN(x, partner(m, x, list, n)));
    default:
        return random_view(m, x);
    }
}

/* A value of the type, made from x by slicing, padding or repeating, so that commits and gradients always
 * find one. */
static val fit_to(struct make *m, val x, const struct type *want)
{
    int64_t step[LIMIT_RANK];
    dim start[LIMIT_RANK];
    for (int i = 0; i < LIMIT_RANK; i++) {
        step[i] = 1;
        start[i] = make_dim(m, 0);
    }
    struct type one = {.dtype = DT_F32};
    for (int tries = 0; tries < 2; tries++) {
        struct type t = node_type(m->g, x);
        if (type_equal(&t, want)) {
            return x;
        }
        uint32_t rank = (uint32_t)t.rank;
        for (int i = 0; i < t.rank; i++) {
            t.dim[i] = make_dim(m, 1);
        }
        x = rank ? NODE(m, .op = OP_slice, IN(x), .attr = step, .n_attr = rank, .dims = start, .n_dim = rank,
                        .type = t)
                 : x;
        one.rank = want->rank;
        for (int i = 0; i < want->rank; i++) {
            one.dim[i] = make_dim(m, 1);
        }
        x = NODE(m, .op = OP_reshape, IN(x), .type = one);
        x = NODE(m, .op = OP_expand, IN(x), .type = *want);
    }
    return x;
}

static val pick_of_type(struct make *m, const val *list, uint32_t n, const struct type *t)
{
    for (int tries = 0; tries < 30; tries++) {
        val v = list[n - 1 - draw(n)];
        struct type u = node_type(m->g, v);
        if (type_equal(&u, t)) {
            return v;
        }
    }
    return fit_to(m, list[draw(n)], t);
}

static void random_roots(struct make *m, const val *list, uint32_t n)
{
    struct graph *g = m->g;
    struct phase *f = &g->phases.at[m->phase];
    for (uint32_t v = 1; v < g->vars.n; v++) {
        if (g->vars.at[v].kind == VAR_STATE && draw(5)) {
            make_commit(m, v, pick_of_type(m, list, n, &g->vars.at[v].type));
        }
    }
    val leaf[2];
    for (int i = 0; i < 2; i++) {
        leaf[i] = pick_of_type(m, list, n, &g->vars.at[g->trees.at[0].leaf[i]].type);
    }
    val grad = NODE(m, .op = OP_pack, IN(leaf[0], leaf[1]), ATTR(0));
    val p = NODE(m, .op = OP_tree, ATTR(0));
    val next = NODE(m, .op = OP_sub, IN(p, grad));
    if (draw(3)) {
        vec_push(m->a, &f->commits, ((struct commit){.tree = 1, .value = next}));
    } else {
        make_output(m, next);
    }
    struct type scalar = {.dtype = DT_F32};
    val loss = pick_of_type(m, list, n, &scalar);
    vec_push(m->a, &f->metrics, ((struct metric){.name = "loss", .value = loss}));
    if (draw(2)) {
        f->training = true;
        vec_push(m->a, &f->minimizes, ((struct minimize){.name = "loss", .loss = loss, .grad = grad}));
    }
    make_output(m, list[n - 1]);
    make_output(m, list[draw(n)]);
}

static struct make random_graph(uint64_t seed)
{
    struct make m = make_graph();
    val list[MAX_NODES + 16];
    uint32_t n = 0;
    state = seed * 1000003 + 17;
    make_phase(&m, "train", PHASE_USER);
    struct type leaf[2] = {make_type(&m, DT_F32, 2, (int64_t[]){3, 4}),
                           make_type(&m, DT_F32, 1, (int64_t[]){5})};
    make_tree(&m, "net", leaf, 2);
    for (int i = 0; i < 4; i++) {
        int64_t d[3] = {1 + draw(4), 1 + draw(6), 1 + draw(3)};
        make_state(&m, arena_printf(m.a, "s%d", i), make_type(&m, DT_F32, i ? 1 + (int)draw(3) : 0, d));
    }
    for (uint32_t v = 1; v < m.g->vars.n; v++) {
        list[n++] = make_read(&m, v);
    }
    val tree = NODE(&m, .op = OP_tree, ATTR(0));
    list[n++] = NODE(&m, .op = OP_leaf, IN(tree), ATTR(0));
    list[n++] = NODE(&m, .op = OP_const, ATTR(f64_bits(2)), .type = {.dtype = DT_F32});
    uint32_t end = 12 + draw(MAX_NODES - 12);
    while (n < end) {
        list[n] = random_node(&m, list, n);
        n++;
    }
    random_roots(&m, list, n);
    return m;
}

static void fill_variables(const struct make *m, const struct plan *p, char *memory)
{
    for (uint32_t v = 1; v < m->g->vars.n; v++) {
        for (int64_t i = 0; i < operand_count(&p->var[v].view); i++) {
            float x = (float)(int32_t)draw(9) - 4;
            memcpy(memory + p->var[v].offset + 4 * (size_t)i, &x, 4);
        }
    }
}

static void compare(const struct oracle *o, const struct plan_variant *v, const char *memory, uint64_t seed)
{
    const struct phase *f = &o->m->g->phases.at[o->m->phase];
    for (uint32_t i = 1; i < o->m->g->vars.n; i++) {
        const struct plan_var *x = &o->p->var[i];
        if (memcmp(memory + x->offset, o->memory + x->offset, x->bytes)) {
            ck_abort_msg("seed %llu: variable %s differs", (unsigned long long)seed, o->m->g->vars.at[i].key);
        }
    }
    for (uint32_t i = 0; i < f->outputs.n; i++) {
        const struct dense *want = &o->value[f->outputs.at[i].value];
        if (memcmp(memory + v->output[i].offset, want->at, (size_t)count(want) * 4)) {
            ck_abort_msg("seed %llu: output %u differs", (unsigned long long)seed, i);
        }
    }
    if (memcmp(memory + v->metric[0].value.offset, o->value[f->metrics.at[0].value].at, 4)) {
        ck_abort_msg("seed %llu: the metric differs", (unsigned long long)seed);
    }
}

static uint32_t total_copies, total_in_place, total_ops;

static void one_seed(uint64_t seed, bool no_reuse)
{
    struct make m = random_graph(seed);
    struct plan *p = make_plan(&m, &(struct plan_options){.no_reuse = no_reuse});
    const struct plan_variant *v = plan_find(p, m.phase, false);
    struct oracle o = {.m = &m, .p = p};
    char *memory = mem_alloc(p->bytes);
    o.memory = mem_alloc(p->bytes);
    o.value = arena_array(m.a, struct dense, m.g->nodes.n);
    plan_fill_constants(p, memory);
    fill_variables(&m, p, memory);
    memcpy(o.memory, memory, p->persistent);
    for (int t = 0; t < TICKS; t++) {
        run_plan(&m, p, v, memory);
        run_graph(&o);
        compare(&o, v, memory, seed);
    }
    total_copies += p->n_copy;
    total_ops += v->n_op;
    for (uint32_t i = 0; i < p->n_buffer; i++) {
        total_in_place += p->buffer[i].in_place;
    }
    mem_free(memory, p->bytes);
    mem_free(o.memory, p->bytes);
    make_free_last();
}

START_TEST(plans_mean_what_graphs_mean)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        one_seed(seed, false);
    }
    printf("fuzz: %u launches, %u values in place, %u commits through a copy\n", total_ops, total_in_place,
           total_copies);
    ck_assert_uint_gt(total_in_place, 0);
    ck_assert_uint_gt(total_copies, 0);
}
END_TEST

START_TEST(without_reuse_too)
{
    total_in_place = 0;
    for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
        one_seed(seed, true);
    }
    ck_assert_uint_eq(total_in_place, 0);
}
END_TEST

MAIN("fuzz", plans_mean_what_graphs_mean, without_reuse_too)
