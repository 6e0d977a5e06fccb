/* idx, the format of MNIST: u8 0, u8 0, u8 type, u8 rank, a big-endian u32 per axis, big-endian data. Plain
 * or as one gzip member; of a compressed file only the header is unpacked before its claim is checked.
 */
#include <string.h>
#include "runtime/format/internal.h"

enum { IDX_HEAD = 4, IDX_MOST = IDX_HEAD + 4 * LIMIT_RANK };

static const struct idx_type {
    unsigned char code;
    enum file_type type;
} idx_types[] = {{0x08, FT_U8},  {0x09, FT_I8},  {0x0B, FT_I16},
                 {0x0C, FT_I32}, {0x0D, FT_F32}, {0x0E, FT_F64}};

bool gzip_is(const void *bytes, size_t n)
{
    return n >= 2 && memcmp(bytes, "\x1F\x8B", 2) == 0;
}

static bool find_type(unsigned char code, struct array *x)
{
    for (size_t i = 0; i < sizeof idx_types / sizeof *idx_types; i++) {
        if (idx_types[i].code == code) {
            x->type = idx_types[i].type;
            x->item_bytes = (uint32_t)file_type_size(x->type);
            return true;
        }
    }
    return false;
}

bool idx_is(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    struct array x;
    return n >= IDX_HEAD && p[0] == 0 && p[1] == 0 && find_type(p[2], &x) && p[3] >= 1;
}

/* From the first n bytes of the idx; `head` says how long the header is. */
static enum status read_head(const struct origin *o, const unsigned char *p, uint64_t n, struct array *x,
                             size_t *head)
{
    if (n < IDX_HEAD || p[0] || p[1] || !find_type(p[2], x)) {
        return format_error(o, DIAG_F3401, "the first four bytes are not those of an idx file");
    }
    if (p[3] < 1 || p[3] > LIMIT_RANK) {
        return format_error(o, DIAG_F3401, "%d axes (byte 3), of 1 to %d", p[3], LIMIT_RANK);
    }
    *head = IDX_HEAD + 4 * (size_t)p[3];
    if (n < *head) {
        return format_error(o, DIAG_F3402, "cut off in the header, after %llu bytes of %zu",
                            (unsigned long long)n, *head);
    }
    x->name = "";
    x->rank = p[3];
    for (int i = 0; i < x->rank; i++) {
        const unsigned char *d = p + IDX_HEAD + 4 * i;
        x->dim[i] = (int64_t)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3];
    }
    if (!array_size_ok(x)) {
        return format_error(o, DIAG_F3403, "the sizes make more than 2^48 elements");
    }
    return ST_OK;
}

static void swap(unsigned char *at, uint64_t n, uint32_t bytes)
{
    for (uint64_t i = 0; i < n; i += bytes) {
        for (uint32_t k = 0; k < bytes / 2; k++) {
            unsigned char b = at[i + k];
            at[i + k] = at[i + bytes - 1 - k];
            at[i + bytes - 1 - k] = b;
        }
    }
}

static enum status read_plain(const struct origin *o, const unsigned char *p, size_t n, struct array *x)
{
    size_t head = 0;
    TRY(read_head(o, p, n, x, &head));
    if (x->n_bytes != n - head) {
        return format_error(o, DIAG_F3402, "the header asks for %llu bytes of data, the file has %zu",
                            (unsigned long long)x->n_bytes, n - head);
    }
    x->bytes = memcpy(arena_alloc(o->arena, (size_t)x->n_bytes), p + head, (size_t)x->n_bytes);
    return ST_OK;
}

static enum status read_packed(const struct origin *o, const unsigned char *p, size_t n, struct array *x)
{
    unsigned char first[IDX_MOST];
    size_t head = 0;
    uint64_t got = inflate_start(p, n, first, sizeof first, INFLATE_GZIP);
    if (got == 0) {
        return format_error(o, DIAG_F3404, "nothing can be unpacked from it");
    }
    if (!idx_is(first, (size_t)got)) {
        return format_error(o, DIAG_F3405, "a compressed file that is no idx array");
    }
    TRY(read_head(o, first, got, x, &head));
    if (x->n_bytes > INFLATE_BYTES - head || !inflate_possible(n, head + x->n_bytes)) {
        return format_error(o, DIAG_F3403, "%zu packed bytes cannot become %llu", n,
                            (unsigned long long)x->n_bytes);
    }
    unsigned char *to = arena_alloc(o->arena, head + (size_t)x->n_bytes);
    if (!inflate_exactly(p, n, to, head + x->n_bytes, INFLATE_GZIP)) {
        return format_error(o, DIAG_F3404, "damaged, or not the %llu bytes that its header asks for",
                            (unsigned long long)(head + x->n_bytes));
    }
    x->bytes = memmove(to, to + head, (size_t)x->n_bytes); /* to the start of the block, which is aligned */
    return ST_OK;
}

enum status idx_parse(struct arena *a, const char *path, const void *bytes, size_t n, struct diag_sink *sink,
                      struct array_file *out)
{
    struct origin o = {a, sink, path, ""};
    struct array *x = arena_new_of(a, struct array);
    *out = (struct array_file){0};
    TRY((gzip_is(bytes, n) ? read_packed : read_plain)(&o, bytes, n, x));
    swap((unsigned char *)(uintptr_t)x->bytes, x->n_bytes, x->item_bytes);
    *out = (struct array_file){x, 1};
    return ST_OK;
}
