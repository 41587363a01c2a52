/*
 * What wasi-libc would import from the host, answered here: no files and no clock in the module.
 * With these the module imports nothing at all, so nothing can leave it.
 */
#include <stdint.h>

enum { BAD_DESCRIPTOR = 8 }; /* __WASI_ERRNO_BADF */

/* The names are wasi-libc's; it declares them as imports. */
int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd);
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence,
                                                  int32_t to);
int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t from, int32_t n, int32_t to);

int32_t __imported_wasi_snapshot_preview1_clock_time_get(int32_t id, int64_t precision, int32_t to);

int32_t __imported_wasi_snapshot_preview1_clock_time_get(int32_t id, int64_t precision, int32_t to)
{
    (void)id, (void)precision, (void)to;
    return BAD_DESCRIPTOR; /* tree-sitter asks for time limits that are never set */
}

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd)
{
    (void)fd;
    return BAD_DESCRIPTOR;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence,
                                                  int32_t to)
{
    (void)fd, (void)offset, (void)whence, (void)to;
    return BAD_DESCRIPTOR;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t from, int32_t n, int32_t to)
{
    (void)fd, (void)from, (void)n, (void)to;
    return BAD_DESCRIPTOR;
}
