/* Values of a tile: loads, instructions, stores. */
#include "kernels/cpu/group.h"

static const struct group_instr *instr_of(const struct group_run *r, int i)
{
    return &r->g->instr[i];
}
static enum dtype work_of(const struct group_run *r, int i)
{
    return work_type((enum dtype)r->g->instr[i].dtype);
}
static bool is_columns(const struct group_run *r)
{
    return r->way == WAY_COLUMNS || r->way == WAY_LONG_COLUMNS;
}

CLONES void round_bf16(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = bf16_widen(bf16_round(x[i]));
    }
}

/* -- values, and operands */

struct view value_view(const struct group_run *r, const struct tile *t, int i)
{
    const struct value *v = &r->value[i];
    (void)t;
    switch (v->class) {
    case CLASS_UNIFORM:
        return (struct view){(char *)(uintptr_t)&live_of(r, v)->number, 0, 0};
    case CLASS_ROW:
        return is_columns(r) ? (struct view){live_of(r, v)->row, 0, v->size}
                             : (struct view){live_of(r, v)->row, v->size, 0};
    default:
        return live_of(r, v)->view;
    }
}

static struct view row_view(const struct group_run *r, int i)
{
    const struct value *v = &r->value[i];
    return v->class == CLASS_UNIFORM ? (struct view){(char *)(uintptr_t)&live_of(r, v)->number, 0, 0}
                                     : (struct view){live_of(r, v)->row, 0, v->size};
}

/* Elements from the start of an operand to the place of number `at` of axes [from, to) in row-major order. */
static int64_t steps_to(const struct operand *o, const int64_t *dims, int from, int to, int64_t at)
{
    int64_t steps = 0;
    for (int i = to - 1; i >= from && at > 0; i--) {
        steps += at % dims[i] * o->stride[i];
        at /= dims[i];
    }
    return steps;
}

static char *element(const struct group_run *r, const struct operand *o, int64_t steps)
{
    return r->arena + o->offset + steps * (int64_t)dtype_size((enum dtype)o->dtype);
}

/* The run that takes elements of an operand into scratch memory, and back. */
static void fetch(const struct operand *o, char *to, char *from, int64_t step, int64_t n)
{
    int64_t size = (int64_t)dtype_size((enum dtype)o->dtype);
    if (o->dtype == DT_BF16) {
        bf16_widen_run((float *)(void *)to, from, step * size, n);
    } else {
        iter_copy((size_t)size)((char *[]){to, from}, (int64_t[]){size, step * size}, n);
    }
}
static void put(const struct operand *o, char *to, int64_t step, char *from, int64_t from_step, int64_t n)
{
    int64_t size = (int64_t)dtype_size((enum dtype)o->dtype);
    if (o->dtype == DT_BF16) {
        for (int64_t i = 0; i < n; i++) {
            *(struct bf16 *)(void *)(to + i * step * size) =
                bf16_round(*(float *)(void *)(from + i * from_step));
        }
    } else {
        iter_copy((size_t)size)((char *[]){to, from}, (int64_t[]){step * size, from_step}, n);
    }
}

/* Points (or rows) [at, at + n) of a load. */
static void walk_in(const struct group_run *r, const struct value *v, const struct operand *o, char *to,
                    int64_t at, int64_t n)
{
    char *base[] = {to - at * v->size, r->arena + o->offset};
    if (!v->walk.narrow) {
        load_points(&v->walk, base[1], to, at, n, v->size);
        return;
    }
    iter_run(&v->walk, base, at, at + n, iter_copy((size_t)v->size));
}

/* -- instructions without inputs */

static void load_columns(const struct group_run *r, const struct tile *t, const struct operand *o, char *to,
                         int64_t size)
{
    const struct group *g = r->g;
    int64_t rows = steps_to(o, g->dim, 0, g->outer, t->row), step = o->stride[g->outer - 1];
    for (int64_t l = 0; l < t->lines; l++) {
        int64_t at = rows + steps_to(o, g->dim, g->outer, g->rank, t->at + l);
        fetch(o, to + l * t->n * size, element(r, o, at), step, t->n);
    }
}

static int64_t first_point(const struct group_run *r, const struct tile *t)
{
    return t->rows ? t->row * r->inside + t->at : t->at;
}

/* Where the first point of a tile lies. */
static char *first_place(const struct group_run *r, const struct tile *t, const struct operand *o)
{
    const struct group *g = r->g;
    int64_t rows = steps_to(o, g->dim, 0, g->outer, t->row);
    return element(r, o,
                   t->rows ? rows + steps_to(o, g->dim, g->outer, g->rank, t->at)
                           : steps_to(o, g->dim, 0, g->rank, t->at));
}

/* Unless the points of the tile before are the same. */
static void load_points_anew(const struct group_run *r, const struct tile *t, struct value *v,
                             const struct operand *o)
{
    int64_t at = first_point(r, t), n = t->lines * t->n, phase = v->period ? at % v->period : 0;
    if (!v->period || phase != live_of(r, v)->phase || n > live_of(r, v)->n) {
        walk_in(r, v, o, live_of(r, v)->view.p, at, n);
        live_of(r, v)->phase = phase;
        live_of(r, v)->n = n;
    }
}

/* n elements of a guarded operand, the first of them `at` bytes behind the arena's start: whole runs of those
 * to be read, and of zeros. */
static void load_guarded(const struct group_run *r, int i, char *to, const struct view *guard, int64_t at,
                         int64_t step, int64_t n)
{
    const struct operand *o = &r->k->in[instr_of(r, i)->operand];
    int64_t size = r->value[i].size, cell = (int64_t)dtype_size((enum dtype)o->dtype);
    for (int64_t k = 0, run; k < n; k += run) {
        bool reads = guard->p[k * guard->step];
        for (run = 1; k + run < n && (bool)guard->p[(k + run) * guard->step] == reads; run++) {
        }
        if (reads) {
            fetch(o, to + k * size, r->arena + (at + k * step * cell), step, run);
        } else {
            memset(to + k * size, 0, (size_t)(run * size));
        }
    }
}
/* Points [at, at + n) of axes [0, rank) in row-major order. */
static void load_guarded_points(const struct group_run *r, int i, char *to, struct view guard, int rank,
                                int64_t at, int64_t n)
{
    const struct group_instr *x = instr_of(r, i);
    const struct operand *o = &r->k->in[x->operand];
    int64_t last = rank ? r->g->dim[rank - 1] : 1, step = rank ? o->stride[rank - 1] : 0;
    for (int64_t run; n > 0; n -= run, at += run) {
        int64_t steps = steps_to(o, r->g->dim, 0, rank, at) * (int64_t)dtype_size((enum dtype)o->dtype);
        run = min_i64(last - at % last, n);
        load_guarded(r, i, to, &guard, (int64_t)o->offset - x->back + steps, step, run);
        to += run * r->value[i].size;
        guard.p += run * guard.step;
    }
}
static void load_guarded_columns(const struct group_run *r, const struct tile *t, int i,
                                 const struct view *in)
{
    const struct group *g = r->g;
    const struct group_instr *x = instr_of(r, i);
    const struct operand *o = &r->k->in[x->operand];
    int64_t rows = steps_to(o, g->dim, 0, g->outer, t->row), cell = (int64_t)dtype_size((enum dtype)o->dtype);
    struct view guard = *in;
    for (int64_t l = 0; l < t->lines; l++, guard.p += guard.line) {
        int64_t at = rows + steps_to(o, g->dim, g->outer, g->rank, t->at + l);
        load_guarded(r, i, r->live[i].view.p + l * t->n * r->value[i].size, &guard,
                     (int64_t)o->offset - x->back + at * cell, o->stride[g->outer - 1], t->n);
    }
}
static void load_where(const struct group_run *r, const struct tile *t, int i)
{
    const struct live *live = &r->live[i];
    uint16_t of = instr_of(r, i)->in[0];
    struct view guard = value_view(r, t, of);
    if (r->value[i].class == CLASS_ROW) {
        load_guarded_points(r, i, live->row, row_view(r, of), r->g->outer, t->row, t->rows);
        return;
    }
    if (is_columns(r)) {
        load_guarded_columns(r, t, i, &guard);
        return;
    }
    for (int64_t l = 0; l < t->lines; l++, guard.p += guard.line) {
        load_guarded_points(r, i, live->view.p + l * live->view.line, guard, r->g->rank,
                            first_point(r, t) + l * t->n, t->n);
    }
}

static void load(struct group_run *r, const struct tile *t, int i)
{
    struct value *v = &r->value[i];
    const struct operand *o = &r->k->in[instr_of(r, i)->operand];
    if (instr_of(r, i)->n_in) {
        load_where(r, t, i);
    } else if (v->class == CLASS_ROW) {
        walk_in(r, v, o, live_of(r, v)->row, t->row, t->rows);
    } else if (v->in_memory) {
        live_of(r, v)->view.p = first_place(r, t, o);
    } else if (is_columns(r)) {
        load_columns(r, t, o, live_of(r, v)->view.p, v->size);
    } else {
        load_points_anew(r, t, v, o);
    }
}

/* n places along an axis: every one `each` times, from number `at` of the row-major order on. */
static void count_up(int32_t *to, int64_t size, int64_t each, int64_t at, int64_t n)
{
    int64_t place = at / each % size, left = each - at % each;
    for (int64_t i = 0; i < n;) {
        int64_t run = min_i64(each == 1 ? size - place : left, n - i);
        for (int64_t k = 0; k < run; k++) {
            to[i + k] = (int32_t)(each == 1 ? place + k : place);
        }
        i += run;
        left = each;
        place = each == 1 ? (place + run) % size : place + 1 == size ? 0 : place + 1;
    }
}
static int64_t product(const struct group *g, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++) {
        n *= g->dim[i];
    }
    return n;
}
static void index_values(struct group_run *r, const struct tile *t, int i)
{
    struct value *v = &r->value[i];
    const struct group *g = r->g;
    int axis = instr_of(r, i)->operand;
    if (v->class == CLASS_ROW) {
        count_up((int32_t *)(void *)live_of(r, v)->row, g->dim[axis], product(g, axis + 1, g->outer), t->row,
                 t->rows);
    } else if (!is_columns(r)) {
        count_up((int32_t *)(void *)live_of(r, v)->view.p, g->dim[axis], product(g, axis + 1, g->rank),
                 first_point(r, t), t->lines * t->n);
    } else if (axis < g->outer) {
        for (int64_t l = 0; l < t->lines; l++) {
            count_up((int32_t *)(void *)(live_of(r, v)->view.p + l * live_of(r, v)->view.line), g->dim[axis],
                     product(g, axis + 1, g->outer), t->row, t->n);
        }
    } else {
        for (int64_t l = 0; l < t->lines; l++) {
            int64_t place = (t->at + l) / product(g, axis + 1, g->rank) % g->dim[axis];
            for (int64_t k = 0; k < t->n; k++) {
                ((int32_t *)(void *)(live_of(r, v)->view.p + l * live_of(r, v)->view.line))[k] =
                    (int32_t)place;
            }
        }
    }
}

/* -- instructions over n elements side by side */

static void make_run(struct group_run *r, int i, char *to, const struct view *in, int64_t n)
{
    const struct group_instr *x = instr_of(r, i);
    const struct value *v = &r->value[i];
    char *p[ITER_OPERANDS] = {to};
    int64_t s[ITER_OPERANDS] = {v->size};
    for (int k = 0; k < x->n_in; k++) {
        p[k + 1] = in[k].p;
        s[k + 1] = in[k].step;
    }
    v->run(p, s, n);
    if (x->dtype == DT_BF16) {
        round_bf16((float *)(void *)to, n);
    }
}

static void check_run(struct group_run *r, int i, char *to, const struct view *in, int64_t n)
{
    const struct group_instr *x = instr_of(r, i);
    for (int64_t k = 0; k < n; k++) {
        int32_t label = *(int32_t *)(void *)(in->p + k * in->step);
        if (label < -1 || label >= (int64_t)x->value) {
            fault_raise(cpu_control(r->arena, r->k), FAULT_LABEL, x->node, label, (int64_t)x->value);
        }
        ((int32_t *)(void *)to)[k] = label;
    }
}

/* The number of the range that e lies in, `other` in none; how many places from e on have it too. */
static double range_of(const double (*range)[3], int64_t n, int64_t e, double other, int64_t *left)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if ((int64_t)range[mid][0] <= e) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    int64_t end = lo ? (int64_t)(range[lo - 1][0] + range[lo - 1][1]) : 0;
    bool inside = lo && e < end;
    *left = inside ? end - e : lo < n ? (int64_t)range[lo][0] - e : INT32_MAX;
    return inside ? range[lo - 1][2] : other;
}

/* How many of n places count up from the first one. */
static int64_t ascending(const int32_t *at, int64_t n)
{
    int32_t apart = 0;
    for (int64_t i = 0; i < n; i++) {
        apart |= at[i] ^ (int32_t)(at[0] + i);
    }
    return apart ? 1 : n;
}

static void ranges_run(struct group_run *r, int i, char *to, const struct view *in, int64_t n)
{
    const struct group_instr *x = instr_of(r, i);
    const struct operand *o = &r->k->in[x->operand];
    const double(*range)[3] = (const double(*)[3])cpu_at(r->arena, o);
    const int32_t *at = (const int32_t *)(const void *)in->p;
    int64_t step = in->step / (int64_t)sizeof *at, size = r->value[i].size;
    for (int64_t k = 0, same; k < n; k += same) {
        int64_t e = at[k * step], left = 1;
        double number = range_of(range, o->dim[0], e, x->value, &left), stored;
        cpu_store(&stored, work_of(r, i), number);
        same = step == 1 ? ascending(at + k, min_i64(left, n - k)) : 1;
        struct iter one = {.rank = 1, .count = same, .dim = {same}};
        load_points(&one, (const char *)&stored, to + k * size, 0, same, size);
    }
    if (x->dtype == DT_BF16) {
        round_bf16((float *)(void *)to, n);
    }
}

static void run_of(struct group_run *r, int i, char *to, const struct view *in, int64_t n)
{
    switch (instr_of(r, i)->kind) {
    case GROUP_CHECK:
        check_run(r, i, to, in, n);
        break;
    case GROUP_RANGES:
        ranges_run(r, i, to, in, n);
        break;
    default:
        make_run(r, i, to, in, n);
        break;
    }
}

/* -- tiles */

/* A value of rows at every point, in room of its own. */
static struct view spread(const struct tile *t, const struct view *in, int64_t size, char *to)
{
    iter_fn copy = iter_copy((size_t)size);
    for (int64_t l = 0; l < t->lines; l++) {
        copy((char *[]){to + l * t->n * size, in->p + l * in->line}, (int64_t[]){size, in->step}, t->n);
    }
    return (struct view){to, t->n * size, size};
}

enum { SHORT_LINE = 32 }; /* lines up to this are put together */

static void make_full(struct group_run *r, const struct tile *t, char *room, int i)
{
    const struct group_instr *x = instr_of(r, i);
    struct view in[3];
    bool one = true;
    for (int k = 0; k < x->n_in; k++) {
        const struct value *v = &r->value[x->in[k]];
        in[k] = value_view(r, t, x->in[k]);
        if (v->class == CLASS_ROW && t->lines > 1 && t->n < SHORT_LINE) {
            in[k] = spread(t, &in[k], v->size, room + k * r->full_bytes);
        }
        one = one && in[k].line == in[k].step * t->n;
    }
    struct view out = r->live[i].view;
    if (one) {
        run_of(r, i, out.p, in, t->lines * t->n);
        return;
    }
    for (int64_t l = 0; l < t->lines; l++) {
        run_of(r, i, out.p + l * out.line, in, t->n);
        for (int k = 0; k < x->n_in; k++) {
            in[k].p += in[k].line;
        }
    }
}

void value_make(struct group_run *r, const struct tile *t, char *room, int i)
{
    const struct group_instr *x = instr_of(r, i);
    struct value *v = &r->value[i];
    live_of(r, v)->view.line = t->n * v->size;
    live_of(r, v)->view.step = v->size;
    if (v->forward >= 0) {
        const struct operand *o = &r->k->out[v->forward];
        live_of(r, v)->view.p = first_place(r, t, o);
    }
    if (x->kind == GROUP_LOAD) {
        load(r, t, i);
    } else if (x->kind == GROUP_INDEX) {
        index_values(r, t, i);
    } else if (v->class == CLASS_FULL) {
        make_full(r, t, room, i);
    } else {
        struct view in[3];
        for (int k = 0; k < x->n_in; k++) {
            in[k] = row_view(r, x->in[k]);
        }
        run_of(r, i, live_of(r, v)->row, in, t->rows);
    }
}

void value_uniforms(struct group_run *r)
{
    for (int i = 0; i < r->g->n_instr; i++) {
        const struct group_instr *x = instr_of(r, i);
        struct value *v = &r->value[i];
        char *to = (char *)&live_of(r, v)->number;
        struct view in[3];
        if (v->class != CLASS_UNIFORM) {
            continue;
        }
        switch (x->kind) {
        case GROUP_LOAD:
            in[0] = x->n_in ? row_view(r, x->in[0]) : (struct view){(char *)&(bool){true}, 0, 0};
            load_guarded(r, i, to, &in[0], (int64_t)r->k->in[x->operand].offset - x->back, 1, 1);
            break;
        case GROUP_CONST:
            cpu_store(to, work_of(r, i), x->value);
            break;
        case GROUP_INDEX:
            cpu_store(to, DT_I32, 0);
            break;
        case GROUP_SCALAR:
            cpu_store(to, work_of(r, i), cpu_number(cpu_control(r->arena, r->k), (enum op)x->op, x->attr));
            break;
        default:
            for (int k = 0; k < x->n_in; k++) {
                in[k] = row_view(r, x->in[k]);
            }
            run_of(r, i, to, in, 1);
            break;
        }
        if (x->dtype == DT_BF16) {
            round_bf16((float *)(void *)to, 1);
        }
    }
}

/* -- stores */

/* Numbers [at, at + n) in the row-major order of axes [0, rank), where an operand of size 1 along an axis
 * takes only the first. */
static void store_range(struct group_run *r, const struct operand *o, const struct iter *walk, int rank,
                        char *from, int64_t step, int64_t at, int64_t n)
{
    bool all = true;
    for (int i = 0; i < rank; i++) {
        all = all && o->dim[i] == r->g->dim[i];
    }
    int64_t size = (int64_t)dtype_size(work_type((enum dtype)o->dtype));
    if (all && step == size) {
        char *base[] = {r->arena + o->offset, from - at * step};
        iter_run(walk, base, at, at + n, iter_copy((size_t)size));
        return;
    }
    for (int64_t e = at; e < at + n; e++) {
        int64_t rest = e, steps = 0;
        bool first = true;
        for (int i = rank - 1; i >= 0; i--) {
            int64_t place = rest % r->g->dim[i];
            rest /= r->g->dim[i];
            steps += place * o->stride[i];
            first = first && (place == 0 || o->dim[i] > 1);
        }
        if (first) {
            put(o, element(r, o, steps), 0, from + (e - at) * step, 0, 1);
        }
    }
}

static void store_columns(struct group_run *r, const struct tile *t, const struct operand *o,
                          const struct view *x)
{
    const struct group *g = r->g;
    int64_t rows = steps_to(o, g->dim, 0, g->outer, t->row), step = o->stride[g->outer - 1];
    for (int i = 0; i < g->outer; i++) {
        if (o->dim[i] == 1 && g->dim[i] > 1 && t->row / product(g, i + 1, g->outer) % g->dim[i]) {
            return;
        }
    }
    int64_t n = o->dim[g->outer - 1] == 1 ? 1 : t->n;
    for (int64_t l = 0; l < t->lines; l++) {
        int64_t at = rows + steps_to(o, g->dim, g->outer, g->rank, t->at + l);
        put(o, element(r, o, at), step, x->p + l * x->line, x->step, n);
    }
}

void value_store_rows(struct group_run *r, const struct group_store *s, char *from, int64_t row, int64_t n)
{
    store_range(r, &r->k->out[s->operand], &r->store[s->operand], r->g->outer, from, r->value[s->value].size,
                row, n);
}

static bool is_single(const struct operand *o)
{
    for (int i = 0; i < o->rank; i++) {
        if (o->dim[i] > 1) {
            return false;
        }
    }
    return true;
}

void value_store(struct group_run *r, const struct tile *t, const struct group_store *s)
{
    const struct operand *o = &r->k->out[s->operand];
    struct view x = value_view(r, t, s->value);
    if (is_single(o) && r->value[s->value].class != CLASS_ROW) {
        if (t->row == 0 && t->at == 0) {
            put(o, r->arena + o->offset, 0, x.p, 0, 1);
        }
        return;
    }
    switch (r->value[s->value].class) {
    case CLASS_ROW:
        value_store_rows(r, s, r->live[s->value].row, t->row, t->rows);
        break;
    case CLASS_UNIFORM:
        if (t->rows && t->at == 0) {
            store_range(r, o, NULL, r->g->outer, x.p, 0, t->row, t->rows);
        } else if (!t->rows) {
            store_range(r, o, NULL, r->g->rank, x.p, 0, t->at, t->n);
        }
        break;
    default:
        if (is_columns(r)) {
            store_columns(r, t, o, &x);
        } else if (r->value[s->value].forward != s->operand) {
            store_range(r, o, &r->store[s->operand], r->g->rank, x.p, r->value[s->value].size,
                        first_point(r, t), t->lines * t->n);
        }
        break;
    }
}
