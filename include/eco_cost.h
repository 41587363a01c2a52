/*
 * From joules to kilowatt-hours, money and CO2, per request, month and year.
 *
 * Pure; structs in and out; the caller owns both. Board power is the boundary: PUE times board
 * energy is a lower bound of what the facility draws, and host overhead is a separate option that
 * is off by default. Errors: ECO_E_RANGE names the argument.
 */
#ifndef ECO_COST_H
#define ECO_COST_H

#include "eco_err.h"
#include "eco_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ECO_COST_PUE_DATACENTER 1.1
#define ECO_COST_PUE_LOCAL 1.0
#define ECO_COST_REQUESTS_DEFAULT 1000000.0
#define ECO_COST_PROMPT_DEFAULT 512.0
#define ECO_COST_GEN_DEFAULT 256.0
#define ECO_COST_MONTHS_PER_YEAR 12.0
#define ECO_COST_J_PER_KWH 3.6e6

/** What is asked. Start from eco_cost_defaults(); NAN price or carbon: not known, left out. */
struct eco_cost_input {
    double decode_j_per_1k;                        /* board J per 1 000 generated tokens */
    double decode_j_per_1k_lo, decode_j_per_1k_hi; /* 95 % band; 0: no band */
    double prefill_j_per_1k; /* board J per 1 000 prompt tokens; 0: inside decode */
    double prompt_tokens, gen_tokens;
    double requests_per_month;
    double pue;                 /* >= 1 */
    double price_usd_per_kwh;   /* NAN: no tariff */
    double carbon_gco2_per_kwh; /* NAN: not known */
    double host_overhead_w;     /* host watts charged per request second; 0 = off */
    double request_s;           /* board time of one request, already divided by batch; NAN */
    double gpu_usd_per_hour;    /* rental price of the card; NAN: owned */
};

struct eco_cost_amount {
    double kwh, usd, kgco2; /* usd and kgco2: NAN where not known */
    double rental_usd;      /* NAN: no rental price or time */
};

struct eco_cost {
    double j_per_request;          /* board + host, before PUE */
    double facility_j_per_request; /* with PUE */
    double prefill_share_frac;     /* of j_per_request */
    struct eco_cost_amount request, month, year;
    struct eco_cost_amount month_lo, month_hi; /* with the band of the energy only */
    bool have_band;
    bool rental_dominates; /* the rented time costs more than the electricity */
    bool host_included;
};

/** The printed defaults: 1 000 000 requests of 512 + 256 tokens, PUE by kind of card. */
void eco_cost_defaults(const struct eco_gpu *gpu, struct eco_cost_input *out);

/**
 * kWh = J/token * tokens * requests * PUE / 3.6e6 (the data are J per 1 000 tokens: divided);
 * USD = kWh * price; kgCO2 = kWh * g/kWh / 1000.
 */
int eco_cost_compute(const struct eco_cost_input *in, struct eco_cost *out, struct eco_err *err);

/** Everyday equivalents of an amount of CO2 or electricity. */
struct eco_equivalent {
    const char *id;     /* "km_driven", "phone_charges" … */
    const char *text;   /* "km driven by an average car" */
    double factor;      /* units per kgCO2, or units per kWh */
    bool per_kwh;       /* false: per kgCO2 */
    const char *source; /* document and year of the factor */
};
size_t eco_cost_equivalent_count(void);
const struct eco_equivalent *eco_cost_equivalent_at(size_t i); /* NULL past the end */
/** NAN where the amount it needs is not known. */
double eco_cost_equivalent_value(const struct eco_equivalent *e, const struct eco_cost_amount *a);

/** current minus optimized; percentages 0..100; NAN where not known. */
struct eco_cost_saving {
    double kwh, usd, kgco2, saving_pct;
};
void eco_cost_compare(const struct eco_cost_amount *current,
                      const struct eco_cost_amount *optimized, struct eco_cost_saving *out);

#ifdef __cplusplus
}
#endif
#endif
