/* One npy array: the header is a Python dict literal, read by a small tokenizer and never by string search.
 */
#include <string.h>
#include "runtime/base/bf16.h"
#include "runtime/format/internal.h"

static const unsigned char magic[] = "\x93NUMPY";
enum { MAGIC = 6, DATA_ALIGN = 64 };

bool npy_is(const void *bytes, size_t n)
{
    return n >= MAGIC && memcmp(bytes, magic, MAGIC) == 0;
}

/* -- The header literal */
struct literal {
    const struct origin *o;
    const char *at, *end;
};
struct header {
    const char *descr;
    int descr_n;
    bool fortran, has_descr, has_order, has_shape;
    int rank;
    int64_t dim[LIMIT_RANK];
};

static enum status malformed(const struct literal *l, const char *what)
{
    int n = l->end - l->at > 16 ? 16 : (int)(l->end - l->at);
    while (n > 0 && (unsigned char)l->at[n - 1] - 0x20u >= 0x5Fu) {
        n--; /* only printable ASCII is echoed */
    }
    return format_error(l->o, DIAG_F3003, "malformed npy header: expected %s at `%.*s`", what, n, l->at);
}

static void blanks(struct literal *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t')) {
        l->at++;
    }
}

static bool accept(struct literal *l, const char *word)
{
    size_t n = strlen(word);
    blanks(l);
    if ((size_t)(l->end - l->at) < n || memcmp(l->at, word, n) != 0) {
        return false;
    }
    l->at += n;
    return true;
}

/* 'text' or "text" without escapes. */
static bool quoted(struct literal *l, const char **text, int *n)
{
    blanks(l);
    if (l->at == l->end || (*l->at != '\'' && *l->at != '"')) {
        return false;
    }
    const char *close = memchr(l->at + 1, *l->at, (size_t)(l->end - l->at - 1));
    if (!close || memchr(l->at, '\\', (size_t)(close - l->at))) {
        return false;
    }
    *text = l->at + 1;
    *n = (int)(close - l->at - 1);
    l->at = close + 1;
    return true;
}

static enum status read_shape(struct literal *l, struct header *h)
{
    bool comma = true;
    if (!accept(l, "(")) {
        return malformed(l, "the shape in parentheses");
    }
    for (h->rank = 0; !accept(l, ")"); h->rank++) {
        if (!comma || l->at == l->end || *l->at < '0' || *l->at > '9') {
            return malformed(l, comma ? "a size" : "`,` or `)`");
        }
        if (h->rank == LIMIT_RANK) {
            return format_error(l->o, DIAG_F3006, "more than %d axes", LIMIT_RANK);
        }
        int64_t d = 0;
        for (; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++) {
            if (!mul_ok(d, 10, &d) || !add_ok(d, *l->at - '0', &d)) {
                return format_error(l->o, DIAG_F3006, "a size of the shape is larger than 2^63");
            }
        }
        h->dim[h->rank] = d;
        comma = accept(l, ",");
    }
    /* (3) is a number and not a tuple */
    return h->rank == 1 && !comma ? malformed(l, "a tuple, such as (3,),") : ST_OK;
}

static enum status read_value(struct literal *l, const char *key, int n, struct header *h)
{
    if (n == 5 && memcmp(key, "descr", 5) == 0 && !h->has_descr) {
        h->has_descr = true;
        blanks(l);
        if (l->at < l->end && *l->at == '[') {
            enum status st = format_error(l->o, DIAG_F3004, "structured arrays are not read");
            diag_help(l->o->sink,
                      "save each field on its own: np.savez(\"file.npz\", x=a[\"x\"], y=a[\"y\"])");
            return st;
        }
        return quoted(l, &h->descr, &h->descr_n) ? ST_OK : malformed(l, "the element type in quotes");
    }
    if (n == 13 && memcmp(key, "fortran_order", 13) == 0 && !h->has_order) {
        h->has_order = true;
        h->fortran = accept(l, "True");
        return h->fortran || accept(l, "False") ? ST_OK : malformed(l, "True or False");
    }
    if (n == 5 && memcmp(key, "shape", 5) == 0 && !h->has_shape) {
        h->has_shape = true;
        return read_shape(l, h);
    }
    return format_error(l->o, DIAG_F3003, "malformed npy header: a key that is unknown or stands twice");
}

static enum status read_dict(struct literal *l, struct header *h)
{
    bool comma = true;
    if (!accept(l, "{")) {
        return malformed(l, "`{`");
    }
    while (!accept(l, "}")) {
        const char *key;
        int n;
        if (!comma || !quoted(l, &key, &n)) {
            return malformed(l, comma ? "a key in quotes" : "`,` or `}`");
        }
        if (!accept(l, ":")) {
            return malformed(l, "`:`");
        }
        TRY(read_value(l, key, n, h));
        comma = accept(l, ",");
    }
    blanks(l);
    while (l->at < l->end && *l->at == '\n') {
        l->at++;
    }
    if (l->at != l->end) {
        return malformed(l, "the end of the header");
    }
    if (!h->has_descr || !h->has_order || !h->has_shape) {
        return format_error(l->o, DIAG_F3003, "malformed npy header: `%s` is missing",
                            !h->has_descr   ? "descr"
                            : !h->has_order ? "fortran_order"
                                            : "shape");
    }
    return ST_OK;
}

/* -- Element types */
static enum status refuse_type(const struct origin *o, const struct header *h, const char *why,
                               const char *help)
{
    enum status st = format_error(o, DIAG_F3004, "element type `%.*s` is not read%s",
                                  h->descr_n > 24 ? 24 : h->descr_n, h->descr, why);
    diag_help(o->sink, "%s", help);
    return st;
}

/* U and S carry a length. */
static bool read_length(const struct header *h, int64_t *out)
{
    int64_t n = 0;
    for (int i = 2; i < h->descr_n; i++) {
        if (h->descr[i] < '0' || h->descr[i] > '9' || !mul_ok(n, 10, &n) ||
            !add_ok(n, h->descr[i] - '0', &n) || n > 1 << 20) {
            return false;
        }
    }
    *out = n;
    return h->descr_n > 2;
}

static enum status read_type(const struct origin *o, const struct header *h, struct array *x)
{
    char order = h->descr_n > 1 ? h->descr[0] : 0, kind = h->descr_n > 1 ? h->descr[1] : 0;
    int64_t length;
    if (kind == 'O') {
        return refuse_type(o, h, ": it needs pickle, which runs code from the file",
                           "convert to numbers first: a.astype(\"float32\")");
    }
    for (int t = 0; t < FILE_TYPES; t++) {
        const char *descr = file_types[t].npy;
        bool text = t == FT_BYTES || t == FT_UNICODE;
        bool same = descr && descr[1] == kind &&
                    (text ? read_length(h, &length) : h->descr_n == 3 && descr[2] == h->descr[2]);
        if (!same) {
            continue;
        }
        bool one_byte = t == FT_BYTES || file_types[t].bytes == 1;
        if (!one_byte && order == '>') {
            return refuse_type(o, h, ": it is big-endian",
                               "save it as little-endian: a.astype(a.dtype.newbyteorder(\"<\"))");
        }
        if (order != '<' && order != '|' && order != '=' && order != '>') {
            break;
        }
        if (text && length == 0) { /* any number of those fits into any file */
            return refuse_type(o, h, ": text without characters",
                               "leave the array out, or give it a width: a.astype(\"U1\")");
        }
        x->type = (enum file_type)t;
        x->item_bytes = !text             ? file_types[t].bytes
                        : t == FT_UNICODE ? (uint32_t)length * 4
                                          : (uint32_t)length;
        return ST_OK;
    }
    return refuse_type(
        o, h, "",
        "the types are bool, integers and floats of 1 to 8 bytes, and text; bf16 is stored in safetensors");
}

/* -- The whole array */
enum status npy_parse(const struct origin *o, const void *bytes, size_t n, struct array *x)
{
    const char *p = bytes;
    if (!npy_is(bytes, n) || n < 10 || p[6] < 1 || p[6] > 3 || p[7] != 0) {
        return npy_is(bytes, n) && n >= 8 && (p[6] < 1 || p[6] > 3 || p[7] != 0)
                   ? format_error(o, DIAG_F3001, "npy version %d.%d is not known", (unsigned char)p[6],
                                  (unsigned char)p[7])
                   : format_error(o, DIAG_F3001, "not an npy array, or cut off in its first 10 bytes");
    }
    size_t head = p[6] == 1 ? 10 : 12;
    uint64_t length = n < head ? UINT64_MAX : little(p + 8, p[6] == 1 ? 2 : 4);
    if (length > LIMIT_NPY_HEADER || length > n - head) {
        return format_error(o, DIAG_F3002,
                            "the npy header claims %llu bytes; the file has %zu and the most is %d",
                            (unsigned long long)length, n, LIMIT_NPY_HEADER);
    }
    struct header h = {0};
    struct literal l = {o, p + head, p + head + length};
    TRY(read_dict(&l, &h));
    TRY(read_type(o, &h, x));
    x->rank = h.rank;
    memcpy(x->dim, h.dim, sizeof h.dim);
    if (h.fortran && h.rank > 1) {
        enum status st = format_error(o, DIAG_F3005, "the array is stored in Fortran order");
        diag_help(o->sink, "save np.ascontiguousarray(a)");
        return st;
    }
    if (!array_size_ok(x)) {
        return format_error(o, DIAG_F3006, "the shape has an axis above 2^40 or more than 2^48 elements");
    }
    size_t data = n - head - (size_t)length;
    if (x->n_bytes != data) {
        return format_error(o, DIAG_F3007, "the shape needs %llu bytes of data, the file has %zu",
                            (unsigned long long)x->n_bytes, data);
    }
    x->bytes = p + head + length;
    return ST_OK;
}

/* NumPy has no bf16: each is an f32 without rounding. */
static void append_wide(const struct array *x, struct text *to)
{
    for (uint64_t i = 0; i < x->n_bytes / 2; i++) {
        struct bf16 narrow;
        memcpy(&narrow, (const char *)x->bytes + 2 * i, sizeof narrow);
        float wide = bf16_widen(narrow);
        text_append(to, (const char *)&wide, sizeof wide);
    }
}

uint64_t npy_data_bytes(const struct array *x)
{
    return x->type == FT_BF16 ? 2 * x->n_bytes : x->n_bytes;
}

void npy_append(const struct origin *o, const struct array *x, struct text *to)
{
    const struct file_type_row *row = &file_types[x->type == FT_BF16 ? FT_F32 : x->type];
    struct text dict = {.arena = o->arena};
    text_printf(&dict, "{'descr': '%s", row->npy);
    if (row->bytes == 0) {
        text_printf(&dict, "%u", x->type == FT_UNICODE ? x->item_bytes / 4 : x->item_bytes);
    }
    text_printf(&dict, "', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < x->rank; i++) {
        text_printf(&dict, i ? ", %lld" : "%lld", (long long)x->dim[i]);
    }
    text_printf(&dict, x->rank == 1 ? ",), }" : "), }");
    size_t head = MAGIC + 4, total = (head + dict.n + 1 + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
    unsigned char version[4] = {1, 0};
    put_little(version + 2, total - head, 2);
    text_append(to, (const char *)magic, MAGIC);
    text_append(to, (const char *)version, 4);
    text_append(to, dict.at, dict.n);
    text_printf(to, "%*s\n", (int)(total - head - dict.n - 1), "");
    if (x->type == FT_BF16) {
        append_wide(x, to);
    } else {
        text_append(to, x->bytes, (size_t)x->n_bytes);
    }
}
