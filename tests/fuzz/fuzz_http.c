/*
 * Any bytes as a request: the first line is method and target, the rest the body. Whatever comes:
 * one reply, a status of ours, JSON where it says JSON, and an error object with every refusal.
 */
#include "base/json.h"
#include "server/server.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static struct eco_server *server(void)
{
    static struct eco_server *s;
    if (!s) {
        const struct eco_server_options o = {.rate_per_min = 0};
        check(eco_server_new(&o, &s, NULL) == 0);
    }
    return s;
}

static void check_reply(const struct eco_http_reply *r)
{
    static const int known[] = {200, 202, 204, 304, 400, 403, 404,
                                405, 406, 413, 414, 422, 431, 501};
    const char *type = eco_http_header_of(r, "Content-Type");
    int found = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        found |= r->status == known[i];
    }
    check(found);
    check(eco_http_header_of(r, "X-Content-Type-Options") != NULL);
    if (r->len && type && strncmp(type, "application/json", 16) == 0) {
        struct eco_json_doc doc = {0};
        check(eco_json_parse(&doc, r->body, r->len, NULL) == 0);
        const struct eco_json *error = eco_json_get(doc.root, "error");
        check(r->status < 400 || (error && eco_json_get(error, "message")));
        eco_json_done(&doc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct eco_server_worker *w;
    struct eco_server *s = server();
    struct eco_http_reply reply;
    size_t limit;
    w = w ? w : eco_server_worker_new(s);
    char *text = malloc(size + 2); /* as C strings: the library below cuts at NUL too */
    check(w != NULL && text != NULL);
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    size_t line = strcspn(text, "\n"), method = strcspn(text, " \n");
    const char *body = line < size ? text + line + 1 : NULL;
    text[line] = '\0';
    char *target = method < line ? text + method + 1 : text + line;
    text[method < line ? method : line] = '\0';
    struct eco_http_request q = {.method = text, .target = target};
    if (eco_server_admit(s, w, &q, &limit, &reply)) {
        size_t len = body ? size - line - 1 : 0;
        q.body = body;
        q.body_len = len <= limit ? len : limit;
        eco_server_handle(s, w, &q, &reply);
    }
    check_reply(&reply);
    eco_server_count(s, &reply, 0.001);
    free(text);
    return 0;
}
