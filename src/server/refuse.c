/* Replies that say no: every error of the server is written here, in the language asked for. */
#include "ops/result.h"
#include "ops/voice.h"
#include "server_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- language ------------------------------------------------------------------------------ */

/* ";q=0.8" of one member of a list, in thousandths; 1000 where none is said (RFC 9110 12.4.2). */
static int weight_of(const char *member, size_t len)
{
    static const int place[] = {1000, 0, 100, 10, 1};
    size_t at = 0;
    int weight = 0;
    while (at + 1 < len && !((member[at] == 'q' || member[at] == 'Q') && member[at + 1] == '=')) {
        at++;
    }
    if (at + 1 >= len) {
        return 1000;
    }
    at += 2;
    for (size_t i = 0; i < ECO_COUNT(place) && at + i < len; i++) {
        char c = member[at + i];
        weight += c >= '0' && c <= '9' ? (c - '0') * place[i] : 0;
    }
    return weight < 1000 ? weight : 1000;
}

/* "zh-CN,zh;q=0.9,en;q=0.8": the first of the best among the languages that are spoken here. */
static enum eco_lang accepted_language(const char *list)
{
    enum eco_lang best = ECO_LANG_EN;
    int best_weight = 0;
    for (const char *at = list; at && *at;) {
        at += strspn(at, " \t,");
        size_t len = strcspn(at, ","), tag = strcspn(at, "-; \t,");
        enum eco_lang named = best;
        int weight = eco_lang_named(at, tag, &named) ? weight_of(at + tag, len - tag) : 0;
        if (weight > best_weight) {
            best = named;
            best_weight = weight;
        }
        at += len;
    }
    return best;
}

enum eco_lang eco_server_language(struct eco_server_worker *w)
{
    const struct eco_json *body = w->body_read ? eco_json_get(w->doc.root, "lang") : NULL;
    enum eco_lang out = ECO_LANG_EN;
    size_t len = 0;
    if (!w->request ||
        (body && body->type == ECO_JSON_STRING && eco_lang_named(body->str, body->len, &out))) {
        return out;
    }
    const char *query = eco_query_value(&w->arena, w->request->target, "lang", &len);
    if (query && eco_lang_named(query, len, &out)) {
        return out;
    }
    return accepted_language(w->request->header[ECO_HTTP_ACCEPT_LANGUAGE]);
}

/* ---- replies ------------------------------------------------------------------------------- */

static const struct {
    int status;
    const char *code;
} refusals[] = {
#define X(name, status, code) {status, code},
#include "refusals.def"
#undef X
};

static void write_error(struct eco_server_worker *w, int status, const char *code,
                        const struct eco_err *err, struct eco_http_reply *r)
{
    struct eco_json_writer jw;
    struct eco_err told = *err;
    eco_error_tell(eco_server_language(w), &told);
    eco_reply_start(r, status, "application/json; charset=utf-8");
    eco_http_add(r, "Cache-Control", "no-store");
    eco_buf_clear(&w->out);
    eco_jw_init(&jw, &w->out, 0);
    eco_error_json_as(code, &told, &jw);
    eco_buf_putc(&w->out, '\n');
    eco_reply_body(w, r);
}

void eco_reply_error(struct eco_server_worker *w, int status, const struct eco_err *err,
                     struct eco_http_reply *r)
{
    write_error(w, status ? status : eco_err_http_status(err->code), eco_err_text(err->code), err,
                r);
}

bool eco_refuse(struct eco_server_worker *w, enum eco_refusal what, const char *param,
                struct eco_http_reply *r, const char *format, ...)
{
    struct eco_err err = {0};
    va_list ap;
    va_start(ap, format);
    vsnprintf(err.message, sizeof err.message, format, ap);
    va_end(ap);
    eco_err_set(&err, ECO_E_INVALID, param, "%s", err.message);
    write_error(w, refusals[what].status, refusals[what].code, &err, r);
    return false;
}
