/* The last step: drafts become launches with addresses, and the tables of the plan are filled. */
#include <stdlib.h>
#include "runtime/plan/internal.h"

struct operand place_address(const struct variant_build *v, const struct place *p)
{
    const struct builder *b = v->b;
    struct operand o = p->o;
    if (p->home == HOME_STORAGE) {
        o.offset += b->storages.at[p->index].offset;
    } else if (p->home == HOME_BUFFER) {
        const struct buffer *x = &v->buffers.at[p->index];
        o.offset += x->storage != NONE ? b->storages.at[x->storage].offset + x->storage_offset
                                       : b->p->planned_offset + x->offset;
    }
    return o;
}

void emit_drafts(struct variant_build *v)
{
    struct builder *b = v->b;
    v->op = arena_array(b->arena, struct plan_op, v->drafts.n);
    for (uint32_t j = 0; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        uint32_t n_out = draft_outs(d);
        struct operand *o = arena_array(b->arena, struct operand, (size_t)d->n_in + n_out);
        struct plan_op *op = &v->op[j];
        for (uint32_t i = 0; i < d->n_in; i++) {
            o[i] = d->in[i].o;
        }
        for (uint32_t i = 0; i < n_out; i++) {
            o[d->n_in + i] = draft_out(d, i)->o;
        }
        *op = (struct plan_op){
            .op = (uint16_t)d->op, .part = (uint8_t)d->part, .stop = d->stop, .node = d->node};
        op->k = (struct kargs){.in = o,
                               .out = o + d->n_in,
                               .n_in = (uint16_t)d->n_in,
                               .n_out = (uint16_t)n_out,
                               .attr = d->attr,
                               .n_attr = d->n_attr,
                               .group = d->group,
                               .node = d->node};
        op->k.work_bytes = op_workspace(d->op, &op->k, &b->o->target);
        if (op->k.work_bytes > b->p->workspace_bytes) {
            b->p->workspace_bytes = op->k.work_bytes;
        }
    }
}

static void address_ops(struct variant_build *v)
{
    for (uint32_t j = 0; j < v->drafts.n; j++) {
        const struct draft *d = &v->drafts.at[j];
        struct plan_op *op = &v->op[j];
        struct operand *o = (struct operand *)op->k.in;
        for (uint32_t i = 0; i < d->n_in; i++) {
            o[i] = place_address(v, &d->in[i]);
        }
        for (uint32_t i = 0; i < op->k.n_out; i++) {
            o[d->n_in + i] = place_address(v, draft_out(d, i));
        }
        if (d->loop) {
            v->loop[d->loop].plan->counter = o[d->n_in].offset;
            op->loop = v->loop[d->loop].plan;
        }
        op->k.work = op->k.work_bytes ? v->b->p->workspace_offset : 0;
    }
}

static struct operand *addresses(const struct variant_build *v, const struct place *p, uint32_t n)
{
    struct operand *o = arena_array(v->b->arena, struct operand, n);
    for (uint32_t i = 0; i < n; i++) {
        o[i] = place_address(v, &p[i]);
    }
    return o;
}

static int by_first(const void *a, const void *b)
{
    const struct plan_buffer *x = a, *y = b;
    if (x->first != y->first) {
        return x->first < y->first ? -1 : 1;
    }
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The variant's buffers in plan.buffer, in the order of their makers; raw rows also give their variable its
 * place. */
static void list_buffers(struct variant_build *v, struct plan_variant *out)
{
    struct plan *p = v->b->p;
    out->buffer0 = p->n_buffer;
    for (uint32_t i = 0; i < v->buffers.n; i++) {
        const struct buffer *x = &v->buffers.at[i];
        if (x->storage != NONE || x->carried || x->gone) {
            continue; /* in the prefix; inside of its carry; nowhere */
        }
        uint64_t offset = p->planned_offset + x->offset;
        p->buffer[p->n_buffer++] = (struct plan_buffer){
            v->index,     x->node,   offset,         round_up(x->bytes, PLAN_ALIGN), x->first, x->last,
            x->root != i, x->pinned, x->raw_var != 0};
        if (x->raw_var) {
            struct operand o = v->b->var_view[x->raw_var];
            o.offset = offset;
            p->var[x->raw_var] = (struct plan_var){offset, x->bytes, o};
        }
    }
    out->n_buffer = p->n_buffer - out->buffer0;
    qsort(p->buffer + out->buffer0, out->n_buffer, sizeof *p->buffer, by_first);
}

/* A buffer whose bytes an in-place result takes over does not die: its heir starts at its last launch, at its
 * offset. */
static bool has_heir(const struct plan *p, const struct plan_variant *v, const struct plan_buffer *x)
{
    uint32_t lo = 0, hi = v->n_buffer;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (p->buffer[v->buffer0 + mid].first < x->last) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    for (; lo < v->n_buffer && p->buffer[v->buffer0 + lo].first == x->last; lo++) {
        const struct plan_buffer *y = &p->buffer[v->buffer0 + lo];
        if (y != x && y->in_place && y->offset == x->offset && x->bytes) {
            return true;
        }
    }
    return false;
}

static void list_deaths(const struct plan *p, struct plan_variant *v, struct arena *a)
{
    v->die0 = arena_array(a, uint32_t, (size_t)v->n_op + 1);
    v->dying = arena_array(a, uint32_t, v->n_buffer);
    bool *dies = arena_array(a, bool, v->n_buffer);
    for (uint32_t i = 0; i < v->n_buffer && v->n_op; i++) {
        const struct plan_buffer *x = &p->buffer[v->buffer0 + i];
        dies[i] = !x->to_end && !has_heir(p, v, x);
        v->die0[x->last + 1] += dies[i];
    }
    for (uint32_t j = 0; j < v->n_op; j++) {
        v->die0[j + 1] += v->die0[j];
    }
    uint32_t *next = arena_array(a, uint32_t, v->n_op);
    memcpy(next, v->die0, v->n_op * sizeof *next);
    for (uint32_t i = 0; i < v->n_buffer && v->n_op; i++) {
        if (dies[i]) {
            v->dying[next[p->buffer[v->buffer0 + i].last]++] = v->buffer0 + i;
        }
    }
}

static void emit_variant(struct variant_build *v, struct plan_variant *out)
{
    struct builder *b = v->b;
    const struct phase *f = &b->g->phases.at[v->phase];
    address_ops(v);
    *out = (struct plan_variant){.phase = v->phase,
                                 .rows = v->rows,
                                 .is_tail = v->is_tail,
                                 .op = v->op,
                                 .n_op = v->drafts.n,
                                 .n_metric = f->metrics.n,
                                 .metric0 = b->metric0[v->phase],
                                 .n_output = f->outputs.n,
                                 .n_assert = f->asserts.n,
                                 .has_ok = f->ok != 0,
                                 .planned = v->planned,
                                 .bound = v->bound,
                                 .peak = v->peak,
                                 .order = v->packing};
    struct operand *metric = addresses(v, v->metric, f->metrics.n);
    out->metric = arena_array(b->arena, struct plan_metric, f->metrics.n);
    for (uint32_t i = 0; i < f->metrics.n; i++) {
        out->metric[i] = (struct plan_metric){f->metrics.at[i].name, f->metrics.at[i].mode, metric[i]};
    }
    out->output = addresses(v, v->output, f->outputs.n);
    out->assert_value = addresses(v, v->assert_value, f->asserts.n);
    if (f->ok) {
        out->ok = place_address(v, &v->ok);
    }
    list_buffers(v, out);
    list_deaths(b->p, out, b->arena);
}

static void size_arena(struct builder *b)
{
    struct plan *p = b->p;
    uint64_t all = 0, device = 0;
    p->workspace_offset = p->persistent;
    p->planned_offset = p->persistent + round_up(p->workspace_bytes, PLAN_ALIGN);
    for (uint32_t i = 0; i < b->n_variant; i++) {
        const struct variant_build *v = &b->variant[i];
        all = v->planned > all ? v->planned : all;
        enum phase_kind kind = b->g->phases.at[v->phase].kind;
        if ((kind == PHASE_USER || kind == PHASE_RUN) && v->planned > device) {
            device = v->planned;
        }
    }
    p->bytes = p->planned_offset + all;
    p->device_bytes = p->planned_offset + device;
}

void emit_addresses(struct builder *b)
{
    struct plan *p = b->p;
    uint32_t n = 0;
    size_arena(b);
    for (uint32_t i = 0; i < b->n_variant; i++) {
        n += b->variant[i].buffers.n;
    }
    p->buffer = arena_array(b->arena, struct plan_buffer, n);
    p->variant = arena_array(b->arena, struct plan_variant, b->n_variant);
    p->n_variant = b->n_variant;
    for (uint32_t i = 0; i < b->n_variant; i++) {
        emit_variant(&b->variant[i], &p->variant[i]);
    }
    p->constant = b->constants.at;
    p->n_constant = b->constants.n;
    p->gradient = b->gradients.at;
    p->n_gradient = b->gradients.n;
    p->copy = b->copies.at;
    p->n_copy = b->copies.n;
}
