/* CSV: cells, kinds, one row per rule, damaged files, and what is written reads back. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/format/common.h"

/* In a block of exactly its size. */
static enum status parse_n(const char *text, size_t n)
{
    char *exact = malloc(n ? n : 1);
    memcpy(exact, text, n);
    diag_init(&sink, arena, NULL);
    enum status st = csv_file_parse(arena, "t.csv", exact, n, &sink, &file);
    free(exact);
    return st;
}
static enum status parse(const char *text)
{
    return parse_n(text, strlen(text));
}
static const char *code(void)
{
    return sink.list.n == 1 ? diag_name(sink.list.at[0].code) : "not one diagnostic";
}
static const char *message(void)
{
    return sink.list.n ? sink.list.at[0].message : "";
}

START_TEST(columns_and_kinds)
{
    const char *text = "\xEF\xBB\xBFid, x ,name,\"a, \"\"b\"\"\",none\r\n"
                       "1,0.5,ada,1e3,\r\n"
                       "-2,-1,\"two\r\nlines\",+4,\r\n"
                       "9223372036854775807,.25,\xC3\xA9,5.,\r\n\r\n";
    ck_assert_msg(parse(text) == ST_OK, "%s", message());
    ck_assert_uint_eq(file.n, 5);
    const struct array *id = array_find(&file, "id"), *x = array_find(&file, "x"),
                       *name = array_find(&file, "name"), *b = array_find(&file, "a, \"b\""),
                       *none = array_find(&file, "none");
    ck_assert(id && x && name && b && none);
    ck_assert(id->type == FT_I64 && ((const int64_t *)id->bytes)[2] == INT64_MAX && !id->note);
    ck_assert(x->type == FT_F64 && array_number(x, 0) == 0.5 && array_number(x, 1) == -1);
    ck_assert(b->type == FT_F64 && array_number(b, 0) == 1000 && array_number(b, 1) == 4);
    ck_assert(array_number(b, 2) == 5 && array_number(x, 2) == 0.25);
    ck_assert_int_eq(name->type, FT_STRING);
    ck_assert_str_eq(array_string(arena, name, 1), "two\r\nlines");
    ck_assert_str_eq(array_string(arena, name, 2), "\xC3\xA9");
    ck_assert(none->type == FT_F64 && isnan(array_number(none, 0)));
    for (uint32_t i = 0; i < file.n; i++) {
        ck_assert(file.at[i].rank == 1 && file.at[i].dim[0] == 3 && file.at[i].n_bytes == 24);
    }
    ck_assert_int_eq(array_need_numbers(x, "t.csv", &sink), ST_OK);
    ck_assert_int_eq(array_need_numbers(name, "t.csv", &sink), ST_DATA);
    ck_assert_str_eq(message(), "t.csv: column `name`, line 2, column 3: `ada` is no number");
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(array_need_numbers(none, "t.csv", &sink), ST_DATA);
    ck_assert_str_eq(message(), "t.csv: column `none`, line 2, column 5: `` is a missing value");
    ck_assert_str_eq(code(), "F4005");
    struct array fixed = {
        .name = "t", .type = FT_BYTES, .item_bytes = 1, .rank = 1, .dim = {1}, .bytes = "x"};
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(array_need_numbers(&fixed, "t.npz", &sink), ST_DATA);
    ck_assert_str_eq(code(), "F3107");
}
END_TEST

/* Kind of a column with these cells: w whole, r real, t text; m: and a missing value. */
START_TEST(cells)
{
    static const struct {
        const char *cells, *kind;
    } rows[] = {{"1\n2", "w"},
                {"1\n2.0", "r"},
                {"1\nNA", "rm"},
                {"nan\nNaN\nn/a\nnull\nNone\n\"\"", "rm"},
                {"9223372036854775808", "r"},
                {"-9223372036854775807", "w"},
                {"1e308", "r"},
                {"1e999", "t"},
                {"inf", "t"},
                {"0x10", "t"},
                {"1e", "t"},
                {"-", "t"},
                {"+", "t"},
                {".", "t"},
                {"1-1", "t"},
                {"--1", "t"},
                {"1 2", "t"},
                {"nano", "t"},
                {"\"1,5\"", "t"},
                {"1\nx\nNA", "tm"},
                {"0000000000000000000000000000000000000000000000000000000000000001", "w"},
                {"00000000000000000000000000000000000000000000000000000000000000001", "t"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = arena_printf(arena, "x\n%s\n", rows[i].cells);
        ck_assert_msg(parse(text) == ST_OK, "%s: %s", text, message());
        const struct array *x = &file.at[0];
        char kind = x->type == FT_I64 ? 'w' : x->type == FT_F64 ? 'r' : 't';
        ck_assert_msg(kind == rows[i].kind[0], "%s: %c", rows[i].cells, kind);
        ck_assert_msg((x->note != NULL) == (kind == 't' || rows[i].kind[1] == 'm'), "%s", rows[i].cells);
    }
    ck_assert_int_eq(parse("x,y\n1,\"3,5\"\n"), ST_OK);
    ck_assert_str_eq(array_find(&file, "y")->note, "line 2, column 2: `3,5` has a decimal comma");
    ck_assert_int_eq(
        parse("x\n1\n\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
              "aaa\xC3\xA9\xC3\xA9\n"),
        ST_OK);
    ck_assert_ptr_nonnull(strstr(file.at[0].note, "\xC3\xA9"
                                                  "aaa` is no"));
    ck_assert_int_eq(parse("x\n\"a\nb\"\n"), ST_OK);
    ck_assert_str_eq(file.at[0].note, "line 3, column 1: `a` is no number");
}
END_TEST

START_TEST(rules)
{
    static const struct {
        const char *text, *code, *part;
    } rows[] = {
        {"a,b\n1,2", NULL, NULL},
        {"a,b\n1,\"2\"", NULL, NULL},
        {"a\n1\n\n\n", NULL, NULL},
        {"a,b\n", NULL, NULL},
        {"a,b", NULL, NULL},
        {",x\n0,1\n", NULL, NULL},
        {"a,,\n0,1,2\n", NULL, NULL},
        {"", "F4001", "empty"},
        {"\n\n", "F4001", "empty"},
        {"\xEF\xBB\xBF", "F4001", "empty"},
        {"\xFF\xFE"
         "a",
         "F4001", "line 1, byte 1: not UTF-8"},
        {"a\n1\n\xC3(\n", "F4001", "line 3, byte 1: not UTF-8"},
        {"a,b\n1,2\n3\n", "F4002", "line 3 has 1 cells, the header has 2"},
        {"a,b\n1,2,3\n", "F4002", "line 2 has 3 cells, the header has 2"},
        {"a,b\n1,\"x\ny\"\n3,4,5", "F4002", "line 4 has 3"},
        {"a\n1\n\n2\n", "F4002", "line 3 is blank"},
        {"a\n1\n  \t\n2", "F4002", "line 3 is blank"},
        {"\na\n1\n", "F4002", "line 1 is blank"},
        {"1,2\n3,4\n", "F4003", "only numbers"},
        {"1,NA\n3,4\n", "F4003", "only numbers"},
        {",,\n3,4,5\n", "F4003", "no names"},
        {"b,a,b\n1,2,3\n", "F4003", "two columns are called `b`"},
        {"a;b\n1;2\n", "F4003", "semicolons"},
        {"a\x01,b\n1,2\n", "F4003", "column 1"},
        {"a,b\n1,2\"3\n", "F4007", "line 2, byte 4"},
        {"a,b\n1,\"2\"3\n", "F4007", "line 2, byte 6"},
        {"a,b\n1,\"2\n3,4\n", "F4007", "line 2: a quotation mark is opened"},
        {"a,b\r1,2\r", "F4008", "line 1"},
        {"a,b\n1,\"x\ry\"\n", "F4008", "line 2"},
        {"a,b\r\r\n1,2\n", "F4008", "line 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum status st = parse(rows[i].text);
        ck_assert_msg((st == ST_OK) == !rows[i].code, "%s: %s", rows[i].text, message());
        ck_assert_msg(!rows[i].code || (st == ST_DATA && !strcmp(code(), rows[i].code) &&
                                        strstr(message(), rows[i].part) && file.n == 0),
                      "%s: %s %s", rows[i].text, code(), message());
    }
    ck_assert_int_eq(parse_n("a\n1\0\n", 5), ST_DATA);
    ck_assert_str_eq(message(), "t.csv: line 2, byte 2: a NUL byte: this is no text, or UTF-16");
}
END_TEST

/* A file of a header and one row of two cells that has n bytes in its row, cut over `lines` lines. */
static enum status row_of(size_t n, size_t lines)
{
    char *text = malloc(n + 4);
    memcpy(text, "a,b\n1,\"", 7);
    memset(text + 7, 'x', n - 5);
    for (size_t i = 1; i < lines; i++) {
        text[7 + i * ((n - 5) / lines)] = '\n';
    }
    memcpy(text + 4 + n - 2, "\"\n", 2);
    enum status st = parse_n(text, n + 4);
    free(text);
    return st;
}
static enum status columns_of(size_t n)
{
    struct text t = {.arena = arena};
    for (size_t i = 0; i < n; i++) {
        text_printf(&t, "%sc%zu", i ? "," : "", i);
    }
    return parse_n(t.at, t.n);
}
static enum status name_of(size_t n)
{
    char name[300];
    memset(name, 'x', sizeof name);
    memcpy(name + n, "\n1\n", 4);
    return parse(name);
}

START_TEST(limits)
{
    static const size_t lines[] = {1, 2, 7};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_int_eq(row_of(LIMIT_CSV_ROW, lines[i]), ST_OK);
        ck_assert_int_eq(row_of(LIMIT_CSV_ROW + 1, lines[i]), ST_DATA);
        ck_assert_str_eq(code(), "F4006");
    }
    ck_assert_int_eq(columns_of(LIMIT_CSV_COLUMNS), ST_OK);
    ck_assert_int_eq(columns_of(LIMIT_CSV_COLUMNS + 1), ST_DATA);
    ck_assert_str_eq(code(), "F4009");
    ck_assert_int_eq(name_of(LIMIT_IDENTIFIER), ST_OK);
    ck_assert_int_eq(name_of(LIMIT_IDENTIFIER + 1), ST_DATA);
    ck_assert_str_eq(code(), "F4003");
}
END_TEST

/* Every prefix and every byte changed in several ways: refused with one message, or consistent. */
START_TEST(damage)
{
    static const char text[] =
        "id,\"a \"\"b\"\"\",name\r\n1,0.5,\"x, y\"\r\n2,,\xC3\xA9\r\n3,1e3,\"l\nm\"\r\n";
    static const unsigned char flips[] = {0, 0xFF, 0x01, 0x80, 0x20};
    size_t n = sizeof text - 1;
    for (size_t i = 0; i < sizeof flips * n; i++) {
        struct arena *a = arena_new();
        size_t size = i < n ? i : n;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, text, size);
        if (i >= n) {
            copy[i % n] ^= (char)flips[i / n];
        }
        diag_init(&sink, a, NULL);
        enum status st = csv_file_parse(a, "t", copy, size, &sink, &file);
        free(copy);
        ck_assert(st == ST_OK ? sink.list.n == 0 : st == ST_DATA && sink.list.n == 1 && file.n == 0);
        for (uint32_t k = 0; k < file.n; k++) {
            for (int64_t r = 0; r < file.at[k].dim[0]; r++) {
                const char *s = file.at[k].type == FT_STRING ? array_string(a, &file.at[k], r) : "";
                ck_assert_uint_lt(strlen(s), n);
            }
        }
        arena_free(a);
    }
}
END_TEST

START_TEST(round_trip)
{
    static const float f[] = {0.1f, -2.5f, 3e38f, 1.17549435e-38f, 16777216, 1.0f / 3};
    static const double d[] = {0.1, 1e-300};
    static const int64_t w[] = {INT64_MAX, -3};
    static const uint64_t u[] = {7, UINT64_MAX};
    static const char *const s[] = {"a \"b\", c", ""};
    static const unsigned char b[] = {1, 0}, i8[] = {0xFF, 7};
    struct array list[] = {
        {.name = "f", .type = FT_F32, .item_bytes = 4, .rank = 2, .dim = {2, 3}, .bytes = f},
        {.name = "d,\"", .type = FT_F64, .item_bytes = 8, .rank = 1, .dim = {2}, .bytes = d},
        {.name = "w", .type = FT_I64, .item_bytes = 8, .rank = 1, .dim = {2}, .bytes = w},
        {.name = "u", .type = FT_U64, .item_bytes = 8, .rank = 2, .dim = {2, 1}, .bytes = u},
        {.name = "s", .type = FT_STRING, .item_bytes = 8, .rank = 1, .dim = {2}, .bytes = s},
        {.name = "b", .type = FT_BOOL, .item_bytes = 1, .rank = 1, .dim = {2}, .bytes = b},
        {.name = "i", .type = FT_I8, .item_bytes = 1, .rank = 1, .dim = {2}, .bytes = i8},
        {.name = "none", .type = FT_F32, .item_bytes = 4, .rank = 2, .dim = {2, 0}, .bytes = f},
    };
    char path[] = "/tmp/gml_format_XXXXXX.csv";
    close(mkstemps(path, 4));
    ck_assert_int_eq(arrays_write(path, list, 8, &sink), ST_OK);
    ck_assert_int_eq(arrays_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, 9);
    for (int64_t r = 0; r < 2; r++) {
        for (int64_t k = 0; k < 3; k++) {
            const struct array *x = array_find(&file, arena_printf(arena, "f.%d", (int)k));
            ck_assert_ptr_nonnull(x);
            ck_assert((float)array_number(x, r) == f[r * 3 + k]);
        }
        ck_assert(array_number(array_find(&file, "d,\""), r) == d[r]);
        ck_assert_int_eq(((const int64_t *)array_find(&file, "w")->bytes)[r], w[r]);
        ck_assert(array_number(array_find(&file, "u.0"), r) == (double)u[r]);
        ck_assert_str_eq(array_string(arena, array_find(&file, "s"), r), s[r]);
        ck_assert(array_number(array_find(&file, "b"), r) == b[r]);
        ck_assert(array_number(array_find(&file, "i"), r) == (double)(signed char)i8[r]);
    }
    list[0].dim[0] = 1;
    ck_assert_int_eq(csv_file_write(path, list, 2, &sink), ST_DATA);
    list[0].rank = 0;
    ck_assert_int_eq(csv_file_write(path, list, 1, &sink), ST_DATA);
    ck_assert_str_eq(diag_name(sink.list.at[1].code), "F4010");
    ck_assert_int_eq(csv_file_write(path, list, 0, &sink), ST_OK);
    ck_assert_int_eq(csv_file_write("/nowhere/x.csv", list + 1, 1, &sink), ST_RESOURCE);
    unlink(path);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("csv");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, columns_and_kinds);
    tcase_add_test(t, cells);
    tcase_add_test(t, rules);
    tcase_add_test(t, limits);
    tcase_add_test(t, damage);
    tcase_add_test(t, round_trip);
    return suite_run("csv", t, CK_FORK);
}
