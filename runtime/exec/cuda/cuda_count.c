/* The counting wrapper, generated from cuda_api.def: no call can bypass it. */
#include "runtime/exec/cuda/cuda_api.h"

/* -- graphs that are walked */

static void cuda_walk_body(struct cuda_counter *c, void *graph, void *body)
{
    if (c->audit && c->n_body < CUDA_BODIES) {
        c->body[c->n_body].graph = graph;
        c->body[c->n_body++].body = body;
    } else if (c->audit) {
        c->walk_code = CUDA_NO_MEMORY;
    }
}
static void walk(struct cuda_counter *c, void *graph)
{
    int code = c->inner.graph_walk(c->inner.ctx, graph, &c->n.walk);
    c->walk_code = c->walk_code ? c->walk_code : code;
    for (int i = 0; i < c->n_body; i++) {
        if (c->body[i].graph == graph) {
            walk(c, c->body[i].body);
        }
    }
}
static void cuda_walk_graph(struct cuda_counter *c, void *graph)
{
    if (c->audit) {
        c->n.walk.graphs++;
        walk(c, graph);
    }
}
/* Its address may be another graph's soon, and those of its bodies. */
static void cuda_walk_forget(struct cuda_counter *c, void *graph)
{
    for (int i = 0; i < c->n_body; i++) {
        if (c->body[i].graph == graph) {
            void *body = c->body[i].body;
            c->body[i] = c->body[--c->n_body];
            cuda_walk_forget(c, body);
            i = -1;
        }
    }
}

/* -- calls */

#define CALL(name, text, params, args, count)                                                                \
    static int counted_##name params                                                                         \
    {                                                                                                        \
        struct cuda_counter *c = ctx;                                                                        \
        const struct cuda_api *inner = &c->inner;                                                            \
        struct exec_counts *n = &c->n;                                                                       \
        (void)n;                                                                                             \
        int code = inner->name args;                                                                         \
        if (!code) {                                                                                         \
            count;                                                                                           \
        }                                                                                                    \
        return code;                                                                                         \
    }
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL

static const char *error_text(void *ctx, int code)
{
    struct cuda_counter *c = ctx;
    return c->inner.error_text(c->inner.ctx, code);
}
static const char *blas_text(void *ctx, void *library)
{
    struct cuda_counter *c = ctx;
    return c->inner.blas_text(c->inner.ctx, library);
}

void cuda_count(struct cuda_counter *c, const struct cuda_api *inner, struct cuda_api *out)
{
    *c = (struct cuda_counter){.inner = *inner, .n = {.source = "cuda_api"}};
    out->ctx = c;
    out->error_text = error_text;
    out->blas_text = blas_text;
#define CALL(name, text, params, args, count) out->name = counted_##name;
#include "runtime/exec/cuda/cuda_api.def"
#undef CALL
}

#define CALL(name, text, params, args, count) [CUDA_CALL_##name] = text,
const char *const cuda_call_name[CUDA_CALLS] = {
#include "runtime/exec/cuda/cuda_api.def"
};
