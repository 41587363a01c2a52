/* Fixes as patches, the baseline, and the lines that a diff changed. */
#include "audit.h"
#include "base/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void prefixed(struct eco_buf *out, char sign, const char *s, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *nl = memchr(s + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - s) - at : len - at;
        eco_buf_putc(out, sign);
        eco_buf_put(out, s + at, n);
        eco_buf_putc(out, '\n');
        at += n + 1;
    }
}

static size_t count_lines(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        n += s[i] == '\n';
    }
    return n + (len && s[len - 1] != '\n');
}

/* A line of a megabyte with 500 findings would be a gigabyte of patches; --fix mends it all the
 * same. */
#define MAX_PATCHED ((size_t)16 << 10)

const char *eco_audit_patch(struct eco_audit *a, const struct eco_audit_finding *f,
                            const char *text, size_t len)
{
    const struct eco_audit_edit *e = &f->edit;
    if (!e->text || e->end > len || e->start > e->end) {
        return NULL;
    }
    size_t from = e->start, to = e->end;
    while (from > 0 && text[from - 1] != '\n' && e->start - from <= MAX_PATCHED) {
        from--;
    }
    while (to < len && (to == from || text[to - 1] != '\n') && to - from <= MAX_PATCHED) {
        to++;
    }
    if (to - from > MAX_PATCHED) {
        return NULL;
    }
    struct eco_buf now = ECO_BUF_INIT, b = ECO_BUF_INIT;
    eco_buf_put(&now, text + from, e->start - from);
    eco_buf_puts(&now, e->text);
    eco_buf_put(&now, text + e->end, to - e->end);
    size_t line = 1 + count_lines(text, from);
    size_t was_n = count_lines(text + from, to - from),
           now_n = count_lines(eco_buf_str(&now), now.len);
    eco_buf_printf(&b, "--- a/%s\n+++ b/%s\n@@ -%zu,%zu +%zu,%zu @@\n", f->file, f->file, line,
                   was_n, now_n ? line : line - 1, now_n);
    prefixed(&b, '-', text + from, to - from);
    prefixed(&b, '+', eco_buf_str(&now), now.len);
    const char *patch =
        eco_buf_ok(&b) && eco_buf_ok(&now) ? eco_arena_strdup(&a->arena, b.data, b.len) : NULL;
    eco_buf_done(&b);
    eco_buf_done(&now);
    return patch;
}

static int by_start(const void *pa, const void *pb)
{
    const struct eco_audit_edit *a = pa, *b = pb;
    return a->start != b->start ? (a->start < b->start ? -1 : 1) : 0;
}

size_t eco_audit_apply(const struct eco_audit_finding *f, size_t n, bool unsafe, const char *text,
                       size_t len, struct eco_buf *out)
{
    struct eco_audit_edit *edits = n ? malloc(n * sizeof(*edits)) : NULL;
    size_t count = 0, at = 0, done = 0;
    for (size_t i = 0; edits && i < n; i++) {
        if (f[i].edit.text && !f[i].in_baseline && (f[i].safe || unsafe)) {
            edits[count++] = f[i].edit;
        }
    }
    if (count) {
        qsort(edits, count, sizeof(*edits), by_start);
    }
    for (size_t i = 0; i < count; i++) {
        if (edits[i].start < at || edits[i].end > len) {
            continue; /* two fixes of one place: the next run does the second */
        }
        eco_buf_put(out, text + at, edits[i].start - at);
        eco_buf_puts(out, edits[i].text);
        at = edits[i].end;
        done++;
    }
    eco_buf_put(out, text + at, len - at);
    free(edits);
    return done;
}

/* ---- baseline -------------------------------------------------------------------------------- */

void eco_audit_baseline_write(const struct eco_audit *a, struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    eco_jw_kv_str(&w, "format", "ecocompute-audit-baseline/1");
    eco_jw_key(&w, "findings");
    eco_jw_array(&w);
    for (size_t i = 0; i < a->n; i++) {
        eco_jw_object(&w);
        eco_jw_kv_str(&w, "fingerprint", a->findings[i].print);
        eco_jw_kv_str(&w, "rule", eco_audit_rule(a->findings[i].rule)->id);
        eco_jw_kv_str(&w, "file", a->findings[i].file);
        eco_jw_object_end(&w);
    }
    eco_jw_array_end(&w);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int eco_audit_baseline_read(struct eco_audit *a, const char *text, size_t len, struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = eco_json_parse(&doc, text, len, err);
    if (rc) {
        return rc;
    }
    const struct eco_json *list = eco_json_get(doc.root, "findings");
    const struct eco_json *format = eco_json_get(doc.root, "format");
    bool ours = format && format->type == ECO_JSON_STRING && list && list->type == ECO_JSON_ARRAY &&
                strncmp(format->str, "ecocompute-audit-baseline/", 26) == 0;
    const char **prints = ours ? calloc((size_t)list->count + 1, sizeof(*prints)) : NULL;
    size_t n = 0;
    if (!prints) {
        eco_json_done(&doc);
        return ours ? eco_err_set(err, ECO_E_NO_MEMORY, "", "out of memory")
                    : eco_err_set(err, ECO_E_CONTENT, "baseline", "not a baseline of this program");
    }
    for (const struct eco_json *f = list->child; f; f = f->next) {
        const struct eco_json *p = eco_json_get(f, "fingerprint");
        if (p && p->type == ECO_JSON_STRING) {
            prints[n++] = p->str;
        }
    }
    qsort(prints, n, sizeof(*prints), by_text);
    for (size_t i = 0; i < a->n; i++) {
        const char *key = a->findings[i].print;
        a->findings[i].in_baseline = bsearch(&key, prints, n, sizeof(*prints), by_text) != NULL;
    }
    free(prints);
    eco_json_done(&doc);
    return 0;
}

/* ---- changed lines --------------------------------------------------------------------------- */

/* "+++ b/path" or "+++ path": the path, without a time after a tab. */
static size_t path_of(const char *s, size_t len, const char **path)
{
    s += 4, len -= 4;
    if (len >= 2 && s[0] == 'b' && s[1] == '/') {
        s += 2, len -= 2;
    }
    size_t n = 0;
    while (n < len && s[n] != '\t' && s[n] != '\r') {
        n++;
    }
    *path = s;
    return n;
}

static bool same_file(const char *file, const char *path, size_t len)
{
    while (strncmp(file, "./", 2) == 0) {
        file += 2;
    }
    size_t n = strlen(file);
    if (n < len || memcmp(file + n - len, path, len) != 0) {
        return false;
    }
    return n == len || file[n - len - 1] == '/';
}

/* "@@ -a,b +c,d @@": c and d. */
static bool hunk(const char *s, size_t len, uint32_t *from, uint32_t *count)
{
    const char *plus = len > 4 && memcmp(s, "@@ -", 4) == 0 ? memchr(s, '+', len) : NULL;
    if (!plus) {
        return false;
    }
    uint32_t v[2] = {0, 1};
    const char *p = plus + 1, *end = s + len;
    for (int i = 0; i < 2; i++) {
        uint32_t x = 0;
        while (p < end && isdigit((unsigned char)*p)) {
            x = x < 100000000 ? x * 10 + (uint32_t)(*p - '0') : x;
            p++;
        }
        v[i] = x;
        if (p >= end || *p != ',') {
            break;
        }
        p++;
    }
    *from = v[0];
    *count = v[1];
    return true;
}

void eco_audit_keep_changed(struct eco_audit *a, const char *diff, size_t len)
{
    bool *keep = calloc(a->n + 1, sizeof(*keep));
    const char *path = "";
    size_t path_len = 0, kept = 0;
    if (!keep) {
        a->failed = true;
        return;
    }
    for (size_t at = 0; at < len;) {
        const char *s = diff + at, *nl = memchr(s, '\n', len - at);
        size_t n = nl ? (size_t)(nl - s) : len - at;
        uint32_t from, count;
        at += n + 1;
        if (n > 4 && memcmp(s, "+++ ", 4) == 0) {
            path_len = path_of(s, n, &path);
        } else if (path_len && hunk(s, n, &from, &count) && count) {
            for (size_t i = 0; i < a->n; i++) {
                const struct eco_audit_finding *f = &a->findings[i];
                keep[i] |= f->line < from + count && f->end_line >= from &&
                           same_file(f->file, path, path_len);
            }
        }
    }
    for (size_t i = 0; i < a->n; i++) {
        if (keep[i]) {
            a->findings[kept++] = a->findings[i];
        }
    }
    a->n = kept;
    free(keep);
}
