/* Bytes and operations by hand, limits, monotonicity. */
#include "eco_test.h"
#include "physics_models.h"

static struct eco_traffic traffic(const struct eco_model *m, const struct eco_workload *w)
{
    struct eco_traffic t;
    struct eco_err err;
    assert_int_equal(eco_roofline_traffic(m, w, &t, &err), 0);
    return t;
}

static void test_bytes_by_hand(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_traffic t = traffic(&m, &w);
    /* Two bytes for everything but the embedding table; norms may be kept wider. */
    assert_near_rel(t.weight_bytes, 2.0 * (7241732096.0 - 131072000.0), 1e-3);
    /* 2 (K, V) * 32 layers * 8 heads * 128 * 2 bytes = 131 072 bytes a token. */
    assert_near(t.kv_bytes_per_token, 131072.0, 1e-6);
    assert_near(t.mean_context, 148.0, 0);
    assert_near(t.kv_bytes, 148.0 * 131072.0, 1e-6);
    assert_near(t.step_bytes, t.weight_bytes + t.kv_bytes, 1);
    assert_near_rel(t.step_flops, 2.0 * 7110660096.0 + 4.0 * 32 * 4096 * 148, 1e-12);
    assert_near_rel(t.prefill_flops, 2.0 * 7110660096.0 * 20 + 2.0 * 32 * 4096 * 400, 1e-12);
}

static void test_tied_head_is_read_and_computed(void **state)
{
    (void)state;
    struct eco_model m = model_small();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_traffic t = traffic(&m, &w);
    assert_near_rel(t.weight_bytes, 2.0 * 494032768.0, 1e-3);
    assert_near_rel(t.step_flops, 2.0 * 494032768.0 + 4.0 * 24 * 896 * 148, 1e-9);
}

static void test_context_raises_traffic(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 16);
    double last = 1;
    for (int p = 0; p <= 8192; p += 1024) {
        w.prompt_tokens = p;
        struct eco_traffic t = traffic(&m, &w);
        assert_true(t.context_factor > last);
        assert_near_rel(t.context_factor, 1 + 16 * t.kv_bytes / t.weight_bytes, 1e-12);
        last = t.context_factor;
    }
}

static void test_sliding_window_caps_the_cache(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 1);
    m.sliding_window = 4096;
    w.prompt_tokens = 20000;
    assert_near_rel(traffic(&m, &w).kv_bytes, 4096 * 131072.0, 1e-9);
    m.sliding_window = 0;
    assert_near_rel(traffic(&m, &w).kv_bytes, 20128 * 131072.0, 1e-9);
}

static void test_latent_attention_stores_the_rank(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 1);
    m.kv_lora_rank = 512;
    m.rope_head_dim = 64;
    assert_near(traffic(&m, &w).kv_bytes_per_token, 32 * 576 * 2.0, 1e-6);
}

static void test_eight_bit_cache_is_half(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 1);
    w.kv_precision = ECO_PREC_FP8;
    assert_near(traffic(&m, &w).kv_bytes_per_token, 65536.0, 1e-6);
}

static void test_geforce_peak_is_halved(void **state)
{
    (void)state;
    struct eco_gpu g = gpu_4090(), a = gpu_a800();
    assert_near_rel(eco_roofline_peak_flops(&g), 165e12, 1e-12);
    assert_near_rel(eco_roofline_peak_flops(&a), 312e12, 1e-12);
    a.fp16_tflops = NAN;
    assert_true(isnan(eco_roofline_peak_flops(&a)));
}

static void test_floor_by_hand(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_gpu g = gpu_a800();
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_TRANSFORMERS, 1);
    struct eco_roofline r;
    assert_int_equal(eco_roofline_floor(&m, &g, &w, &r, NULL), 0);
    /* 14.22 GB + 0.019 GB at 2 039 GB/s = 6.98 ms; 143 tokens a second at most. */
    assert_near(r.memory_s, 6.984e-3, 0.02e-3);
    assert_near(r.tokens_per_s_max, 143.2, 0.5);
    assert_near(r.floor_s, r.memory_s, 0);
    w.batch = 4096; /* 2 N b / F = 187 ms beats the bytes only without much context */
    assert_int_equal(eco_roofline_floor(&m, &g, &w, &r, NULL), 0);
    assert_near_rel(r.compute_s, 4096 * (2 * 7110660096.0 + 4.0 * 32 * 4096 * 148) / 312e12, 1e-9);
    assert_near(r.floor_s, r.compute_s, 0);
    w.n_gpus = 2;
    double one = r.floor_s;
    assert_int_equal(eco_roofline_floor(&m, &g, &w, &r, NULL), 0);
    assert_near_rel(r.floor_s, one / 2, 1e-9);
}

static void test_bad_input_is_refused(void **state)
{
    (void)state;
    struct eco_model m = model_7b();
    struct eco_traffic t = {.weight_bytes = 42};
    struct eco_err err;
    struct eco_workload w = work_of(ECO_PREC_FP16, ECO_ENGINE_VLLM, 0);
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_RANGE);
    assert_string_equal(err.arg, "batch");
    assert_near(t.weight_bytes, 42, 0); /* untouched */
    w.batch = 1;
    w.gen_tokens = 0;
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_RANGE);
    w.gen_tokens = 1;
    w.prompt_tokens = -1;
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_RANGE);
    w.prompt_tokens = 0;
    w.n_gpus = -1;
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_RANGE);
    w.n_gpus = 1;
    w.precision = ECO_PREC_NONE;
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_INVALID);
    w.precision = ECO_PREC_FP16;
    m.layers = 0;
    assert_int_equal(eco_roofline_traffic(&m, &w, &t, &err), ECO_E_INVALID);
    assert_int_equal(eco_roofline_traffic(NULL, &w, &t, &err), ECO_E_MISSING);
    struct eco_gpu g = gpu_a800();
    struct eco_roofline r;
    m = model_7b();
    g.mem_bw_gbps = NAN;
    assert_int_equal(eco_roofline_floor(&m, &g, &w, &r, &err), ECO_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_by_hand),
        cmocka_unit_test(test_tied_head_is_read_and_computed),
        cmocka_unit_test(test_context_raises_traffic),
        cmocka_unit_test(test_sliding_window_caps_the_cache),
        cmocka_unit_test(test_latent_attention_stores_the_rank),
        cmocka_unit_test(test_eight_bit_cache_is_half),
        cmocka_unit_test(test_geforce_peak_is_halved),
        cmocka_unit_test(test_floor_by_hand),
        cmocka_unit_test(test_bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
