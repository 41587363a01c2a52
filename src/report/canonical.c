/* The canonical form: RFC 8785 (JSON Canonicalization Scheme), with two refusals of our own. */
#include "report_read.h"
#include "sign.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EXACT 9007199254740992.0 /* 2^53: beyond it two integers may share a double */

/* The UTF-16 code unit at *at, as RFC 8785 sorts by them; -1 at the end. */
struct units {
    const unsigned char *s, *end;
    int low; /* second half of a pair that is due, or 0 */
};

static int next_unit(struct units *u)
{
    if (u->low) {
        int low = u->low;
        u->low = 0;
        return low;
    }
    if (u->s == u->end)
        return -1;
    unsigned c = *u->s++;
    int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    c = more ? c & (0x3fu >> more) : c;
    for (; more && u->s < u->end; more--)
        c = c << 6 | (*u->s++ & 0x3fu);
    if (c < 0x10000)
        return (int)c;
    u->low = (int)(0xdc00 + ((c - 0x10000) & 0x3ff));
    return (int)(0xd800 + ((c - 0x10000) >> 10));
}

static int by_key(const void *a, const void *b)
{
    const struct eco_json *x = *(const struct eco_json *const *)a;
    const struct eco_json *y = *(const struct eco_json *const *)b;
    const unsigned char *s = (const unsigned char *)x->key, *t = (const unsigned char *)y->key;
    struct units u = {s, s + x->key_len, 0}, v = {t, t + y->key_len, 0};
    int i, k;
    do {
        i = next_unit(&u);
        k = next_unit(&v);
    } while (i == k && i >= 0);
    return i < k ? -1 : i > k;
}

/* The shortest escapes: only what JSON cannot hold as it is. */
static void put_text(struct eco_buf *out, const char *s, size_t len)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    eco_buf_putc(out, '"');
    for (size_t i = 0; i < len; i++) {
        const char *hit = s[i] ? strchr(named, s[i]) : NULL;
        if (hit) {
            eco_buf_putc(out, '\\');
            eco_buf_putc(out, letters[hit - named]);
        } else if ((unsigned char)s[i] < 0x20) {
            eco_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)s[i]);
        } else {
            eco_buf_putc(out, s[i]);
        }
    }
    eco_buf_putc(out, '"');
}

static int put_value(struct eco_buf *out, const struct eco_json *v, const char *without,
                     struct eco_err *err);

static int put_object(struct eco_buf *out, const struct eco_json *v, const char *without,
                      struct eco_err *err)
{
    const struct eco_json **member = malloc((v->count + 1u) * sizeof(*member));
    size_t n = 0;
    int rc = 0;
    if (!member)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    for (const struct eco_json *m = v->child; m; m = m->next) {
        if (!without || strcmp(m->key, without) != 0)
            member[n++] = m;
    }
    qsort(member, n, sizeof(*member), by_key);
    eco_buf_putc(out, '{');
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (i)
            eco_buf_putc(out, ',');
        put_text(out, member[i]->key, member[i]->key_len);
        eco_buf_putc(out, ':');
        rc = put_value(out, member[i], NULL, err);
    }
    eco_buf_putc(out, '}');
    free(member);
    return rc;
}

/* An integer beyond 2^53 stands only if it is what its own double is written as. */
static int put_number(struct eco_buf *out, const struct eco_json *v, struct eco_err *err)
{
    char text[ECO_NUM_MAX];
    eco_num_format(v->num, text);
    if (fabs(v->num) >= MAX_EXACT && !strpbrk(v->str, ".eE") && strcmp(text, v->str) != 0)
        return eco_err_set_at(err, ECO_E_CONTENT, "number", v->line, v->column,
                              "the integer %.40s is beyond 2^53 and does not survive every reader; "
                              "write it as text",
                              v->str);
    eco_buf_puts(out, text);
    return 0;
}

static int put_value(struct eco_buf *out, const struct eco_json *v, const char *without,
                     struct eco_err *err)
{
    int rc = 0;
    switch (v->type) {
    case ECO_JSON_NULL:
        eco_buf_puts(out, "null");
        break;
    case ECO_JSON_FALSE:
        eco_buf_puts(out, "false");
        break;
    case ECO_JSON_TRUE:
        eco_buf_puts(out, "true");
        break;
    case ECO_JSON_NUMBER:
        return put_number(out, v, err);
    case ECO_JSON_STRING:
        put_text(out, v->str, v->len);
        break;
    case ECO_JSON_ARRAY:
        eco_buf_putc(out, '[');
        for (const struct eco_json *m = v->child; rc == 0 && m; m = m->next) {
            rc = put_value(out, m, NULL, err);
            if (m->next)
                eco_buf_putc(out, ',');
        }
        eco_buf_putc(out, ']');
        break;
    case ECO_JSON_OBJECT:
        return put_object(out, v, without, err);
    }
    return rc;
}

int eco_report_canonical_value(const struct eco_json *root, const char *without,
                               struct eco_buf *out, struct eco_err *err)
{
    size_t start = out->len;
    int rc = put_value(out, root, without, err);
    if (rc == 0 && !eco_buf_ok(out))
        rc = eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    if (rc != 0)
        out->len = out->data ? start : 0;
    return rc;
}

int eco_report_canonical(const char *text, size_t len, struct eco_buf *out, struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = eco_report_open(text, len, &doc, err);
    if (rc != 0)
        return rc;
    rc = eco_report_canonical_value(doc.root, "signature", out, err);
    eco_json_done(&doc);
    return rc;
}
