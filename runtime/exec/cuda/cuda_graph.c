/* Building the executable graphs of a variant: explicit kernel nodes in a chain, some products beside it
 * (cuda_lanes.c), library products captured in place, loops as WHILE nodes, the tick last. The tick node is
 * set to the other `first` before the second instantiation; nothing is updated after that. */
#include "runtime/exec/cuda/cuda_exec.h"

static enum status count_kernels(struct exec *e, const struct cuda_line *line, uint64_t *sum)
{
    uint64_t nodes = 0;
    CUDA_TRY(e, graph_nodes, line->graph, &nodes);
    *sum = cuda_add_times(*sum, nodes - line->conditionals, 1);
    *sum = cuda_add_times(*sum, line->in_loops, 1);
    return ST_OK;
}

static enum status add_product(struct exec *e, void *graph, struct cuda_tail *tail, const struct cuda_step *s)
{
    CUDA_TRY(e, capture_begin, e->stream, graph, tail);
    enum status run = cuda_step_issue(e, s);
    char kept[sizeof e->error];
    memcpy(kept, e->error, sizeof kept);
    int code = e->api.capture_end(e->api.ctx, e->stream, tail); /* always: the stream must leave capture */
    if (run != ST_OK) {
        memcpy(e->error, kept, sizeof kept);
        return run;
    }
    return code ? cuda_failed(e, CUDA_CALL_capture_end, code) : ST_OK;
}

enum status cuda_step_add(struct exec *e, void *graph, struct cuda_tail *tail, const struct cuda_step *s)
{
    if (s->blas_plan) {
        TRY(add_product(e, graph, tail, s));
    }
    for (uint32_t i = 0; i < s->n_launch; i++) {
        CUDA_TRY(e, node_add, graph, tail, &s->launch[i], e->arena);
    }
    return ST_OK;
}

static enum status add_step(struct exec *e, struct cuda_line *line, const struct cuda_step *s)
{
    return cuda_step_add(e, line->graph, &line->tail, s);
}

static enum status add_unrolled(struct exec *e, const struct cuda_variant *v, const struct plan_loop *l,
                                struct cuda_line *line)
{
    TRY(add_step(e, line, &v->step[l->begin]));
    for (int64_t i = 0; i < l->count; i++) {
        TRY(cuda_steps_add(e, v, l->begin + 1, l->end, line));
        TRY(add_step(e, line, &v->step[l->end]));
    }
    return ST_OK;
}

enum status cuda_conditional_add(struct exec *e, struct cuda_line *line, uint64_t condition, bool loops,
                                 struct cuda_line *body)
{
    *body = (struct cuda_line){.graph = NULL};
    CUDA_TRY(e, conditional_add, line->graph, &line->tail, condition, loops, &body->graph);
    line->conditionals++;
    return ST_OK;
}

/* The kernels that count are described anew: they set this node's condition. */
static enum status add_while(struct exec *e, const struct cuda_variant *v, const struct plan_loop *l,
                             struct cuda_line *line)
{
    struct cuda_line body;
    struct launch count;
    uint64_t condition = 0, kernels = 0;
    CUDA_TRY(e, condition_create, line->graph, &condition);
    cuda_loop_opens(l, condition, &count);
    CUDA_TRY(e, node_add, line->graph, &line->tail, &count, e->arena);
    TRY(cuda_conditional_add(e, line, condition, true, &body));
    TRY(cuda_steps_add(e, v, l->begin + 1, l->end, &body));
    cuda_loop_turns(l, condition, &count);
    CUDA_TRY(e, node_add, body.graph, &body.tail, &count, e->arena);
    TRY(count_kernels(e, &body, &kernels));
    line->in_loops = cuda_add_times(line->in_loops, kernels, (uint64_t)l->count);
    return ST_OK;
}

enum status cuda_steps_add(struct exec *e, const struct cuda_variant *v, uint32_t from, uint32_t to,
                           struct cuda_line *line)
{
    for (uint32_t i = from; i < to; i++) {
        const struct plan_loop *l = v->step[i].loop;
        if (!l) {
            TRY(cuda_lane_add(e, v, i, cuda_stands_aside(e, v, i, to), line));
            continue;
        }
        cuda_lanes_meet(line);
        if (l->count > 0) {
            TRY(cuda_unrolls(v, l) ? add_unrolled(e, v, l, line) : add_while(e, v, l, line));
        }
        i = l->end;
    }
    cuda_lanes_meet(line);
    return ST_OK;
}

enum status cuda_exec_make(struct exec *e, void *graph, void **out)
{
    CUDA_TRY(e, exec_create, graph, out);
    CUDA_TRY(e, exec_upload, *out, e->stream);
    return ST_OK;
}

/* The last segment needs an executable graph for either tick. A graph with WHILE nodes gives only one, so
 * then it is built once more. */
static enum status fill_segment(struct exec *e, struct cuda_variant *v, uint32_t from, uint32_t to, int first,
                                bool last, struct cuda_line *line)
{
    uint32_t s = v->n_segment;
    TRY(cuda_steps_add(e, v, from, to, line));
    if (last) {
        CUDA_TRY(e, node_add, line->graph, &line->tail, &v->tick[first], e->arena);
    }
    TRY(cuda_exec_make(e, line->graph, &v->exec[first][s]));
    if (last && !first && line->conditionals == 0) {
        CUDA_TRY(e, node_set, line->tail.node[0], &v->tick[1], e->arena);
        TRY(cuda_exec_make(e, line->graph, &v->exec[1][s]));
    }
    return first ? ST_OK : count_kernels(e, line, &v->kernels);
}

static enum status build_graph(struct exec *e, struct cuda_variant *v, uint32_t from, uint32_t to, int first,
                               bool last)
{
    struct cuda_line line = {.graph = NULL};
    CUDA_TRY(e, graph_create, &line.graph);
    enum status s = fill_segment(e, v, from, to, first, last, &line);
    e->api.graph_destroy(e->api.ctx, line.graph);
    return s;
}

static enum status build_segment(struct exec *e, struct cuda_variant *v, uint32_t from, uint32_t to,
                                 bool last)
{
    uint32_t s = v->n_segment;
    TRY(build_graph(e, v, from, to, 0, last));
    if (last && !v->exec[1][s]) {
        TRY(build_graph(e, v, from, to, 1, last));
    }
    v->part[s] = from < v->n_step ? v->step[from].part : PART_FORWARD;
    v->n_segment++;
    return ST_OK;
}

/* Where the segment that starts at `from` ends: everything, or with --parts the next op of a later part. */
static uint32_t segment_end(const struct exec *e, const struct cuda_variant *v, uint32_t from)
{
    uint32_t i = from;
    if (!e->options.parts) {
        return v->n_step;
    }
    while (i < v->n_step && v->step[i].part <= v->step[from].part) {
        i = v->step[i].loop ? v->step[i].loop->end + 1 : i + 1;
    }
    return i;
}

enum status cuda_graphs_build(struct exec *e, struct cuda_variant *v)
{
    uint32_t from = 0;
    v->kernels = 0;
    do {
        uint32_t to = segment_end(e, v, from);
        TRY(build_segment(e, v, from, to, to >= v->n_step));
        from = to;
    } while (from < v->n_step);
    return ST_OK;
}
