/* --debug-plan: before a step the planned region is filled with 0xff (NaN, -1), a value is filled again once
 * nobody reads it, and bytes between values hold a pattern that must survive: those beside an op's output are
 * read back after the op, all of them after the step. Under compute-sanitizer the tool is told where values
 * are instead (cuda_declare.c). */
#include <stdlib.h>
#include "runtime/exec/cuda/cuda_exec.h"

enum { POISON = 0xff, ZONE = 0xa5 };

static int by_offset(const void *a, const void *b)
{
    const struct plan_buffer *x = *(const struct plan_buffer *const *)a,
                             *y = *(const struct plan_buffer *const *)b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool is_planned(const struct plan *p, uint64_t offset)
{
    return offset >= p->planned_offset;
}

/* Gaps longer than a red zone are watched at their start only. */
enum status cuda_debug_prepare(struct exec *e, uint32_t variant)
{
    const struct plan *p = e->plan;
    const struct plan_variant *pv = &p->variant[variant];
    struct cuda_variant *v = &e->variant[variant];
    const struct plan_buffer **sorted = arena_array(e->memory, const struct plan_buffer *, pv->n_buffer);
    uint32_t n = 0;
    for (uint32_t i = 0; i < pv->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[pv->buffer0 + i];
        if (is_planned(p, b->offset) && b->bytes > 0) {
            sorted[n++] = b;
        }
    }
    qsort(sorted, n, sizeof *sorted, by_offset);
    v->gap = arena_array(e->memory, struct cuda_gap, n + 1);
    uint64_t end = p->planned_offset;
    uint32_t node = 0;
    for (uint32_t i = 0; i <= n; i++) {
        uint64_t next = i < n ? sorted[i]->offset : e->bytes;
        if (next > end) {
            uint64_t to = next - end > PLAN_RED_ZONE ? end + PLAN_RED_ZONE : next;
            v->gap[v->n_gap++] = (struct cuda_gap){end, to, node};
        }
        if (i < n && sorted[i]->offset + sorted[i]->bytes > end) {
            end = sorted[i]->offset + sorted[i]->bytes;
            node = sorted[i]->node;
        }
    }
    return ST_OK;
}

static enum status check_gap(struct exec *e, uint32_t variant, uint32_t op, const struct cuda_gap *g)
{
    unsigned char bytes[PLAN_RED_ZONE];
    char text[256];
    TRY(cuda_download(e, g->from, bytes, g->to - g->from));
    for (uint64_t i = 0; i < g->to - g->from; i++) {
        if (bytes[i] != ZONE) {
            return cuda_error(
                e, ST_INTERNAL, "%s wrote outside of its value: byte %llu behind the value of node %u",
                cuda_op_text(e, variant, op, text, sizeof text), (unsigned long long)i, g->node);
        }
    }
    return ST_OK;
}

enum status cuda_debug_before(struct exec *e, uint32_t variant)
{
    if (!e->heap_asked) {
        e->heap_asked = true;
        TRY(cuda_declare_open(e));
    }
    if (e->heap) {
        return cuda_declare_before(e, variant);
    }
    const struct cuda_variant *v = &e->variant[variant];
    uint64_t from = e->plan->planned_offset;
    if (from < e->bytes) {
        CUDA_TRY(e, fill, e->arena + from, POISON, e->bytes - from, e->stream);
    }
    for (uint32_t i = 0; i < v->n_gap; i++) {
        CUDA_TRY(e, fill, e->arena + v->gap[i].from, ZONE, v->gap[i].to - v->gap[i].from, e->stream);
    }
    return ST_OK;
}

/* The gaps beside the op's output: the last that starts at or before it, and the next. */
static enum status check_output(struct exec *e, uint32_t variant, uint32_t op)
{
    const struct cuda_variant *v = &e->variant[variant];
    const struct kargs *k = &e->plan->variant[variant].op[op].k;
    if (k->n_out == 0 || !is_planned(e->plan, k->out[0].offset)) {
        return ST_OK;
    }
    uint32_t next = 0;
    while (next < v->n_gap && v->gap[next].from <= k->out[0].offset) {
        next++;
    }
    if (next > 0) {
        TRY(check_gap(e, variant, op, &v->gap[next - 1]));
    }
    return next < v->n_gap ? check_gap(e, variant, op, &v->gap[next]) : ST_OK;
}

enum status cuda_debug_op(struct exec *e, uint32_t variant, uint32_t op)
{
    return e->heap ? cuda_declare_op(e, variant, op) : ST_OK;
}

enum status cuda_debug_after(struct exec *e, uint32_t variant, uint32_t op, uint32_t next)
{
    if (e->heap) {
        return cuda_declare_after(e, variant, op, next);
    }
    const struct plan_variant *pv = &e->plan->variant[variant];
    TRY(check_output(e, variant, op));
    for (uint32_t i = pv->die0 ? pv->die0[op] : 0; pv->die0 && i < pv->die0[next]; i++) {
        const struct plan_buffer *b = &e->plan->buffer[pv->dying[i]];
        if (is_planned(e->plan, b->offset) && b->bytes > 0) {
            CUDA_TRY(e, fill, e->arena + b->offset, POISON, b->bytes, e->stream);
        }
    }
    return ST_OK;
}

enum status cuda_debug_end(struct exec *e, uint32_t variant)
{
    if (e->heap) {
        return cuda_declare_end(e, variant);
    }
    const struct cuda_variant *v = &e->variant[variant];
    uint32_t last = e->plan->variant[variant].n_op;
    for (uint32_t i = 0; i < v->n_gap && last > 0; i++) {
        TRY(check_gap(e, variant, last - 1, &v->gap[i]));
    }
    return ST_OK;
}
