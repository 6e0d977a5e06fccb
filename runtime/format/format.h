/* File formats: bytes to validated arrays and back. Nothing in a file is trusted: declared sizes are compared
 * with the real file before anything is allocated, all size arithmetic is checked, every rejection has a code
 * (F2xx safetensors, F3xx npy/npz), a position in the message, and status ST_DATA. Arrays live in the
 * caller's arena. Only little-endian, C order.
 */
#ifndef GML_FORMAT_FORMAT_H
#define GML_FORMAT_FORMAT_H
#include <stdbool.h>
#include <stdint.h>
#include "runtime/base/diag.h"
#include "runtime/base/dtype.h"
#include "runtime/base/limits.h"
#include "runtime/base/mem.h"

/* Element kinds as files know them (wider than enum dtype). */
enum file_type {
    FT_BOOL,
    FT_U8,
    FT_I8,
    FT_U16,
    FT_I16,
    FT_U32,
    FT_I32,
    FT_U64,
    FT_I64,
    FT_F16,
    FT_BF16,
    FT_F32,
    FT_F64,
    FT_BYTES,
    FT_UNICODE
};
size_t file_type_size(enum file_type t); /* 0 for BYTES and UNICODE: see array.item_bytes */
const char *file_type_name(enum file_type t);

struct array {
    const char *name; /* member of the npz, key of the safetensors; "" for a single npy */
    enum file_type type;
    uint32_t item_bytes; /* of one element; UNICODE: 4 per character */
    int rank;
    int64_t dim[LIMIT_RANK];
    const void *bytes;
    uint64_t n_bytes;
};
struct array_file {
    struct array *at;
    uint32_t n;
};
const struct array *array_find(const struct array_file *f, const char *name); /* NULL when missing */
int64_t array_count(const struct array *a);                                   /* elements */

/* .npy or .npz (stored and deflate, zip64; a member may expand to at most 2^34 bytes and 1032 times its
 * packed size). By content, not by ending. */
MUST_CHECK enum status npz_read(struct arena *a, const char *path, struct diag_sink *sink,
                                struct array_file *out);
MUST_CHECK enum status npz_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                 struct diag_sink *sink, struct array_file *out);
MUST_CHECK enum status npy_write(const char *path, const struct array *x, struct diag_sink *sink);
/* Stored (uncompressed) members; NumPy reads it. */
MUST_CHECK enum status npz_write(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink);

/* safetensors, strict: header 2 .. 16 MiB, object, no duplicate keys, ranges in order without holes or
 * overlap, shape x dtype = range. */
MUST_CHECK enum status safetensors_read(struct arena *a, const char *path, struct diag_sink *sink,
                                        struct array_file *out);
MUST_CHECK enum status safetensors_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                         struct diag_sink *sink, struct array_file *out);
/* `metadata`: pairs key, value; NULL-terminated; may be NULL. Written atomically. Data 8-byte aligned, keys
 * in the given order. */
MUST_CHECK enum status safetensors_write(const char *path, const struct array *x, uint32_t n,
                                         const char *const *metadata, struct diag_sink *sink);

/* Element i as a double (exact for all but 64-bit integers above 2^53). Not for BYTES and UNICODE. */
double array_number(const struct array *x, int64_t i);
/* Element i of BYTES or UNICODE as UTF-8 in the arena, trailing NULs removed. */
const char *array_string(struct arena *a, const struct array *x, int64_t i);

#endif
