#include "report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_new(const char *path, mode_t mode, const struct eco_buf *text, struct eco_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return eco_err_set(err, ECO_E_INVALID, "file",
                           "'%.180s' is already there, and a key is never written over", path);
    if (fd < 0)
        return eco_err_set(err, ECO_E_IO, "file", "cannot write '%.180s': %s", path,
                           strerror(errno));
    size_t done = 0;
    bool ok = true;
    while (ok && done < text->len) {
        ssize_t n = write(fd, text->data + done, text->len - done);
        ok = n >= 0 || errno == EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    ok = ok && fsync(fd) == 0;
    int number = errno;
    close(fd);
    if (ok)
        return 0;
    unlink(path);
    return eco_err_set(err, ECO_E_IO, "file", "cannot write '%.180s': %s", path, strerror(number));
}

int eco_sign_key_save(const struct eco_sign_key *key, const char *path, struct eco_err *err)
{
    char public_path[4096];
    struct eco_buf secret = ECO_BUF_INIT, open_half = ECO_BUF_INIT;
    int n = snprintf(public_path, sizeof(public_path), "%s.pub", path);
    if (n < 0 || (size_t)n >= sizeof(public_path))
        return eco_err_set(err, ECO_E_TOO_LARGE, "file", "the path is too long");
    eco_sign_key_write_secret(key, &secret);
    eco_sign_key_write_public(key, &open_half);
    int rc = eco_buf_ok(&secret) && eco_buf_ok(&open_half)
                 ? write_new(path, 0600, &secret, err)
                 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    if (rc == 0) {
        rc = write_new(public_path, 0644, &open_half, err);
        if (rc != 0)
            unlink(path);
    }
    if (secret.data)
        eco_sign_wipe(secret.data, secret.len);
    eco_buf_done(&secret);
    eco_buf_done(&open_half);
    return rc;
}
