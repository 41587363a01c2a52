/*
 * Points for the published curves, from share links and from reports. Strict where the published
 * pages are not: sizes and changes have bounds, booleans and lists are no numbers, duplicate keys
 * make a document invalid, a precision must be a known one, and a basis that is none of the four
 * words is shown as "unverified". schema/README.md lists the differences.
 */
#include "report.h"
#include "report_read.h"

#include "base/hash.h"
#include "base/json.h"
#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_NAME "shared config"
#define NO_GPU "\xe2\x80\x94" /* em dash, as the pages show it */

/* The keys of the two documents a point can come from. */
struct members {
    const struct eco_json *size, *delta, *arch, *precision, *basis, *model, *gpu;
    const struct eco_json *gpu_else; /* shown where no card is named */
    bool size_by_name; /* a report without a size may have it in the model's name; a link may not */
};

static const struct eco_json *first_of(const struct eco_json *o, const char *a, const char *b)
{
    const struct eco_json *v = eco_json_get(o, a);
    return v && v->type != ECO_JSON_NULL ? v : eco_json_get(o, b);
}

/* Absent, null and empty text count as not given; false: the member is no text. */
static bool text_member(const struct eco_json *v, const char **s, size_t *len)
{
    *s = NULL;
    *len = 0;
    if (!v || v->type == ECO_JSON_NULL)
        return true;
    if (v->type != ECO_JSON_STRING)
        return false;
    if (v->len) {
        *s = v->str;
        *len = v->len;
    }
    return true;
}

static const char *known_basis(const char *s, size_t len)
{
    static const char *const words[] = {"measured", "interpolated", "extrapolated", "unavailable"};
    if (!s)
        return "unavailable";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
            return words[i];
    }
    return "unverified";
}

static enum eco_arch read_arch(const char *s, size_t len)
{
    while (len && (*s == ' ' || *s == '\t'))
        s++, len--;
    while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    if (!len)
        return ECO_ARCH_UNKNOWN;
    enum eco_arch arch = eco_arch_parse(s, len);
    return arch != ECO_ARCH_UNKNOWN ? arch : eco_dataset_detect_any_arch(s, len, NULL);
}

static int refuse(struct eco_err *err, const char *arg, const char *why)
{
    return eco_err_set(err, ECO_E_CONTENT, arg, "%s", why);
}

static int read_numbers(const struct members *m, struct eco_report_point *p, struct eco_err *err)
{
    bool sized = eco_report_number(m->size, true, &p->params_b);
    if (!sized && m->size_by_name && (!m->size || m->size->type == ECO_JSON_NULL))
        sized = eco_report_size_of_name(m->model, &p->params_b);
    if (!sized)
        return refuse(err, "no_size",
                      m->size ? "the model's size is no number"
                              : "there is no model size (params_b): this is no report or link of a "
                                "point");
    if (!(p->params_b >= ECO_REPORT_MIN_PARAMS_B && p->params_b <= ECO_REPORT_MAX_PARAMS_B))
        return refuse(err, "no_size", "the model's size is outside 1e-6..1e6 billion parameters");
    if (!eco_report_number(m->delta, true, &p->delta_pct))
        return refuse(err, "no_delta", "the change in energy is no number");
    if (!(p->delta_pct >= -100 && p->delta_pct <= ECO_REPORT_MAX_DELTA_PCT))
        return refuse(err, "no_delta", "the change in energy is outside -100..10000 %");
    return 0;
}

static int read_point(struct eco_arena *arena, const struct members *m, struct eco_report_point *p,
                      struct eco_err *err)
{
    const char *model, *gpu, *arch, *precision, *basis;
    size_t model_len, gpu_len, arch_len, precision_len, basis_len;
    int rc = read_numbers(m, p, err);
    if (rc != 0)
        return rc;
    if (!text_member(m->model, &model, &model_len) || !text_member(m->gpu, &gpu, &gpu_len) ||
        !text_member(m->arch, &arch, &arch_len) || !text_member(m->basis, &basis, &basis_len) ||
        !text_member(m->precision, &precision, &precision_len))
        return refuse(err, "not_text", "a name in it is not text");
    if (!precision) {
        precision = "NF4";
        precision_len = 3;
    }
    p->prec = eco_precision_parse(precision, precision_len);
    if (p->prec == ECO_PREC_NONE)
        return refuse(err, "precision", "the precision is not a known one");
    p->arch = arch ? read_arch(arch, arch_len) : ECO_ARCH_UNKNOWN;
    p->basis = known_basis(basis, basis_len);
    if (!gpu && m->gpu_else)
        text_member(m->gpu_else, &gpu, &gpu_len);
    if (!gpu) {
        gpu = NO_GPU;
        gpu_len = strlen(NO_GPU);
    }
    if (!model) {
        model = NO_NAME;
        model_len = strlen(NO_NAME);
    }
    p->model = eco_arena_strdup(arena, model, model_len);
    p->gpu = eco_arena_strdup(arena, gpu, gpu_len);
    p->precision = eco_arena_strdup(arena, precision, precision_len);
    if (!p->model || !p->gpu || !p->precision)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    return 0;
}

static int add_point(struct eco_report_points *points, const struct members *m, struct eco_err *err)
{
    if (!points->items)
        points->items =
            eco_arena_array(&points->arena, ECO_REPORT_MAX_POINTS, sizeof(struct eco_report_point));
    if (!points->items)
        return eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    if (points->count >= ECO_REPORT_MAX_POINTS)
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL, "more than %d points",
                           ECO_REPORT_MAX_POINTS);
    struct eco_report_point p = {0};
    int rc = read_point(&points->arena, m, &p, err);
    if (rc == 0)
        points->items[points->count++] = p;
    return rc;
}

/* ---- share links --------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = c >= 'A' && c <= 'F' ? (char)(c + 32) : c;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* application/x-www-form-urlencoded: '+' is a blank, a bad escape stays as it is. */
static void percent_decode(const char *s, size_t len, struct eco_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '%' && i + 2 < len && hex_digit(s[i + 1]) >= 0 && hex_digit(s[i + 2]) >= 0) {
            eco_buf_putc(out, (char)(hex_digit(s[i + 1]) * 16 + hex_digit(s[i + 2])));
            i += 2;
        } else {
            eco_buf_putc(out, s[i] == '+' ? ' ' : s[i]);
        }
    }
}

static bool printable(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return false;
    }
    return true;
}

/* A link says these things and no others: what else it claims would be believed unseen. "s", a
 * free note that the published pages pass over, is passed over here too. */
static int known_members(const struct eco_json *o, struct eco_err *err)
{
    static const char *const known[] = {
        "m",        "N",         "a",     "p",          "e",
        "b",        "g",         "s",     "model_name", "params_b",
        "gpu_arch", "precision", "basis", "gpu",        "vs_fp16_energy_pct"};
    for (const struct eco_json *v = o->child; v; v = v->next) {
        bool found = false;
        for (size_t i = 0; !found && i < sizeof(known) / sizeof(known[0]); i++)
            found = strlen(known[i]) == v->key_len && memcmp(known[i], v->key, v->key_len) == 0;
        if (!found)
            return eco_err_set(err, ECO_E_CONTENT, "overlay",
                               "the link has a field '%.40s', which share links do not have: it is "
                               "not from the published encoder, and is not believed",
                               printable(v->key) ? v->key : "(not printable)");
    }
    return 0;
}

static int read_blob(const char *blob, size_t len, struct eco_report_points *points,
                     struct eco_err *err)
{
    struct eco_buf bytes = ECO_BUF_INIT;
    struct eco_json_doc doc;
    int rc = eco_base64url_decode(&bytes, blob, len);
    if (rc != 0) {
        eco_buf_done(&bytes);
        return eco_err_set(err, rc, "overlay", "the overlay is not base64url");
    }
    rc = eco_json_parse(&doc, eco_buf_str(&bytes), bytes.len, NULL);
    eco_buf_done(&bytes);
    if (rc != 0)
        return eco_err_set(err, rc, "overlay", "the overlay is cut or damaged: it is no JSON");
    const struct eco_json *o = doc.root;
    struct members m = {
        .size = first_of(o, "N", "params_b"),
        .delta = first_of(o, "e", "vs_fp16_energy_pct"),
        .arch = first_of(o, "a", "gpu_arch"),
        .precision = first_of(o, "p", "precision"),
        .basis = first_of(o, "b", "basis"),
        .model = first_of(o, "m", "model_name"),
        .gpu = first_of(o, "g", "gpu"),
        .gpu_else = eco_json_get(o, "a"),
    };
    rc = o->type == ECO_JSON_OBJECT ? known_members(o, err)
                                    : refuse(err, "overlay", "the overlay is no JSON object");
    rc = rc ? rc : add_point(points, &m, err);
    eco_json_done(&doc);
    return rc;
}

static int note_refusal(struct eco_report_points *points, const struct eco_err *why,
                        struct eco_err *err)
{
    if (why->code == ECO_E_NO_MEMORY || why->code == ECO_E_TOO_LARGE) {
        if (err)
            *err = *why;
        return why->code;
    }
    if (points->refused++ == 0)
        snprintf(points->first_refusal, sizeof(points->first_refusal), "%s", why->message);
    return 0;
}

static int read_query(const char *s, size_t len, struct eco_report_points *points,
                      struct eco_err *err)
{
    struct eco_buf key = ECO_BUF_INIT, value = ECO_BUF_INIT;
    int rc = 0;
    for (const char *at = s, *end = s + len; rc == 0 && at < end;) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *eq = memchr(at, '=', (size_t)(stop - at));
        struct eco_err why = {0};
        eco_buf_clear(&key);
        eco_buf_clear(&value);
        percent_decode(at, (size_t)((eq ? eq : stop) - at), &key);
        if (eq)
            percent_decode(eq + 1, (size_t)(stop - eq - 1), &value);
        at = stop + (stop < end);
        if (key.len != 7 || memcmp(key.data, "overlay", 7) != 0 || value.len == 0)
            continue;
        if (read_blob(value.data, value.len, points, &why) != 0)
            rc = note_refusal(points, &why, err);
    }
    if (!eco_buf_ok(&key) || !eco_buf_ok(&value))
        rc = eco_err_set(err, ECO_E_NO_MEMORY, NULL, "out of memory");
    eco_buf_done(&key);
    eco_buf_done(&value);
    return rc;
}

static bool contains(const char *s, size_t len, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= len; i++) {
        if (memcmp(s + i, word, n) == 0)
            return true;
    }
    return false;
}

int eco_report_overlay(const char *link, size_t len, struct eco_report_points *points,
                       struct eco_err *err)
{
    struct eco_err why = {0};
    if (len > ECO_REPORT_MAX_QUERY)
        return eco_err_set(err, ECO_E_TOO_LARGE, "link",
                           "a link of %zu bytes is over the limit of %u", len,
                           ECO_REPORT_MAX_QUERY);
    if (contains(link, len, "://")) {
        /* A whole link: what lies after the fragment sign is not part of its query. */
        const char *hash = memchr(link, '#', len);
        size_t head = hash ? (size_t)(hash - link) : len;
        const char *query = memchr(link, '?', head);
        size_t skip = query ? (size_t)(query + 1 - link) : head;
        int rc = read_query(link + skip, head - skip, points, err);
        if (rc != 0 || !hash)
            return rc;
        return read_query(hash + 1, len - head - 1, points, err);
    }
    if (len && (*link == '?' || contains(link, len, "overlay=")))
        return read_query(link + (*link == '?'), len - (*link == '?'), points, err);
    if (len == 0 || read_blob(link, len, points, &why) == 0)
        return 0;
    return note_refusal(points, &why, err);
}

/* ---- reports ------------------------------------------------------------------------------- */

static int read_report(const struct eco_json *root, struct eco_report_points *points,
                       struct eco_err *err)
{
    const struct eco_json *version = eco_json_get(root, "schema_version");
    const struct eco_json *workload = eco_json_get(root, "workload");
    const struct eco_json *results = eco_json_get(root, "results");
    struct members m = {
        .size = eco_json_get(workload, "params_b"),
        .delta = eco_json_get(results, "vs_fp16_energy_pct"),
        .arch = eco_report_arch(root),
        .precision = eco_json_get(workload, "precision"),
        .basis = eco_json_get(results, "basis"),
        .model = eco_json_get(workload, "model_name"),
        .gpu = eco_report_gpu(root),
        .gpu_else = eco_report_arch(root),
        .size_by_name = true,
    };
    if (root->type != ECO_JSON_OBJECT && root->type != ECO_JSON_ARRAY)
        return refuse(err, "not_object", "the report is no JSON object");
    if (version &&
        (version->type != ECO_JSON_STRING || strncmp(version->str, "ecocompute-energy", 17) != 0))
        return refuse(err, "schema_version", "'schema_version' does not say ecocompute-energy");
    return add_point(points, &m, err);
}

static int parse_report(const char *text, size_t len, struct eco_json_doc *doc, struct eco_err *err)
{
    struct eco_err parse = {0};
    if (len > ECO_REPORT_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL, "a report of %zu bytes is over the limit",
                           len);
    if (eco_json_parse(doc, text, len, &parse) != 0)
        return eco_err_set_at(err, parse.code, "not_json", parse.line, parse.column, "%.200s",
                              parse.message);
    return 0;
}

int eco_report_point(const char *text, size_t len, struct eco_report_points *points,
                     struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = parse_report(text, len, &doc, err);
    if (rc != 0)
        return rc;
    rc = read_report(doc.root, points, err);
    eco_json_done(&doc);
    return rc;
}

/* Absent, null, empty, zero or false: what a replication must still be asked for. */
static bool is_missing(const struct eco_json *v)
{
    if (!v || v->type == ECO_JSON_NULL || v->type == ECO_JSON_FALSE)
        return true;
    return (v->type == ECO_JSON_STRING && v->len == 0) ||
           (v->type == ECO_JSON_NUMBER && v->num == 0);
}

static void list_missing(const struct eco_json *root, struct eco_report_replication *out)
{
    static const char *const names[] = {
        "schema_version",        "benchmark",           "scenario",
        "system_under_test.gpu", "workload.model_name", "workload.precision"};
    static const char *const pointers[] = {
        "/schema_version",        "/benchmark",           "/scenario",
        "/system_under_test/gpu", "/workload/model_name", "/workload/precision"};
    out->missing_count = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_missing(eco_json_at(root, pointers[i])))
            out->missing[out->missing_count++] = names[i];
    }
}

static void classify(const struct eco_report_point *p, bool precision_given,
                     const struct eco_published_curve *curves, size_t n,
                     struct eco_report_replication *out)
{
    enum eco_arch arch = eco_published_arch_used(p->arch);
    enum eco_published_class class = eco_precision_published(p->prec);
    out->classified = false;
    for (size_t i = 0; precision_given && i < n; i++) {
        if (curves[i].arch != arch || curves[i].precision != class)
            continue;
        double band = 1.96 * curves[i].rms_pct;
        out->classified = true;
        out->arch_used = arch;
        out->pred_pct = eco_published_curve_at(&curves[i], p->params_b);
        out->band_pct = band > 5 ? band : 5;
        out->diff_pct = p->delta_pct - out->pred_pct;
        out->outside_pct = fmax(0, fabs(out->diff_pct) - out->band_pct);
        out->agrees = out->outside_pct <= 0;
        return;
    }
}

int eco_report_replicate(const char *text, size_t len, const struct eco_published_curve *curves,
                         size_t n, struct eco_report_points *points,
                         struct eco_report_replication *out, struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = parse_report(text, len, &doc, err);
    if (rc != 0)
        return rc;
    rc = read_report(doc.root, points, err);
    if (rc == 0) {
        list_missing(doc.root, out);
        classify(&points->items[points->count - 1],
                 !is_missing(eco_json_at(doc.root, "/workload/precision")), curves, n, out);
    }
    eco_json_done(&doc);
    return rc;
}

void eco_report_points_done(struct eco_report_points *points)
{
    if (!points)
        return;
    eco_arena_done(&points->arena);
    *points = (struct eco_report_points){0};
}

const char *eco_report_point_arch(const struct eco_report_point *p)
{
    switch (p->arch) {
    case ECO_ARCH_TURING:
    case ECO_ARCH_AMPERE:
    case ECO_ARCH_ADA:
    case ECO_ARCH_BLACKWELL:
    case ECO_ARCH_HOPPER:
        return eco_arch_name(p->arch);
    default:
        return NULL;
    }
}

void eco_report_points_json(const struct eco_report_points *points, struct eco_buf *out)
{
    struct eco_json_writer w;
    eco_jw_init(&w, out, 2);
    eco_jw_object(&w);
    eco_jw_kv_i64(&w, "count", (int64_t)points->count);
    eco_jw_key(&w, "points");
    eco_jw_array(&w);
    for (size_t i = 0; i < points->count; i++) {
        const struct eco_report_point *p = &points->items[i];
        const char *arch = p->arch != ECO_ARCH_UNKNOWN ? eco_arch_name(p->arch) : NULL;
        eco_jw_object(&w);
        eco_jw_kv_num(&w, "N", p->params_b);
        eco_jw_kv_num(&w, "dE", p->delta_pct);
        eco_jw_kv_str(&w, "arch", eco_report_point_arch(p));
        eco_jw_kv_str(&w, "precision", p->precision);
        eco_jw_kv_str(&w, "basis", p->basis);
        eco_jw_kv_str(&w, "model", p->model);
        eco_jw_kv_str(&w, "gpu", p->gpu);
        eco_jw_kv_str(&w, "arch_exact", arch);
        eco_jw_kv_str(&w, "precision_exact", eco_precision_name(p->prec));
        eco_jw_object_end(&w);
    }
    eco_jw_array_end(&w);
    eco_jw_kv_i64(&w, "refused", (int64_t)points->refused);
    eco_jw_kv_str(&w, "first_refusal", points->refused ? points->first_refusal : NULL);
    eco_jw_object_end(&w);
    eco_buf_putc(out, '\n');
}
