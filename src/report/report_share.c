/*
 * The share link, byte for byte as the published encoder writes it: base64url of compact ASCII JSON
 * with the keys m, N, a, p, e, b, g and numbers as Python prints floats. Where that encoder invents
 * a size, takes a boolean for a number or makes a link no page opens, ours refuses and says why.
 */
#include "report.h"
#include "report_read.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* repr(float) of Python: shortest digits, ".0" on whole numbers, exponent below 1e-4, from 1e16. */
static void put_float(struct eco_buf *out, double v)
{
    char text[ECO_NUM_MAX], digits[ECO_NUM_MAX];
    size_t count = 0;
    int point = 0, exponent = 0;
    bool seen_point = false;
    eco_num_format(fabs(v), text);
    for (const char *t = text; *t; t++) {
        if (*t == 'e' || *t == 'E') {
            for (const char *d = t + 1; *d; d++)
                exponent = *d >= '0' && *d <= '9' ? exponent * 10 + (*d - '0') : exponent;
            exponent = t[1] == '-' ? -exponent : exponent;
            break;
        }
        if (*t == '.') {
            seen_point = true;
            continue;
        }
        if (count > 0 || *t != '0') {
            digits[count++] = *t;
            point += !seen_point;
        } else if (seen_point) {
            point--;
        }
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    int e10 = count ? point + exponent : 1; /* value = 0.DIGITS * 10^e10 */
    if (signbit(v))
        eco_buf_putc(out, '-');
    if (count == 0) {
        eco_buf_puts(out, "0.0");
    } else if (e10 - 1 < -4 || e10 - 1 >= 16) {
        eco_buf_putc(out, digits[0]);
        if (count > 1)
            eco_buf_putc(out, '.');
        eco_buf_put(out, digits + 1, count - 1);
        eco_buf_printf(out, "e%c%02d", e10 - 1 < 0 ? '-' : '+', e10 - 1 < 0 ? 1 - e10 : e10 - 1);
    } else {
        if (e10 <= 0)
            eco_buf_puts(out, "0.");
        for (int i = e10; i < 0; i++)
            eco_buf_putc(out, '0');
        for (int i = 0; i < (int)count || i < e10; i++) {
            if (i == e10 && e10 > 0)
                eco_buf_putc(out, '.');
            eco_buf_putc(out, i < (int)count ? digits[i] : '0');
        }
        if ((int)count <= e10)
            eco_buf_puts(out, ".0");
    }
}

/* round(v, places) of Python: half to even on the double's exact value, as printf rounds. */
static double round_even(double v, int places)
{
    char text[400];
    double rounded = v;
    int len = snprintf(text, sizeof(text), "%.*f", places, v);
    if (len > 0 && (size_t)len < sizeof(text))
        eco_num_parse(text, (size_t)len, &rounded);
    return rounded == 0 && text[0] == '-' ? -0.0 : rounded;
}

static void put_escape(struct eco_buf *out, unsigned code)
{
    eco_buf_printf(out, "\\u%04x", code);
}

/* One UTF-8 sequence at s; the reader has checked it. */
static size_t decode_utf8(const char *s, size_t len, unsigned *code)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80 ? 1 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
    *code = n == 1 ? u[0] : u[0] & (0x7fu >> n);
    for (size_t i = 1; i < n && i < len; i++)
        *code = *code << 6 | (u[i] & 0x3fu);
    return n < len ? n : len;
}

/* json.dumps with ASCII escapes. */
static void put_text(struct eco_buf *out, const char *s, size_t len)
{
    static const char plain[] = "\"\\\n\r\t\b\f", named[] = "\"\\nrtbf";
    eco_buf_putc(out, '"');
    for (size_t i = 0; i < len;) {
        unsigned code;
        i += decode_utf8(s + i, len - i, &code);
        const char *hit = code && code < 0x80 ? strchr(plain, (int)code) : NULL;
        if (hit) {
            eco_buf_putc(out, '\\');
            eco_buf_putc(out, named[hit - plain]);
        } else if (code >= ' ' && code <= '~') {
            eco_buf_putc(out, (char)code);
        } else if (code < 0x10000) {
            put_escape(out, code);
        } else {
            put_escape(out, 0xd800 + ((code - 0x10000) >> 10));
            put_escape(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
        }
    }
    eco_buf_putc(out, '"');
}

/* A text member, or `absent` where it is missing, null or empty; anything else is malformed. */
static int put_member(struct eco_buf *out, const char *name, const struct eco_json *v,
                      const char *absent, struct eco_err *err)
{
    eco_buf_printf(out, "\"%s\":", name);
    if (!v || v->type == ECO_JSON_NULL || (v->type == ECO_JSON_STRING && v->len == 0)) {
        put_text(out, absent, strlen(absent));
        return 0;
    }
    if (v->type != ECO_JSON_STRING)
        return eco_err_set(err, ECO_E_CONTENT, v->key, "'%s' is not text", v->key);
    put_text(out, v->str, v->len);
    return 0;
}

/* The size that is shared: the report's own, else the one in the model's name. */
static int shared_size(const struct eco_json *workload, double *out_b, struct eco_err *err)
{
    const struct eco_json *size = eco_json_get(workload, "params_b");
    const struct eco_json *name = eco_json_get(workload, "model_name");
    double v;
    if (size && size->type != ECO_JSON_NULL) {
        if (!eco_report_number(size, false, &v))
            return eco_err_set(err, ECO_E_CONTENT, "params_b", "'params_b' is not a number");
    } else if (!eco_report_size_of_name(name, &v)) {
        return eco_err_set(err, ECO_E_CONTENT, "params_b",
                           "the report has no size: 'params_b' is absent and the model's name has "
                           "none, so there is nothing to place on the curve");
    }
    v = round_even(v, 4);
    if (!(v > 0))
        return eco_err_set(
            err, ECO_E_CONTENT, "params_b",
            "'params_b' must be at least 0.0001: pages refuse a link without a size");
    *out_b = v;
    return 0;
}

static int put_payload(struct eco_buf *out, const struct eco_json *root, struct eco_err *err)
{
    const struct eco_json *workload = eco_json_get(root, "workload");
    const struct eco_json *results = eco_json_get(root, "results");
    const struct eco_json *delta = eco_json_get(results, "vs_fp16_energy_pct");
    double size_b = 0, delta_pct = 0;
    if (!delta || delta->type == ECO_JSON_NULL)
        return eco_err_set(err, ECO_E_CONTENT, "vs_fp16_energy_pct",
                           "the report has no 'results.vs_fp16_energy_pct' to share");
    if (!eco_report_number(delta, false, &delta_pct))
        return eco_err_set(err, ECO_E_CONTENT, "vs_fp16_energy_pct",
                           "'vs_fp16_energy_pct' is not a number");
    int rc = shared_size(workload, &size_b, err);
    if (rc != 0)
        return rc;
    eco_buf_putc(out, '{');
    rc = put_member(out, "m", eco_json_get(workload, "model_name"), "your model", err);
    eco_buf_puts(out, ",\"N\":");
    put_float(out, size_b);
    eco_buf_putc(out, ',');
    if (rc == 0)
        rc = put_member(out, "a", eco_report_arch(root), "", err);
    eco_buf_putc(out, ',');
    if (rc == 0)
        rc = put_member(out, "p", eco_json_get(workload, "precision"), "NF4", err);
    eco_buf_puts(out, ",\"e\":");
    put_float(out, round_even(delta_pct, 2));
    eco_buf_putc(out, ',');
    if (rc == 0)
        rc = put_member(out, "b", eco_json_get(results, "basis"), "unavailable", err);
    eco_buf_putc(out, ',');
    if (rc == 0)
        rc = put_member(out, "g", eco_report_gpu(root), "", err);
    eco_buf_putc(out, '}');
    return rc;
}

int eco_report_share(const char *text, size_t len, const char *site, struct eco_buf *out,
                     struct eco_err *err)
{
    struct eco_json_doc doc;
    struct eco_buf payload = ECO_BUF_INIT;
    if (!site)
        site = ECO_REPORT_SITE;
    size_t site_len = strlen(site);
    if (site_len && site[site_len - 1] == '/')
        site_len--;
    int rc = eco_json_parse(&doc, text, len, err);
    if (rc != 0)
        return rc;
    rc = put_payload(&payload, doc.root, err);
    if (rc == 0 && !eco_buf_ok(&payload))
        rc = eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    if (rc == 0) {
        eco_buf_put(out, site, site_len);
        eco_buf_puts(out, "/?tab=run&overlay=");
        eco_base64url_encode(out, payload.data, payload.len);
        if (!eco_buf_ok(out))
            rc = eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    }
    eco_buf_done(&payload);
    eco_json_done(&doc);
    return rc;
}
