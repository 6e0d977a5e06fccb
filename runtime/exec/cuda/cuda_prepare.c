/* From the plan to descriptions: every op of every device variant becomes kernel launches or a planned
 * library product. Library products run once on the zeroed arena, so that nothing is loaded or allocated
 * later. */
#include "runtime/exec/cuda/cuda_exec.h"

bool cuda_runs_on_host(const struct plan *p, uint32_t variant)
{
    return p->graph->phases.at[p->variant[variant].phase].kind != PHASE_USER;
}

/* The output of the variant is asked for by a segment. */
static bool stops_segment(const struct plan *p, uint32_t variant)
{
    for (uint32_t i = 0; i < p->n_segment; i++) {
        for (uint32_t k = 0; k < p->segment[i].n_node; k++) {
            const struct segment_node *n = &p->segment[i].node[k];
            if (n->kind == SEGMENT_STOP && n->variant == variant) {
                return true;
            }
        }
    }
    return false;
}

static enum status plan_product(struct exec *e, const struct kargs *k, const struct target *t, void **out)
{
    struct gemm g;
    *out = NULL;
    if (!e->library || cuda_matmul_is_own(k, t) || !cudalib_matmul(k, &g)) {
        return ST_OK;
    }
    CUDA_TRY(e, matmul_plan, e->library, &g, out);
    return ST_OK;
}

static enum status unsupported(struct exec *e, uint32_t variant, uint32_t op)
{
    char text[256];
    const struct plan_op *o = &e->plan->variant[variant].op[op];
    const struct operand *first = o->k.n_in ? &o->k.in[0] : &o->k.out[0];
    return cuda_error(e, ST_USAGE, "%s has no CUDA kernel for %s to %s; run with --device cpu",
                      cuda_op_text(e, variant, op, text, sizeof text), dtype_name((enum dtype)first->dtype),
                      o->k.n_out ? dtype_name((enum dtype)o->k.out[0].dtype) : "nothing");
}

/* Launches of a step that is no library product; negative: there is no kernel. */
static int describe(const struct plan_op *o, const struct target *t, struct launch *scratch)
{
    if (o->loop) {
        return o->op == OP_loop_begin ? cuda_loop_opens(o->loop, 0, scratch)
                                      : cuda_loop_turns(o->loop, 0, scratch);
    }
    return o->op < OP_COUNT && cuda_kernels[o->op] ? cuda_kernels[o->op](&o->k, t, scratch, CUDA_MAX_LAUNCHES)
                                                   : CUDA_UNSUPPORTED;
}

static enum status describe_op(struct exec *e, uint32_t variant, uint32_t op, struct launch *scratch,
                               struct cuda_step *s)
{
    const struct plan_op *o = &e->plan->variant[variant].op[op];
    struct target t = {.name = "cuda", .sm = e->device.sm, .n_sm = e->device.n_sm};
    s->op = op;
    s->part = o->part;
    s->loop = o->loop;
    if (o->op < OP_COUNT && op_table[o->op].flags & OPF_LIBRARY) {
        TRY(plan_product(e, &o->k, &t, &s->blas_plan));
        if (s->blas_plan) {
            return ST_OK;
        }
    }
    int n = !o->k.group ? describe(o, &t, scratch)
            : s->kernel ? cuda_group_launch(&o->k, &s->schedule, s->kernel->function, e->counters, scratch)
                        : 0;
    if (n < 0) {
        return unsupported(e, variant, op);
    }
    s->n_launch = (uint32_t)n;
    s->launch = arena_array(e->memory, struct launch, (uint32_t)n);
    memcpy(s->launch, scratch, (uint32_t)n * sizeof *scratch);
    for (int i = 0; i < n; i++) {
        CUDA_TRY(e, function_load, &s->launch[i]);
    }
    return ST_OK;
}

static enum status describe_tick(struct exec *e, uint32_t variant)
{
    struct cuda_variant *v = &e->variant[variant];
    for (int first = 0; first < 2; first++) {
        if (cuda_tick(e->plan, variant, (uint64_t)(uintptr_t)e->ring_device, first, &v->tick[first]) != 1) {
            return cuda_error(e, ST_USAGE, "phase `%s` has more metrics or asserts than one launch reports",
                              e->plan->graph->phases.at[e->plan->variant[variant].phase].name);
        }
    }
    CUDA_TRY(e, function_load, &v->tick[0]);
    return ST_OK;
}

static enum status describe_variant(struct exec *e, uint32_t variant, struct launch *scratch)
{
    const struct plan_variant *pv = &e->plan->variant[variant];
    struct cuda_variant *v = &e->variant[variant];
    for (uint32_t i = 0; i < pv->n_op; i++) {
        v->n_step = i + 1; /* so that a failure releases what exists */
        TRY(describe_op(e, variant, i, scratch, &v->step[i]));
    }
    v->kernels = cuda_add_times(cuda_step_kernels(v, 0, v->n_step), 1, 1); /* and the tick */
    return ST_OK;
}

enum status cuda_step_issue(struct exec *e, const struct cuda_step *s)
{
    if (s->blas_plan) {
        CUDA_TRY(e, matmul_run, s->blas_plan, e->arena, e->stream);
        return ST_OK;
    }
    for (uint32_t i = 0; i < s->n_launch; i++) {
        CUDA_TRY(e, kernel_launch, &s->launch[i], e->arena, e->stream);
    }
    return ST_OK;
}

static enum status warm_up(struct exec *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->n_variant; i++) {
        for (uint32_t s = 0; s < e->variant[i].n_step; s++) {
            if (e->variant[i].step[s].blas_plan) {
                TRY(cuda_step_issue(e, &e->variant[i].step[s]));
                any = true;
            }
        }
    }
    if (any) {
        CUDA_TRY(e, stream_sync, e->stream);
        CUDA_TRY(e, fill, e->arena, 0, e->bytes, e->stream);
    }
    CUDA_TRY(e, stream_sync, e->stream);
    return ST_OK;
}

static enum status describe_all(struct exec *e, struct launch *scratch)
{
    for (uint32_t i = 0; i < e->n_variant; i++) {
        bool alone = !cuda_runs_on_host(e->plan, i);
        if (alone || stops_segment(e->plan, i)) {
            TRY(describe_variant(e, i, scratch));
            TRY(alone ? describe_tick(e, i) : ST_OK);
        }
    }
    return ST_OK;
}

static enum status build_all(struct exec *e)
{
    for (uint32_t i = 0; i < e->n_variant; i++) {
        if (cuda_runs_on_host(e->plan, i)) {
            continue;
        }
        if (e->options.debug_plan) {
            TRY(cuda_debug_prepare(e, i));
        } else if (!e->options.eager) {
            TRY(cuda_graphs_build(e, &e->variant[i]));
        }
        e->variant[i].ready = true;
    }
    TRY(e->options.eager || e->options.debug_plan || e->options.parts ? ST_OK : cuda_segments_build(e));
    CUDA_TRY(e, stream_sync, e->stream);
    return ST_OK;
}

enum status cuda_prepare(struct exec *e, const struct plan *p)
{
    if (!e->arena || e->plan || e->bytes < p->device_bytes) {
        return cuda_error(e, ST_INTERNAL, "prepare needs the arena of %llu bytes, and happens once",
                          (unsigned long long)p->device_bytes);
    }
    e->plan = p;
    e->memory = arena_new();
    e->n_variant = p->n_variant;
    e->variant = arena_array(e->memory, struct cuda_variant, p->n_variant);
    struct launch *scratch = arena_array(e->memory, struct launch, CUDA_MAX_LAUNCHES);
    for (uint32_t i = 0; i < e->n_variant; i++) {
        e->variant[i].step = arena_array(e->memory, struct cuda_step, p->variant[i].n_op);
    }
    TRY(cuda_groups_prepare(e));
    TRY(describe_all(e, scratch));
    TRY(warm_up(e));
    return build_all(e);
}

void cuda_variants_release(struct exec *e)
{
    void *ctx = e->api.ctx;
    for (uint32_t i = 0; i < e->n_variant; i++) {
        struct cuda_variant *v = &e->variant[i];
        for (uint32_t x = 0; x < 2 * CUDA_SEGMENTS; x++) {
            void *exec = v->exec[x / CUDA_SEGMENTS][x % CUDA_SEGMENTS];
            if (exec) {
                e->api.exec_destroy(ctx, exec);
            }
        }
        for (uint32_t s = 0; s < v->n_step; s++) {
            if (v->step[s].blas_plan) {
                e->api.matmul_free(ctx, v->step[s].blas_plan);
            }
        }
    }
    for (uint32_t i = 0; i < e->n_segment; i++) {
        if (e->segment[i]) {
            e->api.exec_destroy(ctx, e->segment[i]);
        }
    }
    cuda_groups_release(e);
    arena_free(e->memory);
    e->memory = NULL;
    e->variant = NULL;
    e->n_variant = e->n_segment = 0;
}
