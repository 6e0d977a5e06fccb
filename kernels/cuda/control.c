/* Descriptions of the operators that read the control block, of the random draws, and of the tick. */
#include "kernels/cuda/describe.h"
#include "kernels/tick_args.h"

/* Threads of the block that shares n values. */
static uint32_t lanes(int64_t n)
{
    return n > 256 ? 256 : n < 1 ? 1 : (uint32_t)n;
}

/* step: phase, which. knob: config. metric: phase, metric, absolute index (added by the planner). */
static int control_read(enum op op, const struct kargs *k, struct launch *l)
{
    struct control_params p = {.control = control_operand(k)->offset,
                               .out = k->out[0].offset,
                               .a = k->n_attr > 0 ? (int32_t)k->attr[0] : 0,
                               .b = k->n_attr > 1 ? (int32_t)k->attr[k->n_attr - 1] : 0,
                               .dtype = k->out[0].dtype,
                               .n = (int32_t)operand_count(&k->out[0]),
                               .size = (int32_t)dtype_size((enum dtype)k->out[0].dtype)};
    return launch_make(l, cuda_control_function(op), 1, 1, lanes(p.n), 1, &p, sizeof p);
}

/* replicas: every one along the first axis has draws of its own. */
static int random_launch(enum op op, enum dtype type, const struct kargs *k, struct random_params *p,
                         bool replicas, const struct target *t, struct launch *l)
{
    const struct operand *out = &k->out[0];
    p->out = out->offset;
    p->control = control_operand(k)->offset;
    p->n = operand_count(out);
    if (p->n == 0) {
        return 0;
    }
    p->replicas = replicas ? (int32_t)out->dim[0] : 0;
    p->each = p->n / (replicas ? out->dim[0] : 1);
    if (!operand_is_contiguous(out)) {
        return CUDA_UNSUPPORTED;
    }
    return launch_make(l, cuda_random_function(op, type), grid_for(t, p->n, 4 * 256), 1, 256, 1, p,
                       sizeof *p);
}

/* uniform, normal, bernoulli, randint: op id, phase; inside of a loop the last input is the iteration. */
static int draw(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    struct random_params p = {.op_id = (uint64_t)k->attr[0], .phase = (int32_t)k->attr[1]};
    if (op == OP_bernoulli || op == OP_randint) {
        p.p = k->in[0].offset;
        p.own_p = k->in[0].rank > 0;
    }
    p.iterates = k->n_in > op_table[op].n_min + 1; /* behind it stands the control block */
    p.iteration = p.iterates ? k->in[k->n_in - 2].offset : 0;
    return random_launch(op, (enum dtype)(op == OP_bernoulli ? k->in[0].dtype : k->out[0].dtype), k, &p,
                         k->n_attr > 2, t, l);
}

/* op id, n; inputs index and epoch. */
static int shuffle(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    struct random_params p = {.op_id = (uint64_t)k->attr[0],
                              .bound = k->attr[k->n_attr - 1],
                              .index = k->in[0].offset,
                              .epoch = k->in[1].offset,
                              .own_p = k->in[1].rank > 0};
    walk_operands(&p.walk, 2, (const struct operand *const[]){&k->in[0], &k->out[0]});
    return p.bound > UINT32_MAX ? CUDA_UNSUPPORTED : random_launch(op, DT_I32, k, &p, k->n_attr > 2, t, l);
}

/* phase, order, op id. */
static int rows(enum op op, const struct kargs *k, const struct target *t, struct launch *l)
{
    struct random_params p = {
        .phase = (int32_t)k->attr[0], .order = (int32_t)k->attr[1], .op_id = (uint64_t)k->attr[2]};
    return random_launch(op, DT_I32, k, &p, k->n_attr > 3, t, l);
}

#define CONTROL_OP(name, call)                                                                               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max);               \
    int cuda_##name(const struct kargs *k, const struct target *t, struct launch *l, int max)                \
    {                                                                                                        \
        (void)t;                                                                                             \
        return max < 1 ? CUDA_UNSUPPORTED : call;                                                            \
    }
CONTROL_OP(step, control_read(OP_step, k, l))
CONTROL_OP(knob, control_read(OP_knob, k, l))
CONTROL_OP(metric, control_read(OP_metric, k, l))
CONTROL_OP(uniform, draw(OP_uniform, k, t, l))
CONTROL_OP(normal, draw(OP_normal, k, t, l))
CONTROL_OP(bernoulli, draw(OP_bernoulli, k, t, l))
CONTROL_OP(randint, draw(OP_randint, k, t, l))
CONTROL_OP(shuffle, shuffle(OP_shuffle, k, t, l))
CONTROL_OP(rows, rows(OP_rows, k, t, l))

int cuda_segment(const struct plan *p, enum segment_step step, const struct segment_node *node,
                 uint64_t state, uint64_t ring, uint64_t condition, struct launch *out)
{
    struct segment_params s = {
        .control = p->control, .state = state, .ring = ring, .condition = condition, .step = (int32_t)step};
    if (node) {
        s.node = *node;
    }
    if (step == SEGMENT_STOPS) {
        const struct operand *o = &p->variant[node->variant].output[0];
        s.value = o->offset;
        s.is_f32 = o->dtype == DT_F32;
    }
    return launch_make(out, cuda_segment_function(), 1, 1, 1, 1, &s, sizeof s);
}

int cuda_tick(const struct plan *p, uint32_t variant, uint64_t ring, bool first, struct launch *out)
{
    struct tick_params t = {.ring = ring};
    if (tick_args_make(p, variant, &t.args)) {
        return CUDA_UNSUPPORTED;
    }
    t.args.first = first;
    return launch_make(out, cuda_tick_function(), 1, 1, lanes(t.args.n_metric * t.args.replicas), 1, &t,
                       sizeof t);
}
