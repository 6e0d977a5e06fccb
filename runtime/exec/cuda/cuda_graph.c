/* Building the executable graphs of a variant: explicit kernel nodes in a chain, library products captured in
 * place, the tick last. The tick node is set to the other `first` before the second instantiation; nothing is
 * updated after that. */
#include "runtime/exec/cuda/cuda_exec.h"

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

static enum status add_steps(struct exec *e, const struct cuda_variant *v, uint32_t from, uint32_t to,
                             void *graph, struct cuda_tail *tail)
{
    for (uint32_t i = from; i < to; i++) {
        const struct cuda_step *s = &v->step[i];
        if (s->library_plan) {
            TRY(add_product(e, graph, tail, s));
        }
        for (uint32_t l = 0; l < s->n_launch; l++) {
            CUDA_TRY(e, node_add, graph, tail, &s->launch[l], e->arena);
        }
    }
    return ST_OK;
}

static enum status make_exec(struct exec *e, void *graph, void **out)
{
    CUDA_TRY(e, exec_create, graph, out);
    CUDA_TRY(e, exec_upload, *out, e->stream);
    return ST_OK;
}

static enum status fill_segment(struct exec *e, struct cuda_variant *v, uint32_t from, uint32_t to, bool last,
                                void *graph)
{
    struct cuda_tail tail = {.n = 0};
    uint32_t s = v->n_segment;
    uint64_t nodes = 0;
    TRY(add_steps(e, v, from, to, graph, &tail));
    if (last) {
        CUDA_TRY(e, node_add, graph, &tail, &v->tick[0], e->arena);
    }
    TRY(make_exec(e, graph, &v->exec[0][s]));
    if (last) {
        CUDA_TRY(e, node_set, tail.node[0], &v->tick[1], e->arena);
        TRY(make_exec(e, graph, &v->exec[1][s]));
    }
    CUDA_TRY(e, graph_nodes, graph, &nodes);
    v->kernels += nodes;
    v->part[s] = from < v->n_step ? v->step[from].part : PART_FORWARD;
    v->n_segment++;
    return ST_OK;
}

static enum status build_segment(struct exec *e, struct cuda_variant *v, uint32_t from, uint32_t to,
                                 bool last)
{
    void *graph = NULL;
    CUDA_TRY(e, graph_create, &graph);
    enum status s = fill_segment(e, v, from, to, last, graph);
    e->api.graph_destroy(e->api.ctx, graph);
    return s;
}

/* Where the segment that starts at `from` ends: everything, or with --parts the next op of a later part. */
static uint32_t segment_end(const struct exec *e, const struct cuda_variant *v, uint32_t from)
{
    uint32_t i = from;
    if (!e->options.parts) {
        return v->n_step;
    }
    while (i < v->n_step && v->step[i].part <= v->step[from].part) {
        i++;
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
