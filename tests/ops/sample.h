/* The cases of tests/golden/ops.json (tools/make_golden_ops.py) as cases of case.h: rows of ops.def, built as
 * one node, and functions of the language, compiled from text. Their counts are those of op_counts.tsv. */
#ifndef GML_TESTS_OPS_SAMPLE_H
#define GML_TESTS_OPS_SAMPLE_H
#include <jansson.h>
#include <stdio.h>
#include "compiler/compiler.h"
#include "tests/ops/case.h"

static const char sample_names[] = "abcdefgh"; /* of inputs, in texts */

/* For main(): outside of a test, Check has no asserts. */
static inline json_t *sample_load(void)
{
    json_error_t why;
    json_t *j = json_load_file(GML_SOURCE "/tests/golden/ops.json", 0, &why);
    if (!j) {
        fprintf(stderr, "ops.json:%d: %s\n", why.line, why.text);
        exit(1);
    }
    return j;
}
static inline const char *sample_text(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}
static inline int64_t sample_whole(json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}
/* The element type that a golden file calls f64 is f32 until the precision of the graph is set. */
static inline enum dtype sample_dtype(json_t *list)
{
    enum dtype t = dtype_parse(json_string_value(json_array_get(list, 0)));
    return t == DT_F64 ? DT_F32 : t;
}
static inline int sample_shape(json_t *list, int64_t *n)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        n[i] = sample_whole(list, i);
    }
    return (int)json_array_size(list);
}
/* "f64" a dtype (see sample_dtype), "inf" a float, 0.5 a float, 7 itself. */
static inline int64_t sample_attr(json_t *j)
{
    if (json_is_string(j)) {
        enum dtype t = dtype_parse(json_string_value(j));
        return t != DT_NONE ? (int64_t)(t == DT_F64 ? DT_F32 : t)
                            : f64_bits(strtod(json_string_value(j), NULL));
    }
    return json_is_real(j) ? f64_bits(json_real_value(j)) : json_integer_value(j);
}
/* Whether input k has a gradient in the golden file. */
static inline bool sample_has_gradient(json_t *sample, uint32_t k)
{
    json_t *list = json_object_get(sample, "grad");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (sample_whole(list, i) == k) {
            return true;
        }
    }
    return false;
}

/* -- rows */

static inline val sample_node(struct op_case *c, enum op op, json_t *sample)
{
    json_t *attr = json_object_get(sample, "attr"), *dims = json_object_get(sample, "dims"),
           *out = json_object_get(sample, "out");
    int64_t a[LIMIT_RANK], shape[LIMIT_RANK];
    dim d[LIMIT_RANK];
    val in[CASE_INPUTS];
    uint32_t n_in = op == OP_tree || op == OP_ranges ? 0 : op == OP_leaf ? 1 : c->n_in;
    memcpy(in, c->value, sizeof in);
    if (op == OP_leaf) {
        in[0] = graph_add(c->g,
                          &(struct node_spec){.op = OP_tree, .phase = 1, .attr = (int64_t[]){0}, .n_attr = 1},
                          &c->sink);
    }
    if (op_table[op].flags & OPF_LOAD) {
        c->g->phases.at[1].kind = PHASE_DATA;
    }
    if (op_table[op].kind == OPK_ELEM && !json_array_size(attr)) {
        return build_op(&c->b, op, in, n_in); /* with broadcasting */
    }
    struct node_spec s = {.op = op,
                          .phase = 1,
                          .in = in,
                          .n_in = n_in,
                          .attr = a,
                          .n_attr = (uint32_t)json_array_size(attr),
                          .dims = d,
                          .n_dim = (uint32_t)json_array_size(dims)};
    for (uint32_t i = 0; i < s.n_attr; i++) {
        a[i] = sample_attr(json_array_get(attr, i));
    }
    for (uint32_t i = 0; i < s.n_dim; i++) {
        d[i] = case_dim(c, sample_whole(dims, i));
    }
    if (out) {
        int rank = sample_shape(json_array_get(out, 1), shape);
        s.type = case_type(c, sample_dtype(out), rank, shape);
    } else if (op == OP_ranges) {
        s.type = build_tree_type(&c->b, 0, DT_F32);
    }
    return graph_add(c->g, &s, &c->sink);
}
static inline val sample_row(struct op_case *c, enum op op, json_t *sample, bool turned)
{
    json_t *in;
    size_t k;
    case_begin(c);
    c->turned = turned;
    json_array_foreach(json_object_get(sample, "in"), k, in)
    {
        int64_t shape[LIMIT_RANK];
        int rank = sample_shape(json_array_get(in, 2), shape);
        case_input(c, sample_dtype(in), rank, shape, DOM_ANY);
    }
    return sample_node(c, op, sample);
}

/* -- functions: a phase that calls them on parameters and states */

static inline void sample_write(struct text *t, json_t *sample)
{
    json_t *inputs = json_object_get(sample, "in"), *in, *n;
    size_t k, i;
    text_printf(t, "gml 1\n");
    if (json_array_size(inputs)) {
        text_printf(t, "layer Inputs() {\n");
        json_array_foreach(inputs, k, in)
        {
            enum dtype d = sample_dtype(in);
            text_printf(t, "    %s %c: %s", d == DT_F32 ? "param" : "state", sample_names[k], dtype_name(d));
            json_array_foreach(json_array_get(in, 2), i, n)
            {
                text_printf(t, "%s%d", i ? ", " : "[", (int)json_integer_value(n));
            }
            text_printf(t, "%s = %s\n", i ? "]" : "", d == DT_BOOL ? "false" : "0");
        }
        text_printf(t, "    return (");
        for (k = 0; k < json_array_size(inputs); k++) {
            text_printf(t, "%s%c = %c", k ? ", " : "", sample_names[k], sample_names[k]);
        }
        text_printf(t, ")\n}\nlet inputs = Inputs{}\n");
    }
    text_printf(t, "phase p {\n");
    if (json_array_size(inputs)) {
        text_printf(t, "    let given = inputs()\n");
        for (k = 0; k < json_array_size(inputs); k++) {
            text_printf(t, "    let %c = given.%c\n", sample_names[k], sample_names[k]);
        }
    }
    text_printf(t, "%s    let r = %s\n    output r = r\n}\n", sample_text(sample, "let"),
                sample_text(sample, "text"));
}
static inline val sample_function(struct op_case *c, json_t *sample)
{
    struct compile_options o = {.std_path = GML_SOURCE "/models/std", .verify_each = true};
    case_arena(c);
    struct text t = {.arena = c->a};
    sample_write(&t, sample);
    if (gml_elaborate(c->a, "case.gml", t.at, (uint32_t)strlen(t.at), &o, &c->sink, &c->g) != ST_OK) {
        diag_render(&c->sink, DIAG_HUMAN, false, stderr);
        ck_abort_msg("%s: does not compile:\n%s", c->name, t.at);
    }
    int phase = graph_find_phase(c->g, "p");
    c->b = (struct build){.g = c->g, .sink = &c->sink, .phase = (uint16_t)phase};
    for (size_t k = 0; k < json_array_size(json_object_get(sample, "in")); k++) {
        uint32_t var = graph_find_var(c->g, arena_printf(c->a, "inputs.%c", sample_names[k]));
        ck_assert_uint_ne(var, 0);
        case_bind(c, var, DOM_ANY);
        if (c->g->vars.at[var].kind == VAR_PARAM) {
            c->tree = c->g->vars.at[var].tree - 1;
        }
    }
    return c->g->phases.at[phase].outputs.at[0].value;
}

/* -- both */

/* A number of op_counts.tsv: 0 samples, 1 of gradients, 2 with difference quotients; -1 without a line. */
static inline long sample_count(json_t *row, int column)
{
    char line[200], want[100];
    long n[3], found = -1;
    FILE *f = fopen(GML_SOURCE "/tests/golden/op_counts.tsv", "r");
    ck_assert_ptr_nonnull(f);
    snprintf(want, sizeof want, "%s.%s", json_is_true(json_object_get(row, "text")) ? "text" : "row",
             sample_text(row, "name"));
    while (found < 0 && fgets(line, sizeof line, f)) {
        char name[100];
        if (sscanf(line, "%99s %ld %ld %ld", name, &n[0], &n[1], &n[2]) == 4 && !strcmp(name, want)) {
            found = n[column];
        }
    }
    fclose(f);
    return found;
}

/* Builds sample number `number` of a row with floats of type `real`, up to the loss if there is a gradient.
 * `turned`: the inputs of a row of ops.def lie in memory in another way. */
static inline void sample_begin_as(struct op_case *c, json_t *row, json_t *sample, size_t number,
                                   enum dtype real, bool turned)
{
    const char *name = sample_text(row, "name");
    bool text = json_is_true(json_object_get(row, "text"));
    enum op op = text ? OP_NONE : op_by_name(name);
    json_t *inputs = json_object_get(sample, "in"), *r = json_object_get(sample, "r");
    char title[sizeof c->name];
    ck_assert_msg(text || op != OP_NONE, "no row %s", name);
    ck_assert_uint_le(json_array_size(inputs), CASE_INPUTS - 1);
    snprintf(title, sizeof title, "%s, case %zu%s%.200s", name, number, text ? ": " : "",
             text ? sample_text(sample, "text") : "");
    memcpy(c->name, title, sizeof title);
    val v = text ? sample_function(c, sample) : sample_row(c, op, sample, turned);
    memcpy(c->name, title, sizeof title);
    graph_set_precision(c->g, real);
    for (uint32_t k = 0; k < c->n_in; k++) {
        json_t *in = json_array_get(inputs, k);
        c->in[k].type.dtype = c->g->vars.at[c->in[k].var].type.dtype;
        c->in[k].domain = case_domain(json_string_value(json_array_get(in, 1)));
        c->in[k].bound = sample_whole(in, 3);
        c->in[k].flat = !sample_has_gradient(sample, k);
    }
    if (!v) {
        case_fail(c, "not built");
    }
    struct type t = node_type(c->g, v);
    enum dtype want = sample_dtype(r) == DT_F32 ? real : sample_dtype(r);
    int64_t n = 1;
    for (size_t i = 0; i < json_array_size(json_array_get(r, 1)); i++) {
        n *= sample_whole(json_array_get(r, 1), i);
    }
    ck_assert_msg(t.dtype == want && (size_t)t.rank == json_array_size(json_array_get(r, 1)) &&
                      case_count(c, &t) == n,
                  "%s: the result is %s, expected %s of %ld elements", c->name, type_text(c->g, &t),
                  dtype_name(want), (long)n);
    case_result(c, v, json_array_size(json_object_get(sample, "grad")) > 0);
}
static inline void sample_begin(struct op_case *c, json_t *row, json_t *sample, size_t number)
{
    sample_begin_as(c, row, sample, number, DT_F64, false);
}
/* Sample s of case number `number` has this seed. */
static inline uint64_t sample_seed(size_t number, int s)
{
    return 1 + number * 16 + (uint64_t)s;
}
/* Inputs, weights, and what random rows read: the key and the step of the phase. */
static inline void sample_draw(struct op_case *c, uint64_t seed)
{
    struct control *control = (struct control *)(c->memory + c->plan->control);
    control->key = mix64(seed);
    control->phase[c->b.phase].step = (int64_t)(mix64(seed + 1) >> 20);
    for (uint32_t k = 0; k < c->n_in; k++) {
        case_fill_input(&c->in[k], k, seed);
    }
    case_fill_weight(c, seed);
    case_store_all(c);
}

#endif
