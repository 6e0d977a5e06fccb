/* What the readers and writers of runtime/format share. */
#ifndef GML_FORMAT_INTERNAL_H
#define GML_FORMAT_INTERNAL_H
#include "runtime/base/checked.h"
#include "runtime/format/format.h"

#define FORMAT_FILE_BYTES ((uint64_t)1 << 36) /* the largest file that is read whole */

/* How each file format spells an element kind; NULL where it has none. */
struct file_type_row {
    const char *name, *npy, *safetensors;
    uint8_t bytes;
    bool is_float;
};
extern const struct file_type_row file_types[];
enum { FILE_TYPES = FT_STRING + 1 };

/* Where the bytes come from, for messages: the path, and the member of an npz or "". */
struct origin {
    struct arena *arena;
    struct diag_sink *sink;
    const char *path, *member;
};
/* Emits a code; the message is preceded by path and member. */
enum status format_error(const struct origin *o, enum diag_code c, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks dims against the limits and sets a->n_bytes; false when the product is out of range. */
bool array_size_ok(struct array *a);

/* Little-endian integers at an unaligned place. */
static inline uint64_t little(const void *at, int bytes)
{
    const unsigned char *p = at;
    uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; i--) {
        v = v << 8 | p[i];
    }
    return v;
}
static inline void put_little(void *at, uint64_t v, int bytes)
{
    unsigned char *p = at;
    for (int i = 0; i < bytes; i++, v >>= 8) {
        p[i] = (unsigned char)v;
    }
}

/* -- npy.c */
bool npy_is(const void *bytes, size_t n);
/* Reads one whole npy; x->name is left alone. The data is at bytes + x->n_bytes counted from the end; not
 * copied. */
MUST_CHECK enum status npy_parse(const struct origin *o, const void *bytes, size_t n, struct array *x);
/* Appends header and data. Fails with F3004 for a kind that npy does not have. */
void npy_append(const struct origin *o, const struct array *x, struct text *to);
uint64_t npy_data_bytes(const struct array *x); /* behind the header that npy_append writes */

/* -- inflate.c */
enum {
    DEFLATE_RATIO = 1032,
    INFLATE_RAW = -15,
    INFLATE_GZIP = 15 + 16
}; /* the most deflate can do; windows */
#define INFLATE_BYTES ((uint64_t)1 << 34)
/* Whether so many packed bytes can become `size`, and the result is within the limit. */
bool inflate_possible(uint64_t packed, uint64_t size);
/* Exactly `size` bytes from exactly `packed`; gzip: and checksum and length are right. */
bool inflate_exactly(const unsigned char *from, uint64_t packed, unsigned char *to, uint64_t size,
                     int window);
/* The first bytes only; returns how many there are, at most `size`. */
uint64_t inflate_start(const unsigned char *from, uint64_t packed, unsigned char *to, uint64_t size,
                       int window);

/* -- zip.c */
enum { ZIP_END_BYTES = 22 };
struct zip_member {
    const char *name;
    uint64_t packed, size, at; /* `at`: of the packed bytes in the file */
    uint32_t crc;
    int method; /* 0 stored, 8 deflate */
};
struct zip {
    const unsigned char *bytes;
    size_t n;
    VEC(struct zip_member) members;
};
bool zip_is(const void *bytes, size_t n);
MUST_CHECK enum status zip_open(const struct origin *o, const void *bytes, size_t n, struct zip *out);
/* Copies a member into the arena and checks its CRC. */
MUST_CHECK enum status zip_extract(const struct origin *o, const struct zip *z, const struct zip_member *m,
                                   void **out);

/* -- idx.c, csv.c: by content and by separator */
bool idx_is(const void *bytes, size_t n); /* plain */
bool gzip_is(const void *bytes, size_t n);
MUST_CHECK enum status csv_separated_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                           char separator, struct diag_sink *sink, struct array_file *out);

#endif
