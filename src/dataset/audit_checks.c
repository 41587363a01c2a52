/*
 * What one row must satisfy. Sources: energy per 1000 tokens = 1000 x mean power / throughput; a
 * decode step reads every active weight once, so steps/s <= bandwidth / weight bytes (roofline);
 * a card draws at least its idle power while it does.
 */
#include "dataset/audit_rows.h"

#include <math.h>

#define ENERGY_TOLERANCE 0.05 /* energy against power over throughput */
#define LIMIT_TOLERANCE 0.05  /* samples may pass the limit for a moment */
#define DELTA_TOLERANCE 0.5   /* percentage points */
#define ROOF_TOLERANCE 0.05   /* GB/s of datasheets are rounded */
#define FLIP_POINTS 2.0       /* a smaller change of sign is noise around zero */

static bool within(double a, double b, double tolerance)
{
    return fabs(a / b - 1.0) <= tolerance;
}

/* Energy from power and throughput with idle in it and without. */
static double gross_of(const struct audit_row *r)
{
    return 1000.0 * (r->power.v + (r->power_net ? r->idle_w : 0.0)) / r->throughput.v;
}

static double net_of(const struct audit_row *r)
{
    return 1000.0 * (r->power.v - (r->power_net ? 0.0 : r->idle_w)) / r->throughput.v;
}

static void check_energy(struct audit *a, const struct audit_row *r)
{
    double gross = gross_of(r), net = net_of(r), plain, factor;
    bool fits_gross, fits_net;

    if (isnan(r->energy.v) || isnan(r->power.v) || isnan(r->throughput.v))
        return;
    a->out->asked[ECO_TABLE_CHECK_ENERGY]++;
    fits_gross = within(r->energy.v, gross, ENERGY_TOLERANCE);
    fits_net = within(r->energy.v, net, ENERGY_TOLERANCE);
    if (fits_gross && !fits_net)
        a->out->gross++;
    if (fits_net && !fits_gross) {
        a->out->net++;
        if (!r->printed_net)
            eco_table_note(
                a, ECO_TABLE_CHECK_ENERGY, ECO_TABLE_INFO, r, r->energy.v, gross,
                eco_arena_printf(
                    a->arena,
                    "energy %.6g J per 1k fits only with %.4g W idle taken off (gross: %.6g)",
                    r->energy.v, r->idle_w, gross));
    } else if (fits_gross && !fits_net && r->printed_net) {
        eco_table_note(a, ECO_TABLE_CHECK_ENERGY, ECO_TABLE_WARNING, r, r->energy.v, net,
                       eco_arena_printf(
                           a->arena,
                           "said to be net of idle, but %.6g J per 1k is gross (net would be %.6g)",
                           r->energy.v, net));
    }
    if (fits_gross || fits_net)
        return;
    plain = 1000.0 * r->power.v / r->throughput.v;
    factor = r->energy.v > plain ? r->energy.v / plain : plain / r->energy.v;
    if (factor >= 2.0)
        eco_table_note(
            a, ECO_TABLE_CHECK_ENERGY, ECO_TABLE_ERROR, r, r->energy.v, plain,
            eco_arena_printf(a->arena,
                             "energy %.6g J per 1k, but %.5g W at %.5g tokens/s is %.6g: "
                             "off by a factor of %.4g",
                             r->energy.v, r->power.v, r->throughput.v, plain, factor));
    else
        eco_table_note(
            a, ECO_TABLE_CHECK_ENERGY, ECO_TABLE_ERROR, r, r->energy.v, plain,
            eco_arena_printf(a->arena,
                             "energy %.6g J per 1k, but %.5g W at %.5g tokens/s is %.6g (net %.6g)",
                             r->energy.v, r->power.v, r->throughput.v, plain, net));
}

/* A request's energy is that of its tokens; without a length, the length it implies must be one. */
static void check_request(struct audit *a, const struct audit_row *r)
{
    double tokens, expected, factor;

    if (isnan(r->energy.v) || isnan(r->request.v) || r->request.v <= 0.0)
        return;
    a->out->asked[ECO_TABLE_CHECK_REQUEST]++;
    tokens = 1000.0 * r->request.v / r->energy.v;
    if (isnan(r->gen_tokens)) {
        if (tokens < 8.0)
            eco_table_note(
                a, ECO_TABLE_CHECK_REQUEST, ECO_TABLE_ERROR, r, r->request.v, 0.256 * r->energy.v,
                eco_arena_printf(
                    a->arena,
                    "%.6g J per request at %.6g J per 1k is a request of %.2g tokens; 256 tokens "
                    "are %.5g J, %.4g times as much",
                    r->request.v, r->energy.v, tokens, 0.256 * r->energy.v, 256.0 / tokens));
        return;
    }
    expected = r->energy.v * r->gen_tokens / 1000.0;
    factor = expected > r->request.v ? expected / r->request.v : r->request.v / expected;
    /* a whole batch may be called a request */
    if (factor > 1.1 && !within(r->request.v, expected * r->batch, 0.1))
        eco_table_note(
            a, ECO_TABLE_CHECK_REQUEST, ECO_TABLE_ERROR, r, r->request.v, expected,
            eco_arena_printf(
                a->arena,
                "%.6g J per request, but %.4g tokens at %.6g J per 1k are %.6g J: off by a "
                "factor of %.4g",
                r->request.v, r->gen_tokens, r->energy.v, expected, factor));
}

/* Mean power, stated or implied, against the card's idle and limit. */
static void check_power(struct audit *a, const struct audit_row *r)
{
    bool stated = !isnan(r->power.v);
    double gross = stated ? r->power.v : r->energy.v * r->throughput.v / 1000.0;
    const char *how = stated ? "power" : "implied power";

    if (stated ? r->power_net : r->printed_net)
        gross += r->idle_w;
    if (!r->on_board || isnan(gross) || r->devices < 1.0)
        return;
    a->out->asked[ECO_TABLE_CHECK_POWER]++;
    if (gross < r->idle_w)
        eco_table_note(a, ECO_TABLE_CHECK_POWER, ECO_TABLE_ERROR, r, gross, r->idle_w,
                       eco_arena_printf(a->arena, "%s of %.5g W is below the card's idle of %.5g W",
                                        how, gross, r->idle_w));
    if (gross > (1.0 + LIMIT_TOLERANCE) * r->limit_w)
        eco_table_note(a, ECO_TABLE_CHECK_POWER, ECO_TABLE_ERROR, r, gross, r->limit_w,
                       eco_arena_printf(a->arena, "%s of %.5g W is above the limit of %.5g W", how,
                                        gross, r->limit_w));
}

/* Bytes of weights that one decode step reads at least; NAN when size or precision is unknown. */
static double step_bytes(const struct audit_row *r)
{
    double params = r->shape != NULL ? (double)r->shape->params_active : 1e9 * r->size.v;

    if (!isnan(r->active_b))
        params = 1e9 * r->active_b;
    if (r->precision == ECO_PREC_NONE)
        return NAN;
    return params * eco_precision_bits(r->precision) / 8.0;
}

static void check_roofline(struct audit *a, const struct audit_row *r)
{
    double batch = isnan(r->batch) ? 1.0 : r->batch, bytes = step_bytes(r), steps, floor_j;

    if (r->card == NULL || isnan(bytes) || r->devices < 1.0)
        return;
    steps = r->devices * r->card->mem_bw_gbps * 1e9 / bytes; /* a second, at most */
    if (!isnan(r->throughput.v) && !isnan(r->batch)) {
        a->out->asked[ECO_TABLE_CHECK_ROOFLINE]++;
        if (r->throughput.v > (1.0 + ROOF_TOLERANCE) * steps * batch)
            eco_table_note(
                a, ECO_TABLE_CHECK_ROOFLINE, ECO_TABLE_ERROR, r, r->throughput.v, steps * batch,
                eco_arena_printf(
                    a->arena,
                    "%.5g tokens/s, but %.4g GB/s can read %.3g GB of weights for %.5g at most",
                    r->throughput.v, r->devices * r->card->mem_bw_gbps, bytes / 1e9,
                    steps * batch));
    }
    if (isnan(r->energy.v) || isnan(r->batch) || isnan(r->idle_w) || r->printed_net || !r->on_board)
        return;
    a->out->asked[ECO_TABLE_CHECK_FLOOR]++;
    floor_j = 1000.0 * r->idle_w / (steps * batch);
    if (r->energy.v < (1.0 - ROOF_TOLERANCE) * floor_j)
        eco_table_note(
            a, ECO_TABLE_CHECK_FLOOR, ECO_TABLE_ERROR, r, r->energy.v, floor_j,
            eco_arena_printf(
                a->arena,
                "%.4g J per 1k, but idle power alone takes %.4g J while memory reads the weights",
                r->energy.v, floor_j));
}

/* What rounding of the two printed energies can do to the percentage, in points. */
static double delta_slack(const struct audit_row *r)
{
    double ratio = r->energy.v / r->baseline->energy.v;

    return 100.0 * ratio *
           (r->energy.half / r->energy.v + r->baseline->energy.half / r->baseline->energy.v);
}

static void check_delta(struct audit *a, const struct audit_row *r)
{
    double own, gap;

    if (r->baseline == NULL || isnan(r->delta_pct) || isnan(r->energy.v) ||
        isnan(r->baseline->energy.v))
        return;
    a->out->asked[ECO_TABLE_CHECK_DELTA]++;
    own = 100.0 * (r->energy.v / r->baseline->energy.v - 1.0);
    gap = fabs(own - r->delta_pct);
    if (gap <= DELTA_TOLERANCE + delta_slack(r))
        return;
    if (own * r->delta_pct < 0.0)
        eco_table_note(
            a, ECO_TABLE_CHECK_DELTA, ECO_TABLE_ERROR, r, r->delta_pct, own,
            eco_arena_printf(
                a->arena,
                "change printed as %+.4g %%, its own energies give %+.4g %%: the sign is wrong",
                r->delta_pct, own));
    else
        eco_table_note(
            a, ECO_TABLE_CHECK_DELTA, ECO_TABLE_WARNING, r, r->delta_pct, own,
            eco_arena_printf(a->arena, "change printed as %+.4g %%, its own energies give %+.4g %%",
                             r->delta_pct, own));
}

/* Idle weighs more on the slower of two runs, so taking it off can turn a cost into a saving. */
static void check_basis(struct audit *a, const struct audit_row *r)
{
    const struct audit_row *b = r->baseline;
    double printed, gross;

    if (b == NULL)
        return;
    printed = 100.0 * (r->energy.v / b->energy.v - 1.0);
    gross = 100.0 * (gross_of(r) / gross_of(b) - 1.0);
    if (isnan(printed) || isnan(gross))
        return;
    a->out->asked[ECO_TABLE_CHECK_BASIS]++;
    if (printed * gross < 0.0 && fabs(printed - gross) > FLIP_POINTS)
        eco_table_note(
            a, ECO_TABLE_CHECK_BASIS, ECO_TABLE_WARNING, r, printed, gross,
            eco_arena_printf(
                a->arena,
                "%+.3g %% as printed, %+.3g %% on gross board power: the sign hangs on the idle "
                "that was taken off",
                printed, gross));
}

static void check_repeats(struct audit *a, const struct audit_row *r)
{
    double own = 100.0 * r->sd / r->energy.v;

    if (!isnan(own) && !isnan(r->cv_pct)) {
        a->out->asked[ECO_TABLE_CHECK_REPEATS]++;
        if (fabs(own - r->cv_pct) > 0.3 + 0.1 * own)
            eco_table_note(
                a, ECO_TABLE_CHECK_REPEATS, ECO_TABLE_WARNING, r, r->cv_pct, own,
                eco_arena_printf(a->arena,
                                 "CV printed as %.3g %%, the standard deviation gives %.3g %%",
                                 r->cv_pct, own));
    }
    if (r->n_trials == 1.0 && (isnan(r->n_iter) || r->n_iter <= 1.0) && r->sd > 0.0)
        eco_table_note(a, ECO_TABLE_CHECK_REPEATS, ECO_TABLE_WARNING, r, 1.0, NAN,
                       eco_arena_printf(
                           a->arena,
                           "one trial of one iteration has no standard deviation, %.4g is printed",
                           r->sd));
}

void eco_table_check_row(struct audit *a, const struct audit_row *r)
{
    check_energy(a, r);
    check_request(a, r);
    check_power(a, r);
    check_roofline(a, r);
    check_delta(a, r);
    check_basis(a, r);
    check_repeats(a, r);
}
