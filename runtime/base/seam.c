/* The I/O and clock seams and the two whole-file calls built on them. */
#include "runtime/base/seam.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int real_open(const char *path, int flags, unsigned mode)
{
    return open(path, flags | O_CLOEXEC, (mode_t)mode);
}

static ssize_t real_pread(int fd, void *to, size_t n, int64_t at)
{
    return pread(fd, to, n, (off_t)at);
}

struct io_seam io_seam = {real_open, read, real_pread, write, fsync, rename, close, unlink};

static double real_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void real_sleep(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

struct clock_seam clock_seam = {real_seconds, real_sleep};

/* Opens a regular file; O_NONBLOCK so that a FIFO without a writer is refused and not waited for. */
static enum status open_regular(const char *path, int *fd, uint64_t *size, struct diag_sink *sink)
{
    struct stat st;
    *fd = io_seam.open(path, O_RDONLY | O_NONBLOCK, 0);
    if (*fd < 0) {
        enum diag_code code = errno == ENOENT || errno == ENOTDIR ? DIAG_F0101 : DIAG_R1001;
        return diag_emit(sink, code, NO_SPAN, "cannot open `%s`: %s", path, strerror(errno));
    }
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        io_seam.close(*fd);
        return diag_emit(sink, DIAG_R1001, NO_SPAN, "cannot read `%s`: it is %s", path,
                         S_ISDIR(st.st_mode) ? "a folder" : "not a regular file");
    }
    *size = (uint64_t)st.st_size;
    return ST_OK;
}

static enum status too_large(const char *path, uint64_t max, struct diag_sink *sink)
{
    return diag_emit(sink, DIAG_R1002, NO_SPAN, "`%s` is larger than the limit of %llu bytes", path,
                     (unsigned long long)max);
}

/* The size of the file is a hint: it may grow or shrink while it is read. */
static enum status read_all(struct arena *a, const char *path, int fd, uint64_t size, uint64_t max,
                            char **text, size_t *n, struct diag_sink *sink)
{
    if (size > max || max >= SIZE_MAX - 2) {
        return too_large(path, max, sink);
    }
    size_t cap = (size_t)size + 2, used = 0;
    char *at = arena_alloc(a, cap);
    for (;;) {
        if (used + 1 == cap) {
            at = arena_resize(a, at, cap, cap * 2);
            cap *= 2;
        }
        ssize_t got = io_seam.read(fd, at + used, cap - 1 - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return diag_emit(sink, DIAG_R1001, NO_SPAN, "cannot read `%s`: %s", path, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        used += (size_t)got;
        if (used > max) {
            return too_large(path, max, sink);
        }
    }
    at[used] = 0;
    *text = at;
    *n = used;
    return ST_OK;
}

enum status file_read(struct arena *a, const char *path, uint64_t max, char **text, size_t *n,
                      struct diag_sink *sink)
{
    int fd;
    uint64_t size = 0;
    TRY(open_regular(path, &fd, &size, sink));
    enum status st = read_all(a, path, fd, size, max, text, n, sink);
    io_seam.close(fd);
    return st;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        size_t step = n < (size_t)1 << 30 ? n : (size_t)1 << 30;
        ssize_t put = io_seam.write(fd, bytes, step);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        bytes += put;
        n -= (size_t)put;
    }
    return true;
}

/* Makes the rename itself durable. Some file systems cannot sync a folder; the file is in place all the same.
 */
static void sync_folder(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *folder = slash == path ? "/" : slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".";
    int fd = io_seam.open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0) {
        io_seam.fsync(fd);
        io_seam.close(fd);
    }
}

/* Writes to what stays where it is: /dev/null, /dev/stdout. */
bool file_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
const char *path_in(struct arena *a, const char *folder, const char *path)
{
    bool as_is = !path[0] || path[0] == '/' || !folder[0];
    return as_is ? path : arena_printf(a, "%s/%s", folder, path);
}

static enum status device_write(const char *path, const void *bytes, size_t n, struct diag_sink *sink)
{
    int fd = io_seam.open(path, O_WRONLY, 0);
    bool ok = fd >= 0 && write_all(fd, bytes, n);
    int why = errno;
    if (fd >= 0) {
        io_seam.close(fd);
    }
    return ok ? ST_OK : diag_emit(sink, DIAG_R1003, NO_SPAN, "cannot write `%s`: %s", path, strerror(why));
}

enum status file_write(const char *path, const void *bytes, size_t n, struct diag_sink *sink)
{
    struct stat there;
    if (stat(path, &there) == 0 && S_ISCHR(there.st_mode)) {
        return device_write(path, bytes, n, sink);
    }
    char *tmp = arena_printf(sink->arena, "%s.tmp", path);
    int fd = io_seam.open(tmp, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0) {
        return diag_emit(sink, DIAG_R1003, NO_SPAN, "cannot create `%s`: %s", tmp, strerror(errno));
    }
    bool ok = write_all(fd, bytes, n) && io_seam.fsync(fd) == 0;
    int why = errno;
    if (io_seam.close(fd) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (ok && io_seam.rename(tmp, path) != 0) {
        ok = false;
        why = errno;
    }
    if (!ok) {
        io_seam.unlink(tmp);
        return diag_emit(sink, DIAG_R1003, NO_SPAN, "cannot write `%s`: %s", path, strerror(why));
    }
    sync_folder(sink->arena, path);
    return ST_OK;
}
