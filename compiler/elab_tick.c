/* Ticks: what a state is right now (language-rules 1.10). A launch of a phase is a tick, and inside of it
 * every iteration of a scan. A state that the body of a scan writes becomes a carry of its loop: its first
 * value is what the tick around had, what the scan leaves is what that tick has from then on, and the phase
 * commits it. Which states a body writes is known from the attempt before (struct facts); the others are read
 * outside.
 */
#include "compiler/elab.h"

/* -- reading */

static struct held *find_held(struct tick *t, uint32_t var)
{
    for (uint32_t i = 0; i < t->held.n; i++) {
        if (t->held.at[i].var.index == var) {
            return &t->held.at[i];
        }
    }
    return NULL;
}
/* What the last launch left. */
static struct value committed(struct elab *e, struct value v)
{
    const struct var *var = &e->g->vars.at[v.index];
    struct node_spec s = {.op = OP_read,
                          .phase = e->b.phase,
                          .attr = (int64_t[]){v.index},
                          .n_attr = 1,
                          .type = var->type,
                          .span = e->b.span,
                          .scope = e->b.scope};
    val n = graph_add(e->g, &s, e->sink);
    if (n && var->kind == VAR_STATE && var->tree) {
        return (struct value){
            .kind = V_TREE, .node = n, .tree = var->tree - 1, .pad = e->vars.at[v.index].pad};
    }
    return tensor_value(n, v.unit);
}
static bool is_written(const struct elab *e, uint32_t scan, const char *key)
{
    for (uint32_t i = 0; i < e->facts.writes.n; i++) {
        if (e->facts.writes.at[i].scan == scan && (!key || !strcmp(e->facts.writes.at[i].key, key))) {
            return true;
        }
    }
    return false;
}
static struct value read_in(struct elab *e, struct tick *t, struct value var);
/* The part of this iteration of the stack of a variable of all instances. */
static struct value rolled_part(struct elab *e, struct tick *t, const struct rolled *r, struct value var)
{
    val *part = arena_array(e->arena, val, r->n);
    for (uint32_t k = 0; k < r->n; k++) {
        struct value v = var;
        v.index = rolled_member(e, r, var.index, k, e->b.span);
        if (!v.index) {
            return poison();
        }
        part[k] = build_unit(&e->b, read_in(e, t->up, v).node, 0);
    }
    val stack = build_concat(&e->b, part, r->n, 0);
    return tensor_value(build_attrs(&e->b, OP_loop_in, &stack, 1, (int64_t[]){t->loop}, 1), var.unit);
}
/* The variable as a carry of the scan, or as a part of its instances. */
static struct held *hold(struct elab *e, struct tick *t, struct value var)
{
    struct held *h = find_held(t, var.index);
    if (h) {
        return h;
    }
    struct held new = {.var = var, .rolled = rolled_variable(e, t, var.index), .carry = t->carry.n};
    if (new.rolled) {
        new.now = rolled_part(e, t, new.rolled, var);
    } else {
        new.now = read_in(e, t->up, var);
        new.now.node = tick_carry(e, t, new.now.node);
    }
    vec_push(e->arena, &t->held, new);
    return &t->held.at[t->held.n - 1];
}
static struct value read_in(struct elab *e, struct tick *t, struct value var)
{
    struct held *h = find_held(t, var.index);
    if (h) {
        return h->now;
    }
    if (!t->up || t->dry) {
        return committed(e, var);
    }
    return rolled_variable(e, t, var.index) || is_written(e, t->number, e->g->vars.at[var.index].key)
               ? hold(e, t, var)->now
               : read_in(e, t->up, var);
}
struct value tick_read(struct elab *e, struct value var)
{
    e->seen |= SEEN_STATE;
    return read_in(e, e->tick, var);
}
bool value_visible(struct elab *e, struct value v)
{
    if (e->g->loops.n < 2) {
        return true;
    }
    if (v.kind == V_TENSOR || v.kind == V_TREE) {
        return loop_inside(e->g, e->tick->loop, graph_node(e->g, v.node)->loop);
    }
    bool visible = true;
    for (uint32_t i = 0; is_branch(v) && visible && i < branch_count(v); i++) {
        visible = value_visible(e, *branch_at(v, i));
    }
    return visible;
}

/* -- writing */

static struct commit *find_commit(struct elab *e, uint32_t var)
{
    struct phase *p = &e->g->phases.at[e->b.phase];
    for (uint32_t i = 0; i < p->commits.n; i++) {
        if (p->commits.at[i].var == var && !p->commits.at[i].tree) {
            return &p->commits.at[i];
        }
    }
    return NULL;
}
bool tick_pending(struct elab *e, uint32_t var, struct pending *p)
{
    const struct held *h = e->tick->up ? find_held(e->tick, var) : NULL;
    const struct commit *c = e->tick->up ? NULL : find_commit(e, var);
    if (h && h->set) {
        *p = (struct pending){h->next, e->guard, h->span};
    } else if (c) {
        *p = (struct pending){c->value, c->guard, c->span};
    }
    return (h && h->set) || c;
}
static void commit(struct elab *e, uint32_t var, val v, val guard, struct span at)
{
    struct commit c = {.var = var, .value = v, .guard = guard, .span = at};
    vec_push(e->g->arena, &e->g->phases.at[e->b.phase].commits, c);
}
void tick_next(struct elab *e, struct value var, val v, struct span at)
{
    struct commit *c = e->tick->up ? NULL : find_commit(e, var.index);
    if (e->tick->dry) {
        return;
    }
    if (e->tick->up) {
        struct held *h = hold(e, e->tick, var);
        h->next = v;
        h->span = h->set ? h->span : at;
        h->set = true;
    } else if (c) {
        c->value = v;
    } else {
        commit(e, var.index, v, e->guard, at);
    }
}
void tick_commit(struct elab *e)
{
    for (uint32_t i = 0; i < e->tick->held.n; i++) {
        const struct held *h = &e->tick->held.at[i];
        if (!find_commit(e, h->var.index)) {
            commit(e, h->var.index, h->now.node, 0, h->span);
        }
    }
}
void tick_assert(struct elab *e, val v, const char *text, struct span at)
{
    struct output o = {.name = text, .value = v, .span = at};
    if (e->tick->dry) {
        return;
    }
    if (e->tick->up) {
        vec_push(e->arena, &e->tick->asserts, o);
    } else {
        vec_push(e->g->arena, &e->g->phases.at[e->b.phase].asserts, o);
    }
}

/* -- loops */

void tick_enter(struct elab *e, struct tick *t)
{
    t->up = e->tick;
    e->tick = t;
    e->version += is_written(e, t->number, NULL) || t->rolled.n;
}
val tick_carry(struct elab *e, struct tick *t, val first)
{
    val v = build_attrs(&e->b, OP_loop_carry, &first, 1, (int64_t[]){t->loop, t->carry.n}, 2);
    vec_push(e->arena, &t->carry, v);
    return v;
}
static bool is_yielded(const struct held *h)
{
    return h->rolled && (h->set || h->left);
}
/* Of nothing there is no address, which memcpy wants all the same. */
static void put(val *to, const val *from, uint32_t n)
{
    if (n > 0) {
        memcpy(to, from, n * sizeof *to);
    }
}
val tick_end(struct elab *e, struct tick *t, const val *next, const val *yield, uint32_t yields)
{
    uint32_t n = t->carry.n, all = 2 * n + yields + t->asserts.n, own = n, k = all;
    for (uint32_t i = 0; i < t->held.n; i++) {
        own -= !t->held.at[i].rolled;
        all += is_yielded(&t->held.at[i]);
    }
    val *in = arena_array(e->arena, val, all ? all : 1);
    put(in, t->carry.at, n);
    put(in + n, next, own);
    put(in + 2 * n, yield, yields);
    for (uint32_t i = 0; i < t->held.n; i++) {
        const struct held *h = &t->held.at[i];
        if (!h->rolled || is_yielded(h)) {
            in[h->rolled ? k++ : n + h->carry] = h->set ? h->next : h->now.node;
        }
    }
    for (uint32_t i = 0; i < t->asserts.n; i++) {
        in[2 * n + yields + i] = t->asserts.at[i].value;
    }
    build_at(e, t->span);
    return build_attrs(&e->b, OP_loop, in, all, (int64_t[]){t->loop, n}, 2);
}
/* What a scan that ended left in a variable, in the tick around it. Under the condition of a `minimize` it
 * holds only there. */
static void leave(struct elab *e, struct value var, struct value last, struct span at)
{
    if (e->tick->dry) {
        return;
    }
    if (e->tick->up) {
        struct held *outer = hold(e, e->tick, var);
        outer->now = last;
        outer->left = true;
        return;
    }
    if (e->guard) {
        last.node = build_3(&e->b, OP_where, e->guard, last.node, tick_read(e, var).node);
    }
    struct held *outer = find_held(e->tick, var.index);
    if (outer) {
        outer->now = last;
    } else {
        struct held new = {.var = var, .now = last, .span = at};
        vec_push(e->arena, &e->tick->held, new);
    }
}
static void leave_members(struct elab *e, const struct held *h, val end, uint32_t yield)
{
    val out = build_attrs(&e->b, OP_loop_out, &end, 1, (int64_t[]){yield}, 1);
    struct type t = e->g->vars.at[h->var.index].type;
    for (uint32_t k = 0; k < h->rolled->n; k++) {
        struct value var = h->var, last = h->now;
        var.index = rolled_member(e, h->rolled, var.index, k, h->span);
        val part = build_part(&e->b, out, 0, dim_const(&e->g->dims, k), dim_const(&e->g->dims, 1), 1);
        last.node = build_reshape(&e->b, part, t.rank, t.dim);
        leave(e, var, last, h->span);
    }
}
static void leave_states(struct elab *e, struct tick *t, val end, uint32_t yields)
{
    for (uint32_t i = 0, yield = yields + t->asserts.n; i < t->held.n; i++) {
        const struct held *h = &t->held.at[i];
        if (!h->set && !h->left) {
            continue;
        }
        struct scan_write w = {t->number, e->g->vars.at[h->var.index].key};
        vec_push(e->arena, &e->found.writes, w);
        e->version++;
        if (h->rolled) {
            leave_members(e, h, end, yield++);
        } else {
            struct value last = h->now;
            last.node = build_attrs(&e->b, OP_loop_last, &end, 1, (int64_t[]){h->carry}, 1);
            leave(e, h->var, last, h->span);
        }
    }
}
void tick_leave(struct elab *e, struct tick *t, val end, uint32_t yields)
{
    e->tick = t->up;
    e->version += t->rolled.n > 0;
    if (!end) {
        return;
    }
    build_at(e, t->span);
    leave_states(e, t, end, yields);
    for (uint32_t i = 0; i < t->asserts.n; i++) {
        val each = build_attrs(&e->b, OP_loop_out, &end, 1, (int64_t[]){yields + i}, 1);
        tick_assert(e, build_reduce(&e->b, OP_all, each, NULL, -1, false), t->asserts.at[i].name,
                    t->asserts.at[i].span);
    }
}
static val iteration_in(struct elab *e, const struct tick *t)
{
    if (!t->up || t == e->still) {
        return 0;
    }
    if (t->dry || t->uncounted) {
        return iteration_in(e, t->up);
    }
    val outer = iteration_in(e, t->up);
    val i = build_attrs(&e->b, OP_loop_index, NULL, 0, (int64_t[]){t->loop}, 1);
    if (!outer) {
        return i;
    }
    val count = build_dim(&e->b, DT_I32, e->g->loops.at[t->loop].count);
    return build_2(&e->b, OP_add, build_2(&e->b, OP_mul, outer, count), i);
}
val tick_iteration(struct elab *e)
{
    return iteration_in(e, e->tick);
}
