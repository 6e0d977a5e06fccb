/* Interval packing on a seeded corpus of training-like lives: forward values kept for a mirrored backward
 * pass, gradients to the end, scratch. The bars are those of docs: median at the lower bound, 95% within 1.02
 * of it, none above 1.10. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "runtime/plan/packing.h"
#include "tests/suite.h"

enum { CORPUS = 300 };

static uint64_t state;
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint64_t round_up(uint64_t n)
{
    return (n + 255) & ~(uint64_t)255;
}

struct lives {
    struct interval x[40000];
    uint32_t n;
};
static void add(struct lives *l, uint64_t bytes, uint32_t first, uint32_t last)
{
    l->x[l->n++] = (struct interval){round_up(bytes), first, last, 0};
}

/* n forward ops with skips, then their mirror. Time 0 .. 2n; half of the nets keep weight gradients to a
 * global norm at the end. */
static void random_training(struct lives *l, uint32_t n, uint32_t skip_percent)
{
    uint32_t width = 16 + draw(985), batch = 1u << (3 + draw(6)), end = 2 * n + 1;
    int clipped = draw(2) == 0;
    l->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (draw(3) == 0) {
            width = 16 + draw(985);
        }
        uint64_t value = 4ull * batch * width;
        uint32_t use = i + 1 + (draw(100) < skip_percent ? draw(8) : 0);
        int saved = draw(4) != 0;
        uint32_t back = 2 * n - i;
        add(l, value, i, saved ? back : (use < n ? use : n));
        add(l, value, back, back + 1 + draw(2) < end ? back + 1 + draw(2) : end);
        if (draw(2)) {
            add(l, 4ull * width * (16 + draw(985)), back, clipped ? end : back + 1);
        }
        if (draw(5) == 0) {
            add(l, 256ull * (1 + draw(200)), i, i);
        }
    }
}

static void no_overlap(const struct lives *l, uint64_t bytes)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct interval *a = &l->x[i];
        ck_assert_uint_le(a->offset + a->bytes, bytes);
        ck_assert_uint_eq(a->offset % 256, 0);
        for (uint32_t j = 0; j < i; j++) {
            const struct interval *b = &l->x[j];
            int in_time = a->first <= b->last && b->first <= a->last;
            int in_space = a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
            if (in_time && in_space) {
                ck_abort_msg("intervals %u and %u share bytes", i, j);
            }
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct lives lives;

START_TEST(corpus_stays_near_the_bound)
{
    static double ratio[CORPUS];
    int near = 0;
    for (uint32_t seed = 0; seed < CORPUS; seed++) {
        struct packing p;
        state = 7919 * (seed + 1);
        random_training(&lives, 6 + draw(95), 15);
        pack_intervals(lives.x, lives.n, &p);
        no_overlap(&lives, p.bytes);
        ratio[seed] = (double)p.bytes / (double)p.bound;
        near += ratio[seed] <= 1.02;
    }
    qsort(ratio, CORPUS, sizeof *ratio, ascending);
    printf("packing: median %.4f p95 %.4f max %.4f, %d of %d within 1.02\n", ratio[CORPUS / 2],
           ratio[CORPUS * 95 / 100], ratio[CORPUS - 1], near, CORPUS);
    ck_assert_double_le(ratio[CORPUS / 2], 1.0005);
    ck_assert_int_ge(near, CORPUS * 95 / 100);
    ck_assert_double_le(ratio[CORPUS - 1], 1.10);
}
END_TEST

START_TEST(bound_is_the_peak_sum)
{
    struct interval x[] = {{256, 0, 1, 0}, {512, 1, 2, 0}, {1024, 2, 3, 0}, {0, 0, 3, 0}};
    struct packing p;
    pack_intervals(x, 4, &p);
    ck_assert_uint_eq(p.bound, 1536);
    ck_assert_uint_eq(p.peak, 2);
    ck_assert_uint_eq(p.bytes, 1536);
    pack_intervals(x, 0, &p);
    ck_assert_uint_eq(p.bytes, 0);
}
END_TEST

START_TEST(same_input_same_result)
{
    static struct interval again[2000];
    struct packing p, q;
    state = 5;
    random_training(&lives, 90, 40);
    memcpy(again, lives.x, lives.n * sizeof *again);
    pack_intervals(lives.x, lives.n, &p);
    pack_intervals(again, lives.n, &q);
    ck_assert_uint_eq(p.bytes, q.bytes);
    ck_assert_mem_eq(again, lives.x, lives.n * sizeof *again);
}
END_TEST

START_TEST(apart_leaves_gaps)
{
    struct interval x[] = {{256, 0, 0, 0}, {512, 1, 1, 0}};
    struct packing p;
    pack_apart(x, 2, 256, &p);
    ck_assert_uint_eq(x[0].offset, 256);
    ck_assert_uint_eq(x[1].offset, 768);
    ck_assert_uint_eq(p.bytes, 1536);
}
END_TEST

START_TEST(four_thousand_buffers)
{
    struct packing p;
    state = 11;
    random_training(&lives, 1500, 15);
    clock_t t = clock();
    pack_intervals(lives.x, lives.n, &p);
    printf("packing: %u buffers, ratio %.4f, %s, %.2f s\n", lives.n, (double)p.bytes / (double)p.bound,
           p.order, (double)(clock() - t) / CLOCKS_PER_SEC);
    no_overlap(&lives, p.bytes);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("packing");
    tcase_add_test(c, corpus_stays_near_the_bound);
    tcase_add_test(c, bound_is_the_peak_sum);
    tcase_add_test(c, same_input_same_result);
    tcase_add_test(c, apart_leaves_gaps);
    tcase_add_test(c, four_thousand_buffers);
    return suite_run("packing", c, CK_FORK);
}
