/* Measured runs get the cause that they are known to have; probabilities and units hold. */
#include "eco_test.h"
#include "physics_models.h"

static struct eco_model m;
static struct eco_gpu g;
static struct eco_workload w;
/* What an estimator says for a 7B model on the A800, ln(1 + dE). */
static const struct eco_diagnose_delta deltas[] = {
    {ECO_PREC_INT8_MIXED, 0.78, 0.30},
    {ECO_PREC_INT8_PURE, 0.33, 0.15},
    {ECO_PREC_NF4, -0.03, 0.12},
};

static struct eco_diagnose_input run_of(enum eco_precision p, int batch, double tps, double watts)
{
    m = model_7b();
    g = gpu_a800();
    w = work_of(p, ECO_ENGINE_TRANSFORMERS, batch);
    struct eco_diagnose_input in;
    memset(&in, 0, sizeof in);
    in.model = &m;
    in.gpu = &g;
    in.work = &w;
    in.tokens_per_s = tps;
    in.power_w = watts;
    in.j_per_1k = NAN;
    in.need_gb = NAN;
    in.deltas = deltas;
    in.n_deltas = sizeof deltas / sizeof deltas[0];
    return in;
}

static struct eco_diagnose diagnose(const struct eco_diagnose_input *in)
{
    struct eco_diagnose d;
    struct eco_err err = {0};
    assert_int_equal(eco_diagnose_run(in, &d, &err), 0);
    double sum = 0;
    for (size_t i = 0; i < d.n_patterns; i++) {
        sum += d.pattern[i].probability_frac;
        assert_true(i == 0 || d.pattern[i].probability_frac <= d.pattern[i - 1].probability_frac);
        bool open = d.pattern[i].cause == ECO_CAUSE_UNKNOWN; /* which expects anything */
        assert_true(open ? isnan(d.pattern[i].expect_tokens_per_s)
                         : d.pattern[i].expect_tokens_per_s > 0);
    }
    assert_near(sum, 1.0, 1e-12);
    return d;
}

static const struct eco_diagnose_fix *fix(const struct eco_diagnose *d, const char *id)
{
    for (size_t i = 0; i < d->n_fixes; i++) {
        if (strcmp(d->fix[i].id, id) == 0) {
            return &d->fix[i];
        }
    }
    return NULL;
}

static void test_fp16_as_measured(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 36.18, 156.81);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_AS_EXPECTED);
    assert_near(d.j_per_1k, 4334, 1); /* 156.81 W / 36.18 per s */
    assert_false(d.speed_outside || d.energy_outside);
    assert_true(isnan(d.inconsistency_pct));
    assert_non_null(fix(&d, "batch-8"));
    assert_true(fix(&d, "batch-8")->energy_pct < -70);
    assert_true(fix(&d, "batch-8")->speed_pct > 300);
}

static void test_int8_default(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_INT8_MIXED, 1, 9.87, 94.78);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_INT8_MIXED);
    assert_true(d.confidence >= ECO_CONF_MEDIUM);
    assert_true(fix(&d, "use-16-bit")->energy_pct < -30);
    assert_true(fix(&d, "threshold-0")->energy_pct < -20);
    /* From 9.8 to 18.1 tokens a second: the launch times of the two kernels. */
    assert_true(fix(&d, "threshold-0")->speed_pct > 50);
    assert_int_equal(d.n_verify, 3);
}

/* 16 bit is no fix where it does not fit: then the outlier split goes first. */
static void test_sixteen_bit_must_fit(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_INT8_MIXED, 1, 9.5, 100);
    in.need_fp16_gb = 0.89 * eco_gpu_memory_bytes(&g) / 1e9;
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_INT8_MIXED);
    assert_string_equal(d.fix[0].id, "use-16-bit");
    in.need_fp16_gb = 0.91 * eco_gpu_memory_bytes(&g) / 1e9;
    d = diagnose(&in);
    assert_null(fix(&d, "use-16-bit"));
    assert_string_equal(d.fix[0].id, "threshold-0");
}

static void test_hidden_outlier_split(void **state)
{
    (void)state;
    /* The user believes that the threshold is 0, the run says it is not. */
    struct eco_diagnose_input in = run_of(ECO_PREC_INT8_PURE, 1, 9.87, 94.78);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_INT8_MIXED);
    in = run_of(ECO_PREC_INT8_PURE, 1, 18.09, 104.55);
    d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_AS_EXPECTED);
}

static void test_batch_that_does_not_batch(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 8, 36, 157);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_BATCH1);
    assert_true(d.speed_outside);
    in = run_of(ECO_PREC_FP16, 8, 290.59, 182.45); /* measured */
    d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_AS_EXPECTED);
}

static void test_offload(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 1.1, 80);
    in.need_gb = 95;
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_OFFLOAD);
    assert_non_null(fix(&d, "fit-the-card"));
}

static void test_configured_traps_are_named(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 36.18, 156.81);
    in.production = true;
    assert_int_equal(diagnose(&in).cause, ECO_CAUSE_BATCH1);
    /* FP8 eager as on the RTX 5090 at 7B: 95 ms a token. */
    in = run_of(ECO_PREC_FP8, 1, 10.5, 300);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_FP8_EAGER);
    assert_non_null(fix(&d, "engine-with-kernels"));
    static const struct eco_diagnose_delta costs[] = {{ECO_PREC_NF4, 0.25, 0.1}};
    in = run_of(ECO_PREC_NF4, 1, 27.2, 160);
    in.deltas = costs;
    in.n_deltas = 1;
    d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_NF4);
    assert_near(fix(&d, "use-16-bit")->energy_pct, 100 * expm1(-0.25), 1e-9);
    /* A saving NF4 is no trap. */
    in = run_of(ECO_PREC_NF4, 1, 27.2, 160);
    assert_int_equal(diagnose(&in).cause, ECO_CAUSE_AS_EXPECTED);
}

static void test_no_cache(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, NAN, NAN);
    w.prompt_tokens = 8192;
    double factor;
    assert_int_equal(eco_latency_factor_no_cache(NULL, &m, &g, &w, &factor, NULL), 0);
    in.tokens_per_s = 41 / factor;
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.pattern[0].cause == ECO_CAUSE_NO_CACHE ||
                         d.pattern[1].cause == ECO_CAUSE_NO_CACHE,
                     true); /* hidden: not proven, but thought of */
    in.kv_cache_off = true;
    d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_NO_CACHE);
    assert_near(fix(&d, "use-cache")->speed_pct, 100 * (factor - 1), 1e-9);
}

static void test_throttled(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_BF16, 1, 100, 300);
    g = gpu_h100();
    w.engine = ECO_ENGINE_VLLM;
    struct eco_diagnose d = diagnose(&in);
    in.tokens_per_s = 0.5 * d.expect_tokens_per_s.median;
    in.power_w = 0.5 * d.expect_j_per_1k.median * d.expect_tokens_per_s.median / 1000;
    d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_THROTTLED);
    assert_near(d.speed_dev_pct, -50.0, 1e-9);
    assert_near(d.energy_dev_pct, 0.0, 1e-9);
    assert_non_null(fix(&d, "lift-the-cap"));
}

static void test_the_third_figure_is_derived(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 40, NAN);
    in.j_per_1k = 4000;
    assert_near(diagnose(&in).power_w, 160.0, 1e-9);
    in = run_of(ECO_PREC_FP16, 1, NAN, 160);
    in.j_per_1k = 4000;
    assert_near(diagnose(&in).tokens_per_s, 40.0, 1e-9);
    struct eco_diagnose d;
    in.gpu = NULL;
    assert_int_equal(eco_diagnose_run(&in, &d, NULL), ECO_E_MISSING);
}

static void test_nothing_fits(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 0.02, 390);
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_UNKNOWN);
    assert_int_equal(d.confidence, ECO_CONF_LOW); /* "nothing fits" is never a sure finding */
    assert_string_equal(d.verify[3], "report-the-run");
}

static void impossible(const struct eco_diagnose_input *in, enum eco_impossible what, double bound)
{
    struct eco_diagnose d = diagnose(in);
    assert_int_equal(d.impossible, what);
    if (what == ECO_IMPOSSIBLE_NONE) {
        assert_int_not_equal(d.cause, ECO_CAUSE_IMPOSSIBLE);
        assert_true(isnan(d.impossible_bound));
        return;
    }
    assert_int_equal(d.cause, ECO_CAUSE_IMPOSSIBLE);
    assert_int_equal(d.n_fixes, 0);
    assert_near_rel(d.impossible_bound, bound, 0.02);
    assert_true(strlen(eco_impossible_text(what)) > 20 && strlen(eco_impossible_name(what)) > 4);
}

static void test_impossible_figures(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 5000, NAN);
    /* 7.1e9 16-bit weights at 2 039 GB/s: 143 tokens/s. */
    impossible(&in, ECO_IMPOSSIBLE_ROOFLINE, 143.0);
    in = run_of(ECO_PREC_FP16, 1, 5000, 300);
    impossible(&in, ECO_IMPOSSIBLE_ROOFLINE, 143.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 900);
    impossible(&in, ECO_IMPOSSIBLE_POWER, 400.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 420); /* a raised limit or a meter's error */
    impossible(&in, ECO_IMPOSSIBLE_NONE, 0.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 5); /* idle power not known: no claim */
    impossible(&in, ECO_IMPOSSIBLE_NONE, 0.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 5);
    g.idle_w = 60;
    impossible(&in, ECO_IMPOSSIBLE_IDLE, 60.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 45);
    g.idle_w = 60;
    impossible(&in, ECO_IMPOSSIBLE_NONE, 0.0);
    in = run_of(ECO_PREC_FP16, 1, NAN, NAN); /* energy alone: idle power at the roofline's pace */
    g.idle_w = 60;
    in.j_per_1k = 20;
    impossible(&in, ECO_IMPOSSIBLE_IDLE, 1000 * 60.0 / 143);
    in = run_of(ECO_PREC_FP16, 1, NAN, NAN);
    in.j_per_1k = 4334;
    impossible(&in, ECO_IMPOSSIBLE_NONE, 0.0);
    in = run_of(ECO_PREC_FP16, 1, 36, 700); /* two cards hold it */
    w.n_gpus = 2;
    impossible(&in, ECO_IMPOSSIBLE_NONE, 0.0);
}

static void test_every_step_has_a_text(void **state)
{
    static const char *const ids[] = {"remeasure",      "check-throughput", "check-power",
                                      "report-the-run", "check-figures",    "check-configuration"};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_true(strchr(eco_verify_text(ids[i]), ' ') != NULL);
    }
    assert_string_equal(eco_verify_text("other"), "other");
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 5000, NAN);
    struct eco_diagnose d = diagnose(&in);
    for (size_t i = 0; i < d.n_verify; i++) {
        assert_true(strchr(eco_verify_text(d.verify[i]), ' ') != NULL);
    }
}

static void test_three_figures_that_disagree(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 36.18, 156.81);
    in.j_per_1k = 2167; /* half of what power and throughput say */
    struct eco_diagnose d = diagnose(&in);
    assert_near(d.inconsistency_pct, 100.0, 0.1);

    const double wrong_j[] = {4334.0 / 4, 4334.0 * 4}; /* no meter is off by so much */
    for (size_t i = 0; i < 2; i++) {
        struct eco_err err = {0};
        in.j_per_1k = wrong_j[i];
        assert_int_equal(eco_diagnose_run(&in, &d, &err), ECO_E_INVALID);
        assert_true(strstr(err.message, "leave out") != NULL);
    }
}

static void test_each_single_figure(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 36.18, NAN);
    struct eco_diagnose d = diagnose(&in);
    assert_true(isnan(d.j_per_1k) && isnan(d.energy_dev_pct));
    assert_int_equal(d.cause, ECO_CAUSE_AS_EXPECTED);
    in = run_of(ECO_PREC_FP16, 1, NAN, 156.81);
    d = diagnose(&in);
    assert_true(isnan(d.speed_dev_pct));
    in = run_of(ECO_PREC_FP16, 1, NAN, NAN);
    in.j_per_1k = 4334;
    d = diagnose(&in);
    assert_true(fabs(d.energy_dev_pct) < 60);
    struct eco_err err;
    in.j_per_1k = NAN;
    assert_int_equal(eco_diagnose_run(&in, &d, &err), ECO_E_MISSING);
    in.j_per_1k = -4;
    assert_int_equal(eco_diagnose_run(&in, &d, &err), ECO_E_RANGE);
    in.j_per_1k = INFINITY;
    assert_int_equal(eco_diagnose_run(&in, &d, &err), ECO_E_RANGE);
    in.j_per_1k = 4334;
    w.batch = 0;
    assert_int_equal(eco_diagnose_run(&in, &d, &err), ECO_E_RANGE);
}

/* What was measured of the very configuration is the expectation, with the spread given. */
static void test_measured_expectation(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, 30, NAN);
    struct eco_diagnose modelled = diagnose(&in);
    double measured = 1.5 * modelled.expect_tokens_per_s.median;
    in.tokens_per_s = modelled.expect_tokens_per_s.median;
    assert_int_equal(diagnose(&in).cause, ECO_CAUSE_AS_EXPECTED);
    in.measured = (struct eco_diagnose_measured){true, measured, 4000, 0.14};
    struct eco_diagnose d = diagnose(&in);
    assert_near(d.expect_tokens_per_s.median, measured, 1e-9 * measured);
    assert_near(d.expect_tokens_per_s.hi95, measured * exp(1.96 * 0.14), 1e-3 * measured);
    assert_near(d.expect_j_per_1k.median, 4000, 1e-6);
    assert_near(d.speed_dev_pct, 100 * (1 / 1.5 - 1), 1e-9);
    assert_true(d.speed_outside);
    assert_int_not_equal(d.cause, ECO_CAUSE_AS_EXPECTED); /* a third slower than was measured */
    in.tokens_per_s = measured;
    assert_int_equal(diagnose(&in).cause, ECO_CAUSE_AS_EXPECTED);
}

/* Energy alone: as expected within the range, else no name, but the figure that would decide. */
static void test_energy_alone(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_FP16, 1, NAN, NAN);
    in.j_per_1k = 1000;
    double expected = diagnose(&in).expect_j_per_1k.median;
    in.j_per_1k = 1.05 * expected;
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_AS_EXPECTED);
    assert_near(d.energy_dev_pct, 5, 1e-6);
    in.j_per_1k = 2.2 * expected;
    d = diagnose(&in);
    assert_true(d.energy_outside);
    assert_int_equal(d.cause, ECO_CAUSE_UNKNOWN); /* throttling leaves the joules as they are */
    assert_int_not_equal(d.decide.what, ECO_OBSERVE_NOTHING);
    assert_int_not_equal(d.decide.cause[0], d.decide.cause[1]);
    assert_true(d.decide.value[0] > 0 && d.decide.value[1] > 0);
    assert_true(fabs(log(d.decide.value[0] / d.decide.value[1])) >
                0.3);                               /* it does tell them apart */
    in.tokens_per_s = d.expect_tokens_per_s.median; /* two figures: nothing further is asked for */
    assert_int_equal(diagnose(&in).decide.what, ECO_OBSERVE_NOTHING);
}

static void test_without_an_estimate(void **state)
{
    (void)state;
    struct eco_diagnose_input in = run_of(ECO_PREC_INT8_MIXED, 1, 9.87, 94.78);
    in.deltas = NULL;
    in.n_deltas = 0;
    struct eco_diagnose d = diagnose(&in);
    assert_int_equal(d.cause, ECO_CAUSE_INT8_MIXED);
    assert_true(isnan(d.expect_j_per_1k.median));
    assert_true(isnan(fix(&d, "threshold-0")->energy_pct));
    assert_true(isfinite(fix(&d, "threshold-0")->speed_pct));
}

static void test_names(void **state)
{
    (void)state;
    for (int c = 0; c < ECO_CAUSE_COUNT; c++) {
        assert_true(strlen(eco_cause_name((enum eco_cause)c)) > 2);
        assert_true(strlen(eco_cause_text((enum eco_cause)c)) > 10);
    }
    assert_string_equal(eco_cause_name(ECO_CAUSE_NO_CACHE), "no-cache");
    assert_string_equal(eco_cause_name(ECO_CAUSE_THROTTLED), "throttled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp16_as_measured),
        cmocka_unit_test(test_int8_default),
        cmocka_unit_test(test_sixteen_bit_must_fit),
        cmocka_unit_test(test_hidden_outlier_split),
        cmocka_unit_test(test_batch_that_does_not_batch),
        cmocka_unit_test(test_offload),
        cmocka_unit_test(test_configured_traps_are_named),
        cmocka_unit_test(test_no_cache),
        cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_the_third_figure_is_derived),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_impossible_figures),
        cmocka_unit_test(test_every_step_has_a_text),
        cmocka_unit_test(test_three_figures_that_disagree),
        cmocka_unit_test(test_each_single_figure),
        cmocka_unit_test(test_measured_expectation),
        cmocka_unit_test(test_energy_alone),
        cmocka_unit_test(test_without_an_estimate),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
