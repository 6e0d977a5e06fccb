/* Whole files through the I/O seam: limits, odd files, and that a failed write leaves the old file alone. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/base/dtype.h"
#include "runtime/base/seam.h"
#include "tests/suite.h"

static struct arena *arena;
static struct diag_sink sink;
static char folder[64], path[128];
static struct io_seam real;
static int budget; /* bytes that may still be written; -1 = any */

static void set_up(void)
{
    arena = arena_new();
    diag_init(&sink, arena, NULL);
    strcpy(folder, "/tmp/gml-seam-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    sprintf(path, "%s/file", folder);
    real = io_seam;
    budget = -1;
}

static void tear_down(void)
{
    io_seam = real;
    unlink(path);
    rmdir(folder); /* fails, and the next check with it, when a temporary file was left */
    ck_assert_int_ne(access(folder, F_OK), 0);
    arena_free(arena);
}

static void expect_content(const char *want)
{
    char *text;
    size_t n;
    ck_assert_int_eq(file_read(arena, path, 100, &text, &n, &sink), ST_OK);
    ck_assert_uint_eq(n, strlen(want));
    ck_assert_str_eq(text, want);
}

static ssize_t short_write(int fd, const void *from, size_t n)
{
    static int calls;
    if (calls++ % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    if (budget == 0) {
        errno = ENOSPC;
        return -1;
    }
    budget -= budget > 0;
    return write(fd, from, n < 1 ? n : 1);
}
static int no_fsync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}
static int no_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EACCES;
    return -1;
}
static int no_close(int fd)
{
    close(fd);
    errno = EIO;
    return -1;
}

START_TEST(short_writes_and_interrupts_are_finished)
{
    io_seam.write = short_write;
    ck_assert_int_eq(file_write(path, "hello", 5, &sink), ST_OK);
    expect_content("hello");
}
END_TEST

START_TEST(failure_keeps_the_old_file)
{
    ck_assert_int_eq(file_write(path, "old", 3, &sink), ST_OK);
    for (int i = 0; i < 4; i++) {
        io_seam = real;
        budget = 2;
        *(i == 0   ? (void **)&io_seam.write
          : i == 1 ? (void **)&io_seam.fsync
          : i == 2 ? (void **)&io_seam.rename
                   : (void **)&io_seam.close) = i == 0   ? (void *)short_write
                                                : i == 1 ? (void *)no_fsync
                                                : i == 2 ? (void *)no_rename
                                                         : (void *)no_close;
        ck_assert_int_eq(file_write(path, "newer", 5, &sink), ST_RESOURCE);
        io_seam = real;
        expect_content("old");
    }
    ck_assert_int_eq(sink.list.at[0].code, DIAG_R1003);
}
END_TEST

START_TEST(limits_and_odd_files)
{
    char *text;
    size_t n;
    ck_assert_int_eq(file_read(arena, path, 10, &text, &n, &sink), ST_DATA);
    ck_assert_int_eq(sink.list.at[0].code, DIAG_F0101);
    ck_assert_int_eq(file_write(path, "0123456789", 10, &sink), ST_OK);
    expect_content("0123456789");
    ck_assert_int_eq(file_read(arena, path, 10, &text, &n, &sink), ST_OK);
    ck_assert_int_eq(file_read(arena, path, 9, &text, &n, &sink), ST_RESOURCE);
    ck_assert_int_eq(sink.list.at[1].code, DIAG_R1002);
    ck_assert_int_eq(file_read(arena, folder, 10, &text, &n, &sink), ST_RESOURCE);
    unlink(path);
    struct stat device;
    ck_assert_int_eq(file_write("/dev/null", "x", 1, &sink), ST_OK); /* not renamed over */
    ck_assert(stat("/dev/null", &device) == 0 && S_ISCHR(device.st_mode));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(file_read(arena, path, 10, &text, &n, &sink), ST_RESOURCE); /* and does not hang */
    ck_assert_int_eq(file_write(path, "", 0, &sink), ST_OK);
    expect_content("");
}
END_TEST

START_TEST(tables)
{
    ck_assert_int_eq(status_exit_code(ST_STOPPED), 75);
    ck_assert_int_eq(status_exit_code(ST_NUMERIC), 5);
    ck_assert_int_eq(status_exit_code((enum status)1000), 7);
    ck_assert_uint_eq(dtype_size(DT_F64), 8);
    ck_assert_int_eq(dtype_parse("bool"), DT_BOOL);
    ck_assert_int_eq(dtype_parse("f99"), DT_NONE);
    ck_assert(dtype_is_float(DT_BF16) && !dtype_is_float(DT_I32));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("seam");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, short_writes_and_interrupts_are_finished);
    tcase_add_test(t, failure_keeps_the_old_file);
    tcase_add_test(t, limits_and_odd_files);
    tcase_add_test(t, tables);
    return suite_run("seam", t, CK_FORK);
}
