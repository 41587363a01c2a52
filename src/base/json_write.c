/* The JSON writer; json.c has the reader. */
#include "base/json.h"
#include "base/num.h"
#include "base/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <math.h>
#include <string.h>

void eco_jw_init(struct eco_json_writer *w, struct eco_buf *out, int indent)
{
    memset(w, 0, sizeof *w);
    w->out = out;
    w->indent = indent;
}

static void new_line(struct eco_json_writer *w)
{
    if (w->indent > 0) {
        eco_buf_putc(w->out, '\n');
        for (int i = 0; i < w->indent * w->depth; i++) {
            eco_buf_putc(w->out, ' ');
        }
    }
}

/* What stands before a value or a key: the comma and the new line. */
static void before(struct eco_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->need_comma[w->depth]) {
        eco_buf_putc(w->out, ',');
    }
    w->need_comma[w->depth] = true;
    if (w->depth > 0) {
        new_line(w);
    }
}

static void open(struct eco_json_writer *w, char bracket)
{
    before(w);
    eco_buf_putc(w->out, bracket);
    if (w->depth == ECO_JSON_MAX_DEPTH) {
        w->out->failed = true;
        return;
    }
    w->need_comma[++w->depth] = false;
}

static void close(struct eco_json_writer *w, char bracket)
{
    bool empty = !w->need_comma[w->depth];

    if (w->depth > 0) {
        w->depth--;
    }
    if (!empty) {
        new_line(w);
    }
    eco_buf_putc(w->out, bracket);
}

void eco_jw_object(struct eco_json_writer *w)
{
    open(w, '{');
}

void eco_jw_object_end(struct eco_json_writer *w)
{
    close(w, '}');
}

void eco_jw_array(struct eco_json_writer *w)
{
    open(w, '[');
}

void eco_jw_array_end(struct eco_json_writer *w)
{
    close(w, ']');
}

/* Eight bytes at once: a high bit is set where one is below 0x20, above 0x7f, '"' or '\\'. */
static uint64_t special(const char *s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t v, quote, slash;

    memcpy(&v, s, sizeof v);
    quote = v ^ ones * '"';
    slash = v ^ ones * '\\';
    return (v | (v - ones * 0x20) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash)) &
           ones * 0x80;
}

#ifdef __SSE2__
/* The same for sixteen; a byte above 0x7f is below 0x20 as a signed one. */
static int special16(const char *s)
{
    __m128i v = _mm_loadu_si128((const void *)s);
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));

    return _mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(quote, slash), _mm_cmplt_epi8(v, _mm_set1_epi8(0x20))));
}
#endif

/* Bytes at s[0..len) that are written as they are. */
static size_t plain_run(const char *s, size_t len)
{
    size_t n = 0;

#ifdef __SSE2__
    while (len - n >= 16 && special16(s + n) == 0) {
        n += 16;
    }
    if (len >= 16 && len - n < 16 && special16(s + len - 16) == 0) {
        return len; /* the end, with some bytes seen before */
    }
#endif
    while (len - n >= 8 && special(s + n) == 0) {
        n += 8;
    }
    if (len >= 8 && len - n < 8 && special(s + len - 8) == 0) {
        return len;
    }
    while (n < len && (signed char)s[n] >= 0x20 && s[n] != '"' && s[n] != '\\') {
        n++;
    }
    return n;
}

static void put_escape(struct eco_buf *out, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *hit = c == 0 ? NULL : strchr(from, c);
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

    if (hit != NULL) {
        text[1] = to[hit - from];
    }
    eco_buf_put(out, text, hit != NULL ? 2 : 6);
}

static void put_string(struct eco_buf *out, const char *s, size_t len)
{
    size_t plain = plain_run(s, len);
    char *all = plain == len && len < SIZE_MAX - 2 ? eco_buf_extend(out, len + 2) : NULL;

    if (plain == len) { /* nearly always */
        if (all != NULL) {
            all[0] = '"';
            memcpy(all + 1, s, len);
            all[len + 1] = '"';
        }
        return;
    }
    eco_buf_putc(out, '"');
    for (size_t i = 0; i < len;) {
        size_t n = plain_run(s + i, len - i);
        uint32_t point;
        if (n > 0) {
            eco_buf_put(out, s + i, n);
        } else if ((unsigned char)s[i] < 0x80) {
            put_escape(out, (unsigned char)s[i]);
            n = 1;
        } else {
            n = eco_utf8_decode(s + i, len - i, &point);
            eco_buf_put(out, n > 0 ? s + i : "\xEF\xBF\xBD", n > 0 ? n : 3);
            n = n > 0 ? n : 1;
        }
        i += n;
    }
    eco_buf_putc(out, '"');
}

static void put_key(struct eco_json_writer *w, const char *key, size_t len)
{
    before(w);
    put_string(w->out, key, len);
    eco_buf_put(w->out, ": ", w->indent > 0 ? 2 : 1);
    w->after_key = true;
}

void eco_jw_key(struct eco_json_writer *w, const char *key)
{
    put_key(w, key, strlen(key));
}

void eco_jw_token(struct eco_json_writer *w, const char *token, size_t len)
{
    if (w->indent > 0 || w->after_key || w->depth == 0) {
        put_key(w, token + 2, len - 4);
        return;
    }
    bool first = !w->need_comma[w->depth];

    w->need_comma[w->depth] = true;
    w->after_key = true;
    eco_buf_put(w->out, token + first, len - first);
}

void eco_jw_raw(struct eco_json_writer *w, const char *json, size_t len)
{
    before(w);
    eco_buf_put(w->out, json, len);
}

void eco_jw_null(struct eco_json_writer *w)
{
    eco_jw_raw(w, "null", 4);
}

void eco_jw_bool(struct eco_json_writer *w, bool v)
{
    eco_jw_raw(w, v ? "true" : "false", v ? 4 : 5);
}

void eco_jw_num(struct eco_json_writer *w, double v)
{
    if (!isfinite(v)) {
        eco_jw_null(w);
        return;
    }
    before(w);
    eco_buf_put_num(w->out, v);
}

void eco_jw_i64(struct eco_json_writer *w, int64_t v)
{
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    char text[24];
    char *end = text + sizeof text, *p = end;

    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u > 0);
    if (v < 0) {
        *--p = '-';
    }
    eco_jw_raw(w, p, (size_t)(end - p));
}

void eco_jw_strn(struct eco_json_writer *w, const char *s, size_t len)
{
    before(w);
    put_string(w->out, s, len);
}

void eco_jw_str(struct eco_json_writer *w, const char *s)
{
    if (s == NULL) {
        eco_jw_null(w);
        return;
    }
    eco_jw_strn(w, s, strlen(s));
}

void eco_jw_kv_num(struct eco_json_writer *w, const char *key, double v)
{
    eco_jw_key(w, key);
    eco_jw_num(w, v);
}

void eco_jw_kv_i64(struct eco_json_writer *w, const char *key, int64_t v)
{
    eco_jw_key(w, key);
    eco_jw_i64(w, v);
}

void eco_jw_kv_str(struct eco_json_writer *w, const char *key, const char *s)
{
    eco_jw_key(w, key);
    eco_jw_str(w, s);
}

void eco_jw_kv_bool(struct eco_json_writer *w, const char *key, bool v)
{
    eco_jw_key(w, key);
    eco_jw_bool(w, v);
}

void eco_jw_value(struct eco_json_writer *w, const struct eco_json *v)
{
    enum eco_json_type type = v == NULL ? ECO_JSON_NULL : v->type;
    bool object = type == ECO_JSON_OBJECT;

    if (type == ECO_JSON_NULL) {
        eco_jw_null(w);
    } else if (type == ECO_JSON_STRING) {
        eco_jw_strn(w, v->str, v->len);
    } else if (type == ECO_JSON_NUMBER) {
        eco_jw_raw(w, v->str, v->len); /* as written: no digit is lost */
    } else if (type == ECO_JSON_ARRAY || object) {
        open(w, object ? '{' : '[');
        for (const struct eco_json *m = v->child; m != NULL; m = m->next) {
            if (object) {
                put_key(w, m->key, m->key_len);
            }
            eco_jw_value(w, m); /* the reader's depth limit bounds it */
        }
        close(w, object ? '}' : ']');
    } else {
        eco_jw_bool(w, type == ECO_JSON_TRUE);
    }
}
