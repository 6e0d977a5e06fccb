/* One differentiable case for tests of operators, in f64: inputs drawn by number, a result r, and (when r can
 * be differentiated) loss = sum(w * r) with its gradient. Built node by node (case_begin, case_input, then
 * any nodes) or from the text of a model (sample.h); compiled by the passes and the planner; run on the CPU,
 * as often as wanted, after writing other numbers into its inputs. Everything lives until case_end.
 *
 * Numbers are a pure function of (domain, seed, input, element), computed with whole numbers only and exact
 * in f64: tools/make_golden_ops.py draws the same ones.
 */
#ifndef GML_TESTS_OPS_CASE_H
#define GML_TESTS_OPS_CASE_H
#include <math.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "compiler/vjp.h"
#include "runtime/base/number.h"
#include "runtime/base/philox.h"
#include "runtime/exec/exec.h"
#include "tests/suite.h"

/* -- numbers */

/* Domains beside those of ops.def. INDEX: -1 .. n-1; WHOLE: -50 .. 50; SORTED: rows of the last axis that do
 * not fall, RISING: that rise; SPD: symmetric positive definite matrices; EDGES: infinities, NaN, zeros, huge
 * and tiny numbers, each with each of the other inputs. */
enum case_domain {
    DOM_INDEX = 100,
    DOM_WHOLE,
    DOM_SORTED,
    DOM_RISING,
    DOM_SPD,
    DOM_EDGES,
};
static inline enum case_domain case_domain(const char *name)
{
    static const char *const rows[] =
        {[DOM_ANY] = "ANY",     [DOM_POSITIVE] = "POSITIVE", [DOM_NONZERO] = "NONZERO",
         [DOM_UNIT] = "UNIT",   [DOM_SMALL] = "SMALL",       [DOM_KINK0] = "KINK0",
         [DOM_APART] = "APART", [DOM_INTLIKE] = "INTLIKE",   [DOM_BOOLS] = "BOOLS"},
                             *const more[] = {"INDEX", "WHOLE", "SORTED", "RISING", "SPD", "EDGES"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strcmp(rows[i], name)) {
            return (enum case_domain)i;
        }
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (!strcmp(more[i], name)) {
            return (enum case_domain)(DOM_INDEX + (int)i);
        }
    }
    ck_abort_msg("no domain %s", name);
    return 0;
}
static inline uint64_t case_bits(uint64_t seed, uint32_t input, int64_t i)
{
    return mix64((seed << 40) + ((uint64_t)input << 32) + (uint64_t)i + 1);
}
/* In [lo, hi) sixteenths, a multiple of 2^-40. */
static inline double case_between(uint64_t bits, int64_t lo, int64_t hi)
{
    return (double)((lo << 36) + (int64_t)((bits >> 12) % (uint64_t)((hi - lo) << 36))) * 0x1p-40;
}
/* No two elements of the first four inputs are equal or nearer than 2^-10. */
static inline double case_apart(uint64_t seed, uint32_t input, int64_t i)
{
    uint32_t x = (uint32_t)((uint64_t)i * 4 + input + seed * 97) & 8191;
    x = x * 2757 & 8191;
    x ^= x >> 7;
    x = x * 5081 & 8191;
    return ((double)x - 4096) * 0x1p-10;
}
static inline double case_edge(bool whole, uint32_t input, int64_t i)
{
    static const double edges[16] = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     (double)NAN,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     2.5,
                                     -2.5,
                                     1e300,
                                     -1e300,
                                     1e-300,
                                     -3},
                        wholes[16] = {0,           1,     -1,     2,          -2,           3,
                                      -3,          7,     -7,     2147483647, -2147483648., 2147483646,
                                      -2147483647, 65536, -65536, 46341};
    return (whole ? wholes : edges)[i >> (4 * input) & 15];
}
/* Element i of input k, which has rows of `width` elements. `n`: the bound of INDEX. */
static inline double case_draw(int domain, uint64_t seed, uint32_t k, int64_t i, int64_t width, int64_t n)
{
    uint64_t bits = case_bits(seed, k, i);
    switch (domain) {
    case DOM_POSITIVE:
        return case_between(bits, 5, 48);
    case DOM_NONZERO:
    case DOM_KINK0:
        return case_between(bits, 5, 32) * (bits & 1 ? -1 : 1);
    case DOM_UNIT:
        return case_between(bits, -15, 15);
    case DOM_SMALL:
        return case_between(bits, -48, 48);
    case DOM_APART:
        return case_apart(seed, k, i);
    case DOM_INTLIKE:
        return (double)((bits >> 12) % 7) - 3;
    case DOM_BOOLS:
        return (double)(bits >> 20 & 1);
    case DOM_INDEX:
        return (double)((bits >> 12) % (uint64_t)(n + 1)) - 1;
    case DOM_WHOLE:
        return (double)((bits >> 12) % 101) - 50;
    case DOM_SORTED:
    case DOM_RISING: {
        double x = -4;
        for (int64_t j = i - i % width; j <= i; j++) {
            uint64_t b = case_bits(seed, k, j);
            x += domain == DOM_SORTED && b % 4 == 0 ? 0 : case_between(b, 1, 8);
        }
        return x;
    }
    case DOM_SPD: {
        int64_t row = i / width % width, column = i % width, first = i - row * width - column;
        int64_t lo = row < column ? row : column, hi = row < column ? column : row;
        double x = case_between(case_bits(seed, k, first + lo * width + hi), -16, 16);
        return row == column ? x + (double)width + 1 : x;
    }
    default:
        return case_between(bits, -32, 32);
    }
}

/* -- a case */

enum { CASE_INPUTS = 8 };
struct case_input {
    struct type type;
    int domain; /* enum op_domain or enum case_domain */
    int64_t bound;
    double *at;
    int64_t n, width;
    uint32_t var;
    bool flat;   /* the row says that it has no gradient */
    bool turned; /* lies in memory backwards and with its axes reversed */
};
struct op_case {
    struct arena *a;
    struct diag_sink sink;
    struct graph *g;
    struct build b;
    struct case_input in[CASE_INPUTS], weight;
    val value[CASE_INPUTS];
    uint32_t n_in, tree;
    bool turned; /* inputs reach the row as views that turn them: set it after case_begin */
    bool has_loss;
    char name[300];
    /* after case_compile */
    struct plan *plan;
    const struct plan_variant *variant;
    uint32_t index;
    char *memory;
};

static inline dim case_dim(struct op_case *c, int64_t n)
{
    return dim_const(&c->g->dims, n);
}
static inline struct type case_type(struct op_case *c, enum dtype t, int rank, const int64_t *n)
{
    struct type out = {.dtype = t, .rank = rank};
    for (int i = 0; i < rank; i++) {
        out.dim[i] = case_dim(c, n[i]);
    }
    return out;
}
static inline int64_t case_count(const struct op_case *c, const struct type *t);
/* Elements of a flat block: leaves padded to 64. */
static inline int64_t case_tree_count(const struct op_case *c, uint32_t tree)
{
    const struct tree *t = &c->g->trees.at[tree];
    int64_t n = 0;
    for (uint32_t i = 0; i < t->n_leaf; i++) {
        n += (case_count(c, &c->g->vars.at[t->leaf[i]].type) + 63) / 64 * 64;
    }
    return n;
}
static inline int64_t case_count(const struct op_case *c, const struct type *t)
{
    int64_t n = 1, d;
    for (int i = 0; i < t->rank; i++) {
        uint32_t tree;
        if (dim_is_tree(&c->g->dims, t->dim[i], &tree)) {
            return case_tree_count(c, tree);
        }
        ck_assert(dim_is_const(&c->g->dims, t->dim[i], &d));
        n *= d;
    }
    return n;
}
static inline val case_read(struct op_case *c, uint32_t var)
{
    struct node_spec s = {
        .op = OP_read, .phase = c->b.phase, .attr = (int64_t[]){var}, .n_attr = 1, .span = c->b.span};
    return graph_add(c->g, &s, &c->sink);
}
static inline void case_arena(struct op_case *c)
{
    *c = (struct op_case){.a = arena_new()};
    diag_init(&c->sink, c->a, NULL);
}
static inline void case_end(struct op_case *c)
{
    free(c->memory);
    arena_free(c->a);
}
/* An empty graph with a phase. */
static inline void case_begin(struct op_case *c)
{
    case_arena(c);
    c->g = graph_new(c->a);
    c->b = (struct build){.g = c->g, .sink = &c->sink, .phase = 1};
    c->g->model = "case";
    vec_push(c->a, &c->g->phases, ((struct phase){.name = "init", .kind = PHASE_INIT}));
    vec_push(c->a, &c->g->phases, ((struct phase){.name = "p", .kind = PHASE_USER, .training = true}));
    vec_push(c->a, &c->g->trees, ((struct tree){.name = "p.loss"}));
    c->g->trees.at[0].leaf = arena_array(c->a, uint32_t, CASE_INPUTS);
}
/* Input k of the case lives in variable `var`. */
static inline struct case_input *case_bind(struct op_case *c, uint32_t var, int domain)
{
    ck_assert_uint_lt(c->n_in, CASE_INPUTS);
    struct case_input *in = &c->in[c->n_in++];
    int64_t width;
    in->type = c->g->vars.at[var].type;
    in->n = case_count(c, &in->type);
    in->width =
        in->type.rank && dim_is_const(&c->g->dims, in->type.dim[in->type.rank - 1], &width) ? width : 1;
    in->at = arena_array(c->a, double, (size_t)in->n + 1);
    in->var = var;
    in->domain = domain;
    return in;
}
static inline void case_fill_input(struct case_input *in, uint32_t k, uint64_t seed)
{
    for (int64_t i = 0; i < in->n; i++) {
        in->at[i] = in->domain == DOM_EDGES ? case_edge(!dtype_is_float(in->type.dtype), k, i)
                                            : case_draw(in->domain, seed, k, i, in->width, in->bound);
    }
}
/* Where element i of an input is in its variable. */
static inline int64_t case_place(const struct op_case *c, const struct case_input *in, int64_t i)
{
    int64_t at = 0, n;
    for (int a = in->type.rank - 1; in->turned && a >= 0; a--) {
        ck_assert(dim_is_const(&c->g->dims, in->type.dim[a], &n));
        at = at * n + i % n;
        i /= n;
    }
    return in->turned ? in->n - 1 - at : i;
}
/* The variable of a turned input as the row sees it; in->type becomes what it sees. */
static inline val case_turn(struct op_case *c, struct case_input *in, val v)
{
    int perm[LIMIT_RANK], rank = in->type.rank;
    int64_t step[LIMIT_RANK], n;
    dim start[LIMIT_RANK];
    struct type t = in->type;
    for (int a = 0; a < rank; a++) {
        perm[a] = rank - 1 - a;
        t.dim[a] = in->type.dim[rank - 1 - a];
        step[a] = -1;
        start[a] = case_dim(c, dim_is_const(&c->g->dims, t.dim[a], &n) && n > 0 ? n - 1 : 0);
    }
    in->type = t;
    in->turned = true;
    in->width = rank && dim_is_const(&c->g->dims, t.dim[rank - 1], &n) ? n : 1;
    return rank ? build_slice(&c->b, build_permute(&c->b, v, perm), start, step, t.dim) : v;
}
/* A float input is a parameter, others are state; drawn with seed 0. */
static inline val case_input(struct op_case *c, enum dtype t, int rank, const int64_t *n, int domain)
{
    struct tree *tree = &c->g->trees.at[0];
    struct var v = {.key = arena_printf(c->a, "in.%u", c->n_in), .kind = VAR_STATE};
    uint32_t var = c->g->vars.n, k = c->n_in;
    v.type = case_type(c, t, rank, n);
    for (int i = 0; c->turned && i < rank; i++) {
        v.type.dim[i] = case_dim(c, n[rank - 1 - i]);
    }
    if (dtype_is_float(t)) {
        v.kind = VAR_PARAM;
        v.tree = 1;
        v.leaf = tree->n_leaf;
        tree->leaf[tree->n_leaf++] = var;
    }
    vec_push(c->a, &c->g->vars, v);
    struct case_input *in = case_bind(c, var, t == DT_BOOL ? DOM_BOOLS : domain);
    c->value[k] = case_read(c, var);
    if (c->turned) {
        c->value[k] = case_turn(c, in, c->value[k]);
    }
    case_fill_input(in, k, 0);
    return c->value[k];
}
static inline void case_fail(struct op_case *c, const char *what)
{
    diag_render(&c->sink, DIAG_SHORT, false, stderr);
    ck_abort_msg("%s: %s", c->name, what);
}
enum { CASE_WEIGHT = 7 }; /* the place of w among the inputs, as far as numbers are concerned */
static inline void case_fill_weight(struct op_case *c, uint64_t seed)
{
    for (int64_t i = 0; i < c->weight.n; i++) {
        c->weight.at[i] = case_draw(DOM_NONZERO, seed, CASE_WEIGHT, i, 1, 0);
    }
}
/* The result, and with `loss` sum(w * r) and its gradient, as outputs 0, 1 and 2 of the phase. */
static inline void case_result(struct op_case *c, val r, bool loss)
{
    if (!r) {
        case_fail(c, "not built");
    }
    struct phase *p = &c->g->phases.at[c->b.phase];
    p->training = loss;
    p->outputs.n = 0;
    vec_push(c->a, &p->outputs, ((struct output){.name = "r", .value = r}));
    if (!(c->has_loss = loss)) {
        return;
    }
    struct type t = node_type(c->g, r);
    uint32_t tree, flat = t.rank == 1 && dim_is_tree(&c->g->dims, t.dim[0], &tree);
    c->weight.type = t;
    c->weight.n = case_count(c, &t);
    c->weight.at = arena_array(c->a, double, (size_t)c->weight.n + 1);
    c->weight.var = c->g->vars.n;
    vec_push(c->a, &c->g->vars, ((struct var){.kind = VAR_STATE, .key = "w", .type = t, .tree = flat}));
    case_fill_weight(c, 0);
    val product = build_2(&c->b, OP_mul, case_read(c, c->weight.var), r);
    val sum = build_reduce(&c->b, OP_sum, product, NULL, -1, false);
    struct node_spec s = {.op = OP_grad,
                          .phase = c->b.phase,
                          .in = &sum,
                          .n_in = 1,
                          .attr = (int64_t[]){c->tree},
                          .n_attr = 1,
                          .span = c->b.span};
    val grad = graph_add(c->g, &s, &c->sink);
    vec_push(c->a, &p->minimizes,
             ((struct minimize){.name = "loss", .loss = sum, .grad = grad, .tree = c->tree}));
    vec_push(c->a, &p->outputs, ((struct output){.name = "loss", .value = sum}));
    vec_push(c->a, &p->outputs, ((struct output){.name = "grad", .value = grad}));
}

/* -- running it */

static inline void case_store(struct op_case *c, uint32_t var, int64_t i, double x)
{
    number_put(c->memory + c->plan->var[var].offset, c->g->vars.at[var].type.dtype, i, x);
}
static inline void case_store_all(struct op_case *c)
{
    for (uint32_t k = 0; k < c->n_in; k++) {
        for (int64_t i = 0; i < c->in[k].n; i++) {
            case_store(c, c->in[k].var, case_place(c, &c->in[k], i), c->in[k].at[i]);
        }
    }
    for (int64_t i = 0; i < c->weight.n; i++) {
        case_store(c, c->weight.var, i, c->weight.at[i]);
    }
}
/* Passes, plan, memory with the present inputs. May be called again. */
static inline void case_compile(struct op_case *c, bool no_passes)
{
    struct compile_options o = {.verify_each = true, .no_passes = no_passes};
    struct graph *g;
    if (run_passes(c->g, &o, &c->sink, &g) != ST_OK) {
        case_fail(c, "the passes failed");
    }
    static const int64_t no_rows[LIMIT_PHASES][2];
    struct plan_options po = {.split_rows = no_rows, .target = {.name = "cpu"}};
    if (plan_build(g, &po, c->a, &c->sink, &c->plan) != ST_OK || plan_check(c->plan, &c->sink) != ST_OK) {
        case_fail(c, "no plan");
    }
    c->variant = plan_find(c->plan, c->b.phase, false);
    ck_assert_ptr_nonnull(c->variant);
    c->index = (uint32_t)(c->variant - c->plan->variant);
    free(c->memory);
    c->memory = aligned_alloc(256, (size_t)(c->plan->bytes + 255) / 256 * 256);
    memset(c->memory, 0, c->plan->bytes);
    plan_fill_constants(c->plan, c->memory);
    case_store_all(c);
}
static inline void case_run(struct op_case *c)
{
    ck_assert_int_eq(cpu_run_variant(c->memory, c->plan, c->index, 1), ST_OK);
}
/* Element i of output `k`. */
static inline double case_output(const struct op_case *c, int k, int64_t i)
{
    const struct operand *o = &c->variant->output[k];
    return number_at(c->memory + o->offset, (enum dtype)o->dtype, i);
}
static inline double case_loss(struct op_case *c)
{
    case_run(c);
    return case_output(c, 1, 0);
}
/* Where the gradient of input k starts in output 2. */
static inline int64_t case_gradient(const struct op_case *c, uint32_t k)
{
    return (int64_t)c->plan->leaf_start[c->tree][c->g->vars.at[c->in[k].var].leaf];
}

#endif
