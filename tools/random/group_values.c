/* What groups must give: the CPU kernels of their instructions one after another, over all points at once. */
#include <math.h>
#include <stdlib.h>
#include "kernels/cpu/cpu.h"
#include "runtime/base/bf16.h"
#include "tools/random/groups.h"

static double get(const char *at, enum dtype t)
{
    return t == DT_F32    ? (double)*(const float *)at
           : t == DT_F64  ? *(const double *)at
           : t == DT_BF16 ? (double)bf16_widen(*(const struct bf16 *)at)
           : t == DT_I32  ? *(const int32_t *)at
                          : *(const uint8_t *)at;
}

static void run(char *image, enum op op, const struct kargs *k)
{
    const struct cpu_kernel *c = &cpu_kernels[op];
    int64_t n = c->units(k);
    if (n > 0) {
        c->run(image, k, (struct slice){0, n});
    }
    if (c->finish) {
        c->finish(image, k, (struct slice){0, n});
    }
}

struct reference {
    struct group_image *g;
    const struct kargs *k;
    char *image; /* a copy of the image, room for values behind it */
    struct operand value[GROUP_MAX_INSTR];
};

static void index_value(char *at, const struct group *g, uint16_t axis)
{
    int64_t n = group_points(g), below_it = 1;
    for (int a = axis + 1; a < g->rank; a++) {
        below_it *= g->dim[a];
    }
    for (int64_t i = 0; i < n; i++) {
        ((int32_t *)at)[i] = (int32_t)(i / below_it % g->dim[axis]);
    }
}

static void scalar_value(struct reference *r, const struct group_instr *in, const struct operand *o)
{
    const struct control *c = (const struct control *)(r->g->image + r->g->control);
    const struct phase_control *p = &c->phase[0];
    const int64_t count[] = {p->step, p->steps, p->epoch, p->cursor};
    double x = in->op == OP_knob     ? c->knob[in->attr[0]]
               : in->op == OP_metric ? c->metric[in->attr[1]].last
                                     : fmin((double)count[in->attr[1]], INT32_MAX);
    group_put(r->image + o->offset, (enum dtype)o->dtype, x);
}

static void ranges_value(struct reference *r, const struct group_instr *in, const struct operand *o)
{
    const struct operand *table = &r->k->in[in->operand];
    const double(*row)[3] = (const double(*)[3])(r->g->image + table->offset);
    const int32_t *index = (const int32_t *)(r->image + r->value[in->in[0]].offset);
    for (int64_t i = 0; i < group_points(r->k->group); i++) {
        double x = in->value;
        for (int64_t j = 0; j < table->dim[0]; j++) {
            x = index[i] >= row[j][0] && index[i] < row[j][0] + row[j][1] ? row[j][2] : x;
        }
        group_put(r->image + o->offset + (uint64_t)i * dtype_size((enum dtype)o->dtype), (enum dtype)o->dtype,
                  x);
    }
}

/* Room for a value at all points, whatever it is. */
static struct operand room(const struct group *g, enum dtype t, uint64_t *at)
{
    struct operand o = {.offset = *at, .dtype = (uint8_t)t, .rank = g->rank};
    int64_t n = 1;
    for (int a = g->rank - 1; a >= 0; a--) {
        o.dim[a] = g->dim[a];
        o.stride[a] = n;
        n *= g->dim[a];
    }
    *at = (*at + (uint64_t)n * dtype_size(t) + 63) / 64 * 64;
    return o;
}

/* Point by point. */
static void box_value(struct reference *r, const struct group_instr *in, const struct operand *to)
{
    const struct group *g = r->k->group;
    const struct operand *o = &r->k->in[in->operand];
    const char *reads = r->image + r->value[in->in[0]].offset;
    int64_t size = (int64_t)dtype_size((enum dtype)in->dtype);
    for (int64_t i = 0; i < group_points(g); i++) {
        int64_t steps = 0, rest = i;
        for (int a = g->rank - 1; a >= 0; a--) {
            steps += rest % g->dim[a] * o->stride[a];
            rest /= g->dim[a];
        }
        char *cell = r->image + to->offset + i * size;
        memset(cell, 0, (size_t)size);
        if (reads[i]) {
            memcpy(cell, r->image + ((int64_t)o->offset - in->back + steps * size), (size_t)size);
        }
    }
}

static void compute(struct reference *r, uint16_t i, uint64_t *at)
{
    const struct group *g = r->k->group;
    const struct group_instr *in = &g->instr[i];
    struct operand from[3], *to = &r->value[i];
    int64_t axes[LIMIT_RANK];
    for (uint8_t j = 0; j < in->n_in; j++) {
        from[j] = r->value[in->in[j]];
    }
    struct kargs k = {
        .in = from, .out = to, .n_in = in->n_in, .n_out = 1, .attr = in->attr, .n_attr = in->n_attr};
    *to = room(g, (enum dtype)in->dtype, at);
    if (in->kind == GROUP_LOAD && in->n_in) {
        box_value(r, in, to);
    } else if (in->kind == GROUP_LOAD) {
        from[0] = group_moved(r->g, r->k->in, &r->k->in[in->operand], in->counter, in->turn);
        k.n_in = 1;
        run(r->image, OP_copy, &k);
    } else if (in->kind == GROUP_INDEX) {
        index_value(r->image + to->offset, g, in->operand);
    } else if (in->kind == GROUP_RANGES) {
        ranges_value(r, in, to);
    } else if (in->kind == GROUP_CHECK) {
        run(r->image, OP_copy, &k);
    } else if (in->kind == GROUP_ELEM) {
        run(r->image, (enum op)in->op, &k);
    } else if (in->kind == GROUP_REDUCE) {
        for (int a = g->outer; a < g->rank; a++) {
            axes[a - g->outer] = a;
            to->stride[a] = 0;
        }
        int64_t n = 1;
        for (int a = g->outer - 1; a >= 0; a--) {
            to->stride[a] = n;
            n *= g->dim[a];
        }
        struct operand result = *to;
        result.rank = g->outer;
        k.out = &result;
        k.attr = axes;
        k.n_attr = (uint32_t)(g->rank - g->outer);
        run(r->image, (enum op)in->op, &k);
    } else {
        memset(to->stride, 0, sizeof to->stride);
        if (in->kind == GROUP_CONST) {
            group_put(r->image + to->offset, (enum dtype)in->dtype, in->value);
        } else {
            scalar_value(r, in, to);
        }
    }
}

static uint64_t element_at(const struct operand *o, int64_t number)
{
    int64_t steps = 0;
    for (int a = o->rank - 1; a >= 0; a--) {
        steps += number % o->dim[a] * o->stride[a];
        number /= o->dim[a];
    }
    return o->offset + (uint64_t)(steps * (int64_t)dtype_size((enum dtype)o->dtype));
}

static void leave(struct reference *r, const struct group_store *s)
{
    struct operand from = r->value[s->value],
                   to = group_moved(r->g, r->k->in, &r->k->out[s->operand], s->counter, s->turn);
    for (int a = 0; a < to.rank; a++) {
        from.dim[a] = to.dim[a]; /* the first point along axes of size 1 */
    }
    int64_t n = operand_count(&to);
    size_t size = dtype_size((enum dtype)to.dtype);
    for (int64_t i = 0; i < n; i++) {
        memcpy(r->g->image + element_at(&to, i), r->image + element_at(&from, i), size);
    }
}

/* What the launch reads, at its place in the copy. */
static void copy_inputs(struct reference *r)
{
    const struct group_image *g = r->g;
    memcpy(r->image + g->control, g->image + g->control, sizeof(struct control));
    for (uint16_t i = 0; i < r->k->n_in; i++) {
        for (uint32_t j = 0; j < g->place.n; j++) {
            const struct group_place *p = &g->place.at[j];
            if (r->k->in[i].offset >= p->offset && r->k->in[i].offset < p->offset + p->bytes) {
                memcpy(r->image + p->offset, g->image + p->offset, p->bytes);
            }
        }
    }
}

void group_reference(struct group_image *g, const struct kargs *k)
{
    const struct group *x = k->group;
    uint64_t bytes = g->bytes + (uint64_t)x->n_instr * (8 * (uint64_t)group_points(x) + 64), at = g->bytes;
    struct reference *r = mem_alloc(sizeof *r);
    r->g = g;
    r->k = k;
    r->image = mem_alloc(bytes);
    copy_inputs(r);
    for (uint16_t i = 0; i < x->n_instr; i++) {
        compute(r, i, &at);
    }
    for (uint16_t i = 0; i < x->n_store; i++) {
        leave(r, &x->store[i]);
    }
    mem_free(r->image, bytes);
    mem_free(r, sizeof *r);
}

double group_difference(const struct group_image *g, const struct group_case *c, const char *got)
{
    double worst = 0;
    const struct kargs *k = &c->op.k;
    for (uint16_t o = 0; o < k->n_out; o++) {
        const struct group_store *s = &k->group->store[o];
        struct operand now = group_moved(g, k->in, &k->out[o], s->counter, s->turn), *x = &now;
        enum dtype t = (enum dtype)x->dtype;
        int64_t n = operand_count(x);
        for (int64_t i = 0; i < n; i++) {
            uint64_t at = element_at(x, i);
            double a = get(g->image + at, t), b = get(got + at, t);
            double step =
                t == DT_BF16 && a != 0 && !isinf(a) && c->tolerance > 0 ? ldexp(1, ilogb(a) - 7) : 0;
            double allowed = c->tolerance * fmax(1, fabs(a)) + step, d = fabs(a - b);
            if (a == b || (a != a && b != b)) {
                continue;
            }
            worst = d != d || isinf(d) || d / allowed != d / allowed ? (double)INFINITY
                                                                     : fmax(worst, d / allowed);
        }
    }
    return worst;
}
