/* What a report says about itself, and whether it fits the published curve of its class. */
#include "store_parts.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

#define MAX_TEXT 200

/* Text without control characters, cut between characters; "" for what is none. */
static const char *text_at(const struct eco_json *root, const char *pointer,
                           struct eco_arena *arena)
{
    const struct eco_json *v = eco_json_at(root, pointer);
    if (!v || v->type != ECO_JSON_STRING)
        return "";
    size_t len = v->len < MAX_TEXT ? v->len : MAX_TEXT;
    while (len && len < v->len && ((unsigned char)v->str[len] & 0xc0u) == 0x80)
        len--;
    char *s = eco_arena_strdup(arena, v->str, len);
    for (size_t i = 0; s && i < len; i++)
        s[i] = (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? ' ' : s[i];
    return s;
}

static double num_at(const struct eco_json *root, const char *pointer)
{
    const struct eco_json *v = eco_json_at(root, pointer);
    return v && v->type == ECO_JSON_NUMBER ? v->num : (double)NAN;
}

/* One word for one format: the published "INT8" is INT8-MIXED here. */
const char *eco_store_precision(const char *precision)
{
    enum eco_precision p = eco_precision_parse(precision, strlen(precision));
    return p == ECO_PREC_NONE ? precision : eco_precision_name(p);
}

/* Beside the curve: inside max(1.96 rms, 5) is agreement, as on the published page. */
static void classify(struct eco_store_row *r, const struct eco_published_curve *curves, size_t n)
{
    enum eco_arch arch = eco_published_arch_used(eco_arch_parse(r->arch, strlen(r->arch)));
    enum eco_precision precision = eco_precision_parse(r->precision, strlen(r->precision));
    enum eco_published_class class = eco_precision_published(precision);
    r->pred_pct = r->band_pct = r->outside_pct = (double)NAN;
    for (size_t i = 0; r->replication && i < n; i++) {
        if (curves[i].arch != arch || curves[i].precision != class)
            continue;
        r->classified = true;
        r->pred_pct = eco_published_curve_at(&curves[i], r->params_b);
        r->band_pct = fmax(1.96 * curves[i].rms_pct, 5);
        r->outside_pct = fmax(0, fabs(r->delta_pct - r->pred_pct) - r->band_pct);
        r->agrees = r->outside_pct <= 0;
        return;
    }
}

static void read_numbers(const struct eco_json *root, struct eco_store_row *r)
{
    double n = num_at(root, "/statistics/n");
    r->params_b = num_at(root, "/workload/params_b");
    r->delta_pct = num_at(root, "/results/vs_fp16_energy_pct");
    r->lo95_pct = num_at(root, "/results/vs_fp16_ci95_pct/0");
    r->hi95_pct = num_at(root, "/results/vs_fp16_ci95_pct/1");
    r->j_per_token = num_at(root, "/results/energy_per_token_mj") / 1000;
    r->n = n >= 0 && n < 1e9 ? (int64_t)n : -1;
}

int eco_store_facts(const char *text, size_t len, const struct eco_published_curve *curves,
                    size_t curve_count, struct eco_arena *arena, struct eco_store_row *out,
                    struct eco_err *err)
{
    struct eco_json_doc doc;
    int rc = eco_json_parse(&doc, text, len, err);
    if (rc != 0)
        return rc;
    const struct eco_json *root = doc.root;
    *out = (struct eco_store_row){.id = "", .signer = ""};
    out->gpu = text_at(root, "/system_under_test/gpu", arena);
    out->arch = text_at(root, "/system_under_test/gpu_arch", arena);
    out->boundary = text_at(root, "/system_under_test/boundary", arena);
    out->model = text_at(root, "/workload/model_name", arena);
    out->precision = text_at(root, "/workload/precision_exact", arena);
    if (out->precision && !out->precision[0])
        out->precision = text_at(root, "/workload/precision", arena);
    out->precision = out->precision ? eco_store_precision(out->precision) : NULL;
    out->basis = text_at(root, "/results/basis", arena);
    out->level = text_at(root, "/results/level", arena);
    out->protocol = text_at(root, "/protocol/name", arena);
    read_numbers(root, out);
    eco_json_done(&doc);
    if (!out->gpu || !out->arch || !out->boundary || !out->model || !out->precision ||
        !out->basis || !out->level || !out->protocol)
        return eco_err_set(err, ECO_E_NO_MEMORY, "store", "out of memory");
    out->replication = strcmp(out->basis, "measured") == 0 && out->params_b > 0 &&
                       !isnan(out->delta_pct) && out->gpu[0] && out->model[0];
    classify(out, curves, curve_count);
    return 0;
}
