/* The samples of every row and function in f32 against the same ones in f64 (which test_samples.c holds
 * against NumPy, SciPy and PyTorch): inputs that f32 can hold, results and gradients of sum(w * result).
 * Tolerance: LOOSE of max(1, |want|, the largest |want| of the tensor); whole numbers and bools exactly. */
#include "tests/ops/sample.h"

static const double NEAR = 2e-5;
static json_t *rows;

/* Functions whose f32 results may be further from those in f64, and why. */
static const struct {
    const char *name;
    double tolerance;
    const char *why;
} further[] = {
    {"ssd_scan", 5e-3, "exponents are differences of sums over the whole sequence"},
    {"mlstm", 2e-4, "exponents likewise; and a denominator that may come close to 0"},
};
static double tolerance_of(json_t *row)
{
    for (size_t i = 0; i < sizeof further / sizeof *further; i++) {
        if (!strcmp(further[i].name, sample_text(row, "name"))) {
            return further[i].tolerance;
        }
    }
    return NEAR;
}

static void round_inputs(struct op_case *c)
{
    for (uint32_t k = 0; k < c->n_in; k++) {
        for (int64_t i = 0; i < c->in[k].n; i++) {
            c->in[k].at[i] = (double)(float)c->in[k].at[i];
        }
    }
    for (int64_t i = 0; i < c->weight.n; i++) {
        c->weight.at[i] = (double)(float)c->weight.at[i];
    }
    case_store_all(c);
}
static void compare(struct op_case *wide, struct op_case *narrow, double tolerance, int output, int64_t from,
                    int64_t n, uint64_t seed)
{
    bool real = dtype_is_float((enum dtype)wide->variant->output[output].dtype);
    double top = 1;
    for (int64_t i = from; i < from + n; i++) {
        double x = fabs(case_output(wide, output, i));
        top = isfinite(x) && x > top ? x : top;
    }
    for (int64_t i = from; i < from + n; i++) {
        double want = case_output(wide, output, i), got = case_output(narrow, output, i);
        bool same = want != want ? got != got
                                 : got == want || got == (double)(float)want ||
                                       fabs(got - want) <= (real ? tolerance * top : 0);
        ck_assert_msg(same, "%s, seed %lu: output %d, element %ld is %.9g in f32, %.17g in f64", wide->name,
                      (unsigned long)seed, output, (long)i, got, want);
    }
}
static void check_case(json_t *row, json_t *sample, size_t number)
{
    struct op_case both[2];
    for (int k = 0; k < 2; k++) {
        sample_begin_as(&both[k], row, sample, number, k ? DT_F32 : DT_F64, false);
        case_compile(&both[k], false);
    }
    for (int s = 0; s < json_integer_value(json_object_get(sample, "seeds")); s++) {
        uint64_t seed = sample_seed(number, s);
        for (int k = 0; k < 2; k++) {
            sample_draw(&both[k], seed);
            round_inputs(&both[k]);
            case_run(&both[k]);
        }
        compare(&both[0], &both[1], tolerance_of(row), 0, 0, operand_count(&both[0].variant->output[0]),
                seed);
        for (uint32_t k = 0; k < both[0].n_in; k++) {
            if (!both[0].in[k].flat) {
                compare(&both[0], &both[1], tolerance_of(row), 2, case_gradient(&both[0], k), both[0].in[k].n,
                        seed);
            }
        }
    }
    case_end(&both[0]);
    case_end(&both[1]);
}
START_TEST(f32_is_near_f64)
{
    json_t *row = json_array_get(rows, (size_t)_i), *sample, *in;
    size_t number, k;
    json_array_foreach(json_object_get(row, "cases"), number, sample)
    {
        bool edges = false;
        json_array_foreach(json_object_get(sample, "in"), k, in)
        {
            edges |= case_domain(json_string_value(json_array_get(in, 1))) == DOM_EDGES;
        }
        if (!edges) {
            check_case(row, sample, number);
        }
    }
}
END_TEST

int main(void)
{
    rows = sample_load();
    TCase *t = tcase_create("precision");
    tcase_add_loop_test(t, f32_is_near_f64, 0, (int)json_array_size(rows));
    int failed = suite_run("precision", t, CK_NOFORK);
    json_decref(rows);
    return failed;
}
