/* Inside the fuser: drafts of launches as programs over a domain, and how two of them become one.
 *
 *   fuse.c          which drafts to join, greedily; groups become drafts again
 *   fuse_segment.c  what may be joined at all, and what must wait for what; drafts anew
 *   fuse_share.c    values that are made twice rather than kept
 *   fuse_depend.c   which draft must follow which
 *   fuse_order.c    an order of groups that holds while they are joined
 *   fuse_program.c  a draft as a program
 *   fuse_rows.c     softmax and its kind in instructions
 *   fuse_match.c    which axes of two programs are the same
 *   fuse_join.c     two programs become one
 *   fuse_emit.c     a program as struct group
 *
 * Axes of size 1 have no place in a domain. All memory is builder.scratch.
 */
#ifndef GML_PLAN_FUSE_H
#define GML_PLAN_FUSE_H
#include "runtime/plan/group.h"
#include "runtime/plan/internal.h"

/* An instruction, as in group.h. */
struct step {
    uint8_t kind, dtype, n_in; /* kind: enum group_kind */
    uint16_t op, in[3];
    double value;
    const int64_t *attr;
    uint32_t n_attr, node;
    uint32_t uses;   /* LOAD: the inputs of drafts it stands for */
    int64_t back;    /* LOAD, guarded: elements from where point 0 of the domain would be to the operand */
    struct place at; /* LOAD: read here, in the rank and dims of the domain; guarded: its own dims. RANGES:
                        the table. INDEX: the number is o.offset + the sum over axes of index * o.stride */
};
/* A value kept in memory, in the rank and dims of the domain; stride 0 where it does not vary. */
struct keep {
    uint16_t value;
    uint32_t node;
    struct place at;
};
struct program {
    int rank, outer; /* outer < rank: axes from there on are reduced */
    int64_t dim[LIMIT_RANK];
    struct step *step;
    struct keep *keep;
    uint32_t n_step, n_keep;
    enum group_stop stop; /* why a reader of its results was not joined to it; the first one */
    int size;             /* room for 4 << size of each */
    struct program *next; /* unused ones */
};
enum { PROGRAM_SIZES = 10, PROGRAM_DRAFT = 64 /* steps of one draft */ };
struct fuser {
    struct variant_build *v;
    uint32_t *reads; /* by buffer: inputs of drafts that read it from memory */
    struct program *unused[PROGRAM_SIZES];
};
/* A program with room for n steps and n results; and back. */
struct program *program_new(struct fuser *f, uint32_t n);
void program_free(struct fuser *f, struct program *p);

/* The bytes of a place: of a storage or a buffer, as one number. */
struct bytes {
    uint32_t space;
    uint64_t from, end; /* empty when equal */
};
struct bytes place_bytes(const struct variant_build *v, const struct place *p);
static inline bool bytes_meet(const struct bytes *a, const struct bytes *b)
{
    return a->space == b->space && a->from < b->end && b->from < a->end;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}
static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Which draft must follow which, over the drafts [from, end): lists of edges by draft - from. */
struct depend {
    uint32_t from, end;
    uint32_t *out0, *out; /* out[out0[i] .. out0[i + 1]): those that follow i */
    uint32_t *in0, *in;   /* those that i follows */
};
void depend_make(const struct variant_build *v, uint32_t from, uint32_t end, struct depend *d);

/* Groups of drafts in an order that respects every edge. Drafts are numbered from 0. */
struct order {
    struct arena *arena;
    const struct depend *d;
    uint32_t n;
    uint32_t *group;      /* by draft: a parent; itself for the one that names the group */
    uint32_t *next, *end; /* members: the one behind it, NONE at the end; by group: the last member */
    uint32_t *place;      /* by group: its place in the order */
    uint32_t *seen, mark; /* by group */
    uint32_t *stack, *before, *after, *slot;
};
void order_make(struct arena *a, const struct depend *d, struct order *o);
uint32_t order_group(struct order *o, uint32_t draft);
/* Joins two groups unless something must stand between them (or looking for that takes too long). Returns the
 * name of the joint group, NONE if there is none. */
uint32_t order_join(struct order *o, uint32_t a, uint32_t b);
/* Whether order_join would; changes nothing. */
bool order_may_join(struct order *o, uint32_t a, uint32_t b);

/* Where the drafts end that may be joined with `from`: at a loop, and where parts are kept apart. */
uint32_t segment_end(const struct variant_build *v, uint32_t from);
/* Of each draft of a segment; NULL for those that groups do not know. And back. */
struct program **programs_make(struct fuser *f, uint32_t from, uint32_t end);
void programs_free(struct fuser *f, struct program **p, uint32_t n);
/* By draft of a segment: launches that must come before it, one behind the other, if all else fuses, and the
 * same number at most before the end becomes later. */
void levels_find(const struct depend *d, struct program *const *program, uint32_t *level, uint32_t *latest);
/* The drafts in another order, with others between them. */
struct renewal {
    VEC(struct draft) drafts;
    uint32_t *place; /* by old draft */
};
/* They replace those of the variant, and everything that counts drafts follows. */
void drafts_renew(struct variant_build *v, const struct renewal *r);

/* A draft once more where that saves keeping its value; before anything is joined. */
void share_split(struct fuser *f);

/* The draft as a program; NULL when it is none that groups know. */
struct program *program_make(struct fuser *f, const struct draft *d);
/* Appends; returns the value. */
uint16_t program_step(struct program *p, const struct step *s);
void program_keep(struct program *p, uint16_t value, uint32_t node, const struct place *at);
/* Drops axes of size 1 and merges those that lie behind each other for all operands. */
void program_simplify(struct program *p);
int64_t program_points(const struct program *p);
int64_t program_rows(const struct program *p);
/* Whether its sums are so long that nothing in the same launch can wait for them. */
bool program_rows_are_long(const struct program *p);
/* Whether it is a box inside of the domain. */
static inline bool step_is_guarded(const struct step *s)
{
    return s->kind == GROUP_LOAD && s->n_in > 0;
}
/* Axes (bits) along which each value varies. */
void program_varies(const struct program *p, uint32_t *axes);
/* Whether something is made of what a REDUCE leaves. */
bool program_goes_on(const struct program *p);
/* softmax, logsumexp, xent, argmax. False when the draft is none of them. */
bool program_rows_op(const struct graph *g, const struct draft *d, struct program *p);

/* How the axes of two programs lie on those of a common domain. */
struct piece {
    int64_t dim;
    int axis[2];     /* of each program; -1: it has none, and repeats */
    int64_t step[2]; /* elements of that axis that one step makes */
};
struct match {
    int rank, outer;
    struct piece piece[LIMIT_RANK];
    bool extra[2]; /* the program lacks axes, so its work is repeated */
};
/* By an operand that both have, x in a and y in b; or, without operands, axis by axis. */
bool match_by(const struct program *a, const struct operand *x, const struct program *b,
              const struct operand *y, struct match *m);
bool match_in_order(const struct program *a, const struct program *b, struct match *m);
/* Program `side` in the common domain, with room for more steps and results. */
struct program *match_apply(struct fuser *f, const struct program *p, const struct match *m, int side,
                            uint32_t room);

/* b, which comes behind a, as one with a; NULL and the reason when that is not allowed. What b no longer
 * reads from memory is taken from f->reads. a and b stay as they are. */
struct program *program_join(struct fuser *f, const struct program *a, const struct program *b,
                             const struct match *m, enum group_stop *why);
/* The same bytes, stepped through alike over `rank` axes. */
bool place_is_same(const struct place *x, const struct place *y, int rank);
/* Whether the value must be in memory. */
bool keep_is_needed(const struct variant_build *v, const struct keep *k, uint32_t readers);

/* The program as a draft. */
void program_emit(struct fuser *f, struct program *p, struct draft *out);

#endif
