/* Groups: launches fused into one, as plain data.
 *
 * A group walks a *domain* of rank axes. Axes [0, outer) make rows, the axes behind them are the inside of a
 * row. A program of instructions in SSA form says what happens at a point of the domain: instruction i makes
 * value i out of values before it. A value is *full* (one for each point) or of a *row* (one for each row:
 * what REDUCE makes of a full value, and whatever is made of nothing but such values, of operands that repeat
 * inside a row, of constants and scalars). outer == rank: no reductions, every value counts as full.
 *
 * Operands are those of the launch, k.in and k.out, brought to the rank of the domain: dims of the domain,
 * stride 0 where an operand repeats. The table of GROUP_RANGES and the control block (the last of k.in, with
 * `control`) are as in plan.h. An operand of k.out has size 1 on axes along which its value does not vary
 * (a value of a row on all axes from `outer` on): the first point of such an axis stores it. Scalar results
 * thus may leave any group.
 *
 * Turning operands are parts of a stack over the iterations of a loop: the one in k.in or k.out is the part
 * of counter 0, and its elements lie counter * turn bytes behind it. The counter is an i32 without axes in
 * k.in, which no load names, and stands still while the group runs.
 *
 * A *guarded* LOAD has a bool value as its input, and is 0 where that is false, without a look at memory: an
 * operand written into zeros. It is a box inside of the domain: its dims are its own, and it begins `back`
 * bytes behind where point 0 of the domain would be.
 *
 * A concat of parts of one size may leave as its parts: a store for each, one behind the other, with the
 * strides of the whole.
 *
 * All stores of a group go to different bytes. Where outer == rank, a store may go to the very bytes of an
 * operand that is loaded with the same strides: so a point loads all it needs before it stores. Nothing else
 * overlaps.
 *
 * What a backend owes: the values of the launches one by one. A value of dtype bf16 is computed in f32 and
 * rounded; reductions add up as the REDUCE row of ops.def says, in a fixed order that depends on the domain
 * alone. Between two instructions an f32 may keep no more than its 32 bits on the CPU; on a GPU a product and
 * a sum may become one fused operation. What varies along no axis (numbers of the control block, powers of
 * them) is for a thread to compute once, not for each point: the planner counts on it.
 *
 * Long rows: where nothing is made of a REDUCE (all its results are just stored), op_workspace() offers the
 * scratch of a REDUCE row for each GROUP_REDUCE, one behind the other, in the order of the program; otherwise
 * a row has at most GROUP_ROW_MAX points unless there are GROUP_ROWS_MANY of them.
 */
#ifndef GML_PLAN_GROUP_H
#define GML_PLAN_GROUP_H
#include "runtime/plan/plan.h"

enum group_kind {
    GROUP_LOAD,   /* k.in[operand] at this point. The same operand may be loaded again behind a REDUCE. With
                   * in[0]: only where that is true */
    GROUP_CONST,  /* `value` */
    GROUP_INDEX,  /* i32: the place of this point along axis `operand` of the domain (iota) */
    GROUP_SCALAR, /* a CONTROL row without tensors (step, knob, metric): op, attr */
    GROUP_ELEM,   /* ELEM row `op` of in[0 .. n_in) */
    GROUP_REDUCE, /* REDUCE row `op` of the full value in[0] over the inside of the row */
    /* The i32 in[0], which must be a label: -1 .. value - 1. Otherwise the failure word gets FAULT_LABEL, the
     * node, it and (int64_t)value, once for a row */
    GROUP_CHECK,
    /* The third number of the row of table k.in[operand] (f64[n, 3]: first element, elements, value,
     * ascending) to which element in[0] (i32) belongs, `value` where there is none */
    GROUP_RANGES,
    GROUP_KINDS
};
struct group_instr {
    uint8_t kind;  /* enum group_kind */
    uint8_t dtype; /* of the value */
    bool row;      /* one for each row */
    uint8_t n_in;
    uint16_t op;
    uint16_t in[3]; /* values */
    uint16_t operand;
    uint16_t counter; /* LOAD, with `turn`: the operand of k.in that is the counter */
    double value;
    int64_t back;        /* LOAD, guarded */
    int64_t turn;        /* LOAD: bytes by which the operand moves with the counter of a loop; 0: none */
    const int64_t *attr; /* of the node, resolved as in kargs; of ELEM rows with one, too */
    uint32_t n_attr;
    uint32_t node; /* whose value this is */
};
struct group_store {
    uint16_t value, operand; /* value to k.out[operand] */
    uint16_t counter;        /* as of a LOAD */
    uint32_t node;           /* which it is */
    int64_t turn;            /* as of a LOAD */
};
/* Why a launch, of a group or not, was not joined with another: plan_op.stop. */
enum group_stop {
    STOP_NONE,
#define GROUP_STOP(name, text) STOP_##name,
#include "runtime/plan/group_stop.def"
#undef GROUP_STOP
    STOP_COUNT
};
struct group {
    uint8_t rank, outer;
    int64_t dim[LIMIT_RANK];
    const struct group_instr *instr;
    const struct group_store *store;
    uint16_t n_instr, n_store;
    bool control; /* some instruction reads the control block: the last of k.in, as in plan.h */
};
enum {
    GROUP_MAX_INSTR = 256,
    GROUP_MAX_OPERANDS = 32,
    GROUP_MAX_REDUCE = 16,
    GROUP_ROW_MAX = 4096,
    GROUP_ROWS_MANY = 128
};

/* Points of the domain, rows of it, points in a row. */
int64_t group_points(const struct group *g);
int64_t group_rows(const struct group *g);
int64_t group_inside(const struct group *g);
/* Whether something is made of what a REDUCE leaves. */
bool group_goes_on(const struct group *g);
/* Short name of a stop, and a sentence for people. */
const char *group_stop_name(enum group_stop s);
const char *group_stop_text(enum group_stop s);

#endif
