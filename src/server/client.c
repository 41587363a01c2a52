/* Who asks: the peer's address, or the one a trusted proxy wrote down; and the access log. */
#include "base/clock.h"
#include "base/json.h"
#include "server_parts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* "192.0.2.7", "2001:db8::1", "[2001:db8::1]:4711", "192.0.2.7:4711" */
static bool parse_address(const char *text, size_t len, unsigned char out[16])
{
    char word[64];
    struct in_addr v4;
    if (len == 0 || len >= sizeof word) {
        return false;
    }
    memcpy(word, text, len);
    word[len] = '\0';
    char *start = word;
    if (word[0] == '[') {
        start++;
        start[strcspn(start, "]")] = '\0';
    } else if (strchr(word, '.') && strchr(word, ':') == strrchr(word, ':')) {
        char *port = strchr(word, ':');
        if (port) {
            *port = '\0';
        }
    }
    if (inet_pton(AF_INET, start, &v4) == 1) {
        memset(out, 0, 10);
        out[10] = out[11] = 0xff;
        memcpy(out + 12, &v4, 4);
        return true;
    }
    return inet_pton(AF_INET6, start, out) == 1;
}

/* The last address of X-Forwarded-For is the one that our own proxy saw. */
void eco_server_address(const struct eco_server *s, const struct eco_http_request *q,
                        unsigned char out[16])
{
    const char *list = q->header[ECO_HTTP_FORWARDED_FOR];
    memcpy(out, q->peer, 16);
    if (s->o.trust_proxy && list) {
        const char *comma = strrchr(list, ',');
        const char *last = comma ? comma + 1 : list;
        last += strspn(last, " \t");
        parse_address(last, strcspn(last, " \t"), out);
    }
}

void eco_server_client(const struct eco_server *s, const struct eco_http_request *q, char out[64])
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    unsigned char a[16];
    eco_server_address(s, q, a);
    bool v4 = memcmp(a, mapped, sizeof mapped) == 0;
    if (!inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a + 12 : a, out, 64)) {
        snprintf(out, 64, "?");
    }
}

void eco_server_log_line(const struct eco_server *s, const struct eco_http_request *q,
                         const struct eco_http_reply *reply, int64_t unix_ms, double seconds,
                         bool with_query, struct eco_buf *out)
{
    char time[32], client[64];
    const char *query;
    size_t query_len;
    struct eco_json_writer w;
    size_t path = eco_target_split(q->target, &query, &query_len);
    eco_clock_iso8601(unix_ms, time);
    eco_server_client(s, q, client);
    eco_jw_init(&w, out, 0);
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "time", time);
    eco_jw_kv_str(&w, "client", client);
    eco_jw_kv_str(&w, "method", q->method);
    eco_jw_key(&w, "path");
    eco_jw_strn(&w, q->target, path < 256 ? path : 256);
    if (with_query && query) {
        eco_jw_key(&w, "query");
        eco_jw_strn(&w, query, query_len);
    }
    eco_jw_kv_i64(&w, "status", reply->status);
    eco_jw_kv_i64(&w, "bytes", (int64_t)reply->len);
    eco_jw_kv_num(&w, "ms", (double)(int64_t)(seconds * 1e6) / 1e3);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
}
