/* Writing a GGUF file. */
#include "gguf_write.h"

#include "base/file.h"
#include "half.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

void eco_gguf_writer_init(struct eco_gguf_writer *w)
{
    memset(w, 0, sizeof(*w));
    w->fd = -1;
}

void eco_gguf_writer_done(struct eco_gguf_writer *w)
{
    eco_buf_done(&w->keys);
    eco_buf_done(&w->tensors);
    if (w->fd >= 0) {
        close(w->fd);
        w->fd = -1;
    }
    if (w->made) {
        unlink(w->temp);
        w->made = false;
    }
}

/* Little-endian, whatever the machine. */
static void put(struct eco_buf *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        eco_buf_putc(b, (char)(v >> (8 * i) & 0xFFu));
    }
}

static void put_string(struct eco_buf *b, const char *s, size_t len)
{
    put(b, len, 8);
    eco_buf_put(b, s, len);
}

static void begin_key(struct eco_gguf_writer *w, const char *key, size_t len,
                      enum eco_gguf_type type)
{
    put_string(&w->keys, key, len);
    put(&w->keys, type, 4);
    w->n_keys++;
}

void eco_gguf_put_text(struct eco_gguf_writer *w, const char *key, const char *text, size_t len)
{
    begin_key(w, key, strlen(key), ECO_GGUF_STRING);
    put_string(&w->keys, text, len);
}

void eco_gguf_put_u32(struct eco_gguf_writer *w, const char *key, uint32_t v)
{
    begin_key(w, key, strlen(key), ECO_GGUF_U32);
    put(&w->keys, v, 4);
}

void eco_gguf_put_f32(struct eco_gguf_writer *w, const char *key, float v)
{
    begin_key(w, key, strlen(key), ECO_GGUF_F32);
    put(&w->keys, eco_float_bits(v), 4);
}

void eco_gguf_put_bool(struct eco_gguf_writer *w, const char *key, bool v)
{
    begin_key(w, key, strlen(key), ECO_GGUF_BOOL);
    put(&w->keys, v ? 1 : 0, 1);
}

void eco_gguf_put_key(struct eco_gguf_writer *w, const struct eco_gguf_key *k)
{
    begin_key(w, k->name, k->len, k->type);
    if (k->type == ECO_GGUF_STRING) {
        put(&w->keys, k->value_len, 8);
    }
    eco_buf_put(&w->keys, k->value, k->value_len);
}

void eco_gguf_put_array(struct eco_gguf_writer *w, const char *key, enum eco_gguf_type type,
                        uint64_t n)
{
    begin_key(w, key, strlen(key), ECO_GGUF_ARRAY);
    put(&w->keys, type, 4);
    put(&w->keys, n, 8);
}

void eco_gguf_item_text(struct eco_gguf_writer *w, const char *text, size_t len)
{
    put_string(&w->keys, text, len);
}

void eco_gguf_item_bits(struct eco_gguf_writer *w, uint32_t bits)
{
    put(&w->keys, bits, 4);
}

static uint64_t aligned(uint64_t n)
{
    return (n + ECO_GGUF_ALIGN - 1) / ECO_GGUF_ALIGN * ECO_GGUF_ALIGN;
}

int eco_gguf_type_of(enum eco_format f)
{
    static const struct {
        enum eco_format format;
        int id;
    } known[] = {{ECO_FORMAT_F32, 0},  {ECO_FORMAT_F16, 1},   {ECO_FORMAT_Q4_0, 2},
                 {ECO_FORMAT_Q8_0, 8}, {ECO_FORMAT_Q4_K, 12}, {ECO_FORMAT_Q6_K, 14},
                 {ECO_FORMAT_BF16, 30}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].format == f) {
            return known[i].id;
        }
    }
    return -1;
}

void eco_gguf_put_tensor(struct eco_gguf_writer *w, const char *name, enum eco_format format,
                         uint64_t rows, uint64_t cols, uint64_t bytes)
{
    put_string(&w->tensors, name, strlen(name));
    put(&w->tensors, rows > 0 ? 2 : 1, 4);
    put(&w->tensors, cols, 8);
    if (rows > 0) {
        put(&w->tensors, rows, 8);
    }
    put(&w->tensors, (uint64_t)eco_gguf_type_of(format), 4);
    put(&w->tensors, w->data_bytes, 8);
    w->data_bytes += aligned(bytes);
    w->n_tensors++;
}

int eco_gguf_head(const struct eco_gguf_writer *w, struct eco_buf *out, struct eco_err *err)
{
    eco_buf_put(out, "GGUF", 4);
    put(out, 3, 4);
    put(out, w->n_tensors, 8);
    put(out, w->n_keys, 8);
    eco_buf_put(out, eco_buf_str(&w->keys), w->keys.len);
    eco_buf_put(out, eco_buf_str(&w->tensors), w->tensors.len);
    for (uint64_t n = out->len; n < aligned(out->len); n++) {
        eco_buf_putc(out, '\0');
    }
    bool ok = eco_buf_ok(out) && eco_buf_ok(&w->keys) && eco_buf_ok(&w->tensors);
    return ok ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory");
}

static int check_room(const char *path, uint64_t want, struct eco_err *err)
{
    char folder[4096];
    struct statvfs s;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (statvfs(folder, &s) != 0) {
        return eco_err_set(err, ECO_E_NOT_FOUND, "out", "the folder '%.160s' is not there", folder);
    }
    uint64_t have = (uint64_t)s.f_bavail * (uint64_t)s.f_frsize;
    if (want > have) {
        return eco_err_set(err, ECO_E_IO, "out",
                           "the file needs %.2f GB, '%.100s' has %.2f GB of room",
                           (double)want / 1e9, folder, (double)have / 1e9);
    }
    return 0;
}

int eco_gguf_create(struct eco_gguf_writer *w, const char *path, bool force, struct eco_err *err)
{
    struct eco_buf head = ECO_BUF_INIT;
    if (eco_file_exists(path) && !force) {
        return eco_err_set(err, ECO_E_EXISTS, "out", "'%.160s' is already there", path);
    }
    int n = snprintf(w->path, sizeof(w->path), "%s", path);
    if (n < 0 || (size_t)n >= sizeof(w->path)) {
        return eco_err_set(err, ECO_E_INVALID, "out", "the path is too long");
    }
    snprintf(w->temp, sizeof(w->temp), "%s.%ld.tmp", w->path, (long)getpid());
    int rc = eco_gguf_head(w, &head, err);
    rc = rc ? rc : check_room(path, head.len + w->data_bytes, err);
    if (rc == 0) {
        w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        w->made = w->fd >= 0;
        rc = w->made ? eco_gguf_data(w, eco_buf_str(&head), head.len, err)
                     : eco_err_set(err, ECO_E_IO, "out", "'%.160s': %s", path, strerror(errno));
        w->at = 0;
    }
    eco_buf_done(&head);
    return rc;
}

int eco_gguf_data(struct eco_gguf_writer *w, const void *bytes, size_t len, struct eco_err *err)
{
    const char *p = bytes;
    w->at += len;
    while (len > 0) {
        ssize_t n = write(w->fd, p, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return eco_err_set(err, ECO_E_IO, "out", "'%.160s' cannot be written: %s", w->path,
                               n < 0 ? strerror(errno) : "nothing was taken");
        }
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int eco_gguf_pad(struct eco_gguf_writer *w, struct eco_err *err)
{
    static const char zeros[ECO_GGUF_ALIGN];
    return eco_gguf_data(w, zeros, (size_t)(aligned(w->at) - w->at), err);
}

int eco_gguf_commit(struct eco_gguf_writer *w, uint64_t *file_bytes, struct eco_err *err)
{
    if (w->at != w->data_bytes) {
        return eco_err_set(err, ECO_E_INTERNAL, "out", "%llu bytes of tensors, %llu were announced",
                           (unsigned long long)w->at, (unsigned long long)w->data_bytes);
    }
    off_t end = lseek(w->fd, 0, SEEK_END);
    bool ok = end > 0 && fsync(w->fd) == 0;
    int closed = close(w->fd);
    w->fd = -1;
    if (!ok || closed != 0 || rename(w->temp, w->path) != 0) {
        return eco_err_set(err, ECO_E_IO, "out", "'%.160s' cannot be written: %s", w->path,
                           strerror(errno));
    }
    w->made = false;
    *file_bytes = (uint64_t)end;
    return 0;
}
