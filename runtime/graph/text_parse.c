/* Reads the text form of a graph; see text.h. Lines are independent: the keyword says what a line is, the
 * indentation is for people. Sources are read first, because places are lines and columns in them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "runtime/graph/record.h"
#include "runtime/graph/shape.h"
#include "runtime/graph/text.h"

enum { MAX_INPUTS = 1u << 20 };

struct parser {
    struct graph *g;
    struct diag_sink *sink;
    const char *p;    /* within the current line */
    const char *line; /* its start */
    uint32_t number;
    uint16_t phase;              /* of the nodes that follow */
    const struct record *parent; /* of records inside a record: the last outer one */
    void *parent_at;
    bool failed;
};

static bool fail(struct parser *r, const char *what)
{
    if (!r->failed) {
        r->failed = true;
        diag_emit(r->sink, DIAG_F1010, NO_SPAN, "graph text, line %u, column %u: %s", (unsigned)r->number,
                  (unsigned)(r->p - r->line) + 1, what);
    }
    return false;
}

/* -- tokens */

static char peek(struct parser *r)
{
    while (*r->p == ' ') {
        r->p++;
    }
    return *r->p;
}

static bool at_end(struct parser *r)
{
    char c = peek(r);
    return c == 0 || c == '\n' || c == '#';
}

static bool accept(struct parser *r, char c)
{
    if (peek(r) != c) {
        return false;
    }
    r->p++;
    return true;
}

static bool expect(struct parser *r, char c)
{
    char what[] = "expected ' '";
    what[10] = c;
    return accept(r, c) || fail(r, what);
}

static size_t word(struct parser *r, const char **at)
{
    peek(r);
    *at = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_') {
        r->p++;
    }
    return (size_t)(r->p - *at);
}

static bool read_i64(struct parser *r, int64_t *out)
{
    char c = peek(r), *end;
    errno = 0;
    *out =
        c == '-' || isdigit((unsigned char)c) ? strtoll(r->p, &end, 10) : (end = (char *)(uintptr_t)r->p, 0);
    if (end == r->p || errno) {
        return fail(r, "expected a whole number");
    }
    r->p = end;
    return true;
}

static bool read_u32(struct parser *r, uint32_t *out)
{
    int64_t v;
    if (!read_i64(r, &v)) {
        return false;
    }
    *out = (uint32_t)v;
    return (v >= 0 && v <= UINT32_MAX) || fail(r, "number out of range");
}

static bool read_f64(struct parser *r, double *out)
{
    char *end;
    peek(r);
    *out = strtod(r->p, &end);
    if (end == r->p || memchr(r->p, '\n', (size_t)(end - r->p))) {
        return fail(r, "expected a number");
    }
    r->p = end;
    return true;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_string(struct parser *r, const char **out)
{
    struct text t = {.arena = r->g->arena};
    if (!expect(r, '"')) {
        return false;
    }
    for (; *r->p != '"'; r->p++) {
        char c = *r->p;
        if (c == 0 || c == '\n') {
            return fail(r, "string without an end");
        }
        if (c == '\\' && r->p[1] == 'x') {
            int hi = hex(r->p[2]), lo = hi < 0 ? -1 : hex(r->p[3]);
            if (lo < 0 || hi * 16 + lo == 0) {
                return fail(r, "bad escape");
            }
            c = (char)(hi * 16 + lo);
            r->p += 3;
        } else if (c == '\\') {
            c = *++r->p;
            if (c != '"' && c != '\\') {
                return fail(r, "bad escape");
            }
        }
        text_append(&t, &c, 1);
    }
    r->p++;
    *out = intern_n(r->g->names, t.at ? t.at : "", t.n);
    return true;
}

static bool read_dim(struct parser *r, dim *out)
{
    const char *end;
    *out = dim_parse(&r->g->dims, r->p, &end);
    if (!*out || memchr(r->p, '\n', (size_t)(end - r->p))) {
        return fail(r, "malformed size");
    }
    r->p = end;
    return true;
}

static bool read_type(struct parser *r, struct type *out)
{
    const char *at;
    char name[8] = {0};
    size_t n = word(r, &at);
    memcpy(name, at, n < sizeof name ? n : 0);
    *out = (struct type){.dtype = dtype_parse(name)};
    if (out->dtype == DT_NONE) {
        return fail(r, "unknown element type");
    }
    if (!expect(r, '[')) {
        return false;
    }
    while (!accept(r, ']')) {
        if (out->rank == LIMIT_RANK) {
            return fail(r, "too many axes");
        }
        if ((out->rank > 0 && !expect(r, ',')) || !read_dim(r, &out->dim[out->rank++])) {
            return false;
        }
    }
    return true;
}

static bool line_start(const struct source *s, uint32_t line, uint32_t *offset)
{
    const char *p = s->text;
    for (uint32_t k = 1; k < line; k++) {
        p = memchr(p, '\n', (size_t)(s->text + s->n - p));
        if (!p) {
            return false;
        }
        p++;
    }
    *offset = (uint32_t)(p - s->text);
    return line > 0;
}

static bool read_place(struct parser *r, struct span *out)
{
    uint32_t a, b = 0, c = 0, file = 1, start;
    if (accept(r, '#')) {
        if (!read_u32(r, &file) || !expect(r, ':') || !read_u32(r, &a) || !expect(r, '-') ||
            !read_u32(r, &b)) {
            return false;
        }
        *out = (struct span){a, b, (uint16_t)file};
        return file <= UINT16_MAX || fail(r, "no such file");
    }
    if (!read_u32(r, &a)) {
        return false;
    }
    if (accept(r, '/')) {
        file = a;
        if (!read_u32(r, &a)) {
            return false;
        }
    }
    if (!expect(r, ':') || !read_u32(r, &b) || !expect(r, '+') || !read_u32(r, &c)) {
        return false;
    }
    const struct source *s = file && file < r->g->sources.list.n ? &r->g->sources.list.at[file] : NULL;
    if (!s || !line_start(s, a, &start) || b == 0 || (uint64_t)start + b - 1 + c > s->n) {
        return fail(r, "the place is outside of its source");
    }
    *out = (struct span){start + b - 1, start + b - 1 + c, (uint16_t)file};
    return true;
}

/* -- records */

static bool read_u32s(struct parser *r, void *record, const struct field *f)
{
    VEC(uint32_t) v = {0};
    do {
        uint32_t x;
        if (!read_u32(r, &x)) {
            return false;
        }
        vec_push(r->g->arena, &v, x);
    } while (accept(r, ','));
    field_set_array(record, f, v.at, v.n);
    return true;
}

static bool read_strs(struct parser *r, void *record, const struct field *f)
{
    VEC(const char *) v = {0};
    do {
        const char *s;
        if (!read_string(r, &s)) {
            return false;
        }
        vec_push(r->g->arena, &v, s);
    } while (accept(r, ','));
    field_set_array(record, f, v.at, v.n);
    return true;
}

static bool read_enum(struct parser *r, const struct field *f, uint32_t *out)
{
    const char *at;
    size_t n = word(r, &at);
    for (uint32_t i = 0; i < f->n_names; i++) {
        if (strlen(f->names[i]) == n && !memcmp(f->names[i], at, n)) {
            *out = i;
            return true;
        }
    }
    return fail(r, "unknown word");
}

static bool read_value(struct parser *r, void *record, const struct field *f)
{
    void *at = (char *)record + f->at;
    switch (f->kind) {
    case FIELD_STR:
        return read_string(r, at);
    case FIELD_VAL:
        return expect(r, '%') && read_u32(r, at);
    case FIELD_U32:
        return read_u32(r, at);
    case FIELD_I64:
        return read_i64(r, at);
    case FIELD_F64:
        return read_f64(r, at);
    case FIELD_ENUM:
        return read_enum(r, f, at);
    case FIELD_DIM:
        return read_dim(r, at);
    case FIELD_TYPE:
        return read_type(r, at);
    case FIELD_SPAN:
        return read_place(r, at);
    case FIELD_U32S:
        return read_u32s(r, record, f);
    case FIELD_STRS:
        return read_strs(r, record, f);
    default:
        return fail(r, "not a field with a value");
    }
}

static bool read_fields(struct parser *r, const struct record *rec, void *record)
{
    while (!at_end(r)) {
        const char *at;
        size_t n = word(r, &at);
        const struct field *f =
            n == 2 && !memcmp(at, "at", 2) ? record_field(rec, "span", 4) : record_field(rec, at, n);
        if (!f || f->kind == FIELD_LIST) {
            return fail(r, "unknown field");
        }
        if (f->kind == FIELD_BOOL) {
            *(bool *)((char *)record + f->at) = true;
        } else if (!expect(r, '=') || !read_value(r, record, f)) {
            return false;
        }
    }
    return true;
}

/* A record of a list of the graph, or of the record before it. */
static bool read_record(struct parser *r, const char *at, size_t n)
{
    const struct field *f = record_field(&graph_record, at, n);
    void *owner = r->g;
    bool inner = !f || f->kind != FIELD_LIST;
    if (inner) {
        f = r->parent ? record_field(r->parent, at, n) : NULL;
        owner = r->parent_at;
    }
    uint32_t index;
    if (!f || f->kind != FIELD_LIST) {
        return fail(r, "unknown keyword");
    }
    if (!read_u32(r, &index)) {
        return false;
    }
    if (index != field_count(owner, f)) {
        return fail(r, "the index is not the next one");
    }
    void *record = field_push(r->g->arena, owner, f);
    if (!inner) {
        r->parent = f->list;
        r->parent_at = record;
    }
    return read_fields(r, f->list, record);
}

/* -- nodes */

static bool read_attrs(struct parser *r, struct node_spec *s)
{
    VEC(int64_t) attrs = {0};
    VEC(dim) dims = {0};
    while (peek(r) != ';' && peek(r) != '}') {
        int64_t a;
        double x;
        if (accept(r, '=')) {
            if (!read_f64(r, &x)) {
                return false;
            }
            a = f64_bits(x);
        } else if (!read_i64(r, &a)) {
            return false;
        }
        vec_push(r->g->arena, &attrs, a);
        if (attrs.n > UINT16_MAX) {
            return fail(r, "too many attributes");
        }
        accept(r, ',');
    }
    while (accept(r, dims.n ? ',' : ';')) {
        dim d;
        if (!read_dim(r, &d)) {
            return false;
        }
        vec_push(r->g->arena, &dims, d);
        if (dims.n > LIMIT_ATTRS) {
            return fail(r, "too many attributes");
        }
    }
    s->attr = attrs.at;
    s->n_attr = attrs.n;
    s->dims = dims.at;
    s->n_dim = dims.n;
    return expect(r, '}');
}

static bool read_inputs(struct parser *r, struct node_spec *s)
{
    VEC(val) in = {0};
    while (accept(r, '%')) {
        val v;
        if (!read_u32(r, &v)) {
            return false;
        }
        if (v == 0 || v >= r->g->nodes.n || in.n == MAX_INPUTS) {
            return fail(r, "an input must be a node above");
        }
        vec_push(r->g->arena, &in, v);
        accept(r, ',');
    }
    s->in = in.at;
    s->n_in = in.n;
    return true;
}

/* Behind the type: inputs, {attributes}, @"scope", at=place. */
static bool read_operands(struct parser *r, struct node_spec *s)
{
    const char *scope;
    if (!read_inputs(r, s) || (accept(r, '{') && !read_attrs(r, s))) {
        return false;
    }
    if (accept(r, '@')) {
        if (!read_string(r, &scope)) {
            return false;
        }
        s->scope = graph_scope(r->g, scope);
    }
    if (!at_end(r)) {
        const char *at;
        if (word(r, &at) != 2 || memcmp(at, "at", 2) != 0 || !expect(r, '=') || !read_place(r, &s->span)) {
            return fail(r, "expected at=place");
        }
    }
    return at_end(r) || fail(r, "unexpected text behind the node");
}

static bool read_node(struct parser *r)
{
    uint32_t id;
    const char *at;
    char name[32] = {0};
    if (!read_u32(r, &id) || !expect(r, '=')) {
        return false;
    }
    if (id != r->g->nodes.n || id > LIMIT_NODES) {
        return fail(r, "the node id is not the next one");
    }
    size_t n = word(r, &at);
    memcpy(name, at, n < sizeof name ? n : 0);
    struct node_spec s = {.op = op_by_name(name), .phase = r->phase};
    if (s.op == OP_NONE) {
        return fail(r, "unknown operator");
    }
    if (!read_type(r, &s.type) || !read_operands(r, &s)) {
        return false;
    }
    graph_append(r->g, &s, &s.type);
    return true;
}

/* -- lines */

static bool read_in(struct parser *r)
{
    uint32_t phase;
    if (!read_u32(r, &phase)) {
        return false;
    }
    r->phase = (uint16_t)phase;
    return phase < LIMIT_PHASES || fail(r, "no such phase");
}

static bool read_header(struct parser *r)
{
    uint32_t version;
    if (!read_u32(r, &version)) {
        return false;
    }
    return version == GRAPH_TEXT_VERSION ? read_fields(r, &graph_record, r->g) : fail(r, "unknown version");
}

static bool read_line(struct parser *r)
{
    if (at_end(r) || *r->line == '|') {
        return true;
    }
    if (accept(r, '%')) {
        return read_node(r);
    }
    const char *at;
    size_t n = word(r, &at);
    if (n == 2 && !memcmp(at, "in", 2)) {
        return read_in(r);
    }
    if (n == 5 && !memcmp(at, "graph", 5)) {
        return read_header(r);
    }
    if (n == 6 && !memcmp(at, "source", 6)) {
        return true; /* read before */
    }
    return read_record(r, at, n);
}

/* "source 1 "path"" and the lines after it that begin with "|". */
static bool read_source(struct parser *r)
{
    uint32_t index;
    const char *path, *at;
    if (word(r, &at) != 6 || !read_u32(r, &index) || !read_string(r, &path) || !at_end(r)) {
        return fail(r, "malformed source line");
    }
    if (index != r->g->sources.list.n || index > LIMIT_SOURCE_FILES) {
        return fail(r, "the source's index is not the next one");
    }
    struct text t = {.arena = r->g->arena};
    text_append(&t, "", 0);
    const char *line = strchr(r->p, '\n');
    for (bool first = true; line && line[1] == '|'; first = false) {
        const char *end = strchr(line + 1, '\n');
        size_t n = end ? (size_t)(end - line - 2) : strlen(line + 2);
        if (t.n + n + 1 > LIMIT_SOURCE_BYTES) {
            return fail(r, "the source is too large");
        }
        text_append(&t, "\n", first ? 0 : 1);
        text_append(&t, line + 2, n);
        line = end;
    }
    sources_add(&r->g->sources, path, t.at, (uint32_t)t.n);
    return true;
}

/* Calls `read` for every line, or only for those that begin with "source ". */
static bool each_line(struct parser *r, const char *text, bool (*read)(struct parser *), bool only_sources)
{
    r->number = 0;
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        r->number++;
        r->line = r->p = line;
        if ((!only_sources || !strncmp(line, "source ", 7)) && !read(r)) {
            return fail(r, "malformed line");
        }
    }
    return true;
}

enum status graph_parse(struct arena *a, const char *text, struct diag_sink *sink, struct graph **out)
{
    struct parser r = {.g = graph_new(a), .sink = sink};
    if (!each_line(&r, text, read_source, true) || !each_line(&r, text, read_line, false)) {
        return ST_DATA;
    }
    TRY(graph_verify_loaded(r.g, sink));
    *out = r.g;
    return ST_OK;
}
