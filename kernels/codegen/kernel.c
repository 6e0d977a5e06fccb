/* The kernel around the walks: pointers, what a thread computes once, rows and their reductions, segments. */
#include "kernels/codegen/internal.h"
#include "runtime/plan/checker.h"

static const char *cell_of(const struct operand *o)
{
    return cell_type((enum dtype)o->dtype);
}

static bool needs_control(const struct group *g)
{
    for (uint16_t i = 0; i < g->n_instr; i++) {
        if (g->instr[i].kind == GROUP_SCALAR || g->instr[i].kind == GROUP_CHECK) {
            return true;
        }
    }
    return false;
}

/* The counters of loops that operands move with, read once by each thread. */
static void counters(struct frame *f)
{
    for (uint16_t i = 0; i < f->k->n_in; i++) {
        bool counts = false;
        for (uint32_t c = 0; c < f->n_column; c++) {
            counts |= f->turning[c].bytes && f->turning[c].counter == i;
        }
        if (counts) {
            text_printf(&f->body, "const int64_t turn%u = *(const int32_t *)(arena + p.at[%u]);\n", i, i);
        }
    }
}

/* An operand in front of this one that steps alike through the same bytes, such as the neighbour of each
 * element; itself without one. From one pointer the compiler sees which elements are the same. */
static uint32_t same_bytes(const struct frame *f, uint32_t column)
{
    const struct operand *o = column_operand(f, column);
    struct extent all = operand_extent(o);
    for (uint32_t i = 0; i < column && column < f->k->n_in; i++) {
        const struct operand *x = &f->k->in[i];
        struct extent e = operand_extent(x);
        if (f->used[i] && x->dtype == o->dtype && x->rank == o->rank && e.from < all.end &&
            all.from < e.end && !memcmp(x->stride, o->stride, x->rank * sizeof *x->stride)) {
            return i;
        }
    }
    return column;
}

/* Where an operand begins. */
static const char *place_text(struct frame *f, uint32_t column)
{
    const struct turning *t = &f->turning[column];
    uint32_t base = same_bytes(f, column);
    int64_t apart = (int64_t)(column_operand(f, column)->offset - column_operand(f, base)->offset);
    const char *at = arena_printf(f->arena, "arena + p.at[%u]", base);
    at = base != column ? arena_printf(f->arena, "%s + %lldll", at, (long long)apart) : at;
    at = t->back ? arena_printf(f->arena, "%s - (%lldll)", at, (long long)t->back) : at;
    return t->bytes ? arena_printf(f->arena, "%s + turn%u * %lldll", at, t->counter, (long long)t->bytes)
                    : at;
}

static void pointers(struct frame *f)
{
    struct text *t = &f->body;
    const struct kargs *k = f->k;
    /* With rows nothing overlaps (group.h), so loads may go ahead of stores. */
    const char *alone = is_flat(f) ? "" : "__restrict__ ";
    text_printf(t, "typedef %s I;\ntypedef %s J;\n", f->wide ? "uint64_t" : "uint32_t",
                f->wide ? "int64_t" : "int32_t");
    counters(f);
    for (uint16_t i = 0; i < k->n_in; i++) {
        if (f->used[i]) {
            const char *cell = cell_of(&k->in[i]);
            text_printf(t, "const %s *%sconst in%u = (const %s *)(%s);\n", cell, alone, i, cell,
                        place_text(f, i));
        }
    }
    for (uint16_t i = 0; i < k->n_out; i++) {
        const char *cell = cell_of(&k->out[i]);
        text_printf(t, "%s *%sconst out%u = (%s *)(%s);\n", cell, alone, i, cell,
                    place_text(f, column_out(f, i)));
    }
    if (needs_control(f->g)) {
        text_printf(t, "char *const control = arena + p.at[%u];\n", k->n_in - 1);
    }
}

static void fixed_values(struct frame *f)
{
    for (uint16_t i = 0; i < f->g->n_instr; i++) {
        if (f->value[i].fixed) {
            instr_emit(f, i, -1);
        }
    }
}

static void flat_emit(struct frame *f)
{
    const struct codegen_schedule *s = &f->s;
    struct text *t = &f->body;
    int64_t once = s->blocks * s->threads * s->vector;
    const char *first =
        arena_printf(f->arena, "((I)blockIdx.x * %d + threadIdx.x) * %d", s->threads, s->vector);
    fixed_values(f);
    if (once >= f->inside) {
        text_printf(t, "const I e = %s;\nif (e < %lldu) {\n", first, (long long)f->inside);
    } else {
        text_printf(t, "for (I e = %s; e < %lldu; e += %lldu) {\n", first, (long long)f->inside,
                    (long long)once);
    }
    chunk_emit(f, 0);
    text_printf(t, "}\n");
}

static int step_of(const struct codegen_schedule *s)
{
    return s->form == CODEGEN_COLUMNS ? s->rows / s->vector : 1;
}

static bool has_spare_rows(const struct frame *f)
{
    return f->s.blocks * f->s.rows > f->rows;
}

const char *leads_text(struct frame *f, bool any_segment)
{
    return arena_printf(f->arena, "lane == 0%s%s", has_spare_rows(f) ? " && live" : "",
                        f->s.segments > 1 && !any_segment ? " && blockIdx.y == 0" : "");
}

/* Spare rows of the last block repeat the last row and store nothing. */
static void row_place(struct frame *f)
{
    const struct codegen_schedule *s = &f->s;
    struct text *t = &f->body;
    bool side = s->form == CODEGEN_COLUMNS, spare = has_spare_rows(f);
    int by = side ? step_of(s) : s->lanes, each = has_rows(f) ? s->vector : 1;
    text_printf(t, "const I lane = threadIdx.x %s %du;\n", side ? "/" : "%", by);
    text_printf(t, "const I place = (I)blockIdx.x * %du + threadIdx.x %s %du", s->rows, side ? "%" : "/", by);
    text_printf(t, each > 1 ? " * %d;\n" : ";\n", each);
    if (spare) {
        text_printf(t, "const bool live = place < %lldu;\nconst I row = live ? place : %lldu;\n",
                    (long long)f->rows, (long long)f->rows - each);
    } else {
        text_printf(t, "const I row = place;\n");
    }
    coordinates_emit(f, "row", 0, f->n_outer);
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (!f->used[c] || f->n_outer == 0) {
            continue;
        }
        text_printf(t, "const J b%u = 0", c);
        for (int a = 0; a < f->n_outer; a++) {
            if (f->stride[c][a] != 0) {
                text_printf(t, " + x%d * (%lld)", a, (long long)f->stride[c][a]);
            }
        }
        text_printf(t, ";\n");
    }
}

static void row_stores(struct frame *f, int level)
{
    const struct group *g = f->g;
    for (uint16_t i = 0; i < g->n_store; i++) {
        const struct value *v = &f->value[g->store[i].value];
        uint32_t c = column_out(f, g->store[i].operand);
        if (leaves_spread(f, g->store[i].value) || v->level != level) {
            continue;
        }
        const char *at = f->n_outer == 0 ? "0"
                         : has_rows(f)
                             ? arena_printf(f->arena, "b%u + v * (%lld)", c, (long long)column_step(f, c))
                             : arena_printf(f->arena, "b%u", c);
        each_row(f);
        text_printf(
            &f->body, "if (%s%s%s) {\nout%u[%s] = %s;\n}\n", leads_text(f, level > 0),
            first_text(f, c, 0, f->n_outer),
            has_rows(f) && f->away[c] >> vector_axis(f) & 1 ? " && v == 0" : "", g->store[i].operand, at,
            store_text(f, (enum dtype)g->instr[g->store[i].value].dtype, ssa_name(f, g->store[i].value, -1)));
        each_row_end(f);
    }
}

/* Places of the scratch of a fold. */
static int scratch_of(const struct codegen_schedule *s)
{
    int step = step_of(s);
    return s->threads / 32 * (step < 32 ? step : 32);
}

/* The sums of all lanes as one. */
static void fold(struct frame *f, uint16_t i)
{
    const struct codegen_schedule *s = &f->s;
    const char *name = reduce_struct(f, &f->g->instr[i]);
    int step = step_of(s);
    bool shared = s->lanes > 1 && s->lanes * step > 32;
    each_row(f);
    text_printf(&f->body, "%s = gml_fold<%s, %d, %d>(%s, ", sum_name(f, i), name, s->lanes, step,
                sum_name(f, i));
    if (shared) {
        text_printf(&f->body, has_rows(f) ? "shared%u + v * %d);\n" : "shared%u);\n", i, scratch_of(s));
    } else {
        text_printf(&f->body, "(%s::T *)0);\n", name);
    }
    each_row_end(f);
}

static void finish(struct frame *f, uint16_t i)
{
    const struct group_instr *in = &f->g->instr[i];
    const char *name = reduce_struct(f, in);
    const char *x = arena_printf(f->arena, "%s::finish(%s, (%s::T)%lldll)", name, sum_name(f, i), name,
                                 (long long)f->inside);
    x = in->dtype == DT_I32 ? arena_printf(f->arena, "(int32_t)%s", x)
                            : round_text(f, (enum dtype)in->dtype, x);
    row_value_emit(f, i, x);
}

static bool is_fold(const struct frame *f, uint16_t i, int level)
{
    return f->g->instr[i].kind == GROUP_REDUCE && f->value[i].level == level;
}

static void row_values(struct frame *f, int level)
{
    const struct group *g = f->g;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        const struct value *v = &f->value[i];
        if (is_fold(f, i, level)) {
            if (f->s.segments == 1) {
                fold(f, i);
            }
            finish(f, i);
        } else if (!v->fixed && !v->full && v->level == level) {
            instr_emit(f, i, -1);
        }
    }
    row_stores(f, level);
}

static void walk(struct frame *f, int number)
{
    const struct codegen_schedule *s = &f->s;
    struct text *t = &f->body;
    int along = vector_along(s), step = s->lanes * along;
    folds_emit(f, number);
    if (s->kept) {
        bool exact = (int64_t)s->chunks * step == f->inside;
        text_printf(t,
                    "#pragma unroll\nfor (int c = 0; c < %d; c++) {\nconst I e = (c * %du + lane) * %du;\n",
                    s->chunks, s->lanes, along);
        text_printf(t, exact ? "{\n" : "if (e < %lldu) {\n", (long long)f->inside);
        chunk_emit(f, number);
        text_printf(t, "}\n}\n");
        return;
    }
    if (s->segments > 1) {
        text_printf(
            t, "const I from = (I)blockIdx.y * %lldu, to = from + %lldu < %lldu ? from + %lldu : %lldu;\n",
            (long long)s->segment, (long long)s->segment, (long long)f->inside, (long long)s->segment,
            (long long)f->inside);
    }
    int unroll = s->vector > 1 ? 4 : s->lanes == 1 && s->chunks > 0 ? s->chunks : 8;
    text_printf(t, "#pragma unroll %d\nfor (I e = %slane * %du; e < ", unroll,
                s->segments > 1 ? "from + " : "", along);
    text_printf(t, s->segments > 1 ? "to" : "%lldu", (long long)f->inside);
    text_printf(t, "; e += %du) {\n", step);
    chunk_emit(f, number);
    text_printf(t, "}\n");
}

/* What each segment left is added up by the last block of these rows to come by. */
static void segments_emit(struct frame *f)
{
    const struct codegen_schedule *s = &f->s;
    struct text *t = &f->body;
    const struct group *g = f->g;
    uint32_t work = f->k->n_in + (uint32_t)f->k->n_out;
    int n = 0, all = 0;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        all += is_fold(f, i, 1);
    }
    int64_t apart = (int64_t)f->k->work_bytes / all / 8 * 8;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        if (is_fold(f, i, 1)) {
            const char *name = reduce_struct(f, &g->instr[i]);
            text_printf(t, "%s::T volatile *const part%u = (%s::T volatile *)(arena + p.at[%u] + %lldll);\n",
                        name, i, name, work, (long long)(apart * n++));
            fold(f, i);
            each_row(f);
            text_printf(t, "if (%s) {\npart%u[(I)blockIdx.y * %lldu + row%s] = %s;\n}\n", leads_text(f, true),
                        i, (long long)f->rows, has_rows(f) ? " + v" : "", sum_name(f, i));
            each_row_end(f);
        }
    }
    text_printf(t, "if (!gml_last((uint32_t *)(arena + p.at[%u]) + blockIdx.x, %lldu)) {\nreturn;\n}\n",
                work + 1, (long long)s->segments);
    for (uint16_t i = 0; i < g->n_instr; i++) {
        if (is_fold(f, i, 1)) {
            const char *name = reduce_struct(f, &g->instr[i]);
            const char *sum = sum_name(f, i);
            each_row(f);
            text_printf(
                t,
                "%s = %s::first();\nfor (I e = lane; e < %lldu; e += %du) {\n%s = %s::fold(%s, part%u[e * "
                "%lldu + row%s]);\n}\n",
                sum, name, (long long)s->segments, s->lanes, sum, name, sum, i, (long long)f->rows,
                has_rows(f) ? " + v" : "");
            each_row_end(f);
            fold(f, i);
        }
    }
}

static void rows_emit(struct frame *f)
{
    const struct codegen_schedule *s = &f->s;
    int step = step_of(s);
    for (uint16_t i = 0; i < f->g->n_instr && s->lanes > 1 && s->lanes * step > 32; i++) {
        if (f->g->instr[i].kind == GROUP_REDUCE) {
            text_printf(&f->body, "__shared__ %s::T shared%u[%d];\n", reduce_struct(f, &f->g->instr[i]), i,
                        scratch_of(s) * (has_rows(f) ? s->vector : 1));
        }
    }
    row_place(f);
    fixed_values(f);
    kept_emit(f);
    for (int level = 0; level <= f->walks; level++) {
        if (level == 1 && s->segments > 1) {
            segments_emit(f);
        }
        row_values(f, level);
        if (level < f->walks) {
            walk(f, level);
        }
    }
}

void kernel_emit(struct frame *f)
{
    pointers(f);
    if (is_flat(f)) {
        flat_emit(f);
    } else {
        rows_emit(f);
    }
}
