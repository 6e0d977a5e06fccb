/* Two more seams: I/O and the clock. (Allocation is in mem.h; CUDA calls go through
 * runtime/exec/cuda/cuda_api.h.) Production binds the real calls; tests replace the structs to count, delay
 * and fail. */
#ifndef GML_BASE_SEAM_H
#define GML_BASE_SEAM_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "runtime/base/diag.h"
#include "runtime/base/mem.h"

struct io_seam {
    int (*open)(const char *path, int flags, unsigned mode);
    ssize_t (*read)(int fd, void *to, size_t n);
    ssize_t (*pread)(int fd, void *to, size_t n, int64_t at);
    ssize_t (*write)(int fd, const void *from, size_t n);
    int (*fsync)(int fd);
    int (*rename)(const char *from, const char *to);
    int (*close)(int fd);
    int (*unlink)(const char *path);
};
extern struct io_seam io_seam;

struct clock_seam {
    double (*seconds)(void); /* monotonic */
    void (*sleep)(double seconds);
};
extern struct clock_seam clock_seam;

/* Whole file into the arena (NUL-terminated after n bytes). Rejects what is not a regular file or larger than
 * max. Codes F0101 (not there), R1001 (cannot open/read), R1002 (too large). */
MUST_CHECK enum status file_read(struct arena *a, const char *path, uint64_t max, char **text, size_t *n,
                                 struct diag_sink *sink);
/* Whether two paths lead to one file that is there. */
bool file_same(const char *a, const char *b);
/* `path` as the text of a model in `folder` means it: as it is when it is absolute, or empty, or folder is
 * "". */
const char *path_in(struct arena *a, const char *folder, const char *path);
/* Writes path.tmp, fsyncs, renames into place: the old file stays whole until the new one is. A character
 * device
 * (/dev/null) is written itself. Code R1003. */
MUST_CHECK enum status file_write(const char *path, const void *bytes, size_t n, struct diag_sink *sink);

#endif
