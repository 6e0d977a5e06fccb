/* safetensors: round trips, one header per rule, damaged files. */
#include <stdlib.h>
#include <unistd.h>
#include "tests/format/common.h"

/* A file of this header text and n zero bytes of data, in a block of exactly its size. */
static enum status parse_bytes(const char *header, size_t length, size_t data)
{
    size_t n = 8 + length + data;
    char *bytes = calloc(1, n);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (char)((uint64_t)length >> 8 * i);
    }
    memcpy(bytes + 8, header, length);
    diag_init(&sink, arena, NULL);
    enum status st = safetensors_parse(arena, "t", bytes, n, &sink, &file);
    free(bytes);
    return st;
}

static enum status parse_header(const char *header, size_t data)
{
    return parse_bytes(header, strlen(header), data);
}

static const char *code(void)
{
    return sink.list.n == 1 ? diag_name(sink.list.at[0].code) : "not one diagnostic";
}

#define T(dtype, shape, range) "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" range "]}"

START_TEST(rules)
{
    static const struct {
        const char *header;
        size_t data;
        const char *code; /* NULL: accepted */
    } rows[] = {
        {"{}", 0, NULL},
        {" \n\t{ } ", 0, NULL},
        {"{\"__metadata__\":{\"format\":\"pt\"},\"w\":" T("F32", "2,3", "0,24") "}", 24, NULL},
        {"{\"b\":" T("F64", "2", "8,24") ",\"a\":" T("F64", "", "0,8") "}", 24, NULL},
        {"{\"z\":" T("F32", "0,5", "0,0") ",\"a\":" T("U8", "3", "0,3") "}", 3, NULL},
        {"{\"a\":" T("U8", "3", "0,3") "}   ", 3, NULL},
        {"[]", 0, "F2004"},
        {"3 {}", 0, "F2004"},
        {"  ", 0, "F2004"},
        {"{\"\xff\":3}", 0, "F2005"},
        {"{\"a\"", 0, "F2006"},
        {"{} {}", 0, "F2006"},
        {"{\"a\":[[[[[[[1]]]]]]]}", 0, "F2006"},
        {"{\"a\\u0000b\":3}", 0, "F2006"},
        {"{\"a\":18446744073709551615}", 0, "F2006"},
        {"{\"a\":" T("U8", "1", "0,1") ",\"a\":" T("U8", "1", "1,2") "}", 2, "F2007"},
        {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, "F2007"},
        {"{\"a\":" T("F32", "2", "0,4") "}", 4, "F2008"},
        {"{\"a\":" T("F32", "2,9223372036854775807", "0,8") "}", 8, "F2009"},
        {"{\"a\":" T("U8", "1,1,1,1,1,1,1,1,1", "0,1") "}", 1, "F2009"},
        {"{\"a\":" T("U8", "2", "0,2") ",\"b\":" T("U8", "2", "1,3") "}", 3, "F2010"},
        {"{\"a\":" T("U8", "1", "0,1") ",\"b\":" T("U8", "1", "2,3") "}", 3, "F2011"},
        {"{\"a\":" T("U8", "1", "1,2") "}", 2, "F2011"},
        {"{\"a\":" T("U8", "1", "0,1") "}", 2, "F2012"},
        {"{}", 1, "F2012"},
        {"{\"a\":" T("U8", "1", "3,2") "}", 3, "F2013"},
        {"{\"a\":" T("U8", "4", "0,4") "}", 3, "F2001"},
        {"{\"a\":" T("F8_E4M3", "4", "0,4") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "4.0", "0,4") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "-4", "0,4") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "4", "0,4,4") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "4", "-4,0") "}", 4, "F2014"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":1}}", 1, "F2014"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", 1, "F2014"},
        {"{\"\":" T("U8", "1", "0,1") "}", 1, "F2014"},
        {"{\"a\\n\":" T("U8", "1", "0,1") "}", 1, "F2014"},
        {"{\"a\":3}", 0, "F2014"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "F2015"},
        {"{\"__metadata__\":[]}", 0, "F2015"},
        {"{\"a\":" T("F32", "2", "0,8") ",\"b\":3}", 8, "F2014"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"offsets\":[0,8]}}", 8, "F2014"},
        {"{\"a\":{\"dtype\":3,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "F2014"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, "F2014"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":8}}", 8, "F2014"},
        {"{\"a\":" T("U8", "4", "0,4.0") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "4", "0") "}", 4, "F2014"},
        {"{\"a\":" T("U8", "\"4\"", "0,4") "}", 4, "F2014"},
        {"{\"__metadata__\":{}}", 0, NULL},
        {"{\"__metadata__\":{\"a\":1,\"b\":\"c\"}}", 0, "F2015"},
        {"{\"b\":" T("U8", "0", "1,1") ",\"a\":" T("U8", "1", "0,1") ",\"c\":" T("U8", "0", "1,1") "}", 1,
         NULL},
        {"{\"a\":" T("U8", "1099511627777", "0,1") "}", 1, "F2009"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum status st = parse_header(rows[i].header, rows[i].data);
        ck_assert_msg((st == ST_OK) == !rows[i].code, "%s: %s", rows[i].header, code());
        ck_assert_msg(!rows[i].code || strcmp(code(), rows[i].code) == 0, "%s: %s", rows[i].header, code());
    }
}
END_TEST

START_TEST(lengths)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *code;
    } rows[] = {{"", 0, "F2001"},
                {"\2\0\0\0\0\0\0", 7, "F2001"},
                {"\0\0\0\0\0\0\0\0", 8, "F2003"},
                {"\1\0\0\0\0\0\0\0{", 9, "F2003"},
                {"\3\0\0\0\0\0\0\0{}", 10, "F2001"},
                {"\0\0\0\2\0\0\0\0{}", 10, "F2002"},
                {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, "F2002"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        diag_init(&sink, arena, NULL);
        ck_assert_int_eq(safetensors_parse(arena, "t", rows[i].bytes, rows[i].n, &sink, &file), ST_DATA);
        ck_assert_str_eq(code(), rows[i].code);
    }
    char *deep = arena_alloc(arena, 10001);
    memset(deep, '[', 10000);
    memcpy(deep, "{\"a\":", 5);
    ck_assert_int_eq(parse_header(deep, 0), ST_DATA);
    ck_assert_str_eq(code(), "F2006");
    char *name = arena_alloc(arena, 400);
    for (int n = 256; n <= 257; n++) {
        memset(name, 0, 400);
        strcpy(name, "{\"");
        memset(name + 2, 'a', (size_t)n);
        strcat(name, "\":" T("U8", "1", "0,1") "}");
        ck_assert_int_eq(parse_header(name, 1), n == 256 ? ST_OK : ST_DATA);
    }
}
END_TEST

/* Of n tensors without elements. */
static enum status parse_many(uint32_t n, bool metadata)
{
    struct text t = {.arena = arena};
    text_printf(&t, "{");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&t, "%s\"%u\":" T("U8", "0", "0,0"), i ? "," : "", i);
    }
    text_printf(&t, "%s}", metadata ? ",\"__metadata__\":{}" : "");
    return parse_header(t.at, 0);
}

START_TEST(counts)
{
    ck_assert_int_eq(parse_many(LIMIT_SAFETENSORS_TENSORS, true), ST_OK);
    ck_assert_uint_eq(file.n, LIMIT_SAFETENSORS_TENSORS);
    ck_assert_int_eq(parse_many(LIMIT_SAFETENSORS_TENSORS + 2, false), ST_DATA);
    ck_assert_str_eq(code(), "F2016");
}
END_TEST

/* A header one byte above the limit is not written. */
START_TEST(large_header)
{
    char *value = arena_alloc(arena, LIMIT_SAFETENSORS_HEADER + 1);
    memset(value, 'v', LIMIT_SAFETENSORS_HEADER);
    const char *const metadata[] = {"k", value, "odd", NULL};
    ck_assert_int_eq(safetensors_write("/nowhere/x", NULL, 0, metadata, &sink), ST_DATA);
    ck_assert_str_eq(code(), "F2002");
}
END_TEST

static const float floats[] = {1, -2.5f, 3e38f};
static const double doubles[] = {0.1};
static const unsigned short brains[] = {0x3f80, 0xc000, 0x7f80};
static const struct array three[] = {
    {.name = "net.fc.0.lin.w",
     .type = FT_F32,
     .item_bytes = 4,
     .rank = 2,
     .dim = {1, 3},
     .bytes = floats,
     .n_bytes = 12},
    {.name = "a \"quoted\\\" \xc3\xa9",
     .type = FT_F64,
     .item_bytes = 8,
     .rank = 0,
     .bytes = doubles,
     .n_bytes = 8},
    {.name = "b", .type = FT_BF16, .item_bytes = 2, .rank = 1, .dim = {3}, .bytes = brains, .n_bytes = 6},
};

START_TEST(round_trip)
{
    static const char *const metadata[] = {"format", "gml", "note", "a\n\"b\"", NULL};
    char path[] = "/tmp/gml_format_XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(safetensors_write(path, three, 3, metadata, &sink), ST_OK);
    ck_assert_int_eq(safetensors_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct array *x = array_find(&file, three[i].name);
        ck_assert_ptr_nonnull(x);
        ck_assert_int_eq(x->type, three[i].type);
        ck_assert_int_eq(x->rank, three[i].rank);
        ck_assert_mem_eq(x->dim, three[i].dim, sizeof(int64_t) * (size_t)x->rank);
        ck_assert_uint_eq(x->n_bytes, three[i].n_bytes);
        ck_assert_mem_eq(x->bytes, three[i].bytes, x->n_bytes);
        ck_assert_uint_eq((uintptr_t)x->bytes % x->item_bytes, 0);
    }
    ck_assert(array_number(array_find(&file, "b"), 1) == -2);
    ck_assert_int_eq(safetensors_write(path, three, 0, NULL, &sink), ST_OK);
    ck_assert_int_eq(safetensors_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, 0);
    struct array text = {.name = "t", .type = FT_BYTES, .item_bytes = 1, .bytes = "x", .n_bytes = 1};
    ck_assert_int_eq(safetensors_write(path, &text, 1, NULL, &sink), ST_DATA);
    ck_assert_int_eq(safetensors_write("/nowhere/x", three, 1, NULL, &sink), ST_RESOURCE);
    unlink(path);
    ck_assert_int_eq(safetensors_read(arena, path, &sink, &file), ST_DATA);
}
END_TEST

/* Every prefix, every byte changed in three ways: refused, or consistent. */
START_TEST(damage)
{
    char path[] = "/tmp/gml_format_XXXXXX", bytes[4096];
    close(mkstemp(path));
    ck_assert_int_eq(safetensors_write(path, three, 3, NULL, &sink), ST_OK);
    FILE *f = fopen(path, "rb");
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    unlink(path);
    for (size_t i = 0; i < 4 * n; i++) {
        static const unsigned char flips[] = {0, 0xFF, 0x01, 0x80};
        struct arena *a = arena_new();
        size_t size = i < n ? i : n;
        char *copy = malloc(size + 1);
        memcpy(copy, bytes, size);
        copy[i % n] ^= (char)flips[i / n];
        copy = realloc(copy, size ? size : 1);
        diag_init(&sink, a, NULL);
        enum status st = safetensors_parse(a, "t", copy, size, &sink, &file);
        ck_assert(i >= n || st == ST_DATA);
        ck_assert(st == ST_OK ? sink.list.n == 0 : sink.list.n == 1 && file.n == 0);
        uint64_t total = 0;
        for (uint32_t k = 0; k < file.n; k++) {
            ck_assert_uint_eq(file.at[k].n_bytes, (uint64_t)array_count(&file.at[k]) * file.at[k].item_bytes);
            total += file.at[k].n_bytes;
        }
        ck_assert(st != ST_OK || total == 26);
        free(copy);
        arena_free(a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("safetensors");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, rules);
    tcase_add_test(t, lengths);
    tcase_add_test(t, counts);
    tcase_add_test(t, large_header);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, damage);
    return suite_run("safetensors", t, CK_FORK);
}
