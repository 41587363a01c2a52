/* The latency model: known rows, limits, monotonicity, bounds, table against CSV. */
#include "base/csv.h"
#include "eco_test.h"
#include "physics_models.h"

static struct eco_latency latency(const struct eco_model *m, const struct eco_gpu *g,
                                  const struct eco_workload *w)
{
    struct eco_latency l;
    struct eco_err err;
    assert_int_equal(eco_latency_predict(NULL, m, g, w, &l, &err), 0);
    return l;
}

static void test_eager_batch_1_is_launch_bound(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_latency l = latency(&m, &g, &w);
    assert_int_equal(l.bound, ECO_BOUND_LAUNCH);
    /* 754 us * 32 layers + 40 us; 36.18 and 37.68 tokens a second were measured. */
    assert_near_rel(l.tpot_s.median, 754e-6 * 32 + 40e-6, 1e-9);
    assert_true(l.tokens_per_s.lo95 < 36.18 && 37.68 < l.tokens_per_s.hi95);
    assert_int_equal(l.basis, ECO_BASIS_MODELLED);
    assert_true(l.engine_known);
}

static void test_int8_default_is_slow(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_INT8_MIXED, ECO_ENGINE_UNKNOWN, 1);
    struct eco_latency mixed = latency(&m, &g, &w);
    w.precision = ECO_PREC_INT8_PURE;
    struct eco_latency pure = latency(&m, &g, &w);
    /* Measured on A800: 9.87 (mixed) and 18.09 (pure) tokens a second. */
    assert_true(mixed.tokens_per_s.lo80 < 9.87 && 9.87 < mixed.tokens_per_s.hi80);
    assert_true(pure.tokens_per_s.lo80 < 18.09 && 18.09 < pure.tokens_per_s.hi80);
    assert_true(mixed.tpot_s.median > 1.5 * pure.tpot_s.median);
}

static void test_vllm_is_memory_bound(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 1);
    struct eco_latency l = latency(&m, &g, &w);
    assert_int_equal(l.bound, ECO_BOUND_MEMORY);
    /* Llama-3-8B, same layers: 126 tokens a second with 1024 + 1024 tokens. */
    assert_true(l.tokens_per_s.lo80 < 126 && 126 < l.tokens_per_s.hi80);
}

static void test_nothing_beats_the_datasheet(void **state)
{
    (void)state;
    struct eco_model models[] = {model_7b(), model_small()};
    struct eco_gpu gpus[] = {gpu_a800(), gpu_4090(), gpu_h100()};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
                for (int e = 0; e < ECO_ENGINE_COUNT; e++) {
                    for (int b = 1; b <= 4096; b *= 4) {
                        struct eco_workload w =
                            work_of((enum eco_precision)p, (enum eco_engine)e, b);
                        struct eco_latency l = latency(&models[i], &gpus[j], &w);
                        struct eco_roofline r;
                        w.batch = (int)l.batch_resident;
                        assert_int_equal(eco_roofline_floor(&models[i], &gpus[j], &w, &r, NULL), 0);
                        assert_true(l.tpot_s.median >= r.floor_s);
                        assert_true(l.tpot_s.lo95 >= r.floor_s);
                        assert_true(l.tokens_per_s.hi95 <= r.tokens_per_s_max * (1 + 1e-12));
                        assert_true(l.batch_resident >= 1 && l.batch_resident <= b);
                        assert_true(l.tpot_s.lo95 <= l.tpot_s.lo50);
                        assert_true(l.tpot_s.lo50 <= l.tpot_s.median);
                        assert_true(l.request_s.median >= l.ttft_s.median);
                    }
                }
            }
        }
    }
}

static void test_monotone_in_batch_and_context(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    double step = 0, rate = 0;
    for (int b = 1; b <= 256; b *= 2) {
        struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, b);
        struct eco_latency l = latency(&m, &g, &w);
        assert_true(l.tpot_s.median > step);
        assert_true(l.tokens_per_s.median > rate);
        step = l.tpot_s.median;
        rate = l.tokens_per_s.median;
    }
    double last = 0, first = 0;
    for (int p = 128; p <= 16384; p *= 2) {
        struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 8);
        w.prompt_tokens = p;
        struct eco_latency l = latency(&m, &g, &w);
        assert_true(l.tpot_s.median > last);
        assert_true(l.ttft_s.median > first);
        last = l.tpot_s.median;
        first = l.ttft_s.median;
    }
}

static void test_long_prompt_is_compute_bound(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_TENSORRT_LLM, 1);
    w.prompt_tokens = 2048;
    struct eco_latency l = latency(&m, &g, &w);
    assert_int_equal(l.prefill_bound, ECO_BOUND_COMPUTE);
    double flops = 2.0 * 7110660096.0 * 2048 + 2.0 * 32 * 4096 * 2048.0 * 2048.0;
    assert_true(l.ttft_s.median > flops / 989e12);
    assert_true(l.ttft_s.median < 4 * flops / 989e12);
}

static void test_cache_that_does_not_fit_makes_waves(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_4090();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 256);
    w.prompt_tokens = 2048;
    struct eco_latency l = latency(&m, &g, &w);
    /* 0.9 * 24 GiB = 23.2 GB, less 14.5 GB leave 8.7 GB; a sequence of 2 176 tokens holds 0.285 GB:
     * 30 of them, in 9 waves. */
    assert_near(l.batch_resident, 30, 1);
    assert_true(l.request_s.median > 8 * (l.ttft_s.median + 256 * l.tpot_s.median));
}

static void test_factors(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    double f = 0, long_f = 0;
    assert_int_equal(eco_latency_factor_no_cache(NULL, &m, &g, &w, &f, NULL), 0);
    assert_true(f >= 1);
    w.prompt_tokens = 8192;
    assert_int_equal(eco_latency_factor_no_cache(NULL, &m, &g, &w, &long_f, NULL), 0);
    assert_true(long_f > f && long_f > 10);
    w.prompt_tokens = 20;
    assert_int_equal(eco_latency_factor_offload(NULL, &m, &g, &w, 0, 25e9, &f, NULL), 0);
    assert_near(f, 1, 0);
    struct eco_latency l = latency(&m, &g, &w);
    assert_int_equal(eco_latency_factor_offload(NULL, &m, &g, &w, 5e9, 25e9, &f, NULL), 0);
    assert_near_rel(f, 1 + 0.2 / l.tpot_s.median, 1e-12); /* 5 GB at 25 GB/s = 0.2 s */
    assert_int_equal(eco_latency_factor_offload(NULL, &m, &g, &w, -1, 25e9, &f, NULL), ECO_E_RANGE);
    assert_int_equal(eco_latency_factor_offload(NULL, &m, &g, &w, NAN, 25e9, &f, NULL),
                     ECO_E_RANGE);
}

static void test_unknown_peak_and_engine_widen(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 4);
    struct eco_latency known = latency(&m, &g, &w);
    w.engine = ECO_ENGINE_SGLANG;
    struct eco_latency pooled = latency(&m, &g, &w);
    assert_false(pooled.engine_known);
    assert_true(pooled.sd_ln_step > known.sd_ln_step);
    w.engine = ECO_ENGINE_VLLM;
    g.fp16_tflops = NAN;
    struct eco_latency blind = latency(&m, &g, &w);
    assert_true(blind.sd_ln_step > known.sd_ln_step);
    assert_true(isfinite(blind.ttft_s.median));
}

static void test_other_vendors_and_several_cards_widen(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_h100();
    struct eco_workload w = work_of(ECO_PREC_BF16, ECO_ENGINE_VLLM, 4);
    struct eco_latency one = latency(&m, &g, &w);
    w.n_gpus = 4;
    struct eco_latency four = latency(&m, &g, &w);
    assert_true(four.sd_ln_step > one.sd_ln_step);
    assert_true(four.tpot_s.median < one.tpot_s.median);
    assert_true(four.tpot_s.median > one.tpot_s.median / 4); /* reductions are not free */
    w.n_gpus = 1;
    g.arch = ECO_ARCH_CDNA3;
    g.name = "MI300X";
    struct eco_latency other = latency(&m, &g, &w);
    assert_true(other.sd_ln_step > 2 * one.sd_ln_step);
}

static void test_band_is_lognormal(void **state)
{
    (void)state;
    struct eco_band b;
    eco_physics_band(log(100), 0.5, &b);
    assert_near_rel(b.median, 100.0, 1e-12);
    assert_near_rel(b.hi95, 100 * exp(0.5 * 1.959963984540054), 1e-12);
    assert_near_rel(b.lo80 * b.hi80, 1e4, 1e-12);
    assert_true(b.lo95 < b.lo80 && b.lo80 < b.lo50);
    assert_string_equal(eco_bound_name(ECO_BOUND_LAUNCH), "launch");
}

/* The const table is what data/fitted/physics_engine.csv says. */
static void test_table_is_the_csv(void **state)
{
    (void)state;
    static char text[65536];
    FILE *f = fopen(ECO_SOURCE_DIR "/data/fitted/physics_engine.csv", "r");
    assert_non_null(f);
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    static struct eco_csv csv;
    struct eco_err err;
    assert_int_equal(eco_csv_open(&csv, "physics_engine.csv", text, len, &err), 0);
    const struct eco_physics *ph = eco_physics_default();
    size_t i = 0;
    for (; eco_csv_next(&csv, &err) == 1; i++) {
        assert_true(i < ph->n_engines);
        const struct eco_engine_row *r = &ph->engines[i];
        const double want[] = {r->batch_lo,           r->batch_hi, r->eff_memory,
                               r->eff_compute,        r->launch_s, r->per_seq_s,
                               r->serial ? 1.0 : 0.0, r->sd_ln,    r->n};
        assert_int_equal(r->engine, eco_engine_parse(csv.cell[0].s, csv.cell[0].len));
        assert_int_equal(r->precision, csv.cell[1].len == 0
                                           ? ECO_PREC_NONE
                                           : eco_precision_parse(csv.cell[1].s, csv.cell[1].len));
        for (int c = 0; c < 9; c++) {
            double v;
            assert_int_equal(eco_csv_num(&csv, 3 + c, &v, &err), 1);
            assert_near(v, want[c], 0);
        }
        assert_true(r->eff_memory > 0 && r->eff_memory <= 1);
        assert_true(r->eff_compute > 0 && r->eff_compute <= 1);
    }
    assert_int_equal(i, ph->n_engines);
    eco_csv_done(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eager_batch_1_is_launch_bound),
        cmocka_unit_test(test_int8_default_is_slow),
        cmocka_unit_test(test_vllm_is_memory_bound),
        cmocka_unit_test(test_nothing_beats_the_datasheet),
        cmocka_unit_test(test_monotone_in_batch_and_context),
        cmocka_unit_test(test_long_prompt_is_compute_bound),
        cmocka_unit_test(test_cache_that_does_not_fit_makes_waves),
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_unknown_peak_and_engine_widen),
        cmocka_unit_test(test_other_vendors_and_several_cards_widen),
        cmocka_unit_test(test_band_is_lognormal),
        cmocka_unit_test(test_table_is_the_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
