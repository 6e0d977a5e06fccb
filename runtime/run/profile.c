/* Time, bytes and arithmetic of every launch of a step, held against what the machine can do. */
#include "kernels/kernel.h"
#include "runtime/run/bench.h"
#include "runtime/run/internal.h"

/* Rates measured on the device named (docs/performance.md): device memory read plus written; sustained
 * products of 4,096 cubed. */
static const struct peaks {
    const char *name;
    double bandwidth, f32, tf32, bf16;
} table[] = {
    {"NVIDIA H200", 4.27e12, 51e12, 350e12, 700e12},
};

static struct peaks device_peaks(const struct run *r)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strncmp(r->device.name, table[i].name, strlen(table[i].name)) == 0) {
            return table[i];
        }
    }
    return (struct peaks){.bandwidth = 0};
}

static double copy_rate(struct arena *a)
{
    enum { BYTES = 32 << 20 };
    char *from = arena_alloc(a, BYTES), *to = arena_alloc(a, BYTES);
    double best = 1e300;
    memset(from, 1, BYTES);
    memset(to, 1, BYTES);
    for (int i = 0; i < 5; i++) {
        double start = clock_seam.seconds();
        memcpy(to, from, BYTES);
        double took = clock_seam.seconds() - start;
        best = took < best ? took : best;
    }
    return 2.0 * BYTES / best;
}

/* Of one core; bandwidth is shared by all of them. */
static struct peaks cpu_peaks(struct arena *a)
{
    return (struct peaks){.name = "a copy of 32 MiB on one core, timed now", .bandwidth = copy_rate(a)};
}

static double product_peak(const struct peaks *p, const struct op_cost *c)
{
    return c->dtype == DT_BF16 ? p->bf16 : c->dtype != DT_F32 ? 0 : c->tf32 ? p->tf32 : p->f32;
}

static void set_share(struct profile_row *row, const struct peaks *p)
{
    double peak = row->cost.product ? product_peak(p, &row->cost) : 0;
    double by_bytes = p->bandwidth > 0 ? row->cost.bytes / p->bandwidth : 0;
    double by_flops = peak > 0 ? row->cost.flops / peak : 0,
           least = by_bytes > by_flops ? by_bytes : by_flops;
    row->by_flops = by_flops > by_bytes;
    row->share = row->seconds > 0 ? least / row->seconds : 0;
}

static const char *place_text(struct arena *a, const struct graph *g, uint32_t node)
{
    struct span s = graph_node(g, node)->span;
    uint32_t line, column;
    if (!s.file || s.file >= g->sources.list.n) {
        return "";
    }
    source_line_column(&g->sources.list.at[s.file], s.start, &line, &column);
    return arena_printf(a, "%s:%u", g->sources.list.at[s.file].path, line);
}

static struct profile_row row_of(struct run *r, struct arena *a, const struct plan_op *op)
{
    const struct node *n = graph_node(r->graph, op->node);
    return (struct profile_row){.op = op_table[op->op].name,
                                .scope = r->graph->scopes.at[n->scope],
                                .place = place_text(a, r->graph, op->node),
                                .part = (enum part)op->part,
                                .cost = op_cost_of(op)};
}

enum status run_profile(struct run *r, struct arena *a, struct profile *out)
{
    struct bench b;
    TRY(run_first_step(r, &b));
    uint32_t phase = (uint32_t)user_phase(r->graph, b.phase);
    const struct plan_variant *v = plan_find(r->plan, phase, false);
    TRY(run_up_to(r, phase));
    if (!r->backend->profile) {
        return diag_emit(r->sink, DIAG_U0003, NO_SPAN, "%s cannot time single launches", r->device_name);
    }
    double *seconds = arena_array(a, double, v->n_op);
    int64_t *times = arena_array(a, int64_t, v->n_op);
    enum status st = r->backend->profile(r->exec, (uint32_t)(v - r->plan->variant), seconds);
    if (st != ST_OK) {
        return device_failed(r, st);
    }
    struct profile_row *row = arena_array(a, struct profile_row, v->n_op);
    struct peaks p = r->backend == &backend_cpu ? cpu_peaks(a) : device_peaks(r);
    *out = (struct profile){.phase = b.phase, .device = r->device_name, .row = row, .n = v->n_op};
    out->bandwidth = p.bandwidth;
    out->peaks = p.name ? p.name : "";
    op_times(v, times);
    for (uint32_t i = 0; i < v->n_op; i++) {
        row[i] = row_of(r, a, &v->op[i]);
        row[i].times = times[i];
        row[i].seconds = seconds[i];
        set_share(&row[i], &p);
        out->seconds += seconds[i] * (double)times[i];
    }
    return ST_OK;
}
