/* Inside the kernel of groups: a tile of the domain at a time, instruction by instruction, values in scratch
 * memory that stays in the cache.
 *
 * A tile is `lines` lines of n points. Flat groups have one line, points in row-major order of the domain.
 * Rows: lines are rows and points are those of a row, or one line is a piece of a long row. Columns, where
 * the last axis of rows is the one adjacent in memory: a line is n rows side by side at one place of their
 * insides. So the elements of a full value lie line behind line, those of a value of rows in one vector,
 * along the lines or along the points. A *uniform* value is one number for the whole launch. bf16 is f32
 * here, rounded.
 */
#ifndef GML_KERNELS_CPU_GROUP_H
#define GML_KERNELS_CPU_GROUP_H
#include "kernels/cpu/reducer.h"
#include "runtime/plan/group.h"

enum group_class { CLASS_UNIFORM, CLASS_ROW, CLASS_FULL };
enum group_way { WAY_FLAT, WAY_ROWS, WAY_LONG_ROWS, WAY_COLUMNS, WAY_LONG_COLUMNS };
enum {
    GROUP_ROOM = 1 << 20,  /* bytes of scratch on the stack of a thread */
    GROUP_CACHE = 1 << 17, /* of which tiles use about so many */
    GROUP_TILE = 2048,     /* points of a tile at most, short rows of up to GROUP_ROW_MAX excepted */
    GROUP_ROWS = 256,      /* rows of a tile at most */
    GROUP_SIDE = 256,      /* rows side by side at most, */
    GROUP_NARROW = 64,     /* and where they are not all that lie side by side */
    GROUP_DEPTH = 32       /* partial results of a tree */
};
struct tile {
    int64_t lines, n;
    int64_t row, rows; /* first row, number of rows (0: flat) */
    int64_t at;        /* flat: first point. Otherwise first place inside of the rows */
};
/* A value of a tile: point i of line l at p + l * line + i * step. */
struct view {
    char *p;
    int64_t line, step;
};
/* What is known of a value before the launch, */
struct value {
    enum group_class class;
    int64_t size;      /* bytes of an element here */
    bool in_memory;    /* a load, read where it lies */
    int forward;       /* the operand of k.out in which it is made; -1: none */
    iter_fn run;       /* of ELEM */
    int slot;          /* of full and row values; -1: none */
    int16_t last;      /* the last instruction that needs it */
    int16_t level;     /* reductions before it, one behind the other */
    int16_t reduction; /* number of a REDUCE */
    uint32_t passes;   /* bit L: needed while reductions of level L, or results there, are made */
    int64_t period;    /* of a load of points that repeats after so many; its slot is its own */
    struct iter walk;  /* of loads along points or rows */
};
/* and while it runs. */
struct live {
    struct view view; /* over points; in the current tile */
    char *row;        /* CLASS_ROW: its vector */
    double number;    /* CLASS_UNIFORM */
    int64_t phase, n; /* with a period: its slot holds n points from this one of the period on */
};
struct group_run {
    const struct kargs *k;
    const struct group *g;
    char *arena;
    enum group_way way;
    bool in_place; /* a store may lie over a load */
    bool whole;    /* columns: all rows that lie side by side are in a tile */
    int64_t rows, inside, points;
    int64_t side, sides;   /* columns: rows side by side in a tile; size of the axis they lie on */
    int64_t per_unit;      /* flat: points, rows: rows of a unit */
    int64_t tile;          /* points of a tile */
    int64_t chunk, chunks; /* of the insides: points (rows) or lines (columns) */
    int64_t units;
    int levels, n_reduction;
    uint32_t passes;               /* levels at which insides are walked */
    int n_row, n_full;             /* slots */
    int64_t row_bytes, full_bytes; /* of a slot */
    struct iter *store;            /* by operand of k.out */
    struct value *value;           /* by instruction */
    struct live *live;             /* likewise; of this thread */
};
static inline struct live *live_of(const struct group_run *r, const struct value *v)
{
    return &r->live[v - r->value];
}

/* Elements [at, at + n) of a load's walk, one behind the other; not of bf16. */
void load_points(const struct iter *w, const char *from, void *to, int64_t at, int64_t n, int64_t size);

/* group_value.c */
void value_uniforms(struct group_run *r);
void value_make(struct group_run *r, const struct tile *t, char *room, int i);
/* As a value of every point; rows are spread where that is better. */
struct view value_view(const struct group_run *r, const struct tile *t, int i);
void value_store(struct group_run *r, const struct tile *t, const struct group_store *s);
/* Rows [row, row + n) of store s, from adjacent numbers. */
void value_store_rows(struct group_run *r, const struct group_store *s, char *from, int64_t row, int64_t n);
void round_bf16(float *x, int64_t n);

/* Partial results of one REDUCE over the tiles of a row (or of `width` rows side by side). */
struct counter {
    int depth;
    uint8_t level[GROUP_DEPTH];
    char *acc;
};
void counter_push(struct counter *c, const struct reducer *f, int64_t width, const void *leaf);
void counter_close(struct counter *c, const struct reducer *f, int64_t width);

#endif
