/* Energy and time of one configuration agree with the card's power limit. */
#include "eco_test.h"

#include "eco_physics.h"
#include "physics_models.h"

/* One configuration with the implied power `watts` and the given spreads. */
static void pair(double watts, double sd_e, double sd_t, struct eco_energy *e,
                 struct eco_latency *l)
{
    memset(e, 0, sizeof *e);
    memset(l, 0, sizeof *l);
    e->sd_ln = sd_e;
    e->mu_ln = log(1000 * watts / 50);
    e->prefill_j_per_1k = 7;
    eco_physics_band(e->mu_ln, sd_e, &e->j_per_1k);
    l->sd_ln_step = sd_t;
    eco_physics_band(log(1.0 / 50), sd_t, &l->tpot_s);
    eco_physics_band(log(50), sd_t, &l->tokens_per_s);
    eco_physics_band(log(0.1), sd_t, &l->ttft_s);
    eco_physics_band(log(0.1 + 100 / 50.0), sd_t, &l->request_s);
    l->decode_s = 100 / 50.0;
    l->request_tokens_per_s = 100 / 2.1;
    l->batch_resident = 1;
}

static double watts_of(const struct eco_energy *e, const struct eco_latency *l)
{
    return e->j_per_1k.median / 1000 * l->tokens_per_s.median;
}

static void test_lands_on_the_limit(void **state)
{
    struct eco_gpu gpu = gpu_h100();
    struct eco_energy e, e0;
    struct eco_latency l, l0;
    double shift = -1;
    (void)state;
    pair(1400, 0.4, 0.2, &e, &l);
    e0 = e;
    l0 = l;
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, &shift), 1);
    assert_near_rel(watts_of(&e, &l), 700.0, 1e-12);
    assert_near_rel(shift, log(2), 1e-12);
    /* Variances 4 to 1: energy takes four fifths. */
    assert_near_rel(e.j_per_1k.median, e0.j_per_1k.median * pow(2, -0.8), 1e-12);
    assert_near_rel(l.tokens_per_s.median, l0.tokens_per_s.median * pow(2, -0.2), 1e-12);
    assert_near_rel(l.tpot_s.median, l0.tpot_s.median * pow(2, 0.2), 1e-12);
    assert_near_rel(e.mu_ln, log(e.j_per_1k.median), 1e-12);
    assert_near_rel(e.sd_ln, hypot(0.4, 0.4 * log(2)), 1e-12);
    assert_near_rel(l.sd_ln_step, hypot(0.2, 0.1 * log(2)), 1e-12);
    /* A second look finds nothing. */
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, &shift), 0);
    assert_near(shift, 0.0, 0.0);
}

static void test_the_request_follows(void **state)
{
    struct eco_gpu gpu = gpu_h100();
    struct eco_energy e;
    struct eco_latency l;
    (void)state;
    pair(1400, 0.2, 0.2, &e, &l);
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, NULL), 1);
    /* 0.1 s of prefill stays; 100 tokens each take sqrt(2) as long. */
    assert_near_rel(l.request_s.median, 0.1 + 100 * l.tpot_s.median, 1e-12);
    assert_near_rel(l.decode_s, 2 * sqrt(2), 1e-12);
    assert_near_rel(l.request_tokens_per_s, 100 / l.request_s.median, 1e-12);
    assert_near_rel(l.ttft_s.median, 0.1, 1e-12);
    assert_near_rel(e.prefill_j_per_1k, 7.0, 0.0);
}

static void test_untouched_when_consistent_or_unknown(void **state)
{
    struct eco_gpu gpu = gpu_h100();
    struct eco_energy e, e0;
    struct eco_latency l, l0;
    double shift = -1;
    (void)state;
    pair(690, 0.4, 0.2, &e, &l);
    e0 = e;
    l0 = l;
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, &shift), 0);
    assert_near(shift, 0.0, 0.0);
    pair(5, 0.4, 0.2, &e, &l); /* far below idle: left alone */
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, NULL), 0);
    pair(1390, 0.4, 0.2, &e, &l);
    assert_int_equal(eco_physics_reconcile(&gpu, 2, &e, &l, NULL), 0); /* two boards hold it */
    gpu.tdp_w = NAN;
    pair(690, 0.4, 0.2, &e, &l);
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, NULL), 0);
    gpu.tdp_w = 0;
    assert_int_equal(eco_physics_reconcile(&gpu, 0, &e, &l, NULL), 0);
    assert_memory_equal(&e, &e0, sizeof e);
    assert_memory_equal(&l, &l0, sizeof l);
    assert_true(eco_physics_reconcile(NULL, 1, &e, &l, NULL) < 0);
    assert_true(eco_physics_reconcile(&gpu, 1, NULL, &l, NULL) < 0);
    assert_true(eco_physics_reconcile(&gpu, 1, &e, NULL, NULL) < 0);
}

static void test_one_certain_side_stays(void **state)
{
    struct eco_gpu gpu = gpu_h100();
    struct eco_energy e;
    struct eco_latency l;
    (void)state;
    pair(1400, 0.3, 0, &e, &l);
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, NULL), 1);
    assert_near_rel(l.tokens_per_s.median, 50.0, 1e-12);
    assert_near_rel(watts_of(&e, &l), 700.0, 1e-12);
    pair(1400, 0, 0, &e, &l);
    assert_int_equal(eco_physics_reconcile(&gpu, 1, &e, &l, NULL), 1);
    assert_near_rel(l.tokens_per_s.median, 50 / sqrt(2), 1e-12);
}

/* On real models: power within the limit, and no band above the datasheet's roofline. */
static void test_grid_of_models(void **state)
{
    static const enum eco_precision precisions[] = {ECO_PREC_FP16, ECO_PREC_NF4,
                                                    ECO_PREC_INT8_MIXED, ECO_PREC_FP8};
    static const double delta[] = {0, 1.2, 1.6, 0.6};
    const struct eco_gpu gpus[] = {gpu_a800(), gpu_4090(), gpu_h100()};
    const struct eco_model models[] = {model_7b(), model_small()};
    int over = 0;
    (void)state;
    for (int i = 0; i < 3 * 2 * 4 * 4; i++) {
        const struct eco_gpu *g = &gpus[i % 3];
        const struct eco_model *m = &models[i / 3 % 2];
        struct eco_workload w =
            work_of(precisions[i / 6 % 4], ECO_ENGINE_UNKNOWN, 1 << (2 * (i / 24)));
        struct eco_energy fp16, e;
        struct eco_latency l;
        struct eco_roofline roof;
        assert_int_equal(eco_energy_absolute(NULL, m, g, &w, &fp16, NULL), 0);
        assert_int_equal(eco_energy_quantized(&fp16, delta[i / 6 % 4], 0.3, &e, NULL), 0);
        assert_int_equal(eco_latency_predict(NULL, m, g, &w, &l, NULL), 0);
        assert_int_equal(eco_roofline_floor(m, g, &w, &roof, NULL), 0);
        assert_near_rel(l.decode_s, l.tpot_s.median * w.gen_tokens, 1e-9);
        over += eco_physics_reconcile(g, 1, &e, &l, NULL);
        assert_true(watts_of(&e, &l) <= g->tdp_w * (1 + 1e-9));
        assert_true(l.tokens_per_s.hi95 <= roof.tokens_per_s_max * (1 + 1e-9));
        assert_true(l.tpot_s.lo95 >= roof.floor_s * (1 - 1e-9));
        assert_true(l.tokens_per_s.lo95 <= l.tokens_per_s.lo50 &&
                    l.tokens_per_s.median <= l.tokens_per_s.hi50);
        assert_near_rel(l.tokens_per_s.median * l.tpot_s.median, (double)w.batch, 1e-9);
    }
    assert_true(over > 0); /* the grid holds cases to repair */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lands_on_the_limit),
        cmocka_unit_test(test_the_request_follows),
        cmocka_unit_test(test_untouched_when_consistent_or_unknown),
        cmocka_unit_test(test_one_certain_side_stays),
        cmocka_unit_test(test_grid_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
