/* npy and npz: files made by NumPy (make_files.py), own files read back, and damaged files. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include "tests/format/common.h"

#define FILES GML_SOURCE "/tests/format/files/"

static enum status read_one(const char *name)
{
    diag_init(&sink, arena, NULL);
    return npz_read(arena, arena_printf(arena, FILES "%s", name), &sink, &file);
}

static void expect(const char *name, const char *code)
{
    ck_assert_int_eq(read_one(name), ST_DATA);
    ck_assert_uint_eq(sink.list.n, 1);
    ck_assert_str_eq(diag_name(sink.list.at[0].code), code);
}

START_TEST(numpy_arrays)
{
    ck_assert_int_eq(read_one("float.npy"), ST_OK);
    ck_assert_uint_eq(file.n, 1);
    const struct array *x = &file.at[0];
    ck_assert_int_eq(x->type, FT_F32);
    ck_assert_int_eq(x->rank, 2);
    ck_assert_int_eq(x->dim[0], 2);
    ck_assert_int_eq(x->dim[1], 3);
    for (int64_t i = 0; i < array_count(x); i++) {
        ck_assert(array_number(x, i) == (double)i / 4);
    }
    ck_assert_uint_eq((uintptr_t)x->bytes % 16, 0);
    ck_assert_int_eq(read_one("scalar.npy"), ST_OK);
    ck_assert_int_eq(file.at[0].rank, 0);
    ck_assert(array_number(&file.at[0], 0) == -2.5);
    ck_assert_int_eq(read_one("empty.npy"), ST_OK);
    ck_assert_int_eq(array_count(&file.at[0]), 0);
    expect("fortran.npy", "F3005");
    expect("big_endian.npy", "F3004");
    expect("complex.npy", "F3004");
    expect("object.npy", "F3004");
    ck_assert_ptr_nonnull(strstr(sink.list.at[0].message, "pickle"));
    expect("record.npy", "F3004");
}
END_TEST

START_TEST(numpy_kinds)
{
    static const struct {
        const char *name;
        double a, b;
    } want[] = {{"b1", 1, 0},
                {"u1", 0, 255},
                {"i1", -128, 127},
                {"u2", 0, 65535},
                {"i2", -32768, 32767},
                {"u4", 0, 4294967295.0},
                {"i4", -2147483648.0, 2147483647},
                {"u8", 0, 9007199254740992.0},
                {"i8", -9007199254740992.0, 9007199254740992.0},
                {"f2", -0.5, 0},
                {"f4", (double)0.1f, -INFINITY},
                {"f8", 0.1, 1e300}};
    ck_assert_int_eq(read_one("kinds.npz"), ST_OK);
    ck_assert_uint_eq(file.n, 14);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct array *x = array_find(&file, want[i].name);
        ck_assert_ptr_nonnull(x);
        ck_assert_msg(array_number(x, 0) == want[i].a, "%s", want[i].name);
        if (x->type != FT_F16) {
            ck_assert_msg(array_number(x, 1) == want[i].b, "%s", want[i].name);
        }
    }
    /* 6.1e-5 is a subnormal half: 1023 * 2^-24 */
    ck_assert(array_number(array_find(&file, "f2"), 1) == 1023 * 0x1p-24);
    ck_assert_str_eq(array_string(arena, array_find(&file, "text"), 0), "train");
    ck_assert_str_eq(array_string(arena, array_find(&file, "text"), 1), "t\xc3\xa9st \xf0\x9f\x98\x80");
    ck_assert_str_eq(array_string(arena, array_find(&file, "bytes"), 0), "ab");
    ck_assert_str_eq(array_string(arena, array_find(&file, "bytes"), 1), "");
    ck_assert_int_eq(read_one("packed.npz"), ST_OK);
    ck_assert_int_eq(array_count(array_find(&file, "x")), 1600);
    ck_assert(array_number(array_find(&file, "y"), 39) == 39);
    ck_assert_ptr_null(array_find(&file, "z"));
}
END_TEST

START_TEST(halves)
{
    static const unsigned short bits[] = {0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x8000};
    static const double want[] = {1, -1, INFINITY, -INFINITY, 0, 0x1p-24, 0};
    struct array x = {.type = FT_F16, .item_bytes = 2, .rank = 1, .dim = {7}, .bytes = bits, .n_bytes = 14};
    for (int i = 0; i < 7; i++) {
        ck_assert(i == 4 ? isnan(array_number(&x, i)) : array_number(&x, i) == want[i]);
    }
}
END_TEST

START_TEST(round_trips)
{
    static const float values[] = {1, -2, 0.5f, 3e38f};
    static const unsigned short brain[] = {0x3f80, 0xc000, 0x3eab, 0x7f80, 0x0001};
    static const float wide[] = {1, -2, 0x1.56p-2f, INFINITY, 0x1p-133f};
    struct array list[] = {
        {.name = "f",
         .type = FT_F32,
         .item_bytes = 4,
         .rank = 2,
         .dim = {2, 2},
         .bytes = values,
         .n_bytes = 16},
        {.name = "t",
         .type = FT_BYTES,
         .item_bytes = 3,
         .rank = 1,
         .dim = {2},
         .bytes = "abcxy",
         .n_bytes = 6},
        {.name = "s", .type = FT_BOOL, .item_bytes = 1, .rank = 0, .bytes = "\1", .n_bytes = 1}};
    struct array bf = {
        .name = "b", .type = FT_BF16, .item_bytes = 2, .rank = 1, .dim = {5}, .bytes = brain, .n_bytes = 10};
    char path[] = "/tmp/gml_format_XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(npz_write(path, list, 3, &sink), ST_OK);
    ck_assert_int_eq(npz_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_str_eq(file.at[i].name, list[i].name);
        ck_assert_int_eq(file.at[i].rank, list[i].rank);
        ck_assert_uint_eq(file.at[i].n_bytes, list[i].n_bytes);
        ck_assert_mem_eq(file.at[i].bytes, list[i].bytes, list[i].n_bytes);
    }
    ck_assert_int_eq(npz_write(path, list, 0, &sink), ST_OK);
    ck_assert_int_eq(npz_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, 0);
    ck_assert_int_eq(npy_write(path, &list[0], &sink), ST_OK);
    ck_assert_int_eq(npz_read(arena, path, &sink, &file), ST_OK);
    ck_assert(array_number(&file.at[0], 3) == (double)3e38f);
    for (int single = 0; single < 2; single++) { /* NumPy has no bf16 */
        ck_assert_int_eq(single ? npy_write(path, &bf, &sink) : npz_write(path, &bf, 1, &sink), ST_OK);
        ck_assert_int_eq(npz_read(arena, path, &sink, &file), ST_OK);
        ck_assert_int_eq(file.at[0].type, FT_F32);
        ck_assert_int_eq(file.at[0].dim[0], 5);
        ck_assert_mem_eq(file.at[0].bytes, wide, sizeof wide);
    }
    ck_assert_uint_eq(sink.list.n, 0);
    struct array *many = arena_array(arena, struct array, LIMIT_ZIP_MEMBERS + 1);
    for (int i = 0; i <= LIMIT_ZIP_MEMBERS; i++) {
        many[i] = list[2];
        many[i].name = arena_printf(arena, "s%d", i);
    }
    ck_assert_int_eq(npz_write(path, many, LIMIT_ZIP_MEMBERS + 1, &sink), ST_DATA);
    ck_assert_str_eq(diag_name(sink.list.at[sink.list.n - 1].code), "F3016");
    ck_assert_int_eq(npz_write(path, many, LIMIT_ZIP_MEMBERS, &sink), ST_OK);
    ck_assert_int_eq(npz_read(arena, path, &sink, &file), ST_OK);
    ck_assert_uint_eq(file.n, LIMIT_ZIP_MEMBERS);
    char *name = arena_alloc(arena, 70000);
    memset(name, 'n', 65532);
    many[0].name = name;
    ck_assert_int_eq(npz_write(path, many, 1, &sink), ST_DATA);
    ck_assert_str_eq(diag_name(sink.list.at[sink.list.n - 1].code), "F3016");
    ck_assert_int_ne(npz_read(arena, "/nowhere/x.npz", &sink, &file), ST_OK);
    unlink(path);
}
END_TEST

/* -- Headers by hand */
static enum status parse_header(const char *dict, size_t data)
{
    size_t n = strlen(dict);
    char *bytes = arena_alloc(arena, 10 + n + data);
    memcpy(bytes, "\x93NUMPY\1\0", 8);
    bytes[8] = (char)(n & 255);
    bytes[9] = (char)(n >> 8);
    memcpy(bytes + 10, dict, n);
    diag_init(&sink, arena, NULL);
    return npz_parse(arena, "t.npy", bytes, 10 + n + data, &sink, &file);
}

START_TEST(headers)
{
    static const struct {
        const char *dict;
        size_t data;
        const char *code;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n", 8, NULL},
        {"{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", 24, NULL},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", 8, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3,)}", 24, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, "F3003"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", 4, "F3003"},
        {"{'descr': '<f4', 'fortran_order': None, 'shape': ()}", 4, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()", 4, "F3003"},
        {"{'descr': '<U000', 'fortran_order': False, 'shape': (15807, 3, 370, 77503)}", 0, "F3004"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, "F3003"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': ()}", 4, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", 8, "F3006"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 4)}", 8, "F3006"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1099511627776, 0)}", 0, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4, "F3006"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,)}", 80, "F3007"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, "F3007"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, "F3007"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '<U99999999999', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,)}", 8, "F3004"},
        {"{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", 2, "F3004"},
        {"", 0, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False,\t'shape': (2,)\t}\n\n", 8, NULL},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (00000000000000000000000002,)}", 2, NULL},
        {"{'descr': '=f4', 'fortran_order': False, 'shape': (2,)}", 8, NULL},
        {"{'descr': '>u1', 'fortran_order': False, 'shape': (2,)}", 2, NULL},
        {"{'descr': '>S2', 'fortran_order': False, 'shape': (2,)}", 4, NULL},
        {"{'descr': '<S1048576', 'fortran_order': False, 'shape': (0,)}", 0, NULL},
        {"{'descr': '<S1048577', 'fortran_order': False, 'shape': (0,)}", 0, "F3004"},
        {"{'descr': '|S99999999999999999999', 'fortran_order': False, 'shape': (0,)}", 0, "F3004"},
        {"{'descr': '|S', 'fortran_order': False, 'shape': (0,)}", 0, "F3004"},
        {"{'descr': '|S-1', 'fortran_order': False, 'shape': (0,)}", 0, "F3004"},
        {"{'descr': '|Sx', 'fortran_order': False, 'shape': (0,)}", 0, "F3004"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': 'f', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '!f4', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '<f44', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '<f', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", 32, "F3004"},
        {"{'descr': '<complicated_and_long_type_name_1', 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, "F3004"},
        {"{'descr': ", 8, "F3003"},
        {"{'descr': 4, 'fortran_order': False, 'shape': (2,)}", 8, "F3003"},
        {"{'descr': '<f4", 8, "F3003"},
        {"{'descr': '<f\\4', 'fortran_order': False, 'shape': (2,)}", 8, "F3003"},
        {"{'descr'", 8, "F3003"},
        {"{", 8, "F3003"},
        {"{3: 4}", 8, "F3003"},
        {"{'descr', '<f4'}", 8, "F3003"},
        {"{'fortran_order': False, 'shape': (2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'shape': (2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'fortran_order': False}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shade': (2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_ordex': False, 'shape': (2,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (a,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2:,)}", 8, "F3003"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", 8, "F3006"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627777,)}", 8, "F3006"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 257)}", 8, "F3006"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 256)}", 8, "F3007"},
        {"{'descr': '|S1048576', 'fortran_order': False, 'shape': (1099511627776, 256)}", 8, "F3006"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum status st = parse_header(rows[i].dict, rows[i].data);
        const char *code = sink.list.n ? diag_name(sink.list.at[0].code) : "none";
        ck_assert_msg((st == ST_OK) == !rows[i].code, "%s: %s", rows[i].dict, code);
        if (rows[i].code) {
            ck_assert_msg(strcmp(code, rows[i].code) == 0, "%s: %s", rows[i].dict, code);
        }
    }
    static const struct {
        const char *bytes;
        size_t n;
    } starts[] = {{"\x93NUMPY", 6},          {"\x93NUMPY\0\0", 8},      {"\x93NUMPY\1\1", 8},
                  {"\x93NUMPY\4\0", 8},      {"\x93NUMPY\1\0\0", 9},    {"\x93NUMPY\2\0\0\0\0", 11},
                  {"\x93NUMPX", 7},          {"\x93NUMPY\1\0\1\0", 10}, {"\x93NUMPY\4\0\0\0\0\0", 12},
                  {"\x93NUMPY\1\1\0\0", 10}, {"\x93NUMPY\0\1\0\0", 10}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        ck_assert_int_eq(npz_parse(arena, "t", starts[i].bytes, starts[i].n, &sink, &file), ST_DATA);
    }
    ck_assert_int_eq(npz_parse(arena, "t", "\x93NUMPY\2\0\xff\xff\xff\xff", 12, &sink, &file), ST_DATA);
    ck_assert_str_eq(diag_name(sink.list.at[sink.list.n - 1].code), "F3002");
}
END_TEST

/* -- Damage */
static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *bytes = malloc(1 << 16);
    *n = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

static volatile unsigned char touched; /* keeps the reads of accepted data */

/* Parses from a block of exactly n bytes; whatever is accepted must be consistent. */
static enum status parse_exact(const char *bytes, size_t n)
{
    char *copy = malloc(n ? n : 1);
    struct arena *a = arena_new();
    struct array_file f;
    memcpy(copy, bytes, n);
    diag_init(&sink, a, NULL);
    enum status st = npz_parse(a, "t", copy, n, &sink, &f);
    ck_assert(st == ST_OK ? sink.list.n == 0 : st == ST_DATA && sink.list.n == 1 && f.n == 0);
    free(copy);
    for (uint32_t i = 0; i < f.n; i++) {
        const struct array *x = &f.at[i];
        ck_assert_uint_eq(x->n_bytes, (uint64_t)array_count(x) * x->item_bytes);
        for (uint64_t k = 0; k < x->n_bytes; k++) {
            touched ^= ((const unsigned char *)x->bytes)[k];
        }
        for (int64_t k = 0; k < array_count(x) && k < 4; k++) {
            if (x->type >= FT_BYTES) {
                array_string(a, x, k);
            } else {
                array_number(x, k);
            }
        }
    }
    arena_free(a);
    return st;
}

START_TEST(damaged_files)
{
    DIR *dir = opendir(FILES);
    int files = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".np")) {
            continue;
        }
        char path[512];
        size_t n;
        snprintf(path, sizeof path, FILES "%s", e->d_name);
        char *bytes = slurp(path, &n);
        bool whole = parse_exact(bytes, n) == ST_OK;
        for (size_t i = 0; i < n; i++) {
            ck_assert_msg(parse_exact(bytes, i) != ST_OK, "%s cut off at %zu", e->d_name, i);
        }
        for (size_t i = 0; i < n; i++) {
            static const unsigned char flips[] = {0xFF, 0x01, 0x80};
            for (size_t k = 0; k < sizeof flips; k++) {
                bytes[i] ^= (char)flips[k];
                parse_exact(bytes, n);
                bytes[i] ^= (char)flips[k];
            }
        }
        ck_assert(!whole || parse_exact(bytes, n) == ST_OK);
        bytes[n] = 0;
        ck_assert_msg(parse_exact(bytes, n + 1) != ST_OK, "%s with a byte more", e->d_name);
        free(bytes);
        files++;
    }
    closedir(dir);
    ck_assert_int_eq(files, 10);
}
END_TEST

/* A claim of 16 GiB from a few bytes, an unknown method, a wrong checksum, two members of one name. */
static void patch(size_t offset, const char *bytes, size_t n, const char *code)
{
    size_t size;
    char *zip = slurp(FILES "packed.npz", &size);
    size_t end = size - 22, at = (unsigned char)zip[end + 16] | (size_t)(unsigned char)zip[end + 17] << 8;
    memcpy(zip + at + offset, bytes, n);
    ck_assert_int_eq(npz_parse(arena, "t", zip, size, &sink, &file), ST_DATA);
    ck_assert_str_eq(diag_name(sink.list.at[sink.list.n - 1].code), code);
    free(zip);
}

START_TEST(false_directories)
{
    patch(24, "\xfe\xff\xff\x7f", 4, "F3014");
    patch(10, "\x0c", 1, "F3011");
    patch(8, "\x01", 1, "F3011");
    patch(16, "\0\0\0\0", 4, "F3013");
    patch(46, "/", 1, "F3012");
    patch(46, "y", 1, "F3010"); /* the local header still says x */
    patch(42, "\xff\xff\xff\x7f", 4, "F3010");
    patch(24, "\x01", 1, "F3015");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("npy");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, numpy_arrays);
    tcase_add_test(t, numpy_kinds);
    tcase_add_test(t, halves);
    tcase_add_test(t, round_trips);
    tcase_add_test(t, headers);
    tcase_add_test(t, damaged_files);
    tcase_add_test(t, false_directories);
    return suite_run("npy", t, CK_FORK);
}
