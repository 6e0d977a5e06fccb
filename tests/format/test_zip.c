/* The zip around an npz, byte by byte: zip64, extra fields, claims that are false; each file is made by hand.
 */
#include <stdlib.h>
#include <zlib.h>
#include "runtime/format/internal.h"
#include "tests/format/common.h"

static const char npy[] = "\x93NUMPY\1\0\67\0{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}ab";
enum { NPY = sizeof npy - 1 };

/* One member; zeros are the usual. */
struct zip_case {
    const char *name, *data;
    size_t n;
    int method, flags, entries;
    uint64_t size, packed, at; /* of the extra field; 0: true */
    int extra_n;               /* values in the zip64 extra field, -1: none */
    bool narrow;               /* the 32-bit fields hold the sizes although there is an extra field */
    const char *raw_extra;     /* instead */
    size_t raw_n;
    bool zip64_end;
    uint64_t end64_at, directory_bytes;
    int comment;
    const char *code;
};

static void put(struct text *t, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8) {
        text_append(t, &(char){(char)v}, 1);
    }
}
static void put_header(struct text *t, const struct zip_case *c, uint64_t size, uint64_t packed)
{
    uLong crc = crc32(crc32(0, NULL, 0), (const unsigned char *)npy, NPY);
    put(t, 45, 2);
    put(t, (uint64_t)c->flags, 2);
    put(t, (uint64_t)c->method, 2);
    put(t, 0, 4);
    put(t, c->method || c->data ? crc32(0, NULL, 0) : crc, 4);
    put(t, packed, 4);
    put(t, size, 4);
    put(t, strlen(c->name), 2);
}
static void make(const struct zip_case *c, struct text *t)
{
    struct text extra = {.arena = arena};
    const char *data = c->data ? c->data : npy;
    size_t n = c->data ? c->n : NPY, size = c->method ? 0 : n;
    text_append(&extra, "", 0);
    if (c->extra_n >= 0) {
        uint64_t values[] = {c->size ? c->size : size, c->packed ? c->packed : n, c->at};
        put(&extra, 1, 2);
        put(&extra, 8 * (uint64_t)c->extra_n, 2);
        for (int i = 0; i < c->extra_n; i++) {
            put(&extra, values[i], 8);
        }
    }
    if (c->raw_extra) {
        text_append(&extra, c->raw_extra, c->raw_n);
    }
    bool wide = c->extra_n > 0 && !c->narrow;
    text_append(t, "PK\3\4", 4);
    put_header(t, c, 0, 0);
    put(t, 0, 2);
    text_append(t, c->name, strlen(c->name));
    text_append(t, data, n);
    uint64_t directory = t->n;
    text_append(t, "PK\1\2\0\0", 6);
    put_header(t, c, wide ? UINT32_MAX : size, wide && c->extra_n > 1 ? UINT32_MAX : n);
    put(t, extra.n, 2);
    put(t, 0, 10);
    put(t, wide && c->extra_n > 2 ? UINT32_MAX : c->at, 4);
    text_append(t, c->name, strlen(c->name));
    text_append(t, extra.at, extra.n);
    uint64_t end = t->n, bytes = c->directory_bytes ? c->directory_bytes : end - directory;
    uint64_t entries = c->entries ? (uint64_t)c->entries : 1;
    if (c->zip64_end) {
        text_append(t, "PK\6\6", 4);
        put(t, 44, 8);
        put(t, 0, 12);
        put(t, entries, 8);
        put(t, entries, 8);
        put(t, bytes, 8);
        put(t, directory, 8);
        text_append(t, "PK\6\7", 4);
        put(t, 0, 4);
        put(t, c->end64_at ? c->end64_at : end, 8);
        put(t, 1, 4);
    }
    text_append(t, "PK\5\6", 4);
    put(t, 0, 4);
    put(t, c->zip64_end ? UINT16_MAX : entries, 2);
    put(t, c->zip64_end ? UINT16_MAX : entries, 2);
    put(t, c->zip64_end ? UINT32_MAX : bytes, 4);
    put(t, c->zip64_end ? UINT32_MAX : directory, 4);
    put(t, (uint64_t)c->comment, 2);
    for (int i = 0; i < c->comment; i++) {
        text_append(t, "c", 1);
    }
}

static const struct zip_case cases[] = {
    {.name = "x.npy", .extra_n = -1},
    {.name = "x.npy", .extra_n = -1, .comment = 65535},
    {.name = "x.npy", .extra_n = 0},
    {.name = "x.npy", .extra_n = 1},
    {.name = "x.npy", .extra_n = 2},
    {.name = "x.npy", .extra_n = 3},
    {.name = "x.npy", .extra_n = 3, .zip64_end = true},
    {.name = "x.npy", .extra_n = -1, .zip64_end = true, .comment = 7},
    {.name = "x.npy", .extra_n = 2, .narrow = true},
    {.name = "x.npy", .extra_n = -1, .raw_extra = "\7\0\3\0abc", .raw_n = 7},
    {.name = "x.npy", .extra_n = 3, .raw_extra = "\7\0\0\0", .raw_n = 4},
    /* refused */
    {.name = "x.npy", .extra_n = -1, .raw_extra = "\7\0\4\0abc", .raw_n = 7, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .raw_extra = "\7\0\0", .raw_n = 3, .code = "F3010"},
    {.name = "x.npy", .extra_n = 3, .size = 1ull << 35, .packed = 1ull << 35, .code = "F3014"},
    {.name = "x.npy", .extra_n = 3, .size = UINT64_MAX, .packed = UINT64_MAX, .code = "F3014"},
    {.name = "x.npy", .extra_n = 2, .size = 1 << 20, .packed = 1 << 20, .code = "F3010"},
    {.name = "x.npy", .extra_n = 3, .at = UINT64_MAX, .code = "F3010"},
    {.name = "x.npy", .extra_n = 3, .at = 40, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .at = 1, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .zip64_end = true, .end64_at = UINT64_MAX, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .zip64_end = true, .end64_at = 1, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .zip64_end = true, .directory_bytes = UINT64_MAX, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .zip64_end = true, .entries = 5000, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .directory_bytes = 4, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .entries = 2, .code = "F3010"},
    {.name = "x.npy", .extra_n = -1, .flags = 0x40, .code = "F3011"},
    {.name = "x.npy", .extra_n = -1, .flags = 1, .code = "F3011"},
    {.name = "", .extra_n = -1, .code = "F3012"},
    {.name = "npy", .extra_n = -1, .code = "F3012"},
    {.name = ".npy", .extra_n = -1, .code = "F3012"},
    {.name = "x.npz", .extra_n = -1, .code = "F3012"},
    {.name = "a/x.npy", .extra_n = -1, .code = "F3012"},
    {.name = "a\\x.npy", .extra_n = -1, .code = "F3012"},
    {.name = "\xff.npy", .extra_n = -1, .code = "F3012"},
    {.name = "x.npy", .extra_n = -1, .data = "", .n = 0, .code = "F3001"},
    {.name = "x.npy", .extra_n = -1, .method = 8, .data = "\3\0", .n = 2, .code = "F3001"},
    {.name = "x.npy", .extra_n = -1, .method = 8, .data = "\3\0\0", .n = 3, .code = "F3015"},
    {.name = "x.npy", .extra_n = -1, .method = 8, .data = "\3", .n = 1, .code = "F3015"},
    {.name = "x.npy", .extra_n = -1, .method = 8, .data = "\7\0", .n = 2, .code = "F3015"},
    {.name = "x.npy", .extra_n = -1, .method = 8, .data = "\1\3\0\374\377abc", .n = 8, .code = "F3015"},
    {.name = "x.npy", .extra_n = 1, .method = 8, .data = "\3\0", .n = 2, .size = 3, .code = "F3015"},
};

START_TEST(one_member)
{
    const struct zip_case *c = &cases[_i];
    struct text t = {.arena = arena};
    make(c, &t);
    char *exact = malloc(t.n);
    memcpy(exact, t.at, t.n);
    enum status st = npz_parse(arena, "t.npz", exact, t.n, &sink, &file);
    free(exact);
    const char *got = sink.list.n ? diag_name(sink.list.at[0].code) : "none";
    ck_assert_msg((st == ST_OK) == !c->code && (!c->code || !strcmp(got, c->code)), "case %d: %s, wanted %s",
                  _i, got, c->code ? c->code : "none");
    ck_assert(st != ST_OK || (file.n == 1 && array_number(&file.at[0], 1) == 'b'));
}
END_TEST

/* Two entries of one name, entries that share bytes, more entries than the end record says. */
START_TEST(two_members)
{
    struct zip_case c = {.name = "x.npy", .extra_n = -1};
    struct text t = {.arena = arena};
    make(&c, &t);
    size_t central = 30 + 5 + NPY, entry = 46 + 5;
    for (int same = 0; same < 2; same++) {
        struct text two = {.arena = arena};
        text_append(&two, t.at, central + entry);
        text_append(&two, t.at + central, entry);
        text_append(&two, t.at + central + entry, 22);
        if (!same) {
            two.at[30] = two.at[central + 46] = 'y';
            two.at[central + entry + 42] = 0;
        }
        two.at[two.n - 14] = two.at[two.n - 12] = (char)(1 + same);
        two.at[two.n - 10] = (char)(2 * entry);
        diag_init(&sink, arena, NULL);
        ck_assert_int_eq(npz_parse(arena, "t", two.at, two.n, &sink, &file), ST_DATA);
        ck_assert_str_eq(diag_name(sink.list.at[0].code), same ? "F3012" : "F3010");
    }
}
END_TEST

/* Sizes beyond the 32 bits in which zlib counts: refused by what is there, not by what is claimed. */
START_TEST(sizes_beyond_32_bits)
{
    static const unsigned char stored[] = {1, 3, 0, 0xfc, 0xff, 'a', 'b', 'c'};
    unsigned char to[3];
    uint64_t huge = (uint64_t)UINT32_MAX + 7;
    ck_assert(inflate_exactly(stored, sizeof stored, to, 3, INFLATE_RAW));
    ck_assert(!memcmp(to, "abc", 3));
    ck_assert(!inflate_exactly(stored, sizeof stored, to, huge, INFLATE_RAW));
    ck_assert(!inflate_exactly(stored, huge, to, 3, INFLATE_RAW));
    ck_assert_uint_eq(inflate_start(stored, sizeof stored, to, huge, INFLATE_RAW), 3);
    ck_assert(!inflate_exactly(stored, sizeof stored, to, 2, INFLATE_RAW));
    ck_assert(!inflate_exactly(stored, sizeof stored - 1, to, 3, INFLATE_RAW));
}
END_TEST

/* An npz that cannot say its sizes is refused before anything is copied: the bytes are not there. */
START_TEST(too_large_to_write)
{
    int64_t rows[] = {(int64_t)1 << 29, (int64_t)1 << 28};
    char *name = arena_alloc(arena, 70000);
    memset(name, 'n', 65532);
    for (int i = 0; i < 3; i++) {
        struct array x[2];
        for (int k = 0; k < 2; k++) {
            x[k] = (struct array){.name = k ? "b" : "a", .type = FT_F64, .item_bytes = 8, .rank = 1};
            x[k].dim[0] = i < 2 ? rows[i] : 1;
            x[k].n_bytes = 8 * (uint64_t)x[k].dim[0];
        }
        x[1].name = i == 2 ? name : x[1].name;
        diag_init(&sink, arena, NULL);
        ck_assert_int_eq(npz_write("never.npz", x, 2, &sink), ST_DATA);
        ck_assert_str_eq(diag_name(sink.list.at[0].code), "F3016");
        ck_assert_ptr_nonnull(strstr(sink.list.at[0].message, i == 2 ? "65532 bytes" : "4 GiB"));
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("zip");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, one_member, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(t, two_members);
    tcase_add_test(t, sizes_beyond_32_bits);
    tcase_add_test(t, too_large_to_write);
    return suite_run("zip", t, CK_FORK);
}
