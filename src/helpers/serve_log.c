/* The access log: lines are gathered and written each tick, so that a request waits for no disk. */
#include "base/clock.h"
#include "serve_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FULL_BYTES ((size_t)256 << 10)

int serve_log_open(struct serve_log *l, const char *where, bool with_query, struct eco_err *err)
{
    *l = (struct serve_log){.fd = -1, .with_query = with_query};
    pthread_mutex_init(&l->lock, NULL);
    if (strcmp(where, "off") == 0) {
        return 0;
    }
    l->fd = strcmp(where, "stderr") == 0
                ? dup(STDERR_FILENO)
                : open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    return l->fd >= 0 ? 0
                      : eco_err_set(err, ECO_E_IO, "access_log", "cannot write '%.120s': %s", where,
                                    strerror(errno));
}

/* With the lock held. What cannot be written is lost: a full disk must not stop the service. */
static void write_all(struct serve_log *l)
{
    const char *at = eco_buf_str(&l->text);
    size_t left = eco_buf_ok(&l->text) ? l->text.len : 0;
    while (left) {
        ssize_t n = write(l->fd, at, left);
        if (n < 0 && errno != EINTR) {
            break;
        }
        at += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    eco_buf_clear(&l->text);
}

void serve_log_add(struct serve_log *l, const struct eco_server *s,
                   const struct eco_http_request *q, const struct eco_http_reply *r, double seconds)
{
    if (l->fd < 0) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    eco_server_log_line(s, q, r, eco_clock_unix_ms(), seconds, l->with_query, &l->text);
    if (l->text.len >= FULL_BYTES) {
        write_all(l);
    }
    pthread_mutex_unlock(&l->lock);
}

void serve_log_flush(struct serve_log *l)
{
    if (l->fd >= 0) {
        pthread_mutex_lock(&l->lock);
        write_all(l);
        pthread_mutex_unlock(&l->lock);
    }
}

void serve_log_close(struct serve_log *l)
{
    serve_log_flush(l);
    if (l->fd >= 0) {
        close(l->fd);
    }
    eco_buf_done(&l->text);
    pthread_mutex_destroy(&l->lock);
    l->fd = -1;
}
