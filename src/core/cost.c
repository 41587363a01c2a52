/*
 * Joules to kWh, money and CO2: plain arithmetic, every unit in its name. The published data are
 * J per 1 000 tokens, hence the one division by 1 000 below and nowhere else.
 */
#include "eco_cost.h"

#include <math.h>
#include <string.h>

#define TOKENS_PER_ROW 1000.0
#define S_PER_HOUR 3600.0
#define G_PER_KG 1000.0
#define PUE_MAX 10.0

static const struct eco_equivalent equivalents[] = {
    {.id = "km_driven",
     .text = "km driven by an average car",
     .factor = 1.609344 / 0.400, /* km a mile / kg CO2 a mile */
     .per_kwh = false,
     .source = "EPA, tailpipe emissions of a typical passenger vehicle (2023): 400 g CO2 a mile"},
    {.id = "phone_charges",
     .text = "smartphone charges",
     .factor = 1000 / 19.25,
     .per_kwh = true,
     .source = "computed: battery of 4 000 mAh at 3.85 V (15.4 Wh), charged at 80 % efficiency"},
    {.id = "led_lamp_hours",
     .text = "hours of a 10 W LED lamp",
     .factor = 100,
     .per_kwh = true,
     .source = "computed: 1 kWh / 10 W"},
};

size_t eco_cost_equivalent_count(void)
{
    return sizeof equivalents / sizeof equivalents[0];
}

const struct eco_equivalent *eco_cost_equivalent_at(size_t i)
{
    return i < eco_cost_equivalent_count() ? &equivalents[i] : NULL;
}

double eco_cost_equivalent_value(const struct eco_equivalent *e, const struct eco_cost_amount *a)
{
    return e->factor * (e->per_kwh ? a->kwh : a->kgco2);
}

void eco_cost_defaults(const struct eco_gpu *gpu, struct eco_cost_input *out)
{
    struct eco_cost_input in = {0};
    in.prompt_tokens = ECO_COST_PROMPT_DEFAULT;
    in.gen_tokens = ECO_COST_GEN_DEFAULT;
    in.requests_per_month = ECO_COST_REQUESTS_DEFAULT;
    in.pue = gpu != NULL && gpu->datacenter ? ECO_COST_PUE_DATACENTER : ECO_COST_PUE_LOCAL;
    in.price_usd_per_kwh = NAN;
    in.carbon_gco2_per_kwh = NAN;
    in.request_s = NAN;
    in.gpu_usd_per_hour = NAN;
    *out = in;
}

static int in_range(double v, double lo, double hi, const char *name, struct eco_err *err)
{
    if (!(v >= lo) || !(v <= hi)) {
        return eco_err_set(err, ECO_E_RANGE, name, "'%s' must be %g..%g", name, lo, hi);
    }
    return 0;
}

/* NAN means "not known"; infinities and negatives are refused. */
static int optional(double v, const char *name, struct eco_err *err)
{
    return isnan(v) ? 0 : in_range(v, 0, 1e12, name, err);
}

static int check(const struct eco_cost_input *in, struct eco_err *err)
{
    const struct {
        double v, lo, hi;
        const char *name;
    } needed[] = {
        {in->decode_j_per_1k, 0, 1e12, "decode_j_per_1k"},
        {in->decode_j_per_1k_lo, 0, 1e12, "decode_j_per_1k_lo"},
        {in->decode_j_per_1k_hi, 0, 1e12, "decode_j_per_1k_hi"},
        {in->prefill_j_per_1k, 0, 1e12, "prefill_j_per_1k"},
        {in->prompt_tokens, 0, 1e9, "prompt_tokens"},
        {in->gen_tokens, 0, 1e9, "gen_tokens"},
        {in->requests_per_month, 0, 1e15, "requests_per_month"},
        {in->pue, 1, PUE_MAX, "pue"},
        {in->host_overhead_w, 0, 1e5, "host_overhead_w"},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        int rc = in_range(needed[i].v, needed[i].lo, needed[i].hi, needed[i].name, err);
        if (rc != 0) {
            return rc;
        }
    }
    int rc = optional(in->price_usd_per_kwh, "price_usd_per_kwh", err);
    rc = rc != 0 ? rc : optional(in->carbon_gco2_per_kwh, "carbon_gco2_per_kwh", err);
    rc = rc != 0 ? rc : optional(in->request_s, "request_s", err);
    rc = rc != 0 ? rc : optional(in->gpu_usd_per_hour, "gpu_usd_per_hour", err);
    if (rc == 0 && in->host_overhead_w > 0 && isnan(in->request_s)) {
        rc = eco_err_set(err, ECO_E_MISSING, "request_s",
                         "host overhead needs the time of a request");
    }
    return rc;
}

static struct eco_cost_amount amount(const struct eco_cost_input *in, double j, double requests)
{
    struct eco_cost_amount a;
    a.kwh = j * requests * in->pue / ECO_COST_J_PER_KWH;
    a.usd = a.kwh * in->price_usd_per_kwh;
    a.kgco2 = a.kwh * in->carbon_gco2_per_kwh / G_PER_KG;
    a.rental_usd = requests * in->request_s / S_PER_HOUR * in->gpu_usd_per_hour;
    return a;
}

int eco_cost_compute(const struct eco_cost_input *in, struct eco_cost *out, struct eco_err *err)
{
    int rc = check(in, err);
    if (rc != 0) {
        return rc;
    }
    struct eco_cost c;
    memset(&c, 0, sizeof c);
    double prefill_j = in->prefill_j_per_1k * in->prompt_tokens / TOKENS_PER_ROW;
    double per_gen = in->gen_tokens / TOKENS_PER_ROW;
    double host_j = in->host_overhead_w > 0 ? in->host_overhead_w * in->request_s : 0;
    double fixed_j = prefill_j + host_j, months = ECO_COST_MONTHS_PER_YEAR;
    double requests = in->requests_per_month;
    c.j_per_request = fixed_j + in->decode_j_per_1k * per_gen;
    c.facility_j_per_request = c.j_per_request * in->pue;
    c.prefill_share_frac = c.j_per_request > 0 ? prefill_j / c.j_per_request : 0;
    c.request = amount(in, c.j_per_request, 1);
    c.month = amount(in, c.j_per_request, requests);
    c.year = amount(in, c.j_per_request, requests * months);
    c.have_band = in->decode_j_per_1k_hi > 0;
    c.month_lo = c.month_hi = c.month;
    if (c.have_band) {
        c.month_lo = amount(in, fixed_j + in->decode_j_per_1k_lo * per_gen, requests);
        c.month_hi = amount(in, fixed_j + in->decode_j_per_1k_hi * per_gen, requests);
    }
    c.rental_dominates = c.month.rental_usd > c.month.usd; /* false where one is not known */
    c.host_included = in->host_overhead_w > 0;
    *out = c;
    return 0;
}

void eco_cost_compare(const struct eco_cost_amount *current,
                      const struct eco_cost_amount *optimized, struct eco_cost_saving *out)
{
    out->kwh = current->kwh - optimized->kwh;
    out->usd = current->usd - optimized->usd;
    out->kgco2 = current->kgco2 - optimized->kgco2;
    out->saving_pct = current->kwh > 0 ? 100 * out->kwh / current->kwh : NAN;
}
