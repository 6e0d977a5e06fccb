/* Arenas, growable arrays, interned strings, and the allocation seam. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/base/checked.h"
#include "runtime/base/mem.h"
#include "tests/suite.h"

static bool all_bytes(const unsigned char *p, size_t n, unsigned char want)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != want) {
            return false;
        }
    }
    return true;
}

START_TEST(blocks_are_zeroed_aligned_and_apart)
{
    struct arena *a = arena_new();
    unsigned char *block[2000];
    for (int i = 0; i < 2000; i++) {
        size_t n = (size_t)(i * 37) % 900 + (i % 100 == 0 ? 70000 : 0);
        block[i] = arena_alloc(a, n);
        ck_assert_uint_eq((uintptr_t)block[i] % 16, 0);
        ck_assert(all_bytes(block[i], n, 0));
        memset(block[i], i & 0xff, n);
    }
    for (int i = 0; i < 2000; i++) {
        size_t n = (size_t)(i * 37) % 900 + (i % 100 == 0 ? 70000 : 0);
        ck_assert(all_bytes(block[i], n, (unsigned char)i));
    }
    arena_free(a);
    arena_free(NULL);
}
END_TEST

START_TEST(last_block_grows_in_place)
{
    struct arena *a = arena_new();
    char *p = arena_alloc(a, 100);
    ck_assert_ptr_eq(arena_resize(a, p, 100, 1000), p);
    arena_alloc(a, 1);
    char *q = arena_resize(a, p, 1000, 2000);
    ck_assert_ptr_ne(q, p);
    arena_free(a);
}
END_TEST

START_TEST(vectors_and_text_grow)
{
    struct arena *a = arena_new();
    VEC(int) v = {0};
    struct text t = {.arena = a};
    for (int i = 0; i < 10000; i++) {
        vec_push(a, &v, i);
        arena_alloc(a, 8); /* prevents growing in place */
        text_printf(&t, "%d,", i % 10);
    }
    for (int i = 0; i < 10000; i++) {
        ck_assert_int_eq(v.at[i], i);
        ck_assert_int_eq(t.at[2 * i], '0' + i % 10);
    }
    ck_assert_uint_eq(t.n, 20000);
    ck_assert_uint_eq(strlen(t.at), 20000);
    char *big = arena_printf(a, "%0*d", 5000, 7);
    text_printf(&t, "%s", big);
    ck_assert_uint_eq(t.n, 25000);
    ck_assert_int_eq(t.at[24999], '7');
    arena_free(a);
}
END_TEST

START_TEST(equal_text_is_one_pointer)
{
    struct arena *a = arena_new();
    struct interner *t = interner_new(a);
    const char *kept[5000];
    char name[32];
    for (int i = 0; i < 5000; i++) {
        sprintf(name, "name.%d", i);
        kept[i] = intern(t, name);
    }
    for (int i = 0; i < 5000; i++) {
        sprintf(name, "name.%d", i);
        ck_assert_ptr_eq(intern(t, name), kept[i]);
        ck_assert_str_eq(kept[i], name);
    }
    ck_assert_ptr_eq(intern_n(t, "name.12xx", 7), kept[12]);
    ck_assert_ptr_eq(intern_n(t, "", 0), intern(t, ""));
    arena_free(a);
}
END_TEST

/* -- the seam */

struct counted {
    size_t live, left; /* bytes in use; allocations that still succeed */
    jmp_buf out;
};

static void *counted_resize(void *ctx, void *old, size_t old_bytes, size_t new_bytes)
{
    struct counted *c = ctx;
    if (new_bytes > old_bytes && c->left-- == 0) {
        return NULL;
    }
    c->live += new_bytes - old_bytes;
    if (new_bytes == 0) {
        free(old);
        return NULL;
    }
    char *p = realloc(old, new_bytes);
    if (new_bytes > old_bytes) {
        memset(p + old_bytes, 0xa5, new_bytes - old_bytes);
    }
    return p;
}

static void counted_exhausted(void *ctx, size_t bytes)
{
    (void)bytes;
    longjmp(((struct counted *)ctx)->out, 1);
}

START_TEST(seam_counts_fails_and_is_zeroed)
{
    struct mem_seam saved = mem_seam;
    static struct counted c;
    c.left = 1000;
    mem_seam = (struct mem_seam){counted_resize, counted_exhausted, &c};
    struct arena *a = arena_new();
    for (int i = 0; i < 3000; i++) {
        char *p = arena_alloc(a, 100);
        ck_assert(p[0] == 0 && p[99] == 0);
    }
    ck_assert(c.live >= 300000);
    volatile int failed = 0;
    c.left = 0;
    if (setjmp(c.out) == 0) {
        arena_alloc(a, 10 << 20);
    } else {
        failed = 1;
    }
    ck_assert_int_eq(failed, 1);
    if (setjmp(c.out) == 0) {
        failed = 0;
        mem_size(SIZE_MAX / 2, 3);
    } else {
        failed = 1;
    }
    ck_assert_int_eq(failed, 1);
    arena_free(a);
    ck_assert_uint_eq(c.live, 0);
    mem_seam = saved;
}
END_TEST

START_TEST(checked_arithmetic)
{
    int64_t r = 7;
    ck_assert(!add_ok(INT64_MAX, 1, &r) && r == 7);
    ck_assert(!mul_ok(INT64_MAX / 2, 3, &r) && r == 7);
    ck_assert(align_ok(257, 256, &r) && r == 512);
    ck_assert(!align_ok(INT64_MAX - 1, 256, &r) && r == 512);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("mem");
    tcase_add_test(t, blocks_are_zeroed_aligned_and_apart);
    tcase_add_test(t, last_block_grows_in_place);
    tcase_add_test(t, vectors_and_text_grow);
    tcase_add_test(t, equal_text_is_one_pointer);
    tcase_add_test(t, seam_counts_fails_and_is_zeroed);
    tcase_add_test(t, checked_arithmetic);
    return suite_run("mem", t, CK_FORK);
}
