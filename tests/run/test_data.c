/* Data sets: splits, reordering, exact conversion, and what is refused. The plan is made by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "runtime/data/internal.h"
#include "tests/suite.h"

static struct arena *arena;
static struct graph *g;
static struct diag_sink sink;
static char folder[64];
static struct data *data;
static struct plan plan;
enum { VARS = 64 }; /* of a test, at most */

static void set_up(void)
{
    arena = arena_new();
    g = graph_new(arena);
    diag_init(&sink, arena, NULL);
    strcpy(folder, "/tmp/gml-data-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (!g->phases.n) {
        vec_push(arena, &g->phases, ((struct phase){.name = "init", .kind = PHASE_INIT}));
    }
    vec_push(arena, &g->phases, ((struct phase){.name = "data.d", .kind = PHASE_DATA}));
    vec_push(arena, &g->datas, ((struct data){.name = "d", .path = "d.npz", .phase = 1}));
    data = &g->datas.at[0];
    data->rows = dim_symbol(&g->dims, "d.rows");
    plan = (struct plan){.arena = arena, .graph = g, .var = arena_array(arena, struct plan_var, VARS)};
}

static void tear_down(void)
{
    unlink(arena_printf(arena, "%s/d.npz", folder));
    unlink(arena_printf(arena, "%s/d.safetensors", folder));
    rmdir(folder);
    arena_free(arena);
}

static void write_file(const struct array *x, uint32_t n)
{
    data->path = x->type == FT_BF16 ? "d.safetensors" : "d.npz";
    ck_assert_int_eq(arrays_write(arena_printf(arena, "%s/%s", folder, data->path), x, n, &sink), ST_OK);
}

static struct array member(const char *name, enum file_type t, int64_t rows, int64_t columns,
                           const void *bytes, uint32_t item)
{
    struct array x = {
        .name = name, .type = t, .item_bytes = item, .rank = columns ? 2 : 1, .dim = {rows, columns}};
    x.bytes = bytes;
    x.n_bytes = (uint64_t)rows * (columns ? (uint64_t)columns : 1) * item;
    return x;
}

/* A field of `columns` values a row (0: one), with its raw variable at offset 256 * (index + 1) of the image.
 */
static void add_field(const char *source, enum dtype t, int64_t rows, int64_t columns)
{
    struct type raw = {t, columns ? 2 : 1, {data->rows, columns ? dim_const(&g->dims, columns) : 0}};
    vec_push(arena, &g->vars,
             ((struct var){
                 .kind = VAR_DATA, .key = arena_printf(arena, "d.%s#raw", source), .type = raw, .data = 1}));
    uint32_t v = g->vars.n - 1;
    ck_assert_uint_lt(v, VARS);
    int64_t attr = v;
    struct node_spec s = {.op = OP_read, .phase = 1, .attr = &attr, .n_attr = 1, .type = raw};
    struct data_field *f = arena_array(arena, struct data_field, data->n_field + 1);
    if (data->n_field) {
        memcpy(f, data->field, data->n_field * sizeof *f);
    }
    f[data->n_field] =
        (struct data_field){.name = source, .source = source, .var = v, .raw = graph_add(g, &s, &sink)};
    f[data->n_field].type = (struct type){t, columns ? 1 : 0, {columns ? dim_const(&g->dims, columns) : 0}};
    ck_assert_uint_ne(f[data->n_field].raw, 0);
    data->field = f;
    data->n_field++;
    struct operand *o = &plan.var[v].view;
    *o = (struct operand){
        .offset = 256 * (uint64_t)data->n_field, .dtype = (uint8_t)t, .rank = columns ? 2 : 1};
    o->dim[0] = rows;
    o->stride[0] = columns ? columns : 1;
    o->dim[1] = columns;
    o->stride[1] = 1;
}

static void add_phase(const char *split)
{
    vec_push(arena, &g->phases, ((struct phase){.name = "p", .kind = PHASE_USER, .data = 1, .split = split}));
}

static struct data_sets *open_ok(void)
{
    struct data_sets *s;
    enum status st = data_open(g, folder, NULL, 0, &sink, &s);
    ck_assert_msg(st == ST_OK, "%s", sink.list.n ? sink.list.at[0].message : "?");
    return s;
}

static void expect_refused(enum diag_code code, const char *part)
{
    ck_assert_uint_ge(sink.list.n, 1);
    ck_assert_str_eq(diag_name(sink.list.at[0].code), diag_name(code));
    ck_assert_msg(strstr(sink.list.at[0].message, part) != NULL, "%s", sink.list.at[0].message);
}

START_TEST(split_by_text_field_reorders_stably)
{
    unsigned char x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct array m[] = {member("x", FT_U8, 6, 2, x, 1),
                        member("part", FT_BYTES, 6, 0, "test\0traintraintest\0traintest\0", 5)};
    write_file(m, 2);
    add_field("x", DT_F32, 6, 2);
    data->split = SPLIT_FIELD;
    data->split_field = "part";
    add_phase("train");
    add_phase("test");
    add_phase(NULL);
    struct data_sets *s = open_ok();
    int64_t(*rows)[2];
    ck_assert_int_eq(data_split_rows(s, arena, &sink, &rows), ST_OK);
    ck_assert_int_eq(rows[0][1], 0);
    ck_assert(rows[2][0] == 3 && rows[2][1] == 3);
    ck_assert(rows[3][0] == 0 && rows[3][1] == 3);
    ck_assert(rows[4][0] == 0 && rows[4][1] == 6);
    char *image = arena_alloc(arena, 4096);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    static const float want[] = {0, 1, 6, 7, 10, 11, 2, 3, 4, 5, 8, 9};
    ck_assert_mem_eq(image + 256, want, sizeof want);
    data_close(s);
}
END_TEST

START_TEST(fractions_and_ranges_keep_the_order)
{
    static unsigned char x[1797];
    struct array m[] = {member("x", FT_U8, 1797, 0, x, 1)};
    write_file(m, 1);
    add_field("x", DT_I32, 1797, 0);
    struct split_part parts[] = {{.name = "train", .fraction = 0.8}, {.name = "test", .fraction = 0.2}};
    data->split = SPLIT_FRACTION;
    data->parts = parts;
    data->n_part = 2;
    struct data_sets *s = open_ok();
    ck_assert(s->at[0].part[0].row0 == 0 && s->at[0].part[0].rows == 1437);
    ck_assert(s->at[0].part[1].row0 == 1437 && s->at[0].part[1].rows == 360);
    data_close(s);
    struct split_part ranges[] = {{.name = "a", .from = 10, .to = 20},
                                  {.name = "b", .from = 1797, .to = 1797}};
    data->split = SPLIT_ROWS;
    data->parts = ranges;
    s = open_ok();
    ck_assert(s->at[0].part[0].row0 == 10 && s->at[0].part[0].rows == 10);
    int64_t(*rows)[2];
    add_phase("b");
    ck_assert_int_eq(data_split_rows(s, arena, &sink, &rows), ST_DATA);
    expect_refused(DIAG_F3106, "no rows");
    data_close(s);
    ranges[1].to = 1798;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(unknown_split_lists_what_there_is)
{
    int32_t x[] = {5, 6, 7}, part[] = {0, 1, 0};
    struct array m[] = {member("x", FT_I32, 3, 0, x, 4), member("part", FT_I32, 3, 0, part, 4)};
    write_file(m, 2);
    add_field("x", DT_I32, 3, 0);
    data->split = SPLIT_FIELD;
    data->split_field = "part";
    add_phase("1");
    struct data_sets *s = open_ok();
    int64_t(*rows)[2];
    ck_assert_int_eq(data_split_rows(s, arena, &sink, &rows), ST_OK);
    ck_assert(rows[2][0] == 2 && rows[2][1] == 1);
    add_phase("2");
    ck_assert_int_eq(data_split_rows(s, arena, &sink, &rows), ST_DATA);
    expect_refused(DIAG_F3105, "\"0\", \"1\"");
    data_close(s);
}
END_TEST

/* Converts one stored row of one value; returns whether it was taken, and the value. */
static bool convert(enum file_type from, const void *bytes, uint32_t item, enum dtype to, void *out)
{
    sink.list.n = 0;
    data->n_field = 0;
    struct array m[] = {member("x", from, 1, 0, bytes, item)};
    write_file(m, 1);
    add_field("x", to, 1, 0);
    struct data_sets *s = open_ok();
    char *image = arena_alloc(arena, 1024);
    enum status st = data_fill(s, 0, &plan, image, &sink);
    memcpy(out, image + 256, 8);
    data_close(s);
    if (st != ST_OK) {
        ck_assert_int_eq(st, ST_DATA);
        expect_refused(DIAG_F3104, "row 0");
    }
    return st == ST_OK;
}

START_TEST(conversion_is_exact_or_refused)
{
    union {
        float f;
        double d;
        int32_t i;
        unsigned char b;
        char bytes[8];
    } out;
    ck_assert(convert(FT_I64, &(int64_t){-2147483648ll}, 8, DT_I32, &out) && out.i == INT32_MIN);
    ck_assert(!convert(FT_I64, &(int64_t){2147483648ll}, 8, DT_I32, &out));
    ck_assert(!convert(FT_U64, &(uint64_t){~0ull}, 8, DT_I32, &out));
    ck_assert(convert(FT_F32, &(float){7}, 4, DT_I32, &out) && out.i == 7);
    ck_assert(!convert(FT_F32, &(float){7.5f}, 4, DT_I32, &out));
    ck_assert(!convert(FT_F32, &(float){NAN}, 4, DT_I32, &out));
    ck_assert(convert(FT_F64, &(double){NAN}, 8, DT_F32, &out) && isnan(out.f));
    ck_assert(convert(FT_F64, &(double){INFINITY}, 8, DT_F32, &out) && isinf(out.f));
    ck_assert(!convert(FT_F64, &(double){1e300}, 8, DT_F32, &out));
    ck_assert(convert(FT_F64, &(double){1e300}, 8, DT_F64, &out) && out.d == 1e300);
    ck_assert(convert(FT_BOOL, &(unsigned char){1}, 1, DT_F32, &out) && out.f == 1);
    ck_assert(convert(FT_U8, &(unsigned char){1}, 1, DT_BOOL, &out) && out.b == 1);
    ck_assert(!convert(FT_U8, &(unsigned char){2}, 1, DT_BOOL, &out));
    ck_assert(convert(FT_I32, &(int32_t){-9}, 4, DT_F64, &out) && out.d == -9);
    ck_assert(convert(FT_BF16, "\x81\x3f", 2, DT_BF16, &out) && !memcmp(out.bytes, "\x81\x3f", 2));
    ck_assert(convert(FT_F32, &(float){1.00390625f}, 4, DT_BF16, &out) && !memcmp(out.bytes, "\x80\x3f", 2));
    ck_assert(convert(FT_F64, &(double){NAN}, 8, DT_BF16, &out));
    ck_assert(convert(FT_F64, &(double){-INFINITY}, 8, DT_BF16, &out) && !memcmp(out.bytes, "\x80\xff", 2));
    ck_assert(!convert(FT_F32, &(float){3.4e38f}, 4, DT_BF16, &out)); /* beyond 2^128 - 2^119 */
    ck_assert(!convert(FT_F32, &(float){0.5f}, 4, DT_BOOL, &out));
    ck_assert_msg(strstr(sink.list.at[0].help, ": f32`") != NULL, "%s", sink.list.at[0].help);
}
END_TEST

/* Seconds since the first row, which is the first text of each pair; NO: the text is refused. */
START_TEST(times_are_read_or_refused)
{
    enum { NO = INT32_MIN };
    static const struct {
        const char *first, *text;
        int32_t seconds;
    } cases[] = {
        {"2016-07-01 00:00:00", "2016-07-01 13:45:01", 49501},
        {"2016-07-01", "2016-07-01T00:01", 60},
        {"2016/02/28", "2016/03/01", 2 * 86400},
        {"2015-02-28", "2015-03-01", 86400},
        {"1900-02-28", "1900-03-01", 86400},
        {"2000-02-28", "2000-03-01", 2 * 86400},
        {"1999-12-31 23:59:59", "2000-01-01", 1},
        {"2000-01-01", "1999-12-31 23:59:59", -1},
        {"1970-01-01", "2038-01-19 03:14:07", INT32_MAX},
        {"1970-01-01", "2038-01-19 03:14:08", NO},
        {"1970-01-01", "1901-12-14", -2147472000},
        {"1970-01-01", "1901-12-13 20:45:51", NO},
        {"2016-01-01 12:00Z", "2016-01-01 12:00:00+01:30", -5400},
        {"2016-01-01 12:00-00:30", "2016-01-01T12:30Z", 0},
        {"2016-01-01 00:00:00.75", "2016-01-01 00:00:01.5", 0},
        {"2016-01-01 00:00:00.25", "2016-01-01 00:00:01.5", 1},
        {"2016-12-31 23:59:60", "2017-01-01", 0},
        {"2016-01-01", "2016-13-01", NO},
        {"2016-01-01", "2016-00-01", NO},
        {"2016-01-01", "2016-01-00", NO},
        {"2016-01-01", "2016-01-32", NO},
        {"2016-01-01", "2015-02-29", NO},
        {"2016-01-01", "1900-02-29", NO},
        {"2016-01-01", "2016-01/02", NO},
        {"2016-01-01", "2016-1-2", NO},
        {"2016-01-01", "2016:01:02", NO},
        {"2016-01-01", "20160102", NO},
        {"2016-01-01", "02.01.2016", NO},
        {"2016-01-01", "", NO},
        {"2016-01-01", "2016-01-02 ", NO},
        {"2016-01-01", "2016-01-02 24:00", NO},
        {"2016-01-01", "2016-01-02 -1:00", NO},
        {"2016-01-01", "2016-01-02 12", NO},
        {"2016-01-01", "2016-01-02 12:60", NO},
        {"2016-01-01", "2016-01-02 12:00:61", NO},
        {"2016-01-01", "2016-01-02 12:00:", NO},
        {"2016-01-01", "2016-01-02 12:0a", NO},
        {"2016-01-01", "2016-01-02 12:00 PM", NO},
        {"2016-01-01", "2016-01-02 12:00:00,5", NO},
        {"2016-01-01", "2016-01-02 12:00:00.5/", NO},
        {"2016-01-01", "2016-01-02 12:00:00.5x", NO},
        {"2016-01-01", "2016-01-02 12:00+2:00", NO},
        {"2016-01-01", "2016-01-02 12:00+24:00", NO},
        {"2016-01-01", "2016-01-02 12:00+01", NO},
        {"2016-01-01", "2016-01-02 12:00+01:60", NO},
        {"2016-01-01", "2016-01-02 12:00ZZ", NO},
    };
    struct data_set d = {.path = "d.csv"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text[] = {cases[i].first, cases[i].text};
        struct array x = {.name = "t", .type = FT_STRING, .item_bytes = sizeof *text, .rank = 1, .dim = {2}};
        const struct array *out;
        x.bytes = text;
        x.n_bytes = sizeof text;
        diag_init(&sink, arena, NULL);
        enum status st = time_array(arena, &d, &x, "t", NO_SPAN, &sink, &out);
        ck_assert_msg(st == (cases[i].seconds == NO ? ST_DATA : ST_OK), "%s", cases[i].text);
        if (st != ST_OK) {
            expect_refused(DIAG_F3104, arena_printf(arena, "row 1: `%s` is", cases[i].text));
        } else {
            ck_assert_msg(array_number(out, 1) == cases[i].seconds, "%s: %g", cases[i].text,
                          array_number(out, 1));
        }
    }
    double numbers[] = {100, 160.5, 40, INFINITY};
    struct array x = member("t", FT_F64, 4, 0, numbers, 8);
    const struct array *out;
    ck_assert_int_eq(time_array(arena, &d, &x, "t", NO_SPAN, &sink, &out), ST_DATA);
    x.dim[0] = 3;
    ck_assert_int_eq(time_array(arena, &d, &x, "t", NO_SPAN, &sink, &out), ST_OK);
    ck_assert(array_number(out, 0) == 0 && array_number(out, 1) == 60 && array_number(out, 2) == -60);
    x.dim[0] = 0;
    ck_assert_int_eq(time_array(arena, &d, &x, "t", NO_SPAN, &sink, &out), ST_OK);
}
END_TEST

/* Splits that a graph file can ask for although no text does, and fields that cannot name parts. */
START_TEST(forged_splits_are_refused)
{
    static int32_t x[1100];
    for (int i = 0; i < 1100; i++) {
        x[i] = i;
    }
    struct array m[] = {member("x", FT_I32, 4, 0, x, 4), member("wide", FT_I32, 4, 2, x, 4),
                        member("long", FT_I32, 5, 0, x, 4), member("one", FT_I32, 1, 0, x, 4)};
    m[3].rank = 0;
    struct split_part part[2] = {{.name = "a", .fraction = 0.6, .from = -1, .to = 2},
                                 {.name = "b", .fraction = 0.5, .from = 2, .to = 1}};
    static const struct {
        enum split_kind kind;
        const char *field;
        double fraction;
        int64_t from, to;
        enum diag_code code;
        const char *text;
    } cases[] = {
        {SPLIT_FIELD, "wide", 0, 0, 0, DIAG_F3102, "found rank 2 with 4 rows"},
        {SPLIT_FIELD, "long", 0, 0, 0, DIAG_F3102, "found rank 1 with 5 rows"},
        {SPLIT_FIELD, "one", 0, 0, 0, DIAG_F3102, "is a single value"},
        {SPLIT_FIELD, "none", 0, 0, 0, DIAG_F3101, "has no member `none`"},
        {SPLIT_FRACTION, "", 0.6, 0, 0, DIAG_F3105, "fraction 0.5 of split `b`"},
        {SPLIT_FRACTION, "", -0.1, 0, 0, DIAG_F3105, "fraction -0.1 of split `a`"},
        {SPLIT_FRACTION, "", NAN, 0, 0, DIAG_F3105, "fraction nan of split `a`"},
        {SPLIT_ROWS, "", 0, -1, 2, DIAG_F3105, "takes rows -1..2"},
        {SPLIT_ROWS, "", 0, 3, 2, DIAG_F3105, "takes rows 3..2"},
        {SPLIT_ROWS, "", 0, 0, 5, DIAG_F3105, "takes rows 0..5, but"},
        {(enum split_kind)99, "", 0, 0, 0, DIAG_I0001, "unknown kind of split 99"},
    };
    struct data_sets *s;
    write_file(m, 4);
    add_field("x", DT_I32, 4, 0);
    data->parts = part;
    data->n_part = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sink.list.n = 0;
        data->split = cases[i].kind;
        data->split_field = cases[i].field;
        part[0].fraction = cases[i].fraction;
        part[0].from = cases[i].from;
        part[0].to = cases[i].to;
        ck_assert_int_ne(data_open(g, folder, NULL, 0, &sink, &s), ST_OK);
        expect_refused(cases[i].code, cases[i].text);
    }
    data->split = SPLIT_ROWS;
    part[0].from = 1;
    part[0].to = part[1].to = -1; /* to the end */
    s = open_ok();
    ck_assert(s->at[0].part[0].row0 == 1 && s->at[0].part[0].rows == 3 && s->at[0].part[1].rows == 2);
    data_close(s);
    /* more values than parts; and only the first 20 of them are named */
    m[0] = member("x", FT_I32, 1025, 0, x, 4);
    write_file(m, 1);
    data->n_field = 0;
    data->split = SPLIT_FIELD;
    data->split_field = "x";
    sink.list.n = 0;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3105, "more than 1024 different values");
    m[0] = member("x", FT_I32, 1024, 0, x, 4);
    write_file(m, 1);
    add_phase("train");
    s = open_ok();
    int64_t(*rows)[2];
    sink.list.n = 0;
    ck_assert_int_eq(data_split_rows(s, arena, &sink, &rows), ST_DATA);
    expect_refused(DIAG_F3105, "\"19\" and 1004 more");
    data_close(s);
}
END_TEST

/* A CSV file as a data set: columns by name, a split by text; cells that are no numbers are refused when
 * used. */
START_TEST(csv_columns_are_fields)
{
    static const char text[] = "when,x,y,part\n2024-01-01,0.5,3,b\n2024-01-02,1.5,4,a\n2024-01-03,,5,b\n";
    const char *path = arena_printf(arena, "%s/d.npz", folder);
    ck_assert_int_eq(file_write(path, text, sizeof text - 1, &sink), ST_OK);
    struct data_override over = {"d", arena_printf(arena, "%s/d.csv", folder)};
    ck_assert_int_eq(rename(path, over.file), 0);
    data->split = SPLIT_FIELD;
    data->split_field = "part";
    add_field("y", DT_I32, 3, 0);
    struct data_sets *s;
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_OK);
    ck_assert(s->at[0].rows == 3 && s->at[0].n_part == 2 && s->at[0].part[1].row0 == 2);
    char *image = arena_alloc(arena, 4096);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    static const int32_t want[] = {3, 5, 4};
    ck_assert_mem_eq(image + 256, want, sizeof want);
    data_close(s);
    add_field("x", DT_F32, 3, 0);
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_DATA);
    expect_refused(DIAG_F4005, "column `x`, line 4, column 2");
    data->n_field = 1;
    sink.list.n = 0;
    add_field("when", DT_F32, 3, 0);
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_DATA);
    expect_refused(DIAG_F4004, "column `when`, line 2, column 1: `2024-01-01` is no number");
    unlink(over.file);
}
END_TEST

/* Columns in the order of the text, ranges in that of the file; rows as the split has them. */
START_TEST(columns_of_a_csv_file)
{
    static const char text[] = "a,b,c,part,e\n1,2,3,t,5\n11,12,13,v,15\n21,22,23,t,25\n";
    const char *path = arena_printf(arena, "%s/d.csv", folder);
    const char *names[] = {"e", "e", "a", "c"}, *backwards[] = {"c", "a"}, *text_too[] = {"c", "e"};
    struct data_override over = {"d", path};
    struct data_sets *s;
    ck_assert_int_eq(file_write(path, text, sizeof text - 1, &sink), ST_OK);
    data->split = SPLIT_FIELD;
    data->split_field = "part";
    add_field("e", DT_F32, 3, 4);
    data->field[0].column = names;
    data->field[0].n_column = 4;
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_OK);
    char *image = arena_alloc(arena, 4096);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    static const float want[] = {5, 1, 2, 3, 25, 21, 22, 23, 15, 11, 12, 13};
    ck_assert_mem_eq(image + 256, want, sizeof want);
    data_close(s);
    data->field[0].n_column = 2;
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_OK);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_DATA);
    expect_refused(DIAG_F3103, "1 value a row, but `e` is declared f32[4]");
    data_close(s);
    sink.list.n = 0;
    data->field[0].column = backwards;
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "the column `c` stands behind `a`");
    sink.list.n = 0;
    data->field[0].column = text_too;
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_DATA);
    expect_refused(DIAG_F4004, "column `part`, line 2, column 4");
    unlink(path);
}
END_TEST

/* Arrays of one value a row are columns too; a forged graph cannot ask for endless columns. */
START_TEST(columns_of_arrays)
{
    int32_t x[6] = {1, 2, 3, 4, 5, 70000};
    struct array m[] = {member("x", FT_I32, 3, 0, x, 4), member("y", FT_I32, 3, 0, x + 3, 4),
                        member("wide", FT_I32, 3, 2, x, 4), member("long", FT_I32, 4, 0, x, 4)};
    const char *names[] = {"y", "y", "x", "x"}, *wide[] = {"x", "wide"},
               *longer[] = {"x", "x", "long", "long"};
    struct data_sets *s;
    write_file(m, 4);
    add_field("y", DT_I32, 3, 2);
    data->field[0].column = names;
    data->field[0].n_column = 4;
    s = open_ok();
    char *image = arena_alloc(arena, 4096);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    static const int32_t want[] = {4, 1, 5, 2, 70000, 3};
    ck_assert_mem_eq(image + 256, want, sizeof want);
    data_close(s);
    data->field[0].column = wide;
    data->field[0].n_column = 2;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3103, "`wide` of");
    sink.list.n = 0;
    data->field[0].column = longer;
    data->field[0].n_column = 4;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3102, "`x` has 3 rows and `long` has 4");
    sink.list.n = 0;
    uint32_t n = 2 * (LIMIT_COLUMNS + 1);
    const char **many = arena_array(arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        many[i] = "x";
    }
    data->field[0].column = many;
    data->field[0].n_column = n;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3103, "more than 1048576 columns");
}
END_TEST

START_TEST(members_are_checked)
{
    unsigned char x[12] = {0};
    struct array m[] = {member("images", FT_U8, 4, 3, x, 1), member("labels", FT_U8, 3, 0, x, 1)};
    struct data_sets *s;
    write_file(m, 2);
    add_field("image", DT_F32, 4, 3);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "`images`, `labels`");
    ck_assert_str_eq(sink.list.at[0].help, "did you mean `images`?");
    data->n_field = 0;
    sink.list.n = 0;
    add_field("images", DT_F32, 4, 4);
    s = open_ok();
    ck_assert_int_eq(data_fill(s, 0, &plan, arena_alloc(arena, 1024), &sink), ST_DATA);
    expect_refused(DIAG_F3103, "u8[3] a row, but `images` is declared f32[4]");
    data_close(s);
    sink.list.n = 0;
    add_field("labels", DT_I32, 3, 0);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3102, "`images` has 4 rows and `labels` has 3");
    sink.list.n = 0;
    struct data_override over = {"digits", "x.npz"};
    ck_assert_int_eq(data_open(g, folder, &over, 1, &sink, &s), ST_USAGE);
    expect_refused(DIAG_U1002, "digits");
}
END_TEST

/* A formula that no text gives is refused, whatever it takes from the stack. */
START_TEST(forged_conditions_are_refused)
{
    static const char *steps[][3] = {{"add"},
                                     {".x", "=1"},
                                     {".x", "lnot", "lt"},
                                     {"\"mon"},
                                     {".x", "=1", "nothing"},
                                     {".x", "\"mon", "eq"}};
    int32_t x[] = {5, 6, 7, 8, 9, 10};
    double f[] = {0, NAN, -2};
    struct array m[] = {member("x", FT_I32, 3, 0, x, 4), member("wide", FT_I32, 3, 2, x, 4),
                        member("long", FT_I32, 4, 0, x, 4), member("f", FT_F64, 3, 0, f, 8)};
    struct split_part part = {.name = "train"};
    struct data_sets *s;
    write_file(m, 4);
    add_field("x", DT_I32, 3, 0);
    data->split = SPLIT_CONDITION;
    data->parts = &part;
    data->n_part = 1;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        part.step = steps[i];
        part.n_step = 1 + (steps[i][1] != NULL) + (steps[i][2] != NULL);
        sink.list.n = 0;
        ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
        expect_refused(i < 5 ? DIAG_F3105 : DIAG_F3107, "condition of split `train`");
    }
    const char *deep[80];
    for (int i = 0; i < 40; i++) {
        deep[i] = ".x";
        deep[40 + i] = i < 39 ? "add" : "nothing";
    }
    static const char *const others[] = {".wide", ".long", ".none"};
    static const char *const texts[] = {"needs one value for each of the 3 rows; it has 2 axes",
                                        "it has 1 axes and 4 rows", "has no member `none`"};
    part.step = deep;
    part.n_step = 79;
    sink.list.n = 0;
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3105, "cannot be computed"); /* deeper than any text gives */
    for (size_t i = 0; i < 3; i++) {
        part.step = (const char **)&others[i];
        part.n_step = 1;
        sink.list.n = 0;
        ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
        expect_refused(i < 2 ? DIAG_F3102 : DIAG_F3101, texts[i]);
    }
    static const char *rows_of[][4] = {{".f"}, {".f", "=1", "put"}, {".f", "f32"}, {".f", "=2", "where"}};
    for (size_t i = 1; i < 4; i++) { /* no row of one or two numbers */
        part.step = rows_of[i];
        part.n_step = i == 2 ? 2 : 3;
        sink.list.n = 0;
        ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
        expect_refused(DIAG_F3105, "cannot be computed");
    }
    part.step = rows_of[0]; /* a number other than 0 counts; NaN does not */
    part.n_step = 1;
    s = open_ok();
    ck_assert(s->at[0].part[0].rows == 1 && s->at[0].order[0] == 2);
    data_close(s);
    static const char *good[] = {".x", "=2", "mod", "=0", "eq"};
    part.step = good;
    part.n_step = 5;
    s = open_ok();
    ck_assert(s->at[0].part[0].rows == 1 && s->at[0].order[0] == 1);
    data_close(s);
}
END_TEST

/* Sizes of windows that no file could fit, as a graph file or --set may ask for them. */
START_TEST(windows_have_sizes)
{
    int32_t x[] = {1, 2, 3, 4, 5};
    struct array m[] = {member("x", FT_I32, 5, 0, x, 4)};
    struct data_sets *s;
    write_file(m, 1);
    add_field("x", DT_I32, 5, 0);
    dim n = dim_symbol(&g->dims, "n"), one = dim_const(&g->dims, 1), two = dim_const(&g->dims, 2);
    vec_push(arena, &g->configs, ((struct config){.name = "rate", .kind = CONFIG_LIVE, .value = 3}));
    vec_push(arena, &g->configs, ((struct config){.name = "n", .kind = CONFIG_DIM, .symbol = n}));
    vec_push(arena, &g->configs,
             ((struct config){.name = "two", .kind = CONFIG_DIM, .value = 2, .symbol = two}));
    static const double none[] = {0, -1, 2e12, NAN};
    for (int k = 0; k < 2; k++) {
        data->extent = k ? one : n;
        data->stride = k ? n : one;
        for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
            diag_init(&sink, arena, NULL);
            g->configs.at[1].value = none[i];
            ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_MODEL);
            expect_refused(DIAG_E3102, k ? "the stride of `d`, `n`, is no whole number from 1 here"
                                         : "the window of `d`, `n`, is no whole number from 1 here");
        }
    }
    data->stride = 0; /* none */
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_MODEL);
    expect_refused(DIAG_E3102, "the stride of `d`");
    data->stride = n;
    data->extent = dim_symbol(&g->dims, "m"); /* of no config */
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_MODEL);
    expect_refused(DIAG_E3102, "the window of `d`, `m`");
    data->extent = two;
    g->configs.at[1].value = 2;
    add_phase(NULL);
    s = open_ok(); /* 0 1, 2 3 */
    ck_assert(s->at[0].rows == 2 && s->at[0].stored == 5 && s->at[0].start[1] == 2);
    data_close(s);
}
END_TEST

/* Two members that ask which rows come first have one answer; a part without rows to be fitted on. */
START_TEST(sources_that_are_made)
{
    int32_t x[] = {1, 2, 3};
    struct array m[] = {member("x", FT_I32, 3, 0, x, 4)};
    struct split_part part = {.name = "train", .from = 1, .to = 3};
    write_file(m, 1);
    add_field("x", DT_I32, 3, 0);
    add_field("f", DT_BOOL, 3, 0);
    add_field("g", DT_BOOL, 3, 0);
    add_field("t", DT_BOOL, 3, 0);
    data->field[1].kind = data->field[2].kind = SOURCE_FIRST;
    data->field[3].kind = SOURCE_TRAIN;
    data->split = SPLIT_ROWS;
    data->parts = &part;
    data->n_part = 1;
    struct data_sets *s = open_ok();
    static const unsigned char first[] = {1, 1, 0}, train[] = {0, 1, 1};
    char *image = arena_alloc(arena, 4096);
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    ck_assert_mem_eq(image + 512, first, 3);
    ck_assert_mem_eq(image + 768, first, 3);
    ck_assert_mem_eq(image + 1024, train, 3);
    ck_assert_int_eq(data_can_fit(s, 0, &sink), ST_OK);
    data_close(s);
    part.from = 3;
    s = open_ok();
    ck_assert_int_eq(data_can_fit(s, 0, &sink), ST_DATA);
    expect_refused(DIAG_F3105, "has no row of it");
    plan.var[1].view.dim[0] = 2; /* planned for other rows than there are */
    diag_init(&sink, arena, NULL);
    ck_assert_int_ne(data_fill(s, 0, &plan, image, &sink), ST_OK);
    expect_refused(DIAG_I0001, "planned wrongly");
    data_close(s);
    data->path = "d.npz";
    m[0].dim[0] = 0; /* a file without rows, and a field that nothing reads */
    m[0].n_bytes = 0;
    write_file(m, 1);
    data->field[1].raw = 0;
    part.from = part.to = 0;
    for (int i = 1; i <= 4; i++) {
        plan.var[i].view.dim[0] = 0;
    }
    s = open_ok();
    ck_assert_int_eq(data_fill(s, 0, &plan, image, &sink), ST_OK);
    data_close(s);
    data->path = NULL; /* nothing of it is used */
    s = open_ok();
    ck_assert_int_eq(data_can_fit(s, 0, &sink), ST_OK);
    data_close(s);
}
END_TEST

START_TEST(files_without_what_is_wanted)
{
    int32_t x[] = {1, 2, 3};
    struct array m[25];
    struct data_sets *s;
    for (int i = 0; i < 25; i++) {
        m[i] = member(arena_printf(arena, "array_%d", i), FT_I32, 3, 0, x, 4);
    }
    write_file(m, 25);
    add_field("images", DT_I32, 3, 0);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "`array_19` and 5 more");
    write_file(m, 0);
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "it has nothing");
    data->path = "";
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "names no file");
    data->path = "x"; /* a short name is no CSV file either */
    ck_assert_int_eq(npz_write(arena_printf(arena, "%s/x", folder), m, 2, &sink), ST_OK);
    diag_init(&sink, arena, NULL);
    ck_assert_int_eq(data_open(g, folder, NULL, 0, &sink, &s), ST_DATA);
    expect_refused(DIAG_F3101, "has no member `images`");
    unlink(arena_printf(arena, "%s/x", folder));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("data");
    tcase_add_test(t, windows_have_sizes);
    tcase_add_test(t, sources_that_are_made);
    tcase_add_test(t, files_without_what_is_wanted);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, split_by_text_field_reorders_stably);
    tcase_add_test(t, fractions_and_ranges_keep_the_order);
    tcase_add_test(t, unknown_split_lists_what_there_is);
    tcase_add_test(t, conversion_is_exact_or_refused);
    tcase_add_test(t, times_are_read_or_refused);
    tcase_add_test(t, forged_splits_are_refused);
    tcase_add_test(t, csv_columns_are_fields);
    tcase_add_test(t, columns_of_a_csv_file);
    tcase_add_test(t, columns_of_arrays);
    tcase_add_test(t, members_are_checked);
    tcase_add_test(t, forged_conditions_are_refused);
    return suite_run("data", t, CK_FORK);
}
