/* The elaborator: a compile-time interpreter over the syntax tree whose values are numbers, dimensions,
 * records, layers, instances and graph values. Calls expand in place; what is computed while the model runs
 * becomes nodes through build.h. Private to compiler/elab*.c.
 *
 * Attempts. Some facts are known only after the whole file was read: which parameters a tree has, which
 * configs reach a shape or an `if` (those are fixed), which metrics a phase has. So the file is elaborated
 * again, into a fresh graph, until these facts (struct facts) agree with what the attempt assumed; two
 * attempts are the rule.
 *
 * Poison. An error gives V_POISON; every operation on it gives V_POISON silently, so one root cause is one
 * error.
 *
 * Ownership: everything lives in the arena of the compile.
 */
#ifndef GML_COMPILER_ELAB_H
#define GML_COMPILER_ELAB_H
#include "compiler/build.h"
#include "compiler/compiler.h"
#include "grammar/ast.h"
#include "runtime/base/philox.h"

/* -- values */

enum vkind {
    V_MISSING, /* an argument that was not given */
    V_POISON,
    V_NONE,
    V_NUM,
    V_DIM,  /* a dimension that is no constant */
    V_BOOL, /* known while compiling or at load */
    V_STR,
    V_TYPE,
    V_LIST,
    V_RANGE, /* a..b as an argument: a list of both ends */
    V_RECORD,
    V_TENSOR,
    V_TREE, /* a value over the flat block of a parameter tree */
    V_TAGS, /* one number or bool for each leaf of a tree */
    V_LAYER,
    V_FN,
    V_INST,
    V_MODULE,
    V_BUILTIN,
    V_PHASE,
    V_DATA,
    V_VAR,    /* storage: only inside the value of a SLOT_VAR */
    V_WINDOW, /* in the text of a data member: windows over the rows of `node` */
};
/* What a flat value holds in the padding between leaves: reductions and commits need zeros there. */
enum pad { PAD_UNKNOWN, PAD_ZERO, PAD_NONZERO, PAD_SCALAR };

struct value {
    uint8_t kind;
    bool is_int;   /* NUM; TAGS of whole numbers */
    bool known;    /* NUM, BOOL: the value in `num`/`b` is right now */
    bool is_bool;  /* TAGS */
    uint8_t pad;   /* TREE */
    uint32_t unit; /* TENSOR, VAR: bit per unit axis */
    union {
        double num;
        bool b;
        dim d;
        const char *str;
        val node;       /* TENSOR, TREE, WINDOW */
        uint32_t index; /* VAR, PHASE, DATA; TAGS: tree */
    };
    union {
        const struct live *live; /* NUM, BOOL that may change after compiling; NULL = constant */
        struct list *list;
        struct record *record;
        struct ttype *type;
        struct layer *layer;
        struct fn *fn;
        struct inst *inst;
        struct module *module;
        const struct builtin *builtin;
        uint32_t tree;      /* TREE */
        const double *leaf; /* TAGS */
    };
};
struct list {
    uint32_t n;
    uint32_t parts; /* values inside, see value_parts; 0 = not counted */
    struct value *at;
};
struct record {
    uint32_t n;
    uint32_t parts;
    const char **name; /* interned */
    struct value *at;
    const struct record
        *storage; /* leafwise arithmetic on parameters: which ones, with their tags; or NULL */
};
/* A number that is known at load or while the model runs: an expression over configs, dimensions and planned
 * steps. */
enum live_kind { LIVE_KNOB, LIVE_DIM, LIVE_STEPS, LIVE_OP };
struct live {
    enum live_kind kind;
    uint32_t index; /* KNOB: config; STEPS: phase */
    dim d;
    enum op op;
    uint32_t n;
    uint32_t size; /* operators below, counted as often as they are used */
    struct value in[3];
};
enum tkind { T_TENSOR, T_RECORD, T_TREE, T_INT, T_FLOAT, T_DIM, T_STR, T_ANY };
struct ttype {
    enum tkind kind;
    struct type t;     /* TENSOR */
    uint32_t unit;     /* TENSOR: axes written as 1 */
    uint32_t tree, n;  /* TREE; RECORD */
    const char **name; /* RECORD */
    struct ttype **at;
};

/* -- names */

enum slot_kind { SLOT_VALUE, SLOT_LAZY, SLOT_VAR };
enum slot_what {
    NAME_LOCAL, /* let in a body: the only thing `x = ..` may update */
    NAME_ARG,
    NAME_BRACE,
    NAME_DIM, /* bound by an argument type */
    NAME_PARAM,
    NAME_STATE,
    NAME_CONST, /* let of a file or of a layer */
    NAME_CONFIG,
    NAME_DEF, /* layer, fn, import */
    NAME_PHASE,
    NAME_DATA,
    NAME_CARRY, /* of a scan, in its body */
};
/* What the evaluation of a value met that makes it another one in another tick. */
enum seen { SEEN_STATE = 1, SEEN_DRAW = 2 };
/* The draws of a value, in the order of its text: evaluated again it has the same ones. */
struct drawn {
    VEC(uint64_t) id;
    VEC(uint32_t) var; /* of named ones: what stands for them, 0 = nothing */
};
struct slot {
    const char *name;
    struct span span;
    enum slot_kind kind;
    enum slot_what what;
    struct value v; /* VALUE; LAZY: the result in phase `phase`; VAR: a structure of V_VAR */
    /* LAZY: evaluated where it is used, once for each phase */
    struct ast *ast;
    struct env *env;
    const char *label;
    struct ast *type; /* declared type, may be NULL */
    bool done, busy;
    uint16_t phase;
    int part;             /* of a pattern, -1 = the whole */
    uint32_t parts;       /* names of that pattern */
    struct slot *whole;   /* LAZY: what the names of that pattern share, evaluated once for all of them */
    uint32_t application; /* VAR: that declared it last */
    uint32_t tick;        /* number of the tick that declared it */
    /* LAZY, done: the loop where it was evaluated, the version of states then, and what it met */
    uint32_t loop, version;
    uint8_t seen;
    struct drawn drawn; /* of a file, and what it is made of */
    /* For origins, beside `ast` in `env`, of which a name of a loop is element `part`. DIM: axis of `from`.
     */
    val from;
    int axis;
};
/* The names of a list that stands beside it, in order, hashed when there are many; zeroed = empty. */
struct name_table {
    const char **name;
    uint32_t n, cap;
    uint32_t *place; /* position + 1 by hash, 0 = free; NULL while there are few */
    uint32_t n_place;
};
enum env_kind { ENV_BLOCK, ENV_BODY, ENV_LAYER, ENV_MODULE };
struct env {
    struct env *parent;
    enum env_kind kind;
    struct ast *block; /* whose statements declare here; for advice */
    VEC(struct slot *) slots;
    struct name_table names; /* of the slots */
    struct inst *inst;       /* who owns what is made here */
    struct tick *scan;       /* whose body this is, or NULL */
    const char *prefix;      /* path below inst: "fc.0", "" */
    struct module *module;
    bool is_layer_level;
    bool in_fn;
};
struct module {
    const char *name, *path, *folder; /* path: without links */
    struct parsed parsed;
    uint16_t file;
    struct env *env;
    bool is_main, is_std, loading;
    struct span import;
    struct module *importer;
};
struct layer {
    const char *name;
    struct ast *ast;
    struct module *module;
    bool told; /* that it is no instance: said once */
};
struct fn {
    const char *name; /* NULL: nameless entry */
    const struct ast_list *params;
    struct ast *result, *body;
    struct env *env;
    struct inst *inst; /* entry of this instance, or NULL */
    struct span span;
};
struct inst {
    struct layer *layer;
    const char *path;
    struct inst *owner;
    struct env *env; /* brace parameters and, for layers without entry ( ), what the layer level declares */
    struct span made;
    bool anonymous, ready, incomplete;
    bool frozen;         /* made by frozen(..), or below one that was: `training` is false in it */
    struct inst *source; /* FROZEN: what it is a copy of */
    struct ast **given;  /* the arguments in its braces, in `site` */
    struct env *site;
    uint32_t application; /* that made it */
    uint32_t scope;       /* of its nodes in the graph; 0 = not asked yet */
    VEC(struct inst *) subs;
    VEC(struct slot *) vars; /* parameters and states by key below the path */
    struct name_table sub_paths, var_keys;
};

/* -- facts that one attempt finds and the next one assumes */

struct tree_facts {
    const char *name;
    VEC(const char *) over; /* instance paths, sorted */
    VEC(const char *) leaf; /* parameter keys in the order of the tree */
    VEC(const char *) tags; /* of each leaf: "a,b" */
    enum dtype dtype;       /* of the leaves */
    enum dtype only;        /* DT_NONE; or of parameters of several types it has those of this one */
};
struct metric_facts {
    const char *phase, *name;
    uint32_t index;
};
/* A state that the body of a scan writes. */
struct scan_write {
    uint32_t scan; /* number of its tick */
    const char *key;
};
struct facts {
    VEC(const char *) fixed; /* configs */
    VEC(struct span) fixed_at;
    VEC(const char *) dims; /* whole-number configs that only count launches: symbols */
    VEC(struct tree_facts) trees;
    VEC(struct metric_facts) metrics;
    VEC(struct metric_facts) made; /* of other metrics; index: 0 */
    VEC(const char *) late; /* phases that are elaborated after the others: they read what those make */
    VEC(struct scan_write) writes;
};

/* -- ticks: a launch of a phase, and inside of it the iterations of its scans (language-rules 1.10) */

/* A state whose value is not, or not only, what the last launch left. */
struct held {
    struct value var;      /* V_VAR */
    uint32_t carry;        /* scan: number of its carry, unless rolled */
    struct rolled *rolled; /* scan: the array whose instance at hand owns it */
    struct value now;      /* what reads see */
    val next;              /* scan: set by `next` in this iteration */
    bool set, left;        /* scan: there is such a next; a scan inside left `now` */
    struct span span;      /* of that next */
};
/* A carry of the text, in its body a name with `now`. */
struct carried {
    const char *name;
    struct span span, first; /* the name; its first value */
    struct value now, next;
    bool set;
    struct span set_at;
};
/* An array of instances that a scan walks: in its body the first of them stands for the one at hand, and its
 * variables are parts of the stack of those of all. */
struct rolled {
    struct inst **at;
    uint32_t n;
};
struct yielded {
    const char *name;
    struct value v;
    struct span span;
};
struct tick {
    struct tick *up; /* around it; NULL for a phase */
    uint32_t number; /* of scans, from 1 on in the order of the text; 0 for a phase */
    uint32_t loop;   /* of the graph; 0 for a phase */
    bool dry;        /* an instance is applied for its parameters only: what it reads and writes is dropped */
    bool uncounted;  /* a draw is made that does not depend on its iteration */
    struct span span;
    VEC(struct rolled *) rolled;
    VEC(struct held) held;
    VEC(struct carried) carried;
    VEC(struct yielded) yields;
    VEC(struct output) asserts;
    VEC(val) carry; /* nodes of the loop's carries: those of `carried` leaf by leaf, then of `held` */
};

/* The members of a data set, as elab_data.h has them. */
struct data_members {
    const struct member *at;
    uint32_t n;
};
/* A metric made of other metrics of its phase: where it is read its text is evaluated again. */
struct made_metric {
    uint32_t phase;
    const char *name;
    struct ast *text;
    struct env *env;
    bool busy; /* it is evaluated */
};
/* A metric that the text of an instance reports: its number in the phase, the name in that text, and that
 * with the name of the instance in front. */
struct layer_metric {
    uint32_t at;
    const char *plain, *own;
};
/* A metric read before its phase was elaborated. */
struct metric_use {
    uint32_t phase;
    const char *name;
    struct span at;
};

struct frame {
    struct frame *up;
    struct inst *inst;  /* whose body runs */
    const char *prefix; /* where the application stands */
    const char *what;   /* "fn cosine" or NULL */
    struct span call;
    uint32_t depth;
    uint32_t application; /* number of the application (or phase) that runs; fns share their caller's */
};
/* What the elaborator knows about a variable beyond the graph's table; by variable index. */
struct var_info {
    const char *owner; /* path of the owning instance */
    const char *tags;  /* "a,b" */
    struct span first; /* application that made it */
    struct span outer; /* and the one in the text of a phase, around it */
    struct span used;
    struct ast *type; /* as written, in `env`; may be NULL */
    struct env *env;
    enum pad pad;
    uint32_t unit; /* unit axes */
};
/* What the text takes a name for: suggestions are of that kind. */
enum want { WANT_ANY, WANT_LAYER, WANT_FUNCTION, WANT_DATA };
struct elab {
    struct arena *arena;
    struct interner *names;
    struct diag_sink *sink;
    const struct compile_options *options;
    struct graph *g;
    struct build b;
    struct facts facts; /* assumed */
    struct facts found;
    bool again; /* the facts did not agree */

    VEC(struct module *) modules; /* at[0] = main; kept between attempts */
    VEC(struct value) config;     /* default or --set value by config of the main file */
    struct inst *root;
    const struct declared *declared; /* around the expression that is evaluated; or NULL */
    struct frame *frame;
    uint32_t applications;
    struct name_table draw_places; /* "phase/path" */
    struct drawn *drawn;           /* of the value of the file that is evaluated; NULL = of none */
    uint32_t redrawn, renamed;     /* so many of each it has had this time */
    VEC(uint32_t) draws;           /* so many draws were made there */
    struct name_table draw_keys;   /* of named draws, without their number; */
    VEC(uint32_t) named_draws;     /* so many there are */
    struct name_table scopes;      /* of the graph, from the second on */
    VEC(struct var_info) vars;
    VEC(struct tree_facts)
    trees;                    /* those of the facts first, so that their places are known from the start */
    VEC(bool) tree_used;      /* by tree: this attempt asked for it */
    VEC(struct inst *) insts; /* that have a name, by path */
    struct name_table stored; /* keys of the variables of the graph; find_variable keeps it up */
    struct name_table inst_paths;
    VEC(struct inst *) frozen; /* what frozen(..) made */
    const char *label;         /* the name that the value of the call at hand gets; for frozen */
    struct tick *tick, ground; /* the innermost; that of the phase */
    uint32_t scans;            /* of this attempt so far */
    uint32_t version;          /* another one whenever reads of states may give something else */
    uint8_t seen;              /* by the value that is evaluated, see enum seen */
    struct tick *still; /* a value of the file is evaluated in this tick: its draws are those of the phase */
    bool in_lazy;       /* directly in a value that is evaluated where it is used: it may be made again */
    struct frame *lazy_frame;
    bool training;
    const char *let_path;          /* init: key whose initial value is computed, else NULL */
    struct value result;           /* of the return statement that ended a body */
    VEC(const char *) bad_metrics; /* "phase.name" of metrics whose value had an error */
    val guard;                     /* `when` of the minimize whose optimizer runs */
    uint64_t source_bytes;
    uint64_t work;                    /* of this attempt, against LIMIT_WORK */
    uint32_t depth;                   /* of the expression at hand, against LIMIT_EVAL_DEPTH */
    enum want want;                   /* of the name that is looked up next */
    struct member *member;            /* of a data set: its text is evaluated; for field(..) */
    VEC(struct data_members) members; /* by data set */
    VEC(struct metric_use) metric_uses;
    VEC(struct made_metric) made_metrics;
    VEC(struct layer_metric) layer_metrics; /* of the phase at hand */
    VEC(const char **) overs;               /* of the minimizes of the phase at hand: paths, ended by NULL */
    bool in_metric, own_metric;             /* inside of `metric x = ..`; it read a metric of its phase */
};

/* elab_diag.c: errors with their origin */
/* Emits, adds where the text was expanded from, and returns poison. */
struct value fail(struct elab *e, enum diag_code c, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the help line to an error just made, and returns it. */
struct value with_help(struct elab *e, struct value failed, const char *help);
void note_origin(struct elab *e); /* for an error that somebody else emitted just now */
/* Marks an operand with its type, and where a name was declared. */
void label_operand(struct elab *e, struct env *env, struct ast *at, struct value v);
void help_closest(struct elab *e, const char *name, const char *const *candidate, uint32_t n);
/* The same; where nothing is close, the help lists all of them. For short lists. */
void help_names(struct elab *e, const char *name, const char *const *candidate, uint32_t n);
/* elab_origin.c. A label at the place where the size of an axis was written. */
void label_axis(struct elab *e, struct value v, int axis);
void label_size(struct elab *e, struct ast *written, struct env *env, dim d); /* of a type */
/* The same for every axis whose size none of the other operands has. */
void label_odd_axes(struct elab *e, const struct value *in, uint32_t n);
/* elab_advice.c: help for a name that was not found, where something of that kind stands. */
void advise_name(struct elab *e, struct env *env, const char *name, enum want want);
void advise_module_member(struct elab *e, const char *name, const char *const *known, uint32_t n);
void advise_member(struct elab *e, struct value v, const char *name); /* of a tensor or an instance */
const char *advice_for_import(const char *name);                      /* NULL when there is none */
const char *source_slice(struct elab *e, struct span s);
const char *place_text(struct elab *e, struct span s); /* "models/mlp.gml:31:17" */
/* Where the rows of a launch, which may be few in the last one, meet a full batch: the help says so. */
void help_tail(struct elab *e, dim a, dim b);
void help_tail_types(struct elab *e, const struct type *a, const struct type *b); /* axes from the right */

/* elab_value.c: making and describing values */
struct value poison(void);
struct value none_value(void);
struct value num_value(double x, bool is_int);
struct value bool_value(bool b);
struct value str_value(const char *s);
struct value dim_value(struct elab *e, dim d);   /* a constant becomes a number; 0 becomes poison */
struct value tensor_value(val v, uint32_t unit); /* 0 becomes poison */
struct value list_value(struct elab *e, uint32_t n);
struct value record_value(struct elab *e, uint32_t n);
/* v, a new list or record, with the values inside counted; poison when there are more than LIMIT_PARTS. Text
 * can double a value in every round of a loop, and everything that walks through it would take as long. */
struct value count_parts(struct elab *e, struct value v, struct span at);
struct value *value_field(struct value r, const char *name);
bool is_poison(struct value v);        /* also inside lists and records */
bool is_number(struct value v);        /* NUM or DIM */
bool is_scalar_static(struct value v); /* NUM, DIM, BOOL */
bool is_whole(struct value v);         /* a number without fraction, as 2, or a dim */
bool is_given(struct value v);         /* an argument that is there and not `none` */
const char *value_text(struct elab *e,
                       struct value v); /* "f32[B, 64]", "the number 3", "a record (a: f32, ...)" */
const char *dim_text(struct elab *e, dim d);
struct type tensor_type(struct elab *e, struct value v);
/* Phase of the first graph value inside v, -1 if there is none. */
int value_phase(struct elab *e, struct value v);
bool value_same(struct elab *e, struct value a, struct value b); /* `==` of values that are no tensors */

/* elab_env.c: names */
struct env *env_new(struct elab *e, struct env *parent, enum env_kind kind);
struct slot *env_add(struct elab *e, struct env *env, const char *name, struct span at, enum slot_what what,
                     struct value v);
struct slot *env_lazy(struct elab *e, struct env *env, const char *name, struct span at, enum slot_what what,
                      struct ast *ast, struct env *in);
struct slot *env_own(struct env *env, const char *name); /* in this scope only */
/* What storage holds in the phase at hand: reads, and in phase init the first values. */
struct value storage_value(struct elab *e, struct value v, struct span at);
/* A pattern of so many names does not fit v; poison. */
struct value pattern_error(struct elab *e, uint32_t names, struct value v, struct span at);
void names_push(struct elab *e, struct name_table *t, const char *name);
int64_t names_find(const struct name_table *t, const char *name); /* its position, -1 if there is none */
/* Looks outward. *closed is set when the name was found in the file by a layer, which sees only part of it.
 */
struct slot *env_find(struct env *env, const char *name, bool *closed);
/* Whether a declaration of the name was lost in a syntax error: the name stands on the line of one. */
bool lost_in_syntax(struct elab *e, const char *name);
struct value slot_value(struct elab *e, struct slot *s, struct span at);
struct value name_value(struct elab *e, struct env *env, const char *name, struct span at);

/* elab_number.c: compile-time arithmetic */
struct value fold_op(struct elab *e, enum op op, const struct value *in, uint32_t n, struct span at);
val emit_number(struct elab *e, struct value v, enum dtype t); /* as a rank-0 node */
val emit_static(struct elab *e, struct value v);               /* with its own type: i32, f32 or bool */
/* elab_op.c: a number or bool as an element of type t; 0 after an error when it does not fit. */
val emit_beside(struct elab *e, struct value v, enum dtype t, struct span at, const char *what);
bool want_int(struct elab *e, struct value v, struct span at, const char *what, int64_t *out);
bool want_dim(struct elab *e, struct value v, struct span at, const char *what, dim *out);
bool want_size(struct elab *e, struct value v, struct span at, const char *what, dim *out); /* 0 .. 2^40 */
bool want_bool(struct elab *e, struct value v, struct span at, const char *what, bool *out);
/* E2023, "<what> must be <wanted>, found .."; nothing for poison. Returns false. */
bool wrong_kind(struct elab *e, struct value v, struct span at, const char *what, const char *wanted);
bool want_string(struct elab *e, struct value v, struct span at, const char *what, const char **out);
/* The shape in a list of dimensions. */
bool want_shape(struct elab *e, struct value v, struct span at, const char *what, int *rank, dim *shape);
/* Fixes at compile time every config that v depends on. */
void fix_value(struct elab *e, struct value v, struct span at);

/* elab_op.c: operators on tensors, records and trees */
struct site {
    struct span at;         /* the operator */
    struct ast *operand[3]; /* may be NULL */
    struct env *env;
};
struct value elementwise(struct elab *e, enum op op, const struct value *in, uint32_t n,
                         const struct site *s);
struct value matmul(struct elab *e, struct value x, struct value w, const struct site *s);
/* Records and lists, which go leaf by leaf: their leaves, whether two have the same, a new one like v. */
bool is_scalar(struct elab *e, struct value v);
/* A float scalar beside leaves of a float type: it takes theirs; v itself where it has it, or one is no
 * float. */
struct value scalar_as(struct elab *e, struct value v,
                       enum dtype t); /* a number, bool or tensor without axes */
bool is_branch(struct value v);
uint32_t branch_count(struct value v);
struct value *branch_at(struct value v, uint32_t i);
bool same_branch(struct value a, struct value b);
struct value branch_like(struct elab *e, struct value v);
/* A tensor out of a tensor or a static scalar; 0 after an error. */
val want_tensor(struct elab *e, struct value v, struct span at, const char *what, struct type *t);
void build_at(struct elab *e, struct span at);
/* elab_tree.c */
struct value tree_op(struct elab *e, enum op op, const struct value *in, uint32_t n, const struct site *s);
struct value tree_reduce(struct elab *e, enum op op, struct value x, const struct site *s);
struct value tree_masked(struct elab *e, struct value x, double fill); /* `fill` in the padding */
struct value tree_tagged(struct elab *e, struct value p, const char *tag);
bool var_tagged(struct elab *e, uint32_t var, const char *tag);
struct value tree_each(struct elab *e, struct value f, struct value *in, uint32_t n, struct env *env,
                       struct ast *at);
struct value tree_record(struct elab *e, struct value p, struct span at); /* its leaves as nested records */
/* A flat value of one tree as one of another of equal layout (an instance and its frozen copy); v itself
 * where the layouts differ, poison where only a later attempt knows. */
struct value tree_as(struct elab *e, struct value v, uint32_t tree);
const char *tree_leaf_name(struct elab *e, uint32_t tree, uint32_t leaf); /* below its instance: "fc.0.w" */
struct value tree_with_leaf(struct elab *e, struct value t, uint32_t leaf, val v); /* one leaf replaced */
struct value tree_initial(struct elab *e, uint32_t tree, struct span at);          /* in phase init */
/* What the `over` of a minimize names: paths of instances and keys of parameters. */
struct over {
    VEC(const char *) path;
    struct inst *frozen; /* a frozen instance among them, or NULL */
};
/* The tree that has the leaves of an `over`. *whole is false when it has others too (then some other minimize
 * moves more, or some of them and more), or when there is one for each element type: this minimize gets its
 * leaves one by one, as records. */
int tree_for(struct elab *e, const char *name, const struct over *o, bool *whole);
/* The leaves of one tree that a minimize moves. */
struct tree_part {
    uint32_t tree, n;
    uint32_t *leaf; /* ascending */
    val grad;       /* flat */
};
/* Those that `over` names of `tree` and of its sides of other element types; false while they are not known.
 */
bool tree_parts(struct elab *e, uint32_t tree, const struct over *o, struct tree_part **part, uint32_t *n);
/* The leaves by path: their gradients, or storage. */
struct value tree_part_record(struct elab *e, const struct tree_part *part, uint32_t n, bool grad,
                              const struct over *o);
void trees_start(struct elab *e); /* the trees of the facts, at the beginning of an attempt */
void tree_finish(struct elab *e); /* fills g->trees and the found facts */
/* Tree whose leaves are exactly the parameters of an instance; -1 if none. */
int tree_of_instance(struct elab *e, struct inst *i);
/* The flat block of a tree: f32 until its leaves are known. */
struct type tree_type(struct elab *e, uint32_t tree);
/* The parameters of a tree as they are at the start of the tick. */
struct value tree_value(struct elab *e, uint32_t tree, struct span at);

/* elab_expr.c */
struct value eval(struct elab *e, struct ast *a, struct env *env);
/* With the name that an instance made by the expression gets. */
struct value eval_named(struct elab *e, struct ast *a, struct env *env, const char *label);
struct value member(struct elab *e, struct value v, const char *name, struct span at, struct span name_at);
/* elab_index.c */
enum item_kind { ITEM_INT, ITEM_SLICE, ITEM_NEW, ITEM_REST, ITEM_TENSOR, ITEM_DIM };
struct item {
    enum item_kind kind;
    struct span span;
    bool literal;                /* INT: written as a number */
    struct value v;              /* INT, DIM, TENSOR */
    struct value from, to, step; /* SLICE; V_MISSING when absent */
};
enum { MAX_ITEMS = 2 * LIMIT_RANK + 1 };
bool read_items(struct elab *e, struct ast *a, struct env *env, struct item *item, uint32_t *n);
/* The places of an axis that a slice or a static index names. */
struct places {
    dim from, n;
    int64_t step;
    bool whole, point; /* all of them; one, which drops the axis */
};
bool item_places(struct elab *e, const struct item *it, dim size, struct places *p);
struct value index_value(struct elab *e, struct value v, struct ast *a, struct env *env);
struct value slice_axis(struct elab *e, struct value v, int axis, dim from, dim size, struct span at);
bool index_error(struct elab *e, struct span at, struct value v); /* v is no index; false */
/* elab_call.c */
struct args {
    uint32_t n;
    struct value *at;
    const char **name; /* NULL = positional */
    struct span *span;
    struct ast **ast; /* NULL for a piped value */
};
bool eval_args(struct elab *e, const struct ast_list *l, struct env *env, const struct value *piped,
               struct ast *piped_ast, struct args *out);
struct value call_value(struct elab *e, struct value f, struct args *a, struct env *env, struct ast *at);
/* Counts work; false, after one error, when LIMIT_WORK is used up: text that would expand for ever. */
bool spend(struct elab *e, uint32_t work, struct span at);
bool frame_push(struct elab *e, struct frame *f, struct inst *inst, const char *what, struct span call);
void frame_pop(struct elab *e);
/* elab_type.c */
struct ttype *eval_type(struct elab *e, struct ast *t, struct env *env);
struct ttype *type_of(struct elab *e, struct value v); /* NULL: v has none */
struct ttype *type_lead(struct elab *e, struct ttype *t, int n, const dim *d, uint32_t unit);
const char *ttype_text(struct elab *e, const struct ttype *t);
/* Checks a value against a written type and binds its dimension names in env; may adapt *v. */
bool match_type(struct elab *e, struct ast *t, struct value *v, struct env *env, struct span at,
                const char *what);
/* The same for the written type of a result, which may only use names that the arguments bound. */
bool match_result(struct elab *e, struct ast *t, struct value *v, struct env *env);
/* A value of type t: scalars fill, records leaf by leaf. */
struct value fill_type(struct elab *e, struct ttype *t, struct value v, struct span at, const char *what);
struct bcall;
/* elab_owned.c: parameters and states of instances as values */
bool path_below(const char *path, const char *top); /* the same, or further parts; everything is below "" */
/* Puts a leaf into nested records by its path; `room` fields fit into each. */
void record_put(struct elab *e, struct record *r, uint32_t room, const char *path, struct value leaf);
struct value record_lists(struct elab *e, struct value v); /* records with names 0, 1, .. made lists */
/* The variables of a kind below a path, as storage (V_VAR) by path; without those of frozen copies in it. */
struct value owned_storage(struct elab *e, const char *path, enum var_kind kind);
struct value instance_params(struct elab *e, struct inst *i, struct span at);
struct value instance_states(struct elab *e, struct inst *i, struct span at);
/* The same of every instance in a record or list; other values stay. */
struct value params_of(struct elab *e, struct value v, struct span at);
struct value states_of(struct elab *e, struct value v, struct span at);
struct value make_array(struct elab *e, struct ast *a, struct env *env, const char *label); /* L{..}[n] */
/* The instances of an array, all of one layer; NULL when v is no such list. For `scan`: they have the same
 * parameters under other paths, unless static conditions in their layer made them differ. */
struct inst **array_instances(struct elab *e, struct value v, uint32_t *n);
/* `net.fc` of `for (..) as fc`; V_MISSING when the instance has no such scope. */
struct value instance_scope(struct elab *e, struct inst *i, const char *name, struct span at);
bool over_paths(struct elab *e, struct value v, struct over *o); /* false: v names no parameters */
uint32_t param_read(struct elab *e, struct value v); /* the parameter that v is the value of; 0 = none */
/* elab_frozen.c: copies with storage of their own */
struct value run_frozen(struct elab *e, struct bcall *c);
const char *source_path(struct elab *e, const char *path); /* whose first values it has; itself otherwise */
struct inst *find_instance(struct elab *e, const char *path);
void mark_frozen(struct elab *e, struct inst *i);
void complete_frozen(struct elab *e, struct inst *i);          /* with all that its source has by now */
bool moves(struct elab *e, const char *key, const char *over); /* below it, and not frozen there */
/* elab_call.c: `Ring{row, n}` */
const char *brace_names(struct elab *e, const struct layer *l);
/* elab_layer.c */
struct inst *new_instance(struct elab *e, struct layer *l, struct inst *owner, const char *path,
                          struct span at);
void add_instance(struct elab *e, struct inst *owner, struct inst *i); /* under its name */
bool path_is_free(struct elab *e, struct inst *i, struct layer *l, struct span at);
void bind_braces(struct elab *e, struct inst *i, struct ast **given, struct env *env, const char *name);
/* `site` for instances that belong to `owner`, below `prefix`. */
struct env *brace_scope(struct elab *e, struct env *site, struct inst *owner, const char *prefix);
struct value make_instance(struct elab *e, struct ast *a, struct env *env, const char *label);
bool instance_ready(struct elab *e, struct inst *i);
struct value instance_member(struct elab *e, struct inst *i, const char *name, struct span at);
struct value apply_instance(struct elab *e, struct inst *i, struct args *a, struct env *env, struct ast *at);
/* The variable with this key; 0 if there is none yet. */
uint32_t find_variable(struct elab *e, const char *key);
uint32_t add_variable(struct elab *e, const struct var *v, const struct var_info *info);
void declare_param(struct elab *e, struct ast *a, struct env *env);
void declare_state(struct elab *e, struct ast *a, struct env *env);
const char *join_path(struct elab *e, const char *a, const char *b);
/* elab_next.c: what a tick commits */
void declare_next(struct elab *e, struct ast *a, struct env *env);
/* Commits v to storage, leaf by leaf; a->b is its text. False after an error. */
bool commit_value(struct elab *e, struct value to, struct value v, const char *name, struct ast *a);
void check_commits(struct elab *e); /* of the phase at hand: `next` and minimize of one parameter */
/* Usually the same text in a second application: then the application is the culprit. */
void second_next(struct elab *e, struct ast *a, const char *key, struct span first);
/* A state or carry keeps the type of its first value; and the structure of `to`. */
void help_next(struct elab *e, const char *name, bool is_carry, const struct type *first,
               const struct type *next);
void help_fields(struct elab *e, struct value to);
/* elab_index.c: which element of a list; -1 after an error. */
int64_t list_place(struct elab *e, struct value list, const struct item *item, uint32_t n, struct span at);
/* elab_put.c: x[item, ..] = v as a new value; x and v may be records. */
struct value put_items(struct elab *e, struct value x, const struct item *item, uint32_t n, struct value v,
                       struct span at, struct span value_at);
/* elab_tick.c: what a state is right now (a V_VAR of one variable), and its next value */
struct value tick_read(struct elab *e, struct value var);
/* The next value that the tick at hand has for a variable, if any. */
struct pending {
    val value, guard;
    struct span span;
};
bool tick_pending(struct elab *e, uint32_t var, struct pending *p);
/* Sets it, or puts v in its place. */
void tick_next(struct elab *e, struct value var, val v, struct span at);
void tick_assert(struct elab *e, val v, const char *text, struct span at);
/* The phase commits what its scans left. */
void tick_commit(struct elab *e);
/* Makes t, with its loop, the innermost tick. */
void tick_enter(struct elab *e, struct tick *t);
/* Adds a carry to the loop of a tick; its node. */
val tick_carry(struct elab *e, struct tick *t, val first);
/* Ends the loop: `next` for the carries of the text, `yields` values. 0 after an error. */
val tick_end(struct elab *e, struct tick *t, const val *next, const val *yield, uint32_t yields);
/* Makes the tick around t the innermost; it gets what t left in states, and its assertions. */
void tick_leave(struct elab *e, struct tick *t, val end, uint32_t yields);
/* For a draw in a scan: which iteration it is, over all loops around it that count, i32[]; 0 outside. */
val tick_iteration(struct elab *e);
/* Whether every node of v exists in the loop at hand. */
bool value_visible(struct elab *e, struct value v);
/* elab_array.c. Makes the scan of t walk a list of instances; the value for its body, poison after an error.
 */
struct value roll_instances(struct elab *e, struct tick *t, struct value list, struct span at);
/* Reports, and says, that v is the instance which stands for the one at hand in a scan around, but was read
 * from the slot s (NULL: from a list) of outside. */
bool walked_elsewhere(struct elab *e, struct value v, const struct slot *s, struct span at);
/* The array of t that owns a variable through its first instance, or NULL. */
struct rolled *rolled_variable(struct elab *e, const struct tick *t, uint32_t var);
/* The variable of instance k that corresponds to one of the first; 0 after an error. */
uint32_t rolled_member(struct elab *e, const struct rolled *r, uint32_t var, uint32_t k, struct span at);
/* Before an entry of the instance at hand runs: the other instances get what it makes. False after an error.
 */
bool apply_members(struct elab *e, struct fn *f, struct args *a, struct env *env, struct ast *at);
bool for_effect_only(const struct elab *e); /* that is going on: nothing of the body is kept */
/* elab_scan.c */
struct value eval_scan(struct elab *e, struct ast *a, struct env *env);
void do_yield(struct elab *e, struct ast *a, struct env *env);
/* v is the next value of a carry, or of part of it. */
struct carry_part {
    const char *const *field; /* from the outer to the inner */
    uint32_t n_field, n_item;
    const struct item *item; /* or NULL */
};
void next_carry(struct elab *e, struct slot *s, const struct carry_part *part, struct value v, struct ast *a);
struct tick *scan_around(struct env *env); /* whose body the text stands in, or NULL */
/* False, after an error, for a statement that has no place in a scan. */
bool outside_scan(struct elab *e, struct ast *a, const char *advice);
/* elab_stmt.c */
enum flow { FLOW_NEXT, FLOW_RETURN };
enum flow exec_block(struct elab *e, struct ast *block, struct env *env);
void declare_let(struct elab *e, struct ast *a, struct env *env, bool lazy, enum slot_what what);
/* Reports names that stand twice in a list of parameters, or in the brace parameters around it. */
void check_params(struct elab *e, const struct ast_list *params, const struct ast_list *outer);
void declare_fn(struct elab *e, struct ast *a, struct env *env, struct inst *inst);
/* elab_builtin.c */
struct bcall {
    const struct builtin *b;
    struct value arg[8];
    struct span span[8];
    struct ast *ast[8];
    struct value *rest; /* further positional arguments, and where they stand */
    struct span *rest_span;
    uint32_t n_rest;
    struct env *env;
    struct ast *at;
    struct span span_at; /* the callee */
};
struct builtin {
    const char *name;
    struct value (*run)(struct elab *e, struct bcall *c);
    /* "x axis? keep?"; behind "x" and `*` any number of positional arguments, and names behind `*` must be
     * named */
    const char *params;
    enum op op;
};
struct value call_builtin(struct elab *e, const struct builtin *b, struct args *a, struct env *env,
                          struct ast *at);
/* elab_shape.c: argument i as a tensor, as an axis of a tensor of that rank; a built value, or poison with
 * the origin noted. */
val tensor_arg(struct elab *e, struct bcall *c, int i, struct type *t);
bool want_axis(struct elab *e, struct value v, struct span at, int rank, int *axis);
bool axis_arg(struct elab *e, struct bcall *c, int i, int rank, int *axis);
struct value checked(struct elab *e, struct bcall *c, val v, uint32_t unit);
/* elab_row.c: argument 0 with `axis` moved last, and the permutation that moves it back. */
struct value move_last(struct elab *e, struct bcall *c, struct value axis, int *back, int *which);
/* elab_index.c: a whole number or dim as the place i32[] of an axis, as in x[v]: negative constants count
 * from the end. 0 after an error. */
val static_place(struct elab *e, struct value v, dim size, struct span at);
/* The first k axes of x merged into one, and k indices of them as one index; false after an
 * error. */
bool merge_index(struct elab *e, struct value x, const struct value *ix, uint32_t k, struct span at,
                 val *table, struct value *index);
/* elab_conv.c: argument i, i32 ids of segments over the first n axes of x, as the number of the run of equal
 * ids along the last of them: 0, .., 0, 1, .. */
val segment_runs(struct elab *e, struct bcall *c, int i, const struct type *x, int n);
/* elab_choice.c: a draw whose shape is argument 0. */
val draw_node(struct elab *e, struct bcall *c, enum op op, enum dtype d, const val *in, uint32_t n_in);
/* elab_order.c */
struct value run_categorical(struct elab *e, struct bcall *c);
/* Values known everywhere: operators, casts, constants, `step`. V_MISSING when unknown. */
struct value builtin_value(struct elab *e, const char *name, struct span at);
struct value builtin_member(struct elab *e, const char *module, const char *name, struct span at);
void builtin_names(struct elab *e, const char ***names, uint32_t *n, uint32_t *cap);
/* Whether nodes go to a phase that makes initial values or data: it runs once, on the CPU. */
bool in_load_phase(struct elab *e);
struct site builtin_site(struct bcall *c);
struct value reduce_op(struct elab *e, struct bcall *c);
extern const struct builtin shape_builtins[], row_builtins[], move_builtins[], order_builtins[],
    conv_builtins[], sequence_builtins[], matrix_builtins[], tree_builtins[], rand_builtins[],
    number_builtins[], file_builtins[];
/* All of them but rand_builtins, ended by NULL. */
extern const struct builtin *const builtin_tables[];
/* elab_module.c */
bool load_main(struct elab *e, const char *path, const char *text, uint32_t n);
bool bind_modules(struct elab *e); /* names of every file, for one attempt */
/* elab_config.c */
void declare_config(struct elab *e, struct module *m, struct ast *a);
bool check_sets(struct elab *e);
bool config_is_fixed(struct elab *e, const char *name);
/* Makes a live whole-number config a dimension: it only counts launches, and can still be set at load. */
void config_count(struct elab *e, const char *name);
void config_fix(struct elab *e, const char *name, struct span at);
/* elab_data.c */
void declare_data(struct elab *e, struct module *m, struct ast *a);
struct value data_sample(struct elab *e, uint32_t data, uint32_t phase, struct span at);
void run_data_phases(struct elab *e);
/* elab_member.c: an operator on windows and numbers goes over the rows under the windows. */
struct value window_op(struct elab *e, enum op op, const struct value *in, uint32_t n, const struct site *s);
/* elab_phase.c */
void declare_phases(struct elab *e);
void run_phases(struct elab *e);
void do_minimize(struct elab *e, struct ast *a, struct env *env);
void do_output(struct elab *e, struct ast *a, struct env *env);
void do_assert(struct elab *e, struct ast *a, struct env *env);
/* Switches where nodes go; returns the previous phase. */
uint16_t enter_phase(struct elab *e, uint16_t phase);
/* The op id of the next draw in the text of the instance (or variable) at that path, here draw_path(e). */
uint64_t draw_id(struct elab *e, const char *path);
const char *draw_path(struct elab *e);
/* elab_metric.c */
/* A number as it leaves the device: f32 or f64. */
val reported(struct elab *e, val v);
void add_metric(struct elab *e, const char *name, struct value v, enum metric_mode mode, struct span at,
                struct span value_at);
void bad_metric(struct elab *e, const char *name);
void name_metrics(struct elab *e); /* at the end of a phase: those of instances */
void check_metric_uses(struct elab *e);
struct value phase_member(struct elab *e, uint32_t phase, const char *name, struct span at);
void do_metric(struct elab *e, struct ast *a, struct env *env);
/* elab_lint.c. Warns of scans of which nothing is used. */
void lint_scans(struct elab *e);
/* elab_file.c. The text behind a declared type, which a call of `file` in it needs. */
struct declared {
    const struct ast *text; /* without parentheses; set by eval_declared */
    struct ast *type;       /* as written, in `env`, or */
    const struct ttype *t;  /* known */
    struct env *env;
    const char *label; /* the name that is declared */
};
struct value eval_declared(struct elab *e, struct ast *a, struct env *env, const char *label,
                           const struct declared *d);
/* elab_draw.c. A draw, where text of an instance that a scan walks makes it the draw of the one at hand. */
struct draw {
    enum op op;
    struct type type;
    const val *in; /* the parameter of the distribution */
    uint32_t n_in;
};
val make_draw(struct elab *e, const struct draw *d);
/* The value of `let name = rand.f(..)`: the draw, or what takes its place
 * (compile_options.override). */
struct value named_draw(struct elab *e, struct env *env, const char *name, struct ast *ast, struct value v);
bool check_overrides(struct elab *e); /* each was the key of a draw */
/* The phase at hand needs what another one makes: it is elaborated behind it in the next attempt. False when
 * it was already: then nobody makes it. */
bool wait_for_later(struct elab *e);
/* elab_run.c */
/* An expression as a phase of its own with one output, a number or a bool; 0 after an error. */
uint32_t expression_phase(struct elab *e, struct ast *a, struct env *env, const char *name, bool condition);
void elaborate_run(struct elab *e, struct ast *run);

#endif
