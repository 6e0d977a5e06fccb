/* See groups.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/bf16.h"
#include "tests/operands.h"
#include "tools/random/groups.h"

enum { WORK = 4 << 20, AXES = 4 };

/* -- the image */
void group_image_open(struct group_image *g, uint64_t bytes)
{
    *g = (struct group_image){.memory = arena_new(), .image = mem_alloc(bytes), .bytes = bytes, .random = 1};
    struct control c = {.key = 7};
    c.phase[0] = (struct phase_control){.step = 41, .steps = 900, .epoch = 2, .cursor = 5000000000};
    c.knob[3] = 1.25;
    c.metric[5].last = 0.75;
    g->control = PLAN_ALIGN;
    memcpy(g->image + g->control, &c, sizeof c);
    g->work = (g->control + sizeof c + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    g->work_bytes = WORK;
    g->used = g->work + WORK;
}

void group_image_close(struct group_image *g)
{
    mem_free(g->image, g->bytes);
    arena_free(g->memory);
}

static uint32_t below(struct group_image *g, uint32_t n)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->random >> 33) % n);
}

static bool chance(struct group_image *g, uint32_t percent)
{
    return below(g, 100) < percent;
}

static double between(struct group_image *g, double lo, double hi)
{
    return lo + (hi - lo) * (below(g, 1 << 24) + 0.5) / (1 << 24);
}

/* Room for the elements of a shape, `skew` elements behind a multiple of 256 bytes. */
static struct operand place(struct group_image *g, enum dtype t, int rank, const int64_t *size, int skew)
{
    struct operand o = {.dtype = (uint8_t)t, .rank = (uint8_t)rank};
    int64_t n = 1;
    for (int a = rank - 1; a >= 0; a--) {
        o.dim[a] = size[a];
        o.stride[a] = n;
        n *= size[a];
    }
    uint64_t bytes = (uint64_t)n * dtype_size(t);
    o.offset = g->used + (uint64_t)skew * dtype_size(t);
    g->used = (o.offset + bytes + 2 * PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
    if (g->used > g->bytes) {
        fprintf(stderr, "groups: the cases need more than %llu bytes\n", (unsigned long long)g->bytes);
        exit(7);
    }
    memset(g->image + o.offset, 0x5a, bytes);
    vec_push(g->memory, &g->place, ((struct group_place){o.offset, bytes, false}));
    return o;
}

void group_put(char *at, enum dtype t, double x)
{
    if (t == DT_F32) {
        *(float *)at = (float)x;
    } else if (t == DT_F64) {
        *(double *)at = x;
    } else if (t == DT_BF16) {
        *(struct bf16 *)at = bf16_round((float)x);
    } else if (t == DT_I32) {
        *(int32_t *)at = (int32_t)x;
    } else {
        *at = x != 0;
    }
}

static double draw(struct group_image *g, enum op_domain d, enum dtype t)
{
    double s = between(g, -1, 1);
    if (t == DT_BOOL || d == DOM_BOOLS) {
        return s < 0;
    }
    if (t == DT_I32 || d == DOM_INTLIKE) {
        return d == DOM_POSITIVE                   ? 1 + floor(4 * fabs(s))
               : d == DOM_NONZERO && fabs(s) < 0.2 ? 1
                                                   : trunc(6 * s);
    }
    switch (d) {
    case DOM_POSITIVE:
        return 0.1 + 3 * fabs(s);
    case DOM_NONZERO:
    case DOM_KINK0:
        return s < 0 ? 3 * s - 0.1 : 3 * s + 0.1;
    case DOM_UNIT:
        return 0.95 * s;
    default:
        return 3 * s;
    }
}

static void fill(struct group_image *g, const struct operand *o, enum op_domain d)
{
    int64_t n = operand_count(o);
    size_t size = dtype_size((enum dtype)o->dtype);
    for (int64_t i = 0; i < n; i++) {
        group_put(g->image + o->offset + (uint64_t)i * size, (enum dtype)o->dtype,
                  draw(g, d, (enum dtype)o->dtype));
    }
}

/* -- a group under construction */
struct maker {
    struct group_image *g;
    struct group group;
    struct operand in[GROUP_MAX_OPERANDS], out[GROUP_MAX_OPERANDS];
    uint16_t n_in, n_out, counter; /* counter: its operand, from 1 on */
    struct group_instr instr[GROUP_MAX_INSTR];
    struct group_store store[GROUP_MAX_OPERANDS];
    unsigned varies[GROUP_MAX_INSTR]; /* axes */
    bool exact[GROUP_MAX_INSTR];
    double most[GROUP_MAX_INSTR]; /* |value| at most, about */
    double tolerance;
    int64_t dim[AXES];
};

static struct maker *maker_new(struct group_image *g, int rank, int outer, const int64_t *size)
{
    struct maker *m = arena_new_of(g->memory, struct maker);
    m->g = g;
    m->group.rank = (uint8_t)rank;
    m->group.outer = (uint8_t)outer;
    memcpy(m->group.dim, size, (size_t)rank * sizeof *size);
    memcpy(m->dim, size, (size_t)rank * sizeof *size);
    m->tolerance = 2e-5;
    return m;
}

static unsigned inside_axes(const struct maker *m)
{
    return (1u << m->group.rank) - (1u << m->group.outer);
}

/* The instruction with what follows from its inputs; returns the value. */
static uint16_t push(struct maker *m, struct group_instr in, unsigned varies, bool exact, double most)
{
    uint16_t i = m->group.n_instr++;
    for (uint8_t k = 0; k < in.n_in && in.kind != GROUP_REDUCE; k++) {
        varies |= m->varies[in.in[k]];
    }
    in.row = m->group.outer < m->group.rank && !(varies & inside_axes(m));
    in.node = i + 1u;
    m->instr[i] = in;
    m->varies[i] = varies;
    m->exact[i] = exact;
    m->most[i] = most;
    return i;
}

/* The counter of a loop, in its third iteration. */
enum { TURNS = 4, TURN = 2 };
static uint16_t counter(struct maker *m)
{
    if (m->counter == 0) {
        struct operand o = place(m->g, DT_I32, 0, NULL, 0);
        group_put(m->g->image + o.offset, DT_I32, TURN);
        m->in[m->n_in] = o;
        m->counter = ++m->n_in;
    }
    return (uint16_t)(m->counter - 1);
}

/* Room for the elements of a shape; with `turn`, in a stack of such parts: the part of the counter 0, and the
 * bytes from one to the next. */
static struct operand place_part(struct maker *m, enum dtype t, const int64_t *size, int skew, int64_t *turn)
{
    int64_t all[AXES + 1] = {TURNS};
    int rank = m->group.rank;
    if (!turn) {
        return place(m->g, t, rank, size, skew);
    }
    memcpy(all + 1, size, (size_t)rank * sizeof *size);
    struct operand o = place(m->g, t, rank + 1, all, skew);
    *turn = o.stride[0] * (int64_t)dtype_size(t);
    o.rank = (uint8_t)rank;
    memmove(o.dim, o.dim + 1, (size_t)rank * sizeof *o.dim);
    memmove(o.stride, o.stride + 1, (size_t)rank * sizeof *o.stride);
    return o;
}

struct operand group_moved(const struct group_image *g, const struct operand *in, const struct operand *o,
                           uint16_t counter, int64_t turn)
{
    struct operand now = *o;
    now.offset += turn ? (uint64_t)(turn * *(const int32_t *)(g->image + in[counter].offset)) : 0;
    return now;
}

/* An input that repeats along the axes in `still`; its axes lie in memory in another order with `turned`. */
static uint16_t load_any(struct maker *m, enum dtype t, enum op_domain d, unsigned still, bool turned,
                         int skew, bool part)
{
    struct group_instr in = {.kind = GROUP_LOAD, .dtype = (uint8_t)t};
    int rank = m->group.rank, x = 0, y = rank - 1;
    int64_t size[AXES] = {0}, swap = 0;
    unsigned varies = 0;
    turned = turned && rank > 1;
    for (int a = 0; a < rank; a++) {
        size[a] = still >> a & 1 ? 1 : m->dim[a];
        varies |= (unsigned)(size[a] != 1) << a;
    }
    if (turned) {
        swap = size[x];
        size[x] = size[y];
        size[y] = swap;
    }
    struct operand o = place_part(m, t, size, skew, part ? &in.turn : NULL);
    in.counter = part ? counter(m) : 0;
    struct operand now = group_moved(m->g, m->in, &o, in.counter, in.turn);
    fill(m->g, &now, d);
    o = turned ? swapped(o, x, y) : o;
    for (int a = 0; a < rank; a++) {
        o = still >> a & 1 ? repeated(o, a, m->dim[a]) : o;
    }
    in.operand = m->n_in;
    m->in[m->n_in++] = o;
    return push(m, in, varies, true, 3);
}
static uint16_t load(struct maker *m, enum dtype t, enum op_domain d, unsigned still, bool turned, int skew)
{
    return load_any(m, t, d, still, turned, skew, false);
}

static uint16_t elem(struct maker *m, enum op op, enum dtype t, int n, const uint16_t *in, bool exact,
                     double most)
{
    struct group_instr x = {.kind = GROUP_ELEM, .dtype = (uint8_t)t, .n_in = (uint8_t)n, .op = (uint16_t)op};
    memcpy(x.in, in, (size_t)n * sizeof *in);
    if (op == OP_cast || op == OP_bitcast) {
        int64_t *attr = arena_new_of(m->g->memory, int64_t);
        *attr = t;
        x.attr = attr;
        x.n_attr = 1;
    }
    return push(m, x, 0, exact, most);
}

static uint16_t reduce(struct maker *m, enum op op, uint16_t x, double most)
{
    struct group_instr in = {
        .kind = GROUP_REDUCE, .dtype = m->instr[x].dtype, .n_in = 1, .op = (uint16_t)op, .in = {x}};
    unsigned rows = (1u << m->group.outer) - 1;
    for (int a = 0; a < m->group.rank; a++) {
        rows &= m->dim[a] == 1 ? ~(1u << a) : ~0u;
    }
    return push(m, in, rows, false, most);
}

static uint16_t scalar(struct maker *m, enum op op, enum dtype t, int64_t a, int64_t b)
{
    int64_t *attr = arena_array(m->g->memory, int64_t, 2);
    attr[0] = a;
    attr[1] = b;
    m->group.control = true;
    return push(m,
                (struct group_instr){.kind = GROUP_SCALAR,
                                     .dtype = (uint8_t)t,
                                     .op = (uint16_t)op,
                                     .attr = attr,
                                     .n_attr = op == OP_knob ? 1 : 2},
                0, true, 50);
}

static uint16_t constant(struct maker *m, enum dtype t, double x)
{
    return push(m, (struct group_instr){.kind = GROUP_CONST, .dtype = (uint8_t)t, .value = x}, 0, true,
                fabs(x));
}

static uint16_t index_along(struct maker *m, int axis)
{
    return push(m, (struct group_instr){.kind = GROUP_INDEX, .dtype = DT_I32, .operand = (uint16_t)axis},
                m->dim[axis] != 1 ? 1u << axis : 0, true, (double)m->dim[axis]);
}

static void mark_made(struct group_image *g, uint64_t offset)
{
    for (uint32_t i = g->place.n; i-- > 0;) {
        if (g->place.at[i].offset == offset) {
            g->place.at[i].made = true;
            return;
        }
    }
}

static void store_part(struct maker *m, uint16_t value, struct operand o, int64_t turn)
{
    mark_made(m->g, o.offset);
    m->out[m->n_out] = o;
    m->store[m->group.n_store++] = (struct group_store){.value = value,
                                                        .operand = m->n_out++,
                                                        .counter = turn ? counter(m) : 0,
                                                        .node = m->instr[value].node,
                                                        .turn = turn};
}
static void store_to(struct maker *m, uint16_t value, struct operand o)
{
    store_part(m, value, o, 0);
}

static void store_any(struct maker *m, uint16_t value, int skew, bool part)
{
    int64_t size[AXES];
    for (int a = 0; a < m->group.rank; a++) {
        size[a] = m->varies[value] >> a & 1 ? m->dim[a] : 1;
    }
    int64_t turn = 0;
    struct operand o = place_part(m, (enum dtype)m->instr[value].dtype, size, skew, part ? &turn : NULL);
    store_part(m, value, o, turn);
}
static void store(struct maker *m, uint16_t value, int skew)
{
    store_any(m, value, skew, false);
}

static void finish(struct maker *m, const char *text)
{
    struct group_image *g = m->g;
    m->group.instr = m->instr;
    m->group.store = m->store;
    for (uint16_t i = 0; i < m->group.n_instr; i++) {
        m->group.control |= m->instr[i].kind == GROUP_CHECK;
    }
    if (m->group.control) {
        m->in[m->n_in++] = (struct operand){.offset = g->control};
    }
    struct kargs k = {
        .in = m->in, .out = m->out, .n_in = m->n_in, .n_out = m->n_out, .group = &m->group, .work = g->work};
    k.node = g->at.n + 1;
    struct target t = {.name = "cuda", .sm = 90, .n_sm = 132};
    k.work_bytes = op_workspace(OP_group, &k, &t);
    struct group_case c = {.op = {.op = OP_group, .node = k.node, .k = k}, .tolerance = m->tolerance};
    snprintf(c.text, sizeof c.text, "%s", text);
    vec_push(g->memory, &g->at, c);
}

/* -- random groups */
static int64_t draw_dim(struct group_image *g)
{
    static const int64_t size[] = {1,  2,  3,  4,  5,   7,   8,   10,  16,   24,
                                   31, 32, 33, 64, 100, 128, 256, 300, 1000, 1024};
    return size[below(g, sizeof size / sizeof *size)];
}

static struct maker *draw_domain(struct group_image *g)
{
    int64_t size[AXES], points = 1;
    int rank = 1 + (int)below(g, AXES);
    bool rows = chance(g, 60);
    for (int a = 0; a < rank; a++) {
        do {
            size[a] = draw_dim(g);
        } while (points * size[a] > 70000);
        points *= size[a];
    }
    if (chance(g, 12)) {
        size[rank - 1] *= 1 + 120000 / points; /* a long row, or many points */
    }
    return maker_new(g, rank, rows ? (int)below(g, (uint32_t)rank) : rank, size);
}

static enum dtype draw_type(struct group_image *g, bool wide)
{
    uint32_t n = below(g, 10);
    return wide ? DT_F64 : n < 7 ? DT_F32 : n < 8 ? DT_BF16 : n < 9 ? DT_I32 : DT_BOOL;
}

/* A value of a type (DT_NONE: a float) that is there already, or -1. With `full`, one that varies inside of
 * rows; with `exact`, one that all backends agree about. */
static int find(struct maker *m, enum dtype t, bool full, bool exact, double most)
{
    for (int tries = 0; tries < 20; tries++) {
        uint16_t i = (uint16_t)below(m->g, m->group.n_instr);
        bool type = t ? m->instr[i].dtype == t : dtype_is_float((enum dtype)m->instr[i].dtype);
        if (type && (!full || !m->instr[i].row) && (!exact || m->exact[i]) && m->most[i] <= most) {
            return i;
        }
    }
    return -1;
}

struct tame {
    uint16_t op;
    double most;     /* of the result; 0: of what goes in */
    double argument; /* at most */
    bool jumps;      /* wants exact inputs */
};
static const struct tame tame[] = {
    {OP_add, 0, 100, false},    {OP_sub, 0, 100, false},      {OP_mul, 0, 30, false},
    {OP_max, 0, 1e3, false},    {OP_min, 0, 1e3, false},      {OP_neg, 0, 1e6, false},
    {OP_abs, 0, 1e6, false},    {OP_relu, 0, 1e6, false},     {OP_tanh, 1, 30, false},
    {OP_sigmoid, 1, 30, false}, {OP_silu, 0, 30, false},      {OP_gelu, 0, 30, false},
    {OP_exp, 20, 3, false},     {OP_softplus, 30, 30, false}, {OP_where, 0, 1e6, false},
    {OP_lt, 1, 1e6, true},      {OP_ge, 1, 1e6, true},        {OP_eq, 1, 1e6, true},
    {OP_land, 1, 1, false},     {OP_lnot, 1, 1, false},       {OP_floor, 0, 1e3, true},
    {OP_cast, 0, 1e3, true},    {OP_floordiv, 0, 1e3, true},  {OP_sin, 1, 10, false},
};

static bool draw_inputs(struct maker *m, const struct tame *row, uint16_t *in)
{
    const struct op_info *info = &op_table[row->op];
    enum dtype t = info->sig == SIG_LOGIC || info->sig == SIG_CHOOSE ? DT_BOOL : DT_NONE;
    if (info->sig == SIG_NUMBER || info->sig == SIG_COMPARE || info->sig == SIG_EQUAL ||
        info->sig == SIG_CAST) {
        static const enum dtype any[] = {DT_NONE, DT_NONE, DT_I32, DT_BOOL};
        t = any[below(m->g, info->sig == SIG_EQUAL || info->sig == SIG_CAST ? 4 : 3)];
    }
    for (int i = 0; i < info->n_min; i++) {
        int v = find(m, t, false, row->jumps, row->argument);
        if (v < 0) {
            return false;
        }
        in[i] = (uint16_t)v;
        t = i == 0 && info->sig == SIG_CHOOSE ? DT_NONE : (enum dtype)m->instr[v].dtype;
    }
    return true;
}

static void draw_elem(struct maker *m)
{
    const struct tame *row = &tame[below(m->g, sizeof tame / sizeof *tame)];
    const struct op_info *info = &op_table[row->op];
    uint16_t in[3] = {0};
    if (!draw_inputs(m, row, in)) {
        return;
    }
    enum dtype x = (enum dtype)m->instr[in[info->sig == SIG_CHOOSE]].dtype, to = x;
    double most = 0;
    bool exact = info->tolerance == 0;
    for (int i = 0; i < info->n_min; i++) {
        double a = m->most[in[i]];
        most = row->op == OP_mul && i == 1              ? most * a
               : row->op == OP_add || row->op == OP_sub ? most + a
                                                        : fmax(most, a);
        exact = exact && m->exact[in[i]];
    }
    if (info->sig == SIG_COMPARE || info->sig == SIG_EQUAL || info->sig == SIG_LOGIC) {
        to = DT_BOOL;
    }
    if (row->op == OP_cast) {
        static const enum dtype all[] = {DT_F32, DT_BF16, DT_I32, DT_BOOL};
        to = x == DT_F64 ? DT_F64 : all[below(m->g, 4)];
    }
    /* what a GPU may contract is no longer the same to the bit */
    exact = exact && row->op != OP_add && row->op != OP_sub && row->op != OP_mul;
    elem(m, (enum op)row->op, to, info->n_min, in, exact, row->most > 0 ? row->most : most);
}

/* A box inside of the domain along the axes `boxed`, of zeros around it; it repeats along those in `still`.
 */
static uint16_t load_box(struct maker *m, enum dtype t, unsigned boxed, unsigned still, int skew)
{
    struct group_instr in = {.kind = GROUP_LOAD, .dtype = (uint8_t)t, .n_in = 1};
    int64_t size[AXES], start[AXES] = {0}, box[AXES];
    int guard = -1;
    for (int a = 0; a < m->group.rank; a++) {
        box[a] = m->dim[a];
        if (boxed >> a & 1) {
            start[a] = below(m->g, (uint32_t)m->dim[a]);
            box[a] = 1 + below(m->g, (uint32_t)(m->dim[a] - start[a]));
        }
        size[a] = still >> a & 1 ? 1 : box[a];
        int64_t bound[] = {start[a], start[a] + box[a]};
        uint16_t at = boxed >> a & 1 ? index_along(m, a) : 0;
        for (int k = 0; k < 2 && boxed >> a & 1; k++) {
            uint16_t is[] = {at, constant(m, DT_I32, (double)bound[k])};
            uint16_t both[] = {elem(m, k ? OP_lt : OP_ge, DT_BOOL, 2, is, true, 1), (uint16_t)guard};
            guard = guard < 0 ? both[0] : elem(m, OP_land, DT_BOOL, 2, both, true, 1);
        }
    }
    struct operand o = place(m->g, t, m->group.rank, size, skew);
    fill(m->g, &o, DOM_ANY);
    unsigned varies = 0;
    for (int a = 0; a < m->group.rank; a++) {
        o.stride[a] = size[a] == 1 && m->dim[a] > 1 && still >> a & 1 ? 0 : o.stride[a];
        o.dim[a] = box[a];
        in.back += start[a] * o.stride[a] * (int64_t)dtype_size(t);
        varies |= (unsigned)(o.stride[a] != 0 && m->dim[a] != 1) << a;
    }
    in.in[0] = (uint16_t)guard;
    in.operand = m->n_in;
    m->in[m->n_in++] = o;
    return push(m, in, varies, true, 3);
}

static void draw_reduce(struct maker *m)
{
    static const enum op op[] = {OP_sum, OP_mean, OP_amax, OP_amin, OP_all, OP_any, OP_prod};
    enum op o = op[below(m->g, 7)];
    const struct op_info *info = &op_table[o];
    int64_t n = group_inside(&m->group);
    enum dtype t = info->sig == SIG_LOGIC                        ? DT_BOOL
                   : info->sig == SIG_NUMBER && chance(m->g, 15) ? DT_I32
                                                                 : DT_NONE;
    int v = find(m, t, true, false, o == OP_prod ? 3 : 50);
    if (v >= 0 && (o != OP_prod || n < 8)) {
        double most = o == OP_sum ? m->most[v] * (double)n : o == OP_prod ? 3000 : m->most[v];
        reduce(m, o, (uint16_t)v, most);
        m->tolerance =
            o == OP_sum ? fmax(m->tolerance, 1e-6 * sqrt((double)n) * m->most[v] + 2e-5) : m->tolerance;
    }
}

static void draw_loads(struct maker *m)
{
    int n = 1 + (int)below(m->g, 5);
    bool wide = chance(m->g, 8);
    for (int i = 0; i < n; i++) {
        unsigned still = i > 0 && chance(m->g, 45) ? below(m->g, 1u << m->group.rank) : 0;
        bool part = chance(m->g, 15);
        load_any(m, i == 0 ? wide ? DT_F64 : DT_F32 : draw_type(m->g, wide), DOM_ANY, still, chance(m->g, 20),
                 chance(m->g, 15), part);
    }
    if (chance(m->g, 25)) {
        unsigned all = 1u << m->group.rank;
        load_box(m, draw_type(m->g, wide), 1 + below(m->g, all - 1), below(m->g, all), chance(m->g, 15));
    }
    if (chance(m->g, 40)) {
        constant(m, wide ? DT_F64 : DT_F32, between(m->g, -2, 2));
    }
    if (chance(m->g, 25)) {
        scalar(m, OP_knob, wide ? DT_F64 : DT_F32, 3, 0);
    }
    if (chance(m->g, 25)) {
        index_along(m, (int)below(m->g, m->group.rank));
    }
}

/* Some values leave; one of a flat group may leave over an operand that all points load. */
static void draw_stores(struct maker *m)
{
    bool some = false;
    for (uint16_t i = m->group.n_instr; i-- > 0 && m->n_out < 6;) {
        if (m->instr[i].kind >= GROUP_ELEM && (!some || chance(m->g, 25))) {
            bool part = chance(m->g, 15);
            store_any(m, i, chance(m->g, 15), part);
            some = true;
        }
    }
    if (!some) {
        store(m, 0, 0);
    }
}

static bool has_type(const struct maker *m, enum dtype t)
{
    for (uint16_t i = 0; i < m->group.n_instr; i++) {
        if (m->instr[i].dtype == t) {
            return true;
        }
    }
    return false;
}

void group_random(struct group_image *g, uint64_t seed)
{
    g->random = seed * 0x9e3779b97f4a7c15u + 1;
    below(g, 2);
    struct maker *m = draw_domain(g);
    bool rows = m->group.outer < m->group.rank;
    draw_loads(m);
    int n = 2 + (int)below(g, 14);
    for (int i = 0; i < n; i++) {
        if (rows && chance(g, 25)) {
            draw_reduce(m);
        } else {
            draw_elem(m);
        }
    }
    if (rows) {
        reduce(m, OP_sum, 0, 3 * (double)group_inside(&m->group));
    }
    draw_stores(m);
    m->tolerance = has_type(m, DT_BF16) ? 0.05 : m->tolerance * 4;
    char text[64];
    snprintf(text, sizeof text, "seed %llu", (unsigned long long)seed);
    finish(m, text);
}

/* -- made by hand */
static void elem_case(struct group_image *g, enum op op, enum dtype t, enum dtype to, const int64_t *size)
{
    const struct op_info *info = &op_table[op];
    struct maker *m = maker_new(g, 2, 2, size);
    uint16_t in[3];
    for (int i = 0; i < info->n_min; i++) {
        bool choice = info->sig == SIG_CHOOSE && i == 0;
        in[i] = load(m, choice ? DT_BOOL : t, info->domain, i == 1 ? 1 : 0, false, 0);
    }
    store(m, elem(m, op, to, info->n_min, in, true, 1), 0);
    m->tolerance = info->tolerance;
    char text[64];
    snprintf(text, sizeof text, "%s %s to %s", info->name, dtype_name(t), dtype_name(to));
    finish(m, text);
}

static bool takes(enum op_sig sig, enum dtype t)
{
    switch (sig) {
    case SIG_FLOAT:
    case SIG_CLASSIFY:
        return dtype_is_float(t);
    case SIG_NUMBER:
    case SIG_COMPARE:
    case SIG_BITS:
        return t != DT_BOOL;
    case SIG_LOGIC:
        return t == DT_BOOL;
    default:
        return true;
    }
}

static void elem_rows(struct group_image *g)
{
    static const int64_t size[] = {48, 36};
    for (int op = 1; op < OP_COUNT; op++) {
        enum op_sig sig = op_table[op].sig;
        for (enum dtype t = DT_F32; t < DT_COUNT && op_table[op].kind == OPK_ELEM; t++) {
            bool truth = sig == SIG_COMPARE || sig == SIG_EQUAL || sig == SIG_LOGIC || sig == SIG_CLASSIFY;
            for (enum dtype to = DT_F32; to < DT_COUNT && takes(sig, t); to++) {
                bool right = sig == SIG_CAST   ? true
                             : sig == SIG_BITS ? (t == DT_I32) == dtype_is_float(to) && to != DT_BOOL
                             : truth           ? to == DT_BOOL
                                               : to == t;
                if (right) {
                    elem_case(g, (enum op)op, t, to, size);
                }
            }
        }
    }
}

static void reduce_case(struct group_image *g, enum op op, enum dtype t, int outer, bool turned,
                        const int64_t *size)
{
    struct maker *m = maker_new(g, 2, outer, size);
    uint16_t x = load(m, t, op == OP_prod ? DOM_UNIT : DOM_ANY, 0, turned, 0);
    store(m, reduce(m, op, x, 1), 0);
    double n = (double)group_inside(&m->group);
    m->tolerance = op == OP_sum || op == OP_mean || op == OP_prod ? 2e-6 * sqrt(n) : 0;
    m->tolerance = t == DT_I32 ? 0 : m->tolerance;
    char text[64];
    snprintf(text, sizeof text, "%s %s[%lld, %lld]%s", op_table[op].name, dtype_name(t), (long long)size[0],
             (long long)size[1], turned ? " turned" : "");
    finish(m, text);
}

static void reduce_rows(struct group_image *g)
{
    static const int64_t size[][2] = {{200, 10}, {128, 300}, {3, 40000}, {2000, 64}, {1, 0}, {70, 5000}};
    for (int op = 1; op < OP_COUNT; op++) {
        for (enum dtype t = DT_F32; t < DT_COUNT && op_table[op].kind == OPK_REDUCE; t++) {
            for (size_t i = 0; i < sizeof size / sizeof *size && takes(op_table[op].sig, t); i++) {
                if (i < 2 || t == DT_F32 || (t == DT_I32 && i < 4)) {
                    reduce_case(g, (enum op)op, t, 1, false, size[i]);
                    reduce_case(g, (enum op)op, t, 1, true, size[i]);
                }
            }
        }
        if (op_table[op].kind == OPK_REDUCE && takes(op_table[op].sig, DT_F32)) {
            reduce_case(g, (enum op)op, DT_F32, 0, false, (const int64_t[]){300, 500});
        }
    }
}

/* softmax over rows: largest, e^(x - largest), sum, quotient. */
static void softmax_case(struct group_image *g, int64_t rows, int64_t n, bool turned)
{
    struct maker *m = maker_new(g, 2, 1, (const int64_t[]){rows, n});
    uint16_t x = load(m, DT_F32, DOM_ANY, 0, turned, 0), top = reduce(m, OP_amax, x, 3);
    uint16_t d = elem(m, OP_sub, DT_F32, 2, (const uint16_t[]){x, top}, true, 6);
    uint16_t e = elem(m, OP_exp, DT_F32, 1, &d, false, 1), s = reduce(m, OP_sum, e, 1);
    store(m, elem(m, OP_div, DT_F32, 2, (const uint16_t[]){e, s}, false, 1), 0);
    uint16_t l = elem(m, OP_log, DT_F32, 1, &s, false, 1);
    store(m, elem(m, OP_add, DT_F32, 2, (const uint16_t[]){l, top}, false, 1), 0);
    char text[64];
    snprintf(text, sizeof text, "softmax [%lld, %lld]%s", (long long)rows, (long long)n,
             turned ? " turned" : "");
    finish(m, text);
}

static void special_cases(struct group_image *g)
{
    static const int64_t line[] = {4, 50000}, one[] = {1, 1};
    struct maker *m = maker_new(g, 2, 2, line);
    uint16_t p = load(m, DT_F32, DOM_ANY, 0, false, 0), q = load(m, DT_F32, DOM_ANY, 0, false, 0);
    uint16_t step = scalar(m, OP_step, DT_I32, 0, 0), f = elem(m, OP_cast, DT_F32, 1, &step, true, 50);
    uint16_t power = elem(m, OP_pow, DT_F32, 2, (const uint16_t[]){constant(m, DT_F32, 0.999), f}, false, 1);
    uint16_t r = elem(m, OP_mul, DT_F32, 2, (const uint16_t[]){q, power}, false, 3);
    uint16_t updated = elem(m, OP_sub, DT_F32, 2, (const uint16_t[]){p, r}, false, 6);
    store_to(m, updated, m->in[0]); /* in place */
    store(m, power, 0);
    store(m, scalar(m, OP_metric, DT_F32, 0, 5), 0);
    store(m, scalar(m, OP_step, DT_I32, 0, 3), 0);
    finish(m, "update in place");
    m = maker_new(g, 2, 2, one);
    store(m,
          elem(m, OP_exp, DT_F32, 1, (const uint16_t[]){load(m, DT_F32, DOM_SMALL, 0, false, 0)}, false, 20),
          0);
    m->tolerance = 1e-6;
    finish(m, "one point");
    m = maker_new(g, 2, 2, line);
    int64_t table[] = {3, 3};
    m->in[m->n_in] = place(g, DT_F64, 2, table, 0);
    const double row[] = {0, 64, 0.5, 128, 1000, -1, 1200, 2, 3};
    memcpy(g->image + m->in[m->n_in].offset, row, sizeof row);
    uint16_t at = index_along(m, 1);
    struct group_instr ranges = {
        .kind = GROUP_RANGES, .dtype = DT_F32, .n_in = 1, .in = {at}, .operand = m->n_in++, .value = 7};
    store(m, push(m, ranges, 0, true, 7), 0);
    m->tolerance = 0;
    finish(m, "ranges");
    m = maker_new(g, 2, 1, (const int64_t[]){100, 10});
    uint16_t label = load(m, DT_I32, DOM_POSITIVE, 2, false, 0);
    struct group_instr check = {.kind = GROUP_CHECK, .dtype = DT_I32, .n_in = 1, .in = {label}, .value = 10};
    label = push(m, check, 0, true, 10);
    uint16_t is = elem(m, OP_eq, DT_BOOL, 2, (const uint16_t[]){label, index_along(m, 1)}, true, 1);
    uint16_t x = load(m, DT_F32, DOM_ANY, 0, false, 0), zero = constant(m, DT_F32, 0);
    store(m, reduce(m, OP_sum, elem(m, OP_where, DT_F32, 3, (const uint16_t[]){is, x, zero}, true, 3), 30),
          0);
    finish(m, "labels");
}

/* Numbers of a row, and those that vary along no axis, as results for each point. */
static void spread_case(struct group_image *g)
{
    struct maker *m = maker_new(g, 2, 1, (const int64_t[]){100, 12});
    uint16_t from[] = {constant(m, DT_F32, 0.5), load(m, DT_F32, DOM_ANY, 3, false, 0),
                       load(m, DT_F32, DOM_ANY, 2, false, 0),
                       reduce(m, OP_sum, load(m, DT_F32, DOM_ANY, 0, false, 0), 30)};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        uint16_t v = elem(m, OP_cast, DT_F32, 1, &from[i], false, 30);
        m->varies[v] = 3;
        m->instr[v].row = false;
        store(m, v, 0);
    }
    finish(m, "spread");
}

/* Parts of stacks: points, vectors that lie and do not lie as vectors must, rows, one number, in place. */
static void part_case(struct group_image *g, int64_t rows, int64_t n, int outer)
{
    struct maker *m = maker_new(g, 2, outer, (const int64_t[]){rows, n});
    uint16_t x = load_any(m, DT_F32, DOM_ANY, 0, false, 0, true),
             y = load_any(m, DT_BF16, DOM_ANY, 1, false, 1, true),
             z = load_any(m, DT_F32, DOM_ANY, 3, false, 0, true);
    uint16_t wide = elem(m, OP_cast, DT_F32, 1, &y, true, 3);
    uint16_t v = elem(m, OP_mul, DT_F32, 2, (const uint16_t[]){x, wide}, false, 9);
    v = elem(m, OP_add, DT_F32, 2, (const uint16_t[]){v, z}, false, 12);
    store_any(m, v, 0, true);
    if (outer < 2) {
        store_any(m, reduce(m, OP_sum, v, 1), 0, true);
        m->tolerance = 2e-5 * sqrt((double)n);
    } else {
        store_part(m, elem(m, OP_neg, DT_F32, 1, &x, true, 3), m->in[m->instr[x].operand], m->instr[x].turn);
    }
    char text[64];
    snprintf(text, sizeof text, "part [%lld, %lld] %d", (long long)rows, (long long)n, outer);
    finish(m, text);
}

/* Values side by side along an axis, as the parts of one. */
static void joined_case(struct group_image *g, enum dtype t, int axis, bool sums)
{
    enum { JOINED = 3 };
    int64_t size[] = {60, 20, 36}, all[] = {60, 20, 36};
    struct maker *m = maker_new(g, 3, sums ? 2 : 3, size);
    uint16_t x = load(m, t, DOM_ANY, 0, false, 0), y = load(m, t, DOM_ANY, 1, false, 0);
    uint16_t value[JOINED] = {elem(m, OP_mul, t, 2, (const uint16_t[]){x, y}, false, 9), x,
                              elem(m, OP_neg, t, 1, &x, true, 3)};
    all[axis] *= JOINED;
    struct operand whole = place(g, t, 3, all, 0);
    for (int i = 0; i < JOINED; i++) {
        struct operand part = whole;
        part.dim[axis] = size[axis];
        part.offset += (uint64_t)(i * size[axis] * whole.stride[axis]) * dtype_size(t);
        store_to(m, value[i], part);
    }
    mark_made(g, whole.offset);
    if (sums) {
        store(m, reduce(m, OP_sum, value[0], 9 * 36), 0);
    }
    m->tolerance = t == DT_BF16 ? 0.05 : 2e-4;
    char text[64];
    snprintf(text, sizeof text, "joined %s along %d%s", dtype_name(t), axis, sums ? ", sums" : "");
    finish(m, text);
}

/* Boxes in zeros: of points, of numbers for rows and for columns, and sums of them. */
static void box_case(struct group_image *g, enum dtype t, unsigned boxed, int outer, bool wide)
{
    struct maker *m = maker_new(g, 3, outer, (const int64_t[]){20, wide ? 13 : 40, wide ? 300 : 12});
    uint16_t x = load_box(m, t, boxed, 0, 0), y = load_box(m, t, boxed, 4, 1),
             z = load_box(m, t, boxed, 3, 0);
    uint16_t v = elem(m, OP_add, t, 2, (const uint16_t[]){x, y}, true, 6);
    store(m, elem(m, OP_sub, t, 2, (const uint16_t[]){v, z}, true, 9), 0);
    if (outer < 3) {
        store(m, reduce(m, OP_sum, v, 6 * (double)group_inside(&m->group)), 0);
    }
    m->tolerance = t == DT_BF16 ? 0.05 : 1e-4;
    char text[64];
    snprintf(text, sizeof text, "box %s %u of %d%s", dtype_name(t), boxed, outer, wide ? ", wide" : "");
    finish(m, text);
}

/* Columns with neighbours side by side: values masked, kept, and added up along each column with a number of
 * it. */
static void columns_case(struct group_image *g, enum dtype t, int64_t columns, int64_t n)
{
    struct maker *m = maker_new(g, 2, 1, (const int64_t[]){columns, n});
    uint16_t mask = load(m, DT_BOOL, DOM_ANY, 0, true, 0), x = load(m, t, DOM_ANY, 0, true, 0),
             scale = load(m, DT_F32, DOM_ANY, 2, false, 0);
    uint16_t v = elem(m, OP_where, t, 3, (const uint16_t[]){mask, x, constant(m, t, 0)}, true, 3);
    const int64_t lie[] = {n, columns};
    struct operand to = place(g, t, 2, lie, 0);
    memcpy(to.dim, (const int64_t[]){columns, n}, 2 * sizeof *lie);
    memcpy(to.stride, (const int64_t[]){1, columns}, 2 * sizeof *lie);
    store_to(m, v, to);
    uint16_t sum = reduce(m, OP_sum, elem(m, OP_cast, DT_F32, 1, &v, true, 3), 3 * (double)n);
    store(m, elem(m, OP_mul, DT_F32, 2, (const uint16_t[]){sum, scale}, false, 9 * (double)n), 0);
    m->tolerance = 2e-5 * sqrt((double)n);
    char text[64];
    snprintf(text, sizeof text, "columns %s [%lld, %lld]", dtype_name(t), (long long)columns, (long long)n);
    finish(m, text);
}

void group_handmade(struct group_image *g)
{
    columns_case(g, DT_BF16, 2048, 640);
    columns_case(g, DT_F32, 256, 4100);
    columns_case(g, DT_F32, 36, 70);
    elem_rows(g);
    reduce_rows(g);
    static const int64_t size[][2] = {{128, 10},  {1024, 256}, {300, 33},
                                      {20, 4096}, {600, 1000}, {130, 20000}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        softmax_case(g, size[i][0], size[i][1], false);
        softmax_case(g, size[i][0], size[i][1], true);
    }
    special_cases(g);
    spread_case(g);
    for (int outer = 1; outer <= 2; outer++) {
        part_case(g, 100, 12, outer);
        part_case(g, 64, 4096, outer);
        part_case(g, 3, 50001, outer);
        for (int axis = 0; axis < 3; axis++) {
            joined_case(g, DT_F32, axis, outer == 1);
            joined_case(g, DT_BF16, axis, outer == 1);
        }
    }
    for (unsigned boxed = 1; boxed < 8; boxed++) {
        for (int outer = 1; outer <= 3; outer++) {
            box_case(g, DT_F32, boxed, outer, false);
            box_case(g, DT_BF16, boxed, outer, true);
        }
    }
}
