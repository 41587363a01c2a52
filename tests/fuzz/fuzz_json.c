/* Any bytes: refused with a position inside them, or read, written and read again as the same. */
#include "base/json.h"
#include "eco_err.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check(int condition)
{
    if (!condition) {
        abort();
    }
}

static void check_same(const struct eco_json *a, const struct eco_json *b)
{
    check(a->type == b->type && a->count == b->count && a->len == b->len);
    check(a->key_len == b->key_len && (a->key == NULL) == (b->key == NULL));
    check(a->key == NULL || memcmp(a->key, b->key, a->key_len + 1) == 0);
    check(a->str == NULL || memcmp(a->str, b->str, a->len + 1) == 0);
    check(memcmp(&a->num, &b->num, sizeof a->num) == 0);
    check(a->is_integer == b->is_integer && a->i64 == b->i64);
    uint32_t count = 0;
    const struct eco_json *n = b->child;
    for (const struct eco_json *m = a->child; m != NULL; m = m->next, n = n->next, count++) {
        check(n != NULL);
        check(m->key == NULL || strlen(m->key) < m->key_len || eco_json_get(a, m->key) == m);
        check_same(m, n);
    }
    check(n == NULL && count == a->count);
}

static void check_error(const struct eco_err *e, int code, size_t size)
{
    check(e->code == code && e->message[0] != '\0');
    check(eco_str_is_utf8(e->message, strlen(e->message)));
    if (code == ECO_E_CONTENT) {
        check(e->line >= 1 && e->line <= (long)size + 1);
        check(e->column >= 1 && e->column <= (long)size + 1);
    } else {
        check(code == ECO_E_TOO_LARGE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct eco_json_doc kept; /* reparsed, as a server does */
    struct eco_json_doc again;
    struct eco_err e = {0};
    int code = eco_json_reparse(&kept, (const char *)data, size, &e);

    if (code < 0) {
        check_error(&e, code, size);
        check(kept.root == NULL);
        return 0;
    }
    check(eco_str_is_utf8((const char *)data, size));
    for (int indent = 0; indent <= 2; indent += 2) {
        struct eco_buf out = ECO_BUF_INIT;
        struct eco_json_writer w;
        eco_jw_init(&w, &out, indent);
        eco_jw_value(&w, kept.root);
        check(eco_buf_ok(&out));
        check(eco_json_parse(&again, out.data, out.len, &e) == 0);
        check_same(kept.root, again.root);
        eco_json_done(&again);
        eco_buf_done(&out);
    }
    return 0;
}
