/* Inside the planner. A plan is made in steps, one file each, in this order:
 *
 *   bind.c        values of dims, variants of phases
 *   persistent.c  storages: what outlives a tick, and their places in the prefix
 *   schedule.c    per variant: which nodes, in which order, in which part
 *   operands.c    views become offsets and strides
 *   launches.c    nodes become drafts of launches, with the copies that strides make necessary
 *   roots.c       gradient slots, outputs, and commits: in place where that is proven
 *   fuse.c        drafts become groups
 *   lifetimes.c   when each buffer lives, in-place ELEM outputs, packing (packing.c)
 *   emit.c        addresses known: drafts become struct plan_op
 *
 * Until emit.c an address is a `struct place`: a home (a storage or a planned buffer of the variant) and an
 * operand whose offset counts from the start of that home. A buffer can be *moved* into a storage (a gradient
 * slot, a variable); places that name it follow. Drafts, buffers and places live in builder.scratch and die
 * with plan_build; everything else in the plan's arena.
 */
#ifndef GML_PLAN_INTERNAL_H
#define GML_PLAN_INTERNAL_H
#include "runtime/plan/plan.h"

#define NONE UINT32_MAX
enum { LEAF_PADDING = 64 }; /* elements a leaf of a tree is padded to */

enum home { HOME_NONE, HOME_STORAGE, HOME_BUFFER };
struct place {
    enum home home;
    uint32_t index; /* of the storage or buffer */
    struct operand o;
    /* With `turns`: one of so many parts of a stack, the one at number 0 of the loop's counter (a buffer);
     * from one to the next it is `turn` bytes. */
    int64_t turn, turns;
    uint32_t counter;
};
static inline bool place_turns_alike(const struct place *a, const struct place *b)
{
    return a->turns == b->turns && (!a->turns || (a->turn == b->turn && a->counter == b->counter));
}

enum storage_kind {
    STORE_CONSTANTS,
    STORE_TREE,
    STORE_STATE,
    STORE_GRADIENT,
    STORE_CONTROL,
    STORE_DATA,
    STORE_KINDS
};
struct storage {
    enum storage_kind kind;
    uint32_t index; /* tree, variable, or plan.gradient */
    uint64_t bytes, offset;
};

struct buffer {
    uint32_t node;
    uint64_t bytes;
    uint32_t first, last; /* drafts; set by lifetimes.c, `first` by the draft that makes it */
    uint32_t raw_var;     /* raw rows of a data set: written by the loader, no draft makes it; 0 = none */
    uint32_t root;        /* in place: the buffer whose bytes these are; itself otherwise */
    bool pinned;          /* read after the last launch */
    bool taken;           /* its bytes go to a result of the last draft that reads it */
    bool carry;           /* of a loop: others may lie in it */
    bool gone;            /* fused away: it has no bytes */
    bool carried;         /* the next value of a carry, written straight into it (root) */
    uint32_t storage;     /* moved: into this storage at storage_offset; NONE otherwise */
    uint64_t storage_offset;
    uint64_t offset;
};
struct draft {
    enum op op;
    uint32_t node;
    enum part part;
    struct place *in, out;
    uint32_t n_in;
    const int64_t *attr;
    uint32_t n_attr;
    uint8_t stop;              /* enum group_stop */
    uint32_t loop;             /* of loop_begin and loop: that loop, else 0 */
    const struct group *group; /* of group: its results are outs[0 .. n_outs), `out` the first of them */
    struct place *outs;
    uint32_t n_outs;
};
/* A loop of the variant while its drafts are made. */
struct loop_build {
    uint32_t node; /* its end */
    struct place counter;
    struct place *carry, *stack;
    uint32_t begin, end; /* drafts */
    struct plan_loop *plan;
};

struct constant_key {
    uint64_t bits;
    uint32_t dtype, at; /* at: index into constants + 1; 0 = free */
};
struct builder {
    struct arena *arena, *scratch;
    const struct graph *g;
    const struct plan_options *o;
    struct diag_sink *sink;
    struct plan *p;
    VEC(struct storage) storages;        /* at[0] the constants, at[1] the control block */
    uint32_t *tree_storage;              /* by tree */
    uint32_t *var_storage;               /* by variable; NONE for raw data */
    uint64_t *var_offset;                /* by variable: bytes from the start of its storage */
    struct operand *var_view;            /* by variable: contiguous, offset 0 */
    VEC(struct plan_constant) constants; /* 8 bytes each, in order */
    struct constant_key *constant_index;
    uint32_t n_constant_index;
    VEC(struct plan_gradient) gradients;
    uint32_t *gradient_storage; /* by gradient */
    VEC(struct plan_copy) copies;
    struct variant_build *variant;
    uint32_t n_variant;
    uint32_t *metric0; /* by phase */
};
enum { CONSTANTS_STORAGE = 0, CONTROL_STORAGE = 1 };

struct scheduled {
    uint32_t node;
    enum part part;
    bool begins; /* the beginning of the loop that `node` ends; the body follows */
};
struct variant_build {
    struct builder *b;
    uint32_t index, phase;
    int64_t rows;
    bool is_tail;
    struct binding binding;
    struct scheduled *order;
    uint32_t n_order, n_plain; /* order[n_plain ..] are the closing nodes */
    uint32_t *slot;            /* by node: its position in order + 1; 0 = not reachable */
    struct place *value;       /* by slot */
    uint32_t *contiguous;      /* by slot: buffer of its contiguous copy + 1 */
    VEC(struct draft) drafts;
    VEC(struct buffer) buffers;
    struct loop_build *loop; /* by loop of the graph; node 0 = not of this variant */
    uint32_t n_pack;         /* packs seen, by tree: pack_seen */
    uint32_t *pack_seen;
    struct place *metric, *output, *assert_value, ok; /* roots */
    struct plan_op *op;                               /* by draft, filled by emit.c */
    uint64_t planned, bound;
    uint32_t peak;
    const char *packing;
};

/* bind.c */
MUST_CHECK enum status bind_sizes(struct builder *b);    /* configs, rows; then trees: plan.tree_* */
MUST_CHECK enum status bind_variants(struct builder *b); /* builder.variant, their bindings */
MUST_CHECK enum status bind_dim(struct builder *b, const struct binding *at, dim x, struct span span,
                                const char *what, int64_t *value);
/* Contiguous operand at offset 0 of a shape with its sizes bound. */
MUST_CHECK enum status bind_shape(struct builder *b, const struct binding *at, enum dtype t, int rank,
                                  const dim *shape, struct span span, const char *what, struct operand *out);

/* persistent.c */
MUST_CHECK enum status persistent_build(struct builder *b);
bool var_is_raw(const struct var *v);
struct place constant_place(struct builder *b, enum dtype t, double value);
struct place ranges_table(struct builder *b, const struct node *n);
struct place variable_place(struct builder *b, uint32_t var);
struct place tree_place(struct builder *b, uint32_t tree, const struct operand *shape);
uint32_t gradient_block(struct builder *b, uint32_t tree, uint32_t ordinal, uint64_t bytes); /* storage */
void persistent_layout(struct builder *b); /* offsets; plan.persistent, control, var, tree_offset */

/* schedule.c */
void schedule_build(struct variant_build *v);

/* operands.c */
bool place_is_whole(const struct variant_build *v,
                    const struct place *p); /* contiguous and all of its home buffer */
MUST_CHECK enum status resolve_view(struct variant_build *v, uint32_t node, const struct operand *shape,
                                    const struct place *in, struct place *out, bool *needs_copy);
/* A strided box of `size` elements inside an axis of `whole`; else an error at the node. */
MUST_CHECK enum status check_box(struct variant_build *v, uint32_t node, int axis, int64_t start,
                                 int64_t step, int64_t size, int64_t whole);
void make_contiguous(struct operand *o); /* strides from dims */
void normalize_strides(struct operand *o);
bool strides_fit(enum op op, uint32_t input, const struct operand *o); /* what the op takes without a copy */

/* loops.c: the drafts around a body; where values of a loop lie. */
MUST_CHECK enum status loop_opens(struct variant_build *v, const struct scheduled *s);
MUST_CHECK enum status loop_ends(struct variant_build *v, const struct scheduled *s, struct place *out);
struct place loop_place(const struct variant_build *v, uint32_t node); /* loop_index, _carry, _last, _out */
/* The last launch at which a buffer made at `first` and read at `at` must still be there: the end of the
 * outermost loop that contains only the reading. */
uint32_t loop_reach(const struct variant_build *v, uint32_t first, uint32_t at);

/* launches.c */
struct place new_buffer(struct variant_build *v, uint32_t node, const struct operand *shape);
/* The contiguous copy of a node's value, made once. */
struct place contiguous_copy(struct variant_build *v, uint32_t node, const struct place *from,
                             enum part part);
MUST_CHECK enum status launches_build(struct variant_build *v, uint32_t from,
                                      uint32_t end); /* of the order */
struct place copy_out(struct variant_build *v, uint32_t node, const struct place *from,
                      enum part part); /* into a new buffer */
void copy_into(struct variant_build *v, uint32_t node, const struct place *from, const struct place *to,
               enum part part);

/* roots.c */
void pack_slots(struct variant_build *v, uint32_t node, const struct operand *shape, enum part part);
struct commit_work;
/* Before the closing nodes: whatever must be saved from variables that will change. After them: the commits.
 */
MUST_CHECK enum status roots_save(struct variant_build *v, struct commit_work **out);
void roots_commit(struct variant_build *v, struct commit_work *w);

/* fuse.c: joins launches to groups; drafts, and all that counts them, are numbered anew. */
void fuse_build(struct variant_build *v);

static inline uint32_t draft_outs(const struct draft *d)
{
    return d->group ? d->n_outs : 1;
}
static inline const struct place *draft_out(const struct draft *d, uint32_t i)
{
    return d->group ? &d->outs[i] : &d->out;
}

/* lifetimes.c */
void lifetimes_build(struct variant_build *v);

/* emit.c */
void emit_drafts(struct variant_build *v); /* kargs without addresses */
void emit_addresses(struct builder *b);    /* everything else of the plan */
struct operand place_address(const struct variant_build *v, const struct place *p);

/* memory.c */
MUST_CHECK enum status memory_check(const struct plan *p, const struct plan_options *o,
                                    struct diag_sink *sink);
/* plan.c: plan_build without the memory check */
MUST_CHECK enum status plan_layout(const struct graph *g, const struct plan_options *o, struct arena *a,
                                   struct diag_sink *sink, struct plan **out);

static inline uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) & ~(to - 1);
}
static inline uint64_t operand_bytes(const struct operand *o)
{
    return (uint64_t)operand_count(o) * dtype_size(o->dtype);
}
/* What a commit stores: its value without a reshape around a launch, which holds the same bytes. */
static inline uint32_t commit_node(const struct graph *g, const struct commit *c)
{
    uint32_t n = c->value;
    while (graph_node(g, n)->op == OP_reshape) {
        n = node_inputs(g, graph_node(g, n))[0];
    }
    return op_table[graph_node(g, n)->op].kind == OPK_VIEW ? c->value : n;
}
static inline enum op node_op(const struct graph *g, uint32_t v)
{
    return (enum op)graph_node(g, v)->op;
}

#endif
