/* The cache of compiled kernels. A file is a header, the source, the machine code; it counts only if all of
 * them are what was asked for, so a half-written, damaged or foreign file is as good as none. Several runs
 * may read, write and trim one folder at the same time: a name always stands for a whole file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "runtime/base/seam.h"
#include "runtime/exec/cuda/cuda_exec.h"

enum { PATH = 1024, STALE = 3600 /* seconds after which nobody writes on */, CUBIN_MOST = 64 << 20 };
static const char ending[] = ".kernel", half_written[] = ".part";

struct header {
    char magic[8], compiler[CUDA_IDENTITY];
    uint32_t version, sm;
    uint64_t source, cubin, check;
};

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *s = bytes;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ s[i]) * 0x100000001b3u; /* FNV-1a */
    }
    return h;
}

void cuda_cache_open(struct cuda_cache *c, const char *cache, const char *compiler, int sm)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = 0;
    *c = (struct cuda_cache){.sm = sm};
    snprintf(c->compiler, sizeof c->compiler, "%s", compiler);
    if (cache) {
        n = strcmp(cache, "none") == 0 ? 0 : snprintf(c->folder, sizeof c->folder, "%s", cache);
    } else if (base && base[0] == '/') {
        n = snprintf(c->folder, sizeof c->folder, "%s/gml", base);
    } else if (home && home[0]) {
        n = snprintf(c->folder, sizeof c->folder, "%s/.cache/gml", home);
    }
    if (n >= (int)sizeof c->folder) {
        c->folder[0] = 0;
    }
}

static struct header header_of(const struct cuda_cache *c, const struct codegen_kernel *k)
{
    struct header h = {
        .magic = "gmlk001", .version = CODEGEN_VERSION, .sm = (uint32_t)c->sm, .source = k->bytes};
    snprintf(h.compiler, sizeof h.compiler, "%s", c->compiler);
    return h;
}

static void path_of(const struct cuda_cache *c, const struct codegen_kernel *k, char path[PATH])
{
    struct header h = header_of(c, k);
    uint64_t key = hash_bytes(hash_bytes(0xcbf29ce484222325u, &h, sizeof h), k->source, k->bytes);
    snprintf(path, PATH, "%s/%016llx%s", c->folder, (unsigned long long)key, ending);
}

static bool read_bytes(int fd, void *to, size_t n)
{
    char *at = to;
    while (n > 0) {
        ssize_t got = io_seam.read(fd, at, n);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool read_body(int fd, const struct header *h, const struct codegen_kernel *k, struct cuda_cubin *out)
{
    char *source = mem_alloc(k->bytes);
    *out = (struct cuda_cubin){.bytes = mem_alloc(h->cubin), .n = h->cubin};
    bool same = read_bytes(fd, source, k->bytes) && memcmp(source, k->source, k->bytes) == 0 &&
                read_bytes(fd, out->bytes, out->n) && hash_bytes(0, out->bytes, out->n) == h->check;
    mem_free(source, k->bytes);
    if (!same) {
        mem_free(out->bytes, out->n);
        *out = (struct cuda_cubin){.bytes = NULL};
    }
    return same;
}

bool cuda_cache_read(const struct cuda_cache *c, const struct codegen_kernel *k, struct cuda_cubin *out)
{
    char path[PATH];
    struct header h, want = header_of(c, k);
    *out = (struct cuda_cubin){.bytes = NULL};
    if (!c->folder[0]) {
        return false;
    }
    path_of(c, k, path);
    int fd = io_seam.open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    bool good = read_bytes(fd, &h, sizeof h) && h.cubin > 0 && h.cubin <= CUBIN_MOST;
    want.cubin = h.cubin;
    want.check = h.check;
    good = good && memcmp(&h, &want, sizeof h) == 0 && read_body(fd, &h, k, out);
    io_seam.close(fd);
    if (good) {
        utimensat(AT_FDCWD, path, NULL, 0); /* used now; no harm when that fails */
    }
    return good;
}

/* The folder and those above it. */
static int make_folder(const char *folder)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (char *s = path + 1;; s++) {
        if (*s == '/' || *s == 0) {
            char kept = *s;
            *s = 0;
            if (mkdir(path, 0777) != 0 && errno != EEXIST) {
                return errno;
            }
            if (!kept) {
                return 0;
            }
            *s = kept;
        }
    }
}

static bool write_bytes(int fd, const void *from, size_t n)
{
    const char *at = from;
    while (n > 0) {
        ssize_t put = io_seam.write(fd, at, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            errno = put == 0 ? ENOSPC : errno;
            return false;
        }
        at += put;
        n -= (size_t)put;
    }
    return true;
}

int cuda_cache_write(const struct cuda_cache *c, const struct codegen_kernel *k, const struct cuda_cubin *in)
{
    static uint32_t number;
    char path[PATH], part[PATH + 64];
    struct header h = header_of(c, k);
    if (!c->folder[0]) {
        return 0;
    }
    h.cubin = in->n;
    h.check = hash_bytes(0, in->bytes, in->n);
    path_of(c, k, path);
    snprintf(part, sizeof part, "%s.%ld.%u%s", path, (long)getpid(),
             __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED), half_written);
    int fd = io_seam.open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ENOENT) {
        int failed = make_folder(c->folder);
        if (failed) {
            return failed;
        }
        fd = io_seam.open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0) {
        return errno;
    }
    bool ok = write_bytes(fd, &h, sizeof h) && write_bytes(fd, k->source, k->bytes) &&
              write_bytes(fd, in->bytes, in->n);
    int failed = ok ? 0 : errno;
    if (io_seam.close(fd) != 0 && !failed) {
        failed = errno;
    }
    if (!failed && io_seam.rename(part, path) != 0) {
        failed = errno;
    }
    if (failed) {
        io_seam.unlink(part);
    }
    return failed;
}

struct entry {
    char path[PATH];
    uint64_t bytes;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n > m && strcmp(s + n - m, end) == 0;
}

void cuda_cache_trim(const struct cuda_cache *c, uint64_t bytes)
{
    DIR *folder = c->folder[0] ? opendir(c->folder) : NULL;
    if (!folder) {
        return;
    }
    struct arena *a = arena_new();
    VEC(struct entry) file = {0};
    uint64_t sum = 0;
    for (struct dirent *d = readdir(folder); d; d = readdir(folder)) {
        struct entry x;
        struct stat st;
        int n = snprintf(x.path, sizeof x.path, "%s/%s", c->folder, d->d_name);
        if (n >= (int)sizeof x.path || stat(x.path, &st) != 0 || !S_ISREG(st.st_mode)) {
            continue;
        }
        if (ends_with(d->d_name, half_written) && time(NULL) - st.st_mtime > STALE) {
            io_seam.unlink(x.path);
        } else if (ends_with(d->d_name, ending)) {
            x.bytes = (uint64_t)st.st_size;
            x.used = st.st_mtim;
            sum += x.bytes;
            vec_push(a, &file, x);
        }
    }
    closedir(folder);
    if (sum > bytes) {
        qsort(file.at, file.n, sizeof *file.at, by_use);
    }
    for (uint32_t i = 0; i < file.n && sum > bytes; i++) {
        io_seam.unlink(file.at[i].path);
        sum -= file.at[i].bytes;
    }
    arena_free(a);
}
