/* Which threads take which points. Rules of thumb for a GPU of a hundred multiprocessors and more; they look
 * at the domain and the operands alone, so that kernels and orders of addition are the same on all of them.
 */
#include "kernels/codegen/internal.h"

enum {
    WANTED = 16384,     /* threads that fill a GPU half: below, wider vectors cost more than they save */
    BLOCKS = 264,       /* that keep it busy */
    FLAT_BLOCKS = 4096, /* at most; threads go on from there */
    KEPT = 16,          /* points of a thread whose values stay in registers */
    ROWS_MANY = 32768,  /* of which a thread can take one each */
    MUCH = 48,          /* instructions of a point: what they take counts, not memory */
    CUT_FROM = 16384,   /* points of a row that is cut */
    BLOCK = 1024,
    LARGE = 1 << 20 /* points of columns that fill the GPU several rows to a thread */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int power_above(int64_t n, int least, int most)
{
    int p = least;
    while (p < n && p < most) {
        p *= 2;
    }
    return p;
}

enum access column_access(const struct frame *f, uint32_t column, int vector)
{
    const struct operand *o = column_operand(f, column);
    int64_t size = (int64_t)dtype_size((enum dtype)o->dtype), all = vector * size,
            align = all < 16 ? all : 16;
    if (f->turning[column].guarded) {
        return ACCESS_EACH;
    }
    if (column_step(f, column) == 0) {
        return ACCESS_ONE;
    }
    if (column_step(f, column) != 1 || o->offset % (uint64_t)align != 0 ||
        f->turning[column].bytes % align != 0) {
        return ACCESS_EACH;
    }
    for (int a = 0; a < f->n_axis; a++) {
        if (a != vector_axis(f) && f->stride[column][a] * size % align != 0) {
            return ACCESS_EACH;
        }
    }
    return ACCESS_VECTOR;
}

static bool is_operand(const struct frame *f, uint32_t column)
{
    return f->used[column] && column < f->k->n_in + (uint32_t)f->k->n_out;
}

static bool vector_helps(const struct frame *f, int vector)
{
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (is_operand(f, c) && column_access(f, c, vector) == ACCESS_VECTOR) {
            return true;
        }
    }
    return false;
}

/* The widest of at most `most` that divides the fastest axis and helps. */
static int vector_of(const struct frame *f, int most)
{
    int v = most;
    while (v > 1 && (f->dim[vector_axis(f)] % v != 0 || !vector_helps(f, v))) {
        v /= 2;
    }
    return v;
}

static bool all_narrow(const struct frame *f)
{
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (is_operand(f, c) && column_step(f, c) != 0 &&
            dtype_size((enum dtype)column_operand(f, c)->dtype) > 2) {
            return false;
        }
    }
    return true;
}

static void flat(struct frame *f)
{
    struct codegen_schedule *s = &f->s;
    int v = vector_of(f, all_narrow(f) ? 8 : 4);
    while (v > 1 && f->inside / v < WANTED) {
        v /= 2;
    }
    int64_t vectors = f->inside / v;
    s->form = CODEGEN_FLAT;
    s->vector = v;
    s->threads = vectors >= 4 * WANTED ? 256 : 128;
    s->lanes = s->threads;
    s->rows = 1;
    s->blocks = ceil_div(vectors, s->threads);
    s->blocks = s->blocks < FLAT_BLOCKS ? s->blocks : FLAT_BLOCKS;
}

/* Whether neighbours in memory belong to different rows, for more of the operands than to the same. */
static bool side_by_side(const struct frame *f)
{
    int rows = 0, columns = 0;
    if (f->n_outer == 0 || f->dim[f->n_outer - 1] < 8) {
        return false;
    }
    for (uint32_t c = 0; c < f->n_column; c++) {
        int64_t inside = column_step(f, c), outer = f->stride[c][f->n_outer - 1];
        if (is_operand(f, c)) {
            rows += inside == 1 && outer != 1;
            columns += outer == 1 && inside != 1 && inside != 0;
        }
    }
    return columns > rows;
}

static bool has_checks(const struct group *g)
{
    bool found = false;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        found |= g->instr[i].kind == GROUP_CHECK;
    }
    return found;
}

static void columns(struct frame *f)
{
    struct codegen_schedule *s = &f->s;
    bool large = f->rows * f->inside >= LARGE && f->inside > 4 && !has_checks(f->g);
    s->form = CODEGEN_COLUMNS;
    s->vector = large ? vector_of(f, all_narrow(f) ? 8 : 4) : 1;
    int side = 32, most = large ? BLOCK / 2 : BLOCK;
    while (side > 8 && f->rows / (side * s->vector) < BLOCKS / 4) {
        side /= 2;
    }
    s->lanes = power_above(ceil_div(f->inside, 4), 32 / side, most / side);
    if (f->inside <= 4) {
        s->lanes = 1;
        side = 128;
    }
    s->rows = side * s->vector;
    s->threads = side * s->lanes;
}

static void rows(struct frame *f)
{
    struct codegen_schedule *s = &f->s;
    s->form = CODEGEN_ROWS;
    s->vector = f->inside >= 128 ? vector_of(f, 4) : 1;
    if (f->inside <= KEPT && f->rows >= ROWS_MANY && f->g->n_instr >= MUCH) {
        s->lanes = 1; /* no lane is idle, and what neighbours have in common is made once */
    } else if (f->inside <= 32) {
        s->lanes = power_above(f->inside, 1, 32);
    } else {
        s->lanes = power_above(ceil_div(f->inside, f->rows >= 2 * BLOCKS ? 8 : 4), 32, BLOCK);
    }
    while (s->lanes > 32 && (int64_t)s->lanes * s->vector > f->inside) {
        s->lanes /= 2;
    }
    bool few = f->rows * s->lanes < BLOCKS * 64;
    s->threads = s->lanes > (few ? 32 : 128) ? s->lanes : few ? 32 : 128;
    s->rows = s->threads / s->lanes;
}

static int reduces(const struct group *g)
{
    int n = 0;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        n += g->instr[i].kind == GROUP_REDUCE;
    }
    return n;
}

/* The scratch has room for so many results of each REDUCE. */
static int64_t room(const struct frame *f)
{
    return (int64_t)f->k->work_bytes / (8 * f->rows * reduces(f->g));
}

static void cut(struct frame *f)
{
    struct codegen_schedule *s = &f->s;
    int64_t step = (int64_t)s->lanes * vector_along(s), n = BLOCKS / s->blocks;
    bool columns = s->form == CODEGEN_COLUMNS;
    int64_t most = columns ? f->inside / (4 * step) : ceil_div(f->inside, step);
    s->segments = 1;
    s->segment = f->inside;
    if (group_goes_on(f->g) || f->inside < (columns ? CUT_FROM / 16 : CUT_FROM) ||
        s->blocks > CODEGEN_COUNTERS) {
        return;
    }
    if (!columns && room(f) >= 2) { /* many blocks of few loads: a thread waits for one trip to memory */
        while (s->lanes > 256 && s->blocks * most < BLOCKS) {
            s->lanes /= 2;
            most *= 2;
        }
        s->threads = s->lanes;
        step = (int64_t)s->lanes * vector_along(s);
    }
    n = n < most ? n : most;
    n = n < room(f) ? n : room(f);
    if (n >= 2) {
        s->segment = ceil_div(ceil_div(f->inside, n), step) * step;
        s->segments = ceil_div(f->inside, s->segment);
    }
}

void schedule_make(struct frame *f)
{
    struct codegen_schedule *s = &f->s;
    if (is_flat(f)) {
        flat(f);
        return;
    }
    if (side_by_side(f)) {
        columns(f);
    } else {
        rows(f);
    }
    s->blocks = ceil_div(f->rows, s->rows);
    cut(f);
    int64_t step = (int64_t)s->lanes * vector_along(s);
    s->chunks = (int)(f->inside <= KEPT * s->lanes ? ceil_div(f->inside, step) : 0);
    s->kept = f->walks > 1 && s->chunks > 0 && s->chunks * s->vector <= KEPT;
}
