/* Inside the generator. A frame is what is known of a group before text is written; all memory is its
 * arena's.
 */
#ifndef GML_KERNELS_CODEGEN_INTERNAL_H
#define GML_KERNELS_CODEGEN_INTERNAL_H
#include "kernels/codegen/codegen.h"

/* What is known of a value. */
struct value {
    bool fixed;     /* varies along no axis and is made of no REDUCE: once for a thread */
    bool full;      /* one for each point */
    uint16_t level; /* REDUCEs in front of it, one behind the other */
    uint16_t place; /* full: the walk over the row in which it is made */
};
/* An operand moves by so many bytes with the counter that is this operand of k.in; 0: it does not. A guarded
 * one lies `back` bytes behind point 0 of the domain. */
struct turning {
    int64_t bytes, back;
    uint16_t counter;
    bool guarded;
};
/* Axes that every operand steps through evenly are one here; those of size 1 are none. Axes [0, n_outer) are
 * of rows (FLAT: none). A column is an operand of k.in, then of k.out, then the index along an axis of the
 * domain. */
struct frame {
    struct arena *arena;
    const struct kargs *k;
    const struct group *g;
    int n_outer, n_axis;
    int64_t dim[LIMIT_RANK];
    int64_t (*stride)[LIMIT_RANK]; /* by column */
    bool *used;                    /* by column */
    uint32_t *away;                /* by column: axes (bits) along which a result does not vary */
    struct turning *turning;       /* by column */
    uint32_t n_column;
    struct value *value;
    int walks; /* over the inside of a row */
    int64_t rows, inside;
    bool wide; /* offsets or points need 64 bits */
    struct codegen_schedule s;
    struct text functions, body;
};
static inline uint32_t column_out(const struct frame *f, uint16_t operand)
{
    return f->k->n_in + (uint32_t)operand;
}
static inline uint32_t column_index(const struct frame *f, uint16_t axis)
{
    return f->k->n_in + f->k->n_out + (uint32_t)axis;
}
static inline const struct operand *column_operand(const struct frame *f, uint32_t column)
{
    return column < f->k->n_in ? &f->k->in[column] : &f->k->out[column - f->k->n_in];
}
static inline bool is_flat(const struct frame *f)
{
    return f->g->outer == f->g->rank;
}
/* Whether a result of this value has one for each point: a number that varies along no axis may be spread. */
static inline bool leaves_spread(const struct frame *f, uint16_t value)
{
    const struct value *v = &f->value[value];
    return v->full || (v->fixed && (is_flat(f) || !f->g->instr[value].row));
}
/* The axis along which a vector lies: the fastest; with COLUMNS that of neighbouring rows. */
static inline int vector_axis(const struct frame *f)
{
    return (f->s.form == CODEGEN_COLUMNS ? f->n_outer : f->n_axis) - 1;
}
static inline int64_t column_step(const struct frame *f, uint32_t column)
{
    return f->stride[column][vector_axis(f)];
}
/* Whether a thread has several rows, and what belongs to a row is an array of them. */
static inline bool has_rows(const struct frame *f)
{
    return f->s.form == CODEGEN_COLUMNS && f->s.vector > 1;
}
/* Points of a row that a thread takes at once. */
static inline int vector_along(const struct codegen_schedule *s)
{
    return s->form == CODEGEN_COLUMNS ? 1 : s->vector;
}

/* frame.c */
void frame_make(struct frame *f, const struct kargs *k, struct arena *a);
/* schedule.c */
void schedule_make(struct frame *f);
/* How the elements of a full operand for one vector lie: one for all, together and aligned, or apart. */
enum access { ACCESS_ONE, ACCESS_VECTOR, ACCESS_EACH };
enum access column_access(const struct frame *f, uint32_t column, int vector);

/* value.c: C text of types, numbers and formulas. Functions that formulas need are added to f->functions. */
const char *value_type(enum dtype t);       /* that a value is computed as */
const char *cell_type(enum dtype t);        /* that it lies in memory as */
const char *accumulator_type(enum dtype t); /* that values of a type are added up in */
const char *number_text(struct frame *f, enum dtype t, double x);
const char *load_text(struct frame *f, enum dtype t, const char *cell);   /* a value from a cell */
const char *store_text(struct frame *f, enum dtype t, const char *value); /* and back */
const char *round_text(struct frame *f, enum dtype t, const char *x); /* any number as a value of type t */
/* Name of the function of an ELEM row, of the struct of a REDUCE row, for the instruction. */
const char *elem_function(struct frame *f, const struct group_instr *in);
const char *reduce_struct(struct frame *f, const struct group_instr *in);
const char *scalar_text(struct frame *f, const struct group_instr *in, const char *control);

/* instr.c: instructions as statements. `walk`: which walk over the row the text is for, -1 outside of one. */
const char *ssa_name(struct frame *f, uint16_t value, int walk);
void instr_emit(struct frame *f, uint16_t value, int walk);
/* A value of a row, from its text. */
void row_value_emit(struct frame *f, uint16_t value, const char *x);
/* The sum so far of a REDUCE. */
const char *sum_name(struct frame *f, uint16_t value);
/* Around statements on row v, where a thread has several. */
void each_row(struct frame *f);
void each_row_end(struct frame *f);
/* The cell of a load of points, of which there is one for the whole vector. */
const char *load_one_text(struct frame *f, uint16_t value);
/* walk.c: a walk over the points of a row, or of the domain. The body for a vector of them whose first has
 * the number e inside of its row; declarations of what it folds, or keeps for later walks. */
void chunk_emit(struct frame *f, int walk);
void folds_emit(struct frame *f, int walk);
void kept_emit(struct frame *f);
/* " && x0 == 0 ..": the first point along the axes [from, to) that a result does not vary along. */
const char *first_text(struct frame *f, uint32_t column, int from, int to);
/* Coordinates x<a> of the axes [from, to) from a number. */
void coordinates_emit(struct frame *f, const char *number, int from, int to);
/* kernel.c */
void kernel_emit(struct frame *f);
/* The condition of the one thread that acts for a row, in its first segment or in any. */
const char *leads_text(struct frame *f, bool any_segment);

/* The text of kernels/vocab.h and prelude.cuh, made by the build. */
extern const unsigned char codegen_vocab[], codegen_prelude[];
extern const size_t codegen_vocab_bytes, codegen_prelude_bytes;

#endif
