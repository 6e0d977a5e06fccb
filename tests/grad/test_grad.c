/* Gradients against central differences in f64, for every differentiable row of the operator table.
 *
 * Elementwise rows and reductions are walked automatically, with inputs from the row's domain; structured
 * rows have samples below, and a row without a sample fails the test. Each case builds loss = sum(w *
 * op(inputs)), once with the optimizing passes and once without, and runs it through the planner and the CPU
 * backend. Tolerance: 1e-7 + 1e-6 |g|.
 */
#include <math.h>
#include <stdlib.h>
#include "compiler/passes.h"
#include "compiler/vjp.h"
#include "runtime/exec/exec.h"
#include "tests/suite.h"

enum { MAX_IN = 4, MAX_ELEMENTS = 512 };

/* -- numbers */

static uint64_t random_state;
static double uniform(double lo, double hi)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(random_state >> 11) * 0x1p-53;
}
static double away_from_zero(double least)
{
    double x = uniform(least, 2);
    return uniform(0, 1) < 0.5 ? -x : x;
}
/* Element i of input k. APART: no two numbers of any two inputs are nearer than 0.3. */
static double draw(enum op_domain d, int64_t i, int k)
{
    switch (d) {
    case DOM_POSITIVE:
        return uniform(0.3, 3);
    case DOM_NONZERO:
    case DOM_KINK0:
        return away_from_zero(0.3);
    case DOM_UNIT:
        return uniform(-0.95, 0.95);
    case DOM_SMALL:
        return uniform(-3, 3);
    case DOM_APART:
        return 0.7 * (double)((i * 5 + 3 * k) % 11) + 0.3 * k + 0.01 * (double)i;
    case DOM_INTLIKE:
        return floor(uniform(-3, 4));
    case DOM_BOOLS:
        return uniform(0, 1) < 0.5;
    default:
        return uniform(-2, 2);
    }
}

/* -- one case: a graph with a phase whose loss is differentiated */

struct input {
    struct type type;
    double at[MAX_ELEMENTS];
    int64_t n;
    uint32_t var;
};
struct grad_case {
    struct arena *a;
    struct diag_sink sink;
    struct graph *g;
    struct build b;
    struct input in[MAX_IN], weight;
    val value[MAX_IN];
    uint32_t n_in;
    bool flat[MAX_IN]; /* inputs for which the row says that they have no gradient */
    char name[200];
};

static dim size(struct grad_case *c, int64_t n)
{
    return dim_const(&c->g->dims, n);
}
static struct type type_of(struct grad_case *c, enum dtype t, int rank, const int64_t *n)
{
    struct type out = {.dtype = t, .rank = rank};
    for (int i = 0; i < rank; i++) {
        out.dim[i] = size(c, n[i]);
    }
    return out;
}
static int64_t count(const struct grad_case *c, const struct type *t)
{
    int64_t n = 1, d;
    for (int i = 0; i < t->rank; i++) {
        uint32_t tree;
        if (dim_is_tree(&c->g->dims, t->dim[i], &tree)) {
            return 64 * c->g->trees.at[tree].n_leaf; /* leaves of a sample fit one block of 64 */
        }
        ck_assert(dim_is_const(&c->g->dims, t->dim[i], &d));
        n *= d;
    }
    return n;
}
static val read_var(struct grad_case *c, uint32_t var)
{
    struct node_spec s = {.op = OP_read, .phase = 1, .attr = (int64_t[]){var}, .n_attr = 1};
    return graph_add(c->g, &s, &c->sink);
}
static void begin(struct grad_case *c)
{
    memset(c, 0, sizeof *c);
    random_state = 7;
    c->a = arena_new();
    c->g = graph_new(c->a);
    diag_init(&c->sink, c->a, &c->g->sources);
    c->b = (struct build){.g = c->g, .sink = &c->sink, .phase = 1};
    c->g->model = "grad";
    vec_push(c->a, &c->g->phases, ((struct phase){.name = "init", .kind = PHASE_INIT}));
    vec_push(c->a, &c->g->phases, ((struct phase){.name = "check", .kind = PHASE_USER, .training = true}));
    vec_push(c->a, &c->g->trees, ((struct tree){.name = "check.loss"}));
    c->g->trees.at[0].leaf = arena_array(c->a, uint32_t, MAX_IN);
}
/* A float input is a parameter, others are state. */
static val add_input(struct grad_case *c, enum dtype t, int rank, const int64_t *n, enum op_domain d)
{
    uint32_t k = c->n_in++;
    struct input *in = &c->in[k];
    struct tree *tree = &c->g->trees.at[0];
    struct var v = {.key = arena_printf(c->a, "in.%u", k), .kind = VAR_STATE};
    in->type = v.type = type_of(c, t, rank, n);
    in->n = count(c, &in->type);
    in->var = c->g->vars.n;
    if (dtype_is_float(t)) {
        v.kind = VAR_PARAM;
        v.tree = 1;
        v.leaf = tree->n_leaf;
        tree->leaf[tree->n_leaf++] = in->var;
    }
    vec_push(c->a, &c->g->vars, v);
    for (int64_t i = 0; i < in->n; i++) {
        in->at[i] = t == DT_BOOL ? draw(DOM_BOOLS, i, (int)k) : draw(d, i, (int)k);
    }
    return c->value[k] = read_var(c, in->var);
}
/* loss = sum(w * r), its gradient and both as outputs. */
static void add_loss(struct grad_case *c, val r)
{
    ck_assert_msg(r != 0, "%s: not built", c->name);
    struct type t = node_type(c->g, r);
    uint32_t tree, flat = t.rank == 1 && dim_is_tree(&c->g->dims, t.dim[0], &tree);
    c->weight.type = t;
    c->weight.n = count(c, &t);
    c->weight.var = c->g->vars.n;
    vec_push(c->a, &c->g->vars, ((struct var){.kind = VAR_STATE, .key = "w", .type = t, .tree = flat}));
    for (int64_t i = 0; i < c->weight.n; i++) {
        c->weight.at[i] = uniform(0.5, 2) * (i % 3 == 1 ? -1 : 1);
    }
    val product = build_2(&c->b, OP_mul, read_var(c, c->weight.var), r);
    val loss = build_reduce(&c->b, OP_sum, product, NULL, -1, false);
    struct node_spec s = {
        .op = OP_grad, .phase = 1, .in = &loss, .n_in = 1, .attr = (int64_t[]){0}, .n_attr = 1};
    val grad = graph_add(c->g, &s, &c->sink);
    struct phase *p = &c->g->phases.at[1];
    vec_push(c->a, &p->minimizes, ((struct minimize){.name = "loss", .loss = loss, .grad = grad}));
    vec_push(c->a, &p->outputs, ((struct output){.name = "loss", .value = loss}));
    vec_push(c->a, &p->outputs, ((struct output){.name = "grad", .value = grad}));
}

/* -- running it */

struct runner {
    struct plan *plan;
    const struct plan_variant *variant;
    uint32_t index;
    char *memory;
};
static void store(const struct runner *r, uint64_t offset, enum dtype t, int64_t i, double x)
{
    char *at = r->memory + offset;
    if (t == DT_F64) {
        ((double *)at)[i] = x;
    } else if (t == DT_I32) {
        ((int32_t *)at)[i] = (int32_t)x;
    } else {
        ((uint8_t *)at)[i] = x != 0;
    }
}
static void store_input(const struct runner *r, const struct input *in)
{
    for (int64_t i = 0; i < in->n; i++) {
        store(r, r->plan->var[in->var].offset, in->type.dtype, i, in->at[i]);
    }
}
static double run(const struct runner *r)
{
    ck_assert_int_eq(cpu_run_variant(r->memory, r->plan, r->index, 1), ST_OK);
    double loss;
    memcpy(&loss, r->memory + r->variant->output[0].offset, sizeof loss);
    return loss;
}
static void fail_with_diagnostics(struct grad_case *c, const char *what)
{
    diag_render(&c->sink, DIAG_SHORT, false, stderr);
    ck_abort_msg("%s: %s", c->name, what);
}
static void compile_case(struct grad_case *c, bool no_passes, struct runner *r)
{
    struct compile_options o = {.verify_each = true, .no_passes = no_passes};
    struct graph *g;
    if (run_passes(c->g, &o, &c->sink, &g) != ST_OK) {
        fail_with_diagnostics(c, "the passes failed");
    }
    int64_t(*no_rows)[2] = arena_alloc(c->a, 2 * sizeof *no_rows);
    struct plan_options po = {.split_rows = (const int64_t(*)[2])no_rows, .target = {.name = "cpu"}};
    if (plan_build(g, &po, c->a, &c->sink, &r->plan) != ST_OK) {
        fail_with_diagnostics(c, "no plan");
    }
    if (plan_check(r->plan, &c->sink) != ST_OK) {
        fail_with_diagnostics(c, "the plan is not sound");
    }
    r->variant = plan_find(r->plan, 1, false);
    ck_assert_ptr_nonnull(r->variant);
    r->index = (uint32_t)(r->variant - r->plan->variant);
    r->memory = aligned_alloc(256, (size_t)(r->plan->bytes + 255) / 256 * 256);
    memset(r->memory, 0, r->plan->bytes);
    for (uint32_t i = 0; i < r->plan->n_constant; i++) {
        enum dtype t = (enum dtype)r->plan->constant[i].dtype;
        if (t == DT_F32) {
            float f = (float)r->plan->constant[i].value;
            memcpy(r->memory + r->plan->constant[i].offset, &f, sizeof f);
        } else {
            store(r, r->plan->constant[i].offset, t, 0, r->plan->constant[i].value);
        }
    }
    for (uint32_t k = 0; k < c->n_in; k++) {
        store_input(r, &c->in[k]);
    }
    store_input(r, &c->weight);
}
static void check_element(struct grad_case *c, const struct runner *r, uint32_t k, int64_t i, double found)
{
    struct input *in = &c->in[k];
    double x = in->at[i], h = 1e-5, f[2];
    for (int side = 0; side < 2; side++) {
        store(r, r->plan->var[in->var].offset, DT_F64, i, x + (side ? h : -h));
        f[side] = run(r);
    }
    store(r, r->plan->var[in->var].offset, DT_F64, i, x);
    double want = (f[1] - f[0]) / (2 * h);
    if (!(fabs(found - want) <= 1e-7 + 1e-6 * fabs(want))) {
        ck_abort_msg("%s: input %u, element %ld = %.6g: gradient %.12g, difference quotient %.12g", c->name,
                     k, (long)i, x, found, want);
    }
}
static void check_case(struct grad_case *c, bool no_passes)
{
    static double grad[MAX_IN * MAX_ELEMENTS];
    struct runner r;
    compile_case(c, no_passes, &r);
    ck_assert(isfinite(run(&r)));
    ck_assert_uint_le(r.plan->tree_elements[0], MAX_IN * MAX_ELEMENTS);
    memcpy(grad, r.memory + r.variant->output[1].offset, (size_t)r.plan->tree_elements[0] * sizeof *grad);
    for (uint32_t k = 0, leaf = 0; k < c->n_in; k++) {
        if (!dtype_is_float(c->in[k].type.dtype)) {
            continue;
        }
        for (int64_t i = 0; i < c->in[k].n && !c->flat[k]; i++) {
            check_element(c, &r, k, i, grad[r.plan->leaf_start[0][leaf] + (uint64_t)i]);
        }
        leaf++;
    }
    free(r.memory);
}
static void finish(struct grad_case *c, val r)
{
    if (!r) {
        fail_with_diagnostics(c, "not built");
    }
    add_loss(c, r);
    check_case(c, true);
    check_case(c, false);
    arena_free(c->a);
}

/* -- elementwise rows */

struct shape {
    int rank;
    int64_t n[4];
};
static const struct shape elem_shapes[][3] = {
    {{0, {0}}, {0, {0}}, {0, {0}}},       {{1, {1}}, {1, {1}}, {1, {1}}},
    {{1, {7}}, {1, {7}}, {1, {7}}},       {{2, {3, 5}}, {1, {5}}, {2, {3, 1}}},
    {{2, {2, 1}}, {2, {1, 3}}, {0, {0}}}, {{0, {0}}, {3, {2, 1, 3}}, {2, {2, 1}}},
};
static val elem_node(struct grad_case *c, enum op op)
{
    if (op != OP_cast) {
        return build_op(&c->b, op, c->value, c->n_in);
    }
    struct node_spec s = {
        .op = op, .phase = 1, .in = c->value, .n_in = 1, .attr = (int64_t[]){DT_F64}, .n_attr = 1};
    return graph_add(c->g, &s, &c->sink);
}
static bool differentiable(enum op op)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (vjp_exists(op, i)) {
            return true;
        }
    }
    return false;
}
/* Rows that some case of this test differentiates. */
static bool covered[OP_COUNT];
static void start(struct grad_case *c, enum op op, const char *what)
{
    begin(c);
    covered[op] = true;
    snprintf(c->name, sizeof c->name, "%s, %s", op_table[op].name, what);
}

START_TEST(test_elem)
{
    uint32_t cases = 0;
    for (int op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = &op_table[op];
        if (info->kind != OPK_ELEM || !differentiable((enum op)op)) {
            continue;
        }
        for (uint32_t s = 0; s < sizeof elem_shapes / sizeof *elem_shapes; s++, cases++) {
            struct grad_case c;
            start(&c, (enum op)op, "elementwise");
            for (int k = 0; k < info->n_min; k++) {
                const struct shape *n = &elem_shapes[s][k];
                bool condition = info->sig == SIG_CHOOSE && k == 0;
                add_input(&c, condition ? DT_BOOL : DT_F64, n->rank, n->n, info->domain);
                c.flat[k] = !vjp_exists((enum op)op, (uint32_t)k);
            }
            finish(&c, elem_node(&c, (enum op)op));
        }
    }
    ck_assert_uint_gt(cases, 100);
}
END_TEST

/* -- samples of structured rows */

#define IN(c, rank, domain, ...) add_input((c), DT_F64, (rank), (int64_t[]){__VA_ARGS__}, (domain))

START_TEST(test_reductions)
{
    static const int axes[][3] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {0, 1, 2}};
    static const int n_axes[] = {1, 1, 1, 2, 2, 3};
    for (int op = 1; op < OP_COUNT; op++) {
        if (op_table[op].kind != OPK_REDUCE || !differentiable((enum op)op)) {
            continue;
        }
        for (uint32_t i = 0; i < sizeof n_axes / sizeof *n_axes; i++) {
            for (int keep = 0; keep < 2; keep++) {
                struct grad_case c;
                start(&c, (enum op)op, "axes");
                val x = IN(&c, 3, DOM_APART, 3, 1, 5);
                finish(&c, build_reduce(&c.b, (enum op)op, x, axes[i], n_axes[i], keep));
            }
        }
    }
}
END_TEST

static void sample_views(void)
{
    struct grad_case c;
    start(&c, OP_reshape, "[3, 4] to [2, 6]");
    finish(&c, build_reshape(&c.b, IN(&c, 2, DOM_ANY, 3, 4), 2, (dim[]){size(&c, 2), size(&c, 6)}));
    start(&c, OP_permute, "(2, 0, 1)");
    finish(&c, build_permute(&c.b, IN(&c, 3, DOM_ANY, 2, 3, 5), (int[]){2, 0, 1}));
    start(&c, OP_slice, "steps 2 and -1");
    val x = IN(&c, 2, DOM_ANY, 7, 5);
    finish(&c, build_slice(&c.b, x, (dim[]){size(&c, 1), size(&c, 3)}, (int64_t[]){2, -1},
                           (dim[]){size(&c, 3), size(&c, 3)}));
    start(&c, OP_expand, "[3, 1] to [2, 3, 4]");
    x = IN(&c, 2, DOM_ANY, 3, 1);
    finish(&c, build_expand(&c.b, x, 3, (dim[]){size(&c, 2), size(&c, 3), size(&c, 4)}));
}
static void sample_rows_of_classes(void)
{
    struct grad_case c;
    start(&c, OP_softmax, "[3, 7]");
    finish(&c, build_1(&c.b, OP_softmax, IN(&c, 2, DOM_SMALL, 3, 7)));
    start(&c, OP_softmax, "[5, 1]");
    finish(&c, build_1(&c.b, OP_softmax, IN(&c, 2, DOM_SMALL, 5, 1)));
    start(&c, OP_logsumexp, "[3, 7]");
    finish(&c, build_1(&c.b, OP_logsumexp, IN(&c, 2, DOM_SMALL, 3, 7)));
    start(&c, OP_xent, "[2, 3, 5] with a label -1");
    val z = IN(&c, 3, DOM_SMALL, 2, 3, 5), y = add_input(&c, DT_I32, 2, (int64_t[]){2, 3}, DOM_ANY);
    memcpy(c.in[1].at, (double[]){0, 4, -1, 2, 2, 3}, 6 * sizeof(double));
    finish(&c, build_2(&c.b, OP_xent, z, y));
}
static void sample_matmul(void)
{
    struct grad_case c;
    start(&c, OP_matmul, "[3, 5] @ [5, 2]");
    val x = IN(&c, 2, DOM_ANY, 3, 5);
    finish(&c, build_matmul(&c.b, x, IN(&c, 2, DOM_ANY, 5, 2)));
    start(&c, OP_matmul, "[2, 3, 5] @ [5, 1]");
    x = IN(&c, 3, DOM_ANY, 2, 3, 5);
    finish(&c, build_matmul(&c.b, x, IN(&c, 2, DOM_ANY, 5, 1)));
    start(&c, OP_matmul, "[2, 3, 4] @ [2, 4, 5]");
    x = IN(&c, 3, DOM_ANY, 2, 3, 4);
    finish(&c, build_matmul(&c.b, x, IN(&c, 3, DOM_ANY, 2, 4, 5)));
    start(&c, OP_matmul, "[3, 4] @ [2, 4, 5]");
    x = IN(&c, 2, DOM_ANY, 3, 4);
    finish(&c, build_matmul(&c.b, x, IN(&c, 3, DOM_ANY, 2, 4, 5)));
}
static void sample_indexed(void)
{
    static const double index[] = {2, 0, -1, 2, 3, 1};
    struct grad_case c;
    start(&c, OP_gather, "[5, 3] at [2, 3]");
    val x = IN(&c, 2, DOM_ANY, 5, 3), i = add_input(&c, DT_I32, 2, (int64_t[]){2, 3}, DOM_ANY);
    memcpy(c.in[1].at, index, sizeof index);
    finish(&c, build_2(&c.b, OP_gather, x, i));
    start(&c, OP_put_add, "[5, 3] at [2, 3]");
    x = IN(&c, 2, DOM_ANY, 5, 3);
    i = add_input(&c, DT_I32, 2, (int64_t[]){2, 3}, DOM_ANY);
    memcpy(c.in[1].at, index, sizeof index);
    finish(&c, build_3(&c.b, OP_put_add, x, i, IN(&c, 3, DOM_ANY, 2, 3, 3)));
    start(&c, OP_pad, "[2, 3] into [5, 7]");
    struct type t = type_of(&c, DT_F64, 2, (int64_t[]){5, 7});
    x = IN(&c, 2, DOM_ANY, 2, 3);
    finish(&c, build_pad(&c.b, x, (dim[]){size(&c, 1), size(&c, 6)}, (int64_t[]){3, -2}, &t));
    start(&c, OP_copy, "[7]");
    finish(&c, build_1(&c.b, OP_copy, IN(&c, 1, DOM_ANY, 7)));
}
static val along(struct grad_case *c, enum op op, const val *in, uint32_t n, int axis, bool reverse)
{
    return build_attrs(&c->b, op, in, n, (int64_t[]){axis, reverse}, 2);
}
static void sample_scans(void)
{
    static const enum op ops[] = {OP_cumsum, OP_cumprod, OP_cummax};
    struct grad_case c;
    for (int i = 0; i < 3 * 2 * 2; i++) {
        start(&c, ops[i % 3], "[4, 5] with a zero");
        val x = IN(&c, 2, DOM_APART, 4, 5);
        finish(&c, along(&c, ops[i % 3], &x, 1, i / 3 % 2, i / 6));
        start(&c, OP_linear_scan, "[4, 5]");
        val in[] = {IN(&c, 2, DOM_ANY, 4, 5), IN(&c, 2, DOM_ANY, 4, 5)};
        finish(&c, along(&c, OP_linear_scan, in, 2, i / 3 % 2, i / 6));
    }
    start(&c, OP_cumprod, "[1, 3]");
    val x = IN(&c, 2, DOM_ANY, 1, 3);
    finish(&c, along(&c, OP_cumprod, &x, 1, 0, false));
}
static void sample_moves(void)
{
    static const double index[] = {2, 0, -1, 2, 3, 1}, places[] = {1, 3, 3, -1, 0, 2};
    struct grad_case c;
    start(&c, OP_concat, "[2, 3, 2], [2, 1, 2], [2, 2, 2]");
    val part[] = {IN(&c, 3, DOM_ANY, 2, 3, 2), IN(&c, 3, DOM_ANY, 2, 1, 2), IN(&c, 3, DOM_ANY, 2, 2, 2)};
    finish(&c, build_concat(&c.b, part, 3, 1));
    start(&c, OP_solve_spd, "[2, 3, 3] of x x^T + 1, [2, 3, 2]");
    val y = IN(&c, 3, DOM_ANY, 2, 3, 3), right = IN(&c, 3, DOM_ANY, 2, 3, 2),
        n = build_iota(&c.b, size(&c, 3));
    val column = build_reshape(&c.b, n, 2, (dim[]){size(&c, 3), size(&c, 1)});
    val square = build_matmul(&c.b, y, build_permute(&c.b, y, (int[]){0, 2, 1}));
    val unit = build_cast(&c.b, build_2(&c.b, OP_eq, n, column), DT_F64);
    finish(&c, build_2(&c.b, OP_solve_spd, build_2(&c.b, OP_add, square, unit), right));
    start(&c, OP_take, "[3, 4] at [3, 2]");
    val x = IN(&c, 2, DOM_ANY, 3, 4), i = add_input(&c, DT_I32, 2, (int64_t[]){3, 2}, DOM_ANY);
    memcpy(c.in[1].at, places, sizeof places);
    finish(&c, build_2(&c.b, OP_take, x, i));
    start(&c, OP_spread, "[3, 2] to [3, 4]");
    x = IN(&c, 2, DOM_ANY, 3, 2);
    i = add_input(&c, DT_I32, 2, (int64_t[]){3, 2}, DOM_ANY);
    memcpy(c.in[1].at, places, sizeof places);
    finish(&c, build_spread(&c.b, x, i, size(&c, 4)));
    for (int k = 0; k < 2; k++) {
        enum op op = k ? OP_put_max : OP_put;
        start(&c, op, "[5, 3] at [2, 3]");
        x = IN(&c, 2, DOM_ANY, 5, 3);
        i = add_input(&c, DT_I32, 2, (int64_t[]){2, 3}, DOM_ANY);
        memcpy(c.in[1].at, index, sizeof index);
        finish(&c, build_3(&c.b, op, x, i, IN(&c, 3, DOM_ANY, 2, 3, 3)));
    }
}
/* leaf(exp(tree)) and pack(leaves): the flat value is used as a whole and leaf by leaf. */
static void sample_trees(void)
{
    struct grad_case c;
    start(&c, OP_leaf, "of arithmetic on a tree");
    IN(&c, 2, DOM_SMALL, 2, 3);
    IN(&c, 1, DOM_SMALL, 7);
    struct node_spec s = {.op = OP_tree, .phase = 1, .attr = (int64_t[]){0}, .n_attr = 1};
    val flat = graph_add(c.g, &s, &c.sink), twice = build_1(&c.b, OP_exp, flat);
    val leaf = build_leaf(&c.b, twice, 0, 1), direct = build_leaf(&c.b, flat, 0, 1);
    finish(&c, build_2(&c.b, OP_mul, build_2(&c.b, OP_add, leaf, c.value[1]), direct));
    start(&c, OP_pack, "of functions of leaves");
    val x = IN(&c, 2, DOM_SMALL, 2, 3), y = IN(&c, 1, DOM_SMALL, 7);
    finish(&c, build_pack(&c.b, 0, (val[]){build_1(&c.b, OP_sin, x), build_2(&c.b, OP_mul, y, y)}));
}
START_TEST(test_structured)
{
    sample_views();
    sample_rows_of_classes();
    sample_matmul();
    sample_indexed();
    sample_scans();
    sample_moves();
    sample_trees();
}
END_TEST

/* Rules together: a weight used twice, normalised rows, a penalty on the flat tree. */
START_TEST(test_composite)
{
    struct grad_case c;
    begin(&c);
    snprintf(c.name, sizeof c.name, "composite");
    val w = IN(&c, 2, DOM_SMALL, 5, 5), v = IN(&c, 1, DOM_SMALL, 5), x = IN(&c, 2, DOM_ANY, 3, 5);
    val h = build_1(&c.b, OP_tanh, build_2(&c.b, OP_add, build_matmul(&c.b, x, w), v));
    val d = build_2(&c.b, OP_sub, h, build_reduce(&c.b, OP_mean, h, (int[]){1}, 1, true));
    val s = build_reduce(&c.b, OP_mean, build_2(&c.b, OP_mul, d, d), (int[]){1}, 1, true);
    val scale = build_1(&c.b, OP_rsqrt, build_2(&c.b, OP_add, s, build_const(&c.b, DT_F64, 1e-3)));
    val y = build_1(&c.b, OP_softmax, build_matmul(&c.b, build_2(&c.b, OP_mul, d, scale), w));
    struct node_spec tree = {.op = OP_tree, .phase = 1, .attr = (int64_t[]){0}, .n_attr = 1};
    val flat = graph_add(c.g, &tree, &c.sink);
    val penalty = build_reduce(&c.b, OP_sum, build_2(&c.b, OP_mul, flat, flat), NULL, -1, false);
    finish(&c, build_2(&c.b, OP_add, y, build_2(&c.b, OP_mul, penalty, build_const(&c.b, DT_F64, 0.01))));
}
END_TEST

/* -- facts that difference quotients cannot show */

/* Gradient of the only input, by value. */
static void expect_gradient(struct grad_case *c, val r, const double *want)
{
    struct runner run_it;
    add_loss(c, r);
    for (int64_t i = 0; i < c->weight.n; i++) {
        c->weight.at[i] = 1;
    }
    compile_case(c, false, &run_it);
    run(&run_it);
    const double *got = (const double *)(run_it.memory + run_it.variant->output[1].offset);
    for (int64_t i = 0; i < c->in[0].n; i++) {
        ck_assert_msg(fabs(got[i] - want[i]) < 1e-12, "%s: gradient %ld is %g, not %g", c->name, (long)i,
                      got[i], want[i]);
    }
    free(run_it.memory);
    arena_free(c->a);
}
START_TEST(test_ties)
{
    struct grad_case c;
    begin(&c);
    val x = IN(&c, 1, DOM_ANY, 4);
    memcpy(c.in[0].at, (double[]){2, 1, 2, 2}, 4 * sizeof(double));
    expect_gradient(&c, build_reduce(&c.b, OP_amax, x, NULL, -1, false),
                    (double[]){1. / 3, 0, 1. / 3, 1. / 3});
    begin(&c);
    x = IN(&c, 1, DOM_ANY, 3);
    memcpy(c.in[0].at, (double[]){0, 1, -1}, 3 * sizeof(double));
    expect_gradient(&c, build_2(&c.b, OP_max, x, build_const(&c.b, DT_F64, 0)), (double[]){0.5, 1, 0});
    begin(&c);
    x = IN(&c, 1, DOM_ANY, 3);
    memcpy(c.in[0].at, (double[]){0, 1, -1}, 3 * sizeof(double));
    expect_gradient(&c, build_1(&c.b, OP_abs, x), (double[]){0, 1, -1});
}
END_TEST
/* A product with no zero, one and two. */
START_TEST(test_product_of_zeros)
{
    static const double x[][3] = {{2, 3, 4}, {2, 0, 4}, {0, 3, 0}},
                        want[][3] = {{12, 8, 6}, {0, 8, 0}, {0, 0, 0}};
    struct grad_case c;
    for (int i = 0; i < 3; i++) {
        begin(&c);
        val v = IN(&c, 1, DOM_ANY, 3);
        memcpy(c.in[0].at, x[i], sizeof x[i]);
        expect_gradient(&c, build_reduce(&c.b, OP_prod, v, NULL, -1, false), want[i]);
    }
}
END_TEST
/* A row of -inf only has no sum and no gradient, instead of NaN. */
START_TEST(test_row_of_nothing)
{
    struct grad_case c;
    begin(&c);
    val x = IN(&c, 2, DOM_ANY, 2, 2);
    memcpy(c.in[0].at, (double[]){-(double)INFINITY, -(double)INFINITY, 1, 1}, 4 * sizeof(double));
    expect_gradient(&c, build_1(&c.b, OP_logsumexp, x), (double[]){0, 0, 0.5, 0.5});
}
END_TEST
/* x^y at 0: no 0 * inf, neither for the base nor for the exponent. */
START_TEST(test_pow_of_zero)
{
    static const double exponent[] = {0, 1, 2}, want[] = {0, 1, 0};
    struct grad_case c;
    for (int i = 0; i < 3; i++) {
        begin(&c);
        val x = IN(&c, 1, DOM_ANY, 1);
        c.in[0].at[0] = 0;
        expect_gradient(&c, build_2(&c.b, OP_pow, x, build_const(&c.b, DT_F64, exponent[i])), &want[i]);
    }
    begin(&c);
    val y = IN(&c, 1, DOM_ANY, 1);
    c.in[0].at[0] = 2;
    expect_gradient(&c, build_2(&c.b, OP_pow, build_const(&c.b, DT_F64, 0), y), (double[]){0});
}
END_TEST
START_TEST(test_cut)
{
    struct grad_case c;
    begin(&c);
    val x = IN(&c, 1, DOM_ANY, 2);
    memcpy(c.in[0].at, (double[]){3, 4}, 2 * sizeof(double));
    val stopped = build_1(&c.b, OP_stop_grad, x);
    expect_gradient(&c, build_2(&c.b, OP_mul, stopped, x), (double[]){3, 4});
    begin(&c);
    x = IN(&c, 1, DOM_ANY, 2);
    val count_of_positive = build_cast(&c.b, build_2(&c.b, OP_gt, x, build_const(&c.b, DT_F64, 0)), DT_F64);
    add_loss(&c, count_of_positive);
    struct graph *g;
    ck_assert(pass_autodiff(c.g, &c.sink, &g));
    ck_assert_uint_eq(c.sink.list.n, 1);
    ck_assert_int_eq(c.sink.list.at[0].code, DIAG_W0201);
    arena_free(c.a);
}
END_TEST

/* Every row has a gradient rule or says that it has none, and every rule has been tested above. */
START_TEST(test_complete)
{
    for (int op = 1; op < OP_COUNT; op++) {
        const struct op_info *info = &op_table[op];
        bool rule = differentiable((enum op)op);
        if (info->kind == OPK_OP) {
            ck_assert_msg(rule == !(info->flags & OPF_NONDIFF), "%s: neither a rule nor NONDIFF", info->name);
        }
        ck_assert_msg(!rule || covered[op], "%s: no sample in this test", info->name);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("grad");
    tcase_add_test(t, test_elem);
    tcase_add_test(t, test_reductions);
    tcase_add_test(t, test_structured);
    tcase_add_test(t, test_composite);
    tcase_add_test(t, test_ties);
    tcase_add_test(t, test_product_of_zeros);
    tcase_add_test(t, test_row_of_nothing);
    tcase_add_test(t, test_pow_of_zero);
    tcase_add_test(t, test_cut);
    tcase_add_test(t, test_complete);
    int failed = suite_run("grad", t, CK_NOFORK);
    printf("differentiated:");
    for (int op = 1; op < OP_COUNT; op++) {
        if (covered[op]) {
            printf(" %s", op_table[op].name);
        }
    }
    printf("\n");
    return failed;
}
