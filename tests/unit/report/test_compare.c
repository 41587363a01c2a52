/* Two reports side by side: intervals against scipy's numbers, boundaries never mixed. */
#include "eco_test.h"
#include "samples.h"

#include "base/buf.h"
#include "report/compare.h"
#include "report/report.h"

static struct sample sample;
static struct eco_comparison c;

static void test_t_quantiles(void **state)
{
    (void)state;
    /* scipy 1.10: x = betaincinv(df/2, 1/2, 0.05), t = sqrt(df (1/x - 1)) */
    static const struct {
        double df, t;
    } cases[] = {{1, 12.706204736174707},    {2, 4.302652729749464},   {3, 3.1824463052837095},
                 {4.5, 2.658912347204404},   {10, 2.228138851986275},  {30, 2.0422724563012395},
                 {1000, 1.9623390808262446}, {0.7, 36.611415031588706}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_near(eco_compare_t975(cases[i].df), cases[i].t, 1e-9 * cases[i].t);
    assert_near(eco_compare_t975((double)INFINITY), 1.959963984540054, 1e-15);
}

static void build(struct eco_buf *out)
{
    struct eco_err err = {0};
    eco_buf_clear(out);
    if (eco_report_build(&sample.run, 0, out, &err) != 0)
        fail_msg("%s", err.message);
}

static const struct eco_compare_row *row_of(const char *quantity)
{
    for (size_t i = 0; i < c.row_count; i++) {
        if (strcmp(c.rows[i].quantity, quantity) == 0)
            return &c.rows[i];
    }
    fail_msg("no row '%s'", quantity);
    return NULL;
}

static const struct eco_compare_aspect *aspect_of(const char *name)
{
    for (size_t i = 0; i < c.aspect_count; i++) {
        if (strcmp(c.aspects[i].name, name) == 0)
            return &c.aspects[i];
    }
    fail_msg("no aspect '%s'", name);
    return NULL;
}

static void compare(const struct eco_buf *a, const struct eco_buf *b)
{
    struct eco_err err = {0};
    if (eco_report_compare(a->data, a->len, b->data, b->len, &c, &err) != 0)
        fail_msg("%s", err.message);
}

static void measured(double j_per_token, double cv, int n, double lo, double pct, double hi)
{
    sample_measured(&sample, ECO_PREC_NF4);
    struct eco_run_arm *a = &sample.arms[0];
    a->j_per_token = j_per_token;
    a->energy_stat = (struct eco_run_stat){n, j_per_token, cv * j_per_token, cv};
    a->delta.lo95_pct = lo;
    a->delta.pct = pct;
    a->delta.hi95_pct = hi;
    a->delta.df = n - 1;
    a->counter_j_per_token = j_per_token; /* both instruments see the same */
    a->counter_stat = a->energy_stat;
    a->counter_delta = a->delta;
}

static void test_a_report_with_itself(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT;
    measured(3.7, 0.01, 4, -12, -10, -8);
    build(&a);
    compare(&a, &a);
    assert_true(c.comparable);
    const struct eco_compare_row *r = row_of("change against 16 bit");
    assert_near(r->diff, 0, 1e-12);
    /* sqrt(2) of a half width of 2 at df 3, at df 6: 2/t(3) sqrt(2) t(6) */
    assert_near(r->hi95, 2 / 3.1824463052837095 * sqrt(2) * 2.44691185114497, 1e-9);
    assert_near(r->lo95, -r->hi95, 1e-12);
    assert_string_equal(r->verdict, "cannot tell");
    for (size_t i = 0; i < c.aspect_count; i++)
        assert_true(c.aspects[i].same || strcmp(c.aspects[i].a, c.aspects[i].b) == 0);
    eco_buf_done(&a);
}

static void test_differences_and_their_ranges(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT, b = ECO_BUF_INIT;
    measured(3.7, 0.01, 4, -12, -10, -8);
    build(&a);
    measured(4.07, 0.02, 6, -31, -30, -29);
    build(&b);
    compare(&a, &b);
    const struct eco_compare_row *e = row_of("energy per token");
    assert_near(e->diff, 10, 1e-9);
    /* numpy: var = .01^2/4 + .02^2/6 + 2*.05^2, df by Welch-Satterthwaite without the gains */
    double va = 0.0001 / 4, vb = 0.0004 / 6, sum = va + vb + 2 * 0.0025;
    double df = sum * sum / (va * va / 3 + vb * vb / 5);
    assert_near(e->hi95, 100 * (1.1 * exp(eco_compare_t975(df) * sqrt(sum)) - 1), 1e-9);
    assert_string_equal(e->verdict, "cannot tell"); /* 10 % is within two sensors' gains */
    const struct eco_compare_row *d = row_of("change against 16 bit");
    assert_near(d->diff, -20, 1e-12);
    assert_string_equal(d->verdict, "lower");
    assert_true(d->hi95 < 0 && d->lo95 < d->diff);
    assert_non_null(strstr(c.verdict, "the second is lower (-20 points)"));
    sample.arms[0].energy_stat.n = 1;
    sample.arms[0].energy_stat.cv_frac = NAN;
    sample.arms[0].delta.lo95_pct = sample.arms[0].delta.hi95_pct = NAN;
    sample.arms[0].counter_stat = sample.arms[0].energy_stat;
    sample.arms[0].counter_delta = sample.arms[0].delta;
    build(&b);
    compare(&a, &b);
    assert_true(isnan(row_of("energy per token")->lo95));
    assert_non_null(row_of("energy per token")->reason);
    assert_string_equal(row_of("change against 16 bit")->verdict, "no interval");
    eco_buf_done(&a);
    eco_buf_done(&b);
}

static void test_boundaries_never_mix(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT, b = ECO_BUF_INIT;
    measured(3.7, 0.01, 4, -12, -10, -8);
    build(&a);
    sample.run.boundary = ECO_RUN_BOUNDARY_WALL;
    build(&b);
    compare(&a, &b);
    assert_false(c.comparable);
    assert_int_equal(c.row_count, 0);
    assert_non_null(strstr(c.verdict, "gpu-board and wall"));
    /* a file that does not state its boundary is not assumed to have the same one */
    static const char bare[] = "{\"results\": {\"energy_per_token_mj\": 3.7}}";
    struct eco_err err;
    assert_int_equal(eco_report_compare(bare, sizeof(bare) - 1, bare, sizeof(bare) - 1, &c, &err),
                     0);
    assert_false(c.comparable);
    assert_int_equal(eco_report_compare("[]", 2, bare, sizeof(bare) - 1, &c, &err), ECO_E_CONTENT);
    assert_string_equal(err.arg, "a");
    assert_int_equal(eco_report_compare(bare, sizeof(bare) - 1, "{", 1, &c, &err), ECO_E_CONTENT);
    assert_string_equal(err.arg, "b");
    eco_buf_done(&a);
    eco_buf_done(&b);
}

static void test_what_differs_is_listed(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT, b = ECO_BUF_INIT;
    measured(3.7, 0.01, 4, -12, -10, -8);
    build(&a);
    static const char *const differences[] = {"batch 8 instead of 1"};
    sample.run.protocol = "custom";
    sample.run.protocol_differences = differences;
    sample.run.protocol_difference_count = 1;
    sample.run.batch = 8;
    sample.packages[0].version = "2.14.0";
    sample.arms[0].precision = ECO_PREC_INT8_PURE;
    build(&b);
    compare(&a, &b);
    assert_false(aspect_of("protocol")->same);
    assert_false(aspect_of("batch")->same);
    assert_false(aspect_of("packages")->same);
    assert_false(aspect_of("precision")->same);
    assert_string_equal(aspect_of("precision")->b, "INT8-PURE");
    assert_true(aspect_of("card")->same);
    assert_true(aspect_of("boundary")->same);
    eco_buf_done(&a);
    eco_buf_done(&b);
}

static void test_derived_values_have_no_range_of_difference(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT;
    sample_fallback(&sample, ECO_PREC_NF4);
    build(&a);
    compare(&a, &a);
    assert_true(c.comparable);
    assert_true(isnan(row_of("change against 16 bit")->lo95));
    assert_string_equal(row_of("change against 16 bit")->verdict, "no interval");
    eco_buf_done(&a);
}

static void test_the_counter_leads_where_both_have_it(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT, b = ECO_BUF_INIT;
    sample_two_instruments(&sample);
    build(&a);
    sample.arms[0].counter_j_per_token = 0.400;
    sample.arms[0].counter_delta.pct = -22.0;
    build(&b);
    compare(&a, &b);
    assert_near(row_of("energy per token")->a, 337, 1e-9);
    assert_near(row_of("energy per token")->diff, 100 * (400.0 / 337 - 1), 1e-9);
    assert_near(row_of("16-bit baseline")->a, 513, 1e-9);
    assert_near(row_of("change against 16 bit")->a, -34.31, 1e-9);
    assert_near(row_of("energy, sampled")->a, 318, 1e-9); /* beside it, as a cross-check */
    assert_near(row_of("energy, sampled")->diff, 0, 1e-9);
    assert_near(row_of("change, sampled")->b, -32.48, 1e-9);
    assert_string_equal(aspect_of("instrument")->a, "hardware energy counter");
    /* the second has no counter: what both have is compared, not one against the other */
    sample.arms[0].counter_j_per_token = sample.arms[0].counter_delta.pct = NAN;
    build(&b);
    compare(&a, &b);
    assert_near(row_of("energy per token")->a, 318, 1e-9);
    assert_near(row_of("energy per token")->diff, 0, 1e-9);
    assert_false(aspect_of("instrument")->same);
    eco_buf_done(&a);
    eco_buf_done(&b);
}

static void test_two_sessions(void **state)
{
    (void)state;
    struct eco_buf a = ECO_BUF_INIT, b = ECO_BUF_INIT;
    measured(3.7, 0.01, 4, -12, -10, -8);
    build(&a);
    compare(&a, &a);
    assert_int_equal(c.sessions.n, 0);
    assert_string_equal(c.sessions.reason, "they are of one session");
    measured(3.7, 0.01, 4, -32, -30, -28);
    sample.run.timestamp_utc = "2026-12-01T09:12:31.123Z";
    build(&b);
    compare(&a, &b);
    assert_int_equal(c.sessions.n, 2);
    /* by hand: ln .9 = -.1053605, ln .7 = -.3566749; sd = .1777062; t(1) 12.7062 sqrt(1.5) sd */
    assert_near(c.sessions.mean_pct, 100 * (sqrt(0.9 * 0.7) - 1), 1e-9);
    assert_near(c.sessions.sd_pct, 100 * (exp(0.17770617) - 1), 1e-5);
    assert_near(c.sessions.hi95, 1160.911700615, 1e-6);
    assert_near(c.sessions.lo95, -95.003615244, 1e-6);
    sample.run.batch = 8; /* another set-up: no spread between sessions */
    build(&b);
    compare(&a, &b);
    assert_int_equal(c.sessions.n, 0);
    assert_true(isnan(c.sessions.sd_pct));
    eco_buf_done(&a);
    eco_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_quantiles),
        cmocka_unit_test(test_a_report_with_itself),
        cmocka_unit_test(test_differences_and_their_ranges),
        cmocka_unit_test(test_boundaries_never_mix),
        cmocka_unit_test(test_what_differs_is_listed),
        cmocka_unit_test(test_derived_values_have_no_range_of_difference),
        cmocka_unit_test(test_the_counter_leads_where_both_have_it),
        cmocka_unit_test(test_two_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
