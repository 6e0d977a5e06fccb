/* Randomness: Philox against the Random123 vectors, normal quantiles against known values, permutations as
 * bijections. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/philox.h"
#include "tests/suite.h"

static void expect(const uint32_t c[4], uint32_t k0, uint32_t k1, const uint32_t want[4])
{
    struct philox r = philox4x32_10(c[0], c[1], c[2], c[3], k0, k1);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(r.x[i], want[i]);
    }
}

START_TEST(known_answers)
{
    expect((uint32_t[]){0, 0, 0, 0}, 0, 0, (uint32_t[]){0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    expect((uint32_t[]){~0u, ~0u, ~0u, ~0u}, ~0u, ~0u,
           (uint32_t[]){0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    expect((uint32_t[]){0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0,
           (uint32_t[]){0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}
END_TEST

START_TEST(draws_place_counter_and_key)
{
    uint64_t key = 0x299f31d0a4093822ull, step = 0x0370734413198a2eull;
    ck_assert_uint_eq(draw_bits(key, 0x243f6a88ull * 4 + 2, 0x85a308d3, step), 0x5001e420);
    ck_assert_uint_eq(draw_block(key, 0x243f6a88, 0x85a308d3, step).x[3], 0x24126ea1);
}
END_TEST

START_TEST(hashes)
{
    ck_assert(fnv1a64("", 0) == 0xcbf29ce484222325ull);
    ck_assert(fnv1a64("foobar", 6) == 0x85944171f73967e8ull);
    ck_assert(mix64(0) == 0);
    ck_assert(mix64(0x9E3779B97F4A7C15ull) ==
              0xe220a8397b1dcdafull); /* first output of splitmix64 with seed 0 */
}
END_TEST

START_TEST(uniform_range)
{
    ck_assert(uniform_u24(0) == 0.0f);
    ck_assert(uniform_u24(~0u) == 1.0f - 0x1p-24f);
}
END_TEST

/* Values of Python's NormalDist().inv_cdf((k + 0.5) / 2^24), good to 1e-16. Tolerance: relative 3e-7 (AS 241
 * PPND7 1e-7, f32 rounding 6e-8). */
START_TEST(normal_quantiles)
{
    static const struct {
        uint32_t k;
        double x;
    } want[] = {
        {0, -5.419983174916869},          {1, -5.220113060600539},        {1000, -3.8476240408811804},
        {12345, -3.1802071080999976},     {629145, -1.7804644145938482},  {1258291, -1.4395313446176727},
        {1258292, -1.4395309235485612},   {4000000, -0.7113986782897874}, {8388607, -7.470334394666561e-08},
        {8388608, 7.470334394666561e-08}, {15518924, 1.4395313446176727}, {16777215, 5.419983174916869},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        double got = (double)normal_u24(want[i].k << 8);
        ck_assert_msg(fabs(got - want[i].x) <= 3e-7 * fabs(want[i].x), "k %u: %.9g, want %.9g", want[i].k,
                      got, want[i].x);
    }
}
END_TEST

START_TEST(normal_moments)
{
    double sum = 0, square = 0;
    int n = 1 << 20;
    for (int i = 0; i < n; i++) {
        double x = (double)normal_u24(draw_bits(42, (uint64_t)i, 0, 7));
        sum += x;
        square += x * x;
    }
    ck_assert(fabs(sum / n) < 5.0 / sqrt(n)); /* five standard errors */
    ck_assert(fabs(square / n - 1) < 5.0 * sqrt(2.0 / n));
}
END_TEST

START_TEST(portable_log_and_sqrt)
{
    for (double x = 1e-8; x < 1e8; x *= 1.37) {
        ck_assert(fabs(portable_log(x) - log(x)) <= 1e-12 * fabs(log(x)) + 1e-12);
        ck_assert(fabs(portable_sqrt(x) - sqrt(x)) <= 1e-15 * sqrt(x));
    }
}
END_TEST

static void check_bijection(uint32_t n, uint64_t key, uint64_t epoch)
{
    unsigned char *seen = calloc(n, 1);
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        uint32_t j = permute_index(i, n, key, epoch);
        ok = j < n && !seen[j];
        seen[ok ? j : 0] = 1;
    }
    ck_assert_msg(ok, "not a bijection of %u", n);
    free(seen);
}

START_TEST(permutation_is_a_bijection)
{
    for (uint32_t n = 1; n <= 300; n++) {
        check_bijection(n, 12345, n);
    }
    uint32_t sizes[] = {1000, 1023, 1024, 1025, 1437, 4096, 4097, 65535, 65536, 65537, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_bijection(sizes[i], 0xdeadbeefcafeull, 3);
    }
    ck_assert(permute_index(0xfffffffeu, 0xffffffffu, 1, 1) < 0xffffffffu);
}
END_TEST

/* Over many epochs every row visits the first place about equally often: chi square with n - 1 degrees of
 * freedom. */
START_TEST(permutation_is_even)
{
    enum { N = 50, EPOCHS = 20000 };
    int count[N] = {0};
    for (int e = 0; e < EPOCHS; e++) {
        count[permute_index(0, N, 99, (uint64_t)e)]++;
    }
    double chi = 0, mean = (double)EPOCHS / N;
    for (int i = 0; i < N; i++) {
        chi += (count[i] - mean) * (count[i] - mean) / mean;
    }
    ck_assert_msg(chi < 49 + 5 * sqrt(2.0 * 49), "chi square %g", chi);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("philox");
    tcase_add_test(t, known_answers);
    tcase_add_test(t, draws_place_counter_and_key);
    tcase_add_test(t, hashes);
    tcase_add_test(t, uniform_range);
    tcase_add_test(t, normal_quantiles);
    tcase_add_test(t, normal_moments);
    tcase_add_test(t, portable_log_and_sqrt);
    tcase_add_test(t, permutation_is_a_bijection);
    tcase_add_test(t, permutation_is_even);
    return suite_run("philox", t, CK_FORK);
}
