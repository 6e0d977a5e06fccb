/* From a group to a frame: axes that all operands step through evenly become one, and every value is placed.
 */
#include "kernels/codegen/internal.h"

static void mark_used(struct frame *f)
{
    const struct group *g = f->g;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        const struct group_instr *in = &g->instr[i];
        if (in->kind == GROUP_LOAD) {
            f->used[in->operand] = true;
            f->turning[in->operand] = (struct turning){in->turn, in->back, in->counter, in->n_in > 0};
        } else if (in->kind == GROUP_INDEX) {
            f->used[column_index(f, in->operand)] = true;
        }
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        uint32_t c = column_out(f, g->store[i].operand);
        f->used[c] = true;
        f->turning[c] = (struct turning){.bytes = g->store[i].turn, .counter = g->store[i].counter};
    }
}

/* Stride of a column along an axis of the domain, and whether a result does not vary along it. */
static int64_t domain_stride(const struct frame *f, uint32_t column, int axis, bool *away)
{
    *away = false;
    if (column >= f->k->n_in + (uint32_t)f->k->n_out) {
        return column_index(f, (uint16_t)axis) == column;
    }
    const struct operand *o = column_operand(f, column);
    *away = column >= f->k->n_in && o->dim[axis] == 1 && f->g->dim[axis] != 1;
    return *away ? 0 : o->stride[axis];
}

static bool merges(const struct frame *f, int axis, int into)
{
    for (uint32_t c = 0; c < f->n_column; c++) {
        bool away = false;
        int64_t s = f->used[c] ? domain_stride(f, c, axis, &away) : 0;
        if (f->used[c] && (f->stride[c][into] != s * f->g->dim[axis] || away != (f->away[c] >> into & 1))) {
            return false;
        }
    }
    return true;
}

static void push_axis(struct frame *f, int axis, int first)
{
    int last = f->n_axis - 1;
    int64_t n = f->g->dim[axis];
    if (last >= first && merges(f, axis, last)) {
        f->dim[last] *= n;
    } else {
        f->dim[++last] = n;
    }
    f->n_axis = last + 1;
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (f->used[c]) {
            bool away;
            f->stride[c][last] = domain_stride(f, c, axis, &away);
            f->away[c] |= (uint32_t)away << last;
        }
    }
}

/* The axes [from, to) of the domain; at least one where `some`. */
static void push_axes(struct frame *f, int from, int to, bool some)
{
    int first = f->n_axis;
    int64_t n = 1;
    for (int a = from; a < to; a++) {
        n *= f->g->dim[a];
    }
    for (int a = from; a < to && n > 0; a++) {
        if (f->g->dim[a] != 1) {
            push_axis(f, a, first);
        }
    }
    if (f->n_axis == first && some) {
        f->dim[f->n_axis++] = n;
    }
}

static bool varies(const struct frame *f, uint32_t column)
{
    for (int a = 0; a < f->n_axis; a++) {
        if (f->stride[column][a] != 0) {
            return true;
        }
    }
    return false;
}

static void place_value(struct frame *f, uint16_t i)
{
    const struct group_instr *in = &f->g->instr[i];
    struct value *v = &f->value[i];
    v->fixed = in->kind == GROUP_CONST || in->kind == GROUP_SCALAR ||
               (in->kind == GROUP_LOAD && !varies(f, in->operand)) ||
               (in->kind == GROUP_INDEX && !varies(f, column_index(f, in->operand)));
    bool made = in->kind >= GROUP_ELEM && in->kind != GROUP_REDUCE;
    v->fixed = v->fixed || made;
    for (uint8_t k = 0; k < in->n_in; k++) {
        const struct value *from = &f->value[in->in[k]];
        v->level = from->level > v->level ? from->level : v->level;
        v->fixed = v->fixed && from->fixed;
    }
    if (in->kind == GROUP_REDUCE) {
        v->level++;
        v->fixed = false;
        f->walks = v->level > f->walks ? v->level : f->walks;
    }
    v->full = !v->fixed && (is_flat(f) || !in->row);
}

static void use_at(struct frame *f, uint16_t value, uint16_t walk)
{
    struct value *v = &f->value[value];
    v->place = walk < v->place ? walk : v->place;
}

/* A full value is made in the first walk that wants it; a result leaves as soon as it can. */
static void place_values(struct frame *f)
{
    const struct group *g = f->g;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        place_value(f, i);
        f->value[i].place = UINT16_MAX;
    }
    for (uint16_t i = 0; i < g->n_store; i++) {
        uint16_t v = g->store[i].value;
        use_at(f, v, f->value[v].level);
    }
    for (uint16_t i = g->n_instr; i-- > 0;) {
        const struct value *v = &f->value[i];
        const struct group_instr *in = &g->instr[i];
        if (f->value[i].place == UINT16_MAX) {
            f->value[i].place = v->level;
        }
        for (uint8_t k = 0; k < in->n_in; k++) {
            use_at(f, in->in[k], in->kind == GROUP_REDUCE ? (uint16_t)(v->level - 1) : v->place);
        }
        f->walks = v->full && v->place + 1 > f->walks ? v->place + 1 : f->walks;
    }
}

static bool needs_64_bits(const struct frame *f)
{
    if (f->rows >= INT32_MAX / 2 || f->inside >= INT32_MAX / 2) {
        return true;
    }
    for (uint32_t c = 0; c < f->n_column; c++) {
        double reach = 0;
        for (int a = 0; a < f->n_axis; a++) {
            int64_t s = f->stride[c][a];
            reach += (double)(s < 0 ? -s : s) * (double)f->dim[a];
        }
        if (reach >= INT32_MAX / 2) {
            return true;
        }
    }
    return false;
}

void frame_make(struct frame *f, const struct kargs *k, struct arena *a)
{
    *f = (struct frame){.arena = a, .k = k, .g = k->group, .functions.arena = a, .body.arena = a};
    f->n_column = (uint32_t)k->n_in + k->n_out + f->g->rank;
    f->stride = arena_alloc(a, f->n_column * sizeof *f->stride);
    f->used = arena_array(a, bool, f->n_column);
    f->away = arena_array(a, uint32_t, f->n_column);
    f->turning = arena_array(a, struct turning, f->n_column);
    f->value = arena_array(a, struct value, f->g->n_instr);
    mark_used(f);
    push_axes(f, 0, is_flat(f) ? 0 : f->g->outer, false);
    f->n_outer = f->n_axis;
    push_axes(f, is_flat(f) ? 0 : f->g->outer, f->g->rank, true);
    f->rows = is_flat(f) ? 1 : group_rows(f->g);
    f->inside = is_flat(f) ? group_points(f->g) : group_inside(f->g);
    place_values(f);
    f->wide = needs_64_bits(f);
}
