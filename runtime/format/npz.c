/* npy and npz files: the calls. An npz is a zip of npy members. */
#include <string.h>
#include <zlib.h>
#include "runtime/base/seam.h"
#include "runtime/format/internal.h"

/* Data behind an npy header is at an odd place: move it to an aligned one. */
static void settle(struct arena *a, struct array *x)
{
    void *to = arena_alloc(a, (size_t)x->n_bytes);
    memcpy(to, x->bytes, (size_t)x->n_bytes);
    x->bytes = to;
}

static enum status parse_single(const struct origin *o, const void *bytes, size_t n, struct array_file *out)
{
    struct array *x = arena_new_of(o->arena, struct array);
    x->name = "";
    TRY(npy_parse(o, bytes, n, x));
    settle(o->arena, x);
    *out = (struct array_file){x, 1};
    return ST_OK;
}

static enum status parse_member(const struct origin *o, const struct zip *z, const struct zip_member *m,
                                struct array *x)
{
    struct origin scratch = *o;
    size_t n = strlen(m->name);
    void *bytes;
    scratch.member = m->name;
    if (n <= 4 || strcmp(m->name + n - 4, ".npy") != 0) {
        return format_error(&scratch, DIAG_F3012, "the members of an npz end in .npy");
    }
    scratch.arena = arena_new();
    enum status st = zip_extract(&scratch, z, m, &bytes);
    st = st == ST_OK ? npy_parse(&scratch, bytes, (size_t)m->size, x) : st;
    if (st == ST_OK) {
        x->name = arena_strndup(o->arena, m->name, n - 4);
        settle(o->arena, x);
    }
    arena_free(scratch.arena);
    return st;
}

enum status npz_parse(struct arena *a, const char *path, const void *bytes, size_t n, struct diag_sink *sink,
                      struct array_file *out)
{
    struct origin o = {a, sink, path, ""};
    struct zip z;
    *out = (struct array_file){0};
    if (npy_is(bytes, n)) {
        return parse_single(&o, bytes, n, out);
    }
    if (!zip_is(bytes, n)) {
        return format_error(&o, DIAG_F3001,
                            "neither npy nor npz: the first bytes are those of another format");
    }
    TRY(zip_open(&o, bytes, n, &z));
    struct array *list = arena_array(a, struct array, z.members.n);
    for (uint32_t i = 0; i < z.members.n; i++) {
        TRY(parse_member(&o, &z, &z.members.at[i], &list[i]));
    }
    *out = (struct array_file){list, z.members.n};
    return ST_OK;
}

enum status npz_read(struct arena *a, const char *path, struct diag_sink *sink, struct array_file *out)
{
    struct arena *scratch = arena_new();
    char *bytes;
    size_t n;
    *out = (struct array_file){0};
    enum status st = file_read(scratch, path, FORMAT_FILE_BYTES, &bytes, &n, sink);
    if (st == ST_OK) {
        st = npz_parse(a, path, bytes, n, sink, out);
    }
    arena_free(scratch);
    return st;
}

/* -- Writing */
enum status npy_write(const char *path, const struct array *x, struct diag_sink *sink)
{
    struct arena *scratch = arena_new();
    struct origin o = {scratch, sink, path, ""};
    struct text to = {.arena = scratch};
    npy_append(&o, x, &to);
    enum status st = file_write(path, to.at, to.n, sink);
    arena_free(scratch);
    return st;
}

/* The fields that local header and directory entry share, from `version needed` to the lengths of name and
 * extra field. */
static void put_common(struct text *to, const char *name, const unsigned char *data, size_t n)
{
    unsigned char h[26] = {20};
    put_little(h + 8, 0x21, 2); /* 1980-01-01: the same arrays give the same file */
    put_little(h + 10, crc32(crc32(0, NULL, 0), data, (uInt)n), 4);
    put_little(h + 14, n, 4);
    put_little(h + 18, n, 4);
    put_little(h + 22, strlen(name), 2);
    text_append(to, (const char *)h, sizeof h);
}

static void append_member(const struct origin *o, const struct array *x, struct text *to,
                          struct text *central)
{
    struct text npy = {.arena = o->arena};
    const char *name = arena_printf(o->arena, "%s.npy", x->name);
    npy_append(o, x, &npy);
    unsigned char tail[14] = {0};
    put_little(tail + 10, to->n, 4);
    text_append(central, "PK\1\2\24\0", 6);
    put_common(central, name, (const unsigned char *)npy.at, npy.n);
    text_append(central, (const char *)tail, sizeof tail);
    text_append(central, name, strlen(name));
    text_append(to, "PK\3\4", 4);
    put_common(to, name, (const unsigned char *)npy.at, npy.n);
    text_append(to, name, strlen(name));
    text_append(to, npy.at, npy.n);
}

/* Before anything is copied: all members are within what an npz without zip64 can say. Its records, the npy
 * header and their padding are below MEMBER_BYTES, besides the name. */
static enum status check_sizes(const struct origin *o, const struct array *x, uint32_t n)
{
    enum { MEMBER_BYTES = 1024 };
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t name = strlen(x[i].name);
        if (name > UINT16_MAX - 4) {
            return format_error(o, DIAG_F3016, "a name of %zu bytes", name);
        }
        total += MEMBER_BYTES + 2 * name;
        uint64_t data = npy_data_bytes(&x[i]);
        if (data > UINT32_MAX || (total += data) > UINT32_MAX) {
            return format_error(o, DIAG_F3016, "an npz of more than 4 GiB");
        }
    }
    return ST_OK;
}

static enum status build(const struct origin *o, const struct array *x, uint32_t n, struct text *to)
{
    struct text central = {.arena = o->arena};
    if (n > LIMIT_ZIP_MEMBERS) {
        return format_error(o, DIAG_F3016, "an npz of more than %d members", LIMIT_ZIP_MEMBERS);
    }
    TRY(check_sizes(o, x, n));
    for (uint32_t i = 0; i < n; i++) {
        struct origin in = *o;
        in.member = x[i].name;
        append_member(&in, &x[i], to, &central);
    }
    unsigned char end[ZIP_END_BYTES] = {'P', 'K', 5, 6};
    put_little(end + 8, n, 2);
    put_little(end + 10, n, 2);
    put_little(end + 12, central.n, 4);
    put_little(end + 16, to->n, 4);
    text_append(to, central.at ? central.at : "", central.n);
    text_append(to, (const char *)end, sizeof end);
    return ST_OK;
}

enum status npz_write(const char *path, const struct array *x, uint32_t n, struct diag_sink *sink)
{
    struct arena *scratch = arena_new();
    struct origin o = {scratch, sink, path, ""};
    struct text to = {.arena = scratch};
    enum status st = build(&o, x, n, &to);
    if (st == ST_OK) {
        st = file_write(path, to.at, to.n, sink);
    }
    arena_free(scratch);
    return st;
}
