/* A walk: what happens at the points of a row between two reductions. A vector of points is loaded, computed
 * point by point, then stored, so that a result may lie on an operand. */
#include "kernels/codegen/internal.h"

static bool folded_in(const struct frame *f, uint16_t i, int walk)
{
    return f->g->instr[i].kind == GROUP_REDUCE && f->value[i].level == walk + 1;
}

/* The full values that a walk wants; with `kept`, those made in it. */
static void wanted(const struct frame *f, int walk, bool *want)
{
    const struct group *g = f->g;
    memset(want, 0, g->n_instr);
    for (uint16_t i = 0; i < g->n_store; i++) {
        const struct value *v = &f->value[g->store[i].value];
        want[g->store[i].value] |= v->full && v->level == walk;
    }
    for (uint16_t i = g->n_instr; i-- > 0;) {
        const struct group_instr *in = &g->instr[i];
        const struct value *v = &f->value[i];
        bool check = in->kind == GROUP_CHECK && v->full && v->place == walk;
        bool uses = folded_in(f, i, walk) || want[i] || check || (f->s.kept && v->full && v->place == walk);
        want[i] = uses && v->full;
        for (uint8_t k = 0; k < in->n_in && uses; k++) {
            want[in->in[k]] = f->value[in->in[k]].full;
        }
    }
    for (uint16_t i = 0; i < g->n_instr && f->s.kept; i++) {
        want[i] = want[i] && f->value[i].place == walk;
    }
}

static bool kept_for_later(const struct frame *f, uint16_t i)
{
    const struct group *g = f->g;
    for (uint16_t j = i; j < g->n_instr && f->value[i].full && g->instr[i].kind != GROUP_CONST; j++) {
        int walk = g->instr[j].kind == GROUP_REDUCE ? f->value[j].level - 1 : f->value[j].place;
        for (uint8_t k = 0; k < g->instr[j].n_in; k++) {
            if (g->instr[j].in[k] == i && walk > f->value[i].place) {
                return true;
            }
        }
    }
    return false;
}

void kept_emit(struct frame *f)
{
    for (uint16_t i = 0; i < f->g->n_instr && f->s.kept; i++) {
        if (kept_for_later(f, i)) {
            text_printf(&f->body, "%s s%u[%d];\n", value_type((enum dtype)f->g->instr[i].dtype), i,
                        f->s.chunks * f->s.vector);
        }
    }
}

void folds_emit(struct frame *f, int walk)
{
    for (uint16_t i = 0; i < f->g->n_instr; i++) {
        if (folded_in(f, i, walk)) {
            const char *fold = reduce_struct(f, &f->g->instr[i]);
            text_printf(&f->body, has_rows(f) ? "%s::T a%u[%d];\n" : "%s::T a%u;\n", fold, i, f->s.vector);
            each_row(f);
            text_printf(&f->body, "%s = %s::first();\n", sum_name(f, i), fold);
            each_row_end(f);
        }
    }
}

static bool axis_matters(const struct frame *f, int axis)
{
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (f->used[c] && (f->stride[c][axis] != 0 || f->away[c] >> axis & 1)) {
            return true;
        }
    }
    return false;
}

void coordinates_emit(struct frame *f, const char *number, int from, int to)
{
    const char *left = number;
    for (int a = to - 1; a >= from; a--) {
        if (axis_matters(f, a)) {
            text_printf(&f->body, a == from ? "const J x%d = (J)%s;\n" : "const J x%d = (J)(%s %% %lldu);\n",
                        a, left, (long long)f->dim[a]);
        }
        if (a > from) {
            text_printf(&f->body, "const I q%d = %s / %lldu;\n", a, left, (long long)f->dim[a]);
            left = arena_printf(f->arena, "q%d", a);
        }
    }
}

const char *first_text(struct frame *f, uint32_t column, int from, int to)
{
    const char *text = "";
    for (int a = from; a < to; a++) {
        if (f->away[column] >> a & 1) {
            text = arena_printf(f->arena, "%s && x%d == 0", text, a);
        }
    }
    return text;
}

static bool loaded(const struct frame *f, uint32_t column, const bool *want)
{
    for (uint16_t i = 0; i < f->g->n_instr; i++) {
        const struct group_instr *in = &f->g->instr[i];
        if (want[i] && ((in->kind == GROUP_LOAD && in->operand == column) ||
                        (in->kind == GROUP_INDEX && column_index(f, in->operand) == column))) {
            return true;
        }
    }
    return false;
}

/* In the walk of their level. */
static bool leaves_in(const struct frame *f, const struct group_store *s, int walk)
{
    return leaves_spread(f, s->value) && f->value[s->value].level == walk;
}

static bool stored(const struct frame *f, uint32_t column, int walk)
{
    for (uint16_t i = 0; i < f->g->n_store; i++) {
        if (leaves_in(f, &f->g->store[i], walk) && column_out(f, f->g->store[i].operand) == column) {
            return true;
        }
    }
    return false;
}

static void offsets(struct frame *f, int walk, const bool *want)
{
    for (uint32_t c = 0; c < f->n_column; c++) {
        if (!f->used[c] || !(loaded(f, c, want) || stored(f, c, walk))) {
            continue;
        }
        text_printf(&f->body, "const J o%u = ", c);
        text_printf(&f->body, f->n_outer > 0 ? "b%u" : "0", c);
        for (int a = f->n_outer; a < f->n_axis; a++) {
            if (f->stride[c][a] == 1) {
                text_printf(&f->body, " + x%d", a);
            } else if (f->stride[c][a] != 0) {
                text_printf(&f->body, " + x%d * (%lld)", a, (long long)f->stride[c][a]);
            }
        }
        text_printf(&f->body, ";\n");
    }
}

static void vectors(struct frame *f, const bool *want)
{
    for (uint16_t i = 0; i < f->g->n_instr; i++) {
        const struct group_instr *in = &f->g->instr[i];
        if (!want[i] || in->kind != GROUP_LOAD) {
            continue;
        }
        const char *cell = cell_type((enum dtype)in->dtype);
        switch (column_access(f, in->operand, f->s.vector)) {
        case ACCESS_VECTOR:
            text_printf(&f->body, "const gml_vec<%s, %d> l%u = *(const gml_vec<%s, %d> *)(in%u + o%u);\n",
                        cell, f->s.vector, i, cell, f->s.vector, in->operand, in->operand);
            break;
        case ACCESS_ONE:
            text_printf(&f->body, "const %s v%u = %s;\n", value_type((enum dtype)in->dtype), i,
                        load_one_text(f, i));
            break;
        default:
            break;
        }
    }
}

static bool varies_in_vector(const struct frame *f, uint32_t column)
{
    return !(f->away[column] >> vector_axis(f) & 1);
}

static const char *stored_text(struct frame *f, const struct group_store *s, int walk)
{
    return store_text(f, (enum dtype)f->g->instr[s->value].dtype, ssa_name(f, s->value, walk));
}

/* One point of the vector, v. */
static void point(struct frame *f, int walk, const bool *want)
{
    const struct group *g = f->g;
    for (uint16_t i = 0; i < g->n_instr; i++) {
        if (want[i]) {
            instr_emit(f, i, walk);
        }
        if (want[i] && f->s.kept && kept_for_later(f, i)) {
            text_printf(&f->body, "%s = v%u;\n", ssa_name(f, i, f->value[i].place + 1), i);
        }
        if (folded_in(f, i, walk)) {
            text_printf(&f->body, "%s = %s::fold(%s, %s);\n", sum_name(f, i), reduce_struct(f, &g->instr[i]),
                        sum_name(f, i), ssa_name(f, g->instr[i].in[0], walk));
        }
    }
    for (uint16_t i = 0; i < g->n_store && f->s.vector > 1; i++) {
        if (leaves_in(f, &g->store[i], walk)) {
            text_printf(&f->body, "w%u.at[v] = %s;\n", i, stored_text(f, &g->store[i], walk));
        }
    }
}

static void leave(struct frame *f, uint16_t i, int walk)
{
    const struct group_store *s = &f->g->store[i];
    uint32_t c = column_out(f, s->operand);
    const char *first = first_text(f, c, 0, f->n_axis),
               *live = f->s.blocks * f->s.rows > f->rows ? "live" : "true";
    const char *cell = cell_type((enum dtype)f->k->out[s->operand].dtype);
    bool test = *first || *live == 'l';
    int vector = f->s.vector;
    if (test) {
        text_printf(&f->body, "if (%s%s) {\n", is_flat(f) ? "true" : live, first);
    }
    if (vector == 1) {
        text_printf(&f->body, "out%u[o%u] = %s;\n", s->operand, c, stored_text(f, s, walk));
    } else if (!varies_in_vector(f, c)) {
        text_printf(&f->body, "out%u[o%u] = w%u.at[0];\n", s->operand, c, i);
    } else if (column_access(f, c, vector) == ACCESS_VECTOR) {
        text_printf(&f->body, "*(gml_vec<%s, %d> *)(out%u + o%u) = w%u;\n", cell, vector, s->operand, c, i);
    } else {
        text_printf(
            &f->body,
            "#pragma unroll\nfor (int v = 0; v < %d; v++) {\nout%u[o%u + v * (%lld)] = w%u.at[v];\n}\n",
            vector, s->operand, c, (long long)column_step(f, c), i);
    }
    text_printf(&f->body, test ? "}\n" : "%s", "");
}

void chunk_emit(struct frame *f, int walk)
{
    bool want[GROUP_MAX_INSTR];
    const struct group *g = f->g;
    wanted(f, walk, want);
    coordinates_emit(f, "e", f->n_outer, f->n_axis);
    offsets(f, walk, want);
    if (f->s.vector > 1) {
        vectors(f, want);
        for (uint16_t i = 0; i < g->n_store; i++) {
            if (leaves_in(f, &g->store[i], walk)) {
                text_printf(&f->body, "gml_vec<%s, %d> w%u;\n",
                            cell_type((enum dtype)f->k->out[g->store[i].operand].dtype), f->s.vector, i);
            }
        }
        text_printf(&f->body, "#pragma unroll\nfor (int v = 0; v < %d; v++) {\n", f->s.vector);
    }
    point(f, walk, want);
    text_printf(&f->body, f->s.vector > 1 ? "}\n" : "%s", "");
    for (uint16_t i = 0; i < g->n_store; i++) {
        if (leaves_in(f, &g->store[i], walk)) {
            leave(f, i, walk);
        }
    }
}
