/* Statistics of the random operators over the CPU kernels, with fixed seeds: 1,000,000 draws, or as many as
 * the environment variable GML_DRAWS says (tools/rng_stats.sh). Moments and chi-square statistics
 * must lie within 5 deviations of what chance gives (once in 2 million), Kolmogorov-Smirnov distances
 * below 1.95 / sqrt(n) (once in 1,000). Every number is printed.
 *
 * The three classic questions: are the numbers spread evenly, are neighbours (in a block of four, between
 * blocks, between steps, between draws of one model) independent, and is every permutation as likely as any
 * other? */
#include <math.h>
#include "tests/compile/program.h"
#include "tests/suite.h"

static int64_t draws = 1000000;

/* -- statistics */

static void report(const char *what, double z, double limit)
{
    printf("%-58s %8.3f  (limit %g)\n", what, z, limit);
    ck_assert_msg(fabs(z) < limit, "%s: %g", what, z);
}
/* In deviations: a chi-square statistic has the mean k - 1 and the variance 2 (k - 1), given `fixed`
 * constraints in place of 1. */
static double chi_square(const int64_t *count, const double *expected, int64_t k, int64_t fixed)
{
    double x = 0, free = (double)(k - fixed);
    for (int64_t i = 0; i < k; i++) {
        double d = (double)count[i] - expected[i];
        x += d * d / expected[i];
    }
    return (x - free) / sqrt(2 * free);
}
static double chi_square_even(const int64_t *count, int64_t k, int64_t n)
{
    double *expected = calloc((size_t)k, sizeof *expected);
    for (int64_t i = 0; i < k; i++) {
        expected[i] = (double)n / (double)k;
    }
    double z = chi_square(count, expected, k, 1);
    free(expected);
    return z;
}
static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}
static double uniform_below(double x)
{
    return x;
}
/* sqrt(n) times the largest distance between the empirical distribution of x (which is sorted here) and f. */
static double kolmogorov_smirnov(double *x, int64_t n, double (*below)(double x))
{
    double d = 0;
    qsort(x, (size_t)n, sizeof *x, by_size);
    for (int64_t i = 0; i < n; i++) {
        double f = below(x[i]);
        d = fmax(d, fmax(fabs(f - (double)i / (double)n), fabs((double)(i + 1) / (double)n - f)));
    }
    return d * sqrt((double)n);
}
/* sqrt(n) times the correlation of x[i] and y[i]: normal with deviation 1 for independent values. */
static double correlation(const double *x, const double *y, int64_t n)
{
    double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
    }
    sx /= (double)n;
    sy /= (double)n;
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - sx) * (x[i] - sx);
        yy += (y[i] - sy) * (y[i] - sy);
        xy += (x[i] - sx) * (y[i] - sy);
    }
    return sqrt((double)n) * xy / sqrt(xx * yy);
}

/* -- draws */

static void start_some(struct program *p, int64_t n, const char *body)
{
    char text[1024];
    snprintf(text, sizeof text, "gml 1\nconfig N: dim = %lld\nphase p {\n%s}\n", (long long)n, body);
    start(p, text);
    launch(p, "p");
}
static void start_draws(struct program *p, const char *body)
{
    start_some(p, draws, body);
}
/* The n numbers of an output, to be freed. */
static double *take_some(struct program *p, const char *name, int64_t n)
{
    const struct phase *f = &p->g->phases.at[graph_find_phase(p->g, "p")];
    const struct plan_variant *v = plan_find(p->plan, (uint32_t)graph_find_phase(p->g, "p"), false);
    double *x = malloc((size_t)n * sizeof *x);
    uint32_t k = 0;
    while (k < f->outputs.n && strcmp(f->outputs.at[k].name, name)) {
        k++;
    }
    ck_assert(x && k < f->outputs.n && operand_count(&v->output[k]) == n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = number_at(p->memory + v->output[k].offset, (enum dtype)v->output[k].dtype, i);
    }
    return x;
}
static double *take(struct program *p, const char *name)
{
    return take_some(p, name, draws);
}
/* Pairs (x[i], x[i + lag]) on a grid of 32 by 32. */
static double pairs(const double *x, int64_t lag)
{
    static int64_t count[32 * 32];
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i + lag < draws; i++) {
        count[(int)(x[i] * 32) * 32 + (int)(x[i + lag] * 32)]++;
    }
    return chi_square_even(count, 32 * 32, draws - lag);
}
START_TEST(uniform_draws_are_even_and_independent)
{
    struct program p;
    static int64_t count[1000];
    double worst = 0;
    memset(count, 0, sizeof count);
    start_draws(&p, "    output u = rand.uniform([N]), v = rand.uniform([N])\n");
    double *u = take(&p, "u"), *v = take(&p, "v");
    launch(&p, "p");
    double *later = take(&p, "u");
    int64_t outside = 0;
    for (int64_t i = 0; i < draws; i++) {
        outside += !(u[i] >= 0 && u[i] < 1);
        count[u[i] >= 0 && u[i] < 1 ? (int)(u[i] * 1000) : 0]++;
    }
    ck_assert_int_eq(outside, 0);
    report("uniform: chi-square over 1,000 bins", chi_square_even(count, 1000, draws), 5);
    for (int bit = 0; bit < 24; bit++) {
        int64_t ones = 0;
        for (int64_t i = 0; i < draws; i++) {
            ones += (uint32_t)(u[i] * 16777216.0) >> bit & 1;
        }
        worst = fmax(worst, fabs((double)ones - 0.5 * (double)draws) / sqrt(0.25 * (double)draws));
    }
    report("uniform: worst of the 24 bits", worst, 5);
    report("uniform: pairs of neighbours", pairs(u, 1), 5);
    report("uniform: pairs of neighbouring blocks", pairs(u, 4), 5);
    report("uniform: correlation of two draws of a phase", correlation(u, v, draws), 5);
    report("uniform: correlation of two steps", correlation(u, later, draws), 5);
    report("uniform: Kolmogorov-Smirnov", kolmogorov_smirnov(u, draws, uniform_below), 1.95);
    free(u);
    free(v);
    free(later);
    finish(&p);
}
END_TEST
START_TEST(normal_draws_are_normal)
{
    struct program p;
    start_draws(&p, "    output z = rand.normal([N])\n");
    double *z = take(&p, "z"), moment[5] = {0}, n = (double)draws;
    int64_t tail = 0;
    for (int64_t i = 0; i < draws; i++) {
        double power = 1;
        for (int k = 1; k <= 4; k++) {
            power *= z[i];
            moment[k] += power / n;
        }
        tail += fabs(z[i]) > 4;
    }
    double far = 2 * n * normal_below(-4);
    /* The k-th power of a standard normal has the variance E z^2k - (E z^k)^2. */
    report("normal: mean", moment[1] * sqrt(n), 5);
    report("normal: variance", (moment[2] - 1) * sqrt(n / 2), 5);
    report("normal: third moment", moment[3] * sqrt(n / 15), 5);
    report("normal: fourth moment", (moment[4] - 3) * sqrt(n / 96), 5);
    report("normal: beyond 4 deviations", ((double)tail - far) / sqrt(far), 5);
    report("normal: correlation of neighbours", correlation(z, z + 1, draws - 1), 5);
    report("normal: Kolmogorov-Smirnov", kolmogorov_smirnov(z, draws, normal_below), 1.95);
    ck_assert(z[0] > -5.43 && z[draws - 1] < 5.43); /* sorted now; the quantile of 2^-25 */
    free(z);
    finish(&p);
}
END_TEST
START_TEST(bernoulli_draws_have_their_probability)
{
    struct program p;
    start_draws(&p, "    output a = mean(rand.bernoulli([N], 0.3)), b = mean(rand.bernoulli([N], 0.999))\n"
                    "    output c = mean(rand.bernoulli([N], 0)), d = mean(rand.bernoulli([N], 1))\n");
    double n = (double)draws;
    report("bernoulli(0.3)", (output_at(&p, "p", "a", 0) - 0.3) * sqrt(n / (0.3 * 0.7)), 5);
    report("bernoulli(0.999)", (output_at(&p, "p", "b", 0) - 0.999) * sqrt(n / (0.999 * 0.001)), 5);
    ck_assert_double_eq(output_at(&p, "p", "c", 0), 0);
    ck_assert_double_eq(output_at(&p, "p", "d", 0), 1);
    finish(&p);
}
END_TEST
static void tally(int64_t *count, int64_t n_count, struct program *p, const char *name, int64_t n)
{
    double *x = take_some(p, name, n);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_msg(x[i] >= 0 && x[i] < (double)n_count, "%s: %g", name, x[i]);
        count[(int64_t)x[i]]++;
    }
    free(x);
}
/* In 10 launches, since every category that is drawn needs a row of logits. */
START_TEST(categories_and_whole_numbers_have_their_probabilities)
{
    struct program p;
    int64_t category[6] = {0}, whole[7] = {0}, n = draws / 10, none;
    double expected[6] = {0};
    start_some(&p, n,
               "    let z = log(tensor([1.0, 20, 0, 300, 400, 0.05]))\n"
               "    output k = rand.categorical(expand(z[_], [N, 6])), i = rand.int([N], 7)\n");
    for (int i = 0; i < 10; i++) {
        tally(category, 6, &p, "k", n);
        tally(whole, 7, &p, "i", n);
        launch(&p, "p");
    }
    for (int i = 0; i < 6; i++) {
        expected[i] = (double)(10 * n) * (double[]){1, 20, 0, 300, 400, 0.05}[i] / 721.05;
    }
    none = category[2];
    category[2] = category[5];
    expected[2] = expected[5];
    ck_assert_int_eq(none, 0);
    report("categorical: chi-square of 5 unequal ones", chi_square(category, expected, 5, 1), 5);
    report("integers: chi-square of 0 to 6", chi_square_even(whole, 7, 10 * n), 5);
    finish(&p);
}
END_TEST

/* -- permutations */

/* Places i and where they go on a grid of 32 by 32 boxes of (nearly) equal size. */
static double grid(const double *to)
{
    static int64_t count[32 * 32], size[32];
    static double expected[32 * 32];
    memset(count, 0, sizeof count);
    memset(size, 0, sizeof size);
    for (int64_t i = 0; i < draws; i++) {
        size[i * 32 / draws]++;
        count[i * 32 / draws * 32 + (int64_t)to[i] * 32 / draws]++;
    }
    for (int i = 0; i < 32 * 32; i++) {
        expected[i] = (double)size[i / 32] * (double)size[i % 32] / (double)draws;
    }
    return chi_square(count, expected, 32 * 32, 63); /* rows and columns have given sums */
}
START_TEST(large_permutations_are_bijections_without_pattern)
{
    struct program p;
    start_draws(&p, "    state e: i32 = 0\n    next e = e + 1\n    output q = rand.permute(iota(N), N, e)\n");
    double *first = take(&p, "q");
    launch(&p, "p");
    double *second = take(&p, "q");
    char *seen = calloc((size_t)draws, 1);
    int64_t fixed = 0, same = 0, wrong = 0;
    for (int64_t i = 0; i < draws; i++) {
        bool ok = first[i] >= 0 && first[i] < (double)draws && !seen[(int64_t)first[i]];
        seen[ok ? (int64_t)first[i] : 0] = 1;
        wrong += !ok;
        fixed += (int64_t)first[i] == i;
        same += first[i] == second[i];
    }
    ck_assert_int_eq(wrong, 0);
    report("permutation: places on a grid, epoch 0", grid(first), 5);
    report("permutation: places on a grid, epoch 1", grid(second), 5);
    report("permutation: correlation of neighbours", correlation(first, first + 1, draws - 1), 5);
    report("permutation: correlation of two epochs", correlation(first, second, draws), 5);
    report("permutation: fixed points (Poisson, mean 1)", (double)fixed, 9);
    report("permutation: equal places in two epochs (Poisson, mean 1)", (double)same, 9);
    free(first);
    free(second);
    free(seen);
    finish(&p);
}
END_TEST
enum { EPOCHS = 250000 };

/* All n! orders of few elements, over many epochs of one key. */
static void all_orders(uint32_t n, int64_t orders)
{
    int64_t *count = calloc((size_t)orders, sizeof *count);
    char what[64];
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint32_t to[8];
        int64_t rank = 0;
        for (uint32_t i = 0; i < n; i++) {
            to[i] = permute_index(i, n, 0x5EED5EED5EED5EEDull, (uint64_t)epoch);
        }
        for (uint32_t i = 0; i < n; i++) { /* Lehmer code */
            uint32_t smaller = 0;
            for (uint32_t k = i + 1; k < n; k++) {
                smaller += to[k] < to[i];
            }
            rank = rank * (n - i) + smaller;
        }
        count[rank]++;
    }
    snprintf(what, sizeof what, "permutation: the %lld orders of %u", (long long)orders, n);
    double z = chi_square_even(count, orders, EPOCHS);
    free(count);
    report(what, z, 5);
}
/* Where the first and the last of n elements go, over many epochs: n (n - 1) pairs of places. */
static void two_places(uint32_t n)
{
    int64_t cells = (int64_t)n * (n - 1), together = 0;
    int64_t *count = calloc((size_t)cells, sizeof *count);
    char what[64];
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint32_t a = permute_index(0, n, 77, (uint64_t)epoch),
                 b = permute_index(n - 1, n, 77, (uint64_t)epoch);
        together += a == b;
        count[a != b ? a * (n - 1) + b - (b > a) : 0]++;
    }
    double z = chi_square_even(count, cells, EPOCHS);
    free(count);
    ck_assert_int_eq(together, 0);
    snprintf(what, sizeof what, "permutation: places of two of %u", n);
    report(what, z, 5);
}
/* To what 250,000 epochs can tell. */
START_TEST(small_permutations_are_equally_likely)
{
    all_orders(2, 2);
    all_orders(3, 6);
    all_orders(4, 24);
    all_orders(5, 120);
    all_orders(6, 720);
    two_places(9);
    two_places(17);
    two_places(50);
    two_places(100);
}
END_TEST

int main(void)
{
    const char *more = getenv("GML_DRAWS");
    if (more) {
        draws = strtoll(more, NULL, 10);
    }
    if (draws < 100000 || draws > 100000000) {
        fprintf(stderr, "GML_DRAWS is a number from 100000 to 100000000\n");
        return 2;
    }
    TCase *t = tcase_create("random");
    tcase_add_test(t, uniform_draws_are_even_and_independent);
    tcase_add_test(t, normal_draws_are_normal);
    tcase_add_test(t, bernoulli_draws_have_their_probability);
    tcase_add_test(t, categories_and_whole_numbers_have_their_probabilities);
    tcase_add_test(t, large_permutations_are_bijections_without_pattern);
    tcase_add_test(t, small_permutations_are_equally_likely);
    return suite_run("random", t, CK_NOFORK);
}
