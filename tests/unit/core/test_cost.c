/* Known answers by hand, units, absent numbers, refusals. */
#include "eco_cost.h"
#include "eco_test.h"

static struct eco_cost_input request_of(double decode_j_per_1k)
{
    struct eco_cost_input in;
    eco_cost_defaults(NULL, &in);
    in.decode_j_per_1k = decode_j_per_1k;
    return in;
}

static struct eco_cost cost_of(const struct eco_cost_input *in)
{
    struct eco_cost c;
    struct eco_err err;
    assert_int_equal(eco_cost_compute(in, &c, &err), 0);
    return c;
}

static void test_one_kwh_by_hand(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(3.6e6); /* 3.6 MJ per 1 000 tokens = 1 kWh */
    in.gen_tokens = 1000;
    in.prompt_tokens = 0;
    in.requests_per_month = 1;
    in.price_usd_per_kwh = 0.12;
    in.carbon_gco2_per_kwh = 390;
    struct eco_cost c = cost_of(&in);
    assert_near(c.month.kwh, 1, 1e-15);
    assert_near(c.month.usd, 0.12, 1e-15);
    assert_near(c.month.kgco2, 0.390, 1e-15);
    assert_near(c.year.kwh, 12, 1e-12);
    assert_near(c.j_per_request, 3.6e6, 1e-9);
}

static void test_mistral_on_a_server_in_the_us_and_france(void **state)
{
    (void)state;
    struct eco_gpu g = {.name = "A800 SXM4 80GB", .datacenter = true};
    struct eco_cost_input in;
    eco_cost_defaults(&g, &in);
    assert_near(in.pue, 1.1, 0);
    assert_near(in.requests_per_month, 1e6, 0);
    assert_near(in.prompt_tokens, 512, 0);
    assert_near(in.gen_tokens, 256, 0);
    in.decode_j_per_1k = 4402.43;
    in.price_usd_per_kwh = 0.12;
    in.carbon_gco2_per_kwh = 383.55;
    struct eco_cost us = cost_of(&in);
    /* 4.40243 J x 256 = 1 127.02 J a request; x 1e6 x 1.1 / 3.6e6 = 344.368 kWh. */
    assert_near(us.j_per_request, 1127.02208, 1e-6);
    assert_near(us.month.kwh, 344.3678577777778, 1e-9);
    assert_near(us.month.usd, 41.32414293333333, 1e-9);
    assert_near(us.month.kgco2, 132.08229185066667, 1e-9);
    assert_near(us.request.kwh, 3.443678577777778e-4, 1e-15);
    in.carbon_gco2_per_kwh = 44.18; /* France 2024 */
    struct eco_cost fr = cost_of(&in);
    assert_near(fr.month.kgco2, 15.214171956622222, 1e-9);
    assert_near_rel(us.month.kgco2 / fr.month.kgco2, 383.55 / 44.18, 1e-12);
}

static void test_local_pue_is_one(void **state)
{
    (void)state;
    struct eco_gpu g = {.name = "RTX 4090", .datacenter = false};
    struct eco_cost_input in;
    eco_cost_defaults(&g, &in);
    assert_near(in.pue, 1.0, 0);
}

static void test_prefill_and_host_add(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(1000);
    in.prefill_j_per_1k = 100;
    struct eco_cost c = cost_of(&in);
    assert_near(c.j_per_request, 256 + 51.2, 1e-9);
    assert_near(c.prefill_share_frac, 51.2 / 307.2, 1e-12);
    assert_false(c.host_included);
    in.host_overhead_w = 50;
    in.request_s = 2;
    c = cost_of(&in);
    assert_near(c.j_per_request, 307.2 + 100, 1e-9);
    assert_true(c.host_included);
}

static void test_band_scales_decode_only(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(1000);
    in.prefill_j_per_1k = 100;
    in.decode_j_per_1k_lo = 500;
    in.decode_j_per_1k_hi = 2000;
    struct eco_cost c = cost_of(&in);
    assert_true(c.have_band);
    assert_near(c.month_lo.kwh, (51.2 + 128) * 1e6 / 3.6e6, 1e-9);
    assert_near(c.month_hi.kwh, (51.2 + 512) * 1e6 / 3.6e6, 1e-9);
}

static void test_rental_is_time(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(1000);
    in.price_usd_per_kwh = 0.12;
    in.request_s = 3.6;
    in.gpu_usd_per_hour = 2;
    struct eco_cost c = cost_of(&in);
    assert_near(c.month.rental_usd, 2000, 1e-9); /* 3.6e6 s = 1 000 h at 2 USD */
    assert_true(c.rental_dominates);
    in.gpu_usd_per_hour = NAN;
    c = cost_of(&in);
    assert_true(isnan(c.month.rental_usd));
    assert_false(c.rental_dominates);
}

static void test_not_known_stays_not_known(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(1000);
    struct eco_cost c = cost_of(&in);
    assert_true(isnan(c.month.usd) && isnan(c.month.kgco2));
    assert_true(c.month.kwh > 0);
    assert_true(isnan(eco_cost_equivalent_value(eco_cost_equivalent_at(0), &c.month)));
}

static void test_scaling_is_linear(void **state)
{
    (void)state;
    struct eco_cost_input in = request_of(1234);
    in.price_usd_per_kwh = 0.3;
    double one = cost_of(&in).month.usd;
    in.requests_per_month *= 7;
    in.pue = 1.5;
    assert_near_rel(cost_of(&in).month.usd, one * 7 * 1.5, 1e-12);
    in.requests_per_month = 0;
    assert_near(cost_of(&in).month.usd, 0, 0);
}

static void test_equivalents(void **state)
{
    (void)state;
    struct eco_cost_amount a = {.kwh = 19.25, .usd = NAN, .kgco2 = 400, .rental_usd = NAN};
    assert_near(eco_cost_equivalent_value(eco_cost_equivalent_at(0), &a), 1609.344, 1e-9);
    assert_near(eco_cost_equivalent_value(eco_cost_equivalent_at(1), &a), 1000, 1e-9);
    assert_string_equal(eco_cost_equivalent_at(1)->id, "phone_charges");
    assert_null(eco_cost_equivalent_at(eco_cost_equivalent_count()));
    for (size_t i = 0; i < eco_cost_equivalent_count(); i++) {
        assert_true(strlen(eco_cost_equivalent_at(i)->source) > 10);
    }
}

static void test_compare(void **state)
{
    (void)state;
    struct eco_cost_amount now = {10, 2, 5, NAN}, then = {4, 0.8, 2, NAN};
    struct eco_cost_saving s;
    eco_cost_compare(&now, &then, &s);
    assert_near(s.kwh, 6, 1e-12);
    assert_near(s.usd, 1.2, 1e-12);
    assert_near(s.saving_pct, 60, 1e-12);
    now.kwh = 0;
    eco_cost_compare(&now, &then, &s);
    assert_true(isnan(s.saving_pct));
}

static void test_refuses(void **state)
{
    (void)state;
    struct eco_cost c = {.j_per_request = 42};
    struct eco_err err;
    struct eco_cost_input in = request_of(1000);
    in.pue = 0.9;
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_RANGE);
    assert_string_equal(err.arg, "pue");
    in = request_of(NAN);
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_RANGE);
    in = request_of(-1);
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_RANGE);
    in = request_of(1);
    in.price_usd_per_kwh = -0.1;
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_RANGE);
    in = request_of(1);
    in.carbon_gco2_per_kwh = INFINITY;
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_RANGE);
    in = request_of(1);
    in.host_overhead_w = 100;
    assert_int_equal(eco_cost_compute(&in, &c, &err), ECO_E_MISSING);
    assert_near(c.j_per_request, 42, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_kwh_by_hand),
        cmocka_unit_test(test_mistral_on_a_server_in_the_us_and_france),
        cmocka_unit_test(test_local_pue_is_one),
        cmocka_unit_test(test_prefill_and_host_add),
        cmocka_unit_test(test_band_scales_decode_only),
        cmocka_unit_test(test_rental_is_time),
        cmocka_unit_test(test_not_known_stays_not_known),
        cmocka_unit_test(test_scaling_is_linear),
        cmocka_unit_test(test_equivalents),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
