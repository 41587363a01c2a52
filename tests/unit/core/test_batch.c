/* The batch law: limits, monotonicity, the measured sweep, the kernel step, table against CSV. */
#include "base/csv.h"
#include "eco_test.h"
#include "physics_models.h"

static struct eco_batch_answer law(enum eco_engine e, enum eco_precision p, double b)
{
    struct eco_batch_answer a;
    struct eco_err err;
    assert_int_equal(eco_batch_factor(NULL, e, p, b, &a, &err), 0);
    return a;
}

static void test_limits(void **state)
{
    (void)state;
    for (int e = 0; e < ECO_ENGINE_COUNT; e++) {
        for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
            struct eco_batch_answer one = law((enum eco_engine)e, (enum eco_precision)p, 1),
                                    big = law((enum eco_engine)e, (enum eco_precision)p, 65536);
            assert_near(one.ratio, 1, 1e-15);
            assert_near(one.sd_ln, 0, 1e-15);
            /* b -> infinity: E -> a. */
            assert_near_rel(big.ratio, big.limit * (1 + big.c_over_a / 65536), 1e-12);
            assert_true(big.sd_ln > 0);
        }
    }
}

static void test_falls_from_batch_2_on(void **state)
{
    (void)state;
    for (int e = 0; e < ECO_ENGINE_COUNT; e++) {
        for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
            double last = INFINITY;
            for (double b = 2; b <= 4096; b *= 2) {
                struct eco_batch_answer a = law((enum eco_engine)e, (enum eco_precision)p, b);
                assert_true(a.ratio < last);
                assert_true(a.ratio > a.limit);
                last = a.ratio;
            }
        }
    }
}

/* Energy of the whole batch never falls when a sequence is added: b E(b) = a b + c. */
static void test_step_energy_rises(void **state)
{
    (void)state;
    double last = 0;
    for (double b = 2; b <= 1024; b += 1) {
        double whole = b * law(ECO_ENGINE_VLLM, ECO_PREC_BF16, b).ratio;
        assert_true(whole > last);
        last = whole;
    }
}

static void test_a800_sweep(void **state)
{
    (void)state;
    /* Mistral-7B INT8-PURE, A800, n = 10 each, J per 1k; data/batch_scaling.csv. */
    static const double b[] = {2, 4, 8, 16, 32, 64};
    static const double e[] = {3650.58, 1932.90, 1108.35, 802.23, 392.41, 296.44};
    int inside = 0;
    for (size_t i = 0; i < 6; i++) {
        struct eco_batch_answer a = law(ECO_ENGINE_TRANSFORMERS, ECO_PREC_INT8_PURE, b[i]);
        double z = log(e[i] / 6907.42 / a.ratio) / a.sd_ln;
        inside += fabs(z) < 1.96;
        assert_true(fabs(z) < 3);
    }
    assert_true(inside >= 5); /* batch 16 drew more power than batch 32 and sits high */
    struct eco_batch_answer far = law(ECO_ENGINE_TRANSFORMERS, ECO_PREC_INT8_PURE, 1e4);
    double f = far.c_over_a / (1 + far.c_over_a);
    assert_near(f, 0.975, 0.005); /* E1 ((1 - f) + f/b) */
}

static void test_nf4_switches_kernels(void **state)
{
    (void)state;
    struct eco_batch_answer nf4 = law(ECO_ENGINE_VLLM, ECO_PREC_NF4, 4);
    struct eco_batch_answer bf16 = law(ECO_ENGINE_VLLM, ECO_PREC_BF16, 4);
    /* A2: 1 782 J at batch 1, 2 094 J at 4, while BF16 falls from 2 390 to 1 137. */
    assert_true(nf4.ratio > 1);
    assert_near(log(nf4.ratio), log(2094.0 / 1782.0), 1.96 * nf4.sd_ln);
    assert_true(bf16.ratio < 0.5);
    assert_true(law(ECO_ENGINE_TRANSFORMERS, ECO_PREC_NF4, 2).ratio >
                law(ECO_ENGINE_TRANSFORMERS, ECO_PREC_FP16, 2).ratio);
}

static void test_follows_model_and_context(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 64);
    struct eco_batch_answer short_ctx, long_ctx;
    assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &short_ctx, NULL), 0);
    w.prompt_tokens = 16384;
    assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &long_ctx, NULL), 0);
    assert_true(long_ctx.c_over_a < short_ctx.c_over_a); /* KV is paid by each sequence */
    assert_true(long_ctx.ratio > short_ctx.ratio);
    m.experts = 8;
    m.experts_per_token = 2;
    struct eco_batch_answer moe;
    w.prompt_tokens = 20;
    assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &moe, NULL), 0);
    assert_true(moe.sd_ln > short_ctx.sd_ln);
}

/* 8 experts of which 2 work: two sequences read 3.5 of them, many read all eight. */
static void test_mixture_reads_more_experts(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 1);
    struct eco_batch_answer dense[3], moe[3];
    static const int b[] = {1, 2, 64};
    for (size_t i = 0; i < 3; i++) {
        w.batch = b[i];
        assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &dense[i], NULL), 0);
    }
    m.experts = 8;
    m.experts_per_token = 2;
    m.params_active = m.params_total / 3;
    for (size_t i = 0; i < 3; i++) {
        w.batch = b[i];
        assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &moe[i], NULL), 0);
    }
    assert_near(moe[0].ratio, 1.0, 1e-12);
    assert_true(moe[1].ratio > dense[1].ratio); /* batching shares less when it wakes experts */
    assert_true(moe[2].ratio < moe[1].ratio);
}

static void test_h100_sweep_is_inside(void **state)
{
    (void)state;
    /* Llama-3.1-8B BF16, H100, vLLM 0.11.1, mean running batch: J per 1k. */
    static const int b[] = {8, 16, 32, 64, 128, 256, 512};
    static const double e[] = {455, 263, 165, 119, 95, 77, 70};
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_batch_answer first, a;
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 8);
    w.prompt_tokens = 200;
    assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &first, NULL), 0);
    for (size_t i = 1; i < 7; i++) {
        w.batch = b[i];
        assert_int_equal(eco_batch_factor_for(NULL, &m, &g, &w, &a, NULL), 0);
        double z = log(e[i] / e[0] / (a.ratio / first.ratio)) / a.sd_ln;
        assert_true(fabs(z) < 1.96);
    }
}

static void test_refuses(void **state)
{
    (void)state;
    struct eco_batch_answer a = {.ratio = 42};
    struct eco_err err;
    static const double bad[] = {0, -1, 0.5, NAN, INFINITY, 1e9};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(eco_batch_factor(NULL, ECO_ENGINE_VLLM, ECO_PREC_BF16, bad[i], &a, &err),
                         ECO_E_RANGE);
    }
    assert_near(a.ratio, 42, 0);
}

static void test_table_is_the_csv(void **state)
{
    (void)state;
    static char text[65536];
    FILE *f = fopen(ECO_SOURCE_DIR "/data/fitted/physics_batch.csv", "r");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    static struct eco_csv csv;
    struct eco_err err;
    assert_int_equal(eco_csv_open(&csv, "physics_batch.csv", text, len, &err), 0);
    const struct eco_physics *ph = eco_physics_default();
    size_t i = 0;
    for (; eco_csv_next(&csv, &err) == 1; i++) {
        assert_true(i < ph->n_batches);
        const struct eco_batch_row *r = &ph->batches[i];
        const double want[] = {r->ln_c_over_a,   r->sd_ln,         r->offset_ln,  r->offset_sd,
                               r->offset_moe_ln, r->offset_moe_sd, r->power_rise, r->step_ln,
                               r->step_sd,       r->resid_sd_ln,   r->n_series,   r->n_points};
        assert_int_equal(r->engine, eco_engine_parse(csv.cell[0].s, csv.cell[0].len));
        for (int c = 0; c < 12; c++) {
            double v;
            assert_int_equal(eco_csv_num(&csv, 3 + c, &v, &err), 1);
            assert_near(v, want[c], 0);
        }
    }
    assert_int_equal(i, ph->n_batches);
    eco_csv_done(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_falls_from_batch_2_on),
        cmocka_unit_test(test_step_energy_rises),
        cmocka_unit_test(test_a800_sweep),
        cmocka_unit_test(test_nf4_switches_kernels),
        cmocka_unit_test(test_follows_model_and_context),
        cmocka_unit_test(test_mixture_reads_more_experts),
        cmocka_unit_test(test_h100_sweep_is_inside),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_table_is_the_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
