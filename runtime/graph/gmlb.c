/* .gmlb files: header and protobuf payload.
 *
 *   0  8 bytes  magic "\211GMLB\r\n\032"
 *   8  u32      format version
 *  12  u64      hash of the operator table
 *  20  u64      bytes of the payload
 *  28  u32      CRC32C of the payload
 *  32           the payload, message Graph of gmlb.proto; nothing follows
 *
 * All little-endian. The bytes are a function of the graph alone: tables of dims and scopes are numbered by
 * first use, sources that were named absolutely keep only their last part. The reader compares every declared
 * size with the file before it uses it, then verifies the graph.
 */
#include "runtime/graph/gmlb.pb-c.h"
#include "runtime/graph/gmlb_message.h"
#include "runtime/graph/shape.h"

enum { VERSION = 3, HEADER = 32 };
static const char magic[8] = "\211GMLB\r\n\032";

static uint32_t crc32c(const uint8_t *p, size_t n)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
        }
    }
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc = crc >> 8 ^ table[(crc ^ p[i]) & 255];
    }
    return ~crc;
}

static void put_le(char *to, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (char)(v >> 8 * i);
    }
}

static uint64_t get_le(const char *from, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) {
        v |= (uint64_t)(unsigned char)from[i] << 8 * i;
    }
    return v;
}

/* -- writing */

struct columns {
    VEC(uint32_t) in, dim, shape;
    VEC(int64_t) attr;
    uint32_t *scope_index; /* by scope: index in `scopes` + 1 */
    VEC(char *) scopes;
};

static uint32_t *column(struct arena *a, const struct graph *g, size_t *n)
{
    *n = g->nodes.n - 1;
    return arena_array(a, uint32_t, *n);
}

static uint32_t pack_scope(struct pack_ctx *c, struct columns *k, uint32_t scope)
{
    if (scope && !k->scope_index[scope]) {
        vec_push(c->arena, &k->scopes,
                 arena_strndup(c->arena, c->g->scopes.at[scope], strlen(c->g->scopes.at[scope])));
        k->scope_index[scope] = k->scopes.n;
    }
    return k->scope_index[scope];
}

static void pack_pools(struct pack_ctx *c, struct columns *k, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_in; i++) {
        vec_push(c->arena, &k->in, node_inputs(c->g, n)[i]);
    }
    for (uint32_t i = 0; i < n->n_attr; i++) {
        vec_push(c->arena, &k->attr, node_attrs(c->g, n)[i]);
    }
    for (uint32_t i = 0; i < n->n_dim; i++) {
        vec_push(c->arena, &k->dim, pack_dim(c, node_dims(c->g, n)[i]));
    }
    for (uint32_t i = 0; i < n->rank; i++) {
        vec_push(c->arena, &k->shape, pack_dim(c, node_shape(c->g, n)[i]));
    }
}

static void pack_nodes(struct pack_ctx *c, struct columns *k, Gmlb__Nodes *m)
{
    const struct graph *g = c->g;
    m->op = column(c->arena, g, &m->n_op);
    m->phase = column(c->arena, g, &m->n_phase);
    m->dtype = column(c->arena, g, &m->n_dtype);
    m->rank = column(c->arena, g, &m->n_rank);
    m->inputs = column(c->arena, g, &m->n_inputs);
    m->attrs = column(c->arena, g, &m->n_attrs);
    m->dims = column(c->arena, g, &m->n_dims);
    m->scope = column(c->arena, g, &m->n_scope);
    m->file = column(c->arena, g, &m->n_file);
    m->start = column(c->arena, g, &m->n_start);
    m->length = column(c->arena, g, &m->n_length);
    for (val v = 1; v < g->nodes.n; v++) {
        const struct node *n = graph_node(g, v);
        uint32_t i = v - 1;
        m->op[i] = n->op;
        m->phase[i] = n->phase;
        m->dtype[i] = n->dtype;
        m->rank[i] = n->rank;
        m->inputs[i] = n->n_in;
        m->attrs[i] = n->n_attr;
        m->dims[i] = n->n_dim;
        m->scope[i] = pack_scope(c, k, n->scope);
        m->file[i] = n->span.file;
        m->start[i] = n->span.start;
        m->length[i] = n->span.end - n->span.start;
        pack_pools(c, k, n);
    }
    m->in = k->in.at;
    m->n_in = k->in.n;
    m->attr = k->attr.at;
    m->n_attr = k->attr.n;
    m->dim = k->dim.at;
    m->n_dim = k->dim.n;
    m->shape = k->shape.at;
    m->n_shape = k->shape.n;
}

static const char *relative_path(const char *path)
{
    const char *last = strrchr(path, '/');
    return path[0] == '/' ? last + 1 : path;
}

static void pack_sources(struct pack_ctx *c, Gmlb__Graph *m)
{
    const struct sources *s = &c->g->sources;
    m->n_source = s->list.n - 1;
    m->source = arena_array(c->arena, Gmlb__Source *, m->n_source);
    for (uint32_t i = 1; i < s->list.n; i++) {
        const char *path = relative_path(s->list.at[i].path);
        Gmlb__Source *x = arena_new_of(c->arena, Gmlb__Source);
        gmlb__source__init(x);
        x->path = arena_strndup(c->arena, path, strlen(path));
        x->text.len = s->list.at[i].n;
        x->text.data = (uint8_t *)(uintptr_t)s->list.at[i].text;
        m->source[i - 1] = x;
    }
}

enum status gmlb_write(const struct graph *g, struct arena *a, char **bytes, size_t *n)
{
    struct pack_ctx c = {.g = g, .arena = a, .dim_index = arena_array(a, uint32_t, g->dims.list.n)};
    struct columns k = {.scope_index = arena_array(a, uint32_t, g->scopes.n)};
    Gmlb__Graph m = GMLB__GRAPH__INIT;
    Gmlb__Nodes nodes = GMLB__NODES__INIT;
    pack_record(&c, &graph_record, g, &m.base);
    pack_nodes(&c, &k, &nodes);
    m.nodes = &nodes;
    m.n_dim = c.dims.n;
    m.dim = c.dims.at;
    m.n_scope = k.scopes.n;
    m.scope = k.scopes.at;
    pack_sources(&c, &m);
    size_t payload = gmlb__graph__get_packed_size(&m);
    char *out = arena_alloc(a, HEADER + payload);
    gmlb__graph__pack(&m, (uint8_t *)out + HEADER);
    memcpy(out, magic, 8);
    put_le(out + 8, VERSION, 4);
    put_le(out + 12, op_table_hash(), 8);
    put_le(out + 20, payload, 8);
    put_le(out + 28, crc32c((const uint8_t *)out + HEADER, payload), 4);
    *bytes = out;
    *n = HEADER + payload;
    return ST_OK;
}

/* -- reading */

struct reader {
    struct graph *g;
    struct diag_sink *sink;
    const char *path;
    struct arena *scratch;
    size_t budget; /* bytes that decoding may still take: a small file must not become a large one */
};

static void *budget_alloc(void *ctx, size_t n)
{
    struct reader *r = ctx;
    if (n > r->budget) {
        return NULL;
    }
    r->budget -= n;
    return arena_alloc(r->scratch, n);
}

static void budget_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

static enum status malformed(struct reader *r, const char *what)
{
    return diag_emit(r->sink, DIAG_F1006, NO_SPAN, "%s: %s", r->path, what);
}

static enum status check_header(struct reader *r, const char *bytes, size_t n)
{
    if (memcmp(bytes, magic, n < 8 ? n : 8) != 0) {
        return diag_emit(r->sink, DIAG_F1001, NO_SPAN, "%s: not a compiled gml graph", r->path);
    }
    if (n < HEADER) {
        return diag_emit(r->sink, DIAG_F1004, NO_SPAN, "%s: truncated at offset %zu, inside the header",
                         r->path, n);
    }
    uint64_t version = get_le(bytes + 8, 4), length = get_le(bytes + 20, 8);
    if (version != VERSION) {
        return diag_emit(r->sink, DIAG_F1002, NO_SPAN, "%s: format version %llu, this build reads %d",
                         r->path, (unsigned long long)version, VERSION);
    }
    if (get_le(bytes + 12, 8) != op_table_hash()) {
        diag_emit(r->sink, DIAG_F1003, NO_SPAN, "%s: compiled against another operator table", r->path);
        diag_help(r->sink, "compile the model again with the gmlc beside this gmlrun");
        return ST_DATA;
    }
    if (length > n - HEADER) {
        return diag_emit(r->sink, DIAG_F1004, NO_SPAN,
                         "%s: truncated at offset %zu, %llu bytes should follow the header", r->path, n,
                         (unsigned long long)length);
    }
    if (length < n - HEADER) {
        return diag_emit(r->sink, DIAG_F1005, NO_SPAN, "%s: %zu bytes behind the end", r->path,
                         n - HEADER - (size_t)length);
    }
    if (crc32c((const uint8_t *)bytes + HEADER, n - HEADER) != get_le(bytes + 28, 4)) {
        return diag_emit(r->sink, DIAG_F1005, NO_SPAN, "%s: the checksum does not match", r->path);
    }
    return ST_OK;
}

static enum status read_sources(struct reader *r, const Gmlb__Graph *m)
{
    uint64_t total = 0;
    for (size_t i = 0; i < m->n_source; i++) {
        total += m->source[i]->text.len;
        if (i >= LIMIT_SOURCE_FILES || total > LIMIT_SOURCE_TOTAL) {
            return malformed(r, "too many or too large sources");
        }
        const char *text = m->source[i]->text.len ? (const char *)m->source[i]->text.data : "";
        sources_add(&r->g->sources, m->source[i]->path, text, (uint32_t)m->source[i]->text.len);
    }
    return ST_OK;
}

static enum status read_dims(struct reader *r, const Gmlb__Graph *m, struct unpack_ctx *c)
{
    dim *dims = arena_array(r->scratch, dim, m->n_dim + 1);
    for (size_t i = 0; i < m->n_dim; i++) {
        const char *end;
        dims[i + 1] = dim_parse(&r->g->dims, m->dim[i], &end);
        if (!dims[i + 1] || *end) {
            return malformed(r, "malformed size");
        }
    }
    *c = (struct unpack_ctx){r->g, dims, (uint32_t)m->n_dim + 1};
    return ST_OK;
}

/* Where the next node's inputs, attributes and dims lie in the pools. */
struct cursor {
    size_t in, attr, dim, shape;
};

static bool columns_ok(const Gmlb__Nodes *m)
{
    size_t n = m->n_op;
    return n <= LIMIT_NODES && m->n_phase == n && m->n_dtype == n && m->n_rank == n && m->n_inputs == n &&
           m->n_attrs == n && m->n_dims == n && m->n_scope == n && m->n_file == n && m->n_start == n &&
           m->n_length == n;
}

/* Node i as the columns say it; false when a number is out of range. */
static bool read_spec(const Gmlb__Nodes *m, size_t i, const struct cursor *at, struct node_spec *s)
{
    if (m->op[i] == 0 || m->op[i] >= OP_COUNT || m->phase[i] >= LIMIT_PHASES || m->dtype[i] >= DT_COUNT ||
        m->rank[i] > LIMIT_RANK || m->attrs[i] > UINT16_MAX || m->dims[i] > LIMIT_ATTRS ||
        m->file[i] > UINT16_MAX || m->length[i] > UINT32_MAX - m->start[i] ||
        m->inputs[i] > m->n_in - at->in || m->attrs[i] > m->n_attr - at->attr ||
        m->dims[i] > m->n_dim - at->dim || m->rank[i] > m->n_shape - at->shape) {
        return false;
    }
    *s = (struct node_spec){.op = (enum op)m->op[i],
                            .phase = (uint16_t)m->phase[i],
                            .in = m->n_in ? m->in + at->in : NULL,
                            .n_in = m->inputs[i],
                            .attr = m->n_attr ? m->attr + at->attr : NULL,
                            .n_attr = m->attrs[i],
                            .n_dim = m->dims[i],
                            .type = {.dtype = (enum dtype)m->dtype[i], .rank = (int)m->rank[i]},
                            .span = {m->start[i], m->start[i] + m->length[i], (uint16_t)m->file[i]}};
    for (uint32_t k = 0; k < s->n_in; k++) {
        if (s->in[k] == 0 || s->in[k] > i) {
            return false;
        }
    }
    return true;
}

static enum status read_nodes(struct reader *r, const Gmlb__Graph *m, struct unpack_ctx *c)
{
    const Gmlb__Nodes *k = m->nodes;
    struct cursor at = {0};
    uint32_t *scope = arena_array(r->scratch, uint32_t, m->n_scope + 1);
    for (size_t i = 0; i < m->n_scope; i++) {
        vec_push(r->g->arena, &r->g->scopes, intern(r->g->names, m->scope[i]));
        scope[i + 1] = r->g->scopes.n - 1;
    }
    for (size_t i = 0; i < k->n_op; i++) {
        struct node_spec s;
        dim dims[LIMIT_ATTRS];
        bool ok = read_spec(k, i, &at, &s) && k->scope[i] <= m->n_scope;
        for (uint32_t d = 0; ok && d < s.n_dim; d++) {
            ok = unpack_dim(c, k->dim[at.dim + d], &dims[d]);
        }
        for (int d = 0; ok && d < s.type.rank; d++) {
            ok = unpack_dim(c, k->shape[at.shape + (size_t)d], &s.type.dim[d]);
        }
        if (!ok) {
            return diag_emit(r->sink, DIAG_F1501, NO_SPAN,
                             "%s: node %%%zu names something that does not exist", r->path, i + 1);
        }
        s.dims = dims;
        s.scope = scope[k->scope[i]];
        graph_append(r->g, &s, &s.type);
        at = (struct cursor){at.in + s.n_in, at.attr + s.n_attr, at.dim + s.n_dim,
                             at.shape + (size_t)s.type.rank};
    }
    bool all = at.in == k->n_in && at.attr == k->n_attr && at.dim == k->n_dim && at.shape == k->n_shape;
    return all ? ST_OK : malformed(r, "the pools of the nodes are too long");
}

/* Run folders are named after the model. */
static bool is_file_name(const char *s)
{
    return *s && *s != '.' && !strchr(s, '/');
}

static enum status read_graph(struct reader *r, const Gmlb__Graph *m)
{
    struct unpack_ctx c;
    if (!columns_ok(m->nodes)) {
        return malformed(r, "the columns of the nodes differ in length or are too long");
    }
    TRY(read_sources(r, m));
    TRY(read_dims(r, m, &c));
    if (!unpack_record(&c, &graph_record, &m->base, r->g)) {
        return malformed(r, "a number is out of range");
    }
    if (!is_file_name(r->g->model)) {
        return malformed(r, "the name of the model is no file name");
    }
    TRY(read_nodes(r, m, &c));
    return graph_verify_loaded(r->g, r->sink);
}

enum status gmlb_read(struct arena *a, const char *path, const char *bytes, size_t n, struct diag_sink *sink,
                      struct graph **out)
{
    struct reader r = {.sink = sink, .path = path};
    if (n > LIMIT_GRAPH_BYTES) {
        return diag_emit(sink, DIAG_F1007, NO_SPAN, "%s: %zu bytes, at most %d are allowed", path, n,
                         (int)LIMIT_GRAPH_BYTES);
    }
    TRY(check_header(&r, bytes, n));
    r.scratch = arena_new();
    r.budget = 16 * n + ((size_t)1 << 20);
    r.g = graph_new(a);
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &r};
    Gmlb__Graph *m = gmlb__graph__unpack(&allocator, n - HEADER, (const uint8_t *)bytes + HEADER);
    enum status s = m ? read_graph(&r, m) : malformed(&r, "the message cannot be decoded");
    arena_free(r.scratch);
    if (s == ST_OK) {
        *out = r.g;
    }
    return s;
}
