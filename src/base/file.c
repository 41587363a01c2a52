#define _XOPEN_SOURCE 700 /* realpath */

#include "base/file.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP ((size_t)65536)
#define TEMP_TRIES 16

static int code_of(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return ECO_E_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return ECO_E_PERMISSION;
    case EEXIST:
        return ECO_E_EXISTS;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
        return ECO_E_INVALID;
    case ENOMEM:
        return ECO_E_NO_MEMORY;
    default:
        return ECO_E_IO;
    }
}

static int fail(struct eco_err *err, const char *verb, const char *path, int number)
{
    char reason[128];

    if (strerror_r(number, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", number);
    }
    return eco_err_set(err, code_of(number), path, "cannot %s '%.120s': %s", verb, path, reason);
}

static int no_memory(struct eco_err *err, const char *path)
{
    return eco_err_set(err, ECO_E_NO_MEMORY, path, "out of memory for '%.120s'", path);
}

/* Reads to the end, one byte past `limit` at most; returns 0 or an errno, or -1: out of memory. */
static int read_all(int fd, size_t limit, struct eco_buf *b)
{
    size_t most = limit < SIZE_MAX ? limit + 1 : limit;

    while (b->len < most) {
        size_t step = most - b->len < READ_STEP ? most - b->len : READ_STEP;
        if (!eco_buf_reserve(b, step)) {
            return -1;
        }
        ssize_t got = read(fd, b->data + b->len, step);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return errno;
        }
        if (got == 0) {
            return 0;
        }
        b->len += (size_t)got;
        b->data[b->len] = '\0';
    }
    return 0;
}

int eco_file_read(const char *path, size_t limit, struct eco_buf *out, struct eco_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    struct eco_buf got = ECO_BUF_INIT;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code = 0, number;

    if (fd < 0) {
        return fail(err, "read", name, errno);
    }
    number = read_all(fd, limit, &got);
    if (number < 0) {
        code = no_memory(err, name);
    } else if (number > 0) {
        code = fail(err, "read", name, number);
    } else if (got.len > limit) {
        code = eco_err_set(err, ECO_E_TOO_LARGE, path, "'%.120s' has more than %zu bytes", name,
                           limit);
    }
    if (!standard) {
        close(fd);
    }
    if (code == 0) {
        /* `out` may hold text already, and may have a limit of its own. */
        eco_buf_put(out, got.data != NULL ? got.data : "", got.len);
        code = eco_buf_ok(out) ? 0 : no_memory(err, name);
    }
    eco_buf_done(&got);
    return code;
}

static int write_all(int fd, const char *p, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Some files (pipes, terminals) cannot be synchronised; that is no failure. */
static int sync_fd(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

/* The folder of `path`, heap-allocated: "." when it names none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *dir = malloc(len + 1);

    if (dir != NULL) {
        memcpy(dir, slash == NULL ? "." : path, len);
        dir[len] = '\0';
    }
    return dir;
}

/* Makes the new name last over a power cut; the data is already safe, so failure is no error. */
static void sync_folder(const char *path)
{
    char *dir = folder_of(path);
    int fd = dir != NULL ? open(dir, O_RDONLY | O_CLOEXEC | O_DIRECTORY) : -1;

    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(dir);
}

/* A new file beside `path`; `name` gets its path. Returns the descriptor or -1 with errno. */
static int open_temp(const char *path, mode_t mode, struct eco_buf *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; i < TEMP_TRIES && fd < 0 && errno == EEXIST; i++) {
        eco_buf_clear(name);
        eco_buf_put(name, path, folder);
        eco_buf_printf(name, ".eco-%ld-%" PRIx64 ".tmp", (long)getpid(),
                       (uint64_t)eco_clock_mono_ns());
        if (!eco_buf_ok(name)) {
            errno = ENOMEM;
            return -1;
        }
        fd = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
    return fd;
}

/* Gives the finished temporary its name, never over another file. 0 or an errno. */
static int publish_new(const char *temp, const char *path)
{
    if (link(temp, path) == 0) {
        (void)unlink(temp);
        return 0;
    }
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK) {
        return errno;
    }
    /* No hard links here (FAT, some network file systems): claim the name, then replace our own. */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno;
    }
    close(fd);
    if (rename(temp, path) == 0) {
        return 0;
    }
    int number = errno;
    (void)unlink(path);
    return number;
}

static int publish(const char *temp, const char *path, bool force)
{
    if (!force) {
        return publish_new(temp, path);
    }
    return rename(temp, path) == 0 ? 0 : errno;
}

/* The whole of a new file, or nothing. `old` is what is replaced, or NULL. 0 or an errno. */
static int write_beside(const char *path, const void *bytes, size_t len, bool force,
                        const struct stat *old)
{
    struct eco_buf temp = ECO_BUF_INIT;
    int fd = open_temp(path, 0666, &temp);
    int number = fd < 0 ? errno : 0;

    if (fd >= 0) {
        number = write_all(fd, bytes, len);
        if (number == 0 && old != NULL) {
            (void)fchmod(fd, old->st_mode & 07777); /* a replaced file keeps its rights */
        }
        number = number == 0 ? sync_fd(fd) : number;
        if (close(fd) != 0 && number == 0) {
            number = errno;
        }
        number = number == 0 ? publish(temp.data, path, force) : number;
        if (number != 0) {
            (void)unlink(temp.data);
        } else {
            sync_folder(path);
        }
    }
    eco_buf_done(&temp);
    return number;
}

/* A device or a pipe: there is nothing to replace, so the bytes just go there. 0 or an errno. */
static int write_into(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    int number;

    if (fd < 0) {
        return errno;
    }
    number = write_all(fd, bytes, len);
    return close(fd) != 0 && number == 0 ? errno : number;
}

int eco_file_write(const char *path, const void *bytes, size_t len, bool force, struct eco_err *err)
{
    struct stat st;
    struct stat *old = stat(path, &st) == 0 ? &st : NULL;
    char *real = NULL;
    int number;

    if (old != NULL && S_ISDIR(st.st_mode)) {
        return eco_err_set(err, ECO_E_INVALID, path, "cannot write '%.120s': it is a directory",
                           path);
    }
    if (old != NULL && !S_ISREG(st.st_mode)) {
        number = write_into(path, bytes, len);
        return number == 0 ? 0 : fail(err, "write", path, number);
    }
    if (old != NULL && force) {
        real = realpath(path, NULL); /* what a symbolic link points to is replaced, not the link */
    }
    number = old != NULL && !force
                 ? EEXIST
                 : write_beside(real != NULL ? real : path, bytes, len, force, old);
    free(real);
    if (number == EEXIST) {
        return eco_err_set(err, ECO_E_EXISTS, path, "'%.120s' is already there", path);
    }
    return number == 0 ? 0 : fail(err, "write", path, number);
}

int eco_file_mkdirs(const char *path, struct eco_err *err)
{
    size_t len = strlen(path);
    char *part = malloc(len + 1);
    int number = len == 0 ? ENOENT : 0;

    if (part == NULL) {
        return no_memory(err, path);
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len && number == 0; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        part[i] = '\0';
        int made = mkdir(part, 0777) == 0 ? 0 : errno; /* kept: looking again changes errno */
        if (made != 0 && !eco_file_is_dir(part)) {
            number = made == EEXIST ? ENOTDIR : made;
        }
        part[i] = path[i];
    }
    free(part);
    return number == 0 ? 0 : fail(err, "make the folder", path, number);
}

bool eco_file_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool eco_file_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}
