/* .gmlb files whose checksum is right and whose message is wrong in one way: numbers beyond their tables,
 * columns of different length, more sources than a model may have, a message that decodes to far more than
 * its bytes.
 */
#include "runtime/graph/gmlb.pb-c.h"
#include "tests/graph/sealed.h"

static Gmlb__Graph *message;

static void open_message(const struct graph *g)
{
    char *bytes;
    size_t n;
    ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n), ST_OK);
    message = gmlb__graph__unpack(NULL, n - 32, (const uint8_t *)bytes + 32);
    ck_assert_ptr_nonnull(message);
}

/* What the reader says of the message: its code, or "read". */
static const char *verdict(const struct graph *like)
{
    char *header;
    size_t n, payload = gmlb__graph__get_packed_size(message);
    ck_assert_int_eq(gmlb_write(like, arena, &header, &n), ST_OK);
    char *file = malloc(32 + payload);
    memcpy(file, header, 32);
    gmlb__graph__pack(message, (uint8_t *)file + 32);
    for (int i = 0; i < 8; i++) {
        file[20 + i] = (char)((uint64_t)payload >> 8 * i);
    }
    seal(file, 32 + payload);
    struct graph *g = NULL;
    enum status st = read_bytes(arena, file, 32 + payload, &sink, &g);
    free(file);
    ck_assert(st == (g ? ST_OK : ST_DATA));
    return g ? "read" : diag_name(sink.list.at[0].code);
}

START_TEST(untouched)
{
    open_message(sample());
    ck_assert_str_eq(verdict(sample()), "read");
    gmlb__graph__free_unpacked(message, NULL);
}
END_TEST

static size_t *column_length(Gmlb__Nodes *m, int i)
{
    return (size_t *[]){&m->n_phase, &m->n_dtype, &m->n_rank, &m->n_inputs, &m->n_attrs,
                        &m->n_dims,  &m->n_scope, &m->n_file, &m->n_start,  &m->n_length}[i];
}

START_TEST(columns_of_different_length)
{
    for (int i = 0; i < 10; i++) {
        open_message(sample());
        --*column_length(message->nodes, i);
        ck_assert_str_eq(verdict(sample()), "F1006");
        ++*column_length(message->nodes, i);
        gmlb__graph__free_unpacked(message, NULL);
    }
}
END_TEST

static uint32_t *number(int i)
{
    Gmlb__Nodes *m = message->nodes;
    return (uint32_t *[]){&m->op[4],     &m->phase[4],
                          &m->dtype[4],  &m->rank[4],
                          &m->inputs[4], &m->attrs[4],
                          &m->dims[4],   &m->scope[4],
                          &m->file[4],   &m->length[4],
                          &m->in[0],     &m->dim[0],
                          &m->shape[0],  &message->var[0]->type->dtype}[i];
}

/* Each as large as it can be, and a little above what there is. */
START_TEST(numbers_beyond_their_tables)
{
    static const uint32_t value[] = {UINT32_MAX, 70000, 4000, 70};
    for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
        for (int i = 0; i < 14; i++) {
            open_message(sample());
            message->nodes->start[4] = 5;
            message->nodes->file[4] = 1;
            *number(i) = value[k];
            const char *got = verdict(sample());
            bool later =
                i == 0 || i == 8 || i == 9; /* another operator, beyond the source: by the verifier */
            const char *want = i == 13 ? "F1006" : later ? "F" : "F1501";
            ck_assert_msg(!strncmp(got, want, strlen(want)), "number %d = %u: %s", i, (unsigned)value[k],
                          got);
            gmlb__graph__free_unpacked(message, NULL);
        }
    }
    open_message(sample());
    message->var[0]->type->n_dim = 0;
    uint32_t many[LIMIT_RANK + 1] = {0}, *old = message->var[0]->type->dim;
    message->var[0]->type->dim = many;
    message->var[0]->type->n_dim = LIMIT_RANK + 1;
    ck_assert_str_eq(verdict(sample()), "F1006");
    message->var[0]->type->dim = old;
    gmlb__graph__free_unpacked(message, NULL);
}
END_TEST

static const char *with_sources(uint32_t n, uint32_t bytes)
{
    struct graph *g = sample();
    char *text = arena_alloc(arena, bytes + 1);
    memset(text, 'x', bytes);
    while (g->sources.list.n <= n) {
        sources_add(&g->sources, "more.gml", text, bytes);
    }
    open_message(g);
    const char *got = verdict(g);
    gmlb__graph__free_unpacked(message, NULL);
    return got;
}

START_TEST(sources)
{
    ck_assert_str_eq(with_sources(LIMIT_SOURCE_FILES, 0), "read");
    ck_assert_str_eq(with_sources(LIMIT_SOURCE_FILES + 1, 0), "F1006");
    ck_assert_str_eq(with_sources(12, LIMIT_SOURCE_TOTAL / 8), "F1006");
}
END_TEST

static const char *with_scopes(size_t n)
{
    struct graph *g = sample();
    open_message(g);
    size_t old_n = message->n_scope;
    char **old = message->scope, **many = calloc(old_n + n, sizeof *many);
    for (size_t i = 0; i < old_n + n; i++) {
        many[i] = i < old_n ? old[i] : (char *)(uintptr_t) "";
    }
    message->scope = many;
    message->n_scope = old_n + n;
    const char *got = verdict(g);
    message->scope = old;
    message->n_scope = old_n;
    free(many);
    gmlb__graph__free_unpacked(message, NULL);
    return got;
}

/* Two bytes each in the file and far more in memory. */
START_TEST(decoding_has_a_budget)
{
    ck_assert_str_eq(with_scopes(1000), "read");
    ck_assert_str_eq(with_scopes(1000000), "F1006");
}
END_TEST

/* Written as it is and read back the same, whatever grows on the way. */
START_TEST(many_scopes)
{
    struct graph *g = sample(), *back = NULL;
    for (val v = 1; v < g->nodes.n; v++) {
        vec_push(arena, &g->scopes, arena_printf(arena, "net.%u", (unsigned)v));
        g->nodes.at[v].scope = g->scopes.n - 1;
    }
    char *bytes, *again;
    size_t n, m;
    ck_assert_int_eq(gmlb_write(g, arena, &bytes, &n), ST_OK);
    ck_assert_int_eq(read_bytes(arena, bytes, n, &sink, &back), ST_OK);
    ck_assert_int_eq(gmlb_write(back, arena, &again, &m), ST_OK);
    ck_assert(m == n && !memcmp(bytes, again, n));
    ck_assert_str_eq(back->scopes.at[back->nodes.at[7].scope], "net.7");
}
END_TEST

START_TEST(larger_than_any_graph)
{
    struct graph *g = NULL;
    ck_assert_int_eq(gmlb_read(arena, "m.gmlb", "", (size_t)LIMIT_GRAPH_BYTES + 1, &sink, &g), ST_DATA);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_F1007);
}
END_TEST

/* A model needs a name. */
START_TEST(no_name)
{
    struct graph *g = sample();
    g->model = NULL;
    open_message(g);
    ck_assert_str_eq(verdict(g), "F1006");
    gmlb__graph__free_unpacked(message, NULL);
}
END_TEST

int main(void)
{
    return RUN("gmlb_forged", untouched, columns_of_different_length, numbers_beyond_their_tables, sources,
               decoding_has_a_budget, many_scopes, larger_than_any_graph, no_name);
}
