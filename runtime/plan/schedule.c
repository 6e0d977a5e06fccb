/* The linear schedule of a variant: reachable nodes in id order inside four parts.
 *
 *   forward    what losses are made of, and everything that neither leads to a gradient nor follows from one
 *   loss       the trailing forward launches that stand outside of every instance (empty scope)
 *   backward   what gradients are made of, beyond the forward part
 *   optimizer  the rest
 * Forward values that only later parts use move to the first part that uses them, so that they are not alive
 * across the whole backward pass. A node never stands in an earlier part than its inputs. Last of all come
 * *closing* nodes: only commits use them and the variable they replace is read in this phase; so all readers
 * of the old value precede, and the new one can be written in place.
 *
 * A loop stands as a whole where its end stands: its beginning, its body in id order, its end.
 */
#include "runtime/plan/internal.h"

struct marks {
    const struct graph *g;
    const struct phase *f;
    uint16_t phase;
    uint8_t *reach, *loss, *grad,
        *after; /* by node: reachable; ancestors of losses, of gradients; depends on a gradient */
    uint8_t *part, *first_use; /* first_use: earliest part of a user */
    uint8_t *closing, *used;   /* used: by a node or a root other than a commit */
    uint32_t *end;             /* by loop: the node that ends the outermost loop around it */
};

static void mark(uint8_t *m, val v)
{
    m[v] = 1;
}

static void mark_roots(struct marks *m)
{
    const struct phase *f = m->f;
    for (uint32_t i = 0; i < f->commits.n; i++) {
        mark(m->reach, commit_node(m->g, &f->commits.at[i]));
    }
    for (uint32_t i = 0; i < f->metrics.n; i++) {
        mark(m->reach, f->metrics.at[i].value);
        mark(m->used, f->metrics.at[i].value);
    }
    for (uint32_t i = 0; i < f->outputs.n; i++) {
        mark(m->reach, f->outputs.at[i].value);
        mark(m->used, f->outputs.at[i].value);
    }
    for (uint32_t i = 0; i < f->asserts.n; i++) {
        mark(m->reach, f->asserts.at[i].value);
        mark(m->used, f->asserts.at[i].value);
    }
    mark(m->reach, f->ok);
    mark(m->used, f->ok);
    for (uint32_t i = 0; i < f->minimizes.n; i++) {
        mark(m->loss, f->minimizes.at[i].loss);
        mark(m->grad, f->minimizes.at[i].grad);
        mark(m->after, f->minimizes.at[i].grad);
    }
}

/* Everything the marked nodes are made of. */
static void close_downwards(const struct marks *m, uint8_t *set)
{
    for (uint32_t n = m->g->nodes.n - 1; n > 0; n--) {
        const struct node *x = graph_node(m->g, n);
        for (uint32_t i = 0; set[n] && i < x->n_in; i++) {
            set[node_inputs(m->g, x)[i]] = 1;
        }
    }
}

/* What depends on a gradient; parts; each node at or after its inputs. */
static void assign_parts(struct marks *m)
{
    for (uint32_t n = 1; n < m->g->nodes.n; n++) {
        const struct node *x = graph_node(m->g, n);
        enum part least = PART_FORWARD;
        for (uint32_t i = 0; i < x->n_in; i++) {
            uint32_t in = node_inputs(m->g, x)[i];
            m->after[n] |= m->after[in];
            least = m->part[in] > least ? m->part[in] : least;
        }
        enum part own = m->loss[n]    ? PART_FORWARD
                        : m->grad[n]  ? PART_BACKWARD
                        : m->after[n] ? PART_OPTIMIZER
                                      : PART_FORWARD;
        m->part[n] = (uint8_t)(own > least ? own : least);
    }
}

static void lower(uint8_t *first_use, uint32_t n, enum part p)
{
    if (p < first_use[n]) {
        first_use[n] = (uint8_t)p;
    }
}

/* Users first, so that chains move as a whole. */
static void sink_late_values(struct marks *m)
{
    memset(m->first_use, PART_COUNT, m->g->nodes.n);
    for (uint32_t n = 1; n < m->g->nodes.n; n++) {
        if (m->used[n]) {
            lower(m->first_use, n, m->part[n]);
        }
    }
    for (uint32_t i = 0; i < m->f->commits.n; i++) {
        lower(m->first_use, commit_node(m->g, &m->f->commits.at[i]),
              m->f->training ? PART_OPTIMIZER : PART_FORWARD);
    }
    for (uint32_t n = m->g->nodes.n - 1; n > 0; n--) {
        const struct node *x = graph_node(m->g, n);
        if (!m->reach[n]) {
            continue;
        }
        if (x->loop) {
            m->part[n] = m->part[m->end[x->loop]];
        } else if (!m->loss[n] && m->part[n] == PART_FORWARD && m->first_use[n] < PART_COUNT) {
            m->part[n] = m->first_use[n];
        }
        for (uint32_t i = 0; i < x->n_in; i++) {
            lower(m->first_use, node_inputs(m->g, x)[i], m->part[n]);
            m->used[node_inputs(m->g, x)[i]] = 1;
        }
    }
}

static bool commit_reads_itself(const struct marks *m, const struct commit *c, const uint8_t *tree_read,
                                const uint8_t *var_read)
{
    if (c->tree) {
        return tree_read[c->tree - 1];
    }
    const struct var *v = &m->g->vars.at[c->var];
    return var_read[c->var] || (v->kind == VAR_PARAM && v->tree && tree_read[v->tree - 1]);
}

static bool launched(const struct graph *g, uint32_t n)
{
    const struct op_info *info = &op_table[graph_node(g, n)->op];
    return info->kind != OPK_VIEW && !(info->flags & OPF_META);
}

static void mark_closing(struct marks *m, struct arena *a)
{
    const struct graph *g = m->g;
    uint8_t *tree_read = arena_array(a, uint8_t, g->trees.n), *var_read = arena_array(a, uint8_t, g->vars.n);
    for (uint32_t n = 1; n < g->nodes.n; n++) {
        const struct node *x = graph_node(g, n);
        if (m->reach[n] && x->op == OP_tree) {
            tree_read[node_attrs(g, x)[0]] = 1;
        } else if (m->reach[n] && x->op == OP_read) {
            uint32_t var = (uint32_t)node_attrs(g, x)[0];
            var_read[var] = 1;
            if (g->vars.at[var].kind == VAR_PARAM && g->vars.at[var].tree) {
                tree_read[g->vars.at[var].tree - 1] = 1;
            }
        }
    }
    for (uint32_t i = 0; i < m->f->commits.n; i++) {
        const struct commit *c = &m->f->commits.at[i];
        uint32_t n = commit_node(g, c);
        if (launched(g, n) && !m->used[n] && commit_reads_itself(m, c, tree_read, var_read)) {
            m->closing[n] = 1;
            m->part[n] = m->f->training ? PART_OPTIMIZER : m->part[n];
        }
    }
}

static void mark_loss_part(struct variant_build *v)
{
    const struct graph *g = v->b->g;
    uint32_t from = 0, end = 0;
    for (uint32_t i = 0; i < v->n_order && v->order[i].part == PART_FORWARD; i++) {
        const char *scope = g->scopes.n ? g->scopes.at[graph_node(g, v->order[i].node)->scope] : "";
        if (launched(g, v->order[i].node) && scope && *scope) {
            from = i + 1;
        }
        end = i + 1;
    }
    while (from < end && graph_node(g, v->order[from].node)->loop) {
        from++; /* a loop is not cut */
    }
    for (uint32_t i = from; i < end; i++) {
        v->order[i].part = PART_LOSS;
    }
}

/* By loop the node that ends the outermost loop around it. */
static uint32_t *find_ends(const struct graph *g, struct arena *a)
{
    uint32_t *end = arena_array(a, uint32_t, g->loops.n);
    for (uint32_t n = 1; n < g->nodes.n; n++) {
        const struct node *x = graph_node(g, n);
        if (x->op == OP_loop) {
            end[node_attrs(g, x)[0]] = n;
        }
    }
    for (uint32_t l = 1; l < g->loops.n; l++) {
        end[l] = g->loops.at[l].parent ? end[g->loops.at[l].parent] : end[l];
    }
    return end;
}

/* One node, and in front of the end of a loop all of it. */
static void append(struct variant_build *v, const struct marks *m, uint32_t node, enum part p)
{
    const struct graph *g = v->b->g;
    if (node_op(g, node) == OP_loop) {
        uint32_t loop = (uint32_t)node_attrs(g, graph_node(g, node))[0];
        v->order[v->n_order++] = (struct scheduled){node, p, true};
        for (uint32_t n = 1; n < node; n++) {
            if (m->reach[n] && graph_node(g, n)->loop == loop) {
                append(v, m, n, p);
            }
        }
    }
    v->order[v->n_order] = (struct scheduled){node, p, false};
    v->slot[node] = ++v->n_order;
}

/* Closing nodes stand behind all others: in the last part that occurs. */
static void fill_order(struct variant_build *v, const struct marks *m)
{
    const struct graph *g = v->b->g;
    for (int closing = 0; closing < 2; closing++) {
        v->n_plain = v->n_order;
        for (enum part p = PART_FORWARD; p < PART_COUNT; p++) {
            for (uint32_t n = 1; n < g->nodes.n; n++) {
                if (m->reach[n] && m->part[n] == p && m->closing[n] == closing && !graph_node(g, n)->loop) {
                    enum part last = v->n_order ? v->order[v->n_order - 1].part : PART_FORWARD;
                    append(v, m, n, p > last ? p : last);
                }
            }
        }
    }
    mark_loss_part(v);
}

void schedule_build(struct variant_build *v)
{
    struct arena *a = v->b->scratch;
    const struct graph *g = v->b->g;
    uint8_t *pool = arena_alloc(a, 8 * (size_t)g->nodes.n);
    struct marks m = {.g = g, .f = &g->phases.at[v->phase], .phase = (uint16_t)v->phase};
    uint8_t **field[] = {&m.reach, &m.loss, &m.grad, &m.after, &m.part, &m.first_use, &m.closing, &m.used};
    for (uint32_t i = 0; i < 8; i++) {
        *field[i] = pool + (size_t)i * g->nodes.n;
    }
    mark_roots(&m);
    m.reach[0] = m.loss[0] = m.grad[0] = m.after[0] = 0;
    m.end = find_ends(g, a);
    close_downwards(&m, m.reach);
    close_downwards(&m, m.loss);
    close_downwards(&m, m.grad);
    assign_parts(&m);
    sink_late_values(&m);
    mark_closing(&m, a);
    uint32_t n = 0;
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        n += m.reach[i] + (m.reach[i] && node_op(g, i) == OP_loop);
    }
    v->order = arena_array(a, struct scheduled, n);
    v->slot = arena_array(a, uint32_t, g->nodes.n);
    v->value = arena_array(a, struct place, n);
    v->contiguous = arena_array(a, uint32_t, n);
    v->loop = arena_array(a, struct loop_build, g->loops.n);
    fill_order(v, &m);
}
