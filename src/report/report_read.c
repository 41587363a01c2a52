/* Reading numbers and sizes: see report_read.h. */
#include "report_read.h"
#include "report.h"

#include "base/num.h"
#include "dataset/dataset.h"

#include <math.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool hex_number(const char *s, size_t len, double *out)
{
    double v = 0;
    if (len < 3 || len > 15 || s[0] != '0' || (s[1] != 'x' && s[1] != 'X'))
        return false;
    for (size_t i = 2; i < len; i++) {
        static const char digits[] = "0123456789abcdef";
        char c = s[i] >= 'A' && s[i] <= 'F' ? (char)(s[i] + 32) : s[i];
        const char *hit = c ? strchr(digits, c) : NULL;
        if (!hit)
            return false;
        v = v * 16 + (double)(hit - digits);
    }
    *out = v;
    return true;
}

int eco_report_open(const char *text, size_t len, struct eco_json_doc *doc, struct eco_err *err)
{
    if (len > ECO_REPORT_MAX_BYTES)
        return eco_err_set(err, ECO_E_TOO_LARGE, NULL, "a report of %zu bytes is over the limit",
                           len);
    int rc = eco_json_parse(doc, text, len, err);
    if (rc == 0 && doc->root->type != ECO_JSON_OBJECT) {
        eco_json_done(doc);
        rc = eco_err_set(err, ECO_E_CONTENT, NULL, "the report is no JSON object");
    }
    return rc;
}

bool eco_report_number(const struct eco_json *v, bool hex, double *out)
{
    double found;
    if (!v)
        return false;
    if (v->type == ECO_JSON_NUMBER) {
        *out = v->num;
        return isfinite(v->num);
    }
    if (v->type != ECO_JSON_STRING)
        return false;
    const char *s = v->str, *end = v->str + v->len;
    while (s < end && is_blank(*s))
        s++;
    while (end > s && is_blank(end[-1]))
        end--;
    if (hex && hex_number(s, (size_t)(end - s), out))
        return true;
    if (eco_num_parse_lenient(s, (size_t)(end - s), &found) != 0 || !isfinite(found))
        return false;
    *out = found;
    return true;
}

/* "8x7B": the experts share layers, so the product is not the size; only the data set knows it. */
static bool size_of_experts(const struct eco_json *name, double *out_b)
{
    const struct eco_model *model;
    if (eco_dataset_find_model(name->str, name->len, &model, NULL) != 0 || !(model->params_b > 0))
        return false;
    *out_b = model->params_b;
    return true;
}

bool eco_report_size_of_name(const struct eco_json *name, double *out_b)
{
    if (!name || name->type != ECO_JSON_STRING)
        return false;
    const char *s = name->str, *end = s + name->len;
    while (s < end) {
        if (!is_digit(*s)) {
            s++;
            continue;
        }
        const char *start = s, *stop;
        while (s < end && is_digit(*s))
            s++;
        if (s + 1 < end && *s == '.' && is_digit(s[1])) {
            s++;
            while (s < end && is_digit(*s))
                s++;
        }
        for (stop = s; stop < end && is_blank(*stop);)
            stop++;
        if (stop == end || (*stop != 'b' && *stop != 'B'))
            continue;
        char after = stop + 1 < end ? stop[1] : ' ';
        bool word = (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') ||
                    is_digit(after) || after == '_' || (after & 0x80);
        if (word)
            continue;
        bool experts =
            start - name->str >= 2 && (start[-1] == 'x' || start[-1] == 'X') && is_digit(start[-2]);
        if (experts)
            return size_of_experts(name, out_b);
        return eco_num_parse_lenient(start, (size_t)(s - start), out_b) == 0;
    }
    return false;
}
