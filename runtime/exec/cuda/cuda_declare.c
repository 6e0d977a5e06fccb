/* --debug-plan under compute-sanitizer: the arena is declared to the tool as a heap, and every value in it as
 * a region of that heap, so that memcheck sees an access between or beyond values and initcheck a read of
 * what this launch has not written yet.
 *
 * What outlives a tick is declared once, as written, with what generated kernels and segments count with
 * behind the arena. The values of a variant are declared before its launch, as unwritten, and taken back when
 * they die, those inside of a loop in each iteration; scratch lives as long as its op. (Plans for
 * --debug-plan reuse nothing, so regions never overlap.) Without a tool that listens there is no heap, and
 * cuda_debug.c poisons and reads back instead; with one it must not, since a fill is a write and a read-back
 * an access between values.
 */
#include "runtime/exec/cuda/cuda_exec.h"

enum { COUNTERS = CODEGEN_COUNTERS * sizeof(uint32_t) }; /* bytes, the last of the arena's block */

static enum status open_region(struct exec *e, uint64_t offset, uint64_t bytes)
{
    if (bytes > 0) {
        CUDA_TRY(e, region_open, e->heap, e->arena + offset, bytes);
    }
    return ST_OK;
}

static enum status open_written(struct exec *e, uint64_t offset, uint64_t bytes)
{
    TRY(open_region(e, offset, bytes));
    if (bytes > 0) {
        CUDA_TRY(e, region_written, e->arena + offset, bytes, e->stream);
    }
    return ST_OK;
}

static enum status open_variables(struct exec *e)
{
    const struct plan *p = e->plan;
    for (uint32_t t = 0; t < p->graph->trees.n; t++) {
        TRY(open_written(e, p->tree_offset[t], p->tree_bytes[t]));
    }
    for (uint32_t i = 1; i < p->graph->vars.n; i++) {
        const struct var *v = &p->graph->vars.at[i];
        bool in_tree = v->kind == VAR_PARAM && v->tree;
        if (!in_tree && p->var[i].offset + p->var[i].bytes <= p->persistent) {
            TRY(open_written(e, p->var[i].offset, p->var[i].bytes));
        }
    }
    return ST_OK;
}

/* Constants lie side by side, eight bytes each. */
static enum status open_constants(struct exec *e)
{
    const struct plan *p = e->plan;
    uint64_t from = UINT64_MAX, to = 0;
    for (uint32_t i = 0; i < p->n_constant; i++) {
        uint64_t at = p->constant[i].offset;
        from = at < from ? at : from;
        to = at + sizeof(double) > to ? at + sizeof(double) : to;
    }
    return to > 0 ? open_written(e, from, to - from) : ST_OK;
}

static enum status open_persistent(struct exec *e)
{
    const struct plan *p = e->plan;
    TRY(open_constants(e));
    TRY(open_written(e, p->control, sizeof(struct control)));
    TRY(open_variables(e));
    TRY(open_written(e, e->segment_state, sizeof(struct segment_state)));
    TRY(open_written(e, e->counters, COUNTERS));
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        TRY(open_written(e, p->gradient[i].offset, p->gradient[i].bytes));
    }
    return ST_OK;
}

enum status cuda_declare_open(struct exec *e)
{
    CUDA_TRY(e, heap_open, e->arena, e->counters + COUNTERS, &e->heap);
    return e->heap ? open_persistent(e) : ST_OK;
}

static enum status close_region(struct exec *e, uint64_t offset)
{
    CUDA_TRY(e, region_close, e->arena + offset);
    return ST_OK;
}

static bool is_planned(const struct exec *e, const struct plan_buffer *b)
{
    return b->offset >= e->plan->planned_offset && b->bytes > 0;
}

enum status cuda_declare_before(struct exec *e, uint32_t variant)
{
    const struct plan_variant *pv = &e->plan->variant[variant];
    for (uint32_t i = 0; i < pv->n_buffer; i++) {
        const struct plan_buffer *b = &e->plan->buffer[pv->buffer0 + i];
        if (is_planned(e, b)) {
            TRY(open_region(e, b->offset, b->bytes));
        }
    }
    return ST_OK;
}

/* Another iteration of a loop begins: what died in its body is declared anew, as unwritten. */
static enum status open_again(struct exec *e, const struct plan_variant *pv, uint32_t from, uint32_t to)
{
    for (uint32_t i = pv->die0[from]; i < pv->die0[to]; i++) {
        const struct plan_buffer *b = &e->plan->buffer[pv->dying[i]];
        if (is_planned(e, b)) {
            TRY(open_region(e, b->offset, b->bytes));
        }
    }
    return ST_OK;
}

enum status cuda_declare_op(struct exec *e, uint32_t variant, uint32_t op)
{
    const struct kargs *k = &e->plan->variant[variant].op[op].k;
    return open_region(e, k->work, k->work_bytes);
}

enum status cuda_declare_after(struct exec *e, uint32_t variant, uint32_t op, uint32_t next)
{
    const struct plan_variant *pv = &e->plan->variant[variant];
    const struct kargs *k = &pv->op[op].k;
    CUDA_TRY(e, stream_sync, e->stream);
    if (k->work_bytes > 0) {
        TRY(close_region(e, k->work));
    }
    for (uint32_t i = pv->die0 ? pv->die0[op] : 0; pv->die0 && i < pv->die0[next]; i++) {
        const struct plan_buffer *b = &e->plan->buffer[pv->dying[i]];
        if (is_planned(e, b)) {
            TRY(close_region(e, b->offset));
        }
    }
    return pv->die0 && next <= op ? open_again(e, pv, next, op) : ST_OK;
}

enum status cuda_declare_end(struct exec *e, uint32_t variant)
{
    const struct plan_variant *pv = &e->plan->variant[variant];
    CUDA_TRY(e, stream_sync, e->stream);
    for (uint32_t i = 0; i < pv->n_buffer; i++) {
        const struct plan_buffer *b = &e->plan->buffer[pv->buffer0 + i];
        if (b->to_end && is_planned(e, b)) {
            TRY(close_region(e, b->offset));
        }
    }
    return ST_OK;
}
