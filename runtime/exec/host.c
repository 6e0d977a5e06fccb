/* Running the ops of a plan on a host arena. */
#include "runtime/exec/host.h"
#include "kernels/cpu/cpu.h"

/* A cut pays from this many units; library products are cut into larger ones. */
enum { UNITS_ELEMENTWISE = 4, UNITS_LIBRARY = 2 };

struct op_job {
    void *arena;
    const struct plan_op *op;
};
static const struct cpu_kernel *kernel_of(const struct plan_op *op)
{
    return op->op == OP_group ? &cpu_group_kernel : &cpu_kernels[op->op];
}
static void run_units(void *ctx, int64_t from, int64_t to)
{
    const struct op_job *j = ctx;
    kernel_of(j->op)->run(j->arena, &j->op->k, (struct slice){from, to});
}

void host_run_op(void *arena, const struct plan_op *op, struct pool *pool)
{
    const struct cpu_kernel *kernel = kernel_of(op);
    struct op_job job = {arena, op};
    int64_t units = kernel->units(&op->k);
    int worth = op_table[op->op].flags & OPF_LIBRARY ? UNITS_LIBRARY : UNITS_ELEMENTWISE;
    if (units < worth) {
        run_units(&job, 0, units);
    } else {
        pool_run(pool, run_units, &job, units);
    }
    if (kernel->finish) {
        kernel->finish(arena, &op->k, (struct slice){0, 0});
    }
}

uint32_t host_step(void *arena, const struct plan_variant *v, uint32_t i, struct pool *pool)
{
    const struct plan_loop *l = v->op[i].loop;
    if (!l) {
        host_run_op(arena, &v->op[i], pool);
        return i + 1;
    }
    int32_t *counter = (int32_t *)(void *)((char *)arena + l->counter);
    if (v->op[i].op == OP_loop_begin) {
        *counter = l->reverse ? (int32_t)l->count - 1 : 0;
        return l->count ? i + 1 : l->end + 1;
    }
    *counter += l->reverse ? -1 : 1;
    return *counter >= 0 && *counter < l->count ? l->begin + 1 : i + 1;
}

const char *host_op_refusal(const struct plan_op *op)
{
    if (op->loop) {
        return NULL;
    }
    if (op->op >= OP_COUNT || !kernel_of(op)->run) {
        return "has no CPU kernel";
    }
    if (op->op == OP_group) {
        return cpu_group_runs(op->k.group) ? NULL : "holds an operator that is not defined for its input";
    }
    const struct op_info *info = &op_table[op->op];
    if (info->kind == OPK_ELEM && info->sig != SIG_CAST) {
        const struct operand *x = &op->k.in[info->sig == SIG_CHOOSE];
        return elem_run_of((enum op)op->op, (enum dtype)x->dtype)
                   ? NULL
                   : "is not defined for the dtype of its input";
    }
    return NULL;
}

struct tick_args *host_tick_args(const struct plan *p, struct arena *a, char *why, size_t n)
{
    struct tick_args *args = arena_array(a, struct tick_args, p->n_variant);
    for (uint32_t i = 0; i < p->n_variant; i++) {
        const char *problem = tick_args_make(p, i, &args[i]);
        if (problem) {
            snprintf(why, n, "phase `%s`: %s", p->graph->phases.at[p->variant[i].phase].name, problem);
            return NULL;
        }
    }
    return args;
}

void host_place(const struct graph *g, uint32_t node, char *text, size_t n)
{
    if (node < g->nodes.n) {
        struct span at = g->nodes.at[node].span;
        if (at.file > 0 && at.file < g->sources.list.n) {
            uint32_t line, column;
            const struct source *s = &g->sources.list.at[at.file];
            source_line_column(s, at.start, &line, &column);
            snprintf(text, n, "%s:%u", s->path, line);
            return;
        }
    }
    snprintf(text, n, "node %u", node);
}

enum status cpu_run_variant(void *arena, const struct plan *p, uint32_t variant, int threads)
{
    const struct plan_variant *v = &p->variant[variant];
    for (uint32_t i = 0; i < v->n_op; i++) {
        if (host_op_refusal(&v->op[i])) {
            return ST_INTERNAL;
        }
    }
    struct pool *pool = pool_new(threads);
    for (uint32_t i = 0; i < v->n_op;) {
        i = host_step(arena, v, i, pool);
    }
    pool_free(pool);
    const struct control *c = (const struct control *)((const char *)arena + p->control);
    return c->fault.code == FAULT_NONE ? ST_OK : ST_DATA;
}
