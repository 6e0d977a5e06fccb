/* The part of zip that npz needs. Only the central directory is believed; a local header serves to skip
 * itself. Sizes are checked against the file before anything is allocated, so a claim can cost at most what
 * deflate could really deliver. */
#include <string.h>
#include <zlib.h>
#include "runtime/base/utf8.h"
#include "runtime/format/internal.h"

enum {
    END_BYTES = ZIP_END_BYTES,
    LOCATOR_BYTES = 20,
    END64_BYTES = 56,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30
};

static bool has_mark(const unsigned char *at, char a, char b)
{
    return at[0] == 'P' && at[1] == 'K' && at[2] == a && at[3] == b;
}

bool zip_is(const void *bytes, size_t n)
{
    return n >= 4 && (has_mark(bytes, 3, 4) || has_mark(bytes, 5, 6));
}

struct directory {
    uint64_t entries, bytes, at, end; /* `end`: where the end records begin */
};

static enum status find_directory(const struct origin *o, const struct zip *z, struct directory *d)
{
    const unsigned char *b = z->bytes;
    size_t end = z->n;
    bool found = false;
    for (size_t back = END_BYTES; back <= z->n && back <= END_BYTES + 65535 && !found; back++) {
        end = z->n - back;
        found = has_mark(b + end, 5, 6) && little(b + end + 20, 2) == back - END_BYTES;
    }
    if (!found) {
        return format_error(o, DIAG_F3010, "no end of the zip directory: the file is cut off or not a zip");
    }
    *d = (struct directory){little(b + end + 10, 2), little(b + end + 12, 4), little(b + end + 16, 4), end};
    bool more_disks =
        little(b + end + 4, 2) != 0 || little(b + end + 6, 2) != 0 || little(b + end + 8, 2) != d->entries;
    if (end >= LOCATOR_BYTES && has_mark(b + end - LOCATOR_BYTES, 6, 7)) {
        uint64_t at = little(b + end - LOCATOR_BYTES + 8, 8);
        if (end < LOCATOR_BYTES + END64_BYTES || at > end - LOCATOR_BYTES - END64_BYTES ||
            !has_mark(b + at, 6, 6)) {
            return format_error(o, DIAG_F3010, "the zip64 end record is not where it should be");
        }
        *d = (struct directory){little(b + at + 32, 8), little(b + at + 40, 8), little(b + at + 48, 8), at};
        more_disks = little(b + at + 24, 8) != d->entries;
    }
    if (more_disks) {
        return format_error(o, DIAG_F3011, "zip files in several parts are not read");
    }
    if (d->bytes > d->end || d->at != d->end - d->bytes) {
        return format_error(o, DIAG_F3010, "the zip directory does not end where its end record begins");
    }
    if (d->entries > LIMIT_ZIP_MEMBERS) {
        return format_error(o, DIAG_F3010, "%llu members, the most is %d", (unsigned long long)d->entries,
                            LIMIT_ZIP_MEMBERS);
    }
    return ST_OK;
}

/* Replaces saturated 32-bit fields by those of the zip64 extra field (size, packed, offset, in this order).
 */
static bool widen(const unsigned char *extra, size_t n, struct zip_member *m)
{
    uint64_t *fields[] = {&m->size, &m->packed, &m->at};
    while (n >= 4) {
        size_t length = (size_t)little(extra + 2, 2);
        const unsigned char *p = extra + 4;
        if (length > n - 4) {
            return false;
        }
        for (int i = 0; little(extra, 2) == 1 && i < 3; i++) {
            if (*fields[i] == UINT32_MAX && p + 8 <= extra + 4 + length) {
                *fields[i] = little(p, 8);
                p += 8;
            }
        }
        extra += 4 + length;
        n -= 4 + length;
    }
    return n == 0;
}

/* From the local header at m->at to the packed bytes. */
static enum status skip_local(const struct origin *o, const struct zip *z, const struct directory *d,
                              struct zip_member *m)
{
    const unsigned char *b = z->bytes;
    size_t name = strlen(m->name);
    if (m->at > d->at || d->at - m->at < LOCAL_BYTES || !has_mark(b + m->at, 3, 4)) {
        return format_error(o, DIAG_F3010, "no local header at offset %llu", (unsigned long long)m->at);
    }
    uint64_t data = m->at + LOCAL_BYTES + little(b + m->at + 26, 2) + little(b + m->at + 28, 2);
    if (data > d->at || m->packed > d->at - data) {
        return format_error(o, DIAG_F3010, "%llu packed bytes at offset %llu reach into the directory",
                            (unsigned long long)m->packed, (unsigned long long)data);
    }
    if (little(b + m->at + 26, 2) != name || memcmp(b + m->at + LOCAL_BYTES, m->name, name) != 0) {
        return format_error(o, DIAG_F3010, "the local header at offset %llu has another name",
                            (unsigned long long)m->at);
    }
    m->at = data;
    return ST_OK;
}

static enum status check_name(const struct origin *o, const struct zip *z, const char *name, size_t n)
{
    if (n == 0 || !utf8_printable(name, n) || memchr(name, '/', n) || memchr(name, '\\', n)) {
        return format_error(o, DIAG_F3012,
                            "a member has an empty name, a folder or strange characters in it");
    }
    for (uint32_t i = 0; i < z->members.n; i++) {
        if (strlen(z->members.at[i].name) == n && memcmp(z->members.at[i].name, name, n) == 0) {
            return format_error(o, DIAG_F3012, "two members are called `%s`", z->members.at[i].name);
        }
    }
    return ST_OK;
}

static enum status check_sizes(const struct origin *o, const struct zip_member *m)
{
    if (m->method != 0 && m->method != 8) {
        return format_error(o, DIAG_F3011,
                            "compression method %d is not read; np.savez and np.savez_compressed are",
                            m->method);
    }
    if (m->method == 0 && m->packed != m->size) {
        return format_error(o, DIAG_F3014, "stored, but %llu bytes are to become %llu",
                            (unsigned long long)m->packed, (unsigned long long)m->size);
    }
    if (!inflate_possible(m->packed, m->size)) {
        return format_error(o, DIAG_F3014, "%llu packed bytes cannot become %llu",
                            (unsigned long long)m->packed, (unsigned long long)m->size);
    }
    return ST_OK;
}

/* One entry of the directory at *at; moves *at behind it. */
static enum status read_entry(const struct origin *o, struct zip *z, const struct directory *d, uint64_t *at)
{
    const unsigned char *b = z->bytes + *at;
    uint64_t left = d->end - *at;
    if (left < CENTRAL_BYTES || !has_mark(b, 1, 2)) {
        return format_error(o, DIAG_F3010, "entry %u of the zip directory is malformed", z->members.n);
    }
    size_t name = (size_t)little(b + 28, 2), extra = (size_t)little(b + 30, 2),
           comment = (size_t)little(b + 32, 2);
    if (left - CENTRAL_BYTES < name + extra + comment) {
        return format_error(o, DIAG_F3010, "entry %u of the zip directory is cut off", z->members.n);
    }
    *at += CENTRAL_BYTES + name + extra + comment;
    TRY(check_name(o, z, (const char *)b + CENTRAL_BYTES, name));
    struct zip_member m = {arena_strndup(o->arena, (const char *)b + CENTRAL_BYTES, name),
                           little(b + 20, 4),
                           little(b + 24, 4),
                           little(b + 42, 4),
                           (uint32_t)little(b + 16, 4),
                           (int)little(b + 10, 2)};
    struct origin in = *o;
    in.member = m.name;
    if (little(b + 8, 2) & 0x41) {
        return format_error(&in, DIAG_F3011, "encrypted members are not read");
    }
    if (!widen(b + CENTRAL_BYTES + name, extra, &m)) {
        return format_error(&in, DIAG_F3010, "the extra field is malformed");
    }
    TRY(check_sizes(&in, &m));
    TRY(skip_local(&in, z, d, &m));
    vec_push(o->arena, &z->members, m);
    return ST_OK;
}

enum status zip_open(const struct origin *o, const void *bytes, size_t n, struct zip *out)
{
    struct directory d = {0};
    uint64_t packed = 0;
    *out = (struct zip){.bytes = bytes, .n = n};
    TRY(find_directory(o, out, &d));
    uint64_t at = d.at;
    for (uint64_t i = 0; i < d.entries; i++) {
        TRY(read_entry(o, out, &d, &at));
        packed += out->members.at[i].packed; /* at most 4096 times the file: no overflow */
    }
    if (at != d.end) {
        return format_error(o, DIAG_F3010, "the zip directory has more than its %llu entries",
                            (unsigned long long)d.entries);
    }
    if (packed > n) {
        return format_error(o, DIAG_F3010, "members overlap: together they are larger than the file");
    }
    return ST_OK;
}

static uint32_t crc_of(const unsigned char *at, uint64_t n)
{
    uLong crc = crc32(0, NULL, 0);
    while (n > 0) {
        uInt step = n > UINT32_MAX ? UINT32_MAX : (uInt)n;
        crc = crc32(crc, at, step);
        at += step;
        n -= step;
    }
    return (uint32_t)crc;
}

enum status zip_extract(const struct origin *o, const struct zip *z, const struct zip_member *m, void **out)
{
    unsigned char *to = arena_alloc(o->arena, (size_t)m->size);
    if (m->method == 0) {
        memcpy(to, z->bytes + m->at, (size_t)m->size);
    } else if (!inflate_exactly(z->bytes + m->at, m->packed, to, m->size, INFLATE_RAW)) {
        return format_error(o, DIAG_F3015,
                            "the compressed data is damaged, or has another size than the directory says");
    }
    uint32_t crc = crc_of(to, m->size);
    if (crc != m->crc) {
        return format_error(o, DIAG_F3013, "checksum 0x%08x, but the directory says 0x%08x", crc, m->crc);
    }
    *out = to;
    return ST_OK;
}
