#include "workload/sse.h"

#include <string.h>

#define SHOWN 60

void eco_sse_init(struct eco_sse *s)
{
    *s = (struct eco_sse){.line = ECO_BUF_INIT, .data = ECO_BUF_INIT};
}

void eco_sse_done(struct eco_sse *s)
{
    eco_buf_done(&s->line);
    eco_buf_done(&s->data);
}

void eco_sse_reset(struct eco_sse *s)
{
    eco_buf_clear(&s->line);
    eco_buf_clear(&s->data);
    s->has_data = s->after_cr = s->begun = false;
}

bool eco_sse_midway(const struct eco_sse *s)
{
    return s->line.len > 0 || s->has_data;
}

/* A line as it may be quoted: printable ASCII, not long. */
static const char *shown(const char *text, size_t len, char out[SHOWN + 1])
{
    size_t n = len < SHOWN ? len : SHOWN;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = (char)(c < ' ' || c > '~' ? '?' : c);
    }
    out[n] = '\0';
    return out;
}

static int put(struct eco_buf *b, const char *bytes, size_t len, struct eco_err *err)
{
    if (b->len + len > ECO_SSE_MAX_BYTES) {
        return eco_err_set(err, ECO_E_TOO_LARGE, "url",
                           "the server sent a line or event of more than %zu bytes",
                           ECO_SSE_MAX_BYTES);
    }
    eco_buf_put(b, bytes, len);
    return eco_buf_ok(b) ? 0 : eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
}

/* The value of "field: value" when the line is of that field. */
static bool is_field(const char *line, size_t len, const char *field, const char **value,
                     size_t *value_len)
{
    size_t n = strlen(field);
    if (len < n || memcmp(line, field, n) != 0 || (len > n && line[n] != ':')) {
        return false;
    }
    size_t skip = len == n ? n : n + 1 + (len > n + 1 && line[n + 1] == ' ');
    *value = line + skip;
    *value_len = len - skip;
    return true;
}

static int end_of_event(struct eco_sse *s, const struct eco_sse_sink *sink, struct eco_err *err)
{
    int rc = 0;
    if (s->has_data) {
        rc = sink->on_data(sink->ctx, eco_buf_str(&s->data), s->data.len, err);
    }
    s->has_data = false;
    eco_buf_clear(&s->data);
    return rc;
}

static int end_of_line(struct eco_sse *s, const struct eco_sse_sink *sink, struct eco_err *err)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const char *line = eco_buf_str(&s->line), *value;
    size_t len = s->line.len, n;
    char quoted[SHOWN + 1];
    int rc = 0;
    if (!s->begun && len >= 3 && memcmp(line, mark, 3) == 0) {
        line += 3;
        len -= 3;
    }
    s->begun = true;
    if (len == 0) {
        rc = end_of_event(s, sink, err);
    } else if (is_field(line, len, "data", &value, &n)) {
        rc = s->has_data ? put(&s->data, "\n", 1, err) : 0;
        rc = rc ? rc : put(&s->data, value, n, err);
        s->has_data = true;
    } else if (is_field(line, len, "error", &value, &n)) {
        /* not of the format, but some servers say it so */
        rc = eco_err_set(err, ECO_E_DEVICE, "url", "the server says: %s", shown(value, n, quoted));
    } else if (line[0] != ':' && !is_field(line, len, "event", &value, &n) &&
               !is_field(line, len, "id", &value, &n) &&
               !is_field(line, len, "retry", &value, &n)) {
        rc = eco_err_set(err, ECO_E_CONTENT, "url", "the server sent what is no event stream: '%s'",
                         shown(line, len, quoted));
    }
    eco_buf_clear(&s->line);
    return rc;
}

int eco_sse_feed(struct eco_sse *s, const char *bytes, size_t len, const struct eco_sse_sink *sink,
                 struct eco_err *err)
{
    int rc = 0;
    for (size_t at = 0; at < len && rc == 0;) {
        if (s->after_cr && bytes[at] == '\n') {
            at++;
        }
        s->after_cr = false;
        size_t n = 0;
        while (at + n < len && bytes[at + n] != '\n' && bytes[at + n] != '\r') {
            n++;
        }
        rc = n ? put(&s->line, bytes + at, n, err) : 0;
        at += n;
        if (rc == 0 && at < len) {
            s->after_cr = bytes[at++] == '\r';
            rc = end_of_line(s, sink, err);
        }
    }
    return rc;
}
