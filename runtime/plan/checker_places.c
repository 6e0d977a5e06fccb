/* Where things lie: the persistent prefix has no overlaps, planned buffers that live at the same time have
 * none, everything is aligned and in bounds, and each operand stays inside one buffer that is live, or inside
 * the prefix. Under no_reuse there are red zones between buffers.
 */
#include <stdlib.h>
#include "runtime/plan/checker.h"

struct piece {
    struct extent at;
    const char *name;
};

static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->at.from < y->at.from ? -1 : x->at.from > y->at.from;
}

static bool raw_rows(const struct var *v)
{
    const char *mark = strrchr(v->key, '#');
    return v->kind == VAR_DATA && mark && !strcmp(mark, "#raw");
}

/* Storages of the prefix, parameters excluded since their trees stand for them. */
static uint32_t list_pieces(const struct plan *p, struct piece *x)
{
    const struct graph *g = p->graph;
    uint32_t n = 0;
    for (uint32_t t = 0; t < g->trees.n; t++) {
        x[n++] =
            (struct piece){{p->tree_offset[t], p->tree_offset[t] + p->tree_bytes[t]}, g->trees.at[t].name};
    }
    for (uint32_t i = 1; i < g->vars.n; i++) {
        const struct var *v = &g->vars.at[i];
        if (!raw_rows(v) && !(v->kind == VAR_PARAM && v->tree)) {
            x[n++] = (struct piece){{p->var[i].offset, p->var[i].offset + p->var[i].bytes}, v->key};
        }
    }
    for (uint32_t i = 0; i < p->n_gradient; i++) {
        x[n++] =
            (struct piece){{p->gradient[i].offset, p->gradient[i].offset + p->gradient[i].bytes}, "gradient"};
    }
    for (uint32_t i = 0; i < p->n_constant; i++) {
        x[n++] = (struct piece){{p->constant[i].offset, p->constant[i].offset + 8}, "constant"};
    }
    x[n++] = (struct piece){{p->control, p->control + sizeof(struct control)}, "control block"};
    return n;
}

static enum status check_prefix(const struct plan *p, struct arena *a, struct diag_sink *sink)
{
    const struct graph *g = p->graph;
    struct piece *x =
        arena_array(a, struct piece, (size_t)g->trees.n + g->vars.n + p->n_gradient + p->n_constant + 1);
    uint32_t n = list_pieces(p, x);
    qsort(x, n, sizeof *x, by_start);
    uint64_t end = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (x[i].at.from == x[i].at.end) {
            continue;
        }
        if (x[i].at.from < end || x[i].at.end > p->persistent) {
            return plan_wrong(p, sink, 0, "%s at %llu overlaps what lies before it or leaves the prefix",
                              x[i].name, (unsigned long long)x[i].at.from);
        }
        end = x[i].at.end;
    }
    for (uint32_t i = 1; i < g->vars.n; i++) {
        const struct var *v = &g->vars.at[i];
        if (v->kind == VAR_PARAM && v->tree) {
            uint64_t from = p->tree_offset[v->tree - 1], room = p->tree_bytes[v->tree - 1];
            if (p->var[i].offset < from || p->var[i].offset + p->var[i].bytes > from + room) {
                return plan_wrong(p, sink, 0, "parameter %s lies outside of its tree", v->key);
            }
        }
    }
    return ST_OK;
}

/* One value may take over the bytes of another at the launch where the other one ends: same place, same size.
 */
static bool handed_over(const struct plan_buffer *a, const struct plan_buffer *b)
{
    bool same = a->first == b->first; /* raw rows are there from the first launch on */
    const struct plan_buffer *from = (same ? b->in_place : a->first < b->first) ? a : b,
                             *to = from == a ? b : a;
    return to->in_place && from->last == to->first && from->offset == to->offset && from->bytes == to->bytes;
}

static int by_offset(const void *a, const void *b)
{
    const struct plan_buffer *x = *(const struct plan_buffer *const *)a,
                             *y = *(const struct plan_buffer *const *)b;
    if (x->offset != y->offset) {
        return x->offset < y->offset ? -1 : 1;
    }
    return x->first < y->first ? -1 : x->first > y->first;
}

static enum status check_pair(const struct plan *p, const struct plan_buffer *x, const struct plan_buffer *y,
                              struct diag_sink *sink)
{
    bool together = x->first <= y->last && y->first <= x->last;
    if (p->no_reuse && y->offset < x->offset + x->bytes + PLAN_RED_ZONE) {
        return plan_wrong(p, sink, x->node, "no red zone between this buffer and that of node %u", y->node);
    }
    if (together && y->offset < x->offset + x->bytes && !handed_over(x, y)) {
        return plan_wrong(p, sink, x->node,
                          "its buffer and that of node %u share bytes from %llu on while both live", y->node,
                          (unsigned long long)y->offset);
    }
    return ST_OK;
}

static enum status check_buffers(const struct plan *p, const struct plan_variant *v, struct arena *a,
                                 struct diag_sink *sink)
{
    const struct plan_buffer **x = arena_array(a, const struct plan_buffer *, v->n_buffer);
    uint64_t room = p->no_reuse ? PLAN_RED_ZONE : 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n_buffer; i++) {
        const struct plan_buffer *b = &p->buffer[v->buffer0 + i];
        if (b->offset % PLAN_ALIGN) {
            return plan_wrong(p, sink, b->node, "its buffer at %llu is not aligned",
                              (unsigned long long)b->offset);
        }
        if (b->offset < p->planned_offset || b->offset + b->bytes > p->bytes ||
            b->offset + b->bytes > p->planned_offset + v->planned || b->first > b->last ||
            b->last >= (v->n_op ? v->n_op : 1)) {
            return plan_wrong(p, sink, b->node,
                              "its buffer at %llu leaves the planned region or the schedule",
                              (unsigned long long)b->offset);
        }
        if (b->bytes) {
            x[n++] = b;
        }
    }
    qsort(x, n, sizeof *x, by_offset);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n && x[j]->offset < x[i]->offset + x[i]->bytes + room; j++) {
            TRY(check_pair(p, x[i], x[j], sink));
        }
    }
    return ST_OK;
}

struct finder {
    const struct plan *p;
    const struct plan_variant *v;
    const struct plan_buffer **by_offset;
    uint64_t *reach; /* largest end among the buffers up to this one */
    uint32_t n;
};

static struct finder finder_new(const struct plan *p, const struct plan_variant *v, struct arena *a)
{
    struct finder f = {p, v, arena_array(a, const struct plan_buffer *, v->n_buffer),
                       arena_array(a, uint64_t, v->n_buffer), v->n_buffer};
    for (uint32_t i = 0; i < f.n; i++) {
        f.by_offset[i] = &p->buffer[v->buffer0 + i];
    }
    qsort(f.by_offset, f.n, sizeof *f.by_offset, by_offset);
    for (uint32_t i = 0; i < f.n; i++) {
        uint64_t end = f.by_offset[i]->offset + f.by_offset[i]->bytes;
        f.reach[i] = i && f.reach[i - 1] > end ? f.reach[i - 1] : end;
    }
    return f;
}

/* A buffer that holds all of `e` during launch i. */
static bool inside_live_buffer(const struct finder *f, struct extent e, uint32_t i)
{
    uint32_t lo = 0, hi = f->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->by_offset[mid]->offset <= e.from) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    while (lo > 0 && f->reach[lo - 1] >= e.end) {
        const struct plan_buffer *b = f->by_offset[--lo];
        if (b->first <= i && i <= b->last && e.end <= b->offset + b->bytes) {
            return true;
        }
    }
    return false;
}

static enum status check_operand(const struct finder *f, const struct operand *o, uint32_t i,
                                 struct diag_sink *sink)
{
    const struct plan_op *op = &f->v->op[i];
    struct extent e = operand_extent(o);
    size_t size = dtype_size((enum dtype)o->dtype);
    if (size && o->offset % size) {
        return plan_wrong(f->p, sink, op->node,
                          "launch %u: an operand at %llu is not aligned to its elements", i,
                          (unsigned long long)o->offset);
    }
    if (e.from == e.end || (e.from < e.end && e.end <= f->p->persistent)) {
        return ST_OK;
    }
    if (e.from > e.end || e.from < f->p->planned_offset || !inside_live_buffer(f, e, i)) {
        return plan_wrong(f->p, sink, op->node,
                          "launch %u: an operand reaches from %llu to %llu, outside of every live buffer", i,
                          (unsigned long long)e.from, (unsigned long long)e.end);
    }
    return ST_OK;
}

static enum status check_operands(const struct plan *p, const struct plan_variant *v, struct arena *a,
                                  struct diag_sink *sink)
{
    struct finder f = finder_new(p, v, a);
    for (uint32_t i = 0; i < v->n_op; i++) {
        const struct kargs *k = &v->op[i].k;
        for (uint32_t n = 0; n < k->n_in; n++) {
            TRY(check_operand(&f, &k->in[n], i, sink));
        }
        for (uint32_t n = 0; n < k->n_out; n++) {
            TRY(check_operand(&f, &k->out[n], i, sink));
        }
        if (k->work_bytes && (k->work < p->workspace_offset || k->work + k->work_bytes > p->planned_offset ||
                              k->work % PLAN_ALIGN)) {
            return plan_wrong(p, sink, v->op[i].node, "launch %u: scratch outside of the workspace", i);
        }
        if (i && v->op[i].part < v->op[i - 1].part) {
            return plan_wrong(p, sink, v->op[i].node,
                              "launch %u: its part comes before that of the launch before it", i);
        }
    }
    return ST_OK;
}

enum status check_places(const struct plan *p, struct diag_sink *sink)
{
    struct arena *a = arena_new();
    enum status s = check_prefix(p, a, sink);
    if (s == ST_OK && (p->workspace_offset < p->persistent ||
                       p->planned_offset < p->workspace_offset + p->workspace_bytes ||
                       p->bytes < p->planned_offset || p->device_bytes > p->bytes)) {
        s = plan_wrong(p, sink, 0, "the regions of the arena overlap");
    }
    for (uint32_t i = 0; i < p->n_variant && s == ST_OK; i++) {
        s = check_buffers(p, &p->variant[i], a, sink);
        s = s == ST_OK ? check_operands(p, &p->variant[i], a, sink) : s;
    }
    arena_free(a);
    return s;
}
