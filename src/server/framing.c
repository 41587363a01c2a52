/*
 * What is wrong with a request before anything reads it. Two readers of one byte stream (a proxy
 * and this server) must never disagree about where a request ends: what could be read in two ways
 * is refused, and the connection ends with it (RFC 9112 6.3, 11.2).
 */
#include "server_parts.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool once; /* the values of several lines are no list */
} headers[] = {
#define X(id, header, once) {header, once},
    ECO_HTTP_HEADERS(X)
#undef X
};

/* RFC 9110 5.6.2 */
static bool is_token(const char *name)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    for (const char *c = name; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && !(*c >= '0' && *c <= '9') && !strchr(marks, *c)) {
            return false;
        }
    }
    return name[0] != '\0';
}

/* A header folded over two lines reaches us with its second line glued to its name: of these two
 * that hides where the body ends. */
static bool hides_length(const char *name)
{
    static const char *const framing[] = {"Transfer-Encoding", "Content-Length"};
    bool hides = false;
    for (size_t i = 0; i < ECO_COUNT(framing); i++) {
        size_t n = strlen(framing[i]);
        hides |= eco_str_ncasecmp(name, framing[i], n) == 0 && name[n] != '\0';
    }
    return hides;
}

void eco_http_take_header(struct eco_http_request *q, const char *name, const char *value)
{
    q->header_bytes += strlen(name) + strlen(value) + 4;
    q->odd_header |= !is_token(name) || hides_length(name);
    for (size_t i = 0; i < ECO_HTTP_HEADER_COUNT; i++) {
        if (eco_str_casecmp(name, headers[i].name) == 0) {
            bool same = q->header[i] && strcmp(q->header[i], value) == 0;
            bool equal_is_one = i == ECO_HTTP_CONTENT_LENGTH;
            if (q->header[i] && headers[i].once && !(same && equal_is_one)) {
                q->repeated_header = headers[i].name;
            }
            q->header[i] = value; /* of a list of proxies the last is ours */
            return;
        }
    }
}

const char *eco_http_origin_form(const char *target)
{
    bool web =
        eco_str_ncasecmp(target, "http://", 7) == 0 || eco_str_ncasecmp(target, "https://", 8) == 0;
    const char *path = web ? strchr(strstr(target, "://") + 3, '/') : target;
    return path ? path : "/";
}

static bool ends(struct eco_http_reply *r)
{
    r->close = true;
    return false;
}

static bool is_framed(struct eco_server_worker *w, const struct eco_http_request *q,
                      struct eco_http_reply *r)
{
    bool old = q->version && strcmp(q->version, "HTTP/1.0") == 0;
    if (q->repeated_header) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, q->repeated_header, r,
                          "the header '%s' is given twice", q->repeated_header);
    }
    if (q->cut_target || strchr(q->target, ' ')) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, NULL, r,
                          "the address holds a blank or a NUL byte: write %%20 for a blank");
    }
    if (q->odd_header) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, NULL, r, "the name of a header is not one word");
    }
    if (q->version && !old && !q->header[ECO_HTTP_HOST]) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, "Host", r, "the header 'Host' is missing");
    }
    const char *coding = q->header[ECO_HTTP_TRANSFER_ENCODING];
    if (coding && (old || q->header[ECO_HTTP_CONTENT_LENGTH])) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, "Transfer-Encoding", r,
                          old ? "HTTP/1.0 has no 'Transfer-Encoding'"
                              : "'Transfer-Encoding' and 'Content-Length' exclude each other");
    }
    if (coding && eco_str_casecmp(coding, "chunked") != 0) {
        return eco_refuse(w, ECO_REFUSED_FRAMING, "Transfer-Encoding", r,
                          "'Transfer-Encoding' may only be chunked");
    }
    return true;
}

bool eco_http_fits(struct eco_server_worker *w, const struct eco_http_request *q,
                   struct eco_http_reply *r)
{
    if (!is_framed(w, q, r)) {
        return ends(r);
    }
    if (strlen(q->target) > ECO_HTTP_MAX_URL) {
        return eco_refuse(w, ECO_REFUSED_URI_TOO_LONG, NULL, r,
                          "the address is longer than %zu bytes: send the parameters as a JSON "
                          "body, by POST",
                          ECO_HTTP_MAX_URL);
    }
    if (q->header_bytes > ECO_HTTP_MAX_HEADERS) {
        return eco_refuse(w, ECO_REFUSED_HEADERS_TOO_LARGE, NULL, r,
                          "the headers are larger than %zu bytes together: send fewer",
                          ECO_HTTP_MAX_HEADERS);
    }
    return true;
}

bool eco_http_fits_body(struct eco_server_worker *w, const struct eco_http_request *q, size_t limit,
                        struct eco_http_reply *r)
{
    const char *length = q->header[ECO_HTTP_CONTENT_LENGTH];
    const char *coding = q->header[ECO_HTTP_CONTENT_ENCODING];
    if (coding && eco_str_casecmp(coding, "identity") != 0) { /* what it unpacks to has no limit */
        eco_refuse(w, ECO_REFUSED_MEDIA_TYPE, "Content-Encoding", r,
                   "a packed body is not taken: send it without 'Content-Encoding'");
        eco_http_add(r, "Accept-Encoding", "identity");
        return false;
    }
    return !length || strtoull(length, NULL, 10) <= limit || eco_refuse_body(w, limit, r);
}

bool eco_refuse_body(struct eco_server_worker *w, size_t limit, struct eco_http_reply *r)
{
    return eco_refuse(w, ECO_REFUSED_BODY_TOO_LARGE, NULL, r,
                      "the body is larger than %zu bytes, the most that this address takes", limit);
}
