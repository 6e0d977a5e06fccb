/* Segments of the run block: one graph each. Loops become WHILE nodes, `every` an IF node, and so does what
 * follows a `stop when`; phases are the chains that they are when launched alone, each where it stands in the
 * segment. The launch takes its command from the mapped ring, so no call but cudaGraphLaunch is made. */
#include "runtime/exec/cuda/cuda_exec.h"

static enum status add_control(struct exec *e, struct cuda_line *line, enum segment_step step,
                               const struct segment_node *n, uint64_t condition)
{
    struct launch l;
    cuda_segment(e->plan, step, n, e->segment_state, (uint64_t)(uintptr_t)e->ring_device, condition, &l);
    CUDA_TRY(e, node_add, line->graph, &line->tail, &l, e->arena);
    return ST_OK;
}

static enum status add_list(struct exec *e, const struct plan_segment *s, uint32_t from, uint32_t to,
                            struct cuda_line *line);

/* A kernel that sets the condition, a conditional node, nodes inside; in a loop the kernel `turns` at the
 * end. */
static enum status add_branch(struct exec *e, const struct plan_segment *s, uint32_t from, uint32_t to,
                              const struct segment_node *n, enum segment_step sets, enum segment_step turns,
                              struct cuda_line *line)
{
    bool loops = turns == SEGMENT_TURNS || turns == SEGMENT_ROUNDS;
    struct cuda_line body;
    uint64_t condition = 0;
    CUDA_TRY(e, condition_create, line->graph, &condition);
    TRY(add_control(e, line, sets, n, condition));
    TRY(cuda_conditional_add(e, line, condition, loops, &body));
    TRY(add_list(e, s, from, to, &body));
    return loops ? add_control(e, &body, turns, n, condition) : ST_OK;
}

static enum status add_tick(struct exec *e, const struct segment_node *n, struct cuda_line *line)
{
    const struct cuda_variant *v = &e->variant[n->variant];
    TRY(cuda_steps_add(e, v, 0, v->n_step, line));
    CUDA_TRY(e, node_add, line->graph, &line->tail, &v->tick[n->first != 0], e->arena);
    return ST_OK;
}

static enum status add_stop(struct exec *e, const struct segment_node *n, struct cuda_line *line)
{
    const struct cuda_variant *v = &e->variant[n->variant];
    TRY(cuda_steps_add(e, v, 0, v->n_step, line));
    return add_control(e, line, SEGMENT_STOPS, n, 0);
}

static enum status add_node(struct exec *e, const struct plan_segment *s, uint32_t i, struct cuda_line *line)
{
    const struct segment_node *n = &s->node[i];
    switch ((enum segment_kind)n->kind) {
    case SEGMENT_LOOP:
        return add_branch(e, s, i + 1, n->end, n, SEGMENT_ENTERS, SEGMENT_TURNS, line);
    case SEGMENT_TICK:
        return add_tick(e, n, line);
    case SEGMENT_EVERY:
        return add_branch(e, s, i + 1, n->end, n, SEGMENT_ASKS, SEGMENT_CHECKS, line);
    case SEGMENT_STOP:
        return add_stop(e, n, line);
    }
    return cuda_error(e, ST_INTERNAL, "a segment has a node of kind %d", n->kind);
}

static enum status add_list(struct exec *e, const struct plan_segment *s, uint32_t from, uint32_t to,
                            struct cuda_line *line)
{
    for (uint32_t i = from; i < to; i = s->node[i].end) {
        TRY(add_node(e, s, i, line));
        if (s->node[i].may_leave && s->node[i].end < to) {
            return add_branch(e, s, s->node[i].end, to, NULL, SEGMENT_CHECKS, SEGMENT_CHECKS, line);
        }
    }
    return ST_OK;
}

static enum status fill(struct exec *e, const struct plan_segment *s, struct cuda_line *line)
{
    if (s->loops) {
        return add_branch(e, s, 0, s->n_node, NULL, SEGMENT_BEGINS, SEGMENT_ROUNDS, line);
    }
    TRY(add_control(e, line, SEGMENT_BEGINS, NULL, 0));
    return add_list(e, s, 0, s->n_node, line);
}

static enum status build(struct exec *e, const struct plan_segment *s, void **out)
{
    struct cuda_line line = {.graph = NULL};
    CUDA_TRY(e, graph_create, &line.graph);
    enum status st = fill(e, s, &line);
    st = st == ST_OK ? cuda_exec_make(e, line.graph, out) : st;
    e->api.graph_destroy(e->api.ctx, line.graph);
    return st;
}

enum status cuda_segments_build(struct exec *e)
{
    struct launch any;
    cuda_segment(e->plan, SEGMENT_BEGINS, NULL, e->segment_state, 0, 0, &any);
    CUDA_TRY(e, function_load, &any);
    e->segment = arena_array(e->memory, void *, e->plan->n_segment);
    e->n_segment = e->plan->n_segment;
    for (uint32_t i = 0; i < e->n_segment; i++) {
        TRY(build(e, &e->plan->segment[i], &e->segment[i]));
    }
    return ST_OK;
}

enum status cuda_launch_segment(struct exec *e, uint32_t segment, const struct segment_command *c)
{
    if (segment >= e->n_segment || !e->segment[segment]) {
        return cuda_error(e, ST_INTERNAL, "segment %u was not prepared", segment);
    }
    if (e->segments > 1) {
        TRY(cuda_wait_word(e, (const uint64_t *)&e->ring->begun, e->segments - 1, "segment"));
    }
    e->ring->command[e->segments++ % 2] = *c;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    e->in_segment = true;
    CUDA_TRY(e, exec_launch, e->segment[segment], e->stream);
    return ST_OK;
}
