/* The published calibration by hand-made answers, limits and refusals. */
#include "eco_test.h"

#include "base/num.h"
#include "core/published.h"
#include "eco_published.h"

static const struct eco_published_anchor anchors[] = {
    {ECO_ARCH_ADA, ECO_PUB_NF4, "a", 1.0, 20.0, 2},
    {ECO_ARCH_ADA, ECO_PUB_NF4, "b", 1.0, 32.0, 1},
    {ECO_ARCH_ADA, ECO_PUB_NF4, "a", 4.0, -10.0, 1},
    {ECO_ARCH_AMPERE, ECO_PUB_NF4, "c", 2.0, 5.0, 2},
};
static const struct eco_published_curve curves[] = {
    {ECO_ARCH_ADA, ECO_PUB_NF4, 40.0, 100.0, 4.0, 3.0},
    {ECO_ARCH_AMPERE, ECO_PUB_NF4, 10.0, 0.0, 50.0, 1.0},
};
static const struct eco_published_tables tables = {anchors, 4, curves, 2};

static struct eco_published_answer ask(double params_b, enum eco_arch arch, double batch,
                                       double ctx)
{
    struct eco_published_query q = {params_b, arch, ECO_PUB_NF4, batch, ctx};
    struct eco_published_answer a;

    assert_int_equal(eco_published_estimate(&tables, &q, &a, NULL), 0);
    return a;
}

static void test_curve(void **state)
{
    double at = 0;

    (void)state;
    assert_near(eco_published_curve_at(&curves[0], 4.0), 40.0 - 100.0 / 2, 1e-12);
    assert_near(eco_published_curve_at(&curves[0], 1e300 * 1e10), -60.0, 1e-12);
    assert_true(eco_published_crossover(&curves[0], 7.0, &at));
    assert_near(at, 4.0 * 40 / 60, 1e-12);
    assert_near(eco_published_curve_at(&curves[0], at), 0.0, 1e-12);
    assert_false(eco_published_crossover(&curves[0], 2.6, &at)); /* beyond the largest anchor */
    assert_false(eco_published_crossover(&curves[1], 7.0, &at)); /* never falls */
}

static void test_factor(void **state)
{
    (void)state;
    assert_near(eco_published_factor(1, 2048), 1.0, 0);
    assert_near(eco_published_factor(9, 2048), 0.5, 1e-15);
    assert_near(eco_published_factor(1, 8192), 1 / 1.24, 1e-15);
    assert_near(eco_published_factor(0.5, 100), 1.0, 0);
}

static void test_measured(void **state)
{
    struct eco_published_answer a = ask(1.0, ECO_ARCH_ADA, 1, 2048);

    (void)state;
    /* mean 26, spread 12: sigma = 6 */
    assert_near(a.delta_pct, 26.0, 0);
    assert_near(a.ci_pct[0], 14.2, 1e-12);
    assert_near(a.ci_pct[1], 37.8, 1e-12);
    assert_int_equal(a.basis, ECO_BASIS_MEASURED);
    assert_int_equal(a.confidence, ECO_CONF_MEDIUM); /* spread over 10 */
    assert_int_equal(a.recommendation, ECO_REC_DO_NOT_QUANTIZE);
    assert_int_equal(a.n_exact, 2);
    assert_int_equal(a.n_trials, 3);
    assert_non_null(strstr(a.verdict, "raises"));
    a = ask(4.0, ECO_ARCH_ADA, 1, 2048);
    assert_int_equal(a.confidence, ECO_CONF_MEDIUM); /* one trial */
    assert_int_equal(a.recommendation, ECO_REC_QUANTIZE);
    assert_near(a.weight_gb, 2.0, 0);
    assert_near(a.weight_gb_fp16, 8.0, 0);
}

static void test_extrapolated_and_borrowed(void **state)
{
    struct eco_published_answer a = ask(8.0, ECO_ARCH_ADA, 1, 2048);
    double delta = 40.0 - 100.0 * 2 / 3, far = 1.2 * 7.0 * log(2.0);

    (void)state;
    assert_int_equal(a.basis, ECO_BASIS_ESTIMATED);
    assert_near(a.delta_pct, eco_num_round(delta, 1), 0);
    assert_near(a.ci_pct[1], eco_num_round(delta + 1.96 * sqrt(9 + far * far), 1), 0);
    a = ask(2.0, ECO_ARCH_HOPPER, 1, 2048); /* at the size of an ampere anchor, still borrowed */
    assert_int_equal(a.basis, ECO_BASIS_ESTIMATED);
    assert_int_equal(a.confidence, ECO_CONF_LOW);
    assert_int_equal(a.arch_used, ECO_ARCH_AMPERE);
    assert_true(a.borrowed);
    assert_int_equal(a.n_exact, 0);
    assert_near(a.delta_pct, 10.0, 0);
}

static void test_modelled_shrinks_savings_only(void **state)
{
    struct eco_published_answer saving = ask(4.0, ECO_ARCH_ADA, 9, 2048);
    struct eco_published_answer cost = ask(1.0, ECO_ARCH_ADA, 9, 2048);

    (void)state;
    assert_near(saving.delta_pct, -5.0, 0);
    assert_near(cost.delta_pct, 26.0, 0);
    assert_true(saving.modelled);
    assert_near(saving.factor, 0.5, 1e-15);
    assert_int_equal(saving.basis, ECO_BASIS_MEASURED);
    /* sigma^2 = 3^2 + (10 * 0.5 / 2)^2 */
    assert_near(saving.ci_pct[0], eco_num_round(-5 - 1.96 * sqrt(9 + 6.25), 1), 0);
}

static void test_band_never_below_cap(void **state)
{
    struct eco_published_answer a = ask(1e6, ECO_ARCH_ADA, 1, 2048);

    (void)state;
    assert_near(a.ci_pct[0], -75.0, 0);
    assert_int_equal(a.recommendation, ECO_REC_DEPENDS);
}

static int refused(double params_b, enum eco_arch arch, enum eco_published_class p, double batch,
                   double ctx)
{
    struct eco_published_query q = {params_b, arch, p, batch, ctx};
    struct eco_published_answer a = {.delta_pct = 12345};
    struct eco_err err = {0};
    int rc = eco_published_estimate(&tables, &q, &a, &err);

    assert_int_equal(err.code, rc);
    assert_true(rc == 0 || a.delta_pct == 12345); /* untouched on failure */
    return rc;
}

static void test_refusals(void **state)
{
    (void)state;
    const double bad_size[] = {0, -0.0, -7, NAN, INFINITY, -INFINITY, 5e-324, 1e300};
    const double bad_count[] = {0, -0.0, -1, 0.5, 1.5, NAN, INFINITY, 1e16};
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(refused(bad_size[i], ECO_ARCH_ADA, ECO_PUB_NF4, 1, 2048), ECO_E_RANGE);
        assert_int_equal(refused(7, ECO_ARCH_ADA, ECO_PUB_NF4, bad_count[i], 2048), ECO_E_RANGE);
        assert_int_equal(refused(7, ECO_ARCH_ADA, ECO_PUB_NF4, 1, bad_count[i]), ECO_E_RANGE);
    }
    assert_int_equal(refused(7, ECO_ARCH_ADA, ECO_PUB_FP16, 1, 2048), ECO_E_UNSUPPORTED);
    assert_int_equal(refused(7, ECO_ARCH_VOLTA, ECO_PUB_NF4, 1, 2048), ECO_E_UNSUPPORTED);
    assert_int_equal(refused(7, ECO_ARCH_UNKNOWN, ECO_PUB_NF4, 1, 2048), ECO_E_UNKNOWN_NAME);
    assert_int_equal(refused(7, ECO_ARCH_ADA, ECO_PUB_NONE, 1e12, 1e12), 0); /* NONE is NF4 */
}

static void test_class_info(void **state)
{
    struct eco_published_class_info i;

    (void)state;
    assert_int_equal(eco_published_class_info(&tables, ECO_ARCH_ADA, ECO_PUB_NF4, &i, NULL), 0);
    assert_near(i.range_lo_b, 1.0, 0);
    assert_near(i.range_hi_b, 4.0, 0);
    assert_true(i.have_crossover);
    assert_near(i.crossover_b, 2.667, 0);
    assert_int_equal(eco_published_class_info(&tables, ECO_ARCH_ADA, ECO_PUB_INT8, &i, NULL),
                     ECO_E_UNSUPPORTED);
}

/* Against the slow way through text, ties of the decimal value included. */
static void test_places(void **state)
{
    uint64_t x = 88172645463325252u;

    (void)state;
    assert_near(eco_published_places(1.005, 2), 1.0, 0); /* the double lies below the tie */
    assert_near(eco_published_places(1.25, 1), 1.3, 0);
    assert_near(eco_published_places(-1.25, 1), -1.3, 0);
    assert_near(eco_published_places(2.25 * 0.5, 2), 1.13, 0);
    assert_false(signbit(eco_published_places(-0.04, 1)));
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        double v = ldexp((double)(int64_t)x, (int)(x % 60) - 70);
        if (i % 2) {
            v = round(v * 64) / 64 + 0.0625 * (double)(x % 16); /* many exact ties */
        }
        for (int p = 0; p <= 4; p++) {
            double want = eco_num_round(v, p);
            if (eco_published_places(v, p) != want) {
                fail_msg("%.17g to %d places: %.17g, wanted %.17g", v, p,
                         eco_published_places(v, p), want);
            }
        }
    }
}

static struct eco_published_anchor on_curve(const struct eco_published_curve *c, double size)
{
    return (struct eco_published_anchor){
        c->arch, c->precision, "x", size, eco_published_curve_at(c, size), 2};
}

static void test_fit_recovers_a_curve(void **state)
{
    const double sizes[] = {0.5, 1, 2, 4, 9, 30};
    struct eco_published_anchor a[6];
    struct eco_published_fit f;

    (void)state;
    for (int i = 0; i < 6; i++) {
        a[i] = on_curve(&curves[0], sizes[i]);
    }
    assert_int_equal(eco_published_fit(a, 6, &f, NULL), 0);
    assert_near(f.curve.a_pct, 40.0, 1e-5);
    assert_near(f.curve.s_pct, 100.0, 1e-5);
    assert_near(f.curve.nstar_b, 4.0, 1e-6);
    assert_near(f.sse, 0.0, 1e-10);
    assert_true(f.identifiable);
    assert_near(f.n_max_b, 30.0, 0);
}

/* No point of a dense grid over the whole box may be better than the answer. */
static void test_fit_is_global(void **state)
{
    uint32_t seed = 7;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct eco_published_anchor a[5];
        struct eco_published_fit f;
        double top = -INFINITY;
        for (int i = 0; i < 5; i++) {
            seed = seed * 1664525u + 1013904223u;
            double y = (double)(seed >> 8) / 16777216.0 * 120 - 60;
            a[i] = (struct eco_published_anchor){ECO_ARCH_ADA,      ECO_PUB_NF4, "x",
                                                 0.5 * pow(2.1, i), y,           2};
            top = fmax(top, y);
        }
        assert_int_equal(eco_published_fit(a, 5, &f, NULL), 0);
        assert_true(f.curve.a_pct >= -50 && f.curve.a_pct <= top + 50);
        assert_true(f.curve.s_pct >= 0 && f.curve.s_pct <= 75 + fmax(0, top));
        assert_true(f.curve.nstar_b >= 0.1 && f.curve.nstar_b <= 200);
        for (int k = 0; k < 60 * 40 * 40; k++) {
            struct eco_published_curve c = f.curve;
            c.nstar_b = 0.1 * pow(2000.0, (k % 60) / 59.0);
            c.a_pct = -50 + (top + 100) * (k / 60 % 40) / 39.0;
            c.s_pct = (75 + fmax(0, top)) * (k / 2400) / 39.0;
            double sse = 0;
            for (int i = 0; i < 5; i++) {
                sse += pow(a[i].delta_pct - eco_published_curve_at(&c, a[i].params_b), 2);
            }
            assert_true(sse >= f.sse - 1e-9);
        }
    }
}

static void test_fit_of_few_points(void **state)
{
    struct eco_published_anchor a[] = {{ECO_ARCH_ADA, ECO_PUB_NF4, "x", 1.0, 30.0, 1},
                                       {ECO_ARCH_ADA, ECO_PUB_NF4, "x", 4.0, 0.0, 1}};
    struct eco_published_fit f;

    (void)state;
    assert_int_equal(eco_published_fit(a, 2, &f, NULL), 0);
    assert_near(f.curve.nstar_b, 2.5, 0);
    assert_false(f.identifiable);
    assert_near(eco_published_curve_at(&f.curve, 1.0), 30.0, 1e-9);
    assert_near(eco_published_curve_at(&f.curve, 4.0), 0.0, 1e-9);
    assert_int_equal(eco_published_fit(a, 1, &f, NULL), 0);
    assert_near(eco_published_curve_at(&f.curve, 1.0), 30.0, 1e-9);
    assert_int_equal(eco_published_fit(a, 0, &f, NULL), ECO_E_MISSING);
    assert_int_equal(eco_published_fit(anchors, 4, &f, NULL), ECO_E_INVALID); /* two classes */
    a[0].params_b = NAN;
    assert_int_equal(eco_published_fit(a, 2, &f, NULL), ECO_E_RANGE);
    static struct eco_published_anchor many[ECO_PUBLISHED_MAX_ANCHORS + 1];
    assert_int_equal(eco_published_fit(many, ECO_PUBLISHED_MAX_ANCHORS + 1, &f, NULL),
                     ECO_E_TOO_LARGE);
}

static void test_loo_of_one_anchor(void **state)
{
    struct eco_published_loo rows[2];
    struct eco_published_loo_summary s;
    size_t n = 9;

    (void)state;
    assert_int_equal(
        eco_published_loo(anchors + 3, 1, ECO_PUBLISHED_LOO_ANCHOR, rows, &n, &s, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(s.n, 0);
    /* The two anchors of 1 B: by size both leave, so the size is no anchor of the refit. */
    assert_int_equal(eco_published_loo(anchors, 2, ECO_PUBLISHED_LOO_SIZE, rows, &n, &s, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(eco_published_loo(anchors, 2, ECO_PUBLISHED_LOO_ANCHOR, rows, &n, &s, NULL),
                     0);
    assert_int_equal(n, 2);
    assert_near(rows[0].answer.delta_pct, 32.0, 0);
    assert_int_equal(rows[0].answer.basis, ECO_BASIS_MEASURED);
}

static void test_optimize_refusals(void **state)
{
    static struct eco_published_optimum o;
    struct eco_published_grid g = {.params_b = 7, .arch = ECO_ARCH_ADA};
    const enum eco_published_class only_int8[] = {ECO_PUB_INT8}, none[] = {ECO_PUB_NONE};
    double many[ECO_PUBLISHED_MAX_GRID + 1];

    (void)state;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), 0);
    assert_int_equal(o.candidates, 60); /* no INT8 curve in these tables */
    g.have_max_vram = true;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_RANGE);
    g.have_max_vram = false;
    g.have_min_throughput = true;
    g.min_throughput = NAN;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_RANGE);
    g.have_min_throughput = false;
    g.precisions = only_int8;
    g.n_precisions = 1;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_UNSUPPORTED);
    g.precisions = none;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_UNSUPPORTED);
    g.precisions = NULL;
    g.arch = ECO_ARCH_VOLTA;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_UNKNOWN_NAME);
    g.arch = ECO_ARCH_ADA;
    g.batches = many;
    g.n_batches = ECO_PUBLISHED_MAX_GRID + 1;
    assert_int_equal(eco_published_optimize(&tables, &g, &o, NULL), ECO_E_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_extrapolated_and_borrowed),
        cmocka_unit_test(test_modelled_shrinks_savings_only),
        cmocka_unit_test(test_band_never_below_cap),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_class_info),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_fit_recovers_a_curve),
        cmocka_unit_test(test_fit_is_global),
        cmocka_unit_test(test_fit_of_few_points),
        cmocka_unit_test(test_loo_of_one_anchor),
        cmocka_unit_test(test_optimize_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
