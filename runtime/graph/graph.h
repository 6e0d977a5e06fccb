/* The graph: what gmlc emits and gmlrun plans. Plain open tables, append-only, index-based, hash-consed.
 *
 * Invariants (checked by graph_verify): an input's id is smaller than its user's; a node belongs to one phase
 * and reads nodes of that phase only; types follow the shape rules; roots name nodes of their own phase.
 * Elementwise inputs have equal shapes (broadcasting is explicit `expand`/`reshape` views). Everything lives
 * in one arena, owned by whoever made the graph.
 */
#ifndef GML_GRAPH_GRAPH_H
#define GML_GRAPH_GRAPH_H
#include "kernels/ops.h"
#include "runtime/base/diag.h"
#include "runtime/base/dtype.h"
#include "runtime/base/limits.h"
#include "runtime/base/mem.h"
#include "runtime/graph/dim.h"

typedef uint32_t val; /* node id; 0 = none */

struct type {
    enum dtype dtype;
    int rank;
    dim dim[LIMIT_RANK];
};

struct node {
    uint16_t op;
    uint8_t dtype, rank;
    uint16_t phase;
    uint16_t n_attr, n_dim;
    uint32_t n_in;
    uint32_t in, attr, dims; /* offsets into the pools: inputs, int64 attributes, dim attributes */
    uint32_t shape;          /* offset into the dim pool: rank entries */
    uint32_t scope;          /* instance path, index into scopes */
    uint32_t loop;           /* innermost loop it belongs to, 0 = none; see struct loop */
    struct span span;
};
/* A loop of a phase: a body that runs `count` times, its values going from one iteration to the next through
 * carries. The body is the nodes whose `loop` is this one (or one inside of it); which loop a node belongs to
 * follows from its inputs, the innermost of theirs, so what does not change from iteration to iteration is
 * outside by construction. loop_in, loop_index and loop_carry bring values in; one `loop` node ends the body
 * and belongs outside, where loop_last and loop_out read what it leaves. Bodies read everything around them;
 * a loop without `loop` node never runs. */
struct loop {
    uint32_t parent; /* the loop around it, a smaller index; 0 = none */
    uint32_t phase;
    dim count;
    bool reverse; /* the last part first */
    struct span span;
};

/* Storage that outlives a tick. */
enum var_kind { VAR_PARAM, VAR_STATE, VAR_DATA };
struct var {
    enum var_kind kind;
    const char *key;  /* "net.fc.0.lin.w", "opt.train.loss.m", "digits.x" */
    struct type type; /* a state over a parameter tree has rank 1 and dim_tree(tree) */
    uint32_t tree;    /* index + 1; PARAM: the tree it is a leaf of; STATE: the one whose layout it copies */
    uint32_t leaf;    /* PARAM: its position in that tree */
    /* DATA: the data set, index + 1; its type has the axis of rows first. STATE: index + 1 of the one its
     * data phase fits the value to; kept with the weights, and not fitted again where they are loaded. */
    uint32_t data;
    const char **tags; /* PARAM */
    uint32_t n_tags;
    /* STATE: a constant, filled from this file (relative to the model's folder) when the model is loaded,
     * before initial values are made; which array of it, NULL = it has one only. NULL = none */
    const char *file, *array;
    struct span span;
};
/* A state that is the same in every replica: read from files, or fitted to data. */
static inline bool var_is_shared(const struct var *v)
{
    return v->data || v->file;
}
/* A parameter tree: the leaves of one minimize (or of the rest), in the order (tags, path), one flat block.
 * Attributes `tree` of ops (tree, grad, pack, ranges) and minimize.tree are plain indices from 0; leaves of
 * `ranges` come ascending. */
struct tree {
    const char *name; /* "train.loss" */
    uint32_t *leaf;   /* variables */
    uint32_t n_leaf;
};
enum config_kind { CONFIG_FIXED, CONFIG_DIM, CONFIG_LIVE };
struct config {
    const char *name, *doc;
    enum config_kind kind;
    enum dtype dtype;     /* LIVE: f32, i32 or bool. FIXED: DT_NONE */
    double value;         /* DIM, LIVE, and numeric FIXED */
    const char *text;     /* FIXED: its value as gml text, for display and run.json */
    dim symbol;           /* DIM */
    const double *values; /* LIVE, where replicas differ: one for each; NULL = `value` for all */
    struct span span;
};
/* What a raw array is filled with. FIELD: arrays of the file, BYTES: the file itself, TIME: seconds since the
 * first row, out of a field. TRAIN: bool by stored row, whether it is in the part "train" (without splits:
 * all). For every row that phases see, START: the stored row at which its windows begin, FIRST: whether the
 * row before it, in the file, is none of its part. */
enum source_kind {
    SOURCE_FIELD,
    SOURCE_BYTES,
    SOURCE_TIME,
    SOURCE_CLASS,
    SOURCE_TRAIN,
    SOURCE_START,
    SOURCE_FIRST
};
/* One array of a data set as stored in the file, before the text's transformation. A member that is computed
 * from several arrays has one of these for each, side by side and with one var. */
struct data_field {
    const char *name; /* member name in gml; "" = of no member */
    enum source_kind kind;
    const char *source; /* field("images"), timestamp("date"); of columns(..) the first */
    /* columns("a", "c".."f"): pairs of first and last, "a" "a" "c" "f"; none for field(..) */
    const char **column;
    uint32_t n_column;
    const char **names; /* classes("a", [..]): the texts, whose places are the values */
    uint32_t n_names;
    bool fills; /* field("a", missing = v): NaN and cells without a value are read as `fill` */
    double fill;
    struct type type; /* of a row as stored, without the row axis */
    uint32_t var;     /* VAR_DATA the transformed rows go to */
    val raw; /* `read` node of the raw rows in the data phase: var of kind DATA with key "digits.x#raw" */
};
enum split_kind { SPLIT_NONE, SPLIT_FIELD, SPLIT_FRACTION, SPLIT_ROWS, SPLIT_CONDITION };
struct split_part {
    const char *name;
    double fraction;
    int64_t from, to;
    /* CONDITION: a formula over the arrays of a row, in f64, operators behind their operands: ".day" is an
     * array,
     * "=8" a number, "\"mon" text, which is only compared; anything else an elementwise row of ops.def */
    const char **step;
    uint32_t n_step;
};
struct data {
    const char *name, *path; /* path NULL: nothing of it is used, so it is not opened and has no rows */
    enum split_kind split;
    const char *split_field;
    struct split_part *parts;
    uint32_t n_part;
    struct data_field *field;
    uint32_t n_field;
    uint32_t phase; /* the data phase that transforms raw rows, run once at load on the host */
    dim rows;       /* of phases: symbol "<name>.rows" */
    /* Where rows are windows over the stored rows, which never reach across parts or gaps of a part: row r
     * begins at stored row starts[r] and all its members lie in the `extent` stored rows from there; the next
     * one begins `stride` further. Otherwise extent is 0 and stored rows are rows. */
    dim stored, extent, stride; /* stored: symbol "<name>.stored"; 0 = rows */
    struct span span;
};

struct commit {
    uint32_t var;  /* variable index, or */
    uint32_t tree; /* tree index + 1: the whole flat block */
    val value;
    val guard; /* bool[]: keep the old value where false; 0 = always. The guard pass makes it a `where` */
    struct span span;
};
enum metric_mode { METRIC_MEAN, METRIC_SUM, METRIC_LAST, METRIC_MIN, METRIC_MAX };
struct metric {
    const char *name;
    val value; /* f32[] */
    enum metric_mode mode;
    struct span span;
};
struct output {
    const char *name;
    val value;
    struct span span;
};
struct minimize {
    const char *name;
    val loss;
    val grad; /* the flat gradient: a `grad` node, a `pack` after autodiff */
    val when; /* may be 0 */
    uint32_t tree;
    bool partial; /* over some leaves of the tree: the gradient of the others is zero, they do not move */
    struct span span;
};
enum phase_kind { PHASE_INIT, PHASE_DATA, PHASE_USER, PHASE_RUN };
enum part { PART_FORWARD, PART_LOSS, PART_BACKWARD, PART_OPTIMIZER, PART_COUNT };
struct phase {
    const char *name; /* "init", "data.digits", "train", "run.0" */
    enum phase_kind kind;
    bool training; /* has a minimize */
    /* data binding; data = index + 1, 0 = none */
    uint32_t data;
    const char *split; /* NULL = all rows */
    dim batch;         /* rows asked for */
    dim b;             /* rows of a launch: symbol "<phase>.b" */
    bool shuffle, lanes;
    uint32_t metric_of; /* RUN: its output is a metric of this phase, made of others; 0 = none */
    VEC(struct commit) commits;
    VEC(struct metric) metrics;
    VEC(struct output) outputs;
    VEC(struct output) asserts; /* bool values; name = source text */
    VEC(struct minimize) minimizes;
    val ok; /* bool[]: all gradients finite; 0 before the guard pass or without minimize */
    struct span span;
};

enum run_kind { RUN_BLOCK, RUN_GO, RUN_REPEAT, RUN_EVERY, RUN_SAVE, RUN_STOP };
enum run_unit { UNIT_LAUNCH, UNIT_STEPS, UNIT_EPOCHS, UNIT_ROUNDS, UNIT_PHASE };
struct run_stmt {
    enum run_kind kind;
    uint32_t phase; /* GO, EVERY n PHASE: phase index */
    enum run_unit unit;
    dim count;        /* GO, REPEAT, EVERY */
    const char *file; /* SAVE "file" */
    uint32_t expr;    /* SAVE best e, STOP when e: index of a PHASE_RUN phase with one output; 0 = none */
    uint32_t *child;  /* statement indices */
    uint32_t n_child;
    struct span span;
};

/* What `/` of dimensions leaves: a size that must be a whole number with the sizes of a run. */
struct size_check {
    dim size;
    struct span span;
};
struct graph {
    struct arena *arena;
    struct interner *names;
    struct sources sources;
    struct dims dims;
    const char *model; /* name of the model file without folder and ending */
    /* Replicas (compiler/compiler.h): that many copies of the model side by side, and the graph of one. Then
     * values of user phases that differ between them have an axis of `n_replicas` in front: every state
     * (unless data phases fit it), flat blocks of trees, metrics, `ok`. Parameters are typed as one copy has
     * them; the leaf of a block of all copies has the axis. 0 = one copy, no axis. Not stored in files. */
    uint32_t replicas;
    dim n_replicas;
    const struct graph *one;
    VEC(struct node) nodes;   /* at[0] unused */
    VEC(uint32_t) inputs;     /* pool */
    VEC(int64_t) attrs;       /* pool */
    VEC(dim) dim_pool;        /* pool: shapes and dim attributes */
    VEC(const char *) scopes; /* at[0] = "" */
    VEC(struct var) vars;     /* at[0] unused */
    VEC(struct tree) trees;
    VEC(struct loop) loops; /* at[0] unused */
    VEC(struct config) configs;
    VEC(struct size_check) checks;
    VEC(struct data) datas;
    VEC(struct phase) phases;
    VEC(struct run_stmt) run; /* at[0] = the block, if there is a run */
    uint32_t *cons;           /* hash-consing table, private to graph.c */
    uint32_t n_cons;
    /* While a loop is differentiated: brings a value of its body (or of a loop inside) into the loop that
     * runs backwards; graph_add asks it for inputs whose loop is `import_from` of some entry. NULL = nobody.
     */
    struct graph_import *import;
};
/* See graph.import. */
struct graph_import {
    struct graph_import *outer;
    uint32_t from; /* loop */
    val (*bring)(struct graph_import *, val v);
};

struct graph *graph_new(struct arena *a);

static inline const struct node *graph_node(const struct graph *g, val v)
{
    return &g->nodes.at[v];
}
static inline const uint32_t *node_inputs(const struct graph *g, const struct node *n)
{
    return g->inputs.at + n->in;
}
static inline const int64_t *node_attrs(const struct graph *g, const struct node *n)
{
    return g->attrs.at + n->attr;
}
static inline const dim *node_dims(const struct graph *g, const struct node *n)
{
    return g->dim_pool.at + n->dims;
}
static inline const dim *node_shape(const struct graph *g, const struct node *n)
{
    return g->dim_pool.at + n->shape;
}
struct type node_type(const struct graph *g, val v);
bool type_equal(const struct type *a, const struct type *b);
static inline bool type_is_scalar(const struct type *t, enum dtype d)
{
    return t->rank == 0 && t->dtype == d;
}
/* A flat block of tree `tree`: rank 1 and the size of the tree, of replicas all of their blocks. */
bool type_is_flat(const struct graph *g, const struct type *t, uint32_t tree);
/* A type with an axis of that size in front; rank must be below LIMIT_RANK. */
struct type type_stacked(struct type t, dim count);
/* Whether t is a scalar, or, with replicas, one scalar for each. */
bool type_is_single(const struct graph *g, const struct type *t);
/* "f32[B, 128]" */
const char *type_text(const struct graph *g, const struct type *t);

/* What to add. Views and sources whose type does not follow from the inputs (reshape, expand, slice, pad,
 * iota, uniform, const, read, ...) say it in `type`; for the rest type.dtype is DT_NONE and the shape rule
 * decides. */
struct node_spec {
    enum op op;
    uint16_t phase;
    const val *in;
    uint32_t n_in;
    const int64_t *attr;
    uint32_t n_attr;
    const dim *dims;
    uint32_t n_dim;
    struct type type;
    struct span span;
    uint32_t scope;
};
/* Adds a node or returns the equal one that exists. 0 and a diagnostic when the shape rule refuses. */
val graph_add(struct graph *g, const struct node_spec *s, struct diag_sink *sink);
uint32_t graph_scope(struct graph *g, const char *path);

/* -- loops */

/* A new loop in the phase, inside `parent` (0 = none). 0 and a diagnostic when there are too many. */
uint32_t graph_loop(struct graph *g, uint16_t phase, uint32_t parent, dim count, bool reverse, struct span at,
                    struct diag_sink *sink);
/* Whether loop `inner` is `outer` or inside of it; everything is inside of 0. */
bool loop_inside(const struct graph *g, uint32_t inner, uint32_t outer);
/* The innermost loop of a node as its inputs say it; false where they belong to loops side by side. */
bool loop_of(const struct graph *g, const struct node_spec *s, uint32_t *loop);
/* Parts of a `loop` node: its carries come first, then as many next values, then the yields. */
static inline uint32_t loop_carries(const struct graph *g, const struct node *end)
{
    return (uint32_t)node_attrs(g, end)[1];
}
static inline val loop_carry(const struct graph *g, const struct node *end, uint32_t k)
{
    return node_inputs(g, end)[k];
}
static inline val loop_next(const struct graph *g, const struct node *end, uint32_t k)
{
    return node_inputs(g, end)[loop_carries(g, end) + k];
}
static inline uint32_t loop_yields(const struct graph *g, const struct node *end)
{
    return end->n_in - 2 * loop_carries(g, end);
}
static inline val loop_yield(const struct graph *g, const struct node *end, uint32_t k)
{
    return node_inputs(g, end)[2 * loop_carries(g, end) + k];
}
/* One more yield of a loop that has ended: v, a node before `end`, inside of the loop. Returns its number;
 * that of an equal one if there is one. */
uint32_t graph_loop_yield(struct graph *g, val end, val v);

/* Shape rules. A rule fills s->type, or reports through shape_fail. One file per structured op in shape/. */
struct shape_ctx {
    struct graph *g;
    const struct node_spec *s;
    struct type in[4]; /* types of the first inputs */
    struct type out;
    struct diag_sink *sink;
};
bool shape_fail(struct shape_ctx *c, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Dispatch by op: generic rules for ELEM, REDUCE, VIEW; shape_<op> for OP. */
bool shape_check(struct shape_ctx *c);

/* Checks every invariant. Codes F15xx with the node id for loaded graphs; I0001 when a pass broke it. */
MUST_CHECK enum status graph_verify(const struct graph *g, struct diag_sink *sink);
/* Text form: prints everything, parses back to an equal graph (text.c). */
void graph_print(const struct graph *g, FILE *out);
MUST_CHECK enum status graph_parse(struct arena *a, const char *text, struct diag_sink *sink,
                                   struct graph **out);
/* .gmlb: bytes and back (gmlb.c). The reader trusts nothing and verifies. */
MUST_CHECK enum status gmlb_write(const struct graph *g, struct arena *a, char **bytes, size_t *n);
MUST_CHECK enum status gmlb_read(struct arena *a, const char *path, const char *bytes, size_t n,
                                 struct diag_sink *sink, struct graph **out);
/* JSON and DOT for tools. */
void graph_json(const struct graph *g, FILE *out);
void graph_dot(const struct graph *g, FILE *out);
/* Rewrites all f32 to `t` (f64): nodes, variables, knobs. */
void graph_set_precision(struct graph *g, enum dtype t);

/* Variable index by key, 0 if none; phase index by name or -1. */
uint32_t graph_find_var(const struct graph *g, const char *key);
int graph_find_phase(const struct graph *g, const char *name);

/* Constants travel as the bits of an f64 in an attribute. */
static inline int64_t f64_bits(double x)
{
    int64_t b;
    memcpy(&b, &x, 8);
    return b;
}
static inline double bits_f64(int64_t b)
{
    double x;
    memcpy(&x, &b, 8);
    return x;
}

#endif
