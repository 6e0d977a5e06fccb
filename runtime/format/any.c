/* Any array file: which reader or writer a file belongs to. Strong first bytes count more than the ending of
 * the name, so that a renamed file is still read; formats without such bytes are known by their ending.
 */
#include <string.h>
#include <strings.h>
#include "runtime/base/seam.h"
#include "runtime/format/internal.h"

typedef enum status parser(struct arena *, const char *, const void *, size_t, struct diag_sink *,
                           struct array_file *);

static enum status tsv_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                             struct diag_sink *sink, struct array_file *out)
{
    return csv_separated_parse(a, path, bytes, n, '\t', sink, out);
}

static bool safetensors_is(const void *bytes, size_t n)
{
    return n >= 10 && little(bytes, 8) <= LIMIT_SAFETENSORS_HEADER && ((const char *)bytes)[8] == '{';
}

static enum status safetensors_write_plain(const char *path, const struct array *x, uint32_t n,
                                           struct diag_sink *sink)
{
    return safetensors_write(path, x, n, NULL, sink);
}

static enum status npy_write_one(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink)
{
    if (n != 1) {
        struct origin o = {sink->arena, sink, path, ""};
        enum status st = format_error(&o, DIAG_F3004, "an npy file holds one array, and there are %u", n);
        diag_help(sink, "write an .npz file");
        return st;
    }
    return npy_write(path, x, sink);
}

static const struct format {
    const char *ending;
    bool (*strong)(const void *, size_t); /* surely this format, whatever its name */
    bool (*weak)(const void *, size_t);   /* this format when the name does not say otherwise */
    parser *parse;
    enum status (*write)(const char *, const struct array *, uint32_t, struct diag_sink *);
} formats[] = {
    {".npy", npy_is, NULL, npz_parse, npy_write_one},
    {".npz", zip_is, NULL, npz_parse, npz_write},
    {".safetensors", NULL, safetensors_is, safetensors_parse, safetensors_write_plain},
    {".csv", NULL, NULL, csv_file_parse, csv_file_write},
    {".tsv", NULL, NULL, tsv_parse, NULL},
    {".gz", gzip_is, NULL, idx_parse, NULL},
    {"-ubyte", NULL, idx_is, idx_parse, NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *by_ending(const char *path)
{
    size_t n = strlen(path);
    for (int i = 0; i < FORMATS; i++) {
        size_t k = strlen(formats[i].ending);
        if (n > k && strcasecmp(path + n - k, formats[i].ending) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

static const struct format *by_content(const void *bytes, size_t n, bool strong)
{
    for (int i = 0; i < FORMATS; i++) {
        bool (*is)(const void *, size_t) = strong ? formats[i].strong : formats[i].weak;
        if (is && is(bytes, n)) {
            return &formats[i];
        }
    }
    return NULL;
}

enum status arrays_parse(struct arena *a, const char *path, const void *bytes, size_t n,
                         struct diag_sink *sink, struct array_file *out)
{
    const struct format *f = by_content(bytes, n, true);
    f = f ? f : by_ending(path);
    f = f ? f : by_content(bytes, n, false);
    *out = (struct array_file){0};
    if (!f) {
        struct origin o = {a, sink, path, ""};
        enum status st =
            format_error(&o, DIAG_F3008, "no array file: neither its first bytes nor its name say which");
        diag_help(sink, "data files are npz, npy, safetensors, idx and CSV; text needs the ending .csv");
        return st;
    }
    return f->parse(a, path, bytes, n, sink, out);
}

enum status arrays_read(struct arena *a, const char *path, struct diag_sink *sink, struct array_file *out)
{
    struct arena *scratch = arena_new();
    char *bytes;
    size_t n;
    *out = (struct array_file){0};
    enum status st = file_read(scratch, path, FORMAT_FILE_BYTES, &bytes, &n, sink);
    if (st == ST_OK) {
        st = arrays_parse(a, path, bytes, n, sink, out);
    }
    arena_free(scratch);
    return st;
}

bool arrays_can_write(const char *path)
{
    const struct format *f = by_ending(path);
    return f && f->write;
}

enum status arrays_write(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink)
{
    if (!arrays_can_write(path)) {
        struct origin o = {sink->arena, sink, path, ""};
        return format_error(&o, DIAG_F3008, "arrays are written as .npz, .npy, .csv or .safetensors");
    }
    return by_ending(path)->write(path, x, n, sink);
}
