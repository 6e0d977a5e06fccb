/* .gmlb: bytes read back to the same bytes; truncated, flipped and forged files are refused or harmless. */
#include "tests/graph/sealed.h"

static char *bytes;
static size_t n_bytes;

static void write_sample(void)
{
    ck_assert_int_eq(gmlb_write(sample(), arena, &bytes, &n_bytes), ST_OK);
}

START_TEST(round_trip)
{
    write_sample();
    struct graph *g = NULL;
    ck_assert_msg(read_bytes(arena, bytes, n_bytes, &sink, &g) == ST_OK, "%s", first_message());
    char *again;
    size_t n;
    ck_assert_int_eq(gmlb_write(g, arena, &again, &n), ST_OK);
    ck_assert(n == n_bytes && !memcmp(again, bytes, n));
    ck_assert_str_eq(print_with(graph_print, g), print_with(graph_print, sample()));
}
END_TEST

START_TEST(no_absolute_path)
{
    struct graph *g = sample();
    g->sources.list.at[1].path = "/home/someone/models/sample.gml";
    ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n_bytes), ST_OK);
    ck_assert_ptr_null(memmem(bytes, n_bytes, "/home", 5));
    ck_assert_ptr_nonnull(memmem(bytes, n_bytes, "sample.gml", 10));
}
END_TEST

START_TEST(truncated_anywhere)
{
    write_sample();
    for (size_t n = 0; n < n_bytes; n++) {
        struct arena *a = arena_new();
        struct graph *g = NULL;
        struct diag_sink s;
        ck_assert_int_eq(read_bytes(a, bytes, n, &s, &g), ST_DATA);
        ck_assert(g == NULL && s.list.at[0].code == DIAG_F1004);
        arena_free(a);
    }
}
END_TEST

static enum diag_code code_with(size_t at, char value)
{
    struct graph *g = NULL;
    char *changed = arena_strndup(arena, bytes, n_bytes);
    changed[at] = value;
    ck_assert_int_eq(read_bytes(arena, changed, n_bytes, &sink, &g), ST_DATA);
    return sink.list.at[0].code;
}

START_TEST(headers)
{
    write_sample();
    ck_assert_int_eq(code_with(0, 'x'), DIAG_F1001);
    ck_assert_int_eq(code_with(8, 9), DIAG_F1002);
    ck_assert_int_eq(code_with(12, (char)(bytes[12] ^ 1)), DIAG_F1003);
    ck_assert_int_eq(code_with(27, (char)0xff), DIAG_F1004); /* a length near 2^64 */
    ck_assert_int_eq(code_with(20, (char)(bytes[20] - 1)), DIAG_F1005);
    ck_assert_int_eq(code_with(28, (char)(bytes[28] ^ 1)), DIAG_F1005);
    ck_assert_int_eq(code_with(40, (char)(bytes[40] ^ 1)), DIAG_F1005);
}
END_TEST

START_TEST(every_byte_flipped)
{
    write_sample();
    for (size_t i = 0; i < n_bytes; i++) {
        struct arena *a = arena_new();
        struct graph *g = NULL;
        struct diag_sink s;
        char *changed = arena_strndup(a, bytes, n_bytes);
        changed[i] = (char)(changed[i] ^ (1 << i % 8));
        ck_assert_int_eq(read_bytes(a, changed, n_bytes, &s, &g), ST_DATA);
        ck_assert(g == NULL && s.list.n > 0);
        arena_free(a);
    }
}
END_TEST

/* A forger knows the checksum: every byte set to several values. What is accepted must verify and write. */
START_TEST(forged_payload)
{
    write_sample();
    static const unsigned char value[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t accepted = 0, refused = 0;
    for (size_t i = 32; i < n_bytes; i++) {
        for (size_t k = 0; k < sizeof value; k++) {
            struct arena *a = arena_new();
            struct graph *g = NULL;
            struct diag_sink s;
            char *changed = arena_strndup(a, bytes, n_bytes), *again;
            size_t n;
            changed[i] = (char)value[k];
            seal(changed, n_bytes);
            enum status status = read_bytes(a, changed, n_bytes, &s, &g);
            ck_assert(status == ST_DATA ? g == NULL && s.list.n > 0 : status == ST_OK && g != NULL);
            ck_assert(status != ST_OK || gmlb_write(g, a, &again, &n) == ST_OK);
            *(status == ST_OK ? &accepted : &refused) += 1;
            arena_free(a);
        }
    }
    ck_assert_uint_gt(accepted, 0);
    ck_assert_uint_gt(refused, 1000);
}
END_TEST

/* Run folders are named after the model: it cannot lead elsewhere. */
START_TEST(forged_model_name)
{
    static const char *const bad[] = {"../../x", "/x", ".", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph *g = sample(), *back = NULL;
        g->model = bad[i];
        ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n_bytes), ST_OK);
        ck_assert_int_eq(read_bytes(arena, bytes, n_bytes, &sink, &back), ST_DATA);
        ck_assert_int_eq(sink.list.at[0].code, DIAG_F1006);
    }
}
END_TEST

/* Deep nesting would end the stack of whoever walks the run block. */
START_TEST(forged_nesting)
{
    static const uint32_t depth[] = {LIMIT_NESTING, LIMIT_NESTING + 1, 200000};
    for (size_t i = 0; i < sizeof depth / sizeof *depth; i++) {
        struct graph *g = sample(), *back = NULL;
        g->run.n = 0;
        for (uint32_t k = 0; k <= depth[i]; k++) {
            struct run_stmt s = {.kind = RUN_BLOCK};
            s.child = arena_array(arena, uint32_t, 1);
            s.child[0] = k + 1;
            s.n_child = k < depth[i];
            vec_push(arena, &g->run, s);
        }
        ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n_bytes), ST_OK);
        enum status st = read_bytes(arena, bytes, n_bytes, &sink, &back);
        ck_assert_int_eq(st, i ? ST_DATA : ST_OK);
        ck_assert(i == 0 || sink.list.at[0].code == DIAG_F1505);
    }
}
END_TEST

int main(void)
{
    return RUN("gmlb", round_trip, no_absolute_path, truncated_anywhere, headers, every_byte_flipped,
               forged_payload, forged_model_name, forged_nesting);
}
