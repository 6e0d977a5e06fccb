/* The plan: sizes bound, launches in order, every byte placed in one arena. Plain data; no device is needed
 * to make it.
 *
 * Arena: [constants | parameters | optimizer and other states | gradient blocks | control block | data sets |
 * workspace | planned region = max over phases]. The persistent prefix (all but the last two) is filled on
 * the host (init and data phases run there) and uploaded once. A *variant* of a phase is the phase at one
 * number of rows per launch: full batches, and the tail of a pass if there is one. The plan lives in its
 * arena and points into the graph, which must outlive it.
 */
#ifndef GML_PLAN_PLAN_H
#define GML_PLAN_PLAN_H
#include "runtime/graph/graph.h"
#include "runtime/plan/control.h"

struct group;
/* A view into the arena: strides in elements, 0 = broadcast. */
struct operand {
    uint64_t offset; /* bytes from the arena's start */
    int64_t dim[LIMIT_RANK], stride[LIMIT_RANK];
    uint8_t dtype, rank;
};
/* A launch as plain data: what kernels get. `attr` is the node's attributes, resolved: dims become int64
 * values behind them (first n attributes, then n_dim values). CONTROL and FAULT ops get the control block as
 * their last input operand (dtype DT_NONE, rank 0; counted in n_in).
 *
 * What the planner adds or replaces:
 * - metric: one more attribute, the absolute index into control.metric
 * - ranges: one input operand, f64[n, 3] in the constants region, rows (first element, elements, value)
 *   ascending
 * - pack: leaves are produced in, or copied into, their slots of a persistent gradient block, and nothing is
 *   launched; with an axis of replicas it is a launch that writes the block
 * - loop_begin: no inputs, out is the counter. loop: inputs are the carries, then the stacks of the yields;
 * out is the counter. Executors know both; they have no kernel
 * - loop_in: the counter as a second input, the first with any strides. loop_put: a yield (any strides) and
 * the counter, out is the whole stack, of which the part of this iteration is written
 * - group: several launches as one (runtime/plan/group.h, which says what in and out are); node is the last
 * of them
 * - copy: out is contiguous, in has any strides. Also made for nodes of other ops: then k.node is the node
 *   copied
 *
 * Strides: ELEM, REDUCE, copy and the index of gather take any. matmul takes factors whose leading axes
 * collapse into one (stride 0 too) and of whose last two strides one is 1 and the other at least its
 * neighbour's dim. All other inputs are contiguous, and so are outputs. The stride of an axis of size 1 is
 * what a contiguous tensor would have there. An ELEM output may be the very bytes of an input with the same
 * element size (in place): no `restrict` across them. */
struct kargs {
    const struct operand *in, *out;
    uint16_t n_in, n_out;
    const int64_t *attr;
    uint32_t n_attr;
    const struct group *group; /* of group, else NULL */
    const void *prepared; /* what a backend keeps of the launch, in plan.arena; NULL before it is asked to */
    uint32_t node;        /* for the failure word */
    uint64_t work;        /* byte offset of the scratch, */
    uint64_t work_bytes;  /* sized by op_workspace() */
};
/* A loop: the ops begin .. end of a variant, a loop_begin and a loop around the body. The counter is an i32
 * in the arena: 0, 1, .. or in reverse count - 1, .., 0. An iteration writes the next value of each carry
 * over the old one and its yields into their stacks. */
struct plan_loop {
    uint64_t counter;
    int64_t count;
    bool reverse;
    uint32_t begin, end;
};
struct plan_op {
    uint16_t op;  /* enum op */
    uint8_t part; /* enum part */
    uint8_t stop; /* enum group_stop: why it was not joined with another one; 0 when nothing was tried */
    uint32_t node;
    struct kargs k;
    const struct plan_loop *loop; /* of loop_begin and loop, else NULL */
};
/* What the machine is like, for decisions that depend on it. No calls, just numbers. */
struct target {
    const char *name;   /* "cpu", "cuda", "null" */
    int sm, n_sm;       /* compute capability * 10; multiprocessors. 0 on the CPU */
    uint64_t memory;    /* bytes free for the arena; 0 = unknown */
    uint64_t workspace; /* bytes a library matmul may use (cuda: 32 MiB); 0 = none */
    bool groups;        /* runs groups: launches may be fused */
};

struct plan_var {
    uint64_t offset, bytes; /* place of the variable; parameters inside their tree's block. Raw rows of a data
                               set ("x#raw") lie in the planned region of their data phase and are live from
                               its first launch */
    struct operand view;
};
struct plan_metric {
    const char *name;
    enum metric_mode mode;
    struct operand value;
};
struct plan_variant {
    uint32_t phase;
    int64_t rows; /* rows per launch; 0 for data-free phases */
    bool is_tail;
    struct plan_op *op;
    uint32_t n_op;
    struct plan_metric *metric;
    uint32_t n_metric, metric0; /* first index in control.metric */
    struct operand *output;     /* materialised outputs, in the graph's order, contiguous */
    uint32_t n_output;
    struct operand *assert_value; /* bool[] each, asserts of the phase */
    uint32_t n_assert;
    bool has_ok;
    struct operand ok;          /* bool[] */
    uint64_t planned, bound;    /* bytes of the planned region used, lower bound (max live aligned bytes) */
    const char *order;          /* packing order that won */
    uint32_t peak;              /* launch at which `bound` is reached */
    uint32_t buffer0, n_buffer; /* its buffers: plan.buffer[buffer0 ..], by launch that makes them */
    /* dying[die0[i] .. die0[i + 1]) are the buffers (indices into plan.buffer) whose bytes nobody reads after
     * launch i; die0 has n_op + 1 entries. Buffers overwritten in place and values alive to the end of the
     * tick are not listed. */
    uint32_t *dying, *die0;
};
/* One placed value, for `--emit=mem`, the checker and --debug-plan. */
struct plan_buffer {
    uint32_t variant, node; /* node whose value it is; 0 = workspace */
    uint64_t offset, bytes; /* aligned to 256 */
    uint32_t first, last;   /* launches during which it is live, inclusive; raw data is live from 0 */
    bool in_place;          /* taken over at `first` from the buffer at the same offset that ends there */
    bool to_end;            /* a metric, output or assert: alive after the last launch */
    bool raw;               /* raw rows: written by the data loader before the first launch */
};
/* Flat gradient of a `pack` node: persistent, its padding is zero and stays so. The k-th pack over a tree of
 * a phase uses the k-th block of that tree, so phases share them. */
struct plan_gradient {
    uint64_t offset, bytes;
    uint32_t tree, ordinal;
};
/* A `next` (or a parameter update) that could not be written in place. */
struct plan_copy {
    uint32_t variant, op, commit; /* launch that copies; index into the phase's commits */
    uint64_t bytes;
    const char *why;
};
struct plan_constant {
    uint64_t offset;
    double value;
    uint8_t dtype;
};
struct plan {
    struct arena *arena;
    const struct graph *graph;
    struct target target;
    struct binding binding;             /* dims bound for the whole run (batch symbols vary by variant) */
    struct plan_var *var;               /* by variable */
    uint64_t *tree_offset, *tree_bytes; /* by tree: the flat parameter block */
    int64_t *tree_elements;
    uint64_t **leaf_start; /* by tree, leaf: first element in the block */
    uint64_t control;      /* offset of struct control */
    uint64_t persistent;   /* bytes of the prefix that is filled on the host and uploaded */
    uint64_t planned_offset, workspace_offset;
    uint64_t workspace_bytes; /* shared by all launches: the schedule is linear */
    uint64_t bytes;           /* the whole arena, as the host needs it for init and data phases */
    uint64_t device_bytes;    /* enough for the user's phases and the expressions of `run`: what a device
                                 allocates; <= bytes */
    struct plan_variant *variant;
    uint32_t n_variant;
    struct plan_buffer *buffer;
    uint32_t n_buffer;
    struct plan_constant *constant; /* what fills the constants region; see plan_fill_constants */
    uint32_t n_constant;
    struct plan_gradient *gradient;
    uint32_t n_gradient;
    struct plan_copy *copy;
    uint32_t n_copy;
    bool no_reuse;
    const struct plan_segment *segment; /* of the run block, made by who runs it; none from plan_build */
    uint32_t n_segment;
};

struct plan_options {
    const int64_t *data_rows;       /* by data set: rows that phases see */
    const int64_t *stored_rows;     /* by data set: rows of the file; NULL = the same */
    const int64_t (*split_rows)[2]; /* by phase: [first row, rows] of its split in the resident set */
    const char *const *set_name;    /* dim configs changed at load */
    const int64_t *set_value;
    uint32_t n_set;
    struct target target;
    bool no_reuse; /* --debug-plan: nothing shares bytes, red zones between buffers */
    bool fuse;     /* launches become groups, where the target runs them */
    bool parts;    /* no group across parts: they are launched apart */
};
enum { PLAN_ALIGN = 256, PLAN_RED_ZONE = 256 };

/* Binds dims, orders, places. Errors: E31xx (dims that do not divide, with both names), R1010 (too little
 * memory: needed, free, the five largest tensors with source lines, the batch that fits). */
MUST_CHECK enum status plan_build(const struct graph *g, const struct plan_options *o, struct arena *a,
                                  struct diag_sink *sink, struct plan **out);
/* Independent checker: overlaps of live buffers, bounds, alignment, operands inside their buffers, and that
 * every read byte range was written before. Shares no code with the planner. */
MUST_CHECK enum status plan_check(const struct plan *p, struct diag_sink *sink);
/* `gmlc --emit=mem`: regions, per phase `ratio R`, tensors live at the peak, the copies of `next`. */
void plan_print_memory(const struct plan *p, FILE *out);
/* Variant of a phase at the given rows; NULL if there is none. */
const struct plan_variant *plan_find(const struct plan *p, uint32_t phase, bool tail);

/* Writes the constants into a host image of the arena, whose other bytes the caller has zeroed. */
void plan_fill_constants(const struct plan *p, void *arena);

/* Scratch of op_workspace(), offered through kargs.work / work_bytes on every target (kernels may ignore it;
 * 0 bytes = none):
 * - REDUCE, when at least PLAN_REDUCE_SPLIT elements go into each of O results: 8 bytes for each of O * S
 *   partial results, with S = min(PLAN_REDUCE_PARTIALS, ceil(elements / PLAN_REDUCE_CHUNK),
 *   max(1, PLAN_REDUCE_TOTAL / O)); nothing when S is 1. A kernel gets S back as work_bytes / (8 * O)
 * - group: that of a REDUCE row for each of its reductions, see runtime/plan/group.h
 * - matmul: target.workspace
 * - what sorts places on a GPU: order_scratch() of argsort's rows (one buffer), or of the indices of put_add,
 * put_max and spread (two), then 8 bytes for each row written to; put: 4 bytes for each
 * - put_add of bf16 on the CPU: 4 bytes for each index and for each row */
enum {
    PLAN_REDUCE_SPLIT = 2048,
    PLAN_REDUCE_CHUNK = 1024,
    PLAN_REDUCE_PARTIALS = 1024,
    PLAN_REDUCE_TOTAL = 65536,
    PLAN_ORDER_TILE = 4096,
    PLAN_ORDER_DIGITS = 256,
    PLAN_ORDER_FROM = 2048, /* shorter rows are sorted without scratch */
};
/* Scratch of a radix sort of `segments` rows of n places: `buffers` of i32 places, then the counts of tiles.
 */
uint64_t order_scratch(int64_t segments, int64_t n, int buffers);
/* Scratch bytes an op needs on a target: partial sums of large reductions, library workspace. Pure;
 * workspace.c. */
uint64_t op_workspace(enum op op, const struct kargs *k, const struct target *t);

/* Operand helpers. */
int64_t operand_count(const struct operand *o);
bool operand_is_contiguous(const struct operand *o);

/* Whether a launch may write its result over operand `input`, given that both are the same bytes. */
static inline bool op_writes_over(enum op op, uint32_t input)
{
    return op_table[op].kind == OPK_ELEM || op == OP_copy || (op_table[op].flags & OPF_ROWS && input == 0);
}

#endif
