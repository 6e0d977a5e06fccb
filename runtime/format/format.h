/* File formats: bytes to validated arrays and back. Nothing in a file is trusted: declared sizes are compared
 * with the real file before anything is allocated, all size arithmetic is checked, every rejection has a code
 * (F20 safetensors, F30 npy/npz, F34 idx, F40 CSV), a position in the message, and status ST_DATA. Arrays
 * live in the caller's arena: little-endian, C order, whatever the file has.
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
    FT_BYTES,   /* text of a fixed number of bytes, */
    FT_UNICODE, /* of UTF-32 characters, */
    FT_STRING   /* of any length: each element is a const char *, UTF-8; from CSV only */
};
size_t file_type_size(enum file_type t); /* 0 for text: see array.item_bytes */
bool file_type_is_text(enum file_type t);
const char *file_type_name(enum file_type t);

struct array {
    const char *name; /* member of the npz, key of the safetensors; "" for a single npy */
    enum file_type type;
    uint32_t item_bytes; /* of one element; UNICODE: 4 per character */
    int rank;
    int64_t dim[LIMIT_RANK];
    const void *bytes;
    uint64_t n_bytes;
    const char
        *note; /* CSV, for messages: the first cell that is no number (text) or is missing (numbers: NaN) */
};
struct array_file {
    struct array *at;
    uint32_t n;
};
const struct array *array_find(const struct array_file *f, const char *name); /* NULL when missing */
int64_t array_count(const struct array *a);                                   /* elements */

/* Any of the formats below. npy, npz and gzip are known by their first bytes, others by the ending of the
 * name
 * (.csv, .tsv, .safetensors), the rest by content again (idx, safetensors). Code F3008 when it is none. */
MUST_CHECK enum status arrays_read(struct arena *a, const char *path, struct diag_sink *sink,
                                   struct array_file *out);
MUST_CHECK enum status arrays_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                    struct diag_sink *sink, struct array_file *out);
/* By the ending: .npz, .npy (one array), .csv, .safetensors; another one is F3008. Written atomically. */
MUST_CHECK enum status arrays_write(const char *path, const struct array *x, uint32_t n,
                                    struct diag_sink *sink);
/* The endings that arrays_write takes, for messages and for checks before anything is computed. */
bool arrays_can_write(const char *path);

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

/* idx (the format of MNIST), plain or gzip: a big-endian header and one array, whose name is "". */
MUST_CHECK enum status idx_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                 struct diag_sink *sink, struct array_file *out);

/* CSV: UTF-8, commas (.tsv: tabs), RFC 4180 quotes, a header row with unique names; blank lines at the end
 * only. Each column is one array of rank 1: i64, f64, or text (FT_STRING). Empty cells and na, n/a, nan,
 * null, none are missing values: NaN and a note. Whoever wants numbers calls array_need_numbers, which
 * refuses both. */
MUST_CHECK enum status csv_file_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                                      struct diag_sink *sink, struct array_file *out);
/* Arrays side by side, first axis = rows; further axes become columns `name.0`, `name.1`, .. Numbers have as
 * many digits as it takes to read the same value back. */
MUST_CHECK enum status csv_append(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink,
                                  struct text *out);
MUST_CHECK enum status csv_file_write(const char *path, const struct array *x, uint32_t n,
                                      struct diag_sink *sink);

/* F4004 for text, F4005 for missing values (F3107 for text that is not from CSV). */
MUST_CHECK enum status array_need_numbers(const struct array *x, const char *path, struct diag_sink *sink);

/* Element i as a double (exact for all but 64-bit integers above 2^53). Not for text. */
double array_number(const struct array *x, int64_t i);
/* Element i of a text array as UTF-8, in the arena or the file's memory; trailing NULs are removed. */
const char *array_string(struct arena *a, const struct array *x, int64_t i);

#endif
