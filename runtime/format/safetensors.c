/* safetensors: u64 length of the header, header (JSON), data. Strict reading: the ranges of the tensors,
 * sorted, must cover the data exactly, without holes, overlap or tail. jansson sees the header only after its
 * length, encoding and depth are checked. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/base/seam.h"
#include "runtime/base/utf8.h"
#include "runtime/format/internal.h"

enum { PREFIX = 8, NAME_BYTES = 256, DEPTH = 4, HEADER_ALIGN = 64 };

struct range {
    int64_t begin, end;
    uint32_t tensor;
};
struct reader {
    struct origin o;
    const char *header, *data;
    size_t header_n, data_n;
    struct array *at;
    struct range *range;
    uint32_t n;
};

/* -- The header before JSON */
static enum status check_length(struct reader *r, const void *bytes, size_t n)
{
    uint64_t length = n < PREFIX ? 0 : little(bytes, PREFIX);
    if (n < PREFIX) {
        return format_error(&r->o, DIAG_F2001, "%zu bytes are too few for a safetensors file", n);
    }
    if (length > LIMIT_SAFETENSORS_HEADER) {
        return format_error(&r->o, DIAG_F2002,
                            "this is no safetensors file: its header would have %llu bytes, the most is %u",
                            (unsigned long long)length, LIMIT_SAFETENSORS_HEADER);
    }
    if (length > n - PREFIX) {
        return format_error(&r->o, DIAG_F2001, "the header claims %llu bytes, the file has %zu",
                            (unsigned long long)length, n);
    }
    if (length < 2) {
        return format_error(&r->o, DIAG_F2003, "the header has %llu bytes", (unsigned long long)length);
    }
    r->header = (const char *)bytes + PREFIX;
    r->header_n = (size_t)length;
    r->data = r->header + length;
    r->data_n = n - PREFIX - (size_t)length;
    return ST_OK;
}

static enum status check_text(struct reader *r)
{
    int depth = 0;
    bool in_string = false;
    size_t start = 0;
    while (start < r->header_n && memchr(" \t\r\n", r->header[start], 4)) {
        start++;
    }
    if (start >= r->header_n || r->header[start] != '{') {
        return format_error(&r->o, DIAG_F2004, "the header is not a JSON object (byte %zu)", PREFIX + start);
    }
    for (size_t i = start, length; i < r->header_n; i += length) {
        char c = r->header[i];
        length = utf8_length(r->header + i, r->header_n - i);
        if (length == 0) {
            return format_error(&r->o, DIAG_F2005, "the header is not UTF-8 (byte %zu)", PREFIX + i);
        }
        if (in_string && c == '\\') {
            length++; /* whatever is escaped; jansson checks it */
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '[') && ++depth > DEPTH) {
            return format_error(&r->o, DIAG_F2006, "the header is nested deeper than %d (byte %zu)", DEPTH,
                                PREFIX + i);
        } else if (!in_string && (c == '}' || c == ']')) {
            depth--;
        }
    }
    return ST_OK;
}

/* -- One entry */
static enum status bad_entry(struct reader *r, const char *what)
{
    return format_error(&r->o, DIAG_F2014, "%s", what);
}

static bool read_type(const char *name, struct array *x)
{
    for (int t = 0; t < FILE_TYPES; t++) {
        if (file_types[t].safetensors && strcmp(file_types[t].safetensors, name) == 0) {
            x->type = (enum file_type)t;
            x->item_bytes = file_types[t].bytes;
            return true;
        }
    }
    return false;
}

static bool natural(const json_t *v, int64_t *out)
{
    *out = json_is_integer(v) ? json_integer_value(v) : -1;
    return *out >= 0;
}

static enum status read_fields(struct reader *r, json_t *entry, struct array *x, struct range *range)
{
    json_t *dtype = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape");
    json_t *offsets = json_object_get(entry, "data_offsets");
    if (!json_is_object(entry) || json_object_size(entry) != 3 || !json_is_string(dtype) ||
        !json_is_array(shape) || !json_is_array(offsets)) {
        return bad_entry(r, "a tensor has exactly dtype, shape and data_offsets");
    }
    if (!read_type(json_string_value(dtype), x)) {
        return bad_entry(r, "its dtype is none of BOOL, U8 .. U64, I8 .. I64, F16, BF16, F32, F64");
    }
    if (json_array_size(shape) > LIMIT_RANK) {
        return format_error(&r->o, DIAG_F2009, "more than %d axes", LIMIT_RANK);
    }
    x->rank = (int)json_array_size(shape);
    for (int i = 0; i < x->rank; i++) {
        if (!natural(json_array_get(shape, (size_t)i), &x->dim[i])) {
            return bad_entry(r, "its shape has something that is no whole number, 0 or more");
        }
    }
    if (json_array_size(offsets) != 2 || !natural(json_array_get(offsets, 0), &range->begin) ||
        !natural(json_array_get(offsets, 1), &range->end)) {
        return bad_entry(r, "its data_offsets are not two whole numbers, 0 or more");
    }
    if (!array_size_ok(x)) {
        return format_error(&r->o, DIAG_F2009, "an axis above 2^40 or more than 2^48 elements");
    }
    return ST_OK;
}

static enum status read_entry(struct reader *r, const char *name, json_t *entry)
{
    struct array *x = &r->at[r->n];
    struct range *range = &r->range[r->n];
    if (strlen(name) > NAME_BYTES || !*name || !utf8_printable(name, strlen(name))) {
        return format_error(&r->o, DIAG_F2014,
                            "tensor %u has a name that is empty, over %d bytes or not printable", r->n,
                            NAME_BYTES);
    }
    x->name = arena_strndup(r->o.arena, name, strlen(name));
    r->o.member = x->name;
    TRY(read_fields(r, entry, x, range));
    range->tensor = r->n++;
    if (range->end < range->begin) {
        return format_error(&r->o, DIAG_F2013, "its data ends at %lld, before it begins at %lld",
                            (long long)range->end, (long long)range->begin);
    }
    if ((uint64_t)(range->end - range->begin) != x->n_bytes) {
        return format_error(&r->o, DIAG_F2008, "shape and dtype need %llu bytes, its range has %lld",
                            (unsigned long long)x->n_bytes, (long long)(range->end - range->begin));
    }
    r->o.member = "";
    return ST_OK;
}

static enum status check_metadata(struct reader *r, json_t *metadata)
{
    const char *key;
    json_t *value;
    bool ok = json_is_object(metadata);
    json_object_foreach(metadata, key, value)
    {
        ok = ok && json_is_string(value);
    }
    return ok ? ST_OK : format_error(&r->o, DIAG_F2015, "__metadata__ is not an object of strings");
}

/* -- All entries */
static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

static enum status check_ranges(struct reader *r)
{
    int64_t end = 0;
    if (r->n) {
        qsort(r->range, r->n, sizeof *r->range, by_begin);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const struct range *x = &r->range[i];
        r->o.member = r->at[x->tensor].name;
        if (x->begin != end) {
            return format_error(&r->o, x->begin < end ? DIAG_F2010 : DIAG_F2011,
                                "its data begins at %lld, %s at %lld", (long long)x->begin,
                                x->begin < end ? "but the one before ends"
                                               : "and nothing fills the gap that starts",
                                (long long)end);
        }
        end = x->end;
    }
    r->o.member = "";
    if ((uint64_t)end > r->data_n) {
        return format_error(&r->o, DIAG_F2001, "the tensors need %lld bytes of data, the file has %zu",
                            (long long)end, r->data_n);
    }
    if ((uint64_t)end < r->data_n) {
        return format_error(&r->o, DIAG_F2012, "%zu bytes follow the last tensor", r->data_n - (size_t)end);
    }
    return ST_OK;
}

static enum status read_object(struct reader *r, json_t *object)
{
    const char *name;
    json_t *entry;
    size_t n = json_object_size(object);
    if (n > LIMIT_SAFETENSORS_TENSORS + 1) {
        return format_error(&r->o, DIAG_F2016, "%zu tensors, the most is %d", n, LIMIT_SAFETENSORS_TENSORS);
    }
    r->at = arena_array(r->o.arena, struct array, n);
    r->range = arena_array(r->o.arena, struct range, n);
    json_object_foreach(object, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0) {
            TRY(check_metadata(r, entry));
        } else {
            TRY(read_entry(r, name, entry));
        }
    }
    return check_ranges(r);
}

static enum status json_problem(struct reader *r, const json_error_t *e)
{
    bool twice = json_error_code(e) == json_error_duplicate_key;
    return format_error(&r->o, twice ? DIAG_F2007 : DIAG_F2006,
                        "the header is no valid JSON: %s (line %d, column %d)", e->text, e->line, e->column);
}

/* Points the arrays at their data; copies what would not be aligned, or everything when the bytes are the
 * caller's. */
static void settle(struct reader *r, bool copy)
{
    for (uint32_t i = 0; i < r->n; i++) {
        struct array *x = &r->at[r->range[i].tensor];
        const char *from = r->data + r->range[i].begin;
        x->bytes = from;
        if (copy || (uintptr_t)from % x->item_bytes != 0) {
            x->bytes = memcpy(arena_alloc(r->o.arena, (size_t)x->n_bytes), from, (size_t)x->n_bytes);
        }
    }
}

static enum status parse(struct arena *a, const char *path, const void *bytes, size_t n, bool copy,
                         struct diag_sink *sink, struct array_file *out)
{
    struct reader r = {.o = {a, sink, path, ""}};
    json_error_t error;
    *out = (struct array_file){0};
    TRY(check_length(&r, bytes, n));
    TRY(check_text(&r));
    json_t *object = json_loadb(r.header, r.header_n, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        return json_problem(&r, &error);
    }
    enum status st = read_object(&r, object);
    json_decref(object);
    if (st == ST_OK) {
        settle(&r, copy);
        *out = (struct array_file){r.at, r.n};
    }
    return st;
}

enum status safetensors_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                              struct diag_sink *sink, struct array_file *out)
{
    return parse(a, path, bytes, n, true, sink, out);
}

enum status safetensors_read(struct arena *a, const char *path, struct diag_sink *sink,
                             struct array_file *out)
{
    char *bytes;
    size_t n;
    *out = (struct array_file){0};
    TRY(file_read(a, path, FORMAT_FILE_BYTES, &bytes, &n, sink));
    return parse(a, path, bytes, n, false, sink, out);
}

/* -- Writing */
static void put_string(struct text *t, const char *s)
{
    text_append(t, "\"", 1);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            text_printf(t, "\\%c", *s);
        } else if ((unsigned char)*s < 0x20) {
            text_printf(t, "\\u%04x", (unsigned)*s);
        } else {
            text_append(t, s, 1);
        }
    }
    text_append(t, "\"", 1);
}

static void put_metadata(struct text *t, const char *const *metadata)
{
    text_printf(t, "\"__metadata__\":{");
    for (int i = 0; metadata[i] && metadata[i + 1]; i += 2) {
        text_append(t, ",", i > 0);
        put_string(t, metadata[i]);
        text_append(t, ":", 1);
        put_string(t, metadata[i + 1]);
    }
    text_printf(t, "}");
}

static enum status put_entry(const struct origin *o, struct text *t, const struct array *x, uint64_t begin)
{
    const char *type = file_types[x->type].safetensors;
    if (!type) {
        return format_error(o, DIAG_F2014, "safetensors has no dtype for %s", file_types[x->type].name);
    }
    put_string(t, x->name);
    text_printf(t, ":{\"dtype\":\"%s\",\"shape\":[", type);
    for (int i = 0; i < x->rank; i++) {
        text_printf(t, i ? ",%lld" : "%lld", (long long)x->dim[i]);
    }
    text_printf(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
                (unsigned long long)(begin + x->n_bytes));
    return ST_OK;
}

static enum status build(const struct origin *o, const struct array *x, uint32_t n,
                         const char *const *metadata, struct text *to)
{
    static const char blank[PREFIX] = {0};
    uint64_t begin = 0;
    text_append(to, blank, PREFIX);
    text_append(to, "{", 1);
    if (metadata) {
        put_metadata(to, metadata);
    }
    for (uint32_t i = 0; i < n; i++) {
        struct origin in = *o;
        in.member = x[i].name;
        text_append(to, ",", i > 0 || metadata);
        TRY(put_entry(&in, to, &x[i], begin));
        begin += x[i].n_bytes;
    }
    text_append(to, "}", 1);
    size_t pad = (HEADER_ALIGN - to->n % HEADER_ALIGN) % HEADER_ALIGN;
    text_printf(to, "%*s", (int)pad, "");
    if (to->n - PREFIX > LIMIT_SAFETENSORS_HEADER) {
        return format_error(o, DIAG_F2002, "the header would have %zu bytes, the most is %u", to->n - PREFIX,
                            LIMIT_SAFETENSORS_HEADER);
    }
    put_little(to->at, to->n - PREFIX, PREFIX);
    for (uint32_t i = 0; i < n; i++) {
        text_append(to, x[i].bytes, (size_t)x[i].n_bytes);
    }
    return ST_OK;
}

enum status safetensors_write(const char *path, const struct array *x, uint32_t n,
                              const char *const *metadata, struct diag_sink *sink)
{
    struct arena *scratch = arena_new();
    struct origin o = {scratch, sink, path, ""};
    struct text to = {.arena = scratch};
    enum status st = build(&o, x, n, metadata, &to);
    if (st == ST_OK) {
        st = file_write(path, to.at, to.n, sink);
    }
    arena_free(scratch);
    return st;
}
