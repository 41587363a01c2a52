/* Reading numbers and sizes: see report_read.h. */
#include "report_read.h"
#include "report.h"

#include "base/num.h"
#include "dataset/dataset.h"
#include "eco_run.h"

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

double eco_report_value(const struct eco_json *block, const char *key)
{
    const struct eco_json *v = block ? eco_json_get(block, key) : NULL;
    return v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
}

struct eco_report_headline eco_report_sampled_of(const struct eco_json *root)
{
    return (struct eco_report_headline){.own = eco_json_get(root, "results"),
                                        .stat = eco_json_get(root, "statistics")};
}

struct eco_report_headline eco_report_headline_of(const struct eco_json *root)
{
    struct eco_report_headline h = eco_report_sampled_of(root);
    const struct eco_json *counter = eco_json_get(root, "ecocompute");
    const struct eco_json *own = eco_json_at(root, "/statistics/counter");
    double energy = eco_report_value(counter, "energy_per_token_mj");
    h.counter = eco_run_counter_leads(energy, eco_report_value(counter, "vs_fp16_energy_pct"),
                                      eco_report_value(h.own, "vs_fp16_energy_pct"));
    h.other = energy > 0 ? counter : NULL;
    if (h.counter) {
        h.other = h.own;
        h.own = counter;
        h.stat = own ? own : h.stat; /* reports before it was kept: the samples' spread is near */
    }
    return h;
}

static const struct eco_json *device(const struct eco_json *root, const char *derived,
                                     const char *ran)
{
    const struct eco_json *v = eco_json_at(root, derived);
    return v && v->type == ECO_JSON_STRING ? v : eco_json_at(root, ran);
}

const struct eco_json *eco_report_gpu(const struct eco_json *root)
{
    return device(root, "/prediction/gpu", "/system_under_test/gpu");
}

const struct eco_json *eco_report_arch(const struct eco_json *root)
{
    return device(root, "/prediction/gpu_arch", "/system_under_test/gpu_arch");
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
