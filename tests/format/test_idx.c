/* idx files (made by make_files.py), plain and gzip: values, one file per rule, damaged files; and which
 * reader a file goes to. */
#include <stdlib.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "tests/format/common.h"

#define FILES GML_SOURCE "/tests/format/files/"

static enum status parse_n(const void *bytes, size_t n)
{
    char *exact = malloc(n ? n : 1);
    memcpy(exact, bytes, n);
    diag_init(&sink, arena, NULL);
    enum status st = idx_parse(arena, "t", exact, n, &sink, &file);
    free(exact);
    return st;
}
static const char *code(void)
{
    return sink.list.n == 1 ? diag_name(sink.list.at[0].code) : "not one diagnostic";
}
static enum status read_one(const char *name)
{
    diag_init(&sink, arena, NULL);
    return arrays_read(arena, arena_printf(arena, FILES "%s", name), &sink, &file);
}

START_TEST(values)
{
    static const struct {
        const char *name;
        enum file_type type;
        int from;
    } want[] = {{"u8", FT_U8, 0},     {"i8", FT_I8, -50},   {"i16", FT_I16, -50},
                {"i32", FT_I32, -50}, {"f32", FT_F32, -50}, {"f64", FT_F64, -50}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_int_eq(read_one(arena_printf(arena, "%s-idx2-ubyte", want[i].name)), ST_OK);
        const struct array *x = &file.at[0];
        ck_assert(file.n == 1 && x->type == want[i].type && x->rank == 2 && x->dim[0] == 2 && x->dim[1] == 3);
        ck_assert_str_eq(x->name, "");
        for (int k = 0; k < 6; k++) {
            ck_assert_msg(array_number(x, k) == want[i].from + 20 * k, "%s", want[i].name);
        }
    }
    ck_assert_int_eq(read_one("labels-idx1-ubyte.gz"), ST_OK);
    ck_assert(file.at[0].type == FT_U8 && file.at[0].dim[0] == 40 && array_number(&file.at[0], 39) == 9);
}
END_TEST

START_TEST(rules)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *code;
    } rows[] = {
        {"", 0, "F3401"},
        {"\0\0\10", 3, "F3401"},
        {"\0\0\10\1\0\0\0\0", 8, NULL},
        {"\0\0\10\1\0\0\0\2ab", 10, NULL},
        {"\0\0\10\2\0\0\0\2\0\0\0\1ab", 14, NULL},
        {"\0\0\10\1\0\0\0\2a", 9, "F3402"},
        {"\0\0\10\1\0\0\0\2abc", 11, "F3402"},
        {"\0\0\10\1\0\0\0", 7, "F3402"},
        {"\1\0\10\1\0\0\0\1a", 9, "F3401"},
        {"\0\1\10\1\0\0\0\1a", 9, "F3401"},
        {"\0\0\12\1\0\0\0\1a", 9, "F3401"},
        {"\0\0\10\0a", 5, "F3401"},
        {"\0\0\10\11\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1a", 41, "F3401"},
        {"\0\0\16\2\377\377\377\377\377\377\377\377", 12, "F3403"},
        {"\0\0\16\1\377\377\377\377", 8, "F3402"},
        {"\0\0\16\3\377\377\377\377\377\377\377\377\0\0\0\0", 16, NULL},
        {"\x1F\x8B", 2, "F3404"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum status st = parse_n(rows[i].bytes, rows[i].n);
        ck_assert_msg((st == ST_OK) == !rows[i].code, "row %zu", i);
        ck_assert_msg(!rows[i].code || !strcmp(code(), rows[i].code), "row %zu: %s", i, code());
    }
    ck_assert_int_eq(read_one("bomb-idx1-ubyte.gz"), ST_DATA);
    ck_assert_str_eq(code(), "F3403");
    ck_assert_int_eq(read_one("text.csv.gz"), ST_DATA);
    ck_assert_str_eq(code(), "F3405");
}
END_TEST

START_TEST(damage)
{
    static const char *const names[] = {"i16-idx2-ubyte", "f64-idx2-ubyte", "labels-idx1-ubyte.gz"};
    static const unsigned char flips[] = {0, 0xFF, 0x01, 0x80};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        char *bytes;
        size_t n;
        bool packed = f == 2;
        ck_assert_int_eq(file_read(arena, arena_printf(arena, FILES "%s", names[f]), 4096, &bytes, &n, &sink),
                         ST_OK);
        for (size_t i = 0; i < sizeof flips * n; i++) {
            size_t size = i < n ? i : n;
            bytes[i % n] ^= (char)(i < n ? 0 : flips[i / n]);
            enum status st = parse_n(bytes, size);
            bytes[i % n] ^= (char)(i < n ? 0 : flips[i / n]);
            ck_assert(i >= n || st == ST_DATA);
            ck_assert(st == ST_OK ? sink.list.n == 0 && file.n == 1 : sink.list.n == 1 && file.n == 0);
            ck_assert(st != ST_OK || !packed || file.at[0].n_bytes == 40);
        }
        char *more = arena_alloc(arena, n + 1);
        memcpy(more, bytes, n);
        ck_assert_int_eq(parse_n(more, n + 1), ST_DATA);
    }
}
END_TEST

/* Content counts more than the name where it is sure; the name decides otherwise. */
START_TEST(which_reader)
{
    static const struct {
        const char *path, *bytes;
        size_t n;
        const char *code; /* NULL: read */
    } rows[] = {
        {"a.csv", "a\n1\n", 4, NULL},
        {"A.CSV", "a\n1\n", 4, NULL},
        {"a.tsv", "a\tb\n1\t2\n", 8, NULL},
        {"a.csv", "a,a\n", 4, "F4003"},
        {"a.txt", "a\n1\n", 4, "F3008"},
        {".csv", "a\n1\n", 4, "F3008"},
        {"a", "", 0, "F3008"},
        {"a.safetensors", "\2\0\0\0\0\0\0\0{}", 10, NULL},
        {"weights", "\2\0\0\0\0\0\0\0{}", 10, NULL},
        {"weights", "\2\0\0\0\0\0\0\0[]", 10, "F3008"},
        {"weights.csv", "\2\0\0\0\0\0\0\0{}", 10, "F4001"},
        {"a.safetensors", "a\n1\n", 4, "F2001"},
        {"a.npz", "a\n1\n", 4, "F3001"},
        {"a.csv", "\x93NUMPY", 6, "F3001"},
        {"a.csv", "PK\3\4", 4, "F3010"},
        {"labels.idx", "\0\0\10\1\0\0\0\1a", 9, NULL},
        {"labels-idx1-ubyte", "\0\0\7\1\0\0\0\1a", 9, "F3401"},
        {"x.gz", "\0\0\10\1\0\0\0\1a", 9, NULL},
        {"x.csv", "\x1F\x8B", 2, "F3404"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        diag_init(&sink, arena, NULL);
        enum status st = arrays_parse(arena, rows[i].path, rows[i].bytes, rows[i].n, &sink, &file);
        ck_assert_msg((st == ST_OK) == !rows[i].code, "%s %zu", rows[i].path, i);
        ck_assert_msg(!rows[i].code || !strcmp(code(), rows[i].code), "%s %zu: %s", rows[i].path, i, code());
    }
    ck_assert_int_eq(arrays_read(arena, "/nowhere/x.csv", &sink, &file), ST_DATA);
}
END_TEST

START_TEST(which_writer)
{
    static const float f[] = {1, 2};
    static const struct array x[] = {
        {.name = "x", .type = FT_F32, .item_bytes = 4, .rank = 1, .dim = {2}, .bytes = f, .n_bytes = 8},
        {.name = "y", .type = FT_F32, .item_bytes = 4, .rank = 1, .dim = {2}, .bytes = f, .n_bytes = 8}};
    static const char *const endings[] = {".csv", ".npz", ".safetensors", ".npy"};
    for (size_t i = 0; i < 4; i++) {
        char *path = arena_printf(arena, "/tmp/gml_format_XXXXXX%s", endings[i]);
        uint32_t n = i == 3 ? 1 : 2;
        close(mkstemps(path, (int)strlen(endings[i])));
        ck_assert(arrays_can_write(path));
        ck_assert_int_eq(arrays_write(path, x, n, &sink), ST_OK);
        ck_assert_int_eq(arrays_read(arena, path, &sink, &file), ST_OK);
        ck_assert(file.n == n && array_number(&file.at[n - 1], 1) == 2);
        unlink(path);
    }
    ck_assert_int_eq(arrays_write("x.npy", x, 2, &sink), ST_DATA);
    ck_assert_int_eq(arrays_write("x.tsv", x, 2, &sink), ST_DATA);
    ck_assert_int_eq(arrays_write("x", x, 2, &sink), ST_DATA);
    ck_assert(!arrays_can_write("x.txt"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("idx");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, values);
    tcase_add_test(t, rules);
    tcase_add_test(t, damage);
    tcase_add_test(t, which_reader);
    tcase_add_test(t, which_writer);
    return suite_run("idx", t, CK_FORK);
}
