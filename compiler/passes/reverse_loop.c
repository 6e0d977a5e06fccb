/* Reversing loops; see reverse.h. */
#include "compiler/passes/reverse.h"

/* -- what is active */

bool reverse_carries(struct reverse *r, const struct node *end)
{
    bool more = false;
    for (uint32_t k = 0; k < loop_carries(r->g, end); k++) {
        val carry = loop_carry(r->g, end, k), next = loop_next(r->g, end, k);
        bool found = !r->active[carry] && r->active[next] &&
                     dtype_is_float((enum dtype)graph_node(r->g, carry)->dtype);
        r->active[carry] |= found;
        more |= found;
    }
    return more;
}

/* The value of the body that a result of a loop is; of others 0. */
static val value_inside(const struct graph *g, const struct node *n)
{
    if (n->op != OP_loop_last && n->op != OP_loop_out) {
        return 0;
    }
    const struct node *end = graph_node(g, node_inputs(g, n)[0]);
    uint32_t k = (uint32_t)node_attrs(g, n)[0];
    return n->op == OP_loop_last ? loop_carry(g, end, k) : loop_yield(g, end, k);
}

bool reverse_passes(const struct reverse *r, const struct node *n)
{
    val inside = value_inside(r->g, n);
    if (inside) {
        return inside <= r->loss && r->active[inside];
    }
    return (n->op == OP_loop_in || n->op == OP_loop_carry) && r->active[node_inputs(r->g, n)[0]];
}

bool reverse_keeps(enum op op)
{
    return op == OP_loop_in || op == OP_loop_carry || op == OP_loop_last || op == OP_loop_out ||
           op == OP_loop_index;
}

/* -- values of the body */

static val add_part(struct build *b, enum op op, val in, int64_t a)
{
    struct node_spec s = {.op = op,
                          .phase = b->phase,
                          .in = &in,
                          .n_in = 1,
                          .attr = &a,
                          .n_attr = 1,
                          .span = b->span,
                          .scope = b->scope};
    return graph_add(b->g, &s, b->sink);
}
static val add_carry(struct build *b, uint32_t loop, uint32_t k, val first)
{
    struct node_spec s = {.op = OP_loop_carry,
                          .phase = b->phase,
                          .in = &first,
                          .n_in = 1,
                          .attr = (int64_t[]){loop, k},
                          .n_attr = 2,
                          .span = b->span,
                          .scope = b->scope};
    return graph_add(b->g, &s, b->sink);
}

static val *brought_at(struct reversed *at, val v)
{
    while (at->brought.n <= v) {
        vec_push(at->r->g->arena, &at->brought, 0);
    }
    return &at->brought.at[v];
}

/* Whether a value can be had in the reverse without keeping it: it is there already, is part of an input, or
 * is made of such values by cheap operators. */
enum { AGAIN_DEPTH = 4 };
static bool can_compute(struct reversed *at, val v, int depth)
{
    const struct graph *g = at->r->g;
    const struct node *n = graph_node(g, v);
    if (n->loop != at->forward || *brought_at(at, v) || n->op == OP_loop_in || n->op == OP_loop_index) {
        return true;
    }
    bool cheap = op_table[n->op].kind == OPK_ELEM || op_table[n->op].kind == OPK_VIEW;
    for (uint32_t i = 0; cheap && i < n->n_in; i++) {
        cheap = depth > 0 && can_compute(at, node_inputs(g, n)[i], depth - 1);
    }
    return cheap;
}

/* The same node in the reverse: graph_add brings its inputs over. */
static val compute_again(struct reversed *at, val v)
{
    struct graph *g = at->r->g;
    struct node n = *graph_node(g, v);
    struct node_spec s = rewrite_spec(g, v, node_inputs(g, &n));
    int64_t loop = at->backward;
    if (n.op == OP_loop_in || n.op == OP_loop_index) {
        s.attr = &loop;
    }
    return graph_add(g, &s, at->r->b->sink);
}

/* Values of the innermost of many scans: the text has no yield that a message could speak of. */
static val no_room(struct reversed *at, val v)
{
    const struct graph *g = at->r->g;
    const struct node *n = graph_node(g, v);
    struct diag_sink *sink = at->r->b->sink;
    struct type t = node_type(g, v);
    diag_emit(sink, DIAG_E2003, n->span,
              "the gradient needs this value of every iteration of all scans around it: %s and one axis "
              "more, of at "
              "most %d",
              type_text(g, &t), LIMIT_RANK);
    diag_label(sink, g->loops.at[at->forward].span, "the outermost that has no room");
    diag_help(
        sink,
        "walk two of the scans as one, over `n * m` iterations, or end the gradient with stop_grad(..)");
    return 0;
}

/* The stack of all its iterations, which the loop yields from now on. */
static val keep(struct reversed *at, val v)
{
    struct graph *g = at->r->g;
    if (graph_node(g, v)->rank == LIMIT_RANK) {
        return no_room(at, v);
    }
    struct graph_import *import = g->import;
    g->import = NULL; /* the stack belongs to the forward pass */
    val stack = add_part(at->r->b, OP_loop_out, at->end, graph_loop_yield(g, at->end, v));
    g->import = import;
    return stack;
}

static val bring(struct graph_import *m, val v)
{
    struct reversed *at = (struct reversed *)m;
    val here = *brought_at(at, v);
    if (!here) {
        here = can_compute(at, v, AGAIN_DEPTH) ? compute_again(at, v)
                                               : add_part(at->r->b, OP_loop_in, keep(at, v), at->backward);
        *brought_at(at, v) = here;
    }
    return here;
}

val *reversed_capture(struct reverse *r, struct reversed *in, val v)
{
    for (uint32_t i = 0; i < in->captured.n; i++) {
        if (in->captured.at[i] == v) {
            return &in->sum.at[i];
        }
    }
    vec_push(r->g->arena, &in->captured, v);
    vec_push(r->g->arena, &in->sum, 0);
    return &in->sum.at[in->sum.n - 1];
}

/* -- one loop */

/* The gradient of a result of the loop, 0 if there is none. */
static val result_gradient(const struct reverse *r, val end, enum op op, uint32_t k)
{
    for (val id = end + 1; id <= r->loss; id++) {
        const struct node *n = graph_node(r->g, id);
        if (n->op == op && node_inputs(r->g, n)[0] == end && node_attrs(r->g, n)[0] == (int64_t)k) {
            return r->gradient[id];
        }
    }
    return 0;
}
static bool has_gradient(const struct reverse *r, val end)
{
    for (val id = end + 1; id <= r->loss; id++) {
        const struct node *n = graph_node(r->g, id);
        if ((n->op == OP_loop_last || n->op == OP_loop_out) && node_inputs(r->g, n)[0] == end &&
            r->gradient[id] && r->active[id]) {
            return true;
        }
    }
    return false;
}

/* The carries of the reverse are the gradients of the forward loop's; `number` by forward carry, UINT32_MAX =
 * none. Returns how many there are. */
static uint32_t seed_carries(struct reversed *at, const struct node *end, uint32_t *number, val *carry)
{
    struct reverse *r = at->r;
    uint32_t n = 0;
    for (uint32_t k = 0; k < loop_carries(r->g, end); k++) {
        val forward = loop_carry(r->g, end, k);
        struct type t = node_type(r->g, forward);
        number[k] = UINT32_MAX;
        if (!r->active[forward]) {
            continue;
        }
        val first = result_gradient(r, at->end, OP_loop_last, k);
        carry[n] = add_carry(r->b, at->backward, n, first ? first : build_full(r->b, &t, 0));
        if (!carry[n]) {
            return UINT32_MAX;
        }
        number[k] = n++;
    }
    return n;
}
static bool seed_body(struct reversed *at, const struct node *end, const uint32_t *number, const val *carry)
{
    struct reverse *r = at->r;
    for (uint32_t k = 0; k < loop_carries(r->g, end); k++) {
        val next = loop_next(r->g, end, k);
        if (number[k] != UINT32_MAX && r->active[next]) {
            reverse_add(r, at, next, carry[number[k]]);
        }
    }
    for (uint32_t k = 0; k < loop_yields(r->g, end); k++) {
        val y = loop_yield(r->g, end, k);
        val stack = y <= r->loss && r->active[y] ? result_gradient(r, at->end, OP_loop_out, k) : 0;
        val part = stack ? add_part(r->b, OP_loop_in, stack, at->backward) : 0;
        if (stack && !part) {
            return false;
        }
        if (part) {
            reverse_add(r, at, y, part);
        }
    }
    return true;
}

/* The inputs of the node that ends the reverse, in order. */
struct ending {
    VEC(val) carry, next, yield;
    VEC(val) read; /* by yield: what the forward loop read parts of */
};
static void end_carries(struct reversed *at, const struct node *end, const uint32_t *number, const val *carry,
                        struct ending *e)
{
    struct reverse *r = at->r;
    for (uint32_t k = 0; k < loop_carries(r->g, end); k++) {
        if (number[k] != UINT32_MAX) {
            val forward = loop_carry(r->g, end, k);
            struct type t = node_type(r->g, forward);
            val next = r->gradient[forward] ? r->gradient[forward] : build_full(r->b, &t, 0);
            vec_push(r->g->arena, &e->carry, carry[number[k]]);
            vec_push(r->g->arena, &e->next, next);
        }
    }
    for (uint32_t i = 0; i < at->captured.n; i++) {
        struct type t = node_type(r->g, at->captured.at[i]);
        val sum = add_carry(r->b, at->backward, e->carry.n, build_full(r->b, &t, 0));
        vec_push(r->g->arena, &e->carry, sum);
        sum = build_2(r->b, OP_add, sum, at->sum.at[i]);
        vec_push(r->g->arena, &e->next, sum);
    }
}
static void end_yields(struct reversed *at, struct ending *e)
{
    struct reverse *r = at->r;
    for (val id = at->end - 1; id > 0; id--) {
        const struct node *n = graph_node(r->g, id);
        if (n->op == OP_loop_in && n->loop == at->forward && r->gradient[id]) {
            val from = node_inputs(r->g, n)[0];
            vec_push(r->g->arena, &e->read, from);
            vec_push(r->g->arena, &e->yield, r->gradient[id]);
        }
    }
}
static val end_reverse(struct reversed *at, const struct ending *e)
{
    struct build *b = at->r->b;
    uint32_t n = 0, carries = e->carry.n;
    val *in = arena_array(b->g->arena, val, 2 * (size_t)carries + e->yield.n + 1);
    for (uint32_t i = 0; i < carries; i++) {
        in[i] = e->carry.at[i];
        in[carries + i] = e->next.at[i];
    }
    n = 2 * carries;
    for (uint32_t i = 0; i < e->yield.n; i++) {
        in[n++] = e->yield.at[i];
    }
    struct node_spec s = {.op = OP_loop,
                          .phase = b->phase,
                          .in = in,
                          .n_in = n,
                          .attr = (int64_t[]){at->backward, carries},
                          .n_attr = 2,
                          .span = b->span,
                          .scope = b->scope};
    return graph_add(b->g, &s, b->sink);
}

/* What the reverse leaves is the gradient of first values, of what was captured, and of what was read. */
static bool spread_results(struct reversed *at, struct reversed *outer, const struct node *end,
                           const uint32_t *number, const struct ending *e, val done)
{
    struct reverse *r = at->r;
    uint32_t n = e->carry.n - at->captured.n;
    for (uint32_t k = 0; k < loop_carries(r->g, end); k++) {
        val first = node_inputs(r->g, graph_node(r->g, loop_carry(r->g, end, k)))[0];
        if (number[k] != UINT32_MAX && r->active[first]) {
            reverse_add(r, outer, first, add_part(r->b, OP_loop_last, done, number[k]));
        }
    }
    for (uint32_t i = 0; i < at->captured.n; i++) {
        reverse_add(r, outer, at->captured.at[i], add_part(r->b, OP_loop_last, done, n + i));
    }
    for (uint32_t i = 0; i < e->read.n; i++) {
        if (r->active[e->read.at[i]]) {
            reverse_add(r, outer, e->read.at[i], add_part(r->b, OP_loop_out, done, i));
        }
    }
    return r->b->sink->n_errors == 0;
}

bool reverse_loop(struct reverse *r, struct reversed *outer, val id)
{
    struct graph *g = r->g;
    struct node end = *graph_node(g, id); /* the table moves; its inputs grow, but what was there stays */
    struct loop l = g->loops.at[node_attrs(g, &end)[0]];
    if (!has_gradient(r, id)) {
        return true;
    }
    struct reversed at = {.import = {g->import, (uint32_t)node_attrs(g, &end)[0], bring}, .r = r, .end = id};
    r->b->span = end.span;
    r->b->scope = end.scope;
    at.forward = at.import.from;
    at.backward = graph_loop(g, r->b->phase, outer->backward, l.count, !l.reverse, l.span, r->b->sink);
    uint32_t *number = arena_array(g->arena, uint32_t, loop_carries(g, &end));
    val *carry = arena_array(g->arena, val, loop_carries(g, &end));
    if (!at.backward || seed_carries(&at, &end, number, carry) == UINT32_MAX) {
        return false;
    }
    struct ending e = {0};
    bool ok = seed_body(&at, &end, number, carry);
    g->import = &at.import;
    ok = ok && reverse_walk(r, &at, id - 1);
    r->b->span = end.span;
    r->b->scope = end.scope;
    end_carries(&at, &end, number, carry, &e);
    end_yields(&at, &e);
    val done = ok ? end_reverse(&at, &e) : 0;
    g->import = at.import.outer;
    return done && spread_results(&at, outer, &end, number, &e, done);
}
