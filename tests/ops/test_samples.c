/* Every row of the operator table and every function of the language against NumPy, SciPy and PyTorch in f64:
 * at least 50 samples each, with sizes 0, 1, 31, 32, 33, 127 and primes. Tolerances: results 1e-12 of
 * max(floor, |want|), where the floor is 0 for elementwise rows and products, 1 for sums; gradients of
 * sum(w * result) 1e-9 of max(1, |want|); whole numbers and bools exactly. A projection of a large tensor is
 * compared to the same share of the sum of its absolute terms. Draws are those of an independent Philox, bit
 * by bit; normal ones go through SciPy's quantiles: 1e-6, as they are made of ten digits and rounded to f32.
 */
#include "compiler/elab.h"
#include "runtime/format/format.h"
#include "tests/ops/sample.h"

enum { KEEP_RESULT = 5, KEEP_GRADIENT = 4, LEAST_SAMPLES = 50 };
static json_t *rows;
static struct array_file values;
static struct arena *files;

/* -- comparing */

struct reader {
    const struct array *from;
    int64_t at;
};
static double next_number(struct reader *r, const char *name)
{
    ck_assert_msg(r->at < array_count(r->from), "%s: the golden file is too short", name);
    return array_number(r->from, r->at++);
}
static bool agrees(double got, double want, double allowed)
{
    return want != want ? got != got : got == want || fabs(got - want) <= allowed;
}
static double number_of(json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}
struct tensor {
    const struct op_case *c;
    int output;
    int64_t from, n;
    double tolerance, floor;
    const char *what;
    const struct case_input *in; /* of a gradient */
};
static double element(const struct tensor *t, int64_t i)
{
    return case_output(t->c, t->output, t->from + (t->in ? case_place(t->c, t->in, i) : i));
}
static void check_elements(const struct tensor *t, struct reader *r, uint64_t seed, uint32_t which,
                           int64_t keep)
{
    bool all = t->n <= keep;
    for (int64_t i = 0; !all && i < t->n; i++) { /* a tensor with an infinity is there as a whole */
        all = !isfinite(element(t, i));
    }
    for (int64_t k = 0; k < (all ? t->n : keep - 1); k++) {
        int64_t i = all ? k : (int64_t)(case_bits(seed, 16 + which, k) % (uint64_t)t->n);
        double got = element(t, i), want = next_number(r, t->c->name);
        ck_assert_msg(agrees(got, want, t->tolerance * fmax(t->floor, fabs(want))),
                      "%s, seed %lu: %s[%ld] is %.17g, expected %.17g", t->c->name, (unsigned long)seed,
                      t->what, (long)i, got, want);
    }
    if (all) {
        return;
    }
    double sum = 0, terms = 0;
    for (int64_t i = 0; i < t->n; i++) {
        uint64_t h = case_bits(seed, 32 + which, i);
        double p = (double)(1 + (h >> 8) % 8) * (h & 1 ? -1 : 1) * element(t, i);
        sum += p;
        terms += fabs(p);
    }
    double want = next_number(r, t->c->name);
    ck_assert_msg(agrees(sum, want, t->tolerance * fmax(t->floor, terms)),
                  "%s, seed %lu: the projection of %s is %.17g, expected %.17g", t->c->name,
                  (unsigned long)seed, t->what, sum, want);
}
static void check_sample(struct op_case *c, struct reader *r, uint64_t seed, json_t *row)
{
    bool real = dtype_is_float((enum dtype)c->variant->output[0].dtype);
    struct tensor result = {c,
                            0,
                            0,
                            operand_count(&c->variant->output[0]),
                            real ? number_of(row, "tolerance") : 0,
                            number_of(row, "floor"),
                            "element ",
                            NULL};
    sample_draw(c, seed);
    case_run(c);
    check_elements(&result, r, seed, 0, KEEP_RESULT);
    for (uint32_t k = 0; k < c->n_in; k++) {
        char what[32];
        snprintf(what, sizeof what, "gradient %u", k);
        if (!c->in[k].flat) {
            struct tensor g = {c, 2, case_gradient(c, k), c->in[k].n, 1e-9, 1, what, &c->in[k]};
            check_elements(&g, r, seed, 1 + k, KEEP_GRADIENT);
        }
    }
}
/* The number of samples. */
static long check_case(json_t *row, json_t *sample, size_t number, bool turned, struct reader *r)
{
    struct op_case c;
    long seeds = json_integer_value(json_object_get(sample, "seeds"));
    sample_begin_as(&c, row, sample, number, DT_F64, turned);
    case_compile(&c, false);
    for (int s = 0; s < seeds; s++) {
        check_sample(&c, r, sample_seed(number, s), row);
    }
    case_end(&c);
    return seeds;
}

/* -- which samples there are */

/* Every float input that has a gradient rule is compared in some case. */
static void check_rules(json_t *row)
{
    const char *name = sample_text(row, "name");
    enum op op = op_by_name(name);
    json_t *sample;
    size_t i;
    for (uint32_t k = 0; k < 3; k++) {
        bool wanted = false, seen = false;
        json_array_foreach(json_object_get(row, "cases"), i, sample)
        {
            json_t *in = json_array_get(json_object_get(sample, "in"), k);
            wanted |= in && dtype_is_float(sample_dtype(in)) && vjp_exists(op, k);
            seen |= sample_has_gradient(sample, k);
        }
        ck_assert_msg(seen || !wanted, "%s: no sample compares the gradient of input %u", name, k);
    }
}
static bool is_prime(int64_t n)
{
    for (int64_t k = 2; k * k <= n; k++) {
        if (n % k == 0) {
            return false;
        }
    }
    return n > 1;
}
enum {
    SEEN_0 = 1,
    SEEN_1 = 2,
    SEEN_31 = 4,
    SEEN_32 = 8,
    SEEN_33 = 16,
    SEEN_127 = 32,
    SEEN_PRIME = 64,
    SEEN_ALL = 127
};
static unsigned sizes_in(json_t *shape)
{
    static const int64_t wanted[] = {0, 1, 31, 32, 33, 127};
    unsigned seen = 0;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        int64_t n = sample_whole(shape, i);
        for (int k = 0; k < 6; k++) {
            seen |= n == wanted[k] ? 1u << k : 0;
        }
        seen |= is_prime(n) && n != 31 && n != 127 ? SEEN_PRIME : 0;
    }
    return seen;
}
static void check_sizes(json_t *row)
{
    static const char *const scalars[] = {"const", "dimval"}; /* results without an axis */
    const char *name = sample_text(row, "name");
    unsigned seen = 0;
    json_t *sample, *in;
    size_t i, k;
    json_array_foreach(json_object_get(row, "cases"), i, sample)
    {
        seen |= sizes_in(json_array_get(json_object_get(sample, "r"), 1));
        json_array_foreach(json_object_get(sample, "in"), k, in)
        {
            seen |= sizes_in(json_array_get(in, 2));
        }
    }
    for (i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        seen |= strcmp(scalars[i], name) ? 0 : SEEN_ALL;
    }
    ck_assert_msg(seen == SEEN_ALL,
                  "%s: of the sizes 0, 1, 31, 32, 33, 127 and other primes only %#x are seen", name, seen);
}

/* Rows without samples here, and why. */
static const struct {
    const char *name, *why;
} elsewhere[] = {
    {"loop_in", "loops as a whole: tests/passes, tests/plan and tests/rules"},
    {"loop_index", "as loop_in"},
    {"loop_carry", "as loop_in"},
    {"loop", "as loop_in"},
    {"loop_last", "as loop_in"},
    {"loop_out", "as loop_in"},
    {"loop_begin", "as loop_in"},
    {"loop_put", "as loop_in"},
    {"group", "made of launches: tests/plan/test_groups.c"},
    {"rows", "the rows of a data set: tests/kernels/test_structured.c"},
    {"step", "a number of the control block: tests/kernels/test_structured.c"},
    {"knob", "a number of the control block: tests/kernels/test_structured.c"},
    {"metric", "a number of the control block: tests/kernels/test_structured.c"},
    {"read", "every sample reads its inputs with it"},
    {"grad", "every gradient is asked for with it"},
};
static bool is_elsewhere(const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (!strcmp(elsewhere[i].name, name)) {
            return true;
        }
    }
    return false;
}
static json_t *find_row(const char *name, bool text)
{
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (json_is_true(json_object_get(row, "text")) == text && !strcmp(sample_text(row, "name"), name)) {
            return row;
        }
    }
    return NULL;
}

/* -- tests */

/* Rows whose inputs have to be parameters as they are. */
static bool is_of_trees(const char *name)
{
    return !strcmp(name, "leaf") || !strcmp(name, "pack") || !strcmp(name, "tree") || !strcmp(name, "ranges");
}
START_TEST(turned_inputs_make_no_difference)
{
    json_t *row = json_array_get(rows, (size_t)_i), *sample;
    const char *name = sample_text(row, "name");
    char key[80];
    size_t number;
    if (json_is_true(json_object_get(row, "text")) || is_of_trees(name)) {
        return;
    }
    snprintf(key, sizeof key, "row.%s", name);
    struct reader r = {array_find(&values, key), 0};
    json_array_foreach(json_object_get(row, "cases"), number, sample)
    {
        check_case(row, sample, number, true, &r);
    }
}
END_TEST
START_TEST(row_equals_its_reference)
{
    json_t *row = json_array_get(rows, (size_t)_i), *sample;
    const char *name = sample_text(row, "name");
    bool text = json_is_true(json_object_get(row, "text"));
    char key[80];
    size_t number;
    long ran = 0, gradients = 0;
    snprintf(key, sizeof key, "%s.%s", text ? "text" : "row", name);
    struct reader r = {array_find(&values, key), 0};
    ck_assert_msg(r.from != NULL, "no values for %s", key);
    json_array_foreach(json_object_get(row, "cases"), number, sample)
    {
        long seeds = check_case(row, sample, number, false, &r);
        ran += seeds;
        gradients += json_array_size(json_object_get(sample, "grad")) ? seeds : 0;
    }
    ck_assert_msg(r.at == array_count(r.from), "%s: %ld values are left", key,
                  (long)(array_count(r.from) - r.at));
    ck_assert_msg(ran >= LEAST_SAMPLES, "%s: only %ld samples", key, ran);
    ck_assert_msg(ran == sample_count(row, 0) && gradients == sample_count(row, 1),
                  "%s: %ld samples, %ld of gradients; op_counts.tsv says %ld and %ld", key, ran, gradients,
                  sample_count(row, 0), sample_count(row, 1));
    check_sizes(row);
    if (!text) {
        check_rules(row);
    }
}
END_TEST
/* Functions of the language without samples here, and why. */
static const char *const no_functions[] = {
    "shape",       "len",    "append",     "contains", "file", /* of the compiler: no value of a graph */
    "params",      "states", "frozen",     "tagged",   "each", /* trees: tests/compile */
    "orthonormal", "pinv",   "orthogonal", /* at load only: their rows, and tests/compile */
};
static bool is_no_function(const char *name)
{
    for (size_t i = 0; i < sizeof no_functions / sizeof *no_functions; i++) {
        if (!strcmp(no_functions[i], name)) {
            return true;
        }
    }
    return false;
}
START_TEST(every_function_has_samples)
{
    for (size_t i = 0; builtin_tables[i]; i++) {
        for (const struct builtin *b = builtin_tables[i]; b->name; b++) {
            ck_assert_msg(is_no_function(b->name) != (find_row(b->name, true) != NULL),
                          "%s: give it cases in tools/make_golden_ops.py, or a reason here, and not both",
                          b->name);
        }
    }
    for (const struct builtin *b = rand_builtins; b->name; b++) {
        char name[40];
        snprintf(name, sizeof name, "rand.%s", b->name);
        ck_assert_msg(find_row(name, true) != NULL, "%s: give it cases in tools/make_golden_ops.py", name);
    }
}
END_TEST
START_TEST(every_row_has_samples)
{
    for (int op = 1; op < OP_COUNT; op++) {
        const char *name = op_table[op].name;
        ck_assert_msg(is_elsewhere(name) != (find_row(name, false) != NULL),
                      "%s: give it cases in tools/make_golden_ops.py, or a reason here, and not both", name);
    }
}
END_TEST

int main(void)
{
    struct diag_sink sink;
    rows = sample_load();
    files = arena_new();
    diag_init(&sink, files, NULL);
    if (npz_read(files, GML_SOURCE "/tests/golden/ops.npz", &sink, &values) != ST_OK) {
        diag_render(&sink, DIAG_SHORT, false, stderr);
        return 1;
    }
    TCase *t = tcase_create("samples");
    tcase_add_loop_test(t, row_equals_its_reference, 0, (int)json_array_size(rows));
    tcase_add_loop_test(t, turned_inputs_make_no_difference, 0, (int)json_array_size(rows));
    tcase_add_test(t, every_row_has_samples);
    tcase_add_test(t, every_function_has_samples);
    int failed = suite_run("samples", t, CK_NOFORK);
    json_decref(rows);
    arena_free(files);
    return failed;
}
